"""What time and use make of candidates: bounded, read from now, and nothing for what is pinned."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st
from recall_values import rows

from scrubjay.models.dates import DAY
from scrubjay.models.records import TIER_PREFIXES
from scrubjay.models.results import Candidate, Contribution
from scrubjay.search.fusion import (
    AGE_WEIGHT,
    HALF_LIFE,
    add_decay,
    best_first,
    decay,
    displaced_by_age,
    to_candidates,
)
from scrubjay.storage.interface import RankingMetadata

NOW = 20_000 * DAY
IDS = {tier: f"{prefix}0000000000000001" for tier, prefix in TIER_PREFIXES.items()}


def aged(memory: str, score: float, head: RankingMetadata, now: int = NOW) -> float:
    (one,) = told = rows({memory: score}, {memory: head})
    add_decay(told, now)
    return one.score


def test_half_of_what_age_takes_is_taken_after_the_tiers_half_life() -> None:
    for tier, memory in IDS.items():
        head = RankingMetadata("", 1, at=int(NOW - HALF_LIFE[tier] * DAY))
        assert decay(memory, head, NOW) == 0.5


def test_a_strong_match_of_three_years_ago_stays_above_a_weak_one_of_today() -> None:
    old = aged(IDS["observation"], 3.0, RankingMetadata("", 1, at=NOW - 3 * 365 * DAY))
    assert old > aged(IDS["lesson"], 2.5, RankingMetadata("", 1, at=NOW))
    assert old < aged(IDS["observation"], 3.0, RankingMetadata("", 1, at=NOW))


@given(st.integers(-(10**17), 10**17), st.integers(-(10**17), 10**17), st.sampled_from(sorted(IDS.values())))
def test_age_takes_no_more_than_its_bound_and_a_step_back_of_the_clock_nothing(
    at: int, now: int, memory: str
) -> None:
    left = aged(memory, 1.0, RankingMetadata("", 1, at=at), now)
    assert 1.0 - AGE_WEIGHT <= left <= 1.0
    if now <= at:
        assert left == 1.0


def test_what_is_pinned_never_moves() -> None:
    assert aged(IDS["observation"], 1.0, RankingMetadata("", 1, at=0, pinned=True)) == 1.0


def test_use_makes_a_memory_young_again() -> None:
    head = RankingMetadata("", 1, at=NOW - 1000 * DAY, used=NOW)
    assert aged(IDS["observation"], 1.0, head) == 1.0
    earlier = RankingMetadata("", 1, at=NOW, used=NOW - 1000 * DAY)
    assert aged(IDS["observation"], 1.0, earlier) == 1.0


def test_what_was_called_wrong_and_what_is_unsure_rank_lower_within_bounds() -> None:
    sure = aged(IDS["semantic"], 3.0, RankingMetadata("", 1, at=NOW))
    wrong = aged(IDS["semantic"], 3.0, RankingMetadata("", 1, at=NOW, strength=0.3))
    unsure = aged(IDS["semantic"], 3.0, RankingMetadata("", 1, at=NOW, confidence=0.5))
    assert sure > unsure > wrong > 2.5


def test_what_age_alone_keeps_out_is_counted() -> None:
    old, new, other = (f"obs_000000000000000{n}" for n in range(3))
    heads = {
        old: RankingMetadata("", 1, at=0),
        new: RankingMetadata("", 1, at=NOW),
        other: RankingMetadata("", 1, at=NOW),
    }
    told = rows({old: 1.0, new: 0.99, other: 0.2}, heads)
    add_decay(told, NOW)
    ranked = to_candidates(best_first(told))
    assert (len(displaced_by_age(ranked, 1)), len(displaced_by_age(ranked, 2))) == (1, 0)


@given(st.lists(st.tuples(st.floats(-3, 3), st.floats(0, 1), st.booleans()), max_size=12), st.integers(1, 12))
def test_no_candidate_is_too_far_behind_to_be_counted_that_age_alone_keeps_out(
    given_: list[tuple[float, float, bool]], limit: int
) -> None:
    ranked = best_first(
        Candidate(
            f"obs_{number:016x}",
            (
                Contribution("bm25", score, score, 1.0),
                *((Contribution("age", 1.0, -faded, AGE_WEIGHT),) if old else ()),
            ),
        )
        for number, (score, faded, old) in enumerate(given_)
    )
    ageless = sorted(
        (math.fsum(p.amount for p in one.contributions if p.channel == "age") - one.score, one.id)
        for one in ranked
    )
    first = {memory for _, memory in ageless[:limit]}
    assert set(displaced_by_age(ranked, limit)) == first - {one.id for one in ranked[:limit]}
