"""Audit: which memories are of no use, found without a model."""
