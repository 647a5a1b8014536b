"""Store: does it open, is its file whole, what waits in it, are its sources there?"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrubjay.doctor.case import Case
from scrubjay.errors import ScrubjayError
from scrubjay.memory.checks import PROBLEM, Check, ok, problem, warning

if TYPE_CHECKING:
    from scrubjay.memory.reports import SourceStatus, Status

MANY_WAITING: Final = 500
"""Memories without a backfilled model's vectors: a day's worth. Until then words and the base model answer."""
AHEAD: Final = 120.0
"""Seconds that a clock may be set back before what was written then is ordered wrongly enough to be told."""


def check(case: Case) -> Iterator[Check]:
    """Yield what is found of the store; what needs it open is left out where it does not open."""
    whole = _whole(case)
    yield whole
    if whole.state == PROBLEM or (case.file is not None and not case.file.exists()):
        return
    try:
        with case.memory() as memory:
            found = memory.status()
    except ScrubjayError as error:
        yield problem("memories", str(error), error.hint)
        return
    kept = f"{found.memories:,} in {found.store}, of {case.settings.user}"
    yield (
        ok("memories", kept)
        if found.memories
        else warning(
            "memories",
            f"none yet in {found.store}",
            "scrubjay sync DIR, or install an agent: scrubjay install --list",
        )
    )
    for text in found.warnings:
        yield warning("fence", text, 'run it as a user that is neither: docs/postgres.md, "Two users"')
    yield _backlog(found)
    yield from _sources(found)
    yield _clock(case, found)


def _whole(case: Case) -> Check:
    path = case.file
    if path is None:
        return ok("store", "it is kept by a server, whose files are its own to check")
    if not path.exists():
        return warning("store", f"{path} is not there yet; the first thing that is remembered makes it")
    from scrubjay.store.sqlite.soundness import sound

    try:
        found = sound(path, case.seconds)
    except ScrubjayError as error:
        return problem("store", str(error), error.hint)
    if found.faults:
        again = f"move {path} away, then `scrubjay sync` your folders again"
        return problem("store", f"{path} is damaged: {found.faults[0]}", again)
    seen = f"schema {found.schema}, {found.pages:,} pages"
    if not found.finished:
        return ok("store", f"{seen}; no fault in what {case.seconds:g} seconds allowed to look at")
    return ok("store", f"{seen}, all whole")


def _backlog(found: Status) -> Check:
    waiting = {model.name: model.waiting for model in found.models if model.waiting}
    told = ", ".join(f"{count:,} wait for {name}" for name, count in waiting.items())
    if max(waiting.values(), default=0) > MANY_WAITING:
        return warning("vectors", f"{told}: until then words and the base model answer", "scrubjay embed")
    return ok("vectors", told or "every memory has those of every model")


def _sources(found: Status) -> Iterator[Check]:
    if not found.sources:
        yield ok("sources", "no folder is registered")
        return
    bad = [(source, why) for source in found.sources if (why := _wrong(source))]
    for source, why in bad:
        yield warning("sources", f"{source.root} {why}", f"mend it, or scrubjay sources remove {source.id}")
    if not bad:
        yield ok("sources", f"{len(found.sources):,}, all there and readable")


def _wrong(source: SourceStatus) -> str:
    if not source.present:
        return "is not there; what it brought is kept"
    if not os.access(source.root, os.R_OK | (os.X_OK if Path(source.root).is_dir() else 0)):
        return "cannot be read; what it brought is kept"
    return ""


def _clock(case: Case, found: Status) -> Check:
    """A clock that was set back gives new memories older times than old ones have."""
    from scrubjay.memory.dates import moment, now_micros

    now = now_micros()
    latest = max((source.synced for source in found.sources if source.synced), default="")
    ahead = latest > moment(now + round(AHEAD * 1e6)).isoformat(timespec="seconds")
    if case.file is not None and case.file.exists():
        ahead = ahead or case.file.stat().st_mtime > time.time() + AHEAD
    if ahead:
        when = moment(now).isoformat(timespec="seconds")
        return warning(
            "clock",
            f"it says {when}, and the store was written later than that",
            "set the clock: timedatectl status",
        )
    return ok("clock", "the store was written before now")
