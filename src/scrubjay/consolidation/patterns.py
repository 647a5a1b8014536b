"""Pattern promotion: procedures, crystals and insights of several sessions.

Entities are named only by names that occur in the records, since not every viewer of an entity sees all of them.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from sys import intern
from typing import TYPE_CHECKING, Final

from scrubjay.consolidation.context import chronological_key, occurred_at
from scrubjay.consolidation.digest import CoverageUnit, cover_sentences, verbatim_sentences
from scrubjay.consolidation.facts import (
    Gist,
    PromotedMemory,
    content_words,
    is_spoken,
    is_usable,
    promoted_memory,
    source_key,
    time_span,
    title_key,
)
from scrubjay.consolidation.shell_commands import extract_steps
from scrubjay.entities.normalization import search_pattern, spread_text
from scrubjay.frozen import frozen
from scrubjay.models.dates import DAY, to_datetime
from scrubjay.models.graph import Entity
from scrubjay.models.records import PERSON_ROLES, Record
from scrubjay.text.display import estimate_tokens, quarter_tokens
from scrubjay.text.normalize import word_set
from scrubjay.text.tokenizer import index_terms, stem_word, word_rank

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


MAX_GAP: Final = 2
"""Other commands between two steps of a procedure."""
MIN_STEPS: Final = 3
MAX_STEPS: Final = 15
MAX_SEEDS: Final = 2_000
"""Pairs of commands that are extended, those of most sessions first."""
MAX_SESSIONS: Final = 200
"""Sessions in which a pair is extended, the latest ones."""
MAX_REQUEST_TEXT: Final = 2_000
REQUEST_RANK: Final = 300
"""Rank from which a word can say what is asked for."""
MAX_TRIGGER_WORDS: Final = 6
_REQUEST_FILLER: Final = word_set(
    """please could would can let's lets want need needs help run use using try again go ahead get make
    thing things stuff trying thinking looking going wondering thanks thank ok okay hey hi now next also
    just sure yes no"""
)

MIN_CRYSTAL_DIGESTS: Final = 3
MIN_CRYSTAL_SOURCES: Final = 2
"""Sources in which a person, or a note, speaks of it."""
MAX_CRYSTAL_DIGESTS: Final = 24
MIN_INFORMATION: Final = 0.35
"""Information of an entity in at most two thirds of the digests."""
MAX_CRYSTAL_TOKENS: Final = 512
CRYSTAL_SHARE: Final = 0.3
"""Maximum number of tokens of a crystal for each token of its digests."""
MIN_CRYSTAL_ROOM: Final = 128
"""Tokens that any crystal may have."""
CRYSTAL_PERSON_WEIGHT: Final = 8.0
"""Weight of a person's or a note's sentence, anyone else's 1."""
_LABEL = re.compile(r"(?:(\d{4}-\d\d-\d\d)(?= |: ) ?)?(?:([\w.-]{1,20}))?: (?=\S)")

MIN_INSIGHT_SOURCES: Final = 4
MIN_INSIGHT_SPAN: Final = 14 * DAY
MAX_INSIGHTS: Final = 20
MAX_SOURCE_SHARE: Final = 0.75
"""Share of all sources from which on an entity is too common to be a pattern."""
TOGETHER_SHARE: Final = 0.5
"""Share of an entity's sources in which another occurs, to be named with it."""

_Order = tuple[int, int, int, str]
_Step = tuple[str, _Order, int]
"""Name of a command, its record and its index in the record."""
_Occurrences = dict[str, list[tuple[int, ...]]]
"""Session to the occurrences of a sequence in it, each as indexes of the session's steps."""


@frozen
class RepeatedSteps:
    """Steps that several sessions took in the same order.

    Attributes:
        names: The steps, each once.
        places: Session to the indexes of the steps in its first occurrence.
    """

    names: tuple[str, ...]
    places: Mapping[str, tuple[int, ...]]


