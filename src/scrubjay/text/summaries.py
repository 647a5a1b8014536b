"""Extractive summaries: the abstract (L0) and overview (L1) of a text, in its own sentences.

They are made when a memory is shown. `text_units` reads sentences, headings, table rows and code lines in one pass,
without a tree. Units are taken from the top; long repetitive ones are skipped, and further code lines and table rows
fill the remaining room. Every cut is marked. Lengths count source words as the tokenizer does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Final, NamedTuple

from scrubjay.text.markdown import front_matter_end, normalize_newlines
from scrubjay.text.normalize import (
    CUT_MARK,
    has_unspaced,
    inside_grapheme,
    normalize_typography,
    split_scripts,
    word_marks,
)
from scrubjay.text.sentences import bracketed_ranges, continues_after
from scrubjay.text.tokenizer import split_words

CODE_SAMPLE: Final = 600
"""Characters read to tell code from text."""

# A class of characters stands first in each pattern, so that the scan goes from one of them to the next.
_SENTENCE = re.compile(
    r"[.!?。！？।؟۔｡](?:(?<=[.!?])[\"'”’)\]]*\s+(?![a-z])"
    r"|(?<=[。！？।؟۔｡])[”’」』）\"]*\s*)"
)
_ITEM = re.compile(r"(?:[-*+]|([0-9]{1,9}[.)]))[ \t]+(?:(\[[ xX]\])[ \t]+)?(?:#{1,6}[ \t]+)?")
_RULE_LINE = re.compile(r"[\s|:=*_+-]+\Z")
_HTML_COMMENT = re.compile(r"<!--.{0,2000}?-->", re.DOTALL)
_COMMENT = re.compile(r"\s*(?://[/!]?|#+!?|--|/?\*+/?|\"\"\"|''')[ \t]*")
_CODE = re.compile(
    r"(?:[@/)\]}]|[ \t]++(?![*+-] |[0-9]++[.)] )"
    r"|(?>(?:async |pub |export |public |private |static |default )*)(?:def|class|func|fn|import|from"
    r"|package|use|const|let|var|struct|type|return|if|for|interface) )(?=.*[^.!?]\Z)"
)
_CODE_ENDS = frozenset("{};(,[")
_LINK_DEFINITION = re.compile(r"\[[^\[\]^:][^\[\]:]*\]:[ \t]*\S+(?:[ \t]+[\"'(].*)?\Z")
"""The target of a reference link."""
_OUTLINER_PROPERTY = re.compile(r"\b(?:id|collapsed):: *\S+")
"""Properties that outliners write."""
_MARKUP = re.compile(r"[`\[<*~_]")
_INLINE = re.compile(
    r"[`!\[<*~_](?:"
    r"(?<=`)(`{0,2}+)([^`\n]{1,400}+)`\1(?!`)"
    r"|(?:(?<=!)\[)?(?<=\[)(?:\[(?:[^\[\]|\n]{1,200}+\|)?([^\[\]|\n]{1,200}+)\]\]"
    r"|([^\[\]\n]{0,200}+)\](?:\([^()\n]{0,1000}+(?:\([^()\n]{0,200}+\)[^()\n]{0,200}+)?\)|\[[^\[\]\n]{0,100}+\]))"
    r"|(?<=<)/?[A-Za-z][^<>\n]{0,500}+>"
    r"|(?<=[*~_])(?<!\w_)(?P<m>(?<=\*)\*{0,2}+|(?<=~)~|(?<=_)_{0,2}+)(?=[^\s*_~])(.{1,400}?)(?<=[^\s*_~])"
    r"(?:(?<=.)(?P=m)[*~_](?!(?<=_)\w))"
    r")"
)
_CODE_GROUP: Final = 2
"""Of ``_INLINE``: inline code, which holds no markup."""
_MARKUP_STARTS = frozenset(("", *"#|-*+>=~`_0123456789[{"))


def text_units(text: str) -> Iterator[tuple[str, str]]:
    r"""Yield the units of a text (with line feeds as line ends) and their kinds.

    ``text`` (a sentence), ``heading``, ``header`` and ``row`` of a table, ``code`` (a fence's first line, or a line of
    a source file) and ``more code``.

    >>> list(text_units("# Seeds\n- **Oak** grows. Slowly\n"))
    [('heading', 'Seeds'), ('text', 'Oak grows.'), ('text', 'Slowly')]
    """
    return ((kind, unit) for kind, unit, _ in _marked_units(text))


def _marked_units(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield units with the number and the check box that stand before them."""
    if text.startswith(("---", "\ufeff---")):
        text = text[front_matter_end(text) :]
    if "<!--" in text:
        text = _HTML_COMMENT.sub(" ", text)
    if ":: " in text:
        text = _OUTLINER_PROPERTY.sub("", text)
    prose: list[str] = []
    mark = ""
    for kind, line in _code_lines(text) if _is_code(text) else _lines(text):
        if kind == "more":
            prose.append(line)
            continue
        if prose:
            yield from _sentences(" ".join(prose), mark)
            prose, mark = [], ""
        item = _ITEM.match(line) if kind == "item" else None
        if item:
            mark = " ".join(filter(None, item.groups()))
            prose.append(line[item.end() :])
        elif kind and line:
            yield kind, (line if kind in ("code", "more code") else _without_markup(line)), ""
    if prose:
        yield from _sentences(" ".join(prose), mark)


