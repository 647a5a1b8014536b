"""Agent hooks: parse an agent's event, answer it with memories, queue longer work.

Standard input is an object with ``session_id``, ``transcript_path``, ``cwd``, ``hook_event_name``, at a prompt
``prompt``, at a start ``source``. Standard output is ``hookSpecificOutput.additionalContext`` for the model and
``systemMessage`` for the person (code.claude.com/docs/en/hooks, developers.openai.com/codex/hooks,
geminicli.com/docs/hooks). Cursor names them ``conversation_id``, ``workspace_roots`` and ``additional_context``, and
accepts context only at a session's start.

To add an agent, add a line to ``HOOK_FORMATS``, with its own parser and reply where none of these fits.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping

from scrubjay.api.injections import Injection, InjectionLog, in_context, times_in_context
from scrubjay.api.jobs import JobQueue
from scrubjay.config.paths import (
    ANSWERED_EVENTS,
    CAPTURE_EVENTS,
    data_folder,
    event_budget_ms,
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
"""Characters of a path or a name; longer ones are ignored."""
MAX_PROMPT = 1_000_000
RESET_SOURCES = ("startup", "compact", "clear")
"""Starts after which the model's context holds nothing injected earlier, so that nothing is left out."""
HOOK_EVENT_NAMES = {"session-start": "SessionStart", "prompt": "UserPromptSubmit"}


class HookEvent:
    """One event of an agent's session; fields that the agent does not send are empty.

    Not `frozen`, here and below: importing dataclasses would make every hook an eighth slower.

    Attributes:
        agent: Agent name, ``claude-code``.
        name: One of ``HOOK_EVENTS``.
        agent_event: The agent's own name of the event, ``UserPromptSubmit``.
        fresh: Whether the model's context no longer holds earlier turns.
        transcript: Absolute path of its transcript.
        folder: Absolute path of the working directory.
    """

    __slots__ = ("agent", "agent_event", "folder", "fresh", "name", "prompt", "session", "transcript")

    def __init__(
        self,
        agent: str,
        name: str,
        *,
        agent_event: str = "",
        session: str = "",
        transcript: str = "",
        folder: str = "",
        prompt: str = "",
        fresh: bool = False,
    ) -> None:
        self.agent = agent
        self.name = name
        self.agent_event = agent_event
        self.session = session
        self.transcript = transcript if os.path.isabs(transcript) else ""
        self.folder = folder if os.path.isabs(folder) else ""
        self.prompt = prompt
        self.fresh = fresh and name == "session-start"


def text_field(message: Mapping[str, Any], name: str, limit: int = MAX_FIELD) -> str:
    """Return a text field of at most ``limit`` characters; empty for any other value."""
    value = message.get(name)
    return value if isinstance(value, str) and len(value) <= limit and "\0" not in value else ""


def _parse(
    agent: str, name: str, message: Mapping[str, Any], session: str, transcript: str, folder: str, **more: Any
) -> HookEvent:
    """Parse an event by the names that the agent gives to these fields."""
    return HookEvent(
        agent,
        name,
        session=text_field(message, session, 200),
        transcript=text_field(message, transcript),
        folder=text_field(message, folder),
        prompt=text_field(message, "prompt", MAX_PROMPT),
        **more,
    )


def parse_standard(agent: str, name: str, message: Mapping[str, Any]) -> HookEvent:
    """Parse an event of Claude Code, Codex or Gemini CLI."""
    sent_name = text_field(message, "hook_event_name", 60)
    event = sent_name if sent_name.isidentifier() else HOOK_EVENT_NAMES.get(name, "")
    fresh = message.get("source") in RESET_SOURCES
    return _parse(
        agent, name, message, "session_id", "transcript_path", "cwd", agent_event=event, fresh=fresh
    )


def reply_standard(event: HookEvent, text: str, summary: str) -> dict[str, Any]:
    if not text:
        return {"systemMessage": summary}
    name = event.agent_event or HOOK_EVENT_NAMES.get(event.name, "")
    return {
        "hookSpecificOutput": {"hookEventName": name, "additionalContext": text},
        "systemMessage": summary,
    }


