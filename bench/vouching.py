"""Vouching: what the check of a language model's statements lets through, with stand-ins for the model.

    python bench/vouching.py [--half dev|dev2|dev3|test] [--part all|even|odd] [--refused] [--json FILE]

No model is asked. The labelled turns are those of ``extraction.py``, and so is what counts as found.

* perfect: proposes each labelled fact, word for word. What of it is let through bounds what any model can add.
* eager: proposes each sentence, and each part of one between commas, as a fact. What of it is let through and is
  none is what the check, by itself, does not keep out.
* lying: proposes the labelled facts with a word changed: each number another, each denial left out or put in, two
  neighbours exchanged, one word taken out or put in. What is let through without being said is wrong.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from extraction import LABELS, hits
from report import circumstances, write_json
from scrubjay.facts.extractor import Statement, find_statements
from scrubjay.facts.llm_verifier import verify_answer
from scrubjay.text.paraphrase import NEGATIONS, claim_words
from scrubjay.text.summaries import text_units


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", choices=("dev", "dev2", "dev3", "test"), default="dev")
    parser.add_argument("--part", choices=("all", "even", "odd"), default="all")
    parser.add_argument("--refused", action="store_true", help="print each labelled fact that is refused")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args(arguments)
    lines = (LABELS / f"facts_{args.half}.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    rows = [row for at, row in enumerate(rows) if args.part == "all" or at % 2 == (args.part == "odd")]
    rows = [row for row in rows if row["role"] == "user"]
    result = {"what": "vouching", "half": args.half, "part": args.part, **circumstances(), "turns": len(rows)}
    result |= perfect(rows, show=args.refused) | eager(rows) | lying(rows)
    for name, value in result.items():
        print(f"{name:24} {value}")
    write_json(args.json, result)
    return 0


def perfect(rows: Sequence[dict[str, Any]], *, show: bool) -> dict[str, int]:
    """Return how many facts there are, how many the rules find, and how many more are let through."""
    facts = found = more = 0
    for row in rows:
        text = row["text"]
        known = find_statements(text)
        let = kept(text, [(fact["quote"], fact["quote"]) for fact in row["facts"]])
        for fact in row["facts"]:
            at = text.index(fact["quote"])
            facts += 1
            if any(hits(text, one, at, fact["quote"]) for one in known):
                found += 1
            elif any(hits(text, one, at, fact["quote"]) for one in let):
                more += 1
            elif show:
                print(f"{row['id']} refused: {fact['quote']!r}")
    return {"facts": facts, "by the rules": found, "more, perfect": more}


def eager(rows: Sequence[dict[str, Any]]) -> dict[str, int]:
    """Return how many whole sentences are let through that are facts, and that are none."""
    right = wrong = 0
    for row in rows:
        text = row["text"]
        pieces = {part.strip() for _, one in text_units(text) for part in (one, *one.split(","))}
        for one in kept(text, [(piece, piece) for piece in sorted(pieces)]):
            wanted = any(hits(text, one, text.index(fact["quote"]), fact["quote"]) for fact in row["facts"])
            spare = any(hits(text, one, text.index(fact["quote"]), fact["quote"]) for fact in row["optional"])
            right += wanted
            wrong += not wanted and not spare
    if not right + wrong:
        raise SystemExit("Nothing that an eager model proposes is let through: nothing was measured.")
    return {"right, eager": right, "wrong, eager": wrong}


def lying(rows: Sequence[dict[str, Any]]) -> dict[str, int]:
    """Return how many lies were told, and how many were let through."""
    told = let = 0
    for row in rows:
        for fact in row["facts"]:
            for lie in lies(fact["quote"]):
                told += 1
                let += bool(kept(row["text"], [(fact["quote"], lie)], known=False))
    return {"lies": told, "lies let through": let}


def lies(quote: str) -> Iterator[str]:
    """Yield a quote with something in it changed that changes its words or their order."""
    same = [word.text for word in claim_words(quote)]
    for lie in _changed(quote.split()):
        if [word.text for word in claim_words(lie)] != same:
            yield lie


def _changed(parts: Sequence[str]) -> Iterator[str]:
    for at, part in enumerate(parts):
        left, right = parts[:at], parts[at + 1 :]
        yield " ".join((*left, re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), part), *right))
        yield " ".join((*left, "not", part, *right))
        yield " ".join((*left, part, "Lisbon", *right))
        if {word.text for word in claim_words(part)} & NEGATIONS:
            yield " ".join((*left, *right))
        if right:
            yield " ".join((*left, right[0], part, *right[1:]))


def kept(text: str, pairs: Sequence[tuple[str, str]], *, known: bool = True) -> list[Statement]:
    """Return what is let through of (quote, statement) proposals; with ``known`` off, what the rules have too."""
    items = [
        {"turn": 0, "quote": quote, "kind": "fact", "statement": statement} for quote, statement in pairs
    ]
    found = [verify_answer([item], [text]) for item in items]
    let = [one for each in found for one in each.kept.get(0, ())]
    extra = [
        Statement(0, len(text), "fact", text, "known")
        for each in found
        for _ in range(each.known)
        if not known
    ]
    return let + extra


if __name__ == "__main__":
    sys.exit(main())
