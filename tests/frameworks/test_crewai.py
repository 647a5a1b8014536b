"""CrewAI's own agent with the tools of a real `scrubjay mcp`; the model is a recorded one on the loopback."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from scrubjay import Memory

if importlib.util.find_spec("crewai") is None:
    pytest.skip("crewai is not here (988 MB): `make frameworks`", allow_module_level=True)
# Only where it is there, which is in a run of its own: other tests have their traces.
os.environ |= {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "OTEL_SDK_DISABLED": "true",
    "CREWAI_TRACING_ENABLED": "false",
}

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # CrewAI's own
SEARCH = {"name": "memory_search", "arguments": {"query": "Who is on call?"}}
ADD = {"name": "memory_add", "arguments": {"content": "Ann swaps her week with Mara."}}


@pytest.fixture
def model() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A model that searches, then adds, then answers; its URL and what it was asked."""
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/chat/completions"
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            returned = sum(each["role"] == "tool" for each in asked[-1]["messages"])
            body = json.dumps(completion(asked[-1], returned)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Keep the test's output free of one line a request."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1", asked
    server.shutdown()
    server.server_close()
    thread.join()


def completion(asked: dict[str, Any], returned: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": "Mara."}
    if returned < 2:
        wanted = (SEARCH, ADD)[returned]
        # CrewAI puts the name of the server before that of the tool.
        name = next(n for n in (t["function"]["name"] for t in asked["tools"]) if n.endswith(wanted["name"]))
        function = {"name": name, "arguments": json.dumps(wanted["arguments"])}
        calls = [{"id": f"call_{returned}", "type": "function", "function": function}]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
    choice = {"index": 0, "message": message, "finish_reason": "stop" if returned == 2 else "tool_calls"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-5",
        "choices": [choice],
        "usage": usage,
    }


def test_an_agent_searches_adds_and_answers(
    example: Callable[[str], ModuleType],
    model: tuple[str, list[dict[str, Any]]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url, asked = model
    for name, value in {
        "HOME": str(tmp_path), "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": url,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    store = tmp_path / ".local" / "share" / "scrubjay" / "memory.db"
    with Memory.open(store) as memory:
        memory.add("Mara is on call in May.", date="2026-03-01")
    said = example("crewai_mcp").assistant().kickoff("Who is on call? I swap with her.")
    assert said.raw == "Mara."
    assert "Mara is on call in May." in next(
        m["content"] for m in asked[1]["messages"] if m["role"] == "tool"
    )
    with Memory.open(store) as memory:
        assert memory.search("Who swaps her week?").results[0].snippet == "Ann swaps her week with Mara."
