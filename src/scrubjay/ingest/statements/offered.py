"""Offered: str -> Iterator[Offer]: the clauses of a turn that may be kept, each with its rule and its signs.

``prose`` leaves out what others wrote, ``clauses`` cuts, ``veto`` drops what is asked, supposed, told, played or taken
back, and ``judged`` names the rules of what remains. Whether it is kept is not decided here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from scrubjay.ingest.statements.carried import PEOPLE
from scrubjay.ingest.statements.clauses import asks, clauses
from scrubjay.ingest.statements.cues import said_for_itself
from scrubjay.ingest.statements.judged import Seen, known_to_all, look, of_clause, of_them, of_whole, signs_of
from scrubjay.ingest.statements.marks import IF, TELLS
from scrubjay.ingest.statements.prose import prose
from scrubjay.ingest.statements.reading import Words, read, sentences
from scrubjay.ingest.statements.signs import BITS, ORDERS, of_turn
from scrubjay.ingest.statements.veto import earnest, told, unreal, unsaid
from scrubjay.ingest.statements.wishes import noted
from scrubjay.ingest.statements.words import bag

_OURS: Final = bag("we our we're we've ours my")
"""Who speaks of these also tells of their own world when they name a thing with "the"."""
_ONLY: Final = 0.9
"""Share of the words that a turn tells from which a sentence is all of it."""
_KNOWN: Final = frozenset(("the", "a", "an", "he", "she", "they"))
"""What is said of these before a question belongs to the question: "the train leaves at 9, when do I get up?"."""


class Offer(NamedTuple):
    """A clause that may be kept.

    Attributes:
        said: The words of the turn.
        first: Its first word.
        last: The word after its last.
        rule: The rule that knows it; "" for none.
        signs: Its signs.
        only: Whether the turn tells nothing beside its sentence, what it asks left out.
    """

    said: Words
    first: int
    last: int
    rule: str
    signs: int
    only: bool = False


def offered(text: str) -> Iterator[Offer | None]:
    """Yield the clauses of a turn that may be kept, in order; None where the one before is taken back."""
    plain = prose(text)
    said = read(plain, len(plain))
    limit = earnest(plain, frozenset(said.words))
    turn = of_turn(text, plain, said.words)
    ours = not _OURS.isdisjoint(said.words)
    person = False
    parts = list(sentences(said))
    told_words = sum(last - first for first, last, asked in parts if not asked)
    for first, last, asked in parts:
        if said.starts[first] >= limit:
            break
        if unsaid(plain, said.starts[first], said.ends[last - 1]):
            yield None
        for offer in _of_sentence(text, said, first, last, asked, person, turn):
            person = offer.rule in PEOPLE if offer.rule else person
            if said.ends[offer.last - 1] <= limit and (ours or offer.rule != "at large"):
                yield offer._replace(only=last - first >= _ONLY * told_words)


def _of_sentence(
    text: str, said: Words, first: int, last: int, asked: bool, person: bool, turn: int
) -> Iterator[Offer]:
    ordered = said.words[first] in ORDERS and not said_for_itself(said.words[first:last])
    if ordered or asks(said.words, first, last):
        return
    parts = clauses(said, first, last, asked)
    parts = parts[: next((number for number, clause in enumerate(parts) if clause.asked), len(parts))]
    if not parts:
        return
    whole = of_whole(said, parts)
    if whole:
        clause, rule = whole
        yield _offer(look(text, said, clause), rule, turn, first)
        return
    settled = supposed = False
    for clause in parts:
        seen = look(text, said, clause)
        words, end = seen.words, seen.end
        if seen.marks & TELLS and told(said.text, seen.start, end, words):
            return
        supposed = supposed or seen.marks & IF > 0 or "unless" in words[:3]
        rule = "noted" if settled else of_clause(seen, supposed) or ""
        if not rule and person and not supposed:
            rule = of_them(seen) or ""
        person = rule in PEOPLE
        settled = noted(said.text, seen.start, said.starts[clause.last - 1] + len(words[-1]))
        if settled or (not rule and (supposed or (asked and words[0] in _KNOWN) or known_to_all(text, seen))):
            continue
        if unreal(said.text, said.starts[first], end, said.words[first : clause.last + 1]):
            return
        yield _offer(seen, rule, turn, first)


def _offer(seen: Seen, rule: str, turn: int, first: int) -> Offer:
    signs = signs_of(seen) | turn
    if seen.first == first:
        signs |= BITS["first"]
    if seen.first == 0:
        signs |= BITS["opens turn"]
    if seen.last == len(seen.said.words):
        signs |= BITS["ends turn"]
    return Offer(seen.said, seen.first, seen.last, rule, signs | BITS["rule"] if rule else signs)
