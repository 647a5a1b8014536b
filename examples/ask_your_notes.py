"""Sync a folder of Markdown and ask it a question.

python examples/ask_your_notes.py FOLDER QUESTION
"""

import sys
import tempfile
from pathlib import Path

from scrubjay import Memory


def main(folder: str, question: str) -> None:
    with tempfile.TemporaryDirectory() as place, Memory.open(Path(place) / "memory.db") as memory:
        done = memory.sync(folder)
        print(f"{done.files} files, {done.passages} passages")
        for problem in done.problems:
            print(f"left out: {problem.path}: {problem.message}")
        for result in memory.search(question, limit=3).results:
            print(f"\n{result.citation}  ({result.date})\n{result.snippet.strip()}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python examples/ask_your_notes.py FOLDER QUESTION")
    main(*sys.argv[1:])
