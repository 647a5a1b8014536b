"""How well search ranks, on any folder laid out like the development data (bench/README.md).

Sets with whole documents and evidence spans are also synced as files. With E the characters of a query's evidence and
C those of the passages in its top five: recall = |E and C| / |E|; precision = |E and C| / characters retrieved,
counted with repetition; IoU = |E and C| / |E or C|. Offsets are half-open and count code points.
"""

from __future__ import annotations

import argparse
import random
import re
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from bench.command import Command, HollowError, Row, listed, set_options
from bench.data import DataError, DataSet, find_sets, load, rows
from bench.harness import Options, Run, embed, embedders, open_memory, run_set, score, scratch
from bench.metrics import SEED, Figure, figures, shown
from bench.report import percentiles, table
from scrubjay.embeddings.base import AnyEmbedder
from scrubjay.text.language import is_uninformative

COLUMNS = ("recall@5", "recall@10", "hit@1", "hit@5", "all@5", "ndcg@10", "mrr@10")
SPAN_COLUMNS = ("span_recall", "span_precision", "span_iou")
TOP = 5
"""Passages whose characters are scored."""

Span = tuple[str, int, int]
"""Document, first character, first character after it."""


def run(args: argparse.Namespace) -> dict[str, Any]:
    models = embedders(args.cache)
    result: dict[str, Any] = {"state": args.state, "sets": {}, "options": options(args)}
    for name, folder in find_sets(args.data, listed(args.sets)).items():
        data = load(name, folder)
        if args.pooled:
            if not data.haystacks:
                raise DataError(f"Set {name} has no haystacks to be pooled.")
            data = replace(data, haystacks={})
        if args.misspelled:
            chance = random.Random(args.seed)
            queries = tuple(replace(query, text=misspelled(query.text, chance)) for query in data.queries)
            data = replace(data, queries=queries)
        result["sets"][name] = measured = measure_set(data, args, models)
        print(f"\n{name} ({args.state}): {facts(measured)}")
        print(tables(measured, categories=args.categories), flush=True)
    return result


def misspelled(text: str, chance: random.Random) -> str:
    """Return a query with one typing error in a word of five letters or more; without such a word unchanged.

    Two letters change places, or one is left out, doubled or replaced; the first one stays.

    >>> misspelled("where do the invoices lie", random.Random(2))
    'where do the invoicces lie'
    """
    words = [
        match for match in re.finditer(r"[^\W\d_]{5,}", text) if not is_uninformative(match[0].casefold())
    ]
    if not words:
        return text
    match = chance.choice(words)
    word, at = match[0], chance.randrange(1, len(match[0]) - 1)
    wrong = chance.choice(
        (
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
            word[:at] + word[at + 1 :],
            word[:at] + word[at] + word[at:],
            word[:at] + chance.choice("aeinrst") + word[at + 1 :],
        )
    )
    return text[: match.start()] + wrong + text[match.end() :]


def options(args: argparse.Namespace) -> Options:
    """Options of ``Memory.search`` that the command line asked for."""
    given: dict[str, Any] = {"fusion": args.fusion, "preset": args.preset}
    if args.weights:
        given["weights"] = {k: float(v) for k, v in (pair.split("=") for pair in args.weights.split(","))}
    for name in ("channels", "models", "stages"):
        chosen = getattr(args, name)
        if chosen is not None:
            given[name] = tuple(part for part in chosen.split(",") if part)
    given["deep"] = args.deep or None
    return {name: value for name, value in given.items() if value is not None}


def measure_set(data: DataSet, args: argparse.Namespace, models: Sequence[Any]) -> dict[str, Any]:
    queries = data.asked(args.limit_queries)
    chosen = options(args)
    begun = time.perf_counter()
    with scratch() as place:
        run = run_set(
            data, queries, place / "memory.db",
            state=args.state, configurations={"asked": chosen}, models=models,
        )  # fmt: skip
        tasks = summarise(data, run, "asked", args.seed)
        extra = None
        if has_spans(data):
            scored, extra = run_spans(
                data, place, state=args.state, options=chosen, models=models, limit=args.limit_queries
            )
            own = _plain(figures(scored, args.seed))
            tasks["spans"] = {"queries": len(scored), "metrics": own, "categories": {}}
    took = percentiles(run.took["asked"])
    return {
        "documents": len(data.docs),
        "written": run.added,
        "empty": run.empty,
        "repeated": run.repeated,
        "queries": len(queries),
        "unanswered": sum(not ranked for ranked in run.documents["asked"].values()),
        "partial": dict(run.partial),
        "not_scored": list(data.skipped),
        "search_ms": {name: round(took[name], 2) for name in ("p50", "p95")},
        "seconds": {name: round(value, 2) for name, value in run.seconds.items()}
        | {"all": round(time.perf_counter() - begun, 2)},
        "passages": extra,
        "tasks": tasks,
    }


