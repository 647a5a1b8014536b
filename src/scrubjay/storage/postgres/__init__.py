"""PostgreSQL: the adapter that answers exactly as SQLite does."""
