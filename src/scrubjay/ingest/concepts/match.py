"""Match: str -> tuple[Mention, ...]. Which known concepts a text refers to.

Names and text are compared as level words (``level``): each word and phrase of a text is looked up (``names``),
and whom it means is worked out from the concepts that bear it, when first it is met. A name counts
within a longer one too: what is known of Docker Compose is asked for by "Docker" (bench/LOG.md: recall +.02).
It also stands in the plural, and a plural of five letters or more in the singular, where no other name is
spelt so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from scrubjay.ingest.concepts.level import behind, pattern, place, spread
from scrubjay.ingest.concepts.names import Names
from scrubjay.ingest.concepts.normal import care, is_common
from scrubjay.ingest.concepts.plural import ending
from scrubjay.memory.concepts import Concept

_CAPITAL: Final = ""
"""Stands for every spelling that begins with a capital."""

_MARKED: Final = "["
"""Stands for every spelling in a link or a tag."""

_CODED: Final = "`"
"""Stands for every spelling that is all there is between backticks."""

_AT: Final = {"capital": _CAPITAL, "coded": _CODED, "marked": _MARKED}

_MARKUP: Final = " \t-*+>#_\"'([|"
"""What may stand between the end of a sentence or a line and a word that then opens one."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A concept that a text refers to.

    Attributes:
        concept: Its id.
        count: How often.
        start: First code point of the first time.
        end: One past its last code point.
    """

    concept: str
    count: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, order=True)
class Clash:
    """A spelling that several concepts claim.

    Attributes:
        spelling: As those write it that do not get it.
        kept: Id of the concept that it means.
        others: Ids of those that do not get it, sorted.
    """

    spelling: str
    kept: str
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Claims:
    """Whom spellings mean.

    Attributes:
        loose: What to look for (``level.pattern``) to whom it means however it is written.
        written: What to look for to spellings, each with whom it means.
        clashes: Spellings that several concepts claim, sorted.
    """

    loose: dict[str, str]
    written: dict[str, dict[str, str]]
    clashes: tuple[Clash, ...]


def claims(concepts: Iterable[Concept]) -> Claims:
    """Return whom the names of concepts mean; the order of the concepts makes no difference.

    A spelling that is the name of one and an alias of another means the one whose name it is; of several
    with the same right, the one with the smallest id.
    """
    ranked = sorted(concepts, key=lambda concept: concept.id)
    loose: dict[str, str] = {}
    written: dict[str, dict[str, str]] = {}
    clashes: dict[tuple[str, str], set[str]] = {}
    spellings = [(concept.name, concept) for concept in ranked]
    for spelling, concept in spellings + [(alias, known) for known in ranked for alias in known.aliases]:
        key = pattern(spelling)
        if key:
            how = care(spelling, concept.kind)
            table = loose if how == "any" else written.setdefault(key, {})
            at = key if how == "any" else _AT.get(how, spelling)
            owner = table.setdefault(at, concept.id)
            if owner != concept.id:
                clashes.setdefault((spelling, owner), set()).add(concept.id)
    _inflect(loose, written)
    found = (Clash(spelling, kept, tuple(sorted(others))) for (spelling, kept), others in clashes.items())
    return Claims(loose, written, tuple(sorted(found)))


def mentions(text: str, names: Names, claimed: Callable[[str], Claims]) -> tuple[Mention, ...]:
    """Return the concepts that a text refers to, in the order in which they first do.

    Args:
        text: Any string; one passage is meant.
        names: Where names may stand.
        claimed: Told a stem, returns what all concepts that bear it claim.
    """
    spaced, origins = spread(text)
    hits: list[tuple[int, int, int, int, str, dict[str, str] | None]] = []
    for start, end, of, key in names.places(spaced):
        known = claimed(of)
        concept, written = known.loose.get(key, ""), known.written.get(key)
        if concept or written:
            hits.append((end + (key[-1] == " "), start - (key[0] == " "), start, end - 1, concept, written))
    hits.sort(key=lambda hit: hit[:2])
    found: dict[str, list[int]] = {}
    for _, _, first, last, concept, written in hits:
        if written:
            concept = _meant(written, text, place(first, origins), behind(last, origins)) or concept
        if concept in found:
            found[concept][0] += 1
        elif concept:
            found[concept] = [1, first, last]
    made = (
        Mention(concept, count, place(first, origins), behind(last, origins))
        for concept, (count, first, last) in found.items()
    )
    return tuple(sorted(made, key=lambda mention: (mention.start, mention.end, mention.concept)))


class Matcher:
    """All names of some concepts, ready to be found."""

    __slots__ = ("_claims", "_concepts", "_names")

    def __init__(self, concepts: Iterable[Concept]) -> None:
        self._concepts: dict[str, list[Concept]] = {}
        self._names = Names()
        self._claims: dict[str, Claims] = {}
        for concept in concepts:
            self._concepts.setdefault(concept.id, []).append(concept)
            self._names.learn((name, concept.id) for name in (concept.name, *concept.aliases))

    def __bool__(self) -> bool:
        """Tell whether there is any concept to be found."""
        return bool(self._concepts)

    @property
    def clashes(self) -> tuple[Clash, ...]:
        """Spellings that several concepts claim, sorted."""
        return claims(concept for same in self._concepts.values() for concept in same).clashes

    def match(self, text: str) -> tuple[Mention, ...]:
        """Return the concepts that a text refers to, in the order in which they first do.

        Args:
            text: Any string; one passage is meant.
        """
        return mentions(text, self._names, self._claimed)

    def _claimed(self, of: str) -> Claims:
        if of not in self._claims:
            bearers = self._names.bearers(of)
            self._claims[of] = claims(concept for each in bearers for concept in self._concepts[each])
        return self._claims[of]


def _inflect(loose: dict[str, str], written: dict[str, dict[str, str]]) -> None:
    """Add the plurals and singulars of all names; a spelling that is a name already stays what it is."""
    for key, concept in list(loose.items()):
        change = _change(key)
        if change is not None:
            loose.setdefault(f"{key[: -1 - change[0]]}{change[1]} ", concept)
    for key, spellings in list(written.items()):
        change = _change(key)
        if change is not None:
            cut, end = change
            table = written.setdefault(f"{key[: -1 - cut]}{end} ", {})
            for spelling, concept in spellings.items():
                if spelling == _CODED:
                    continue
                kept = spelling in (_CAPITAL, _MARKED)
                table.setdefault(spelling if kept else spelling[: len(spelling) - cut] + end, concept)


def _change(key: str) -> tuple[int, str] | None:
    return ending(key[key.rfind(" ", 0, -1) + 1 : -1]) if key[-1] == " " else None


def _meant(written: dict[str, str], text: str, start: int, end: int) -> str:
    """Return whom an occurrence means as it is written, or "".

    A capitalised common word ("Go") is not meant where every word would be capitalised.
    """
    if _MARKED in written and _is_marked(text, start, end):
        return written[_MARKED]
    if _CODED in written and text[start - 1 : start] == "`" == text[end : end + 1]:
        return written[_CODED]
    spelling = " ".join(text[start:end].split())
    concept = written.get(spelling, "") or (written.get(_CAPITAL, "") if text[start].isupper() else "")
    if concept and spelling[1:].islower() and is_common(spelling.lower()) and _opens(text, start):
        return ""
    return concept


def _is_marked(text: str, start: int, end: int) -> bool:
    """Tell whether this is a link's text or target, a tag, or a line that holds nothing else."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if before == "#":
        return after not in ("-", "_", "/")
    return after in ("]", "|", "#") if before == "[" else before in ("", "\n") and after in ("", "\n")


def _opens(text: str, start: int) -> bool:
    """Tell whether a sentence, an item or a heading begins here."""
    before = text[max(0, start - 80) : start].rstrip(_MARKUP)
    return not before or before[-1] in ".!?:\n\u2026"
