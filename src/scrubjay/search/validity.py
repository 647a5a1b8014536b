"""Validity: filter candidates by quoted phrases, exclusions and valid time; newer of equal answers first.

Valid time is when something was true, not when the store held it. A memory without a start was always true, except
that a successor begins when its predecessor ends. Future memories are left out only where the caller sets the time.
A newer memory goes before an older one only where it holds every query word of the older one, is about as likely to
answer, and shares much of its text. A memory is also older where a statement extracted from it was superseded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from scrubjay.models.dates import DAY
from scrubjay.models.graph import EDITED_RULE, NEWER_RULE, SUPERSEDED_BY_RULE, SUPERSEDES_RULE, Edge
from scrubjay.models.records import GENERIC_ROLES, PERSON_ROLES, Record, known_later, said_at
from scrubjay.models.results import Candidate
from scrubjay.search.amendments import rare_terms
from scrubjay.search.candidates import TermRanking
from scrubjay.search.dedup import DERIVED_PREFIXES, DIGEST_TIERS, deduplicate
from scrubjay.search.plan import QueryPlan
from scrubjay.search.query import ParsedQuery
from scrubjay.search.relevance import RelevanceFeatures, term_weights, terms_held
from scrubjay.search.results import ResultGroup
from scrubjay.storage.interface import Reader
from scrubjay.text.language import detect_language, is_uninformative
from scrubjay.text.snippets import contains_phrase
from scrubjay.text.tokenizer import index_terms

SPARE_RECORDS: Final = 10
"""Records read beyond those wanted, for duplicates. 20 gives the same figures and costs a tenth more (bench/LOG.md)."""


def verify_candidates(
    ranked: Sequence[Candidate],
    plan: QueryPlan,
    reader: Reader,
    archived: Set[str],
    wanted: int,
    *,
    unique: bool,
) -> tuple[list[Candidate], dict[str, Record], dict[str, tuple[str, ...]]]:
    """Read records in the order of their rank, in growing batches, until ``wanted`` candidates are valid.

    ``unique`` leaves out duplicates. Returns the valid candidates, the records read, and each candidate's duplicates.
    """
    valid: list[Candidate] = []
    records: dict[str, Record] = {}
    copies: dict[str, tuple[str, ...]] = {}
    first, size = 0, wanted + SPARE_RECORDS
    while first < len(ranked) and len(valid) < wanted:
        batch = ranked[first : first + size]
        records |= reader.get([one.id for one in batch])
        batch = [one for one in batch if one.id in records]
        if archived:
            batch = [one for one in batch if records[one.id].status == "active" or one.id in archived]
        if not plan.query.phrases:
            batch = [one for one in batch if not is_small_talk_turn(records[one.id])]
        if plan.question.time_only:
            named = plan.question.naming_days
            batch = [one for one in batch if one.id in named or not records[one.id].is_undated_import]
        if plan.true_at is not None:
            batch, older = replace_future(batch, records, reader, plan.true_at)
            records |= older
            starts = starts_as_of(plan, [records[one.id] for one in batch], reader)
            batch = [one for one in batch if is_true_at(records[one.id], plan.true_at, starts)]
        valid += match_phrases(batch, records, plan.query)
        if unique:
            valid, new_copies = deduplicate(valid, records)
            copies |= {one: (*copies.get(one, ()), *others) for one, others in new_copies.items()}
        first, size = first + size, size * 2
    return valid, records, copies


def is_small_talk_turn(record: Record) -> bool:
    """Return whether a memory is a turn that says nothing by itself: it is stored for its conversation."""
    if not record.is_turn:
        return False
    from scrubjay.text.dialogue import is_small_talk

    return is_small_talk(record.content)


def match_phrases(
    candidates: Sequence[Candidate], records: Mapping[str, Record], query: ParsedQuery
) -> list[Candidate]:
    """Check phrases and exclusions on the text itself."""
    if not query.phrases and not query.excluded:
        return list(candidates)
    return [
        one
        for one in candidates
        if all(_contains(records[one.id], phrase) for phrase in query.phrases)
        and not any(_contains(records[one.id], phrase) for phrase in query.excluded)
    ]


def _contains(record: Record, phrase: str) -> bool:
    return contains_phrase(record.content, phrase) or contains_phrase(record.title, phrase)


MAX_FUTURE_STEPS: Final = 4
"""Maximum number of successive future memories behind which the valid one is looked for."""


def is_true_at(record: Record, at: int, starts: Mapping[str, int] | None = None) -> bool:
    """Return whether a memory is true at a time; with ``starts``, also whether it was already so."""
    if record.valid_until is not None and record.valid_until <= at:
        return False
    if record.valid_from is not None:
        return record.valid_from <= at
    return starts is None or starts.get(record.id, at) <= at


def replace_future(
    candidates: Sequence[Candidate], records: Mapping[str, Record], reader: Reader, at: int
) -> tuple[list[Candidate], dict[str, Record]]:
    """Replace successors that are not true yet by their predecessors; return the records of those, too."""
    predecessors: dict[str, Record] = {}
    future = {one.id: one.id for one in candidates if (records[one.id].valid_from or at) > at}
    if not future:
        return list(candidates), predecessors
    replaced: dict[str, str] = {}
    for _ in range(MAX_FUTURE_STEPS):
        edges = [edge for edge in reader.edges(sorted(future), ["supersedes"]) if edge.src in future]
        older = reader.get([edge.dst for edge in edges])
        predecessors |= older
        steps = [(future[edge.src], older[edge.dst]) for edge in edges if edge.dst in older]
        replaced |= {first: old.id for first, old in steps if is_true_at(old, at)}
        future = {old.id: first for first, old in steps if (old.valid_from or at) > at}
        if not future:
            break
    present = {one.id for one in candidates}
    current = [
        replace(one, id=replaced[one.id]) if replaced.get(one.id, one.id) not in present else one
        for one in candidates
    ]
    return current, predecessors


def starts_as_of(plan: QueryPlan, records: Sequence[Record], reader: Reader) -> dict[str, int] | None:
    """Return when memories without a start of their own became true: when the last that they superseded ended.

    None where the query asks about now. Where the caller set the time, a memory with an event date began with that.
    """
    if plan.as_of is None:
        return None
    starts = {one.id: one.event.start for one in records if plan.as_asked and one.event is not None}
    edges = reader.edges([one.id for one in records], ["supersedes"])
    replaced = reader.get(sorted({edge.dst for edge in edges}))
    for edge in edges:
        old = replaced.get(edge.dst)
        if old is not None and old.valid_until is not None:
            starts[edge.src] = max(starts.get(edge.src, old.valid_until), old.valid_until)
    return starts


def find_newer(reader: Reader, records: Mapping[str, Record], at: int) -> dict[str, tuple[str, ...]]:
    """Return the active memories that may have changed each memory: linked, later, true at ``at``; newest first.

    A note that another replaced in its author's words needs no earlier date.
    """
    ids = sorted(records)
    pairs = {(edge.src, edge.dst) for edge in reader.edges(ids, ["contradicts"])}
    for kinds, rule in ((["contradicts", "supersedes"], None), (["similar"], NEWER_RULE)):
        pairs |= {(edge.dst, edge.src) for edge in reader.edges(ids, kinds, inward=True, rule=rule)}
    others = reader.get(sorted({other for _, other in pairs}))
    newer: dict[str, list[Record]] = {}
    for memory, other in sorted(pairs):
        later = others.get(other)
        if later is None or later.status != "active" or not is_true_at(later, at):
            continue
        if known_later(later, records[memory]) and said_at(later) <= at:
            newer.setdefault(memory, []).append(later)
    for memory, later in _replaced_notes(reader, records):
        if later.status == "active" and is_true_at(later, at) and said_at(later) <= at:
            newer.setdefault(memory, []).append(later)
    return {
        memory: tuple(one.id for one in sorted(later, key=lambda one: (-said_at(one), one.id)))
        for memory, later in newer.items()
    }


CORRECTION_TURNS: Final = 6
"""Turns of a conversation after a statement among which its speaker may take it back."""


def find_corrections(reader: Reader, records: Mapping[str, Record], at: int) -> dict[str, tuple[str, ...]]:
    """Return the later turns of a conversation in which its speaker takes a turn back, latest first.

    "Sorry, scratch that: it is still 100" corrects the statement before it, and an earlier one if it shares a word.
    """
    from scrubjay.text.dialogue import takes_back

    corrections: dict[str, tuple[str, ...]] = {}
    for memory, record in records.items():
        if record.session is None or record.turn is None or record.role not in PERSON_ROLES:
            continue
        following = reader.turns(record.session, record.turn + 1, record.turn + CORRECTION_TURNS)
        own = [one for one in following if one.role == record.role and one.status == "active"]
        later = [
            one.id
            for place, one in enumerate(own)
            if takes_back(one.content)
            and said_at(one) <= at
            and (place == 0 or rare_terms(one) & rare_terms(record))
        ]
        if later:
            corrections[memory] = tuple(reversed(later))
    return corrections


def last_changes(reader: Reader, newer: Mapping[str, Sequence[str]], at: int) -> dict[str, Record]:
    """Return, by memory, the last of the memories that changed it one after another.

    ``newer`` is the result of `find_newer` for the memories.
    """
    last = {memory: ids[0] for memory, ids in newer.items()}
    records: dict[str, Record] = {}
    for _ in range(MAX_SUCCESSORS):
        new = reader.get(sorted(set(last.values()) - records.keys()))
        if not new:
            break
        records |= new
        following = {memory: ids[0] for memory, ids in find_newer(reader, new, at).items()}
        last = {memory: following.get(one, one) for memory, one in last.items()}
    return {memory: records[one] for memory, one in last.items() if one in records and one != memory}


MAX_REMARK: Final = 300
"""Characters of a remark that is compared with others; a longer one is about several things."""
_VALUE_CHARACTER: Final = re.compile(r"[\d@]")


def find_value_updates(memories: Sequence[str], records: Mapping[str, Record], at: int) -> dict[str, Record]:
    """Return, of what a person said, the last remark that may give the same thing another value, a day later or more.

    ``records`` are those that were found for the question; nothing links the two.
    """
    remarks = [
        one for one in records.values() if _is_remark(one) and is_true_at(one, at) and said_at(one) <= at
    ]
    later: dict[str, Record] = {}
    for memory in memories:
        old = records[memory]
        new = [one for one in remarks if said_at(one) - said_at(old) >= DAY and _is_same_speaker(old, one)]
        if not new or not _is_remark(old):
            continue
        from scrubjay.facts.value_updates import may_update_value  # a cold search seldom needs it

        changing = [one for one in new if may_update_value(old.content, one.content)]
        if changing:
            later[memory] = max(changing, key=lambda one: (said_at(one), one.id))
    return later


def _is_remark(record: Record) -> bool:
    """Return whether a memory is a dated remark with a number or a mail address, said or added by a person."""
    said = record.is_dated and (record.is_turn or record.place is None) and record.role not in REPLY_ROLES
    return (
        said
        and record.status == "active"
        and record.tier not in DIGEST_TIERS
        and len(record.content) <= MAX_REMARK
        and _VALUE_CHARACTER.search(record.content) is not None
    )


def _is_same_speaker(one: Record, other: Record) -> bool:
    return (one.key, one.owner, one.project) == (
        other.key,
        other.owner,
        other.project,
    ) and one.role == other.role


def _replaced_notes(reader: Reader, records: Mapping[str, Record]) -> Iterator[tuple[str, Record]]:
    """Yield each passage of a replaced note with the new note's first result, or its first passage if none is found."""
    notes: dict[tuple[str, str], list[str]] = {}
    for memory, record in records.items():
        if record.place is not None and record.turn is None:
            notes.setdefault((record.place.source, record.place.path), []).append(memory)
    ids = [memory for own in notes.values() for memory in own]
    pairs = {(edge.dst, edge.src) for edge in reader.edges(ids, ["links"], inward=True, rule=SUPERSEDES_RULE)}
    for inward in (False, True):
        edges = reader.edges(ids, ["links"], inward=inward, rule=SUPERSEDED_BY_RULE)
        pairs |= {(edge.src, edge.dst) for edge in edges}
    others = reader.get(sorted({memory for pair in pairs for memory in pair}))
    places = {memory: one.place for memory, one in others.items() if one.place is not None}
    first_passages: dict[tuple[tuple[str, str], tuple[str, str]], tuple[int, str]] = {}
    for old, new in pairs:
        if old in places and new in places:
            ends = (places[old].source, places[old].path), (places[new].source, places[new].path)
            at = places[new].ordinal, new
            first_passages[ends] = min(first_passages.get(ends, at), at)
    for (before, after), (_, passage) in sorted(first_passages.items()):
        later = records[notes[after][0]] if after in notes else others[passage]
        yield from ((memory, later) for memory in notes.get(before, ()))


