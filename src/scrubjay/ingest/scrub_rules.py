"""Rules: a text -> the secrets that rules find, by form or by the name that they are assigned to.

By form (`scrub_patterns`, `scrub_cards`); in an assignment, a header or an address (`scrub_context`). A secret that a
rule has found is replaced wherever it occurs again (`scrub_again`).
"""

import re
from collections.abc import Iterator
from functools import cache

from scrubjay.ingest.scrub_again import repeated
from scrubjay.ingest.scrub_cards import cards, valid
from scrubjay.ingest.scrub_context import find
from scrubjay.ingest.scrub_patterns import SHAPES
from scrubjay.ingest.scrub_values import Span, filler, positions

# The shortest shape (an Alibaba key) has 16 characters.
LEAST_RUN = 16

_RUN = b"r" * LEAST_RUN
_RUN_CLASS = bytes(
    ord("r") if chr(byte) in "._-~" or (byte < 128 and chr(byte).isalnum()) else 32 for byte in range(256)
)
# Every random token has a capital or a digit; slugs, names and rulers of dashes mostly have none.
_TELLING = re.compile(rb"[A-Z0-9]")
_SEAM = re.compile(rb"[._-]++(?=[A-Za-z0-9])")
_ANY = re.compile(rb"|".join(b"(?:" + source + b")" for _, source in SHAPES))

# A key's id and its secret are told together: "AKIA… / …".
MOST_BETWEEN = 120
_MIXED = rb"(?<![\w+/-])(?=\S{0,39}[0-9])(?=\S{0,39}[a-z])(?=\S{0,39}[A-Z])"
_HALVES = {
    "aws-access-key": re.compile(_MIXED + rb"([A-Za-z0-9+/]{40})(?![\w+/=-])"),
    "alibaba-access-key": re.compile(_MIXED + rb"([A-Za-z0-9]{30})(?![\w+/=-])"),
    "twilio-key": re.compile(_MIXED + rb"([A-Za-z0-9]{32})(?![\w+/=-])"),
}

# The rest of a token, before the run of characters that tells it.
_LED_BY = {
    "asana-token": re.compile(rb"(?:\b[12]/)?[0-9]{16}(?:/[0-9]{16})?:\Z"),
    "telegram-token": re.compile(rb"(?<![0-9])[0-9]{8,10}:\Z"),
    "google-refresh-token": re.compile(rb"1//\Z"),
    "google-auth-code": re.compile(rb"4/\Z"),
}
MOST_LED = 40

_KEY_OPENS = re.compile(
    rb"-----BEGIN ((?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1)-----"
)
_KEY_TEXT = re.compile(rb"[A-Za-z0-9+/=]{16,}")
# The name of what every visitor of a page is given.
_OPEN_NAME = re.compile(
    rb"(?:public|publishable|anon|search[_-]?|pusher_(?:app_)?(?=key)|application_?server)(?:(?!secret|priv"
    rb"|pass|service)[\w-]){0,40}"
    rb"[\"'`]?\]?[ \t]{0,4}[:=][ \t]{0,4}[\"'`]?\Z"
)
_OPEN_KINDS = ("google-api-key", "jwt")
_FIREBASE = re.compile(rb"auth_?domain|firebase_?config|messaging_?sender|maps/api/js\?|<script src=")
_CHECKED = re.compile(rb"(?:checksum|integrity|digest|websocket-key)[\w./-]{0,40}[\"']?[:=][ \t]*[\"']?\Z")
_SEARCHED = re.compile(rb"docsearch|search[ _-]?only|instantsearch|litesearch")
# A template of a mail service; a sealed secret, which its cluster alone can open; what RFC 7617 prints.
_TEMPLATE = re.compile(rb"d-[0-9a-f]{32}(?![\w-])|Ag[A-D][A-Za-z0-9+/]{80}|QWxhZGRpbjpvcGVuIHNlc2FtZQ")
# A point of a curve, as pushes to browsers are signed with: the public half.
_POINT = re.compile(rb"B[A-P][\w-]{85}(?![\w-])")
NEAR = 300
HEX_KEY, POINT = 32, 87
_BLANK_LINE = re.compile(rb"\n[ \t>]*\r?\n")


def found(text: str, data: bytes, low: bytes) -> list[Span]:
    """What rules find, and where it stands again; in order."""
    ruled = sorted(span for span in _rules(data, low) if not public(data, low, span))
    return sorted([*ruled, *repeated(text, ruled)])


