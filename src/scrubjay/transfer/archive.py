"""The export format: writes and reads one value a line.

Defaults are omitted. Settings, vectors, categories and readings are not exported: they are stored elsewhere or derived
again; neither are the hashes of forgotten texts, which are useless without the tenant's key. The header names
forgotten memories by their store and their id there, which is a keyed hash, so that names reveal nothing of a text, not
even to somebody who guesses it. ``@`` and the ``updated_at`` of the memory follow, unless another text may have been
meant. An import records under which name it found each memory (an event ``imported``).

An export may have been written by anybody, so every field is checked and errors name it. The file is read through once
before anything is imported: its footer holds the number and hash of the lines above.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from scrubjay.errors import InputError, SourceError, StoreDamagedError
from scrubjay.ingest.deletion import ALL_EVENTS
from scrubjay.ingest.transcripts.base import BYTE_ORDER_MARK, json_object
from scrubjay.models import graph, lifecycle
from scrubjay.models.dates import now_micros, to_datetime
from scrubjay.models.graph import STORED_EDGE_KINDS, Edge, Entity
from scrubjay.models.ids import forgotten_prefix, memory_key, parse_id, parse_node_id, text_hash
from scrubjay.models.lifecycle import (
    RUN_STATES,
    ConsolidationRun,
    Event,
    name_imported,
    previous_confidence,
    versioned_name,
)
from scrubjay.models.records import (
    FOREIGN,
    IMPORTED_AT,
    JOINT,
    ORIGINS,
    OWN,
    STATUSES,
    TIERS,
    TRUST_LEVELS,
    Document,
    EventTime,
    Record,
    Scope,
    Source,
    SourcePlace,
    StageVersions,
)
from scrubjay.redaction.redactor import redact_text
from scrubjay.storage.interface import Reader

EXPORT_FORMAT: Final = "scrubjay-export"
EXPORT_VERSION: Final = 1
"""Version of the lines."""
LINE_KINDS: Final = ("header", "source", "concept", "run", "document", "memory", "edge", "event", "footer")
"""Kinds of lines, in order."""
MAX_LINE: Final = 64 * 1024 * 1024
"""Bytes of a line: the longest memory (10,000,000 characters) with every character escaped."""
EDGE_FIELDS: Final = ("src", "kind", "dst", "weight", "at", "origin")
EVENT_FIELDS: Final = ("memory", "op", "at", "run", "other", "count", "before", "actor")
"""Fields of an event's line; its key is that of its memory."""
EXPORTED_EVENTS: Final = tuple(op for op in lifecycle.EVENT_OPS if op != "imported")
"""Exported events; those ``imported`` say how memories are named in other stores."""

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_DEFAULTS: Final = {field.name: field.default for field in fields(Record)}
_SEPARATE_FIELDS: Final = ("id", "tier", "content", "title", "owner", "key", "place", "event", "content_hash")


class LineWriter:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def _key(self, key: str) -> str:
        return "user" if key == f"user:{self._scope.user}" else key

    def source(self, source: Source) -> dict[str, Any]:
        row = asdict(source) | {"key": self._key(source.key), "share": None, "synced_at": None}
        if source.repositories is not None:
            row["repositories"] = {folder: work for folder, work, _ in source.repositories}
        return _line("source", **row)

    def document(self, document: Document, memories: int) -> dict[str, Any]:
        # Whether its file was seen is said of one machine.
        return _line("document", **asdict(document) | {"size": document.file_size}, memories=memories)

    def memory(self, record: Record, *, placed: bool) -> dict[str, Any]:
        """Return a memory's line; without ``placed`` its document is not among the lines."""
        row: dict[str, Any] = {
            "id": record.id,
            "tier": record.tier,
            "title": record.title,
            "content": record.content,
            "key": self._key(record.key),
        }
        if record.owner != self._scope.user:
            row["owner"] = record.owner
        for name, default in _DEFAULTS.items():
            value = getattr(record, name)
            if name not in _SEPARATE_FIELDS and value != default:
                row[name] = value
        if record.event is not None:
            row["event"] = asdict(record.event)
        if record.place is not None and placed:
            row["place"] = asdict(record.place)
        return _line("memory", **row)

    def concept(self, concept: Entity) -> dict[str, Any]:
        return _line("concept", **asdict(concept) | {"key": self._key(concept.key)})

    def edge(self, edge: Edge) -> dict[str, Any]:
        row = {name: getattr(edge, name) for name in EDGE_FIELDS}
        return _line("edge", **row, key=self._key(edge.key), rule=edge.rule, run=edge.run)

    def event(self, event: Event) -> dict[str, Any]:
        return _line("event", **{name: getattr(event, name) for name in EVENT_FIELDS})

    def run(self, run: ConsolidationRun) -> dict[str, Any]:
        return _line("run", **asdict(run) | {"key": self._key(run.key)})


