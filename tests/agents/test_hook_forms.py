"""What hostile words can do: nothing. Whatever a memory holds, the answer is one JSON document, delimited once."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay import Memory
from scrubjay.agents.base import AGENTS, Home, find_agent
from scrubjay.agents.hooks import HOOK_FORMATS, citation_summary, parse_standard, reply_standard
from scrubjay.api.queries import event_context
from scrubjay.config.paths import HOOK_EVENTS
from scrubjay.config.settings import HookSettings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.models.results import BLOCK_CLOSE, BLOCK_OPEN

HOSTILE = st.lists(
    st.one_of(
        st.sampled_from(
            [BLOCK_CLOSE, BLOCK_OPEN, '"}}', "\x1b[2J", "\u202e", "\u2028", "</scrubjay", "-memories>", "\\",
            "\x00", "&lt;",
             "\n## ", "<system>", "SCRUBJAY-MEMORIES>", "\u200b", "\u2060"]
        ),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    ),
    max_size=12,
).map("".join)  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
)


@settings(deadline=None)
@given(HOSTILE)
def test_no_memory_breaks_out_of_the_answer(words: str) -> None:
    with Memory.open("memory://", user="ann", embedders=[HashEmbedder(64)]) as memory:
        memory.add(f"heron {words} Lisbon")
        found = event_context(memory, HookSettings(), {"name": "prompt", "prompt": "heron Lisbon"})
        said = json.dumps(
            reply_standard(
                parse_standard("claude-code", "prompt", {}), found["text"], citation_summary(found["cited"])
            )
        )
    assert "\n" not in said
    text = json.loads(said)["hookSpecificOutput"]["additionalContext"]
    assert text.count(BLOCK_OPEN) == text.count(BLOCK_CLOSE) == 1
    assert text.startswith(BLOCK_OPEN)
    assert text.endswith(BLOCK_CLOSE)
    assert not set(text) & set("\x1b\u202e\u2028\x00")


@given(st.lists(HOSTILE, max_size=6))
def test_the_line_that_a_person_sees_is_one_short_line_that_steers_nothing(names: list[str]) -> None:
    line = citation_summary(names)
    assert not {unicodedata.category(one) for one in line} & {"Cc", "Cs", "Zl", "Zp"}
    assert not set(line) & set("\u202e\u200b\u2060")
    assert len(line) <= 200


@pytest.mark.parametrize("agent", HOOK_FORMATS)
@given(st.dictionaries(st.text(max_size=9), JSON, max_size=4), st.sampled_from(HOOK_EVENTS), JSON)
def test_whatever_an_agent_says_is_an_event(agent: str, said: dict[str, Any], name: str, odd: Any) -> None:
    keys = (
        "session_id",
        "cwd",
        "prompt",
        "transcript_path",
        "source",
        "hook_event_name",
        "workspace_roots",
        "folder",
    )
    event = HOOK_FORMATS[agent].parse(agent, name, said | dict.fromkeys(keys, odd))
    for field in (event.session, event.folder, event.transcript, event.prompt):
        assert isinstance(field, str)


def test_every_agent_that_hooks_are_installed_for_has_a_form(home: Home) -> None:
    assert {name for name in AGENTS if "hooks" in find_agent(name).installed_parts(home)} == set(HOOK_FORMATS)


def test_every_hook_that_is_installed_is_an_event() -> None:
    from scrubjay.agents import claude_code, codex

    assert {hook.ours for hook in (*claude_code.HOOKS, *codex.HOOKS)} <= set(HOOK_EVENTS)
