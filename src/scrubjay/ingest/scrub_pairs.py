"""Pairs: a login, a sign and a token -> the token, for what stands behind who logs in is mostly the password.

``anna@example.org / …``, ``council tax: 88120377 / …`` below "new logins". No word names the password: what speaks for
it is an address of mail before the sign, or a word for logging in on one of the lines above.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scrubjay.ingest.scrub_cues import LONGEST, Candidate
from scrubjay.ingest.scrub_values import Places, positions

ABOVE: Final = 400
"""Characters before a pair in which a word says that these are logins."""
BEFORE: Final = 100
"""Characters of a line before the sign."""
REST: Final = 60

_MAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w.-]{1,200}\Z")
_HOST: Final = re.compile(r"[\w-]{1,60}(?:\.[\w-]{1,60}){0,3}\.[a-z]{2,12}(?![\w.-]*[\w@])")
_SIGN: Final = re.compile(
    r"[\"'`*]{0,2}(?:[ \t]{0,3}(?://|->|→|[/|:–—])[ \t]{0,3}|[ \t]-[ \t]|\t|[,;][ \t]?|[ \t]{2,8})"
)
_VALUE: Final = re.compile(rf"[\"'`*]{{0,2}}(?P<value>[^\s\"'`,;<>()\[\]{{}}|\\]{{5,{LONGEST}}})")
_LOGINS: Final = re.compile(
    r"log-?ins?\b|sign-?in|\baccounts?\b|credential|\bcreds\b|zugang|zugänge|anmeld|passw|passe\b|contrase"
    r"|senha"
    r"|\busers?\b|benutzer|konten\b|konto\b|accès|accesos|cuentas?\b|comptes?\b|identifiant|utenti|accessi"
    r"|wlan|wi-?fi|hotspot|\badmin",
    re.IGNORECASE,
)
_ROOT: Final = re.compile(r"\b(?:root|admin|postgres|sa|user)\Z", re.IGNORECASE)
_CODE: Final = re.compile(r"[={}\[\];]|\w\(")
_USER: Final = re.compile(r"(?:^|[\s:(>*-])[\"'`*]{0,2}[\w.+@-]{2,64}[\"'`*“”»]{0,2}\Z")


def pairs(text: str, low: bytes, places: Places) -> Iterator[Candidate]:
    """The tokens behind one that may be who logs in.

    Args:
        text: The text.
        low: It in Latin-1 and lower case, one byte a character.
        places: Where what stands in ``low``.
    """
    for at in places(b"@"):
        if low[at - 1 : at].isalnum() and (host := _HOST.match(text, at + 1)):
            sign = _SIGN.match(text, host.end())
            mail = _MAIL.search(text, max(0, at - 64), host.end()) if sign else None
            if sign and mail and text.find("://", max(0, mail.start() - 40), mail.start()) < 0:
                yield from _second(text, sign.start(), sign.end(), "mail")
    if not text.isascii():
        yield from _dashed(text)
    for at in places(b" / "):
        if _USER.search(text, max(0, at - BEFORE), at) and text.find("@", max(0, at - 40), at) < 0:
            yield from _second(text, at, at + 3, "pair")


def _dashed(text: str) -> Iterator[Candidate]:
    """``mail01 – root – …``: behind who logs in everywhere."""
    for at in positions(text, " – "):
        if _ROOT.search(text, max(0, at - 12), at):
            yield from _second(text, at, at + 3, "root")


def _second(text: str, at: int, end: int, place: str) -> Iterator[Candidate]:
    match = _VALUE.match(text, end)
    if match is None:
        return
    start = max(text.rfind("\n", max(0, at - BEFORE), at) + 1, at - BEFORE, 0)
    above = text[max(0, at - ABOVE) : at]
    if place == "pair" and (_CODE.search(text, start, at) or not _LOGINS.search(above)):
        return
    value = match["value"].rstrip(".:?*_")
    first = match.start("value")
    stop = text.find("\n", first, first + len(value) + REST)
    stop = first + len(value) + REST if stop < 0 else stop
    rest = text[first + len(value) : stop]
    place = "pair" if place == "root" else place
    around = above if place == "pair" or _LOGINS.search(above) else ""
    yield Candidate(
        first,
        first + len(value),
        "login",
        True,
        place,
        text[at:end],
        text[start:at],
        value,
        False,
        rest,
        around,
    )