def repeated_sequences(
    steps: Mapping[str, Sequence[str]], order: Mapping[str, _Order], least: int = 2
) -> tuple[RepeatedSteps, ...]:
    """Return the sequences of at least ``least`` sessions, the longest first; none shares half of another.

    Sequences grow from pairs of steps as long as half of the sessions continue alike: a greedy form of PrefixSpan with
    gaps (Pei et al., 2001).
    """
    pairs: defaultdict[tuple[str, str], _Occurrences] = defaultdict(dict)
    for session in sorted(steps):
        names = steps[session]
        for start, first in enumerate(names):
            for end in range(start + 1, min(start + MAX_GAP + 2, len(names))):
                if names[end] != first:
                    pairs[first, names[end]].setdefault(session, []).append((start, end))
    seeds = [pair for pair, found in pairs.items() if len(found) >= least]
    seeds.sort(key=lambda pair: (-len(pairs[pair]), pair))
    sequences = {}
    for pair in seeds[:MAX_SEEDS]:
        latest = sorted(pairs[pair], key=lambda session: (order[session], session))[-MAX_SESSIONS:]
        sequence = _extend_sequence(pair, {session: pairs[pair][session] for session in latest}, steps, least)
        if len(sequence.names) >= MIN_STEPS:
            sequences[sequence.names] = sequence
    distinct: list[RepeatedSteps] = []
    longest_first = sorted(
        sequences.values(), key=lambda steps: (-len(steps.names), -len(steps.places), steps.names)
    )
    for longest in longest_first:
        if all(2 * len(set(longest.names) & set(other.names)) < len(longest.names) for other in distinct):
            distinct.append(longest)
    return tuple(distinct)


def _extend_sequence(
    names: tuple[str, ...], found: _Occurrences, steps: Mapping[str, Sequence[str]], least: int
) -> RepeatedSteps:
    while len(names) < MAX_STEPS:
        longer: defaultdict[str, _Occurrences] = defaultdict(dict)
        for session, occurrences in found.items():
            own = steps[session]
            for occurrence in occurrences:
                last = occurrence[-1]
                for index in range(last + 1, min(last + MAX_GAP + 2, len(own))):
                    if own[index] not in names:
                        longer[own[index]].setdefault(session, []).append((*occurrence, index))
        best = min(longer, key=lambda name: (-len(longer[name]), _mean_gap(longer[name]), name), default=None)
        if best is None or len(longer[best]) < max(least, math.ceil(len(found) / 2)):
            break
        names, found = (
            (*names, best),
            {session: _tightest(own) for session, own in longer[best].items()},
        )
    return RepeatedSteps(names, {session: min(occurrences) for session, occurrences in found.items()})


def _mean_gap(found: _Occurrences) -> float:
    """Return the mean distance of the last step from the one before it: of two steps, the nearer is next."""
    gaps = [min(occurrence[-1] - occurrence[-2] for occurrence in own) for own in found.values()]
    return sum(gaps) / len(gaps)


