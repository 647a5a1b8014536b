"""Register: a path -> the source that holds it, found or made."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from scrubjay.errors import InputError
from scrubjay.ingest.sources.files import scan
from scrubjay.ingest.sources.ignore import Include, skipped
from scrubjay.ingest.sources.kinds import DEFAULT_INCLUDE, TRANSCRIPT_INCLUDE, like_transcript
from scrubjay.ingest.talks import AUTOMATIC, form_of
from scrubjay.memory.dates import now_micros
from scrubjay.memory.records import Source
from scrubjay.memory.scope import Scope
from scrubjay.memory.sources import escaped, location, single, source_id
from scrubjay.store.base import Store
from scrubjay.store.changes import PutSource

MOST_LOOKED_INTO: Final = 100
"""JSON files whose beginning is read to see whether a folder holds transcripts: a tenth of a second."""


def register(store: Store, scope: Scope, path: Path, wish: Source) -> Source:
    """Return the source of a folder or file, registered now if none holds it.

    A path inside a registered folder is that folder's: nothing is stored twice. A single file is a source
    whose root is its folder and whose one pattern is its name.

    Args:
        store: Where.
        scope: Who registers; what the source holds is private to them.
        path: The folder or file.
        wish: Description and patterns to set; empty ones leave what is there.

    Returns:
        The source. A folder in which a transcript lies takes in its JSON files besides its notes.

    Raises:
        InputError: Nothing is there, and no source of that root is registered; or it is a single JSON file
            that no known tool wrote.
    """
    full = Path(os.path.abspath(path.expanduser()))
    with store.reader(scope) as reader:
        known = reader.sources()
    source = holder(known, full)
    if source is None:
        if not full.exists():
            raise InputError(
                f"{full} is not there. Nothing was synced.", hint="name a folder or file that exists"
            )
        single = full.is_file()
        if single and like_transcript(full.name) and form_of(str(full.parent), full.name) is None:
            raise InputError(
                f"{full} is no transcript that is known. Nothing was synced.",
                hint="docs/transcripts.md describes the formats, with one for your own tools",
            )
        source = Source(
            id=source_id(store.secret(scope), str(full), scope.key()),
            root=str(full.parent if single else full),
            include=("/" + escaped(full.name),) if single else (),
            key=scope.key("user"),
            added_at=now_micros(),
        )
    include = wish.include or source.include
    if not include and holds_talks(source):
        include = AUTOMATIC
    changed = replace(
        source,
        description=wish.description or source.description,
        include=include,
        exclude=wish.exclude or source.exclude,
    )
    if changed not in known:
        store.write(scope, [PutSource(changed)])
    return changed


def holds_talks(source: Source) -> bool:
    """Return whether a transcript lies in a folder; of many files only the first are looked into."""
    found = scan(Path(source.root), include=TRANSCRIPT_INCLUDE, exclude=source.exclude)
    return any(form_of(source.root, state.path) is not None for state in found.files[:MOST_LOOKED_INTO])


def holder(known: Sequence[Source], full: Path) -> Source | None:
    """Return the registered source of a folder or file: itself, else one that it lies in; None for none.

    A source does not hold what lies below a hidden folder that it leaves out: who syncs their home folder has agents'
    transcripts in sources of their own.
    """
    for source in known:
        if location(source) == str(full):
            return source
    for source in known:
        if not single(source) and full.is_relative_to(source.root) and _enters(source, full):
            return source
    return None


def _enters(source: Source, full: Path) -> bool:
    asked_for = Include(source.include or DEFAULT_INCLUDE)
    return all(asked_for.names(name) or not skipped(name) for name in full.relative_to(source.root).parts)
