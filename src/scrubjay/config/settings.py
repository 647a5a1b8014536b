"""Settings: one frozen dataclass per section of the settings file.

The only module that reads the process environment. The setting ``limit`` of the section ``[recall]`` is
``SCRUBJAY_RECALL_LIMIT`` in the environment; an empty variable counts as not set. A name that is no setting
is an error wherever it stands: a mistyped setting that is silently ignored would be found last.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import Any, Final

from scrubjay.config.paths import HOOK_EVENTS, cache_folder, data_folder
from scrubjay.config.schema import SettingRule, integer, number, option
from scrubjay.errors import ConfigError
from scrubjay.frozen import frozen
from scrubjay.log import LEVELS, Log
from scrubjay.models.records import TIERS

FUSIONS = ("auto", "rrf", "weighted", "raw")


@frozen
class RecallSettings:
    """[recall]: how a search is answered."""

    limit: int = field(default=6, metadata=integer("Results of a search.", 1, 1_000))
    candidates: int = field(
        default=4, metadata=integer("Candidates that a channel gives for each result.", 1, 100)
    )
    fusion: str = field(
        default="auto", metadata=option("How the channels' scores are joined.", choices=FUSIONS)
    )
    weights: Mapping[str, float] | None = field(
        default=None,
        metadata=option("What each channel weighs in the fusion.", kind="weights", default="by the query"),
    )
    tiers: str = field(
        default="all",
        metadata=option(
            "Tiers that answer where none is asked for: all, or observations alone as they were said.",
            choices=("all", "observations"),
        ),
    )
    tier_weights: Mapping[str, float] | None = field(
        default=None,
        metadata=option(
            "What tiers weigh; one that is not named weighs 1, and 0 leaves it out.",
            kind="tier weights",
            default="1 each",
        ),
    )
    confidence_floor: float = field(
        default=0.3, metadata=number("Confidence below which a memory is no result.", 0, 1)
    )
    links: int = field(
        default=0, metadata=integer("Hops over links that a search follows from what it found.", 0, 5)
    )
    hierarchy: bool = field(
        default=False, metadata=option("Whether a search descends the categories that fit.", kind="switch")
    )
    snippet: int = field(default=700, metadata=integer("Most characters of a result's snippet.", 40, 20_000))
    tz: str | None = field(
        default=None,
        metadata=option(
            'Zone of dates and of "yesterday" in a question, such as Europe/Berlin.', default="this machine's"
        ),
    )
    min_relevance: float | str = field(
        default="auto",
        metadata=option(
            "Relevance that each result must have; auto: an empty answer where nothing is likely to answer.",
            kind="relevance",
        ),
    )
    variety: bool = field(
        default=True,
        metadata=option("Whether what is alike gives way to near equals that are different.", kind="switch"),
    )
    session_cap: int = field(
        default=0,
        metadata=integer("Results of one conversation before those of others; 0 for any.", 0, 1_000),
    )
    document_cap: int = field(
        default=0, metadata=integer("Results of one document before those of others; 0 for any.", 0, 1_000)
    )
    touch: bool = field(
        default=True,
        metadata=option(
            "Whether reading one of your own memories by its id counts as using it.", kind="switch"
        ),
    )


PRELOADED_FILES: Final = (
    "CLAUDE.md",
    "CLAUDE.local.md",
    "AGENTS.md",
    "AGENTS.override.md",
    "GEMINI.md",
    "MEMORY.md",
)
"""Files that coding agents read by themselves when a session begins."""


@frozen
class ContextSettings:
    """[context]: what is put into a conversation."""

    budget: int = field(default=2_000, metadata=integer("Most tokens of it.", 50, 100_000))
    sessions: int = field(default=3, metadata=integer("Most of the last sessions that it tells of.", 0, 20))
    loaded: tuple[str, ...] = field(
        default=PRELOADED_FILES,
        metadata=option(
            "Files that the agent reads itself and that are not put in again: names, or patterns of paths.",
            kind="list",
        ),
    )


RERANKER_KINDS: Final = ("off", "features", "cross-encoder", "http", "chat")


@frozen
class RerankSettings:
    """[rerank]: who looks again at the best of what a search found; nothing leaves this machine unless told here."""

    kind: str = field(
        default="off",
        metadata=option(
            "`features` reads words and their places; `cross-encoder` is a model in a file; `http` a service with "
            "`/rerank`; `chat` a language model.",
            choices=RERANKER_KINDS,
        ),
    )
    depth: int = field(default=50, metadata=integer("How many it looks at, from the best.", 2, 200))
    deadline: float = field(
        default=1.0, metadata=number("Seconds after which the answer goes without it.", 0.01, 600)
    )
    weight: float | None = field(
        default=None,
        metadata={
            "key": SettingRule(
                "What a deviation of its scores weighs.", "number", 0.0, 100.0, default="by the kind"
            )
        },
    )
    model_path: Path | None = field(
        default=None, metadata=option("ONNX file of a cross-encoder.", kind="path", default="none")
    )
    tokenizer_path: Path | None = field(
        default=None,
        metadata=option(
            "Its `tokenizer.json`.", kind="path", default="the one beside the model, or in the folder above"
        ),
    )
    sha256: str = field(
        default="",
        metadata=option("What the ONNX file's checksum must be, in hex.", default="not looked at"),
    )
    base_url: str = field(
        default="",
        metadata=option(
            "Address of a service, up to what comes before `/rerank` or `/chat/completions`.",
            default="none; for `chat` that of `[llm]`",
        ),
    )
    model: str = field(
        default="",
        metadata=option("The service's name of the model.", default="none; for `chat` that of `[llm]`"),
    )
    api_key_env: str = field(
        default="",
        metadata=option("Environment variable that holds the key; read only when named.", default="none"),
    )


LLM_STAGES = ("facts", "digests")


@frozen
class LlmSettings:
    """[llm]: a language model that refines what was found without one; none is asked unless one is named."""

    base_url: str = field(
        default="",
        metadata=option("Address of a service with OpenAI's `/chat/completions`.", default="none"),
    )
    model: str = field(default="", metadata=option("The service's name of the model.", default="none"))
    api_key_env: str = field(
        default="",
        metadata=option("Environment variable that holds the key; read only when named.", default="none"),
    )
    refine: tuple[str, ...] = field(
        default=LLM_STAGES,
        metadata=option(
            "What `scrubjay consolidate` asks it: to find facts that the rules missed; to reword digests.",
            kind="list",
            choices=LLM_STAGES,
        ),
    )
    deadline: float = field(
        default=60.0, metadata=number("Seconds for one request, tries included.", 0.05, 3_600)
    )
    rewrite: bool = field(
        default=False,
        metadata=option(
            "Whether it makes a question whole by what was said before it, where a search is given that.",
            kind="switch",
        ),
    )
    rewrite_deadline: float = field(
        default=2.0,
        metadata=number("Seconds that a search waits for that; then the question stands as it is.", 0.05, 60),
    )
    requests: int = field(default=100, metadata=integer("Most requests of one run.", 1, 1_000_000))


MAX_QUOTA = 1_000_000_000


@frozen
class QuotaSettings:
    """[quota]: how much may be stored; 0 sets no bound."""

    memories_per_tenant: int = field(
        default=0,
        metadata=integer(
            "Most memories of one tenant, of all its users and of every status; 0 for any number.",
            0,
            MAX_QUOTA,
        ),
    )
    memories_per_user: int = field(
        default=0,
        metadata=integer(
            "Most memories that one user keeps private, of every status; 0 for any number. What is shared with a "
            "group or all counts for the tenant alone.",
            0,
            MAX_QUOTA,
        ),
    )


@frozen
class HookSettings:
    """[hooks]: what happens while an agent works."""

    events: tuple[str, ...] = field(
        default=HOOK_EVENTS,
        metadata=option("At which events something is done.", kind="list", choices=HOOK_EVENTS),
    )
    budget_ms: int = field(
        default=300,
        metadata=integer("Milliseconds after which an agent goes on without an answer.", 20, 60_000),
    )
    start_tokens: int = field(
        default=1_500, metadata=integer("Most tokens put into a session that begins.", 50, 100_000)
    )
    prompt_tokens: int = field(default=600, metadata=integer("Most tokens put before a prompt.", 50, 100_000))
    own_project: bool = field(
        default=True,
        metadata=option(
            "Whether only memories of the project that the agent works in, and of none, are put in.",
            kind="switch",
        ),
    )


@frozen
class DaemonSettings:
    """[resident]: the process that stays, with its models loaded, and answers fast."""

    auto: bool = field(
        default=True, metadata=option("Whether a session that begins starts one.", kind="switch")
    )
    idle_minutes: float = field(
        default=30.0, metadata=number("Minutes without a question after which it ends.", 0.01, 10_000)
    )


@frozen
class LogSettings:
    """[log]: the log of what happens behind an agent's back."""

    level: str = field(default="info", metadata=option("The least that is written.", choices=LEVELS))
    most_kb: int = field(
        default=1_000, metadata=integer("Size at which it is put aside as `log.1`, in kB.", 1, 1_000_000)
    )
    slow_ms: int = field(
        default=1_000,
        metadata=integer(
            "Milliseconds from which a question is told of, with where they went; 0: every one.", 0, 3_600_000
        ),
    )
    queries: bool = field(
        default=False, metadata=option("Whether such a question's words are written too.", kind="switch")
    )

    def open(self, folder: str) -> Log:
        """Return the log of a data folder."""
        return Log(folder, self.level, self.most_kb * 1000)


