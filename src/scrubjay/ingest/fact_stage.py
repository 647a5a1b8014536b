"""Fact stage: extract facts from new turns and reconcile them with known ones.

Each fact becomes a derived memory with the visibility of its turn, and with its project unless it is about the person;
forgotten facts are not learned again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from scrubjay.ingest.deletion import find_forgotten, last_events, last_status_events
from scrubjay.ingest.embedder import embed_memories, prepare_memory
from scrubjay.models.dates import now_micros
from scrubjay.models.ids import memory_id, memory_key, text_hash
from scrubjay.models.lifecycle import INJECTION_VERDICTS, Event, LifecycleChange
from scrubjay.models.records import NEVER_INJECT, Record, Scope, is_own_turn
from scrubjay.storage.changes import Change, PreparedMemory, PutEvents, PutLifecycle, RequireUnchanged
from scrubjay.storage.interface import Reader, Store
from scrubjay.text.dialogue import asks_not_to_remember, asks_to_forget_exchange

if TYPE_CHECKING:
    from scrubjay.embeddings.base import Embedder
    from scrubjay.facts.extractor import Statement
    from scrubjay.facts.reconciliation import FactOutcome


TIER_OF_KIND: Final = {
    "correction": "lesson",
    "decision": "semantic",
    "fact": "semantic",
    "howto": "procedural",
    "preference": "lesson",
}
SINGLE_SOURCE_CONFIDENCE: Final = 0.7
MAX_EXCHANGE: Final = 100
"""Turns before and after a request not to remember that are read to find the exchange that it means."""
MAX_REPLIES: Final = 10
"""Turns before others that are read to see whether these reply to such a request."""


@dataclass(slots=True)
class FactBatch:
    """Result of a batch.

    Attributes:
        fresh: Memories to write: the facts, and the given memories when they were reconciled.
        after: Changes to write after them.
        stated: Id of a turn to its new facts.
        similar: Id of a memory to similar ones, nearest first.
        known: Those of ``fresh`` that are stored, and others that ``after`` changes, as they were read.
        withheld: Ids of turns that a person asks not to remember.
    """

    fresh: list[PreparedMemory] = field(default_factory=list)
    after: list[Change] = field(default_factory=list)
    outcomes: dict[str, FactOutcome] = field(default_factory=dict)
    stated: dict[str, list[str]] = field(default_factory=dict)
    similar: dict[str, list[str]] = field(default_factory=dict)
    known: dict[str, Record] = field(default_factory=dict)
    withheld: set[str] = field(default_factory=set)

    def unchanged(self) -> RequireUnchanged:
        """Return the change that refuses the write if others stored or changed one of these memories meanwhile."""
        return RequireUnchanged({**dict.fromkeys((one.record.id for one in self.fresh), None), **self.known})


class FactStage:
    """Extracts facts from the turns that one call writes; ``learned`` counts them."""

    def __init__(
        self,
        store: Store,
        scope: Scope,
        base: Embedder,
        stages: Sequence[str],
        *,
        curates: bool = True,
    ) -> None:
        self._store = store
        self._scope = scope
        self._base = base
        self._stages = stages
        self._curates = curates
        self._secret = store.secret(scope)
        self.learned = 0

    def extract(self, memories: Sequence[PreparedMemory], *, settle: bool = True) -> FactBatch:
        """Extract facts from embedded memories that are about to be written.

        With ``settle`` the given memories are reconciled and returned too; passages of files are not.
        """
        batch = FactBatch()
        if not memories:
            return batch
        # Most files hold no turns, and a sync of notes needs none of it.
        from scrubjay.facts.reconciliation import FactOutcome, ReconciledBatch, is_statement, reconcile_facts

        at, reconciles = now_micros(), "changes" in self._stages
        for key in sorted({one.record.key for one in memories}):
            own = [one for one in memories if one.record.key == key]
            with self._store.reader(self._scope.seen_with(key)) as reader:
                self._withhold(reader, own, at, batch)
                learning = own if "statements" in self._stages else []
                statements = self._statements(
                    reader, key, [one for one in learning if one.record.id not in batch.withheld], at
                )
                batch.known |= reader.get([one.record.id for one, _ in statements])
                facts = embed_memories([one for one, _ in statements], [""] * len(statements), self._base)
                evidence = {one.record.id: (turn,) for (one, turn) in statements}
                known = [one for one in own if settle and reconciles and is_statement(one.record)]
                given = {one.record.id for one in known}
                batch.fresh += [one for one in own if settle and one.record.id not in given]
                if reconciles:
                    reconciled = reconcile_facts(
                        reader, self._base.model.fingerprint, [*known, *facts], evidence, at, self._curates
                    )
                else:
                    reconciled = ReconciledBatch([*known, *facts])
            for one in facts:
                if reconciled.outcomes.get(one.record.id, FactOutcome()).same is None:
                    batch.stated.setdefault(evidence[one.record.id][0].id, []).append(one.record.id)
                    self.learned += 1
                    if one.record.recorded_at < one.record.updated_at:
                        batch.after.append(PutEvents((_restored_event(one.record, self._scope.user),)))
            batch.fresh += reconciled.fresh
            batch.after += reconciled.after
            batch.outcomes |= {memory: one for memory, one in reconciled.outcomes.items() if memory in given}
        return batch

    def _withhold(
        self, reader: Reader, memories: Sequence[PreparedMemory], at: int, batch: FactBatch
    ) -> None:
        """Tag the turns of one key that a person asks not to remember, as by the verdict; one that was given stays.

        What was made of them before stays, too, and is injected as little as they are.
        """
        batch.withheld |= {one.record.id for one in memories if NEVER_INJECT in one.record.tags}
        sessions: dict[str, list[Record]] = {}
        for record in (one.record for one in memories):
            if record.session is not None and record.turn is not None:
                sessions.setdefault(record.session, []).append(record)
        lives: dict[str, LifecycleChange] = {}
        events: list[Event] = []
        for session, own in sessions.items():
            meant = _meant_turns(reader, session, own, self._scope.user)
            judged = last_events(reader, sorted(meant), INJECTION_VERDICTS) if meant else {}
            for memory, (turn, request) in meant.items():
                if memory not in judged and NEVER_INJECT not in turn.tags:
                    lives[memory] = LifecycleChange(tags=tuple(sorted({*turn.tags, NEVER_INJECT})))
                    events.append(
                        Event(memory, NEVER_INJECT, at, turn.key, other=request, actor=self._scope.user)
                    )
        if lives:
            batch.after += [PutLifecycle(lives), PutEvents(tuple(events))]
            batch.known |= reader.get(sorted(lives))
            batch.withheld |= lives.keys()

    def _statements(
        self, reader: Reader, key: str, memories: Sequence[PreparedMemory], at: int
    ) -> list[tuple[PreparedMemory, Record]]:
        from scrubjay.facts.extractor import extract_facts

        turns = [one for one in memories if is_own_turn(one.record)]
        candidates = {}
        for one in turns:
            for statement in extract_facts(one.record.content):
                record = fact_record(self._secret, one.record, statement, at)
                candidates[record.id] = (record, one)
        self._drop_known(reader, candidates, at)
        facts = list(candidates.values())
        forgotten = find_forgotten(reader, self._secret, facts, lambda one: (one[0].content,), [key])
        return [
            (prepare_memory(record, turn.language), turn.record)
            for (record, turn), gone in zip(facts, forgotten, strict=True)
            if not gone
        ]

    @staticmethod
    def _drop_known(reader: Reader, candidates: dict[str, tuple[Record, PreparedMemory]], at: int) -> None:
        """Drop facts that are stored already, except those that an earlier text of their turn retracted or unlinked."""
        known = reader.get(sorted(candidates))
        if not known:
            return
        stated = {(edge.src, edge.dst) for edge in reader.edges(sorted(known), ["derived_from"])}
        last = last_status_events(reader, [memory for memory, one in known.items() if one.status != "active"])
        for memory, old in known.items():
            turn, event = candidates[memory][1], last.get(memory)
            if old.status == "active" and (memory, turn.record.id) not in stated:
                candidates[memory] = (old, turn)
            elif old.status == "superseded" and event is not None and event.other == turn.record.id:
                candidates[memory] = (replace(old, status="active", valid_until=None, updated_at=at), turn)
            else:
                del candidates[memory]


def _restored_event(fact: Record, actor: str) -> Event:
    return Event(fact.id, "restored", fact.updated_at, fact.key, before="superseded", actor=actor)


def fact_record(
    secret: bytes, turn: Record, statement: Statement, at: int, confidence: float = SINGLE_SOURCE_CONFIDENCE
) -> Record:
    """Return a fact as a memory; the same words in the same turn always get the same id.

    A fact about the person has no project, so it holds in all of them; in a turn that others see it keeps the turn's
    project, since others are not "I".
    """
    from scrubjay.facts.ownership import is_personal

    own = turn.key.startswith("user:") and is_personal(statement.text)
    tier = TIER_OF_KIND[statement.kind]
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
        project=None if own else turn.project,
        agent=turn.agent,
        session=turn.session,
        origin="derived",
        confidence=confidence,
        event=turn.event,
    )


def _meant_turns(
    reader: Reader, session: str, new: Sequence[Record], user: str
) -> dict[str, tuple[Record, str]]:
    """Return, by id, the turns that a person asks not to remember, each with the id of the request.

    A request means its own turn and the replies to it, and if it says nothing else, the exchange before.
    """
    numbers = [one.turn or 0 for one in new]
    first, last = min(numbers), max(numbers)
    asks = any(_is_request(one) for one in new)
    if not asks and any(is_own_turn(one) for one in new if one.turn == first):
        return {}
    reach = MAX_EXCHANGE if asks else MAX_REPLIES
    near = reader.turns(session, max(0, first - reach), last + reach)
    known = {one.id: one for one in (*new, *near) if one.key == new[0].key and one.owner == user}
    spoken: dict[int, list[Record]] = {}
    for one in known.values():
        if is_own_turn(one):
            spoken.setdefault(one.turn or 0, []).append(one)
    own_numbers = sorted(spoken)
    ends = [*own_numbers[1:], last + reach + 1]
    meant: dict[str, tuple[Record, str]] = {}
    for place, number in enumerate(own_numbers):
        request = next((one for one in spoken[number] if _is_request(one)), None)
        if request is None:
            continue
        start = number
        if place and len(spoken[number]) == 1 and asks_to_forget_exchange(request.content):
            start = own_numbers[place - 1]
        for one in known.values():
            if start <= (one.turn or 0) < ends[place] and one != request:
                meant[one.id] = one, request.id
    return meant


def _is_request(turn: Record) -> bool:
    return is_own_turn(turn) and asks_not_to_remember(turn.content)
