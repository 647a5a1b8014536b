"""Match: str -> tuple[Mention, ...]. Which known concepts a text refers to.

Names and text are compared as level words (``level``), all names at once (Aho and Corasick, 1975), leftmost
and longest first: in "Docker Compose" only Docker Compose is meant, where that is known. A name also stands
in the plural, and a plural of five letters or more in the singular, where no other name is spelt so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import ahocorasick

from scrubjay.ingest.concepts.level import behind, pattern, place, spread
from scrubjay.ingest.concepts.normal import exact, is_common
from scrubjay.memory.concepts import Concept

SHORTEST: Final = 3
"""Letters of a word that may have a plural; "is" is not several "i"."""

SHORTEST_PLURAL: Final = 5
"""Letters from which on a final s is taken off: shorter words (AWS, news, bus) are too often names with one."""

_SINGULAR: Final = frozenset(("rails", "series", "species", "windows", "pandas", "always", "perhaps"))
"""Names that would mean something else without their s."""


_HISSING: Final = ("ss", "x", "ch", "sh")
_HISSING_PLURALS: Final = ("sses", "xes", "ches", "shes")

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


class Matcher:
    """All names of a dictionary, ready to be found.

    Attributes:
        clashes: Spellings that several concepts claim, sorted.
    """

    __slots__ = ("_automaton", "clashes")

    def __init__(self, concepts: Iterable[Concept]) -> None:
        """Build it; the order of the concepts makes no difference.

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
                as_written = exact(spelling, concept.kind)
                table, at = (written.setdefault(key, {}), spelling) if as_written else (loose, key)
                owner = table.setdefault(at, concept.id)
                if owner != concept.id:
                    clashes.setdefault((spelling, owner), set()).add(concept.id)
        _inflect(loose, written)
        self._automaton = ahocorasick.Automaton()
        for key in loose.keys() | written.keys():
            before, after = len(key) - 1 - (key[0] == " "), int(key[-1] == " ")
            self._automaton.add_word(key, (before, after, loose.get(key, ""), written.get(key)))
        self._automaton.make_automaton()
        found = (Clash(spelling, kept, tuple(sorted(others))) for (spelling, kept), others in clashes.items())
        self.clashes = tuple(sorted(found))

    def match(self, text: str) -> tuple[Mention, ...]:
        """Return the concepts that a text refers to, in the order in which they first do.

        Args:
            text: Any string; one passage is meant.
        """
        if not self._automaton:
            return ()
        spaced, origins = spread(text)
        found: dict[str, list[int]] = {}
        for end, (before, after, concept, written) in self._automaton.iter_long(spaced):
            if written:
                start = place(spaced, end - before, origins)
                concept = _meant(written, text, start, behind(spaced, end - after, origins)) or concept
            if concept in found:
                found[concept][0] += 1
            elif concept:
                found[concept] = [1, end - before, end - after]
        return tuple(
            Mention(concept, count, place(spaced, first, origins), behind(spaced, last, origins))
            for concept, (count, first, last) in found.items()
        )


def _inflect(loose: dict[str, str], written: dict[str, dict[str, str]]) -> None:
    """Add the plurals and singulars of all names; a spelling that is a name already stays what it is."""
    for key, concept in list(loose.items()):
        inflected = _inflected(key)
        if inflected is not None:
            loose.setdefault(inflected[0], concept)
    for key, spellings in list(written.items()):
        inflected = _inflected(key)
        if inflected is not None:
            other, cut, end = inflected
            table = written.setdefault(other, {})
            for spelling, concept in spellings.items():
                table.setdefault(spelling[: len(spelling) - cut] + end, concept)


def _inflected(key: str) -> tuple[str, int, str] | None:
    """Return a pattern with its last word in the plural, or in the singular where it looks like a plural.

    Returns:
        The pattern, how many characters of the name were cut off, and what took their place.
    """
    last = key[key.rfind(" ", 0, -1) + 1 : -1]
    if len(last) < SHORTEST or not (last.isascii() and last.isalpha()):
        return None
    if last[-1] == "s" and last[-2] != "s":
        if len(last) < SHORTEST_PLURAL or last in _SINGULAR or last[-2] in "ui":
            return None
        cut, end = (3, "y") if last.endswith("ies") else (2 if last.endswith(_HISSING_PLURALS) else 1, "")
    elif last[-1] == "y" and last[-2] not in "aeiou":
        cut, end = 1, "ies"
    else:
        cut, end = 0, "es" if last.endswith(_HISSING) else "s"
    return f"{key[: -1 - cut]}{end} ", cut, end


def _meant(written: dict[str, str], text: str, start: int, end: int) -> str:
    """Return whom an occurrence means as it is written, or "".

    A capitalised common word ("Go") is not meant where every word would be capitalised.
    """
    spelling = " ".join(text[start:end].split())
    concept = written.get(spelling, "")
    if concept and spelling[1:].islower() and is_common(spelling.lower()) and _opens(text, start):
        return ""
    return concept


def _opens(text: str, start: int) -> bool:
    """Tell whether a sentence, an item or a heading begins here."""
    before = text[max(0, start - 80) : start].rstrip(_MARKUP)
    return not before or before[-1] in ".!?:\n\u2026"
