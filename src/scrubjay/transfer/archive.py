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
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, asdict, dataclass, fields, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import UnionType
from typing import Any, Final, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

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
from scrubjay.models.options import MAX_STORED
from scrubjay.models.records import (
    FOREIGN,
    IMPORTED_AT,
    JOINT,
    ORIGINS,
    OWN,
    PRECISIONS,
    STATUSES,
    TIERS,
    TRUST_LEVELS,
    UNTRUSTED,
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


ExportLine: TypeAlias = dict[str, Any]
"""The fields of a line by name. Nothing about them is certain before `read_value` or `read_field` has checked it."""
INTEGERS: Final = range(-MAX_STORED, MAX_STORED + 1)
COUNTS: Final = range(MAX_STORED + 1)
ALLOWED_VALUES: Final[Mapping[type, Mapping[str, Sequence[Any]]]] = {
    Record: {"tier": TIERS, "turn": COUNTS, "origin": ORIGINS, "status": STATUSES},
    EventTime: {"precision": PRECISIONS},
    SourcePlace: dict.fromkeys(("ordinal", "start", "end", "line_start", "line_end"), COUNTS),
    Source: {"trust": TRUST_LEVELS},
    Document: {"size": COUNTS, "cursor": COUNTS},
    Entity: {"kind": graph.ENTITY_KINDS},
    Edge: {"kind": EXPORTED_EDGES, "origin": graph.EDGE_ORIGINS},
    Event: {"op": EXPORTED_EVENTS, "count": COUNTS},
    ConsolidationRun: {"state": RUN_STATES},
}
"""Allowed values of the fields for which the type says too little, by class and name."""
_EXPECTED: Final = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    list: "a list of texts",
    dict: "an object",
}
T = TypeVar("T")


def read_value(cls: Callable[..., T], line: ExportLine, **given: Any) -> T:
    """Build a dataclass from the fields of its names, except those ``given``.

    Raises:
        InputError: A field is missing, of another type, or not allowed.
    """
    for name, kind, default, allowed in _fields_to_read(cls):
        if name not in given:
            given[name] = read_field(line, name, kind, default, allowed)
    return cls(**given)


@cache
def _fields_to_read(cls: Any) -> Sequence[tuple[str, Any, Any, Sequence[Any]]]:
    """Return name, type, default and allowed values of each field."""
    types, allowed = get_type_hints(cls), ALLOWED_VALUES.get(cls, {})
    return [(each.name, types[each.name], each.default, allowed.get(each.name, ())) for each in fields(cls)]


def read_field(
    line: ExportLine, name: str, kind: Any, default: Any = MISSING, allowed: Sequence[Any] = ()
) -> Any:
    """Return a field as a value of the type ``kind``; raises like `read_value`."""
    if name not in line and default is not MISSING:
        return default
    value = line.get(name)
    if isinstance(kind, UnionType):  # with None
        if value is None:
            return None
        kind = get_args(kind)[0]
    if value is None:
        raise InputError(f"{name} is missing")
    if get_origin(kind) is Mapping:
        values = _checked(name, value, dict)
        return {key: read_field(values, key, get_args(kind)[1], allowed=allowed) for key in values}
    if get_origin(kind) is tuple:
        return tuple(_checked(name, text, str) for text in _checked(name, value, list))
    if kind is float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise InputError(f"{name} is {_shorten(value)}, not a number from 0 to 1")
        return float(value)
    if kind in _EXPECTED:
        return _checked(name, value, kind, allowed)
    return read_value(kind, _checked(name, value, dict))


def _checked(name: str, value: Any, kind: type, allowed: Sequence[Any] = ()) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise InputError(f"{name} is {_shorten(value)}, not {_EXPECTED[kind]}")
    if kind is int and value not in (allowed or INTEGERS):
        least = (allowed or INTEGERS)[0]
        raise InputError(f"{name} is {value}, not a whole number of 64 bits from {least}")
    if allowed and value not in allowed:
        raise InputError(f"{name} is {_shorten(value)}; known are {', '.join(allowed)}")
    return _storable(value) if isinstance(value, str) else value


