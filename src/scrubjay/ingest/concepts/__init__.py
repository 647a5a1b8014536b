"""Concepts: found in text, matched in text, associated; pure functions that know of no store."""
