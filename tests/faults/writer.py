"""A process that writes to a store until it is told to stop or killed; it tells each step it committed.

Usage: writer.py live PATH SEED STEPS | rebuild PATH | half PATH | add PATH NAME THREADS COUNT
"""

from __future__ import annotations

import sys
import threading
from dataclasses import replace
from pathlib import Path

from scrubjay.models.records import Scope
from scrubjay.storage.changes import PutDocument, PutMemory
from scrubjay.storage.sqlite.store import SQLiteStore
from scrubjay.text.tokenizer import index_terms
from store_contract.history import StoreHistory
from store_contract.samples import sample_memory

TENANT = "faults"


def tell(what: object) -> None:
    print(what, flush=True)


def live(path: Path, seed: int, steps: int) -> None:
    """Live the history of a seed."""
    store = SQLiteStore(path, b"history")
    history = StoreHistory(seed, TENANT)
    tell("ready")
    for number, (scope, changes) in enumerate(history.steps(steps), 1):
        store.write(scope, changes)
        tell(number)


def rebuild(path: Path) -> None:
    """Rebuild everything as it is, over and over."""
    store = SQLiteStore(path)
    tell("ready")
    for number in range(1, 1_000_000):
        with store.rebuild(Scope(TENANT, "ann")) as generation:
            for document in generation.documents():
                kept = [
                    replace(m, terms=index_terms(m.record.content)) for m in generation.passages(document)
                ]
                generation.write([PutDocument(document, tuple(kept))])
            for added in generation.additions():
                generation.write([PutMemory(replace(added, terms=index_terms(added.record.content)))])
        tell(number)


def half(path: Path) -> None:
    """Rebuild half of what is there, and wait."""
    store = SQLiteStore(path)
    with store.rebuild(Scope(TENANT, "ann")) as generation:
        added = generation.additions()
        generation.write([PutMemory(one) for one in added[: len(added) // 2]])
        tell("ready")
        sys.stdin.read()


def add(path: Path, name: str, threads: int, count: int) -> None:
    """Add memories from several threads at once, two in each write."""
    store = SQLiteStore(path)
    scope = Scope(TENANT, "ann")
    gate = threading.Barrier(threads)

    def work(thread: int) -> None:
        gate.wait()
        for number in range(count):
            texts = (f"{name} {thread} {number} left", f"{name} {thread} {number} right")
            store.write(scope, [PutMemory(sample_memory(text, "user:ann")) for text in texts])

    workers = [threading.Thread(target=work, args=(thread,)) for thread in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    store.close()
    tell("done")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["live", path, seed, steps]:
            live(Path(path), int(seed), int(steps))
        case ["rebuild", path]:
            rebuild(Path(path))
        case ["half", path]:
            half(Path(path))
        case ["add", path, name, threads, count]:
            add(Path(path), name, int(threads), int(count))
        case _:
            sys.exit(__doc__)
