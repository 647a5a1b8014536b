"""Context: the places of secrets that only what stands around them gives away.

Assignments (``DB_PASSWORD=…``, ``"api_key": "…"``, ``<password>…</password>``, ``--token …``), headers
(``Authorization: Bearer …``) and addresses (``postgres://user:…@host``, webhooks). All of them have one of
``= : </ --`` in a fixed place, so clean text is only looked at where one of these stands.

What is written in place of a secret is left alone: ``os.environ[…]``, ``${TOKEN}``, ``<your-key>``,
``xxxx``, a call, a name, a word of prose.
"""

import re
from collections.abc import Iterator

from scrubjay.ingest.scrub_values import (
    NAME,
    PLAIN_PASSWORDS,
    SHOUTED,
    VARIABLE,
    Span,
    chosen,
    filler,
    positions,
    secret,
    stands_for_nothing,
)

# What an identifier ends in that holds a secret, by kind. Plain "key" is not there: most keys are of maps.
_OWNERS = b"api app access secret private account auth encryption signing master shared service".split()
_ENDINGS: dict[str, tuple[bytes, ...]] = {
    "password": (
        b"password",
        b"passwd",
        b"passwort",
        b"passphrase",
        b"passcode",
        b"pwd",
        b"pass",
        b"pw",
        b"psk",
    ),
    "azure-storage-key": (b"accountkey",),
    "api-key": (
        *(owner + joint + b"key" for owner in _OWNERS for joint in (b"_", b"-", b".", b" ", b"")),
        b"credential",
        b"credentials",
    ),
    "secret": (b"secret", b"secret_value", b"secret_base", b"secret_key_base"),
    "token": (b"token",),
    "url-signature": (b"sig",),
    "authorization": (b"authorization", b"auth"),
}
_ALL_ENDINGS = tuple(ending for endings in _ENDINGS.values() for ending in endings)
# Words in their own right at the end of others (bypass, design, oauth): only where no letter stands before.
_WHOLE = (b"pass", b"sig", b"auth", b"pw", b"psk")
# One look at the last three characters tells nearly every ``=`` and ``:`` from an assignment that matters.
_TAILS = frozenset(ending[-3:] for ending in _ALL_ENDINGS) | {
    before + b"pw" for before in (b"", b" ", b"_", b"-", b".")
}
_BETWEEN = b" \t\"'`*]\\"
_LONGEST_KEY, _LONGEST_VALUE = 64, 512
_IDENTIFIER = re.compile(rb"[\w.-]{0,64}\Z")

# Whose key it is, where the identifier says so.
_VENDORS = re.compile(
    rb"aws|azure|datadog|heroku|cloudflare|fastly|algolia|okta|auth0|pagerduty|twilio|asana|cohere|mistral"
    rb"|wandb|snyk|codecov|trello|zendesk|intercom|dropbox|twitter|deepgram|assemblyai|together|weaviate|qdrant"
)

