from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from scrubjay.embeddings.base import Embedder, EmbedderSpec, open_embedder
from scrubjay.errors import ConfigError, ProviderError

installed = importlib.util.find_spec("sentence_transformers") is not None
needs_library = pytest.mark.skipif(
    not installed, reason="the extra scrubjay[sentence-transformers] is not installed"
)
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "red", "blue", "green", "query", ":", "##s"]


@pytest.mark.skipif(installed, reason="the library is installed")
def test_without_the_library_the_error_says_what_to_install() -> None:
    with pytest.raises(ProviderError, match="cannot be imported") as caught:
        open_embedder(EmbedderSpec("sentence-transformers", name="x")).embed(["x"])
    assert caught.value.hint == "pip install 'scrubjay[sentence-transformers]'"


def test_a_model_must_be_named() -> None:
    with pytest.raises(ConfigError, match="name of a model or the path"):
        open_embedder(EmbedderSpec("sentence-transformers"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A one-layer BERT with random weights, a prompt for questions and a window of 16 tokens."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast, set_seed

    base = tmp_path_factory.mktemp("bert")
    (base / "vocab.txt").write_text("\n".join(WORDS))
    BertTokenizerFast(vocab=str(base / "vocab.txt")).save_pretrained(base)
    set_seed(1)
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    BertModel(BertConfig(vocab_size=len(WORDS), max_position_embeddings=16, **shape)).save_pretrained(base)
    transformer = Transformer(str(base), max_seq_length=16)
    model = SentenceTransformer(
        modules=[transformer, Pooling(16)], prompts={"query": "query: ", "document": ""}
    )
    made = tmp_path_factory.mktemp("model") / "tiny"
    model.save(str(made))
    return made


@pytest.fixture(scope="module")
def embedder(folder: Path) -> Embedder:
    return open_embedder(EmbedderSpec("sentence-transformers", path=folder))


@needs_library
def test_texts_come_back_as_unit_rows_of_the_model_in_the_folder(embedder: Embedder) -> None:
    rows = embedder.embed(["red", "blue green", ""])
    assert [row.shape for row in rows] == [(1, 16)] * 3
    assert np.allclose([np.linalg.norm(row) for row in rows[:2]], 1.0, atol=1e-6)
    assert not rows[2].any()
    model = embedder.model
    assert (model.name, model.dimensions, model.window) == ("tiny", 16, 16)


@needs_library
def test_the_prompt_that_the_model_declares_is_put_before_questions_only(embedder: Embedder) -> None:
    (passage,), (question,), (spelt,) = (
        embedder.embed(["red"]),
        embedder.embed(["red"], kind="query"),
        embedder.embed(["query: red"]),
    )
    assert not np.allclose(passage, question, atol=1e-3)
    assert np.allclose(question, spelt, atol=1e-5)


@needs_library
@pytest.mark.parametrize("kind", ["passage", "query"])
def test_a_long_text_becomes_windows_that_leave_room_for_prompt_and_marks(
    embedder: Embedder, kind: str
) -> None:
    (inside,) = embedder.embed(["red " * 12], kind=kind)  # type: ignore[arg-type]
    (over,) = embedder.embed(["red " * 12 + "blue"], kind=kind)  # type: ignore[arg-type]
    assert len(inside) == 1
    assert len(over) == 2
    (end,) = embedder.embed(["red red red red red red blue"], kind=kind)  # type: ignore[arg-type]
    assert np.allclose(over[1], end[0], atol=1e-5)


@needs_library
def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="cannot load"):
        open_embedder(EmbedderSpec("sentence-transformers", path=tmp_path / "none")).embed(["x"])
