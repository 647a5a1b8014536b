"""Verify: candidates -> those whose stored text holds every phrase and nothing excluded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scrubjay.memory.ranking import Candidate
from scrubjay.memory.records import Record
from scrubjay.recall.query import Query
from scrubjay.text.snippets import contains_phrase


def verify(candidates: Sequence[Candidate], records: Mapping[str, Record], query: Query) -> list[Candidate]:
    """Check phrases and exclusions on the text itself, where words stand in sequence."""
    if not query.phrases and not query.excluded:
        return list(candidates)
    return [candidate for candidate in candidates if _holds(records[candidate.id], query)]


def _holds(record: Record, query: Query) -> bool:
    return all(_in(record, phrase) for phrase in query.phrases) and not any(
        _in(record, phrase) for phrase in query.excluded
    )


def _in(record: Record, phrase: str) -> bool:
    """Tell whether a phrase stands in the title or in the text; it does not run from one into the other."""
    return contains_phrase(record.content, phrase) or contains_phrase(record.title, phrase)
