"""Blocks: str -> list[Block]. The block structure of Markdown, by one scan over the lines.

The scan finds where headings, paragraphs, lists, fences, tables, quotes, HTML and front matter begin and
end, and nothing inside them: no inline markup, no tree. Blocks are consecutive and cover the whole text.

CommonMark 0.31 and GFM tables are followed where they speak of block boundaries, with these departures, each
because notes are written by people and not by converters:

- A list item that is a heading (``- ## Usage``, how Logseq writes outlines) is a heading.
- An underlined (setext) heading is at most ``SETEXT_LINES`` lines long; below more, ``---`` is a rule.
- An unclosed ``<!--`` or ``<pre>`` ends at the next blank line and does not swallow the rest of the text.
- Front matter is a ``---`` on the very first line, a line like YAML, and a closing ``---`` or ``...``.

Every construct is scanned at most a fixed number of times, so the time is linear in the length of any text.
Line ends are LF, CRLF and CR, as an editor counts them; U+2028, form feed and the like are not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from scrubjay.text import spans

Kind = Literal[
    "heading", "paragraph", "list", "fence", "code", "table", "quote", "html", "blank", "front_matter", "rule"
]

SETEXT_LINES = 2
"""A heading of three lines is no heading: it is a paragraph somebody drew a line under."""

HEADING_LIMIT = 200
"""Characters of a heading's text that are kept: a heading of a megabyte must not go into every passage."""

CODE = frozenset(
    (
        *(
            ".bash",
            ".c",
            ".cc",
            ".cfg",
            ".clj",
            ".conf",
            ".cpp",
            ".cs",
            ".css",
            ".csv",
            ".ex",
            ".exs",
            ".fish",
        ),
        *(
            ".go",
            ".h",
            ".hpp",
            ".hs",
            ".ini",
            ".java",
            ".jl",
            ".js",
            ".json",
            ".jsonl",
            ".jsx",
            ".kt",
            ".lua",
        ),
        *(".m", ".ml", ".php", ".pl", ".ps1", ".py", ".pyi", ".r", ".rb", ".rs", ".scala", ".scss", ".sh"),
        *(".sql", ".swift", ".tf", ".toml", ".ts", ".tsv", ".tsx", ".xml", ".yaml", ".yml", ".zig", ".zsh"),
    )
)
"""Endings of files in which ``#`` starts a comment, not a heading. Everything else is read as Markdown."""

_CARRIAGE = re.compile(r"\r(?!\n)")
_LINK = re.compile(r"!?\[([^\[\]]{0,200})\]\([^()\n]{0,1000}\)")
_ANCHOR = re.compile(r"</?a\b[^<>]{0,200}>|\{#[^{}]{0,200}\}\s*$")


@dataclass(frozen=True, slots=True)
class Block:
    """One stretch of whole lines.

    Attributes:
        kind: What it is. ``code`` is code by indentation.
        start: Offset of its first character, in code points.
        end: Offset behind its last one, line end included.
        level: 1 to 6 for a heading, else 0.
        text: A heading's words without markup, at most ``HEADING_LIMIT`` characters; else empty.
    """

    kind: Kind
    start: int
    end: int
    level: int = 0
    text: str = ""


def even(text: str) -> str:
    r"""The text with each line end made one ``\n`` and nothing moved: ``\r\n`` becomes a space and ``\n``.

    >>> even("a\r\nb\rc\n")
    'a \nb\nc\n'
    """
    if "\r" not in text:
        return text
    return _CARRIAGE.sub("\n", text).replace("\r\n", " \n")


def blocks(text: str, *, markdown: bool = True) -> list[Block]:
    r"""Cut a text into consecutive blocks that cover it; an empty text has none.

    Args:
        text: Any text; a byte order mark at its start belongs to the first block and hides nothing.
        markdown: False for code, where only blank lines part paragraphs and ``#`` starts a comment.

    >>> [(block.kind, block.text) for block in blocks("# Seeds\n- oak\n- pine\n")]
    [('heading', 'Seeds'), ('list', '')]
    """
    scan = _Scan(even(text))
    return scan.markdown() if markdown else scan.plain()


def is_code(path: str) -> bool:
    """Whether a file holds code or data, by the ending of its name.

    >>> is_code("src/main.py"), is_code("notes/python.md"), is_code("TODO")
    (True, False, False)
    """
    return PurePosixPath(path).suffix.lower() in CODE


