"""MCP memory: the knowledge graph of the reference memory server -> items.

Source: modelcontextprotocol/servers, ``src/memory/index.ts`` (0103dfb, 2026): ``memory.jsonl`` (before:
``memory.json``) has a line an entity (``type``, ``name``, ``entityType``, ``observations``) and a line a
relation (``from``, ``to``, ``relationType``, in active voice). What its tool ``read_graph`` answers,
``{"entities": […], "relations": […]}``, is taken as well.

An observation becomes a fact that begins with its entity's name, for alone it does not say of whom it tells;
an entity becomes a concept; a relation a fact about two of them, so that they are related here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scrubjay.errors import InputError
from scrubjay.ingest.importing.item import Found, Item, Named
from scrubjay.ingest.importing.values import lines, sentence, spoken, texts, whole
from scrubjay.ingest.sources.transcripts.fields import array, string, table
from scrubjay.memory.moves import Broken
from scrubjay.memory.new import NewMemory


def read(file: Path) -> Iterator[Found]:
    """Yield what a graph holds."""
    for found in _records(file):
        if isinstance(found, Broken):
            yield found
        elif found[1].get("type") == "entity":
            yield from _entity(*found)
        elif found[1].get("type") == "relation":
            yield _relation(*found)
        else:
            yield Broken(found[0], f"its type is {found[1].get('type')!r}, neither entity nor relation")


def _records(file: Path) -> Iterator[tuple[str, dict[str, Any]] | Broken]:
    found = lines(file)
    first = next(found, None)
    if first is None:
        return
    graph = first[1] if not isinstance(first, Broken) else _whole(file)
    if "entities" in graph:
        yield from _graph(graph)
        return
    yield first
    yield from found


def _whole(file: Path) -> dict[str, Any]:
    """Return a file that is one graph over several lines; an empty one where it is lines, the first of them broken."""
    try:
        return table(whole(file))
    except InputError:
        return {}


def _graph(graph: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]] | Broken]:
    for name, kind in (("entities", "entity"), ("relations", "relation")):
        for place, value in enumerate(array(graph.get(name)), 1):
            where = f"{kind} {place}"
            if isinstance(value, dict):
                yield where, {**value, "type": kind}
            else:
                yield Broken(where, "it is no JSON object")


def _entity(where: str, told: dict[str, Any]) -> Iterator[Found]:
    name = string(told.get("name")).strip()
    if not name or not isinstance(told.get("observations"), list):
        yield Broken(where, "it is an entity without a name, or without a list of observations")
        return
    shown = spoken(name)
    yield Named(shown, (name,) if shown != name else (), where)
    kind = string(told.get("entityType")).strip()
    for text in texts(told["observations"]):
        new = NewMemory(
            f"{shown}: {text.strip()}", "semantic", shown, tags=(kind,) if kind else (), origin="agent"
        )
        yield Item(new, where, (shown,))


def _relation(where: str, told: dict[str, Any]) -> Found:
    src, verb, dst = (string(told.get(name)).strip() for name in ("from", "relationType", "to"))
    if not (src and verb and dst):
        return Broken(where, "it is a relation without from, to or relationType")
    new = NewMemory(sentence(src, verb, dst), "semantic", spoken(src), origin="agent")
    return Item(new, where, (spoken(src), spoken(dst)))
