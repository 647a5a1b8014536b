"""Names: str -> places. Where in a text a name of a dictionary may stand, and which concepts bear it.

A dictionary of 100,000 names costs a new process no more than to read it: each name is kept under its stem, which
it shares with its plural and its singular, and a text's words and phrases are looked up one by one. What a stem's
bearers mean exactly is left to ``match``, which asks only for the few that a text holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, compress, count
from typing import Final

from scrubjay.ingest.concepts.level import bounded, level, pattern
from scrubjay.ingest.concepts.plural import ENDS, ending, stem
from scrubjay.text.scripts import holds_run

WORDS_KEPT: Final = 1 << 15
"""Distinct words of texts that are remembered, about 3 MB; then the memory starts afresh."""
LONGEST_KEPT: Final = 40
"""Longer words hardly ever come twice."""


class Names:
    """Stems of names, with who bears them; a name is never forgotten, so its bearer may since have dropped it."""

    __slots__ = ("_bearers", "_phrases", "_telling", "_unspaced")

    def __init__(self) -> None:
        self._bearers: dict[str, str | tuple[str, ...]] = {}
        self._phrases: dict[str, int] = {}
        """First word of names to how many spaces the longest holds."""
        self._unspaced: dict[str, tuple[int, ...]] = {}
        """First character to lengths of the names that may begin or end within a run of letters."""
        self._telling = _Telling(self._bearers, self._phrases)

    def copy(self) -> Names:
        """Return one that learns for itself."""
        other = Names()
        other._bearers, other._phrases = self._bearers.copy(), self._phrases.copy()
        other._unspaced = self._unspaced.copy()
        other._telling = _Telling(other._bearers, other._phrases)
        return other

    def learn(self, spellings: Iterable[tuple[str, str]]) -> None:
        """Take in names, each with the id of a concept that bears it."""
        bearers, phrases = self._bearers, self._phrases
        self._telling.clear()
        for spelling, concept in spellings:
            # `level.is_plain` and `stem`, written out: a new process does this to every name of the dictionary.
            if spelling.isascii() and spelling.replace(" ", "").isalnum() and "  " not in spelling:
                body = spelling.strip().lower()
            else:
                folded, body = _forms(spelling)
                if folded != body:
                    self._bear(stem(folded), concept)
                if not body:
                    continue
                self._learn_unspaced(body)
            of = body.rstrip(ENDS)
            if bearers.setdefault(of, concept) is not concept:
                self._bear(of, concept)
            first, space, rest = body.partition(" ")
            if space and phrases.get(first, 0) <= rest.count(" "):
                phrases[first] = rest.count(" ") + 1

    def bearers(self, of: str) -> tuple[str, ...]:
        """Return the ids of the concepts that bear, or once bore, a name of a stem."""
        held = self._bearers.get(of, ())
        return (held,) if isinstance(held, str) else held

    def places(self, spaced: str) -> list[tuple[int, int, str, str]]:
        """Return where names may stand in a spread text (``level.spread``).

        Returns:
            First character, one past the last, the stem, and what to look for, as ``pattern`` has it.
        """
        bearers, phrases = self._bearers, self._phrases
        words = spaced.split(" ")
        found: list[tuple[int, int, str, str]] = []
        # No loop of ours over all words: most of them neither are nor begin a name.
        telling = list(compress(count(), map(self._telling.__getitem__, words)))
        # A word ends after its letters and a space for each before.
        letters = list(accumulate(map(len, words))) if telling else []
        for at in telling:
            word = words[at]
            start, end, of = letters[at] + at - len(word), letters[at] + at, word.rstrip(ENDS)
            if of in bearers:
                found.append((start, end, of, f" {word} "))
            for spaces, more in enumerate(letters[at + 1 : at + 1 + phrases.get(word, 0)], at + 1):
                body = spaced[start : more + spaces]
                of = body.rstrip(ENDS)
                if of in bearers:
                    found.append((start, more + spaces, of, f" {body} "))
        if self._unspaced and not spaced.isascii():
            found += self._unspaced_places(spaced)
        return found

    def _unspaced_places(self, spaced: str) -> Iterator[tuple[int, int, str, str]]:
        for start, char in enumerate(spaced):
            for length in self._unspaced.get(char, ()):
                body = spaced[start : start + length]
                of = stem(body)
                if len(body) == length and of in self._bearers:
                    key = bounded(body)
                    begin, end = start - (key[0] == " "), start + length + (key[-1] == " ")
                    if len(key) < length + 2 and spaced[begin:end] == key:
                        yield start, start + length, of, key

    def _bear(self, of: str, concept: str) -> None:
        held = self.bearers(of)
        if concept not in held:
            self._bearers[of] = (*held, concept)

    def _learn_unspaced(self, body: str) -> None:
        key = bounded(body)
        if len(key) < len(body) + 2:
            change = ending(body[body.rfind(" ") + 1 :]) if key[-1] == " " else None
            other = len(body) - change[0] + len(change[1]) if change else len(body)
            lengths = {*self._unspaced.get(body[0], ()), len(body), other}
            self._unspaced[body[0]] = tuple(sorted(lengths))


class _Telling(dict[str, bool]):
    """Word of a text to whether a name may stand or begin there, found when first asked for."""

    def __init__(self, bearers: Mapping[str, object], phrases: Mapping[str, int]) -> None:
        super().__init__()
        self._bearers = bearers
        self._phrases = phrases

    def __missing__(self, word: str) -> bool:
        tells = bool(word) and (word.rstrip(ENDS) in self._bearers or word in self._phrases)
        if len(word) <= LONGEST_KEPT:
            if len(self) >= WORDS_KEPT:
                self.clear()
            self[word] = tells
        return tells


def stems(spelling: str) -> tuple[str, ...]:
    """Return the stems under which a name is kept."""
    return tuple({stem(form) for form in _forms(spelling)})


def _forms(spelling: str) -> tuple[str, str]:
    """Return the normal form of a name, and what is looked for in texts, without the spaces around it."""
    words = level(spelling)
    return " ".join(words.split()), (pattern(spelling) if holds_run(spelling) else words).strip(" ")
