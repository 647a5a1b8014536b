"""Settings loader: merge defaults, settings file, environment and overrides into one checked `Settings`.

It knows names, not meanings: what a value may be is its `Key`'s business, and what wins is `config`'s.

The only module that reads the process environment. The setting ``limit`` of the section ``[recall]`` is
``SCRUBJAY_RECALL_LIMIT`` in the environment; an empty variable counts as not set. A name that is no setting
is an error wherever it stands: a mistyped setting that is silently ignored would be found last.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from scrubjay.config.paths import CONFIG_VARIABLE, OFF_VARIABLE, PREFIX, config_file
from scrubjay.config.schema import SettingRule
from scrubjay.config.settings import (
    EMBEDDING_PROVIDERS,
    RENAMED_SECTIONS,
    SECTIONS,
    ChunkingSettings,
    ExtraModelSettings,
    LlmSettings,
    RerankSettings,
    Settings,
    setting_rules,
)
from scrubjay.errors import ConfigError

CONFIG_HINT = "scrubjay config shows every setting and where its value comes from"


class GivenValue(NamedTuple):
    """One value that somebody gave.

    Attributes:
        name: Dotted name of the setting.
        rule: What it takes.
        value: As it was given.
        origin: Where it was given, for people.
        base: Folder that a relative path is relative to.
    """

    name: str
    rule: SettingRule
    value: object
    origin: str
    base: Path

    def read(self, *, text: bool) -> object:
        """Return the setting's value.

        Args:
            text: Whether a string is to be parsed, as from the environment, or is TOML's own value.

        Raises:
            ConfigError: It cannot be a value of this setting.
        """
        try:
            if text and isinstance(self.value, str):
                return self.rule.parse(self.value, self.base)
            return self.rule.read(self.value, self.base)
        except ValueError as error:
            message = f"{self.origin}: {self.name} is {self.value!r}, but it takes {error}. Nothing was done."
            raise ConfigError(message, hint=CONFIG_HINT) from error


class KnownSettings(NamedTuple):
    """Which settings there are: dotted name to rule, sections, and the rules inside ``[models.NAME]``."""

    settings: Mapping[str, SettingRule]
    sections: Sequence[str]
    model: Mapping[str, SettingRule]


def warn_renamed(where: str, old: str, new: str) -> None:
    """Warn that something was named as in the last release."""
    warnings.warn(
        f"{where}: {old} is called {new} now. The old name is read for this release only.",
        FutureWarning,
        stacklevel=2,
    )


def from_file(
    path: Path, names: KnownSettings, *, required: bool, renamed: Mapping[str, str] | None = None
) -> Iterator[GivenValue]:
    """Read a settings file; one that is not there is empty unless ``required``.

    Args:
        path: The file.
        names: Which settings there are.
        required: Whether it must be there.
        renamed: Former name of a section to its name.

    Raises:
        ConfigError: It cannot be read, is no TOML, or names what is no setting.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        if required:
            raise ConfigError(f"Settings file {path} is not there. Nothing was done.") from error
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
    for old, new in (renamed or {}).items():
        if old in table:
            warn_renamed(_SettingsFile(path.absolute(), text).of(old), f"[{old}]", f"[{new}]")
            table[new] = {**table.pop(old), **table.get(new, {})}
            text = text.replace(f"[{old}]", f"[{new}]")
    place = _SettingsFile(path.absolute(), text)
    for name, value in _flatten(table, names, place):
        if name in names.settings:
            yield GivenValue(name, names.settings[name], value, place.of(name), place.path.parent)
        elif name.count(".") == 2 and name.rpartition(".")[2] in names.model:
            yield GivenValue(
                name, names.model[name.rpartition(".")[2]], value, place.of(name), place.path.parent
            )
        else:
            raise _unknown_setting(name, _siblings(name, names), place.of(name))


def from_environment(
    environ: Mapping[str, str], variables: Mapping[str, tuple[str, SettingRule]], prefix: str
) -> Iterator[GivenValue]:
    """Read the environment.

    Args:
        environ: The environment.
        variables: Variable to the dotted name and the rule of its setting.
        prefix: What the names of all such variables begin with.

    Raises:
        ConfigError: A variable begins with the prefix and is no setting.
    """
    for name in sorted(environ):
        if not name.startswith(prefix):
            continue
        if name not in variables:
            raise _unknown_setting(name, list(variables), "the environment")
        if environ[name].strip():
            setting, rule = variables[name]
            yield GivenValue(setting, rule, environ[name], f"environment {name}", Path.cwd())


