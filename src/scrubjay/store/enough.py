"""Enough: what the stores answer that search a tenant of any size with nothing made for it beforehand."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from scrubjay.errors import InputError
from scrubjay.memory.reports import Progress
from scrubjay.memory.scope import Scope


class Enough:
    """A store that needs no index for large tenants."""

    def slow(self, scope: Scope) -> str:
        """Return nothing: it is as fast as it can be."""
        return ""

    def enlarge(self, scope: Scope, progress: Callable[[Progress], None]) -> NoReturn:
        """Refuse."""
        self.reduce(scope)

    def reduce(self, scope: Scope) -> NoReturn:
        """Refuse."""
        raise InputError(
            "Only a PostgreSQL store has an index for large tenants; this one searches any size as it is. "
            "Nothing was written.",
            hint="leave it out, or name the store: --store postgresql://…",
        )
