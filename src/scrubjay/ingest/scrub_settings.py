"""Settings: a name that ends in a word for a password, a sign, and words to the end of the line -> the words.

``mqtt_password: squirrel parade 1``, ``Password=Larch Tree Lane;`` in the address of a database,
``#define WIFI_PASS "…"``, ``{"k": "wifi password", "v": "…"}``. A file of settings says by its form that these
words are a value; what a page says to whoever types a password stands behind such names, too, and speaks of passwords
or goes on like a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scrubjay.ingest.scrub_values import MADE_UP, Places, Span, stands_for_nothing, talk
from scrubjay.ingest.scrub_words import binds, predicates, said

BEFORE: Final = 240
"""Characters before a name in which the other names of its kind stand."""

_TAIL: Final = r"(?:word|wort|wd|phrase|code|ord)?[0-9]?[\"']?"
_LINE: Final = re.compile(
    _TAIL
    + r"[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?P<value>[^\W\d_][\w'’&!-]{0,24}(?: [\w'’&!-]{1,24}){1,8})[\"']?,?"
    r"[ \t]*(?:\r?\n|\Z|[ \t]#)"
)
_DIGIT: Final = re.compile(r"[0-9]")
_OWNED: Final = re.compile(r"(?:^|[\s;])(?:[A-Za-z][\w.-]{0,40}[_.-])[\"']?\Z")
# What a page says beside a field, by its name.
_ASKED: Final = re.compile(
    r"(?:reset|forgot\w*|change|confirm|show|hide|enter|invalid|wrong|no|missing|repeat|current|new|old|your)[_.-]\Z",
    re.IGNORECASE,
)
_PLAIN: Final = re.compile(r"(?:^|\n)[ \t]*[\"']?\Z")
_OTHERS: Final = re.compile(
    r"(?:^|\n)[ \t]*[\"'-]?[ ]?(?:user(?:name)?|login|host(?:name)?|ssid|client \w{1,24}|server|e?mail"
    r"|ipaddr|address|account|port|database"
    r"|channel|realm)[\"']?[ \t]{0,4}[:=]",
    re.IGNORECASE,
)
_FIRST: Final = frozenset(("the", "a", "an", "my"))
_SPEAKS: Final = re.compile(
    r"pass|wort\b|kenn|contrase|senha|clave|hesl|has[lł]|parol|lozink|salas|adgang|l[öo]sen|code|pin\b|must"
    r"|least|here",
    re.IGNORECASE,
)
_CONNECTS: Final = re.compile(
    r"(?:server|data source|uid|user ?id|host|dsn|driver|initial catalog|database)["
    r" ]?=[^\n=]{1,80};[^\n]{0,120}\Z",
    re.IGNORECASE,
)
_CONNECTED: Final = re.compile(
    r"(?:password|pwd)[ ]?=[ ]?(?:\{(?P<held>[^}\n]{4,128})\}|(?P<value>[^;\"'\n{}$<%\[]{4,128}?)(?=[;\"'\n]"
    r"|\Z))",
    re.IGNORECASE,
)
_DEFINED: Final = re.compile(
    r"\#define[ \t]{1,4}\w{0,40}?(?:PASS(?:WORD|PHRASE)?|PSK|PWD|SECRET)[0-9]?["
    r" \t]{1,8}\"(?P<value>[^\"\n]{5,128})\""
)
_PAIRED: Final = re.compile(
    r"pass[^\"\n]{0,24}\"[ ]{0,2},[ ]{0,2}\"(?:v|val|value|text|answer|content)\"[ ]{0,2}:["
    r" ]{0,2}\"(?P<value>[^\"\n]{4,64})\"",
    re.IGNORECASE,
)
# "(Passwort Sommer am See)", "(pass: walnut and cream)".
_HELD: Final = re.compile(
    r"\((?:password|passwort|pass|pw|mot de passe|kennwort)[: ]["
    r" ]?[\"'„“]?(?P<value>[^\W\d_][^()\n\"'“”„:;,]{5,40})[\"'“”]?\)",
    re.IGNORECASE,
)
_GENERATED: Final = re.compile(
    r"password is generated for [\w@.-]{1,60}:[ ](?P<value>\S{8,64})", re.IGNORECASE
)


def settled(text: str, low: bytes, places: Places) -> Iterator[Span]:
    """The words that settings have for passwords.

    Args:
        text: The text.
        low: It in Latin-1 and lower case, one byte a character.
        places: Where what stands in ``low``.
    """
    for mark in places.present((b"pass", b"pwd", b"psk", b"secret")):
        for at in places(mark):
            match = _LINE.match(text, at + len(mark))
            if match and _set(text, at, match["value"]):
                yield _span(match)
            elif mark in (b"pass", b"pwd"):
                yield from _others(text, at)
    for at in places(b"#define"):
        if match := _DEFINED.match(text, at):
            yield from _taken(match)


def _others(text: str, at: int) -> Iterator[Span]:
    """What stands in the address of a database, in a list of names and values, in the log of a new database."""
    match = _CONNECTED.match(text, at)
    if match and _CONNECTS.search(text, max(0, at - BEFORE), at):
        yield from _taken(match)
    match = _HELD.search(text, max(0, at - 12), at + 64)
    if match and not any(said(word) or binds(word) for word in match["value"].split()[:1]):
        yield from _taken(match)
    for expression in (_PAIRED, _GENERATED):
        if match := expression.match(text, at):
            yield from _taken(match)


def _set(text: str, at: int, value: str) -> bool:
    """Whether words behind a name are its value: the name has an owner, or stands among others of its kind."""
    words = value.lower().split()
    if binds(words[0]) and words[0] not in _FIRST:
        return False
    if any(predicates(word) or talk(word.encode("latin-1", "replace")) for word in words) or _SPEAKS.search(
        value
    ):
        return False
    if _ASKED.search(text, max(0, at - 24), at):
        return False
    if _OWNED.search(text, max(0, at - 48), at):
        return True
    return _PLAIN.search(text, max(0, at - 24), at) is not None and (
        _OTHERS.search(text, max(0, at - BEFORE), at) is not None
    )


def _taken(match: re.Match[str]) -> Iterator[Span]:
    span = _span(match)
    value = match.string[span.start : span.end]
    words = value.split()
    if stands_for_nothing(value.encode("latin-1", "replace")) or (len(words) == 1 and said(value)):
        return
    if not _DIGIT.search(value) and _SPEAKS.search(value):
        return
    if len(words) > 1 and not MADE_UP.search(value) and binds(words[0]):
        return
    yield span


def _span(match: re.Match[str]) -> Span:
    group = match.lastgroup or "value"
    return Span(match.start(group), match.end(group), "password", False)
