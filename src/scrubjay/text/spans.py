r"""Where the blocks of Markdown end: (text, offset of a line) -> offset behind the block, or 0 for none.

Plain functions over one text whose line ends are ``\n``. They know nothing of the paragraph that may be open
before the line, nor of other blocks; ``markdown.py`` asks them in order. Patterns are possessive throughout,
so that no input makes them go back over what they have read.
"""

from __future__ import annotations

import re

ATX = re.compile(r"(?>(?:[-*+][ \t]++)?)(#{1,6})(?:[ \t]([^\n]*))?(?:\n|\Z)")
SETEXT = re.compile(r"(?<![=-])(?:=++|-++)[ \t]*+(?:\n|\Z)")
RULE = re.compile(r"([-*_])[ \t]*+(?>(?:\1[ \t]*+){2,})(?:\n|\Z)")
ITEM = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]|\n|\Z)")
_INNER = re.compile(
    r"([ \t]*+)((?>(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]++)*))"
    r"(#{1,6}[ \t]|`{3,}+(?=[^`\n]*+(?:\n|\Z))|~{3,}+)?"
)
_FENCE = re.compile(r"(`{3,}+)[^`\n]*+(?:\n|\Z)|(~{3,}+)")
_CLOSER = re.compile(r"\n {0,3}(`{3,}+|~{3,}+)[ \t]*+(?=\n|\Z)")
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
_INTERRUPTING = (ATX, _FENCE, RULE, ITEM, _HTML, _RAW_HTML)
_INDENTS = ("    ", "\t", " \t", "  \t", "   \t")
"""What begins a line of code: a tab goes on to the next column that four divides."""
_FRONT = re.compile(r"\ufeff?---[ \t]*\n(?=[^\n]*:|[#{]|---|\.\.\.)")
_FRONT_END = re.compile(r"\n(?:---|\.\.\.)[ \t]*+(?=\n|\Z)")


def line(text: str, pos: int) -> int:
    """Behind the line at ``pos``, its line end included."""
    return text.find("\n", pos) + 1 or len(text)


def blank(text: str, pos: int) -> int:
    """The run of lines with nothing but white space."""
    end = pos
    while end < len(text):
        stop = line(text, end)
        if text[end] != "\n" and not text[end:stop].isspace():
            break
        end = stop
    return end if end > pos else 0


def front_matter(text: str) -> int:
    """YAML between ``---`` on the first line and ``---`` or ``...``; its first line must look like YAML."""
    head = _FRONT.match(text)
    tail = _FRONT_END.search(text, head.end() - 1) if head else None
    return line(text, tail.end()) if tail else 0


def rule(text: str, pos: int) -> int:
    """A thematic break."""
    found = RULE.match(text, pos)
    return found.end() if found else 0


def fence(text: str, pos: int) -> int:
    """Fenced code up to its closing fence, else to the end of the text."""
    found = _FENCE.match(text, pos)
    if not found:
        return 0
    mark = found[1] or found[2]
    for closer in _CLOSER.finditer(text, line(text, pos) - 1):
        if closer[1][0] == mark[0] and len(closer[1]) >= len(mark):
            return line(text, closer.end())
    return len(text)


def quote(text: str, pos: int) -> int:
    """A block quote with the paragraph lines that lazily go on with it."""
    end = line(text, pos)
    while end < len(text) and (text[end] == ">" or not _interrupts(text, end)):
        end = line(text, end)
    return end


def code(text: str, pos: int) -> int:
    """Code by indentation, as the line at ``pos`` is; blank lines belong to it when more of it follows."""
    end = ahead = line(text, pos)
    while ahead < len(text):
        stop = line(text, ahead)
        if not text[ahead:stop].isspace():
            if not text.startswith(_INDENTS, ahead):
                break
            end = stop
        ahead = stop
    return end


def html(text: str, pos: int, endless: set[str]) -> int:
    """An HTML block: to its closing mark for comments and raw text, to a blank line for other block tags.

    Args:
        text: The text.
        pos: Where a ``<`` stands.
        endless: Closing marks that were looked for in vain; added to, so that none is looked for twice.
    """
    raw = _RAW_HTML.match(text, pos)
    if raw:
        end = _raw_end(text, pos, "-->" if raw[1] else "?>" if raw[2] else "</", endless)
        if end:
            return end
    elif not _HTML.match(text, pos):
        return 0
    end = line(text, pos)
    while end < len(text) and not text[end : line(text, end)].isspace():
        end = line(text, end)
    return end


def _raw_end(text: str, pos: int, mark: str, endless: set[str]) -> int:
    if mark in endless:
        return 0
    if mark == "</":
        found = _RAW_END.search(text, pos)
        at = found.start() if found else -1
    else:
        at = text.find(mark, pos)
    if at < 0:
        endless.add(mark)
        return 0
    return line(text, at)


def table(text: str, header: int, pos: int) -> int:
    """A table whose header row is at ``header`` and whose row of dashes is at ``pos``."""
    end = line(text, pos)
    if text.find("|", header, pos) < 0 or text.find("|", pos, end) < 0 or not _DELIMITER.match(text, pos):
        return 0
    while end < len(text):
        stop = line(text, end)
        if text.find("|", end, stop) < 0 or text[end] in "#>`~":
            break
        end = stop
    return end


def items(text: str, pos: int) -> int:
    """A list with all its items, the lists and fences in them, and the blank lines between."""
    end = ahead = _item_line(text, pos)
    loose = False
    while ahead < len(text):
        stop = line(text, ahead)
        if text[ahead:stop].isspace():
            ahead, loose = stop, True
            continue
        if not _in_list(text, ahead, loose):
            break
        end = ahead = _item_line(text, ahead)
        loose = False
    return end


def _in_list(text: str, pos: int, loose: bool) -> bool:
    """Whether the line at ``pos`` goes on with the list; ``loose`` when a blank line came before it."""
    if text[pos] in " \t" or ITEM.match(text, pos):
        inner = _INNER.match(text, pos)
        heading = inner and inner[2] and not inner[2][0].isdigit() and (inner[3] or "").startswith("#")
        return not heading and not RULE.match(text, pos)
    return not loose and not _interrupts(text, pos)


def _item_line(text: str, pos: int) -> int:
    """Behind the line of a list at ``pos``, or behind the whole fence that it opens.

    The fence ends where its item ends, so that an unclosed one takes no more than that.
    """
    end = line(text, pos)
    inner = _INNER.match(text, pos)
    if inner is None or not inner[3] or inner[3][0] == "#":
        return end
    mark, least = inner[3], len(inner[1]) + (1 if inner[2] else 0)
    ahead = end
    while ahead < len(text):
        stop = line(text, ahead)
        words = text[ahead:stop].strip()
        lead = _INNER.match(text, ahead)
        if words and lead and len(lead[1]) < least:
            break
        if words.startswith(mark) and not words.strip(mark[0]):
            return stop
        end, ahead = (stop if words else end), stop
    return end


def _interrupts(text: str, pos: int) -> bool:
    """Whether the line at ``pos`` starts a block even where a paragraph could go on."""
    first = text[pos]
    if first.isalpha():
        return False
    if first in " \t\n":
        return text[pos : line(text, pos)].isspace()
    return first == ">" or any(opener.match(text, pos) for opener in _INTERRUPTING)
