"""Each shape of secret by example; the secrets are made at run time, lest a scanner take them for leaks."""

import random

import pytest

from scrubjay.redaction import patterns
from scrubjay.redaction.redactor import redact_text

pytestmark = pytest.mark.usefixtures("rules_alone")

_random = random.Random(7)
ALNUM = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwyz23456789"


def made(size: int, letters: str = ALNUM) -> str:
    return "".join(_random.choice(letters) for _ in range(size))


def hexa(size: int) -> str:
    return "9" + made(size - 1, "0123456789abcdef")


def upper(size: int) -> str:
    return made(size, "ABCDEFGHJKLMNPQRSTUVWXYZ234567")


def uuid() -> str:
    return "-".join(hexa(size) for size in (8, 4, 4, 4, 12))


# Kind, a secret, and something like it that is none: too short, another prefix, another alphabet.
SHAPES: tuple[tuple[str, str, str], ...] = (
    ("aws-access-key", "AK" + "IA" + upper(16), "AK" + "IA" + upper(15)),
    ("aws-access-key", "AS" + "IA" + upper(16), "ASIAN" + upper(16)),
    ("aws-bedrock-key", "AB" + "SK" + made(120), "AB" + "SK" + made(90)),
    ("alibaba-access-key", "LT" + "AI" + made(20), "LT" + "AI" + made(30)),
    ("google-api-key", "AI" + "za" + made(35), "AI" + "za" + made(33)),
    ("google-client-secret", "GOC" + "SPX-" + made(28), "GOC" + "SPX-" + made(20)),
    ("google-oauth-token", "ya" + "29." + made(60), "ya" + "30." + made(60)),
    ("azure-client-secret", made(3) + "8Q~" + made(34), made(3) + "xQ~" + made(34)),
    ("azure-devops-token", made(76) + "AZ" + "DO" + made(4), made(70) + "AZ" + "DO" + made(4)),
    ("digitalocean-token", "dop" + "_v1_" + hexa(64), "dop" + "_v1_" + hexa(40)),
    (
        "cloudflare-origin-key",
        "v1" + ".0-" + hexa(24) + "-" + hexa(146),
        "v1" + ".0-" + hexa(24) + "-" + hexa(40),
    ),
    ("heroku-key", "HR" + "KU-" + uuid(), "HR" + "KU-" + hexa(12)),
    ("netlify-token", "nf" + "p_" + made(36), "nf" + "p_" + made(20)),
    ("vercel-token", "vc" + "p_" + made(24), "vc" + "x_" + made(24)),
    ("render-key", "rn" + "d_" + made(32), "rn" + "d_" + made(20)),
    ("flyio-token", "fo" + "1_" + made(43), "fo" + "1_" + made(20)),
    ("flyio-token", "fm" + "2_" + made(300), "fm" + "2_" + made(40)),
    ("tailscale-key", "tsk" + "ey-auth-" + made(12) + "-" + made(32), "tsk" + "ey-auth-" + made(12)),
    ("terraform-token", made(14) + ".atlas" + "v1." + made(64), made(14) + ".atlas" + "v2." + made(64)),
    ("pulumi-token", "pu" + "l-" + hexa(40), "pu" + "ll-" + hexa(40)),
    ("vault-token", "hv" + "s." + made(95), "hv" + "x." + made(95)),
    ("vault-token", "s" + "." + made(23) + "7", "s" + ".someRatherLongAttribute"),
    ("doppler-token", "dp" + ".pt." + made(43), "dp" + ".zz." + made(43)),
    ("databricks-token", "da" + "pi" + hexa(32), "da" + "pi" + hexa(20)),
    ("supabase-key", "sb" + "p_" + hexa(40), "sb" + "p_" + hexa(20)),
    ("supabase-key", "sb_" + "secret_" + made(30), "sb_" + "public_" + made(30)),
    ("planetscale-token", "psc" + "ale_pw_" + made(43), "psc" + "ale_db_" + made(43)),
    ("azure-key", made(52) + "JQ" + "QJ9" + made(24), made(52) + "JQ" + "QK9" + made(24)),
    ("azure-search-key", made(42) + "Az" + "SeC" + made(5), made(42) + "Az" + "SoC" + made(5)),
    ("neon-password", "np" + "g_4" + made(11), "np" + "g_" + "short"),
    ("tencent-secret-id", "AK" + "IDa4Q7" + made(28), "AK" + "IDa4Q7" + made(20)),
    ("yandex-key", "AQ" + "VN7" + made(35), "AQ" + "VN7" + made(20)),
    ("yandex-token", "t1" + ".9eu" + made(80) + "." + made(86), "t1" + ".9eu" + made(80)),
    ("mws-token", "amzn" + ".mws." + uuid(), "amzn" + ".aws." + uuid()),
    ("amazon-client-secret", "amzn1" + ".oa2-cs.v1." + hexa(64), "amzn1" + ".oa2-client." + "cs"),
    ("neon-key", "na" + "pi_" + hexa(64), "na" + "pi_" + hexa(30)),
    *(("github-token", f"gh{kind}" + "_" + made(36), f"gh{kind}" + "_" + made(30)) for kind in "pousr"),
    ("github-token", "github" + "_pat_" + made(22) + "_" + made(59), "github" + "_pat_" + made(22)),
    ("gitlab-token", "gl" + "pat-" + made(20), "gl" + "pat-" + made(12)),
    ("gitlab-token", "GR" + "1348941" + made(20), "GR" + "1348942" + made(20)),
    ("bitbucket-token", "AT" + "BB" + made(32), "AT" + "BB" + made(16)),
    ("atlassian-token", "AT" + "ATT3" + made(186), "AT" + "ATT3" + made(40)),
    ("sourcegraph-token", "sg" + "p_" + hexa(40), "sg" + "p_" + hexa(30)),
    ("sonar-token", "sq" + "u_" + hexa(40), "sq" + "z_" + hexa(40)),
    ("buildkite-token", "bk" + "ua_" + hexa(40), "bk" + "ua_" + hexa(32)),
    ("circleci-token", "CCI" + "PAT_" + made(22) + "_" + hexa(40), "CCI" + "PAT_" + made(22)),
    ("artifactory-token", "AK" + "Cp" + made(69), "AK" + "Cp" + made(40)),
    ("docker-token", "dckr" + "_pat_" + made(27), "dckr" + "_img_" + made(27)),
    ("npm-token", "np" + "m_" + made(36), "np" + "m_" + made(30)),
    ("pypi-token", "py" + "pi-AgEIcHlwaS5vcmc" + made(80), "py" + "pi-AgEIcHlwaS5vcmc" + made(20)),
    ("rubygems-key", "ruby" + "gems_" + hexa(48), "ruby" + "gems_" + hexa(40)),
    ("crates-token", "ci" + "o" + made(32), "ci" + "o" + made(20)),
    ("nuget-key", "oy" + "2" + hexa(43), "oy" + "2" + hexa(30)),
    ("clojars-token", "CLO" + "JARS_" + hexa(60), "CLO" + "JARS_" + hexa(30)),
    ("octopus-key", "AP" + "I-" + upper(26), "AP" + "I-" + upper(20)),
    ("postman-key", "PM" + "AK-" + hexa(24) + "-" + hexa(34), "PM" + "AK-" + hexa(24)),
    (
        "gitlab-token",
        "gl" + "pat-" + made(27) + ".01." + hexa(9),
        "gl" + "pet-" + made(27) + ".01." + hexa(9),
    ),
    ("deno-token", "dd" + "p_" + made(36), "dd" + "x_" + made(36)),
    ("prefect-key", "pn" + "u_" + hexa(36), "pn" + "x_" + hexa(36)),
    ("readme-key", "rd" + "me_" + hexa(70), "rd" + "me_" + hexa(40)),
    ("apify-token", "api" + "fy_api_" + made(36), "api" + "fy_api_" + made(20)),
    ("launchdarkly-key", "sd" + "k-" + uuid(), "sdk" + "s-" + uuid()),
    ("anthropic-key", "sk" + "-ant-api03-" + made(93) + "AA", "sk" + "-ant-api03-" + made(20)),
    ("openrouter-key", "sk" + "-or-v1-" + hexa(64), "sk" + "-or-v1-" + hexa(20)),
    ("langfuse-key", "sk" + "-lf-" + uuid(), "pk" + "-lf-" + uuid()),
    ("openai-key", "sk" + "-proj-" + made(48), "sk" + "-proj-" + made(8)),
    ("openai-key", "sk" + "-" + made(48), "sk" + "-" + made(20)),
    ("huggingface-token", "hf" + "_" + made(34), "hf" + "_" + made(20)),
    ("replicate-token", "r8" + "_" + made(37), "r9" + "_" + made(37)),
    ("groq-key", "gs" + "k_" + made(52), "gs" + "k_" + made(30)),
    ("xai-key", "xa" + "i-" + made(80), "xa" + "i-" + made(40)),
    ("perplexity-key", "pp" + "lx-" + made(48), "pp" + "lx-" + made(30)),
    ("cerebras-key", "cs" + "k-" + hexa(48), "cs" + "k-" + hexa(30)),
    ("nvidia-key", "nv" + "api-" + made(64), "nv" + "api-" + made(30)),
    ("jina-key", "ji" + "na_" + hexa(32) + made(28), "ji" + "na_" + hexa(20)),
    ("voyage-key", "pa" + "-" + made(43), "pa" + "-" + "words-that-are-only-words-and-nothing-else-x"),
    ("tavily-key", "tv" + "ly-" + made(32), "tv" + "ly-" + made(20)),
    ("elevenlabs-key", "sk" + "_" + hexa(48), "sk" + "_" + hexa(20)),
    ("pinecone-key", "pc" + "sk_" + made(6) + "_" + made(63), "pc" + "sk_" + made(6)),
    ("langsmith-key", "ls" + "v2_pt_" + hexa(32) + "_" + hexa(10), "ls" + "v2_pt_" + hexa(32)),
    (
        "slack-token",
        "xo" + "xb-" + made(12, "123456789") + "-" + made(24),
        "xo" + "xb-is-the-prefix-of-a-token",
    ),
    ("langsmith-key", "ls" + "__" + hexa(32), "ls" + "__" + hexa(20)),
    ("together-key", "tg" + "p_v1_" + made(43), "tg" + "p_v2_" + made(43)),
    ("fireworks-key", "fw" + "_7" + made(23), "fw" + "_7" + made(12)),
    ("firecrawl-key", "fc" + "-" + hexa(32), "fc" + "-" + hexa(20)),
    ("context7-key", "ctx7" + "sk-" + uuid(), "ctx7" + "pk-" + uuid()),
    ("e2b-key", "e2" + "b_" + hexa(40), "e2" + "b_" + hexa(20)),
    ("wandb-key", "wan" + "db_v1_" + made(77), "wan" + "db_v1_" + made(20)),
    ("slack-token", "xo" + "xd-" + made(120), "xo" + "xd-" + made(20)),
    ("slack-token", "xa" + "pp-1-" + upper(11) + "-1234567890123-" + hexa(64), "xa" + "pp-1-" + upper(11)),
    ("discord-token", "MT" + made(24) + ".G" + made(5) + "." + made(38), "MT" + made(24) + ".G" + made(5)),
    ("twilio-key", "S" + "K" + hexa(32), "A" + "C" + hexa(32)),
    ("sendgrid-key", "S" + "G." + made(22) + "." + made(43), "S" + "G." + made(22)),
    ("mailgun-key", "ke" + "y-" + hexa(32), "ke" + "y-" + hexa(30)),
    ("mailgun-key", hexa(32) + "-" + hexa(8) + "-" + hexa(8), hexa(32) + "-" + hexa(8)),
    ("mailchimp-key", hexa(32) + "-us" + "12", hexa(32) + "-eu12"),
    ("brevo-key", "xkey" + "sib-" + hexa(64) + "-" + made(16), "xkey" + "sib-" + hexa(64)),
    ("mailersend-key", "ml" + "sn." + hexa(64), "ml" + "sn." + hexa(30)),
    ("resend-key", "re" + "_" + made(8) + "_" + made(24), "re" + "_" + made(8) + "_" + made(10)),
    ("stripe-key", "sk" + "_live_" + made(24), "pk" + "_live_" + made(24)),
    ("stripe-key", "rk" + "_test_" + made(24), "rk" + "_test_" + made(6)),
    ("stripe-webhook-secret", "wh" + "sec_" + made(32), "wh" + "sec_" + made(12)),
    ("square-token", "sq" + "0atp-" + made(22), "sq" + "0atp-" + made(12)),
    ("shopify-token", "sh" + "pat_" + hexa(32), "sh" + "pat_" + hexa(20)),
    ("plaid-token", "access" + "-sandbox-" + uuid(), "access" + "-control-" + uuid()),
    ("easypost-key", "EZ" + "AK" + made(54), "EZ" + "AK" + made(30)),
    ("flutterwave-key", "FLW" + "SECK-" + hexa(32) + "-X", "FLW" + "PUBK-" + hexa(32) + "-X"),
    ("shippo-token", "ship" + "po_live_" + hexa(40), "ship" + "po_live_" + hexa(20)),
    ("clickup-key", "pk" + "_12345678_" + upper(32), "pk" + "_12345678_" + upper(12)),
    ("newrelic-key", hexa(36) + "NR" + "AL", hexa(36) + "XXAL"),
    ("newrelic-key", "NR" + "AK-" + upper(27), "NR" + "XX-" + upper(27)),
    ("sentry-token", "sn" + "trys_" + made(100), "sn" + "trys_" + made(20)),
    ("grafana-token", "gl" + "sa_" + made(32) + "_" + hexa(8), "gl" + "sa_" + made(32)),
    ("grafana-token", "gl" + "c_" + made(60), "gl" + "c_" + made(20)),
    ("dynatrace-token", "dt" + "0c01." + upper(24) + "." + upper(64), "dt" + "0c01." + upper(24)),
    ("honeycomb-key", "hca" + "ik_01" + hexa(58), "hca" + "ik_01" + hexa(30)),
    ("posthog-key", "ph" + "x_" + made(43), "ph" + "c_" + made(43)),
    ("linear-key", "li" + "n_api_" + made(40), "li" + "n_web_" + made(40)),
    ("notion-token", "nt" + "n_" + made(46), "nt" + "n_" + made(20)),
    ("notion-token", "sec" + "ret_" + made(43), "sec" + "ret_" + made(20)),
    ("airtable-token", "pa" + "t" + made(14) + "." + hexa(64), "pa" + "t" + made(14) + "." + hexa(20)),
    ("intercom-token", "dG9r" + "Ojb7" + made(52) + "=", "dG9r" + "Ojb7" + made(20) + "="),
    ("figma-token", "fi" + "gd_" + made(43), "fi" + "gx_" + made(43)),
    ("hubspot-token", "pa" + "t-na1-" + uuid(), "pa" + "t-xx1-" + uuid()),
    ("typeform-token", "tf" + "p_" + made(44), "tf" + "p_" + made(20)),
    ("contentful-token", "CF" + "PAT-" + made(43), "CF" + "PAT-" + made(20)),
    ("mapbox-token", "sk" + ".eyJ" + made(80) + "." + made(22), "sk" + ".eyJ" + made(12)),
    ("dropbox-token", "sl" + "." + made(140), "sl" + "." + made(60)),
    ("facebook-token", "EA" + "AM" + made(120), "EA" + "BX" + made(120)),
    ("instagram-token", "IG" + "QVJ" + made(120), "IG" + "QXJ" + made(120)),
    ("twitter-token", "A" * 22 + made(90), "A" * 22 + made(20)),
    ("okta-token", "0" + "0" + made(40), "0" + "0" + made(30)),
    ("1password-token", "ops" + "_eyJ" + made(300), "ops" + "_eyJ" + made(30)),
    (
        "1password-key",
        "A3" + "-" + "-".join((upper(6), upper(11), *(upper(5) for _ in range(3)))),
        "A3-" + upper(6),
    ),
    ("age-secret-key", "AGE-" + "SECRET-KEY-1" + upper(58), "age1" + hexa(58)),
    ("nostr-key", "ns" + "ec1" + made(58, "acdefghjkl234567"), "np" + "ub1" + made(58, "acdefghjkl234567")),
    (
        "jwt",
        "ey" + "J" + made(30) + ".ey" + "J" + made(60) + "." + made(43),
        "ey" + "J" + made(30) + "." + made(60),
    ),
    ("wallet-key", "xp" + "rv" + made(107), "xp" + "ub" + made(107)),
    ("paseto", "v2" + ".local." + made(80), "v2" + ".inner." + made(80)),
    ("service-key", "pat" + "_Q4x" + made(36) + "7b", "pub" + "_live_Q4x" + made(36) + "7b"),
    ("service-key", "cal" + "_live_" + hexa(32), "cal" + "_live_" + "words_and_more_words"),
    ("service-key", "polar" + "_oat_Q4x" + made(30) + "7b", "p" + "k_live_Q4x" + made(30) + "7b"),
    ("bitlocker-key", "-".join(["546063"] * 7 + ["158088"]), "-".join(["546063"] * 7)),
    ("credit-card", "4111 1111 " + "1111 1111", "4111 1111 " + "1111 1112"),
    ("credit-card", "3782 822463 " + "10005", "3782 822463 " + "10006"),
    ("credit-card", "5555-5555-" + "5555-4444", "9111 1111 1111 1111"),
    ("credit-card", "40128888" + "88881881", "40128888" + "88881882"),
    ("exa-key", "exa" + "-" + hexa(32), "exa" + "-" + hexa(30)),
    ("brave-key", "BS" + "AQ" + made(27), "BS" + "AQ" + made(20)),
    ("helicone-key", "sk-heli" + "cone-" + hexa(30), "sk-heli" + "cone-" + hexa(8)),
    ("mollie-key", "live" + "_" + made(30), "live" + "_" + made(20)),
    ("porkbun-key", "sk" + "1_" + hexa(64), "sk" + "1_" + hexa(20)),
    ("twitch-stream-key", "live" + "_123456789_" + made(30), "live" + "_12_" + made(10)),
    ("youtube-stream-key", "xar2-r1xs" + "-ccfa-q2kj-03wk", "xarw-rixs" + "-ccfa-qokj-azwk"),
    ("adobe-client-secret", "p8" + "e-" + made(32), "p8" + "e-" + made(20)),
    ("aikido-token", "AIK" + "_CI_" + made(40), "AIK" + "_CO_" + made(40)),
    ("arcjet-key", "aj" + "key_" + hexa(26), "aj" + "key_" + hexa(12)),
    (
        "authress-key",
        "sc" + "_" + hexa(24) + "." + hexa(5) + ".acc_" + hexa(20) + "." + made(60),
        "sc" + "_" + hexa(24) + "." + hexa(5) + ".abc_" + hexa(20),
    ),
    ("block-protocol-key", "b10" + "ck5." + made(32) + "." + made(36), "b10" + "ck5." + made(32)),
    ("browserbase-key", "bb" + "_live_" + made(27), "bb" + "_live_" + made(12)),
    ("builder-key", "bp" + "k-" + hexa(32), "bp" + "k-" + hexa(20)),
    ("canva-client-secret", "cn" + "vca" + made(51), "cn" + "vca" + made(20)),
    ("cartesia-key", "sk" + "_car_" + made(20), "sk" + "_car_some_words_in_a_row"),
    ("clickhouse-key", "4b" + "1d" + made(38), "4b" + "1d" + hexa(38)),
    ("cockroachdb-key", "CC" + "DB1_" + made(22) + "_" + made(40), "CC" + "DB1_" + made(22)),
    ("crossmint-key", "sk" + "_production_" + made(32), "sk" + "_production_" + made(12)),
    ("cursor-key", "key" + "_" + hexa(64), "key" + "_" + hexa(40)),
    ("defined-networking-token", "dn" + "key-" + made(26) + "-" + made(52), "dn" + "key-" + made(26)),
    ("devin-key", "ap" + "k_user_" + made(140), "ap" + "k_user_" + made(12)),
    ("devin-key", "co" + "g_" + "a7" * 2 + "kqvbzmrtpl" * 4 + "xw5hjncf", "co" + "g_" + "a7kqvbzm"),
    ("duffel-token", "duf" + "fel_live_" + made(43), "duf" + "fel_dead_" + made(12)),
    ("elastic-cloud-key", "es" + "su_" + made(90), "es" + "su_" + made(12)),
    ("frameio-token", "fio" + "-u-" + made(64), "fio" + "-u-" + made(12)),
    ("gemini-key", "AQ" + ".Ab8RN6" + made(44), "AQ" + ".Ab8RN6" + made(9)),
    ("harness-token", "pa" + "t." + made(22) + "." + hexa(24) + "." + made(20), "pa" + "t." + made(9)),
    ("infracost-token", "ic" + "o-" + made(32), "ic" + "o-" + made(12)),
    ("intra42-client-secret", "s-" + "s4t2ud-" + hexa(64), "s-" + "s4t2ud-" + hexa(12)),
    ("lob-key", "live" + "_" + hexa(35), "live" + "_" + hexa(12)),
    ("maxmind-key", made(6) + "_" + made(29) + "_m" + "mk", made(6) + "_" + made(9) + "_m" + "mk"),
    ("minimax-key", "sk" + "-api-" + made(119), "sk" + "-api-" + made(12)),
    ("mongodb-atlas-secret", "mdb" + "_sa_sk_" + made(40), "mdb" + "_sa_id_" + hexa(24)),
    ("openshift-token", "sha" + "256~" + made(43), "sha" + "256~" + made(12)),
    ("scalingo-token", "tk" + "-us-" + made(48), "tk" + "-us-" + made(12)),
    ("settlemint-token", "sm" + "_pat_" + made(16), "sm" + "_zat_" + made(12)),
    ("upcloud-token", "uc" + "at_" + made(26), "uc" + "at_" + made(12)),
)

