"""Reconciliation: reinforce, supersede or contradict known facts with new ones.

A repeated statement reinforces the known one and is not written. A statement that announces a change supersedes the
old one, which stays valid until then; of two that contradict each other both stay, joined by an edge. Only memories of
the same visibility key are compared, so private words never affect what others see.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from scrubjay.facts.conflicts import classify_change
from scrubjay.facts.supersession import may_share_subject, supersedes
from scrubjay.models.graph import NEWER_RULE, Edge
from scrubjay.models.lifecycle import Event, LifecycleChange
from scrubjay.models.records import Record, RecordFilter, said_at
from scrubjay.storage.changes import Change, PreparedMemory, PutEdges, PutEvents, PutLifecycle
from scrubjay.storage.interface import Reader
from scrubjay.storage.scoring import mean_directions
from scrubjay.text.normalize import normalize_content

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


MIN_STATEMENT_WORDS: Final = 3
"""Words of a statement: "yes" and "blue bunny" state nothing that could be said again or change."""
MAX_STATEMENT_WORDS: Final = 40
"""Words of a statement; what is longer is a text, of which no one sentence decides."""
NOMINATION_COSINE: Final = 0.2
"""Least cosine of the base model that nominates: "I live in Porto" and "I moved to Lisbon" share no word."""
COMPARISON_COSINE: Final = 0.5
"""Least cosine by which two are near enough for `change` to say that one may be out of date."""
SIMILAR_COSINE: Final = 0.8
"""Least cosine by which a statement is named as like a new one."""
MAX_CANDIDATES: Final = 16
"""Known statements that are compared with a new one."""
OBSERVATION_DEPTH: Final = 48
"""Observations looked through for those among them that were added: turns and passages are no statements."""
_UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
"""Characters of languages that write no blanks; two of them are about a word."""
STATEMENT_TIERS: Final = ("facet", "lesson", "procedural", "semantic")
"""Tiers of which every memory is a statement; an observation is one when it was added by itself."""


def is_statement(record: Record) -> bool:
    """Return whether a memory is a single statement, which can be repeated, changed or contradicted."""
    stated = record.tier in STATEMENT_TIERS or (
        record.tier == "observation" and record.place is None and record.turn is None
    )
    one = not record.title and "\n" not in record.content.strip()  # what has a title or lines is a text
    words = len(record.content.split()) + len(_UNSPACED.findall(record.content)) // 2
    return stated and one and MIN_STATEMENT_WORDS <= words <= MAX_STATEMENT_WORDS


class ComparisonCandidates:
    """The statements of one visibility key near the new ones, those of this call among them."""

    def __init__(self, reader: Reader, key: str, fingerprint: str, rows: NDArray[np.float32]) -> None:
        self._key = key
        self._rows = rows
        self._new: dict[int, Record] = {}
        self._hits: list[dict[str, float]] = [{} for _ in rows]
        for tiers, depth in ((STATEMENT_TIERS, MAX_CANDIDATES), (("observation",), OBSERVATION_DEPTH)):
            every = reader.nearest_batch(
                fingerprint, rows, depth, NOMINATION_COSINE, RecordFilter(tiers=tiers)
            )
            for found, hits in zip(self._hits, every, strict=True):
                found |= {hit.id: hit.score for hit in hits}
        held = reader.get(sorted({memory for found in self._hits for memory in found}))
        self._known = {memory: one for memory, one in held.items() if one.key == key and is_statement(one)}

    def add(self, place: int, record: Record) -> None:
        self._new[place] = record

    def near(self, place: int, record: Record) -> list[tuple[Record, float]]:
        """Return the nearest statements and their cosines, nearest first, ties by id."""
        found = dict(self._hits[place])
        known = {memory: self._known[memory] for memory in found if memory in self._known}
        for other, one in self._new.items():
            score, memory = float(self._rows[other] @ self._rows[place]), one.id
            if score >= NOMINATION_COSINE:
                found[memory], known[memory] = score, one
        ranked = sorted(known, key=lambda memory: (-round(found[memory], 6), memory))
        return [(known[memory], found[memory]) for memory in ranked if memory != record.id][:MAX_CANDIDATES]


DOUBT_FACTOR: Final = 0.5
"""Each further source of a statement halves what is left of doubt: .7, .85, .92."""

_APART: Final = ("tier", "origin", "session", "turn", "event")
"""What tells memories of one text and one key apart, whoever adds them."""
REDACTION_MARKS: Final = ("[secret:", "[private]")
"""What stands in the place of a secret begins with one of these."""


MAY_SUPERSEDE: Final = "may supersede"
"""The verdict on what looks like a change and does not say so: both stay, and an answer names the newer one."""


@dataclass(frozen=True, slots=True)
class FactOutcome:
    """What became of a new statement: if a memory says the same, it was not written."""

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
    done = _Reconciliation(reader, evidence, at, curates)
    if not statements:
        return done.revised()
    held = [one.vectors.get(fingerprint) for one in statements]
    width = next((codes.data.shape[1] for codes in held if codes is not None), 1)
    rows = mean_directions(held, width)
    nominees = ComparisonCandidates(reader, statements[0].record.key, fingerprint, rows)
    order = sorted(
        range(len(statements)),
        key=lambda place: (said_at(statements[place].record), statements[place].record.id),
    )
    for place in order:
        new = statements[place]
        if done.settle(new, nominees.near(place, new.record)):
            nominees.add(place, done.record(new.record.id))
    return done.revised()


class _Reconciliation:
    def __init__(
        self, reader: Reader, evidence: Mapping[str, Sequence[Record]], at: int, curates: bool
    ) -> None:
        self._reader = reader
        self._curates = curates
        self._evidence = evidence
        self._at = at
        self._fresh: dict[str, PreparedMemory] = {}
        self._lives: dict[str, LifecycleChange] = {}
        self._edges: list[Edge] = []
        self._events: list[Event] = []
        self._outcomes: dict[str, FactOutcome] = {}
        self._sources: dict[str, dict[str, Record]] = {}

    def record(self, memory: str) -> Record:
        return self._fresh[memory].record

    def revised(self) -> ReconciledBatch:
        after: list[Change] = []
        if self._edges:
            after.append(PutEdges(tuple(self._edges)))
        if self._lives:
            after.append(PutLifecycle(self._lives))
        if self._events:
            after.append(PutEvents(tuple(self._events)))
        return ReconciledBatch(list(self._fresh.values()), after, self._outcomes)

    def settle(self, new: PreparedMemory, near: Sequence[tuple[Record, float]]) -> bool:
        record = new.record
        active = [(old, score) for old, score in near if old.status == "active"]
        same = next((old for old, _ in active if _same_statement(old, record)), None)
        if same is not None:
            self._reinforce(same, record)
            self._outcomes[record.id] = FactOutcome(same=same.id)
            return False
        self._fresh[record.id] = new
        self._derive(record.id, record)
        found: dict[str, list[str]] = {"supersedes": [], "contradicts": []}
        for old, score in active:
            verdict, rule = self._verdict(old, record, score)
            if verdict == "supersedes" and old.owner != record.owner and not self._curates:
                verdict = MAY_SUPERSEDE
            if verdict == MAY_SUPERSEDE:
                self._edges.append(_newer(old, record, score, self._at))
            if verdict == "supersedes" and not old.pinned:
                self._supersede(old, record, rule)
                found["supersedes"].append(old.id)
            elif verdict in found:
                self._contradict(old, record, rule)
                found["contradicts"].append(old.id)
        alike = tuple(old.id for old, score in active if score >= SIMILAR_COSINE)
        self._outcomes[record.id] = FactOutcome(
            None, tuple(found["supersedes"]), tuple(found["contradicts"]), alike
        )
        return True

    def _verdict(self, old: Record, new: Record, score: float) -> tuple[str, str]:
        # What was said earlier and comes to be known later is judged in the order of saying.
        first, second = (old, new) if said_at(old) <= said_at(new) else (new, old)
        if old.tier != new.tier and "derived" not in (old.origin, new.origin):
            return "new", "kept apart by whoever added them"
        together = old.session is not None and old.session == new.session
        if reason := supersedes(first.content, second.content, together=together):
            return "supersedes", reason
        if score < COMPARISON_COSINE:
            return "new", "too far apart"
        if not may_share_subject(first.content, second.content):
            return "new", "of two subjects"
        found = classify_change(first.content, second.content)
        return (MAY_SUPERSEDE if found.verdict == "supersedes" else found.verdict), found.rule

    def _reinforce(self, old: Record, new: Record) -> None:
        sources = self._known_sources(old)
        before = len(_independent_sources(sources.values()))
        for source in self._evidence.get(new.id, ()):
            if source.id not in sources:
                sources[source.id] = source
                self._edges.append(_edge(old, "derived_from", source.id, self._at, "again"))
        if before and len(_independent_sources(sources.values())) > before:
            self._live(old, confidence=corroborated_confidence(old.confidence, 1))
        self._events.append(Event(old.id, "reinforced", self._at, old.key, actor=new.owner))

    def _known_sources(self, old: Record) -> dict[str, Record]:
        if old.id not in self._sources:
            edges = self._reader.edges([old.id], ["derived_from"])
            self._sources[old.id] = self._reader.get([edge.dst for edge in edges if edge.src == old.id])
        return self._sources[old.id]

    def _derive(self, memory: str, record: Record) -> None:
        sources = self._evidence.get(memory, ())
        self._sources[memory] = {source.id: source for source in sources}
        self._edges += [_edge(record, "derived_from", source.id, self._at, "statement") for source in sources]

    def _supersede(self, old: Record, new: Record, rule: str) -> None:
        past, present = (old, new) if said_at(old) <= said_at(new) else (new, old)
        self._live(past, status="superseded", valid_until=max(said_at(present), past.valid_from or 0))
        self._edges.append(_edge(present, "supersedes", past.id, self._at, rule, new.key))
        self._events.append(
            Event(
                past.id,
                "superseded",
                self._at,
                new.key,
                other=present.id,
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

    def _live(self, record: Record, **fields: object) -> None:
        fresh = self._fresh.get(record.id)
        if fresh is not None:
            self._fresh[record.id] = replace(fresh, record=replace(fresh.record, **fields))  # type: ignore[arg-type]
        else:
            self._lives[record.id] = replace(self._lives.get(record.id, LifecycleChange()), **fields)  # type: ignore[arg-type]


def _same_statement(old: Record, new: Record) -> bool:
    """Return whether a new memory repeats a known one: equal text, and nothing else tells them apart."""
    if normalize_content(old.content) != normalize_content(new.content):
        return False
    if any(mark in new.content for mark in REDACTION_MARKS):  # two secrets may be behind one mark
        return False
    if new.origin == "derived":
        return True
    return all(getattr(old, name) == getattr(new, name) for name in _APART)


def corroborated_confidence(confidence: float, more: int) -> float:
    """Return the confidence after so many further independent sources.

    >>> round(corroborated_confidence(0.7, 1), 2), round(corroborated_confidence(0.7, 2), 3)
    (0.85, 0.925)
    """
    return 1 - (1 - confidence) * DOUBT_FACTOR**more


def _independent_sources(sources: Iterable[Record]) -> set[str]:
    """Return distinct sources: one conversation or document counts once."""
    return {
        one.session or (f"{one.place.source}/{one.place.path}" if one.place else one.id) for one in sources
    }


def _newer(old: Record, new: Record, score: float, at: int) -> Edge:
    past, present = (old, new) if said_at(old) <= said_at(new) else (new, old)
    return Edge(present.id, "similar", past.id, new.key, min(score, 1.0), at, "given", NEWER_RULE)


def _edge(record: Record, kind: str, dst: str, at: int, rule: str, key: str | None = None) -> Edge:
    return Edge(record.id, kind, dst, key or record.key, 1.0, at, rule=rule)
