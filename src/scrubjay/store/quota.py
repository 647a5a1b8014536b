"""Quota: what a tenant holds after a write, what the write added -> nothing, or the refusal of all of it.

Each store asks at the end of the transaction that writes, while no other writer of the tenant is at work, so that no
two processes pass a limit together. What adds nothing is never refused, also where more is held than is allowed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scrubjay.errors import QuotaError
from scrubjay.memory.allowances import Allowance
from scrubjay.store.changes import Change, PutMemory

if TYPE_CHECKING:
    from scrubjay.memory.scope import Scope

OWN: Final = "user:"
"""What the visibility keys of one user begin with."""
SPARE: Final = 10
"""A change of a memory's text keeps the earlier one as a memory beside it: for those there is room for one more in so
many that are allowed, so that what is full can still be put right, and nobody passes a limit for ever by changing."""


@dataclass(frozen=True, slots=True)
class Quota:
    """How many memories may be held, 0 for any number.

    Attributes:
        memories_per_tenant: By a tenant, under all visibility keys.
        memories_per_user: By a user, under the key that nobody else sees.
    """

    memories_per_tenant: int = 0
    memories_per_user: int = 0

    def __bool__(self) -> bool:
        """Tell whether anything is bounded."""
        return bool(self.memories_per_tenant or self.memories_per_user)

    def room(self, scope: Scope, held: Mapping[str, int]) -> tuple[Allowance, ...]:
        """Return the limits that are set, with what is used of them.

        Args:
            scope: For whom.
            held: Visibility key to number of memories, of the whole tenant.
        """
        own = Allowance("memories_per_user", self.memories_per_user, held.get(scope.key(), 0))
        tenant = Allowance("memories_per_tenant", self.memories_per_tenant, sum(held.values()))
        return tuple(each for each in (own, tenant) if each.allowed)

    def admit(
        self, tenant: str, held: Mapping[str, int], gained: Mapping[str, int], changes: Sequence[Change] = ()
    ) -> None:
        """Refuse a write that makes more of what is full.

        Args:
            tenant: The tenant's name.
            held: Visibility key to number of memories after the write, of the whole tenant.
            gained: Visibility key to how many more there are than before it, less than 0 where there are fewer.
            changes: The write.

        Raises:
            QuotaError: Somebody has more than is allowed, and had less before.
        """
        kept = sum(isinstance(c, PutMemory) and c.memory.record.status == "superseded" for c in changes)
        if self.memories_per_user:
            for key in sorted(key for key in gained if key.startswith(OWN)):
                who = f"User {key.removeprefix(OWN)} of tenant {tenant}"
                _within(who, "memories_per_user", self.memories_per_user, held.get(key, 0), gained[key], kept)
        if self.memories_per_tenant:
            after, more = sum(held.values()), sum(gained.values())
            _within(f"Tenant {tenant}", "memories_per_tenant", self.memories_per_tenant, after, more, kept)


ANY: Final = Quota()
"""Any number of memories."""


def _within(who: str, setting: str, allowed: int, after: int, gained: int, kept: int) -> None:
    spare = max(1, allowed // SPARE) if gained <= kept else 0
    if gained > 0 and after > allowed + spare:
        raise QuotaError(
            f"{who} has {after - gained:,} of {allowed:,} memories that [quota] {setting} allows; this would add "
            f"{gained:,}. Nothing was written.",
            hint="forget what is of no use (`scrubjay forget`; what is archived counts as well), or ask who runs it to "
            f"raise [quota] {setting}",
        )
