"""Item: what a reader of another tool's memories gives, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from scrubjay.memory.moves import Broken
from scrubjay.memory.new import NewMemory


@dataclass(frozen=True, slots=True)
class Item:
    """One memory to be.

    Attributes:
        new: The memory; visibility is never told, for what is imported is the importer's.
        where: Where it stands, for who must be told that it cannot be taken: ``line 7``.
        about: Names of the concepts that it refers to.
        name: What other items call it, or an empty string.
        superseded: Whether something took its place.
    """

    new: NewMemory
    where: str
    about: tuple[str, ...] = ()
    name: str = ""
    superseded: bool = False


@dataclass(frozen=True, slots=True)
class Named:
    """A name that means something, with others that mean the same."""

    name: str
    aliases: tuple[str, ...] = ()
    where: str = ""


@dataclass(frozen=True, slots=True)
class Joined:
    """Two items that are connected, by what items call them.

    Attributes:
        src: The one that says it.
        dst: The other.
        kind: ``links``, ``supersedes``, ``contradicts`` or ``derived_from``.
        rule: What the tool called it.
    """

    src: str
    dst: str
    kind: str = "links"
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Folder:
    """Files that go on living: they are synced as a source instead of copied.

    Attributes:
        path: The folder or file.
        include: gitignore patterns of what to take of it.
        description: One line, kept with the source.
    """

    path: Path
    include: tuple[str, ...] = ()
    description: str = ""


Found: TypeAlias = Item | Named | Joined | Broken
"""What a reader finds."""
Reader: TypeAlias = Callable[[Path], Iterator[Found]]
"""A file or folder -> what it holds."""
