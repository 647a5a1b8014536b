"""Secret patterns: secrets that their form gives away, and further occurrences of what rules found.

The expressions are tried at the start of a run of letters, digits, ``_``, ``-`` and ``.``, and behind one of ``._-``
inside it. So that every character has a bounded cost, classes with one of ``._-`` are bounded. Sources: the vendors'
documentation, and the rules of gitleaks and betterleaks (MIT), kingfisher (Apache-2.0) and GitHub's secret scanning, by
name of the format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from typing import Final

from scrubjay.redaction.context_rules import find_by_context
from scrubjay.redaction.values import SecretSpan, find_positions, is_filler

_END = rb"(?![\w-])"
# Words and numbers joined by dashes, as in the name of a note: no random text.
_JOINED_WORDS = rb"(?:[_-]++(?:(?:[A-Z]?[a-z]++|[A-Z]++)[0-9]{0,4}+|[0-9]{1,8}+)){3,20}(?![\w-])"
# Random: capitals, small letters and two digits among the next characters.
_RANDOM = rb"(?=[A-Za-z]{0,60}[0-9][A-Za-z]{0,60}[0-9])(?=[a-z0-9]{0,60}[A-Z])(?=[A-Z0-9]{0,60}[a-z])"
_UUID = rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

# Kind and pattern; the first match wins. A text is searched only where a run of at least MIN_RUN letters, digits and
# `._-~` holds a capital or a digit: a pattern of shorter or plainer tokens would never be tried.
SECRET_PATTERNS: tuple[tuple[str, bytes], ...] = (
    # Clouds
    ("aws-access-key", rb"A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])[A-Z0-9]{16}(?!\w)"),
    ("aws-bedrock-key", rb"ABSK[A-Za-z0-9+/]{109,269}={0,2}"),
    ("alibaba-access-key", rb"LTAI[A-Za-z0-9]{12,20}" + _END),
    ("google-api-key", rb"AIza[\w-]{35}" + _END),
    ("google-client-secret", rb"GOCSPX-[\w-]{28}" + _END),
    ("google-oauth-token", rb"ya29\.[\w-]{20,1024}"),
    ("google-refresh-token", rb"0(?<=1//0)[\w-]{30,200}"),
    ("google-auth-code", rb"0(?<=4/0)A[\w-]{40,200}"),
    ("azure-client-secret", rb"[\w~.-]{3}[0-9]Q~[\w~.-]{31,34}(?![\w~-])"),
    ("azure-devops-token", rb"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}" + _END),
    ("azure-key", rb"[A-Za-z0-9]{52}JQQJ9[A-Za-z0-9]{20,30}" + _END),
    ("azure-search-key", rb"[A-Za-z0-9]{42}AzSe[A-D][A-Za-z0-9]{5}" + _END),
    ("digitalocean-token", rb"do[opr]_v1_[0-9a-f]{64}" + _END),
    ("cloudflare-origin-key", rb"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}" + _END),
    ("heroku-key", rb"HRKU-[\w-]{36,64}" + _END),
    ("netlify-token", rb"nf[cpou]_[A-Za-z0-9]{36,40}" + _END),
    ("vercel-token", rb"vc[pcairk]_(?:[A-Za-z0-9]{24,60}|[\w-]{56})" + _END),
    ("render-key", rb"rnd_[A-Za-z0-9]{32}" + _END),
    ("flyio-token", rb"fo1_[\w-]{43}" + _END),
    ("flyio-token", rb"fm[12][ar]?_[A-Za-z0-9+/=]{100,4096}"),
    ("tailscale-key", rb"tskey-[a-z]{3,8}-[A-Za-z0-9]{5,20}-[A-Za-z0-9]{20,40}" + _END),
    ("terraform-token", rb"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,70}" + _END),
    ("pulumi-token", rb"pul-[0-9a-f]{40}" + _END),
    ("vault-token", rb"hv[sbr]\.[\w-]{24,300}"),
    ("vault-token", rb"s\.(?=[A-Za-z]{0,23}[0-9])[A-Za-z0-9]{24}(?![\w.-])"),
    ("doppler-token", rb"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,44}" + _END),
    ("databricks-token", rb"dapi[0-9a-f]{32}(?:-[0-9])?" + _END),
    ("supabase-key", rb"sbp_[0-9a-f]{40}" + _END),
    ("supabase-key", rb"sb_secret_[\w-]{20,60}" + _END),
    ("planetscale-token", rb"pscale_(?:pw|tkn|oauth)_[\w-]{32,64}" + _END),
    ("neon-key", rb"napi_[a-z0-9]{60,70}" + _END),
    ("neon-password", rb"npg_(?=[A-Za-z]{0,24}[0-9])[A-Za-z0-9]{12,24}" + _END),
    ("tencent-secret-id", rb"AKID" + _RANDOM + rb"[A-Za-z0-9]{32}" + _END),
    ("yandex-key", rb"AQVN(?=[A-Za-z_-]{0,40}[0-9])[\w-]{35,38}" + _END),
    ("yandex-token", rb"t1\.[A-Z0-9a-z_-]{40,300}\.[\w-]{86}" + _END),
    ("mws-token", rb"amzn\.mws\." + _UUID + _END),
    ("amazon-client-secret", rb"amzn1\.oa2-cs\.v1\.[0-9a-f]{64}" + _END),
    ("cloudflare-tunnel-token", rb"eyJhIjoi[A-Za-z0-9+/_-]{80,400}={0,2}"),
    # Code, packages and builds
    ("github-token", rb"gh[pousr]_[A-Za-z0-9]{36,255}" + _END),
    ("github-token", rb"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}" + _END),
    (
        "gitlab-token",
        rb"gl(?:pat|dt|ptt|rt|cbt|imt|ft|soat|agent|oas|ffct)-[\w-]{20,300}(?:\.[\w-]{2}(?=\.))?(?:\.[\w-]{9})?",
    ),
    ("gitlab-token", rb"GR1348941[\w-]{20}" + _END),
    ("bitbucket-token", rb"ATBB[A-Za-z0-9_=-]{28,60}"),
    ("atlassian-token", rb"AT(?:ATT|CTT)3[\w=-]{60,400}"),
    ("sourcegraph-token", rb"sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}" + _END),
    ("sonar-token", rb"sq[pua]_[0-9a-f]{40}" + _END),
    ("buildkite-token", rb"bkua_[0-9a-f]{40}" + _END),
    ("circleci-token", rb"CCI(?:PAT|PRJ)_[A-Za-z0-9]{22}_[0-9a-f]{40}" + _END),
    ("artifactory-token", rb"AKCp[A-Za-z0-9]{69}" + _END),
    ("artifactory-token", rb"cmVmdGtu[A-Za-z0-9]{56}" + _END),
    ("docker-token", rb"dckr_(?:pat|oat)_[\w-]{27,40}" + _END),
    ("npm-token", rb"npm_[A-Za-z0-9]{36}" + _END),
    ("pypi-token", rb"pypi-AgE(?:IcHlwaS5vcmc|NdGVzdC5weXBpLm9yZw)[\w-]{50,1000}"),
    ("rubygems-key", rb"rubygems_[0-9a-f]{48}" + _END),
    ("crates-token", rb"cio[A-Za-z0-9]{32}" + _END),
    ("nuget-key", rb"oy2[a-z0-9]{43}" + _END),
    ("clojars-token", rb"CLOJARS_[0-9a-f]{60}" + _END),
    ("octopus-key", rb"API-[A-Z0-9]{26}" + _END),
    ("postman-key", rb"PMAK-[0-9a-f]{24}-[0-9a-f]{34}" + _END),
    ("launchdarkly-key", rb"(?:api|sdk)-" + _UUID + _END),
    ("deno-token", rb"dd[po]_[A-Za-z0-9]{36}" + _END),
    ("prefect-key", rb"pn[ub]_[A-Za-z0-9]{36}" + _END),
    ("readme-key", rb"rdme_[a-z0-9]{70}" + _END),
    ("apify-token", rb"apify_api_[A-Za-z0-9]{34,40}" + _END),
    # Language models and their tools
    ("anthropic-key", rb"sk-ant-[a-z]{2,8}[0-9]{2}-[\w-]{60,200}"),
    ("openrouter-key", rb"sk-or-(?:v1-)?[0-9a-f]{64}" + _END),
    ("langfuse-key", rb"sk-lf-" + _UUID + _END),
    ("openai-key", rb"sk-(?:proj|svcacct|admin|None)-[\w-]{20,250}"),
    # Many services that speak OpenAI's protocol use its old form too.
    ("openai-key", rb"sk-[A-Za-z0-9]{32,64}" + _END),
    ("huggingface-token", rb"hf_[A-Za-z0-9]{30,40}" + _END),
    ("huggingface-token", rb"api_org_[A-Za-z0-9]{34}" + _END),
    ("replicate-token", rb"r8_[A-Za-z0-9]{37,40}" + _END),
    ("groq-key", rb"gsk_[A-Za-z0-9]{48,60}" + _END),
    ("xai-key", rb"xai-[A-Za-z0-9]{70,90}" + _END),
    ("perplexity-key", rb"pplx-[A-Za-z0-9]{40,60}" + _END),
    ("cerebras-key", rb"csk-[a-z0-9]{48}" + _END),
    ("nvidia-key", rb"nvapi-[\w-]{60,70}" + _END),
    ("jina-key", rb"jina_[0-9a-f]{32}[\w-]{24,40}" + _END),
    ("voyage-key", rb"pa-(?=[a-z_-]{0,42}[A-Z0-9])[\w-]{43}" + _END),
    ("tavily-key", rb"tvly-(?:dev-|prod-)?[A-Za-z0-9]{32}" + _END),
    ("elevenlabs-key", rb"sk_[0-9a-f]{48}" + _END),
    ("pinecone-key", rb"pcsk_[A-Za-z0-9]{5,6}_[A-Za-z0-9]{50,70}" + _END),
    ("langsmith-key", rb"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}" + _END),
    ("langsmith-key", rb"ls__[0-9a-f]{32}" + _END),
    ("together-key", rb"tgp_v1_[\w-]{43}" + _END),
    ("fireworks-key", rb"fw_(?=[A-Za-z]{0,22}[0-9])[A-Za-z0-9]{22,24}" + _END),
    ("firecrawl-key", rb"fc-[0-9a-f]{32}" + _END),
    ("context7-key", rb"ctx7sk-" + _UUID + _END),
    ("e2b-key", rb"e2b_[0-9a-f]{40}" + _END),
    ("wandb-key", rb"wandb_v1_[\w-]{60,90}" + _END),
    ("exa-key", rb"exa-[0-9a-f]{32}" + _END),
    ("brave-key", rb"BSA[A-Z][\w-]{27}" + _END),
    ("helicone-key", rb"sk-helicone-[a-z0-9-]{20,60}" + _END),
    # Messages and mail
    ("slack-token", rb"xox[abceoprs]-(?=[A-Za-z-]{0,20}[0-9])[A-Za-z0-9-]{16,250}"),
    ("slack-token", rb"xoxd-[\w%-]{60,300}"),
    ("slack-token", rb"xapp-[0-9]-[A-Z0-9]{8,16}-[0-9]{8,16}-[a-z0-9]{20,100}" + _END),
    ("discord-token", rb"[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,38}" + _END),
    ("telegram-token", rb"A(?<=[0-9]:A)A[\w-]{33}" + _END),
    ("twilio-key", rb"SK[0-9a-f]{32}" + _END),
    ("sendgrid-key", rb"SG\.[\w-]{22}\.[\w-]{43}" + _END),
    ("mailgun-key", rb"key-[0-9a-f]{32}" + _END),
    ("mailgun-key", rb"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}" + _END),
    ("mailchimp-key", rb"[0-9a-f]{32}-us[0-9]{1,2}" + _END),
    ("brevo-key", rb"xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}" + _END),
    ("mailersend-key", rb"mlsn\.[0-9a-f]{64}" + _END),
    ("resend-key", rb"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}" + _END),
    # Money
    ("stripe-key", rb"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,250}" + _END),
    ("stripe-webhook-secret", rb"whsec_[A-Za-z0-9+/]{24,100}={0,2}"),
    ("square-token", rb"sq0(?:atp|csp|idp)-[\w-]{22,60}"),
    ("square-token", rb"EAAA[\w-]{60}" + _END),
    ("shopify-token", rb"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}" + _END),
    ("plaid-token", rb"access-(?:sandbox|development|production)-" + _UUID + _END),
    ("easypost-key", rb"EZ[AT]K[A-Za-z0-9]{54}" + _END),
    ("flutterwave-key", rb"FLWSECK(?:_TEST)?-[0-9a-f]{12,32}-X" + _END),
    ("shippo-token", rb"shippo_(?:live|test)_[0-9a-f]{40}" + _END),
    ("mollie-key", rb"(?:live|test)_[A-Za-z0-9]{30}" + _END),
    # Watching, working and publishing
    ("newrelic-key", rb"[0-9a-f]{36}(?:NRAL|FFFFNRAL)" + _END),
    ("newrelic-key", rb"NR(?:AK|II|IQ|JS|SP|AA)-[\w-]{19,40}" + _END),
    ("sentry-token", rb"sntry[su]_[A-Za-z0-9+/=_-]{60,400}"),
    ("grafana-token", rb"glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}" + _END),
    ("grafana-token", rb"glc_[A-Za-z0-9+/]{32,400}={0,2}"),
    ("grafana-token", rb"eyJrIjoi[A-Za-z0-9+/]{60,400}={0,2}"),
    ("dynatrace-token", rb"dt0[a-z][0-9]{2}\.[A-Z2-7]{24}\.[A-Z2-7]{64}" + _END),
    ("honeycomb-key", rb"hc[a-z]{2,3}_[0-9]{2}[a-z0-9]{56,60}" + _END),
    ("posthog-key", rb"phx_[A-Za-z0-9]{40,50}" + _END),
    ("linear-key", rb"lin_(?:api|oauth)_[A-Za-z0-9]{40,64}" + _END),
    ("notion-token", rb"ntn_[A-Za-z0-9]{40,60}" + _END),
    ("notion-token", rb"secret_[A-Za-z0-9]{43}" + _END),
    ("airtable-token", rb"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}" + _END),
    ("intercom-token", rb"dG9rOj(?=[A-Za-z]{0,54}[0-9])[A-Za-z0-9+/]{54}=" + _END),
    ("asana-token", rb"[0-9a-f](?<=[0-9]{16}:.)[0-9a-f]{31}" + _END),
    ("figma-token", rb"figd_[\w-]{40,60}" + _END),
    ("hubspot-token", rb"pat-(?:na|eu|ap)[0-9]-" + _UUID + _END),
    ("typeform-token", rb"tfp_[\w-]{40,70}" + _END),
    ("contentful-token", rb"CFPAT-[\w-]{43}" + _END),
    ("mapbox-token", rb"sk\.eyJ[\w-]{20,300}\.[\w-]{20,40}" + _END),
    ("porkbun-key", rb"[ps]k1_[0-9a-f]{64}" + _END),
    ("twitch-stream-key", rb"live_[0-9]{8,10}_[A-Za-z0-9]{25,40}" + _END),
    (
        "youtube-stream-key",
        rb"(?=[a-z-]{0,20}[0-9])(?!(?:(?:[a-z]{4}|[0-9]{4})-){4}(?:[a-z]{4}|[0-9]{4})\b)"
        rb"[a-z0-9]{4}(?:-[a-z0-9]{4}){4}" + _END,
    ),
    ("dropbox-token", rb"sl\.(?:u\.)?[\w-]{100,300}"),
    ("clickup-key", rb"pk_[0-9]{5,10}_[A-Z0-9]{32}" + _END),
    ("facebook-token", rb"EAA[A-Za-z](?=[A-Za-z]{0,60}[0-9])[A-Za-z0-9]{100,400}" + _END),
    ("twitter-token", rb"AAAAAAAAAAAAAAAAAAAA[A-Za-z0-9%]{80,100}" + _END),
    ("instagram-token", rb"IG(?:QV|AA)[A-Za-z](?=[A-Za-z]{0,60}[0-9])[A-Za-z0-9]{100,300}" + _END),
    # Identity
    ("okta-token", rb"00(?=[\w-]{0,39}[A-Z])(?=[\w-]{0,39}[a-z])(?!" + _JOINED_WORDS + rb")[\w-]{40}" + _END),
    ("1password-token", rb"ops_eyJ[A-Za-z0-9+/]{100,4096}={0,2}"),
    ("1password-key", rb"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}" + _END),
    ("age-secret-key", rb"AGE-SECRET-KEY-1[A-Z0-9]{58}" + _END),
    ("nostr-key", rb"nsec1[ac-hj-np-z02-9]{58}" + _END),
    ("wallet-key", rb"[xyztuv]prv[A-Za-z0-9]{107,108}" + _END),
    ("paseto", rb"v[1-4]\.(?:local|public)\.[\w-]{60,4096}(?:\.[\w-]{1,1024})?"),
    # Forms that betterleaks' and kingfisher's rules name (python -m bench formats)
    ("adobe-client-secret", rb"p8e-[A-Za-z0-9]{32}" + _END),
    ("aikido-token", rb"AIK_(?:CI_[A-Za-z0-9]{20,44}|SECRET_[A-Za-z0-9]{64})" + _END),
    ("arcjet-key", rb"ajkey_[a-z0-9]{26}" + _END),
    (
        "authress-key",
        rb"(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[\w+/=-]{30,120}",
    ),
    ("block-protocol-key", rb"b10ck5\.[A-Za-z0-9]{32}\.[A-Za-z0-9]{36}" + _END),
    ("browserbase-key", rb"bb_(?:live|test)_[\w-]{27}" + _END),
    ("builder-key", rb"bpk-[0-9a-f]{32}" + _END),
    ("canva-client-secret", rb"cnvca[\w-]{51}" + _END),
    ("cartesia-key", rb"sk_car_(?=[a-z_]{0,19}[A-Z0-9])\w{20}" + _END),
    ("clickhouse-key", rb"4b1d" + _RANDOM + rb"[A-Za-z0-9]{38}" + _END),
    ("cockroachdb-key", rb"CCDB1_[A-Za-z0-9]{22}_[A-Za-z0-9]{40}" + _END),
    ("crossmint-key", rb"sk_(?:staging|production)_[A-Za-z0-9]{24,48}" + _END),
    ("cursor-key", rb"key_[0-9a-f]{64}" + _END),
    ("defined-networking-token", rb"dnkey-[\w=-]{26}-[\w=-]{52}" + _END),
    ("devin-key", rb"apk_(?:user_)?" + _RANDOM + rb"[A-Za-z0-9+/]{80,180}={0,2}" + _END),
    ("devin-key", rb"cog_[a-z2-7]{52}" + _END),
    ("duffel-token", rb"duffel_(?:test|live)_[\w=-]{43}" + _END),
    ("elastic-cloud-key", rb"essu_[\w-]{60,200}={0,2}" + _END),
    ("endor-labs-key", rb"(?<=endr\+)[A-Za-z0-9-]{16}" + _END),
    ("frameio-token", rb"fio-u-[\w=-]{64}" + _END),
    ("gemini-key", rb"AQ\.Ab8RN6[\w-]{44}" + _END),
    ("harness-token", rb"[ps]at\.[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}" + _END),
    ("infracost-token", rb"ico-[A-Za-z0-9]{32}" + _END),
    ("intra42-client-secret", rb"s-s4t2(?:ud|af)-[0-9a-f]{64}" + _END),
    ("jwt", rb"ZXlK(?:aGJHY2lPaU|MGVYQWlPaU|cmFXUWlP|cGMzTWlPaU)[A-Za-z0-9+/_-]{40,4096}={0,2}"),
    ("lob-key", rb"(?:live|test)_[0-9a-f]{35}" + _END),
    ("maxmind-key", rb"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk" + _END),
    ("minimax-key", rb"sk-api-[\w-]{119}" + _END),
    ("mongodb-atlas-secret", rb"mdb_sa_sk_[\w-]{40}" + _END),
    ("openshift-token", rb"sha256~[\w-]{43}" + _END),
    ("scalingo-token", rb"tk-us-[\w-]{48}" + _END),
    ("settlemint-token", rb"sm_[aps]at_[A-Za-z0-9]{16}" + _END),
    ("upcloud-token", rb"ucat_[0-9A-Za-z]{24,32}" + _END),
    # What a service calls a secret, then what is drawn by lot: cal_live_…, polar_oat_…, pat_…
    (
        "service-key",
        rb"(?<!\\)(?!pk_|cs_|pub)(?:[a-z][a-z0-9]{1,12}_(?:live|prod|key|token)_"
        rb"|(?:[a-z][a-z0-9]{1,12}_)?(?:sk|pat|oat|secret|apikey)_)"
        rb"(?:[0-9a-f]{32,64}|" + _RANDOM + rb"[A-Za-z0-9]{24,100})" + _END,
    ),
    # Not behind "-" or "_": its classes are too long to be tried at each.
    (
        "jwt",
        rb"(?:(?<![\w-])|(?<=\\[nrt]))eyJ[\w-]{8,8192}+\.[\w-]{0,8192}+\.[\w-]{8,8192}+(?:\.[\w-]{1,8192}+){"
        rb"0,2}",
    ),
    ("bitlocker-key", rb"[0-9]{6}(?:-[0-9]{6}){7}(?![\w-])"),
    ("credit-card", rb"[2-6][0-9]{15}(?![\w.-])"),
)
MAX_REPEATED_SECRETS: Final = 40
"""Secrets whose repetitions are searched: each search reads the whole text."""
MAX_REPEATS: Final = 4
"""Repetitions above which a value is a name in a program."""
MIN_REPEATED: Final = 8
MAX_REPEATED: Final = 128

_REPEATED_KINDS: Final = frozenset(
    ("password", "secret", "token", "api-key", "answer", "url-token", "session-cookie")
)
_DISTINCTIVE_VALUE: Final = re.compile(
    r"(?=.*[A-Za-z])(?=.*[0-9!#$%&*+@^~])(?![A-Za-z_][\w.]*\Z).*\Z|[^\W\d_]+(?:[ ][^\W\d_]+){2,}\Z"
)


def find_repeats(text: str, spans: Iterable[SecretSpan]) -> Iterator[SecretSpan]:
    """Yield the other occurrences of secrets that nobody writes for another reason."""
    known: dict[str, str] = {}
    for span in spans:
        value = text[span.start : span.end]
        if (
            span.kind in _REPEATED_KINDS
            and MIN_REPEATED <= len(value) <= MAX_REPEATED
            and len(known) < MAX_REPEATED_SECRETS
            and _DISTINCTIVE_VALUE.match(value)
        ):
            known.setdefault(value, span.kind)
    for value, kind in known.items():
        if text.count(value) <= MAX_REPEATS:
            for match in re.finditer(re.escape(value), text):
                at, end = match.span()
                if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
                    yield SecretSpan(at, end, kind, False)


_DIGIT_CLASS = bytes(
    ord("0") if 48 <= byte <= 57 else 32 if chr(byte) in " -" else ord(".") for byte in range(256)
)
# The test number of payment services.
_TEST_CARD = b"4242" * 4
_CARD_FORMS = (b"0000 0000 0000 0000", b"0000 000000 00000")


def find_cards(data: bytes) -> Iterator[SecretSpan]:
    """Yield payment cards in their printed groups; nine in ten other numbers fail the check digit."""
    classes = data.translate(_DIGIT_CLASS)
    for form in _CARD_FORMS:
        for at in find_positions(classes, form):
            end = at + len(form)
            is_part_of_number = data[at - 1 : at].isdigit() or data[end : end + 1].isdigit()
            digits = data[at:end].replace(b" ", b"").replace(b"-", b"")
            if not is_part_of_number and digits != _TEST_CARD and is_card_number(digits):
                yield SecretSpan(at, end, "credit-card", True)


def is_card_number(digits: bytes) -> bool:
    """Check an issuer's beginning and the check digit (Luhn, ISO/IEC 7812-1)."""
    if not digits.startswith(
        (b"4", b"5", b"34", b"37", b"6011", b"65", b"22", b"23", b"24", b"25", b"26", b"27")
    ):
        return False
    values = [byte - 48 for byte in reversed(digits)]
    doubled = (sum(divmod(2 * value, 10)) for value in values[1::2])
    return (sum(values[::2]) + sum(doubled)) % 10 == 0


