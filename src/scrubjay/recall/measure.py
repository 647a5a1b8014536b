"""Measure: ids -> candidates, with what a search would score memories that it may not have found.

What does not pass the caller's filters has no score here, so no stage can bring it in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from scrubjay.memory.ranking import Candidate
from scrubjay.memory.records import Record, Where
from scrubjay.store.base import Reader
from scrubjay.store.paths import passes


@dataclass(slots=True)
class Measure:
    """One search's scores, each memory's worked out once.

    Attributes:
        reader: What is visible.
        where: The caller's filters.
        score: Ids to candidates, by the fusion of this search; what it leaves out scores nothing.
        known: Memory to its candidate, None where it may not be shown.
    """

    reader: Reader
    where: Where
    score: Callable[[Sequence[str]], Iterable[Candidate]]
    known: dict[str, Candidate | None] = field(default_factory=dict)

    def of(self, ids: Iterable[str]) -> dict[str, Candidate]:
        """Return the candidates of these memories, in the order of their ids."""
        wanted = sorted(set(ids))
        new = [memory for memory in wanted if memory not in self.known]
        if new:
            may = allowed(self.reader, self.where, self.reader.get(new))
            self.known |= dict.fromkeys(new) | {memory: Candidate(memory, ()) for memory in may}
            self.known |= {one.id: one for one in self.score(may) if one.id in may} if may else {}
        return {memory: one for memory in wanted if (one := self.known[memory]) is not None}


def allowed(reader: Reader, where: Where, records: dict[str, Record]) -> list[str]:
    """Return those of these memories that pass a filter, in the order of their ids."""
    ids = [memory for memory, record in sorted(records.items()) if passes(record, where)]
    if where.categories and ids:
        filed = {edge.src for edge in reader.edges(ids, ["belongs"]) if edge.dst in where.categories}
        ids = [memory for memory in ids if memory in filed]
    return ids
