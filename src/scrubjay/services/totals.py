"""Totals of a whole store, over all users and tenants: for its worker and its operators, never for a caller."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from scrubjay.errors import StoreError
from scrubjay.frozen import frozen
from scrubjay.models.records import DUE_LINKS, UnrestrictedScope, due_since
from scrubjay.storage.interface import BATCH_ROWS

if TYPE_CHECKING:
    from scrubjay.storage.interface import Store


@frozen
class StoredUsers:
    """Who has memories in a tenant.

    Attributes:
        users: Each user, with the groups of their memories that enrichment is due for.
        groups: Each group.
        public: Whether there are memories for everybody.
    """

    users: Mapping[str, frozenset[str]]
    groups: frozenset[str]
    public: bool


def known_tenants(store: Store, named: Iterable[str]) -> list[str]:
    """Return all tenants, or only those that are named where row-level security hides the others."""
    try:
        return sorted({*named, *store.tenants()})
    except StoreError:  # one that cannot be read at all raises again at the first tenant
        return sorted(set(named))


@frozen
class TenantCounts:
    """Numbers of memories by tenant and by visibility key (``user:NAME``, ``group:NAME``, ``public``).

    Attributes:
        hidden: Why there may be other tenants; empty where these are all.
    """

    tenants: Mapping[str, Mapping[str, int]]
    hidden: str


def tenant_counts(store: Store, named: Iterable[str]) -> TenantCounts:
    tenants = {
        tenant: {key: count for key, count in sorted(store.memory_counts(tenant).items()) if count}
        for tenant in known_tenants(store, named)
    }
    try:
        store.tenants()
    except StoreError as error:
        return TenantCounts(tenants, str(error).removesuffix(" Nothing was read."))
    return TenantCounts(tenants, "")


def stored_users(store: Store, named: Iterable[str]) -> dict[str, StoredUsers]:
    return {tenant: _users_of(store, tenant) for tenant in known_tenants(store, named)}


def _users_of(store: Store, tenant: str) -> StoredUsers:
    keys = sorted(key for key, count in store.memory_counts(tenant).items() if count)
    named = [key.partition(":")[::2] for key in keys]
    users: dict[str, set[str]] = {name: set() for kind, name in named if kind == "user"}
    groups = frozenset(name for kind, name in named if kind == "group")
    if groups:
        with store.reader(UnrestrictedScope(tenant, "", (), tuple(keys))) as reader:
            due = [one.id for one in reader.due(DUE_LINKS) if one.key.startswith("group:")]
            for record in reader.get(due[:BATCH_ROWS]).values():
                users.setdefault(record.owner, set()).add(record.key.partition(":")[2])
    return StoredUsers({name: frozenset(found) for name, found in users.items()}, groups, "public" in keys)


@frozen
class StoreTotals:
    """Sums over all users of all known tenants.

    Attributes:
        tiers: Memories by tier.
        due: Memories that enrichment is due for.
        waiting: Memories pending embedding, by the model's name.
        oldest: Since when the oldest of both has been pending (UTC microseconds), None if nothing is.
    """

    tiers: Mapping[str, int]
    due: int
    waiting: Mapping[str, int]
    oldest: int | None


def store_totals(store: Store, named: Iterable[str]) -> StoreTotals:
    tiers: Counter[str] = Counter()
    waiting: Counter[str] = Counter()
    due, since = 0, list[int]()
    for tenant in known_tenants(store, named):
        everyone = UnrestrictedScope(tenant, "", (), tuple(sorted(store.memory_counts(tenant))))
        with store.reader(everyone) as reader:
            tiers.update(reader.counts().tiers)
            marks = [one.mark for one in reader.due(DUE_LINKS)]
            due += len(marks)
            since.extend(map(due_since, marks))
            for state in reader.models():
                fingerprint = state.model.fingerprint
                waiting[state.model.name] += reader.coverage(fingerprint).waiting
                oldest = reader.oldest_pending(fingerprint)
                since.extend(() if oldest is None else (oldest,))
    return StoreTotals(tiers, due, waiting, min(since, default=None))
