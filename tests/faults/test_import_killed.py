"""An import that dies at any moment leaves whole batches, and the same import again makes of it what there was."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

from scrubjay import Memory, NewMemory
from scrubjay.embeddings.hash_embedder import HashEmbedder
from store_contract.sqlite_check import disagreements

IMPORTER = Path(__file__).with_name("importer.py")
ROUNDS = 2
"""Rounds unless `--rounds` asks for more."""


def opened(path: Path) -> Memory:
    return Memory.open(path, user="ann", embedders=[HashEmbedder(16)])


def lived(path: Path, folder: Path) -> None:
    """Make a store of long and short documents, additions, links and events."""
    folder.mkdir()
    for number in range(12):
        parts = (
            f"# Part {n}\n\nThe mooring {n} of harbour {number} costs {n + 3} euros.\n" for n in range(14)
        )
        (folder / f"{number}.md").write_text("\n".join(parts), "utf-8")
    with opened(path) as memory:
        memory.sync(folder)
        added = memory.add_many(NewMemory(f"The kayak {n} leaks.", tags=["boat"]) for n in range(40))
        for one, other in pairwise(added):
            memory.link(one.id, other.id)
        memory.archive([one.id for one in added[:20]])


def killed(store: Path, file: Path, seconds: float) -> bool:
    """Import in another process and kill it after some time; return whether it had ended by then."""
    command = [sys.executable, "-W", "error", str(IMPORTER), str(store), str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
        assert process.stdout is not None
        return process.stdout.read() == "done\n"


def rows(path: Path, file: Path) -> list[str]:
    with opened(path) as memory:
        memory.export(file, overwrite=True)
    return sorted(file.read_text("utf-8").splitlines()[1:-1])


def test_an_import_killed_at_any_moment_goes_on_when_it_is_run_again(
    tmp_path: Path, rounds: int | None
) -> None:
    lived(tmp_path / "first.db", tmp_path / "notes")
    file = tmp_path / "x.jsonl"
    with opened(tmp_path / "first.db") as memory:
        memory.export(file)
    started = time.monotonic()
    assert killed(tmp_path / "whole.db", file, 120)
    took = time.monotonic() - started
    wanted = rows(tmp_path / "whole.db", tmp_path / "wanted.jsonl")
    chance = random.Random(9)
    for number in range(rounds or ROUNDS):
        path = tmp_path / f"{number}.db"
        for _ in range(3):
            if killed(path, file, took * chance.uniform(0.3, 0.9)):
                break
            assert disagreements(path) == [] if path.exists() and path.stat().st_size else True
        with opened(path) as memory:
            memory.import_(file)
            again = memory.import_(file)
            assert (again.added, again.edges, again.events, again.documents) == (0, 0, 0, 0)
            assert memory.sync().unchanged == 12 * 14
        found = rows(path, tmp_path / "found.jsonl")
        assert disagreements(path) == []
        assert len(found) == len(wanted), f"round {number}"


def test_lines_of_another_tool_killed_at_any_moment_are_there_once_in_the_end(
    tmp_path: Path, rounds: int | None
) -> None:
    file = tmp_path / "own.jsonl"
    with file.open("w", encoding="utf-8") as stream:
        for number in range(120):
            row = {"content": f"The mooring {number} costs {number + 3} euros.", "name": f"n{number}"}
            stream.write(
                json.dumps({**row, "links": [f"n{(number + 1) % 120}"], "concepts": ["harbour dues"]}) + "\n"
            )
    started = time.monotonic()
    assert killed(tmp_path / "whole.db", file, 120)
    took = time.monotonic() - started
    chance = random.Random(10)
    for number in range(rounds or ROUNDS):
        path = tmp_path / f"{number}.db"
        killed(path, file, took * chance.uniform(0.4, 0.95))
        with opened(path) as memory:
            memory.import_(file)
            again = memory.import_(file)
            assert (again.added, again.existed, again.edges, again.concepts) == (0, 120, 0, 0)
            assert memory.status().memories == 120
            assert memory.concepts.show("harbour dues").concept.memories == 120
        assert disagreements(path) == []
