"""The sync of one large file as a command: seconds, processor, megabytes a second and peak memory.

`--transcript` is a made-up log of Claude Code of so many megabytes: the share `--words` of it is said by people and
models, and the rest is output of tools, which is read and not stored. `--note` is a Markdown file of so many megabytes.
Both repeat sections of a tree with other words in some places, and are deleted afterwards.
"""

from __future__ import annotations

import argparse
import json
import random
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.command import Command, HollowError, Row, in_line
from bench.harness import scratch
from bench.metrics import SEED
from bench.processes import command, environment, watched
from bench.report import load
from bench.texts import generate, unpack, varied

SECTIONS = 2_000
"""Texts that are repeated."""
TURNS = 400
"""Turns of a session."""


def run(args: argparse.Namespace) -> dict[str, Any]:
    found: dict[str, Any] = {}
    with scratch() as place:
        (place / "tree").mkdir()
        tree = unpack(args.tree, place / "tree")[0] if args.tree else generate(place / "tree", SEED)
        _, folder = varied(tree, place, SEED, files=SECTIONS, size=600)
        sections = [file.read_text("utf-8") for file in sorted(folder.rglob("*.md"))]
        for name, megabytes, lines in (
            ("log.jsonl", args.transcript, records(sections, args.words)),
            ("note.md", args.note, notes(sections)),
        ):
            if megabytes:
                found[name] = measured(place / name, lines, megabytes)
                print(f"{name}: {in_line(found[name])}", flush=True)
    return found | {"words": args.words}


def measured(file: Path, lines: Iterator[str], megabytes: float) -> dict[str, Any]:
    """Write a file of so many megabytes, sync it in a fresh home, and delete it."""
    home, size = file.with_suffix(".home"), 0
    home.mkdir()
    with file.open("wb") as out:
        while size < megabytes * 1e6:
            size += out.write(next(lines).encode("utf-8", "replace"))
    done = watched([*command(), "sync", str(file)], environment(home) | {"PYTHONUNBUFFERED": "1"})
    file.unlink()
    said = done.output.partition("\n")[0]
    if ": 0 added" in said:
        raise HollowError(f"Nothing of {file.name} was stored: {said}")
    return {
        "megabytes": round(size / 1e6),
        "passages": said.partition(":")[0],
        "searchable_seconds": round(done.first_line, 1),
        "seconds": round(done.seconds, 1),
        "cpu": round(done.cpu, 1),
        "megabytes_a_second": round(size / 1e6 / done.first_line, 2),
        "peak_mb": round(done.peak),
        "load": load(),
    }


def records(sections: Sequence[str], share: float) -> Iterator[str]:
    """Yield lines of a log: turns until they have their share of the bytes, else output of tools."""
    rng, parent, number, said, written = random.Random(SEED), None, 0, 0, 0
    while True:
        own: dict[str, Any] = {
            "parentUuid": parent,
            "isSidechain": False,
            "cwd": "/not/here/shop",
            "sessionId": f"session-{number // TURNS}",
            "uuid": (parent := str(uuid.UUID(int=rng.getrandbits(128)))),
            "timestamp": f"2026-03-{1 + number % 28:02}T10:{number % 60:02}:00.000Z",
        }
        if said <= share * written:
            role, text = ("user", "assistant")[number % 2], f"{rng.choice(sections)} {number}"
            number, said = number + 1, said + len(text)
            own |= {"type": role, "message": {"role": role, "content": [{"type": "text", "text": text}]}}
        else:
            output = "\n".join([*rng.sample(sections, min(8, len(sections))), str(written)])
            block = {"type": "tool_result", "tool_use_id": "run", "content": output}
            own |= {"type": "user", "message": {"role": "user", "content": [block]}}
        line = json.dumps(own, ensure_ascii=False) + "\n"
        written += len(line)
        yield line


def notes(sections: Sequence[str]) -> Iterator[str]:
    """Yield sections of a note, each under a heading of its own."""
    rng, number = random.Random(SEED), 0
    while True:
        number += 1
        yield f"## Part {number}\n\n{rng.choice(sections)}\n\n"


def _rows(result: Mapping[str, Any]) -> list[Row]:
    return [
        (f"sync of one {name}, {result['words']} of a log is words", in_line(own), "sync")
        for name, own in result.items()
        if isinstance(own, dict)
    ]


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tree", type=Path, help="folder or .tar.gz whose sections are repeated; a made-up one"
    )
    parser.add_argument("--transcript", type=float, default=1000, help="megabytes of the log; 0 for none")
    parser.add_argument("--note", type=float, default=10, help="megabytes of the note; 0 for none")
    parser.add_argument("--words", type=float, default=0.01, help="share of the log that is said")


LARGE_FILES = Command(__doc__, run, _options, _rows)
