"""Context rules: secrets that the text around them gives away.

These are assignments (``DB_PASSWORD=…``, ``"api_key": "…"``, ``<password>…</password>``, ``--token …``), headers
(``Authorization: Bearer …``), addresses (``postgres://user:…@host``, webhooks) and numbers of PINs and locks. Only
texts with one of ``= : </ --`` in the right place are looked at closely.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from scrubjay.redaction.evidence import COMPOUND, COUNTED_UNIT, UNIT_REACH, is_postal_code
from scrubjay.redaction.values import (
    NAME_FORM,
    PLAIN_PASSWORDS,
    UPPERCASE_NAME,
    VARIABLE,
    SecretSpan,
    find_positions,
    is_filler,
    is_joined_words,
    is_secret,
    is_stand_in,
    is_user_chosen,
    looks_random,
    speaks_of_secrets,
)

# Endings of identifiers that hold a secret. Plain "key" is not there: most keys are of maps.
_OWNERS = (
    b"api app access secret private account auth encryption signing master shared service hmac jwt fernet"
    b" cookie deploy session admin license preshared pre-shared unseal"
).split()
_ENDINGS: dict[str, tuple[bytes, ...]] = {
    "password": tuple(b"password passwd passwort passphrase passcode pwd pass pw psk".split()),
    "azure-storage-key": (b"accountkey",),
    "api-key": (
        *(owner + joint + b"key" for owner in _OWNERS for joint in (b"_", b"-", b".", b" ", b"")),
        *b"credential credentials key-data nonce_key logged_in_key apikey_private".split(),
    ),
    "secret": tuple(b"secret secret_value secret_base secret_key_base auth_salt nonce_salt in_salt".split()),
    "token": (b"token",),
    "url-signature": (b"sig",),
    "authorization": (b"authorization", b"auth"),
}
ALL_ENDINGS = tuple(ending for endings in _ENDINGS.values() for ending in endings)
# Also the ends of other words (bypass, design, oauth): only without a letter before.
_WHOLE_WORDS = (b"pass", b"sig", b"auth", b"pw", b"psk")
_IDENTIFIER = re.compile(rb"[\w.-]{0,64}\Z")

_VENDORS = re.compile(
    rb"aws|azure|datadog|heroku|cloudflare|fastly|algolia|okta|auth0|pagerduty|twilio|asana|cohere|mistral"
    rb"|wandb|snyk|codecov|trello|zendesk|intercom|dropbox|twitter|deepgram|assemblyai|together|weaviate|qdrant"
)

# Signing keys, for which people write words as they do for a password.
_HANDMADE_KEY = re.compile(
    rb"(?:jwt|session|cookie|app|flask|django|next_?auth|better_?auth|csrf|auth|signing|hmac|encryption)"
    rb"[_.-]?(?:secret|key|secret[_-]?key)\Z"
)


def is_often_handmade(left: bytes) -> bool:
    """Tell whether people often make up the value of the identifier at the end of ``left``."""
    return _HANDMADE_KEY.search(left) is not None


def key_kind(left: bytes) -> str | None:
    """Return the kind of secret that the identifier at the end of ``left`` (lower case) holds, or None."""
    if not left.endswith(ALL_ENDINGS) or left.endswith(b"[secret"):
        return None
    for kind, endings in _ENDINGS.items():
        for ending in endings:
            if left.endswith(ending) and not (ending in _WHOLE_WORDS and left[: -len(ending)][-1:].isalpha()):
                vendor = _VENDORS.search(_IDENTIFIER.search(left)[0])  # type: ignore[index]
                return f"{vendor[0].decode()}-{kind}" if vendor and kind != "authorization" else kind
    return None


# Parameters of addresses: "?key=…", "&Signature=…".
PARAMETERS = tuple(b"signature key code auth ticket appid wskey sas otp".split())
_URL_PARAMETER = re.compile(rb"[?&](?:x-(?:amz|goog|oss|cos)-)?(?:" + b"|".join(PARAMETERS) + rb")\Z")
_ARGUMENT_VALUE = re.compile(rb"((?:[\w.~/+=-]|%[0-9A-Fa-f]{2}){20,2048})")
_UUID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_PARAMETER_HEX = re.compile(rb"[0-9a-f]{32}\Z")


def find_argument(data: bytes, at: int, left: bytes) -> SecretSpan | None:
    """Return the random value of an address' parameter, if its name says that it is a secret."""
    if data[at : at + 1] != b"=" or not _URL_PARAMETER.search(left):
        return None
    match = _ARGUMENT_VALUE.match(data, at + 1)
    if match is None or not looks_random(match[1]) or is_stand_in(match[1]) or _UUID.fullmatch(match[1]):
        return None
    if left.endswith(b"appid") and not _PARAMETER_HEX.match(match[1]):
        return None  # an id, but for weather
    return SecretSpan(match.start(1), match.end(1), "url-signature", False)


