"""Who may change a memory: its owner, and of shared ones whoever may curate."""

from __future__ import annotations

from collections.abc import Iterable

from scrubjay.errors import ForbiddenError
from scrubjay.memory.records import Record
from scrubjay.wiring.desk import Desk


def changeable(desk: Desk, record: Record) -> bool:
    """Return whether a principal may change a memory that they see: it is theirs, or they may curate."""
    return desk.curates or record.owner == desk.scope.user or record.key == desk.scope.key()


def check(desk: Desk, records: Iterable[Record], what: str) -> None:
    """Refuse to change what others shared.

    Args:
        desk: Who asks.
        records: Memories that they see.
        what: What they want to do, as in "may ... it".

    Raises:
        ForbiddenError: One of them is somebody else's.
    """
    for record in records:
        if not changeable(desk, record):
            owner = record.owner or "several people"
            raise ForbiddenError(
                f"{record.id} is {owner}'s, shared as {record.key}: only its owner and whoever may curate can {what} "
                "it. Nothing was written.",
                hint=f"ask {owner}, or use a token with the scope curate: scrubjay token create NAME --scope read "
                "--scope write --scope curate",
            )
