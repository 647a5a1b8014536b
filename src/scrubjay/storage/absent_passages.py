"""Absence: keep what a person said of a passage while its file is away.

Its events stay, hidden, and one more, `ABSENT`, holds keyed hashes of its place and text, and the fields to restore.
They belong to the passage again when the same text is written in the same place, whatever its id. They are deleted when
another text gets the id, when the id is forgotten, and with the source or user.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from scrubjay.models.ids import tombstone_hash
from scrubjay.models.lifecycle import INJECTION_VERDICTS, VERDICTS, Event
from scrubjay.models.records import NEVER_INJECT, Record

ABSENT: Final = "absent"
"""No caller can write an event of this operation, and no reader returns one."""
SOURCE_AT: Final = 65
"""Where the source begins in a `place_name`."""
_STATUS_OPS: Final = ("archived", "restored", "superseded")
_PIN_OPS: Final = ("pinned", "unpinned")
_OPS_BY_HAND: Final = {"archived", "restored", "changed", *_PIN_OPS, *VERDICTS} - {"used"}
_RESTORED_FIELDS: Final = ("strength", "confidence", "valid_from", "valid_until", "last_used")


def place_name(secret: bytes, source: str, path: str, record: Record) -> str:
    """Return the ``run`` of an `ABSENT` event: a keyed hash of path and headings, and the source (`SOURCE_AT`)."""
    return f"{tombstone_hash(secret, json.dumps([path, *record.heading_path]))}:{source}"


def text_name(secret: bytes, record: Record) -> str:
    return tombstone_hash(secret, record.content, record.key)


def absent_event(
    secret: bytes, source: str, path: str, record: Record, history: Sequence[tuple[str, str | None]]
) -> Event | None:
    """Return the event that keeps what a person said of a passage; None if nobody said anything.

    ``history`` holds operation and run of its events, oldest first.
    """
    by_hand = [op for op, run in history if run is None and op in _OPS_BY_HAND]
    if not by_hand:
        return None
    run = next((run for op, run in reversed(history) if op in _STATUS_OPS), None)
    state = {name: getattr(record, name) for name in _RESTORED_FIELDS}
    if (
        record.status == "superseded"
    ):  # the edge from the newer memory is gone, so this end is not known any more
        state["valid_until"] = None
    state |= {
        "text": text_name(secret, record),
        "status": record.status,
        "archived": record.status == "archived" and run is None,
        "pinned": _last(by_hand, _PIN_OPS) == "pinned",
        "withheld": _last(by_hand, INJECTION_VERDICTS) == NEVER_INJECT,
    }
    name = place_name(secret, source, path, record)
    return Event(record.id, ABSENT, record.updated_at, record.key, name, before=json.dumps(state))


def _last(ops: Sequence[str], wanted: Sequence[str]) -> str | None:
    return next((op for op in reversed(ops) if op in wanted), None)


def restore_fields(record: Record, state: Mapping[str, Any]) -> Record:
    """Return a passage that is back with what a person said of it."""
    return replace(
        record,
        **{name: state[name] for name in _RESTORED_FIELDS},
        status="archived" if state["archived"] else record.status,
        pinned=record.pinned or state["pinned"],
        tags=tuple(sorted({*record.tags, NEVER_INJECT})) if state["withheld"] else record.tags,
    )
