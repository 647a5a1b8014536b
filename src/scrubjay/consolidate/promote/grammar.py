"""Grammar: str -> tuple[Claim, ...]. What is said of one thing in so plain a form that it is an attribute of it.

Few forms are known (``forms``), all of them of one clause from its first word on: "my X is Y", "our X's Y is Z", "X
lives in Y", "the X is on port Y", "we use Y for X". What is denied, supposed, over or a mood of the day is no
attribute, nor is a value that only points elsewhere ("the same as before"). All words of a claim stand in the clause.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from scrubjay.consolidate.promote.forms import (
    ASIDE,
    ATTRIBUTE,
    CLAUSE,
    DOUBT,
    EMPTY,
    END,
    FAVOURITE,
    LEAD,
    PORT,
    RELATION,
    RELATIONS,
    TELLING,
    USE,
)
from scrubjay.consolidate.promote.words import ATTRIBUTES, KIN, NOBODY, RANKS
from scrubjay.text.folding import typographic

MOST_WORDS: Final = 30
"""Words of a clause that says one thing of one thing."""
MOST_VALUE: Final = 8
MOST_NAME: Final = 4
PERSONAL: Final = frozenset(("i", "me", "my", "mine"))

_ABOUT_PEOPLE: Final = frozenset(("lives in", "works", "works as", "is from"))
_ARTICLE = re.compile(r"(?:the|our|this|all) (?=\w)", re.IGNORECASE)
_OF_NOW = re.compile(r"(?:current|new|actual|present) (?=\w)")
_AM = re.compile(r"(?:am|'m|'re) ")


@dataclass(frozen=True, slots=True)
class Claim:
    """An attribute of one thing.

    Attributes:
        entity: What it is said of, in the clause's words.
        attribute: What is said of it.
        value: What that is.
        slot: Names entity and attribute however they are worded; of two claims of one slot one is true at a time.
        personal: Whether it is said of the speaker or of somebody or something that is theirs.
    """

    entity: str
    attribute: str
    value: str
    slot: tuple[str, str]
    personal: bool


def claims(sentence: str) -> tuple[Claim, ...]:
    """Return the claims of one sentence, in order.

    >>> [(claim.entity, claim.attribute, claim.value) for claim in claims("The staging server is on port 8443.")]
    [('staging server', 'port', '8443')]
    """
    plain = typographic(" ".join(sentence.replace("**", "").split()))
    found = []
    for clause in CLAUSE.split(plain):
        lead = LEAD.match(clause)
        said = clause[lead.end() :] if lead else clause
        if said and len(said.split()) <= MOST_WORDS and not DOUBT.search(said):
            found += [claim for claim in _read(said) if claim is not None][:1]
    return tuple(found)


def _read(said: str) -> Iterator[Claim | None]:
    """Yield what each form makes of a clause, the surest form first."""
    for form, read in ((PORT, _of_port), (USE, _of_use), (RELATION, _of_relation), (ATTRIBUTE, _of_is)):
        match = form.match(said)
        if match:
            yield read(match)


def _of_port(match: re.Match[str]) -> Claim | None:
    return _claim(match["who"], match["attribute"], match["value"], "port")


def _of_use(match: re.Match[str]) -> Claim | None:
    return _claim(_value(match["who"]), match["attribute"], match["value"], "use")


def _of_relation(match: re.Match[str]) -> Claim | None:
    number, relation = next((n, name) for n, name in enumerate(RELATIONS) if match[f"r{n}"])
    who, value = match["who"], _value(match["value"])
    if relation in _ABOUT_PEOPLE:
        value = ASIDE.sub("", value)
        if relation != "works as" and not TELLING.search(value):
            return None
    if relation in ("is on", "is at") and who[:3].lower() == "my ":
        return _claim(who[:2], who[3:], value, who[3:].lower())
    return _claim(who, _AM.sub("", match[f"r{number}"], count=1), value, relation)


def _of_is(match: re.Match[str]) -> Claim | None:
    who, attribute, value = match["who"], match["attribute"], _value(match["value"])
    if match["of"]:
        who = match["of"]
    elif who.lower() in ("the", "our"):  # "the grant deadline" is the deadline of the grant
        who, _, attribute = attribute.rpartition(" ")
        if not who:
            return None
    words = attribute.lower().split()
    if words[-1] not in ATTRIBUTES and not FAVOURITE.match(attribute) and not TELLING.search(value):
        return None
    if words[0] in RANKS or (words == ["budget"] and not match["of"]):
        return None
    if words[-1] in KIN and not value[:1].isupper():
        return None
    return _claim(who.removesuffix("'s"), attribute, value, attribute.lower())


def _value(text: str) -> str:
    return END.sub("", text.rstrip(" .!,;")).strip(" .!,;")


def _claim(who: str, attribute: str, value: str, slot: str) -> Claim | None:
    entity, value = _ARTICLE.sub("", who, count=1), _value(value)
    if entity[:2] == "My" and entity[2:3] in ("", " "):
        entity = f"my{entity[2:]}"
    named = f"{entity} {attribute}".lower().split()
    if not entity or not value or EMPTY.match(value) or not NOBODY.isdisjoint(named):
        return None
    if (
        len(entity.split()) > MOST_NAME
        or len(attribute.split()) > MOST_NAME
        or len(value.split()) > MOST_VALUE
    ):
        return None
    if not {"is", "are"}.isdisjoint(named[:-2]):  # a clause within it: not read rightly
        return None
    return Claim(entity, attribute, value, (entity.lower(), _OF_NOW.sub("", slot)), named[0] in PERSONAL)
