"""Candidates: run the retrieval channels (BM25, vectors, respelled terms) and the archived fallback.

Archived memories answer in two cases: where an identifier or a number stands in no active memory, the archived
ones that hold it take part too; where nothing active answers at all, the archive is searched
(``pipeline.run_search``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from scrubjay.errors import ProviderError
from scrubjay.models.records import Record, RecordFilter
from scrubjay.models.results import Candidate, Hit
from scrubjay.search.plan import QueryPlan
from scrubjay.storage.interface import ChannelScores, Reader, WordScores
from scrubjay.storage.scoring import idf
from scrubjay.storage.table import record_matches
from scrubjay.text.tokenizer import TermGroup

if TYPE_CHECKING:
    from scrubjay.embeddings.base import Embedder


@dataclass(frozen=True, slots=True)
class Ranking:
    """One channel's answer.

    Attributes:
        channel: ``bm25``, ``graph``, ``ngram`` or ``vector:<model name>``.
        kind: ``bm25``, ``graph``, ``ngram`` or ``vector``: what weights are given by.
        hits: Its best, best first.
        scored: Its score of any memory, with mean and deviation over the visible.
    """

    channel: str
    kind: str
    hits: tuple[Hit, ...]
    scored: ChannelScores


@dataclass(frozen=True, slots=True)
class TermRanking(Ranking):
    """Words' answer, with what each word gave.

    Attributes:
        words: The score of any memory, word by word.
        groups: The words that were asked for, in the order of their parts.
    """

    words: WordScores
    groups: tuple[TermGroup, ...]


@dataclass(frozen=True, slots=True)
class ChannelWeight:
    """What a channel weighs: for passages, and for turns of a conversation."""

    passage: float
    turn: float


def rank_by_terms(plan: QueryPlan, reader: Reader) -> TermRanking:
    """Rank by the query's words."""
    scored = reader.words(plan.groups, plan.where)
    return TermRanking("bm25", "bm25", tuple(scored.top(plan.depth)), scored, scored, plan.groups)


MIN_COVERED: Final = 50
"""Memories a backfilled model must cover (or all there are) before its mean and deviation say anything."""


@dataclass(frozen=True, slots=True)
class SkippedModel:
    """Why a model does not take part, and whether it only waits for embeddings that are pending."""

    reason: str
    pending: bool = True


def rank_by_vectors(
    plan: QueryPlan, reader: Reader, embedders: Sequence[Embedder]
) -> tuple[list[Ranking], tuple[str, ...], tuple[str, ...]]:
    """Rank by each model.

    The first embedder is the base model, which covers everything; the others join once they cover enough.

    Returns:
        The rankings; what failed; and the models that do not cover enough yet, which is no failure.
    """
    rankings: list[Ranking] = []
    partial: list[str] = []
    notes: list[str] = []
    if not plan.query.text:
        return rankings, (), ()
    registered = {state.model.fingerprint for state in reader.models() if state.state == "active"}
    for embedder in embedders:
        covered = rankings[0].scored.covered if rankings else 0
        name = "A model"
        try:
            name = embedder.model.name
            if plan.models is None or name in plan.models:
                found = _rank_by_model(plan, reader, embedder, (registered, min(MIN_COVERED, covered)))
                rankings += [found] if isinstance(found, Ranking) else []
                if isinstance(found, SkippedModel):
                    (notes if found.pending else partial).append(f"{name} {found.reason}")
        except ProviderError as error:
            partial.append(f"{name} could not be used: {error}")
    return rankings, tuple(partial), tuple(notes)


def _rank_by_model(
    plan: QueryPlan, reader: Reader, embedder: Embedder, wanted: tuple[set[str], int]
) -> Ranking | SkippedModel | None:
    """Return what one model says, or why it was left out, or None where it has nothing to say."""
    registered, least = wanted
    model = embedder.model
    if model.fingerprint not in registered:
        missing = SkippedModel(
            "is not in this store yet: the next sync or addition brings it in.", pending=False
        )
        return missing if registered else None
    if reader.windows(model.fingerprint) < least:
        few = f"fewer than {least:,} memories" if least > 1 else "no memory"
        return SkippedModel(f"covers {few} so far and was left out.")
    query = embedder.embed([plan.query.text], kind="query")[0][0]
    if not query.any():  # no word that the model knows: everything would be equally near
        return None
    scored = reader.nearest(model.fingerprint, query, plan.where)
    if scored.covered < least:
        return SkippedModel(f"covers {scored.covered} memories so far and was left out.")
    return Ranking(f"vector:{model.name}", "vector", tuple(scored.top(plan.depth)), scored)


MIN_RESPELLED = 5
"""Letters of a word that may be respelled: a shorter one is mostly a function word that the notes happen to lack,
and has too many neighbours (when: then, hen)."""
MAX_RESPELLED = 100
"""Letters of one: nobody mistypes a longer word, and a store asks for each of its trigrams."""


