"""Chunker: cut a document into passages along its headings.

A section that fits is one passage; a longer one is cut where a break scores best: a break is worth more the more it
separates (block, list item, line, sentence, word), times ``1 - DECAY * ((size - target) / target) ** 2``. A block that
does not fit is taken apart one level at a time, so every cut is as coarse as possible and time is linear. Passages
partition the document. A heading without a body goes with the next section; small sections are not joined, since
joining those below 60 tokens lowered known-item search.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scrubjay.errors import ConfigError
from scrubjay.text.display import quarter_tokens
from scrubjay.text.markdown import Block, is_code_file, normalize_newlines, parse_blocks

BLOCK = 100
"""Worth of a break before a block; the others are relative to it."""
LEAD_IN = 50
"""Before a block that is indented or follows a colon."""
ITEM, NESTED = 80, 4
"""Before a list item, and how much less per level of nesting."""
GAP, LINE, WRAPPED = 49, 40, 30
"""Before a line after a blank one, after a sentence's end, and inside a sentence."""
SENTENCE, WORD, MARK = 20, 10, 5
"""Before a sentence, a word, and the rest of a word."""
HEADING = 1
"""Between a heading and its section's first words."""

DECAY = 0.7
"""A paragraph's end at a quarter of the target (61) still beats a line at the target (40); an item there
(80) beats both."""

MIN_PIECE_DIVISOR = 4
"""No piece is smaller than a fourth of the target where that can be avoided."""

MIN_SENTENCE, MIN_WORD_PART = 24, 8
"""Sentences and word parts of fewer characters stay together: finer cuts cost time and gain nothing."""


_LIST_ENTRY = re.compile(r"([ \t]*+)(?:(?:[-*+]|[0-9]{1,9}[.)])(?=[ \t\n]|\Z)|(`{3,}+|~{3,}+))?")
_SENTENCES = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]*_]*+\s++|[。！？｡]++[”’」』）]*+\s*+")
_WORDS = re.compile(r"(?>(?:\S{1,60}+(?!\S)\s*+){1,8})|\S++\s*+")
_MARKS = re.compile(
    r"[,;:|&}\])>/、，；\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]\s*+|\s++"
)
_LINE_ENDINGS = tuple(".!?:;|}>。！？)")


class _Atom(NamedTuple):
    start: int
    end: int
    weight: int
    worth: float
    splitter: AtomSplitter | None


AtomSplitter = Callable[[str, _Atom], list[_Atom]]


def split_section(text: str, blocks: Sequence[Block], *, target: int, most: int) -> Iterator[int]:
    """Yield where the pieces of a section end, ascending; ``target`` and ``most`` are in tokens."""
    min_size, target_size, max_size = target * 4 // MIN_PIECE_DIVISOR, target * 4, most * 4
    stack = _block_atoms(text, blocks)
    stack.reverse()
    window: list[_Atom] = []
    size = 0
    while stack:
        atom = stack.pop()
        if size + atom.weight <= max_size:
            window.append(atom)
            size += atom.weight
            continue
        parts = _split_atom(text, atom) if size < min_size else []
        if parts:
            stack.extend(reversed(parts))
            continue
        if window:
            stack.append(atom)
        else:
            window = [atom]
        keep = _best_cut(window, stack[-1].worth if stack else BLOCK, min_size, target_size)
        yield window[keep - 1].end
        stack.extend(reversed(window[keep:]))
        window, size = [], 0
    if window:
        yield window[-1].end


def _best_cut(window: Sequence[_Atom], worth: float, min_size: int, target_size: int) -> int:
    best, keep, size = -1.0, len(window), 0
    for index, atom in enumerate(window, 1):
        size += atom.weight
        if size < min_size:
            continue
        value = worth if index == len(window) else window[index].worth
        value *= 1 - DECAY * ((size - target_size) / target_size) ** 2
        if value > best:
            best, keep = value, index
    return keep


