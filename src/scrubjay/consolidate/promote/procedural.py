"""Procedural: observations -> tuple[Drawn, ...]. What was done in the same order in several sessions, and when.

A procedure has a trigger: the words that the requests before it share. Where people asked for nothing in common, the
same commands say nothing of when to use them again, and no procedure is drawn. Steps are told as the newest
session took them. Of what was done only names are held, of what was asked only the request before a repeated
sequence; texts are read where a sequence was found.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from sys import intern
from typing import Final

from scrubjay.consolidate.order import order
from scrubjay.consolidate.promote.commands import commands
from scrubjay.consolidate.promote.drawn import Drawn, drawn, spoken, usable
from scrubjay.consolidate.promote.facts import telling
from scrubjay.consolidate.promote.gist import Gist
from scrubjay.consolidate.promote.sequences import Repeated, sequences
from scrubjay.consolidate.promote.words import ASKING
from scrubjay.ingest.concepts.ordinary import rank
from scrubjay.memory.records import Record
from scrubjay.text.stems import stem

READ: Final = 2_000
"""Characters of a request that are read."""
TELLS: Final = 300
"""Rank from which a word can say what is asked for: "please" and "make" are asked for anything."""
MOST_WORDS: Final = 6
"""Words of a trigger."""

_Order = tuple[int, int, int, str]


@dataclass(slots=True)
class _Talk:
    """What one session did."""

    turns: list[tuple[_Order, tuple[str, ...]]] = field(default_factory=list)

    def steps(self) -> list[tuple[str, _Order, int]]:
        """Return name, record and place within the record of each step, in order."""
        return [(name, at, place) for at, names in sorted(self.turns) for place, name in enumerate(names)]


def procedural(
    told: Iterable[tuple[Record, Gist]], read: Callable[[Collection[str]], Iterable[Record]]
) -> tuple[Drawn, ...]:
    """Return the procedures that sessions share, sorted by key, project and title.

    Args:
        told: All records, each with its gist, in any order; observations are looked at.
        read: Gives the records of some sessions, whole, in any order.
    """
    talks: defaultdict[str, defaultdict[str, _Talk]] = defaultdict(lambda: defaultdict(_Talk))
    for record, gist in told:
        if gist.steps and record.session is not None and usable(record):
            names = tuple(map(intern, gist.steps))
            talks[record.key][record.session].turns.append((order(record), names))
    found: list[tuple[str, _Found]] = []
    for key in sorted(talks):
        steps = {session: talk.steps() for session, talk in talks[key].items()}
        done = {session: [name for name, _, _ in own] for session, own in steps.items()}
        for one in sequences(done, {session: own[0][1] for session, own in steps.items()}):
            taken = {
                session: [steps[session][place] for place in one.places[session]] for session in one.places
            }
            found.append((key, _Found(one, taken)))
    del talks
    _fill(read, found)
    made = [drawn_one for _, one in found if (drawn_one := one.drawn()) is not None]
    made.sort(key=lambda one: (len(one.evidence), one.text))
    by_title = {
        (one.key, one.project or "", one.title): one for one in made
    }  # of one title the best borne out
    return tuple(by_title[title] for title in sorted(by_title))


@dataclass(slots=True)
class _Found:
    """One repeated sequence, with what each session said of it."""

    sequence: Repeated
    steps: Mapping[str, list[tuple[str, _Order, int]]]
    asked: dict[str, tuple[_Order, Record]] = field(default_factory=dict)
    shown: dict[str, Record] = field(default_factory=dict)

    def drawn(self) -> Drawn | None:
        """Return the procedure, or None where the requests share no words."""
        newest = max(self.asked, key=lambda session: (self.steps[session][0][1], session), default=None)
        if newest is None:
            return None
        trigger = _shared(
            [record.content for _, record in self.asked.values()], self.asked[newest][1].content
        )
        programs = dict.fromkeys(name.split()[0] for name in self.sequence.names if name[0] != "~")
        if not trigger or (not programs and " " not in trigger):
            return None
        texts = [self._text(at, place) for _, at, place in self.steps[newest]]
        title = f"{trigger}: {', '.join(programs)}" if programs else trigger
        lines = [title, f"When: {trigger}", *(f"{number}. {text}" for number, text in enumerate(texts, 1))]
        records = {record.id: record for record in self.shown.values()}
        records |= {record.id: record for _, record in self.asked.values()}
        kept = [record for record in records.values() if record.session in self.asked]
        return drawn("procedural", "\n".join(lines), title, kept, self.asked[newest][1].event)

    def _text(self, at: _Order, place: int) -> str:
        return " ".join(commands(self.shown[at[-1]].content)[place].text.split())


def _fill(read: Callable[[Collection[str]], Iterable[Record]], found: Iterable[tuple[str, _Found]]) -> None:
    """Read again what the sequences were taken from, and the request before each."""
    wanted: defaultdict[str, list[_Found]] = defaultdict(list)
    asked: defaultdict[tuple[str, str], list[tuple[_Order, _Found]]] = defaultdict(list)
    for key, one in found:
        for session, steps in one.steps.items():
            asked[key, session].append((steps[0][1], one))
            for memory in {at[-1] for _, at, _ in steps}:
                wanted[memory].append(one)
    for record in read({session for _, session in asked}) if wanted else ():
        for one in wanted.get(record.id, ()):
            one.shown[record.id] = record
        if record.session is not None and spoken(record) and usable(record):
            at = order(record)
            for start, one in asked.get((record.key, record.session), ()):
                if at < start and (record.session not in one.asked or one.asked[record.session][0] < at):
                    one.asked[record.session] = (at, record)


def _shared(requests: list[str], newest: str) -> str:
    """Return the words that most requests share, as the newest says them; "" where fewer than two were made."""
    if len(requests) < 2:
        return ""
    bags = [{stem(word, "en") for word in telling(text[:READ]) if _tells(word)} for text in requests]
    counts = Counter(word for bag in bags for word in bag)
    shared = {word for word, count in counts.items() if count >= 2 and 3 * count >= 2 * len(requests)}
    said = dict.fromkeys(
        word for word in telling(newest[:READ]) if _tells(word) and stem(word, "en") in shared
    )
    best = sorted(said, key=lambda word: (-rank(word), word))[:MOST_WORDS]
    return " ".join(word for word in said if word in best)


def _tells(word: str) -> bool:
    return word not in ASKING and rank(word) >= TELLS and not word.isdigit() and len(word) > 2
