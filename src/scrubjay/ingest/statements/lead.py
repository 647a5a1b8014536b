"""Lead: words of a clause -> where it begins to say something, after "by the way" and "last week"."""

from __future__ import annotations

from typing import Final

from scrubjay.ingest.statements.words import FIRST, bag

FAR: Final = 8
"""Words a time or place before the subject may have: "after two years in the lab we"."""

_ALONE: Final = bag(
    """oh er erm uhm soo sooo soooo ok okay well so and but also plus btw fyi just important context
    background reminder since because cause cuz as given although though whereas basically honestly
    actually anyway anyways hi hello hey thanks thx hmm hm um uh yes yeah yep yup sure right no nope nah
    sorry wait unfortunately luckily fortunately sadly update look see listen personally guys man dude
    yesterday nowadays lately recently currently eventually meanwhile previously originally today
    secondly then while first now heads-up note ps p.s edit team all there yet - -- ; ( ) & + . ... tbh
    imo fwiw obviously"""
)
_LEADS: Final = """
by the way; the thing you need to know is that; what you need to know is that; the important thing is that;
the important bit is that; you need to know that; you should know that; the point is that; mind you; one
thing; two things; as it happens; in my case; on my side; it turns out; at my age; for context; for some
context; for reference; for background; for the record; for your information; just so you know; so you know;
to be clear; to be honest; to be fair; please note that; please note; note that; please remember that; please
remember; remember that; remember; please keep in mind that; keep in mind that; keep in mind; bear in mind
that; be aware that; note to self; heads up; i should mention that; i should mention; i should add that; i
should add; i should say that; i should say; i forgot to mention that; i forgot to mention; i forgot to say;
forgot to mention; forgot to say; i already told you that; i already told you; i told you that; i told you; i
mentioned that; i mentioned; as i said before; as i said; as i mentioned; like i said; as you know; in case it
matters; in case it helps; given that; now that; seeing as; even though; hey there; hi there; good morning;
good afternoon; good evening; thank you; good news; quick update; you know; the thing is; thing is; turns out;
guess what; fun fact; one more thing; another thing; for me; my bad; these days; at present; at the end; in
the end; after all; until now; so far; first of all; that said; more context; some context; a bit of context;
some background; did i mention that; did i mention; not sure if it matters; for what it's worth; in general;
as a rule; a bit about me; about me; little background; between us; before you ask; all in all; at our place;
at home; at work
"""
"""What only leads in, between semicolons."""
_PHRASES: Final = sorted((phrase.split() for phrase in _LEADS.split(";")), key=len, reverse=True)
_BY_WORD: Final = {first: [p for p in _PHRASES if p[0] == first] for first, *_ in _PHRASES}
_KNOWING: Final = bag(
    """realized realised remembered glad happy excited proud know noticed remember relieved recall"""
)
_SLOWLY: Final = bag("just am so really also actually only now recently finally")
_WHEN: Final = bag(
    """in on at for after before during about around over last this every as of from back two three four
    five six a few several some once one until till earlier speaking just with under within here since"""
)
_NOT_BETWEEN: Final = bag("you what how if that who which when i'd he she they") | FIRST


def lead(words: list[str], first: int, last: int) -> int:
    """Return the word at which a clause begins to say something.

    >>> lead("by the way last week we moved".split(), 0, 7)
    5
    """
    at = first
    while at < last:
        phrases = _BY_WORD.get(words[at])
        phrase = next((p for p in phrases if words[at : at + len(p)] == p), None) if phrases else None
        if phrase:
            at += len(phrase)
        elif words[at] in _ALONE:
            at += 1
        else:
            break
    at = _known(words, at, last)
    if at < last and (words[at] in _WHEN or words[at].isdigit()):
        for later in range(at + 1, min(at + FAR, last)):
            if words[later] in ("my", "our") and later == at + 1:
                continue
            if words[later] in FIRST and (later > at + 1 or words[at] in ("since", "as")):
                return later
            if words[later] in _NOT_BETWEEN:
                break
    return at


def _known(words: list[str], at: int, last: int) -> int:
    """Return where it goes on after "I just realised that"."""
    if at + 2 >= last or words[at] not in ("i", "i'm", "we", "we're", "i've"):
        return at
    on = at + 1
    while on < last and words[on] in _SLOWLY:
        on += 1
    if on < last and words[on] in _KNOWING:
        on += 1
        on += on < last and words[on] == "that"
        if on < last and words[on] in FIRST:
            return on
    return at
