"""Clauses: split a person's text into sentences and clauses, each a range of words.

Text by others or by machines (code, logs, quotes, mails, chats, tables) is blanked; offsets stay those of the turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from scrubjay.facts import features, vocabulary
from scrubjay.facts.features import FEATURE_BITS, FOREIGN_SELF_WORDS, LIFE_WORDS, WORD_BITS
from scrubjay.facts.vocabulary import (
    AUXILIARY,
    BE,
    CONJUNCTIONS,
    DEFINITE_DETERMINERS,
    FIRST_PERSON,
    PRONOUNS,
    QUESTION_LEADS,
    STATES,
    VERBAL,
    load_words,
)
from scrubjay.text.dialogue import asks_not_to_remember
from scrubjay.text.normalize import word_set
from scrubjay.text.sentences import MIN_WRAPPED_LINE, bracketed_ranges, is_abbreviated, sentence_ends

MAX_PROSE: Final = 8_000
"""Characters read of a turn; longer ones were pasted."""
MIN_QUOTED_WORDS: Final = 4
"""Words from which a quotation is somebody's sentence rather than a name."""
MIN_SPEAKER_LINES: Final = 2
"""Lines by the same speaker that make a chat."""

_ASCII_MARKS: Final = {ord(a): b for a, b in zip("’‘ʼ“”„«»—–…\u00a0\t", '\'\'\'"""""--. \t', strict=True)}
_MACHINE_LINE = re.compile(
    r"[ ]*(?:"
    r"[>|}{<]|[$%] |@[\w.]+(?:\(.*)?$|\+\+\+|---? [ab]/|@@|//|/\*|\*/|#!|\#include|=>|&&"
    r"|\[?\d{4}[-/]\d\d[-/]\d\d[ t,]+\d\d?:\d\d|\[?\d\d?:\d\d:\d\d|[a-z]{3} +\d{1,2} \d\d:\d\d:\d\d"
    r"|\[?(?:info|warn|warning|error|debug|trace|fatal|critical|notice)(?:\]|:| {2,}|\[| - )"
    r"|[^\s@]++@(?:\S++ [^ ]*+|(?=[^\s:~]++[:~])\S++)(?<=[$#]) |npm (?:err|warn)"
    r"|at [\w.$<>]+\(|file \"|caused by:|\.\.\. \d+ more"
    r"|(?:def|class|async def|func|fn|function|import|const|let|var|return|public|private|static|export|"
    r"package)"
    r" [^.?!]*[({;:=][^.?!]*$|from [\w.]+ import |select .{1,200} from .*[;*]|\"[\w -]+\" ?:|"
    r"[\w.]+ ?[=:]=? ?[\[{(\"'].*$"
    r"|</?\w|.{0,300}[{};]$)"
)
_TRACE = re.compile(r"[ ]*(?:traceback \(most recent|exception in thread|panic: |goroutine \d)")
_TRACE_END = re.compile(r"[\w.]*(?:error|exception|interrupt|exit|warning)\b")
_MAIL_HEADER = re.compile(r"(?:from|to|subject|sent|date|cc|betreff|von|an|de|para|objet): ?\S")
_FORWARDED_MAIL = re.compile(
    r"(?:on|am|le|el) .{4,120}(?:wrote|schrieb .{1,60}|a écrit|escribió) ?:$"
    r"|-{2,} ?(?:original|forwarded|begin)|begin forwarded|forwarded message"
    r"|(?:fwd?|fw|wg|aw|tr|rv) ?: ?\S|(?:from|von|de): ?[^\n]{0,80}\w@\w"
)
_CLOCK = r"(?:\d{1,2}[./]\d{1,2}[./]\d{2,4},? )?\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?"
_NAME = r"[^\W\d][\w.'-]{0,20}(?: [\w.'-]{1,20}){0,2}"
_CHAT_LINE = re.compile(rf"(?:{_NAME} ?)?\[{_CLOCK}\]")
_CLOCK_LINE = re.compile(rf"{_CLOCK}(?: ?[-|] ?| )<?{_NAME}>?: ?\S")
"""A line of a chat, or of somebody's day: "09:00 Standup: done"."""
_CHAT_HEAD = re.compile(rf"{_NAME},? {{1,4}}\[?{_CLOCK}\]?$")
"""A line of nothing but a name and a time, as copied from a chat."""
_SPEAKER = re.compile(
    r"(?:\[?\d\d?:\d\d(?: ?[ap]m)?\]? ?-? ?)?<?([a-z][\w.-]{0,20}(?: [a-z][\w.-]{0,20})?)>?(?:"
    r" \(\d[^)\n]{0,20}\))?: "
)
_SALUTATION = re.compile(
    r"(?:dear|hi|hello|hey|good (?:morning|afternoon|evening)|hallo|liebe[rs]?|sehr geehrte[rs]?|guten (?:tag|morgen))"
    r" (?!there\b|all of\b)[\w. ]{1,30}[,:!.]?$"
)
_SIGN_OFF = re.compile(
    r"(?:(?:best|kind|warm|many)? ?(?:regards|wishes|thanks)|best|cheers|sincerely|yours|love|thanks|thank you)"
    r"(?: \w+){0,2}[,.!]?$"
    r"|(?:mit (?:freundlichen|besten|herzlichen) grüßen|(?:viele|liebe|beste|schöne) grüße|mfg|gruß|vg|lg)\b"
)
_QUOTATION = re.compile(r"\"[^\"\n]{1,2000}\"")
_CODE_SPAN = re.compile(r"`[^`\n]{1,400}`")
_MATERIAL_LEAD = re.compile(
    r"\b(?:summari[sz]e|translate|rewrite|proof-?read|rephrase|paraphrase|edit|fix|correct|improve|shorten|"
    r"polish"
    r"|review|explain|analy[sz]e|classify|extract|convert|format|reword|grade|critique|tl;?dr|continue|simplify"
    r"|clean up|turn|make|mean|means|say|write|draft|reply|respond|answer|complete|finish|label|rate|count|"
    r"find|check"
    r"|(?:here'?s?|this|below|following|attached)(?: is| are)?(?: what)?(?: the| my| a| an| our| his| her|"
    r" their)?"
    r"(?: [\w-]+){0,2} (?:e?-?mails?|text|draft|essay|letter|logs?|messages?|paragraph|article|abstract|intro|"
    r"bio|post"
    r"|reviews?|transcript|chat|code|output|error|trace|story|poem|lyrics|prompt|wrote|says?|said|got|passage|"
    r"notes|quote)"
    r"|(?:hier(?: ist| kommt)?|folgende[rs]?)(?: [\w-]+){0,2} (?:e-?mail|mail|nachricht|text|brief)"
    r"|(?<![^\n])(?:an? |the |eine? |die )?(?:e-?mail|mail|message|nachricht) (?:from|von))"
    r"\b(?:[^\n.?!:]|\.(?=\w)){0,120}:(?:\s+|$)(?=[^\n]|\n+\S)"
)
_INANIMATE_SOURCES = (
    r"(?:docs?|documentation|readme|manual|guide|spec|page|website|site|logs?|errors?|warning|message|output|console|"
    r"trace|tests?|ci|build|linter|compiler|code|comment|config|file|doku|dokumentation|anleitung|handbuch|seite|"
    r"protokoll|fehler|fehlermeldung|meldung|ausgabe|datei)\b"
)
"""Sources that are not people: "the log says: connection refused"."""
_SAYS_ENGLISH = (
    r"(?:wrote|writes|said|says|posted|told (?:me|us)|mentioned|announced|thinks|claims|claimed|insists)\b"
)
_SAYS_GERMAN = r"(?:meint|meinte|sagt|sagte|schreibt|schrieb|behauptet|hat (?:gesagt|geschrieben|gemeint))\b"
_SAYS_FRENCH = r"(?:a (?:écrit|dit))\b"
_SAYS_SPANISH = r"(?:dice|dijo|escribió)\b"
_ATTRIBUTION = (
    r"(?P<agreed>\b(?:as|wie) (?:(?:my|our|the|mein\w{0,2}|unser\w{0,2}|der|die|das) (?:[\w-]{1,40} )?)?)?(?<![\w.'-])"
    rf"(?!(?:i|i've|we|we've|you|ich|wir|du|ihr|just|also|already|always|as|and|or|to|have|had)\b|{_INANIMATE_SOURCES})"
    rf"[\w.'-]{{1,40}} (?:{_SAYS_ENGLISH}|{_SAYS_GERMAN}|{_SAYS_FRENCH}|{_SAYS_SPANISH})"
)
"""A source and its verb: "Tom wrote", or `agreed`: "As my boss says, we never deploy on Fridays."."""
_REPORTED_SPEECH = re.compile(rf"{_ATTRIBUTION}[^\n.?!:]{{0,60}}:\s+(?=[^\s\"])")
"""Such reports without quotation marks, which `_QUOTATION` finds."""
_REPORTED_RULE = re.compile(
    rf"{_ATTRIBUTION}"
    r"(?:,|:| (?:that|dass|we|you|wir|man|in|on|from now|ab sofort|always|never|immer|nie|everyone|all)\b)"
)
_LETTERS = re.compile(r"[^\W\d_]")


