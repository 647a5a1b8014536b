"""Static embeddings: the mean of a text's token vectors; no network to run, 10,000 texts a second.

The bundled model is WordLlama's ``l2_supercat``, 256 dimensions, 32,000 tokens (MIT). Only the files of its wheel are
read: the package's loader would download a tokenizer that is in the wheel. Any other table of token vectors
(model2vec's, for one) can be used from a folder.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from scrubjay.embeddings.base import even_spans, replace_surrogates, unit_rows
from scrubjay.embeddings.bpe import BpeTokenizer, load_table
from scrubjay.embeddings.model_files import file_sha256, verify_file
from scrubjay.errors import ProviderError
from scrubjay.models.ids import EmbeddingModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.embeddings.base import TextKind

    Ids: TypeAlias = "NDArray[np.uint16] | list[int]"
    TableAndTokenizer: TypeAlias = "tuple[NDArray[Any], Callable[[Sequence[str]], Sequence[Ids]]]"

WEIGHTS = "weights/l2_supercat_256.safetensors"
WEIGHTS_SHA256 = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
TABLE_SHA256 = "1d56f820265bbd0b504de7dd35b5720e5d7780b735515caab296fd0c82111cbc"
STATIC_MODEL = "wordllama-l2-supercat"
STATIC_DIMENSIONS = 256
STATIC_WINDOW = 256
"""A mean over more tokens blurs: a longer text is scored by its best window."""
BULK_TEXTS = 50_000
"""Tokens in one call from which on the table is copied to float32 (32 MB): four times faster, and the same bits."""

_REINSTALL = "pip install --force-reinstall 'wordllama==0.4.0.post1'"
_DTYPES: dict[str, np.dtype[Any]] = {"F16": np.dtype("<f2"), "F32": np.dtype("<f4")}


class StaticEmbedder:
    """A table of token vectors; weights are memory-mapped at the first text, so processes share the pages.

    ``folder`` has one ``*.safetensors`` file with one 2-D table and a ``tokenizer.json``; None is the bundled model.
    """

    def __init__(self, folder: Path | None = None, *, cache_dir: Path | None = None) -> None:
        self._folder = folder
        self._cache_dir = cache_dir
        self._model: EmbeddingModel | None = None
        self._open: TableAndTokenizer | None = None

    @property
    def model(self) -> EmbeddingModel:
        if self._folder is None:
            return EmbeddingModel(
                "bundled", STATIC_MODEL, WEIGHTS_SHA256[:12], STATIC_DIMENSIONS, "mean", STATIC_WINDOW
            )
        if self._model is None:
            weights, tokenizer = _custom_files(self._folder)
            sums = "+".join(file_sha256(path, self._cache_dir)[:12] for path in (weights, tokenizer))
            self._model = EmbeddingModel(
                "local", self._folder.name, sums, _map_weights(weights).shape[1], "mean", STATIC_WINDOW
            )
        return self._model

    def embed(self, texts: Sequence[str], *, kind: TextKind = "passage") -> list[NDArray[np.float32]]:
        table, tokenise = self._opened()
        ids = tokenise(texts)
        if table.dtype != np.float32 and sum(map(len, ids)) > BULK_TEXTS:
            table = table.astype(np.float32)
            self._open = table, tokenise
        return _mean_rows(table, ids)

    def tokens(self, texts: Sequence[str]) -> tuple[NDArray[Any], list[NDArray[np.int64]]]:
        """Return the table of token vectors, a row each of any length, and the rows of each text, in order."""
        table, tokenise = self._opened()
        return table, [np.asarray(ids, dtype=np.int64) for ids in tokenise(texts)]

    def _opened(self) -> TableAndTokenizer:
        if self._open is None:
            self._open = self._open_bundled() if self._folder is None else _open_custom(self._folder)
        return self._open

    def _open_bundled(self) -> TableAndTokenizer:
        spec = importlib.util.find_spec("wordllama")
        if spec is None or not spec.submodule_search_locations:
            raise ProviderError("The bundled static model is not installed.", hint=_REINSTALL)
        folder = Path(next(iter(spec.submodule_search_locations)))
        verify_file(folder / WEIGHTS, WEIGHTS_SHA256, self._cache_dir, hint=_REINSTALL)
        bpe = BpeTokenizer(load_table(folder / TOKENIZER, TABLE_SHA256, self._cache_dir))
        return _map_weights(folder / WEIGHTS), lambda texts: [bpe(text) for text in texts]


def _mean_rows(table: NDArray[Any], texts: Sequence[Ids]) -> list[NDArray[np.float32]]:
    """Return the unit mean of each window; the sum has the mean's direction, so nothing is divided."""
    windows = [even_spans(len(ids), STATIC_WINDOW) for ids in texts]
    sums = np.zeros((sum(map(len, windows)), table.shape[1]), dtype=np.float32)
    into = iter(sums)
    for ids, spans in zip(texts, windows, strict=True):
        for start, end in spans:
            # Row after row in float32: the same sum whether the table is float16 or its float32 copy.
            rows = table.take(ids[start:end], axis=0).astype(np.float32, copy=False)
            np.add.reduce(rows, axis=0, out=next(into))
    ends = list(accumulate((len(spans) for spans in windows), initial=0))
    units = unit_rows(sums)
    return [units[start:end] for start, end in pairwise(ends)]


