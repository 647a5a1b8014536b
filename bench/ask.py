"""Ask: a set -> the product's own rankings, through nothing but ``Memory``.

Each space of a set becomes one user's private store inside one file: its documents are added, embedded
where the state asks for it, and its queries searched, before the next space begins. What other spaces hold
changes no score (statistics are kept by visibility key), so the order of spaces does not matter.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cached import CachedEmbedder
from data import DataSet, Doc, Query, Space, spaces
from metrics import DEPTH, first_seen, measure
from scrubjay import Memory
from scrubjay.config.settings import FACT_STAGES, LINKING_STAGES, Settings
from scrubjay.embeddings.base import Embedder
from scrubjay.embeddings.onnx import MiniLmEmbedder
from scrubjay.embeddings.static import StaticEmbedder
from scrubjay.models.lifecycle import NewMemory
from scrubjay.models.results import Result

Options = Mapping[str, Any]


class HollowError(Exception):
    """A run that measured nothing: no documents, no hits, a state not reached, another scope's memory."""


@dataclass(slots=True)
class Run:
    """What asking one set gave.

    Attributes:
        documents: Configuration to query id to document ids, best first, at most ten.
        sessions: The same for session ids.
        took: Configuration to milliseconds of each search, as the caller waits.
        partial: What answers had to do without, with the number of answers.
        added: Memories written.
        empty: Documents without text, which cannot be memories.
        repeated: Documents whose content and place in the conversation another one has as well.
        seconds: Wall time of ``add`` and ``embed``.
    """

    documents: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    sessions: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    took: dict[str, list[float]] = field(default_factory=dict)
    partial: Counter[str] = field(default_factory=Counter)
    added: int = 0
    empty: int = 0
    repeated: int = 0
    seconds: dict[str, float] = field(default_factory=lambda: {"add": 0.0, "embed": 0.0})


def embedders(cache: Path | None = None) -> list[Embedder]:
    """The product's two models, made once for all stores of a run.

    Args:
        cache: File that remembers MiniLM's windows; None computes them.
    """
    minilm = MiniLmEmbedder()
    return [StaticEmbedder(), minilm if cache is None else CachedEmbedder(minilm, cache)]


def run_set(
    data: DataSet,
    queries: Sequence[Query],
    store: Path,
    *,
    state: str,
    configurations: Mapping[str, Options],
    models: Sequence[Embedder],
    connect: Sequence[str] = (),
) -> Run:
    """Write a set's documents and ask its queries under every configuration.

    Args:
        data: The set.
        queries: What to ask.
        store: File of the store; it should not exist yet.
        state: ``sync`` (words and the static model) or ``embed`` (after the backfill).
        configurations: Name to options of ``Memory.search``; the first must find something.
        models: The embedders: the base model, then those that are backfilled.
        connect: Stages that connect memories; none by default (`open_memory`).

    Raises:
        HollowError: Nothing was written, nothing was ever found, or the backfill is not complete.
    """
    run = Run()
    wants_sessions = any(task.sessions for task in data.tasks)
    for space in spaces(data, queries):
        groups = tuple(sorted({doc.scope for doc in space.docs if doc.scope})) if space.shared else ()
        with open_memory(store, models, space.user, groups, connect=connect) as memory:
            known = _write(memory, space, run)
            if state == "embed":
                embed(memory, run.seconds)
        readers: dict[tuple[str, ...], list[Query]] = {}
        for query in space.queries:
            readers.setdefault(query.scopes or groups if space.shared else (), []).append(query)
        for seen, own in readers.items():
            with open_memory(store, models, space.user, seen, connect=connect) as memory:
                for name, options in configurations.items():
                    for query in own:
                        _ask(memory, query, known, run, name, options, wants_sessions)
    if not run.added:
        raise HollowError(f"Set {data.name}: no document was written.")
    first = next(iter(run.documents), "")
    if not any(run.documents.get(first, {}).values()):
        raise HollowError(f"Set {data.name}: none of {len(queries)} queries found anything ({first}).")
    return run


