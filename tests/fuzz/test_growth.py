"""Four times a text costs about four times as much, for every pattern of the package and what is done with texts."""

from __future__ import annotations

from typing import Final

import pytest

from fuzz.growth import grown, steep
from fuzz.patterns import patterns
from fuzz.shapes import shapes
from fuzz.steps import documents, questions
from scrubjay.search.query import MAX_QUERY_LENGTH

pytestmark = pytest.mark.torture

# A sample of the shapes; all of them, and longer texts: make growth
SMALL: Final = {size: dict(list(shapes(size).items())[::3]) for size in (4_096, 16_384)}
LARGE: Final = {size: dict(list(shapes(size).items())[1::6]) for size in (8_192, 32_768)}
ASKED: Final = {size: shapes(size) for size in (MAX_QUERY_LENGTH // 4, MAX_QUERY_LENGTH)}


def test_every_pattern_of_the_package_takes_time_in_proportion_to_its_text() -> None:
    found = patterns()
    assert len(found) > 300
    looked_at = (grown(name, pattern.run, SMALL, 0.008) for name, pattern in found.items())
    assert not [str(one) for one in looked_at if one is not None]


@pytest.mark.parametrize("name", ["sync a.md", "say"])
def test_what_is_done_with_a_document_takes_time_in_proportion_to_it(name: str) -> None:
    with documents() as steps:
        steps[name]("A first text, with which everything is loaded.")
        assert (one := grown(name, steps[name], LARGE, 0.1)) is None, str(one)


@pytest.mark.parametrize("name", ["thread", "context"])
def test_what_is_done_with_a_question_takes_time_in_proportion_to_it(name: str) -> None:
    with questions() as steps:
        steps[name]("What is loaded for a first question?")
        assert (one := grown(name, steps[name], ASKED, 0.03)) is None, str(one)


@pytest.mark.parametrize("shape", ["JSON objects, nested", "run of '.'", "words, all different"])
def test_of_a_question_that_is_far_too_long_the_beginning_alone_costs_time(shape: str) -> None:
    whole, longer = ASKED[MAX_QUERY_LENGTH][shape], shapes(64 * MAX_QUERY_LENGTH)[shape]
    with questions() as steps:
        assert (one := steep("thread", steps["thread"], shape, whole, longer)) is None, str(one)
