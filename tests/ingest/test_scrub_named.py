"""Secrets that stand apart from their names; and what stands in the same places and is none."""

import pytest

from scrubjay.ingest.scrub import scrub

pytestmark = pytest.mark.usefixtures("rules_alone")

KEY = "q8Zr1Lw0" + "Pv7Tn3Xk5Bd9Ym2C"

FOUND = (
    ("password", "- name: DB_PASSWORD\n  value: {}", "Quartz-Vein-22"),
    ("password", '{{"name": "DB_PASSWORD", "value": "{}"}}', "Quartz-Vein-22"),
    ("secret", '<add key="ApiSecret" value="{}" />', KEY),
    ("password", '<property name="password" value="{}"/>', "Fir-Tree-31"),
    ("password", '<entry key="db.password">{}</entry>', "quartzvein22"),
    ("token", 'variable "api_token" {{\n  type = string\n  default = "{}"\n}}', KEY),
    ("password", "define('DB_PASSWORD', '{}');", "barnowl12"),
    ("secret", "define( 'AUTH_SALT', '{}' );", KEY),
    ("password", "'password' => env('DB_PASSWORD', '{}'),", "barn0wl-77"),
    ("password", 'os.environ.setdefault("DB_PASSWORD", "{}")', "barn0wl-77"),
    ("secret", "process.env.JWT_SECRET || '{}'", "fallback-Owl-93"),
    ("password", "FROM x\nENV DB_PASSWORD {}\n", "owlnight3"),
    ("api-key", 'setx API_KEY "{}"', KEY),
    ("aws-api-key", "aws configure set aws_secret_access_key {}", KEY),
    ("token", "git config --global github.token {}", KEY),
    ("secret", "apiVersion: v1\nkind: Secret\ndata:\n  username: YWRtaW4=\n  api: {}\n", "aGVyb25wb25kOTk5"),
    ("secret", "kind: Secret\nmetadata:\n  name: x\nstringData:\n  host: db2\n  pin: {}", "mossy-Log-7"),
    ("password", "ALTER USER app WITH PASSWORD '{}';", "owl.night"),
    ("password", "CREATE USER 'app'@'%' IDENTIFIED BY '{}';", "owl.night3"),
    ("password", "SET PASSWORD FOR 'root'@'localhost' = PASSWORD('{}');", "owlnight3"),
    ("password", "auth=('ann', '{}')", "owl.night3"),
    ("password", "HTTPBasicAuth('ann', '{}')", "owl.night3"),
    ("password", "server.login('ci@acme.example', '{}')", "owl.night3"),
    ("password", "jwt.sign(payload, '{}')", "my-owl-night-93"),
    ("secret", 'stripe.Client("{}", timeout=3)', KEY),
    ("secret", "new Wallet('{}')", "0x" + "9f86d081884c7d65" * 4),
)
STAYS = (
    "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db-prod-2",
    '{"name": "retries", "value": "Quartz-Vein-22"}',
    'variable "db_password" {\n  sensitive = true\n}\nvariable "region" {\n  default = "eu-central-1"\n}',
    "define('WP_DEBUG', 'yes-2026'); define('DB_NAME', 'wiki2026');",
    "os.environ.get('API_KEY', 'none')",
    "process.env.REGION || 'eu-central-1'",
    "ENV NODE_VERSION 22.3.0-slim",
    "git config --global user.name ann2026",
    "kind: ConfigMap\ndata:\n  mode: cHJvZHVjdGlvbg==",
    "kind: Secret\nmetadata:\n  name: db-prod-2\n  namespace: team-7",
    "kind: Secret\ndata:\n  username: YWRtaW4=\n  port: NTQzMg==\n",
    "ALTER USER app PASSWORD NULL; CREATE USER app; -- identified by the password",
    "auth = HTTPBasicAuth('ann', password)",
    "session.login('ann', 'HS256')",
    "jwt.decode(token, 'public.pem')",
    'Client("acme-billing-service-v2")',
)


@pytest.mark.parametrize(("kind", "text", "secret"), FOUND)
def test_a_secret_apart_from_its_name_goes(kind: str, text: str, secret: str) -> None:
    got = scrub(f"first\n{text.format(secret)}")
    assert got.text == f"first\n{text.format(f'[secret:{kind}]')}"


@pytest.mark.parametrize("text", STAYS)
def test_what_stands_in_such_a_place_and_is_no_secret_stays(text: str) -> None:
    assert scrub(text).text == text


def test_two_manifests_keep_their_names_and_lose_their_secrets() -> None:
    one = "kind: Secret\nmetadata:\n  name: x\ndata:\n  a: aGVyb25wb25kOTk5\n---\n"
    clean = scrub(one * 3).text
    assert "aGVyb25wb25kOTk5" not in clean
    assert clean.count("name: x") == 3
