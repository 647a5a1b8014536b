"""Alignment: match new passages with stored memories, so that ids survive edits.

Passages match by equal text first, then by equal headings and similarity, last by similarity alone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from heapq import nsmallest
from itertools import count, pairwise
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from scrubjay.models.ids import memory_id, memory_key, text_hash
from scrubjay.models.records import NEVER_INJECT, Document, EventTime, Record, SourcePlace
from scrubjay.models.results import PositionUnit
from scrubjay.storage.changes import UnchangedPassage
from scrubjay.text.language import detect_language
from scrubjay.text.markdown import PAGE_END, normalize_newlines, pages_of, parse_blocks

NOTE_MARKER: Final = re.compile(r"^<!-- scrubjay:([a-z]+_[0-9a-f]{16}) -->\r?$", re.MULTILINE)
"""A line under the heading of an addition that names its memory."""
_QUOTE: Final = re.compile(r"^> ?", re.MULTILINE)


def with_note_marker(record: Record) -> str:
    """Return an addition as it is appended to a note: its marker, then its text.

    A text with headings, or with an unclosed fence or comment, is quoted so that it stays one section.
    """
    text = record.content.strip("\n").rstrip()
    kinds = [block.kind for block in parse_blocks(f"\n{text}\n\n## end\n")]
    if kinds.count("heading") != 1 or kinds[-1] != "heading":
        text = "\n".join(f"> {line}".rstrip() for line in text.splitlines())
    return f"<!-- scrubjay:{record.id} -->\n\n{text}"


def note_marker_id(content: str) -> str | None:
    marker = _find_marker(content)
    return marker.group(1) if marker is not None else None


def addition_texts(passages: Sequence[tuple[tuple[str, ...], str]]) -> list[str]:
    """Return, for each passage, the whole text of the addition that it is part of, else its own.

    An addition that was forgotten before its note was synced is recognised by that text, not by its section.
    """
    texts = [content for _, content in passages]
    place = 0
    while place < len(texts):
        marker = _find_marker(texts[place])
        end = place + 1
        if marker is not None:
            while (
                end < len(texts)
                and passages[end][0] == passages[place][0]
                and note_marker_id(texts[end]) is None
            ):
                end += 1
            text = "".join(texts[place:end])[marker.end() :].strip()
            if all(line.startswith(">") for line in text.splitlines()):
                text = _QUOTE.sub("", text)
            texts[place:end] = [text] * (end - place)
        place = end
    return texts


def _find_marker(content: str) -> re.Match[str] | None:
    # Called several times for every passage; hardly any has a marker.
    return NOTE_MARKER.search(content) if "<!-- scrubjay:" in content else None


SECTION_SIMILARITY: Final = 0.1
"""Minimum Jaccard similarity of the words of an edited passage under the same headings: nearly any, since a section
keeps its subject while its words change."""
MOVED_SIMILARITY: Final = 0.6
"""Minimum similarity where the headings differ: a renamed or moved section."""
MAX_COMPARISONS: Final = 400
"""Unmatched passages that are all compared; beyond, each only with those near its place under equal headings."""
NEARBY_PLACES: Final = 20
MAX_CANDIDATES: Final = 4
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class DraftPassage:
    """A passage before it has an id.

    Attributes:
        title: The nearest heading, else the document's name.
        event: The date that a heading above it names; None for the document's own.
    """

    content: str
    place: SourcePlace
    heading_path: tuple[str, ...]
    title: str
    event: EventTime | None = None


def align_passages(old: Sequence[Record], new: Sequence[DraftPassage]) -> list[Record | None]:
    """Return, for each new passage, the stored memory that it continues, or None; each memory at most once."""
    matches: list[Record | None] = [None] * len(new)
    by_hash: dict[str, deque[Record]] = defaultdict(deque)
    for record in old:
        by_hash[record.content_hash].append(record)
    for place, passage in enumerate(new):
        if same := by_hash.get(text_hash(passage.content)):
            matches[place] = same.popleft()
    used = {record.id for record in matches if record is not None}
    unmatched = [record for record in old if record.id not in used]
    open_places = [place for place, record in enumerate(matches) if record is None]
    if not unmatched or not open_places:
        return matches
    _match_similar(matches, unmatched, open_places, new, same_headings=True)
    used = {record.id for record in matches if record is not None}
    unmatched = [record for record in unmatched if record.id not in used]
    open_places = [place for place in open_places if matches[place] is None]
    if unmatched and len(unmatched) * len(open_places) <= MAX_COMPARISONS**2:
        _match_similar(matches, unmatched, open_places, new, same_headings=False)
    return matches


def _match_similar(
    matches: list[Record | None],
    unmatched: Sequence[Record],
    places: Sequence[int],
    new: Sequence[DraftPassage],
    *,
    same_headings: bool,
) -> None:
    floor = SECTION_SIMILARITY if same_headings else MOVED_SIMILARITY
    words = lru_cache(maxsize=2 * MAX_COMPARISONS)(_words)
    by_path: dict[tuple[str, ...], list[Record]] = defaultdict(list)
    for record in unmatched:
        by_path[record.heading_path].append(record)
    totals = Counter(new[place].heading_path for place in places)
    counts: Counter[tuple[str, ...]] = Counter()
    pairs: list[tuple[float, int, int, str, Record]] = []
    for place in places:
        path = new[place].heading_path
        pool = by_path[path] if same_headings else unmatched
        first, last = 0, len(pool)
        if same_headings and totals[path] * len(pool) > MAX_COMPARISONS**2:
            expected_rank = counts[path] * len(pool) // totals[path]
            first, last = max(0, expected_rank - NEARBY_PLACES), expected_rank + NEARBY_PLACES
        counts[path] += 1
        own = _words(new[place].content)
        candidates = []
        for rank, record in enumerate(pool[first:last], first):
            other = words(record.content)
            similarity = len(own & other) / len(own | other) if own or other else 1.0
            if similarity >= floor:
                candidates.append((-similarity, abs(place - rank), place, record.id, record))
        if last - first < len(pool):
            candidates = nsmallest(MAX_CANDIDATES, candidates, key=lambda pair: pair[:4])
        pairs += candidates
    matched_ids: set[str] = set()
    for _, _, place, memory, record in sorted(pairs, key=lambda pair: pair[:4]):
        if matches[place] is None and memory not in matched_ids:
            matches[place] = record
            matched_ids.add(memory)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


LABELLER_VERSION = "2"
"""Stamped on every document; raise it with any change of what is indexed beside the text."""
PASSAGE_TIER = "observation"
LANGUAGE_SAMPLE = 1_500
"""Characters by which a document's language is detected."""


