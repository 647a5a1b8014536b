"""/v1/embeddings, asked by OpenAI's own client and by hand."""

from __future__ import annotations

import base64
import math

import numpy as np
import pytest
from http_here import asking, bearer, good, held, refused
from openai import AuthenticationError, NotFoundError, OpenAI, UnprocessableEntityError
from starlette.testclient import TestClient

from scrubjay.api.auth import Principal
from scrubjay.embeddings.hash_embedder import HashEmbedder

TEXTS = ["The engine is a Volvo.", "Boil the pasta for nine minutes."]
NAME = HashEmbedder(64).model.name


def test_openais_client_gets_the_models_own_vectors(environ: dict[str, str], client: TestClient) -> None:
    secret = bearer(held(environ), "ann", Principal("default", "ann", scopes=("read",)))["authorization"]
    key = secret.partition(" ")[2]
    asks = OpenAI(base_url="http://127.0.0.1/v1", api_key=key, http_client=client, max_retries=0)
    # It asks for base64 unless it is told otherwise, and decodes that itself.
    packed = asks.embeddings.create(model=NAME, input=TEXTS)
    plain = asks.embeddings.create(model=NAME, input=TEXTS, encoding_format="float")
    own = [vector[0] for vector in HashEmbedder(64).embed(TEXTS)]
    for said in (packed, plain):
        assert (said.model, said.object, [each.index for each in said.data]) == (NAME, "list", [0, 1])
        np.testing.assert_allclose([each.embedding for each in said.data], own, atol=1e-6)
        assert said.usage.total_tokens > 0
    assert len(asks.embeddings.create(model=NAME, input=TEXTS[0], dimensions=64).data) == 1
    with pytest.raises(NotFoundError, match="comes with scrubjay"):
        asks.embeddings.create(model="text-embedding-3-small", input="x")
    with pytest.raises(UnprocessableEntityError, match="dimensions is 32"):
        asks.embeddings.create(model=NAME, input="x", dimensions=32)
    for tokens in ([1, 2, 3], [[1, 2], [3]]):
        with pytest.raises(UnprocessableEntityError, match="input contains token ids"):
            asks.embeddings.create(model=NAME, input=tokens)
    with pytest.raises(AuthenticationError):
        asks.with_options(api_key=key + "x").embeddings.create(model=NAME, input="x")


def test_a_key_that_is_no_token_opens_nothing_and_keeps_nobody_out(environ: dict[str, str]) -> None:
    for open_here in (True, False):
        with asking(environ, open_here=open_here) as client:
            asks = OpenAI(base_url="http://127.0.0.1/v1", api_key="none", http_client=client, max_retries=0)
            if open_here:
                assert len(asks.embeddings.create(model=NAME, input="x").data) == 1
                continue
            with pytest.raises(AuthenticationError):
                asks.embeddings.create(model=NAME, input="x")


def test_a_long_text_has_one_unit_vector_and_nothing_is_stored(client: TestClient) -> None:
    body = {"model": NAME, "input": "kayak " * 3_000, "encoding_format": "base64"}
    (row,) = good(client.post("/v1/embeddings", json=body))["data"]
    vector = np.frombuffer(base64.b64decode(row["embedding"]), "<f4")
    assert math.isclose(float(np.linalg.norm(vector)), 1.0, abs_tol=1e-5)
    assert good(client.get("/v1/status"))["memories"] == 0


def test_what_is_no_text_is_refused(client: TestClient) -> None:
    for wrong in ([], "", ["a", ""], ["a"] * 2_049, None, 5, [None], {"text": "a"}, ["a", 1]):
        refused(client.post("/v1/embeddings", json={"model": NAME, "input": wrong}), 422)
    refused(client.post("/v1/embeddings", json={"model": NAME, "input": "a", "encoding_format": "int8"}), 422)


def test_the_bundled_models_answer_by_the_names_that_settings_have(environ: dict[str, str]) -> None:
    from scrubjay import Memory

    with Memory.open("memory://", user="ann") as memory:
        assert [len(memory.vectors(["a boat"], model=name).rows[0]) for name in (None, "bge")] == [
            256,
            384,
        ]
        assert memory.vectors(["a boat"], model="wordllama-l2-supercat").model == "wordllama-l2-supercat"
