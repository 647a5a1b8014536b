import hashlib
import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scrubjay.redaction import REDACTOR_VERSION
from scrubjay.redaction.patterns import SECRET_PATTERNS
from scrubjay.redaction.redactor import redact_text, redact_texts

HEX = "9f86d081884c7d65" + "9a2feaa0c55ad015"
MIXED = "q7Rz2LkV" + "9pXw4TnB6mYc"
AWS = "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYzzzzzzKEYa"
PEM = (
    "-----BEGIN {0}PRIVATE KEY-----\n"
    + "MIIEpAIBAAKCAQEA7Vq3nT9bKx2LmPzR4\n" * 3
    + "-----END {0}PRIVATE KEY-----"
)

CONTEXTS = [
    ("password", "password = 'tr0ub4dor&3'", "password = '{}'"),
    ("password", "DB_PASSWORD=s3cr3tValue", "DB_PASSWORD={}"),
    ("password", '"password": "p4ss.word!",', '"password": "{}",'),
    ("password", "**Password:** kx92mQp", "**Password:** {}"),
    ("password", "Password: `kx92mQp!`", "Password: `{}`"),
    ("password", 'password="correcthorsebattery7"', 'password="{}"'),
    ("password", "<password>kx92mQp</password>", "<password>{}</password>"),
    ("password", "run --password kx92mQp now", "run --password {} now"),
    ("password", "$config['pass'] = 'kx92mQp';", "$config['pass'] = '{}';"),
    ("password", '\\"password\\": \\"kx92mQp\\"', '\\"password\\": \\"{}\\"'),
    ("api-key", f"api_key: {HEX}", "api_key: {}"),
    ("api-key", f'apiKey := "{MIXED}"', 'apiKey := "{}"'),
    ("api-key", f"GET /v1?page=2&api_key={MIXED}&size=9", "GET /v1?page=2&api_key={}&size=9"),
    ("api-key", f"X-Api-Key: {MIXED}", "X-Api-Key: {}"),
    ("api-key", f"PRIVATE_KEY={MIXED * 60}", "PRIVATE_KEY={}"),
    ("api-key", f"PRIVATE_KEY='{MIXED * 60}'", "PRIVATE_KEY='{}'"),
    ("secret", f"client_secret={MIXED}", "client_secret={}"),
    ("secret", f'"secret" => "{HEX}"', '"secret" => "{}"'),
    ("token", f"auth_token = {MIXED}", "auth_token = {}"),
    ("token", f"deploy --token {MIXED} --force", "deploy --token {} --force"),
    ("aws-api-key", f"aws_secret_access_key = {AWS}", "aws_secret_access_key = {}"),
    ("azure-storage-key", f"AccountName=a;AccountKey={MIXED * 4}kT9/Zw==;", "AccountName=a;AccountKey={};"),
    ("datadog-api-key", f"DATADOG_API_KEY={HEX}", "DATADOG_API_KEY={}"),
    ("heroku-api-key", "HEROKU_API_KEY=9f86d081-884c-7d65-9a2f-eaa0c55ad015", "HEROKU_API_KEY={}"),
    ("cloudflare-token", f"CLOUDFLARE_API_TOKEN={MIXED * 2}", "CLOUDFLARE_API_TOKEN={}"),
    ("url-signature", f"https://a.blob.host/c?sv=2&sig={MIXED}%3D", "https://a.blob.host/c?sv=2&sig={}"),
    ("authorization-bearer", f'-H "Authorization: Bearer {MIXED}"', '-H "Authorization: Bearer {}"'),
    ("authorization-basic", "Authorization: Basic " + "YWxhZGRpbjpvcGVuc2VzYW1l", "Authorization: Basic {}"),
    ("authorization-bearer", f"Authorization: SSWS {MIXED}", "Authorization: SSWS {}"),
    ("url-password", "https://me:kx92mQp@host.org/x", "https://me:{}@host.org/x"),
    (
        "postgres-password",
        "postgresql+psycopg://me:kx92mQp@db:5432/x",
        "postgresql+psycopg://me:{}@db:5432/x",
    ),
    ("mysql-password", "mysql://me:kx92mQp@db/x", "mysql://me:{}@db/x"),
    ("mongodb-password", "mongodb+srv://me:kx92mQp@c.net/x", "mongodb+srv://me:{}@c.net/x"),
    ("redis-password", "redis://:kx92mQp@cache:6379", "redis://:{}@cache:6379"),
    ("amqp-password", "amqps://me:kx92mQp@mq/v", "amqps://me:{}@mq/v"),
    (
        "slack-webhook",
        f"https://hooks.slack.com/services/T0AAAAAA/B0BBBBBB/{MIXED}",
        "{}",
    ),
    (
        "discord-webhook",
        f"https://discord.com/api/webhooks/123456789012345678/{MIXED * 4}",
        "{}",
    ),
    (
        "teams-webhook",
        f"https://a.webhook.office.com/webhookb2/{HEX}@{HEX}/x",
        "{}",
    ),
    ("authorization-bearer", f"Authorization: {HEX}", "Authorization: {}"),
    ("authorization-bearer", f"authorization: Token token={MIXED}", "authorization: Token token={}"),
    (
        "url-signature",
        f"https://b.s3.host/k?X-Amz-Signature={HEX * 2}&x=1",
        "https://b.s3.host/k?X-Amz-Signature={}&x=1",
    ),
    ("url-signature", f"GET /v1/things?key={MIXED}", "GET /v1/things?key={}"),
    ("url-token", f"https://{MIXED}a@host.org/r.git", "https://{}@host.org/r.git"),
    ("url-token", f"https://{HEX}aa:x-oauth-basic@host.org/r.git", "https://{}:x-oauth-basic@host.org/r.git"),
    ("password", "username=ann&password=owlnight&client_id=x", "username=ann&password={}&client_id=x"),
    ("password", '"user": "ann", "password": "owlnight"', '"user": "ann", "password": "{}"'),
    ("password", "admin_password = 'seagull-nest'", "admin_password = '{}'"),
    ("password", "MYSQL_ROOT_PASSWORD: seagull-nest", "MYSQL_ROOT_PASSWORD: {}"),
    ("secret", "JWT_SECRET=my-small-green-cactus", "JWT_SECRET={}"),
    ("api-key", f"HONEYCOMB_KEY={MIXED}", "HONEYCOMB_KEY={}"),
    (
        "lark-webhook",
        f"https://open.feishu.cn/open-apis/bot/v2/hook/{HEX}",
        "{}",
    ),
    (
        "zapier-webhook",
        "https://hooks.zapier.com/hooks/catch/7825741/q504xwz/",
        "{}",
    ),
    (
        "ifttt-webhook",
        f"https://maker.ifttt.com/trigger/x/with/key/{MIXED}a",
        "{}",
    ),
    ("teams-webhook", f"https://outlook.office.com/webhook/{HEX}@{HEX}/x", "{}"),
    ("braintree-token", "access_token$produc" + f"tion${'a1' * 8}${HEX}", "{}"),
]