MAX_SUCCESSORS: Final = 8
"""Maximum number of steps from a superseded statement to the one that holds."""


@dataclass(frozen=True, slots=True)
class Supersession:
    """A superseded statement of a memory, and the later memory.

    The later memory is the last source of the later statement, or that statement itself if it has no visible source.
    """

    statement: Record
    later: Record


def superseded_statements(
    reader: Reader, records: Mapping[str, Record], at: int, *, uncertain: bool = False
) -> dict[str, tuple[Supersession, ...]]:
    """Return, by memory, its extracted statements that no longer hold at ``at``, the latest change first.

    With ``uncertain``, also those that a later statement may have changed.
    """
    extracted = [
        (edge.dst, edge.src)
        for edge in reader.edges(sorted(records), ["derived_from"], inward=True)
        if edge.src.startswith(DERIVED_PREFIXES)
    ]
    own_facts = sorted({fact for _, fact in extracted})
    links = list(reader.edges(own_facts, ["supersedes"], inward=True)) if extracted else []
    newer_edges = (
        reader.edges(own_facts, ["similar"], inward=True, rule=NEWER_RULE) if extracted and uncertain else []
    )
    if not links and not newer_edges:
        return {}
    edited = {edge.dst for edge in links if edge.rule == EDITED_RULE}
    doubtful = {edge.dst for edge in newer_edges}
    facts, later_of = _follow_successors(reader, [*links, *newer_edges])
    old = [facts[one] for one in sorted(doubtful | {edge.dst for edge in links}) if one in facts]
    current_by_fact = {
        one.id: _find_current(one.id, facts, later_of, at)
        for one in old
        if one.status == "superseded" or one.id in doubtful
    }
    edges = reader.edges(sorted(set().union(*current_by_fact.values())), ["derived_from"])
    sources = reader.get(sorted({edge.dst for edge in edges}))
    supersessions: dict[str, dict[str, Supersession]] = {}
    for memory, fact in extracted:
        for one in current_by_fact.get(fact, ()):
            if facts[one].content_hash == facts[fact].content_hash:
                continue  # it was said again
            own_sources = [sources[edge.dst] for edge in edges if edge.src == one and edge.dst in sources]
            later = facts[one]
            if fact not in edited:
                if any(source.id == memory for source in own_sources):
                    continue  # it says both itself
                stating = [
                    source
                    for source in own_sources
                    if source.status == "active" and said_at(records[memory]) <= said_at(source) <= at
                ]
                later = max(stating, key=lambda source: (said_at(source), source.id), default=later)
            supersessions.setdefault(memory, {}).setdefault(later.id, Supersession(facts[fact], later))
    return {
        memory: tuple(sorted(changes.values(), key=lambda one: (-said_at(one.later), one.later.id)))
        for memory, changes in supersessions.items()
    }


