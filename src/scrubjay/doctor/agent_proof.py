"""Prove an agent end to end: a marker memory is captured, recalled and forgotten through its own commands.

The sample transcript of each agent is as small as the reader of its format accepts (`ingest/transcripts`). It lies in a
folder of its own, which an environment variable passes to the agent's hook.

The marker goes into the person's own store, since another store would prove nothing, in a session and project of its
own. It is removed whatever fails.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scrubjay import __version__
from scrubjay.agents import claude_code, codex, gemini
from scrubjay.agents.base import Agent, Hook
from scrubjay.api.injections import InjectionLog
from scrubjay.api.jobs import JobQueue
from scrubjay.config.paths import make_private, settings_fingerprint
from scrubjay.doctor import checks
from scrubjay.doctor.agent_commands import AgentCommands
from scrubjay.doctor.checks import Installation
from scrubjay.errors import ScrubjayError
from scrubjay.models.dates import now_micros, to_datetime
from scrubjay.models.ids import SHOWN_ID
from scrubjay.models.records import STATUSES
from scrubjay.models.reports import PROBLEM, Check, check_ok, check_problem, check_warning
from scrubjay.redaction.redactor import redact_text
from scrubjay.storage.sqlite.lock import try_exclusive as locked

if TYPE_CHECKING:
    from scrubjay.memory import Memory
    from scrubjay.models.reports import SourceStatus


RESERVED_NAME: Final = "scrubjay-doctor"
"""Folder of all markers, and how their sessions' names begin."""


@dataclass(frozen=True, slots=True)
class Marker:
    """One marker memory.

    Attributes:
        folder: Folder of the conversation's file, some levels deep.
        project: Working directory of the pretended session.
        at: ISO 8601 time.
    """

    word: str
    session: str
    folder: Path
    project: Path
    at: str

    @property
    def text(self) -> str:
        return f"The doctor of scrubjay saw {self.word} fly over the harbour."

    @property
    def start_session(self) -> str:
        """The session that the start step begins."""
        return f"{self.session}-starts"

    @property
    def ask_session(self) -> str:
        """The session that asks: the marker's own session has it in its context already."""
        return f"{self.session}-asks"

    @property
    def question(self) -> str:
        return f"Did the doctor of scrubjay see {self.word} fly over the harbour?"


@dataclass(frozen=True, slots=True)
class SampleSession:
    """A conversation as one agent stores it, and the input of its hooks.

    Attributes:
        path: Returns a marker's file, below the folder given as the agent's own.
        lines: Returns the records of the file.
        variables: Returns the environment variables that name the folder.
        hook_input: Returns the hook's input for an event, marker and file.
    """

    path: Callable[[Marker], str]
    lines: Callable[[Marker], list[dict[str, Any]]]
    variables: Callable[[Path], Mapping[str, str]]
    hook_input: Callable[[str, Marker, Path], dict[str, Any]]

    def write(self, marker: Marker) -> Path:
        """Write the conversation, readable by its owner alone, and return its file."""
        file = marker.folder / self.path(marker)
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = "".join(f"{json.dumps(line)}\n" for line in self.lines(marker))
        file.touch(mode=0o600)
        file.write_text(text, encoding="utf-8")
        return file


def _hook_input(hooks: Sequence[Hook], event: str, marker: Marker, file: Path) -> dict[str, Any]:
    """Hook input of Claude Code, Codex and Gemini CLI."""
    is_prompt = event == "prompt"
    (name,) = (hook.theirs for hook in hooks if hook.ours == event)
    event_fields = {
        "session_id": marker.ask_session if is_prompt else marker.session,
        "transcript_path": "" if is_prompt else str(file),
        "cwd": str(marker.project),
        "hook_event_name": name,
    }
    return event_fields | ({"prompt": marker.question} if is_prompt else {})


def _claude_code_transcript(marker: Marker) -> list[dict[str, Any]]:
    return [
        {
            "parentUuid": None, "isSidechain": False, "userType": "external", "cwd": str(marker.project),
            "sessionId": marker.session, "version": "2.1.197", "type": "user",
            "message": {"role": "user", "content": marker.text},
            "uuid": str(uuid.uuid5(uuid.NAMESPACE_OID, marker.word)), "timestamp": marker.at,
        }
    ]  # fmt: skip


