"""Stores of a set's documents, and the product's own rankings of its queries, through `Memory` alone.

Each space of a set becomes one user's private store inside one file: its documents are added, embedded
where the state asks for it, and its queries searched, before the next space begins. Other spaces change no score
(statistics are kept by visibility key), so the order of spaces does not matter.
"""

from __future__ import annotations

import hashlib
import sqlite3
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from bench.command import HollowError
from bench.data import DataSet, Doc, Query, Space, spaces
from bench.metrics import DEPTH, first_seen, measure
from scrubjay import Memory
from scrubjay.config.settings import FACT_STAGES, LINKING_STAGES, Settings
from scrubjay.embeddings.base import AnyEmbedder, Embedder, QuantizedRows, TokenEmbedder
from scrubjay.embeddings.late_interaction import LateInteractionEmbedder
from scrubjay.embeddings.onnx import BGE_SMALL, BertEmbedder
from scrubjay.embeddings.static import StaticEmbedder
from scrubjay.models.lifecycle import NewMemory
from scrubjay.models.results import Result

if TYPE_CHECKING:
    from scrubjay.embeddings.base import TextKind
    from scrubjay.models.ids import EmbeddingModel

Options = Mapping[str, Any]


@dataclass(slots=True)
class Run:
    """The answers of one set: by configuration, then by query the ids (at most ten), best first."""

    documents: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    sessions: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    took: dict[str, list[float]] = field(default_factory=dict)
    partial: Counter[str] = field(default_factory=Counter)
    added: int = 0
    empty: int = 0  # documents without text, which cannot be memories
    repeated: int = 0  # documents with the content and place of another one
    seconds: dict[str, float] = field(default_factory=lambda: {"add": 0.0, "embed": 0.0})


def embedders(cache: Path | None = None) -> list[AnyEmbedder]:
    """The product's models, made once for all stores of a run."""
    late, bge = LateInteractionEmbedder(), BertEmbedder(BGE_SMALL)
    if cache is None:
        return [StaticEmbedder(), late, bge]
    return [StaticEmbedder(), CachedTokenEmbedder(late, cache), CachedEmbedder(bge, cache)]


def run_set(
    data: DataSet,
    queries: Sequence[Query],
    store: Path,
    *,
    state: str,
    configurations: Mapping[str, Options],
    models: Sequence[AnyEmbedder],
    connect: Sequence[str] = (),
) -> Run:
    """Write a set's documents and ask its queries under every configuration.

    Args:
        data: The set.
        queries: What to ask.
        store: File of the store; it should not exist yet.
        state: ``sync`` (words and the static model) or ``embed`` (after the backfill).
        configurations: Name to options of ``Memory.search``, or ``thread`` for ``Memory.thread``; the first must
            find something.
        models: The embedders: the base model, then those that are backfilled.
        connect: Stages that connect memories; none by default, for they take hours on the long sets.
    """
    run = Run()
    wants_sessions = any(task.sessions for task in data.tasks)
    for space in spaces(data, queries):
        groups = groups_of(space)
        with open_memory(store, models, space.user, groups, connect=connect) as memory:
            known = write(memory, space, run)
            if state == "embed":
                embed(memory, run.seconds)
        readers: dict[tuple[str, ...], list[Query]] = {}
        for query in space.queries:
            readers.setdefault(query.scopes or groups if space.shared else (), []).append(query)
        for seen, own in readers.items():
            with open_memory(store, models, space.user, seen, connect=connect) as memory:
                for query in own:
                    if len(configurations) > 1:
                        memory.search(
                            query.text, limit=DEPTH, now=query.ts
                        )  # the first of them is not to pay for all
                    for name, options in configurations.items():
                        _ask(memory, query, known, run, name, options, wants_sessions)
    if not run.added:
        raise HollowError(f"Set {data.name}: no document was written.")
    first = next(iter(run.documents), "")
    if not any(run.documents.get(first, {}).values()):
        raise HollowError(f"Set {data.name}: none of {len(queries)} queries found anything ({first}).")
    return run


