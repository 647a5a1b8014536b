"""Agent hooks: parse an agent's event, answer it with memories, queue what takes longer.

On standard input an object with ``session_id``, ``transcript_path``, ``cwd``, ``hook_event_name``, at a prompt
``prompt``, at a start ``source``. On standard output ``hookSpecificOutput.additionalContext``, which the model reads,
and ``systemMessage``, which the person reads. (code.claude.com/docs/en/hooks, developers.openai.com/codex/hooks,
geminicli.com/docs/hooks)

``conversation_id`` names the session and ``workspace_roots`` the folders; a session that begins takes
``additional_context``. What is answered before a prompt cannot carry context, so nothing is.

To add an agent: a line here, and a module beside this one with ``parse`` and ``reply`` where none of those fits.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping

from scrubjay.api.jobs import JobQueue
from scrubjay.config.paths import (
    ANSWERED_EVENTS,
    CAPTURE_EVENTS,
    data_folder,
    home_folder,
    runtime_folder,
    settings_fingerprint,
)
from scrubjay.daemon import client
from scrubjay.daemon.client import ask_daemon, socket_path
from scrubjay.log import Log
from scrubjay.text.display import single_line

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any


MAX_FIELD = 4_096
"""Characters of a path or a name; longer ones are none."""


class HookEvent:
    """One moment in an agent's session.

    Attributes:
        agent: Which agent, ``claude-code``.
        name: One of ``HOOK_EVENTS``.
        theirs: The agent's own name of it, ``UserPromptSubmit``; empty where it says none.
        session: The conversation; empty where it is not said.
        afresh: Whether the model no longer has what was said in it before.
        transcript: Absolute path of its transcript; empty where there is none.
        folder: Absolute path of the folder that the agent works in; empty where it is not said.
        prompt: What the person asks.
    """

    __slots__ = ("afresh", "agent", "folder", "name", "prompt", "session", "theirs", "transcript")

    def __init__(self, agent: str, name: str, said: Mapping[str, str], *, afresh: bool = False) -> None:
        """Args: the agent, the event, its fields, of which any may be missing, and whether it begins afresh."""
        self.afresh = afresh
        self.agent = agent
        self.name = name
        self.theirs = said.get("theirs", "")
        self.session = said.get("session", "")
        self.transcript = said.get("transcript", "")
        self.folder = said.get("folder", "")
        self.prompt = said.get("prompt", "")


def text_field(said: Mapping[str, Any], name: str, most: int = MAX_FIELD) -> str:
    """Return a field that holds text of at most so many characters; empty for anything else."""
    value = said.get(name)
    return value if isinstance(value, str) and len(value) <= most and "\0" not in value else ""


MAX_PROMPT = 1_000_000
RESET_SOURCES = ("compact", "clear")
"""Starts after which the model no longer has what was said before, so that nothing of it is left out."""
HOOK_EVENT_NAMES = {"session-start": "SessionStart", "prompt": "UserPromptSubmit"}


def parse_standard(agent: str, name: str, said: Mapping[str, Any]) -> HookEvent:
    """Return the event."""
    folder, transcript = text_field(said, "cwd"), text_field(said, "transcript_path")
    theirs = text_field(said, "hook_event_name", 60)
    return HookEvent(
        agent,
        name,
        {
            "theirs": theirs if theirs.isidentifier() else HOOK_EVENT_NAMES.get(name, ""),
            "session": text_field(said, "session_id", 200),
            "transcript": transcript if os.path.isabs(transcript) else "",
            "folder": folder if os.path.isabs(folder) else "",
            "prompt": text_field(said, "prompt", MAX_PROMPT),
        },
        afresh=said.get("source") in RESET_SOURCES,
    )


def reply_standard(event: HookEvent, told: str, shown: str) -> dict[str, Any]:
    """Return what the agent is answered."""
    inner = {"hookEventName": event.theirs or HOOK_EVENT_NAMES.get(event.name, ""), "additionalContext": told}
    return {"hookSpecificOutput": inner, "systemMessage": shown}


def parse_cursor(agent: str, name: str, said: Mapping[str, Any]) -> HookEvent:
    """Return the event."""
    roots = said.get("workspace_roots")
    folder = text_field({"folder": roots[0]}, "folder") if isinstance(roots, list) and roots else ""
    transcript = text_field(said, "transcript_path")
    fields = {
        "session": text_field(said, "conversation_id", 200),
        "transcript": transcript if os.path.isabs(transcript) else "",
        "folder": folder if os.path.isabs(folder) else "",
        "prompt": text_field(said, "prompt", MAX_PROMPT),
    }
    return HookEvent(agent, name, fields)


def reply_cursor(event: HookEvent, told: str, shown: str) -> dict[str, Any]:
    """Return what Cursor is answered; an empty object is nothing."""
    del shown
    return {"additional_context": told} if event.name == "session-start" else {}


def parse_plugin(agent: str, name: str, said: Mapping[str, Any]) -> HookEvent:
    """Return the event."""
    folder, transcript = text_field(said, "folder"), text_field(said, "transcript")
    fields = {
        "session": text_field(said, "session", 200),
        "transcript": transcript if os.path.isabs(transcript) else "",
        "folder": folder if os.path.isabs(folder) else "",
        "prompt": text_field(said, "prompt", MAX_PROMPT),
    }
    return HookEvent(agent, name, fields, afresh=said.get("afresh") is True)


def reply_plugin(event: HookEvent, told: str, shown: str) -> dict[str, Any]:
    """Return what the agent is answered."""
    return {"event": event.name, "context": told, "message": shown}


if TYPE_CHECKING:
    Roots = Callable[[Mapping[str, str]], tuple[str, ...]]


def _folder_below(variable: str, default: str, *below: str) -> Roots:
    """Folder that a variable names, or the default in the home folder, and what is below it."""

    def roots(around: Mapping[str, str]) -> tuple[str, ...]:
        named = around.get(variable, "").strip() if variable else ""
        folder = named.replace("~", home_folder(around), 1) if named.startswith("~/") else named
        folder = folder or os.path.join(home_folder(around), default)
        return (os.path.join(os.path.abspath(folder), *below),)

    return roots


def _openclaw_folders(around: Mapping[str, str]) -> tuple[str, ...]:
    """The log that the plugin writes, and where OpenClaw kept its own before it had a database."""
    return (
        os.path.join(data_folder(around), "agents", "openclaw", "agents"),
        *_folder_below("OPENCLAW_STATE_DIR", ".openclaw", "agents")(around),
    )


class HookFormat:
    """How an agent's hooks are read and answered, and the folders its transcripts lie in."""

    __slots__ = ("parse", "reply", "roots")

    def __init__(
        self,
        parse: Callable[[str, str, Mapping[str, Any]], HookEvent],
        reply: Callable[[HookEvent, str, str], dict[str, Any]],
        roots: Roots,
    ) -> None:
        self.parse, self.reply, self.roots = parse, reply, roots


