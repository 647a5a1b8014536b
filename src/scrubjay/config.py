"""Settings: defaults < file < environment < flags -> one frozen value.

The only module that reads the process environment. The setting ``limit`` of the section ``[recall]`` is
``SCRUBJAY_RECALL_LIMIT`` in the environment; an empty variable counts as not set. A name that is no setting
is an error wherever it stands: a mistyped setting that is silently ignored would be found last.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

from scrubjay.config_given import Names, former_name, from_environment, from_file, from_overrides
from scrubjay.config_hooks import Hooks, Logging, Resident
from scrubjay.config_keys import Key, number, whole, word
from scrubjay.config_llm import Llm
from scrubjay.config_proxy import Proxy
from scrubjay.config_quota import QuotaSettings
from scrubjay.config_recall import Context, Recall
from scrubjay.config_rerank import Rerank
from scrubjay.config_server import Server
from scrubjay.config_start import OFF
from scrubjay.errors import ConfigError
from scrubjay.memory.tiers import TIERS

PREFIX: Final = "SCRUBJAY_"
CONFIG_VARIABLE: Final = "SCRUBJAY_CONFIG"
"""Names the settings file; with ``SCRUBJAY_OFF`` one of the two variables that are no setting."""
MOST_DAYS: Final = 36_500
"""Days of a hundred years."""

LEARNING = ("statements", "changes")
RETAINING = ("archive", "forget")
RUNTIMES = ("auto", "onnxruntime", "openvino")
CONNECTING = ("concepts", "links", "similar", "categories")
PROVIDERS = ("auto", "gemini", "openai", "openai-compatible", "sentence-transformers", "voyage")


def default_config_path() -> Path:
    """Return where the settings file is looked for: ``config.toml`` in the user's configuration folder."""
    import platformdirs

    return Path(platformdirs.user_config_dir("scrubjay", appauthor=False)) / "config.toml"


def data_dir() -> Path:
    """Return the folder in which scrubjay keeps what belongs to the user."""
    import platformdirs

    return Path(platformdirs.user_data_dir("scrubjay", appauthor=False))


def _default_store() -> str:
    return str(data_dir() / "memory.db")


def _default_cache_dir() -> Path:
    import platformdirs

    return Path(platformdirs.user_cache_dir("scrubjay", appauthor=False))


def _login() -> str:
    """The account's name, not what ``USER`` says: under cron or sudo one must not become somebody else."""
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError):
        return "me"


@dataclass(frozen=True, slots=True)
class Chunk:
    """[chunk]: how documents are cut into passages."""

    target: int = field(
        default=400, metadata=whole("Tokens to aim at when a section must be cut.", 20, 4_000)
    )
    overlap: int = field(
        default=80, metadata=whole("Tokens of the piece before that are embedded with a piece.", 0, 1_000)
    )
    most: int = field(default=512, metadata=whole("No passage is longer, in tokens.", 40, 8_000))


@dataclass(frozen=True, slots=True)
class Sync:
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
        metadata=word("Patterns of files to take.", kind="list", default="`*.md, *.markdown, *.mdx, *.txt`"),
    )
    exclude: tuple[str, ...] = field(
        default=(), metadata=word("Patterns of files to leave out.", kind="list", default="none")
    )


