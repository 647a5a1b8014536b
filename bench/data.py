"""Data: a folder laid out like the development data -> sets, tasks, and the private stores they are asked in.

A set is any folder, at any depth, that holds ``corpus.jsonl.gz``, ``queries.jsonl.gz`` and ``qrels.tsv``.
Ids, scopes and ``id_map`` are read here to keep score; none of them reaches the product as text.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

NOT_RECALL = ("adversarial", "abstention", "official")
"""Judgements that are not of recall over the whole corpus: distractors, related sessions of questions without
an answer, and the upstream protocol (which indexes the user's turns only)."""


class DataError(Exception):
    """The folder cannot be measured with; the message says why."""


@dataclass(frozen=True, slots=True)
class Doc:
    """One document or turn; empty strings and None where the set says nothing."""

    id: str
    text: str
    title: str = ""
    scope: str = ""
    session: str | None = None
    ts: str | None = None
    role: str | None = None
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """One question; `scopes` are the only ones it may see, empty for all documents."""

    id: str
    text: str
    scopes: tuple[str, ...] = ()
    ts: str | None = None
    category: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """One qrels file: what is relevant to each judged query.

    Attributes:
        name: ``documents`` for qrels.tsv, else what follows ``qrels_``.
        sessions: True when the ids are sessions, which are ranked as the product ranks them.
        relevant: Query id to relevant ids.
    """

    name: str
    sessions: bool
    relevant: dict[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Space:
    """What one principal sees: documents in order of time, and the queries asked there.

    Attributes:
        user: Whose store it is. Several share one file.
        shared: True when documents are written to a group named after their scope, because queries see
            several scopes.
    """

    user: str
    docs: Sequence[Doc]
    queries: Sequence[Query]
    shared: bool = False


@dataclass(frozen=True, slots=True)
class DataSet:
    """One set as read.

    Attributes:
        haystacks: Query id to its sessions with the date each has for that query; empty where there are none.
        skipped: Judgements that are not scored, by file name.
    """

    name: str
    folder: Path
    docs: tuple[Doc, ...]
    queries: tuple[Query, ...]
    tasks: tuple[Task, ...]
    haystacks: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()

    def asked(self, limit: int | None = None) -> list[Query]:
        """The judged queries of all tasks, in the file's order; at most `limit`."""
        judged = {query for task in self.tasks for query in task.relevant}
        return [query for query in self.queries if query.id in judged][:limit]


def find_sets(root: Path, wanted: Sequence[str] = ()) -> dict[str, Path]:
    """Sets below a folder by name, which is the path relative to it.

    Args:
        root: A folder of sets, or one set.
        wanted: Names, whole or the last part only; empty for all.
    """
    if not root.is_dir():
        raise DataError(f"There is no data folder {root}.")
    found = {}
    for corpus in sorted(root.rglob("corpus.jsonl.gz")):
        folder = corpus.parent
        if (folder / "queries.jsonl.gz").is_file() and (folder / "qrels.tsv").is_file():
            found[folder.relative_to(root).as_posix() if folder != root else root.name] = folder
    if not found:
        raise DataError(f"{root} holds no set: corpus.jsonl.gz, queries.jsonl.gz and qrels.tsv side by side.")
    if not wanted:
        return found
    chosen = {name: path for name, path in found.items() if {name, path.name} & set(wanted)}
    missing = set(wanted) - set(chosen) - {path.name for path in chosen.values()}
    if missing:
        raise DataError(f"{root} holds no set {', '.join(sorted(missing))}; it holds {', '.join(found)}.")
    return chosen


def load(name: str, folder: Path) -> DataSet:
    """Read a set."""
    docs = tuple(_doc(row) for row in rows(folder / "corpus.jsonl.gz"))
    queries: dict[str, Query] = {}
    for file in sorted(folder.glob("queries*.jsonl.gz"), reverse=True):  # queries.jsonl.gz last: it decides
        queries |= {query.id: query for query in map(_query, rows(file))}
    sessions = {doc.session for doc in docs if doc.session}
    ids = {doc.id for doc in docs}
    tasks, skipped = [], []
    for file in sorted(folder.glob("qrels*.tsv")):
        label = file.stem.removeprefix("qrels").lstrip("_") or "documents"
        if any(word in label for word in NOT_RECALL):
            skipped.append(file.name)
            continue
        relevant = {q: r for q, r in _qrels(file).items() if q in queries}
        judged = {doc for r in relevant.values() for doc in r}
        if not judged & (ids | sessions):
            raise DataError(f"{file} names no document or session of the corpus.")
        tasks.append(Task(label, not judged & ids, relevant))
    if not docs or not any(task.relevant for task in tasks):
        raise DataError(f"Set {name} is hollow: {len(docs)} documents, {len(tasks)} tasks, no judged query.")
    haystacks = {}
    if (folder / "haystacks.jsonl.gz").is_file():
        haystacks = {r["_id"]: [tuple(s) for s in r["sessions"]] for r in rows(folder / "haystacks.jsonl.gz")}
    return DataSet(name, folder, docs, tuple(queries.values()), tuple(tasks), haystacks, tuple(skipped))


def spaces(data: DataSet, queries: Sequence[Query]) -> Iterator[Space]:
    """The stores that the queries are asked in; a document that no query may see is in none."""
    if data.haystacks:
        yield from _haystacks(data, queries)
    elif not any(query.scopes for query in queries):
        yield Space("reader", data.docs, queries)
    elif all(len(query.scopes) == 1 for query in queries):
        by_scope: dict[str, list[Query]] = defaultdict(list)
        for query in queries:
            by_scope[query.scopes[0]].append(query)
        for scope, own in by_scope.items():
            yield Space(scope, [doc for doc in data.docs if doc.scope == scope], own)
    else:
        yield Space("reader", data.docs, queries, shared=True)


def _haystacks(data: DataSet, queries: Sequence[Query]) -> Iterator[Space]:
    by_session: dict[str | None, list[Doc]] = defaultdict(list)
    for doc in data.docs:
        by_session[doc.session].append(doc)
    for number, query in enumerate(queries):
        if query.id not in data.haystacks:
            raise DataError(f"Query {query.id} of {data.name} has no line in haystacks.jsonl.gz.")
        dates: dict[str, str] = {}
        for session, date in data.haystacks[query.id]:
            dates.setdefault(session, date)  # a session listed twice counts once
        ordered = sorted(dates, key=lambda session: dates[session])
        docs = [replace(doc, ts=dates[s]) for s in ordered for doc in by_session[s]]
        yield Space(f"haystack-{number}", docs, [query])


def rows(file: Path) -> Iterator[dict[str, Any]]:
    """The objects of a gzipped JSONL file."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _doc(row: dict[str, Any]) -> Doc:
    return Doc(
        id=row["_id"],
        text=row["text"],
        title=row.get("title") or "",
        scope=row.get("scope") or "",
        session=row.get("session"),
        ts=row.get("ts"),
        role=row.get("role") or row.get("speaker"),
        turn=row.get("turn"),
    )


def _query(row: dict[str, Any]) -> Query:
    scopes = row.get("scopes") or ([row["scope"]] if row.get("scope") else [])
    return Query(row["_id"], row["text"], tuple(scopes), row.get("ts"), row.get("category") or "")


def _qrels(file: Path) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for line in file.read_text(encoding="utf-8").splitlines()[1:]:
        if line.strip():
            query, doc, score = line.split("\t")
            if float(score) > 0:
                found[query].add(doc)
    return {query: frozenset(docs) for query, docs in found.items()}
