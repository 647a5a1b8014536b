"""Files: are the store and what lies beside it the person's alone, and is there room on the disk?"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from scrubjay.doctor.case import Case
from scrubjay.memory.checks import Check, ok, problem, warning

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700
LEAST_FREE: Final = 100_000_000
"""Bytes below which a sync may fill the disk: a rebuild of 100,000 memories writes about as much."""
LITTLE_FREE: Final = 1_000_000_000


def check(case: Case) -> Iterator[Check]:
    """Yield what is found of rights and room."""
    if sys.platform != "win32":
        yield _rights(case)
    yield _room(case)


def ours(case: Case) -> list[Path]:
    """Return the store's files and scrubjay's own in the data folder, as far as they are there."""
    found = []
    if case.file is not None and case.file.parent.is_dir():
        name = case.file.name
        found += [
            path
            for path in case.file.parent.iterdir()
            if path.name == name or path.name.startswith((f"{name}-", f"{name}.lock"))
        ]
    if case.home.data.is_dir():
        found += [case.home.data, *case.home.data.glob("log*"), *case.home.data.glob("agents/*")]
    return sorted(set(found))


def _rights(case: Case) -> Check:
    open_to = [path for path in ours(case) if _mode(path) & 0o077]
    if not open_to:
        return ok("files", "only you can read the store and what lies beside it")
    if not case.mend:
        names = ", ".join(path.name for path in open_to[:3]) + (", …" if len(open_to) > 3 else "")
        return warning("files", f"others may read {names} in {open_to[0].parent}", "scrubjay doctor --fix")
    failed = [path for path in open_to if not _closed(path)]
    if failed:
        return problem(
            "files", f"the rights of {failed[0]} cannot be changed", f"sudo chown $USER {failed[0]}"
        )
    return ok("files", f"only you can read the {len(open_to)} that others could read before", mended=True)


def _mode(path: Path) -> int:
    try:
        return stat.S_IMODE(path.lstat().st_mode) if not path.is_symlink() else 0
    except OSError:
        return 0


def _closed(path: Path) -> bool:
    try:
        path.chmod(FOLDER_MODE if path.is_dir() else FILE_MODE)
    except OSError:
        return False
    return True


def _room(case: Case) -> Check:
    folder = (case.file or case.home.data).absolute()
    while not folder.is_dir():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    found = f"{free / 1e9:.1f} GB free where {folder} lies"
    if free < LEAST_FREE:
        return problem("disk", found, "free some space: nothing can be taken in when the disk is full")
    if free < LITTLE_FREE:
        return warning("disk", found, "free some space")
    if not os.access(folder, os.W_OK):
        return problem("disk", f"{folder} cannot be written to", f"sudo chown $USER {folder}")
    return ok("disk", found)
