"""Categories: memories with known groups -> how well the discovered topics agree with them, and what they cost.

    python bench/structure_categories.py DATA [--sets eval30 xquad_en ...] [--models static minilm]
        [--cache FILE] [--names] [--product]

Agreement is the adjusted Rand index (Hubert and Arabie, 1985): 1 for the same partition, 0 for chance; a memory
in no topic counts as a group of its own. Groups are, by set: the proposal's clusters (eval30), a document's
package (source117), an article's title (xquad), a note's folder (til_simonw), a conversation (longmemeval_s,
the first ``SESSIONS``). Folders and packages are other cuts than subjects are, so there 1 cannot be reached.

With ``--product`` the same through the product: the memories are added to a store, and their topics are read from it
after they were added (``sync``) and after the backfill (``embed``).

Lost: of the categories of 99 % of the memories, how many have no successor when all are built again. Memories that
join as they are written rename none by construction.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cached import CachedEmbedder
from data import DataError, rows
from scrubjay import Memory
from scrubjay.categories.clustering import KnownCategory, Topic, TopicMember
from scrubjay.categories.topics import build_topics
from scrubjay.config.settings import Settings
from scrubjay.embeddings.base import Embedder
from scrubjay.embeddings.onnx import MiniLmEmbedder
from scrubjay.embeddings.static import StaticEmbedder
from scrubjay.models.lifecycle import NewMemory
from scrubjay.models.records import Scope
from scrubjay.storage.scoring import unit_rows
from scrubjay.storage.urls import open_store
from scrubjay.text.tokenizer import index_terms

SESSIONS = 30
Labelled = tuple[list[dict[str, Any]], list[str]]


@dataclass(frozen=True, slots=True)
class Measured:
    """One set with one model."""

    name: str
    model: str
    memories: int
    groups: int
    agreement: float
    topics: int
    themes: int
    alone: int
    build_ms: float
    lost: int
    categories: int


def sets(data: Path) -> dict[str, Callable[[], Labelled]]:
    router = data / "semantic_router"
    return {
        "eval30": lambda: _router(router, "eval30", "evaluation_dataset.json"),
        "source117": lambda: _router(router, "source117", "evaluation_source.json"),
        "xquad_en": lambda: _field(data / "xquad_en", "title"),
        "xquad_zh": lambda: _field(data / "xquad_zh", "title"),
        "til_simonw": lambda: _folders(data / "til_simonw"),
        "longmemeval_s": lambda: _field(data / "longmemeval_s", "session", SESSIONS),
    }


def _router(folder: Path, name: str, facts: str) -> Labelled:
    found = json.loads((folder / facts).read_text(encoding="utf-8"))["entries"]
    clusters = {" ".join(entry["content"].split()): entry["cluster"] for entry in found}
    docs = list(rows(folder / name / "corpus.jsonl.gz"))
    return docs, [clusters[" ".join(doc["text"].split())] for doc in docs]


def _field(folder: Path, field: str, groups: int | None = None) -> Labelled:
    docs = list(rows(folder / "corpus.jsonl.gz"))
    kept = set(list(dict.fromkeys(doc[field] for doc in docs))[:groups])
    # A title is the label here: the memory must not say it.
    docs = [doc | ({"title": ""} if field == "title" else {}) for doc in docs if doc[field] in kept]
    labels = {doc["_id"]: doc[field] for doc in rows(folder / "corpus.jsonl.gz")}
    return docs, [labels[doc["_id"]] for doc in docs]


def _folders(folder: Path) -> Labelled:
    with gzip.open(folder / "id_map.tsv.gz", "rt", encoding="utf-8") as stream:
        places = dict(line.rstrip("\n").split("\t")[:2] for line in stream)
    docs = list(rows(folder / "corpus.jsonl.gz"))
    return docs, [places[doc["_id"]].split("/")[0] for doc in docs]


def agreement(one: Sequence[object], other: Sequence[object]) -> float:
    """The adjusted Rand index of two labellings of the same things."""
    first = np.unique([str(label) for label in one], return_inverse=True)[1]
    second = np.unique([str(label) for label in other], return_inverse=True)[1]
    table = np.zeros((first.max() + 1, second.max() + 1))
    np.add.at(table, (first, second), 1)

    def pairs(counts: NDArray[np.float64]) -> float:
        return float((counts * (counts - 1) / 2).sum())

    both, left, right = pairs(table), pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    chance = left * right / pairs(np.array([len(first)], dtype=np.float64))
    most = (left + right) / 2
    return (both - chance) / (most - chance) if most != chance else 1.0


def measure(name: str, found: Labelled, embedder: Embedder, *, names: bool) -> Measured:
    docs, labels = found
    texts = [f"{doc.get('title') or ''}\n{doc['text']}".strip() for doc in docs]
    vectors = unit_rows(
        np.stack([windows.mean(axis=0) for windows in embedder.embed(texts)]).astype(np.float32)
    )
    leaves = [
        TopicMember(doc["_id"], doc.get("title") or "", doc["text"], index_terms(text).counts)
        for doc, text in zip(docs, texts, strict=True)
    ]
    start = time.perf_counter()
    topics = build_topics(leaves, vectors)
    built = time.perf_counter() - start
    home = {member: number for number, topic in enumerate(topics) for member in topic.members}
    given = [home.get(leaf.id, leaf.id) for leaf in leaves]
    lost, categories = _lost(leaves, vectors)
    if names:
        for topic in topics:
            print(
                f"  {'  ' if topic.members else ''}{len(topic.members):4}  {topic.name}  |  {topic.abstract}"
            )
    return Measured(
        name,
        embedder.model.name,
        len(docs),
        len(set(labels)),
        agreement(labels, given),
        sum(bool(topic.members) for topic in topics),
        sum(not topic.members for topic in topics),
        len(docs) - len(home),
        1e3 * built,
        lost,
        categories,
    )


def product(name: str, found: Labelled, models: Sequence[Embedder]) -> list[tuple[str, float, int, int]]:
    """Return, by state, the agreement of a store's topics with the groups, the topics and the memories in none."""
    docs, labels = found
    with (
        tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as folder,
        Memory.open(
            Path(folder) / f"{name}.db", user="reader", settings=Settings(), embedders=models
        ) as memory,
    ):
        ids = [a.id for a in memory.add_many(NewMemory(d["text"], title=d.get("title") or "") for d in docs)]
        measured = [("sync", *_topics(memory, ids, labels))]
        memory.embed()
        return [*measured, ("embed", *_topics(memory, ids, labels))]


