"""Reads: everything that one principal can learn of a world through the facade, as values that compare.

Left out are times of the clock, how long a call took, and what is no memory's: the store's URL and its size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scope_world import WRITERS, World

from scrubjay import Memory
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import ScrubjayError
from scrubjay.ingest.projects import ProjectResolver
from scrubjay.models.records import Scope, due_level
from scrubjay.search import browse
from scrubjay.storage.interface import Reader
from scrubjay.text.tokenizer import query_groups
from store_contract.answers import SampleQuestion, all_answers

CLOCK = frozenset(
    {
        "added_at",
        "at",
        "bytes",
        "valid_until",
        "date",
        "recorded_at",
        "seconds",
        "store",
        "synced",
        "synced_at",
        "took_ms",
    }
    | {"updated_at"}
)
"""Fields that tell the time of the clock, or of the store as a file."""
USES = ("last_used", "used")
"""Fields that tell whether a memory was used, and when: a time of this century is the clock's."""
CENTURY = 946_684_800_000_000
NOW = "2025-06-01T12:00:00Z"
"""When all is asked, in both worlds; long after what the files tell of, and before any memory was added."""
QUERIES = (
    "harbour master",
    "blue jay",
    "deployment of the quince",
    "deploymnt harbuor",
    "secrte lanterm",
    '"tide table" harbour',
    "harbour -jay",
    "who keeps the lantern?",
    "Hafen und Leuchtturm",
    "zygomatic",
    "v2.3",
)
FILTERS: tuple[Mapping[str, Any], ...] = (
    {"tags": ["red"]},
    {"projects": ["garden"]},
    {"projects": ["acme/boat"]},
    {"projects": ["orchard"]},
    {"agents": ["codex"]},
    {"sessions": ["s0", "s1"]},
    {"categories": ["Birds"]},
    {"categories": ["Boats"]},
    {"path": "plan.md"},
    {"path": "*/plan.md"},
    {"path": "3"},
    {"since": "2024-02", "until": "2024-04"},
    {"tiers": ["lesson"]},
    {"statuses": ["active", "archived"]},
    {"fusion": "rrf"},
    {"preset": "router"},
    {"stages": []},
)
WORDS = ("deploymnt", "harbuor", "secrte", "lanterm", "jya", "zygomatik")


def plain(value: Any) -> Any:
    """Return a value without what the clock says, made of dicts, lists and plain values."""
    if isinstance(value, BaseException):
        return [type(value).__name__, str(value)]
    if is_dataclass(value) and not isinstance(value, type):
        told = {f.name: plain(getattr(value, f.name)) for f in fields(value) if f.name not in CLOCK}
        told |= {name: "now" for name in USES if (told.get(name) or 0) > CENTURY}
        return told | ({"due": due_level(told["due"])} if "due" in told else {})
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def reads(world: World, who: Scope, ids: Sequence[str], files: Sequence[Path] = ()) -> dict[str, Any]:
    """Return all that a principal can read.

    Args:
        world: Where.
        who: Who reads.
        ids: Ids of everybody's memories.
        files: Everybody's files.
    """
    memory = world.memory(who)
    found: dict[str, Any] = {"search": _searches(memory, world), "get": _gets(memory, ids, files)}
    found |= {"threads": _threads(memory), "contexts": _contexts(memory)}
    status = memory.status()
    found |= {
        "status": replace(status, unenriched_since=status.unenriched_since and "a time of this run"),
        "sources": memory.sources(),
        "models": memory.models(),
        "projects": ProjectResolver(world.store, who).names(),
    }
    vector = HashEmbedder(32).embed(["blue jay harbour"])[0][0]
    asked = [
        SampleQuestion(query_groups(q, ("de", "en")), vector, HashEmbedder(32).model.fingerprint)
        for q in QUERIES[:4]
    ]
    found["store"] = all_answers(world.store, who, asked, WORDS)
    # Plain folders are marked by their inodes, which the disk gives as it likes; the names are the memory's.
    found["store"]["projects"] = sorted({*found["store"]["projects"].values()})
    with world.store.reader(who) as reader:
        found |= _webs(reader, ids)
        found["complete"] = {prefix: reader.ids_with_prefix(prefix) for prefix in _prefixes(ids)}
    return {name: plain(value) for name, value in found.items()}


