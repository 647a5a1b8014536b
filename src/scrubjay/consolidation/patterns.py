"""Patterns over sessions: procedures, crystals and insights.

A procedure is a sequence of steps, grown from pairs that several sessions share, with at most ``MAX_GAP`` other steps
in between, as long as half of the sessions continue alike (a greedy form of PrefixSpan with gaps, Pei et al., 2001). A
step occurs once in a sequence: editing and testing until it works is no procedure. Its trigger is the words that the
requests before it share; without one there is no procedure. Steps are quoted from the newest session.

A crystal summarises one concept: its digests refer to the concept and are nearer to each other's centroid than to that
of all other digests. `summary` chooses its sentences, each verbatim.

An insight is a concept that recurs, with the concepts beside it and the first and last date. All numbers are counted.

Only names that occur in the records themselves are used, since a viewer of a concept may not see every record.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from sys import intern
from typing import TYPE_CHECKING, Final

from scrubjay.consolidation.candidates import (
    ASKING,
    Gist,
    PromotedMemory,
    content_words,
    extract_steps,
    is_spoken,
    is_usable,
    promoted_memory,
    source_key,
    time_span,
)
from scrubjay.consolidation.context import chronological_key, occurred_at
from scrubjay.consolidation.summary import CoverageUnit, cover_sentences, verbatim_sentences
from scrubjay.entities.normalization import search_pattern, spread_text
from scrubjay.models.dates import DAY, to_datetime
from scrubjay.models.graph import Entity
from scrubjay.models.records import PERSON_ROLES, Record
from scrubjay.text.display import estimate_tokens, quarter_tokens
from scrubjay.text.tokenizer import index_terms, stem_word
from scrubjay.text.word_frequency import word_rank

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


MAX_GAP: Final = 2
MIN_STEPS: Final = 3
"""Two commands after one another are no procedure."""
MAX_STEPS: Final = 15
MAX_SEEDS: Final = 2_000
"""Pairs that are grown, those of most sessions first."""
MAX_SESSIONS: Final = 200
"""Sessions in which a pair is grown: the last ones."""

Rank = tuple[int, int, int, str]
_Places = dict[str, list[tuple[int, ...]]]
"""Session to the ways in which it took the steps, each as their places."""


@dataclass(frozen=True, slots=True)
class RepeatedSteps:
    """Steps that several sessions took in the same order.

    Attributes:
        names: The steps, each once.
        places: Session to the place of each step in it; where a session did it several times, the first time.
    """

    names: tuple[str, ...]
    places: Mapping[str, tuple[int, ...]]


def repeated_sequences(
    done: Mapping[str, Sequence[str]], ranks: Mapping[str, Rank]
) -> tuple[RepeatedSteps, ...]:
    """Return what at least two sessions did in the same order, the longest first; none holds half of another.

    Args:
        done: Session to the names of its steps, in order.
        ranks: Session to what sorts it by time.
    """
    pairs: defaultdict[tuple[str, str], _Places] = defaultdict(dict)
    for session in sorted(done):
        names = done[session]
        for at, first in enumerate(names):
            for then in range(at + 1, min(at + MAX_GAP + 2, len(names))):
                if names[then] != first:
                    pairs[first, names[then]].setdefault(session, []).append((at, then))
    seeds = [pair for pair, found in pairs.items() if len(found) > 1]
    seeds.sort(key=lambda pair: (-len(pairs[pair]), pair))
    grown = {}
    for pair in seeds[:MAX_SEEDS]:
        last = sorted(pairs[pair], key=lambda session: (ranks[session], session))[-MAX_SESSIONS:]
        one = _grown(pair, {session: pairs[pair][session] for session in last}, done)
        if len(one.names) >= MIN_STEPS:
            grown[one.names] = one
    return _apart(sorted(grown.values(), key=lambda one: (-len(one.names), -len(one.places), one.names)))


def _grown(names: tuple[str, ...], found: _Places, done: Mapping[str, Sequence[str]]) -> RepeatedSteps:
    while len(names) < MAX_STEPS:
        ways: defaultdict[str, _Places] = defaultdict(dict)
        for session, places in found.items():
            steps = done[session]
            for place in places:
                for then in range(place[-1] + 1, min(place[-1] + MAX_GAP + 2, len(steps))):
                    if steps[then] not in names:
                        ways[steps[then]].setdefault(session, []).append((*place, then))
        best = min(ways, key=lambda name: (-len(ways[name]), name), default=None)
        if best is None or len(ways[best]) < max(2, math.ceil(len(found) / 2)):
            break
        names, found = (*names, best), {session: _each_once(places) for session, places in ways[best].items()}
    return RepeatedSteps(names, {session: min(places) for session, places in found.items()})


def _each_once(places: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return, of the ways that end in one place, the tightest."""
    tightest: dict[int, tuple[int, ...]] = {}
    for place in sorted(places, reverse=True):  # the latest start first
        tightest.setdefault(place[-1], place)
    return sorted(tightest.values())


