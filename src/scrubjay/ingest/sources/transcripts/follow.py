"""Follow: (open file, Format, cursor) -> Iterator[Step], what was said in a log since the cursor.

It knows no tool and no store. Whoever stores what a step found may keep ``Step.end`` as the new cursor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from scrubjay.ingest.sources.transcripts.fields import storable
from scrubjay.ingest.sources.transcripts.format import Broken, Format, Left
from scrubjay.memory.turns import Turn

MOST_KIND = 60
"""Of the name of what was left out: it is shown on a terminal, and a log may call a record anything."""

MOST_TITLE = 200
"""As long as a first line that somebody reads."""


@dataclass(frozen=True, slots=True)
class Step:
    """One record that was read.

    Attributes:
        end: First byte after it: the cursor, once what was found is stored.
        found: Turns, what was left out, and what cannot be read, in the order of the record.
    """

    end: int
    found: tuple[Turn | Left | Broken, ...]


def follow(file: BinaryIO, form: Format, root: Path, path: str, cursor: int = 0) -> Iterator[Step]:
    """Read a log on from a cursor.

    Reading to any step's end and on from there gives the turns that reading at once gives. (Of a file with
    more than 33 MB before the cursor, a record that belongs to an older one may be given to the main session:
    see `jsonl`.) What lies after the last step's end is a line that is still being written.

    Args:
        file: The log, open for reading bytes, buffered.
        form: Which tool wrote it.
        root: Root of its source.
        path: Its POSIX path in the source.
        cursor: ``end`` of the last step that was stored; 0 for a file read for the first time, for one that
            was rewritten (`due.continues`) and for formats without ``lines``.
    """
    reader = form.reader(root, path)
    for row in form.rows(file, cursor):
        found = (row,) if isinstance(row, Broken) else tuple(reader(row))
        if row.start >= cursor:
            yield Step(row.end, tuple(map(_stored, found)))


def _stored(one: Turn | Left | Broken) -> Turn | Left | Broken:
    """What a store takes: no blank turn, no character that it cannot write, no endless title."""
    if isinstance(one, Turn):
        return _storable(one) if one.text and not one.text.isspace() else Left("blank")
    if isinstance(one, Left) and not (len(one.kind) <= MOST_KIND and one.kind.isprintable()):
        shown = "".join(char if char.isprintable() else "\ufffd" for char in one.kind[:MOST_KIND])
        return replace(one, kind=shown)
    return one


def _storable(turn: Turn) -> Turn:
    text, key, session = storable(turn.text), storable(turn.key), storable(turn.session)
    role, agent, title = storable(turn.role), storable(turn.agent), storable(turn.title[:MOST_TITLE])
    cwd, remote = turn.cwd and storable(turn.cwd), turn.remote and storable(turn.remote)
    new = (text, key, session, role, agent, title, cwd, remote)
    if new == (turn.text, turn.key, turn.session, turn.role, turn.agent, turn.title, turn.cwd, turn.remote):
        return turn
    turn = replace(turn, text=text, key=key, session=session, role=role)
    return replace(turn, agent=agent, title=title, cwd=cwd, remote=remote)
