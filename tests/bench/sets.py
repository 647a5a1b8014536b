"""Tiny sets written by tests, laid out like the development data."""

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path


def write_set(
    folder: Path,
    docs: Iterable[Mapping[str, object]],
    queries: Iterable[Mapping[str, object]],
    qrels: Mapping[str, Iterable[str]],
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    write_rows(folder / "corpus.jsonl.gz", docs)
    write_rows(folder / "queries.jsonl.gz", queries)
    write_qrels(folder / "qrels.tsv", qrels)
    return folder


def write_rows(file: Path, rows: Iterable[Mapping[str, object]]) -> None:
    with gzip.open(file, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)


def write_qrels(file: Path, qrels: Mapping[str, Iterable[str]]) -> None:
    lines = [f"{query}\t{doc}\t1" for query, docs in qrels.items() for doc in docs]
    file.write_text("\n".join(["query-id\tcorpus-id\tscore", *lines]) + "\n", encoding="utf-8")


DOCS = (
    {"_id": "d1", "text": "The blue heron nests beside the old mill.", "title": "Heron"},
    {"_id": "d2", "text": "Sourdough needs a long cold proof in the fridge."},
    {"_id": "d3", "text": "The backup job runs at four in the morning on host kestrel."},
    {"_id": "d4", "text": "  "},
)
QUERIES = (
    {"_id": "q1", "text": "where does the heron nest", "category": "birds"},
    {"_id": "q2", "text": "when does the backup job run", "category": "hosts"},
    {"_id": "q3", "text": "never judged"},
)
QRELS = {"q1": ["d1"], "q2": ["d3"]}
