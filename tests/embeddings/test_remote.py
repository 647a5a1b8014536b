from __future__ import annotations

import json
import socket
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scrubjay.config import settings
from scrubjay.config.loader import KEY_VARIABLES
from scrubjay.embeddings.base import (
    AUTO_PROVIDERS,
    EMBEDDING_PROVIDERS,
    Embedder,
    EmbedderSpec,
    open_embedder,
)
from scrubjay.errors import ConfigError, ModelMismatchError, ProviderError

NAMES = {"openai-compatible": "local-model", "openai": "", "gemini": "", "voyage": ""}
SIZES = {"openai-compatible": 8, "openai": 1536, "gemini": 3072, "voyage": 1024}
TEXTS = ["first text", "zweiter Text", "第三の文", "the first text again"]


def spec_of(service: Any, **changes: Any) -> EmbedderSpec:
    spec = EmbedderSpec(
        service.provider,
        name=NAMES[service.provider],
        base_url=service.url,
        api_key=service.key,
        dimensions=SIZES[service.provider],
        backoff=0.0,
        timeout=10.0,
    )
    return replace(spec, **changes)


def embedder_of(service: Any, **changes: Any) -> Embedder:
    return open_embedder(spec_of(service, **changes))


def only_vectors(answer: Any) -> list[Any]:
    """The list of vectors of any provider's answer, to be broken in place."""
    entries = answer.get("data", answer.get("embeddings"))
    field = "embedding" if "data" in answer else "values"
    return [(entry, field) for entry in entries]


def test_texts_come_back_as_unit_rows_in_their_order(service: Any) -> None:
    embedder = embedder_of(service)
    rows = embedder.embed(TEXTS)
    assert [row.shape for row in rows] == [(1, SIZES[service.provider])] * len(TEXTS)
    assert np.allclose([np.linalg.norm(row) for row in rows], 1.0, atol=1e-6)
    for text, row in zip(TEXTS, rows, strict=True):
        assert np.allclose(embedder.embed([text])[0], row, atol=1e-6)
    assert embedder.model.provider == service.provider
    assert embedder.model.dimensions == SIZES[service.provider]


def test_questions_and_passages_are_told_apart_where_the_service_can(service: Any) -> None:
    embedder = embedder_of(service)
    (passage,), (question,) = embedder.embed(["text"]), embedder.embed(["text"], kind="query")
    assert np.allclose(passage, question) == (service.provider in ("openai", "openai-compatible"))


def test_batches_of_eight_go_out_four_at_a_time(service: Any) -> None:
    gate = threading.Barrier(4, timeout=10)

    def together(answer: Any) -> Any:
        gate.wait()
        return answer

    service.script = [together] * 4
    rows = embedder_of(service).embed([f"text {i}" for i in range(30)])
    assert len(rows) == 30
    assert len(service.requests) == 4
    assert service.most_at_once == 4
    sizes = sorted(len(body.get("input", body.get("requests"))) for body in service.requests)
    assert sizes == [6, 8, 8, 8]


def test_an_empty_text_is_a_row_of_zeros_and_is_not_sent(service: Any) -> None:
    rows = embedder_of(service).embed(["", " \n", "x"])
    assert not rows[0].any()
    assert not rows[1].any()
    assert rows[2].any()
    assert "first" not in json.dumps(service.requests)
    assert len(service.requests[0].get("input", service.requests[0].get("requests"))) == 1


def test_a_long_text_is_sent_whole_in_several_windows(service: Any) -> None:
    text = "some words " * 100
    (rows,) = embedder_of(service, window=200).embed([text])
    assert len(rows) == 4
    sent = service.requests[0]
    pieces = sent.get("input") or [r["content"]["parts"][0]["text"] for r in sent["requests"]]
    assert "".join(pieces) == text


def test_a_lone_surrogate_is_sent_as_a_question_mark(service: Any) -> None:
    embedder = embedder_of(service)
    assert np.allclose(embedder.embed(["a\ud800"])[0], embedder.embed(["a?"])[0])


def test_shorter_vectors_are_asked_for_where_the_service_makes_them(service: Any) -> None:
    if service.provider == "openai-compatible":
        with pytest.raises(ModelMismatchError, match="vector of 8 dimensions; 4 were expected"):
            embedder_of(service, dimensions=4).embed(["x"])
    else:
        assert embedder_of(service, dimensions=4).embed(["x"])[0].shape == (1, 4)


def test_the_first_use_is_announced_once_with_host_and_counts(service: Any) -> None:
    said: list[str] = []
    embedder = embedder_of(service, announce=said.append)
    embedder.embed(["", "12345", "1234567"])
    embedder.embed(["more"])
    (line,) = said
    assert line.startswith(f"Sending 2 texts (12 characters) to 127.0.0.1:{service.url.split(':')[2][:-3]} ")