def own_prose(text: str) -> str:
    r"""Return a turn in lower case with everything blanked that its writer did not say; offsets stay.

    >>> own_prose('> I am Bob\nI’m Ann')
    "          \ni'm ann"
    """
    plain = _own_words(text)
    return _blank(plain) if asks_not_to_remember(text) else plain


def _own_words(text: str) -> str:
    plain = _lowercase_in_place(text[:MAX_PROSE])
    if "\n" in plain:
        plain = _blank_foreign_lines(plain)
    elif _MACHINE_LINE.match(plain) or _FORWARDED_MAIL.match(plain) or _CHAT_LINE.match(plain):
        return _blank(plain)
    if ":" in plain:
        plain = _blank_reported_speech(text, plain)
        material = _MATERIAL_LEAD.search(plain)
        if material:
            plain = plain[: material.end()] + _blank(plain[material.end() :])
    if '"' in plain:
        plain = _QUOTATION.sub(_mask_quotation, plain)
    return _CODE_SPAN.sub(_mask_code_punctuation, plain) if "`" in plain else plain


def _lowercase_in_place(text: str) -> str:
    if not text.isascii():
        text = text.translate(_ASCII_MARKS)
    small = text.lower()
    if len(small) != len(text):  # the Turkish dotted I becomes two
        small = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    return small.replace("\t", " ").replace("\r", " ")