def _apart(found: Sequence[RepeatedSteps]) -> tuple[RepeatedSteps, ...]:
    kept: list[RepeatedSteps] = []
    for one in found:
        if all(2 * len(set(one.names) & set(other.names)) < len(one.names) for other in kept):
            kept.append(one)
    return tuple(kept)


MAX_REQUEST_TEXT: Final = 2_000
"""Characters of a request that are read."""
REQUEST_RANK: Final = 300
"""Rank from which a word can say what is asked for: "please" and "make" are asked for anything."""
MAX_TRIGGER_WORDS: Final = 6
"""Words of a trigger."""

_Order = tuple[int, int, int, str]


@dataclass(slots=True)
class _SessionSteps:
    """What one session did."""

    turns: list[tuple[_Order, tuple[str, ...]]] = field(default_factory=list)

    def steps(self) -> list[tuple[str, _Order, int]]:
        """Return name, record and place within the record of each step, in order."""
        return [(name, at, place) for at, names in sorted(self.turns) for place, name in enumerate(names)]


def promote_procedures(
    told: Iterable[tuple[Record, Gist]], read: Callable[[Collection[str]], Iterable[Record]]
) -> tuple[PromotedMemory, ...]:
    """Return the procedures that sessions share, sorted by key, project and title.

    Args:
        told: All records, each with its gist, in any order; observations are looked at.
        read: Gives the records of some sessions, whole, in any order.
    """
    talks: defaultdict[str, defaultdict[str, _SessionSteps]] = defaultdict(lambda: defaultdict(_SessionSteps))
    for record, gist in told:
        if gist.steps and record.session is not None and is_usable(record):
            names = tuple(map(intern, gist.steps))
            talks[record.key][record.session].turns.append((chronological_key(record), names))
    found: list[tuple[str, _FoundProcedure]] = []
    for key in sorted(talks):
        steps = {session: talk.steps() for session, talk in talks[key].items()}
        done = {session: [name for name, _, _ in own] for session, own in steps.items()}
        for one in repeated_sequences(done, {session: own[0][1] for session, own in steps.items()}):
            taken = {
                session: [steps[session][place] for place in one.places[session]] for session in one.places
            }
            found.append((key, _FoundProcedure(one, taken)))
    del talks
    _fill(read, found)
    made = [drawn_one for _, one in found if (drawn_one := one.drawn()) is not None]
    made.sort(key=lambda one: (len(one.evidence), one.text))
    by_title = {
        (one.key, one.project or "", one.title): one for one in made
    }  # of one title the best borne out
    return tuple(by_title[title] for title in sorted(by_title))