def test_unknown_dimensions_are_learned_once_and_remembered(service: Any, tmp_path: Path) -> None:
    said: list[str] = []
    spec = spec_of(service, name="some-model", dimensions=0, cache_dir=tmp_path, announce=said.append)
    assert open_embedder(spec).model.dimensions == 8
    assert len(service.requests) == 1
    assert "1 text " in said[0]
    assert open_embedder(spec).model.dimensions == 8
    assert open_embedder(spec).embed(["x"])[0].shape == (1, 8)
    assert len(service.requests) == 2


@pytest.mark.parametrize("status", [500, 502, 503, 429, 529])
def test_a_passing_failure_is_tried_again(service: Any, status: int) -> None:
    service.script = [(status, {}, b"oops")] * 2
    assert embedder_of(service).embed(["x"])[0].any()
    assert len(service.requests) == 3


def test_retry_after_is_honoured_in_place_of_the_own_pause(service: Any) -> None:
    past = format_datetime(datetime.now(UTC) - timedelta(seconds=5), usegmt=True)
    service.script = [(429, {"Retry-After": "0"}, b""), (503, {"Retry-After": past}, b"")]
    # With its own pause of an hour the call could not come back.
    assert embedder_of(service, backoff=3600.0).embed(["x"])[0].any()


def test_a_service_that_asks_to_wait_too_long_is_reported_at_once(service: Any) -> None:
    service.script = [(429, {"Retry-After": "3600"}, b"")]
    with pytest.raises(ProviderError, match=r"status 429, asking to wait 3600 s\. None of the 1 texts"):
        embedder_of(service).embed(["x"])
    assert len(service.requests) == 1


def test_a_lasting_failure_names_host_status_tries_and_what_was_not_embedded(service: Any) -> None:
    service.script = [(500, {}, b'{"error": {"message": "model  crashed\\n"}}')] * 3
    with pytest.raises(ProviderError) as caught:
        embedder_of(service).embed(["x", "y"])
    port = service.url.split(":")[2][:-3]
    assert str(caught.value) == (
        f"127.0.0.1:{port} answered with status 500: model crashed (3 tries). "
        "None of the 2 texts of this call was embedded."
    )
    assert len(service.requests) == 3


def test_a_failed_batch_fails_the_call_and_the_rest_is_not_sent_in_vain(service: Any) -> None:
    service.script = [(400, {}, b"{}")]
    with pytest.raises(ProviderError, match="None of the 80 texts"):
        embedder_of(service, batch=1, concurrency=1).embed([f"text {i}" for i in range(80)])
    assert len(service.requests) < 80


def test_a_refused_key_is_not_tried_again_and_not_repeated(service: Any) -> None:
    wrong = "sk-wrong-key-9876543210"
    embedder = embedder_of(service, api_key=wrong)
    with pytest.raises(ProviderError, match=r"refused the API key \(401\)") as caught:
        embedder.embed(["x"])
    assert "valid key" in caught.value.hint
    assert len(service.requests) == 1
    for shown in (
        str(caught.value),
        repr(caught.value),
        repr(embedder),
        repr(spec_of(service, api_key=wrong)),
    ):
        assert wrong not in shown


def test_a_key_that_the_service_repeats_is_taken_out_of_the_message(service: Any) -> None:
    service.script = [(400, {}, json.dumps({"error": f"bad {service.key} x"}).encode())]
    with pytest.raises(ProviderError, match=r"bad \[key\] x") as caught:
        embedder_of(service).embed(["x"])
    assert service.key not in str(caught.value)


def test_a_service_that_repeats_the_text_does_not_bring_it_into_the_error(service: Any) -> None:
    service.script = [(422, {}, b'{"detail": [{"input": "my private text"}]}'), (422, {}, b"my private text")]
    for _ in range(2):
        with pytest.raises(ProviderError, match="status 422") as caught:
            embedder_of(service).embed(["my private text"])
        assert "private" not in str(caught.value)


@pytest.mark.parametrize("key", ["sk-abc\n", "sk abc", "schlüssel"])
def test_a_key_that_no_header_takes_is_refused_without_showing_it(service: Any, key: str) -> None:
    with pytest.raises(ConfigError, match="API key for") as caught:
        embedder_of(service, api_key=key)
    assert key not in str(caught.value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300])
def test_a_vector_that_is_not_finite_is_refused(service: Any, value: float) -> None:
    def spoil(answer: Any) -> Any:
        entry, field = only_vectors(answer)[-1]
        entry[field][0] = value
        return answer

    service.script = [spoil]
    with pytest.raises(ProviderError, match="NaN or infinity"):
        embedder_of(service).embed(TEXTS)