def principal_mark(secret: bytes, scope: Scope) -> str:
    """Return a keyed hash that identifies a principal's store."""
    return f"{memory_key(secret, ('export', scope.user)):016x}"


def line_text(line: Mapping[str, Any]) -> bytes:
    return _ENCODER.encode(line).encode() + b"\n"


def _line(kind: str, /, **values: Any) -> dict[str, Any]:
    return {"line": kind, **{n: v for n, v in values.items() if v is not None and v not in ("", [], ())}}


EXPORT_PAGE: Final = 500
"""Memories read at once."""
EXPORTED_EDGES: Final = tuple(kind for kind in STORED_EDGE_KINDS if kind != "belongs")
"""Exported edges; categories are derived again."""
ALL_ROWS: Final = 10_000_000
"""More events and runs than a page of memories has."""


def export_lines(
    reader: Reader, lines: LineWriter, mark: str, groups: Sequence[str], forgotten: Sequence[str] = ()
) -> Iterator[dict[str, Any]]:
    """Yield the lines of an export, except the footer; ``mark`` identifies the principal's store.

    ``forgotten`` are the names of forgotten memories.

    Raises:
        StoreDamagedError: A text does not match its hash, or memories are missing.
    """
    counts, stamped = reader.counts(), reader.versions()
    yield {
        "line": "header",
        "format": EXPORT_FORMAT,
        "version": EXPORT_VERSION,
        "made_by": f"scrubjay {version('scrubjay')}",
        "created": to_datetime(now_micros()).isoformat(timespec="seconds"),
        "store": mark,
        "groups": list(groups),
        "versions": None if stamped is None else asdict(stamped),
        "counts": {"memories": counts.memories, "documents": counts.documents, "sources": counts.sources},
        "forgotten": list(forgotten),
    }
    sources = reader.sources()
    yield from map(lines.source, sources)
    yield from map(lines.concept, reader.concepts())
    yield from map(lines.run, reader.runs(ALL_ROWS))
    exported: set[str] = set()
    read = 0
    for source in sources:
        exported.add(source.id)
        for path, document in reader.documents(source.id).items():
            passages = reader.passages(source.id, path)
            read += len(passages)
            yield lines.document(document, len(passages))
            yield from (lines.memory(_verify_text(record), placed=True) for record in passages)
    for page in _pages(reader):
        outside = [r for r in page if r.place is None or r.place.source not in exported]
        read += len(outside)
        yield from (lines.memory(_verify_text(record), placed=False) for record in outside)
    if read != counts.memories:
        raise StoreDamagedError(f"There are {counts.memories:,} memories, and {read:,} of them can be read.")
    for page in _pages(reader):
        yield from map(lines.edge, reader.edges([record.id for record in page], EXPORTED_EDGES))
    for page in _pages(reader):
        events = reader.events([record.id for record in page], limit=ALL_ROWS)
        yield from (lines.event(event) for event in reversed(events) if event.op in EXPORTED_EVENTS)


def _verify_text(record: Record) -> Record:
    if text_hash(record.content) != record.content_hash:
        place = f" ({record.place.path})" if record.place is not None else ""
        raise StoreDamagedError(f"The text of {record.id}{place} is not the one that was written.")
    return record


def _pages(reader: Reader) -> Iterator[list[Record]]:
    after = ""
    while page := reader.page(after, EXPORT_PAGE):
        yield page
        after = page[-1].id


MAX_INTEGER: Final = 2**63 - 1
"""Greatest integer that every store holds."""


