"""Evidence: passages -> Gathered. What speaks for each word or phrase being a name.

Regular expressions run over all passages as one text, and each counts distinct spellings in C. How often and how
what they found stands in the passages is for ``count``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from scrubjay.ingest.concepts.level import APART, level
from scrubjay.ingest.concepts.linked import linked
from scrubjay.ingest.concepts.normal import normal
from scrubjay.ingest.concepts.plural import singular
from scrubjay.ingest.concepts.prose import CODE, only
from scrubjay.ingest.concepts.prose import prose as prose_of
from scrubjay.ingest.concepts.signs import Signs

_LONGEST_PHRASE: Final = 4
"""Words of a heading's phrase, or of any name that is not wholly capitals: longer ones are clauses."""

_LONGEST_MARKED: Final = 12
"""Words of a page's or a code's name: claude-3-5-sonnet-20241022 has five."""

_ITALICS: Final = (
    re.compile(r"\*(?<![\w*]\*)([^\W_][^*_\n,;:!?/]{1,40}?)\*(?![\w*])"),
    re.compile(r"_(?<![\w_]_)([^\W_][^*_\n,;:!?/]{1,40}?)_(?![\w_])"),
)
_NAME: Final = r"[A-Z]\w*+(?>(?:[.+&'\u2019-]\w++)*)(?:\+\+)?"
_GAP: Final = r"[ \n](?:(?<= )|(?<=[^\n]{40}\n))"
"""Between words of one sentence: a line end only where a paragraph was wrapped, no short line of a list."""
_MARKS: Final = r"[\[(*_\"\u201c']{0,3}"
_CAPITALS: Final = re.compile(
    rf"[ \n](?<=[a-z0-9,;)\]][ \n])(?:(?<= )|(?<=[^\n]{{40}}\n)){_MARKS}"
    rf"({_NAME}(?:{_GAP}(?:(?:of|of the|for|de|&){_GAP})?{_NAME})*)"
)
_TITLES: Final = re.compile(rf"[\n.:!?|-](?:(?<=\n)[ \t]*(?:[-*+] |\d+\. )?| ){_MARKS}({_NAME}(?: {_NAME})+)")
# Possessive and bounded: an unbroken megabyte of base64 must not be gone over again from each of its letters.
_ODD: Final = re.compile(r"[A-Z](?<![A-Za-z0-9_].)(?:[a-z0-9]{0,40}[A-Z]|[A-Z0-9])[A-Za-z0-9]{0,40}+(?!\w)")
_HUMP: Final = re.compile(r"[A-Z](?<=[a-z].)[A-Za-z0-9]{0,40}+(?!\w)")
_BEFORE_HUMP: Final = re.compile(r"(?<!\w)[a-z]{1,20}$")
_BARE: Final = re.compile(
    r"[_-](?:(?<=[A-Za-z0-9]_)[A-Za-z0-9_]{1,60}+|(?<=[a-z]-)\d[a-z0-9]{0,20}+(?>(?:[.-][a-z0-9]{1,20}+){0,9})"
    r"|(?<=[ \n(]-)-[a-z][a-z-]{1,30}+)(?:\(\))?(?![\w/])"
)
"""The end of what looks like code where nobody marked it: text from the web has lost its backticks."""
_BEFORE_BARE: Final = re.compile(r"(?<![\w/.:=&?{#-])(?:[A-Za-z][A-Za-z0-9]{0,39}|[a-z]+(?:-[a-z]+){1,5})$")
_BRACKETED: Final = re.compile(r"\(([A-Z][A-Za-z&]{1,7}?)s?\)")
_SMALL: Final = frozenset(("of", "and", "for", "the", "de", "to", "in"))
"""Words that an abbreviation passes over."""
_IDENTIFIER: Final = re.compile(r"[@$.]?[A-Za-z_][\w.:!+#-]*(?:<[^<>]*>)?(?:\(\))?|[a-z][\w-]+ [a-z][\w-]+")
_NUMBERING: Final = re.compile(
    r"^(?:(?:chapter|part|section|step|appendix|day|week|phase|lesson|exercise)\s+)?[\dIVX.]*[.:)]?\s*[-\u2013\u2014:]?\s+",
    re.I,
)
_POSSESSIVE: Final = re.compile(r"['\u2019]s?$")


@dataclass(frozen=True, slots=True)
class Gathered:
    """All passages as one text, and what may be a name in it.

    Attributes:
        sizes: Characters of each passage.
        whole: The passages without listings and addresses.
        prose: The same, of equal length, without code in backticks.
        signs: Normal form, its last word in the singular, to its signs.
    """

    sizes: tuple[int, ...]
    whole: str
    prose: str
    signs: dict[str, Signs]


