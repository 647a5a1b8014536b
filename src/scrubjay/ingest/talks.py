"""Talks: a changed file that may be a transcript -> Ready documents, or None when it is something else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from scrubjay.errors import SourceError
from scrubjay.ingest.converse import Heard, Talk, converse, mark, unknown
from scrubjay.ingest.documents import failed
from scrubjay.ingest.label import Labelled
from scrubjay.ingest.read import versions
from scrubjay.ingest.run import Run
from scrubjay.ingest.sources.files import FileState
from scrubjay.ingest.sources.kinds import DEFAULT_INCLUDE, NO_TRANSCRIPT, TRANSCRIPT_INCLUDE, like_transcript
from scrubjay.ingest.sources.read import opened
from scrubjay.ingest.sources.transcripts.format import HEAD_BYTES, Format
from scrubjay.ingest.sources.transcripts.recognise import recognise
from scrubjay.ingest.write import Ready
from scrubjay.memory.records import Document, Source
from scrubjay.memory.reports import Trouble

AUTOMATIC: Final = (*DEFAULT_INCLUDE, *TRANSCRIPT_INCLUDE)
"""Patterns of a source in which transcripts were found when it was registered (`register`)."""


def form_of(root: str, path: str) -> Format | None:
    """Return which tool wrote a file, None for a file that is no transcript or cannot be read."""
    try:
        return _form(root, path)
    except (OSError, SourceError):
        return None  # whoever reads it whole says why it cannot be read


def _form(root: str, path: str) -> Format | None:
    with opened(Path(root), path) as file:
        return recognise((Path(root) / path).as_posix(), file.read(HEAD_BYTES))


def talks(
    run: Run, source: Source, state: FileState, known: Mapping[str, Document], gone: list[str]
) -> Iterator[Ready] | None:
    """Return the turns of a transcript as documents to be written one after the other; None for another file.

    Args:
        run: The sync.
        source: Where the file lies.
        state: The file.
        known: The source's documents.
        gone: Paths of documents whose file is gone; that of a transcript which is this one is taken out.
    """
    if not like_transcript(state.path):
        return None
    try:
        form = _form(source.root, state.path)
    except (OSError, SourceError) as error:
        trouble = _unread(str(Path(source.root) / state.path), error)
        run.tally.problems.append(trouble)
        # What was said so far stays where it was read to; the log is read on when it can be.
        return iter(() if known.get(state.path) else (failed(run, source, state, None, trouble.message),))
    old = known.get(state.path)
    if form is None and old is not None and old.cursor:
        # Emptied, or another file by now: what was said in it stays remembered, also when it goes altogether.
        touched = replace(old, mtime_ns=state.mtime_ns, size=state.size)
        return iter([Ready(Labelled(touched, (), (), ()), ())])
    if form is None:
        return iter(_passed_over(run, source, state)) if source.include == AUTOMATIC else None
    return _turns(run, source, state, form, _stored(source, state, known, gone))


def _turns(
    run: Run, source: Source, state: FileState, form: Format, old: tuple[Document | None, str | None]
) -> Iterator[Ready]:
    full = str(Path(source.root) / state.path)
    heard = Heard(run.tally.scrubbed, Counter(), [])
    secret = run.store.secret(run.scope)
    talk = Talk(source, run.store, run.scope, run.base, secret, run.chunks, run.projects.of, run.silent)
    try:
        yield from converse(talk, state, form, old, heard)
    except (OSError, SourceError) as error:
        run.tally.problems.append(_unread(full, error))
    run.tally.added += heard.added
    run.tally.forgotten += heard.forgotten
    run.tally.problems += [*heard.problems, *unknown(full, form, heard.left)]


def _unread(path: str, error: OSError | SourceError) -> Trouble:
    if isinstance(error, SourceError):
        return Trouble(path, str(error), error.hint)
    return Trouble(path, f"It cannot be read: {error.strerror}.", "check its rights")


def _stored(
    source: Source, state: FileState, known: Mapping[str, Document], gone: list[str]
) -> tuple[Document | None, str | None]:
    """Return a transcript's document as it is stored, and where it stood if it was moved."""
    if state.path in known:
        return known[state.path], None
    with opened(Path(source.root), state.path) as file:
        for path in gone:
            old = known[path]
            if 0 < old.cursor <= state.size and mark(file, old.cursor) == old.content_hash:
                gone.remove(path)
                return old, path
    return None, None


def _passed_over(run: Run, source: Source, state: FileState) -> list[Ready]:
    stamp = replace(versions(run.chunks), extractor=NO_TRANSCRIPT)
    document = Document(source.id, state.path, NO_TRANSCRIPT, state.mtime_ns, state.size, state.path, stamp)
    return [Ready(Labelled(document, (), (), ()), ())]