@dataclass(frozen=True, slots=True)
class DocumentTraits:
    """Traits that all passages of a document share; an ``origin`` of None keeps the stored one, "owner" if new."""

    key: str
    owner: str
    tags: tuple[str, ...]
    event: EventTime | None
    pinned: bool
    recorded_at: int
    updated_at: int
    project: str | None = None
    origin: str | None = None


def has_text(addition: Record, text: str) -> bool:
    return addition.content.split() == text.split()


@dataclass(frozen=True, slots=True)
class IdFactory:
    """Source of new ids.

    Attributes:
        is_taken: Whether a memory of another document has an id already (a renamed document keeps its ids).
        find: Returns a memory by id.
        is_section: Whether a text with the marker of an addition that is in no document yet is the section that was
            written for it; a copy of that is a passage of its own.
    """

    secret: bytes
    is_taken: Callable[[str], bool]
    find: Callable[[str], Record | None]
    is_section: Callable[[Record, str], bool] = has_text

    def find_addition(self, content: str, whole: str, owner: str, own_ids: Set[str]) -> Record | None:
        """Return the addition whose marker a passage holds, if it is the owner's and not in another document.

        ``whole`` is the text of the passage's section (`addition_texts`).
        """
        memory = note_marker_id(content)
        addition = self.find(memory) if memory is not None else None
        if addition is None or addition.owner != owner:
            return None
        if addition.place is None:
            texts = (whole, *addition_texts([((), content)]))
            return addition if any(self.is_section(addition, text) for text in texts) else None
        return addition if addition.id in own_ids else None


