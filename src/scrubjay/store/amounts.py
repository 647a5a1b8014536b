"""Amounts: how many memories each visibility key of a tenant holds, counted once a process and carried on from there.

A mark says whether anybody else has written since: whoever finds another one than was kept counts again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scrubjay.store.changes import Change
    from scrubjay.store.kept import Tenant
    from scrubjay.store.quota import Quota

MOST_TENANTS: Final = 256
"""Tenants of which the counts are kept."""


class Amounts:
    """What one process has counted of the last tenants."""

    def __init__(self) -> None:
        self._held: OrderedDict[tuple[int, int], tuple[int, Mapping[str, int]]] = OrderedDict()
        self._lock = threading.Lock()

    def admit(
        self,
        quota: Quota,
        named: tuple[str, Tenant],
        mark: int,
        gained: Mapping[str, int],
        changes: Sequence[Change],
        count: Callable[[], Mapping[str, int]],
    ) -> Mapping[str, int] | None:
        """Hold a write to a quota, at its end; return what the tenant holds then by visibility key, None if unknown.

        Args:
            quota: How much may be held.
            named: The tenant's name, and the tenant as it was at the transaction's start.
            mark: What was so at the transaction's start, and is as long as nobody else writes.
            gained: What the write adds by visibility key; less than 0 for what it takes away.
            changes: The write.
            count: Counts what the tenant holds, where that is not known.

        Raises:
            QuotaError: It is more than may be.
        """
        if not quota:
            return None
        known, before = self._held.get((named[1].number, named[1].generation), (0, None))
        after: Mapping[str, int] | None = None
        if before is not None and known == mark:
            after = {key: before.get(key, 0) + gained.get(key, 0) for key in {*before, *gained}}
        if any(more > 0 for more in gained.values()):
            after = count() if after is None else after
            quota.admit(named[0], after, gained, changes)
        return after

    def keep(self, tenant: Tenant, mark: int, held: Mapping[str, int] | None) -> None:
        """Remember what a tenant holds, if that is known, after a commit, with the mark that is so from then on."""
        if held is None:
            return
        with self._lock:
            one = (tenant.number, tenant.generation)
            self._held[one] = (mark, held)
            self._held.move_to_end(one)
            while len(self._held) > MOST_TENANTS:
                self._held.popitem(last=False)
