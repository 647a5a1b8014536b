from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from scrubjay import Memory, NewMemory
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import InputError, NotFoundError
from scrubjay.models.records import RecordFilter, Scope
from scrubjay.search import plan as planning
from scrubjay.search.plan import (
    MAX_GROUPS,
    MAX_UNKNOWN,
    MIN_DEPTH,
    PRESETS,
    VERIFIED_DEPTH,
    QueryPlan,
    build_plan,
)
from scrubjay.search.request import STAGES, SearchRequest
from scrubjay.storage.interface import Reader
from scrubjay.storage.urls import open_store

SCOPE = Scope("default", "ann")


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    file = str(tmp_path_factory.mktemp("plan") / "a.db")
    words = [f"common word{number} " + "frequent " * (number % 2) for number in range(100)]
    with Memory.open(file, user="ann", embedders=[HashEmbedder(64)]) as memory:
        memory.add_many([NewMemory(text) for text in words])
    with closing(open_store(file)) as store, store.reader(SCOPE) as view:
        yield view


def made(reader: Reader, query: str = "q", **fields: Any) -> QueryPlan:
    return build_plan(SearchRequest(query, **fields), reader)


def test_the_presets_are_what_their_systems_publish() -> None:
    assert PRESETS == {
        "kit": ("rrf", {"vector": 1.0, "bm25": 1.0, "graph": 0.5}),
        "openclaw": ("weighted", {"vector": 0.7, "bm25": 0.3}),
        "router": ("raw", {"vector": 0.7, "bm25": 0.2, "ngram": 0.1}),
    }


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_sets_fusion_and_weights(reader: Reader, name: str) -> None:
    found = made(reader, preset=name)
    assert (found.fusion, found.weights) == PRESETS[name]


@pytest.mark.parametrize("clash", [{"weights": {"bm25": 1.0}}, {"fusion": "rrf"}])
def test_a_preset_beside_weights_or_fusion_is_refused(reader: Reader, clash: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="A preset sets fusion and weights itself"):
        made(reader, preset="kit", **clash)


def test_an_unknown_preset_or_channel_is_refused_with_those_there_are(reader: Reader) -> None:
    with pytest.raises(InputError, match="kit, openclaw, router"):
        made(reader, preset="other")
    with pytest.raises(InputError, match="bm25, vector, ngram, graph"):
        made(reader, weights={"smell": 1.0})


@pytest.mark.parametrize("weight", [-0.1, 1_001.0, float("nan"), float("inf")])
def test_a_weight_out_of_range_is_refused(reader: Reader, weight: float) -> None:
    with pytest.raises(InputError, match="is not between 0 and 1000"):
        made(reader, weights={"bm25": weight})


def test_weights_mean_a_weighted_sum_and_what_is_not_named_weighs_nothing(reader: Reader) -> None:
    found = made(reader, weights={"bm25": 2.0})
    assert (found.fusion, found.weights) == (
        "weighted",
        {"bm25": 2.0, "vector": 0.0, "ngram": 0.0, "graph": 0.0},
    )
    assert made(reader, weights={"bm25": 2.0}, fusion="rrf").fusion == "rrf"


def test_channels_give_more_hits_than_are_wanted_and_more_still_where_some_are_thrown_away(
    reader: Reader,
) -> None:
    assert made(reader, limit=1, multiplier=4).depth == MIN_DEPTH
    assert made(reader, limit=90, multiplier=4).depth == 360
    assert made(reader, '"a phrase"').depth == made(reader, "a -word").depth == VERIFIED_DEPTH


def test_of_many_words_the_rarest_are_looked_up_and_the_others_named(reader: Reader) -> None:
    query = "common " + " ".join(f"word{number}" for number in range(MAX_GROUPS))
    found = made(reader, query)
    assert len(found.groups) == MAX_GROUPS
    assert found.notes == ("Common words left out: common.",)
    assert len(made(reader, query, stages=tuple(set(STAGES) - {"prune"})).groups) == MAX_GROUPS + 1


def test_words_that_nobody_holds_take_no_place_from_those_that_somebody_does(reader: Reader) -> None:
    query = " ".join(f"unheard{number}" for number in range(200)) + " common word3"
    found = made(reader, query)
    assert [g.word for g in found.groups][-2:] == ["common", "word3"]
    assert len(found.groups) == MAX_UNKNOWN + 2
    assert found.notes == ()


def test_the_commonest_words_are_dropped_while_rarer_ones_remain(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "MAX_POSTINGS", 60)  # 50 hold "frequent", 100 "common"
    assert [g.word for g in made(reader, "common word7 frequent").groups] == ["word7", "frequent"]
    assert [g.word for g in made(reader, "common word7").groups] == ["word7"]
    assert [g.word for g in made(reader, "common").groups] == ["common"]
    assert [g.word for g in made(reader, "common unheard").groups] == ["common", "unheard"]


def test_a_source_is_found_by_id_or_path_and_an_unknown_one_refused(opened, tmp_path) -> None:
    root = tmp_path / "notes"
    root.mkdir()
    memory = opened(tmp_path / "b.db")
    memory.sync(root)
    (source,) = memory.sources()
    with open_store(str(tmp_path / "b.db")).reader(SCOPE) as view:
        for name in (source.id, source.id[:8], str(root)):
            assert build_plan(
                SearchRequest("q", where=RecordFilter(sources=(name,))), view
            ).where.sources == (source.id,)
        with pytest.raises(NotFoundError, match="elsewhere"):
            build_plan(SearchRequest("q", where=RecordFilter(sources=("elsewhere",))), view)


def test_a_model_that_is_not_registered_is_refused_with_those_that_are(reader: Reader) -> None:
    assert made(reader, models=("hash",)).models == ("hash",)
    with pytest.raises(NotFoundError, match="there are: hash"):
        made(reader, models=("bert",))


def test_a_query_of_nothing_is_told(reader: Reader) -> None:
    for query in ("", "  ", "-word1", "\x00", '""'):
        assert made(reader, query).notes == ("The query names nothing to look for.",)