# The shortest shape (an Alibaba key) has 16 characters.
MIN_RUN = 16

_RUN = b"r" * MIN_RUN
_RUN_CLASS = bytes(
    ord("r") if chr(byte) in "._-~" or (byte < 128 and chr(byte).isalnum()) else 32 for byte in range(256)
)
# Every random token has a capital or a digit; slugs, names and lines of dashes mostly have none.
_CAPITAL_OR_DIGIT = re.compile(rb"[A-Z0-9]")
_SEPARATOR_RUN = re.compile(rb"[._-]++(?=[A-Za-z0-9])")
_ANY_PATTERN = re.compile(rb"|".join(b"(?:" + source + b")" for _, source in SECRET_PATTERNS))

# A key's id and its secret are written together: "AKIA… / …".
MAX_BETWEEN = 120
_MIXED_LOOKAHEAD = rb"(?<![\w+/-])(?=\S{0,39}[0-9])(?=\S{0,39}[a-z])(?=\S{0,39}[A-Z])"
_SECRET_HALVES = {
    "aws-access-key": re.compile(_MIXED_LOOKAHEAD + rb"([A-Za-z0-9+/]{40})(?![\w+/=-])"),
    "alibaba-access-key": re.compile(_MIXED_LOOKAHEAD + rb"([A-Za-z0-9]{30})(?![\w+/=-])"),
    "twilio-key": re.compile(_MIXED_LOOKAHEAD + rb"([A-Za-z0-9]{32})(?![\w+/=-])"),
}

