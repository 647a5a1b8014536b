"""Import formats of other tools, and their detection.

Folders of OpenClaw (2026.9.6, "Memory overview") and Claude Code (2.1, "Manage Claude's memory") are still written by
their tools, so they become synced sources instead of being copied.

agentmemory: rohitg00/agentmemory, ``ExportData`` in ``src/types.ts`` (0.3 to 0.9.29, 7d29590). Basic Memory:
basicmachines-co/basic-memory, ``NOTE-FORMAT.md``, ``markdown/plugins.py`` (32235b7). JSONL: docs/reference/export.md.
MCP memory server: modelcontextprotocol/servers, ``src/memory/index.ts`` (0103dfb). mem0: mem0ai/mem0,
``mem0/memory/main.py`` and docs.mem0.ai, "Exporting memories" (2026).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeAlias

from scrubjay.errors import InputError
from scrubjay.ingest.reader import parse_front_matter, split_front_matter
from scrubjay.ingest.transcripts.base import (
    BYTE_ORDER_MARK,
    HEAD_BYTES,
    as_array,
    as_micros,
    as_object,
    as_string,
    joined_text,
)
from scrubjay.models.dates import to_datetime
from scrubjay.models.lifecycle import NewMemory
from scrubjay.models.options import options_of
from scrubjay.models.reports import RejectedItem
from scrubjay.transfer.archive import MAX_LINE, NOTHING_IMPORTED, raw_lines, reraise_read_errors


@dataclass(frozen=True, slots=True)
class ImportedMemory:
    """A memory to import.

    Attributes:
        new: The memory, without a visibility: imports are private to the importer.
        where: Its position, for errors: ``line 7``.
        about: Names of entities that it refers to.
        name: What other items call it.
        superseded: Whether it was superseded in the other tool.
    """

    new: NewMemory
    where: str
    about: tuple[str, ...] = ()
    name: str = ""
    superseded: bool = False


@dataclass(frozen=True, slots=True)
class ImportedName:
    name: str
    aliases: tuple[str, ...] = ()
    where: str = ""


@dataclass(frozen=True, slots=True)
class ImportedRelation:
    """A relation between two items by their names; ``rule`` is what the tool called it."""

    src: str
    dst: str
    kind: str = "links"
    rule: str = ""


@dataclass(frozen=True, slots=True)
class SyncedFolder:
    """Files to sync as a source instead of copying them; ``include`` are gitignore patterns."""

    path: Path
    include: tuple[str, ...] = ()
    description: str = ""


ImportedItem: TypeAlias = ImportedMemory | ImportedName | ImportedRelation | RejectedItem
FormatReader: TypeAlias = Callable[[Path], Iterator[ImportedItem]]


MAX_FILE: Final = 256 * 1024 * 1024
"""Bytes of a file that is one JSON value: parsed it takes several times that."""


def json_lines(file: Path) -> Iterator[tuple[str, dict[str, Any]] | RejectedItem]:
    for number, raw in raw_lines(file):
        where = f"line {number:,}"
        if raw is None:
            yield RejectedItem(where, f"it is longer than {MAX_LINE:,} bytes")
        elif (line := raw.removeprefix(BYTE_ORDER_MARK) if number == 1 else raw).strip():
            yield _json_object(where, line)


def _json_object(where: str, raw: bytes) -> tuple[str, dict[str, Any]] | RejectedItem:
    try:
        value = json.loads(raw)
    except UnicodeDecodeError as error:
        return RejectedItem(where, f"it is not UTF-8 at byte {error.start}")
    except (ValueError, RecursionError) as error:
        return RejectedItem(where, f"it is not JSON: {str(error)[:100]}")
    return (where, value) if isinstance(value, dict) else RejectedItem(where, "it is not a JSON object")


def read_json(file: Path) -> Any:
    """Return the JSON value of a file.

    Raises:
        SourceError: The file cannot be read.
        InputError: It is too large, or not JSON.
    """
    with reraise_read_errors(file):
        size = file.stat().st_size
        data = b"" if size > MAX_FILE else file.read_bytes()
    if size > MAX_FILE:
        raise InputError(
            f"{file} has {size:,} bytes in one JSON value; at most {MAX_FILE:,} are read. {NOTHING_IMPORTED}",
            hint="export it in parts, or as JSONL: docs/reference/export.md",
        )
    try:
        return json.loads(data.removeprefix(BYTE_ORDER_MARK))
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 at byte {error.start}. {NOTHING_IMPORTED}") from error
    except RecursionError as error:
        raise InputError(f"{file} is nested too deeply to be read. {NOTHING_IMPORTED}") from error
    except ValueError as error:
        line = getattr(error, "lineno", 0)
        raise InputError(
            f"{file} is not JSON: {error} (line {line}). {NOTHING_IMPORTED}",
            hint="it may have been cut short",
        ) from error


_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")


def iso_date(value: object) -> str | None:
    """Return ISO text of ISO text or a number since 1970; None where it is not a time.

    >>> iso_date("2026-03-01"), iso_date("2026-03-01T10:00:00Z")
    ('2026-03-01', '2026-03-01T10:00:00+00:00')
    """
    at = as_micros(value)
    if at is not None and isinstance(value, str) and _DAY.fullmatch(value):
        return value  # a day has no zone
    return None if at is None else to_datetime(at).isoformat()


def as_texts(value: object) -> list[str]:
    """Return the non-blank texts of a list, or of a single text.

    >>> as_texts(["a", 7, " "]), as_texts("a"), as_texts(None)
    (['a'], ['a'], [])
    """
    texts = [value] if isinstance(value, str) else map(as_string, as_array(value))
    return [one for one in texts if one.strip()]


def spoken_name(name: str) -> str:
    return " ".join(name.replace("_", " ").split())


def relation_sentence(src: str, verb: str, dst: str) -> str:
    """Return a relation as a sentence.

    >>> relation_sentence("John_Smith", "works_at", "Anthropic")
    'John Smith works at Anthropic.'
    """
    return f"{spoken_name(src)} {spoken_name(verb)} {spoken_name(dst)}."


AGENTMEMORY_TIERS: Final = {"preference": "lesson", "workflow": "procedural"}
"""Type of a memory to its tier; all others are facts."""
AGENTMEMORY_ORIGINS: Final = {"user": "owner", "tool": "tool", "shared": "untrusted"}
"""Channel that a memory came through to its origin; all others are the agent's."""
AGENTMEMORY_SECTIONS: Final = (
    "memories", "summaries", "semanticMemories", "proceduralMemories", "lessons", "insights", "crystals",
)  # fmt: skip
UNREAD_SECTIONS: Final = (
    "profiles", "graphNodes", "graphEdges", "actions", "actionEdges", "routines", "signals", "checkpoints",
    "sentinels", "sketches", "facets", "accessLogs",
)  # fmt: skip


