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
    records = places(b"encrypt") != ()
    for mark, expression in (
        (b"_key", _RECORDS),
        (b"_salt", _RECORDS),
        (b".key", _MASTER),
        (b"_header", _HEADED),
        (b"header set", _HEADED),
    ):
        for at in places(mark) if records or expression is not _RECORDS else ():
            if expression is _MASTER and not low.endswith(
                (b"master", b"credentials", b"production", b"staging"), 0, at
            ):
                continue
            match = expression.search(low, max(0, at - 24), at + 200)
            if (
                match
                and match.start() <= at
                and (expression is not _RECORDS or b"encrypt" in low[max(0, at - 300) : at])
            ):
                value = data[match.start("value") : match.end("value")]
                if drawn(value) and not stands_for_nothing(value):
                    yield Span(match.start("value"), match.end("value"), "secret", False)