def _is_code(text: str) -> bool:
    if "```" in text:
        return False
    lines = [line for line in text[:CODE_SAMPLE].split("\n") if line and not line.isspace()]
    return 2 * sum(line[-1] in _CODE_ENDS or _CODE.match(line) is not None for line in lines) > len(lines)


def _code_lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.split("\n"):
        comment = _COMMENT.match(line)
        if comment:
            yield "more", line[comment.end() :].rstrip("*/\"' \t")
        else:
            yield "code", line.strip()


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield each line's kind and words; ``more`` continues the paragraph before it."""
    fence, kind_before, code = "", "", "code"
    for line in text.split("\n"):
        if line[:1].isalpha() and not fence:  # most lines of most texts
            kind_before = "more"
            yield kind_before, line.rstrip()
            continue
        words = line.strip()
        if fence:
            if words.startswith(fence) and not words.strip(fence[0]):
                fence = ""
            elif words and not _is_directive(words):
                yield code, words
                code = "more code"
        elif words[:3] in ("```", "~~~"):
            fence, kind_before, code = words[:3], "code", "code"
            yield "", ""
        else:
            kind_before, words = _line(line, words, kind_before)
            yield kind_before, words


def _line(line: str, words: str, kind_before: str) -> tuple[str, str]:
    first = words[:1]
    if first not in _MARKUP_STARTS:
        deep = kind_before in ("", "code") and line.startswith(("    ", "\t"))
        return ("code" if deep else "more"), words
    if not words or _RULE_LINE.match(words) or _is_directive(words) or _LINK_DEFINITION.match(words):
        return ("row" if kind_before == "header" else ""), ""
    if first == "#":
        return "heading", words.strip("# \t")
    if first == "|":
        cells = ", ".join(cell.strip() for cell in words.strip("|").split("|") if cell.strip())
        return ("row" if kind_before in ("header", "row") else "header"), cells
    if first not in "[{" and _ITEM.match(words):
        return "item", words
    return "more", words.lstrip("> ") if first == ">" else words


def _is_directive(line: str) -> bool:
    return line.startswith("#+") or (line.startswith("{{") and line.endswith("}}"))


def _without_markup(text: str) -> str:
    if _MARKUP.search(text) is None:
        return text
    if "`" in text and "``" not in text:
        parts = text.split("`")
        if len(parts) % 2 and _MARKUP.search(" ".join(parts[::2])) is None:  # ticks are all there is
            return "".join(parts)
    text = _INLINE.sub(_markup_content, text)
    return _INLINE.sub(_markup_content, text) if "](" in text else text  # a picture in a link


