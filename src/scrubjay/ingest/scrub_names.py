"""Names: what the identifier of a setting, a field or an argument says that it holds."""

import re

# What an identifier ends in that holds a secret, by kind. Plain "key" is not there: most keys are of maps.
_OWNERS = (
    b"api app access secret private account auth encryption signing master shared service hmac jwt fernet"
    b" cookie deploy"
    b" session admin license preshared pre-shared unseal"
).split()
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
        b"key-data",
        b"nonce_key",
        b"logged_in_key",
        b"apikey_private",
    ),
    "secret": (
        b"secret",
        b"secret_value",
        b"secret_base",
        b"secret_key_base",
        b"auth_salt",
        b"nonce_salt",
        b"in_salt",
    ),
    "token": (b"token",),
    "url-signature": (b"sig",),
    "authorization": (b"authorization", b"auth"),
}
ALL_ENDINGS = tuple(ending for endings in _ENDINGS.values() for ending in endings)
# Words in their own right at the end of others (bypass, design, oauth): only where no letter stands before.
_WHOLE = (b"pass", b"sig", b"auth", b"pw", b"psk")
_IDENTIFIER = re.compile(rb"[\w.-]{0,64}\Z")

# Whose key it is, where the identifier says so.
_VENDORS = re.compile(
    rb"aws|azure|datadog|heroku|cloudflare|fastly|algolia|okta|auth0|pagerduty|twilio|asana|cohere|mistral"
    rb"|wandb|snyk|codecov|trello|zendesk|intercom|dropbox|twitter|deepgram|assemblyai|together|weaviate|qdrant"
)

# What a program signs with: people write words there as they do for a password.
_BY_HAND = re.compile(
    rb"(?:jwt|session|cookie|app|flask|django|next_?auth|better_?auth|csrf|auth|signing|hmac|encryption)"
    rb"[_.-]?(?:secret|key|secret[_-]?key)\Z"
)


def by_hand(left: bytes) -> bool:
    """Whether what is kept under the identifier at the end of ``left`` is often made up by somebody."""
    return _BY_HAND.search(left) is not None


def key_kind(left: bytes) -> str | None:
    """What the identifier at the end of ``left`` (lower case) holds."""
    if not left.endswith(ALL_ENDINGS) or left.endswith(b"[secret"):
        return None
    for kind, endings in _ENDINGS.items():
        for ending in endings:
            if left.endswith(ending) and not (ending in _WHOLE and left[: -len(ending)][-1:].isalpha()):
                vendor = _VENDORS.search(_IDENTIFIER.search(left)[0])  # type: ignore[index]
                return f"{vendor[0].decode()}-{kind}" if vendor and kind != "authorization" else kind
    return None
