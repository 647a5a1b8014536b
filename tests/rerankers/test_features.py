"""What words and their places say of a passage."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from scrubjay.embeddings.static import StaticEmbedder
from scrubjay.errors import ProviderError
from scrubjay.rerankers.base import RerankQuery
from scrubjay.rerankers.lexical import (
    MAX_PASSAGE,
    LexicalReranker,
    TermMatch,
    adjacency_score,
    best_window_score,
    position_score,
    token_cosines,
)
from scrubjay.text.tokenizer import query_groups

if TYPE_CHECKING:
    from scrubjay.rerankers.lexical import Tokens

WORDS = st.lists(
    st.sampled_from(["heron", "stork", "willow", "on", "the", "ERR_42", "雲雀", "\ud800"]), max_size=12
)


def question(text: str, *rarity: float) -> RerankQuery:
    asked = query_groups(text)
    return RerankQuery(text, asked, rarity or (1.0,) * len(asked))


def scored(asked: RerankQuery, passages: Sequence[str], tokens: Tokens | None = None) -> list[float]:
    found = LexicalReranker(tokens).scores(asked, passages, deadline=60)
    return [score for score in found if score is not None]


def test_words_that_stand_side_by_side_as_asked_are_better_than_apart() -> None:
    near, turned, apart = scored(
        question("old willow"), ["an old willow", "a willow old", "old heron, then the willow"]
    )
    assert near > turned
    assert near > apart


def test_what_is_said_at_the_beginning_is_better_than_at_the_end() -> None:
    first, last = scored(question("heron"), ["heron " + "x " * 300, "x " * 300 + "heron"])
    assert first > last > 0


def test_a_rare_word_counts_for_more_than_a_common_one() -> None:
    rare, common = scored(question("the heron", 0.1, 3.0), ["heron", "the"])
    assert rare > common


def test_stems_and_parts_of_names_are_the_same_words() -> None:
    assert scored(question("nesting storks"), ["a stork nests"]) == scored(
        question("nest stork"), ["a stork nests"]
    )


def test_without_a_word_that_anybody_holds_there_is_no_opinion() -> None:
    assert LexicalReranker().scores(RerankQuery("?"), ["a", "b"], deadline=1) == [None, None]
    assert LexicalReranker().scores(question("zebra", 0.0), ["a"], deadline=1) == [None]


def test_when_time_runs_out_nothing_is_said() -> None:
    with pytest.raises(ProviderError, match=r"read 0 of 2 passages in -1 s\. The fused order stands"):
        LexicalReranker().scores(question("heron"), ["a", "b"], deadline=-1)


def test_of_an_endless_passage_the_beginning_is_read() -> None:
    late, never = scored(
        question("heron"), ["x " * (MAX_PASSAGE // 2 - 3) + "heron", "x " * (MAX_PASSAGE // 2) + "heron"]
    )
    assert late > never == 0


class Axes:
    """Tokens that are words, each with a vector of its own."""

    def __init__(self, **vectors: Sequence[float]) -> None:
        self._places = {word: place for place, word in enumerate(vectors)}
        self._table = np.array(list(vectors.values()), np.float32)

    def __call__(self, texts: Sequence[str]) -> tuple[NDArray[Any], list[NDArray[np.int64]]]:
        rows = [[self._places[word] for word in text.split() if word in self._places] for text in texts]
        return self._table, [np.array(row, np.int64) for row in rows]


def test_what_means_the_same_counts_without_sharing_a_word() -> None:
    tokens = Axes(heron=(1, 0), egret=(0.9, 0.1), lathe=(0, 1))
    near, far = scored(question("heron"), ["an egret", "a lathe"], tokens)
    assert near > 0.9
    assert far == pytest.approx(0, abs=0.01)


def test_meaning_is_looked_for_within_a_window_so_that_length_is_no_merit() -> None:
    tokens = Axes(heron=(1, 0, 0), willow=(0, 1, 0), x=(0, 0, 1))
    asked = question("heron willow")
    scattered = "heron " + "x " * 90 + "willow"
    together = "x " * 90 + "heron x willow"
    _, matches_equal = scored(asked, [scattered, together])
    one, other = (
        score - plain
        for score, plain in zip(
            scored(asked, [scattered, together], tokens), scored(asked, [scattered, together]), strict=True
        )
    )
    assert matches_equal > 0
    assert other == pytest.approx(1.0, abs=1e-6)
    assert one == pytest.approx(0.5, abs=1e-6)


def test_the_bundled_model_knows_what_is_near(tmp_path: Path) -> None:
    tokens = StaticEmbedder(None, cache_dir=tmp_path).tokens
    near, far = scored(question("dog"), ["my puppy is asleep", "invoices are due in March"], tokens)
    assert near > far


def test_a_likeness_is_of_whole_numbers_and_so_the_same_in_every_company() -> None:
    table = np.random.default_rng(7).normal(size=(50, 256)).astype(np.float16)
    all_rows = np.arange(50)
    whole = token_cosines(table, all_rows[:5], all_rows)
    alone = np.concatenate(
        [token_cosines(table, all_rows[:5], all_rows[at : at + 1]) for at in range(50)], axis=1
    )
    assert whole.tobytes() == alone.tobytes()
    assert np.abs(whole.diagonal() - 1).max() < 1e-6


def test_a_passage_without_a_token_means_nothing() -> None:
    assert best_window_score(np.zeros((3, 0), np.float32), np.ones(3)) == 0.0


@given(st.lists(WORDS, min_size=1, max_size=6), WORDS)
def test_a_score_depends_on_its_passage_alone_and_is_never_negative(
    texts: list[list[str]], asked: list[str]
) -> None:
    passages = [" ".join(words) for words in texts]
    wanted = question(" ".join(asked))
    together = LexicalReranker().scores(wanted, passages, deadline=60)
    alone = [LexicalReranker().scores(wanted, [passage], deadline=60)[0] for passage in passages]
    assert together == alone
    assert all(score is None or 0 <= score <= 2 for score in together)


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 3)), max_size=20))
def test_measures_lie_between_nothing_and_all(places: list[tuple[int, int]]) -> None:
    matches = [TermMatch(start, start + 3, (word,)) for start, word in sorted(places)]
    rarity = [2.0, 1.0, 0.5, 0.1]
    assert 0 <= adjacency_score(matches, rarity) <= 1
    assert 0 <= position_score(matches, rarity) <= max(rarity)
