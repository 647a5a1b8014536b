"""Features of a pair, their weights, and the limits of what weights decide."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.facts.claims import parse_claim
from scrubjay.facts.comparison import claim_overlap, word_valence
from scrubjay.facts.conflicts import (
    Verdict,
    classify_change,
    compare_texts,
    decide_verdict,
    pair_features,
    verdict_probabilities,
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We freeze releases from December 18, 2026.", "Release freeze starts 2026-12-18."),
        ("Dr Okonkwo-Bell is my dentist.", "My dentist's name is Dr. Okonkwo-Bell"),
        ("Our rate limit is 1k req/min.", "Our rate limit is 1,000 requests per minute."),
    ],
)
def test_a_paraphrase_updates_nothing_though_the_rules_see_more_details(old: str, new: str) -> None:
    assert compare_texts(old, new).verdict == "supersedes"
    assert classify_change(old, new) == Verdict("new", "weighed")


@given(st.text(max_size=40), st.text(max_size=40))
@settings(max_examples=100, deadline=None)
def test_chances_are_chances_for_any_two_texts(old: str, new: str) -> None:
    chances = verdict_probabilities(pair_features(compare_texts(old, new)))
    assert math.isclose(math.fsum(chances.values()), 1.0)
    assert all(0 <= one <= 1 for one in chances.values())


def test_a_sign_without_a_weight_says_nothing() -> None:
    assert verdict_probabilities({"what nobody fitted": 5.0}) == verdict_probabilities({})


def test_a_verdict_against_the_rules_needs_a_high_probability() -> None:
    seen = compare_texts("The ferry is blue and fast.", "The ferry has a small bar.")
    assert seen.verdict == "new"
    assert decide_verdict(seen, {"supersedes": 0.6, "contradicts": 0.0, "new": 0.4}) == "new"
    assert decide_verdict(seen, {"supersedes": 0.9, "contradicts": 0.0, "new": 0.1}) == "supersedes"
    assert decide_verdict(seen, {"supersedes": 0.0, "contradicts": 0.9, "new": 0.1}) == "contradicts"


def test_rare_words_count_for_more_of_what_is_shared() -> None:
    rare = claim_overlap(parse_claim("The otter sleeps."), parse_claim("The otter eats."))[0]
    common = claim_overlap(parse_claim("The otter sleeps."), parse_claim("The dog sleeps."))[0]
    assert rare > common


@pytest.mark.parametrize(
    ("statement", "sign"),
    [
        ("The bed is comfortable.", 1),
        ("The bed is not comfortable.", -1),
        ("The lift is broken.", -1),
        ("The bed is oak.", 0),
    ],
)
def test_words_speak_well_or_ill_of_a_thing(statement: str, sign: int) -> None:
    assert word_valence(parse_claim(statement).words) == sign