def _codex_transcript(marker: Marker) -> list[dict[str, Any]]:
    meta = {
        "id": marker.session, "timestamp": marker.at, "cwd": str(marker.project), "originator": "codex_cli_rs",
        "cli_version": "0.169.0",
    }  # fmt: skip
    content = [{"type": "input_text", "text": marker.text}]
    return [
        {"timestamp": marker.at, "type": "session_meta", "payload": meta},
        {
            "timestamp": marker.at,
            "type": "response_item",
            "payload": {"type": "message", "role": "user", "content": content},
        },
    ]


def _gemini_transcript(marker: Marker) -> list[dict[str, Any]]:
    return [
        {
            "sessionId": marker.session, "projectHash": marker.word, "startTime": marker.at,
            "lastUpdated": marker.at, "kind": "main",
        },
        {"id": f"{marker.session}-1", "timestamp": marker.at, "type": "user", "content": [{"text": marker.text}]},
    ]  # fmt: skip


def _openclaw_transcript(marker: Marker) -> list[dict[str, Any]]:
    message = {"role": "user", "content": [{"type": "text", "text": marker.text}]}
    return [
        {
            "type": "session", "version": 3, "id": marker.session, "timestamp": marker.at,
            "cwd": str(marker.project),
        },
        {
            "type": "message", "id": marker.word[-8:], "parentId": None, "timestamp": marker.at,
            "message": message,
        },
    ]  # fmt: skip


def _opencode_transcript(marker: Marker) -> list[dict[str, Any]]:
    """As ``opencode export`` writes it; our hook reads that and OpenCode's database."""
    when = {"created": round(datetime.fromisoformat(marker.at).timestamp() * 1000)}
    info = {"id": f"msg_{marker.word}", "sessionID": marker.session, "role": "user", "time": when}
    part = {"id": f"prt_{marker.word}", "messageID": info["id"], "type": "text", "text": marker.text}
    # OpenCode's own sessions are called ses_…, which identifies its files.
    session = {
        "id": marker.session, "slug": f"ses_{marker.word}", "directory": str(marker.project), "title": RESERVED_NAME,
        "time": when,
    }  # fmt: skip
    return [{"info": session, "messages": [{"info": info, "parts": [part]}]}]


def _plugin_input(event: str, marker: Marker, file: Path | None) -> dict[str, Any]:
    if event == "prompt":
        return {"session": marker.ask_session, "folder": str(marker.project), "prompt": marker.question}
    event_fields = {"session": marker.session, "folder": str(marker.project)}
    return event_fields | ({"transcript": str(file)} if file else {})


def _start_input(marker: Marker) -> dict[str, Any]:
    """The beginning of a session, with the fields of every agent: each reads its own."""
    session, folder = marker.start_session, str(marker.project)
    return {
        "session_id": session, "conversation_id": session, "session": session, "source": "startup",
        "cwd": folder, "workspace_roots": [folder], "folder": folder, "hook_event_name": "SessionStart",
    }  # fmt: skip


SAMPLES: Final[Mapping[str, SampleSession]] = {
    "claude-code": SampleSession(
        path=lambda marker: f"projects/-scrubjay-doctor/{marker.session}.jsonl",
        lines=_claude_code_transcript,
        variables=lambda folder: {"CLAUDE_CONFIG_DIR": str(folder)},
        hook_input=partial(_hook_input, claude_code.HOOKS),
    ),
    "codex": SampleSession(
        path=lambda marker: (
            f"sessions/{marker.at[:10].replace('-', '/')}/"
            f"rollout-{marker.at[:19].replace(':', '-')}-{marker.session}.jsonl"
        ),
        lines=_codex_transcript,
        variables=lambda folder: {"CODEX_HOME": str(folder)},
        hook_input=partial(_hook_input, codex.HOOKS),
    ),
    "gemini": SampleSession(
        path=lambda marker: f".gemini/tmp/scrubjay-doctor/chats/session-{marker.session}.jsonl",
        lines=_gemini_transcript,
        variables=lambda folder: {"GEMINI_CLI_HOME": str(folder)},
        hook_input=partial(_hook_input, gemini.HOOKS),
    ),
    "opencode": SampleSession(
        path=lambda marker: f"opencode/{marker.session}.json",
        lines=_opencode_transcript,
        variables=lambda folder: {"XDG_DATA_HOME": str(folder)},
        # Its plugin names no file: the folder is scanned.
        hook_input=lambda event, marker, file: _plugin_input(event, marker, None),
    ),
    "openclaw": SampleSession(
        path=lambda marker: f"agents/main/sessions/{marker.session}.jsonl",
        lines=_openclaw_transcript,
        variables=lambda folder: {"OPENCLAW_STATE_DIR": str(folder)},
        hook_input=_plugin_input,
    ),
}
"""The agents whose own hooks can be given a conversation. Of any other only its tools are proven."""


