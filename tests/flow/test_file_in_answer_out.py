"""One file in, one answer out: the same memory over the command line, Python and MCP."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay import Memory
from scrubjay.api import serializers
from scrubjay.config.loader import load_settings

NOTE = (
    "# Garden\n\n## Apples\n\nThe apple tree was planted in 2019.\n\n"
    "## Pears\n\nThe pear tree bears in even years.\n"
)
QUESTION = "when was the apple tree planted?"
Search = Callable[[dict[str, str]], dict[str, Any]]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SCRUBJAY_")}
    return kept | {
        "SCRUBJAY_STORE": str(tmp_path / "memory.db"),
        "SCRUBJAY_CACHE_DIR": str(tmp_path / "cache"),
        "XDG_CONFIG_HOME": str(tmp_path / "configuration"),
        "SCRUBJAY_MODELS_BACKGROUND": "never",
        "SCRUBJAY_SYNC_LOOK_SECONDS": "60",
    }


def over_cli(environ: dict[str, str]) -> dict[str, Any]:
    command = [sys.executable, "-m", "scrubjay", "search", "--json", QUESTION]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=True)
    return json.loads(done.stdout)


def over_python(environ: dict[str, str]) -> dict[str, Any]:
    with Memory.open(settings=load_settings(environ=environ), cold=True) as memory:
        return serializers.answer_fields(memory.search(QUESTION))


def over_mcp(environ: dict[str, str]) -> dict[str, Any]:
    from mcp.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    server = StdioServerParameters(command=sys.executable, args=["-m", "scrubjay", "mcp"], env=environ)

    async def ask() -> dict[str, Any]:
        with anyio.fail_after(60):
            async with Client(stdio_client(server)) as client:
                text = (await client.call_tool("memory_search", {"query": QUESTION})).content[0].text
                entries = re.findall(
                    r"^([0-9a-f]{6})(?: weak match| uncertain)?, (\S+)\n((?:>.*\n)+)", text, re.MULTILINE
                )
                return {
                    "results": [
                        {
                            "id": id,
                            "citation": place,
                            "snippet": re.sub("^> ?", "", quoted, flags=re.MULTILINE),
                        }
                        for id, place, quoted in entries
                    ]
                }

    return anyio.run(ask)


@pytest.mark.parametrize("search", [over_cli, over_python, over_mcp])
def test_a_file_that_goes_in_comes_out_with_its_lines(
    environ: dict[str, str], tmp_path: Path, search: Search
) -> None:
    file = tmp_path / "garden.md"
    file.write_text(NOTE)
    with Memory.open(settings=load_settings(environ=environ)) as memory:
        assert memory.sync(file).added == 2
    best = search(environ)["results"][0]
    path, _, lines = best["citation"].rpartition(":")
    assert path in (str(file), file.name)
    first, last = map(int, lines.split("-"))
    assert "planted in 2019" in "\n".join(NOTE.splitlines()[first - 1 : last])
    assert best["snippet"].strip() in NOTE
    assert "pear" not in best["snippet"]


def test_every_surface_gives_the_same_results(environ: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "garden.md"
    file.write_text(NOTE)
    with Memory.open(settings=load_settings(environ=environ)) as memory:
        memory.sync(file)
    answers = [each(environ) for each in (over_cli, over_python)]
    assert answers[0]["results"] == answers[1]["results"]
    # A server that stays may ask the larger model too; it has nothing embedded yet, so the order is the same.
    assert [each["id"] for each in over_mcp(environ)["results"]] == [
        each["id"].partition("_")[2][:6] for each in answers[0]["results"]
    ]


def test_every_surface_marks_a_result_whose_file_is_newer_and_was_too_large_to_be_read(
    environ: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "garden.md"
    file.write_text(NOTE)
    with Memory.open(settings=load_settings(environ=environ)) as memory:
        memory.sync(file)
        file.write_text(NOTE.replace("2019", "2021") + "Filler.\n\n" * 200_000)
        answer = memory.search(QUESTION)
        assert answer.results[0].outdated == "changed"
        shown = serializers.results_text(serializers.compact_answer(answer))
    assert over_cli(environ)["results"][0]["outdated"] == "changed"
    command = [sys.executable, "-m", "scrubjay", "search", QUESTION]
    plain = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=True)
    assert "file changed since, run `scrubjay sync`" in plain.stdout
    assert "file changed since" in shown