def _markup_content(found: re.Match[str]) -> str:
    group = found.lastindex
    if group is None:
        return " "
    return found[group] if group == _CODE_GROUP else _without_markup(found[group])


def _sentences(text: str, mark: str) -> Iterator[tuple[str, str, str]]:
    plain, start = _without_markup(text), 0
    brackets = bracketed_ranges(plain)
    for end in _SENTENCE.finditer(plain):
        if continues_after(plain, end.start() + len(end[0].rstrip()), brackets):
            continue
        yield "text", plain[start : end.end()].strip(), mark
        start, mark = end.end(), ""
    if start < len(plain):
        yield "text", plain[start:].strip(), mark


L0_TOKENS: Final = 30
L1_TOKENS: Final = 120
MAX_CHARACTERS_PER_TOKEN: Final = 12
"""Maximum number of characters per token of room: English has six, with the space; a blob or a data URL finds no
place."""
MIN_CHARACTERS_PER_TOKEN: Final = 7
"""Characters a token: of a content with fewer for all of the room, words are counted before sentences are read."""
MAX_READ_CHARACTERS: Final = 8_000
"""Characters read: a passage has 1,250 on average, but an addition may be a pasted log of megabytes."""
MIN_NEW_SHARE: Final = 0.34
"""Share of a unit's words that must be new."""
MAX_EMPTY_SHARE: Final = 0.4
"""Share of the room that may stay empty; above it a sentence is cut."""
SHORT_UNIT: Final = 6
"""A unit of fewer tokens is never skipped: the next one may explain it ("Offer declined. Reason: …")."""
FILLER_KINDS: Final = frozenset(("more code", "row"))
"""Kinds that only fill remaining room: lines of code after the first, rows after a table's header."""

_ASCII_WORD = re.compile(r"[A-Za-z0-9]\w*+(?>(?:[.'\-]\w++)*)(?>(?:\+\+\d++)?)", re.ASCII)
"""Counts as `split_words` does, in a fourth of the time; a test compares the two."""
_PAUSE = re.compile(r"[,;:.!?)](?=\s)|[，、；：。！？」』）؛،।]")
_END_MARKS = frozenset(".!?:;…。！？।؟۔｡：；")


class _Unit(NamedTuple):
    place: int
    kind: str
    text: str
    size: int


def abstract_of(title: str, content: str, heading_path: Sequence[str] = ()) -> str | None:
    """Return L0, of at most 30 tokens; None where the content is no longer.

    Headings that repeat the title or the heading path are skipped.
    """
    return _summary(title, content, heading_path, L0_TOKENS)


def overview_of(title: str, content: str, heading_path: Sequence[str] = ()) -> str | None:
    """Return L1, of at most 120 tokens; as `abstract_of`."""
    return _summary(title, content, heading_path, L1_TOKENS)


def _summary(title: str, content: str, heading_path: Sequence[str], room: int) -> str | None:
    if len(content) < room * MIN_CHARACTERS_PER_TOKEN and _count_words(content) <= room:
        return None
    units, size, places = _read_units(content, {name.casefold() for name in (title, *heading_path)}, room)
    if size <= room and _count_words(content) <= room:  # everything was read; skipped text counts too
        return None
    return _join_units(_select_units(units, room), places) or None


