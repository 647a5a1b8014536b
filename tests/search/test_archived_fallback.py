"""What stands only in an archived memory is found, and marked."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scrubjay import Memory
from scrubjay.embeddings.static import StaticEmbedder


def test_an_identifier_in_an_archived_memory_alone_finds_it_marked(memory: Memory) -> None:
    old = memory.add("ERR_TIDE_409 comes when the tide table is older than a day").id
    kept = memory.add("The tide table is read every morning").id
    memory.archive(old)
    found = memory.search("ERR_TIDE_409 tide table").results
    assert {(one.id, one.status) for one in found} == {(old, "archived"), (kept, "active")}
    assert [one.id for one in memory.search("tide table").results] == [kept]


def test_what_an_active_memory_names_too_brings_nothing_back(memory: Memory) -> None:
    old = memory.add("ERR_TIDE_409 comes when the tide table is older than a day").id
    kept = memory.add("We mended ERR_TIDE_409").id
    memory.archive(old)
    assert [one.id for one in memory.search("ERR_TIDE_409").results] == [kept]


def test_archived_memories_without_the_word_stay_out(memory: Memory) -> None:
    named, other = (memory.add(text).id for text in ("zyx-77 tide table", "another tide table of old"))
    memory.archive([named, other])
    assert [one.id for one in memory.search("zyx-77 tide table").results] == [named]


def test_a_plain_word_brings_back_only_where_nothing_active_answers(memory: Memory) -> None:
    old = memory.add("zyxovar is the word that opens the shed").id
    memory.archive(old)
    found = memory.search("zyxovar")
    assert [(one.id, one.status) for one in found.results] == [(old, "archived")]
    kept = memory.add("zyxovar was the old word").id
    assert [one.id for one in memory.search("zyxovar").results] == [kept]


def test_a_weak_active_memory_does_not_keep_the_archive_out(opened: Callable[..., Memory]) -> None:
    memory = opened(embedders=[StaticEmbedder()])
    old = memory.add("The spare key hangs in the boathouse.").id
    weak = memory.add("Where does Tim hang his coat? In the hall, I think, with the others.").id
    memory.archive(old)
    found = memory.search("where does the spare key hang").results
    assert [(one.id, one.status) for one in found] == [(old, "archived"), (weak, "active")]


def test_who_chooses_statuses_or_leaves_the_stage_out_gets_nothing_back(memory: Memory) -> None:
    memory.archive(memory.add("zyx-77 tide table").id)
    assert memory.search("zyx-77", statuses=["active", "superseded"]).results == ()
    assert memory.search("zyx-77", stages=["decay"]).results == ()
    assert memory.search("zyx-77", fusion="rrf").results == ()


def test_a_stage_is_accepted_by_its_name_of_version_0_2_with_a_warning(memory: Memory) -> None:
    memory.archive(memory.add("zyx-77 tide table").id)
    with pytest.warns(DeprecationWarning, match="'lost' is called 'fallback' now"):
        assert memory.search("zyx-77", stages=["lost"]).results


def test_archived_memories_stay_out_where_only_active_ones_were_asked_for(
    opened: Callable[..., Memory],
) -> None:
    memory = opened(embedders=[StaticEmbedder()])
    card = memory.add("The wifi password card hangs in the pantry, and its number is ERR_TIDE_409.").id
    memory.add("The bicycle tyre needs air.")
    memory.archive([card])
    for query in ("where does the wifi password card hang?", "ERR_TIDE_409"):
        assert card in [result.id for result in memory.search(query).results]
        assert card not in [result.id for result in memory.search(query, statuses=["active"]).results]
