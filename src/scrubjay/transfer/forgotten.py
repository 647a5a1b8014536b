"""Forgotten memories across stores: which ones an export names, and which of those a store still holds.

A memory is named by its store and its id there, which is a keyed hash: the names tell nothing of a text, not even to
somebody who guesses it. An import records under which name it found each memory (an event ``imported``).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from scrubjay.models.ids import forgotten_prefix
from scrubjay.models.records import Scope
from scrubjay.storage.interface import Reader


def export_name(store: str, memory: str) -> str:
    return f"{store}/{memory}"


def exported_names(reader: Reader, secret: bytes, scope: Scope, store: str) -> list[str]:
    """Return the names of the memories that were forgotten in a store and not stored again."""
    found = reader.forgotten_names([forgotten_prefix(secret, key) for key in scope.keys])
    names = {one if "/" in one else export_name(store, one) for one in found}
    return sorted(names - find_held(reader, names, store).keys())


def find_held(reader: Reader, names: Collection[str], store: str) -> dict[str, Sequence[str]]:
    """Return the ids of the memories that have one of these names, by name; ``store`` is the reader's own."""
    own = {name: name.removeprefix(f"{store}/") for name in names if name.startswith(f"{store}/")}
    here = reader.get(list(own.values()))
    found: dict[str, Sequence[str]] = {name: [one] for name, one in own.items() if one in here}
    for name in names:
        if name not in own:
            ids = {event.memory for event in reader.events(run=name) if event.op == "imported"}
            if ids:
                found[name] = sorted(ids)
    return found
