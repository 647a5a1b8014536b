"""The slow, obvious, right reference."""