def rank_by_respelling(
    plan: QueryPlan, reader: Reader, frequencies: tuple[int, ...]
) -> tuple[TermRanking | None, tuple[str, ...]]:
    """Rank by respelled words, when the visible memories lack some of the query's.

    A word that they hold needs no respelling, so the channel is silent, and free, for most queries.

    Returns:
        The ranking, None when no word was respelled; and a note for each respelling.
    """
    respelled: list[TermGroup] = []
    notes: list[str] = []
    for group, frequency in zip(plan.groups, frequencies, strict=True):
        if frequency or not MIN_RESPELLED <= len(group.word) <= MAX_RESPELLED:
            continue
        near = reader.similar_terms(group.word)
        if near:
            forms = tuple(term for term, _ in near)
            respelled.append(TermGroup(group.word, forms))
            notes.append(f"{group.word} is not there; read as {', '.join(forms)}.")
    if not respelled:
        return None, ()
    scored = reader.words(respelled, plan.where)
    best = tuple(scored.top(plan.depth))
    return TermRanking("ngram", "ngram", best, scored, scored, tuple(respelled)), tuple(notes)


@dataclass(frozen=True, slots=True)
class ChannelResults:
    """What the channels said."""

    rankings: tuple[Ranking, ...]
    words: TermRanking | None
    partial: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def rarity(self) -> list[float]:
        """The idf of each of the query's words."""
        if self.words is None:
            return []
        counted = self.words.words
        return [idf(counted.memories, frequency) for frequency in counted.frequencies]


def retrieve_candidates(made: QueryPlan, reader: Reader, embedders: Sequence[Embedder]) -> ChannelResults:
    """Put a query to the channels that take part."""
    rankings: list[Ranking] = []
    partial = made.query.partial
    notes: tuple[str, ...] = ()
    by_words = rank_by_terms(made, reader) if made.groups else None
    if by_words is not None and "bm25" in made.channels:
        rankings.append(by_words)
    if "vector" in made.channels:
        by_vectors, without, notes = rank_by_vectors(made, reader, embedders)
        partial += without
        rankings += by_vectors
    if by_words is not None and "ngram" in made.channels:
        respelled, respellings = rank_by_respelling(made, reader, by_words.words.frequencies)
        notes += respellings
        rankings += [respelled] if respelled is not None else []
    return ChannelResults(tuple(rankings), by_words, partial, notes)


def with_depth(said: ChannelResults, depth: int) -> ChannelResults:
    """Return what the channels said with more of their hits."""
    rankings = tuple(replace(one, hits=tuple(one.scored.top(depth))) for one in said.rankings)
    return replace(said, rankings=rankings)


ARCHIVED_MAX_HOLDERS: Final = 20
"""Memories that may hold a word that is looked for so: what more of them hold, a digest holds too."""
MAX_ARCHIVED: Final = 50
"""Archived memories that a word brings back."""


def allows_archived(plan: QueryPlan) -> bool:
    """Tell whether archived memories may answer: not where the caller chose statuses or another fusion."""
    return "lost" in plan.stages and plan.fusion == "auto" and plan.where.statuses == ("active",)


def archived_fallback(plan: QueryPlan, reader: Reader) -> frozenset[str]:
    """Return archived memories that hold an identifier which no active one holds.

    An identifier is a word with more than letters in it: ``ERR_409``, ``v2.1``.
    """
    if not allows_archived(plan) or "bm25" not in plan.channels:
        return frozenset()
    found: set[str] = set()
    named = [group for group in plan.groups if not group.word.isalpha()]
    counts = reader.frequencies(named) if named else []
    for group, count in zip(named, counts, strict=True):
        if 0 < count <= ARCHIVED_MAX_HOLDERS and not reader.words([group], plan.where).top(1):
            archived = replace(plan.where, statuses=("archived",))
            found |= {hit.id for hit in reader.words([group], archived).top(MAX_ARCHIVED)}
    return frozenset(found)


@dataclass(slots=True)
class ScoreCache:
    """One search's scores, each memory's worked out once.

    Attributes:
        reader: What is visible.
        where: The caller's filters.
        score: Ids to candidates, by the fusion of this search; what it leaves out scores nothing.
        known: Memory to its candidate, None where it may not be shown.
    """

    reader: Reader
    where: RecordFilter
    score: Callable[[Sequence[str]], Iterable[Candidate]]
    known: dict[str, Candidate | None] = field(default_factory=dict)

    def of(self, ids: Iterable[str]) -> dict[str, Candidate]:
        """Return the candidates of these memories, in the order of their ids."""
        wanted = sorted(set(ids))
        new = [memory for memory in wanted if memory not in self.known]
        if new:
            may = filter_records(self.reader, self.where, self.reader.get(new))
            self.known |= dict.fromkeys(new) | {memory: Candidate(memory, ()) for memory in may}
            self.known |= {one.id: one for one in self.score(may) if one.id in may} if may else {}
        return {memory: one for memory in wanted if (one := self.known[memory]) is not None}


def filter_records(reader: Reader, where: RecordFilter, records: dict[str, Record]) -> list[str]:
    """Return those of these memories that pass a filter, in the order of their ids."""
    ids = [memory for memory, record in sorted(records.items()) if record_matches(record, where)]
    if where.categories and ids:
        filed = {edge.src for edge in reader.edges(ids, ["belongs"]) if edge.dst in where.categories}
        ids = [memory for memory in ids if memory in filed]
    return ids
