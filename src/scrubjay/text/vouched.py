"""Vouched: (claim, source) -> the stretch of the source that says the claim, or None.

A claim is what a language model made of a text; it is believed as far as the text says it in the same words and
the same order. What may differ: case, articles and fillers ("uh", "actually"), a person who says "I" being "the
user" (and "live" then "lives"), "don't" being "do not". So no number, date, name or negation can be put in, taken out
or moved. The stretch begins and ends where a clause does: "I would" and "if" cannot be cut off it, nor can what a
sentence doubts, asks or denies elsewhere be passed over. It refuses much that is true; a wrong claim is worse.

It does not know what a memory is, nor which sentences are worth one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from scrubjay.text.reworded import ME, MINE, Word, bag, reworded, words

LEAST: Final = 3
"""Words of a claim; fewer state nothing."""
MOST: Final = 80
"""Words of a claim; nobody says one thing at such length."""


NEGATIONS: Final = bag(
    """not no never none nobody nothing nowhere neither nor without hardly barely scarcely seldom rarely cannot
    n't non kein keine keinen keiner nicht nie niemals ohne ni ne pas jamais aucun aucune sans sin nunca jamás
    ningún ninguna nada nadie não nunca jamais nenhum nenhuma sem nem mai nessun nessuna senza niet geen nooit"""
)
"""Words that deny; of some common languages, for in all others a claim can hold only the source's own words too."""
_ALWAYS_DENY: Final = bag("neither nor nobody none")
_LIMITS: Final = bag(
    """if unless when whenever until till would could should might may maybe perhaps probably possibly wish wished
    hope hoping suppose supposing imagine pretend pretending almost nearly except only sometimes occasionally
    apparently supposedly allegedly provided assuming wenn falls vielleicht si quizás quizá tal vez peut-être se
    talvez forse"""
)
"""Words that bound what their sentence says: a claim from it that leaves one of them out says more."""
_JOINS: Final = bag("and but so because since although though whereas plus")
"""Words after which a clause may begin."""
_ENDS: Final = bag("but because since although though whereas")
"""Words before which a clause ends, whatever follows."""
_CALLS: Final = bag("remember note")
"""Words whose "that" hands on what is so, not what is thought."""
_SUBJECTS: Final = frozenset((ME, MINE)) | bag("it he she they there this these")


class Stretch(NamedTuple):
    """A stretch of a source: its first character and the one after its last."""

    start: int
    end: int


def vouched(claim: str, source: str, *, person: bool = True, within: Stretch | None = None) -> Stretch | None:
    """Return the stretch of a source that says a claim, or None where none does.

    Args:
        claim: What is claimed.
        source: What was said, in the words of one speaker.
        person: Whether the speaker is the user; else "I" stays "I".
        within: Where in the source it must stand; its negations must then be in the claim, all of them.

    >>> said = "Well, I live in Porto and I don't eat fish. If I moved, I would miss it."
    >>> [said[slice(*found)] for found in [vouched("The user doesn't eat fish", said)] if found]
    ["I don't eat fish"]
    >>> vouched("The user eats fish", said), vouched("The user would miss it", said)
    (None, None)
    """
    claimed = [word.text for word in words(claim, person=person, claim=True)]
    if not LEAST <= len(claimed) <= MOST:
        return None
    said = words(source, person=person)
    inside = within or Stretch(0, len(source))
    for at in range(len(said) - len(claimed) + 1):
        run = said[at : at + len(claimed)]
        if run[0].start < inside.start or run[-1].end > inside.end:
            continue
        if _same(claimed, said, at) and _whole(said, at, at + len(claimed)):
            quoted = [word for word in said if inside.start <= word.start and word.end <= inside.end]
            if within is None or denials(quoted) == denials(run):
                return Stretch(max(run[0].lead, inside.start), run[-1].end)
    return None


def denials(said: Sequence[Word]) -> int:
    """Return how many words deny."""
    return sum(word.text in NEGATIONS for word in said)


def numbers(said: Sequence[Word]) -> set[str]:
    """Return the words that hold a digit."""
    return {word.text for word in said if any(character.isdigit() for character in word.text)}


def _same(claimed: Sequence[str], said: Sequence[Word], at: int) -> bool:
    return all(
        word == said[at + number].text or reworded(word, said, at + number)
        for number, word in enumerate(claimed)
    )


def _whole(said: Sequence[Word], first: int, last: int) -> bool:
    """Tell whether words are clauses of their own, which nothing else in their sentence takes back."""
    begin = next((at for at in range(first, 0, -1) if said[at].begins), 0)
    end = next((at for at in range(last, len(said)) if said[at].begins), len(said))
    return (
        _starts(said, begin, first)
        and _stops(said, last, end)
        and not any(word.asks for word in said[begin:end])
        and _plain(said[begin:first], said[last:end], said[first])
    )


def _starts(said: Sequence[Word], begin: int, first: int) -> bool:
    """Tell whether a clause begins here, whose subject is not that of another."""
    if first == begin:
        return True
    before = said[first - 1]
    called = before.text == "that" and first - 2 >= begin and said[first - 2].text in _CALLS
    return (before.breaks or before.text in _JOINS or called) and said[first].text in (ME, MINE)


def _stops(said: Sequence[Word], last: int, end: int) -> bool:
    """Tell whether a clause ends before the word `last`."""
    if last == end or said[last - 1].breaks or said[last].text in _ENDS:
        return True
    return said[last].text in _JOINS and last + 1 < end and said[last + 1].text in _SUBJECTS


def _plain(before: Sequence[Word], after: Sequence[Word], head: Word) -> bool:
    """Tell whether the rest of a sentence neither bounds nor denies what stands between."""
    rest = {word.text for word in (*before, *after)}
    if rest & _LIMITS or rest & _ALWAYS_DENY:
        return False
    if denials(before) and head.text not in (ME, MINE):
        return False
    # What is denied after it is something else only where somebody is named anew: "..., and I don't smoke".
    denied = next((at for at, word in enumerate(after) if word.text in NEGATIONS), None)
    return denied is None or any(word.text in _SUBJECTS for word in after[:denied])


SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|\n+")
"""What parts the claims of a text."""


def unvouched(text: str, source: str, *, person: bool = True) -> list[str]:
    """Return the claims of a text that a source does not say; all of it where it drops a denial or a number.

    Args:
        text: What a language model made of the source.
        source: The source, in the words of one speaker.
        person: Whether the speaker is the user.
    """
    claims = [claim for claim in SENTENCE.split(text) if claim.strip()]
    new, old = words(text, person=person, claim=True), words(source, person=person)
    if denials(new) != denials(old) or numbers(new) != numbers(old):
        return [text]
    return [claim for claim in claims if vouched(claim, source, person=person) is None]
