from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from notes_folder import Listening

from scrubjay import Memory
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import ProviderError
from scrubjay.ingest.embedder import BACKFILL_BATCH
from scrubjay.models.lifecycle import NewMemory

COUNT = BACKFILL_BATCH * 2 + 10


class Second(Listening):
    """A model to be backfilled, which fails once it has embedded as much as it is allowed to."""

    def __init__(self, allowed: int = 10_000) -> None:
        HashEmbedder.__init__(self, 48, name="second")
        self.heard: list[str] = []
        self.allowed = allowed

    def embed(self, texts: Sequence[str], *, kind: Any = "passage") -> Any:
        if len(self.heard) + len(texts) > self.allowed:
            raise ProviderError("The service stopped answering.")
        return super().embed(texts, kind=kind)


@pytest.fixture
def second() -> Second:
    return Second()


@pytest.fixture
def waiting(opened: Callable[..., Memory], model: Listening, second: Second) -> Memory:
    memory = opened(embedders=[model, second])
    memory.add_many([NewMemory(f"Kettle number {n} is blue.") for n in range(COUNT)])
    assert second.heard == []
    return memory


def reach(memory: Memory) -> tuple[int, int]:
    found = memory.models()[1]
    return found.covered, found.waiting


def test_everything_that_waits_is_embedded_once(waiting: Memory, second: Second) -> None:
    done = waiting.embed()
    assert (done.embedded, done.waiting) == (COUNT, 0)
    assert reach(waiting) == (COUNT, 0)
    assert len(second.heard) == COUNT
    again = waiting.embed()
    assert (again.embedded, again.waiting, len(second.heard)) == (0, 0, COUNT)


def test_no_time_embeds_nothing_and_says_how_much_waits(waiting: Memory, second: Second) -> None:
    done = waiting.embed(seconds=0.0)
    assert (done.embedded, done.waiting) == (0, COUNT)
    assert second.heard == []


def test_a_budget_is_looked_at_between_batches(waiting: Memory) -> None:
    done = waiting.embed(seconds=1e-9)  # spent by the first look: nothing, or one batch on a coarse clock
    assert done.embedded in (0, BACKFILL_BATCH)
    assert done.embedded + done.waiting == COUNT


def test_stopped_at_any_moment_it_goes_on_where_it_was(waiting: Memory, second: Second) -> None:
    second.allowed = BACKFILL_BATCH + 5
    with pytest.raises(ProviderError, match="stopped answering"):
        waiting.embed()
    assert reach(waiting) == (BACKFILL_BATCH, COUNT - BACKFILL_BATCH)
    second.allowed = 10_000
    assert waiting.embed().embedded == COUNT - BACKFILL_BATCH
    assert len(second.heard) == len(set(second.heard)) == COUNT


def test_progress_rises_and_ends_with_all(waiting: Memory) -> None:
    told: list[Any] = []
    waiting.embed(progress=told.append)
    assert [p.done for p in told] == [BACKFILL_BATCH, 2 * BACKFILL_BATCH, COUNT]
    assert {(p.stage, p.total) for p in told} == {("embed", COUNT)}
    assert [p.seconds for p in told] == sorted(p.seconds for p in told)


def test_equal_texts_are_embedded_once_and_remembered(opened: Callable[..., Memory], second: Second) -> None:
    memory = opened(embedders=[HashEmbedder(64), second])
    for session in "abc":
        memory.add("The same words.", session=session)
    assert memory.embed().embedded == 3
    assert second.heard == ["The same words."]
    memory.add("The same words.", session="d")
    assert memory.embed().embedded == 1
    assert second.heard == ["The same words."]


def test_a_cached_text_of_one_model_says_nothing_to_another(
    opened: Callable[..., Memory], second: Second
) -> None:
    memory = opened(embedders=[HashEmbedder(64), HashEmbedder(48, name="first"), second])
    memory.add("The same words.")
    assert memory.embed().embedded == 1  # passages, not vectors
    assert second.heard == ["The same words."]
    assert [model.waiting for model in memory.models()] == [0, 0, 0]


def test_a_title_is_part_of_what_is_cached(opened: Callable[..., Memory], second: Second) -> None:
    memory = opened(embedders=[HashEmbedder(64), second])
    memory.add("The same words.", title="One")
    memory.add("The same words.", title="Two", session="s")
    memory.embed()
    assert sorted(second.heard) == ["One\nThe same words.", "Two\nThe same words."]


def test_an_edited_passage_waits_again_and_its_old_vector_is_gone(
    opened: Callable[..., Memory], notes, second: Second
) -> None:
    memory = opened(embedders=[HashEmbedder(64), second])
    notes.write("a.md", "# Sea\n\nThe tide turns at six.\n")
    memory.sync(notes.root, embed_seconds=60)
    assert reach(memory) == (1, 0)
    notes.write("a.md", "# Sea\n\nThe tide turns at seven.\n")
    assert memory.sync().waiting == 1
    assert reach(memory) == (0, 1)
    assert memory.sync(embed_seconds=60).embedded == 1
    assert "seven" in second.heard[-1]


def test_a_sync_without_a_budget_backfills_nothing(
    opened: Callable[..., Memory], notes, second: Second
) -> None:
    memory = opened(embedders=[HashEmbedder(64), second])
    notes.write("a.md", "# Sea\n\nThe tide turns at six.\n")
    summary = memory.sync(notes.root)
    assert (summary.embedded, summary.waiting, second.heard) == (0, 1, [])


def test_half_done_it_covers_an_even_sample_not_the_first_comers(waiting: Memory, second: Second) -> None:
    second.allowed = BACKFILL_BATCH
    with pytest.raises(ProviderError):
        waiting.embed()
    numbers = [int(text.split()[2]) for text in second.heard]
    assert len(numbers) == BACKFILL_BATCH
    assert numbers != list(range(BACKFILL_BATCH))
    assert 0.25 < sum(number >= COUNT // 2 for number in numbers) / len(numbers) < 0.75


def test_others_memories_are_not_embedded(opened: Callable[..., Memory], second: Second) -> None:
    opened(embedders=[HashEmbedder(64), second], user="bob").add("Bob's words.")
    ann = opened(embedders=[HashEmbedder(64), second], user="ann")
    ann.add("Ann's words.")
    assert ann.embed().embedded == 1
    assert second.heard == ["Ann's words."]


def test_what_is_forgotten_is_not_embedded_and_leaves_the_cache(
    opened: Callable[..., Memory], second: Second
) -> None:
    memory = opened(embedders=[HashEmbedder(64), second])
    gone = memory.add("Soon gone.")
    memory.add("Stays.")
    memory.forget(gone.id)
    memory.embed()
    assert second.heard == ["Stays."]
    memory.forget(memory.search("stays").results[0].id)
    memory.add("Stays.")
    memory.embed()
    assert second.heard == ["Stays.", "Stays."]
