"""Export service: export what a principal sees, back up a store, copy a store to another URL."""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final

from scrubjay import atomic_files
from scrubjay.errors import InputError, NotFoundError, SourceError, StoreDamagedError
from scrubjay.models.reports import BackupReport, CopyReport, ExportReport, Progress, ProgressCallback
from scrubjay.services.workspace import Workspace
from scrubjay.storage.interface import Store
from scrubjay.storage.urls import open_store, store_file
from scrubjay.transfer.archive import LineWriter, export_lines, exported_names, line_text, principal_mark

STORE_SUFFIXES: Final = ("", "-wal", "-shm", "-vectors", ".lock", ".lock-next")
"""Suffixes of a store's own files."""
SQLITE_HEADER: Final = b"SQLite format 3\0"


@contextmanager
def atomic_destination(
    workspace: Workspace, path: str | Path, *, overwrite: bool
) -> Iterator[tuple[Path, Path]]:
    """Yield a destination and a temporary file beside it, which replaces the destination when the block ends."""
    place = Path(os.path.abspath(Path(path).expanduser()))
    _require_writable(workspace, place, overwrite)
    temporary = place.with_name(f".{place.name}.{secrets.token_hex(4)}.part")
    try:
        yield place, temporary
        _require_writable(workspace, place, overwrite)
        atomic_files.replace_file(temporary, place)
    except OSError as error:
        raise SourceError(
            f"{place} cannot be written: {error.strerror or error}. No file was left behind.",
            hint="name a folder that is there, yours, and not full",
        ) from error
    finally:
        for suffix in ("", "-journal", "-wal", "-shm"):
            temporary.with_name(temporary.name + suffix).unlink(missing_ok=True)


def _require_writable(workspace: Workspace, place: Path, overwrite: bool) -> None:
    file = store_file(workspace.store.url)
    own = None if file is None else Path(os.path.abspath(file))
    if own is not None and place in [own.with_name(own.name + end) for end in STORE_SUFFIXES]:
        raise InputError(f"{place} belongs to the store itself. Nothing was written.")
    if os.path.lexists(place) and (place.is_symlink() or not place.is_file()):
        raise InputError(f"{place} is a folder or a link, no file. Nothing was written.")
    if place.exists() and own is not None and own.exists() and place.samefile(own):
        raise InputError(f"{place} is the store itself. Nothing was written.")
    if place.exists() and not overwrite:
        raise InputError(
            f"{place} already exists. Nothing was written.",
            hint="name another file, or pass --overwrite (in Python overwrite=True)",
        )


EXPORT_FORMATS: Final = ("jsonl", "markdown")


def export_memories(
    workspace: Workspace,
    path: str | Path | BinaryIO,
    *,
    format: str = "jsonl",
    overwrite: bool = False,
    progress: ProgressCallback | None = None,
) -> ExportReport:
    if format not in EXPORT_FORMATS:
        raise InputError(f"Format {format!r} is not one of {', '.join(EXPORT_FORMATS)}. Nothing was written.")
    if format == "markdown":
        return _export_markdown(workspace, path)
    if not isinstance(path, str | Path):
        return _write_export(workspace, path, "", progress)
    with atomic_destination(workspace, path, overwrite=overwrite) as (place, temporary):
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | atomic_files.BINARY, 0o600)
        with os.fdopen(handle, "wb") as stream:
            done = _write_export(workspace, stream, str(place), progress)
            stream.flush()
            os.fsync(handle)
    return done


def _export_markdown(workspace: Workspace, path: str | Path | BinaryIO) -> ExportReport:
    from scrubjay.services.learned_notes import export_notes

    if not isinstance(path, str | Path):
        raise InputError("Markdown is written into a folder, not to a stream. Nothing was written.")
    done = export_notes(workspace, path)
    counts = {"memory": done.memories, "written": done.written, "removed": done.removed}
    return ExportReport(done.path, counts, 0, 0, done.seconds, done.problems)


