"""Refine: turns that no language model read yet, and one -> what it finds there beside the rules, vouched for.

It runs at night and before anything is archived: a memory is stored and found long before, and no writer waits for a
model. Each batch of turns is written whole, with a mark on each turn that it was read, so that a killed run goes on
with the next batch and nothing is sent twice; a turn whose text changes is read again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from scrubjay.consolidate.asking import Asking
from scrubjay.consolidate.gather import TIERS, pages
from scrubjay.consolidate.keep import of_the_run
from scrubjay.consolidate.night import PAGE, Night
from scrubjay.ingest.embed import embed
from scrubjay.ingest.learn import remembered, spoken
from scrubjay.ingest.naming import prepare
from scrubjay.ingest.revise import revise
from scrubjay.ingest.scrub import scrub
from scrubjay.ingest.statements.statements import LEAST
from scrubjay.ingest.statements.vouched import TASK, Found, proposed, request
from scrubjay.ingest.turned import EVERY
from scrubjay.memory.dates import now_micros
from scrubjay.memory.events import Event
from scrubjay.memory.ids import tombstones
from scrubjay.memory.records import Record, Where
from scrubjay.providers.llms.parsed import parsed
from scrubjay.store.changes import Change, Prepared, PutEdges, PutEvents

if TYPE_CHECKING:
    from scrubjay.store.base import Reader

READ: Final = "read"
"""What happens to a turn that a model was asked about."""
AT_ONCE: Final = 16
"""Turns of one request."""
CHARACTERS: Final = 16_000
"""Characters of one request; small local models read about 4,000 tokens."""
SURE: Final = 0.6
"""How sure a statement is that a model found and the rules did not; theirs are .7."""


@dataclass(frozen=True, slots=True)
class Refined:
    """What one answer comes to.

    Attributes:
        fresh: Statements to write, with their vectors.
        after: Changes to write after them.
        turns: How many turns were read.
        refused: Proposals that the turns do not bear out.
        sources: Id of a statement to that of its turn.
    """

    fresh: tuple[Prepared, ...]
    after: tuple[Change, ...]
    turns: int
    refused: int
    sources: dict[str, str]


def refine(night: Night, asking: Asking, secret: bytes) -> Iterator[Refined]:
    """Yield what is to be written of each request, until the model is asked no more.

    Args:
        night: The run; each batch is to be written before the next is asked for.
        asking: The model.
        secret: The tenant's key of ids.
    """
    for batch in _batches(_unread(night)):
        texts = [scrub(turn.content[:CHARACTERS]).text for turn in batch]
        answer = asking.ask(TASK, request(texts), f"{len(texts)} turn{'s' * (len(texts) > 1)}")
        if answer is not None:
            try:
                found = proposed(parsed(answer), texts)
            except ValueError:
                asking.failed(f"it answered {len(texts)} turns with something that is no JSON list")
            else:
                asking.made_sense()
                yield _refined(night, asking, secret, batch, found)
        if not asking.open:
            return


def _unread(night: Night) -> Iterator[Record]:
    page: list[Record] = []
    for turn in pages(night.store, night.viewers, night.key, Where(tiers=TIERS)):
        if spoken(turn) and len(turn.content) >= LEAST:
            page.append(turn)
        if len(page) == PAGE:
            yield from _of_page(night, page)
            page = []
    yield from _of_page(night, page)


def _of_page(night: Night, page: Sequence[Record]) -> list[Record]:
    """Return the turns that were not read since they were written."""
    read: dict[str, int] = {}
    with night.store.reader(night.viewers) as reader:
        for event in reader.events([turn.id for turn in page], limit=EVERY):
            if event.op == READ:
                read[event.memory] = max(event.at, read.get(event.memory, 0))
    return [turn for turn in page if read.get(turn.id, -1) < turn.updated_at]


def _batches(turns: Iterator[Record]) -> Iterator[list[Record]]:
    batch: list[Record] = []
    size = 0
    for turn in turns:
        length = min(len(turn.content), CHARACTERS)
        if batch and (len(batch) == AT_ONCE or size + length > CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(turn)
        size += length
    if batch:
        yield batch


def _refined(night: Night, asking: Asking, secret: bytes, batch: Sequence[Record], found: Found) -> Refined:
    at = now_micros()
    with night.store.reader(night.viewers) as reader:
        turns = _unchanged(reader, batch)
        drawn = _new(reader, night.key, secret, _drawn(secret, batch, turns, found, at))
        made = embed([prepare(record) for record, _ in drawn.values()], [""] * len(drawn), night.base)
        evidence = {memory: (turn,) for memory, (_, turn) in drawn.items()}
        done = revise(reader, night.base.model.fingerprint, made, evidence, at)
    after = [_named(of_the_run(change, night.run), asking.name) for change in done.after]
    fresh = [memory.record.id for memory in done.fresh]
    events = [Event(memory, "derived", at, night.key, night.run, count=1) for memory in fresh]
    events += [Event(turn, READ, at, night.key, night.run) for turn in turns]
    sources = {memory: evidence[memory][0].id for memory in fresh}
    after.append(PutEvents(tuple(events)))
    return Refined(tuple(done.fresh), tuple(after), len(turns), found.refused, sources)


def _drawn(
    secret: bytes, batch: Sequence[Record], turns: Mapping[str, Record], found: Found, at: int
) -> dict[str, tuple[Record, Record]]:
    """Return what was found as memories, each with its turn, by id."""
    drawn: dict[str, tuple[Record, Record]] = {}
    for number, own in found.kept.items():
        turn = turns.get(batch[number].id)
        if turn is not None:
            records = (remembered(secret, turn, statement, at, SURE) for statement in own)
            drawn |= {record.id: (record, turn) for record in records}
    return drawn


def _unchanged(reader: Reader, batch: Sequence[Record]) -> dict[str, Record]:
    """Return the turns that are as they were when they were sent."""
    held = reader.get([turn.id for turn in batch])
    sent = {turn.id: turn.content_hash for turn in batch}
    return {
        memory: turn
        for memory, turn in held.items()
        if turn.content_hash == sent[memory] and turn.status == "active"
    }


def _new(
    reader: Reader, key: str, secret: bytes, drawn: dict[str, tuple[Record, Record]]
) -> dict[str, tuple[Record, Record]]:
    """Return what is neither there, whatever became of it, nor was forgotten."""
    present = reader.get(list(drawn))
    marks = {memory: tombstones(secret, record.content, (key,)) for memory, (record, _) in drawn.items()}
    gone = reader.forgotten([mark for own in marks.values() for mark in own])
    return {
        memory: pair
        for memory, pair in drawn.items()
        if memory not in present and gone.isdisjoint(marks[memory])
    }


def _named(change: Change, model: str) -> Change:
    """Return a change whose evidence tells which model found it."""
    if not isinstance(change, PutEdges):
        return change
    rule = f"read by {model}"
    return replace(
        change,
        edges=tuple(
            replace(edge, rule=rule) if edge.kind == "derived_from" else edge for edge in change.edges
        ),
    )
