"""Projects: one name for one project, whatever path leads to it.

A project with a remote is named ``host/owner/name``, so that every clone, worktree and machine agrees. Any
other is named after its folder and a few digits that tell it from folders of the same name. The first name
stays: a renamed folder, a remote that is added or moves, a second clone are known again by what was
remembered (`PutProject`), for the caller's own key alone.

Files of a source belong to the repository they lie in, or to the project that a person named for the source.
Any other file belongs to no project, so that notes answer wherever somebody works.
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrubjay.frozen import frozen
from scrubjay.models.ids import memory_key
from scrubjay.models.records import Scope, Source
from scrubjay.storage.interface import Reader, Store

if TYPE_CHECKING:
    from scrubjay.storage.changes import Change, PutProject


FINGERPRINT_ENTRIES: Final = 8
"""Entries of a plain folder by which it is known again after a rename: enough that a few may come and go."""
MAX_CONFIG_BYTES: Final = 1_000_000
"""Bytes of a git configuration that are read; real ones have a few hundred."""

_URL = re.compile(
    r"^(?:[a-z][a-z0-9+.-]*://)(?:[^@/]*@)?(?P<host>\[[^\]]*\]|[^/:]+)(?::\d+)?/(?P<path>.+)$", re.I
)
_SCP = re.compile(r"^(?:[^@/:]+@)?(?P<host>[^/:\\]{2,}):(?!//)(?P<path>[^\\]+)$")


@frozen
class DirectoryProject:
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


NO_PROJECT: Final = DirectoryProject("", "")
"""The home directory and the root of the disk hold projects and are none."""


def project_of_directory(directory: str, *, home: str | None = None) -> DirectoryProject:
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
    found = _nearest_repository(real, own)
    if found is not None:
        return _repository(*found)
    if real in (own, os.path.dirname(real)):
        return NO_PROJECT
    return DirectoryProject(os.path.basename(real), real, None, tuple(_children(real)))


def shared_git_directory(folder: str) -> str | None:
    """Return the ``.git`` directory that all worktrees of a repository share; None for a folder that is none's root."""
    return _common(folder)


def is_in_repository(directory: str) -> bool:
    """Return whether a directory lies in a repository that is a project; cheaper than `project_of_directory`."""
    return (
        _nearest_repository(os.path.realpath(directory), os.path.realpath(os.path.expanduser("~")))
        is not None
    )


def _nearest_repository(real: str, home: str) -> tuple[str, str] | None:
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
        return file.read(MAX_CONFIG_BYTES).decode("utf-8", "replace")


def _repository(folder: str, common: str) -> DirectoryProject:
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
    return DirectoryProject(name.removesuffix(".git"), main, remote, tuple(marks), repository=True)


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
    import configparser

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
            first = sorted(entries, key=lambda entry: entry.name)[:FINGERPRINT_ENTRIES]
        for entry in first:
            found = entry.stat(follow_symlinks=False)
            yield "child", str(found.st_dev), str(found.st_ino), entry.name
    except OSError:
        return  # it is gone, or not ours to read: its path alone tells it


AUTOMATIC_PROJECT: Final = ""
"""What is remembered of a source whose files belong to their repositories, or to no project."""
EXPLICIT_NO_PROJECT: Final = "-"
"""What is remembered of a source that belongs to no project because a person said so."""
NAME_DIGITS: Final = 6
"""Hex digits behind a folder's name: two folders of one name collide once in 16 million."""
MAX_DIRECTORY: Final = 4_096
"""Characters of a directory that is looked up: Linux's longest path. Logs that others wrote may name any."""
MAX_DEPTH: Final = 64
"""Levels of a directory that is looked up: each one above it is."""


