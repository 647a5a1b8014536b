"""Argument checks for the public API: types of every call's arguments, and calls after `close`."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterable
from datetime import date
from functools import cache, wraps
from typing import Any, TypeVar

from scrubjay.errors import InputError

T = TypeVar("T")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_ANNOTATIONS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "None": ("None", lambda value: value is None),
    "str": ("a text", lambda value: isinstance(value, str)),
    "bool": ("True or False", lambda value: isinstance(value, bool)),
    "int": ("a whole number", lambda value: _is_number(value) and not isinstance(value, float)),
    "float": ("a number", _is_number),
    "Path": ("a path", lambda value: isinstance(value, os.PathLike)),
    "datetime": ("a date", lambda value: isinstance(value, date)),
    "date": ("a date", lambda value: isinstance(value, date)),
    # Whether each of its items is a text is checked by whoever reads them, who can name the one that is not.
    "Sequence[str]": ("a list of texts", lambda value: isinstance(value, Iterable)),
}
"""Annotation to how an error calls it, and what it holds for. Parameters of any other annotation are not checked."""


def check_calls(cls: type[T]) -> type[T]:
    """Make every public method of a class check its arguments first, and refuse calls once it is closed.

    The class has `_refuse_closed`, which raises where the object was closed.
    """
    for name in dir(cls):
        method = inspect.getattr_static(cls, name)
        if not name.startswith("_") and name not in ("open", "close") and inspect.isfunction(method):
            setattr(cls, name, _guard(method))
    return cls


def _guard(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        self._refuse_closed()
        check_arguments(method, self, *args, **kwargs)
        return method(self, *args, **kwargs)

    return call


def check_arguments(method: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Compare the arguments of a call with the method's annotations.

    Raises:
        InputError: One is of another type. A call that does not fit the signature is left to Python.
    """
    names, kinds = _checked_parameters(method)
    for name, value in (*zip(names, args, strict=False), *kwargs.items()):
        wanted = kinds.get(name)
        if wanted is not None and not any(_ANNOTATIONS[kind][1](value) for kind in wanted):
            phrases = " or ".join(dict.fromkeys(_ANNOTATIONS[kind][0] for kind in wanted if kind != "None"))
            kind = type(value).__name__
            raise InputError(
                f"{method.__name__}(): {name} is {'an' if kind[0] in 'aeio' else 'a'} {kind}, not {phrases}: "
                f"{value!r:.80}. Nothing was done."
            )


@cache
def _checked_parameters(method: Callable[..., Any]) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Return the names of all parameters, and the allowed annotations of those that are checked."""
    parameters = inspect.signature(method).parameters
    kinds = {}
    for name, parameter in parameters.items():
        parts = tuple(re.split(r"\s*\|\s*", str(parameter.annotation)))
        if all(part in _ANNOTATIONS for part in parts):
            kinds[name] = parts
    return tuple(parameters), kinds