PROSE = [
    "password = os.environ['DB_PASSWORD']",
    "password = getpass.getpass()",
    "password=$DB_PASSWORD",
    "password: ${{ secrets.DB_PASSWORD }}",
    "password: <your-password>",
    "password: required",
    "Password: at least 8 characters, one of them a digit",
    'password: "string"',
    'input type="password" name="password" placeholder="Your password"',
    "if password == user.password:",
    "The secret: practise every day.",
    "password: config.db.password1,",
    "error = 'auth-wrong', password = 'current-password'",
    "MYSQL_ROOT_PASSWORD_SECRET: mysql-root-credentials",
    "DB_PASSWORD=db-password",
    "PUBLIC_KEY=q7Rz2LkV9pXw4TnB6mYc CACHE_KEY=node22q7Rz2LkV9pXw",
    "https://host.org/?key=name&code=200&code=a-short-one",
    "https://host.org/search?key=9f86d081-884c-7d65-9a2f-eaa0c55ad015",
    "https://medium.com/@ann/how-2-bake",
    "username: ann\npassword: required",
    "api_key = 'xxxxxxxxxxxxxxxxxxxx'",
    "api_key: YOUR_API_KEY_1234567",
    "token: string",
    "token = self.tokenizer.encode2(text)",
    "token_type: access-token-v2",
    "token=refresh_token_2024",
    "max_tokens: 4096, token: 128000",
    "primary key: order_id_2024_06_01",
    "secret: sha256 of the file",
    "commit 9f86d081884c7d659a2feaa0c55ad0159f86d081",
    "id 9f86d081-884c-7d65-9a2f-eaa0c55ad015",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "authorization: see the next chapter",
    "https://host.org:8080/@me/a:b",
    "postgres://user:password@localhost/db",
    "postgres://${USER}:${PASSWORD}@localhost/db",
    "git@github.com:me/repo.git and ssh://git@host:22/x",
    "the bypass: road7works",
    "https://discord.com/channels/123456789012345678",
    "order 1234 5678 9012 3456",
    "call --token-file path7/to/token",
    "-----BEGIN CERTIFICATE-----\nMIIEpAIBAAKCAQEA7Vq3nT9bKx2LmPzR4\n-----END CERTIFICATE-----",
    "A key starts with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY----- in PEM.",
]


@pytest.mark.parametrize(("kind", "text", "shape"), CONTEXTS)
def test_a_secret_is_found_by_its_context_and_only_it_is_replaced(kind: str, text: str, shape: str) -> None:
    got = redact_text(f"first\n{text}\nlast")
    assert got.text == f"first\n{shape.format(f'[secret:{kind}]')}\nlast"
    assert got.counts == {kind: 1}