@frozen
class ServerSettings:
    """[server]: what the server over HTTP takes on."""

    most_waiting: int = field(
        default=64,
        metadata=integer(
            "Requests that may wait for their turn at the store; beyond that, who has most waiting is told to "
            "come again (503).",
            0,
            100_000,
        ),
    )
    patience_seconds: float = field(
        default=30.0,
        metadata=number(
            "Seconds in which a request's head, and then its body, must have come; a large body has a second more for "
            "each 128 KiB.",
            0.1,
            3_600,
        ),
    )
    import_mb: int = field(
        default=1_000, metadata=integer("Largest file that can be imported, in MB.", 1, 1_000_000)
    )
    roots: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "Folders of the server that sync and backup over HTTP may name, with all that lies in them.",
            kind="list",
            default="the home folder of its account, and the data folder",
        ),
    )

    def __post_init__(self) -> None:
        for root in self.roots:
            if not os.path.isabs(os.path.expanduser(root)):
                raise ConfigError(
                    f"[server] roots has {root!r}, which is not the whole path of a folder. Nothing was done.",
                    hint='roots = ["/srv/notes", "~/notes"]',
                )


PROXY_MODES: Final = ("on", "read", "write", "off")
"""Both; only put memories in; only remember what passes; neither."""
PROXY_ROLES: Final = ("auto", "system", "developer", "user")
PROXY_PARTS: Final = ("pinned", "profile", "recent", "relevant")


