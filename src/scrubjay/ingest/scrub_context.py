"""Context: the places of secrets that only what stands around them gives away.

Assignments (``DB_PASSWORD=…``, ``"api_key": "…"``, ``<password>…</password>``, ``--token …``), headers
(``Authorization: Bearer …``) and addresses (``postgres://user:…@host``, webhooks). All of them have one of
``= : </ --`` in a fixed place, so clean text is only looked at where one of these stands.

What is written in place of a secret is left alone: ``os.environ[…]``, ``${TOKEN}``, ``<your-key>``,
``xxxx``, a call, a name, a word of prose.
"""

import re
from collections.abc import Iterator
from itertools import chain

from scrubjay.ingest.scrub_evidence import COMPOUND, COUNTED, UNIT
from scrubjay.ingest.scrub_names import ALL_ENDINGS, by_hand, key_kind
from scrubjay.ingest.scrub_parameters import PARAMETERS, argument
from scrubjay.ingest.scrub_values import (
    NAME,
    PLAIN_PASSWORDS,
    SHOUTED,
    VARIABLE,
    Span,
    chosen,
    drawn,
    filler,
    joined,
    positions,
    secret,
    stands_for_nothing,
    talk,
)

# NAME_KEY=… in settings is a secret, but for these.
_OPEN_KEYS = re.compile(
    rb"public|publish|anon|cache|sort|primary|partition|foreign|object|idempot|site|routing|row|bucket|file"
    rb"|path|s3_key|hot"
)
# One look at the last three characters tells nearly every ``=`` and ``:`` from an assignment that matters.
_TAILS = frozenset(ending[-3:] for ending in ALL_ENDINGS + PARAMETERS) | {
    before + b"pw" for before in (b"", b" ", b"_", b"-", b".")
}
_BETWEEN = b" \t\"'`*]\\"
_LONGEST_KEY, _LONGEST_VALUE = 64, 512
_VALUE = re.compile(
    rb"[=>]{0,2}[ \t]{0,8}(?:\*\*|__)?[ \t]{0,8}"
    rb"(?:\\?(?P<quote>[\"'`])(?P<quoted>[^\"'`\s\\]{4,512}+)(?:\\?(?P=quote)|(?=[^\"'`\s\\]))"
    rb"|(?P<bare>[^\s\"'`,;<>()\[\]{}\\|]{6,512}+))"
)
_REST = re.compile(rb"[^\s\"'`,;<>()\[\]{}\\|]*+")
_FLAG = re.compile(rb"--[a-z0-9-]{0,40}?(?:(passw(?:or)?d|passphrase)|token|secret|api-?key)(?=[ \t])")
_ELEMENT = re.compile(rb"</(?:[\w-]{1,40}[:._-])?[\w-]{1,40}>")
_HEADER = re.compile(
    rb"[ \t]{0,8}\\?[\"'`]?[ \t]{0,8}"
    rb"(basic|bearer|ssws|[a-z]{0,12}(?:key|token))[ \t]+(?:token=)?\"?([\w+/=.~-]{8,4096})",
    re.IGNORECASE,
)
_USERINFO = re.compile(rb"://[^\s:/@?#\[\"'`<>]{0,128}:([^\s/@?\"'`<>]{1,256})@")
_ALONE = re.compile(rb"://(?![0-9a-f]{32}@)([A-Za-z0-9_.~-]{20,256})(?::(?:x-oauth-basic|x|))?@")
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
    ("teams-webhook", re.compile(rb"://outlook\.office(?:365)?\.com/(webhook/[\w@/-]{40,400})")),
    ("zapier-webhook", re.compile(rb"://hooks\.zapier\.com/(hooks/catch/[0-9]{4,12}/\w{5,12}/?)")),
    (
        "ifttt-webhook",
        re.compile(rb"://maker\.ifttt\.com/trigger/[\w-]{1,80}/(?:json/)?with/key/([\w-]{20,60})"),
    ),
    (
        "lark-webhook",
        re.compile(rb"://open\.(?:feishu\.cn|larksuite\.com)/open-apis/(bot/(?:v2/)?hook/[0-9a-f-]{30,40})"),
    ),
)
# What an address must have to be worth a closer look: a name and password, or one of these hosts.
_HOOK_HOSTS = (
    *(b"hooks.slack.", b"discord", b"ptb.discord", b"canary.discord", b"hooks.zapier.", b"maker.ifttt."),
    *(b"open.feishu.", b"open.larksuite.", b"outlook.office"),
)
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
# Of git's signing key the id alone is told: PGP's keys are known by their last digits.
_KEY_ID = re.compile(rb"signing_?[kK]ey[ \t\"']*[=:]{1,2}[ \t\"']*(?:0x)?[0-9A-F]{8,40}\b")
# Where a secret is kept, not the secret.
_PLACED = re.compile(rb"arn:aws[\w-]*:\S*\Z")
# NAME= as in a file of settings or a shell: what follows is a value and no code.
_SHOUTING = re.compile(rb"(?:^|[\s;\"'])[A-Z][A-Z0-9_]{2,60}\Z")
_SHOUTED_END = frozenset(bytes((byte,)) for byte in b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_LITERAL = re.compile(rb"[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)+")
_SPACED = re.compile(
    rb"[ \t]{0,8}([\"'])((?=[^\"'\n]{0,60}[0-9!#$%&+@])[\w!#$%&+@.,-]+(?: [\w!#$%&+@.,-]+){2,12})\1"
    rb"(?![ \t]*[+%])"
)
# user:password in base64, as programs keep it: `"auth": "…"`
_ENCODED = re.compile(rb"[ \t]*[\"']((?=[A-Za-z+/]*[0-9])[A-Za-z0-9+/]{16,2048}={0,2})[\"']")
# A token with no scheme before it, alone on its line.
_RAW = re.compile(rb"[ \t]{0,8}([A-Za-z0-9+/_.-]{20,2048}={0,2})[\"'`]?[ \t]{0,8}(?:[\n\r]|\Z)")
# Who logs in, just before: then what is called a password is one, though it be a word.
_USER = re.compile(
    rb"(?:user(?:[-_ ]?name)?|login|e?mail|uid)[\"']{0,2}[ \t]{0,3}[:=][ \t]{0,3}"
    rb"[\"']?[\w.@%+-]{2,40}[\"']?[ \t\n,;&]{1,12}[\"']?[\w.-]{0,20}[\"']?[ \t]{0,3}\Z"
)
_WORDY = re.compile(rb"[A-Za-z]{6,40}")
# "The PIN of the card is 4471": the number of a pin of a board is shorter.
_DIGITS = rb"[ \t]{1,3}[\"'`*]{0,2}([0-9]{4,8})(?![0-9-]|[.,][0-9]|[ ]?[cmn]m\b)"
_PIN = re.compile(
    rb"(?<![\w.-])pin(?:code)?(?![\w.-])[^\n.;:=?!0-9\[]{0,40}?(?:[:=]|(?<= )(?:is|ist|es|est|\xe8|\xe9|to)\b)"
    + _DIGITS
)
# "The till code is 4471", "the unlock code of the till is 4471", "the safe opens with 4471".
_LOCK = re.compile(
    rb"\b(?:till|door|gate|alarm|safe|lock(?:er|box)?|padlock|garage|keypad|vault|shed|unlock)\Z"
)
_LOCK_CODE = re.compile(
    rb" (?:code(?: (?:of|for) [a-z '-]{1,24}?)?(?: is(?: now)?|:)|opens with(?=[ \t]+[0-9]+(?:[.,;!)\n]|\Z)))"
    + _DIGITS
)
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
    yield from _numbers(low)
    for at in positions(low, b"access_token$"):
        if match := _BRAINTREE.match(data, at):
            yield Span(match.start(), match.end(), "braintree-token", True)


def _numbers(low: bytes) -> Iterator[Span]:
    """The numbers of PINs and locks that a sentence tells, unless they count something."""
    labelled = chain(
        (_PIN.match(low, at) for at in positions(low, b"pin")),
        (
            _LOCK_CODE.match(low, at)
            for mark in (b" code", b" opens with")
            for at in positions(low, mark)
            if _LOCK.search(low, max(0, at - 12), at)
        ),
    )
    for match in filter(None, labelled):
        said = low[match.start() : match.end() + UNIT].decode("latin-1")
        if not (COMPOUND.match(said, len("pin")) or COUNTED.match(said, match.end() - match.start())):
            yield Span(match.start(1), match.end(1), "pin", False)


def _signs(data: bytes, low: bytes, sign: bytes) -> Iterator[Span]:
    """Assignments and addresses. The loop is the stage's innermost: one slice and one look-up a sign."""
    at = low.find(sign)
    while at >= 0:
        if low[at - 8 if at > 8 else 0 : at].rstrip(_BETWEEN)[-3:] in _TAILS:
            for span in _assigned(data, low, at):
                yield span
                at = span.end - 1
        elif low.startswith(b"//", at + 1) and (
            low.find(b"@", at, at + 400) > 0 or low.startswith(_HOOK_HOSTS, at + 3)
        ):
            yield from _address(data, low, at)
        at = low.find(sign, at + 1)


def _assigned(data: bytes, low: bytes, at: int) -> Iterator[Span]:
    left = low[max(0, at - _LONGEST_KEY) : at]
    if _MARKED.search(left) or _PLACED.search(left) or _KEY_ID.search(data, max(0, at - 24), at + 48):
        return
    if span := argument(data, at, left):
        yield span
        return
    name = left.rstrip(_BETWEEN)
    named = data[at - 1 : at] in _SHOUTED_END and (
        _SHOUTING.search(data, max(0, at - _LONGEST_KEY), at) is not None
    )
    kind = key_kind(name) or ("api-key" if named and _shouted_key(left) else None)
    if kind == "authorization":
        yield from _authorized(data, at + 1, name)
    elif kind is not None:
        password = kind.endswith("password")
        yield from _value(
            data,
            at + 1,
            kind,
            words=named and (password or by_hand(name)),
            named=named,
            pair=_owned(left, password),
        )


def _shouted_key(left: bytes) -> bool:
    """Whether NAME_KEY in settings is none of the keys that are no secrets."""
    return left.endswith(b"_key") and _OPEN_KEYS.search(left[left.rfind(b"\n") + 1 :]) is None


def _owned(left: bytes, password: bool) -> bool:
    return password and _USER.search(left) is not None


def _authorized(data: bytes, at: int, name: bytes) -> Iterator[Span]:
    if match := _HEADER.match(data, at):
        scheme = "basic" if match[1].lower() == b"basic" else "bearer"
        if not filler(match[2]) and not NAME.fullmatch(match[2]):
            yield Span(match.start(2), match.end(2), f"authorization-{scheme}", False)
    elif match := _ENCODED.match(data, at):
        yield Span(match.start(1), match.end(1), "authorization-basic", False)
    elif name.endswith((b"authorization", b"_auth")):
        match = _RAW.match(data, at)
        if match and drawn(match[1]) and not stands_for_nothing(match[1]):
            yield Span(match.start(1), match.end(1), "authorization-bearer", False)


def _value(
    data: bytes, at: int, kind: str, *, words: bool = False, named: bool = False, pair: bool = False
) -> Iterator[Span]:
    """What is assigned, if it is a secret.

    Args:
        data: The text.
        at: Where the value begins.
        kind: What its name says that it is.
        words: Whether joined words may be one.
        named: Whether the name is in capitals, as in settings.
        pair: Whether a user is named just before, so that a word may be a password.
    """
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
    if (
        secret(value, password=password, quoted=group == "quoted")
        or (named and _LITERAL.fullmatch(value) and chosen(value, password=password))
        or (words and joined(value))
        or (pair and _WORDY.fullmatch(value) and not talk(value) and not stands_for_nothing(value))
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
            # Who knows the address may post: all of it goes.
            scheme = _SCHEME.search(low[max(0, at - 29) : at])
            yield Span(at - len(scheme[0]) if scheme else match.start(1), match.end(1), kind, True)
            return
    if (match := _ALONE.match(data, at)) and drawn(match[1]) and not filler(match[1]):
        yield Span(match.start(1), match.end(1), "url-token", False)
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
    kind = key_kind(match[0][2:-1]) if match else None
    start = data.rfind(b">", max(0, at - 512), at) + 1
    if kind is None or not start or _SPACE_OR_TAG.search(data, start, at):
        return
    if secret(data[start:at], password=kind.endswith("password"), quoted=True):
        yield Span(start, at, kind, False)
