"""Reading on from a cursor, over every line format and wherever the first reading ended."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.ingest.transcripts import base, claude, codex, generic
from scrubjay.ingest.transcripts.base import SkippedItem, TranscriptFormat
from scrubjay.ingest.transcripts.importer import LogStep, follow_log
from scrubjay.models.records import Turn

FIXTURES = Path(__file__).parent / "fixtures"
FORMS = {"claude_code": claude.CLAUDE_CODE, "codex": codex.CODEX, "generic": generic.GENERIC}
FILES = [(file, form) for name, form in FORMS.items() for file in sorted((FIXTURES / name).rglob("*.jsonl"))]


def steps(data: bytes, form: TranscriptFormat, path: str = "s.jsonl", cursor: int = 0) -> list[LogStep]:
    return list(follow_log(io.BytesIO(data), form, FIXTURES, path, cursor))


def found(read: list[LogStep]) -> list[object]:
    return [one for step in read for one in step.items]


def endless(one: object) -> object:
    """A turn without its end: a whole last line is read before its line end is there."""
    return replace(one, end=0) if isinstance(one, Turn) else one


@pytest.mark.parametrize(("file", "form"), FILES, ids=[file.stem[-12:] for file, _ in FILES])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_reading_in_two_at_any_byte_gives_what_reading_at_once_gives(
    file: Path, form: TranscriptFormat, data: st.DataObject
) -> None:
    whole = file.read_bytes()
    split = data.draw(st.integers(0, len(whole)))
    first = steps(whole[:split], form, file.name)
    cursor = first[-1].end if first else 0
    then = steps(whole, form, file.name, cursor)
    assert [*map(endless, found(first) + found(then))] == [
        *map(endless, found(steps(whole, form, file.name)))
    ]
    assert all(step.end > cursor for step in then)


RECORDS = st.lists(
    st.tuples(
        st.integers(0, 12),  # how far back the parent is; 0 for none
        st.sampled_from(["user", "assistant", "tool", "system", "side", "title", "copy"]),
    ),
    max_size=40,
)


@settings(max_examples=60, deadline=None)
@given(RECORDS, st.integers(0, 40))
def test_branches_and_sidechains_are_the_same_wherever_the_first_reading_ended(
    records: list[tuple[int, str]], split: int
) -> None:
    lines = [log_line(number, back, kind) for number, (back, kind) in enumerate(records)]
    whole, half = b"".join(lines), b"".join(lines[:split])
    form = claude.CLAUDE_CODE
    assert found(steps(half, form)) + found(steps(whole, form, cursor=len(half))) == found(steps(whole, form))


def log_line(number: int, back: int, kind: str) -> bytes:
    if kind == "title":
        return json.dumps({"type": "ai-title", "aiTitle": f"title {number}"}).encode() + b"\n"
    blocks = [{"type": "tool_use"}] if kind == "tool" else [{"type": "text", "text": f"said {number}"}]
    record = {
        "type": {"tool": "assistant", "side": "user", "copy": "user"}.get(kind, kind),
        "uuid": f"{number - 1 if kind == 'copy' else number:08d}",
        "parentUuid": f"{number - back:08d}" if back else None,
        "isSidechain": kind == "side",
        "sessionId": "s",
        "message": {"content": blocks},
    }
    return json.dumps(record).encode() + b"\n"


def test_a_branch_of_a_large_file_keeps_its_name_as_far_as_the_log_is_read_again(monkeypatch) -> None:
    monkeypatch.setattr(base, "REPLAY_BYTES", 2000)
    monkeypatch.setattr(base, "HEAD_REPLAY_BYTES", 500)
    records = [(1, "user" if n % 2 == 0 else "assistant") for n in range(100)]
    records[90] = (5, "user")  # gone back, within what is read again
    lines = [log_line(number, back, kind) for number, (back, kind) in enumerate(records)]
    whole, half = b"".join(lines), b"".join(lines[:95])
    turns = [one for one in found(steps(whole, claude.CLAUDE_CODE)) if isinstance(one, Turn)]
    then = [one for one in found(steps(whole, claude.CLAUDE_CODE, cursor=len(half))) if isinstance(one, Turn)]
    assert then == turns[95:]
    assert {turn.session for turn in then} == {"s~00000090"}


def test_what_no_store_takes_is_made_storable_and_blank_turns_are_left_out() -> None:
    data = b"".join(
        json.dumps({"role": "user", "content": text, "session": "s\0", "id": 1, "cwd": "/a\0"}).encode()
        + b"\n"
        for text in ("a\0b \ud800", "", " \n ")
    )
    turn, *left = found(steps(data, generic.GENERIC))
    assert isinstance(turn, Turn)
    assert (turn.text, turn.session, turn.cwd) == ("a\ufffdb \ufffd", "s\ufffd", "/a\ufffd")
    turn.key.encode()
    assert left == [SkippedItem("blank"), SkippedItem("blank")]


def test_a_line_that_cannot_be_read_is_a_step_of_its_own_and_is_told_once() -> None:
    data = b'{"role": "user", "content": "a"}\nnonsense\n{"role": "user", "content": "b"}\n'
    read = steps(data, generic.GENERIC)
    assert [step.end for step in read] == [33, 42, 75]
    assert [type(one).__name__ for one in found(read)] == ["Turn", "BrokenRow", "Turn"]
    assert [type(one).__name__ for one in found(steps(data, generic.GENERIC, cursor=42))] == ["Turn"]
    assert found(steps(data, generic.GENERIC, cursor=75)) == []


def test_what_a_log_calls_its_records_is_shown_short_and_harmless() -> None:
    data = json.dumps({"type": "\x1b[2J" + "x" * 500, "sessionId": "s"}).encode() + b"\n"
    (left,) = found(steps(data, claude.CLAUDE_CODE))
    assert left == SkippedItem("\ufffd[2J" + "x" * 56, unknown=True)
