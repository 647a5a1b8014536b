"""Lexical reranker: scores where a question's words stand in a passage; runs no model.

Three measures, each 0 to 1 and weighted by the idf of the words, are added up:

* ``beside``: how much of the question stands in the passage in the same sequence;
* ``early``: how far to the front its rarest word stands;
* ``meaning``: late interaction (Khattab and Zaharia, 2020, https://arxiv.org/abs/2004.12832): each word's nearest token
  within one window, by the static model's token vectors. Over whole passages this would favour long ones.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from scrubjay.errors import ProviderError
from scrubjay.rerankers.base import RerankQuery
from scrubjay.text.tokenizer import find_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Tokens: TypeAlias = "Callable[[Sequence[str]], tuple[NDArray[Any], list[NDArray[np.int64]]]]"
    """Texts -> a table of token vectors and the rows of each text in it."""

HALF_POSITION: Final = 500.0
"""Characters from the beginning at which ``early`` is halved."""
ADJACENT_GAP: Final = 2
"""Maximum number of characters between adjacent words: a blank and a mark."""
WINDOW_TOKENS: Final = 32
"""Tokens of a window for ``meaning``: of 32, 64, 128 and all of the passage the shortest is best but for chats
(bench/LOG.md)."""
WINDOW_STEP: Final = 16
"""Tokens from one window to the next."""
MAX_PASSAGE: Final = 3_000
"""Characters of a passage that are read: a third more than the longest passage of a file. Fifty of a chat's longest
answers must not take a tenth of a second."""


class TermMatch(NamedTuple):
    """Words of the question at one place in a passage."""

    start: int
    end: int
    words: tuple[int, ...]


class LexicalReranker:
    """Words and their places as a reranker; without a static model ``meaning`` is left out."""

    def __init__(self, tokens: Tokens | None = None) -> None:
        self._tokens = tokens

    @property
    def name(self) -> str:
        return "features"

    @property
    def host(self) -> str:
        return ""

    def scores(
        self, question: RerankQuery, passages: Sequence[str], *, deadline: float
    ) -> list[float | None]:
        deadline_at = time.monotonic() + deadline
        total = math.fsum(question.rarity)
        if not total:
            return [None] * len(passages)
        texts = [text[:MAX_PASSAGE] for text in passages]
        meanings = self._meaning_scores(question, texts, total)
        word_of_form: dict[str, int] = {}
        for place, group in enumerate(question.groups):
            for form in group.forms:
                word_of_form.setdefault(form, place)
        scores: list[float | None] = []
        for text, meaning in zip(texts, meanings, strict=True):
            if time.monotonic() > deadline_at:
                raise ProviderError(
                    f"It read {len(scores)} of {len(texts)} passages in {deadline:g} s. The fused order stands."
                )
            matches = [
                TermMatch(a, b, tuple({word_of_form[form] for form in forms}))
                for a, b, forms in find_terms(text, word_of_form)
            ]
            adjacency = adjacency_score(matches, question.rarity)
            position = position_score(matches, question.rarity) / total
            scores.append(round(math.fsum((adjacency, position, meaning)), 6))
        return scores

    def _meaning_scores(self, question: RerankQuery, texts: Sequence[str], total: float) -> list[float]:
        if self._tokens is None:
            return [0.0] * len(texts)
        import numpy as np

        words = [group.word for group in question.groups]
        table, token_rows = self._tokens([*words, *(text.lower() for text in texts)])
        word_rows, passages = token_rows[: len(words)], token_rows[len(words) :]
        # A word's idf is shared by the tokens that it is made of.
        shares = [idf / len(ids) for ids, idf in zip(word_rows, question.rarity, strict=True) for _ in ids]
        rows = np.concatenate(word_rows)
        if not len(rows):
            return [0.0] * len(texts)
        tokens, places = np.unique(np.concatenate([rows, *passages]), return_inverse=True)
        cosines = token_cosines(table, tokens[places[: len(rows)]], tokens)
        weights = np.asarray(shares) / total
        values, first = [], len(rows)
        for ids in passages:
            values.append(best_window_score(cosines[:, places[first : first + len(ids)]], weights))
            first += len(ids)
        return values


def adjacency_score(matches: Sequence[TermMatch], rarity: Sequence[float]) -> float:
    """Return the share of the question's adjacent pairs that stand so in the passage; a pair weighs its commoner word.

    >>> adjacency_score([TermMatch(0, 4, (0,)), TermMatch(5, 8, (1,)), TermMatch(30, 33, (2,))], [2.0, 2.0, 2.0])
    0.5
    """
    adjacent = {
        position
        for before, after in pairwise(matches)
        if after.start - before.end <= ADJACENT_GAP
        for position in before.words
        if position + 1 in after.words
    }
    weights = [min(pair) for pair in pairwise(rarity)]
    total = math.fsum(weights)
    return math.fsum(weights[word] for word in sorted(adjacent)) / total if total else 0.0


def position_score(matches: Sequence[TermMatch], rarity: Sequence[float]) -> float:
    """Return the idf of the rarest word in the passage, the less the later it first stands.

    >>> position_score([TermMatch(0, 4, (1,)), TermMatch(500, 508, (0,))], [3.0, 1.0])
    1.5
    """
    starts: dict[int, int] = {}
    for match in matches:
        for word in match.words:
            starts.setdefault(word, match.start)
    if not starts:
        return 0.0
    rarest = max(starts, key=lambda word: (rarity[word], -word))
    return rarity[rarest] / (1.0 + starts[rarest] / HALF_POSITION)


def token_cosines(
    table: NDArray[Any], left_rows: NDArray[np.int64], right_rows: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Return the cosine of each of the first rows with each of the others, shape (left, right).

    Computed on whole numbers within 127, whose products are exact and so the same on every machine.
    """
    import numpy as np

    def codes(rows: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        wide = table.take(rows, axis=0).astype(np.float32)
        peaks = np.abs(wide).max(axis=1, keepdims=True)
        rounded = np.rint(wide * (np.float32(127.0) / np.maximum(peaks, np.float32(1e-9))))
        lengths = np.sqrt(np.einsum("ij,ij->i", rounded, rounded))
        return rounded, np.maximum(lengths, np.float32(1.0))

    (left, left_lengths), (right, right_lengths) = codes(left_rows), codes(right_rows)
    return np.asarray((left @ right.T) / left_lengths[:, None] / right_lengths, np.float32)


def best_window_score(cosines: NDArray[np.float32], weights: NDArray[np.float64]) -> float:
    """Return the best window's sum of weight times the nearest token's cosine, 0 for a passage without a token.

    ``cosines`` has a row for each token of the question and a column for each of the passage.
    """
    import numpy as np

    length = cosines.shape[1]
    if not length:
        return 0.0
    padded = np.full((len(weights), -(-length // WINDOW_STEP) * WINDOW_STEP), -1.0, np.float32)
    padded[:, :length] = cosines
    steps = padded.reshape(len(weights), -1, WINDOW_STEP).max(axis=2)
    size = min(WINDOW_TOKENS // WINDOW_STEP, steps.shape[1])
    windows = np.lib.stride_tricks.sliding_window_view(steps, size, axis=1).max(axis=2)
    return float(max(0.0, (weights[:, None] * windows).sum(axis=0).max()))
