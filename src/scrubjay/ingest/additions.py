"""Additions: validate new memories, store each once, and amend stored ones.

An amendment keeps the earlier text as a superseded memory of its own with the same evidence, so `history` and searches
as of an earlier time still find it. A derived memory whose text is amended no longer counts as derived.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from scrubjay.errors import InputError, StoreBusyError
from scrubjay.facts.reconciliation import FactOutcome
from scrubjay.ingest.deletion import ALL_EVENTS, last_events
from scrubjay.ingest.embedder import embed_memories, prepare_memory
from scrubjay.ingest.fact_stage import FactBatch, FactStage
from scrubjay.ingest.linker import EdgeBuilder
from scrubjay.ingest.repeated_turns import is_unplaced_turn, number_repeats
from scrubjay.ingest.retraction import correction_changes
from scrubjay.ingest.turns import (
    checked_text,
    is_only_injected,
    redact_new_turns,
    redact_stored_turns,
    stated_text,
)
from scrubjay.models.dates import now_micros, parse_when
from scrubjay.models.graph import EDITED_RULE, Edge
from scrubjay.models.ids import memory_id, memory_key, text_hash, tombstone_hashes
from scrubjay.models.lifecycle import Amendment, Event, LifecycleChange, NewMemory
from scrubjay.models.options import check_options
from scrubjay.models.records import (
    DUE_FACTS,
    GENERIC_ROLES,
    NEVER_INJECT,
    PERSON_ROLES,
    UNCHANGED,
    EventTime,
    Record,
    Scope,
    due_level,
    due_mark,
    is_own_turn,
)
from scrubjay.models.reports import AddReport
from scrubjay.models.views import UpdateReport
from scrubjay.redaction.redactor import RedactedText, redact_text
from scrubjay.storage.changes import (
    Change,
    PreparedMemory,
    PutDue,
    PutEdges,
    PutEvents,
    PutLifecycle,
    PutMemory,
    RequireUnchanged,
)
from scrubjay.storage.interface import Reader, Store, in_batches, retry_conflicts
from scrubjay.storage.quota import check_planned_writes
from scrubjay.storage.validation import NOTHING_WRITTEN, check_validity
from scrubjay.text.normalize import normalize_content

if TYPE_CHECKING:
    from scrubjay.embeddings.base import Embedder


MAX_MEMORY_CHARACTERS: Final = 10_000_000
LONG_MEMORY: Final = 20_000
"""Characters from which an addition is better synced as a file: `get` returns as many, and embedding takes seconds."""
REDACTION_CHECK_MASK: Final = 0xFF
"""Bits of a keyed hash that distinguish two texts which redaction made equal. Eight distinguish 255 of 256 such pairs
and let whoever has the store and its key rule out no more than 255 of 256 guesses of a secret."""


@dataclass(frozen=True, slots=True)
class ValidatedMemory:
    """A new memory with its id, not yet tokenized and embedded; ``legacy_id`` is its id in earlier versions."""

    record: Record
    scrubbed: Mapping[str, int]
    legacy_id: str


def validate_memory(
    new: NewMemory,
    scope: Scope,
    secret: bytes,
    allow: Sequence[str] = (),
    redacted: RedactedText | None = None,
) -> ValidatedMemory:
    """Check a new memory, redact it and give it its id.

    The id is a keyed hash of visibility key, tier, session, turn, event and normalized text, so adding the same again
    finds the same memory, while two turns that both say "yes" stay two, and so do texts that differ in a secret only.
    ``redacted`` is its redacted text if the caller has it (`redact_new_turns`).

    Raises:
        InputError: A field has an invalid value.
    """
    scrubbed: Counter[str] = Counter()

    def clean(value: object, field: str) -> str:
        clean_value = redact_text(checked_text(value, field), allow)
        scrubbed.update(clean_value.counts)
        return clean_value.text

    text = stated_text(new)
    redacted = redacted or redact_text(text, allow)
    scrubbed.update(redacted.counts)
    content = redacted.text
    if not content.strip():
        raise InputError("The memory is empty. Nothing was written.", hint="give it some text")
    if len(content) > MAX_MEMORY_CHARACTERS:
        raise InputError(
            f"The memory has {len(content):,} characters; at most {MAX_MEMORY_CHARACTERS:,} make one. "
            "Nothing was written.",
            hint="save it as a Markdown file and `scrubjay sync` its folder",
        )
    _check_fields(new)
    event, start, end = map(_parse_field, (new.date, new.valid_from, new.valid_until))
    now = now_micros()
    record = Record(
        id="",
        tier=new.tier,
        content=content,
        content_hash=text_hash(content),
        title=clean(new.title, "title"),
        key=scope.key(new.visibility, new.group),
        owner=scope.user,
        recorded_at=now,
        updated_at=now,
        tags=tuple(
            sorted(
                {clean(tag, "tags").strip().lower() for tag in new.tags} - {""}
                | {*private_tags(new.content, new.role)}
            )
        ),
        project=_optional_text(new.project, "project"),
        agent=_optional_text(new.agent, "agent"),
        session=_optional_text(new.session, "session"),
        role=_normalize_role(new.role),
        turn=None if new.turn is None else int(new.turn),
        origin=new.origin,
        pinned=bool(new.pinned),
        confidence=float(new.confidence),
        event=event,
        valid_from=start.start if start else None,
        valid_until=end.end if end else None,  # through the end of a day
    )
    if start is not None and end is not None and end.end < start.start:
        raise InputError(
            f"valid_from {new.valid_from} is after valid_until {new.valid_until}. Nothing was written."
        )
    check = ""
    if redacted.counts:
        check = f"{memory_key(secret, ('redacted', normalize_content(text))) & REDACTION_CHECK_MASK}"
    legacy_id = memory_id(new.tier, _addition_hash(secret, record, record.content_hash))
    record = replace(record, id=memory_id(new.tier, addition_key(secret, record, check)))
    return ValidatedMemory(record, dict(scrubbed), legacy_id)


def addition_key(secret: bytes, record: Record, check: str = "") -> int:
    """Return the id number of a memory outside documents: a keyed hash of what identifies it.

    ``check`` distinguishes two texts that redaction made equal.
    """
    return _addition_hash(secret, record, text_hash(normalize_content(record.content)), check)


def _addition_hash(secret: bytes, record: Record, content_digest: str, check: str = "") -> int:
    at = "" if record.event is None else str(record.event.start)
    turn = "" if record.turn is None else str(record.turn)
    parts = ("add", record.key, record.tier, record.session or "", turn, at, content_digest)
    return memory_key(secret, (*parts, check) if check else parts)


def _parse_field(value: str | datetime | None) -> EventTime | None:
    try:
        return parse_when(value)
    except InputError as error:
        raise InputError(f"{error} {NOTHING_WRITTEN}", hint=error.hint) from error


def _check_fields(new: NewMemory) -> None:
    try:
        check_options(new)
    except InputError as error:
        raise InputError(f"{error} {NOTHING_WRITTEN}") from error
    if new.group is not None and new.visibility != "group":
        raise InputError(
            f"Group {new.group!r} is named, but visibility is {new.visibility!r}. Nothing was written.",
            hint="set visibility to group, or leave the group out",
        )


def _optional_text(value: object, field: str) -> str | None:
    return None if value is None else checked_text(value, field)


def _normalize_role(value: object) -> str | None:
    """Return a role: a generic one in lower case, any other, which is a speaker's name, as it is."""
    role = _optional_text(value, "role")
    return role if role is None or role.strip().casefold() not in GENERIC_ROLES else role.strip().casefold()


