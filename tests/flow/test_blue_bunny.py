"""The smoke test: a phrase in today's note, asked for by another process, after a night, and after it is forgotten."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

PHRASE = "blue bunny"
NIGHT = """
import sys
from datetime import datetime, timedelta
from scrubjay import Memory
with Memory.open() as memory:
    done = memory.consolidate(now=datetime.now() + timedelta(days=60), archive="notes")
    print(len(done.made), done.archived)
"""
OTHERS = (
    "We moved the standup to nine because Mara starts late on Mondays.",
    "The invoices of March are with Jonas, who will send them on Friday.",
    "Priya asked for a second monitor and got the one from the meeting room.",
    "The coffee machine was cleaned and the filter changed.",
    "The release went out at noon without an incident.",
    "Lunch was at the harbour, and the weather was fine for once.",
)


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "home"
    home.mkdir()
    own = {"HOME": str(home), "SCRUBJAY_STORE": str(tmp_path / "memory.db"), "SCRUBJAY_USER": "ann"}
    own |= {
        "SCRUBJAY_CACHE_DIR": str(tmp_path / "cache"),
        "XDG_CONFIG_HOME": str(home),
        "SCRUBJAY_CONFIG": "",
        "SCRUBJAY_SYNC_LOOK_SECONDS": "60",
    }
    return {**os.environ, **own}


def run(environ: dict[str, str], *args: str) -> str:
    done = subprocess.run(
        [sys.executable, *args], capture_output=True, text=True, env=environ, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def cli(environ: dict[str, str], *args: str) -> dict[str, object]:
    found = json.loads(run(environ, "-m", "scrubjay", *args, "--json"))
    assert isinstance(found, dict)
    return found


def results(environ: dict[str, str], question: str) -> list[dict[str, object]]:
    found = cli(environ, "search", question)["results"]
    assert isinstance(found, list)
    return found


def test_the_phrase_is_found_by_others_outlives_a_night_and_is_gone_when_forgotten(
    environ: dict[str, str], tmp_path: Path
) -> None:
    today = datetime.now(UTC).date()
    notes = tmp_path / "notes"
    notes.mkdir()
    note = notes / f"{today}.md"
    note.write_text(f"# {today}\n\n## Codes\n\nThe user's code phrase is {PHRASE}.\n")
    for day in range(1, 4):
        at = today - timedelta(days=day)
        (notes / f"{at}.md").write_text("\n".join((f"# {at}", "", *OTHERS)) + "\n")
    cli(environ, "sync", str(notes), "--embed-seconds", "0")

    (best, *_) = results(environ, "what is the user's code phrase?")
    assert PHRASE in str(best["snippet"])
    assert str(best["citation"]).startswith(f"{note}:")
    assert isinstance(best["score"], float)

    made, archived = map(int, run(environ, "-c", NIGHT).split())
    assert made > 0
    assert archived > 0
    after = results(environ, "what is the user's code phrase?")
    telling = [one for one in after if PHRASE in str(one["snippet"])]
    assert telling
    if telling[0]["origin"] == "derived":
        (whole,) = cli(environ, "get", str(telling[0]["id"]), "--evidence")["memories"]  # type: ignore[misc]
        assert any(PHRASE in one["content"] for one in whole["evidence"])

    holding = holders(tmp_path / "memory.db")
    assert holding
    forgotten = cli(environ, "forget", *holding, "--yes")
    assert any(str(note) in place for place in forgotten["still"])  # type: ignore[attr-defined]
    assert holders(tmp_path / "memory.db") == []
    for file in tmp_path.glob("memory.db*"):
        assert PHRASE.encode() not in file.read_bytes(), file.name
    done = cli(environ, "sync", str(notes), "--embed-seconds", "0")
    assert (done["forgotten"], done["added"]) == (1, 0)
    assert all(
        PHRASE not in str(one["snippet"]) for one in results(environ, "what is the user's code phrase?")
    )
    for file in tmp_path.glob("memory.db*"):
        assert PHRASE.encode() not in file.read_bytes(), file.name


def holders(store: Path) -> list[str]:
    """Ids of the memories in which the phrase stands, whatever their status."""
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        rows = connection.execute(
            "SELECT tier, hash FROM memory WHERE content LIKE ?", (f"%{PHRASE}%",)
        ).fetchall()
    from scrubjay.storage.rows import id_from_hash

    return [id_from_hash(tier, number) for tier, number in rows]
