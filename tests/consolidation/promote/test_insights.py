"""Insights: what is counted over sessions and time."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from observations import passage
from voices import CONCEPTS, check_promoted, digest, journal

from scrubjay.consolidation.facts import PromotedMemory, source_key
from scrubjay.consolidation.patterns import promote_insights
from scrubjay.models.dates import to_datetime
from scrubjay.models.records import Record


def insights(records: list[Record], references: dict[str, list[str]]) -> list[str]:
    return [one.text for one in promote_insights(records, references, CONCEPTS)]


def test_a_recurring_entity_is_reported_with_counts_and_dates() -> None:
    records, references = journal(15, every=6)
    assert insights(records, references) == [
        "Alembic came up in 5 sessions from 2025-11-08 to 2026-01-19, most often with Postgres (5).",
        "Postgres came up in 10 sessions from 2025-11-08 to 2026-01-25, most often with Alembic (5).",
        "greenhouse came up in 5 sessions from 2025-11-20 to 2026-01-31.",
    ]


def test_few_sessions_or_a_short_time_make_no_pattern() -> None:
    assert insights(*journal(9)) == [
        "Postgres came up in 6 sessions from 2025-11-08 to 2026-01-31, most often with Alembic (3)."
    ]
    assert insights(*journal(15, every=0)) == []


def test_an_entity_of_nearly_all_sources_is_no_pattern() -> None:
    records, references = journal(15, every=6)
    everywhere = {memory: [*named, "con_ga"] for memory, named in references.items()}
    texts = [
        replace(record, content=f"{record.content}\nuser: The greenhouse is shut.") for record in records
    ]
    assert not any(text.startswith("greenhouse") for text in insights(texts, everywhere))


def test_sessions_and_notes_are_counted_separately() -> None:
    records, references = journal(9)
    notes = [passage(f"Postgres, note {n}", f"{n}.md", 900 + n, days=20 - n) for n in range(2)]
    references |= {note.id: ["con_pg"] for note in notes} | {}
    others = [digest(f"user: The boiler hums, day {n}.", 700 + n, days=90 - n) for n in range(3)]
    (text,) = insights([*records, *notes, *others], references)
    assert text.startswith("Postgres came up in 6 sessions and 2 documents from ")


def test_a_name_that_no_source_holds_is_never_used() -> None:
    records, references = journal(15, every=6)
    hidden = {memory: ["con_hid"] for memory, named in references.items() if "con_ga" in named}
    assert len(hidden) == 5
    assert insights(records, hidden) == []


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 20), st.integers(1, 12), st.sampled_from((None, "group:dev")), st.randoms())
def test_counts_are_right_in_any_order(  # type: ignore[no-untyped-def]
    sessions: int, every: int, other: str | None, chance
) -> None:
    records, references = journal(sessions, every=every)
    if other:
        records = [
            replace(record, key=other) if place % 4 == 0 else record for place, record in enumerate(records)
        ]
    found = promote_insights(records, references, CONCEPTS)
    mixed = list(records)
    chance.shuffle(mixed)
    assert promote_insights(mixed, references, CONCEPTS) == found
    for one in found:
        check_promoted(one, records)
        _counted(one, records, references)


def _counted(one: PromotedMemory, records: list[Record], references: dict[str, list[str]]) -> None:
    parts = re.fullmatch(
        r"(\S+) came up in (\d+) sessions from (\S+) to ([^\s,.]+)(?:, most often with (\S+) \((\d+)\))?\.",
        one.text,
    )
    assert parts is not None
    ids = {"Postgres": "con_pg", "Alembic": "con_al", "greenhouse": "con_ga"}
    own = [record for record in records if record.key == one.key and ids[parts[1]] in references[record.id]]
    assert {memory for memory, _ in one.evidence} == {record.id for record in own}
    assert int(parts[2]) == len({source_key(record) for record in own}) >= 4
    days = sorted(to_datetime(record.event.start).date().isoformat() for record in own if record.event)
    assert (parts[3], parts[4]) == (days[0], days[-1])
    if parts[5]:
        assert int(parts[6]) == len({source_key(r) for r in own if ids[parts[5]] in references[r.id]})
