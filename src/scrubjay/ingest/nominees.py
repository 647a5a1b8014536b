"""Nominees: a new statement -> the known ones of its key that are near enough to be compared with it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from scrubjay.memory.records import Record, Where
from scrubjay.store.base import Reader

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEAST_WORDS: Final = 3
"""Words of a statement: "yes" and "blue bunny" state nothing that could be said again or change."""
MOST_WORDS: Final = 40
"""Words of a statement; what is longer is a text, of which no one sentence decides."""
NEAR: Final = 0.2
"""Least cosine of the base model that nominates: "I live in Porto" and "I moved to Lisbon" share no word."""
COMPARED: Final = 0.5
"""Least cosine by which two are near enough for `change` to say that one may be out of date."""
ALIKE: Final = 0.8
"""Least cosine by which a statement is named as like a new one."""
NOMINEES: Final = 16
"""Known statements that are compared with a new one."""
DEEPER: Final = 48
"""Observations looked through for those among them that were added: turns and passages are no statements."""
_UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
"""Characters of languages that write no blanks; two of them are about a word."""
STATED: Final = ("facet", "lesson", "procedural", "semantic")
"""Tiers of which every memory is a statement; an observation is one when it was added by itself."""


def states(record: Record) -> bool:
    """Tell whether a memory is one statement, and so can be said again, changed or contradicted."""
    stated = record.tier in STATED or (
        record.tier == "observation" and record.place is None and record.turn is None
    )
    one = not record.title and "\n" not in record.content.strip()  # what has a title or lines is a text
    words = len(record.content.split()) + len(_UNSPACED.findall(record.content)) // 2
    return stated and one and LEAST_WORDS <= words <= MOST_WORDS


class Nominees:
    """The statements of one key, those of this call among them."""

    def __init__(self, reader: Reader, key: str, fingerprint: str, rows: NDArray[np.float32]) -> None:
        """Look what is stored near new statements.

        Args:
            reader: What the key's viewers see.
            key: The key.
            fingerprint: The base model.
            rows: Directions of all that is new, shape (statements, dimensions), unit rows.
        """
        self._key = key
        self._rows = rows
        self._new: dict[int, Record] = {}
        self._hits: list[dict[str, float]] = [{} for _ in rows]
        for tiers, depth in ((STATED, NOMINEES), (("observation",), DEEPER)):
            every = reader.alike(fingerprint, rows, depth, NEAR, Where(tiers=tiers))
            for found, hits in zip(self._hits, every, strict=True):
                found |= {hit.id: hit.score for hit in hits}
        held = reader.get(sorted({memory for found in self._hits for memory in found}))
        self._known = {memory: one for memory, one in held.items() if one.key == key and states(one)}

    def add(self, place: int, record: Record) -> None:
        """Compare what comes with the new statement at this place too."""
        self._new[place] = record

    def near(self, place: int, record: Record) -> list[tuple[Record, float]]:
        """Return the statements nearest to a new one and their cosines, nearest first, ties by id."""
        found = dict(self._hits[place])
        known = {memory: self._known[memory] for memory in found if memory in self._known}
        for other, one in self._new.items():
            score, memory = float(self._rows[other] @ self._rows[place]), one.id
            if score >= NEAR:
                found[memory], known[memory] = score, one
        ranked = sorted(known, key=lambda memory: (-round(found[memory], 6), memory))
        return [(known[memory], found[memory]) for memory in ranked if memory != record.id][:NOMINEES]