# Beginning of a token before the run of characters with its form.
_PREFIXES = {
    "asana-token": re.compile(rb"(?:\b[12]/)?[0-9]{16}(?:/[0-9]{16})?:\Z"),
    "telegram-token": re.compile(rb"(?<![0-9])[0-9]{8,10}:\Z"),
    "google-refresh-token": re.compile(rb"1//\Z"),
    "google-auth-code": re.compile(rb"4/\Z"),
}
MAX_PREFIX = 40

_KEY_HEADER = re.compile(
    rb"-----BEGIN ((?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1)-----"
)
_KEY_MATERIAL = re.compile(rb"[A-Za-z0-9+/=]{16,}")
# Names of keys that a page gives to every visitor.
_PUBLIC_NAME = re.compile(
    rb"(?:public|publishable|anon|search[_-]?|pusher_(?:app_)?(?=key)|application_?server)(?:(?!secret|priv"
    rb"|pass|service)[\w-]){0,40}[\"'`]?\]?[ \t]{0,4}[:=][ \t]{0,4}[\"'`]?\Z"
)
_POSSIBLY_PUBLIC_KINDS = ("google-api-key", "jwt")
_FIREBASE = re.compile(rb"auth_?domain|firebase_?config|messaging_?sender|maps/api/js\?|<script src=")
_CHECKSUM = re.compile(rb"(?:checksum|integrity|digest|websocket-key)[\w./-]{0,40}[\"']?[:=][ \t]*[\"']?\Z")
_SEARCH_ONLY = re.compile(rb"docsearch|search[ _-]?only|instantsearch|litesearch")
# A mail template; a sealed secret, which its cluster alone can open; the example of RFC 7617.
_PUBLIC_VALUE = re.compile(rb"d-[0-9a-f]{32}(?![\w-])|Ag[A-D][A-Za-z0-9+/]{80}|QWxhZGRpbjpvcGVuIHNlc2FtZQ")
# Public half of a key that signs pushes to browsers.
_CURVE_POINT = re.compile(rb"B[A-P][\w-]{85}(?![\w-])")
NEARBY_CHARACTERS = 300
HEX_KEY_LENGTH, CURVE_POINT_LENGTH = 32, 87
_BLANK_LINE = re.compile(rb"\n[ \t>]*\r?\n")