def public(data: bytes, low: bytes, span: Span) -> bool:
    """Whether it is meant to be seen by all: its name says so, or it is the key of a page that asks Firebase.

    A secret key's own form is believed, not its name: `NEXT_PUBLIC_OPENAI_API_KEY` is a mistake that people make.
    """
    if span.certain and span.kind not in _OPEN_KINDS:
        return False
    if _OPEN_NAME.search(low, max(0, span.start - 80), span.start) or _TEMPLATE.match(data, span.start):
        return True
    if _CHECKED.search(low, max(0, span.start - 60), span.start):
        return True
    if span.end - span.start == HEX_KEY and _SEARCHED.search(low, max(0, span.start - NEAR), span.end + NEAR):
        return True
    if span.end - span.start == POINT and _POINT.match(data, span.start):
        return True
    return data.startswith(b"AIza", span.start) and (
        _FIREBASE.search(low, max(0, span.start - NEAR), span.end + NEAR) is not None
    )


def _rules(data: bytes, low: bytes) -> Iterator[Span]:
    yield from _shapes(data)
    yield from find(data, low)
    yield from _private_keys(data, low)
    yield from cards(data)


def _shapes(data: bytes) -> Iterator[Span]:
    """Secrets told by form, in the runs of characters that are long enough to hold one."""
    classes = data.translate(_RUN_CLASS)
    start = classes.find(_RUN)
    last = 0
    while start >= 0:
        end = classes.find(b" ", start + LEAST_RUN)
        if end < 0:
            end = len(data)
        if _TELLING.search(data, start, end):
            taken = start
            for at in _openings(data, start, end):
                if at >= taken and (match := _ANY.match(data, at)) and (kind := _kind(data, at, match[0])):
                    taken = match.end()
                    yield Span(max(last, _led(data, at, kind)), taken, kind, True)
                    last = taken
                    yield from _other_half(data, taken, kind)
        start = classes.find(_RUN, end)


def _other_half(data: bytes, at: int, kind: str) -> Iterator[Span]:
    """The secret beside a key's id, which has no form of its own but its length."""
    if kind in _HALVES and (match := _HALVES[kind].search(data, at, at + MOST_BETWEEN)):
        yield Span(match.start(1), match.end(1), kind, False)


def _led(data: bytes, at: int, kind: str) -> int:
    """Where the token begins whose telling part stands at ``at``."""
    led = _LED_BY.get(kind)
    match = led.search(data, max(0, at - MOST_LED), at) if led else None
    return match.start() if match else at


def _openings(data: bytes, start: int, end: int) -> list[int]:
    """Where a secret may begin in a run: its start, behind an escape that runs into it, behind each seam."""
    before = data[start - 1 : start]
    escaped = [start + 1] if before == b"\\" else [start + 2] if before == b"%" else []
    return [start, *escaped, *[seam.end() for seam in _SEAM.finditer(data, start, end)]]


@cache
def _shape(source: bytes) -> re.Pattern[bytes]:
    return re.compile(source)  # when first asked for: most texts hold no secret, and all shapes take 10 ms


def _kind(data: bytes, at: int, found: bytes) -> str | None:
    kind = next(kind for kind, source in SHAPES if _shape(source).match(data, at))
    if filler(found) or (kind == "credit-card" and not valid(found)):
        return None
    return kind


def _private_keys(data: bytes, low: bytes) -> Iterator[Span]:
    """PEM and PGP private keys, and the beginning of one that was cut off."""
    closers: dict[bytes, int] = {}
    done = 0
    for at in positions(low, b"-----begin "):
        match = _KEY_OPENS.match(data, at) if at >= done else None
        if match is None:
            continue
        closer = b"-----END " + match[1] + b"-----"
        # Looked up once and kept while it lies ahead: many openings must not each search the whole text.
        if closers.get(closer, -1) < match.end() and closers.get(closer) != len(data):
            found = data.find(closer, match.end())
            closers[closer] = len(data) if found < 0 else found
        body = data[match.end() : closers[closer]] if closers[closer] < len(data) else b""
        if body and _is_key(body):
            done = closers[closer] + len(closer)
        else:
            blank = _BLANK_LINE.search(data, match.end())
            done = blank.start() if blank else len(data)
            if not _is_key(data[match.end() : done]):
                continue
        yield Span(at, done, "pgp-private-key" if b"PGP" in match[1] else "private-key", True)


def _is_key(body: bytes) -> bool:
    """Whether most of it is key material, and not talk between two mentions of a header."""
    solid = sum(len(part) for part in _KEY_TEXT.findall(body))
    return solid > 0 and 2 * solid >= len(body) - sum(
        body.count(byte) for byte in (b" ", b"\n", b"\r", b"\\n")
    )
