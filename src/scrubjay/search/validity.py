"""Validity: filter candidates by quoted phrases, exclusions and valid time; newer of equal answers first.

Valid time is when something was true, as far as it was ever stated, not what the index held at that time. What
has no beginning was always true, except that a successor began when its predecessor ended. Memories of a later
day are left out where the caller sets the time, and kept where the question's words do.

The recency rule is bounded: a newer memory goes before an older one only where it holds every query word that
the older one holds, is about as likely to answer, and shares much of its text; only the first five are looked
at.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from functools import cache
from typing import Final

from scrubjay.models.dates import DAY
from scrubjay.models.graph import NEWER_RULE
from scrubjay.models.records import Record, said_at
from scrubjay.models.results import Candidate
from scrubjay.search.candidates import TermRanking
from scrubjay.search.dedup import deduplicate
from scrubjay.search.plan import QueryPlan
from scrubjay.search.query import ParsedQuery
from scrubjay.search.relevance import RelevanceFeatures, term_weights, terms_held
from scrubjay.search.results import ResultGroup
from scrubjay.storage.interface import Reader
from scrubjay.text.language import detect_language, is_uninformative
from scrubjay.text.snippets import contains_phrase
from scrubjay.text.tokenizer import index_terms

SPARE_RECORDS: Final = 10
"""Records read beyond those wanted: enough that a few equal texts leave the answer full. With 20 all sets give the same
figures, and a search costs a tenth more (bench/LOG.md)."""


def verify_candidates(
    ranked: Sequence[Candidate],
    plan: QueryPlan,
    reader: Reader,
    archived: Set[str],
    wanted: int,
    *,
    unique: bool,
) -> tuple[list[Candidate], dict[str, Record], dict[str, tuple[str, ...]]]:
    """Read records in the order of their rank until enough candidates are valid.

    Each batch is larger than the one before: the different ones of ten thousand copies are found in few steps.

    Args:
        ranked: Candidates, best first.
        plan: The query plan.
        reader: The caller's view of the store.
        archived: Archived memories that may answer, where only some may.
        wanted: How many candidates are enough.
        unique: Whether duplicates are left out.

    Returns:
        The valid candidates, best first; the records that were read; and each candidate's duplicates.
    """
    found: list[Candidate] = []
    records: dict[str, Record] = {}
    copies: dict[str, tuple[str, ...]] = {}
    first, size = 0, wanted + SPARE_RECORDS
    while first < len(ranked) and len(found) < wanted:
        batch = ranked[first : first + size]
        records |= reader.get([one.id for one in batch])
        batch = [one for one in batch if one.id in records]
        if archived:
            batch = [one for one in batch if records[one.id].status == "active" or one.id in archived]
        if not plan.query.phrases:
            batch = [one for one in batch if not is_small_talk_turn(records[one.id])]
        if plan.true_at is not None:
            batch, older = replace_future(batch, records, reader, plan.true_at)
            records |= older
            began = starts_as_of(plan, [records[one.id] for one in batch], reader)
            batch = valid_at(batch, records, plan.true_at, began)
        found += match_phrases(batch, records, plan.query)
        if unique:
            found, new_copies = deduplicate(found, records)
            copies |= {one: (*copies.get(one, ()), *others) for one, others in new_copies.items()}
        first, size = first + size, size * 2
    return found, records, copies


def is_small_talk_turn(record: Record) -> bool:
    """Return whether a memory is a turn that says nothing by itself: it is stored for its conversation."""
    if record.turn is None:
        return False
    from scrubjay.text.dialogue import is_small_talk

    return is_small_talk(record.content)


def match_phrases(
    candidates: Sequence[Candidate], records: Mapping[str, Record], query: ParsedQuery
) -> list[Candidate]:
    """Check phrases and exclusions on the text itself, where words stand in sequence."""
    if not query.phrases and not query.excluded:
        return list(candidates)
    return [candidate for candidate in candidates if _matches(records[candidate.id], query)]


def _matches(record: Record, query: ParsedQuery) -> bool:
    return all(_contains(record, phrase) for phrase in query.phrases) and not any(
        _contains(record, phrase) for phrase in query.excluded
    )


def _contains(record: Record, phrase: str) -> bool:
    """Return whether a phrase stands in the title or in the text; it does not run from one into the other."""
    return contains_phrase(record.content, phrase) or contains_phrase(record.title, phrase)


MAX_FUTURE_STEPS: Final = 4
"""Memories, each to replace the one before and none true yet, behind which what is true now is looked for."""


def valid_at(
    candidates: Sequence[Candidate],
    records: Mapping[str, Record],
    at: int,
    began: Mapping[str, int] | None = None,
) -> list[Candidate]:
    """Return the candidates that are true at a time.

    Args:
        candidates: Candidates, best first.
        records: Their records.
        at: UTC microseconds.
        began: Where the time is another than now: when those began to be true that say it in no field.
    """
    return [one for one in candidates if is_true_at(records[one.id], at, began)]


def is_true_at(record: Record, at: int, began: Mapping[str, int] | None = None) -> bool:
    """Return whether a memory is true at a time; with ``began``, also whether it was already so."""
    if record.valid_until is not None and record.valid_until <= at:
        return False
    if record.valid_from is not None:
        return record.valid_from <= at
    return began is None or began.get(record.id, at) <= at


def replace_future(
    candidates: Sequence[Candidate], records: Mapping[str, Record], reader: Reader, at: int
) -> tuple[list[Candidate], dict[str, Record]]:
    """Let what is true until then stand where something stands that will replace it and is not true yet.

    Returns:
        The candidates, and the records of those that were not among them.
    """
    found: dict[str, Record] = {}
    ahead = {one.id: one.id for one in candidates if (records[one.id].valid_from or at) > at}
    replaced: dict[str, str] = {}
    for _ in range(MAX_FUTURE_STEPS if ahead else 0):
        edges = [edge for edge in reader.edges(sorted(ahead), ["supersedes"]) if edge.src in ahead]
        older = reader.get([edge.dst for edge in edges])
        found |= older
        steps = [(ahead[edge.src], older[edge.dst]) for edge in edges if edge.dst in older]
        replaced |= {first: old.id for first, old in steps if is_true_at(old, at)}
        ahead = {old.id: first for first, old in steps if (old.valid_from or at) > at}
        if not ahead:
            break
    there = {one.id for one in candidates}
    kept = [
        replace(one, id=replaced[one.id]) if replaced.get(one.id, one.id) not in there else one
        for one in candidates
    ]
    return kept, found


def starts_as_of(plan: QueryPlan, records: Sequence[Record], reader: Reader) -> dict[str, int] | None:
    """Return when memories without a start of their own became true: when the last that they replaced ended.

    None where the query asks about now. Where the caller set the time, what tells of a day began with it.
    """
    if plan.as_of is None:
        return None
    found = {one.id: one.event.start for one in records if plan.as_asked and one.event is not None}
    edges = reader.edges([one.id for one in records], ["supersedes"])
    replaced = reader.get(sorted({edge.dst for edge in edges}))
    for edge in edges:
        old = replaced.get(edge.dst)
        if old is not None and old.valid_until is not None:
            found[edge.src] = max(found.get(edge.src, old.valid_until), old.valid_until)
    return found


def find_newer(reader: Reader, records: Mapping[str, Record], at: int) -> dict[str, tuple[str, ...]]:
    """Return the active memories that may have changed each memory: joined with it, and said later; the newest first.

    Args:
        reader: Where they are.
        records: Memories, by their ids.
        at: UTC microseconds: what is not true then is left out.
    """
    pairs = set()
    for inward in (False, True):
        for edge in reader.edges(sorted(records), ["contradicts", "similar", "supersedes"], inward=inward):
            one, other = (edge.dst, edge.src) if inward else (edge.src, edge.dst)
            if edge.kind == "contradicts" or (
                inward and (edge.kind == "supersedes" or edge.rule == NEWER_RULE)
            ):
                pairs.add((one, other))
    others = reader.get(sorted({other for _, other in pairs}))
    found: dict[str, list[Record]] = {}
    for memory, other in sorted(pairs):
        late = others.get(other)
        if late is None or late.status != "active" or not is_true_at(late, at):
            continue
        if said_at(records[memory]) < said_at(late) <= at:
            found.setdefault(memory, []).append(late)
    return {
        memory: tuple(one.id for one in sorted(late, key=lambda one: (-said_at(one), one.id)))
        for memory, late in found.items()
    }


def newest_first(groups: Sequence[ResultGroup], newer: Mapping[str, Sequence[str]]) -> list[ResultGroup]:
    """Return groups in their order, but none before one whose memory is newer than its own."""
    by_id = {group.lead.id: group for group in groups}
    order: dict[str, ResultGroup] = {}
    for memory, group in by_id.items():
        order |= {late: by_id[late] for late in newer.get(memory, ()) if late in by_id and late not in order}
        order.setdefault(memory, group)
    return list(order.values())


MIN_RELEVANCE_SHARE: Final = 0.7
"""Share of the older one's relevance that the newer one must come to."""
MIN_TEXT_OVERLAP: Final = 0.15
"""Share of the telling words of both texts that both hold, from which on they tell of the same."""


