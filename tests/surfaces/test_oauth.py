"""Access tokens of an OAuth issuer over MCP and HTTP: who is let in, as whom, and what everybody else is told."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from http_server import serving
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.oauth2 import AuthorizationCodeResult
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from mcp_clients import ACCEPT, HELLO, call, parsed, running

from loopback import free_port
from oauth_issuer import Issuer, Key, issuing
from scrubjay.api.auth import Principal, TokenStore
from scrubjay.api.oauth import (
    FETCHES_SECONDS,
    KEYS_SECONDS,
    MAX_FETCHES,
    MAX_KEYS_SECONDS,
    InvalidTokenError,
    OAuthVerifier,
    check_issuer,
)
from scrubjay.config.settings import OAuthSettings, Settings
from scrubjay.errors import ProviderError


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with issuing() as found:
        yield found


@pytest.fixture
def address() -> str:
    """A free address: the issuer must know the server's before it starts."""
    return f"127.0.0.1:{free_port()}"


@pytest.fixture
def resource(environ: dict[str, str], issuer: Issuer, address: str) -> str:
    """The MCP endpoint, in settings that name the issuer."""
    found = f"http://{address}/mcp"
    environ |= {"SCRUBJAY_OAUTH_ISSUER": issuer.url, "SCRUBJAY_OAUTH_RESOURCE": found}
    return found


def hello(url: str, token: str | None = None) -> httpx2.Response:
    headers = ACCEPT | ({"Authorization": f"Bearer {token}"} if token is not None else {})
    return httpx2.post(url, json=HELLO, headers=headers, timeout=60)


