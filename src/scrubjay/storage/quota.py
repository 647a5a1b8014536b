"""Quotas: how many memories a tenant or user may hold, and the counts they are checked against.

Each store checks at the end of the writing transaction, while no other writer of the tenant runs, so that two processes
cannot pass a limit together. Counts are cached with a mark that changes when anybody else writes.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from scrubjay.errors import QuotaError
from scrubjay.frozen import frozen
from scrubjay.models.records import QuotaUsage

if TYPE_CHECKING:
    from scrubjay.models.records import Scope
    from scrubjay.storage.changes import Change
    from scrubjay.storage.interface import Store
    from scrubjay.storage.rows import Tenant


USER_KEY_PREFIX: Final = "user:"
SPARE_DIVISOR: Final = 10
"""Changing a memory's text keeps the earlier text as a superseded memory. One extra memory per this many allowed lets
the user of a full store still correct it, but not exceed the limit without end."""


@frozen
class Quota:
    """Limits on the number of memories; 0 for no limit.

    Attributes:
        memories_per_tenant: Of a tenant, over all visibility keys.
        memories_per_user: Of a user, under the key that nobody else sees.
    """

    memories_per_tenant: int = 0
    memories_per_user: int = 0

    def __bool__(self) -> bool:
        return bool(self.memories_per_tenant or self.memories_per_user)

    def check(
        self,
        tenant: str,
        counts: Mapping[str, int],
        gained: Mapping[str, int],
        changes: Sequence[Change] = (),
    ) -> None:
        """Refuse a write that adds memories above a limit.

        ``counts`` are those of the whole tenant after the write, by visibility key; ``gained`` is the difference that
        the write makes.

        Raises:
            QuotaError: A limit is exceeded, and more so than before.
        """
        from scrubjay.storage.changes import PutMemory

        superseded = sum(isinstance(c, PutMemory) and c.memory.record.status == "superseded" for c in changes)

        def check(who: str, setting: str, allowed: int, after: int, more: int) -> None:
            spare = max(1, allowed // SPARE_DIVISOR) if more <= superseded else 0
            if more > 0 and after > allowed + spare:
                raise QuotaError(
                    f"{who} has {after - more:,} of {allowed:,} memories that [quota] {setting} allows; this would add "
                    f"{more:,}. Nothing was written.",
                    hint="forget memories you do not need (`scrubjay forget`; archived memories count as well), or "
                    f"ask the administrator to raise [quota] {setting}",
                )

        if self.memories_per_user:
            for key in sorted(key for key in gained if key.startswith(USER_KEY_PREFIX)):
                who = f"User {key.removeprefix(USER_KEY_PREFIX)} of tenant {tenant}"
                check(who, "memories_per_user", self.memories_per_user, counts.get(key, 0), gained[key])
        if self.memories_per_tenant:
            after, more = sum(counts.values()), sum(gained.values())
            check(f"Tenant {tenant}", "memories_per_tenant", self.memories_per_tenant, after, more)


NO_QUOTA: Final = Quota()


MAX_TENANTS: Final = 256
"""Tenants whose counts are cached."""


class QuotaChecker:
    """Checks one process's writes against a quota, with the counts of the tenants that it wrote last."""

    def __init__(self) -> None:
        self._counts: OrderedDict[tuple[int, int], tuple[int, Mapping[str, int]]] = OrderedDict()
        self._lock = threading.Lock()

    def check(
        self,
        quota: Quota,
        name: str,
        tenant: Tenant,
        mark: int,
        gained: Mapping[str, int],
        changes: Sequence[Change],
        count: Callable[[], Mapping[str, int]],
    ) -> Mapping[str, int] | None:
        """Check a write at its end; return the tenant's counts by visibility key, None if unknown.

        Args:
            quota: The limits.
            name: The tenant's name.
            tenant: The tenant at the transaction's start.
            mark: Its mark at the transaction's start.
            gained: Visibility key to the difference that the write makes.
            changes: The write.
            count: Counts the tenant's memories, where the cache does not know.
        """
        if not quota:
            return None
        known, before = self._counts.get((tenant.number, tenant.generation), (0, None))
        after: Mapping[str, int] | None = None
        if before is not None and known == mark:
            after = {key: before.get(key, 0) + gained.get(key, 0) for key in {*before, *gained}}
        if any(more > 0 for more in gained.values()):
            after = count() if after is None else after
            quota.check(name, after, gained, changes)
        return after

    def remember(self, tenant: Tenant, mark: int, counts: Mapping[str, int] | None) -> None:
        """Cache a tenant's counts, if known, after a commit, with the mark that holds from then on."""
        if counts is None:
            return
        with self._lock:
            key = (tenant.number, tenant.generation)
            self._counts[key] = (mark, counts)
            self._counts.move_to_end(key)
            while len(self._counts) > MAX_TENANTS:
                self._counts.popitem(last=False)


def used_allowances(store: Store, scope: Scope) -> tuple[QuotaUsage, ...]:
    """Return the limits that are set for a user of a store, with their use."""
    quota = store.quota
    if not quota:
        return ()
    counts = store.memory_counts(scope.tenant)
    user = QuotaUsage("memories_per_user", quota.memories_per_user, counts.get(scope.key(), 0))
    tenant = QuotaUsage("memories_per_tenant", quota.memories_per_tenant, sum(counts.values()))
    return tuple(usage for usage in (user, tenant) if usage.allowed)


def check_planned_writes(store: Store, tenant: str, gained: Mapping[str, int]) -> None:
    """Refuse several writes, before the first of them, if together they would exceed a limit."""
    if store.quota:
        before = store.memory_counts(tenant)
        after = {key: before.get(key, 0) + gained.get(key, 0) for key in before.keys() | gained.keys()}
        store.quota.check(tenant, after, gained)
