"""A file or a turn that names no date has none: when it was last written is nobody's answer to "when was that?"."""

from __future__ import annotations

import json
import os
from pathlib import Path

from scrubjay import Memory

WRITTEN = 1_700_000_000
"""Seconds of 2023-11-14, at which every file here was last written."""


def synced(tmp_path: Path, memory: Memory) -> Memory:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "plain.md").write_text("# Ferry\n\nThe ferry to Harrow leaves from pier nine.\n")
    (notes / "front.md").write_text(
        "---\ndate: 2026-03-01\n---\n# Winch\n\nThe winch of the boat was oiled.\n"
    )
    for file in notes.iterdir():
        os.utime(file, (WRITTEN, WRITTEN))
    memory.sync(notes)
    return memory


def test_a_passage_shows_the_date_of_its_file_or_none(tmp_path: Path) -> None:
    with Memory.open("memory://") as memory:
        synced(tmp_path, memory)
        ferry, winch = (memory.search(query).results[0] for query in ("ferry Harrow", "winch boat"))
        added = memory.add("The anchor weighs nine kilograms.")
        assert (ferry.date, winch.date) == (None, "2026-03-01")
        assert memory.search("anchor kilograms").results[0].id == added.id
        assert memory.search("anchor kilograms").results[0].date
        assert memory.context("where does the ferry to Harrow leave?").text.count("2023") == 0


def test_no_surface_shows_when_a_file_was_written(tmp_path: Path, cli) -> None:
    store = tmp_path / "store.db"
    with Memory.open(store) as memory:
        synced(tmp_path, memory)
        ferry = memory.search("ferry Harrow").results[0].id
    said = [
        cli("--store", str(store), *words).out
        for words in (
            ("search", "ferry Harrow"), ("get", ferry), ("context", "where does the ferry to Harrow leave?"),
            ("thread", "ferry Harrow"), ("search", "--json", "ferry Harrow"), ("get", "--json", ferry),
        )
    ]  # fmt: skip
    assert all("pier nine" in text for text in said)
    assert all("2023-11" not in text for text in said[:4])
    assert json.loads(said[4])["results"][0]["date"] is None
    assert json.loads(said[5])["memories"][0]["date"] is None


def test_a_turn_without_a_time_has_no_date(tmp_path: Path, cli) -> None:
    talk = tmp_path / "talk.jsonl"
    lines = [
        {"role": "user", "content": "Which pier does the ferry to Harrow leave from?", "session": "s"},
        {"role": "assistant", "content": "The ferry to Harrow leaves from pier nine.", "session": "s"},
        {
            "role": "user",
            "content": "Thanks, I will oil the winch then.",
            "session": "s",
            "time": "2026-03-01T10:00:00Z",
        },
    ]
    talk.write_text("".join(json.dumps(line) + "\n" for line in lines))
    os.utime(talk, (WRITTEN, WRITTEN))
    cli("sync", tmp_path)
    words = ("search", "ferry Harrow pier nine", "--neighbours", "2", "--weak")
    assert "2023-11" not in (said := cli(*words).out)
    assert "assistant" in said
    found = cli(*words, "--json").json["results"]
    for one in found:
        dates = {one["date"], *(turn["date"] for turn in one["turns"])}
        assert dates == {None, "2026-03-01T10:00:00+00:00"}
    for command in ("thread", "context"):
        assert "2023-11" not in cli(command, "which pier does the ferry to Harrow leave from?").out
