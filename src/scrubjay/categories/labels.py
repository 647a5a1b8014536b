"""Category labels: the name, abstract and overview of a topic, in its memories' own words.

The name is the three most distinctive words, each in its commonest spelling, and longer where one word nearly always
stands beside another ("GitHub Actions"). L0 is the name with the titles of the most central memories; L1 is the most
distinctive sentence of each. Parts of addresses, paths, identifiers, codes and numbers are no words.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, count, islice, pairwise
from typing import Final

from scrubjay.categories.clustering import TopicMember
from scrubjay.frozen import frozen
from scrubjay.text.language import function_words
from scrubjay.text.normalize import has_unspaced, normalize_typography
from scrubjay.text.sentences import bracketed_ranges, continues_after
from scrubjay.text.tokenizer import find_terms, index_terms

L0_TOKENS: Final = 30
L1_TOKENS: Final = 120
CENTRAL_MEMBERS: Final = 12
"""Members whose texts are read for a name."""
TITLED_MEMBERS: Final = 24
"""Members whose titles and sentences are read."""
MAX_MEMBER_TEXT: Final = 2_000
MANY_DISTINCT: Final = 200
"""Distinct words from which on only repeated ones are read."""
MAX_WORD_CHARACTERS: Final = 40
NAME_WORDS: Final = 3
"""Words of a name; up to twice as many if another topic has the name already."""
ALWAYS_SHARE: Final = 0.6
"""Share of a word's uses in which it must stand beside another to be named together with it."""
MIN_USES: Final = 3
MAX_USES: Final = 30
NEIGHBOUR_WEIGHT: Final = 0.2
"""Minimum weight of such a neighbour, as a share of the best term's."""
FULL_ROOM: Final = 3
"""Tokens of room that are not worth filling."""
LENGTH_OFFSET: Final = 40
"""Characters added to a sentence's length, so that two distinctive words do not win by being short."""
SENTENCE_WORDS: Final = 10
"""Maximum number of distinctive words, by which sentences are rated."""
SAME_TITLE_SHARE: Final = 0.6
"""Share of the shorter title's words that two similar titles share: "Week 2", "Week 3 goals"."""

PARTICLES: Final = frozenset(
    "的了是在和与也就都而及着之这那我你他她它们不一をはがにのでともへやかなるたてすし"
)
"""Mostly grammatical characters; a bigram with one is no name."""

_SPELLED_WORD = re.compile(r"[^\W\d_](?>(?:[^\W_]|['’-](?=[^\W_]))*)(?:\.js|\+\+|#)?")
_EDGE_MARKS = ".,;:!?…()[]{}\"'“”‘’«»*_"
"""Punctuation around a word; anything else makes it part of an address, a path, a call or a tag."""
_CODE = re.compile(
    r"[a-z]{3,}[A-Z][a-z]|[a-z]+\d+-|[^\n-]*+-[^\n-]*+-|[^\n\d]*+\d.*[a-z]\d|.*\d{3}|.*['’][a-z]"
)
"""Identifiers, slugs and hashes; and "can't", which names nothing either."""
_NEXT, _LAST = re.compile(r"[ \-]\w+"), re.compile(r"(?<!\w)\w++[ \-]\Z")
_NEXT_LETTER, _LAST_LETTER = re.compile(r"\w"), re.compile(r"\w\Z")
_WORD_JOINERS = frozenset(" -")
_END_MARKS = frozenset(".!?:;…。！？।؟۔｡：；")
_SENTENCE = re.compile(r"[.!?…](?=\s+[^\sa-z])|[。！？।؟۔｡]|;(?= )|\n")
_TITLE_WORD = re.compile(r"[^\W_]+(?:['’.\-][^\W_]+)*")
_MARK = re.compile(r"\[\[|\]\]|\*\*|`|&\w+;|(?<!\w)_|_(?!\w)")
_FILE = re.compile(r"(?=\S++\Z)(?:[^/]*+/|.*\.[A-Za-z][A-Za-z0-9]{0,4}\Z)|.*___")
"""A title that is only the name of a file."""


@frozen
class TopicSpelling:
    """How the central memories of a topic spell its terms.

    Attributes:
        runs: Whether any of it is in a script without spaces.
        spellings: Term to its commonest spelling, the most distinctive first.
        weights: Spelling to the weight of its best term.
    """

    text: str
    runs: bool
    spellings: Mapping[str, str]
    weights: Mapping[str, float]