# NAME_KEY=… in settings is a secret, except for these.
_PUBLIC_KEYS = re.compile(
    rb"public|publish|anon|cache|sort|primary|partition|foreign|object|idempot|site|routing|row|bucket|file"
    rb"|path|s3_key|hot"
)
# The last three characters exclude nearly every ``=`` and ``:`` that assigns no secret.
_KEY_TAILS = frozenset(ending[-3:] for ending in ALL_ENDINGS + PARAMETERS) | {
    before + b"pw" for before in (b"", b" ", b"_", b"-", b".")
}
_KEY_TRIM_CHARACTERS = b" \t\"'`*]\\"
_LONGEST_KEY, _LONGEST_VALUE = 64, 512
_VALUE = re.compile(
    rb"[=>]{0,2}[ \t]{0,8}(?:\*\*|__)?[ \t]{0,8}"
    rb"(?:\\?(?P<quote>[\"'`])(?P<quoted>[^\"'`\s\\]{4,512}+)(?:\\?(?P=quote)|(?=[^\"'`\s\\]))"
    rb"|(?P<bare>[^\s\"'`,;<>()\[\]{}\\|]{6,512}+))"
)
_VALUE_REST = re.compile(rb"[^\s\"'`,;<>()\[\]{}\\|]*+")
_SECRET_FLAG = re.compile(rb"--[a-z0-9-]{0,40}?(?:(passw(?:or)?d|passphrase)|token|secret|api-?key)(?=[ \t])")
_CLOSING_TAG = re.compile(rb"</(?:[\w-]{1,40}[:._-])?[\w-]{1,40}>")
_AUTHORIZATION_HEADER = re.compile(
    rb"[ \t]{0,8}\\?[\"'`]?[ \t]{0,8}"
    rb"(basic|bearer|ssws|[a-z]{0,12}(?:key|token))[ \t]+(?:token=)?\"?([\w+/=.~-]{8,4096})",
    re.IGNORECASE,
)
_USERINFO = re.compile(rb"://[^\s:/@?#\[\"'`<>]{0,128}:([^\s/@?\"'`<>]{1,256})@")
_URL_TOKEN = re.compile(rb"://(?![0-9a-f]{32}@)([A-Za-z0-9_.~-]{20,256})(?::(?:x-oauth-basic|x|))?@")
_HEX_USER = re.compile(rb"[0-9a-f]{32}:")
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
# An address is looked at closely if it has a user, or one of these hosts.
_HOOK_HOSTS = (
    *(b"hooks.slack.", b"discord", b"ptb.discord", b"canary.discord", b"hooks.zapier.", b"maker.ifttt."),
    *(b"open.feishu.", b"open.larksuite.", b"outlook.office"),
)
_DATABASES = {
    scheme: f"{name}-password"
    for name, schemes in (
        ("postgres", (b"postgres", b"postgresql")),
        ("mysql", (b"mysql", b"mariadb")),
        ("mongodb", (b"mongodb",)),
        ("redis", (b"redis", b"rediss")),
        ("amqp", (b"amqp", b"amqps")),
    )
    for scheme in schemes
}
_BRAINTREE = re.compile(rb"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}")

