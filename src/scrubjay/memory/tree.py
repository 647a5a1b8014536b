"""Tree: categories -> who stands below whom, without falling for a cycle."""

from __future__ import annotations

from collections.abc import Sequence

from scrubjay.errors import NotFoundError
from scrubjay.memory.categories import Category
from scrubjay.memory.tiers import CATEGORY_PREFIX


def chosen(categories: Sequence[Category], name: str) -> list[Category]:
    """Return the categories that a text names: an id, a unique beginning of one, a name, or a path of names.

    Several keys may each have a category of one name; all of them are meant.

    Raises:
        NotFoundError: There is none.
    """
    found = [c for c in categories if c.id == name]
    if not found and name.startswith(CATEGORY_PREFIX) and len(name) > len(CATEGORY_PREFIX):
        found = [c for c in categories if c.id.startswith(name)]
        found = found if len(found) == 1 else []
    wanted = [part.strip().casefold() for part in name.split(" > ")]
    if not found:
        by_id = {c.id: c for c in categories}
        found = [
            c for c in categories if [p.name.casefold() for p in path(c, by_id)][-len(wanted) :] == wanted
        ]
    if not found:
        raise NotFoundError(f"No category {name!r} is known.", hint="`scrubjay categories` lists them")
    return found


def below(categories: Sequence[Category], names: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of the categories that are named and of all below them, sorted."""
    children: dict[str, list[str]] = {}
    for category in categories:
        if category.parent is not None:
            children.setdefault(category.parent, []).append(category.id)
    waiting = [category.id for name in names for category in chosen(categories, name)]
    seen: set[str] = set()
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            waiting += children.get(one, ())
    return tuple(sorted(seen))


def path(category: Category, by_id: dict[str, Category]) -> list[Category]:
    """Return a category with those above it, outermost first; a parent that is not seen ends the path."""
    found = [category]
    seen = {category.id}
    while (parent := by_id.get(found[0].parent or "")) is not None and parent.id not in seen:
        seen.add(parent.id)
        found.insert(0, parent)
    return found
