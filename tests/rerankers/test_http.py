"""What a reranker behind the published wire may answer, and what becomes of it."""

from __future__ import annotations

import json
import logging
import socket
from typing import Any

import pytest

from loopback import DRIP, HANG, eventually
from rerank_service import Reranks, results
from scrubjay.errors import ConfigError, ProviderError
from scrubjay.redaction.redactor import redact_text
from scrubjay.rerankers.base import RerankQuery
from scrubjay.rerankers.remote import HttpReranker

PASSAGES = ["the alder by the tide", "a heron in the old willow", "the heron"]
QUESTION = RerankQuery("old heron")


def reranker_at(url: str, key: str = "", name: str = "r1", **options: Any) -> HttpReranker:
    return HttpReranker(url, name, key, redact=lambda text: redact_text(text).text, **options)


def opened(service: Reranks, key: str = "") -> HttpReranker:
    return reranker_at(service.url, key)


def scored(reranker: HttpReranker, deadline: float = 5.0) -> list[float | None]:
    return list(reranker.scores(QUESTION, PASSAGES, deadline=deadline))


@pytest.mark.parametrize("style", ["results", "data"])
def test_scores_come_in_the_order_of_the_passages_whichever_service_it_is(
    service: Reranks, style: str
) -> None:
    service.style = style
    assert scored(opened(service)) == [0.0, 1.0, 0.5]
    assert service.asked == [{"model": "r1", "query": "old heron", "documents": PASSAGES}]


def test_the_key_is_sent_in_its_header_and_stands_nowhere_else(
    service: Reranks, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    service.key = "sk-right"
    right, wrong = opened(service, "sk-right"), opened(service, "sk-wrong")
    scored(right)
    assert service.headers[0]["authorization"] == "Bearer sk-right"
    with pytest.raises(ProviderError) as raised:
        scored(wrong)
    said = f"{raised.value} {raised.value.hint} {right!r} {wrong!r} {caplog.text}"
    assert "401" in said
    assert "sk-" not in said


def test_without_a_key_none_is_sent(service: Reranks) -> None:
    scored(opened(service))
    assert "authorization" not in service.headers[0]


def test_secrets_are_taken_out_of_question_and_passages_before_they_are_sent(service: Reranks) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    opened(service).scores(RerankQuery(f"heron {secret}"), [f"token {secret}", "heron"], deadline=5)
    sent = json.dumps(service.asked)
    assert "[secret:" in sent
    assert secret not in sent


def test_a_passage_without_a_word_is_sent_as_something(service: Reranks) -> None:
    assert opened(service).scores(QUESTION, ["  ", "old heron"], deadline=5) == [0.0, 1.0]


def test_where_what_goes_is_told_once_and_before_it_goes(service: Reranks) -> None:
    told: list[tuple[str, int]] = []
    reranker = reranker_at(service.url, announce=lambda text: told.append((text, len(service.asked))))
    scored(reranker)
    scored(reranker)
    assert [before for _, before in told] == [0]
    count = sum(map(len, PASSAGES)) + len(QUESTION.text)
    assert f"a question and 3 passages ({count} characters) to {reranker.host}" in told[0][0]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ([], "0 scores for 3 passages"),
        (results([1, 2]), "2 scores for 3 passages"),
        (results([1, 2, 3, 4]), "none of 0 to 2"),
        ([*results([1, 2, 3]), {"index": 0, "relevance_score": 1}], "index 0 twice"),
        ([{"index": -1, "relevance_score": 1}], "none of 0 to 2"),
        ([{"index": True, "relevance_score": 1}], "none of 0 to 2"),
        ([{"index": "0", "relevance_score": 1}], "none of 0 to 2"),
        ([{"index": 0, "relevance_score": "high"}], "not a finite number"),
        ([{"index": 0, "relevance_score": float("nan")}], "not a finite number"),
        ([{"index": 0, "relevance_score": float("inf")}], "not a finite number"),
        ([{"index": 0, "relevance_score": 10**400}], "int too large"),
        ([{"index": 0}], "relevance_score"),
        (["0"], "one score a passage"),
        (7, "one score a passage"),
        (None, "one score a passage"),
    ],
)
def test_an_answer_that_is_not_one_finite_score_a_passage_is_refused_whole(
    service: Reranks, answer: object, says: str
) -> None:
    service.answer = lambda _: answer
    with pytest.raises(ProviderError) as raised:
        scored(opened(service))
    assert says in str(raised.value)
    assert str(raised.value).endswith("The fused order stands.")


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ((500, b'{"message": "out of memory"}'), "status 500: out of memory (3 tries)"),
        ((404, b'{"detail": "no such model"}'), "no such model"),
        ((302, b""), "redirect"),
        ((200, b"<html>"), "did not answer with JSON"),
        ((200, b"[" * 100_000), "did not answer with JSON"),
        ((200, b"[]"), "one score a passage"),
        ((200, b"{}"), "one score a passage"),
        ((200, b"x" * 10_000_000), "more than 4 MB"),
    ],
)
def test_what_is_no_answer_is_an_error_that_says_what_came(
    service: Reranks, reply: tuple[int, bytes], says: str
) -> None:
    service.answer = reply
    with pytest.raises(ProviderError) as raised:
        scored(opened(service))
    assert says in str(raised.value)


@pytest.mark.parametrize("how", [HANG, DRIP])
def test_a_service_that_takes_its_time_is_left_at_the_deadline(service: Reranks, how: str) -> None:
    service.answer = how
    with pytest.raises(ProviderError, match=r"did not answer within 1 s"):
        scored(opened(service), deadline=1)
    eventually(lambda: service.asked)
    assert len(service.asked) == 1  # the deadline is one for all tries


def test_a_service_that_is_not_there_is_an_error() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound, not listening: a connection is refused
        model = reranker_at(f"http://127.0.0.1:{held.getsockname()[1]}/v1")
        with pytest.raises(ProviderError, match="could not be reached"):
            scored(model)


def test_memories_do_not_cross_a_network_in_the_clear() -> None:
    with pytest.raises(ConfigError, match="in the clear"):
        reranker_at("http://192.168.1.7/v1")
    assert reranker_at("https://192.168.1.7/v1").host == "192.168.1.7"


@pytest.mark.parametrize(
    ("url", "name", "says"), [("", "r1", "no base_url"), ("https://example.org/v1", "", "no model")]
)
def test_what_is_not_named_is_said(url: str, name: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        reranker_at(url, name=name)
