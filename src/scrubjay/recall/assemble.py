"""Assemble: candidates and their records -> tuple[Result, ...]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import time
from pathlib import Path

from scrubjay.memory.answers import Explanation, Result, Turn
from scrubjay.memory.dates import date_of, moment, wall
from scrubjay.memory.ranking import Candidate
from scrubjay.memory.records import Record, Source
from scrubjay.recall.channels.ranking import WordsRanking
from scrubjay.recall.plan import Plan
from scrubjay.recall.relevance import Sign
from scrubjay.recall.request import Request
from scrubjay.text.snippets import snippet

EVIDENCE = 5
"""Ids of evidence in one result; `get` and `history` name all."""
SESSION = 12
"""Characters of a session's name that tell it from the others in a list."""


@dataclass(frozen=True, slots=True)
class Joined:
    """What results rest on, and what they stand for.

    Attributes:
        evidence: Derived memory to what it was taken from.
        into: Turn to the statements taken from it that it stands for.
        copies: Memory to those that say the same and are not shown.
        ways: Memory to the hit and the name that led to it.
        turns: Memory to the turns that are shown with it.
        newer: Memory to those that were said later of the same, the newest first.
    """

    evidence: Mapping[str, tuple[str, ...]]
    into: Mapping[str, tuple[str, ...]]
    copies: Mapping[str, tuple[str, ...]]
    ways: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    turns: Mapping[str, tuple[Turn, ...]] = field(default_factory=dict)
    newer: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


NOTHING = Joined({}, {}, {})
COPIES = 5
"""Ids of copies in one result; all are counted."""


def assemble(
    candidates: Sequence[Candidate],
    records: Mapping[str, Record],
    sources: Mapping[str, Source],
    found: tuple[Plan, WordsRanking | None, Mapping[str, Sign]],
    wanted: Request,
    joined: Joined = NOTHING,
) -> tuple[Result, ...]:
    """Make the candidates readable: snippet, place, date, citation."""
    plan, words, signs = found
    given = words.words.parts([c.id for c in candidates]) if words is not None else [()] * len(candidates)
    results = []
    for candidate, parts in zip(candidates, given, strict=True):
        record = records[candidate.id]
        explanation = None
        if wanted.explain:
            named = {
                group.word: round(part, 6) for group, part in zip(plan.groups, parts, strict=False) if part
            }
            explanation = Explanation(
                candidate.contributions, candidate.factors, named, joined.ways.get(candidate.id, ())
            )
        shown_text = snippet(record.content, plan.groups, wanted.snippet).text
        results.append(
            result(record, sources, candidate.score, shown_text, explanation, joined, signs.get(record.id))
        )
    return tuple(results)


def result(
    record: Record,
    sources: Mapping[str, Source],
    score: float,
    text: str,
    explanation: Explanation | None,
    joined: Joined = NOTHING,
    sign: Sign | None = None,
) -> Result:
    """Return one memory as a result."""
    place = record.place
    source = sources.get(place.source) if place is not None else None
    path = full_path(record, sources)
    first = place.line_start if place is not None else None
    last = place.line_end if place is not None else None
    copies = joined.copies.get(record.id, ())
    return Result(
        id=record.id,
        tier=record.tier,
        title=record.title or turn_title(record),
        snippet=text,
        path=path,
        line_start=first,
        line_end=last,
        date=date_of(record),
        score=score,
        relevance=sign.relevance if sign is not None and sign.told else None,
        citation=f"{path}:{first}-{last}" if path is not None else record.id,
        status=record.status,
        tags=record.tags,
        source=source.description if source is not None else "",
        origin=record.origin,
        session=record.session,
        role=record.role,
        project=record.project,
        agent=record.agent,
        explanation=explanation,
        evidence=joined.evidence.get(record.id, ())[:EVIDENCE],
        statements=joined.into.get(record.id, ()),
        copies=len(copies),
        copied=copies[:COPIES],
        turns=joined.turns.get(record.id, ()),
        newer=joined.newer.get(record.id, ()),
        valid_from=_iso(record.valid_from),
        valid_until=_iso(record.valid_until),
    )


def _iso(at: int | None) -> str | None:
    """Return a moment, and the day alone where one begins with it here."""
    if at is None:
        return None
    here = wall(at)
    return here.date().isoformat() if here.time() == time() else moment(at).isoformat(timespec="seconds")


def turn_title(record: Record) -> str:
    """Return what a turn of a conversation is headed by: who speaks, to which agent, in which session.

    Turns have no title of their own to rank by: a session's would stand in every one of them.
    """
    if record.session is None or record.turn is None:
        return ""
    to = f", {record.agent}" if record.agent and record.agent != record.role else ""
    return f"{record.role or 'turn'} {record.turn}{to}, session {record.session[:SESSION]}"


def full_path(record: Record, sources: Mapping[str, Source]) -> str | None:
    """Return the absolute path of a memory's file, None for an addition."""
    place = record.place
    if place is None or place.source not in sources:
        return None
    return str(Path(sources[place.source].root) / place.path)


def full_paths(records: Sequence[Record], sources: Sequence[Source]) -> dict[str, str]:
    """Return memory to the absolute path of its file, of those that have one."""
    by_id = {source.id: source for source in sources}
    return {record.id: path for record in records if (path := full_path(record, by_id)) is not None}
