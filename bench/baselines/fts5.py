"""Bare SQLite FTS5: what the database gives by itself, for ratios between machines.

Default tokenizer (no stemming), an OR of the query's words, its own ``bm25()``. It cuts Markdown at headings
and paragraphs to about 1,000 characters; it skips no unchanged file, scores no vector, scopes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import apsw

LONGEST = 1000
"""Characters of a passage, about as many as the product's."""
_BLANK = re.compile(r"\n(?=#{1,6} )|\n\s*\n")
_WORD = re.compile(r"\w+")


def passages(text: str) -> list[str]:
    """Cut at headings and blank lines, then join neighbours up to `LONGEST` characters."""
    found: list[str] = []
    for part in _BLANK.split(text):
        if found and len(found[-1]) + len(part) < LONGEST and not part.startswith("#"):
            found[-1] += "\n\n" + part
        elif part.strip():
            found.append(part)
    return found


class Fts5:
    """One FTS5 table of texts with the name of what each is from."""

    def __init__(self, file: Path) -> None:
        self._db = apsw.Connection(str(file))
        self._db.pragma("journal_mode", "WAL")
        self._db.pragma("synchronous", "NORMAL")
        self._db.execute("CREATE VIRTUAL TABLE passage USING fts5(name UNINDEXED, body)")

    def add(self, rows: Iterable[tuple[str, str]]) -> None:
        """Add (name, text) rows in one transaction."""
        with self._db:
            self._db.executemany("INSERT INTO passage VALUES (?, ?)", rows)

    def add_tree(self, folder: Path, name: str) -> None:
        """Read a tree's Markdown files, cut them and add the passages."""
        for file in sorted(folder.rglob("*.md")):
            text = file.read_text(encoding="utf-8", errors="replace")
            self.add((f"{name}/{file.relative_to(folder).as_posix()}", part) for part in passages(text))

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
        """Write everything into the file and close it."""
        self._db.pragma("wal_checkpoint(TRUNCATE)")
        self._db.close()


def fts5_of(file: Path, trees: Iterable[tuple[str, Path]]) -> Fts5:
    """A new table of all passages of some trees, named ``tree/path``."""
    base = Fts5(file)
    for name, folder in trees:
        base.add_tree(folder, name)
    return base
