"""Validation: the checks that every store makes before it writes, so that all of them reject alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from scrubjay.errors import InputError, ModelMismatchError, StoreConflictError
from scrubjay.models import graph, lifecycle
from scrubjay.models.ids import EmbeddingModel, parse_id, parse_node_id
from scrubjay.models.lifecycle import LifecycleChange, changed_fields
from scrubjay.models.records import ORIGINS, STATUSES, Document, Record, Scope, Source, SourcePlace
from scrubjay.storage.changes import (
    Change,
    DropDocument,
    PutDocument,
    PutMemory,
    PutVectors,
    PutVersions,
    QuantizedVectors,
)
from scrubjay.storage.rows import TARGET_KIND

NOTHING_WRITTEN = "Nothing was written."


def check_key(scope: Scope | None, key: str, what: str) -> None:
    """Refuse a visibility key that is not one of the writer's own; a rebuild (None) keeps every key."""
    if scope is not None and key not in scope.keys:
        raise InputError(
            f"{what} would be written under {key!r}, which {scope.user} may not see. {NOTHING_WRITTEN}"
        )


def check_record(record: Record) -> None:
    parsed = parse_id(record.id)
    if parsed is None or parsed[0] != record.tier:
        raise InputError(f"{record.id!r} is not an id of a memory of tier {record.tier!r}. {NOTHING_WRITTEN}")
    if record.status not in STATUSES:
        raise InputError(
            f"Memory {record.id} has status {record.status!r}; it must be one of {', '.join(STATUSES)}. "
            f"{NOTHING_WRITTEN}"
        )


def is_unchanged(record: Record | None, stored: Record | None) -> bool:
    """Return whether a memory is as it was read; mere use since then changes nothing that it says."""
    if record is not None and stored is not None:
        stored = replace(stored, last_used=record.last_used)
    return stored == record


def check_unchanged(expected: Mapping[str, Record | None], stored: Mapping[str, Record]) -> None:
    """Refuse a write if a memory is not as it was read."""
    for memory, record in expected.items():
        if not is_unchanged(record, stored.get(memory)):
            raise StoreConflictError(
                f"Memory {memory} was changed since it was read. {NOTHING_WRITTEN}", hint="try again"
            )


def check_place(memory: str, place: SourcePlace | None, document: Document | None) -> None:
    """Refuse a passage whose place is not in the document it is written with (None: no document)."""
    passage_place = None if place is None else (place.source, place.path)
    document_place = None if document is None else (document.source, document.path)
    if passage_place != document_place:
        raise InputError(
            f"Memory {memory} is written to {_describe_place(document_place)}, but its place is in "
            f"{_describe_place(passage_place)}. {NOTHING_WRITTEN}"
        )


def _describe_place(place: tuple[str, str] | None) -> str:
    return "no document" if place is None else f"{place[1]} of source {place[0]}"


def id_conflict(memory: str) -> InputError:
    """Return the error for an id whose number another memory has, out of sight or in another tier."""
    return InputError(f"The number of {memory} belongs to another memory already. {NOTHING_WRITTEN}")


def check_vectors(model: EmbeddingModel, codes: QuantizedVectors, what: str) -> None:
    shape, width = codes.data.shape, model.row_bytes
    if len(shape) != 2 or shape[0] == 0 or codes.scales.shape != shape[:1]:
        raise ModelMismatchError(
            f"{what} has windows of shape {shape} with scales of shape {codes.scales.shape}; "
            f"wanted are (windows, {width}) and (windows,), one window at least. {NOTHING_WRITTEN}"
        )
    if model.late_interaction and (shape[1] != width or (codes.scales != 1).any()):
        raise ModelMismatchError(
            f"{what} has token codes of {shape[1]} bytes or with scales; {model.name} makes {width} bytes without. "
            f"{NOTHING_WRITTEN}"
        )
    if shape[1] != width:
        raise ModelMismatchError(
            f"{what} has {shape[1]}-dimensional vectors; {model.name} makes {model.dimensions}. {NOTHING_WRITTEN}",
            hint="add the other model beside it: `scrubjay models add`, then "
            f"`scrubjay models use {model.name}`",
        )


def check_text(*texts: str | None) -> None:
    """Refuse unpaired surrogates, which have no UTF-8."""
    for text in texts:
        if not text or text.isascii():  # fast path: a batch has ten thousands of edges
            continue
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InputError(f"Text contains an unpaired surrogate ({error}). {NOTHING_WRITTEN}") from error


def check_concept(concept: graph.Entity) -> None:
    _check_node("concept", concept.id)
    _check_choice(graph.ENTITY_KINDS, concept.kind, f"Concept {concept.id} has kind")
    check_text(concept.key, concept.name, *concept.aliases)


