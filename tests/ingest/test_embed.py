from __future__ import annotations

import numpy as np
import pytest

from scrubjay import Memory
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.ingest.embedder import OVERLAP_TOKENS, embed_memories, encode_texts, overlap_tail, text_to_embed
from scrubjay.models.records import Record, SourcePlace
from scrubjay.storage.changes import PreparedMemory
from scrubjay.text.tokenizer import index_terms


def record(content: str, title: str = "", *path: str, placed: bool = True) -> Record:
    place = SourcePlace("src_1", "a.md", 0, 0, len(content), 1, 1) if placed else None
    return Record(
        "obs_0", "observation", content, "h", title, "user:ann", "ann", 0, 0, heading_path=path, place=place
    )


def test_a_passage_is_embedded_under_its_headings() -> None:
    assert text_to_embed(record("It turns at six.", "Tide", "Sea", "Tide")) == "Sea > Tide\nIt turns at six."


def test_headings_that_stand_in_the_passage_are_not_said_twice() -> None:
    assert text_to_embed(record("## Tide\n\nSix.", "Tide", "Sea", "Tide")) == "Sea\n## Tide\n\nSix."
    assert text_to_embed(record("Six.", "Sea", "Sea", "Sea")) == "Sea\nSix."


def test_an_addition_is_embedded_under_its_title() -> None:
    assert text_to_embed(record("Six.", "Tide", placed=False)) == "Tide\nSix."
    assert text_to_embed(record("# Tide\nSix.", "Tide", placed=False)) == "# Tide\nSix."
    assert text_to_embed(record("Six.", placed=False)) == "Six."


def test_a_piece_of_a_section_borrows_the_end_of_the_piece_before_it_from_a_words_beginning() -> None:
    before = "start " + "word " * 200
    text = text_to_embed(record("rest", "Tide", "Tide"), before)
    assert text.startswith("Tide\nword word")
    assert text.endswith("word rest")
    assert OVERLAP_TOKENS * 4 - 6 <= len(overlap_tail(before)) <= OVERLAP_TOKENS * 4


def test_a_text_without_a_blank_is_borrowed_to_the_character() -> None:
    assert overlap_tail("x" * 1_000) == "x" * OVERLAP_TOKENS * 4
    assert overlap_tail("x" * OVERLAP_TOKENS * 4) == "x" * OVERLAP_TOKENS * 4
    assert overlap_tail("x" * 1_000, 5) == "x" * 20
    assert overlap_tail("some words", 0) == ""
    assert overlap_tail("") == ""


def test_each_memory_gets_the_windows_of_its_own_text() -> None:
    model = HashEmbedder(32, window=5)
    texts = ["one two", "one two three four five six seven", "", "eight"]
    together = encode_texts(model, texts)
    assert [codes.data.shape for codes in together] == [(1, 32), (2, 32), (1, 32), (1, 32)]
    assert [codes.data.dtype for codes in together] == [np.dtype(np.int8)] * 4
    for text, codes in zip(texts, together, strict=True):
        (alone,) = encode_texts(model, [text])
        assert np.array_equal(alone.data, codes.data)
        assert np.array_equal(alone.scales, codes.scales)
        row = model.embed([text])[0]
        assert np.allclose(codes.data * codes.scales[:, None], row, atol=0.01)
    assert encode_texts(model, []) == []


def test_vectors_of_another_model_are_added_beside() -> None:
    one, two = HashEmbedder(16), HashEmbedder(24, name="two")
    memories = [PreparedMemory(record(text), index_terms(text), {}) for text in ("a b", "c")]
    twice = embed_memories(embed_memories(memories, ["", ""], one), ["", ""], two)
    assert [set(memory.vectors) for memory in twice] == [{one.model.fingerprint, two.model.fingerprint}] * 2
    assert twice[0].vectors[two.model.fingerprint].data.shape == (1, 24)


def test_every_memory_needs_to_know_what_stands_before_it() -> None:
    with pytest.raises(ValueError, match="shorter"):
        embed_memories([PreparedMemory(record("a"), index_terms("a"), {})], [], HashEmbedder(8))


def test_a_cut_section_is_embedded_with_overlap_and_stored_without(memory: Memory, notes, model) -> None:
    sentences = [f"Sentence number {n} tells of the sea and of the wind." for n in range(120)]
    text = "# Sea\n\n" + " ".join(sentences) + "\n"
    notes.write("sea.md", text)
    memory.sync(notes.root)
    pieces = [r.content for r in memory.get(path="sea.md").records]
    assert len(pieces) > 1
    assert "".join(pieces) == text
    for before, piece, heard in zip(pieces, pieces[1:], model.heard[1:], strict=False):
        assert heard == f"Sea\n{overlap_tail(before)}{piece}"
        assert overlap_tail(before) != ""
