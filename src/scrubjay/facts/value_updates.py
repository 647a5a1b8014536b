"""Value updates: may a later remark give the same thing another value, though it states no fact by itself?

"The midwife is stricter now: under 130" after "my midwife says pulse under 140" supersedes nothing: neither is a
statement that `facts.supersession` could compare. It is a guess from three signs: the later one says that something is
new, both name the same thing, and their values are of one kind. So both stay, and an answer gives the later one first.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from typing import Final

from scrubjay.facts.lexicon import shared_language
from scrubjay.facts.quantities import UNITS, parse_pieces
from scrubjay.facts.supersession import ALSO, CHANGED, LASTING, NOW, RELATIVES
from scrubjay.facts.supersession_guards import is_uncertain
from scrubjay.text.dialogue import sentences
from scrubjay.text.language import is_uninformative
from scrubjay.text.normalize import word_set
from scrubjay.text.tokenizer import stem_word

_NEW: Final = re.compile(r"\b(?:new|neue?[mnrs]?)\b")
_LIMITS: Final = word_set(
    "up no under over below above to than most least max maximum unter über bis höchstens mindestens maximal"
)
"""Words before the number of a limit: "under 130", "no more than 20"."""
_CONTACTS: Final = {
    "mail address": re.compile(r"\S{1,60}@\S{1,60}\w"),
    "street": re.compile(
        r"\b[\w-]{0,40}(?:stra(?:ß|ss)e|str\.|weg|allee|platz|gasse|ring|damm|ufer) \d{1,4}\b"
        r"|\b\d{1,4} (?:\w{2,20} ){1,2}(?:street|road|lane|avenue|drive|st\.|rd\.|close|square)(?!\w)"
    ),
    "telephone": re.compile(r"(?<![\w.,])\+?\d(?:[ ()/-]{0,2}\d){6,14}(?![\w.,]\d)"),
}
"""Values of which a person has one and that need no name: an address is one by its form."""
_OWN_CONTACT: Final = re.compile(
    r"\W*(?:(?:please|bitte|ok|hi|also|update|from now on|ab (?:jetzt|sofort)|künftig)\b\W*)*"
    r"(?:(?:(?:my|our|the|meine?|unsere?|die) )?(?:(?:new|neue) )?(?:(?:phone|mobile|cell) )?"
    r"(?:number|address|e-?mail(?: address)?|(?:handy|telefon|mobil)?nummer|(?:mail)?adresse)\b"
    r"|(?:i|we|ich|wir)\b.{0,40}\b(?:live|moved(?! (?:the|a|an|my|our|it|them)\b)|lebe|wohnen?|\w*gezogen)\b"
    r"|(?:send|ship|deliver|forward|write|schick\w*|send\w*|liefer\w*|schreib\w*)"
    r"(?! (?:the|an?|this|that|her|his|their|die|den|das|eine?n?|ihre?n?|seine?n?)\b))"
)
"""Beginnings of sentences that say where somebody lives or is reached."""
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_OWNED: Final = re.compile(
    r"\b(?!(?:it|that|there|here|what|let|he|she)\b)(\w+)'s\b"
    r"|\b(?:of|for|von|vom|für) (?:(?:the|my|our|a|der|dem|den|die|das|mein\w*) )?(\w+)"
)
"""Whose or of which thing a value is: "the rent of the garage"."""
_SUBJECT: Final = re.compile(
    r"\W*(?:the|our|my|der|die|das|unsere?|meine?) ([\w-]+)|.*\b(?:new|neue[mnrs]?) ([\w-]+)"
)
"""The thing that a sentence begins with, or that it calls new."""


def may_update_value(old: str, new: str) -> bool:
    """Return whether the later remark may give another value of what the earlier one is about.

    >>> may_update_value("My midwife says pulse under 140.", "The midwife is stricter now: under 130.")
    True
    >>> may_update_value("The rent is 900 euros.", "The rent of the garage is 60 euros now.")
    False
    """
    before, after = old.lower().replace("’", "'"), new.lower().replace("’", "'")
    if not (NOW.search(after) or CHANGED.search(after) or _NEW.search(after)):
        return False
    if LASTING.search(after) or ALSO.search(after) or is_uncertain(old, new):
        return False
    if set(RELATIVES.findall(before)) != set(RELATIVES.findall(after)):
        return False
    language = shared_language(old, new)
    values, later_values = _values(before, language), _values(after, language)
    differing = {
        kind for kind in values.keys() & later_values.keys() if values[kind].isdisjoint(later_values[kind])
    }
    terms, later_terms = _terms(before, language), _terms(after, language)
    if not differing or {stem_word(one or other, language) for one, other in _OWNED.findall(after)} - terms:
        return False
    if not differing.isdisjoint(_CONTACTS):
        return all(any(map(_OWN_CONTACT.match, sentences(text))) for text in (before, after))
    subject = _SUBJECT.match(after)
    is_other = subject is not None and _terms(subject[1] or subject[2], language).isdisjoint(terms)
    if is_other and not CHANGED.search(after):
        return False
    return bool((terms & later_terms) - differing)


def _terms(text: str, language: str) -> set[str]:
    words = {word for word in _WORD.findall(text) if word not in UNITS and not is_uninformative(word)}
    return {stem_word(word, language) for word in words}


@lru_cache(1_000)
def _values(text: str, language: str) -> dict[str, frozenset[str]]:
    """Return the values of each kind: contacts by their form, dates and times, and amounts by unit, noun or limit."""
    values: defaultdict[str, set[str]] = defaultdict(set)
    rest = text
    for kind, form in _CONTACTS.items():
        values[kind] = set(form.findall(rest))
        rest = form.sub(" ", rest)
    for piece in parse_pieces(rest, language)[0]:
        if piece.day is not None:
            parts = {
                "clock": piece.day.minute,
                "date": piece.day.day and (piece.day.month, piece.day.day),
                "weekday": piece.day.weekday,
            }
            for kind, part in parts.items():
                if part is not None:
                    values[kind].add(str(part))
        elif piece.number is not None and not piece.number.names:
            before, after = piece.number.near
            if piece.number.unit:
                values[piece.number.unit].add(piece.number.key)
                continue
            if before.lower() in _LIMITS:
                values["limit"].add(piece.number.key)
            if after:
                values[stem_word(after, language)].add(piece.number.key)
    return {kind: frozenset(found) for kind, found in values.items() if found}