def _blank_foreign_lines(text: str) -> str:
    lines = text.split("\n")
    speakers = [found[1] if (found := _SPEAKER.match(line)) else "" for line in lines]
    chat = (
        {name for name in speakers if name and speakers.count(name) >= MIN_SPEAKER_LINES}
        if any(speakers)
        else set()
    )
    lines_left = []
    for line, speaker, foreign in zip(lines, speakers, _are_foreign(lines), strict=True):
        lines_left.append(_blank(line) if foreign or (chat and speaker) else line)
    return "\n".join(lines_left)


def _blank_reported_speech(text: str, plain: str) -> str:
    end, brackets = 0, bracketed_ranges(text)
    for report in _REPORTED_SPEECH.finditer(plain):
        if report.start() >= end and not report["agreed"]:
            end = min(next(sentence_ends(text, brackets, report.end())), len(plain))
            stop = "\n" if plain[end - 1] == "\n" else "."
            plain = plain[: report.end()] + _blank(plain[report.end() : end - 1]) + stop + plain[end:]
    return plain


def tells_hearsay(sentence: str, end: int) -> bool:
    """Return whether a lower-case sentence attributes itself to somebody else before `end`.

    >>> [tells_hearsay(one, 20) for one in ("tom says we always squash", "as tom says, we squash")]
    [True, False]
    """
    report = _REPORTED_RULE.search(sentence, 0, end)
    return report is not None and not report["agreed"]


