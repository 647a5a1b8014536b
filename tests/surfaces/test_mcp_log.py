"""What goes wrong in a tool call is told in the log besides to the client, without the client's words."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fork_server import SCRUBJAY
from scrubjay.doctor import agent_proof


def test_a_store_that_cannot_be_opened_is_told_in_the_log_and_wrong_use_is_no_error(
    environ: dict[str, str], tmp_path: Path
) -> None:
    server = [*SCRUBJAY, "mcp"]
    (tmp_path / "memory.db").write_bytes(b"heron " * 1000)
    for name, given in (
        ("memory_search", {"query": "heron"}),
        ("memory_search", {"query": "heron", "limit": 0}),
    ):
        with pytest.raises(agent_proof.CommandError):
            agent_proof.call_mcp_tool(server, name, given, {**os.environ, **environ}, 60)
    with pytest.raises(agent_proof.CommandError):
        agent_proof.call_mcp_tool(server, "heron", {}, {**os.environ, **environ}, 60)
    text = (tmp_path / "data" / "scrubjay" / "log").read_text()
    entries = [json.loads(line) for line in text.splitlines()]
    told = {(entry["level"], entry["event"], entry["error"]) for entry in entries if "error" in entry}
    assert ("error", "mcp memory_search", "StoreDamagedError") in told
    assert any(level == "info" and event == "mcp unknown" for level, event, _ in told)
    assert "heron" not in text
