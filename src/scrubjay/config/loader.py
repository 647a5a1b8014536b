"""Settings loader: merge defaults, settings file, environment and overrides into one checked `Settings`.

The only module besides `paths` that reads the process environment. The setting ``limit`` of the section ``[recall]`` is
``SCRUBJAY_RECALL_LIMIT`` there; an empty variable counts as not set; for user, groups and tenant
it is an error: a script whose variable is empty must not act as the account. An unknown name is an error wherever it
is written, since an ignored typo is hard to find.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from scrubjay.config.paths import CONFIG_VARIABLE, OFF_VARIABLE, PREFIX, config_file
from scrubjay.config.settings import (
    EMBEDDING_PROVIDERS,
    SECTIONS,
    ExtraModelSettings,
    LlmSettings,
    OAuthSettings,
    RerankSettings,
    SettingRule,
    Settings,
    is_loopback_url,
    setting_rules,
)
from scrubjay.errors import ConfigError

IDENTITY_SETTINGS: Final = ("user", "groups", "tenant")
"""Settings that say who acts."""
CONFIG_HINT = "scrubjay config shows every setting and where its value comes from"


class GivenValue(NamedTuple):
    """One value that somebody gave.

    Attributes:
        name: Dotted name of the setting.
        origin: Where it was given, for people.
        base: Folder that a relative path is relative to.
    """

    name: str
    rule: SettingRule
    value: object
    origin: str
    base: Path

    def read(self, *, text: bool) -> object:
        """Return the setting's value; ``text`` says whether a string is to be parsed, as from the environment."""
        try:
            if text and isinstance(self.value, str):
                return self.rule.parse(self.value, self.base)
            return self.rule.read(self.value, self.base)
        except ValueError as error:
            message = f"{self.origin}: {self.name} is {self.value!r}, but it takes {error}. Nothing was done."
            raise ConfigError(message, hint=CONFIG_HINT) from error


def known_settings() -> dict[str, SettingRule]:
    """Return the rule of every setting by its dotted name, without those of ``[models.NAME]``."""
    rules = setting_rules(Settings)
    for section, kind in SECTIONS.items():
        rules |= {f"{section}.{name}": rule for name, rule in setting_rules(kind).items()}
    return rules


def variable_name(name: str) -> str:
    """Return the environment variable of a setting.

    >>> variable_name("recall.limit"), variable_name("models.bge-m3.base_url")
    ('SCRUBJAY_RECALL_LIMIT', 'SCRUBJAY_MODELS_BGE_M3_BASE_URL')
    """
    return PREFIX + re.sub(r"\W", "_", name).upper()


def load_settings(
    path: str | Path | None = None,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, object] | None = None,
) -> Settings:
    """Read the settings.

    Args:
        path: The settings file; None takes what ``SCRUBJAY_CONFIG`` names, else the default place,
            where it may be missing.
        environ: The environment; None takes the process's.
        overrides: Dotted name to value, as flags or a caller give them; None sets nothing.

    Raises:
        ConfigError: A name is not a setting, a value is invalid, or the file cannot be read.
    """
    environ = os.environ if environ is None else environ
    known = known_settings()
    file = config_path(environ) if path is None else Path(os.path.expanduser(path))
    required = path is not None or bool(environ.get(CONFIG_VARIABLE))
    entries = {item.name: item for item in _file_values(file, known, required=required)}
    values = {name: item.read(text=False) for name, item in entries.items()}
    tables = sorted({name.split(".")[1] for name in entries if name.count(".") == 2})
    for item in (*_environment_values(environ, known, tables), *_override_values(overrides or {}, known)):
        entries[item.name] = item
        values[item.name] = item.read(text=True)

    sections: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        section, _, setting = name.rpartition(".")
        sections.setdefault(section, {})[setting] = value
    built = {name: kind(**sections.get(name, {})) for name, kind in SECTIONS.items()}
    extra = {name: ExtraModelSettings(**sections[f"models.{name}"]) for name in tables}
    built["models"] = replace(built["models"], extra=extra)
    origins = dict.fromkeys(known, "default") | {name: item.origin for name, item in entries.items()}
    settings = Settings(**sections.get("", {}), **built, origins=origins)
    _check_settings(settings)
    return settings


