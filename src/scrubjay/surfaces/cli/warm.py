"""Warm: a search -> what a resident with the same settings answers, or None, and the command opens the store itself."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from scrubjay.config_start import environment, fingerprint, runtime_folder
from scrubjay.resident.ask import ask
from scrubjay.resident.place import place
from scrubjay.surfaces.cli.command import Call
from scrubjay.verbs import shape

if TYPE_CHECKING:
    from scrubjay.memory.answers import Answer

PATIENCE: Final = 5.0
"""Seconds after which the command goes on by itself: a search in a large store takes some tenths of one."""


def search(call: Call, query: str, options: Mapping[str, Any]) -> Answer | None:
    """Return the answer of a resident; what is relative to the current folder is made absolute first."""
    around = environment(call.store, call.user)
    mark = fingerprint(around)
    path = place(runtime_folder(around), mark)
    if path is None or not os.path.exists(path):
        return None
    given = {"query": query, **options}
    for name in ("projects", "sources"):
        if name in given:
            given[name] = [_absolute(one) for one in given[name]]
    if "here" in given:
        given["here"] = _absolute(given["here"])
    told = ask(path, mark, "search", given, PATIENCE)
    return shape.read_answer(told) if told is not None else None


def _absolute(name: str) -> str:
    """A path as it is meant here; what is no path, such as a project's name or an id, as it is."""
    written = name.startswith((".", "~")) or os.path.exists(name)
    return os.path.abspath(os.path.expanduser(name)) if written else name
