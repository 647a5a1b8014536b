"""Agentmemory: its export -> items.

Source: rohitg00/agentmemory, ``ExportData`` in ``src/types.ts`` and ``src/functions/export-import.ts`` (versions 0.3 to
0.9.29, 7d29590, 2026): one JSON object with ``version``, ``exportedAt``, ``sessions``, ``observations`` by session,
``memories``, ``summaries`` and, where it has them, ``semanticMemories``, ``proceduralMemories``, ``lessons``,
``insights``, ``crystals``, and more.

Memories keep their kind, date, session, project, agent, concepts and what they supersede; one that is not the latest
is superseded here as well. Observations become observations, summaries and crystals crystals. Of its graph, actions,
routines, signals and access logs nothing is taken: they are told as left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from scrubjay.errors import InputError
from scrubjay.ingest.importing.item import Found, Item, Joined, Named
from scrubjay.ingest.importing.values import UNTOUCHED, date, texts, whole
from scrubjay.ingest.sources.transcripts.fields import array, said, string, table
from scrubjay.memory.moves import Broken
from scrubjay.memory.new import NewMemory

TIER: Final = {"preference": "lesson", "workflow": "procedural"}
"""Type of a memory to its tier; all others are facts."""
ORIGIN: Final = {"user": "owner", "tool": "tool", "shared": "untrusted"}
"""Channel that a memory came through to its origin; all others are the agent's."""
LEFT: Final = (
    "profiles", "graphNodes", "graphEdges", "actions", "actionEdges", "routines", "signals", "checkpoints",
    "sentinels", "sketches", "facets", "accessLogs",
)  # fmt: skip
"""What has no place here."""
Told = dict[str, Any]


def read(file: Path) -> Iterator[Found]:
    """Yield what an export holds.

    Raises:
        InputError: It is none.
    """
    given = whole(file)
    if not isinstance(given, dict) or not isinstance(given.get("version"), str):
        raise InputError(f"{file} is no export of agentmemory: it has no version. {UNTOUCHED}")
    projects = {
        string(one.get("id")): string(one.get("project")) or None
        for one in map(table, array(given.get("sessions")))
    }
    for session, told in table(given.get("observations")).items():
        made = (_observation(session, projects.get(session), one) for one in map(table, array(told)))
        yield from _each(f"observation of {session}", made)
    kinds: tuple[tuple[str, Callable[[Told], Item | None]], ...] = (
        ("memories", _memory),
        ("summaries", _summary),
        ("semanticMemories", _semantic),
        ("proceduralMemories", _procedural),
        ("lessons", _lesson),
        ("insights", _insight),
        ("crystals", _crystal),
    )
    for name, make in kinds:
        told = [table(one) for one in array(given.get(name))]
        yield from _each(name, map(make, told))
        yield from (joined for one in told for joined in _joined(one))
    for name in LEFT:
        if found := given.get(name):
            yield Broken(name, f"{len(found):,} entries of a kind that has no place here were left out")


def _each(what: str, made: Iterator[Item | None]) -> Iterator[Found]:
    for place, item in enumerate(made, 1):
        where = f"{what} {place:,}"
        if item is None:
            continue  # it was deleted there
        if not item.new.content.strip():
            yield Broken(where, "it has no text")
            continue
        yield from (Named(name, (), where) for name in item.about)
        yield Item(item.new, where, item.about, item.name, item.superseded)


def _joined(told: Told) -> Iterator[Joined]:
    for field, kind in (("supersedes", "supersedes"), ("relatedIds", "links")):
        yield from (Joined(string(told.get("id")), other, kind) for other in texts(told.get(field)))
    for field in ("sourceMemoryIds", "sourceObservationIds", "sourceLessonIds", "sourceCrystalIds"):
        yield from (
            Joined(string(told.get("id")), other, "derived_from", field) for other in texts(told.get(field))
        )


def _item(told: Told, content: str, tier: str, title: str, **more: Any) -> Item:
    about = tuple(texts(told.get("concepts")))
    sessions = texts(told.get("sessionIds")) or texts(told.get("sourceSessionIds"))
    confidence = told.get("confidence")
    fields: Told = {
        "date": date(told.get("createdAt")),
        "session": sessions[0] if len(sessions) == 1 else None,
        "project": string(told.get("project")) or None,
        "agent": string(told.get("agentId")) or None,
        "origin": ORIGIN.get(string(table(told.get("origin")).get("channel")), "agent"),
        "tags": texts(told.get("tags")) + texts(told.get("type")),
    }
    if isinstance(confidence, int | float) and not isinstance(confidence, bool) and 0 <= confidence <= 1:
        fields["confidence"] = float(confidence)
    new = NewMemory(content, tier, title, **(fields | more))
    return Item(new, "", about, string(told.get("id")), told.get("isLatest") is False)


def _observation(session: str, project: str | None, told: Told) -> Item:
    title = string(told.get("title"))
    parts = (title, string(told.get("subtitle")), string(told.get("narrative")), _list(told.get("facts")))
    when = date(told.get("timestamp"))
    return _item(told, said(parts), "observation", title, session=session, project=project, date=when)


def _memory(told: Told) -> Item:
    tier = TIER.get(string(told.get("type")), "semantic")
    until = date(told.get("forgetAfter"))
    return _item(told, string(told.get("content")), tier, string(told.get("title")), valid_until=until)


def _summary(told: Told) -> Item:
    title, session = string(told.get("title")), string(told.get("sessionId")) or None
    content = said((title, string(told.get("narrative")), _list(told.get("keyDecisions"))))
    return _item(told, content, "crystal", title, session=session)


def _semantic(told: Told) -> Item:
    return _item(told, string(told.get("fact")), "semantic", "")


def _procedural(told: Told) -> Item:
    name, when = string(told.get("name")), string(told.get("triggerCondition"))
    steps = "\n".join(f"{n}. {step}" for n, step in enumerate(texts(told.get("steps")), 1))
    return _item(told, said((name, f"When: {when}" if when else "", steps)), "procedural", name)


def _lesson(told: Told) -> Item | None:
    content = said((string(told.get("content")), string(told.get("context"))))
    return None if told.get("deleted") is True else _item(told, content, "lesson", "")


def _insight(told: Told) -> Item | None:
    if told.get("deleted") is True:
        return None
    return _item(told, string(told.get("content")), "insight", string(told.get("title")))


def _crystal(told: Told) -> Item:
    parts = (string(told.get("narrative")), _list(told.get("keyOutcomes")), _list(told.get("lessons")))
    return _item(told, said(parts), "crystal", "", session=string(told.get("sessionId")) or None)


def _list(value: object) -> str:
    return "\n".join(f"- {one}" for one in texts(value))
