"""The plan of `scrubjay setup`: the agents, repositories and note folders that are here, and the missing parts of each.

Finding reads names alone (of a chosen folder also its ignore files), never follows a link, and is bounded in folders,
depth and time. A folder is offered if it is

- the repository around the current folder, or the current folder itself if it has notes;
- below the home folder a git repository, an Obsidian vault, or the highest folder that is mostly notes.

Nothing of other people is offered: their repositories, folders of another user, downloads, dependencies. The plan is
data; `cli.setup` shows it and carries it out. The record names its steps, so that `undo` reverts no more.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from scrubjay import atomic_files
from scrubjay.agents.base import AGENTS, Agent, Home, Options, check_not_ignored, find_agent
from scrubjay.agents.installation import InstallPlan, plan_install
from scrubjay.errors import InputError
from scrubjay.frozen import frozen
from scrubjay.ingest.gitignore import is_skipped_name
from scrubjay.ingest.projects import shared_git_directory
from scrubjay.ingest.scanner import scan_files
from scrubjay.models.records import FOREIGN
from scrubjay.models.sources import INSTALL_FOLDERS, VENDOR_FOLDERS

TODO: Final = "todo"
DONE: Final = "there"
LEFT_OUT: Final = "left out"
"""States of a step: to be done, done before, not to be done by setup."""

SCAN_SECONDS: Final = 5.0
"""Seconds after which the search below the home folder ends, and as many for counting the notes in each result."""
MAX_DEPTH: Final = 6
MAX_FOLDERS: Final = 20_000
MIN_NOTES: Final = 3
"""Notes from which a folder is offered."""
MANY_NOTES: Final = 20
"""Notes in one folder that are offered whatever else lies there."""
MIN_SHARE: Final = 0.25
"""Share of notes among a folder's files from which it is a folder of notes: they may have attachments."""
NOTE_SUFFIXES: Final = (".md", ".markdown", ".mdx")
PROJECT_FILES: Final = frozenset(
    ("package.json", "pyproject.toml", "setup.py", "cargo.toml", "go.mod", "pom.xml", "build.gradle", "configure",
     "build.gradle.kts", "cmakelists.txt", "gemfile", "composer.json", "mix.exs", "meson.build")
)  # fmt: skip
"""Files of a code project. One without a repository may be an unpacked archive, so only a current folder is offered."""
OTHERS_FOLDERS: Final = (
    INSTALL_FOLDERS
    | VENDOR_FOLDERS
    | {"downloads", "library", "appdata", "applications", "snap", "cache", "caches", "tmp", "temp", "trash"}
    | {"miniconda3", "anaconda3", "miniforge3", "mambaforge", "__macosx"}
)
"""Names in lower case of folders that hold other people's files, or nobody's."""


@frozen
class FolderStep:
    """A folder that may become a source.

    Attributes:
        kind: ``repository``, ``vault`` or ``notes``.
        notes: Number of files that a sync would read; None where counting took too long.
        state: ``TODO``, ``DONE`` or ``LEFT_OUT``.
        why: Why it is left out.
    """

    name: str
    kind: str
    notes: int | None
    state: str
    why: str = ""


@frozen
class AgentStep:
    """An agent on this machine.

    Attributes:
        name: As a person types it, ``claude-code``.
        title: As its makers write it.
        missing: Parts that would be installed; empty for an entry that only changes.
        state: ``TODO``, ``DONE`` or ``LEFT_OUT``.
        partly_installed: Whether parts were installed before, which `undo` leaves.
        notes: What will be read and stored of the person's work.
        why: Why it is left out.
    """

    name: str
    title: str
    missing: tuple[str, ...] = ()
    state: str = TODO
    partly_installed: bool = False
    notes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    why: str = ""


Step = FolderStep | AgentStep


@frozen
class SetupPlan:
    """Steps that setup found, done or to be done.

    Attributes:
        truncated: Whether the search below the home folder ended before it had seen everything.
    """

    steps: tuple[Step, ...]
    truncated: bool = False

    def in_state(self, state: str) -> list[Step]:
        return [step for step in self.steps if step.state == state]