class ProjectResolver:
    """The projects of one scope, each looked up once in the life of this value."""

    def __init__(self, store: Store, scope: Scope, *, learn: bool = True) -> None:
        """Args: where, for whom, and whether what is found is remembered: who only asks writes nothing."""
        self._learn = learn
        self._store = store
        self._scope = scope
        self._secret = store.secret(scope)
        self._names: dict[tuple[str, str | None], str | None] = {}
        self._repositories: dict[str, bool] = {}

    @cached_property
    def _known(self) -> dict[str, str]:
        with self._store.reader(self._scope) as reader:
            return reader.projects()

    def of(self, directory: str, remote: str | None = None) -> str | None:
        """Return the project of a directory, None where there is none (the home directory, the disk's root).

        Args:
            directory: Path; it need not exist (any more), as in the log of another day. One longer than `MAX_DIRECTORY`
                or deeper than `MAX_DEPTH` is none.
            remote: URL of the repository as a log gives it, for a directory that is not on this disk.
        """
        asked = (directory, remote)
        if asked not in self._names:
            self._names[asked] = self._find(directory, remote)
        return self._names[asked]

    def chosen(self, source: str) -> str | None:
        """Return a name, `EXPLICIT_NO_PROJECT` or `AUTOMATIC_PROJECT`; None before the source's first sync."""
        return self._known.get(self._mark(("source", source)))

    def choice(self, source: str, chosen: str) -> PutProject:
        """Return the change that stores a source's project; see `chosen` for its values."""
        from scrubjay.storage.changes import PutProject

        mark = self._mark(("source", source))
        self._known[mark] = chosen
        return PutProject(mark, chosen, self._scope.key())

    def within(self, source: str, directory: str) -> str | None:
        """Return the project of a directory of a source: the one chosen for the source, else its repository's."""
        return self.under(self.chosen(source) or AUTOMATIC_PROJECT, directory)

    def under(self, chosen: str, directory: str) -> str | None:
        """Return the project of a directory of a source for which this was chosen."""
        if chosen:
            return None if chosen == EXPLICIT_NO_PROJECT else chosen
        return self.of(directory) if self._in_repository(directory) else None

    def without_learning(self) -> ProjectResolver:
        """Return a resolver that writes nothing."""
        return ProjectResolver(self._store, self._scope, learn=False)

    def formerly(self, root: str, directory: str) -> str | None:
        """Return the project that earlier versions gave a directory: each source was a project of its own."""
        return self.of(directory if self._in_repository(directory) else root)

    def names(self) -> list[str]:
        """Return the names of the projects that were seen, sorted."""
        return sorted(set(self._known.values()) - {AUTOMATIC_PROJECT, EXPLICIT_NO_PROJECT})

    def named(self, text: str) -> str:
        """Return the project that a person means: a path (``.``, ``~/x``, ``/x``), a name, or the end of one.

        >>> from scrubjay.storage.urls import open_store
        >>> ProjectResolver(open_store("memory://"), Scope("t", "ann")).named("never seen")
        'never seen'
        """
        if text.startswith((".", "~", "/", "\\")) or os.path.isabs(text):
            return self.of(os.path.abspath(os.path.expanduser(text))) or ""
        names = self.names()
        if text in names:
            return text
        ends = [name for name in names if name.endswith("/" + text.casefold())]
        ends = ends or [name for name in names if "/" not in name and name.rpartition("-")[0] == text]
        return ends[0] if len(ends) == 1 else text

    def _in_repository(self, directory: str) -> bool:
        if directory not in self._repositories:
            self._repositories[directory] = is_in_repository(directory)
        return self._repositories[directory]

    def _find(self, directory: str, remote: str | None) -> str | None:
        if not directory or len(directory) > MAX_DIRECTORY or directory.count("/") > MAX_DEPTH:
            name = remote_name(remote or "")
            return name and self._known.get(self._mark(("remote", name)), name)
        found = project_of_directory(directory)
        if not found.folder:
            return None
        here = found.remote or (remote_name(remote) if remote and not os.path.isdir(directory) else None)
        keys = [self._mark(mark) for mark in found.marks]
        by_remote = [self._mark(("remote", here))] if here else []
        by_path = self._mark(("path", found.path))
        name = (
            self._agreed(found, keys)
            or self._first(by_remote)
            or (here if here else None)
            or self._first([by_path] if not found.repository else [])
            or (self._above(found.path) if not found.repository else None)
            or self._local(found)
        )
        self._remember({*keys, *by_remote, by_path}, name)
        return name

    def _agreed(self, found: DirectoryProject, keys: Sequence[str]) -> str | None:
        """Return the name that the marks tell; a plain folder needs half of its entries to agree."""
        held = Counter(self._known[key] for key in keys if key in self._known)
        if not held:
            return None
        name, count = min(held.items(), key=lambda pair: (-pair[1], pair[0]))
        return name if found.repository or 2 * count >= len(keys) else None

    def _first(self, keys: Sequence[str]) -> str | None:
        return next((self._known[key] for key in keys if key in self._known), None)

    def _above(self, path: str) -> str | None:
        """Return the plain folder above that is a project already: a folder inside a project is part of it."""
        return self._first([self._mark(("path", str(above))) for above in Path(path).parents])

    def _local(self, found: DirectoryProject) -> str:
        number = memory_key(self._secret, ("project", found.path))
        return f"{found.folder.casefold()}-{number:016x}"[: len(found.folder.casefold()) + 1 + NAME_DIGITS]

    def _mark(self, parts: tuple[str, ...]) -> str:
        return f"{memory_key(self._secret, ('place', *parts)):016x}"

    def _remember(self, keys: set[str], name: str) -> None:
        new = sorted(key for key in keys if self._known.get(key) != name)
        if new and self._learn:
            own = self._scope.key()
            from scrubjay.storage.changes import PutProject

            self._store.write(self._scope, [PutProject(key, name, own) for key in new])
        self._known.update(dict.fromkeys(new, name))


def project_changes(
    projects: ProjectResolver, reader: Reader, source: Source, documents: Iterable[str], chosen: str | None
) -> list[Change]:
    """Return what gives a source's passages the project they belong to; ids, texts and vectors stay as they are.

    There is something to do after a person chose, and once for what earlier versions stored. A conversation's turn
    keeps the project it was said in, and an addition the one it was given.

    Args:
        projects: The projects of whoever syncs.
        reader: A view of theirs.
        source: The source.
        documents: Paths of its documents.
        chosen: A name, `EXPLICIT_NO_PROJECT` or `AUTOMATIC_PROJECT`; None leaves what was chosen before.
    """
    from scrubjay.models.lifecycle import LifecycleChange
    from scrubjay.storage.changes import PutLifecycle

    before = projects.chosen(source.id)
    now = chosen if chosen is not None else before
    if now == before is not None:
        return []
    now = now or AUTOMATIC_PROJECT
    lives: dict[str, LifecycleChange] = {}
    former = projects.without_learning()
    for path in documents:
        folder = str((Path(source.root) / path).parent)
        old = former.formerly(source.root, folder) if before is None else projects.under(before, folder)
        project = projects.under(now, folder)
        if old != project:
            lives |= {
                record.id: LifecycleChange(project=project)
                for record in reader.passages(source.id, path)
                if record.turn is None and record.project == old
            }
    return [*([PutLifecycle(lives)] if lives else ()), projects.choice(source.id, now)]
