"""Large files: Markdown files of some megabytes -> time and peak memory of a `sync` of each, in a process of its own.

    python bench/large_files.py [--sizes 1,10,30] [--shapes notes,plain,lines,table] [--json FILE]

Four shapes, of words drawn from this repository's own pages: `notes` has many headings, paragraphs and lists, `plain`
paragraphs without any heading, `lines` four lines without a line end in them, `table` one table. Each file is synced
into a store of its own by the installed command with the bundled model. What is wanted: a peak below 20 times the file
and 200 MB, and 10 MB in less than 400 MB.

Exit code 1 when a run failed, was hollow (nothing can be found afterwards), or passed the bound.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from processes import environment
from report import circumstances, write_json

MB = 1_000_000
TIMES, BASE = 20, 200
"""The bound: so many times the file, and so many MB."""
NEEDLE = "Quillfeather anchors the bellwether crane at Sunderholm."


def vocabulary() -> list[str]:
    """Return the words of the pages of `docs/`, each as often as it stands there."""
    pages = sorted((Path(__file__).parents[1] / "docs").glob("*.md"))
    return re.findall(r"\b[a-z]{2,14}\b", " ".join(page.read_text() for page in pages))


def text(shape: str, size: int, seed: int = 1) -> Iterator[str]:
    """Yield about so many bytes of one shape, a piece at a time."""
    rng = random.Random(seed)
    drawn = rng.choices(vocabulary(), k=200_000)

    def said(count: int) -> str:
        start = rng.randrange(len(drawn) - count)
        return " ".join(drawn[start : start + count])

    made = 0
    piece = SHAPES[shape]
    for number in range(10**9):
        if made >= size:
            break
        if number == 3:
            yield (
                f" {NEEDLE} "
                if shape == "lines"
                else f"\n\n{NEEDLE}\n\n"
                if shape != "table"
                else f"| crane | bird | {NEEDLE} |\n"
            )
        part = piece(said, number, size)
        made += len(part)
        yield part


def _notes(said: Callable[[int], str], number: int, size: int) -> str:
    level = 1 if number == 0 else 2 + number % 3
    head = f"{'#' * level} {said(3).title()} {number}\n\n"
    listed = "".join(f"- {said(9)}\n" for _ in range(4)) if number % 4 == 0 else ""
    return (
        head
        + "\n\n".join(f"{said(40)}. {said(30)}, {said(12)}." for _ in range(1 + number % 3))
        + f"\n\n{listed}\n"
    )


def _plain(said: Callable[[int], str], number: int, size: int) -> str:
    return f"{said(35).capitalize()}. {said(25).capitalize()}.\n\n"


def _lines(said: Callable[[int], str], number: int, size: int) -> str:
    return f"{said(20).capitalize()}. " if (number + 1) % (size // 500) else f"{said(20).capitalize()}.\n"


def _table(said: Callable[[int], str], number: int, size: int) -> str:
    head = "| name | kind | what it is |\n| --- | --- | --- |\n" if number == 0 else ""
    return head + f"| {said(2)} | {said(1)} | {said(8)} |\n"


SHAPES = {"notes": _notes, "plain": _plain, "lines": _lines, "table": _table}


def write(folder: Path, shape: str, size: int) -> Path:
    """Write a file of a shape, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{shape}.md"
    with path.open("w") as file:
        for part in text(shape, size):
            file.write(part)
    return path


def run(home: Path, *args: str) -> tuple[int, float, float, str]:
    """Run a command; return its exit code, seconds, peak MB and output."""
    out = home / "out"
    started = time.monotonic()
    with out.open("wb") as file:
        env = environment(home) | {"SCRUBJAY_STORE": str(home / "memory.db"), "SCRUBJAY_USER": "reader"}
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, "-m", "scrubjay", *args],
            env,
            file_actions=[(os.POSIX_SPAWN_DUP2, file.fileno(), 1), (os.POSIX_SPAWN_DUP2, file.fileno(), 2)],
        )
        _, status, used = os.wait4(pid, 0)
    return (
        os.waitstatus_to_exitcode(status),
        time.monotonic() - started,
        used.ru_maxrss / 1024,
        out.read_text(),
    )


def main() -> int:
    """Measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", default="1,10,30")
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    rows, bad = [], 0
    for shape in args.shapes.split(","):
        for size in map(float, args.sizes.split(",")):
            with tempfile.TemporaryDirectory() as folder:
                home = Path(folder)
                path = write(home / "notes", shape, int(size * MB))
                held = path.stat().st_size / MB
                code, seconds, peak, said = run(home, "sync", str(path))
                _, _, _, found = run(home, "search", NEEDLE)
                bound = TIMES * held + BASE
                # of a table a snippet may show other rows
                hollow = "Sunderholm" not in found and f"{shape}.md:1-" not in found
                ok = code == 0 and not hollow and peak < bound and (not 9 < size < 11 or peak < 400)
                bad += not ok
                rows.append({
                    "shape": shape, "mb": held, "seconds": seconds, "peak_mb": peak, "bound_mb": bound,
                    "times": peak / held, "code": code, "hollow": hollow,
                })  # fmt: skip
                verdict = "ok" if ok else f"NOT MET (code {code}{', hollow' if hollow else ''})"
                print(
                    f"{shape:>6} {held:5.1f} MB: {seconds:6.1f} s, peak {peak:6.0f} MB ({peak / held:5.1f} times), "
                    f"bound {bound:4.0f}: {verdict}",
                    flush=True,
                )
                if code:
                    print(said[-2000:], file=sys.stderr)
    if args.json is not None:
        write_json(args.json, {"circumstances": circumstances(), "rows": rows})
    return int(bad > 0)


if __name__ == "__main__":
    raise SystemExit(main())
