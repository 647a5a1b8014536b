"""Seats: a desk and another principal -> a desk of theirs, at the same store, with the same models."""

from __future__ import annotations

from dataclasses import replace

from scrubjay.config import Notes
from scrubjay.memory.scope import Scope
from scrubjay.wiring.desk import Desk


def seat(desk: Desk, scope: Scope, *, curates: bool = False) -> Desk:
    """Return a desk for a principal; what one of them makes ready is not shared with another.

    The folder of day notes is the settings' owner's, so nobody else's additions are written there.

    Args:
        desk: Another's.
        scope: The principal.
        curates: Whether they may change what others shared.
    """
    mine = (scope.tenant, scope.user) == (desk.scope.tenant, desk.scope.user)
    settings = replace(
        desk.settings,
        tenant=scope.tenant,
        user=scope.user,
        groups=scope.groups,
        notes=desk.settings.notes if mine else Notes(),
    )
    return replace(
        desk,
        scope=scope,
        lineup=desk.lineup.seen_by(scope),
        settings=settings,
        lexicons={},
        looks=True,
        curates=curates,
    )
