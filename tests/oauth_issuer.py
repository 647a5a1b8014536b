"""An OAuth issuer on the loopback: metadata, keys, registration, codes with PKCE, and tokens of any kind."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from loopback import Handler, listening

PATH = "/realm"
"""Issuers of one provider often differ by a path, which moves the places of their metadata."""
METADATA_PATH = f"{PATH}/.well-known/openid-configuration"


@dataclass
class Key:
    """A pair of keys, and its public half as the issuer publishes it."""

    kid: str
    algorithm: str
    private: Any
    public: dict[str, Any]

    @classmethod
    def make(cls, kid: str, algorithm: str = "RS256") -> Key:
        kinds: Mapping[str, tuple[Any, Any]] = {
            "RS256": (lambda: rsa.generate_private_key(65537, 2048), RSAAlgorithm),
            "ES256": (lambda: ec.generate_private_key(ec.SECP256R1()), ECAlgorithm),
            "EdDSA": (ed25519.Ed25519PrivateKey.generate, OKPAlgorithm),
        }
        generate, kind = kinds[algorithm]
        private = generate()
        public = kind.to_jwk(private.public_key(), as_dict=True)
        return cls(kid, algorithm, private, {**public, "kid": kid, "use": "sig"})


@dataclass
class Issuer:
    """One running issuer; a test changes what it publishes.

    Attributes:
        url: Its identifier.
        keys: Its keys; the first one signs.
        metadata: What its metadata says otherwise.
        asked: The paths that were asked for.
        user: Who agrees when a client asks for a code.
        grants: Scopes that this user agrees to; None for all that a client asks for.
        down: Whether it answers 503 to everything.
    """

    url: str = ""
    keys: list[Key] = field(default_factory=lambda: [Key.make("first")])
    metadata: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    user: str = "ann"
    grants: set[str] | None = None
    down: bool = False
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def token(self, audience: Any, key: Key | None = None, **claims: Any) -> str:
        """Return an access token; a claim that is None is left out."""
        key = key or self.keys[0]
        now = int(time.time())
        body = {
            "iss": self.url,
            "aud": audience,
            "sub": "ann",
            "iat": now,
            "exp": now + 300,
            "scope": "read write",
        }
        body = {name: value for name, value in (body | claims).items() if value is not None}
        headers = {"kid": key.kid, "typ": "at+jwt"}
        return jwt.encode(body, key.private, algorithm=key.algorithm, headers=headers)

    def answer(self, path: str, query: dict[str, str], body: bytes) -> tuple[int, Any]:
        """Return status and JSON of a request; a text is a redirect."""
        self.asked.append(path)
        if self.down:
            return 503, {}
        if path == METADATA_PATH:
            return 200, {
                "issuer": self.url,
                "jwks_uri": f"{self.url}/keys",
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "registration_endpoint": f"{self.url}/register",
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "authorization_response_iss_parameter_supported": True,
            } | self.metadata
        if path == f"{PATH}/keys":
            return 200, {"keys": [key.public for key in self.keys]}
        if path == f"{PATH}/register":
            return 201, json.loads(body) | {"client_id": "client-1"}
        if path == f"{PATH}/authorize":
            code = secrets.token_urlsafe()
            self.codes[code] = query
            back = {"code": code, "state": query["state"], "iss": self.url}
            return 302, f"{query['redirect_uri']}?{urlencode(back)}"
        if path == f"{PATH}/token":
            return self._exchange(dict(parse_qsl(body.decode())))
        return 404, {}

    def _exchange(self, form: dict[str, str]) -> tuple[int, Any]:
        asked = self.codes.pop(form["code"])
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != asked["code_challenge"]:
            return 400, {"error": "invalid_grant"}
        wanted = asked["scope"].split()
        scope = " ".join(one for one in wanted if self.grants is None or one in self.grants)
        token = self.token(form["resource"], sub=self.user, scope=scope, client_id="client-1")
        return 200, {"access_token": token, "token_type": "Bearer", "expires_in": 300, "scope": scope}


@contextmanager
def issuing() -> Iterator[Issuer]:
    """Run an issuer."""
    issuer = Issuer()

    class Answering(Handler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            status, found = issuer.answer(parts.path, dict(parse_qsl(parts.query)), self.body())
            self.send_response(status)
            if isinstance(found, str):
                self.send_header("location", found)
                found = {}
            data = json.dumps(found).encode()
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET

    with listening(Answering) as url:
        issuer.url = f"{url}{PATH}"
        yield issuer
