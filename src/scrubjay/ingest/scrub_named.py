"""Named: the places where a secret stands apart from its name, with no sign between the two.

``- name: DB_PASSWORD`` and ``value: …`` on the next line; ``variable "token" { default = "…" }``;
``define('DB_PASSWORD', '…')``; ``ENV DB_PASSWORD …``; the ``data:`` of a Kubernetes Secret; SQL's
``IDENTIFIED BY '…'``; a call whose arguments are a user and a password.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from typing import Final

from scrubjay.ingest.scrub_names import by_hand, key_kind
from scrubjay.ingest.scrub_values import (
    LEAST_PASSWORD,
    Places,
    Span,
    drawn,
    filler,
    joined,
    secret,
    stands_for_nothing,
)

MOST_APART: Final = 240
"""Characters between a name and its value."""
LONGEST_MANIFEST: Final = 8192
LEAST_KEY: Final = 24
"""Characters of a key that a client is made with."""

_QUOTED: Final = rb"[\"'`]([^\"'`\s]{4,512})[\"'`]"
_NAME: Final = rb"[\"'`]?([\w.-]{2,64})[\"'`]?"
_LABEL: Final = re.compile(
    rb"(?:(?:\bname|\bkey|\bid|\bvar|\bproperty|\benv)[\"']?[ \t]{0,4}[:=][ \t]{0,4}|\bvariable[ \t]{1,4})"
    + _NAME
)
_GIVEN: Final = re.compile(
    rb"(?:value|default)[\"']?[ \t]{0,8}[:=][ \t]{0,8}(?:"
    + _QUOTED
    + rb"|([^\s\"'`,;<>()\[\]{}\\|]{6,512})[ \t]*(?:[\n\r]|\Z))"
)
_ENTRY: Final = re.compile(rb"=[ \t]{0,4}" + _QUOTED + rb">([^<>\s]{4,512})</(?:entry|string|property)>")
_CALL: Final = re.compile(rb"\([ \t]{0,4}[\"']([\w.-]{2,64})[\"'][ \t]{0,4},[ \t]{0,24}" + _QUOTED)
_CALLS: Final = (b"define", b"env", b"setdefault", b"environ.get")
_OPENINGS: Final = (b"('", b'("', b"( '", b'( "')
_CONNECTORS: Final = (
    b"pdo",
    b"mysqli",
    b"mysqli_connect",
    b"getconnection",
    b"pg_connect",
    b"connect",
    b"psycopg2.connect",
)
_THIRD: Final = re.compile(
    rb"\([ \t\n]{0,12}[\"'][^\"'\n]{0,160}[\"'][ \t]{0,4},[ \t\n]{0,12}[\"'][^\"'\n]{1,80}[\"'][ \t]{0,4},["
    rb" \t\n]{0,12}" + _QUOTED + rb"[ \t\n]{0,4}[,)]"
)
_LOGINS: Final = (
    b"auth",
    b"auth=",
    b".login",
    b"credential",
    b"credentials",
    b"authenticate",
    b"authentication",
)
_MAKERS: Final = (b"client", b"wallet")
_JWT: Final = re.compile(rb"jwt\.(?:sign|encode|decode|verify)(?=\()")
_EITHER: Final = re.compile(rb"[ \t]{1,4}" + _QUOTED)
_OWNED: Final = re.compile(rb"[\w.\[\]\"'!]{0,80}\Z")
_SET: Final = re.compile(
    rb"[ \t]{1,4}(?:--?[a-z]+[ \t]{1,4}){0,3}(?P<name>[\w./:-]{2,100})(?:[ \t]{1,4}<{0,3}[ \t]{0,4})[\"']?"
    rb"(?P<value>[^\s\"'`|;<>()=]{5,512})[\"']?[ \t]{0,8}(?:[\n\r;&|#]|\Z)"
)
_VERBS: Final = re.compile(
    rb"(?:(?:(?<=\n)|\A)env|setx|setenv|config --global|secret put|(?:(?<=config )|(?<=configure ))set)(?=["
    rb" \t])"
)
_DATA: Final = re.compile(rb"(?:^|\n)([ \t]{0,16})(?:data|stringdata):[ \t]{0,8}\r?\n")
_LINE: Final = re.compile(
    rb"([ \t]{1,24})[\"']?([\w.-]{1,80})[\"']?:[ \t]{1,8}[\"']?([^\s\"']{1,6000})[\"']?[ \t]{0,8}(?:\r?\n|\Z)"
)
_NO_SECRET: Final = re.compile(
    rb"user|host|port|database|dbname|endpoint|region|mail|url|ca\.crt|tls\.crt|\.crt|\.pub|type|mode|name"
)
_SQL: Final = re.compile(
    rb"(?:identified (?:with \w{1,40} )?by|password(?: for [^\n=;]{1,80}=)?)(?:[ \t]{1,4}password)?"
    rb"(?:[ \t]{1,4}|[ \t]{0,4}\([ \t]{0,4})'([^'\n]{4,256})'"
)
_ARGUMENTS: Final = re.compile(
    rb"\([ \t]{0,4}(?:[\"'][^\"'\n]{1,80}[\"']|[\w.]{1,40})[ \t]{0,4},[ \t]{0,4}"
    + _QUOTED
    + rb"[ \t]{0,4}[,)]"
)
_FIRST: Final = re.compile(rb"\([ \t]{0,4}" + _QUOTED + rb"[ \t]{0,4}[,)]")
# A constant, a name, an algorithm, a file.
_CODE_NAME: Final = re.compile(
    rb"[A-Z_]+[0-9]*|[a-z]+(?:[A-Z][a-z]+)*|(?i:hs|rs|es|ps)[0-9]{3}"
    rb"|[\w./-]+\.(?:pem|key|crt|pub|json|txt|ya?ml|toml|ini|py|js|ts)"
)
_NAMES: Final = (b"pass", b"pw", b"psk", b"key", b"cred", b"secret", b"token", b"salt")
LONGEST_STATE: Final = 800
# What Terraform keeps of a password that it made.
_RESULT: Final = re.compile(rb"\"result\":[ ]{0,4}\"([^\"\n]{6,256})\"")
_PUBLIC: Final = re.compile(rb"public_?key|publishable")
# What signs or makes a hash is given the key itself.
_SIGNER: Final = re.compile(rb"(?:hmac(?:\.new|shakeyfor)?|signwith|key(?:spec)?)\(")
_SIGNING: Final = re.compile(
    rb"[^\n\"'`]{0,60}(?:[\"'][\w-]{2,8}[\"'],[ \t]{0,4})?[^\n\"'`]{0,40}[\"'`]([^\"'`\s]{12,256})[\"'`]"
)
_MADE_UP: Final = re.compile(rb"[0-9!#$%&*+@^]")
_HEX_KEY: Final = re.compile(rb"0x[0-9a-f]{64}(?![0-9a-f])", re.IGNORECASE)


def named(data: bytes, low: bytes, places: Places) -> Iterator[Span]:
    """The secrets that stand apart from their names.

    Args:
        data: The text in Latin-1, one byte a character (others as ``?``).
        low: ``data`` in lower case.
        places: Where what stands in ``low``.
    """
    if places.present(_NAMES):  # else nothing is named here that holds a secret
        yield from _by_name(data, low, places)
    yield from _statements(data, low, places)
    yield from _calls(data, low, places)


def _by_name(data: bytes, low: bytes, places: Places) -> Iterator[Span]:
    """The values of names that say that they hold a secret."""
    for word in places.present((b"value", b"default")):
        for at in places(word):
            yield from _labelled(data, low, at)
    for at in places(b"</entry>"):
        yield from _entry(data, low, at)
    for sign in places.present((b"||", b"??")):
        for at in places(sign):
            yield from _instead(data, low, at)
    for word in (b"set", b"env", b"config", b"secret"):
        for at in places(word):
            if (verb := _VERBS.match(low, at)) and (match := _SET.match(data, verb.end())):
                yield from _told(match["name"].lower(), match, "value")
    yield from _manifests(data, low, places)
    yield from _results(data, low, places)


def _results(data: bytes, low: bytes, places: Places) -> Iterator[Span]:
    """What Terraform has drawn."""
    for at in places(b"pass"):
        drawn_here = low.startswith(b"random_password", at - 7)
        if drawn_here and (match := _RESULT.search(data, at, at + LONGEST_STATE)):
            yield Span(match.start(1), match.end(1), "password", False)


def _instead(data: bytes, low: bytes, at: int) -> Iterator[Span]:
    """``process.env.JWT_SECRET || '…'``: what is taken where the name holds nothing."""
    owner = _OWNED.search(low[max(0, at - 80) : at].rstrip())
    match = _EITHER.match(data, at + 2)
    if owner and match:
        yield from _told(owner[0].rstrip(b"]\"'!"), match, 1)


def _told(name: bytes, match: re.Match[bytes], group: int | str) -> Iterator[Span]:
    """The value, if its name is that of a secret and it can be one."""
    kind = key_kind(name)
    if kind is None or kind in {"authorization", "url-signature"} or _PUBLIC.search(name):
        return
    value, password = match[group], kind.endswith("password") or by_hand(name)
    if not secret(value, password=password, quoted=True):
        return
    yield Span(match.start(group), match.end(group), kind, False)


def _labelled(data: bytes, low: bytes, at: int) -> Iterator[Span]:
    match = _GIVEN.match(data, at)
    if match is None:
        return
    labels = list(_LABEL.finditer(low, max(0, at - MOST_APART), at))
    label = labels[-1] if labels else None
    between = low[label.end() : at] if label else b"}"
    if label and b"}" not in between and between.count(b"\n") < 6:
        yield from _told(label[1], match, 1 if match[1] else 2)


def _entry(data: bytes, low: bytes, at: int) -> Iterator[Span]:
    start = data.rfind(b"=", max(0, at - 600), at)
    if start >= 0 and (match := _ENTRY.match(data, start)):
        yield from _told(match[1].lower(), match, 2)


def _manifests(data: bytes, low: bytes, places: Places) -> Iterator[Span]:
    done = 0
    for at in places(b"secret"):
        if at >= done and low.endswith(b"kind: ", 0, at):
            done = yield from _manifest(data, low, at, done)


def _manifest(data: bytes, low: bytes, at: int, done: int) -> Generator[Span, None, int]:
    """Yield what a Kubernetes Secret keeps, all but what names a place or a person; return where it ends."""
    start = max(low.rfind(b"\n---", max(done, at - LONGEST_MANIFEST), at), at - LONGEST_MANIFEST, done)
    end = low.find(b"\n---", at, at + LONGEST_MANIFEST)
    end = min(len(low), at + LONGEST_MANIFEST) if end < 0 else end
    for block in _DATA.finditer(low, start, end):
        here = block.end()
        while (line := _LINE.match(data, here, end)) and len(line[1]) > len(block[1]):
            here = line.end()
            if len(line[3]) >= LEAST_PASSWORD and not (
                _NO_SECRET.search(line[2].lower()) or stands_for_nothing(line[3])
            ):
                yield Span(line.start(3), line.end(3), "secret", False)
    return end


def _statements(data: bytes, low: bytes, places: Places) -> Iterator[Span]:
    for word in (b"identified ", b"pass"):
        for at in places(word):
            match = _SQL.match(low, at)
            if match and not stands_for_nothing(data[match.start(1) : match.end(1)]):
                yield Span(match.start(1), match.end(1), "password", False)


def _calls(data: bytes, low: bytes, places: Places) -> Iterator[Span]:
    for opening in places.present(_OPENINGS):
        for at in places(opening):
            before = low[max(0, at - 12) : at]
            if before.endswith(_CALLS):
                match = _CALL.match(data, at)
                yield from _told(match[1].lower(), match, 2) if match else ()
            elif before.endswith(_LOGINS):
                yield from _password(_ARGUMENTS.match(data, at))
            elif before.endswith(_CONNECTORS):
                yield from _password(_THIRD.match(data, at))
            elif before.endswith(_MAKERS):
                match = _FIRST.match(data, at)
                if match and len(match[1]) >= LEAST_KEY and (_HEX_KEY.fullmatch(match[1]) or _key(match[1])):
                    yield Span(match.start(1), match.end(1), "secret", False)
    yield from _signers(data, low, places)


def _signers(data: bytes, low: bytes, places: Places) -> Iterator[Span]:
    """The keys that calls sign with."""
    for word in (b"hmac", b"key", b"signwith") if places(b"jwt") else (b"hmac", b"key"):
        for at in places(word):
            opened = _SIGNER.match(low, at)
            match = _SIGNING.match(data, opened.end()) if opened else None
            if match and (drawn(match[1]) or joined(match[1])) and not stands_for_nothing(match[1]):
                yield Span(match.start(1), match.end(1), "secret", False)
    for at in places(b"jwt"):
        if call := _JWT.match(low, at):
            yield from _password(_ARGUMENTS.match(data, call.end()))


def _key(value: bytes) -> bool:
    return drawn(value) and value.isalnum() and not filler(value)


def _password(match: re.Match[bytes] | None) -> Iterator[Span]:
    """A quoted argument in the place of a password; one word is the name of something."""
    if match is None or len(match[1]) < LEAST_PASSWORD or stands_for_nothing(match[1]):
        return
    if not _CODE_NAME.fullmatch(match[1]) and (joined(match[1]) or _MADE_UP.search(match[1])):
        yield Span(match.start(1), match.end(1), "password", False)
