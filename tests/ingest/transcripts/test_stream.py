import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.ingest.transcripts.base import BrokenRow, LogRow, read_elements

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


class Slow(io.BytesIO):
    """Gives a few bytes at a time, as a block of a large file ends anywhere."""

    def __init__(self, data: bytes, step: int) -> None:
        super().__init__(data)
        self.step = step

    def read(self, size: int | None = -1) -> bytes:
        return super().read(self.step)


def told(data: bytes, **options: int) -> list[tuple[int, object]]:
    found = read_elements(io.BytesIO(data), **options)
    return [(one.line, one.value if isinstance(one, LogRow) else one.message) for one in found]


@given(st.lists(st.dictionaries(st.text(), values, max_size=4), max_size=5), st.integers(1, 7), st.booleans())
@settings(max_examples=60, deadline=None)
def test_each_element_comes_with_the_bytes_it_stands_on_wherever_blocks_end(
    objects: list[dict[str, object]], step: int, escaped: bool
) -> None:
    data = json.dumps(objects, ensure_ascii=escaped, indent=1).encode("utf-8", "surrogatepass")
    found = list(read_elements(Slow(data, step)))
    assert [one.line for one in found] == list(range(1, len(objects) + 1))
    for one, value in zip(found, objects, strict=True):
        if isinstance(one, LogRow):
            assert one.value == value
        assert json.loads(data[one.start : one.end].decode("utf-8", "surrogatepass")) == value


@given(st.binary(max_size=60) | st.text('{}[],:"\\ 1a', max_size=40).map(str.encode), st.integers(1, 9))
@settings(max_examples=150, deadline=None)
def test_any_bytes_end_in_places_that_ascend_and_never_in_an_error(data: bytes, step: int) -> None:
    end = 0
    for one in read_elements(Slow(data, step)):
        assert end <= one.start <= one.end <= len(data)
        end = one.end


def test_a_file_that_is_one_object_is_one_element_and_an_empty_one_none() -> None:
    assert told(b'\xef\xbb\xbf {"a": {"b": "}"}} \n') == [(1, {"a": {"b": "}"}})]
    assert told(b"") == told(b" \n") == told(b"[]") == []


def test_a_malformed_element_costs_itself_alone() -> None:
    assert told(b'[{"a": 1}, {"b": nope}, 7, "x, y", [1], {"c": "\xff"}, {"d": 2}]') == [
        (1, {"a": 1}),
        (2, "is not JSON (Expecting value at character 7)"),
        (3, "is not a JSON object"),
        (4, "is not a JSON object"),
        (5, "is not a JSON object"),
        (6, "is not UTF-8 (byte 0xff)"),
        (7, {"d": 2}),
    ]


# More than Python 3.13 reads, which reads ten times as much as 3.11; within a block and over its end.
@pytest.mark.parametrize("depth", [100_000, 200_000])
def test_an_element_nested_too_deeply_is_told_and_the_next_is_read(depth: int) -> None:
    data = b"[" + b'{"a":' * depth + b"1" + b"}" * depth + b',{"b":1}]'
    assert told(data) == [(1, "is nested too deep"), (2, {"b": 1})]


def test_a_torn_file_gives_what_is_whole_and_one_problem() -> None:
    whole = b'[{"a": 1}, {"b": "\\"x"}]'
    for length in range(1, len(whole)):
        found = list(read_elements(io.BytesIO(whole[:length])))
        assert len([one for one in found if isinstance(one, BrokenRow)]) == 1
        assert len([one for one in found if isinstance(one, LogRow)]) == (length >= 9) + (length >= 23)
    assert told(whole[:9])[-1] == (2, "is missing: the file ends within its array")
    assert told(whole[:20])[-1] == (2, "is cut off: the file ends within it")


def test_a_number_with_too_many_digits_is_no_error() -> None:
    assert told(b'[{"a": ' + b"9" * 5_000 + b'}, {"b": 1}]')[1:] == [(2, {"b": 1})]


def test_an_element_over_the_limit_is_passed_over_without_being_held() -> None:
    class Endless(io.BytesIO):
        """A conversation of 73 MB that nobody has in memory."""

        def __init__(self) -> None:
            super().__init__()
            self.blocks = iter([b'[{"a": "', *[b"words \\\\" * 32_768] * 280, b'"}, {"b": 1}]'])

        def read(self, size: int | None = -1) -> bytes:
            return next(self.blocks, b"")

    found = list(read_elements(Endless()))
    assert [one.line for one in found] == [1, 2]
    assert isinstance(found[0], BrokenRow)
    assert found[0].message == "has 73,400,329 bytes, more than the 67,108,864 that are read"
    assert isinstance(found[1], LogRow)
    assert found[1].start == found[0].end + 2
    assert told(b'[{"a": "xxxxxxxxxx"}, {"b": 1}]', most=12) == [
        (1, "has 19 bytes, more than the 12 that are read"),
        (2, {"b": 1}),
    ]


def test_what_is_no_json_is_said_once() -> None:
    assert told(b"PK\x03\x04 a zip") == [(1, "begins with b'P', which begins no JSON record")]