def make_plan(home: Home, here: Path, sources: Sequence[str]) -> SetupPlan:
    """Find folders, agents and the missing parts of each; writes nothing.

    ``sources`` are the locations of the registered sources.
    """
    found, truncated = _find_folders(home.root, here)
    roots, deadline = [Path(os.path.realpath(source)) for source in sources], time.monotonic() + SCAN_SECONDS
    folders = [_folder_step(path, kind, roots, deadline) for path, kind in found]
    agents = [agent for agent in map(find_agent, AGENTS) if agent.is_present(home)]
    return SetupPlan((*folders, *(_agent_step(agent, home) for agent in agents)), truncated)


def install_plan(step: AgentStep, home: Home) -> InstallPlan:
    agent = find_agent(step.name)
    check_not_ignored(agent, home, Options())
    return plan_install(agent, home, Options())


def _agent_step(agent: Agent, home: Home) -> AgentStep:
    try:
        parts = agent.installed_parts(home)
        plan = plan_install(agent, home, Options())
        # Exactly what `install --no-hooks` leaves is a choice, not a part that is missing.
        chose_no_hooks = any(parts.values()) and not plan_install(agent, home, Options(hooks=False)).changes
        notes = agent.install_notes(home, Options())
        ignored = agent.ignored_at(home, Options())
    except InputError as error:
        return AgentStep(agent.name, agent.title, state=LEFT_OUT, why=f"{error} {error.hint}".rstrip())
    if not plan.changes and not ignored:
        return AgentStep(agent.name, agent.title, state=DONE)
    if chose_no_hooks:
        why = f"installed without hooks, which stays so; scrubjay install {agent.name} adds them"
        return AgentStep(agent.name, agent.title, state=LEFT_OUT, why=why)
    missing = tuple(name for name, there in parts.items() if not there)
    files = tuple(str(change.path) for change in plan.changes)
    return AgentStep(agent.name, agent.title, missing, TODO, any(parts.values()), notes, files)


def _folder_step(path: Path, kind: str, sources: Sequence[Path], deadline: float) -> FolderStep:
    name, real = str(path), Path(os.path.realpath(path))
    if any(real.is_relative_to(source) for source in sources):
        return FolderStep(name, kind, None, DONE)
    if reason := _exclusion_reason(name):
        return FolderStep(name, kind, None, LEFT_OUT, f"{reason}; scrubjay sync {name} reads it all the same")
    scan = scan_files(path, until=deadline)
    return FolderStep(name, kind, len(scan.files) if scan.complete else None, TODO)


def _exclusion_reason(folder: str) -> str:
    from scrubjay.ingest.sources import repository_authorship  # loads what writing needs

    try:
        owner = os.stat(folder).st_uid
    except OSError as error:
        return f"it cannot be read ({error.strerror})"
    if hasattr(os, "getuid") and owner != os.getuid():
        return "it belongs to another user"
    git_dir = shared_git_directory(folder)
    if git_dir is not None and repository_authorship(git_dir) == FOREIGN:
        return "none of its last commits is yours (`git config user.email`)"
    return ""


def _find_folders(home: Path, here: Path) -> tuple[list[tuple[Path, str]], bool]:
    """Return folders and their kinds, that of the current folder first, and whether the search was cut short."""
    with contextlib.suppress(ValueError):  # a home folder may be a link, which the current folder has not
        here = home / Path(os.path.realpath(here)).relative_to(os.path.realpath(home))
    folders, truncated = _scan_home(home)
    found = dict(folders)
    current: dict[Path, str] = {}
    repository = _repository_around(here, home)
    if repository is not None:
        current[repository] = found.get(repository, "repository")
    elif here != home and here.is_relative_to(home) and not any(here.is_relative_to(path) for path in found):
        current |= {here: "notes"} if scan_files(here, until=time.monotonic() + SCAN_SECONDS).files else {}
    return list((current | found).items()), truncated


def _repository_around(here: Path, home: Path) -> Path | None:
    for folder in (here, *here.parents):
        if home.is_relative_to(folder):
            return None
        if shared_git_directory(str(folder)) is not None:
            return folder
    return None


@dataclass(slots=True)
class _Folder:
    path: Path
    depth: int
    parent: _Folder | None
    direct: int = 0  # notes in the folder itself
    notes: int = 0  # in it and below
    files: int = 0  # in it and below
    children: list[_Folder] = field(default_factory=list)


