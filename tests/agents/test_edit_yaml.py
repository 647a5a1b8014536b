"""An entry comes into a YAML file and goes out of it, and no byte around it changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.agents import yaml_edit
from scrubjay.errors import InputError

WHERE = Path("config.yaml")
KEYS = ("servers", "ours")
ENTRY = {"command": "/opt/a b/c", "args": ["mcp"]}
LINES = b'  ours:\n    command: "/opt/a b/c"\n    args: ["mcp"]\n'

FORMS = {
    "no file": (None, b"servers:\n" + LINES),
    "a comment": (b"# mine\n", b"# mine\nservers:\n" + LINES),
    "no line end": (b"a: 1", b"a: 1\nservers:\n" + LINES),
    "a mapping": (
        b"servers:\n  # one\n  one:\n    args:\n    - x  # y\n\n# after\nb: 2\n",
        b"servers:\n  # one\n  one:\n    args:\n    - x  # y\n" + LINES + b"\n# after\nb: 2\n",
    ),
    "a mapping at the end": (b"servers:\n  one: {url: x}", b"servers:\n  one: {url: x}\n" + LINES),
    "four spaces": (
        b"servers:\n    one: 1\n",
        b'servers:\n    one: 1\n    ours:\n      command: "/opt/a b/c"\n      args: ["mcp"]\n',
    ),
    "an empty mapping": (
        b"servers: {}  # none\nb: 2\n",
        b"servers:  # none\n" + LINES + b"b: 2\n",
    ),
    "no value": (b"servers:\nb: 2\n", b"servers:\n" + LINES + b"b: 2\n"),
    "braces": (
        b"servers: {one: {url: x}}\n",
        b'servers: {one: {url: x}, ours: {"command": "/opt/a b/c", "args": ["mcp"]}}\n',
    ),
    "line ends of Windows": (b"a: 1\r\n", b"a: 1\r\nservers:\r\n" + LINES.replace(b"\n", b"\r\n")),
}


@pytest.mark.parametrize("form", FORMS)
def test_an_entry_is_put_where_it_belongs_in_every_form(form: str) -> None:
    before, after = FORMS[form]
    assert yaml_edit.put_entry(before, KEYS, ENTRY, WHERE) == after
    assert yaml_edit.put_entry(after, KEYS, ENTRY, WHERE) == after
    cut = yaml_edit.remove_entry(after, KEYS, WHERE)
    assert yaml_edit.get_entry(cut, KEYS, WHERE) is None
    known = yaml.safe_load(before or b"") or {}
    assert yaml.safe_load(cut or b"") in (known or None, {**known, "servers": {}}) or not known.get("servers")


def test_what_a_person_added_to_the_entry_stays_when_the_command_moves() -> None:
    old = (
        b"servers:\n  ours:\n    command: /old\n    env:\n      A: b  # mine\n    args:\n      - mcp\n# end\n"
    )
    new = yaml_edit.put_entry(old, KEYS, ENTRY, WHERE)
    assert new == old.replace(b"command: /old", b'command: "/opt/a b/c"')
    assert yaml_edit.remove_entry(new, KEYS, WHERE) == b"# end\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"servers:  # mine\n  {}\nb: 2\n", b"servers:  # mine\n" + LINES + b"b: 2\n"),
        (b"servers:\n  # mine\n  {}  # none\n", b"servers:\n  # mine  # none\n" + LINES),
        (
            b"servers: # mine\r\n  ~\r\nb: 2\r\n",
            b"servers: # mine\r\n" + LINES.replace(b"\n", b"\r\n") + b"b: 2\r\n",
        ),
    ],
)
def test_a_comment_between_the_key_and_an_empty_value_stays(before: bytes, after: bytes) -> None:
    assert yaml_edit.put_entry(before, KEYS, ENTRY, WHERE) == after
    cut = yaml_edit.remove_entry(after, KEYS, WHERE)
    assert cut is not None
    assert b"# mine" in cut
    assert yaml.safe_load(cut).get("servers") is None


@pytest.mark.parametrize(
    "data",
    [
        b"- a\n",
        b"servers: [a]\n",
        b"servers: text\n",
        b"servers:\n  ours:\n",
        b"a: &x {one: 1}\nservers: *x\n",
        b"{a: 1}\n",
        b"a: 1\n...\n",
        b"base: &b\n  ours: {command: x}\nservers:\n  <<: *b\n",
    ],
)
def test_what_cannot_take_the_entry_is_refused_with_what_to_add_by_hand(data: bytes) -> None:
    with pytest.raises(InputError, match="Nothing was changed") as refused:
        yaml_edit.put_entry(data, KEYS, ENTRY, WHERE)
    assert refused.value.hint == (
        'add to servers in it: ours: {"command": "/opt/a b/c", "args": ["mcp"]}, by hand'
    )


def test_an_entry_that_is_merged_in_from_elsewhere_is_not_cut_there() -> None:
    with pytest.raises(InputError, match="Nothing was changed") as refused:
        yaml_edit.remove_entry(b"base: &b\n  ours: {command: x}\nservers:\n  <<: *b\n", KEYS, WHERE)
    assert refused.value.hint == "remove ours there, by hand"


@pytest.mark.parametrize("data", [b"a: [1\n", b"a: 1\n---\nb: 2\n", b"\xff\xfe", b"a: !!python/none x\n"])
def test_a_malformed_file_is_named(data: bytes) -> None:
    for edit in (yaml_edit.remove_entry, yaml_edit.get_entry):
        with pytest.raises(InputError, match=r"config\.yaml.*Nothing was changed"):
            edit(data, KEYS, WHERE)


VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab:#- {}'\"\n", max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(st.sampled_from(["a", "servers", "z"]), VALUES, max_size=3),
    st.sampled_from([None, False, True]),
    st.booleans(),
)
def test_putting_and_cutting_leave_every_other_value(
    document: dict[str, Any], flow: bool | None, ordered: bool
) -> None:
    before = yaml.safe_dump(document, default_flow_style=flow, sort_keys=ordered).encode()
    try:
        after = yaml_edit.put_entry(before, KEYS, ENTRY, WHERE)
    except InputError:
        return
    found = yaml.safe_load(after)
    assert found["servers"].pop("ours") == ENTRY
    assert {**found, "servers": found["servers"] or None} == {
        **document,
        "servers": document.get("servers") or None,
    }
    cut = yaml_edit.remove_entry(after, KEYS, WHERE)
    assert (yaml.safe_load(cut or b"") or {}).get("servers") == (document.get("servers") or None)
