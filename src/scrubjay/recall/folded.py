"""Folded: candidates -> candidates in which turns stand for what was taken from them, and what memories rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scrubjay.memory.ranking import Candidate
from scrubjay.recall.fold import fold, statements
from scrubjay.recall.plan import Plan
from scrubjay.recall.slate import ordered
from scrubjay.store.base import Reader


def folded(
    ranked: list[Candidate], made: Plan, reader: Reader
) -> tuple[list[Candidate], Mapping[str, tuple[str, ...]]]:
    """Let turns stand for the statements taken from them, best first again."""
    stated = statements(ranked) if made.fusion == "auto" and "fold" in made.stages else []
    if not stated:
        return ranked, {}
    done = fold(ranked, evidence_of(reader, stated))
    return ordered(done.candidates), done.into


def evidence_of(reader: Reader, derived: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return what memories were taken from, the heaviest first."""
    found: dict[str, tuple[str, ...]] = {}
    for edge in reader.edges(derived, ["derived_from"]) if derived else ():
        found[edge.src] = (*found.get(edge.src, ()), edge.dst)
    return found
