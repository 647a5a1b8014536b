"""Ingest: from files, transcripts and calls to stored memories."""
