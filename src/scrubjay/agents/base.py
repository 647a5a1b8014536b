r"""The installer protocol, the registry of agents, and the parts of installers: texts, hook entries, marked blocks.

An installer writes nothing: it reads an agent's files and returns what each should hold. `agents.installation` shows
the difference, writes it and reverts it. Text outside the two marks of a block is not touched.

>>> put_block(b"# Mine\n", "Use it.")
b'# Mine\n\n<!-- scrubjay:begin -->\nUse it.\n<!-- scrubjay:end -->\n'
>>> remove_block(put_block(b"# Mine\n", "Use it."))
b'# Mine\n'

The form is ``{"hooks": {"SessionStart": [{"matcher": "startup|resume", "hooks": [{"type": "command", "command": "...",
"timeout": 5}]}]}}``. Our hooks are recognised by their command, ``... hook AGENT EVENT``.
"""

from __future__ import annotations

import difflib
import importlib
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from scrubjay.agents import json_edit
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
        """Return whether each of ``mcp``, ``hooks`` and ``instructions`` is installed for the person.

        Without ``hooks`` for an agent that scrubjay has none for. ``plugin`` is there, and true, where the agent has
        scrubjay's plugin enabled, and alone where nothing else is installed.
        """
        ...


def skill() -> str:
    """Return the skill that tells an agent how to use the memory."""
    return (Path(__file__).parent / "texts" / "SKILL.md").read_text("utf-8")


def instructions() -> str:
    """Return the lines for an agent's own instruction file, without a trailing line end."""
    return (Path(__file__).parent / "texts" / "block.md").read_text("utf-8").rstrip("\n")


def plugin_files(agent: str) -> dict[str, bytes]:
    """Return the files of a plugin in an agent's own language: name to content."""
    folder = Path(__file__).parent / "plugins" / agent
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def on_this_machine(folder: Path, program: str, home: Home) -> bool:
    """Return whether an agent's folder or its program is there."""
    return folder.is_dir() or bool(shutil.which(program, path=home.env.get("PATH")))


def captures_nothing(title: str) -> str:
    """Return the sentence for an agent without hooks."""
    return f"Nothing by itself: {title} can search, add and forget memories when it decides to."


def captures_transcripts(title: str, folder: Path, *, compacts: str = "compacts") -> tuple[str, str]:
    """Return the sentences for an agent whose hooks name its transcripts."""
    return (
        f"Your sessions with {title}: both sides are captured from its transcripts ({folder}) after each "
        f"answer, before it {compacts} and at the end. Sessions from before that still exist are captured when the "
        "next one begins.",
        "When a session starts, and before it answers you, memories that fit are put into its context, each time "
        "with a line that says so.",
    )


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
    "vscode": "mcp_clients:VSCODE",
    "cline": "mcp_clients:CLINE",
    "zed": "mcp_clients:ZED",
    "windsurf": "mcp_clients:WINDSURF",
    "hermes": "mcp_clients:HERMES",
}
"""Name to module and, after a colon, the installer in it (``AGENT``); in the order in which they are listed."""


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
    module, _, installer = AGENTS[name].partition(":")
    agent: Agent = getattr(importlib.import_module(f"scrubjay.agents.{module}"), installer or "AGENT")
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


class Hook(NamedTuple):
    """One event at which an agent calls scrubjay.

    Attributes:
        theirs: The agent's name of the event, ``UserPromptSubmit``.
        ours: Our name of the event, ``prompt``.
        timeout: In the agent's unit.
        matcher: Matching occasions of the event; None for all.
    """

    theirs: str
    ours: str
    timeout: int
    matcher: str | None = None


def put_hooks(data: bytes | None, agent: str, hooks: Sequence[Hook], home: Home, where: Path) -> bytes | None:
    """Return the document with these hooks and no others of ours.

    Raises:
        InputError: The document is malformed, or a value on the path has another type.
    """
    data = _remove_hooks(data, agent, where, keep={hook.theirs for hook in hooks})
    for hook in hooks:
        group: dict[str, Any] = {"matcher": hook.matcher} if hook.matcher else {}
        command = home.hook(agent, hook.ours)
        group["hooks"] = [{"type": "command", "command": command, "timeout": hook.timeout}]
        data = json_edit.put_item(
            data, ("hooks", hook.theirs), group, lambda found: _all_ours(found, agent), where
        )
    return data


def remove_hooks(data: bytes | None, agent: str, where: Path) -> bytes | None:
    """Return the document without our hooks.

    Raises:
        InputError: The document is malformed.
    """
    return _remove_hooks(data, agent, where, keep=frozenset())


