"""Projects: str -> str | None. One name for one project on every surface, whatever path leads to it.

A project with a remote is named ``host/owner/name``, so that every clone, worktree and machine agrees. Any
other is named after its folder and a few digits that tell it from folders of the same name. The first name
stays: a renamed folder, a remote that is added or moves, a second clone are known again by what was
remembered (`PutProject`), for the caller's own key alone.

Files of a source belong to the repository they lie in, or to the project that a person named for the source.
Any other file belongs to no project, so that notes answer wherever somebody works.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrubjay.ingest.place import Place, in_repository, place, remote_name
from scrubjay.memory.ids import memory_key
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store

if TYPE_CHECKING:
    from scrubjay.store.changes import PutProject

AUTO: Final = ""
"""What is remembered of a source whose files belong to their repositories, or to no project."""
NONE: Final = "-"
"""What is remembered of a source that belongs to no project because a person said so."""
DIGITS: Final = 6
"""Hex digits behind a folder's name: two folders of one name collide once in 16 million."""
LONGEST: Final = 4_096
"""Characters of a directory that is looked up: Linux's longest path. Logs that others wrote may name any."""
DEEPEST: Final = 64
"""Levels of a directory that is looked up: each one above it is."""


class Projects:
    """The projects of one scope, each looked up once in the life of this value."""

    def __init__(self, store: Store, scope: Scope, *, learn: bool = True) -> None:
        """Args: where, for whom, and whether what is found is remembered: who only asks writes nothing."""
        self._learn = learn
        self._store = store
        self._scope = scope
        self._secret = store.secret(scope)
        with store.reader(scope) as reader:
            self._known = reader.projects()
        self._names: dict[tuple[str, str | None], str | None] = {}
        self._repositories: dict[str, bool] = {}

    def of(self, directory: str, remote: str | None = None) -> str | None:
        """Return the project of a directory, None where there is none (the home directory, the disk's root).

        Args:
            directory: Path; it need not exist (any more), as in the log of another day. One longer than `LONGEST`
                or deeper than `DEEPEST` is none.
            remote: URL of the repository as a log gives it, for a directory that is not on this disk.
        """
        asked = (directory, remote)
        if asked not in self._names:
            self._names[asked] = self._find(directory, remote)
        return self._names[asked]

    def chosen(self, source: str) -> str | None:
        """Return what was remembered of a source by its id (a name, `NONE` or `AUTO`), None before its first sync."""
        return self._known.get(self._mark(("source", source)))

    def choice(self, source: str, chosen: str) -> PutProject:
        """Return the change that remembers which project a source belongs to: a name, `NONE` or `AUTO`."""
        from scrubjay.store.changes import PutProject

        mark = self._mark(("source", source))
        self._known[mark] = chosen
        return PutProject(mark, chosen, self._scope.key())

    def within(self, source: str, directory: str) -> str | None:
        """Return the project of a directory of a source: the one chosen for the source, else its repository's."""
        return self.under(self.chosen(source) or AUTO, directory)

    def under(self, chosen: str, directory: str) -> str | None:
        """Return the project of a directory of a source for which this was chosen."""
        if chosen:
            return None if chosen == NONE else chosen
        return self.of(directory) if self._in_repository(directory) else None

    def formerly(self, root: str, directory: str) -> str | None:
        """Return the project that earlier versions gave a directory: each source was a project of its own."""
        return self.of(directory if self._in_repository(directory) else root)

    def names(self) -> list[str]:
        """Return the names of the projects that were seen, sorted."""
        return sorted(set(self._known.values()) - {AUTO, NONE})

    def named(self, text: str) -> str:
        """Return the project that a person means: a path (``.``, ``~/x``, ``/x``), a name, or the end of one.

        >>> from scrubjay.store.inmemory.store import InMemoryStore
        >>> Projects(InMemoryStore(), Scope("t", "ann")).named("never seen")
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
            self._repositories[directory] = in_repository(directory)
        return self._repositories[directory]

    def _find(self, directory: str, remote: str | None) -> str | None:
        if not directory or len(directory) > LONGEST or directory.count("/") > DEEPEST:
            name = remote_name(remote or "")
            return name and self._known.get(self._mark(("remote", name)), name)
        found = place(directory)
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

    def _agreed(self, found: Place, keys: Sequence[str]) -> str | None:
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

    def _local(self, found: Place) -> str:
        number = memory_key(self._secret, ("project", found.path))
        return f"{found.folder.casefold()}-{number:016x}"[: len(found.folder.casefold()) + 1 + DIGITS]

    def _mark(self, parts: tuple[str, ...]) -> str:
        return f"{memory_key(self._secret, ('place', *parts)):016x}"

    def _remember(self, keys: set[str], name: str) -> None:
        new = sorted(key for key in keys if self._known.get(key) != name)
        if new and self._learn:
            own = self._scope.key()
            from scrubjay.store.changes import PutProject

            self._store.write(self._scope, [PutProject(key, name, own) for key in new])
        self._known.update(dict.fromkeys(new, name))
