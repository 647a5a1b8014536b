"""Resident: a process that stays, its store open and its models loaded, and answers on a socket of its user alone."""
