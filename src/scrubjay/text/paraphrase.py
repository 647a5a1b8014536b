"""Paraphrase: compare texts by content, and find the span of a source that states a claim.

"I'm", "I am" and "the user is" read alike. A claim (a language model's version of a text) is supported if the source
states it in the same words and order, in clauses of its own that nothing doubts, asks or denies. This refuses much
that is true; accepting a wrong claim would be worse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

from scrubjay.text.normalize import word_set
from scrubjay.text.sentences import MIN_WRAPPED_LINE

ME: Final = "<me>"
MINE: Final = "<mine>"
"""A person, and what is theirs, whoever speaks."""

_MARK_TABLE: Final = {ord(a): b for a, b in zip("’‘ʼ“”„«»–—−\u00a0", '\'\'\'"""""--- ', strict=True)}
_PIECE: Final = re.compile(r"\S+")
_OPENING: Final = "([{\"'*_~`<¿¡"
_CLOSING: Final = ")]}\"'*_~`>"
_BREAKS: Final = ",:"
_STOPS: Final = ".!?;…"
_ITEM: Final = re.compile(r"\s*(?:[-*+•]|\d{1,2}[.)])\s")

_FILLERS: Final = word_set("a an the oh yeah ok okay btw fyi actually honestly uh um")
"""Words that change no meaning, denied or not; not "just", "really", "well": "I don't sleep well"."""
_ARTICLES: Final = word_set("a an the")
_PERSON_WORDS: Final = {
    **dict.fromkeys(("my", "mine", "our", "ours"), MINE),
    **dict.fromkeys(("i", "me", "we", "us"), ME),
}
_USER_WORDS: Final = {"user": ME, "user's": MINE, "users'": MINE}
_CONTRACTED_WORDS: Final = {
    "im": ("i", "am"), "ive": ("i", "have"), "dont": ("do", "not"), "doesnt": ("does", "not"),
    "didnt": ("did", "not"), "cant": ("can", "not"), "cannot": ("can", "not"), "wont": ("will", "not"),
    "isnt": ("is", "not"), "arent": ("are", "not"), "havent": ("have", "not"), "hasnt": ("has", "not"),
    "wouldnt": ("would", "not"), "can't": ("can", "not"), "won't": ("will", "not"), "shan't": ("shall", "not"),
}  # fmt: skip
_CONTRACTED_ENDINGS: Final = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will"}
_THIRD_PERSONS: Final = frozenset(("he", "she", "they", "him", "her", "them"))
_THIRD_POSSESSIVES: Final = frozenset(("his", "her", "their", "theirs", "hers"))
_IRREGULAR: Final = {"am": "is", "are": "is", "have": "has", "do": "does", "go": "goes", "were": "was"}
_ADVERBS: Final = word_set("always never usually often mostly now still generally normally regularly mainly")
"""Words that may be between "I" and the verb."""
_COORDINATED_VERBS: Final = word_set(
    """live work like love prefer use want need play speak own run drive study teach eat drink read write have
    keep make take hate enjoy"""
)
"""Verbs that follow "and" without a subject of their own: "I live and work in Porto"."""


class ClaimWord(NamedTuple):
    """A word of a text.

    Attributes:
        text: In lower case, without the marks around it; ``ME`` and ``MINE`` for a person.
        lead: Start of the article before it, else ``start``.
        breaks: Whether a mark behind it may end a clause.
        begins: Whether it begins a sentence.
        asks: Whether it ends a question.
    """

    text: str
    start: int
    end: int
    lead: int
    breaks: bool
    begins: bool
    asks: bool


