"""Curation service: archive, restore, rate, link and forget memories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scrubjay.errors import InputError, NotFoundError
from scrubjay.ingest import deletion as store_path
from scrubjay.ingest.deletion import status_changes
from scrubjay.models.dates import now_micros
from scrubjay.models.graph import Edge
from scrubjay.models.lifecycle import VERDICTS, Event, LifecycleChange
from scrubjay.models.records import Record
from scrubjay.models.reports import ForgetReport
from scrubjay.models.views import ChangeReport, MemoryLink
from scrubjay.search import browse
from scrubjay.search.browse import resolve_ids
from scrubjay.services.inspection import MAX_HISTORY_EVENTS
from scrubjay.services.workspace import Workspace, require_may_change, resolve_id
from scrubjay.storage.changes import DropEdges, PutEdges, PutEvents, PutLifecycle
from scrubjay.storage.interface import Reader

MIN_STRENGTH: Final = 0.3
"""Minimum strength after any number of "wrong": an exact question still finds the memory."""


def set_status(workspace: Workspace, ids: Sequence[str], status: str) -> ChangeReport:
    """Archive memories, or make archived and superseded ones active again."""
    at = now_micros()
    with workspace.store.reader(workspace.scope) as reader:
        records, unknown = _find_records(reader, ids)
    if status == "archived":
        verb, op, life = "archive", "archived", LifecycleChange(status=status)
    else:  # an active memory is true until further notice
        verb, op, life = "restore", "restored", LifecycleChange(status=status, valid_until=None)
    require_may_change(workspace, records, verb)
    changed = [record for record in records if record.status != status]
    if changed:
        changes = status_changes(changed, life, op, at, actor=workspace.scope.user)
        workspace.store.write(workspace.scope, changes, durable=True)
    same = tuple(record.id for record in records if record.status == status)
    return ChangeReport(tuple(record.id for record in changed), same, unknown)


def record_feedback(workspace: Workspace, ids: Sequence[str], verdict: str) -> ChangeReport:
    if verdict not in VERDICTS:
        raise InputError(f"Feedback {verdict!r} is not one of {', '.join(VERDICTS)}. Nothing was written.")
    at = now_micros()
    with workspace.store.reader(workspace.scope) as reader:
        records, unknown = _find_records(reader, ids)
        if verdict == "wrong":
            require_may_change(workspace, records, "judge")
        lives = {record.id: _apply_verdict(reader, record, verdict, at) for record in records}
    if records:
        events = tuple(
            Event(record.id, verdict, at, record.key, actor=workspace.scope.user) for record in records
        )
        workspace.store.write(workspace.scope, [PutLifecycle(lives), PutEvents(events)], durable=True)
    return ChangeReport(tuple(record.id for record in records), (), unknown)


def _apply_verdict(reader: Reader, record: Record, verdict: str, at: int) -> LifecycleChange:
    if verdict == "used":
        return LifecycleChange(last_used=at)
    ops = [event.op for event in reader.events([record.id], limit=MAX_HISTORY_EVENTS)] + [verdict]
    strength = feedback_strength(ops.count("useful"), ops.count("wrong"))
    if verdict == "useful":
        return LifecycleChange(strength=strength, last_used=at)
    return LifecycleChange(strength=strength)


def feedback_strength(useful: int, wrong: int) -> float:
    """Return the strength after so many useful and wrong verdicts.

    >>> (
    ...     feedback_strength(0, 0), feedback_strength(3, 0), feedback_strength(0, 1),
    ...     feedback_strength(1, 1), feedback_strength(0, 1000)
    ... )
    (1.0, 1.0, 0.5, 0.6666666666666666, 0.3)
    """
    return max(MIN_STRENGTH, (1 + useful) / (1 + useful + wrong))


def _find_records(reader: Reader, ids: Sequence[str]) -> tuple[list[Record], tuple[str, ...]]:
    found, unknown = resolve_ids(reader, ids)
    records = reader.get(found)
    return [records[memory] for memory in dict.fromkeys(found)], unknown


LINK_KINDS: Final = ("links", "derived_from", "supersedes", "contradicts")
"""Kinds of edges that a caller may make."""


def add_link(workspace: Workspace, edge: Edge) -> MemoryLink:
    from scrubjay.redaction.redactor import redact_text

    _check_link_kind(edge.kind)
    weight = edge.weight
    if not isinstance(weight, int | float) or isinstance(weight, bool) or not 0 <= weight <= 1:
        raise InputError(f"The weight is {weight!r}; wanted is 0 to 1. Nothing was written.")
    with workspace.store.reader(workspace.scope) as reader:
        src, dst = resolve_id(reader, edge.src), resolve_id(reader, edge.dst)
        phrase = browse.memory_phrase(reader.get([dst])[dst])
    if src == dst:
        raise InputError(f"{src} cannot be joined with itself. Nothing was written.")
    rule = redact_text(edge.rule, workspace.settings.redaction.allow).text
    edge_row = Edge(src, edge.kind, dst, workspace.scope.key(), float(weight), now_micros(), "given", rule)
    workspace.store.write(workspace.scope, [PutEdges((edge_row,))], durable=True)
    return MemoryLink(dst, edge_row.kind, "to", edge_row.weight, rule, True, phrase)


def remove_link(workspace: Workspace, src: str, dst: str, kind: str) -> None:
    _check_link_kind(kind)
    with workspace.store.reader(workspace.scope) as reader:
        one, other = resolve_id(reader, src), resolve_id(reader, dst)
        there = [edge for edge in reader.edges([one], [kind]) if edge.dst == other]
        reverse = [edge for edge in reader.edges([other], [kind]) if edge.dst == one]
        if any(edge.key != workspace.scope.key() for edge in there):
            require_may_change(workspace, [reader.get([one])[one]], "part")
    if not there:
        hint = f"it is joined the other way round: unlink {other} from {one}" if reverse else ""
        raise NotFoundError(f"No edge of kind {kind} leads from {one} to {other}.", hint=hint)
    workspace.store.write(workspace.scope, [DropEdges(((one, kind, other),))], durable=True)


def _check_link_kind(kind: str) -> None:
    if kind not in LINK_KINDS:
        raise InputError(f"Kind {kind!r} is not one of {', '.join(LINK_KINDS)}. Nothing was written.")


def forget_memories(workspace: Workspace, ids: Sequence[str]) -> ForgetReport:
    """Delete memories, and recompute the categories that lost members."""
    store, scope = workspace.store, workspace.scope
    with store.reader(scope) as reader:
        require_may_change(workspace, reader.get(ids).values(), "forget")
    gone = store_path.forget_memories(store, scope, ids)
    if "categories" in workspace.settings.linking.stages:
        from scrubjay.categories.folders import update_folders
        from scrubjay.categories.topics import are_topics_due, organise_topics

        for source, keys in gone.sources.items():
            update_folders(store, scope, source, now_micros(), keys=keys)
        base = workspace.models.writer()
        for key in gone.keys:
            # A topic of the key lost a memory, or the key half of its memories: no later call would do it.
            if key in gone.topic_keys or are_topics_due(store, scope, key, base, 0):
                organise_topics(store, scope, key, base, workspace.models.backfilled())
    return gone.report