@frozen
class ProxySettings:
    """[proxy]: what stands in front of a model and remembers what passes."""

    openai: str = field(
        default="https://api.openai.com/v1",
        metadata=option("Where /openai/v1 leads: a service with OpenAI's interface."),
    )
    anthropic: str = field(
        default="https://api.anthropic.com",
        metadata=option("Where /anthropic leads: a service with Anthropic's interface."),
    )
    openai_key_env: str = field(
        default="",
        metadata=option(
            "Environment variable with the key for requests that show a token of scrubjay or no key; read only "
            "when named.",
            default="none",
        ),
    )
    anthropic_key_env: str = field(default="", metadata=option("The same for /anthropic.", default="none"))
    memory: str = field(
        default="on",
        metadata=option(
            "What is done where a request does not say: put memories in and remember (on), one of both, or neither.",
            choices=PROXY_MODES,
        ),
    )
    tokens: int = field(default=800, metadata=integer("Most tokens put into a request.", 50, 100_000))
    parts: tuple[str, ...] = field(
        default=("pinned", "profile", "relevant"),
        metadata=option(
            "What is put in where something stored has to do with the question; of a profile only where somebody asks "
            "about themselves.",
            kind="list",
            choices=PROXY_PARTS,
        ),
    )
    role: str = field(
        default="auto",
        metadata=option(
            "Role of the message that is put into a chat completion; auto is developer where the conversation has "
            "such a message, else system.",
            choices=PROXY_ROLES,
        ),
    )
    budget_ms: int = field(
        default=250,
        metadata=integer("Milliseconds after which a request goes on without memories.", 1, 60_000),
    )
    connect_seconds: float = field(
        default=10.0, metadata=number("Seconds to reach the upstream.", 0.05, 3_600)
    )
    first_byte_seconds: float = field(
        default=600.0, metadata=number("Seconds from there to the first byte of its answer.", 0.05, 86_400)
    )
    idle_seconds: float = field(
        default=600.0, metadata=number("Seconds between two pieces of its answer.", 0.05, 86_400)
    )
    queue_mb: int = field(
        default=64,
        metadata=integer(
            "What may wait of one user to be remembered, in MB; what comes when it is full is dropped.",
            1,
            100_000,
        ),
    )


MAX_DAYS: Final = 36_500
"""Days of a hundred years."""

