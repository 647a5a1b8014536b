"""Questions in one language, passages in another: parallel sets, such as XQuAD's ``xquad_en``, ``xquad_de``, ….

``DIR`` holds sets named ``PREFIX_LANGUAGE`` whose ``id_map.tsv.gz`` gives each id ``LANGUAGE:KEY`` with one key in all
languages. Each language's passages are one store, without titles (XQuAD's are English in every language), which is
asked in every language of ``--ask``. In the store ``any`` each passage has one of the languages, taken by turns.
Rows: the product's default models; the base model and multilingual-e5-small, as `scrubjay models use multilingual`
ranks; and the vectors of the latter alone.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Mapping
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any

from bench.command import Command, Row, listed
from bench.data import DataError, DataSet, Doc, Query, Task, find_sets, load
from bench.harness import embedders, run_set, score, scratch
from bench.metrics import SEED, figures, shown
from scrubjay.embeddings.multilingual import MULTILINGUAL_MODEL, MultilingualEmbedder


def run(args: argparse.Namespace) -> dict[str, Any]:
    sets = {name.rpartition("_")[2]: load(name, folder) for name, folder in find_sets(args.data).items()
            if name.startswith(f"{args.set}_")}  # fmt: skip
    keys = {language: _keys(data.folder) for language, data in sets.items()}
    default = embedders()
    asked_of = [
        ("default", default, {"default": {}}),
        (
            "multilingual",
            [default[0], MultilingualEmbedder()],
            {"multilingual": {}, "alone": {"channels": ("vector",), "models": (MULTILINGUAL_MODEL,)}},
        ),
    ]
    result: dict[str, Any] = {"pairs": {}}
    for stored in listed(args.stores):
        data = paired(sets, keys, stored, listed(args.ask), args.limit_queries)
        for name, models, configurations in asked_of:
            with scratch() as folder:
                answers = run_set(
                    data, data.asked(), folder / "memory.db",
                    state="embed", configurations=configurations, models=models,
                )  # fmt: skip
            print(f"{stored}, {name}: embed {answers.seconds['embed']:.0f} s", flush=True)
            for configuration in configurations:
                for task, rows in score(data, answers, configuration).items():
                    found = figures(list(rows.values()), SEED)
                    text = f"hit@1 {shown(found['hit@1'])}, R@5 {shown(found['recall@5'])} (n={len(rows)})"
                    result["pairs"].setdefault(task, {})[configuration] = text
                    print(f"  {task:<8} {configuration:<12} {text}", flush=True)
    return result


def paired(
    sets: Mapping[str, DataSet],
    keys: Mapping[str, Mapping[str, str]],
    stored: str,
    asked: list[str],
    limit: int | None,
) -> DataSet:
    """One language's passages and the questions of several, ids being keys; one task a language of questions."""
    if missing := {*asked, stored} - {*sets, "any"}:
        raise DataError(f"No set is in {', '.join(sorted(missing))}; there are {', '.join(sets)}.")
    turns = list(sets) if stored == "any" else [stored]
    by_key = {language: {keys[language][doc.id]: doc for doc in data.docs} for language, data in sets.items()}
    docs = [
        Doc(key, by_key[turns[number % len(turns)]][key].text)
        for number, key in enumerate(sorted(by_key[turns[0]]))
    ]
    queries, tasks = [], []
    for language in asked:
        known, relevant = keys[language], sets[language].tasks[0].relevant
        own = sorted(((known[query.id], query) for query in sets[language].queries), key=itemgetter(0))
        own = own[:: max(1, len(own) // limit)] if limit else own
        queries += [Query(f"{language}:{key}", query.text) for key, query in own]
        found = {f"{language}:{key}": frozenset(known[doc] for doc in relevant[q.id]) for key, q in own}
        tasks.append(Task(f"{language}>{stored}", sessions=False, relevant=found))
    one = next(iter(sets.values()))
    return replace(one, name=stored, docs=tuple(docs), queries=tuple(queries), tasks=tuple(tasks))


def _keys(folder: Path) -> dict[str, str]:
    """Keys by id, without the language before them."""
    with gzip.open(folder / "id_map.tsv.gz", "rt", encoding="utf-8") as lines:
        pairs = (line.rstrip("\n").split("\t") for line in lines)
        return {own: key.partition(":")[2] for own, key in pairs}


def _rows(result: Mapping[str, Any]) -> list[Row]:
    return [
        (f"question > passage {pair}", "; ".join(f"{name}: {text}" for name, text in found.items()), "embed")
        for pair, found in result["pairs"].items()
    ]


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, required=True, help="folder of sets")
    parser.add_argument("--set", default="xquad", help="what the sets' names begin with")
    parser.add_argument("--stores", default="en,de,zh,ar,any", help="languages of the passages")
    parser.add_argument("--ask", default="en,de,zh,ar", help="languages of the questions")
    parser.add_argument(
        "--limit-queries", type=int, help="about how many questions a language; all when left out"
    )


LANGUAGES = Command(__doc__, run, _options, _rows)
