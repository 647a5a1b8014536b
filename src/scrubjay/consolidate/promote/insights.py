"""Insights: digests, concepts, changes -> tuple[Drawn, ...]. What is counted over sessions and time, in plain words.

Two patterns: what came up again and again, with what else, from when to when; and what was changed again and again.
Every number is counted from the memories given and nothing is claimed that is not counted. Only what is
strongly borne out is said at all, and of one key only the most telling.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from scrubjay.consolidate.order import order, time
from scrubjay.consolidate.promote.drawn import Drawn, drawn, source, span, usable
from scrubjay.consolidate.promote.themes import Theme, themes
from scrubjay.memory.concepts import Concept
from scrubjay.memory.dates import DAY, moment
from scrubjay.memory.records import Record

LEAST_SOURCES: Final = 4
"""Sessions, documents or days in which something must have come up."""
LEAST_TIME: Final = 14 * DAY
"""Between the first and the last."""
MOST: Final = 20
"""Insights of one kind and key: a list of everything is none."""
COMMON: Final = 0.75
"""Share of all sources in which a thing may come up: what is everywhere is no pattern."""
TOGETHER: Final = 0.5
"""Share of a thing's sources in which another comes up too, to be named with it."""
LEAST_CHANGES: Final = 3


def insights(
    records: Iterable[Record],
    references: Mapping[str, Iterable[str]],
    concepts: Mapping[str, Concept],
    changes: Iterable[tuple[Record, Record]] = (),
) -> tuple[Drawn, ...]:
    """Return the patterns, sorted by key, project and title.

    Args:
        records: Digests, episodes and notes, of any keys, in any order; not the crystals made from them, which
            would be counted twice.
        references: Id of a record to ids of the concepts that it refers to.
        concepts: By id, as those know them who see the records' key.
        changes: Pairs of statements, the new one and the one that it superseded.
    """
    by_key: defaultdict[str, list[Record]] = defaultdict(list)
    for record in records:
        if usable(record):
            by_key[record.key].append(record)
    pairs = {(new.id, old.id): (new, old) for new, old in changes if new.key == old.key}
    found = []
    for key in sorted(by_key):
        found += _recurring(sorted(by_key[key], key=order), references, concepts)
    for key in sorted({new.key for new, _ in pairs.values()}):
        found += _changing([pair for pair in pairs.values() if pair[0].key == key], references, concepts)
    return tuple(sorted(found, key=lambda one: (one.key, one.project or "", one.title)))


def _recurring(
    records: Sequence[Record], references: Mapping[str, Iterable[str]], concepts: Mapping[str, Concept]
) -> list[Drawn]:
    everywhere = len({source(record) for record in records})
    known = themes(records, references, concepts, 2)
    of = {theme.concept: {source(records[place]) for place in theme.records} for theme in known}
    strong = []
    for theme in known:
        first, last = records[theme.records[0]], records[theme.records[-1]]
        often = len(of[theme.concept])
        enough = often >= LEAST_SOURCES and time(last) - time(first) >= LEAST_TIME
        if enough and often <= COMMON * everywhere:
            strong.append(theme)
    strong.sort(key=lambda theme: (-len(of[theme.concept]) * theme.tells, theme.concept))
    return [_recurs(theme, known, of, records) for theme in _each_name_once(strong)[:MOST]]


def _recurs(
    theme: Theme, known: Sequence[Theme], of: Mapping[str, set[str]], records: Sequence[Record]
) -> Drawn:
    own = [records[place] for place in theme.records]
    where = of[theme.concept]
    beside = [(len(where & of[other.concept]), other) for other in known if other.name != theme.name]
    near = [(both, other) for both, other in beside if both >= max(2, TOGETHER * len(where))]
    near.sort(key=lambda one: (-one[0], -one[1].tells, one[1].concept))
    beside_it = _listed([f"{other.name} ({both})" for both, other in near[:2]])
    text = (
        f"{theme.name} came up in {_counted(where)} from {_day(time(own[0]))} to {_day(max(map(time, own)))}"
        f"{f', most often with {beside_it}' if beside_it else ''}."
    )
    return drawn("insight", text, f"{theme.name} over time", own, span(own))


def _changing(
    pairs: Sequence[tuple[Record, Record]],
    references: Mapping[str, Iterable[str]],
    concepts: Mapping[str, Concept],
) -> list[Drawn]:
    records = sorted({one.id: one for pair in pairs for one in pair}.values(), key=order)
    strong = []
    for theme in themes(records, references, concepts, LEAST_CHANGES + 1):
        inside = {records[place].id for place in theme.records}
        changed = [(new, old) for new, old in pairs if new.id in inside and old.id in inside]
        said = sorted({one.id: one for pair in changed for one in pair}.values(), key=order)
        enough = len(changed) >= LEAST_CHANGES and len({source(one) for one in said}) >= LEAST_SOURCES
        if enough and time(said[-1]) - time(said[0]) >= LEAST_TIME:
            strong.append((theme, len(changed), said))
    strong.sort(key=lambda one: (-one[1], one[0].concept))
    by_name: dict[str, Drawn] = {}
    for theme, count, said in strong:
        by_name.setdefault(theme.name.casefold(), _changes(theme, count, said))
    return list(by_name.values())[:MOST]


def _changes(theme: Theme, count: int, said: Sequence[Record]) -> Drawn:
    text = (
        f"What was said of {theme.name} was changed {count} times from {_day(time(said[0]))} to "
        f"{_day(time(said[-1]))}; last: {' '.join(said[-1].content.split())}"
    )
    return drawn("insight", text, f"{theme.name}, changed", said, span(said))


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
    return moment(at).date().isoformat()
