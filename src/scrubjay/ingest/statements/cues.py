"""Cues: str -> whether a turn holds a word without which nothing in it is ever kept.

Most turns are orders and questions about what they bring along. They are told apart before anything is cut.
"""

from __future__ import annotations

from typing import Final

from scrubjay.ingest.statements.first import LEFT_OUT
from scrubjay.ingest.statements.foreign import OPENINGS
from scrubjay.ingest.statements.labelled import LABELS
from scrubjay.ingest.statements.process import STARTS
from scrubjay.ingest.statements.things import KIN
from scrubjay.ingest.statements.words import FIRST, NEGATIVE, STATES, TRAITS, bag

_MARKS: Final = ".,;:!?()[]{}\"'*_~`<>#¿¡…"
_CUES: Final = (
    FIRST
    | STATES
    | TRAITS
    | KIN
    | LEFT_OUT
    | OPENINGS
    | LABELS
    | NEGATIVE
    | bag(
        """me us mine ours always never ever let's lets call before after when whenever every each if wrong correction
        actually meant over any all default to unless stop mum's dad's mom's got he's she's they're it's
        that's goes go gets
        get pronounced spelled everything anything anyone nobody be until once by only quit enough more without
        throughout then nope nah = general generally anytime should with rather instead everywhere"""
    )
) - bag(
    "the test code time phone age machine address to with by be if all get go any does from more stack run time"
)
_OPENING: Final = STARTS | bag("to if all any every each")
"""First words of what is done here."""


def said_for_itself(words: list[str]) -> bool:
    """Tell whether a sentence may hold something to keep, as `cued` tells of a turn."""
    return not _CUES.isdisjoint(words) or words[0] in _OPENING


def cued(text: str) -> bool:
    """Tell whether a turn may hold something to keep.

    >>> cued("Sort a list of numbers in Python"), cued("we sort by name")
    (False, True)
    """
    said = text.lower().replace("’", "'").split()
    if not _CUES.isdisjoint(said) or (said and said[0] in _OPENING):
        return True
    if ":" in text and said and said[0].strip(_MARKS) in LABELS:
        return True
    return not _CUES.isdisjoint([word.strip(_MARKS) for word in said if not word.isalnum()])
