"""Proxy: inject memories into requests to a model, and remember the conversation."""