def _tightest(occurrences: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return the occurrence with the latest start for each end."""
    by_end: dict[int, tuple[int, ...]] = {}
    for occurrence in sorted(occurrences, reverse=True):
        by_end.setdefault(occurrence[-1], occurrence)
    return sorted(by_end.values())


def promote_procedures(
    observations: Iterable[tuple[Record, Gist]], read: Callable[[Collection[str]], Iterable[Record]]
) -> tuple[PromotedMemory, ...]:
    """Return the commands that sessions run in the same order after similar requests, sorted by key, project, title.

    ``read`` returns the records of some sessions with their texts.
    """
    turns: defaultdict[str, defaultdict[str, list[tuple[_Order, tuple[str, ...]]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for record, gist in observations:
        if gist.steps and record.session is not None and is_usable(record):
            turns[record.key][record.session].append(
                (chronological_key(record), tuple(map(intern, gist.steps)))
            )
    found: list[tuple[str, RepeatedSteps, dict[str, list[_Step]]]] = []
    for key in sorted(turns):
        steps: dict[str, list[_Step]] = {
            session: [
                (name, order, index) for order, names in sorted(own) for index, name in enumerate(names)
            ]
            for session, own in turns[key].items()
        }
        names = {session: [name for name, _, _ in own] for session, own in steps.items()}
        for sequence in repeated_sequences(names, {session: own[0][1] for session, own in steps.items()}):
            occurrence = {
                session: [steps[session][index] for index in own] for session, own in sequence.places.items()
            }
            found.append((key, sequence, occurrence))
    del turns
    ids = {order[-1] for _, _, occurrence in found for own in occurrence.values() for _, order, _ in own}
    records: dict[str, Record] = {}
    requests: defaultdict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in read({session for _, _, occurrence in found for session in occurrence}) if found else ():
        if record.id in ids:
            records[record.id] = record
        if record.session is not None and is_spoken(record) and is_usable(record):
            requests[record.key, record.session].append(record)
    procedures = [
        _procedure(key, sequence, occurrence, records, requests) for key, sequence, occurrence in found
    ]
    promoted = [procedure for procedure in procedures if procedure is not None]
    promoted.sort(key=lambda procedure: (len(procedure.evidence), procedure.text))
    by_title = {title_key(procedure): procedure for procedure in promoted}  # that of most evidence
    return tuple(by_title[title] for title in sorted(by_title))


def _procedure(
    key: str,
    sequence: RepeatedSteps,
    steps: Mapping[str, list[_Step]],
    records: Mapping[str, Record],
    requests: Mapping[tuple[str, str], list[Record]],
) -> PromotedMemory | None:
    """Quote the steps of the newest session; None unless the requests share words."""
    request: dict[str, Record] = {}
    for session, own in steps.items():
        earlier = [
            record for record in requests.get((key, session), ()) if chronological_key(record) < own[0][1]
        ]
        if earlier:
            request[session] = max(earlier, key=chronological_key)
    ids = {order[-1] for session in request for _, order, _ in steps[session]}
    if len(request) < 2 or not ids <= records.keys():  # deleted meanwhile
        return None
    newest = max(request, key=lambda session: (steps[session][0][1], session))
    trigger = shared_words([record.content for record in request.values()], request[newest].content)
    if not trigger:
        return None
    programs = dict.fromkeys(name.split()[0] for name in sequence.names)
    title = f"{trigger}: {', '.join(programs)}"
    lines = [title, f"When: {trigger}"]
    for number, (_, order, index) in enumerate(steps[newest], 1):
        lines.append(f"{number}. {' '.join(extract_steps(records[order[-1]].content)[index].text.split())}")
    evidence = {memory: records[memory] for memory in ids}
    evidence |= {record.id: record for record in request.values()}
    return promoted_memory(
        "procedural", "\n".join(lines), title, list(evidence.values()), request[newest].event
    )


def shared_words(requests: list[str], newest: str) -> str:
    """Return the rarest words that most requests share, in the order of the newest."""
    bags = [{stem_word(word, "en") for word in request_words(text)} for text in requests]
    counts = Counter(word for bag in bags for word in bag)
    shared = {word for word, count in counts.items() if count >= 2 and 3 * count >= 2 * len(requests)}
    words = dict.fromkeys(word for word in request_words(newest) if stem_word(word, "en") in shared)
    rarest = sorted(words, key=lambda word: (-word_rank(word), word))[:MAX_TRIGGER_WORDS]
    return " ".join(word for word in words if word in rarest)


def request_words(text: str) -> list[str]:
    """Return the words of a request that can say what is asked for, in order."""
    return [
        word
        for word in content_words(text[:MAX_REQUEST_TEXT])
        if word not in _REQUEST_FILLER
        and word_rank(word) >= REQUEST_RANK
        and not word.isdigit()
        and len(word) > 2
    ]


@frozen
class Theme:
    """An entity, as some records mention it.

    Attributes:
        name: The name that occurs in most of them.
        records: Indexes of the records that reference it, ascending.
        information: ln((records + 1) / records that reference it).
    """

    entity: str
    name: str
    names: tuple[str, ...]
    records: tuple[int, ...]
    information: float


def find_themes(
    records: Sequence[Record],
    references: Mapping[str, Iterable[str]],
    entities: Mapping[str, Entity],
    min_records: int,
) -> list[Theme]:
    """Return the entities that enough records reference, and that most of those name, by id."""
    members: defaultdict[str, list[int]] = defaultdict(list)
    for index, record in enumerate(records):
        for entity in set(references.get(record.id, ())) & entities.keys():
            members[entity].append(index)
    texts = [spread_text("\n".join((record.title, *record.tags, record.content)))[0] for record in records]
    found = []
    for entity, own in sorted(members.items()):
        if len(own) < min_records:
            continue
        names = (entities[entity].name, *entities[entity].aliases)
        counts = {}
        for name in names:
            pattern = search_pattern(name)
            counts[name] = sum(pattern in texts[index] for index in own) if pattern else 0
        name = max(names, key=lambda name: counts[name])  # the first of equals
        if name and 2 * counts[name] >= len(own):
            information = math.log((len(records) + 1) / len(own))
            found.append(Theme(entity, name, names, tuple(own), information))
    return found


def _usable_by_key(records: Iterable[Record]) -> list[list[Record]]:
    """Return the usable records of each key in order of time."""
    by_key: defaultdict[str, list[Record]] = defaultdict(list)
    for record in sorted(records, key=chronological_key):
        if is_usable(record):
            by_key[record.key].append(record)
    return list(by_key.values())


def promote_crystals(
    records: Iterable[Record],
    vectors: Mapping[str, NDArray[np.float32]],
    references: Mapping[str, Iterable[str]],
    entities: Mapping[str, Entity],
) -> tuple[PromotedMemory, ...]:
    """Return summaries of what several digests say of one entity, sorted by key, project and title.

    Each digest is in one crystal at most, one without a vector in none; ``entities`` are as viewers of the records' key
    see them.
    """
    found: dict[tuple[str, str], PromotedMemory] = {}
    for own in _usable_by_key(record for record in records if record.id in vectors):
        themes = find_themes(own, references, entities, MIN_CRYSTAL_DIGESTS)
        for theme, members in _clusters(own, vectors, themes):
            crystal = _crystal(theme, [own[index] for index in members])
            if crystal is not None:
                found.setdefault((crystal.key, theme.name), crystal)
    return tuple(sorted(found.values(), key=title_key))


def _clusters(
    records: Sequence[Record], vectors: Mapping[str, NDArray[np.float32]], themes: Sequence[Theme]
) -> Iterator[tuple[Theme, list[int]]]:
    """Yield themes with the indexes of their records, the most informative first; no record twice."""
    import numpy as np

    rows = np.array([vectors[record.id] for record in records], dtype=np.float64)
    total = rows.sum(axis=0)
    free = np.ones(len(records), dtype=bool)
    for theme in sorted(themes, key=lambda theme: (-len(theme.records) * theme.information, theme.entity)):
        everywhere = len(theme.records) == len(records)
        if len(theme.records) > MAX_CRYSTAL_DIGESTS or (
            theme.information < MIN_INFORMATION and not everywhere
        ):
            continue
        indexes = [index for index in theme.records if free[index]]
        members = _coherent_members(rows, total, indexes) if len(indexes) >= MIN_CRYSTAL_DIGESTS else []
        sources = {source_key(records[index]) for index in members}
        if len(members) >= MIN_CRYSTAL_DIGESTS and len(sources) >= MIN_CRYSTAL_SOURCES:
            free[members] = False
            yield theme, members


def _coherent_members(rows: NDArray[np.float64], total: NDArray[np.float64], indexes: list[int]) -> list[int]:
    """Return the rows that are nearer to the others' centroid than to that of all the rest, if they are on average.

    ``rows`` are those of all records, (n, d), ``total`` is their sum.
    """
    import numpy as np

    if len(indexes) == len(rows):
        return indexes
    inside = rows[indexes]
    sums = inside.sum(axis=0)
    rest = total - sums
    outside = rest / max(float(np.linalg.norm(rest)), 1e-9)
    margins = []
    for row in inside:
        others = sums - row
        within = float(row @ others) / max(float(np.linalg.norm(others)), 1e-9)
        margins.append(round(within - float(row @ outside), 6))
    if math.fsum(margins) <= 0:  # a word that many things share: "Dr", "America"
        return []
    return [index for index, margin in zip(indexes, margins, strict=True) if margin > 0]


def _crystal(theme: Theme, members: Sequence[Record]) -> PromotedMemory | None:
    units: list[CoverageUnit] = []
    labels: list[str] = []
    line_records: list[Record] = []
    texts: set[str] = set()
    for record in members:
        day = to_datetime(occurred_at(record)).date().isoformat()
        for line in record.content.split("\n"):
            match = _LABEL.match(line)
            sentences = _sentences_about(theme, line[match.end() :] if match else line)
            if not sentences:
                continue
            speaker = (match[2] or "") if match else ""
            label = f"{(match[1] if match else '') or day} {speaker}".rstrip() + ": "
            if not labels or labels[-1] != label or line_records[-1] is not record:
                labels.append(label)
                line_records.append(record)
            weight = CRYSTAL_PERSON_WEIGHT if not speaker or speaker in PERSON_ROLES else 1.0
            for text in sentences:
                if text not in texts:
                    texts.add(text)
                    terms = frozenset(index_terms(text, "").counts)
                    units.append(CoverageUnit(len(labels) - 1, text, terms, quarter_tokens(text), weight))
    records = list({record.id: record for record in line_records}.values())
    own = {source_key(line_records[unit.record]) for unit in units if unit.weight == CRYSTAL_PERSON_WEIGHT}
    if len(records) < MIN_CRYSTAL_DIGESTS or len(own) < MIN_CRYSTAL_SOURCES:
        return None
    tokens = sum(estimate_tokens(record.content) for record in records)
    room = min(MAX_CRYSTAL_TOKENS, max(MIN_CRYSTAL_ROOM, int(CRYSTAL_SHARE * tokens)))
    lines: dict[int, list[str]] = {}
    contributed = dict.fromkeys((record.id for record in records), 1.0)  # a repeated sentence is evidence too
    for unit in cover_sentences(units, [quarter_tokens(label) for label in labels], 4 * room):
        lines.setdefault(unit.record, []).append(unit.text)
        contributed[line_records[unit.record].id] += unit.size
    if len({source_key(line_records[index]) for index in lines}) < MIN_CRYSTAL_SOURCES:
        return None
    text = "\n".join(labels[index] + " ".join(own) for index, own in sorted(lines.items()))
    return promoted_memory(
        "crystal", text, theme.name, records, time_span(records), list(contributed.values())
    )


def _sentences_about(theme: Theme, line: str) -> list[str]:
    patterns = [pattern for pattern in map(search_pattern, theme.names) if pattern]
    return [
        text
        for text in verbatim_sentences(line)
        if any(pattern in spread_text(text)[0] for pattern in patterns)
    ]


def promote_insights(
    records: Iterable[Record],
    references: Mapping[str, Iterable[str]],
    entities: Mapping[str, Entity],
) -> tuple[PromotedMemory, ...]:
    """Return the entities that recur over time with those beside them, sorted by key, project and title.

    ``entities`` are as viewers of the records' key see them.
    """
    found = []
    for own in _usable_by_key(records):
        themes = find_themes(own, references, entities, 2)
        sources = {theme.entity: {source_key(own[index]) for index in theme.records} for theme in themes}
        most = MAX_SOURCE_SHARE * len(set(map(source_key, own)))
        recurring: dict[str, Theme] = {}
        for theme in sorted(
            themes, key=lambda theme: (-len(sources[theme.entity]) * theme.information, theme.entity)
        ):
            first, last = own[theme.records[0]], own[theme.records[-1]]
            span = occurred_at(last) - occurred_at(first)
            if MIN_INSIGHT_SOURCES <= len(sources[theme.entity]) <= most and span >= MIN_INSIGHT_SPAN:
                recurring.setdefault(theme.name.casefold(), theme)
        found += [_insight(theme, themes, sources, own) for theme in [*recurring.values()][:MAX_INSIGHTS]]
    return tuple(sorted(found, key=title_key))


def _insight(
    theme: Theme, themes: Sequence[Theme], sources: Mapping[str, set[str]], records: Sequence[Record]
) -> PromotedMemory:
    own = [records[index] for index in theme.records]
    where = sources[theme.entity]
    beside = []
    for other in themes:
        common = len(where & sources[other.entity])
        if other.name != theme.name and common >= max(2, TOGETHER_SHARE * len(where)):
            beside.append((-common, -other.information, other.entity, other.name))
    named = _join_names([f"{name} ({-common})" for common, _, _, name in sorted(beside)[:2]])
    text = (
        f"{theme.name} came up in {_count_sources(where)} from {_day(occurred_at(own[0]))} to "
        f"{_day(max(map(occurred_at, own)))}{f', most often with {named}' if named else ''}."
    )
    return promoted_memory("insight", text, f"{theme.name} over time", own, time_span(own))


def _count_sources(sources: Iterable[str]) -> str:
    """Count the sessions, documents and days.

    >>> _count_sources({"session a", "session b", "day 2026-01-04"})
    '2 sessions and 1 day'
    """
    kinds = Counter(source.partition(" ")[0] for source in sources)
    named = [(kinds[kind], kind) for kind in ("session", "document", "day") if kinds[kind]]
    return _join_names([f"{count} {kind}{'s' if count > 1 else ''}" for count, kind in named])


def _join_names(parts: Sequence[str]) -> str:
    return " and ".join((", ".join(parts[:-1]), parts[-1])) if len(parts) > 1 else "".join(parts)


def _day(at: int) -> str:
    return to_datetime(at).date().isoformat()