@pytest.mark.parametrize("text", PROSE)
def test_prose_code_and_placeholders_are_kept(text: str) -> None:
    got = redact_text(text)
    assert got.text == text
    assert got.counts == {}


@pytest.mark.parametrize("label", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
def test_a_private_key_is_replaced_and_its_line_ends_are_kept(label: str) -> None:
    text = f"a\n{PEM.format(label)}\nb"
    assert redact_text(text).text == "a\n[secret:private-key]\n\n\n\n\nb"


def test_lone_carriage_returns_in_a_secret_remain_line_ends() -> None:
    key = "-----BEGIN PRIVATE KEY-----\rMIIEvAIBADANBgkqhkiG9w0BAQ\n\rAAAAAAAAAAAAAAAAAAAAA\n-----END PRIVATE KEY-----"
    assert redact_text(f"a {key} b").text == "a [secret:private-key]\n\n\n\n b"


def test_pgp_indented_and_single_line_keys_are_replaced() -> None:
    pgp = (
        PEM.format("PGP ")
        .replace("KEY-----", "KEY BLOCK-----")
        .replace("KEY BLOCK-----\nM", "KEY BLOCK-----\n\nM")
    )
    assert redact_text(pgp).counts == {"pgp-private-key": 1}
    assert redact_text(PEM.format("").replace("\n", "\n    ")).text.startswith("[secret:private-key]\n\n")
    assert (
        redact_text('{"key": "' + PEM.format("").replace("\n", "\\n") + '"}').text
        == '{"key": "[secret:private-key]"}'
    )


def test_a_truncated_private_key_ends_at_the_next_blank_line() -> None:
    cut = PEM.format("").split("-----END")[0]
    assert redact_text(f"{cut}\nAfter it.").text == "[secret:private-key]\n\n\n\n\nAfter it."
    assert redact_text(cut + PEM.format("")).text == "[secret:private-key]" + "\n" * 8


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <private>b</private> c", "a [private] c"),
        ("a <PRIVATE reason='x'>b\nc</Private> d", "a [private]\n d"),
        ("a <private>b <private>c</private> d</private> e", "a [private] e"),
        ("a <private>b\n\nc\r\nd", "a [private]\n\n\r\n"),
        ("write `<private>` around it", "write `<private>` around it"),
        ("a </private> b", "a </private> b"),
        ("<privateer> a", "<privateer> a"),
    ],
)
def test_private_spans_are_removed(text: str, expected: str) -> None:
    got = redact_text(text)
    assert got.text == expected
    assert got.counts.get("private", 0) == expected.count("[private]")


@pytest.mark.parametrize(
    "text", ["a <private b<private>c</private>d> e", "a <private password='kx92<mQp7>d'> e"]
)
def test_a_secret_in_a_private_tag_does_not_break_it(text: str) -> None:
    once = redact_text(text).text
    assert once == "a [private]"
    assert not redact_text(once).counts


@pytest.mark.parametrize(
    "text",
    [
        "The alarm pin my wife likes to use is 4711.",
        "Bike pin all the kids have to know is 4711.",
        "The card PIN is 482913, Delhi.",
        "My UPI PIN is 482913 in India.",
    ],
)
def test_a_pin_is_replaced_though_pin_may_be_a_verb_or_a_postal_code(text: str) -> None:
    assert "[secret:pin]" in redact_text(text).text


@pytest.mark.parametrize(
    "text", ["Please pin the nightly toolchain to 20240115.", "My pin code: 560001, Karnataka."]
)
def test_a_pinned_version_and_a_postal_code_are_kept(text: str) -> None:
    assert redact_text(text).text == text


def test_overlapping_secrets_are_merged_under_the_certain_kind() -> None:
    token = "gh" + "p_" + MIXED * 2
    got = redact_text(f"GITHUB_TOKEN='{token}' https://x:{token}@github.com Authorization: Bearer {token}")
    assert got.counts == {"github-token": 3}
    assert MIXED not in got.text


def test_counts_are_by_kind_and_offsets_hold_after_other_scripts() -> None:
    got = redact_text(f"π𝄞 пароль İ\npassword = 'kx92mQp'\n密码 password='kx92mQz' api_key={HEX}")
    assert got.counts == {"api-key": 1, "password": 2}
    assert got.text.startswith("π𝄞 пароль İ\npassword = '[secret:password]'\n密码 password='")


