"""Facts: what `status` and `sources` tell."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from scrubjay.consolidate.night import ASKED_NOBODY
from scrubjay.consolidate.undo import still_archived
from scrubjay.memory.dates import moment
from scrubjay.memory.records import FOREIGN, JOINT, OWN, Source
from scrubjay.memory.reports import ArchivedBy, SourceStatus, Status, Trouble
from scrubjay.memory.sources import location, named, whose
from scrubjay.store.base import Reader
from scrubjay.store.room import room
from scrubjay.wiring.desk import Desk

if TYPE_CHECKING:
    from scrubjay.ingest.projects import Projects


def sources(desk: Desk) -> list[SourceStatus]:
    """Return the registered sources with what they hold."""
    with desk.store.reader(desk.scope) as reader:
        found = reader.sources()
        if not found:
            return []
        projects = _projects(desk)
        return [_source(reader, source, projects) for source in found]


def source(desk: Desk, name: str) -> SourceStatus:
    """Return one source by id or path.

    Raises:
        NotFoundError: There is none.
    """
    with desk.store.reader(desk.scope) as reader:
        found = named(reader.sources(), name)
        return _source(reader, found, _projects(desk))


def _projects(desk: Desk) -> Projects:
    from scrubjay.ingest.projects import Projects

    return Projects(desk.store, desk.scope, learn=False)


def _source(reader: Reader, source: Source, projects: Projects) -> SourceStatus:
    synced = moment(source.synced_at).isoformat(timespec="seconds") if source.synced_at is not None else None
    place = location(source)
    documents = reader.documents(source.id)
    work = _work(source, documents)
    return SourceStatus(
        id=source.id,
        root=place,
        description=source.description,
        documents=len(documents),
        passages=reader.held([source.id]),
        synced=synced,
        present=Path(place).exists(),
        project=projects.within(source.id, source.root),
        trust=source.trust or next((one for one in (FOREIGN, JOINT) if work[one]), OWN),
        share=source.share is not False,
        untrusted=work[FOREIGN] + work[JOINT],
    )


def _work(source: Source, documents: Collection[str]) -> Counter[str]:
    """Return of how many files a source is whose; files of one folder are the same person's."""
    found = Counter[str]()
    for folder, files in Counter(os.path.dirname(path) for path in documents).items():
        found[whose(source, os.path.join(folder, "-"))] += files
    return found


def unread(reader: Reader) -> list[Trouble]:
    """Return the files that are not stored as they are, with the reason and what helps."""
    return [
        Trouble(str(Path(source.root) / path), document.trouble, "`scrubjay sync` tries it again")
        for source in reader.sources()
        for path, document in reader.documents(source.id).items()
        if document.trouble
    ]


def status(desk: Desk) -> Status:
    """Return facts about the store for one scope."""
    with desk.store.reader(desk.scope) as reader:
        counts = reader.counts()
        archived = _archived(reader) if counts.statuses.get("archived") else ()
        troubles = tuple(unread(reader))
    return Status(
        store=desk.store.url,
        bytes=desk.store.size(),
        memories=counts.memories,
        tiers=counts.tiers,
        statuses=counts.statuses,
        documents=counts.documents,
        sources=tuple(sources(desk)),
        models=tuple(desk.lineup.status()),
        quota=room(desk.store, desk.scope),
        warnings=tuple(filter(None, (desk.store.unguarded(), desk.store.slow(desk.scope)))),
        archived=archived,
        unread=troubles,
    )


def _archived(reader: Reader) -> tuple[ArchivedBy, ...]:
    found: dict[str, ArchivedBy] = {}
    for run, events in still_archived(reader):  # one for each visibility key
        before = found[run.id].memories if run.id in found else 0
        undo = f"scrubjay consolidate --undo {run.id}"
        found[run.id] = ArchivedBy(run.id, before + len(events), run.rules in ASKED_NOBODY, undo)
    return tuple(found.values())
