"""Checks: what every store refuses before it writes, so that all of them refuse alike."""

from __future__ import annotations

from collections.abc import Sequence

from scrubjay.errors import InputError, ModelMismatchError
from scrubjay.memory import categories, concepts, edges, events, readings, runs
from scrubjay.memory.ids import parse_id, parse_node
from scrubjay.memory.life import Life, said
from scrubjay.memory.models import Model
from scrubjay.memory.records import Document, Place, Record
from scrubjay.memory.scope import Scope
from scrubjay.memory.tiers import ORIGINS, STATUSES
from scrubjay.store.changes import (
    Change,
    Codes,
    DropDocument,
    PutDocument,
    PutMemory,
    PutVectors,
    PutVersions,
)

UNTOUCHED = "Nothing was written."
LEADS_TO = {"references": "concept", "belongs": "category"}
"""What the kinds of edges lead to that do not lead to a memory."""


def writable(scope: Scope | None, key: str, what: str) -> None:
    """Refuse a visibility key that is not one of the writer's own; a rebuild (None) keeps every key.

    Raises:
        InputError: The key is not one of the scope's.
    """
    if scope is not None and key not in scope.keys:
        raise InputError(
            f"{what} is to be written under {key!r}, which {scope.user} may not see. {UNTOUCHED}"
        )


def storable(record: Record) -> None:
    """Refuse a memory that no store could give back as it is.

    Raises:
        InputError: Its id is no id of its tier, or its status is unknown.
    """
    parsed = parse_id(record.id)
    if parsed is None or parsed[0] != record.tier:
        raise InputError(f"{record.id!r} is no id of a memory of tier {record.tier!r}. {UNTOUCHED}")
    if record.status not in STATUSES:
        raise InputError(
            f"Memory {record.id} has status {record.status!r}; known are {', '.join(STATUSES)}. {UNTOUCHED}"
        )


def placed(memory: str, place: Place | None, document: Document | None) -> None:
    """Refuse a passage that stands elsewhere than in the document it is written with.

    Args:
        memory: Its id.
        place: Where it says it stands.
        document: The document, or None for a memory that belongs to none.

    Raises:
        InputError: They disagree.
    """
    stands = None if place is None else (place.source, place.path)
    held = None if document is None else (document.source, document.path)
    if stands != held:
        raise InputError(
            f"Memory {memory} says it stands in {_named(stands)}, but is written to {_named(held)}. "
            f"{UNTOUCHED}"
        )


def _named(where: tuple[str, str] | None) -> str:
    return "no document" if where is None else f"{where[1]} of source {where[0]}"


def taken(memory: str) -> InputError:
    """Return the error for an id whose number another memory has, out of sight or in another tier."""
    return InputError(f"The number of {memory} belongs to another memory already. {UNTOUCHED}")


def fitting(model: Model, codes: Codes, what: str) -> None:
    """Refuse vectors that are not their model's.

    Raises:
        ModelMismatchError: Their length is another, or they are no windows with a scale each.
    """
    shape = codes.data.shape
    if len(shape) != 2 or shape[0] == 0 or codes.scales.shape != shape[:1]:
        raise ModelMismatchError(
            f"{what} has windows of shape {shape} with scales of shape {codes.scales.shape}; "
            f"wanted are (windows, {model.dimensions}) and (windows,), one window at least. {UNTOUCHED}"
        )
    if shape[1] != model.dimensions:
        raise ModelMismatchError(
            f"{what} has {shape[1]}-dimensional vectors; {model.name} makes {model.dimensions}. {UNTOUCHED}",
            hint="add the other model beside it: `scrubjay models add`, then "
            f"`scrubjay models use {model.name}`",
        )


def encodable(*texts: str | None) -> None:
    """Refuse half a character: what has no UTF-8 can be written to no file.

    Raises:
        InputError: One of the texts holds a lone surrogate.
    """
    for text in texts:
        if not text or text.isascii():  # most are: a batch has ten thousands of edges
            continue
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InputError(f"A text holds half a character ({error}). {UNTOUCHED}") from error


def nameable(concept: concepts.Concept) -> None:
    """Refuse a concept that no store could give back as it is.

    Raises:
        InputError: Its id is no concept's, its kind is unknown, or a name holds half a character.
    """
    _of("concept", concept.id)
    _one_of(concepts.KINDS, concept.kind, f"Concept {concept.id} has kind")
    encodable(concept.key, concept.name, *concept.aliases)


def fileable(category: categories.Category) -> None:
    """Refuse a category that no store could give back as it is. Its parent may be one that is not there.

    Raises:
        InputError: Its or its parent's id is no category's, its kind is unknown, or a text holds half a
            character.
    """
    _of("category", category.id)
    if category.parent is not None:
        _of("category", category.parent)
    _one_of(categories.KINDS, category.kind, f"Category {category.id} has kind")
    encodable(category.key, category.name, category.abstract, category.overview, category.model)


