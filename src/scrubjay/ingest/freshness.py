"""Freshness: which files and histories changed since they were read, before a search answers.

Few and small changes are read at once, others reported; memories whose file changed since are known as outdated. A
search imports this module before it answers, so it must not load the write path.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrubjay.errors import SourceError
from scrubjay.frozen import frozen
from scrubjay.ingest.files import decode_text, read_bytes
from scrubjay.ingest.scanner import FileState, compare_with_stored, list_files, mtime_and_size, unread_bytes
from scrubjay.models.records import Document, Record, Source, note_documents
from scrubjay.models.results import Notice
from scrubjay.models.sources import repository_of, source_location
from scrubjay.storage.interface import Reader
from scrubjay.text.markdown import normalize_newlines

if TYPE_CHECKING:
    from scrubjay.ingest.scan_cache import ScanCache

MAX_INLINE_FILES: Final = 16
"""Changed files, or commits, that a search ingests itself; more are left to `sync`."""
MAX_INLINE_BYTES: Final = 1_000_000
"""Bytes of changed files that a search ingests itself: seconds of work."""
GONE_BYTES: Final = 4_000
"""Bytes of text whose ingest takes as long as to drop a document: 5 ms; to rename one takes half of it."""


@frozen
class Freshness:
    """Result of a freshness check: ids of sources to sync before answering, and notices of what the answer lacks."""

    changed: tuple[str, ...]
    partial: tuple[str, ...]


def _notice(source: Source, paths: Sequence[str], reason: str) -> Notice:
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return Notice(f"{Path(source.root) / paths[0]}{more} changed and {reason}: run `scrubjay sync`.")


def check_freshness(
    reader: Reader, sources: Sequence[Source], seconds: float, cache: ScanCache | None = None
) -> Freshness:
    """Compare each source's files with the store, for at most ``seconds``; ``cache`` keeps scans.

    A missing root is not reported: `status` shows it, and its memories still answer.
    """
    started = time.monotonic()
    changed: list[str] = []
    partial: list[str] = []
    room = MAX_INLINE_BYTES
    for source in sources:
        if repository_of(source) is not None:
            if head_changed(source):
                changed.append(source.id)
            continue
        if cache is not None and cache.is_unchanged(source, reader.state):
            continue
        scan = (cache.list_files if cache is not None else list_files)(source, started + seconds)
        if not scan.complete:
            partial.append(
                f"{source.root} was not compared with the store: that takes longer than {seconds * 1000:g} ms."
            )
            continue
        known = reader.documents(source.id)
        stale, gone = ([], []) if scan.missing else compare_with_stored(scan, known)
        gone = [path for path in gone if not known[path].cursor]  # turns stay when their log is gone
        stale = [file for file in stale if has_enough_new_lines(source, known.get(file.path))]
        if not (stale or gone):
            if cache is not None:
                cache.mark_unchanged(source, scan, reader.state)
            continue
        stale, gone, waiting = exclude_hidden(reader, source, stale, gone, known)
        fitting, dropped, left, room = select_inline(stale, gone, known, room)
        count = len(left) + len(gone) - len(dropped)
        if waiting:
            partial.append(_notice(source, waiting, "is shared with a group you are not in"))
        if count > MAX_INLINE_FILES:
            partial.append(
                Notice(
                    f"{source.root} has {count} files that changed or were being written when they were read: "
                    "run `scrubjay sync`."
                )
            )
        elif left:
            left.sort(key=lambda state: unread_bytes(state, known), reverse=True)
            partial.append(_notice(source, [state.path for state in left], "is larger than a search reads"))
        if fitting or dropped:
            changed.append(source.id)
    return Freshness(tuple(changed), tuple(partial))


def has_enough_new_lines(source: Source, document: Document | None) -> bool:
    """Return whether more of a changed file can be read: the next turn of a log may not be complete."""
    if document is None or not document.cursor:
        return True
    from scrubjay.ingest.transcripts.base import is_log_due

    try:
        with (Path(source.root) / document.path).open("rb") as file:
            return is_log_due(file, document.cursor)
    except OSError:
        return True  # the sync reports why it cannot be read


def select_inline(
    changed: Sequence[FileState], gone: Sequence[str], known: Mapping[str, Document], room: int
) -> tuple[list[FileState], list[str], list[FileState], int]:
    """Return the changed files to read before an answer, the documents to drop, the files left, and the room left.

    ``room`` is in bytes. A note that is gone takes `GONE_BYTES`, and a new file of its time and size nothing more: it
    was renamed. While another new file is left, no other note is dropped, since it may be the same one.
    """
    stamps = {(known[path].mtime_ns, known[path].size) for path in gone if not known[path].cursor}
    selected = [one for one in changed if one.path not in known and (one.mtime_ns, one.size) in stamps]
    renamed = set(selected)
    edited = [state for state in changed if state not in renamed]
    removal_bytes = GONE_BYTES * sum(not known[path].cursor for path in gone)
    if removal_bytes > room:
        stamps, selected = set(), []
        edited = [state for state in edited if state.path in known]
    else:
        room -= removal_bytes
    if len(edited) <= MAX_INLINE_FILES:
        for state in sorted(edited, key=lambda one: unread_bytes(one, known)):
            if unread_bytes(state, known) > room:
                break
            room -= unread_bytes(state, known)
            selected.append(state)
    chosen = set(selected)
    left = [state for state in changed if state not in chosen]
    if any(state.path not in known for state in left):
        stamps &= {(state.mtime_ns, state.size) for state in renamed}
    dropped = [
        path for path in gone if known[path].cursor or (known[path].mtime_ns, known[path].size) in stamps
    ]
    return selected, dropped, left, room


def exclude_hidden(
    reader: Reader,
    source: Source,
    changed: Sequence[FileState],
    gone: Sequence[str],
    known: Mapping[str, Document],
) -> tuple[list[FileState], list[str], list[str]]:
    """Return the changed files, the documents that are gone, and the paths that a search leaves to a sync.

    These have passages of a group that the reader is not in. A new file that may be one of them, renamed, is not
    returned either.
    """
    hidden = set().union(*reader.hidden_groups(source.id).values()) if changed or gone else set()
    left = [path for path in gone if path in hidden]
    stamps = {(known[path].mtime_ns, known[path].size) for path in left}
    readable = []
    for one in changed:
        old = known.get(one.path)
        if one.path not in hidden and (old is not None or (one.mtime_ns, one.size) not in stamps):
            readable.append(one)
        elif old is not None and (old.mtime_ns or old.size != one.size):
            left.append(one.path)  # unless it was read just after it was written: no time is stored then
    return readable, [path for path in gone if path not in hidden], sorted(left)


MAX_PATH_BYTES: Final = 65_536


def head_log(source: Source) -> str:
    """Return the log of HEAD of a history's repository or worktree; each commit and checkout adds a line to it."""
    git_dir = source_location(source)
    try:
        with open(git_dir, "rb") as file:  # a worktree or submodule names its directory
            named = file.read(MAX_PATH_BYTES).decode("utf-8", "replace").removeprefix("gitdir:").strip()
        git_dir = os.path.join(os.path.dirname(git_dir), named)
    except OSError:
        pass  # a directory
    log = os.path.join(git_dir, "logs", "HEAD")
    return log if os.path.exists(log) else os.path.join(git_dir, "HEAD")


