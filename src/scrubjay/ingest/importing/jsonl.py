"""JSONL: a memory a line, as any program can write it (docs/import.md) -> items.

```json
{"content": "The mast is 12 metres.", "tier": "semantic", "tags": ["boat"], "date": "2026-03-01"}
```

``content`` (or ``text``) is needed; the other fields are those of `scrubjay add`: ``tier``, ``title``,
``tags``, ``date``, ``session``, ``role``, ``turn``, ``project``, ``agent``, ``confidence``, ``valid_from``,
``valid_until``, ``origin``, ``pinned``. ``concepts`` is a list of names that it refers to. ``name`` is what
other lines call it, and ``links`` a list of such names. ``id`` and ``metadata`` are not read. A line with any
other field is told, and not taken: it may be misspelt.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from scrubjay.ingest.importing.item import Found, Item, Joined, Named
from scrubjay.ingest.importing.values import lines, texts
from scrubjay.ingest.sources.transcripts.fields import string
from scrubjay.memory.moves import Broken
from scrubjay.memory.new import NewMemory

FIELDS: Final = (
    "tier", "title", "tags", "date", "session", "role", "turn", "project", "agent", "confidence", "valid_from",
    "valid_until", "origin", "pinned",
)  # fmt: skip
"""Fields of a line that are fields of a memory."""
OTHERS: Final = frozenset({"content", "text", "concepts", "name", "links", "id", "metadata"})
KINDS: Final[dict[str, type | tuple[type, ...]]] = {
    "tags": list,
    "pinned": bool,
    "turn": int,
    "confidence": (int, float),
}
"""What a field must be, where that is no text."""


def read(file: Path) -> Iterator[Found]:
    """Yield what a file of lines holds."""
    for found in lines(file):
        if isinstance(found, Broken):
            yield found
        else:
            yield from _item(*found)


def _item(where: str, told: dict[str, Any]) -> Iterator[Found]:
    wrong = _wrong(told)
    if wrong:
        yield Broken(where, wrong)
        return
    about = tuple(texts(told.get("concepts")))
    name = string(told.get("name"))
    given = {field: told[field] for field in FIELDS if told.get(field) is not None}
    yield from (Named(one, (), where) for one in about)
    yield Item(NewMemory(told.get("content") or told["text"], **given), where, about, name)
    yield from (Joined(name, other) for other in texts(told.get("links")) if name)


def _wrong(told: dict[str, Any]) -> str:
    """Return why a line cannot be taken, or nothing."""
    strange = sorted(told.keys() - OTHERS - set(FIELDS))
    if strange:
        return f"it has a field {strange[0]!r}; known are {', '.join(sorted((*FIELDS, *OTHERS)))}"
    if not isinstance(told.get("content") or told.get("text"), str):
        return "it has no text under `content`"
    for field in FIELDS:
        value = told.get(field)
        kind = KINDS.get(field, str)
        if value is not None and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
            return f"{field} is {str(value)[:40]!r}, which is not what {field} can be"
    if not all(isinstance(tag, str) for tag in told.get("tags") or ()):
        return "tags holds something that is no text"
    return ""
