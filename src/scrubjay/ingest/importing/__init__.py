"""Importing: what other tools remember, as memories that can be added. A module each; none knows a store."""
