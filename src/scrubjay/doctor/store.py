"""Store: does it open, is its file whole, what waits in it, are its sources there?"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrubjay.doctor.case import Case
from scrubjay.errors import ScrubjayError, StoreError
from scrubjay.memory.checks import PROBLEM, Check, ok, problem, warning
from scrubjay.memory.sources import location

if TYPE_CHECKING:
    from scrubjay.memory.reports import SourceStatus, Status
    from scrubjay.store.base import Store
    from scrubjay.store.whole import Altered

MANY_WAITING: Final = 500
"""Memories without a backfilled model's vectors: a day's worth. Until then words and the base model answer."""
MOST_NAMED: Final = 5
"""Memories that are named of those that were altered."""
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
    yield _texts(case)
    yield from _server(case, found)
    yield from _archived(found)
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
        found = sound(path, case.seconds, case.key)
    except ScrubjayError as error:
        return problem("store", str(error), error.hint)
    if found.faults:
        again = f"move {path} away, then `scrubjay sync` your folders again"
        return problem("store", f"{path} is damaged: {found.faults[0]}", again)
    seen = f"schema {found.schema}, {found.pages:,} pages"
    if not found.finished:
        return ok("store", f"{seen}; no fault in what {case.seconds:g} seconds allowed to look at")
    return ok("store", f"{seen}, all whole")


def _server(case: Case, found: Status) -> Iterator[Check]:
    """What only a server's store can lack: its second fence, and what a large tenant is searched by."""
    from scrubjay.store.open import open_store

    if not found.warnings:
        return
    with closing(open_store(case.settings.store)) as store:
        unfenced = store.unguarded()
    for text in found.warnings:
        if text == unfenced:
            yield warning("fence", text, 'run it as a user that is neither: docs/postgres.md, "Two users"')
        else:
            yield warning(
                "index", text, 'scrubjay rebuild --large, as the owner: docs/postgres.md, "A large tenant"'
            )


def _texts(case: Case) -> Check:
    """Compare each text with the hash that was kept when it was written, a few hundred at a time."""
    from scrubjay.store.open import open_store

    end = time.monotonic() + case.seconds
    bad: list[tuple[Altered, str]] = []
    looked, late = 0, ""
    try:
        with closing(open_store(case.settings.store)) as store:
            for count, altered in _altered(store, case.settings.tenant):
                if late:
                    break
                looked += count
                bad += altered
                if time.monotonic() > end:  # whether that was the last of them, the next one tells
                    late = f", in what {case.seconds:g} seconds allowed to look at"
            else:
                late = ""
    except ScrubjayError as error:
        return problem("texts", str(error), error.hint)
    if not bad:
        return ok("texts", f"{looked:,}, each as it was written{late}")
    named = [f"{one.id} ({os.path.join(place, one.path)})" if one.path else one.id for one, place in bad]
    more = [f"and {len(bad) - MOST_NAMED:,} more"] if len(bad) > MOST_NAMED else []
    told = ", ".join([*named[:MOST_NAMED], *more])
    return problem(
        "texts", f"{len(bad):,} of {looked:,} do not say what was written{late}: {told}", _way_out(bad)
    )


def _altered(store: Store, own: str) -> Iterator[tuple[int, list[tuple[Altered, str]]]]:
    """Yield how many memories were looked at, with those that were altered and where their sources lie."""
    for tenant in _tenants(store, own):
        with store.whole(tenant) as whole:
            places = {source.id: location(source) for source in whole.sources()}
            for count, found in whole.altered():
                yield count, [(one, places.get(one.source or "", "")) for one in found]


def _tenants(store: Store, own: str) -> list[str]:
    """Return the tenants that may be looked at: all of a file, one's own where a server hides the others."""
    try:
        return store.tenants()
    except StoreError:
        return [own]


def _way_out(bad: Sequence[tuple[Altered, str]]) -> str:
    """Return what brings texts back: the backup, else the files that are there."""
    found = {(one.source, place) for one, place in bad if one.source and place and Path(place).exists()}
    again = [
        f"scrubjay sources remove {source}, then scrubjay sync {place}" for source, place in sorted(found)
    ]
    backup = 'go back to the last backup (docs/runbook.md, "Backup and restore"); without one:'
    if any(not one.source for one, _ in bad):
        again.append("scrubjay forget the ids that belong to no file, and add them anew")
    return f"{backup} {'; '.join(again)}" if again else backup.removesuffix("; without one:")


def _archived(found: Status) -> Iterator[Check]:
    """Warn of what an earlier version archived: searches pass over it, and nobody asked for that."""
    unasked = sum(run.memories for run in found.archived if run.unasked)
    if unasked:
        yield warning(
            "archive",
            f"{unasked:,} memories were archived by consolidation of an earlier version, unasked",
            "scrubjay restore --archived-by-consolidation",
        )


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
