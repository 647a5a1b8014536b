"""Fact promotion: sentences that two sources state word for word and that nothing later changes.

Texts are read once and reduced to a gist, which is stored with the memory: a hash for each pair of a sentence's rare
words, and the names of the commands that it shows. Only records that share a hash with another source are read again.
"""

from __future__ import annotations

import hashlib
import json
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import combinations
from typing import Final, NamedTuple

from scrubjay.consolidation.context import chronological_key, common_value, ended_at, occurred_at
from scrubjay.consolidation.digest import verbatim_sentences
from scrubjay.consolidation.shell_commands import extract_steps
from scrubjay.facts.conflicts import classify_change
from scrubjay.facts.extractor import extract_facts
from scrubjay.facts.reconciliation import DOUBT_FACTOR
from scrubjay.frozen import frozen
from scrubjay.models.dates import to_datetime
from scrubjay.models.records import PERSON_ROLES, PRECISIONS, EventTime, Record
from scrubjay.text.language import function_words
from scrubjay.text.normalize import fold, normalize_typography
from scrubjay.text.tokenizer import stem_word, word_rank

SINGLE_SOURCE_CONFIDENCE: Final = 0.7
MAX_EVIDENCE: Final = 100
"""Sources that are listed as evidence."""
FACT_KINDS: Final = ("decision", "fact")
"""Kinds of extracted statements that are facts; the others are lessons and procedures."""
MAX_FACT_TEXT: Final = 50_000
MIN_FACT_WORDS: Final = 4
MAX_FACT_WORDS: Final = 40
RARE_RANK: Final = 4_000
"""Rank of a word that names what a sentence is about, if it holds no name."""
LOOKUP_WORDS: Final = 3
"""Rarest words of a sentence, which is looked up by each pair of them."""
MAX_PAIR_USES: Final = 200
"""Uses of a pair of words from which on the sentence is a form that is filled in, and no fact."""
MIN_SIMILARITY: Final = 0.6
"""Jaccard similarity of the stems of two sentences from which they are compared."""
MAX_COMPARED: Final = 50_000
"""Pairs that are compared, the most similar first: 10 s of processor time at most."""
GIST_RULES: Final = "8"
"""Raise it when `fact_sentences`, `extract_facts` or `extract_steps` find something else, so that texts are read
again."""

_WORD = re.compile(r"\w+(?:[.'/:_-]\w+)*")
_PREDICATE = re.compile(
    r"\b(?:is|are|was|were|has|have|must|cannot|can't|can|needs|requires|costs|takes|supports|stores|listens|expires|runs|"
    r"uses|use|lives|works|owns|contains|holds|serves|deploys|run|live|need|require|moved|chose|decided|switched|agreed|replaced|returns|means|"
    r"doesn't|does not|don't|do not|allows|accepts|belongs|depends|starts|ends|opens|closes|reports|handles|keeps)\b",
    re.IGNORECASE,
)
_DEPENDENT = re.compile(
    r"\s*[\"'(*_]*(?:it|its|it's|this|that|that's|these|those|they|he|she|his|her|their|there|here|you|your|which|who|"
    r"what|why|how|when|where|if|let|let's|please|maybe|perhaps|and|but|so|or|then|because|also|however|todo|fix|check|"
    r"ask|call|remember)\b",
    re.IGNORECASE,
)
"""Beginning of a sentence that does not stand alone, or is a task."""
_TEMPORARY = re.compile(
    r"\b(?:today|tonight|yesterday|tomorrow|now|currently|recently|lately|initially|soon|so far|just|still|again|"
    r"actually|(?:this|last|next) (?:week|weekend|month|morning|night|afternoon|evening|[a-z]{3,6}day)|"
    r"(?:week|month|day|year)s? ago|for (?:a while|weeks|months)|ended up|planning|getting|craving|experiencing|feel|"
    r"feeling|maybe|probably|perhaps|might|seems?|tired|busy)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=.)[\s\"'(](?:[A-HJ-Z]|[^\s\d\"'(]*+\d|`)|\w[/._:]\w", re.DOTALL)
_CONJUNCTION = re.compile(r"(?:and|but|so|or|because|then)\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\s*(?:i|i'm|i've|we|we're|we've|my|our|me)\b", re.IGNORECASE)


