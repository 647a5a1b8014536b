"""Scrubbing: labelled texts -> how many of their secrets are taken out, and what else is.

    python bench/scrubbing.py [--half SET] [--misses] [--json FILE]
    python bench/scrubbing.py --exchanges SET [--misses] [--json FILE]

The rules of labelling and scoring are in labels/SECRETS.md, and the sets: each labels/secrets_SET.jsonl is one, and
``both`` is dev and test, ``blind`` test6 to
test10. ``--misses`` prints what went wrong. All sets but test6 to test10 have been read and learnt
from, so that none of them says any more how much of unseen text is found.

``--exchanges`` takes labels/exchanges_SET.jsonl: talks of a few turns, each added to a store by a call of its own, as
hooks and the proxy do, and read from it when the talk is over.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from metrics import figure
from report import circumstances, shown, write_json
from scrubjay import Memory
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.redaction.redactor import REDACTOR_VERSION, redact_text

sys.path.insert(0, str(Path(__file__).parent / "labels"))
from secret_items import Item, exchanges, items, sets

MARK = re.compile(r"\[(?:secret:[\w-]+|private)\](?:[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]*)")
GROUPS = {"both": ("dev", "test"), "blind": ("test6", "test7", "test8", "test9", "test10")}
LEAST = 8
"""Characters of a secret that may stay; of a long one a quarter may, by which its owner knows it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--half",
        choices=(*sets(), *GROUPS),
        default="dev",
    )
    parser.add_argument("--exchanges", choices=("dev", "test"))
    parser.add_argument("--misses", action="store_true", help="print what went wrong")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args(arguments)
    if args.exchanges:
        return talks(args.exchanges, misses=args.misses, json=args.json)
    halves = GROUPS.get(args.half, (args.half,))
    rows = [item for half in halves for item in items(half)]
    found: list[float] = []
    right: list[float] = []
    wrong: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for item in rows:
        gone, replaced = judge(item)
        found += gone
        right += [float(touches) for *_, touches in replaced]
        missed[item.about] += gone.count(0.0)
        wrong[item.about] += sum(not touches for *_, touches in replaced)
        if args.misses:
            tell(item, gone, replaced)
    if not found or not right:
        print("Nothing was measured.", file=sys.stderr)
        return 1
    recall, precision = figure(found), figure(right)
    print(f"{args.half}: {len(rows)} texts, {len(found)} secrets, {len(right)} stretches replaced")
    print(f"recall    {shown(recall)}   not found: {+missed}")
    print(f"precision {shown(precision)}   wrong: {+wrong}")
    result: dict[str, Any] = {"what": "scrubbing", "half": args.half, **circumstances()}
    result |= {"scrubber": REDACTOR_VERSION, "texts": len(rows)}
    result |= {"recall": list(vars_of(recall)), "precision": list(vars_of(precision))}
    write_json(args.json, result)
    return 0


def talks(name: str, *, misses: bool, json: Path | None) -> int:
    """Measure a set of exchanges turn by turn, print, write; return the exit code."""
    gone: list[float] = []
    eaten: list[float] = []
    with Memory.open("memory://", user="bench", embedders=[HashEmbedder(64)]) as memory:
        for number, turns in enumerate(exchanges(name)):
            session = f"talk-{number}"
            for place, turn in enumerate(turns):
                memory.add(turn.text, session=session, turn=place, role=("user", "assistant")[place % 2])
            with memory._workspace.store.reader(memory._workspace.scope) as reader:
                after = [one.content for one in reader.turns(session, 0, len(turns))]
            secrets = [
                float(not _left(turn.text[start:end], text))
                for turn, text in zip(turns, after, strict=True)
                for start, end in turn.secrets
            ]
            changed = [turn.text for turn in turns] != after
            gone += secrets
            eaten += [] if secrets else [float(changed)]
            if misses and (0.0 in secrets or (changed and not secrets)):
                print(f"  {turns[0].about}: {[turn.text for turn in turns]} became {after}")
    if not gone or not eaten:
        print("Nothing was measured.", file=sys.stderr)
        return 1
    recall, wrong = figure(gone), figure(eaten)
    print(f"exchanges {name}: {sum(gone):.0f} of {len(gone)} secrets gone, {shown(recall)}")
    print(f"without a secret: {sum(eaten):.0f} of {len(eaten)} changed, {shown(wrong)}")
    result: dict[str, Any] = {"what": "scrubbing turns", "set": name, **circumstances()}
    result |= {"scrubber": REDACTOR_VERSION, "recall": list(vars_of(recall)), "changed": list(vars_of(wrong))}
    write_json(json, result)
    return 0


def vars_of(value: Any) -> Iterator[float]:
    """Mean, low, high and count of a figure."""
    yield from (value.mean, value.low, value.high, value.queries)


def judge(item: Item) -> tuple[list[float], list[tuple[int, int, bool]]]:
    """For each secret 1.0 where it is gone; and each replaced stretch that counts, with whether it is right."""
    after = redact_text(item.text).text
    gone = [float(not _left(item.text[start:end], after)) for start, end in item.secrets]
    replaced = []
    for start, end in stretches(item.text, after):
        if _touches((start, end), item.secrets):
            replaced.append((start, end, True))
        elif not _touches((start, end), item.optional):
            replaced.append((start, end, False))
    return gone, replaced


def stretches(before: str, after: str) -> list[tuple[int, int]]:
    """Where in the text before something was replaced."""
    if before == after:
        return []
    pattern = "(.*?)".join(re.escape(part) for part in MARK.split(after))
    match = re.fullmatch(pattern, before, re.DOTALL)
    if match is None:
        raise ValueError(f"{after!r} is not {before!r} with stretches replaced")
    return [match.span(group + 1) for group in range(match.re.groups) if match[group + 1]]


def tell(item: Item, gone: Sequence[float], replaced: Sequence[tuple[int, int, bool]]) -> None:
    """Print what went wrong with an item."""
    for (start, end), is_gone in zip(item.secrets, gone, strict=True):
        if not is_gone:
            print(f"  missed {item.id} {item.about}: {item.text[start:end][:60]!r} in {item.text[:150]!r}")
    for start, end, touches in replaced:
        if not touches:
            print(f"  wrong  {item.id} {item.about}: {item.text[start:end][:60]!r} in {item.text[:150]!r}")


def _left(secret: str, after: str) -> bool:
    size = min(len(secret), max(LEAST, len(secret) // 4 + 1))
    return any(secret[at : at + size] in after for at in range(len(secret) - size + 1))


def _touches(span: tuple[int, int], others: Sequence[tuple[int, int]]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in others)


if __name__ == "__main__":
    sys.exit(main())