def read_agentmemory(file: Path) -> Iterator[ImportedItem]:
    """Read an export; its graph, actions, routines, signals and access logs are reported as left out.

    Raises:
        InputError: It is not an export of agentmemory.
    """
    export = read_json(file)
    if not isinstance(export, dict) or not isinstance(export.get("version"), str):
        raise InputError(f"{file} is no export of agentmemory: it has no version. {NOTHING_IMPORTED}")
    projects = {
        as_string(one.get("id")): as_string(one.get("project")) or None
        for one in map(as_object, as_array(export.get("sessions")))
    }
    for session, entries in as_object(export.get("observations")).items():
        for place, entry in enumerate(map(as_object, as_array(entries)), 1):
            where = f"observation of {session} {place:,}"
            yield from _agentmemory_item(
                where, "observations", entry, session=session, project=projects.get(session)
            )
    for section in AGENTMEMORY_SECTIONS:
        rows = [as_object(one) for one in as_array(export.get(section))]
        for place, entry in enumerate(rows, 1):
            yield from _agentmemory_item(f"{section} {place:,}", section, entry)
        for entry in rows:
            yield from _agentmemory_relations(entry)
    for section in UNREAD_SECTIONS:
        if unread := export.get(section):
            yield RejectedItem(section, f"{len(unread):,} entries of an unsupported kind were left out")


