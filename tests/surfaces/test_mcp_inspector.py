"""The MCP Inspector's command line, on the TypeScript SDK that most clients use, against our server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp_clients import COMMAND, EIGHT, parsed, running, short

from scrubjay.api.auth import Principal, TokenStore, tokens_path

ROOT = Path(__file__).parents[2]
# It looks for its own package.json from where it is started.
HOME = ROOT / "build/inspector/node_modules/@modelcontextprotocol/inspector-cli/build"
Inspect = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def inspector() -> list[str]:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    done = subprocess.run(["make", "-s", "inspector"], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return ["node", str(HOME / "cli.js"), "--cli"]


@pytest.fixture(params=["stdio", "http"])
def inspect(request: pytest.FixtureRequest, inspector: list[str], environ: dict[str, str]) -> Any:
    def by(server: list[str]) -> Inspect:
        def run(*options: str) -> subprocess.CompletedProcess[str]:
            command = [*inspector, *server, *options]
            env = {**os.environ, **environ}
            return subprocess.run(command, capture_output=True, text=True, timeout=120, env=env, cwd=HOME)

        return run

    if request.param == "stdio":
        yield by(COMMAND)
    else:
        token = TokenStore(tokens_path()).create("i", Principal("default", "ann"), None)
        with running(environ, "--require-token") as url:
            yield by([url, "--transport", "http", "--header", f"Authorization: Bearer {token}"])


def said(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_inspector_lists_calls_and_reads(inspect: Inspect) -> None:
    listed = said(inspect("--method", "tools/list"))["tools"]
    assert [tool["name"] for tool in listed] == list(EIGHT)
    text = "content=The heron eats fish."
    added = said(inspect("--method", "tools/call", "--tool-name", "memory_add", "--tool-arg", text))
    number = added["structuredContent"]["id"]
    wish = ["--method", "tools/call", "--tool-name", "memory_search", "--tool-arg", "query=heron"]
    found = parsed(said(inspect(*wish, "limit=3"))["content"][0]["text"])["results"]
    assert [each["id"] for each in found] == [short(number)]
    read = said(inspect("--method", "resources/read", "--uri", f"scrubjay://memory/{number}"))
    assert "The heron eats fish." in read["contents"][0]["text"]
    assert said(inspect("--method", "prompts/list"))["prompts"][0]["name"] == "recall"


@pytest.mark.parametrize("inspect", ["http"], indirect=True)
def test_the_inspector_shows_an_error_of_a_tool_as_we_say_it(inspect: Inspect) -> None:
    # The SDK holds an error's fields against the output schema too: a schema that asks for more would hide the error.
    wish = ["--method", "tools/call", "--tool-name", "memory_search", "--tool-arg", "query=x", "since=soon"]
    failed = said(inspect(*wish))
    assert failed["isError"] is True
    assert "hint: " in failed["content"][0]["text"]
    assert failed["structuredContent"]["error"]["type"] == "InputError"
