"""Things: a device, a network or a service that a line or a heading names, and a token beside it -> the token.

"Router (192.168.1.1): …", below "Wi-Fi" "Upstairs: Heron_Up, …", an address of mail alone on its line and below it a
token alone on its own. No word says "password"; what stands there is no word, no model, no version and no host.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scrubjay.ingest.scrub_cues import Candidate
from scrubjay.ingest.scrub_values import Places

_MARKS: Final = (
    b"wi-fi", b"wifi", b"wlan", b"router", b"netflix", b"disney", b"spotify", b"minecraft", b"icloud", b"bios",
    b"proxmox", b"nextcloud", b"laptop", b"tablet", b"moodle", b"roblox", b"cctv", b"hetzner", b"github",
)  # fmt: skip
_VALUE: Final = r"[\"'`„“«*]{0,2}(?P<value>[^\s\"'`“”»,;<>()\[\]{}|\\=:/]{6,40})"
_STOP: Final = r"(?=[\"'`“”»*]{0,2}(?:[.,;!]?[ \t]*(?:\r?\n|\Z)|[.,;][ ]|[ ](?:\(|[–—-][ ])))"
# "Router: …", "Netflix – …", "laptop bios: …", "Upstairs: Heron_Up, …"
_LINE: Final = re.compile(
    r"[ \t>]*(?:[-*•][ \t]+|[0-9]{1,2}[.)][ \t]+)?[*_]{0,2}(?P<name>[^\n:=→|,;?]{2,48}?)[*_]{0,2}["
    r" ]?(?:[:=→]|[–—-][ ]|->|👉)[*_]{0,2}[ ]{0,2}"
    r"(?:(?P<first>[^\n,;:/|]{1,40}?)(?:,|;| /)[ ])?" + _VALUE + _STOP
)
_NOUN: Final = re.compile(rf"\b(?:{b'|'.join(_MARKS).decode()})\b", re.IGNORECASE)
# What people make up: a word and a number, words that signs join and capitals begin, a sign among letters, a mixture.
_MADE: Final = re.compile(
    r"(?=[^a-z]*[a-z][^a-z]*[a-z])(?:[A-Za-z]{5,}[-_.!#]?[0-9]{1,4}!?"
    r"|[A-Z][a-z]+(?:[-_.+&!][A-Z]?[a-z]+)+[-_.!]?[0-9]{0,4}!?"
    r"|[A-Za-z]+[!#$%&+@^~][A-Za-z0-9]\S{2,}|(?=\S*[a-z])(?=\S*[A-Z])(?=\S*[0-9])[A-Za-z0-9_-]{8,24}"
    r"|(?=\S*[0-9])[a-z0-9]{2,8}[-_][A-Za-z0-9]{4,8})\Z"
)
_MODEL: Final = re.compile(
    r"thinkpad|think|iphone|ipad|macbook|imac|galaxy|pixel|synology|qnap|fritz|speedport|windows|win[0-9]"
    r"|ubuntu|debian|android|ios[0-9]|firefox"
    r"|chrome|intel|core|ryzen|raspberry|nokia|canon|epson|brother|pixma|laserjet|officejet|deskjet|dell"
    r"|lenovo|asus|optiplex|latitude|inspiron"
    r"|elitebook|surface|xps|version|release|build|wrt|unifi|eero|tp-?link|netgear|linksys|zyxel|mikrotik"
    r"|archer|deco|playstation|xbox|switch"
    r"|v[0-9]|rev|premium|family|standard|basic|plan|mbit|ghz|bit|floor|room|port|server|node|host|lan|wan"
    r"|vlan|eth|usb|hdmi|sept|octo|nov|dec|jan|feb"
    r"|march|april|may|june|july|aug|level|chapter|section|step|day|week|room|gate",
    re.IGNORECASE,
)
_NETS: Final = re.compile(r"wi-?fi|wlan|hotspot", re.IGNORECASE)
_BAND: Final = re.compile(r"[25](?:[.]4)?_?(?:g|ghz)\Z|guest|gast|invit", re.IGNORECASE)
_SPEAKS: Final = re.compile(
    r"rede\b|rete\b|\bred\b|réseau|netz|nät|ssid|network|serial|model|name|version|host|firmware|mac"
    r"\b|\bip\b|id\b|number|typ[e]?|plan|date|since",
    re.IGNORECASE,
)
_ALONE: Final = re.compile(
    r"(?P<host>[\w-]{1,60}(?:\.[\w-]{1,60}){0,3}\.[a-z]{2,12})[ \t]*\r?\n["
    r" \t>-]{0,4}(?P<value>[^\s\"'`,;<>()\[\]{}|\\=:/@]{6,40})[ \t]*(?:\r?\n|\Z)"
)
_MAIL: Final = re.compile(r"(?:^|\n)[ \t>*-]{0,6}(?:[A-Za-z][\w -]{0,16}:[ ]?)?[\w.+-]{1,64}@\Z")


def things(text: str, low: bytes, places: Places) -> Iterator[Candidate]:
    """The tokens beside things that have a password.

    Args:
        text: The text.
        low: It in Latin-1 and lower case, one byte a character.
        places: Where what stands in ``low``.
    """
    done = -1
    for at in sorted(at for mark in places.present(_MARKS) for at in places(mark)):
        start = text.rfind("\n", max(0, at - 48), at) + 1
        end = text.find("\n", at, at + 96)
        if start <= done or (start == 0 and at > 48) or (end < 0 and at + 96 < len(text)):
            continue  # in the midst of a paragraph
        done = start
        end = end if end >= 0 else len(text)
        if match := _LINE.match(text, start, end):
            if _NOUN.search(match["name"]):
                yield from _beside(text, match)
        elif end < len(text) and _heads(text, start, end):
            yield from _below(text, end + 1)
    for at in places(b"@"):
        match = _ALONE.match(text, at + 1)
        if match and _MADE.match(match["value"]) and _MAIL.search(text, max(0, at - 90), at + 1):
            yield _candidate(match.start("value"), match["value"], "mail", "")


def _heads(text: str, start: int, end: int) -> bool:
    """Whether a line is a heading: short, and without a sentence."""
    line = text[start:end].strip(" \t\r#*_:")
    return 2 < len(line) <= 32 and not re.search(r"[.,;?!()=]", line)


def _below(text: str, here: int) -> Iterator[Candidate]:
    """What the lines below a heading have, behind a name and a comma."""
    for _ in range(6):
        end = text.find("\n", here, here + 120)
        end = end if end >= 0 else min(len(text), here + 120)
        if not text[here:end].strip() or text.startswith("#", here):
            return
        match = _LINE.match(text, here, end)
        if match and match["first"]:
            yield from _beside(text, match)
        here = end + 1


def _beside(text: str, match: re.Match[str]) -> Iterator[Candidate]:
    value = match["value"].rstrip(".!?*_") if not match["value"].endswith("!") else match["value"]
    net = _NETS.search(match["name"]) is not None and not match["first"] and value[0].isupper()
    if net or _SPEAKS.search(match["first"] or "") or _BAND.search(value):
        return  # what the network is called
    if _MADE.match(value) and not _MODEL.match(value) and not _SPEAKS.search(match["name"]):
        yield _candidate(match.start("value"), value, "entry", match["name"])


def _candidate(start: int, value: str, place: str, lead: str) -> Candidate:
    return Candidate(start, start + len(value), "login", True, place, ":", lead, value, False, "", "login")