def _agentmemory_item(
    where: str, section: str, entry: dict[str, Any], **overrides: Any
) -> Iterator[ImportedItem]:
    def text(name: str) -> str:
        return as_string(entry.get(name))

    def bullets(name: str) -> str:
        return "\n".join(f"- {one}" for one in as_texts(entry.get(name)))

    title = text("title")
    match section:
        case "observations":
            content = joined_text((title, text("subtitle"), text("narrative"), bullets("facts")))
            tier = "observation"
            overrides["date"] = iso_date(entry.get("timestamp"))
        case "memories":
            content, tier = text("content"), AGENTMEMORY_TIERS.get(text("type"), "semantic")
            overrides["valid_until"] = iso_date(entry.get("forgetAfter"))
        case "summaries":
            content = joined_text((title, text("narrative"), bullets("keyDecisions")))
            tier = "crystal"
            overrides["session"] = text("sessionId") or None
        case "semanticMemories":
            content, tier, title = text("fact"), "semantic", ""
        case "proceduralMemories":
            title, trigger = text("name"), text("triggerCondition")
            steps = "\n".join(f"{n}. {step}" for n, step in enumerate(as_texts(entry.get("steps")), 1))
            content, tier = joined_text((title, f"When: {trigger}" if trigger else "", steps)), "procedural"
        case "lessons":
            content, tier, title = joined_text((text("content"), text("context"))), "lesson", ""
        case "insights":
            content, tier = text("content"), "insight"
        case _:
            content = joined_text((text("narrative"), bullets("keyOutcomes"), bullets("lessons")))
            tier, title = "crystal", ""
            overrides["session"] = text("sessionId") or None
    if section in ("lessons", "insights") and entry.get("deleted") is True:
        return
    if not content.strip():
        yield RejectedItem(where, "it has no text")
        return
    sessions = as_texts(entry.get("sessionIds")) or as_texts(entry.get("sourceSessionIds"))
    confidence = entry.get("confidence")
    fields: dict[str, Any] = {
        "date": iso_date(entry.get("createdAt")),
        "session": sessions[0] if len(sessions) == 1 else None,
        "project": text("project") or None,
        "agent": text("agentId") or None,
        "origin": AGENTMEMORY_ORIGINS.get(as_string(as_object(entry.get("origin")).get("channel")), "agent"),
        "tags": as_texts(entry.get("tags")) + as_texts(entry.get("type")),
    }
    if isinstance(confidence, int | float) and not isinstance(confidence, bool) and 0 <= confidence <= 1:
        fields["confidence"] = float(confidence)
    about = tuple(as_texts(entry.get("concepts")))
    yield from (ImportedName(name, (), where) for name in about)
    new = NewMemory(content, tier, title, **(fields | overrides))
    yield ImportedMemory(new, where, about, text("id"), entry.get("isLatest") is False)


def _agentmemory_relations(entry: dict[str, Any]) -> Iterator[ImportedRelation]:
    memory = as_string(entry.get("id"))
    for field, kind, rule in (
        ("supersedes", "supersedes", ""),
        ("relatedIds", "links", ""),
        ("sourceMemoryIds", "derived_from", "sourceMemoryIds"),
        ("sourceObservationIds", "derived_from", "sourceObservationIds"),
        ("sourceLessonIds", "derived_from", "sourceLessonIds"),
        ("sourceCrystalIds", "derived_from", "sourceCrystalIds"),
    ):
        for other in as_texts(entry.get(field)):
            yield ImportedRelation(memory, other, kind, rule)


MAX_NOTE: Final = 10 * 1024 * 1024
BASIC_MEMORY_TIERS: Final = {
    "lesson": "lesson",
    "preference": "lesson",
    "howto": "procedural",
    "step": "procedural",
}
"""Category of an observation to its tier; all others are facts."""
_HEADING = re.compile(r"\s*#{1,6}(?:\s|\Z)")
_LIST_ITEM = re.compile(r"\s*[-*+]\s+(.*\S)\s*\Z")
_OBSERVATION = re.compile(r"\[([^\[\]()]+)\]\s+(.+)")
_TIMESTAMP = re.compile(r"\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?(?:\s+-\s+[\d:.,]+)?")
_RELATION = re.compile(r"(?:\"([^\"]+)\"|'([^']+)'|([^\s\[\]]+))\s*\[\[([^\[\]]+)\]\]\s*(?:\([^()]*\))?")
_LINK = re.compile(r"\[\[([^\[\]]+)\]\]")
_TAG = re.compile(r"(?:^|\s)#([^\s#]+)")


