"""Digests: sessions -> how many questions their digests answer alone, and whether consolidating costs any answer.

    python bench/digests.py bench/labels/sessions_dev.jsonl [--show] [--json FILE]

Each line of the file is a session: ``{"session", "project", "date", "turns": [{"role", "text"}], "questions": [{"q",
"answer", "keys": [[alternative, ...], ...]}]}``. All sessions are added to one store and consolidated as of a year
later. A question is answered from digests if the text of one of the first three that a search of the tier ``crystal``
gives holds, of each group of keys, one alternative, whatever the case. The same is asked of the first five results of a
usual search before and after.

Exit code 1 when nothing was consolidated.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import ask
from metrics import SEED, difference, figure
from report import circumstances, write_json
from scrubjay import Memory
from scrubjay.models.lifecycle import NewMemory
from scrubjay.text.display import estimate_tokens

FIRST, USUAL = 3, 5
"""Digests of a search that may answer, and results of a usual one."""
LATER = timedelta(days=365)
HOLLOW = ("user: ok", "user: great", "user: thanks", "user: next", "user: yes", "user: lovely", "user: nice")
"""How a line begins that says nothing."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sessions", type=Path)
    parser.add_argument("--show", action="store_true", help="print every digest, and what no digest answers")
    parser.add_argument("--json", type=Path, default=None)
    args = parser.parse_args(arguments)
    held = [json.loads(line) for line in args.sessions.read_text("utf-8").splitlines() if line.strip()]
    with (
        tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as place,
        ask.open_memory(Path(place) / "memory.db", [ask.embedders()[0]]) as memory,
    ):
        memory.add_many(turn for session in held for turn in _turns(session))
        before = _usual(memory, held)
        done = memory.consolidate(now=max(_date(session) for session in held) + LATER)
        digests = [made for made in done.made if made.tier == "crystal"]
        after = _usual(memory, held)
        answered = [
            _answers(memory, one, ("crystal",), FIRST) for session in held for one in session["questions"]
        ]
        texts = {memory.history(made.id).memory.session: made.content.lower() for made in digests}
        contained = [
            _holds(texts.get(session["session"], ""), one) for session in held for one in session["questions"]
        ]
        if args.show:
            _show(memory, held, digests, answered)
    if not digests:
        print("digests: nothing was consolidated", file=sys.stderr)
        return 1
    sizes = [estimate_tokens(made.content) for made in digests]
    hollow = sum(
        line.lower().rstrip(".! ") in HOLLOW for made in digests for line in made.content.split("\n")
    )
    alone, change = figure([float(one) for one in answered], SEED), difference(after, before, SEED)
    result: dict[str, Any] = {
        "sessions": len(held), "contained": sum(contained) / len(contained),
        "digests": len(digests), "questions": len(answered), "answered": alone.mean,
        "low": alone.low, "high": alone.high, "tokens": sum(sizes) / len(sizes), "largest": max(sizes),
        "share": done.kept / done.tokens, "hollow": hollow, "archived": done.archived,
        "usual_before": sum(before) / len(before), "usual_after": sum(after) / len(after),
        "usual_change": [change.mean, change.low, change.high],
    }  # fmt: skip
    write_json(args.json, {"what": "digests", **circumstances(), **result})
    print(
        f"answered from digests alone {alone.mean:.3f} [{alone.low:.3f} {alone.high:.3f}] of {len(answered)} questions "
        f"({sum(contained) / len(contained):.3f} stand in the session's digest); "
        f"{len(digests)} digests of {len(held)} sessions, {result['tokens']:.0f} tokens each (largest "
        f"{max(sizes)}, {result['share']:.2f} of the turns'), {hollow} hollow lines; usual search, first {USUAL}: "
        f"{result['usual_before']:.3f} before, {result['usual_after']:.3f} after "
        f"({change.mean:+.3f} [{change.low:+.3f} {change.high:+.3f}]); {done.archived} archived"
    )
    return 0


def _turns(session: dict[str, Any]) -> list[NewMemory]:
    began = _date(session)
    return [
        NewMemory(
            turn["text"],
            session=session["session"],
            project=session.get("project"),
            role=turn["role"],
            turn=number,
            date=(began + timedelta(minutes=number)).isoformat(),
        )
        for number, turn in enumerate(session["turns"])
    ]


def _date(session: dict[str, Any]) -> datetime:
    found = datetime.fromisoformat(session["date"])
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _usual(memory: Memory, held: Sequence[dict[str, Any]]) -> list[float]:
    return [float(_answers(memory, one, (), USUAL)) for session in held for one in session["questions"]]


def _answers(memory: Memory, question: dict[str, Any], tiers: Sequence[str], first: int) -> bool:
    found = memory.search(question["q"], tiers=tiers, limit=first, min_relevance=0).results
    texts = [one.content.lower() for one in memory.get([result.id for result in found]).records]
    return any(_holds(text, question) for text in texts)


def _holds(text: str, question: dict[str, Any]) -> bool:
    return all(any(alt.lower() in text for alt in group) for group in question["keys"])


def _show(
    memory: Memory, held: Sequence[dict[str, Any]], digests: Sequence[Any], answered: Sequence[bool]
) -> None:
    of = {memory.history(made.id).memory.session: made.content for made in digests}
    rest = iter(answered)
    for session in held:
        text = of.get(session["session"], "")
        print(f"\n=== {session['session']} ({estimate_tokens(text)} tokens)\n{text}")
        for one in session["questions"]:
            if not next(rest):
                held_in = _holds(text.lower(), one)
                print(
                    f"--- not answered{' although its digest does' if held_in else ''}: {one['q']} ({one['answer']})"
                )


if __name__ == "__main__":
    sys.exit(main())
