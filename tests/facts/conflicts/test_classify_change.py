"""Change: what a new statement is to an old one that is like it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.facts.conflicts import VERDICTS, classify_change, compare_texts

PAIRS = [
    tuple(part.strip() for part in line.split(" | "))
    for line in (Path(__file__).parent / "pairs.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
LONG = 10_000
"""Characters of a line that no statement has."""
PATIENCE = 5.0
"""Seconds; such a line takes a tenth of one. What is quadratic takes minutes."""

text = st.text(st.characters(exclude_categories=()), max_size=60)
words = st.lists(
    st.sampled_from(
        "the timeout is not 30 seconds 5pm May 4 2026 never no longer New York in production moved to instead of a"
        " dozen can't und nicht no $5 v2 3.11 Ana lives , . : but when 1,000 k used to — 🍎 'll 's half past".split()
    ),
    max_size=14,
).map(" ".join)


@pytest.mark.parametrize(("verdict", "old", "new"), PAIRS)
def test_a_pair_is_decided_as_a_person_would(verdict: str, old: str, new: str) -> None:
    assert classify_change(old, new).verdict == verdict


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("We cannot use AWS.", "We can use AWS.", "contradicts"),
        ("The timeout is 30 seconds.", "The timeout is 90 seconds.", "supersedes"),
        ("The production database is Postgres.", "The staging database is Postgres.", "new"),
        ("Priya lives in NYC.", "Priya moved to LA.", "supersedes"),
    ],
)
def test_the_pairs_that_likeness_alone_gets_wrong_are_decided(old: str, new: str, verdict: str) -> None:
    assert classify_change(old, new).verdict == verdict


def test_a_verdict_names_the_rule_that_decided() -> None:
    assert classify_change("The gym opens at 6.", "The gym opens at 7.").rule == "another number"
    assert classify_change("The gym is open.", "The gym is not open.").rule == "denied"
    assert compare_texts("The gym is open.", "Gym: open").rule == "fewer details"


def is_taken_for_the_same(old: str, new: str) -> bool:
    """Return whether the rules see no difference, or a change that they see is not marked."""
    pair = compare_texts(old, new)
    unmarked = pair.verdict != "new" and classify_change(old, new).verdict == "new"
    return pair.rule == "fewer details" or unmarked


NEVER_THE_SAME = [
    ("{} takes 5 minutes.", "{} takes 6 minutes."),
    ("{} takes 5 minutes.", "{} takes 5 hours."),
    ("{} takes five minutes.", "{} takes 50 minutes."),
    ("{} is on 4 May 2026.", "{} is on 5 May 2026."),
    ("{} is on 4 May 2026.", "{} is on 4 May 2027."),
    ("{} is on Monday.", "{} is on Tuesday."),
    ("{} starts at 5pm.", "{} starts at 5am."),
    ("{} is in May.", "{} is on 4 May."),
    ("{} costs $20.", "{} costs €20."),
    ("{} is at -4 degrees.", "{} is at 4 degrees."),
    ("{} runs from 9 to 5.", "{} runs from 5 to 9."),
    ("{} works.", "{} does not work."),
    ("{} works.", "{} hardly works."),
    ("{} can be seen.", "{} cannot be seen."),
    ("{} is made with milk.", "{} is made without milk."),
    ("{} is known to everyone.", "{} is known to nobody."),
    ("{} is possible.", "{} is impossible."),
    ("{} is not impossible.", "{} is impossible."),
    ("{} uses steam, not diesel.", "{} uses diesel, not steam."),
    ("{} is open and the bar is closed.", "{} is closed and the bar is open."),
]


@pytest.mark.parametrize("thing", ["The ferry", "My sister's sauna", "Grandpa Joe", "It", "nginx"])
@pytest.mark.parametrize(("old", "new"), NEVER_THE_SAME)
def test_another_number_date_or_denial_is_never_the_same(thing: str, old: str, new: str) -> None:
    assert not is_taken_for_the_same(old.format(thing), new.format(thing))
    assert not is_taken_for_the_same(new.format(thing), old.format(thing)) or "in May" in old


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Die Bahn fährt am Montag.", "Die Bahn fährt am Dienstag."),
        ("Die Bahn fährt.", "Die Bahn fährt nicht."),
        ("Wir haben zwei Katzen.", "Wir haben drei Katzen."),
        ("Wir haben einen Hund.", "Wir haben keinen Hund."),
        ("Le train part à 8h10.", "Le train part à 8h40."),
        ("Elle mange du poisson.", "Elle ne mange jamais de poisson."),
        ("El piso cuesta mil euros.", "El piso cuesta dos mil euros."),
        ("Mi hermano fuma.", "Mi hermano no fuma."),
        ("O voo é em março.", "O voo é em abril."),
        ("Eu bebo leite.", "Eu não bebo leite."),
        ("La riunione è alle tre.", "La riunione è alle quattro."),
        ("Il gatto esce.", "Il gatto non esce mai."),
    ],
)
def test_other_languages_are_not_taken_for_the_same_where_they_deny_or_count(old: str, new: str) -> None:
    assert not is_taken_for_the_same(old, new)
    assert not is_taken_for_the_same(new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Between the two quotes we picked the one from Nordvik.", "We went by Nordvik's quote."),
        ("Write commit messages in English.", "From now on commit messages are in English."),
        ("The wedding will be in Kraków.", "It's settled, the wedding is in Kraków."),
        ("I'll be on parental leave from April to July.", "Lea is on parental leave."),
    ],
)
def test_a_paraphrase_is_no_update(old: str, new: str) -> None:
    assert classify_change(old, new).verdict == "new"


@given(text | words)
@settings(max_examples=150, deadline=None)
def test_a_statement_repeated_changes_nothing(statement: str) -> None:
    assert classify_change(statement, statement).verdict == "new"


@given(text | words, text | words)
@settings(max_examples=250, deadline=None)
def test_any_two_texts_have_a_verdict(old: str, new: str) -> None:
    assert classify_change(old, new).verdict in VERDICTS


@given(words, st.integers(2, 10**6), st.integers(2, 10**6))
@settings(max_examples=100, deadline=None)
def test_another_count_is_never_the_same(around: str, one: int, other: int) -> None:
    if one != other:
        old, new = f"{around} exactly {one} parcels", f"{around} exactly {other} parcels"
        assert compare_texts(old, new).rule != "fewer details"


@pytest.mark.parametrize(
    "unit", ["a ", "not ", "\0", "1 ", "x", "A, ", "a-", "1.2.3.", "'", "$ ", "9", "5pm ", "\u0301", "न"]
)
def test_a_line_of_ten_thousand_characters_is_decided_in_bounded_time(unit: str) -> None:
    line = unit * (LONG // len(unit))
    began = time.process_time()
    assert classify_change(line, line + "b").verdict in VERDICTS
    assert classify_change(line, "foo").verdict in VERDICTS
    assert time.process_time() - began < PATIENCE


def test_texts_that_differ_beyond_what_is_read_are_not_the_same() -> None:
    long = "the cellar holds wine and cheese " * 100
    assert compare_texts(long + "and ham", long + "and beer").rule != "fewer details"