def claim_words(text: str, *, person: bool = True, claim: bool = False) -> tuple[ClaimWord, ...]:
    """Return the words of a text, without articles and fillers.

    `person`: whoever says "I" is the user. `claim`: the text names the user as "the user".
    """
    found: list[ClaimWord] = []
    begins = True
    article: int | None = None
    for bare, start, end, tail in _pieces(text.translate(_MARK_TABLE)):
        word = _USER_WORDS.get(bare, bare) if person and claim else bare
        parts = [part for part in _expand_contraction(word) if part not in _FILLERS]
        if person:
            parts = [_PERSON_WORDS.get(part, part) for part in parts]
        for part in parts:
            lead = start if article is None else article
            found.append(ClaimWord(part, start, end, lead, breaks=False, begins=begins, asks=False))
            begins, article = False, None
        stops = any(mark in _STOPS for mark in tail) or "\n" in tail
        if found and (stops or any(mark in _BREAKS + "-()" for mark in tail)):
            found[-1] = found[-1]._replace(breaks=True, asks=found[-1].asks or "?" in tail)
        begins = begins or stops
        article = start if bare in _ARTICLES and not tail else None
    return tuple(found)


def is_reworded(claim: str, words: Sequence[ClaimWord], at: int) -> bool:
    """Return whether a claim's word is the third-person form of the word at a place."""
    word = words[at].text
    if word == ME:
        return claim in _THIRD_PERSONS
    if word == MINE:
        return claim in _THIRD_POSSESSIVES
    before = [earlier.text for earlier in words[max(0, at - 2) : at]]
    is_verb = before[-1:] == [ME] or (before[:1] == [ME] and before[-1] in _ADVERBS)
    is_verb = is_verb or (before[-1:] == ["and"] and word in _COORDINATED_VERBS)
    return is_verb and claim in _third_person(word)


def _third_person(verb: str) -> tuple[str, ...]:
    if verb in _IRREGULAR:
        return (_IRREGULAR[verb],)
    if not verb.isalpha():
        return ()
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return (verb[:-1] + "ies",)
    return (verb + "es",) if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else (verb + "s",)


def _pieces(text: str) -> Iterator[tuple[str, int, int, str]]:
    """Yield each word in lower case, its start and end, and the marks between it and the next."""
    found = list(_PIECE.finditer(text))
    for number, match in enumerate(found):
        chunk = match[0]
        head = len(chunk) - len(chunk.lstrip(_OPENING))
        bare = chunk[head:].rstrip(_CLOSING + _BREAKS + _STOPS)
        start, end = match.start() + head, match.start() + head + len(bare)
        last = number + 1 == len(found)
        gap = "" if last else text[match.end() : found[number + 1].start()]
        ends_sentence = "\n" in gap and _ends_sentence(text, match.end(), gap)
        tail = text[end : match.end()] + ("\n" if ends_sentence else "")
        tail += "," if "\n" in gap or (not last and found[number + 1][0][0] == "(") else ""
        if bare.strip("-|>=•*+") == "":
            yield "", start, end, "-" + tail
        else:
            yield bare.casefold(), start, end, tail


def _ends_sentence(text: str, at: int, gap: str) -> bool:
    line = at - (text.rfind("\n", 0, at) + 1)
    return (
        gap.count("\n") > 1
        or line < MIN_WRAPPED_LINE
        or _ITEM.match(text, at + gap.index("\n") + 1) is not None
    )


def _expand_contraction(word: str) -> tuple[str, ...]:
    if not word:
        return ()
    if word in _CONTRACTED_WORDS:
        return _CONTRACTED_WORDS[word]
    if word.endswith("n't"):
        return (word[:-3], "not")
    cut = word.find("'")
    if cut > 0 and word[cut:] in _CONTRACTED_ENDINGS:
        return (word[:cut], _CONTRACTED_ENDINGS[word[cut:]])
    return (word,)


SMALL_WORDS: Final = word_set(
    "a an the is are am be it its this that these those very just also please really quite"
)
"""Words that make no difference where all other words are equal. Not among them: "was" (it is no longer), "to", "from",
"only", "if" and negations. They are English words; texts in other languages are compared by all words."""
_EDGE_MARKS: Final = ".,;:!?…()[]{}\"“”„«»'’‘*_~`"
MAX_CACHED_PIECE: Final = 64
"""Characters of a piece whose words are cached: texts share most pieces."""
MAX_PIECES: Final = 1 << 16
"""Cached pieces, about 12 MB; a full cache is emptied."""
CACHED_TEXT: Final = range(100, 4_097)
"""Lengths, in characters, of texts whose result is cached: a search, and often the next one, asks several times.
Of 1,024 usual passages that is 10 MB, 16 MB at most; a heading is read again as fast."""
_LAYOUT: Final = re.compile(r"[-*•·|>#+]+|[-=_*~`]{3,}")
"""A bullet, a table's line, a heading's signs, a rule."""