def successors(reader: Reader, ids: Sequence[str], at: int) -> dict[str, tuple[Record, ...]]:
    """Return the active memories that hold at ``at`` in place of each superseded one, the latest first.

    The earlier text of an edited memory has none: somebody withdrew its words.
    """
    links = reader.edges(ids, ["supersedes"], inward=True) if ids else []
    facts, later_of = _follow_successors(reader, [edge for edge in links if edge.rule != EDITED_RULE])
    successors_of = {}
    for memory in [one for one in ids if one in later_of]:
        current = [facts[one] for one in _find_current(memory, facts, later_of, at)]
        own = [one for one in current if one.status == "active"]
        if own:
            successors_of[memory] = tuple(sorted(own, key=lambda one: (-said_at(one), one.id)))
    return successors_of


def _follow_successors(
    reader: Reader, links: Sequence[Edge]
) -> tuple[dict[str, Record], dict[str, set[str]]]:
    """Return the memories of ``supersedes`` edges with all that superseded them since, and the successors of each."""
    facts = dict(reader.get(sorted({edge.dst for edge in links})))
    later_of: dict[str, set[str]] = {}
    for _ in range(MAX_SUCCESSORS):
        for edge in links:
            later_of.setdefault(edge.dst, set()).add(edge.src)
        new = reader.get(sorted({edge.src for edge in links} - facts.keys()))
        facts |= new
        links = reader.edges(sorted(new), ["supersedes"], inward=True) if new else []
        if not links:
            break
    return facts, later_of