def find_by_rules(text: str, data: bytes, low: bytes) -> list[SecretSpan]:
    """Return the secrets that rules find, and their repetitions, in order."""
    by_form = chain(_find_patterns(data), _find_private_keys(data, low), find_cards(data))
    spans = chain(by_form, find_by_context(data, low))
    secrets = sorted(span for span in spans if not is_public_key(data, low, span))
    return sorted([*secrets, *find_repeats(text, secrets)])


def is_public_key(data: bytes, low: bytes, span: SecretSpan) -> bool:
    """Tell whether a key is public: by its name, or because its page uses Firebase.

    A secret key's own form counts more than its name: ``NEXT_PUBLIC_OPENAI_API_KEY`` is a mistake that people make.
    """
    if span.certain and span.kind not in _POSSIBLY_PUBLIC_KINDS:
        return False
    if _PUBLIC_NAME.search(low, max(0, span.start - 80), span.start) or _PUBLIC_VALUE.match(data, span.start):
        return True
    if _CHECKSUM.search(low, max(0, span.start - 60), span.start):
        return True
    if span.end - span.start == HEX_KEY_LENGTH and _SEARCH_ONLY.search(
        low, max(0, span.start - NEARBY_CHARACTERS), span.end + NEARBY_CHARACTERS
    ):
        return True
    if span.end - span.start == CURVE_POINT_LENGTH and _CURVE_POINT.match(data, span.start):
        return True
    return data.startswith(b"AIza", span.start) and (
        _FIREBASE.search(low, max(0, span.start - NEARBY_CHARACTERS), span.end + NEARBY_CHARACTERS)
        is not None
    )


