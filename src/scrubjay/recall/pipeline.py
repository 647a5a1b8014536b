"""Pipeline: the read path in one screen: plan > channels > fuse > weigh > verify > diversify > assemble."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrubjay.memory.answers import Result
from scrubjay.memory.ranking import Candidate
from scrubjay.memory.records import Record
from scrubjay.recall.assemble import assemble
from scrubjay.recall.channels.ngrams import ngrams
from scrubjay.recall.channels.ranking import Ranking
from scrubjay.recall.channels.vectors import vectors
from scrubjay.recall.channels.words import WordsRanking, words
from scrubjay.recall.diversify import diversify
from scrubjay.recall.fuse import fuse
from scrubjay.recall.plan import Plan, plan
from scrubjay.recall.request import Request
from scrubjay.recall.verify import verify
from scrubjay.store.base import Reader

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder

AT_ONCE = 4
"""Records read for one wanted result: enough that a few equal texts leave the answer full."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found, what it had to do without, and what the plan decided."""

    results: tuple[Result, ...]
    partial: tuple[str, ...]
    notes: tuple[str, ...]


def search(reader: Reader, embedders: Sequence[Embedder], request: Request) -> Found:
    """Answer one query from one consistent view."""
    made = plan(request, reader)
    rankings, by_words, partial, notes = _channels(made, reader, embedders)
    fused = fuse(rankings, made.fusion, made.weights)
    chosen, records = _chosen(fused, made, reader)
    sources = {source.id: source for source in reader.sources()}
    results = assemble(chosen[: made.limit], records, sources, (made, by_words), request)
    return Found(results, partial, made.notes + notes)


def _channels(
    made: Plan, reader: Reader, embedders: Sequence[Embedder]
) -> tuple[list[Ranking], WordsRanking | None, tuple[str, ...], tuple[str, ...]]:
    rankings: list[Ranking] = []
    by_words = None
    partial: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    if made.groups:
        by_words = words(made, reader)
    if by_words is not None and "bm25" in made.channels:
        rankings.append(by_words)
    if "vector" in made.channels:
        by_vectors, partial = vectors(made, reader, embedders)
        rankings += by_vectors
    if by_words is not None and "ngram" in made.channels:
        respelled, notes = ngrams(made, reader, by_words.words.frequencies)
        if respelled is not None:
            rankings.append(respelled)
    return rankings, by_words, partial, notes


def _chosen(fused: list[Candidate], made: Plan, reader: Reader) -> tuple[list[Candidate], dict[str, Record]]:
    """Read records until enough candidates passed verification and none repeats a text."""
    checked = bool(made.query.phrases or made.query.excluded)
    first = len(fused) if checked else min(len(fused), max(made.limit * AT_ONCE, made.limit + 20))
    records = reader.get([candidate.id for candidate in fused[:first]])
    present = [candidate for candidate in fused[:first] if candidate.id in records]
    return diversify(verify(present, records, made.query), records), records
