"""Agents: the coding agents that scrubjay can be installed for, and their hooks."""
