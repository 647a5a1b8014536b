"""Learned: sessions as transcripts -> what was learned from them, against the sentences that are worth remembering.

``python bench/learned.py [FILE] [--missed]``. A line of FILE holds a ``session``, its ``date``, ``turns``
(``role``, ``text``) and ``statements``: sentences of it, as they stand there. A learned statement is right when it lies
within such a sentence or holds one. Every learned statement is printed, for readers to judge what is not labelled.
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

LABELS = Path(__file__).parent / "labels" / "sessions_dev.jsonl"


def main() -> None:
    """Print what is learned from each session, and how much of it is labelled."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, default=LABELS)
    parser.add_argument("--missed", action="store_true", help="print what was labelled and not learned")
    args = parser.parse_args()
    lines = args.file.read_text(encoding="utf-8").splitlines()
    sessions = [json.loads(line) for line in lines if line.strip()]
    right: list[float] = []
    found: list[float] = []
    for session in sessions:
        learned = told(session)
        wanted = [_flat(one["text"]) for one in session["statements"]]
        for turn, text in learned:
            right.append(float(any(_meets(text, one) for one in wanted)))
            print(f"{session['session']} turn {turn} {'+' if right[-1] else '?'} {text}")
        for one in wanted:
            found.append(float(any(_meets(text, one) for _, text in learned)))
            if args.missed and not found[-1]:
                print(f"{session['session']} missed: {one}")
    if not right or not found:
        raise SystemExit("nothing was learned, or nothing is labelled")
    precision, recall = figure(right), figure(found)
    each = len(right) / len(sessions)
    print(f"{len(sessions)} sessions, {len(right)} learned, {each:.1f} a session (wanted at most 2)")
    print(f"precision {precision.mean:.2f} [{precision.low:.2f}, {precision.high:.2f}]")
    print(f"recall {recall.mean:.2f} [{recall.low:.2f}, {recall.high:.2f}] of {len(found)} labelled")


def told(session: dict[str, Any]) -> list[tuple[int | None, str]]:
    """Return what is learned from one session in a store of its own: the turn, and the words."""
    with tempfile.TemporaryDirectory() as folder:
        (empty := Path(folder, "none.toml")).touch()
        (root := Path(folder, "talks")).mkdir()
        rows = [
            {
                "role": turn["role"],
                "content": turn["text"],
                "session": session["session"],
                "timestamp": session["date"],
            }
            for turn in session["turns"]
        ]
        talk = root / f"{session['session']}.jsonl"
        talk.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        with Memory.open("memory://", settings=load_settings(empty, {})) as memory:
            memory.sync(talk)
            found = []
            for kept in _derived(memory):
                turns = memory.get(list(memory.history(kept.id).evidence)).records
                found.append((turns[0].turn if turns else None, _flat(kept.content)))
    return sorted(found, key=lambda one: (one[0] or 0, one[1]))


def _derived(memory: Memory) -> list[Any]:
    with memory._workspace.store.reader(memory._workspace.scope) as reader:
        return [record for record in reader.page("", 10_000) if record.origin == "derived"]


def _flat(text: str) -> str:
    return " ".join(text.split())


def _meets(one: str, other: str) -> bool:
    return one.strip(" .!") in other or other.strip(" .!") in one


if __name__ == "__main__":
    main()
