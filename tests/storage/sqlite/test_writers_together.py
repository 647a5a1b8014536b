"""Many writers that find the same things at once leave one of each."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

from scrubjay.models.graph import Edge
from scrubjay.models.records import Scope
from scrubjay.storage.changes import PutCategory, PutConcept, PutEdges, PutMemory
from scrubjay.storage.sqlite.store import SQLiteStore
from store_contract.samples import (
    sample_category,
    sample_category_id,
    sample_concept,
    sample_concept_id,
    sample_id,
    sample_memory,
    write_changes,
)
from store_contract.sqlite_check import disagreements

ANN = Scope("t", "ann")
MINE = "user:ann"
NAMES = tuple(f"branch {number}" for number in range(6))
THREADS = 4
PROCESSES = 2


def weave(path: Path) -> None:
    """Put the same concepts, categories and edges as every other writer, one write each."""
    with closing(SQLiteStore(path, b"k")) as store:
        for name in NAMES:
            write_changes(
                store, ANN, PutCategory(sample_category(name, MINE)), PutConcept(sample_concept(name, MINE))
            )
            edges = (
                Edge(sample_id("jay"), "belongs", sample_category_id(name, MINE), MINE),
                Edge(sample_id("jay"), "references", sample_concept_id(name), MINE),
            )
            write_changes(store, ANN, PutEdges(edges, (sample_id("jay"),), ("links",)))


def test_the_same_categories_put_by_eight_at_once_are_there_once(tmp_path: Path) -> None:
    """Two processes of four threads, each with a store of its own, as eight agents would have."""
    path = tmp_path / "memories.db"
    with closing(SQLiteStore(path, b"k")) as store:
        write_changes(store, ANN, PutMemory(sample_memory("jay", MINE, name="jay")))
    command = [sys.executable, __file__, str(path)]
    started = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(PROCESSES)]
    for process in started:
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, "")
    with closing(SQLiteStore(path)) as store, store.reader(ANN) as reader:
        assert reader.categories() == sorted(
            (sample_category(name, MINE) for name in NAMES), key=lambda one: one.id
        )
        assert len(reader.concepts()) == len(NAMES)
        assert reader.concept_mark() == len(NAMES) * PROCESSES * THREADS
        jay = sample_id("jay")
        assert len(reader.edges([jay], ["belongs", "references"])) == 2 * len(NAMES)
        assert reader.degrees("belongs") == {sample_category_id(name, MINE): 1 for name in NAMES}
    assert disagreements(path) == []


if __name__ == "__main__":
    writers = [threading.Thread(target=weave, args=(Path(sys.argv[1]),)) for _ in range(THREADS)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