def gather(
    texts: Sequence[str],
    telling: Sequence[bool],
    headings: Iterable[Collection[str]],
    given: Iterable[tuple[str, str]],
) -> Gathered:
    """Gather what may be a name, with the signs that its own look gives.

    Args:
        texts: The passages.
        telling: Of each, whether a capital within its sentences says anything.
        headings: For each document its distinct headings.
        given: Names that people marked themselves, each with its kind, ``page`` or ``tag``.
    """
    text = prose_of(texts)
    whole, prose = text.whole, text.prose
    marked = list(given)
    pages, addressed = linked(text.listed)
    phrases, wholes = _headings(headings)
    surfaces = {
        "code": Counter(span for span in CODE.findall(whole) if _IDENTIFIER.fullmatch(span)),
        "bare": Counter(_bare(prose)),
        "italic": Counter(phrase for italic in _ITALICS for phrase in italic.findall(prose)),
        "capital": Counter(_CAPITALS.findall(prose if all(telling) else only(prose, texts, telling))),
        "title": Counter(_TITLES.findall(prose)),
        "odd": Counter((*_ODD.findall(prose), *_humped(prose))),
        "heading": wholes,
        "link": addressed,
        "page": pages + Counter(name for name, kind in marked if kind == "page"),
        "tag": Counter(name for name, kind in marked if kind == "tag"),
    }
    signs = _grouped(surfaces)
    _expand(signs, prose)
    for form, count in phrases.items():
        if form in signs:
            signs[form].headings += count
    return Gathered(tuple(map(len, texts)), whole, prose, signs)


def _headings(documents: Iterable[Collection[str]]) -> tuple[Counter[str], Counter[str]]:
    """Return the phrases in documents' headings, in their normal form, and whole headings without numbering."""
    listed = [_NUMBERING.sub("", heading, count=1).strip(" .:!?") for one in documents for heading in one]
    wholes = Counter(listed)
    phrases: Counter[str] = Counter()
    for form, count in zip(_levels(list(wholes)), wholes.values(), strict=True):
        words = form.split()
        for size in range(1, _LONGEST_PHRASE + 1):
            for at in range(len(words) - size + 1):
                phrases[" ".join(words[at : at + size])] += count
    grouped: Counter[str] = Counter()
    for phrase, count in phrases.items():
        grouped[singular(phrase)] += count
    return grouped, wholes


def _levels(surfaces: Sequence[str]) -> Iterator[str]:
    """Yield the level form of each, all made in one go."""
    joined = f" {APART} ".join(surface.replace(APART, " ") for surface in surfaces)
    return (part.strip() for part in level(joined).split(APART)) if surfaces else iter(())


def _grouped(surfaces: dict[str, Counter[str]]) -> dict[str, Signs]:
    signs: dict[str, Signs] = {}
    for kind, counted in surfaces.items():
        for levelled, (surface, count) in zip(_levels(list(counted)), counted.items(), strict=True):
            form = " ".join(levelled.split())
            longest = _LONGEST_MARKED if kind in ("bare", "code", "page") else _LONGEST_PHRASE
            if not form or form.count(" ") >= longest:
                continue
            bare = _POSSESSIVE.sub("", " ".join(surface.split())).strip("_`*").rstrip(".:-")
            own = form.removesuffix(" s") if _POSSESSIVE.search(surface) else form
            own = (
                singular(own)
                if surface[-2:].islower() or (surface[-2:-1].isupper() and surface[-1:] == "s")
                else own
            )
            sign = signs.get(own)
            if sign is None:
                sign = signs[own] = Signs()
            sign.spelled[bare] = sign.spelled.get(bare, 0) + count
            sign.found[kind] = sign.found.get(kind, 0) + count
            if "  " in levelled:
                sign.apart.add(levelled)
    return signs


def _expand(signs: dict[str, Signs], prose: str) -> None:
    """Give long forms the abbreviation that stands behind them in brackets."""
    for match in _BRACKETED.finditer(prose):
        letters = match[1].upper()
        words = prose[max(0, match.start() - 100) : match.start()].split()
        for count in range(2, min(len(words), len(letters) + 3) + 1):
            tail = words[-count:]
            parts = [part for word in tail for part in word.split("-") if part and part.lower() not in _SMALL]
            if "".join(part[0] for part in parts).upper() == letters:
                long = " ".join(tail).strip("*_\"'[(")
                sign = signs.setdefault(singular(normal(long)), Signs())
                sign.spelled[long] = sign.spelled.get(long, 0) + 1
                sign.aliases.append(match[1])
                break


def _humped(prose: str) -> Iterator[str]:
    """Yield words that begin small and go on with a capital: ``macOS``."""
    for match in _HUMP.finditer(prose):
        before = _BEFORE_HUMP.search(prose, max(0, match.start() - 21), match.start())
        if before is not None:
            yield before.group() + match.group()


def _bare(prose: str) -> Iterator[str]:
    """Yield what is code by its look: ``max_tokens``, ``--release``, ``claude-3-haiku-20240307``."""
    for match in _BARE.finditer(prose):
        start = match.start()
        before = _BEFORE_BARE.search(prose, max(0, start - 41), start)
        if match[0].startswith("--") or before is not None:
            yield (before.group() if before else "") + match.group()
