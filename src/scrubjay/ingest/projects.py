"""Projects: one name for each project, whatever path it is reached by.

A project with a remote is named ``host/owner/name``, so that every clone, worktree and machine agrees; any other after
its folder and a few digits. The first name stays: a renamed folder, a new remote or a second clone is recognised by
its stored fingerprints (`PutProject`). Files of a source belong to their repository, or to the project chosen for the
source; other files belong to none, so that notes answer everywhere.
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
from scrubjay.models.sources import document_folder
from scrubjay.storage.interface import Reader, Store

if TYPE_CHECKING:
    from scrubjay.storage.changes import Change, PutProject


FINGERPRINT_ENTRIES: Final = 8
"""Entries by which a plain folder is recognised after a rename, though a few may change."""
MAX_CONFIG_BYTES: Final = 1_000_000

_URL = re.compile(
    r"^(?:[a-z][a-z0-9+.-]*://)(?:[^@/]*@)?(?P<host>\[[^\]]*\]|[^/:]+)(?::\d+)?/(?P<path>.+)$", re.I
)
_SCP = re.compile(r"^(?:[^@/:]+@)?(?P<host>[^/:\\]{2,}):(?!//)(?P<path>[^\\]+)$")


@frozen
class DirectoryProject:
    """A directory's project as found on disk.

    Attributes:
        folder: Name of the project's folder; empty for no project.
        path: The main worktree, or the plain folder.
        remote: ``host/owner/name`` in lower case.
        fingerprints: What identifies it after a rename.
        repository: Whether it is a git repository.
    """

    folder: str
    path: str
    remote: str | None = None
    fingerprints: tuple[tuple[str, ...], ...] = ()
    repository: bool = False


NO_PROJECT: Final = DirectoryProject("", "")


def project_of_directory(directory: str) -> DirectoryProject:
    """Return a directory's project from the disk alone, without running git.

    The nearest repository above it is its project (of a linked worktree, the main repository; a submodule is its own);
    without one, the directory itself. A directory that no longer exists is judged by the nearest existing one above.
    """
    real = os.path.realpath(os.path.expanduser(directory))
    repository = _nearest_repository(real)
    if repository is not None:
        return _repository_project(*repository)
    if real in (_home(), os.path.dirname(real)):
        return NO_PROJECT
    return DirectoryProject(os.path.basename(real), real, None, tuple(_child_fingerprints(real)))


def _home() -> str:
    return os.path.realpath(os.path.expanduser("~"))


def _nearest_repository(real: str) -> tuple[str, str] | None:
    home = _home()
    for above in (real, *map(str, Path(real).parents)):
        if above in (home, os.path.dirname(above)):
            break
        common = shared_git_directory(above)
        if common is not None:
            return above, common
    return None


def remote_name(url: str) -> str | None:
    """Return ``host/owner/name`` of a repository's URL, however it is spelled.

    >>> remote_name("git@GitHub.com:Ann/Notes.git"), remote_name("https://ann:token@github.com/ann/notes/")
    ('github.com/ann/notes', 'github.com/ann/notes')
    >>> remote_name("ssh://git@example.org:2222/team/notes.git")
    'example.org/team/notes'
    >>> remote_name("/srv/git/notes.git"), remote_name("file:///srv/git/notes.git")
    (None, None)
    """
    text = url.strip()
    match = None if text.lower().startswith("file:") else (_URL.match(text) or _SCP.match(text))
    if match is None:
        return None
    path = match["path"].split("?")[0].split("#")[0].strip("/")
    path = path[: -len(".git")] if path.lower().endswith(".git") else path
    parts = [part for part in path.split("/") if part not in ("", ".", "..", "~")]
    return "/".join((match["host"], *parts)).casefold() if parts else None


def shared_git_directory(folder: str) -> str | None:
    """Return the directory that all worktrees of a folder's repository share."""
    entry = os.path.join(folder, ".git")
    try:
        kind = os.lstat(entry).st_mode
        if stat.S_ISDIR(kind):
            return entry if os.path.exists(os.path.join(entry, "HEAD")) else None
        if not stat.S_ISREG(kind):
            return None
        text = _read_text(entry)
        if not text.startswith("gitdir:"):
            return None
        git_dir = os.path.join(folder, text.removeprefix("gitdir:").strip())
        common = os.path.join(git_dir, "commondir")
        if os.path.exists(common):
            git_dir = os.path.join(git_dir, _read_text(common).strip())
        return os.path.realpath(git_dir) if os.path.isdir(git_dir) else None
    except (OSError, ValueError):
        return None  # the folder above may be readable