def parse_cursor(agent: str, name: str, message: Mapping[str, Any]) -> HookEvent:
    roots = message.get("workspace_roots")
    message = {**message, "folder": roots[0] if isinstance(roots, list) and roots else ""}
    return _parse(agent, name, message, "conversation_id", "transcript_path", "folder")


def reply_cursor(event: HookEvent, text: str, summary: str) -> dict[str, Any]:
    """Cursor accepts context only when a session begins, and shows no summary."""
    del summary
    return {"additional_context": text} if text and event.name == "session-start" else {}


def parse_plugin(agent: str, name: str, message: Mapping[str, Any]) -> HookEvent:
    """Parse an event forwarded by our own plugin of OpenClaw or OpenCode."""
    fresh = message.get("afresh") is True
    return _parse(agent, name, message, "session", "transcript", "folder", fresh=fresh)


def reply_plugin(event: HookEvent, text: str, summary: str) -> dict[str, Any]:
    return {"event": event.name, "context": text, "message": summary}


if TYPE_CHECKING:
    Roots = Callable[[Mapping[str, str]], tuple[str, ...]]


def _folder_below(variable: str, default: str, *below: str) -> Roots:
    def roots(env: Mapping[str, str]) -> tuple[str, ...]:
        folder = env.get(variable, "").strip() if variable else ""
        if folder.startswith("~/"):
            folder = folder.replace("~", home_folder(env), 1)
        folder = folder or os.path.join(home_folder(env), default)
        return (os.path.join(os.path.abspath(folder), *below),)

    return roots


def _openclaw_folders(env: Mapping[str, str]) -> tuple[str, ...]:
    """The plugin's log, and the folder of OpenClaw's own transcripts before it had a database."""
    return (
        os.path.join(data_folder(env), "agents", "openclaw", "agents"),
        *_folder_below("OPENCLAW_STATE_DIR", ".openclaw", "agents")(env),
    )


class HookFormat:
    """How an agent's events are read and answered; ``paused`` is the answer while memory is off, mostly none."""

    __slots__ = ("parse", "paused", "reply", "roots")

    def __init__(
        self,
        parse: Callable[[str, str, Mapping[str, Any]], HookEvent],
        reply: Callable[[HookEvent, str, str], dict[str, Any]],
        roots: Roots,
        paused: bytes = b"",
    ) -> None:
        self.parse, self.reply, self.roots, self.paused = parse, reply, roots, paused


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
    # Its plugin writes the transcript itself, without the turns of a pause.
    "openclaw": HookFormat(parse_plugin, reply_plugin, _openclaw_folders, b'{"paused": true}\n'),
}
"""Formats by agent. A transcript outside an agent's folders is not read."""


CONSOLIDATION_EVENTS = ("heartbeat", "session-end")
"""Events after which memories are consolidated, if that is due."""
MAX_CITED = 3
"""Memories that are named to the person."""
MAX_MESSAGE = 200
"""Characters of the line that the person sees."""
RESERVED_SECONDS = 0.04
"""Seconds of the budget that are not spent on waiting for the daemon."""
ALONE_SECONDS = 0.8
"""Seconds of the budget from which half are reserved for answering without the daemon, should it not answer."""
DAMAGE_SECONDS = 86_400
"""Seconds after which a damaged store is reported again."""


