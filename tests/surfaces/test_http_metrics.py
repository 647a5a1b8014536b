"""What `/metrics` tells of the proxy's queue."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from http_here import SCOPES, asking, bearer
from scripted_model import Model, completion
from starlette.testclient import TestClient

from scrubjay import Memory
from scrubjay.api.auth import Principal, TokenStore
from scrubjay.atomic_files import try_lock
from scrubjay.config.loader import load_settings
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


def gauges(text: str) -> dict[str, float]:
    lines = [line for line in text.splitlines() if line.startswith("scrubjay_")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def test_an_operator_sees_what_is_pending_for_all_users_of_all_tenants(
    environ: dict[str, str], tokens: TokenStore
) -> None:
    operator = bearer(tokens, "prometheus", Principal("default", "prometheus", scopes=SCOPES["admin"]))
    reader = bearer(tokens, "reader", Principal("default", "prometheus", scopes=SCOPES["read"]))
    with Memory.open(settings=load_settings()) as memory:  # with models that embed later
        for who in (memory.seen_by("bo"), memory.seen_by("cy", tenant="elsewhere")):
            for number in range(3):
                who.add(f"The mast number {number} is 12 metres.")
    with asking(environ) as client:
        seen = gauges(client.get("/metrics", headers=operator).raise_for_status().text)
        backlog = [value for name, value in seen.items() if name.startswith("scrubjay_embedding_backlog")]
        assert max(backlog) == 6
        assert seen["scrubjay_store_up"] == 1
        assert sum(value for name, value in seen.items() if name.startswith("scrubjay_memories{")) == 6
        assert 0 < seen["scrubjay_pending_age_seconds"] < 600
        assert seen["scrubjay_enrichment_backlog"] == 0
        assert "scrubjay_worker_look_timestamp_seconds" not in seen
        own = gauges(client.get("/metrics", headers=reader).raise_for_status().text)
        assert not [name for name in own if name.startswith("scrubjay_memories{")]
        assert "scrubjay_pending_age_seconds" not in own


def test_metrics_of_the_process_are_there_while_the_store_is_down(
    environ: dict[str, str], tmp_path: Path
) -> None:
    with asking(environ) as client:
        client.get("/metrics").raise_for_status()
        store = Path(environ["SCRUBJAY_STORE"])
        store.rename(tmp_path / "elsewhere.db")
        seen = gauges(client.get("/metrics").raise_for_status().text)
    assert seen["scrubjay_store_up"] == 0
    assert seen['scrubjay_http_requests_total{method="GET",route="/metrics",status="200"}'] == 1
    assert not [name for name in seen if name.startswith(("scrubjay_memories", "scrubjay_store_bytes"))]