def _are_foreign(lines: list[str]) -> Iterator[bool]:
    fence, state, is_forwarded = "", "", False
    heads, clocks = (
        sum(kind.match(line.strip()) is not None for line in lines) >= MIN_SPEAKER_LINES
        for kind in (_CHAT_HEAD, _CLOCK_LINE)
    )
    letter = _letter_lines(lines)
    for at, line in enumerate(lines):
        stripped = line.strip()
        if is_forwarded or at in letter:
            yield True
        elif fence:
            fence = "" if stripped.startswith(fence) else fence
            yield True
        elif stripped[:3] in ("```", "~~~"):
            fence = stripped[:3]
            yield True
        elif state:
            if not stripped or (state == "trace" and line[:1] != " " and _TRACE_END.match(line)):
                state = ""
            yield True
        elif _TRACE.match(line):
            state = "trace"
            yield True
        elif heads and _CHAT_HEAD.match(stripped):
            state = "chat"
            yield True
        elif _CHAT_LINE.match(stripped) or (clocks and _CLOCK_LINE.match(stripped)):
            yield True
        elif _FORWARDED_MAIL.match(stripped) or (
            _MAIL_HEADER.match(stripped) and at + 1 < len(lines) and _MAIL_HEADER.match(lines[at + 1])
        ):
            is_forwarded = True
            yield True
        else:
            yield _MACHINE_LINE.match(line) is not None or (
                line.startswith("    ") and not stripped.startswith(("-", "*"))
            )


def _letter_lines(lines: list[str]) -> range:
    """Return the lines of a pasted letter: from its greeting, unless the turn begins with it, to its end."""
    for last in range(len(lines) - 1, 0, -1):
        if _SIGN_OFF.match(lines[last].strip()):
            for first in range(last):
                if _SALUTATION.match(lines[first].strip()) and (first or last + 1 < len(lines)):
                    return range(first, min(last + 2, len(lines)))
    return range(0)


def _blank(text: str) -> str:
    return "".join("\n" if c == "\n" else " " for c in text) if "\n" in text else " " * len(text)


def _mask_quotation(found: re.Match[str]) -> str:
    words = found[0]
    return words if words.count(" ") + 1 < MIN_QUOTED_WORDS else _LETTERS.sub("_", words)


def _mask_code_punctuation(found: re.Match[str]) -> str:
    return re.sub(r"[.?!;,:]", "_", found[0])


WORD_CACHE: Final = 1 << 14
"""Cached words: some megabytes."""

_EDGE_MARKS: Final = ".,;:!?()[]{}\"'*_~`<>#¿¡"
_CODE: Final = re.compile(r"`|\w[/_.]\w")
_DIGIT: Final = re.compile(r"\d")
_ENGLISH_FUNCTION_WORDS: Final = (
    vocabulary.FIRST_PERSON
    | vocabulary.PRONOUNS
    | vocabulary.DEFINITE_DETERMINERS
    | vocabulary.AUXILIARY
    | vocabulary.LIKE
    | word_set("a an to of in on for and it's not no at with from by please never always only every all")
) - word_set("am was do") | FOREIGN_SELF_WORDS
_NOT_PARTICIPLES: Final = load_words("no_ing")
_STRONG_PASTS: Final = load_words("strong")
_PAST_FORMS: Final = _STRONG_PASTS | vocabulary.DATED | vocabulary.TALKED
_NOT_PAST: Final = word_set(
    "need feed speed breed bleed exceed proceed succeed seed embed shed wed heed weed"
)
"""Verbs that end in -ed in the present."""
_WORD_CLASSES: Final = (
    vocabulary.BE,
    vocabulary.FLEETING,
    vocabulary.ADVERBS | vocabulary.NEGATIVE | vocabulary.AUXILIARY,
    LIFE_WORDS,
    _ENGLISH_FUNCTION_WORDS,
    features.HEARSAY_VERBS,
    word_set("if unless"),
)
_FIRST_CLASS_BIT: Final = len(FEATURE_BITS)
IS_BIT, FLEETING_BIT, BETWEEN_BIT, LIFE_BIT, ENGLISH_BIT, HEARSAY_BIT, CONDITION_BIT = (
    1 << _FIRST_CLASS_BIT + number for number in range(len(_WORD_CLASSES))
)
VERBAL_BIT: Final = 1 << _FIRST_CLASS_BIT + len(_WORD_CLASSES)
PAST_BIT: Final = VERBAL_BIT << 1
ING_BIT: Final = VERBAL_BIT << 2
FEATURE_MASK: Final = (1 << _FIRST_CLASS_BIT) - 1
"""The bits of `FEATURE_BITS`."""