ADD_BATCH: Final = 1_000
"""Memories of one transaction."""
ONLY_RECALLED: Final = "The turn is nothing but recalled memories."


def private_tags(text: str, role: str | None) -> tuple[str, ...]:
    """Return the tag `NEVER_INJECT` for a text that asks not to be remembered, so no hook injects it.

    It must be an addition without a role or a person's turn.
    """
    from scrubjay.text.dialogue import asks_not_to_remember

    by_person = role is None or role in PERSON_ROLES
    return (NEVER_INJECT,) if by_person and asks_not_to_remember(text) else ()


def with_stored_id(memory: ValidatedMemory, stored: Container[str]) -> ValidatedMemory:
    """Return a memory with the id that version 0.1 gave its text, if that is among the stored ones."""
    if memory.scrubbed or memory.legacy_id not in stored:
        return memory
    return replace(memory, record=replace(memory.record, id=memory.legacy_id))


_CONTENT_FIELDS: Final = ("content", "title", "tags", "event", "origin")
"""Fields from which terms, vectors, edges or the event time derive."""
_LIFECYCLE_FIELDS: Final = ("confidence", "valid_from", "valid_until", "pinned")


class AdditionWriter:
    """Validates, adds and amends memories outside documents; each call of a principal makes its own.

    Attributes:
        edges: Connects the memories.
        facts: Extracts facts from turns.
        allow: Texts that redaction leaves.
    """

    def __init__(
        self,
        store: Store,
        scope: Scope,
        base: Embedder,
        edges: EdgeBuilder,
        facts: FactStage,
        allow: Sequence[str] = (),
    ) -> None:
        self.store = store
        self.scope = scope
        self.secret = store.secret(scope)
        self.base = base
        self.edges = edges
        self.facts = facts
        self.allow = allow

    def validate(self, new: NewMemory, redacted: RedactedText | None = None) -> ValidatedMemory:
        return validate_memory(new, self.scope, self.secret, self.allow, redacted)

    def add(self, memories: Iterable[NewMemory]) -> list[AddReport]:
        """Add memories, each once; all of them are validated before the first is written.

        A turn that consists of injected memories alone is skipped, and its report says so.
        """
        memories = list(memories)
        redacted, secret_ids = redact_new_turns(self.store, self.scope, memories, self.allow)
        validated = []
        for place, (new, clean) in enumerate(zip(memories, redacted, strict=True)):
            try:
                one = None if is_only_injected(new) else self.validate(new, clean)
            except InputError as error:
                where = f"memories[{place}]: " if len(memories) > 1 else ""
                message = str(error).removesuffix(NOTHING_WRITTEN).rstrip()
                raise InputError(f"{where}{message} {NOTHING_WRITTEN}", hint=error.hint) from error
            validated.append(one)
        if secret_ids:
            redact_stored_turns(self.store, self.scope, self.base, secret_ids)
        return self.put(validated, record_repeats=True)

    def put(
        self, validated: Sequence[ValidatedMemory | None], *, record_repeats: bool = False
    ) -> list[AddReport]:
        """Store validated memories, each once; None stands for one that is skipped.

        With ``record_repeats`` the history of an existing memory records that it was added again.
        """
        with self.store.reader(self.scope) as reader:
            items, present = self._with_existing_ids(reader, [one for one in validated if one is not None])
        fresh: dict[str, PreparedMemory] = {}
        new_places: set[int] = set()
        for place, item in enumerate(items):
            if item.record.id not in present and item.record.id not in fresh:
                fresh[item.record.id] = prepare_memory(item.record)
                new_places.add(place)
        prepared = list(fresh.values())
        if len(prepared) > ADD_BATCH:
            check_planned_writes(self.store, self.scope.tenant, Counter(one.record.key for one in prepared))
        facts = FactBatch()

        def write(batch: Sequence[PreparedMemory]) -> tuple[FactBatch, list[Edge]]:
            with self.store.reader(self.scope) as reader:  # others may have added some of them since
                present.update(reader.get([one.record.id for one in batch]))
            new = [one for one in batch if one.record.id not in present]
            batch_facts = self.facts.extract(embed_memories(new, [""] * len(new), self.base))
            return batch_facts, self._write_with_edges(batch_facts)

        for batch in in_batches(prepared, ADD_BATCH):
            batch_facts, edges = retry_conflicts(partial(write, batch), self.edges.discard)
            facts.outcomes |= batch_facts.outcomes
            facts.stated |= batch_facts.stated
            for edge in edges:
                if edge.kind == "similar":
                    facts.similar.setdefault(edge.src, []).append(edge.dst)
        if record_repeats:
            repeated_ids = {one.record.id for one in items if one.record.turn is None} & present.keys()
            self._record_repeats([present[memory] for memory in sorted(repeated_ids)])
        reports = (
            _add_report(
                item,
                place in new_places and item.record.id not in present,
                facts,
                present.get(item.record.id, item.record).status,
            )
            for place, item in enumerate(items)
        )
        return [
            AddReport("", False, {}, passed=ONLY_RECALLED) if item is None else next(reports)
            for item in validated
        ]

    def _write_with_edges(self, facts: FactBatch, more: Sequence[Change] = ()) -> list[Edge]:
        """Write a batch with its edges, and return these; ``more`` are other changes of the same transaction."""
        self.edges.add_entities([one.record for one in facts.fresh])
        before, after = self.edges.changes(facts.fresh, ())
        puts = map(PutMemory, facts.fresh)
        changes = [facts.unchanged(), *before, *puts, *after, *facts.after, *more]
        self.store.write(self.scope, changes, durable=True)
        return [edge for change in after if isinstance(change, PutEdges) for edge in change.edges]

    def _record_repeats(self, records: Sequence[Record]) -> None:
        """Record that memories were added again, unless nothing happened to their texts since that was recorded."""
        if not records:
            return
        with self.store.reader(self.scope) as reader:
            last = last_events(reader, [one.id for one in records], ("added", "imported"))
        at = now_micros()
        events = tuple(
            Event(one.id, "added", at, one.key, actor=self.scope.user)
            for one in records
            if (event := last.get(one.id)) is None or event.op != "added" or event.at < one.updated_at
        )
        if events:
            self.store.write(self.scope, [PutEvents(events)], durable=True)

    def _with_existing_ids(
        self, reader: Reader, validated: Sequence[ValidatedMemory]
    ) -> tuple[list[ValidatedMemory], dict[str, Record]]:
        """Return the memories with their ids, and the stored ones of those that exist.

        A memory whose text was amended keeps its id. Its first text, added again, is that memory if it is a turn of a
        conversation, which is only read once more, else a new one. Two roles never share a memory.
        """
        legacy = reader.get([one.legacy_id for one in validated if one.legacy_id != one.record.id])
        same_text = {
            memory.legacy_id
            for memory in validated
            if memory.legacy_id in legacy and has_same_text(legacy[memory.legacy_id], memory.record)
        }
        items = self.separate_speakers(reader, [with_stored_id(memory, same_text) for memory in validated])
        present: dict[str, Record] = {}
        places = list(range(len(items)))
        while places:
            stored = reader.get([items[place].record.id for place in places])
            present |= stored
            amended = []
            for place in places:
                record = items[place].record
                old = stored.get(record.id)
                if old is not None and old.place is None and not has_same_text(old, record):
                    amended.append(place)
            turns = [items[place].record.id for place in amended if items[place].record.session is not None]
            earlier = _earlier_versions(reader, turns)
            renamed = []
            for place in amended:
                record = items[place].record
                if not any(has_same_text(one, record) for one in earlier.get(record.id, ())):
                    items[place] = self._with_new_id(items[place], "again", record.content_hash)
                    renamed.append(place)
            places = renamed
        self._number_repeats(reader, items, present)
        return items, present

    def separate_speakers(
        self, reader: Reader, validated: Sequence[ValidatedMemory]
    ) -> list[ValidatedMemory]:
        """Return memories with other ids where somebody else said the same in the same place."""
        stored = reader.get([one.record.id for one in validated if one.record.role is not None])
        roles = {memory: _normalize_role(one.role) for memory, one in stored.items() if one.place is None}
        items = []
        for item in validated:
            role = item.record.role
            if role is not None and roles.setdefault(item.record.id, role) not in (None, role):
                item = self._with_new_id(item, "spoken by", role)
            items.append(item)
        return items

    def _with_new_id(self, item: ValidatedMemory, reason: str, detail: str) -> ValidatedMemory:
        number = memory_key(self.secret, (reason, item.record.id, detail))
        return replace(item, record=replace(item.record, id=memory_id(item.record.tier, number)))

    def _number_repeats(
        self, reader: Reader, items: list[ValidatedMemory], present: dict[str, Record]
    ) -> None:
        sessions: dict[tuple[str | None, str, str], list[int]] = {}
        for place, item in enumerate(items):
            if is_unplaced_turn(item.record):
                sessions.setdefault((item.record.session, item.record.key, item.record.tier), []).append(
                    place
                )
        for places in sessions.values():
            turns = [items[place].record for place in places]
            ids = {one.id for one in turns}
            if len(ids) == len(turns) and present.keys().isdisjoint(ids):
                continue
            numbered, stored = number_repeats(reader, self.secret, turns)
            present |= stored
            for place, turn, memory in zip(places, turns, numbered, strict=True):
                items[place] = replace(items[place], record=replace(turn, id=memory))

    def amend(self, old: Record, amendment: Amendment) -> UpdateReport:
        """Change a memory that belongs to no file, and replace the facts of its old text by those of the new one.

        Raises:
            InputError: A field has an invalid value, or the text was forgotten or is another memory's.
            StoreConflictError: The stored memory is not ``old`` any more.
        """
        actor = self.scope.user
        with self.store.reader(self.scope) as reader:
            evidence = reader.edges([old.id], ["derived_from"])
            edits = sum(event.op == "changed" for event in reader.events([old.id], limit=ALL_EVENTS))
            fields = amendment_fields(amendment)
            validated = self.validate(_amended_input(old, fields))
            new = _amended_record(old, validated.record, fields, actor)
            check_validity(old.id, new.valid_from, new.valid_until)
            changed = tuple(
                name
                for name in (*_CONTENT_FIELDS, *_LIFECYCLE_FIELDS)
                if getattr(new, name) != getattr(old, name)
            )
            notices = []
            if not changed:
                notices.append("It has these values already; nothing was changed.")
            if new.status == "superseded":
                notices.append("It is superseded, so searches do not return it.")
            elif new.status == "archived":
                notices.append(
                    "It is archived: searches return it only where no active memory is likely to answer."
                )
            if not changed:
                return UpdateReport(old.id, (), None, validated.scrubbed, tuple(notices))
            version, derived = None, []
            if "content" in changed:
                self._check_new_text(reader, new, validated)
                version = _superseded_version(self.secret, old, new, edits)
                derived = correction_changes(reader, old, new, version, new.updated_at, actor)
                if is_own_turn(new):
                    new = replace(new, due=due_mark(DUE_FACTS, new.updated_at))
        if set(changed) <= set(_LIFECYCLE_FIELDS):
            changes = _lifecycle_changes(old, new, changed, actor)
        else:
            changes = self._content_changes(old, new, version, evidence)
        self.store.write(self.scope, [RequireUnchanged({old.id: old}), *changes, *derived], durable=True)
        if due_level(new.due) == DUE_FACTS:
            with suppress(StoreBusyError):  # the text is stored, and its turn stays due
                self._relearn_facts(new)
        before = None if version is None else version.id
        return UpdateReport(old.id, changed, before, validated.scrubbed, tuple(notices))

    def _relearn_facts(self, turn: Record) -> None:
        """Extract the facts of a turn's new text; if interrupted, the next enrichment does it."""

        def learn() -> None:
            facts = self.facts.extract([prepare_memory(turn)], settle=False)
            mark_done = PutDue({turn.id: 0}, {turn.id: turn.due})
            self._write_with_edges(facts, [mark_done])

        retry_conflicts(learn, self.edges.discard)

    def _check_new_text(self, reader: Reader, new: Record, validated: ValidatedMemory) -> None:
        if reader.forgotten_hashes(sorted(tombstone_hashes(self.secret, new.content, [new.key]))):
            raise InputError(
                f"The new text of {new.id} was forgotten once. Nothing was written.",
                hint="to store it again, add it as a memory of its own; or use other words",
            )
        same_text_id = validated.record.id
        other = reader.get([same_text_id]).get(same_text_id)
        if same_text_id != new.id and other is not None and other.content_hash == new.content_hash:
            raise InputError(
                f"{other.id} says this already ({other.status}). Nothing was written.",
                hint=f"scrubjay archive {new.id}, or forget it",
            )

    def _content_changes(
        self, old: Record, new: Record, version: Record | None, evidence: Sequence[Edge]
    ) -> list[Change]:
        at, actor = new.updated_at, self.scope.user
        prepared = [prepare_memory(one) for one in (new, version) if one is not None]
        fresh, *earlier = embed_memories(prepared, [""] * len(prepared), self.base)
        self.edges.add_entities([new], [old])
        first, last = self.edges.changes([fresh], [old.id])
        edges: list[Edge] = []
        other = None
        if version is not None:
            other = version.id
            edges.append(Edge(old.id, "supersedes", version.id, old.key, 1.0, at, "given", EDITED_RULE))
            edges += [replace(edge, src=version.id) for edge in evidence]
        events = [Event(old.id, "changed", at, old.key, other=other, actor=actor)]
        if new.pinned != old.pinned:
            events.append(Event(old.id, "pinned" if new.pinned else "unpinned", at, old.key, actor=actor))
        # What contradicted the earlier text may not contradict this one.
        contradicted = (old.id,) if version is not None else ()
        return [
            *first,
            PutMemory(fresh),
            *last,
            *(PutMemory(one) for one in earlier),
            PutEdges(tuple(edges), contradicted, ("contradicts",), inward=True),
            PutEvents(tuple(events)),
        ]


