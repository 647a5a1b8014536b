"""A question in one language, the answer in another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from recall_values import Noise

from scrubjay import Memory
from scrubjay.models.ids import EmbeddingModel

CONCEPTS = {
    "tax": ("steuererklärung", "tax return"),
    "dentist": ("zahnarzt", "dentist"),
    "car": ("wagen", "car"),
    "garden": ("tomaten", "tomatoes"),
}
NOTES = (
    "Die Steuererklärung muss bis zum 31. Juli beim Finanzamt sein.",
    "Die Tomaten werden im Mai gepflanzt.",
    "Der Wagen von Due Motors muss im März zum TÜV.",
    "Der Termin beim Zahnarzt ist am Dienstag.",
)


class Translator:
    """A model that knows four things in two languages."""

    def __init__(self, name: str) -> None:
        self.model = EmbeddingModel("testing", name, "1", len(CONCEPTS), "mean")

    def embed(self, texts: Sequence[str], *, kind: Any = "passage") -> list[NDArray[np.float32]]:
        return [self._row(text.lower()) for text in texts]

    def _row(self, text: str) -> NDArray[np.float32]:
        row = (
            np.array([[any(word in text for word in words) for words in CONCEPTS.values()]], np.float32) + 0.2
        )
        return np.asarray(row / np.linalg.norm(row), np.float32)


def first(opened: Callable[..., Memory], name: str, question: str) -> str:
    memory = opened(embedders=[Noise(), Translator(name)])
    for note in NOTES:
        memory.add(note)
    memory.embed()
    return memory.search(question, limit=1).results[0].snippet


def test_a_word_that_both_languages_share_by_chance_does_not_outweigh_the_multilingual_model(
    opened: Callable[..., Memory],
) -> None:
    question = "when is the tax return due"
    assert "Steuererklärung" in first(opened, "multilingual-e5-small", question)


def test_words_outweigh_another_model_only_where_a_note_holds_most_of_the_question(
    opened: Callable[..., Memory],
) -> None:
    assert "Steuererklärung" in first(opened, "another", "when is the tax return due")
    assert "Due Motors" in first(opened, "another", "when are Due Motors due")


def test_where_no_word_is_found_the_multilingual_model_decides(opened: Callable[..., Memory]) -> None:
    assert "Zahnarzt" in first(opened, "multilingual-e5-small", "dentist appointment")


def test_words_that_are_found_count_as_beside_any_other_model(opened: Callable[..., Memory]) -> None:
    for name in ("multilingual-e5-small", "another"):
        assert "Due Motors" in first(opened, name, "Motors TÜV")
