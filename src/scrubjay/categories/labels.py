"""Category labels: the name, abstract and overview of a topic, in its memories' own words.

What nobody wrote as a word is none: parts of addresses, paths, file names, attributes and identifiers, slugs,
codes and numbers. A term that stands in such only has no spelling.

The name is the three most telling words, each in the spelling most used in the topic's central memories, and
longer where one word nearly always stands next to another: "GitHub Actions", "数据库". Two topics never have
the same name.

L0 is the name with the titles of the most central memories, those first that stand in no other topic. L1 is
made of sentences, one of a memory, the most central memories first: of each the one that says most of what
tells this topic from others.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, count, islice, pairwise
from typing import Final

from scrubjay.categories.clustering import TopicMember
from scrubjay.text.language import function_words
from scrubjay.text.normalize import has_unspaced, normalize_typography
from scrubjay.text.tokenizer import find_terms, index_terms

CENTRAL_MEMBERS: Final = 12
"""Members that are read."""
MAX_MEMBER_TEXT: Final = 2_000
"""Characters of each that are read."""
MANY_DISTINCT: Final = 200
"""Different pieces between spaces above which only those that come twice are looked at."""
MAX_WORD_CHARACTERS: Final = 40
"""Characters of one word: a hash is no name."""

PARTICLES: Final = frozenset(
    "的了是在和与也就都而及着之这那我你他她它们不一をはがにのでともへやかなるたてすし"
)
"""Characters that are mostly grammar: a bigram with one of them is no name."""

_SPELLED_WORD = re.compile(r"[^\W\d_](?>(?:[^\W_]|['’-](?=[^\W_]))*)(?:\.js|\+\+|#)?")
_EDGES = ".,;:!?…()[]{}\"'“”‘’«»*_"
"""What may stand at either side of a word; anything else makes it part of an address, a path, a call, a tag."""
_CODE = re.compile(
    r"[a-z]{3,}[A-Z][a-z]|[a-z]+\d+-|[^\n-]*+-[^\n-]*+-|[^\n\d]*+\d.*[a-z]\d|.*\d{3}|.*['’][a-z]"
)
"""Written for machines: camels with a small head, slugs, hashes. And "can't", which names nothing either."""


@dataclass(frozen=True, slots=True)
class TopicSpelling:
    """What the central memories of a topic say.

    Attributes:
        text: Their titles and texts.
        runs: Whether any of it is in a script without spaces.
        spellings: Term to the spelling most used, the most telling first.
        weights: Word as it is written to what the best of its terms tells.
    """

    text: str
    runs: bool
    spellings: Mapping[str, str]
    weights: Mapping[str, float]


def topic_spelling(central: Sequence[TopicMember], worth: Mapping[str, float]) -> TopicSpelling:
    """Return how the central memories spell what tells of their topic.

    Args:
        central: The topic's memories, the most central first.
        worth: What each term tells of it, the best first.
    """
    texts = [f"{leaf.title}\n{leaf.text[:MAX_MEMBER_TEXT]}" for leaf in central[:CENTRAL_MEMBERS]]
    language = Counter(leaf.language for leaf in central).most_common(1)[0][0]
    text = "\n".join(texts)
    runs = not normalize_typography(text).isascii() and has_unspaced(text)
    plain = _function_words(language)
    spelled: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for word, term, times in chain(_in_words(text, worth), _in_runs(texts, worth, language) if runs else ()):
        if term not in plain:
            spelled[term][word] += times
    best = {term: _most_used(spelled[term]) for term in worth if term in spelled}
    weights = {word: worth[term] for term, words in spelled.items() for word in words}
    return TopicSpelling(text, runs, best, weights)


def _most_used(words: Counter[str]) -> str:
    return min(words, key=lambda word: (-words[word], word)) if len(words) > 1 else next(iter(words))


def _in_words(text: str, worth: Mapping[str, float]) -> Iterator[tuple[str, str, int]]:
    """Yield each word that is a telling term, that term, and how often it comes."""
    pieces = Counter(text.split())
    several = len(pieces) > MANY_DISTINCT
    for piece, times in pieces.items():
        if times > several:
            word = piece.strip(_EDGES)
            term = word.casefold()
            if term in worth and _SPELLED_WORD.fullmatch(word) and not piece.endswith("::"):
                yield word, term, times


def _in_runs(
    texts: Sequence[str], worth: Mapping[str, float], language: str
) -> Iterator[tuple[str, str, int]]:
    """Yield each piece of a script without spaces that is a telling term."""
    for text in texts:
        for start, end, forms in find_terms(text, worth, language):
            if has_unspaced(text[start:end]):
                yield from ((text[start:end], form, 1) for form in forms)


@cache
def _function_words(language: str) -> frozenset[str]:
    return function_words("en") | function_words(language)


def can_be_name(word: str) -> bool:
    """Tell whether a word can be a name: no hash or slug, of two letters only an acronym."""
    if len(word) > MAX_WORD_CHARACTERS or not any(letter.isalpha() for letter in word):
        return False
    if word.isascii():
        if _CODE.match(word):
            return False
        return word[0].isalpha() and (
            len(word) > 2 or (len(word) == 2 and word.isalpha() and word.isupper()) or word[1:2] in ("#", "+")
        )
    return len(word) > 2 or (len(word) == 2 and not PARTICLES & set(word))


NAME_WORDS: Final = 3
"""Words or phrases in a name; up to twice as many where another topic has the name already."""
ALWAYS_SHARE: Final = 0.6
"""Share of its uses in which a word must stand next to another to be named together with it."""
MIN_USES: Final = 3
"""Uses together that make two words one name."""
MAX_USES: Final = 30
"""Uses of a word that are looked at."""
NEIGHBOUR_WORTH: Final = 0.2
"""Worth that a neighbour must have, as a share of the best term's."""