PREFERENCE_PARTS: Final = ("tier", "project")
"""Parts of a score by which a caller prefers memories: a date does not outdo them."""


def newer_equivalents(
    candidates: Sequence[Candidate],
    records: Mapping[str, Record],
    features: Mapping[str, RelevanceFeatures],
    plan: QueryPlan,
    terms: TermRanking | None,
) -> dict[str, tuple[str, ...]]:
    """Return of each memory those behind it that answer about as well, tell of the same and were said later.

    What was said on one day is of one age, and a file without a date of its own is neither newer nor older than
    anything.

    Args:
        candidates: Memories, best first.
        records: Their records.
        features: The relevance features of each.
        plan: The query plan.
        terms: The ranking by words, None where the query has none.
    """
    ids = [one.id for one in candidates]
    weights = term_weights(plan, terms)
    held = {
        one: by & weights.keys()
        for one, by in zip(ids, terms_held(terms, ids), strict=True)
        if has_date(records[one])
    }
    informative = cache(
        lambda one: _informative_terms(records[one])
    )  # few pairs come so far that their texts are compared
    preference = {
        one.id: math.fsum(part.amount for part in one.contributions if part.channel in PREFERENCE_PARTS)
        for one in candidates
    }
    found: dict[str, tuple[str, ...]] = {}
    for place, old in enumerate(ids):
        if not held.get(old):
            continue
        late = [
            new
            for new in ids[place + 1 :]
            if new in held
            and said_at(records[new]) - said_at(records[old]) >= DAY
            and preference[new] >= preference[old]
            and held[new] >= held[old]
            and features[new].relevance >= MIN_RELEVANCE_SHARE * features[old].relevance
            and len(informative(old) & informative(new))
            >= MIN_TEXT_OVERLAP * len(informative(old) | informative(new))
        ]
        if late:
            found[old] = tuple(sorted(late, key=lambda one: (-said_at(records[one]), one)))
    return found


def has_date(record: Record) -> bool:
    """Return whether it is known when a memory was said: not of a file that names no day of its own."""
    return record.event is not None or record.valid_from is not None or record.place is None


def _informative_terms(record: Record) -> set[str]:
    return {
        word
        for word in index_terms(record.content, detect_language(record.content)).counts
        if not is_uninformative(word)
    }
