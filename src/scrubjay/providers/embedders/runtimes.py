"""Runtime: an ONNX encoder file -> a function from token ids to hidden states.

onnxruntime is the default (68 MB installed); OpenVINO is an extra (180 MB) that runs the same file about
three times as fast on processors with bfloat16. Their vectors agree to a cosine of .9999, so they are one
model and share one fingerprint.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from scrubjay.errors import ConfigError, ProviderError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Ids: TypeAlias = "NDArray[np.int64]"


class Hidden(Protocol):
    """(token ids, attention mask, token types), all (n, length) -> the first output, one row each."""

    def __call__(self, ids: Ids, mask: Ids, types: Ids | None = None) -> NDArray[np.float32]:
        """Run the model once; without types, all tokens are of the first text."""
        ...


RUNTIMES = ("auto", "onnxruntime", "openvino")


def load_encoder(path: Path, runtime: str = "auto", *, threads: int = 0) -> Hidden:
    """Load a BERT-like encoder.

    Args:
        path: ONNX file whose inputs are among ``input_ids``, ``attention_mask``, ``token_type_ids`` and whose
            first output is the last hidden state.
        runtime: One of ``RUNTIMES``; ``auto`` takes OpenVINO where it is installed.
        threads: Threads one call may use; 0 takes every core this process may run on.

    Raises:
        ConfigError: There is no such runtime.
        ProviderError: The runtime is not installed, or cannot load the file.
    """
    if runtime not in RUNTIMES:
        raise ConfigError(f"Runtime {runtime!r} is not one of {', '.join(RUNTIMES)}.")
    if runtime == "auto":
        runtime = "onnxruntime" if importlib.util.find_spec("openvino") is None else "openvino"
    load = _load_openvino if runtime == "openvino" else _load_onnxruntime
    try:
        return load(path, threads or _cores())
    except ImportError as exc:
        extra = "scrubjay[openvino]" if runtime == "openvino" else "onnxruntime"
        raise ProviderError(
            f"Runtime {runtime} cannot be imported: {exc}.", hint=f"pip install '{extra}'"
        ) from exc


def _load_onnxruntime(path: Path, threads: int) -> Hidden:
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

    def run(ids: Ids, mask: Ids, types: Ids | None = None) -> NDArray[np.float32]:
        return np.asarray(session.run([output], _feeds(names, ids, mask, types))[0], dtype=np.float32)

    return run


def _load_openvino(path: Path, threads: int) -> Hidden:
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

    def run(ids: Ids, mask: Ids, types: Ids | None = None) -> NDArray[np.float32]:
        with turn:
            request.infer(_feeds(names, ids, mask, types))
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


def _feeds(names: list[str], ids: Ids, mask: Ids, types: Ids | None) -> dict[str, Ids]:
    feeds = {
        "input_ids": ids,
        "attention_mask": mask,
        "token_type_ids": np.zeros_like(ids) if types is None else types,
    }
    return {name: feeds[name] for name in names}


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
