"""Old import paths: names that moved, imported from their new place with a `DeprecationWarning`, for one release."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def moved_names(old: str, new: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a `__getattr__` for the module `old`.

    Args:
        old: The old module's `__name__`.
        new: The module that now holds the names.
        names: Old name to new name.
    """

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {old!r} has no attribute {name!r}")
        warnings.warn(
            f"{old}.{name} is now {new}.{names[name]}; the old path goes with the next release.",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(import_module(new), names[name])

    return find
