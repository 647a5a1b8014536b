"""Porting: what a caller may see of a store, as lines of JSON, and such lines as memories of another store."""
