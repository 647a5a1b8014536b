"""OpenCode: a session's files, or a session that ``opencode export`` wrote -> turns.

Files, below ``~/.local/share/opencode/storage``:
    ``session/<project>/<session>.json``  what a session is called, where it was held, who began it
    ``message/<session>/<message>.json``  who spoke, and when
    ``part/<message>/<part>.json``        what was said, one part a file
Written from anomalyco/opencode (formerly sst/opencode), packages/opencode/src/storage/storage.ts at
00d1fee82d43, storage/json-migration.ts at 062aa8c024a0, session/revert.ts at 089ee8d0e6ac (without its
plans), cli/cmd/export.ts at 07fa81066b42, and the types of the package @opencode-ai/sdk 1.19.3 (2026-10-16).
Versions since the database keep sessions in ``opencode.db``: `opencode_db` reads that. The layout of before
mid-2025 (``project/<name>/storage``) is not read; OpenCode moves it when it is next started.

One session, one document
    The session's file is the document, and its messages are read from the folders beside it, so the source
    must be ``storage`` or a folder above. OpenCode writes that file whenever a session changes; a message
    without its parts yet is read at the next change. Ids ascend with time, so they are the order.
    An export is one object, ``{"info": …, "messages": [{"info": …, "parts": […]}]}``, read from itself alone.

What is read
    Text parts. A sub-agent's session names its parent: it is ``<parent>/<session>``, and what it was asked
    there an agent asked. Messages that were taken back (``revert``) are a branch (`format.branch`).
What is left out
    Parts that OpenCode made up or told to ignore (``synthetic``, ``ignored``), reasoning, tools, files, steps,
    patches and the like, and an assistant's summary of a compaction.
Times
    Milliseconds since 1970, by the format's definition.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scrubjay.errors import SourceError
from scrubjay.ingest.sources.read import read
from scrubjay.ingest.sources.transcripts.beside import names
from scrubjay.ingest.sources.transcripts.fields import array, at, said, string, table
from scrubjay.ingest.sources.transcripts.format import Format, Found, Left, Reader, Row, branch
from scrubjay.ingest.sources.transcripts.stream import elements
from scrubjay.memory.turns import Turn

NAME = "opencode"

_ORIGINS = {"user": "owner", "assistant": "agent"}
_NOISE = frozenset(
    {
        "agent", "compaction", "file", "patch", "reasoning", "retry", "snapshot", "step-finish", "step-start",
        "subtask", "tool",
    }
)  # fmt: skip
_EARLIEST_MILLIS = 1e11  # 1973: a smaller number is no time in milliseconds


def _recognise(path: str, head: bytes) -> bool:
    if not path.endswith(".json") or not head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return False
    folders = path.split("/")
    if len(folders) > 3 and folders[-3] == "session" and folders[-1].startswith("ses_"):
        return b'"id"' in head and b'"projectID"' in head
    return b'"info"' in head and b'"ses_' in head and (b'"messages"' in head or b'"projectID"' in head)


def _reader(root: Path, path: str) -> Reader:
    def read_row(row: Row) -> Iterator[Found]:
        if "messages" in row.value:
            session = Session.of(table(row.value.get("info")), path.rpartition("/")[2].removesuffix(".json"))
            messages = map(table, array(row.value["messages"]))
            for line, message in enumerate(messages, 1):
                parts = list(map(table, array(message.get("parts"))))
                yield from session.message(row, line, table(message.get("info")), parts)
        else:
            yield from _stored(root, path, row)

    return read_row


@dataclass(frozen=True, slots=True)
class Session:
    """What is known of a session before its messages are.

    Attributes:
        name: Its turns' session.
        title: What OpenCode calls it.
        cwd: Where it was held.
        spawned: A sub-agent's.
        reverted: Id of the first message that was taken back, or an empty string.
    """

    name: str
    title: str = ""
    cwd: str | None = None
    spawned: bool = False
    reverted: str = ""

    @classmethod
    def of(cls, info: dict[str, Any], named: str) -> Session:
        """Take in a session's info, ``named`` by its file where it does not name itself."""
        name, parent, revert = (
            string(info.get("id")) or named,
            string(info.get("parentID")),
            table(info.get("revert")),
        )
        reverted = string(revert.get("messageID"))
        return cls(
            f"{parent}/{name}" if parent else name,
            string(info.get("title")),
            string(info.get("directory")) or None,
            bool(parent),
            # Where only parts of a message were taken back, the message itself stays.
            f"{reverted}\uffff" if reverted and revert.get("partID") else reverted,
        )

    def message(
        self, row: Row, line: int, info: dict[str, Any], parts: list[dict[str, Any]]
    ) -> Iterator[Found]:
        """Answer one message with its parts; ``line`` is its place in the session from 1."""
        role, key = string(info.get("role")), string(info.get("id")) or f"{self.name}:{line}"
        if role not in _ORIGINS:
            yield Left(f"role {role}".strip(), unknown=True)
            return
        if role == "assistant" and info.get("summary") is True:
            yield Left("compaction summary")
            return
        texts = []
        for part in parts:
            kind = string(part.get("type"))
            if kind != "text":
                yield Left(kind if kind in _NOISE else f"part {kind}".strip(), unknown=kind not in _NOISE)
            elif part.get("synthetic") or part.get("ignored"):
                yield Left("synthetic text")
            else:
                texts.append(string(part.get("text")))
        if text := said(texts):
            taken_back = bool(self.reverted) and key >= self.reverted
            cwd = string(table(info.get("path")).get("cwd")) or self.cwd
            yield Turn(
                key, role, text, branch(self.name, self.reverted) if taken_back else self.name, line,
                row.start, row.end, millis(table(info.get("time")).get("created")), cwd,
                agent=NAME, origin="agent" if self.spawned else _ORIGINS[role], title=self.title,
            )  # fmt: skip


