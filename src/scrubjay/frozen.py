"""Frozen values: frozen dataclasses that are defined in a fifth of the time, for the modules that a command loads.

`dataclass(frozen=True)` compiles six methods for each class; here its `__init__` is compiled when the first value is
made, and the others are shared. A command defines two hundred such classes and uses a quarter of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import Any, NoReturn, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """Make a class a dataclass with slots whose instances do not change; it has no ``__post_init__``.

    >>> @frozen
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(1) == Point(1, 0), hash(Point(1)) == hash(Point(1, 0)), Point(1) == (1, 0)
    (Point(x=1, y=0), True, True, False)
    """
    cls.__doc__ = cls.__doc__ or cls.__name__  # else `dataclass` writes the signature there, which takes long
    new: Any = dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    new.__compared__ = attrgetter(*(item.name for item in fields(new) if item.compare))
    new.__init__ = _compiled_at_first_call(new)
    new.__eq__, new.__hash__, new.__repr__ = _equals, _hash, _text
    new.__setattr__, new.__delattr__ = _refuse_assignment, _refuse_deletion
    new.__getstate__, new.__setstate__ = _state, _restore
    return new  # type: ignore[no-any-return]


def _compiled_at_first_call(cls: Any) -> Callable[..., None]:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        cls.__init__ = _compile_init(cls)
        cls.__init__(self, *args, **kwargs)

    return __init__


def _compile_init(cls: Any) -> Callable[..., None]:
    """Return the `__init__` that `dataclass` would give a class."""
    names: dict[str, Any] = {"_MISSING": MISSING}
    parameters: dict[bool, list[str]] = {False: [], True: []}  # by whether they are keywords only
    lines = []
    for item in fields(cls):
        name = item.name
        parameters[item.kw_only is True].append(name + _default(item, names))
        names[f"_set_{name}"] = getattr(cls, name).__set__  # of the slot
        value = (
            name if item.default_factory is MISSING else f"_made_{name}() if {name} is _MISSING else {name}"
        )
        lines.append(f"    _set_{name}(self, {value})")
    keywords = ["*", *parameters[True]] if parameters[True] else []
    exec("\n".join([f"def __init__({', '.join(['self', *parameters[False], *keywords])}):", *lines]), names)
    made: Any = names["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made  # type: ignore[no-any-return]


def _default(item: Field[Any], names: dict[str, Any]) -> str:
    if item.default_factory is not MISSING:
        names[f"_made_{item.name}"] = item.default_factory
        return "=_MISSING"
    if item.default is not MISSING:
        names[f"_default_{item.name}"] = item.default
        return f"=_default_{item.name}"
    return ""


def _equals(self: Any, other: Any) -> bool:
    same_class = other.__class__ is self.__class__
    return self.__compared__(self) == self.__compared__(other) if same_class else NotImplemented


def _hash(self: Any) -> int:
    return hash(self.__compared__(self))


def _text(self: Any) -> str:
    values = ", ".join(f"{item.name}={getattr(self, item.name)!r}" for item in fields(self) if item.repr)
    return f"{type(self).__qualname__}({values})"


def _refuse_assignment(self: Any, name: str, _value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(self: Any, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, item.name) for item in fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for item, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, item.name, value)
