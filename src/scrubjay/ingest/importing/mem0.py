"""Mem0: what ``get_all`` of mem0 answers, written to a file as JSON -> items.

Source: mem0ai/mem0, ``mem0/memory/main.py`` (``get_all``: core and promoted keys) and docs.mem0.ai, "Exporting
memories" (2026): an array, or an object with ``results`` (v1.1, and the platform's pages; ``memories`` in exports of
its dashboard) of ``id``, ``memory``, ``hash``, ``created_at``, ``updated_at``, ``expiration_date``, ``user_id``,
``agent_id``, ``run_id``, ``actor_id``, ``role``, ``categories``, ``metadata``; beside them ``relations`` of the graph
(``source``, ``relationship``, ``target`` or ``destination``).

Each memory becomes a fact with the date at which it was made; the run is its session, categories are its tags, and
``user_id`` a tag ``user:NAME``, for a file may hold several people's.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scrubjay.errors import InputError
from scrubjay.ingest.importing.item import Found, Item, Named
from scrubjay.ingest.importing.values import UNTOUCHED, date, sentence, spoken, texts, whole
from scrubjay.ingest.sources.transcripts.fields import array, string, table
from scrubjay.memory.moves import Broken
from scrubjay.memory.new import NewMemory


def read(file: Path) -> Iterator[Found]:
    """Yield what a file of memories holds.

    Raises:
        InputError: It is no array of memories, and holds none.
    """
    value = whole(file)
    given = table(value)
    found = value if isinstance(value, list) else given.get("results", given.get("memories"))
    if not isinstance(found, list):
        raise InputError(f"{file} holds no array of memories, alone or as `results`. {UNTOUCHED}")
    for place, told in enumerate(found, 1):
        yield _memory(f"memory {place:,}", table(told))
    for place, told in enumerate(array(given.get("relations")), 1):
        yield from _relation(f"relation {place:,}", table(told))


def _memory(where: str, told: dict[str, Any]) -> Found:
    text = string(told.get("memory")) or string(told.get("text")) or string(told.get("data"))
    if not text.strip():
        return Broken(where, "it has no text under `memory`")
    metadata = table(told.get("metadata"))
    tags = [*texts(told.get("categories")), *texts(metadata.get("category")), *texts(metadata.get("tags"))]
    if user := string(told.get("user_id")).strip():
        tags.append(f"user:{user}")
    new = NewMemory(
        text,
        "semantic",
        tags=tags,
        date=date(told.get("created_at")),
        session=string(told.get("run_id")) or None,
        agent=string(told.get("agent_id")) or None,
        valid_until=date(told.get("expiration_date")) or string(told.get("expiration_date")) or None,
        origin="agent",
    )
    return Item(new, where)


def _relation(where: str, told: dict[str, Any]) -> Iterator[Found]:
    src, verb = string(told.get("source")), string(told.get("relationship") or told.get("relation"))
    dst = string(told.get("target") or told.get("destination"))
    if not (src.strip() and verb.strip() and dst.strip()):
        yield Broken(where, "it has no source, relationship or target")
        return
    names = (spoken(src), spoken(dst))
    yield from (Named(name, (), where) for name in names)
    yield Item(
        NewMemory(sentence(src, verb, dst), "semantic", names[0], origin="agent"),
        where,
        names,
    )
