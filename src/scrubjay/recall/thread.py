"""Thread: a question -> the memories that belong to its story, in order, each with the way that led to it.

ask > seeds > spread > fold > story
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from scrubjay.errors import InputError
from scrubjay.memory.answers import Explanation, Result
from scrubjay.memory.ranking import Candidate, Contribution
from scrubjay.memory.records import Record
from scrubjay.memory.threads import Knot, Reached, Thread
from scrubjay.memory.webs import Near
from scrubjay.recall.admit import CLOSE
from scrubjay.recall.assemble import result
from scrubjay.recall.chosen import says_nothing
from scrubjay.recall.diversify import diversify
from scrubjay.recall.fold import STATED
from scrubjay.recall.picked import Asked
from scrubjay.recall.pipeline import answered, ask, measured
from scrubjay.recall.request import Request
from scrubjay.recall.spread import spread
from scrubjay.recall.story import story
from scrubjay.recall.valid import beginnings, true
from scrubjay.recall.verify import verify
from scrubjay.recall.ways import Web
from scrubjay.recall.webs import related
from scrubjay.store.base import Reader
from scrubjay.store.paths import passes
from scrubjay.text.snippets import snippet

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder

MOST_HOPS: Final = 4
MOST_FAN_OUT: Final = 50
MOST_MEMORIES: Final = 100
POOL: Final = 100
"""Hits a channel gives: of a concept with very many memories, the best are looked for among them."""
LOOKED_AT: Final = 300
"""Memories of a concept from which its relations are counted here: a share of .5 is then known to within .06."""
FLOOR: Final = 0.15
"""Share of the best score below which what was reached over edges is too weakly connected for the story."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far a thread goes: hops from a seed, and edges of a kind followed from one memory or concept."""

    hops: int = 2
    fan_out: int = 8

    def checked(self, limit: int) -> Bounds:
        """Return itself.

        Raises:
            InputError: A number is out of range.
        """
        for name, value, low, most in (
            ("hops", self.hops, 0, MOST_HOPS),
            ("fan_out", self.fan_out, 1, MOST_FAN_OUT),
            ("limit", limit, 1, MOST_MEMORIES),
        ):
            if not low <= value <= most:
                raise InputError(f"{name} is {value}; it must lie between {low} and {most}.")
        return self


