"""Evidence: passages -> dict[str, Signs]. What speaks for each word or phrase being a name.

Regular expressions run over all passages as one text, and each counts distinct spellings in C; what they
found is then looked for in all texts at once, to learn in how many passages it stands, and whether with a
capital, without, or as code. No token is looked at one by one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

import ahocorasick

from scrubjay.ingest.concepts.level import APART, blot, level
from scrubjay.ingest.concepts.plural import plural, singular

_BREAK: Final = "\n\x1e\n"
"""Stands between passages; no pattern reaches over it."""
_CODE_MARK: Final = "\x04"
_LONGEST_PHRASE: Final = 4
"""Words of a heading's phrase, or of any name that is not wholly capitals: longer ones are clauses."""

_FENCE: Final = re.compile(
    r"^[ \t]*(?:- )?(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1[ \t]*$|(?=\x1e)|\Z)", re.M | re.S
)
_CODE: Final = re.compile(r"`([^`\n]{2,60})`")
_ITALIC: Final = re.compile(r"(?<![\w*])([*_])([^\W_][^*_\n,;:!?/]{1,40}?)\1(?![\w*])")
_NAME: Final = r"[A-Z]\w*(?:[.+&'\u2019-]\w+)*(?:\+\+)?"
_CAPITALS: Final = re.compile(
    rf"[ \n](?<=[a-z0-9,;)\]][ \n])[\[(*_\"\u201c']{{0,3}}({_NAME}(?:[ \n](?:(?:of|of the|de|&)[ \n])?{_NAME})*)"
)
_ODD: Final = re.compile(r"(?<!\w)(?:[a-z]+[A-Z]|[A-Z]+[a-z0-9]*[A-Z]|[A-Z][A-Z0-9])[A-Za-z0-9]*(?!\w)")
_BRACKETED: Final = re.compile(r"\(([A-Z][A-Za-z&]{1,7}?)s?\)")
_SMALL: Final = frozenset(("of", "and", "for", "the", "de", "to", "in"))
"""Words that an abbreviation passes over."""
_IDENTIFIER: Final = re.compile(r"[@$.]?[A-Za-z_][\w.:!+#-]*(?:<[^<>]*>)?(?:\(\))?|[a-z][\w-]+ [a-z][\w-]+")
_NUMBERING: Final = re.compile(
    r"^(?:(?:chapter|part|section|step|appendix|day|week|phase|lesson|exercise)\s+)?[\dIVX.]*[.:)]?\s*[-\u2013\u2014:]?\s+",
    re.I,
)
_POSSESSIVE: Final = re.compile(r"['\u2019]s?$")


@dataclass(slots=True)
class Signs:
    """What speaks for one phrase.

    Attributes:
        spelled: Spellings to how often each was found as a candidate.
        found: Kind of evidence to how often: ``capital`` (within a sentence), ``odd`` (``macOS``, ``HTTP``),
            ``code``, ``italic``, ``heading`` (a whole one), ``page``, ``tag``.
        aliases: Abbreviations that were given for it in brackets.
        headings: Headings of documents that hold it, each once a document.
        times: Occurrences in all texts.
        capital: Passages in which it begins with a capital outside code.
        small: Passages in which it does not.
        code: Passages in which it stands in code.
    """

    spelled: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    aliases: set[str] = field(default_factory=set)
    headings: int = 0
    times: int = 0
    capital: set[int] = field(default_factory=set)
    small: set[int] = field(default_factory=set)
    code: set[int] = field(default_factory=set)

    @property
    def passages(self) -> int:
        """In how many passages it stands."""
        return len(self.capital | self.small | self.code)