class FreshPassage(NamedTuple):
    """A passage to write.

    Attributes:
        language: None to detect it.
        before: The text before it, which is embedded with it.
        old: The stored memory that it replaces, as it was read.
    """

    record: Record
    language: str | None = None
    before: str = ""
    old: Record | None = None


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document ready to be tokenized, embedded and written.

    Attributes:
        fresh: New and changed passages. They are tokenized with their batch: terms take ten times the memory of the
            text.
        dropped: Ids of passages that no longer exist.
        moved_from: Its path before a rename.
        grows: The fresh passages are added to the stored ones.
        keys: Visibility keys that it changes.
    """

    document: Document
    fresh: tuple[FreshPassage, ...] = ()
    kept: tuple[UnchangedPassage, ...] = ()
    dropped: tuple[str, ...] = ()
    moved_from: str | None = None
    grows: bool = False
    keys: frozenset[str] = frozenset()

    @property
    def path(self) -> str:
        return self.document.path


def plan_document(
    document: Document,
    drafts: Sequence[DraftPassage],
    traits: DocumentTraits,
    old: Sequence[Record],
    ids: IdFactory,
    withheld: Set[str] = frozenset(),
    archived: Set[str] = frozenset(),
) -> PreparedDocument:
    """Give every passage its id, and separate new and changed ones from those that stay.

    ``withheld`` are ids of `old` that keep the tag `NEVER_INJECT`; so does a passage that is cut out of one of them.
    ``archived`` are those that stay archived when their text changes.
    """
    used = {record.id for record in old}
    matches: list[Record | None] = [None] * len(drafts)
    additions: set[str] = set()
    whole_texts = addition_texts([(draft.heading_path, draft.content) for draft in drafts])
    for place, (draft, whole) in enumerate(zip(drafts, whole_texts, strict=True)):
        addition = ids.find_addition(draft.content, whole, traits.owner, used)
        if addition is not None and addition.id not in additions:  # only the first passage with its marker
            matches[place] = addition
            additions.add(addition.id)
    others = [place for place, match in enumerate(matches) if match is None]
    aligned = align_passages(
        [record for record in old if record.id not in additions], [drafts[place] for place in others]
    )
    for place, match in zip(others, aligned, strict=True):
        matches[place] = match
    records = []
    withheld_texts = [record.content for record in old if record.id in withheld]
    for draft, match in zip(drafts, matches, strict=True):
        memory = match.id if match is not None else _new_id(ids, document, draft, traits.key, used)
        used.add(memory)
        record = _build_record(memory, draft, traits, match, keep_status=memory in archived)
        if memory in withheld or (match is None and any(draft.content in text for text in withheld_texts)):
            record = replace(record, tags=tuple(sorted({*record.tags, NEVER_INJECT})))
        records.append(record)
    languages = {key: _document_language(records, key) for key in {record.key for record in records}}
    fresh, kept = [], []
    for draft, record, match, before in zip(drafts, records, matches, preceding_texts(records), strict=True):
        if match is not None and _is_unchanged(match, record):
            kept.append(UnchangedPassage(record.id, draft.place))
        else:
            fresh.append(FreshPassage(record, languages[record.key], before, match))
    present = {match.id for match in matches if match is not None}
    dropped = tuple(record.id for record in old if record.id not in present)
    return PreparedDocument(document, tuple(fresh), tuple(kept), dropped)


def preceding_texts(records: Iterable[Record]) -> list[str]:
    """Return the text right before each passage of a document, where both have one section and visibility key."""
    texts = []
    end = None
    before = ""
    for record in records:
        place = record.place
        start = None if place is None else (place.ordinal, record.heading_path, record.key)
        texts.append(before if start is not None and start == end else "")
        end = None if place is None else (place.ordinal + 1, record.heading_path, record.key)
        before = record.content
    return texts


def _document_language(records: Sequence[Record], key: str) -> str:
    """Detect the language of a document by the passages of one visibility key alone."""
    texts = [record.content for record in records if record.key == key]
    return detect_language("\n".join(texts[:8])[:LANGUAGE_SAMPLE])


def _build_record(
    memory: str, draft: DraftPassage, traits: DocumentTraits, match: Record | None, *, keep_status: bool
) -> Record:
    """Build a passage's memory from its stored one; a new text makes it active again, unless ``keep_status``."""
    digest = text_hash(draft.content)
    event = draft.event or traits.event
    if match is None:
        return Record(
            memory, PASSAGE_TIER, draft.content, digest, draft.title, traits.key, traits.owner, traits.recorded_at,
            traits.updated_at, draft.heading_path, traits.tags, draft.place, traits.project,
            origin=traits.origin or "owner", pinned=traits.pinned, event=event,
        )  # fmt: skip
    marker = note_marker_id(draft.content)
    is_addition = marker is not None
    # An addition that is first found in its note has a heading and a marker there.
    is_unmarked_addition = match.place is None and addition_texts([((), draft.content)])[0] in match.content
    is_same_text = match.content_hash == digest or is_unmarked_addition
    old = match if is_same_text or keep_status else replace(match, status="active", valid_until=None)
    return replace(
        old,
        content=draft.content,
        content_hash=digest,
        title=draft.title,
        key=old.key if is_addition else traits.key,
        updated_at=traits.updated_at,
        heading_path=draft.heading_path,
        tags=tuple(sorted({*traits.tags, *old.tags})) if is_addition else traits.tags,
        place=draft.place,
        pinned=traits.pinned or (is_addition and old.pinned),
        event=old.event if is_addition and old.event is not None else event,
        project=old.project if is_addition and old.project is not None else traits.project,
        origin=old.origin if marker == memory and old.content_hash == digest else traits.origin or old.origin,
    )


