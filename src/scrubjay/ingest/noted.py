"""Noted: additions that also stand in a day's note, and the mark by which the two are one memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from scrubjay.memory.records import Record
from scrubjay.text.markdown import blocks

MARK: Final = re.compile(r"^<!-- scrubjay:([a-z]+_[0-9a-f]{16}) -->\r?$", re.MULTILINE)
"""Stands on a line of its own under the heading of an addition, and says which memory it is."""
_QUOTE: Final = re.compile(r"^> ?", re.MULTILINE)


def marked(record: Record) -> str:
    """Return an addition as it is appended to a note: its mark, and its text so that it stays one section.

    A text with headings, or with a fence or comment that nothing closes, is quoted: else it would end its
    section, or swallow the next.
    """
    text = record.content.strip("\n").rstrip()
    kinds = [block.kind for block in blocks(f"\n{text}\n\n## end\n")]
    if kinds.count("heading") != 1 or kinds[-1] != "heading":
        text = "\n".join(f"> {line}".rstrip() for line in text.splitlines())
    return f"<!-- scrubjay:{record.id} -->\n\n{text}"


def noted(content: str) -> str | None:
    """Return the id of the addition whose mark a passage bears, or None."""
    mark = _mark(content)
    return mark.group(1) if mark is not None else None


def said(passages: Sequence[tuple[tuple[str, ...], str]]) -> list[str]:
    """Return, for each passage, the text of the addition that it is or is a piece of, else its own.

    An addition that was forgotten before its note was read is known by what was added, not by its section.

    Args:
        passages: Heading path and text of a document's passages, in order.
    """
    texts = [content for _, content in passages]
    place = 0
    while place < len(texts):
        mark = _mark(texts[place])
        end = place + 1
        if mark is not None:
            while end < len(texts) and passages[end][0] == passages[place][0] and noted(texts[end]) is None:
                end += 1
            whole = _unquoted("".join(texts[place:end])[mark.end() :].strip())
            texts[place:end] = [whole] * (end - place)
        place = end
    return texts


def _mark(content: str) -> re.Match[str] | None:
    # Asked of every passage several times; hardly any holds the word.
    return MARK.search(content) if "<!-- scrubjay:" in content else None


def _unquoted(text: str) -> str:
    return _QUOTE.sub("", text) if all(line.startswith(">") for line in text.splitlines()) else text