HOOK_FORMATS = {
    "claude-code": HookFormat(
        parse_standard, reply_standard, _folder_below("CLAUDE_CONFIG_DIR", ".claude", "projects")
    ),
    "codex": HookFormat(parse_standard, reply_standard, _folder_below("CODEX_HOME", ".codex", "sessions")),
    "gemini": HookFormat(
        parse_standard, reply_standard, _folder_below("GEMINI_CLI_HOME", "", ".gemini", "tmp")
    ),
    "cursor": HookFormat(parse_cursor, reply_cursor, lambda _: ()),
    "opencode": HookFormat(
        parse_plugin,
        reply_plugin,
        _folder_below("XDG_DATA_HOME", os.path.join(".local", "share"), "opencode"),
    ),
    "openclaw": HookFormat(parse_plugin, reply_plugin, _openclaw_folders),
}
"""Formats by agent. A transcript outside an agent's folders is not read."""


CONSOLIDATION_EVENTS = ("heartbeat", "session-end")
"""Events after which old memories are told in short, where it is time."""
MAX_CITED = 3
"""Memories that are named to the person."""
MAX_MESSAGE = 200
"""Characters of the line that the person sees."""
RESERVED_SECONDS = 0.04
"""Seconds of the budget that are not spent on waiting for a resident."""