_NEXT, _LAST = re.compile(r"[ \-]\w+"), re.compile(r"(?<!\w)\w++[ \-]\Z")
_NEXT_LETTER, _LAST_LETTER = re.compile(r"\w"), re.compile(r"\w\Z")
_JOINTS = frozenset(" -")


def topic_name(
    said: TopicSpelling,
    titles: Sequence[str],
    taken: Iterable[str] = (),
    plain: Collection[str] = frozenset(),
) -> str:
    """Name one topic.

    Args:
        said: What its central memories say.
        titles: Theirs, of which the first stands in where no word tells anything.
        taken: Names that are in use; the name is none of them, also when case is ignored.
        plain: Folded words that name nothing.
    """
    used = {one.casefold() for one in taken}
    words: list[str] = []
    for word in _telling_words(said, plain):
        words.append(word)
        if len(words) >= NAME_WORDS and ", ".join(words).casefold() not in used:
            return ", ".join(words)
    words = words or [title for title in titles if title][:1] or ["untitled"]
    for length in range(min(NAME_WORDS, len(words)), len(words) + 1):
        label = ", ".join(words[:length])
        if label.casefold() not in used:
            return label
    return next(one for number in count(2) if (one := f"{label} ({number})").casefold() not in used)


def _telling_words(said: TopicSpelling, plain: Collection[str]) -> Iterator[str]:
    """Yield the topic's words, the most telling first, none repeating another; twice as many as a name has."""
    told: set[str] = set()
    chosen: list[str] = []
    for term, spelled in said.spellings.items():
        if term in plain or term in told or not can_be_name(spelled):
            continue
        word = _grown(spelled, said)
        forms = {*index_terms(word).counts, term}
        if not told & forms and not any(word.casefold() in one.casefold() for one in chosen):
            told |= forms
            chosen.append(word)
            yield word
        if len(chosen) == 2 * NAME_WORDS:
            return


def _grown(word: str, said: TopicSpelling) -> str:
    """Return a word with those telling ones that nearly always stand beside it; a bigram with its compound."""
    runs, text = said.runs and has_unspaced(word), said.text
    next_one, last_one = (_NEXT_LETTER, _LAST_LETTER) if runs else (_NEXT, _LAST)
    while len(word) <= MAX_WORD_CHARACTERS:
        beside: Counter[tuple[bool, str]] = Counter()
        uses = 0
        for start, end in _uses(word, text, runs):
            uses += 1
            if runs or text[end : end + 1] in _JOINTS:
                after = next_one.match(text, end)
                beside[True, after[0] if after else ""] += 1
            if runs or text[start - 1 : start] in _JOINTS:
                before = last_one.search(text, max(0, start - MAX_WORD_CHARACTERS), start)
                beside[False, before[0] if before else ""] += 1
        best = max(beside, key=lambda one: (beside[one], one), default=(True, ""))
        often = beside[best] >= max(MIN_USES, ALWAYS_SHARE * uses)
        if not often or not best[1] or not _is_part_of_name(best[1], said.weights, runs):
            return word
        word = word + best[1] if best[0] else best[1] + word
    return word


def _uses(word: str, text: str, runs: bool) -> Iterator[tuple[int, int]]:
    start, seen = text.find(word), 0
    while start >= 0 and seen < MAX_USES:
        end = start + len(word)
        if runs or not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum()):
            seen += 1
            yield start, end
        start = text.find(word, end)


def _is_part_of_name(part: str, weights: Mapping[str, float], run: bool) -> bool:
    """Tell whether a neighbour is part of the name, and not an article or "of" that stands there everywhere."""
    if run:
        return part not in PARTICLES
    word = part.strip(" -")
    return can_be_name(word) and weights.get(word, 0.0) >= NEIGHBOUR_WORTH * max(weights.values())