@frozen
class PromotedMemory:
    """A derived memory before it is written; its origin is ``derived``.

    Attributes:
        tier: ``crystal``, ``facet``, ``insight``, ``procedural`` or ``semantic``.
        title: Its title; empty for a ``semantic`` one.
        tags: Those that at least half of its sources have, sorted.
        evidence: Ids of its sources, sorted, each with its share, 0..1; the shares add up to 1.
        confidence: 0..1, from the number of independent sources.
        project: Project of all sources, else None.
        agent: Agent of all sources, else None.
        session: Conversation of all sources, else None.
        event: When it happened, or None.
        valid_until: When the first of its sources ends, UTC microseconds, or None.
        sources: All of its sources, as they were read.
    """

    tier: str
    text: str
    title: str
    tags: tuple[str, ...]
    evidence: tuple[tuple[str, float], ...]
    confidence: float
    key: str
    project: str | None
    agent: str | None
    session: str | None
    event: EventTime | None
    valid_until: int | None
    sources: tuple[Record, ...]


def title_key(memory: PromotedMemory) -> tuple[str, str, str]:
    """Return the sort key of memories that have titles: by visibility key, project and title."""
    return memory.key, memory.project or "", memory.title


def promoted_memory(
    tier: str,
    text: str,
    title: str,
    records: Sequence[Record],
    event: EventTime | None,
    shares: Sequence[float] = (),
) -> PromotedMemory:
    """Return a memory derived from records of one visibility key.

    Of more than ``MAX_EVIDENCE`` sources only those of the greatest share, else the latest, are listed; without
    ``shares`` all contributed the same.
    """
    weights = dict(zip((record.id for record in records), shares or [1.0] * len(records), strict=True))
    listed = sorted(records, key=chronological_key, reverse=True)
    listed = sorted(listed, key=lambda record: -weights[record.id])[:MAX_EVIDENCE]
    total = sum(sorted(weights[record.id] for record in listed))
    tags = Counter(tag for record in records for tag in set(record.tags))
    return PromotedMemory(
        tier,
        text,
        title,
        tuple(sorted(tag for tag, count in tags.items() if 2 * count >= len(records))),
        tuple(sorted((record.id, weights[record.id] / total) for record in listed)),
        source_confidence(len(set(map(source_key, records)))),
        records[0].key,
        common_value(record.project for record in records),
        common_value(record.agent for record in records),
        common_value(record.session for record in records),
        event,
        min((record.valid_until for record in records if record.valid_until is not None), default=None),
        tuple(records),
    )


def source_confidence(sources: int) -> float:
    """Return the confidence in a statement of some independent sources: each halves the remaining doubt.

    >>> [round(source_confidence(sources), 4) for sources in (1, 2, 3)]
    [0.7, 0.85, 0.925]
    """
    return 1 - (1 - SINGLE_SOURCE_CONFIDENCE) * DOUBT_FACTOR ** (sources - 1)


def source_key(record: Record) -> str:
    """Name the independent source of a record: its conversation, else its document on its day, else its day."""
    if record.session is not None:
        return f"session {record.session}"
    day = to_datetime(occurred_at(record)).date().isoformat() if record.is_dated else ""
    if record.place is not None:
        return f"document {record.place.source} {record.place.path} {day}"
    return f"day {day}"


def time_span(records: Sequence[Record]) -> EventTime | None:
    """Return the time from the first record to the last, as precise as the least precise; None if one has none."""
    events = [record.event for record in records if record.event is not None]
    if len(events) < len(records):
        return None
    coarsest = max((event.precision for event in events), key=PRECISIONS.index)
    return EventTime(min(map(occurred_at, records)), max(map(ended_at, records)), coarsest)


def is_spoken(record: Record) -> bool:
    """Return whether a record is a turn of the person whose memory this is."""
    return record.session is not None and record.role in PERSON_ROLES and record.origin == "owner"


def is_usable(record: Record) -> bool:
    """Return whether a record may be evidence: not if it is untrusted, superseded or marked wrong."""
    return record.origin != "untrusted" and record.status != "superseded" and not record.marked_wrong


def is_expired(record: Record, now: int) -> bool:
    return record.valid_until is not None and record.valid_until <= now


