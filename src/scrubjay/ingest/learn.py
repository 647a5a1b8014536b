"""Learn: what is about to be written -> the statements that people make in it, settled with what is known.

A person's turn is read for statements worth keeping (``learnable``); each becomes a memory of its own, derived
from the turn and seen by whoever sees it. What was forgotten once is not learned again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from scrubjay.ingest.embed import embed
from scrubjay.ingest.naming import prepare
from scrubjay.ingest.nominees import states
from scrubjay.ingest.revise import Outcome, Revised, revise
from scrubjay.ingest.statements.learnable import learnable
from scrubjay.ingest.statements.statements import Statement
from scrubjay.memory.dates import now_micros
from scrubjay.memory.ids import memory_id, memory_key, text_hash, tombstones
from scrubjay.memory.records import Record
from scrubjay.memory.scope import Scope
from scrubjay.memory.turns import PERSON
from scrubjay.store.base import Reader, Store
from scrubjay.store.changes import Change, Prepared

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder

STAGES: Final = ("statements", "changes")
"""What can be done: turns read for statements, and statements compared with known ones."""
TIER: Final = {
    "correction": "lesson",
    "decision": "semantic",
    "fact": "semantic",
    "howto": "procedural",
    "preference": "lesson",
}
"""Kind of a statement to the tier of its memory."""
ONCE: Final = 0.7
"""How sure a statement is that was made once."""


@dataclass(slots=True)
class Learned:
    """What a batch comes to.

    Attributes:
        fresh: Memories to write: the statements, and those given, when they are settled.
        after: Changes to write after them.
        outcomes: Id of a given memory to what became of it.
        stated: Id of a turn to the statements that were taken from it and are new.
        similar: Id of a memory to those that it is like, the likest first.
    """

    fresh: list[Prepared] = field(default_factory=list)
    after: list[Change] = field(default_factory=list)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    stated: dict[str, list[str]] = field(default_factory=dict)
    similar: dict[str, list[str]] = field(default_factory=dict)


class Learner:
    """Learns from what one call writes."""

    def __init__(
        self,
        store: Store,
        scope: Scope,
        base: Embedder,
        stages: Sequence[str] = STAGES,
        *,
        curates: bool = True,
    ) -> None:
        """Args: where, for whom, the base model, what is done, and whether others' memories may be superseded.

        Attributes:
            learned: Statements that became memories.
        """
        self._store = store
        self._scope = scope
        self._base = base
        self._stages = stages
        self._curates = curates
        self._secret = store.secret(scope)
        self.learned = 0

    def learn(self, given: Sequence[Prepared], *, settle: bool = True) -> Learned:
        """Return what to write in the place of memories that are about to be written.

        Args:
            given: With their vectors, of any keys.
            settle: Whether they are settled too, and returned. Passages of files are not: a file says what it
                says.
        """
        at = now_micros()
        learned = Learned()
        for key in sorted({one.record.key for one in given}):
            own = [one for one in given if one.record.key == key]
            with self._store.reader(self._scope.seen_with(key)) as reader:
                drawn = self._drawn(reader, own, at) if "statements" in self._stages else []
                made = embed([one for one, _ in drawn], [""] * len(drawn), self._base)
                evidence = {one.record.id: (turn,) for (one, turn) in drawn}
                known = [one for one in own if settle and "changes" in self._stages and states(one.record)]
                apart = {one.record.id for one in known}
                learned.fresh += [one for one in own if settle and one.record.id not in apart]
                if "changes" in self._stages:
                    done = revise(
                        reader, self._base.model.fingerprint, [*known, *made], evidence, at, self._curates
                    )
                else:
                    done = Revised([*known, *made])
            for one in made:
                if done.outcomes.get(one.record.id, Outcome()).same is None:
                    learned.stated.setdefault(evidence[one.record.id][0].id, []).append(one.record.id)
                    self.learned += 1
            learned.fresh += done.fresh
            learned.after += done.after
            learned.outcomes |= {memory: one for memory, one in done.outcomes.items() if memory in apart}
        return learned

    def _drawn(self, reader: Reader, own: Sequence[Prepared], at: int) -> list[tuple[Prepared, Record]]:
        """Return the statements of people's turns as memories, each with its turn."""
        turns = [one for one in own if spoken(one.record)]
        found = {}
        for one in turns:
            for statement in learnable(one.record.content):
                record = remembered(self._secret, one.record, statement, at)
                found[record.id] = (record, one)
        marks = {
            memory: tombstones(self._secret, record.content, [record.key])
            for memory, (record, _) in found.items()
        }
        gone = reader.forgotten([mark for own_marks in marks.values() for mark in own_marks])
        return [
            (prepare(record, turn.language), turn.record)
            for memory, (record, turn) in found.items()
            if gone.isdisjoint(marks[memory])
        ]


def remembered(
    secret: bytes, turn: Record, statement: Statement, at: int, confidence: float = ONCE
) -> Record:
    """Return a statement as a memory; whoever finds the same words in the same turn makes the same id.

    Args:
        secret: The tenant's key of ids.
        turn: Where it was said.
        statement: What was said.
        at: UTC microseconds now.
        confidence: How sure it is.
    """
    tier = TIER[statement.kind]
    digest = text_hash(statement.text)
    return Record(
        id=memory_id(tier, memory_key(secret, ("statement", turn.key, tier, turn.id, digest))),
        tier=tier,
        content=statement.text,
        content_hash=digest,
        title="",
        key=turn.key,
        owner=turn.owner,
        recorded_at=at,
        updated_at=at,
        tags=(statement.kind,),
        project=turn.project,
        agent=turn.agent,
        session=turn.session,
        origin="derived",
        confidence=confidence,
        event=turn.event,
    )


def spoken(turn: Record) -> bool:
    """Tell whether a memory is a person's own turn; what a model claims is no fact."""
    return turn.role in PERSON and turn.origin == "owner"
