"""Exporting: a desk -> a file of all that the caller may see; or a copy of the whole store."""

from __future__ import annotations

import hashlib
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from scrubjay.errors import StoreDamagedError
from scrubjay.ingest.porting.export import export as told
from scrubjay.ingest.porting.layout import Teller, mark, text
from scrubjay.memory.moves import BackedUp, Exported
from scrubjay.memory.reports import Progress
from scrubjay.wiring.desk import Desk
from scrubjay.wiring.placing import placed

Report = Callable[[Progress], None]


def export(
    desk: Desk, path: str | Path | BinaryIO, *, overwrite: bool = False, progress: Report | None = None
) -> Exported:
    """Write what the caller may see, a JSON object a line.

    Raises:
        InputError: Something stands at the path that must not be replaced.
        SourceError: The file cannot be written; none was left behind.
        StoreDamagedError: The store cannot be read to its end, or a text is not what was written. No file was left
            behind; what a stream got has no footer, so that no import takes it for whole.
    """
    if not isinstance(path, str | Path):
        return _write(desk, path, "", progress)
    with placed(desk, path, overwrite=overwrite) as (place, beside):
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as stream:
            done = _write(desk, stream, str(place), progress)
            stream.flush()
            os.fsync(handle)
    return done


def _write(desk: Desk, stream: BinaryIO, name: str, progress: Report | None) -> Exported:
    started = time.monotonic()
    teller = Teller(desk.scope)
    counts: Counter[str] = Counter()
    digest, size = hashlib.sha256(), 0
    last = "its beginning"
    try:
        secret = desk.store.secret(desk.scope)  # not within a reader: of a new store it is made now
        with desk.store.reader(desk.scope) as reader:
            total = reader.counts().memories if progress is not None else 0
            for line, raw in _lines(told(reader, teller, mark(secret, desk.scope), desk.scope.groups)):
                digest.update(raw)
                size += stream.write(raw)
                counts[line["line"]] += 1
                last = f"{line['line']} {line.get('id') or line.get('path') or ''}".strip()
                if progress is not None and line["line"] == "memory" and counts["memory"] % 100 == 0:
                    progress(Progress("export", counts["memory"], total, time.monotonic() - started))
    except StoreDamagedError as error:
        raise _damaged(desk, error, last, counts.total() if not name else None) from error
    lines = counts.total() + 1
    del counts["header"]
    footer = {"line": "footer", "lines": lines, "counts": dict(counts), "sha256": digest.hexdigest()}
    size += stream.write(text(footer))
    return Exported(name, dict(counts), lines, size, time.monotonic() - started)


def _lines(lines: Iterator[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Yield each line with its bytes.

    Raises:
        StoreDamagedError: What is stored is nothing that was ever written.
    """
    while True:
        try:
            line = next(lines, None)
            raw = b"" if line is None else text(line)
        except (ValueError, LookupError, TypeError, ArithmeticError) as error:
            raise StoreDamagedError(
                f"What is stored cannot be read ({type(error).__name__}: {error})."
            ) from error
        if line is None:
            return
        yield line, raw


def _damaged(desk: Desk, error: StoreDamagedError, last: str, written: int | None) -> StoreDamagedError:
    """Return what is damaged, what was written, and the way out.

    Args:
        desk: Whose store.
        error: What was found.
        last: What was read last.
        written: Lines that went into a stream; None for a file.
    """
    what = str(error).partition(" Nothing was written")[0]
    done = "No export was written" if written is None else f"{written:,} lines were written, and no footer"
    return StoreDamagedError(
        f"{desk.store.url} is damaged, found after {last}: {what} {done}; the store is as it was.",
        hint="put a backup back (`scrubjay backup`); or `scrubjay forget` the memory that is named, sync its file "
        "again, and export again. `scrubjay doctor` looks the store through",
    )


def backup(desk: Desk, path: str | Path, *, overwrite: bool = False) -> BackedUp:
    """Copy the whole store to a file, while others write.

    Raises:
        InputError: The store is no file, or something stands at the path that must not be replaced.
        StoreError: The store cannot be read, or the copy did not pass its check.
        SourceError: The file cannot be written; none was left behind.
    """
    started = time.monotonic()
    with placed(desk, path, overwrite=overwrite) as (place, beside):
        desk.store.backup(beside)
    return BackedUp(str(place), place.stat().st_size, time.monotonic() - started)