def _is_dated_note(record: Record) -> bool:
    return record.session is None and record.event is not None and record.origin in ("owner", "agent")


def fact_sentences(record: Record) -> Iterator[str]:
    """Yield the sentences of an observation that could be facts, with white space collapsed."""
    if record.tier != "observation" or not is_usable(record):
        return
    if is_spoken(record):
        for statement in extract_facts(record.content):
            text = statement.text
            if statement.kind not in FACT_KINDS or _TEMPORARY.search(text) or _CONJUNCTION.match(text):
                continue
            if _is_specific(text):
                yield text
    elif _is_dated_note(record):
        yield from filter(_is_standalone_fact, verbatim_sentences(record.content[:MAX_FACT_TEXT]))


def _is_standalone_fact(text: str) -> bool:
    if not MIN_FACT_WORDS <= len(text.split()) <= MAX_FACT_WORDS:
        return False
    if "?" in text or _DEPENDENT.match(text) or _TEMPORARY.search(text):
        return False
    if _FIRST_PERSON.match(text):
        return any(statement.kind in FACT_KINDS for statement in extract_facts(text))
    return _PREDICATE.search(text) is not None and _is_specific(text)


def _is_specific(text: str) -> bool:
    return _NAME.search(text) is not None or max(map(word_rank, content_words(text)), default=0) >= RARE_RANK


def content_words(text: str) -> list[str]:
    """Return the words of a text in order, folded, without function words.

    >>> content_words("The Zugang für Gäste")
    ['zugang', 'für', 'gäste']
    """
    words = ((word, word.partition("'")[0]) for word in _folded_words(text))
    return [
        word for word, bare in words if bare not in function_words("en") and (len(bare) > 1 or bare.isdigit())
    ]


def plain_words(text: str) -> str:
    """Return a sentence without case, punctuation and markup; equal ones state the same fact."""
    return " ".join(_folded_words(text))


def _folded_words(text: str) -> list[str]:
    # One by one: to fold a text with a letter beyond ASCII would drop its blanks.
    return [fold(word) for word in _WORD.findall(normalize_typography(text))]


@lru_cache(65_536)
def _stem(word: str) -> str:
    return stem_word(word, "en")


class SentenceGist(NamedTuple):
    """Lookup keys of a sentence.

    Attributes:
        personal: Whether the speaker talks about themselves.
        pairs: Hashes of the pairs of its rarest words.
    """

    personal: bool
    pairs: tuple[int, ...]


def sentence_gist(text: str) -> SentenceGist:
    """Return the gist of a sentence; numbers are left out if there are words, so that other values are found too."""
    rarest = sorted(
        set(content_words(text)), key=lambda word: (any(map(str.isdigit, word)), -word_rank(word), word)
    )
    stems = [*dict.fromkeys(map(_stem, rarest))][:LOOKUP_WORDS]
    pairs = combinations(stems * 2 if len(stems) == 1 else stems, 2)
    return SentenceGist(
        text[:2].lower() in ("i ", "i'", "my"), tuple(_hash("\x1f".join(sorted(pair))) for pair in pairs)
    )


def _hash(text: str) -> int:
    return int.from_bytes(
        hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big"
    )


def _project(record: Record, gist: SentenceGist) -> str:
    """Return the project a sentence is about: "the server" differs by project, the speaker does not."""
    return "" if gist.personal else record.project or ""


def _lookup_hashes(record: Record, gist: SentenceGist) -> list[int]:
    scope = _hash(f"{record.key}\x1f{_project(record, gist)}")
    return [pair ^ scope for pair in gist.pairs]


@frozen
class Gist:
    """Digest of one text for promotion: gists of its possible facts, and names of its commands in order."""

    sentences: tuple[SentenceGist, ...] = ()
    steps: tuple[str, ...] = ()


EMPTY_GIST: Final = Gist()


def compute_gist(record: Record) -> Gist:
    """Return the gist of a record, whatever its status and verdicts.

    >>> compute_gist(Record("obs_0", "observation", "Run `git push origin`.", "", "", "", "", 0, 0, session="s")).steps
    ('git push',)
    """
    match _reading(record):
        case "":
            return EMPTY_GIST
        case "shown":
            return Gist(steps=tuple(step.name for step in extract_steps(record.content)))
    return Gist(tuple(map(sentence_gist, fact_sentences(replace(record, status="active", strength=1.0)))))


