"""Document reader: parse a file's metadata, redact its text and cut it into passages.

Metadata comes from YAML front matter, from page properties of Logseq and Dataview (``title:: …`` in the first
paragraph) and from lines of tags (``#seeds #winter``); the first that names a field wins, tags are merged. A date may
also come from the path, a title from the first heading. Front matter that is not YAML is read line by line; if it
mentions a scope, the document is private. Unreadable metadata is reported and never raises.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import lru_cache
from itertools import chain
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from scrubjay.ingest.alignment import LABELLER_VERSION, DraftPassage
from scrubjay.ingest.chunker import CHUNKER_VERSION, ChunkSettings, Passage, chunk_text
from scrubjay.ingest.files import FileText
from scrubjay.ingest.vaults import VaultNote
from scrubjay.models.dates import parse_when
from scrubjay.models.ids import text_hash
from scrubjay.models.records import Document, EventTime, SourcePlace, StageVersions
from scrubjay.models.results import PositionUnit, is_paged, position_unit
from scrubjay.redaction import REDACTOR_VERSION
from scrubjay.text.markdown import (
    PAGE_END,
    Block,
    front_matter_end,
    is_code_file,
    normalize_newlines,
    page_blocks,
    pages_of,
    parse_blocks,
    without_code_and_comments,
)
from scrubjay.text.tokenizer import TOKENIZER_VERSION

if TYPE_CHECKING:
    from scrubjay.redaction.redactor import RedactedText

MAX_FRONT_MATTER = 64 * 1024

MAX_YAML_DEPTH = 16


def split_front_matter(flat: str) -> tuple[str, int]:
    """Return the front matter of a text without its dashes, and where the text behind it begins."""
    end = front_matter_end(flat)
    return (flat[flat.find("\n") + 1 : flat.rfind("\n", 0, end - 1) + 1] if end else ""), end


def parse_front_matter(raw: str) -> tuple[Mapping[str, object], str]:
    """Return the fields of front matter by lower-case name, and what is wrong with it as a sentence.

    Values are strings, lists or mappings: no YAML types, so that a tag ``no`` stays ``no``. Where the block is
    not YAML, its lines ``key: value`` are read one by one.
    """
    if not raw:
        return {}, ""
    import yaml

    if len(raw) > MAX_FRONT_MATTER:
        return {}, f"The front matter has {len(raw):,} characters; at most {MAX_FRONT_MATTER:,} are read."
    loader: type = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        problem = _unsafe_yaml_reason(yaml.parse(raw, Loader=loader))
        fields = None if problem else yaml.load(raw, Loader=loader)
    except yaml.YAMLError as error:
        position = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or "it cannot be parsed"
        where = f" (line {position.line + 2})" if position else ""  # the dashes are line 1
        return _fields_by_line(raw, loader), f"The front matter is not YAML: {reason}{where}."
    except (ValueError, OverflowError):  # an escape beyond Unicode, half of a surrogate pair
        return {}, "The front matter is not YAML: it holds a character that does not exist."
    if problem:
        return {}, problem
    if fields is None or fields == "":
        return {}, ""
    if not isinstance(fields, dict):
        return {}, "The front matter names no fields: write `key: value` lines."
    return {str(key).strip().lower(): value for key, value in fields.items()}, ""


_FIELD_LINE = re.compile(r"^([A-Za-z][\w -]{0,40}?)[ \t]*:[ \t]+(\S[^\n]*)$", re.MULTILINE)
_QUOTED: Final = "\"'[{&*!|>%@`#"


def _fields_by_line(raw: str, loader: type) -> dict[str, object]:
    """Return the fields whose value is whole on its line: YAML by itself, or a plain text with an unquoted colon."""
    import yaml

    fields: dict[str, object] = {}
    for key, value in _FIELD_LINE.findall(raw):
        name = key.strip().lower()
        line = f"{key}: {value}"
        try:
            problem = _unsafe_yaml_reason(yaml.parse(line, Loader=loader))
            one = None if problem else yaml.load(line, Loader=loader)
        except (yaml.YAMLError, ValueError, OverflowError):
            one = None if value[0] in _QUOTED else {key: value.strip()}
        if name in fields:
            fields[name] = ""  # twice: neither is certain
        elif isinstance(one, dict) and len(one) == 1:
            fields[name] = next(iter(one.values()))
    return fields


def _unsafe_yaml_reason(events: Iterable[object]) -> str:
    """Find aliases and deep nesting by parser events, before any object is built."""
    import yaml

    depth = 0
    for event in events:
        if isinstance(event, yaml.AliasEvent):
            return "YAML aliases (`*name`) are not supported in front matter."
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_YAML_DEPTH:
            return f"The front matter is nested more than {MAX_YAML_DEPTH} levels deep."
    return ""


EXTRACTOR_VERSION = "4"
"""Stamped on every document; raise it with any change of what is read."""

METADATA_HEAD = 64 * 1024
"""Characters behind the front matter that are searched for properties, tag lines and the title."""

MAX_TAGS = 100

_EMPTY = frozenset(("", "~", "null"))
_YES, _NO = frozenset(("true", "yes", "on", "1")), frozenset(("false", "no", "off", "0"))
_SCOPES = {"user": "user", "private": "user", "group": "group", "public": "public"}
_SCOPE_KEY = re.compile(r"^[ \t]*[\"']?(?:visibility|scope|group)[\"']?[ \t]*:", re.IGNORECASE | re.MULTILINE)
_PROPERTY = re.compile(r"^([A-Za-z][A-Za-z_-]{0,40}+)::[ \t]++([^\n]*+)", re.MULTILINE)
_TAG = r"#(?:\[\[[^\[\]\n]{1,100}\]\]|[^\W\d_][\w/-]{0,99}+)"
_TAG_LINE = re.compile(
    rf"^(?:tags?:)?[ \t]*+({_TAG}(?>(?:[ \t,]++{_TAG})*))[ \t]*+$", re.IGNORECASE | re.MULTILINE
)
_INLINE_TAG = re.compile(r"(?<!\S)#(\[\[[^\[\]\n]{1,100}\]\]|[\w/-]{1,100}+)")
_PROSE: Final = frozenset(("heading", "list", "paragraph", "quote", "table"))
_WIKI_LINK = re.compile(r"#?\[\[([^\[\]\n]{1,100})\]\]")
_DAY_PATTERNS = (
    re.compile(r"(?<!\d)(?P<y>\d{4})(?P<by>[-_./])(?P<m>\d\d)(?P=by)(?P<d>\d\d)(?!\d)"),
    re.compile(r"(?:^|/)(?P<y>\d{4})(?P<m>\d\d)(?P<d>\d\d)(?!\d)[^/]*$"),
    re.compile(r"(?<![\d.])(?P<d>\d\d)\.(?P<m>\d\d)\.(?P<y>\d{4})(?!\d)"),
)
_PERIODIC_NOTE = re.compile(r"((?:19|20)\d\d)-(?:(0[1-9]|1[0-2])|[Ww](\d\d))")
"""Monthly and weekly notes, as Obsidian names them."""
_YEAR = re.compile(r"\d{4}")
_BEFORE_DAY = re.compile(
    r"[\[(#*_ ]*(?:(?:mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr|sa|so)[^\W\d_]{0,9}[.,]{0,2} ?)?",
    re.IGNORECASE,
)
"""Marks and a weekday before the day in a heading."""


@dataclass(frozen=True, slots=True)
class DocumentMetadata:
    """A document's metadata.

    Attributes:
        event: When its subject happened.
        visibility: ``user``, ``group`` or ``public``.
        problems: What could not be read, each in a sentence.
    """

    title: str | None = None
    tags: tuple[str, ...] = ()
    event: EventTime | None = None
    pinned: bool = False
    visibility: str | None = None
    group: str | None = None
    problems: tuple[str, ...] = ()


def extract_metadata(
    text: str, *, path: str, blocks: Sequence[Block] = (), note: VaultNote | None = None
) -> DocumentMetadata:
    """Read a document's metadata.

    Args:
        text: Its text.
        path: Its path, relative to its source.
        blocks: Its blocks, where they are known.
        note: Given for a note in a vault: there ``#tags`` count anywhere in the text, and ``#a/b`` is also ``a``.
    """
    if is_code_file(path):
        return DocumentMetadata(event=_path_date(path))
    flat = normalize_newlines(text)
    raw, start = split_front_matter(flat)
    fields, problem = parse_front_matter(raw)
    head = flat[start : start + METADATA_HEAD]
    if blocks and start + METADATA_HEAD >= len(flat) and not (start and head.startswith(("---", "\ufeff"))):
        head, blocks = flat, blocks[1:] if start else blocks
    else:
        blocks = parse_blocks(head)
    properties = _properties(head, blocks)
    problems = [problem] if problem else []
    event = _stated_date(fields, properties, problems)
    if event is None and note is not None and note.day is not None:
        event = parse_when(note.day.date())
    tags = _stated_tags(fields, properties, head, blocks)
    if note is not None:
        tags = _with_parent_tags(chain(tags, _inline_tags(head, blocks)))
    visibility, group = _parse_scope(fields, problems)
    if problem and _SCOPE_KEY.search(raw):
        visibility, group = "user", None
        problems.append("It mentions a scope that cannot be read, so the document is kept private.")
    return DocumentMetadata(
        title=_single_line(fields.get("title")) or properties.get("title") or _first_heading(blocks),
        tags=_unique_tags(tags, problems),
        event=event or _path_date(path),
        pinned=_parse_pinned(fields, problems),
        visibility=visibility,
        group=group,
        problems=tuple(problems),
    )


def _single_line(value: object) -> str:
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return "" if text.lower() in _EMPTY else text


def _properties(head: str, blocks: Sequence[Block]) -> Mapping[str, str]:
    first = next((block for block in blocks if block.kind != "blank"), None)
    if first is None or first.kind != "paragraph":
        return {}
    lines = _PROPERTY.finditer(head, first.start, first.end)
    return {line[1].lower(): line[2].strip() for line in lines if line[2].strip()}


def _first_heading(blocks: Sequence[Block]) -> str | None:
    for block in blocks:
        if block.kind == "heading" and block.level == 1 and block.text:
            return block.text
    first = next((block for block in blocks if block.kind not in ("blank", "html", "rule")), None)
    return (first.text or None) if first and first.kind == "heading" else None


def _stated_tags(
    fields: Mapping[str, object], properties: Mapping[str, str], head: str, blocks: Sequence[Block]
) -> Iterator[str]:
    for key in ("tags", "tag"):
        yield from _texts_of(fields.get(key), _split_list)
        yield from _split_list(properties.get(key, ""), spaced=False)
    for block in blocks:
        if block.kind == "paragraph" and head.find("#", block.start, block.end) >= 0:
            for line in _TAG_LINE.finditer(head, block.start, block.end):
                yield from _split_list(line[1])


def _texts_of(value: object, split: Callable[[str], Iterable[str]]) -> Iterable[str]:
    """Return the texts of a list, or the parts of a text."""
    if isinstance(value, list):
        return [item for item in value if isinstance(item, str)]
    return split(value) if isinstance(value, str) else ()


def _inline_tags(head: str, blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        if block.kind in _PROSE and head.find("#", block.start, block.end) >= 0:
            for tag in _INLINE_TAG.finditer(without_code_and_comments(head[block.start : block.end])):
                if any(letter.isalpha() for letter in tag[1]):
                    yield tag[1].rstrip("/-")


def _with_parent_tags(tags: Iterable[str]) -> Iterator[str]:
    for tag in tags:
        yield tag
        above = tag
        while "/" in above.strip("/") and "[[" not in above:
            above = above.rpartition("/")[0]
            yield above


def document_aliases(text: str) -> tuple[str, ...]:
    r"""Return the aliases that a document gives itself, in front matter or by Logseq's ``alias::``.

    >>> document_aliases("---\naliases: [Motor, Engine room]\n---\n")
    ('Motor', 'Engine room')
    """
    if "alias" not in text[:METADATA_HEAD].lower():
        return ()
    flat = normalize_newlines(text[:METADATA_HEAD])
    raw, start = split_front_matter(flat)
    fields, _ = parse_front_matter(raw)
    properties = _properties(flat[start:], parse_blocks(flat[start:]))
    names: list[str] = []
    for key in ("aliases", "alias"):
        names += _texts_of(fields.get(key), lambda text: text.split(","))
        names += _split_list(properties.get(key, ""), spaced=False)
    cleaned = (_WIKI_LINK.sub(r"\1", _single_line(name)).strip("\"'").strip() for name in names)
    return tuple(dict.fromkeys(name for name in cleaned if name))[:MAX_TAGS]


def _split_list(text: str, *, spaced: bool = True) -> Iterator[str]:
    comma = "," if "," in text or not spaced else None
    for index, part in enumerate(_WIKI_LINK.split(text)):
        if index % 2:
            yield part
        else:
            yield from part.split(comma)


def _unique_tags(tags: Iterable[str], problems: list[str]) -> tuple[str, ...]:
    unique: dict[str, str] = {}
    for tag in tags:
        name = _WIKI_LINK.sub(r"\1", _single_line(tag)).strip("\"'").lstrip("#").strip()
        if name:
            unique.setdefault(name.casefold(), name)
    if len(unique) > MAX_TAGS:
        problems.append(f"It has {len(unique)} tags; the first {MAX_TAGS} are kept.")
    return tuple(unique.values())[:MAX_TAGS]


def _stated_date(
    fields: Mapping[str, object], properties: Mapping[str, str], problems: list[str]
) -> EventTime | None:
    for value in (source.get(name) for source in (fields, properties) for name in ("date", "created")):
        while isinstance(value, list) and len(value) == 1:  # as YAML reads [[2026-03-01]]
            value = value[0]
        text = _single_line(value) if isinstance(value, str) else str(value or "")
        if not text:
            continue
        try:
            return _parse_date(text)
        except ValueError:
            problems.append(
                f"The date {text[:40]!r} cannot be read: write 2026-03-01 or 2026-03-01T10:00:00Z."
            )
    return None


_WRITTEN_DAY = re.compile(r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2}))?)?")
_LAST_YEARS = ("0000", "0001", "9999")
"""Years in which local midnight may lie beyond what a date can hold."""


def _parse_date(text: str) -> EventTime | None:
    text = text.strip("[]\"'").replace("/", "-")
    if written := _WRITTEN_DAY.fullmatch(text):
        year, month, number = written.groups()
        text = f"{year}-{int(month or 1):02}-{int(number or 1):02}"
        if number is None:
            if not "1900" <= year <= "2100":  # "date: 1066" of a note on Hastings
                raise ValueError(text)
            date.fromisoformat(text)
            return parse_when(text[:7] if month else year)
    words = text.split()
    day = words[0][:10] if words else ""
    if len(words) > 3 or not re.fullmatch(r"\d{4}-\d\d-\d\d", day):
        raise ValueError(text)
    if day[:4] in _LAST_YEARS:
        raise ValueError(text)
    if words == [day]:
        return parse_when(date.fromisoformat(day))
    clock = "".join(words)[10:].lstrip("T")
    return parse_when(datetime.fromisoformat(f"{day}T{clock}"))


def _path_date(path: str) -> EventTime | None:
    """Return the last day that a path names, else the month or the Monday of the week that names the file.

    >>> [_path_date(path).precision for path in ("2026-03-01.md", "2026/03/02.md", "2026-W42.md", "2026-10.md")]
    ['day', 'day', 'day', 'month']
    """
    for pattern in _DAY_PATTERNS:
        for match in reversed(list(pattern.finditer(path))):
            try:
                return _parse_date(f"{match['y']}-{match['m']}-{match['d']}")
            except ValueError:
                continue
    if note := _PERIODIC_NOTE.fullmatch(PurePosixPath(path).stem):
        year, month, week = note.groups()
        try:
            return parse_when(f"{year}-{month}" if month else date.fromisocalendar(int(year), int(week), 1))
        except ValueError:
            return None
    return None


def headings_date(headings: Sequence[str]) -> EventTime | None:
    """Return the day at the beginning of the innermost heading that has one; a weekday may precede it.

    >>> [bool(headings_date([one])) for one in ("2026-03-01 NATS", "Mo, 9.11.2026", "9 March", "ends 2027-03-01")]
    [True, True, False, False]
    """
    return next(filter(None, map(_heading_date, reversed(headings))), None)


@lru_cache(maxsize=1_000)
def _heading_date(heading: str) -> EventTime | None:
    if not _YEAR.search(heading):
        return None
    from scrubjay.text.temporal import find_times

    any_present = datetime.combine(date.min, time())  # the year is written
    times = find_times(heading, any_present)
    if not times or not _BEFORE_DAY.fullmatch(heading, 0, times[0].first):
        return None
    first = times[0]
    whole = str(first.start.year) in heading[first.first : first.last] and first.precision == "day"
    return parse_when(first.start.date()) if whole and first.relation == "in" else None


def _parse_pinned(fields: Mapping[str, object], problems: list[str]) -> bool:
    for key in ("pinned", "pin"):
        text = _single_line(fields.get(key)).lower()
        if text in _YES or text in _NO:
            return text in _YES
        if text or isinstance(fields.get(key), (list, dict)):
            problems.append(f"The field `{key}` is neither true nor false, so the document is not pinned.")
    return False


def _parse_scope(fields: Mapping[str, object], problems: list[str]) -> tuple[str | None, str | None]:
    group_field = _single_line(fields.get("group")) or None
    key = "visibility" if "visibility" in fields else "scope"
    value = fields.get(key, "")
    text = _single_line(value)
    if not text and isinstance(value, str):
        return ("group" if group_field else None), group_field
    word, _, inline = text.partition(":")
    visibility = _SCOPES.get(word.strip().lower())
    group = inline.strip() or group_field
    if visibility == "group" and not group:
        problems.append(
            f"The field `{key}` says group, but no `group` is named; the document is kept private."
        )
        return "user", None
    if visibility is None or (inline and visibility != "group"):
        known = "user, group and public are known"
        problems.append(f"The field `{key}` is {text[:40]!r}; {known}. The document is kept private.")
        return "user", None
    return visibility, group if visibility == "group" else None


PIECE_CHARACTERS: Final = 1_000_000
"""Characters that are redacted at once."""


@dataclass(frozen=True, slots=True)
class DraftDocument:
    document: Document
    drafts: tuple[DraftPassage, ...]
    metadata: DocumentMetadata
    scrubbed: Mapping[str, int]


def stage_versions(settings: ChunkSettings) -> StageVersions:
    """Return the current versions of the ingest stages; the chunker's includes its settings."""
    sizes = f"{CHUNKER_VERSION}/{settings.target}/{settings.overlap}/{settings.most}"
    scrubber = REDACTOR_VERSION
    if settings.allow:
        scrubber += f"/{text_hash(chr(10).join(settings.allow))[:16]}"
    return StageVersions(sizes, TOKENIZER_VERSION, scrubber, EXTRACTOR_VERSION, LABELLER_VERSION)