SESSION_PATTERN: Final = re.compile(rf"{RESERVED_NAME}-([0-9a-f]{{12}})")


def marker_folder(installation: Installation) -> Path:
    """Return the folder of all markers, which is also their project."""
    return installation.home.data / RESERVED_NAME


@contextmanager
def exclusive_markers(installation: Installation) -> Iterator[bool]:
    """Yield whether no other doctor is using markers; holds the lock."""
    make_private(str(marker_folder(installation)))
    with locked(marker_folder(installation) / "one", "", "doctor") as is_exclusive:
        yield is_exclusive


def create_marker(installation: Installation) -> Marker:
    """Create a marker and its folder."""
    marker = _make_marker(installation, secrets.token_hex(6))
    while redact_text(marker.text).text != marker.text:  # if taken for a secret, it would not be found again
        marker = _make_marker(installation, secrets.token_hex(6))
    marker.folder.mkdir(mode=0o700)
    return marker


def _make_marker(installation: Installation, digits: str) -> Marker:
    session = f"{RESERVED_NAME}-{digits}"
    folder = marker_folder(installation)
    return Marker(f"kestrel{digits}", session, folder / session, folder, _timestamp())


def _timestamp() -> str:
    return to_datetime(now_micros()).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def leftover_markers(installation: Installation) -> list[Marker]:
    if not marker_folder(installation).is_dir():
        return []
    names = [SESSION_PATTERN.fullmatch(path.name) for path in sorted(marker_folder(installation).iterdir())]
    return [_make_marker(installation, name[1]) for name in names if name]


def remove_marker(memory: Memory, marker: Marker) -> None:
    """Remove a marker and everything derived from it."""
    for source in marker_sources(memory, marker):
        memory.remove_source(source.id)
    # A source of the person's may contain the data folder, and so the marker.
    if ids := marker_memories(memory, marker):
        memory.forget(ids)
    # Last: as long as it is there, the next doctor knows that something may be left.
    shutil.rmtree(marker.folder)


def marker_sources(memory: Memory, marker: Marker) -> list[SourceStatus]:
    return [source for source in memory.sources() if Path(source.root).is_relative_to(marker.folder)]


def marker_memories(memory: Memory, marker: Marker) -> list[str]:
    answer = memory.search(marker.word, sessions=[marker.session], statuses=STATUSES, limit=20)
    return [result.id for result in answer.results if marker.word in result.snippet]


def check_leftover_markers(installation: Installation) -> Iterator[Check]:
    """Report markers of an earlier, interrupted doctor, and remove them if asked to."""
    if not leftover_markers(installation):
        return
    with exclusive_markers(installation) as is_exclusive:
        if not is_exclusive:
            return
        markers = leftover_markers(installation)
        if not installation.fix:
            summary = f"{len(markers)} left by an interrupted doctor"
            yield check_warning("markers", summary, "scrubjay doctor --fix")
            return
        try:
            with installation.memory() as memory:
                for marker in markers:
                    remove_marker(memory, marker)
        except (ScrubjayError, OSError) as error:
            yield check_problem("markers", f"leftovers of an interrupted doctor cannot be removed: {error}")
            return
        yield check_ok("markers", f"{len(markers)} of an interrupted doctor removed", mended=True)


MCP_PROTOCOL = "2025-06-18"
"""Version of MCP that every server supports."""


class CommandError(Exception):
    """A command's output could not be understood; the message says what happened."""


class HookOutput(NamedTuple):
    """Standard output of a hook, and its duration in milliseconds."""

    text: str
    ms: float


