"""Given: a settings file, an environment, a caller's overrides -> the values that somebody gave.

It knows names, not meanings: what a value may be is its `Key`'s business, and what wins is `config`'s.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from scrubjay.config_keys import Key
from scrubjay.errors import ConfigError

LISTED = "scrubjay config shows every setting and where its value comes from"


class Given(NamedTuple):
    """One value that somebody gave.

    Attributes:
        name: Dotted name of the setting.
        rule: What it takes.
        value: As it was given.
        origin: Where it was given, for people.
        base: Folder that a relative path is relative to.
    """

    name: str
    rule: Key
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
            raise ConfigError(message, hint=LISTED) from error


class Names(NamedTuple):
    """Which settings there are: dotted name to rule, sections, and the rules inside ``[models.NAME]``."""

    settings: Mapping[str, Key]
    sections: Sequence[str]
    model: Mapping[str, Key]


def former_name(where: str, old: str, new: str) -> None:
    """Warn that something was named as in the last release."""
    warnings.warn(
        f"{where}: {old} is called {new} now. The old name is read for this release only.",
        FutureWarning,
        stacklevel=2,
    )


def from_file(
    path: Path, names: Names, *, required: bool, renamed: Mapping[str, str] | None = None
) -> Iterator[Given]:
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
            former_name(_Place(path.absolute(), text).of(old), f"[{old}]", f"[{new}]")
            table[new] = {**table.pop(old), **table.get(new, {})}
            text = text.replace(f"[{old}]", f"[{new}]")
    place = _Place(path.absolute(), text)
    for name, value in _flat(table, names, place):
        if name in names.settings:
            yield Given(name, names.settings[name], value, place.of(name), place.path.parent)
        elif name.count(".") == 2 and name.rpartition(".")[2] in names.model:
            yield Given(name, names.model[name.rpartition(".")[2]], value, place.of(name), place.path.parent)
        else:
            raise _unknown(name, _siblings(name, names), place.of(name))


def from_environment(
    environ: Mapping[str, str], variables: Mapping[str, tuple[str, Key]], prefix: str
) -> Iterator[Given]:
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
            raise _unknown(name, list(variables), "the environment")
        if environ[name].strip():
            setting, rule = variables[name]
            yield Given(setting, rule, environ[name], f"environment {name}", Path.cwd())


def from_overrides(overrides: Mapping[str, object], names: Names) -> Iterator[Given]:
    """Read what flags or a caller say; None says nothing.

    Raises:
        ConfigError: A name is no setting.
    """
    for name, value in overrides.items():
        if name not in names.settings:
            raise _unknown(name, list(names.settings), "the call")
        if value is not None:
            yield Given(name, names.settings[name], value, "flag", Path.cwd())


def _flat(table: Mapping[str, object], names: Names, place: _Place) -> Iterator[tuple[str, object]]:
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


def _siblings(name: str, names: Names) -> list[str]:
    above, _, _ = name.rpartition(".")
    if name.count(".") == 2:
        return [f"{above}.{setting}" for setting in names.model]
    return [each for each in (*names.settings, *names.sections) if each.rpartition(".")[0] == above]


def _unknown(name: str, known: list[str], where: str) -> ConfigError:
    import difflib

    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else LISTED
    return ConfigError(f"{where}: {name} is not a setting. Nothing was done.", hint=hint)


class _Place(NamedTuple):
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
