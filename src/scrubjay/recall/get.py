"""Get: ids, or a path and lines -> records with their neighbours, in bounded pieces."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scrubjay.errors import InputError
from scrubjay.memory.records import Record, Source
from scrubjay.memory.reports import Fetched
from scrubjay.recall.assemble import full_paths
from scrubjay.store.base import Reader

MOST_EVIDENCE = 20
"""Pieces of evidence of one memory that are shown."""
SHOWN = 300
"""Characters of each."""
MOST_IDS = 20
"""Ids of one call: an agent that wants more wants a search."""


@dataclass(frozen=True, slots=True)
class Window:
    """How much to return: neighbours on either side, characters, characters to pass over first, and evidence."""

    neighbours: int = 0
    limit: int = 20_000
    offset: int = 0
    evidence: bool = False


def fetch(
    reader: Reader, ids: Sequence[str], path: str | None, lines: tuple[int, int] | None, window: Window
) -> Fetched:
    """Return memories by id (or its shortest unique beginning), or a file's passages by path and lines.

    Raises:
        InputError: Neither or both of ids and path, more than 20 ids, or numbers out of range.
    """
    if bool(ids) == bool(path):
        raise InputError("Give ids or a path, not both and not neither.")
    if len(ids) > MOST_IDS:
        raise InputError(f"{len(ids)} ids were asked for; at most {MOST_IDS} can be had at once.")
    if window.neighbours < 0 or window.limit < 1 or window.offset < 0:
        raise InputError("neighbours and offset must not be negative, and limit must be at least 1.")
    if lines is not None and not path:
        raise InputError(
            "Lines are those of a path; a memory is returned whole.", hint="give path with lines"
        )
    if lines is not None and not 1 <= lines[0] <= lines[1]:
        raise InputError(f"Lines {lines[0]}-{lines[1]} are no range: the first line is 1.")
    records, unknown = _by_lines(reader, path, lines) if path else _by_ids(reader, ids, window.neighbours)
    found = _bounded(reader, records, unknown, window)
    return _with_evidence(reader, found) if window.evidence else found


def _with_evidence(reader: Reader, fetched: Fetched) -> Fetched:
    """Return memories with what they were taken from: the beginning of each text, and what found them there."""
    edges = reader.edges([record.id for record in fetched.records], ["derived_from"], limit=MOST_EVIDENCE)
    held = reader.get(sorted({edge.dst for edge in edges}))
    found: dict[str, tuple[Record, ...]] = {}
    rules: dict[str, tuple[str, ...]] = {}
    for edge in edges:
        if edge.dst in held:
            source = replace(held[edge.dst], content=held[edge.dst].content[:SHOWN])
            found[edge.src] = (*found.get(edge.src, ()), source)
            rules[edge.src] = (*rules.get(edge.src, ()), edge.rule)
    return replace(fetched, evidence=found, rules=rules)


def _by_ids(reader: Reader, ids: Sequence[str], neighbours: int) -> tuple[list[Record], tuple[str, ...]]:
    whole, unknown = named(reader, ids)
    found = reader.get(whole)
    records = [record for memory in whole for record in _around(reader, found[memory], neighbours)]
    return list({record.id: record for record in records}.values()), unknown


def named(reader: Reader, ids: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Return the whole ids that ids or their shortest unique beginnings name, and what names none or several."""
    whole: list[str] = []
    unknown: list[str] = []
    for wanted in dict.fromkeys(ids):
        matches = reader.complete(wanted, 2) if wanted else []
        if len(matches) == 1:
            whole.append(matches[0])
        else:
            unknown.append(wanted)
    return whole, tuple(unknown)


def _by_lines(
    reader: Reader, path: str, lines: tuple[int, int] | None
) -> tuple[list[Record], tuple[str, ...]]:
    for source, relative in _places(reader.sources(), path):
        records = reader.passages(source.id, relative)
        if records:
            return [record for record in records if lines is None or _touches(record, lines)], ()
    return [], (path,)


def _touches(record: Record, lines: tuple[int, int]) -> bool:
    place = record.place
    return place is not None and place.line_start <= lines[1] and place.line_end >= lines[0]


def _places(sources: Sequence[Source], path: str) -> list[tuple[Source, str]]:
    """Return where a path may lie: as an absolute one, from here, or relative to a source's root."""
    found = []
    given = Path(os.path.expanduser(path))  # unlike Path's own, it leaves a `~name` of nobody as it is
    full = Path(os.path.abspath(given))
    for source in sources:
        root = Path(source.root)
        if full.is_relative_to(root):
            found.append((source, full.relative_to(root).as_posix()))
    if not given.is_absolute():
        found += [(source, given.as_posix()) for source in sources]
    return found


def _around(reader: Reader, record: Record, neighbours: int) -> list[Record]:
    """Return a memory among its neighbours: the turns of its conversation, else the passages of its document."""
    place = record.place
    if not neighbours:
        return [record]
    if record.session is not None and record.turn is not None:
        return reader.turns(record.session, record.turn - neighbours, record.turn + neighbours)
    if place is None:
        return [record]
    near = range(place.ordinal - neighbours, place.ordinal + neighbours + 1)
    return [
        other
        for other in reader.passages(place.source, place.path)
        if other.place is not None and other.place.ordinal in near
    ]


def _bounded(reader: Reader, records: Sequence[Record], unknown: tuple[str, ...], window: Window) -> Fetched:
    """Cut the joined text of the records to ``limit`` characters from ``offset``, on whole characters."""
    offset, limit = window.offset, window.limit
    kept: list[Record] = []
    at = 0
    for record in records:
        first, last = max(offset - at, 0), offset + limit - at
        if first < len(record.content) and last > 0:
            kept.append(replace(record, content=record.content[first:last]))
        at += len(record.content)
    paths = full_paths(kept, reader.sources())
    return Fetched(tuple(kept), paths, unknown, offset + limit if at > offset + limit else None)