def draft_document(
    source: str,
    path: str,
    file: FileText,
    clean: RedactedText,
    settings: ChunkSettings,
    note: VaultNote | None = None,
) -> DraftDocument:
    """Cut the redacted text of a file into passages."""
    text = clean.text
    unit: PositionUnit = "heading" if file.converted and not is_paged(path) else position_unit(path)
    blocks = document_blocks(text, path, unit)
    if file.converted:
        metadata = _document_metadata(file, path, blocks, settings.allow)
    else:
        metadata = extract_metadata(text, path=path, blocks=blocks, note=note)
    title = metadata.title or PurePosixPath(path).name
    document = Document(
        source=source,
        path=path,
        content_hash=file.content_hash,
        mtime_ns=file.mtime_ns,
        size=file.size,
        title=title,
        versions=stage_versions(settings),
    )
    return DraftDocument(
        document, draft_passages(source, path, text, settings, title, unit, blocks), metadata, clean.counts
    )


def _document_metadata(
    file: FileText, path: str, blocks: Sequence[Block], allow: Sequence[str]
) -> DocumentMetadata:
    """Read a converted document's metadata; front matter, properties and tags in its text do not count."""
    title = redact_documents([file.title], allow)[0].text if file.title else ""
    return DocumentMetadata(
        title=title or _first_heading(blocks), event=_path_date(path), problems=file.problems
    )


