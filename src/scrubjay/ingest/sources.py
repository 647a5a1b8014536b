"""Sources: register a folder or file whose files are to be synced."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from scrubjay.errors import InputError
from scrubjay.ingest.scanner import (
    AUTOMATIC_INCLUDE,
    DEFAULT_INCLUDE,
    OPENCODE_SIDE_FOLDERS,
    TRANSCRIPT_INCLUDE,
    IncludePatterns,
    ScanResult,
    include_patterns,
    is_skipped_name,
    may_be_transcript,
    scan_files,
)
from scrubjay.ingest.transcripts.importer import format_of_file
from scrubjay.models.dates import now_micros
from scrubjay.models.records import Scope, Source
from scrubjay.models.sources import escape_pattern, is_single_file, source_id, source_location
from scrubjay.storage.changes import PutSource
from scrubjay.storage.interface import Store

MAX_PROBED_FILES: Final = 100
"""JSON files that are probed to see whether a folder holds transcripts: a tenth of a second."""


def register_source(store: Store, scope: Scope, path: Path, wish: Source) -> tuple[Source, ScanResult | None]:
    """Return the source that holds a path, registered now if there is none, and its files if they were scanned.

    A path inside a registered folder is that folder's. A single file is a source whose root is its folder and whose
    only pattern is its name. A folder with transcripts includes JSON files. Empty fields of ``wish`` change nothing.

    Raises:
        InputError: Nothing is there and no source of that root is registered, or it is a JSON file of no known format.
    """
    full = Path(os.path.abspath(path.expanduser()))
    with store.reader(scope) as reader:
        known = reader.sources()
    source = containing_source(known, full)
    if source is None:
        if not full.exists():
            raise InputError(
                f"{full} is not there. Nothing was synced.", hint="name a folder or file that exists"
            )
        single = full.is_file()
        if single and may_be_transcript(full.name) and format_of_file(str(full.parent), full.name) is None:
            raise InputError(
                f"{full} is not a transcript of a known format. Nothing was synced.",
                hint="docs/transcripts.md describes the formats, with one for your own tools",
            )
        source = Source(
            id=source_id(store.secret(scope), str(full), scope.key()),
            root=str(full.parent if single else full),
            include=("/" + escape_pattern(full.name),) if single else (),
            key=scope.key("user"),
            added_at=now_micros(),
        )
    include, found = wish.include or source.include, None
    if not include:
        include, found = _detect_include(source)
    changed = replace(
        source,
        description=wish.description or source.description,
        include=include,
        exclude=wish.exclude or source.exclude,
    )
    if changed not in known:
        store.write(scope, [PutSource(changed)])
    return changed, found if changed.exclude == source.exclude else None


def _detect_include(source: Source) -> tuple[tuple[str, ...], ScanResult | None]:
    """Files are returned only where one scan serves both sets of patterns: without links or problems."""
    scan = scan_files(Path(source.root), include=AUTOMATIC_INCLUDE, exclude=source.exclude)
    logs = IncludePatterns(TRANSCRIPT_INCLUDE)
    candidates = [one.path for one in scan.files if logs.takes(Path(one.path).name, one.path)]
    exact = not scan.linked and not scan.problems
    if any(format_of_file(source.root, path) is not None for path in candidates[:MAX_PROBED_FILES]):
        files = tuple(one for one in scan.files if not one.path.startswith(OPENCODE_SIDE_FOLDERS))
        return AUTOMATIC_INCLUDE, replace(scan, files=files) if exact else None
    notes = IncludePatterns(DEFAULT_INCLUDE)
    files = tuple(one for one in scan.files if notes.takes(Path(one.path).name, one.path))
    return (), replace(scan, files=files) if exact else None


def containing_source(known: Sequence[Source], full: Path) -> Source | None:
    """Return the registered source of a path: itself, else one that contains it.

    A source does not contain hidden folders that it skips: agents' transcripts below a home folder are other sources.
    """
    for source in known:
        if source_location(source) == str(full):
            return source
    for source in known:
        if not is_single_file(source) and full.is_relative_to(source.root):
            patterns = IncludePatterns(include_patterns(source))
            parts = full.relative_to(source.root).parts
            if all(patterns.names(part) or not is_skipped_name(part) for part in parts):
                return source
    return None