def run_hook(
    command: str, event: Mapping[str, Any], env: Mapping[str, str], seconds: float, cwd: str
) -> HookOutput:
    """Run a hook's command line as an agent does: in a shell, with JSON on standard input.

    Raises:
        CommandError: It did not end in time, could not be started, or failed.
    """
    started = time.monotonic()
    try:
        process = subprocess.Popen(
            command, shell=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=dict(env), cwd=cwd, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise CommandError(f"it cannot be started ({error.strerror})") from error
    with process:
        try:
            out, _ = process.communicate(json.dumps(event).encode(), timeout=seconds)
        except subprocess.TimeoutExpired as error:
            _kill_group(process)
            raise CommandError(f"it did not end within {seconds:g} seconds") from error
        except BaseException:
            _kill_group(process)
            raise
    ms = (time.monotonic() - started) * 1000
    if process.returncode:
        raise CommandError(f"it ended with exit code {process.returncode}")
    return HookOutput(out.decode("utf-8", "replace"), ms)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a shell and its children: either may hold the output open."""
    if sys.platform == "win32":
        process.kill()
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def call_mcp_tool(
    words: Sequence[str], name: str, arguments: Mapping[str, Any], env: Mapping[str, str], seconds: float
) -> str:
    """Start an MCP server as an agent does, call one tool, and return the text of its result.

    Raises:
        CommandError: The server did not answer in time, ended, or returned an error.
    """
    try:
        server = subprocess.Popen(
            list(words), bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=dict(env),
        )  # fmt: skip
    except OSError as error:
        raise CommandError(f"{words[0]} cannot be started ({error.strerror})") from error
    timer = threading.Timer(seconds, server.kill)
    timer.start()
    try:
        with server:
            params = {
                "protocolVersion": MCP_PROTOCOL,
                "capabilities": {},
                "clientInfo": {"name": "scrubjay doctor", "version": __version__},
            }
            _request(server, 1, "initialize", params)
            _send(server, {"method": "notifications/initialized"})
            answer = _request(server, 2, "tools/call", {"name": name, "arguments": dict(arguments)})
            assert server.stdin is not None
            server.stdin.close()
    except OSError as error:
        raise CommandError(f"the server ended (exit code {server.returncode})") from error
    finally:
        timer.cancel()
    structured, content = answer.get("structuredContent"), answer.get("content")
    if answer.get("isError") or not isinstance(content, list):
        failure = structured.get("error", {}) if isinstance(structured, dict) else {}
        raise CommandError(f"{name} failed: {failure.get('message', 'unreadable answer')}")
    return "\n".join(str(block.get("text", "")) for block in content if isinstance(block, dict))


def _send(server: subprocess.Popen[bytes], message: Mapping[str, Any]) -> None:
    assert server.stdin is not None
    # One that has ended may have said why.
    with contextlib.suppress(BrokenPipeError):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def _request(
    server: subprocess.Popen[bytes], number: int, method: str, params: Mapping[str, Any]
) -> dict[str, Any]:
    _send(server, {"id": number, "method": method, "params": params})
    assert server.stdout is not None
    for line in server.stdout:
        try:
            message = json.loads(line)
        except ValueError as error:
            raise CommandError("the server wrote something other than the protocol to its output") from error
        if message.get("id") == number:
            if "result" not in message:
                raise CommandError(f"{method} failed: {message.get('error', {}).get('message', '')}")
            result: dict[str, Any] = message["result"]
            return result
    raise CommandError("the server ended without an answer, or did not answer in time")


CAPTURE_EVENTS: Final = ("stop", "session-end", "pre-compact")
"""Events at which a conversation is ingested, the most frequent first."""
BACKGROUND_TIMEOUT: Final = 30.0
"""Seconds for a background process: it loads a model, and others may be writing."""
POLL_SECONDS: Final = 0.25
MAX_TRIES: Final = 3
NO_RESIDENT: Final = "SCRUBJAY_RESIDENT_AUTO"
PATIENT_ENVIRONMENT: Final = {"SCRUBJAY_HOOKS_BUDGET_MS": "8000"}
"""For a last try, to tell a late hook from one that finds nothing."""


def prove_agent(agent: Agent, commands: AgentCommands, installation: Installation) -> list[Check]:
    """Return one check for each step of the proof; steps after a failed one are left out."""
    name = f"{agent.name} proof"
    try:
        with exclusive_markers(installation) as is_exclusive:
            if not is_exclusive:
                return [check_warning(name, "another doctor is running", f"scrubjay doctor {agent.name}")]
            with installation.memory() as memory:
                marker = create_marker(installation)
                try:
                    return list(_Proof(agent, commands, installation, memory, marker).steps())
                finally:
                    remove_marker(memory, marker)
                    InjectionLog(str(installation.home.data)).remove(agent.name, marker.ask_session)
    except ScrubjayError as error:
        return [check_problem(name, str(error), error.hint)]
    except OSError as error:
        return [check_problem(name, f"{marker_folder(installation)} is unusable ({error.strerror})")]


@dataclass(frozen=True, slots=True)
class _Proof:
    agent: Agent
    commands: AgentCommands
    installation: Installation
    memory: Memory
    marker: Marker

    @property
    def sample(self) -> SampleSession | None:
        return SAMPLES.get(self.agent.name)

    @property
    def capture_event(self) -> str:
        """The event whose hook captures the marker; empty if there is none."""
        return next((name for name in CAPTURE_EVENTS if self.hook(name)), "")

    @property
    def env(self) -> dict[str, str]:
        return dict(self.installation.home.env)

    def hook(self, event: str) -> str:
        """Return the command of an event; empty if the agent or the settings have none for it."""
        return self.commands.hooks.get(event, "") if event in self.installation.settings.hooks.events else ""

    def run(self, command: str, event: Mapping[str, Any], env: Mapping[str, str]) -> HookOutput:
        return run_hook(command, event, env, self.installation.seconds, str(self.marker.project))

    def steps(self) -> Iterator[Check]:
        for step in (self._capture, self._start, self._recall, self._search, self._forget):
            check = step()
            if check is not None:
                yield check
                if check.state == PROBLEM:
                    return

    def _ok(self, step: str, summary: str) -> Check:
        return check_ok(f"{self.agent.name} {step}", summary)

    def _warning(self, step: str, summary: str, fix: str = "") -> Check:
        return check_warning(f"{self.agent.name} {step}", summary, fix)

    def _capture(self) -> Check:
        sample, marker, event = self.sample, self.marker, self.capture_event
        if sample is None or not event:
            return self._store_directly()
        file = sample.write(marker)
        env = self.env | dict(sample.variables(marker.folder))
        if "XDG_DATA_HOME" in sample.variables(marker.folder):  # scrubjay's own folder is below it too
            env["SCRUBJAY_STORE"] = self.installation.settings.store
        started = time.monotonic()
        try:
            self.run(self.hook(event), sample.hook_input(event, marker, file), env)
        except CommandError as error:
            return self._problem("capture", f"its {event} hook: {error}")
        while not (is_stored := self._is_stored(file)) and time.monotonic() - started < BACKGROUND_TIMEOUT:
            time.sleep(POLL_SECONDS)
        seconds = time.monotonic() - started
        if not is_stored:
            reason = f"nothing was captured within {BACKGROUND_TIMEOUT:.0f} seconds of its {event} hook"
            return self._problem("capture", reason)
        return self._ok("capture", f"its {event} hook captured a marker within {seconds:.1f} s")

    def _is_stored(self, file: Path) -> bool:
        """Whether the marker is stored. Files are not refreshed: that would ingest it without the agent."""
        fetched = self.memory.get(path=file, limit=2_000)
        return any(self.marker.word in record.content for record in fetched.records)

    def _store_directly(self) -> Check:
        """Ingest the marker without the agent, so that its tools can be proven all the same."""
        file = self.marker.folder / "talk.jsonl"
        line = {
            "role": "user", "content": self.marker.text, "session": self.marker.session, "time": self.marker.at,
            "cwd": str(self.marker.project),
        }  # fmt: skip
        # The generic format, which no agent's hook reads.
        file.write_text(f"{json.dumps(line)}\n", encoding="utf-8")
        self.memory.sync(self.marker.folder)
        if not self._is_stored(file):
            return self._problem("capture", "a conversation ingested by the doctor itself was not stored")
        reason = "its hooks cannot be given a conversation from outside"
        if not self.capture_event:
            has_hook = any(name in self.commands.hooks for name in CAPTURE_EVENTS)
            reason = "[hooks] events excludes it" if has_hook else "it has no capturing hook"
        return self._ok("capture", f"not proven: {reason}; the doctor stored the marker itself")

    def _start(self) -> Check | None:
        """Begin a session with no resident, once, as an agent does."""
        command = self.hook("session-start")
        if not command:
            return None
        # Other settings have another resident, and this one is not running.
        env = self.env
        env[NO_RESIDENT] = "False" if env.get(NO_RESIDENT) == "false" else "false"
        data, started = self.installation.home.data, _timestamp()
        jobs = JobQueue(str(data), settings_fingerprint(env))
        try:
            with jobs.exclusive():  # so that no process is started for the hook's jobs
                output = self.run(command, _start_input(self.marker), env)
        except CommandError as error:
            return self._problem("start", f"its session-start hook: {error}")
        finally:
            shutil.rmtree(jobs.folder, ignore_errors=True)
            InjectionLog(str(data)).remove(self.agent.name, self.marker.start_session)
        entries = checks.last_log_entries(data, "debug", 20, started)
        for entry in entries:
            if entry.get("event") == checks.LATE_HOOK:
                return self._warning(
                    "start",
                    f"a cold start was too late for an agent: nothing within {int(entry.get('ms', 0))} ms",
                    "a larger budget in [hooks] (scrubjay config), or fewer programs at once",
                )
        if output.text.strip():
            return self._ok("start", f"its session-start hook answered cold in {output.ms:.0f} ms")
        if self.installation.settings.log.level not in ("debug", "info") or any(
            entry.get("event") == "hook session-start" and not entry.get("error") for entry in entries
        ):
            return self._ok(
                "start", f"its session-start hook ended cold in {output.ms:.0f} ms and had nothing to say"
            )
        return self._problem("start", "its session-start hook neither answered nor wrote a line into the log")

    def _recall(self) -> Check | None:
        command = self.hook("prompt")
        if not command or self.sample is None:
            return None
        event = self.sample.hook_input("prompt", self.marker, self.marker.folder)
        for is_patient in (*[False] * MAX_TRIES, True):
            try:
                output = self.run(command, event, self.env | PATIENT_ENVIRONMENT if is_patient else self.env)
            except CommandError as error:
                return self._problem("recall", f"its prompt hook: {error}")
            if self.marker.word in output.text:
                return self._check_recall(output, is_late=is_patient)
        return self._problem("recall", "its prompt hook did not return the marker")

    def _check_recall(self, output: HookOutput, *, is_late: bool) -> Check:
        ids = [memory[:SHOWN_ID] for memory in marker_memories(self.memory, self.marker)]
        if not any(source in output.text for source in [*ids, self.marker.session]):
            return self._problem("recall", "its prompt hook returned the marker without its source")
        if is_late:
            warning = f"its prompt hook returned it, but too late for an agent: it needed {output.ms:.0f} ms"
            fix = "scrubjay resident start, or a larger [hooks] budget_ms"
            return self._warning("recall", warning, fix)
        return self._ok("recall", f"its prompt hook returned it with its source in {output.ms:.0f} ms")

    def _search(self) -> Check | None:
        if not self.commands.server:
            return None
        started = time.monotonic()
        env, arguments = self.env | dict(self.commands.env), {"query": self.marker.question}
        try:
            text = call_mcp_tool(self.commands.server, "memory_search", arguments, env, BACKGROUND_TIMEOUT)
        except CommandError as error:
            return self._problem("search", f"its MCP server: {error}")
        if self.marker.word not in text:
            return self._problem("search", "memory_search did not find the marker")
        seconds = time.monotonic() - started
        return self._ok("search", f"memory_search found it with its source in {seconds:.1f} s")

    def _forget(self) -> Check:
        memory, marker = self.memory, self.marker
        ids = marker_memories(memory, marker)
        if not ids:
            return self._problem("forget", "the marker was not found")
        memory.forget(ids)
        if marker_memories(memory, marker):
            return self._problem("forget", "the marker is still found")
        for path in sorted(marker.folder.rglob("*.json*")):
            path.with_name(f"again-{path.name}").write_bytes(path.read_bytes())
        forgotten = [memory.sync(source.root).forgotten for source in marker_sources(memory, marker)]
        if not any(forgotten) or marker_memories(memory, marker):
            return self._problem("forget", "the marker came back when its conversation was ingested again")
        if self._is_in_file():
            return self._warning(
                "forget",
                "it is gone and does not come back; its bytes are erased at the next write (a reader is open)",
            )
        erased = (
            ", and no byte of it remains in the store's file" if self.installation.file is not None else ""
        )
        return self._ok("forget", f"it is gone and does not come back{erased}")

    def _is_in_file(self) -> bool:
        from scrubjay.storage.sqlite.maintenance import file_contains

        file, word = self.installation.file, self.marker.word.encode()
        return file is not None and any(
            file_contains(path, word) for path in (file, file.with_name(f"{file.name}-wal"))
        )

    def _problem(self, step: str, reason: str) -> Check:
        entries = checks.last_log_entries(self.installation.home.data, "warning", 1, self.marker.at)
        if entries:
            reason += f"; the log says: {entries[0].get('event')} {entries[0].get('error', '')}".rstrip()
        fix = f"scrubjay install {self.agent.name}, then check the log"
        return check_problem(f"{self.agent.name} {step}", reason, fix)
