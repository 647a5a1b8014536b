"""Deduplication and diversity: near-duplicates, facts that their turn states, maximal marginal relevance, caps.

Two texts are duplicates when their words are equal in order except for case, punctuation and a few small words
(``text.paraphrase``), or when one contains the other and is mostly it. A share of words is not enough: "30
seconds" is no duplicate of "90 seconds", nor "cannot" of "can". A fact derived from a turn ranks that turn and is
shown with it. Maximal marginal relevance is that of Carbonell and Goldstein (1998), on the scale of the scores.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import Final

from scrubjay.frozen import frozen
from scrubjay.models.records import TIER_PREFIXES, Record
from scrubjay.models.results import MICRO, Candidate, ContextItem, Contribution, OmittedItem
from scrubjay.search.fusion import best_first
from scrubjay.search.request import ResultCaps
from scrubjay.storage.interface import Reader
from scrubjay.text.normalize import word_set
from scrubjay.text.paraphrase import NEGATIONS, content_vocabulary, content_words

MIN_WORDS: Final = 2
"""Shorter texts are duplicates only where they are equal."""
MIN_CONTAINED_SHARE: Final = 0.5
"""Minimum share of a text that a contained text must be to be its duplicate."""
SHINGLE_SIZE: Final = 4
"""Consecutive words by which texts that may contain another are found."""
_BOUNDING_WORDS: Final = NEGATIONS | word_set(
    """if unless until till when whenever would could should might may maybe only except perhaps instead ? false wrong
    untrue incorrect longer former formerly
    falls wenn sofern solange sobald bis bevor nur außer ausser ausgenommen vielleicht statt stattdessen falsch
    si sauf hormis excepté seulement jusqu'à jusqu'au jusqu'aux jusqu'en jusque quand lorsque avant faux
    salvo excepto menos hasta cuando solo sólo solamente mientras antes quizá quizás falso
    se exceto até quando só somente apenas enquanto talvez
    tranne eccetto fino finché soltanto forse als tenzij behalve tot alleen mits misschien"""
)
"""Words that restrict or negate a sentence: a text is no duplicate where the other one has one of them in addition.
They are of languages that have blanks between words; a word of two of them only makes fewer duplicates."""
_NAME_LIKE: Final = re.compile(r"_|\w[/\\=.]\w|[^\W\d_]\d|\d[^\W\d_]|^[a-z]{2,}[A-Z]")
"""Such a word is a name in a program or a path, in which case makes a difference: DB_Host and DB_HOST."""
_NAME_EDGES: Final = ".,;:!?…()[]{}\"“”„«»'’‘*`<>"


@frozen
class _IndexedText:
    record: Record
    words: tuple[str, ...]
    vocabulary: frozenset[str]
    heading: tuple[str, ...]


class NearDuplicateIndex:
    def __init__(self) -> None:
        self._by_words: dict[tuple[str, ...], list[_IndexedText]] = {}
        self._all: list[_IndexedText] = []

    def add_or_find(self, record: Record) -> str | None:
        """Return the id of the memory that this one duplicates, else add it and return None."""
        words, vocabulary = content_words(record.content), content_vocabulary(record.content)
        heading = record.heading_path or ((record.title,) if record.place is None else ())
        text = _IndexedText(record, words, vocabulary, content_words(" ".join(heading)))
        original = next(
            (indexed for indexed in self._possible_originals(text) if _is_copy(text, indexed)), None
        )
        if original is not None:
            return original.record.id
        for key in {(record.content_hash,), words}:
            self._by_words.setdefault(key, []).append(text)
        self._all.append(text)
        return None

    def _possible_originals(self, text: _IndexedText) -> list[_IndexedText]:
        equal = self._by_words.get((text.record.content_hash,), [])
        if equal or len(text.words) < MIN_WORDS:
            return equal
        same_words = self._by_words.get(text.words, [])
        if len(text.words) < SHINGLE_SIZE or (same_words and len(text.words) > SHINGLE_SIZE):
            return same_words
        # Comparing with each text costs less than an index of all shingles: most texts lack these words.
        first = text.words[:SHINGLE_SIZE]
        return [
            indexed
            for indexed in self._all
            if indexed.vocabulary.issuperset(first) and _contains_run(first, indexed.words)
        ]


def _contains_run(run: tuple[str, ...], words: tuple[str, ...]) -> bool:
    start = -1
    for _ in range(words.count(run[0])):
        start = words.index(run[0], start + 1)
        if words[start : start + len(run)] == run:
            return True
    return False


def _is_copy(text: _IndexedText, better: _IndexedText) -> bool:
    if better.record.status != text.record.status and better.record.status != "active":
        return False
    if text.heading and better.heading and text.heading != better.heading:
        return False
    if text.record.content_hash == better.record.content_hash:
        return True
    return _is_contained(text.words, better.words) and not _differ_in_case(text.record, better.record)


def _differ_in_case(record: Record, other: Record) -> bool:
    """Return whether a name is written in one text in a case that it has not in the other."""
    words, others = _cases_of_words(record.content), _cases_of_words(other.content)
    return any(
        words[word].isdisjoint(others[word]) and any(map(_NAME_LIKE.search, words[word] | others[word]))
        for word in words.keys() & others.keys()
    )


def _cases_of_words(text: str) -> Mapping[str, set[str]]:
    cases: defaultdict[str, set[str]] = defaultdict(set)
    for piece in text.split():
        word = piece.strip(_NAME_EDGES)
        cases[word.casefold()].add(word)
    return cases


def _is_contained(words: tuple[str, ...], longer: tuple[str, ...]) -> bool:
    if words == longer:
        return True
    if not MIN_CONTAINED_SHARE * len(longer) <= len(words) < len(longer):
        return False
    for at in range(len(longer) - len(words) + 1):
        if longer[at : at + len(words)] == words:
            return _BOUNDING_WORDS.isdisjoint((*longer[:at], *longer[at + len(words) :]))
    return False


def is_duplicate(record: Record, of: Record) -> bool:
    """Return whether a memory says the same as another, or a part of it."""
    index = NearDuplicateIndex()
    index.add_or_find(of)
    return index.add_or_find(record) is not None


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
        shown_source = next((source for source in sorted(sources) if source in unique), None)
        original = shown_source or evidence_of.get(memory) or index.add_or_find(item.record)
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
DIGEST_TIERS: Final = ("crystal", "insight")


def is_digest(record: Record) -> bool:
    """Return whether a memory only repeats turns, which are found themselves and say more."""
    return record.tier in DIGEST_TIERS and record.origin == "derived"


def collapse_facts(
    candidates: Sequence[Candidate], evidence: Mapping[str, Sequence[str]]
) -> tuple[list[Candidate], dict[str, tuple[str, ...]]]:
    """Give each turn the best score of the facts derived from it; return the candidates, and each turn's facts."""
    scores = {candidate.id: candidate.score for candidate in candidates} if evidence else {}
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
    collapsed_ids = {memory for own in facts.values() for memory in own}
    rest = []
    for candidate in candidates:
        if candidate.id in collapsed_ids:
            continue
        best = max((scores[memory] for memory in facts.get(candidate.id, ())), default=candidate.score)
        if best > candidate.score:
            candidate = candidate.plus(Contribution("statement", best, best - candidate.score, 1.0))
        rest.append(candidate)
    return best_first(rest), {turn: tuple(sorted(own)) for turn, own in facts.items()}


