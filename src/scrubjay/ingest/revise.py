"""Revise: statements that are about to be written, and what is known -> what becomes of either.

What is learned again in the same words reinforces what is known and is not written; all else is. What says itself
that it changes a thing is written, and the old one is kept as superseded, true until the new one was said
(`supersede`); of two that may not both be so, both stay and are joined. Statements are compared with memories of their
own visibility key alone, so that nobody's private words touch what others see.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from scrubjay.ingest.change.change import change
from scrubjay.ingest.change.supersede import same_subject, supersedes
from scrubjay.ingest.directions import directions
from scrubjay.ingest.draw import normal
from scrubjay.ingest.nominees import ALIKE, COMPARED, Nominees
from scrubjay.memory.edges import NEWER, Edge
from scrubjay.memory.events import Event
from scrubjay.memory.life import Life
from scrubjay.memory.records import Record, said
from scrubjay.store.base import Reader
from scrubjay.store.changes import Change, Prepared, PutEdges, PutEvents, PutLife

DOUBT: Final = 0.5
"""Each further source of a statement halves what is left of doubt: .7, .85, .92."""

_APART: Final = ("tier", "origin", "session", "turn", "event")
"""What tells memories of one text and one key apart, whoever adds them."""
MARKS: Final = ("[secret:", "[private]")
"""What stands in the place of a secret begins with one of these."""


MAYBE: Final = "may supersede"
"""The verdict on what looks like a change and does not say so: both stay, and an answer names the newer one."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one new statement.

    Attributes:
        same: The memory that says it already, so that the new one is not written; or None.
        supersedes: Memories that it takes the place of.
        contradicts: Memories that cannot be so if it is.
        similar: Memories that it is like, the likest first.
    """

    same: str | None = None
    supersedes: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    similar: tuple[str, ...] = ()


@dataclass(slots=True)
class Revised:
    """What a batch comes to.

    Attributes:
        fresh: Statements to write.
        after: Changes to write after them, in the same transaction.
        outcomes: New id to what became of it.
    """

    fresh: list[Prepared] = field(default_factory=list)
    after: list[Change] = field(default_factory=list)
    outcomes: dict[str, Outcome] = field(default_factory=dict)


def revise(
    reader: Reader,
    fingerprint: str,
    statements: Sequence[Prepared],
    evidence: Mapping[str, Sequence[Record]],
    at: int,
    curates: bool = True,
) -> Revised:
    """Settle statements of one visibility key, in the order in which they were said.

    Args:
        reader: What the viewers of the key see.
        fingerprint: The base model.
        statements: With their vectors (`nominees.states` tells what is one).
        evidence: Id of a statement to the memories that it was taken from.
        at: UTC microseconds now.
        curates: Whether a statement may take the place of what another user said; else both stay.
    """
    done = _Settling(reader, evidence, at, curates)
    if not statements:
        return done.revised()
    held = [one.vectors.get(fingerprint) for one in statements]
    width = next((codes.data.shape[1] for codes in held if codes is not None), 1)
    rows = directions(held, width)
    nominees = Nominees(reader, statements[0].record.key, fingerprint, rows)
    order = sorted(
        range(len(statements)),
        key=lambda place: (said(statements[place].record), statements[place].record.id),
    )
    for place in order:
        new = statements[place]
        if done.settle(new, nominees.near(place, new.record)):
            nominees.add(place, done.record(new.record.id))
    return done.revised()


class _Settling:
    """One batch while it is settled."""

    def __init__(
        self, reader: Reader, evidence: Mapping[str, Sequence[Record]], at: int, curates: bool
    ) -> None:
        self._reader = reader
        self._curates = curates
        self._evidence = evidence
        self._at = at
        self._fresh: dict[str, Prepared] = {}
        self._lives: dict[str, Life] = {}
        self._edges: list[Edge] = []
        self._events: list[Event] = []
        self._outcomes: dict[str, Outcome] = {}
        self._sources: dict[str, dict[str, Record]] = {}

    def record(self, memory: str) -> Record:
        """Return a fresh statement as it is now."""
        return self._fresh[memory].record

    def revised(self) -> Revised:
        """Return what it all comes to."""
        after: list[Change] = []
        if self._edges:
            after.append(PutEdges(tuple(self._edges)))
        if self._lives:
            after.append(PutLife(self._lives))
        if self._events:
            after.append(PutEvents(tuple(self._events)))
        return Revised(list(self._fresh.values()), after, self._outcomes)

    def settle(self, new: Prepared, near: Sequence[tuple[Record, float]]) -> bool:
        """Decide on one; tell whether it is written."""
        record = new.record
        active = [(old, score) for old, score in near if old.status == "active"]
        same = next((old for old, _ in active if _same(old, record)), None)
        if same is not None:
            self._reinforce(same, record)
            self._outcomes[record.id] = Outcome(same=same.id)
            return False
        self._fresh[record.id] = new
        self._derive(record.id, record)
        found: dict[str, list[str]] = {"supersedes": [], "contradicts": []}
        for old, score in active:
            verdict, rule = self._verdict(old, record, score)
            if verdict == "supersedes" and old.owner != record.owner and not self._curates:
                verdict = MAYBE
            if verdict == MAYBE:
                self._edges.append(_newer(old, record, score, self._at))
            if verdict == "supersedes" and not old.pinned:
                self._supersede(old, record, rule)
                found["supersedes"].append(old.id)
            elif verdict in found:
                self._contradict(old, record, rule)
                found["contradicts"].append(old.id)
        alike = tuple(old.id for old, score in active if score >= ALIKE)
        self._outcomes[record.id] = Outcome(
            None, tuple(found["supersedes"]), tuple(found["contradicts"]), alike
        )
        return True

    def _verdict(self, old: Record, new: Record, score: float) -> tuple[str, str]:
        # What was said earlier and comes to be known later is judged in the order of saying.
        first, second = (old, new) if said(old) <= said(new) else (new, old)
        if old.tier != new.tier and "derived" not in (old.origin, new.origin):
            return "new", "kept apart by whoever added them"
        together = old.session is not None and old.session == new.session
        if reason := supersedes(first.content, second.content, together=together):
            return "supersedes", reason
        if score < COMPARED:
            return "new", "too far apart"
        if not same_subject(first.content, second.content):
            return "new", "of two subjects"
        found = change(first.content, second.content)
        return (MAYBE if found.verdict == "supersedes" else found.verdict), found.rule

    def _reinforce(self, old: Record, new: Record) -> None:
        sources = self._known_sources(old)
        before = len(_apart(sources.values()))
        for source in self._evidence.get(new.id, ()):
            if source.id not in sources:
                sources[source.id] = source
                self._edges.append(_edge(old, "derived_from", source.id, self._at, "again"))
        if before and len(_apart(sources.values())) > before:
            self._live(old, confidence=support(old.confidence, 1))
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
        past, present = (old, new) if said(old) <= said(new) else (new, old)
        self._live(past, status="superseded", valid_until=max(said(present), past.valid_from or 0))
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
        """Change what time makes of a memory, whether it is stored or about to be."""
        fresh = self._fresh.get(record.id)
        if fresh is not None:
            self._fresh[record.id] = replace(fresh, record=replace(fresh.record, **fields))  # type: ignore[arg-type]
        else:
            self._lives[record.id] = replace(self._lives.get(record.id, Life()), **fields)  # type: ignore[arg-type]


def _same(old: Record, new: Record) -> bool:
    """Tell whether a new memory is a known one: its text is equal, and nothing else tells the two apart."""
    if normal(old.content) != normal(new.content):
        return False
    if any(mark in new.content for mark in MARKS):  # two secrets may be behind one mark
        return False
    if new.origin == "derived":
        return True
    return all(getattr(old, name) == getattr(new, name) for name in _APART)


def support(confidence: float, more: int) -> float:
    """Return how sure a statement is that so many more sources bear out.

    >>> round(support(0.7, 1), 2), round(support(0.7, 2), 3)
    (0.85, 0.925)
    """
    return 1 - (1 - confidence) * DOUBT**more


def _apart(sources: Iterable[Record]) -> set[str]:
    """Return what tells sources apart: what one conversation or document says twice is said once."""
    return {
        one.session or (f"{one.place.source}/{one.place.path}" if one.place else one.id) for one in sources
    }


def _newer(old: Record, new: Record, score: float, at: int) -> Edge:
    past, present = (old, new) if said(old) <= said(new) else (new, old)
    return Edge(present.id, "similar", past.id, new.key, min(score, 1.0), at, "given", NEWER)


def _edge(record: Record, kind: str, dst: str, at: int, rule: str, key: str | None = None) -> Edge:
    return Edge(record.id, kind, dst, key or record.key, 1.0, at, rule=rule)
