from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from recall_values import candidate, record

from scrubjay import Memory
from scrubjay.config.settings import Settings
from scrubjay.models.lifecycle import NewMemory
from scrubjay.models.records import Record, SourcePlace
from scrubjay.search.dedup import apply_caps
from scrubjay.search.request import STAGES, ResultCaps


def turn(memory: str, session: str, **fields: Any) -> Record:
    return record(memory, memory, session=session, turn=0, **fields)


def capped(most: ResultCaps, *records: Record) -> list[str]:
    ranked = [candidate(one.id, 5.0 - place) for place, one in enumerate(records)]
    return [one.id for one in apply_caps(ranked, {one.id: one for one in records}, most)]


def test_what_a_conversation_has_too_many_of_comes_after_the_others() -> None:
    some = [turn("a", "s"), turn("b", "s"), turn("c", "s"), turn("d", "t")]
    assert capped(ResultCaps(session=2), *some) == ["a", "b", "d", "c"]
    assert capped(ResultCaps(), *some) == ["a", "b", "c", "d"]


def test_a_document_has_a_cap_of_its_own() -> None:
    def passage(memory: str, path: str) -> Record:
        return record(memory, memory, place=SourcePlace("src", path, 0, 0, 1, 1, 1))

    some = [passage("a", "x.md"), passage("b", "x.md"), passage("c", "y.md")]
    assert capped(ResultCaps(document=1), *some) == ["a", "c", "b"]
    assert capped(ResultCaps(session=1), *some) == ["a", "b", "c"]


def test_a_cap_gives_way_where_there_is_nothing_else() -> None:
    assert capped(ResultCaps(session=1), turn("a", "s"), turn("b", "s")) == ["a", "b"]


def test_what_was_written_on_purpose_belongs_to_no_cap() -> None:
    by_hand = record("b", "b", session="s")
    learned = turn("c", "s", tier="lesson")
    pinned = turn("d", "s", pinned=True)
    assert capped(ResultCaps(1, 1), turn("a", "s"), by_hand, learned, pinned, turn("e", "s"), turn("f", "t")) == [
        "a", "b", "c", "d", "f", "e",
    ]  # fmt: skip


@given(st.integers(0, 10_000))
def test_caps_lose_nobody_keep_every_order_and_lower_no_explicit_memory(seed: int) -> None:
    chance = random.Random(seed)
    kinds: list[Callable[[str], Record]] = [
        lambda memory: turn(memory, chance.choice("st")),
        lambda memory: turn(memory, "s", pinned=True),
        lambda memory: record(memory, memory),
        lambda memory: record(memory, memory, tier="semantic", session="s"),
    ]
    records = {f"m{n:02}": chance.choice(kinds)(f"m{n:02}") for n in range(chance.randint(0, 25))}
    ranked = sorted(
        (candidate(m, chance.uniform(-3, 3)) for m in records), key=lambda one: (-one.score, one.id)
    )
    found = apply_caps(ranked, records, ResultCaps(chance.randint(0, 3), 0))
    assert sorted(one.id for one in found) == sorted(records)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    before = [one.id for one in ranked]
    for place, one in enumerate(found):
        if records[one.id].pinned or records[one.id].session is None or records[one.id].tier != "observation":
            assert place <= before.index(one.id)
            assert one in ranked


def test_a_setting_caps_conversations_and_a_filter_or_the_switch_undoes_it(
    opened: Callable[..., Memory], settings: Settings, tmp_path: Path
) -> None:
    memory = opened(settings=replace(settings, recall=replace(settings.recall, session_cap=1)))
    memory.add_many(NewMemory(f"the heron heron {n}", session="long", turn=n) for n in range(9))
    memory.add_many([NewMemory("a heron, once, far away, among many other birds", session="other", turn=0)])

    def found(**options: Any) -> list[str | None]:
        return [one.session for one in memory.search("heron", channels=["bm25"], **options).results]

    assert found(limit=2) == ["long", "other"]
    assert found(limit=3) == ["long", "other", "long"]
    assert found(limit=2, stages=[stage for stage in STAGES if stage != "caps"]) == ["long", "long"]
    assert found(limit=2, sessions=["long", "other"]) == ["long", "long"]
