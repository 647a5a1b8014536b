from __future__ import annotations

import subprocess
import sys

import pytest

from scrubjay.embeddings import base as opening
from scrubjay.embeddings.base import EMBEDDING_PROVIDERS, EmbedderSpec, open_embedder
from scrubjay.embeddings.http import RemoteEmbedder
from scrubjay.embeddings.onnx import BertEmbedder
from scrubjay.embeddings.static import StaticEmbedder
from scrubjay.errors import ConfigError, ProviderError

KEYS = {"gemini": "key-g", "openai": "key-o", "voyage": "key-v"}


def test_each_provider_opens_by_its_name_without_touching_file_or_network() -> None:
    for provider in EMBEDDING_PROVIDERS:
        assert open_embedder(EmbedderSpec(provider, name="some-model"))
    assert isinstance(open_embedder(EmbedderSpec("static")), StaticEmbedder)


def test_an_unknown_provider_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match="'opanai'") as caught:
        open_embedder(EmbedderSpec("opanai"))
    assert caught.value.hint == "did you mean openai?"


def test_auto_takes_the_local_model_even_where_keys_are_given() -> None:
    assert isinstance(open_embedder(EmbedderSpec("auto", keys=KEYS)), BertEmbedder)


@pytest.mark.parametrize("gone", range(3))
def test_without_a_local_model_auto_takes_openai_then_gemini_then_voyage(
    monkeypatch: pytest.MonkeyPatch, gone: int
) -> None:
    monkeypatch.setattr(opening, "find_spec", lambda name: None)
    order = ["openai", "gemini", "voyage"]
    embedder = open_embedder(EmbedderSpec("auto", keys={name: KEYS[name] for name in order[gone:]}))
    assert isinstance(embedder, RemoteEmbedder)
    assert embedder.model.provider == order[gone]


def test_auto_with_nothing_to_use_says_what_it_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "find_spec", lambda name: None)
    with pytest.raises(ProviderError, match="no key is given for openai, gemini, voyage"):
        open_embedder(EmbedderSpec("auto"))


def test_a_named_provider_does_not_take_a_key_meant_for_auto() -> None:
    spec = EmbedderSpec("openai", keys=KEYS)
    assert "key-o" not in repr(spec)
    assert open_embedder(spec)._endpoint.key == ""  # type: ignore[attr-defined]


def test_an_openai_compatible_service_needs_the_name_of_a_model() -> None:
    with pytest.raises(ConfigError, match="name of a model"):
        open_embedder(EmbedderSpec("openai-compatible"))


def test_opening_imports_no_other_provider_and_no_http_client() -> None:
    code = (
        "import sys; from scrubjay.embeddings.base import open_embedder\n"
        "from scrubjay.embeddings.base import EmbedderSpec\n"
        "open_embedder(EmbedderSpec('openai', api_key='k')); open_embedder(EmbedderSpec('minilm'))\n"
        "print(sorted({'httpx','onnxruntime','openvino','tokenizers','torch'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "[]"
