"""Devices: the places of secrets in what routers, switches and radios are set up with.

``snmp-server community …``, ``username … password 0 …``, ``tacacs-server key …``, ``pre-shared-key …``: lines without a
sign, in which a word before the last one says what that is. The text of a Wi-Fi's QR code and keys that are written as
lists of numbers are here, too. Digests (types 5, 8 and 9) open nothing by themselves; type 7 can be read by everybody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scrubjay.ingest.scrub_values import Places, Span, positions, stands_for_nothing

MOST_HEAD: Final = 20_000
"""Characters of a text in which a device's settings begin."""

_VALUE: Final = rb"[\"']?(?P<value>[^\s\"';,<>{}\[\]()]{4,128})[\"']?"
_COMMUNITY: Final = re.compile(
    rb"(?:(?<=snmp-server )|(?<=snmp )|(?<=snmp-agent )|(?<=\bro)|(?<=\brw)|(?<=snmp v2c )|(?<=snmp v1 ))"
    rb"community(?:-string|-name)?[ \t]{1,4}(?:read |write |ro |rw |cipher |simple |[078] )?" + _VALUE
)
# Before "password" or "secret": the beginning of the line, or a command that ends in one.
_LEAD: Final = re.compile(
    rb"(?:^|\n)[ \t]*(?:set |no )?(?:(?:enable|ppp (?:chap|pap)|username|user|neighbor|radius|tacacs|login"
    rb"|authentication"
    rb"|local-user|admin|system|root|ip ftp|ip http client|vtp|server|area|standby|vrrp|snmp-server"
    rb" user)\b[^\n]{0,100}?[ \t])?\Z"
)
_SECRET: Final = re.compile(
    rb"(?:password|secret)[ \t]{1,4}(?:(?:0|7|level [0-9]{1,2}|cipher|simple|irreversible-cipher"
    rb"|plain-text-value|clear)[ \t]{1,4})?"
    rb"(?![\[{$<*]|[0-9][ \t])"
    + _VALUE
    + rb"(?=[ \t]*(?:[\r\n;]|\Z)|[ \t]{1,4}(?:privilege|role|level|encryption|service|group|profile)\b)"
)
# A stanza of a device: a line with "!" alone, or one that begins as such lines do.
_STANZA: Final = re.compile(
    rb"(?:^|\n)(?:!|interface \w|line (?:vty|con|aux)|hostname \w|enable (?:secret|password)|username \w|set"
    rb" (?:system|snmp|interfaces)"
    rb"|snmp-server |ppp |radius-server|tacacs-server|router \w|vlan [0-9]|aaa )",
)
_KEY: Final = re.compile(
    rb"(?:(?:tacacs|radius)(?:-server)?(?: host \S{1,60})?(?: [^\n]{0,60})? key|crypto isakmp key|key-string"
    rb"|md5|authentication-key"
    rb"(?: [0-9]{1,5} md5)?|pre-?shared-key(?:[ \t](?:local|remote|ascii-text|address \S{1,40} key))?"
    rb"|wpa-psk (?:ascii|hex)|psk-key"
    rb"|wpa-passphrase|shared-secret)[ \t]{1,4}(?:(?:0|7|ascii-text|hexadecimal|ascii)[ \t]{1,4})?" + _VALUE
)
_KEYS: Final = (
    b"tacacs",
    b"radius",
    b"isakmp key",
    b"key-string",
    b"pre-shared-key",
    b"wpa-psk",
    b"wpa-passphrase",
)
_MD5: Final = re.compile(
    rb"(?:message-digest-key [0-9]{1,3} |authentication-key [0-9]{1,5} )md5[ \t]{1,4}(?:7[ \t]{1,4})?"
    + _VALUE
)
_ASSIGNED: Final = re.compile(rb"[ \t]*[=:]")
_NOTHING: Final = frozenset(
    b"public private ro rw read write string name none prompt encryption authentication required hash aging"
    b" lifetime chain "
    b"group default local radius tacacs tacacs+ min-length complexity minimum version timeout host".split()
)
_QR: Final = re.compile(rb"WIFI:(?:[STHR]:(?:\\.|[^;\\\n]){0,64};){0,4}P:(?P<value>(?:\\.|[^;\\\n]){4,128});")
# ipsec.secrets
_TUNNEL: Final = re.compile(rb": (?:PSK|EAP|XAUTH)[ \t]{1,4}\"(?P<value>[^\"\n]{4,128})\"")
_SNMP: Final = re.compile(rb"[ \t]-[AX][ \t]{1,4}" + _VALUE)
_NUMBERS: Final = re.compile(
    rb"(?:key|id\.json|keypair|secret|priv\w{0,8}|wallet)[^\n\[]{0,40}(?:\n[^\n\[]{0,40})?"
    rb"(?P<value>\[[ \t\n]{0,8}(?:0x[0-9a-f]{1,2}|[0-9]{1,3})(?:,[ \t\n]{0,8}(?:0x[0-9a-f]{1,2}"
    rb"|[0-9]{1,3})){14,63}[ \t\n]{0,8}\])"
)