class _Scan:
    """The blocks found so far, and the paragraph that is still open."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[Block] = []
        self.paragraph = -1  # where the open paragraph starts, or -1
        self.lines = 0  # how many lines it has
        self.last = -1  # where the last of them starts
        self.endless: set[str] = set()  # closing marks of HTML that do not come any more

    def markdown(self) -> list[Block]:
        text, size = self.text, len(self.text)
        pos = spans.front_matter(text)
        if pos:
            self.add("front_matter", 0, pos)
        elif text.startswith("\ufeff") and size > 1:
            pos = 1
        while pos < size:
            opens = _STARTS.get(text[pos])
            pos = (opens(self, pos) if opens else 0) or self.continue_paragraph(pos)
        self.close(size)
        if self.found and self.found[0].start:
            first = self.found[0]
            self.found[0] = Block(first.kind, 0, first.end, first.level, first.text)
        return self.found

    def plain(self) -> list[Block]:
        pos = 0
        while pos < len(self.text):
            pos = self.blank(pos) or self.continue_paragraph(pos)
        self.close(len(self.text))
        return self.found

    def add(self, kind: Kind, start: int, end: int, level: int = 0, text: str = "") -> int:
        self.found.append(Block(kind, start, end, level, text))
        return end

    def put(self, kind: Kind, start: int, end: int, level: int = 0, text: str = "") -> int:
        """Add the block, after the paragraph that it closes; nothing when there is no end."""
        if end:
            self.close(start)
            self.add(kind, start, end, level, text)
        return end

    def close(self, end: int) -> None:
        if self.paragraph >= 0:
            self.add("paragraph", self.paragraph, end)
            self.paragraph = -1

    def continue_paragraph(self, pos: int) -> int:
        if self.paragraph < 0:
            self.paragraph, self.lines = pos, 0
        self.last = pos
        self.lines += 1
        return spans.line(self.text, pos)

    def blank(self, pos: int) -> int:
        return self.put("blank", pos, spans.blank(self.text, pos))

    def heading(self, pos: int) -> int:
        found = spans.ATX.match(self.text, pos)
        return self.put("heading", pos, found.end(), len(found[1]), _closed(found[2] or "")) if found else 0

    def fence(self, pos: int) -> int:
        return self.put("fence", pos, spans.fence(self.text, pos))

    def quote(self, pos: int) -> int:
        return self.put("quote", pos, spans.quote(self.text, pos))

    def html(self, pos: int) -> int:
        return self.put("html", pos, spans.html(self.text, pos, self.endless))

    def mark(self, pos: int) -> int:
        """A line that starts with ``-``, ``*``, ``+``, ``_``, ``=``, ``|``, ``:`` or a digit."""
        return (
            self.underline(pos)
            or self.table(pos)
            or self.put("rule", pos, spans.rule(self.text, pos))
            or (self.heading(pos) if self.text[pos] in "-*+" else 0)
            or self.list(pos)
        )

    def underline(self, pos: int) -> int:
        """A setext heading, when the line at ``pos`` underlines the open paragraph."""
        if self.paragraph < 0 or self.lines > SETEXT_LINES:
            return 0
        found = spans.SETEXT.match(self.text, pos)
        if not found:
            return 0
        start, self.paragraph = self.paragraph, -1
        words = _words(" ".join(self.text[start : min(pos, start + 4 * HEADING_LIMIT)].split()))
        return self.add("heading", start, found.end(), 1 if self.text[pos] == "=" else 2, words)

    def table(self, pos: int) -> int:
        """A table, when the line at ``pos`` is the row of dashes below a header row."""
        end = spans.table(self.text, self.last, pos) if self.paragraph >= 0 else 0
        if end and self.paragraph == self.last:
            self.paragraph = -1
        return self.put("table", self.last, end)

    def list(self, pos: int) -> int:
        text = self.text
        if not spans.ITEM.match(text, pos):
            return 0
        if self.paragraph >= 0 and text[pos].isdigit() and not text.startswith(("1.", "1)"), pos):
            return 0  # a sentence's line may well start with "1984."
        return self.put("list", pos, spans.items(text, pos))

    def indented(self, pos: int) -> int:
        """A line that starts with white space: blank, a block a few columns in, a nested list, or code."""
        line = self.text[pos : spans.line(self.text, pos)]
        indent = len(line) - len(line.lstrip())
        if indent == len(line):
            return self.blank(pos)
        at = pos + indent
        deep = indent > 3 or "\t" in line[:indent]
        opens = _STARTS.get(line[indent])
        if not deep and opens:
            return self.shifted(pos, opens(self, at))
        if self.paragraph >= 0 or not deep:
            return 0
        if spans.ITEM.match(self.text, at):
            return self.shifted(pos, self.heading(at) or self.list(at))
        if self.outlined():
            return self.put("list", pos, spans.items(self.text, pos))
        return self.put("code", pos, spans.code(self.text, pos))

    def outlined(self) -> bool:
        """Whether the last block is a list item that is a heading: then what is indented is its body."""
        last = self.found[-1] if self.found else None
        if last is None or last.kind != "heading":
            return False
        return self.text[last.start : last.end].lstrip().startswith(("-", "*", "+"))

    def shifted(self, pos: int, end: int) -> int:
        """Move the edge before the block just found to the start of its line."""
        if end:
            block = self.found[-1]
            if block.start > pos:
                self.found[-1] = Block(block.kind, pos, block.end, block.level, block.text)
            before = self.found[-2] if len(self.found) > 1 else None
            if before and before.end > pos:
                self.found[-2] = Block(before.kind, before.start, pos, before.level, before.text)
        return end


def _closed(raw: str) -> str:
    """An ATX heading's words, without the hashes that may close it."""
    words = raw[: 4 * HEADING_LIMIT].strip()
    bare = words.rstrip("#")
    return _words(bare if not bare or bare[-1] in " \t" else words)


def _words(raw: str) -> str:
    """A heading's words without anchors, link targets, bold and code marks."""
    words = raw
    if "<a" in words or "{#" in words:
        words = _ANCHOR.sub("", words)
    if "](" in words:
        words = _LINK.sub(r"\1", _LINK.sub(r"\1", words))  # twice: a picture in a link
    words = words.replace("**", "").replace("`", "").strip()
    return words if len(words) <= HEADING_LIMIT else words[: HEADING_LIMIT - 1] + "…"


_STARTS: dict[str, Callable[[_Scan, int], int]] = {
    "\n": _Scan.blank,
    "#": _Scan.heading,
    "`": _Scan.fence,
    "~": _Scan.fence,
    ">": _Scan.quote,
    "<": _Scan.html,
    " ": _Scan.indented,
    "\t": _Scan.indented,
    **dict.fromkeys("-*+_=|:0123456789", _Scan.mark),
}
