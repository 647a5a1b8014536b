"""Whatever a client writes, in whatever pieces: each line within the limit comes out, and none beyond it."""

from __future__ import annotations

import itertools
import json
import os
import threading

from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.server.mcp.stdio import TOO_LARGE_METHOD, bounded_lines

MOST = 200
LINE = st.one_of(
    st.binary(max_size=2 * MOST).map(lambda raw: raw.replace(b"\n", b"")),
    st.text(max_size=50).map(lambda text: json.dumps({"a": text}).encode()),
)


def read(written: bytes, cuts: list[int], most: int = MOST) -> list[str]:
    """What comes out when this is written in pieces that end at these places."""
    source, sink = os.pipe()
    places = [0, *sorted(min(cut, len(written)) for cut in cuts), len(written)]

    def write() -> None:
        with os.fdopen(sink, "wb", buffering=0) as out:
            for first, last in itertools.pairwise(places):
                out.write(written[first:last])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        return list(bounded_lines(source, most))
    finally:
        writer.join()
        os.close(source)


@settings(max_examples=200, deadline=None)
@given(sent=st.lists(LINE, max_size=6), cuts=st.lists(st.integers(0, 1_000), max_size=6), ended=st.booleans())
def test_lines_come_out_as_they_were_written_and_long_ones_never(
    sent: list[bytes], cuts: list[int], ended: bool
) -> None:
    found = read(b"\n".join(sent) + (b"\n" if ended else b""), cuts)
    short = [each.decode("utf-8", "replace") for each in sent if each.strip() and len(each) <= MOST]
    kept = [each for each in found if TOO_LARGE_METHOD not in each]
    assert [json.loads(each) if each.startswith('{"a"') else each for each in kept] == [
        json.loads(each) if each.startswith('{"a"') else each for each in short
    ]
    assert len(found) <= len([each for each in sent if each.strip()])


@settings(max_examples=100, deadline=None)
@given(
    number=st.one_of(st.integers(-(10**15), 10**15), st.from_regex(r"[a-z0-9-]{1,40}", fullmatch=True)),
    first=st.booleans(),
    filler=st.integers(MOST, 20_000),
    cuts=st.lists(st.integers(0, 20_000), max_size=4),
)
def test_the_sender_of_a_message_that_is_too_long_is_told_by_its_id(
    number: int | str, first: bool, filler: int, cuts: list[int]
) -> None:
    head = {"jsonrpc": "2.0", "id": number}
    body = {"method": "tools/call", "params": {"id": 5, "arguments": {"id": 6, "content": "x" * filler}}}
    wish = head | body if first else body | head
    (refusal, after) = read(json.dumps(wish).encode() + b"\n[1]\n", cuts)
    assert json.loads(refusal) == {"jsonrpc": "2.0", "id": number, "method": TOO_LARGE_METHOD}
    assert after == "[1]"