_VALUE = re.compile(
    rb"[=>]{0,2}[ \t]{0,8}(?:\*\*|__)?[ \t]{0,8}"
    rb"(?:\\?(?P<quote>[\"'`])(?P<quoted>[^\"'`\s\\]{4,512}+)(?:\\?(?P=quote)|(?=[^\"'`\s\\]))"
    rb"|(?P<bare>[^\s\"'`,;<>()\[\]{}\\|]{6,512}+))"
)
# What follows of a value that is longer than is looked at to judge it.
_REST = re.compile(rb"[^\s\"'`,;<>()\[\]{}\\|]*+")
_FLAG = re.compile(rb"--[a-z0-9-]{0,40}?(?:(passw(?:or)?d|passphrase)|token|secret|api-?key)(?=[ \t])")
_ELEMENT = re.compile(rb"</(?:[\w-]{1,40}[:._-])?[\w-]{1,40}>")
_HEADER = re.compile(
    rb"[ \t]{0,8}\\?[\"'`]?[ \t]{0,8}(basic|bearer|ssws|[a-z]{0,12}(?:key|token))[ \t]+([\w+/=.~-]{8,4096})",
    re.IGNORECASE,
)
_USERINFO = re.compile(rb"://[^\s:/@?#\[\"'`<>]{0,128}:([^\s/@?#\"'`<>]{1,256})@")
_HEX = re.compile(rb"[0-9a-f]{32}:")
_SCHEME = re.compile(rb"[a-z][a-z0-9]{1,11}(?:\+[a-z0-9]{1,16})?\Z")
_WEBHOOKS = (
    ("slack-webhook", re.compile(rb"://hooks\.slack\.com/((?:services|workflows|triggers)/[\w/]{20,200})")),
    (
        "discord-webhook",
        re.compile(
            rb"://[\w.]{0,20}discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/([0-9]{15,20}/[\w-]{60,80})"
        ),
    ),
    ("teams-webhook", re.compile(rb"://[\w.-]{1,60}\.webhook\.office\.com/(webhookb2/[\w@/-]{40,400})")),
)
# What an address must have to be worth a closer look: a name and password, or one of these hosts.
_HOOK_HOSTS = (b"hooks.slack.", b"discord", b"ptb.discord", b"canary.discord")
_DATABASES = {
    b"postgres": "postgres-password",
    b"postgresql": "postgres-password",
    b"mysql": "mysql-password",
    b"mariadb": "mysql-password",
    b"mongodb": "mongodb-password",
    b"redis": "redis-password",
    b"rediss": "redis-password",
    b"amqp": "amqp-password",
    b"amqps": "amqp-password",
}
_BRAINTREE = re.compile(rb"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}")

# A mark is no name of what stands behind it.
_MARKED = re.compile(rb"\[secret:[a-z0-9-]{1,40}\][ \t\"'`*\\]*\Z")
# NAME= as in a file of settings or a shell: what follows is a value and no code.
_SHOUTING = re.compile(rb"(?:^|[\s;\"'])[A-Z][A-Z0-9_]{2,60}\Z")
_LITERAL = re.compile(rb"[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)+")
_SPACED = re.compile(
    rb"[ \t]{0,8}([\"'])((?=[^\"'\n]{0,60}[0-9!#$%&+@])[\w!#$%&+@.,-]+(?: [\w!#$%&+@.,-]+){2,12})\1"
    rb"(?![ \t]*[+%])"
)
# user:password in base64, as programs keep it: `"auth": "…"`
_ENCODED = re.compile(rb"[ \t]*[\"']((?=[A-Za-z+/]*[0-9])[A-Za-z0-9+/]{16,2048}={0,2})[\"']")
_SPACE_OR_TAG = re.compile(rb"[\s<]")
_PARAMETER = re.compile(rb"&[\w.-]{1,40}=")


def find(data: bytes, low: bytes) -> Iterator[Span]:
    """The secrets that context gives away.

    Args:
        data: The text in Latin-1, one byte a character (others as ``?``).
        low: ``data`` in lower case.
    """
    yield from _signs(data, low, b"=")
    yield from _signs(data, low, b":")
    for at in positions(low, b" --"):
        if low[at + 3 : at + 4].isalpha() and (match := _FLAG.match(low, at + 1)):
            kind = "password" if match[1] else "token"
            yield from _value(data, match.end(), kind)
    for at in positions(low, b"</"):
        if low.find(b">", at, at + 60) > 0:
            yield from _element(data, low, at)
    for at in positions(low, b"access_token$"):
        if match := _BRAINTREE.match(data, at):
            yield Span(match.start(), match.end(), "braintree-token", True)


def _signs(data: bytes, low: bytes, sign: bytes) -> Iterator[Span]:
    """Assignments and addresses. The loop is the stage's innermost: one slice and one look-up a sign."""
    at = low.find(sign)
    while at >= 0:
        if low[max(0, at - 8) : at].rstrip(_BETWEEN)[-3:] in _TAILS:
            for span in _assigned(data, low, at):
                yield span
                at = span.end - 1
        elif low.startswith(b"//", at + 1) and (
            low.find(b"@", at, at + 400) > 0 or low.startswith(_HOOK_HOSTS, at + 3)
        ):
            yield from _address(data, low, at)
        at = low.find(sign, at + 1)