def evidence(
    texts: Sequence[str], headings: Iterable[Collection[str]], given: Iterable[tuple[str, str]]
) -> dict[str, Signs]:
    """Gather what speaks for each phrase.

    Args:
        texts: The passages.
        headings: For each document its distinct headings.
        given: Names that people marked themselves, each with its kind, ``page`` or ``tag``.

    Returns:
        Normal form, its last word in the singular, to its signs.
    """
    whole = blot(_FENCE.sub(_blank, _BREAK.join(texts)), " ")
    prose = _CODE.sub(_as_code, whole)
    surfaces: dict[str, Counter[str]] = {
        "code": Counter(span for span in _CODE.findall(whole) if _IDENTIFIER.fullmatch(span)),
        "italic": Counter(phrase for _, phrase in _ITALIC.findall(prose)),
        "capital": Counter(_CAPITALS.findall(prose)),
        "odd": Counter(_ODD.findall(prose)),
        "page": Counter(name for name, kind in given if kind == "page"),
        "tag": Counter(name for name, kind in given if kind == "tag"),
    }
    phrases, wholes = _headings(headings)
    surfaces["heading"] = wholes
    signs = _grouped(surfaces)
    _expand(signs, prose)
    for form, count in phrases.items():
        if form in signs:
            signs[form].headings += count
    _count(signs, texts, whole, prose)
    return signs


def _blank(match: re.Match[str]) -> str:
    return "\n".join(" " * len(line) for line in match.group().split("\n"))


def _as_code(match: re.Match[str]) -> str:
    return f"`{_CODE_MARK * len(match[1])}`"


def _headings(documents: Iterable[Collection[str]]) -> tuple[Counter[str], Counter[str]]:
    """Return the phrases in documents' headings, in their normal form, and whole headings without numbering."""
    listed = [_NUMBERING.sub("", heading, count=1).strip(" .:!?") for one in documents for heading in one]
    wholes = Counter(listed)
    phrases: Counter[str] = Counter()
    for form, count in zip(_normals(list(wholes)), wholes.values(), strict=True):
        words = form.split(" ")
        for size in range(1, _LONGEST_PHRASE + 1):
            for at in range(len(words) - size + 1):
                phrases[" ".join(words[at : at + size])] += count
    grouped: Counter[str] = Counter()
    for phrase, count in phrases.items():
        grouped[singular(phrase)] += count
    return grouped, wholes


def _normals(surfaces: Sequence[str]) -> Iterator[str]:
    """Yield the normal form of each, all made in one go."""
    joined = f" {APART} ".join(surface.replace(APART, " ") for surface in surfaces)
    return (" ".join(part.split()) for part in level(joined).split(APART)) if surfaces else iter(())


def _grouped(surfaces: dict[str, Counter[str]]) -> dict[str, Signs]:
    signs: dict[str, Signs] = {}
    for kind, counted in surfaces.items():
        for form, (surface, count) in zip(_normals(list(counted)), counted.items(), strict=True):
            if not form or form.count(" ") >= _LONGEST_PHRASE:
                continue
            bare = _POSSESSIVE.sub("", " ".join(surface.split()))
            own = singular(form.removesuffix(" s") if len(bare) < len(surface) else form)
            sign = signs.get(own)
            if sign is None:
                sign = signs[own] = Signs()
            sign.spelled[bare] += count
            sign.found[kind] += count
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
                sign = signs.setdefault(singular(next(_normals([long]))), Signs())
                sign.spelled[long] += 1
                sign.aliases.add(match[1])
                break


def _count(signs: dict[str, Signs], texts: Sequence[str], whole: str, prose: str) -> None:
    """Look for all phrases in all passages at once."""
    automaton = ahocorasick.Automaton()
    for form, sign in signs.items():
        for spelling in {form, plural(form)}:
            automaton.add_word(f" {spelling} ", (sign, len(spelling)))
    if not signs:
        return
    automaton.make_automaton()
    ends = list(accumulate(len(text) + len(_BREAK) for text in texts))
    passage = 0
    for end, (sign, size) in automaton.iter(f" {level(whole)} "):
        at = end - size - 1
        while at >= ends[passage]:
            passage += 1
        sign.times += 1
        char = prose[at]
        if char == _CODE_MARK:
            sign.code.add(passage)
        elif char.isupper():
            sign.capital.add(passage)
        else:
            sign.small.add(passage)
