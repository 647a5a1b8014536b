"""Losses: what passed and could not be kept -> counts that can be asked for, and lines in the log."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scrubjay.log import Log

WHYS: Final = ("full", "quota", "unwritten")
"""Why a turn is dropped: no room in the queue, none in the store ([quota]), or a disk that does not take it."""


class Losses:
    """What one server has lost since it began.

    Attributes:
        turns: Why, to the turns that were dropped for it.
    """

    def __init__(self, log: Log) -> None:
        self.turns = dict.fromkeys(WHYS, 0)
        self._log = log
        self._guard = threading.Lock()

    def dropped(self, turns: int, why: str, error: str) -> None:
        """Count turns that could not be kept, and log them.

        Args:
            turns: How many.
            why: One of `WHYS`.
            error: The same, of the last of them, in more words.
        """
        with self._guard:
            self.turns[why] += turns
            so_far = sum(self.turns.values())
        self._log.write("error", "proxy turns dropped", turns=turns, dropped=so_far, why=error)

    def damaged(self, damage: str, aside: str) -> None:
        """Tell of a queue that was put aside, here and in the log."""
        self._log.write("error", "proxy queue damaged", error=damage, file=aside)
        logging.getLogger("scrubjay").error(
            "The proxy's queue is damaged (%s). It was put aside as proxy/%s in the data folder; what waited in it "
            "is not remembered. A new one was begun, and requests pass as before.",
            damage,
            aside,
        )
