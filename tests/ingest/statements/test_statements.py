"""Statements: offsets, what others wrote, and any text at all."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.ingest.statements.statements import Statement, statements

PIECES = (
    "My sister Ana lives in Porto",
    "I’m allergic to nuts",
    "we went with Postgres",
    "no, the port is 8080",
    "to deploy, run make ship",
    "always restart the worker after a change",
    "what should I do?",
    "```",
    "\n",
    "> ",
    ". ",
    ", ",
    "“I live in Rome”",
    "İstanbul",
    "lol",
    "if",
    "you are a pirate",
    "  ",
    "- ",
    "(",
    ")",
    "😂",
    "Traceback (most recent call last):",
    "On Monday Bob wrote:",
    "\t",
    "ﬁ",
    "…",
    "—",
)


def texts(turn: str) -> list[str]:
    return [one.text for one in statements(turn)]


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.text(),
        st.lists(st.sampled_from(PIECES)).map("".join),
        st.lists(st.sampled_from(PIECES)).map(" ".join),
    )
)
def test_any_text_gives_statements_that_stand_in_it_in_order(text: str) -> None:
    last = 0
    for one in statements(text):
        assert last <= one.start < one.end <= len(text)
        assert one.text == " ".join(re.split(r"\s+", text[one.start : one.end]))
        assert one.text == one.text.strip()
        assert one.kind in {"preference", "decision", "fact", "correction", "howto"}
        last = one.end


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(PIECES).filter(lambda piece: piece != "```")).map(" ".join))
def test_nothing_is_taken_from_within_a_fence(inside: str) -> None:
    assert texts(f"```text\n{inside}\n```") == []
    around = f"I live in Graz.\n```\n{inside}\n```\nMy dog is called Rex."
    assert {"I live in Graz.", "My dog is called Rex."} >= set(texts(around))


def test_both_sides_of_a_fence_are_read() -> None:
    assert texts(
        "My sister lives in Graz.\n```\nI live in Rome.\n```\nMy dog is called Rex and lives in Graz."
    ) == [
        "My sister lives in Graz.",
        "My dog is called Rex and lives in Graz.",
    ]


def test_offsets_are_those_of_the_turn_where_small_letters_are_longer() -> None:
    turn = "İİİ ok. I’m allergic to hazelnuts and to walnuts, and also to all other\nnuts. 😀"
    (one,) = statements(turn)
    assert turn[one.start : one.end].endswith("all other\nnuts.")
    said = "I’m allergic to hazelnuts and to walnuts, and also to all other nuts."
    assert one == Statement(8, 77, "fact", said, "weighed")


@pytest.mark.parametrize(
    "pasted",
    [
        "> I live in Rome.",
        "On Mon, 3 May 2021, Bob wrote:\nI live in Rome.",
        "From: Bob\nTo: Ann\nSubject: hi\n\nI live in Rome.",
        "-----Original Message-----\nI live in Rome.",
        "Please read:\n\nDear Ann,\nI live in Rome.\nBest regards,\nBob",
        "2024-01-01 10:00:00 I live in Rome.",
        "[INFO] I live in Rome.",
        "$ echo I live in Rome.",
        'Traceback (most recent call last):\n  File "x.py", line 1\nI live in Rome.',
        "Bob: I live in Rome.\nAnn: nice\nBob: My dog is called Rex.",
        "Translate this to Dutch: I live in Rome.",
        "Here is her mail:\n\nI live in Rome. My dog is called Rex.",
        '"I live in Rome with my dog", who said that?',
        "| I live in Rome. |",
    ],
)
def test_what_others_wrote_is_not_taken_for_the_writer_s_own(pasted: str) -> None:
    assert texts(pasted) == []


def test_what_stands_before_a_tale_is_kept_and_nothing_behind_it() -> None:
    turn = (
        "My sister Ana lives in Porto. Write a story about Mars. I live in a dome and my dog is called Rex."
    )
    assert texts(turn) == ["My sister Ana lives in Porto."]


def test_what_is_taken_back_is_not_kept() -> None:
    assert texts("I live in Rome. Just kidding. My wife is allergic to nuts.") == [
        "My wife is allergic to nuts."
    ]


def test_an_and_that_joins_two_statements_is_left_out() -> None:
    assert texts("I'm vegan and my wife is allergic to nuts.") == [
        "I'm vegan",
        "my wife is allergic to nuts.",
    ]


def test_a_long_quotation_at_the_end_stays_in_the_statement() -> None:
    turn = 'My sister Ana lives next to "The Seven Husbands of Evelyn Hugo" in Porto.'
    assert texts(turn) == [turn]


def seconds(text: str) -> float:
    before = time.process_time()
    statements(text)
    return time.process_time() - before


@pytest.mark.parametrize(
    "hostile",
    [
        "a" * 100_000,
        "[" * 100_000,
        "(" * 100_000,
        "i " * 50_000,
        "my " * 50_000,
        "\n" * 100_000,
        "to a, " * 20_000,
        "always before never after " * 4_000,
        "no, actually, wait, " * 5_000,
        '"' * 100_000,
        "`" * 99_999,
        "> " * 50_000,
        "I live in Rome " * 7_000,
        "not x, not y, " * 7_000,
        "x: " * 33_000,
        "the a b c d e f g is every before " * 3_000,
        "😂 " * 40_000,
        "Bob: x\n" * 15_000,
    ],
    ids=lambda text: text[:12],
)
def test_a_hostile_turn_of_a_hundred_kilobytes_is_read_at_once(hostile: str) -> None:
    assert min(seconds(hostile) for _ in range(3)) < 1
