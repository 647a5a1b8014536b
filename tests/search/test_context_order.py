"""A context shows a later memory before an older one that it may have changed, and says which of both holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scrubjay import NewMemory

LATER_HOLDS = "Where two differ, the one with the later date holds."


def test_of_two_that_differ_the_later_comes_first_and_the_last_line_says_that_it_holds(
    opened: Callable[..., Any],
) -> None:
    memory = opened(embedders=None)
    memory.add("My favourite editor is vim.", date="2026-01-01", role="user")
    memory.add("My favourite editor is helix.", date="2026-02-01", role="user")
    memory.add("The moon of the harbour pilot is round.", date="2026-01-05")
    question = "which editor is my favourite?"
    text = memory.context(question).text
    assert text.index("helix") < text.index("vim")
    assert text.splitlines()[-2] == LATER_HOLDS
    results = [one.snippet for one in memory.search(question).results]
    assert results.index("My favourite editor is helix.") < results.index("My favourite editor is vim.")


def test_the_line_is_left_out_beside_one_memory_and_where_it_does_not_fit(opened: Callable[..., Any]) -> None:
    memory = opened(embedders=None)
    memory.add("My favourite editor is vim.", date="2026-01-01", role="user")
    assert LATER_HOLDS not in memory.context("which editor is my favourite?").text
    memory.add("My favourite editor is helix.", date="2026-02-01", role="user")
    for budget in range(50, 140):
        context = memory.context("which editor is my favourite?", budget=budget)
        assert context.tokens <= budget
        shown = context.text.count("My favourite editor")
        assert (LATER_HOLDS in context.text) <= (shown == 2)


def test_an_assistant_that_repeats_an_outdated_statement_does_not_come_first_for_its_date(
    opened: Callable[..., Any],
) -> None:
    memory = opened(embedders=None)
    said = (
        ("I live in Hamburg, Eppendorfer Weg 112. I work as a designer.", "user", "2026-10-05"),
        ("We moved to Bremen last weekend, the new flat is lovely.", "user", "2026-11-16"),
        ("You live in Hamburg, Eppendorfer Weg 112, and you work as a designer.", "assistant", "2026-11-20"),
    )
    memory.add_many(NewMemory(text, role=role, session=date, date=date) for text, role, date in said)
    text = memory.context("Where do I live?", now="2026-11-30").text
    assert text.index("I live in Hamburg") < text.index("You live in Hamburg")
    assert text.splitlines()[-2] == LATER_HOLDS


def test_the_line_ends_a_profile_of_several_memories(opened: Callable[..., Any]) -> None:
    memory = opened(embedders=None)
    memory.add("I live in Hamburg.", date="2026-10-05", tier="semantic")
    assert LATER_HOLDS not in memory.context().text
    memory.add("I drink my coffee black.", date="2026-10-06", tier="semantic")
    assert memory.context().text.splitlines()[-2] == LATER_HOLDS


def test_the_line_is_left_out_where_a_date_lies_ahead(opened: Callable[..., Any]) -> None:
    memory = opened(embedders=None)
    memory.add("My favourite editor is vim.", date="2026-03-10", role="user")
    memory.add("My favourite editor is helix.", date="2026-02-01", role="user")
    assert LATER_HOLDS not in memory.context("which editor is my favourite?", now="2026-02-02").text
    assert LATER_HOLDS in memory.context("which editor is my favourite?", now="2026-03-11").text