def _read_text(path: str) -> str:
    with open(path, "rb") as file:
        return file.read(MAX_CONFIG_BYTES).decode("utf-8", "replace")


def _repository_project(folder: str, common: str) -> DirectoryProject:
    base = os.path.basename(common)
    main = os.path.dirname(common) if base == ".git" else folder
    if base.endswith(".git") and base != ".git":  # a bare repository with worktrees beside it
        main = common
    url = _remote_url(common)
    remote = remote_name(url) if url else None
    fingerprints = [("git", *_file_identity(os.path.join(common, "description"), common))]
    if url and remote is None:  # a repository on this disk: its clones are one project
        fingerprints.append(("origin", os.path.realpath(os.path.join(main, url.removeprefix("file://")))))
    name = os.path.basename(main)
    return DirectoryProject(name.removesuffix(".git"), main, remote, tuple(fingerprints), repository=True)


def _file_identity(path: str, fallback: str) -> tuple[str, ...]:
    """Identify a repository, even after a move, by a file that git creates once and never rewrites."""
    for candidate in (path, fallback):
        try:
            info = os.stat(candidate)
        except OSError:
            continue
        age = str(info.st_mtime_ns) if candidate == path else ""
        return str(info.st_dev), str(info.st_ino), age
    return ("", "", fallback)


def _remote_url(common: str) -> str | None:
    import configparser

    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, delimiters=("=",))
    try:
        # configparser reads git's indented keys as continuation lines
        lines = [line.strip() for line in _read_text(os.path.join(common, "config")).splitlines()]
        parser.read_string("\n".join(lines))
    except (OSError, configparser.Error):
        return None
    remotes = {
        name: parser.get(name, "url", fallback=None)
        for name in parser.sections()
        if name.startswith("remote ")
    }
    urls = {name: url.strip('"') for name, url in remotes.items() if url}
    return urls.get('remote "origin"') or next(iter(urls.values()), None)


def _child_fingerprints(folder: str) -> Iterator[tuple[str, ...]]:
    try:
        with os.scandir(folder) as entries:
            first = sorted(entries, key=lambda entry: entry.name)[:FINGERPRINT_ENTRIES]
        for entry in first:
            info = entry.stat(follow_symlinks=False)
            yield "child", str(info.st_dev), str(info.st_ino), entry.name
    except OSError:
        return  # gone or unreadable: only its path identifies it


AUTOMATIC_PROJECT: Final = ""
"""Stored for a source whose files belong to their repositories, or to no project."""
EXPLICIT_NO_PROJECT: Final = "-"
"""Stored for a source that a person assigned to no project."""
NAME_DIGITS: Final = 6
"""Hex digits behind a folder's name: two folders of one name collide once in 16 million."""
MAX_DIRECTORY: Final = 4_096
"""Characters of a directory that is looked up: Linux's longest path. Logs may name any."""
MAX_DEPTH: Final = 64


def match_project(text: str, names: Sequence[str]) -> str | None:
    """Return the project with a name, or whose name alone ends so.

    >>> match_project("owl", ["github.com/ann/owl", "jay-0a1b2c"]), match_project("jay", ["jay-0a1b2c", "owl"])
    ('github.com/ann/owl', 'jay-0a1b2c')
    """
    if text in names:
        return text
    ends = [name for name in names if name.endswith("/" + text.casefold())]
    ends = ends or [name for name in names if "/" not in name and name.rpartition("-")[0] == text]
    return ends[0] if len(ends) == 1 else None


