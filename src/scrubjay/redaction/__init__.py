"""Redaction: remove secrets and private spans from text."""

REDACTOR_VERSION = "9"
"""Stored with each document; a new version redacts everything again."""