def configured(data: bytes, low: bytes, places: Places) -> Iterator[Span]:
    """The secrets of devices.

    Args:
        data: The text in Latin-1, one byte a character (others as ``?``).
        low: ``data`` in lower case.
        places: Where what stands in ``low``.
    """
    for at in places(b"community"):
        if match := _COMMUNITY.match(low, at):
            yield from _found(data, match)
    yield from _lines(data, low, places)
    yield from _keys(data, low, places)
    if places(b"wifi:"):
        for at in positions(data, b"WIFI:"):
            if match := _QR.match(data, at):
                yield from _found(data, match)
    for at in (*places(b": psk "), *places(b": eap "), *places(b": xauth ")):
        if match := _TUNNEL.match(data, at):
            yield from _found(data, match)
    for at in places(b"snmp"):
        end = low.find(b"\n", at, at + 300)
        for match in _SNMP.finditer(data, at, end if end >= 0 else at + 300):
            yield from _found(data, match)
    yield from _numbered(low, places)


def _lines(data: bytes, low: bytes, places: Places) -> Iterator[Span]:
    """Lines that end in "password" or "secret" and a value, where a device is set up."""
    if not _STANZA.search(low, 0, MOST_HEAD):
        return
    for word in (b"password", b"secret"):
        for at in places(word):
            start = max(0, low.rfind(b"\n", max(0, at - 160), at), at - 160)
            if _LEAD.search(low, start, at) and (match := _SECRET.match(low, at)):
                yield from _found(data, match)


def _keys(data: bytes, low: bytes, places: Places) -> Iterator[Span]:
    """The keys that devices share with others."""
    for mark in places.present(_KEYS):
        for at in places(mark):
            match = _KEY.match(low, at - (7 if mark == b"isakmp key" else 0))
            if match and not _ASSIGNED.match(low, match.start("value") - 2):
                yield from _found(data, match)
    for at in places(b"-key "):
        if match := _MD5.match(low, at - 14) or _MD5.match(low, at - 18):
            yield from _found(data, match)


def _numbered(low: bytes, places: Places) -> Iterator[Span]:
    """Keys that are written as lists of numbers, of 16 to 64 bytes."""
    for mark in (b"key", b"id.json", b"keypair", b"secret"):
        for at in places(mark):
            opened = low.find(b"[", at, at + 90)
            if (
                opened >= 0
                and low[opened + 1 : opened + 2] in b"0123456789 \n"
                and (match := _NUMBERS.match(low, at))
            ):
                yield Span(match.start("value"), match.end("value"), "private-key", False)


def _found(data: bytes, match: re.Match[bytes]) -> Iterator[Span]:
    value = data[match.start("value") : match.end("value")]
    if value.lower() not in _NOTHING and not stands_for_nothing(value) and not value.startswith((b"$", b"*")):
        yield Span(match.start("value"), match.end("value"), "password", False)
