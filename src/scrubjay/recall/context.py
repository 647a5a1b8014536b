"""Context: a question, or the beginning of a session -> what is worth having in mind, within a budget.

standing (pinned, profile, recent) and relevant > trusted > unique > room > inject
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from scrubjay.errors import InputError
from scrubjay.memory.contexts import PARTS, Cited, Context, Item, LeftOut
from scrubjay.memory.dates import date_of
from scrubjay.memory.records import JOINT, Record, Source
from scrubjay.memory.sources import whose
from scrubjay.memory.tiers import UNTRUSTED
from scrubjay.recall.admit import told_unasked
from scrubjay.recall.assemble import full_path
from scrubjay.recall.inject import FRAME, HEADINGS, inject, label
from scrubjay.recall.picked import Asked
from scrubjay.recall.pipeline import ask, judge, measured
from scrubjay.recall.request import Request
from scrubjay.recall.room import Shown, room
from scrubjay.recall.standing import Of, pinned, profile, recent
from scrubjay.recall.unique import unique
from scrubjay.store.base import Reader
from scrubjay.text.display import harmless
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
COPIES: Final = 5
"""Memories that say the same as one that answers and may be told in its place, where that one is refused."""
SILENCE: Final = "Nothing stored has to do with this."
DEEP: Final = 3
"""Steps back over which evidence is looked at: a digest, what it was drawn from, the turns of that."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a context is for.

    Attributes:
        asking: What is asked, as a search asks it where nothing but the question is given; None where a session
            begins.
        budget: Most tokens.
        of: Project, agent and session.
        loaded: Names and patterns of files that the agent reads itself.
        parts: Parts that take part.
        sessions: Most of the last sessions.
    """

    asking: Request | None
    budget: int
    of: Of
    loaded: Sequence[str]
    parts: Sequence[str] = PARTS
    sessions: int = 3

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
    if wanted.asking is not None:
        request = replace(wanted.asking, where=wanted.of.where(), limit=FOUND)
        asked = ask(reader, embedders, request)
        partial = asked.heard.partial
        if "relevant" in wanted.parts:
            claims = [("relevant", record) for record in _relevant(reader, asked, request)]
            if not claims:
                return Context("", (), (), 0, wanted.budget, partial, silence=SILENCE)
    claims += _standing(reader, asked, wanted)
    roots = _roots(reader, [record.id for _, record in claims])
    then = asked is not None and asked.plan.as_of is not None
    sources = {source.id: source for source in reader.sources()}
    joint = {record.id for _, record in claims if _joint(record, wanted.of, sources)}
    trusted, refused, loaded = _trusted(reader, claims, (roots, joint), wanted.loaded, then=then)
    items = [_item(part, record, asked, full_path(record, sources)) for part, record in trusted]
    once = unique(sorted(items, key=lambda item: PRIORITY.index(item.part)), roots, loaded)
    placed, out = room(once.items, wanted.budget - FRAME, HEADINGS, asked=asked is not None)
    if claims[:1] and claims[0][0] == "relevant" and not _answers(placed, claims, once.instead):
        placed = []  # all that had to do with the question was refused or found no room
    text = inject([(one.item, one.line) for one in placed])
    cited = tuple(_cited(one.item, one.weight) for one in placed)
    silence = SILENCE if asked is not None and not text else ""
    left = (*refused, *once.left, *out)
    return Context(text, cited, left, tokens(text), wanted.budget, partial, silence=silence)


def _answers(
    placed: Sequence[Shown], claims: Sequence[tuple[str, Record]], instead: Mapping[str, str]
) -> bool:
    """Return whether anything that is shown has to do with the question, or says what does, in whatever part."""
    wanted = {record.id for part, record in claims if part == "relevant"}
    wanted |= {instead[memory] for memory in wanted if memory in instead}
    return any(one.item.record.id in wanted for one in placed)


def _relevant(reader: Reader, asked: Asked, request: Request) -> list[Record]:
    """Return what has to do with the question, best first, by the judgement of a search; behind each its copies."""
    found = judge(reader, asked, request)
    chosen = found.picked.chosen
    return [
        chosen.records[memory]
        for one in told_unasked(found.admitted, found.told)
        for memory in (one.id, *chosen.copies.get(one.id, ())[:COPIES])
    ]


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
    reader: Reader,
    claims: Sequence[tuple[str, Record]],
    beside: tuple[Mapping[str, set[str]], Set[str]],
    patterns: Sequence[str],
    *,
    then: bool,
) -> tuple[list[tuple[str, Record]], list[LeftOut], list[Record]]:
    """Leave out what nobody vouched for or was made from such, what was replaced, what the agent reads itself.

    Args:
        reader: Where edges and records are.
        claims: Parts and their memories.
        beside: Memory to what it was made from, and the untrusted ones that are shown all the same.
        patterns: Names of files that the agent reads itself.
        then: Whether the question is of another time, when what was replaced since was true.

    Returns:
        What is kept, what is not, and of that what the agent reads itself.
    """
    roots, joint = beside
    behind = reader.get(sorted(set().union(*roots.values()))) if roots else {}
    edges = reader.edges([record.id for _, record in claims], ["supersedes"], inward=True)
    newer = reader.get(sorted({edge.src for edge in edges}))
    replaced = {edge.dst for edge in edges if edge.src in newer and newer[edge.src].status == "active"}
    foul = {memory for memory, record in behind.items() if record.origin == UNTRUSTED}
    kept: list[tuple[str, Record]] = []
    left: list[LeftOut] = []
    loaded: list[Record] = []
    for part, record in claims:
        if (record.origin == UNTRUSTED and record.id not in joint) or not foul.isdisjoint(roots[record.id]):
            left.append(LeftOut(record.id, part, UNTRUSTED))
        elif record.id in replaced and not (then and part == "relevant"):
            left.append(LeftOut(record.id, part, "superseded"))
        elif _is_loaded(record, patterns):
            loaded.append(record)
            left.append(LeftOut(record.id, part, "loaded"))
        else:
            kept.append((part, record))
    return kept, left, loaded


def _joint(record: Record, of: Of, sources: Mapping[str, Source]) -> bool:
    """Return whether a memory is a note of the very project, of a repository that others work on with its owner."""
    place = record.place
    if of.project is None or record.project != of.project or place is None or record.turn is not None:
        return False
    return place.source in sources and whose(sources[place.source], place.path) == JOINT


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
    whole, date, place = record.content, date_of(record), record.place
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
    return Item(part, record, texts, label(date, _kind(record), near), cited, date)


def _kind(record: Record) -> str:
    """Return what a memory is, where that is not plain: who said it, or its tier; that it is untrusted, or past."""
    kind = record.role or ("" if record.tier == "observation" else record.tier)
    if record.origin == UNTRUSTED:
        kind = f"{UNTRUSTED} {kind}".strip()
    return kind if record.status == "active" else f"{kind} {record.status}".strip()


def _cited(item: Item, weight: int) -> Cited:
    return Cited(item.record.id, item.part, item.record.tier, item.citation, item.date, -(-weight // 4))