def connectable(edge: edges.Edge) -> None:
    """Refuse an edge that no store keeps.

    Raises:
        InputError: Its kind is not stored, an end is not of what the kind connects, its weight is not within
            0..1, its origin is unknown, or a text holds half a character.
    """
    if edge.kind not in edges.STORED:
        _one_of(edges.STORED, edge.kind, f"The edge from {edge.src!r} has kind")
    _of("memory", edge.src)
    _of(LEADS_TO.get(edge.kind, "memory"), edge.dst)
    if not 0 <= edge.weight <= 1:  # neither is NaN
        raise InputError(
            f"The edge from {edge.src} to {edge.dst} has weight {edge.weight}; wanted is 0..1. {UNTOUCHED}"
        )
    if edge.origin not in edges.ORIGINS:
        _one_of(edges.ORIGINS, edge.origin, f"The edge from {edge.src} to {edge.dst} has origin")
    encodable(edge.key, edge.rule, edge.run)


def livable(memory: str, life: Life) -> None:
    """Refuse a life that no memory can have.

    Raises:
        InputError: Its status or origin is unknown, its strength or confidence is not within 0..1, or its project
            holds half a character.
    """
    values = said(life)
    encodable(str(values.get("project") or ""))
    if "status" in values:
        _one_of(STATUSES, values["status"], f"Memory {memory} is to have status")
    if "origin" in values:
        _one_of(ORIGINS, values["origin"], f"Memory {memory} is to have origin")
    for name in ("strength", "confidence"):
        if not 0 <= values.get(name, 0) <= 1:  # NaN is not, either
            raise InputError(f"Memory {memory} is to have {name} {values[name]}; wanted is 0..1. {UNTOUCHED}")


def lasting(memory: str, valid_from: int | None, valid_until: int | None) -> None:
    """Refuse a memory that would end being true before it began.

    Raises:
        InputError: ``valid_until`` is before ``valid_from``.
    """
    if valid_from is not None and valid_until is not None and valid_until < valid_from:
        raise InputError(
            f"Memory {memory} would be true from {valid_from} until {valid_until}, which is before. {UNTOUCHED}"
        )


def tellable(scope: Scope | None, event: events.Event, past: bool) -> None:
    """Refuse an event that no store keeps.

    Args:
        scope: Who writes; None for all.
        event: What happened.
        past: Whether it is told by its own key, and not by the one of its memory.

    Raises:
        InputError: What happened or what was before is unknown, its key is not one of the scope's, or a text holds
            half a character.
    """
    if past:
        writable(scope, event.key, f"An event of {event.memory}")
    _one_of(events.OPS, event.op, f"An event of {event.memory} says")
    if event.op != "reinforced" or events.sure(event.before) is None:
        _one_of(("", *STATUSES), event.before, f"An event of {event.memory} tells of the status")
    encodable(event.key, event.run, event.actor)


def readable(reading: readings.Reading) -> None:
    """Refuse a reading that no store keeps.

    Raises:
        InputError: Its mark holds half a character.
    """
    encodable(reading.mark)


def runnable(scope: Scope | None, run: runs.Run) -> None:
    """Refuse a run that no store keeps.

    Raises:
        InputError: Its key is not one of the scope's, its state is unknown, or a text holds half a character.
    """
    writable(scope, run.key, f"Run {run.id}")
    _one_of(runs.RUN_STATES, run.state, f"Run {run.id} has state")
    encodable(run.id, run.rules, *run.counts)


def _of(wanted: str, node: str) -> None:
    parsed = parse_node(node)
    found = None if parsed is None else parsed[0] if parsed[0] in ("concept", "category") else "memory"
    if found != wanted:
        raise InputError(f"{node!r} is no id of a {wanted}. {UNTOUCHED}")


def _one_of(known: tuple[str, ...], found: str, what: str) -> None:
    if found not in known:
        raise InputError(f"{what} {found!r}; known are {', '.join(known)}. {UNTOUCHED}")


def after(memory: str) -> int:
    """Return the number of the id that a page begins after, -1 for an empty one: all come after it.

    Raises:
        InputError: It is no id of a memory.
    """
    parsed = parse_id(memory)
    if parsed is None and memory:
        raise InputError(f"A page begins after an id; {memory!r} is none.")
    return -1 if parsed is None else parsed[1]


def of_a_generation(changes: Sequence[Change]) -> None:
    """Refuse what a rebuild cannot write: sources, models, tombstones, the graph and what happened belong to none.

    Raises:
        InputError: One of the changes is of another kind.
    """
    for change in changes:
        if not isinstance(change, PutDocument | DropDocument | PutMemory | PutVectors | PutVersions):
            raise InputError(
                f"A rebuild writes documents, memories, vectors and versions, no {type(change).__name__}. "
                f"{UNTOUCHED}"
            )