def asked(url: str, token: str, tool: str, **arguments: Any) -> httpx2.Response:
    """Call a tool without a session, as clients of revision 2026-07-28 do."""
    envelope = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": tool, "arguments": arguments, "_meta": envelope}
    headers = {
        "Authorization": f"Bearer {token}",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": tool,
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return httpx2.post(url, json=message, headers=ACCEPT | headers, timeout=60)


class InMemory:
    """The tokens of one client of the SDK."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


@asynccontextmanager
async def authorized(url: str, storage: InMemory, mode: str = "auto") -> AsyncIterator[Client]:
    """A client of the official SDK that finds the issuer, registers there, and gets a token by a code with PKCE."""
    answer: dict[str, list[str]] = {}

    async def visit(place: str) -> None:
        async with httpx2.AsyncClient(trust_env=False) as browser:
            answer.update(parse_qs(urlsplit((await browser.get(place)).headers["location"]).query))

    async def come_back() -> AuthorizationCodeResult:
        return AuthorizationCodeResult(code=answer["code"][0], state=answer["state"][0], iss=answer["iss"][0])

    metadata = OAuthClientMetadata(redirect_uris=["http://127.0.0.1:1/back"], client_name="t")
    auth = OAuthClientProvider(url, metadata, storage, visit, come_back)
    async with (
        httpx2.AsyncClient(auth=auth, timeout=30) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.mark.parametrize(
    ("issuer", "cause"),
    [("http://127.0.0.1:1", "Connection refused"), ("https://nobody.invalid", "not known|resolution")],
)
def test_an_issuer_that_cannot_be_reached_is_reported_with_the_cause(issuer: str, cause: str) -> None:
    settings = Settings(oauth=OAuthSettings(issuer=issuer, resource="https://me.example"))
    with pytest.raises(ProviderError, match=cause) as told:
        check_issuer(settings)
    assert "SSL_CERT_FILE" in told.value.hint


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_client_finds_the_issuer_and_works_as_the_person_who_agreed(
    environ, issuer: Issuer, address: str, resource: str, mode: str
) -> None:
    secrets = {"ann": "The zeppelin code is 4711.", "eve": "The balloon code is 1234."}
    seen: dict[str, str] = {}

    async def use() -> None:
        for issuer.user, content in secrets.items():
            storage = InMemory()
            async with authorized(resource, storage, mode) as client:
                await call(client, "memory_add", content=content)
                found = await client.call_tool("memory_search", {"query": "zeppelin or balloon code"})
                seen[issuer.user] = found.content[0].text
            assert storage.tokens is not None
            assert storage.tokens.scope == "read write"

    with running(environ, address=address):
        anyio.run(use)
    for user, content in secrets.items():
        assert [one["content"] for one in parsed(seen[user])["memories"]] == [content]


def test_a_client_asks_its_person_for_more_where_a_tool_takes_a_scope_that_the_token_lacks(
    environ, issuer: Issuer, address: str, resource: str
) -> None:
    issuer.grants = {"read"}

    async def use() -> None:
        storage = InMemory()
        async with authorized(resource, storage) as client:
            await client.call_tool("memory_search", {"query": "zeppelin"})
            assert storage.tokens is not None
            assert storage.tokens.scope == "read"
            issuer.grants = None
            await call(client, "memory_add", content="The zeppelin code is 4711.")
            assert set(storage.tokens.scope.split()) == {"read", "write"}

    with running(environ, address=address):
        anyio.run(use)


def test_a_request_without_a_token_is_told_where_to_get_which(
    environ, issuer: Issuer, address: str, resource: str
) -> None:
    origin = f"http://{address}"
    with serving(environ, "--readers", "0", address=address):
        for place in (resource, f"{origin}/v1/search?query=x"):
            # Neither this machine nor this account makes anybody the owner where an issuer says who people are.
            refused = hello(place) if place == resource else httpx2.get(place)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == (
                f'Bearer resource_metadata="{origin}/.well-known/oauth-protected-resource/mcp", scope="read write"'
            )
        for path in ("/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"):
            metadata = httpx2.get(origin + path, headers={"origin": "https://inspector.example"})
            assert metadata.headers["access-control-allow-origin"] == "*"
            assert metadata.json() == {
                "resource": resource,
                "authorization_servers": [issuer.url],
                "scopes_supported": ["read", "write"],
                "bearer_methods_supported": ["header"],
                "resource_name": "scrubjay",
            }


def unsigned(claims: dict[str, Any], **header: Any) -> str:
    parts = (header, claims)
    return (
        ".".join(base64.urlsafe_b64encode(json.dumps(one).encode()).rstrip(b"=").decode() for one in parts)
        + "."
    )


def test_only_a_token_that_the_issuer_made_for_this_server_and_this_time_is_accepted(
    environ, issuer: Issuer, address: str, resource: str, tokens: TokenStore
) -> None:
    own = tokens.create("bo", Principal("default", "bo"), None)
    curve, edwards = Key.make("curve", "ES256"), Key.make("edwards", "EdDSA")
    issuer.keys += [curve, edwards]
    now = int(time.time())
    good = issuer.token(resource)
    claims = jwt.decode(good, options={"verify_signature": False})
    pem = (
        issuer.keys[0]
        .private.public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    head, body = (
        base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=")
        for part in ({"alg": "HS256", "typ": "JWT", "kid": "first"}, claims)
    )
    digest = hmac.new(pem, b".".join((head, body)), hashlib.sha256).digest()
    confused = b".".join((head, body, base64.urlsafe_b64encode(digest).rstrip(b"=")))
    stranger = Key.make("first")
    bad = {
        "another audience": (issuer.token("https://elsewhere.example/mcp"), "another audience"),
        "no audience": (issuer.token(None), "lacks the claim aud"),
        "an audience that begins alike": (issuer.token(resource + "/other"), "another audience"),
        "expired": (issuer.token(resource, exp=now - 60), "has expired"),
        "without an end": (issuer.token(resource, exp=None), "lacks the claim exp"),
        "not yet valid": (issuer.token(resource, nbf=now + 600), "not valid yet"),
        "another issuer": (issuer.token(resource, iss="https://evil.example"), "another issuer"),
        "no issuer": (issuer.token(resource, iss=None), "lacks the claim iss"),
        "a key of a stranger under a known name": (issuer.token(resource, stranger), "signature is wrong"),
        "an unknown key": (issuer.token(resource, Key.make("unknown")), "does not have"),
        "no algorithm": (unsigned(claims, alg="none", typ="JWT"), "algorithm is not allowed"),
        "the public key as an HMAC's secret": (confused.decode(), "algorithm is not allowed"),
        "made for logging out": (
            jwt.encode(claims, issuer.keys[0].private, "RS256", {"kid": "first", "typ": "logout+jwt"}),
            "not an access token",
        ),
        "a key of its own": (
            jwt.encode(claims, stranger.private, "RS256", {"jwk": stranger.public, "typ": "JWT"}),
            "signature is wrong",
        ),
        "an unknown critical header": (
            jwt.encode(claims, issuer.keys[0].private, "RS256", {"kid": "first", "crit": ["x"], "x": 1}),
            "not a valid JWT",
        ),
        "nobody": (issuer.token(resource, sub=None), "claim sub is missing"),
        "a name with a line break": (issuer.token(resource, sub="ann\n"), "claim sub is missing"),
        "altered": (good[:-8] + "A" * 8, "signature is wrong"),
        "two dots": ("..", "not a valid JWT"),
        "deeply nested": (
            base64.urlsafe_b64encode(b"[" * 20_000).decode().rstrip("=") + ".e30.x",
            "not a valid JWT",
        ),
    }  # fmt: skip
    with running(environ, address=address):
        for token in (
            good,
            issuer.token(resource, curve),
            issuer.token(resource, edwards),
            issuer.token(["https://other.example", resource]),
            issuer.token(resource, exp=now - 5),  # within the tolerated difference of clocks
            own,
        ):
            assert hello(resource, token).status_code == 200
        for name, (token, why) in bad.items():
            refused = hello(resource, token)
            assert refused.status_code == 401, name
            assert why in refused.json()["error"]["message"], name
            assert 'Bearer error="invalid_token"' in refused.headers["www-authenticate"], name
        assert hello(resource, f"{own}x").status_code == 401


def test_a_token_without_a_needed_scope_gets_403_and_the_name_of_that_scope(
    environ, issuer: Issuer, address: str, resource: str
) -> None:
    environ["SCRUBJAY_OAUTH_SCOPE_PREFIX"] = "scrubjay:"
    reader = issuer.token(resource, scope="openid scrubjay:read write")
    nobody = issuer.token(resource, scope="openid read write admin")
    origin = f"http://{address}"
    with serving(environ, "--readers", "0", address=address):
        assert asked(resource, reader, "memory_search", query="x").status_code == 200
        bearer = {"Authorization": f"Bearer {reader}"}
        for refused in (
            asked(resource, reader, "memory_add", content="The zeppelin code is 4711."),
            httpx2.post(f"{origin}/v1/memories", json={"content": "The zeppelin code."}, headers=bearer),
        ):
            assert refused.status_code == 403
            challenge = refused.headers["www-authenticate"]
            assert 'error="insufficient_scope"' in challenge
            assert 'scope="scrubjay:read scrubjay:write"' in challenge
            assert "resource_metadata=" in challenge
        assert httpx2.get(f"{origin}/v1/memories", headers=bearer).json()["memories"] == []
        refused = hello(resource, nobody)
        assert (refused.status_code, "insufficient_scope" in refused.headers["www-authenticate"]) == (
            403,
            True,
        )


def test_claims_decide_user_groups_and_tenant_and_nobody_sees_anothers_memories(
    environ, issuer: Issuer, address: str, resource: str
) -> None:
    environ |= {
        "SCRUBJAY_OAUTH_USER_CLAIM": "employee",
        "SCRUBJAY_OAUTH_GROUPS_CLAIM": "teams",
        "SCRUBJAY_OAUTH_TENANT_CLAIM": "org",
    }

    def token(employee: str, org: str | None = "acme", **claims: Any) -> str:
        return issuer.token(resource, employee=employee, org=org, **claims)

    origin = f"http://{address}"
    found: dict[str, list[str]] = {}
    with serving(environ, "--readers", "0", address=address):

        def bearer(secret: str) -> dict[str, str]:
            return {"Authorization": f"Bearer {secret}"}

        ann = token("ann", teams=["crew"])
        for body in (
            {"content": "The zeppelin code is 4711."},
            {"content": "The crew meets at the zeppelin hangar.", "visibility": "group", "group": "crew"},
        ):
            httpx2.post(f"{origin}/v1/memories", json=body, headers=bearer(ann)).raise_for_status()
        for name, secret in {
            "ann": ann,
            "ann, with a later token": token("ann", teams=["crew"], jti="2"),
            "bo of the crew": token("bo", teams="crew"),
            "eve": token("eve"),
            "ann elsewhere": token("ann", org="rival", teams=["crew"]),
        }.items():
            listed = httpx2.get(f"{origin}/v1/memories", headers=bearer(secret)).json()["memories"]
            found[name] = sorted(one["content"] for one in listed)
        for wrong in (token("ann", org=None), token("ann", teams=["crew", 7]), token("ann", teams=[" crew"])):
            assert httpx2.get(f"{origin}/v1/memories", headers=bearer(wrong)).status_code == 401
    both = ["The crew meets at the zeppelin hangar.", "The zeppelin code is 4711."]
    assert found == {
        "ann": both,
        "ann, with a later token": both,
        "bo of the crew": both[:1],
        "eve": [],
        "ann elsewhere": [],
    }


def test_an_mcp_session_goes_on_with_a_later_token_of_the_same_person_and_client_alone(
    environ, issuer: Issuer, address: str, resource: str
) -> None:
    with running(environ, address=address):
        session = hello(resource, issuer.token(resource, client_id="c1")).headers["mcp-session-id"]
        wish = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        for claims, status in (
            ({"client_id": "c1", "jti": "later"}, 200),
            ({"client_id": "c1", "sub": "eve"}, 404),
            ({"client_id": "c2"}, 404),
        ):
            bearer = {
                "Authorization": f"Bearer {issuer.token(resource, **claims)}",
                "mcp-session-id": session,
            }
            assert httpx2.post(resource, json=wish, headers=ACCEPT | bearer, timeout=60).status_code == status


def test_new_keys_are_found_and_removed_ones_stop_working(issuer: Issuer) -> None:
    now = 0.0
    verifier = OAuthVerifier(
        OAuthSettings(issuer=issuer.url, resource="https://m.example/mcp"), "t", lambda: now
    )

    async def accepted(key: Key) -> bool:
        try:
            who = await verifier.verify(issuer.token("https://m.example/mcp", key))
        except InvalidTokenError:
            return False
        return who.principal == Principal("t", "ann", scopes=("read", "write"))

    async def use() -> None:
        nonlocal now
        first, second = issuer.keys[0], Key.make("second", "ES256")
        assert await accepted(first)
        issuer.keys = [second, first]
        assert await accepted(second)
        assert await accepted(first)
        issuer.keys = [second]
        assert await accepted(first)  # until the keys are read again
        now += KEYS_SECONDS
        assert not await accepted(first)
        assert await accepted(second)

        # Made-up key ids do not have the issuer flooded, and keys that are known go on working.
        now += FETCHES_SECONDS
        before = issuer.asked.count("/realm/keys")
        for _ in range(3 * MAX_FETCHES):
            assert not await accepted(Key("made-up", "ES256", second.private, {}))
        assert issuer.asked.count("/realm/keys") == before + MAX_FETCHES
        assert await accepted(second)

        # An issuer that is down is not one that everything is believed of.
        issuer.down = True
        now += MAX_KEYS_SECONDS - 1
        assert await accepted(second)
        now += FETCHES_SECONDS
        with pytest.raises(ProviderError, match="cannot be reached"):
            await accepted(second)
        now += FETCHES_SECONDS
        issuer.down = False
        assert await accepted(second)

    anyio.run(use)


def test_while_the_issuer_is_down_access_tokens_get_503_and_other_tokens_work(
    environ, issuer: Issuer, address: str, resource: str, tokens: TokenStore, capfd
) -> None:
    own = tokens.create("bo", Principal("default", "bo"), None)
    issuer.down = True
    with running(environ, address=address):
        refused = hello(resource, issuer.token(resource))
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "10")
        assert "not checked" in refused.json()["error"]["message"]
        assert hello(resource).status_code == 401
        assert hello(resource, own).status_code == 200
        issuer.down = False
        assert hello(resource, issuer.token(resource)).status_code == 200


def test_a_server_does_not_start_where_the_issuer_says_that_it_is_another(
    environ, cli, issuer: Issuer, resource: str
) -> None:
    issuer.metadata = {"issuer": "https://evil.example"}
    said = cli.process("mcp", "--http", "127.0.0.1:0")
    assert (said.code, "its metadata is of 'https://evil.example'" in said.err) == (2, True)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"ISSUER": "https://login.example"}, "names no resource"),
        ({"RESOURCE": "https://m.example/mcp"}, "names no issuer"),
        ({"ISSUER": "http://login.example", "RESOURCE": "https://m.example/mcp"}, "no https URL"),
        ({"ISSUER": "https://login.example?x=1", "RESOURCE": "https://m.example/mcp"}, "no https URL"),
        ({"ISSUER": "https://a:b@login.example", "RESOURCE": "https://m.example/mcp"}, "no https URL"),
        ({"ISSUER": "https://login.example", "RESOURCE": "m.example/mcp"}, "no https URL"),
        ({"ISSUER": "http://127.0.0.1.evil.example", "RESOURCE": "https://m.example/mcp"}, "no https URL"),
    ],
)
def test_an_issuer_that_could_not_be_trusted_is_refused_as_a_setting(
    environ, cli, settings: dict[str, str], why: str
) -> None:
    environ |= {f"SCRUBJAY_OAUTH_{name}": value for name, value in settings.items()}
    said = cli.process("mcp", "--http", "127.0.0.1:0")
    assert (said.code, why in said.err) == (2, True), said.err
