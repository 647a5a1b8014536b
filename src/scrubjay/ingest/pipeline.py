"""Pipeline: the write path in one screen: sources > chunk > extract > label > embed > write."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from scrubjay.errors import QuotaError
from scrubjay.ingest.compare import compare, fitting, look, look_at, new_bytes
from scrubjay.ingest.documents import Before, ready
from scrubjay.ingest.projects import AUTO, Projects
from scrubjay.ingest.run import Run
from scrubjay.ingest.settle import Settler
from scrubjay.ingest.sources.files import FileState
from scrubjay.ingest.talks import talks
from scrubjay.ingest.trust import NO_CHOICE, TrustChoice, judge
from scrubjay.ingest.write import Ready, batches, windows, write
from scrubjay.memory.dates import now_micros
from scrubjay.memory.life import Life
from scrubjay.memory.records import UNFINISHED, Document, Source
from scrubjay.memory.reports import Progress, Trouble
from scrubjay.store.changes import DropDocument, PutLife, PutSource

EVERY: Final = 0.2
"""Seconds between two reports of how far files were read."""


def assign(run: Run, source: Source, chosen: str | None) -> None:
    """Give a source's passages the project they belong to; ids, texts and vectors stay as they are.

    There is something to do after a person chose, and once for what earlier versions stored. A turn of a talk keeps
    the project it was said in, and an addition the one it was given.

    Args:
        run: Where to.
        source: The source.
        chosen: A name, `projects.NONE` or `projects.AUTO`; None leaves what was chosen before.
    """
    projects = run.projects
    before = projects.chosen(source.id)
    now = chosen if chosen is not None else before
    if now == before is not None:
        return
    now = now or AUTO
    former = Projects(run.store, run.scope, learn=False)
    lives: dict[str, Life] = {}
    with run.store.reader(run.scope) as reader:
        for path in reader.documents(source.id):
            folder = str((Path(source.root) / path).parent)
            held = former.formerly(source.root, folder) if before is None else projects.under(before, folder)
            project = projects.under(now, folder)
            if held != project:
                lives |= {
                    record.id: Life(project=project)
                    for record in reader.passages(source.id, path)
                    if record.turn is None and record.project == held
                }
    run.store.write(run.scope, [PutLife(lives), projects.choice(source.id, now)])


def sync(
    run: Run,
    registered: Source,
    source: Source,
    only: Path | None = None,
    most: int | None = None,
    choice: TrustChoice = NO_CHOICE,
) -> None:
    """Bring the store in step with one source's files.

    Args:
        run: Where to, with what.
        registered: The source as it is registered.
        source: The same, leaving out what other sources inside it hold.
        only: The one file of it that is looked at; of the others nothing is learned, so none is judged as gone.
        most: Bytes that are read; changed files beyond are left for another sync, and so are those that could not be
            read as they are. None for all.
        choice: What a person says of it.
    """
    with run.store.reader(run.scope) as reader:
        known = reader.documents(source.id)
    found = look(source) if only is None else look_at(source, only)
    if found.files and not (most is not None and registered.repositories is None):
        judged = judge(run, registered, found.files, known, choice, whole=only is None)
        if judged is not registered:
            registered, source = judged, replace(judged, exclude=source.exclude)
            with run.store.reader(run.scope) as reader:
                known = reader.documents(source.id)
    changed, gone = compare(found, known, again=most is None)
    if most is not None:
        changed, _ = fitting(changed, known, most)
    if only is not None:
        gone = []
    tally = run.tally
    tally.files += len(found.files)
    tally.problems += [Trouble(str(Path(source.root) / p.path), p.message, p.hint) for p in found.problems]
    if found.missing:  # the scan's problem says so, and why
        return
    if known and not found.files and only is None:
        tally.problems.append(
            Trouble(
                source.root,
                f"{source.root} is suddenly empty; its {len(known)} documents stay as they were.",
                f"bring its files back, or `scrubjay sources remove {source.root}`",
            )
        )
        return
    unfinished = registered.synced_at is None and bool(known)  # the last sync was cut short before its end
    if changed or gone or unfinished:
        if registered.synced_at is not None:
            run.store.write(run.scope, [PutSource(replace(registered, synced_at=None))])
        settler = Settler(run, source, known)
        _write_changes(run, source, known, (changed, gone), settler)
        settler.settle(everything=unfinished and only is None)
    synced = now_micros() if only is None else registered.synced_at
    run.store.write(run.scope, [PutSource(replace(registered, synced_at=synced))])


def _write_changes(
    run: Run,
    source: Source,
    known: Mapping[str, Document],
    work: tuple[list[FileState], list[str]],
    settler: Settler,
) -> None:
    changed, gone = work
    # What was said stays remembered when its log is thrown away; a note that is gone is gone.
    logs = [path for path in gone if known[path].cursor]
    notes = set(gone) - set(logs)
    left = {known[path].content_hash: path for path in sorted(notes, reverse=True)}
    movable = set(left.values())
    paths: set[str] = set()
    altered: set[str] = set()
    full: set[str] = set()
    pace = _Pace(run, changed, known)
    for window in windows(pace.read(_ready(run, source, known, changed, (left, logs)))):
        labelled = [document.labelled for document in window]
        run.weaver.learn(
            [memory.record for one in labelled for memory in one.fresh],
            {memory for one in labelled for memory in one.renewed},
        )
        for batch in batches(window):
            _write(run, source, batch, settler, full)
            paths.update(document.labelled.document.path for document in batch)
            pace.wrote(batch, len(paths))
            altered.update(
                one.labelled.document.path for one in batch if one.labelled.fresh or one.labelled.dropped
            )
    pace.ends()
    dropped = sorted(notes - (movable - set(left.values())))
    if dropped:
        with run.store.reader(run.scope) as reader:
            gone_with = [record for path in dropped for record in reader.passages(source.id, path)]
        run.tally.removed += len(gone_with)
        settler.gone(gone_with)
        run.store.write(run.scope, [DropDocument(source.id, path) for path in dropped])
    run.tally.changed += [str(Path(source.root) / path) for path in sorted(altered | set(dropped))]


class _Pace:
    """How far one source is, by bytes: half of a file's bytes count when it is read, the rest when it is stored."""

    def __init__(self, run: Run, changed: Sequence[FileState], known: Mapping[str, Document]) -> None:
        self._tell = run.progress
        self._sizes = {state.path: new_bytes(state, known) for state in changed}
        self._read: dict[str, int] = {}
        self._stored: dict[str, int] = {}
        self._files = 0
        self._started = self._told = time.monotonic()

    def read(self, ready: Iterable[Ready]) -> Iterator[Ready]:
        """Pass documents on, noting how far they were read."""
        for one in ready:
            self._note(self._read, one)
            if time.monotonic() - self._told >= EVERY:
                self._report(self._files)
            yield one

    def wrote(self, batch: Sequence[Ready], files: int) -> None:
        """Note what was stored, and how many files that makes."""
        for one in batch:
            self._note(self._stored, one)
        self._files = files
        self._report(files)

    def ends(self) -> None:
        """Tell that all is done, whatever could not be read."""
        if self._sizes:
            self._read = self._stored = dict(self._sizes)
            self._report(len(self._sizes))

    def _note(self, reached: dict[str, int], one: Ready) -> None:
        document, fresh = one.labelled.document, one.labelled.fresh
        size = self._sizes.get(document.path, 0)
        place = fresh[-1].record.place if fresh else None
        part = document.content_hash == UNFINISHED and place is not None
        reached[document.path] = min(size, place.end) if part and place is not None else size

    def _report(self, files: int) -> None:
        if self._tell is not None:
            self._told = time.monotonic()
            done = (sum(self._read.values()) + sum(self._stored.values())) // 2
            total = sum(self._sizes.values())
            self._tell(Progress("write", files, len(self._sizes), self._told - self._started, done, total))


