"""Digests: select and group old observations, summarise them, write the digests and withdraw stale ones.

A digest consists of verbatim sentences. It maximises

    value(S) = sum over terms of worth(term) * max over the sentences of S that hold it of weight(sentence)
    worth(term) = ln(its rank among English words / 50)

which is monotone and submodular, so greedy selection by gain per token comes near the best choice (Lin and Bilmes,
2010); gains only fall, so few are computed again (Minoux, 1978). A conversation that continues is digested anew as a
whole, so digests do not overlap. The id of a digest is a keyed hash of its key, sources and text.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Final

from scrubjay.consolidation.context import (
    DIGEST_RULE,
    DIGEST_TIER,
    MEMORY_PAGE,
    NOTES,
    RULES_VERSION,
    TRANSCRIPTS,
    PersonsWork,
    RunContext,
    chronological_key,
    common_value,
    ended_at,
    occurred_at,
)
from scrubjay.facts.clauses import own_prose
from scrubjay.frozen import frozen
from scrubjay.ingest.deletion import ALL_EVENTS, STATUS_BATCH, last_status_events, status_changes
from scrubjay.ingest.embedder import prepare_memory
from scrubjay.models.dates import DAY, SECOND, to_datetime
from scrubjay.models.graph import Edge
from scrubjay.models.ids import memory_id, memory_key, text_hash
from scrubjay.models.lifecycle import VERDICTS, Event, LifecycleChange, strength_after
from scrubjay.models.records import (
    NEVER_INJECT,
    PERSON_ROLES,
    PRECISIONS,
    STATUSES,
    TIERS,
    EventTime,
    Record,
    RecordFilter,
)
from scrubjay.storage.changes import (
    Change,
    DropMemory,
    PreparedMemory,
    PutEdges,
    PutEvents,
    PutLifecycle,
    RequireUnchanged,
)
from scrubjay.storage.interface import Reader, in_batches
from scrubjay.storage.validation import is_unchanged
from scrubjay.text.dialogue import (
    asks_not_to_remember,
    asks_to_forget_exchange,
    is_question,
    is_small_talk,
    sentences,
)
from scrubjay.text.display import estimate_tokens, quarter_tokens
from scrubjay.text.language import detect_language, function_words
from scrubjay.text.markdown import normalize_newlines, parse_blocks
from scrubjay.text.sentences import MIN_WRAPPED_LINE, bracketed_ranges, continues_after
from scrubjay.text.tokenizer import index_terms, word_rank

_SENTENCE_END = re.compile(
    r"[.!?…][\"'”’)\]*_]*+\s++(?![a-z])"
    r"|[。！？｡؟۔।][”’」』）\"]*\s*"
)
_LINE_MARKS = re.compile(
    r"(?:[ \t]|>|(?:[-*+•]|[0-9]{1,9}[.)])(?=[ \t])(?:[ \t]+\[[ xX]\](?=[ \t]))?|#{1,6}(?=[ \t]))*"
)
"""Indentation, quote, list and task marks before the words of a line."""
_RULE = re.compile(r"[\s|:=*_+\-]*\Z")
_BOLD = re.compile(r"(\*\*|__)(?>(?:(?!\1).){1,60})\1")
"""A line that is all bold counts as a heading."""
_FENCES: Final = ("```", "~~~")
_FENCE: Final = re.compile(r"\s*(?:```|~~~)")
_PROSE: Final = frozenset(("paragraph", "list", "quote", "table", "html"))

ORDINARY_RANK: Final = 50
"""Rank of a common word that says nothing about a text."""
LENGTH_OFFSET: Final = 24
"""Quarter tokens added to a sentence's length, so that two rare words do not win by being short."""
MIN_NEW_SHARE: Final = 0.1
"""Share of its worth that a sentence must add, unless it adds a number. Session recall of LongMemEval with 0, .1 and
.2: .950, .950, .944 (bench/LOG.md)."""
MAX_SHARE: Final = 0.7
"""Maximum number of tokens of a digest for each token of its sources."""
MAX_DIGEST_TOKENS: Final = 512
MIN_DIGEST_TOKENS: Final = 12
PERSON_WEIGHT: Final = 0.7
"""Weight of a person's sentence, anyone else's 1: with 1 and 8 digests answer less (`bench digests`)."""
QUESTION_WEIGHT: Final = 0.5
"""Weight of an assistant's question: what it asks or offers is seldom what came of it."""
_QUOTE_LINES: Final = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
REQUEST_SHARE: Final = 0.1
"""Share of a digest reserved for what the person asked for first."""
MAX_CODE: Final = 400
"""Characters of the largest block of code that is used as a sentence."""
MEANINGFUL_RANK: Final = 3_000
"""Rank from which a word says something by itself."""
MAX_RECORD_TEXT: Final = 100_000
_END_PUNCTUATION: Final = re.compile(r"[.!?…:;,。！？｡؟۔।][\"'”’)\]*_`」』）]*\Z")


