"""Threads and contexts hold what answers and its close evidence, and nothing where nothing answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from scrubjay import Memory, NewMemory
from scrubjay.embeddings.static import StaticEmbedder

FOREIGN = "What is the capital of Mongolia?"
CODE = [
    "The parser reads front matter before the first heading and raises ParseError on a tab.",
    "Retries of the upload queue use exponential back-off with jitter, at most five attempts.",
    "The scheduler runs compaction each night at two and locks the segment it merges.",
    "Use ruff for linting and mypy strict for types in the core package.",
    "The HTTP server closes idle connections after thirty seconds.",
    "Vectors are stored as int8 with one scale a row.",
    "The release script tags the commit and uploads the wheel.",
    "Integration tests start PostgreSQL in a container on a free port.",
    "Deleting a tenant removes its segments in the next merge.",
    "The cache of embeddings is keyed by a hash of the text.",
    "Log lines are JSON and hold no text of a user.",
    "The command line loads numpy only when a search needs it.",
    "Configuration is read from a TOML file and the environment.",
]


@pytest.fixture
def code(tmp_path: Path) -> Memory:
    memory = Memory.open(tmp_path / "code.db", embedders=[StaticEmbedder()])
    memory.add_many(NewMemory(text) for text in CODE)
    return memory


def test_a_thread_on_what_nothing_stored_answers_is_empty_and_says_so(code: Memory) -> None:
    found = code.thread(FOREIGN)
    assert found.entries == ()
    assert found.silence.startswith("Nothing stored is likely to answer this")


def test_a_context_on_what_nothing_stored_answers_is_empty_and_says_so(code: Memory) -> None:
    found = code.context(FOREIGN)
    assert (found.text, found.memories) == ("", ())
    assert found.silence == "Nothing stored has to do with this."
    assert code.context("how many attempts does the upload queue make?").silence == ""


def test_an_unprompted_context_is_as_short_as_its_evidence(code: Memory) -> None:
    code.add("Prefer short functions.", tier="lesson")
    for number in range(8):
        code.add(f"Talked about lunch, number {number}.", session=f"s{number}", turn=1, role="user")
    question = "how many attempts does the retry of the upload queue make?"
    found = code.context(question, budget=2_000, unprompted=True)
    assert "at most five attempts" in found.text
    assert "lunch" not in found.text
    assert "short functions" not in found.text
    assert len(found.memories) <= 3
    asked = code.context(question, budget=2_000)
    assert {one.id for one in found.memories} < {one.id for one in asked.memories}
    assert "short functions" in code.context("how many attempts?", parts=["profile"]).text


def test_a_thread_holds_no_weakly_connected_memory(code: Memory) -> None:
    found = code.thread("how many attempts does the retry of the upload queue make?")
    assert any("five attempts" in knot.result.snippet for knot in found.entries)
    assert len(found.entries) <= 4


def test_a_session_that_begins_is_told_no_acknowledgement(opened: Callable[..., Memory]) -> None:
    memory = opened()
    for turn, text in enumerate(["The staging cluster is harrow.", "ok"], 1):
        memory.add(text, session="s", turn=turn, role="user")
    found = memory.context(parts=["recent"]).text
    assert "harrow" in found
    assert "user, obs" in found
    assert "] ok" not in found
