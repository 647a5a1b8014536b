"""Baselines: other ways of doing the same, measured in the same run."""
