"""Touching: memories that a caller read by their ids -> remembered as used, where that costs the read nothing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from scrubjay.errors import StoreError
from scrubjay.memory.dates import SECOND, now_micros
from scrubjay.memory.life import Life
from scrubjay.memory.reports import Fetched
from scrubjay.wiring.desk import Desk

AGAIN: Final = 3_600 * SECOND
"""Microseconds within which reading a memory again is the same use of it; half-lives are weeks and more."""


def touch(desk: Desk, ids: Sequence[str], found: Fetched) -> None:
    """Remember that memories were used just now, in one write that waits for nobody.

    Only the caller's own: what several see would tell them that somebody reads it, and move what they find. It is
    no feedback: strength and events stay. A store that another writes to, or that cannot be written, is left as
    it is, since the read succeeded; the next read tries again.

    Args:
        desk: Where.
        ids: What was asked for: ids, or their shortest unique beginnings.
        found: What was found, neighbours among it, which nobody asked for.
    """
    if not desk.settings.recall.touch:
        return
    now, own = now_micros(), desk.scope.key()
    asked = tuple(one for one in ids if one)
    lives = {
        record.id: Life(last_used=now)
        for record in found.records
        if record.key == own
        and record.id.startswith(asked)
        and (record.last_used is None or now - record.last_used >= AGAIN)
    }
    if lives:
        from scrubjay.store.changes import PutLife

        with suppress(StoreError):
            desk.store.write(desk.scope, [PutLife(lives)], patience=0.0)
