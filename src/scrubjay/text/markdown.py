"""Markdown: the block structure of a text, by one linear scan over its lines, its links, and the pages of a text.

Block boundaries follow CommonMark 0.31 and GFM tables, with these departures: a list item that is a heading (Logseq's
``- ## Usage``) is a heading; a setext heading has at most ``SETEXT_LINES`` lines; an unclosed ``<!--`` or ``<pre>``
ends at the next blank line; front matter needs ``---`` on the first line, a line like YAML, and a closing ``---`` or
``...``. The ``*_end`` functions return where a block that starts at ``pos`` ends, 0 where none does. The pages of a
text that was a PDF end with form feeds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Final, Literal
from urllib.parse import unquote

from scrubjay.frozen import frozen
from scrubjay.text.normalize import word_set

ATX = re.compile(r"(?>(?:[-*+][ \t]++)?)(#{1,6})(?:[ \t]([^\n]*))?(?:\n|\Z)")
SETEXT = re.compile(r"(?<![=-])(?:=++|-++)[ \t]*+(?:\n|\Z)")
RULE = re.compile(r"([-*_])[ \t]*+(?>(?:\1[ \t]*+){2,})(?:\n|\Z)")
LIST_ITEM = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]|\n|\Z)")
_INNER = re.compile(
    r"([ \t]*+)((?>(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]++)*))"
    r"(#{1,6}[ \t]|`{3,}+(?=[^`\n]*+(?:\n|\Z))|~{3,}+)?"
)
_FENCE = re.compile(r"(`{3,}+)[^`\n]*+(?:\n|\Z)|(~{3,}+)")
_FENCE_CLOSER = re.compile(r"\n {0,3}(`{3,}+|~{3,}+)[ \t]*+(?=\n|\Z)")
_DELIMITER = re.compile(
    r"[ \t]*+\|?+[ \t]*+:?+-++:?+[ \t]*+(?>(?:\|[ \t]*+:?+-++:?+[ \t]*+)*)\|?+[ \t]*+(?:\n|\Z)"
)
_RAW_HTML = re.compile(r"<(?:(!--)|(\?)|(?:pre|script|style|textarea)(?=[\s>]))", re.IGNORECASE)
_RAW_END = re.compile(r"</(?:pre|script|style|textarea)>", re.IGNORECASE)
_HTML = re.compile(
    r"</?(?:address|article|aside|body|blockquote|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt"
    r"|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link"
    r"|main|menu|nav|noframes|ol|optgroup|option|p|param|section|source|summary|table|tbody|td|tfoot|th|thead"
    r"|title|tr|track|ul)(?=[\s/>])",
    re.IGNORECASE,
)
_INTERRUPTING = (ATX, _FENCE, RULE, LIST_ITEM, _HTML, _RAW_HTML)
_INDENTS = ("    ", "\t", " \t", "  \t", "   \t")
"""Beginnings of indented code: a tab extends to the next multiple of four columns."""
_FRONT = re.compile(r"\ufeff?---[ \t]*\n(?=[^\n]*:|[#{]|---|\.\.\.)")
_FRONT_END = re.compile(r"\n(?:---|\.\.\.)[ \t]*+(?=\n|\Z)")


def line_end(text: str, pos: int) -> int:
    return text.find("\n", pos) + 1 or len(text)


def blank_end(text: str, pos: int) -> int:
    end = pos
    while end < len(text):
        stop = line_end(text, end)
        if text[end] != "\n" and not text[end:stop].isspace():
            break
        end = stop
    return end if end > pos else 0


def front_matter_end(text: str) -> int:
    head = _FRONT.match(text)
    tail = _FRONT_END.search(text, head.end() - 1) if head else None
    return line_end(text, tail.end()) if tail else 0


def rule_end(text: str, pos: int) -> int:
    found = RULE.match(text, pos)
    return found.end() if found else 0


def fence_end(text: str, pos: int) -> int:
    found = _FENCE.match(text, pos)
    if not found:
        return 0
    mark = found[1] or found[2]
    for closer in _FENCE_CLOSER.finditer(text, line_end(text, pos) - 1):
        if closer[1][0] == mark[0] and len(closer[1]) >= len(mark):
            return line_end(text, closer.end())
    return len(text)


def quote_end(text: str, pos: int) -> int:
    """A block quote with the lines that lazily continue its paragraph."""
    end = line_end(text, pos)
    while end < len(text) and (text[end] == ">" or not _interrupts(text, end)):
        end = line_end(text, end)
    return end


def code_end(text: str, pos: int) -> int:
    """Indented code; blank lines belong to it when more of it follows."""
    end = ahead = line_end(text, pos)
    while ahead < len(text):
        stop = line_end(text, ahead)
        if not text[ahead:stop].isspace():
            if not text.startswith(_INDENTS, ahead):
                break
            end = stop
        ahead = stop
    return end


def html_end(text: str, pos: int, missing_ends: set[str]) -> int:
    """An HTML block: to its closing mark for comments and raw text, to a blank line for other block tags.

    `missing_ends` collects closing marks that were searched for in vain, so that none is searched for twice.
    """
    raw = _RAW_HTML.match(text, pos)
    if raw:
        end = _raw_html_end(text, pos, "-->" if raw[1] else "?>" if raw[2] else "</", missing_ends)
        if end:
            return end
    elif not _HTML.match(text, pos):
        return 0
    end = line_end(text, pos)
    while end < len(text) and not text[end : line_end(text, end)].isspace():
        end = line_end(text, end)
    return end


def _raw_html_end(text: str, pos: int, mark: str, missing_ends: set[str]) -> int:
    if mark in missing_ends:
        return 0
    if mark == "</":
        found = _RAW_END.search(text, pos)
        at = found.start() if found else -1
    else:
        at = text.find(mark, pos)
    if at < 0:
        missing_ends.add(mark)
        return 0
    return line_end(text, at)


def table_end(text: str, header: int, pos: int) -> int:
    """A table with its header row at ``header`` and its row of dashes at ``pos``."""
    end = line_end(text, pos)
    if text.find("|", header, pos) < 0 or text.find("|", pos, end) < 0 or not _DELIMITER.match(text, pos):
        return 0
    while end < len(text):
        stop = line_end(text, end)
        if text.find("|", end, stop) < 0 or text[end] in "#>`~":
            break
        end = stop
    return end


def list_end(text: str, pos: int) -> int:
    end = ahead = _item_line_end(text, pos)
    loose = False
    while ahead < len(text):
        stop = line_end(text, ahead)
        if text[ahead:stop].isspace():
            ahead, loose = stop, True
            continue
        if not _continues_list(text, ahead, loose):
            break
        end = ahead = _item_line_end(text, ahead)
        loose = False
    return end


def _continues_list(text: str, pos: int, loose: bool) -> bool:
    if text[pos] in " \t" or LIST_ITEM.match(text, pos):
        inner = _INNER.match(text, pos)
        heading = inner and inner[2] and not inner[2][0].isdigit() and (inner[3] or "").startswith("#")
        return not heading and not RULE.match(text, pos)
    return not loose and not _interrupts(text, pos)


def _item_line_end(text: str, pos: int) -> int:
    """The line of a list at ``pos``, or the fence that it opens, which ends with its item even if unclosed."""
    end = line_end(text, pos)
    inner = _INNER.match(text, pos)
    if inner is None or not inner[3] or inner[3][0] == "#":
        return end
    mark, least = inner[3], len(inner[1]) + (1 if inner[2] else 0)
    ahead = end
    while ahead < len(text):
        stop = line_end(text, ahead)
        words = text[ahead:stop].strip()
        lead = _INNER.match(text, ahead)
        if words and lead and len(lead[1]) < least:
            break
        if words.startswith(mark) and not words.strip(mark[0]):
            return stop
        end, ahead = (stop if words else end), stop
    return end


def _interrupts(text: str, pos: int) -> bool:
    """Whether the line at ``pos`` starts a block where a paragraph could continue."""
    first = text[pos]
    if first.isalpha():
        return False
    if first in " \t\n":
        return text[pos : line_end(text, pos)].isspace()
    return first == ">" or any(opener.match(text, pos) for opener in _INTERRUPTING)


BlockKind = Literal[
    "heading", "paragraph", "list", "fence", "code", "table", "quote", "html", "blank", "front_matter", "rule", "page"
]  # fmt: skip

SETEXT_LINES = 2
"""Lines of a setext heading; more are a paragraph above a rule."""

HEADING_LIMIT = 200
"""Characters of a heading's text that are kept: a heading of a megabyte must not go into every passage."""

