"""Embedders: one module each, imported on use."""