def _topics(memory: Memory, ids: Sequence[str], labels: Sequence[object]) -> tuple[float, int, int]:
    store = open_store(memory.status().store)
    try:
        with store.reader(Scope("default", "reader")) as reader:
            topics = {category.id for category in reader.categories() if category.kind == "topic"}
            home = {edge.src: edge.dst for edge in reader.edges(ids, ["belongs"]) if edge.dst in topics}
    finally:
        store.close()
    given = [home.get(memory_id, memory_id) for memory_id in ids]
    return agreement(labels, given), len(set(home.values())), len(ids) - len(home)


def _lost(leaves: Sequence[TopicMember], vectors: NDArray[np.float32]) -> tuple[int, int]:
    last = set(np.random.default_rng(1).permutation(len(leaves))[: max(1, len(leaves) // 100)].tolist())
    first = [row for row in range(len(leaves)) if row not in last]
    before = build_topics([leaves[row] for row in first], vectors[first])
    known = [
        KnownCategory(f"cat_{n:016x}", one.name, _members(one, before), not one.members)
        for n, one in enumerate(before)
    ]
    after = build_topics(leaves, vectors, known)
    return len(known) - sum(one.id is not None for one in after), len(known)


def _members(topic: Topic, topics: Sequence[Topic]) -> frozenset[str]:
    return frozenset(topic.members or (m for one in topics if one.parent == topic.name for m in one.members))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", nargs="+", default=["eval30", "source117", "xquad_en", "til_simonw"])
    parser.add_argument("--models", nargs="+", choices=("static", "minilm"), default=["static", "minilm"])
    parser.add_argument("--cache", type=Path, help="SQLite file that keeps MiniLM's vectors")
    parser.add_argument("--names", action="store_true", help="print each category")
    parser.add_argument("--product", action="store_true", help="measure through a store instead")
    chosen = parser.parse_args()
    known = sets(chosen.data)
    if unknown := set(chosen.sets) - set(known):
        raise DataError(
            f"No labels are known for {', '.join(sorted(unknown))}; for {', '.join(known)} they are."
        )
    if chosen.product:
        finer: Embedder = MiniLmEmbedder()
        if chosen.cache:
            finer = CachedEmbedder(finer, chosen.cache)
        for name in chosen.sets:
            for state, agreed, topics, alone in product(name, known[name](), [StaticEmbedder(), finer]):
                print(f"{name:14} {state:6} ARI {agreed:.3f}, {topics} topics, {alone} in none", flush=True)
        return
    print("set            model                  n groups   ARI topics themes alone  build  lost")
    for model in chosen.models:
        embedder: Embedder = StaticEmbedder() if model == "static" else MiniLmEmbedder()
        if model == "minilm" and chosen.cache:
            embedder = CachedEmbedder(embedder, chosen.cache)
        for name in chosen.sets:
            one = measure(name, known[name](), embedder, names=chosen.names)
            print(
                f"{one.name:14} {one.model[:20]:20} {one.memories:4} {one.groups:5} {one.agreement:6.3f} {one.topics:5}"
                f" {one.themes:5} {one.alone:6} {one.build_ms:5.0f}ms {one.lost:3}/{one.categories}",
                flush=True,
            )


if __name__ == "__main__":
    main()