def check_concept_unchanged(
    concept: str, was: Sequence[graph.Entity] | None, stored: Sequence[graph.Entity]
) -> None:
    """Refuse a write if a key's row of a concept is not as it was read, unless ``was`` is None."""
    if was is not None and list(was) != list(stored):
        raise StoreConflictError(
            f"Concept {concept} was changed since it was read. {NOTHING_WRITTEN}", hint="try again"
        )


def check_source_unchanged(source: Source, was: Sequence[Source] | None, stored: Sequence[Source]) -> None:
    """Refuse a write if a source is not as it was read, unless ``was`` is None."""
    if was is not None and list(was) != list(stored):
        raise StoreConflictError(
            f"Source {source.root} was changed since it was read. {NOTHING_WRITTEN}", hint="try again"
        )


def check_category(category: graph.Category) -> None:
    """Refuse an invalid category. Its parent need not exist."""
    _check_node("category", category.id)
    if category.parent is not None:
        _check_node("category", category.parent)
    _check_choice(graph.CATEGORY_KINDS, category.kind, f"Category {category.id} has kind")
    check_text(category.key, category.name, category.abstract, category.overview, category.model)


def check_edge(edge: graph.Edge) -> None:
    if edge.kind not in graph.STORED_EDGE_KINDS:
        _check_choice(graph.STORED_EDGE_KINDS, edge.kind, f"The edge from {edge.src!r} has kind")
    _check_node("memory", edge.src)
    _check_node(TARGET_KIND.get(edge.kind, "memory"), edge.dst)
    if not 0 <= edge.weight <= 1:  # false for NaN, too
        raise InputError(
            f"The edge from {edge.src} to {edge.dst} has weight {edge.weight}; it must be 0..1. {NOTHING_WRITTEN}"
        )
    if edge.origin not in graph.EDGE_ORIGINS:
        _check_choice(graph.EDGE_ORIGINS, edge.origin, f"The edge from {edge.src} to {edge.dst} has origin")
    check_text(edge.key, edge.rule, edge.run)


def check_lifecycle(memory: str, life: LifecycleChange) -> None:
    values = changed_fields(life)
    check_text(str(values.get("project") or ""), *values.get("tags", ()))
    if "status" in values:
        _check_choice(STATUSES, values["status"], f"Memory {memory} would have status")
    if "origin" in values:
        _check_choice(ORIGINS, values["origin"], f"Memory {memory} would have origin")
    for name in ("strength", "confidence"):
        if not 0 <= values.get(name, 0) <= 1:  # false for NaN, too
            raise InputError(
                f"Memory {memory} would have {name} {values[name]}; it must be 0..1. {NOTHING_WRITTEN}"
            )


def check_validity(memory: str, valid_from: int | None, valid_until: int | None) -> None:
    if valid_from is not None and valid_until is not None and valid_until < valid_from:
        raise InputError(
            f"Memory {memory} would be valid from {valid_from} until {valid_until}, which is earlier. {NOTHING_WRITTEN}"
        )


def check_event(scope: Scope | None, event: lifecycle.Event, imported: bool) -> None:
    """Refuse an invalid event; with ``imported`` its own key is checked, not its memory's."""
    if imported:
        check_key(scope, event.key, f"An event of {event.memory}")
    _check_choice(lifecycle.EVENT_OPS, event.op, f"An event of {event.memory} has the operation")
    if event.op != "reinforced" or lifecycle.previous_confidence(event.before) is None:
        _check_choice(("", *STATUSES), event.before, f"An event of {event.memory} has the status")
    check_text(event.key, event.run, event.actor)


def check_run(scope: Scope | None, run: lifecycle.ConsolidationRun) -> None:
    check_key(scope, run.key, f"Run {run.id}")
    _check_choice(lifecycle.RUN_STATES, run.state, f"Run {run.id} has state")
    check_text(run.id, run.rules, *run.counts)


def _check_node(wanted: str, node: str) -> None:
    parsed = parse_node_id(node)
    kind = parsed[0] if parsed is not None else None
    if kind not in (None, "concept", "category"):
        kind = "memory"
    if kind != wanted:
        raise InputError(f"{node!r} is not the id of a {wanted}. {NOTHING_WRITTEN}")


def _check_choice(choices: tuple[str, ...], value: str, what: str) -> None:
    if value not in choices:
        raise InputError(f"{what} {value!r}; it must be one of {', '.join(choices)}. {NOTHING_WRITTEN}")


def page_start(memory: str) -> int:
    """Return the number that a page begins after, -1 for an empty id."""
    parsed = parse_id(memory)
    if parsed is None and memory:
        raise InputError(f"A page starts after an id; {memory!r} is not one.")
    return -1 if parsed is None else parsed[1]


def check_rebuild_changes(changes: Sequence[Change]) -> None:
    for change in changes:
        if not isinstance(change, PutDocument | DropDocument | PutMemory | PutVectors | PutVersions):
            raise InputError(
                f"A rebuild writes documents, memories, vectors and versions, not {type(change).__name__}. "
                f"{NOTHING_WRITTEN}"
            )
