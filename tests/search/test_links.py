"""Links are followed from what a search found, hop by hop, and nothing is demoted by it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from recall_values import candidate
from router_facts import (
    CHAIN,
    CLUSTER,
    CROSS,
    DEVOPS,
    FOUR_WAY,
    FOUR_WAY_LINKS,
    LINKED,
    RUST,
    TRAINING,
    Told,
)

from scrubjay import Memory
from scrubjay.errors import InputError
from scrubjay.models.lifecycle import NewMemory
from scrubjay.models.records import RecordFilter
from scrubjay.models.results import Candidate
from scrubjay.search import expansion as follow_module
from scrubjay.search.expansion import ScoreCache, follow_links
from scrubjay.search.request import STAGES

COSINE: dict[str, Any] = {"fusion": "raw", "weights": {"vector": 1.0}}
Opener = Callable[..., Memory]


def written(
    opened: Opener, texts: Mapping[str, Sequence[Any]], *questions: str
) -> tuple[Memory, dict[str, str]]:
    """Return a store of these texts, each with its cosines to the questions, and name to id."""
    cosines = {text: told for text, *told in texts.values()}
    memory = opened(embedders=[Told(cosines, *questions)])
    return memory, {name: memory.add(text).id for name, (text, *_) in texts.items()}


def found(memory: Memory, ids: Mapping[str, str], query: str, **options: Any) -> dict[str, float]:
    names = {memory_id: name for name, memory_id in ids.items()}
    return {names[one.id]: one.score for one in memory.search(query, limit=10, **options).results}


def chain(opened: Opener, *weights: float) -> tuple[Memory, dict[str, str]]:
    memory, ids = written(opened, CHAIN, RUST)
    for (src, dst), weight in zip((("a", "b"), ("b", "c")), weights or (1.0, 1.0), strict=True):
        memory.link(ids[src], ids[dst], weight=weight)
    return memory, ids


@pytest.mark.parametrize("query", [DEVOPS, TRAINING])
@pytest.mark.parametrize("threshold", [0.5, 0.55])
@pytest.mark.parametrize("weights", [{"vector": 1.0}, {"vector": 0.7, "bm25": 0.2, "ngram": 0.1}])
def test_the_router_s_four_ways_find_two_of_two_linked_memories_with_links_and_none_without(
    opened: Opener, query: str, threshold: float, weights: Mapping[str, float]
) -> None:
    memory, ids = written(opened, FOUR_WAY, DEVOPS, TRAINING)
    direct, linked = LINKED[query]
    options: dict[str, Any] = {"fusion": "raw", "weights": weights, "threshold": threshold}
    for src, dst, _ in FOUR_WAY_LINKS:
        memory.link(ids[src], ids[dst])
    assert list(found(memory, ids, query, **options)) == [direct]
    assert list(found(memory, ids, query, links=1, **options)) == [direct, linked]


def test_the_strengths_of_the_router_s_links_leave_both_within_reach(opened: Opener) -> None:
    memory, ids = written(opened, FOUR_WAY, DEVOPS, TRAINING)
    for src, dst, strength in FOUR_WAY_LINKS:
        memory.link(ids[src], ids[dst], weight=strength)
    for query, (direct, linked) in LINKED.items():
        assert list(found(memory, ids, query, links=1, threshold=0.55, **COSINE)) == [direct, linked]


def test_a_linked_memory_has_eight_tenths_of_its_referrer_and_two_of_its_own(opened: Opener) -> None:
    memory, ids = written(opened, FOUR_WAY, DEVOPS, TRAINING)
    memory.link(ids["devops-helm"], ids["finance-budget"])
    scores = found(memory, ids, DEVOPS, links=1, threshold=0.55, **COSINE)
    assert scores == pytest.approx({"devops-helm": 0.902, "finance-budget": 0.740}, abs=0.006)


@pytest.mark.parametrize(
    ("links", "wanted"),
    [
        (0, {"a": 0.883}),
        (1, {"a": 0.883, "b": 0.792}),
        (2, {"a": 0.883, "b": 0.792, "c": 0.668}),
        (5, {"a": 0.883, "b": 0.792, "c": 0.668}),
    ],
)
def test_each_hop_goes_one_link_further_along_the_chain(
    opened: Opener, links: int, wanted: Mapping[str, float]
) -> None:
    memory, ids = chain(opened)
    assert found(memory, ids, RUST, links=links, threshold=0.5, **COSINE) == pytest.approx(wanted, abs=0.006)
    strong, ids = chain(opened, 0.9, 0.85)
    assert list(found(strong, ids, RUST, links=links, threshold=0.5, **COSINE)) == list(wanted)


def test_without_the_stage_the_chain_ends_where_it_begins(opened: Opener) -> None:
    memory, ids = chain(opened)
    without = [stage for stage in STAGES if stage != "links"]
    assert list(found(memory, ids, RUST, links=2, threshold=0.5, stages=without, **COSINE)) == ["a"]


def test_a_link_into_another_category_brings_what_it_leads_to_and_not_what_lies_beside_it(
    opened: Opener,
) -> None:
    memory, ids = written(opened, CROSS, CLUSTER)
    memory.link(ids["helm-deploy"], ids["cloud-budget"], weight=0.88)
    options: dict[str, Any] = {"threshold": 0.65, **COSINE}
    assert list(found(memory, ids, CLUSTER, **options)) == ["helm-deploy"]
    assert list(found(memory, ids, CLUSTER, links=1, **options)) == ["helm-deploy", "cloud-budget"]


def test_the_usual_fusion_follows_links_too_and_says_from_which_memory(opened: Opener) -> None:
    memory = opened()
    for number in range(30):
        memory.add(f"Quince and pear number {number} want water in bed {number % 7}.")
    outage = memory.add("The kingfisher service went down on the night of the ball.").id
    cause = memory.add("Somebody forgot about lease files.").id
    memory.link(outage, cause)
    query = "kingfisher service down"
    assert cause not in [one.id for one in memory.search(query, limit=2).results]
    results = memory.search(query, limit=2, links=1, explain=True).results
    assert [one.id for one in results] == [outage, cause]
    parts = {part.channel: part for part in results[1].explanation.contributions}  # type: ignore[union-attr]
    assert parts[f"link from {outage}"].raw == results[0].score
    assert sum(part.amount for part in parts.values()) == pytest.approx(results[1].score, abs=1e-6)


def test_a_link_is_followed_backwards_for_less(opened: Opener) -> None:
    memory, ids = written(opened, CHAIN, RUST)
    memory.link(ids["b"], ids["a"])
    scores = found(memory, ids, RUST, links=1, threshold=0.5, **COSINE)
    assert scores == pytest.approx({"a": 0.883, "b": 0.8 * 0.8 * 0.883 + 0.2 * 0.431}, abs=0.006)


def test_links_in_a_ring_end(opened: Opener) -> None:
    memory, ids = chain(opened)
    memory.link(ids["c"], ids["a"])
    scores = found(memory, ids, RUST, links=5, threshold=0.1, **COSINE)
    assert scores["a"] == pytest.approx(0.883, abs=0.006)
    assert set(scores) == {"a", "b", "c"}


def test_a_stranger_s_memory_between_two_of_one_s_own_is_no_bridge(opened: Opener, tmp_path: Path) -> None:
    cosines = {text: [told] for text, told in CHAIN.values()}
    ann = opened(tmp_path / "m.db", user="ann", groups=["crew"], embedders=[Told(cosines, RUST)])
    bob = ann.seen_by("bob", groups=["crew"])
    text = {name: text for name, (text, _) in CHAIN.items()}
    a = bob.add_many([NewMemory(text["a"], visibility="group", group="crew")])[0].id
    c = bob.add_many([NewMemory(text["c"], visibility="group", group="crew")])[0].id
    b = bob.add(text["b"]).id
    bob.link(a, b)
    bob.link(b, c)
    options: dict[str, Any] = {"links": 3, "threshold": 0.5, "limit": 10, **COSINE}
    assert [one.id for one in bob.search(RUST, **options).results] == [a, b, c]
    assert [one.id for one in ann.search(RUST, **options).results] == [a]


def test_what_a_filter_leaves_out_is_not_brought_in_by_a_link(opened: Opener) -> None:
    memory, ids = chain(opened)
    kept = memory.add("Ownership moves with Rust programming, says the borrow checker.", tags=["kept"]).id
    memory.link(kept, ids["c"])
    results = memory.search(RUST, tags=["kept"], links=3).results
    assert [one.id for one in results] == [kept]


def test_a_setting_follows_links_in_the_usual_fusion_alone(opened: Opener, settings: Any) -> None:
    from dataclasses import replace

    linked = replace(settings, recall=replace(settings.recall, links=1))
    memory = opened(settings=linked)
    a = memory.add("Heron asked for willow.").id
    b = memory.add("Nothing of the kind.").id
    memory.link(a, b)

    def said(**options: Any) -> bool:
        results = memory.search("heron willow", explain=True, **options).results
        return any("link" in p.channel for r in results if r.explanation for p in r.explanation.contributions)

    assert said()
    assert not said(links=0)
    assert not said(preset="router")
    assert said(preset="router", links=1)


@pytest.mark.parametrize("options", [{"links": 6}, {"links": -1}, {"threshold": 2.0, "fusion": "raw"}])
def test_hops_and_thresholds_out_of_range_are_refused(memory: Memory, options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="must lie between 0 and"):
        memory.search("heron", **options)


def test_a_threshold_needs_scores_with_a_unit(memory: Memory) -> None:
    with pytest.raises(InputError, match="fixed unit"):
        memory.search("heron", threshold=0.5)


def test_never_demotes_and_never_hangs_on_the_order_in_which_links_came(opened: Opener) -> None:
    for seed in range(12):
        chance = random.Random(seed)
        memory = opened()
        ids = [memory.add(f"note {number} {chance.random()}").id for number in range(20)]
        pairs = [(chance.choice(ids), chance.choice(ids), chance.random()) for _ in range(40)]
        pairs = list({(src, dst): (src, dst, weight) for src, dst, weight in pairs if src != dst}.values())
        for src, dst, weight in pairs:
            memory.link(src, dst, weight=weight)
        own = {one: round(chance.uniform(-2, 5), 3) for one in ids}
        ranked = [candidate(one, own[one]) for one in sorted(ids, key=lambda one: (-own[one], one))]
        with memory.workspace.store.reader(memory.workspace.scope) as reader:

            def scored(wanted: Sequence[str], own: Mapping[str, float] = own) -> list[Candidate]:
                return [candidate(one, own[one]) for one in wanted]

            def run(
                shown: Sequence[Candidate], scored: Any = scored, reader: Any = reader
            ) -> dict[str, float]:
                measure = ScoreCache(reader, RecordFilter(), scored)
                return {one.id: one.score for one in follow_links(shown, measure, 3, 6, 1.0)}

            whole, part = run(ranked), run(ranked[:6])
        assert all(whole[one] >= own[one] for one in ids)
        # Whether a memory was among the candidates already, or was brought in, it scores the same.
        assert all(whole[one] == score for one, score in part.items())
        top = max(own.values())
        assert all(score <= max(top, own[one]) for one, score in whole.items())


def test_of_a_memory_with_very_many_links_the_heaviest_few_are_followed(opened: Opener) -> None:
    memory = opened()
    hub = memory.add("The kingfisher hub.").id
    ends = [memory.add(f"Quince number {number}.").id for number in range(30)]
    for number, end in enumerate(ends):
        memory.link(hub, end, weight=0.5 + number / 100)
    results = memory.search("kingfisher hub", links=1, limit=31, explain=True).results
    lifted = {r.id for r in results for p in r.explanation.contributions if "link" in p.channel}  # type: ignore[union-attr]
    assert lifted == set(ends[-follow_module.LINK_FAN_OUT :])


def test_it_is_not_asked_who_names_what_everything_names(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened()
    hub = memory.add("The kingfisher hub.").id
    ends = [memory.add(f"Quince number {number}.").id for number in range(9)]
    for end in ends:
        memory.link(end, hub)

    def lifted() -> set[str]:
        results = memory.search("kingfisher hub", links=1, limit=20, explain=True).results
        return {r.id for r in results for p in r.explanation.contributions if "link" in p.channel}  # type: ignore[union-attr]

    assert lifted() == set(ends)
    monkeypatch.setattr(follow_module, "LINK_HUB_SIZE", 8)
    assert lifted() == set()
