"""OpenClaw (formerly Clawdbot, Moltbot): a session's log -> turns.

Files: ``~/.openclaw/agents/<agent>/sessions/<session>.jsonl`` (before 2026 ``~/.clawdbot``, ``~/.moltbot``),
with ``.reset.<time>`` or ``.deleted.<time>`` behind the name once a session was put away. The pi agent, whose
format it is, writes the same to ``~/.pi/agent/sessions``; its turns carry the agent ``pi``.
Written from
    badlogic/pi-mono, docs/session-format.md and src/core/session-manager.ts of packages/coding-agent, as in
    @mariozechner/pi-coding-agent 0.73.1 (2026-07-17), versions 1 to 3; openclaw/openclaw, docs of the package
    2026.9.6 (2026-09-24), docs/reference/session-management-compaction.md at 010f0c86a15e,
    src/sessions/input-provenance.ts at 01a179d7ded4.
Not read
    Newer versions keep the running sessions in ``openclaw-agent.sqlite`` and write these files when a session
    is put away; compressed ones (``.jsonl.zst``) are not opened.

What is read
    A header line, then entries that name their parents. Going back and saying something else begins a branch
    (`lineage`). Words of ``message`` entries of a user and an assistant, without what was wrapped around a
    message on its way from a channel (`wrapping`).
    Prompts to a sub-agent come from an agent: the log marks them, or ``sessions.json`` beside it says that the
    session is one of a sub-agent or a timer (`openclaw_keys`).
What is left out
    Tool calls and results, commands run by hand, thinking, summaries of compactions and branches, extensions'
    entries and messages, changes of model, labels, what the program itself asked (heartbeat, start of a
    session), and a copy of an answer that a channel was given (``delivery-mirror``).
Times
    ISO 8601 on entries; a message's own is in milliseconds.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scrubjay.ingest.sources.transcripts.fields import array, at, said, string, table
from scrubjay.ingest.sources.transcripts.format import Format, Found, Left, Reader, Row, branch
from scrubjay.ingest.sources.transcripts.jsonl import peek, rows
from scrubjay.ingest.sources.transcripts.lineage import MOST_RECORDS, Lineage
from scrubjay.ingest.sources.transcripts.openclaw_keys import session_keys, spawned
from scrubjay.ingest.sources.transcripts.wrapping import answer, asked
from scrubjay.memory.turns import Turn

NAME = "openclaw"

_ORIGINS = {"user": "owner", "assistant": "agent"}
_NOISE_ENTRIES = frozenset(
    {
        "branch_summary",
        "compaction",
        "custom",
        "custom_message",
        "label",
        "model_change",
        "thinking_level_change",
    }
)
_NOISE_ROLES = frozenset(
    {"bashExecution", "branchSummary", "compactionSummary", "custom", "hookMessage", "toolResult"}
)
_ROOT = "\0"  # above all entries; no id
_MOST_NAME = 64  # characters of an id; ten thousand are remembered
_EARLIEST_MILLIS = 1e11  # 1973: a smaller number is no time in milliseconds
_NOISE_BLOCKS = frozenset({"image", "thinking", "toolCall"})


def _recognise(path: str, head: bytes) -> bool:
    first = next(iter(peek(head)), None) or {}
    return ".jsonl" in path and first.get("type") == "session" and "id" in first and "timestamp" in first


def _reader(root: Path, path: str) -> Reader:
    folder, _, name = path.rpartition("/")
    reading = _Reading(
        session=name.partition(".jsonl")[0],
        agent="pi" if "/.pi/" in f"{root.as_posix()}/{path}" else NAME,
    )
    if reading.agent == NAME:
        reading.keys = session_keys(root, f"{folder}/sessions.json".lstrip("/"))
    return reading.row


@dataclass(slots=True)
class _Reading:
    session: str
    agent: str
    keys: Mapping[str, str] = field(default_factory=dict)
    lineage: Lineage = field(default_factory=Lineage)
    turn_above: OrderedDict[str, str] = field(default_factory=OrderedDict)  # nearest turn of an entry or it
    cwd: str | None = None
    title: str = ""
    last: str = ""  # what the assistant said last
    previous: str = ""  # the entry before: the parent of one that names none
    spawned: bool = False

    def __post_init__(self) -> None:
        self.lineage.add(_ROOT, "", turn=True)  # a first message that is said anew is a branch too

    def row(self, row: Row) -> Iterator[Found]:
        entry = row.value
        kind, key = string(entry.get("type")), _name(entry.get("id"))
        if kind == "session":
            self._header(entry)
            return
        if key in self.turn_above:
            yield Left("copy")
            return
        message = table(entry.get("message"))
        role = string(message.get("role"))
        left: list[Left] = []
        words = self._words(role, message, left) if kind == "message" else self._other(kind, entry)
        spoken = words if isinstance(words, tuple) and words[0].strip() else None
        fork = self._fork(entry, key, prompt=role == "user", turn=spoken is not None)
        yield from left
        if isinstance(words, Left):
            yield words
        elif spoken:
            yield Turn(
                key or f"{self.session}:{row.line}", role, spoken[0],
                branch(self.session, fork) if fork else self.session, row.line, row.start, row.end,
                at(entry.get("timestamp")) or _millis(message.get("timestamp")),
                self.cwd, agent=self.agent, origin=spoken[1], title=self.title,
            )  # fmt: skip

    def _fork(self, entry: dict[str, Any], key: str, *, prompt: bool, turn: bool) -> str:
        """Return an entry's branch. Only turns count: what hangs between two, a summary even, is passed through."""
        parent = _name(entry.get("parentId")) if "parentId" in entry else self.previous
        above = self.turn_above.get(parent, "" if parent else _ROOT) if key else ""
        fork = self.lineage.add(key, above, turn=True, prompt=prompt) if turn else ""
        self.previous = key
        if key:
            self.turn_above[key] = key if turn else above
        if len(self.turn_above) > MOST_RECORDS:
            self.turn_above.popitem(last=False)
        return fork

    def _header(self, entry: dict[str, Any]) -> None:
        self.session = string(entry.get("id")) or self.session
        self.cwd = string(entry.get("cwd")) or None
        self.spawned = spawned(self.keys.get(self.session, ""))

    def _other(self, kind: str, entry: dict[str, Any]) -> Left:
        if kind == "session_info":
            self.title = string(entry.get("name")) or self.title
            return Left(kind)
        return Left(
            kind if kind in _NOISE_ENTRIES else f"entry {kind}".strip(), unknown=kind not in _NOISE_ENTRIES
        )

    def _words(self, role: str, message: dict[str, Any], left: list[Left]) -> tuple[str, str] | Left:
        """What was said and its origin, or why the whole of it is left out; ``left`` gets the parts that are."""
        if role not in _ORIGINS:
            return Left(
                role if role in _NOISE_ROLES else f"role {role}".strip(), unknown=role not in _NOISE_ROLES
            )
        provenance = string(table(message.get("provenance")).get("kind"))
        if provenance == "internal_system":
            return Left("internal request")
        text = said(_blocks(message.get("content"), left))
        if role == "assistant":
            words = answer(text)
            if isinstance(words, Left):
                return words
            if message.get("model") == "delivery-mirror" and words.strip() == self.last:
                return Left("delivery-mirror")
            self.last = words.strip() or self.last
            return words, "agent"
        words_of = asked(text)
        if isinstance(words_of, tuple) and (self.spawned or provenance == "inter_session"):
            return words_of[0], "agent"
        return words_of


def _blocks(content: object, left: list[Left]) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for block in array(content):
        kind = string(table(block).get("type"))
        if kind == "text":
            yield string(block.get("text"))
        else:
            left.append(
                Left(
                    kind if kind in _NOISE_BLOCKS else f"content {kind}".strip(),
                    unknown=kind not in _NOISE_BLOCKS,
                )
            )


def _name(value: object) -> str:
    return name if len(name := string(value)) <= _MOST_NAME else ""


def _millis(value: object) -> int | None:
    return at(value) if isinstance(value, int | float) and value > _EARLIEST_MILLIS else None


FORMAT = Format(NAME, f"{NAME} 1", True, _recognise, rows, _reader)