def content_words(text: str) -> tuple[str, ...]:
    """Return a text's words without those that make no difference; a question keeps its mark.

    >>> content_words("- The **timeout** is 30 seconds.") == content_words("timeout: 30 seconds")
    True
    >>> content_words("We can use AWS"), content_words("we can use C++?")
    (('we', 'can', 'use', 'aws'), ('we', 'can', 'use', 'c++', '?'))
    """
    return (_recent_content if len(text) in CACHED_TEXT else _split_content)(text)[0]


def content_vocabulary(text: str) -> frozenset[str]:
    return (_recent_content if len(text) in CACHED_TEXT else _split_content)(text)[1]


def _split_content(text: str) -> tuple[tuple[str, ...], frozenset[str]]:
    # No loop of ours over all words: one whose piece was met before costs a look-up.
    words = tuple(chain.from_iterable(map(_PIECE_CACHE.__getitem__, text.casefold().split())))
    return words, frozenset(words)


def _piece_words(piece: str) -> tuple[str, ...]:
    if piece.isalnum():
        return () if piece in SMALL_WORDS else (piece,)
    word = piece.strip(_EDGE_MARKS)
    if word in SMALL_WORDS and word:
        word = ""
    elif not word or not any(character.isalnum() for character in word):
        word = "" if not piece.strip(_EDGE_MARKS[:5]) or _LAYOUT.fullmatch(piece) else piece
    asks = "?" in piece[-3:] and piece != word
    return (*((word,) if word else ()), *(("?",) if asks else ()))


class _PieceCache(dict[str, tuple[str, ...]]):
    """Words of each piece between blanks, computed on first use."""

    def __missing__(self, piece: str) -> tuple[str, ...]:
        found = _piece_words(piece)
        if len(piece) <= MAX_CACHED_PIECE:
            if len(self) >= MAX_PIECES:
                self.clear()
            self[piece] = found
        return found


_PIECE_CACHE: Final = _PieceCache()
_recent_content: Final = lru_cache(maxsize=1_024)(_split_content)


MIN_CLAIM_WORDS: Final = 3
"""Words of a claim; fewer state nothing."""
MAX_CLAIM_WORDS: Final = 80
"""Words of a claim; longer texts are not one."""


NEGATIONS: Final = word_set(
    """not no never none nobody nothing nowhere neither nor without hardly barely scarcely seldom rarely
    cannot n't non kein keine keinen keiner nicht nie niemals ohne ni ne pas jamais aucun aucune sans sin
    nunca jamás ningún ninguna nada nadie não nunca jamais nenhum nenhuma sem nem mai nessun nessuna senza
    niet geen nooit"""
)
"""Words that deny; of some common languages, for in all others a claim can hold only the source's own words too."""
_ALWAYS_DENY: Final = word_set("neither nor nobody none")
_LIMITING_WORDS: Final = word_set(
    """if unless when whenever until till would could should might may maybe perhaps probably possibly wish
    wished hope hoping suppose supposing imagine pretend pretending almost nearly except only sometimes
    occasionally apparently supposedly allegedly provided assuming wenn falls vielleicht si quizás quizá
    tal vez peut-être se talvez forse"""
)
"""Words that limit their sentence: a claim without them says more."""
_CONJUNCTIONS: Final = word_set("and but so because since although though whereas plus")
"""Words after which a clause may begin."""
_CLAUSE_ENDS: Final = word_set("but because since although though whereas")
"""Words before which a clause ends, whatever follows."""
_REMINDERS: Final = word_set("remember note")
"""Words whose "that" introduces a fact, not a thought."""
_CLAUSE_SUBJECTS: Final = frozenset((ME, MINE)) | word_set("it he she they there this these")


class TextSpan(NamedTuple):
    start: int
    end: int


