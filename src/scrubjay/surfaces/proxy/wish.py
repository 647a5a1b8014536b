"""Wish: a request's own headers, its principal and the settings -> what is to be done with memory for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scrubjay.config_proxy import MODES
from scrubjay.errors import InputError

if TYPE_CHECKING:
    from starlette.datastructures import Headers

    from scrubjay.verbs.tokens import Principal

MEMORY: Final = "x-scrubjay-memory"
SESSION: Final = "x-scrubjay-session"
PROJECT: Final = "x-scrubjay-project"
AGENT: Final = "x-scrubjay-agent"
OURS: Final = "x-scrubjay-"
"""What every header begins with that is meant for the proxy and goes no further."""
MOST_NAME: Final = 200
"""Characters of a conversation's, a project's or an agent's name."""
USUAL_AGENT: Final = "proxy"
"""What turns are signed with where nobody says who it was."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be done.

    Attributes:
        reads: Whether memories are put in.
        writes: Whether what passes is remembered.
        session: The conversation, as the client names it; empty where it does not.
        project: The project it is about, or None.
        agent: Which program asks.
    """

    reads: bool
    writes: bool
    session: str
    project: str | None
    agent: str


def wish(headers: Headers, who: Principal, usual: str, *, paused: bool = False) -> Wish:
    """Return what is wished for, as far as the principal may.

    Args:
        headers: Of the request.
        who: Whose memory it is.
        usual: The mode of the settings, one of `MODES`.
        paused: Whether nothing is to be done whatever the request says.

    Raises:
        InputError: A header has a value that it cannot have.
    """
    mode = headers.get(MEMORY, usual).strip().lower()
    if mode not in MODES:
        raise InputError(
            f"{MEMORY} is {mode!r:.40}. Nothing was sent to the upstream.", hint=f"one of {', '.join(MODES)}"
        )
    mode = "off" if paused else mode
    return Wish(
        mode in ("on", "read") and "read" in who.scopes,
        mode in ("on", "write") and "write" in who.scopes,
        _name(headers, SESSION),
        _project(headers),
        who.agent or _name(headers, AGENT) or USUAL_AGENT,
    )


def _project(headers: Headers) -> str | None:
    """Return the project's name; a path would have the server look at a folder of its own disk."""
    found = _name(headers, PROJECT)
    if found.startswith((".", "/", "~", "\\")):
        raise InputError(
            f"{PROJECT} is {found!r:.80}, a path, which means nothing to a server elsewhere. "
            "Nothing was sent to the upstream.",
            hint="give the project's name",
        )
    return found or None


def _name(headers: Headers, header: str) -> str:
    found = headers.get(header, "").strip()
    if len(found) > MOST_NAME or not found.isprintable():
        raise InputError(
            f"{header} is no name: at most {MOST_NAME} characters that can be printed. "
            "Nothing was sent to the upstream."
        )
    return found
