from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from scrubjay.embeddings import late_interaction
from scrubjay.embeddings.base import unit_rows
from scrubjay.embeddings.late_interaction import (
    COLBERT,
    DIMENSIONS,
    PROJECTION,
    STEPS,
    LateInteractionEmbedder,
    TokenCodec,
    best_cosines,
    max_sim,
)
from scrubjay.errors import ProviderError

PASSAGES = [
    "Bob: I moved the boat to the eastern harbour because of the storm.",
    "Grandma's birthday is on the third of May; she wishes for a tulip.",
    "The drain retries three times, then tariffd drops the message.",
    "naïve 漢字 😀",
    "!!! ... ???",
    "",
]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def embedder(cache: Path) -> LateInteractionEmbedder:
    return LateInteractionEmbedder(cache_dir=cache)


def scores(embedder: LateInteractionEmbedder, question: str, texts: list[str]) -> list[float]:
    codes = [rows.data for rows in embedder.encode(texts)]
    starts = np.cumsum([0, *map(len, codes[:-1])])
    found: list[float] = max_sim(
        embedder.query(question), embedder.decode(np.concatenate(codes)), starts
    ).tolist()
    return found


@pytest.mark.parametrize(
    ("question", "best"),
    [("Where is the boat?", 0), ("What does grandma want for her birthday?", 1), ("Who drops messages?", 2)],
)
def test_a_question_is_nearest_to_its_answer(
    embedder: LateInteractionEmbedder, question: str, best: int
) -> None:
    found = scores(embedder, question, PASSAGES)
    assert int(np.argmax(found)) == best
    assert all(-1 <= score <= 1 for score in found)


def test_codes_have_the_model_s_width_and_a_row_for_each_word(
    embedder: LateInteractionEmbedder,
) -> None:
    model = embedder.model
    assert (model.name, model.late_interaction, model.dimensions) == (COLBERT.name, True, DIMENSIONS)
    for text, rows in zip(PASSAGES, embedder.encode(PASSAGES), strict=True):
        (vectors,) = embedder.token_vectors([text])
        assert rows.data.shape == (max(1, len(vectors)), model.row_bytes)
        assert rows.data.dtype == np.int8
        assert (rows.scales == 1).all()
    assert [len(embedder.token_vectors([text])[0]) for text in PASSAGES[-2:]] == [0, 0]


def test_codes_do_not_depend_on_the_texts_that_came_along(embedder: LateInteractionEmbedder) -> None:
    together = embedder.encode([*PASSAGES, "word " * 700])
    for text, rows in zip(PASSAGES, together, strict=False):
        assert np.array_equal(embedder.encode([text])[0].data, rows.data)


def test_the_end_of_a_long_text_is_found(embedder: LateInteractionEmbedder) -> None:
    long = "The keel is of lead. " * 300
    before, after = scores(embedder, "Which tree has acorns?", [long, long + "Acorns grow on an oak tree."])
    assert after > before + 0.1


def test_a_long_text_takes_no_room_but_that_of_its_codes_and_of_one_window(cache: Path) -> None:
    embedder = LateInteractionEmbedder(cache_dir=cache, threads=1)  # of each thread, one window is held
    embedder.encode(["loads the model"])
    tracemalloc.start()
    (rows,) = embedder.encode(["The keel is of lead. " * 1000])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    hidden = len(rows.data) * 384 * 4
    assert peak < hidden / 2


def test_of_a_question_that_is_a_pasted_text_the_first_window_is_read(
    embedder: LateInteractionEmbedder,
) -> None:
    question = "Which tree has acorns? "
    rows = embedder.query(question + "The log of it says nothing. " * 400)
    assert len(embedder.query(question)) < len(rows) <= embedder.model.window + 3


def test_a_question_without_a_word_scores_nothing(embedder: LateInteractionEmbedder) -> None:
    assert embedder.query("?!").shape == (0, DIMENSIONS)
    assert scores(embedder, "", PASSAGES) == [0.0] * len(PASSAGES)


