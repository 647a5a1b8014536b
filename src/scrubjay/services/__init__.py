"""Services: the operations behind `Memory`, for one principal.

``services.NAME`` loads a module at its first use, so that a command loads only its own.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    import scrubjay.services.audit
    import scrubjay.services.consolidation
    import scrubjay.services.context
    import scrubjay.services.curation
    import scrubjay.services.dictionary
    import scrubjay.services.exports
    import scrubjay.services.imports
    import scrubjay.services.inspection
    import scrubjay.services.search
    import scrubjay.services.sync  # noqa: F401 for type checkers, which would not find them else


def __getattr__(name: str) -> ModuleType:
    try:
        return import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from error
