"""Events: text -> the events that it counts time from ("before the migration", "vor dem Umzug"), by their words.

What is read is a word of relation, an article or a possessive, and the nouns behind them. What such words name
besides (*since the server is slow*, *look after the dog*, *until the end*) is left alone as far as words tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from scrubjay.text.folding import fold
from scrubjay.text.telling import says_nothing

MOST_WORDS: Final = 6
"""Telling words of an event that are read: whoever needs more describes it, and names it no longer."""
_LEADS: Final = {
    "before": "before", "prior to": "before", "after": "after", "since": "since", "until": "until", "till": "until",
    "vor": "before", "nach": "after", "seit": "since", "bis": "until", "bis zu": "until", "bis zum": "until",
    "bis zur": "until",
}  # fmt: skip
_LEAD: Final = re.compile(
    r"(?<!\S)[(\[\"'„“]?(?:(bis zu[mr])|"
    r"(before|prior to|after|since|until|till|vor|nach|seit|bis(?: zu)?) ([^\W\d_]{2,8})) (?=\S)",
    re.I,
)
_ENGLISH = "the our my your his her their that this"
_GERMAN = "dem der den die das"
_OWN = ("mein", "dein", "sein", "ihr", "unser", "eur", "euer", "jen", "dies")
_ARTICLES: Final = frozenset(
    (*_ENGLISH.split(), *_GERMAN.split(), *(stem + end for stem in _OWN for end in ("em", "er", "en", "e")))
)
_PREPOSITIONS = (
    "of to from in at by with on for into von vom zu zum zur nach mit in im am an aus auf für des der"
)
_JOINS: Final = frozenset(_PREPOSITIONS.split())
"""Words over which the name of an event goes on: the migration *to* Postgres. What follows may also be the question's
own, so that both readings are kept."""
_VERBS = (
    "is are was were be been has have had will would can could may might must should ist sind war waren wird wurde "
    "wurden hat hatte haben hatten kann konnte"
)
_CLAUSE: Final = frozenset(_VERBS.split())
"""Words behind which a sentence stands instead of a name."""
_NOUNS = (
    "end beginning start time times moment fact rest day days week weeks weekend month months year years quarter hour "
    "hours minute minutes morning afternoon evening night date past future last next first second third other others "
    "same one ones way thing things ende anfang zeit tag tage tagen woche wochen wochenende monat monate monaten jahr "
    "jahre jahren quartal stunde stunden minuten morgen abend nacht datum nächste letzte erste zweite dritte andere "
    "anderen gleichen"
)
_VAGUE: Final = frozenset(_NOUNS.split())
"""Nouns that name no event that a memory could tell of by their help."""
_LED_BY: Final = re.compile(
    r"(?:^|\s)(?:look(?:s|ed|ing)? after|named after|(?:frag(?:e|en|t|te|ten)|gefragt|such(?:e|en|t|te|ten)|gesucht|"
    r"benannt) nach|(?:angst|respekt|warn(?:e|en|t|te|ten)|gewarnt|schütz(?:e|en|t|te|ten)|geschützt) vor)$",
    re.I,
)
"""Words with which *after*, *nach* and *vor* speak of no time."""
_BEFORE_IT: Final = 24
"""Characters before the relation in which such a word is looked for."""
_CHUNK: Final = re.compile(r"\S+")
_MARKS: Final = "([{\"'`„“”‚‘’«»<>*_.,;:!?)]}…"
_ENDS: Final = frozenset('.,;:!?)]}…"“”»')


@dataclass(frozen=True, slots=True)
class Event:
    """An event that a text counts time from.

    Attributes:
        relation: ``before``, ``after``, ``since`` or ``until``.
        first: Character that the expression begins at.
        last: First character after its name as far as the first preposition.
        core: The telling words of that name.
        whole: Those and the ones behind prepositions: the same where there are none.
    """

    relation: str
    first: int
    last: int
    core: tuple[str, ...]
    whole: tuple[str, ...]


def events(text: str, taken: Sequence[tuple[int, int]] = ()) -> tuple[Event, ...]:
    """Return the events that a text counts time from, in its order.

    Args:
        text: A question, in which one space stands between words.
        taken: Stretches of characters that mean something else already: no event begins in one or reaches into one.

    >>> [(one.relation, one.core, one.whole) for one in events("what ran before the migration to Postgres?")]
    [('before', ('migration',), ('migration', 'postgres'))]
    >>> events("since the server is slow, look after the dog until the end")
    ()
    """
    found: list[Event] = []
    for match in _LEAD.finditer(text):
        fused, relation, article = match.groups()
        led = _LED_BY.search(text[max(0, match.start() - _BEFORE_IT) : match.end(2)]) if relation else None
        if led is not None or (article is not None and article.casefold() not in _ARTICLES):
            continue
        event = _named(text, match, _LEADS[(relation or fused).casefold()], taken)
        if event is not None and all(event.last <= first or last <= event.first for first, last in taken):
            found.append(event)
    return tuple(found)


def _named(text: str, lead: re.Match[str], relation: str, taken: Sequence[tuple[int, int]]) -> Event | None:
    """Return the event whose name begins behind a relation and an article; None where no name does."""
    core: list[str] = []
    whole: list[str] = []
    last, joined = lead.end(), False
    for word, end in _words(text, lead.end(), taken):
        if word in _CLAUSE and not joined:
            return None
        if word in _JOINS and core:
            joined = True
        elif not (joined and word in _ARTICLES):
            if word in _CLAUSE or says_nothing(word):
                break
            whole.append(word)
            core, last = (core, last) if joined else ([*core, word], end)
        if len(whole) == MOST_WORDS:
            break
    if not core or core[-1] in _VAGUE or core[-1].isdigit():
        return None
    return Event(relation, lead.start() + (lead.group()[0] in _MARKS), last, tuple(core), tuple(whole))


def _words(text: str, start: int, taken: Sequence[tuple[int, int]]) -> Iterator[tuple[str, int]]:
    """Yield the folded words from a character on, each with its end, as far as the sentence or what is taken."""
    for match in _CHUNK.finditer(text, start):
        raw = match.group()
        bare = raw.rstrip(_MARKS)
        word = fold(bare.lstrip(_MARKS))
        if not word or raw[0] in _ENDS or any(a < match.end() and match.start() < b for a, b in taken):
            return
        yield word, match.start() + len(bare)
        if not _ENDS.isdisjoint(raw[len(bare) :]):
            return
