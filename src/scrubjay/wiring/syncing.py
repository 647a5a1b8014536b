"""Syncing: which sources a call means, in what order, and what it all came to."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scrubjay.config import Settings
from scrubjay.errors import StoreBusyError
from scrubjay.ingest import pipeline
from scrubjay.ingest.chunk import ChunkSettings
from scrubjay.ingest.fresh import fresh
from scrubjay.ingest.read import versions
from scrubjay.ingest.rebuild import rebuild
from scrubjay.ingest.register import apart, register
from scrubjay.memory.answers import Progress, Summary
from scrubjay.memory.records import Source
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store
from scrubjay.store.changes import DropSource, PutVersions
from scrubjay.wiring.lineup import Lineup

Report = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Desk:
    """Where one principal's syncs are done: the store, who syncs, with which models and settings."""

    store: Store
    scope: Scope
    lineup: Lineup
    settings: Settings

    @property
    def chunks(self) -> ChunkSettings:
        """How documents are cut."""
        sizes = self.settings.chunk
        return ChunkSettings(sizes.target, sizes.overlap, sizes.most)


def sync(desk: Desk, path: Path | None, wish: Source, progress: Report | None = None) -> Summary:
    """Sync one folder or file, or every registered source.

    A store that other versions of the stages made is rebuilt first: old and new passages never mix.
    """
    started = time.monotonic()
    chosen = [register(desk.store, desk.scope, path, wish)] if path is not None else _sources(desk)
    _stamp(desk, progress)
    return _run(desk, chosen, started, progress)


def _sources(desk: Desk) -> list[Source]:
    with desk.store.reader(desk.scope) as reader:
        return reader.sources()


def _run(desk: Desk, chosen: Sequence[Source], started: float, progress: Report | None) -> Summary:
    tally = pipeline.Tally()
    run = pipeline.Run(desk.store, desk.scope, desk.lineup.writing(), desk.chunks, tally, progress)
    known = _sources(desk)
    for source in chosen:
        pipeline.sync(run, source, apart(source, known))
    with desk.store.reader(desk.scope) as reader:
        passages = reader.held([source.id for source in chosen])
        waiting = sum(reader.coverage(e.model.fingerprint).waiting for e in desk.lineup.backfilled())
    return Summary(
        files=tally.files,
        passages=passages,
        added=tally.added,
        updated=tally.updated,
        unchanged=passages - tally.added - tally.updated,
        removed=tally.removed,
        embedded=0,
        waiting=waiting,
        scrubbed=dict(sorted(tally.scrubbed.items())),
        problems=tuple(tally.problems),
        seconds=time.monotonic() - started,
    )


def _stamp(desk: Desk, progress: Report | None) -> None:
    with desk.store.reader(desk.scope) as reader:
        stamped = reader.versions()
    if stamped is None:
        desk.store.write(desk.scope, [PutVersions(versions(desk.chunks))])
    elif stamped != versions(desk.chunks):
        rebuild(desk.store, desk.scope, desk.lineup.writing(), desk.chunks, progress)


def remake(desk: Desk, progress: Report | None = None) -> Summary:
    """Rebuild everything from what is stored."""
    started = time.monotonic()
    held = rebuild(desk.store, desk.scope, desk.lineup.writing(), desk.chunks, progress)
    with desk.store.reader(desk.scope) as reader:
        documents = reader.counts().documents
        waiting = sum(reader.coverage(e.model.fingerprint).waiting for e in desk.lineup.backfilled())
    return Summary(documents, held, 0, held, 0, 0, 0, waiting, {}, (), time.monotonic() - started)


def freshen(desk: Desk) -> tuple[str, ...]:
    """Take in the few files that changed since the last sync, before an answer; say what was not looked at."""
    with desk.store.reader(desk.scope) as reader:
        sources = reader.sources()
        if not sources:
            return ()
        look = fresh(reader, [apart(source, sources) for source in sources])
        stamped = reader.versions()
    if not look.changed:
        return look.partial
    if stamped is not None and stamped != versions(desk.chunks):
        return (*look.partial, "The store was made by another version: `scrubjay sync` brings it up to date.")
    try:
        _run(desk, [source for source in sources if source.id in look.changed], time.monotonic(), None)
    except StoreBusyError:
        return (*look.partial, "Files changed, but another process is writing: the answer is from before.")
    return look.partial


def remove(desk: Desk, source: str) -> None:
    """Remove a source and what it brought."""
    desk.store.write(desk.scope, [DropSource(source)])
