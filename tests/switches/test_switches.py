"""Every optimisation has a switch, and with it off the answers are the same."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.config.loader import load_settings
from scrubjay.config.settings import Settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.models.lifecycle import NewMemory
from scrubjay.models.results import Answer
from scrubjay.search import plan
from scrubjay.search.request import STAGES

QUERIES = (
    "the heron and the willow",
    "when did the stork nest?",
    "ERR_42 tide",
    '"old willow" -roof',
    "wilow",
    "",
)
WORDS = (
    "heron",
    "stork",
    "crane",
    "willow",
    "alder",
    "roof",
    "tide",
    "nest",
    "old",
    "red",
    "the",
    "of",
    "ERR_42",
)


def texts(seed: int = 7, count: int = 300) -> list[str]:
    """Short texts over few words, so that ties are many, and none twice."""
    chance = random.Random(seed)
    found = {" ".join(chance.choices(WORDS, k=chance.randint(4, 25))) for _ in range(count)}
    return sorted(found)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return replace(
        load_settings(environ={"XDG_CONFIG_HOME": str(tmp_path), "SCRUBJAY_SYNC_LOOK_SECONDS": "60"}),
        store=str(tmp_path / "memory.db"),
        user="ann",
    )


@pytest.fixture
def filled(settings: Settings) -> Settings:
    with opened(settings) as memory:
        memory.add_many(
            NewMemory(text, session=f"s{place % 20}", turn=place // 20) for place, text in enumerate(texts())
        )
        memory.embed()
    return settings


def opened(settings: Settings, **options: object) -> Memory:
    models = [HashEmbedder(64), HashEmbedder(32, name="second")]
    return Memory.open(settings=settings, embedders=options.pop("embedders", models), **options)


def told(answer: Answer) -> list[tuple[str, float]]:
    return [(result.id, result.score) for result in answer.results]


def asked(memory: Memory, **options: object) -> Iterator[list[tuple[str, float]]]:
    for query in QUERIES:
        for fusion in ("auto", "rrf", "weighted"):
            yield told(memory.search(query, limit=20, fusion=fusion, **options))


def test_a_search_answers_the_same_cold_warm_and_in_a_second_opening(filled: Settings) -> None:
    with opened(filled) as memory:
        cold = list(asked(memory))
        warm = list(asked(memory))
        with opened(filled) as other:
            alone = [told(other.search(query, limit=20, fusion="auto")) for query in QUERIES]
    assert cold == warm
    assert alone == cold[::3]
    assert any(cold)


def test_below_its_limit_pruning_changes_nothing(filled: Settings) -> None:
    with opened(filled) as memory:
        pruned = list(asked(memory))
        whole = list(asked(memory, stages=[stage for stage in STAGES if stage != "prune"]))
    assert pruned == whole


def test_above_its_limit_pruning_drops_the_commonest_words_and_says_so(
    filled: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "MAX_POSTINGS", 400)
    with opened(filled) as memory:
        pruned = memory.search("the old heron ERR_42 zebra", channels=["bm25"])
        whole = memory.search("the old heron ERR_42 zebra", channels=["bm25"], stages=["deduplicate"])
    assert any(note.startswith("Common words left out:") for note in pruned.notes)
    assert whole.notes == ()
    assert told(pruned) != told(whole)
    assert pruned.results


def test_a_store_that_was_filled_one_by_one_answers_as_one_that_was_filled_at_once(
    settings: Settings, tmp_path: Path
) -> None:
    with opened(settings) as memory:
        memory.add("The first memory makes the tenant and its secret.")
    # A copy has the same secret, so that ids are equal and ties fall alike.
    copy = replace(settings, store=str(tmp_path / "copy.db"))
    shutil.copy(settings.store, copy.store)
    new = [NewMemory(text, session=f"s{place % 20}", turn=place // 20) for place, text in enumerate(texts())]
    with opened(settings) as memory:
        memory.add_many(new)
        memory.embed()
        at_once = list(asked(memory))
    with opened(copy) as memory:
        for one in new:
            memory.add_many([one])
        memory.embed()
        assert list(asked(memory)) == at_once


def test_vectors_do_not_depend_on_what_else_was_embedded_in_the_same_call() -> None:
    from scrubjay.ingest.embedder import encode_texts

    model = HashEmbedder(64, window=8)
    together = encode_texts(model, texts())
    alone = [encode_texts(model, [text])[0] for text in texts()]
    for one, other in zip(together, alone, strict=True):
        assert one.data.tobytes() == other.data.tobytes()
        assert one.scales.tobytes() == other.scales.tobytes()


def test_the_bundled_static_model_gives_the_same_codes_alone_and_in_bulk(tmp_path: Path) -> None:
    from scrubjay.embeddings.static import StaticEmbedder
    from scrubjay.ingest.embedder import encode_texts

    model = StaticEmbedder(None, cache_dir=tmp_path)
    some = texts()[:40]
    together = encode_texts(model, some * 30)[:40]
    alone = [encode_texts(StaticEmbedder(None, cache_dir=tmp_path), [text])[0] for text in some]
    for one, other in zip(together, alone, strict=True):
        assert one.data.tobytes() == other.data.tobytes()
        assert one.scales.tobytes() == other.scales.tobytes()


def test_a_text_seen_before_is_embedded_from_the_cache_and_ranks_the_same(filled: Settings) -> None:
    with opened(filled) as memory:
        before = list(asked(memory))
        kept = memory.models()[1]
        memory.drop_model(kept.name)
        memory.add_model(kept.name)
        memory.use_model(kept.name)
        assert memory.embed().waiting == 0
        assert list(asked(memory)) == before


def test_a_rebuilt_store_ranks_as_it_did(filled: Settings) -> None:
    with opened(filled) as memory:
        before = list(asked(memory))
        memory.rebuild()
        memory.embed()
        assert list(asked(memory)) == before
