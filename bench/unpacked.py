"""Unpacked: a ``.tar.gz`` of plain files -> its files below a folder, the same on every Python that is promised."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path


def unpacked(archive: Path, into: Path) -> None:
    """Write an archive's files below a folder; nothing outside of it is touched.

    `TarFile.extractall` takes its ``filter`` from Python 3.11.4 on alone, and without one it writes wherever an
    archive says. The trees hold plain files, so these are written, whatever their mode and owner were.

    Raises:
        ValueError: A member is no file and no folder, or lies outside of the folder. What came before it is written.
    """
    root = into.resolve()
    with tarfile.open(archive) as packed:
        for member in packed:
            target = (root / member.name).resolve()
            if not target.is_relative_to(root) or not (member.isfile() or member.isdir()):
                raise ValueError(
                    f"{archive} holds {member.name!r}, which is no plain file below its own root."
                )
            if member.isdir():
                target.mkdir(parents=True, exist_ok=True)
            elif (content := packed.extractfile(member)) is not None:
                target.parent.mkdir(parents=True, exist_ok=True)
                with content, target.open("wb") as file:
                    shutil.copyfileobj(content, file)