def _file_values(path: Path, known: Mapping[str, SettingRule], *, required: bool) -> Iterator[GivenValue]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        if required:
            raise ConfigError(f"Settings file {path} does not exist. Nothing was done.") from error
        return
    except OSError as error:
        raise ConfigError(f"Settings file {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"Settings file {path} is not UTF-8 at byte {error.start}.") from error
    import tomllib

    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"Settings file {path} is not TOML: {error}.") from error
    path = path.absolute()
    model_rules = setting_rules(ExtraModelSettings)
    for name, value in _flatten(table, known, path, text):
        section, _, setting = name.rpartition(".")
        is_model_setting = name.count(".") == 2
        rule = model_rules.get(setting) if is_model_setting else known.get(name)
        if rule is None:
            near = [f"{section}.{one}" for one in model_rules] if is_model_setting else [*known, *SECTIONS]
            siblings = [one for one in near if one.rpartition(".")[0] == section]
            raise _unknown_setting(name, siblings, _position(path, text, name))
        yield GivenValue(name, rule, value, _position(path, text, name), path.parent)


def _flatten(
    table: Mapping[str, object], known: Mapping[str, SettingRule], path: Path, text: str
) -> Iterator[tuple[str, object]]:
    """Yield the dotted name and the value of everything that is not a section."""
    for name, value in table.items():
        if name not in SECTIONS:
            yield name, value
        elif not isinstance(value, Mapping):
            where = _position(path, text, name)
            raise ConfigError(f"{where}: {name} is a section; write it as [{name}]. Nothing was done.")
        else:
            for setting, inner in value.items():
                dotted = f"{name}.{setting}"
                if name == "models" and isinstance(inner, Mapping) and dotted not in known:
                    yield from ((f"{dotted}.{last}", each) for last, each in inner.items())
                else:
                    yield dotted, inner


