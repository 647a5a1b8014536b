"""Leaves: records -> what topics are found from: plain words, terms, directions in one model or two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scrubjay.ingest.directions import directions
from scrubjay.ingest.sentences import sentences
from scrubjay.ingest.topics.leaf import Leaf
from scrubjay.memory.models import Model
from scrubjay.memory.records import Record
from scrubjay.store.base import Reader
from scrubjay.text.languages import language
from scrubjay.text.markdown import even
from scrubjay.text.tokens import terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.store.changes import Codes

UNSAID: Final = frozenset(("more code", "row"))
"""Kinds of lines that tell least, as in a memory's own overview."""


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """Memories as topics are found from them.

    Attributes:
        leaves: The memories, in the order of the records.
        vectors: Direction of each in the base model, unit rows, zeros for one without vectors.
        finer: Directions in a finer model of which every one has any; None if there is none.
        model: The name of that model, else an empty string.
    """

    leaves: list[Leaf]
    vectors: NDArray[np.float32]
    finer: NDArray[np.float32] | None = None
    model: str = ""


def gather(reader: Reader, records: Sequence[Record], base: Model, finer: Sequence[Model] = ()) -> Gathered:
    """Read what topics are found from.

    Args:
        reader: What the key's viewers see.
        records: The memories.
        base: The base model.
        finer: Models that tell more apart, the best first; they need not have vectors of all memories.
    """
    tongues = reader.languages()
    leaves = [_leaf(record, tongues[0] if len(tongues) == 1 else "") for record in records]
    ids = [record.id for record in records]
    vectors = _rows(ids, reader.vectors(base.fingerprint, ids), base)
    mute = [place for place, leaf in enumerate(leaves) if not leaf.terms]
    vectors[mute] = 0  # a comment, a picture: it is about nothing, and in no topic
    for model in finer:
        if reader.coverage(model.fingerprint).covered >= len(ids):
            codes = reader.vectors(model.fingerprint, ids)
            if len(codes) == len(ids):
                rows = _rows(ids, codes, model)
                rows[mute] = 0
                return Gathered(leaves, vectors, rows, model.name)
    return Gathered(leaves, vectors)


def _leaf(record: Record, tongue: str) -> Leaf:
    text = record.overview or said(record.content)
    tongue = tongue or language(text)
    return Leaf(record.id, record.title, text, terms(text, tongue).counts, tongue)


def said(content: str) -> str:
    """Return what a short memory says, a sentence a line, without marks, comments and links' ends."""
    return "\n".join(text for kind, text in sentences(even(content)) if kind not in UNSAID)


def _rows(ids: Sequence[str], codes: Mapping[str, Codes], model: Model) -> NDArray[np.float32]:
    return directions([codes.get(one) for one in ids], model.dimensions)
