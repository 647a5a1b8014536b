"""What a language model behind the published wire may answer, and what becomes of it."""

from __future__ import annotations

import json
import logging
import socket

import pytest

from chat_service import Chat, wrapped
from loopback import DRIP, HANG, eventually
from scrubjay.errors import ConfigError, ProviderError
from scrubjay.llm.client import LanguageModel

REQUEST = json.dumps([{"who": "user", "text": "I like tea"}])


def opened(chat: Chat, key: str = "") -> LanguageModel:
    return LanguageModel(chat.url, "m1", key, backoff=0.001)


def asked(model: LanguageModel, deadline: float = 5.0, most: int = 1 << 20) -> str:
    return model.complete("do it", REQUEST, deadline=deadline, max_bytes=most)


def test_the_answer_is_the_message_of_the_first_choice(chat: Chat) -> None:
    chat.digests = lambda _: "as you wish"
    assert asked(opened(chat)) == "as you wish"
    assert chat.asked == [("digests", json.loads(REQUEST))]


def test_the_key_is_sent_in_its_header_and_stands_nowhere_else(
    chat: Chat, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    chat.key = "sk-right"
    model = opened(chat, "sk-right")
    asked(model)
    assert chat.headers[0]["authorization"] == "Bearer sk-right"
    wrong = opened(chat, "sk-wrong")
    with pytest.raises(ProviderError) as raised:
        asked(wrong)
    said = f"{raised.value} {raised.value.hint} {model!r} {wrong!r} {caplog.text}"
    assert "401" in said
    assert "sk-" not in said
    assert chat.tried == 2  # a refusal is not tried again


def test_without_a_key_none_is_sent(chat: Chat) -> None:
    asked(opened(chat))
    assert "authorization" not in chat.headers[0]


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ((500, b'{"error": "out of memory"}'), "status 500: out of memory (3 tries)"),
        ((404, b'{"error": "no such model"}'), "no such model"),
        ((302, b""), "redirect"),
        ((200, b"<html>"), "did not answer with JSON"),
        ((200, b"[" * 100_000), "did not answer with JSON"),
        ((200, b'{"choices": []}'), "no message"),
        ((200, b'{"choices": {"0": 1}}'), "no message"),
        ((200, b"[1]"), "no message"),
        ((200, wrapped(None)), "not text"),
        ((200, wrapped(7)), "not text"),
        ((200, b"x" * 10_000_000), "more than 1 MB"),
    ],
)
def test_what_is_no_answer_is_an_error_that_says_what_came(
    chat: Chat, reply: tuple[int, bytes], says: str
) -> None:
    chat.digests = reply
    with pytest.raises(ProviderError) as raised:
        asked(opened(chat))
    assert says in str(raised.value)
    assert str(raised.value).endswith("What was found without it stands.")


@pytest.mark.parametrize("how", [HANG, DRIP])
def test_a_service_that_takes_its_time_is_left_at_the_deadline(chat: Chat, how: str) -> None:
    chat.digests = how
    with pytest.raises(ProviderError, match=r"did not answer within 1 s"):
        asked(opened(chat), deadline=1)
    eventually(lambda: chat.tried)
    assert chat.tried == 1  # the deadline is one for all tries


def test_a_service_that_is_not_there_is_an_error() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound, not listening: a connection is refused
        model = LanguageModel(f"http://127.0.0.1:{held.getsockname()[1]}/v1", "m1", backoff=0.001)
        with pytest.raises(ProviderError, match="could not be reached"):
            asked(model)


@pytest.mark.parametrize(
    "url", ["http://192.168.1.7/v1", "http://example.org/v1", "http://127.example.org/v1"]
)
def test_memories_do_not_cross_a_network_in_the_clear(url: str) -> None:
    with pytest.raises(ConfigError, match="in the clear"):
        LanguageModel(url, "m1")
    assert LanguageModel(url.replace("http:", "https:"), "m1").host


def test_an_address_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match="scheme"):
        LanguageModel("localhost:11434", "m1")
