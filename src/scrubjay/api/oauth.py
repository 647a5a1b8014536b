"""OAuth resource server: JWT access tokens of one configured issuer stand for principals.

The issuer's keys are found by its metadata (RFC 8414, OpenID Connect Discovery) and read again when they are old or a
token names an unknown one. Nothing else is ever fetched: addresses in a token (``jku``, ``x5u``) are ignored, redirects
are not followed, and everything is https unless the issuer is on this machine. Only asymmetric algorithms are allowed,
so a public key can never verify an HMAC. While the keys cannot be read, no token is accepted.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from scrubjay.api.auth import DEFAULT_SCOPES, SCOPES, TOKEN_PREFIX, Principal, is_valid_name
from scrubjay.config.settings import is_loopback_url
from scrubjay.errors import ConfigError, ForbiddenError, InputError, ProviderError

if TYPE_CHECKING:
    import httpx

    from scrubjay.config.settings import OAuthSettings, Settings


KEY_TYPES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), ("RSA", ())),
    "ES256": ("EC", ("P-256",)),
    "ES384": ("EC", ("P-384",)),
    "ES512": ("EC", ("P-521",)),
    "EdDSA": ("OKP", ("Ed25519", "Ed448")),
}
"""Allowed algorithm to the type of its keys and their curves."""
TOKEN_TYPES: Final = ("jwt", "at+jwt")
"""Allowed ``typ`` headers; others are JWTs made for something else, such as logging out."""
LEEWAY_SECONDS: Final = 30
"""Difference of clocks that is tolerated."""
KEYS_SECONDS: Final = 300.0
"""Seconds after which keys are read again: a key that the issuer removes stops working after that."""
MAX_KEYS_SECONDS: Final = 3_600.0
"""Seconds for which keys are used while the issuer cannot be reached."""
MAX_FETCHES: Final = 5
"""Fetches within `FETCHES_SECONDS`: tokens with made-up key ids cannot have the issuer flooded."""
FETCHES_SECONDS: Final = 60.0
FETCH_TIMEOUT: Final = 5.0
"""Seconds for the issuer's metadata and keys."""
MAX_RESPONSE_BYTES: Final = 512 * 1024


class InvalidTokenError(InputError):
    """An access token is not accepted; the message says why, in words of ours alone."""


@dataclass(frozen=True, slots=True)
class VerifiedToken:
    """The principal of a valid token, and the key that MCP sessions are bound to.

    Later access tokens of the same grant share it.
    """

    principal: Principal
    key: str


def is_jwt(secret: str) -> bool:
    """Return whether a bearer token has the form of a JWT; those that `scrubjay token` makes do not."""
    return secret.count(".") == 2 and not secret.startswith(TOKEN_PREFIX)


