"""Clauses: split a person's text into sentences and clauses of classified words.

Text by others or by machines (code, logs, quotes, mails, chats, tables) is blanked; offsets stay those of the turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from scrubjay.facts import features, vocabulary
from scrubjay.facts.features import FEATURE_BITS, LIFE_WORDS, OURS_ABROAD, WORD_BITS
from scrubjay.facts.vocabulary import (
    ASKING,
    AUXILIARY,
    BE,
    FIRST,
    JOINS,
    OWNED,
    PRONOUNS,
    STATES,
    VERBAL,
    load_words,
)
from scrubjay.text.dialogue import asks_not_to_remember
from scrubjay.text.normalize import word_set
from scrubjay.text.sentences import bracketed_ranges, is_abbreviated, sentence_ends

MAX_PROSE: Final = 8_000
"""Characters read: nobody says a thousand words at once; what is longer was pasted."""
MIN_QUOTED_WORDS: Final = 4
"""Words from which a quotation is a sentence of somebody and no name."""
MIN_SPEAKER_LINES: Final = 2
"""Lines by the same speaker that make a chat."""

_MARKS: Final = {ord(a): b for a, b in zip("’‘ʼ“”„«»—–…\u00a0\t", '\'\'\'"""""--. \t', strict=True)}
_MACHINE = re.compile(
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
_HEADER = re.compile(r"(?:from|to|subject|sent|date|cc|betreff|von|an|de|para|objet): ?\S")
_REST = re.compile(
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
_SALUTE = re.compile(
    r"(?:dear|hi|hello|hey|good (?:morning|afternoon|evening)|hallo|liebe[rs]?|sehr geehrte[rs]?|guten (?:tag|morgen))"
    r" (?!there\b|all of\b)[\w. ]{1,30}[,:!.]?$"
)
_SIGNED = re.compile(
    r"(?:(?:best|kind|warm|many)? ?(?:regards|wishes|thanks)|best|cheers|sincerely|yours|love|thanks|thank you)"
    r"(?: \w+){0,2}[,.!]?$"
    r"|(?:mit (?:freundlichen|besten|herzlichen) grüßen|(?:viele|liebe|beste|schöne) grüße|mfg|gruß|vg|lg)\b"
)
_QUOTATION = re.compile(r"\"[^\"\n]{1,2000}\"")
_TICKS = re.compile(r"`[^`\n]{1,400}`")
_MATERIAL = re.compile(
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
_THINGS = (
    r"(?:docs?|documentation|readme|manual|guide|spec|page|website|site|logs?|errors?|warning|message|output|console|"
    r"trace|tests?|ci|build|linter|compiler|code|comment|config|file|doku|dokumentation|anleitung|handbuch|seite|"
    r"protokoll|fehler|fehlermeldung|meldung|ausgabe|datei)\b"
)
"""Sources that say something and are nobody: "the log says: connection refused"."""
_SAYS = (
    r"(?:wrote|writes|said|says|posted|told (?:me|us)|mentioned|announced|thinks|claims|claimed|insists)\b"
)
"""English reports: "Tom wrote"."""
_SAGT = r"(?:meint|meinte|sagt|sagte|schreibt|schrieb|behauptet|hat (?:gesagt|geschrieben|gemeint))\b"
"""German ones: "Petra meinte"."""
_DIT = r"(?:a (?:écrit|dit))\b"
"""French ones: "Marie a dit"."""
_DICE = r"(?:dice|dijo|escribió)\b"
"""Spanish ones: "Ana dijo"."""
_TOLD = (
    r"(?P<agreed>\b(?:as|wie) (?:(?:my|our|the|mein\w{0,2}|unser\w{0,2}|der|die|das) (?:[\w-]{1,40} )?)?)?(?<![\w.'-])"
    rf"(?!(?:i|i've|we|we've|you|ich|wir|du|ihr|just|also|already|always|as|and|or|to|have|had)\b|{_THINGS})"
    rf"[\w.'-]{{1,40}} (?:{_SAYS}|{_SAGT}|{_DIT}|{_DICE})"
)
"""Somebody who says something; who agrees says it too: "As my boss says, we never deploy on Fridays."."""
_TOLD_WORDS = re.compile(rf"{_TOLD}[^\n.?!:]{{0,60}}:\s+(?=[^\s\"])")
"""Such reports, without those in quotation marks, which `_QUOTATION` finds."""
_TELLING = re.compile(
    rf"{_TOLD}(?:,|:| (?:that|dass|we|you|wir|man|in|on|from now|ab sofort|always|never|immer|nie|everyone|all)\b)"
)
_LETTERS = re.compile(r"[^\W\d_]")


def own_prose(text: str) -> str:
    r"""Return a turn in lower case with everything its writer did not say blanked; offsets stay.

    >>> own_prose('> I am Bob\nI’m Ann')
    "          \ni'm ann"
    """
    plain = _own_words(text)
    return _blank(plain) if asks_not_to_remember(text) else plain


def _own_words(text: str) -> str:
    plain = _small(text[:MAX_PROSE])
    if "\n" in plain:
        plain = _without_lines(plain)
    elif _MACHINE.match(plain) or _REST.match(plain) or _CHAT_LINE.match(plain):
        return _blank(plain)
    if ":" in plain:
        plain = _without_told(text, plain)
        found = _MATERIAL.search(plain)
        if found:
            plain = plain[: found.end()] + _blank(plain[found.end() :])
    if '"' in plain:
        plain = _QUOTATION.sub(_quotation, plain)
    return _TICKS.sub(_ticked, plain) if "`" in plain else plain


def _small(text: str) -> str:
    if not text.isascii():
        text = text.translate(_MARKS)
    small = text.lower()
    if len(small) != len(text):  # the Turkish dotted I becomes two
        small = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    return small.replace("\t", " ").replace("\r", " ")


def _without_lines(text: str) -> str:
    lines = text.split("\n")
    speakers = [found[1] if (found := _SPEAKER.match(line)) else "" for line in lines]
    chat = (
        {name for name in speakers if name and speakers.count(name) >= MIN_SPEAKER_LINES}
        if any(speakers)
        else set()
    )
    lines_left = []
    for line, speaker, foreign in zip(lines, speakers, _foreign(lines), strict=True):
        lines_left.append(_blank(line) if foreign or (chat and speaker) else line)
    return "\n".join(lines_left)


def _without_told(text: str, plain: str) -> str:
    end, brackets = 0, bracketed_ranges(text)
    for found in _TOLD_WORDS.finditer(plain):
        if found.start() >= end and not found["agreed"]:
            end = min(next(sentence_ends(text, brackets, found.end())), len(plain))
            stop = "\n" if plain[end - 1] == "\n" else "."
            plain = plain[: found.end()] + _blank(plain[found.end() : end - 1]) + stop + plain[end:]
    return plain


def tells_of_others(sentence: str, end: int) -> bool:
    """Return whether a sentence in lower case says before `end` that somebody else says it.

    >>> [tells_of_others(one, 20) for one in ("tom says we always squash", "as tom says, we squash")]
    [True, False]
    """
    found = _TELLING.search(sentence, 0, end)
    return found is not None and not found["agreed"]


def _foreign(lines: list[str]) -> Iterator[bool]:
    fence, state, rest = "", "", False
    heads, clocks = (
        sum(kind.match(line.strip()) is not None for line in lines) >= MIN_SPEAKER_LINES
        for kind in (_CHAT_HEAD, _CLOCK_LINE)
    )
    letter = _letter(lines)
    for number, line in enumerate(lines):
        bare = line.strip()
        if rest or number in letter:
            yield True
        elif fence:
            fence = "" if bare.startswith(fence) else fence
            yield True
        elif bare[:3] in ("```", "~~~"):
            fence = bare[:3]
            yield True
        elif state:
            if not bare or (state == "trace" and line[:1] != " " and _TRACE_END.match(line)):
                state = ""
            yield True
        elif _TRACE.match(line):
            state = "trace"
            yield True
        elif heads and _CHAT_HEAD.match(bare):
            state = "chat"
            yield True
        elif _CHAT_LINE.match(bare) or (clocks and _CLOCK_LINE.match(bare)):
            yield True
        elif _REST.match(bare) or (
            _HEADER.match(bare) and number + 1 < len(lines) and _HEADER.match(lines[number + 1])
        ):
            rest = True
            yield True
        else:
            yield _MACHINE.match(line) is not None or (
                line.startswith("    ") and not bare.startswith(("-", "*"))
            )


def _letter(lines: list[str]) -> range:
    """Return the lines of a pasted letter: from its greeting, unless the turn begins with it, to its end."""
    for last in range(len(lines) - 1, 0, -1):
        if _SIGNED.match(lines[last].strip()):
            for first in range(last):
                if _SALUTE.match(lines[first].strip()) and (first or last + 1 < len(lines)):
                    return range(first, min(last + 2, len(lines)))
    return range(0)


def _blank(text: str) -> str:
    return "".join("\n" if c == "\n" else " " for c in text) if "\n" in text else " " * len(text)


def _quotation(found: re.Match[str]) -> str:
    words = found[0]
    return words if words.count(" ") + 1 < MIN_QUOTED_WORDS else _LETTERS.sub("_", words)


def _ticked(found: re.Match[str]) -> str:
    return re.sub(r"[.?!;,:]", "_", found[0])


WORD_CACHE: Final = 1 << 14
"""Words remembered at once: some megabytes."""

_EDGES: Final = ".,;:!?()[]{}\"'*_~`<>#¿¡"
_CODE: Final = re.compile(r"`|\w[/_.]\w")
_DIGIT: Final = re.compile(r"\d")
_ENGLISH: Final = (
    vocabulary.FIRST
    | vocabulary.PRONOUNS
    | vocabulary.OWNED
    | vocabulary.AUXILIARY
    | vocabulary.LIKE
    | word_set("a an to of in on for and it's not no at with from by please never always only every all")
) - word_set("am was do") | OURS_ABROAD
_NO_ING: Final = load_words("no_ing")
_STRONG: Final = load_words("strong")
_PAST: Final = _STRONG | vocabulary.DATED | vocabulary.TALKED
_PRESENT: Final = word_set("need feed speed breed bleed exceed proceed succeed seed embed shed wed heed weed")
"""Verbs that end in -ed all the same."""
_CLASSES: Final = (
    vocabulary.BE,
    vocabulary.FLEETING,
    vocabulary.ADVERBS | vocabulary.NEGATIVE | vocabulary.AUXILIARY,
    LIFE_WORDS,
    _ENGLISH,
    features.TELLS,
    word_set("if unless"),
)
_FIRST: Final = len(FEATURE_BITS)
IS_BIT, FLEETS_BIT, BETWEEN_BIT, LIVES_BIT, ENGLISH_BIT, TELLS_BIT, IF_BIT = (
    1 << _FIRST + number for number in range(len(_CLASSES))
)
VERBAL_BIT: Final = 1 << _FIRST + len(_CLASSES)
PAST_BIT: Final = VERBAL_BIT << 1
ING_BIT: Final = VERBAL_BIT << 2
SIGN_BITS: Final = (1 << _FIRST) - 1
"""The bits that are signs."""


@lru_cache(WORD_CACHE)
def classify_word(raw: str) -> tuple[str, int]:
    """Return a word without the marks around it, and the bits of the classes it belongs to."""
    word = raw if raw.isalpha() else raw.strip(_EDGES) or raw
    found = WORD_BITS.get(word, 0)
    for number, members in enumerate(_CLASSES):
        if word in members:
            found |= 1 << _FIRST + number
    if (word[-2:] == "ed" and word not in _PRESENT) or word in _PAST:
        found |= VERBAL_BIT | PAST_BIT
    elif word in vocabulary.STATES or word in vocabulary.AUXILIARY or word in OURS_ABROAD:
        found |= VERBAL_BIT
    if word[-3:] == "ing" and word not in _NO_ING:
        found |= ING_BIT
    if word[-2:] == "ed":
        found |= FEATURE_BITS["ed"]
    found |= FEATURE_BITS["number"] if _DIGIT.search(raw) else 0
    return word, found | (FEATURE_BITS["code"] if _CODE.search(raw) else 0)


WRAPPED: Final = 60
"""Characters of a line that may go on in the next; a shorter one ends what it says."""

_WORD = re.compile(r"[^\s;()]+|[;()]")
_CLOSING: Final = "\"')]*_"
_ITEM = re.compile(r"(?:[-*+•#]+|\d{1,2}[.)])\Z")


class WordSequence(NamedTuple):
    """The words of a text with their offsets and class bits."""

    text: str
    words: list[str]
    starts: list[int]
    ends: list[int]
    raw: list[str]
    marks: list[int]


def read_words(text: str, limit: int) -> WordSequence:
    """Return the words before `limit`; ``;`` and brackets are words of their own."""
    found = list(_WORD.finditer(text, 0, limit))
    raw = [one[0] for one in found]
    starts = [one.start() for one in found]
    ends = [start + len(token) for start, token in zip(starts, raw, strict=True)]
    known = list(map(classify_word, raw))
    return WordSequence(text, [word for word, _ in known], starts, ends, raw, [marks for _, marks in known])


def sentence_ranges(sequence: WordSequence) -> Iterator[tuple[int, int, bool]]:
    """Yield first word, end and whether it asks of each sentence; list markers are left out."""
    lines = "\n" in sequence.text
    start, line, last = 0, 0, len(sequence.raw) - 1
    for at, word in enumerate(sequence.raw):
        ended = at == last or (
            word[-1] in ".!?\"')]*_" and _ends(sequence, at) and not _goes_on(sequence, at + 1)
        )
        if lines and at < last:
            gap = sequence.text[sequence.ends[at] : sequence.starts[at + 1]]
            if "\n" in gap:
                ended = ended or not _wrapped(sequence, line, at, gap)
                line = at + 1
        if ended:
            while start < at and _ITEM.match(sequence.raw[start]):
                start += 1
            yield start, at + 1, "?" in word[-3:]
            start = at + 1


def _ends(sequence: WordSequence, at: int) -> bool:
    bare = sequence.raw[at].rstrip(_CLOSING)
    if bare[-1:] != "." or bare == "...":
        return bare[-1:] in ("!", "?", ".")
    return bare != ".." and not is_abbreviated(bare[:-1], sequence.raw[at + 1])


def _goes_on(sequence: WordSequence, after: int) -> bool:
    return sequence.words[after] == "ever" and sequence.raw[after] != "ever"


def _wrapped(sequence: WordSequence, line: int, at: int, gap: str) -> bool:
    wide = sequence.ends[at] - sequence.starts[line] > WRAPPED and gap.count("\n") == 1
    return wide and sequence.raw[at + 1][0].isalpha() and sequence.raw[at][-1] not in ":;"


DICTATED: Final = 14
"""Words without a mark after which there will be none."""
NOUN: Final = 5
"""Words within which a name is followed by its verb."""

LEAST_SAID: Final = 3
"""Words before a comma in a question that may say something themselves: "I'm a nurse, any shoes for nights?"."""
LEAST_ASKED: Final = 4
"""Words after it; fewer are part of what is said: "..., not spaces, right?"."""

_BREAKS: Final = frozenset((";", "(", ")", "-", "--", "->", "=", "|", "..", "..."))
_TIPS: Final = word_set("tips ideas idea advice suggestions recommendations chance thoughts way")
_HOW: Final = word_set("much many long often far old about to kind sort type time else i we")
_WHOM: Final = PRONOUNS | OWNED | word_set("a an any anyone someone")
_BEFORE: Final = load_words("before")
_ORDERS: Final = load_words("orders")
_ABROAD: Final = load_words("abroad")
_AND_ABROAD: Final = word_set("und aber weil denn y pero porque et mais car mas")
_JOINTS: Final = JOINS | _AND_ABROAD
_AFTERTHOUGHTS: Final = word_set("should could would so")
_FILLS: Final = word_set("also then now that just please btw")
_OPEN: Final = load_words("open")
_IS: Final = word_set("a an in on at the not from called")
"""After "'s" where it is short for "is"."""
_ANY: Final = OWNED | word_set("a an any every some")


class Clause(NamedTuple):
    first: int
    last: int
    asked: bool


def split_clauses(sequence: WordSequence, first: int, last: int, questioning: bool) -> list[Clause]:
    """Return the clauses of a sentence in order; those after a question within it count as asked too."""
    words = sequence.words
    bounds = _bounds(sequence, first, last, questioning)
    parts, question = [], False
    for number, start in enumerate(bounds[:-1]):
        end = bounds[number + 1]
        question = question or is_question(words, start, end)
        tagged = number == len(bounds) - 3 and last - end < LEAST_SAID
        parts.append(Clause(start, end, question or (questioning and (end == last or tagged))))
        question = question and questioning
    return parts


def _bounds(sequence: WordSequence, first: int, last: int, is_question: bool) -> list[int]:
    words, raw = sequence.words, sequence.raw
    dictated = last - first > DICTATED and not any(token[-1] in ",;:" for token in raw[first : last - 1])
    pictures = not sequence.text.isascii()
    plain = not (dictated or pictures)
    bounds = [first]
    for at in range(first + 1, last):
        before, word = raw[at - 1], words[at]
        mark = before[-1]
        if plain and mark.isalnum() and word not in _JOINTS and raw[at] not in _BREAKS:
            continue
        if (
            mark in ":;"
            or raw[at] in _BREAKS
            or before in _BREAKS
            or (pictures and (_pictured(raw[at]) or _pictured(before)))
        ):
            cut = True
        elif word in JOINS:
            cut = _joins(words, bounds[-1], at, last, mark == ",")
        elif mark in ",)":
            cut = _opens(words, at, last) or word in _AFTERTHOUGHTS
            cut = cut or (is_question and at - bounds[-1] >= LEAST_SAID and last - at >= LEAST_ASKED)
        elif word in _AND_ABROAD:
            cut = at - bounds[-1] >= LEAST_ASKED and words[first] in _ABROAD
        else:
            cut = dictated and words[at - 1] not in JOINS and _breathes(words, bounds[-1], at, last)
        if cut:
            bounds.append(at)
    bounds.append(last)
    return bounds


def _joins(words: list[str], first: int, at: int, last: int, comma: bool) -> bool:
    if words[at] == "since" and not comma:
        return False  # "for years, since I was nine"
    if not (_opens(words, at + 1, last) or (words[at] == "so" and comma and at + 1 < last)):
        return False
    if words[at + 1] not in OWNED and at - first >= LEAST_SAID:
        return True
    return any(
        word in VERBAL or word in FIRST or "'" in word or word[-2:] == "ed" for word in words[first:at]
    )


def _pictured(word: str) -> bool:
    return not word.isascii() and not any(char.isalnum() for char in word) and word[0] not in "¿¡…’‘"


def _opens(words: list[str], at: int, last: int) -> bool:
    while at < last and words[at] in _FILLS:
        at += 1
    if at + 1 >= last:
        return False
    word, after = words[at], words[at + 1]
    if word in _ABROAD:
        return True
    if word in PRONOUNS or ("'" in word and word.partition("'")[0] in PRONOUNS):
        return after not in ("and", "or")
    if word in OWNED:
        return any(
            later in STATES
            or later[-2:] == "ed"
            or (later[-2:] == "'s" and near > at + 1 and words[near] in _IS)
            for near, later in enumerate(words[at + 1 : min(at + 1 + NOUN, last - 1)], at + 2)
        )
    return word in _ORDERS or after in BE or after in ("has", "have") or is_question(words, at, last)


def is_question(words: list[str], at: int, last: int) -> bool:
    """Return whether a clause begins as questions do."""
    while at < last and words[at] in _BEFORE:
        at += 1
    if at >= last:
        return False
    word, after = words[at], words[at + 1] if at + 1 < last else ""
    if word in ASKING:
        return (
            not after
            or "'" in word
            or after in AUXILIARY
            or after in _HOW
            or (at + 2 < last and words[at + 2] in AUXILIARY and word != "when")
        )
    if word in AUXILIARY:
        return after in _WHOM or not after
    return word in ("any", "got") and (after in _TIPS or after == "any")


def _breathes(words: list[str], start: int, at: int, last: int) -> bool:
    word, before = words[at], words[at - 1]
    if before in _OPEN or before in PRONOUNS or at + 2 >= last:
        return False
    if word in FIRST:
        if at - 2 >= start and words[at - 2] in _ANY:
            return False  # "the bike i bought"
        return word not in ("my", "our") or any(later in STATES for later in words[at + 1 : at + 4])
    return is_question(words, at, last) and word not in BE
