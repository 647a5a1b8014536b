"""Candidates: run the retrieval channels (BM25, vectors, respelled terms, MaxSim) and the archived fallback.

Late interaction scores the memories that the other channels nominate by MaxSim. Codes are read for these, never for
the whole store, so mean and deviation are those of the nominated.

Archived memories take part where they hold an identifier or number that no active memory holds; where no active
memory is likely to answer, the archive is searched (``pipeline.run_search``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from scrubjay.embeddings.base import TokenEmbedder
from scrubjay.embeddings.late_interaction import max_sim
from scrubjay.errors import ProviderError
from scrubjay.frozen import frozen
from scrubjay.models.records import Record, RecordFilter
from scrubjay.models.results import Hit, round_score
from scrubjay.search.plan import QueryPlan
from scrubjay.storage.interface import ChannelScores, Reader, WordScores
from scrubjay.storage.scoring import idf
from scrubjay.storage.table import record_matches
from scrubjay.text.spelling import misspelled_part, respellings
from scrubjay.text.tokenizer import TermGroup, query_groups
from scrubjay.tracing import span, traced

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.embeddings.base import AnyEmbedder


class LateInteractionScores:
    """MaxSim by one model, computed for each memory when it is first asked for; a `ChannelScores`.

    ``query`` has the question's token vectors, shape (tokens, dimensions).
    """

    def __init__(
        self,
        reader: Reader,
        embedder: TokenEmbedder,
        query: NDArray[np.float32],
        nominated: Sequence[str],
    ) -> None:
        self._reader = reader
        self._embedder = embedder
        self._query = query
        self._scores: dict[str, float | None] = {}
        scores = self.by_id(nominated)
        pairs = zip(nominated, scores, strict=True)
        scored = [(memory, score) for memory, score in pairs if score is not None]
        self._hits = [
            Hit(memory, score) for memory, score in sorted(scored, key=lambda pair: (-pair[1], pair[0]))
        ]
        raws = np.array([score for _, score in scored], np.float64)
        self.mean = float(raws.mean()) if scored else 0.0
        self.deviation = float(raws.std()) if scored else 0.0
        self.covered = len(scored)

    def top(self, limit: int) -> list[Hit]:
        return self._hits[:limit]

    def by_id(self, ids: Sequence[str]) -> list[float | None]:
        missing = sorted({memory for memory in ids if memory not in self._scores})
        if missing:
            codes = self._reader.vectors(self._embedder.model.fingerprint, missing)
            self._scores |= dict.fromkeys(missing)
            if codes:
                rows = self._embedder.decode(np.concatenate([own.data for own in codes.values()]))
                starts = np.cumsum([0, *(len(own.data) for own in codes.values())])[:-1]
                scores = max_sim(self._query, rows, starts).tolist()
                self._scores |= {
                    memory: round_score(score) for memory, score in zip(codes, scores, strict=True)
                }
        return [self._scores[memory] for memory in ids]


@frozen
class Ranking:
    """One channel's hits, best first, and its scores of any memory.

    ``channel`` is ``bm25``, ``graph``, ``ngram``, ``vector:<model name>`` or ``late:<model name>``; ``kind`` is its
    first word.
    """

    channel: str
    kind: str
    hits: tuple[Hit, ...]
    scored: ChannelScores


@frozen
class TermRanking(Ranking):
    """A ranking by words; ``scored.group_scores`` has the score of each group."""

    scored: WordScores
    groups: tuple[TermGroup, ...]

    @property
    def rarity(self) -> list[float]:
        """The idf of each of the query's words."""
        return [idf(self.scored.memories, frequency) for frequency in self.scored.frequencies]


@frozen
class ChannelWeight:
    """Weights of a channel for a passage and for a turn, each for no words and for very many."""

    passage: tuple[float, float]
    turn: tuple[float, float]

    @classmethod
    def fixed(cls, weight: float) -> ChannelWeight:
        """Return one weight for all memories."""
        return cls((weight, weight), (weight, weight))


NOMINATED: Final = 50
"""First hits of each channel that late interaction scores: 30 find as much (bench/LOG.md), which leaves room."""
MIN_COVERED: Final = 0.9
"""Share of the memories that a backfilled model must cover: of a sample that is not even, such as the newest, its mean
and deviation mislead (questions on the others R@5 .577 -> .524 at .75), and of an even one it gains nothing yet."""


