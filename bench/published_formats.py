"""Published formats: tokens in the forms that other scanners' rules name -> those that redaction leaves.

    python bench/published_formats.py [--json FILE]

The forms are those that tell a token by itself, without a word near: of betterleaks' ``config/betterleaks.toml`` (MIT)
and kingfisher's ``crates/kingfisher-rules/data/rules`` (Apache-2.0), as they were in November 2026, written here as
templates of labels/secret_items.py. Of each form samples are made and put into a sentence that names nothing. Keys that
are public by intent, ids that open nothing, and forms that need a vendor's name near are left out.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from report import circumstances, write_json
from scrubjay.redaction.redactor import REDACTOR_VERSION, redact_text

sys.path.insert(0, str(Path(__file__).parent / "labels"))
from secret_items import SEED, made_anew

SAMPLES: Final = 20
SENTENCE: Final = "Then the output showed {} and nothing more."
UUID: Final = "«hex:8»-«hex:4»-«hex:4»-«hex:4»-«hex:12»"
FORMS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "betterleaks": (
        ("1password-secret-key", "A3-«B36:6»-«B36:11»-«B36:5»-«B36:5»-«B36:5»"),
        ("1password-service-account-token", "ops_eyJ«b64:250»"),
        ("adobe-client-secret", "p8e-«b36:32»"),
        ("age-secret-key", "AGE-SECRET-KEY-1«b32:58»"),
        ("aikido-ci-token", "AIK_CI_«b62:40»"),
        ("aikido-client-secret", "AIK_SECRET_«b62:64»"),
        ("airtable-personal-access-token", "pat«b62:14».«hex:64»"),
        ("alibaba-access-key-id", "LTAI«b62:20»"),
        ("anthropic-admin-api-key", "sk-ant-admin01-«b64u:93»AA"),
        ("anthropic-api-key", "sk-ant-api03-«b64u:93»AA"),
        ("artifactory-api-key", "AKCp«b62:69»"),
        ("artifactory-reference-token", "cmVmdGtu«b62:56»"),
        ("atlassian-api-token", "ATATT3«b64u:186»"),
        ("authress-service-client-access-key", "sc_«b36:24».«b36:5».acc_«b36:20».«b64u:60»"),
        ("aws-access-token", "AKIA«b32:16»"),
        ("aws-bedrock-long-lived", "ABSK«b64:130»"),
        ("aws-bedrock-short-lived", "bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t«b62:120»"),
        ("azure-ad-client-secret", "«b62:3»8Q~«b62:34»"),
        ("brave-search-api-key", "BSAA«b64u:27»"),
        ("canva-client-secret", "cnvca«b64u:51»"),
        ("cerebras-api-key", "csk-«b36:48»"),
        ("clickhouse-cloud-api-secret-key", "4b1d«b62:38»"),
        ("clojars-api-token", "CLOJARS_«hex:60»"),
        ("cloudflare-origin-ca-key", "v1.0-«hex:24»-«hex:146»"),
        ("cockroachlabs-cloud-api-key", "CCDB1_«b62:22»_«b62:40»"),
        ("cursor-api-key", "key_«hex:64»"),
        ("databricks-api-token", "dapi«hex:32»"),
        ("defined-networking-api-token", "dnkey-«b36:26»-«b36:52»"),
        ("deno-account-token", "ddp_«b62:36»"),
        ("devin-personal-api-key", "apk_user_«b62:140»"),
        ("devin-service-api-key", "apk_«b62:90»"),
        ("devin-service-user-token", "cog_«low:20»7«low:31»"),
        ("digitalocean-access-token", "doo_v1_«hex:64»"),
        ("digitalocean-pat", "dop_v1_«hex:64»"),
        ("dockerhub-organization-access-token", "dckr_oat_«b64u:32»"),
        ("dockerhub-personal-access-token", "dckr_pat_«b64u:27»"),
        ("doppler-api-token", "dp.pt.«b62:43»"),
        ("duffel-api-token", "duffel_live_«b64u:43»"),
        ("dynatrace-api-token", "dt0c01.«b32:24».«b32:64»"),
        ("easypost-api-token", "EZAK«b62:54»"),
        ("elastic-cloud-api-key", "essu_«b64u:90»"),
        ("elevenlabs-api-key", "sk_«hex:48»"),
        ("endorlabs-api-key", "endr+«b62:16»"),
        ("facebook-page-access-token", "EAAM«b62:120»"),
        ("figma-personal-access-token", "figd_«b64u:40»"),
        ("flutterwave-secret-key", "FLWSECK_TEST-«hex:32»-X"),
        ("flyio-access-token", "FlyV1 fm2_«b62:120»"),
        ("frameio-api-token", "fio-u-«b64u:64»"),
        ("gcp-api-key", "AIza«b64u:35»"),
        ("gcp-gemini-api", "AQ.Ab8RN6«b64u:44»"),
        ("github-pat", "ghp_«b62:36»"),
        ("github-fine-grained-pat", "github_pat_«b62:22»_«b62:59»"),
        ("gitlab-pat", "glpat-«b64u:20»"),
        ("gitlab-ptt", "glptt-«hex:40»"),
        ("gitlab-rrt", "GR1348941«b64u:20»"),
        ("gitlab-runner-authentication-token", "glrt-«b64u:20»"),
        ("gitlab-runner-routable", "glrt-t1_«b64u:27».«b36:9»"),
        ("gitlab-scim-token", "glsoat-«b64u:20»"),
        ("grafana-api-key", "eyJrIjoi«b62:80»"),
        ("grafana-cloud-api-token", "glc_«b62:80»"),
        ("grafana-service-account-token", "glsa_«b62:32»_«hex:8»"),
        ("groq-api-key", "gsk_«b62:52»"),
        ("harness-api-key", "pat.«b64u:22».«hex:24».«b62:20»"),
        ("hashicorp-tf-api-token", "«b62:14».atlasv1.«b64u:64»"),
        ("heroku-api-key-v2", "HRKU-AA«b64u:58»"),
        ("huggingface-access-token", "hf_«b62:34»"),
        ("infracost-api-token", "ico-«b62:32»"),
        ("intra42-client-secret", "s-s4t2ud-«hex:64»"),
        ("jwt-base64", "ZXlKaGJHY2lPaU«b62:120»"),
        ("linear-api-key", "lin_api_«b62:40»"),
        ("lob-api-key", "live_«hex:35»"),
        ("maxmind-license-key", "«b62:6»_«b62:29»_mmk"),
        ("minimax-api-key", "sk-api-«b64u:119»"),
        ("mongodb-atlas-service-account-secret", "mdb_sa_sk_«b64u:40»"),
        ("new-relic-user-api-key", "NRAK-«B36:27»"),
        ("notion-api-token", "ntn_«dig:11»«b62:35»"),
        ("npm-access-token", "npm_«crc:30»"),
        ("nvidia-api-key", "nvapi-«b64u:64»"),
        ("octopus-deploy-api-key", "API-«B36:26»"),
        ("openai-api-key", "sk-proj-«b64u:74»T3BlbkFJ«b64u:74»"),
        ("openrouter-api-key", "sk-or-v1-«hex:64»"),
        ("openshift-user-token", "sha256~«b64u:43»"),
        ("perplexity-api-key", "pplx-«b62:48»"),
        ("planetscale-api-token", "pscale_tkn_«b64u:43»"),
        ("posthog-personal-api-key", "phx_«b62:47»"),
        ("postman-api-token", "PMAK-«hex:24»-«hex:34»"),
        ("prefect-api-token", "pnu_«b62:36»"),
        ("pulumi-api-token", "pul-«hex:40»"),
        ("pypi-upload-token", "pypi-AgEIcHlwaS5vcmc«b64u:120»"),
        ("readme-api-token", "rdme_«b36:70»"),
        ("replicate-api-token", "r8_«b62:37»"),
        ("rubygems-api-token", "rubygems_«hex:48»"),
        ("scalingo-api-token", "tk-us-«b64u:48»"),
        ("sendgrid-api-token", "SG.«b64u:22».«b64u:43»"),
        ("sendinblue-api-token", "xkeysib-«hex:64»-«b62:16»"),
        ("sentry-user-token", "sntryu_«hex:64»"),
        ("settlemint-application-access-token", "sm_aat_«b62:16»"),
        ("settlemint-personal-access-token", "sm_pat_«b62:16»"),
        ("settlemint-service-access-token", "sm_sat_«b62:16»"),
        ("shippo-api-token", "shippo_live_«hex:40»"),
        ("shopify-access-token", "shpat_«hex:32»"),
        ("slack-app-token", "xapp-1-A«B36:10»-«dig:13»-«hex:64»"),
        ("slack-bot-token", "xoxb-«dig:12»-«dig:12»-«b62:24»"),
        ("slack-config-access-token", "xoxe.xoxp-1-«b62:163»"),
        ("slack-config-refresh-token", "xoxe-1-«b62:146»"),
        ("slack-session-token", "xoxc-«dig:12»-«dig:12»-«dig:12»-«hex:64»"),
        ("sourcegraph-access-token", "sgp_«hex:16»_«hex:40»"),
        ("square-access-token", "EAAA«b64u:60»"),
        ("stripe-access-token", "sk_live_«b62:24»"),
        ("supabase-management-token", "sbp_«hex:40»"),
        ("supabase-project-api-key", "sb_secret_«b64u:31»"),
        ("togetherai-api-key", "tgp_v1_«b64u:43»"),
        ("upcloud-api-token", "ucat_«b62:26»"),
        ("vault-batch-token", "hvb.«b64u:160»"),
        ("vault-service-token", "hvs.«b64u:95»"),
        ("vercel-personal-access-token", "vcp_«b64u:56»"),
    ),
    "kingfisher": (
        ("arcjet", "ajkey_01«b36:24»"),
        ("blockprotocol", "b10ck5.«b62:32».«b62:36»"),
        ("browserbase", "bb_live_«b62:27»"),
        ("builderio", "bpk-«hex:32»"),
        ("calcom", "cal_live_«b62:32»"),
        ("cartesia", "sk_car_«b62:20»"),
        ("composio", "ak_«b62:20»"),
        ("crossmint", "sk_production_«b62:32»"),
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Make samples, print the forms of which some stay; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    args = parser.parse_args(arguments)
    left: dict[str, int] = {}
    forms = [(f"{source}/{name}", form) for source, some in FORMS.items() for name, form in some]
    for name, form in forms:
        kept = sum(sample in redact_text(SENTENCE.format(sample)).text for sample in samples(name, form))
        if kept:
            left[name] = kept
            print(f"  {name}: {kept} of {SAMPLES} stay, such as {samples(name, form)[0][:60]}")
    print(f"{len(forms)} forms, {len(left)} of which some stay")
    result: dict[str, Any] = {"what": "published formats", "scrubber": REDACTOR_VERSION, **circumstances()}
    write_json(args.json, result | {"forms": len(forms), "left": left})
    return 0


def samples(name: str, form: str) -> list[str]:
    """Return tokens of a form, always the same."""
    chance = random.Random(f"{SEED}:{name}")
    row = {"id": name, "about": name, "text": form}
    return [made_anew(row, chance).text for _ in range(SAMPLES)]


if __name__ == "__main__":
    sys.exit(main())
