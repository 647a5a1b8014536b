"""A night that dies at any moment leaves whole groups, and the next one goes on; two at once are one."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from night import opened
from old_talks import NOW, turns

from scrubjay import Memory
from scrubjay.consolidation.runner import GROUP_BATCH
from store_contract.sqlite_check import disagreements

NIGHT = Path(__file__).with_name("night.py")
SESSIONS = GROUP_BATCH + 8
TURNS = 4
ROUNDS = 2


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of old conversations."""
    found = tmp_path / "memory.db"
    with opened(found) as memory:
        memory.add_many(turns(SESSIONS, TURNS))
    return found


def sessions(memory: Memory) -> dict[str, tuple[list[str], list[str]]]:
    """Statuses of each session's turns, and its digests."""
    found: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    with memory.workspace.store.reader(memory.workspace.scope) as reader:
        for record in reader.get(reader.ids_with_prefix("", 100_000)).values():
            if record.tier == "observation":
                found[str(record.session)][0].append(record.status)
            elif record.tier == "crystal":
                found[str(record.session)][1].append(record.id)
    return dict(found)


def texts(memory: Memory) -> list[tuple[str, str, str]]:
    """Everything that is held, promoted memories among it, and whether it is active."""
    with memory.workspace.store.reader(memory.workspace.scope) as reader:
        held = reader.get(reader.ids_with_prefix("", 100_000)).values()
    return sorted((record.id, record.content, record.status) for record in held)


def start(mode: str, path: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error", str(NIGHT), mode, str(path)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def killed(process: subprocess.Popen[str], seconds: float | None) -> None:
    """Kill a process after some time, or once its first transaction is committed."""
    assert process.stdout is not None
    if seconds is None:
        assert process.stdout.readline() == f"{GROUP_BATCH}\n"
        process.kill()
        return
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()


@pytest.mark.parametrize("archive", [None, "transcripts"])
def test_a_night_killed_at_any_moment_leaves_whole_groups_and_the_next_goes_on(
    path: Path, rounds: int | None, archive: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No session is half archived, none has two digests, and in the end all is as if nothing had happened."""
    if archive is not None:
        monkeypatch.setenv("NIGHT_ARCHIVE", archive)
    told_of = "active" if archive is None else "archived"
    whole = path.with_name("whole.db")
    shutil.copy(path, whole)
    with opened(whole) as memory:
        memory.consolidate(now=NOW, archive=archive)
        wanted, whole_texts = sessions(memory), texts(memory)
    chance = random.Random(5)
    told = []
    for number in range(rounds or ROUNDS):
        with start("run" if number else "hold", path) as process:
            killed(process, 0.2 + chance.random() * 0.6 if number else None)
        assert disagreements(path) == []
        with opened(path) as memory:
            found = sessions(memory)
        for statuses, digests in found.values():
            assert (set(statuses), len(digests)) in (({"active"}, 0), ({told_of}, 1))
        told.append(sum(len(digests) for _, digests in found.values()))
    assert told == sorted(told)
    assert told[0] == GROUP_BATCH
    with opened(path) as memory:
        memory.consolidate(now=NOW, archive=archive)
        assert sessions(memory) == wanted
        assert texts(memory) == whole_texts
        assert memory.consolidate(now=NOW, archive=archive).run is None
        with memory.workspace.store.reader(memory.workspace.scope) as reader:
            assert {row.state for row in reader.runs(100)} == {"done"}


def test_a_killed_run_is_told_of_and_can_be_undone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIGHT_ARCHIVE", "transcripts")
    with start("hold", path) as process:
        killed(process, None)
    with opened(path) as memory:
        done = memory.consolidate(now=NOW, archive="transcripts")
        (run,) = done.interrupted
        assert len(done.made) == SESSIONS - GROUP_BATCH
        with memory.workspace.store.reader(memory.workspace.scope) as reader:
            (row,) = [row for row in reader.runs(9) if row.id == run]
        assert row.state == "done"
        assert dict(row.counts) == {"digests": GROUP_BATCH, "archived": GROUP_BATCH * TURNS, "interrupted": 1}
        undone = memory.undo(run)
        assert (undone.removed, undone.restored) == (GROUP_BATCH, GROUP_BATCH * TURNS)
        assert memory.consolidate(now=NOW, archive="transcripts").archived == GROUP_BATCH * TURNS


def test_of_two_nights_at_once_one_runs(path: Path) -> None:
    with start("hold", path) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == f"{GROUP_BATCH}\n"
        with start("run", path) as second:
            assert second.communicate()[0] == "busy 0\n"
            assert second.returncode == 0
        out, _ = first.communicate("\n\n\n\n")
    assert out.split("\n")[-2] == "done 0"
    with opened(path) as memory:
        assert {len(digests) for _, digests in sessions(memory).values()} == {1}
        assert memory.consolidate(now=NOW).run is None
