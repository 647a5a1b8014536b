"""Lines: name of a table in ``data/`` -> its lines. Tables of words stand in files, to be read and amended."""

from __future__ import annotations

from importlib import resources


def lines(name: str) -> list[str]:
    """Return the lines of a table that are neither empty nor comments."""
    table = resources.files("scrubjay.ingest.change").joinpath("data", name)
    return [line for line in table.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
