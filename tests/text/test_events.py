"""Events that a question counts time from: named by words alone, in two languages, and nothing that is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.search.query import MAX_EVENT_WORDS, find_events


@pytest.mark.parametrize(
    ("text", "relation", "named", "whole"),
    [
        ("what did we use before the migration?", "before", "before the migration", ("migration",)),
        ("what broke after the launch party", "after", "after the launch party", ("launch", "party")),
        ("Since the outage, who is on call?", "since", "Since the outage", ("outage",)),
        ("all until our move to Berlin", "until", "until our move", ("move", "berlin")),
        ("prior to the v2.1 release what ran", "before", "prior to the v2.1 release", ("v2.1", "release")),
        ("Wo wohnten wir vor dem Umzug?", "before", "vor dem Umzug", ("umzug",)),
        ("wer kam nach unserer Hochzeit in Rom", "after", "nach unserer Hochzeit", ("hochzeit", "rom")),
        ("was lief seit der Störung", "since", "seit der Störung", ("störung",)),
        ("bis zum Umzug und danach", "until", "bis zum Umzug", ("umzug",)),
    ],
)
def test_a_relation_and_a_definite_name_are_an_event(
    text: str, relation: str, named: str, whole: tuple[str, ...]
) -> None:
    (found,) = find_events(text)
    assert (found.relation, text[found.first : found.last], found.full) == (relation, named, whole)
    assert found.core == whole[: len(found.core)]


@pytest.mark.parametrize(
    "text",
    [
        "before lunch",
        "since the server is slow, restart it",
        "look after the dog",
        "named after the painter",
        "suche nach dem Schlüssel",
        "Angst vor dem Hund",
        "until the end",
        "vor der Woche",
        "bis zum 18. Jahrhundert",
        "after the",
        "before the?",
        "herbefore the migration",
        "after. the migration",
        "before the, migration",
    ],
)
def test_what_names_no_event_is_left_alone(text: str) -> None:
    assert find_events(text) == ()


def test_what_is_taken_is_no_event_and_ends_one() -> None:
    text = "after the launch party last week"
    at = text.index("last week")
    (found,) = find_events(text, [(at, len(text))])
    assert text[found.first : found.last] == "after the launch party"
    assert found.full == ("launch", "party")
    assert find_events(text, [(0, len(text))]) == ()


def test_a_question_word_ends_the_name_and_so_do_many_words() -> None:
    assert [one.full for one in find_events("after the migration did we move")] == [("migration",)]
    (found,) = find_events("after the " + "red " * 40)
    assert len(found.full) == MAX_EVENT_WORDS


@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from(["before", "the", "bis", "zu", "vor", "dem", "(", "x.", "of"])).map(" ".join)
)
def test_whatever_is_typed_is_read_without_an_error(text: str) -> None:
    for found in find_events(text):
        assert 0 <= found.first < found.last <= len(text)
        assert found.core
        assert found.full[: len(found.core)] == found.core
