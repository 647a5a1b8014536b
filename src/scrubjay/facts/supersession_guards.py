"""Guards of supersession: reasons for which a later statement may not replace an earlier one.

It must be unconditional (no condition, rumour, plan, question or narrower scope), and its value must be of the kind of
the old one: two amounts of one unit, two names, two places after the same preposition. "The key is in the
drawer" and "The key is now made of brass" are both true. Two values whose kind is unknown are never of one kind.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from scrubjay.facts.exclusive_values import known_kind
from scrubjay.facts.lexicon import ADVERBS, ARTICLES, OWNERS, TITLES
from scrubjay.facts.quantities import MONTHS, UNITS, WEEKDAYS, number_words
from scrubjay.facts.vocabulary import load_words
from scrubjay.text.language import function_words
from scrubjay.text.normalize import word_set
from scrubjay.text.tokenizer import stem_word

_RESERVATION: Final = re.compile(
    r"^(?:is|are|am|was|were|does|do(?! not\b)|did|has|have|who|whose|why|where|which|how"
    r"|ist|sind|hat|haben|wer|wo|warum|wieso|welche[rsn]?|wie)\b|\?"
    r"|\b(?:if|unless|in case|assuming|provided|suppose|supposing|falls|wenn|sofern|vorausgesetzt"
    r"|rumou?r(?:s|ed)?|apparently|maybe|perhaps|probably|possibly|presumably|supposedly|allegedly|reportedly|hearsay"
    r"|might|(?:may|could|would) (?:be|have|become|move|go)|seems?|unconfirmed|not sure|unsure|(?:looks|sounds) like"
    r"|(?:i|we) (?:think|guess|believe|heard|suppose|suspect|hope|assume|wonder)|(?:they|people) say|according to"
    r"|ask(?:s|ed)|wonder(?:s|ed)|claim(?:s|ed)|reckons?|thinks|believes|suggest(?:s|ed)|propos(?:es|ed)|will|won't"
    r"|(?:am|is|are|'m|'re|'s) going to|plan(?:s|ned|ning)? to|wants? to|hopes? to|considering"
    r"|thinking (?:of|about)|used to"
    r"|angeblich|vielleicht|vermutlich|wahrscheinlich|wohl|scheinbar|anscheinend|eventuell|möglicherweise|gerücht\w{0,8}"
    r"|könnte|würde|glaube (?:ich|wir)|(?:ich|wir) (?:glauben?|denken?)|fragte?|ob|meint|sagt|behauptet|wird|werden"
    r"|früher)\b"
    r"|(?<!\bi )(?<!\bwe )(?<!\byou )\b(?:says|said)\b"
    r"|如果|听说|据说|也许|可能|大概|打算|计划",
    re.IGNORECASE,
)
"""Words that mark a question, condition, hearsay, doubt, plan or past state."""
_SCOPE: Final = re.compile(
    r"\b(?:only (?:for|on|in|at)|for|during|until|till|while|except|at least|temporarily"
    r"|nur (?:für|an|in|bei)|für|bis|während|solange|außer|vorübergehend"
    r"|this (?:week|month|term|season)|today|tonight|diese (?:woche|saison)|diesen monat|heute)\b"
    r"(?P<of>(?:(?! (?:is|are|was|were|has|have|ist|sind|any ?more)\b)[^,;.()])*)",
    re.IGNORECASE,
)
"""Words that limit a statement, and to what."""
_ANNOUNCING: Final = ADVERBS | {"only", "nur", "actually"}
_COPULAS: Final = word_set("is are ist sind est sont es son")
_VALUE_VERBS: Final = load_words("giving")
_DETERMINERS: Final = ARTICLES | OWNERS | {"des"}
_LEADS: Final = (
    function_words("en")
    | function_words("de")
    | word_set("near under behind via before after between due fällig set made kept held put run done")
)
_CONTRACTED: Final = {
    "im": "in", "ins": "in", "am": "an", "ans": "an", "zum": "zu", "zur": "zu", "beim": "bei", "vom": "von",
}  # fmt: skip
_IN_NAMES: Final = word_set("& of and the van von de la und")
_PARTICIPLE: Final = re.compile(r"\w{2,30}ed|ge\w{2,30}(?:t|en)", re.IGNORECASE)
_AMOUNT: Final = re.compile(r"([$€£~]?)-?\d[\d.,]*([a-z%€$£]{0,3})", re.IGNORECASE)
_CLOCK: Final = re.compile(r"\d{1,2}[:.]\d\d(?:am|pm)?|\d{1,2}(?:am|pm)", re.IGNORECASE)
_HOUR_MARKS: Final = ("uhr", "o'clock")
_IN_TIMES: Final = frozenset(("at", "um", "on", "of", "the", *_HOUR_MARKS))
_ORDINAL: Final = re.compile(r"\d{1,2}(?:st|nd|rd|th)", re.IGNORECASE)
_IDENTIFIER: Final = re.compile(r"(?=\D{0,40}\d|[^@/_]{0,40}[@/_])[^\W\d][\w.@/-]{1,60}")
_CLAUSE_END: Final = re.compile(r"[,;!()]|\.(?:\s|$)|\s[-–—]\s|\b(?:because|since|weil|seit|as of)\b")
_ANNOUNCED: Final = re.compile(
    r"\b(?:from now on|these days|from today|as of (?:now|today)|ab (?:jetzt|sofort|heute))\b", re.IGNORECASE
)
_LEAD: Final = re.compile(r"^[^:;,]{1,40}: (?=(?:\S+ ){4})")
"""Words before the statement: "The doctor changed it: "."""
_PLACED: Final = load_words("placed")
_CHANGED_TO: Final = re.compile(
    r"\b(?:moved|shifted|switched|changed|raised|lowered|reduced|increased|extended|shortened|rescheduled|postponed|cut)"
    r"(?: back| forward)? (?:(?P<by>by) |to (?P<to>[^,;.()]+))"
)
_IDIOMS: Final = load_words("idioms")
_CURRENCIES: Final = frozenset(("eur", "gbp", "usd", "chf"))
_MAX_AMOUNT_DIGITS: Final = 6
"""Digits of an amount; longer ones are telephone numbers or codes."""


class _Value(NamedTuple):
    """Of which kind a value is, and the words behind it."""

    kind: tuple[str, ...]
    rest: frozenset[str]


def is_limited(old: str, new: str) -> bool:
    """Return whether the later statement is uncertain, or limited to something the earlier one does not name.

    >>> is_limited("The store is at Unit 4.", "Rumour: the store is at Unit 9 now.")
    True
    >>> is_limited("Her rate is 465.", "Her rate is 480 now for the pavilion only.")
    True
    >>> is_limited("Her rate is 465.", "Her rate is now 480.")
    False
    """
    if is_uncertain(old, new):
        return True
    known = {stem_word(word, "en") for word in _words(old)}
    return any(
        {stem_word(word, "en") for word in _words(found["of"])} - known - _LEADS or not found["of"].strip()
        for found in _SCOPE.finditer(new)
        if found[0].split()[0].lower() not in _words(old)
    )


def is_uncertain(old: str, new: str) -> bool:
    """Return whether only the later statement asks, plans, doubts, sets a condition, or tells what others say."""
    return bool(_RESERVATION.search(new)) and not _RESERVATION.search(old)


def are_of_one_kind(old: str, new: str) -> bool:
    """Return whether the values of two statements are of one kind, with nothing beside the later one that limits it.

    >>> are_of_one_kind("The key is in the drawer.", "The key is now in the shed.")
    True
    >>> are_of_one_kind("The key is in the drawer.", "The key is now made of brass.")
    False
    """
    german = _is_german(new)
    old_words, new_words, given = _predicates(_value_clause(old), _value_clause(new))
    before, after = (_parse_value(words, german, loose=not given) for words in (old_words, new_words))
    if before is None or after is None:
        return False
    *lead, unit = before.kind
    *another_lead, another_unit = after.kind
    alike = unit == another_unit or ("" in (unit, another_unit) and {unit, another_unit} & _CURRENCIES)
    return lead == another_lead and bool(alike) and after.rest <= before.rest | set(_words(old))


def are_of_other_kinds(old: str, new: str) -> bool:
    """Return whether the value of one statement cannot follow that of the other, being of another kind.

    >>> are_of_other_kinds("The meeting is in Cedar.", "The meeting was moved to Thursday.")
    True
    >>> are_of_other_kinds("The key is in the drawer.", "The key is on the hook.")
    False
    """
    before, after, given = _predicates(_value_clause(old), _value_clause(new))
    changed = _CHANGED_TO.search(new)
    if changed is not None:
        clause = _value_clause(old)
        start = _value_start(clause)
        before, after, given = clause[start:], _split(changed["to"] or ""), start > 0
    german = _is_german(new)
    return given and _kind_family(before, german) != _kind_family(after, german)


def _kind_family(words: Sequence[str], german: bool) -> str:
    value = _parse_value(words, german, loose=False)
    if value is None:
        return "participle" if any(map(_PARTICIPLE.fullmatch, words[:1])) else "state"
    kind = value.kind[-2]
    return kind if kind in ("amount", "when", "number", "mail address") else "name"


def _is_german(text: str) -> bool:
    return not {"ist", "sind", "jetzt", "nun"}.isdisjoint(_words(text))


def _words(text: str) -> list[str]:
    return [word.lower() for word in _split(text)]


def _split(text: str) -> list[str]:
    spaced = text.replace("’", "'").replace(": ", " : ")
    return [word for raw in spaced.split() if (word := raw.strip(".,;!?()\"'“”„") or raw.strip())]


def _value_clause(text: str) -> list[str]:
    """Return the words of the first clause that gives a value, without those that announce a change."""
    clauses = [
        [word for word in _split(part) if word.lower() not in _ANNOUNCING]
        for part in _CLAUSE_END.split(_LEAD.sub("", _ANNOUNCED.sub(" ", text), count=1))
    ]
    for verbs in (_COPULAS, _VALUE_VERBS):
        for words in clauses:
            if any(word.lower() in verbs for word in words[1:-1]):
                return words
    return max(clauses, key=len)


def _predicates(old: Sequence[str], new: Sequence[str]) -> tuple[Sequence[str], Sequence[str], bool]:
    """Return the words of both from the value on, and whether a verb stands before both that gives a value."""
    starts = [_value_start(old), _value_start(new)]
    if all(starts):
        return old[starts[0] :], new[starts[1] :], True
    if any(starts):
        return (), (), True
    shared = 0
    while shared < min(len(old), len(new)) and old[shared].lower() == new[shared].lower():
        shared += 1
    while shared and old[shared - 1].lower() in _LEADS | _DETERMINERS:
        shared -= 1
    return (old[shared:], new[shared:], False) if shared else ((), (), False)


def _value_start(words: Sequence[str]) -> int:
    for verbs in (_COPULAS, _VALUE_VERBS):
        for at, word in enumerate(words):
            if at and word.lower() in verbs:
                return at + 1
    return 0


def _parse_value(words: Sequence[str], german: bool, *, loose: bool) -> _Value | None:
    """Return the value that the words begin with; None where its kind is not known."""
    lead: list[str] = []
    determined = ""
    for at, word in enumerate(words):
        low = word.lower()
        if low in _DETERMINERS or low.endswith("'s"):
            determined = low
            continue
        followed = at + 1 < len(words) and words[at + 1].lower() in _LEADS | _CONTRACTED.keys()
        if low in _LEADS or low in _CONTRACTED or (followed and _PARTICIPLE.fullmatch(word)):
            lead.append(_CONTRACTED.get(low, low))
            determined = low if low in _CONTRACTED else ""
            continue
        kind, end = _value_kind(words[at:], lead, determined, german)
        if not kind and not loose:
            return None
        rest = {one.lower() for one in words[at + end :]} - _DETERMINERS
        return _Value((*lead, *(kind or ("word", ""))), frozenset(rest))
    return None


def _value_kind(
    words: Sequence[str], lead: Sequence[str], determined: str, german: bool
) -> tuple[tuple[str, str] | None, int]:
    """Return the kind of a value with its unit, and how many words it has."""
    lows = [word.lower() for word in words]
    if lead and lows[0] in _IDIOMS and (german or words[0].islower()):
        return None, 1
    if when := _time_kind(lows, lead):
        return when
    if _AMOUNT.fullmatch(words[0]) or lows[0] in number_words("de" if german else "en"):
        return _amount_kind(lows)
    if _IDENTIFIER.fullmatch(words[0]):
        return ("mail address" if "@" in words[0] else "identifier", ""), 1
    if (
        lows[1:]
        and words[0].islower()
        and (words[1].isdigit() or (len(words[1]) == 1 and words[1].isupper()))
    ):
        return (lows[0], ""), 2
    title = lows[0].rstrip(".") in TITLES
    known = known_kind(lows) is not None
    if known or (words[0][:1].isupper() and (not german or title or lead)):
        end = 1
        while end < len(words) and (
            words[end][:1].isupper()
            or words[end][:1].isdigit()
            or (lows[end] in _IN_NAMES and any(word[:1].isupper() for word in words[end + 1 : end + 2]))
        ):
            end += 1
        if lead:
            end = _description_end(lows, end)
        return ("name", "one of many" if determined in ("a", "an", "ein", "eine") and not lead else ""), end
    if lead and determined:
        return ("thing", ""), _description_end(lows, 1)
    return None, 1


def _description_end(lows: Sequence[str], end: int) -> int:
    """Return the end of the words that describe a place or thing: "shed behind the house"."""
    while end < len(lows) and (lows[end] not in _LEADS or lows[end] in _PLACED or lows[end] in _DETERMINERS):
        end += 1
    return end


def _time_kind(lows: Sequence[str], lead: Sequence[str]) -> tuple[tuple[str, str], int] | None:
    """Return which of day, date and time of day the words name."""
    parts: set[str] = set()
    end = 0
    for at, low in enumerate(lows):
        before, after = lows[at - 1] if at else "".join(lead[-1:]), "".join(lows[at + 1 : at + 2])
        hour = low.isdigit() and (after in _HOUR_MARKS or (before in ("at", "um") and not after))
        if low in WEEKDAYS or low.removesuffix("s") in WEEKDAYS:
            parts.add("day")
        elif low in MONTHS or (_ORDINAL.fullmatch(low) and {*lows[at + 1 :]} <= {"of", *MONTHS}):
            parts.add("date")
        elif _CLOCK.fullmatch(low) or hour:
            parts.add("time")
        elif not (low.isdigit() and ("date" in parts or after in MONTHS)) and low not in _IN_TIMES:
            break
        end = at + 1
    return (("when", "+".join(sorted(parts))), end) if parts else None


def _amount_kind(lows: Sequence[str]) -> tuple[tuple[str, str], int]:
    end = 1
    while end < len(lows) and lows[end].isdigit():
        end += 1
    if sum(map(str.isdigit, "".join(lows[:end]))) > _MAX_AMOUNT_DIGITS and "," not in lows[0]:
        return ("number", ""), end
    found = _AMOUNT.fullmatch(lows[0])
    unit = (found[1] or found[2].removesuffix("k")) if found else ""
    if not unit and end < len(lows) and lows[end] not in _LEADS | _DETERMINERS:
        unit = lows[end]
        end += 1
    return ("amount", UNITS[unit][0] if unit in UNITS else stem_word(unit, "en")), end
