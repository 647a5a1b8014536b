"""OpenClaw keys: what the list beside OpenClaw's logs (`openclaw`) says of a session.

``sessions.json`` names each session by a key that tells where its messages come from: ``agent:main:main``,
``agent:main:subagent:<id>``, ``cron:<job>``. Written from openclaw/openclaw,
docs/reference/session-management-compaction.md at 010f0c86a15e ("Session keys").
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from scrubjay.errors import SourceError
from scrubjay.ingest.sources.read import read
from scrubjay.ingest.sources.transcripts.fields import string, table


def session_keys(root: Path, path: str) -> Mapping[str, str]:
    """Return keys by session id, none where the list is not there or cannot be read.

    Args:
        root: The source's folder.
        path: Of the list, POSIX, relative to it.
    """
    try:
        return _listed(read(root, path).text)
    except SourceError:
        return {}  # a log that was put away alone, or copied without it, says enough


def spawned(key: str) -> bool:
    """Return whether nobody types in a session of this key: a sub-agent's, or one that a timer begins.

    >>> spawned("agent:main:subagent:7"), spawned("cron:nightly"), spawned("agent:main:main")
    (True, True, False)
    """
    return ":subagent:" in key or ":cron:" in key or key.startswith("cron:")


@lru_cache(maxsize=1)  # one list, hundreds of logs beside it
def _listed(text: str) -> Mapping[str, str]:
    try:
        entries = table(json.loads(text))
    except (ValueError, RecursionError):
        return {}
    return {string(table(entry).get("sessionId")): key for key, entry in entries.items()}
