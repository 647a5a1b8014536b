import io
import json
import random
import tracemalloc
from pathlib import Path

import pytest

from scrubjay.ingest.transcripts import base
from scrubjay.ingest.transcripts.base import HEAD_BYTES, BrokenRow, LogRow


def rows(data: bytes, cursor: int = 0) -> list[LogRow | BrokenRow]:
    return list(base.read_rows(io.BytesIO(data), cursor))


def brief(data: bytes) -> list[tuple[int, object]]:
    return [(row.line, row.value if isinstance(row, LogRow) else row.message) for row in rows(data)]


def test_rows_name_their_line_and_bytes_and_leave_none_out() -> None:
    data = b'{"a": 1}\n\n{"b": "\xc3\xa4"}\n'
    assert rows(data) == [LogRow(1, 0, 9, {"a": 1}), LogRow(3, 10, len(data), {"b": "ä"})]


def test_a_byte_order_mark_carriage_returns_and_nul_bytes_around_a_line_are_no_part_of_it() -> None:
    assert brief(b'\xef\xbb\xbf{"a": 1}\r\n\0\0\0\n\0\0{"b": 2}\0\n') == [(1, {"a": 1}), (3, {"b": 2})]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"a": "\xff"}', "is not UTF-8 (byte 0xff)"),
        (b'{"a": tru}', "is not JSON (Expecting value at character 7)"),
        (b'{"a": "' + b"b" * 9, "is not JSON (Unterminated string starting at at character 7)"),
        (b'{"a": ' + b"9" * 5000 + b"}", "holds a number with more digits than are read"),
        (b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "is nested too deep"),
        (b"[1, 2]", "is not a JSON object"),
        (b'{"a": 1} {"b": 2}', "is not JSON (Extra data at character 10)"),
    ],
)
def test_a_line_that_cannot_be_read_is_told_and_the_ones_around_it_are_read(
    line: bytes, message: str
) -> None:
    assert brief(b'{"x": 1}\n' + line + b'\n{"y": 2}\n') == [(1, {"x": 1}), (2, message), (3, {"y": 2})]


def test_a_line_longer_than_is_read_is_passed_over_and_the_rest_goes_on(monkeypatch) -> None:
    monkeypatch.setattr(base, "MAX_LINE_BYTES", 50)
    long = b'{"a": "' + b"x" * 300 + b'"}\n'
    found = rows(b'{"b": 1}\n' + long + b'{"c": 2}\n')
    assert found == [
        LogRow(1, 0, 9, {"b": 1}),
        BrokenRow(2, 9, 9 + len(long), f"has {len(long)} bytes, more than the 50 that are read"),
        LogRow(3, 9 + len(long), 18 + len(long), {"c": 2}),
    ]
    assert rows(b'{"b": 1}\n' + long[:-1]) == found[:1]
    exact = b'{"a": "' + b"x" * 41 + b'"}'
    assert [type(row) for row in rows(exact + b"\n" + exact)] == [LogRow, LogRow]


@pytest.mark.parametrize("tail", [b'{"b": ', b'{"b": 2', b'{"b": "\xc3', b"12", b'"b"', b"\0\0"])
def test_a_torn_last_line_is_neither_read_nor_told(tail: bytes) -> None:
    assert rows(b'{"a": 1}\n' + tail) == [LogRow(1, 0, 9, {"a": 1})]


def test_a_last_line_that_is_a_whole_object_needs_no_line_end_and_is_not_read_again_with_it() -> None:
    data = b'{"a": 1}\n{"b": 2}'
    assert rows(data)[-1] == LogRow(2, 9, 17, {"b": 2})
    then = rows(data + b'\n{"c": 3}\n', cursor=17)
    assert [row for row in then if row.start >= 17] == [LogRow(3, 18, 27, {"c": 3})]


def test_of_a_large_file_the_head_and_the_last_part_before_the_cursor_are_read_again(monkeypatch) -> None:
    monkeypatch.setattr(base, "REPLAY_BYTES", 300)
    monkeypatch.setattr(base, "HEAD_REPLAY_BYTES", 100)
    monkeypatch.setattr(base, "_BLOCK", 64)
    lines = [json.dumps({"n": n, "pad": "x" * (n % 37)}).encode() + b"\n" for n in range(200)]
    data = b"".join(lines)
    whole = rows(data)
    for cursor in [row.end for row in whole]:
        again = rows(data, cursor)
        seen = [row for row in again if row.start < cursor]
        assert [row for row in again if row.start >= cursor] == [row for row in whole if row.start >= cursor]
        assert all(row in whole for row in seen)
        assert len(seen) == len({row.line for row in seen})
        assert (
            cursor - 300 <= min((row.start for row in seen if row.start > 100), default=cursor)
            or cursor < 400
        )
        assert seen[:3] == whole[: min(3, len(seen))]


def test_the_memory_that_a_large_file_needs_does_not_grow_with_it(tmp_path: Path) -> None:
    file = tmp_path / "large.jsonl"
    noise = random.Random(7).randbytes(200_000).hex()
    with open(file, "wb") as written:
        for number in range(150):
            written.write(json.dumps({"n": number, "text": noise}).encode() + b"\n")
    assert file.stat().st_size > 60_000_000
    tracemalloc.start()
    with open(file, "rb") as opened:
        assert sum(1 for _ in base.read_rows(opened, 0)) == 150
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000


def test_a_head_gives_the_objects_on_its_whole_lines() -> None:
    assert base.peek_objects(b"") == ()
    assert base.peek_objects(b'\xef\xbb\xbf{"a": 1}\n\n[1]\n{"b": 2}') == ({"a": 1}, None, {"b": 2})
    full = b'{"a": 1}\n' + b'{"b": "' + b"x" * HEAD_BYTES
    assert base.peek_objects(full[:HEAD_BYTES]) == ({"a": 1},)
