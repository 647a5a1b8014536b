"""Amounts: how many memories each visibility key of a tenant holds, counted once a process and carried on from there.

A mark says whether anybody else has written since: whoever finds another one than was kept counts again.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scrubjay.store.kept import Tenant

MOST_TENANTS: Final = 256
"""Tenants of which the counts are kept."""


class Amounts:
    """What one process has counted of the last tenants."""

    def __init__(self) -> None:
        self._held: OrderedDict[tuple[int, int], tuple[int, Mapping[str, int]]] = OrderedDict()
        self._lock = threading.Lock()

    def after(self, tenant: Tenant, mark: int, gained: Mapping[str, int]) -> Mapping[str, int] | None:
        """Return visibility key to number of memories after a transaction; None where they have to be counted.

        Args:
            tenant: As it was at the transaction's start.
            mark: What was so as long as nobody else wrote, at the transaction's start.
            gained: What the transaction adds; less than 0 for what it takes away.
        """
        known, held = self._held.get((tenant.number, tenant.generation), (0, None))
        if held is None or known != mark:
            return None
        found = Counter(held)
        found.update(gained)
        return found

    def keep(self, tenant: Tenant, mark: int, held: Mapping[str, int]) -> None:
        """Remember what a tenant holds after a transaction that is committed, with the mark that is so from then on."""
        with self._lock:
            one = (tenant.number, tenant.generation)
            self._held[one] = (mark, held)
            self._held.move_to_end(one)
            while len(self._held) > MOST_TENANTS:
                self._held.popitem(last=False)