@dataclass(frozen=True, slots=True)
class Redaction:
    """[redaction]: what is replaced before it is stored."""

    allow: tuple[str, ...] = field(
        default=(),
        metadata=word(
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


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """[models.NAME]: one more embedding model, computed by a service or by a local library."""

    provider: str = field(
        default="", metadata=word("Who computes its vectors; required.", choices=PROVIDERS, default="none")
    )
    model: str = field(default="", metadata=word("The provider's name of the model.", default="NAME"))
    base_url: str = field(default="", metadata=word("Address of the service.", default="the provider's own"))
    api_key_env: str = field(
        default="",
        metadata=word("Environment variable that holds the key; read only when named.", default="none"),
    )
    dimensions: int = field(
        default=0, metadata=whole("Length of its vectors.", 1, 16_384, default="the model's own")
    )
    batch: int = field(default=8, metadata=whole("Texts in one request.", 1, 2_048))
    concurrency: int = field(default=4, metadata=whole("Requests at the same time.", 1, 64))


@dataclass(frozen=True, slots=True)
class Models:
    """[models]: the embedding models.

    Attributes:
        extra: The ``[models.NAME]`` tables, by name.
    """

    static_path: Path | None = field(
        default=None,
        metadata=word("Folder of a static model to use instead.", kind="path", default="the bundled one"),
    )
    minilm_path: Path | None = field(
        default=None,
        metadata=word("ONNX file to use instead of MiniLM.", kind="path", default="the bundled one"),
    )
    runtime: str = field(default="auto", metadata=word("What runs MiniLM.", choices=RUNTIMES))
    extra: Mapping[str, ModelSettings] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Notes:
    """[notes]: notes that scrubjay writes."""

    dir: Path | None = field(
        default=None,
        metadata=word("Folder of day notes that additions are appended to.", kind="path", default="none"),
    )


@dataclass(frozen=True, slots=True)
class Retention:
    """[retention]: how long and how much is kept."""

    days: tuple[str, ...] = field(
        default=(),
        metadata=word(
            "Days that memories of a tier are kept, such as `observation=365`.",
            kind="list",
            default="for ever",
        ),
    )
    most: int = field(
        default=0,
        metadata=whole(
            "Most active memories of one's own, without passages of files; 0 for any number.",
            0,
            1_000_000_000,
        ),
    )
    action: str = field(default="archive", metadata=word("What becomes of the others.", choices=RETAINING))

    def lives(self) -> dict[str, int]:
        """Return tier to days.

        Raises:
            ConfigError: An item is no tier with a number of days.
        """
        found = {}
        for item in self.days:
            tier, _, days = (part.strip() for part in item.partition("="))
            if tier not in TIERS or not days.isdecimal() or not 0 < int(days) <= MOST_DAYS:
                raise ConfigError(
                    f"[retention] days has {item!r}, which is no tier ({', '.join(TIERS)}) with a number of days "
                    f"from 1 to {MOST_DAYS:,}. Nothing was done.",
                    hint='days = ["observation=365"]',
                )
            found[tier] = int(days)
        return found


@dataclass(frozen=True, slots=True)
class Connect:
    """[connect]: what joins memories as they are written."""

    stages: tuple[str, ...] = field(
        default=CONNECTING,
        metadata=word(
            "What is done: concepts found and linked, links by name, automatic links, categories.",
            kind="list",
            choices=CONNECTING,
        ),
    )
    similarity: float = field(default=0.8, metadata=number("Least cosine of an automatic link.", 0.0, 1.0))
    links: int = field(default=10, metadata=whole("Most automatic links that a memory makes.", 1, 100))


@dataclass(frozen=True, slots=True)
class Learn:
    """[learn]: what is learned from what is written."""

    stages: tuple[str, ...] = field(
        default=LEARNING,
        metadata=word(
            "What is done: a person's turns read for statements; statements compared with known ones.",
            kind="list",
            choices=LEARNING,
        ),
    )


@dataclass(frozen=True, slots=True)
class Consolidation:
    """[consolidation]: what is made of old conversations, and whether they are archived."""

    archive: str = field(
        default="never",
        metadata=word(
            "Whether transcripts (turns and tool results) are archived once a digest tells of them. Notes never are.",
            choices=("never", "transcripts"),
        ),
    )
    after_days: int = field(
        default=14,
        metadata=whole("Days after its last turn that a conversation gets a digest.", 0, 36_500),
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting, checked.

    Attributes:
        origins: Dotted name of each setting to where its value came from.
    """

    store: str = field(
        default_factory=_default_store,
        metadata=word(
            "Where memories are kept.", kind="store", default="`memory.db` in the user's data folder"
        ),
    )
    cache_dir: Path = field(
        default_factory=_default_cache_dir,
        metadata=word("Folder of files that can be made again.", kind="path", default="the cache folder"),
    )
    user: str = field(
        default_factory=_login,
        metadata=word("Who asks, and who owns what is written.", default="the login name"),
    )
    groups: tuple[str, ...] = field(
        default=(),
        metadata=word(
            "Groups that the user belongs to, whose memories they see.", kind="list", default="none"
        ),
    )
    tenant: str = field(default="default", metadata=word("The walled garden that all of it lies in."))
    chunk: Chunk = field(default_factory=Chunk)
    recall: Recall = field(default_factory=Recall)
    rerank: Rerank = field(default_factory=Rerank)
    context: Context = field(default_factory=Context)
    sync: Sync = field(default_factory=Sync)
    redaction: Redaction = field(default_factory=Redaction)
    models: Models = field(default_factory=Models)
    notes: Notes = field(default_factory=Notes)
    retention: Retention = field(default_factory=Retention)
    quota: QuotaSettings = field(default_factory=QuotaSettings)
    connect: Connect = field(default_factory=Connect)
    learn: Learn = field(default_factory=Learn)
    llm: Llm = field(default_factory=Llm)
    consolidation: Consolidation = field(default_factory=Consolidation)
    hooks: Hooks = field(default_factory=Hooks)
    resident: Resident = field(default_factory=Resident)
    log: Logging = field(default_factory=Logging)
    server: Server = field(default_factory=Server)
    proxy: Proxy = field(default_factory=Proxy)
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)


SECTIONS: Final[Mapping[str, type[Any]]] = {
    "chunk": Chunk,
    "recall": Recall,
    "rerank": Rerank,
    "context": Context,
    "sync": Sync,
    "redaction": Redaction,
    "models": Models,
    "notes": Notes,
    "retention": Retention,
    "quota": QuotaSettings,
    "connect": Connect,
    "learn": Learn,
    "llm": Llm,
    "consolidation": Consolidation,
    "hooks": Hooks,
    "resident": Resident,
    "log": Logging,
    "server": Server,
    "proxy": Proxy,
}


RENAMED: Final[Mapping[str, str]] = {"night": "consolidation"}
"""Sections by the name that they had in the last release, which is still read, with a warning."""


def keys_of(section: type[Any]) -> dict[str, Key]:
    """Return the settings that a section (or ``Settings``, for those in none) declares, by name."""
    return {item.name: item.metadata["key"] for item in fields(section) if "key" in item.metadata}


def names() -> Names:
    """Return which settings there are."""
    found = keys_of(Settings)
    for name, section in SECTIONS.items():
        found |= {f"{name}.{setting}": rule for setting, rule in keys_of(section).items()}
    return Names(found, tuple(SECTIONS), keys_of(ModelSettings))


def variable(name: str) -> str:
    """Return the environment variable of a setting.

    >>> variable("recall.limit"), variable("models.bge-m3.base_url")
    ('SCRUBJAY_RECALL_LIMIT', 'SCRUBJAY_MODELS_BGE_M3_BASE_URL')
    """
    return PREFIX + re.sub(r"\W", "_", name).upper()


def load(
    path: str | Path | None = None,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, object] | None = None,
) -> Settings:
    """Read the settings.

    Args:
        path: The settings file; None takes what ``SCRUBJAY_CONFIG`` names, else the default place,
            where it may be missing.
        environ: The environment; None takes the process's.
        overrides: Dotted name to value, as flags or a caller give them; None says nothing.

    Raises:
        ConfigError: A name is no setting, a value is none that it can have, or the file cannot be read.
    """
    environ = os.environ if environ is None else environ
    known = names()
    file = Path(path).expanduser() if path is not None else _named_file(environ)
    read = from_file(file or default_config_path(), known, required=bool(file), renamed=RENAMED)
    given = {item.name: item for item in read}
    values = {name: item.read(text=False) for name, item in given.items()}
    variables = {variable(name): (name, rule) for name, rule in known.settings.items()}
    for was, section in RENAMED.items():
        own = {variable(f"{was}.{name}"): f"{section}.{name}" for name in keys_of(SECTIONS[section])}
        variables |= {old: (name, known.settings[name]) for old, name in own.items()}
        for old in own.keys() & environ.keys():
            former_name(f"environment {old}", old, variable(own[old]))
    # A variable can change a model that the file describes; it cannot describe one, for its name tells no
    # dash from an underscore.
    variables |= {
        variable(f"models.{table}.{name}"): (f"models.{table}.{name}", rule)
        for table in _tables(given)
        for name, rule in known.model.items()
    }
    without_file = {name: value for name, value in environ.items() if name not in (CONFIG_VARIABLE, OFF)}
    for item in (*from_environment(without_file, variables, PREFIX), *from_overrides(overrides or {}, known)):
        given[item.name] = item
        values[item.name] = item.read(text=True)
    origins = dict.fromkeys(known.settings, "default") | {name: item.origin for name, item in given.items()}
    return _checked(_assembled(values, _tables(given), origins))


def config_path(environ: Mapping[str, str] | None = None) -> Path:
    """Return the settings file that ``load`` reads; it need not exist."""
    return _named_file(os.environ if environ is None else environ) or default_config_path()


KEY_VARIABLES: Final[Mapping[str, str]] = {
    "openai": "OPENAI_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "voyage": "VOYAGE_API_KEY",
}
"""Where the services' own tools keep their keys. Read only for a model whose provider is ``auto``."""


def auto_keys(model: ModelSettings, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the services' keys for ``provider = "auto"``; none for any other: a key alone is no configuration."""
    if model.provider != "auto":
        return {}
    found = os.environ if environ is None else environ
    return {provider: found[name] for provider, name in KEY_VARIABLES.items() if found.get(name)}


def api_key(name: str, model: ModelSettings | Llm | Rerank, environ: Mapping[str, str] | None = None) -> str:
    """Return a model's key from the variable that its settings name; empty where they name none.

    Args:
        name: The section that names it, such as ``models.bge-m3``.
        model: The section.
        environ: The environment; None takes the process's.

    Raises:
        ConfigError: The variable is named but not set.
    """
    return named_key(name, model.api_key_env, environ)


def named_key(section: str, name: str, environ: Mapping[str, str] | None = None) -> str:
    """Return the key that a variable of the environment holds; empty where no variable is named.

    Raises:
        ConfigError: The variable is named but not set.
    """
    if not name:
        return ""
    value = (os.environ if environ is None else environ).get(name, "")
    if not value:
        raise ConfigError(
            f"[{section}] takes its key from {name}, which is not set. Nothing was sent.",
            hint=f"export {name}=KEY",
        )
    return value


def surroundings() -> Mapping[str, str]:
    """Return a copy of the environment, in which other programs' folders may be named."""
    return dict(os.environ)


def plain_output(environ: Mapping[str, str] | None = None) -> bool:
    """Return whether the environment asks for output without colours (https://no-color.org)."""
    environ = os.environ if environ is None else environ
    return bool(environ.get("NO_COLOR")) or environ.get("TERM") == "dumb"


def _named_file(environ: Mapping[str, str]) -> Path | None:
    value = environ.get(CONFIG_VARIABLE, "")
    return Path(value).expanduser() if value else None


def _tables(given: Iterable[str]) -> list[str]:
    return sorted({name.split(".")[1] for name in given if name.count(".") == 2})


def _assembled(values: Mapping[str, object], tables: list[str], origins: Mapping[str, str]) -> Settings:
    def under(prefix: str) -> dict[str, Any]:
        return {
            name.rpartition(".")[2]: value
            for name, value in values.items()
            if name.rpartition(".")[0] == prefix
        }

    sections = {name: kind(**under(name)) for name, kind in SECTIONS.items()}
    extra = {name: ModelSettings(**under(f"models.{name}")) for name in tables}
    sections["models"] = replace(sections["models"], extra=extra)
    return Settings(**under(""), **sections, origins=origins)


def _checked(settings: Settings) -> Settings:
    """The settings, unless some contradict one another, each legal alone."""
    chunk, origins = settings.chunk, settings.origins
    if not chunk.overlap < chunk.target <= chunk.most:
        parts = (f"{name} {getattr(chunk, name)} ({origins['chunk.' + name]})" for name in keys_of(Chunk))
        raise ConfigError(
            f"[chunk] {', '.join(parts)} contradict one another: overlap < target <= most must hold. "
            "Nothing was done."
        )
    settings.retention.lives()
    for name, model in settings.models.extra.items():
        if not model.provider:
            hint = f"provider takes one of {', '.join(PROVIDERS)}"
            raise ConfigError(f"[models.{name}] names no provider. Nothing was done.", hint=hint)
    if bool(settings.llm.base_url) != bool(settings.llm.model):
        missing = "model" if settings.llm.base_url else "base_url"
        raise ConfigError(f"[llm] names no {missing}. Nothing was done.", hint=f'{missing} = "..."')
    return settings
