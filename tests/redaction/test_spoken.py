"""Secrets that are told in words, on command lines and in cookies; and what only looks as if it were."""

import pytest

from scrubjay.redaction.redactor import redact_text

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
    "seed phrase: [ladder orbit velvet canyon hollow tribe mimic saddle oxygen lunar frost wagon]",
    "recovery codes: [a8k2x-9dk3s b7j1q-0fm2p]",
    "curl -u mira:[pebble-Stream4] https://jenkins.acme.dev/api/json",
    "mysql -h db1 -u root -p[Bramble77x] shop",
    "sshpass -p '[Wid3Ocean]' ssh root@10.0.0.9",
    "htpasswd -b .htpasswd mira [d4ffodilRun]",
    "machine api.acme.dev login mira password [tulip_Engine_9]",
    "bindpw [Sn0wGoose!]",
    "Cookie: theme=dark; sessionid=[k3j9d8s7f6a5q4w3e2r1t0y9]; lang=de",
    "RESTIC_PASSWORD=[borrowed-Plum-Cart]",
    "JWT_SECRET=[fuchsia_Tractor_1999]",
    'psk="[under the old bridge 7]"',
    '"auths": {"r.acme.dev": {"auth": "[bWlyYTpoZXJvbnBvbmQ5OTk=]"}}',
    "You get in with [Tangerine!Dream7] as the password",
    "Login mit mira und [Pfirsich-Eis-4] (Passwort) ging",
    "the login is root with password [kettleblack9]",
    'the password is "[sunflowerfield]" without the quotes',
    "SSH password for pi@10.0.0.4 is [raspb3rry-jam]",
    "set the pw to [Thursday_moon_3] and tell nobody",
    "Das Passwort habe ich auf [Wolkenbruch!3] gesetzt",
    "la password del NAS è [Girasole.88]",
    "a senha do banco é [Girassol@55]",
    "Zugangsdaten: admin / [Herbst!laub7]",
    "creds are bob@acme.example:[Velvet.Rope9]",
    "here is the key for the scanner: [q8Zr1Lw0Pv7Tn3Xk5Bd9Ym2C]",
    "key is [9f2c4b7a1d3e5f60718293a4b5c6d7e8] for the weather service",
    "der Schlüssel für die API lautet [9f2c4b7a1d3e5f60718293a4b5c6d7e8]",
    "the bot's token ([q8Zr1Lw0Pv7Tn3Xk5Bd9Ym2C]) was revoked",
    "Password for 'https://ann@git.acme.example': [Espresso#doppelt]",
    "curl -sS -uann:[owl-Night-3] https://h.example/x",
    "http -a ann:[owl-Night-3] GET https://h.example",
    "curl -b 'session=[q8Zr1Lw0Pv7Tn3Xk5Bd9Ym2C]' https://h.example",
    "requests.get(u, cookies={'sessionid': '[q8Zr1Lw0Pv7Tn3Xk5Bd9Ym2C]'})",
    "smbclient -U 'ann%[owl-Night-3]' //nas/x",
    "sshpass -p[owlnight3] ssh root@h",
    "unzip -P [owlNight3] a.zip",
    "openssl rsa -in k.pem -passin pass:[owl.night]",
    "mysql --user=root --password=[owlnight] shop",
    "gpg --passphrase='[owl night here]' -d a.gpg",
    "echo 'root:[owlNight3]' | chpasswd",
    "nmcli dev wifi connect Buero password [owlnight3]",
    "AUTH [q8Zr1Lw0Pv7Tn3Xk5Bd9Ym2C]",
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
    "the password is `incorrect`, the field is `required`",
    "Bitwarden2 is a password manager, Keepass2-XC as password store too",
    "login with GitHub / Google2 or sign in / sign up",
    "the cache key is 9f2c4b7a1d3e5f60718293a4b5c6d7e8 for this build",
    "object key 9f2c4b7a1d3e5f60718293a4b5c6d7e8 from the bucket",
    "docker run -p 127.0.0.1:5432:5432 postgres",
    "unzip -p a.zip first-2.txt | head",
    "Cookie: _ga=GA1.1.050584073.1509778495",
    "host:port:db:user:password is the form of .pgpass",
    "AUTHENTICATION and AUTH mechanisms2024 differ",
    "PATH=/usr/local/bin2024q8Zr1Lw0Pv7Tn3",
)


@pytest.mark.parametrize("text", TOLD)
def test_a_stated_secret_is_replaced_and_its_sentence_kept(text: str) -> None:
    before, _, rest = text.partition("[") if not text.startswith(("{", '"')) else text.partition('"[')
    secret, _, after = rest.partition("]")
    opening = '"' if text.startswith(("{", '"')) else ""
    clean = redact_text(before + opening + secret + after).text
    assert secret not in clean
    start, end = clean.split("[secret:")[0], clean.rpartition("]")[2]
    assert (before + opening).startswith(start)
    assert end == after or text.startswith("AK")


@pytest.mark.parametrize("text", STAYS)
def test_talk_about_secrets_is_kept(text: str) -> None:
    assert redact_text(text).text == text


@pytest.mark.parametrize("value", ["abc\u0131de77", "lo\u017fung-42"])
def test_letters_whose_other_case_is_ascii_are_harmless(value: str) -> None:
    assert value not in redact_text(f"пароль: {value}").text
