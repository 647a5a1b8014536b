from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from scrubjay.embeddings.static import STATIC_DIMENSIONS, STATIC_WINDOW, TOKENIZER, WEIGHTS, StaticEmbedder
from scrubjay.errors import ProviderError

SPEC = importlib.util.find_spec("wordllama")
assert SPEC is not None
assert SPEC.submodule_search_locations is not None
WHEEL = Path(SPEC.submodule_search_locations[0])
HEAVY = {"tokenizers", "wordllama", "safetensors", "onnxruntime", "httpx", "tempfile"}
TEXTS = [
    "hello world",
    "the cat sat on the mat",
    "naïve café 漢字 😀",
    "def f(x):\n    return x_1 ** 2",
    "<s>old</s>",
]


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> StaticEmbedder:
    return StaticEmbedder(cache_dir=tmp_path_factory.mktemp("cache"))


def cosine(embedder: StaticEmbedder, a: str, b: str) -> float:
    (x,), (y,) = embedder.embed([a, b])
    return float(x @ y)


def test_vectors_equal_those_of_the_wordllama_package(embedder: StaticEmbedder) -> None:
    from wordllama import Config
    from wordllama.inference import WordLlamaInference

    weights = load_file(WHEEL / WEIGHTS)["embedding.weight"]
    tokenizer = Tokenizer.from_str((WHEEL / TOKENIZER).read_text("utf-8"))
    theirs = WordLlamaInference(weights, Config.l2_supercat, tokenizer).embed(TEXTS, norm=True)
    ours = np.concatenate(embedder.embed(TEXTS))
    assert np.abs(ours - theirs).max() < 1e-6


def test_related_texts_are_closer_than_unrelated_ones(embedder: StaticEmbedder) -> None:
    near = cosine(embedder, "the database connection timed out", "postgres connection timeout error")
    far = cosine(embedder, "the database connection timed out", "banana smoothie recipe")
    assert near > far + 0.2


def test_rows_have_length_one_and_the_model_s_dimensions(embedder: StaticEmbedder) -> None:
    rows = np.concatenate(embedder.embed(TEXTS))
    assert rows.shape == (len(TEXTS), STATIC_DIMENSIONS)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)


def test_an_empty_text_is_one_row_of_zeros(embedder: StaticEmbedder) -> None:
    (rows,) = embedder.embed([""])
    assert rows.shape == (1, STATIC_DIMENSIONS)
    assert not rows.any()


def test_no_texts_give_no_arrays(embedder: StaticEmbedder) -> None:
    assert embedder.embed([]) == []


def test_vectors_are_the_same_bits_alone_in_a_batch_and_in_bulk(embedder: StaticEmbedder) -> None:
    alone = [embedder.embed([text])[0] for text in TEXTS]
    together = embedder.embed(TEXTS)
    bulk = embedder.embed([*TEXTS, "filler word " * 30_000])[: len(TEXTS)]
    for one, two, three in zip(alone, together, bulk, strict=True):
        assert one.tobytes() == two.tobytes() == three.tobytes()


def test_no_copy_of_the_table_stays_after_a_bulk(embedder: StaticEmbedder) -> None:
    embedder.embed(TEXTS)
    tracemalloc.start()
    try:
        embedder.embed(["filler word " * 30_000])
        stays, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert stays < 8_000_000  # in float32 it has 32


def test_a_cold_query_imports_neither_tokenizers_nor_wordllama_nor_anything_heavy(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from scrubjay.embeddings.static import StaticEmbedder\n"
        "StaticEmbedder(cache_dir=Path(sys.argv[1])).embed(['which retry policy did we choose?'])\n"
        f"print(sorted({HEAVY} & set(sys.modules)))"
    )
    run = [sys.executable, "-c", code, str(tmp_path)]
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    subprocess.run(run, check=True, capture_output=True, env=environment)  # the first run fills the cache
    second = subprocess.run(run, check=True, capture_output=True, env=environment, text=True)
    assert second.stdout.strip() == "[]"


def test_the_model_is_known_without_opening_a_file() -> None:
    model = StaticEmbedder(cache_dir=Path("/nonexistent")).model
    assert (model.provider, model.dimensions, model.window) == ("bundled", 256, STATIC_WINDOW)


def custom(folder: Path, tokens: dict[str, int], table: np.ndarray) -> Path:
    folder.mkdir()
    tokenizer = Tokenizer(WordLevel(tokens, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    save_file({"embeddings": table}, folder / "model.safetensors")
    return folder


def test_another_table_can_stand_in_by_its_folder(tmp_path: Path) -> None:
    table = np.eye(3, 4, dtype=np.float32)
    folder = custom(tmp_path / "tiny", {"[UNK]": 0, "red": 1, "blue": 2}, table)
    embedder = StaticEmbedder(folder)
    red, both = embedder.embed(["red", "red blue"])
    assert red[0].tolist() == [0, 1, 0, 0]
    assert np.allclose(both[0], [0, 2**-0.5, 2**-0.5, 0])
    assert (embedder.model.name, embedder.model.dimensions) == ("tiny", 4)


def test_a_long_text_becomes_balanced_windows_that_leave_nothing_out(tmp_path: Path) -> None:
    tokens = {"[UNK]": 0, "red": 1, "blue": 2}
    embedder = StaticEmbedder(custom(tmp_path / "tiny", tokens, np.eye(3, dtype=np.float32)))
    (rows,) = embedder.embed(["red " * STATIC_WINDOW + "blue " * (STATIC_WINDOW + 1)])
    assert len(rows) == 3
    assert rows[0].tolist() == [0, 1, 0]
    assert rows[1].min() == 0
    assert rows[1][1] == pytest.approx(rows[1][2], abs=0.01)
    assert rows[2].tolist() == [0, 0, 1]


def test_changed_weights_change_the_fingerprint(tmp_path: Path) -> None:
    tokens = {"[UNK]": 0, "red": 1, "blue": 2}
    one = StaticEmbedder(custom(tmp_path / "a", tokens, np.eye(3, 4, dtype=np.float32)))
    two = StaticEmbedder(custom(tmp_path / "b", tokens, np.eye(3, 4, k=1, dtype=np.float32)))
    assert one.model.revision != two.model.revision


def test_a_vocabulary_larger_than_the_table_is_refused(tmp_path: Path) -> None:
    folder = custom(tmp_path / "tiny", {"[UNK]": 0, "red": 1, "blue": 2}, np.eye(2, dtype=np.float32))
    with pytest.raises(ProviderError, match=r"has 3 tokens, .* 2 rows"):
        StaticEmbedder(folder).embed(["red"])


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match=r"0 \*.safetensors files and no tokenizer.json"):
        StaticEmbedder(tmp_path).embed(["x"])


@pytest.mark.parametrize("content", [b"", b"\xff" * 40, (2).to_bytes(8, "little") + b"[]"])
def test_a_file_that_is_no_safetensors_file_is_named(tmp_path: Path, content: bytes) -> None:
    folder = custom(tmp_path / "tiny", {"[UNK]": 0}, np.eye(1, dtype=np.float32))
    (folder / "model.safetensors").write_bytes(content)
    with pytest.raises(ProviderError, match="not a safetensors file"):
        StaticEmbedder(folder).embed(["x"])
