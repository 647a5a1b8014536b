"""Supersede: pairs of statements, each said on its day -> which of the old ones left default answers.

``python bench/supersede.py [FILE] [--wrong]``. A line of FILE holds ``old``, ``new``, ``old_date``, ``new_date``,
``same_session`` and ``kind``: whether the new one is a ``change`` or ``compatible``. Both are added to an empty store.
A compatible pair of which one is superseded must not be; a change that is not found stays a pair that is linked.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from metrics import figure
from scrubjay import Memory
from scrubjay.config.loader import load_settings

LABELS = Path(__file__).parent / "labels" / "supersede_dev.jsonl"


def main() -> None:
    """Print how many compatible statements were superseded, and how many changes were found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, default=LABELS)
    parser.add_argument("--wrong", action="store_true", help="print what was decided otherwise than labelled")
    args = parser.parse_args()
    pairs = [json.loads(line) for line in args.file.read_text(encoding="utf-8").splitlines() if line.strip()]
    if not {"change", "compatible"} <= {pair["kind"] for pair in pairs}:
        raise SystemExit(f"{args.file} has no changes or no compatible pairs")
    done = [outcome(pair) for pair in pairs]
    wanted = {"compatible": "compatible pairs superseded (wanted 0)", "change": "changes found (wanted .7)"}
    for kind, name in wanted.items():
        own = [
            float(found["superseded"])
            for pair, found in zip(pairs, done, strict=True)
            if pair["kind"] == kind
        ]
        share = figure(own)
        print(f"{name}: {sum(own):.0f} of {len(own)}, {share.mean:.3f} [{share.low:.3f}, {share.high:.3f}]")
    named = [
        float(found["superseded"] or found["newer"])
        for pair, found in zip(pairs, done, strict=True)
        if pair["kind"] == "change"
    ]
    print(f"changes found or named as newer: {sum(named):.0f} of {len(named)}")
    print(f"pairs of which one was dropped (wanted 0): {sum(found['dropped'] for found in done)}")
    for pair, found in zip(pairs, done, strict=True) if args.wrong else ():
        if found["superseded"] != (pair["kind"] == "change"):
            print(f"{pair['id']} {pair['kind']}{', named as newer' if found['newer'] else ''}:")
            print(f"    {pair['old']}\n    {pair['new']}")


def outcome(pair: dict[str, Any]) -> dict[str, bool]:
    """Return what became of one pair in a store of its own."""
    with tempfile.TemporaryDirectory() as folder:
        (empty := Path(folder, "none.toml")).touch()
        with Memory.open("memory://", settings=load_settings(empty, {})) as memory:
            session = "s" if pair["same_session"] else None
            old = memory.add(pair["old"], date=pair["old_date"], session=session)
            new = memory.add(pair["new"], date=pair["new_date"], session=session)
            kept = {record.id: record for record in memory.get([old.id, new.id]).records}
            found = memory.search(pair["old"], min_relevance=0).results
            return {
                "superseded": any(record.status == "superseded" for record in kept.values()),
                "newer": any(new.id in result.newer for result in found if result.id == old.id),
                "dropped": new.existed or len(kept) != 2,
            }


if __name__ == "__main__":
    main()
