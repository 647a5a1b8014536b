"""Told: the places of secrets that somebody tells in words: "the password for staging is …", "seed phrase: …".

A word for a secret, few words of the same sentence, a word like "is" or a colon, and then what can be no word of that
language. "The password is required" tells nothing; no more does "the token is RS256", a name with a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scrubjay.ingest.scrub_values import ABOUT, NAME, Places, Span, drawn, positions, stands_for_nothing, talk

LEAST_KEY: Final = 16
"""Characters of a key that is only told by the word before it."""
LEAST_QUOTED: Final = 8
"""Letters of a word in quotes that can be a password, and of a word with a number."""

# Each look through a text costs about a nanosecond a character, so one short part of many words is looked for.
_PASSWORDS: Final = re.compile(
    rb"(?:(?<=mot de )passe|pass(?:word|wort|phrase|code|ord))|kennwort|contrase(?:\xf1|n)a|wachtwoord"
    rb"|parola d'ordine"
    rb"|(?<![a-z])senha(?![a-z])|(?<![a-z0-9])pwd?(?![a-z0-9])"
)
_PASS: Final = re.compile(rb"(?<![a-z0-9])pass(?= )")
_PARTS: Final = (b"pass", b"kennwort", b"contra", b"wachtwoord", b"parola", b"pw", b"senha")
_KEY: Final = re.compile(
    rb"(?:(?:api[ -]?|access |signing |unseal |secret |private |recovery |server )key"
    rb"|(?<!ffentlicher )(?<!ffentliche )schl\xfcssel)\Z"
)
# A key that somebody has or hands over: "here is the key for …", "my key is …"; not the key of a table.
_KEY_OF: Final = re.compile(
    rb"(?:^|[\s(])(?:the|my|our|your|his|her|their|this|new|old|der|mein|unser)[ \t]key\Z"
)
_FOR: Final = re.compile(rb"[ \t](?:for|f\xfcr|from|von|to|of)[ \t]")
_OF_TABLE: Final = re.compile(
    rb"(?:cache|object|public|sort|primary|foreign|partition|row|storage|s3|map|hash|index|dedup\w*"
    rb"|idempotency)[ _-]\Z"
)
_HANDED: Final = re.compile(
    rb"[ \t]{1,4}(?:is|ist|was|:)?[ \t]{0,4}[\"'`]?([0-9a-f]{24,64})[\"'`]?[ \t](?:for|f\xfcr|from|von)[ \t]"
)
# Letters that Latin-1 does not have; a first letter that may be large is left out.
# Each is looked for by the letter that is the rarest of it.
_FOREIGN: Final = {
    "パスワード": "ワ",
    "密码": "密",
    "密碼": "密",
    "ароль": "ь",
    "비밀번호": "밀",
    "asło": "ł",
    "eslo": "eslo",
}
_FOREIGN_AFTER: Final = re.compile(
    "(?:[^\\n.!?;。]{0,20}?(?:は|が|是|为|為|[:：=—-]|to|je|는)|)\\s{0,3}[\"'`「]?([!-~]{6,128})",
    re.IGNORECASE,
)
_IS: Final = (
    rb"(?<![A-Za-z\x80-\xff])(?:is|are|was|be|to|now|ist|war|auf|lautet|est|es|era|er|\xe8|\xe9|\xe4r)"
    rb"(?![A-Za-z\x80-\xff]):?"
)
_AFTER: Final = (
    rb"(?:[\w -]{0,16}[?][ ]?it(?:'s| is)|(?:[^\n.!?;:=\[\]]|[.](?=[a-z0-9])){0,48}?(?:" + _IS + rb"|[:=]))"
    rb"[ \t]{1,4}[\"'`*(]{0,3}"
)
_WORD: Final = rb"([^\s\"'`,;<>()\[\]{}|\\]{6,512})"
_TOLD: Final = re.compile(_AFTER + _WORD, re.IGNORECASE)
_TOLD_KEY: Final = re.compile(
    rb"(?:[\w -]{0,16}[?][ ]?it(?:'s| is)|[^\n.!?;:=\[\]{}]{0,48}?(?:"
    + _IS
    + rb"|[:=]))[ \t]{1,4}[\"'`*(]{0,3}"
    + _WORD,
    re.IGNORECASE,
)
_BESIDE: Final = re.compile(rb"[ \t]{1,4}[\"'`(]?" + _WORD)
_PAIRED: Final = re.compile(
    rb"(?i:credentials?|creds?|log(?:ged)?[ -]?in|sign(?:ed)? in|zugangsdaten|anmeld\w*"
    rb"|account)\b[^\n/]{0,24}?[: ]"
    rb"[a-z][\w.+-]{1,40}(?:@[\w.-]{3,60})?\Z"
)
_PAIR: Final = re.compile(rb" / [\"'`]?" + _WORD)
_GLUED: Final = re.compile(
    rb"(?i:cred(?:ential)?s?)\b[^\n/]{0,24}?[: ][ \t]{0,4}"
    rb"[a-z][\w.+-]{1,40}(?:@[\w.-]{3,60})?(?:[ \t]?/[ \t]?|:)[\"'`]?" + _WORD
)
_PAIR_FIRST: Final = re.compile(
    rb"(?<![\w/.-])[a-z][\w.-]{1,40}/"
    + _WORD
    + rb"[ \t](?:are|is|as|were|sind|als)[ \t](?:the |our |my |die )?\Z"
)
_USER: Final = re.compile(rb"(?:user|login|account|creds?)\b[^\n]{0,40}\Z")
# Who logs in, or "with": then even a plain word with a number stands for a password.
_LEAD: Final = re.compile(
    rb"(?:\bwith|\band|\bund|\bmit|\bavec|\bcon|\busing|,|/|:)[ \t]+(?:the |my |dem |das |a )?\Z"
)
# The other way round: "… as the password", "… (Passwort)".
_BEFORE: Final = re.compile(
    rb"(?<![^\s\"'`*(])([^\s\"'`,;<>()\[\]{}|\\]{6,64})[\"'`*]{0,3}[ \t]{1,4}"
    rb"(?:\(|(?:as|als|is|ist|was|war|comme|como)[ \t]+)(?:(?:the|my|our|your|a|das|dein|mein|unser|le|la)["
    rb" \t]+)?"
    rb"(?:[A-Za-z-]{1,16}[ \t]+)?\Z"
)
_MANAGED: Final = re.compile(
    rb"[ -]?(?:manager|store|hash|field|file|vault|hint|input|generator|policy|reset|prompt)"
)
_APART: Final = re.compile(rb"[^\n.!?;:=,\[\]\"'`]{0,40},[ \t]{1,2}[\"'`]?" + _WORD + rb"(?=[\"'`]?,[ \t])")
_CHANGED: Final = re.compile(
    rb"[^\n.!?;:=,\[\]]{0,40}?\b(?:from|von)[ \t]{1,2}[\"'`]?"
    + _WORD
    + rb"[\"'`]?[ \t]{1,2}(?:to|auf|zu|in)[ \t]{1,2}[\"'`]?"
    + _WORD
)
_PROMPT: Final = re.compile(rb" for ['\"][^'\"\n]{1,160}['\"]:[ \t]{1,4}([^\s\"'`]{4,256})")
_LIKE_ONE: Final = re.compile(rb"(?=[^\n]*[A-Za-z])\S*(?:[A-Za-z]{2,}[._-]+[A-Za-z0-9]|[!#$%&*+@^~])\S*")
# A sign in the middle of a word.
_BROKEN: Final = re.compile(rb"[A-Za-z]{3,24}[!#$%][A-Za-z]{3,24}")
_NUMBERED: Final = re.compile(rb"[A-Z]?[a-z]+[0-9]{1,2}")
_DATE: Final = re.compile(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T_ ]|\Z)")
_ASSIGNED: Final = re.compile(rb"(?!token|secret|key|api)[a-z_]{2,20}=(?!=)[^=]")
_LETTER: Final = re.compile(rb"[A-Za-z\xc0-\xff]")
_DIGIT: Final = re.compile(rb"[0-9]")
_MARK: Final = re.compile(rb"[!#$%^&+@~]")


def told(text: str, data: bytes, low: bytes, places: Places) -> Iterator[Span]:
    """The secrets that are told in words.

    Args:
        text: The text.
        data: It in Latin-1, one byte a character (others as ``?``).
        low: ``data`` in lower case.
        places: Where what stands in ``low``.
    """
    for part in places.present(_PARTS):
        for at in places(part):
            match = _PASSWORDS.match(low, at) or _PASS.match(low, at)
            if match and (match[0] != b"pass" or _USER.search(low, max(0, at - 60), at)):
                yield from _password(data, low, at, match.end())
    yield from _keys(data, low, places)
    yield from _pairs(data, places)
    if not text.isascii():
        yield from _foreign(text, places)


def _keys(data: bytes, low: bytes, places: Places) -> Iterator[Span]:
    for noun in (b"token", b"secret"):
        for at in places(noun):
            yield from _key(data, at + len(noun), noun.decode())
    for at in positions(data, b"PAT"):  # a personal access token
        if not data[at - 1 : at].isalpha() and not data[at + 3 : at + 4].isalpha():
            yield from _key(data, at + 3, "token")
    for at in places(b"key"):
        yield from _plain_key(data, low, at)
    for at in places(b"schl\xfcssel"):
        if _KEY.search(low, max(0, at - 14), at + 9):
            yield from _key(data, at + 9, "secret")


def _plain_key(data: bytes, low: bytes, at: int) -> Iterator[Span]:
    if _KEY.search(low, max(0, at - 10), at + 3):
        yield from _key(data, at + 3, "secret")
        return
    match = _HANDED.match(data, at + 3)
    if match and not _OF_TABLE.search(low, max(0, at - 12), at):
        yield Span(match.start(1), match.end(1), "secret", False)
    elif _KEY_OF.search(low, max(0, at - 8), at + 3) and _FOR.match(low, at + 3):
        yield from _key(data, at + 3, "secret")


def _pairs(data: bytes, places: Places) -> Iterator[Span]:
    """The second half of ``login: me / password``, ``creds me:password`` and ``me/password are the credentials``."""
    for at in places(b" / "):
        match = _PAIR.match(data, at) if _PAIRED.search(data, max(0, at - 100), at) else None
        if match and _strong(match[1], beside=True) and not _NUMBERED.fullmatch(match[1].rstrip(b".:?*")):
            yield Span(match.start(1), _end(match), "password", False)
    for at in places(b"cred"):
        match = _GLUED.match(data, at) or _PAIR_FIRST.search(data, max(0, at - 120), at)
        if match and _strong(match[1], beside=True):
            yield Span(match.start(1), _end(match), "password", False)


def _foreign(text: str, places: Places) -> Iterator[Span]:
    for noun, at in places.abroad(text, _FOREIGN):
        found = _FOREIGN_AFTER.match(text, at + len(noun))
        if found and _strong(found[1].encode("latin-1", "replace"), beside=False):
            yield Span(found.start(1), found.end(1), "password", False)


def _password(data: bytes, low: bytes, start: int, at: int) -> Iterator[Span]:
    lead = _LEAD.search(low, max(0, start - 24), start) is not None
    match = _BESIDE.match(data, at)
    if match and (
        _strong(match[1], beside=True) or (lead and _strong(match[1], beside=False) and _like_one(match[1]))
    ):
        yield Span(match.start(1), _end(match), "password", False)
        return
    match = _CHANGED.match(data, at)
    if match and _strong(match[1], beside=False) and _strong(match[2], beside=False):
        yield Span(match.start(1), match.end(1), "password", False)
        yield Span(match.start(2), match.start(2) + len(match[2].rstrip(b".:?*")), "password", False)
        return
    for expression in (_TOLD, _APART, _PROMPT):
        match = expression.match(data, at)
        if match and _told(data, match, apart=expression is _APART):
            yield Span(match.start(1), _end(match), "password", False)
            return
    before = _BEFORE.search(data, max(0, start - 100), start)
    if before and not _MANAGED.match(low, at) and _strong(before[1], beside=False) and _like_one(before[1]):
        yield Span(before.start(1), before.end(1), "password", False)


def _told(data: bytes, match: re.Match[bytes], *, apart: bool) -> bool:
    value = match[1].rstrip(b".:?*")
    if _strong(value, beside=False) and (not apart or _like_one(value)):
        return True
    # In quotes a word may be one, if it is none of those that passwords are talked about in.
    quote = data[match.start(1) - 1 : match.start(1)]
    return (
        quote in (b'"', b"'", b"`")
        and data[match.end(1) : match.end(1) + 1] == quote
        and len(value) >= LEAST_QUOTED
        and value.isalpha()
        and not talk(value)
        and not stands_for_nothing(value)
    )


def _like_one(value: bytes) -> bool:
    """Whether it is what people make up: joined words, a sign among letters, letters and digits mixed."""
    value = value.rstrip(b".:?*!")
    return _LIKE_ONE.fullmatch(value) is not None or (
        _DIGIT.search(value) is not None and len(value) >= LEAST_QUOTED and not value.isdigit()
    )


def _key(data: bytes, at: int, kind: str) -> Iterator[Span]:
    for expression, least in ((_BESIDE, LEAST_KEY + 4), (_TOLD_KEY, LEAST_KEY), (_APART, LEAST_KEY)):
        match = expression.match(data, at)
        if match is None:
            continue
        value = match[1].rstrip(b".:?!*")
        if _DATE.match(value) or _ASSIGNED.match(value):
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
    if len(value) < 6 or stands_for_nothing(value) or not _LETTER.search(value) or ABOUT.fullmatch(value):
        return False
    if b"." in value and NAME.fullmatch(value) and talk(value):
        return False
    digit, mark = _DIGIT.search(value), _MARK.search(value.rstrip(b"!"))
    if beside:
        return bool(_BROKEN.fullmatch(value)) or bool(
            digit and (mark or (value.lower() != value and value.upper() != value))
        )
    return bool(digit or mark)
