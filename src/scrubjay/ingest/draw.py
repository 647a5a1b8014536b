"""Draw: NewMemory -> Drawn. Checked, scrubbed, and with its id."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from scrubjay.errors import InputError
from scrubjay.ingest.echo import own
from scrubjay.ingest.scrub import Scrubbed, scrub
from scrubjay.memory.dates import now_micros, when
from scrubjay.memory.ids import memory_id, memory_key, text_hash
from scrubjay.memory.new import NewMemory
from scrubjay.memory.records import Record
from scrubjay.memory.scope import Scope
from scrubjay.memory.tiers import ORIGINS, TIERS

MOST_CHARACTERS: Final = 10_000_000
"""Characters of one memory: a book is several memories."""
CHECK: Final = 0xFF
"""Bits of a keyed hash by which two texts that redaction made equal are told apart. Eight find 255 of 256 such pairs;
of a secret they leave one guess of 256, however short it is, to whoever has the store's file and its key."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A new memory with its id, not yet counted and embedded.

    Attributes:
        record: The memory.
        scrubbed: Kind of secret to how many were replaced.
        exact: The id that earlier versions gave it, by its text as it stands.
    """

    record: Record
    scrubbed: Mapping[str, int]
    exact: str


def said(new: NewMemory) -> str:
    """Return the text of a new memory, as it is before it is scrubbed.

    Raises:
        InputError: It is no text.
    """
    return _text(own(new), "content")


def draw(
    new: NewMemory, scope: Scope, secret: bytes, allow: Sequence[str] = (), found: Scrubbed | None = None
) -> Drawn:
    """Check a new memory, scrub it and give it its id.

    The id is a keyed hash of who may see it, tier, conversation and turn, event and text, whatever its blanks
    and the form of its Unicode: adding the same again finds the same memory, and two turns that both say "yes" stay
    two. So do two texts that differ in nothing but a secret.

    Args:
        new: The memory.
        scope: Who adds it.
        secret: The tenant's key of ids.
        allow: Words, and patterns as ``/…/``, that are never replaced as secrets.
        found: Its text without secrets, where that is known already: that of a turn (`scrub_turns`).

    Raises:
        InputError: A field has a value it cannot have.
    """
    scrubbed: Counter[str] = Counter()

    def clean(value: object, field: str) -> str:
        one = scrub(_text(value, field), allow)
        scrubbed.update(one.counts)
        return one.text

    told = said(new)
    found = found or scrub(told, allow)
    scrubbed.update(found.counts)
    content = found.text
    if not content.strip():
        raise InputError("The memory is empty. Nothing was written.", hint="give it some text")
    if len(content) > MOST_CHARACTERS:
        raise InputError(
            f"The memory has {len(content):,} characters; at most {MOST_CHARACTERS:,} make one. "
            "Nothing was written.",
            hint="save it as a Markdown file and `scrubjay sync` its folder",
        )
    _check(new)
    key = scope.key(new.visibility, new.group)
    event = when(new.date)
    start, end = when(new.valid_from), when(new.valid_until)
    session = _name(new.session, "session")
    now = now_micros()
    record = Record(
        id="",
        tier=new.tier,
        content=content,
        content_hash=text_hash(content),
        title=clean(new.title, "title"),
        key=key,
        owner=scope.user,
        recorded_at=now,
        updated_at=now,
        tags=tuple(sorted({clean(tag, "tags").strip().lower() for tag in new.tags} - {""})),
        project=_name(new.project, "project"),
        agent=_name(new.agent, "agent"),
        session=session,
        role=_name(new.role, "role"),
        turn=None if new.turn is None else int(new.turn),
        origin=new.origin,
        pinned=bool(new.pinned),
        confidence=float(new.confidence),
        event=event,
        valid_from=start.start if start else None,
        valid_until=end.end if end else None,  # true through the whole of a day that is named
    )
    if start is not None and end is not None and end.end < start.start:
        raise InputError(f"It would be true from {new.valid_from} to {new.valid_until}. Nothing was written.")
    redacted = f"{memory_key(secret, ('redacted', normal(told))) & CHECK}" if found.counts else ""
    named = replace(record, id=memory_id(new.tier, added_key(secret, record, redacted)))
    exact = memory_id(new.tier, _key(secret, record, content_digest=record.content_hash))
    return Drawn(named, dict(scrubbed), exact)


def normal(text: str) -> str:
    r"""Return a text in the form in which it is compared: composed Unicode (NFC), one blank between words.

    >>> normal("cafe\u0301  au\nlait ") == "caf\u00e9 au lait"
    True
    """
    return " ".join(unicodedata.normalize("NFC", text).split())


def added_key(secret: bytes, record: Record, redacted: str = "") -> int:
    """Return the number of a memory that stands in no document, whoever brings it: a hash of all that tells it.

    Args:
        secret: The tenant's key of ids.
        record: The memory.
        redacted: What tells it from another that redaction made equal to it.
    """
    return _key(secret, record, text_hash(normal(record.content)), redacted)


def _key(secret: bytes, record: Record, content_digest: str, redacted: str = "") -> int:
    at = "" if record.event is None else str(record.event.start)
    turn = "" if record.turn is None else str(record.turn)
    parts = ("add", record.key, record.tier, record.session or "", turn, at, content_digest)
    return memory_key(secret, (*parts, redacted) if redacted else parts)


def _check(new: NewMemory) -> None:
    if new.tier not in TIERS:
        raise InputError(f"Tier {new.tier!r} is not one of {', '.join(TIERS)}. Nothing was written.")
    if new.origin not in ORIGINS:
        raise InputError(f"Origin {new.origin!r} is not one of {', '.join(ORIGINS)}. Nothing was written.")
    if not _number(new.confidence) or not 0.0 <= new.confidence <= 1.0:
        raise InputError(f"Confidence {new.confidence!r} is not between 0 and 1. Nothing was written.")
    if new.turn is not None and not (_number(new.turn) and 0 <= new.turn < 2**63 and new.turn % 1 == 0):
        raise InputError(f"Turn {new.turn!r} is not a whole number from 0. Nothing was written.")
    if isinstance(new.tags, str):
        raise InputError(f"Tags are {new.tags!r}, one text; give a list of them. Nothing was written.")
    if new.group is not None and new.visibility != "group":
        raise InputError(
            f"Group {new.group!r} is named, but visibility is {new.visibility!r}. Nothing was written.",
            hint="set visibility to group, or leave the group out",
        )


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _name(value: object, field: str) -> str | None:
    return None if value is None else _text(value, field)


def _text(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{field} is a {type(value).__name__}, not a text. Nothing was written.")
    # What cannot be UTF-8 (half of a surrogate pair) cannot be stored or printed.
    return value.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")