def thread(reader: Reader, embedders: Sequence[Embedder], request: Request, bounds: Bounds) -> Thread:
    """Answer one question with a story, from one consistent view.

    Raises:
        InputError: A bound is out of range.
    """
    bounds.checked(request.limit)
    wide = replace(request, multiplier=-(-POOL // request.limit), explain=True)
    asked = ask(reader, embedders, wide)
    found = answered(reader, asked, wide)
    best = max((one.relevance or 0.0 for one in found.results), default=0.0)
    seeds = {one.id: one for one in found.results if one.relevance is None or one.relevance >= CLOSE * best}
    view = _View(reader, asked, request.now)
    reached = spread({one.id: one.score for one in seeds.values()}, view.web(bounds.fan_out), bounds.hops)
    least = FLOOR * max(reached[0].score, 0.0) if reached else 0.0
    told = view.folded([one for one in reached if one.found or one.score >= least])
    chosen = told[: request.limit]
    silence = found.silence.replace("min_relevance=0 shows it", "a search with min_relevance=0 shows it")
    knots = view.knots(chosen, seeds, request.snippet)
    return Thread(knots, len(told) - len(chosen), found.partial, 0.0, found.notes, found.as_of, silence)


@dataclass(slots=True)
class _View:
    """One reader and one query: records and scores of memories, each read and counted once."""

    reader: Reader
    asked: Asked
    now: int
    records: dict[str, Record] = field(default_factory=dict)
    scores: dict[str, float | None] = field(default_factory=dict)

    def web(self, fan_out: int) -> Web:
        heard = self.asked.heard
        pool = sorted({hit.id for ranking in heard.rankings for hit in ranking.hits})
        memories = heard.words.words.memories if heard.words is not None else self.reader.counts().memories

        def near(concept: str) -> Sequence[Near]:
            return related(self.reader, concept, most=LOOKED_AT, total=memories)[0]

        return Web(self.reader, self.measure, near, pool, memories, fan_out)

    def measure(self, ids: Sequence[str]) -> dict[str, float]:
        """Return what a search scores memories that pass the caller's filters and hold nothing excluded."""
        new = sorted({memory for memory in ids if memory not in self.scores})
        if new:
            self.scores |= dict.fromkeys(new)
            self.read(new)
            allowed = self._allowed([memory for memory in new if memory in self.records])
            self.scores |= {one.id: one.score for one in measured(self.reader, self.asked, allowed, self.now)}
        return {memory: score for memory in ids if (score := self.scores[memory]) is not None}

    def read(self, ids: Sequence[str]) -> None:
        self.records |= self.reader.get([memory for memory in ids if memory not in self.records])

    def _allowed(self, ids: Sequence[str]) -> list[str]:
        made = self.asked.plan
        ids = [
            memory
            for memory in ids
            if passes(self.records[memory], made.where) and not says_nothing(self.records[memory])
        ]
        if made.where.categories:
            edges = self.reader.edges(ids, ["belongs"])
            filed = {edge.src for edge in edges if edge.dst in made.where.categories}
            ids = [memory for memory in ids if memory in filed]
        if made.true_at is not None:
            began = None
            if made.as_of is not None:
                began = beginnings([self.records[one] for one in ids], self.reader, told=made.as_asked)
            ids = [memory for memory in ids if true(self.records[memory], made.true_at, began)]
        # What is quoted must stand in what the search found; what it leads to need only hold nothing excluded.
        without = replace(made.query, phrases=())
        return [one.id for one in verify([Candidate(memory, ()) for memory in ids], self.records, without)]

    def folded(self, reached: Sequence[Reached]) -> list[Reached]:
        """Leave out texts that are there already, and statements whose turn is, unless another took their place."""
        self.read([one.id for one in reached])
        by_id = {one.id: one for one in reached}
        stated = [one.id for one in reached if one.id.startswith(STATED)]
        turns = {
            edge.src for edge in self.reader.edges(stated, ["derived_from"]) if edge.dst in by_id
        }  # fmt: skip
        turned: set[str] = set()
        for inward in (False, True):
            edges = self.reader.edges(sorted(turns), ["supersedes", "contradicts"], inward=inward)
            turned |= {edge.dst if inward else edge.src for edge in edges}
        different = diversify([Candidate(one.id, ()) for one in reached], self.records)
        return [by_id[one.id] for one in different.candidates if one.id not in turns or one.id in turned]

    def knots(self, chosen: Sequence[Reached], seeds: Mapping[str, Result], length: int) -> tuple[Knot, ...]:
        """Make the memories readable, in the order of their story."""
        by_id = {one.id: one for one in chosen}
        sources = {source.id: source for source in self.reader.sources()}
        replaced = self._ends(list(by_id), "supersedes", (True,))
        against = self._ends(list(by_id), "contradicts", (False, True))
        knots = []
        for told in story({memory: self.records[memory] for memory in by_id}):
            one, record = by_id[told.id], self.records[told.id]
            shown = seeds.get(told.id)
            if shown is None or one.path:
                text = snippet(record.content, self.asked.plan.groups, length).text
                shown = result(record, sources, one.score, text, _explained(one))
            ends = (tuple(replaced.get(told.id, ())), tuple(against.get(told.id, ())))
            knots.append(Knot(shown, one, told.gap, told.dated, *ends))
        return tuple(knots)

    def _ends(self, ids: Sequence[str], kind: str, ways: Sequence[bool]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for inward in ways:
            for edge in self.reader.edges(ids, [kind], inward=inward):
                here, there = (edge.dst, edge.src) if inward else (edge.src, edge.dst)
                found.setdefault(here, []).append(there)
        return {memory: sorted(set(ends)) for memory, ends in found.items()}


def _explained(one: Reached) -> Explanation:
    """Return the parts of a score that came along a way."""
    carried = Contribution("carried", one.carried, one.carried, one.share)
    return Explanation((carried, Contribution("own", one.own, one.own, one.least)), ())
