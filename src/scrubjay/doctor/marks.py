"""Marks: where markers of the doctor's are put, and how they are taken away: at once, or by the next doctor."""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrubjay.doctor.case import Case
from scrubjay.doctor.samples import RESERVED, Marker
from scrubjay.errors import ScrubjayError
from scrubjay.ingest.scrub import scrub
from scrubjay.memory.checks import Check, ok, problem, warning
from scrubjay.memory.dates import moment, now_micros
from scrubjay.store.sqlite.lock import alone as locked

if TYPE_CHECKING:
    from scrubjay.engine import Memory
    from scrubjay.memory.reports import SourceStatus

SESSION: Final = re.compile(rf"{RESERVED}-([0-9a-f]{{12}})")
STATUSES: Final = ("active", "superseded", "archived")


def place(case: Case) -> Path:
    """Return the folder in which markers lie, each in one of its own; also the project that they are said in."""
    return case.home.data / RESERVED


@contextmanager
def alone(case: Case) -> Iterator[bool]:
    """Tell whether no other doctor puts markers until the block ends.

    Raises:
        StoreError: The lock cannot be opened.
    """
    place(case).mkdir(mode=0o700, parents=True, exist_ok=True)
    with locked(place(case) / "one", "", "doctor") as mine:
        yield mine


def new(case: Case) -> Marker:
    """Make a marker's folder and return the marker.

    Raises:
        OSError: It cannot be made.
    """
    found = _named(case, secrets.token_hex(6))
    while scrub(found.text).text != found.text:  # what is taken for a secret would not be found again
        found = _named(case, secrets.token_hex(6))
    found.folder.mkdir(mode=0o700)
    return found


def _named(case: Case, digits: str) -> Marker:
    session = f"{RESERVED}-{digits}"
    at = moment(now_micros()).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return Marker(f"kestrel{digits}", session, place(case) / session, place(case), at)


def left(case: Case) -> list[Marker]:
    """Return the markers that are still there."""
    if not place(case).is_dir():
        return []
    names = [SESSION.fullmatch(path.name) for path in sorted(place(case).iterdir())]
    return [_named(case, name[1]) for name in names if name]


def take_away(memory: Memory, marker: Marker) -> None:
    """Remove a marker and everything that came of it.

    Raises:
        ScrubjayError: The store cannot be written.
        OSError: The files cannot be removed.
    """
    for source in sources(memory, marker):
        memory.remove_source(source.id)
    # A source of the person's may hold the data folder, and then what was put there.
    if found := ids(memory, marker):
        memory.forget(found)
    # Last: as long as it is there, the next doctor knows that something may be left.
    shutil.rmtree(marker.folder)


def sources(memory: Memory, marker: Marker) -> list[SourceStatus]:
    """Return the sources that lie in a marker's folder."""
    return [source for source in memory.sources() if Path(source.root).is_relative_to(marker.folder)]


def ids(memory: Memory, marker: Marker) -> list[str]:
    """Return the memories in which a marker is found."""
    answer = memory.search(marker.word, sessions=[marker.session], statuses=STATUSES, limit=20)
    return [result.id for result in answer.results if marker.word in result.snippet]


def sweep(case: Case) -> Iterator[Check]:
    """Yield what an earlier doctor left, and take it away when that is asked for."""
    if not left(case):
        return
    with alone(case) as mine:
        if not mine:
            return
        found = left(case)
        if not case.mend:
            told = f"{len(found)} of an earlier doctor, which was ended before its time"
            yield warning("markers", told, "scrubjay doctor --fix")
            return
        try:
            with case.memory() as memory:
                for marker in found:
                    take_away(memory, marker)
        except (ScrubjayError, OSError) as error:
            yield problem("markers", f"what an earlier doctor left cannot be taken away: {error}")
            return
        yield ok("markers", f"{len(found)} of an earlier doctor taken away", mended=True)
