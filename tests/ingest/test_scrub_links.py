"""Addresses that open something by a part of their path, keys that calls sign with, and what is meant to be seen."""

import pytest

from scrubjay.ingest.scrub import scrub

TOKEN = "q7Rz2LkV9pXw4TnB6mYc8sHd"
OPENS = (
    "https://chat.example.org/hooks/{}",
    "https://home.example.org/api/webhook/{}",
    "https://status.example.org/api/push/{}?status=up",
    "https://hc-ping.com/{}",
    "https://calendar.example.com/calendar/ical/anna%40example.org/private-{}/basic.ics",
    "https://app.example.org/reset-password/{}",
    "https://eth-mainnet.g.alchemy.com/v2/{}",
    '.signWith(SignatureAlgorithm.HS256, "{}") // Jwts, jwt',
    "crypto.createHmac('sha256', '{}')",
    'hmac.new(b"{}", body, hashlib.sha256)',
    'new SecretKeySpec("{}".getBytes(), "HmacSHA256")',
    '"type": "random_password", "attributes": {{ "length": 20, "result": "{}" }}',
)
STAYS = (
    "https://docs.example.org/document/d/{}/edit",
    "https://git.example.org/anna/notes/commit/{}",
    "https://app.example.org/hooks/how-to-write-one-of-your-own",
    "NEXT_PUBLIC_POSTHOG_KEY={}",
    "SUPABASE_ANON_KEY={}",
    "ALGOLIA_SEARCH_KEY={}",
    '<add key="PublicKeyToken" value="{}" />',
    "dsn: https://9f86d081884c7d659a2feaa0c55ad015@o1.ingest.sentry.io/{}",
)
FIREBASE = 'apiKey: "AIza{}",\n  authDomain: "kitchen.example.app",\n  messagingSenderId: "1"'


@pytest.mark.parametrize("text", OPENS)
def test_a_part_that_opens_something_goes(text: str) -> None:
    got = scrub(text.format(TOKEN)).text
    assert TOKEN not in got
    assert got.count("[secret:") == 1


@pytest.mark.parametrize("text", STAYS)
def test_what_opens_nothing_or_is_meant_to_be_seen_stays(text: str) -> None:
    assert scrub(text.format(TOKEN)).text == text.format(TOKEN)


def test_the_key_of_a_page_that_asks_firebase_stays_and_that_of_a_server_goes() -> None:
    key = TOKEN + "8sHd2LkV9pX"
    page = FIREBASE.format(key)
    assert scrub(page).text == page
    assert key not in scrub(f"GEOCODING_API_KEY=AIza{key}").text


def test_the_static_key_of_a_tunnel_goes_with_all_its_lines() -> None:
    lines = "\n".join(["f969eddabf99a306e7b5f8acf6dcebf7"] * 8)
    name = "OpenVPN Static key V1-----"
    text = f"<tls-crypt>\n-----BEGIN {name}\n{lines}\n-----END {name}\n</tls-crypt>"
    got = scrub(text).text
    assert "f969" not in got
    assert got.count("\n") == text.count("\n")
