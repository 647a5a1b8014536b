from __future__ import annotations

from collections.abc import Callable

from recall_values import Noise

from scrubjay import Memory
from scrubjay.models.lifecycle import NewMemory
from scrubjay.search.request import STAGES

OTHERS = ["Roll a deploy back with the old tag.", "Mara approves each deploy.", "A deploy takes an hour."]


def filled(memory: Memory, copies: int) -> Memory:
    """Return a memory that holds one thing many times, never in the same characters, and a few others."""
    memory.add_many(NewMemory("- " * n + "the deploy to deploy a deploy is done") for n in range(copies))
    memory.add_many([NewMemory(text) for text in OTHERS])
    return memory


def test_among_hundreds_of_copies_the_different_ones_are_found(opened: Callable[..., Memory]) -> None:
    memory = filled(opened(embedders=[Noise(3)]), 300)
    found = memory.search("deploy", limit=4, channels=["bm25"]).results
    assert {one.snippet for one in found[1:]} == set(OTHERS)
    assert found[0].copies == 299
    assert len(found[0].copied) == 5
    assert len({found[0].id, *found[0].copied}) == 6


def test_without_the_stage_copies_fill_the_answer(opened: Callable[..., Memory]) -> None:
    memory = filled(opened(embedders=[Noise(3)]), 300)
    stages = [stage for stage in STAGES if stage != "deduplicate"]
    found = memory.search("deploy", limit=4, channels=["bm25"], stages=stages).results
    assert all("deploy to deploy" in one.snippet for one in found)
    assert [one.copies for one in found] == [0, 0, 0, 0]


def test_nothing_but_copies_is_one_result_and_no_endless_search(opened: Callable[..., Memory]) -> None:
    memory = opened(embedders=[Noise(3)])
    memory.add_many(NewMemory("- " * n + "the kettle is blue and old") for n in range(120))
    (only,) = memory.search("kettle").results
    assert only.copies == 119
