r"""The installer protocol, the registry of agents, and the marked block in an instruction file.

An installer writes nothing: it reads an agent's files and returns what each should hold. `agents.installation` shows
the difference, writes it and reverts it. Text outside the two marks of a block is not touched.

>>> put_block(b"# Mine\n", "Use it.")
b'# Mine\n\n<!-- scrubjay:begin -->\nUse it.\n<!-- scrubjay:end -->\n'
>>> remove_block(put_block(b"# Mine\n", "Use it."))
b'# Mine\n'
"""

from __future__ import annotations

import difflib
import importlib
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from scrubjay.errors import InputError

SERVER_NAME: Final = "scrubjay"
"""What every entry of ours is called in an agent's configuration, and what its command holds."""
SHARED_MODE: Final = 0o644
PRIVATE_MODE: Final = 0o600
"""Rights of a file that is new: of texts, and of configuration that agents keep tokens in."""


@dataclass(frozen=True, slots=True)
class Home:
    """Paths of this machine.

    Attributes:
        root: The person's home folder.
        env: The environment, which may name agents' folders (``CLAUDE_CONFIG_DIR``, ``CODEX_HOME``).
        command: Command that starts scrubjay: an absolute path, and arguments that precede the subcommand.
        data: Folder for the records that `uninstall` needs.
    """

    root: Path
    env: Mapping[str, str]
    command: tuple[str, ...]
    data: Path

    def folder(self, variable: str, *below: str) -> Path:
        """Return the folder (or file) that a variable names, else one below the home folder."""
        named = self.env.get(variable, "").strip()
        if not named:
            return self.root.joinpath(*below)
        return self.root / named[2:] if named.startswith("~/") else Path(named).absolute()

    def hook(self, agent: str, event: str) -> str:
        """Return the POSIX shell command that an agent runs at one of its events.

        It never fails: a scrubjay that was moved or removed must not keep a person from working, and some agents
        treat exit
        code 2 as a veto.
        """
        return f"{shlex.join([*self.command, 'hook', agent, event])} || true"


@dataclass(frozen=True, slots=True)
class Options:
    """Options of an installer.

    Attributes:
        hooks: Whether the agent calls scrubjay by itself: to recall before an answer, to capture sessions.
        project: Folder of a project to configure; None for the person's own configuration.
    """

    hooks: bool = True
    project: Path | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One file, before and after.

    Attributes:
        path: Where the agent looks for it; a symbolic link stays one, its target changes.
        old: Its bytes now; None for no file.
        new: Its bytes afterwards; None for no file.
        mode: Permissions of a new file; an existing file keeps its own.
    """

    path: Path
    old: bytes | None
    new: bytes | None
    mode: int = SHARED_MODE


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
        """Return its files with scrubjay configured; unchanged files may be among them.

        Parts of an earlier installation that ``options`` no longer ask for are removed.

        Raises:
            InputError: A file is malformed or unreadable; the message names file, line and column.
        """
        ...

    def uninstall(self, home: Home, options: Options) -> list[Change]:
        """Return its files without any part of scrubjay, everything else unchanged.

        Raises:
            InputError: As in `install`.
        """
        ...

    def captured(self, home: Home, options: Options) -> tuple[str, ...]:
        """Return sentences that say what will be read and stored of the person's work, and from where.

        Also what prevents it: a trust prompt of the agent, a file that it ignores.
        """
        ...

    def installed(self, home: Home) -> dict[str, bool]:
        """Return whether each of ``mcp``, ``hooks`` and ``instructions`` is installed for the person."""
        ...


def edit_file(path: Path, edit: Callable[[bytes | None], bytes | None], *, mode: int = SHARED_MODE) -> Change:
    """Read a file and return the change that ``edit`` makes of it.

    Raises:
        InputError: The file cannot be read; or what ``edit`` raises.
    """
    old = read_file(path)
    return Change(path, old, edit(old), mode)


def read_file(path: Path) -> bytes | None:
    """Return a file's bytes, None where it does not exist.

    Raises:
        InputError: It exists and cannot be read.
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


AGENTS: Final = {
    "claude-code": "claude_code",
    "codex": "codex",
    "openclaw": "openclaw",
    "cursor": "cursor",
    "gemini": "gemini",
    "opencode": "opencode",
}
"""Name to module, whose ``AGENT`` is the installer; in the order in which they are listed."""


def find_agent(name: str) -> Agent:
    """Return an agent's installer.

    Raises:
        InputError: No agent has this name.
    """
    if name not in AGENTS:
        near = difflib.get_close_matches(name, AGENTS, n=1)
        raise InputError(
            f"No agent is called {name!r}. Nothing was changed.",
            hint=f"did you mean {near[0]}?" if near else f"there are: {', '.join(AGENTS)}",
        )
    agent: Agent = importlib.import_module(f"scrubjay.agents.{AGENTS[name]}").AGENT
    return agent


BLOCK_BEGIN: Final = b"<!-- scrubjay:begin -->"
BLOCK_END: Final = b"<!-- scrubjay:end -->"

_BLOCK_PATTERN = re.compile(re.escape(BLOCK_BEGIN) + rb".*?" + re.escape(BLOCK_END), re.DOTALL)


def put_block(data: bytes | None, text: str) -> bytes:
    """Return the file with the block; its text has no trailing line end."""
    source = data or b""
    eol = b"\r\n" if b"\r\n" in source else b"\n"
    block = eol.join([BLOCK_BEGIN, *text.encode("utf-8").splitlines(), BLOCK_END])
    if _BLOCK_PATTERN.search(source):
        return _BLOCK_PATTERN.sub(lambda _: block, source, count=1)
    if not source.strip():
        return source + block + eol
    gap = eol if source.endswith((b"\n", b"\r")) else eol + eol
    return source + gap + block + eol


def remove_block(data: bytes | None) -> bytes | None:
    """Return the file without the block and the empty line before it; None where there is no file."""
    if data is None:
        return None
    while found := _BLOCK_PATTERN.search(data):
        before, after = data[: found.start()], data[found.end() :]
        for eol in (b"\r\n", b"\n"):
            if after.startswith(eol):
                after = after[len(eol) :]
                before = before[: -len(eol)] if before.endswith(eol * 2) and before.strip() else before
                break
        data = before + after
    return data


def has_block(data: bytes | None) -> bool:
    return bool(data and _BLOCK_PATTERN.search(data))