def _searches(memory: Memory, world: World) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for query in QUERIES:
        found[query] = _asked(memory.search, query, explain=True, limit=20, now=NOW)
    roots = [str(world.folder(who, "notes")) for who in WRITERS]
    for number, wanted in enumerate((*FILTERS, *({"sources": [root]} for root in roots))):
        query = QUERIES[number % 4]
        found[f"{query} {dict(wanted)}"] = _asked(
            memory.search, query, explain=True, limit=20, now=NOW, **wanted
        )
    return found


def _threads(memory: Memory) -> dict[str, Any]:
    """Return stories: what is come to over edges, the names of concepts on the way, what was left out."""
    whole = {"now": NOW, "limit": 30, "statuses": ["active", "archived", "superseded"]}
    found = {query: _asked(memory.thread, query, **whole) for query in QUERIES[:3]}
    return found | {
        "filtered": _asked(memory.thread, QUERIES[1], projects=["garden"], hops=3, fan_out=2, now=NOW)
    }


def _contexts(memory: Memory) -> dict[str, Any]:
    """Return what would be put into conversations."""
    asked: tuple[Mapping[str, Any], ...] = (
        {},
        {"query": QUERIES[0]},
        {"query": QUERIES[2], "project": "garden", "budget": 300},
        {"session": "s0", "agent": "codex"},
    )
    return {str(dict(one)): _asked(memory.context, now=NOW, **one) for one in asked}


def _gets(memory: Memory, ids: Sequence[str], files: Sequence[Path]) -> dict[str, Any]:
    found = {one: _asked(memory.get, one, neighbours=2) for one in ids}
    for prefix in _prefixes(ids):
        found[prefix] = _asked(memory.get, prefix)
    for path in files:
        found[str(path)] = _asked(memory.get, path=path)
        found[path.name] = _asked(memory.get, path=path.name, lines=(1, 6))
    return found


def _webs(reader: Reader, ids: Sequence[str]) -> dict[str, Any]:
    known = browse.list_entities(reader)
    shelves = browse.category_tree(reader)
    named = [*(one.id for one in known), *(one.name for one in known), "Secret Lantern", "quince"]
    return {
        "concepts": known,
        "concept pages": {name: _asked(browse.entity_page, reader, name) for name in named},
        "related": {one.id: browse.related_entities(reader, one.id) for one in known},
        "categories": shelves,
        "category pages": {
            name: _asked(browse.category_page, reader, name)
            for name in (*(shelf.id for shelf in shelves), "Birds", "Boats")
        },
        "links": {one: browse.memory_links(reader, one) for one in ids},
    }


def _prefixes(ids: Sequence[str]) -> list[str]:
    """Return beginnings of ids: of one digit, which are seldom unique, and of three."""
    return sorted({one[: len("obs_") + digits] for one in ids for digits in (0, 1, 3)})


def _asked(call: Callable[..., Any], *given: Any, **options: Any) -> Any:
    try:
        return call(*given, **options)
    except ScrubjayError as error:
        return error


def differences(one: Any, other: Any, where: str = "") -> Iterator[str]:
    """Tell where two plain values differ, one line for each place."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}, key=str):
            if key not in one or key not in other:
                yield f"{where}/{key}: only {'with' if key in one else 'without'} the foreign writes"
            else:
                yield from differences(one[key], other[key], f"{where}/{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (a, b) in enumerate(zip(one, other, strict=True)):
            yield from differences(a, b, f"{where}[{place}]")
    elif isinstance(one, np.ndarray) or one != other:
        yield f"{where}: {one!r} != {other!r}"
