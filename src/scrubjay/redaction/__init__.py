"""Redaction: remove secrets and private spans from text."""

REDACTOR_VERSION = "10"
"""Stored with each document; a new version redacts everything again."""
