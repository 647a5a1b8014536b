"""Categories that fit a query lift what belongs to them, and bring it in; nothing is demoted by it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from recall_values import candidate
from router_facts import Told

from scrubjay import Memory
from scrubjay.errors import InputError
from scrubjay.models.graph import Category, Edge
from scrubjay.models.records import RecordFilter, Scope
from scrubjay.models.results import Candidate
from scrubjay.search.expansion import ScoreCache, descend_categories
from scrubjay.search.request import STAGES, ExpansionOptions
from scrubjay.storage.changes import PutCategory, PutEdges
from scrubjay.storage.urls import open_store
from store_contract.samples import sample_category, sample_category_id

OWN = "user:ann"
COSINE: dict[str, Any] = {"fusion": "raw", "weights": {"vector": 1.0}, "limit": 10}
QUERY = "who cooks at sea?"
TEXTS = {
    "galley": ("The galley is Mara's.", 0.5),
    "stove": ("Its stove burns paraffin.", 0.2),
    "sail": ("The jib was mended twice.", 0.1),
}
PHRASES = {"kitchen aboard": 0.8, "stoves and fuel": 0.7, "canvas": 0.1}
Opener = Callable[..., Memory]


@pytest.fixture
def shelved(opened: Opener, tmp_path: Path) -> tuple[Memory, dict[str, str]]:
    """Ann's memory: the galley in a category, the stove one below it, the sail in another."""
    cosines = {text: [told] for text, told in TEXTS.values()} | {p: [c] for p, c in PHRASES.items()}
    memory = opened(tmp_path / "memory.db", embedders=[Told(cosines, QUERY)])
    ids = {name: memory.add(text).id for name, (text, _) in TEXTS.items()}
    put(
        tmp_path,
        [
            sample_category("Cooking", OWN, abstract="kitchen aboard"),
            sample_category(
                "Stoves", OWN, parent=sample_category_id("Cooking", OWN), abstract="stoves and fuel"
            ),
            sample_category("Sails", OWN, abstract="canvas"),
        ],
        [(ids["galley"], "Cooking"), (ids["stove"], "Stoves"), (ids["sail"], "Sails")],
    )
    return memory, ids


def put(
    folder: Path, shelves: Sequence[Category], places: Sequence[tuple[str, str]], user: str = "ann"
) -> None:
    key = f"user:{user}"
    belongs = tuple(Edge(memory, "belongs", sample_category_id(name, key), key) for memory, name in places)
    store = open_store(str(folder / "memory.db"))
    store.write(Scope("default", user), [*(PutCategory(shelf) for shelf in shelves), PutEdges(belongs)])
    store.close()


def found(shelved: tuple[Memory, Mapping[str, str]], **options: Any) -> dict[str, float]:
    memory, ids = shelved
    names = {memory_id: name for name, memory_id in ids.items()}
    return {names[one.id]: one.score for one in memory.search(QUERY, **COSINE, **options).results}


def test_a_memory_counts_half_itself_and_half_its_category(shelved: Any) -> None:
    flat = found(shelved)
    assert flat == pytest.approx({"galley": 0.5, "stove": 0.2, "sail": 0.1}, abs=0.006)
    tree = found(shelved, hierarchy=True, threshold=0.3)
    # The stove's category stands below one that fits better: (.7 + .8) / 2, then half of that and half of its own.
    assert tree == pytest.approx({"galley": 0.65, "stove": 0.475}, abs=0.006)
    assert list(found(shelved, threshold=0.3)) == ["galley"]


def test_alpha_says_what_a_memory_s_own_score_weighs(shelved: Any) -> None:
    for alpha, galley in ((1.0, 0.5), (0.7, 0.59), (0.0, 0.8)):
        scores = found(shelved, hierarchy=True, threshold=0.3, alpha=alpha)
        assert scores["galley"] == pytest.approx(galley, abs=0.006)


def test_levels_below_the_depth_are_not_come_to_from_above(shelved: Any) -> None:
    scores = found(shelved, hierarchy=True, threshold=0.3, depth=1)
    assert scores["stove"] == pytest.approx((0.2 + 0.7) / 2, abs=0.006)


def test_a_category_that_does_not_fit_lends_nothing(shelved: Any) -> None:
    scores = found(shelved, hierarchy=True)
    assert scores["sail"] == pytest.approx(0.1, abs=0.006)


def test_without_the_stage_nothing_is_lifted(shelved: Any) -> None:
    without = [stage for stage in STAGES if stage != "hierarchy"]
    assert found(shelved, hierarchy=True, stages=without) == found(shelved)


def test_the_explanation_names_the_category_s_path_and_its_parts_make_the_score(shelved: Any) -> None:
    memory, ids = shelved
    results = memory.search(QUERY, hierarchy=True, explain=True, **COSINE).results
    stove = next(one for one in results if one.id == ids["stove"])
    parts = {part.channel: part for part in stove.explanation.contributions}
    assert parts["category Cooking > Stoves"].raw == pytest.approx(0.75, abs=0.006)
    assert sum(part.amount for part in parts.values()) == pytest.approx(stove.score, abs=2e-6)


