"""Places: the text of a JSON object -> its members, and where in the text each stands.

What is put into a request goes between two characters of it; all others stay as the client wrote them. The standard
library's own scanner finds where each value ends, so a request of megabytes costs no more than to parse it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

_SCAN: Final = json.JSONDecoder().raw_decode
_BLANK: Final = re.compile(r"[ \t\n\r]*")


@dataclass(frozen=True, slots=True)
class Placed:
    """A value and where it stands.

    Attributes:
        value: What it says, as Python's own values.
        start: Place of its first character.
        end: Place after its last one.
        items: Of an array that was looked into, its items.
    """

    value: Any
    start: int
    end: int
    items: tuple[Placed, ...] = ()


def members(text: str, inside: str) -> dict[str, list[Placed]]:
    """Return an object's members by name; a name that stands there several times has several.

    Args:
        text: The document.
        inside: Name of the member whose items are wanted too, where it is an array.

    >>> members('{"a": [1, {}], "b": 2}', "a")["a"][0].items[1].start
    10

    Raises:
        ValueError: It is no JSON object.
        RecursionError: Too much lies within each other.
    """
    at = _skip(text, 0)
    found: dict[str, list[Placed]] = {}
    if text[at : at + 1] != "{":
        raise ValueError("no object")
    at = _skip(text, at + 1)
    while text[at : at + 1] != "}":
        if found:
            at = _skip(text, _past(text, at, ","))
        if text[at : at + 1] != '"':
            raise ValueError("no name")
        name, at = _SCAN(text, at)
        at = _skip(text, _past(text, _skip(text, at), ":"))
        placed = _array(text, at) if name == inside and text[at : at + 1] == "[" else _value(text, at)
        found.setdefault(name, []).append(placed)
        at = _skip(text, placed.end)
    if _skip(text, at + 1) != len(text):
        raise ValueError("something follows the end")
    return found


def _array(text: str, start: int) -> Placed:
    items: list[Placed] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != "]":
        if items:
            at = _skip(text, _past(text, at, ","))
        items.append(_value(text, at))
        at = _skip(text, items[-1].end)
    return Placed([item.value for item in items], start, at + 1, tuple(items))


def _value(text: str, at: int) -> Placed:
    value, end = _SCAN(text, at)
    return Placed(value, at, end)


def _past(text: str, at: int, mark: str) -> int:
    if text[at : at + 1] != mark:
        raise ValueError(f"no {mark}")
    return at + 1


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    assert found is not None
    return found.end()
