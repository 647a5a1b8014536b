"""Additions: validate new memories, store them once, and edit stored ones.

The earlier text stays as a memory of its own, superseded, with the same evidence: `history` leads to it, a search
as of then finds it, and forgetting the memory takes it along. What was derived and is put in other words is from
then on said by whoever changed it: no night replaces it and no undo takes it away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final

from scrubjay.errors import InputError
from scrubjay.facts.reconciliation import FactOutcome
from scrubjay.ingest.deletion import ALL_EVENTS
from scrubjay.ingest.embedder import embed_memories, prepare_memory
from scrubjay.ingest.fact_stage import FactBatch, FactStage
from scrubjay.ingest.linker import EdgeBuilder
from scrubjay.ingest.turns import (
    _checked_text,
    is_only_injected,
    redact_new_turns,
    redact_stored_turns,
    stated_text,
)
from scrubjay.models.dates import now_micros, parse_when
from scrubjay.models.graph import EDITED_RULE, Edge
from scrubjay.models.ids import memory_id, memory_key, text_hash, tombstone_hashes
from scrubjay.models.lifecycle import Amendment, Event, LifecycleChange, NewMemory
from scrubjay.models.records import ORIGINS, TIERS, UNCHANGED, Record, Scope
from scrubjay.models.reports import AddReport
from scrubjay.models.views import UpdateReport
from scrubjay.redaction.redactor import RedactedText, redact_text
from scrubjay.storage.changes import Change, PreparedMemory, PutEdges, PutEvents, PutLifecycle, PutMemory
from scrubjay.storage.interface import Reader, Store
from scrubjay.storage.quota import check_planned_writes
from scrubjay.storage.validation import check_validity
from scrubjay.text.normalize import normalize_content

if TYPE_CHECKING:
    from scrubjay.embeddings.base import Embedder


MAX_MEMORY_CHARACTERS: Final = 10_000_000
"""Characters of one memory: a book is several memories."""
REDACTION_CHECK_MASK: Final = 0xFF
"""Bits of a keyed hash by which two texts that redaction made equal are told apart. Eight find 255 of 256 such pairs;
of a secret they leave one guess of 256, however short it is, to whoever has the store's file and its key."""


@dataclass(frozen=True, slots=True)
class ValidatedMemory:
    """A new memory with its id, not yet counted and embedded.

    Attributes:
        record: The memory.
        scrubbed: Kind of secret to how many were replaced.
        exact: The id that earlier versions gave it, by its text as it stands.
    """

    record: Record
    scrubbed: Mapping[str, int]
    exact: str


