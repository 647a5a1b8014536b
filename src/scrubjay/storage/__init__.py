"""Storage: where memories are kept. Protocols, shared arithmetic, SQLite and PostgreSQL."""
