"""Source ids, lookup and location, and authorship of their files."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from scrubjay.errors import InputError, NotFoundError
from scrubjay.models.ids import memory_key
from scrubjay.models.records import FOREIGN, OWN, Source

INSTALL_FOLDERS: Final = frozenset(
    ("node_modules", "bower_components", "jspm_packages", "site-packages", "dist-packages", ".venv", "venv", ".tox",
     ".nox", ".eggs", "__pypackages__", ".cargo", ".rustup", ".gradle", ".m2", ".bundle")
)  # fmt: skip
"""Folders that package managers fill with other people's files."""
VENDOR_FOLDERS: Final = frozenset(
    ("vendor", "vendored", "third_party", "third-party", "thirdparty", "external", "externals", "pods", "carthage")
)  # fmt: skip
"""Folders of a repository that hold copies of others' code; outside of one they may be anything."""
COMMIT_DIGITS: Final = 12
"""Digits by which a commit is cited: two of a million collide once in 500."""
_ESCAPED_CHARACTER = re.compile(r"\\(.)", re.DOTALL)


def source_id(secret: bytes, root: str, key: str) -> str:
    """Return the id of a source from the root and key that first registered it; it stays when the root moves.

    The key is part of it: two people may sync one folder, and neither learns of the other.

    >>> source_id(b"k", "/notes", "user:ann") == source_id(b"k", "/notes", "user:bob")
    False
    """
    return f"src_{memory_key(secret, ('source', root, key)):016x}"


def expand_path(path: str) -> str:
    """Return a path with ``~`` expanded; a ``~name`` of nobody stays as it is, and so does one with a NUL character.

    Raises:
        InputError: It is empty, which would mean the current folder.
    """
    if not path:
        raise InputError("The path is empty. Nothing was done.", hint="name a folder or file")
    return path if "\0" in path else os.path.expanduser(path)


def find_source(sources: Sequence[Source], name: str) -> Source:
    """Return the source named by an id, a unique prefix of one, or a path.

    Raises:
        NotFoundError: No source matches.
    """
    if not name:
        raise NotFoundError("The path is empty. Nothing was done.", hint="`scrubjay sources` lists them")
    absolute = os.path.abspath(expand_path(name))
    matches = [s for s in sources if s.id == name or source_location(s) == absolute]
    matches = matches or [s for s in sources if len(name) > len("src_") and s.id.startswith(name)]
    if len(matches) != 1:
        raise NotFoundError(f"No source {name} is registered.", hint="`scrubjay sources` lists them")
    return matches[0]


def source_location(source: Source) -> str:
    if is_single_file(source):
        return os.path.join(source.root, _ESCAPED_CHARACTER.sub(r"\1", source.include[0][1:]))
    return source.root


def is_single_file(source: Source) -> bool:
    if len(source.include) != 1 or not source.include[0].startswith("/"):
        return False
    return "*" not in _ESCAPED_CHARACTER.sub("", source.include[0])


def repository_of(source: Source) -> str | None:
    """Return the folder of the repository whose history a source is; None for a source of files.

    The history of ``/code/jay`` is the source of the one name ``jay/.git`` in ``/code``.

    >>> repository_of(Source("src_1", "/code", include=("/jay/.git",))), repository_of(Source("src_2", "/code"))
    ('/code/jay', None)
    """
    if len(source.include) != 1 or not source.include[0].endswith("/.git") or not is_single_file(source):
        return None
    return os.path.dirname(source_location(source))


def commit_path(source: Source, commit: str) -> str:
    """Return the path of a commit's document: the repository's name and the first 12 digits.

    >>> commit_path(Source("src_1", "/code", include=("/jay/.git",)), "0123456789abcdef")
    'jay@0123456789ab'
    """
    return f"{os.path.basename(repository_of(source) or '')}@{commit[:COMMIT_DIGITS]}"


def document_folder(source: Source, path: str) -> str:
    """Return the folder of a document's file, or its commit's repository."""
    return repository_of(source) or os.path.dirname(os.path.join(source.root, path))


def escape_pattern(name: str) -> str:
    """Return a file name as a gitignore pattern that matches only it."""
    return "".join("\\" + mark if mark in "*?[]!#\\ " else mark for mark in name)


def exclude_nested_sources(source: Source, others: Sequence[Source]) -> Source:
    """Return a source that excludes the roots of other sources of files inside it."""
    patterns = []
    for other in others:
        place = source_location(other)
        if (
            other.id != source.id
            and repository_of(other) is None
            and place.startswith(source.root.rstrip("/") + "/")
            and not is_single_file(source)
        ):
            patterns.append("/" + escape_pattern(os.path.relpath(place, source.root)))
    return replace(source, exclude=(*source.exclude, *patterns)) if patterns else source


MEMORY_NOTE_SUFFIX: Final = ".memory.md"
"""Suffix of the name of a file that holds a learned memory (`[notes] learned_dir`)."""


def exclude_memory_notes(source: Source, folder: Path | None) -> Source:
    """Return a source that excludes the memories written into a folder in it, which are stored already."""
    if folder is None or is_single_file(source):
        return source
    root, learned = os.path.realpath(source.root), os.path.realpath(folder.expanduser())
    if learned.startswith(root.rstrip(os.sep) + os.sep):
        inside = escape_pattern(os.path.relpath(learned, root).replace(os.sep, "/"))
        pattern = f"/{inside}/**/*{MEMORY_NOTE_SUFFIX}"
    elif root == learned or root.startswith(learned.rstrip(os.sep) + os.sep):
        pattern = f"*{MEMORY_NOTE_SUFFIX}"
    else:
        return source
    return replace(source, exclude=(*source.exclude, pattern))


def authorship(source: Source, path: str) -> str:
    """Return whether a file (path relative to the root) is ``OWN``, ``JOINT`` or ``FOREIGN`` work.

    What a person set for the source wins. Else files below a folder of dependencies are foreign, files in a repository
    follow its commits, and a file outside any repository belongs to the owner.

    >>> clone = Source("src_1", "/code", repositories=((".", OWN, ""), ("jay", FOREIGN, "")))
    >>> authorship(clone, "a.md"), authorship(clone, "jay/README.md"), authorship(clone, "node_modules/x/README.md")
    ('own', 'foreign', 'foreign')
    """
    if source.trust:
        return OWN if source.trust == "trusted" else FOREIGN
    return FOREIGN if dependency_folder(source, path) else containing_repository(source, path)[1]


def containing_repository(source: Source, path: str) -> tuple[str | None, str]:
    """Return the innermost known repository that holds a file and its authorship, or None."""
    known = _repositories(source.root, source.repositories or ())
    current = os.path.join(source.root, path)
    while known:
        parent = os.path.dirname(current)
        if parent in known:
            return parent, known[parent]
        if parent == current:
            break
        current = parent
    return None, OWN


def dependency_folder(source: Source, path: str) -> str | None:
    """Return the outermost folder of dependencies that holds a file, or None."""
    known = _repositories(source.root, source.repositories or ())
    parts = os.path.join(source.root, path).split("/")
    for depth, part in enumerate(parts[:-1]):
        folder = "/".join(parts[: depth + 1])
        name = part.lower()
        vendored = name in VENDOR_FOLDERS and any(folder.startswith(one.rstrip("/") + "/") for one in known)
        if name in INSTALL_FOLDERS or vendored:
            return folder
    return None


@lru_cache(maxsize=64)
def _repositories(root: str, known: tuple[tuple[str, str, str], ...]) -> Mapping[str, str]:
    return {os.path.normpath(os.path.join(root, folder)): work for folder, work, _ in known}
