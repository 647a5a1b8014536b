"""Spans: long documents synced as files -> how well the retrieved passages cover the evidence.

With E the characters of a query's evidence spans and C those of the passages in its top five:
recall = |E and C| / |E|; precision = |E and C| / characters retrieved, counted with repetition;
IoU = |E and C| / |E or C|. Offsets are half-open and count code points.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ask import HollowError, Options, embed, open_memory
from data import DataSet, rows
from scrubjay.embeddings.base import Embedder

TOP = 5

Span = tuple[str, int, int]
"""Document, first character, first character after it."""


def has_spans(data: DataSet) -> bool:
    """Whether the set brings whole documents and evidence spans."""
    return all((data.folder / name).is_file() for name in ("documents.jsonl.gz", "spans.jsonl.gz"))


def run_spans(
    data: DataSet,
    folder: Path,
    *,
    state: str,
    options: Options,
    models: Sequence[Embedder],
    limit: int | None,
) -> tuple[list[dict[str, float]], dict[str, Any]]:
    """Sync the documents under neutral names and score each query's top five passages.

    Returns:
        Metrics a query, and facts about the passages.

    Raises:
        HollowError: No passage was made, or none was found.
    """
    tree = folder / "documents"
    tree.mkdir()
    names = {}
    for number, row in enumerate(rows(data.folder / "documents.jsonl.gz"), 1):
        name = f"{number:04}.md"
        (tree / name).write_text(row["text"], encoding="utf-8", newline="")
        names[name] = row["_id"]
    texts = {query.id: query.text for query in data.queries}
    evidence = list(rows(data.folder / "spans.jsonl.gz"))[:limit]
    found: list[dict[str, float]] = []
    seconds = {"embed": 0.0}
    with open_memory(folder / "spans.db", models) as memory:
        summary = memory.sync(tree)
        if state == "embed":
            embed(memory, seconds)
        for row in evidence:
            results = memory.search(texts[row["_id"]], limit=TOP, **options).results
            records = memory.get([result.id for result in results]).records if results else ()
            places = [record.place for record in records if record.place is not None]
            retrieved = [(names[Path(p.path).name], p.start, p.end) for p in places]
            wanted = [(row["document"], start, end) for start, end in row["spans"]]
            found.append(span_metrics(wanted, retrieved))
    if not summary.passages or not any(row["span_recall"] for row in found):
        raise HollowError(f"Set {data.name}: {summary.passages} passages, no evidence found in any of them.")
    characters = sum(file.stat().st_size for file in tree.iterdir())
    facts = {
        "files": summary.files,
        "passages": summary.passages,
        "bytes_per_passage": round(characters / summary.passages),
        "problems": [problem.message for problem in summary.problems],
        "sync_seconds": summary.seconds,
        "embed_seconds": seconds["embed"],
    }
    return found, facts


def span_metrics(evidence: Sequence[Span], retrieved: Sequence[Span]) -> dict[str, float]:
    """Recall, precision and IoU of characters.

    >>> span_metrics([("d", 0, 10)], [("d", 5, 15)])
    {'span_recall': 0.5, 'span_precision': 0.5, 'span_iou': 0.3333333333333333}
    """
    wanted, got = _characters(evidence), _characters(retrieved)
    both = len(wanted & got)
    read = sum(end - start for _, start, end in retrieved)
    return {
        "span_recall": both / len(wanted),
        "span_precision": both / read if read else 0.0,
        "span_iou": both / len(wanted | got),
    }


def _characters(spans: Sequence[Span]) -> set[tuple[str, int]]:
    return {(document, i) for document, start, end in spans for i in range(start, end)}