def _earlier_versions(reader: Reader, ids: Sequence[str]) -> dict[str, list[Record]]:
    """Return, by memory, the records that keep the texts it had before it was amended."""
    events = [one for one in reader.events(ids, limit=ALL_EVENTS) if one.op == "changed"] if ids else []
    versions = reader.get(sorted({one.other for one in events if one.other is not None}))
    earlier: dict[str, list[Record]] = {}
    for event in events:
        if event.other in versions:
            earlier.setdefault(event.memory, []).append(versions[event.other])
    return earlier


def has_same_text(old: Record, new: Record) -> bool:
    return old.content_hash == new.content_hash or normalize_content(old.content) == normalize_content(
        new.content
    )


def _add_report(item: ValidatedMemory, is_new: bool, facts: FactBatch, status: str) -> AddReport:
    memory = item.record.id
    outcome = facts.outcomes.get(memory, FactOutcome())
    if outcome.same is not None or not is_new:
        return AddReport(outcome.same or memory, True, item.scrubbed, status=status)
    stated = tuple(facts.stated.get(memory, ()))
    changed = {*outcome.supersedes, *outcome.contradicts}
    similar_ids = dict.fromkeys((*outcome.similar, *facts.similar.get(memory, ())))
    similar = tuple(one for one in similar_ids if one not in changed)
    return AddReport(
        memory,
        False,
        item.scrubbed,
        None,
        outcome.supersedes,
        outcome.contradicts,
        stated,
        similar=similar,
        notices=_notices(item.record),
    )


