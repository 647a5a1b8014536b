"""Sentences: str -> (kind, words) of everything that can be said again by itself.

Paragraphs and list items are cut into sentences and lose their Markdown marks; a heading, a table's row and
a line of code are each one piece. No tree is built and nothing is rated. ``text/markdown.py`` knows the blocks
exactly; here one pass over the lines must do, because every memory that is written is read this way.

Kinds: ``text`` (a sentence), ``heading``, ``header`` and ``row`` of a table, ``code`` (a fence's first line, or
a line of a source file) and ``more code`` (the fence's other lines).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scrubjay.text.spans import front_matter

GLANCE: Final = 600
"""Characters that tell code from text."""

# A class of characters stands first in each pattern, so that the scan goes from one of them to the next.
_SENTENCE = re.compile(
    r"[.!?。！？।؟۔｡](?:(?<=[.!?])[\"'”’)\]]*(?<![ (][A-Za-z]\.)(?<!\b[DMS][rt]\.)(?<!\bvs\.)(?<!\bMrs\.)\s+(?![a-z])"
    r"|(?<=[。！？।؟۔｡])[”’」』）\"]*\s*)"
)
_ITEM = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?:#{1,6}[ \t]+)?")
_DASHES = re.compile(r"[\s|:=*_+-]+\Z")
_HIDDEN = re.compile(r"<!--.{0,2000}?-->", re.DOTALL)
_COMMENT = re.compile(r"\s*(?://[/!]?|#+!?|--|/?\*+/?|\"\"\"|''')[ \t]*")
_CODE = re.compile(
    r"(?:[@/)\]}]|[ \t]++(?![*+-] |[0-9]++[.)] )"
    r"|(?>(?:async |pub |export |public |private |static |default )*)(?:def|class|func|fn|import|from"
    r"|package|use|const|let|var|struct|type|return|if|for|interface) )(?=.*[^.!?]\Z)",
)
_CODE_ENDS = frozenset("{};(,[")
_DEFINITION = re.compile(r"\[[^\[\]^:][^\[\]:]*\]:[ \t]*\S+(?:[ \t]+[\"'(].*)?\Z")
"""Where a link by name leads to."""
_OUTLINE = re.compile(r"\b(?:id|collapsed):: *\S+")
"""What outliners write to themselves."""
_MARK = re.compile(r"[`\[<*~_]")
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
"""Of ``_INLINE``: what stands in ticks, where marks are none."""
_MARKS = frozenset(("", *"#|-*+>=~`_0123456789[{"))


def sentences(text: str) -> Iterator[tuple[str, str]]:
    r"""Yield the pieces of a text in order, each with its kind.

    Args:
        text: Any text with ``\\n`` as line ends (``markdown.even``).

    >>> list(sentences("# Seeds\n- **Oak** grows. Slowly\n"))
    [('heading', 'Seeds'), ('text', 'Oak grows.'), ('text', 'Slowly')]
    """
    if text.startswith(("---", "\ufeff---")):
        text = text[front_matter(text) :]
    if "<!--" in text:
        text = _HIDDEN.sub(" ", text)
    if ":: " in text:
        text = _OUTLINE.sub("", text)
    prose: list[str] = []
    for kind, line in _code_lines(text) if _is_code(text) else _lines(text):
        if kind == "more":
            prose.append(line)
            continue
        if prose:
            yield from _sentences(" ".join(prose))
            prose = []
        if kind == "item":
            prose.append(line)
        elif kind and line:
            yield kind, (line if kind in ("code", "more code") else _plain(line))
    if prose:
        yield from _sentences(" ".join(prose))


def _is_code(text: str) -> bool:
    """Tell whether most of the first lines are code: a source file has no fence around it."""
    if "```" in text:
        return False
    lines = [line for line in text[:GLANCE].split("\n") if line and not line.isspace()]
    return 2 * sum(line[-1] in _CODE_ENDS or _CODE.match(line) is not None for line in lines) > len(lines)


def _code_lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield each line's kind and words; a comment is text."""
    for line in text.split("\n"):
        comment = _COMMENT.match(line)
        if comment:
            yield "more", line[comment.end() :].rstrip("*/\"' \t")
        else:
            yield "code", line.strip()


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield each line's kind and words; ``more`` goes on with the paragraph before it."""
    fence, before, code = "", "", "code"
    for line in text.split("\n"):
        if line[:1].isalpha() and not fence:  # most lines of most texts
            before = "more"
            yield before, line.rstrip()
            continue
        words = line.strip()
        if fence:
            if words.startswith(fence) and not words.strip(fence[0]):
                fence = ""
            elif words and not _included(words):
                yield code, words
                code = "more code"
        elif words[:3] in ("```", "~~~"):
            fence, before, code = words[:3], "code", "code"
            yield "", ""
        else:
            before, words = _line(line, words, before)
            yield before, words


def _line(line: str, words: str, before: str) -> tuple[str, str]:
    """Return the kind of a line outside of fences, and its words without the mark it starts with."""
    first = words[:1]
    if first not in _MARKS:
        deep = before in ("", "code") and line.startswith(("    ", "\t"))
        return ("code" if deep else "more"), words
    if not words or _DASHES.match(words) or _included(words) or _DEFINITION.match(words):
        return ("row" if before == "header" else ""), ""
    if first == "#":
        return "heading", words.strip("# \t")
    if first == "|":
        cells = ", ".join(cell.strip() for cell in words.strip("|").split("|") if cell.strip())
        return ("row" if before in ("header", "row") else "header"), cells
    item = None if first in "[{" else _ITEM.match(words)
    return ("item", words[item.end() :]) if item else ("more", words.lstrip("> ") if first == ">" else words)


def _included(line: str) -> bool:
    """Tell whether a line is for a program: what stands in its place when it is shown, or how it looks."""
    return line.startswith("#+") or (line.startswith("{{") and line.endswith("}}"))


def _plain(text: str) -> str:
    """Return a text without inline marks: emphasis, code ticks, link targets, tags; placeholders stay."""
    if _MARK.search(text) is None:
        return text
    if "`" in text and "``" not in text:
        parts = text.split("`")
        if len(parts) % 2 and _MARK.search(" ".join(parts[::2])) is None:  # ticks are all there is
            return "".join(parts)
    text = _INLINE.sub(_inner, text)
    return _INLINE.sub(_inner, text) if "](" in text else text  # a picture in a link


def _inner(found: re.Match[str]) -> str:
    group = found.lastindex
    if group is None:
        return " "
    return found[group] if group == _CODE_GROUP else _plain(found[group])


def _sentences(text: str) -> Iterator[tuple[str, str]]:
    plain, start = _plain(text), 0
    for end in _SENTENCE.finditer(plain):
        yield "text", plain[start : end.end()].strip()
        start = end.end()
    if start < len(plain):
        yield "text", plain[start:].strip()
