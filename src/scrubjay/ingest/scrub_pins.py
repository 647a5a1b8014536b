"""Pins: the numbers that somebody types to pay or to unlock: "PIN 4471", "暗証番号は…", the others of that sentence.

The code of a gate or a safe is none: people tell it to be reminded of it. A pin that holds or that current flows
through is followed by no number of four digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scrubjay.ingest.scrub_values import Places, Span

MOST: Final = 4
"""Numbers told in one sentence."""

_NUMBER: Final = (
    r"[ \t]{0,4}[\"'`*「]{0,3}(?P<number>[0-9]{4,8})"
    r"(?![0-9]|[.,:/-][0-9]|[ \t]?(?:mm|cm|ms|px|kb|mb|%|°|V\b))"
)
_IS: Final = (
    r"(?:\b(?:is|are|was|to|ist|war|auf|lautet|est|es|era|er|är|on|é|è|je|jest)\b:?|[:=>：—–]|c'est|\bc(?= )"
    r"|[は是为為])"
)
_WORD: Final = re.compile(
    r"(?<![a-z0-9_.])p(?:in|uk)(?:[ -]?(?:codes?|number|nummer|kode?))?(?![a-z0-9_.-])", re.IGNORECASE
)
# "PIN 61 80 27", "PIN: 7 3 1 9"; and one that has letters, as banks allow it, where a verb or a sign leads to it.
_SPACED: Final = re.compile(
    r"(?:[^\n.!?;:=,0-9\[\]]{0,24}?"
    + _IS
    + r")?[ \t]{1,3}(?P<number>[0-9]{2}(?: [0-9]{2}){1,3}|[0-9](?:[ -][0-9]){3,5})(?![0-9 ]*[0-9])",
    re.IGNORECASE,
)
_LETTERED: Final = re.compile(
    r"[^\n.!?;:=,\[\]]{0,40}?(?:[:=]|\b(?:is|ist|lautet|est|es|è|é)\b)["
    r" \t]{1,2}(?P<number>[A-Z]?[a-z]{3,12}[0-9]{2,4})(?=[,;.!)]|\s|\Z)"
)
# What a number that lets somebody in is called elsewhere; of "code" and "clave" only with what they open.
_ELSEWHERE: Final = re.compile(
    r"tunnuslu(?:ku|vut?)|geheimzahl|geheimnummer|code (?:secret|confidentiel)|clave (?:de acceso"
    r"|num[ée]rica|secreta|del cajero)"
    r"|(?:carte|card|tarjeta|kart[eyiaęu]?|kaart|kort(?:et)?|cart[ãa]o|girocard|visa|mastercard"
    r"|bancomat)\b[^\n.;:0-9]{0,24}?[ ,](?:code|kod|kode|código|codice|clave|şifre\w{0,3})"
    r"|c[oó]d(?:e|igo|ice) (?:de la|della|do|du|de|der|d'une) ?(?:carte|tarjeta|carta|cart[ãa]o|bancomat)"
    r"|kod (?:do|k|od) (?:karty|kartě|bankomatu)"
    r"|codice (?:dispositivo|segreto)|código secreto|kartencode|kortkode|personlig kode|kode pin|mã pin"
    r"|şifremi?\b(?=[^\n.]{0,24}\bbanka)"
    r"|kart\w{1,6} şifresi",
    re.IGNORECASE,
)
_ELSEWHERE_MARKS: Final = (b"tunnuslu", b"geheim", b"code", b"clave", b"kod", b"digo", b"codice", b"kart")
_FOUR: Final = re.compile(rb"[0-9]{4}")
_THEN: Final = re.compile(r"(?:[^\n.!?;:=,0-9\[\]]{0,24}?" + _IS + r")?" + _NUMBER, re.IGNORECASE)
_SAID: Final = re.compile(r"[^\n.!?;:=0-9\[\]]{0,48}?" + _IS + _NUMBER, re.IGNORECASE)
# "PIN 4471", "the PIN for the tablet 4471"; not "we pin it at 1500".
_BARE: Final = re.compile(r"[ \t(]{1,2}" + _NUMBER)
# "what's the PIN of the card?", and in the next turn the number.
_ANSWERED: Final = re.compile(
    r"[^\n.!0-9]{0,48}[?？][^\n]{0,4}\r?\n[^\n:：]{1,24}[:：]" + _NUMBER + r"[ \t.!]*(?:\r?\n|\Z)"
)
_BESIDE: Final = re.compile(r"[^\n.!?;:=,0-9\[\]]{0,32}?" + _NUMBER)
# "and the one for the SIM 0391", "y el de la tarjeta …", "und die vom Handy ist …"
_NEXT: Final = re.compile(
    r"[ \t]?[,;]?[ \t]?(?:and|und|y|e|et|en|i|och|og|&|/|,)[ \t](?:(?:the[ \t]one|that|one)[ \t](?:of|for|on)"
    r"|(?:die|der|das)[ \t](?:vom|von|der|f\xfcr)|[eo]l?a?[ \t]d(?:el?|a|o|as|os)"
    r"|quell[oa][ \t]d|cel(?:ui|le)[ \t]d|die[ \t]van)"
    r"[^\n.!?;:=0-9\[\]]{0,32}?" + _NUMBER,
    re.IGNORECASE,
)
_RUSSIAN: Final = re.compile(r"(?:-?код)?[^\n.!?;0-9]{0,32}?" + _NUMBER, re.IGNORECASE)
_ABROAD: Final = {
    "暗証番号": re.compile(r"[^\n。0-9]{0,16}?" + _NUMBER),
    "пин": _RUSSIAN,
    "ПИН": _RUSSIAN,
    "支付密码": re.compile(r"[^\n。0-9]{0,12}?" + _NUMBER),
    "取款密码": re.compile(r"[^\n。0-9]{0,12}?" + _NUMBER),
}  # fmt: skip


def pins(text: str, low: bytes, places: Places) -> Iterator[Span]:
    """The numbers that are told to be PINs.

    Args:
        text: The text.
        low: It in Latin-1 and lower case, one byte a character.
        places: Where what stands in ``low``.
    """
    for at in places(b"pass"):
        if low.startswith(b"code", at + 4) and (match := _BARE.match(text, at + 8)):
            yield _span(match)
    for mark in (b"pin", b"puk") if places(b"pin") else ():
        for at in places(mark):
            if word := _WORD.match(text, at):
                yield from _told(text, word, named=word[0] not in {"pin", "puk"})
    yield from _elsewhere(text, low, places)
    if not text.isascii() and low.count(b"?") > text.count("?"):
        for name, at in places.abroad(text, _ABROAD):
            if match := _ABROAD[name].match(text, at + len(name)):
                yield _span(match)


def _elsewhere(text: str, low: bytes, places: Places) -> Iterator[Span]:
    """The numbers that other languages have other words for."""
    for mark in places.present(_ELSEWHERE_MARKS):
        for at in places(mark):
            if not _FOUR.search(low, at, at + 48):
                continue
            if (named := _ELSEWHERE.search(text, max(0, at - 40), at + 24)) and (
                match := _THEN.match(text, named.end())
            ):
                yield _span(match)


def _told(text: str, word: re.Match[str], *, named: bool) -> Iterator[Span]:
    """The number behind the word and those that are told with it."""
    end = word.end()
    match = (
        _SAID.match(text, end)
        or _ANSWERED.match(text, end)
        or _BARE.match(text, end)
        or (_BESIDE.match(text, end) if named else None)
        or _SPACED.match(text, end)
        or _LETTERED.match(text, end)
    )
    for _ in range(MOST):
        if match is None:
            return
        yield _span(match)
        match = _NEXT.match(text, match.end())


def _span(match: re.Match[str]) -> Span:
    return Span(match.start("number"), match.end("number"), "pin", False)