def _block_atoms(text: str, blocks: Sequence[Block]) -> list[_Atom]:
    atoms: list[_Atom] = []
    worth: float = BLOCK
    start, body = blocks[0].start, blocks[0]
    for index, block in enumerate(blocks):
        if block.kind != "blank":
            body = block
        if index + 1 < len(blocks) and (blocks[index + 1].kind == "blank" or body.kind == "blank"):
            continue
        if text[start] in " \t":
            worth = min(worth, LEAD_IN)
        splitter = _split_items if body.kind == "list" else _split_lines
        atoms.append(_Atom(start, block.end, quarter_tokens(text[start : block.end]), worth, splitter))
        worth = _worth_after(text, body)
        start = block.end
    return atoms


def _worth_after(text: str, block: Block) -> float:
    if block.kind == "heading":
        return HEADING
    announces = block.kind == "paragraph" and text[block.end - 3 : block.end].rstrip().endswith(":")
    return LEAD_IN if announces else BLOCK


def _split_atom(text: str, atom: _Atom) -> list[_Atom]:
    while atom.splitter:
        parts = atom.splitter(text, atom)
        if len(parts) > 1:
            return parts
        atom = parts[0]
    return []


def _split_at(
    text: str,
    atom: _Atom,
    breaks: Iterable[tuple[int, float]],
    splitter: AtomSplitter | None,
    least: int = 1,
) -> list[_Atom]:
    """Split an atom at the breaks into parts of ``least`` characters or more; the first part keeps its worth."""
    atoms: list[_Atom] = []
    start, worth = atom.start, atom.worth
    for at, value in breaks:
        if start + least <= at < atom.end:
            atoms.append(_Atom(start, at, quarter_tokens(text[start:at]), worth, splitter))
            start, worth = at, value
    weight = quarter_tokens(text[start : atom.end]) if atoms else atom.weight
    atoms.append(_Atom(start, atom.end, weight, worth, splitter))
    return atoms


def _split_items(text: str, atom: _Atom) -> list[_Atom]:
    return _split_at(text, atom, _item_breaks(text, atom), _split_lines)


def _item_breaks(text: str, atom: _Atom) -> Iterator[tuple[int, float]]:
    depths: list[int] = []
    fence = ""
    pos = atom.start
    while pos < atom.end:
        entry = _LIST_ENTRY.match(text, pos)
        stop = text.find("\n", pos) + 1 or atom.end
        opening = entry[2] if entry else None
        if fence:
            fence = "" if opening and opening.startswith(fence) else fence
        elif opening:
            fence = opening
        elif entry and entry.end() > entry.end(1):
            indent = len(entry[1].expandtabs(4))
            while depths and depths[-1] >= indent:
                depths.pop()
            yield pos, ITEM - NESTED * min(len(depths), 8)
            depths.append(indent)
        pos = stop


def _split_lines(text: str, atom: _Atom) -> list[_Atom]:
    return _split_at(text, atom, _line_breaks(text, atom), _split_sentences)


def _line_breaks(text: str, atom: _Atom) -> Iterator[tuple[int, float]]:
    pos, worth = atom.start, 0
    while pos < atom.end:
        stop = text.find("\n", pos, atom.end) + 1 or atom.end
        if text[pos:stop].isspace():
            worth = max(worth, GAP)
        else:
            yield pos, worth
            worth = LINE if text[max(pos, stop - 3) : stop].rstrip().endswith(_LINE_ENDINGS) else WRAPPED
        pos = stop


def _split_sentences(text: str, atom: _Atom) -> list[_Atom]:
    return _split_at(text, atom, _breaks(_SENTENCES, text, atom, SENTENCE), _split_words, MIN_SENTENCE)


def _split_words(text: str, atom: _Atom) -> list[_Atom]:
    return _split_at(text, atom, _breaks(_WORDS, text, atom, WORD), _split_marks)


def _split_marks(text: str, atom: _Atom) -> list[_Atom]:
    return _split_at(text, atom, _breaks(_MARKS, text, atom, MARK), None, MIN_WORD_PART)


