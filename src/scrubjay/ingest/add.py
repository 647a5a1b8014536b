"""Add: NewMemory -> one memory in the store, once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scrubjay.errors import InputError
from scrubjay.ingest.echo import own
from scrubjay.ingest.embed import embed
from scrubjay.ingest.learn import Learned, Learner
from scrubjay.ingest.naming import prepare
from scrubjay.ingest.revise import Outcome
from scrubjay.ingest.scrub import scrub
from scrubjay.ingest.weave import Weaver
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
    scrubbed: Counter[str] = Counter()

    def clean(value: object, field: str) -> str:
        found = scrub(_text(value, field))
        scrubbed.update(found.counts)
        return found.text

    content = clean(own(new), "content")
    if not content.strip():
        raise InputError("The memory is empty. Nothing was written.", hint="give it some text")
    if len(content) > MOST_CHARACTERS:
        raise InputError(
            f"The memory has {len(content):,} characters; at most {MOST_CHARACTERS:,} make one. "
            "Nothing was written.",
            hint="save it as a Markdown file and `scrubjay sync` its folder",
        )
    _check(new)
    key = scope.key(new.visibility, new.group)
    event = when(new.date)
    start, end = when(new.valid_from), when(new.valid_until)
    session = _name(new.session, "session")
    digest = text_hash(content)
    at = str(event.start) if event is not None else ""
    parts = ("add", key, new.tier, session or "", "" if new.turn is None else str(new.turn), at, digest)
    now = now_micros()
    record = Record(
        id=memory_id(new.tier, memory_key(secret, parts)),
        tier=new.tier,
        content=content,
        content_hash=digest,
        title=clean(new.title, "title"),
        key=key,
        owner=scope.user,
        recorded_at=now,
        updated_at=now,
        tags=tuple(sorted({clean(tag, "tags").strip().lower() for tag in new.tags} - {""})),
        project=_name(new.project, "project"),
        agent=_name(new.agent, "agent"),
        session=session,
        role=_name(new.role, "role"),
        turn=None if new.turn is None else int(new.turn),
        origin=new.origin,
        pinned=bool(new.pinned),
        confidence=float(new.confidence),
        event=event,
        valid_from=start.start if start else None,
        valid_until=end.end if end else None,  # true through the whole of a day that is named
    )
    if start is not None and end is not None and end.end < start.start:
        raise InputError(f"It would be true from {new.valid_from} to {new.valid_until}. Nothing was written.")
    return Drawn(record, dict(scrubbed))


def _check(new: NewMemory) -> None:
    if new.tier not in TIERS:
        raise InputError(f"Tier {new.tier!r} is not one of {', '.join(TIERS)}. Nothing was written.")
    if new.origin not in ORIGINS:
        raise InputError(f"Origin {new.origin!r} is not one of {', '.join(ORIGINS)}. Nothing was written.")
    if not _number(new.confidence) or not 0.0 <= new.confidence <= 1.0:
        raise InputError(f"Confidence {new.confidence!r} is not between 0 and 1. Nothing was written.")
    if new.turn is not None and not (_number(new.turn) and 0 <= new.turn < 2**63 and new.turn % 1 == 0):
        raise InputError(f"Turn {new.turn!r} is not a whole number from 0. Nothing was written.")
    if isinstance(new.tags, str):
        raise InputError(f"Tags are {new.tags!r}, one text; give a list of them. Nothing was written.")
    if new.group is not None and new.visibility != "group":
        raise InputError(
            f"Group {new.group!r} is named, but visibility is {new.visibility!r}. Nothing was written.",
            hint="set visibility to group, or leave the group out",
        )


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _name(value: object, field: str) -> str | None:
    return None if value is None else _text(value, field)


def _text(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{field} is a {type(value).__name__}, not a text. Nothing was written.")
    # What cannot be UTF-8 (half of a surrogate pair) cannot be stored or printed.
    return value.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")


def add(
    store: Store,
    scope: Scope,
    base: Embedder,
    memories: Iterable[NewMemory],
    weaver: Weaver,
    learner: Learner,
) -> list[Added]:
    """Add memories, each once; all fields of all of them are checked before the first is written.

    What says the same as a known statement reinforces that and is not added; what changes one takes its place.
    """
    secret = store.secret(scope)
    drawn = [draw(new, scope, secret) for new in memories]
    with store.reader(scope) as reader:
        present = set(reader.get([item.record.id for item in drawn]))
    fresh: dict[str, Prepared] = {}
    first: set[int] = set()
    for place, item in enumerate(drawn):
        if item.record.id not in present and item.record.id not in fresh:
            fresh[item.record.id] = prepare(item.record)
            first.add(place)
    learned = Learned()
    waiting = list(fresh.values())
    for start in range(0, len(waiting), AT_ONCE):
        batch = waiting[start : start + AT_ONCE]
        _write(store, scope, embed(batch, [""] * len(batch), base), weaver, learner, learned)
    return [_answer(item, place in first, learned) for place, item in enumerate(drawn)]


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
