import io

import pytest

from scrubjay.ingest.transcripts.base import DUE_BYTES, DUE_LINES, is_cursor_valid, is_log_due


def grown(by: bytes, before: bytes = b"{}\n") -> bool:
    return is_log_due(io.BytesIO(before + by), len(before))


def test_a_log_is_due_when_it_grew_by_100_kilobytes_or_50_lines() -> None:
    assert (DUE_BYTES, DUE_LINES) == (102_400, 50)
    assert not grown(b"")
    assert not grown(b"{}\n" * 49)
    assert grown(b"{}\n" * 50)
    assert not grown(b"{}\n" * 49 + b'{"torn')
    assert not grown(b"x" * (DUE_BYTES - 1))
    assert grown(b"x" * DUE_BYTES)


def test_both_limits_can_be_set() -> None:
    log = io.BytesIO(b"{}\n" * 3)
    assert is_log_due(log, 0, enough_lines=3)
    assert not is_log_due(log, 0, enough_lines=4)
    assert is_log_due(log, 0, enough_bytes=9)


def test_a_new_log_is_due_by_the_same_rule() -> None:
    assert not grown(b"{}\n", before=b"")
    assert grown(b"{}\n" * 50, before=b"")


@pytest.mark.parametrize(
    ("log", "cursor", "same"),
    [
        (b"", 0, True),
        (b"{}\n", 3, True),
        (b"{}\n{}\n", 3, True),
        (b"{}", 2, True),  # a whole last line without its line end
        (b"{}\n{}", 2, True),
        (b"{}\r\n{}", 2, True),
        (b"{}\n", 4, False),
        (b"", 3, False),
        (b'{"a": 1}\n', 3, False),
    ],
)
def test_a_log_that_was_cut_or_written_anew_is_noticed(log: bytes, cursor: int, same: bool) -> None:
    assert is_cursor_valid(io.BytesIO(log), cursor) is same
    assert is_log_due(io.BytesIO(log), cursor) is not same
