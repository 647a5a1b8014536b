"""What of a conversation is sent to a language model, and what of its answer is believed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.errors import InputError
from scrubjay.search.rewrite import (
    MAX_HISTORY_LENGTH,
    MAX_HISTORY_TURNS,
    build_prompt,
    check_history,
    check_rewriting,
    count_unsaid_words,
    trim_history,
)

SAID = (
    "user: Ana visited Porto on 2026-03-14 with ticket ERR_CONN_RESET",
    "assistant: v2.1.3 of the client was out by then.",
)
QUESTION = "and when was that?"


@pytest.mark.parametrize(
    "answer",
    [
        "When did Ana visit Porto?",
        '"When did Ana visit Porto?"',
        "when was Ana visiting porto",
        "Was v2.1.3 of the client out on 2026-03-14?",
        "  When was ERR_CONN_RESET?\n",
    ],
)
def test_an_answer_in_words_that_were_said_is_believed(answer: str) -> None:
    found = check_rewriting(answer, QUESTION, SAID)
    assert (found.text, found.refused) == (answer.strip().strip('"'), "")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("When did Maria visit Porto?", "1 of its words was never said"),
        ("when did maria visit porto?", "1 of its words was never said"),
        ("When did Ana visit Porto in 2025?", "1 of its words was never said"),
        ("When did Ana visit Porto on 2026-03-15?", "1 of its words was never said"),
        ("Was v2.1.4 out?", "1 of its words was never said"),
        ("Was 2.1 out?", "1 of its words was never said"),
        ("When was ERR_CONN_REFUSED?", "1 of its words was never said"),
        ("When did Ana visit Porto in march, three days?", "3 of its words were never said"),
        ("When did Ana visit Porto?\nPorto is nice.", "it is more than one line"),
        ("When did Ana\x1b[31m visit Porto?", "it is more than one line"),
        ("", "it is empty"),
        ('""', "it is empty"),
        ("Ana visited Porto " * 60, "it is too long"),
        ('{"question": "When did Ana visit Porto?"}', "1 of its words was never said"),
        ("When did Ann visit Porto?", "1 of its words was never said"),
        ("何時ですか、東京", "3 of its words were never said"),
    ],
)
def test_an_answer_with_anything_else_is_refused(answer: str, why: str) -> None:
    found = check_rewriting(answer, QUESTION, SAID)
    assert found.refused == why
    assert found.text == ""


def test_an_answer_that_repeats_the_question_changes_nothing() -> None:
    assert check_rewriting("And when was that", QUESTION, SAID) == check_rewriting(QUESTION, QUESTION, SAID)
    assert check_rewriting(QUESTION, QUESTION, SAID).text == ""


def test_scripts_without_spaces_are_judged_by_what_stands_in_them() -> None:
    said = ["李明去年去了北京", "他见了王芳"]
    assert check_rewriting("李明什么时候去的北京", "他什么时候去的", said).refused == ""
    assert check_rewriting("李明三月去的北京", "他什么时候去的", said).refused
    assert check_rewriting("李明什么时候去的上海", "他什么时候去的", said).refused


@given(st.lists(st.text(max_size=80), max_size=6), st.text(max_size=80))
def test_what_was_said_is_never_strange_and_an_invented_word_always_is(
    said: list[str], question: str
) -> None:
    assert all(count_unsaid_words(text, (question, *said)) == 0 for text in (question, *said))
    if "qzxvw" not in " ".join((question, *said)):
        assert count_unsaid_words("qzxvw", (question, *said)) == 1


@given(st.lists(st.text(max_size=3_000), max_size=30))
def test_what_is_sent_is_bounded_and_the_last_of_it(history: list[str]) -> None:
    kept = trim_history(check_history(history))
    assert len(kept) <= MAX_HISTORY_TURNS
    assert sum(map(len, kept)) <= MAX_HISTORY_LENGTH
    whole = [" ".join(turn.split()) for turn in history if turn.strip()]
    if whole and len(whole[-1]) <= 1_000:
        assert kept[-1] == whole[-1]


@pytest.mark.parametrize("history", ["one text", ["a", 3], [None], [b"a"]])
def test_a_history_that_is_no_list_of_texts_is_refused(history: object) -> None:
    with pytest.raises(InputError, match="history is not a list of texts"):
        check_history(history)  # type: ignore[arg-type]


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=3))
def test_nothing_that_was_said_can_leave_its_place_in_the_request(question: str, said: list[str]) -> None:
    assert json.loads(build_prompt(question, said)) == {"conversation": said, "question": question}