def from_overrides(overrides: Mapping[str, object], names: KnownSettings) -> Iterator[GivenValue]:
    """Read what flags or a caller say; None says nothing.

    Raises:
        ConfigError: A name is no setting.
    """
    for name, value in overrides.items():
        if name not in names.settings:
            raise _unknown_setting(name, list(names.settings), "the call")
        if value is not None:
            yield GivenValue(name, names.settings[name], value, "flag", Path.cwd())


def _flatten(
    table: Mapping[str, object], names: KnownSettings, place: _SettingsFile
) -> Iterator[tuple[str, object]]:
    """Dotted name and value of everything that is not a section."""
    for name, value in table.items():
        if name not in names.sections:
            yield name, value
        elif not isinstance(value, Mapping):
            raise ConfigError(
                f"{place.of(name)}: {name} is a section; write it as [{name}]. Nothing was done."
            )
        else:
            for setting, inner in value.items():
                if (
                    name == "models"
                    and isinstance(inner, Mapping)
                    and f"models.{setting}" not in names.settings
                ):
                    yield from ((f"models.{setting}.{last}", each) for last, each in inner.items())
                else:
                    yield f"{name}.{setting}", inner


def _siblings(name: str, names: KnownSettings) -> list[str]:
    above, _, _ = name.rpartition(".")
    if name.count(".") == 2:
        return [f"{above}.{setting}" for setting in names.model]
    return [each for each in (*names.settings, *names.sections) if each.rpartition(".")[0] == above]


def _unknown_setting(name: str, known: list[str], where: str) -> ConfigError:
    import difflib

    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else CONFIG_HINT
    return ConfigError(f"{where}: {name} is not a setting. Nothing was done.", hint=hint)


class _SettingsFile(NamedTuple):
    path: Path
    text: str

    def of(self, name: str) -> str:
        """``file:line`` of a setting or a section, found by its spelling; the file alone where it is not."""
        section, _, setting = name.rpartition(".")
        here = ""
        for number, line in enumerate(self.text.splitlines(), 1):
            if header := re.match(r"\s*\[\s*([^\]#]+?)\s*\]", line):
                here = re.sub(r"[\"']", "", header[1])
                if here == name:
                    return f"{self.path}:{number}"
            elif here == section and re.match(rf"\s*[\"']?{re.escape(setting)}[\"']?\s*[=.]", line):
                return f"{self.path}:{number}"
        return str(self.path)


def known_settings() -> KnownSettings:
    """Return which settings there are."""
    found = setting_rules(Settings)
    for name, section in SECTIONS.items():
        found |= {f"{name}.{setting}": rule for setting, rule in setting_rules(section).items()}
    return KnownSettings(found, tuple(SECTIONS), setting_rules(ExtraModelSettings))


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
        overrides: Dotted name to value, as flags or a caller give them; None says nothing.

    Raises:
        ConfigError: A name is no setting, a value is none that it can have, or the file cannot be read.
    """
    environ = os.environ if environ is None else environ
    known = known_settings()
    file = config_path(environ) if path is None else Path(path).expanduser()
    required = path is not None or bool(environ.get(CONFIG_VARIABLE))
    read = from_file(file, known, required=required, renamed=RENAMED_SECTIONS)
    given = {item.name: item for item in read}
    values = {name: item.read(text=False) for name, item in given.items()}
    variables = {variable_name(name): (name, rule) for name, rule in known.settings.items()}
    for was, section in RENAMED_SECTIONS.items():
        own = {
            variable_name(f"{was}.{name}"): f"{section}.{name}" for name in setting_rules(SECTIONS[section])
        }
        variables |= {old: (name, known.settings[name]) for old, name in own.items()}
        for old in own.keys() & environ.keys():
            warn_renamed(f"environment {old}", old, variable_name(own[old]))
    # A variable can change a model that the file describes; it cannot describe one, for its name tells no
    # dash from an underscore.
    variables |= {
        variable_name(f"models.{table}.{name}"): (f"models.{table}.{name}", rule)
        for table in _model_tables(given)
        for name, rule in known.model.items()
    }
    without_file = {
        name: value for name, value in environ.items() if name not in (CONFIG_VARIABLE, OFF_VARIABLE)
    }
    for item in (*from_environment(without_file, variables, PREFIX), *from_overrides(overrides or {}, known)):
        given[item.name] = item
        values[item.name] = item.read(text=True)
    origins = dict.fromkeys(known.settings, "default") | {name: item.origin for name, item in given.items()}
    return _check(_assemble(values, _model_tables(given), origins))


def config_path(environ: Mapping[str, str] | None = None) -> Path:
    """Return the settings file that ``load_settings`` reads; it need not exist."""
    return Path(config_file(environ))


KEY_VARIABLES: Final[Mapping[str, str]] = {
    "openai": "OPENAI_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "voyage": "VOYAGE_API_KEY",
}
"""Where the services' own tools keep their keys. Read only for a model whose provider is ``auto``."""


