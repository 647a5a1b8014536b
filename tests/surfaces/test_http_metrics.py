"""What `/metrics` tells of the proxy's queue."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from http_here import asking
from scripted_model import Model, completion
from starlette.testclient import TestClient

from scrubjay.api.jobs import try_lock
from scrubjay.server.proxy.turn_queue import TurnQueue


def counted(client: TestClient) -> dict[str, str]:
    lines = client.get("/metrics").raise_for_status().text.splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if line.startswith("scrubjay_proxy_turns"))


def test_turns_that_wait_and_turns_that_were_dropped_are_counted(
    environ: dict[str, str], model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRUBJAY_PROXY_OPENAI", f"{model.url}/v1")
    monkeypatch.setenv("SCRUBJAY_PROXY_QUEUE_MB", "1")
    data = Path(environ["XDG_DATA_HOME"]) / "scrubjay"
    spool = TurnQueue(str(data), environ["SCRUBJAY_STORE"], 1, lambda damage, aside: None)
    spool.lock.parent.mkdir(parents=True)
    model.answer = lambda request: completion("word " * 70_000)
    said = {"messages": [{"role": "user", "content": "How many words are there?"}]}
    whys = ("full", "unwritten", "quota")
    full, unwritten, quota = (f'scrubjay_proxy_turns_dropped_total{{why="{why}"}}' for why in whys)
    with asking(environ) as client:
        assert counted(client) == {
            full: "0.0",
            unwritten: "0.0",
            quota: "0.0",
            "scrubjay_proxy_turns_waiting": "0.0",
        }
        other = os.open(spool.lock, os.O_RDWR | os.O_CREAT, 0o600)
        assert try_lock(other)  # another server empties the queue, and takes its time
        for number in range(4):
            headers = {"x-scrubjay-memory": "write", "x-scrubjay-session": str(number)}
            client.post("/openai/v1/chat/completions", json=said, headers=headers).raise_for_status()
        assert counted(client) == {
            full: "2.0",
            unwritten: "0.0",
            quota: "0.0",
            "scrubjay_proxy_turns_waiting": "6.0",
        }
        spool.path.rename(spool.path.with_suffix(".away"))
        spool.path.mkdir()
        client.post("/openai/v1/chat/completions", json=said, headers={"x-scrubjay-memory": "write"})
        assert counted(client) == {full: "2.0", unwritten: "2.0", quota: "0.0"}
        os.close(other)
    assert '"event": "proxy queue"' in (data / "log").read_text()