def open_memory(
    store: Path,
    models: Sequence[AnyEmbedder],
    user: str = "reader",
    groups: Sequence[str] = (),
    connect: Sequence[str] = LINKING_STAGES,
    learn: Sequence[str] = FACT_STAGES,
) -> Memory:
    """Open a store with the product's default settings, whatever this machine's own are."""
    defaults = Settings()
    settings = replace(
        defaults,
        linking=replace(defaults.linking, stages=tuple(connect)),
        facts=replace(defaults.facts, stages=tuple(learn)),
        # A busy machine must not change what is measured.
        rerank=replace(defaults.rerank, deadline=600.0),
    )
    return Memory.open(store, user=user, groups=groups, settings=settings, embedders=models)


@contextmanager
def written(
    space: Space, store: Path, models: Sequence[AnyEmbedder]
) -> Iterator[tuple[Memory, dict[str, list[Doc]]]]:
    """A space's store, unconnected, and embedded where a second model is given; and the documents by memory."""
    with open_memory(store, models, space.user, groups_of(space), connect=(), learn=()) as memory:
        known = write(memory, space, run := Run())
        if len(models) > 1:
            embed(memory, run.seconds)
        yield memory, known


def groups_of(space: Space) -> tuple[str, ...]:
    return tuple(sorted({doc.scope for doc in space.docs if doc.scope})) if space.shared else ()


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as folder:
        yield Path(folder)


def count_tokens(text: str) -> int:
    """Count the tokens of a text by the tokenizer that the static model brings, whose vocabulary is Llama 2's."""
    return len(_tokenizer().encode(text, add_special_tokens=False).ids)


@cache
def _tokenizer() -> Tokenizer:
    file = files("wordllama") / "tokenizers" / "l2_supercat_tokenizer_config.json"
    return Tokenizer.from_str(file.read_text("utf-8"))


def milliseconds(calls: Iterable[Any]) -> list[float]:
    took = []
    for call in calls:
        begun = time.perf_counter()
        call()
        took.append((time.perf_counter() - begun) * 1000)
    return took


def embed(memory: Memory, seconds: dict[str, float]) -> None:
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


def write(memory: Memory, space: Space, run: Run) -> dict[str, list[Doc]]:
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
    if "thread" in options:
        story = memory.thread(query.text, limit=DEPTH, now=query.ts, deep=options["deep"])
        run.partial.update(story.partial)
        results = [knot.result for knot in story.entries]
    else:
        answer = memory.search(query.text, limit=DEPTH, now=query.ts, **options)
        run.partial.update(answer.partial)
        results = list(answer.results)
    run.took.setdefault(name, []).append((time.perf_counter() - begun) * 1000)
    turns = _documents(results, known)
    run.documents.setdefault(name, {})[query.id] = first_seen(doc.id for doc in turns)[:DEPTH]
    if not wants_sessions:
        return
    if "thread" not in options:
        results = list(memory.search(query.text, limit=DEPTH, now=query.ts, by="session", **options).results)
    run.sessions.setdefault(name, {})[query.id] = first_seen(one.session or "" for one in results)


def _documents(results: Sequence[Result], known: Mapping[str, list[Doc]]) -> list[Doc]:
    """The documents of results; a derived memory counts for its evidence."""
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
    """A set's time; those without a zone are read as UTC on every machine."""
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


