"""Users: who logs in, and a token beside it without a sign between that pairs are told by -> the token.

"sign in as frontdesk with …", "admin und …", "root → …", "user "bench" and …", "ours is greta@… with …": no word names
the password, but who is named is somebody who logs in, and what stands beside is no word of the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scrubjay.ingest.scrub_cues import Candidate
from scrubjay.ingest.scrub_values import MADE_UP, Places
from scrubjay.ingest.scrub_words import binds, said

BEFORE: Final = 80
REST: Final = 60

_AND: Final = (
    r"(?:with|and|und|mit|avec|et|con|com|y|e|en|met|og|och|med|ja|és|a|i|z|ve|dan|dengan|și|cu|и|с|з|та|і|και|"
    r"then|dann|puis|luego|poi|depois|now|pw|pass)"
)
_VALUE: Final = r"[\"'`„“«*]{0,2}(?P<value>[^\s\"'`“”»,;<>()\[\]{}|\\=]{5,64})"
_SIGNS: Final = (
    r"[\"'`“”»*)]{0,2}(?:[ ]?[,;:→👉➜➡][️]?[ ]|[ ](?:→|👉|➜|➡️?|->|=>|–|—|-)[ ]|,?[ ]"
    + _AND
    + r"[ ](?:the |dem |das |la |le |el )?)"
)
# Names that everybody has for who keeps a machine.
_KNOWN: Final = re.compile(
    r"(?<![\w@./-])(?:admin|root|administrator|sysadmin|superuser|postgres|ubuntu|pi)" + _SIGNS + _VALUE,
    re.IGNORECASE,
)
_NAMED: Final = re.compile(
    r"\b(?:user(?:[ -]?(?:name|id))?|sign(?:s|ed)? in as|log(?:s|ged)? ?in as|log(?:s|ged)? ?in with the"
    r" user|benutzer(?:name)?"
    r"|anmeldename|nutzer(?:name)?|usuari[oa]?|utente|utilisateur|identifiant|utilizador|gebruiker(?:snaam)?"
    r"|brukernavn|bruger(?:navn)?"
    r"|användar(?:e|namn)|käyttäjä(?:tunnus)?|felhasználó(?:név)?|uživatel|používateľ|użytkownik|login"
    r"|utilizator|kullanıcı(?: adı)?"
    r"|korisnik|логин|пользователь|логін|користувач|χρήστης|nama pengguna|tài khoản|tên đăng nhập)"
    r"(?:[ ](?:is|ist|est|es|è|é|=))?[: ][ ]?[\"'`„“«*]{0,2}(?P<user>[\w.+@-]{2,48})" + _SIGNS + _VALUE,
    re.IGNORECASE,
)
_MAIL: Final = re.compile(
    r"[\w-]{1,60}(?:\.[\w-]{1,60}){0,3}\.[a-z]{2,12}[\"'`*]{0,2},?[ ]" + _AND + r"[ ]" + _VALUE
)
_USERS: Final = (
    b"user", b"in as", b"in with the", b"benutzer", b"anmeldename", b"nutzer", b"usuari", b"utente", b"utilisateur",
    b"identifiant", b"utilizador", b"gebruiker", b"bruker", b"bruger", b"felhaszn", b"login", b"nama pengguna",
)  # fmt: skip
_ABROAD: Final = ("användar", "käyttäjä", "uživatel", "používateľ", "użytkownik", "kullanıcı", "логин", "пользователь",
                  "логін", "користувач", "χρήστης", "tài khoản", "tên đăng nhập")  # fmt: skip
_CODE: Final = re.compile(r"[={}\[\];<]|\w\(|->.*:|^\s*(?:#include|def|from|import)\b")
_CALLED: Final = ("(", "=", ": ", "]", "->")
_TELLS: Final = re.compile(r"[0-9!#$%&*+@^~]")
# Words joined by signs: three of them, or two that each begin in a capital.
_PARTS: Final = re.compile(
    r"[^\W\d_]+(?:[-_.+&][^\W\d_]+){2,}\Z|[A-Z][^\W\d_]+[-_.+&][A-Z][^\W\d_]+\Z|[a-z]+\.[A-Z][a-z]+\Z"
)
# "users and …", "the user experience with …": of no user that is named.
_LOOSE: Final = re.compile(r"user[ ](?![\"'`„“«])", re.IGNORECASE)
_OTHER: Final = re.compile(
    r"(?:https?|www|ftp)\b|[\w.+-]+@|\d{1,2}[./:]\d|[\d.,%-]+\Z|.*\.(?:js|py|ts|md|json|ya?ml|conf|html?|php"
    r"|com|org|net|de|example)\b"
)


def users(text: str, low: bytes, places: Places) -> Iterator[Candidate]:
    """The tokens beside who logs in.

    Args:
        text: The text.
        low: It in Latin-1 and lower case, one byte a character.
        places: Where what stands in ``low``.
    """
    yield from _known(text, low, places)
    for at in places(b"@"):
        if low[at - 1 : at].isalnum():
            yield from _second(text, _MAIL.match(text, at + 1), place="mail")
    for _, at in places.abroad(text, _ABROAD):
        yield from _second(text, _NAMED.match(text, at))


def _known(text: str, low: bytes, places: Places) -> Iterator[Candidate]:
    """Beside names that everybody has, and beside what is said to be one."""
    for mark in (b"admin", b"root", b"postgres"):
        for at in places(mark):
            if not low[at - 1 : at].isalnum():
                yield from _second(text, _KNOWN.match(text, at))
    for mark in places.present(_USERS):
        for at in places(mark):
            yield from _second(text, _NAMED.search(text, max(0, at - 8), at + 140))


def _second(text: str, match: re.Match[str] | None, place: str = "pair") -> Iterator[Candidate]:
    if match is None:
        return
    if text.startswith(("User: ", "Nutzer: ", "Nutzerin: "), match.start()):
        return  # who speaks
    value = match["value"].rstrip(".:?!*_")
    if len(value) < 5 or not MADE_UP.search(value) or _OTHER.match(value) or binds(value) or said(value):
        return
    first = match.start("value")
    start = max(text.rfind("\n", max(0, first - BEFORE), first) + 1, first - BEFORE, 0)
    if _CODE.search(text, start, first) or text.startswith(_CALLED, first + len(value)):
        return
    if not _TELLS.search(value) and ((place == "pair" and _LOOSE.match(match[0])) or not _PARTS.match(value)):
        return
    stop = text.find("\n", first, first + len(value) + REST)
    stop = first + len(value) + REST if stop < 0 else stop
    rest = text[first + len(value) : stop]
    yield Candidate(
        first,
        first + len(value),
        "login",
        True,
        place,
        " / ",
        text[start : match.start()] + "admin",
        value,
        False,
        rest,
        "login",
    )
