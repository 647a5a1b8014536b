"""Whatever SQLite's balancing leaves, a forgotten word is in no file: the store's, those beside it, a backup."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.config.loader import load_settings
from scrubjay.embeddings.static import StaticEmbedder
from scrubjay.storage.sqlite import maintenance

MEMORIES, WORDS, LETTERS = 24, 250, 9
"""Enough terms, in no order, that the trees of the vocabulary are balanced again and again."""


def words() -> list[list[str]]:
    chance = random.Random(1)
    syllables = [first + vowel for first in "bcdfghjklmnpqrstvwxz" for vowel in "aeiou"]
    return [["".join(chance.choices(syllables, k=6)) for _ in range(WORDS)] for _ in range(MEMORIES)]


def readable(folder: Path, wanted: set[str]) -> dict[str, set[str]]:
    """Return the files below a folder that hold one of these words, by its first letters and in whatever case."""
    found = {}
    for file in (one for one in folder.rglob("*") if one.is_file()):
        runs = re.findall(rb"[a-z]{%d,}" % LETTERS, file.read_bytes().lower())
        held = {run[at : at + LETTERS].decode() for run in runs for at in range(len(run) - LETTERS + 1)}
        found[file.name] = {word for word in wanted if word[:LETTERS] in held}
    return {name: words for name, words in found.items() if words}


def stored(memory: Memory) -> tuple[list[str], set[str], set[str]]:
    """Add memories one by one and forget two of three; return the other ids, their words and the forgotten ones."""
    texts = words()
    ids = [memory.add(" ".join(each), title=each[0]).id for each in texts]
    memory.forget([one for number, one in enumerate(ids) if number % 3])
    kept = {word for each in texts[::3] for word in each}
    begun = {word[:LETTERS] for word in kept}
    return ids[::3], kept, {word for each in texts for word in each if word[:LETTERS] not in begun}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    usual = load_settings(environ={})
    plain = replace(usual, facts=replace(usual.facts, stages=()))
    with Memory.open(tmp_path / "m.db", user="ann", settings=plain, embedders=[StaticEmbedder()]) as opened:
        yield opened


def test_no_word_of_what_is_forgotten_is_left_in_any_file_or_in_a_backup(
    memory: Memory, tmp_path: Path
) -> None:
    ids, kept, gone = stored(memory)
    memory.backup(tmp_path / "copy.db")
    assert readable(tmp_path, gone) == {}
    assert readable(tmp_path, kept).keys() >= {"m.db", "copy.db"}  # so it would be told
    with Memory.open(tmp_path / "copy.db", user="ann", embedders=[StaticEmbedder()]) as copy:
        assert [one.id for one in copy.get(ids, limit=100_000).records] == ids


def test_a_large_file_is_cleaned_by_the_next_consolidation_and_a_backup_of_it_is_clean_before(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "VACUUM_AT_ONCE_BYTES", 0)
    _, _, gone = stored(memory)
    memory.backup(tmp_path / "copy.db")
    assert set(readable(tmp_path, gone)) == {"m.db"}
    memory.consolidate()
    assert readable(tmp_path, gone) == {}


@pytest.mark.parametrize("end", ["consolidate", "rebuild"])
def test_the_words_of_a_source_that_was_removed_go_with_the_next_consolidation_or_rebuild(
    memory: Memory, tmp_path: Path, end: str
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("The xylophonist lives in Valparaiso.\n", "utf-8")
    memory.add("The harbour opens at nine.")
    memory.sync(notes)
    (notes / "a.md").write_text("The accordionist lives in Valparaiso.\n", "utf-8")
    memory.sync(notes)
    memory.remove_source(str(notes))
    (notes / "a.md").unlink()
    gone = {"xylophonist", "accordionist", "valparaiso"}
    assert readable(tmp_path, gone) != {}
    getattr(memory, end)()
    assert readable(tmp_path, gone) == {}
    assert memory.search("harbour").results[0].snippet == "The harbour opens at nine."
    memory.add("The xylophonist is back.")
    assert memory.search("xylophonist").results[0].snippet == "The xylophonist is back."


@pytest.mark.parametrize("end", ["nothing", "sync", "delete"])
def test_the_title_of_a_document_goes_with_the_last_of_its_passages(
    memory: Memory, tmp_path: Path, end: str
) -> None:
    notes, stores = tmp_path / "notes", tmp_path / "copies"
    notes.mkdir()
    stores.mkdir()
    note = notes / "tea.md"
    note.write_text("---\ntitle: Zyxwalrus plan\n---\nHello tea.\n", "utf-8")
    memory.sync(notes)
    memory.forget([one.id for one in memory.page().records])
    if end == "delete":
        note.unlink()
    if end != "nothing":
        memory.sync()
    memory.backup(stores / "copy.db")
    memory.export(stores / "all.jsonl")
    note.unlink(missing_ok=True)
    assert readable(tmp_path, {"zyxwalrus"}) == {}


def test_the_title_of_a_document_stays_while_another_passage_has_it(memory: Memory, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    text = "---\ntitle: Zyxwalrus plan\n---\n# One\n\nHello tea.\n\n# Two\n\nHello coffee.\n"
    (notes / "tea.md").write_text(text, "utf-8")
    memory.sync(notes)
    memory.forget([one.id for one in memory.page().records if "coffee" in one.content])
    memory.sync()
    assert [one.title for one in memory.page().records] == ["Zyxwalrus plan"]
    assert "zyxwalrus" in readable(tmp_path, {"zyxwalrus"})["m.db"]


@pytest.mark.parametrize("end", ["nothing", "sync"])
def test_a_heading_that_titles_a_document_goes_with_what_stood_below_it(
    memory: Memory, tmp_path: Path, end: str
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "tea.md").write_text("# Zyxwalrus\n\nHello tea.\n\n# Two\n\nHello coffee.\n", "utf-8")
    memory.sync(notes)
    memory.forget([one.id for one in memory.page().records if "tea" in one.content])
    if end == "sync":
        memory.sync()
    (notes / "tea.md").unlink()
    assert readable(tmp_path, {"zyxwalrus"}) == {}


def test_the_words_of_a_link_and_the_name_of_who_alone_saw_it_go_with_what_it_joined(
    memory: Memory, tmp_path: Path
) -> None:
    ends = [memory.add(f"The {word} is oak.", visibility="public").id for word in ("rudder", "mast")]
    memory.link(ends[0], ends[1], rule="part of the boat")
    named = {"zyxwalrus", "zanzibarist"}
    with Memory.open(tmp_path / "m.db", user="zyxwalrus", embedders=[StaticEmbedder()]) as other:
        own = other.add("The keel is lead, says the zanzibarist.").id
        other.link(own, ends[0], rule="heard from the zanzibarist")
        other.link(ends[0], ends[1], rule="built by the zanzibarist")
        assert set().union(*readable(tmp_path, named).values()) == named
        other.unlink(ends[0], ends[1])
        other.forget(own)
    assert readable(tmp_path, named) == {}
    assert [(link.id, link.rule) for link in memory.links(ends[0])] == [(ends[1], "part of the boat")]