class OAuthVerifier:
    """Verifies access tokens of the issuer in ``[oauth]``.

    ``tenant`` is that of all users, unless a claim names it.
    """

    def __init__(self, settings: OAuthSettings, tenant: str, clock: Callable[[], float] = monotonic) -> None:
        self.settings = settings
        self._tenant = tenant
        self._clock = clock
        self._lock = asyncio.Lock()
        self._keys: list[dict[str, Any]] = []
        self._read_at = -MAX_KEYS_SECONDS
        self._fetches: deque[float] = deque(maxlen=MAX_FETCHES)
        self._fetched_at = -MAX_KEYS_SECONDS
        self._failure: ProviderError | None = None

    @property
    def metadata_path(self) -> str:
        """The path of the protected resource metadata (RFC 9728, 3.1)."""
        return f"/.well-known/oauth-protected-resource{urlsplit(self.settings.resource).path.rstrip('/')}"

    def challenge(self, error: str = "", scopes: Sequence[str] = DEFAULT_SCOPES, about: str = "") -> str:
        """Return a ``WWW-Authenticate`` header that tells clients where to get which token."""
        parts = urlsplit(self.settings.resource)
        fields = {
            "error": error,
            "error_description": about,
            "resource_metadata": f"{parts.scheme}://{parts.netloc}{self.metadata_path}",
            "scope": " ".join(map(self.scope_name, scopes)),
        }
        return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in fields.items() if value)

    def scope_name(self, scope: str) -> str:
        """Return the issuer's name of a scope."""
        return self.settings.scope_prefix + scope

    async def verify(self, token: str) -> VerifiedToken:
        """Return whom an access token stands for.

        Raises:
            InvalidTokenError: The token is not valid here.
            ForbiddenError: It is valid, and has none of the scopes.
            ProviderError: The issuer's keys cannot be read, or its metadata is another issuer's.
        """
        import jwt

        try:
            header = jwt.get_unverified_header(token)
        except jwt.InvalidTokenError as error:
            raise InvalidTokenError("The access token is not a valid JWT.") from error
        algorithm, kind = header.get("alg"), header.get("typ", "JWT")
        if not isinstance(algorithm, str) or algorithm not in KEY_TYPES:
            raise InvalidTokenError("The access token's algorithm is not allowed.")
        if not isinstance(kind, str) or kind.lower().removeprefix("application/") not in TOKEN_TYPES:
            raise InvalidTokenError("The JWT is not an access token.")
        key = await self._find_key(algorithm, header.get("kid"))
        try:
            claims = jwt.decode(
                token,
                jwt.PyJWK(key, algorithm),
                algorithms=[algorithm],
                audience=self.settings.audience or self.settings.resource,
                issuer=self.settings.issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud"], "enforce_minimum_key_length": True},
            )
        except jwt.PyJWTError as error:
            raise InvalidTokenError(_rejection_reason(error)) from error
        return self._principal(claims)

    async def check(self) -> int:
        """Read the issuer's keys and return their number.

        Raises:
            ProviderError: They cannot be read.
            ConfigError: The issuer's metadata is another issuer's.
        """
        self._keys = await _fetch_keys(self.settings.issuer)
        self._read_at = self._clock()
        return len(self._keys)

    async def _find_key(self, algorithm: str, kid: object) -> dict[str, Any]:
        if self._clock() - self._read_at >= KEYS_SECONDS:
            await self._refresh()
        key = self._key_for(algorithm, kid)
        if key is None:  # the issuer may have new keys
            await self._refresh()
            key = self._key_for(algorithm, kid)
        if key is None:
            raise InvalidTokenError("The access token is signed with a key that its issuer does not have.")
        return key

    def _key_for(self, algorithm: str, kid: object) -> dict[str, Any] | None:
        type_, curves = KEY_TYPES[algorithm]
        keys = [
            key
            for key in self._keys
            if key["kty"] == type_
            and (not curves or key.get("crv") in curves)
            and key.get("alg", algorithm) == algorithm
            and (kid is None or key.get("kid") == kid)
        ]
        return keys[0] if len(keys) == 1 or (keys and kid is not None) else None

    async def _refresh(self) -> None:
        """Read the keys, unless another request just has; raise if there are none to use."""
        requested_at = self._clock()
        async with self._lock:
            now = self._clock()
            is_limited = len(self._fetches) == MAX_FETCHES and now - self._fetches[0] < FETCHES_SECONDS
            if not is_limited and self._fetched_at <= requested_at:
                self._fetches.append(now)
                try:
                    await self.check()
                    self._failure = None
                except (ProviderError, ConfigError) as error:
                    self._failure = error if isinstance(error, ProviderError) else ProviderError(str(error))
                    logging.getLogger("scrubjay").warning("%s", error)
                self._fetched_at = self._clock()
            if self._failure is not None and self._clock() - self._read_at >= MAX_KEYS_SECONDS:
                self._keys = []
                raise self._failure

    def _principal(self, claims: Mapping[str, Any]) -> VerifiedToken:
        settings = self.settings
        user = _name_claim(claims, settings.user_claim)
        tenant = _name_claim(claims, settings.tenant_claim) if settings.tenant_claim else self._tenant
        groups = tuple(_names_claim(claims, settings.groups_claim)) if settings.groups_claim else ()
        granted = _granted_scopes(claims)
        scopes = tuple(scope for scope in SCOPES if self.scope_name(scope) in granted)
        if not scopes:
            raise ForbiddenError(
                "The access token has none of the scopes of scrubjay. Nothing was done.",
                hint=f"ask for {' '.join(map(self.scope_name, DEFAULT_SCOPES))}",
            )
        client = claims.get("client_id", claims.get("azp", ""))
        parts = (settings.issuer, str(claims.get("sub", "")), tenant, user, str(client))
        key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
        return VerifiedToken(Principal(tenant, user, groups, scopes=scopes), key)


def oauth_verifier(settings: Settings) -> OAuthVerifier | None:
    """Return the verifier of the issuer that the settings name; None if they name none."""
    return OAuthVerifier(settings.oauth, settings.tenant) if settings.oauth.issuer else None


def check_issuer(settings: Settings) -> int:
    """Ask the configured issuer for its keys and return their number."""
    return asyncio.run(OAuthVerifier(settings.oauth, settings.tenant).check())


def _rejection_reason(error: Exception) -> str:
    import jwt

    if isinstance(error, jwt.MissingRequiredClaimError):
        return f"The access token lacks the claim {error.claim}."
    reasons = {
        jwt.ExpiredSignatureError: "The access token has expired.",
        jwt.ImmatureSignatureError: "The access token is not valid yet.",
        jwt.InvalidAudienceError: "The access token is for another audience.",
        jwt.InvalidIssuerError: "The access token is of another issuer.",
        jwt.InvalidSignatureError: "The access token's signature is wrong.",
    }
    return next(
        (reason for kind, reason in reasons.items() if isinstance(error, kind)),
        "The access token is not valid.",
    )