def _write(run: Run, source: Source, batch: Sequence[Ready], settler: Settler, full: set[str]) -> None:
    """Write a batch; where there is no room for all of it, each document that there is room for.

    What is stored of the others stays, and the next sync tries them again.

    Args:
        run: The sync.
        source: Whose documents they are.
        batch: The documents.
        settler: Told before they are written.
        full: Paths of those that there was no room for; of a transcript nothing more is taken then, so that its turns
            have no gap.
    """
    ready = [one for one in batch if one.labelled.document.path not in full]
    for one in batch:
        if one.labelled.document.path in full:
            _refused(run, one)
    if not ready:
        return
    try:
        settler.note(ready)
        write(run.store, run.scope, ready, run.base, run.chunks.overlap, run.weaver, run.learner)
    except QuotaError as error:
        if len(ready) > 1:
            for one in ready:
                _write(run, source, [one], settler, full)
            return
        path = ready[0].labelled.document.path
        full.add(path)
        _refused(run, ready[0])
        told = f"{error} What is stored of this file stays as it was."
        run.tally.problems.append(Trouble(str(Path(source.root) / path), told, error.hint))


def _refused(run: Run, one: Ready) -> None:
    """Take back what was counted of a document that is not written."""
    fresh = [memory.record.id for memory in one.labelled.fresh]
    with run.store.reader(run.scope) as reader:
        known = len(reader.get(fresh))
    run.tally.added -= len(fresh) - known
    run.tally.updated -= known
    run.tally.removed -= len(one.labelled.dropped)


def _ready(
    run: Run,
    source: Source,
    known: Mapping[str, Document],
    changed: list[FileState],
    gone: tuple[dict[str, str], list[str]],
) -> Iterator[Ready]:
    left, logs = gone
    for state in changed:
        said = talks(run, source, state, known, logs)
        if said is not None:
            yield from said
            continue
        yield from ready(run, source, state, Before(bool(known), known.get(state.path), left))
