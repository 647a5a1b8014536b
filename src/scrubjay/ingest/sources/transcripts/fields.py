"""Fields: values of a log's record, of which nothing is sure, as text and times.

A log is written by many versions of a program, by forks of it and by people who edit files. So a field that
has another type than it should is taken as not there, and never an error.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import blake2s
from typing import Any

from scrubjay.memory.dates import DAY, SECOND, micros

# No tool whose logs are read is older. What lies before is a clock that was never set: year 1, 1970.
_EARLIEST = micros(datetime(2000, 1, 1, tzinfo=UTC))
# Clocks of two machines differ by less; what lies further ahead was not said then.
_AHEAD = DAY
# Seconds of the year 5138, so that a larger number counts in thousandths; the same again for millionths.
_MOST_SECONDS = 1e11
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def string(value: object) -> str:
    """Return the value where it is text, else nothing.

    >>> string("main"), string(7), string(None)
    ('main', '', '')
    """
    return value if isinstance(value, str) else ""


def table(value: object) -> dict[str, Any]:
    """Return the value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def array(value: object) -> list[Any]:
    """Return the value where it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def said(parts: Iterable[str]) -> str:
    r"""Return the parts that hold words, joined by blank lines; nothing else of them changes.

    >>> said(["one\n", "  ", "    two"])
    'one\n\n    two'
    """
    return "\n\n".join(part.strip("\r\n").rstrip() for part in parts if part and not part.isspace())


def digest(*texts: str) -> str:
    """Return 16 hexadecimal characters that stand for the texts, to make the key of a turn without an id.

    >>> digest("user", "yes") == digest("user", "yes") != digest("use", "ryes")
    True
    """
    return blake2s("\0".join(texts).encode("utf-8", "replace"), digest_size=8).hexdigest()


def storable(text: str) -> str:
    r"""Return the text with U+FFFD for what no file and no database takes: NUL and half surrogate pairs.

    >>> storable("a\0b"), storable("whole")
    ('a\ufffdb', 'whole')
    """
    return _UNSTORABLE.sub("\ufffd", text)


def at(value: object) -> int | None:
    """Return UTC microseconds of ISO text or of seconds, milliseconds, micro- or nanoseconds since 1970.

    Text without a zone is UTC, so that a log means the same on every machine. None for what is no time, what
    lies before 2000 and what lies more than a day ahead.

    >>> at("2026-03-01T10:00:00.5Z") == at(1772359200.5) == at(1772359200500)
    True
    >>> at("0001-01-01T00:00:00Z"), at("2999-01-01"), at("soon"), at(True)
    (None, None, None, None)
    """
    found = _number(value) if isinstance(value, int | float) else _iso(string(value))
    if found is None or not _EARLIEST <= found <= time.time() * SECOND + _AHEAD:
        return None
    return found


def _iso(text: str) -> int | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return micros(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def _number(value: float) -> int | None:
    # Above the last power no time is left; NaN is in no range.
    if isinstance(value, bool) or not 0 < value < _MOST_SECONDS * 1_000_000_000:
        return None
    while value >= _MOST_SECONDS:
        value /= 1000
    return round(value * SECOND)
