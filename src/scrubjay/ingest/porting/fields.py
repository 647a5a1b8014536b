"""Fields: a line's JSON object -> its values, each of the kind that it must be.

An export can have been written by anybody: what is read of it is checked field by field, and what is wrong is said
with the field's name. Where the line stands, the caller says.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from scrubjay.errors import InputError

GREATEST: Final = 2**63 - 1
"""Greatest whole number that every store keeps."""


class Fields:
    """The fields of one line."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given

    def text(self, name: str, usual: str | None = None) -> str:
        """Return a text; one that is not there is as usual."""
        return str(self._of(name, str, "a text", usual))

    def maybe(self, name: str) -> str | None:
        """Return a text, or None where there is none."""
        return None if self._given.get(name) is None else self.text(name)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts, empty where there is none."""
        found = self._of(name, list, "a list of texts", [])
        if not all(isinstance(one, str) for one in found):
            raise InputError(f"{name} holds something that is no text")
        return tuple(map(_whole, found))

    def number(self, name: str, usual: int | None = None, least: int = -GREATEST) -> int:
        """Return a whole number."""
        found: int = self._of(name, int, "a whole number", usual)
        if isinstance(found, bool) or not least <= found <= GREATEST:
            raise InputError(f"{name} is {found!r}, not a whole number of 64 bits from {least}")
        return found

    def maybe_number(self, name: str, least: int = -GREATEST) -> int | None:
        """Return a whole number, or None where there is none."""
        return None if self._given.get(name) is None else self.number(name, least=least)

    def share(self, name: str, usual: float = 1.0) -> float:
        """Return a number from 0 to 1."""
        found = self._given.get(name, usual)
        if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found <= 1:
            raise InputError(f"{name} is {_shown(found)}, not a number from 0 to 1")
        return float(found) if math.isfinite(found) else 0.0

    def truth(self, name: str) -> bool:
        """Return a truth value, false where there is none."""
        return bool(self._of(name, bool, "true or false", False))

    def one_of(self, name: str, known: Sequence[str], usual: str | None = None) -> str:
        """Return one of the known words."""
        found = self.text(name, usual)
        if found not in known:
            raise InputError(f"{name} is {_shown(found)}; known are {', '.join(known)}")
        return found

    def inner(self, name: str) -> Fields | None:
        """Return the fields of an object within, None where there is none."""
        found = self._given.get(name)
        if found is None:
            return None
        if not isinstance(found, dict):
            raise InputError(f"{name} is {_shown(found)}, not an object")
        return Fields(found)

    def counts(self, name: str) -> dict[str, int]:
        """Return names with whole numbers."""
        found = self.inner(name)
        return {} if found is None else {key: found.number(key) for key in found._given}

    def names(self, name: str, known: Sequence[str]) -> dict[str, str] | None:
        """Return names with one of the known words each, None where there are none."""
        found = self.inner(name)
        return None if found is None else {key: found.one_of(key, known) for key in found._given}

    def _of(self, name: str, kind: type, called: str, usual: Any) -> Any:
        found = self._given.get(name, usual)
        if found is None:
            raise InputError(f"{name} is missing")
        if not isinstance(found, kind):
            raise InputError(f"{name} is {_shown(found)}, not {called}")
        return _whole(found) if isinstance(found, str) else found


def _whole(text: str) -> str:
    """Return a text without what no store keeps: half a character, NUL."""
    if text.isascii() and "\x00" not in text:
        return text
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
