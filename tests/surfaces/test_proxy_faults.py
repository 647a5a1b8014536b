"""The proxy when something goes wrong: before it, behind it, or with itself."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from proxied import Proxied, proxying, turns_of
from scripted_model import DONE, STREAM, Model, Reply, chunk, completion

from scrubjay import Memory
from scrubjay.api.auth import Principal, TokenStore
from scrubjay.config.paths import Pauses
from scrubjay.errors import ConfigError

SAID: Any = [{"role": "user", "content": "The ferry to Bornholm leaves at nine."}]


def ask(proxy: Proxied, *, key: str = "sk-theirs", stream: bool = False, **headers: str) -> Any:
    with openai.OpenAI(base_url=proxy.openai, api_key=key, max_retries=0, default_headers=headers) as asking:
        said = asking.chat.completions.create(model="m", messages=SAID, stream=stream)
        return list(said) if stream else said


@pytest.mark.parametrize("status", [400, 429, 500, 529])
def test_an_error_of_the_upstream_comes_as_it_is_and_nothing_is_remembered(
    proxy: Proxied, status: int
) -> None:
    told = b'{"error": {"message": "Not now.", "type": "theirs", "extra": 1.0}}'
    headers = {"content-type": "application/json", "retry-after": "17", "x-request-id": "req_1"}
    proxy.model.answer = lambda request: Reply([told], status, headers)
    with pytest.raises(openai.APIStatusError) as caught:
        ask(proxy)
    assert caught.value.status_code == status
    assert caught.value.response.content == told
    assert caught.value.response.headers["retry-after"] == "17"
    assert caught.value.response.headers["x-request-id"] == "req_1"
    assert proxy.turns() == []


def test_garbage_in_a_stream_passes_and_what_makes_sense_is_heard(proxy: Proxied) -> None:
    pieces = [
        b"data: {garb",
        b"age\n\n: comment\n\nevent: x\n\n\xff\xfe\n",
        chunk("At n")[:20],
        chunk("At n")[20:],
    ]
    pieces += [chunk("ine.").replace(b"\n", b"\r\n"), b"data: 7\n\ndata: null\n\n", DONE]
    proxy.model.answer = lambda request: Reply(pieces, headers=STREAM, chunked=True)
    said = httpx2.post(f"{proxy.openai}/chat/completions", json={"messages": SAID}, timeout=60)
    assert said.content == b"".join(pieces)
    assert [one.content for one in proxy.turns()] == [SAID[0]["content"], "At nine."]


@pytest.mark.parametrize("body", [b"\x00\xff not JSON", b"", b"{}", b"[" * 100_000])
def test_an_answer_that_is_none_passes_and_nothing_is_remembered(proxy: Proxied, body: bytes) -> None:
    proxy.model.answer = lambda request: Reply([body])
    assert (
        httpx2.post(f"{proxy.openai}/chat/completions", json={"messages": SAID}, timeout=60).content == body
    )
    assert proxy.turns() == []


def test_a_stream_that_breaks_off_breaks_off_here_too_and_is_not_remembered(proxy: Proxied) -> None:
    proxy.model.answer = lambda request: Reply([chunk("At ")], headers=STREAM, chunked=True, cut=True)
    with pytest.raises(openai.APIConnectionError):
        ask(proxy, stream=True)
    assert proxy.turns() == []
    assert '"event": "proxy upstream cut"' in proxy.log.read_text()


def test_an_upstream_that_does_not_answer_is_told_of_in_its_form(
    environ: dict[str, str], model: Model
) -> None:
    with proxying(environ, model, first_byte_seconds=0.2) as proxy:
        model.answer = lambda request: (model.over.wait(60) and None) or Reply([])
        with pytest.raises(openai.APIStatusError) as caught:
            ask(proxy)
        assert caught.value.status_code == 504
        model.over.set()
        assert "did not respond within 0.2 s" in str(caught.value.message)
        assert proxy.turns() == []


def test_a_stream_in_which_nothing_comes_any_more_is_ended(environ: dict[str, str], model: Model) -> None:
    with proxying(environ, model, idle_seconds=0.2) as proxy:
        model.answer = lambda request: Reply([chunk("At "), model.over], headers=STREAM, chunked=True)
        with pytest.raises(openai.APIConnectionError):
            ask(proxy, stream=True)
        model.over.set()


def test_an_upstream_that_is_not_there_is_told_of_in_its_form(environ: dict[str, str], model: Model) -> None:
    import anthropic

    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{held.getsockname()[1]}"
        with proxying(environ, model, openai=nowhere, anthropic=nowhere) as proxy:
            with pytest.raises(openai.APIStatusError, match="did not respond: ConnectError"):
                ask(proxy)
            with anthropic.Anthropic(base_url=proxy.anthropic, api_key="k", max_retries=0) as asking:
                with pytest.raises(anthropic.APIStatusError) as caught:
                    asking.messages.create(model="m", max_tokens=1, messages=SAID)
                body: Any = caught.value.body
                assert (body["type"], body["error"]["type"]) == ("error", "api_error")


def test_a_request_of_a_hundred_megabytes_is_refused_in_the_upstreams_form(proxy: Proxied) -> None:
    import anthropic

    large: Any = [{"role": "user", "content": "x" * 100_000_000}]
    with (
        anthropic.Anthropic(base_url=proxy.anthropic, api_key="k", max_retries=0) as asking,
        pytest.raises(anthropic.APIStatusError) as caught,
    ):
        asking.messages.create(model="m", max_tokens=1, messages=large)
    assert caught.value.status_code == 413
    body: Any = caught.value.body
    assert body["error"]["type"] == "request_too_large"
    assert proxy.model.asked == []


def test_a_token_of_ours_goes_no_further_and_the_settings_key_takes_its_place(
    environ: dict[str, str], model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    import anthropic

    monkeypatch.setenv("THEIR_KEY", "sk-of-the-team")
    tokens = TokenStore(Path(environ["XDG_CONFIG_HOME"]) / "scrubjay" / "tokens.json")
    ann = tokens.create("ann", Principal("default", "ann"), None)
    with proxying(environ, model, open_here=False, openai_key_env="THEIR_KEY") as proxy:
        with pytest.raises(openai.AuthenticationError):
            ask(proxy)
        ask(proxy, key=ann)
        assert model.last.header("authorization") == "Bearer sk-of-the-team"
        ask(proxy, **{"x-scrubjay-token": ann})
        assert model.last.header("authorization") == "Bearer sk-theirs"
        assert "scrubjay_" not in str([request.headers for request in model.asked])
        with (
            anthropic.Anthropic(base_url=proxy.anthropic, api_key=ann, max_retries=0) as asking,
            pytest.raises(anthropic.AuthenticationError, match="anthropic_key_env names no key"),
        ):
            asking.messages.create(model="m", max_tokens=1, messages=SAID)
    assert len(model.asked) == 2
    with proxying(environ, model, open_here=False, anthropic_key_env="THEIR_KEY") as proxy:
        url = f"{proxy.anthropic}/v1/models"
        for header, shown, expected in (
            ("authorization", f"Bearer {ann}", "Bearer sk-of-the-team"),
            ("x-api-key", ann, "sk-of-the-team"),
        ):
            httpx2.get(
                url, headers={header: shown, "cookie": f"scrubjay_token={ann}"}, timeout=60
            ).raise_for_status()
            assert model.last.header(header) == expected
            assert "scrubjay_" not in str(model.last.headers)


@pytest.mark.parametrize(
    ("open_here", "headers", "status", "kind", "told"),
    [
        (False, {}, 401, "authentication_error", "A valid token is required"),
        (False, {}, 401, "authentication_error", "send it as x-scrubjay-token: TOKEN"),
        (True, {"x-scrubjay-token": "scrubjay_revoked"}, 401, "authentication_error", "token create NAME"),
        (True, {"x-forwarded-for": "10.0.0.9"}, 401, "authentication_error", "The request was forwarded"),
        (True, {"origin": "https://evil.example"}, 403, "permission_error", "Cross-site request rejected"),
        (True, {"host": "evil.example"}, 421, "invalid_request_error", "Host header does not match"),
    ],
)
def test_who_is_not_let_in_reads_why_in_the_form_of_the_interface(
    environ: dict[str, str],
    model: Model,
    open_here: bool,
    headers: dict[str, str],
    status: int,
    kind: str,
    told: str,
) -> None:
    import anthropic

    with proxying(environ, model, open_here=open_here) as proxy:
        with pytest.raises(openai.APIStatusError) as caught:
            ask(proxy, **headers)
        said, error = caught.value, caught.value.body
        assert said.status_code == status
        assert (said.type, said.code) == ("invalid_request_error", "scrubjay_proxy")
        assert isinstance(error, dict)
        assert told in error["message"]
        with (
            anthropic.Anthropic(
                base_url=proxy.anthropic, api_key="k", max_retries=0, default_headers=headers
            ) as asking,
            pytest.raises(anthropic.APIStatusError) as refused,
        ):
            asking.messages.create(model="m", max_tokens=1, messages=SAID)
        body: Any = refused.value.body
        assert (refused.value.status_code, body["type"], body["error"]["type"]) == (status, "error", kind)
        assert told in body["error"]["message"]
    assert model.asked == []


def test_the_settings_that_are_shown_hold_no_key(cli: Any) -> None:
    cli.patch.setenv("THEIR_KEY", "sk-of-the-team")
    cli.patch.setenv("SCRUBJAY_PROXY_OPENAI_KEY_ENV", "THEIR_KEY")
    shown = cli("config")
    assert "THEIR_KEY" in shown.out
    assert "sk-of-the-team" not in shown.out


def test_a_proxy_that_leads_to_itself_stops_at_once(environ: dict[str, str], model: Model) -> None:
    with proxying(environ, model) as proxy:
        proxy.passing.upstream._settings = type(proxy.passing.settings)(openai=proxy.openai)
        with pytest.raises(openai.APIStatusError, match="points to this server itself"):
            ask(proxy)


@pytest.mark.parametrize("path", ["../admin", "%2e%2e/admin", "a/..%2f..%2fadmin", "..%5cadmin", "a/./b"])
def test_no_path_leads_out_of_the_interface(proxy: Proxied, path: str) -> None:
    with socket.create_connection(proxy.url.removeprefix("http://").split(":")) as held:  # type: ignore[arg-type]
        held.sendall(
            f"GET /openai/v1/{path} HTTP/1.1\r\nHost: {proxy.url[7:]}\r\nConnection: close\r\n\r\n".encode()
        )
        assert held.makefile("rb").readline().split()[1] == b"400"
    assert proxy.model.asked == []


@pytest.mark.parametrize("url", ["ftp://host/v1", "https://me:secret@host/v1", "https://host/v1?x=1", "host"])
def test_an_upstream_that_is_no_address_is_refused_at_the_start(
    environ: dict[str, str], model: Model, url: str
) -> None:
    with (
        pytest.raises(ConfigError, match="openai is not a valid base URL") as caught,
        proxying(environ, model, openai=url),
    ):
        pass
    assert "secret" not in str(caught.value)


def test_what_waited_when_the_process_died_is_remembered_once(environ: dict[str, str], model: Model) -> None:
    def broken() -> Memory:
        raise OSError("no disk")

    with proxying(environ, model, opening=broken) as proxy:
        ask(proxy)
        assert proxy.passing.queue.size() == 2
    waited = proxy.passing.queue.path.read_bytes()
    with proxying(environ, model) as proxy:
        first = [(one.id, one.content, one.event) for one in proxy.turns()]
        assert [content for _, content, _ in first] == [SAID[0]["content"], "Fine."]
    # Killed after the store had them, before the queue was told: they are in it once more.
    proxy.passing.queue.path.write_bytes(waited)
    with proxying(environ, model) as proxy:
        assert [(one.id, one.content, one.event) for one in proxy.turns()] == first
        assert proxy.passing.queue.size() == 0


def test_a_queue_that_is_full_drops_what_comes_and_says_so(environ: dict[str, str], model: Model) -> None:
    def broken() -> Memory:
        raise OSError("no disk")

    with proxying(environ, model, opening=broken, queue_mb=1) as proxy:
        model.answer = lambda request: completion("word " * 70_000)
        for number in range(4):
            ask(proxy, **{"x-scrubjay-session": str(number)})
        assert proxy.passing.drops.turns == {"full": 2, "quota": 0, "unwritten": 0}
        assert proxy.passing.queue.size() == 6
    assert '"why": "the queue is full"' in proxy.log.read_text()


def test_a_queue_that_cannot_be_written_costs_nothing_but_the_memory(
    environ: dict[str, str], model: Model
) -> None:
    with proxying(environ, model) as proxy:
        proxy.passing.queue.path.parent.mkdir(parents=True)
        proxy.passing.queue.path.mkdir()
        assert ask(proxy).choices[0].message.content == "Fine."
        assert proxy.passing.drops.turns == {"full": 0, "quota": 0, "unwritten": 2}


def test_additions_that_pass_are_not_written_into_day_notes(
    environ: dict[str, str], model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRUBJAY_NOTES_DIR", str(tmp_path / "days"))
    with proxying(environ, model) as proxy:
        ask(proxy)
        assert len(proxy.turns()) == 2
    assert not (tmp_path / "days").exists()


def test_during_a_pause_requests_pass_and_nothing_else_happens(proxy: Proxied) -> None:
    proxy.session.memory().add("The ferry to Bornholm is called Hammershus.")
    pauses = Pauses(str(proxy.log.parent))
    pauses.pause()
    ask(proxy, **{"x-scrubjay-memory": "on"})
    assert len(proxy.model.last.json["messages"]) == 1
    assert not [one for one in proxy.turns() if one.role]
    pauses.resume()
    ask(proxy)
    assert len(proxy.model.last.json["messages"]) == 2


def test_the_first_use_of_an_upstream_is_announced_once(
    proxy: Proxied, caplog: pytest.LogCaptureFixture
) -> None:
    ask(proxy)
    ask(proxy)
    told = [each.getMessage() for each in caplog.records if "Forwarding to" in each.getMessage()]
    assert len(told) == 1
    assert proxy.model.url.removeprefix("http://") in told[0]


def test_the_queue_is_its_owners_alone(proxy: Proxied) -> None:
    ask(proxy)
    proxy.rested()
    modes = {one.stat().st_mode & 0o077 for one in proxy.passing.queue.path.parent.iterdir()}
    assert modes == {0}
    assert json.dumps(SAID[0]["content"]).encode() not in proxy.passing.queue.path.read_bytes()
    assert turns_of(proxy.session.memory())