# A mark is no name of what follows it.
_MARK_BEFORE = re.compile(rb"\[secret:[a-z0-9-]{1,40}\][ \t\"'`*\\]*\Z")
# The id of git's signing key is no secret.
_KEY_ID = re.compile(rb"signing_?[kK]ey[ \t\"']*[=:]{1,2}[ \t\"']*(?:0x)?[0-9A-F]{8,40}\b")
# Where a secret is kept, not the secret.
_SECRET_LOCATION = re.compile(rb"arn:aws[\w-]*:\S*\Z")
# NAME= as in a file of settings or a shell: a value follows, and no code.
_CAPITAL_NAME = re.compile(rb"(?:^|[\s;\"'])[A-Z][A-Z0-9_]{2,60}\Z")
_CAPITAL_END = frozenset(bytes((byte,)) for byte in b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_JOINED_VALUE = re.compile(rb"[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)+")
_SPACED_PASSWORD = re.compile(
    rb"[ \t]{0,8}([\"'])((?=[^\"'\n]{0,60}[0-9!#$%&+@])[\w!#$%&+@.,-]+(?: [\w!#$%&+@.,-]+){2,12})\1(?![ \t]*[+%])"
)
# user:password in base64, as programs store it: `"auth": "…"`
_BASE64_CREDENTIALS = re.compile(rb"[ \t]*[\"']((?=[A-Za-z+/]*[0-9])[A-Za-z0-9+/]{16,2048}={0,2})[\"']")
# A token with no scheme before it, alone on its line.
_BARE_TOKEN = re.compile(rb"[ \t]{0,8}([A-Za-z0-9+/_.-]{20,2048}={0,2})[\"'`]?[ \t]{0,8}(?:[\n\r]|\Z)")
# A user just before: then a password may be a word.
_USER_BEFORE = re.compile(
    rb"(?:user(?:[-_ ]?name)?|login|e?mail|uid)[\"']{0,2}[ \t]{0,3}[:=][ \t]{0,3}"
    rb"[\"']?[\w.@%+-]{2,40}[\"']?[ \t\n,;&]{1,12}[\"']?[\w.-]{0,20}[\"']?[ \t]{0,3}\Z"
)
_WORD_VALUE = re.compile(rb"[A-Za-z]{6,40}")
# "The PIN of the card is 4471": the number of a pin of a board is shorter.
_PIN_DIGITS = rb"[ \t]{1,3}[\"'`*]{0,2}([0-9]{4,8})(?![0-9-]|[.,][0-9]|[ ]?[cmn]m\b)"
_LABELLED_PIN = re.compile(
    rb"(?<![\w.-])pin(?:code)?(?![\w.-])[^\n.;:=?!0-9\[]{0,40}?(?:[:=]|(?<= )(?:is|ist|es|est|\xe8|\xe9|to)\b)"
    + _PIN_DIGITS
)
# "The till code is 4471", "the unlock code of the till is 4471", "the safe opens with 4471".
_LOCK_WORD = re.compile(
    rb"\b(?:till|door|gate|alarm|safe|lock(?:er|box)?|padlock|garage|keypad|vault|shed|unlock)\Z"
)
_LOCK_CODE = re.compile(
    rb" (?:code(?: (?:of|for) [a-z '-]{1,24}?)?(?: is(?: now)?|:)|opens with(?=[ \t]+[0-9]+(?:[.,;!)\n]|\Z)))"
    + _PIN_DIGITS
)
_SPACE_OR_TAG = re.compile(rb"[\s<]")
_PARAMETER = re.compile(rb"&[\w.-]{1,40}=")


def find_by_context(data: bytes, low: bytes) -> Iterator[SecretSpan]:
    """Yield the secrets that context gives away; arguments as in `Reading`."""
    yield from _find_assignments_and_urls(data, low, b"=")
    yield from _find_assignments_and_urls(data, low, b":")
    for at in find_positions(low, b" --"):
        if low[at + 3 : at + 4].isalpha() and (match := _SECRET_FLAG.match(low, at + 1)):
            kind = "password" if match[1] else "token"
            yield from _find_value(data, match.end(), kind)
    for at in find_positions(low, b"</"):
        if low.find(b">", at, at + 60) > 0:
            yield from _find_in_element(data, low, at)
    yield from _find_pins(low)
    for at in find_positions(low, b"access_token$"):
        if match := _BRAINTREE.match(data, at):
            yield SecretSpan(match.start(), match.end(), "braintree-token", True)


def _find_pins(low: bytes) -> Iterator[SecretSpan]:
    matches = chain(
        (_LABELLED_PIN.match(low, at) for at in find_positions(low, b"pin")),
        (
            _LOCK_CODE.match(low, at)
            for mark in (b" code", b" opens with")
            for at in find_positions(low, mark)
            if _LOCK_WORD.search(low, max(0, at - 12), at)
        ),
    )
    for match in filter(None, matches):
        first = max(0, match.start() - UNIT_REACH)
        label = low[first : match.end() + UNIT_REACH].decode("latin-1")
        is_term = COMPOUND.match(label, match.start() - first + len("pin"))
        end = match.end() - first
        is_postal = is_postal_code(label, match.start(1) - first, end)
        if not (is_term or is_postal or COUNTED_UNIT.match(label, end)):
            yield SecretSpan(match.start(1), match.end(1), "pin", False)


def _find_assignments_and_urls(data: bytes, low: bytes, sign: bytes) -> Iterator[SecretSpan]:
    at = low.find(sign)
    while at >= 0:
        if low[at - 8 if at > 8 else 0 : at].rstrip(_KEY_TRIM_CHARACTERS)[-3:] in _KEY_TAILS:
            for span in _find_assigned(data, low, at):
                yield span
                at = span.end - 1
        elif low.startswith(b"//", at + 1) and (
            low.find(b"@", at, at + 400) > 0 or low.startswith(_HOOK_HOSTS, at + 3)
        ):
            yield from _find_in_url(data, low, at)
        at = low.find(sign, at + 1)


def _find_assigned(data: bytes, low: bytes, at: int) -> Iterator[SecretSpan]:
    left = low[max(0, at - _LONGEST_KEY) : at]
    if _MARK_BEFORE.search(left) or _SECRET_LOCATION.search(left):
        return
    if _KEY_ID.search(data, max(0, at - 24), at + 48):
        return
    if span := find_argument(data, at, left):
        yield span
        return
    name = left.rstrip(_KEY_TRIM_CHARACTERS)
    in_capitals = data[at - 1 : at] in _CAPITAL_END and (
        _CAPITAL_NAME.search(data, max(0, at - _LONGEST_KEY), at) is not None
    )
    kind = key_kind(name)
    if kind is None and in_capitals and left.endswith(b"_key"):
        kind = None if _PUBLIC_KEYS.search(left[left.rfind(b"\n") + 1 :]) else "api-key"
    if kind == "authorization":
        yield from _find_authorization(data, at + 1, name)
    elif kind is not None:
        password = kind.endswith("password")
        yield from _find_value(
            data,
            at + 1,
            kind,
            words=in_capitals and (password or is_often_handmade(name)),
            in_capitals=in_capitals,
            user=password and _USER_BEFORE.search(left) is not None,
        )


def _find_authorization(data: bytes, at: int, name: bytes) -> Iterator[SecretSpan]:
    if match := _AUTHORIZATION_HEADER.match(data, at):
        scheme = "basic" if match[1].lower() == b"basic" else "bearer"
        if not is_filler(match[2]) and not NAME_FORM.fullmatch(match[2]):
            yield SecretSpan(match.start(2), match.end(2), f"authorization-{scheme}", False)
    elif match := _BASE64_CREDENTIALS.match(data, at):
        yield SecretSpan(match.start(1), match.end(1), "authorization-basic", False)
    elif name.endswith((b"authorization", b"_auth")):
        match = _BARE_TOKEN.match(data, at)
        if match and looks_random(match[1]) and not is_stand_in(match[1]):
            yield SecretSpan(match.start(1), match.end(1), "authorization-bearer", False)


def _find_value(
    data: bytes, at: int, kind: str, *, words: bool = False, in_capitals: bool = False, user: bool = False
) -> Iterator[SecretSpan]:
    password = kind.endswith("password")
    if password and (match := _SPACED_PASSWORD.match(data, at)) and not is_stand_in(match[2]):
        yield SecretSpan(match.start(2), match.end(2), kind, False)
        return
    match = _VALUE.match(data, at)
    if match is None:
        return
    group = "quoted" if match["quote"] else "bare"
    value = match[group]
    if group == "bare":
        if data[match.end() : match.end() + 1] in (b"(", b"[", b"{"):
            return  # a call, a subscript: code that fetches the secret
        # Only this one of an address' parameters.
        value = _PARAMETER.split(value, maxsplit=1)[0].rstrip(b".:*_" if password else b".:*_?!")
    if (
        is_secret(value, password=password, quoted=group == "quoted")
        or (in_capitals and _JOINED_VALUE.fullmatch(value) and is_user_chosen(value, password=password))
        or (words and is_joined_words(value))
        or (user and _WORD_VALUE.fullmatch(value) and not (speaks_of_secrets(value) or is_stand_in(value)))
    ):
        start = match.start(group)
        cut_off = len(value) == _LONGEST_VALUE
        end = _VALUE_REST.match(data, start + len(value)).end() if cut_off else start + len(value)  # type: ignore[union-attr]
        yield SecretSpan(start, end, kind, False)


def _find_in_url(data: bytes, low: bytes, at: int) -> Iterator[SecretSpan]:
    for kind, expression in _WEBHOOKS:
        if match := expression.match(data, at):
            if is_filler(match[1]):
                return
            # All of it is secret: whoever knows the address may post.
            scheme = _SCHEME.search(low[max(0, at - 29) : at])
            yield SecretSpan(at - len(scheme[0]) if scheme else match.start(1), match.end(1), kind, True)
            return
    if (match := _URL_TOKEN.match(data, at)) and looks_random(match[1]) and not is_filler(match[1]):
        yield SecretSpan(match.start(1), match.end(1), "url-token", False)
        return
    match = _USERINFO.match(data, at)
    if match is None or is_filler(match[1]) or VARIABLE.match(match[1]) or UPPERCASE_NAME.fullmatch(match[1]):
        return
    if match[1].lower() in PLAIN_PASSWORDS:
        return
    scheme = _SCHEME.search(low[max(0, at - 29) : at])
    name = scheme[0].split(b"+")[0] if scheme else b""
    start = at + 3 if _HEX_USER.match(data, at + 3) else match.start(1)  # a random name is half of the key
    yield SecretSpan(start, match.end(1), _DATABASES.get(name, "url-password"), False)


def _find_in_element(data: bytes, low: bytes, at: int) -> Iterator[SecretSpan]:
    match = _CLOSING_TAG.match(low, at)
    kind = key_kind(match[0][2:-1]) if match else None
    start = data.rfind(b">", max(0, at - 512), at) + 1
    if kind is None or not start or _SPACE_OR_TAG.search(data, start, at):
        return
    if is_secret(data[start:at], password=kind.endswith("password"), quoted=True):
        yield SecretSpan(start, at, kind, False)
