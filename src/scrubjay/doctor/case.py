"""Case: what every check is told of the installation that it looks at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scrubjay.store.open import file_of, key_of

if TYPE_CHECKING:
    from scrubjay.agents.agent import Home
    from scrubjay.config import Settings
    from scrubjay.engine import Memory
    from scrubjay.store.sqlite.cipher import Key


@dataclass(frozen=True, slots=True)
class Case:
    """An installation.

    Attributes:
        settings: Its settings.
        home: Where things are on this machine.
        mend: Whether what is safe to put right is put right.
        seconds: For each look that could take long: a store's file, the models, an agent's command.
    """

    settings: Settings
    home: Home
    mend: bool = False
    seconds: float = 10.0

    @property
    def file(self) -> Path | None:
        """The store's file, None for a store that is kept in none."""
        return file_of(self.settings.store)

    @property
    def key(self) -> Key | None:
        """What the file is encrypted with.

        Raises:
            ScrubjayError: It cannot be read.
        """
        return key_of(self.settings.store)

    def memory(self) -> Memory:
        """Open the store as a command that answers once does.

        Raises:
            ScrubjayError: It cannot be opened.
        """
        from scrubjay.engine import Memory

        return Memory.open(settings=self.settings, cold=True)
