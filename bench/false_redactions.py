"""False redactions: files of notes and talks -> each thing that scrubbing replaces in them, to be read by eye.

    python bench/false_redactions.py [--json FILE] PATH...

A path is a file or a folder. Markdown and plain text are read, those in a tar.gz as well, and the texts of
``corpus.jsonl``, packed or not; a turn of a session is read with the two before it. Each replacement is printed with
its place and forty characters on either side, and at the end how many there are in a million characters. Whether one
is false only a reader can say.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from report import circumstances, write_json
from scrubbing import MARK, stretches
from scrubjay.redaction.redactor import REDACTOR_VERSION, redact_text

NEAR = 40
SUFFIXES = (".md", ".markdown", ".txt", ".rst")


def main(arguments: Sequence[str] | None = None) -> int:
    """Scrub all, print what was replaced; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args(arguments)
    files = characters = replaced = 0
    for place, text, before in (document for root in args.paths for document in documents(root)):
        files += 1
        characters += len(text)
        for start, end in stretches(text, redact_text(text, before=before).text):
            if MARK.fullmatch(text, start, end):
                continue
            replaced += 1
            line = text.count("\n", 0, start) + 1
            before, after = text[max(0, start - NEAR) : start], text[end : end + NEAR]
            print(f"{place}:{line}: {before!r} >>{text[start:end]!r}<< {after!r}")
    if not characters:
        print("Nothing was measured.", file=sys.stderr)
        return 1
    rate = replaced * 1e6 / characters
    print(f"{files} files, {characters} characters, {replaced} replaced, {rate:.2f} in a million characters")
    result: dict[str, Any] = {"what": "false redactions", "scrubber": REDACTOR_VERSION, **circumstances()}
    result |= {"files": files, "characters": characters, "replaced": replaced, "per_million": rate}
    write_json(args.json, result)
    return 0


def documents(root: Path) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The texts of a file, or of the files below a folder, each with its place and the turns before it."""
    paths = sorted(path for path in root.rglob("*") if path.is_file()) if root.is_dir() else [root]
    for path in paths:
        if path.name.endswith(".tar.gz"):
            with tarfile.open(path) as tar:
                for member in tar:
                    held = tar.extractfile(member) if member.name.endswith(SUFFIXES) else None
                    if held:
                        yield f"{path.name}/{member.name}", held.read().decode("utf-8", "replace"), ()
        elif path.name.startswith("corpus.jsonl"):
            with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as lines:
                session, before = None, ()
                for row in map(json.loads, lines):
                    # Turns stand in their order, a session after the other.
                    before = before[-2:] if row.get("session") == session is not None else ()
                    yield f"{path.parent.name}/{row['_id']}", row["text"], before
                    session, before = row.get("session"), (*before, row["text"])
        elif path.suffix in SUFFIXES:
            yield str(path), path.read_text("utf-8", "replace"), ()


if __name__ == "__main__":
    sys.exit(main())