def _notices(record: Record) -> tuple[str, ...]:
    """Return sentences about a new memory that its writer may not expect."""
    notices = []
    if private_tags(record.content, record.role):
        notices.append(
            f"It asks not to be remembered, so it is never injected; forget {record.id} to delete it."
        )
    if len(record.content) > LONG_MEMORY and not record.is_turn:
        notices.append(
            f"It is one memory of {len(record.content):,} characters. A text of this length is found and cited better "
            "as a file: save it in a folder that scrubjay syncs, which divides it into passages."
        )
    if record.event is not None and record.event.start > record.recorded_at:
        notices.append(
            "Its date is in the future: the date is the day it was said or written; the day of an appointment belongs "
            "in the text."
        )
    return tuple(notices)


def amendment_fields(amendment: Amendment) -> dict[str, Any]:
    """Return the fields that an amendment sets.

    >>> amendment_fields(Amendment(pinned=True, valid_until=None))
    {'valid_until': None, 'pinned': True}
    """
    values = ((each.name, getattr(amendment, each.name)) for each in fields(amendment))
    return {name: value for name, value in values if value is not UNCHANGED}


def _amended_input(old: Record, fields: dict[str, Any]) -> NewMemory:
    visibility, _, group = old.key.partition(":")
    shared = group if visibility == "group" else None
    amendable = ("content", "title", "tags", "confidence", "pinned", "origin")
    fixed = ("tier", "session", "role", "turn", "project", "agent")
    values = {name: getattr(old, name) for name in (*amendable, *fixed)} | fields
    return NewMemory(**values, visibility=visibility, group=shared)