FACT_STAGES = ("statements", "changes")
RETENTION_ACTIONS = ("archive", "forget")
RUNTIMES = ("auto", "onnxruntime", "openvino")
LINKING_STAGES = ("concepts", "links", "similar", "categories")
EMBEDDING_PROVIDERS = ("auto", "gemini", "openai", "openai-compatible", "sentence-transformers", "voyage")


def data_dir() -> Path:
    """Return the folder in which scrubjay keeps what belongs to the user."""
    return Path(data_folder())


def _default_store() -> str:
    return str(data_dir() / "memory.db")


def _default_cache_dir() -> Path:
    return Path(cache_folder())


def _login_name() -> str:
    """The account's name, not what ``USER`` says: under cron or sudo one must not become somebody else."""
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError):
        return "me"


@frozen
class ChunkingSettings:
    """[chunk]: how documents are cut into passages."""

    target: int = field(
        default=400, metadata=integer("Tokens to aim at when a section must be cut.", 20, 4_000)
    )
    overlap: int = field(
        default=80, metadata=integer("Tokens of the piece before that are embedded with a piece.", 0, 1_000)
    )
    most: int = field(default=512, metadata=integer("No passage is longer, in tokens.", 40, 8_000))


@frozen
class SyncSettings:
    """[sync]: how files are taken in."""

    embed_seconds: float = field(
        default=10.0,
        metadata=number("Seconds that `scrubjay sync` on a terminal gives to backfilled models.", 0, 86_400),
    )
    look_seconds: float = field(
        default=0.02,
        metadata=number("Seconds that an answer may wait for a look at the files.", 0, 60),
    )
    debounce: float = field(
        default=1.5,
        metadata=number("Seconds of quiet before `scrubjay watch` takes a change in.", 0.05, 600),
    )
    include: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "Patterns of files to take.", kind="list", default="`*.md, *.markdown, *.mdx, *.txt`"
        ),
    )
    exclude: tuple[str, ...] = field(
        default=(), metadata=option("Patterns of files to leave out.", kind="list", default="none")
    )


@frozen
class RedactionSettings:
    """[redaction]: what is replaced before it is stored."""

    allow: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "Words, and patterns as `/…/`, that are never replaced as secrets, wherever they come from.",
            kind="list",
            default="none",
        ),
    )

    def __post_init__(self) -> None:
        for one in self.allow:
            if not (len(one) > 2 and one[0] == one[-1] == "/"):  # a word
                continue
            try:
                re.compile(one[1:-1])
            except re.error as error:
                raise ConfigError(
                    f"[redaction] allow has {one!r}, which is no pattern: {error}. Nothing was done.",
                    hint="write a regular expression between slashes, or a plain word without them",
                ) from error


@frozen
class ExtraModelSettings:
    """[models.NAME]: one more embedding model, computed by a service or by a local library."""

    provider: str = field(
        default="",
        metadata=option("Who computes its vectors; required.", choices=EMBEDDING_PROVIDERS, default="none"),
    )
    model: str = field(default="", metadata=option("The provider's name of the model.", default="NAME"))
    base_url: str = field(
        default="", metadata=option("Address of the service.", default="the provider's own")
    )
    api_key_env: str = field(
        default="",
        metadata=option("Environment variable that holds the key; read only when named.", default="none"),
    )
    dimensions: int = field(
        default=0, metadata=integer("Length of its vectors.", 1, 16_384, default="the model's own")
    )
    batch: int = field(default=8, metadata=integer("Texts in one request.", 1, 2_048))
    concurrency: int = field(default=4, metadata=integer("Requests at the same time.", 1, 64))


@frozen
class EmbeddingSettings:
    """[models]: the embedding models.

    Attributes:
        extra: The ``[models.NAME]`` tables, by name.
    """

    static_path: Path | None = field(
        default=None,
        metadata=option("Folder of a static model to use instead.", kind="path", default="the bundled one"),
    )
    minilm_path: Path | None = field(
        default=None,
        metadata=option("ONNX file to use instead of MiniLM.", kind="path", default="the bundled one"),
    )
    runtime: str = field(default="auto", metadata=option("What runs MiniLM.", choices=RUNTIMES))
    extra: Mapping[str, ExtraModelSettings] = field(default_factory=dict)


@frozen
class NotesSettings:
    """[notes]: notes that scrubjay writes."""

    dir: Path | None = field(
        default=None,
        metadata=option("Folder of day notes that additions are appended to.", kind="path", default="none"),
    )


