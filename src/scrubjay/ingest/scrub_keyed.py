"""Keyed: keys drawn by lot behind names that elsewhere hold none: of wallets, of encrypted records, in headers.

A number of 64 digits is as often a digest, a primary key mostly one of a table: what stands around them has to say
more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scrubjay.ingest.scrub_values import Places, Span, drawn, filler, stands_for_nothing

# The private key of a wallet: 64 digits, which as often are a digest; so what is before them has to say it.
_WALLET_KEY: Final = re.compile(
    rb"(?:accounts[\"']?[ ]?[:=][ ]?\[[ \n]{0,12}(?:[\"'](?:0x)?[0-9a-f]{64}[\"'],[ \n]{0,12}){0,4}"
    rb"|from_?key\([ ]?|privatekey\w{0,20}\([ ]?"
    rb"|\b\w{0,24}(?:_pk|(?<![a-z0-9])pk|priv(?:ate)?_?key|deployer|mnemonic)[\"']?[ ]?[:=]"
    rb"[ ]?)[\"']?(?P<value>(?:0x)?[0-9a-f]{64})(?![0-9a-f])"
)
_WALLET_MARKS: Final = (
    b"accounts", b"key(", b"_pk", b"pk:", b"pk =", b"pk=", b"privkey", b"private_key", b"deployer",
)  # fmt: skip
_RECORDS: Final = re.compile(
    rb"(?:primary_key|deterministic_key|key_derivation_salt|encryption_salt|hash_salt|secret_salt)[\"']?"
    rb"[ ]?[:=][ ]?[\"']?(?P<value>[A-Za-z0-9+/=_-]{20,128})"
)
_MASTER: Final = re.compile(
    rb"(?:master|credentials(?:/\w{1,20})?)\.key[\"'`]?[):]?[ \t]{0,4}(?:\r?\n|:|=)"
    rb"[ \t`>]{0,4}(?P<value>[0-9a-f]{32})(?![0-9a-f])"
)
_MASTERS: Final = (b"master", b"credentials", b"production", b"staging")
_HEADED: Final = re.compile(
    rb"(?:proxy_set_header|add_header|requestheader set|header set)[ \t]{1,4}[\w-]{0,24}(?:auth|token|key"
    rb"|secret)[\w-]{0,12}[ \t]{1,4}[\"']?(?P<value>[\w+/=.-]{16,256})"
)


def keyed(data: bytes, low: bytes, places: Places) -> Iterator[Span]:
    """The keys behind such names.

    Args:
        data: The text in Latin-1, one byte a character (others as ``?``).
        low: ``data`` in lower case.
        places: Where what stands in ``low``.
    """
    for mark in places.present(_WALLET_MARKS):
        for at in places(mark):
            match = _WALLET_KEY.search(low, max(0, at - 32), at + 160)
            if match and not filler(match["value"]):
                yield Span(match.start("value"), match.end("value"), "private-key", False)
    for expression, at in _behind(low, places):
        match = expression.search(low, max(0, at - 24), at + 200)
        if match and match.start() <= at:
            value = data[match.start("value") : match.end("value")]
            if drawn(value) and not stands_for_nothing(value):
                yield Span(match.start("value"), match.end("value"), "secret", False)


def _behind(low: bytes, places: Places) -> Iterator[tuple[re.Pattern[bytes], int]]:
    """Where such names may stand, with what to look for there."""
    if places(b"encrypt"):
        for at in (*places(b"_key"), *places(b"_salt")):
            if b"encrypt" in low[max(0, at - 300) : at]:
                yield _RECORDS, at
    for at in places(b".key"):
        if low.endswith(_MASTERS, 0, at):
            yield _MASTER, at
    for at in (*places(b"_header"), *places(b"header set")):
        yield _HEADED, at
