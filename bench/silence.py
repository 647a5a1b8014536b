"""Silence: what tells that nothing stored answers -> the coefficients of recall/relevance.json, and how good they are.

    python bench/silence.py ask --data DIR --rows FILE [--sets a,b] [--state sync|embed] [--cache FILE]
    python bench/silence.py fit --rows FILE[,FILE] [--write] [--json FILE] [--log]

``retrieve`` puts questions to stores of each set and keeps what speaks for the first results (recall/relevance.py): its own
questions (``own``), the same with slips (``typo``) and cut to their telling words (``keywords``), questions of sets of
another field (``foreign``), of other conversations of the set (``cross``), its own where the documents that answer them
were taken out (``out``), and those that the set says have no answer (``abstention``: about what is in it, not fitted).
An embedded store is asked twice, with and without the second model.

``fit`` fits a logistic regression for each family of signs and judges each set by coefficients fitted on the others;
questions, not results, weigh alike, and so do sets. Ids keep score only; nothing of them reaches the product.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ask import HollowError, Run, _write, embed, embedders, open_memory
from data import DataError, DataSet, Doc, Query, Space, find_sets, load, spaces
from metrics import SEED
from reliability import FAMILIES, best, fitted, judge, log_line, read_row, shown_table, threshold
from report import circumstances, log_rows, write_json
from scrubjay import Memory
from scrubjay.search import relevance
from scrubjay.search.pipeline import answer, retrieve
from scrubjay.search.relevance import relevance_features
from scrubjay.search.request import SearchRequest
from scrubjay.text.language import is_uninformative
from unpacked import unpacked

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


def collect(args: argparse.Namespace) -> int:
    """Ask every set, write the rows; return the exit code."""
    models = embedders(args.cache)[: 1 if args.state == "sync" else 2]
    wanted = args.sets.split(",")
    every = {
        Path(name).name: load(name, place) for name, place in find_sets(args.data, SETS.split(",")).items()
    }
    chance = random.Random(SEED)
    sample = {name: chance.sample([q.text for q in data.asked()], 30) for name, data in every.items()}
    with args.rows.open("a", encoding="utf-8") as rows:
        for name in wanted:
            foreign = [
                t for other, texts in sample.items() if not _near(other, name) for t in texts[: args.foreign]
            ]
            count = 0
            with tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as folder:
                asked = (
                    _book(args.data / BOOK, Path(folder), sample, models)
                    if name == "rust_book"
                    else _set(every[name], foreign, Path(folder), args, models)
                )
                for row in asked:
                    rows.write(json.dumps({"set": name, **row}, ensure_ascii=False) + "\n")
                    count += 1
            if not count:
                raise HollowError(f"Set {name}: nothing was asked.")
            print(f"{name}: {count} rows", flush=True)
    return 0


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
        with _Opened(space, folder / "memory.db", models) as (memory, known):
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
    """Ask a set without the documents that answer."""
    gone = set().union(*(gold[query.id] for query in some))
    for space in spaces(data, some):
        left = replace(space, docs=[doc for doc in space.docs if doc.id not in gone])
        with _Opened(left, folder / "without.db", models) as (memory, known):
            for query in space.queries:
                yield from _rows(memory, "out", query.text, frozenset(), known)


class _Opened:
    """A space's store, written and embedded where a second model is given."""

    def __init__(self, space: Space, store: Path, models: Sequence[Any]) -> None:
        groups = tuple(sorted({doc.scope for doc in space.docs if doc.scope})) if space.shared else ()
        self.space, self.models = space, models
        self.memory = open_memory(store, models, space.user, groups, connect=(), learn=())

    def __enter__(self) -> tuple[Memory, dict[str, list[Doc]]]:
        run = Run()
        known = _write(self.memory, self.space, run)
        if len(self.models) > 1:
            embed(self.memory, run.seconds)
        return self.memory, known

    def __exit__(self, *_: object) -> None:
        self.memory.close()


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
    """Ask one question, as a store answers it without and with its second model."""
    desk = memory._workspace
    with desk.store.reader(desk.scope) as reader:
        lineup = desk.models.rankers()[0]
        for state, models in (("sync", lineup[:1]), ("embed", lineup)):
            if state == "embed" and len(lineup) < 2:
                continue
            request = SearchRequest(text, limit=DEPTH)
            asked = retrieve(reader, models, request)
            ids = [one.id for one in answer(reader, asked, request).results]
            heads = reader.heads(ids)
            turns = {one: heads[one].turn for one in ids}
            told = relevance_features(asked.plan, asked.channels.terms, asked.channels.rankings, turns)
            top = [
                asdict(told[one]) | {"gold": sum(doc.id in gold for doc in known.get(one, ()))} for one in ids
            ]
            yield {"state": state, "kind": kind, "text": text[:200], "judged": len(gold), "top": top}