CODE_EXTENSIONS = word_set(
    """.bash .c .cc .cfg .clj .conf .cpp .cs .css .csv .ex .exs .fish .go .h .hpp .hs .ini .java .jl .js .json
    .jsonl .jsx .kt .lua .m .ml .php .pl .ps1 .py .pyi .r .rb .rs .scala .scss .sh .sql .swift .tf .toml
    .ts .tsv .tsx .xml .yaml .yml .zig .zsh"""
)
"""Endings of files in which ``#`` starts a comment, not a heading. Everything else is read as Markdown."""

_BARE_CARRIAGE_RETURN = re.compile(r"\r(?!\n)")
_LINK = re.compile(r"!?\[([^\[\]]{0,200})\]\([^()\n]{0,1000}\)")
_ANCHOR = re.compile(r"</?a\b[^<>]{0,200}>|\{#[^{}]{0,200}\}\s*$")


@frozen
class Block:
    """A stretch of whole lines: offsets in code points, the line end included; level and text only for a heading."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    text: str = ""


def normalize_newlines(text: str) -> str:
    r"""Return the text with ``\n`` as line ends and all offsets unchanged: ``\r\n`` becomes a space and ``\n``.

    >>> normalize_newlines("a\r\nb\rc\n")
    'a \nb\nc\n'
    """
    if "\r" not in text:
        return text
    return _BARE_CARRIAGE_RETURN.sub("\n", text).replace("\r\n", " \n")


def parse_blocks(text: str, *, markdown: bool = True) -> list[Block]:
    r"""Return consecutive blocks that cover a text.

    Without `markdown` (code) only blank lines separate paragraphs.

    >>> [(block.kind, block.text) for block in parse_blocks("# Seeds\n- oak\n- pine\n")]
    [('heading', 'Seeds'), ('list', '')]
    """
    scan = _BlockScanner(normalize_newlines(text))
    return scan.markdown() if markdown else scan.plain()


def is_code_file(path: str) -> bool:
    return PurePosixPath(path).suffix.lower() in CODE_EXTENSIONS


class _BlockScanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.blocks: list[Block] = []
        self.paragraph = -1  # where the open paragraph starts, or -1
        self.lines = 0  # how many lines it has
        self.last_line = -1  # where the last of them starts
        self.missing_ends: set[str] = set()  # closing marks of HTML that do not come any more

    def markdown(self) -> list[Block]:
        text, size = self.text, len(self.text)
        pos = front_matter_end(text)
        if pos:
            self.add("front_matter", 0, pos)
        elif text.startswith("\ufeff") and size > 1:
            pos = 1
        while pos < size:
            opener = _BLOCK_OPENERS.get(text[pos])
            pos = (opener(self, pos) if opener else 0) or self.continue_paragraph(pos)
        self.close(size)
        if self.blocks and self.blocks[0].start:
            first = self.blocks[0]
            self.blocks[0] = Block(first.kind, 0, first.end, first.level, first.text)
        return self.blocks

    def plain(self) -> list[Block]:
        pos = 0
        while pos < len(self.text):
            pos = self.blank(pos) or self.continue_paragraph(pos)
        self.close(len(self.text))
        return self.blocks

    def add(self, kind: BlockKind, start: int, end: int, level: int = 0, text: str = "") -> int:
        self.blocks.append(Block(kind, start, end, level, text))
        return end

    def add_closing(self, kind: BlockKind, start: int, end: int, level: int = 0, text: str = "") -> int:
        """Add the block after the paragraph that it closes; nothing where it has no end."""
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
        self.last_line = pos
        self.lines += 1
        return line_end(self.text, pos)

    def blank(self, pos: int) -> int:
        return self.add_closing("blank", pos, blank_end(self.text, pos))

    def heading(self, pos: int) -> int:
        found = ATX.match(self.text, pos)
        return (
            self.add_closing("heading", pos, found.end(), len(found[1]), _strip_closing(found[2] or ""))
            if found
            else 0
        )

    def fence(self, pos: int) -> int:
        return self.add_closing("fence", pos, fence_end(self.text, pos))

    def quote(self, pos: int) -> int:
        return self.add_closing("quote", pos, quote_end(self.text, pos))

    def html(self, pos: int) -> int:
        return self.add_closing("html", pos, html_end(self.text, pos, self.missing_ends))

    def mark(self, pos: int) -> int:
        return (
            self.underline(pos)
            or self.table(pos)
            or self.add_closing("rule", pos, rule_end(self.text, pos))
            or (self.heading(pos) if self.text[pos] in "-*+" else 0)
            or self.list(pos)
        )

    def underline(self, pos: int) -> int:
        if self.paragraph < 0 or self.lines > SETEXT_LINES:
            return 0
        found = SETEXT.match(self.text, pos)
        if not found:
            return 0
        start, self.paragraph = self.paragraph, -1
        words = _heading_words(" ".join(self.text[start : min(pos, start + 4 * HEADING_LIMIT)].split()))
        return self.add("heading", start, found.end(), 1 if self.text[pos] == "=" else 2, words)

    def table(self, pos: int) -> int:
        end = table_end(self.text, self.last_line, pos) if self.paragraph >= 0 else 0
        if end and self.paragraph == self.last_line:
            self.paragraph = -1
        return self.add_closing("table", self.last_line, end)

    def list(self, pos: int) -> int:
        text = self.text
        if not LIST_ITEM.match(text, pos):
            return 0
        if self.paragraph >= 0 and text[pos].isdigit() and not text.startswith(("1.", "1)"), pos):
            return 0  # a sentence's line may well start with "1984."
        return self.add_closing("list", pos, list_end(text, pos))

    def indented(self, pos: int) -> int:
        """A line that starts with white space: blank, a block a few columns in, a nested list, or code."""
        line = self.text[pos : line_end(self.text, pos)]
        indent = len(line) - len(line.lstrip())
        if indent == len(line):
            return self.blank(pos)
        at = pos + indent
        deep = indent > 3 or "\t" in line[:indent]
        opener = _BLOCK_OPENERS.get(line[indent])
        if not deep and opener:
            return self.shift_start(pos, opener(self, at))
        if self.paragraph >= 0 or not deep:
            return 0
        if LIST_ITEM.match(self.text, at):
            return self.shift_start(pos, self.heading(at) or self.list(at))
        if self.follows_list_heading():
            return self.add_closing("list", pos, list_end(self.text, pos))
        return self.add_closing("code", pos, code_end(self.text, pos))

    def follows_list_heading(self) -> bool:
        """Whether the last block is a list item that is a heading: then the indented lines are its body."""
        last = self.blocks[-1] if self.blocks else None
        if last is None or last.kind != "heading":
            return False
        return self.text[last.start : last.end].lstrip().startswith(("-", "*", "+"))

    def shift_start(self, pos: int, end: int) -> int:
        """Move the edge before the block just found to the start of its line."""
        if end:
            block = self.blocks[-1]
            if block.start > pos:
                self.blocks[-1] = Block(block.kind, pos, block.end, block.level, block.text)
            before = self.blocks[-2] if len(self.blocks) > 1 else None
            if before and before.end > pos:
                self.blocks[-2] = Block(before.kind, before.start, pos, before.level, before.text)
        return end


def _strip_closing(raw: str) -> str:
    words = raw[: 4 * HEADING_LIMIT].strip()
    bare = words.rstrip("#")
    return _heading_words(bare if not bare or bare[-1] in " \t" else words)


def _heading_words(raw: str) -> str:
    words = raw
    if "<a" in words or "{#" in words:
        words = _ANCHOR.sub("", words)
    if "](" in words:
        words = _LINK.sub(r"\1", _LINK.sub(r"\1", words))  # twice: a picture in a link
    words = words.replace("**", "").replace("`", "").strip()
    return words if len(words) <= HEADING_LIMIT else words[: HEADING_LIMIT - 1] + "…"


_BLOCK_OPENERS: dict[str, Callable[[_BlockScanner, int], int]] = {
    "\n": _BlockScanner.blank,
    "#": _BlockScanner.heading,
    "`": _BlockScanner.fence,
    "~": _BlockScanner.fence,
    ">": _BlockScanner.quote,
    "<": _BlockScanner.html,
    " ": _BlockScanner.indented,
    "\t": _BlockScanner.indented,
    **dict.fromkeys("-*+_=|:0123456789", _BlockScanner.mark),
}


MAX_LINKS: Final = 50
"""Links of one passage that are followed."""
MAX_LINK_TEXT: Final = 20_000
"""Characters of a passage that are read: only a line that cannot be cut is longer, and it is data."""
_LINK_CODE = re.compile(r"^(`{3,}|~{3,}).*?(?:^\1|\Z)|(`+)(?!`).+?(?<!`)\2(?!`)", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"%%.*?%%", re.DOTALL)
_WIKI_LINK = re.compile(r"\[\[([^\[\]\n|#^]{0,200})([#^][^\[\]\n|]{1,200})?(?:\|[^\[\]\n]{0,200})?\]\]")
_BLOCK_REFERENCE = re.compile(r"\(\(([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})\)\)")
_MEDIA = re.compile(
    r"\.(?:avif|bmp|gif|jpe?g|png|svg|webp|3gp|flac|m4a|mp3|ogg|opus|wav|mkv|mov|mp4|ogv|webm)$",
    re.IGNORECASE,
)
_INLINE_LINK = re.compile(
    r"(?<!!)\[(?:[^\[\]\n\\]|\\.){0,300}\]\(\s*(?:<([^<>\n]{1,500})>|([^()\s<>]{1,500}))(?:\s[^()\n]{0,200})?\)"
)
_REFERENCE_LINK = re.compile(r"^ {0,3}\[[^\[\]\n]{1,200}\]:\s+<?([^\s<>]{1,500})>?", re.MULTILINE)
_URL_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")
_NOT_IN_SLUG = re.compile(r"[^\w\- ]")


_SUCCESSION = re.compile(
    r"^[ \t>*_-]{0,8}(?P<status>status[*_]{0,3}:{1,2}[*_ \t]{0,4}[\"']?)?"
    r"(?:(?P<superseded_by>(?:super[sc]eded|replaced|obsoleted)[ _-]by|ersetzt[ _-]durch|abgelöst[ _-](?:durch|von))"
    r"|(?P<supersedes>super[sc]edes|replaces|obsoletes|ersetzt))"
    r"\b[*_]{0,3}(?P<colon>:{0,2})[*_ \t]{0,4}(?P<names>[^\n]{1,300}|(?:\n[ \t]{0,8}-[ \t][^\n]{0,200}){1,10})",
    re.IGNORECASE | re.MULTILINE,
)
"""A property or a status by which a note names the note that it replaced or that replaced it."""
_SUCCESSION_STEMS: Final = ("supersede", "supercede", "replace", "obsolete", "ersetzt", "abgelöst")
NUMBERED_NOTE = re.compile(r"(?P<kind>[a-z]{2,10}[-_ ]?)?0{0,6}(?P<number>\d{1,5})", re.IGNORECASE)
"""A note by its number, ``ADR 4`` or ``ADR-0004``; a file's name may be without the kind."""
_HEADING_LINE = re.compile(r"^#{1,6}[ \t]+([^\n]{1,200})", re.MULTILINE)


