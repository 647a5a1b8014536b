"""Add: NewMemory -> one memory in the store, once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from scrubjay.ingest.draw import Drawn, draw, normal
from scrubjay.ingest.echo import nothing
from scrubjay.ingest.embed import embed
from scrubjay.ingest.learn import Learned, Learner
from scrubjay.ingest.naming import prepare
from scrubjay.ingest.revise import Outcome
from scrubjay.ingest.scrub_turns import redact, scrub_new
from scrubjay.ingest.weave import Weaver
from scrubjay.memory.ids import memory_id, memory_key
from scrubjay.memory.new import NewMemory
from scrubjay.memory.records import Record
from scrubjay.memory.reports import Added
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Reader, Store
from scrubjay.store.changes import Prepared, PutEdges, PutMemory
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
    allow: Sequence[str] = (),
) -> list[Added]:
    """Add memories, each once; all fields of all of them are checked before the first is written.

    Only equal texts are one memory (`draw.normal`), however alike others are. A turn that is nothing but recalled
    memories is passed over, and its answer says so. What ``allow`` names is never replaced as a secret. A turn is
    read with those before it, and a stored one that it calls a secret is redacted (`scrub_turns`).
    """
    secret = store.secret(scope)
    wanted = list(memories)
    found, called = scrub_new(store, scope, wanted, allow)
    drawn = [
        None if nothing(new) else draw(new, scope, secret, allow, clean)
        for new, clean in zip(wanted, found, strict=True)
    ]
    if called:
        redact(store, scope, base, called)
    return put(store, scope, base, drawn, weaver, learner)


def put(
    store: Store,
    scope: Scope,
    base: Embedder,
    drawn: Sequence[Drawn | None],
    weaver: Weaver,
    learner: Learner,
) -> list[Added]:
    """Add memories that were drawn, each once; None stands for one that is passed over."""
    secret = store.secret(scope)
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
    before = reader.get([one.exact for one in drawn if one.exact != one.record.id])
    found = [
        replace(one, record=replace(one.record, id=one.exact))
        if one.exact in before and not one.scrubbed and _says(before[one.exact], one.record)
        else one
        for one in drawn
    ]
    present: set[str] = set()
    places = list(range(len(found)))
    while places:
        held = reader.get([found[place].record.id for place in places])
        present |= held.keys()
        again = []
        for place in places:
            record = found[place].record
            old = held.get(record.id)
            if old is not None and old.place is None and not _says(old, record):
                parts = ("again", record.id, record.content_hash)
                renamed = replace(record, id=memory_id(record.tier, memory_key(secret, parts)))
                found[place] = replace(found[place], record=renamed)
                again.append(place)
        places = again
    return found, present


def _says(old: Record, new: Record) -> bool:
    """Tell whether a memory still says what made its id."""
    return old.content_hash == new.content_hash or normal(old.content) == normal(new.content)


def _answer(item: Drawn, first: bool, learned: Learned) -> Added:
    memory = item.record.id
    outcome = learned.outcomes.get(memory, Outcome())
    if outcome.same is not None or not first:
        return Added(outcome.same or memory, True, item.scrubbed)
    stated = tuple(learned.stated.get(memory, ()))
    taken = {*outcome.supersedes, *outcome.contradicts}
    near = dict.fromkeys((*outcome.similar, *learned.similar.get(memory, ())))
    alike = tuple(one for one in near if one not in taken)
    return Added(
        memory, False, item.scrubbed, None, outcome.supersedes, outcome.contradicts, stated, similar=alike
    )


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
    for change in after:
        for edge in change.edges if isinstance(change, PutEdges) else ():
            if edge.kind == "similar":
                learned.similar.setdefault(edge.src, []).append(edge.dst)