def millis(value: object) -> int | None:
    """Return UTC microseconds of milliseconds since 1970, or None if it is no such time."""
    return at(value) if isinstance(value, int | float) and value > _EARLIEST_MILLIS else None


def _stored(root: Path, path: str, row: Row) -> Iterator[Found]:
    """Turns of a session whose messages lie beside its file."""
    *above, folder, _, name = ["", "", *path.split("/")]
    if folder != "session":
        message = (
            f"{path} is a session of OpenCode, but its messages lie outside the source. It was not read."
        )
        raise SourceError(message, hint="make OpenCode's folder `storage` the source")
    base = "/".join(filter(None, above))
    # By its file's name, as OpenCode does: sessions were moved without a change of what stands in them.
    named = name.removesuffix(".json")
    session = Session.of({**row.value, "id": named}, named)
    for line, (key, info) in enumerate(_objects(root, f"{base}/message/{named}".lstrip("/")), 1):
        if info is None:
            yield Left(f"message {key}, which cannot be read", unknown=True)
            continue
        parts = list(_objects(root, f"{base}/part/{key}".lstrip("/")))
        yield from (
            Left(f"part {part}, which cannot be read", unknown=True) for part, said in parts if said is None
        )
        whole = [part for _, part in parts if part is not None]
        yield from session.message(row, line, {**info, "id": key}, whole)


def _objects(root: Path, folder: str) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Name and object of each JSON file in a folder; None for one that cannot be read."""
    for name in names(root, folder):
        if not name.endswith(".json") or name.startswith("."):
            continue
        try:
            value = json.loads(read(root, f"{folder}/{name}").text)
        except (SourceError, ValueError, RecursionError):
            value = None
        yield name.removesuffix(".json"), value if isinstance(value, dict) else None


FORMAT = Format(NAME, f"{NAME} 1", False, _recognise, elements, _reader)
