"""Server: the section of the settings that bounds what `scrubjay serve` takes on at once."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from scrubjay.config_keys import number, whole, word
from scrubjay.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Server:
    """[server]: what the server over HTTP takes on."""

    most_waiting: int = field(
        default=64,
        metadata=whole(
            "Requests that may wait for their turn at the store; beyond that, who has most waiting is told to "
            "come again (503).",
            0,
            100_000,
        ),
    )
    patience_seconds: float = field(
        default=30.0,
        metadata=number(
            "Seconds in which a request's head, and then its body, must have come; a large body has a second more for "
            "each 128 KiB.",
            0.1,
            3_600,
        ),
    )
    import_mb: int = field(
        default=1_000, metadata=whole("Largest file that can be imported, in MB.", 1, 1_000_000)
    )
    roots: tuple[str, ...] = field(
        default=(),
        metadata=word(
            "Folders of the server that sync and backup over HTTP may name, with all that lies in them.",
            kind="list",
            default="the home folder of its account, and the data folder",
        ),
    )

    def __post_init__(self) -> None:
        for root in self.roots:
            if not os.path.isabs(os.path.expanduser(root)):
                raise ConfigError(
                    f"[server] roots has {root!r}, which is not the whole path of a folder. Nothing was done.",
                    hint='roots = ["/srv/notes", "~/notes"]',
                )