class HookContext:
    """What a hook has around it: the environment, the folders, the resident's socket, and its time.

    Attributes:
        alone: Whether there was no resident to ask, and the settings, where they are known, wish for one.
    """

    def __init__(self, around: Mapping[str, str], end: Callable[[], float], until: Callable[[float], None]):
        """Args: the environment; tells when the time is up; sets that, in milliseconds from the start."""
        self.around = around
        self.data = data_folder(around)
        self.mark = settings_fingerprint(around)
        self.socket = socket_path(runtime_folder(around), self.mark)
        self.errands = JobQueue(self.data, self.mark)
        self.log = Log(self.data)
        self.end = end
        self.until = until
        self.alone = False

    def ask(self, verb: str, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """Ask the resident, as long as there is time."""
        left = self.end() - time.monotonic() - RESERVED_SECONDS
        return ask_daemon(self.socket, self.mark, verb, arguments, left) if left > 0 else None


def answer_event(event: HookEvent, near: HookContext) -> tuple[dict[str, Any] | None, int]:
    """Return what the agent is answered, None for nothing, and how many memories that tells."""
    if event.name not in ANSWERED_EVENTS:
        return None, 0
    session = "" if event.afresh else event.session
    asked = {"name": event.name, "folder": event.folder, "session": session, "prompt": event.prompt}
    found = near.ask("remind", asked)
    if found is None:
        found = _answer_without_daemon(asked, near)
    if not found.get("text"):
        return None, 0
    cited = [str(one) for one in found["cited"]]
    told = HOOK_FORMATS[event.agent].reply(event, found["text"], citation_summary(cited))
    return (told, len(cited)) if told else (None, 0)


def _answer_without_daemon(asked: Mapping[str, Any], near: HookContext) -> dict[str, Any]:
    near.alone = True  # as far as is known before the settings are read: they may take all the time there is
    from scrubjay.api.queries import event_context
    from scrubjay.config.loader import load_settings
    from scrubjay.memory import Memory

    settings = load_settings(environ=near.around)
    near.until(settings.hooks.budget_ms)
    near.alone = settings.resident.auto
    near.log = settings.log.open(near.data)
    # Never closed: the process ends in a moment, and SQLite's log is for the next writer to fold.
    memory = Memory.open(settings=settings, cold=True)
    return event_context(memory, settings.hooks, asked)


def citation_summary(cited: list[str]) -> str:
    r"""Return the line that the person sees: how many memories, and where the first of them stand.

    >>> citation_summary(["a.md:1-3", "notes/\x1b[31mb.md:4-4"])
    'scrubjay: 2 memories (a.md:1-3, b.md:4-4)'
    """
    names = [single_line(os.path.basename(one)) for one in cited[:MAX_CITED]]
    more = ", …" if len(cited) > MAX_CITED else ""
    noun = "memory" if len(cited) == 1 else "memories"
    return f"scrubjay: {len(cited)} {noun} ({', '.join(names)}{more})"[:MAX_MESSAGE]


def queue_jobs(event: HookEvent, near: HookContext) -> None:
    """Leave to others what takes longer than a hook may.

    Raises:
        OSError: It cannot be written down, or nobody can be started who does it.
    """
    if near.alone and near.socket is not None:
        client.spawn_detached(["resident", "serve", "--if-wanted"], near.around)
    roots = HOOK_FORMATS[event.agent].roots(near.around)
    found = find_transcript(event.transcript, roots) if event.name in CAPTURE_EVENTS else None
    if found:
        near.errands.put("capture", event=event.name, root=found[0], path=found[1])
    if event.name == "session-start":
        near.errands.put("catch-up", event=event.name, root=roots[0] if roots else "")
    if event.name in CONSOLIDATION_EVENTS:
        near.errands.put("consolidate", event=event.name)
    if not (found or event.name in ("session-start", *CONSOLIDATION_EVENTS)):
        return
    if event.name in CAPTURE_EVENTS and near.ask("errands", {}) is not None:
        return
    if not near.errands.busy():
        client.spawn_detached(["hook", "--errands"], near.around)


def find_transcript(transcript: str, roots: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the folder and the transcript in it that are to be taken in; None for one that lies elsewhere.

    An agent that names no transcript has them where only a look at all of them tells which is new.
    """
    for root in roots:
        if not transcript:
            return (root, "") if os.path.isdir(root) else None
        real, inside = os.path.realpath(transcript), os.path.realpath(root)
        if real.startswith(inside.rstrip(os.sep) + os.sep):
            return root, os.path.join(root, os.path.relpath(real, inside))
    return None
