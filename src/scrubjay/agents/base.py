r"""Agents, the registry of them, and the parts that are installed: servers, hooks, marked blocks, files of our own.

An agent names its `Part`s and writes nothing: `agents.installation` shows the difference that they make, writes it and
reverts it. Text outside the two marks of a block is not touched.

>>> put_block(b"# Mine\n", "Use it.")
b'# Mine\n\n<!-- scrubjay:begin -->\nUse it.\n<!-- scrubjay:end -->\n'
>>> remove_block(put_block(b"# Mine\n", "Use it."))
b'# Mine\n'

The form is ``{"hooks": {"SessionStart": [{"matcher": "startup|resume", "hooks": [{"type": "command", "command": "...",
"timeout": 5}]}]}}``. Our hooks are recognised by their command, ``.../scrubjay hook AGENT EVENT || true``.
"""

from __future__ import annotations

import difflib
import importlib
import re
import shlex
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from scrubjay.agents import json_edit
from scrubjay.errors import InputError
from scrubjay.frozen import frozen

SERVER_NAME: Final = "scrubjay"
"""Name of our entries in an agent's configuration, which each of our commands holds too."""
SHARED_MODE: Final = 0o644
PRIVATE_MODE: Final = 0o600
"""Rights of a file that is new: of texts, and of configuration that agents keep tokens in."""


@frozen
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
        path = self.env.get(variable, "").strip()
        if not path:
            return self.root.joinpath(*below)
        return self.root / path[2:] if path.startswith("~/") else Path(path).absolute()

    def hook(self, agent: str, event: str) -> str:
        """Return the POSIX shell command that an agent runs at one of its events.

        It never fails: a scrubjay that was moved or removed must not keep a person from working, and some agents
        treat exit code 2 as a veto.
        """
        return f"{shlex.join([*self.command, 'hook', agent, event])} || true"

    @property
    def server(self) -> dict[str, Any]:
        return {"command": self.command[0], "args": [*self.command[1:], "mcp"]}


@frozen
class Options:
    """Options of an installer.

    Attributes:
        hooks: Whether the agent calls scrubjay by itself: to recall before an answer, to capture sessions.
        project: Folder of a project to configure; None for the person's own configuration.
    """

    hooks: bool = True
    project: Path | None = None

    @property
    def mode(self) -> int:
        """Rights of new files of configuration: a project's are shared."""
        return SHARED_MODE if self.project else PRIVATE_MODE


@frozen
class Change:
    """One file, before and after.

    Attributes:
        path: Where the agent looks for it; a symbolic link stays one, its target changes.
        old: Its bytes now; None for no file.
        new: Its bytes afterwards; None for no file.
        mode: Permissions of a new file; an existing file keeps its own.
        is_text: Whether all of it is a text of ours, which the person may rewrite.
    """

    path: Path
    old: bytes | None
    new: bytes | None
    mode: int = SHARED_MODE
    is_text: bool = False


Edit = Callable[[bytes | None], bytes | None]
"""Makes a file's new bytes of its old ones; None stands for no file."""


class Part(NamedTuple):
    """A part of scrubjay in one of an agent's files; several parts may share a file.

    Attributes:
        name: One of ``PARTS``.
        put: Adds the part, or brings it up to date.
        remove: Removes it.
        exists: Whether it is in the file.
        mode, is_text: As in `Change`.
        note: Says what of the person's is in its place, and is therefore left alone; empty for nothing.
    """

    name: str
    path: Path
    put: Edit
    remove: Edit
    exists: Callable[[bytes | None], bool] = lambda data: data is not None
    mode: int = SHARED_MODE
    note: Callable[[bytes | None], str] = lambda _: ""
    is_text: bool = False


PARTS: Final = ("mcp", "hooks", "instructions")


