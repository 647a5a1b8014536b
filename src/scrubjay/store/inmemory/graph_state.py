"""Graph state: what connects one tenant's memories, as plain dictionaries, and what each change does to it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from scrubjay.errors import InputError
from scrubjay.memory.categories import Category
from scrubjay.memory.concepts import Concept
from scrubjay.memory.edges import Edge
from scrubjay.memory.ids import parse_id
from scrubjay.memory.scope import Scope
from scrubjay.store import changes as c
from scrubjay.store.scope_check import UNTOUCHED, connectable, encodable, fileable, nameable, writable


@dataclass(slots=True)
class GraphState:
    """Concepts by (id, key), categories by id, edges by (source, kind, end, key), projects by (place, key).

    Attributes:
        marks: Visibility key to how often its concepts were changed.
    """

    concepts: dict[tuple[str, str], Concept] = field(default_factory=dict)
    categories: dict[str, Category] = field(default_factory=dict)
    edges: dict[tuple[str, str, str, str], Edge] = field(default_factory=dict)
    projects: dict[tuple[str, str], str] = field(default_factory=dict)
    marks: dict[str, int] = field(default_factory=dict)

    def copy(self) -> GraphState:
        """Return a state that can be changed without this one changing."""
        return GraphState(
            dict(self.concepts),
            dict(self.categories),
            dict(self.edges),
            dict(self.projects),
            dict(self.marks),
        )

    def apply(self, scope: Scope, change: c.GraphChange, memories: Collection[str]) -> None:
        """Do one change for one scope, which sees these memories."""
        match change:
            case c.PutConcept(concept):
                writable(scope, concept.key, f"Concept {concept.id}")
                nameable(concept)
                self.concepts[concept.id, concept.key] = concept
                self._mark(concept.key)
            case c.DropConcept(concept_id, key) if key in scope.keys:
                self.concepts.pop((concept_id, key), None)
                self._mark(key)
                self._keep(lambda edge: (edge.dst, edge.key) != (concept_id, key))
            case c.PutCategory(category):
                self._put_category(scope, category)
            case c.DropCategory(category_id) if self._sees_category(scope, category_id):
                del self.categories[category_id]
                self._keep(lambda edge: edge.dst != category_id)
            case c.PutEdges():
                self._put_edges(scope, change, memories)
            case c.DropEdges(edges):
                seen = {id(edge) for edge in self.seen(scope, memories)}
                self._keep(lambda edge: id(edge) not in seen or (edge.src, edge.kind, edge.dst) not in edges)
            case c.PutProject(place, name, key):
                writable(scope, key, f"Project {name}")
                encodable(place, name, key)
                self.projects[place, key] = name

    def _mark(self, key: str) -> None:
        self.marks[key] = self.marks.get(key, 0) + 1

    def _put_category(self, scope: Scope, category: Category) -> None:
        writable(scope, category.key, f"Category {category.id}")
        fileable(category)
        if self.categories.get(category.id, category).key != category.key:
            raise InputError(f"Category id {category.id} belongs to another key's category. {UNTOUCHED}")
        self.categories[category.id] = category

    def _sees_category(self, scope: Scope, category: str) -> bool:
        return category in self.categories and self.categories[category].key in scope.keys

    def _put_edges(self, scope: Scope, change: c.PutEdges, memories: Collection[str]) -> None:
        for edge in change.edges:
            writable(scope, edge.key, f"The edge from {edge.src} to {edge.dst}")
            connectable(edge)
        for edge in self.seen(scope, memories):
            asked = edge.src in change.of or (change.inward and edge.dst in change.of)
            if asked and edge.kind in change.kinds and edge.origin == "found":
                del self.edges[_name(edge)]
        for edge in change.edges:
            old = self.edges.get(_name(edge))
            given = old is not None and old.origin == "given" and edge.origin == "found"
            if not given and self._ends_seen(scope, edge, memories):
                self.edges[_name(edge)] = edge

    def seen(self, scope: Scope, memories: Collection[str]) -> list[Edge]:
        """Return the rows of edges that a scope sees, which sees these memories."""
        rows = [edge for edge in self.edges.values() if edge.key in scope.keys]
        return [edge for edge in rows if self._ends_seen(scope, edge, memories)]

    def _ends_seen(self, scope: Scope, edge: Edge, memories: Collection[str]) -> bool:
        known = any((edge.dst, key) in self.concepts for key in scope.keys)
        return edge.src in memories and (
            edge.dst in memories or known or self._sees_category(scope, edge.dst)
        )

    def lose(self, memories: Collection[str]) -> None:
        """Remove the edges of memories that were removed for good, on both sides, of every key."""
        self._keep(lambda edge: edge.src not in memories and edge.dst not in memories)

    def hold(self, memories: Collection[str]) -> None:
        """Remove the edges of all memories but these."""
        ends = {end for edge in self.edges.values() for end in (edge.src, edge.dst) if parse_id(end)}
        self.lose(ends - set(memories))

    def _keep(self, test: Callable[[Edge], bool]) -> None:
        self.edges = {name: edge for name, edge in self.edges.items() if test(edge)}


def _name(edge: Edge) -> tuple[str, str, str, str]:
    return edge.src, edge.kind, edge.dst, edge.key