def evidence_by_memory(reader: Reader, derived: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the memories that each was derived from, the heaviest edge first."""
    evidence: dict[str, tuple[str, ...]] = {}
    for edge in reader.edges(derived, ["derived_from"]) if derived else ():
        evidence[edge.src] = (*evidence.get(edge.src, ()), edge.dst)
    return evidence


SIMILARITY_WEIGHT: Final = 1.0
"""Deviations that a candidate with the same words as a better one loses. With .2, .5, 1 and 2 no set loses anything;
MuSiQue's R@5 gains .008 from 1 on (bench/LOG.md)."""
MIN_SIMILARITY: Final = 0.5
"""Similarity up to which nothing is lost. Without it LongMemEval loses .025 of R@5 and HotpotQA .005 of R@10: all
answers to one question share words."""
MAX_REORDERED: Final = 60
"""Candidates that are compared with each other, the best ones."""


@dataclass(slots=True, eq=False)
class _MmrText:
    candidate: Candidate
    words: Set[str]
    bits: int
    rank: tuple[float, str]
    similarity: float = 0.0
    """Greatest similarity to a better candidate."""
    weight: float | None = None


def maximal_marginal_relevance(
    candidates: Sequence[Candidate], records: Mapping[str, Record]
) -> list[Candidate]:
    """Demote candidates that repeat better ones, by the idf of shared words over the idf of all their words."""
    texts: list[_MmrText] = []
    bits: dict[str, int] = {}
    for candidate in candidates[:MAX_REORDERED]:
        words = content_vocabulary(records[candidate.id].content)
        for word in words:
            if word not in bits:
                bits[word] = 1 << len(bits)
        texts.append(
            _MmrText(candidate, words, sum(map(bits.__getitem__, words)), (-candidate.score, candidate.id))
        )
    all_texts = list(texts)
    idf: dict[str, float] = {}

    def weigh(words: Set[str]) -> float:
        if not idf:  # only where two texts have enough in common
            counts = Counter(chain.from_iterable(text.words for text in all_texts))
            idf.update({word: math.log(1 + len(all_texts) / count) for word, count in counts.items()})
        return math.fsum(map(idf.__getitem__, words))

    # A word of both texts weighs as one of two texts at most, any other as one of all at least.
    ratio = math.log(1 + len(all_texts) / 2) / math.log(2) * (1.0 - MIN_SIMILARITY) / MIN_SIMILARITY
    chosen: list[Candidate] = []
    while texts:
        best = min(texts, key=attrgetter("rank"))
        texts.remove(best)
        penalty = _similarity_penalty(best.similarity)
        part = Contribution("alike", best.similarity, -penalty, SIMILARITY_WEIGHT)
        chosen.append(best.candidate.plus(part) if penalty > 0 else best.candidate)
        size = len(best.words)
        for other in texts:
            shared = 2 * (other.bits & best.bits).bit_count()
            if shared <= size and shared <= len(other.words):
                continue
            if shared * ratio < 2 * (
                size + len(other.words) - shared
            ):  # at most `MIN_SIMILARITY`, whatever they weigh
                continue
            for text in (other, best):
                if text.weight is None:
                    text.weight = weigh(text.words)
            shared_weight = weigh(other.words & best.words)
            similarity = shared_weight / ((other.weight or 0.0) + (best.weight or 0.0) - shared_weight)
            if similarity > other.similarity:
                other.similarity = similarity
                loss = SIMILARITY_WEIGHT * _similarity_penalty(similarity)
                other.rank = (loss - other.candidate.score, other.candidate.id)
    return chosen + list(candidates[MAX_REORDERED:])


def _similarity_penalty(share: float) -> float:
    return max(0.0, share - MIN_SIMILARITY) / (1.0 - MIN_SIMILARITY)


def apply_caps(
    candidates: Sequence[Candidate], records: Mapping[str, Record], most: ResultCaps
) -> list[Candidate]:
    """Move candidates over a cap behind all others, each group in its order."""
    counts: Counter[tuple[str, ...]] = Counter()
    under_cap: list[Candidate] = []
    over_cap: list[tuple[Candidate, int]] = []
    for candidate in candidates:
        group, cap = _cap_group(records[candidate.id], most)
        if cap:
            counts[group] += 1
        if cap and counts[group] > cap:
            over_cap.append((candidate, counts[group]))
        else:
            under_cap.append(candidate)
    if not over_cap or not under_cap:
        return list(candidates)
    # One amount for all of them keeps their order, and brings the best of them just below the last that is not over.
    reduction = max(0.0, over_cap[0][0].score - under_cap[-1].score + 1 / MICRO)
    lowered = [
        candidate.plus(Contribution("cap", float(place), -reduction, 1.0)) for candidate, place in over_cap
    ]
    return under_cap + lowered


def _cap_group(record: Record, most: ResultCaps) -> tuple[tuple[str, ...], int]:
    """Return the group a memory is counted in, and its cap; 0 for none."""
    if record.pinned or record.tier != "observation":
        return (), 0
    if record.session is not None and record.turn is not None:
        return ("session", record.session), most.session
    if record.place is not None:
        return ("document", record.place.source, record.place.path), most.document
    return (), 0
