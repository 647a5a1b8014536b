"""What was recalled into a conversation is not captured from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scrubjay import Memory, NewMemory
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import InputError
from scrubjay.ingest.turns import StrippedText, strip_injected
from scrubjay.models.results import BLOCK_CLOSE, BLOCK_OPEN

BLOCK = f"{BLOCK_OPEN}\nThe berth in Lisbon costs forty euros.\n{BLOCK_CLOSE}"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    with Memory.open(tmp_path / "memory.db", user="ann", embedders=[HashEmbedder(64)]) as opened:
        yield opened


def test_every_block_is_cut_out_and_counted() -> None:
    assert strip_injected(f"{BLOCK}What is the berth?{BLOCK}") == StrippedText("What is the berth?", 2)
    assert strip_injected("nothing here") == StrippedText("nothing here", 0)
    assert strip_injected(f"{BLOCK_OPEN}{BLOCK_OPEN}inner{BLOCK_CLOSE} after") == StrippedText(" after", 1)


def test_half_a_mark_is_a_word_like_any_other() -> None:
    for text in (
        f"what does {BLOCK_OPEN} mean?",
        f"{BLOCK_CLOSE} ends it",
        f"{BLOCK_CLOSE} then {BLOCK_OPEN}",
    ):
        assert strip_injected(text) == StrippedText(text, 0)


def test_many_marks_without_an_end_are_read_once() -> None:
    assert strip_injected(BLOCK_OPEN * 100_000).blocks == 0


def test_a_turn_that_is_added_is_remembered_without_them(memory: Memory) -> None:
    turn = NewMemory(f"{BLOCK}\nWhich pier is it?", session="s", turn=0, role="user")
    (added,) = memory.add_many([turn])
    assert memory.get(added.id).records[0].content.strip() == "Which pier is it?"
    with pytest.raises(InputError, match="nothing but recalled memories"):
        memory.add(BLOCK, session="s", turn=1, role="user")


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_turn_of_nothing_else_is_passed_over_and_the_others_are_kept(memory: Memory, place: int) -> None:
    said = ["Which pier is it?", "Pier nine."]
    said.insert(place, f"{BLOCK}\n")
    done = memory.add_many([NewMemory(text, session="s", turn=n, role="user") for n, text in enumerate(said)])
    assert [bool(one.passed) for one in done] == [n == place for n in range(3)]
    assert (done[place].id, done[place].existed) == ("", False)
    assert "recalled memories" in done[place].passed
    kept = [memory.get(one.id).records[0] for one in done if one.id]
    assert [(one.turn, one.content) for one in kept] == [(n, said[n]) for n in range(3) if n != place]
    again = memory.add_many([NewMemory(BLOCK, session="s", turn=9, role="user")])
    assert [one.passed for one in again] == [done[place].passed]


def test_what_a_person_adds_says_what_it_says(memory: Memory) -> None:
    assert memory.get(memory.add(BLOCK).id).records[0].content == BLOCK


def test_a_transcript_is_taken_in_without_them(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    said = [f"{BLOCK}\nWhich pier is it?", BLOCK, "Pier nine."]
    rows = [
        {"session": "s", "role": "user" if n % 2 == 0 else "assistant", "content": text}
        for n, text in enumerate(said)
    ]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert memory.sync(file).added == 2
    kept = memory.get(path=file).records
    assert [record.content.strip() for record in kept] == ["Which pier is it?", "Pier nine."]
    assert not [found for found in memory.search("berth in Lisbon").results if "forty" in found.snippet]
