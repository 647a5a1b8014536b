"""What is slow, and what a sync could not read, is told in the log; nobody's words, unless the settings want them."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from scrubjay import Memory
from scrubjay.config.loader import load_settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import SourceError
from scrubjay.log import Log


def opened(folder: Path, **settings: Any) -> Memory:
    given = {f"log.{name}": value for name, value in settings.items()}
    found = load_settings(environ={}, overrides={"store": "memory://", "user": "ann", **given})
    log = found.log.open(str(folder))
    return Memory.open(settings=found, embedders=[HashEmbedder(64)], log=log)


def told(folder: Path) -> list[dict[str, Any]]:
    file = folder / "log"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.mark.parametrize("kind", ["search", "thread", "context"])
def test_a_slow_question_is_told_of_with_where_its_time_went_and_without_its_words(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path, slow_ms=1) as memory:
        memory.add("The heron stands in the shallow water.")
        slowed(memory, monkeypatch)
        getattr(memory, kind)("Where does the heron stand?")
    (entry,) = told(tmp_path)
    assert (entry["level"], entry["event"]) == ("warning", f"slow {kind}")
    assert entry["ms"] >= 1
    assert {"files_ms", "models_ms", "rank_ms"} <= set(entry)
    assert (entry["memories"], entry["results"], entry["words"]) == (1, 1, 5)
    assert "heron" not in (tmp_path / "log").read_text()


def slowed(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the clock of questions run a second at each look."""
    at = iter(range(1_000))
    monkeypatch.setattr("scrubjay.services.search.time.perf_counter", lambda: float(next(at)))


def test_a_question_that_was_fast_enough_is_not_told_of(tmp_path: Path) -> None:
    with opened(tmp_path, slow_ms=3_600_000) as memory:
        memory.add("The heron stands in the shallow water.")
        memory.search("heron")
    assert told(tmp_path) == []


def test_every_question_is_told_of_where_none_is_too_fast(tmp_path: Path) -> None:
    with opened(tmp_path, slow_ms=0) as memory:
        memory.add("The heron stands in the shallow water.")
        for _ in range(3):
            memory.search("heron")
    assert [entry["event"] for entry in told(tmp_path)] == ["slow search"] * 3


def test_the_words_of_a_slow_question_are_told_where_the_settings_want_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path, slow_ms=1, queries=True) as memory:
        slowed(memory, monkeypatch)
        memory.search("Where does the heron stand?")
    assert told(tmp_path)[0]["query"] == "Where does the heron stand?"


def test_what_a_sync_cannot_read_is_counted_and_not_named(tmp_path: Path) -> None:
    notes = tmp_path / "heron"
    notes.mkdir()
    (notes / "good.md").write_text("It stands in the shallow water.")
    with opened(tmp_path) as memory:
        memory.sync(notes)
        assert told(tmp_path) == []
        shutil.rmtree(notes)
        assert len(memory.sync().problems) == 1
    (entry,) = told(tmp_path)
    assert (entry["event"], entry["problems"], entry["files"]) == ("sync problems", 1, 0)
    assert "heron" not in (tmp_path / "log").read_text()


def test_what_a_sync_decides_about_trust_is_counted_and_not_named(tmp_path: Path) -> None:
    folder = tmp_path / "heron" / "site-packages"
    folder.mkdir(parents=True)
    (folder / "README.md").write_text("It stands in the shallow water.")
    with opened(tmp_path) as memory:
        memory.sync(folder)
        memory.sync()
    (entry,) = told(tmp_path)
    assert (entry["event"], entry["notices"]) == ("sync notices", 1)
    assert "heron" not in (tmp_path / "log").read_text()


def test_without_a_log_nothing_is_told_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    found = load_settings(environ={}, overrides={"store": "memory://", "user": "ann", "log.slow_ms": 1})
    with Memory.open(settings=found, embedders=[HashEmbedder(64)]) as memory:
        slowed(memory, monkeypatch)
        memory.search("heron")
    assert list(tmp_path.rglob("*")) == []


def test_a_log_that_cannot_be_written_keeps_nobody_from_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    with opened(tmp_path / "file", slow_ms=1) as memory:
        memory.add("The heron stands in the shallow water.")
        slowed(memory, monkeypatch)
        assert memory.search("heron").results


def test_a_log_stays_within_its_size_and_is_its_owners_alone(tmp_path: Path) -> None:
    log = Log(str(tmp_path), most_bytes=2_000)
    for at in range(100):
        log.write("info", "hook prompt", 1.5, memories=at)
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["log", "log.1"]
    assert all(path.stat().st_size <= 2_000 for path in tmp_path.iterdir())
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
    assert json.loads((tmp_path / "log").read_text().splitlines()[-1])["memories"] == 99


def test_a_watch_that_ends_by_itself_is_told(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        notes = tmp_path / "notes"
        notes.mkdir()
        memory.sync(notes)

        def lost(_: object) -> None:
            raise SourceError("the watch is lost")

        with pytest.raises(SourceError):
            memory.watch(stop=threading.Event(), report=lost)
    assert [(entry["level"], entry["event"], entry["error"]) for entry in told(tmp_path)] == [
        ("error", "watch ended", "SourceError")
    ]