def _find_patterns(data: bytes) -> Iterator[SecretSpan]:
    classes = data.translate(_RUN_CLASS)
    start = classes.find(_RUN)
    last = 0
    while start >= 0:
        end = classes.find(b" ", start + MIN_RUN)
        if end < 0:
            end = len(data)
        if _CAPITAL_OR_DIGIT.search(data, start, end):
            covered = start
            for at in _pattern_starts(data, start, end):
                match = _ANY_PATTERN.match(data, at) if at >= covered else None
                if match and (kind := _kind_at(data, at, match[0])):
                    covered = match.end()
                    yield SecretSpan(max(last, _token_start(data, at, kind)), covered, kind, True)
                    last = covered
                    yield from _find_other_half(data, covered, kind)
        start = classes.find(_RUN, end)


def _find_other_half(data: bytes, at: int, kind: str) -> Iterator[SecretSpan]:
    """Yield the secret beside a key's id, which has no form of its own but its length."""
    if kind in _SECRET_HALVES and (match := _SECRET_HALVES[kind].search(data, at, at + MAX_BETWEEN)):
        yield SecretSpan(match.start(1), match.end(1), kind, False)


def _token_start(data: bytes, at: int, kind: str) -> int:
    prefix = _PREFIXES.get(kind)
    match = prefix.search(data, max(0, at - MAX_PREFIX), at) if prefix else None
    return match.start() if match else at


