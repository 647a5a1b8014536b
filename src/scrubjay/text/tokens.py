r"""Words, Terms, Groups: str -> tuple.

A **source word** is what a reader calls one word: ``running``, ``don't``, ``MemoryStore``, ``notes.md``,
``3.11.7``, ``C++``. It emits a set of **terms**, all in one namespace: the folded whole, its spelling
without accents, its Snowball stem in the document's language, and, for an identifier, the parts at dot,
dash, underscore and change of case, with their stems. A document's count of a term is the number of its
source words that emit it; its length counts source words. So an identifier is found by each of its parts
and yet makes a document no longer than one word does.

Decisions:

* ``/``, ``\``, ``@`` and ``:`` separate words. A path, URL or e-mail address is several source words; that
  they stand together is for ``snippets.contains_phrase`` to verify.
* Compounds of dash or underscore also emit the joined spelling: ``memory_store``, ``memory-store`` and
  ``memoryStore`` share ``memorystore``. Dotted single letters do too: ``U.S.`` emits ``us``.
* A compound that starts with a number also emits its beginnings: ``3.11.7`` emits ``3.11``, ``2024-03-15``
  emits ``2024-03``. A leading v before a number may be left out (``v1.2`` emits ``1.2``).
* Digits stay with their letters: ``E0382``, ``sha256sum`` and ``utf8`` are not cut.
* An apostrophe stays in the whole; the sides are further forms, but for the English endings: ``l'école``
  emits ``école``, ``İstanbul'da`` emits ``istanbul``, ``we're`` emits ``we``.
* Underscores around a word are Markdown as often as Python, and are not part of it.
* Unspaced scripts and Hangul give character bigrams, each a source word (see ``scripts``); each Han or Hangul
  character is a term besides, since one character may be the whole query.
* A query's compound makes one group for the whole and one for each part, so that a document in which the
  parts stand apart still matches. Parts of one character, and numbers of one or two digits, get no group of
  their own: ``3.11.7`` must not look for every 7.
* Stop words are kept: the query plan drops common terms by what the caller can see.
* A term is cut after ``LONGEST_TERM`` characters, on both sides, so a megabyte without a space is one short
  term and still found.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain

from scrubjay.text.folding import fold, plain, typographic, word_marks
from scrubjay.text.identifiers import split
from scrubjay.text.scripts import bigrams, holds_run, pieces
from scrubjay.text.stems import SNOWBALL, stem

TOKENIZER_VERSION: str = "1"
"""Stamped on every document; a change of any rule above, or of the stemmer's version, changes it."""

LONGEST_TERM = 64
"""Longest term in characters. The longest words of prose have about 40, a SHA-256 in hex has 64."""

FORMS_KEPT = 200_000
"""Spellings whose forms are remembered per language, about 40 MB; a full memory makes way for an empty one."""

_SUFFIX = r"(?:\+\+(?![A-Za-z0-9_+])|\+\+\d+)?"  # C++, g++, C++17
_SHARP = r"(?<![A-Za-z0-9_#])[A-Za-z]#(?![A-Za-z0-9_#])"  # C#, F#
# What `_unicode` finds in a text of ASCII, said so that no place is looked at twice: a sharp comes last.
_ASCII = re.compile(
    r"(?a)\w++(?:#(?<=[A-Za-z]#)(?<![\w#][A-Za-z]#)(?![\w#])|(?>(?:[.'\-]\w++)*(?:\+\+(?:\d++|(?![\w+])))?))"
)
_FORMS: dict[str, dict[str, tuple[str, ...]]] = {}
_UNSTEMMED = re.compile(r"[\d._\-+#]")


@dataclass(frozen=True, slots=True)
class Word:
    """A source word where it stands.

    Attributes:
        text: The folded whole, uncut.
        start: First code point in the original text.
        end: One past the last code point.
    """

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Terms:
    """What a text is indexed under.

    Attributes:
        counts: Term to the number of source words that emit it.
        length: Number of source words.
    """

    counts: dict[str, int]
    length: int


@dataclass(frozen=True, slots=True)
class TermGroup:
    """All forms of one query word: a scorer uses tf = the largest of theirs, df = the size of their union.

    Attributes:
        word: The folded word as asked for.
        forms: Distinct terms, ``word`` (cut to ``LONGEST_TERM``) first.
    """

    word: str
    forms: tuple[str, ...]


