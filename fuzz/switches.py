"""Switches: the first byte of an input says how the rest is used."""

from __future__ import annotations


def switches(data: bytes) -> tuple[int, bytes]:
    """Take the first byte off."""
    return (data[0], data[1:]) if data else (0, b"")