def write_calibration(written: dict[str, Any], result: dict[str, Any], sets: list[str], rows: int) -> None:
    """Write the coefficients into the package; a family that was not fitted stays as it was."""
    file = Path(relevance.__file__).with_name("relevance.json")
    before = json.loads(file.read_text("utf-8")) if file.exists() else {}
    origin = {
        "what": "logistic regression of whether a result answers; see docs/abstention.md",
        "command": "python bench/silence.py fit --write",
        "date": result["date"][:10],
        "commit": result["commit"],
        "sets": sets,
        "questions": rows,
    }
    file.write_text(
        json.dumps({"from": origin, **{k: v for k, v in before.items() if k != "from"}, **written}, indent=1)
        + "\n"
    )


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


def calibrate(args: argparse.Namespace) -> int:
    """Fit every family, judge it, write what was asked for; return the exit code."""
    lines = [line for file in args.rows.split(",") for line in Path(file).read_text("utf-8").splitlines()]
    rows = [row for row in map(json.loads, lines) if row["top"]]
    result: dict[str, Any] = {"what": "silence", **circumstances(), "answered": ANSWERED, "families": {}}
    written: dict[str, Any] = {}
    for family, state in (("words", "sync"), ("base", "sync"), ("both", "embed")):
        own = [read_row(row, family) for row in rows if row["state"] == state]
        if not own:
            print(f"{family}: no rows of state {state}; left as they were")
            continue
        judged = judge(own, ANSWERED[family][0])
        weights = fitted(own)
        bests = [best(row, weights) for row in own]
        least = [threshold(own, bests, share)[at] for at, share in enumerate(ANSWERED[family])]
        written[family] = {
            "weights": {
                name: round(float(value), 4) for name, value in zip(FAMILIES[family], weights, strict=True)
            },
            "least": [round(value, 4) for value in least],
        }
        result["families"][family] = judged | written[family]
        print(f"{family}: {written[family]}")
        print(shown_table(judged), flush=True)
    if args.write:
        write_calibration(written, result, sorted({row["set"] for row in rows}), len(rows))
    write_json(args.json, result)
    if args.log:
        log_rows(
            [
                (f"silence, {family} model signs", log_line(found), "embed" if family == "both" else "sync")
                for family, found in result["families"].items()
            ]
        )
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask or fit; return the exit code."""
    args = _parser().parse_args(arguments)
    try:
        return int(args.run(args))
    except (DataError, HollowError) as error:
        print(f"silence: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Whether an answer is one.")
    verbs = parser.add_subparsers(required=True)
    asking = verbs.add_parser("ask", help="ask stores, keep what speaks for the results")
    asking.add_argument("--data", type=Path, required=True)
    asking.add_argument("--rows", type=Path, required=True)
    asking.add_argument("--sets", default=f"{SETS},rust_book")
    asking.add_argument("--state", choices=("sync", "embed"), default="sync")
    asking.add_argument("--cache", type=Path, help="file that remembers the second model's vectors")
    asking.add_argument("--queries", type=int, default=120, help="own questions of each set")
    asking.add_argument("--foreign", type=int, default=8, help="questions of each other set")
    asking.add_argument(
        "--cross", type=int, default=40, help="questions of other conversations, for each store"
    )
    asking.set_defaults(run=collect)
    fitting = verbs.add_parser("fit", help="fit on rows, judge each set by the others")
    fitting.add_argument("--rows", required=True, help="files of rows, with commas between")
    fitting.add_argument("--write", action="store_true", help="write recall/relevance.json")
    fitting.add_argument("--json", type=Path)
    fitting.add_argument("--log", action="store_true", help="add rows to bench/LOG.md")
    fitting.set_defaults(run=calibrate)
    return parser


if __name__ == "__main__":
    sys.exit(main())
