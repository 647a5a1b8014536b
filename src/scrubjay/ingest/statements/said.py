"""Said: words of a clause about me or us -> its subject, auxiliary, adverbs, verb and rest."""

from __future__ import annotations

from typing import Final, NamedTuple

from scrubjay.ingest.statements.words import (
    ADVERBS,
    AUXILIARY,
    BE,
    CHOSE,
    COUNTS,
    DATED,
    DRAFTS,
    HABIT,
    LIKE,
    NEGATIVE,
    POINTERS,
    TALKED,
    bag,
)

NOTHING: Final = ""
"""Of a rule that knows that there is nothing to keep; None has no say."""
MORE: Final = 3
"""Words after "everything" or "that" from which these are told: "everything in Frankfurt for legal reasons"."""

_CONTRACTED: Final = {"m": "am", "re": "are", "ve": "have", "d": "would", "ll": "will"}
_BARE: Final = {"im": ("i", "am"), "ive": ("i", "have")}
_PERFECT: Final = DATED | CHOSE | bag("been known gone taken become run taught kept done got")
_STRONG: Final = bag(
    """was were had did went came took gave made got saw ran wrote read said told thought knew found felt
    left lost kept held met paid sent spent put cut let set began broke chose drove ate drank flew
    forgot grew heard hid hit hurt led lent lay rode rang rose sold sang sat slept spoke stood stole
    swam taught tore threw understood woke wore won bought brought built caught dealt dug fed fought
    hung laid lit meant quit shot shut slid stuck swept"""
)
"""Verbs whose past has no -ed."""
_PRESENT: Final = bag("need feed speed breed bleed exceed proceed succeed seed embed shed wed heed weed")
"""Verbs that end in -ed all the same."""


class Said(NamedTuple):
    """What a clause says of its subject.

    Attributes:
        aux: The last auxiliary, with a negative as it stands ("can't"); "" for none.
        manner: Adverbs and negatives before the verb.
        verb: The verb, or after "am" and "are" the first word of what one is.
        rest: The words after it.
        text: Verb and rest as text.
        whole: The whole clause as text, with what leads in.
        team: Whether the subject is we.
        named: Whether a name stands in it, known by its capital.
    """

    aux: str
    manner: frozenset[str]
    verb: str
    rest: list[str]
    text: str
    whole: str
    team: bool
    named: bool

    @property
    def pointed(self) -> bool:
        """Whether what it speaks of stands in the talk, or nothing follows."""
        return points(self.rest)

    @property
    def denied(self) -> bool:
        """Whether it says that something is not so."""
        return not self.manner.isdisjoint(("not", "dont", "cant")) or self.aux in ("can't", "cannot", "won't")


def points(rest: list[str]) -> bool:
    """Tell whether an object is missing or stands in the talk.

    >>> [points(words.split()) for words in ("it", "the second one", "option B", "the sea")]
    [True, True, True, False]
    """
    if not rest:
        return True
    word = rest[0]
    if word in ("everything", "anything", "nothing") and len(rest) > MORE:
        return False
    if word in POINTERS or (len(word) == 1 and word not in "ai" and not word.isdigit()):
        return True
    if word not in ("the", "option", "version", "draft") or len(rest) == 1:
        return False
    return rest[1] in DRAFTS or rest[1].isdigit() or (word != "the" and len(rest[1]) == 1)


def past(verb: str) -> bool:
    """Tell whether a verb stands in the past, as far as its form says."""
    return (verb[-2:] == "ed" and verb not in _PRESENT) or verb in _STRONG or verb in DATED or verb in TALKED


def read(words: list[str], at: int, last: int, whole: str, named: bool) -> Said | None:
    """Return what the clause says whose subject is the word `at`; None where no verb follows."""
    subject, _, short = words[at].partition("'")
    subject, aux = _BARE.get(words[at], (subject, _CONTRACTED.get(short, "")))
    manner: set[str] = set()
    at += 1
    while at < last:
        word = words[at]
        if word in ADVERBS or (word in NEGATIVE and word not in AUXILIARY):
            manner.add(word)
        elif word in AUXILIARY and _helps(words, at, last, aux):
            if word in NEGATIVE:
                manner.add("not")
            aux = aux if word in ("do", "don't") else word
        else:
            break
        at += 1
    if at >= last:
        return None
    verb, rest = words[at], words[at + 1 : last]
    if aux in ("have", "has") and (verb == "got" or verb in COUNTS or verb.isdigit()):
        aux, verb, rest = "", "have", rest if verb == "got" else words[at:last]
    return Said(aux, frozenset(manner), verb, rest, " ".join(words[at:last]), whole, subject == "we", named)


def _helps(words: list[str], at: int, last: int, aux: str) -> bool:
    """Tell whether an auxiliary is one here: in "I have two cats" and "I do yoga" it is the verb."""
    word = words[at]
    if aux and aux not in BE and word not in BE and word != "have":
        return False
    if word not in ("have", "has", "had", "do"):
        return True
    after = at + 1
    while after < last and words[after] in ADVERBS:
        after += 1
    if after >= last:
        return False
    if word == "do":
        return (
            after > at + 1 or words[after] in LIKE or words[after] in HABIT or words[after] in ("not", "have")
        )
    return words[after] in _PERFECT or words[after][-2:] == "ed"
