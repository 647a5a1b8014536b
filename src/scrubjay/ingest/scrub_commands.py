"""Commands: the places of secrets on command lines, in lines of settings without a sign, and in cookies.

``curl -u user:…``, ``mysql -p…``, ``redis-cli -a …``: a letter means a secret for one program and none for another, so
the program's name has to stand before it on the same line.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping
from itertools import chain
from typing import Final

from scrubjay.ingest.scrub_values import Places, Span, drawn, positions, stands_for_nothing

LONGEST_LINE: Final = 400
"""Characters before a flag in which its program is looked for."""
LEAST_COOKIE: Final = 16
"""Characters of a cookie that can be a session; shorter ones are settings of a page."""


def _started(programs: bytes) -> re.Pattern[bytes]:
    """Return what finds that one of some programs, a pattern, is run in a line."""
    return re.compile(rb"(?:^|[\s/|;&$(`])(?:" + programs + rb")(?:\s|\Z)")


_WORD: Final = rb"[\"']?(?!\[)([^\s\"'`|;<>()]{5,256})"
_FLAGS: Final[Mapping[bytes, re.Pattern[bytes]]] = {
    letter: _started(programs)
    for letter, programs in {
        b"u": rb"curl|http|https|xh",
        b"p": rb"sshpass|(?:docker|podman|nerdctl|helm|registry)[ \t]+login|twine|az|mongo\w*|cypher-shell"
        rb"|rabbitmqadmin|nuget|vncdo",
        b"k": rb"openssl|nuget",
        b"a": rb"redis-cli|valkey-cli|keydb-cli",
        b"w": rb"ldap\w+|ipmitool",
        b"b": rb"htpasswd",
    }.items()
}
_GLUED: Final = _started(rb"mysql\w*|mariadb[\w-]*|mongo\w*|sshpass|7z|rar")
# Of these programs a letter holds more than the secret, or is a capital.
_HTTPIE: Final = _started(rb"http|https|xh")
_SAMBA: Final = _started(rb"smb\w+|rpcclient|net")
_ZIP: Final = _started(rb"zip|unzip|mosquitto_[ps]ub|sqlcmd|bcp|[io]sql|snmp\w+")
_CURL: Final = _started(rb"curl")
_FTP: Final = _started(rb"lftp|ncftp\w*")
_COMMA: Final = re.compile(rb"[ \t]+[\"']?[^\s\"'`,;]{1,64},([^\s\"'`|;<>]{4,256})")
# Programs of Oracle, which take name and password as one word.
_ORACLE: Final = re.compile(
    rb"(?:sqlplus|sqlldr)[ \t]+(?:-[\w]+[ \t]+){0,3}(?:userid=)?[\"']?"
    rb"[\w.$#-]{1,64}/(?!\[)\"?([^\s\"'@/]{4,128})\"?@",
    re.IGNORECASE,
)
_PER_CENT: Final = re.compile(rb"[ \t]+[\"']?[\w.@\\/-]{1,64}%([^\s\"'`|;<>()]{4,256})")
_OWN_AT_ONCE: Final = re.compile(rb"[\"']?[^\s\"'`:/]{1,64}:(?!\[|//)([^\s\"'`|;<>]{4,256})")
_USER: Final = re.compile(rb"-(?:proxy-)?user[= \t]" + _OWN_AT_ONCE.pattern)
_PASSED: Final = re.compile(
    rb"-[a-z-]{0,20}pass(?:word|phrase)?[0-9]?(?:=|[ \t]+(?=[^\s-]\S{0,255}[ \t]+[-\\]))" + _WORD
)
_PASSED_WORDS: Final = re.compile(
    rb"-[a-z-]{0,20}pass(?:word|phrase)?[0-9]?[= \t][\"']([^\"'\n$]{6,128})[\"']"
)
_VALUE: Final = re.compile(rb"[ \t]+" + _WORD)
_OWN: Final = re.compile(rb"[ \t]+[\"']?[^\s\"'`:]{1,64}:(?!\[)([^\s\"'`|;<>]{4,256})")
_AT_ONCE: Final = re.compile(_WORD)
_THIRD: Final = re.compile(rb"[ \t]+\S+[ \t]+\S+[ \t]+" + _WORD)
_LONG: Final = re.compile(rb"-(?:\w{0,12}pass(?:word|phrase|in|out)?|pw)[ \t]+(?:pass:)?" + _WORD)
_BODY: Final = re.compile(rb"body(?:[ \t]+|=)" + _WORD)
_NET: Final = re.compile(rb"net use[ \t][^\n]{0,80}?/user:\S{1,64}[ \t]+(?!/)" + _WORD)
_PIPED: Final = re.compile(rb"(?:echo|printf)[ \t]+(?:-\w[ \t]+)?" + _WORD + rb"[\"']?[ \t]*\|[ \t]*\Z")
_INTO: Final = re.compile(
    rb"(?:echo|printf)[ \t]+(?:-\w[ \t]+)?(?:[\"']?[a-z_][\w-]{0,31}:)?"
    + _WORD
    + rb"[\"']?[ \t]*\|[^\n|]{0,120}\Z"
)
_READERS: Final = (b"password-stdin", b"passwd", b"passphrase-fd")
_SECURE: Final = re.compile(
    rb"convertto-securestring[^\n\"']{0,60}[\"']([^\"'\n]{4,256})[\"']", re.IGNORECASE
)
_RDP: Final = re.compile(rb"/p:" + _WORD)
_RDP_CLIENT: Final = re.compile(rb"(?:freerdp|rdesktop|cmdkey|pass:)")
_NET_USER: Final = re.compile(rb"net user[ \t]+[^\s/]{1,64}[ \t]+(?!/)" + _WORD)
_WIREGUARD: Final = re.compile(rb"private-key[ \t]+([A-Za-z0-9+/]{43}=)")
_OBSCURE: Final = re.compile(rb"rclone obscure[ \t]+" + _WORD)
_AFTER: Final = re.compile(rb"passw?(?:ord)?[ \t]+" + _WORD)
_NMCLI: Final = re.compile(rb"nmcli [^\n]{0,160}\Z")
_PUTTY: Final = re.compile(
    rb"private-lines:[ \t]*[0-9]{1,3}[ \t]*\r?\n((?:[A-Za-z0-9+/]{4,80}={0,2}(?:\r?\n|\Z)){1,80})",
    re.IGNORECASE,
)
_PGPASS: Final = re.compile(rb"432:[\w*.-]{1,64}:[\w*.@-]{1,64}:([^\s:]{4,256})(?:\s|\Z)")
_REDIS: Final = re.compile(rb"AUTH[ \t]+(?:\w{1,32}[ \t]+)?([^\s\"'<>]{6,256})[ \t]*(?:\r?\n|\Z)")
_SETTING: Final = re.compile(rb"\w{6,12}[ \t]+" + _WORD)
_NETRC: Final = re.compile(rb"login[ \t]+\S{1,64}\s{1,12}\Z")
_LINES: Final = (
    (b"net use", _NET), (b"net use", _NET_USER), (b"convertto-securestring", _SECURE), (b"rclone obscure", _OBSCURE),
    (b"private-lines:", _PUTTY), (b"432:", _PGPASS),
    (b"sqlplus", _ORACLE), (b"sqlldr", _ORACLE),
)  # fmt: skip
_LINE_MARKS: Final = tuple(dict.fromkeys(mark for mark, _ in _LINES))
_FLAG: Final = re.compile(
    rb" -(?:[upkawbs][ \t]|[pu](?=[^ \t-])|-body[ =]|-(?:proxy-)?user[ =]|-cookie[ =]"
    rb"|-[a-z-]{0,20}pass|[a-z]{0,12}pass)"
)
_JAR: Final = re.compile(rb"cookies?[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?([^\n\"']{8,4096})")
_CRUMB: Final = re.compile(rb"[\w.$-]{1,80}+=([^;,\s\"']{16,4096})")
_DICT: Final = re.compile(
    rb"cookies?[\"']?[ \t]{0,4}[:=][ \t]{0,4}\{[ \t\n]{0,8}"
    rb"[\"'][\w.$-]{1,80}[\"'][ \t]{0,4}:[ \t]{0,4}[\"']([^\"'\s]{16,4096})[\"']",
    re.IGNORECASE,
)
# Cookies that count visitors; no session is in them.
_COUNTED: Final = re.compile(rb"_g[a-z]|_fb[pc]|_hj|ajs_|consent|optanon", re.IGNORECASE)
# Set by name and value: `cookies.set("li_at", "…")`, `{"name": "sid", "value": "…"}`.
_SET: Final = re.compile(
    rb"[\w.]{0,24}\([ \t\n]{0,8}(?:\{[ \t\n]{0,8}[\"']?name[\"']?:[ \t]{0,4})?[\"'][\w.$-]{1,80}[\"']["
    rb" \t]{0,4},[ \t\n]{0,8}"
    rb"(?:[\"']?value[\"']?:[ \t]{0,4})?[\"']([^\"'\s]{16,4096})[\"']",
    re.IGNORECASE,
)
_KEPT: Final = re.compile(
    rb"[\"']name[\"'][ \t]{0,2}:[ \t]{0,2}[\"'][\w.$-]{1,80}[\"'],[ \t\n]{0,12}[\"']value[\"'][ \t]{0,2}:["
    rb" \t]{0,2}[\"']([^\"'\s]{16,4096})[\"']",
    re.IGNORECASE,
)
_NETSCAPE: Final = re.compile(
    rb"(?:TRUE|FALSE)\t/[^\t\n]{0,80}\t(?:TRUE|FALSE)\t[0-9]{1,12}\t[\w.$-]{1,80}\t([^\s]{16,4096})"
)
_JWK: Final = re.compile(rb"\"[dk]\"\s{0,4}:\s{0,4}\"([\w-]{40,1400})\"")
_PLAIN: Final = frozenset(b"username password string secret passwd".split())


def commanded(data: bytes, low: bytes, places: Places) -> Iterator[Span]:
    """The secrets on command lines and the like.

    Args:
        data: The text in Latin-1, one byte a character (others as ``?``).
        low: ``data`` in lower case.
        places: Where what stands in ``low``.
    """
    for flag in _FLAG.finditer(low):
        yield from _flag(data, low, flag.start())
    for match in chain(_lines(data, low, places), _terminals(data, low, places)):
        yield from _found(match)
    if low.find(b"kty") >= 0:  # of a key in JSON (RFC 7517) only this field is private
        for at in (*places(b'"d"'), *places(b'"k"')):
            if part := _JWK.match(data, at):
                yield Span(part.start(1), part.end(1), "private-key", True)
    yield from _stored(data, places)
    done = 0
    for at in places(b"cookie"):
        if at >= done:  # each jar is looked through once, whatever its cookies are called
            done = yield from _jar(data, low, at)


def _lines(data: bytes, low: bytes, places: Places) -> Iterator[re.Match[bytes]]:
    """Lines of commands and settings that one mark gives away."""
    there = places.present(_LINE_MARKS if places(b"sql") else _LINE_MARKS[:-2])
    for mark, expression in _LINES if there else ():
        for at in places(mark) if mark in there else ():
            if match := expression.match(data, at):
                yield match
    for at in places(b"pass"):
        if match := _passed(data, low, at):
            yield match
    for at in places(b"pw"):
        if low.endswith((b"bind", b"root"), 0, at) and (match := _SETTING.match(data, at - 4)):
            yield match
    for at in places(b"key"):
        if low.endswith(b"private-", 0, at) and (match := _WIREGUARD.match(data, at - 8)):
            yield match


def _terminals(data: bytes, low: bytes, places: Places) -> Iterator[re.Match[bytes]]:
    """What is typed at a prompt of Redis, and what a client of a remote desktop is given."""
    for at in positions(data, b"AUTH"):
        opens = at == 0 or data[at - 1 : at] == b"\n" or data[at - 2 : at] == b"> "
        typed = (
            data[at - 2 : at] == b"> " and data[max(0, at - 24) : at - 2].rpartition(b"\n")[2].find(b":") > 0
        )
        if opens and (match := _REDIS.match(data, at)) and (typed or drawn(match[1])):
            yield match
    for at in places(b"/p:"):
        if _RDP_CLIENT.search(low, _line(low, at), at) and (match := _RDP.match(data, at)):
            yield match


def _passed(data: bytes, low: bytes, at: int) -> re.Match[bytes] | None:
    """What a line has for a password: behind the word, or in the pipe that leads to it."""
    if low.startswith(_READERS, at):
        return _INTO.search(data, _line(low, at), at)
    if low.endswith(b"require", 0, at):
        return _SETTING.match(data, at - 7)
    if _NETRC.search(low, max(0, at - 80), at) or _NMCLI.search(low, max(0, at - 170), at):
        return _AFTER.match(data, at)
    return None


def _flag(data: bytes, low: bytes, at: int) -> Iterator[Span]:
    letter, after = low[at + 2 : at + 3], low[at + 3 : at + 4]
    if letter == b"-" and low.startswith(b"cookie", at + 3):
        yield from _crumbs(data, at + 9, low.find(b"\n", at) + 1 or len(low))
        return
    if after in (b" ", b"\t") and data[at + 2 : at + 3] == b"b" and _CURL.search(low, _line(low, at), at):
        yield from _crumbs(data, at + 3, low.find(b"\n", at) + 1 or len(low))
        return
    if letter == b"-":
        match = _doubled(data, low, at)
    elif after in (b" ", b"\t"):
        match = _lettered(data, low, at, letter)
    elif data[at + 2 : at + 3] in b"pu" and low[at + 2 : at + 6] != b"pass":
        match = _glued(data, low, at)
    else:
        match = _LONG.match(data, at + 1)
    if match:
        yield from _found(match)


def _doubled(data: bytes, low: bytes, at: int) -> re.Match[bytes] | None:
    """What stands behind a flag with two dashes."""
    if low.startswith(b"body", at + 3):
        return _BODY.match(data, at + 3) if low.find(b"secret set", max(0, at - 200), at) >= 0 else None
    if low.startswith((b"user", b"proxy-user"), at + 3):
        return _USER.match(data, at + 2) if _FLAGS[b"u"].search(low, _line(low, at), at) else None
    return _PASSED_WORDS.match(data, at + 2) or _PASSED.match(data, at + 2)


def _glued(data: bytes, low: bytes, at: int) -> re.Match[bytes] | None:
    """What stands behind a letter without a space."""
    if data[at + 2 : at + 3] == b"u":
        return _OWN_AT_ONCE.match(data, at + 3) if _CURL.search(low, _line(low, at), at) else None
    return _AT_ONCE.match(data, at + 3) if _GLUED.search(low, _line(low, at), at) else None


def _lettered(data: bytes, low: bytes, at: int, letter: bytes) -> re.Match[bytes] | None:
    start = _line(low, at)
    if letter == b"s" and low.endswith(b"sudo", 0, at):
        return _PIPED.search(data, start, at - 4)
    if letter == b"p" and data[at + 2 : at + 3] == b"P":
        return _VALUE.match(data, at + 3) if _ZIP.search(low, start, at) else None
    if letter == b"a" and _HTTPIE.search(low, start, at):
        return _OWN.match(data, at + 3)
    if letter == b"u" and _FTP.search(low, start, at):
        return _COMMA.match(data, at + 3)
    if letter == b"u" and _SAMBA.search(low, start, at):
        return _PER_CENT.match(data, at + 3)
    if letter not in _FLAGS or not _FLAGS[letter].search(low, start, at):
        return None
    return {b"u": _OWN, b"b": _THIRD}.get(letter, _VALUE).match(data, at + 3)


def _line(low: bytes, at: int) -> int:
    """Where the line begins, with the end of the one before: a program's name stands behind it."""
    return max(0, at - LONGEST_LINE, low.rfind(b"\n", max(0, at - LONGEST_LINE), at))


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
        if (match := _DICT.match(data, at)) and drawn(match[1]) and not stands_for_nothing(match[1]):
            yield Span(match.start(1), match.end(1), "session-cookie", False)
        return at
    yield from _crumbs(data, match.start(1), match.end(1))
    return match.end()


def _stored(data: bytes, places: Places) -> Iterator[Span]:
    """The sessions that a browser or a script keeps by name and value."""
    if not places(b"cookie"):
        return
    found = [match for at in places(b"cookie") if (match := _SET.match(data, at + 6))]
    found += [match for at in places(b'"name"') if (match := _KEPT.match(data, at))]
    found += _NETSCAPE.finditer(data) if places(b"netscape") or places(b"cookies.txt") else ()
    for match in found:
        if (
            drawn(match[1])
            and not stands_for_nothing(match[1])
            and not _COUNTED.search(data, match.start(), match.start(1))
        ):
            yield Span(match.start(1), match.end(1), "session-cookie", False)


def _crumbs(data: bytes, start: int, end: int) -> Iterator[Span]:
    for crumb in _CRUMB.finditer(data, start, min(end, start + 4200)):
        if _COUNTED.match(crumb[0]):
            continue
        value = crumb[1].replace(b"%3A", b":").replace(b"%2F", b"/")
        if len(value) >= LEAST_COOKIE and drawn(value) and not stands_for_nothing(value):
            yield Span(crumb.start(1), crumb.end(1), "session-cookie", False)