@frozen
class LinkTarget:
    """Where a link leads.

    Attributes:
        name: A page's name or path, "" for the same document.
        heading: A heading, ``^`` and the id of a block, or "".
        rule: ``wikilink``, ``markdown``, ``block`` (Logseq's ``((id))``, whose page is not named), or ``supersedes`` or
            ``superseded_by``, by which a note says that it replaced another or was replaced.
    """

    name: str
    heading: str
    rule: str


def extract_links(text: str) -> tuple[LinkTarget, ...]:
    """Return the local links of a text, in order of first mention, none twice.

    >>> for link in extract_links("see [[Seeds#Winter|there]], [this](../a%20b.md#x), not `[[code]]`, [out](https://x.org)"):
    ...     print(link)
    LinkTarget(name='Seeds', heading='Winter', rule='wikilink')
    LinkTarget(name='../a b.md', heading='x', rule='markdown')
    """
    lowered = text[:MAX_LINK_TEXT].lower()
    succeeds = any(stem in lowered for stem in _SUCCESSION_STEMS)
    if not succeeds and "[" not in text and "((" not in text:
        return ()
    text = text[:MAX_LINK_TEXT]
    plain = without_code_and_comments(text)
    found: list[tuple[int, LinkTarget]] = []
    for match in _SUCCESSION.finditer(plain) if succeeds else ():
        if match["status"] or _states_status(plain, match.start()):
            found += ((-1, target) for target in _succession_targets(match))
    for match in _WIKI_LINK.finditer(plain):
        name, heading = _wiki_name(match[1]), _anchor(_wiki_name(match[2] or ""))
        if (name or heading) and not _MEDIA.search(name):
            found.append((match.start(), LinkTarget(name, heading, "wikilink")))
    found += (
        (match.start(), LinkTarget("", f"^{match[1].lower()}", "block"))
        for match in _BLOCK_REFERENCE.finditer(plain)
    )
    for pattern in (_INLINE_LINK, _REFERENCE_LINK):
        for match in pattern.finditer(plain):
            target = _local_target(next(part for part in match.groups() if part))
            if target is not None:
                found.append((match.start(), target))
    ordered = sorted(found, key=lambda pair: pair[0])
    return tuple(dict.fromkeys(target for _, target in ordered))[:MAX_LINKS]


