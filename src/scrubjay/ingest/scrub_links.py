"""Links: addresses that let whoever knows them act or read: hooks, private calendars, nodes, letters of reset.

No host is asked for where the path says what the address is for: a part like ``hooks`` or ``private-``, and behind it
one that is drawn by lot. The id of a document, a commit or a user opens nothing and stands behind other parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scrubjay.ingest.scrub_values import Places, Span, drawn, filler

LONGEST: Final = 300
"""Characters of an address that are looked at."""

_TOKEN: Final = rb"/(?P<token>[A-Za-z0-9_~-]{16,256}={0,2})"
_PARTS: Final[tuple[tuple[bytes, re.Pattern[bytes]], ...]] = (
    (
        b"hook",
        re.compile(
            rb"hooks?(?:[._-][a-z.]{2,24}|test)?(?:/(?:v[0-9]|catch|incoming|in|web|custom|[0-9]{1,12}))?"
            + _TOKEN
        ),
    ),
    (b"/push/", re.compile(rb"/push" + _TOKEN)),
    (b"hc-ping.com/", re.compile(rb"hc-ping\.com" + _TOKEN)),
    (b"/private-", re.compile(_TOKEN.replace(b"/", b"/private-", 1))),
    (
        b"/calendar/",
        re.compile(rb"/calendar/(?:published|private|feed|ical)(?:/[\w@.%-]{1,80})?" + _TOKEN),
    ),
    (b"/reset", re.compile(rb"/reset(?:[-_]password|[-_]pw)?(?:/[\w=-]{1,20})?(?:/confirm)?" + _TOKEN)),
    (b"/magic", re.compile(rb"/magic(?:[-_]?link)?s?" + _TOKEN)),
    (b"alchemy.com/", re.compile(rb"alchemy\.com/v[0-9]" + _TOKEN)),
    (b"infura.io/", re.compile(rb"infura\.io/v[0-9]" + _TOKEN)),
    (b"quiknode.pro/", re.compile(rb"quiknode\.pro" + _TOKEN)),
    # A short one is enough where the address starts something.
    (b"/deploy/", re.compile(rb"/deploy/[\w-]{4,40}\?key=(?P<token>[\w-]{8,64})")),
)
_ADDRESS: Final = re.compile(rb"[^\s\"'<>]{1,300}")


def links(data: bytes, places: Places) -> Iterator[Span]:
    """The parts of addresses that open something.

    Args:
        data: The text in Latin-1, one byte a character.
        places: Where what stands in it, in lower case.
    """
    for at in places(b"://"):
        address = _ADDRESS.match(data, at + 3)
        if address is None:
            continue
        for mark, expression in _PARTS:
            if mark in address[0] and (match := expression.search(data, at, address.end())):
                token = match["token"]
                if mark == b"/deploy/" or (drawn(token) and not filler(token)):
                    yield Span(match.start("token"), match.end("token"), "url-token", False)
