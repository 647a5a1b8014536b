"""Audit: find memories of no use without a model, and propose how to mend them.

Case, punctuation and markup do not count. A character of a script without spaces is a word of its own. It does
not know what the texts are of.

A hundred thousand of them take about 60 MB, whatever the memories' length.

The memories are read a page at a time; their texts are not kept. What is kept of a hundred thousand notes of two
hundred words is about 60 MB of traits and 60 MB of numbers.

A copy in a turn, or saved by an agent, is told by its runs of words. An edit is none: wherever a word in the
middle differs, or a few at the end of what is quoted, the later memory says something of its own.

Edges to nothing need not be looked for: every store drops them with the memory that they led to.

Only equal words in the same order are the same, and only what is equal as it is written (blanks and the form of
Unicode aside) is put away: "C" and "C++" have the same words. Statements that are merely alike are left alone, since
"30 seconds" and "90 seconds" are as near as two statements can be. A file says what it says: that two files agree is
told, and neither is put away. Turns of conversations are left alone, people repeat themselves.

sweep > junk > twins > stale > contradicted > orphaned > unused > loops. It changes nothing.

What stays in the stead of another is never put away in the same run, so that no text goes altogether.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from sys import intern
from typing import TYPE_CHECKING, Final

from scrubjay.facts.reconciliation import REDACTION_MARKS, is_statement
from scrubjay.models.dates import DAY
from scrubjay.models.graph import Edge
from scrubjay.models.lifecycle import Event, LifecycleChange
from scrubjay.models.records import NO_FILTER, Record, said_at
from scrubjay.search.features import HALF_LIFE
from scrubjay.storage.changes import Change, PutEdges, PutEvents, PutLifecycle
from scrubjay.storage.interface import Reader
from scrubjay.text.normalize import has_unspaced, normalize_content, split_scripts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


FAULT_KINDS: Final = (
    "junk",
    "near-duplicate",
    "stale",
    "contradicted",
    "orphaned",
    "never-recalled",
    "recall-loop",
)
"""What an audit looks for, in the order in which it tells and mends."""
MENDED_KINDS: Final = tuple(kind for kind in FAULT_KINDS if kind != "never-recalled")
"""Kinds that have a fix: that nobody asked for a memory says nothing against it."""


@dataclass(frozen=True, slots=True)
class AuditFault:
    """One memory that is of no use, as far as an audit can tell.

    Attributes:
        memory: Its id.
        why: The reason, as the end of a sentence: "says nothing".
        reason: The same without figures, by which faults are counted.
        weight: How bad; the examples are those that weigh most.
        mend: Status that mends it: ``archived``, ``superseded``, or empty where only a person can.
        other: The memory that stays in its stead or speaks against it, or None.
    """

    memory: str
    why: str
    reason: str
    weight: float
    mend: str = ""
    other: str | None = None


SHINGLE_WORDS: Final = 5
"""Words in a row that two texts share by copying; four are still an idiom."""
WINNOW_WINDOW: Final = 8
"""Of so many runs in a row the smallest is kept: any common stretch of so many runs leaves a common number."""
MAX_KNOWN_WORDS: Final = 200_000
"""Words whose number is remembered: 30 MB."""
_FACTOR: Final = 0x9E3779B97F4A7C15
"""An odd number whose powers tell the places of a run apart (2**64 over the golden ratio)."""
_WORD: Final = re.compile(r"[^\W_]+")


def level_words(text: str) -> list[str]:
    """Return a text's words.

    >>> level_words("The **mast** is 12 m."), level_words("好的 OK")
    (['the', 'mast', 'is', '12', 'm'], ['好', '的', 'ok'])
    """
    if text.isascii() or not has_unspaced(text):
        return _WORD.findall(text.casefold())
    found: list[str] = []
    for run, start, end in split_scripts(text):
        part = text[start:end]
        found += part if run else _WORD.findall(part.casefold())
    return found


class WordNumbers:
    """Words to numbers that are the same in every process."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def of(self, words: Sequence[str]) -> NDArray[np.uint64]:
        """Return a number for each word, shape (words,)."""
        import numpy as np

        known = self._known
        if len(known) > MAX_KNOWN_WORDS:
            known.clear()
        for word in [word for word in set(words) if word not in known]:
            known[word] = hash_bits(word.encode("utf-8", "replace"))
        return np.array([known[word] for word in words], dtype=np.uint64)


