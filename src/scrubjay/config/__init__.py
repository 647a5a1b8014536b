"""Configuration: settings, where they come from, and paths."""