@dataclass(slots=True)
class _FoundProcedure:
    """One repeated sequence, with what each session said of it."""

    sequence: RepeatedSteps
    steps: Mapping[str, list[tuple[str, _Order, int]]]
    asked: dict[str, tuple[_Order, Record]] = field(default_factory=dict)
    shown: dict[str, Record] = field(default_factory=dict)

    def drawn(self) -> PromotedMemory | None:
        """Return the procedure, or None where the requests share no words."""
        newest = max(self.asked, key=lambda session: (self.steps[session][0][1], session), default=None)
        if newest is None:
            return None
        trigger = _shared(
            [record.content for _, record in self.asked.values()], self.asked[newest][1].content
        )
        programs = dict.fromkeys(name.split()[0] for name in self.sequence.names)
        if not trigger:
            return None
        texts = [self._text(at, place) for _, at, place in self.steps[newest]]
        title = f"{trigger}: {', '.join(programs)}"
        lines = [title, f"When: {trigger}", *(f"{number}. {text}" for number, text in enumerate(texts, 1))]
        records = {record.id: record for record in self.shown.values()}
        records |= {record.id: record for _, record in self.asked.values()}
        kept = [record for record in records.values() if record.session in self.asked]
        return promoted_memory("procedural", "\n".join(lines), title, kept, self.asked[newest][1].event)

    def _text(self, at: _Order, place: int) -> str:
        return " ".join(extract_steps(self.shown[at[-1]].content)[place].text.split())


def _fill(
    read: Callable[[Collection[str]], Iterable[Record]], found: Iterable[tuple[str, _FoundProcedure]]
) -> None:
    """Read again what the sequences were taken from, and the request before each."""
    wanted: defaultdict[str, list[_FoundProcedure]] = defaultdict(list)
    asked: defaultdict[tuple[str, str], list[tuple[_Order, _FoundProcedure]]] = defaultdict(list)
    for key, one in found:
        for session, steps in one.steps.items():
            asked[key, session].append((steps[0][1], one))
            for memory in {at[-1] for _, at, _ in steps}:
                wanted[memory].append(one)
    for record in read({session for _, session in asked}) if wanted else ():
        for one in wanted.get(record.id, ()):
            one.shown[record.id] = record
        if record.session is not None and is_spoken(record) and is_usable(record):
            at = chronological_key(record)
            for start, one in asked.get((record.key, record.session), ()):
                if at < start and (record.session not in one.asked or one.asked[record.session][0] < at):
                    one.asked[record.session] = (at, record)


def _shared(requests: list[str], newest: str) -> str:
    """Return the words that most requests share, as the newest says them; "" where fewer than two were made."""
    if len(requests) < 2:
        return ""
    bags = [
        {stem_word(word, "en") for word in content_words(text[:MAX_REQUEST_TEXT]) if _tells(word)}
        for text in requests
    ]
    counts = Counter(word for bag in bags for word in bag)
    shared = {word for word, count in counts.items() if count >= 2 and 3 * count >= 2 * len(requests)}
    said = dict.fromkeys(
        word
        for word in content_words(newest[:MAX_REQUEST_TEXT])
        if _tells(word) and stem_word(word, "en") in shared
    )
    best = sorted(said, key=lambda word: (-word_rank(word), word))[:MAX_TRIGGER_WORDS]
    return " ".join(word for word in said if word in best)


def _tells(word: str) -> bool:
    return word not in ASKING and word_rank(word) >= REQUEST_RANK and not word.isdigit() and len(word) > 2


@dataclass(frozen=True, slots=True)
class Theme:
    """A concept, as some records speak of it.

    Attributes:
        concept: Its id.
        name: The first of its names that stands in most of them.
        names: All of them.
        records: Places of the records that refer to it, ascending.
        tells: How much it tells of a record, above zero: ln((records + 1) / records that refer to it).
    """

    concept: str
    name: str
    names: tuple[str, ...]
    records: tuple[int, ...]
    tells: float


def find_themes(
    records: Sequence[Record],
    references: Mapping[str, Iterable[str]],
    concepts: Mapping[str, Entity],
    least: int,
) -> tuple[Theme, ...]:
    """Return the themes of records, by concept id.

    Args:
        records: Of one visibility key.
        references: Id of a record to ids of the concepts that it refers to.
        concepts: By id, as those know them who see the key.
        least: Records that refer to a theme.
    """
    held: defaultdict[str, list[int]] = defaultdict(list)
    for place, record in enumerate(records):
        for concept in set(references.get(record.id, ())) & concepts.keys():
            held[concept].append(place)
    texts = [spread_text("\n".join((record.title, *record.tags, record.content)))[0] for record in records]
    found = []
    for concept in sorted(concept for concept, places in held.items() if len(places) >= least):
        places = held[concept]
        name = _name(concepts[concept], [texts[place] for place in places])
        if name:
            tells = math.log((len(records) + 1) / len(places))
            found.append(
                Theme(
                    concept, name, (concepts[concept].name, *concepts[concept].aliases), tuple(places), tells
                )
            )
    return tuple(found)


