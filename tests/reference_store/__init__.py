"""The slow, obvious, correct reference store that the real stores are compared with."""
