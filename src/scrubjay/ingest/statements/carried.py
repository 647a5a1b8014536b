"""Carried: a clause about him, her or them -> the same clause about the one who was last spoken of.

Only where the statement before was kept and speaks of a person or an animal: "My sister lives in Ghent. She's a vet."
"""

from __future__ import annotations

from typing import Final

from scrubjay.ingest.statements.words import bag

PEOPLE: Final = bag("kin person possession") | {"is mine", "has", "of them"}
"""Rules whose statements name somebody who may be spoken of next."""
_THEY: Final = {"he": "", "she": "", "he's": "is", "she's": "is", "hes": "is", "shes": "is"}
_HIS: Final = bag("his her")


def carried(words: list[str], at: int, last: int) -> list[str] | None:
    """Return the words of a clause whose subject is he or she, said of kin instead; None for other subjects.

    >>> carried("she's a vet".split(), 0, 3)
    ['my', 'sister', 'is', 'a', 'vet']
    """
    verb = _THEY.get(words[at])
    if verb is not None:
        contracted = (
            [verb] if verb and words[at + 1 : at + 2] not in (["got"], ["been"]) else ["has"] if verb else []
        )
        return ["my", "sister", *contracted, *words[at + 1 : last]]
    return ["my", *words[at + 1 : last]] if words[at] in _HIS else None