def _name(concept: Entity, texts: Sequence[str]) -> str:
    """Return the name that stands in most texts, the concept's own of equals; "" where none stands in half."""
    names = (concept.name, *concept.aliases)
    marks = {name: search_pattern(name) for name in names}
    counts = {name: sum(mark in text for text in texts) if (mark := marks[name]) else 0 for name in names}
    best = max(names, key=lambda name: counts[name])  # the first of equals
    return best if 2 * counts[best] >= len(texts) else ""


MIN_CRYSTAL_DIGESTS: Final = 3
"""Digests of a crystal."""
MIN_CRYSTAL_SOURCES: Final = 2
"""Sessions, documents or days in which a person speaks of it, or a note: what only a model brings up is its own."""
MAX_CRYSTAL_DIGESTS: Final = 24
"""Digests of one crystal: of more, a passage's length says too little of each."""
MIN_INFORMATION: Final = 0.35
"""What a concept must tell: it stands in at most two thirds of the digests."""
MAX_CRYSTAL_TOKENS: Final = 512
"""Tokens of a crystal: what a passage may have at most."""
CRYSTAL_SHARE: Final = 0.3
"""Most tokens of a crystal for each token of its digests."""
MIN_CRYSTAL_ROOM: Final = 128
"""Tokens that any crystal may have: what a few short digests say of one thing is short already."""
CRYSTAL_PERSON_WEIGHT: Final = 8.0
"""What a term is worth in a person's own words or a note's, in anyone else's 1; the same as in a digest."""

_LABEL = re.compile(r"(?:(\d{4}-\d\d-\d\d)(?= |: ) ?)?(?:([\w.-]{1,20}))?: (?=\S)")


def promote_crystals(
    records: Iterable[Record],
    vectors: Mapping[str, NDArray[np.float32]],
    references: Mapping[str, Iterable[str]],
    concepts: Mapping[str, Entity],
) -> tuple[PromotedMemory, ...]:
    """Return the crystals of digests, sorted by key, project and title; a digest is in one at most.

    Args:
        records: Digests or episodes, of any keys, in any order.
        vectors: Id to its unit row in one model; a record without one is in no crystal.
        references: Id to ids of the concepts that it refers to.
        concepts: By id, as those know them who see the records' key.
    """
    by_key: defaultdict[str, list[Record]] = defaultdict(list)
    for record in records:
        if is_usable(record) and record.id in vectors:
            by_key[record.key].append(record)
    found: list[PromotedMemory] = []
    for key in sorted(by_key):
        own = sorted(by_key[key], key=chronological_key)
        known = find_themes(own, references, concepts, MIN_CRYSTAL_DIGESTS)
        titles: set[str] = set()
        for theme, members in _clusters(own, vectors, known):
            one = _drawn(theme, [own[place] for place in members])
            if one is not None and theme.name not in titles:
                titles.add(theme.name)
                found.append(one)
    return tuple(sorted(found, key=lambda one: (one.key, one.project or "", one.title)))


def _clusters(
    records: Sequence[Record], vectors: Mapping[str, NDArray[np.float32]], known: Sequence[Theme]
) -> Iterator[tuple[Theme, tuple[int, ...]]]:
    """Yield theme and members of each cluster, the one that tells most first; no record twice."""
    import numpy as np

    rows = np.array([vectors[record.id] for record in records], dtype=np.float64)
    total = rows.sum(axis=0)
    told = [
        theme
        for theme in known
        if len(theme.records) <= MAX_CRYSTAL_DIGESTS
        and (theme.tells >= MIN_INFORMATION or len(theme.records) == len(records))
    ]
    told.sort(key=lambda theme: (-len(theme.records) * theme.tells, theme.concept))
    free = np.ones(len(records), dtype=bool)
    for theme in told:
        places = [place for place in theme.records if free[place]]
        members = _near(rows, total, places) if len(places) >= MIN_CRYSTAL_DIGESTS else []
        of = {source_key(records[place]) for place in members}
        if len(members) >= MIN_CRYSTAL_DIGESTS and len(of) >= MIN_CRYSTAL_SOURCES:
            free[members] = False
            yield theme, tuple(members)