def verbatim_sentences(text: str, max_code: int = 0) -> Iterator[str]:
    r"""Yield the sentences of a text in order, with white space collapsed.

    A list item or a table row is a sentence. Headings, lines that introduce a list and front matter are skipped, and
    so are blocks of code of more than `max_code` characters; a smaller one is one sentence.

    >>> list(verbatim_sentences("# Seeds\n- **Oak** grows. Slowly!\n- See:\n```\ncode\n```\nDr. Mara\nagrees."))
    ['**Oak** grows.', 'Slowly!', 'Dr. Mara agrees.']
    """
    text = normalize_newlines(text)
    for block in parse_blocks(text):
        content = text[block.start : block.end]
        if block.kind in _PROSE:
            yield from _block_sentences(content, table=block.kind == "table")
        elif block.kind in ("fence", "code") and len(content) <= max_code:
            lines = [line for line in content.split("\n") if not (_FENCE.match(line) or _RULE.match(line))]
            if lines:
                yield " ".join(" ".join(lines).split())


def _block_sentences(text: str, *, table: bool) -> Iterator[str]:
    fence = ""
    paragraph: list[str] = []
    for number, line in enumerate(text.split("\n")):
        marks = _LINE_MARKS.match(line)
        start = marks.end() if marks else 0
        words = line[start:].rstrip()
        if fence or words.startswith(_FENCES):
            fence = "" if fence and words.startswith(fence) else fence or words[:3]
            words = ""
        if _RULE.match(words) or (table and number == 0):
            words = ""
        if paragraph and not _is_continuation(paragraph[-1], words, marked=bool(line[:start].strip())):
            yield from _split_sentences(" ".join(paragraph))
            paragraph = []
        if words:
            paragraph.append(words)
    if paragraph:
        yield from _split_sentences(" ".join(paragraph))


def _is_continuation(line: str, words: str, *, marked: bool) -> bool:
    if marked or not words or not words[0].isalpha():
        return False
    return words[0].islower() or len(line) >= MIN_WRAPPED_LINE


def _split_sentences(text: str) -> Iterator[str]:
    start, brackets = 0, bracketed_ranges(text)
    ends = [
        match.end()
        for match in _SENTENCE_END.finditer(text)
        if not continues_after(text, match.start() + len(match[0].rstrip()), brackets)
    ]
    for end in (*ends, len(text)):
        sentence = " ".join(text[start:end].split())
        start = end
        if sentence and not sentence.rstrip("*_ ").endswith((":", "：")) and not _BOLD.fullmatch(sentence):
            yield sentence


@frozen
class CoverageUnit:
    """One sentence that may be selected.

    Attributes:
        weight: Weight of its speaker, above zero.
    """

    record: int
    text: str
    terms: frozenset[str]
    size: int
    weight: float


def cover_sentences(
    units: Sequence[CoverageUnit], labels: Sequence[int], room: int, first: Sequence[int] = ()
) -> list[CoverageUnit]:
    """Return the selected sentences, in the order given.

    Sizes are in quarter tokens: ``labels`` is the cost of the first sentence of each record besides its own, ``room``
    that of all. The sentences at the indexes ``first`` are selected before any other, as far as there is room.
    """
    worth = {term: _information(term) for unit in units for term in unit.terms}
    gains = {
        weight: {term: weight * own for term, own in worth.items()}
        for weight in {unit.weight for unit in units}
    }  # weight to what each term can still gain in a sentence of that weight
    labelled: set[int] = set()
    selected: list[int] = []

    def gain(unit: CoverageUnit) -> float:
        return math.fsum(map(gains[unit.weight].__getitem__, unit.terms))  # independent of the set's order

    def size(unit: CoverageUnit) -> int:
        return unit.size + (0 if unit.record in labelled else labels[unit.record])

    def select(index: int) -> None:
        unit = units[index]
        selected.append(index)
        labelled.add(unit.record)
        for weight, own in gains.items():
            excess = max(0.0, weight - unit.weight)
            own |= {term: min(own[term], excess * worth[term]) for term in unit.terms}

    for index in first:
        needed = size(units[index])
        if needed <= room:
            select(index)
            room -= needed
    total = [gain(unit) for unit in units]
    heap = [
        (-own / (unit.size + LENGTH_OFFSET), index)
        for index, (own, unit) in enumerate(zip(total, units, strict=True))
    ]
    heapq.heapify(heap)
    while heap:
        best, index = heapq.heappop(heap)
        unit = units[index]
        needed, own = size(unit), gain(unit)
        if needed > room or own <= 0:
            continue
        if own < MIN_NEW_SHARE * total[index] and not _has_new_number(unit, gains[unit.weight]):
            continue
        current = -own / (unit.size + LENGTH_OFFSET)
        if current > best and heap and current > heap[0][0]:
            heapq.heappush(heap, (current, index))
            continue
        select(index)
        room -= needed
    return [units[index] for index in sorted(selected)]


