"""Old import path, kept for one release: see `scrubjay.rerankers.base`."""

from scrubjay.deprecation import moved_names

__getattr__ = moved_names(
    __name__, "scrubjay.rerankers.base", {"Question": "RerankQuery", "Reranker": "Reranker"}
)
