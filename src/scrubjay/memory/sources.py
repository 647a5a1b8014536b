"""Sources: the id of a root, and how a source is named and placed."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace

from scrubjay.errors import NotFoundError
from scrubjay.memory.ids import memory_key
from scrubjay.memory.records import Source

_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def source_id(secret: bytes, root: str, key: str) -> str:
    """Return the id of a source that a visibility key first saw at a root; it stays when the root moves.

    The key is part of it: two people may sync one folder, and neither learns of the other.

    >>> source_id(b"k", "/notes", "user:ann") == source_id(b"k", "/notes", "user:bob")
    False
    """
    return f"src_{memory_key(secret, ('source', root, key)):016x}"


def named(sources: Sequence[Source], name: str) -> Source:
    """Return the source of an id, of a unique beginning of one, or of a path.

    Raises:
        NotFoundError: There is none.
    """
    full = os.path.abspath(os.path.expanduser(name))
    matches = [s for s in sources if s.id == name or location(s) == full]
    matches = matches or [s for s in sources if len(name) > len("src_") and s.id.startswith(name)]
    if len(matches) != 1:
        raise NotFoundError(f"No source {name} is registered.", hint="`scrubjay sources` lists them")
    return matches[0]


def location(source: Source) -> str:
    """Return a source's folder, or its file when it is a single one."""
    if single(source):
        return os.path.join(source.root, _ESCAPED.sub(r"\1", source.include[0][1:]))
    return source.root


def single(source: Source) -> bool:
    """Return whether a source is one file."""
    if len(source.include) != 1 or not source.include[0].startswith("/"):
        return False
    return "*" not in _ESCAPED.sub("", source.include[0])


def escaped(name: str) -> str:
    """Return a file name as a gitignore pattern that matches it alone."""
    return "".join("\\" + mark if mark in "*?[]!#\\ " else mark for mark in name)


def apart(source: Source, others: Sequence[Source]) -> Source:
    """Return a source that leaves out what other sources inside it hold themselves."""
    inside = []
    for other in others:
        place = location(other)
        if other.id != source.id and place.startswith(source.root.rstrip("/") + "/") and not single(source):
            inside.append("/" + escaped(os.path.relpath(place, source.root)))
    return replace(source, exclude=(*source.exclude, *inside)) if inside else source