class CachedEmbedder:
    """An ``Embedder`` that keeps the windows of another in a file: an hour is spared when sets are measured again.

    Windows are kept as float16 rows, which moves a cosine by less than 1e-3; the store keeps int8.

    Args:
        inner: Computes windows that are not in the file.
        file: SQLite file; made when it is not there. It belongs to one process at a time.
    """

    def __init__(self, inner: Embedder, file: Path) -> None:
        self._inner = inner
        self._lock = threading.Lock()
        self._db = sqlite3.connect(file, check_same_thread=False)
        self._db.execute("CREATE TABLE IF NOT EXISTS windows (key BLOB PRIMARY KEY, rows BLOB) WITHOUT ROWID")
        self.found = 0
        self.computed = 0

    @property
    def model(self) -> EmbeddingModel:
        return self._inner.model

    def embed(self, texts: Sequence[str], *, kind: TextKind = "passage") -> list[NDArray[np.float32]]:
        with self._lock:
            model = self.model.fingerprint + ("query" if kind == "query" else "")
            keys = [cache_key(model, text) for text in texts]
            known = {key: self._read(key) for key in set(keys)}
            missing = {key: text for key, text in zip(keys, texts, strict=True) if known[key] is None}
            if missing:
                computed = self._inner.embed(list(missing.values()), kind=kind)
                self.store(zip(missing, computed, strict=True))
                known |= {key: self._read(key) for key in missing}
            self.found += len(texts) - len(missing)
            self.computed += len(missing)
            return [rows for rows in map(known.get, keys) if rows is not None]

    def store(self, windows: Iterable[tuple[bytes, NDArray[np.floating]]]) -> None:
        """Keep windows, float rows of shape (windows, dimensions), by key."""
        pairs = ((key, rows.astype("<f2").tobytes()) for key, rows in windows)
        with self._db:
            self._db.executemany("INSERT OR REPLACE INTO windows VALUES (?, ?)", pairs)

    def _read(self, key: bytes) -> NDArray[np.float32] | None:
        row = self._db.execute("SELECT rows FROM windows WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        rows = np.frombuffer(row[0], "<f2").astype(np.float32).reshape(-1, self.model.dimensions)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.where(lengths == 0, 1, lengths), np.float32)


class CachedTokenEmbedder(TokenEmbedder):
    """A ``TokenEmbedder`` that keeps the codes of another in a file; see `CachedEmbedder`."""

    def __init__(self, inner: TokenEmbedder, file: Path) -> None:
        self._inner = inner
        self._lock = threading.Lock()
        self._db = sqlite3.connect(file, check_same_thread=False)
        self._db.execute("CREATE TABLE IF NOT EXISTS codes (key BLOB PRIMARY KEY, rows BLOB) WITHOUT ROWID")

    @property
    def model(self) -> EmbeddingModel:
        return self._inner.model

    def encode(self, texts: Sequence[str]) -> list[QuantizedRows]:
        with self._lock:
            keys = [cache_key(self.model.fingerprint, text) for text in texts]
            missing = {key: text for key, text in zip(keys, texts, strict=True) if self._read(key) is None}
            if missing:
                codes = self._inner.encode(list(missing.values()))
                self.store(zip(missing, (rows.data for rows in codes), strict=True))
            return [rows for rows in map(self._read, keys) if rows is not None]

    def store(self, codes: Iterable[tuple[bytes, NDArray[np.int8]]]) -> None:
        """Keep codes, shape (rows, ``model.row_bytes``), by key."""
        with self._db:
            self._db.executemany(
                "INSERT OR REPLACE INTO codes VALUES (?, ?)", ((key, rows.tobytes()) for key, rows in codes)
            )

    def query(self, text: str) -> NDArray[np.float32]:
        return self._inner.query(text)

    def decode(self, data: NDArray[np.int8]) -> NDArray[np.int8]:
        return self._inner.decode(data)

    def _read(self, key: bytes) -> QuantizedRows | None:
        row = self._db.execute("SELECT rows FROM codes WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        data = np.frombuffer(row[0], "i1").reshape(-1, self.model.row_bytes)
        return QuantizedRows(data, np.ones(len(data), np.float32))


def cache_key(fingerprint: str, text: str) -> bytes:
    """Key of a text's windows under a model: sha256 of both."""
    return hashlib.sha256(f"{fingerprint}\x1f{text}".encode("utf-8", "surrogatepass")).digest()