def test_the_best_cosine_of_each_token_is_that_of_plain_arithmetic() -> None:
    rng = np.random.default_rng(1)
    query = rng.standard_normal((12, 96)).astype(np.float32)
    query /= np.linalg.norm(query, axis=1, keepdims=True)
    rows = rng.integers(-40, 41, (900, 96)).astype(np.int8)
    starts = np.array([0, 1, 7, 400, 899])
    found = best_cosines(query, rows, starts)
    wide = rows / np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    for at, (first, last) in enumerate(zip(starts, [*starts[1:], len(rows)], strict=True)):
        assert np.allclose(found[at], (query @ wide[first:last].T).max(axis=1), atol=0.01)
    alone = np.concatenate(
        [
            best_cosines(query, rows[first:last], np.array([0]))
            for first, last in zip(starts, [*starts[1:], len(rows)], strict=True)
        ]
    )
    assert np.array_equal(alone, found)
    assert np.allclose(max_sim(query, rows, starts), found.mean(axis=1), atol=1e-6)


@pytest.mark.parametrize(("bits", "error"), [(1, 0.15), (2, 0.06), (4, 0.02)])
def test_codes_of_fewer_bits_keep_cosines_less_well(
    embedder: LateInteractionEmbedder, bits: int, error: float
) -> None:
    table = np.load(PROJECTION).astype(np.float32)
    codec = TokenCodec(table[:-1], table[-1], bits)
    rows = unit_rows(codec.project(np.concatenate(embedder.token_vectors(PASSAGES))))
    codes = codec.encode(rows)
    assert codes.shape == (len(rows), DIMENSIONS * bits // 8)
    read = codec.decode(codes).astype(np.float32)
    read /= np.linalg.norm(read, axis=1, keepdims=True)
    assert np.sqrt(np.mean((rows @ rows.T - rows @ read.T) ** 2)) < error
    assert bits in STEPS


def test_a_folder_of_the_same_layout_is_a_model_of_its_own(
    tmp_path: Path, embedder: LateInteractionEmbedder
) -> None:
    # An appended unknown protobuf field changes the bytes and nothing else.
    (tmp_path / "model.onnx").write_bytes(COLBERT.path().read_bytes() + b"\xfa\x7f\x01x")
    whole = LateInteractionEmbedder(tmp_path)
    assert (whole.model.provider, whole.model.name, whole.model.dimensions) == (
        "late-interaction",
        str(tmp_path),
        384,
    )
    assert int(np.argmax(scores(whole, "Where is the boat?", PASSAGES))) == 0
    (tmp_path / "projection.npy").write_bytes(PROJECTION.read_bytes())
    (tmp_path / "tokenizer.json").write_bytes(COLBERT.path().with_name("tokenizer.json").read_bytes())
    own = LateInteractionEmbedder(tmp_path)
    assert own.model.dimensions == DIMENSIONS
    assert own.model.fingerprint not in (whole.model.fingerprint, embedder.model.fingerprint)
    for one, other in zip(own.encode(PASSAGES[:3]), embedder.encode(PASSAGES[:3]), strict=True):
        assert np.array_equal(one.data, other.data)
    np.save(tmp_path / "projection.npy", np.zeros((385, 33), np.float16))
    with pytest.raises(ProviderError, match=r"has shape \(385, 33\); a model of hidden size 384 needs"):
        LateInteractionEmbedder(tmp_path).encode(["x"])
    (tmp_path / "projection.npy").write_bytes(b"none")
    with pytest.raises(ProviderError, match=r"projection\.npy cannot be read"):
        LateInteractionEmbedder(tmp_path).encode(["x"])


def test_a_damaged_projection_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = tmp_path / "projection.npy"
    short.write_bytes(PROJECTION.read_bytes()[:-1])
    monkeypatch.setattr(late_interaction, "PROJECTION", short)
    with pytest.raises(ProviderError, match=r"projection\.npy has sha256") as caught:
        LateInteractionEmbedder().query("x")
    assert caught.value.hint == "pip install --force-reinstall --no-deps scrubjay"


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match=r"does not exist"):
        LateInteractionEmbedder(tmp_path).query("x")
