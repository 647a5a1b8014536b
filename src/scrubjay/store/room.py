"""Room: a store and a principal, or what is to be written -> what is allowed and used; or a refusal ahead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrubjay.memory.allowances import Allowance
    from scrubjay.memory.scope import Scope
    from scrubjay.store.base import Store


def room(store: Store, scope: Scope) -> tuple[Allowance, ...]:
    """Return the limits that are set for a principal of a store, with what is used of them."""
    return store.quota.room(scope, store.held(scope.tenant)) if store.quota else ()


def foreseen(store: Store, tenant: str, gained: Mapping[str, int]) -> None:
    """Refuse, before the first of several writes, what all of them together would add.

    Raises:
        QuotaError: As `Quota.admit`.
    """
    if store.quota:
        held = store.held(tenant)
        after = {key: held.get(key, 0) + gained.get(key, 0) for key in held.keys() | gained.keys()}
        store.quota.admit(tenant, after, gained)
