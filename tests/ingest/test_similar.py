"""Automatic links: between memories that tell of the same, once, as far as both ends may be seen."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from notes_folder import Notes
from web import edges, joined, scope_of, store_of

from scrubjay import Memory
from scrubjay.config.settings import LinkingSettings, Settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.models.graph import Edge
from scrubjay.models.lifecycle import NewMemory
from scrubjay.models.records import Scope

HERON = "the grey heron stands in the shallow pond at dawn"
AGAIN = "at dawn the grey heron stands in the shallow pond"
ONCE_MORE = "in the pond at dawn stands the shallow grey heron"
OTHER = "quarterly figures for the northern region were sent to accounting yesterday"

Open = Callable[..., Memory]


@pytest.fixture
def memory(opened: Open) -> Memory:
    return opened()


def wishing(settings: Settings, **connect: object) -> Settings:
    return replace(settings, linking=replace(LinkingSettings(), **connect))


def ids(memory: Memory, texts: Sequence[str], **fields: object) -> list[str]:
    return [memory.add(text, **fields).id for text in texts]


def pairs(found: Sequence[Edge]) -> set[tuple[str, str]]:
    return {(edge.src, edge.dst) for edge in found}


def test_a_memory_is_joined_with_what_tells_of_the_same(memory: Memory) -> None:
    first, second, _ = ids(memory, [HERON, AGAIN, OTHER])
    (edge,) = edges(memory, "similar")
    assert (edge.src, edge.dst, edge.key, edge.origin, edge.rule) == (
        second, first, "user:ann", "found", "cosine",
    )  # fmt: skip
    assert edge.weight == pytest.approx(1.0, abs=0.01)


def test_both_ends_written_at_once_are_joined_once(memory: Memory) -> None:
    one, other, third = memory.add_many(NewMemory(text) for text in (HERON, AGAIN, ONCE_MORE))
    assert pairs(edges(memory, "similar")) == {
        (other.id, one.id), (third.id, one.id), (third.id, other.id),
    }  # fmt: skip


def test_passages_of_one_document_are_not_joined_and_those_of_two_are(memory: Memory, notes: Notes) -> None:
    notes.write("a.md", f"# One\n\n{HERON}\n\n# Two\n\n{AGAIN}\n")
    memory.sync(notes.root)
    assert edges(memory, "similar") == []
    notes.write("b.md", f"# One\n\n{HERON}\n")
    memory.sync()
    found = edges(memory, "similar")
    assert len(found) == 2
    assert len({edge.src for edge in found}) == 1
    notes.write("a.md", f"# One\n\n{HERON}!\n\n# Two\n\n{AGAIN}!\n")
    memory.sync()
    assert len({frozenset(pair) for pair in pairs(edges(memory, "similar"))}) == 2


def test_a_document_of_many_like_passages_leaves_room_for_links_to_others(
    memory: Memory, notes: Notes
) -> None:
    same = "\n".join(f"# Day {n}\n\n{HERON}\n" for n in range(40))
    notes.write("a.md", same)
    notes.write("b.md", f"# Day 0\n\n{AGAIN}\n")
    memory.sync(notes.root)
    notes.write("a.md", same + f"# Day 40\n\n{HERON}\n")
    memory.sync()
    newest = next(
        r.id for r in memory.get(path=notes.root / "a.md", limit=100_000).records if r.title == "Day 40"
    )
    assert [edge.src for edge in edges(memory, "similar")].count(newest) == 1


def test_a_memory_makes_as_many_links_as_the_settings_say_and_is_given_any_number(
    settings: Settings, opened: Open
) -> None:
    memory = opened(settings=wishing(settings, links=3))
    texts = [" ".join(HERON.split()[n:] + HERON.split()[:n]) for n in range(10)]
    made = ids(memory, texts)
    found = [edge.src for edge in edges(memory, "similar")]
    assert [found.count(one) for one in made] == [0, 1, 2, *[3] * 7]
    at_once = memory.add_many(NewMemory(f"{text} again", session="s") for text in texts)
    found = [edge.src for edge in edges(memory, "similar")]
    assert [found.count(one.id) for one in at_once] == [3] * 10
    assert max(Counter(edge.dst for edge in edges(memory, "similar")).values()) > 3


def test_nothing_below_the_floor_of_the_settings_is_joined(settings: Settings, opened: Open) -> None:
    near = "the grey heron stands in the shallow pond at dusk alone"
    memory = opened(settings=settings)
    ids(memory, [HERON, near])
    (edge,) = edges(memory, "similar")
    assert 0.8 <= edge.weight < 0.95
    memory = opened(settings=replace(wishing(settings, similarity=0.95), store="memory://"))
    ids(memory, [HERON, near])
    assert edges(memory, "similar") == []


def test_short_memories_are_like_no_other(memory: Memory) -> None:
    ids(
        memory,
        ["yes, thanks", "thanks, yes", "👍 danke", "danke 👍", "好的谢谢", "谢谢好的", "Größe geändert"],
    )
    ids(memory, ["the heron", HERON])
    memory.add_many(NewMemory(text, session="s") for text in ("thanks, yes", "yes, thanks", "danke 👍"))
    assert edges(memory, "similar") == []


def test_texts_without_spaces_are_joined_when_they_say_enough(settings: Settings, opened: Open) -> None:
    # The hash model takes a run without spaces for one word, so only the very same text is alike.
    memory = opened()
    long = "我们决定在下周五之前把数据库迁移到新的服务器上去"
    ids(memory, [long], session="one")
    ids(memory, [long], session="two")
    assert len(edges(memory, "similar")) == 1


def test_a_private_memory_is_joined_with_shared_ones_and_no_shared_one_with_it(memory: Memory) -> None:
    private = memory.add(HERON).id
    shared = memory.add(AGAIN, visibility="public").id
    assert edges(memory, "similar") == []
    later = memory.add(ONCE_MORE).id
    found = edges(memory, "similar")
    assert pairs(found) == {(later, private), (later, shared)}
    assert {edge.key for edge in found} == {"user:ann"}
    assert edges(memory, "similar", scope=Scope("default", "bob")) == []


def test_private_and_shared_written_at_once_are_joined_from_the_private_side(memory: Memory) -> None:
    for order in (("user", "public"), ("public", "user")):
        one, other = memory.add_many(
            NewMemory(f"{HERON} {'now' * (order[0] == 'user')}", visibility=seen, session=order[0])
            for seen in order
        )
        private, shared = (one, other) if order[0] == "user" else (other, one)
        found = pairs(edges(memory, "similar"))
        assert (private.id, shared.id) in found
        assert (shared.id, private.id) not in found


def test_an_edited_memory_is_joined_anew_and_stale_links_go_from_both_ends(
    memory: Memory, notes: Notes
) -> None:
    notes.write("a.md", HERON)
    memory.sync(notes.root)
    notes.write("b.md", AGAIN)
    memory.sync()
    notes.write("c.md", OTHER)
    memory.sync()
    assert joined(memory, "similar") == {(AGAIN, HERON)}
    notes.write("a.md", f"{OTHER} again")
    memory.sync()
    assert joined(memory, "similar") == {(f"{OTHER} again", OTHER)}
    notes.write("a.md", HERON)
    memory.sync()
    assert joined(memory, "similar") == {(HERON, AGAIN)}


def test_two_that_are_edited_in_one_sync_are_joined_as_they_are_now(memory: Memory, notes: Notes) -> None:
    for name, text in (("a", HERON), ("b", AGAIN), ("c", OTHER)):
        notes.write(f"{name}.md", text)
    memory.sync(notes.root)
    notes.write("a.md", f"{OTHER} again")
    notes.write("c.md", f"{OTHER} today")
    memory.sync()
    (pair,) = joined(memory, "similar")
    assert set(pair) == {f"{OTHER} again", f"{OTHER} today"}


def test_forgetting_a_memory_takes_its_links(memory: Memory) -> None:
    first, second, third = ids(memory, [HERON, AGAIN, ONCE_MORE])
    memory.forget(second)
    assert pairs(edges(memory, "similar")) == {(third, first)}


TEXTS = st.lists(
    st.lists(st.sampled_from("heron pond dawn grey stands shallow".split()), min_size=8, max_size=12).map(
        " ".join
    ),
    min_size=2,
    max_size=12,
    unique=True,
)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("orders")


@examples(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=TEXTS)
def test_written_at_once_or_one_by_one_the_links_are_the_same(
    places: Path, settings: Settings, texts: list[str]
) -> None:
    """Scores, ties and the choice of the best three: also of texts that take several windows."""
    found = []
    start = places / "start.db"
    wish = wishing(settings, links=3)
    model = HashEmbedder(64, window=6)
    with Memory.open(settings=replace(wish, store=str(start)), embedders=[model]) as memory:
        memory.add("The first memory makes the tenant and its secret.")
    for name in ("at-once", "one-by-one"):
        path = shutil.copy(start, places / f"{name}.db")
        with Memory.open(settings=replace(wish, store=str(path)), embedders=[model]) as memory:
            new = [NewMemory(text) for text in texts]
            for some in [new] if name == "at-once" else [[one] for one in new]:
                memory.add_many(some)
            found.append({(e.src, e.dst): e.weight for e in edges(memory, "similar")})
    assert found[0] == found[1]


def test_a_rebuild_joins_the_same_pairs_whatever_the_keys(memory: Memory) -> None:
    ids(memory, [HERON, AGAIN, OTHER])
    memory.add(f"{HERON} today", visibility="public")
    ids(memory, [ONCE_MORE])
    before = {frozenset(pair) for pair in pairs(edges(memory, "similar"))}
    memory.rebuild()
    after = edges(memory, "similar")
    # Of a private memory and a later shared one the link is made only now: before, the shared one could not.
    assert before < {frozenset(pair) for pair in pairs(after)}
    assert len(after) == len({frozenset(pair) for pair in pairs(after)}) == 6
    with store_of(memory).reader(scope_of(memory)) as reader:
        keys = {
            one: record.key
            for one, record in reader.get([e.src for e in after] + [e.dst for e in after]).items()
        }
    assert all(keys[edge.src] == "user:ann" for edge in after)