def log_stamp(log: str) -> str:
    """Return time and size of a log of git, which change whenever its head moves; empty where it is missing."""
    try:
        info = os.stat(log)
    except OSError:
        return ""
    return f"{info.st_mtime_ns}:{info.st_size}"


def head_changed(source: Source) -> bool:
    """Return whether something was committed or checked out since a history was read, without running git."""
    stamp = log_stamp(head_log(source))
    return bool(stamp) and not any(head.endswith(f" {stamp}") for _, _, head in source.repositories or ())


FILE_CHANGED: Final = "changed"
FILE_GONE: Final = "gone"


def outdated_memories(
    reader: Reader, records: Iterable[Record], *, missing_roots: bool = False
) -> dict[str, str]:
    """Return the memories whose file is gone, or no longer contains their text, with `FILE_GONE` or `FILE_CHANGED`.

    Only the files of these memories are looked at. As in a sync, a root that is empty, or missing unless
    ``missing_roots``, says nothing about its files, and turns stay when their log is gone.
    """
    sources = {source.id: source for source in reader.sources() if repository_of(source) is None}
    by_file: dict[str, dict[str, list[Record]]] = {}
    for record in records:
        if record.place is not None and record.place.source in sources:
            by_file.setdefault(record.place.source, {}).setdefault(record.place.path, []).append(record)
    outdated: dict[str, str] = {}
    for source, memories in by_file.items():
        root = sources[source].root
        notes = [one for one in reader.documents(source, sorted(memories)).values() if not one.cursor]
        if notes and (_has_entries(root) or (missing_roots and not os.path.exists(root))):
            for note in notes:
                outdated |= _outdated_passages(root, note, memories[note.path])
    return outdated


def outdated_shared(reader: Reader, records: Iterable[Record]) -> set[str]:
    """Return the passages of others' files that changed since they were read, and may no longer be shared.

    Search, thread and context leave these out; reads by id, path or date do not compare. Only the files of
    these passages are looked at. A root that is missing or empty says nothing about them: it may be on another machine.
    """
    own = {source.id for source in reader.sources()}
    shared = {one.id: one for one in records if one.place is not None and one.place.source not in own}
    files = reader.files_of_others(list(shared)) if shared else {}
    notes = note_documents({memory: document for memory, (_, document) in files.items()})
    outdated: set[str] = set()
    for memory, note in notes.items():
        root, _ = files[memory]
        if _has_entries(root):
            outdated |= _outdated_passages(root, note, [shared[memory]], strict=True).keys()
    return outdated


MAX_COMPARED_BYTES: Final = 1_000_000
"""Size up to which a changed file is read to see whether a memory's text is still in it."""


def _outdated_passages(
    root: str, note: Document, passages: Sequence[Record], *, strict: bool = False
) -> dict[str, str]:
    """Return outdated passages; with ``strict`` all passages of a file that changed since it was read."""
    place = os.path.join(root, note.path)
    try:
        mtime_ns, size = mtime_and_size(place, os.stat(place))
    except (FileNotFoundError, NotADirectoryError):
        return dict.fromkeys((one.id for one in passages), FILE_GONE)
    except OSError:
        return {}  # the sync reports why it cannot be read
    # No time is stored of a file that was read just after it was written.
    if note.mtime_ns in (mtime_ns, 0) and note.size == size:
        return {}
    text = ""
    if size <= MAX_COMPARED_BYTES:
        try:
            data = read_bytes(Path(root), note.path)
            if data.content_hash == note.content_hash:
                return {}
            if not strict:
                text = normalize_newlines(decode_text(data.data, note.path))
        except (OSError, SourceError):
            pass  # it is no text, or is being written: no passage is known to be in it
    return {one.id: FILE_CHANGED for one in passages if strict or one.content not in text}


def _has_entries(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(True for _ in entries)
    except OSError:
        return False
