from __future__ import annotations

import subprocess
import sys

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.embeddings.hash_embedder import HashEmbedder

TEXTS = st.lists(st.text(max_size=40), max_size=6)


@settings(max_examples=60)
@given(TEXTS)
def test_a_vector_depends_on_its_text_alone(texts: list[str]) -> None:
    warm = HashEmbedder()
    warm.embed(["something", "else", "before"])
    for text, rows in zip(texts, warm.embed(texts), strict=True):
        assert rows.tobytes() == HashEmbedder().embed([text])[0].tobytes()


def test_another_process_makes_the_same_bytes() -> None:
    code = (
        "from scrubjay.embeddings.hash_embedder import HashEmbedder as H\n"
        "print(H().embed(['a b c'])[0].tobytes().hex())"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == HashEmbedder().embed(["c b a"])[0].tobytes().hex()


def test_the_passage_that_shares_most_words_ranks_first() -> None:
    embedder = HashEmbedder()
    passages = ["how to bake bread", "how to fix the retry policy", "retry policy of the client"]
    (query,) = embedder.embed(["the retry policy of the client"], kind="query")
    scores = [float((rows @ query[0]).item()) for rows in embedder.embed(passages)]
    assert scores.index(max(scores)) == 2
    assert scores.index(min(scores)) == 0


def test_rows_are_unit_rows_and_a_text_without_words_is_zero() -> None:
    one, none = HashEmbedder(dimensions=32).embed(["one two", " … "])
    assert one.shape == none.shape == (1, 32)
    assert np.isclose(np.linalg.norm(one), 1.0, atol=1e-6)
    assert not none.any()


def test_a_window_cuts_long_texts_into_balanced_rows() -> None:
    (rows,) = HashEmbedder(window=4).embed(["red red red blue blue blue"])
    red, blue = HashEmbedder().embed(["red", "blue"])
    assert len(rows) == 2
    assert np.allclose(rows, np.concatenate([red, blue]))


def test_another_name_is_another_model_with_other_vectors() -> None:
    one, two = HashEmbedder(name="one"), HashEmbedder(name="two")
    assert one.model.fingerprint != two.model.fingerprint
    assert float((one.embed(["word"])[0] @ two.embed(["word"])[0].T).item()) < 0.9