# A kind that more than its own characters make, and the same without them.
IN_PLACE: tuple[tuple[str, str, str], ...] = (
    ("google-refresh-token", "1/" + "/0" + made(40), "2/" + "/0" + made(40)),
    ("google-auth-code", "4/" + "0A" + made(60), "5/" + "0A" + made(60)),
    ("telegram-token", "12345678:" + "AA" + made(33), "name:" + "AA" + made(33)),
    ("asana-token", "1234567890123456:" + hexa(32), "12:" + hexa(32)),
    ("cloudflare-tunnel-token", "cloudflared service install eyJhIjoi" + made(120), "eyJhIjoi" + made(20)),
    ("endor-labs-key", "en" + "dr+" + made(16), "en" + "dr-" + made(9)),
)


@pytest.mark.parametrize(("kind", "secret", "miss"), SHAPES)
def test_a_secret_is_found_by_its_form(kind: str, secret: str, miss: str) -> None:
    for before, after in (
        ("it is ", " here"),
        ("", ""),
        ('"', '",'),
        ("x=", "\n"),
        ("(", ")."),
        ("`", "`"),
        ("\\n", "\\n"),
    ):
        got = redact_text(before + secret + after)
        assert got.text == f"{before}[secret:{kind}]{after}"
        assert got.counts == {kind: 1}


