"""Placing: a file is written beside its place, and put there whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from scrubjay import durable_files
from scrubjay.errors import InputError, SourceError
from scrubjay.store.open import file_of
from scrubjay.wiring.desk import Desk

BESIDE: Final = ("", "-wal", "-shm", "-vectors", ".lock", ".lock-next")
"""Endings of a store's own files."""


@contextmanager
def placed(desk: Desk, path: str | Path, *, overwrite: bool) -> Iterator[tuple[Path, Path]]:
    """Hand out a name for a new file beside a place; at the end of the block it stands there, else nothing does.

    Args:
        desk: Whose store must not be written over.
        path: The place.
        overwrite: Whether a file that stands there may be replaced.

    Yields:
        The place, and the name of the file to write (mode 0600).

    Raises:
        InputError: Something stands there that must not be replaced.
        SourceError: The folder cannot be written to.
    """
    place = Path(os.path.abspath(Path(path).expanduser()))
    _free(desk, place, overwrite)
    beside = place.with_name(f".{place.name}.{secrets.token_hex(4)}.part")
    try:
        yield place, beside
        _free(desk, place, overwrite)
        durable_files.put(beside, place)
    except OSError as error:
        raise SourceError(
            f"{place} cannot be written: {error.strerror or error}. No file was left behind.",
            hint="name a folder that is there, yours, and not full",
        ) from error
    finally:
        for end in ("", "-journal", "-wal", "-shm"):
            beside.with_name(beside.name + end).unlink(missing_ok=True)


def _free(desk: Desk, place: Path, overwrite: bool) -> None:
    """Refuse a place that is the store's own, a folder or a link, or holds a file that is to stay."""
    file = file_of(desk.store.url)
    own = None if file is None else Path(os.path.abspath(file))
    if own is not None and place in [own.with_name(own.name + end) for end in BESIDE]:
        raise InputError(f"{place} belongs to the store itself. Nothing was written.")
    if os.path.lexists(place) and (place.is_symlink() or not place.is_file()):
        raise InputError(f"{place} is a folder or a link, no file. Nothing was written.")
    if place.exists() and own is not None and own.exists() and place.samefile(own):
        raise InputError(f"{place} is the store itself. Nothing was written.")
    if place.exists() and not overwrite:
        raise InputError(
            f"{place} is there already. Nothing was written.",
            hint="name another file, or say --overwrite",
        )
