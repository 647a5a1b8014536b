r"""Tokens, stems, identifiers, folding, n-grams and common words.

A source word (``running``, ``don't``, ``MemoryStore``, ``notes.md``, ``3.11.7``, ``C++``) emits a set of terms in one
namespace: the folded whole, its spelling without accents, its stem, and the parts of an identifier with their stems.
Term counts and lengths count source words, so an identifier is as long as one word.

* ``/``, ``\``, ``@`` and ``:`` separate words; underscores around a word are Markdown and not part of it.
* Dash and underscore compounds also emit the joined spelling, dotted initials theirs (``U.S.``: ``us``).
* A compound number also emits its beginnings (``3.11.7``: ``3.11``), ``v1.2`` also ``1.2``; digits stay with their
  letters (``E0382``).
* An apostrophe stays; its sides are further forms, except English endings (``l'école``: ``école``).
* Unspaced scripts and Hangul give bigrams, each a source word; a Han or Hangul character is also a term.
* A query's compound gives a group for the whole and one for each part of at least two characters (three digits).
* Stop words are kept. Terms are cut after ``MAX_TERM_LENGTH`` characters on both sides.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate, chain, islice
from threading import Lock
from typing import Final, Protocol, cast

from scrubjay.frozen import frozen
from scrubjay.text.normalize import (
    bigrams,
    fold,
    has_unspaced,
    normalize_typography,
    split_scripts,
    strip_accents,
    word_marks,
)

UNKNOWN_RANK: Final = 28_000
"""Rank of a word that is not in the table."""

_FIRST_WORD_LINE: Final = 1_990
"""Lines before the first whole word: marks and single characters."""
_ZIPF: Final = 0.1
"""A word of rank r is about a tenth of 1/r of all words (Zipf)."""
_MIN_RANK: Final = 50
"""Lower ranks count as this one: the first words are function words."""


def word_rank(word: str) -> int:
    """Return the rank of a folded word, or of its plural or singular where that is commoner."""
    if not word.isalpha():
        return UNKNOWN_RANK
    ranks = word_ranks()
    other = word[:-1] if word.endswith("s") else word + "s"
    return max(_MIN_RANK, min(ranks.get(word, UNKNOWN_RANK), ranks.get(other, UNKNOWN_RANK)))


def keyness(word: str, times: int, words: int) -> float:
    """Return how many times as often as in English a word occurs in a text of so many words."""
    return times / max(1, words) * word_rank(word) / _ZIPF


@cache
def word_ranks() -> dict[str, int]:
    from importlib import resources

    vocabulary = resources.files("scrubjay.embeddings").joinpath("data", "bert-base-uncased-vocab.txt")
    lines = vocabulary.read_text(encoding="utf-8").splitlines()[_FIRST_WORD_LINE:]
    return {word: place for place, word in enumerate(lines)}


MAX_SPLIT_LENGTH = 40
"""A piece longer than this is not split at case: it is a hash or base64, whose pieces would be noise."""

_NUMBER_PREFIXES = 3  # of a compound number such as a version or an address
_JOINER_TABLE = str.maketrans("\u2019\u2010\u2011", "'--")
_CASE_CHANGE = re.compile(r"(?<=[^\W_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NUMBER_START = re.compile(r"[vV]?\d+[.\-]")
_NUMBER_MARK = re.compile(r"[.\-]")
_ISO_DAY = re.compile(r"(\d{4}-\d\d-\d\d)[Tt]\d")
_ENGLISH_ENDINGS = frozenset(("s", "d", "m", "ll", "re", "ve"))


def split_identifier(word: str) -> dict[str, tuple[str, ...]]:
    """Return the whole of a source word, then its parts, each folded, with all its spellings.

    >>> split_identifier("HTTPServer")
    {'httpserver': ('httpserver',), 'http': ('http',), 'server': ('server',)}
    """
    parts: dict[str, tuple[str, ...]] = {}
    _cut_piece(word.translate(_JOINER_TABLE), parts)
    return parts


def _cut_piece(piece: str, parts: dict[str, tuple[str, ...]]) -> None:
    piece = piece.strip("_")
    folded = fold(piece)
    if not folded or folded in parts:
        return
    if folded.isalnum() and piece[1:] == folded[1:] and folded[0] != "v":
        parts[folded] = (folded,)  # most parts: nothing to cut, spelled one way
    else:
        parts[folded] = _spellings(folded)
        _split_piece(piece, parts)


def _split_piece(piece: str, parts: dict[str, tuple[str, ...]]) -> None:
    for mark in ".-_":
        if mark in piece:
            for part in _split_at_mark(piece, mark):
                _cut_piece(part, parts)
            return
    base, plus, version = piece.partition("++")
    if plus:
        for part in (base if len(base) > 1 else "", base + plus if version else ""):
            _cut_piece(part, parts)
    elif len(piece) <= MAX_SPLIT_LENGTH and "'" not in piece:
        for part in _CASE_CHANGE.split(piece):
            if len(part) > 1:
                parts.setdefault(fold(part), (fold(part),))


def _split_at_mark(piece: str, mark: str) -> list[str]:
    pieces = piece.split(mark)
    if mark == "." and _is_initials(pieces):
        return []
    prefixes = []
    if _NUMBER_START.match(piece):
        ends = [match.start() for match in islice(_NUMBER_MARK.finditer(piece), 1, 1 + _NUMBER_PREFIXES)]
        prefixes = [piece[:end] for end in reversed(ends)]
    return [m.group(1) for m in _ISO_DAY.finditer(piece)] + prefixes + pieces


def _spellings(folded: str) -> tuple[str, ...]:
    spellings = [folded]
    if "." in folded:
        pieces = folded.split(".")
        if _is_initials(pieces):
            spellings.append("".join(pieces))
    elif not folded.isalnum() and any(c.isalpha() for c in folded):
        spellings.append(folded.replace("-", "").replace("_", ""))
        if folded.count("'") and spellings[-1] == folded:
            spellings += _apostrophe_sides(folded)
    if folded[0] == "v" and folded[1:2].isdigit():
        spellings.append(folded[1:])
    return tuple(dict.fromkeys(spellings))


def _apostrophe_sides(folded: str) -> list[str]:
    *heads, tail = folded.split("'")
    if tail == "t":  # don't, isn't: no word ends where the apostrophe stands
        return []
    if tail not in _ENGLISH_ENDINGS:
        heads.append(tail)
    return [side for side in heads if len(side) > 1]


def _is_initials(pieces: list[str]) -> bool:
    return len(pieces) > 1 and all(len(piece) == 1 and piece.isalpha() for piece in pieces)


SNOWBALL_LANGUAGES: dict[str, str] = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "et": "estonian", "fa": "persian", "fi": "finnish", "fr": "french", "hi": "hindi",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "nl": "dutch",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sv": "swedish",
    "ta": "tamil", "tr": "turkish",
}  # fmt: skip
"""Snowball's name of each language that `detect_language` may return and Snowball can stem."""


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


