from __future__ import annotations

import pytest
from recall_values import candidate, record

from scrubjay.search.query import parse_query
from scrubjay.search.validity import match_phrases


def passes(query: str, content: str, title: str = "") -> bool:
    kept = match_phrases([candidate("a", 1.0)], {"a": record("a", content, title=title)}, parse_query(query))
    return bool(kept)


@pytest.mark.parametrize(
    ("query", "content", "holds"),
    [
        ('"blue bunny"', "The Blue Bunny code", True),
        ('"blue bunny"', "The bunny is blue", False),
        ('"blue bunny"', "a blue\nbunny", True),
        ('"blue bunny" "red fox"', "blue bunny, no fox", False),
        ('"memory store"', "call memory_store()", True),
        ('"东京塔"', "我去过东京塔。", True),
        ('"塔东京"', "我去过东京塔。", False),
        ('"->"', "a -> b", True),
        ("bunny -blue", "a bunny", True),
        ("bunny -blue", "a Blue bunny", False),
        ('bunny -"blue bunny"', "a blue bunny", False),
        ('bunny -"blue bunny"', "a bunny, blue", True),
        ("bunny -blu", "a blue bunny", True),
    ],
)
def test_phrases_must_stand_in_a_result_and_exclusions_must_not(
    query: str, content: str, holds: bool
) -> None:
    assert passes(query, content) is holds


def test_a_title_is_text_of_a_memory_too() -> None:
    assert passes('"blue bunny"', "The code.", title="Blue bunny")
    assert not passes("code -bunny", "The code.", title="Blue bunny")


def test_a_phrase_does_not_span_from_title_to_text() -> None:
    assert not passes('"blue bunny"', "Bunny code.", title="Blue?")


def test_a_query_without_marks_reads_no_text() -> None:
    assert match_phrases([candidate("unread", 1.0)], {}, parse_query("blue")) == [candidate("unread", 1.0)]