def summarise(data: DataSet, run: Run, name: str, seed: int = SEED) -> dict[str, dict[str, Any]]:
    """Figures by task, overall and by category of query."""
    category = {query.id: query.category for query in data.queries}
    found = {}
    for task, scored in score(data, run, name).items():
        if not scored:
            continue
        groups: dict[str, list[Mapping[str, float]]] = defaultdict(list)
        for query, row in scored.items():
            groups[category[query]].append(row)
        found[task] = {
            "queries": len(scored),
            "metrics": _plain(figures(list(scored.values()), seed)),
            "categories": {c: _plain(figures(own, seed)) for c, own in sorted(groups.items()) if c},
        }
    if not found:
        raise HollowError(f"Set {data.name}: no judged query was asked.")
    return found


def facts(measured: Mapping[str, Any]) -> str:
    parts = [f"{measured['written']} memories of {measured['documents']} documents"]
    parts += [f"{measured[name]} {name}" for name in ("empty", "repeated", "unanswered") if measured[name]]
    seconds, search = measured["seconds"], measured["search_ms"]
    parts.append(f"add {seconds['add']:.1f} s, embed {seconds['embed']:.1f} s")
    parts.append(f"search p50 {search['p50']:.1f} ms, p95 {search['p95']:.1f} ms")
    parts += [f"{count} answers partial: {why}" for why, count in measured["partial"].items()]
    if measured["passages"]:
        own = measured["passages"]
        parts.append(f"{own['passages']} passages, {own['bytes_per_passage']} bytes each")
    return "; ".join(parts)


def tables(measured: Mapping[str, Any], *, categories: bool) -> str:
    plain, spans = [], []
    for task, found in measured["tasks"].items():
        lines = [(task, found["queries"], found["metrics"])]
        if categories:
            lines += [(f"  {c}", own["ndcg@10"]["queries"], own) for c, own in found["categories"].items()]
        for label, count, own in lines:
            columns = SPAN_COLUMNS if task == "spans" else COLUMNS
            cells = [label, str(count), *(shown(Figure(**own[name])) for name in columns)]
            (spans if task == "spans" else plain).append(cells)
    text = table(["task", "n", *COLUMNS], plain)
    return text + ("\n" + table(["passages", "n", *SPAN_COLUMNS], spans) if spans else "")


def _rows(result: Mapping[str, Any]) -> list[Row]:
    found = []
    for name, measured in result["sets"].items():
        for task, own in measured["tasks"].items():
            columns = SPAN_COLUMNS if task == "spans" else COLUMNS
            value = ", ".join(f"{metric} {shown(Figure(**own['metrics'][metric]))}" for metric in columns)
            found.append((f"{name} {task} (n={own['queries']})", value, result["state"]))
    return found


def _plain(found: Mapping[str, Figure]) -> dict[str, dict[str, Any]]:
    return {name: asdict(own) for name, own in found.items()}


def has_spans(data: DataSet) -> bool:
    """Whether the set brings whole documents and evidence spans."""
    return all((data.folder / name).is_file() for name in ("documents.jsonl.gz", "spans.jsonl.gz"))


def run_spans(
    data: DataSet,
    folder: Path,
    *,
    state: str,
    options: Options,
    models: Sequence[AnyEmbedder],
    limit: int | None,
) -> tuple[list[dict[str, float]], dict[str, Any]]:
    """Sync the documents under neutral names and score each query's top five passages."""
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


def _options(parser: argparse.ArgumentParser) -> None:
    set_options(parser)
    parser.add_argument("--limit-queries", type=int, help="ask only the first N judged queries of each set")
    parser.add_argument(
        "--pooled", action="store_true", help="every query searches all of a set's haystacks, in one store"
    )
    parser.add_argument("--categories", action="store_true", help="also by category of query")
    parser.add_argument("--seed", type=int, default=SEED, help="of the bootstrap")
    parser.add_argument("--misspelled", action="store_true", help="one typing error in each query")
    parser.add_argument("--fusion", help="as in Memory.search")
    parser.add_argument("--weights", help="channel=weight, separated by commas")
    parser.add_argument("--preset", help="as in Memory.search")
    parser.add_argument("--deep", action="store_true", help="as in Memory.search, without its deadline")
    parser.add_argument("--channels", help="only these channels, separated by commas")
    parser.add_argument("--models", help="only these embedding models")
    parser.add_argument("--stages", help="only these optional stages; empty for none")


QUALITY = Command(__doc__, run, _options, _rows)
