"""Entity matcher: find which known entities a text mentions.

A new process reads a dictionary of 100,000 names without further work: each name is stored under its stem, which it
shares with its plural and singular, and words and phrases of a text are looked up one by one. A name counts within a
longer one too: "Docker" also finds Docker Compose (bench/LOG.md: recall +.02).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate, compress, count
from typing import Final

from scrubjay.entities.normalization import (
    NUMBER_ENDS,
    bound_words,
    is_common,
    level_text,
    number_ending,
    number_stem,
    required_case,
    search_pattern,
    spread_text,
    text_offset,
    text_offset_after,
)
from scrubjay.frozen import frozen
from scrubjay.models.graph import Entity
from scrubjay.text.normalize import has_unspaced

MAX_CACHED_WORDS: Final = 1 << 15
"""Distinct words that are cached, about 3 MB."""
MAX_CACHED_WORD: Final = 40


class NameIndex:
    """Stems of names with the ids of their entities, which may have dropped the name since: none is removed."""

    __slots__ = ("_bearers", "_first_words", "_phrases", "_unspaced")

    def __init__(self) -> None:
        self._bearers: dict[str, str | tuple[str, ...]] = {}
        self._phrases: dict[str, int] = {}
        """First word of names to the number of spaces in the longest."""
        self._unspaced: dict[str, tuple[int, ...]] = {}
        """First character to the lengths of names that may begin or end within a run of letters."""
        self._first_words = _FirstWords(self._bearers, self._phrases)

    def copy(self) -> NameIndex:
        other = NameIndex()
        other._bearers, other._phrases = self._bearers.copy(), self._phrases.copy()
        other._unspaced = self._unspaced.copy()
        other._first_words = _FirstWords(other._bearers, other._phrases)
        return other

    def learn(self, spellings: Iterable[tuple[str, str]]) -> None:
        """Add names, each with the id of its entity."""
        bearers, phrases = self._bearers, self._phrases
        self._first_words.clear()
        for spelling, concept in spellings:
            # `is_plain` and `number_stem` inlined: a new process does this for every name of the dictionary.
            if spelling.isascii() and spelling.replace(" ", "").isalnum() and "  " not in spelling:
                body = spelling.strip().lower()
            else:
                folded, body = _forms(spelling)
                if folded != body:
                    self._add(number_stem(folded), concept)
                if not body:
                    continue
                self._learn_unspaced(body)
            stem = body.rstrip(NUMBER_ENDS)
            if bearers.setdefault(stem, concept) is not concept:
                self._add(stem, concept)
            first, space, rest = body.partition(" ")
            if space and phrases.get(first, 0) <= rest.count(" "):
                phrases[first] = rest.count(" ") + 1

    def bearers(self, stem: str) -> tuple[str, ...]:
        """Return the ids of the entities that have or had a name of a stem."""
        bearers = self._bearers.get(stem, ())
        return (bearers,) if isinstance(bearers, str) else bearers

    def places(self, spaced: str) -> list[tuple[int, int, str, str]]:
        """Return where names may occur in a text of ``spread_text``: start, end, stem and search pattern."""
        bearers, phrases = self._bearers, self._phrases
        words = spaced.split(" ")
        found: list[tuple[int, int, str, str]] = []
        # No Python loop over all words: most of them begin no name.
        hits = list(compress(count(), map(self._first_words.__getitem__, words)))
        letters = list(accumulate(map(len, words))) if hits else []
        for at in hits:
            word = words[at]
            start, end, stem = letters[at] + at - len(word), letters[at] + at, word.rstrip(NUMBER_ENDS)
            if stem in bearers:
                found.append((start, end, stem, f" {word} "))
            for spaces, more in enumerate(letters[at + 1 : at + 1 + phrases.get(word, 0)], at + 1):
                body = spaced[start : more + spaces]
                stem = body.rstrip(NUMBER_ENDS)
                if stem in bearers:
                    found.append((start, more + spaces, stem, f" {body} "))
        if self._unspaced and not spaced.isascii():
            found += self._unspaced_places(spaced)
        return found

    def _unspaced_places(self, spaced: str) -> Iterator[tuple[int, int, str, str]]:
        for start, char in enumerate(spaced):
            for length in self._unspaced.get(char, ()):
                body = spaced[start : start + length]
                stem = number_stem(body)
                if len(body) == length and stem in self._bearers:
                    key = bound_words(body)
                    begin, end = start - (key[0] == " "), start + length + (key[-1] == " ")
                    if len(key) < length + 2 and spaced[begin:end] == key:
                        yield start, start + length, stem, key

    def _add(self, stem: str, concept: str) -> None:
        bearers = self.bearers(stem)
        if concept not in bearers:
            self._bearers[stem] = (*bearers, concept)

    def _learn_unspaced(self, body: str) -> None:
        key = bound_words(body)
        if len(key) < len(body) + 2:
            change = number_ending(body[body.rfind(" ") + 1 :]) if key[-1] == " " else None
            other = len(body) - change[0] + len(change[1]) if change else len(body)
            lengths = {*self._unspaced.get(body[0], ()), len(body), other}
            self._unspaced[body[0]] = tuple(sorted(lengths))


class _FirstWords(dict[str, bool]):
    def __init__(self, bearers: Mapping[str, object], phrases: Mapping[str, int]) -> None:
        super().__init__()
        self._bearers = bearers
        self._phrases = phrases

    def __missing__(self, word: str) -> bool:
        known = bool(word) and (word.rstrip(NUMBER_ENDS) in self._bearers or word in self._phrases)
        if len(word) <= MAX_CACHED_WORD:
            if len(self) >= MAX_CACHED_WORDS:
                self.clear()
            self[word] = known
        return known


def name_stems(spelling: str) -> tuple[str, ...]:
    return tuple({number_stem(form) for form in _forms(spelling)})


def _forms(spelling: str) -> tuple[str, str]:
    words = level_text(spelling)
    return " ".join(words.split()), (search_pattern(spelling) if has_unspaced(spelling) else words).strip(" ")


# In place of a spelling: any that begins with a capital, is in a link or a tag, or is all of a code span.
_CAPITAL: Final = ""
_MARKED: Final = "["
_CODED: Final = "`"
_SPELLINGS: Final = {"capital": _CAPITAL, "coded": _CODED, "marked": _MARKED}

_MARKUP: Final = " \t-*+>#_\"'([|"
"""Markup before the first word of a sentence or a line."""


@frozen
class Mention:
    """An entity that a text mentions."""

    concept: str
    count: int
    start: int
    end: int


@frozen
class NameOwners:
    """Which entity each spelling means.

    Attributes:
        loose: Search pattern to the entity that it means in any case.
        written: Search pattern to spellings, each with its entity.
    """

    loose: dict[str, str]
    written: dict[str, dict[str, str]]


def name_owners(concepts: Iterable[Entity]) -> NameOwners:
    """Resolve which entity each name means, whatever their order: a name goes before an alias, then the smallest id."""
    ranked = sorted(concepts, key=lambda concept: concept.id)
    loose: dict[str, str] = {}
    written: dict[str, dict[str, str]] = {}
    names = [(concept.name, concept) for concept in ranked]
    aliases = [(alias, concept) for concept in ranked for alias in concept.aliases]
    for name, concept in names + aliases:
        pattern = search_pattern(name)
        if pattern:
            case = required_case(name, concept.kind)
            if case == "any":
                loose.setdefault(pattern, concept.id)
            else:
                written.setdefault(pattern, {}).setdefault(_SPELLINGS.get(case, name), concept.id)
    _inflect(loose, written)
    return NameOwners(loose, written)


def find_mentions(text: str, names: NameIndex, claimed: Callable[[str], NameOwners]) -> tuple[Mention, ...]:
    """Return the entities that a text mentions, in the order of their first mention."""
    spaced, origins = spread_text(text)
    hits: list[tuple[int, int, int, int, str, dict[str, str] | None]] = []
    for start, end, stem, key in names.places(spaced):
        owners = claimed(stem)
        concept, written = owners.loose.get(key, ""), owners.written.get(key)
        if concept or written:
            hits.append((end + (key[-1] == " "), start - (key[0] == " "), start, end - 1, concept, written))
    hits.sort(key=lambda hit: hit[:2])
    mentions: dict[str, tuple[int, int, int]] = {}
    for _, _, first, last, concept, written in hits:
        start, end = text_offset(first, origins), text_offset_after(last, origins)
        if written:
            concept = _owner_of(written, text, start, end) or concept
        if concept:
            count, start, end = mentions.get(concept, (0, start, end))
            mentions[concept] = (count + 1, start, end)
    found = (Mention(concept, *mention) for concept, mention in mentions.items())
    return tuple(sorted(found, key=lambda one: (one.start, one.end, one.concept)))


class EntityMatcher:
    """Finds the names of some entities."""

    __slots__ = ("_claims", "_concepts", "_names")

    def __init__(self, concepts: Iterable[Entity]) -> None:
        self._concepts: dict[str, list[Entity]] = {}
        self._names = NameIndex()
        self._claims: dict[str, NameOwners] = {}
        for concept in concepts:
            self._concepts.setdefault(concept.id, []).append(concept)
            self._names.learn((name, concept.id) for name in (concept.name, *concept.aliases))

    def __bool__(self) -> bool:
        return bool(self._concepts)

    def match(self, text: str) -> tuple[Mention, ...]:
        """Return the entities that a passage mentions, in the order of their first mention."""
        return find_mentions(text, self._names, self._claimed)

    def _claimed(self, stem: str) -> NameOwners:
        if stem not in self._claims:
            bearers = self._names.bearers(stem)
            self._claims[stem] = name_owners(concept for each in bearers for concept in self._concepts[each])
        return self._claims[stem]


def _inflect(loose: dict[str, str], written: dict[str, dict[str, str]]) -> None:
    """Add plurals and singulars where no name is spelled so."""
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
                if spelling not in (_CAPITAL, _MARKED):
                    spelling = spelling[: len(spelling) - cut] + end
                table.setdefault(spelling, concept)


def _change(key: str) -> tuple[int, str] | None:
    return number_ending(key[key.rfind(" ", 0, -1) + 1 : -1]) if key[-1] == " " else None


def _owner_of(written: dict[str, str], text: str, start: int, end: int) -> str:
    """Return the entity of an occurrence as it is written, or "".

    A capitalised common word ("Go") means none where every word would be capitalised.
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
    before, after = text[start - 1 : start], text[end : end + 1]
    if before == "#":
        return after not in ("-", "_", "/")
    return after in ("]", "|", "#") if before == "[" else before in ("", "\n") and after in ("", "\n")


def _opens(text: str, start: int) -> bool:
    before = text[max(0, start - 80) : start].rstrip(_MARKUP)
    return not before or before[-1] in ".!?:\n\u2026"