@traced("scrubjay.search.vector")
def rank_by_vectors(
    plan: QueryPlan, reader: Reader, embedders: Sequence[AnyEmbedder]
) -> tuple[list[Ranking], tuple[str, ...], tuple[str, ...]]:
    """Rank by each model; return the rankings, the failures, and notes on models that cover too little yet.

    The first embedder is the base model, which covers everything; the others join once they cover enough.
    """
    rankings: list[Ranking] = []
    partial: list[str] = []
    notes: list[str] = []
    if not plan.query.text:
        return rankings, (), ()
    registered = {state.model.fingerprint for state in reader.models() if state.state == "active"}
    for embedder in embedders:
        if isinstance(embedder, TokenEmbedder):
            continue
        min_covered = math.ceil(MIN_COVERED * rankings[0].scored.covered) if rankings else 0
        name = "A model"
        try:
            model = embedder.model
            name = model.name
            if plan.models is not None and name not in plan.models:
                continue
            if model.fingerprint not in registered:
                if registered:
                    partial.append(
                        f"{name} is not in this store yet: the next sync or addition brings it in."
                    )
                continue
            if reader.windows(model.fingerprint) < min_covered:
                too_few = f"fewer than {min_covered:,} memories" if min_covered > 1 else "no memory"
                notes.append(f"{name} covers {too_few} so far and was left out.")
                continue
            query = embedder.embed([plan.query.text], kind="query")[0][0]
            if not query.any():  # no word that the model knows: everything would be equally near
                continue
            scored = reader.nearest(model.fingerprint, query, plan.where)
            if scored.covered < min_covered:
                notes.append(f"{name} covers {scored.covered} memories so far and was left out.")
                continue
            hits = tuple(scored.top(plan.depth))
            rankings.append(Ranking(f"vector:{name}", "vector", hits, scored))
        except ProviderError as error:
            partial.append(f"{name} could not be used: {error}")
    return rankings, tuple(partial), tuple(notes)


NEAR_TERMS: Final = 20
"""Terms of similar letters that are compared with a query word; few of them are near enough."""
MAX_RESPELLINGS: Final = 3
"""Maximum number of spellings of a query word that are searched."""


@traced("scrubjay.search.ngram")
def rank_by_respelling(
    plan: QueryPlan, reader: Reader, frequencies: tuple[int, ...]
) -> tuple[TermRanking | None, tuple[str, ...]]:
    """Rank by respelled words where visible memories lack some of the query's; return a note for each respelling."""
    respelled: list[TermGroup] = []
    notes: list[str] = []
    languages = reader.languages()
    for group, frequency in zip(plan.groups, frequencies, strict=True):
        word = "" if frequency else misspelled_part(group)
        similar = [term for term, _ in reader.similar_terms(word, NEAR_TERMS)] if word else []
        spellings = respellings(group, similar)[:MAX_RESPELLINGS]
        if spellings:
            forms = (
                form
                for term in spellings
                for group_of_term in query_groups(term, languages)
                for form in group_of_term.forms
            )
            respelled.append(TermGroup(group.word, tuple(dict.fromkeys((*spellings, *forms)))))
            notes.append(f"{group.word} was not found; read as {', '.join(spellings)}.")
    if not respelled:
        return None, ()
    scored = reader.words(respelled, plan.where)
    hits = tuple(scored.top(plan.depth))
    return TermRanking("ngram", "ngram", hits, scored, tuple(respelled)), tuple(notes)


@frozen
class ChannelResults:
    """The rankings of all channels that take part.

    ``terms`` is the ranking by words even where that channel takes no part; None for a query without words.
    """

    rankings: tuple[Ranking, ...]
    terms: TermRanking | None
    partial: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def rarity(self) -> list[float]:
        """The idf of each of the query's words."""
        return [] if self.terms is None else self.terms.rarity

    def with_depth(self, depth: int) -> ChannelResults:
        rankings = tuple(replace(ranking, hits=tuple(ranking.scored.top(depth))) for ranking in self.rankings)
        return replace(self, rankings=rankings)


