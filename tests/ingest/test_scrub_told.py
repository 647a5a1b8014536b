"""Secrets that are told in words, on command lines and in cookies; and what only looks as if it were."""

import pytest

from scrubjay.ingest.scrub import scrub

TOLD = (
    "My wifi password is [hunter2-blue-42], guests use the other network.",
    "I changed the root password to [kn1ghtsOfNi] yesterday",
    "Das WLAN-Passwort lautet [Apfelkuchen#88].",
    "le mot de passe de la base est [Cigogne-72]",
    "la contraseña del servidor es [Girasol.44], no la compartas",
    "パスワードは [sakura-2291] です",
    "Credentials: admin / [Wint3rGarden!]",
    "db creds: user app, pass [littleFern_31]",
    "our API key is [q8Zr1Lw0Pv7Tn3Xk5Bd9Ym2C], keep it out of git",
    "use token [9f2c4b7a1d3e5f60718293a4b5c6d7e8f9012345] when the bot asks",
    "seed phrase: [ladder orbit velvet canyon hollow tribe mimic saddle oxygen lunar frost wagon]",
    "recovery codes: [a8k2x-9dk3s b7j1q-0fm2p]",
    "curl -u mira:[pebble-Stream4] https://jenkins.acme.dev/api/json",
    "mysql -h db1 -u root -p[Bramble77x] shop",
    "sshpass -p '[Wid3Ocean]' ssh root@10.0.0.9",
    "redis-cli -h cache -a [Xk3vQ9sLm2] ping",
    "htpasswd -b .htpasswd mira [d4ffodilRun]",
    'echo "[Gr4niteFox]" | sudo -S systemctl restart nginx',
    "net use Z: /user:mira [CloudyDay42]",
    "machine api.acme.dev login mira password [tulip_Engine_9]",
    "bindpw [Sn0wGoose!]",
    "Cookie: theme=dark; sessionid=[k3j9d8s7f6a5q4w3e2r1t0y9]; lang=de",
    "RESTIC_PASSWORD=[borrowed-Plum-Cart]",
    "JWT_SECRET=[fuchsia_Tractor_1999]",
    'psk="[under the old bridge 7]"',
    '"auths": {"r.acme.dev": {"auth": "[bWlyYTpoZXJvbnBvbmQ5OTk=]"}}',
    '{"kty":"OKP","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","d":"[nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A]"}',
    "AKIAQX7RT2MW5KD8ZLPN / [h7Jk2Lm9Qw4Er6Ty8Ui0Op1As3Df5Gh7Jk9Lz2Xc]",
)
STAYS = (
    "The password must have at least twelve characters and one digit.",
    "the password is 12-character long and SHA-256 hashed",
    "The token is RS256, valid for 15min.",
    "anthropic-ratelimit-tokens-reset: 2026-03-01T10:00:00Z",
    "pass max_tokens_2 to the function",
    "docker run -p 8080:80 nginx",
    "ssh -p 2222 mira@host",
    "mkdir -p build/release-2026",
    'curl -u "$USER:$PASS" https://jenkins.acme.dev',
    "mysql -u root -p shop",
    "use token [secret:token] and password = [secret:password] : status=green7",
    "password: !vault |",
    "Cookie: recipe=brown; sugar=250",
    "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
    "The password is required. Version 2.1.0 is out.",
)


@pytest.mark.parametrize("text", TOLD)
def test_a_secret_that_is_told_goes_and_its_words_stay(text: str) -> None:
    before, _, rest = text.partition("[") if not text.startswith(("{", '"')) else text.partition('"[')
    secret, _, after = rest.partition("]")
    opening = '"' if text.startswith(("{", '"')) else ""
    clean = scrub(before + opening + secret + after).text
    assert secret not in clean
    start, end = clean.split("[secret:")[0], clean.rpartition("]")[2]
    assert (before + opening).startswith(start)
    assert end == after or text.startswith("AK")


@pytest.mark.parametrize("text", STAYS)
def test_what_only_speaks_of_a_secret_stays(text: str) -> None:
    assert scrub(text).text == text


def test_a_mark_makes_no_secret_of_what_stands_behind_it() -> None:
    once = scrub("password = 'tr0ub4dor&3' = other_99_word : more_88_words").text
    assert once == "password = '[secret:password]' = other_99_word : more_88_words"
