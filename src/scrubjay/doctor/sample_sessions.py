"""For each agent a sample transcript in its own format and its hook input, for `agent_proof`.

Each is as small as the reader of that format accepts (`ingest/transcripts`), in a folder of its own: a variable
tells the
agent's hook where its folder is.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

RESERVED_NAME: Final = "scrubjay-doctor"
"""Folder of all markers, and how their sessions' names begin."""


@dataclass(frozen=True, slots=True)
class Marker:
    """One marker memory.

    Attributes:
        word: A unique word.
        session: Its conversation.
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
    def question(self) -> str:
        return f"Did the doctor of scrubjay see {self.word} fly over the harbour?"


@dataclass(frozen=True, slots=True)
class SampleSession:
    """How one agent stores a conversation and calls a hook.

    Attributes:
        path: Returns a marker's file, below the folder given as the agent's own.
        lines: Returns the records of the file.
        variables: Returns the environment variables that name the folder.
        said: Returns the hook's input for an event, marker and file.
    """

    path: Callable[[Marker], str]
    lines: Callable[[Marker], list[dict[str, Any]]]
    variables: Callable[[Path], Mapping[str, str]]
    said: Callable[[str, Marker, Path], dict[str, Any]]

    def write(self, marker: Marker) -> Path:
        """Write the conversation, readable by its owner alone, and return its file.

        Raises:
            OSError: It cannot be written.
        """
        file = marker.folder / self.path(marker)
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = "".join(f"{json.dumps(line)}\n" for line in self.lines(marker))
        file.touch(mode=0o600)
        file.write_text(text, encoding="utf-8")
        return file


HOOK_EVENT_NAMES: Final = {
    "stop": "Stop",
    "pre-compact": "PreCompact",
    "session-end": "SessionEnd",
    "prompt": "UserPromptSubmit",
}
GEMINI_EVENT_NAMES: Final = {
    "stop": "AfterAgent",
    "pre-compact": "PreCompress",
    "session-end": "SessionEnd",
    "prompt": "BeforeAgent",
}


def _hook_input(
    event: str, marker: Marker, file: Path, names: Mapping[str, str] = HOOK_EVENT_NAMES
) -> dict[str, Any]:
    """Hook input of Claude Code, Codex and Gemini CLI."""
    prompting = event == "prompt"
    event_fields = {
        # Asked in a session of its own: what was said in this one is in the model's mind already.
        "session_id": f"{marker.session}-asks" if prompting else marker.session,
        "transcript_path": "" if prompting else str(file),
        "cwd": str(marker.project),
        "hook_event_name": names[event],
    }
    return event_fields | ({"prompt": marker.question} if prompting else {})


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
            "type": "session",
            "version": 3,
            "id": marker.session,
            "timestamp": marker.at,
            "cwd": str(marker.project),
        },
        {
            "type": "message",
            "id": marker.word[-8:],
            "parentId": None,
            "timestamp": marker.at,
            "message": message,
        },
    ]


def _opencode_transcript(marker: Marker) -> list[dict[str, Any]]:
    """As ``opencode export`` writes it; our hook reads that and OpenCode's database."""
    when = {"created": round(datetime.fromisoformat(marker.at).timestamp() * 1000)}
    info = {"id": f"msg_{marker.word}", "sessionID": marker.session, "role": "user", "time": when}
    part = {"id": f"prt_{marker.word}", "messageID": info["id"], "type": "text", "text": marker.text}
    # OpenCode's own sessions are called ses_…, and by that its files are known.
    session = {
        "id": marker.session, "slug": f"ses_{marker.word}", "directory": str(marker.project), "title": RESERVED_NAME,
        "time": when,
    }  # fmt: skip
    return [{"info": session, "messages": [{"info": info, "parts": [part]}]}]


def _plugin_input(event: str, marker: Marker, file: Path | None) -> dict[str, Any]:
    if event == "prompt":
        return {"session": f"{marker.session}-asks", "folder": str(marker.project), "prompt": marker.question}
    event_fields = {"session": marker.session, "folder": str(marker.project)}
    return event_fields | ({"transcript": str(file)} if file else {})


def generic_transcript(marker: Marker) -> list[dict[str, Any]]:
    """A conversation in the generic format, which no agent's hook reads."""
    return [
        {
            "role": "user",
            "content": marker.text,
            "session": marker.session,
            "time": marker.at,
            "cwd": str(marker.project),
        }
    ]


SAMPLES: Final[Mapping[str, SampleSession]] = {
    "claude-code": SampleSession(
        path=lambda marker: f"projects/-scrubjay-doctor/{marker.session}.jsonl",
        lines=_claude_code_transcript,
        variables=lambda folder: {"CLAUDE_CONFIG_DIR": str(folder)},
        said=_hook_input,
    ),
    "codex": SampleSession(
        path=lambda marker: (
            f"sessions/{marker.at[:10].replace('-', '/')}/"
            f"rollout-{marker.at[:19].replace(':', '-')}-{marker.session}.jsonl"
        ),
        lines=_codex_transcript,
        variables=lambda folder: {"CODEX_HOME": str(folder)},
        said=_hook_input,
    ),
    "gemini": SampleSession(
        path=lambda marker: f".gemini/tmp/scrubjay-doctor/chats/session-{marker.session}.jsonl",
        lines=_gemini_transcript,
        variables=lambda folder: {"GEMINI_CLI_HOME": str(folder)},
        said=partial(_hook_input, names=GEMINI_EVENT_NAMES),
    ),
    "opencode": SampleSession(
        path=lambda marker: f"opencode/{marker.session}.json",
        lines=_opencode_transcript,
        variables=lambda folder: {"XDG_DATA_HOME": str(folder)},
        # Its plugin names no file: where the words are, only a look at the folder tells.
        said=lambda event, marker, file: _plugin_input(event, marker, None),
    ),
    "openclaw": SampleSession(
        path=lambda marker: f"agents/main/sessions/{marker.session}.jsonl",
        lines=_openclaw_transcript,
        variables=lambda folder: {"OPENCLAW_STATE_DIR": str(folder)},
        said=_plugin_input,
    ),
}
"""The agents whose own hooks can be shown a conversation. Of another one only what its tools find is proven."""
