"""Change: what a new statement is to an old one that is like it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.facts.conflicts import VERDICTS, classify_change

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


@pytest.mark.parametrize(
    "unit", ["a ", "not ", "\0", "1 ", "x", "A, ", "a-", "1.2.3.", "'", "$ ", "9", "5pm ", "\u0301", "न"]
)
def test_a_line_of_ten_thousand_characters_is_decided_in_bounded_time(unit: str) -> None:
    line = unit * (LONG // len(unit))
    began = time.process_time()
    assert classify_change(line, line + "b").verdict in VERDICTS
    assert classify_change(line, "foo").verdict in VERDICTS
    assert time.process_time() - began < PATIENCE
