"""PostgreSQL: the small adapter that answers as SQLite does."""