def topic_spelling(central: Sequence[TopicMember], weights: Mapping[str, float]) -> TopicSpelling:
    """Return how the central memories of a topic spell its terms."""
    texts = [f"{member.title}\n{member.text[:MAX_MEMBER_TEXT]}" for member in central[:CENTRAL_MEMBERS]]
    language = Counter(member.language for member in central).most_common(1)[0][0]
    text = "\n".join(texts)
    runs = not normalize_typography(text).isascii() and has_unspaced(text)
    common = function_words("en") | function_words(language)
    spelled: defaultdict[str, Counter[str]] = defaultdict(Counter)
    uses_of_terms = chain(
        _spaced_spellings(text, weights), _run_spellings(texts, weights, language) if runs else ()
    )
    for word, term, uses in uses_of_terms:
        if term not in common:
            spelled[term][word] += uses
    commonest = {
        term: min(words := spelled[term], key=lambda word: (-words[word], word))
        for term in weights
        if term in spelled
    }
    return TopicSpelling(
        text, runs, commonest, {word: weights[term] for term, words in spelled.items() for word in words}
    )


def _spaced_spellings(text: str, weights: Mapping[str, float]) -> Iterator[tuple[str, str, int]]:
    """Yield each word that is a term, the term and the number of uses."""
    pieces = Counter(text.split())
    several = len(pieces) > MANY_DISTINCT
    for piece, uses in pieces.items():
        if uses > several:
            word = piece.strip(_EDGE_MARKS)
            term = word.casefold()
            if term in weights and _SPELLED_WORD.fullmatch(word) and not piece.endswith("::"):
                yield word, term, uses


def _run_spellings(
    texts: Sequence[str], weights: Mapping[str, float], language: str
) -> Iterator[tuple[str, str, int]]:
    for text in texts:
        for start, end, forms in find_terms(text, weights, language):
            if has_unspaced(text[start:end]):
                yield from ((text[start:end], form, 1) for form in forms)


def can_be_name(word: str) -> bool:
    """Return whether a word can be a name: no hash or slug; of two letters only an acronym."""
    if len(word) > MAX_WORD_CHARACTERS or not any(letter.isalpha() for letter in word):
        return False
    if word.isascii():
        if _CODE.match(word):
            return False
        return word[0].isalpha() and (
            len(word) > 2 or (len(word) == 2 and word.isalpha() and word.isupper()) or word[1:2] in ("#", "+")
        )
    return len(word) > 2 or (len(word) == 2 and not PARTICLES & set(word))


def topic_name(
    spelling: TopicSpelling,
    titles: Sequence[str],
    taken: Iterable[str] = (),
    plain: Collection[str] = frozenset(),
) -> str:
    """Name one topic.

    Args:
        spelling: How its central memories spell its terms.
        titles: Their titles; the first is used if no term can be a name.
        taken: Names in use, which are avoided whatever their case.
        plain: Folded words that name nothing.
    """
    used = {name.casefold() for name in taken}
    words: list[str] = []
    for word in _distinctive_words(spelling, plain):
        words.append(word)
        if len(words) >= NAME_WORDS and ", ".join(words).casefold() not in used:
            return ", ".join(words)
    words = words or [title for title in titles if title][:1] or ["untitled"]
    for length in range(min(NAME_WORDS, len(words)), len(words) + 1):
        label = ", ".join(words[:length])
        if label.casefold() not in used:
            return label
    return next(name for number in count(2) if (name := f"{label} ({number})").casefold() not in used)


def _distinctive_words(spelling: TopicSpelling, plain: Collection[str]) -> Iterator[str]:
    used: set[str] = set()
    chosen: list[str] = []
    for term, spelled in spelling.spellings.items():
        if term in plain or term in used or not can_be_name(spelled):
            continue
        word = _extend_name(spelled, spelling)
        forms = {*index_terms(word).counts, term}
        if used.isdisjoint(forms) and not any(word.casefold() in other.casefold() for other in chosen):
            used |= forms
            chosen.append(word)
            yield word
        if len(chosen) == 2 * NAME_WORDS:
            return


def _extend_name(word: str, spelling: TopicSpelling) -> str:
    """Extend a word with the distinctive words that nearly always stand beside it."""
    runs, text = spelling.runs and has_unspaced(word), spelling.text
    next_one, last_one = (_NEXT_LETTER, _LAST_LETTER) if runs else (_NEXT, _LAST)
    while len(word) <= MAX_WORD_CHARACTERS:
        beside: Counter[tuple[bool, str]] = Counter()
        uses = 0
        for start, end in _occurrences(word, text, runs):
            uses += 1
            if runs or text[end : end + 1] in _WORD_JOINERS:
                after = next_one.match(text, end)
                beside[True, after[0] if after else ""] += 1
            if runs or text[start - 1 : start] in _WORD_JOINERS:
                before = last_one.search(text, max(0, start - MAX_WORD_CHARACTERS), start)
                beside[False, before[0] if before else ""] += 1
        after_word, part = max(
            beside, key=lambda neighbour: (beside[neighbour], neighbour), default=(True, "")
        )
        often = beside[after_word, part] >= max(MIN_USES, ALWAYS_SHARE * uses)
        if not often or not part or not _is_part_of_name(part, spelling.weights, runs):
            return word
        word = word + part if after_word else part + word
    return word


