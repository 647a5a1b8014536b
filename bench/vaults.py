"""Whether people find their own notes by questions in other words, and what is answered that no note holds.

``DIR`` holds a folder for each made-up person: ``notes/`` (Markdown, synced) and ``questions.jsonl`` with ``question``
and ``kind``: ``own`` (a note answers it), ``cross`` (the same, asked in another language), ``near`` (of the same life,
but in no note), ``off`` (of another field). The first two have ``file`` and a verbatim ``quote`` of it; two thirds of
them share at most two telling words with their note. A result answers when it is of that file and holds half of the
quote. The writers knew neither this code nor its ranking.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.command import Command, HollowError, Row, listed
from bench.harness import embed, embedders, open_memory, scratch
from bench.metrics import SEED, figure, shown
from scrubjay import Memory
from scrubjay.models.records import Record

DEPTH = 10
Asked = tuple[str, str, int, bool]
"""Kind and question, the place of the first result that answers (0 for none), and whether there was any result."""


def run(args: argparse.Namespace) -> dict[str, Any]:
    found: defaultdict[str, list[Asked]] = defaultdict(list)
    chosen = [args.dir / name for name in listed(args.vaults)] or sorted(args.dir.iterdir())
    models = embedders(args.cache)
    for vault in (one for one in chosen if one.is_dir()):
        lines = (vault / "questions.jsonl").read_text("utf-8").splitlines()
        questions = [json.loads(line) for line in lines]
        with scratch() as folder, open_memory(folder / "memory.db", models) as memory:
            memory.sync(vault / "notes")
            for state in listed(args.state):
                if state == "embed":
                    embed(memory, {"embed": 0.0})
                asked = [_ask(memory, question) for question in questions]
                print(f"{vault.name}, {state}: {figures(asked)}", flush=True)
                found[state] += asked
                for kind, question, place, _ in asked if args.misses else ():
                    if kind == "own" and place != 1:
                        print(f"  {place or '-'}  {question}")
    if not any(place for asked in found.values() for _, _, place, _ in asked):
        raise HollowError(f"Not one question of {args.dir} was answered.")
    return {"states": {state: figures(asked) for state, asked in found.items()}}


def figures(asked: Sequence[Asked]) -> str:
    own = [place for kind, _, place, _ in asked if kind == "own"]
    ranked = [
        f"hit@{k} {shown(figure([float(0 < place <= k) for place in own], SEED))}" for k in (1, 5, DEPTH)
    ]
    kinds = sorted({kind for kind, *_ in asked})
    answered = [
        f"{kind} {sum(any_ for one, _, _, any_ in asked if one == kind) / sum(one == kind for one, *_ in asked):.3f}"
        for kind in kinds
    ]
    return f"{', '.join(ranked)} (n={len(own)}); answered: {', '.join(answered)}"


def _ask(memory: Memory, question: Mapping[str, str]) -> Asked:
    found = memory.search(question["question"], limit=DEPTH)
    results = [*found.results, *found.nearest]
    records = (
        {record.id: record for record in memory.get([one.id for one in results]).records} if results else {}
    )
    places = [at for at, one in enumerate(results, 1) if _answers(records[one.id], question)]
    return question["kind"], question["question"], min(places, default=0), bool(found.results)


def _answers(record: Record, question: Mapping[str, str]) -> bool:
    if not question["quote"] or record.place is None or record.place.path != question["file"]:
        return False
    quote, text = (" ".join(one.split()) for one in (question["quote"], record.content))
    half = len(quote) // 2
    return quote[:half] in text or quote[half:] in text


def _rows(result: Mapping[str, Any]) -> list[Row]:
    return [
        ("six vaults of paraphrased questions", value, state) for state, value in result["states"].items()
    ]


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dir", type=Path, nargs="?", default=Path(__file__).parent / "labels" / "vaults")
    parser.add_argument("--vaults", default="", help="names of vaults, separated by commas; all by default")
    parser.add_argument("--state", default="sync,embed")
    parser.add_argument("--cache", type=Path, help="file that keeps the larger models' vectors")
    parser.add_argument("--misses", action="store_true", help="list questions whose note does not rank first")


VAULTS = Command(__doc__, run, _options, _rows)