def _near(rows: NDArray[np.float64], total: NDArray[np.float64], places: Sequence[int]) -> list[int]:
    """Return those of some rows that are nearer to the others' middle than to the middle of all the rest, if most are.

    Args:
        rows: Of all records, (n, d).
        total: Their sum, (d,).
        places: Of those.
    """
    import numpy as np

    inside = rows[list(places)]
    sums = inside.sum(axis=0)
    rest = total - sums
    if len(places) == len(rows):
        return list(places)
    outside = rest / max(float(np.linalg.norm(rest)), 1e-9)
    nearer = []
    for row in inside:
        others = sums - row
        within = float(row @ others) / max(float(np.linalg.norm(others)), 1e-9)
        nearer.append(round(within - float(row @ outside), 6))
    if math.fsum(nearer) <= 0:  # a word that many things share: "Dr", "America"
        return []
    return [place for place, more in zip(places, nearer, strict=True) if more > 0]


def _drawn(theme: Theme, members: Sequence[Record]) -> PromotedMemory | None:
    units, labels, of = _units(theme, members)
    told = [members[place] for place in sorted(set(of))]
    own = {source_key(members[of[unit.record]]) for unit in units if unit.voice == CRYSTAL_PERSON_WEIGHT}
    if len(told) < MIN_CRYSTAL_DIGESTS or len(own) < MIN_CRYSTAL_SOURCES:
        return None
    room = min(
        MAX_CRYSTAL_TOKENS,
        max(MIN_CRYSTAL_ROOM, int(CRYSTAL_SHARE * sum(estimate_tokens(record.content) for record in told))),
    )
    chosen = cover_sentences(units, [quarter_tokens(label) for label in labels], 4 * room)
    lines: dict[int, list[str]] = {}
    brought = dict.fromkeys(
        sorted(set(of)), 1.0
    )  # one whose sentences others said as well still bears it out
    for unit in chosen:
        lines.setdefault(unit.record, []).append(unit.text)
        brought[of[unit.record]] += unit.size
    text = "\n".join(labels[line] + " ".join(own) for line, own in sorted(lines.items()))
    if len({source_key(members[of[line]]) for line in lines}) < MIN_CRYSTAL_SOURCES:
        return None
    return promoted_memory("crystal", text, theme.name, told, time_span(told), list(brought.values()))


def _units(theme: Theme, members: Sequence[Record]) -> tuple[list[CoverageUnit], list[str], list[int]]:
    """Return the sentences about a theme, each once; what stands before each line; and whose line it is."""
    units: list[CoverageUnit] = []
    labels: list[str] = []
    of: list[int] = []
    seen: set[str] = set()
    for place, record in enumerate(members):
        day = to_datetime(occurred_at(record)).date().isoformat()
        for line in record.content.split("\n"):
            label = _LABEL.match(line)
            about = _about(theme, line[label.end() :] if label else line)
            if not about:
                continue
            speaker = (label[2] or "") if label else ""
            before = f"{(label[1] if label else '') or day} {speaker}".rstrip() + ": "
            if not of or labels[-1] != before or of[-1] != place:
                labels.append(before)
                of.append(place)
            voice = CRYSTAL_PERSON_WEIGHT if not speaker or speaker in PERSON_ROLES else 1.0
            for text in about:
                if text not in seen:
                    seen.add(text)
                    units.append(
                        CoverageUnit(
                            len(of) - 1,
                            text,
                            frozenset(index_terms(text, "").counts),
                            quarter_tokens(text),
                            voice,
                        )
                    )
    return units, labels, of


def _about(theme: Theme, line: str) -> list[str]:
    """Return the sentences of a line that name a theme."""
    marks = [mark for mark in map(search_pattern, theme.names) if mark]
    return [text for text in verbatim_sentences(line) if any(mark in spread_text(text)[0] for mark in marks)]


