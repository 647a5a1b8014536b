"""Importing: a file or folder of another store or tool -> memories of the caller's."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from scrubjay.ingest.folders import refile
from scrubjay.ingest.organise import FEWEST, held, organise
from scrubjay.ingest.porting.into import Into
from scrubjay.ingest.porting.layout import mark
from scrubjay.ingest.porting.read import Header, check
from scrubjay.ingest.porting.take import take
from scrubjay.memory.dates import now_micros
from scrubjay.memory.moves import Imported
from scrubjay.memory.reports import Progress
from scrubjay.store.changes import PutVersions
from scrubjay.wiring.desk import Desk
from scrubjay.wiring.syncing import stamped

Report = Callable[[Progress], None]


def restore(
    desk: Desk, file: Path, *, dry_run: bool = False, shared: bool = False, progress: Report | None = None
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
    into = Into(desk.store, desk.scope, base, overlap, header.store, own, dry_run, secret)
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
    with desk.store.reader(desk.scope) as reader:
        known = reader.versions()
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
    with desk.store.reader(desk.scope) as reader:
        sources = [source for source in reader.sources() if source.id in into.sources]
    for source in sources if into.keys else ():
        refile(desk.store, desk.scope, source, now_micros())
