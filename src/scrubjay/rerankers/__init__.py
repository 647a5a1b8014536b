"""Rerankers: models that order a few passages by how well they answer a question."""
