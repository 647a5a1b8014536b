"""Pages: the blocks of a text whose pages end with form feeds, and on which page a stretch of it is."""

from __future__ import annotations

from typing import Final

from scrubjay.text.markdown import Block, parse_blocks

PAGE_END: Final = "\f"


def page_blocks(text: str) -> list[Block]:
    r"""Return the blocks of a text with pages; a mark of no length is before each page that is not blank.

    >>> [(block.kind, block.start, block.end) for block in page_blocks("oak\n\f\fpine")]
    [('page', 0, 0), ('paragraph', 0, 4), ('blank', 4, 5), ('blank', 5, 6), ('page', 6, 6), ('paragraph', 6, 10)]
    """
    blocks: list[Block] = []
    start = 0
    while start < len(text):
        end = text.find(PAGE_END, start) + 1 or len(text)
        page = text[start:end]
        if page.isspace():
            blocks.append(Block("blank", start, end))
        else:
            blocks.append(Block("page", start, start))
            blocks += [
                Block(block.kind, block.start + start, block.end + start)
                for block in parse_blocks(page, markdown=False)
            ]
        start = end
    return blocks


def pages_of(text: str, start: int, end: int, page: int) -> tuple[int, int]:
    r"""Return the first and last page of a stretch of text that begins on a page; white space at its ends is on none.

    >>> pages_of("oak\n\f\fpine\n\f", 0, 6, 1), pages_of("oak\n\f\fpine\n\f", 5, 12, 2)
    ((1, 1), (3, 3))
    """
    stretch = text[start:end]
    first = page + stretch.count(PAGE_END, 0, len(stretch) - len(stretch.lstrip()))
    return first, max(first, page + stretch.rstrip().count(PAGE_END))
