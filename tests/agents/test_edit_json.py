"""JSON with comments is edited in place: what is not named stays to the byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.agents import json_edit
from scrubjay.errors import InputError

WHERE = Path("settings.json")
ENTRY = {"type": "stdio", "command": "/bin/scrubjay", "args": ["mcp"]}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{}', '{\n  "m": {\n    "us": 1\n  }\n}'),
        ('{"a":1}', '{"a":1, "m": {"us": 1}}'),
        ('{"a":1,}', '{"a":1, "m": {"us": 1},}'),
        ('{\n\t"a": 1 // why\n}\n', '{\n\t"a": 1, // why\n\t"m": {\n\t\t"us": 1\n\t}\n}\n'),
        ('{\r\n    "m": {}\r\n}', '{\r\n    "m": {\r\n        "us": 1\r\n    }\r\n}'),
        ("{m: {them: 'x'}} // end", "{m: {them: 'x', \"us\": 1}} // end"),
        ('// only this', '// only this\n{\n  "m": {\n    "us": 1\n  }\n}\n'),
        ('{\n  "m": {\n    // none yet\n  }\n}', '{\n  "m": {\n    // none yet\n    "us": 1\n  }\n}'),
        ('{"m": {"us": 2 /* old */}}', '{"m": {"us": 1 /* old */}}'),
    ],
)  # fmt: skip
def test_a_member_is_written_in_the_manner_of_what_stands_around_it(before: str, after: str) -> None:
    assert json_edit.put_value(before.encode(), ("m", "us"), 1, WHERE).decode() == after


def test_an_empty_or_missing_file_becomes_a_document() -> None:
    made = b'{\n  "m": {\n    "us": 1\n  }\n}\n'
    assert json_edit.put_value(None, ("m", "us"), 1, WHERE) == made
    assert json_edit.put_value(b"", ("m", "us"), 1, WHERE) == made
    assert json_edit.put_value(b"\xef\xbb\xbf", ("m", "us"), 1, WHERE) == b"\xef\xbb\xbf" + made


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"m": {"us": 1}}', '{}'),
        ('{"m": {"us": 1, "them": 2}}', '{"m": {"them": 2}}'),
        ('{"m": {"them": 2, "us": 1}}', '{"m": {"them": 2}}'),
        ('{"m": {"them": 2, "us": 1,}}', '{"m": {"them": 2,}}'),
        ('{"m": { // c\n"us": 1}, "a": 2}', '{"m": { // c\n}, "a": 2}'),
        ('{"m": { // c\n"us": 1, "a": 2}}', '{"m": { // c\n"a": 2}}'),
        ('{"m": {"a": 2 // c\n, "us": 1}}', '{"m": {"a": 2 // c\n}}'),
        ('{"m": {"a": 2, // c\n"us": 1}}', '{"m": {"a": 2 // c\n}}'),
        ('{"m": {"us": 1, "them": 2, "us": 3}}', '{"m": {"them": 2}}'),
    ],
)  # fmt: skip
def test_a_member_that_goes_takes_its_comma_and_what_it_leaves_empty(before: str, after: str) -> None:
    assert (json_edit.remove_value(before.encode(), ("m", "us"), WHERE) or b"").decode() == after


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{a: .5, b: 0x1F, c: +1e2, 'd': Infinity, $e: -7, f: 5., g: 0}",
         {"a": 0.5, "b": 31, "c": 100.0, "d": float("inf"), "$e": -7, "f": 5.0, "g": 0}),
        (r"""["\u00e4\x41\n\'\"", 'a\
b', "\ud83d\ude00"]""", ["äA\n'\"", "ab", "😀"]),
        ("\ufeff/* a */ [1, 2,] // z", [1, 2]),
    ],
)  # fmt: skip
def test_what_json5_allows_is_read(text: str, value: Any) -> None:
    assert json_edit.parse_json(text.encode(), WHERE) == value


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', "settings.json:3:3: a comma or } belongs here, not '\"'"),
        ('{"a": "x\n"}', "settings.json:1:9: the end of the string"),
        ('{"a": 1', "settings.json:1:8: a comma or } belongs here, not the end of the file"),
        ("{} {}", "settings.json:1:4: something follows"),
        ("{'a': 01}", "settings.json:1:7: a value belongs here"),
        ("[" * 1_000, "settings.json:1:202: more than 200"),
        ("{a: /* x}", "settings.json:1:5: a value belongs here"),
        ("{a: 1x}", "settings.json:1:5: a value belongs here"),
        ("{a: tru}", "settings.json:1:5: a value belongs here"),
    ],
)
def test_a_broken_document_is_refused_with_its_place(text: str, told: str) -> None:
    with pytest.raises(InputError) as refused:
        json_edit.put_value(text.encode(), ("m",), 1, WHERE)
    assert str(refused.value).startswith(told)
    assert str(refused.value).endswith("Nothing was changed.")
    assert refused.value.hint


def test_a_value_of_another_kind_in_the_way_is_named() -> None:
    with pytest.raises(InputError, match=r"settings.json:1:7: m is a list, but an object belongs there"):
        json_edit.put_value(b'{"m": []}', ("m", "us"), 1, WHERE)
    with pytest.raises(InputError, match="the document is a list"):
        json_edit.put_value(b"[]", ("m", "us"), 1, WHERE)
    with pytest.raises(InputError, match="is not UTF-8 at byte 1"):
        json_edit.put_value(b"{\xff}", ("m", "us"), 1, WHERE)


def test_an_item_takes_the_place_of_an_older_one_of_ours() -> None:
    before = b'{"hooks": ["them", "us-1", "us-2", "more"]}'

    def ours(item: Any) -> bool:
        return str(item).startswith("us")

    after = json_edit.put_item(before, ("hooks",), "us-3", ours, WHERE)
    assert after == b'{"hooks": ["them", "us-3", "more"]}'
    assert json_edit.put_item(after, ("hooks",), "us-3", ours, WHERE) == after
    assert json_edit.remove_items(after, ("hooks",), ours, WHERE) == b'{"hooks": ["them", "more"]}'


BLANK = st.sampled_from(["", " ", "\n", "\r\n\t", "  /* a, } */ ", " // b: {\n", "\n\n    "])
SCALAR = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)).map(
    lambda value: json.dumps(value, ensure_ascii=False)
)
NAME = st.sampled_from(['"a"', '"b c"', "'d'", "$e", '"m"', '"us-not"', '"\\u006d2"'])


@st.composite
def held(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    """An object or an array, with blanks and comments wherever they may stand."""
    named = draw(st.booleans())
    children = draw(st.lists(st.tuples(NAME, inner), max_size=3, unique_by=lambda pair: pair[0]))
    parts = [draw(BLANK)]
    for at, (name, value) in enumerate(children):
        label = f"{name}{draw(BLANK)}:{draw(BLANK)}" if named else ""
        comma = "," if at + 1 < len(children) or draw(st.booleans()) else ""
        parts.append(f"{label}{value}{draw(BLANK)}{comma}{draw(BLANK)}")
    return f"{'{' if named else '['}{''.join(parts)}{'}' if named else ']'}"


DOCUMENT = st.recursive(SCALAR, held, max_leaves=12)


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    """An object whose member ``m`` is an object or not there."""
    start, end = draw(BLANK), draw(BLANK)
    children = draw(st.lists(st.tuples(st.sampled_from(["x", "y", '"z"']), DOCUMENT), max_size=3))
    inside = draw(held(DOCUMENT).filter(lambda text: text.startswith("{")))
    parts = [f"{name}:{draw(BLANK)}{value}{draw(BLANK)}" for name, value in children]
    if draw(st.booleans()):
        parts.insert(draw(st.integers(0, len(parts))), f'"m"{draw(BLANK)}:{draw(BLANK)}{inside}{draw(BLANK)}')
    comma = "," if parts and draw(st.booleans()) else ""
    return f"{start}{{{draw(BLANK)}{','.join(parts)}{comma}{draw(BLANK)}}}{end}".encode()


@given(documents())
def test_putting_and_cutting_leave_every_other_value_and_comment_as_it_was(before: bytes) -> None:
    was = json_edit.parse_json(before, WHERE)
    after = json_edit.put_value(before, ("m", "us"), ENTRY, WHERE)
    now = json_edit.parse_json(after, WHERE)
    assert now == {**was, "m": {**was.get("m", {}), "us": ENTRY}}
    assert after.count(b"//") == before.count(b"//")
    assert json_edit.put_value(after, ("m", "us"), ENTRY, WHERE) == after
    back = json_edit.remove_value(after, ("m", "us"), WHERE)
    expected = {name: value for name, value in was.items() if name != "m" or value}
    found = json_edit.parse_json(back, WHERE)
    assert {name: value for name, value in found.items() if name != "m" or value} == expected
    if was.get("m"):
        assert back == before


@given(documents())
def test_a_list_takes_an_item_and_gives_it_back(before: bytes) -> None:
    def ours(item: Any) -> bool:
        return bool(item == ENTRY)

    was = json_edit.parse_json(before, WHERE)
    if not isinstance(was.get("x"), list):
        before = json_edit.put_value(before, ("x",), [1], WHERE)
        was = json_edit.parse_json(before, WHERE)
    after = json_edit.put_item(before, ("x",), ENTRY, ours, WHERE)
    assert json_edit.parse_json(after, WHERE) == {**was, "x": [*was["x"], ENTRY]}
    if was["x"]:
        assert json_edit.remove_items(after, ("x",), ours, WHERE) == before
