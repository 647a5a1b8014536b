"""What no rule knows is told by what stands around: near words for a secret, in tables, below labels, in prose."""

import json
from pathlib import Path

import pytest

from scrubjay.ingest import scrub as scrubber
from scrubjay.ingest import scrub_judge
from scrubjay.ingest.scrub import scrub
from scrubjay.ingest.scrub_judge import learnt

# What stands in brackets goes, and by no rule: where nothing is tagged, all of it stays.
JUDGED = (
    (
        "password",
        "| Service | User | Password |\n|---|---|---|\n| Grafana | me | [9koWgDBmbeDoJp4I] |\n| W | – | [Reiher-7] |",
    ),
    (
        "token",
        "Password for the elastic user (reset with `bin/reset -u elastic`):\n  [7p8s7rylBKOOMKfwz00L]",
    ),
    ("password", "Passwort:\n[Kuckucksuhr 1887]\nBenutzername:\nmuseum"),
    ("password", "te paso la clave del wifi de la oficina: [cafeconleche22]"),
    ("password", "数据库密码改成了 [Xiaomao_2688]，用户名还是 root"),
    ("token", "APIv3密钥：[GcL8UrTmmWpiV2dBxeMOjK1Zc0XKIpWf]"),
    ("token", "consumer_key=[a86e1c474169663a4ca06f7c102a72c6]"),
    ("token", "PAPERLESS_DBPASS: [smG5ix8AX55oDuxSB7F5]"),
    ("password", "PAPERLESS_ADMIN_PASSWORD=[papierstau]"),
    ("password", "  <passphrase>[seven grey herons asleep]</passphrase>"),
    ("password", "WLAN im Büro, Schlüssel: [Milchkaffee.22]"),
)
STAYS = (
    "public key: oA5RQ9bt8zzg/7A544cTiZ8YWB/H2mTAiuX93BDU19N=",
    "STRIPE_PUBLISHABLE_KEY=pk_live_Rf3ZDNV9pOAN4vHrlooaffuE8DQbRhaVazslwd",
    "object key: 18f174a647e95cc952042c6cb1284dd8",
    "Sec-WebSocket-Key: YsgazJsulOAx0kDaQld2g9==",
    "smtp_password: arn:aws:secretsmanager:eu-central-1:319020064010:secret:prod/smtp-6v5H9H",
    "db_password: !vault_ref secret/data/prod/db#password",
    "api_key: op://Private/Weather/credential",
    "SMTP_PASSWORD: AgB" + "0rlLwkv9" * 14,
    "[user]\n\tsigningkey = 5E203BFD6FA95B51\n",
    "gpg --recv-keys 0x6CC94E8A8209AC49",
    "You can pass `5` in to `another_function`, or pass:\n\n* torch tensors\n* numpy arrays",
    "* Daily pass: £4.50 (bus and tram)",
    "popular alternatives to LastPass include:\n\n* 1Password\n* Dashlane",
    "the client = Credentials.from_file(credentials_path)",
    "gcloud container clusters get-credentials main --zone us-central1-f",
    "Das Passwort für das Elster-Zertifikat hat Anna.",
    "country code: HR.GLBP.P1, error code 0x80070005",
    "| Key | Type |\n|---|---|\n| max_size2 | int |\n| user_id | uuid |",
    "| Password | Until |\n|---|---|\n| required | 2026-01-04 |",
    "POSTGRES_PASSWORD: ${PAPERLESS_DBPASS:?set it in .env}",
    "Test card: 4242 4242 4242 4242",
    "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
)
ELSEWHERE = (
    ("password", "ls\ncurl -fsS -m 10 -u notify:[tintenfisch] https://ntfy.example"),
    ("password", "sqlplus hr/[tangerine_Dream7]@//ora19.lan:1521/PDB1 @nightly.sql"),
    ("password", 'lftp -u web1234,[Ring0blume] -e "mirror -R dist"'),
    ("password", "sqlcmd -S db1 -U sa -P [Reiher.im.Moor1] -Q 'select 1'"),
    ("url-password", "clickhouse://default:[M0ssyStone#4]@ch1:9000/events"),
    ("password", 'new NetworkCredential("scan@buero.example", "[Drucker!im!Flur]")'),
    ("one-time-code", "Dein Bestätigungscode für PayPal lautet: [642685]. Gib ihn niemandem."),
    ("one-time-code", "your verification code is [482913]"),
    ("password", "Passphrase is [four muddy boots by the door]"),
    ("token", "LINE_CHANNEL_ACCESS_TOKEN=[/nyttveqn6TpWMjtQsZt4hkGsUFSj9V777RxhmvNmlUAXmx2s7fu5WsukPO1uvi]"),
)


def parted(marked: str, kind: str) -> tuple[str, str]:
    """Return the text, and what it is to become: what stands in brackets replaced."""
    pieces = marked.replace("]", "[").split("[")
    after = "".join(piece if at % 2 == 0 else f"[secret:{kind}]" for at, piece in enumerate(pieces))
    return "".join(pieces), after


@pytest.mark.parametrize(("kind", "marked"), JUDGED)
def test_a_secret_that_no_rule_knows_is_told_by_its_signs(
    kind: str, marked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, after = parted(marked, kind)
    assert scrub(text).text == after
    monkeypatch.setattr(scrubber, "tagged", lambda *_: iter(()))
    assert scrub(text).text == text


@pytest.mark.parametrize(("kind", "marked"), ELSEWHERE)
def test_a_secret_of_a_command_an_address_or_a_message_goes(kind: str, marked: str) -> None:
    text, after = parted(marked, kind)
    assert scrub(text).text == after


@pytest.mark.parametrize("text", STAYS)
def test_what_stands_near_such_a_word_and_is_no_secret_stays(text: str) -> None:
    assert scrub(text).text == text


def test_recovery_codes_in_a_list_under_a_dated_heading_go() -> None:
    text = "GitHub recovery codes (saved 2026-01-18):\n- ef408-a56d5\n- be49d-15964\n- 52e93-d4fe9\nkeep them"
    got = scrub(text).text
    assert "a56d5" not in got
    assert "52e93" not in got
    assert got.count("\n") == text.count("\n")
    assert got.endswith("keep them")


def test_what_a_rule_has_found_keeps_its_kind_and_its_ends() -> None:
    text = "GET /v1?page=2&api_key=q7Rz2LkV9pXw4TnB6mYc&size=9 and DATADOG_API_KEY=9f86d081884c7d659a2feaa0c55ad015"
    assert (
        scrub(text).text
        == "GET /v1?page=2&api_key=[secret:api-key]&size=9 and DATADOG_API_KEY=[secret:datadog-api-key]"
    )


def test_a_mark_is_no_word_that_names_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scrubber, "tagged", lambda *_: iter(()))
    text = "login [secret:password] Hafer7Brei"
    assert scrub(text).text == text


def test_the_weights_are_of_signs_that_there_are_and_say_where_they_come_from() -> None:
    read = json.loads(Path(scrub_judge.__file__).with_name("scrub_judge.json").read_text("utf-8"))
    assert set(read["from"]) >= {"command", "commit", "date", "sets", "characters without secrets"}
    assert len(learnt().of) < 150
    assert all(name.startswith(("p ", "k ")) for name in learnt().of)
