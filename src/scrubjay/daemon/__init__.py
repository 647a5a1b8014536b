"""Daemon: a background process that keeps the store open and the models loaded, on a socket of its user."""
