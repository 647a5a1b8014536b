"""Citations: where a passage is in its file, in the unit that a reader of the file has.

A text has lines (``notes.md:3-9``), a PDF pages (``report.pdf#page=7``), any other document the headings of its own
(``contract.docx#terms-of-payment``): the lines of the text that was made of it are nobody's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from scrubjay.models.records import Record, SourcePlace

PositionUnit = Literal["line", "page", "heading"]

_PAGE_MARK = "#page="
MAX_ANCHOR = 60
"""Characters of a heading's anchor."""


def is_paged(path: str) -> bool:
    return path[-4:].lower() == ".pdf"


def position_unit(path: str, place: SourcePlace | None = None) -> PositionUnit:
    """Return the unit of a document's positions; ``place`` is one of its passages, with line 0 where it has none."""
    if is_paged(path):
        return "page"
    return "heading" if place is not None and place.line_start == 0 else "line"


def line_range(place: SourcePlace | None) -> tuple[int, int] | None:
    """Return a passage's first and last line, or None where its file has none."""
    if place is None or position_unit(place.path, place) != "line":
        return None
    return place.line_start, place.line_end


def position(record: Record) -> str:
    """Return the part of a citation that follows the path."""
    place = record.place
    if place is None:
        return ""
    unit = position_unit(place.path, place)
    if unit == "heading":
        anchor = heading_anchor(record.heading_path)
        return f"#{anchor}" if anchor else ""
    if unit == "page":
        last = f"-{place.line_end}" if place.line_end != place.line_start else ""
        return f"{_PAGE_MARK}{place.line_start}{last}"
    return f":{place.line_start}-{place.line_end}"


def heading_anchor(heading_path: Sequence[str]) -> str:
    """Return the anchor of the innermost heading.

    >>> heading_anchor(("Contract", "Terms of payment"))
    'terms-of-payment'
    """
    if not heading_path:
        return ""
    from scrubjay.text.markdown import heading_slug  # most citations need none of it

    return heading_slug(heading_path[-1])[:MAX_ANCHOR]


def is_at(record: Record, anchor: str) -> bool:
    """Return whether the part of a citation behind its ``#`` means a passage: ``page=7``, ``page=7-9`` or a heading."""
    place = record.place
    if place is None:
        return False
    if position_unit(place.path, place) != "page":
        return heading_anchor(record.heading_path) == anchor[:MAX_ANCHOR]
    first, _, last = anchor.removeprefix("page=").partition("-")
    if not first.isdecimal() or (last and not last.isdecimal()):
        return False
    return place.line_start <= int(last or first) and place.line_end >= int(first)