def gist_fingerprint(record: Record) -> str:
    """Return the version of a record's gist, or an empty string if its text is not read."""
    reading = _reading(record)
    return f"{_hash(f'{GIST_RULES} {reading} {record.content_hash}'):016x}" if reading else ""


def _reading(record: Record) -> str:
    """Return ``said`` or ``noted`` for a text read for facts, ``shown`` for commands, "" for none."""
    if record.tier != "observation":
        return ""
    if is_spoken(record):
        return "said"
    if record.session is not None:
        return "shown" if record.origin != "derived" else ""
    return "noted" if _is_dated_note(record) else ""


def serialize_gist(gist: Gist) -> bytes:
    """Serialize a gist for the store.

    >>> gist = Gist((SentenceGist(True, (1, 2)), SentenceGist(False, ())), ("git push",))
    >>> parse_gist(serialize_gist(gist)) == gist, parse_gist(serialize_gist(EMPTY_GIST)) == EMPTY_GIST
    (True, True)
    """
    return json.dumps([gist.sentences, gist.steps]).encode() if gist != EMPTY_GIST else b""


def parse_gist(data: bytes) -> Gist:
    """Parse a serialized gist."""
    if not data:
        return EMPTY_GIST
    sentences, steps = json.loads(data)
    return Gist(tuple(SentenceGist(personal, tuple(pairs)) for personal, pairs in sentences), tuple(steps))


class _HashIndex:
    """Lookup hashes with their record and source, 24 bytes each."""

    def __init__(self) -> None:
        self._hashes, self._sources, self._records = array("Q"), array("Q"), array("Q")
        self._ids: list[str] = []

    def add(self, record: Record, hashes: Iterable[int]) -> None:
        source, index = _hash(source_key(record)), len(self._ids)
        self._ids.append(record.id)
        for value in hashes:
            self._hashes.append(value)
            self._sources.append(source)
            self._records.append(index)

    def shared(self) -> tuple[frozenset[int], frozenset[str]]:
        """Return the hashes of at least two sources, used at most ``MAX_PAIR_USES`` times, and their records' ids."""
        import numpy as np

        if not self._hashes:
            return frozenset(), frozenset()
        hashes, sources, records = (
            np.frombuffer(column, np.uint64) for column in (self._hashes, self._sources, self._records)
        )
        order = np.argsort(hashes, kind="stable")
        hashes, sources, records = hashes[order], sources[order], records[order]
        starts = np.flatnonzero(np.concatenate(([True], hashes[1:] != hashes[:-1])))
        sizes = np.diff(np.append(starts, len(hashes)))
        several = np.maximum.reduceat(sources, starts) != np.minimum.reduceat(sources, starts)
        chosen = several & (sizes <= MAX_PAIR_USES)
        found = set(records[np.repeat(chosen, sizes)].tolist())
        return frozenset(hashes[starts[chosen]].tolist()), frozenset(self._ids[index] for index in found)


_SentenceKey = tuple[str, str, str]
"""Visibility key, project and plain words."""


@dataclass(slots=True)
class _Sentence:
    text: str
    sources: list[Record] = field(default_factory=list)
    known: list[Record] = field(default_factory=list)

    def last_said(self) -> tuple[int, int, int, str]:
        return max(map(chronological_key, (*self.sources, *self.known)))


@frozen
class FactSupport:
    """Further evidence of a known fact.

    Attributes:
        confidence: Its confidence with all evidence; never less than before.
        evidence: Ids of the further sources, sorted, each with its share.
        sources: The fact and all that state it, as they were read.
    """

    memory: str
    confidence: float
    evidence: tuple[tuple[str, float], ...]
    before: float
    sources: tuple[Record, ...]


@frozen
class CorroboratedFacts:
    """Facts of several sources.

    Attributes:
        facts: New facts, sorted by key, project and text.
        supports: Known facts with further evidence, sorted by id.
    """

    facts: tuple[PromotedMemory, ...]
    supports: tuple[FactSupport, ...]


