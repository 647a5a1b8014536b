"""Links: addresses that let whoever knows them act or read: hooks, private calendars, nodes, letters of reset.

No host is asked for where the path says what the address is for: a part like ``hooks`` or ``private-``, and behind it
one that is drawn by lot. The id of a document, a commit or a user opens nothing and stands behind other parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scrubjay.ingest.scrub_values import Places, Span, drawn, filler

LONGEST: Final = 500
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
    (b"/calendars/", re.compile(rb"/calendars?/[\w-]{0,40}" + _TOKEN + rb"(?:[\w/.-]{0,60}\.ics)")),
    (
        b"/messages?",
        re.compile(
            rb"chat\.googleapis\.com/v1/spaces/[\w-]{4,40}/messages\?[^\s\"'<>]{0,120}token=(?P<token>[\w%-]"
            rb"{16,128})"
        ),
    ),
    (
        b"sig=",
        re.compile(
            rb"(?:logic\.azure|powerplatform|powerautomate|azure-apim|webhook\.office)\.(?:com"
            rb"|net)(?::[0-9]{2,5})?/[^\s\"'<>]{8,240}[?&]sig=(?P<token>[\w%-]{16,128})"
        ),
    ),
    (b"webhook", re.compile(rb"/webhooks?/(?:incoming/|v[0-9]/)?[\w-]{4,80}/(?P<token>[\w-]{20,128})")),
    # A letter that lets somebody in: there even a short name holds the token.
    (
        b"t=",
        re.compile(
            rb"(?:magic|sign-?in|log-?in|verify|reset|confirm|invite|sso|passwordless)[\w/.-]{0,40}\?"
            rb"(?:[\w.-]{1,24}=[^\s&]{0,80}&){0,4}t=(?P<token>[\w.~-]{16,256})"
        ),
    ),
    # A short one is enough where the address starts something.
    (b"/deploy/", re.compile(rb"/deploy/[\w-]{4,40}\?key=(?P<token>[\w-]{8,64})")),
)
_WHOLE: Final = frozenset((b"hook", b"/private-", b"/messages?", b"sig=", b"webhook"))
_AROUND: Final = b".,;:!?)]}*`"
_SCHEME: Final = re.compile(rb"(?<![A-Za-z])[A-Za-z]{2,8}\Z")
_ADDRESS: Final = re.compile(rb"[^\s\"'<>]{1,%d}" % LONGEST)


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
                    # Who knows the address may post or read: all of it goes.
                    start = _start(data, at) if mark in _WHOLE else match.start("token")
                    end = (
                        address.end() - len(address[0]) + len(address[0].rstrip(_AROUND))
                        if mark in _WHOLE
                        else match.end("token")
                    )
                    yield Span(start, max(end, match.end("token")), "url-token", False)


def _start(data: bytes, at: int) -> int:
    scheme = _SCHEME.search(data, max(0, at - 12), at)
    return scheme.start() if scheme else at
