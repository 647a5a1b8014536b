"""Standing: a reader -> what is worth knowing whatever is asked: pinned, a project's profile, the last sessions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from scrubjay.memory.records import Record, Where
from scrubjay.store.base import Reader
from scrubjay.text.idle import idle

MOST_PINNED: Final = 50
PROFILE: Final = ("facet", "lesson", "semantic", "procedural", "crystal", "insight")
"""Tiers of a profile, those that hold longest first."""
MOST_PROFILE: Final = 200
"""Memories of a profile that are looked at, the latest."""
LATEST: Final = 300
"""Memories among which the last sessions are looked for."""
TURNS: Final = 4
"""Last turns of a session that are looked at: what was asked last and what was answered."""
DIGESTS: Final = ("crystal", "insight")


@dataclass(frozen=True, slots=True)
class Of:
    """For whom: a project (and what belongs to none), an agent, and the session that goes on; None for any."""

    project: str | None = None
    agent: str | None = None
    session: str | None = None
    now: int = 0

    def where(self, *, own: bool = False) -> Where:
        """Return the filter; with ``own`` that of the project's own memories alone."""
        projects: tuple[str | None, ...] = ()
        if self.project is not None:
            projects = (self.project,) if own else (self.project, None)
        agents = (self.agent,) if self.agent is not None else ()
        return Where(projects=projects, agents=agents, apart_from=self.session)

    def fits(self, record: Record) -> bool:
        """Return whether a memory is of this project or of none, is true now, and not of this session."""
        return (
            (self.project is None or record.project in (self.project, None))
            and (self.session is None or record.session != self.session)
            and (record.valid_until is None or record.valid_until > self.now)
            and (record.valid_from is None or record.valid_from <= self.now)
        )


def pinned(reader: Reader, of: Of) -> list[Record]:
    """Return what is pinned, the latest first."""
    return _fitting(reader.latest(replace(of.where(), pinned=True), MOST_PINNED), of)


def profile(reader: Reader, of: Of) -> list[Record]:
    """Return what is known of a project and of its people: by tier, then how sure it is, then the latest first."""
    held = reader.latest(replace(of.where(own=True), tiers=PROFILE), MOST_PROFILE)
    if of.project is not None:
        held += reader.latest(replace(of.where(), projects=(None,), tiers=PROFILE), MOST_PROFILE)
    known = {record.id: record for record in _fitting(held, of)}
    return sorted(
        known.values(),
        key=lambda one: (
            of.project is not None and one.project is None,
            PROFILE.index(one.tier),
            -one.confidence * one.strength,
        ),
    )


def recent(reader: Reader, of: Of, most: int) -> list[Record]:
    """Return of each of the last sessions its digest, else what was said last, the latest session first."""
    if not most:
        return []
    held = [one for one in reader.latest(of.where(own=True), LATEST) if one.session is not None]
    sessions = dict.fromkeys(one.session for one in _fitting(held, of) if one.session is not None)
    found: list[Record] = []
    for session in list(sessions)[:most]:
        told = [one for one in held if one.session == session and one.tier in DIGESTS]
        found += told[:1] or _fitting(_last(reader, session), of)
    return found


def _last(reader: Reader, session: str) -> list[Record]:
    """Return the last turn of each speaker."""
    last = reader.last_turn(session)
    if last is None:
        return []
    turns = [
        one
        for one in reader.turns(session, last - TURNS + 1, last)
        if one.status == "active" and not idle(one.content)
    ]
    by_role = {one.role: one for one in turns}
    return [one for one in turns if by_role[one.role] is one]


def _fitting(records: Iterable[Record], of: Of) -> list[Record]:
    return [record for record in records if of.fits(record)]
