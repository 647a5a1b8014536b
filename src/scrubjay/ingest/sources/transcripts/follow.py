"""Follow: (open file, Format, cursor) -> Iterator[Step], what was said in a log since the cursor.

It knows no tool and no store. Whoever stores what a step found may keep ``Step.end`` as the new cursor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from scrubjay.ingest.sources.transcripts.fields import storable
from scrubjay.ingest.sources.transcripts.format import Broken, Format, Found, Left
from scrubjay.memory.turns import Turn


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
        found = (row,) if isinstance(row, Broken) else tuple(_stored(reader(row)))
        if row.start >= cursor:
            yield Step(row.end, found)


def _stored(found: Iterable[Found]) -> Iterator[Found]:
    """What a store takes: no blank turn, no character that it cannot write."""
    for one in found:
        if isinstance(one, Left):
            yield one
        elif not one.text or one.text.isspace():
            yield Left("blank")
        else:
            text, key, session = storable(one.text), storable(one.key), storable(one.session)
            cwd, title = one.cwd and storable(one.cwd), storable(one.title)
            if (text, key, session, cwd, title) != (one.text, one.key, one.session, one.cwd, one.title):
                one = replace(one, text=text, key=key, session=session, cwd=cwd, title=title)
            yield one
