"""Viewer: pages on which people see, understand and correct what is remembered."""