class Agent(ABC):
    """An agent that scrubjay can be installed for.

    Its methods raise `InputError` where a file is malformed or unreadable.

    Attributes:
        name: As a person types it, ``claude-code``.
        title: As its makers write it, ``Claude Code``.
        program: Its program on PATH.
        merges_hooks: Whether it runs the hooks of a person and of a project both, so that ours would run twice.
        plain_hooks: Whether it ignores a file of hooks that is not plain JSON.
    """

    name: str
    title: str
    program: str
    merges_hooks = False
    plain_hooks = False

    @abstractmethod
    def folder(self, home: Home) -> Path:
        """Return its folder, which tells that it is on this machine."""

    @abstractmethod
    def parts(self, home: Home, options: Options) -> Sequence[Part]:
        """Return everything that may be installed, in the order in which it is edited.

        Raises:
            InputError: Also where the agent has no configuration for a project.
        """

    def has_plugin(self, home: Home) -> bool:
        return False

    def hook_notes(self, home: Home) -> tuple[str, ...]:
        """Describe, in sentences, what its hooks read, store and recall."""
        return (self.no_hooks_note,)

    def warnings(self, home: Home, options: Options) -> tuple[str, ...]:
        """Describe, in sentences, what interferes with the installation: a second one, a setting."""
        if not self.has_plugin(home):
            return ()
        besides = "its hooks stand back for these" if options.hooks else "it recalls and captures by itself"
        return (
            f"scrubjay's plugin is enabled in {self.title} besides: {besides}, and its tools may be there twice. "
            "Keep one of the two.",
        )

    @property
    def no_hooks_note(self) -> str:
        return f"Nothing by itself: {self.title} can search, add and forget memories when it decides to."

    def is_present(self, home: Home) -> bool:
        return self.folder(home).is_dir() or bool(shutil.which(self.program, path=home.env.get("PATH")))

    def install(self, home: Home, options: Options) -> list[Change]:
        """Return its files with scrubjay configured; unchanged files may be among them.

        Parts of an earlier installation that ``options`` no longer ask for are removed.
        """
        runs_twice = self.merges_hooks and options.project and self.installed_parts(home).get("hooks")
        removed_part = "hooks" if runs_twice or not options.hooks else ""
        parts = self.parts(home, options)
        return _edit_files((part, part.remove if part.name == removed_part else part.put) for part in parts)

    def uninstall(
        self, home: Home, options: Options, shared: Callable[[Path], bool] = lambda _: False
    ) -> list[Change]:
        """Return its files without any part of scrubjay, everything else unchanged.

        ``shared`` tells whether another agent reads the file, too: then all but hooks, which name their agent, stays.
        """
        return _edit_files(
            (part, part.remove)
            for part in self.parts(home, options)
            if part.name == "hooks" or not shared(part.path)
        )

    def install_notes(self, home: Home, options: Options) -> tuple[str, ...]:
        """Describe, in sentences, what will be read and stored of the person's work, from where, and what prevents it.

        A trust prompt of the agent may prevent it, or a file that it ignores.
        """
        part_notes = [part.note(read_if_exists(part.path)) for part in self.parts(home, options)]
        warnings = (*filter(None, part_notes), *self.warnings(home, options))
        if not options.hooks:
            return (self.no_hooks_note, *warnings)
        notes = [*self.hook_notes(home)]
        if at := self.ignored_at(home, options):
            path = self.hook_file(home, options)
            notes.append(
                f"{self.title} ignores all of {path} while it is no plain JSON: mend {at}, or no hook runs."
            )
        return (*notes, *warnings)

    def installed_parts(self, home: Home) -> dict[str, bool]:
        """Return whether each of ``PARTS`` is installed for the person.

        Without ``hooks`` for an agent that scrubjay has none for. ``plugin`` is there, and true, where the agent has
        scrubjay's plugin enabled, and alone where nothing else is installed.
        """
        parts: dict[str, bool] = {}
        for part in sorted(self.parts(home, Options()), key=lambda part: PARTS.index(part.name)):
            parts[part.name] = parts.get(part.name, True) and part.exists(read_if_exists(part.path))
        if self.has_plugin(home):
            return {**(parts if any(parts.values()) else {}), "plugin": True}
        return parts

    def hook_file(self, home: Home, options: Options) -> Path:
        return next(part.path for part in self.parts(home, options) if part.name == "hooks")

    def ignored_at(self, home: Home, options: Options) -> str:
        """Return ``path:line:column`` of what makes it ignore its file of hooks, or an empty string.

        A comment or trailing comma is enough; Claude Code 2.1.197 says nothing, codex-cli 0.169.0 warns.
        """
        if not (self.plain_hooks and options.hooks):
            return ""
        path = self.hook_file(home, options)
        return json_edit.first_non_json(read_if_exists(path), path)