def plain_json_warning(path: Path, title: str) -> tuple[str, ...]:
    """Return a warning where a file is not plain JSON: such agents then ignore all of it.

    A comment or trailing comma is enough; Claude Code 2.1.197 says nothing, codex-cli 0.169.0 warns.
    """
    at = json_edit.first_non_json(read_file(path), path)
    if not at:
        return ()
    return (f"{title} ignores all of {path} while it is no plain JSON: mend {at}, or no hook runs.",)


PLAIN_HOOK_FILES: Final = {
    "claude-code": ("settings.json", "settings.local.json"),
    "codex": ("hooks.json",),
}
"""Files of hooks that their agent reads only as plain JSON."""


def ignored_at(agent: Agent, home: Home, options: Options) -> str:
    """Return ``path:line:column`` of what makes an agent ignore its file of hooks, or an empty string.

    Raises:
        InputError: A file is malformed or unreadable.
    """
    names = PLAIN_HOOK_FILES.get(agent.name, ()) if options.hooks else ()
    changes = agent.install(home, options) if names else []
    found = (json_edit.first_non_json(one.old, one.path) for one in changes if one.path.name in names)
    return next(filter(None, found), "")


def check_not_ignored(agent: Agent, home: Home, options: Options) -> None:
    """Check that an agent reads the file that its hooks are written into.

    Raises:
        InputError: It does not, or a file is malformed or unreadable.
    """
    if at := ignored_at(agent, home, options):
        raise InputError(
            f"{agent.title} ignores the whole file because of a comment or a comma too many at {at}. "
            f"Nothing was installed for {agent.title}.",
            hint=f"remove it, then scrubjay install {agent.name}; --no-hooks installs all but the hooks",
        )


def with_plugin(parts: dict[str, bool], enabled: bool) -> dict[str, bool]:
    """Return what is installed, and the plugin where it is enabled."""
    return {**(parts if any(parts.values()) else {}), "plugin": True} if enabled else parts


def plugin_warning(title: str, enabled: bool, hooks: bool) -> tuple[str, ...]:
    """Return a warning where the agent has scrubjay's plugin besides, whose hooks stand back for installed ones."""
    if not enabled:
        return ()
    what = "its hooks stand back for these" if hooks else "it recalls and captures by itself"
    twice = "its tools may be there twice. Keep one of the two."
    return (f"scrubjay's plugin is enabled in {title} besides: {what}, and {twice}",)


def is_plugin(name: str) -> bool:
    """Return whether an agent's name of a plugin, ``PLUGIN@MARKETPLACE``, is that of scrubjay's."""
    return name.partition("@")[0] == SERVER_NAME


def has_hooks(
    data: bytes | None, agent: str, hooks: Sequence[Hook], where: Path, *, plain: bool = True
) -> bool:
    """Return whether all these hooks are configured in a file that the agent reads; ``plain``: one without comments.

    Raises:
        InputError: The document is malformed.
    """
    if plain and json_edit.first_non_json(data, where):
        return False
    return all(
        any(_all_ours(group, agent) for group in _hook_groups(data, hook.theirs, where)) for hook in hooks
    )


def _remove_hooks(
    data: bytes | None, agent: str, where: Path, keep: frozenset[str] | set[str]
) -> bytes | None:
    events = json_edit.get_value(data, ("hooks",), where)
    for event in list(events) if isinstance(events, dict) else []:
        for at in reversed(range(len(_hook_groups(data, event, where)))):
            keys = ("hooks", event, at)
            if not _all_ours(json_edit.get_value(data, keys, where), agent):
                data = json_edit.remove_items(
                    data, (*keys, "hooks"), lambda hook: _is_ours(hook, agent), where
                )
            elif event not in keep:
                data = json_edit.remove_value(data, keys, where)
    return data


def own_hooks(
    data: bytes | None, agent: str, event: str, where: Path
) -> Iterator[tuple[int, int, dict[str, Any], dict[str, Any]]]:
    """Yield our hooks of an event: position of its group, position in the group, the group, the hook.

    Raises:
        InputError: The document is malformed.
    """
    for at, group in enumerate(_hook_groups(data, event, where)):
        hooks = group.get("hooks") if isinstance(group, dict) else None
        for place, hook in enumerate(hooks if isinstance(hooks, list) else ()):
            if _is_ours(hook, agent):
                yield at, place, group, hook


def _hook_groups(data: bytes | None, event: str, where: Path) -> list[Any]:
    found = json_edit.get_value(data, ("hooks", event), where)
    return found if isinstance(found, list) else []


def _all_ours(group: Any, agent: str) -> bool:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return isinstance(hooks, list) and bool(hooks) and all(_is_ours(hook, agent) for hook in hooks)


def _is_ours(hook: Any, agent: str) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    return isinstance(command, str) and SERVER_NAME in command and f" hook {agent} " in command
