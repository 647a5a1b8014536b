"""Importing: a file or folder of another store or tool -> memories of the caller's."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from scrubjay.errors import InputError, NotFoundError, QuotaError, StoreBusyError
from scrubjay.ingest.folders import refile
from scrubjay.ingest.importing.item import Folder
from scrubjay.ingest.importing.recognise import FORMATS, PLACES, place, reader, recognise
from scrubjay.ingest.organise import FEWEST, held, organise
from scrubjay.ingest.porting.into import SAMPLES, Into
from scrubjay.ingest.porting.layout import mark
from scrubjay.ingest.porting.read import Header, check
from scrubjay.ingest.porting.take import take
from scrubjay.ingest.sources.files import scan
from scrubjay.ingest.trust import NO_CHOICE, TrustChoice
from scrubjay.memory.dates import now_micros
from scrubjay.memory.moves import Broken, Imported, Sample
from scrubjay.memory.records import Source
from scrubjay.memory.reports import Progress
from scrubjay.memory.sources import location, single
from scrubjay.store.changes import PutVersions
from scrubjay.wiring.adopting import TOLD, adopt
from scrubjay.wiring.desk import Desk
from scrubjay.wiring.syncing import stamped, sync

Report = Callable[[Progress], None]


def import_(
    desk: Desk,
    path: Path,
    *,
    format: str = "auto",
    dry_run: bool = False,
    shared: bool = False,
    untrusted: bool = False,
    progress: Report | None = None,
) -> Imported:
    """Take in a file or folder.

    Raises:
        SourceError: It cannot be read.
        InputError: It is of no known format, or not whole; nothing was imported.
        QuotaError: There is no room for more of it; what was taken in before that stays.
        StoreBusyError: Another process imports; two of one file would write histories twice.
    """
    path = path.expanduser()
    if format not in FORMATS:
        raise InputError(f"Format {format!r} is not one of {', '.join(FORMATS)}. Nothing was imported.")
    if not path.exists():
        raise NotFoundError(f"{path} is not there. Nothing was imported.")
    known = recognise(path) if format == "auto" else format
    if path.is_dir() and known not in (*PLACES, "basic-memory"):
        raise InputError(f"{path} is a folder; {known} is read from a file. Nothing was imported.")
    if shared and known != "scrubjay":
        raise InputError("Only an export of scrubjay says what was shared. Nothing was imported.")
    if untrusted and known in PLACES:
        raise InputError(
            f"{path} would be synced as yours; only what is copied can be marked as untrusted. "
            "Nothing was imported.",
            hint=f"scrubjay sync {path} --untrusted",
        )
    with desk.store.alone(desk.scope, "import") as alone:
        if not alone:
            raise StoreBusyError(
                f"Another program imports into {desk.store.url}. Nothing was imported.",
                hint="run it again when that has ended",
            )
        try:
            return _taken(
                desk, path, known, dry_run=dry_run, shared=shared, untrusted=untrusted, progress=progress
            )
        except QuotaError as error:
            raise QuotaError(
                f"{error} What was imported before that stays.",
                hint=f"{error.hint}; then run the same import again: it goes on where it was",
            ) from error


def _taken(
    desk: Desk,
    path: Path,
    known: str,
    *,
    dry_run: bool,
    shared: bool,
    untrusted: bool,
    progress: Report | None,
) -> Imported:
    """Take in what is of a known format."""
    if known == "scrubjay":
        return restore(desk, path, dry_run=dry_run, shared=shared, untrusted=untrusted, progress=progress)
    if known in PLACES:
        return _sync(desk, place(path, known), known, dry_run=dry_run, progress=progress)
    found = reader(known)(path)
    return adopt(desk, found, known, dry_run=dry_run, untrusted=untrusted, progress=progress)


def _sync(desk: Desk, folder: Folder, format: str, *, dry_run: bool, progress: Report | None) -> Imported:
    """Make a folder of Markdown a source, unless it lies in one, and sync it."""
    started = time.monotonic()
    full = Path(os.path.abspath(folder.path))
    with desk.store.reader(desk.scope) as view:
        known = view.sources()
    within = any(
        location(one) == str(full) or (not single(one) and full.is_relative_to(one.root)) for one in known
    )
    new = () if within else (str(full),)
    if dry_run:
        found = scan(full, include=folder.include) if folder.include else scan(full)
        first = tuple(
            Sample("file", state.path, f"{state.size:,} bytes", "") for state in found.files[:SAMPLES]
        )
        seconds = time.monotonic() - started
        return Imported(format, True, documents=len(found.files), sources=new, samples=first, seconds=seconds)
    # What a source takes in is not changed by an import of what it holds already; what is new is the importer's own.
    wish = Source("", "") if within else Source("", "", folder.description, folder.include)
    choice = NO_CHOICE if within else TrustChoice("trusted")
    done = sync(desk, full, wish, progress, choice=choice)
    return Imported(
        format,
        False,
        added=done.added + done.updated,
        existed=done.unchanged,
        forgotten=done.forgotten,
        documents=done.files,
        sources=new,
        scrubbed=done.scrubbed,
        broken=tuple(Broken(one.path, one.message) for one in done.problems[:TOLD]),
        failures=len(done.problems),
        seconds=time.monotonic() - started,
    )


def restore(
    desk: Desk,
    file: Path,
    *,
    dry_run: bool = False,
    shared: bool = False,
    untrusted: bool = False,
    progress: Report | None = None,
) -> Imported:
    """Take in what `export` wrote.

    Raises:
        SourceError: The file cannot be read.
        InputError: It is not whole, or not of this version; nothing was imported.
    """
    started = time.monotonic()
    header = check(file)
    base = desk.lineup.writing()
    secret = desk.store.secret(desk.scope)
    own = header.store == mark(secret, desk.scope)
    overlap = desk.settings.chunk.overlap
    allow = desk.settings.redaction.allow
    into = Into(desk.store, desk.scope, base, overlap, header.store, own, dry_run, secret, untrusted, allow)
    if not dry_run:
        _stamp(desk, header)
    take(file, header, into, shared=shared, progress=progress)
    if not dry_run:
        _sort(desk, into)
    counts = into.counts
    return Imported(
        format="scrubjay",
        dry_run=dry_run,
        added=counts["added"],
        existed=counts["existed"],
        forgotten=counts["forgotten"],
        passed=counts["passed"],
        edges=counts["edges"],
        concepts=counts["concepts"],
        events=counts["events"],
        runs=counts["runs"],
        documents=counts["documents"],
        sources=tuple(into.places),
        scrubbed=dict(sorted(into.scrubbed.items())),
        samples=tuple(into.samples),
        seconds=time.monotonic() - started,
    )


def _stamp(desk: Desk, header: Header) -> None:
    """Have the store say which versions made its memories; of others than today's the next sync makes all anew."""
    with desk.store.reader(desk.scope) as view:
        known = view.versions()
    wanted = header.versions or stamped(desk)
    if known is None or (known == stamped(desk) and wanted != known):
        desk.store.write(desk.scope, [PutVersions(wanted)])


def _sort(desk: Desk, into: Into) -> None:
    """Find the topics and places of what was written."""
    if "categories" not in desk.settings.connect.stages:
        return
    for key in sorted(into.keys):
        if held(desk.store, desk.scope, key) >= FEWEST:
            organise(desk.store, desk.scope, key, into.base, desk.lineup.backfilled())
    with desk.store.reader(desk.scope) as view:
        sources = [source for source in view.sources() if source.id in into.sources]
    for source in sources if into.keys else ():
        refile(desk.store, desk.scope, source, now_micros())
