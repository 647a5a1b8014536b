"""Seen: a principal -> the memory that they see, of one store that is opened when it is first needed."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from scrubjay.config_start import data_folder, environment
from scrubjay.surfaces.serve.unasked import Asked
from scrubjay.verbs.tokens import Principal

if TYPE_CHECKING:
    from scrubjay.config import Settings
    from scrubjay.engine import Memory

MOST_PRINCIPALS: Final = 256
"""Principals whose desks are kept; one that comes back after that many others finds names anew."""


class Seen:
    """One open store, as each principal sees it.

    Args:
        settings: Who owns the process, and where the store is.
        opening: What opens it; None for the facade.

    Attributes:
        log: Where what goes wrong is told, besides to the client.
    """

    def __init__(self, settings: Settings, opening: Callable[[], Memory] | None = None) -> None:
        self.settings = settings
        self.log = Asked(settings.log, data_folder(environment()))
        self._opening = opening or self._open
        self._memory: Memory | None = None
        self._seen: OrderedDict[Principal, Memory] = OrderedDict()
        self._guard = threading.Lock()

    @property
    def owner(self) -> Principal:
        """Who the settings say this is."""
        return Principal(self.settings.tenant, self.settings.user, tuple(self.settings.groups))

    def of(self, who: Principal) -> Memory:
        """Return what somebody sees."""
        with self._guard:
            if self._memory is None:
                self._memory = self._opening()
            owner = (who.tenant, who.user, who.groups) == (
                self.owner.tenant,
                self.owner.user,
                self.owner.groups,
            )
            if owner and who.curates:
                return self._memory
            if who not in self._seen:
                self._seen[who] = self._memory.seen_by(
                    who.user, groups=who.groups, tenant=who.tenant, curate=who.curates
                )
                while len(self._seen) > MOST_PRINCIPALS:
                    self._seen.popitem(last=False)
            self._seen.move_to_end(who)
            return self._seen[who]

    def close(self) -> None:
        """Close the store, if it was opened."""
        if self._memory is not None:
            self._memory.close()

    def _open(self) -> Memory:
        from scrubjay.engine import Memory

        # Of the process: standard error, where a person finds that texts went to a service.
        say = logging.getLogger("scrubjay").warning
        return Memory.open(settings=self.settings, announce=say, log=self.log)
