"""Seeds: the words of a wallet, where nothing calls them a phrase: below "wallet backup", behind "metamask: …".

Twelve to twenty-four small words of three to eight letters none of which binds a sentence, in a row, numbered, or two
or three a line. `scrub_phrases` finds those that are called a seed or a phrase; here a wallet's name stands before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scrubjay.ingest.scrub_values import Places, Span
from scrubjay.ingest.scrub_words import binds

REACH: Final = 160
"""Characters behind the name of a wallet in which its words begin."""
LONGEST: Final = 400
COUNTS: Final = (12, 15, 18, 21, 24, 25)
TWICE: Final = 2

_NAMES: Final = (
    b"wallet", b"ledger", b"trezor", b"metamask", b"bitbox", b"electrum", b"phantom", b"exodus", b"keystone",
    b"coldcard", b"bip39", b"bip 39", b"bip-39", b"monero", b"bitcoin", b"recovery", b"w\xf6rter", b"words",
    b"mnemon",
)  # fmt: skip
_COUNTED: Final = (
    b"12 ",
    b"24 ",
    b"12-",
    b"24-",
    b"recovery ",
    b"seed ",
    b"backup ",
    b"secret ",
    b"twelve ",
    b"four ",
)
_ABROAD: Final = (
    "кошел",
    "фраз",
    "助记词",
    "助記詞",
    "시드",
    "니모닉",
    "シード",
    "cüzdan",
    "кошелёк",
    "frază",
    "peněženk",
    "portfel",
    "wörter",
)
_ONE: Final = rb"(?:[0-9]{1,2}[.):]?[ \t]{0,3})?[a-z]{3,8}"
_RUN: Final = re.compile(
    rb"(?<![a-z0-9'-])"
    + _ONE
    + rb"(?:[ \t,]{1,8}\n?[ \t]{0,4}"
    + _ONE
    + rb"|[ \t]?\r?\n[ \t]{0,4}"
    + _ONE
    + rb"){11,24}(?![a-z0-9'-])"
    + rb"(?![ \t,]{1,8}[a-z]{2,})"
)
_LISTED: Final = re.compile(rb"(?:\A|\n)[a-z]+\r?\n[a-z]+\Z")
_GOES_ON: Final = re.compile(rb"[ \t,]?\r?\n[ \t]{0,4}" + _ONE + rb"[ \t]*(?:\r?\n|\Z)")
_LONE: Final = re.compile(rb"[a-z]+")


def seeds(text: str, low: bytes, places: Places) -> Iterator[Span]:
    """The words of wallets.

    Args:
        text: The text.
        low: It in Latin-1 and lower case, one byte a character.
        places: Where what stands in ``low``.
    """
    done = 0
    for at in sorted(_named(text, low, places)):
        if at < done:
            continue
        match = _RUN.search(low, at, min(len(low), at + REACH + LONGEST))
        done = at + REACH
        if match is None or match.start() > at + REACH:
            continue
        if match.start() > at and low[at : match.start()].rstrip(b" \t")[-1:].isalpha():
            continue  # the rest of a longer row
        if b"\n" in match[0].strip() and _GOES_ON.match(low, match.end()):
            continue
        if _LISTED.search(low, max(0, at - 48), at):
            continue  # a list of words, of which this is one
        words = _LONE.findall(match[0])
        if (
            len(words) in COUNTS
            and len(set(words)) >= len(words) - TWICE
            and not any(binds(word.decode()) for word in words)
        ):
            done = match.end()
            yield Span(match.start(), match.end(), "seed-phrase", False)


def _named(text: str, low: bytes, places: Places) -> Iterator[int]:
    for mark in places.present(_NAMES):
        for at in places(mark):
            if mark != b"words" or low.endswith(_COUNTED, 0, at):
                yield at + len(mark)
    for word, at in places.abroad(text, _ABROAD):
        yield at + len(word)