def _find_current(fact: str, facts: Mapping[str, Record], later: Mapping[str, Set[str]], at: int) -> set[str]:
    """Return the statements that hold at a time, of those that superseded one directly or through others."""
    current: set[str] = set()
    visited, queue = {fact}, [fact]
    while queue:
        for one in later.get(queue.pop(), set()) & facts.keys() - visited:
            visited.add(one)
            if facts[one].status == "archived" or said_at(facts[one]) > at:
                continue
            if is_true_at(facts[one], at):
                current.add(one)
            else:
                queue.append(one)
    return current


def place_ahead(groups: Sequence[ResultGroup], ahead: Mapping[str, Sequence[str]]) -> list[ResultGroup]:
    """Return groups in their order, but none before those that belong ahead of it, by memory."""
    by_id = {group.lead.id: group for group in groups}
    order: dict[str, ResultGroup] = {}
    visited: set[str] = set()
    for memory in by_id:
        stack = [memory]
        while stack:
            visited.add(stack[-1])
            later = (one for one in ahead.get(stack[-1], ()) if one in by_id and one not in visited)
            if (first_later := next(later, None)) is not None:
                stack.append(first_later)
            else:
                order.setdefault(stack[-1], by_id[stack.pop()])
    return list(order.values())


MIN_RELEVANCE_SHARE: Final = 0.7
"""Share of a memory's relevance that one must have which is placed before it: a newer one, or one not marked wrong."""
MIN_TEXT_OVERLAP: Final = 0.15
"""Share of the informative words of both texts that both must hold."""
MIN_SAID_OVERLAP: Final = 0.05
"""The same for turns and additions, unless only the earlier one is about the speaker: an update rarely repeats the
words of the statement. Of the 42 questions that it was chosen on 26 are answered first, 23 at .15 (bench/LOG.md)."""
_FIRST_PERSON: Final = re.compile(
    r"\b(?:[Ii]|[Ww]e|[Mm]y|[Oo]ur|me|us|[Ii]ch|[Ww]ir|mir|mich|uns|[Mm]ein\w{0,2}|[Uu]nser\w{0,2}|[Jj]e|[Nn]ous|[Yy]o|mi)\b|我"
)
"""Words by which somebody speaks of themselves; "US" and "Mon" are none."""
REPLY_ROLES: Final = GENERIC_ROLES - PERSON_ROLES
"""Roles of programs that reply to a person."""