class LineFields:
    """The fields of one line; every method checks one and raises an `InputError` that names it."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._fields = values

    def text(self, name: str, default: str | None = None) -> str:
        return str(self._get(name, str, "a text", default))

    def optional_text(self, name: str) -> str | None:
        return None if self._fields.get(name) is None else self.text(name)

    def texts(self, name: str) -> tuple[str, ...]:
        values = self._get(name, list, "a list of texts", [])
        if not all(isinstance(one, str) for one in values):
            raise InputError(f"{name} holds something that is not text")
        return tuple(map(_storable, values))

    def number(self, name: str, default: int | None = None, least: int = -MAX_INTEGER) -> int:
        value: int = self._get(name, int, "a whole number", default)
        if isinstance(value, bool) or not least <= value <= MAX_INTEGER:
            raise InputError(f"{name} is {value!r}, not a whole number of 64 bits from {least}")
        return value

    def optional_number(self, name: str, least: int = -MAX_INTEGER) -> int | None:
        return None if self._fields.get(name) is None else self.number(name, least=least)

    def fraction(self, name: str) -> float:
        value = self._fields.get(name, 1.0)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise InputError(f"{name} is {_shorten(value)}, not a number from 0 to 1")
        return float(value) if math.isfinite(value) else 0.0

    def flag(self, name: str) -> bool:
        return bool(self._get(name, bool, "true or false", False))

    def one_of(self, name: str, known: Sequence[str], default: str | None = None) -> str:
        value = self.text(name, default)
        if value not in known:
            raise InputError(f"{name} is {_shorten(value)}; known are {', '.join(known)}")
        return value

    def nested(self, name: str) -> LineFields | None:
        value = self._fields.get(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise InputError(f"{name} is {_shorten(value)}, not an object")
        return LineFields(value)

    def counts(self, name: str) -> dict[str, int]:
        fields = self.nested(name)
        return {} if fields is None else {key: fields.number(key) for key in fields._fields}

    def choices(self, name: str, known: Sequence[str]) -> dict[str, str] | None:
        fields = self.nested(name)
        return None if fields is None else {key: fields.one_of(key, known) for key in fields._fields}

    def _get(self, name: str, kind: type, expected: str, default: Any) -> Any:
        value = self._fields.get(name, default)
        if value is None:
            raise InputError(f"{name} is missing")
        if not isinstance(value, kind):
            raise InputError(f"{name} is {_shorten(value)}, not {expected}")
        return _storable(value) if isinstance(value, str) else value


def _storable(text: str) -> str:
    if text.isascii() and "\x00" not in text:
        return text
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


PRECISIONS = ("second", "day", "month", "year")


class ValueReader:
    """Builds values from lines, for one principal, who becomes their owner.

    Without ``shared`` everything becomes private; ``scrubbed`` counts the secrets that were replaced.
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

    def key(self, key: str) -> str:
        """Return the visibility key of a row, never one that more people see."""
        if key == "user" or not self._shared:
            return self._scope.key()
        if key != "public" and not key.startswith(("group:", "user:")):
            raise InputError(f"key is {key!r}, neither user, public nor group:NAME")
        return key if key in self._scope.keys else self._scope.key()

    def _clean(self, text: str) -> str:
        clean = redact_text(text, self._allow)
        self._scrubbed.update(clean.counts)
        return clean.text

    def _rule(self, rule: str) -> str:
        if rule not in self._rules:
            self._rules[rule] = self._clean(rule)
        return self._rules[rule]

    def record(self, line: LineFields) -> Record:
        tier = line.one_of("tier", TIERS)
        content = self._clean(line.text("content"))
        record = Record(
            id=_memory_id(line.text("id"), tier),
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
            place=_source_place(line.nested("place")),
            project=line.optional_text("project"),
            agent=line.optional_text("agent"),
            session=line.optional_text("session"),
            role=line.optional_text("role"),
            turn=line.optional_number("turn", 0),
            origin="untrusted" if self._untrusted else line.one_of("origin", ORIGINS, "owner"),
            status=line.one_of("status", STATUSES, "active"),
            pinned=line.flag("pinned"),
            confidence=line.fraction("confidence"),
            strength=line.fraction("strength"),
            event=_event_time(line.nested("event")),
            valid_from=line.optional_number("valid_from"),
            valid_until=line.optional_number("valid_until"),
            last_used=line.optional_number("last_used"),
            due=line.number("due", 0),
        )
        if not content:
            raise InputError("content is empty")
        if None not in (record.valid_from, record.valid_until) and record.valid_until < record.valid_from:  # type: ignore[operator]
            raise InputError("valid_until is before valid_from")
        return record

    def source(self, line: LineFields) -> Source:
        root = line.text("root")
        if not root.startswith("/"):
            raise InputError(f"root is {root!r}, not an absolute path")
        repositories = line.choices("repositories", (OWN, JOINT, FOREIGN))
        return Source(
            id=line.text("id"),
            root=root,
            description=self._clean(line.text("description", "")),
            include=line.texts("include"),
            exclude=line.texts("exclude"),
            key=self.key(line.text("key")),
            added_at=line.number("added_at", 0),
            synced_at=IMPORTED_AT,
            trust="untrusted" if self._untrusted else line.one_of("trust", TRUST_LEVELS, ""),
            # Without their heads: the next sync looks at the commits that are here.
            repositories=None
            if repositories is None
            else tuple((folder, work, "") for folder, work in repositories.items()),
        )

    def document(self, line: LineFields) -> Document:
        versions = _versions(line.nested("versions"))
        if versions is None:
            raise InputError("versions is missing")
        return Document(
            source=line.text("source"),
            path=_relative_path(line.text("path")),
            content_hash=line.text("content_hash", ""),
            mtime_ns=line.number("mtime_ns"),
            size=line.number("size", least=0),
            title=self._clean(line.text("title", "")),
            versions=versions,
            cursor=line.number("cursor", 0, least=0),
        )

    def concept(self, line: LineFields) -> Entity:
        identity = line.text("id")
        if (parse_node_id(identity) or ("",))[0] != "concept":
            raise InputError(f"{identity!r} is not the id of a concept")
        name = self._clean(line.text("name"))
        if not name.strip():
            raise InputError("name is empty")
        aliases = tuple(sorted({self._clean(one) for one in line.texts("aliases")} - {""}))
        kind = line.one_of("kind", graph.ENTITY_KINDS)
        return Entity(identity, self.key(line.text("key")), name, aliases, kind, line.number("at", 0))

    def edge(self, line: LineFields) -> Edge:
        return Edge(
            src=line.text("src"),
            kind=line.one_of("kind", EXPORTED_EDGES),
            dst=line.text("dst"),
            key=self.key(line.text("key")),
            weight=line.fraction("weight"),
            at=line.number("at", 0),
            origin=line.one_of("origin", graph.EDGE_ORIGINS, "found"),
            rule=self._rule(line.text("rule", "")),
            run=line.optional_text("run"),
        )

    def event(self, line: LineFields) -> Event:
        """Return an event without its key, which is its memory's."""
        op, before = line.one_of("op", EXPORTED_EVENTS), line.text("before", "")
        if before and before not in STATUSES and (op != "reinforced" or previous_confidence(before) is None):
            raise InputError(f"before is {before[:40]!r}, which no event has")
        count = line.number("count", 0, least=0)
        other, run = line.optional_text("other"), line.optional_text("run")
        memory, at, actor = line.text("memory"), line.number("at"), self._clean(line.text("actor", ""))
        return Event(memory, op, at, "", run, other, count, before, actor)

    def run(self, line: LineFields) -> ConsolidationRun:
        return ConsolidationRun(
            id=line.text("id"),
            key=self.key(line.text("key")),
            state=line.one_of("state", RUN_STATES),
            rules=line.text("rules", ""),
            started=line.number("started"),
            ended=line.optional_number("ended"),
            counts=line.counts("counts"),
        )


