"""Schemas: a frozen value of the facade -> how OpenAPI describes what `verbs/shape.py` makes of it.

The models here check nothing while a request is answered; the tests hold answers against them.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, create_model

from scrubjay.memory import answers, events, histories, moves, ranking, records, reports, threads, webs
from scrubjay.surfaces.http.forms import meanings

CLOSED: Final = ConfigDict(extra="forbid")
_NAMES: Final[dict[str, Any]] = {
    name: value
    for module in (answers, events, histories, moves, ranking, records, reports, threads, webs)
    for name, value in vars(module).items()
    if isinstance(value, type)
}
"""What annotations name that are read by type checkers alone."""

SAMPLES: Final[Mapping[str, Any]] = {
    "id": "obs_4f0c9a1be27d6f35",
    "ids": ["obs_4f0c9a1be27d6f35"],
    "tier": "observation",
    "title": "Engine",
    "snippet": "The engine is a Volvo D1-30.",
    "content": "The engine is a Volvo D1-30.",
    "date": "2026-03-01",
    "recorded_at": "2026-03-01T09:30:00+00:00",
    "citation": "/srv/notes/boats.md:7-9",
    "path": "/srv/notes/boats.md",
    "root": "/srv/notes",
    "line_start": 7,
    "line_end": 9,
    "score": 0.812344,
    "relevance": 0.93,
    "status": "active",
    "origin": "owner",
    "confidence": 1.0,
    "weight": 1.0,
    "name": "Volvo",
    "kind": "links",
    "direction": "to",
    "model": "all-MiniLM-L6-v2",
    "at": "2026-03-01T09:30:00+00:00",
    "memories": 12,
    "text": "<scrubjay-memories>…</scrubjay-memories>",
    "run": "run_3f1c",
}
"""What a field of this name looks like, where it can hold it."""


@cache
def described(
    kind: type,
    name: str = "",
    *,
    without: tuple[str, ...] = (),
    optional: tuple[str, ...] = (),
    plus: tuple[tuple[str, Any], ...] = (),
) -> type[BaseModel]:
    """Return a model of a dataclass as `shape.plain` tells it.

    Args:
        kind: The dataclass.
        name: What to call it; empty for the class's own name.
        without: Fields that are not told.
        optional: Fields that are told where they say something.
        plus: Further fields with their types; a field of the class is told as this instead.
    """
    assert is_dataclass(kind)
    said, more = meanings(kind), dict(plus)
    hints = typing.get_type_hints(kind, localns=_NAMES)
    made: dict[str, Any] = {}
    for item in fields(kind):
        if item.name in without or item.name in more:
            continue
        given = _told(hints[item.name])
        maybe = item.name in optional
        made[item.name] = (
            given,
            Field(None if maybe else ..., description=said.get(item.name), json_schema_extra=_bare),
        )
    for field, given in more.items():
        made[field] = (given, Field(None if field in optional else ..., description=said.get(field)))
    about = (kind.__doc__ or "").split("\n")[0]
    model: type[BaseModel] = create_model(name or kind.__name__, __config__=CLOSED, __doc__=about, **made)
    return model


def _bare(schema: dict[str, Any]) -> None:
    """Leave out the default of what may be missing: what is missing is not null."""
    schema.pop("default", None)


def _told(hint: Any) -> Any:
    origin, inner = get_origin(hint), get_args(hint)
    if is_dataclass(hint) and isinstance(hint, type):
        return described(hint)
    if origin in (Union, UnionType):
        return Union[tuple(_told(each) for each in inner)]  # noqa: UP007 of types that are known at run time
    if origin is tuple and inner[-1] is Ellipsis:
        return list[_told(inner[0])]  # type: ignore[misc]
    if origin is tuple:
        return list[Union[tuple(_told(each) for each in inner)]]  # type: ignore[misc]  # noqa: UP007
    if origin is not None and issubclass(origin, Mapping):
        return dict[str, _told(inner[1])]  # type: ignore[misc]
    return hint


def whole(name: str, about: str, **fields_: Any) -> type[BaseModel]:
    """Return a model of an object with these fields."""
    made = {field: (given, ...) for field, given in fields_.items()}
    model: type[BaseModel] = create_model(name, __config__=CLOSED, __doc__=about, **made)  # type: ignore[call-overload]
    return model


def sample(kind: Any, name: str = "") -> Any:
    """Return an example of a model or of a field: every field, with a value of its type.

    >>> sample(described(reports.Trouble))
    {'path': '/srv/notes/boats.md', 'message': 'text', 'hint': 'text'}
    """
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {field: sample(held.annotation, field) for field, held in kind.model_fields.items()}
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        if name in SAMPLES and type(SAMPLES[name]) in inner:
            return SAMPLES[name]
        return None if NoneType in inner else sample(inner[0], name)
    if origin is list:
        nested = isinstance(inner[0], type) and issubclass(inner[0], BaseModel)
        return [sample(inner[0])] if nested else SAMPLES.get(name, []) if name == "ids" else []
    if origin is dict:
        return {}
    return _scalar(kind, name)


def _scalar(kind: Any, name: str) -> Any:
    usual = {str: "text", int: 1, float: 0.5, bool: False}.get(kind)
    found = SAMPLES.get(name, usual)
    return found if kind is Any or type(found) is kind else usual
