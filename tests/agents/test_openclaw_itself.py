"""OpenClaw itself, with a model that is a few lines of this file: one turn from question to answer."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from installing import install, uninstall

from scrubjay.agents.base import Home

OPENCLAW = shlex.split(os.environ.get("AGENT_OPENCLAW", ""))
pytestmark = pytest.mark.skipif(not OPENCLAW, reason="AGENT_OPENCLAW names no openclaw")

CONFIG = """{
  // mine
  tools: { toolSearch: false },
  agents: { defaults: { model: { primary: "few/lines" } } },
  models: { mode: "merge", providers: { few: {
    baseUrl: "http://127.0.0.1:%d/v1", apiKey: "none", api: "openai-completions",
    models: [{ id: "lines", name: "Lines", reasoning: false, input: ["text"], contextWindow: 196608, maxTokens: 8192,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } }] } } },
}
"""
SCRUBJAY = """#!{python}
import json, os, sys
if sys.argv[1] == "hook":
    said = json.load(sys.stdin)
    with open(os.path.join({folder!r}, "asked.jsonl"), "a") as file:
        file.write(json.dumps([sys.argv[3], said]) + chr(10))
    if sys.argv[3] == "prompt":
        print(json.dumps({{"context": "<m>tea</m>", "message": "1 memory"}}))
else:
    os.environ["SCRUBJAY_STORE"] = os.path.join({folder!r}, "memory.db")
    from scrubjay.cli.main import main
    sys.exit(main())
"""


class Model(BaseHTTPRequestHandler):
    """Calls memory_search once, then answers with what it got."""

    seen: list[dict[str, Any]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.seen.append(body)
        results = [message for message in body["messages"] if message["role"] == "tool"]
        if results:
            delta: dict[str, Any] = {"role": "assistant", "content": "It is port 5544."}
        else:
            call = {"name": "memory_search", "arguments": json.dumps({"query": "staging"})}
            calls = [{"index": 0, "id": "c1", "type": "function", "function": call}]
            delta = {"role": "assistant", "tool_calls": calls}
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        ends = "stop" if results else "tool_calls"
        for choice in ({"delta": delta, "finish_reason": None}, {"delta": {}, "finish_reason": ends}):
            chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "lines"}
            self.wfile.write(
                b"data: %s\n\n" % json.dumps({**chunk, "choices": [{"index": 0, **choice}]}).encode()
            )
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def model() -> Iterator[ThreadingHTTPServer]:
    Model.seen = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def openclaw(home: Home, *arguments: str) -> str:
    done = subprocess.run(
        [*OPENCLAW, *arguments],
        env={"PATH": os.environ["PATH"], "HOME": str(home.root)},
        cwd=home.root,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_turn_recalls_searches_and_is_taken_in(
    model: ThreadingHTTPServer, home: Home, tmp_path: Path
) -> None:
    path = tmp_path / "scrubjay"
    path.write_text(SCRUBJAY.format(python=sys.executable, folder=str(tmp_path)))
    path.chmod(0o755)
    subprocess.run([str(path), "add", "Staging listens on port 5544."], check=True, capture_output=True)
    config = home.root / ".openclaw" / "openclaw.json"
    config.parent.mkdir()
    config.write_text(CONFIG % model.server_address[1])
    before = config.read_bytes()
    home = Home(home.root, home.env, (str(path),), home.data)
    install("openclaw", home)
    openclaw(home, "config", "validate")
    shown = json.loads(openclaw(home, "plugins", "inspect", "scrubjay", "--runtime", "--json"))["plugin"]
    assert (shown["status"], shown["activationReason"]) == ("loaded", "selected memory slot")
    said = openclaw(home, "agent", "--local", "--agent", "main", "--message", "What port does staging use?")
    assert "It is port 5544." in said
    for body in Model.seen:
        names = [tool["function"]["name"] for tool in body["tools"]]
        assert [name for name in names if name.startswith("memory_")] == sorted(shown["toolNames"])
        assert "intent" not in names
    system, *_, asked = Model.seen[0]["messages"][:2]
    assert "## Memory (scrubjay)" in system["content"]
    assert "<m>tea</m>" in json.dumps(asked)
    (result,) = (message for message in Model.seen[-1]["messages"] if message["role"] == "tool")
    assert "Staging listens on port 5544." in result["content"]
    rows = [json.loads(row) for row in (tmp_path / "asked.jsonl").read_text().splitlines()]
    assert {event for event, _ in rows} >= {"session-start", "prompt", "stop"}
    (log,) = (Path(row["transcript"]) for event, row in rows if event == "stop")
    spoken = [json.loads(line).get("message", {}) for line in log.read_text().splitlines()]
    assert [message.get("role") for message in spoken] == [None, "user", "assistant"]
    openclaw(home, "agent", "--local", "--agent", "main", "--message", "And production?")
    # What was written already comes back from OpenClaw's database, the prompt with another time.
    assert len(log.read_text().splitlines()) == len(spoken) + 2
    uninstall("openclaw", home)
    assert config.read_bytes() == before
    assert not (home.root / ".openclaw" / "scrubjay").exists()
