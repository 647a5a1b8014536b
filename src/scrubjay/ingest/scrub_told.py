"""Told: the places of secrets that somebody tells in words: "the password for staging is …", "seed phrase: …".

A word for a secret, few words of the same sentence, a word like "is" or a colon, and then what can be no word of that
language. "The password is required" tells nothing; no more does "the token is RS256", a name with a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scrubjay.ingest.scrub_values import Span, drawn, positions, stands_for_nothing

LEAST_KEY: Final = 16
"""Characters of a key that is only told by the word before it."""

# Each look through a text costs about a nanosecond a character, so one short part of many words is looked for.
_PASSWORDS: Final = re.compile(
    rb"(?:(?<=mot de )passe|pass(?:word|wort|phrase|code))|kennwort|contrase(?:\xf1|n)a|wachtwoord|parola d'ordine"
)
_PASS: Final = re.compile(rb"(?<![a-z0-9])pass(?= )")
_PARTS: Final = (b"pass", b"kennwort", b"contrase", b"wachtwoord", b"parola d'ordine")
_KEY: Final = re.compile(rb"(?:api[ -]?|access |signing |unseal |secret )key")
# Letters that Latin-1 does not have.
_FOREIGN: Final = re.compile(
    "(?:パスワード|密码|密碼|пароль|비밀번호|hasło|heslo)(?:[^\\n.!?;。]{0,20}?(?:は|が|是|为|為|[:：=—-]|to|je|는)|)\\s{0,3}[\"'`「]?"
    "([!-~]{6,128})",
    re.IGNORECASE,
)
_AFTER: Final = (
    rb"(?:[\w -]{0,16}[?][ ]?it(?:'s| is)|[^\n.!?;:=\[\]]{0,48}?"
    rb"(?:\b(?:is|are|was|be|to|now|ist|lautet|est|es|era|\xe8|\xe9)\b:?|[:=]))"
    rb"[ \t]{1,4}[\"'`*]{0,3}"
)
_WORD: Final = rb"([^\s\"'`,;<>()\[\]{}|\\]{6,512})"
_TOLD: Final = re.compile(_AFTER + _WORD, re.IGNORECASE)
_BESIDE: Final = re.compile(rb"[ \t]{1,4}[\"'`]?" + _WORD)
_PAIR: Final = re.compile(
    rb"(?i:credentials?|creds?|login)\b[^\n/]{0,24}?[: ][ \t]{0,4}[\w.@-]{2,40}[ \t]{0,4}/[ \t]{0,4}[\"'`]?"
    + _WORD
)
_USER: Final = re.compile(rb"(?:user|login|account|creds?)\b[^\n]{0,40}\Z")
_PHRASE: Final = re.compile(
    rb"phrase(?:[^\n.:=\[\]]{0,24}?(?:\bis\b|[:=]))?[ \t]{0,4}[\"'`]?((?:[a-z]{3,8}[ \t,]{1,2}){11,23}[a-z]{3,8})\b"
)
_QUOTED: Final = re.compile(rb"phrase[^\n.:=\"]{0,40}?(?:\bis\b|[:=])[ \t]{0,4}([\"'`])([^\"'`\n]{8,128})\1")
_CODES: Final = re.compile(
    rb"codes?[^\n:]{0,24}:?[ \t\n]{0,4}((?:[a-z0-9]{4,8}-[a-z0-9]{4,8}[ \t\n,]{0,3}){2,20})"
)
_DATE: Final = re.compile(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T_ ]|\Z)")
_LETTER: Final = re.compile(rb"[A-Za-z\xc0-\xff]")
_DIGIT: Final = re.compile(rb"[0-9]")
_MARK: Final = re.compile(rb"[!#$%^&+@~]")
# Names of procedures and lengths: what is told of a secret, not the secret.
_ABOUT: Final = re.compile(
    rb"(?:sha|md|aes|rsa|hmac|argon|bcrypt|pbkdf|scrypt|base|utf|oauth|saml|hs|rs|es|ps|v|iso|rfc|http|tls|ssl|ed|ascii|x)"
    rb"[-_]?[0-9][\w.-]{0,6}|[0-9]+[-+]?[a-z]+|[0-9.,:/+-]+[a-z]{0,3}|[\w.-]+@[\w-]+\.[\w.]+|[\w-]+'\w{1,2}",
    re.IGNORECASE,
)


def told(text: str, data: bytes, low: bytes) -> Iterator[Span]:
    """The secrets that are told in words.

    Args:
        text: The text.
        data: It in Latin-1, one byte a character (others as ``?``).
        low: ``data`` in lower case.
    """
    for part in _PARTS:
        for at in positions(low, part):
            match = _PASSWORDS.match(low, at) or _PASS.match(low, at)
            if match and (match[0] != b"pass" or _USER.search(low, max(0, at - 60), at)):
                yield from _password(data, match.end())
    for noun in (b"token", b"secret"):
        for at in positions(low, noun):
            yield from _key(data, at + len(noun), noun.decode())
    for at in positions(low, b"key"):
        if _KEY.search(low, max(0, at - 8), at + 3):
            yield from _key(data, at + 3, "secret")
    yield from _pairs(data, low)
    yield from _phrases(low)
    if not text.isascii():
        yield from _foreign(text)


def _pairs(data: bytes, low: bytes) -> Iterator[Span]:
    for noun in (b"cred", b"login"):
        for at in positions(low, noun):
            match = _PAIR.match(data, at)
            if match and _strong(match[1], beside=True):
                yield Span(match.start(1), _end(match), "password", False)


def _foreign(text: str) -> Iterator[Span]:
    for found in _FOREIGN.finditer(text):
        if _strong(found[1].encode("ascii"), beside=False):
            yield Span(found.start(1), found.end(1), "password", False)


def _phrases(low: bytes) -> Iterator[Span]:
    for at in positions(low, b"phrase"):
        match = _PHRASE.match(low, at)
        if match:
            yield Span(match.start(1), match.end(1), "seed-phrase", False)
            continue
        match = _QUOTED.match(low, at) if low.startswith(b"pass", at - 4) else None
        if match and not stands_for_nothing(match[2]):
            yield Span(match.start(2), match.end(2), "password", False)
    for noun in (b"recovery code", b"backup code"):
        for at in positions(low, noun):
            match = _CODES.match(low, at + len(noun) - 4)
            if match and _DIGIT.search(match[1]):
                yield Span(match.start(1), match.start(1) + len(match[1].rstrip()), "recovery-codes", False)


def _password(data: bytes, at: int) -> Iterator[Span]:
    match = _BESIDE.match(data, at)
    if match and _strong(match[1], beside=True):
        yield Span(match.start(1), _end(match), "password", False)
        return
    match = _TOLD.match(data, at)
    if match and _strong(match[1].rstrip(b".:?*"), beside=False):
        yield Span(match.start(1), _end(match), "password", False)


def _key(data: bytes, at: int, kind: str) -> Iterator[Span]:
    for expression, least in ((_BESIDE, LEAST_KEY + 4), (_TOLD, LEAST_KEY)):
        match = expression.match(data, at)
        if match is None:
            continue
        value = match[1].rstrip(b".:?!*")
        if _DATE.match(value):
            return
        if len(value) >= least and drawn(value) and not stands_for_nothing(value) and b"://" not in value:
            yield Span(
                match.start(1),
                match.start(1) + len(value),
                kind,
                False,
            )
            return


def _end(match: re.Match[bytes]) -> int:
    return match.start(1) + len(match[1].rstrip(b".:?*"))


def _strong(value: bytes, *, beside: bool) -> bool:
    """Whether it can be a password and no word; ``beside``: only "password" stands before it, so more is asked."""
    value = value.rstrip(b".:?*")
    if len(value) < 6 or stands_for_nothing(value) or not _LETTER.search(value) or _ABOUT.fullmatch(value):
        return False
    digit, mark = _DIGIT.search(value), _MARK.search(value.rstrip(b"!"))
    if beside:
        return bool(digit and (mark or (value.lower() != value and value.upper() != value)))
    return bool(digit or mark)
