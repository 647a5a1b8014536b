"""Label: Read + old records -> Labelled (every passage with its id, title, scope, date and terms)."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from scrubjay.ingest.align import Text, align
from scrubjay.ingest.naming import prepare
from scrubjay.ingest.noted import noted
from scrubjay.memory.ids import memory_id, memory_key, text_hash
from scrubjay.memory.records import Document, Place, Record, When
from scrubjay.store.changes import Kept, Prepared
from scrubjay.text.languages import language

LABELLER_VERSION = "2"  # stamped on every document; a change of what is indexed beside the text changes it
TIER = "observation"
SAMPLE = 1_500
"""Characters of a document that tell its language: two paragraphs of function words do."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A passage before it has an id.

    Attributes:
        content: Its text.
        place: Where it stands.
        heading_path: Headings above it.
        title: Nearest heading, else the document's name.
    """

    content: str
    place: Place
    heading_path: tuple[str, ...]
    title: str


@dataclass(frozen=True, slots=True)
class Traits:
    """What all passages of a document share.

    Attributes:
        origin: Whose words they are; None leaves what is stored of each, and makes a new one its owner's.
    """

    key: str
    owner: str
    tags: tuple[str, ...]
    event: When | None
    pinned: bool
    recorded_at: int
    updated_at: int
    project: str | None = None
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class Ids:
    """Where new ids come from.

    Attributes:
        secret: The tenant's key of ids.
        taken: Tells whether another document's memory has an id already (a renamed one kept its own).
        find: Returns a memory by id: a passage that bears the mark of an addition is that addition.
    """

    secret: bytes
    taken: Callable[[str], bool]
    find: Callable[[str], Record | None]

    def addition(self, content: str, owner: str, mine: Set[str]) -> Record | None:
        """Return the addition whose mark a passage bears, if it is still there and the owner's own, and trusted.

        One that stands in a document whose passages are not ``mine`` stays there: a copied note is a copy.
        """
        memory = noted(content)
        found = self.find(memory) if memory is not None else None
        foreign = found is None or found.owner != owner or (found.place is not None and found.id not in mine)
        return None if foreign else found


@dataclass(frozen=True, slots=True)
class Labelled:
    """A document ready to be embedded and written.

    Attributes:
        document: The document as it is now.
        fresh: Passages that are new or changed.
        kept: Passages that stay.
        dropped: Ids of passages that are no more.
        moved_from: Path under which it stood, when it was renamed.
        grows: The fresh passages join those that it holds.
        renewed: Ids of the fresh ones that replace what they said before.
        shown: Whether some see it now who saw nothing of it before.
    """

    document: Document
    fresh: tuple[Prepared, ...]
    kept: tuple[Kept, ...]
    dropped: tuple[str, ...]
    moved_from: str | None = None
    grows: bool = False
    renewed: tuple[str, ...] = ()
    shown: bool = False


@dataclass(frozen=True, slots=True)
class Planned:
    """A document whose passages have their ids, before words are counted: that takes ten times the text in memory.

    Attributes:
        document: The document as it is now.
        fresh: Passages that are new or changed, each with the language of its words.
        kept: Passages that stay.
        dropped: Ids of passages that are no more.
        renewed: Ids of the fresh ones that replace what they said before.
        shown: Whether some see it now who saw nothing of it before.
    """

    document: Document
    fresh: tuple[tuple[Record, str], ...]
    kept: tuple[Kept, ...]
    dropped: tuple[str, ...]
    renewed: frozenset[str]
    shown: bool

    def labelled(self) -> Labelled:
        """Return the whole document, its words counted."""
        fresh = tuple(prepare(record, tongue) for record, tongue in self.fresh)
        renewed = tuple(record.id for record, _ in self.fresh if record.id in self.renewed)
        return Labelled(self.document, fresh, self.kept, self.dropped, renewed=renewed, shown=self.shown)


def label(
    document: Document, drafts: Sequence[Draft], traits: Traits, old: Sequence[Record], ids: Ids
) -> Labelled:
    """Give every passage its id, tell the new and changed from those that stay, and count the words of the former."""
    return plan(document, drafts, traits, old, ids).labelled()


def plan(
    document: Document, drafts: Sequence[Draft], traits: Traits, old: Sequence[Record], ids: Ids
) -> Planned:
    """Give every passage its id, and tell the new and changed from those that stay.

    Args:
        document: The document as it is now.
        drafts: Its passages, in order.
        traits: What they share.
        old: Its passages as they are stored.
        ids: Where new ids come from.
    """
    texts = [Text(text_hash(one.content), one.heading_path, one.content) for one in drafts]
    used = {record.id for record in old}
    own = _additions(drafts, ids, traits.owner, used)
    taken = {record.id for record in own.values()}
    others = [place for place in range(len(drafts)) if place not in own]
    aligned = align([one for one in old if one.id not in taken], [texts[place] for place in others])
    matched = {**own, **dict(zip(others, aligned, strict=True))}
    matches = [matched[place] for place in range(len(drafts))]
    records = []
    for draft, text, match in zip(drafts, texts, matches, strict=True):
        memory = match.id if match is not None else _new_id(ids, document, draft, traits.key, used)
        used.add(memory)
        records.append(_record(memory, draft, text.content_hash, traits, match))
    tongues = {key: _tongue(records, key) for key in {record.key for record in records}}
    fresh, kept = [], []
    for draft, record, match in zip(drafts, records, matches, strict=True):
        if match is not None and _same(match, record):
            kept.append(Kept(record.id, draft.place))
        else:
            fresh.append((record, tongues[record.key]))
    present = {match.id for match in matches if match is not None}
    dropped = tuple(record.id for record in old if record.id not in present)
    renewed = frozenset(record.id for record, _ in fresh if record.id in present)
    shown = not {record.key for record in records} <= {record.key for record in old}
    return Planned(document, tuple(fresh), tuple(kept), dropped, renewed, shown)


def _tongue(records: Sequence[Record], key: str) -> str:
    """Return the language of a document's passages of one visibility key: other keys' text does not tell."""
    return language("\n".join([record.content for record in records if record.key == key][:8])[:SAMPLE])


def _additions(drafts: Sequence[Draft], ids: Ids, owner: str, mine: Set[str]) -> dict[int, Record]:
    """Return the additions that passages say they are: each once, the first that bears its mark."""
    found: dict[str, tuple[int, Record]] = {}
    for place, draft in enumerate(drafts):
        record = ids.addition(draft.content, owner, mine)
        if record is not None:
            found.setdefault(record.id, (place, record))
    return dict(found.values())


def _record(memory: str, draft: Draft, digest: str, traits: Traits, match: Record | None) -> Record:
    """Return a passage as a memory: what it was is kept (its status while its text stays), what is said now is set."""
    if match is not None:
        old = match if match.content_hash == digest else replace(match, status="active", valid_until=None)
    else:
        tier, key, owner = TIER, traits.key, traits.owner
        old = Record(memory, tier, "", digest, draft.title, key, owner, traits.recorded_at, traits.updated_at)
    mark = noted(draft.content)
    addition = mark is not None
    return replace(
        old,
        content=draft.content,
        content_hash=digest,
        title=draft.title,
        key=old.key if addition else traits.key,
        updated_at=traits.updated_at,
        heading_path=draft.heading_path,
        tags=tuple(sorted({*traits.tags, *old.tags})) if addition else traits.tags,
        place=draft.place,
        pinned=traits.pinned or (addition and old.pinned),
        event=old.event if addition and old.event is not None else traits.event,
        project=old.project if addition and old.project is not None else traits.project,
        origin=old.origin if mark == memory and old.content_hash == digest else traits.origin or old.origin,
    )


def _new_id(ids: Ids, document: Document, draft: Draft, key: str, used: set[str]) -> str:
    # The key, for who left a group sees no longer which numbers its passages have.
    parts = (document.source, document.path, "\x1e".join(draft.heading_path), str(draft.place.ordinal), key)
    attempt = 0
    while True:
        memory = memory_id(TIER, memory_key(ids.secret, (*parts, str(attempt)) if attempt else parts))
        if memory not in used and not ids.taken(memory):
            return memory
        attempt += 1


def _same(old: Record, new: Record) -> bool:
    """Tell whether nothing but the place of a passage changed (a new file name is indexed too)."""
    assert new.place is not None
    if old.place is None:
        return False
    names = ("content_hash", "title", "heading_path", "key", "tags", "event", "pinned", "project", "origin")
    same = all(getattr(old, name) == getattr(new, name) for name in names)
    return same and PurePosixPath(old.place.path).stem == PurePosixPath(new.place.path).stem
