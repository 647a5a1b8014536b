"""Embeddings: models that turn texts into vectors, imported on use."""
