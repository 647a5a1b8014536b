"""Display: make text safe to show in a terminal or a prompt, and estimate its size in tokens.

Escape sequences, control and invisible characters are removed; joiners and variation selectors stay where they
change what is seen. Imported by hooks: keep it free of heavy imports.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

NON_JOINER, JOINER = "\u200c", "\u200d"
MAX_JOINED: Final = 3
"""Marks read of a run: a character has at most a variation and a joiner after it."""
_ESCAPE_SEQUENCE: Final = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])"
_FLAG: Final = (
    "\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|"
    "\U000e0077\U000e006c\U000e0073)\U000e007f"
)
"""England, Scotland, Wales."""
_LINE_ENDS: Final = "\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029"
_INVISIBLE: Final = (
    "\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Characters kept only where they change the display (`_replacement`)."""
_ESCAPED: Final = f"[\x85\u2028\u2029{_INVISIBLE}]"

_Ranges = tuple[tuple[str, str], ...]
_EMOJI: Final[_Ranges] = (
    ("\u2190", "\u2bff"), ("\u3030", "\u303d"), ("\u3297", "\u3299"), ("\U0001f000", "\U0001faff"),
)  # fmt: skip
_JOINING_SCRIPTS: Final[_Ranges] = (
    ("\u0600", "\u109f"), ("\u1780", "\u18af"), ("\u1a20", "\u1bff"), ("\ua800", "\uaaff"), ("\ufb50", "\ufdff"),
    ("\ufe70", "\ufefc"), ("\U00010a00", "\U00010a5f"), ("\U00010f30", "\U00010fff"),
    ("\U00011000", "\U00011fff"), ("\U0001e900", "\U0001e95f"),
)  # fmt: skip
"""Arabic, Syriac and the scripts of India and its neighbours, whose letters join or are kept apart by a joiner."""
_IDEOGRAPHS: Final[_Ranges] = (("\u3400", "\u9fff"), ("\uf900", "\ufaff"), ("\U00020000", "\U0003ffff"))
_HAS_VARIATIONS: Final[_Ranges] = (
    ("#", "#"), ("*", "*"), ("0", "9"), ("\xa9", "\xa9"), ("\xae", "\xae"), ("\u203c", "\u203c"),
    ("\u2049", "\u2049"), ("\u2100", "\u2189"), ("\u3000", "\u303f"), ("\uff01", "\uff5e"), *_EMOJI, *_IDEOGRAPHS,
)  # fmt: skip


def strip_control(text: str) -> str:
    r"""Return a text without control and invisible characters, with line feeds as line ends.

    >>> strip_control("a\x1b[31mb\x07c\r\nd\te\u202e")
    'abc\nd\te'
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    any_control, exact = _control_patterns()
    return exact.sub(_replacement, text) if any_control.search(text) else text


@cache
def _control_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return a quick pattern for texts that have something to replace, and the pattern of what is replaced."""
    each = f"({_ESCAPE_SEQUENCE})|(\r\n|[{_LINE_ENDS}])|({_FLAG})|[{_INVISIBLE}]+"
    return re.compile(f"[{_LINE_ENDS}{_INVISIBLE}]"), re.compile(each)


def _replacement(found: re.Match[str]) -> str:
    sequence, line_end, flag = found.groups()
    if sequence or line_end or flag:
        return "\n" if line_end else flag or ""
    start, end = found.span()
    before = found.string[max(start - 1, 0) : start]
    after = found.string[end : end + 1]
    visible = ""
    for mark in found[0][:MAX_JOINED]:
        if _is_variation_selector(mark, before) or _is_joiner(mark, before, after):
            visible += mark
            before = mark
    return visible


def _is_variation_selector(mark: str, before: str) -> bool:
    return ("\ufe00" <= mark <= "\ufe0f" and _in_ranges(before, _HAS_VARIATIONS)) or (
        "\U000e0100" <= mark <= "\U000e01ef" and _in_ranges(before, _IDEOGRAPHS)
    )