@dataclass(frozen=True, slots=True)
class _Note:
    path: str
    title: str
    tags: tuple[str, ...]
    date: str | None


def read_basic_memory(path: Path) -> Iterator[ImportedItem]:
    """Read notes in the order of their paths: observations become facts, the rest of a note one memory."""
    folder = path if path.is_dir() else path.parent
    files = sorted(path.rglob("*.md")) if path.is_dir() else [path]
    for file in files:
        name = file.relative_to(folder).as_posix()
        if any(part.startswith(".") for part in name.split("/")):
            continue
        try:
            text = "" if file.stat().st_size > MAX_NOTE else file.read_text("utf-8-sig")
        except OSError as error:
            yield RejectedItem(name, f"it cannot be read: {error.strerror}")
            continue
        except UnicodeDecodeError as error:
            yield RejectedItem(name, f"it is not UTF-8 at byte {error.start}")
            continue
        if not text and file.stat().st_size:
            yield RejectedItem(name, f"it has more than {MAX_NOTE:,} bytes")
            continue
        yield from _note_items(name, file.stem, text.replace("\r\n", "\n"))


def _note_items(path: str, stem: str, text: str) -> Iterator[ImportedItem]:
    raw, end = split_front_matter(text)
    entry, problem = parse_front_matter(raw)
    if problem:
        yield RejectedItem(path, problem)
    tags = as_texts(entry.get("tags"))
    if isinstance(entry.get("tags"), str):
        tags = [tag.strip() for tag in tags[0].split(",")] if tags else []
    title = as_string(entry.get("title")).strip() or stem
    date = as_string(entry.get("created")) or as_string(entry.get("date")) or None
    note = _Note(path, title, tuple(tag for tag in tags if tag), date)
    yield ImportedName(title, (), path)
    lines, items = _split_note(note, text[end:], text.count("\n", 0, end) + 1)
    prose = "\n".join(lines).strip()
    if any(line.strip() and not _HEADING.match(line) for line in lines):
        new = NewMemory(prose, "observation", title, tags=note.tags, date=note.date)
        yield ImportedMemory(new, path, (title,), title)
    yield from items


def _split_note(note: _Note, body: str, first: int) -> tuple[list[str], list[ImportedItem]]:
    lines: list[str] = []
    items: list[ImportedItem] = []
    fenced = False
    for number, line in enumerate(body.split("\n"), first):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        item = None if fenced else _LIST_ITEM.match(line)
        if relation := _RELATION.fullmatch(item[1]) if item else None:
            kind = relation[1] or relation[2] or relation[3]
            items.append(ImportedRelation(note.title, relation[4].strip(), "links", kind))
        elif parsed := _observation(note, item[1], f"{note.path} line {number:,}") if item else []:
            items += parsed
            continue
        elif not fenced:
            items += _links(note, line)
        lines.append(line)
    return lines, items


def _links(note: _Note, text: str) -> list[ImportedItem]:
    return [
        ImportedRelation(note.title, target.strip(), "links", "links_to") for target in _LINK.findall(text)
    ]


def _observation(note: _Note, text: str, where: str) -> list[ImportedItem]:
    match = _OBSERVATION.fullmatch(text)
    category = match[1].strip() if match else ""
    is_checkbox = category in ("x", "X") or (len(category) == 1 and not category.isalnum())
    if not match or not category or is_checkbox or _TIMESTAMP.fullmatch(category):
        return []
    content = match[2].strip()
    tags = (*note.tags, category, *_TAG.findall(content))
    tier = BASIC_MEMORY_TIERS.get(category.lower().replace("-", ""), "semantic")
    new = NewMemory(f"{note.title}: {content}", tier, note.title, tags=tags, date=note.date)
    return [ImportedMemory(new, where, (note.title,), note.title), *_links(note, content)]


MEMORY_FIELDS: Final = tuple(
    field for field in options_of(NewMemory) if field.name not in ("visibility", "group")
)
"""Fields of a line that are fields of a memory."""
OTHER_FIELDS: Final = frozenset({"content", "text", "concepts", "name", "links", "id", "metadata"})
JSON_TYPES: Final[dict[str, type | tuple[type, ...]]] = {
    "Sequence[str]": list,
    "bool": bool,
    "int": int,
    "float": (int, float),
}
"""Annotation to types of a value in JSON; all others are texts."""