def _has_new_number(unit: CoverageUnit, gains: Mapping[str, float]) -> bool:
    return any(gains[term] > 0 and any(map(str.isdigit, term)) for term in unit.terms)


@lru_cache(maxsize=65_536)
def _information(term: str) -> float:
    return math.log(max(1.0, word_rank(term) / ORDINARY_RANK))


@frozen
class DigestSentence:
    """One sentence of a digest.

    Attributes:
        sources: Ids of the records that contain it, the earliest first.
    """

    text: str
    sources: tuple[str, ...]


@frozen
class Digest:
    """Summary of a group of observations.

    Attributes:
        text: A line for each record in order of time: speaker, day if there are several, and sentences.
        tags: All tags of the records, sorted.
        title: The records' commonest title, or an empty string.
        start: When the first record happened, UTC microseconds.
    """

    text: str
    sentences: tuple[DigestSentence, ...]
    tags: tuple[str, ...]
    title: str
    start: int
    end: int

    def quoted(self) -> set[str]:
        """Return the sentences that the text still has: a model may have reworded others."""
        return {sentence.text for sentence in self.sentences if sentence.text in self.text}


def distil_digest(
    records: Sequence[Record], budget: int = MAX_DIGEST_TOKENS, withheld: Sequence[Record] = ()
) -> Digest | None:
    """Return the digest of a group, or None if it would be too short to say anything.

    The records may be in any order; no more than ``MAX_SHARE`` of their tokens are used. ``withheld`` are other
    turns of the conversation, which are not quoted.
    """
    records = quotable_records(records, withheld)
    room = min(budget, int(MAX_SHARE * sum(estimate_tokens(record.content) for record in records)))
    if room < MIN_DIGEST_TOKENS:
        return None
    units, containing = _coverage_units(records)
    labels = _labels(records)
    selected = cover_sentences(
        units, [quarter_tokens(label) for label in labels], 4 * room, _first_request(records, units, room)
    )
    lines: dict[int, list[str]] = {}
    for unit in selected:
        lines.setdefault(unit.record, []).append(unit.text)
    text = "\n".join(labels[record] + _join_sentences(own) for record, own in lines.items())
    if estimate_tokens(text) < MIN_DIGEST_TOKENS:
        return None
    titles = Counter(record.title for record in records if record.title)
    dated = [record for record in records if not record.is_undated_import] or records
    return Digest(
        text,
        tuple(
            DigestSentence(unit.text, tuple(records[index].id for index in containing[unit.text]))
            for unit in selected
        ),
        tuple(sorted({tag for record in records for tag in record.tags})),
        min(titles, key=lambda title: (-titles[title], title), default=""),
        min(map(occurred_at, dated)),
        max(map(ended_at, dated)),
    )


def quotable_records(records: Iterable[Record], withheld: Iterable[Record] = ()) -> list[Record]:
    """Return the records that a digest may quote, in order of time.

    Left out are those marked wrong and ``withheld`` turns. Where a person asks not to remember something, that turn
    and its reply are left out as well, and if it says nothing else, the exchange before, which is meant.
    """
    unquoted = {turn.id for turn in withheld}
    ordered = sorted((*records, *withheld), key=chronological_key)
    spoken = [index for index, record in enumerate(ordered) if record.role in PERSON_ROLES]
    for place, index in enumerate(spoken):
        if asks_not_to_remember(ordered[index].content):
            after = spoken[place + 1] if place + 1 < len(spoken) else len(ordered)
            meant = asks_to_forget_exchange(ordered[index].content)
            before = spoken[max(place - 1, 0)] if meant else index
            unquoted |= {record.id for record in ordered[before:after]}
    return [record for record in ordered if not record.marked_wrong and record.id not in unquoted]


def own_words(record: Record) -> str:
    """Return the text of a record without what it quotes, and a person's also without what was pasted."""
    text = normalize_newlines(record.content[:MAX_RECORD_TEXT])
    if record.role not in PERSON_ROLES:
        return _QUOTE_LINES.sub("", text)
    return "".join(
        " " if said == " " and not own.isspace() else own
        for own, said in zip(text, own_prose(text), strict=False)
    )


