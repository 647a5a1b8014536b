"""Parameters: ``?key=…``, ``&code=…``, ``&Signature=…`` of an address -> what stands behind them, drawn by lot.

An ``appid`` is a name everywhere but at services of weather, where it is 32 digits.
"""

import re

from scrubjay.ingest.scrub_values import Span, drawn, stands_for_nothing

# Of an address' parameters only: "?key=…", "&Signature=…".
PARAMETERS = (
    b"signature",
    b"key",
    b"code",
    b"auth",
    b"ticket",
    b"appid",
    b"wskey",
    b"sas",
    b"otp",
)
_OF_ADDRESS = re.compile(rb"[?&](?:x-(?:amz|goog|oss|cos)-)?(?:" + b"|".join(PARAMETERS) + rb")\Z")
_ARGUMENT = re.compile(rb"((?:[\w.~/+=-]|%[0-9A-Fa-f]{2}){20,2048})")
_UUID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_HEX = re.compile(rb"[0-9a-f]{32}\Z")


def argument(data: bytes, at: int, left: bytes) -> Span | None:
    """What an address has behind such a name, if it looks drawn by lot.

    Args:
        data: The text in Latin-1.
        at: Where the sign stands.
        left: What stands before it, in lower case.
    """
    if data[at : at + 1] != b"=" or not _OF_ADDRESS.search(left):
        return None
    match = _ARGUMENT.match(data, at + 1)
    if match is None or not drawn(match[1]) or stands_for_nothing(match[1]) or _UUID.fullmatch(match[1]):
        return None
    if left.endswith(b"appid") and not _HEX.match(match[1]):
        return None  # an id, but for weather
    return Span(match.start(1), match.end(1), "url-signature", False)
