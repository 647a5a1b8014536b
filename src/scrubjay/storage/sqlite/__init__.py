"""SQLite through APSW: the embedded default."""
