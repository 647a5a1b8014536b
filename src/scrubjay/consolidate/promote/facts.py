"""Facts: Record -> Iterator[str]. The sentences of a record that could be a fact: a person's statements, plain notes.

Of a person's turn they are what is learned from it (``ingest/statements/learnable``), and nothing more.
Of a dated note they are the sentences that say
by themselves what is so: neither a question nor a task, of no passing day, about something that has a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from typing import Final

from scrubjay.consolidate.promote.drawn import spoken, usable
from scrubjay.consolidate.verbatim import verbatim
from scrubjay.ingest.concepts.ordinary import rank
from scrubjay.ingest.statements.learnable import learnable
from scrubjay.memory.records import Record
from scrubjay.text.folding import fold, typographic
from scrubjay.text.languages import function_words
from scrubjay.text.stems import stem

KINDS: Final = ("decision", "fact")
"""Kinds of statements that are facts; the others are lessons and procedures."""
READ: Final = 50_000
"""Characters of a record that are read."""
LEAST_WORDS: Final = 4
MOST_WORDS: Final = 40
RARE: Final = 4_000
"""Rank in English of a word that names what a sentence is about, where there is no name in it."""
KEYED: Final = 3
"""Words that a sentence is looked up by, two at a time: the rarest ones. A sentence near to it shares two of them."""

_WORD = re.compile(r"\w+(?:[.'/:_-]\w+)*")
_SAYS = re.compile(
    r"\b(?:is|are|was|were|has|have|must|cannot|can't|can|needs|requires|costs|takes|supports|stores|listens|expires|runs|"
    r"uses|use|lives|works|owns|contains|holds|serves|deploys|run|live|need|require|moved|chose|decided|switched|agreed|replaced|returns|means|"
    r"doesn't|does not|don't|do not|allows|accepts|belongs|depends|starts|ends|opens|closes|reports|handles|keeps)\b",
    re.IGNORECASE,
)
_LOOSE = re.compile(
    r"\s*[\"'(*_]*(?:it|its|it's|this|that|that's|these|those|they|he|she|his|her|their|there|here|you|your|which|who|"
    r"what|why|how|when|where|if|let|let's|please|maybe|perhaps|and|but|so|or|then|because|also|however|todo|fix|check|"
    r"ask|call|remember)\b",
    re.IGNORECASE,
)
"""How a sentence begins that does not stand by itself, or is a task."""
_PASSING = re.compile(
    r"\b(?:today|tonight|yesterday|tomorrow|now|currently|recently|lately|initially|soon|so far|just|still|again|"
    r"actually|(?:this|last|next) (?:week|weekend|month|morning|night|afternoon|evening|[a-z]{3,6}day)|"
    r"(?:week|month|day|year)s? ago|for (?:a while|weeks|months)|ended up|planning|getting|craving|experiencing|feel|"
    r"feeling|maybe|probably|perhaps|might|seems?|tired|busy)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?<=.)[\s\"'(](?:[A-HJ-Z]|[^\s\d\"'(]*+\d|`)|\w[/._:]\w", re.DOTALL)
_JOINED = re.compile(r"(?:and|but|so|or|because|then)\b", re.IGNORECASE)
_OWN = re.compile(r"\s*(?:i|i'm|i've|we|we're|we've|my|our|me)\b", re.IGNORECASE)


def facts(record: Record) -> Iterator[str]:
    """Yield the sentences of a record that could be a fact, as they stand there, white space made even."""
    if record.tier != "observation" or not usable(record):
        return
    if spoken(record):
        stated = (said.text for said in learnable(record.content) if said.kind in KINDS)
        yield from (
            text for text in stated if not (_PASSING.search(text) or _JOINED.match(text)) and _tells(text)
        )
    elif noted(record):
        yield from (text for text in verbatim(record.content[:READ]) if _states(text))


def noted(record: Record) -> bool:
    """Tell whether a record is of a dated note."""
    return record.session is None and record.event is not None and record.origin in ("owner", "agent")


def telling(text: str) -> list[str]:
    """Return the words of a text in order, folded, without those that any text has."""
    said = ((word, word.partition("'")[0]) for word in _WORD.findall(fold(typographic(text))))
    return [
        word for word, bare in said if bare not in function_words("en") and (len(bare) > 1 or bare.isdigit())
    ]


def words(text: str) -> frozenset[str]:
    """Return what a sentence speaks of: its words by stem, without those that any sentence has."""
    return frozenset(map(_told, telling(text)))


def keys(text: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs of words that a sentence is looked up by.

    A number is no key while there are words, so that what says another number of the same is found too.
    """
    rarest = sorted(set(telling(text)), key=lambda word: (any(map(str.isdigit, word)), -rank(word), word))
    first = [*dict.fromkeys(map(_told, rarest))][:KEYED]
    return tuple((min(pair), max(pair)) for pair in combinations(first * 2 if len(first) == 1 else first, 2))


def plain(text: str) -> str:
    """Return a sentence as its words alone: what differs in marks and capitals only is the same sentence."""
    return " ".join(_WORD.findall(fold(typographic(text))))


@lru_cache(65_536)
def _told(word: str) -> str:
    return stem(word, "en")


def _tells(text: str) -> bool:
    """Tell whether a sentence names something, or says a rare word: "I'm a huge fan" is of everything."""
    return _NAMED.search(text) is not None or max(map(rank, telling(text)), default=0) >= RARE


def _states(text: str) -> bool:
    count = len(text.split())
    if not LEAST_WORDS <= count <= MOST_WORDS or "?" in text or _LOOSE.match(text) or _PASSING.search(text):
        return False
    if _OWN.match(text):
        return any(said.kind in KINDS for said in learnable(text))
    return _SAYS.search(text) is not None and _tells(text)
