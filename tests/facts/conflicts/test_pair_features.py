"""What the signs of a pair come to, and what no weight may do."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.facts.claims import parse_claim
from scrubjay.facts.comparison import claim_overlap, common_root, word_valence
from scrubjay.facts.conflicts import (
    VerdictProbabilities,
    classify_change,
    compare_texts,
    decide_verdict,
    pair_features,
    verdict_probabilities,
)

SUBJECTS = ("the ferry", "my sister", "our API", "Grandpa Joe", "the night bus", "I")
DOES = (
    "runs",
    "works",
    "helps",
    "sings in the choir",
    "eats fish",
    "sleeps at home",
    "reads books about bees",
)
WITH = ("", "on Sundays", "with Ana", "in the old town", "because of the rain", "at work")
DENYING = (
    "does not {}",
    "never {}",
    "no longer {}",
    "hardly ever {}",
    "fails to {}",
    "refuses to {}",
    "stopped to {}",
)
COUNTED = (
    "{} has {} cats",
    "{} takes {} minutes",
    "{} costs {} dollars",
    "{} leaves at {}:30",
    "{} weighs {} kg",
)

subjects, does, ends = map(st.sampled_from, (SUBJECTS, DOES, WITH))


@given(subjects, does, ends, st.sampled_from(DENYING))
@settings(max_examples=200, deadline=None)
def test_a_denial_put_in_or_taken_out_never_makes_a_duplicate(
    who: str, what: str, end: str, denying: str
) -> None:
    plain, denied = f"{who} {what} {end}", f"{who} {denying.format(what)} {end}"
    assert classify_change(plain, denied).verdict != "duplicate"
    assert classify_change(denied, plain).verdict != "duplicate"


@given(st.sampled_from(COUNTED), subjects, ends, st.integers(2, 11), st.integers(2, 11))
@settings(max_examples=200, deadline=None)
def test_another_number_never_makes_a_duplicate(form: str, who: str, end: str, one: int, other: int) -> None:
    if one != other:
        old, new = (f"{form.format(who, number)} {end}" for number in (one, other))
        assert classify_change(old, new).verdict != "duplicate"


@given(does, ends, subjects, subjects)
@settings(max_examples=100, deadline=None)
def test_the_same_of_somebody_else_never_makes_a_duplicate(what: str, end: str, one: str, other: str) -> None:
    if one != other:
        assert classify_change(f"{one} {what} {end}", f"{other} {what} {end}").verdict != "duplicate"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The heating is switched on.", "The heating is switched off."),
        ("Ida is a morning person.", "Ida is anything but a morning person."),
        ("Few of the guests eat meat.", "Most of the guests eat meat."),
        ("They write it in Python 3.", "They run 3 Python workers."),
        ("Uma drinks milk.", "Uma drinks wine."),
        ("I won the cup yesterday.", "I won the cup last year."),
        ("Paul is good with numbers.", "Paul is hopeless with numbers."),
        ("For chat the team uses Slack.", "The team chats on Mattermost."),
    ],
)
def test_words_that_no_grammar_knows_still_forbid_a_duplicate(old: str, new: str) -> None:
    assert classify_change(old, new).verdict != "duplicate"
    assert classify_change(new, old).verdict != "duplicate"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "Dogs get a rabies shot at our practice every spring.",
            "Every spring our practice gives dogs a rabies shot.",
        ),
        ("The import is limited to twenty-five rows.", "imports: limit 25 rows"),
        ("The guild pays 1,500 euros a month.", "1.5k euros are paid by the guild each month"),
    ],
)
def test_the_same_in_other_words_is_known_though_no_rule_knows_the_sentence(old: str, new: str) -> None:
    assert classify_change(old, new).verdict == "duplicate"


def test_a_verdict_against_the_rules_says_that_it_was_weighed() -> None:
    old, new = "The alarm was tested by Ines.", "Ines did a test of the alarm."
    seen = compare_texts(old, new)
    found = classify_change(old, new)
    assert found.rule == ("weighed" if found.verdict != seen.verdict else seen.rule)


@given(st.text(max_size=40), st.text(max_size=40))
@settings(max_examples=100, deadline=None)
def test_chances_are_chances_for_any_two_texts(old: str, new: str) -> None:
    chances = verdict_probabilities(pair_features(compare_texts(old, new)))
    assert math.isclose(math.fsum(chances), 1.0)
    assert all(0 <= one <= 1 for one in chances)


def test_a_sign_without_a_weight_says_nothing() -> None:
    assert verdict_probabilities({"what nobody fitted": 5.0}) == verdict_probabilities({})


def test_what_is_not_sure_enough_hides_and_drops_nothing() -> None:
    seen = compare_texts("The ferry is blue and fast.", "The ferry has a small bar.")
    assert seen.verdict == "new"
    told = pair_features(seen)
    assert decide_verdict(seen, told, VerdictProbabilities(0.5, 0.0, 0.1, 0.4)) == "new"
    assert decide_verdict(seen, told, VerdictProbabilities(0.0, 0.6, 0.0, 0.4)) == "new"
    assert decide_verdict(seen, told, VerdictProbabilities(0.0, 0.9, 0.0, 0.1)) == "supersedes"
    assert decide_verdict(seen, told, VerdictProbabilities(0.0, 0.0, 0.9, 0.1)) == "contradicts"


def test_rare_words_count_for_more_of_what_is_shared() -> None:
    rare = claim_overlap(parse_claim("The otter sleeps."), parse_claim("The otter eats."))[0]
    common = claim_overlap(parse_claim("The otter sleeps."), parse_claim("The dog sleeps."))[0]
    assert rare > common


def test_words_of_one_root_are_alike_in_part() -> None:
    assert 0 < common_root("allergic", "allergy") < 1
    assert common_root("cat", "category") == common_root("plan", "kitten") == 0


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
