"""TOML and instructions are edited in place."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.agents import base, toml_edit
from scrubjay.errors import InputError

WHERE = Path("config.toml")
KEYS = ("mcp_servers", "scrubjay")
ENTRY = {"command": "/bin/scrubjay", "args": ["mcp"]}

PARTS = (
    "# mine\n",
    'model = "x"  # why\n',
    "list = [\n  1, # one\n  2,\n]\n",
    "\n\n",
    '[mcp_servers.other]\ncommand = "them"\n',
    "[mcp_servers.other.env]\nA='b'\n",
    "[[rules]]\na=1\n\n[[rules]]\nb = 2\n",
    '[profiles."a b"]\n   k   =   "v"\n\n# the end',
)


@pytest.mark.parametrize("eol", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@given(parts=st.sets(st.integers(0, len(PARTS) - 1)))
def test_a_table_comes_and_goes_and_the_rest_stays_to_the_byte(eol: str, bom: str, parts: set[int]) -> None:
    text = "".join(PARTS[at] for at in sorted(parts))
    before = (bom + text.replace("\n", eol)).encode()
    after = toml_edit.put_table(before, KEYS, ENTRY, WHERE)
    found = tomllib.loads(after.decode().removeprefix("\ufeff"))
    assert found["mcp_servers"].pop("scrubjay") == ENTRY
    was = tomllib.loads(text)
    assert {name: value for name, value in found.items() if value} == was
    assert after.startswith(before)
    assert eol not in text.replace("\n", eol) or eol == "\n" or after.count(b"\n") == after.count(b"\r\n")
    assert toml_edit.put_table(after, KEYS, ENTRY, WHERE) == after
    back = toml_edit.remove_table(after, KEYS, WHERE)
    assert back in (before, before + eol.encode())


def test_members_that_a_person_added_to_our_table_are_kept() -> None:
    before = b'[mcp_servers.scrubjay]\ncommand = "old"\nstartup_timeout_sec = 20 # slow disk\n'
    after = toml_edit.put_table(before, KEYS, ENTRY, WHERE)
    assert toml_edit.get_value(after, KEYS, WHERE) == {**ENTRY, "startup_timeout_sec": 20}
    assert b"# slow disk" in after


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"a = 1\nb = = 2\n", "config.toml:2:5: Invalid value. Nothing was changed."),
        (b"a = [1,", "config.toml:1:8"),
        (b"a = 1\na = 2\n", "config.toml:2:6: Cannot overwrite a value. Nothing was changed."),
        (b"\xff", "config.toml is not UTF-8 at byte 0. Nothing was changed."),
        (b"mcp_servers = 3", "config.toml: the table mcp_servers.scrubjay cannot be changed"),
    ],
)
def test_a_broken_document_is_refused_with_its_place(text: bytes, told: str) -> None:
    with pytest.raises(InputError) as refused:
        toml_edit.put_table(text, KEYS, ENTRY, WHERE)
    assert str(refused.value).startswith(told)
    assert refused.value.hint


def test_a_block_of_instructions_is_brought_up_to_date_where_it_stands() -> None:
    first = base.put_block(b"# Mine\r\n", "One.\nTwo.")
    assert first.count(b"\n") == first.count(b"\r\n")
    moved = first + b"after\r\n"
    assert base.put_block(moved, "Three.").endswith(b"Three.\r\n<!-- scrubjay:end -->\r\nafter\r\n")
    assert base.remove_block(moved) == b"# Mine\r\nafter\r\n"
    assert base.put_block(first, "One.\nTwo.") == first


def test_a_table_that_cannot_stand_there_is_refused() -> None:
    with pytest.raises(InputError, match=r"mcp_servers.scrubjay cannot be changed without"):
        toml_edit.put_table(b'mcp_servers = { other = { command = "x" } }', KEYS, ENTRY, WHERE)


def test_our_table_goes_with_its_own_tables_and_leaves_comments_of_the_next() -> None:
    before = b"""[mcp_servers.scrubjay]
command = "c"
args = [
  "mcp",
  ["x", "[y]"],
]
[mcp_servers.scrubjay.env]
A = "b"

# about z
[z]
a = 1
"""
    assert toml_edit.remove_table(before, KEYS, WHERE) == b"\n# about z\n[z]\na = 1\n"


@given(st.text("#a \n", max_size=12).map(str.encode))
def test_a_block_leaves_no_trace_but_a_line_end_that_was_missing(before: bytes) -> None:
    back = base.remove_block(base.put_block(before, "Use it."))
    assert back in (before, before + b"\n")