@traced("scrubjay.search.late")
def rank_by_late_interaction(
    plan: QueryPlan, reader: Reader, embedders: Sequence[AnyEmbedder], rankings: Sequence[Ranking]
) -> tuple[list[Ranking], tuple[str, ...], tuple[str, ...]]:
    """Rank what the other channels found by the late-interaction models; return failures and notes, too.

    A model that has no codes of most of the nominated takes no part: its mean would be of the few that it knows.
    """
    nominated = sorted({hit.id for ranking in rankings for hit in ranking.hits[:NOMINATED]})
    late_rankings: list[Ranking] = []
    partial: list[str] = []
    notes: list[str] = []
    models = [embedder for embedder in embedders if isinstance(embedder, TokenEmbedder)]
    if not models or not nominated or not plan.query.text:
        return [], (), ()
    registered = {state.model.fingerprint for state in reader.models() if state.state == "active"}
    for embedder in models:
        name = "A late-interaction model"
        try:
            model = embedder.model
            name = model.name
            if model.fingerprint not in registered or (plan.models is not None and name not in plan.models):
                continue
            if not reader.windows(model.fingerprint):  # nothing is loaded for it then
                notes.append(f"{name} covers no memory so far and was left out.")
                continue
            query = embedder.query(plan.query.text)
            if not len(query):
                continue
            scored = LateInteractionScores(reader, embedder, query, nominated)
            if scored.covered < MIN_COVERED * len(nominated):
                notes.append(
                    f"{name} covers {scored.covered} of {len(nominated)} candidates so far and was left out."
                )
                continue
            late_rankings.append(Ranking(f"late:{name}", "late", tuple(scored.top(plan.depth)), scored))
        except ProviderError as error:
            partial.append(f"{name} could not be used: {error}")
    return late_rankings, tuple(partial), tuple(notes)


def retrieve_candidates(plan: QueryPlan, reader: Reader, embedders: Sequence[AnyEmbedder]) -> ChannelResults:
    rankings: list[Ranking] = []
    partial = plan.query.partial
    notes: tuple[str, ...] = ()
    terms = None
    if plan.groups:
        with span("scrubjay.search.bm25"):
            scored = reader.words(plan.groups, plan.where)
            terms = TermRanking("bm25", "bm25", tuple(scored.top(plan.depth)), scored, plan.groups)
    if terms is not None and "bm25" in plan.channels:
        rankings.append(terms)
    if "vector" in plan.channels:
        vector_rankings, failures, notes = rank_by_vectors(plan, reader, embedders)
        partial += failures
        rankings += vector_rankings
    if terms is not None and "ngram" in plan.channels:
        respelled, respelling_notes = rank_by_respelling(plan, reader, terms.scored.frequencies)
        notes += respelling_notes
        rankings += [respelled] if respelled is not None else []
    if "vector" in plan.channels and plan.fusion == "auto":
        late_rankings, failures, late_notes = rank_by_late_interaction(plan, reader, embedders, rankings)
        partial, notes = partial + failures, notes + late_notes
        rankings += late_rankings
    return ChannelResults(tuple(rankings), terms, partial, notes)


ARCHIVED_MAX_HOLDERS: Final = 20
"""Maximum number of memories with an identifier for which the archive is searched; more common ones are in a digest,
too."""
MAX_ARCHIVED: Final = 50
"""Maximum number of archived memories that an identifier adds."""


def allows_archived(plan: QueryPlan) -> bool:
    """Return whether archived memories may answer: not where the caller chose statuses or another fusion."""
    if plan.chose_statuses or plan.where.statuses != ("active",):
        return False
    return "fallback" in plan.stages and plan.fusion == "auto"


def archived_fallback(plan: QueryPlan, reader: Reader) -> frozenset[str]:
    """Return archived memories that hold an identifier (``ERR_409``, ``v2.1``) that no active one holds."""
    if not allows_archived(plan) or "bm25" not in plan.channels:
        return frozenset()
    archived_ids: set[str] = set()
    identifiers = [group for group in plan.groups if not group.word.isalpha()]
    counts = reader.frequencies(identifiers) if identifiers else []
    for group, count in zip(identifiers, counts, strict=True):
        if 0 < count <= ARCHIVED_MAX_HOLDERS and not reader.words([group], plan.where).top(1):
            where = replace(plan.where, statuses=("archived",))
            archived_ids |= {hit.id for hit in reader.words([group], where).top(MAX_ARCHIVED)}
    return frozenset(archived_ids)


def filter_records(reader: Reader, where: RecordFilter, records: Mapping[str, Record]) -> list[str]:
    """Return the ids of the records that pass a filter, in their order."""
    ids = [memory for memory, record in sorted(records.items()) if record_matches(record, where)]
    if where.categories and ids:
        in_categories = {edge.src for edge in reader.edges(ids, ["belongs"]) if edge.dst in where.categories}
        ids = [memory for memory in ids if memory in in_categories]
    return ids