class HookContext:
    """Environment, folders, daemon socket and time budget of one hook.

    Attributes:
        wants_daemon: Whether no daemon answered and the settings ask for one.
    """

    def __init__(
        self, env: Mapping[str, str], deadline: Callable[[], float], extend: Callable[[float], None]
    ):
        """Args: the environment; returns the deadline; sets it, in milliseconds from the start."""
        self.env = env
        self.data = data_folder(env)
        self.fingerprint = settings_fingerprint(env)
        self.socket = socket_path(runtime_folder(env), self.fingerprint)
        self.jobs = JobQueue(self.data, self.fingerprint)
        self.injections = InjectionLog(self.data)
        self.log = Log(self.data)
        self.deadline = deadline
        self.extend = extend
        self.wants_daemon = False

    def ask(self, verb: str, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """Ask the daemon; None where it does not answer in time."""
        remaining = self.deadline() - time.monotonic()
        seconds = remaining / 2 if remaining > ALONE_SECONDS else remaining - RESERVED_SECONDS
        if seconds <= 0:
            return None
        return ask_daemon(self.socket, self.fingerprint, verb, {**arguments, "seconds": seconds}, seconds)


class HookAnswer:
    """A hook's reply, and the entry of the injection log that is written once the agent has it; None for none.

    ``stale``: whether files or commits are newer than the store.
    """

    __slots__ = ("injection", "reply", "stale")

    def __init__(
        self, reply: dict[str, Any] | None = None, injection: Injection | None = None, *, stale: bool = False
    ) -> None:
        self.reply, self.injection, self.stale = reply, injection, stale

    @property
    def count(self) -> int:
        return len(self.injection.memories) if self.injection is not None else 0


def answer_event(event: HookEvent, context: HookContext) -> HookAnswer:
    if event.name not in ANSWERED_EVENTS:
        return HookAnswer()
    injected: list[Injection] = []
    if event.session and not event.fresh:
        injected = in_context(context.injections.session(event.agent, event.session))
    events = {injection.event for injection in injected}
    first = event.name == "prompt" and "prompt" not in events
    context.extend(event_budget_ms(context.env, "first" if first else event.name))
    question = {
        "name": event.name,
        "folder": event.folder,
        "session": "" if event.fresh else event.session,
        "prompt": event.prompt,
        "known": times_in_context(injected),
        "first": first,
        "start": bool(event.session) and events.isdisjoint(ANSWERED_EVENTS),
    }
    memories = context.ask("remind", question)
    if memories is None:
        memories = _answer_without_daemon(question, context)
    cited = [str(citation) for citation in memories["cited"]]
    reply = None
    if memories["text"]:
        reply = HOOK_FORMATS[event.agent].reply(event, memories["text"], citation_summary(cited)) or None
    if not event.session or (reply is None and event.name != "session-start"):
        return HookAnswer(reply, stale=memories["stale"])
    return HookAnswer(reply, injection_of(event, memories), stale=memories["stale"])


def injection_of(event: HookEvent, memories: Mapping[str, Any]) -> Injection:
    """Return the log's entry of a reply; a prompt that injected only start memories is logged as a start."""
    name = event.name
    if name == "prompt" and all(memory["part"] in SESSION_START_PARTS for memory in memories["memories"]):
        name = "session-start"
    return Injection(
        event.agent, event.session, name, at=time.time(), folder=event.folder, fresh=event.fresh,
        tokens=memories["tokens"], memories=memories["memories"],
    )  # fmt: skip


SESSION_START_PARTS = ("pinned", "profile", "recent")


def _answer_without_daemon(question: Mapping[str, Any], context: HookContext) -> dict[str, Any]:
    context.wants_daemon = True  # until the settings say otherwise: reading them may take all of the time
    from scrubjay.api.queries import event_context
    from scrubjay.config.loader import load_settings
    from scrubjay.memory import Memory

    settings = load_settings(environ=context.env)
    hooks = settings.hooks
    budget_ms = hooks.budget_ms
    if question["name"] == "session-start":
        budget_ms = max(budget_ms, hooks.start_ms)
    elif question["first"]:
        budget_ms = max(budget_ms, hooks.first_ms)
    context.extend(budget_ms)
    context.wants_daemon = settings.resident.auto
    context.log = settings.log.open(context.data)
    # Never closed: the process ends in a moment, and SQLite's log is for the next writer to fold.
    memory = Memory.open(settings=settings, cold=True)
    seconds = context.deadline() - time.monotonic()
    return event_context(memory, hooks, {**question, "seconds": seconds})


def report_damage(event: HookEvent, context: HookContext) -> dict[str, Any] | None:
    """Return a reply that reports a damaged store to the person, once a day; else None.

    Raises:
        OSError: The time of the report cannot be noted.
    """
    if event.name not in ANSWERED_EVENTS:
        return None
    reply = HOOK_FORMATS[event.agent].reply(event, "", DAMAGE_MESSAGE)
    notice = os.path.join(context.data, f"damaged-{context.fingerprint[:16]}")
    if not reply or (os.path.exists(notice) and time.time() - os.stat(notice).st_mtime < DAMAGE_SECONDS):
        return None
    os.makedirs(context.data, mode=0o700, exist_ok=True)
    with open(notice, "wb") as file:
        os.utime(file.fileno())
    return reply


DAMAGE_MESSAGE = "scrubjay: the store is damaged, nothing is remembered. Run `scrubjay doctor`."


def citation_summary(cited: list[str]) -> str:
    r"""Return the line that the person sees: how many memories, and the first of their places.

    >>> citation_summary(["a.md:1-3", "notes/\x1b[31mb.md:4-4"])
    'scrubjay: 2 memories (a.md:1-3, b.md:4-4)'
    """
    names = [single_line(os.path.basename(citation)) for citation in cited[:MAX_CITED]]
    more = ", …" if len(cited) > MAX_CITED else ""
    noun = "memory" if len(cited) == 1 else "memories"
    return f"scrubjay: {len(cited)} {noun} ({', '.join(names)}{more})"[:MAX_MESSAGE]


def finish_late(event: HookEvent, context: HookContext) -> None:
    """Finish a hook that did not answer in time: queue its jobs, and log that a context was emptied.

    Raises:
        OSError: As `queue_jobs`, or the log cannot be written.
    """
    problem = queue_jobs(event, context)
    if problem:
        context.log.write("warning", f"hook {event.name}", agent=event.agent, memories=0, error=problem)
    if event.fresh and event.session:
        entry = Injection(event.agent, event.session, "late", at=time.time(), folder=event.folder, fresh=True)
        context.injections.append(entry)


def queue_jobs(event: HookEvent, context: HookContext, *, stale: bool = False) -> str:
    """Queue work that exceeds a hook's time, also a sync after a ``stale`` answer, and start a process for it.

    Returns:
        Why a transcript will not be read, or an empty string.

    Raises:
        OSError: The queue cannot be written, or no process can be started.
    """
    jobs = context.jobs
    if context.wants_daemon and context.socket is not None:
        client.spawn_detached(["resident", "serve", "--if-wanted"], context.env)
    roots = HOOK_FORMATS[event.agent].roots(context.env)
    transcript = find_transcript(event.transcript, roots) if event.name in CAPTURE_EVENTS else None
    if transcript:
        jobs.enqueue("capture", event=event.name, root=transcript[0], path=transcript[1])
    if event.name == "session-start":
        jobs.enqueue("catch-up", event=event.name, root=roots[0] if roots else "")
    elif stale:
        jobs.enqueue("catch-up", event=event.name)
    if event.name in CONSOLIDATION_EVENTS:
        jobs.enqueue("consolidate", event=event.name)
    refused = event.name in CAPTURE_EVENTS and event.transcript and transcript is None
    problem = "transcript outside the agent's folders" if refused else ""
    if not (transcript or stale or event.name in ("session-start", *CONSOLIDATION_EVENTS)):
        return problem
    if event.name in CAPTURE_EVENTS and context.ask("errands", {}) is not None:
        return problem
    if not jobs.busy():
        client.spawn_detached(["hook", "--errands"], context.env)
    return problem


def find_transcript(transcript: str, roots: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the folder and transcript to sync; None for one outside the agent's folders.

    For an agent that names no transcript all of its folder is scanned.
    """
    for root in roots:
        if not transcript:
            return (root, "") if os.path.isdir(root) else None
        real, inside = os.path.realpath(transcript), os.path.realpath(root)
        if real.startswith(inside.rstrip(os.sep) + os.sep):
            return root, os.path.join(root, os.path.relpath(real, inside))
    return None