def _states_status(text: str, at: int) -> bool:
    """Return whether a place is in the front matter of a text or below a heading "Status"."""
    if text.startswith("---\n") and at < text.find("\n---", 3):
        return True
    above = [heading[1] for heading in _HEADING_LINE.finditer(text, 0, at)]
    return bool(above) and above[-1].strip("# *_:").casefold() == "status"


def _succession_targets(match: re.Match[str]) -> Iterator[LinkTarget]:
    """Yield the notes that a line names by links, by number, or in a property by name."""
    rule, names = ("superseded_by" if match["superseded_by"] else "supersedes"), match["names"]
    numbered = NUMBERED_NOTE.fullmatch(names.rstrip(" ."))
    if not match["colon"] and not (names.startswith("[") or (numbered and numbered["kind"])):
        return
    linked = [_wiki_name(link[1]) for link in _WIKI_LINK.finditer(names)]
    paths = (_local_target(link[1] or link[2]) for link in _INLINE_LINK.finditer(names))
    linked += [path.name for path in paths if path is not None]
    plain = [name.partition("(")[0].strip("\"'[]-*_. \t") for name in re.split("[,\n]", names)]
    yield from (LinkTarget(name, "", rule) for name in linked or plain if name)


def without_code_and_comments(text: str) -> str:
    """Return a text without code and Obsidian's ``%%comments%%``, in which nothing is a link or a tag."""
    plain = _LINK_CODE.sub(" ", text) if "`" in text or "~~~" in text else text
    return _COMMENT.sub(" ", plain) if "%%" in plain else plain