def _write_export(
    workspace: Workspace, stream: BinaryIO, name: str, progress: ProgressCallback | None
) -> ExportReport:
    started = time.monotonic()
    writer = LineWriter(workspace.scope)
    counts: Counter[str] = Counter()
    digest, size = hashlib.sha256(), 0
    last = "its beginning"
    try:
        secret = workspace.store.secret(workspace.scope)  # outside the reader: a new store creates it
        with workspace.reader() as reader:
            total = reader.counts().memories if progress is not None else 0
            mark = principal_mark(secret, workspace.scope)
            forgotten = exported_names(reader, secret, workspace.scope, mark)
            exported = export_lines(reader, writer, mark, workspace.scope.groups, forgotten)
            for line, raw in _encoded_lines(exported):
                digest.update(raw)
                size += stream.write(raw)
                counts[line["line"]] += 1
                last = f"{line['line']} {line.get('id') or line.get('path') or ''}".strip()
                if progress is not None and line["line"] == "memory" and counts["memory"] % 100 == 0:
                    progress(Progress("export", counts["memory"], total, time.monotonic() - started))
    except StoreDamagedError as error:
        raise _damage_error(workspace, error, last, counts.total() if not name else None) from error
    lines = counts.total() + 1
    del counts["header"]
    footer = {"line": "footer", "lines": lines, "counts": dict(counts), "sha256": digest.hexdigest()}
    size += stream.write(line_text(footer))
    return ExportReport(name, dict(counts), lines, size, time.monotonic() - started)


def _encoded_lines(lines: Iterator[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], bytes]]:
    while True:
        try:
            line = next(lines, None)
            raw = b"" if line is None else line_text(line)
        except (ValueError, LookupError, TypeError, ArithmeticError) as error:
            raise StoreDamagedError(
                f"What is stored cannot be read ({type(error).__name__}: {error})."
            ) from error
        if line is None:
            return
        yield line, raw


def _damage_error(
    workspace: Workspace, error: StoreDamagedError, last: str, written: int | None
) -> StoreDamagedError:
    cause = str(error).partition(" Nothing was written")[0]
    done = "No export was written" if written is None else f"{written:,} lines were written, and no footer"
    return StoreDamagedError(
        f"{workspace.store.url} is damaged, found after {last}: {cause} {done}; the store is as it was.",
        hint="put a backup back (`scrubjay backup`); or `scrubjay forget` the memory that is named, sync its file "
        "again, and export again. `scrubjay doctor` looks the store through",
    )


def back_up_store(workspace: Workspace, path: str | Path, *, overwrite: bool = False) -> BackupReport:
    started = time.monotonic()
    with atomic_destination(workspace, path, overwrite=overwrite) as (place, temporary):
        _require_database(workspace, place)
        workspace.store.backup(temporary)
    return BackupReport(str(place), place.stat().st_size, time.monotonic() - started)


def _require_database(workspace: Workspace, place: Path) -> None:
    """Refuse to replace a file that is no database, unless the store is encrypted, and so its backups.

    The store's own file is not opened: closing it would drop the locks of this process on it.
    """
    if not place.exists() or "?key_file=" in workspace.store.url:
        return
    with place.open("rb") as opened:
        header = opened.read(len(SQLITE_HEADER))
    if header not in (b"", SQLITE_HEADER):
        raise InputError(
            f"{place} is no SQLite database, so no earlier backup. Nothing was written.",
            hint="name another file",
        )


NOTHING_COPIED: Final = "Nothing was copied."


def copy_tenants(
    source: Store,
    to: str,
    tenants: Sequence[str] | None,
    progress: ProgressCallback | None = None,
) -> tuple[CopyReport, ...]:
    from scrubjay.transfer.copy import copy_tenant

    _require_other_store(source.url, to)
    wanted = source.tenants() if tenants is None else list(tenants)
    if not wanted:
        raise NotFoundError(f"{source.url} holds no tenant. {NOTHING_COPIED}")
    open_target = partial(open_store, to, quota=source.quota)
    return tuple(copy_tenant(source, open_target, tenant, progress) for tenant in wanted)


def require_store_file(url: str) -> None:
    """Refuse a store file that does not exist, since opening it would create an empty store."""
    file = store_file(url)
    if file is not None and not file.exists():
        raise NotFoundError(f"{file} does not exist. {NOTHING_COPIED}")


def _require_other_store(source: str, to: str) -> None:
    if to.startswith("memory:") or source.startswith("memory:"):
        raise InputError(
            f"memory:// ends with its process; there is nothing to copy from or to. {NOTHING_COPIED}"
        )
    one, other = store_file(source), store_file(to)
    if one is None or other is None:
        same = source == to
    else:
        same = os.path.abspath(one) == os.path.abspath(other) or (
            one.exists() and other.exists() and one.samefile(other)
        )
    if same:
        raise InputError(f"{to} is the store itself. {NOTHING_COPIED}", hint="name another file or database")
