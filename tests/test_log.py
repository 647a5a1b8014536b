"""The log: small, private, one line of JSON each, and never a reason to fail."""

from __future__ import annotations

import json
from pathlib import Path

from scrubjay.log import Log


def test_a_line_tells_time_level_event_and_length(tmp_path: Path) -> None:
    Log(str(tmp_path)).write("info", "hook prompt", 12.34, agent="codex")
    (line,) = (tmp_path / "log").read_text().splitlines()
    told = json.loads(line)
    assert (told["level"], told["event"], told["ms"], told["agent"]) == ("info", "hook prompt", 12.3, "codex")
    assert told["time"].endswith("Z")


def test_what_is_below_its_level_is_not_written(tmp_path: Path) -> None:
    Log(str(tmp_path), "error").write("warning", "x")
    assert not (tmp_path / "log").exists()


def test_it_is_never_larger_than_it_may_be_and_its_owners_alone(tmp_path: Path) -> None:
    log = Log(str(tmp_path), most_bytes=1_000)
    for number in range(100):
        log.write("info", f"event {number}")
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["log", "log.1"]
    assert all(path.stat().st_size <= 1_000 for path in tmp_path.iterdir())
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in tmp_path.iterdir())
    assert "event 99" in (tmp_path / "log").read_text()


def test_a_log_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    Log(str(tmp_path / "file" / "folder")).write("error", "x")
