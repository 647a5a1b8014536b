"""Values: the fields of a line -> a record, a source, an edge as they were told, scrubbed once more.

Ids are still those of the store that told them; `take` gives them those that they have here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from scrubjay.errors import InputError
from scrubjay.ingest.porting.fields import Fields
from scrubjay.ingest.scrub import scrub
from scrubjay.memory import concepts, edges, events
from scrubjay.memory.concepts import Concept
from scrubjay.memory.edges import Edge
from scrubjay.memory.events import Event, sure
from scrubjay.memory.ids import parse_id, parse_node, text_hash
from scrubjay.memory.records import (
    FOREIGN,
    JOINT,
    OWN,
    TRUST,
    Document,
    Place,
    Record,
    Source,
    Versions,
    When,
)
from scrubjay.memory.runs import RUN_STATES, Run
from scrubjay.memory.scope import Scope
from scrubjay.memory.tiers import ORIGINS, STATUSES, TIERS

PRECISIONS = ("second", "day", "month", "year")


class Values:
    """Makes values of lines, for one principal.

    Args:
        scope: Who takes them in: what they own is theirs.
        shared: Whether what was shared stays so where the principal may; else all of it is theirs alone.
        scrubbed: Told how many secrets of each kind were replaced.
        untrusted: Whether nobody vouches for any of it.
        allow: What is never replaced as a secret.
    """

    def __init__(
        self,
        scope: Scope,
        *,
        shared: bool,
        scrubbed: Counter[str],
        untrusted: bool = False,
        allow: Sequence[str] = (),
    ) -> None:
        self._scope = scope
        self._shared = shared
        self._scrubbed = scrubbed
        self._untrusted = untrusted
        self._allow = allow
        self._rules: dict[str, str] = {}

    def key(self, told: str) -> str:
        """Return the visibility key of what was told under one: never one that more people see."""
        if told == "user" or not self._shared:
            return self._scope.key()
        if told != "public" and not told.startswith(("group:", "user:")):
            raise InputError(f"key is {told!r}, neither user, public nor group:NAME")
        return told if told in self._scope.keys else self._scope.key()

    def _clean(self, text: str) -> str:
        found = scrub(text, self._allow)
        self._scrubbed.update(found.counts)
        return found.text

    def _rule(self, told: str) -> str:
        """Return what made an edge; there are ten edges to a memory, and few rules."""
        if told not in self._rules:
            self._rules[told] = self._clean(told)
        return self._rules[told]

    def record(self, line: Fields) -> Record:
        """Return a memory."""
        tier = line.one_of("tier", TIERS)
        content = self._clean(line.text("content"))
        record = Record(
            id=_memory(line.text("id"), tier),
            tier=tier,
            content=content,
            content_hash=text_hash(content),
            title=self._clean(line.text("title", "")),
            key=self.key(line.text("key")),
            owner=self._scope.user,
            recorded_at=line.number("recorded_at"),
            updated_at=line.number("updated_at"),
            heading_path=tuple(map(self._clean, line.texts("heading_path"))),
            tags=tuple(sorted({self._clean(tag).strip().lower() for tag in line.texts("tags")} - {""})),
            place=_place(line.inner("place")),
            project=line.maybe("project"),
            agent=line.maybe("agent"),
            session=line.maybe("session"),
            role=line.maybe("role"),
            turn=line.maybe_number("turn", 0),
            origin="untrusted" if self._untrusted else line.one_of("origin", ORIGINS, "owner"),
            status=line.one_of("status", STATUSES, "active"),
            pinned=line.truth("pinned"),
            confidence=line.share("confidence"),
            strength=line.share("strength"),
            event=_when(line.inner("event")),
            valid_from=line.maybe_number("valid_from"),
            valid_until=line.maybe_number("valid_until"),
            last_used=line.maybe_number("last_used"),
        )
        if not content:
            raise InputError("content is empty")
        if None not in (record.valid_from, record.valid_until) and record.valid_until < record.valid_from:  # type: ignore[operator]
            raise InputError("valid_until is before valid_from")
        return record

    def source(self, line: Fields) -> Source:
        """Return a source."""
        root = line.text("root")
        if not root.startswith("/"):
            raise InputError(f"root is {root!r}, not an absolute path")
        found = line.names("repositories", (OWN, JOINT, FOREIGN))
        return Source(
            id=line.text("id"),
            root=root,
            description=self._clean(line.text("description", "")),
            include=line.texts("include"),
            exclude=line.texts("exclude"),
            key=self.key(line.text("key")),
            added_at=line.number("added_at", 0),
            synced_at=line.maybe_number("synced_at"),
            trust="untrusted" if self._untrusted else line.one_of("trust", TRUST, ""),
            # Without their heads: the next sync looks at the commits that are here.
            repositories=None
            if found is None
            else tuple((folder, work, "") for folder, work in found.items()),
        )

    def document(self, line: Fields) -> Document:
        """Return a document."""
        inner = line.inner("versions")
        if inner is None:
            raise InputError("versions is missing")
        names = ("chunker", "tokenizer", "scrubber", "extractor", "labeller")
        return Document(
            source=line.text("source"),
            path=_relative(line.text("path")),
            content_hash=line.text("content_hash", ""),
            mtime_ns=line.number("mtime_ns"),
            size=line.number("size", least=0),
            title=self._clean(line.text("title", "")),
            versions=Versions(*(inner.text(name) for name in names)),
            cursor=line.number("cursor", 0, least=0),
        )

    def concept(self, line: Fields) -> Concept:
        """Return what one key knows of a concept."""
        identity = line.text("id")
        if (parse_node(identity) or ("",))[0] != "concept":
            raise InputError(f"{identity!r} is no id of a concept")
        name = self._clean(line.text("name"))
        if not name.strip():
            raise InputError("name is empty")
        aliases = tuple(sorted({self._clean(one) for one in line.texts("aliases")} - {""}))
        kind = line.one_of("kind", concepts.KINDS)
        return Concept(identity, self.key(line.text("key")), name, aliases, kind, line.number("at", 0))

    def edge(self, line: Fields) -> Edge:
        """Return an edge."""
        kinds = tuple(kind for kind in edges.STORED if kind != "belongs")
        return Edge(
            src=line.text("src"),
            kind=line.one_of("kind", kinds),
            dst=line.text("dst"),
            key=self.key(line.text("key")),
            weight=line.share("weight"),
            at=line.number("at", 0),
            origin=line.one_of("origin", edges.ORIGINS, "found"),
            rule=self._rule(line.text("rule", "")),
            run=line.maybe("run"),
        )

    def event(self, line: Fields) -> Event:
        """Return an event; its key is its memory's, which the caller knows."""
        op, before = line.one_of("op", events.OPS), line.text("before", "")
        if before and before not in STATUSES and (op != "reinforced" or sure(before) is None):
            raise InputError(f"before is {before[:40]!r}, which no event has")
        count = line.number("count", 0, least=0)
        other, run = line.maybe("other"), line.maybe("run")
        return Event(
            line.text("memory"),
            op,
            line.number("at"),
            "",
            run,
            other,
            count,
            before,
            self._clean(line.text("actor", "")),
        )

    def run(self, line: Fields) -> Run:
        """Return what a run did for one key."""
        return Run(
            id=line.text("id"),
            key=self.key(line.text("key")),
            state=line.one_of("state", RUN_STATES),
            rules=line.text("rules", ""),
            started=line.number("started"),
            ended=line.maybe_number("ended"),
            counts=line.counts("counts"),
        )


def stands_in(record: Record, document: Document) -> Record:
    """Return a passage as one of a document that is called otherwise here."""
    assert record.place is not None
    return replace(record, place=replace(record.place, source=document.source, path=document.path))


def _memory(identity: str, tier: str) -> str:
    parsed = parse_id(identity)
    if parsed is None or parsed[0] != tier:
        raise InputError(f"{identity!r} is no id of a memory of tier {tier}")
    return identity


def _place(line: Fields | None) -> Place | None:
    if line is None:
        return None
    numbers = (line.number(name, least=0) for name in ("ordinal", "start", "end", "line_start", "line_end"))
    return Place(line.text("source"), _relative(line.text("path")), *numbers)


def _relative(path: str) -> str:
    if path.startswith("/") or ".." in path.split("/"):
        raise InputError(f"path is {path!r}, which leads out of its source")
    return path


def _when(line: Fields | None) -> When | None:
    if line is None:
        return None
    start, end = line.number("start"), line.number("end")
    if end < start:
        raise InputError("event ends before it starts")
    return When(start, end, line.one_of("precision", PRECISIONS, "second"), line.maybe("zone"))