def _storable(text: str) -> str:
    if text.isascii() and "\x00" not in text:
        return text
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


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

    def _key(self, line: ExportLine) -> str:
        """Return the visibility key of a row, never one that more people see."""
        key: str = read_field(line, "key", str)
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

    def record(self, line: ExportLine) -> Record:
        record = read_value(
            Record, {"title": ""} | line, key=self._key(line), owner=self._scope.user, content_hash=""
        )
        parsed = parse_id(record.id)
        if parsed is None or parsed[0] != record.tier:
            raise InputError(f"{record.id!r} is not the id of a memory of tier {record.tier}")
        if record.place is not None:
            _require_inside(record.place.path)
        if record.event is not None and record.event.end < record.event.start:
            raise InputError("event ends before it starts")
        if None not in (record.valid_from, record.valid_until) and record.valid_until < record.valid_from:  # type: ignore[operator]
            raise InputError("valid_until is before valid_from")
        content = self._clean(record.content)
        if not content:
            raise InputError("content is empty")
        return replace(
            record,
            content=content,
            content_hash=text_hash(content),
            title=self._clean(record.title),
            heading_path=tuple(map(self._clean, record.heading_path)),
            tags=tuple(sorted({self._clean(tag).strip().lower() for tag in record.tags} - {""})),
            origin=UNTRUSTED if self._untrusted else record.origin,
        )

    def source(self, line: ExportLine) -> Source:
        work = read_field(line, "repositories", Mapping[str, str] | None, None, (OWN, JOINT, FOREIGN))
        source = read_value(
            Source,
            line,
            key=self._key(line),
            synced_at=IMPORTED_AT,
            share=False,
            # Without their heads: the next sync looks at the commits that are here.
            repositories=None if work is None else tuple((folder, work[folder], "") for folder in work),
        )
        if not source.root.startswith("/"):
            raise InputError(f"root is {source.root!r}, not an absolute path")
        return replace(
            source,
            description=self._clean(source.description),
            trust=UNTRUSTED if self._untrusted else source.trust,
        )

    def document(self, line: ExportLine) -> Document:
        document = read_value(Document, {"title": "", "content_hash": ""} | line)
        _require_inside(document.path)
        return replace(document, title=self._clean(document.title))

    def concept(self, line: ExportLine) -> Entity:
        kind = read_field(line, "kind", str, allowed=graph.ENTITY_KINDS)
        concept = read_value(Entity, line, key=self._key(line), kind=kind)
        if (parse_node_id(concept.id) or ("",))[0] != "concept":
            raise InputError(f"{concept.id!r} is not the id of a concept")
        name = self._clean(concept.name)
        if not name.strip():
            raise InputError("name is empty")
        aliases = tuple(sorted({self._clean(alias) for alias in concept.aliases} - {""}))
        return replace(concept, name=name, aliases=aliases)

    def edge(self, line: ExportLine) -> Edge:
        return read_value(Edge, line, key=self._key(line), rule=self._rule(read_field(line, "rule", str, "")))

    def event(self, line: ExportLine) -> Event:
        """Return an event without its key, which is its memory's."""
        event = read_value(Event, line, key="")
        op, before = event.op, event.before
        if before and before not in STATUSES and (op != "reinforced" or previous_confidence(before) is None):
            raise InputError(f"before is {before[:40]!r}, which no event has")
        return replace(event, actor=self._clean(event.actor))

    def run(self, line: ExportLine) -> ConsolidationRun:
        return read_value(ConsolidationRun, {"rules": "", "counts": {}} | line, key=self._key(line))


def _require_inside(path: str) -> None:
    if path.startswith("/") or ".." in path.split("/"):
        raise InputError(f"path is {path!r}, which leads out of its source")


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
    footer = _footer(file, number, last)
    lines, sha256 = read_field(footer, "lines", int), read_field(footer, "sha256", str)
    actual = digest.hexdigest()
    if lines != number or sha256 != actual:
        raise InputError(
            f"{file} is not as it was written: its footer records {lines:,} lines and the hash {sha256[:12]}…; "
            f"there are {number:,} with {actual[:12]}…. {NOTHING_IMPORTED}",
            hint=REEXPORT_HINT,
        )
    counts = read_field(footer, "counts", Mapping[str, int], {})
    return replace(header, lines=lines, memories=counts.get("memory", 0))


def read_export_lines(file: Path) -> Iterator[tuple[int, str, ExportLine]]:
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
            yield number, kind, values


def exported_documents(file: Path) -> dict[str, dict[str, str]]:
    """Return path and content hash of each document of each source of an export."""
    documents: dict[str, dict[str, str]] = {}
    for number, raw in _numbered_lines(file):
        if b'"document"' in raw[:200]:
            values = _object(file, number, raw)
            if values.get("line") == "document":
                hashes = documents.setdefault(read_field(values, "source", str), {})
                hashes[read_field(values, "path", str)] = read_field(values, "content_hash", str, "")
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
    header = _object(file, 1, raw.removeprefix(BYTE_ORDER_MARK))
    if read_field(header, "format", str, "") != EXPORT_FORMAT:
        raise InputError(f"{file} is not an export of scrubjay. {NOTHING_IMPORTED}")
    version = read_field(header, "version", int)
    if version != EXPORT_VERSION:
        made_by = read_field(header, "made_by", str, "unknown")
        raise InputError(
            f"{file} has version {version} of the format ({made_by}); this scrubjay reads {EXPORT_VERSION}. "
            f"{NOTHING_IMPORTED}",
            hint="upgrade scrubjay, or export it again with this version",
        )
    return read_value(ExportHeader, header, lines=0, memories=0)


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
