"""Samples: small sources, documents, memories, models and vectors for tests of a store.

Everything is deterministic in its arguments: equal calls give equal values, on every machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scrubjay.models.graph import Category, Entity
from scrubjay.models.ids import EmbeddingModel, category_id, entity_id, memory_id, memory_key, text_hash
from scrubjay.models.records import Document, Record, Scope, Source, SourcePlace, StageVersions
from scrubjay.storage.changes import Change, PreparedMemory, PutDocument, QuantizedVectors
from scrubjay.storage.interface import Store
from scrubjay.storage.scoring import quantize
from scrubjay.text.tokenizer import TermGroup, Terms, index_terms

VERSIONS = StageVersions("chunker 1", "tokenizer 1", "scrubber 1", "extractor 1", "labeller 1")
SMALL_MODEL = EmbeddingModel("test", "small", "1", 8, "mean")
"""A model of eight dimensions."""
OTHER_MODEL = EmbeddingModel("test", "other", "1", 12, "mean")
"""A model whose vectors do not fit `SMALL_MODEL`."""
TOKEN_MODEL = EmbeddingModel("test", "tokens", "1", 16, "tokens4")
"""A late-interaction model, of eight bytes a row."""


def sample_id(name: str, tier: str = "observation") -> str:
    """Return the id that `sample_memory` gives to a name."""
    return memory_id(tier, memory_key(b"samples", (name,)))


def sample_memory(
    content: str,
    key: str,
    *,
    name: str = "",
    counted: Terms | None = None,
    vectors: dict[str, QuantizedVectors] | None = None,
    language: str = "en",
    place: SourcePlace | None = None,
    **fields: Any,
) -> PreparedMemory:
    """Return a memory that is ready to be written.

    Args:
        content: Its text.
        key: Its visibility key.
        name: What its id is made of; the content and key when left out.
        counted: Its terms; those of the content when left out.
        vectors: Fingerprint of a model to its windows.
        language: Language of its stems.
        place: Where it stands in a document.
        fields: Further attributes of the `Record`.
    """
    tier = fields.pop("tier", "observation")
    defaults: dict[str, Any] = {"title": "A title", "owner": "ann", "recorded_at": 1_000, "updated_at": 1_000}
    record = Record(
        id=sample_id(name or f"{content} {key}", tier),
        tier=tier,
        content=content,
        content_hash=text_hash(content),
        key=key,
        place=place,
        **(defaults | fields),
    )
    return PreparedMemory(
        record, counted if counted is not None else index_terms(content), vectors or {}, language
    )


def sample_source(name: str, key: str, **fields: Any) -> Source:
    """Return a source whose root is ``/<name>``."""
    return Source(id=name, key=key, **({"root": f"/{name}"} | fields))


def sample_document(source_id: str, path: str, text: str = "") -> Document:
    """Return a document of a source."""
    return Document(source_id, path, text_hash(text), 1, len(text), path.rpartition("/")[2] or path, VERSIONS)


def sample_place(source_id: str, path: str, ordinal: int) -> SourcePlace:
    """Return the place of one of a document's passages, ten lines each."""
    return SourcePlace(
        source_id, path, ordinal, ordinal * 100, ordinal * 100 + 100, ordinal * 10 + 1, ordinal * 10 + 10
    )


def put_sample_document(
    source_id: str, path: str, contents: Sequence[str], key: str, **fields: Any
) -> PutDocument:
    """Return the change that writes a new document of these passages, each named ``<path>:<content>``."""
    fresh = tuple(
        sample_memory(
            text, key, name=f"{path}:{text}", place=sample_place(source_id, path, ordinal), **fields
        )
        for ordinal, text in enumerate(contents)
    )
    return PutDocument(sample_document(source_id, path, "".join(contents)), fresh)


def sample_concept_id(name: str) -> str:
    """Return the id that `sample_concept` gives to a name, whatever its key."""
    return entity_id(b"samples", name)


def sample_concept(name: str, key: str, **fields: Any) -> Entity:
    """Return what a key knows of a concept first known by this name."""
    return Entity(sample_concept_id(name), key, name, **fields)


def sample_category_id(name: str, key: str) -> str:
    """Return the id that `sample_category` gives to a name and key."""
    return category_id(b"samples", (key, name))


def sample_category(name: str, key: str, **fields: Any) -> Category:
    """Return a topic of this name."""
    return Category(sample_category_id(name, key), key, fields.pop("kind", "topic"), name, **fields)


def sample_vector(text: str, dimensions: int = SMALL_MODEL.dimensions) -> NDArray[np.float32]:
    """Return a unit vector that is made of a text's hash: float32, shape (dimensions,)."""
    numbers: list[int] = []
    while len(numbers) < dimensions:
        numbers += hashlib.sha256(f"{text}\x1f{len(numbers)}".encode("utf-8", "surrogatepass")).digest()
    row = np.array(numbers[:dimensions], np.float32) - np.float32(127.5)
    return (row / np.float32(np.sqrt((row.astype(np.float64) ** 2).sum()))).astype(np.float32)


def quantized_windows(rows: Sequence[NDArray[np.float32]]) -> QuantizedVectors:
    """Return windows as they are kept, one a row."""
    packed = [quantize(row) for row in rows]
    data = np.stack([numbers for numbers, _ in packed]).astype(np.int8)
    return QuantizedVectors(data, np.array([scale for _, scale in packed], np.float32))


def sample_windows(text: str, windows: int = 1, dimensions: int = SMALL_MODEL.dimensions) -> QuantizedVectors:
    """Return a text's windows, made of its hash."""
    return quantized_windows(
        [sample_vector(f"{text}#{window}" if window else text, dimensions) for window in range(windows)]
    )


def sample_codes(text: str, rows: int = 1) -> QuantizedVectors:
    """Return so many rows of `TOKEN_MODEL`, made of a text's hash."""
    digest = hashlib.shake_256(text.encode("utf-8", "surrogatepass")).digest(rows * TOKEN_MODEL.row_bytes)
    data = np.frombuffer(digest, np.int8).reshape(rows, TOKEN_MODEL.row_bytes)
    return QuantizedVectors(data, np.ones(rows, np.float32))


def sample_vectors(model: EmbeddingModel, text: str, rows: int = 1) -> QuantizedVectors:
    """Return what a sample model makes of a text: windows, or codes of tokens."""
    return (
        sample_codes(text, rows) if model.late_interaction else sample_windows(text, rows, model.dimensions)
    )


def term_group(*forms: str) -> TermGroup:
    """Return a query word with these forms."""
    return TermGroup(forms[0], forms)


def write_changes(store: Store, scope: Scope, *changes: Change) -> None:
    """Write these changes in one transaction."""
    store.write(scope, changes)


FINGERPRINT = SMALL_MODEL.fingerprint


ANN_KEY = "user:ann"

LONE_SURROGATE = "half \ud83d"

A, B, C, D = (sample_id(name) for name in "abcd")