def hash_bits(data: bytes) -> int:
    """Return 64 bits of a hash of bytes."""
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def shingle_numbers(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a number for each run of words.

    Args:
        numbers: One a word, shape (words,).

    Returns:
        Shape (words - RUN + 1,), empty for a shorter text.
    """
    import numpy as np

    count = max(0, len(numbers) - SHINGLE_WORDS + 1)
    mixed = np.zeros(count, np.uint64)
    for place in range(SHINGLE_WORDS):
        mixed += numbers[place : place + count] * np.uint64(pow(_FACTOR, place + 1, 2**64))
    return mixed ^ (mixed >> np.uint64(29))  # the low bits of products are the poorest


def winnow(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the smallest of every few runs in a row, each once (Schleimer et al., Winnowing, 2003).

    Two texts that share ``WINNOW_WINDOW`` runs in a row share one of these at least.
    """
    import numpy as np

    if len(numbers) < WINNOW_WINDOW:
        return numbers[:0]
    least = numbers
    for step in (1, 2, 4):  # of two, of four, of eight in a row
        least = np.minimum(least[:-step], least[step:])
    return np.unique(least)


FEW_WORDS: Final = 2
"""Words up to which a text says nothing, unless one of them names something: "yes", "thank you"."""
CHARACTERS_PER_WORD: Final = 2
"""Characters that are about a word in a script without spaces."""
_NAMES: Final = re.compile(r"\d|[^\W_]_[^\W_]|[a-z][A-Z]|[A-Z]{2}|\w[./:@\\-]\w")
"""What is in identifiers, paths, addresses, numbers and acronyms: "ECONNRESET" and "port 8080" say a lot."""


@dataclass(frozen=True, slots=True)
class MemoryTraits:
    """One active memory.

    Attributes:
        id: Its id.
        key: Its visibility key.
        tier: Its tier.
        derived: Whether it was made from others.
        kind: ``addition``, ``passage`` of a file, or ``turn`` of a conversation.
        document: Number of the document it stands in; of its id, if in none.
        session: Its conversation, or None.
        origin: Who said it.
        matter: Number of what must be equal before two memories can say the same: key, tier, project, event.
        said: Number of its levelled words in their order.
        digits: Number of the words in it that hold a digit.
        words: How many words it has.
        bare: Whether it says nothing.
        statement: Whether it is one statement, as `ingest.nominees` has it.
        dated: Whether it tells of an event of its own.
        recorded: UTC microseconds when it was first written.
        young: UTC microseconds of the last that is known of it: written, happened or used.
        ends: UTC microseconds from which it is no longer true, or None.
        used: Whether it was ever used.
        pinned: Whether nothing but its owner may put it away.
    """

    id: str
    key: str
    tier: str
    derived: bool
    kind: str
    document: int
    session: str | None
    origin: str
    matter: int
    said: int
    digits: int
    words: int
    bare: bool
    statement: bool
    dated: bool
    recorded: int
    young: int
    ends: int | None
    used: bool
    pinned: bool


def memory_traits(record: Record, words: Sequence[str], numbers: NDArray[np.uint64]) -> MemoryTraits:
    """Return what is compared of a memory.

    Args:
        record: The memory.
        words: Its levelled words.
        numbers: Their numbers.
    """
    place, event = record.place, record.event
    kind = "turn" if record.turn is not None else "addition" if place is None else "passage"
    document = f"{place.source}/{place.path}" if place is not None else record.id
    matter = (record.key, record.tier, record.project, event.start if event is not None else None)
    figures = sorted(word for word in words if not word.isalpha())
    return MemoryTraits(
        id=record.id,
        key=intern(record.key),
        tier=intern(record.tier),
        derived=record.origin == "derived",
        kind=kind,
        document=hash_bits(document.encode()),
        session=None if record.session is None else intern(record.session),
        origin=intern(record.origin),
        matter=hash_bits(repr(matter).encode()),
        said=hash_bits(numbers.tobytes()),
        digits=hash_bits(" ".join(figures).encode()),
        words=len(words),
        bare=_bare(record, words),
        statement=is_statement(record),
        dated=event is not None,
        recorded=record.recorded_at,
        young=last_activity(record),
        ends=record.valid_until,
        used=record.last_used is not None,
        pinned=record.pinned,
    )


def last_activity(record: Record) -> int:
    """Return the last that is known of a memory: when it was written, happened or was used.

    What is written today of the year 1815 is of today.
    """
    happened = record.event.start if record.event is not None else 0
    return max(record.recorded_at, happened, record.last_used or 0)


def _bare(record: Record, words: Sequence[str]) -> bool:
    """Tell whether a memory says nothing: no letter at all, or one or two words that name nothing."""
    text = record.content
    if not words:
        return not any(char.isalnum() for char in text)
    if len(words) > FEW_WORDS * CHARACTERS_PER_WORD or _NAMES.search(text):
        return False
    count = -(-len(words) // CHARACTERS_PER_WORD) if has_unspaced(text) else len(words)
    if count > FEW_WORDS:
        return False
    # A title of one's own is half of what is said ("wifi password": "bluebunny").
    return record.tier == "observation" and set(level_words(record.title)) <= set(words)


SWEEP_PAGE: Final = 1_000
"""Memories in hand at once."""
MAX_COMPARED_WORDS: Final = 4_000
"""Words of a memory that are looked at for copies: passages have 400, a book added whole is no copy of a memory."""


@dataclass(frozen=True, slots=True)
class AuditSweep:
    """What is kept of all active memories that a reader sees.

    Attributes:
        traits: In the order of the ids' digits.
        prints: Numbers of their runs of words, winnowed, mixed with their visibility keys; uint64, shape (n,).
        owners: Whose each is: places in ``traits``, uint32, shape (n,).
    """

    traits: tuple[MemoryTraits, ...]
    prints: NDArray[np.uint64]
    owners: NDArray[np.uint32]


def sweep_memories(reader: Reader) -> AuditSweep:
    """Read every active memory once."""
    import numpy as np

    numbers = WordNumbers()
    traits: list[MemoryTraits] = []
    prints = [np.empty(0, np.uint64)]
    owners = [np.empty(0, np.uint32)]
    salts: dict[str, np.uint64] = {}
    for record in active_memories(reader):
        words = level_words(record.content)
        numbered = numbers.of(words)
        key = salts.setdefault(record.key, np.uint64(hash_bits(record.key.encode())))
        own = winnow(shingle_numbers(numbered[:MAX_COMPARED_WORDS])) ^ key
        prints.append(own)
        owners.append(np.full(len(own), len(traits), np.uint32))
        traits.append(memory_traits(record, words, numbered))
    return AuditSweep(tuple(traits), np.concatenate(prints), np.concatenate(owners))


def active_memories(reader: Reader) -> Iterator[Record]:
    """Yield every visible active memory, in the order of the ids' digits."""
    after = ""
    while page := reader.page(after, SWEEP_PAGE, NO_FILTER):
        yield from page
        after = page[-1].id


def find_contradicted(
    reader: Reader, traits: Mapping[str, MemoryTraits], edges: list[Edge]
) -> Iterator[AuditFault]:
    """Yield the earlier of each two, with the later.

    It can be superseded by the later one where both are seen by the same people: what one writes for oneself
    decides nothing for others.

    Args:
        reader: What the caller sees.
        traits: The active memories by id.
        edges: ``contradicts`` edges among them.
    """
    pairs = sorted({tuple(sorted((edge.src, edge.dst))) for edge in edges})
    held = reader.get(sorted({memory for pair in pairs for memory in pair}))
    for pair in pairs:
        old, new = sorted(
            (held[memory] for memory in pair), key=lambda one: (said_at(one), one.recorded_at, one.id)
        )
        free = traits[old.id].key == traits[new.id].key and not traits[old.id].pinned
        yield AuditFault(
            old.id,
            "both cannot be so",
            "contradicted",
            float(said_at(new)),
            "superseded" if free else "",
            new.id,
        )


BOILERPLATE_COPIES: Final = 20
"""Memories with one text from which on it is a form, a signature, a licence: it tells none of them apart."""


def find_junk(traits: Sequence[MemoryTraits]) -> list[AuditFault]:
    """Return the memories that say nothing. Of a text that stands everywhere the best one stays.

    What happened on a day of its own ("ran 5 km", thirty times) is no boilerplate.
    """
    free = [one for one in traits if not one.pinned]
    faults = [
        AuditFault(one.id, "says nothing", "says nothing", 1.0 / (1 + one.words), "archived")
        for one in free
        if one.bare
    ]
    bare = {fault.memory for fault in faults}
    texts: defaultdict[tuple[str, int], list[MemoryTraits]] = defaultdict(list)
    for one in traits:
        if one.id not in bare and not (one.dated and one.kind == "addition"):
            texts[one.key, one.said].append(one)
    for same in texts.values():
        if len(same) >= BOILERPLATE_COPIES:
            first, *others = best_first(same)
            why = f"one text in {len(same):,} memories"
            faults += [
                AuditFault(one.id, why, "boilerplate", len(same), "archived", first.id)
                for one in others
                if not one.pinned
            ]
    return faults


def best_first(traits: Iterable[MemoryTraits]) -> list[MemoryTraits]:
    """Return memories that say the same in the order in which one would keep them: pinned, used, oldest."""
    return sorted(traits, key=lambda one: (not one.pinned, not one.used, one.recorded, one.id))


REPEATED_SHARE: Final = 0.8
"""Share of a memory's runs that stand in the older one."""
MIN_LOOP_WORDS: Final = 14
"""Words below which people say the same by chance. Four fifths of its runs always leave a common print."""
NOMINATED_SHARE: Final = 0.25
"""Share of its prints that must stand in the older one before the two are read: prints at the edges differ."""
TAKEN_BACK: Final = frozenset(
    {
        "actually", "but", "cancelled", "changed", "except", "false", "instead", "longer", "never",
        "no", "not", "now", "obsolete", "only", "outdated", "since", "superseded", "t", "unless",
        "until", "update", "updated", "wrong", "nicht", "kein", "nie", "mehr", "ne", "pas", "plus",
        "jamais", "non", "falso", "nunca", "ya",
    }
)  # fmt: skip
"""Words around a quotation that may say something of it ("it isn't so that", "cancelled"), in a few languages."""
LOOP_PAGE: Final = 500
"""Pairs whose texts are in hand at once."""


def find_loops(reader: Reader, swept: AuditSweep) -> Iterator[AuditFault]:
    """Yield what was captured again."""
    pairs = [(later, older) for later, older in _nominated(swept) if _apart(later, older)]
    for first in range(0, len(pairs), LOOP_PAGE):
        some = pairs[first : first + LOOP_PAGE]
        held = reader.get(sorted({one.id for pair in some for one in pair}))
        for later, older in some:
            share = repeated_share(held[later.id].content, held[older.id].content)
            if share >= REPEATED_SHARE:
                why = f"{share:.0%} of it repeats an older memory"
                yield AuditFault(later.id, why, "captured again", share, "archived", older.id)


def _apart(later: MemoryTraits, older: MemoryTraits) -> bool:
    """Tell whether the later one may be a capture of the older one at all.

    What a file says is no capture, and what was made from others is meant to repeat them. To save what was said
    is no loop either, but to hear it again in another conversation is.
    """
    if later.kind == "passage" or later.derived or later.pinned or later.words < MIN_LOOP_WORDS:
        return False
    if later.kind == "turn" and older.kind == "turn":
        return later.session != older.session
    if older.kind == "turn":
        return False
    return later.origin != older.origin or later.session != older.session


def _nominated(swept: AuditSweep) -> Iterator[tuple[MemoryTraits, MemoryTraits]]:
    """Yield each memory with the one that was there first of those it shares most prints with."""
    import numpy as np

    traits = swept.traits
    if not len(swept.prints):
        return
    age = np.empty(len(traits), np.int64)
    age[sorted(range(len(traits)), key=lambda place: (traits[place].recorded, traits[place].id))] = np.arange(
        len(traits)
    )
    order = np.lexsort((age[swept.owners], swept.prints))
    prints, owners = swept.prints[order], swept.owners[order]
    begins = np.flatnonzero(np.concatenate(([True], prints[1:] != prints[:-1])))
    first = np.repeat(owners[begins], np.diff(np.append(begins, len(prints))))
    amount = np.bincount(swept.owners, minlength=len(traits))
    chosen: dict[int, tuple[int, int]] = {}
    for later, older, count in _votes(owners, first, amount).tolist():
        if count > chosen.get(later, (0, 0))[1]:
            chosen[later] = (older, count)
    for later, (older, _) in chosen.items():
        yield traits[later], traits[older]


def _votes(
    owners: NDArray[np.uint32], first: NDArray[np.uint32], amount: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return (later, older, common prints) a row, where they are enough to read the two."""
    import numpy as np

    size = len(amount)
    joined, counts = np.unique(owners.astype(np.int64) * size + first, return_counts=True)
    later, older = joined // size, joined % size
    enough = (later != older) & (counts >= NOMINATED_SHARE * amount[later])
    return np.stack((later[enough], older[enough], counts[enough]), axis=1)


def repeated_share(later: str, older: str) -> float:
    """Return which share of a text's runs of words an older one holds, 0 where the later one is an edit of it.

    >>> said = "the retention of the archive is thirty days and the backup runs at noon every day"
    >>> repeated_share(f"From memory: {said}", said), repeated_share(said.replace("thirty", "ninety"), said)
    (0.8571428571428571, 0.0)
    """
    words, known = level_words(later), level_words(older)
    places = {run: place for place, run in reversed(list(enumerate(_runs(known))))}
    own = _runs(words)
    shared = [place for place, run in enumerate(own) if run in places]
    if not shared or shared[-1] - shared[0] + 1 != len(shared):
        return 0.0
    before, after = shared[0], len(own) - 1 - shared[-1]
    left = places[own[shared[0]]]
    right = len(known) - SHINGLE_WORDS - places[own[shared[-1]]]
    if (before and 0 < left < SHINGLE_WORDS) or (after and 0 < right < SHINGLE_WORDS):
        return 0.0
    ends = {*words[: shared[0]], *words[shared[-1] + SHINGLE_WORDS :]}
    if not TAKEN_BACK.isdisjoint(ends):
        return 0.0
    return len(shared) / len(own)


def _runs(words: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(words[place : place + SHINGLE_WORDS]) for place in range(len(words) - SHINGLE_WORDS + 1)]


def find_orphaned(traits: Sequence[MemoryTraits], grounded: Collection[str]) -> Iterator[AuditFault]:
    """Yield derived memories without evidence.

    Args:
        traits: The active memories.
        grounded: Ids of those that have some, of whatever status.
    """
    for one in traits:
        if one.derived and not one.pinned and one.id not in grounded:
            yield AuditFault(
                one.id,
                "nothing it was made from is left",
                "no evidence left",
                float(-one.recorded),
                "archived",
            )


STALE_HALF_LIVES: Final = 4
"""Half-lives after which age has taken fifteen sixteenths of what it can take."""


def find_stale(
    traits: Sequence[MemoryTraits], superseded: Mapping[str, str], now: int
) -> Iterator[AuditFault]:
    """Yield what is out of date.

    Args:
        traits: The active memories.
        superseded: Id of a memory to the active one that took its place.
        now: UTC microseconds.
    """
    for one in traits:
        if one.pinned:
            continue
        days = (now - one.young) / DAY
        newer = superseded.get(one.id)
        if newer is not None:
            yield AuditFault(
                one.id, "superseded, and active all the same", "superseded", 1e6, "superseded", newer
            )
        elif one.ends is not None and one.ends <= now:
            yield AuditFault(
                one.id, "no longer true", "no longer true", 1e5 + (now - one.ends) / DAY, "archived"
            )
        elif not one.used and days > STALE_HALF_LIVES * HALF_LIFE[one.tier]:
            yield AuditFault(
                one.id, f"{days:,.0f} days old, and never used", "old and never used", days, "archived"
            )


def find_duplicates(reader: Reader, traits: Sequence[MemoryTraits]) -> list[AuditFault]:
    """Return all but the best of the memories that say the same.

    Args:
        reader: What the caller sees.
        traits: The active memories that say something.
    """
    words: defaultdict[tuple[int, int], list[MemoryTraits]] = defaultdict(list)
    for one in traits:
        if one.kind != "turn" and one.words:
            words[one.matter, one.said].append(one)
    return [
        fault for group in words.values() if len(group) > 1 for fault in _faults(reader, best_first(group))
    ]


def _faults(reader: Reader, group: Sequence[MemoryTraits]) -> Iterator[AuditFault]:
    """Yield the faults of memories of the same words, the best first."""
    kept, places = group[0], {group[0].document}
    others: list[MemoryTraits] = []
    for one in group[1:]:
        if one.document not in places:
            places.add(one.document)
            others.append(one)
    held = reader.get([one.id for one in (kept, *others)])
    for one in others:
        text = held[one.id].content
        equal = normalize_content(text) == normalize_content(held[kept.id].content) and not any(
            mark in text for mark in REDACTION_MARKS
        )
        why = "the same text" if equal else "the same words"
        mend = "archived" if equal and one.kind == "addition" and not one.pinned else ""
        yield AuditFault(one.id, why, why, len(others), mend, kept.id)


UNUSED_DAYS: Final = 90
"""Days that a memory is given: a season of work."""


def find_unused(traits: Sequence[MemoryTraits], now: int) -> Iterator[AuditFault]:
    """Yield what was never used since it was written; nothing mends it, for nothing is wrong with it."""
    for one in traits:
        days = (now - one.recorded) // DAY
        if not one.used and days > UNUSED_DAYS:
            yield AuditFault(one.id, f"never used in {days:,} days", "never used", days)


EDGE_PAGE: Final = 500
"""Memories whose edges or events are read at once."""
MAX_PAGE_EVENTS: Final = 100_000
"""Events of one page: 200 a memory."""


@dataclass(frozen=True, slots=True)
class AuditResult:
    """What an audit found.

    Attributes:
        memories: How many memories are active.
        tiers: How many of them are of each tier.
        faults: Kind to faults, the worst first.
        tiers_of: Id to tier of every memory with a fault.
    """

    memories: int
    tiers: Mapping[str, int]
    faults: Mapping[str, Sequence[AuditFault]]
    tiers_of: Mapping[str, str]


def run_audit(reader: Reader, now: int) -> AuditResult:
    """Look at every active memory that a reader sees.

    Args:
        reader: What the caller sees.
        now: UTC microseconds.
    """
    swept = sweep_memories(reader)
    traits = {one.id: one for one in swept.traits}
    nothing = find_junk(swept.traits)
    said = {fault.memory for fault in nothing}
    found: dict[str, Iterable[AuditFault]] = {
        "junk": nothing,
        "near-duplicate": find_duplicates(reader, [one for one in swept.traits if one.id not in said]),
        "stale": find_stale(swept.traits, _superseded(reader, traits), now),
        "contradicted": find_contradicted(reader, traits, _edges(reader, traits, "contradicts")),
        "orphaned": find_orphaned(swept.traits, _grounded(reader, swept.traits)),
        "never-recalled": find_unused(swept.traits, now),
        "recall-loop": find_loops(reader, swept),
    }
    faults = {kind: _ranked(reader, kind, found[kind]) for kind in FAULT_KINDS}
    tiers = Counter(one.tier for one in swept.traits)
    of = {fault.memory: traits[fault.memory].tier for some in faults.values() for fault in some}
    return AuditResult(len(traits), dict(sorted(tiers.items())), faults, of)


def _edges(reader: Reader, traits: Mapping[str, MemoryTraits], kind: str) -> list[Edge]:
    """Return the edges of a kind between active memories."""
    ids = list(traits)
    found = [
        edge
        for first in range(0, len(ids), EDGE_PAGE)
        for edge in reader.edges(ids[first : first + EDGE_PAGE], [kind])
    ]
    return [edge for edge in found if edge.dst in traits and edge.dst != edge.src]


def _superseded(reader: Reader, traits: Mapping[str, MemoryTraits]) -> dict[str, str]:
    """Return which active memory took an active one's place; nobody's private words take that of shared ones."""
    edges = _edges(reader, traits, "supersedes")
    return {edge.dst: edge.src for edge in edges if traits[edge.dst].key == traits[edge.src].key}


def _grounded(reader: Reader, traits: Sequence[MemoryTraits]) -> set[str]:
    derived = [one.id for one in traits if one.derived]
    found: set[str] = set()
    for first in range(0, len(derived), EDGE_PAGE):
        found.update(edge.src for edge in reader.edges(derived[first : first + EDGE_PAGE], ["derived_from"]))
    return found


def _ranked(reader: Reader, kind: str, faults: Iterable[AuditFault]) -> list[AuditFault]:
    """Return faults, the worst first, without those that somebody looked at and decided to keep."""
    ranked = sorted(faults, key=lambda fault: (-fault.weight, fault.other or "", fault.memory))
    if kind in ("contradicted", "never-recalled"):
        return ranked
    kept = restored_by_hand(reader, [fault.memory for fault in ranked])
    return [fault for fault in ranked if fault.memory not in kept]


def restored_by_hand(reader: Reader, ids: Sequence[str]) -> Collection[str]:
    """Return the memories that somebody restored; a run that restores what it put away decides nothing."""
    kept: set[str] = set()
    for first in range(0, len(ids), EDGE_PAGE):
        events = reader.events(ids[first : first + EDGE_PAGE], limit=MAX_PAGE_EVENTS)
        kept.update(event.memory for event in events if event.op == "restored" and event.run is None)
    return kept


MEND_BATCH: Final = 1_000
"""Memories of one transaction."""
AUDIT_RULE: Final = "audit"
"""What the edges say that made them."""


def select_faults(
    faults: Mapping[str, Sequence[AuditFault]], kinds: Sequence[str]
) -> dict[str, list[AuditFault]]:
    """Return which faults a run mends, by kind: no memory twice, and none that another one's fault relies on."""
    done: set[str] = set()
    stays: set[str] = set()
    found: dict[str, list[AuditFault]] = {}
    for kind in (kind for kind in FAULT_KINDS if kind in kinds):
        found[kind] = []
        for fault in faults[kind]:
            free = fault.memory not in done and fault.memory not in stays
            if fault.mend and free and fault.other not in done:
                found[kind].append(fault)
                done.add(fault.memory)
                if fault.other is not None:
                    stays.add(fault.other)
    return found


def mend_changes(
    reader: Reader, faults: Sequence[AuditFault], run: str, at: int, actor: str = ""
) -> Iterator[tuple[list[str], list[Change]]]:
    """Yield what to write, a transaction at a time, with the ids of what it puts away.

    Args:
        reader: What the caller sees now: what was put away or pinned meanwhile, or restored, is passed over.
        faults: Each memory once.
        run: Under which the events are written.
        at: UTC microseconds.
        actor: User who does it.
    """
    for first in range(0, len(faults), MEND_BATCH):
        some = faults[first : first + MEND_BATCH]
        held = reader.get([memory for fault in some for memory in (fault.memory, fault.other) if memory])
        kept = restored_by_hand(reader, [fault.memory for fault in some])
        lives: dict[str, LifecycleChange] = {}
        events: list[Event] = []
        edges: list[Edge] = []
        for fault in some:
            old, new = held.get(fault.memory), held.get(fault.other or "")
            if old is None or old.pinned or old.status != "active" or old.id in kept:
                continue
            if fault.other is not None and (new is None or new.status != "active"):
                continue
            lives[old.id] = _life(fault, old, new)
            other = fault.other if fault.mend == "superseded" else None
            events.append(Event(old.id, fault.mend, at, old.key, run, other, before=old.status, actor=actor))
            if fault.mend == "superseded" and new is not None:
                edges.append(Edge(new.id, "supersedes", old.id, old.key, 1.0, at, rule=AUDIT_RULE, run=run))
        if lives:
            yield list(lives), [PutLifecycle(lives), PutEdges(tuple(edges)), PutEvents(tuple(events))]


def _life(fault: AuditFault, old: Record, new: Record | None) -> LifecycleChange:
    if fault.mend == "archived" or new is None:
        return LifecycleChange(status="archived")
    return LifecycleChange(status="superseded", valid_until=max(said_at(new), old.valid_from or 0))
