from __future__ import annotations

import numpy as np
import pytest

from scrubjay import Memory
from scrubjay.ingest.embed import OVERLAP, embed, embedded_text, encode, tail
from scrubjay.memory.records import Place, Record
from scrubjay.store.changes import Prepared
from scrubjay.testing.hash_embedder import HashEmbedder
from scrubjay.text.tokens import terms


def record(content: str, title: str = "", *path: str, placed: bool = True) -> Record:
    place = Place("src_1", "a.md", 0, 0, len(content), 1, 1) if placed else None
    return Record(
        "obs_0", "observation", content, "h", title, "user:ann", "ann", 0, 0, heading_path=path, place=place
    )


def test_a_passage_is_embedded_under_its_headings() -> None:
    assert embedded_text(record("It turns at six.", "Tide", "Sea", "Tide")) == "Sea > Tide\nIt turns at six."


def test_headings_that_stand_in_the_passage_are_not_said_twice() -> None:
    assert embedded_text(record("## Tide\n\nSix.", "Tide", "Sea", "Tide")) == "Sea\n## Tide\n\nSix."
    assert embedded_text(record("Six.", "Sea", "Sea", "Sea")) == "Sea\nSix."


def test_an_addition_is_embedded_under_its_title() -> None:
    assert embedded_text(record("Six.", "Tide", placed=False)) == "Tide\nSix."
    assert embedded_text(record("# Tide\nSix.", "Tide", placed=False)) == "# Tide\nSix."
    assert embedded_text(record("Six.", placed=False)) == "Six."


def test_a_piece_of_a_section_borrows_the_end_of_the_piece_before_it_from_a_words_beginning() -> None:
    before = "start " + "word " * 200
    text = embedded_text(record("rest", "Tide", "Tide"), before)
    assert text.startswith("Tide\nword word")
    assert text.endswith("word rest")
    assert OVERLAP * 4 - 6 <= len(tail(before)) <= OVERLAP * 4


def test_a_text_without_a_blank_is_borrowed_to_the_character() -> None:
    assert tail("x" * 1_000) == "x" * OVERLAP * 4
    assert tail("x" * OVERLAP * 4) == "x" * OVERLAP * 4
    assert tail("x" * 1_000, 5) == "x" * 20
    assert tail("some words", 0) == ""
    assert tail("") == ""


def test_each_memory_gets_the_windows_of_its_own_text() -> None:
    model = HashEmbedder(32, window=5)
    texts = ["one two", "one two three four five six seven", "", "eight"]
    together = encode(model, texts)
    assert [codes.data.shape for codes in together] == [(1, 32), (2, 32), (1, 32), (1, 32)]
    assert [codes.data.dtype for codes in together] == [np.dtype(np.int8)] * 4
    for text, codes in zip(texts, together, strict=True):
        (alone,) = encode(model, [text])
        assert np.array_equal(alone.data, codes.data)
        assert np.array_equal(alone.scales, codes.scales)
        row = model.embed([text])[0]
        assert np.allclose(codes.data * codes.scales[:, None], row, atol=0.01)
    assert encode(model, []) == []


def test_vectors_of_another_model_are_added_beside() -> None:
    one, two = HashEmbedder(16), HashEmbedder(24, name="two")
    memories = [Prepared(record(text), terms(text), {}) for text in ("a b", "c")]
    twice = embed(embed(memories, ["", ""], one), ["", ""], two)
    assert [set(memory.vectors) for memory in twice] == [{one.model.fingerprint, two.model.fingerprint}] * 2
    assert twice[0].vectors[two.model.fingerprint].data.shape == (1, 24)


def test_every_memory_needs_to_know_what_stands_before_it() -> None:
    with pytest.raises(ValueError, match="shorter"):
        embed([Prepared(record("a"), terms("a"), {})], [], HashEmbedder(8))


def test_a_cut_section_is_embedded_with_overlap_and_stored_without(memory: Memory, notes, model) -> None:
    sentences = [f"Sentence number {n} tells of the sea and of the wind." for n in range(120)]
    text = "# Sea\n\n" + " ".join(sentences) + "\n"
    notes.write("sea.md", text)
    memory.sync(notes.root)
    pieces = [r.content for r in memory.get(path="sea.md").records]
    assert len(pieces) > 1
    assert "".join(pieces) == text
    for before, piece, heard in zip(pieces, pieces[1:], model.heard[1:], strict=False):
        assert heard == f"Sea\n{tail(before)}{piece}"
        assert tail(before) != ""