def auto_keys(model: ExtraModelSettings, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the services' keys for ``provider = "auto"``; none for any other: a key alone is no configuration."""
    if model.provider != "auto":
        return {}
    found = os.environ if environ is None else environ
    return {provider: found[name] for provider, name in KEY_VARIABLES.items() if found.get(name)}


def api_key(
    name: str,
    model: ExtraModelSettings | LlmSettings | RerankSettings,
    environ: Mapping[str, str] | None = None,
) -> str:
    """Return a model's key from the variable that its settings name; empty where they name none.

    Args:
        name: The section that names it, such as ``models.bge-m3``.
        model: The section.
        environ: The environment; None takes the process's.

    Raises:
        ConfigError: The variable is named but not set.
    """
    return key_from_variable(name, model.api_key_env, environ)


def key_from_variable(section: str, name: str, environ: Mapping[str, str] | None = None) -> str:
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


def environment_copy() -> Mapping[str, str]:
    """Return a copy of the environment, in which other programs' folders may be named."""
    return dict(os.environ)


def plain_output(environ: Mapping[str, str] | None = None) -> bool:
    """Return whether the environment asks for output without colours (https://no-color.org)."""
    environ = os.environ if environ is None else environ
    return bool(environ.get("NO_COLOR")) or environ.get("TERM") == "dumb"


def _model_tables(given: Iterable[str]) -> list[str]:
    return sorted({name.split(".")[1] for name in given if name.count(".") == 2})


def _assemble(values: Mapping[str, object], tables: list[str], origins: Mapping[str, str]) -> Settings:
    def under(prefix: str) -> dict[str, Any]:
        return {
            name.rpartition(".")[2]: value
            for name, value in values.items()
            if name.rpartition(".")[0] == prefix
        }

    sections = {name: kind(**under(name)) for name, kind in SECTIONS.items()}
    extra = {name: ExtraModelSettings(**under(f"models.{name}")) for name in tables}
    sections["models"] = replace(sections["models"], extra=extra)
    return Settings(**under(""), **sections, origins=origins)


def _check(settings: Settings) -> Settings:
    """The settings, unless some contradict one another, each legal alone."""
    chunk, origins = settings.chunk, settings.origins
    if not chunk.overlap < chunk.target <= chunk.most:
        parts = (
            f"{name} {getattr(chunk, name)} ({origins['chunk.' + name]})"
            for name in setting_rules(ChunkingSettings)
        )
        raise ConfigError(
            f"[chunk] {', '.join(parts)} contradict one another: overlap < target <= most must hold. "
            "Nothing was done."
        )
    settings.retention.lives()
    for name, model in settings.models.extra.items():
        if not model.provider:
            hint = f"provider takes one of {', '.join(EMBEDDING_PROVIDERS)}"
            raise ConfigError(f"[models.{name}] names no provider. Nothing was done.", hint=hint)
    if bool(settings.llm.base_url) != bool(settings.llm.model):
        missing = "model" if settings.llm.base_url else "base_url"
        raise ConfigError(f"[llm] names no {missing}. Nothing was done.", hint=f'{missing} = "..."')
    return settings