def read_jsonl(file: Path) -> Iterator[ImportedItem]:
    for record in json_lines(file):
        if isinstance(record, RejectedItem):
            yield record
        else:
            yield from _line_item(*record)


def _line_item(where: str, entry: dict[str, Any]) -> Iterator[ImportedItem]:
    problem = _line_problem(entry)
    if problem:
        yield RejectedItem(where, problem)
        return
    about = tuple(as_texts(entry.get("concepts")))
    name = as_string(entry.get("name"))
    fields = {field.name: entry[field.name] for field in MEMORY_FIELDS if entry.get(field.name) is not None}
    yield from (ImportedName(one, (), where) for one in about)
    yield ImportedMemory(NewMemory(entry.get("content") or entry["text"], **fields), where, about, name)
    yield from (ImportedRelation(name, other) for other in as_texts(entry.get("links")) if name)


def _line_problem(entry: dict[str, Any]) -> str:
    known = sorted({field.name for field in MEMORY_FIELDS} | OTHER_FIELDS)
    if unknown := sorted(entry.keys() - set(known)):
        return f"it has a field {unknown[0]!r}; known are {', '.join(known)}"
    if not isinstance(entry.get("content") or entry.get("text"), str):
        return "it has no text under `content`"
    for field in MEMORY_FIELDS:
        value = entry.get(field.name)
        kind = JSON_TYPES.get(field.kind, str)
        if value is not None and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
            return f"{field.name} is {str(value)[:40]!r}, which is not what {field.name} can be"
    if not all(isinstance(tag, str) for tag in entry.get("tags") or ()):
        return "tags holds something that is no text"
    return ""


def read_mcp_memory(file: Path) -> Iterator[ImportedItem]:
    """Read a graph: observations become facts that begin with their entity's name."""
    for record in _graph_records(file):
        if isinstance(record, RejectedItem):
            yield record
        elif record[1].get("type") == "entity":
            yield from _entity_items(*record)
        elif record[1].get("type") == "relation":
            yield _graph_relation(*record)
        else:
            yield RejectedItem(
                record[0], f"its type is {record[1].get('type')!r}, neither entity nor relation"
            )


def _graph_records(file: Path) -> Iterator[tuple[str, dict[str, Any]] | RejectedItem]:
    records = json_lines(file)
    first = next(records, None)
    if first is None:
        return
    if isinstance(first, RejectedItem):  # the first of several lines of one graph, or a broken line
        try:
            graph = as_object(read_json(file))
        except InputError:
            graph = {}
    else:
        graph = first[1]
    if "entities" not in graph:
        yield first
        yield from records
        return
    for name, kind in (("entities", "entity"), ("relations", "relation")):
        for place, value in enumerate(as_array(graph.get(name)), 1):
            where = f"{kind} {place}"
            if isinstance(value, dict):
                yield where, {**value, "type": kind}
            else:
                yield RejectedItem(where, "it is not a JSON object")


def _entity_items(where: str, entry: dict[str, Any]) -> Iterator[ImportedItem]:
    name = as_string(entry.get("name")).strip()
    if not name or not isinstance(entry.get("observations"), list):
        yield RejectedItem(where, "it is an entity without a name, or without a list of observations")
        return
    shown = spoken_name(name)
    yield ImportedName(shown, (name,) if shown != name else (), where)
    kind = as_string(entry.get("entityType")).strip()
    for text in as_texts(entry["observations"]):
        new = NewMemory(
            f"{shown}: {text.strip()}", "semantic", shown, tags=(kind,) if kind else (), origin="agent"
        )
        yield ImportedMemory(new, where, (shown,))


def _graph_relation(where: str, entry: dict[str, Any]) -> ImportedItem:
    src, verb, dst = (as_string(entry.get(name)).strip() for name in ("from", "relationType", "to"))
    if not (src and verb and dst):
        return RejectedItem(where, "it is a relation without from, to or relationType")
    new = NewMemory(relation_sentence(src, verb, dst), "semantic", spoken_name(src), origin="agent")
    return ImportedMemory(new, where, (spoken_name(src), spoken_name(dst)))


