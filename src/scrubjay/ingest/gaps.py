"""Gaps: passages cut from what is left of a document -> the same passages, where they stand in the whole of it.

What is left of a document of which something was forgotten has gaps: its text is the join of the passages that there
are, and a place in it is not one in the file. Nothing that is cut from it reaches over a gap.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from scrubjay.ingest.label import Draft
from scrubjay.memory.records import Place, Record
from scrubjay.text.markdown import even


def whole(cut: Sequence[Draft], left: Sequence[Record]) -> tuple[Draft, ...]:
    """Return the drafts as they stand in the document.

    Args:
        cut: What the join of the passages' texts was cut into.
        left: The passages that are left of the document, in their order.
    """
    places = [record.place for record in left if record.place is not None]
    begins, at = [], 0
    for record in left:
        begins.append(at)
        at += len(record.content)
    runs = [0] + [n for n, (one, other) in enumerate(pairwise(places), 1) if one.end != other.start]
    if len(places) < len(left) or (len(runs) == 1 and not places[0].start):
        return tuple(cut)
    text = even("".join(record.content for record in left))
    firsts = [begins[run] for run in runs]
    made: list[Draft] = []
    for draft in cut:
        for start, end in _parts(draft.place, firsts):
            run = bisect_right(firsts, start) - 1
            place = _place(text, start, end, firsts[run], places[runs[run]])
            ordinal = max(place.ordinal, made[-1].place.ordinal + 1 if made else 0)
            content = draft.content[start - draft.place.start : end - draft.place.start]
            made.append(replace(draft, content=content, place=replace(place, ordinal=ordinal)))
    return tuple(made)


def _parts(place: Place, firsts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """A stretch of the join, cut where a run of passages begins within it."""
    edges = [place.start, *(first for first in firsts if place.start < first < place.end), place.end]
    return pairwise(edges)


def _place(text: str, start: int, end: int, first: int, run: Place) -> Place:
    """Where a stretch of the join stands: in the run of passages that begins at ``first`` and stands at ``run``."""
    moved, line = run.start - first, run.line_start + text.count("\n", first, start)
    last = line + text.count("\n", start, end - 1)
    return replace(run, start=start + moved, end=end + moved, line_start=line, line_end=last)
