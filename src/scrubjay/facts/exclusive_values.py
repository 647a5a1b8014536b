"""Exclusive values: names of which a person or thing has one at a time, and the state that a change leads to.

"We switched from npm to pnpm" is read as "we use pnpm". One such statement replaces another only if both name values
of one kind, two package managers or two towns (``data/kinds.txt``): "we switched to Slack" leaves "we switched to pnpm"
as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final, NamedTuple

from scrubjay.facts.lexicon import ADDITIVE, SEVERAL_KIN
from scrubjay.facts.quantities import ENGLISH_MONTHS, MONTHS
from scrubjay.facts.vocabulary import load_words, table_lines
from scrubjay.text.language import function_words
from scrubjay.text.normalize import word_set
from scrubjay.text.tokenizer import stem_word, word_rank

_MONTHS: Final = rf"(?:{'|'.join(sorted(ENGLISH_MONTHS, key=len, reverse=True))})"
_TIME: Final = (
    r"(?:(?:(?:back )?in|since|last|this|as of|at the (?:start|beginning|end) of) (?:early |late |mid-?)?"
    rf"(?:{_MONTHS}|week|weekend|month|year|spring|summer|autumn|fall|winter|(?:19|20)\d\d)\b(?: 20\d\d\b)?"
    r"|yesterday|today)"
)
_TIME_PHRASE: Final = re.compile(rf"\b{_TIME}", re.IGNORECASE)
_RECENT: Final = re.compile(
    rf"(?:(?:in|since) {_MONTHS}|(?:last|this) (?:week|weekend|month)|yesterday|today)$", re.IGNORECASE
)
_LEAD: Final = re.compile(
    r"^(?:(?:by the way|btw|fyi|heads up|update|news|ok|okay|so|well|hey|hi|please|always|from now on)\b[,:.!]? ){1,3}",
    re.IGNORECASE,
)
_TAIL: Final = re.compile(
    r"(?:,? (?:instead|from now on|(?:for|in) all (?:of )?(?:the|our|my)(?: \w{1,20})? (?:repos|repositories|projects))"
    r"|, (?:so (?:i'm|we're) there now|\w{1,20} is (?:shut off|gone|retired))){1,2}$",
    re.IGNORECASE,
)
"""The only words after a change that do not limit it."""
_WHEN: Final = re.compile(
    rf"^{_TIME},? |,? (?:{_TIME}|for (?:a job|good|love|university)|(?:near|close to) [\w ]{{1,40}})$",
    re.IGNORECASE,
)
"""Time, cause and place of a change. After a state such words limit it: "I live in Lisbon in winter"."""
_HAVE: Final = (
    r"(?:(?:'ve|'s| have| has| was| were| been| got| just| recently| finally| now| already)(?![\w'])){0,4}"
)
_TO: Final = r"(?: back| over){0,2}(?: from (?:[^\s,;]+ ){1,3}?| )(?:over )?to "
_WHO: Final = r"([^,;:.!?]{1,50}?)"
_MOVED: Final = r"(?:moved|relocated)"
_SWITCHED: Final = r"(?:switched|migrated|changed|transitioned|upgraded|downgraded)"
_RAISED: Final = (
    r"(?:raised|increased|lowered|reduced|cut|extended|shortened|bumped|changed|set|moved|postponed|rescheduled"
    r"|pushed back|brought forward|went up|gone up|dropped|slipped|doubled|halved|grown|grew|shrunk|shrank)"
)
_ROLE: Final = r"(manager|boss|landlord|dentist|doctor|employer|supplier|accountant|maintainer)"
_CHANGE_PATTERNS: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), state)
    for pattern, state in (
        (rf"^(?:i|we){_HAVE} {_RAISED} {_WHO}(?: from [^,;]{{1,20}}?)? to (?=\d)", r"\1 is "),
        (rf"^{_WHO}{_HAVE} {_RAISED}(?: from [^,;]{{1,20}}?)? to (?=\d)", r"\1 is "),
        (
            rf"^(?:i|we){_HAVE} (?:{_MOVED}|{_SWITCHED}) (?!(?:back|over|to|from)\b){_WHO}{_TO}",
            r"\1 is on ",
        ),
        (r"^just (?:moved|relocated)(?: back)? to (?=(?P<name>.{1,40}))", r"I live in "),
        (rf"^{_WHO}{_HAVE} {_MOVED}{_TO}(?=(?P<name>.{{1,40}}))", r"\1 live in "),
        (rf"^{_WHO}{_HAVE} {_SWITCHED}{_TO}", r"\1 use "),
        (r"^meine neue (handynummer|telefonnummer|nummer) ist ", r"meine \1 ist "),
        (
            r"^(my|our|the) new (phone number|mobile number|number|phone|extension|address|e-?mail(?: address)?"
            rf"|{_ROLE}) is ",
            r"\1 \2 is ",
        ),
        (rf"^([A-Z][\w. ]{{1,30}}) is (my|our|the) new {_ROLE}$", r"\2 \3 is \1"),
        (r"^(ich|wir) (?:bin|sind) (?:von \S{2,30} )?nach (\S{2,30}) (?:um)?gezogen", r"\1 wohne in \2"),
        (
            r"^(ich|wir) (?:bin|sind) (?:von \S{2,30} )?auf (\S{2,30}) (?:umgestiegen|gewechselt|umgestellt)",
            r"\1 nutze \2",
        ),
        (r"^(?:j'ai|nous avons) déménagé (?:de \S{2,30} )?à ", "j'habite à "),
        (r"^(?:nous sommes|on est) passée?s? (?:de \S{2,30} )?(?:à|au|aux|sur) ", "nous utilisons "),
        (r"^(?:me mudé|nos mudamos|me he mudado) (?:de \S{2,30} )?a ", "vivo en "),
        (r"^(?:pasamos|cambiamos|migramos|hemos pasado) (?:de \S{2,30} )?a ", "usamos "),
        (r"(?:已经)?(?:从.{1,10}?)?(?:搬到|搬去)了?", "住在"),
        (r"(?:已经)?(?:从.{1,20}?)?(?:换成|改用|切换到|迁移到|换到)了?", "用"),
    )
)
_ENDED_PART: Final = re.compile(
    r"^(?:i|we|ich|wir)\b[^,.;]{0,60}\b(?:no longer|any ?more|nicht mehr)\b[^,.;]{0,60}, (?:and |but |und )?"
    r"(?=(?:i|we|ich|wir)\b)",
    re.IGNORECASE,
)
"""The first half of "I no longer live in Porto, I live in Lisbon"."""
_NAME: Final = r"[A-ZÀ-Þ][\w'’-]{1,30}"
_TOWN: Final = rf"(?P<place>{_NAME}(?: (?:(?:am|an der|im|de|la|le|upon|sur) )?{_NAME}){{0,2}})"
_PERSON: Final = rf"(?P<who>I|We|Ich|Wir|(?:The )?[Uu]ser|{_NAME})"
_OWNER: Final = rf"(?P<who>My|Our|Meine|Unsere|(?:The )?[Uu]ser's|{_NAME}'s)"
_WHEN_MOVED: Final = rf"(?:(?i:{_TIME})|(?:on|am) (?:the weekend|Wochenende|\w{{3,7}}(?:day|tag)))"
_HOMES: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_PERSON}(?: now)?(?: lives?|(?: am|'m| is| are|'re) (?:based|living))(?: now)? in {_TOWN}",
        rf"{_PERSON} (?:wohn|leb)(?:e|t|en)(?: jetzt)? in {_TOWN}",
        rf"(?:{_WHEN_MOVED},? )?(?:Just|{_PERSON}{_HAVE}) (?P<moved>moved|relocated){_TO}{_TOWN}",
        rf"{_PERSON} (?:bin|sind|ist)(?: {_WHEN_MOVED})? nach {_TOWN} (?P<moved>(?:um)?gezogen)",
        rf"(?:{_OWNER} (?:(?:new|home|neue) ){{0,2}}|(?:New|Neue) )(?:address|Adresse)"
        rf"(?:(?: is| ist)(?: now| jetzt)?|:) (?P<place>[^,;:@\d]{{0,40}}\d[^,;:@]{{0,40}}, (?:\d{{4,5}} )?{_NAME})",
    )
)
"""Beginnings of sentences that say where somebody lives or moved to, up to the town or with the whole address."""
_REST: Final = re.compile(r"(?<=\w\w)[.!] (?=[A-ZÀ-Þ])(?!.*\b(?:kidding|joking|joke)\b).*", re.DOTALL)
"""The sentences after the first."""
_HOME_TAIL: Final = re.compile(
    rf"(?: (?:{_WHEN_MOVED}|now|jetzt|again|wieder))?"
    r"(?:, (?:[^,;:!?]{0,40}\d[^,;:!?]{0,20}|\w{1,20} floor|[A-ZÀ-Þ][^,;:!?]{1,30})){0,3}"
)
"""All that may stand behind the town of a new home: a time, the street, the country."""
_AT_TIMES: Final = re.compile(
    r"\b(?:during|on|when|while|for|until|temporarily"
    r"|(?:in|im|each|every) (?:the )?(?:week|spring|summer|autumn|fall|winter|term))\b"
)
"""Signs that somebody lives at a place only at times."""
_RARE: Final = 5_000
"""Rank from which on a capitalised word is a name: "Oldenburg", not "Marketing"."""
_VALUE_FORMS: Final = (
    (re.compile(r"(?: is| ist|:) (?:now )?(?=\+?\d[\d ()/.-]{4,30}$)", re.IGNORECASE), "number"),
    (re.compile(r"(?: is| to|:) (?:now )?(?=\S{1,60}@\S{1,60}$)", re.IGNORECASE), "mail address"),
    (
        re.compile(
            r"(?: is|:) (?:now )?(?:on )?(?:the )?"
            rf"(?=(?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTHS}|{_MONTHS} \d{{1,2}}(?:st|nd|rd|th)?)$)",
            re.IGNORECASE,
        ),
        "date",
    ),
    (re.compile(r" (?:use|uses|runs?|on|is) [a-z.+]{2,20} (?=v?\d[\d.]{0,8}$)", re.IGNORECASE), "version"),
    (
        re.compile(
            r" address is (?:now )?(?!.{0,120}\b(?:for|from)\b)(?=[^@]{0,60}\d[^@]{0,60}$)", re.IGNORECASE
        ),
        "address",
    ),
)
"""Beginnings of values that are recognized by their form."""
PLACES: Final = ("town", "country")
_LIVING_WORDS: Final = word_set("live lives living based wohne wohnt lebe lebt j'habite habite vivo vive 住")
_STATE_WORDS: Final = _LIVING_WORDS | load_words("state")
"""Words that are ignored when the frames of two states are compared."""
_SELF: Final = word_set("i i'm my ich mein meine je j'habite mon ma vivo mi 我")
_SPEAKER: Final = word_set("i we my our ich wir meine unsere")
ANYBODY: Final = SEVERAL_KIN | load_words("anybody")
"""Words of persons and things of which there may be several."""
_WORD: Final = re.compile(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+(?:[.'-][^\W\u4e00-\u9fff]+)*")
_NOW: Final = re.compile(r"\bnow\b", re.IGNORECASE)
_DOUBT_WORDS: Final = function_words("en") - word_set("for in on with at") | load_words("doubt")
"""Words of wishes, plans and longer sentences, which announce no change."""
_MAX_NAME_WORDS: Final = 3
"""Words of a name."""
_MAX_FRAME_WORDS: Final = 3
"""Maximum number of words of a frame in a sentence that announces a change and says nothing else."""


class _NameKind(NamedTuple):
    """A kind of names, and the words that only state its purpose."""

    kind: str
    purpose: frozenset[str]


class _NamedValue(NamedTuple):
    """A name of a known kind in a statement, and the other words; `frame`: those that say of whom and for what."""

    kind: str
    name: str
    frame: frozenset[str]
    words: frozenset[str]


@lru_cache(2_000)
def resulting_state(text: str) -> str:
    """Return the state that an announced change leads to; the text itself where it announces none.

    >>> resulting_state("We've switched from npm to pnpm in June."), resulting_state("I moved to Lisbon")
    ('We use pnpm', 'I live in Lisbon')
    >>> resulting_state("I no longer live in Porto, I live in Lisbon")
    'I live in Lisbon'
    >>> resulting_state("I moved to the sales team")
    'I moved to the sales team'
    """
    whole = _WHEN.sub("", _bare_sentence(text))
    plain = _ENDED_PART.sub("", whole)
    for pattern, state in _CHANGE_PATTERNS:
        found = pattern.search(plain)
        if found is None:
            continue
        if "name" in pattern.groupindex:
            kind = known_kind(_WORD.findall(found["name"].lower()))
            if kind is None:
                return text
            state = state if kind in PLACES else state.replace("live in", "use")
        return pattern.sub(state, plain, count=1)
    return text if plain == whole else plain


def may_change_home(old: str, new: str) -> bool:
    """Return whether two statements name homes of one person, in two places.

    An unlisted name that somebody moved to may be a town, since no list has them all, or a firm.

    >>> may_change_home("I live in Bremen.", "We moved to Oldenburg on Saturday, Lange Straße 3.")
    True
    >>> may_change_home("I use vim.", "I moved to Oldenburg."), may_change_home("Ann lives in Hull.", "I live in York.")
    (False, False)
    """
    before, after = _home(old), _home(new)
    if before is None or after is None or before.who != after.who:
        return False
    if _AT_TIMES.search(before.tail) or not _HOME_TAIL.fullmatch(after.tail) or not may_be_later(old, new):
        return False
    if "country" in {before.kind, after.kind} and before.kind != after.kind:
        return False
    return not (before.place <= after.place or after.place <= before.place)


def replaces(old: str, new: str, *, announced: bool) -> bool:
    """Return whether a later statement gives the same person or thing another name or value of one kind.

    ``announced``: the later one says by itself that something changed.

    >>> replaces("We switched to pnpm.", "We switched to bun.", announced=False)
    True
    >>> replaces("We switched to pnpm in web.", "We switched to bun in api.", announced=False)
    False
    """
    later = resulting_state(new)
    before, after = _named_value(resulting_state(old)), _named_value(later)
    if before is None or after is None or before.kind != after.kind or before.name == after.name:
        return False
    if before.frame != after.frame or not before.frame.isdisjoint(ANYBODY):
        return False
    if not {"for", "this"}.isdisjoint(after.words - before.words):
        return False
    if "@" not in before.name and any(stem_word(word, "en") in ADDITIVE for word in before.frame):
        return False
    resides = not _LIVING_WORDS.isdisjoint(before.words) and not _LIVING_WORDS.isdisjoint(after.words)
    if before.kind in PLACES:
        return resides
    if before.words.isdisjoint(_SELF) != after.words.isdisjoint(_SELF):
        return False
    return announced or later != new


def may_be_later(old: str, new: str) -> bool:
    """Return whether the newer statement may report the later of two changes, by the times in both.

    >>> may_be_later("I moved to Lisbon in May.", "I moved to Madrid in June.")
    True
    >>> may_be_later("I moved to Lisbon in 2019.", "I moved to Madrid in 2010.")
    False
    """
    times = [_TIME_PHRASE.findall(" ".join(text.split())) for text in (old, new)]
    if not times[1]:
        return True
    if not all(_RECENT.match(time) for time in times[1]):
        return False
    months = [[_month(time) for time in found] for found in times]
    return not times[0] or 0 <= max(months[0]) < min(months[1])


def _month(time: str) -> int:
    """Return the number of the month that a time names; -1 where it names none."""
    found = re.search(rf" ({_MONTHS})$", time, re.IGNORECASE)
    return MONTHS[found[1].lower()] if found else -1


def are_of_two_kinds(old: str, new: str) -> bool:
    """Return whether two statements name things of two known kinds: a town and a country, a system and a database."""
    before, after = _named_value(resulting_state(old)), _named_value(resulting_state(new))
    return before is not None and after is not None and before.kind != after.kind


def announces_state(text: str) -> bool:
    """Return whether a sentence says that a person or thing now has a name of a known kind, and nothing else.

    >>> announces_state("I now live in Lisbon."), announces_state("We switched to main.")
    (True, False)
    """
    state = resulting_state(text)
    found = _named_value(state)
    if found is None or (state == text and not _NOW.search(text)):
        return False
    lives = found.kind not in PLACES or not _LIVING_WORDS.isdisjoint(found.words)
    return lives and len(found.frame) <= _MAX_FRAME_WORDS and found.frame.isdisjoint(_DOUBT_WORDS)


def known_kind(words: Sequence[str]) -> str | None:
    """Return the kind of the name that these lower-case words begin with; None where it is not known.

    >>> known_kind(["madrid", "in", "june"]), known_kind(["github", "actions"]), known_kind(["elm", "street"])
    ('town', 'jenkins', None)
    """
    found = _longest_name(words, 0)
    return found and found[0].kind


@cache
def _name_kinds() -> dict[tuple[str, ...], _NameKind]:
    kinds: dict[tuple[str, ...], _NameKind] = {}
    kind = ""
    for line in table_lines("kinds.txt"):
        names, bar, purpose = line.partition("|")
        if line[0] == "=":
            kind = line[1:].strip()
            continue
        known = _NameKind(kind or names.split()[0], word_set(purpose) if bar else frozenset())
        for name in names.split():
            chinese = name[0] >= "\u4e00"
            kinds[tuple(name if chinese else name.split("_"))] = known
    return kinds


def _longest_name(words: Sequence[str], at: int) -> tuple[_NameKind, int] | None:
    """Return the kind of the longest known name that begins at a word, and where it ends."""
    for end in range(min(at + _MAX_NAME_WORDS, len(words)), at, -1):
        if known := _name_kinds().get(tuple(words[at:end])):
            return known, end
    return None


class _Home(NamedTuple):
    """A home that a sentence names: person, words of the place, its kind if known, and the text behind the town."""

    who: str
    place: frozenset[str]
    kind: str | None
    tail: str


@lru_cache(2_000)
def _home(text: str) -> _Home | None:
    plain = _bare_sentence(_REST.sub("", text, count=1))
    found = next((one for pattern in _HOMES if (one := pattern.match(plain[:1].upper() + plain[1:]))), None)
    if found is None:
        return None
    groups = found.groupdict()
    who = (groups["who"] or "i").lower().removeprefix("the ").removesuffix("'s")
    if who in ANYBODY:
        return None
    town = _WORD.findall(found["place"].lower())
    kind = known_kind(town)
    if groups.get("moved"):
        rare = any(word_rank(word) >= _RARE for word in found["place"].lower().replace("-", " ").split())
        if kind not in (*PLACES, None) or not (kind or rare):
            return None
    tail = plain[found.end() :]
    streets = [part for part in tail.split(",") if any(map(str.isdigit, part))]
    place = frozenset((*town, *_WORD.findall(" ".join(streets).lower())))
    return _Home("i" if who in _SPEAKER else who, place, kind, tail)


def _bare_sentence(text: str) -> str:
    plain = " ".join(text.replace("’", "'").split()).rstrip(".!。 ")
    return _TAIL.sub("", _LEAD.sub("", plain, count=1), count=1)


@lru_cache(2_000)
def _named_value(text: str) -> _NamedValue | None:
    plain = _bare_sentence(text)
    for pattern, kind in _VALUE_FORMS:
        if value := pattern.search(plain):
            words = _WORD.findall(plain[: value.end()].lower())
            frame = frozenset(words) - _STATE_WORDS - ({"address"} if kind == "mail address" else set())
            return _NamedValue(kind, plain[value.end() :], frame, frozenset(words))
    words = _WORD.findall(plain.lower())
    found = [(at, *one) for at in range(len(words)) if (one := _longest_name(words, at))]
    if not found or any(start >= found[0][2] for start, _, _ in found):  # none, or more than one
        return None
    at, known, end = found[0]
    rest = words[:at] + words[end:]
    frame = frozenset(rest) - _STATE_WORDS - known.purpose - {"i"}
    return _NamedValue(known.kind, " ".join(words[at:end]), frame, frozenset(rest))
