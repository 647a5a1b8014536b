from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.embeddings.base import even_spans, replace_surrogates, split_text, token_estimate

TEXTS = st.text(st.sampled_from("abcde  \n0-#é漢😀"), max_size=600)


@given(st.integers(0, 5000), st.integers(1, 600))
def test_spans_partition_the_tokens_into_the_fewest_windows_of_equal_size(length: int, window: int) -> None:
    spans = even_spans(length, window)
    assert [i for a, b in spans for i in range(a, b)] == list(range(length))
    sizes = [b - a for a, b in spans]
    assert len(spans) == max(1, -(-length // window))
    assert max(sizes) <= window
    assert max(sizes) - min(sizes) <= 1


def test_no_window_means_one_span() -> None:
    assert even_spans(100_000, 0) == [(0, 100_000)]


@settings(max_examples=300)
@given(TEXTS, st.integers(32, 300))
def test_pieces_of_a_text_join_to_it_and_none_exceeds_the_window(text: str, window: int) -> None:
    pieces = split_text(text, window)
    assert "".join(pieces) == text
    assert all(token_estimate(piece) <= window for piece in pieces)
    assert all(pieces) or pieces == [""]


def test_pieces_are_balanced_and_end_at_white_space() -> None:
    pieces = split_text("seven letters " * 200, 512)
    assert len(pieces) == 3
    assert all(piece.endswith(" ") for piece in pieces)
    assert max(map(len, pieces)) - min(map(len, pieces)) < 60


def test_a_cut_moved_back_to_white_space_does_not_overfill_the_next_piece() -> None:
    # Two windows would just hold it, but only if the cut stayed behind the blank that attracts it.
    text = "a" * 120 + " " + "b" * 135
    assert token_estimate(text) == 128
    assert max(map(token_estimate, split_text(text, 64))) <= 64


@pytest.mark.parametrize(("text", "least"), [("!!!!", 4), ("2024", 4), ("漢字", 4), ("ab" * 8, 4)])
def test_the_estimate_is_not_below_what_wordpiece_makes(text: str, least: int) -> None:
    assert token_estimate(text) >= least


def test_a_lone_surrogate_becomes_a_question_mark_and_the_rest_stays() -> None:
    assert replace_surrogates("a\udc80ü😀") == "a?ü😀"