def read_mem0(file: Path) -> Iterator[ImportedItem]:
    """Read an array of memories, alone or under ``results`` or ``memories``.

    Raises:
        InputError: It holds no array of memories.
    """
    value = read_json(file)
    row = as_object(value)
    memories = value if isinstance(value, list) else row.get("results", row.get("memories"))
    if not isinstance(memories, list):
        raise InputError(f"{file} holds no array of memories, alone or as `results`. {NOTHING_IMPORTED}")
    for place, entry in enumerate(memories, 1):
        yield _mem0_memory(f"memory {place:,}", as_object(entry))
    for place, entry in enumerate(as_array(row.get("relations")), 1):
        yield from _mem0_relation(f"relation {place:,}", as_object(entry))


def _mem0_memory(where: str, entry: dict[str, Any]) -> ImportedItem:
    text = as_string(entry.get("memory")) or as_string(entry.get("text")) or as_string(entry.get("data"))
    if not text.strip():
        return RejectedItem(where, "it has no text under `memory`")
    metadata = as_object(entry.get("metadata"))
    tags = as_texts(entry.get("categories")) + as_texts(metadata.get("category"))
    tags += as_texts(metadata.get("tags"))
    if user := as_string(entry.get("user_id")).strip():
        tags.append(f"user:{user}")
    new = NewMemory(
        text,
        "semantic",
        tags=tags,
        date=iso_date(entry.get("created_at")),
        session=as_string(entry.get("run_id")) or None,
        agent=as_string(entry.get("agent_id")) or None,
        valid_until=iso_date(entry.get("expiration_date")) or as_string(entry.get("expiration_date")) or None,
        origin="agent",
    )
    return ImportedMemory(new, where)


def _mem0_relation(where: str, entry: dict[str, Any]) -> Iterator[ImportedItem]:
    src, verb = as_string(entry.get("source")), as_string(entry.get("relationship") or entry.get("relation"))
    dst = as_string(entry.get("target") or entry.get("destination"))
    if not (src.strip() and verb.strip() and dst.strip()):
        yield RejectedItem(where, "it has no source, relationship or target")
        return
    names = (spoken_name(src), spoken_name(dst))
    yield from (ImportedName(name, (), where) for name in names)
    new = NewMemory(relation_sentence(src, verb, dst), "semantic", names[0], origin="agent")
    yield ImportedMemory(new, where, names)


OPENCLAW_FILES: Final = ("/MEMORY.md", "/memory.md", "/USER.md", "/DREAMS.md", "/memory/**/*.md")
CLAUDE_HOME: Final = ("/CLAUDE.md", "/rules/**/*.md", "/projects/*/memory/**/*.md")
CLAUDE_PROJECT: Final = ("/CLAUDE.md", "/CLAUDE.local.md", "/.claude/CLAUDE.md", "/.claude/rules/**/*.md")


def openclaw_folder(path: Path) -> SyncedFolder | None:
    """Return what to sync of an OpenClaw workspace, or of its parent folder."""
    if path.is_file():
        return SyncedFolder(path, (), "OpenClaw's memory") if path.name == "MEMORY.md" else None
    if not _has_any(path, ("MEMORY.md", "memory.md", "memory/*.md")):
        path = path / "workspace"
    if not _has_any(path, ("MEMORY.md", "memory.md", "memory/*.md")):
        return None
    return SyncedFolder(path, OPENCLAW_FILES, "OpenClaw's memory")