def _new_id(ids: IdFactory, document: Document, draft: DraftPassage, key: str, used: set[str]) -> str:
    # With the key, so that former members of a group cannot compute the ids of its passages.
    parts = (document.source, document.path, "\x1e".join(draft.heading_path), str(draft.place.ordinal), key)
    candidates = (
        memory_id(PASSAGE_TIER, memory_key(ids.secret, (*parts, str(attempt)) if attempt else parts))
        for attempt in count()
    )
    return next(memory for memory in candidates if memory not in used and not ids.is_taken(memory))


def _is_unchanged(old: Record, new: Record) -> bool:
    assert new.place is not None
    if old.place is None:
        return False
    names = ("content_hash", "title", "heading_path", "key", "tags", "event", "pinned", "project", "origin")
    is_equal = all(getattr(old, name) == getattr(new, name) for name in names)
    return is_equal and PurePosixPath(old.place.path).stem == PurePosixPath(new.place.path).stem


def _first_page(place: SourcePlace, text: str, start: int) -> int:
    """Return the page on which a passage begins; its place has the page of its first word."""
    rest = text[start : start + place.end - place.start]
    return place.line_start - rest.count(PAGE_END, 0, len(rest) - len(rest.lstrip()))


def restore_offsets(
    cut: Sequence[DraftPassage], passages: Sequence[Record], unit: PositionUnit = "line"
) -> tuple[DraftPassage, ...]:
    """Return drafts cut from joined passages with their places in the document.

    Where passages were forgotten the join has gaps: its offsets are not the document's, and no draft may span a gap.
    """
    places = [record.place for record in passages if record.place is not None]
    starts, at = [], 0
    for record in passages:
        starts.append(at)
        at += len(record.content)
    runs = [0] + [n for n, (one, other) in enumerate(pairwise(places), 1) if one.end != other.start]
    if len(places) < len(passages) or (len(runs) == 1 and not places[0].start):
        return tuple(cut)
    text = normalize_newlines("".join(record.content for record in passages))
    run_starts = [starts[run] for run in runs]
    drafts: list[DraftPassage] = []
    for draft in cut:
        cut_place = draft.place
        inner = [start for start in run_starts if cut_place.start < start < cut_place.end]
        for start, end in pairwise([cut_place.start, *inner, cut_place.end]):
            run = bisect_right(run_starts, start) - 1
            first = places[runs[run]]
            offset = first.start - run_starts[run]
            if unit == "page":
                page = _first_page(first, text, run_starts[run]) + text.count(
                    PAGE_END, run_starts[run], start
                )
                lines = pages_of(text, start, end, page)
            elif unit == "line":
                line = first.line_start + text.count("\n", run_starts[run], start)
                lines = line, line + text.count("\n", start, end - 1)
            else:
                lines = 0, 0
            place = replace(
                first,
                ordinal=max(first.ordinal, drafts[-1].place.ordinal + 1 if drafts else 0),
                start=start + offset,
                end=end + offset,
                line_start=lines[0],
                line_end=lines[1],
            )
            content = draft.content[start - cut_place.start : end - cut_place.start]
            drafts.append(replace(draft, content=content, place=place))
    return tuple(drafts)
