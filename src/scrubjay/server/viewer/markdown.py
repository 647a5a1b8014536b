"""Markdown of memories as HTML that cannot run, load or style anything.

The parser passes no HTML through: tags in a text are shown as text. Only http, https and mailto links lead anywhere;
images are named and never loaded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from typing import Any, Final
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup

from scrubjay.frozen import frozen

MAX_CHARACTERS: Final = 40_000
"""Characters above which a text is shown as it is: hostile ones of this length take a second to parse."""
EXTERNAL_SCHEMES: Final = ("http", "https", "mailto")
LAST_HEADING: Final = 6
_FRONT_MATTER: Final = re.compile(r"\A---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FIRST_HEADING: Final = re.compile(r"\A#{1,6}[ \t]+([^\n]*?)[ \t]*#*[ \t]*(?:\n|\Z)")
_TASK: Final = re.compile(r"\A\[([ xX])\][ \t]+")


_WIKI_LINK: Final = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]|]+))?\]\]")


@frozen
class RenderedText:
    html: Markup
    front_matter: str = ""


def split_front_matter(text: str) -> tuple[str, str]:
    r"""Return a text's front matter and the rest.

    >>> split_front_matter("---\ntags: [a]\n---\n\n# Berth"), split_front_matter("--- no")
    (('tags: [a]', '# Berth'), ('', '--- no'))
    """
    match = _FRONT_MATTER.match(text)
    return (match[1].strip("\n"), text[match.end() :].lstrip("\n")) if match else ("", text)


_MARKS: Final = (
    (re.compile(r"^[ \t]*(?:```|~~~)[^\n]*(?:\n|\Z)", re.MULTILINE), ""),
    (
        re.compile(
            r"^[ \t]*+\|?(?:[ \t]*+:?-{2,}+:?[ \t]*+\|)+(?:[ \t]*+:?-{2,}+:?)?[ \t]*+(?:\n|\Z)", re.MULTILINE
        ),
        "",
    ),
    (re.compile(r"^[ \t]*+\|[ \t]*+|(?:(?<![ \t])[ \t]++)?\|[ \t]*+$", re.MULTILINE), ""),
    (re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?)", re.MULTILINE), ""),
    (re.compile(r"^[ \t]*[-*+][ \t]+(?=\S)", re.MULTILINE), ""),
    (re.compile(r"^\[ \](?=[ \t]+\S)", re.MULTILINE), "☐"),
    (re.compile(r"^\[[xX]\](?=[ \t]+\S)", re.MULTILINE), "☑"),
    (re.compile(r"(?<=\S)[ \t]+\|[ \t]+(?=\S)"), " · "),
    (re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*\)"), r"\1"),
    (re.compile(r"\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]+)\]\]"), r"\1"),
    (re.compile(r"(\*\*|__|~~|`)(?=\S)([^\n]*?\S)\1"), r"\2"),
    (re.compile(r"(?<![\w*])\*(?=\S)([^*\n]*?\S)\*(?![\w*])"), r"\1"),
    (re.compile(r"\n{2,}"), "\n"),
)
"""Patterns of marks that a text shown in a few lines lacks, and their replacements."""


def plain_text(text: str) -> str:
    r"""Return a text without the marks of Markdown, for a line or an excerpt.

    >>> plain_text("---\na: b\n---\n\n# Berth\n\nIt **costs** `40` in [Lisbon](x.md), [[Mara|her]] berth.")
    'Berth\nIt costs 40 in Lisbon, her berth.'
    >>> plain_text("| a | b |\n| --- | --: |\n| 1 | 2 |\n```sql\nSELECT 2 * 3\n```")
    'a · b\n1 · 2\nSELECT 2 * 3\n'
    >>> plain_text("- [ ] Call Mara\n* [x] Pay")
    '☐ Call Mara\n☑ Pay'
    """
    text = split_front_matter(text)[1]
    for pattern, replacement in _MARKS:
        text = pattern.sub(replacement, text)
    return text


def render_text(text: str, *, title: str = "", level: int = 2, breaks: bool = False) -> RenderedText:
    """Return a text's Markdown as HTML.

    Args:
        text: The text.
        title: Shown above it already: a first heading of these words is left out.
        level: Level of its highest heading; those below follow without a gap.
        breaks: Whether a single line end is kept, as in a conversation.
    """
    front_matter, body = split_front_matter(text.strip("\n"))
    first = _FIRST_HEADING.match(body)
    if first is not None and first[1] == title and (rest := body[first.end() :].strip()):
        body = rest
    if len(body) > MAX_CHARACTERS:
        return RenderedText(Markup('<p class="as-is">{}</p>').format(body.strip()), front_matter)
    environment: dict[str, Any] = {"level": level, "headings": []}
    return RenderedText(Markup(_parser(breaks).render(body, environment)), front_matter)


@cache
def _parser(breaks: bool) -> MarkdownIt:
    options = {"html": False, "linkify": False, "typographer": False, "breaks": breaks}
    return MarkdownIt("commonmark", options, renderer_cls=_Renderer).enable(["table", "strikethrough"])


def is_external(href: str) -> bool:
    """Return whether an address leads somewhere else, by a scheme that cannot run anything.

    >>> is_external("https://example.com"), is_external("javascript:alert(1)"), is_external("../berth.md")
    (True, False, False)
    """
    try:
        return urlsplit(href).scheme.lower() in EXTERNAL_SCHEMES
    except ValueError:
        return False


class _Renderer(RendererHTML):
    """Rules of the tokens whose HTML differs from the standard one."""

    def heading_open(self, tokens: Sequence[Token], at: int, _options: Any, env: Any) -> str:
        levels: list[int] = env["headings"]
        level = int(tokens[at].tag[1])
        while levels and levels[-1] >= level:
            levels.pop()
        levels.append(level)
        return f"<h{self._level(env)}>"

    def heading_close(self, _tokens: Sequence[Token], _at: int, _options: Any, env: Any) -> str:
        return f"</h{self._level(env)}>\n"

    @staticmethod
    def _level(env: Any) -> int:
        return int(min(LAST_HEADING, env["level"] - 1 + len(env["headings"])))

    def text(self, tokens: Sequence[Token], at: int, _options: Any, _env: Any) -> str:
        content = tokens[at].content
        task = _TASK.match(content) if at == 0 else None
        box = "" if task is None else "☐ " if task[1] == " " else "☑ "
        return box + _WIKI_LINK.sub(_wiki_reference, escape(content[task.end() if task else 0 :]))

    def link_open(self, tokens: Sequence[Token], at: int, _options: Any, env: Any) -> str:
        href = str(tokens[at].attrGet("href") or "")
        external = is_external(href)
        env.setdefault("links", []).append(external)
        if not external:
            return f'<span class="reference" title="{escape(href)}">'
        return (
            f'<a class="external" href="{escape(href)}" rel="noopener noreferrer nofollow" target="_blank" '
            f'title="{escape(href)}">'
        )

    def link_close(self, _tokens: Sequence[Token], _at: int, _options: Any, env: Any) -> str:
        if env["links"].pop():
            return '<span class="away"> (opens another site)</span></a>'
        return "</span>"

    def image(self, tokens: Sequence[Token], at: int, _options: Any, _env: Any) -> str:
        token = tokens[at]
        source = str(token.attrGet("src") or "")
        return f'<span class="image" title="{escape(source)}">Image: {escape(token.content or source)}</span>'

    def fence(self, tokens: Sequence[Token], at: int, _options: Any, _env: Any) -> str:
        return self._code(tokens[at].content)

    def code_block(self, tokens: Sequence[Token], at: int, _options: Any, _env: Any) -> str:
        return self._code(tokens[at].content)

    @staticmethod
    def _code(content: str) -> str:
        # Focusable, so that keys can scroll it.
        return f'<pre tabindex="0"><code>{escape(content)}</code></pre>\n'

    def table_open(self, _tokens: Sequence[Token], _at: int, _options: Any, _env: Any) -> str:
        return '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>\n'

    def table_close(self, _tokens: Sequence[Token], _at: int, _options: Any, _env: Any) -> str:
        return "</table></div>\n"

    def th_open(self, tokens: Sequence[Token], at: int, _options: Any, _env: Any) -> str:
        return f"<th{_align(tokens[at])}>"

    def td_open(self, tokens: Sequence[Token], at: int, _options: Any, _env: Any) -> str:
        return f"<td{_align(tokens[at])}>"


def _wiki_reference(match: re.Match[str]) -> str:
    """Return the label of a link between notes, as HTML; ``match`` is in escaped text."""
    return f'<span class="reference" title="{match[1]}">{match[2] or match[1]}</span>'


def _align(token: Token) -> str:
    """Return a class for the style attribute by which the parser aligns a cell: the policy forbids styles."""
    style = str(token.attrGet("style") or "")
    return (
        ' class="num"' if style.endswith("right") else ' class="middle"' if style.endswith("center") else ""
    )
