"""Old talks: conversations of which a night makes digests, and the time at which it does."""

from __future__ import annotations

from typing import Final

from scrubjay import NewMemory

NOW: Final = "2026-03-01T12:00:00Z"
FILLER: Final = "Are there many things one could do about it here and is it a good idea to take your time? "


def turns(sessions: int, each: int = 3) -> list[NewMemory]:
    """Return so many turns of each of so many sessions, a session a day."""
    return [
        NewMemory(
            f"{FILLER * 2}The harbour {session} mooring {turn} costs {(session + 2) * 31 + turn} euros, "
            f"and the ferry to island {session} leaves at {turn} o'clock.",
            session=f"s{session}", turn=turn, role="assistant" if turn % 2 else "user",
            date=f"2026-01-{1 + session % 28:02}T10:0{turn}:00Z",
        )
        for session in range(sessions)
        for turn in range(each)
    ]  # fmt: skip