def _read_units(content: str, known: set[str], room: int) -> tuple[list[_Unit], int, int]:
    """Return units, their tokens, and the number of places: more than the last unit's if something follows it."""
    text_read = normalize_newlines(content[:MAX_READ_CHARACTERS])
    runs = not normalize_typography(text_read).isascii() and has_unspaced(text_read)
    units: list[_Unit] = []
    fillers: list[_Unit] = []
    sentences: set[str] = set()
    total = places = 0
    for kind, text, mark in _marked_units(text_read):
        if kind in FILLER_KINDS:
            fillers.append(_Unit(places, kind, text, 0))
            places += 1
            continue
        found = _words(text)
        if not found or (kind == "heading" and text.casefold() in known):
            continue
        size = _count_words(text) if runs else len(found)
        bag, before = set(found), len(sentences)
        sentences |= bag
        if size < SHORT_UNIT or len(sentences) - before >= MIN_NEW_SHARE * len(bag):
            size += len(_words(mark))
            units.append(_Unit(places, kind, f"{mark} {text}" if mark else text, size))
            total += size
        places += 1
        if total > room:
            return units, total, places + 1
    sized = (unit._replace(size=_count_words(unit.text)) for unit in fillers[:room])
    units += (unit for unit in sized if unit.size)
    return units, total, places + (len(content) > MAX_READ_CHARACTERS)


def _words(text: str) -> list[str]:
    flat = normalize_typography(text)
    if flat.isascii():
        return _ASCII_WORD.findall(flat)
    return [raw for raw in _unicode_word().findall(text) if raw.strip("_")]


def _word_pattern(text: str) -> re.Pattern[str]:
    return _ASCII_WORD if text.isascii() else _unicode_word()


@cache
def _unicode_word() -> re.Pattern[str]:
    word = rf"\w[\w{word_marks()}]*"
    return re.compile(rf"{word}(?:[.'\u2019\u2010\u2011\-]{word})*(?:\+\+\d+)?")


def _count_words(text: str) -> int:
    """Return the number of source words, or a few more: decomposed characters count one by one."""
    flat = normalize_typography(text)
    if flat.isascii() or not has_unspaced(text):
        return len(_words(text))
    word = _unicode_word()
    return sum(
        max(1, end - start - 1) if run else sum(1 for raw in word.findall(text, start, end) if raw.strip("_"))
        for run, start, end in split_scripts(text)
    )


def _select_units(units: Sequence[_Unit], tokens: int) -> list[_Unit]:
    room, letters = tokens, tokens * MAX_CHARACTERS_PER_TOKEN
    chosen: list[_Unit] = []
    for unit in units:
        if unit.size > room or len(unit.text) > letters:
            cut = _cut_text(unit.text[:letters], room) if room > tokens * MAX_EMPTY_SHARE else ""
            if cut:
                chosen.append(unit._replace(text=cut))
                break
            if chosen and unit.size > room:
                break
            continue
        chosen.append(unit)
        room -= unit.size
        letters -= len(unit.text)
    return sorted(chosen)


def _join_units(units: Sequence[_Unit], places: int) -> str:
    """Return units as one text, with a mark where those of other places are left out."""
    text, place = "", 0
    for unit in units:
        if unit.place > place and not text.endswith(CUT_MARK):
            text += f" {CUT_MARK} "
        elif text:
            text += "" if text[-1] in "。！？" else " " if text[-1] in _END_MARKS else "; "
        text += f"{unit.text}:" if unit.kind == "heading" and unit is not units[-1] else unit.text
        place = unit.place + 1
    if text and place < places and not text.endswith(CUT_MARK):
        text += f" {CUT_MARK}"
    return text.lstrip()


def _cut_text(text: str, tokens: int) -> str:
    """Return a text up to a pause in the last half (unspaced scripts: two thirds) of the room, else a word."""
    runs = not text.isascii() and has_unspaced(text)
    if runs:
        ends = [word.end for word in islice(split_words(text), tokens + 1)]
    else:
        flat = normalize_typography(text)  # offsets stay
        ends = [found.end() for found in islice(_word_pattern(flat).finditer(flat), tokens + 1)]
    if len(ends) < 2:
        return ""
    last = ends[-2]  # whether the last one found goes on behind the room is not known
    pauses = [pause.end() for pause in _PAUSE.finditer(text, ends[len(ends) // (3 if runs else 2)], last + 1)]
    while not pauses and inside_grapheme(text, last):
        last -= 1
    return text[: pauses[-1] if pauses else last].rstrip(" ,;:，、；：،") + CUT_MARK
