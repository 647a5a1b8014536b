"""Old import path, kept for one release: see `scrubjay.embeddings.hash_embedder`."""