def _breaks(pattern: re.Pattern[str], text: str, atom: _Atom, worth: float) -> Iterator[tuple[int, float]]:
    return ((match.end(), worth) for match in pattern.finditer(text, atom.start, atom.end))


CHUNKER_VERSION = "1"
"""Stamped on every document; raise it with any change that moves a passage's edge."""

LEAD_TOKENS = 128
"""Tokens of front matter and bare headings that go with the next section even if that must then be cut."""

_BODILESS = frozenset(("heading", "blank", "front_matter", "rule"))
_NOT_BLANK = re.compile("[^\ufeff \t\n\v\f]")


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """Sizes of passages in estimated tokens, and the redaction allowlist.

    Attributes:
        target: Size aimed at when a section must be cut.
        overlap: How much of the preceding piece is embedded with a piece.
        most: No passage is longer, except one unbroken word.
        allow: Words, and patterns as ``/…/``, that are never redacted.
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


DEFAULT_CHUNK_SETTINGS = ChunkSettings()


@dataclass(frozen=True, slots=True)
class Passage:
    """One stretch of a document: offsets in code points, lines from 1 inclusive, headings outermost first."""

    start: int
    end: int
    line_start: int
    line_end: int
    heading_path: tuple[str, ...]
    title: str


class _Section(NamedTuple):
    blocks: list[Block]
    path: tuple[str, ...]
    weight: int
    bare: bool


def chunk_text(
    text: str,
    *,
    name: str,
    settings: ChunkSettings = DEFAULT_CHUNK_SETTINGS,
    blocks: Sequence[Block] | None = None,
) -> tuple[Passage, ...]:
    """Cut a text into passages; a blank text has none.

    ``name`` is the title outside headings, and its suffix tells whether the text is code.
    """
    flat = normalize_newlines(text)
    if not _NOT_BLANK.search(flat):  # `strip` would copy a large text
        return ()
    if blocks is None:
        blocks = parse_blocks(flat, markdown=not is_code_file(name))
    passages: list[Passage] = []
    line, start = 1, 0
    for section in _join_bare_sections(_sections(flat, blocks), settings.most * 4):
        title = section.path[-1] if section.path else name
        for end in _passage_ends(flat, section, settings):
            after = line + flat.count("\n", start, end)
            last = after - 1 if flat[end - 1] == "\n" else after
            passages.append(Passage(start, end, line, last, section.path, title))
            start, line = end, after
    return tuple(passages)


def _sections(text: str, blocks: Sequence[Block]) -> Iterator[_Section]:
    path: list[tuple[int, str]] = []
    headings: tuple[str, ...] = ()
    body: list[Block] = []
    for block in blocks:
        if block.kind == "page":
            if body:
                yield _section(text, body, headings)
            body = []
            continue
        if block.kind == "heading":
            if body:
                yield _section(text, body, headings)
            while path and path[-1][0] >= block.level:
                path.pop()
            path.append((block.level, block.text))
            headings = tuple(words for _, words in path if words)
            body = []
        body.append(block)
    if body:
        yield _section(text, body, headings)


def _section(text: str, body: list[Block], path: tuple[str, ...]) -> _Section:
    bare = all(block.kind in _BODILESS for block in body)
    return _Section(body, path, quarter_tokens(text[body[0].start : body[-1].end]), bare)


def _join_bare_sections(sections: Iterator[_Section], limit: int) -> Iterator[_Section]:
    pending = next(sections)
    for section in sections:
        weight = pending.weight + section.weight
        if pending.bare and (pending.weight <= LEAD_TOKENS * 4 or weight <= limit):
            pending.blocks.extend(section.blocks)
            pending = _Section(pending.blocks, section.path, weight, section.bare)
        else:
            yield pending
            pending = section
    yield pending


def _passage_ends(text: str, section: _Section, settings: ChunkSettings) -> Iterator[int]:
    if section.weight <= settings.most * 4:
        yield section.blocks[-1].end
    else:
        yield from split_section(text, section.blocks, target=settings.target, most=settings.most)