def _map_weights(path: Path) -> NDArray[Any]:
    """Memory-map the only 2-D tensor of a safetensors file; the library would copy what it loads.

    8 bytes little-endian length of a JSON header, the header, the data (https://huggingface.co/docs/safetensors).
    """
    try:
        with path.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            header: dict[str, Any] = json.loads(stream.read(min(length, 1 << 20)))
        tables = [
            entry for key, entry in header.items() if key != "__metadata__" and len(entry["shape"]) == 2
        ]
        if len(tables) != 1 or tables[0]["dtype"] not in _DTYPES:
            raise ProviderError(f"Model file {path} holds {len(tables)} float tables; exactly one is needed.")
        mapped: NDArray[Any] = np.memmap(
            path,
            dtype=_DTYPES[tables[0]["dtype"]],
            mode="r",
            offset=8 + length + tables[0]["data_offsets"][0],
            shape=tuple(tables[0]["shape"]),
        )
    except OSError as exc:
        raise ProviderError(f"Model file {path} cannot be read: {exc.strerror}.", hint=_REINSTALL) from exc
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise ProviderError(f"Model file {path} is not a safetensors file: {exc}.") from exc
    return np.asarray(mapped)


def _custom_files(folder: Path) -> tuple[Path, Path]:
    weights = sorted(folder.glob("*.safetensors"))
    tokenizer = folder / "tokenizer.json"
    if len(weights) != 1 or not tokenizer.is_file():
        raise ProviderError(
            f"Static model folder {folder} holds {len(weights)} *.safetensors files and "
            f"{'a' if tokenizer.is_file() else 'no'} tokenizer.json; one of each is needed."
        )
    return weights[0], tokenizer


def _open_custom(folder: Path) -> TableAndTokenizer:
    from tokenizers import Tokenizer

    weights, path = _custom_files(folder)
    table = _map_weights(weights)
    try:
        tokenizer = Tokenizer.from_str(path.read_text(encoding="utf-8"))
    except Exception as exc:  # the library raises it bare
        raise ProviderError(f"Tokenizer {path} cannot be read: {exc}.") from exc
    if tokenizer.get_vocab_size() > len(table):
        raise ProviderError(
            f"Tokenizer {path} has {tokenizer.get_vocab_size()} tokens, {weights.name} {len(table)} rows."
        )
    tokenizer.no_padding()
    tokenizer.no_truncation()

    def tokenise(texts: Sequence[str]) -> list[list[int]]:
        # One by one: encode_batch would start threads, after which the library warns at every fork.
        return [tokenizer.encode(replace_surrogates(text), add_special_tokens=False).ids for text in texts]

    return table, tokenise