def _position(path: Path, text: str, name: str) -> str:
    """Return ``file:line`` of a setting or a section, found by its spelling, else the file alone."""
    section, _, setting = name.rpartition(".")
    current = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\s*([^\]#]+?)\s*\]", line):
            current = re.sub(r"[\"']", "", header[1])
            if current == name:
                return f"{path}:{number}"
        elif current == section and re.match(rf"\s*[\"']?{re.escape(setting)}[\"']?\s*[=.]", line):
            return f"{path}:{number}"
    return str(path)


def _environment_values(
    environ: Mapping[str, str], known: Mapping[str, SettingRule], tables: Iterable[str]
) -> Iterator[GivenValue]:
    names = sorted(name for name in environ if name.startswith(PREFIX))
    variables = {variable_name(name): (name, rule) for name, rule in known.items()}
    # A variable can change a model of the file but not describe one: its name cannot tell a dash from an underscore.
    variables |= {
        variable_name(f"models.{table}.{setting}"): (f"models.{table}.{setting}", rule)
        for table in tables
        for setting, rule in setting_rules(ExtraModelSettings).items()
    }
    for variable in names:
        if variable in (CONFIG_VARIABLE, OFF_VARIABLE):
            continue
        if variable not in variables:
            raise _unknown_setting(variable, list(variables), "the environment")
        name, rule = variables[variable]
        if not environ[variable].strip() and name in IDENTITY_SETTINGS:
            raise ConfigError(
                f"The environment's {variable} is empty, so it names nobody. Nothing was done.",
                hint=f"unset {variable} for the settings' own, or give it a value",
            )
        if environ[variable].strip():
            yield GivenValue(name, rule, environ[variable], f"environment {variable}", Path.cwd())


def _override_values(
    overrides: Mapping[str, object], known: Mapping[str, SettingRule]
) -> Iterator[GivenValue]:
    for name, value in overrides.items():
        if name not in known:
            raise _unknown_setting(name, list(known), "the call")
        if value is not None:
            yield GivenValue(name, known[name], value, "flag", Path.cwd())


def _unknown_setting(name: str, known: list[str], where: str) -> ConfigError:
    import difflib

    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else CONFIG_HINT
    return ConfigError(f"{where}: {name} is not a setting. Nothing was done.", hint=hint)


def _check_settings(settings: Settings) -> None:
    """Refuse values that are legal one by one but not together, or whose text is meaningless."""
    chunk, origins = settings.chunk, settings.origins
    if not chunk.overlap < chunk.target <= chunk.most:
        sizes = (
            f"{name} {getattr(chunk, name)} ({origins['chunk.' + name]})"
            for name in ("target", "overlap", "most")
        )
        raise ConfigError(
            f"[chunk] {', '.join(sizes)} contradict one another: overlap < target <= most must hold. "
            "Nothing was done."
        )
    settings.retention.days_by_tier()
    for word in settings.redaction.allow:
        if len(word) > 2 and word[0] == word[-1] == "/":
            try:
                re.compile(word[1:-1])
            except re.error as error:
                raise ConfigError(
                    f"[redaction] allow has {word!r}, which is no pattern: {error}. Nothing was done.",
                    hint="write a regular expression between slashes, or a plain word without them",
                ) from error
    for root in settings.server.roots:
        if not os.path.isabs(os.path.expanduser(root)):
            raise ConfigError(
                f"[server] roots has {root!r}, which is not the whole path of a folder. Nothing was done.",
                hint='roots = ["/srv/notes", "~/notes"]',
            )
    for name, model in settings.models.extra.items():
        if not model.provider:
            hint = f"provider takes one of {', '.join(EMBEDDING_PROVIDERS)}"
            raise ConfigError(f"[models.{name}] names no provider. Nothing was done.", hint=hint)
    if settings.oauth.issuer or settings.oauth.resource:
        _check_oauth(settings.oauth)
    if bool(settings.llm.base_url) != bool(settings.llm.model):
        missing = "model" if settings.llm.base_url else "base_url"
        raise ConfigError(f"[llm] names no {missing}. Nothing was done.", hint=f'{missing} = "..."')


def _check_oauth(oauth: OAuthSettings) -> None:
    from urllib.parse import urlsplit

    for name, hint in (
        ("issuer", "https://login.example.com"),
        ("resource", "https://memory.example.com/mcp"),
    ):
        url = getattr(oauth, name)
        if not url:
            raise ConfigError(f"[oauth] names no {name}. Nothing was done.", hint=f'{name} = "{hint}"')
        try:
            parts = urlsplit(url)
            secure = parts.scheme == "https" or (parts.scheme == "http" and is_loopback_url(url))
            valid = secure and parts.hostname and parts.port != 0 and parts.username is None
        except ValueError:
            valid = False
        if not valid or "?" in url or "#" in url or '"' in url or not url.isprintable():
            raise ConfigError(
                f"[oauth] {name} is {url!r:.200}, which is no https URL without user, query and fragment (http only "
                "on this machine). Nothing was done.",
                hint=f'{name} = "{hint}"',
            )


def config_path(environ: Mapping[str, str] | None = None) -> Path:
    """Return the settings file that `load_settings` reads; it need not exist."""
    return Path(config_file(environ))


KEY_VARIABLES: Final[Mapping[str, str]] = {
    "openai": "OPENAI_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "voyage": "VOYAGE_API_KEY",
}
"""Where the services' own tools keep their keys. Read only for a model whose provider is ``auto``."""


def auto_keys(model: ExtraModelSettings) -> dict[str, str]:
    """Return the services' keys for ``provider = "auto"``; none for any other: a key alone is no configuration."""
    if model.provider != "auto":
        return {}
    return {provider: os.environ[name] for provider, name in KEY_VARIABLES.items() if os.environ.get(name)}


def api_key(section: str, settings: ExtraModelSettings | LlmSettings | RerankSettings) -> str:
    """Return the key of a section from the variable that it names, as `key_from_variable`."""
    return key_from_variable(section, settings.api_key_env)


def key_from_variable(section: str, name: str) -> str:
    """Return the key in an environment variable; empty where no variable is named.

    Raises:
        ConfigError: The variable is named but not set.
    """
    if not name:
        return ""
    value = os.environ.get(name, "")
    if not value:
        raise ConfigError(
            f"[{section}] takes its key from {name}, which is not set. Nothing was sent.",
            hint=f"export {name}=KEY",
        )
    return value


def environment_copy() -> Mapping[str, str]:
    """Return a copy of the environment, in which other programs' folders may be named."""
    return dict(os.environ)


def plain_output() -> bool:
    """Return whether the environment asks for output without colours (https://no-color.org)."""
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
