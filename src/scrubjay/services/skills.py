"""Skills service: read what was asked and run in each conversation, from the store and from agents' logs on disk."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from scrubjay.consolidation.context import MEMORY_PAGE, common_value, occurred_at
from scrubjay.consolidation.facts import CommandStep, command_steps, extract_steps, is_spoken, is_usable
from scrubjay.consolidation.patterns import MAX_REQUEST_TEXT
from scrubjay.consolidation.skills import Request, Skill, WorkSession, find_skills
from scrubjay.ingest.transcripts.tool_calls import shell_calls
from scrubjay.models.dates import record_date
from scrubjay.models.records import Record, RecordFilter
from scrubjay.redaction.redactor import redact_text
from scrubjay.services.workspace import Workspace, resolve_projects

MAX_LOGS: Final = 500
"""Logs that are read for commands, the latest."""

_Position = tuple[int, int, int, int]
"""Time, turn, line, and index among the commands of the turn or log."""


class _Turn(NamedTuple):
    """A turn without its text.

    Attributes:
        log: Source and path of its log; None if it was not read from one.
        request: Its text and ISO date, if a person asks.
        steps: The commands that it shows.
    """

    position: _Position
    project: str | None
    log: tuple[str, str] | None
    request: tuple[str, str] | None
    steps: tuple[CommandStep, ...]


def list_skills(workspace: Workspace, project: str | None) -> tuple[Skill, ...]:
    """Return the procedures that at least three conversations of a project carried out alike. Nothing is written.

    Args:
        workspace: The workspace.
        project: Only those of this project, by name or path; None for all.
    """
    wanted = resolve_projects(workspace, [project] if project is not None else [])
    turns: defaultdict[str, list[_Turn]] = defaultdict(list)
    for record in _turns(workspace):
        assert record.session is not None
        turns[record.session].append(_turn(record))
    ran = _logged_steps(workspace, turns)
    found = find_skills(
        _work_session(session, own, ran.get(session, ()), turns) for session, own in sorted(turns.items())
    )
    return tuple(one for one in found if not wanted or one.project in wanted)


def _turns(workspace: Workspace) -> Iterator[Record]:
    where = RecordFilter(tiers=("observation",), statuses=("active", "archived"))
    after = ""
    while True:
        with workspace.store.reader(workspace.scope) as reader:
            page = reader.page(after, MEMORY_PAGE, where)
        if not page:
            return
        after = page[-1].id
        yield from (
            one for one in page if one.session is not None and is_usable(one) and one.origin != "derived"
        )


def _turn(record: Record) -> _Turn:
    place = record.place
    spoken = is_spoken(record)
    return _Turn(
        (occurred_at(record), record.turn or 0, place.line_start if place else 0, 0),
        record.project,
        (place.source, place.path) if place else None,
        (record.content[:MAX_REQUEST_TEXT], (record_date(record) or "")[:10]) if spoken else None,
        () if spoken else extract_steps(record.content),
    )


def _logged_steps(
    workspace: Workspace, turns: dict[str, list[_Turn]]
) -> dict[str, list[tuple[_Position, CommandStep]]]:
    """Return the commands that logs say were run, by session; a call belongs to the turn before it in its log."""
    with workspace.store.reader(workspace.scope) as reader:
        roots = {source.id: source.root for source in reader.sources()}
    logs: defaultdict[tuple[str, str], list[tuple[int, str, _Position]]] = defaultdict(list)
    for session, own in turns.items():
        for turn in own:
            if turn.log is not None and turn.log[0] in roots and turn.log[1].endswith(".jsonl"):
                logs[turn.log].append((turn.position[2], session, turn.position))
    latest = sorted(logs, key=lambda log: max(position for _, _, position in logs[log]))[-MAX_LOGS:]
    found: defaultdict[str, list[tuple[_Position, CommandStep]]] = defaultdict(list)
    for source, path in latest:
        waiting = sorted(logs[source, path], reverse=True)
        current: tuple[int, str, _Position] | None = None
        try:
            calls = shell_calls(Path(roots[source], path))
        except OSError:  # agents delete old logs; what their turns show still counts
            continue
        index = 0
        for call in calls:
            while waiting and waiting[-1][0] <= call.line:
                current = waiting.pop()
            if current is None:  # copied from another conversation
                continue
            clean = redact_text(call.command, workspace.settings.redaction.allow).text
            _, session, (at, number, _, _) = current
            for step in command_steps(clean):
                found[session].append(((at, number, call.line, index), step))
                index += 1
    return found


def _work_session(
    session: str,
    own: list[_Turn],
    ran: list[tuple[_Position, CommandStep]] | tuple[()],
    known: dict[str, list[_Turn]],
) -> WorkSession:
    shown = [((*one.position[:3], index), step) for one in own for index, step in enumerate(one.steps)]
    asked = [(one.position, one.request) for one in own if one.request is not None]
    positions = sorted([position for position, _ in (*asked, *(ran or shown))])
    order = {position: place for place, position in enumerate(positions)}
    steps: list[tuple[int, CommandStep]] = []
    for position, step in sorted(ran or shown, key=lambda pair: pair[0]):
        if not steps or steps[-1][1].name != step.name:
            steps.append((order[position], step))
    return WorkSession(
        session,
        _conversation(session, known),
        common_value(one.project for one in own),
        tuple(Request(order[position], date, text) for position, (text, date) in sorted(asked)),
        tuple(steps),
    )


def _conversation(session: str, known: dict[str, list[_Turn]]) -> str:
    """Return the conversation that a branch (``s~x``) or a sub-agent (``s/x``) belongs to."""
    for mark in ("/", "~"):
        above = session.rpartition(mark)[0]
        if above in known:
            return _conversation(above, known)
    return session