_LOCK = Lock()  # a Snowball stemmer works in a buffer of its own and is not re-entrant


def stem_word(word: str, language: str) -> str:
    """Return the Snowball stem of a folded word, or the word where the language (ISO 639-1) has no stemmer."""
    stemmer = _stemmer(language)
    if stemmer is None:
        return word
    with _LOCK:
        return stemmer.stemWord(word) or word


@cache
def _stemmer(language: str) -> _Stemmer | None:
    name = SNOWBALL_LANGUAGES.get(language)
    if name is None:
        return None
    import Stemmer

    # The library's own cache of 10,000 words is off: ``_FORMS`` caches the forms of words.
    return cast(_Stemmer, Stemmer.Stemmer(name, 0)) if name in Stemmer.algorithms() else None


TOKENIZER_VERSION: str = "1"
"""Stamped on every document; a change of any rule above, or of the stemmer's version, changes it."""

MAX_TERM_LENGTH = 64
"""Longest term in characters. The longest words of prose have about 40, a SHA-256 in hex has 64."""

MAX_CACHED_FORMS = 65_536
"""Spellings of all languages whose forms are cached, about 15 MB; a full cache is emptied, and the ten thousand that
most texts are made of are soon learnt again."""

_SUFFIX = r"(?:\+\+(?![A-Za-z0-9_+])|\+\+\d+)?"  # C++, g++, C++17
_SHARP = r"(?<![A-Za-z0-9_#])[A-Za-z]#(?![A-Za-z0-9_#])"  # C#, F#
# What `_unicode_pattern` finds in a text of ASCII, said so that no place is looked at twice: a sharp comes last, and
# behind most words stands no mark.
_ASCII = re.compile(
    r"(?a)\w++(?:(?=[#.'\-+])(?:#(?<=[A-Za-z]#)(?<![\w#][A-Za-z]#)(?![\w#])"
    r"|(?>(?:[.'\-]\w++)*(?:\+\+(?:\d++|(?![\w+])))?)))?"
)
_FORMS: dict[str, dict[str, tuple[str, ...]]] = {}
_UNSTEMMED = re.compile(r"[\d._\-+#]")


