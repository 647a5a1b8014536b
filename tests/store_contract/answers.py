"""Answers: everything one scope can learn from a store, as plain values that can be compared.

Two stores with the same history must give equal answers; a stranger's writes must not change mine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from scrubjay.models.graph import STORED_EDGE_KINDS
from scrubjay.models.ids import EmbeddingModel
from scrubjay.models.records import RecordFilter, Scope
from scrubjay.storage.changes import QuantizedVectors
from scrubjay.storage.interface import ChannelScores, Reader, Store, WordScores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.text.tokenizer import TermGroup


EVERY_STATUS = RecordFilter(statuses=("active", "archived", "superseded"))
"""A filter that every memory passes."""
FIGURES = 9
"""Decimals of means and deviations that must agree; sums may be added in another order."""


FLOOR = 0.1
"""Least cosine of what is alike: about half of random vectors stay below it."""


@dataclass(frozen=True, slots=True)
class SampleQuestion:
    """One search.

    Attributes:
        groups: Its words.
        vector: Its vector, float32, shape (dimensions,), of the model ``fingerprint``.
        fingerprint: The model, or an empty string to ask for words only.
        where: Its filter.
        limit: Most hits.
    """

    groups: tuple[TermGroup, ...]
    vector: NDArray[np.float32] | None = None
    fingerprint: str = ""
    where: RecordFilter = field(default_factory=RecordFilter)
    limit: int = 10


def channel_answers(found: ChannelScores, ids: Sequence[str], limit: int) -> dict[str, Any]:
    """Return all that a channel's scores tell."""
    return {
        "top": [(hit.id, hit.score) for hit in found.top(limit)],
        "of": found.by_id(ids),
        "mean": round(found.mean, FIGURES),
        "deviation": round(found.deviation, FIGURES),
        "covered": found.covered,
    }


def word_answers(found: WordScores, ids: Sequence[str], limit: int) -> dict[str, Any]:
    """Return all that the word scores tell."""
    parts = [tuple(round(part, FIGURES) for part in parts) for parts in found.group_scores(ids)]
    return channel_answers(found, ids, limit) | {
        "parts": parts,
        "df": found.frequencies,
        "memories": found.memories,
    }


def search_answers(reader: Reader, question: SampleQuestion, ids: Sequence[str]) -> dict[str, Any]:
    """Return both channels' answers to one question, with the scores of ``ids``."""
    answer = {"words": word_answers(reader.words(question.groups, question.where), ids, question.limit)}
    if question.vector is not None:
        near = reader.nearest(question.fingerprint, question.vector, question.where)
        answer["nearest"] = channel_answers(near, ids, question.limit)
    return answer


def held_answers(reader: Reader, ids: Iterable[str], words: Iterable[str]) -> dict[str, Any]:
    """Return what a scope can see without searching.

    Args:
        reader: The view.
        ids: Ids to ask for, also foreign and unknown ones.
        words: Words to ask the neighbours of.
    """
    sources = reader.sources()
    documents = {source.id: reader.documents(source.id) for source in sources}
    ids = list(ids)
    models = reader.models()
    counts = reader.counts()
    return (
        {
            "sources": sources,
            "documents": {name: list(found.items()) for name, found in documents.items()},
            "passages": {
                (s, path): reader.passages(s, path) for s, found in documents.items() for path in found
            },
            "held": reader.count_passages([source.id for source in sources]),
            "records": reader.get(ids),
            "heads": reader.ranking_metadata(ids),
            "adjacent": reader.adjacent(ids),
            "ids": reader.ids_with_prefix("", 100_000),
            "similar": {word: reader.similar_terms(word, 5) for word in words},
            "languages": reader.languages(),
            "models": models,
            "oldest": {
                state.model.name: reader.oldest_pending(state.model.fingerprint) is not None
                for state in models
            },
            "coverage": {state.model.name: reader.coverage(state.model.fingerprint) for state in models},
            "waiting": {state.model.name: reader.pending(state.model.fingerprint, 1_000) for state in models},
            "newest": {
                state.model.name: reader.pending(state.model.fingerprint, 7, newest=True) for state in models
            },
            "amounts": {
                key: reader.count_memories(key) for key in ("group:dev", "public", "user:ann", "user:bob")
            },
            "counts": (
                counts.memories,
                dict(counts.tiers),
                dict(counts.statuses),
                counts.documents,
                counts.sources,
            ),
            "versions": reader.versions(),
        }
        | graph_answers(reader, ids)
        | history_answers(reader, ids)
    )


