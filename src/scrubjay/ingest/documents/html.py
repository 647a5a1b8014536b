"""HTML: its visible text as Markdown, with headings, lists, tables and preformatted text.

Scripts, styles, forms' controls, navigation, comments and elements that the markup itself hides are left out. Nothing
is fetched, and links keep their text alone. The tree is walked without recursion: pages nest thousands of levels deep.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from scrubjay.ingest.documents.limits import UnreadableDocumentError, check_length
from scrubjay.ingest.files import BYTE_ORDER_MARKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborNode

SKIPPED: Final = frozenset(
    ("script", "style", "template", "noscript", "head", "svg", "math", "iframe", "object", "embed", "canvas",
     "audio", "video", "select", "button", "input", "textarea", "nav", "dialog")
)  # fmt: skip
BLOCKS: Final = frozenset(
    ("html", "body", "address", "article", "aside", "blockquote", "center", "dd", "details", "dir", "div", "dl",
     "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "legend", "li", "main",
     "menu", "ol", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
     "caption", "h1", "h2", "h3", "h4", "h5", "h6")
)  # fmt: skip
LISTS: Final = frozenset(("ul", "ol", "menu", "dir"))
_LEVELS: Final = {f"h{level}": level for level in range(1, 7)}
_NOT_IN_CELL: Final = "table, h1, h2, h3, h4, h5, h6, ul, ol, pre, blockquote"
_HIDING: Final = re.compile(r"(?i)(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b")
_CHARSET: Final = re.compile(rb"""(?i)(?:charset|encoding)\s{0,9}=\s{0,9}["']?([\w:.-]{1,40})""")
_CHARSET_HEAD: Final = 4096
_SELF_CLOSING: Final = re.compile(r"<([A-Za-z][\w:-]{0,30})([^<>]{0,2000})/>")
_VOID: Final = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)
_SPACE: Final = re.compile(r"[ \t\n\r\f\xa0]+")
_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\ufffe\uffff]")
# Where Markdown would read a paragraph's line as a heading, a fence or the line under a heading.
_MARKUP: Final = re.compile(r"(?:#{1,6}(?=\s|$)|`{3}|~{3}|[-+=_*]{2,}$)")
_CODE_MARK: Final = "\x0e"
"""Stands for the backtick of an element `code`, until its text is known not to be empty; a page cannot show it."""
MAX_DEPTH: Final = 12
"""Levels of lists that are indented; deeper ones stay at the last."""


def decode_html(data: bytes) -> str:
    """Decode as browsers do: by the byte order mark, by what the page declares, as UTF-8, else as Windows-1252."""
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    charset = _CHARSET.search(data, 0, _CHARSET_HEAD)
    try:
        name = codecs.lookup(charset[1].decode("ascii")).name if charset else "utf-8"
    except (LookupError, UnicodeDecodeError):
        name = "utf-8"
    if name.startswith(("utf-16", "utf-32")):  # it was read as ASCII, so it is not
        name = "utf-8"
    elif name in ("iso8859-1", "ascii"):
        name = "cp1252"
    try:
        return data.decode(name)
    except (UnicodeDecodeError, LookupError):  # a codec may be none of texts
        return data.decode("cp1252" if name == "utf-8" else "utf-8", "replace")