def test_the_usual_fusion_brings_in_what_no_channel_found(opened: Opener, tmp_path: Path) -> None:
    memory = opened(tmp_path / "memory.db")
    ids = [
        memory.add(f"Quince and pear number {number} want water in bed {number % 7}.").id
        for number in range(70)
    ]
    asked = memory.add("The kingfisher dives at dawn.").id
    put(
        tmp_path,
        [sample_category("Birds", OWN, abstract="the kingfisher and its dive")],
        [(ids[5], "Birds"), (asked, "Birds")],
    )
    query = "when does the kingfisher dive?"
    assert ids[5] not in [one.id for one in memory.search(query, limit=2).results]
    results = memory.search(query, limit=2, hierarchy=True, alpha=0.2, explain=True).results
    assert {one.id for one in results} == {asked, ids[5]}
    brought = next(one for one in results if one.id == ids[5])
    assert brought.explanation is not None
    assert "category Birds" in [part.channel for part in brought.explanation.contributions]


def test_a_word_is_looked_for_in_categories_in_the_spelling_that_it_is_read_in(
    opened: Opener, tmp_path: Path
) -> None:
    memory = opened(tmp_path / "memory.db")
    asked = memory.add("The kingfisher dives at dawn.").id
    put(tmp_path, [sample_category("Birds", OWN, abstract="the kingfisher and its dive")], [(asked, "Birds")])
    answer = memory.search("when does the kingfihser dive?", hierarchy=True, min_relevance=0)
    assert any("read as kingfisher" in note for note in answer.notes)
    assert [one.id for one in answer.results] == [asked]


def test_a_setting_descends_in_the_usual_fusion_alone(opened: Opener, settings: Any, tmp_path: Path) -> None:
    from dataclasses import replace

    wanted = replace(settings, recall=replace(settings.recall, hierarchy=True))
    memory = opened(tmp_path / "memory.db", settings=wanted)
    for number in range(9):
        memory.add(f"Quince number {number} wants water.")
    heron = memory.add("Heron.").id
    put(tmp_path, [sample_category("Birds", OWN, abstract="heron heron willow stork")], [(heron, "Birds")])

    def said(**options: Any) -> bool:
        results = memory.search("heron willow stork", explain=True, **options).results
        parts = [p.channel for r in results if r.explanation for p in r.explanation.contributions]
        return "category Birds" in parts

    assert said()
    assert not said(hierarchy=False)
    assert not said(fusion="weighted")
    assert said(fusion="weighted", hierarchy=True)


def test_another_s_category_is_not_descended(shelved: Any, tmp_path: Path) -> None:
    memory, _ = shelved
    bob = memory.seen_by("bob")
    text, _ = TEXTS["stove"]
    own = bob.add(text).id
    assert [one.score for one in bob.search(QUERY, hierarchy=True, **COSINE).results if one.id == own] == [
        pytest.approx(0.2, abs=0.006)
    ]


def test_categories_below_each_other_in_a_ring_end(opened: Opener, tmp_path: Path) -> None:
    memory = opened(tmp_path / "memory.db")
    one = memory.add("The kingfisher dives at dawn.").id
    ring = [
        sample_category("First", OWN, parent=sample_category_id("Second", OWN), abstract="kingfisher"),
        sample_category("Second", OWN, parent=sample_category_id("First", OWN), abstract="kingfisher dawn"),
    ]
    put(tmp_path, ring, [(one, "First")])
    assert [r.id for r in memory.search("kingfisher", hierarchy=True, depth=10).results] == [one]


@pytest.mark.parametrize("options", [{"depth": 0}, {"depth": 11}, {"alpha": 1.5}, {"alpha": -0.1}])
def test_levels_and_shares_out_of_range_are_refused(memory: Memory, options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="must lie between"):
        memory.search("heron", hierarchy=True, **options)


def test_categories_have_no_rank_to_be_fused_by(memory: Memory) -> None:
    with pytest.raises(InputError, match="only ranks"):
        memory.search("heron", hierarchy=True, fusion="rrf")


def test_never_demotes_and_never_hangs_on_the_order_of_what_is_given(opened: Opener, tmp_path: Path) -> None:
    memory = opened(tmp_path / "memory.db")
    ids = [memory.add(f"note {number} of many").id for number in range(30)]
    chance = random.Random(5)
    names = [f"c{number}" for number in range(8)]
    shelves = [
        sample_category(
            name, OWN, parent=sample_category_id(names[chance.randrange(number)], OWN) if number else None
        )
        for number, name in enumerate(names)
    ]
    put(tmp_path, shelves, [(memory_id, chance.choice(names)) for memory_id in ids])
    with memory.workspace.store.reader(memory.workspace.scope) as reader:
        for _ in range(20):
            own = {one: round(chance.uniform(-2, 5), 3) for one in ids}
            scores = {shelf.id: round(chance.uniform(-2, 6), 3) for shelf in shelves}
            ranked = [candidate(one, own[one]) for one in sorted(ids, key=lambda one: (-own[one], one))]

            def scored(wanted: Sequence[str], own: Mapping[str, float] = own) -> list[Candidate]:
                return [candidate(one, own[one]) for one in wanted]

            def run(
                given: Sequence[Category], scored: Any = scored, ranked: Any = ranked, scores: Any = scores
            ) -> Any:
                measure = ScoreCache(reader, RecordFilter(), scored)
                return {
                    one.id: one.score
                    for one in descend_categories(
                        ranked, measure, (given, scores), ExpansionOptions(depth=3, alpha=0.5), 6, 1.0
                    )
                }

            lifted = run(shelves)
            assert all(lifted[one] >= own[one] for one in ids)
            assert all(score <= max(own[one], *scores.values()) for one, score in lifted.items())
            assert run(shelves[::-1]) == lifted
