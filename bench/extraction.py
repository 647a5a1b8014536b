"""Extraction: labelled turns -> precision, recall and junk of what is kept of them without a model.

    python bench/extraction.py [DATA] [--half dev|dev2|dev3|test] [--part all|even|odd] [--wrong] [--rules]
        [--speed] [--sample 40] [--json FILE]

The turns and what counts as found are described in ``labels/FACTS.md`` ("Scoring"). An assistant's turn goes the
same way as in the product: nothing is taken from it. Intervals are over resampled turns.

With DATA (the development data) also LongMemEval's user-stated answers, in two plain ways:

* answer: of the questions whose answer stands in a person's evidence turns (every word of the answer that is no
  function word, its numbers too, after stemming; at most ``LONGEST`` of them, for longer ones are explanations): in
  how many does one statement, or the statements of these turns together, hold all of these words;
* sentence: over all questions with evidence by a person: whether a statement holds half of the words which question
  and answer share with that sentence of an evidence turn that shares most of them.

``--speed`` tells how long a person's turns of the half take to read, per 50 words: the best of several rounds, in the
time of the process, so that others on the machine count less.

``--sample`` prints that many statements drawn from all haystacks, to be judged by eye.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from data import find_sets, load, rows
from metrics import RESAMPLES, SEED
from report import circumstances, write_json
from scrubjay.facts.extractor import Statement, find_statements
from scrubjay.text.language import function_words
from scrubjay.text.summaries import text_units
from scrubjay.text.tokenizer import stem_word

LABELS = Path(__file__).parent / "labels"
OF_SHORTER, OF_LONGER = 1 / 2, 1 / 3
"""Shares of words from which a stretch hits a quote (FACTS.md)."""
ROUNDS = 15
LONGEST = 8
NOT_STATED = ("single-session-assistant", "single-session-preference")
"""Categories whose answers a person never stated: the assistant did, or nobody did (a rubric)."""
_WORD = re.compile(r"[^\W_]+(?:['’.,:][^\W_]+)*")


@dataclass(slots=True)
class Score:
    """What happened on one turn."""

    id: str
    facts: int = 0
    found: int = 0
    right: int = 0
    wrong: int = 0
    notes: list[str] = field(default_factory=list)
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    rules: Counter[tuple[str, bool]] = field(default_factory=Counter)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    args = _parser().parse_args(arguments)
    labelled = [
        json.loads(line) for line in (LABELS / f"facts_{args.half}.jsonl").read_text("utf-8").splitlines()
    ]
    labelled = [
        row for number, row in enumerate(labelled) if args.part == "all" or number % 2 == (args.part == "odd")
    ]
    scores = [score(row) for row in labelled]
    result: dict[str, Any] = {
        "what": "extraction",
        "half": args.half,
        "part": args.part,
        **circumstances(),
        **summary(scores),
    }
    print(
        f"{args.half} ({args.part}): {len(scores)} turns, {result['facts']} facts, {result['extracted']} extracted"
    )
    for name in ("precision", "recall", "junk"):
        mean, low, high = result[name]
        print(f"  {name:9} {mean:.3f}  [{low:.3f}, {high:.3f}]")
    print(
        f"  kinds right {result['kind right']:.3f}; label > found:",
        "  ".join(f"{a}>{b} {n}" for (a, b), n in sorted(_kinds(scores).items()) if a != b),
    )
    if args.rules:
        _print_rules(scores)
    if args.wrong:
        print("\n".join(note for one in scores for note in one.notes))
    if args.speed:
        result["us per 50 words"] = speed([row["text"] for row in labelled if row["role"] == "user"])
        print(f"  {result['us per 50 words']:.0f} us per 50 words")
    if args.data is not None:
        result["longmemeval"] = longmemeval(args)
    write_json(args.json, result)
    return 0


def speed(turns: Sequence[str]) -> float:
    """Return the microseconds that 50 words take to read."""

    def once() -> float:
        before = time.process_time()
        for turn in turns:
            find_statements(turn)
        return time.process_time() - before

    return min(once() for _ in range(ROUNDS)) / sum(len(turn.split()) for turn in turns) * 50e6


def _print_rules(scores: Sequence[Score]) -> None:
    rules = sum((one.rules for one in scores), Counter())
    for name in sorted({rule for rule, _ in rules}, key=lambda rule: (-rules[rule, False], rule)):
        print(f"  {name:16} {rules[name, True]:4} right {rules[name, False]:4} wrong")


def score(row: dict[str, Any]) -> Score:
    """Score one labelled turn."""
    text = row["text"]
    kept = find_statements(text) if row["role"] == "user" else ()
    facts = [(text.index(fact["quote"]), fact) for fact in row["facts"]]
    optional = [(text.index(fact["quote"]), fact) for fact in row["optional"]]
    one = Score(row["id"], facts=len(facts))
    for at, fact in facts:
        hit = next((found for found in kept if hits(text, found, at, fact["quote"])), None)
        one.found += hit is not None
        if hit:
            one.kinds[fact["kind"], hit.kind] += 1
        else:
            one.notes.append(f"{row['id']} missed {fact['kind']}: {fact['quote']!r}")
    for found in kept:
        if any(hits(text, found, at, fact["quote"]) for at, fact in facts):
            one.right += 1
            one.rules[found.rule, True] += 1
        elif not any(hits(text, found, at, fact["quote"]) for at, fact in optional):
            one.wrong += 1
            one.rules[found.rule, False] += 1
            one.notes.append(f"{row['id']} WRONG {found.kind} ({found.rule}): {found.text!r}")
    return one


def hits(text: str, found: Statement, at: int, quote: str) -> bool:
    """Whether a statement and a quote share half of the words of the shorter and a third of the longer."""
    ours = {word.start() for word in _WORD.finditer(text, found.start, found.end)}
    theirs = {word.start() for word in _WORD.finditer(text, at, at + len(quote))}
    shared = len(ours & theirs)
    shorter, longer = sorted((len(ours), len(theirs)))
    return shared > 0 and shared >= OF_SHORTER * shorter and shared >= OF_LONGER * longer


def summary(scores: Sequence[Score]) -> dict[str, Any]:
    """Figures with intervals: (mean, low, high)."""
    table = np.array([(one.facts, one.found, one.right, one.wrong, 1) for one in scores], np.float64)
    rng = np.random.default_rng(SEED)
    drawn = np.array([table[rng.integers(0, len(table), len(table))].sum(axis=0) for _ in range(RESAMPLES)])
    kinds = _kinds(scores)
    figures: dict[str, Any] = {
        name: [
            float(value(table.sum(axis=0))),
            *map(float, np.nanpercentile([value(one) for one in drawn], [2.5, 97.5])),
        ]
        for name, value in (
            ("precision", lambda s: s[2] / max(s[2] + s[3], 1)),
            ("recall", lambda s: s[1] / max(s[0], 1)),
            ("junk", lambda s: 100 * s[3] / s[4]),
        )
    }
    return figures | {
        "turns": len(scores),
        "facts": sum(one.facts for one in scores),
        "extracted": sum(one.right + one.wrong for one in scores),
        "kind right": sum(n for (a, b), n in kinds.items() if a == b) / max(sum(kinds.values()), 1),
    }


def _kinds(scores: Sequence[Score]) -> Counter[tuple[str, str]]:
    return sum((one.kinds for one in scores), Counter())


def longmemeval(args: argparse.Namespace) -> dict[str, Any]:
    """Whether the evidence's fact is among what is kept, and how much is kept of all turns."""
    data = load("longmemeval_s", find_sets(args.data, ["longmemeval_s"]).popitem()[1])
    docs = {doc.id: doc for doc in data.docs}
    relevant = next(task.relevant for task in data.tasks if task.name == "documents")
    answers = {row["_id"]: str(row["answer"]) for row in rows(data.folder / "queries.jsonl.gz")}
    outcomes: dict[str, dict[str, list[bool]]] = {"answer": defaultdict(list), "sentence": defaultdict(list)}
    for query in data.asked():
        turns = [
            docs[one].text
            for one in sorted(relevant.get(query.id, ()))
            if one in docs and docs[one].role == "user"
        ]
        if not turns or query.category in NOT_STATED:
            continue
        kept = [found.text for turn in turns for found in find_statements(turn)]
        said = content(answers[query.id])
        if said and len(said) <= LONGEST and said <= content(" ".join(turns)):
            outcomes["answer"][query.category].append(said <= content(" ".join(kept)))
        asked = said | content(query.text)
        key = max(
            (words for turn in turns for _, words in text_units(turn)),
            key=lambda words: len(asked & content(words)),
        )
        shared = asked & content(key)
        outcomes["sentence"][query.category].append(
            any(2 * len(shared & content(one)) >= len(shared) for one in kept) if shared else False
        )
        if args.wrong and not outcomes["sentence"][query.category][-1]:
            print(f"{query.id} {query.text!r} -> {answers[query.id]!r}\n    {key!r}\n    kept: {kept}")
    result: dict[str, Any] = {}
    for name, by in outcomes.items():
        every = [one for values in by.values() for one in values]
        result[name] = [sum(every) / len(every), len(every)]
        print(
            f"LongMemEval, {name}: {sum(every) / len(every):.3f} of {len(every)};",
            ", ".join(f"{c} {sum(v)}/{len(v)}" for c, v in sorted(by.items())),
        )
    users = [doc.text for doc in data.docs if doc.role == "user"]
    kept_all = [(found, text) for text in users for found in find_statements(text)]
    result["statements per 100 turns"] = 100 * len(kept_all) / len(users)
    print(
        f"  {len(kept_all)} statements of {len(users)} turns by people:",
        f"{result['statements per 100 turns']:.1f} per 100 turns",
    )
    print(
        "  by rule:",
        ", ".join(f"{rule} {n}" for rule, n in Counter(found.rule for found, _ in kept_all).most_common()),
    )
    for found, _ in random.Random(args.seed).sample(kept_all, args.sample):
        print(f"  - [{found.kind}, {found.rule}] {found.text}")
    return result


def content(text: str) -> frozenset[str]:
    """Stems of the words that are no function words; numbers as they stand."""
    words = (
        word.casefold().replace("’", "'").removesuffix("'s").replace(",", "") for word in _WORD.findall(text)
    )
    return frozenset(stem_word(word, "en") for word in words if word not in function_words("en"))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure what is kept of turns without a model.")
    parser.add_argument("data", nargs="?", type=Path, help="the development data, for LongMemEval")
    parser.add_argument("--half", choices=("dev", "dev2", "dev3", "test"), default="dev")
    parser.add_argument(
        "--part", choices=("all", "even", "odd"), default="all", help="rules were tuned on even rows of dev"
    )
    parser.add_argument("--wrong", action="store_true", help="print what was missed and what is wrong")
    parser.add_argument("--rules", action="store_true", help="print what each rule found, right and wrong")
    parser.add_argument("--speed", action="store_true", help="print how long reading takes")
    parser.add_argument("--sample", type=int, default=0, help="statements to print of the haystacks")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--json", type=Path)
    return parser


if __name__ == "__main__":
    sys.exit(main())