@frozen
class Word:
    text: str
    start: int
    end: int


@frozen
class Terms:
    """The terms of a text with the number of source words that emit each, and its length in source words."""

    counts: dict[str, int]
    length: int


@frozen
class TermGroup:
    """A folded query word and its distinct terms, itself (cut) first; tf is their largest, df their union's."""

    word: str
    forms: tuple[str, ...]


def split_words(text: str) -> list[Word]:
    """Return the source words of a text in order; bigrams of unspaced scripts overlap.

    >>> [word.text for word in split_words("Don't drop MemoryStore's notes.md!")]
    ["don't", 'drop', "memorystore's", 'notes.md']
    """
    known: dict[str, list[tuple[str, int, int]]] = {}
    found = []
    for match in _word_pattern(text).finditer(text):
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


def index_terms(text: str, language: str = "en") -> Terms:
    """Return the terms a document is indexed under; its language chooses the stemmer.

    >>> index_terms("notes.md note")
    Terms(counts={'notes.md': 1, 'notes': 1, 'note': 2, 'md': 1}, length=2)
    """
    known = _form_cache(language)
    plain = normalize_typography(text)
    raws = _word_pattern(plain).findall(plain if plain.isascii() else text)
    learnt = {raw: _learn_forms(raw, language, known) for raw in set(raws).difference(known)}
    odd = {raw: found for raw, found in learnt.items() if raw not in known}
    times = Counter(raws) if odd else {}
    length = len(raws) + sum((source_words - 1) * times[raw] for raw, (_, source_words) in odd.items())
    if odd:
        known = {raw: odd[raw][0] if raw in odd else known[raw] for raw in times}
    # No loop of ours over all words: one of a known spelling costs a match, a look-up and its counts.
    return Terms(dict(Counter(chain.from_iterable(map(known.__getitem__, raws)))), length)


def query_groups(text: str, languages: Sequence[str] = ("en",)) -> tuple[TermGroup, ...]:
    """Return a query's distinct groups of terms, in order, with the stems of all given languages.

    >>> [group.forms for group in query_groups("memory_stores")]
    [('memory_stores', 'memorystores', 'memorystor'), ('memory', 'memori'), ('stores', 'store')]
    """
    found: dict[str, TermGroup] = {}
    for raw in dict.fromkeys(_word_pattern(text).findall(text)):
        for gram, piece, _, _ in _source_words(raw):
            if gram:
                found.setdefault(gram[0], TermGroup(gram[0], gram[:1]))
                continue
            for index, (word, spellings) in enumerate(split_identifier(piece).items()):
                if index == 0 or len(word) > (2 if word.isdigit() else 1):
                    found.setdefault(word, TermGroup(word, _stem_forms(spellings, languages)))
    return tuple(found.values())