@lru_cache(WORD_CACHE)
def classify_word(raw: str) -> tuple[str, int]:
    """Return a word without the marks around it, and the bits of the classes it belongs to."""
    word = raw if raw.isalpha() else raw.strip(_EDGE_MARKS) or raw
    bits = WORD_BITS.get(word, 0)
    for number, members in enumerate(_WORD_CLASSES):
        if word in members:
            bits |= 1 << _FIRST_CLASS_BIT + number
    if (word[-2:] == "ed" and word not in _NOT_PAST) or word in _PAST_FORMS:
        bits |= VERBAL_BIT | PAST_BIT
    elif word in vocabulary.STATES or word in vocabulary.AUXILIARY or word in FOREIGN_SELF_WORDS:
        bits |= VERBAL_BIT
    if word[-3:] == "ing" and word not in _NOT_PARTICIPLES:
        bits |= ING_BIT
    if word[-2:] == "ed":
        bits |= FEATURE_BITS["ed"]
    bits |= FEATURE_BITS["number"] if _DIGIT.search(raw) else 0
    return word, bits | (FEATURE_BITS["code"] if _CODE.search(raw) else 0)


_WORD = re.compile(r"[^\s;()]+|[;()]")
_CLOSING: Final = "\"')]*_"
_LIST_MARKER = re.compile(r"(?:[-*+•#]+|\d{1,2}[.)])\Z")


class WordSequence(NamedTuple):
    """The words of a text with their offsets and class bits."""

    text: str
    words: list[str]
    starts: list[int]
    ends: list[int]
    raw: list[str]
    bits: list[int]


def read_words(text: str, limit: int) -> WordSequence:
    """Return the words before `limit`; ``;`` and brackets are words of their own."""
    matches = list(_WORD.finditer(text, 0, limit))
    raw = [match[0] for match in matches]
    starts = [match.start() for match in matches]
    ends = [start + len(token) for start, token in zip(starts, raw, strict=True)]
    pairs = list(map(classify_word, raw))
    return WordSequence(text, [word for word, _ in pairs], starts, ends, raw, [bits for _, bits in pairs])


def sentence_ranges(sequence: WordSequence) -> Iterator[tuple[int, int, bool]]:
    """Yield each sentence's first word, end and whether it asks, without list markers."""
    lines = "\n" in sequence.text
    start, line, last = 0, 0, len(sequence.raw) - 1
    for at, word in enumerate(sequence.raw):
        ended = at == last or (
            word[-1] in ".!?\"')]*_"
            and _ends_sentence(sequence, at)
            and not _is_emphatic_ever(sequence, at + 1)
        )
        if lines and at < last:
            gap = sequence.text[sequence.ends[at] : sequence.starts[at + 1]]
            if "\n" in gap:
                ended = ended or not _is_wrapped_line(sequence, line, at, gap)
                line = at + 1
        if ended:
            while start < at and _LIST_MARKER.match(sequence.raw[start]):
                start += 1
            yield start, at + 1, "?" in word[-3:]
            start = at + 1


