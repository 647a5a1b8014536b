"""Naming: what a memory stands under, for the stages that count its words and embed it."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Final

from scrubjay.ingest.abstract import abstract
from scrubjay.memory.records import Record
from scrubjay.store.changes import Prepared
from scrubjay.text.languages import language
from scrubjay.text.tokens import terms

HEAD: Final = 500
"""Characters at the beginning of a passage in which its own headings stand."""


def above(record: Record) -> tuple[str, ...]:
    """Return the headings or the title that a memory stands under and does not itself begin with.

    A passage holds the heading it stands under; one that is added with a title holds it only as its first line.
    """
    if record.place is not None:
        head = record.content[:HEAD]
        return tuple(name for name in dict.fromkeys(record.heading_path) if name and name not in head)
    first = record.content.lstrip("#\n ").partition("\n")[0].strip()
    return (record.title,) if record.title and first != record.title else ()


def prepare(record: Record, tongue: str | None = None) -> Prepared:
    """Return a memory with its abstract and overview, and its terms.

    Its terms are those of its text, of what it stands under, and its title's once more.

    A title counted twice lifts known items (a heading's words find its section first .79 to .87 of the
    time) and lowers no set by more than .005 (bench/LOG.md).
    """
    tongue = tongue or language(record.content)
    named = "\n".join((record.title, *context(record), record.content))
    phrase, paragraph = abstract(record.title, record.content, record.heading_path)
    if (phrase, paragraph) != (record.abstract, record.overview):
        record = replace(record, abstract=phrase, overview=paragraph)
    return Prepared(record, terms(named, tongue), {}, tongue)


def context(record: Record) -> tuple[str, ...]:
    """Return what names a memory but does not stand in its own text.

    The headings above it (or the title it was given), and its file's name.
    """
    if record.place is None or record.turn is not None:  # the file of a conversation is named by its tool
        return above(record)
    stem = _stem(record.place.path)
    return (*above(record), stem) if stem not in record.content[:HEAD] else above(record)


@lru_cache(maxsize=64)
def _stem(path: str) -> str:
    """Return a file's name without its ending; the passages of one document come one after another."""
    return PurePosixPath(path).stem