def read_html(data: bytes) -> tuple[str, str, list[str]]:
    """Return text and title of a page, and no problems, since every text is HTML of some kind."""
    if data.startswith((b"%PDF-", b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise UnreadableDocumentError("is not HTML, by its first bytes.", "give it the ending of its format")
    text, title = convert_html(decode_html(data))
    return text, title, []


def convert_html(html: str) -> tuple[str, str]:
    """Return the Markdown and the title of a page."""
    from selectolax.lexbor import LexborHTMLParser

    if html.lstrip()[:5] == "<?xml" or "http://www.w3.org/1999/xhtml" in html[:2000]:
        html = _SELF_CLOSING.sub(_close_empty_element, html)
    tree = LexborHTMLParser(html)
    title_node = tree.css_first("title")
    title = _collapse_spaces(title_node.text(deep=True)) if title_node is not None else ""
    writer = _Writer()
    if tree.root is not None:
        _walk(tree.root, writer)
    return writer.text(), title


def _is_skipped(node: LexborNode) -> bool:
    return node.tag in SKIPPED or node.attributes.get("role") == "navigation" or _is_hidden(node)


def _close_empty_element(tag: re.Match[str]) -> str:
    """Close an empty element of XHTML (``<p/>``), which HTML reads as an open one around the rest."""
    return tag[0] if tag[1].lower() in _VOID else f"<{tag[1]}{tag[2]}></{tag[1]}>"


def _collapse_spaces(text: str) -> str:
    return _SPACE.sub(" ", _CONTROL.sub("", text)).strip()


def _is_hidden(node: LexborNode) -> bool:
    attributes = node.attributes
    if not attributes:
        return False
    if "hidden" in attributes and attributes["hidden"] != "until-found":
        return True
    return bool(_HIDING.search(attributes.get("style") or ""))


def _walk(root: LexborNode, writer: _Writer) -> None:
    stack: list[tuple[LexborNode, bool]] = [(root, True)]
    while stack:
        node, entering = stack.pop()
        tag = node.tag or ""
        if not entering:
            writer.leave(tag)
            continue
        if tag == "-text":
            writer.write(node.text_content or "")
        elif tag == "br":
            writer.break_line()
        elif tag == "img":
            if not _is_hidden(node):
                writer.write(node.attributes.get("alt") or "")
        elif tag == "table" and (rows := _table_rows(node)) is not None and not _is_hidden(node):
            for caption in _children(node):
                if caption.tag == "caption" and not _is_hidden(caption):
                    writer.flush()
                    writer.write(_inline_text(caption))
            writer.table(rows)
        elif tag[:1] not in ("-", "!") and not _is_skipped(node):
            writer.enter(tag, node.attributes.get("start") if tag == "ol" else None)
            stack.append((node, False))
            stack += [(child, True) for child in reversed(list(_children(node)))]


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.child
    while child is not None:
        yield child
        child = child.next


def _table_rows(table: LexborNode) -> list[list[str]] | None:
    """Return the cells of a table of data; None for one that arranges a page, whose cells have blocks of their own."""
    if any(node.mem_id != table.mem_id for node in table.css(_NOT_IN_CELL)):
        return None
    rows = []
    for row in table.css("tr"):
        if _is_hidden(row):
            continue
        cells = [
            _cell_text(cell) for cell in _children(row) if (cell.tag in ("td", "th")) and not _is_hidden(cell)
        ]
        if any(cells):
            rows.append(cells)
    return rows if rows and max(map(len, rows)) > 1 else None


def _cell_text(node: LexborNode) -> str:
    return _inline_text(node).replace("|", "\\|")


def _inline_text(node: LexborNode) -> str:
    writer = _Writer(escapes=False)
    _walk(node, writer)
    return _SPACE.sub(" ", writer.text()).strip()


@dataclass(slots=True)
class _Item:
    """A list item or quotation: the mark before its first line, and the indent of the others."""

    first: str
    rest: str


@dataclass(slots=True)
class _Writer:
    escapes: bool = True
    blocks: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)  # of each open list: the next number, or 0 for bullets
    items: list[_Item] = field(default_factory=list)
    preformatted: int = 0
    in_code: int = 0
    size: int = 0
    tight: bool = False  # whether the last block was of a list

    def write(self, text: str) -> None:
        if text:
            self.words.append(text.replace(_CODE_MARK, ""))

    def break_line(self) -> None:
        self.words.append("\n" if self.preformatted else "\v")

    def enter(self, tag: str, start: str | None) -> None:
        if tag == "code" and not self.preformatted:
            self.in_code += 1
            self.words.append(_CODE_MARK)
        if tag not in BLOCKS:
            return
        if not (self.preformatted and tag != "pre"):
            self.flush()
        if tag == "pre":
            self.preformatted += 1
        elif tag in LISTS:
            number = 1 if tag == "ol" else 0
            if start and start.isascii() and start.isdecimal() and len(start) < 9:
                number = int(start)
            self.numbers.append(number)
        elif tag == "li":
            number = self.numbers[-1] if self.numbers else 0
            mark = f"{number}. " if number else "- "
            if number:
                self.numbers[-1] += 1
            self.items.append(_Item(mark, " " * len(mark)))
        elif tag == "blockquote":
            self.items.append(_Item("> ", "> "))

    def leave(self, tag: str) -> None:
        if tag == "code" and self.in_code and not self.preformatted:
            self.in_code -= 1
            self.words.append(_CODE_MARK)
        if tag not in BLOCKS:
            return
        if tag == "pre":
            self.end_preformatted()
            self.preformatted = max(0, self.preformatted - 1)
        elif tag in _LEVELS:
            self.end_heading(_LEVELS[tag])
        elif not self.preformatted:
            self.flush()
        if tag in LISTS and self.numbers:
            self.numbers.pop()
            self.tight = bool(self.numbers)
        elif tag in ("li", "blockquote") and self.items:
            self.items.pop()

    def take_words(self) -> str:
        text = "".join(self.words).replace(_CODE_MARK * 2, "").replace(_CODE_MARK, "`")
        self.words.clear()
        return text

    def end_heading(self, level: int) -> None:
        text = _collapse_spaces(self.take_words().replace("\v", " "))
        if text:
            for item in self.items:  # a heading within an item stands for its mark
                item.first = item.rest
            self.add_block([f"{'#' * level} {text}"], bare=True)

    def end_preformatted(self) -> None:
        text = _CONTROL.sub("", "".join(self.words).replace("\r\n", "\n").replace("\r", "\n")).strip("\n")
        self.words.clear()
        if text.strip():
            mark = "```"
            while mark in text:
                mark += "`"
            self.add_block([mark, *(line.rstrip() for line in text.split("\n")), mark])

    def flush(self) -> None:
        if not self.words:
            return
        lines = [line for part in self.take_words().split("\v") if (line := _collapse_spaces(part))]
        if lines:
            self.add_block([self._escape(line) for line in lines])

    def table(self, rows: list[list[str]]) -> None:
        self.flush()
        width = max(map(len, rows))
        lines = [f"| {' | '.join([*cells, *[''] * (width - len(cells))])} |" for cells in rows]
        self.add_block([lines[0], f"| {' | '.join(['---'] * width)} |", *lines[1:]])

    def add_block(self, lines: list[str], *, bare: bool = False) -> None:
        """Add a block; ``bare`` puts it at the margin, as a heading must be."""
        depth = self.items[-MAX_DEPTH:] if not bare else []
        prefix, indent = "", ""
        for item in depth:
            prefix += item.first
            indent += item.rest
        begins_item = prefix != indent
        for item in depth:
            item.first = item.rest
        block = "\n".join((prefix if number == 0 else indent) + line for number, line in enumerate(lines))
        tight = self.tight and begins_item and bool(self.numbers)
        self.tight = bool(self.numbers) and not bare
        if self.blocks:
            self.blocks.append("\n" if tight else "\n\n")
        self.blocks.append(block)
        self.size += len(block) + 2
        check_length(self.size)

    def text(self) -> str:
        self.flush()
        return "".join([*self.blocks, "\n"]) if self.blocks else ""

    def _escape(self, line: str) -> str:
        return "\\" + line if self.escapes and _MARKUP.match(line) else line