def _pattern_starts(data: bytes, start: int, end: int) -> list[int]:
    starts = [start]
    before = data[start - 1 : start]
    if before == b"\\":
        starts.append(start + 1)
    elif before == b"%":
        starts.append(start + 2)
    return starts + [seam.end() for seam in _SEPARATOR_RUN.finditer(data, start, end)]


@cache
def _compiled_pattern(source: bytes) -> re.Pattern[bytes]:
    return re.compile(source)  # when first asked for: most texts hold no secret, and all shapes take 10 ms


def _kind_at(data: bytes, at: int, found: bytes) -> str | None:
    kind = next(kind for kind, source in SECRET_PATTERNS if _compiled_pattern(source).match(data, at))
    if is_filler(found) or (kind == "credit-card" and not is_card_number(found)):
        return None
    return kind


def _find_private_keys(data: bytes, low: bytes) -> Iterator[SecretSpan]:
    closers: dict[bytes, int] = {}
    done = 0
    for at in find_positions(low, b"-----begin "):
        match = _KEY_HEADER.match(data, at) if at >= done else None
        if match is None:
            continue
        closer = b"-----END " + match[1] + b"-----"
        # Looked up once and kept while it lies ahead: many openings must not each search the whole text.
        if closers.get(closer, -1) < match.end() and closers.get(closer) != len(data):
            found = data.find(closer, match.end())
            closers[closer] = len(data) if found < 0 else found
        body = data[match.end() : closers[closer]] if closers[closer] < len(data) else b""
        if body and _is_key_material(body):
            done = closers[closer] + len(closer)
        else:
            blank = _BLANK_LINE.search(data, match.end())
            done = blank.start() if blank else len(data)
            if not _is_key_material(data[match.end() : done]):
                continue
        yield SecretSpan(at, done, "pgp-private-key" if b"PGP" in match[1] else "private-key", True)


def _is_key_material(body: bytes) -> bool:
    """Tell whether most of it is key material, and not text between two mentions of a header."""
    solid = sum(len(part) for part in _KEY_MATERIAL.findall(body))
    return solid > 0 and 2 * solid >= len(body) - sum(
        body.count(byte) for byte in (b" ", b"\n", b"\r", b"\\n")
    )
