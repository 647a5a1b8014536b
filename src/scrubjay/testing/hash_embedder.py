"""Old import path, kept for one release: see `scrubjay.embeddings.hash_embedder`."""

from scrubjay.deprecation import moved_names

__getattr__ = moved_names(__name__, "scrubjay.embeddings.hash_embedder", {"HashEmbedder": "HashEmbedder"})