def _coverage_units(records: Sequence[Record]) -> tuple[list[CoverageUnit], dict[str, list[int]]]:
    """Return the distinct sentences, and the indexes of the records that contain each."""
    containing: dict[str, list[int]] = {}
    units: list[CoverageUnit] = []
    common = function_words(detect_language("\n".join(record.content for record in records)))
    for index, record in enumerate(records):
        for text in verbatim_sentences(own_words(record), MAX_CODE):
            if text not in containing:
                terms = frozenset(index_terms(text, "").counts) - common  # unstemmed
                if not _is_informative(terms) or is_small_talk(text):
                    continue
                containing[text] = [index]
                if record.role in PERSON_ROLES:
                    weight = PERSON_WEIGHT
                else:
                    weight = QUESTION_WEIGHT if text.rstrip("*_ ").endswith(("?", "？")) else 1.0
                size = quarter_tokens(text if _END_PUNCTUATION.search(text) else f"{text};")
                units.append(CoverageUnit(index, text, terms, size, weight))
            elif containing[text][-1] != index:
                containing[text].append(index)
    return units, containing


def _is_informative(terms: frozenset[str]) -> bool:
    """Return whether a sentence says anything by itself: "ok, great" and "I'll look" do not."""
    return sum(word_rank(term) > MEANINGFUL_RANK for term in terms) >= 2 or any(
        any(map(str.isdigit, term)) for term in terms
    )


def _first_request(records: Sequence[Record], units: Sequence[CoverageUnit], room: int) -> list[int]:
    """Return the indexes of the sentences of the person's first turn, as far as they are short."""
    record = next((unit.record for unit in units if records[unit.record].role in PERSON_ROLES), None)
    found: list[int] = []
    size = 0
    for index, unit in enumerate(units):
        if unit.record == record and size + unit.size <= 4 * room * REQUEST_SHARE:
            found.append(index)
            size += unit.size
    return found


def _labels(records: Sequence[Record]) -> list[str]:
    """Return each line's label: the day, if there are several, and the speaker."""
    days = [to_datetime(occurred_at(record)).date().isoformat() for record in records]
    if len(set(days)) == 1:
        days = [""] * len(records)
    names = [f"{day} {record.role or ''}".strip() for day, record in zip(days, records, strict=True)]
    return [f"{name}: " if name else "" for name in names]


def _join_sentences(sentences: Sequence[str]) -> str:
    """Join sentences with spaces, after a semicolon where one ends without punctuation."""
    *others, last = sentences
    return " ".join([*(text if _END_PUNCTUATION.search(text) else f"{text};" for text in others), last])


AFTER_DAYS: Final = 14
MAX_GROUP: Final = 40
"""Records of one group: a digest of more would be longer than a passage, or say too little of each."""
MIN_GROUP: Final = 2
"""Records that an entity needs for a group of its own."""
CUT_CONTEXT: Final = 5
"""Turns on each side of a cut whose entities are compared."""
PAUSE_MICROS: Final = 3_600 * SECOND
"""Pause that weighs as much as a complete change of entities; one twice as long weighs 1.6 times as much."""

Entities = Mapping[str, Sequence[str]]
"""Memory id to ids of the entities that it references."""

_ORIGINS: Final = frozenset(("owner", "agent", "tool"))
_DATE = re.compile(
    r"(\d{4})([-_.]?)(\d{2})\2(\d{2})(?:[ ,_-]+(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*)?\Z", re.IGNORECASE
)
_DERIVED: Final = RecordFilter(
    tiers=tuple(tier for tier in TIERS if tier != "observation"), statuses=STATUSES
)


def select_observations(
    records: Iterable[Record],
    now: int,
    after_days: int = AFTER_DAYS,
    archive: Collection[str] = (),
    unfinished: set[tuple[str, str]] | None = None,
) -> Iterator[Record]:
    """Yield the observations to digest; their texts are not read.

    These are the turns and tool results of conversations whose last turn is old; with ``transcripts`` in `archive`,
    tool results outside of conversations; with ``notes``, passages of daily notes, whose file, title or heading is a
    date. Other notes, additions, pinned, inactive, derived and untrusted memories are left alone, and so are those that
    are never injected: the digest would be.

    Args:
        records: All memories of a key, of any tier and status, in any order.
        now: UTC microseconds.
        after_days: Days since they happened, else since they were recorded.
        archive: What is archived.
        unfinished: Gets the key and session of each conversation whose last turn is not old.
    """
    limit = now - after_days * DAY
    turns: dict[tuple[str, str], list[Record]] = {}
    unfinished = set() if unfinished is None else unfinished
    for record in records:
        if record.tier != "observation":
            continue
        old = ended_at(record) < limit
        judged = record.pinned or NEVER_INJECT in record.tags
        eligible = record.status == "active" and not judged and record.origin in _ORIGINS
        if record.session is None:
            if old and eligible and _archive_kind(record) in archive:
                yield record
            continue
        conversation = (record.key, record.session)
        if not old:
            unfinished.add(conversation)
            turns.pop(conversation, None)
        elif (
            conversation not in unfinished
            and eligible
            and (record.turn is not None or record.role is not None or record.origin == "tool")
        ):
            turns.setdefault(conversation, []).append(record)
    for own in turns.values():
        yield from own


