"""The proxy before a service with Anthropic's interface, asked by Anthropic's own client."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from proxied import Proxied
from scripted_model import STREAM, Reply, message, message_events, message_streamed

if TYPE_CHECKING:
    import anthropic

JSON = {"content-type": "application/json"}
MEMORY = "The zeppelin lands on platform nine."
QUESTION = "Where does the zeppelin land?"


def client(proxy: Proxied) -> anthropic.Anthropic:
    import anthropic  # 1.6 s, not to be spent by each process that collects the tests

    return anthropic.Anthropic(base_url=proxy.anthropic, api_key="sk-ant-theirs", max_retries=0)


def ask(proxy: Proxied, *said: Any, **more: Any) -> Any:
    messages = [
        {"role": ("user", "assistant")[place % 2], "content": content} for place, content in enumerate(said)
    ]
    with client(proxy) as asking:
        return asking.messages.create(model="m", max_tokens=9, messages=messages, **more)


def post(proxy: Proxied, body: str) -> Any:
    return httpx2.post(f"{proxy.anthropic}/v1/messages", content=body.encode(), headers=JSON, timeout=60)


def test_what_is_told_in_one_conversation_is_put_into_the_system_of_the_next(proxy: Proxied) -> None:
    ask(proxy, "My boat is called Albatross.")
    assert [(one.role, one.content) for one in proxy.turns()] == [
        ("user", "My boat is called Albatross."),
        ("assistant", "Fine."),
    ]
    said = ask(proxy, "What is my boat called?")
    assert said.content[0].text == "Fine."
    assert "My boat is called Albatross." in proxy.injected()
    sent = proxy.model.last
    assert (sent.path, sent.header("authorization")) == ("/v1/messages", "Bearer sk-ant-theirs")
    assert [block["type"] for block in sent.json["system"]] == ["text"]
    assert [one["role"] for one in sent.json["messages"]] == ["user"]


def test_a_stream_is_heard_to_its_end(proxy: Proxied) -> None:
    proxy.model.answer = lambda request: message_streamed("The ferry ", "leaves ", "at nine.")
    with client(proxy) as asking:
        messages: Any = [{"role": "user", "content": "When does the ferry to Bornholm leave?"}]
        with asking.messages.stream(model="m", max_tokens=9, messages=messages) as stream:
            assert list(stream.text_stream) == ["The ferry ", "leaves ", "at nine."]
    assert [one.content for one in proxy.turns()][-1] == "The ferry leaves at nine."


def test_what_the_client_has_cached_of_its_system_stays_before_the_memories(proxy: Proxied) -> None:
    proxy.session.memory().add(MEMORY)
    own = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    ask(proxy, QUESTION, system=own)
    system = proxy.model.last.json["system"]
    assert system[:-1] == own
    assert system[-1]["text"] == proxy.injected() != ""
    assert set(system[-1]) == {"type", "text"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"system": "Be \\u0062rief." , ', '"system": [{"type":"text","text":"Be \\u0062rief."},@] , '),
        ('"system": [{"type":"text", "text":"a"} ] , ', '"system": [{"type":"text", "text":"a"} ,@] , '),
        ('"system":[],', '"system":[@],'),
        ('"system":" ",', '"system":[@],'),
        ('"system":null,', '"system":[@],'),
    ],
)
def test_all_but_the_block_stays_as_the_client_wrote_it(proxy: Proxied, before: str, after: str) -> None:
    proxy.session.memory().add(MEMORY)
    start, rest = (
        '{"x":1,"x":2.0, ',
        f'"messages":[{{"role":"user","content":"{QUESTION}"}}], "max_tokens" :1e1}}',
    )
    assert post(proxy, start + before + rest).headers["x-scrubjay-memories"] == "1"
    sent = proxy.model.last.body.decode()
    block = json.dumps({"type": "text", "text": proxy.injected()}, ensure_ascii=False)
    assert sent == start + after.replace("@", block) + rest


@pytest.mark.parametrize(
    "body",
    [
        "{",
        "[1]",
        '{"messages": "no"}',
        '{"messages": []}',
        '{"messages": [1, null]}',
        '{"messages":[{"role":"user","content":"Where does the zeppelin land?"}],"messages":[]}',
        '{"system":7,"messages":[{"role":"user","content":"Where does the zeppelin land?"}]}',
        '{"messages":[{"role":"user","content":"Where does the zeppelin land?"}]} trailing',
        '{"messages":' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"n":' + "9" * 5_000 + ',"messages":[{"role":"user","content":"zeppelin lands where?"}]}',
    ],
    ids=range(10),
)
def test_what_is_not_understood_goes_on_as_it_is(proxy: Proxied, body: str) -> None:
    proxy.session.memory().add(MEMORY)
    assert post(proxy, body).status_code == 200
    assert proxy.model.last.body == body.encode()


def test_a_tools_result_alone_is_no_question_and_keeps_the_memories_of_its_question(proxy: Proxied) -> None:
    proxy.session.memory().add(MEMORY)
    ask(proxy, QUESTION)
    given = proxy.injected()
    used: Any = [{"type": "tool_use", "id": "t", "name": "look", "input": {}}]
    back: Any = [{"type": "tool_result", "tool_use_id": "t", "content": "Zeppelins are airships."}]
    proxy.model.answer = lambda request: message("Nine.")
    ask(proxy, QUESTION, used, back)
    assert proxy.injected() == given != ""
    assert [one.content for one in proxy.turns() if one.role] == [QUESTION, "Fine.", "Nine."]
    ask(proxy, "Something else entirely?", used, back)
    assert proxy.injected() == ""


def test_an_answer_that_the_client_begins_is_the_models(proxy: Proxied) -> None:
    ask(proxy, "Which colour has the hull of my boat? It is blue.", "It is")
    assert [one.role for one in proxy.turns()] == ["user", "assistant"]


def test_what_an_agent_puts_into_a_message_is_not_the_persons(proxy: Proxied) -> None:
    blocks: Any = [
        {"type": "text", "text": "<system-reminder>Use the todo list.</system-reminder>"},
        {"type": "text", "text": "The tram leaves at noon."},
    ]
    ask(proxy, blocks)
    assert [one.content for one in proxy.turns() if one.role == "user"] == ["The tram leaves at noon."]


def test_counting_tokens_is_passed_on_untouched(proxy: Proxied) -> None:
    proxy.session.memory().add(MEMORY)
    proxy.model.answer = lambda request: Reply([b'{"input_tokens": 7}'])
    with client(proxy) as asking:
        messages: Any = [{"role": "user", "content": QUESTION}]
        assert asking.messages.count_tokens(model="m", messages=messages).input_tokens == 7
    assert proxy.injected() == ""


def test_what_was_said_until_the_client_left_is_remembered(proxy: Proxied) -> None:
    more = threading.Event()
    events = message_events("The ferry leaves ", "never.")
    heard = [*events[:4], more, *events[4:]]
    proxy.model.answer = lambda request: Reply(heard, headers=STREAM, chunked=True)
    with client(proxy) as asking:
        messages: Any = [{"role": "user", "content": "When does the ferry to Bornholm leave?"}]
        with asking.messages.stream(model="m", max_tokens=9, messages=messages) as stream:
            assert next(iter(stream.text_stream)) == "The ferry leaves "
    said = [one.content for one in kept(proxy, 2)]
    more.set()
    assert said == ["When does the ferry to Bornholm leave?", "The ferry leaves"]


def kept(proxy: Proxied, turns: int) -> Any:
    """The turns, once there are so many: nothing but the proxy tells when it saw that a client left."""
    pause = threading.Event()
    for _ in range(3_000):
        found = [one for one in proxy.turns() if one.role]
        if len(found) >= turns:
            return found
        pause.wait(0.01)
    raise AssertionError("nothing was remembered")
