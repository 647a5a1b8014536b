"""All tiers in one pool: weights, certainty, project, floor, and what leaves everything as it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recall_values import candidate, rows

from scrubjay import Memory
from scrubjay.config.settings import Settings
from scrubjay.errors import InputError
from scrubjay.models.records import TIER_PREFIXES, TIERS
from scrubjay.search.fusion import (
    CERTAINTY_WEIGHT,
    MAX_PER_TIER,
    PROJECT_WEIGHT,
    TIER_WEIGHT,
    add_decay,
    add_tier_features,
    pool_tiers,
)
from scrubjay.search.request import STAGES, TierOptions, build_request
from scrubjay.storage.interface import RankingMetadata

IDS = {tier: f"{prefix}0000000000000001" for tier, prefix in TIER_PREFIXES.items()}
WITHOUT = tuple(stage for stage in STAGES if stage != "tiers")
SHARE = st.floats(0, 1)


def gained(tier: str, head: RankingMetadata, pool: TierOptions, score: float = 1.0) -> float:
    memory = IDS[tier]
    (one,) = told = rows({memory: score}, {memory: head})
    add_tier_features(told, pool)
    return round(one.score - score, 6)


def test_sure_observations_of_no_project_pass_through_unchanged() -> None:
    heads = {IDS["observation"]: RankingMetadata("", 1)}
    told = rows({IDS["observation"]: 1.0}, heads)
    add_tier_features(told, TierOptions(here="jay"))
    assert told == rows({IDS["observation"]: 1.0}, heads)
    assert pool_tiers(told, heads, TierOptions()) == (told, 0)


def test_sure_facts_gain_and_no_other_tier_does() -> None:
    sure = {tier: gained(tier, RankingMetadata("", 1, confidence=0.9), TierOptions()) for tier in TIERS}
    assert sure == {tier: CERTAINTY_WEIGHT if tier == "semantic" else 0.0 for tier in TIERS}
    assert gained("semantic", RankingMetadata("", 1, confidence=0.85), TierOptions()) == 0.0


@pytest.mark.parametrize("score", [-2.0, 0.0, 3.0])
def test_a_tier_that_weighs_more_gains_whatever_the_sign_of_its_score(score: float) -> None:
    heavy = gained("lesson", RankingMetadata("", 1), TierOptions(weights={"lesson": 2.0}), score)
    light = gained("lesson", RankingMetadata("", 1), TierOptions(weights={"lesson": 0.5}), score)
    assert (heavy, light) == (TIER_WEIGHT, -TIER_WEIGHT)


def test_the_project_one_is_in_gains_and_the_others_lose_nothing() -> None:
    assert (
        gained("observation", RankingMetadata("", 1, project="jay"), TierOptions(here="jay"))
        == PROJECT_WEIGHT
    )
    assert gained("observation", RankingMetadata("", 1, project="owl"), TierOptions(here="jay")) == 0.0
    assert gained("observation", RankingMetadata("", 1, project="jay"), TierOptions()) == 0.0


@given(st.floats(-5, 5), SHARE, SHARE, SHARE, SHARE, st.sampled_from(TIERS))
def test_of_two_alike_the_surer_and_stronger_never_stands_behind(
    score: float, sure: float, surer: float, weak: float, strong: float, tier: str
) -> None:
    low, high = f"{TIER_PREFIXES[tier]}0000000000000001", f"{TIER_PREFIXES[tier]}0000000000000002"
    heads = {
        low: RankingMetadata("", 1, strength=min(weak, strong), confidence=min(sure, surer)),
        high: RankingMetadata("", 1, strength=max(weak, strong), confidence=max(sure, surer)),
    }
    told = rows({low: score, high: score}, heads)
    add_decay(told, 0)
    add_tier_features(told, TierOptions())
    ranked = {one.id: one.score for one in told}
    assert ranked[high] >= ranked[low]


def test_what_is_unsure_is_kept_out_and_counted_unless_it_is_pinned() -> None:
    ids = [f"les_000000000000000{number}" for number in range(3)]
    heads = {
        ids[0]: RankingMetadata("", 1, confidence=0.3),
        ids[1]: RankingMetadata("", 1, confidence=0.2),
        ids[2]: RankingMetadata("", 1, pinned=True, confidence=0.1),
    }
    found, unsure = pool_tiers([candidate(memory, 1.0) for memory in ids], heads, TierOptions())
    assert [one.id for one in found] == [ids[0], ids[2]]
    assert unsure == 1
    assert pool_tiers([candidate(memory, 1.0) for memory in ids], heads, TierOptions(floor=0))[1] == 0


def test_no_tier_takes_more_than_its_places() -> None:
    many = [candidate(f"obs_{number:016x}", 2.0) for number in range(MAX_PER_TIER + 9)]
    one = candidate(IDS["crystal"], 1.0)
    found, _ = pool_tiers([*many, one], {}, TierOptions())
    assert len(found) == MAX_PER_TIER + 1
    assert found[-1] == one


def test_tier_options_refuse_what_is_no_tier_and_what_is_out_of_range() -> None:
    for options in (
        TierOptions(weights={"fact": 1.0}),
        TierOptions(weights={"lesson": -1.0}),
    ):
        with pytest.raises(InputError):
            build_request("x", tier_options=options)


def ids(memory: Memory, query: str = "kettle", **options: Any) -> list[str]:
    return [result.id for result in memory.search(query, **options).results]


def test_an_unsure_memory_answers_only_below_the_floor(memory: Memory) -> None:
    sure = memory.add("The kettle is blue.").id
    unsure = memory.add("The kettle is green.", tier="semantic", confidence=0.2).id
    for fusion in ("auto", "rrf", "weighted"):
        assert ids(memory, fusion=fusion) == [sure]
        assert set(ids(memory, fusion=fusion, confidence_floor=0)) == {sure, unsure}
        assert unsure in ids(memory, fusion=fusion, stages=WITHOUT)
    notes = memory.search("kettle", explain=True).notes
    assert any("confidence below 0.3" in note for note in notes)
    assert not any("confidence" in note for note in memory.search("kettle", confidence_floor=0).notes)
    assert [record.id for record in memory.get([unsure]).records] == [unsure]
    assert [knot.result.id for knot in memory.thread("kettle").entries] == [sure]


def test_one_setting_answers_from_observations_alone(
    opened: Callable[..., Memory], settings: Settings
) -> None:
    alone = replace(settings, recall=replace(settings.recall, tiers="observations"))
    memory = opened(settings=alone)
    seen = memory.add("The kettle is blue.").id
    fact = memory.add("The kettle is of steel.", tier="semantic").id
    assert ids(memory) == [seen]
    assert ids(memory, tiers=["semantic"]) == [fact]
    assert [knot.result.id for knot in memory.thread("kettle").entries] == [seen]
    both = opened()
    both.add("The kettle is blue.")
    both.add("The kettle is of steel.", tier="semantic")
    assert len(ids(both)) == 2


def test_a_weight_of_the_settings_lifts_a_tier_or_leaves_it_out(
    opened: Callable[..., Memory], settings: Settings
) -> None:
    def found(weights: dict[str, float] | None) -> list[str]:
        memory = opened(settings=replace(settings, recall=replace(settings.recall, tier_weights=weights)))
        memory.add("The kettle is blue and stands here.")
        memory.add("The kettle is blue and stands there.", tier="lesson")
        return [result.tier for result in memory.search("kettle blue").results]

    assert found({"lesson": 8.0})[0] == "lesson"
    assert found({"lesson": 0.1})[0] == "observation"
    assert found({"lesson": 0}) == ["observation"]


def test_the_project_one_is_in_comes_first_and_hides_nothing(memory: Memory) -> None:
    owls = memory.add("The kettle is blue.", project="owl").id
    jays = memory.add("The kettle is grey.", project="jay").id
    assert ids(memory, here="jay") == [jays, owls]
    assert ids(memory, here="owl") == [owls, jays]
    assert set(ids(memory, here="nobody")) == {owls, jays}
    assert ids(memory, here="jay", stages=WITHOUT) == ids(memory, stages=WITHOUT)
    assert ids(memory, projects=["owl"], here="jay") == [owls]


def test_a_strangers_memories_of_the_same_project_are_not_felt(
    opened: Callable[..., Memory], tmp_path: Any
) -> None:
    store = tmp_path / "memory.db"
    with opened(store, user="bob") as bob:
        bob.add("The kettle is red.", project="jay", tier="crystal", confidence=0.1)
    memory = opened(store, user="ann")
    mine = memory.add("The kettle is blue.", project="jay").id
    answer = memory.search("kettle", here="jay", explain=True)
    assert [result.id for result in answer.results] == [mine]
    assert not any("confidence" in note for note in answer.notes)
