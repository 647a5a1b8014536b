"""What connects the memories of a store, read off it."""

from __future__ import annotations

from scrubjay import Memory
from scrubjay.models.graph import STORED_EDGE_KINDS, Category, Edge
from scrubjay.models.records import Record, Scope
from scrubjay.storage.interface import Reader, Store


def everything(reader: Reader) -> list[Record]:
    """All memories that a reader sees."""
    found: list[Record] = []
    while page := reader.page(found[-1].id if found else "", 1_000):
        found += page
    return found


def edges(memory: Memory, *kinds: str, scope: Scope | None = None) -> list[Edge]:
    """All edges of some kinds (of every kind, without) that the owner of a memory, or another, sees."""
    with store_of(memory).reader(scope or scope_of(memory)) as reader:
        return reader.edges([record.id for record in everything(reader)], kinds or STORED_EDGE_KINDS)


def joined(memory: Memory, *kinds: str) -> set[tuple[str, str]]:
    """The contents of both ends of each edge from memory to memory."""
    with store_of(memory).reader(scope_of(memory)) as reader:
        said = {record.id: record.content.strip() for record in everything(reader)}
    return {(said[edge.src], said[edge.dst]) for edge in edges(memory, *kinds)}


def named(memory: Memory) -> dict[str, set[str]]:
    """Each known concept to the contents of the memories that refer to it."""
    with store_of(memory).reader(scope_of(memory)) as reader:
        said = {record.id: record.content.strip() for record in everything(reader)}
        names = {concept.id: concept.name for concept in reader.concepts()}
    found: dict[str, set[str]] = {name: set() for name in names.values()}
    for edge in edges(memory, "references"):
        found[names[edge.dst]].add(said[edge.src])
    return found


def categories(memory: Memory, kind: str, scope: Scope | None = None) -> list[Category]:
    """The categories of a kind."""
    with store_of(memory).reader(scope or scope_of(memory)) as reader:
        return [category for category in reader.categories() if category.kind == kind]


def store_of(memory: Memory) -> Store:
    return memory.workspace.store


def scope_of(memory: Memory) -> Scope:
    return memory.workspace.scope
