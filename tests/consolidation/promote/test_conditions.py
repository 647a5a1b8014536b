"""What consolidation promotes keeps the condition of its source, or is not promoted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scrubjay import Memory

LIMITED = (
    "Fenella's rate is 480 now, but only for the pavilion.",
    "Fenella's rate is 480 now for the pavilion only.",
    "Fenella's rate is 480, but the school stays at 465.",
    "The deadline of the tender is 12 May unless the council moves it.",
    "I live in Porto until June.",
)
STATES = (
    "The budget of the barn is now signed off by Tunde.",
    "The budget of the barn is approved by Tunde.",
    "The client of the school is made up of 12 councils.",
)


def derived_from(folder: Path, said: str, found_tier: str, **fields: Any) -> list[str]:
    with Memory.open(folder / "store.db") as memory:
        memory.add(said, **fields)
        memory.consolidate()
        found = memory.search(said, tiers=[found_tier], min_relevance=0).results
        records = memory.get([result.id for result in found]).records if found else ()
        return [record.content for record in records]


def facets_of(folder: Path, said: str) -> list[str]:
    return derived_from(folder, said, "facet", tier="semantic")


@pytest.mark.parametrize("said", LIMITED)
def test_a_statement_with_a_condition_gives_no_facet(tmp_path: Path, said: str) -> None:
    assert facets_of(tmp_path, said) == []


@pytest.mark.parametrize("said", STATES)
def test_a_state_of_affairs_is_no_value_of_an_attribute(tmp_path: Path, said: str) -> None:
    assert facets_of(tmp_path, said) == []


def test_a_statement_without_a_condition_gives_a_facet(tmp_path: Path) -> None:
    assert facets_of(tmp_path, "Fenella's rate is 480 now.") == ["Fenella · rate: 480"]


def test_a_learned_fact_ends_with_its_sentence_where_the_end_says_what_holds_instead(tmp_path: Path) -> None:
    said = "We no longer use Brightside for lighting at the Harbour Office, we use Halden now."
    assert derived_from(tmp_path, said, "semantic", session="a", turn=0, role="user") == [said]
