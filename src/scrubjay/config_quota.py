"""Quota: the section of the settings that bounds what one tenant and one user may store."""

from __future__ import annotations

from dataclasses import dataclass, field

from scrubjay.config_keys import whole

MOST = 1_000_000_000


@dataclass(frozen=True, slots=True)
class QuotaSettings:
    """[quota]: how much may be stored; 0 sets no bound."""

    memories_per_tenant: int = field(
        default=0,
        metadata=whole(
            "Most memories of one tenant, of all its users and of every status; 0 for any number.", 0, MOST
        ),
    )
    memories_per_user: int = field(
        default=0,
        metadata=whole(
            "Most memories that one user keeps private, of every status; 0 for any number. What is shared with a "
            "group or all counts for the tenant alone.",
            0,
            MOST,
        ),
    )
