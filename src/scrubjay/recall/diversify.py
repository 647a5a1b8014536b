"""Diversify: candidates and their records -> candidates, without the same text twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scrubjay.memory.ranking import Candidate
from scrubjay.memory.records import Record


def diversify(candidates: Sequence[Candidate], records: Mapping[str, Record]) -> list[Candidate]:
    """Keep the best of memories whose texts are equal: a copy of a note answers nothing more."""
    seen: set[str] = set()
    kept = []
    for candidate in candidates:
        text = records[candidate.id].content_hash
        if text not in seen:
            seen.add(text)
            kept.append(candidate)
    return kept
