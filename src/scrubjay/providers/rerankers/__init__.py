"""Old import path, kept for one release: see `scrubjay.rerankers`."""
