"""Redactions: what stands in place of a secret, and where."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Redaction:
    """One secret or private span that was replaced before its text was stored.

    Attributes:
        memory: Id of the memory that holds the mark.
        kind: Kind of secret, such as ``password``; ``private`` for a private span.
        path: The file, absolute where the source is a folder of this machine; empty for what stands in no file.
        line: Line of the file, from 1; 0 for what stands in no file.
        before: The characters before the mark on its line, at most 24.
        after: Those behind it, at most 24.
    """

    memory: str
    kind: str
    path: str
    line: int
    before: str
    after: str
