"""Links: str -> tuple[Target, ...]. What a passage links to by name: ``[[pages]]`` and Markdown links.

Only links within the notes are taken: a URL leads out of them, an image is not a memory. What stands in code
is an example of a link and no link.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import unquote

from scrubjay.memory.records import Document

MOST: Final = 50
"""Links of one passage that are followed: a table of contents is not a memory of all that it lists."""
LONGEST: Final = 20_000
"""Characters of a passage that are read: only a line that cannot be cut is longer, and it is data."""
_CODE = re.compile(r"^(`{3,}|~{3,}).*?(?:^\1|\Z)|(`+)(?!`).+?(?<!`)\2(?!`)", re.DOTALL | re.MULTILINE)
_WIKI = re.compile(r"(?<!!)\[\[([^\[\]\n|#]{0,200})(?:#([^\[\]\n|]{1,200}))?(?:\|[^\[\]\n]{0,200})?\]\]")
_INLINE = re.compile(
    r"(?<!!)\[(?:[^\[\]\n\\]|\\.){0,300}\]\(\s*(?:<([^<>\n]{1,500})>|([^()\s<>]{1,500}))(?:\s[^()\n]{0,200})?\)"
)
_REFERENCE = re.compile(r"^ {0,3}\[[^\[\]\n]{1,200}\]:\s+<?([^\s<>]{1,500})>?", re.MULTILINE)
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")
_SLUG = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class Target:
    """What a link names.

    Attributes:
        name: Page name of a wiki link, or a path as the link gives it; empty for a place in the same document.
        heading: Heading or anchor within it, or an empty string.
        rule: ``wikilink`` or ``markdown``.
    """

    name: str
    heading: str
    rule: str


def links(text: str) -> tuple[Target, ...]:
    """Return what a text links to, in order of first mention, none twice.

    >>> links("see [[Seeds#Winter|there]] and [this](../a%20b.md#x), not `[[code]]` or [out](https://x.org)")
    (Target(name='Seeds', heading='Winter', rule='wikilink'), Target(name='../a b.md', heading='x', rule='markdown'))
    """
    if "[" not in text:
        return ()
    text = text[:LONGEST]
    plain = _CODE.sub(" ", text) if "`" in text or "~~~" in text else text
    found: list[tuple[int, Target]] = []
    for match in _WIKI.finditer(plain):
        name, heading = match[1].strip(), (match[2] or "").strip()
        if name or heading:
            found.append((match.start(), Target(name, heading, "wikilink")))
    for pattern in (_INLINE, _REFERENCE):
        for match in pattern.finditer(plain):
            target = _local(next(part for part in match.groups() if part))
            if target is not None:
                found.append((match.start(), target))
    ordered = sorted(found, key=lambda pair: pair[0])
    return tuple(dict.fromkeys(target for _, target in ordered))[:MOST]


def _local(url: str) -> Target | None:
    if _SCHEME.match(url):
        return None
    path, _, anchor = url.partition("#")
    return Target(unquote(path.partition("?")[0]), unquote(anchor), "markdown")


def slug(heading: str) -> str:
    """Return a heading as an anchor names it.

    >>> slug("What's new, in 2.0?")
    'whats-new-in-20'
    """
    return _SLUG.sub("", heading.strip().lower()).replace(" ", "-")


class Pages:
    """The documents of one source by every name that a link may give them."""

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self._paths = {path.casefold(): path for path in sorted(documents, reverse=True)}
        self._names: dict[str, str] = {}
        # A shorter path wins a name that two pages bear, then the smaller one: `seeds.md` before `old/seeds.md`.
        for path in sorted(documents, key=lambda path: (path.count("/"), path)):
            pure = PurePosixPath(path)
            title = documents[path].title
            for name in (pure.stem, str(pure.with_suffix("")), title, pure.stem.replace("___", "/")):
                self._names.setdefault(_page(name), path)

    def find(self, target: Target, path: str) -> str | None:
        """Return the path of the document that a link in the document ``path`` leads to, None for none."""
        if not target.name:
            return path
        if target.rule == "wikilink":
            return self._names.get(_page(target.name)) or self._paths.get(target.name.casefold())
        start = "" if target.name.startswith("/") else posixpath.dirname(path)
        full = posixpath.normpath(posixpath.join(start, target.name.lstrip("/"))).casefold()
        for ending in ("", ".md", "/index.md", "/readme.md", ".markdown"):
            if full + ending in self._paths:
                return self._paths[full + ending]
        # Rendered sites link to `page.html`, whose source is `page.md`.
        return self._paths.get(full.removesuffix(".html") + ".md") if full.endswith(".html") else None


def _page(name: str) -> str:
    return " ".join(name.replace("_", " ").replace("-", " ").casefold().removesuffix(".md").split())
