"""Which paths of the server's disk a request may name: those within the allowed roots."""

from __future__ import annotations

import os
from collections.abc import Iterable

from scrubjay.config import config_path, data_dir
from scrubjay.config_server import Server
from scrubjay.errors import ForbiddenError, InputError


def within(path: str, settings: Server, known: Iterable[str] = ()) -> None:
    """Raise unless a path lies in a root of the settings, or in a folder that is known.

    Links are followed before the two are compared. The folder of the settings and tokens is never one of them.

    Args:
        path: As the request has it.
        settings: The section that names the roots.
        known: Folders that may be named besides them: the registered sources.

    Raises:
        ForbiddenError: It lies in none of them.
        InputError: It is no path.
    """
    if not path or "\0" in path:
        raise InputError(f"{path!r:.200} is no path. Nothing was done.", hint="name a folder or a file")
    place = _real(path)
    roots = [_real(root) for root in settings.roots or _usual()]
    allowed = any(_inside(place, root) for root in (*roots, *map(_real, known)))
    if not allowed or _inside(place, _real(str(config_path().parent))):
        raise ForbiddenError(
            f"{path!r:.200} is outside of the folders that requests over HTTP may name: "
            f"{', '.join(roots) or 'none'}. Nothing was done.",
            hint=f"name its folder in the server's settings, [server] roots = [{os.path.dirname(place)!r:.200}], "
            "or do it with the command line",
        )


def _usual() -> list[str]:
    """Return the roots of settings that name none; a service whose home is the whole disk has no home."""
    home = os.path.expanduser("~")
    return [*([home] if _real(home) != os.path.dirname(_real(home)) else []), str(data_dir())]


def _real(path: str) -> str:
    return os.path.realpath(os.path.expanduser(path))


def _inside(place: str, root: str) -> bool:
    return place == root or place.startswith(os.path.join(root, ""))