L0_TOKENS: Final = 30
L1_TOKENS: Final = 120
TITLED_MEMBERS: Final = 24
"""Members whose titles are read."""
FULL_ROOM: Final = 3
"""Tokens of room in which nothing more finds place."""
LENGTH_OFFSET: Final = 40
"""Characters added to a sentence's length, so that two telling words do not win by being short."""
WEIGHED_WORDS: Final = 10
"""Most telling words that sentences are rated by."""
SAME_TITLE_SHARE: Final = 0.6
"""Share of the shorter title's words that two titles must have in common to be one: "Week 2", "Week 3 goals"."""

_ENDS = frozenset(".!?:;…。！？।؟۔｡：；")
_SENTENCE = re.compile(r"[.!?…](?=\s+[^\sa-z])|[。！？।؟۔｡]|;(?= )|\n")
_TITLE_WORD = re.compile(r"[^\W_]+(?:['’.\-][^\W_]+)*")
_MARK = re.compile(r"\[\[|\]\]|\*\*|`|&\w+;|(?<!\w)_|_(?!\w)")
_FILE = re.compile(r"(?=\S++\Z)(?:[^/]*+/|.*\.[A-Za-z][A-Za-z0-9]{0,4}\Z)|.*___")
"""A title that is only the name of a file."""


def topic_summaries(
    name: str, central: Sequence[TopicMember], said: TopicSpelling, elsewhere: Collection[str] = frozenset()
) -> tuple[str, str]:
    """Return L0, at most 30 tokens, and L1, at most 120.

    Args:
        name: The topic's name; it stands first in L0, and is cut where it alone is too long.
        central: Its memories, the most central first.
        said: What they say of what tells of it.
        elsewhere: Folded titles that stand in other topics too.
    """
    return list_titles(name, distinct_titles(name, central, elsewhere)), _fitting(
        _telling(central, said), L1_TOKENS
    )


def list_titles(name: str, titles: Iterable[str], tokens: int = L0_TOKENS) -> str:
    """Return a name with as many of some titles as fit; a name that is itself too long is cut."""
    words = name.split()
    while _size(" ".join(words)) > tokens and len(words) > 1:
        words.pop()
    head = " ".join(words)
    told = _fitting(titles, tokens - _size(head))
    return f"{head}: {told}" if told else head


def distinct_titles(
    name: str, central: Sequence[TopicMember], elsewhere: Collection[str] = frozenset()
) -> Iterator[str]:
    """Yield titles of memories, or first sentences where none has one: none like the name or one before it."""
    given = [" ".join(_MARK.sub(" ", leaf.title).split()).rstrip(".:;") for leaf in central[:TITLED_MEMBERS]]
    written = [title for title in given if title and not _FILE.match(title)]
    if not written:
        written = [next(iter(_sentences(leaf)), "").rstrip(".:;") for leaf in central[:TITLED_MEMBERS]]
    chosen: list[frozenset[str]] = [_title_words(name)]
    for title in sorted(dict.fromkeys(written), key=lambda one: one.casefold() in elsewhere):
        words = _title_words(title)
        if words and all(
            len(words & one) < SAME_TITLE_SHARE * min(len(words), len(one)) for one in chosen if one
        ):
            chosen.append(words)
            yield title


def _title_words(title: str) -> frozenset[str]:
    """Return what tells titles apart: no numbers, and no words of two letters but acronyms."""
    found = (word.rstrip("0123456789") for word in _TITLE_WORD.findall(title) if not word[0].isdigit())
    return frozenset(
        word.casefold() for word in found if len(word) > 2 or word.isupper() or not word.isascii()
    )


def _telling(central: Sequence[TopicMember], said: TopicSpelling) -> Iterator[str]:
    told: set[str] = set()
    weights = [(word, said.weights[word]) for word in islice(said.spellings.values(), WEIGHED_WORDS)]
    for leaf in central[:TITLED_MEMBERS]:
        best, most = "", 0.0
        for text in _sentences(leaf):
            if text in told:
                continue
            gain = sum(weight for word, weight in weights if word in text) / (len(text) + LENGTH_OFFSET)
            if gain > most:
                best, most = text, gain
        if best:
            told.add(best)
            yield best


def _sentences(leaf: TopicMember) -> list[str]:
    text = leaf.text[:MAX_MEMBER_TEXT]
    ends = [0, *(mark.end() for mark in _SENTENCE.finditer(text)), len(text)]
    return [told for start, end in pairwise(ends) if (told := text[start:end].strip(" \n;"))]


def _fitting(texts: Iterable[str], room: int) -> str:
    """Join those texts that fit, in their order; what has no mark at its end gets one."""
    joined = ""
    for text in texts:
        size = _size(text)
        if 0 < size <= room:
            joined += (" " if joined[-1] in _ENDS else "; ") + text if joined else text
            room -= size
        if room < FULL_ROOM:
            break
    return joined


@lru_cache(maxsize=4_096)
def _size(text: str) -> int:
    """Return a text's number of words; a category's titles are measured for its L0, for its L1 and above it."""
    return index_terms(text).length