def find_terms(
    text: str, wanted: Collection[str], language: str = "en"
) -> list[tuple[int, int, tuple[str, ...]]]:
    """Return start, end and wanted terms of each source word that emits any, in order."""
    learnt = _form_cache(language)
    wanted_terms = frozenset(wanted)
    known: dict[str, list[tuple[int, int, tuple[str, ...]]]] = {}
    pieces = _word_splitter(text.isascii()).split(text)  # by turns what is between two words, and a word
    raws = pieces[1::2]
    distinct = set(raws)
    for raw, forms in zip(distinct, map(learnt.get, distinct), strict=True):
        emitted, source_words = (forms, 1) if forms is not None else _learn_forms(raw, language, learnt)
        if wanted_terms.isdisjoint(emitted):
            continue
        single_word = (
            source_words == 1 and raw.isascii() and raw.isalnum()
        )  # nothing to trim or to tell apart
        forms = tuple(term for term in emitted if term in wanted_terms)
        known[raw] = [(0, len(raw), forms)] if single_word else _word_hits(raw, wanted_terms, language)
    starts = islice(accumulate(map(len, pieces)), 0, None, 2)
    return [
        (start + first, start + last, forms)
        for raw, start in zip(raws, starts, strict=False)
        if raw in known
        for first, last, forms in known[raw]
    ]


def terms_by_word(text: str, language: str = "en") -> list[frozenset[str]]:
    """Return the terms of each source word of a short text, in order: a title, a tag.

    >>> [sorted(forms) for forms in terms_by_word("Running late")]
    [['run', 'running'], ['late']]
    """
    return list(iter_terms_by_word(text, language))


def iter_terms_by_word(text: str, language: str = "en") -> Iterator[frozenset[str]]:
    """Yield what `terms_by_word` returns, for a caller that often needs only the first few."""
    known = _form_cache(language)
    for raw in _word_pattern(text).findall(text):
        if raw not in known:
            _learn_forms(raw, language, known)
        if raw in known:
            yield frozenset(known[raw])
        else:
            yield from (
                frozenset(_stem_gram(gram, piece, language)) for gram, piece, _, _ in _source_words(raw)
            )


def _word_hits(raw: str, wanted: Collection[str], language: str) -> list[tuple[int, int, tuple[str, ...]]]:
    emitted = ((a, b, _stem_gram(gram, piece, language)) for gram, piece, a, b in _source_words(raw))
    hits = ((a, b, tuple(term for term in forms if term in wanted)) for a, b, forms in emitted)
    return [hit for hit in hits if hit[2]]


def _word_pattern(text: str) -> re.Pattern[str]:
    return _ASCII if text.isascii() else _unicode_pattern()


@cache
def _word_splitter(ascii_only: bool) -> re.Pattern[str]:
    word = _ASCII if ascii_only else _unicode_pattern()
    return re.compile(f"({word.pattern.removeprefix('(?a)')})", word.flags)


@cache
def _unicode_pattern() -> re.Pattern[str]:
    word = rf"\w[\w{word_marks()}]*"
    return re.compile(rf"{_SHARP}|{word}(?:[.'\u2019\u2010\u2011\-]{word})*{_SUFFIX}")


def _form_cache(language: str) -> dict[str, tuple[str, ...]]:
    language = language if language in SNOWBALL_LANGUAGES else ""
    if sum(map(len, tuple(_FORMS.values()))) >= MAX_CACHED_FORMS:
        _FORMS.clear()  # another thread may still be using the full ones
    return _FORMS.setdefault(language, {})


def _learn_forms(raw: str, language: str, known: dict[str, tuple[str, ...]]) -> tuple[tuple[str, ...], int]:
    """Return the terms and the number of source words of a spelling, and cache them."""
    if raw.isascii() and raw.isalpha() and raw[1:].islower():  # most words of most texts: nothing to cut
        word = raw.lower()[:MAX_TERM_LENGTH]
        emitted, source_words = [*dict.fromkeys((word, stem_word(word, language)))], 1
    else:
        emitted, source_words = [], 0
        for gram, piece, _, _ in _source_words(raw):
            emitted += _stem_gram(gram, piece, language)
            source_words += 1
    if source_words == 1 and len(raw) <= MAX_TERM_LENGTH:  # runs of Han and blobs hardly ever come again
        known[raw] = tuple(emitted)
    return tuple(emitted), source_words