def validate_memory(
    new: NewMemory, scope: Scope, secret: bytes, allow: Sequence[str] = (), found: RedactedText | None = None
) -> ValidatedMemory:
    """Check a new memory, scrub it and give it its id.

    The id is a keyed hash of who may see it, tier, conversation and turn, event and text, whatever its blanks
    and the form of its Unicode: adding the same again finds the same memory, and two turns that both say "yes" stay
    two. So do two texts that differ in nothing but a secret.

    Args:
        new: The memory.
        scope: Who adds it.
        secret: The tenant's key of ids.
        allow: Words, and patterns as ``/…/``, that are never replaced as secrets.
        found: Its text without secrets, where that is known already: that of a turn (`scrub_turns`).

    Raises:
        InputError: A field has a value it cannot have.
    """
    scrubbed: Counter[str] = Counter()

    def clean(value: object, field: str) -> str:
        one = redact_text(_checked_text(value, field), allow)
        scrubbed.update(one.counts)
        return one.text

    told = stated_text(new)
    found = found or redact_text(told, allow)
    scrubbed.update(found.counts)
    content = found.text
    if not content.strip():
        raise InputError("The memory is empty. Nothing was written.", hint="give it some text")
    if len(content) > MAX_MEMORY_CHARACTERS:
        raise InputError(
            f"The memory has {len(content):,} characters; at most {MAX_MEMORY_CHARACTERS:,} make one. "
            "Nothing was written.",
            hint="save it as a Markdown file and `scrubjay sync` its folder",
        )
    _check_fields(new)
    key = scope.key(new.visibility, new.group)
    event = parse_when(new.date)
    start, end = parse_when(new.valid_from), parse_when(new.valid_until)
    session = _checked_name(new.session, "session")
    now = now_micros()
    record = Record(
        id="",
        tier=new.tier,
        content=content,
        content_hash=text_hash(content),
        title=clean(new.title, "title"),
        key=key,
        owner=scope.user,
        recorded_at=now,
        updated_at=now,
        tags=tuple(sorted({clean(tag, "tags").strip().lower() for tag in new.tags} - {""})),
        project=_checked_name(new.project, "project"),
        agent=_checked_name(new.agent, "agent"),
        session=session,
        role=_checked_name(new.role, "role"),
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
    redacted = (
        f"{memory_key(secret, ('redacted', normalize_content(told))) & REDACTION_CHECK_MASK}"
        if found.counts
        else ""
    )
    named = replace(record, id=memory_id(new.tier, addition_key(secret, record, redacted)))
    exact = memory_id(new.tier, _addition_hash(secret, record, content_digest=record.content_hash))
    return ValidatedMemory(named, dict(scrubbed), exact)


def addition_key(secret: bytes, record: Record, redacted: str = "") -> int:
    """Return the number of a memory that stands in no document, whoever brings it: a hash of all that tells it.

    Args:
        secret: The tenant's key of ids.
        record: The memory.
        redacted: What tells it from another that redaction made equal to it.
    """
    return _addition_hash(secret, record, text_hash(normalize_content(record.content)), redacted)


def _addition_hash(secret: bytes, record: Record, content_digest: str, redacted: str = "") -> int:
    at = "" if record.event is None else str(record.event.start)
    turn = "" if record.turn is None else str(record.turn)
    parts = ("add", record.key, record.tier, record.session or "", turn, at, content_digest)
    return memory_key(secret, (*parts, redacted) if redacted else parts)


def _check_fields(new: NewMemory) -> None:
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


def _checked_name(value: object, field: str) -> str | None:
    return None if value is None else _checked_text(value, field)


ADD_BATCH: Final = 1_000
"""Memories of one transaction."""
ONLY_RECALLED: Final = "The turn is nothing but recalled memories."
"""Why a turn is not remembered."""


def add_memories(
    store: Store,
    scope: Scope,
    base: Embedder,
    memories: Iterable[NewMemory],
    edge_builder: EdgeBuilder,
    fact_stage: FactStage,
    allow: Sequence[str] = (),
) -> list[AddReport]:
    """Add memories, each once; all fields of all of them are checked before the first is written.

    Only equal texts are one memory (`validate_memory.normal`), however alike others are. A turn that is
    nothing but recalled
    memories is passed over, and its answer says so. What ``allow`` names is never replaced as a secret. A turn is
    read with those before it, and a stored one that it calls a secret is redacted (`scrub_turns`).
    """
    secret = store.secret(scope)
    wanted = list(memories)
    found, called = redact_new_turns(store, scope, wanted, allow)
    validated = [
        None if is_only_injected(new) else validate_memory(new, scope, secret, allow, clean)
        for new, clean in zip(wanted, found, strict=True)
    ]
    if called:
        redact_stored_turns(store, scope, base, called)
    return put_memories(store, scope, base, validated, edge_builder, fact_stage)


def put_memories(
    store: Store,
    scope: Scope,
    base: Embedder,
    validated: Sequence[ValidatedMemory | None],
    edge_builder: EdgeBuilder,
    fact_stage: FactStage,
) -> list[AddReport]:
    """Add validated memories, each once; None stands for one that is skipped."""
    secret = store.secret(scope)
    with store.reader(scope) as reader:
        settled, present = _with_existing_ids(
            reader, [item for item in validated if item is not None], secret
        )
    fresh: dict[str, PreparedMemory] = {}
    first: set[int] = set()
    for place, item in enumerate(settled):
        if item.record.id not in present and item.record.id not in fresh:
            fresh[item.record.id] = prepare_memory(item.record)
            first.add(place)
    learned = FactBatch()
    waiting = list(fresh.values())
    if len(waiting) > ADD_BATCH:
        check_planned_writes(store, scope.tenant, Counter(one.record.key for one in waiting))
    for start in range(0, len(waiting), ADD_BATCH):
        batch = waiting[start : start + ADD_BATCH]
        _write(
            store, scope, embed_memories(batch, [""] * len(batch), base), edge_builder, fact_stage, learned
        )
    answers = iter([_answer(item, place in first, learned) for place, item in enumerate(settled)])
    return [
        AddReport("", False, {}, passed=ONLY_RECALLED) if item is None else next(answers)
        for item in validated
    ]


def _with_existing_ids(
    reader: Reader, validated: Sequence[ValidatedMemory], secret: bytes
) -> tuple[list[ValidatedMemory], set[str]]:
    """Return the validated memories under their ids, and those of them that are there.

    A memory whose text was changed keeps its id; its first text, added again, is a memory of its own.
    """
    before = reader.get([one.exact for one in validated if one.exact != one.record.id])
    found = [
        replace(one, record=replace(one.record, id=one.exact))
        if one.exact in before and not one.scrubbed and _says(before[one.exact], one.record)
        else one
        for one in validated
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
    return old.content_hash == new.content_hash or normalize_content(old.content) == normalize_content(
        new.content
    )


def _answer(item: ValidatedMemory, first: bool, learned: FactBatch) -> AddReport:
    memory = item.record.id
    outcome = learned.outcomes.get(memory, FactOutcome())
    if outcome.same is not None or not first:
        return AddReport(outcome.same or memory, True, item.scrubbed)
    stated = tuple(learned.stated.get(memory, ()))
    taken = {*outcome.supersedes, *outcome.contradicts}
    near = dict.fromkeys((*outcome.similar, *learned.similar.get(memory, ())))
    alike = tuple(one for one in near if one not in taken)
    return AddReport(
        memory, False, item.scrubbed, None, outcome.supersedes, outcome.contradicts, stated, similar=alike
    )


def _write(
    store: Store,
    scope: Scope,
    batch: Sequence[PreparedMemory],
    edge_builder: EdgeBuilder,
    fact_stage: FactStage,
    learned: FactBatch,
) -> None:
    """Settle memories with what is known, connect them and store them durably."""
    done = fact_stage.extract(batch)
    edge_builder.add_entities([memory.record for memory in done.fresh])
    before, after = edge_builder.changes(done.fresh, ())
    puts = [PutMemory(memory) for memory in done.fresh]
    store.write(scope, [*before, *puts, *after, *done.after], durable=True)
    learned.outcomes |= done.outcomes
    learned.stated |= done.stated
    for change in after:
        for edge in change.edges if isinstance(change, PutEdges) else ():
            if edge.kind == "similar":
                learned.similar.setdefault(edge.src, []).append(edge.dst)


_TOLD: Final = ("content", "title", "tags", "event", "origin")
"""What its words, vectors, edges or place in time rest on."""
_LIVED: Final = ("confidence", "valid_from", "valid_until", "pinned")
"""What changes without them."""


@dataclass(frozen=True, slots=True)
class _PriorState:
    """A memory as it is, what it rests on, and how often it was changed."""

    record: Record
    evidence: Sequence[Edge]
    edits: int


def amend_memory(
    store: Store,
    scope: Scope,
    base: Embedder,
    edge_builder: EdgeBuilder,
    memory: str,
    amendment: Amendment,
    allow: Sequence[str] = (),
) -> UpdateReport:
    """Change a memory that belongs to no file, in one transaction; what it is already changes nothing.

    Args:
        store: Where.
        scope: Who says so.
        base: The base model.
        edge_builder: Rebuilds its edges.
        memory: Its whole id, one that the scope sees.
        amendment: What is said of it.
        allow: What is never replaced as a secret.

    Raises:
        InputError: A field has a value it cannot have, or the text was forgotten or is another memory's.
    """
    secret = store.secret(scope)
    with store.reader(scope) as reader:
        edits = sum(event.op == "changed" for event in reader.events([memory], limit=ALL_EVENTS))
        before = _PriorState(reader.get([memory])[memory], reader.edges([memory], ["derived_from"]), edits)
        old, wanted = before.record, amendment_fields(amendment)
        validated = validate_memory(_as_new(old, wanted), scope, secret, allow)
        new = _amended(old, validated.record, wanted, scope.user)
        check_validity(old.id, new.valid_from, new.valid_until)
        if new.content != old.content:
            _allowed(reader, secret, new, validated)
    changed = tuple(name for name in (*_TOLD, *_LIVED) if getattr(new, name) != getattr(old, name))
    if not changed:
        return UpdateReport(old.id, (), None, validated.scrubbed)
    if set(changed) <= set(_LIVED):
        store.write(scope, _relived(old, new, changed, scope.user), durable=True)
        return UpdateReport(old.id, changed, None, validated.scrubbed)
    version = _version(secret, before, new) if "content" in changed else None
    store.write(scope, _rewritten(before, new, version, scope.user, base, edge_builder), durable=True)
    return UpdateReport(old.id, changed, None if version is None else version.id, validated.scrubbed)


def amendment_fields(amendment: Amendment) -> dict[str, Any]:
    """Return, by name, what an amendment says.

    >>> amendment_fields(Amendment(pinned=True, valid_until=None))
    {'valid_until': None, 'pinned': True}
    """
    values = ((each.name, getattr(amendment, each.name)) for each in fields(amendment))
    return {name: value for name, value in values if value is not UNCHANGED}


def _as_new(old: Record, wanted: dict[str, Any]) -> NewMemory:
    """Return a memory as somebody would add it, so that the same is checked and scrubbed."""
    visibility, _, group = old.key.partition(":")
    shared = group if visibility == "group" else None
    given: dict[str, Any] = {
        "content": old.content,
        "title": old.title,
        "tags": old.tags,
        "confidence": old.confidence,
    }
    given |= {"pinned": old.pinned, "origin": old.origin} | wanted
    own = ("tier", "session", "role", "turn", "project", "agent")
    return NewMemory(
        **given, visibility=visibility, group=shared, **{name: getattr(old, name) for name in own}
    )


def _amended(old: Record, validated: Record, wanted: Mapping[str, Any], actor: str) -> Record:
    """Return a memory as it shall be, under the id that it has."""
    names = {"date": "event"}
    fresh = {names.get(name, name): getattr(validated, names.get(name, name)) for name in wanted}
    # The hash says what was written: of a text that nobody says anew it stays, whatever has become of the text.
    digest = validated.content_hash if "content" in wanted else old.content_hash
    new = replace(old, **fresh, content_hash=digest)
    if new.content != old.content and old.origin == "derived" and "origin" not in wanted:
        new = replace(new, origin="owner")
    if old.owner != actor and new.origin == "owner" != old.origin:  # another does not speak for the owner
        new = replace(new, origin="agent" if old.origin == "derived" else old.origin)
    return replace(new, updated_at=max(now_micros(), old.updated_at + 1))


def _allowed(reader: Reader, secret: bytes, new: Record, validated: ValidatedMemory) -> None:
    """Refuse a text that was forgotten, and one that another memory has."""
    if reader.forgotten(sorted(tombstone_hashes(secret, new.content, [new.key]))):
        raise InputError(
            f"The new text of {new.id} was forgotten once. Nothing was written.",
            hint=f"scrubjay forget {new.id}, or say it in other words",
        )
    twin = validated.record.id
    other = reader.get([twin]).get(twin)
    if twin != new.id and other is not None and other.content_hash == new.content_hash:
        raise InputError(
            f"{other.id} says this already ({other.status}). Nothing was written.",
            hint=f"scrubjay archive {new.id}, or forget it",
        )


def _relived(old: Record, new: Record, changed: Sequence[str], actor: str) -> list[Change]:
    life = LifecycleChange(**{name: getattr(new, name) for name in changed})
    ops = []
    if "pinned" in changed:
        ops.append("pinned" if new.pinned else "unpinned")
    if set(changed) - {"pinned"}:
        ops.append("changed")
    events = tuple(Event(old.id, op, new.updated_at, old.key, actor=actor) for op in ops)
    return [PutLifecycle({old.id: life}), PutEvents(events)]


def _version(secret: bytes, before: _PriorState, new: Record) -> Record:
    """Return the memory that keeps a text, true until another took its place."""
    old = before.record
    parts = ("version", old.id, str(before.edits), old.content_hash)
    until = max(new.updated_at, old.valid_from or 0)
    return replace(
        old,
        id=memory_id(old.tier, memory_key(secret, parts)),
        status="superseded",
        pinned=False,
        valid_until=until if old.valid_until is None else min(until, old.valid_until),
        session=None,
        turn=None,
        role=None,
    )


def _rewritten(
    before: _PriorState,
    new: Record,
    version: Record | None,
    actor: str,
    base: Embedder,
    edge_builder: EdgeBuilder,
) -> list[Change]:
    """Return what writes a memory anew, with its words, vectors, names and neighbours, and keeps its text."""
    at, old = new.updated_at, before.record
    prepared = [prepare_memory(one) for one in (new, version) if one is not None]
    fresh, *kept = embed_memories(prepared, [""] * len(prepared), base)
    edge_builder.add_entities([new], [old.id])
    first, edge_changes = edge_builder.changes([fresh], [old.id])
    edges: list[Edge] = []
    ops = ["changed"]
    if version is not None:
        edges.append(Edge(old.id, "supersedes", version.id, old.key, 1.0, at, "given", EDITED_RULE))
        edges += [replace(edge, src=version.id) for edge in before.evidence]
    if new.pinned != old.pinned:
        ops.append("pinned" if new.pinned else "unpinned")
    other = None if version is None else version.id
    events = tuple(
        Event(old.id, op, at, old.key, other=other if op == "changed" else None, actor=actor) for op in ops
    )
    # What could not be so beside the earlier text may be so beside this one.
    of = (old.id,) if version is not None else ()
    return [
        *first,
        PutMemory(fresh),
        *edge_changes,
        *(PutMemory(one) for one in kept),
        PutEdges(tuple(edges), of, ("contradicts",), inward=True),
        PutEvents(events),
    ]
