"""Feedback from every surface is the same feedback; what a tool recalled is never captured as new."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client

from scrubjay import Memory
from scrubjay.cli.main import run
from scrubjay.config.loader import load_settings
from scrubjay.models.lifecycle import NewMemory
from scrubjay.server.mcp.server import build_server
from scrubjay.server.session import Session


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRUBJAY_STORE", str(tmp_path / "memory.db"))
    monkeypatch.setenv("SCRUBJAY_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))


def called(tool: str, **arguments: Any) -> Any:
    async def main() -> Any:
        with Session(load_settings()) as session, anyio.fail_after(60):
            async with Client(build_server(session, lambda _: session.owner)) as client:
                return await client.call_tool(tool, arguments)

    return anyio.run(main)


def by_cli(number: str, verdict: str) -> None:
    assert run(["feedback", verdict, number]) == 0


def by_python(number: str, verdict: str) -> None:
    with Memory.open() as memory:
        memory.feedback(number, verdict)


def by_mcp(number: str, verdict: str) -> None:
    assert called("memory_feedback", ids=[number], verdict=verdict).structured_content["ids"] == [number]


@pytest.mark.parametrize("judge", [by_cli, by_python, by_mcp])
def test_a_verdict_is_kept_from_any_surface_and_searching_gives_none(judge: Any) -> None:
    with Memory.open() as memory:
        number = memory.add("The heron eats fish.").id
        memory.search("heron")
    called("memory_search", query="heron")
    verdicts = ["used", "useful", "wrong", "not-wrong", "never-inject", "inject"]
    for verdict in verdicts:
        judge(number, verdict)
    with Memory.open() as memory:
        ops = [event.op for event in memory.history(number).events]
    assert ops == verdicts


@pytest.mark.parametrize("tool", ["memory_search", "memory_thread", "memory_context", "memory_get"])
def test_what_a_tool_recalled_is_passed_over_when_its_conversation_is_captured(tool: str) -> None:
    with Memory.open() as memory:
        number = memory.add("The heron eats fish.").id
    asked: dict[str, Any] = (
        {"ids": [number]} if tool == "memory_get" else {"query": "what does the heron eat?"}
    )
    text = called(tool, **asked).content[0].text
    assert "The heron eats fish." in text
    recalled = text[: text.index("</scrubjay-memories>") + len("</scrubjay-memories>")]
    with Memory.open() as memory:
        (passed,) = memory.add_many([NewMemory(recalled, role="user", session="s", turn=1)])
        assert passed.passed
        assert len(memory.search("heron").results) == 1
