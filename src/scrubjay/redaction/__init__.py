"""Redaction: remove secrets and private spans from text."""

REDACTOR_VERSION = "11"
"""Stored with each document; a new version redacts everything again."""