def words(text: str) -> list[Word]:
    """Return the source words of a text in order; bigrams of unspaced scripts overlap.

    Example:
        >>> [word.text for word in words("Don't drop MemoryStore's notes.md!")]
        ["don't", 'drop', "memorystore's", 'notes.md']
    """
    known: dict[str, list[tuple[str, int, int]]] = {}
    found = []
    for match in _pattern(text).finditer(text):
        raw = match.group()
        inner = known.get(raw)
        if inner is None:
            inner = known[raw] = [
                (gram[0] if gram else fold(piece), a, b) for gram, piece, a, b in _source_words(raw)
            ]
        start = match.start()
        for folded, first, last in inner:
            found.append(Word(folded, start + first, start + last))
    return found


def terms(text: str, language: str = "en") -> Terms:
    """Return the terms a document is indexed under, with their counts and its length in source words.

    Args:
        text: Any string, also one with lone surrogates or without a single word.
        language: Language of the document (see ``languages.language``); it chooses the stemmer.

    Example:
        >>> terms("notes.md note")
        Terms(counts={'notes.md': 1, 'notes': 1, 'note': 2, 'md': 1}, length=2)
    """
    known = _known(language)
    plainly = typographic(text)
    raws = _pattern(plainly).findall(plainly if plainly.isascii() else text)
    learnt = {raw: _learn(raw, language, known) for raw in set(raws).difference(known)}
    odd = {raw: found for raw, found in learnt.items() if raw not in known}
    times = Counter(raws) if odd else {}
    length = len(raws) + sum((source_words - 1) * times[raw] for raw, (_, source_words) in odd.items())
    if odd:
        known = {raw: odd[raw][0] if raw in odd else known[raw] for raw in times}
    # No loop of ours over all words: one of a known spelling costs a match, a look-up and its counts.
    return Terms(dict(Counter(chain.from_iterable(map(known.__getitem__, raws)))), length)


def groups(text: str, languages: Sequence[str] = ("en",)) -> tuple[TermGroup, ...]:
    """Return a query's groups of terms, distinct, in order of first appearance.

    Args:
        text: The query. A compound makes a group for the whole and one for each part worth asking for.
        languages: Languages of the documents asked; each adds its stems to every group.

    Example:
        >>> [group.forms for group in groups("memory_stores")]
        [('memory_stores', 'memorystores', 'memorystor'), ('memory', 'memori'), ('stores', 'store')]
    """
    found: dict[str, TermGroup] = {}
    for raw in dict.fromkeys(_pattern(text).findall(text)):
        for gram, piece, _, _ in _source_words(raw):
            if gram:
                found.setdefault(gram[0], TermGroup(gram[0], gram[:1]))
                continue
            for index, (word, spellings) in enumerate(split(piece).items()):
                if index == 0 or _worth_asking(word):
                    found.setdefault(word, TermGroup(word, _forms(spellings, languages)))
    return tuple(found.values())


def find(text: str, wanted: Collection[str], language: str = "en") -> list[tuple[int, int, tuple[str, ...]]]:
    """Return where source words stand that emit a wanted term, for highlights and snippets.

    Args:
        text: The text searched.
        wanted: Terms; best a set or a dictionary.
        language: Language of ``text``, as given to ``terms``.

    Returns:
        Start, end and the wanted terms emitted, in order of start.
    """
    learnt = _known(language)
    asked = frozenset(wanted)
    known: dict[str, list[tuple[int, int, tuple[str, ...]]]] = {}
    for raw in set(_pattern(text).findall(text)):
        emitted, source_words = (learnt[raw], 1) if raw in learnt else _learn(raw, language, learnt)
        if asked.isdisjoint(emitted):
            continue
        whole = source_words == 1 and raw.isascii() and raw.isalnum()  # nothing to trim or to tell apart
        forms = tuple(term for term in emitted if term in asked)
        known[raw] = [(0, len(raw), forms)] if whole else _hits(raw, asked, language)
    return [
        (match.start() + first, match.start() + last, forms)
        for match in _pattern(text).finditer(text)
        if (hits := known.get(match[0])) is not None
        for first, last, forms in hits
    ]


