"""Who is full is told the same by every surface, and what is used and allowed; another's turns are still remembered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import openai
import pytest
from http_here import asking, bearer, good, held, refused
from mcp.client import Client
from proxied import proxying
from scripted_model import Model

from scrubjay.api.auth import Principal
from scrubjay.config.loader import load_settings
from scrubjay.server.mcp.server import build_server
from scrubjay.server.session import Session

USED = [
    {"setting": "memories_per_user", "allowed": 1, "used": 1},
    {"setting": "memories_per_tenant", "allowed": 5, "used": 1},
]


@pytest.fixture
def full(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch, cli: Any) -> dict[str, str]:
    """A user who may keep one memory, and does."""
    monkeypatch.setenv("SCRUBJAY_QUOTA_MEMORIES_PER_USER", "1")
    monkeypatch.setenv("SCRUBJAY_QUOTA_MEMORIES_PER_TENANT", "5")
    assert cli("add", "The kettle is blue.").code == 0
    return environ


def test_the_command_line_ends_with_the_stores_exit_code_and_its_status_tells(
    full: dict[str, str], cli: Any, notes: Path
) -> None:
    said = cli("add", "The heron eats fish.")
    assert said.code == 4
    assert "has 1 of 1 memories that [quota] memories_per_user allows; this would add 1." in said.err
    assert "scrubjay forget" in said.err
    assert cli("status", "--json").json["quota"] == USED
    told = cli("status").out
    assert "quota      1 of 1 memories (memories_per_user)\n" in told
    assert "quota      1 of 5 memories (memories_per_tenant)\n" in told
    synced = cli("sync", notes)
    assert (synced.code, synced.err.count("[quota] memories_per_user allows")) == (0, 3)
    assert "blue" in cli("search", "kettle").out


def test_the_server_answers_507_and_reads_go_on(full: dict[str, str]) -> None:
    with asking(full) as client:
        told = refused(client.post("/v1/memories", json={"content": "The heron eats fish."}), 507)
        assert "has 1 of 1 memories" in told
        assert good(client.get("/v1/status"))["quota"] == USED
        assert good(client.post("/v1/search", json={"query": "kettle"}))["results"]
        assert 'scrubjay_quota_used{limit="memories_per_user"} 1.0' in client.get("/metrics").text
        assert 'scrubjay_quota_allowed{limit="memories_per_tenant"} 5.0' in client.get("/metrics").text
        assert "allowed to user" in client.get("/status").text
        bob = bearer(held(full), "bob", Principal("default", "bob"))
        good(client.post("/v1/memories", json={"content": "The heron eats fish."}, headers=bob), 201)


def test_an_agent_is_told_that_its_tool_failed_and_why(full: dict[str, str]) -> None:
    async def main() -> Any:
        with Session(load_settings()) as session, anyio.fail_after(60):
            async with Client(build_server(session, lambda _: session.owner)) as client:
                added = await client.call_tool("memory_add", {"content": "The heron eats fish."})
                status = await client.read_resource("scrubjay://status")
                return added, status

    added, status = anyio.run(main)
    assert added.is_error
    assert "has 1 of 1 memories" in added.content[0].text
    assert json.loads(status.contents[0].text)["quota"] == USED


def test_a_turn_that_there_is_no_room_for_is_dropped_and_counted_and_keeps_nobody_elses(
    full: dict[str, str], model: Model
) -> None:
    tokens = held(full)
    bob = bearer(tokens, "bob", Principal("default", "bob"))
    with proxying(full, model) as proxy:
        for key in ("", bob["authorization"].removeprefix("Bearer ")):
            with openai.OpenAI(
                base_url=proxy.openai,
                api_key="sk-theirs",
                max_retries=0,
                default_headers={"x-scrubjay-token": key} if key else {},
            ) as asking_:
                said: Any = [{"role": "user", "content": "The ferry leaves at nine."}]
                asking_.chat.completions.create(model="m", messages=said)
        assert [one.content for one in proxy.turns("bob")] == ["The ferry leaves at nine."]
        assert [one.content for one in proxy.turns()] == ["The kettle is blue."]
        assert proxy.passing.drops.turns["quota"] == 3
        assert '"why": "QuotaError"' in proxy.log.read_text()