def _scan_home(home: Path) -> tuple[list[tuple[Path, str]], bool]:
    """Scan names below the home folder, nearest first."""
    deadline = time.monotonic() + SCAN_SECONDS
    top = _Folder(home, 0, None)
    kinds: dict[Path, str] = {}
    scanned: list[_Folder] = []
    queue = deque([top])
    while queue:
        if len(scanned) >= MAX_FOLDERS or time.monotonic() > deadline:
            break
        folder = queue.popleft()
        try:
            with os.scandir(folder.path) as entries:
                listed = list(entries)
        except OSError:
            continue  # unreadable folders hold nothing to offer
        names = {entry.name.lower() for entry in listed}
        kind = ""
        if ".obsidian" in names:
            kind = "vault"
        elif ".git" in names:
            kind = "repository"
        if folder is not top and kind:
            kinds[folder.path] = kind
            continue
        if folder is not top and names & PROJECT_FILES:
            continue
        scanned.append(folder)
        for entry in sorted(listed, key=lambda entry: entry.name):
            if entry.is_dir(follow_symlinks=False):
                is_foreign = is_skipped_name(entry.name) or entry.name.lower() in OTHERS_FOLDERS
                if folder.depth < MAX_DEPTH and not is_foreign:
                    child = _Folder(folder.path / entry.name, folder.depth + 1, folder)
                    folder.children.append(child)
                    queue.append(child)
            elif not entry.name.startswith(".") and entry.is_file(follow_symlinks=False):
                folder.files += 1
                folder.direct += entry.name.lower().endswith(NOTE_SUFFIXES)
    for folder in reversed(scanned):
        folder.notes += folder.direct
        if folder.parent is not None:
            folder.parent.notes += folder.notes
            folder.parent.files += folder.files
    notes = ((path, "notes") for child in top.children for path in _note_folders(child))
    return sorted({**kinds, **dict(notes)}.items()), bool(queue)


def _note_folders(folder: _Folder) -> Iterator[Path]:
    """The highest folders that are mostly notes; one that only contains another is skipped."""
    if folder.notes < MIN_NOTES:
        return
    only_leads_on = not folder.direct and any(child.notes == folder.notes for child in folder.children)
    is_mostly_notes = folder.notes >= folder.files * MIN_SHARE
    if (is_mostly_notes and not only_leads_on) or folder.direct >= MANY_NOTES:
        yield folder.path
        return
    for child in folder.children:
        yield from _note_folders(child)


@dataclass(slots=True)
class SetupRecord:
    """Steps that setup did and `undo` reverts; written before each step, so that a killed setup can be undone.

    Attributes:
        path: Its file, in the data folder.
        agents: Agents that setup installed, and those that it completed, which `undo` leaves.
    """

    path: Path
    sources: list[str] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)
    completed: list[str] = field(default_factory=list)

    @classmethod
    def load(cls, home: Home) -> SetupRecord:
        """Read the record; an empty one where there is none.

        Raises:
            InputError: It is damaged.
        """
        path = home.data / "agents" / "setup.json"
        try:
            content = json.loads(path.read_bytes())
            return cls(path, *(_string_list(content[name]) for name in ("sources", "agents", "completed")))
        except FileNotFoundError:
            return cls(path)
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise InputError(
                f"{path}, the record of what setup did, cannot be read. Nothing was changed.",
                hint="remove that file; then scrubjay uninstall AGENT and scrubjay sources remove PATH undo by hand",
            ) from error

    def add(self, step: Step) -> bool:
        """Note a step before it is done; return whether it is new."""
        names = self._list(step)
        if step.name in names:
            return False
        names.append(step.name)
        self._save()
        return True

    def add_sources(self, roots: Iterable[str]) -> None:
        self.sources = list(dict.fromkeys((*self.sources, *roots)))
        self._save()

    def remove(self, step: Step) -> None:
        self._list(step).remove(step.name)
        self._save()

    def keep(self, sources: Iterable[str], agents: Iterable[str]) -> None:
        """Keep only these, which could not be undone; an empty record is deleted."""
        self.sources, self.agents, self.completed = list(sources), list(agents), []
        self._save()

    def _list(self, step: Step) -> list[str]:
        if isinstance(step, FolderStep):
            return self.sources
        return self.completed if step.partly_installed and step.name not in self.agents else self.agents

    def _save(self) -> None:
        if not (self.sources or self.agents or self.completed):
            self.path.unlink(missing_ok=True)
            return
        content = {"sources": self.sources, "agents": self.agents, "completed": self.completed}
        atomic_files.make_folder(self.path.parent)
        atomic_files.write_file(self.path, json.dumps(content).encode("ascii"))


def _string_list(value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise TypeError
    return value
