"""Agents: which coding agents there are, where each keeps its configuration, and what would be written there."""
