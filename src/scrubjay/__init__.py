"""Memory for AI agents that knows what, where and when."""

from __future__ import annotations

TYPE_CHECKING = False
"""Defined here because importing `typing` takes a tenth of a hook's budget."""

if TYPE_CHECKING:
    from typing import Any

    from scrubjay.async_memory import AsyncMemory
    from scrubjay.errors import ScrubjayError
    from scrubjay.memory import Memory
    from scrubjay.models.lifecycle import NewMemory

__all__ = ["AsyncMemory", "Memory", "NewMemory", "ScrubjayError", "__version__"]
__version__ = "0.2.0"

_WHERE = {
    "AsyncMemory": "scrubjay.async_memory",
    "Memory": "scrubjay.memory",
    "NewMemory": "scrubjay.models.lifecycle",
    "ScrubjayError": "scrubjay.errors",
}


def __getattr__(name: str) -> Any:
    """Import public names on use: the command line must not pay for what it does not need."""
    if name in _WHERE:
        from importlib import import_module

        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
