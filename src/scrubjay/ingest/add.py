"""Add: NewMemory -> one memory in the store, once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from scrubjay.ingest.draw import Drawn, draw
from scrubjay.ingest.echo import nothing
from scrubjay.ingest.embed import embed
from scrubjay.ingest.learn import Learned, Learner
from scrubjay.ingest.naming import prepare
from scrubjay.ingest.revise import Outcome
from scrubjay.ingest.weave import Weaver
from scrubjay.memory.ids import memory_id, memory_key
from scrubjay.memory.new import NewMemory
from scrubjay.memory.reports import Added
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Reader, Store
from scrubjay.store.changes import Prepared, PutMemory
from scrubjay.store.room import foreseen

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder

AT_ONCE: Final = 1_000
"""Memories of one transaction."""
RECALLED: Final = "The turn is nothing but recalled memories."
"""Why a turn is not remembered."""


def add(
    store: Store,
    scope: Scope,
    base: Embedder,
    memories: Iterable[NewMemory],
    weaver: Weaver,
    learner: Learner,
) -> list[Added]:
    """Add memories, each once; all fields of all of them are checked before the first is written.

    What says the same as a known statement reinforces that and is not added; what changes one takes its place. A
    turn that is nothing but recalled memories is passed over, and its answer says so.
    """
    secret = store.secret(scope)
    drawn = [None if nothing(new) else draw(new, scope, secret) for new in memories]
    with store.reader(scope) as reader:
        settled, present = _settled(reader, [item for item in drawn if item is not None], secret)
    fresh: dict[str, Prepared] = {}
    first: set[int] = set()
    for place, item in enumerate(settled):
        if item.record.id not in present and item.record.id not in fresh:
            fresh[item.record.id] = prepare(item.record)
            first.add(place)
    learned = Learned()
    waiting = list(fresh.values())
    if len(waiting) > AT_ONCE:
        foreseen(store, scope.tenant, Counter(one.record.key for one in waiting))
    for start in range(0, len(waiting), AT_ONCE):
        batch = waiting[start : start + AT_ONCE]
        _write(store, scope, embed(batch, [""] * len(batch), base), weaver, learner, learned)
    answers = iter([_answer(item, place in first, learned) for place, item in enumerate(settled)])
    return [Added("", False, {}, passed=RECALLED) if item is None else next(answers) for item in drawn]


def _settled(reader: Reader, drawn: Sequence[Drawn], secret: bytes) -> tuple[list[Drawn], set[str]]:
    """Return what was drawn under the ids that it has, and those of them that are there.

    A memory whose text was changed keeps its id; its first text, added again, is a memory of its own.
    """
    found = list(drawn)
    present: set[str] = set()
    places = list(range(len(found)))
    while places:
        held = reader.get([found[place].record.id for place in places])
        present |= held.keys()
        again = []
        for place in places:
            record = found[place].record
            old = held.get(record.id)
            if old is not None and old.place is None and old.content_hash != record.content_hash:
                parts = ("again", record.id, record.content_hash)
                renamed = replace(record, id=memory_id(record.tier, memory_key(secret, parts)))
                found[place] = replace(found[place], record=renamed)
                again.append(place)
        places = again
    return found, present


def _answer(item: Drawn, first: bool, learned: Learned) -> Added:
    memory = item.record.id
    outcome = learned.outcomes.get(memory, Outcome())
    if outcome.same is not None or not first:
        return Added(outcome.same or memory, True, item.scrubbed)
    stated = tuple(learned.stated.get(memory, ()))
    return Added(memory, False, item.scrubbed, None, outcome.supersedes, outcome.contradicts, stated)


def _write(
    store: Store,
    scope: Scope,
    batch: Sequence[Prepared],
    weaver: Weaver,
    learner: Learner,
    learned: Learned,
) -> None:
    """Settle memories with what is known, connect them and store them durably."""
    done = learner.learn(batch)
    weaver.learn([memory.record for memory in done.fresh])
    before, after = weaver.changes(done.fresh, ())
    puts = [PutMemory(memory) for memory in done.fresh]
    store.write(scope, [*before, *puts, *after, *done.after], durable=True)
    learned.outcomes |= done.outcomes
    learned.stated |= done.stated
