"""Redaction: remove secrets and private spans from text."""
