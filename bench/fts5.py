"""Bare SQLite FTS5, which every other figure is compared with: passages, its own tokenizer, and ``bm25()``.

Also a command, to be started as cold as others are: ``python bench/fts5.py FILE sync FOLDER`` and
``python bench/fts5.py FILE search WORDS``.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import apsw

LONGEST = 1000
"""Characters of a passage, about as many as the product's."""
_BLANK = re.compile(r"\n(?=#{1,6} )|\n\s*\n")
_WORD = re.compile(r"\w+")


def fts5_passages(text: str) -> list[str]:
    """Cut at headings and blank lines, then join neighbours up to `LONGEST` characters."""
    found: list[str] = []
    for part in _BLANK.split(text):
        if found and len(found[-1]) + len(part) < LONGEST and not part.startswith("#"):
            found[-1] += "\n\n" + part
        elif part.strip():
            found.append(part)
    return found


class Fts5:
    """A table of passages, and of the files they are from; a search is an OR of its words."""

    def __init__(self, file: Path) -> None:
        self._db = apsw.Connection(str(file))
        self._db.pragma("journal_mode", "WAL")
        self._db.pragma("synchronous", "NORMAL")
        self._db.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS passage USING fts5(name UNINDEXED, body);"
            "CREATE TABLE IF NOT EXISTS file (name TEXT PRIMARY KEY, state TEXT, first, last) WITHOUT ROWID"
        )

    def add(self, rows: Iterable[tuple[str, str]]) -> None:
        with self._db:
            self._db.executemany("INSERT INTO passage VALUES (?, ?)", rows)

    def sync(self, folder: Path) -> None:
        """Read what changed below a folder by its time and size; passages are named by their file's path."""
        known = {row[0]: row[1:] for row in self._db.execute("SELECT * FROM file")}
        with self._db:
            for name, path, state in sorted(_files(folder)):
                stored, first, last = known.pop(name, (None, 1, 0))
                if state == stored:
                    continue
                self._db.execute("DELETE FROM passage WHERE rowid BETWEEN ? AND ?", (first, last))
                text = Path(path).read_text(encoding="utf-8", errors="replace")
                (first,) = self._db.execute("SELECT ifnull(max(rowid), 0) + 1 FROM passage").fetchone()
                self.add((name, part) for part in fts5_passages(text))
                (last,) = self._db.execute("SELECT ifnull(max(rowid), 0) FROM passage").fetchone()
                self._db.execute("REPLACE INTO file VALUES (?, ?, ?, ?)", (name, state, first, last))
            for name, (_, first, last) in known.items():
                self._db.execute("DELETE FROM passage WHERE rowid BETWEEN ? AND ?", (first, last))
                self._db.execute("DELETE FROM file WHERE name = ?", (name,))

    def search(self, query: str, limit: int) -> Sequence[str]:
        """The names of the best passages."""
        words = " OR ".join(f'"{word}"' for word in dict.fromkeys(_WORD.findall(query)))
        if not words:
            return []
        found = self._db.execute(
            "SELECT name FROM passage WHERE passage MATCH ? ORDER BY bm25(passage) LIMIT ?", (words, limit)
        )
        return [name for (name,) in found]

    def close(self) -> None:
        self._db.pragma("wal_checkpoint(TRUNCATE)")
        self._db.close()


def _files(folder: Path) -> Iterable[tuple[str, str, str]]:
    for path, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".md"):
                whole = os.path.join(path, name)
                info = os.stat(whole)
                yield os.path.relpath(whole, folder), whole, f"{info.st_mtime_ns} {info.st_size}"


if __name__ == "__main__":
    base = Fts5(Path(sys.argv[1]))
    if sys.argv[2] == "sync":
        base.sync(Path(sys.argv[3]))
    else:
        print("\n".join(base.search(" ".join(sys.argv[3:]), 5)))
    base.close()
