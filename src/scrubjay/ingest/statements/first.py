"""First: words of a clause whose subject is I or we -> the rule that finds a lasting statement in it, or None.

A clause is read as subject, auxiliaries, adverbs, verb, rest. What the verb is decides which rule is asked; a
rule looks at the rest: "I like tea" is a preference, "I like the second one" is not.
"""

from __future__ import annotations

from typing import Final

from scrubjay.ingest.statements.being import being
from scrubjay.ingest.statements.doing import doing, will
from scrubjay.ingest.statements.events import has_done
from scrubjay.ingest.statements.said import read
from scrubjay.ingest.statements.times import FROM_NOW
from scrubjay.ingest.statements.words import ABSTAIN, BE, DATED, LIFE, LIKE, TALKED, bag

LEFT_OUT: Final = (
    LIFE
    | DATED
    | bag(
        """allergic intolerant vegetarian vegan diagnosed decided lactose prefer hate live work born tore
        lost met"""
    )
) - bag(
    """set cut saw read quit passed cancelled stopped led spent got had dropped released built closed
    opened created shipped enabled disabled merged deployed"""
)
"""What begins a statement about its writer who leaves the I out, and is no order."""
_TRAITS: Final = bag("allergic intolerant vegetarian vegan lactose born married")
_OBJECT: Final = bag("my our a an the to from in at with two three out up")
_ELIDED: Final = bag(
    """got live work living working based study own hate dislike detest prefer can't cant cannot don't never
    grew used"""
)
"""What begins a statement whose I was left out, where what follows bears it out."""
_COUNTED: Final = bag("a an two three four five my") | frozenset("23456789")
_ABSTAINED: Final = bag(
    "eat drink stand have do like swim drive tolerate fly smoke digest bear learnt learned"
)
_COMES_IN: Final = bag(
    """email mail call letter text message notice warning error reply response refund ticket fine meeting
    deadline test exam
    quiz problem question bug 404 403 500 weird strange new minute sec second bit lot few chance cold flu
    headache idea"""
)
_BEFORE: Final = bag("just recently finally also currently been still")


def _elided(words: list[str], at: int, last: int) -> bool:
    """Tell whether what has no subject is said of its writer: "live in Oslo", "got two kids", "can't eat nuts"."""
    verb, after = words[at], words[at + 1]
    if verb == "got":
        return after in _COUNTED and at + 2 < last and _COMES_IN.isdisjoint(words[at + 1 : at + 5])
    if verb in ("can't", "cant", "don't", "never", "cannot"):
        return after in _ABSTAINED
    if verb in ("live", "work", "living", "working", "based", "study", "own"):
        return (
            after in ("in", "at", "for", "as", "nights", "remotely", "with", "near", "on", "a", "two", "from")
            and last - at > 2
        )
    return after in ("a", "an", "to", "my", "being", "when", "the") or after[-3:] == "ing" or last - at > 1


def first(words: list[str], at: int, last: int, start: int, named: bool) -> str | None:
    """Return the rule that a clause about me or us falls under.

    Args:
        words: All words.
        at: The subject.
        last: The word after the clause's last.
        start: The clause's first word: "last May" may stand before the subject.
        named: Whether a name, known by its capital, stands after the first word.
    """
    said = read(words, at, last, " ".join(words[start:last]), named)
    if said is None:
        return None
    if FROM_NOW.search(said.whole):
        return "from now"
    if said.aux in BE:
        return being(said)
    if said.aux in ("have", "has", "had"):
        return has_done(said)
    if said.aux in ("will", "would", "won't"):
        return will(said)
    if said.aux == "can" or (
        said.aux in ("can't", "cannot") and said.verb not in ABSTAIN and said.verb not in LIKE
    ):
        return None
    return doing(said)


def unsubjected(words: list[str], at: int, last: int, named: bool) -> str | None:
    """Return the rule that a clause falls under whose writer left the I out: "Tore my rotator cuff in 2022"."""
    while at < last and words[at] in _BEFORE:
        at += 1
    if at >= last:
        return None
    verb = words[at]
    if verb in _ELIDED and words[at + 1 : at + 2] and _elided(words, at, last):
        said = ["have", *words[at + 1 : last]] if verb == "got" else words[at:last]
        return first(["i", *said], 0, len(said) + 1, 0, named)
    if verb not in LEFT_OUT:
        done = (
            verb[-2:] == "ed"
            and verb.isalpha()
            and verb not in TALKED
            and at + 2 < last
            and words[at + 1] in _OBJECT
        )
        if not done:
            return None
    return first(["i'm" if verb in _TRAITS else "i", *words[at:last]], 0, last - at + 1, 0, named)
