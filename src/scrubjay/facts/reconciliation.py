"""Reconciliation: reinforce, supersede or contradict known facts with new ones.

Each pair of statements is judged by two modules, in this order:

1. `facts.supersession` decides "newer wins": the old statement becomes superseded and leaves default answers.
2. `facts.conflicts` only marks: both statements stay, joined by an edge that names the newer one or the contradiction.

A repeated statement reinforces the known one and is not written. Only memories of the same visibility key are compared,
so private words never affect what others see.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from scrubjay.facts.conflicts import Verdict, classify_change
from scrubjay.facts.exclusive_values import may_change_home, replaces, resulting_state
from scrubjay.facts.ownership import is_personal, may_be_personal
from scrubjay.facts.supersession import may_share_subject, supersedes
from scrubjay.facts.supersession_guards import are_of_other_kinds, is_limited
from scrubjay.models.graph import NEWER_RULE, REPEATED_RULE, Edge
from scrubjay.models.lifecycle import Event, LifecycleChange, stored_end
from scrubjay.models.records import Record, RecordFilter, said_at
from scrubjay.storage.changes import (
    Change,
    PreparedMemory,
    PutEdges,
    PutEvents,
    PutLifecycle,
    RequireUnchanged,
)
from scrubjay.storage.interface import Reader
from scrubjay.storage.scoring import mean_directions
from scrubjay.text.normalize import normalize_content

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


MIN_STATEMENT_WORDS: Final = 3
"""Words of a statement: "yes" and "blue bunny" state nothing."""
MAX_STATEMENT_WORDS: Final = 40
"""Words of a statement; a longer memory is a text."""
NOMINATION_COSINE: Final = 0.0
"""Minimum cosine of the base model that nominates: "I use Poetry" and "we switched to uv" share next to nothing."""
COMPARISON_COSINE: Final = 0.5
"""Minimum cosine from which `classify_change` compares two."""
SIMILAR_COSINE: Final = 0.8
"""Minimum cosine from which a statement is reported as similar to a new one."""
MAX_CANDIDATES: Final = 16
"""Known statements compared with a new one."""
OBSERVATION_DEPTH: Final = 48
"""Observations looked through for those among them that were added: turns and passages are no statements."""
_UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
"""Characters of languages that write no blanks; two of them are about a word."""
STATEMENT_TIERS: Final = ("facet", "lesson", "procedural", "semantic")
"""Tiers of which every memory is a statement; an observation is one when it was added by itself."""


def is_statement(record: Record) -> bool:
    """Return whether a memory is a single statement, which can be repeated, changed or contradicted."""
    has_statement_tier = record.tier in STATEMENT_TIERS or (
        record.tier == "observation" and record.place is None and not record.is_turn
    )
    is_single_line = not record.title and "\n" not in record.content.strip()  # else it is a text
    words = len(record.content.split()) + len(_UNSPACED.findall(record.content)) // 2
    return has_statement_tier and is_single_line and MIN_STATEMENT_WORDS <= words <= MAX_STATEMENT_WORDS


def _stated_at(record: Record) -> int:
    """Return when a memory became true (`said_at`); an event after its recording is an appointment that it names."""
    return said_at(record) if record.valid_from is not None else min(said_at(record), record.recorded_at)


class ComparisonCandidates:
    """The statements of one visibility key near the new ones, those of this call among them."""

    def __init__(self, reader: Reader, key: str, fingerprint: str, rows: NDArray[np.float32]) -> None:
        self._rows = rows
        self._fresh: dict[int, Record] = {}
        self._cosines: list[dict[str, float]] = [{} for _ in rows]
        for tiers, depth in ((STATEMENT_TIERS, MAX_CANDIDATES), (("observation",), OBSERVATION_DEPTH)):
            every = reader.nearest_batch(
                fingerprint, rows, depth, NOMINATION_COSINE, RecordFilter(tiers=tiers)
            )
            for cosines, hits in zip(self._cosines, every, strict=True):
                cosines |= {hit.id: hit.score for hit in hits}
        records = reader.get(sorted({memory for cosines in self._cosines for memory in cosines}))
        self._known = {
            memory: record for memory, record in records.items() if record.key == key and is_statement(record)
        }

    def add(self, place: int, record: Record) -> None:
        """Add the new statement at a place to the candidates of later ones."""
        self._fresh[place] = record

    def near(self, place: int, record: Record) -> list[tuple[Record, float]]:
        """Return the nearest statements and their cosines, nearest first, ties by id."""
        cosines = dict(self._cosines[place])
        known = {memory: self._known[memory] for memory in cosines if memory in self._known}
        of_fresh = self._rows[list(self._fresh)] @ self._rows[place]
        for cosine, fresh in zip(of_fresh.tolist(), self._fresh.values(), strict=True):
            if cosine >= NOMINATION_COSINE:
                cosines[fresh.id], known[fresh.id] = cosine, fresh
        ranked = sorted(known, key=lambda memory: (-round(cosines[memory], 6), memory))
        return [(known[memory], cosines[memory]) for memory in ranked if memory != record.id][:MAX_CANDIDATES]


DOUBT_FACTOR: Final = 0.5
"""Each further independent source halves the remaining doubt: .7, .85, .92."""

_IDENTITY: Final = ("tier", "origin", "session", "turn", "event")
"""Fields that distinguish memories of one text and one key."""
REDACTION_MARKS: Final = ("[secret:", "[private]")
"""Beginnings of the marks that replace secrets."""
MAY_SUPERSEDE: Final = "may supersede"
"""Verdict on a change that the statement does not announce: both stay, and an answer names the newer one."""


@dataclass(frozen=True, slots=True)
class FactOutcome:
    """Outcome for a new statement, which was not written if `same` names a memory with its text."""

    same: str | None = None
    supersedes: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    similar: tuple[str, ...] = ()


@dataclass(slots=True)
class ReconciledBatch:
    """Statements to write, changes to write after them in the same transaction, and the outcome of each new id."""

    fresh: list[PreparedMemory] = field(default_factory=list)
    after: list[Change] = field(default_factory=list)
    outcomes: dict[str, FactOutcome] = field(default_factory=dict)


def reconcile_facts(
    reader: Reader,
    fingerprint: str,
    statements: Sequence[PreparedMemory],
    evidence: Mapping[str, Sequence[Record]],
    at: int,
    curates: bool = True,
) -> ReconciledBatch:
    """Reconcile new statements of one visibility key with known ones, in the order in which they were said.

    Args:
        reader: A reader of the key's scope.
        fingerprint: The base embedding model.
        statements: Prepared memories with their vectors.
        evidence: Statement id to the memories that it was extracted from.
        at: UTC microseconds now.
        curates: Whether a statement may supersede another user's; else both stay.
    """
    if not statements:
        return ReconciledBatch()
    batch = _Reconciliation(reader, evidence, at, curates)
    vectors = [statement.vectors.get(fingerprint) for statement in statements]
    width = next((codes.data.shape[1] for codes in vectors if codes is not None), 1)
    rows = mean_directions(vectors, width)
    candidates = ComparisonCandidates(reader, statements[0].record.key, fingerprint, rows)
    order = sorted(
        range(len(statements)),
        key=lambda place: (_stated_at(statements[place].record), statements[place].record.id),
    )
    for place in order:
        new = statements[place]
        if batch.add(new, candidates.near(place, new.record)):
            candidates.add(place, batch.fresh[new.record.id].record)
    return batch.result()


class _Reconciliation:
    """The changes of one batch so far."""

    def __init__(
        self, reader: Reader, evidence: Mapping[str, Sequence[Record]], at: int, curates: bool
    ) -> None:
        self.fresh: dict[str, PreparedMemory] = {}
        self._lifecycle: dict[str, LifecycleChange] = {}
        self._changed: dict[str, Record] = {}
        self._edges: list[Edge] = []
        self._events: list[Event] = []
        self._outcomes: dict[str, FactOutcome] = {}
        self._reader = reader
        self._evidence = evidence
        self._at = at
        self._curates = curates
        self._sources: dict[str, dict[str, Record]] = {}

    def result(self) -> ReconciledBatch:
        changed = {memory: record for memory, record in self._changed.items() if memory not in self.fresh}
        after: list[Change] = [RequireUnchanged(changed)] if changed else []
        if self._edges:
            after.append(PutEdges(tuple(self._edges)))
        if self._lifecycle:
            after.append(PutLifecycle(self._lifecycle))
        if self._events:
            after.append(PutEvents(tuple(self._events)))
        return ReconciledBatch(list(self.fresh.values()), after, self._outcomes)

    def add(self, statement: PreparedMemory, near: Sequence[tuple[Record, float]]) -> bool:
        """Decide on a statement; return whether it is written."""
        new = statement.record
        active = [(old, cosine) for old, cosine in near if old.status == "active"]
        same = next((old for old, _ in active if _same_statement(old, new)), None)
        if same is not None:
            self._reinforce(same, new)
            self._outcomes[new.id] = FactOutcome(same=same.id)
            return False
        self.fresh[new.id] = statement
        self._sources[new.id] = {source.id: source for source in self._evidence.get(new.id, ())}
        self._edges += [
            _edge(new, "derived_from", source, self._at, "statement") for source in self._sources[new.id]
        ]
        superseded: list[str] = []
        later: list[str] = []
        contradicted: list[str] = []
        for old, cosine in active:
            found = self._verdict(old, new, cosine)
            past, present = (old, new) if _stated_at(old) <= _stated_at(new) else (new, old)
            if found.verdict == MAY_SUPERSEDE:
                weight = min(cosine, 1.0)
                self._edges.append(
                    Edge(present.id, "similar", past.id, new.key, weight, self._at, "given", NEWER_RULE)
                )
            elif found.verdict == "supersedes" and not old.pinned:
                self._supersede(past, present, new, found.rule)
                (superseded if present is new else later).append(old.id)
                if present is new and new.origin == "derived" and _belongs_to_person(old):
                    self._change(new, project=None)  # it replaces a personal one
            elif found.verdict in ("supersedes", "contradicts"):
                self._contradict(old, new, found.rule)
                contradicted.append(old.id)
        similar = tuple(
            dict.fromkeys([*later, *(old.id for old, cosine in active if cosine >= SIMILAR_COSINE)])
        )
        self._outcomes[new.id] = FactOutcome(None, tuple(superseded), tuple(contradicted), similar)
        return True

    def _verdict(self, old: Record, new: Record, cosine: float) -> Verdict:
        # What was said earlier and is learned later is judged in the order of saying.
        first, second = (old, new) if _stated_at(old) <= _stated_at(new) else (new, old)
        if second.is_undated_import:
            return Verdict("new", "the later is an import without a date, which may be older")
        if old.tier != new.tier and "derived" not in (old.origin, new.origin):
            return Verdict("new", "kept apart by whoever added them")
        if _have_two_owners(old, new):
            return Verdict("new", "of two projects or persons")
        together = old.session is not None and old.session == new.session
        if reason := supersedes(first.content, second.content, together=together):
            own = old.owner == new.owner or self._curates
            return Verdict("supersedes" if own else MAY_SUPERSEDE, reason)
        changed = ""
        if may_change_home(first.content, second.content):
            changed = "another home"
        elif replaces(first.content, second.content, announced=True):
            changed = "another of the same kind"
        if changed and not is_limited(first.content, second.content):
            return Verdict(MAY_SUPERSEDE, changed)
        if cosine < COMPARISON_COSINE:
            return Verdict("new", "too far apart")
        if not may_share_subject(first.content, second.content):
            return Verdict("new", "of two subjects")
        found = classify_change(first.content, second.content)
        if found.verdict != "supersedes":
            return found
        stated = resulting_state(second.content)
        if is_limited(first.content, second.content) or are_of_other_kinds(first.content, stated):
            return Verdict("new", "limited, or a value of another kind")
        return replace(found, verdict=MAY_SUPERSEDE)

    def _reinforce(self, old: Record, new: Record) -> None:
        if old.id not in self._sources:
            edges = self._reader.edges([old.id], ["derived_from"])
            self._sources[old.id] = self._reader.get([edge.dst for edge in edges if edge.src == old.id])
        sources = self._sources[old.id]
        before = len(_independent_sources(sources.values()))
        for source in self._evidence.get(new.id, ()):
            if source.id not in sources:
                sources[source.id] = source
                self._edges.append(_edge(old, "derived_from", source.id, self._at, REPEATED_RULE))
        is_surer = before and len(_independent_sources(sources.values())) > before
        if is_surer and not given_confidence(self._reader, [old]):
            self._change(old, confidence=1 - (1 - old.confidence) * DOUBT_FACTOR)
        self._events.append(Event(old.id, "reinforced", self._at, old.key, actor=new.owner))

    def _supersede(self, past: Record, present: Record, new: Record, rule: str) -> None:
        self._change(past, status="superseded", valid_until=max(said_at(present), past.valid_from or 0))
        self._edges.append(Edge(present.id, "supersedes", past.id, new.key, 1.0, self._at, rule=rule))
        self._events.append(
            Event(
                past.id,
                "superseded",
                self._at,
                new.key,
                other=present.id,
                count=stored_end(past.valid_until),
                before=past.status,
                actor=new.owner,
            )
        )

    def _contradict(self, old: Record, new: Record, rule: str) -> None:
        self._edges.append(_edge(new, "contradicts", old.id, self._at, rule))
        self._events += [
            Event(one.id, "contradicted", self._at, one.key, other=other.id, actor=new.owner)
            for one, other in ((old, new), (new, old))
        ]

    def _change(self, record: Record, **fields: object) -> None:
        """Change the lifecycle of a memory, whether it is stored or about to be."""
        fresh = self.fresh.get(record.id)
        if fresh is not None:
            self.fresh[record.id] = replace(fresh, record=replace(fresh.record, **fields))  # type: ignore[arg-type]
        else:
            self._changed[record.id] = record
            self._lifecycle[record.id] = replace(self._lifecycle.get(record.id, LifecycleChange()), **fields)  # type: ignore[arg-type]


def given_confidence(reader: Reader, records: Sequence[Record]) -> set[str]:
    """Return the ids of the memories whose confidence a person may have set: own ones, and those somebody changed."""
    derived = [one.id for one in records if one.origin == "derived"]
    changed = {event.memory for event in reader.events(derived, limit=2**31) if event.op == "changed"}
    return changed | {one.id for one in records if one.origin != "derived"}


def _belongs_to_person(record: Record) -> bool:
    return record.key.startswith("user:") and is_personal(record.content)


def _have_two_owners(old: Record, new: Record) -> bool:
    """Return whether two statements are about two projects, two persons, or a person and a project."""
    persons = may_be_personal(old.content), may_be_personal(new.content)
    if all(persons):
        return old.owner != new.owner
    if old.project == new.project:
        return False
    return any(persons) or None not in (old.project, new.project)


def _same_statement(old: Record, new: Record) -> bool:
    """Return whether a new memory repeats a known one: equal text, and nothing else tells them apart."""
    if old.project not in (new.project, None):  # a rule of another project does not hold in this one
        return False
    if normalize_content(old.content) != normalize_content(new.content):
        return False
    if any(mark in new.content for mark in REDACTION_MARKS):  # two secrets may be behind one mark
        return False
    return new.origin == "derived" or all(getattr(old, name) == getattr(new, name) for name in _IDENTITY)


def _independent_sources(sources: Iterable[Record]) -> set[str]:
    """Return distinct sources: one conversation or document counts once."""
    return {
        one.session or (f"{one.place.source}/{one.place.path}" if one.place else one.id) for one in sources
    }


def _edge(record: Record, kind: str, dst: str, at: int, rule: str) -> Edge:
    return Edge(record.id, kind, dst, record.key, 1.0, at, rule=rule)
