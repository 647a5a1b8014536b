"""Agent: what an installer is told, and what it answers: the files as they are and as they should be.

An installer writes nothing. It reads an agent's files and says what each should hold; `agents.plan` shows the
difference, writes it and takes it back.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from scrubjay.errors import InputError

NAME: Final = "scrubjay"
"""What every entry of ours is called in an agent's configuration, and what its command holds."""
OPEN_MODE: Final = 0o644
SECRET_MODE: Final = 0o600
"""Rights of a file that is new: of texts, and of configuration that agents keep tokens in."""


@dataclass(frozen=True, slots=True)
class Home:
    """Where things are on this machine.

    Attributes:
        root: The person's home folder.
        env: The environment, in which agents' folders may be named (``CLAUDE_CONFIG_DIR``, ``CODEX_HOME``).
        command: How scrubjay is started: an absolute path, and arguments that come before a command's name.
        data: Folder in which scrubjay keeps what it needs to take an installation back.
    """

    root: Path
    env: Mapping[str, str]
    command: tuple[str, ...]
    data: Path

    def folder(self, variable: str, *below: str) -> Path:
        """Return the folder (or file) that a variable names; where it is not set, one below the home folder."""
        named = self.env.get(variable, "").strip()
        if not named:
            return self.root.joinpath(*below)
        return self.root / named[2:] if named.startswith("~/") else Path(named).absolute()

    def hook(self, agent: str, event: str) -> str:
        """Return the command line, for a POSIX shell, that an agent runs at one of its events.

        It never fails: a scrubjay that was moved or removed must not keep a person from working, and some agents
        take an exit code of 2 as a veto.
        """
        return f"{shlex.join([*self.command, 'hook', agent, event])} || true"


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked of an installer.

    Attributes:
        hooks: Whether the agent is to call scrubjay by itself: to recall before an answer, to take sessions in.
        project: Folder of a project whose own configuration is meant; None for the person's.
    """

    hooks: bool = True
    project: Path | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One file, as it is and as it should be.

    Attributes:
        path: Where the agent looks for it; a symbolic link stays one, its target is what changes.
        old: Its bytes now; None where no file is.
        new: Its bytes afterwards; None where no file is to be.
        mode: Rights of the file if it is new; those of a file that is there are kept.
    """

    path: Path
    old: bytes | None
    new: bytes | None
    mode: int = OPEN_MODE


class Agent(Protocol):
    """An agent that scrubjay can be installed for.

    Attributes:
        name: As a person types it, ``claude-code``.
        title: As its makers write it, ``Claude Code``.
    """

    name: str
    title: str

    def found(self, home: Home) -> bool:
        """Return whether the agent is on this machine: its folder or its program."""
        ...

    def install(self, home: Home, options: Options) -> list[Change]:
        """Return what its files should be with scrubjay in them; files that stay as they are may be among them.

        What an earlier installation wrote and ``options`` no longer ask for is taken out.

        Raises:
            InputError: A file is broken or cannot be read; the message names file, line and column.
        """
        ...

    def uninstall(self, home: Home, options: Options) -> list[Change]:
        """Return what its files should be without anything of scrubjay's, everything else as it is.

        Raises:
            InputError: As in `install`.
        """
        ...

    def captured(self, home: Home, options: Options) -> tuple[str, ...]:
        """Return sentences that say what will be read and kept of the person's work, and from where.

        Also what stands in the way: a trust that the agent asks for, a file that it does not read as it is.
        """
        ...

    def installed(self, home: Home) -> dict[str, bool]:
        """Return whether each of ``mcp``, ``hooks`` and ``instructions`` is in place for the person."""
        ...


def edited(path: Path, edit: Callable[[bytes | None], bytes | None], *, mode: int = OPEN_MODE) -> Change:
    """Read a file and return the change that an edit makes of it.

    Raises:
        InputError: The file cannot be read; or what ``edit`` raises.
    """
    old = read(path)
    return Change(path, old, edit(old), mode)


def read(path: Path) -> bytes | None:
    """Return a file's bytes; None where there is none.

    Raises:
        InputError: It is there and cannot be read.
    """
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InputError(
            f"{path} cannot be read ({error.strerror}). Nothing was changed.",
            hint="make it a file that you can read, then try again",
        ) from error