def open_memory(
    store: Path,
    models: Sequence[Embedder],
    user: str = "reader",
    groups: Sequence[str] = (),
    connect: Sequence[str] = LINKING_STAGES,
    learn: Sequence[str] = FACT_STAGES,
) -> Memory:
    """Open a store with the product's default settings, whatever this machine's own are.

    Quality is measured with nothing connected: no channel reads what connects memories, a test holds the answers
    equal with and without it (tests/switches), and it would take hours on the long sets.
    """
    usual = Settings()
    settings = replace(
        usual,
        linking=replace(usual.linking, stages=tuple(connect)),
        facts=replace(usual.facts, stages=tuple(learn)),
        # What is measured must not hang on how busy the machine is.
        rerank=replace(usual.rerank, deadline=600.0),
    )
    return Memory.open(store, user=user, groups=groups, settings=settings, embedders=models)


def embed(memory: Memory, seconds: dict[str, float]) -> None:
    """Run the backfill to its end.

    Raises:
        HollowError: Memories still wait afterwards, so the state has not been reached.
    """
    done = memory.embed()
    seconds["embed"] += done.seconds
    behind = [model.name for model in memory.models() if model.waiting or model.problem]
    if done.waiting or behind:
        raise HollowError(f"The backfill ended with {done.waiting} waiting ({', '.join(behind)}).")


def score(data: DataSet, run: Run, name: str) -> dict[str, dict[str, dict[str, float]]]:
    """Metrics by task and query id of one configuration, over the judged queries that were asked."""
    found = {}
    for task in data.tasks:
        ranked = (run.sessions if task.sessions else run.documents)[name]
        found[task.name] = {
            query: measure(ranked[query], relevant)
            for query, relevant in task.relevant.items()
            if query in ranked
        }
    return found


def _write(memory: Memory, space: Space, run: Run) -> dict[str, list[Doc]]:
    """Add the documents; return the documents of each memory id."""
    full = [doc for doc in space.docs if doc.text.strip()]
    run.empty += len(space.docs) - len(full)
    begun = time.perf_counter()
    added = memory.add_many([_memory(doc, space.shared) for doc in full])
    run.seconds["add"] += time.perf_counter() - begun
    known: dict[str, list[Doc]] = {}
    for doc, done in zip(full, added, strict=True):
        known.setdefault(done.id, []).append(doc)
    run.added += len(known)
    run.repeated += len(full) - len(known)
    return known


def _memory(doc: Doc, shared: bool) -> NewMemory:
    visibility = "user"
    if shared:
        visibility = "group" if doc.scope else "public"
    return NewMemory(
        doc.text,
        title=doc.title,
        date=_moment(doc.ts) if doc.ts and "T" in doc.ts else doc.ts,
        session=doc.session,
        role=doc.role,
        turn=doc.turn,
        visibility=visibility,
        group=(doc.scope or None) if shared else None,
    )


def _ask(
    memory: Memory,
    query: Query,
    known: Mapping[str, list[Doc]],
    run: Run,
    name: str,
    options: Options,
    wants_sessions: bool,
) -> None:
    begun = time.perf_counter()
    answer = memory.search(query.text, limit=DEPTH, now=query.ts, **options)
    run.took.setdefault(name, []).append((time.perf_counter() - begun) * 1000)
    run.partial.update(answer.partial)
    turns = _documents(answer.results, known)
    run.documents.setdefault(name, {})[query.id] = first_seen(doc.id for doc in turns)[:DEPTH]
    if not wants_sessions:
        return
    talks = memory.search(query.text, limit=DEPTH, now=query.ts, by="session", **options).results
    run.sessions.setdefault(name, {})[query.id] = [one.session or "" for one in talks]


def _documents(results: Sequence[Result], known: Mapping[str, list[Doc]]) -> list[Doc]:
    """The documents of results; what was derived counts for what it was taken from."""
    ids = [
        one
        for result in results
        for one in ((result.id,) if result.id in known else result.evidence or (result.id,))
    ]
    strangers = [memory for memory in ids if memory not in known]
    if strangers:
        raise HollowError(f"An answer names {strangers[0]}, which was not written to its scope.")
    return [doc for memory in ids for doc in known[memory]]


def _moment(text: str) -> datetime:
    """A set's time; those without a zone are read as UTC, so that every machine measures the same."""
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
