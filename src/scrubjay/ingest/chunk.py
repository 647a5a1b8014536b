"""Chunk: str -> tuple[Passage, ...]. Cut a document into passages along its headings.

A section is a heading with what follows it up to the next heading, of whatever level. A section that fits
is one passage; a longer one is cut near the target (``cut.py``). Passages partition the document: every
character lies in exactly one of them, blank lines in the passage before them. Overlap is not stored;
``overlapped`` reads it from the neighbour when a passage is embedded.

A heading without a body answers nothing, so it goes with the section after it; so does front matter. Small
sections with a body are not joined: joining siblings below 60 tokens lowered known-item search.

The module does not know where the text came from, what it is about, or who may see it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scrubjay.errors import ConfigError
from scrubjay.ingest.cut import cut
from scrubjay.text.markdown import Block, blocks, even, is_code
from scrubjay.text.size import tokens as tokens
from scrubjay.text.size import weigh

CHUNKER_VERSION = "1"
"""Stamped on every document; raise it with any change that moves a passage's edge."""

LEAD = 128
"""Tokens of front matter and bare headings that go with the next section even if that must then be cut."""

_BODILESS = frozenset(("heading", "blank", "front_matter", "rule"))
_SENTENCE_START = re.compile(r"\n++|(?<![.!?…])[.!?…]++[\"'”’)\]*_]*+\s++|[。！？｡]++[”’」』）]*+")
_WORD_START = re.compile(r"\s++|(?=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])")


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How documents are cut, sizes in estimated tokens (``tokens``), and what in them is no secret.

    Attributes:
        target: Size to aim at when a section must be cut.
        overlap: How much of the piece before is embedded with a piece.
        most: No passage is longer, except one unbroken word.
        allow: Words, and patterns as ``/…/``, that are never replaced as secrets.

    Raises:
        ConfigError: The sizes contradict one another.
    """

    target: int = 400
    overlap: int = 80
    most: int = 512
    allow: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not (0 < self.target <= self.most and 0 <= self.overlap < self.most):
            raise ConfigError(
                f"Passages of {self.target} tokens, {self.overlap} of overlap and {self.most} at most"
                " cannot be cut. Nothing was changed.",
                hint="choose 0 < target <= most and 0 <= overlap < most",
            )


DEFAULTS = ChunkSettings()


@dataclass(frozen=True, slots=True)
class Passage:
    """One stretch of a document.

    Attributes:
        start: Offset of its first character, in code points.
        end: Offset behind its last one.
        line_start: Line of its first character, from 1.
        line_end: Line of its last character, from 1; a line end belongs to the line it ends.
        heading_path: The headings it stands under, outermost first; empty before the first heading.
        title: The nearest heading, else the document's name.
        continues: Whether its section began in the passage before.
    """

    start: int
    end: int
    line_start: int
    line_end: int
    heading_path: tuple[str, ...]
    title: str
    continues: bool = False


class _Section(NamedTuple):
    blocks: list[Block]
    path: tuple[str, ...]
    weight: int
    bare: bool


def chunk(
    text: str, *, name: str, settings: ChunkSettings = DEFAULTS, found: Sequence[Block] | None = None
) -> tuple[Passage, ...]:
    """Cut a text into passages; a text with nothing but white space has none.

    Line ends are LF, CRLF and CR. A line is cut inside only where it is itself too long: at the end of a
    sentence, else of a word, else behind punctuation or an ideograph; both passages then name that line.

    Args:
        text: The whole document.
        name: The document's file name: the title where no heading stands above, and by its ending
            whether the text is code.
        settings: Sizes.
        found: The text's blocks, when they are known already; for code, those that are not of Markdown.
    """
    flat = even(text)
    if not flat.strip("\ufeff \t\n\v\f"):
        return ()
    if found is None:
        found = blocks(flat, markdown=not is_code(name))
    passages: list[Passage] = []
    line, start = 1, 0
    for section in _joined(_sections(flat, found), settings.most * 4):
        title = section.path[-1] if section.path else name
        for index, end in enumerate(_ends(flat, section, settings)):
            after = line + flat.count("\n", start, end)
            last = after - 1 if flat[end - 1] == "\n" else after
            passages.append(Passage(start, end, line, last, section.path, title, index > 0))
            start, line = end, after
    return tuple(passages)


def _sections(text: str, found: Sequence[Block]) -> Iterator[_Section]:
    """The document along its headings; what stands before the first heading is a section too."""
    path: list[tuple[int, str]] = []
    here: tuple[str, ...] = ()
    body: list[Block] = []
    for block in found:
        if block.kind == "heading":
            if body:
                yield _section(text, body, here)
            while path and path[-1][0] >= block.level:
                path.pop()
            path.append((block.level, block.text))
            here = tuple(words for _, words in path if words)
            body = []
        body.append(block)
    yield _section(text, body, here)


def _section(text: str, body: list[Block], path: tuple[str, ...]) -> _Section:
    bare = all(block.kind in _BODILESS for block in body)
    return _Section(body, path, weigh(text[body[0].start : body[-1].end]), bare)


def _joined(sections: Iterator[_Section], limit: int) -> Iterator[_Section]:
    """Each section together with the bare ones right before it, under its own heading path."""
    held = next(sections)
    for section in sections:
        weight = held.weight + section.weight
        if held.bare and (held.weight <= LEAD * 4 or weight <= limit):
            held.blocks.extend(section.blocks)
            held = _Section(held.blocks, section.path, weight, section.bare)
        else:
            yield held
            held = section
    yield held


def _ends(text: str, section: _Section, settings: ChunkSettings) -> Iterator[int]:
    if section.weight <= settings.most * 4:
        yield section.blocks[-1].end
    else:
        yield from cut(text, section.blocks, target=settings.target, most=settings.most)


def overlapped(text: str, passages: Sequence[Passage], index: int, settings: ChunkSettings = DEFAULTS) -> str:
    """The text to embed for a passage: after a cut, with the end of the passage before it.

    The borrowed end starts at a sentence or a line if that keeps half of the room, else at a word; with it
    the text is not longer than ``settings.most``.

    Args:
        text: The document that ``passages`` came from.
        passages: All its passages.
        index: Which one.
        settings: Sizes.
    """
    passage = passages[index]
    own = text[passage.start : passage.end]
    room = min(settings.overlap * 4, settings.most * 4 - weigh(own))
    if not passage.continues or room <= 0:
        return own
    before = passages[index - 1]
    tail = text[max(before.start, before.end - 4 * room) : before.end]
    at = bisect_left(range(len(tail)), True, key=lambda offset: weigh(tail[offset:]) <= room)
    if at == 0 and len(tail) == before.end - before.start:
        return tail + own
    for start in (_SENTENCE_START, _WORD_START):
        found = start.search(tail, at)
        if found and (start is _WORD_START or 2 * weigh(tail[found.end() :]) >= room):
            return tail[found.end() :] + own
    return own