def _memory_id(identity: str, tier: str) -> str:
    parsed = parse_id(identity)
    if parsed is None or parsed[0] != tier:
        raise InputError(f"{identity!r} is not the id of a memory of tier {tier}")
    return identity


def _source_place(line: LineFields | None) -> SourcePlace | None:
    if line is None:
        return None
    numbers = (line.number(name, least=0) for name in ("ordinal", "start", "end", "line_start", "line_end"))
    return SourcePlace(line.text("source"), _relative_path(line.text("path")), *numbers)


def _versions(line: LineFields | None) -> StageVersions | None:
    if line is None:
        return None
    names = ("chunker", "tokenizer", "scrubber", "extractor", "labeller")
    return StageVersions(*(line.text(name) for name in names))


def _relative_path(path: str) -> str:
    if path.startswith("/") or ".." in path.split("/"):
        raise InputError(f"path is {path!r}, which leads out of its source")
    return path


def _event_time(line: LineFields | None) -> EventTime | None:
    if line is None:
        return None
    start, end = line.number("start"), line.number("end")
    if end < start:
        raise InputError("event ends before it starts")
    return EventTime(start, end, line.one_of("precision", PRECISIONS, "second"), line.optional_text("zone"))


NOTHING_IMPORTED: Final = "Nothing was imported."


