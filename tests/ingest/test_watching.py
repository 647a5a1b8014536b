"""A watch syncs when files change, whatever their pattern, and says when it was behind."""

from __future__ import annotations

import queue
import shutil
import threading
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.config.loader import load_settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.models.reports import SyncReport


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    settings = load_settings(
        environ={}, overrides={"sync.debounce": "0.05", "cache_dir": str(tmp_path / "cache")}
    )
    return Memory.open(tmp_path / "m.db", user="ann", settings=settings, embedders=[HashEmbedder()])


def watched(memory: Memory) -> tuple[queue.Queue[SyncReport], threading.Event, threading.Thread]:
    told: queue.Queue[SyncReport] = queue.Queue()
    stop = threading.Event()
    thread = threading.Thread(target=lambda: memory.watch(stop=stop, report=told.put))
    thread.start()
    return told, stop, thread


def until(told: queue.Queue[SyncReport], wanted: str) -> SyncReport:
    """Wait for a summary; a folder that is moved away and back may be told as missing first."""
    while True:
        summary = told.get(timeout=60)
        if wanted == "added" and summary.added:
            return summary
        behind = any("was behind" in problem.message for problem in summary.problems)
        if wanted == "behind" and behind and len(summary.problems) == 1:
            return summary


def test_a_file_of_a_sources_own_pattern_is_taken_in_when_it_appears(memory: Memory, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.rst").write_text("The kettle is blue.")
    memory.sync(notes, include=["*.rst"])
    told, stop, thread = watched(memory)
    try:
        first = told.get(timeout=60)
        assert (first.unchanged, first.problems) == (1, ())
        (notes / "b.rst").write_text("The teapot is green.")
        assert until(told, "added").added == 1
    finally:
        stop.set()
        thread.join(60)
    assert memory.search("teapot").results[0].title == "b.rst"


def test_a_watch_that_lost_its_root_says_that_it_was_behind(memory: Memory, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("The kettle is blue.")
    memory.sync(notes)
    told, stop, thread = watched(memory)
    try:
        told.get(timeout=60)
        shutil.move(notes, tmp_path / "away")
        shutil.move(tmp_path / "away", notes)
        assert until(told, "behind").passages == 1
    finally:
        stop.set()
        thread.join(60)