def better_than_wrong(
    groups: Sequence[ResultGroup],
    records: Mapping[str, Record],
    features: Mapping[str, RelevanceFeatures],
) -> dict[str, list[str]]:
    """Return, by memory marked wrong, the unmarked ones that are about as likely to answer."""
    relevances = {one.lead.id: features[one.lead.id].relevance for one in groups if one.lead.id in features}
    unmarked = [memory for memory in relevances if not records[memory].marked_wrong]
    return {
        memory: [one for one in unmarked if relevances[one] >= MIN_RELEVANCE_SHARE * relevance]
        for memory, relevance in relevances.items()
        if records[memory].marked_wrong
    }


def better_than_digests(
    groups: Sequence[ResultGroup],
    records: Mapping[str, Record],
    features: Mapping[str, RelevanceFeatures],
    reader: Reader,
) -> dict[str, list[str]]:
    """Return, by digest, the results down to the last that it quotes or that is as likely to answer."""
    ids = [group.lead.id for group in groups]
    digests = [one for one in ids if records[one].tier == "crystal" and records[one].origin == "derived"]
    edges = reader.edges(digests, ["derived_from"]) if digests else []
    quoted = {(edge.src, edge.dst) for edge in edges if edge.weight}
    others = [one for one in ids if one not in digests]
    relevance = {one: features[one].comparable for one in ids if one in features}
    better_than = {}
    for digest in digests:
        least = relevance.get(digest, 1.0)
        better = [
            place
            for place, one in enumerate(others, 1)
            if (digest, one) in quoted or relevance.get(one, 0.0) >= least
        ]
        better_than[digest] = others[: max(better, default=0)]
    return better_than


