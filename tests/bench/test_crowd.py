"""Four writers and eight readers at once, by every surface: for some seconds here, for minutes where it is measured."""

from __future__ import annotations

import json
from pathlib import Path

import crowd


def test_no_reader_and_no_writer_of_a_crowd_meets_an_error_and_nothing_is_lost(tmp_path: Path) -> None:
    out = tmp_path / "crowd.json"
    assert crowd.main(["--memories", "200", "--seconds", "1", "--json", str(out)]) == 0
    found = json.loads(out.read_text())
    assert (found["errors"], found["lost"], found["unsound"]) == (0, 0, [])
    assert all(found["wrote"][name] for name in ("command", "folder", "nights", "program"))
    assert all(found["busy"][name]["n"] for name in ("hook", "http", "mcp", "program"))
