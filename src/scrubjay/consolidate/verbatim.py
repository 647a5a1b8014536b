"""Verbatim: str -> the sentences of a text, each as it stands there.

A sentence is a stretch of its source, and nothing in it is changed but white space, so that whoever reads it in
a digest reads what was said, and can find it again. What is not said in sentences is left out: headings, lines
that only lead up to a list, code in fences, front matter. A list item and a table's row are read as sentences are.

``ingest/sentences.py`` also cuts sentences, for phrases that stand in for a text: it takes the marks out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scrubjay.text.markdown import blocks, even

_END = re.compile(
    r"[.!?…][\"'”’)\]*_]*+(?<![ (][A-Za-z]\.)(?<!\b[DMS][rt]\.)(?<!\bvs\.)(?<!\bMrs\.)(?<!\be\.g\.)(?<!\bi\.e\.)"
    r"\s++(?![a-z])"
    r"|[。！？｡؟۔।][”’」』）\"]*\s*"
)
_MARKS = re.compile(
    r"(?:[ \t]|>|(?:[-*+•]|[0-9]{1,9}[.)])(?=[ \t])(?:[ \t]+\[[ xX]\](?=[ \t]))?|#{1,6}(?=[ \t]))*"
)
"""What stands before the words of a line: indentation, quote, list and task marks."""
_DASHES = re.compile(r"[\s|:=*_+\-]*\Z")
_BOLD = re.compile(r"(\*\*|__)(?>(?:(?!\1).){1,60})\1")
"""A line in bold from end to end is a heading in all but name."""
_FENCES: Final = ("```", "~~~")
_FENCE: Final = re.compile(r"\s*(?:```|~~~)")
_CODE: Final = frozenset(("fence", "code"))
WRAPPED: Final = 60
"""Characters from which a line may be one that an editor wrapped, so that its sentence goes on in the next."""
_PROSE: Final = frozenset(("paragraph", "list", "quote", "table", "html"))


def verbatim(text: str, code: int = 0) -> Iterator[str]:
    r"""Yield the sentences of a text in order, white space made even.

    Args:
        text: The text.
        code: Most characters of a block of code that is yielded too, as a whole; 0 for none.

    >>> list(verbatim("# Seeds\n- **Oak** grows. Slowly!\n- See:\n```\ncode\n```\nDr. Mara\nagrees."))
    ['**Oak** grows.', 'Slowly!', 'Dr. Mara agrees.']
    """
    text = even(text)
    for block in blocks(text):
        if block.kind in _PROSE:
            yield from _of_block(text[block.start : block.end], table=block.kind == "table")
        elif block.kind in _CODE and block.end - block.start <= code:
            yield from _of_code(text[block.start : block.end])


def _of_code(text: str) -> Iterator[str]:
    lines = [line for line in text.split("\n") if not (_FENCE.match(line) or _DASHES.match(line))]
    if lines:
        yield " ".join(" ".join(lines).split())


def _of_block(text: str, *, table: bool) -> Iterator[str]:
    """Yield the sentences of one block: those of each line, joined where an editor wrapped it."""
    fence = ""
    held: list[str] = []
    for place, line in enumerate(text.split("\n")):
        marks = _MARKS.match(line)
        start = marks.end() if marks else 0
        words = line[start:].rstrip()
        if fence or words.startswith(_FENCES):
            fence = "" if fence and words.startswith(fence) else fence or words[:3]
            words = ""
        if _DASHES.match(words) or (table and place == 0):
            words = ""
        if held and not _goes_on(held[-1], words, marked=bool(line[:start].strip())):
            yield from _cut(" ".join(held))
            held = []
        if words:
            held.append(words)
    if held:
        yield from _cut(" ".join(held))


def _goes_on(line: str, words: str, *, marked: bool) -> bool:
    """Tell whether a line's sentence goes on in the next: one that is wrapped begins with a letter."""
    if marked or not words or not words[0].isalpha():
        return False
    return words[0].islower() or len(line) >= WRAPPED


def _cut(text: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(text):
        yield from _told(text[start : end.end()])
        start = end.end()
    yield from _told(text[start:])


def _told(sentence: str) -> Iterator[str]:
    told = " ".join(sentence.split())
    if told and not told.rstrip("*_ ").endswith((":", "：")) and not _BOLD.fullmatch(told):
        yield told
