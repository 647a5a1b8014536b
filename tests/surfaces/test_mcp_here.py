"""The project an agent works in: preferred in its searches where the server knows it, without an argument."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mcp.client import Client
from mcp_clients import call, over_http, over_stdio, running, talk

from scrubjay import Memory
from scrubjay.api.tools import Caller, find_tool
from scrubjay.api.tools import call_tool as run

TEXT = "The deploy of the {} service waits for a green build."


def folders(tmp_path: Path, cli: Any) -> tuple[Path, Path]:
    """Two project folders, of each of which one memory says the like."""
    made = []
    for name in ("heron", "otter"):
        folder = tmp_path / "code" / name
        folder.mkdir(parents=True)
        (folder / "main.py").write_text("pass\n")
        cli("add", TEXT.format(name), "--project", str(folder))
        made.append(folder)
    return made[0], made[1]


def first(found: dict[str, Any]) -> str:
    return str(found["results"][0]["snippet"]).split()[4]


def test_over_stdio_the_project_of_the_servers_folder_is_preferred(cli, environ, tmp_path: Path) -> None:
    for folder in folders(tmp_path, cli):

        async def use(client: Client, folder: Path = folder) -> None:
            found = await call(client, "memory_search", query="what does the deploy wait for?")
            assert first(found) == folder.name
            assert len(found["results"]) == 2

        talk(over_stdio(environ, folder=folder), use)


def test_a_folder_that_is_no_project_prefers_none_and_is_no_error(cli, environ, tmp_path: Path) -> None:
    folders(tmp_path, cli)
    answers = []

    async def use(client: Client) -> None:
        answers.append(await call(client, "memory_search", query="what does the deploy wait for?"))

    talk(over_stdio(environ, folder=Path("/")), use)
    with running(environ) as url:
        talk(over_http(url), use)
    assert first(answers[0]) == first(answers[1])
    assert len(answers[0]["results"]) == 2


def test_only_a_search_is_told_where_it_is_called_from(tmp_path: Path) -> None:
    folder = tmp_path / "heron"
    folder.mkdir()
    caller = Caller("claude", here=str(folder))
    with Memory.open("memory://") as memory:
        other = run(memory, find_tool("memory_add"), {"content": TEXT.format("otter")}, caller)["id"]
        own = memory.add(TEXT.format("heron"), project=str(folder)).id
        for given, best in ((caller, own), (Caller("claude"), None)):
            found = run(
                memory, find_tool("memory_search"), {"query": "what does the deploy wait for?"}, given
            )
            assert {one["id"] for one in found["results"]} == {own, other}
            assert best is None or found["results"][0]["id"] == best
        assert run(memory, find_tool("memory_get"), {"ids": [own]}, caller)["memories"][0]["id"] == own