def _ends_sentence(sequence: WordSequence, at: int) -> bool:
    bare = sequence.raw[at].rstrip(_CLOSING)
    if bare[-1:] != "." or bare == "...":
        return bare[-1:] in ("!", "?", ".")
    return bare != ".." and not is_abbreviated(bare[:-1], sequence.raw[at + 1])


def _is_emphatic_ever(sequence: WordSequence, after: int) -> bool:
    return sequence.words[after] == "ever" and sequence.raw[after] != "ever"


def _is_wrapped_line(sequence: WordSequence, line: int, at: int, gap: str) -> bool:
    wide = sequence.ends[at] - sequence.starts[line] > MIN_WRAPPED_LINE and gap.count("\n") == 1
    return wide and sequence.raw[at + 1][0].isalpha() and sequence.raw[at][-1] not in ":;"


DICTATED_WORDS: Final = 14
"""Words without punctuation from which a text counts as dictated."""
SUBJECT_VERB_REACH: Final = 5
"""Words within which a subject is followed by its verb."""

MIN_STATED: Final = 3
"""Words before a comma in a question that may be a statement: "I'm a nurse, any shoes for nights?"."""
MIN_ASKED: Final = 4
"""Words after that comma; fewer belong to the statement: "..., not spaces, right?"."""

_BREAKS: Final = frozenset((";", "(", ")", "-", "--", "->", "=", "|", "..", "..."))
_ADVICE_NOUNS: Final = word_set("tips ideas idea advice suggestions recommendations chance thoughts way")
_AFTER_QUESTION_WORD: Final = word_set(
    "much many long often far old about to kind sort type time else i we happened happens"
)
_QUESTION_SUBJECTS: Final = PRONOUNS | DEFINITE_DETERMINERS | word_set("a an any anyone someone")
_QUESTION_LEADS: Final = load_words("before")
_ORDERS: Final = load_words("orders")
_FOREIGN_OPENERS: Final = load_words("abroad")
_FOREIGN_CONJUNCTIONS: Final = word_set("und aber weil denn y pero porque et mais car mas")
_ALL_CONJUNCTIONS: Final = CONJUNCTIONS | _FOREIGN_CONJUNCTIONS
_AFTERTHOUGHTS: Final = word_set("should could would so")
_FILLERS: Final = word_set("also then now that just please btw")
_UNFINISHED: Final = load_words("open")
_AFTER_SHORT_IS: Final = word_set("a an in on at the not from called")
"""After "'s" where it is short for "is"."""
_NOUN_OPENERS: Final = DEFINITE_DETERMINERS | word_set("a an any every some")


class Clause(NamedTuple):
    first: int
    last: int
    asked: bool


def split_clauses(sequence: WordSequence, first: int, last: int, in_question: bool) -> list[Clause]:
    """Return the clauses of a sentence in order; those after a question count as asked too."""
    words = sequence.words
    bounds = _clause_bounds(sequence, first, last, in_question)
    clauses, is_asked = [], False
    for number, start in enumerate(bounds[:-1]):
        end = bounds[number + 1]
        is_asked = is_asked or is_question(words, start, end)
        tagged = number == len(bounds) - 3 and last - end < MIN_STATED
        clauses.append(Clause(start, end, is_asked or (in_question and (end == last or tagged))))
        is_asked = is_asked and in_question
    return clauses


