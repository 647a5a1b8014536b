"""Whatever arguments a tool is called with: an answer or an error of ours, and the store goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay import Memory
from scrubjay.api import serializers
from scrubjay.api.tools import TOOLS, Caller, call_tool, find_tool
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import ScrubjayError
from scrubjay.server.mcp import server

ODD = st.sampled_from(
    ["", "\0", "a\0b", "\ud83d", "\udc00x", "x" * 100_000, '"', '"' * 99, "../../etc/passwd", "🐦" * 99, "-", "*",
     "' OR 1=1 --", "{}", "%s", "\u202e", "NaN", "0000-00-00", "9999-12-31", "2026-13", "10000", "obs_", "a/b", "<b>",
     "~nobody-here/x"]
)  # fmt: skip
TEXT = st.one_of(ODD, st.text(st.characters(), max_size=40))
NUMBER = st.one_of(st.integers(), st.sampled_from([0, -1, 1, 2**31, 2**53, 2**63, 10**400]))
ANY = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBER, st.floats(), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=2)),
    max_leaves=6,
)


def fitting(rule: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values of the type that a rule asks for, whatever they mean."""
    if "enum" in rule:
        return st.sampled_from(rule["enum"])
    if rule["type"] == "array":
        return st.lists(fitting(rule["items"]), max_size=25)
    return {"string": TEXT, "integer": NUMBER, "boolean": st.booleans()}[rule["type"]]


@st.composite
def wishes(draw: st.DrawFn) -> tuple[str, dict[Any, Any]]:
    """A tool and arguments: most of their own names, some of the types asked for, some not."""
    tool = draw(st.sampled_from(TOOLS))
    given = {
        name: draw(st.one_of(fitting(dict(rule)), fitting(dict(rule)), ANY))
        for name, rule in tool.properties.items()
        if name in tool.required or draw(st.integers(0, 3)) == 0
    }
    if draw(st.integers(0, 9)) == 0:
        given[draw(TEXT)] = draw(ANY)
    return tool.name, given


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    file = tmp_path_factory.mktemp("fuzz") / "memory.db"
    with Memory.open(file, user="ann", embedders=[HashEmbedder(64)]) as made:
        made.add("Ann prefers tea.", tags=["drink"])
        yield made


@settings(max_examples=400, deadline=None)
@given(wish=wishes(), local=st.booleans())
def test_any_arguments_end_in_an_answer_or_an_error_that_says_what_is_wrong(
    memory: Memory, wish: tuple[str, dict[Any, Any]], local: bool
) -> None:
    name, arguments = wish
    tool = find_tool(name)
    try:
        said = call_tool(memory, tool, arguments, Caller("fuzz", local))
        text = tool.text(said)
    except ScrubjayError as error:
        said = serializers.error_fields(error)
        text = serializers.error_text(said)
    # What goes over the wire: JSON that any language reads, in sound UTF-8.
    json.dumps(said, ensure_ascii=False, allow_nan=False).encode("utf-8")
    text.encode("utf-8")


@settings(max_examples=200, deadline=None)
@given(uri=st.one_of(TEXT, TEXT.map("scrubjay://{}".format), TEXT.map("scrubjay://memory/{}".format),
                     TEXT.map("scrubjay://context/{}".format)), local=st.booleans())  # fmt: skip
def test_any_address_is_a_resource_or_an_error(memory: Memory, uri: str, local: bool) -> None:
    try:
        text, kind = server.read_uri(memory, uri=uri, local=local)
        assert kind in ("text/markdown", "application/json")
        text.encode("utf-8")
    except ScrubjayError as error:
        str(error).encode("utf-8")


@settings(max_examples=50, deadline=None)
@given(name=TEXT, arguments=st.dictionaries(TEXT, TEXT, max_size=2))
def test_any_prompt_is_text_or_an_error(memory: Memory, name: str, arguments: dict[str, str]) -> None:
    for each in (name, "recall"):
        try:
            server.prompt_text(memory, name=each, arguments=arguments).encode("utf-8")
        except ScrubjayError as error:
            str(error).encode("utf-8")