def _archive_kind(record: Record) -> str:
    """Return the archive option that covers a record outside of conversations, or an empty string."""
    if record.place is not None and record.turn is None:
        names = (PurePosixPath(record.place.path).stem, record.title, *record.heading_path)
        return NOTES if any(map(_is_date, names)) else ""
    return TRANSCRIPTS if record.origin == "tool" else ""


def _is_date(name: str) -> bool:
    """Return whether a name is a date and nothing else.

    >>> [_is_date(name) for name in ("2026-01-14", "2026_01_14 Wed", "2026-01-14-postgresql", "2026-13-01")]
    [True, True, False, False]
    """
    match = _DATE.match(name.strip())
    if match is None:
        return False
    try:
        date(int(match[1]), int(match[3]), int(match[4]))
    except ValueError:
        return False
    return True


def group_records(records: Iterable[Record], entities: Entities) -> list[tuple[Record, ...]]:
    """Return the groups in the order in which their first records were written; texts are not read.

    A conversation is one group. Other observations are grouped by entity and month, a record of several entities by
    the one with the highest: records of the month that name it * ln(all records / records that name it). Groups never
    mix visibility keys or projects, and long ones are split.
    """
    conversations: defaultdict[tuple[str, str, str | None], list[Record]] = defaultdict(list)
    others: defaultdict[tuple[str, str | None], list[Record]] = defaultdict(list)
    for record in records:
        if record.session is not None:
            conversations[record.key, record.session, record.project].append(record)
        else:
            others[record.key, record.project].append(record)
    groups = [
        *conversations.values(),
        *(group for own in others.values() for group in _group_by_entity(own, entities)),
    ]
    found = [
        part
        for group in groups
        for part in _split_group(tuple(sorted(group, key=chronological_key)), entities)
    ]
    return sorted(found, key=lambda part: (part[0].recorded_at, chronological_key(part[0])))


def _group_by_entity(records: Sequence[Record], entities: Entities) -> list[list[Record]]:
    months = {record.id: to_datetime(occurred_at(record)).strftime("%Y-%m") for record in records}
    mentions = [(months[record.id], own) for record in records for own in set(entities.get(record.id, ()))]
    in_month = Counter(mentions)
    overall = Counter(entity for _, entity in mentions)
    members: defaultdict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in records:
        month = months[record.id]
        ranked = [
            (-in_month[month, entity] * math.log(len(records) / overall[entity]), entity)
            for entity in entities.get(record.id, ())
            if in_month[month, entity] >= MIN_GROUP
        ]
        members[month, min(ranked)[1] if ranked else ""].append(record)
    groups: list[list[Record]] = []
    rest: defaultdict[str, list[Record]] = defaultdict(list)
    for (month, entity), own in members.items():
        if entity and len(own) >= MIN_GROUP:
            groups.append(own)
        else:
            rest[month] += own
    return [*groups, *rest.values()]


