"""Postings: packed segments against FTS5, on the same words and the same questions.

    python bench/postings.py [--tree DIR] [--memories 10000] [--questions 60] [--json FILE]

The design began with FTS5 holding the postings. This is the measurement that decided against it: FTS5 gives
row numbers, or its own bm25() with statistics over the whole file; neither can be summed over what one caller
may see, and the frequencies that a scorer of our own needs come one Python call a row.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import apsw

from scrubjay.models.ids import memory_id, memory_key, text_hash
from scrubjay.models.records import Record, RecordFilter, Scope
from scrubjay.storage.changes import PreparedMemory, PutMemory
from scrubjay.storage.sqlite.store import SQLiteStore
from scrubjay.text.tokenizer import index_terms, query_groups
from trees import generate, unpack, words_of

SCOPE = Scope("bench", "reader")
WORDS = 80


def main() -> None:
    """Build both, ask both, print medians of processor time."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", help="folder of Markdown whose words are used; a small one is made without")
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--json", help="file for the figures")
    given = parser.parse_args()
    rng = random.Random(3)
    with tempfile.TemporaryDirectory() as folder:
        trees = unpack(Path(given.tree), Path(folder)) if given.tree else [generate(Path(folder), 3)]
        words = words_of(trees)
    texts = [" ".join(words[at : at + WORDS]) for at in _places(rng, words, WORDS, given.memories)]
    asked = [
        re.sub(r"[^\w ]+", " ", " ".join(words[at : at + 7]))
        for at in _places(rng, words, 7, given.questions)
    ]
    with tempfile.TemporaryDirectory() as folder:
        figures = {**_fts5(Path(folder), texts, asked), **_packed(Path(folder), texts, asked)}
    for name, figure in figures.items():
        print(f"{name:<28} {figure:10.3f}")
    if given.json:
        Path(given.json).write_text(json.dumps(figures, indent=1), "utf-8")


def _places(rng: random.Random, words: list[str], length: int, count: int) -> list[int]:
    return [rng.randrange(len(words) - length) for _ in range(count)]


def _fts5(folder: Path, texts: list[str], asked: list[str]) -> dict[str, float]:
    db = apsw.Connection(str(folder / "fts5.db"))
    db.execute("CREATE VIRTUAL TABLE f USING fts5(t, content='', tokenize=\"ascii tokenchars '-_.#+'\")")
    started = time.process_time()
    db.execute("BEGIN")
    for row, text in enumerate(texts):
        repeated = " ".join(term for term, count in index_terms(text).counts.items() for _ in range(count))
        db.execute("INSERT INTO f (rowid, t) VALUES (?, ?)", (row, repeated))
    db.execute("COMMIT")
    built = time.process_time() - started
    matches = [
        " OR ".join(
            '"' + form.replace('"', '""') + '"' for group in query_groups(query) for form in group.forms
        )
        for query in asked
    ]
    rows = [
        _timed(lambda m=m: db.execute("SELECT rowid FROM f WHERE f MATCH ?", (m,)).fetchall())
        for m in matches
    ]
    best = "SELECT rowid, bm25(f) FROM f WHERE f MATCH ? ORDER BY 2 LIMIT 50"
    ranked = [_timed(lambda m=m: db.execute(best, (m,)).fetchall()) for m in matches]
    return {
        "fts5 build cpu s": built,
        "fts5 rows cpu ms": statistics.median(rows),
        "fts5 bm25() top 50 cpu ms": statistics.median(ranked),
    }


def _packed(folder: Path, texts: list[str], asked: list[str]) -> dict[str, float]:
    store = SQLiteStore(folder / "packed.db", b"k" * 32)
    started = time.process_time()
    changes = [PutMemory(_prepared(place, text)) for place, text in enumerate(texts)]
    for first in range(0, len(changes), 1_000):
        store.write(SCOPE, changes[first : first + 1_000])
    built = time.process_time() - started
    found = [_timed(lambda q=query: _ask(store, q)) for query in asked]
    store.close()
    return {"packed build cpu s": built, "packed exact top 50 cpu ms": statistics.median(found)}


def _prepared(place: int, text: str) -> PreparedMemory:
    memory = memory_id("observation", memory_key(b"k", (str(place),)))
    record = Record(memory, "observation", text, text_hash(text), "", SCOPE.key(), SCOPE.user, 0, 0)
    return PreparedMemory(record, index_terms(text))


def _ask(store: SQLiteStore, query: str) -> None:
    with store.reader(SCOPE) as reader:
        reader.words(query_groups(query), RecordFilter()).top(50)


def _timed(call: Callable[[], object]) -> float:
    started = time.process_time()
    call()
    return (time.process_time() - started) * 1_000


if __name__ == "__main__":
    main()
