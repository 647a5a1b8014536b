"""Syncing: which sources a call means, in what order, and what it all came to."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from scrubjay.config import data_dir
from scrubjay.errors import InputError
from scrubjay.ingest import pipeline
from scrubjay.ingest.chunk import ChunkSettings
from scrubjay.ingest.folders import unfile
from scrubjay.ingest.orphans import orphans
from scrubjay.ingest.projects import AUTO, NONE, Projects
from scrubjay.ingest.read import versions
from scrubjay.ingest.rebuild import rebuild
from scrubjay.ingest.register import holder, register
from scrubjay.ingest.reweave import reweave
from scrubjay.ingest.run import Run, Tally
from scrubjay.ingest.trust import NO_CHOICE, TrustChoice
from scrubjay.memory.records import Source, Versions
from scrubjay.memory.reports import Progress, RemovedSource, SourceStatus, Summary, Trouble
from scrubjay.memory.sources import apart, location
from scrubjay.pauses import Pauses
from scrubjay.store.changes import DropMemory, DropSource, PutVersions
from scrubjay.wiring.desk import Desk
from scrubjay.wiring.learning import learning
from scrubjay.wiring.places import resolved
from scrubjay.wiring.telling import synced
from scrubjay.wiring.weaving import organise_due, weaving

MOST_NAMED: Final = 100
"""Changed files that a summary names."""
Report = Callable[[Progress], None]


def chunks(desk: Desk) -> ChunkSettings:
    """Return how documents are cut."""
    sizes = desk.settings.chunk
    return ChunkSettings(sizes.target, sizes.overlap, sizes.most, desk.settings.redaction.allow)


def sync(
    desk: Desk,
    path: Path | None,
    wish: Source,
    progress: Report | None = None,
    only: Path | None = None,
    project: str | None = None,
    choice: TrustChoice = NO_CHOICE,
) -> Summary:
    """Sync one folder or file, or every registered source; ``only`` one file of a folder.

    A store that other versions of the stages made is rebuilt first: old and new passages never mix.
    """
    started = time.monotonic()
    if project is not None and path is None:
        raise InputError(
            f"Project {project} was named for no folder. Nothing was synced.",
            hint=f"scrubjay sync DIR --project {project}",
        )
    if path is None and choice != NO_CHOICE:
        raise InputError(
            "Trust and sharing are said of one folder, and none was named. Nothing was synced.",
            hint="scrubjay sync DIR --trusted, --untrusted, --share or --no-share",
        )
    if path is not None and choice != NO_CHOICE:
        _whole(desk, path)
    named = None if project is None else _chosen(desk, project)
    chosen = [register(desk.store, desk.scope, path, wish)] if path is not None else _sources(desk)
    _stamp(desk, progress)
    done = run(desk, chosen, started, progress, only=only, project=named, choice=choice)
    synced(desk, done)
    return done


def _whole(desk: Desk, path: Path) -> None:
    """Refuse to say something of a part of a source: it would count for all of it."""
    full = Path(os.path.abspath(path.expanduser()))
    source = holder(_sources(desk), full)
    if source is not None and location(source) != str(full):
        where = location(source)
        raise InputError(
            f"{full} lies in the source {where}, and trust and sharing are said of a whole source. Nothing was "
            "synced.",
            hint=f"say it of {where}; or scrubjay sources remove {where}, sync {full} first and then {where}",
        )


def _chosen(desk: Desk, project: str) -> str:
    """Return what is remembered of a source for which a person says ``auto``, ``none``, or names a project."""
    words = {"auto": AUTO, "none": NONE}
    return words[project] if project in words else resolved(desk, [project])[0]


def resync(desk: Desk, source: Source, only: Path) -> Summary:
    """Take one file of a registered source in as it is now."""
    started = time.monotonic()
    _stamp(desk, None)
    return run(desk, [source], started, None, only=only)


def stamped(desk: Desk) -> Versions:
    """Return the versions of the stages as they are now."""
    return versions(chunks(desk))


def _sources(desk: Desk) -> list[Source]:
    with desk.store.reader(desk.scope) as reader:
        return reader.sources()


def run(
    desk: Desk,
    chosen: Sequence[Source],
    started: float,
    progress: Report | None,
    most: int | None = None,
    only: Path | None = None,
    project: str | None = None,
    inline: int | None = None,
    choice: TrustChoice = NO_CHOICE,
) -> Summary:
    """Sync these sources, one after the other.

    Args:
        desk: Where.
        chosen: The sources.
        started: When the call began, by the monotonic clock.
        progress: Told how far it is.
        most: As of `organise_due`.
        only: As of `pipeline.sync`.
        project: ``chosen`` of `pipeline.assign`.
        inline: ``most`` of `pipeline.sync`.
        choice: As of `pipeline.sync`.
    """
    tally = Tally()
    projects = Projects(desk.store, desk.scope)
    base = desk.lineup.writing()
    weaver = weaving(desk, base)
    learner = learning(desk, base)
    job = Run(
        desk.store,
        desk.scope,
        base,
        chunks(desk),
        tally,
        projects,
        weaver,
        learner,
        progress,
        Pauses(str(data_dir())).silent,
    )
    known = _sources(desk)
    for source in chosen:
        pipeline.assign(job, source, project)
        pipeline.sync(job, source, apart(source, known), only, inline, choice)
    organise_due(desk, base, weaver, most)
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
        forgotten=tally.forgotten,
        linked=weaver.linked,
        learned=learner.learned,
        embedded=0,
        waiting=waiting,
        scrubbed=dict(sorted(tally.scrubbed.items())),
        problems=tuple(tally.problems),
        seconds=time.monotonic() - started,
        changed=tuple(tally.changed[:MOST_NAMED]),
        notices=(*tally.notices, *_unshared(tally)),
    )


def _unshared(tally: Tally) -> Iterator[Trouble]:
    """Say which notes ask to be shown to others, and are not."""
    if tally.unshared:
        path, wish = min(tally.unshared.items())
        count = len(tally.unshared)
        notes = "This note asks" if count == 1 else f"{count:,} notes, this one the first, ask"
        yield Trouble(
            path,
            f"{notes} by front matter to be seen by others (visibility {wish}). Of this source that has no effect: "
            "kept private.",
            "scrubjay sync DIR --share, if front matter in DIR may share notes",
        )


def _stamp(desk: Desk, progress: Report | None) -> None:
    with desk.store.reader(desk.scope) as reader:
        stamped = reader.versions()
    if stamped is None:
        desk.store.write(desk.scope, [PutVersions(versions(chunks(desk)))])
    elif stamped != versions(chunks(desk)):
        _anew(desk, progress)


def _anew(desk: Desk, progress: Report | None) -> None:
    """Make every memory anew, then connect them; until that is done the store is not of this version."""
    now = versions(chunks(desk))
    base = desk.lineup.writing()
    unconnected = replace(now, labeller=f"{now.labeller}, unconnected")
    rebuild(desk.store, desk.scope, base, chunks(desk), progress, unconnected)
    reweave(desk.store, desk.scope, base, weaving(desk, base), progress)
    desk.store.write(desk.scope, [PutVersions(now)])


def remake(desk: Desk, progress: Report | None = None) -> Summary:
    """Rebuild everything from what is stored."""
    started = time.monotonic()
    _anew(desk, progress)
    desk.store.vacuum()
    with desk.store.reader(desk.scope) as reader:
        held = reader.counts()
        waiting = sum(reader.coverage(e.model.fingerprint).waiting for e in desk.lineup.backfilled())
    seconds = time.monotonic() - started
    return Summary(
        held.documents, held.memories, 0, held.memories, 0, 0, 0, 0, 0, 0, waiting, {}, (), seconds
    )


def remove(desk: Desk, gone: SourceStatus) -> RemovedSource:
    """Remove a source, what it brought and the categories that its folders made; of what is left half, topics anew.

    What rests on what it brought alone goes as well.
    """
    with desk.store.reader(desk.scope) as reader:
        known = [one for one in reader.sources() if one.id == gone.id]
        based = orphans(reader, gone.id)
    for one in known:
        unfile(desk.store, desk.scope, one)
    desk.store.write(desk.scope, [DropMemory(tuple(sorted(based))), DropSource(gone.id)])
    base = desk.lineup.writing()
    organise_due(desk, base, weaving(desk, base))
    return RemovedSource(
        gone.id, gone.root, gone.description, gone.documents, gone.passages, gone.synced, gone.present,
        gone.project, gone.trust, gone.share, gone.untrusted, len(based),
    )  # fmt: skip
