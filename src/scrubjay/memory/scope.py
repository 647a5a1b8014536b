"""Scope: who asks, and what they may see."""

from __future__ import annotations

from dataclasses import dataclass

from scrubjay.errors import InputError

VISIBILITIES = ("user", "group", "public")


@dataclass(frozen=True, slots=True)
class Scope:
    """The principal of one call. Every store call takes one; there is no default.

    Attributes:
        tenant: The walled garden; nothing crosses it, statistics included.
        user: The one who asks. What they write is theirs.
        groups: Groups they belong to.
    """

    tenant: str
    user: str
    groups: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The visibility keys this principal reads: a disjoint union, sorted.

        >>> Scope("t", "ann", ("dev",)).keys
        ('group:dev', 'public', 'user:ann')
        """
        return tuple(sorted({f"user:{self.user}", "public", *(f"group:{name}" for name in self.groups)}))

    def seen_with(self, key: str) -> Scope:
        """Return the narrowest principal that sees a key: itself for its own, a member of the group, anybody.

        What is decided for a shared memory is decided with this one's eyes, so that nothing private of the
        writer's moves what others see.

        >>> Scope("t", "ann", ("dev", "ops")).seen_with("group:dev").keys
        ('group:dev', 'public', 'user:')
        """
        kind, _, name = key.partition(":")
        if kind == "user":
            return self
        return Scope(self.tenant, "", (name,) if kind == "group" else ())

    def key(self, visibility: str = "user", group: str | None = None) -> str:
        """Return the one key under which this principal writes a memory.

        Raises:
            InputError: The visibility is unknown, or the group is not one of the principal's.
        """
        if visibility == "user":
            return f"user:{self.user}"
        if visibility == "public":
            return "public"
        if visibility != "group":
            raise InputError(
                f"Visibility {visibility!r} is not one of {', '.join(VISIBILITIES)}. Nothing was written."
            )
        if group is None or group not in self.groups:
            raise InputError(
                f"Group {group!r} is not one of {self.user}'s groups ({', '.join(self.groups) or 'none'}). "
                "Nothing was written."
            )
        return f"group:{group}"


@dataclass(frozen=True, slots=True)
class Everyone(Scope):
    """Who sees every key of a tenant: whoever copies it whole. No caller is ever made one.

    Attributes:
        held: The keys.
    """

    held: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """All of them."""
        return self.held