def test_a_vector_of_zeros_is_refused(service: Any) -> None:
    def spoil(answer: Any) -> Any:
        entry, field = only_vectors(answer)[0]
        entry[field] = [0.0] * len(entry[field])
        return answer

    service.script = [spoil]
    with pytest.raises(ProviderError, match="vector of zeros"):
        embedder_of(service).embed(TEXTS)


def test_a_vector_of_another_length_is_a_model_mismatch(service: Any) -> None:
    def spoil(answer: Any) -> Any:
        entry, field = only_vectors(answer)[1]
        entry[field].pop()
        return answer

    service.script = [spoil]
    size = SIZES[service.provider]
    with pytest.raises(ModelMismatchError, match=f"vector of {size - 1} dimensions; {size} were expected"):
        embedder_of(service).embed(TEXTS)


def test_fewer_vectors_than_texts_are_refused(service: Any) -> None:
    def spoil(answer: Any) -> Any:
        entries = answer.get("data", answer.get("embeddings"))
        entries.sort(key=lambda entry: entry.get("index", 0))
        entries.pop()
        return answer

    service.script = [spoil]
    with pytest.raises(ProviderError, match="answered 4 texts with 3 vectors"):
        embedder_of(service).embed(TEXTS)


BROKEN = [b"", b"<html>", b"{", b"[" * 100_000]
SHAPELESS: list[Any] = [
    [],
    {},
    None,
    {"data": 1},
    {"embeddings": [{}]},
    {"data": [{"index": 0, "embedding": None}]},
]
SHAPELESS += [{"data": [{"index": 1, "embedding": [1.0]}]}, {"embeddings": [{"values": ["x"]}]}]


@pytest.mark.parametrize("content", BROKEN)
def test_an_answer_that_is_no_json_is_refused(service: Any, content: bytes) -> None:
    service.script = [(200, {}, content)]
    with pytest.raises(ProviderError, match="did not answer with JSON"):
        embedder_of(service).embed(["x"])


@pytest.mark.parametrize("answer", SHAPELESS)
def test_json_of_another_shape_is_refused(service: Any, answer: Any) -> None:
    service.script = [(200, {}, json.dumps(answer).encode())]
    with pytest.raises(ProviderError, match=r"no list of vectors|with 0 vectors"):
        embedder_of(service).embed(["x"])


def test_an_element_too_large_for_a_float_is_refused(service: Any) -> None:
    huge = b"1" + b"0" * 400
    entry = b'[{"index": 0, "embedding": [%b], "values": [%b]}]' % (huge, huge)
    service.script = [(200, {}, b'{"data": %b, "embeddings": %b}' % (entry, entry))]
    with pytest.raises(ProviderError, match="no list of vectors"):
        embedder_of(service).embed(["x"])


def test_a_service_that_never_answers_is_given_up_after_three_tries(service: Any) -> None:
    service.script = ["hang"] * 3
    with pytest.raises(ProviderError, match=r"did not answer within 0\.1 s \(3 tries\)"):
        embedder_of(service, timeout=0.1).embed(["x"])


def test_a_redirect_is_not_followed(service: Any) -> None:
    service.script = [(307, {"Location": f"{service.url}/elsewhere"}, b"")]
    with pytest.raises(ProviderError, match=r"status 307 \(a redirect, not followed\)") as caught:
        embedder_of(service).embed(["x"])
    assert "base_url" in caught.value.hint
    assert len(service.requests) == 1


def test_a_service_that_is_not_running_is_named_with_the_way_out(service: Any) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, not listening: a connection is refused
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(
            ProviderError, match=r"could not be reached: ConnectError .*\(3 tries\)"
        ) as caught:
            embedder_of(service, base_url=url).embed(["x"])
    assert "base_url" in caught.value.hint


def test_user_information_in_the_address_is_not_shown(service: Any) -> None:
    service.script = [(500, {}, b"")] * 3
    url = service.url.replace("127.0.0.1", "jay:acorn@127.0.0.1")
    embedder = embedder_of(service, base_url=url)
    with pytest.raises(ProviderError) as caught:
        embedder.embed(["x"])
    assert "acorn" not in f"{caught.value}{embedder!r}{embedder.model}"


@pytest.mark.parametrize("url", ["ftp://host", "localhost:11434", "http://", "//host"])
def test_an_address_that_is_not_http_is_a_configuration_error(service: Any, url: str) -> None:
    with pytest.raises(ConfigError, match="http://HOST or https://HOST"):
        embedder_of(service, base_url=url)


def test_auto_knows_where_the_key_of_each_service_is_and_settings_name_known_providers() -> None:
    assert set(AUTO_PROVIDERS) - {"bge"} == KEY_VARIABLES.keys()
    assert set(settings.EMBEDDING_PROVIDERS) - {"auto"} <= set(EMBEDDING_PROVIDERS)