@pytest.mark.parametrize(("kind", "secret", "miss"), SHAPES + IN_PLACE)
def test_lookalikes_are_kept(kind: str, secret: str, miss: str) -> None:
    assert redact_text(f"it is {miss} here").text == f"it is {miss} here"


@pytest.mark.parametrize(("kind", "secret", "miss"), IN_PLACE)
def test_a_secret_is_found_by_its_form_and_its_prefix(kind: str, secret: str, miss: str) -> None:
    got = redact_text(f"it is {secret} here")
    assert got.counts == {kind: 1}
    assert f"[secret:{kind}]" in got.text


def test_every_pattern_has_an_example() -> None:
    assert {kind for kind, _ in patterns.SECRET_PATTERNS} == {row[0] for row in SHAPES + IN_PLACE}


@pytest.mark.parametrize(("kind", "secret", "miss"), [row for row in SHAPES if row[0] != "credit-card"][::6])
def test_a_secret_after_a_separator_in_a_longer_word_is_found(kind: str, secret: str, miss: str) -> None:
    if kind in {"jwt", "okta-token"}:
        return
    assert redact_text(f"see My.{secret} now").counts.get(kind) == 1


@pytest.mark.parametrize(("kind", "secret", "miss"), IN_PLACE[:4])
def test_the_whole_token_is_replaced(kind: str, secret: str, miss: str) -> None:
    assert redact_text(f"it is {secret} here").text == f"it is [secret:{kind}] here"


def test_fillers_are_kept() -> None:
    for text in (
        "AK" + "IAIOSFODNN7EXAMPLE",
        "gh" + "p_" + "x" * 36,
        "sk" + "-" + "0" * 48,
        "hf" + "_" + "aA1" * 12,
    ):
        assert redact_text(text).text == text


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("curl -u {}: -d charge=7", "curl -u [secret:stripe-key]: -d charge=7"),
    ],
)
def test_a_secret_beside_a_mark_leaves_the_mark_whole(text, after):
    scrubbed = redact_text(text.format("rk_live_" + "ILSX03LnyV8yxnbxlX3u" * 4)).text

    assert scrubbed == after
    assert redact_text(scrubbed).text == after


@pytest.mark.parametrize(
    ("name", "form", "kind"),
    [
        ("NEXT_PUBLIC_OPENAI_API_KEY=", "sk-proj-" + made(48), "openai-key"),
        ("public_token: ", "ghp_" + made(36), "github-token"),
        ("VITE_PUBLIC_STRIPE=", "sk_live_" + made(24), "stripe-key"),
    ],
)
def test_a_secret_keys_form_outweighs_a_public_name(name: str, form: str, kind: str) -> None:
    assert redact_text(name + form).text == f"{name}[secret:{kind}]"
