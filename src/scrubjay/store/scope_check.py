"""Scope check: what every store refuses before it writes a memory."""

from __future__ import annotations

from scrubjay.errors import InputError, ModelMismatchError
from scrubjay.memory.models import Model
from scrubjay.memory.scope import Scope
from scrubjay.store.changes import Codes


def writable(scope: Scope | None, key: str, what: str) -> None:
    """Refuse a visibility key that is not one of the writer's own; a rebuild (None) keeps every key.

    Raises:
        InputError: The key is not one of the scope's.
    """
    if scope is not None and key not in scope.keys:
        raise InputError(f"{what} is to be written under {key!r}, which {scope.user} may not see. Nothing was written.")


def fitting(model: Model, codes: Codes, what: str) -> None:
    """Refuse vectors whose length is not their model's.

    Raises:
        ModelMismatchError: The lengths differ.
    """
    dimensions = codes.data.shape[1]
    if dimensions != model.dimensions:
        raise ModelMismatchError(
            f"{what} has {dimensions}-dimensional vectors; {model.name} makes {model.dimensions}. Nothing was written.",
            hint=f"add the other model beside it: `scrubjay models add`, then `scrubjay models use {model.name}`",
        )
