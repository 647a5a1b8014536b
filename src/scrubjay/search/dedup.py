"""Deduplication: near-duplicate memories and context items, and facts that their source turn already states.

Two texts are duplicates when their words are equal in order except for case, punctuation and a few small words
(``text.paraphrase``), or when one contains the other and is mostly it. A share of words is not enough: "30
seconds" is no duplicate of "90 seconds", nor "cannot" of "can". A fact derived from a turn ranks that turn and is
shown with it; it is a result of its own only where the turn is not a candidate.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scrubjay.models.records import TIER_PREFIXES, Record
from scrubjay.models.results import Candidate, ContextItem, Contribution, OmittedItem
from scrubjay.search.fusion import best_first
from scrubjay.storage.interface import Reader
from scrubjay.text.paraphrase import NEGATIONS, content_vocabulary, content_words

MIN_WORDS: Final = 2
"""Shorter texts are duplicates only where they are equal."""
MIN_CONTAINED_SHARE: Final = 0.5
"""Least share of a text that a contained text must be to be its duplicate."""
SHINGLE_SIZE: Final = 4
"""Consecutive words by which texts that may contain another are found."""
_BOUNDING_WORDS: Final = NEGATIONS | frozenset(
    ("if", "unless", "until", "till", "when", "whenever", "would", "could", "should", "might", "may", "maybe", "only",
     "except", "perhaps", "instead", "?", "false", "wrong", "untrue", "incorrect", "longer", "former", "formerly")
)  # fmt: skip
"""Words that restrict or negate a sentence: a text is no duplicate where the other one has one of them in addition."""


@dataclass(frozen=True, slots=True)
class _DuplicateText:
    record: Record
    words: tuple[str, ...]
    vocabulary: frozenset[str]
    heading: tuple[str, ...]


class NearDuplicateIndex:
    def __init__(self) -> None:
        self._by_words: dict[tuple[str, ...], list[_DuplicateText]] = {}
        self._all: list[_DuplicateText] = []

    def add_or_find(self, record: Record) -> str | None:
        """Return the id of the memory that this one duplicates, else add it and return None."""
        words, vocabulary = content_words(record.content), content_vocabulary(record.content)
        heading = record.heading_path or ((record.title,) if record.place is None else ())
        text = _DuplicateText(record, words, vocabulary, content_words(" ".join(heading)))
        original = next((one for one in self._near(text) if _is_copy(text, one)), None)
        if original is not None:
            return original.record.id
        for key in {(record.content_hash,), words}:
            self._by_words.setdefault(key, []).append(text)
        self._all.append(text)
        return None

    def _near(self, text: _DuplicateText) -> list[_DuplicateText]:
        equal = self._by_words.get((text.record.content_hash,), [])
        if equal or len(text.words) < MIN_WORDS:
            return equal
        alike = self._by_words.get(text.words, [])
        if len(text.words) < SHINGLE_SIZE or (alike and len(text.words) > SHINGLE_SIZE):
            return alike
        # Looking costs less than an index of all their words in a row: most hold not even these words.
        first = text.words[:SHINGLE_SIZE]
        return [
            one for one in self._all if one.vocabulary.issuperset(first) and _contains_run(first, one.words)
        ]


def _contains_run(first: tuple[str, ...], words: tuple[str, ...]) -> bool:
    at = -1
    for _ in range(words.count(first[0])):
        at = words.index(first[0], at + 1)
        if words[at : at + len(first)] == first:
            return True
    return False


def _is_copy(text: _DuplicateText, better: _DuplicateText) -> bool:
    if better.record.status != text.record.status and better.record.status != "active":
        return False
    if text.heading and better.heading and text.heading != better.heading:
        return False
    return text.record.content_hash == better.record.content_hash or _is_contained(text.words, better.words)


def _is_contained(words: tuple[str, ...], longer: tuple[str, ...]) -> bool:
    if words == longer:
        return True
    if not MIN_CONTAINED_SHARE * len(longer) <= len(words) < len(longer):
        return False
    for at in range(len(longer) - len(words) + 1):
        if longer[at : at + len(words)] == words:
            return _BOUNDING_WORDS.isdisjoint((*longer[:at], *longer[at + len(words) :]))
    return False


def deduplicate(
    candidates: Sequence[Candidate], records: Mapping[str, Record]
) -> tuple[list[Candidate], dict[str, tuple[str, ...]]]:
    """Return the best of candidates that say the same, and the duplicates of each."""
    unique: dict[str, Candidate] = {}
    copies: dict[str, list[str]] = {}
    index = NearDuplicateIndex()
    for candidate in candidates:
        original = index.add_or_find(records[candidate.id])
        if original is None:
            unique[candidate.id] = candidate
        else:
            copies.setdefault(original, []).append(candidate.id)
    return list(unique.values()), {memory: tuple(ids) for memory, ids in copies.items()}


def deduplicate_items(
    items: Sequence[ContextItem], evidence: Mapping[str, Collection[str]], loaded: Iterable[Record] = ()
) -> tuple[list[ContextItem], list[OmittedItem], dict[str, str]]:
    """Leave out duplicate items; the first, most wanted, stays and represents its evidence.

    ``loaded`` are memories that the agent reads itself, whose duplicates are left out, too.

    Returns the items that stay, the others, and what represents each of these.
    """
    index = NearDuplicateIndex()
    loaded_ids = {record.id for record in loaded if not index.add_or_find(record)}
    unique: dict[str, ContextItem] = {}
    evidence_of: dict[str, str] = {}  # to the item that represents it
    omitted: list[OmittedItem] = []
    represented_by: dict[str, str] = {}
    for item in items:
        memory = item.record.id
        if memory in unique or memory in represented_by:
            continue
        sources = evidence.get(memory, ())
        original = next((one for one in sorted(sources) if one in unique), None) or evidence_of.get(memory)
        original = original or index.add_or_find(item.record)
        if original is not None:
            represented_by[memory] = original
            omitted.append(OmittedItem(memory, item.part, "loaded" if original in loaded_ids else "repeats"))
            continue
        unique[memory] = item
        evidence_of |= dict.fromkeys(sources, memory)
    return list(unique.values()), omitted, represented_by


DERIVED_PREFIXES: Final = tuple(TIER_PREFIXES[tier] for tier in ("facet", "lesson", "procedural", "semantic"))
"""Prefixes of the ids of facts."""
OBSERVATION_PREFIX: Final = TIER_PREFIXES["observation"]


def derived_ids(candidates: Sequence[Candidate]) -> list[str]:
    return [one.id for one in candidates if one.id.startswith(DERIVED_PREFIXES)]


def collapse_facts(
    candidates: Sequence[Candidate], evidence: Mapping[str, Sequence[str]]
) -> tuple[list[Candidate], dict[str, tuple[str, ...]]]:
    """Give each turn the best score of the facts derived from it; return the candidates, and each turn's facts."""
    scores = {one.id: one.score for one in candidates} if evidence else {}
    facts: dict[str, list[str]] = {}
    for memory in scores:
        turns = [
            turn
            for turn in evidence.get(memory, ())
            if turn in scores and turn.startswith(OBSERVATION_PREFIX)
        ]
        if turns:
            facts.setdefault(min(turns, key=lambda turn: (-scores[turn], turn)), []).append(memory)
    if not facts:
        return list(candidates), {}
    collapsed = {memory for own in facts.values() for memory in own}
    rest = []
    for one in candidates:
        if one.id in collapsed:
            continue
        best = max((scores[memory] for memory in facts.get(one.id, ())), default=one.score)
        if best > one.score:
            one = one.plus(Contribution("statement", best, best - one.score, 1.0))
        rest.append(one)
    return best_first(rest), {turn: tuple(sorted(own)) for turn, own in facts.items()}


def evidence_by_memory(reader: Reader, derived: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the memories that each was derived from, the heaviest edge first."""
    found: dict[str, tuple[str, ...]] = {}
    for edge in reader.edges(derived, ["derived_from"]) if derived else ():
        found[edge.src] = (*found.get(edge.src, ()), edge.dst)
    return found
