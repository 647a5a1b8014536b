import json
from pathlib import Path

import pytest

from scrubjay.ingest.transcripts.base import HEAD_BYTES
from scrubjay.ingest.transcripts.importer import TRANSCRIPT_FORMATS, recognise_format

FIXTURES = Path(__file__).parent / "fixtures"


def name(data: bytes, path: str = "/x/file.jsonl") -> str | None:
    form = recognise_format(path, data[:HEAD_BYTES])
    return form and form.name


def lines(*rows: object) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


MESSAGE = {"role": "user", "content": "hello"}


@pytest.mark.parametrize(("folder", "tool"), [("claude_code", "claude-code"), ("codex", "codex")])
def test_every_talk_of_a_tool_is_known_by_its_head_under_any_name(folder: str, tool: str) -> None:
    for file in (FIXTURES / folder).rglob("*.jsonl"):
        assert name(file.read_bytes(), str(file)) == tool
        assert name(file.read_bytes(), "/elsewhere/copy.txt") == tool


def test_generic_is_what_has_role_and_content_on_every_line() -> None:
    assert (
        name(lines(MESSAGE, {"role": "assistant", "content": [{"type": "text", "text": "hi"}]})) == "generic"
    )
    assert name(lines(MESSAGE)[:-1]) == "generic"
    assert TRANSCRIPT_FORMATS[-1].name == "generic"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        b"# Notes\n\nrole and content\n",
        b'{"role": "user", "content": "cut',
        lines(MESSAGE, {"label": 1}),
        lines(MESSAGE, 7),
        lines(MESSAGE) + b"nonsense\n",
        lines({"role": "user", "content": 5}),
        lines({"role": "", "content": "a"}),
        lines({"role": 1, "content": "a"}),
        lines({"messages": [MESSAGE]}),
        lines({"prompt": "a", "completion": "b"}),
        lines({"type": "user", "uuid": "1", "name": "Ana"}),
        lines({"type": "summary", "summary": "a"}),
        lines({"type": "session_meta", "payload": {"cwd": "/"}}),
        lines({"id": "1", "timestamp": "2026-01-01", "value": 3}),
        lines({"id": "1", "timestamp": "2026-01-01", "instructions": "x", "content": "y"}),
        b"\xff\xfe{\0}\0\n\0",
        bytes(range(256)) * 8,
    ],
)
def test_other_data_are_not_taken_for_a_talk(data: bytes) -> None:
    assert name(data) is None


def test_a_first_line_longer_than_the_head_hides_no_talk() -> None:
    paste = "x" * 100_000
    claude = {"parentUuid": None, "isSidechain": False, "type": "user", "message": {"content": paste}}
    codex = {
        "timestamp": "2026-02-10T08:00:00.000Z",
        "type": "session_meta",
        "payload": {"id": "a", "b": paste},
    }
    assert name(json.dumps(claude, separators=(",", ":")).encode()) == "claude-code"
    assert name(json.dumps(codex, separators=(",", ":")).encode()) == "codex"
    assert name(json.dumps({"role": "user", "content": paste}).encode()) is None


def test_a_broken_line_in_the_head_hides_no_talk_of_a_tool() -> None:
    file = next((FIXTURES / "claude_code").glob("5f0c*.jsonl"))
    assert name(b'{"torn": \n' + file.read_bytes()) == "claude-code"
