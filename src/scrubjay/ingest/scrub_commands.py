"""Commands: the places of secrets on command lines, in lines of settings without a sign, and in cookies.

``curl -u user:…``, ``mysql -p…``, ``redis-cli -a …``: a letter means a secret for one program and none for another, so
the program's name has to stand before it on the same line.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping
from typing import Final

from scrubjay.ingest.scrub_values import Span, drawn, positions, stands_for_nothing

LONGEST_LINE: Final = 400
"""Characters before a flag in which its program is looked for."""
LEAST_COOKIE: Final = 16
"""Characters of a cookie that can be a session; shorter ones are settings of a page."""

_WORD: Final = rb"[\"']?(?!\[)([^\s\"'`|;<>()]{5,256})"
_FLAGS: Final[Mapping[bytes, re.Pattern[bytes]]] = {
    letter: re.compile(rb"(?:^|[\s/|;&$(`])(?:" + programs + rb")(?:\s|\Z)")
    for letter, programs in {
        b"u": rb"curl|http|https|xh",
        b"p": rb"sshpass|docker|podman|nerdctl|helm|twine|az|mongo\w*|cypher-shell|smbclient|rabbitmqadmin|nuget|vncdo",
        b"k": rb"openssl|nuget",
        b"a": rb"redis-cli|valkey-cli|keydb-cli",
        b"w": rb"ldap\w+|ipmitool",
        b"b": rb"htpasswd",
    }.items()
}
_GLUED: Final = re.compile(rb"(?:^|[\s/|;&$(`])(?:mysql\w*|mariadb[\w-]*|mongo\w*|7z|rar)(?:\s|\Z)")
_VALUE: Final = re.compile(rb"[ \t]+" + _WORD)
_OWN: Final = re.compile(rb"[ \t]+[\"']?[^\s\"'`:]{1,64}:(?!\[)([^\s\"'`|;<>]{4,256})")
_AT_ONCE: Final = re.compile(_WORD)
_THIRD: Final = re.compile(rb"[ \t]+\S+[ \t]+\S+[ \t]+" + _WORD)
_LONG: Final = re.compile(rb"-(?:\w{0,12}pass(?:word|phrase)?|pw)[ \t]+(?:pass:)?" + _WORD)
_BODY: Final = re.compile(rb"body(?:[ \t]+|=)" + _WORD)
_NET: Final = re.compile(rb"net use[ \t][^\n]{0,80}?/user:\S{1,64}[ \t]+(?!/)" + _WORD)
_PIPED: Final = re.compile(rb"(?:echo|printf)[ \t]+(?:-\w[ \t]+)?" + _WORD + rb"[\"']?[ \t]*\|[ \t]*\Z")
_SETTING: Final = re.compile(rb"\w{6,12}[ \t]+" + _WORD)
_NETRC: Final = re.compile(rb"login[ \t]+\S{1,64}\s+password[ \t]+" + _WORD)
_LINES: Final = (
    (b"net use", _NET), (b"bindpw ", _SETTING), (b"rootpw ", _SETTING), (b"requirepass ", _SETTING),
    (b"login ", _NETRC),
)  # fmt: skip
_FLAG: Final = re.compile(rb" -(?:[upkawbs][ \t]|p(?=[^ \t])|-body[ =]|[a-z]{0,12}pass)")
_JAR: Final = re.compile(rb"cookies?[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?([^\n\"']{8,4096})")
_CRUMB: Final = re.compile(rb"[\w.$-]{1,80}+=([^;,\s]{16,4096})")
_JWK: Final = re.compile(rb"\"d\"\s{0,4}:\s{0,4}\"([\w-]{40,1400})\"")
_PLAIN: Final = frozenset(b"username password string secret passwd".split())


def commanded(data: bytes, low: bytes) -> Iterator[Span]:
    """The secrets on command lines and the like.

    Args:
        data: The text in Latin-1, one byte a character (others as ``?``).
        low: ``data`` in lower case.
    """
    for flag in _FLAG.finditer(low):
        yield from _flag(data, low, flag.start())
    for mark, expression in _LINES:
        for at in positions(low, mark):
            if match := expression.match(data, at):
                yield from _found(match)
    if low.find(b"kty") >= 0:  # of a key in JSON (RFC 7517) only this field is private
        for at in positions(low, b'"d"'):
            if match := _JWK.match(data, at):
                yield Span(match.start(1), match.end(1), "private-key", True)
    done = 0
    for at in positions(low, b"cookie"):
        if at >= done:  # each jar is looked through once, whatever its cookies are called
            done = yield from _jar(data, low, at)


def _flag(data: bytes, low: bytes, at: int) -> Iterator[Span]:
    letter, after = low[at + 2 : at + 3], low[at + 3 : at + 4]
    match = None
    if letter == b"-":
        if low.find(b"secret set", max(0, at - 200), at) >= 0:
            match = _BODY.match(data, at + 3)
    elif after in (b" ", b"\t"):
        match = _lettered(data, low, at, letter)
    elif data[at + 2 : at + 3] == b"p" and _GLUED.search(low, _line(low, at), at):
        match = _AT_ONCE.match(data, at + 3)
    else:
        match = _LONG.match(data, at + 1)
    if match:
        yield from _found(match)


def _lettered(data: bytes, low: bytes, at: int, letter: bytes) -> re.Match[bytes] | None:
    if letter == b"s" and low.endswith(b"sudo", 0, at):
        return _PIPED.search(data, _line(low, at), at - 4)
    if letter not in _FLAGS or not _FLAGS[letter].search(low, _line(low, at), at):
        return None
    return {b"u": _OWN, b"b": _THIRD}.get(letter, _VALUE).match(data, at + 3)


def _line(low: bytes, at: int) -> int:
    return max(0, at - LONGEST_LINE, low.rfind(b"\n", max(0, at - LONGEST_LINE), at) + 1)


def _found(match: re.Match[bytes]) -> Iterator[Span]:
    value = match[1]
    if (
        not stands_for_nothing(value)
        and value.lower() not in _PLAIN
        and not value.startswith((b"-", b"/", b"*"))
    ):
        yield Span(match.start(1), match.end(1), "password", False)


def _jar(data: bytes, low: bytes, at: int) -> Generator[Span, None, int]:
    """Yield the sessions in a line of cookies; return where it ends."""
    match = _JAR.match(low, at)
    if match is None:
        return at
    for crumb in _CRUMB.finditer(data, match.start(1), match.end(1)):
        value = crumb[1].replace(b"%3A", b":").replace(b"%2F", b"/")
        if len(value) >= LEAST_COOKIE and drawn(value) and not stands_for_nothing(value):
            yield Span(crumb.start(1), crumb.end(1), "session-cookie", False)
    return match.end()
