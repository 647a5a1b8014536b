"""Whether the answer ranks first in a store of notes and conversations.

``DIR`` holds ``notes/`` (Markdown, synced as a folder), ``sessions/*.jsonl`` (``role``, ``text``, ``time``,
``session``, ``project``; synced as transcripts) and ``questions.jsonl``: ``q``, ``kind``, and ``gold``, a list of a
``file`` or a ``session``, each with a verbatim ``quote``. A result answers when it is of that file or session and
holds the quote, or was derived from a memory that does. Questions are asked an hour after the last turn.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bench.command import Command, HollowError, Row, listed
from bench.harness import embed, embedders, open_memory, scratch
from bench.metrics import SEED, figure, shown
from scrubjay import Memory
from scrubjay.models.records import Record
from scrubjay.models.results import Result

DEPTH = 5


def run(args: argparse.Namespace) -> dict[str, Any]:
    result = {}
    with scratch() as folder:
        for state, found in measured(args.dir, folder, listed(args.state)).items():
            result[state] = figures(found)
            print(f"{state}: {result[state]}", flush=True)
            for kind in sorted({question["kind"] for question, _, _ in found}):
                print(f"  {kind}: {figures([one for one in found if one[0]['kind'] == kind])}")
            for question, place, results in found if args.misses else ():
                if place != 1:
                    first = " ".join(results[0].snippet.split())[:110] if results else "(nothing)"
                    print(f"  {place or '-'}  {question['q']}\n       first: {first}")
    return {"set": args.dir.name, "states": result}


Asked = tuple[Mapping[str, Any], int, tuple[Result, ...]]
"""A question, the place of the first result that answers it (0 for none), and the results."""


def measured(place: Path, folder: Path, states: Sequence[str]) -> dict[str, list[Asked]]:
    """Store everything once and ask each question in each state of the store."""
    questions = [json.loads(line) for line in (place / "questions.jsonl").read_text("utf-8").splitlines()]
    shutil.copytree(place / "notes", folder / "notes")
    last = write_transcripts(place / "sessions", folder / "sessions")
    now = last + timedelta(hours=1)
    found = {}
    with open_memory(folder / "memory.db", embedders()) as memory:
        memory.sync(folder / "notes")
        memory.sync(folder / "sessions")
        _check(memory, questions)
        for state in states:
            if state == "embed":
                embed(memory, {"embed": 0.0})
            found[state] = [_ask(memory, question, now) for question in questions]
            if not any(place for _, place, _ in found[state]):
                raise HollowError(f"Not one of {len(questions)} questions was answered ({state}).")
    return found


def figures(found: Sequence[Asked]) -> str:
    first = figure([float(place == 1) for _, place, _ in found], SEED)
    among = figure([float(place > 0) for _, place, _ in found], SEED)
    silent = sum(not results for _, _, results in found)
    return f"hit@1 {shown(first)}, hit@5 {shown(among)} (n={len(found)}, silent {silent})"


def write_transcripts(sessions: Path, into: Path) -> datetime:
    """Write the sessions in the generic form of transcripts (docs/conversations.md); return when the last turn was."""
    into.mkdir()
    last = []
    for file in sorted(sessions.glob("*.jsonl")):
        turns = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        for turn in turns:
            turn["content"] = turn.pop("text")
        last.append(max(datetime.fromisoformat(turn["time"]) for turn in turns))
        lines = [json.dumps(turn, ensure_ascii=False) + "\n" for turn in turns]
        (into / file.name).write_text("".join(lines), "utf-8")
    if not last:
        raise HollowError(f"{sessions} holds no session.")
    return max(last)


def _ask(memory: Memory, question: Mapping[str, Any], now: datetime) -> Asked:
    results = memory.search(question["q"], limit=DEPTH, now=now).results
    ids = {one for result in results for one in (result.id, *result.evidence)}
    records = {record.id: record for record in memory.get(sorted(ids)).records} if ids else {}
    for place, result in enumerate(results, start=1):
        of = [records[one] for one in (result.id, *result.evidence) if one in records]
        if any(answers(record, gold) for record in of for gold in question["gold"]):
            return question, place, results
    return question, 0, results


def answers(record: Record, gold: Mapping[str, str]) -> bool:
    file = f"notes/{record.place.path}" if record.place is not None and record.session is None else None
    if (file, record.session) not in ((gold.get("file"), None), (None, gold.get("session"))):
        return False
    return " ".join(gold["quote"].split()) in " ".join(record.content.split())


def _check(memory: Memory, questions: Sequence[Mapping[str, Any]]) -> None:
    """Raise where no memory holds a quote, since the set could not be measured then."""
    records, after = [], ""
    while True:
        page = memory.page(after=after, limit=1000)
        records += page.records
        if page.next is None:
            break
        after = page.next
    for question in questions:
        for gold in question["gold"]:
            if not any(answers(record, gold) for record in records):
                raise HollowError(f"No memory of {len(records)} holds {gold}.")


def _rows(result: Mapping[str, Any]) -> list[Row]:
    return [(f"mixed {result['set']}", value, state) for state, value in result["states"].items()]


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dir", type=Path, nargs="?", default=Path(__file__).parent / "labels" / "mixed_dev")
    parser.add_argument("--state", default="sync,embed")
    parser.add_argument(
        "--misses", action="store_true", help="list questions whose answer does not rank first"
    )


MIXED = Command(__doc__, run, _options, _rows)