def _name_claim(claims: Mapping[str, Any], claim: str) -> str:
    value = claims.get(claim)
    if not isinstance(value, str) or not value or not is_valid_name(value):
        raise InvalidTokenError(f"The access token's claim {claim} is missing or not a valid name.")
    return value


def _names_claim(claims: Mapping[str, Any], claim: str) -> list[str]:
    """Return the names in a claim, which a user who is in no group may lack."""
    value = claims.get(claim, [])
    values = [value] if isinstance(value, str) else value
    valid = isinstance(values, list) and all(
        isinstance(one, str) and one and is_valid_name(one) for one in values
    )
    if not valid:
        raise InvalidTokenError(f"The access token's claim {claim} is not a list of valid names.")
    return list(dict.fromkeys(values))


def _granted_scopes(claims: Mapping[str, Any]) -> set[str]:
    """Return the scopes of a token: ``scope`` (RFC 9068), or ``scp`` as Entra and Okta call it."""
    value = claims.get("scope", claims.get("scp", ""))
    if isinstance(value, str):
        return set(value.split())
    return {one for one in value if isinstance(one, str)} if isinstance(value, list) else set()


async def _fetch_keys(issuer: str) -> list[dict[str, Any]]:
    import httpx

    local = is_loopback_url(issuer)
    try:
        async with (
            asyncio.timeout(FETCH_TIMEOUT),
            httpx.AsyncClient(follow_redirects=False, timeout=FETCH_TIMEOUT, trust_env=not local) as client,
        ):
            metadata = await _fetch_metadata(client, issuer)
            address = metadata.get("jwks_uri")
            is_secure = isinstance(address, str) and (
                address.startswith("https://") or (local and is_loopback_url(address))
            )
            if not is_secure:
                raise ProviderError(
                    f"The issuer {issuer} names no https address of its keys. No access token is accepted."
                )
            key_set = await _fetch_json(client, str(address))
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
        raise ProviderError(
            f"The issuer {issuer} cannot be reached ({_system_message(error)}). No access token can be checked.",
            hint="check [oauth] issuer, that this machine reaches it, and trusts its certificate (SSL_CERT_FILE)",
        ) from error
    listed_keys = key_set.get("keys") if key_set is not None else None
    keys = [key for key in listed_keys if _is_usable(key)] if isinstance(listed_keys, list) else []
    if not keys:
        raise ProviderError(f"The issuer {issuer} has no key to verify tokens. No access token is accepted.")
    return keys


def _system_message(error: BaseException) -> str:
    """Return the system's message, which an HTTP client may keep in an error's causes."""
    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None:
        causes.append(cause)
    for one in reversed(causes):
        if isinstance(one, OSError) and one.errno and one.strerror:
            # asyncio replaces the system's words, but not its number
            return os.strerror(one.errno) if one.strerror.startswith("Connect call failed") else one.strerror
    return str(error) or type(error).__name__


def _is_usable(key: object) -> bool:
    types = {kind for kind, _ in KEY_TYPES.values()}
    return (
        isinstance(key, dict)
        and key.get("kty") in types
        and key.get("use", "sig") == "sig"
        and "verify" in key.get("key_ops", ("verify",))
    )


async def _fetch_metadata(client: httpx.AsyncClient, issuer: str) -> dict[str, Any]:
    parts = urlsplit(issuer)
    path = parts.path.rstrip("/")
    addresses = (
        f"{parts.scheme}://{parts.netloc}/.well-known/oauth-authorization-server{path}",
        f"{issuer.rstrip('/')}/.well-known/openid-configuration",
    )
    for address in addresses:
        metadata = await _fetch_json(client, address)
        if metadata is None:
            continue
        if metadata.get("issuer") != issuer:
            raise ConfigError(
                f"[oauth] issuer is {issuer}, but its metadata is of {str(metadata.get('issuer'))!r:.200}. "
                "No access token is accepted.",
                hint="write the issuer exactly as its metadata does, with or without a slash at the end",
            )
        return metadata
    raise ProviderError(
        f"The issuer {issuer} has no metadata at {' or '.join(addresses)}. No access token can be checked.",
        hint="check [oauth] issuer",
    )


async def _fetch_json(client: httpx.AsyncClient, url: str) -> dict[str, Any] | None:
    """Return a JSON object; None if there is none."""
    body = bytearray()
    async with client.stream("GET", url, headers={"accept": "application/json"}) as response:
        if response.status_code >= 500:
            response.raise_for_status()
        if response.status_code != 200:
            return None
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > MAX_RESPONSE_BYTES:
                return None
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