def corroborate_facts(
    observations: Iterable[tuple[Record, Gist]],
    read: Callable[[Collection[str]], Iterable[Record]],
    known: Iterable[Record],
    evidence: Mapping[str, Collection[str]],
) -> CorroboratedFacts:
    """Return the facts that several sources state.

    Args:
        observations: All of them, archived ones too, each with its gist, in any order.
        read: Returns the records of some ids with their texts.
        known: Facts and lessons of every status: a superseded or archived one is not promoted again.
        evidence: Ids of the evidence of each known one.
    """
    index = _HashIndex()
    for record, gist in observations:
        if gist.sentences and is_usable(record):
            index.add(
                record, (value for sentence in gist.sentences for value in _lookup_hashes(record, sentence))
            )
    shared, records = index.shared()
    sentences: dict[_SentenceKey, _Sentence] = {}
    blocks: defaultdict[int, set[_SentenceKey]] = defaultdict(set)

    def add(record: Record, text: str) -> None:
        gist = sentence_gist(text)
        hashes = [value for value in _lookup_hashes(record, gist) if value in shared]
        if hashes:
            key = (record.key, _project(record, gist), plain_words(text))
            sentence = sentences.setdefault(key, _Sentence(text))
            sentence.text = min(sentence.text, text, key=_wording_rank)
            (sentence.sources if record.tier == "observation" else sentence.known).append(record)
            for value in hashes:
                blocks[value].add(key)

    for record in read(records) if records else ():
        for text in fact_sentences(record):
            add(record, text)
    for record in known:
        if record.origin != "untrusted":
            add(record, " ".join(record.content.split()))
    facts: list[PromotedMemory] = []
    supports: list[FactSupport] = []
    for key in sorted(sentences.keys() - _changed_later(sentences, blocks.values())):
        sentence = sentences[key]
        sources = sorted({record.id: record for record in sentence.sources}.values(), key=chronological_key)
        count = len(set(map(source_key, sources)))
        active = [record for record in sentence.known if record.status == "active"]
        if count < 2:
            continue
        if not sentence.known:
            facts.append(promoted_memory("semantic", sentence.text, "", sources, sources[0].event))
        elif active:
            fact = min(active, key=lambda record: (record.recorded_at, record.id))
            missing = sorted({record.id for record in sources} - set(evidence.get(fact.id, ())))
            confidence = max(fact.confidence, source_confidence(count))
            if missing or confidence > fact.confidence:
                shares = tuple((memory, 1 / len(sources)) for memory in missing)
                supports.append(FactSupport(fact.id, confidence, shares, fact.confidence, (fact, *sources)))
    facts.sort(key=lambda fact: (fact.key, fact.project or "", fact.text))
    return CorroboratedFacts(tuple(facts), tuple(sorted(supports, key=lambda support: support.memory)))


def _wording_rank(text: str) -> tuple[bool, bool, float, str]:
    """Prefer whole sentences, then those with the rarest words."""
    ranks = [word_rank(word) for word in plain_words(text).split()]
    return (not text[:1].isupper(), text[-1:] not in ".!", -sum(ranks) / max(1, len(ranks)), text)


def _changed_later(
    sentences: Mapping[_SentenceKey, _Sentence], blocks: Iterable[set[_SentenceKey]]
) -> set[_SentenceKey]:
    """Return the sentences that a later one changes or contradicts, or may."""
    stems = {key: frozenset(map(_stem, content_words(sentence.text))) for key, sentence in sentences.items()}
    similarity: dict[tuple[_SentenceKey, _SentenceKey], float] = {}
    for block in blocks:
        for first, second in combinations(sorted(block), 2):
            either, both = stems[first] | stems[second], stems[first] & stems[second]
            jaccard = len(both) / max(1, len(either))
            if jaccard >= MIN_SIMILARITY:
                similarity[first, second] = jaccard
    changed: set[_SentenceKey] = set()
    for pair in sorted(similarity, key=lambda pair: (-similarity[pair], pair))[:MAX_COMPARED]:
        old, new = sorted(pair, key=lambda key: sentences[key].last_said())
        verdict = classify_change(sentences[old].text, sentences[new].text).verdict
        if verdict in ("supersedes", "contradicts"):
            changed.add(old)
    return changed
