"""Fit the coefficients of search/relevance.json, which decide whether anything stored answers, and judge them.

`silence-ask` asks stores of each set and writes the features of the first results
(search/relevance.py): its own questions (``own``), the same with typing errors (``typo``) and cut to their content
words (``keywords``), questions of sets of another field (``foreign``), of other conversations of the set (``cross``),
its own with the documents that answer removed (``out``), and questions that have no answer by the set's own labels
(``abstention``: not fitted). An embedded store is asked twice, with the base model alone and with all.

`silence` fits a logistic regression for each family of features and judges each set by
coefficients fitted on the others; questions, not results, have equal weight, and so do sets. ``first`` judges
`Result.relevance` as it is shipped: of each question's first result, in ten bins, for own questions and for all.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from bench.command import Command, HollowError, Row, listed
from bench.data import DataSet, Doc, Query, find_sets, load, spaces
from bench.harness import Run, embed, embedders, open_memory, scratch, written
from bench.metrics import SEED
from bench.reliability import FAMILIES, best, fitted, judge, log_line, read_row, shown_table, threshold
from bench.report import circumstances
from bench.texts import unpacked
from scrubjay import Memory
from scrubjay.search import relevance
from scrubjay.search.pipeline import answer, retrieve
from scrubjay.search.relevance import relevance_features
from scrubjay.search.request import SearchRequest
from scrubjay.text.language import is_uninformative

SETS = (
    "til_simonw,cookbook_docs,cosqa,musique_hippo100,hotpot_hippo100,scifact,locomo,beam_100k,longmemeval_s,"
    "chunking_eval,xquad_en,xquad_de,xquad_zh,xquad_ar,jsquad_ja"
)
BOOK = "markdown_small/rust_book.tar.gz"
FIELDS = (
    {"til_simonw", "cookbook_docs", "cosqa", "beam_100k", "rust_book"},
    {"xquad_en", "xquad_de", "xquad_zh", "xquad_ar"},
)
"""Sets that may answer one another's questions: none is foreign to the others."""
ANSWERED = {"words": (0.985, 0.985), "base": (0.995, 0.995), "both": (0.985, 0.995)}
"""Share of own questions that each family leaves answered, in Latin and in other letters: so many that recall does not
fall, for a wrong silence costs an agent more than a weak answer does. Off-topic questions are silent .91 to .95 then,
and .95 at .97 answered (bench/LOG.md)."""
DEPTH = 10
HAYSTACKS = 36


def collect(args: argparse.Namespace) -> dict[str, Any]:
    models = embedders(args.cache)[: 1 if args.state == "sync" else None]
    every = {
        Path(name).name: load(name, place) for name, place in find_sets(args.data, SETS.split(",")).items()
    }
    chance = random.Random(SEED)
    sample = {name: chance.sample([q.text for q in data.asked()], 30) for name, data in every.items()}
    with args.rows.open("a", encoding="utf-8") as rows:
        for name in listed(args.sets):
            foreign = [
                t for other, texts in sample.items() if not _near(other, name) for t in texts[: args.foreign]
            ]
            count = 0
            with scratch() as folder:
                asked = (
                    _book(args.data / BOOK, folder, sample, models)
                    if name == "rust_book"
                    else _set(every[name], foreign, folder, args, models)
                )
                for row in asked:
                    rows.write(json.dumps({"set": name, **row}, ensure_ascii=False) + "\n")
                    count += 1
            if not count:
                raise HollowError(f"Set {name}: nothing was asked.")
            print(f"{name}: {count} rows", flush=True)
    return {}


def _near(one: str, other: str) -> bool:
    return one == other or any({one, other} <= field for field in FIELDS)


