"""Place: str -> Place. What the disk says of the project that a directory belongs to."""

from __future__ import annotations

import configparser
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CHILDREN: Final = 8
"""Entries of a plain folder by which it is known again after a rename: enough that a few may come and go."""
MOST_CONFIG: Final = 1_000_000
"""Bytes of a git configuration that are read; real ones have a few hundred."""

_URL = re.compile(
    r"^(?:[a-z][a-z0-9+.-]*://)(?:[^@/]*@)?(?P<host>\[[^\]]*\]|[^/:]+)(?::\d+)?/(?P<path>.+)$", re.I
)
_SCP = re.compile(r"^(?:[^@/:]+@)?(?P<host>[^/:\\]{2,}):(?!//)(?P<path>[^\\]+)$")


@dataclass(frozen=True, slots=True)
class Place:
    """A directory's project as the disk tells it.

    Attributes:
        folder: Name of the project's own folder; empty where there is no project.
        path: Absolute path of the project: the main worktree, or the plain folder.
        remote: ``host/owner/name`` of its repository, in lower case, or None.
        marks: What it is known by again after a rename: each a tuple of texts that no other place has.
        repository: Whether it is a git repository.
    """

    folder: str
    path: str
    remote: str | None = None
    marks: tuple[tuple[str, ...], ...] = ()
    repository: bool = False


NOWHERE: Final = Place("", "")
"""The home directory and the root of the disk hold projects and are none."""


def place(directory: str, *, home: str | None = None) -> Place:
    """Return the project that a directory belongs to, from the disk alone; no git program is run.

    The nearest repository above it is its project; a linked worktree belongs to its main repository, a
    submodule is one of its own. Without a repository the directory itself is the project. A directory that is
    no more is judged by the nearest one above it that still is, if that is in a repository.

    Args:
        directory: Path; it need not exist.
        home: Home directory; None takes the caller's own.
    """
    real = os.path.realpath(os.path.expanduser(directory))
    own = os.path.realpath(home if home is not None else os.path.expanduser("~"))
    found = _nearest(real, own)
    if found is not None:
        return _repository(*found)
    if real in (own, os.path.dirname(real)):
        return NOWHERE
    return Place(os.path.basename(real), real, None, tuple(_children(real)))


def shared_directory(folder: str) -> str | None:
    """Return the ``.git`` directory that all worktrees of a repository share; None for a folder that is none's root."""
    return _common(folder)


def in_repository(directory: str) -> bool:
    """Return whether a directory lies in a repository that is a project; cheaper than `place`."""
    return _nearest(os.path.realpath(directory), os.path.realpath(os.path.expanduser("~"))) is not None


def _nearest(real: str, home: str) -> tuple[str, str] | None:
    """Return the nearest folder above that is a repository's, and the directory its worktrees share."""
    for above in (real, *map(str, Path(real).parents)):
        if above in (home, os.path.dirname(above)):
            break
        common = _common(above)
        if common is not None:
            return above, common
    return None


def remote_name(url: str) -> str | None:
    """Return ``host/owner/name`` of a repository's URL: one name however it is spelled.

    >>> remote_name("git@GitHub.com:Ann/Notes.git"), remote_name("https://ann:token@github.com/ann/notes/")
    ('github.com/ann/notes', 'github.com/ann/notes')
    >>> remote_name("ssh://git@example.org:2222/team/notes.git")
    'example.org/team/notes'
    >>> remote_name("/srv/git/notes.git"), remote_name("file:///srv/git/notes.git")
    (None, None)
    """
    text = url.strip()
    found = None if text.lower().startswith("file:") else (_URL.match(text) or _SCP.match(text))
    if found is None:
        return None
    path = found["path"].split("?")[0].split("#")[0].strip("/")
    path = path[: -len(".git")] if path.lower().endswith(".git") else path
    parts = [part for part in path.split("/") if part not in ("", ".", "..", "~")]
    return "/".join((found["host"], *parts)).casefold() if parts else None


def _common(folder: str) -> str | None:
    """Return the directory that all worktrees of a folder's repository share, None where it is no repository."""
    mark = os.path.join(folder, ".git")
    try:
        kind = os.lstat(mark).st_mode
        if stat.S_ISDIR(kind):
            return mark if os.path.exists(os.path.join(mark, "HEAD")) else None
        if not stat.S_ISREG(kind):
            return None
        text = _text(mark)
        if not text.startswith("gitdir:"):
            return None
        own = os.path.join(folder, text.removeprefix("gitdir:").strip())
        shared = os.path.join(own, "commondir")
        if os.path.exists(shared):
            own = os.path.join(own, _text(shared).strip())
        return os.path.realpath(own) if os.path.isdir(own) else None
    except (OSError, ValueError):
        return None  # what cannot be read cannot tell of a project; the folder above may


def _text(path: str) -> str:
    with open(path, "rb") as file:
        return file.read(MOST_CONFIG).decode("utf-8", "replace")


def _repository(folder: str, common: str) -> Place:
    base = os.path.basename(common)
    main = os.path.dirname(common) if base == ".git" else folder
    if base.endswith(".git") and base != ".git":  # a bare repository with worktrees beside it
        main = common
    url = _remote(common)
    remote = remote_name(url) if url else None
    marks = [("git", *_identity(os.path.join(common, "description"), common))]
    if url and remote is None:  # a repository on this disk: its clones are one project
        marks.append(("origin", os.path.realpath(os.path.join(main, url.removeprefix("file://")))))
    name = os.path.basename(main)
    return Place(name.removesuffix(".git"), main, remote, tuple(marks), repository=True)


def _identity(path: str, otherwise: str) -> tuple[str, ...]:
    """Return what tells a repository apart wherever its folder moves: a file that git makes once and leaves."""
    for candidate in (path, otherwise):
        try:
            found = os.stat(candidate)
        except OSError:
            continue
        age = str(found.st_mtime_ns) if candidate == path else ""
        return str(found.st_dev), str(found.st_ino), age
    return ("", "", otherwise)


def _remote(common: str) -> str | None:
    """Return the URL of ``origin``, else of the first remote that the configuration names."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, delimiters=("=",))
    try:
        # git indents its keys, which configparser would take for the line before going on
        lines = [line.strip() for line in _text(os.path.join(common, "config")).splitlines()]
        parser.read_string("\n".join(lines))
    except (OSError, configparser.Error):
        return None
    remotes = {
        name: parser.get(name, "url", fallback=None)
        for name in parser.sections()
        if name.startswith("remote ")
    }
    named = {name: url.strip('"') for name, url in remotes.items() if url}
    return named.get('remote "origin"') or next(iter(named.values()), None)


def _children(folder: str) -> Iterator[tuple[str, ...]]:
    """Yield what a plain folder's first entries are known by: none has both name and inode of another's."""
    try:
        with os.scandir(folder) as entries:
            first = sorted(entries, key=lambda entry: entry.name)[:CHILDREN]
        for entry in first:
            found = entry.stat(follow_symlinks=False)
            yield "child", str(found.st_dev), str(found.st_ino), entry.name
    except OSError:
        return  # it is gone, or not ours to read: its path alone tells it