MIN_INSIGHT_SOURCES: Final = 4
"""Sessions, documents or days in which something must have come up."""
MIN_INSIGHT_SPAN: Final = 14 * DAY
"""Between the first and the last."""
MAX_INSIGHTS: Final = 20
"""Insights of one kind and key: a list of everything is none."""
MAX_SOURCE_SHARE: Final = 0.75
"""Share of all sources in which a thing may come up: what is everywhere is no pattern."""
TOGETHER_SHARE: Final = 0.5
"""Share of a thing's sources in which another comes up too, to be named with it."""


def promote_insights(
    records: Iterable[Record],
    references: Mapping[str, Iterable[str]],
    concepts: Mapping[str, Entity],
) -> tuple[PromotedMemory, ...]:
    """Return what several sources came up with again and again, sorted by key, project and title.

    Args:
        records: Digests, episodes and notes, of any keys, in any order; not the crystals made from them, which
            would be counted twice.
        references: Id of a record to ids of the concepts that it refers to.
        concepts: By id, as those know them who see the records' key.
    """
    by_key: defaultdict[str, list[Record]] = defaultdict(list)
    for record in records:
        if is_usable(record):
            by_key[record.key].append(record)
    found = []
    for key in sorted(by_key):
        found += _recurring(sorted(by_key[key], key=chronological_key), references, concepts)
    return tuple(sorted(found, key=lambda one: (one.key, one.project or "", one.title)))


def _recurring(
    records: Sequence[Record], references: Mapping[str, Iterable[str]], concepts: Mapping[str, Entity]
) -> list[PromotedMemory]:
    everywhere = len({source_key(record) for record in records})
    known = find_themes(records, references, concepts, 2)
    of = {theme.concept: {source_key(records[place]) for place in theme.records} for theme in known}
    strong = []
    for theme in known:
        first, last = records[theme.records[0]], records[theme.records[-1]]
        often = len(of[theme.concept])
        enough = often >= MIN_INSIGHT_SOURCES and occurred_at(last) - occurred_at(first) >= MIN_INSIGHT_SPAN
        if enough and often <= MAX_SOURCE_SHARE * everywhere:
            strong.append(theme)
    strong.sort(key=lambda theme: (-len(of[theme.concept]) * theme.tells, theme.concept))
    return [_recurs(theme, known, of, records) for theme in _each_name_once(strong)[:MAX_INSIGHTS]]


def _recurs(
    theme: Theme, known: Sequence[Theme], of: Mapping[str, set[str]], records: Sequence[Record]
) -> PromotedMemory:
    own = [records[place] for place in theme.records]
    where = of[theme.concept]
    beside = [(len(where & of[other.concept]), other) for other in known if other.name != theme.name]
    near = [(both, other) for both, other in beside if both >= max(2, TOGETHER_SHARE * len(where))]
    near.sort(key=lambda one: (-one[0], -one[1].tells, one[1].concept))
    beside_it = _listed([f"{other.name} ({both})" for both, other in near[:2]])
    text = (
        f"{theme.name} came up in {_counted(where)} from {_day(occurred_at(own[0]))} to "
        f"{_day(max(map(occurred_at, own)))}"
        f"{f', most often with {beside_it}' if beside_it else ''}."
    )
    return promoted_memory("insight", text, f"{theme.name} over time", own, time_span(own))


def _each_name_once(found: Sequence[Theme]) -> list[Theme]:
    names: dict[str, Theme] = {}
    for theme in found:
        names.setdefault(theme.name.casefold(), theme)
    return list(names.values())


def _counted(where: Iterable[str]) -> str:
    """Return how many sessions, documents and days there are.

    >>> _counted({"session a", "session b", "day 2026-01-04"})
    '2 sessions and 1 day'
    """
    kinds = Counter(one.partition(" ")[0] for one in where)
    named = [(kinds[kind], kind) for kind in ("session", "document", "day") if kinds[kind]]
    told = [f"{count} {kind}{'s' if count > 1 else ''}" for count, kind in named]
    return _listed(told)


def _listed(parts: Sequence[str]) -> str:
    return " and ".join((", ".join(parts[:-1]), parts[-1])) if len(parts) > 1 else "".join(parts)


def _day(at: int) -> str:
    return to_datetime(at).date().isoformat()
