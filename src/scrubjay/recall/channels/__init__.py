"""Channels: each one way of ranking memories for a query."""
