"""Prefix: requests that a reverse proxy hands on under a path of its own -> requests as if there were none.

Whether the proxy takes the path away before it hands a request on or leaves it there, either is understood.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from scrubjay.errors import InputError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_SOUND: Final = re.compile(r"(/[\w.~-]+)+")


def inner(scope: Scope) -> str:
    """Return the path of a request as routes have it: without the prefix.

    >>> inner({"path": "/memory/v1/search", "root_path": "/memory"}), inner({"path": "/v1/search"})
    ('/v1/search', '/v1/search')
    """
    path: str = scope["path"]
    prefix: str = scope.get("root_path", "")
    return path[len(prefix) :] if prefix and path.startswith(f"{prefix}/") else path


def prefix(path: str) -> str:
    """Return a path that a server can be reached under, without a slash at its end; empty for none.

    >>> prefix("/memory/"), prefix("/")
    ('/memory', '')

    Raises:
        InputError: It is none.
    """
    found = path.rstrip("/")
    if found and not _SOUND.fullmatch(found):
        raise InputError(
            f"{path!r:.80} is no path that a server can be reached under. Nothing was started.",
            hint="/memory",
        )
    return found


class Prefix:
    """An ASGI application around another.

    Args:
        app: What is served under the path.
        path: The path, such as ``/memory``; empty for none.
    """

    def __init__(self, app: ASGIApp, path: str) -> None:
        self._app = app
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on a request with its path as ASGI has it: the prefix, then the rest."""
        if self._path and scope["type"] == "http":
            path = scope["path"]
            if not (path + "/").startswith(self._path + "/"):
                path = self._path + path
            scope = {**scope, "root_path": self._path, "path": path}
        await self._app(scope, receive, send)
