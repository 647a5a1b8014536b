"""Beside: (root, folder) -> the names in it, for a talk that lies in several files.

As `sources.read` it never leaves the source: a folder that lies elsewhere, by a link or by dots, is as empty.
"""

from __future__ import annotations

import os
from pathlib import Path

from scrubjay.ingest.sources.read import within


def names(root: Path, folder: str) -> tuple[str, ...]:
    """Return the names in a folder of a source, sorted; none where it is not there or cannot be listed.

    Args:
        root: The source's folder.
        folder: POSIX path relative to it; "" is the root.
    """
    top = os.path.realpath(root)
    real = os.path.realpath(os.path.join(top, *folder.split("/")))
    if not within(real, top):
        return ()
    try:
        return tuple(sorted(os.listdir(real)))
    except OSError:
        return ()