@frozen
class RetentionSettings:
    """[retention]: how long and how much is kept."""

    days: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "Days that memories of a tier are kept, such as `observation=365`.",
            kind="list",
            default="for ever",
        ),
    )
    most: int = field(
        default=0,
        metadata=integer(
            "Most active memories of one's own, without passages of files; 0 for any number.",
            0,
            1_000_000_000,
        ),
    )
    action: str = field(
        default="archive", metadata=option("What becomes of the others.", choices=RETENTION_ACTIONS)
    )

    def lives(self) -> dict[str, int]:
        """Return tier to days.

        Raises:
            ConfigError: An item is no tier with a number of days.
        """
        found = {}
        for item in self.days:
            tier, _, days = (part.strip() for part in item.partition("="))
            if tier not in TIERS or not days.isdecimal() or not 0 < int(days) <= MAX_DAYS:
                raise ConfigError(
                    f"[retention] days has {item!r}, which is no tier ({', '.join(TIERS)}) with a number of days "
                    f"from 1 to {MAX_DAYS:,}. Nothing was done.",
                    hint='days = ["observation=365"]',
                )
            found[tier] = int(days)
        return found


@frozen
class LinkingSettings:
    """[linking]: how memories are linked as they are written."""

    stages: tuple[str, ...] = field(
        default=LINKING_STAGES,
        metadata=option(
            "What is done: concepts found and linked, links by name, automatic links, categories.",
            kind="list",
            choices=LINKING_STAGES,
        ),
    )
    similarity: float = field(default=0.8, metadata=number("Least cosine of an automatic link.", 0.0, 1.0))
    links: int = field(default=10, metadata=integer("Most automatic links that a memory makes.", 1, 100))


@frozen
class FactSettings:
    """[facts]: which facts are extracted from what is written."""

    stages: tuple[str, ...] = field(
        default=FACT_STAGES,
        metadata=option(
            "What is done: a person's turns read for statements; statements compared with known ones.",
            kind="list",
            choices=FACT_STAGES,
        ),
    )


@frozen
class ConsolidationSettings:
    """[consolidation]: what is made of old conversations, and whether they are archived."""

    archive: str = field(
        default="never",
        metadata=option(
            "Whether transcripts (turns and tool results) are archived once a digest tells of them. Notes never are.",
            choices=("never", "transcripts"),
        ),
    )
    after_days: int = field(
        default=14,
        metadata=integer("Days after its last turn that a conversation gets a digest.", 0, 36_500),
    )


@frozen
class Settings:
    """Every setting, checked.

    Attributes:
        origins: Dotted name of each setting to where its value came from.
    """

    store: str = field(
        default_factory=_default_store,
        metadata=option(
            "Where memories are kept.", kind="store", default="`memory.db` in the user's data folder"
        ),
    )
    cache_dir: Path = field(
        default_factory=_default_cache_dir,
        metadata=option("Folder of files that can be made again.", kind="path", default="the cache folder"),
    )
    user: str = field(
        default_factory=_login_name,
        metadata=option("Who asks, and who owns what is written.", default="the login name"),
    )
    groups: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "Groups that the user belongs to, whose memories they see.", kind="list", default="none"
        ),
    )
    tenant: str = field(default="default", metadata=option("The walled garden that all of it lies in."))
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
    server: ServerSettings = field(default_factory=ServerSettings)
    proxy: ProxySettings = field(default_factory=ProxySettings)
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)


SECTIONS: Final[Mapping[str, type[Any]]] = {
    "chunk": ChunkingSettings,
    "recall": RecallSettings,
    "rerank": RerankSettings,
    "context": ContextSettings,
    "sync": SyncSettings,
    "redaction": RedactionSettings,
    "models": EmbeddingSettings,
    "notes": NotesSettings,
    "retention": RetentionSettings,
    "quota": QuotaSettings,
    "linking": LinkingSettings,
    "facts": FactSettings,
    "llm": LlmSettings,
    "consolidation": ConsolidationSettings,
    "hooks": HookSettings,
    "resident": DaemonSettings,
    "log": LogSettings,
    "server": ServerSettings,
    "proxy": ProxySettings,
}


RENAMED_SECTIONS: Final[Mapping[str, str]] = {
    "connect": "linking",
    "learn": "facts",
    "night": "consolidation",
}
"""Former name of a section, read for this release with a warning, to its name."""


def setting_rules(section: type[Any]) -> dict[str, SettingRule]:
    """Return the settings that a section (or ``Settings``, for those in none) declares, by name."""
    return {item.name: item.metadata["key"] for item in fields(section) if "key" in item.metadata}
