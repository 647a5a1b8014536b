"""Add: NewMemory -> one memory in the store, once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scrubjay.errors import InputError
from scrubjay.ingest.embed import embed
from scrubjay.ingest.label import prepare
from scrubjay.ingest.scrub import scrub
from scrubjay.memory.dates import now_micros, when
from scrubjay.memory.ids import memory_id, memory_key, text_hash
from scrubjay.memory.new import NewMemory
from scrubjay.memory.records import Record
from scrubjay.memory.reports import Added
from scrubjay.memory.scope import Scope
from scrubjay.memory.tiers import ORIGINS, TIERS
from scrubjay.store.base import Store
from scrubjay.store.changes import Prepared, PutMemory

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder

AT_ONCE: Final = 1_000
"""Memories of one transaction."""
MOST_CHARACTERS: Final = 10_000_000
"""Characters of one memory: a book is several memories."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A new memory with its id, not yet counted and embedded."""

    record: Record
    scrubbed: Mapping[str, int]


def draw(new: NewMemory, scope: Scope, secret: bytes) -> Drawn:
    """Check a new memory, scrub it and give it its id.

    The id is a keyed hash of who may see it, tier, conversation and turn, event and text: adding the same
    again finds the same memory, and two turns that both say "yes" stay two.

    Raises:
        InputError: A field has a value it cannot have.
    """
    clean = scrub(_text(new.content, "content"))
    title = scrub(_text(new.title, "title"))
    if not clean.text.strip():
        raise InputError("The memory is empty. Nothing was written.", hint="give it some text")
    if len(clean.text) > MOST_CHARACTERS:
        raise InputError(
            f"The memory has {len(clean.text):,} characters; at most {MOST_CHARACTERS:,} make one. Nothing was written.",
            hint="save it as a Markdown file and `scrubjay sync` its folder",
        )
    _check(new)
    key = scope.key(new.visibility, new.group)
    event = when(new.date)
    start, end = when(new.valid_from), when(new.valid_until)
    digest = text_hash(clean.text)
    at = str(event.start) if event is not None else ""
    parts = ("add", key, new.tier, new.session or "", "" if new.turn is None else str(new.turn), at, digest)
    now = now_micros()
    record = Record(
        id=memory_id(new.tier, memory_key(secret, parts)),
        tier=new.tier,
        content=clean.text,
        content_hash=digest,
        title=title.text,
        key=key,
        owner=scope.user,
        recorded_at=now,
        updated_at=now,
        tags=tuple(sorted({scrub(_text(tag, "tags")).text.strip().lower() for tag in new.tags} - {""})),
        project=new.project,
        agent=new.agent,
        session=new.session,
        role=new.role,
        turn=new.turn,
        origin=new.origin,
        pinned=new.pinned,
        confidence=new.confidence,
        event=event,
        valid_from=start.start if start else None,
        valid_until=end.start if end else None,
    )
    return Drawn(record, dict(clean.counts))


def _check(new: NewMemory) -> None:
    if new.tier not in TIERS:
        raise InputError(f"Tier {new.tier!r} is not one of {', '.join(TIERS)}. Nothing was written.")
    if new.origin not in ORIGINS:
        raise InputError(f"Origin {new.origin!r} is not one of {', '.join(ORIGINS)}. Nothing was written.")
    if not 0.0 <= new.confidence <= 1.0:
        raise InputError(f"Confidence {new.confidence} is not between 0 and 1. Nothing was written.")
    if isinstance(new.tags, str):
        raise InputError(f"Tags are {new.tags!r}, one text; give a list of them. Nothing was written.")


def _text(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{field} is a {type(value).__name__}, not a text. Nothing was written.")
    # What cannot be UTF-8 (half of a surrogate pair) cannot be stored or printed.
    return value.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")


def add(store: Store, scope: Scope, base: Embedder, memories: Iterable[NewMemory]) -> list[Added]:
    """Add memories, each once; all fields of all of them are checked before the first is written."""
    secret = store.secret(scope)
    drawn = [draw(new, scope, secret) for new in memories]
    with store.reader(scope) as reader:
        present = set(reader.get([item.record.id for item in drawn]))
    answers = []
    fresh: dict[str, Prepared] = {}
    for item in drawn:
        existed = item.record.id in present or item.record.id in fresh
        if not existed:
            fresh[item.record.id] = prepare(item.record)
        answers.append(Added(item.record.id, existed, item.scrubbed))
    write_additions(store, scope, base, list(fresh.values()))
    return answers


def write_additions(store: Store, scope: Scope, base: Embedder, memories: Sequence[Prepared]) -> None:
    """Embed memories with the base model and store them durably."""
    for first in range(0, len(memories), AT_ONCE):
        batch = memories[first : first + AT_ONCE]
        embedded = embed(batch, [""] * len(batch), base)
        store.write(scope, [PutMemory(memory) for memory in embedded], durable=True)