def _split_group(records: tuple[Record, ...], entities: Entities) -> list[tuple[Record, ...]]:
    """Split a group in its middle half, where the pause is longest and the entities differ most, until all fit."""
    if len(records) <= MAX_GROUP:
        return [records]

    def score(cut: int) -> tuple[float, int]:
        before = {
            entity
            for record in records[max(0, cut - CUT_CONTEXT) : cut]
            for entity in entities.get(record.id, ())
        }
        after = {
            entity for record in records[cut : cut + CUT_CONTEXT] for entity in entities.get(record.id, ())
        }
        change = 1 - len(before & after) / len(before | after) if before and after else 0.0
        return (change + math.log2(1 + pauses[cut - 1] / PAUSE_MICROS), -abs(2 * cut - len(records)))

    pauses = [occurred_at(after) - occurred_at(before) for before, after in pairwise(records)]
    cut = max(range(len(records) // 4, len(records) * 3 // 4 + 1), key=score)
    return _split_group(records[:cut], entities) + _split_group(records[cut:], entities)


@frozen
class DigestCoverage:
    """Observations by whether they are digested.

    Attributes:
        digested: Those with one, and its id.
        outgrown: Ids of digests of conversations that continued, sorted.
    """

    new: list[Record]
    digested: list[tuple[Record, str]]
    outgrown: list[str]


def digest_coverage(ctx: RunContext, records: Sequence[Record]) -> DigestCoverage:
    """Split observations by whether a digest of the run's key has them as a source."""
    edges: dict[str, Edge] = {}
    for batch in in_batches(records, STATUS_BATCH):
        with ctx.reader() as reader:
            for edge in reader.edges([record.id for record in batch], ["derived_from"], inward=True):
                own = edge.rule == DIGEST_RULE and edge.key == ctx.key
                if own and edge.src not in ctx.preview.withdrawn:
                    edges[edge.dst] = edge
    digested = [(record, edges[record.id].src) for record in records if record.id in edges]
    written_at: dict[str, int] = {}
    for edge in edges.values():
        written_at[edge.src] = min(edge.at, written_at.get(edge.src, edge.at))
    digested_at: dict[tuple[str | None, str | None], int] = {}
    for record, digest in digested:
        if record.session is not None:
            part = record.session, record.project
            digested_at[part] = max(written_at[digest], digested_at.get(part, 0))
    new = [
        record
        for record in records
        if record.id not in edges
        and record.updated_at > digested_at.get((record.session, record.project), -1)
    ]
    continued = {(record.session, record.project) for record in new}
    outgrown = {
        digest
        for record, digest in digested
        if record.session is not None and (record.session, record.project) in continued
    }
    return DigestCoverage(new, digested, sorted(outgrown))


@frozen
class WrittenDigest:
    """A digest and its sources.

    Attributes:
        memory: It as a memory, not yet embedded.
        archived: Those of the sources that are archived with it.
    """

    records: tuple[Record, ...]
    digest: Digest
    memory: PreparedMemory
    archived: tuple[Record, ...] = ()


def digest_memory(
    ctx: RunContext, secret: bytes, records: Sequence[Record], digest: Digest, at: int
) -> WrittenDigest:
    """Make a memory of a digest."""
    content_hash = text_hash(digest.text)
    sources = "\x1e".join(sorted(record.id for record in records))
    precisions = [record.event.precision for record in records if record.event is not None]
    event = EventTime(digest.start, digest.end, max(precisions, key=PRECISIONS.index, default="second"))
    record = Record(
        id=memory_id(DIGEST_TIER, memory_key(secret, ("digest", ctx.key, sources, content_hash))),
        tier=DIGEST_TIER,
        content=digest.text,
        content_hash=content_hash,
        title=digest.title,
        key=ctx.key,
        owner=common_value(record.owner for record in records) or ctx.scope.user,
        recorded_at=at,
        updated_at=at,
        tags=digest.tags,
        project=common_value(record.project for record in records),
        agent=common_value(record.agent for record in records),
        session=common_value(record.session for record in records),
        origin="derived",
        event=None if all(record.is_undated_import for record in records) else event,
    )
    return WrittenDigest(tuple(records), digest, prepare_memory(record))


def with_given_fields(record: Record, earlier: Record) -> Record:
    """Return a record with the fields of an earlier one that a person changed; which of them is not recorded."""
    tags = {*earlier.tags, *(tag for tag in record.tags if tag == NEVER_INJECT)}
    return replace(
        record,
        title=earlier.title,
        tags=tuple(sorted(tags)),
        confidence=earlier.confidence,
        valid_from=earlier.valid_from,
        valid_until=earlier.valid_until,
    )


def inherit_work(
    digest: WrittenDigest, earlier: Sequence[Record], work: PersonsWork
) -> tuple[WrittenDigest, list[Change]]:
    """Return a digest with what persons gave those that it replaces, and their events and links to write after it."""
    record = digest.memory.record
    events: list[Event] = []
    edges: list[Edge] = []
    for old in earlier:
        own = work.events.get(old.id, ())
        if work.changed(old.id):
            record = with_given_fields(record, old)
        if NEVER_INJECT in old.tags:
            record = replace(record, tags=tuple(sorted({*record.tags, NEVER_INJECT})))
        if any(event.op in VERDICTS for event in own):
            record = replace(record, strength=min(record.strength, strength_after(own)))
        if old.id != record.id:
            events += [replace(event, memory=record.id) for event in reversed(own)]
            renamed = {old.id: record.id}
            edges += [
                replace(edge, src=renamed.get(edge.src, edge.src), dst=renamed.get(edge.dst, edge.dst))
                for edge in work.links.get(old.id, ())
            ]
    if record == digest.memory.record and not edges:
        return digest, []
    return replace(digest, memory=prepare_memory(record)), [PutEdges(tuple(edges)), PutEvents(tuple(events))]


def digest_changes(
    ctx: RunContext, digests: Sequence[WrittenDigest], linking: Iterable[Change], at: int
) -> list[Change]:
    """Return the changes that follow the digests: their edges and events, and their archived sources.

    A digest gets no ``similar`` edge to a source. ``at`` is before the sources were read: one that is written later is
    digested anew.
    """
    sources = {record.id for digest in digests for record in digest.records}
    changes: list[Change] = []
    for change in linking:
        if isinstance(change, PutEdges):
            own_edges = (edge for edge in change.edges if edge.kind != "similar" or edge.dst not in sources)
            change = replace(change, edges=tuple(own_edges))
        changes.append(change)
    edges: list[Edge] = []
    events: list[Event] = []
    for written in digests:
        digest, read_at = written.memory.record.id, source_times(written.records, at)
        edges += [
            Edge(
                digest, "derived_from", source, ctx.key, share, read_at[source], rule=DIGEST_RULE, run=ctx.run
            )
            for source, share in _sentence_shares(written).items()
        ]
        events.append(Event(digest, "derived", at, ctx.key, ctx.run, count=len(written.records)))
    archived = [(record.id, written.memory.record.id) for written in digests for record in written.archived]
    return [*changes, PutEdges(tuple(edges)), PutEvents(tuple(events)), *archive_changes(ctx, archived, at)]


def source_times(sources: Iterable[Record], at: int) -> dict[str, int]:
    """Return the times of the edges to sources that were read after ``at``, by id.

    One that a fast clock has dated later has its own time: else it would count as changed since in every run.
    """
    return {source.id: max(at, source.updated_at) for source in sources}


def _sentence_shares(written: WrittenDigest) -> dict[str, float]:
    """Return each source's share of the sentences; a sentence of several sources counts in parts."""
    shares = dict.fromkeys((record.id for record in written.records), 0.0)
    for sentence in written.digest.sentences:
        for source in sentence.sources:
            shares[source] += 1 / len(sentence.sources)
    count = len(written.digest.sentences)
    return {source: min(1.0, share / count) for source, share in shares.items()}


_STATES_SOMETHING: Final = re.compile(
    r",|\b(?:that|because|since|remember|tell|told|know|knew|mention|mentioned|said|say|heard"
    r"|dass|weil|wei(?:ß|ss)t|wusstest|erinner\w*|erzähl\w*|sagte|gesagt|gehört)\b",
    re.IGNORECASE,
)
"""Signs that a question states something: "Did I tell you that we moved to Bremen?"."""


def quotes_all(quoted: Collection[str], record: Record) -> bool:
    """Return whether a digest of these sentences quotes all of a turn but small talk and questions that state nothing.

    Headings and lines of code count as sentences. A sentence within another's counts only if it is none by itself.
    Other observations count as quoted.
    """
    if record.session is None or record.origin == "tool":
        return True
    own = set(verbatim_sentences(record.content[:MAX_RECORD_TEXT], MAX_CODE))
    quoted = own.intersection(quoted)
    for line in normalize_newlines(record.content).split("\n"):
        marks = _LINE_MARKS.match(line)
        words = "" if _FENCE.match(line) else line[marks.end() if marks else 0 :]
        for sentence in sentences(words):
            said = " ".join(sentence.split())
            is_within = said not in own and any(said in quote for quote in quoted)
            if not (said in quoted or is_within or is_small_talk(said) or _only_asks(said)):
                return False
    return True


def quoted_sentences(digest: str, role: str | None) -> set[str]:
    """Return the sentences of a stored digest, without the label of a speaker; some may be joined to one."""
    label = re.compile(rf"(?:\d{{4}}-\d\d-\d\d)? ?{re.escape(role or '')}: ")
    starts = ((line, label.match(line)) for line in digest.split("\n"))
    return {
        sentence
        for line, start in starts
        for sentence in _split_sentences(line[start.end() if start else 0 :])
    }


def _only_asks(sentence: str) -> bool:
    words = sentence.rstrip("?？")
    return words != sentence and is_question(words) and not _STATES_SOMETHING.search(words)


def archive_changes(ctx: RunContext, sources: Sequence[tuple[str, str]], at: int) -> list[Change]:
    """Return the changes that archive active memories."""
    if not sources:
        return []
    events = (
        Event(memory, "archived", at, ctx.key, ctx.run, digest, before="active") for memory, digest in sources
    )
    statuses = {memory: LifecycleChange(status="archived") for memory, _ in sorted(sources)}
    return [PutLifecycle(statuses), PutEvents(tuple(events))]


@frozen
class StaleDigest:
    """A digest to withdraw.

    Attributes:
        digest: The digest, as it was read.
        reactivated: Sources that were archived with it, and become active again.
    """

    digest: Record
    reactivated: tuple[Record, ...]


def stale_digests(ctx: RunContext) -> Iterator[StaleDigest]:
    """Yield the derived memories of the run's key whose sources changed, were reactivated or are gone.

    Digests of older rules that no archived source depends on count as stale too; pinned ones never do.
    """
    after = ""
    with ctx.reader() as reader:
        outdated_runs = {run.id for run in reader.runs(ALL_EVENTS) if run.rules != RULES_VERSION}
    while True:
        with ctx.reader() as reader:
            page = reader.page(after, MEMORY_PAGE, _DERIVED)
            own = [record for record in page if record.key == ctx.key and is_withdrawable(record)]
            found = list(_stale_among(reader, own, outdated_runs))
        yield from found
        if not page:
            return
        after = page[-1].id


def withdrawable_digests(ctx: RunContext, digests: Sequence[str]) -> list[StaleDigest]:
    """Return those of the digests that may be withdrawn, each with the sources that its run archived."""
    found = []
    with ctx.reader() as reader:
        for digest, record in reader.get(digests).items():
            if is_withdrawable(record):
                edges = reader.edges([digest], ["derived_from"])
                sources = reader.get([edge.dst for edge in edges if edge.rule == DIGEST_RULE])
                found.append(StaleDigest(record, _archived_with(reader, digest, sources)))
    return found


def unchanged_digests(reader: Reader, stale: Sequence[StaleDigest]) -> list[StaleDigest]:
    """Return the digests that nobody has changed since they were read, nor the sources archived with them."""
    stored = reader.get(sorted(record.id for one in stale for record in (one.digest, *one.reactivated)))
    return [
        one
        for one in stale
        if all(is_unchanged(record, stored.get(record.id)) for record in (one.digest, *one.reactivated))
    ]


def withdraw_digests(ctx: RunContext, stale: Sequence[StaleDigest], at: int) -> list[Change]:
    """Return the changes that remove digests and reactivate what was archived with them."""
    read = {record.id: record for one in stale for record in (one.digest, *one.reactivated)}
    return [
        RequireUnchanged(read),
        DropMemory(tuple(one.digest.id for one in stale)),
        *reactivate_sources(ctx, stale, at),
    ]


def reactivate_sources(ctx: RunContext, stale: Sequence[StaleDigest], at: int) -> list[Change]:
    records = {record.id: record for digest in stale for record in digest.reactivated}
    return status_changes(records.values(), LifecycleChange(status="active"), "restored", at, ctx.run)


def is_withdrawable(record: Record) -> bool:
    """Return whether a run may withdraw or rewrite a derived memory."""
    put_away = record.status == "archived" and record.tier != DIGEST_TIER  # it would come back
    return record.origin == "derived" and not record.pinned and not put_away


def _stale_among(
    reader: Reader, digests: Sequence[Record], outdated_runs: Collection[str]
) -> Iterator[StaleDigest]:
    derived: dict[str, Event] = {}
    cleared = set()  # digests and sources that are no longer marked wrong
    for event in reader.events([digest.id for digest in digests], limit=ALL_EVENTS):
        if event.op == "derived" and event.run is not None:
            derived.setdefault(event.memory, event)
        elif event.op == "not-wrong" and event.memory not in derived:
            cleared.add((event.memory, event.other))
    edges: dict[str, list[Edge]] = {memory: [] for memory in derived}
    for edge in reader.edges(list(derived), ["derived_from"]):
        if edge.run == derived[edge.src].run:  # not one that a person added
            edges[edge.src].append(edge)
    by_id = {digest.id: digest for digest in digests}
    for digest, own in edges.items():
        sources = reader.get([edge.dst for edge in own])
        # Digests were once made across projects, and seen in all of them.
        quoted = {edge.dst for edge in own if edge.rule == DIGEST_RULE} & sources.keys()
        mixed = len({sources[source].project for source in quoted}) > 1
        # A facet of a superseded value is replaced by the current one; insights may rest on what changed.
        is_facet = by_id[digest].tier == "facet"
        outdated = is_facet and any(record.status == "superseded" for record in sources.values())
        misjudged = any(
            sources[edge.dst].marked_wrong if edge.weight else (digest, edge.dst) in cleared
            for edge in own
            if edge.rule == DIGEST_RULE and edge.dst in sources
        )
        if (
            len(own) < derived[digest].count
            or outdated
            or misjudged
            or mixed
            or _has_changed(reader, own, sources)
        ):
            yield StaleDigest(by_id[digest], _archived_with(reader, digest, sources))
        elif (
            derived[digest].run in outdated_runs
            and any(edge.rule == DIGEST_RULE for edge in own)
            and not _archived_with(reader, digest, sources)
        ):
            yield StaleDigest(by_id[digest], ())


def _has_changed(reader: Reader, edges: Sequence[Edge], sources: Mapping[str, Record]) -> bool:
    if any(sources[edge.dst].updated_at > edge.at for edge in edges):
        return True
    active = [memory for memory, record in sources.items() if record.status == "active"]
    # Active though nobody restored it: its text was replaced, whatever the clock says.
    return any(event.op == "archived" for event in last_status_events(reader, active).values())


def _archived_with(reader: Reader, digest: str, sources: Mapping[str, Record]) -> tuple[Record, ...]:
    """Return the sources that were archived with a digest, and whose status was not changed since."""
    archived = [memory for memory, record in sources.items() if record.status == "archived"]
    last = last_status_events(reader, archived)
    return tuple(
        sources[memory]
        for memory in archived
        if memory in last and last[memory].op == "archived" and last[memory].other == digest
    )
