"""Copying: all that a tenant has -> another store, of whatever kind, and whether it is the same there."""