def _is_joiner(mark: str, before: str, after: str) -> bool:
    if mark not in (JOINER, NON_JOINER):
        return False
    emoji = (
        mark == JOINER and _in_ranges(after, _EMOJI) and (before == "\ufe0f" or _in_ranges(before, _EMOJI))
    )
    return emoji or _in_ranges(before, _JOINING_SCRIPTS)


def _in_ranges(character: str, ranges: _Ranges) -> bool:
    for first, last in ranges:  # noqa: SIM110 a generator takes three times as long, and a hostile text has many
        if first <= character <= last:
            return True
    return False


def single_line(text: str) -> str:
    """Return a text on one line: a title, a name, a path."""
    return " ".join(strip_control(text).split())


def shared_by(owner: str) -> str:
    """Return the mark of a memory that another user shared; a comma, which ends such marks, is replaced.

    >>> shared_by("ann"), shared_by("ann, pinned")
    ('shared by ann', 'shared by ann; pinned')
    """
    return f"shared by {single_line(owner).replace(',', ';')}"


def prefix_lines(text: str, prefix: str) -> str:
    r"""Return a text with a prefix before each line, so that none looks like one of ours.

    >>> prefix_lines("a\n\n[obs_1 | owner]", "> ")
    '> a\n>\n> [obs_1 | owner]'
    """
    return "\n".join(f"{prefix}{line}".rstrip() for line in strip_control(text).split("\n"))


def escape_markup(text: str) -> str:
    r"""Return a text on one line with each less-than sign as ``&lt;``.

    >>> escape_markup("a\n</scrubjay-memories> <b> 1 < 2")
    'a &lt;/scrubjay-memories> &lt;b> 1 &lt; 2'
    """
    return re.sub("[<\ufe64\uff1c]", "&lt;", single_line(text))


def escape_json(json_text: str) -> str:
    r"""Return JSON with the characters that `strip_control` removes as escapes; it reads back unchanged.

    >>> escape_json('"a\u202eb"')
    '"a\\u202eb"'
    """
    if json_text.isascii() and "\x7f" not in json_text:
        return json_text
    return re.sub(_ESCAPED, lambda found: _utf16(found[0]), json_text)


def _utf16(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


_SPACE = b" \t\n\r\x0b\x0c"
_CONTINUATION_BYTES = bytes(range(0x80, 0xC0))
_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-=_~*#"
_DIGITS = b"0123456789"


def excerpt(text: str, limit: int = 280) -> str:
    r"""Return the beginning of a text on one line.

    >>> excerpt("a  b\nc", 9), excerpt("one two three", 8)
    ('a b c', 'one two…')
    """
    line = " ".join(text.split())
    return line if len(line) <= limit else line[:limit].rsplit(" ", 1)[0] + "…"


def quarter_tokens(text: str) -> int:
    """Return four times `estimate_tokens` of a text, before rounding; it adds up over parts."""
    raw = text.encode("utf-8", "surrogatepass")
    counted = raw.translate(None, _SPACE + _CONTINUATION_BYTES)
    other = counted.translate(None, _LETTERS)
    rare = other.translate(None, _DIGITS)
    return (len(counted) - len(other)) + 2 * (len(other) - len(rare)) + 4 * len(rare)


def estimate_tokens(text: str) -> int:
    """Estimate how many tokens an embedding model makes of a text.

    A quarter for an ASCII letter or a character that is drawn in rows (``- = _ ~ * #``), a half for a digit, one for
    any other character but white space. MiniLM makes 1.02 to 1.09 times as many of English notes, 1.36 of German,
    1.14 of code, .97 to 1.00 of Chinese, Japanese and Arabic.

    >>> estimate_tokens("Recall each seed."), estimate_tokens("思い出す"), estimate_tokens("")
    (5, 4, 0)
    """
    return -(-quarter_tokens(text) // 4)