def _amended_record(old: Record, validated: Record, fields: Mapping[str, Any], actor: str) -> Record:
    names = ["event" if name == "date" else name for name in fields]
    amended = {name: getattr(validated, name) for name in names}
    if NEVER_INJECT in old.tags and "tags" in amended:  # only feedback removes it
        amended["tags"] = tuple(sorted({*amended["tags"], NEVER_INJECT}))
    # The hash is that of the text as it was written, and changes only with the text.
    digest = validated.content_hash if "content" in fields else old.content_hash
    new = replace(old, **amended, content_hash=digest)
    if new.content != old.content and old.origin == "derived" and "origin" not in fields:
        new = replace(new, origin="owner")
    # Another user does not speak for the owner.
    if old.owner != actor and new.origin == "owner" != old.origin:
        new = replace(new, origin="agent" if old.origin == "derived" else old.origin)
    return replace(new, updated_at=max(now_micros(), old.updated_at + 1))


def _lifecycle_changes(old: Record, new: Record, changed: Sequence[str], actor: str) -> list[Change]:
    ops = []
    if "pinned" in changed:
        ops.append("pinned" if new.pinned else "unpinned")
    if set(changed) - {"pinned"}:
        ops.append("changed")
    life = LifecycleChange(**{name: getattr(new, name) for name in changed})
    events = tuple(Event(old.id, op, new.updated_at, old.key, actor=actor) for op in ops)
    return [PutLifecycle({old.id: life}), PutEvents(events)]


def _superseded_version(secret: bytes, old: Record, new: Record, edits: int) -> Record:
    """Return the memory that keeps the earlier text, valid until now."""
    parts = ("version", old.id, str(edits), old.content_hash)
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