def _edit_files(edits: Iterable[tuple[Part, Edit]]) -> list[Change]:
    """Edit each part's file as the parts before it left the file."""
    changes: dict[Path, Change] = {}
    for part, edit in edits:
        if part.path not in changes:
            old = read_if_exists(part.path)
            changes[part.path] = Change(part.path, old, old, part.mode, part.is_text)
        changes[part.path] = replace(changes[part.path], new=edit(changes[part.path].new))
    return list(changes.values())


def skill() -> str:
    return (Path(__file__).parent / "texts" / "SKILL.md").read_text("utf-8")


def instructions() -> str:
    return (Path(__file__).parent / "texts" / "block.md").read_text("utf-8").rstrip("\n")


def plugin_files(agent: str) -> dict[str, bytes]:
    """Return the files of a plugin in an agent's own language: name to content."""
    folder = Path(__file__).parent / "plugins" / agent
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def transcript_notes(title: str, folder: Path, *, compaction: str = "compaction") -> tuple[str, str]:
    """Return the hook notes of an agent whose hooks name its transcripts."""
    return (
        f"Your sessions with {title}: both sides are captured from its transcripts ({folder}) after each "
        f"answer, before {compaction}, and at the end. Earlier sessions that still exist are captured when the next "
        "one begins.",
        "When a session starts, and before it answers you, relevant memories are added to its context; a line says so "
        "each time.",
    )


def read_if_exists(path: Path) -> bytes | None:
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
        similar = difflib.get_close_matches(name, AGENTS, n=1)
        raise InputError(
            f"No agent is called {name!r}. Nothing was changed.",
            hint=f"did you mean {similar[0]}?" if similar else f"there are: {', '.join(AGENTS)}",
        )
    module, _, installer = AGENTS[name].partition(":")
    agent: Agent = getattr(importlib.import_module(f"scrubjay.agents.{module}"), installer or "AGENT")
    return agent


BLOCK_BEGIN: Final = b"<!-- scrubjay:begin -->"
BLOCK_END: Final = b"<!-- scrubjay:end -->"

# Only a whole line is a mark: within a sentence it is a mention.
_MARK_PATTERN = re.compile(rb"^(?:%b|%b)[ \t]*(?=\r?$)" % (BLOCK_BEGIN, BLOCK_END), re.MULTILINE)
_BLOCK_PATTERN = re.compile(
    rb"^%b[ \t]*\r?\n(?:(?!%b[ \t]*\r?$).*\n)*?%b[ \t]*(?=\r?$)" % (BLOCK_BEGIN, BLOCK_BEGIN, BLOCK_END),
    re.MULTILINE,
)


def check_marks(data: bytes | None, where: Path) -> bytes | None:
    """Return the data; raise `InputError` if a mark lacks its counterpart, since our part cannot be told then."""
    blocks = [match.span() for match in _BLOCK_PATTERN.finditer(data or b"")]
    for mark in _MARK_PATTERN.finditer(data or b""):
        if not any(start <= mark.start() < end for start, end in blocks):
            line = (data or b"").count(b"\n", 0, mark.start()) + 1
            raise InputError(
                f"{where}:{line}: {mark[0].decode().strip()} has no other half. Nothing was changed.",
                hint="remove that line and scrubjay's text next to it, then try again",
            )
    return data


def put_block(data: bytes | None, text: str) -> bytes:
    """Return the file with the block; its text has no trailing line end."""
    source = data or b""
    eol = b"\r\n" if b"\r\n" in source else b"\n"
    block = eol.join([BLOCK_BEGIN, *text.encode("utf-8").splitlines(), BLOCK_END])
    if _BLOCK_PATTERN.search(source):
        return _BLOCK_PATTERN.sub(lambda _: block, source, count=1)
    if not source.strip():
        gap = b"" if not source or source.endswith(b"\n") else eol
        return source + gap + block + eol
    gap = eol if source.endswith((b"\n", b"\r")) else eol + eol
    return source + gap + block + eol


