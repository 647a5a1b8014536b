"""Checks: what somebody who looked at an installation found: each thing in one line, with the way out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

OK: Final = "ok"
WARNING: Final = "warning"
PROBLEM: Final = "problem"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Attributes:
        about: What it is, the same each time: ``store``, ``claude-code capture``.
        state: ``ok``; ``warning`` where it works but somebody should know; ``problem`` where it does not.
        found: What was seen, one sentence without anybody's words.
        fix: The next command or step; an empty string where there is none.
        mended: Whether it was put right just now.
    """

    about: str
    state: str
    found: str
    fix: str = ""
    mended: bool = False


def ok(about: str, found: str, *, mended: bool = False) -> Check:
    """Return that it is as it should be."""
    return Check(about, OK, found, "", mended)


def warning(about: str, found: str, fix: str = "") -> Check:
    """Return that it works, and what somebody should know of it."""
    return Check(about, WARNING, found, fix)


def problem(about: str, found: str, fix: str = "") -> Check:
    """Return that it does not work."""
    return Check(about, PROBLEM, found, fix)