def _wiki_name(text: str) -> str:
    """Leave out the backslash that stands before the bar of a link in a table."""
    return text.strip().removesuffix("\\").rstrip()


def _anchor(text: str) -> str:
    """Return the last heading of ``#One#Two``, or a block's ``^id``, which Obsidian writes ``#^id``."""
    last = text.rpartition("#")[2].strip()
    return last.lower() if last.startswith("^") else last


def _local_target(url: str) -> LinkTarget | None:
    if _URL_SCHEME.match(url):
        return None
    path, _, anchor = url.partition("#")
    return LinkTarget(unquote(path.partition("?")[0]), _anchor(unquote(anchor)), "markdown")


_BLOCK_ID = re.compile(r"(?:^|[ \t])(\^[A-Za-z0-9-]{1,100})[ \t]*$", re.MULTILINE)
_LOGSEQ_ID = re.compile(r"^[ \t]*(?:-[ \t]+)?id::[ \t]+([0-9a-fA-F-]{36})[ \t]*$", re.MULTILINE)


def block_ids(text: str) -> tuple[str, ...]:
    """Return the ids of the blocks of a text, in lower case.

    >>> block_ids("A thought. ^3f9a2c")
    ('^3f9a2c',)
    """
    found = [match[1].lower() for match in _BLOCK_ID.finditer(text)] if "^" in text else []
    if "id::" in text:
        found += [f"^{match[1].lower()}" for match in _LOGSEQ_ID.finditer(text)]
    return tuple(found)


def heading_slug(heading: str) -> str:
    """Return a heading's anchor.

    >>> heading_slug("What's new, in 2.0?")
    'whats-new-in-20'
    """
    return _NOT_IN_SLUG.sub("", heading.strip().lower()).replace(" ", "-")


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
    span = text[start:end]
    first = page + span.count(PAGE_END, 0, len(span) - len(span.lstrip()))
    return first, max(first, page + span.rstrip().count(PAGE_END))
