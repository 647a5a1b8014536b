"""Checks: what every store refuses before it writes, so that all of them refuse alike."""

from __future__ import annotations

from collections.abc import Sequence

from scrubjay.errors import InputError, ModelMismatchError
from scrubjay.memory.ids import parse_id
from scrubjay.memory.models import Model
from scrubjay.memory.records import Document, Place, Record
from scrubjay.memory.scope import Scope
from scrubjay.memory.tiers import STATUSES
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


def of_a_generation(changes: Sequence[Change]) -> None:
    """Refuse what a rebuild cannot write: sources, models and tombstones belong to no generation.

    Raises:
        InputError: One of the changes is of another kind.
    """
    for change in changes:
        if not isinstance(change, PutDocument | DropDocument | PutMemory | PutVectors | PutVersions):
            raise InputError(
                f"A rebuild writes documents, memories, vectors and versions, no {type(change).__name__}. "
                f"{UNTOUCHED}"
            )