def remove_block(data: bytes | None) -> bytes | None:
    """Return the file without the block and the empty line before it; None where there is no file."""
    if data is None:
        return None
    while match := _BLOCK_PATTERN.search(data):
        before, after = data[: match.start()], data[match.end() :]
        for eol in (b"\r\n", b"\n"):
            if after.startswith(eol):
                after = after[len(eol) :]
                before = before[: -len(eol)] if before.endswith(eol * 2) and before.strip() else before
                break
        data = before + after
    return data


class Editor(NamedTuple):
    """Reads, puts and removes the value at a path of keys in a kind of file."""

    get: Callable[..., Any]
    put: Callable[..., bytes]
    remove: Callable[..., bytes | None]


JSON: Final = Editor(json_edit.get_value, json_edit.put_members, json_edit.remove_value)


def server_part(
    path: Path, keys: tuple[str, str], entry: Mapping[str, Any], mode: int, editor: Editor = JSON
) -> Part:
    """Our entry among an agent's servers; one of the person's by that name is left alone."""

    def is_foreign(data: bytes | None) -> bool:
        return is_foreign_server(editor.get(data, keys, path))

    return Part(
        "mcp",
        path,
        put=lambda data: data if is_foreign(data) else editor.put(data, keys, entry, path),
        remove=lambda data: data if is_foreign(data) else editor.remove(data, keys, path),
        exists=lambda data: editor.get(data, keys, path) is not None,
        mode=mode,
        note=lambda data: (
            f"{path}: {'.'.join(keys)} is an entry of your own and stays as it is; remove it to have scrubjay's."
            if is_foreign(data)
            else ""
        ),
    )


def is_foreign_server(entry: Any) -> bool:
    """Return whether an entry with our name was not written by an installer, such as that of a server elsewhere."""
    if not isinstance(entry, dict):
        return False
    command, args = entry.get("command"), entry.get("args", [])
    words = [
        *(command if isinstance(command, list) else [command]),
        *(args if isinstance(args, list) else [None]),
    ]
    return words[-1] != "mcp" or not is_our_command(words[:-1])


def is_our_command(words: Sequence[Any]) -> bool:
    """Return whether words, a subcommand's excepted, are scrubjay's program alone, or Python with its module."""
    match words:
        case [str(program)]:
            return re.split(r"[\\/]", program)[-1].partition(".")[0] == SERVER_NAME
        case [str(), "-m", str(module)]:
            return module.partition(".")[0] == SERVER_NAME
    return False


def block_part(path: Path) -> Part:
    """Our lines in an instruction file of the person's."""
    return Part(
        "instructions",
        path,
        put=lambda data: put_block(check_marks(data, path), instructions()),
        remove=lambda data: remove_block(check_marks(data, path)),
        exists=lambda data: bool(data and _BLOCK_PATTERN.search(data)),
    )


def file_part(name: str, path: Path, content: bytes) -> Part:
    return Part(name, path, lambda _: content, lambda _: None)


def text_part(path: Path, text: str) -> Part:
    """A file of our instructions; one that somebody has rewritten is kept."""
    content = text.encode("utf-8")
    return Part(
        "instructions",
        path,
        put=lambda _: content,
        remove=lambda data: None if data is None or data.strip() == content.strip() else data,
        is_text=True,
    )


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


def hooks_part(agent: Agent, path: Path, hooks: Sequence[Hook], home: Home, mode: int) -> Part:
    return Part(
        "hooks",
        path,
        put=lambda data: put_hooks(data, agent.name, hooks, home, path),
        remove=lambda data: put_hooks(data, agent.name, (), home, path),
        exists=lambda data: _has_hooks(data, agent, hooks, path),
        mode=mode,
        note=lambda data: extended_note(_extended_events(data, agent.name, hooks, path), path),
    )


def extended_note(events: Sequence[str], path: Path) -> str:
    if not events:
        return ""
    return (
        f"{path}: the hook of {', '.join(events)} runs scrubjay by a command of your own and stays as it is; "
        "remove it to have scrubjay's."
    )


def _extended_events(data: bytes | None, agent: str, hooks: Sequence[Hook], where: Path) -> list[str]:
    """The events at which a command of the person's runs our hook; ours beside it would run twice."""
    return [
        hook.theirs
        for hook in hooks
        if any(
            is_extended_hook(theirs, agent)
            for group in json_edit.get_list(data, ("hooks", hook.theirs), where)
            for theirs in _group_hooks(group)
        )
    ]


