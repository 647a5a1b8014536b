"""Lately: what the log tells of the last day that went wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from scrubjay.doctor import logged
from scrubjay.doctor.case import Case
from scrubjay.memory.checks import Check, ok, warning
from scrubjay.memory.dates import moment, now_micros

DAY: Final = 86_400_000_000
"""Microseconds."""
MANY: Final = 100
"""Errors that are counted: more say no more."""


def check(case: Case) -> Iterator[Check]:
    """Yield how many errors the log tells of, by what they were."""
    since = moment(now_micros() - DAY).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    found = logged.last(case.home.data, "error", MANY, since)
    if not found:
        yield ok("log", "no error within a day")
        return
    kinds = Counter(f"{entry.get('event')} {entry.get('error', '')}".strip() for entry in found)
    told = ", ".join(f"{name} ({count})" for name, count in kinds.most_common(3))
    yield warning(
        "log", f"errors within a day: {told}; the last at {found[0]['time'][:16]}Z", "scrubjay status"
    )
