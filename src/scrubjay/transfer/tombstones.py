"""Tombstones in exports: the names of forgotten memories, and which of those another store still holds.

A memory is named by its store and its id there, which is a keyed hash: the names tell nothing of a text, not even to
somebody who guesses it. ``@`` and the ``updated_at`` of the memory follow, unless another text may have been meant. An
import records under which name it found each memory (an event ``imported``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from scrubjay.ingest.deletion import ALL_EVENTS
from scrubjay.models.ids import forgotten_prefix
from scrubjay.models.lifecycle import Event, name_imported, versioned_name
from scrubjay.models.records import Scope
from scrubjay.storage.interface import Reader


def export_name(store: str, memory: str) -> str:
    return f"{store}/{memory}"


def exported_names(reader: Reader, secret: bytes, scope: Scope, store: str) -> list[str]:
    """Return the names of the memories that were forgotten in a store and not stored again."""
    found = forgotten_here(reader, secret, scope)
    names = {one if "/" in one else export_name(store, one) for one in found}
    return sorted(names - find_held(reader, names, store).keys())


def forgotten_here(reader: Reader, secret: bytes, scope: Scope) -> set[str]:
    """Return the names of the memories that were forgotten here, those of this store without it."""
    return reader.forgotten_names([forgotten_prefix(secret, key) for key in scope.keys])


def added_again(events: Iterable[Event]) -> dict[str, int]:
    """Return when the text of each memory was last added again."""
    found: dict[str, int] = {}
    for event in events:
        if event.op == "added":
            found[event.memory] = max(event.at, found.get(event.memory, 0))
    return found


def find_held(reader: Reader, names: Collection[str], store: str) -> dict[str, Mapping[str, bool]]:
    """Return, by name, the ids of the memories that have it, each with whether its text is certainly the one meant.

    It is not where somebody added it again since the stores were last merged. ``store`` is the reader's own.
    """
    found: dict[str, dict[str, bool]] = defaultdict(dict)
    own = {
        name: name.partition("@")[0].removeprefix(f"{store}/")
        for name in names
        if name.startswith(f"{store}/")
    }
    here = reader.get(list(set(own.values())))
    again = added_again(reader.events(list(here), limit=ALL_EVENTS)) if here else {}
    for name, memory in own.items():
        if memory in here:
            since = here[memory].updated_at
            same = name == versioned_name(export_name(store, memory), since)
            found[name][memory] = same and again.get(memory, 0) <= since
    for name in set(names) - own.keys():
        events = [event for event in reader.events(run=name.partition("@")[0]) if event.op == "imported"]
        records = reader.get(list({event.memory for event in events})) if events else {}
        again = added_again(reader.events(list(records), limit=ALL_EVENTS)) if records else {}
        for event in events:
            if event.memory in records:
                same = "@" in name and name == name_imported(event, records[event.memory].updated_at)
                certain = same and again.get(event.memory, 0) <= event.at
                found[name][event.memory] = certain or found[name].get(event.memory, False)
    return dict(found)