def _occurrences(word: str, text: str, runs: bool) -> Iterator[tuple[int, int]]:
    start, uses = text.find(word), 0
    while start >= 0 and uses < MAX_USES:
        end = start + len(word)
        if runs or not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum()):
            uses += 1
            yield start, end
        start = text.find(word, end)


def _is_part_of_name(part: str, weights: Mapping[str, float], run: bool) -> bool:
    if run:
        return part not in PARTICLES
    word = part.strip(" -")
    return can_be_name(word) and weights.get(word, 0.0) >= NEIGHBOUR_WEIGHT * max(weights.values())


def topic_summaries(
    name: str,
    central: Sequence[TopicMember],
    spelling: TopicSpelling,
    elsewhere: Collection[str] = frozenset(),
) -> tuple[str, str]:
    """Return L0, at most 30 tokens, and L1, at most 120."""
    abstract = list_titles(name, distinct_titles(name, central, elsewhere))
    return abstract, _join_fitting(_distinctive_sentences(central, spelling), L1_TOKENS)


def list_titles(name: str, titles: Iterable[str], tokens: int = L0_TOKENS) -> str:
    """Return a name followed by as many titles as fit; a name that is too long is cut."""
    words = name.split()
    while _count_words(" ".join(words)) > tokens and len(words) > 1:
        words.pop()
    head = " ".join(words)
    listed = _join_fitting(titles, tokens - _count_words(head))
    return f"{head}: {listed}" if listed else head


def distinct_titles(
    name: str, central: Sequence[TopicMember], elsewhere: Collection[str] = frozenset()
) -> Iterator[str]:
    """Yield the memories' titles, else their first sentences, that differ from the name and from each other."""
    titles = [
        " ".join(_MARK.sub(" ", member.title).split()).rstrip(".:;") for member in central[:TITLED_MEMBERS]
    ]
    written = [title for title in titles if title and not _FILE.match(title)]
    if not written:
        written = [next(iter(_sentences(member)), "").rstrip(".:;") for member in central[:TITLED_MEMBERS]]
    chosen: list[frozenset[str]] = [_title_words(name)]
    for title in sorted(dict.fromkeys(written), key=lambda title: title.casefold() in elsewhere):
        words = _title_words(title)
        if words and all(
            len(words & other) < SAME_TITLE_SHARE * min(len(words), len(other)) for other in chosen if other
        ):
            chosen.append(words)
            yield title


def _title_words(title: str) -> frozenset[str]:
    """Return the words that distinguish titles: no numbers, and no words of two letters but acronyms."""
    found = (word.rstrip("0123456789") for word in _TITLE_WORD.findall(title) if not word[0].isdigit())
    return frozenset(
        word.casefold() for word in found if len(word) > 2 or word.isupper() or not word.isascii()
    )


def _distinctive_sentences(central: Sequence[TopicMember], spelling: TopicSpelling) -> Iterator[str]:
    used: set[str] = set()
    weights = [(word, spelling.weights[word]) for word in islice(spelling.spellings.values(), SENTENCE_WORDS)]
    for member in central[:TITLED_MEMBERS]:
        best, most = "", 0.0
        for text in _sentences(member):
            gain = sum(weight for word, weight in weights if word in text) / (len(text) + LENGTH_OFFSET)
            if gain > most and text not in used:
                best, most = text, gain
        if best:
            used.add(best)
            yield best


def _sentences(member: TopicMember) -> list[str]:
    text = member.text[:MAX_MEMBER_TEXT]
    brackets = bracketed_ranges(text)
    marks = [mark.end() for mark in _SENTENCE.finditer(text)]
    ends = [0, *(end for end in marks if not continues_after(text, end, brackets)), len(text)]
    return [sentence for start, end in pairwise(ends) if (sentence := text[start:end].strip(" \n;"))]


def _join_fitting(texts: Iterable[str], room: int) -> str:
    joined = ""
    for text in texts:
        size = _count_words(text)
        if 0 < size <= room:
            joined += (" " if joined[-1] in _END_MARKS else "; ") + text if joined else text
            room -= size
        if room < FULL_ROOM:
            break
    return joined


@lru_cache(maxsize=4_096)
def _count_words(text: str) -> int:
    return index_terms(text).length
