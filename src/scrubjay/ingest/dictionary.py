"""Dictionary: bytes -> tuple[Terms, ...]. Names that a person gives to concepts, a line each, and which are none.

A line is ``name, alias, alias`` as CSV: a name with a comma or with a ``#`` at its beginning stands in double
quotes. Lines that begin with ``#`` and blank ones are passed over.
"""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from scrubjay.errors import InputError
from scrubjay.ingest.concepts.normal import refused
from scrubjay.ingest.scrub import scrub


@dataclass(frozen=True, slots=True)
class Terms:
    """What a person calls one concept.

    Attributes:
        name: How it is shown.
        aliases: Other names that mean it.
        where: What tells a reader of the dictionary where this stands (``line 7: ``), or an empty string.
    """

    name: str
    aliases: tuple[str, ...] = ()
    where: str = ""


Refusals = list[tuple[str, str]]
"""What was not taken, and why."""


def dictionary(data: bytes) -> tuple[list[Terms], Refusals]:
    """Return the terms of a dictionary file, and each line that could not be read with the reason."""
    found: list[Terms] = []
    broken: Refusals = []
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        try:
            text = raw.decode("utf-8").strip()
            names = next(csv.reader([text], skipinitialspace=True, strict=True), [])
        except UnicodeDecodeError as error:
            broken.append((f"line {number}", f"it is not UTF-8 at byte {error.start}"))
            continue
        except csv.Error as error:
            broken.append((f"line {number}", f"it is no CSV: {error}"))
            continue
        if names and not text.startswith("#"):
            name, *aliases = map(tidy, names)
            found.append(Terms(name, tuple(filter(None, aliases)), f"line {number}: "))
    return found, broken


def given(rows: Iterable[object]) -> list[Terms]:
    """Return the terms that a program gives: of each concept a name, or a list of a name and its aliases.

    Raises:
        InputError: A row is neither.
    """
    found = []
    for row in rows:
        names = [row] if isinstance(row, str) else list(row) if isinstance(row, list | tuple) else []
        if not names or not all(isinstance(name, str) for name in names):
            raise InputError(
                f"{row!r} is neither a name nor a list of a name and its aliases. Nothing was written."
            )
        name, *aliases = map(tidy, names)
        found.append(Terms(name, tuple(aliases)))
    return found


def tidy(name: str) -> str:
    """Return a name on one line, without blanks around it."""
    return " ".join(name.split())


def refusal(name: str) -> str | None:
    """Return why a name that a person gives cannot be a concept's, or None.

    >>> refusal("the"), refusal("Kubernetes")
    ('it is a common word', None)
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        return "it holds half a character"
    if not name.isprintable() and any(unicodedata.category(char) == "Cc" for char in name):
        return "it holds a control character"
    found = refused(name, given=True)
    if found is None and scrub(name).counts:
        return "it holds a secret"
    return found


def check(name: str) -> None:
    """Refuse what cannot be a concept's name.

    Raises:
        InputError: It says why.
    """
    why = refusal(name)
    if why is not None:
        raise InputError(f'"{name}" cannot be the name of a concept: {why}. Nothing was written.')