def supporting_span(
    claim: str, source: str, *, person: bool = True, within: TextSpan | None = None
) -> TextSpan | None:
    """Return the span of a source that states a claim, or None.

    The span must lie ``within`` that part, of which the claim must then have all negations. ``person``: the speaker
    is the user.

    >>> said = "Well, I live in Porto and I don't eat fish. If I moved, I would miss it."
    >>> [said[slice(*found)] for found in [supporting_span("The user doesn't eat fish", said)] if found]
    ["I don't eat fish"]
    >>> supporting_span("The user eats fish", said), supporting_span("The user would miss it", said)
    (None, None)
    """
    wanted = [word.text for word in claim_words(claim, person=person, claim=True)]
    if not MIN_CLAIM_WORDS <= len(wanted) <= MAX_CLAIM_WORDS:
        return None
    words = claim_words(source, person=person)
    inside = within or TextSpan(0, len(source))
    for at in range(len(words) - len(wanted) + 1):
        run = words[at : at + len(wanted)]
        if run[0].start < inside.start or run[-1].end > inside.end:
            continue
        same = all(
            word == run[number].text or is_reworded(word, words, at + number)
            for number, word in enumerate(wanted)
        )
        if same and _is_whole_clause(words, at, at + len(wanted)):
            quoted = [word for word in words if inside.start <= word.start and word.end <= inside.end]
            if within is None or count_denials(quoted) == count_denials(run):
                return TextSpan(max(run[0].lead, inside.start), run[-1].end)
    return None


def count_denials(words: Sequence[ClaimWord]) -> int:
    return sum(word.text in NEGATIONS for word in words)


def number_words(words: Sequence[ClaimWord]) -> set[str]:
    return {word.text for word in words if any(character.isdigit() for character in word.text)}


def _is_whole_clause(words: Sequence[ClaimWord], first: int, last: int) -> bool:
    begin = next((at for at in range(first, 0, -1) if words[at].begins), 0)
    end = next((at for at in range(last, len(words)) if words[at].begins), len(words))
    return (
        _starts_clause(words, begin, first)
        and _ends_clause(words, last, end)
        and not any(word.asks for word in words[begin:end])
        and _is_unbounded(words[begin:first], words[last:end], words[first])
    )


def _starts_clause(words: Sequence[ClaimWord], begin: int, first: int) -> bool:
    if first == begin:
        return True
    before = words[first - 1]
    is_reminder = before.text == "that" and first - 2 >= begin and words[first - 2].text in _REMINDERS
    return (before.breaks or before.text in _CONJUNCTIONS or is_reminder) and words[first].text in (ME, MINE)


def _ends_clause(words: Sequence[ClaimWord], last: int, end: int) -> bool:
    if last == end or words[last - 1].breaks or words[last].text in _CLAUSE_ENDS:
        return True
    return words[last].text in _CONJUNCTIONS and last + 1 < end and words[last + 1].text in _CLAUSE_SUBJECTS


def _is_unbounded(before: Sequence[ClaimWord], after: Sequence[ClaimWord], head: ClaimWord) -> bool:
    rest = {word.text for word in (*before, *after)}
    if rest & _LIMITING_WORDS or rest & _ALWAYS_DENY:
        return False
    if count_denials(before) and head.text not in (ME, MINE):
        return False
    # What is denied after it is something else only where somebody is named anew: "..., and I don't smoke".
    denied = next((at for at, word in enumerate(after) if word.text in NEGATIONS), None)
    return denied is None or any(word.text in _CLAUSE_SUBJECTS for word in after[:denied])


SENTENCE_BREAK: Final = re.compile(r"(?<=[.!?;])\s+|\n+")
"""Separates the claims of a text."""


def unsupported_claims(text: str, source: str, *, person: bool = True) -> list[str]:
    """Return the claims of a text that a source does not state; the whole text if it drops a denial or a number."""
    claims = [claim for claim in SENTENCE_BREAK.split(text) if claim.strip()]
    new, old = claim_words(text, person=person, claim=True), claim_words(source, person=person)
    if count_denials(new) != count_denials(old) or number_words(new) != number_words(old):
        return [text]
    return [claim for claim in claims if supporting_span(claim, source, person=person) is None]