@contextmanager
def reraise_read_errors(file: Path) -> Iterator[None]:
    """Translate errors of reading a file."""
    try:
        yield
    except OSError as error:
        raise SourceError(f"{file} cannot be read: {error.strerror}. {NOTHING_IMPORTED}") from error


def raw_lines(file: Path) -> Iterator[tuple[int, bytes | None]]:
    """Yield number and bytes of each line, None for one of more than `MAX_LINE` bytes."""
    number = 0
    with reraise_read_errors(file), file.open("rb") as stream:
        while line := stream.readline(MAX_LINE + 1):
            number += 1
            long = len(line) > MAX_LINE
            while long and line and not line.endswith(b"\n"):
                line = stream.readline(MAX_LINE + 1)
            yield number, None if long else line


REEXPORT_HINT: Final = "export it again, with `scrubjay export`"


@dataclass(frozen=True, slots=True)
class ExportHeader:
    store: str
    versions: StageVersions | None
    lines: int
    memories: int
    forgotten: tuple[str, ...] = ()


def check_export(file: Path) -> ExportHeader:
    """Verify a file and return its header.

    Raises:
        SourceError: It cannot be read.
        InputError: It is not an export, is truncated, was changed, has too long a line, or is of a later version.
    """
    digest, number, last, header = hashlib.sha256(), 0, b"", None
    for number, line in _numbered_lines(file):
        if number == 1:
            header = _header(file, line)
        else:
            digest.update(last)
        last = line
    if header is None:
        raise InputError(f"{file} is empty. {NOTHING_IMPORTED}", hint=REEXPORT_HINT)
    footer = LineFields(_footer(file, number, last))
    lines, actual = footer.number("lines", least=2), digest.hexdigest()
    if lines != number or footer.text("sha256") != actual:
        raise InputError(
            f"{file} is not as it was written: its last line tells of {lines:,} lines with the hash "
            f"{footer.text('sha256')[:12]}…; there are {number:,} with {actual[:12]}…. {NOTHING_IMPORTED}",
            hint=REEXPORT_HINT,
        )
    return replace(header, lines=lines, memories=footer.counts("counts").get("memory", 0))


def read_export_lines(file: Path) -> Iterator[tuple[int, str, LineFields]]:
    """Yield number, kind and fields of every line between header and footer.

    Raises:
        InputError: A line is not one of an export.
    """
    for number, raw in _numbered_lines(file):
        values = _object(file, number, raw)
        kind = values.get("line")
        if kind not in LINE_KINDS:
            raise InputError(f"Line {number:,} of {file} holds {kind!r}, which no export has.")
        if kind not in ("header", "footer"):
            yield number, kind, LineFields(values)


def exported_documents(file: Path) -> dict[str, dict[str, str]]:
    """Return path and content hash of each document of each source of an export."""
    documents: dict[str, dict[str, str]] = {}
    for number, raw in _numbered_lines(file):
        if b'"document"' in raw[:200]:
            values = _object(file, number, raw)
            if values.get("line") == "document":
                line = LineFields(values)
                hashes = documents.setdefault(line.text("source"), {})
                hashes[line.text("path")] = line.text("content_hash", "")
    return documents


