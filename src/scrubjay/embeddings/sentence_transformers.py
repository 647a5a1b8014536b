"""sentence-transformers: any model of that library, from a folder or by its name (extra).

The library decides about pooling and prompts
(https://sbert.net/docs/package_reference/sentence_transformer/SentenceTransformer.html). A model given by name may be
downloaded by the library; one given by path never uses the network.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from scrubjay.embeddings.base import (
    even_spans,
    file_sha256,
    replace_surrogates,
    rows_by_text,
    split_text,
    unit_rows,
)
from scrubjay.errors import ConfigError, ProviderError
from scrubjay.models.ids import EmbeddingModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.embeddings.base import EmbedderSpec, TextKind


WEIGHT_PATTERNS = ("*.json", "*.safetensors", "*.bin", "*.onnx", "*.txt", "*.model")
"""Files of a model's folder whose checksums make its revision."""
NO_LIMIT = 1 << 20
"""Some models give an infinite or absurdly large window for none."""


class SentenceTransformersEmbedder:
    """A model of the library, ``path`` if given, else ``name``; loaded at its first use."""

    def __init__(self, spec: EmbedderSpec) -> None:
        if not spec.name and spec.path is None:
            raise ConfigError(
                "A sentence-transformers provider needs the name of a model or the path of one."
            )
        self._spec = spec
        self._loaded: Any = None
        self._model: EmbeddingModel | None = None

    @property
    def model(self) -> EmbeddingModel:
        if self._model is None:
            library = self._library()
            name = self._spec.name or (self._spec.path.name if self._spec.path else "")
            # The first name is the current one; the second, of releases before 5.4, now warns.
            count = getattr(library, "get_embedding_dimension", None)
            size = int((count or library.get_sentence_embedding_dimension)() or 0)
            limit = library.max_seq_length or NO_LIMIT
            window = self._spec.window or (int(limit) if limit < NO_LIMIT else 0)
            revision = self._revision(library)
            self._model = EmbeddingModel("sentence-transformers", name, revision, size, "provider", window)
        return self._model

    def embed(self, texts: Sequence[str], *, kind: TextKind = "passage") -> list[NDArray[np.float32]]:
        model, library = self.model, self._library()
        windows = [self._windows(replace_surrogates(text)) if text.strip() else [] for text in texts]
        flat = [window for pieces in windows for window in pieces]
        rows = np.zeros((0, model.dimensions), dtype=np.float32)
        if flat:
            encode = library.encode_query if kind == "query" else library.encode_document
            rows = unit_rows(
                np.asarray(encode(flat, convert_to_numpy=True, show_progress_bar=False), np.float32)
            )
        if not np.isfinite(rows).all():
            raise ProviderError(f"Model {model.name} made a vector that is not finite; none was returned.")
        return rows_by_text(rows, [len(pieces) for pieces in windows])

    def _windows(self, text: str) -> list[str]:
        """Cut a text at token edges into the fewest equal pieces that fit with the prompt.

        A piece can have more tokens than it had within the text, so each is counted again.
        """
        library, window = self._library(), self.model.window
        tokenizer = library.tokenizer
        if not window:
            return [text]
        if not getattr(tokenizer, "is_fast", False):
            return [piece for piece in split_text(text, window) if piece.strip()]

        def edges(part: str) -> list[int]:
            found = tokenizer(part, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
            return [start for start, end in found["offset_mapping"] if end > start]

        prompt = max((len(edges(prompt)) for prompt in library.prompts.values() if prompt), default=0)
        room = max(1, window - tokenizer.num_special_tokens_to_add() - prompt)
        starts = edges(text)
        for size in range(room, 0, -1):
            inner = [starts[start] for start, _ in even_spans(len(starts), size)[1:]]
            pieces = [text[a:b] for a, b in itertools.pairwise([0, *inner, len(text)])]
            if size == 1 or all(len(edges(piece)) <= room for piece in pieces):
                return [piece for piece in pieces if piece.strip()]
        return [text]

    def _revision(self, library: Any) -> str:
        folder = self._spec.path
        if folder is None:
            config = getattr(getattr(library[0], "auto_model", None), "config", None)
            return str(getattr(config, "_commit_hash", None) or "unpinned")[:12]
        files = sorted(path for pattern in WEIGHT_PATTERNS for path in folder.rglob(pattern))
        sums = (f"{path.relative_to(folder)} {file_sha256(path, self._spec.cache_dir)}" for path in files)
        return hashlib.sha256("\n".join(sums).encode()).hexdigest()[:12]

    def _library(self) -> Any:
        if self._loaded is None:
            try:
                from sentence_transformers import SentenceTransformer
            except ImportError as exc:
                raise ProviderError(
                    f"The library sentence-transformers cannot be imported: {exc}.",
                    hint="pip install 'scrubjay[sentence-transformers]'",
                ) from exc
            source = str(self._spec.path or self._spec.name)
            local = self._spec.path is not None
            try:
                self._loaded = SentenceTransformer(source, device="cpu", local_files_only=local)
            except (OSError, ValueError, RuntimeError, KeyError) as exc:
                raise ProviderError(f"sentence-transformers cannot load {source}: {exc}") from exc
        return self._loaded
