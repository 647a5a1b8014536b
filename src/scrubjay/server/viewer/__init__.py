"""Viewer: web pages on which people search, inspect and correct memories."""