PREFERENCE_PARTS: Final = ("tier", "project")
"""Parts of a score by which a caller prefers memories: a date does not outweigh them."""


def newer_equivalents(
    candidates: Sequence[Candidate],
    records: Mapping[str, Record],
    features: Mapping[str, RelevanceFeatures],
    plan: QueryPlan,
    terms: TermRanking | None,
) -> dict[str, tuple[str, ...]]:
    """Return, by memory, those behind it that answer about as well, share its subject and were said a day later.

    An undated file or import is neither newer nor older than anything. An assistant's turn does not count as newer
    than a user's, because it may repeat an outdated statement.
    """
    ids = [one.id for one in candidates]
    weights = term_weights(plan, terms)
    terms_of = {
        one: held & weights.keys()
        for one, held in zip(ids, terms_held(terms, ids), strict=True)
        if records[one].is_dated or records[one].valid_from is not None
    }

    @cache  # few pairs come so far that their texts are compared
    def informative_terms(memory: str) -> set[str]:
        text = records[memory].content
        return {
            word for word in index_terms(text, detect_language(text)).counts if not is_uninformative(word)
        }

    def share_subject(old: str, new: str) -> bool:
        old_terms, new_terms = informative_terms(old), informative_terms(new)
        said = all(records[one].is_turn or records[one].place is None for one in (old, new))
        old_is_personal, new_is_personal = (_FIRST_PERSON.search(records[one].content) for one in (old, new))
        same_person = not old_is_personal or new_is_personal
        least = MIN_SAID_OVERLAP if said and same_person else MIN_TEXT_OVERLAP
        return len(old_terms & new_terms) >= least * len(old_terms | new_terms)

    preference = {
        one.id: math.fsum(part.amount for part in one.contributions if part.channel in PREFERENCE_PARTS)
        for one in candidates
    }
    newer: dict[str, tuple[str, ...]] = {}
    for place, old in enumerate(ids):
        if not terms_of.get(old):
            continue
        later = [
            new
            for new in ids[place + 1 :]
            if new in terms_of
            and said_at(records[new]) - said_at(records[old]) >= DAY
            and not (records[old].role in PERSON_ROLES and records[new].role in REPLY_ROLES)
            and preference[new] >= preference[old]
            and terms_of[new] >= terms_of[old]
            and features[new].relevance >= MIN_RELEVANCE_SHARE * features[old].relevance
            and share_subject(old, new)
        ]
        if later:
            newer[old] = tuple(sorted(later, key=lambda one: (-said_at(records[one]), one)))
    return newer