def put_hooks(data: bytes | None, agent: str, hooks: Sequence[Hook], home: Home, where: Path) -> bytes | None:
    extended = _extended_events(data, agent, hooks, where)
    hooks = [hook for hook in hooks if hook.theirs not in extended]
    data = _remove_hooks(data, agent, where, keep={hook.theirs for hook in hooks})
    for hook in hooks:
        group: dict[str, Any] = {"matcher": hook.matcher} if hook.matcher else {}
        command = home.hook(agent, hook.ours)
        group["hooks"] = [{"type": "command", "command": command, "timeout": hook.timeout}]
        data = json_edit.put_item(
            data, ("hooks", hook.theirs), group, lambda item: _is_ours(item, agent), where
        )
    return data


def check_not_ignored(agent: Agent, home: Home, options: Options) -> None:
    """Raise `InputError` unless an agent reads the file that its hooks are written into."""
    if at := agent.ignored_at(home, options):
        raise InputError(
            f"{agent.title} ignores the whole file because of a comment or a comma too many at {at}. "
            f"Nothing was installed for {agent.title}.",
            hint=f"remove it, then scrubjay install {agent.name}; --no-hooks installs all but the hooks",
        )


def is_plugin(name: str) -> bool:
    """Return whether an agent's name of a plugin, ``PLUGIN@MARKETPLACE``, is that of scrubjay's."""
    return name.partition("@")[0] == SERVER_NAME


def _has_hooks(data: bytes | None, agent: Agent, hooks: Sequence[Hook], where: Path) -> bool:
    """Whether all these hooks are configured in a file that the agent reads."""
    if agent.plain_hooks and json_edit.first_non_json(data, where):
        return False
    extended = _extended_events(data, agent.name, hooks, where)
    return all(
        hook.theirs in extended
        or any(
            _is_ours(group, agent.name) for group in json_edit.get_list(data, ("hooks", hook.theirs), where)
        )
        for hook in hooks
    )


def _remove_hooks(data: bytes | None, agent: str, where: Path, keep: set[str]) -> bytes | None:
    events = json_edit.get_value(data, ("hooks",), where)
    for event in list(events) if isinstance(events, dict) else []:
        for index in reversed(range(len(json_edit.get_list(data, ("hooks", event), where)))):
            keys = ("hooks", event, index)
            if not _is_ours(json_edit.get_value(data, keys, where), agent):
                data = json_edit.remove_items(
                    data, (*keys, "hooks"), lambda hook: is_our_hook(hook, agent), where
                )
            elif event not in keep:
                data = json_edit.remove_value(data, keys, where)
    return data


def own_hooks(
    data: bytes | None, agent: str, event: str, where: Path
) -> Iterator[tuple[int, int, dict[str, Any], dict[str, Any]]]:
    """Yield our hooks of an event: position of its group, position in the group, the group, the hook."""
    for index, group in enumerate(json_edit.get_list(data, ("hooks", event), where)):
        for hook_index, hook in enumerate(_group_hooks(group)):
            if is_our_hook(hook, agent):
                yield index, hook_index, group, hook


def _group_hooks(group: Any) -> list[Any]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return hooks if isinstance(hooks, list) else []


def _is_ours(group: Any, agent: str) -> bool:
    hooks = _group_hooks(group)
    return bool(hooks) and all(is_our_hook(hook, agent) for hook in hooks)


def is_our_hook(hook: Any, agent: str) -> bool:
    """Return whether a hook's command is as `Home.hook` writes it, and nothing more."""
    try:
        words = shlex.split(_hook_command(hook).removesuffix(" || true"))
    except ValueError:  # an open quotation mark
        return False
    return words[-3:-1] == ["hook", agent] and is_our_command(words[:-3])


def is_extended_hook(hook: Any, agent: str) -> bool:
    """Return whether a command that somebody wrote or extended runs our hook."""
    command = _hook_command(hook)
    return SERVER_NAME in command and f" hook {agent} " in command and not is_our_hook(hook, agent)


def _hook_command(hook: Any) -> str:
    command = hook.get("command") if isinstance(hook, dict) else None
    return command if isinstance(command, str) else ""
