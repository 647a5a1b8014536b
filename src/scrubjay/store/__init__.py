"""WHERE memories live: ports, the reference, SQLite, PostgreSQL."""