def graph_answers(reader: Reader, ids: Sequence[str]) -> dict[str, Any]:
    """Return what a scope can see of what connects these memories."""
    concepts, categories = reader.concepts(), reader.categories()
    nodes = [*ids, *dict.fromkeys(one.id for one in concepts), *(one.id for one in categories)]
    sessions = sorted({r.session for r in reader.get(ids).values() if r.session is not None})
    return {
        "concepts": concepts,
        "some concepts": reader.concepts(nodes[::-3]),
        "categories": categories,
        "projects": reader.projects(),
        "project_names": reader.project_names(),
        "edges": {
            (inward, limit): reader.edges(nodes, STORED_EDGE_KINDS, inward=inward, limit=limit)
            for inward, limit in ((False, None), (False, 2), (True, 2))
        },
        "degrees": {kind: reader.degrees(kind) for kind in STORED_EDGE_KINDS},
        "some degrees": {kind: reader.degrees(kind, nodes[::3]) for kind in ("links", "references")},
        "meetings": {
            one.id: [reader.cooccurrences(one.id, limit) for limit in (2, 1_000)] for one in concepts
        },
        "follows": reader.follows(ids),
        "some follows": reader.follows(ids[::5]),
        "turns": {name: reader.turns(name, -1, 1_000) for name in sessions},
        "some turns": {name: reader.turns(name, 3, 5) for name in sessions},
        "last turns": {name: reader.last_turn(name) for name in (*sessions, "none")},
        "sessions": [reader.sessions(limit, skip) for limit, skip in ((1_000, 0), (2, 0), (3, 1))],
        "pages": [[record.id for record in reader.page(after, 7)] for after in ("", *ids[::5])],
    } | {
        f"windows of {state.model.name}": vector_answers(reader, state.model, ids)
        for state in reader.models()
    }


def history_answers(reader: Reader, ids: Sequence[str]) -> dict[str, Any]:
    """Return what a scope is told of what happened to these memories, and of runs."""
    runs = sorted({run.id for run in reader.runs(1_000)})
    filters = (RecordFilter(), RecordFilter(statuses=("archived", "superseded")), EVERY_STATUS)
    return {
        "events": [reader.events(limit=limit) for limit in (5, 1_000)],
        "some events": [reader.events(ids[::3]), reader.events(ids[:2], limit=3)],
        "events of runs": {run: [reader.events(run=run), reader.events(ids[::2], run, 4)] for run in runs},
        "readings": reader.extractions(ids),
        "runs": [reader.runs(limit) for limit in (2, 1_000)],
        "filtered pages": [
            [record.id for record in reader.page(after, 7, where)]
            for where in filters
            for after in ("", *ids[::9])
        ],
        "latest": [
            [record.id for record in reader.latest(where, limit, skip)]
            for where in (*filters, RecordFilter(pinned=True), RecordFilter(projects=("p",)))
            for limit, skip in ((3, 0), (3, 2), (1_000, 0))
        ],
    }


def vector_answers(reader: Reader, model: EmbeddingModel, ids: Sequence[str]) -> dict[str, Any]:
    """Return the windows that memories have of a model, and what is alike to the last of some of them."""
    windows = reader.vectors(model.fingerprint, ids)
    if model.late_interaction:
        return {"codes": {memory: plain_vectors(codes) for memory, codes in windows.items()}}
    rows = [codes.data[-1] * codes.scales[-1] for codes in list(windows.values())[::6]]
    queries = np.array(rows, np.float32).reshape(len(rows), model.dimensions)
    return {
        "windows": {memory: plain_vectors(codes) for memory, codes in windows.items()},
        "alike": {
            (limit, floor): [
                [(hit.id, hit.score) for hit in hits]
                for hits in reader.nearest_batch(model.fingerprint, queries, limit, floor)
            ]
            for limit, floor in ((3, -1.0), (1_000, FLOOR))
        },
    }


def all_answers(
    store: Store, scope: Scope, questions: Sequence[SampleQuestion], words: Sequence[str] = ()
) -> dict[str, Any]:
    """Return all that a scope can learn: what it holds, and the answers to these questions."""
    with store.reader(scope) as reader:
        ids = reader.ids_with_prefix("", 100_000)
        return held_answers(reader, ids, words) | {
            "answers": [search_answers(reader, q, ids) for q in questions]
        }


def plain_vectors(codes: QuantizedVectors) -> tuple[list[list[int]], list[float]]:
    """Return windows as lists, which compare with ``==``."""
    return codes.data.tolist(), [float(scale) for scale in codes.scales]
