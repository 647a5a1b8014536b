"""Moves: what carrying memories out of a store and into one gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote.

    Attributes:
        path: The file, or an empty string where it was written to a stream.
        counts: What a line holds (``memory``, ``edge``, …) to how many there are.
        lines: Lines in all.
        bytes: Bytes in all.
        seconds: Wall time.
    """

    path: str
    counts: Mapping[str, int]
    lines: int
    bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class BackedUp:
    """What a backup wrote.

    Attributes:
        path: The file: a whole store.
        bytes: Its size.
        seconds: Wall time, the check of the copy included.
    """

    path: str
    bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Broken:
    """A line or a file of an import that could not be taken.

    Attributes:
        where: ``line 7``, or a file with its line.
        message: What is wrong with it.
    """

    where: str
    message: str


@dataclass(frozen=True, slots=True)
class Sample:
    """One of the first memories of an import.

    Attributes:
        tier: Kind of memory.
        title: What it is called.
        text: The beginning of its text.
        date: When what it tells of happened, as ISO text, or an empty string.
    """

    tier: str
    title: str
    text: str
    date: str


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did, or would do.

    Attributes:
        format: What the file or folder was read as.
        dry_run: Whether nothing was written.
        added: Memories that are new.
        existed: Memories that were there already.
        forgotten: Memories left out since their text was forgotten here.
        passed: Memories left out for another reason: the file that they stand in is here in another version,
            or they are nothing but what was recalled.
        edges: Connections that are new.
        concepts: Names that are new in the dictionary.
        events: Entries of histories that are new.
        runs: Nights that are new in the list of nights.
        documents: Documents that are new.
        sources: Folders and files that the next sync reads from now on.
        scrubbed: Kind of secret to how many were replaced.
        broken: What could not be taken, the first hundred.
        failures: How many could not be taken in all.
        samples: The first memories that are new.
        seconds: Wall time.
    """

    format: str
    dry_run: bool
    added: int = 0
    existed: int = 0
    forgotten: int = 0
    passed: int = 0
    edges: int = 0
    concepts: int = 0
    events: int = 0
    runs: int = 0
    documents: int = 0
    sources: tuple[str, ...] = ()
    scrubbed: Mapping[str, int] | None = None
    broken: tuple[Broken, ...] = ()
    failures: int = 0
    samples: tuple[Sample, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy of a tenant to another store holds, as was verified.

    Attributes:
        tenant: The tenant.
        store: Where it is now.
        counts: Part (``memories``, ``edges``, …) to how many there are.
        digests: Part to a digest of all of it, equal in both stores.
        resumed: Whether some or all of it was there already, of a copy before this one.
        seconds: Wall time, the verification included.
    """

    tenant: str
    store: str
    counts: Mapping[str, int]
    digests: Mapping[str, str]
    resumed: bool
    seconds: float