def _key_kind(left: bytes) -> str | None:
    """What the identifier at the end of ``left`` (lower case) holds."""
    if not left.endswith(_ALL_ENDINGS) or left.endswith(b"[secret"):
        return None
    for kind, endings in _ENDINGS.items():
        for ending in endings:
            if left.endswith(ending) and not (ending in _WHOLE and left[: -len(ending)][-1:].isalpha()):
                vendor = _VENDORS.search(_IDENTIFIER.search(left)[0])  # type: ignore[index]
                return f"{vendor[0].decode()}-{kind}" if vendor and kind != "authorization" else kind
    return None


def _assigned(data: bytes, low: bytes, at: int) -> Iterator[Span]:
    left = low[max(0, at - _LONGEST_KEY) : at]
    kind = _key_kind(left.rstrip(_BETWEEN))
    if kind is None or _MARKED.search(left):
        return
    if kind != "authorization":
        yield from _value(
            data, at + 1, kind, named=_SHOUTING.search(data, max(0, at - _LONGEST_KEY), at) is not None
        )
    elif match := _HEADER.match(data, at + 1):
        scheme = "basic" if match[1].lower() == b"basic" else "bearer"
        if not filler(match[2]) and not NAME.fullmatch(match[2]):
            yield Span(match.start(2), match.end(2), f"authorization-{scheme}", False)
    elif match := _ENCODED.match(data, at + 1):
        yield Span(match.start(1), match.end(1), "authorization-basic", False)


def _value(data: bytes, at: int, kind: str, *, named: bool = False) -> Iterator[Span]:
    if kind.endswith("password") and (match := _SPACED.match(data, at)) and not stands_for_nothing(match[2]):
        yield Span(match.start(2), match.end(2), kind, False)
        return
    match = _VALUE.match(data, at)
    if match is None:
        return
    password = kind.endswith("password")
    group = "quoted" if match["quote"] else "bare"
    value = match[group]
    if group == "bare":
        if data[match.end() : match.end() + 1] in (b"(", b"[", b"{"):
            return  # a call, a subscript: code that fetches the secret
        # Of an address' parameters only this one.
        value = _PARAMETER.split(value, maxsplit=1)[0].rstrip(b".:*_" if password else b".:*_?!")
    if secret(value, password=password, quoted=group == "quoted") or (
        named and _LITERAL.fullmatch(value) and chosen(value, password=password)
    ):
        start = match.start(group)
        whole = len(value) == _LONGEST_VALUE
        end = _REST.match(data, start + len(value)).end() if whole else start + len(value)  # type: ignore[union-attr]
        yield Span(start, end, kind, False)


def _address(data: bytes, low: bytes, at: int) -> Iterator[Span]:
    for kind, expression in _WEBHOOKS:
        if match := expression.match(data, at):
            if filler(match[1]):
                return
            yield Span(match.start(1), match.end(1), kind, True)
            return
    match = _USERINFO.match(data, at)
    if match is None or filler(match[1]) or VARIABLE.match(match[1]) or SHOUTED.fullmatch(match[1]):
        return
    if match[1].lower() in PLAIN_PASSWORDS:
        return
    scheme = _SCHEME.search(low[max(0, at - 29) : at])
    name = scheme[0].split(b"+")[0] if scheme else b""
    start = (
        at + 3 if _HEX.match(data, at + 3) else match.start(1)
    )  # a name that is drawn by lot is half of the key
    yield Span(start, match.end(1), _DATABASES.get(name, "url-password"), False)


def _element(data: bytes, low: bytes, at: int) -> Iterator[Span]:
    match = _ELEMENT.match(low, at)
    kind = _key_kind(match[0][2:-1]) if match else None
    start = data.rfind(b">", max(0, at - 512), at) + 1
    if kind is None or not start or _SPACE_OR_TAG.search(data, start, at):
        return
    if secret(data[start:at], password=kind.endswith("password"), quoted=True):
        yield Span(start, at, kind, False)
