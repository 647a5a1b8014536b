"""Check: a tool's arguments as they came -> the same, sound, or an error that says which does not fit.

It knows the few types that the schemas use. What a value means, and its range, the facade checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from scrubjay.errors import InputError

LARGEST: Final = 2**53
"""Whole numbers beyond this are not the same in every language that speaks JSON."""
MOST_ITEMS: Final = 1_000
"""Texts or numbers of one list."""


def checked(
    tool: str,
    properties: Mapping[str, Mapping[str, Any]],
    required: tuple[str, ...],
    given: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the arguments that say something, their texts free of halves of characters.

    Raises:
        InputError: An argument is missing, unknown or of another type.
    """
    for name in required:
        if given.get(name) is None:
            raise InputError(f"{tool} needs {name}.", hint=f"it takes {', '.join(properties)}")
    for name, value in given.items():
        if name not in properties:
            raise InputError(f"{tool} takes no {name!r:.80}.", hint=f"it takes {', '.join(properties)}")
        if value is not None and (wanted := _misfit(value, properties[name])):
            raise InputError(f"{name} of {tool} is {value!r:.80}, but takes {wanted}.")
    return {name: sound(value) for name, value in given.items() if value is not None}


def sound(value: Any) -> Any:
    r"""Return a value in which halves of surrogate pairs became the replacement character.

    JavaScript cuts texts in the middle of an emoji; the half is no character, and no UTF-8 can hold it.

    >>> sound(["a\ud83d", 1])
    ['a\ufffd', 1]
    """
    if isinstance(value, str):
        if value.isascii():
            return value
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return [sound(each) for each in value] if isinstance(value, list) else value


def _misfit(value: Any, rule: Mapping[str, Any]) -> str:
    """What the rule wants, in words, where the value is something else; empty where it fits."""
    if "enum" in rule:
        fits = isinstance(value, str) and value in rule["enum"]
        return "" if fits else f"one of {', '.join(rule['enum'])}"
    if rule["type"] == "array":
        return _list_misfit(value, rule["items"])
    if rule["type"] == "string":
        return "" if isinstance(value, str) else "text"
    if rule["type"] == "boolean":
        return "" if isinstance(value, bool) else "true or false"
    whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST
    return "" if whole else "a whole number"


def _list_misfit(value: Any, rule: Mapping[str, Any]) -> str:
    if (
        isinstance(value, list)
        and len(value) <= MOST_ITEMS
        and not any(_misfit(item, rule) for item in value)
    ):
        return ""
    return f"a list of {'texts' if rule['type'] == 'string' else 'whole numbers'}, at most {MOST_ITEMS:,}"