def claude_code_folder(path: Path) -> SyncedFolder | None:
    """Return what to sync of Claude Code's folder, or of a project's."""
    text = "Claude Code's memory"
    if path.is_file():
        return SyncedFolder(path, (), text) if path.name in ("CLAUDE.md", "CLAUDE.local.md") else None
    if path.name == "memory" and path.parent.parent.name == "projects" and _has_any(path, ("*.md",)):
        return SyncedFolder(path, (), text)
    if _has_any(path, ("projects/*/memory/*.md",)):
        return SyncedFolder(path, CLAUDE_HOME, text)
    if _has_any(path, ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", ".claude/rules/*.md")):
        return SyncedFolder(path, CLAUDE_HOME if path.name == ".claude" else CLAUDE_PROJECT, text)
    return None


def _has_any(folder: Path, patterns: tuple[str, ...]) -> bool:
    return folder.is_dir() and any(next(folder.glob(pattern), None) is not None for pattern in patterns)


MAX_NOTES: Final = 50
IMPORT_FORMATS: Final = (
    "auto", "scrubjay", "openclaw", "claude-code", "basic-memory", "mem0", "agentmemory", "mcp-memory", "jsonl",
)  # fmt: skip
FOLDER_FORMATS: Final = {"openclaw": openclaw_folder, "claude-code": claude_code_folder}
_PERMALINK = re.compile(r"\A\ufeff?---\s*\n(?:.*\n)*?permalink:", re.MULTILINE)
_KNOWN_FORMATS: Final = (
    "an export of scrubjay, of agentmemory (version, sessions, observations) or of mem0 (results with memory), "
    "a graph of the MCP memory server (entities, relations), lines with content, notes of Basic Memory "
    "(permalink), CLAUDE.md or projects/*/memory of Claude Code, MEMORY.md or memory/ of OpenClaw"
)


def detect_format(path: Path) -> str:
    """Return the format of a file or folder.

    Raises:
        SourceError: It cannot be read.
        InputError: Its format is unknown.
    """
    with reraise_read_errors(path):
        name = _folder_format(path) if path.is_dir() else _file_format(path)
    if name is None:
        raise InputError(
            f"{path} has an unknown format. Looked for: {_KNOWN_FORMATS}. Nothing was imported.",
            hint="name it with --format; `scrubjay sync` ingests plain notes and conversations",
        )
    return name


def synced_folder(path: Path, format: str) -> SyncedFolder:
    """Return what to sync of a folder of Markdown.

    Raises:
        InputError: The tool keeps nothing there.
    """
    folder = FOLDER_FORMATS[format](path)
    if folder is None:
        raise InputError(
            f"{path} holds no memory of {format}. Nothing was imported.",
            hint="docs/conversations.md lists what it looks for",
        )
    return folder


def format_reader(format: str) -> FormatReader:
    return {
        "agentmemory": read_agentmemory,
        "basic-memory": read_basic_memory,
        "jsonl": read_jsonl,
        "mcp-memory": read_mcp_memory,
        "mem0": read_mem0,
    }[format]


def _folder_format(path: Path) -> str | None:
    if claude_code_folder(path) is not None:
        return "claude-code"
    notes = islice((file for file in path.rglob("*.md") if file.is_file()), MAX_NOTES)
    if any(_PERMALINK.match(_read_head(file).decode("utf-8", "replace")) for file in notes):
        return "basic-memory"
    return "openclaw" if openclaw_folder(path) is not None else None


def _file_format(path: Path) -> str | None:
    head = _read_head(path).removeprefix(BYTE_ORDER_MARK).lstrip()
    if path.suffix.lower() in (".md", ".markdown"):
        if claude_code_folder(path) is not None:
            return "claude-code"
        if _PERMALINK.match(head.decode("utf-8", "replace").replace("\r\n", "\n")):
            return "basic-memory"
        return "openclaw" if openclaw_folder(path) is not None else None
    for line in head.split(b"\n"):
        value = _first_object(line)
        name = _record_format(value) if value is not None else None
        if name is not None:
            return name
    return _record_format(dict.fromkeys(re.findall(r'"(\w+)"\s*:', head.decode("utf-8", "replace"))))


def _record_format(value: dict[str, Any]) -> str | None:
    if value.get("format") == "scrubjay-export":
        return "scrubjay"
    if value.get("type") in ("entity", "relation") or "entityType" in value:
        return "mcp-memory"
    if {"entities", "relations"} <= value.keys():
        return "mcp-memory"
    if {"version", "exportedAt"} <= value.keys():
        return "agentmemory"
    results = value.get("results")
    if "memory" in value or results == [] or any("memory" in as_object(one) for one in as_array(results)[:1]):
        return "mem0"
    return "jsonl" if isinstance(value.get("content", value.get("text")), str) else None


def _first_object(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list):
        value = value[0] if value else None
    return value if isinstance(value, dict) else None


def _read_head(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(HEAD_BYTES)