class ProjectResolver:
    """Resolves the projects of one scope, each once; without ``learn`` nothing is stored."""

    def __init__(self, store: Store, scope: Scope, *, learn: bool = True) -> None:
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

    def refresh(self) -> None:
        """Clear the cached projects, so that the next call reads the store again."""
        self.__dict__.pop("_known", None)
        self._names.clear()

    def of_directory(self, directory: str, remote: str | None = None) -> str | None:
        """Return the project of a directory, which need not exist; None for the home directory and the root.

        ``remote`` is a repository URL from a log, for a directory that is not on this disk.
        """
        key = (directory, remote)
        if key not in self._names:
            self._names[key] = self._resolve_directory(directory, remote)
        return self._names[key]

    def chosen_for(self, source: str) -> str | None:
        """Return a name, `EXPLICIT_NO_PROJECT` or `AUTOMATIC_PROJECT`; None before the source's first sync."""
        return self._known.get(self._place_key(("source", source)))

    def put_choice(self, source: str, chosen: str) -> PutProject:
        """Return the change that stores a source's project; values as for `chosen_for`."""
        from scrubjay.storage.changes import PutProject

        place = self._place_key(("source", source))
        self._known[place] = chosen
        return PutProject(place, chosen, self._scope.key())

    def of_source_directory(self, source: str, directory: str) -> str | None:
        """Return the project of a directory of a source: the one chosen for the source, else its repository's."""
        return self.of_choice(self.chosen_for(source) or AUTOMATIC_PROJECT, directory)

    def of_choice(self, chosen: str, directory: str) -> str | None:
        if chosen:
            return None if chosen == EXPLICIT_NO_PROJECT else chosen
        return self.of_directory(directory) if self._in_repository(directory) else None

    def without_learning(self) -> ProjectResolver:
        return ProjectResolver(self._store, self._scope, learn=False)

    def former(self, root: str, directory: str) -> str | None:
        """Return the project that earlier versions gave a directory: each source was a project of its own."""
        return self.of_directory(directory if self._in_repository(directory) else root)

    def names(self) -> list[str]:
        return sorted(set(self._known.values()) - {AUTOMATIC_PROJECT, EXPLICIT_NO_PROJECT})

    def resolve(self, text: str) -> str:
        """Return the project of a path (``.``, ``~/x``, ``/x``), a name, or the end of one.

        >>> from scrubjay.storage.urls import open_store
        >>> ProjectResolver(open_store("memory://"), Scope("t", "ann")).resolve("never seen")
        'never seen'
        """
        is_path = text.startswith((".", "~", "/", "\\")) or os.path.isabs(text)
        if is_path and "\0" not in text:
            return self.of_directory(os.path.abspath(os.path.expanduser(text))) or ""
        return match_project(text, self.names()) or text

    def _in_repository(self, directory: str) -> bool:
        if directory not in self._repositories:
            self._repositories[directory] = _nearest_repository(os.path.realpath(directory)) is not None
        return self._repositories[directory]

    def _resolve_directory(self, directory: str, remote: str | None) -> str | None:
        if not directory or len(directory) > MAX_DIRECTORY or directory.count("/") > MAX_DEPTH:
            name = remote_name(remote or "")
            return name and self._known.get(self._place_key(("remote", name)), name)
        project = project_of_directory(directory)
        if not project.folder:
            return None
        origin = project.remote or (remote_name(remote) if remote and not os.path.isdir(directory) else None)
        keys = [self._place_key(fingerprint) for fingerprint in project.fingerprints]
        by_remote = [self._place_key(("remote", origin))] if origin else []
        by_path = self._place_key(("path", project.path))
        name = self._agreed_name(project, keys) or self._first_known(by_remote) or origin
        if not name and not project.repository:  # a folder inside a project is part of it
            parents = (self._place_key(("path", str(above))) for above in Path(project.path).parents)
            name = self._first_known([by_path]) or self._first_known(parents)
        if not name:
            digits = f"{memory_key(self._secret, ('project', project.path)):016x}"[:NAME_DIGITS]
            name = f"{project.folder.casefold()}-{digits}"
        self._remember({*keys, *by_remote, by_path}, name)
        return name

    def _agreed_name(self, found: DirectoryProject, keys: Sequence[str]) -> str | None:
        """Return the name that the fingerprints agree on; of a plain folder, half of its entries must."""
        votes = Counter(self._known[key] for key in keys if key in self._known)
        if not votes:
            return None
        name, count = min(votes.items(), key=lambda pair: (-pair[1], pair[0]))
        return name if found.repository or 2 * count >= len(keys) else None

    def _first_known(self, keys: Iterable[str]) -> str | None:
        return next((self._known[key] for key in keys if key in self._known), None)

    def _place_key(self, parts: tuple[str, ...]) -> str:
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
    """Return the changes that move a source's passages to their project.

    They are needed after a person chose a project (``chosen``), and once for stores of earlier versions. Turns and
    additions keep their project.
    """
    from scrubjay.models.lifecycle import LifecycleChange
    from scrubjay.storage.changes import PutLifecycle

    before = projects.chosen_for(source.id)
    now = chosen if chosen is not None else before
    if now == before is not None:
        return []
    now = now or AUTOMATIC_PROJECT
    lives: dict[str, LifecycleChange] = {}
    former = projects.without_learning()
    for path in documents:
        folder = document_folder(source, path)
        old = former.former(source.root, folder) if before is None else projects.of_choice(before, folder)
        project = projects.of_choice(now, folder)
        if old != project:
            lives |= {
                record.id: LifecycleChange(project=project)
                for record in reader.passages(source.id, path)
                if record.turn is None and record.project == old
            }
    return [*([PutLifecycle(lives)] if lives else ()), projects.put_choice(source.id, now)]
