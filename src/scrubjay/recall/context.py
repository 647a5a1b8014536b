"""Context: a question, or the beginning of a session -> what is worth having in mind, within a budget.

standing (pinned, profile, recent) and relevant > trusted > unique > room > inject
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from scrubjay.errors import InputError
from scrubjay.memory.contexts import PARTS, Cited, Context, Item, LeftOut
from scrubjay.memory.dates import shown
from scrubjay.memory.records import Record
from scrubjay.recall.assemble import full_path
from scrubjay.recall.inject import FRAME, HEADINGS, inject, label
from scrubjay.recall.picked import Asked
from scrubjay.recall.pipeline import answered, ask, measured, search
from scrubjay.recall.relevance import signs
from scrubjay.recall.request import Pool, Request
from scrubjay.recall.room import Shown, room
from scrubjay.recall.standing import Of, pinned, profile, recent
from scrubjay.recall.unique import unique
from scrubjay.store.base import Reader
from scrubjay.text.harmless import harmless
from scrubjay.text.size import tokens
from scrubjay.text.snippets import snippet

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder

PRIORITY: Final = ("pinned", "relevant", "profile", "recent")
"""Of two parts that hold one memory, the first shows it."""
LEAST_BUDGET, MOST_BUDGET = 50, 100_000
FOUND: Final = 24
"""Memories of a search that are looked at: of 2,000 tokens, at most half of them find room."""
SNIPPET: Final = 480
"""Characters of a memory that answers the question."""
PHRASE: Final = 120
"""Characters of a memory that has no phrase (L0)."""
WHOLE: Final = 120
"""Tokens up to which any other memory is told whole; a longer one by its paragraph (L1), then its phrase (L0)."""
DEEP: Final = 3
"""Steps back over which evidence is looked at: a digest, what it was drawn from, the turns of that."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a context is for.

    Attributes:
        query: What is asked, or None where a session begins.
        budget: Most tokens.
        of: Project, agent and session.
        loaded: Names and patterns of files that the agent reads itself.
        parts: Parts that take part.
        sessions: Most of the last sessions.
        pool: What tiers weigh, how sure an answer must be, the project that is preferred.
    """

    query: str | None
    budget: int
    of: Of
    loaded: Sequence[str]
    parts: Sequence[str] = PARTS
    sessions: int = 3
    pool: Pool = field(default_factory=Pool)

    def checked(self) -> Wanted:
        """Return itself.

        Raises:
            InputError: The budget is out of range, or a part is none.
        """
        if not LEAST_BUDGET <= self.budget <= MOST_BUDGET:
            raise InputError(
                f"budget is {self.budget}; it must lie between {LEAST_BUDGET} and {MOST_BUDGET:,} tokens."
            )
        for what, given in (("parts", self.parts), ("exclude_paths", self.loaded)):
            if isinstance(given, str):
                raise InputError(f"{what} is {given!r}, one text; give a list of them.")
        for part in self.parts:
            if part not in PARTS:
                raise InputError(f"Part {part!r} is not one of {', '.join(PARTS)}.")
        return self


def context(reader: Reader, embedders: Sequence[Embedder], wanted: Wanted) -> Context:
    """Put together what is worth having in mind, from one consistent view.

    Where something was asked and nothing that is stored has to do with it, there is nothing to say.

    Raises:
        InputError: A number is out of range, or a part is none.
    """
    wanted.checked()
    partial: tuple[str, ...] = ()
    asked, claims = None, []
    if wanted.query is not None:
        asked = ask(reader, embedders, _request(wanted))
        partial = asked.heard.partial
        if "relevant" in wanted.parts:
            claims = [("relevant", record) for record in _relevant(reader, embedders, asked, wanted)]
            if not claims:
                return Context("", (), (), 0, wanted.budget, partial)
    claims += _standing(reader, asked, wanted)
    roots = _roots(reader, [record.id for _, record in claims])
    trusted, refused = _trusted(reader, claims, roots, wanted.loaded)
    sources = {source.id: source for source in reader.sources()}
    items = [_item(part, record, asked, full_path(record, sources)) for part, record in trusted]
    kept, repeated = unique(sorted(items, key=lambda item: PRIORITY.index(item.part)), roots)
    placed, out = room(kept, wanted.budget - FRAME, HEADINGS, asked=asked is not None)
    if claims[:1] and claims[0][0] == "relevant" and not _answers(placed, claims):
        placed = []  # all that had to do with the question was refused or found no room
    text = inject([(one.item, one.line) for one in placed])
    cited = tuple(_cited(one.item, one.weight) for one in placed)
    return Context(text, cited, (*refused, *repeated, *out), tokens(text), wanted.budget, partial)


def _answers(placed: Sequence[Shown], claims: Sequence[tuple[str, Record]]) -> bool:
    """Return whether anything that is shown has to do with the question, in whatever part it stands."""
    wanted = {record.id for part, record in claims if part == "relevant"}
    return any(one.item.record.id in wanted for one in placed)


def _request(wanted: Wanted, *, own: bool = False) -> Request:
    return Request(
        wanted.query or "", wanted.of.where(own=own), limit=FOUND, now=wanted.of.now, pool=wanted.pool
    )


def _relevant(reader: Reader, embedders: Sequence[Embedder], asked: Asked, wanted: Wanted) -> list[Record]:
    """Return what has to do with the question, best first.

    A project's own memories are searched by themselves, too, where those of others took places from them.
    """
    found = answered(reader, asked, _request(wanted)).results
    scores = {one.id: one.score for one in found}
    if wanted.of.project is not None and any(one.project not in (wanted.of.project, None) for one in found):
        # Filters change no score, so that the two answers can be put into one order.
        scores |= {one.id: one.score for one in search(reader, embedders, _request(wanted, own=True)).results}
    turns = {memory: head.turn for memory, head in sorted(reader.heads(sorted(scores)).items())}
    told = signs(asked.plan, asked.heard.words, asked.heard.rankings, turns)
    records = reader.get([memory for memory, sign in told.items() if sign.enough])
    order = sorted(records, key=lambda memory: (-scores[memory], memory))
    return [records[memory] for memory in order if wanted.of.fits(records[memory])]


def _standing(reader: Reader, asked: Asked | None, wanted: Wanted) -> list[tuple[str, Record]]:
    """Return what holds whatever is asked; of a profile first what the question is nearest to."""
    found: list[tuple[str, Record]] = []
    if "pinned" in wanted.parts:
        found += [("pinned", record) for record in pinned(reader, wanted.of)]
    if "profile" in wanted.parts:
        known = {record.id: record for record in profile(reader, wanted.of)}
        ranked = (
            list(known)
            if asked is None
            else [one.id for one in measured(reader, asked, list(known), wanted.of.now)]
        )
        found += [("profile", known[memory]) for memory in ranked or known]
    if "recent" in wanted.parts:
        found += [("recent", record) for record in recent(reader, wanted.of, wanted.sessions)]
    return found


def _roots(reader: Reader, ids: Sequence[str]) -> dict[str, set[str]]:
    """Return what memories were made from, and that from, a few steps back."""
    roots: dict[str, set[str]] = {memory: set() for memory in ids}
    ends = {memory: {memory} for memory in roots}
    for _ in range(DEEP):
        edges = reader.edges(sorted(set().union(*ends.values())), ["derived_from"]) if ends else []
        behind: dict[str, set[str]] = {}
        for edge in edges:
            behind.setdefault(edge.src, set()).add(edge.dst)
        ends = {
            memory: {one for end in last for one in behind.get(end, ())} - roots[memory]
            for memory, last in ends.items()
        }
        ends = {memory: last for memory, last in ends.items() if last}
        for memory, last in ends.items():
            roots[memory] |= last
    return roots


def _trusted(
    reader: Reader, claims: Sequence[tuple[str, Record]], roots: Mapping[str, set[str]], loaded: Sequence[str]
) -> tuple[list[tuple[str, Record]], list[LeftOut]]:
    """Leave out what nobody vouched for or was made from such, what was replaced, what the agent reads itself."""
    behind = reader.get(sorted(set().union(*roots.values()))) if roots else {}
    edges = reader.edges([record.id for _, record in claims], ["supersedes"], inward=True)
    newer = reader.get(sorted({edge.src for edge in edges}))
    replaced = {edge.dst for edge in edges if edge.src in newer and newer[edge.src].status == "active"}
    foul = {memory for memory, record in behind.items() if record.origin == "untrusted"}
    kept: list[tuple[str, Record]] = []
    left: list[LeftOut] = []
    for part, record in claims:
        if record.origin == "untrusted" or not foul.isdisjoint(roots[record.id]):
            left.append(LeftOut(record.id, part, "untrusted"))
        elif record.id in replaced:
            left.append(LeftOut(record.id, part, "superseded"))
        elif _is_loaded(record, loaded):
            left.append(LeftOut(record.id, part, "loaded"))
        else:
            kept.append((part, record))
    return kept, left


def _is_loaded(record: Record, patterns: Sequence[str]) -> bool:
    """Return whether a pattern names the file of a memory: its name, or with a slash its path within its source."""
    if record.place is None:
        return False
    path = record.place.path.casefold()
    for pattern in patterns:
        wanted = pattern.casefold()
        if fnmatch.fnmatchcase(path if "/" in wanted else path.rpartition("/")[2], wanted):
            return True
    return False


def _item(part: str, record: Record, asked: Asked | None, path: str | None) -> Item:
    """Return a memory as it may be told, the longest first."""
    whole, date, place = record.content, shown(record.event, record.recorded_at), record.place
    if part == "relevant" and asked is not None:
        first = snippet(whole, asked.plan.groups, SNIPPET).text
    else:
        first = whole if tokens(whole) <= WHOLE else record.overview or snippet(whole, (), SNIPPET).text
    short = record.abstract or snippet(whole, (), PHRASE).text
    texts = tuple(dict.fromkeys(text for text in map(harmless, (first, short)) if text))
    lines = f"{place.line_start}-{place.line_end}" if place is not None else ""
    # A log's path says nothing to a reader; its turn is had by id.
    near = f"{place.path}:{lines}" if place is not None and record.session is None else record.id
    cited = f"{path}:{lines}" if path is not None else record.id
    return Item(part, record, texts, label(date, record.tier, near, record.role), cited, date)


def _cited(item: Item, weight: int) -> Cited:
    return Cited(item.record.id, item.part, item.record.tier, item.citation, item.date, -(-weight // 4))
