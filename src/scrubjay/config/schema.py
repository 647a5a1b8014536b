"""Schema of one setting: its documentation, type and range, and how a TOML or text value is parsed.

It does not know which settings exist (`config` does), nor where a value came from. Every command loads this
module, so its values are named tuples: a frozen dataclass takes four to eight times as long to define.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

Converter = Callable[["SettingRule", object, Path], object]


class SettingRule(NamedTuple):
    """What a setting takes.

    Attributes:
        doc: One sentence for the reference.
        kind: One of ``VALUE_KINDS``.
        low: Smallest number allowed, or None.
        high: Largest number allowed, or None.
        choices: The only words allowed, or empty for any.
        default: How the reference writes a default that is worked out on each machine; else empty.
    """

    doc: str
    kind: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    default: str = ""

    @property
    def takes(self) -> str:
        """What a value must be, in words.

        >>> SettingRule("", "whole", low=1, high=1000).takes
        'a whole number from 1 to 1,000'
        """
        if self.choices:
            any_of = "any of" if self.kind == "list" else "one of"
            return f"{any_of} {', '.join(self.choices)}"
        if self.kind not in ("whole", "number"):
            return VALUE_KINDS[self.kind].words
        words, low, high = VALUE_KINDS[self.kind].words, self.low, self.high
        if low is None or high is None:
            return words if low is None else f"{words} of at least {low:,g}"
        return f"{words} from {low:,g} to {high:,g}"

    def read(self, value: object, base: Path) -> object:
        """Return the setting's value.

        Args:
            value: What TOML or a caller gave; text is taken by ``parse``.
            base: Folder that a relative path is relative to.

        Raises:
            ValueError: It cannot be a value of this setting; the message is ``takes``.
        """
        found = VALUE_KINDS[self.kind].convert(self, value, base)
        if self.choices and not set(found if isinstance(found, tuple) else (found,)) <= set(self.choices):
            raise ValueError(self.takes)
        return found

    def parse(self, text: str, base: Path) -> object:
        """Return the value of a setting written as text, as in the environment.

        >>> SettingRule("", "list").parse("*.md, *.txt", Path())
        ('*.md', '*.txt')
        >>> SettingRule("", "weights").parse("bm25=.3,vector=.7", Path())
        {'bm25': 0.3, 'vector': 0.7}

        Raises:
            ValueError: As ``read``.
        """
        return self.read(VALUE_KINDS[self.kind].parse(text), base)


class ValueKind(NamedTuple):
    """A type of value: what it is called, how TOML's value is checked, how text becomes TOML's value."""

    words: str
    convert: Converter
    parse: Callable[[str], object]


def integer(doc: str, low: int, high: int, *, default: str = "") -> dict[str, SettingRule]:
    """Declare a whole number, as the metadata of a dataclass field."""
    return {"key": SettingRule(doc, "whole", low, high, default=default)}


def number(doc: str, low: float, high: float) -> dict[str, SettingRule]:
    """Declare a number, as the metadata of a dataclass field."""
    return {"key": SettingRule(doc, "number", low, high)}


def option(
    doc: str, *, kind: str = "text", choices: tuple[str, ...] = (), default: str = ""
) -> dict[str, SettingRule]:
    """Declare a setting of any other kind, as the metadata of a dataclass field."""
    return {"key": SettingRule(doc, kind, choices=choices, default=default)}


def _integer(rule: SettingRule, value: object, _base: Path) -> object:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(rule.takes)
    return _in_range(rule, value)


def _number(rule: SettingRule, value: object, _base: Path) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(rule.takes)
    return _in_range(rule, float(value))


def _in_range(rule: SettingRule, value: float) -> float:
    if (rule.low is not None and value < rule.low) or (rule.high is not None and value > rule.high):
        raise ValueError(rule.takes)
    return value


def _boolean(rule: SettingRule, value: object, _base: Path) -> object:
    if not isinstance(value, bool):
        raise ValueError(rule.takes)
    return value


def _text(rule: SettingRule, value: object, _base: Path) -> object:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError(rule.takes)
    return value.strip()


def _path(rule: SettingRule, value: object, base: Path) -> object:
    return base / Path(str(_text(rule, value, base))).expanduser()


def _store(rule: SettingRule, value: object, base: Path) -> object:
    """A URL as it is; a path whole, so that the file's settings mean the same from every folder."""
    text = str(_text(rule, value, base))
    return text if "://" in text else str(base / Path(text).expanduser())


def _list(rule: SettingRule, value: object, _base: Path) -> object:
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        raise ValueError(rule.takes)
    return tuple(value)


def _weights(rule: SettingRule, value: object, _base: Path) -> object:
    if not isinstance(value, Mapping):
        raise ValueError(rule.takes)
    for weight in value.values():
        if isinstance(weight, bool) or not isinstance(weight, int | float):
            raise ValueError(rule.takes)
        if not math.isfinite(weight) or weight < 0:
            raise ValueError(rule.takes)
    return {str(name): float(weight) for name, weight in value.items()}


def _relevance(rule: SettingRule, value: object, _base: Path) -> object:
    if value == "auto":
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError(rule.takes)
    return float(value)


def _parse_number(text: str) -> object:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def _parse_boolean(text: str) -> object:
    return {"true": True, "false": False}.get(text.strip().lower(), text)


def _parse_list(text: str) -> object:
    return [item.strip() for item in text.split(",") if item.strip()]


def _parse_weights(text: str) -> object:
    pairs = (item.partition("=") for item in text.split(",") if item.strip())
    return {name.strip(): _parse_number(weight.strip()) for name, _, weight in pairs}


VALUE_KINDS: Final[Mapping[str, ValueKind]] = {
    "whole": ValueKind("a whole number", _integer, _parse_number),
    "number": ValueKind("a number", _number, _parse_number),
    "text": ValueKind("a word or text that is not empty", _text, str),
    "switch": ValueKind("true or false", _boolean, _parse_boolean),
    "path": ValueKind("a path", _path, str),
    "store": ValueKind("a path or a URL", _store, str),
    "list": ValueKind("a list of texts (in the environment: with commas between)", _list, _parse_list),
    "relevance": ValueKind("auto, or a number from 0 to 1", _relevance, _parse_number),
    "weights": ValueKind(
        "weights of 0 or more a channel, such as bm25=.3,vector=.7", _weights, _parse_weights
    ),
    "tier weights": ValueKind(
        "weights of 0 or more a tier, such as crystal=2,facet=0", _weights, _parse_weights
    ),
}
"""Every type of value."""