def _set(
    data: DataSet, foreign: Sequence[str], folder: Path, args: argparse.Namespace, models: Sequence[Any]
) -> Iterator[dict[str, Any]]:
    chance = random.Random(SEED)
    gold = next(task for task in data.tasks if not task.sessions).relevant
    own = [query for query in data.queries if query.id in gold]
    chance.shuffle(own)
    own = own[: HAYSTACKS if data.haystacks else args.queries]
    empty = [query for query in data.queries if query.id not in gold]
    stores = list(spaces(data, own + empty))
    for number, space in enumerate(stores):
        with written(space, folder / "memory.db", models) as (memory, known):
            for query in space.queries:
                if query.id not in gold:
                    yield from _rows(memory, "abstention", query.text, frozenset(), known)
                    continue
                variants = (query.text, slipped(query.text, chance), cut(query.text))
                for kind, text in zip(("own", "typo", "keywords"), variants, strict=True):
                    yield from _rows(memory, kind, text, gold[query.id], known)
            here = {doc.id for doc in space.docs}
            if number < 6:
                for text in foreign[number :: min(6, len(stores))]:
                    yield from _rows(memory, "foreign", text, frozenset(), known)
            elsewhere = [
                query
                for other in stores
                for query in other.queries
                if other is not space and query.id in gold and not gold[query.id] & here
            ]
            for query in chance.sample(elsewhere, min(args.cross, len(elsewhere))):
                yield from _rows(memory, "cross", query.text, frozenset(), known)
    if not data.haystacks:
        yield from _out(data, own[: len(own) // 2], gold, folder, models)


def _out(
    data: DataSet,
    some: Sequence[Query],
    gold: Mapping[str, frozenset[str]],
    folder: Path,
    models: Sequence[Any],
) -> Iterator[dict[str, Any]]:
    gone = set().union(*(gold[query.id] for query in some))
    for space in spaces(data, some):
        left = replace(space, docs=[doc for doc in space.docs if doc.id not in gone])
        with written(left, folder / "without.db", models) as (memory, known):
            for query in space.queries:
                yield from _rows(memory, "out", query.text, frozenset(), known)


def _book(
    archive: Path, folder: Path, sample: dict[str, list[str]], models: Sequence[Any]
) -> Iterator[dict[str, Any]]:
    """Ask a book that was synced what has nothing to do with it: the plainest silence."""
    unpacked(archive, folder / "book")
    with open_memory(folder / "memory.db", models, connect=(), learn=()) as memory:
        memory.sync(folder / "book")
        if len(models) > 1:
            embed(memory, Run().seconds)
        for name, texts in sample.items():
            for text in texts[:8] if not _near(name, "rust_book") else ():
                yield from _rows(memory, "foreign", text, frozenset(), {})


def _rows(
    memory: Memory, kind: str, text: str, gold: frozenset[str], known: dict[str, list[Doc]]
) -> Iterator[dict[str, Any]]:
    """Ask one question, as a store answers it by its base model and by all."""
    desk = memory.workspace
    with desk.store.reader(desk.scope) as reader:
        lineup = desk.models.rankers()[0]
        for state, models in (("sync", lineup[:1]), ("embed", lineup)):
            if state == "embed" and len(lineup) < 2:
                continue
            request = SearchRequest(text, limit=DEPTH)
            asked = retrieve(reader, models, request)
            results = answer(asked).results
            ids = [one.id for one in results]
            heads = reader.ranking_metadata(ids)
            turns = {one: heads[one].turn for one in ids}
            told = relevance_features(asked.plan, asked.channels.terms, asked.channels.rankings, turns)
            top = [
                asdict(told[one.id])
                | {"gold": sum(doc.id in gold for doc in known.get(one.id, ())), "shown": one.relevance}
                for one in results
            ]
            yield {"state": state, "kind": kind, "text": text[:200], "judged": len(gold), "top": top}


def write_calibration(written: dict[str, Any], sets: list[str], rows: int) -> None:
    """Write the coefficients into the package; a family that was not fitted stays as it was."""
    file = Path(relevance.__file__).with_name("relevance.json")
    before = json.loads(file.read_text("utf-8")) if file.exists() else {}
    now = circumstances()
    origin = {
        "what": "logistic regression of whether a result answers; see docs/ranking.md",
        "command": "python -m bench silence --rows FILES --write, of rows by silence-ask",
        "date": now["date"][:10],
        "commit": now["commit"],
        "sets": sets,
        "questions": rows,
    }
    own = {family: {"from": origin, **found} for family, found in written.items()}
    file.write_text(json.dumps(before | own, indent=1) + "\n")


def slipped(text: str, chance: random.Random) -> str:
    """Return a question with two neighbouring letters changed over in its longest word.

    >>> slipped("where do the invoices lie", random.Random(1))
    'where do the invioces lie'
    """
    longest = max(text.split(), key=len)
    if len(longest) < 5:
        return text
    at = chance.randrange(1, len(longest) - 2)
    return text.replace(longest, longest[:at] + longest[at + 1] + longest[at] + longest[at + 2 :], 1)


def cut(text: str) -> str:
    """Return a question's three longest telling words, as people type them; other scripts whole.

    >>> cut("Where do the invoices of last year lie?")
    'invoices last year'
    """
    words = [word.strip("?.,!:;\"'()") for word in text.split()]
    telling = [word for word in words if word and not is_uninformative(word.casefold())]
    kept = sorted(telling, key=len, reverse=True)[:3]
    return " ".join(word for word in telling if word in kept) or text


def calibrate(args: argparse.Namespace) -> dict[str, Any]:
    lines = [line for file in args.rows.split(",") for line in Path(file).read_text("utf-8").splitlines()]
    rows = [row for row in map(json.loads, lines) if row["top"]]
    result: dict[str, Any] = {"answered": ANSWERED, "families": {}}
    coefficients: dict[str, Any] = {}
    for family, state in (("words", "sync"), ("base", "sync"), ("both", "embed")):
        own = [read_row(row, family) for row in rows if row["state"] == state]
        if not own:
            print(f"{family}: no rows of state {state}; left as they were")
            continue
        judged = judge(own, ANSWERED[family][0])
        weights = fitted(own)
        bests = [best(row, weights) for row in own]
        least = [threshold(own, bests, share)[at] for at, share in enumerate(ANSWERED[family])]
        coefficients[family] = {
            "weights": {
                name: round(float(value), 4) for name, value in zip(FAMILIES[family], weights, strict=True)
            },
            "least": [round(value, 4) for value in least],
        }
        result["families"][family] = judged | coefficients[family]
        print(f"{family}: {coefficients[family]}")
        print(shown_table(judged), flush=True)
    if args.write:
        write_calibration(coefficients, sorted({row["set"] for row in rows}), len(rows))
    return result


def _rows_of_log(result: Mapping[str, Any]) -> list[Row]:
    return [
        (f"silence, {family} model signs", log_line(found), "embed" if family == "both" else "sync")
        for family, found in result["families"].items()
    ]


def _ask_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, required=True, help="folder of sets")
    parser.add_argument("--rows", type=Path, required=True, help="file that rows are appended to")
    parser.add_argument("--sets", default=f"{SETS},rust_book")
    parser.add_argument("--state", choices=("sync", "embed"), default="sync")
    parser.add_argument("--cache", type=Path, help="file that keeps the larger models' vectors")
    parser.add_argument("--queries", type=int, default=120, help="own questions of each set")
    parser.add_argument("--foreign", type=int, default=8, help="questions of each other set")
    parser.add_argument(
        "--cross", type=int, default=40, help="questions of other conversations, for each store"
    )


def _fit_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", required=True, help="files of rows, separated by commas")
    parser.add_argument("--write", action="store_true", help="write search/relevance.json")


ASK = Command(__doc__, collect, _ask_options)
FIT = Command(__doc__, calibrate, _fit_options, _rows_of_log)