def _numbered_lines(file: Path) -> Iterator[tuple[int, bytes]]:
    for number, line in raw_lines(file):
        if line is None:
            raise InputError(
                f"Line {number:,} of {file} is longer than {MAX_LINE:,} bytes. {NOTHING_IMPORTED}",
                hint=REEXPORT_HINT,
            )
        yield number, line


def _object(file: Path, number: int, raw: bytes) -> dict[str, Any]:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise InputError(f"Line {number:,} of {file} is not JSON: {error}.", hint=REEXPORT_HINT) from error
    if not isinstance(value, dict):
        raise InputError(f"Line {number:,} of {file} is not a JSON object.", hint=REEXPORT_HINT)
    return value


def _header(file: Path, raw: bytes) -> ExportHeader:
    fields = LineFields(_object(file, 1, raw.removeprefix(BYTE_ORDER_MARK)))
    if fields.text("format", "") != EXPORT_FORMAT:
        raise InputError(f"{file} is not an export of scrubjay. {NOTHING_IMPORTED}")
    version = fields.number("version")
    if version != EXPORT_VERSION:
        raise InputError(
            f"{file} has version {version} of the format ({fields.text('made_by', 'unknown')}); this scrubjay "
            f"reads {EXPORT_VERSION}. {NOTHING_IMPORTED}",
            hint="upgrade scrubjay, or export it again with this version",
        )
    store, versions = fields.text("store"), _versions(fields.nested("versions"))
    return ExportHeader(store, versions, 0, 0, fields.texts("forgotten"))


def _footer(file: Path, number: int, raw: bytes) -> dict[str, Any]:
    value = json_object(raw)
    if value is None or value.get("line") != "footer":
        raise InputError(
            f"{file} was cut short: line {number:,}, its last, is not the footer of an export. {NOTHING_IMPORTED}",
            hint=REEXPORT_HINT,
        )
    return value


def export_name(store: str, memory: str) -> str:
    return f"{store}/{memory}"


def exported_names(reader: Reader, secret: bytes, scope: Scope, store: str) -> list[str]:
    """Return the names of the memories that were forgotten in a store and not stored again."""
    forgotten = local_forgotten_names(reader, secret, scope)
    names = {one if "/" in one else export_name(store, one) for one in forgotten}
    return sorted(names - find_named(reader, names, store).keys())


def local_forgotten_names(reader: Reader, secret: bytes, scope: Scope) -> set[str]:
    """Return the names of the memories that were forgotten here; those of this store lack its prefix."""
    return reader.forgotten_names([forgotten_prefix(secret, key) for key in scope.keys])


def last_additions(events: Iterable[Event]) -> dict[str, int]:
    """Return when the text of each memory was last added again."""
    last: dict[str, int] = {}
    for event in events:
        if event.op == "added":
            last[event.memory] = max(event.at, last.get(event.memory, 0))
    return last


def find_named(reader: Reader, names: Collection[str], store: str) -> dict[str, Mapping[str, bool]]:
    """Return, by name, the ids of the memories that have it, each with whether its text is certainly the one meant.

    It is uncertain if somebody added it again since the stores were last merged. ``store`` is the reader's own.
    """
    found: dict[str, dict[str, bool]] = defaultdict(dict)
    own_names = {
        name: name.partition("@")[0].removeprefix(f"{store}/")
        for name in names
        if name.startswith(f"{store}/")
    }
    here = reader.get(list(set(own_names.values())))
    last_added = last_additions(reader.events(list(here), limit=ALL_EVENTS)) if here else {}
    for name, memory in own_names.items():
        if memory in here:
            since = here[memory].updated_at
            is_same = name == versioned_name(export_name(store, memory), since)
            found[name][memory] = is_same and last_added.get(memory, 0) <= since
    for name in set(names) - own_names.keys():
        events = [event for event in reader.events(run=name.partition("@")[0]) if event.op == "imported"]
        records = reader.get(list({event.memory for event in events})) if events else {}
        last_added = last_additions(reader.events(list(records), limit=ALL_EVENTS)) if records else {}
        for event in events:
            if event.memory in records:
                is_same = "@" in name and name == name_imported(event, records[event.memory].updated_at)
                is_certain = is_same and last_added.get(event.memory, 0) <= event.at
                found[name][event.memory] = is_certain or found[name].get(event.memory, False)
    return dict(found)
