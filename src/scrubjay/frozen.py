"""Frozen values: frozen dataclasses that are defined in half of the time, for the modules that a cold command loads.

`dataclass(frozen=True)` compiles six methods for each class; comparison, hash and text are shared here instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """Make a class a dataclass with slots whose instances do not change.

    >>> @frozen
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(1) == Point(1, 0), hash(Point(1)) == hash(Point(1, 0)), Point(1) == (1, 0)
    (Point(x=1, y=0), True, True, False)
    """
    new: Any = dataclass(frozen=True, slots=True, eq=False, repr=False)(cls)
    new.__compared__ = attrgetter(*(item.name for item in fields(new) if item.compare))
    new.__eq__, new.__hash__, new.__repr__ = _equals, _hash, _text
    return new  # type: ignore[no-any-return]


def _equals(self: Any, other: Any) -> bool:
    same_class = other.__class__ is self.__class__
    return self.__compared__(self) == self.__compared__(other) if same_class else NotImplemented


def _hash(self: Any) -> int:
    return hash(self.__compared__(self))


def _text(self: Any) -> str:
    values = ", ".join(f"{item.name}={getattr(self, item.name)!r}" for item in fields(self))
    return f"{type(self).__qualname__}({values})"