def document_blocks(text: str, path: str, unit: PositionUnit) -> list[Block]:
    return page_blocks(text) if unit == "page" else parse_blocks(text, markdown=not is_code_file(path))


def redact_documents(texts: Sequence[str], allow: Sequence[str]) -> list[RedactedText]:
    """Redact texts, small ones together, a large one in pieces."""
    from scrubjay.redaction.redactor import redact_texts  # a sync that reads no file has no use for it

    small = iter(redact_texts([text for text in texts if len(text) <= PIECE_CHARACTERS], allow))
    return [
        next(small) if len(text) <= PIECE_CHARACTERS else _redact_in_pieces(text, allow) for text in texts
    ]


def _redact_in_pieces(text: str, allow: Sequence[str]) -> RedactedText:
    """Redact pieces that end at the coarsest break possible, never inside a private span."""
    from scrubjay.redaction.redactor import RedactedText, redact_text

    parts: list[str] = []
    counts: Counter[str] = Counter()
    start = 0
    for end in _piece_ends(text):
        clean = redact_text(text[start:end], allow)
        parts.append(clean.text)
        counts.update(clean.counts)
        start = end
    return RedactedText("".join(parts), dict(sorted(counts.items())))


def _piece_ends(text: str) -> Iterator[int]:
    from scrubjay.redaction.redactor import private_spans

    spans = [(span.start, span.end) for span in private_spans(text)]
    start = 0
    while len(text) - start > PIECE_CHARACTERS:
        end = _piece_end(text, start + PIECE_CHARACTERS // 2, start + PIECE_CHARACTERS)
        for first, last in spans:
            if first < end < last:
                end = last
        if end >= len(text):
            break
        yield end
        start = end
    yield len(text)


def _piece_end(text: str, first: int, last: int) -> int:
    for mark, skip in (("\n#", 1), ("\n\n", 2), ("\n", 1), (". ", 2), ("。", 1), (" ", 1)):
        break_at = text.rfind(mark, first, last)
        if break_at >= 0:
            return break_at + skip
    return last


def draft_passages(
    source: str,
    path: str,
    text: str,
    settings: ChunkSettings,
    title: str,
    unit: PositionUnit = "line",
    blocks: Sequence[Block] | None = None,
) -> tuple[DraftPassage, ...]:
    """Cut a text into passages; one under the document's own heading, or under none, gets the document's title."""
    name = PurePosixPath(path).name
    if blocks is None:
        blocks = document_blocks(text, path, unit)
    heading = next((one.text for one in blocks if one.kind == "heading" and one.level == 1 and one.text), "")
    passages = chunk_text(text, name=name, settings=settings, blocks=blocks)
    return tuple(
        DraftPassage(
            content=text[p.start : p.end],
            place=SourcePlace(source, path, ordinal, p.start, p.end, *at),
            heading_path=p.heading_path,
            title=title if p.heading_path in ((), (heading,)) else p.title,
            event=headings_date(p.heading_path),
        )
        for ordinal, (p, at) in enumerate(zip(passages, _positions(text, passages, unit), strict=True))
    )


def _positions(text: str, passages: Sequence[Passage], unit: PositionUnit) -> Iterator[tuple[int, int]]:
    page = 1
    for one in passages:
        if unit == "page":
            yield pages_of(text, one.start, one.end, page)
            page += text.count(PAGE_END, one.start, one.end)
        else:
            yield (one.line_start, one.line_end) if unit == "line" else (0, 0)
