"""Basic Memory: a folder of its notes, or one note -> items.

Source: basicmachines-co/basic-memory, ``NOTE-FORMAT.md`` and ``src/basic_memory/markdown/plugins.py``
(32235b7, 2026): Markdown with front matter (``title``, ``type``, ``tags``, ``permalink``, ``created``); list
items ``[category] text #tag (context)`` are observations, ``relation_type [[Target]] (context)`` relations,
and any other ``[[Target]]`` a link. Categories that are times or marks of tasks are none, nor is anything in
a quote or in a block of code.

An observation becomes a fact that begins with its note's title, with category and tags; the rest of a note
one memory; relations connect notes, and each note is a concept. The files stay as they are. Whoever goes on
writing them had better sync the folder: `scrubjay sync` keeps it in step and cites lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scrubjay.ingest.front import fields
from scrubjay.ingest.importing.item import Found, Item, Joined, Named
from scrubjay.ingest.importing.values import texts
from scrubjay.ingest.sources.transcripts.fields import string
from scrubjay.memory.moves import Broken
from scrubjay.memory.new import NewMemory

MOST: Final = 10 * 1024 * 1024
"""Bytes of a note; what is longer is no note."""
TIER: Final = {"lesson": "lesson", "preference": "lesson", "howto": "procedural", "step": "procedural"}
"""Category of an observation to its tier; all others are facts."""
_FRONT = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_ITEM = re.compile(r"\s*[-*+]\s+(.*\S)\s*\Z")
_OBSERVATION = re.compile(r"\[([^\[\]()]+)\]\s+(.+)")
_TIME = re.compile(r"\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?(?:\s+-\s+[\d:.,]+)?")
_RELATION = re.compile(r"(?:\"([^\"]+)\"|'([^']+)'|([^\s\[\]]+))\s*\[\[([^\[\]]+)\]\]\s*(\([^()]*\))?")
_LINK = re.compile(r"\[\[([^\[\]]+)\]\]")
_TAG = re.compile(r"(?:^|\s)#([^\s#]+)")


@dataclass(frozen=True, slots=True)
class _Note:
    path: str
    title: str
    tags: tuple[str, ...]
    date: str | None


def read(path: Path) -> Iterator[Found]:
    """Yield what notes hold, in the order of their paths."""
    folder = path if path.is_dir() else path.parent
    files = sorted(path.rglob("*.md")) if path.is_dir() else [path]
    for file in files:
        name = file.relative_to(folder).as_posix()
        if any(part.startswith(".") for part in name.split("/")):
            continue
        try:
            text = "" if file.stat().st_size > MOST else file.read_text("utf-8-sig")
        except OSError as error:
            yield Broken(name, f"it cannot be read: {error.strerror}")
            continue
        except UnicodeDecodeError as error:
            yield Broken(name, f"it is not UTF-8 at byte {error.start}")
            continue
        if not text and file.stat().st_size:
            yield Broken(name, f"it has more than {MOST:,} bytes")
            continue
        yield from _note(name, file.stem, text.replace("\r\n", "\n"))


def _note(path: str, stem: str, text: str) -> Iterator[Found]:
    front = _FRONT.match(text)
    told, wrong = fields(front[1]) if front else ({}, "")
    if wrong:
        yield Broken(path, wrong)
    tags = texts(told.get("tags"))
    if isinstance(told.get("tags"), str):
        tags = [tag.strip() for tag in tags[0].split(",")] if tags else []
    title = string(told.get("title")).strip() or stem
    when = string(told.get("created")) or string(told.get("date")) or None
    note = _Note(path, title, tuple(tag for tag in tags if tag), when)
    yield Named(title, (), path)
    body, first = (text[front.end() :], front[0].count("\n") + 1) if front else (text, 1)
    kept, found = _taken(note, body, first)
    prose = "\n".join(kept).strip()
    if any(line.strip() and not line.lstrip().startswith("#") for line in kept):
        new = NewMemory(prose, "observation", title, tags=note.tags, date=note.date)
        yield Item(new, path, (title,), title)
    yield from found


def _taken(note: _Note, body: str, first: int) -> tuple[list[str], list[Found]]:
    """Return the lines that are prose, and what the others say."""
    kept: list[str] = []
    found: list[Found] = []
    fenced = False
    for number, line in enumerate(body.split("\n"), first):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        item = None if fenced else _ITEM.match(line)
        said = _said(note, item[1], f"{note.path} line {number:,}") if item else []
        if said:
            found += said
            continue
        kept.append(line)
        if not fenced:
            found += _links(note, line)
    return kept, found


def _links(note: _Note, text: str) -> list[Found]:
    return [Joined(note.title, target.strip(), "links", "links_to") for target in _LINK.findall(text)]


def _said(note: _Note, text: str, where: str) -> list[Found]:
    """Return what a list item says: an observation, a relation, or nothing."""
    relation = _RELATION.fullmatch(text)
    if relation:
        kind = relation[1] or relation[2] or relation[3]
        return [Joined(note.title, relation[4].strip(), "links", kind)]
    match = _OBSERVATION.fullmatch(text)
    category = match[1].strip() if match else ""
    mark = category in ("x", "X") or (len(category) == 1 and not category.isalnum())
    if not match or not category or mark or _TIME.fullmatch(category):
        return []
    content = match[2].strip()
    tags = (*note.tags, category, *_TAG.findall(content))
    tier = TIER.get(category.lower().replace("-", ""), "semantic")
    new = NewMemory(f"{note.title}: {content}", tier, note.title, tags=tags, date=note.date)
    return [Item(new, where, (note.title,), note.title), *_links(note, content)]