def _source_words(raw: str) -> Iterator[tuple[tuple[str, ...], str, int, int]]:
    """Yield the source words in one match: a bigram's terms or (), a word or "", start and end in ``raw``."""
    if raw.isascii() or not has_unspaced(raw):
        yield from _trimmed_word(raw, 0)
        return
    for is_run, first, last in split_scripts(raw):
        if is_run:
            yield from ((emitted, "", first + a, first + b) for emitted, a, b in bigrams(raw[first:last]))
        else:
            yield from _trimmed_word(raw[first:last], first)


def _trimmed_word(piece: str, offset: int) -> Iterator[tuple[tuple[str, ...], str, int, int]]:
    inner = piece.strip("_.'\u2019\u2010\u2011-")
    if (inner.isascii() and inner[:1].isalnum()) or any(c.isalnum() for c in fold(inner)):
        first = offset + piece.index(inner)
        yield (), inner, first, first + len(inner)


def _stem_gram(gram: tuple[str, ...], piece: str, language: str) -> tuple[str, ...]:
    if gram:
        return gram
    parts = split_identifier(piece).values()
    return tuple(dict.fromkeys(form for spellings in parts for form in _stem_forms(spellings, (language,))))


def _stem_forms(spellings: Sequence[str], languages: Sequence[str]) -> tuple[str, ...]:
    forms = [spelling[:MAX_TERM_LENGTH] for spelling in spellings]
    for word in tuple(forms):
        bare = strip_accents(word)
        forms.append(bare)
        if _UNSTEMMED.search(word):
            continue
        for language in languages:
            stemmed = stem_word(word, language)
            forms += (stemmed, strip_accents(stemmed))
            if bare != word:
                forms.append(stem_word(bare, language))
    return tuple(dict.fromkeys(form[:MAX_TERM_LENGTH] for form in forms))  # æ made plain is longer


WORD_EDGE = "\x02"
"""Stands before and after a term; no term holds it."""

NEAREST_FLOOR = 0.25
"""Minimum score of an expansion. Of 294 words of 5 to 12 letters with one slip, among the 7,483 terms of a
book, the best three held the word for 92 % at .25 and at .20, 85 % at .28, 61 % at .40."""


def trigrams(term: str) -> frozenset[str]:
    """Return the character trigrams of a term with ``WORD_EDGE`` at both ends."""
    return _grams(f"{WORD_EDGE}{term}{WORD_EDGE}") if term else frozenset()


def trigram_similarity(a: str, b: str) -> float:
    """Return the Jaccard index of two texts' trigrams, lower-cased and not padded; without trigrams 1 if equal.

    >>> trigram_similarity("deploy", "deployment")
    0.5
    """
    left, right = a.lower(), b.lower()
    if left == right:
        return 1.0
    return _jaccard(_grams(left), _grams(right))


def nearest_terms(term: str, vocabulary: Iterable[str], limit: int = 3) -> tuple[tuple[str, float], ...]:
    """Return the terms of a vocabulary nearest to a mistyped term, with scores, best first, ties to the smaller term.

    The score is the Jaccard index of the padded trigrams, at least ``NEAREST_FLOOR``. One slip finds 77 % of words of
    5 letters, 95 % of 8, all from 9 on.
    """
    grams = trigrams(term)
    scored = ((other, _jaccard(grams, trigrams(other))) for other in set(vocabulary))
    close = [(other, score) for other, score in scored if score >= NEAREST_FLOOR]
    return tuple(sorted(close, key=lambda pair: (-pair[1], pair[0]))[:limit])


def _grams(text: str) -> frozenset[str]:
    return frozenset(text[i : i + 3] for i in range(len(text) - 2))


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared) if shared else 0.0
