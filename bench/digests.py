"""Consolidation: how many questions its digests answer, whether it costs any answer, and how long it takes.

`digests`: each line of the file is a session: ``{"session", "project", "date", "turns": [{"role", "text"}],
"questions": [{"q", "answer", "keys": [[alternative, ...], ...]}]}``. All sessions are added to one store and
consolidated as of a year later. A question is answered by digests if one of the first three results of tier `crystal`
holds, of each group of keys, one alternative, whatever the case. The same is measured of the first five results of a
usual search before and after.

`nights`: made-up conversations of ten turns, each of about 125 tokens over a vocabulary of 20,000 words by Zipf's law,
and a value, all of them old. Times are wall and processor seconds; memory is the peak of the process so far, so sizes
run from small to large.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.command import Command, HollowError, Row
from bench.harness import embedders, open_memory, scratch
from bench.metrics import SEED, difference, figure
from scrubjay import Memory
from scrubjay.models.lifecycle import NewMemory
from scrubjay.text.display import estimate_tokens

FIRST, USUAL = 3, 5
"""Digests of a search that may answer, and results of a usual one."""
LATER = timedelta(days=365)
HOLLOW = ("user: ok", "user: great", "user: thanks", "user: next", "user: yes", "user: lovely", "user: nice")
"""How a line begins that says nothing."""
BEGAN = datetime(2024, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
TURNS, WORDS, VOCABULARY = 10, 90, 20_000


def run(args: argparse.Namespace) -> dict[str, Any]:
    sessions = [json.loads(line) for line in args.sessions.read_text("utf-8").splitlines() if line.strip()]
    with scratch() as place, open_memory(place / "memory.db", embedders()[:1]) as memory:
        memory.add_many(turn for session in sessions for turn in _turns(session))
        before = _usual(memory, sessions)
        done = memory.consolidate(now=max(_date(session) for session in sessions) + LATER)
        digests = [made for made in done.made if made.tier == "crystal"]
        after = _usual(memory, sessions)
        answered = [
            _answers(memory, one, ("crystal",), FIRST) for session in sessions for one in session["questions"]
        ]
        texts = {memory.history(made.id).memory.session: made.content.lower() for made in digests}
        contained = [
            _holds(texts.get(session["session"], ""), one)
            for session in sessions
            for one in session["questions"]
        ]
    if not digests:
        raise HollowError("Nothing was consolidated.")
    sizes = [estimate_tokens(made.content) for made in digests]
    hollow = sum(
        line.lower().rstrip(".! ") in HOLLOW for made in digests for line in made.content.split("\n")
    )
    alone, change = figure([float(one) for one in answered], SEED), difference(after, before, SEED)
    result: dict[str, Any] = {
        "sessions": len(sessions), "contained": sum(contained) / len(contained),
        "digests": len(digests), "questions": len(answered), "answered": alone.mean,
        "low": alone.low, "high": alone.high, "tokens": sum(sizes) / len(sizes), "largest": max(sizes),
        "share": done.kept / done.tokens, "hollow": hollow, "archived": done.archived,
        "usual_before": sum(before) / len(before), "usual_after": sum(after) / len(after),
        "usual_change": [change.mean, change.low, change.high],
    }  # fmt: skip
    for name, value in result.items():
        print(f"{name:14} {value}")
    return result


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


def _usual(memory: Memory, sessions: Sequence[dict[str, Any]]) -> list[float]:
    return [float(_answers(memory, one, (), USUAL)) for session in sessions for one in session["questions"]]


def _answers(memory: Memory, question: dict[str, Any], tiers: Sequence[str], first: int) -> bool:
    found = memory.search(question["q"], tiers=tiers, limit=first, min_relevance=0).results
    texts = [one.content.lower() for one in memory.get([result.id for result in found]).records]
    return any(_holds(text, question) for text in texts)


def _holds(text: str, question: dict[str, Any]) -> bool:
    return all(any(alt.lower() in text for alt in group) for group in question["keys"])


def nights(args: argparse.Namespace) -> dict[str, Any]:
    found = [measured(int(size), args.seed) for size in args.sizes.split(",")]
    if not all(row["digests"] for row in found):
        raise HollowError("Nothing was consolidated.")
    print("\n".join(map(_line, found)))
    return {"rows": found}


def measured(size: int, seed: int) -> dict[str, Any]:
    with (
        scratch() as place,
        open_memory(place / "memory.db", embedders()[:1], connect=("concepts",)) as memory,
    ):
        memory.add_many(turns(size, random.Random(seed)))
        wall, processor = time.perf_counter(), time.process_time()
        done = memory.consolidate(now=NOW)
        took = time.perf_counter() - wall, time.process_time() - processor
        wall, processor = time.perf_counter(), time.process_time()
        again = memory.consolidate(now=NOW)
        return {
            "observations": size,
            "digests": len(done.made),
            "archived": done.archived,
            "seconds": took[0],
            "cpu": took[1],
            "again": time.perf_counter() - wall,
            "again_cpu": time.process_time() - processor,
            "changed_again": len(again.made) + again.archived,
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }


def turns(size: int, draw: random.Random) -> Iterator[NewMemory]:
    """Yield turns of a person and a model, ten to a conversation."""
    words = [
        f"{a}{b}{c}"
        for a in "bdfgklmnprst"
        for b in ("a", "e", "io", "u")
        for c in ("lo", "ner", "sk", "tra", "v")
    ]
    table = [f"{one}{other}" for one in words for other in words][:VOCABULARY]
    weights = [1 / (rank + 10) for rank in range(len(table))]
    for number in range(size):
        session, turn = divmod(number, TURNS)
        text = " ".join(draw.choices(table, weights, k=WORDS))
        sentences = ". ".join(text[at : at + 90].strip().capitalize() for at in range(0, len(text), 90))
        yield NewMemory(
            f"{sentences}. That took {number} seconds.",
            session=f"s{session}",
            role="assistant" if turn % 2 else "user",
            origin="agent" if turn % 2 else "owner",
            turn=turn,
            date=BEGAN + timedelta(minutes=60 * session + turn),
        )


def _line(row: dict[str, Any]) -> str:
    return (
        f"{row['observations']:,} observations: {row['digests']:,} digests in {row['seconds']:.1f} s "
        f"({row['cpu']:.1f} CPU), "
        f"a second night {row['again']:.1f} s ({row['again_cpu']:.1f}) changed {row['changed_again']}, "
        f"peak {row['peak_mb']:.0f} MB"
    )


def _night_rows(result: Mapping[str, Any]) -> list[Row]:
    return [("consolidating made-up conversations", "; ".join(map(_line, result["rows"])), "sync")]


def _options(parser: argparse.ArgumentParser) -> None:
    default = Path(__file__).parent / "labels" / "sessions_dev.jsonl"
    parser.add_argument("sessions", type=Path, nargs="?", default=default)


def _night_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", default="50,10000", help="numbers of memories, ascending")
    parser.add_argument("--seed", type=int, default=11)


DIGESTS = Command(__doc__, run, _options)
NIGHTS = Command(__doc__, nights, _night_options, _night_rows)