def _clause_bounds(sequence: WordSequence, first: int, last: int, in_question: bool) -> list[int]:
    words, raw = sequence.words, sequence.raw
    dictated = last - first > DICTATED_WORDS and not any(
        token[-1] in ",;:" for token in raw[first : last - 1]
    )
    may_have_emoji = not sequence.text.isascii()
    plain = not (dictated or may_have_emoji)
    bounds = [first]
    for at in range(first + 1, last):
        before, word = raw[at - 1], words[at]
        mark = before[-1]
        if plain and mark.isalnum() and word not in _ALL_CONJUNCTIONS and raw[at] not in _BREAKS:
            continue
        if (
            mark in ":;"
            or raw[at] in _BREAKS
            or before in _BREAKS
            or (may_have_emoji and (_is_emoji(raw[at]) or _is_emoji(before)))
        ):
            cut = True
        elif word in CONJUNCTIONS:
            cut = _conjunction_splits(words, bounds[-1], at, last, mark == ",")
        elif mark in ",)":
            cut = _opens_clause(words, at, last) or word in _AFTERTHOUGHTS
            cut = cut or (in_question and at - bounds[-1] >= MIN_STATED and last - at >= MIN_ASKED)
        elif word in _FOREIGN_CONJUNCTIONS:
            cut = at - bounds[-1] >= MIN_ASKED and words[first] in _FOREIGN_OPENERS
        else:
            cut = dictated and words[at - 1] not in CONJUNCTIONS and _is_pause(words, bounds[-1], at, last)
        if cut:
            bounds.append(at)
    bounds.append(last)
    return bounds


def _conjunction_splits(words: list[str], first: int, at: int, last: int, comma: bool) -> bool:
    if words[at] == "since" and not comma:
        return False  # "for years, since I was nine"
    if not (_opens_clause(words, at + 1, last) or (words[at] == "so" and comma and at + 1 < last)):
        return False
    if words[at + 1] not in DEFINITE_DETERMINERS and at - first >= MIN_STATED:
        return True
    return any(
        word in VERBAL or word in FIRST_PERSON or "'" in word or word[-2:] == "ed" for word in words[first:at]
    )


def _is_emoji(word: str) -> bool:
    return not word.isascii() and not any(char.isalnum() for char in word) and word[0] not in "¿¡…’‘"


def _opens_clause(words: list[str], at: int, last: int) -> bool:
    while at < last and words[at] in _FILLERS:
        at += 1
    if at + 1 >= last:
        return False
    word, after = words[at], words[at + 1]
    if word in _FOREIGN_OPENERS:
        return True
    if word in PRONOUNS or ("'" in word and word.partition("'")[0] in PRONOUNS):
        return after not in ("and", "or")
    if word in DEFINITE_DETERMINERS:
        return any(
            later in STATES
            or later[-2:] == "ed"
            or (later[-2:] == "'s" and near > at + 1 and words[near] in _AFTER_SHORT_IS)
            for near, later in enumerate(words[at + 1 : min(at + 1 + SUBJECT_VERB_REACH, last - 1)], at + 2)
        )
    return word in _ORDERS or after in BE or after in ("has", "have") or is_question(words, at, last)


def is_question(words: list[str], at: int, last: int) -> bool:
    """Return whether a clause begins like a question."""
    while at < last and words[at] in _QUESTION_LEADS:
        at += 1
    if at >= last:
        return False
    word, after = words[at], words[at + 1] if at + 1 < last else ""
    if word in QUESTION_LEADS:
        return (
            not after
            or "'" in word
            or after in AUXILIARY
            or after in _AFTER_QUESTION_WORD
            or (at + 2 < last and words[at + 2] in AUXILIARY and word != "when")
        )
    if word in AUXILIARY:
        return after in _QUESTION_SUBJECTS or not after
    return word in ("any", "got") and (after in _ADVICE_NOUNS or after == "any")


def _is_pause(words: list[str], start: int, at: int, last: int) -> bool:
    word, before = words[at], words[at - 1]
    if before in _UNFINISHED or before in PRONOUNS or at + 2 >= last:
        return False
    if word in FIRST_PERSON:
        if at - 2 >= start and words[at - 2] in _NOUN_OPENERS:
            return False  # "the bike i bought"
        return word not in ("my", "our") or any(later in STATES for later in words[at + 1 : at + 4])
    return is_question(words, at, last) and word not in BE