def emitted(text: str, language: str = "en") -> list[frozenset[str]]:
    """Return the terms of each source word of a short text, in order: a title, a tag.

    Example:
        >>> [sorted(forms) for forms in emitted("Running late")]
        [['run', 'running'], ['late']]
    """
    return [
        frozenset(_emit(gram, piece, language))
        for match in _pattern(text).finditer(text)
        for gram, piece, _, _ in _source_words(match.group())
    ]


def _hits(raw: str, wanted: Collection[str], language: str) -> list[tuple[int, int, tuple[str, ...]]]:
    emitted = ((a, b, _emit(gram, piece, language)) for gram, piece, a, b in _source_words(raw))
    kept = ((a, b, tuple(term for term in forms if term in wanted)) for a, b, forms in emitted)
    return [hit for hit in kept if hit[2]]


def _pattern(text: str) -> re.Pattern[str]:
    return _ASCII if text.isascii() else _unicode()


@cache
def _unicode() -> re.Pattern[str]:
    word = rf"\w[\w{word_marks()}]*"
    return re.compile(rf"{_SHARP}|{word}(?:[.'\u2019\u2010\u2011\-]{word})*{_SUFFIX}")


def _known(language: str) -> dict[str, tuple[str, ...]]:
    """Return the memory of one language: spelling of one source word to the terms it emits."""
    language = language if language in SNOWBALL else ""
    if len(_FORMS.get(language, ())) >= FORMS_KEPT:
        _FORMS.pop(language, None)  # another thread may still be using the full one
    return _FORMS.setdefault(language, {})


def _learn(raw: str, language: str, known: dict[str, tuple[str, ...]]) -> tuple[tuple[str, ...], int]:
    """Return the terms that a spelling emits and its number of source words, and remember them."""
    if raw.isascii() and raw.isalpha() and raw[1:].islower():  # most words of most texts: nothing to cut
        word = raw.lower()[:LONGEST_TERM]
        emitted, source_words = [*dict.fromkeys((word, stem(word, language)))], 1
    else:
        emitted, source_words = [], 0
        for gram, piece, _, _ in _source_words(raw):
            emitted += _emit(gram, piece, language)
            source_words += 1
    if source_words == 1 and len(raw) <= LONGEST_TERM:  # runs of Han and blobs hardly ever come again
        known[raw] = tuple(emitted)
    return tuple(emitted), source_words


def _source_words(raw: str) -> Iterator[tuple[tuple[str, ...], str, int, int]]:
    """Yield the source words in one match: a bigram's terms or (), a word or "", start and end in ``raw``."""
    if raw.isascii() or not holds_run(raw):
        yield from _trimmed(raw, 0)
        return
    for is_run, first, last in pieces(raw):
        if is_run:
            yield from ((emitted, "", first + a, first + b) for emitted, a, b in bigrams(raw[first:last]))
        else:
            yield from _trimmed(raw[first:last], first)


def _trimmed(piece: str, offset: int) -> Iterator[tuple[tuple[str, ...], str, int, int]]:
    inner = piece.strip("_.'\u2019\u2010\u2011-")
    if (inner.isascii() and inner[:1].isalnum()) or any(c.isalnum() for c in fold(inner)):
        first = offset + piece.index(inner)
        yield (), inner, first, first + len(inner)


def _emit(gram: tuple[str, ...], piece: str, language: str) -> tuple[str, ...]:
    if gram:
        return gram
    parts = split(piece).values()
    return tuple(dict.fromkeys(form for spellings in parts for form in _forms(spellings, (language,))))


def _forms(spellings: Sequence[str], languages: Sequence[str]) -> tuple[str, ...]:
    """Return the spellings, then their plain spellings and stems, each cut to ``LONGEST_TERM``."""
    forms = [spelling[:LONGEST_TERM] for spelling in spellings]
    for word in tuple(forms):
        bare = plain(word)
        forms.append(bare)
        if _UNSTEMMED.search(word):
            continue
        for language in languages:
            stemmed = stem(word, language)
            forms += (stemmed, plain(stemmed))
            if bare != word:
                forms.append(stem(bare, language))
    return tuple(dict.fromkeys(form[:LONGEST_TERM] for form in forms))  # æ made plain is longer


def _worth_asking(part: str) -> bool:
    return len(part) > (2 if part.isdigit() else 1)