def test_several_texts_are_redacted_as_each_alone() -> None:
    texts = [
        *(text for _, text, _ in CONTEXTS),
        "a <private password='kx92<mQp7>d'> e",
        "",
        "Device;Unlock PIN\nPrinter;387984\nScanner;4410",
        "The wifi here?\nIt is mauve-otter-42, ask Kim for the code to the cellar: 4410.",
        "Nothing of note.",
        "π пароль İ\npassword = 'kx92mQp'",
    ]
    alone = [redact_text(text, ("tr0ub4dor&3",)) for text in texts]
    assert redact_texts(texts, ("tr0ub4dor&3",)) == alone
    assert any("[secret:" in one.text for one in alone[len(CONTEXTS) :])
    assert redact_texts([]) == []


def test_the_version_rises_with_the_patterns() -> None:
    """Stored texts are redacted again only when the version rises."""
    digest = hashlib.sha256(repr(SECRET_PATTERNS).encode()).hexdigest()[:16]
    assert (REDACTOR_VERSION, digest) == ("11", "8eec21685e999bc4"), (
        "the patterns changed: raise REDACTOR_VERSION in redaction/__init__.py, then write both values here"
    )


HOSTILE = (
    *(
        "password=ab:",
        "secret:1",
        "api_key=a1b2c3d4e5f6g7&",
        "token = 'a1!",
        "<password>",
        "</password>",
        " --token ",
    ),
    *(
        "eyJ-",
        "eyJ.",
        "A1.",
        "sk-ant-api03-",
        "xoxb-1",
        "-----BEGIN PRIVATE KEY-----",
        "<private>",
        "4111 ",
        "://a:b@",
    ),
    *(
        "seed seed: ",
        "kind: secret\ndata:\n a: b7\n",
        "curl -b a=",
        "passwd echo a1!b | ",
        "pin is ",
        "key key for ",
    ),
    *(
        "pw: a1! ",
        "key a1b2c3d4 ",
        "| pw ",
        "| key | pw |\n|---|---|\n| a1b2c3d4 | x1! |\n",
        "# pw\n",
        "a1b2c3d4 is the key\n",
    ),
    *(
        "a: pass\n",
        "a: pass?\na: b1-c\n",
        "a: pass" + " " * 110 + "\n",
        "# login\n- a: b1-c\n",
        "# key\n\na b - c1\n",
        "pass,a\n1b,c-2\n",
        "PASSWORD  NAME\nb1-c  a\n",
        "a@b.de / c1-d ",
        "login a / b1 ",
        "open it with a1-b ",
        "unlock use a-b to open ",
        "PIN 1234 and the one for ",
        "passcode 123",
        "https://a.de/hooks/a1",
        "it's one pass is it's ",
        "pass is ab cd ef gh ",
        "PASS=ab cd",
        "abcd efgh ijkl key mnpq ",
        "hmac(a, 'b1",
        "anon key public_",
    ),
    *("name: x_password value: a", "('a', ", "|| 'a'", "creds a1/", "password from a1! to ", "?key=a1"),
)


SIZES = (12_000, 24_000, 48_000)
"""Characters that are compared with four times as many. Large arrays cost a step more than small ones, so that
linear work may look steeper once; a quadratic rule is the steeper, the longer the text."""
ROUNDS = 2
"""Times that a text is taken: a busy machine slows whichever is just at work."""


def seconds(text: str) -> float:
    start = time.thread_time()
    redact_text(text)
    return time.thread_time() - start


@pytest.mark.torture
@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_texts_take_linear_time(piece: str) -> None:
    seen = []
    for size in SIZES:
        short = (piece * size)[:size]
        once = min(seconds(short) for _ in range(ROUNDS))
        for _ in range(ROUNDS):
            often = seconds(short * 4)
            if often < 10 * once:
                return
            seen.append((size, once, often))
    raise AssertionError(f"characters, seconds, seconds of four times as many: {seen}")


PIECE = st.one_of(
    st.sampled_from([text for _, text, _ in CONTEXTS]),
    st.sampled_from(PROSE),
    st.sampled_from(
        [
            PEM.format(""),
            "-----BEGIN PRIVATE KEY-----",
            "<private>",
            "</private>",
            "`",
            "gh" + "p_" + MIXED * 2,
        ]
    ),
    st.text(alphabet="ab1Z=:/@.-_'\"\n\r\u2028 <>\\%é", max_size=12),
    st.text(max_size=8),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECE, max_size=8).map("".join))
@example("DB_PASSWORD=s3cr3tValue" + "token_type: access-token-v2" * 6 + "secret: sha256 of the file")
def test_redaction_is_idempotent_and_keeps_line_numbers(text: str) -> None:
    once = redact_text(text)
    assert len(re.findall(r"[\n\r\u2028\u2029\x85\v\f\x1c-\x1e]", once.text)) == len(
        re.findall(r"[\n\r\u2028\u2029\x85\v\f\x1c-\x1e]", text)
    )
    again = redact_text(once.text)
    assert again.text == once.text
    assert again.counts == {}
