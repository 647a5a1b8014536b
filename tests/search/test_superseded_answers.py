"""A superseded statement lends its words to the one that holds in its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from scrubjay import Memory
from scrubjay.config.settings import FactSettings, Settings
from scrubjay.embeddings.static import StaticEmbedder


@pytest.fixture
def moved(settings: Settings, opened: Callable[..., Memory]) -> Memory:
    memory = opened(settings=replace(settings, facts=FactSettings()), embedders=[StaticEmbedder()])
    for text in ("The boiler was descaled on 3 May.", "My sister lives in Leeds.", "I live in Porto."):
        memory.add(text)
    memory.add("I moved to Lisbon.")
    memory.add("I moved to Madrid.")
    return memory


def test_what_holds_now_is_found_by_the_words_of_what_it_superseded(moved: Memory) -> None:
    found = moved.search("where do I live?").results
    assert [one.snippet for one in found[:2]] == ["I moved to Madrid.", "My sister lives in Leeds."]
    assert moved.context("where do I live?").text.count("I moved to Madrid.") == 1


def test_a_superseded_statement_changes_no_other_question(moved: Memory) -> None:
    assert moved.search("where does my sister live?").results[0].snippet == "My sister lives in Leeds."
    assert moved.search("when was the boiler descaled?").results[0].snippet.startswith("The boiler")
    assert moved.search("Which enzyme breaks down lactose in the small intestine?").results == ()


def test_a_successor_that_the_filters_leave_out_stays_out(moved: Memory) -> None:
    found = moved.search("where do I live?", until="2000-01-01")
    assert found.results == ()


@pytest.mark.parametrize("limit", [6, 1])
def test_the_last_of_several_statements_that_may_have_changed_an_answer_comes_with_it(
    settings: Settings, opened: Callable[..., Memory], limit: int
) -> None:
    memory = opened(settings=replace(settings, facts=FactSettings()), embedders=[StaticEmbedder()])
    for text in ("I live in Bremen.", "I moved to Oldenburg.", "I've just moved to Cloppenburg."):
        memory.add(text)  # towns on no list: each stays
    found = memory.search("where do I live?", limit=limit).results
    assert [one.snippet for one in found[:1]] == ["I've just moved to Cloppenburg."]
    text = memory.context("where do I live?").text
    assert text.index("Cloppenburg") < text.index("I live in Bremen")
