"""Nights: what a consolidation did, and what taking one back did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Made:
    """A memory that a night made, or would make.

    Attributes:
        id: Its id.
        tier: Its tier.
        key: Its visibility key: that of all of its sources.
        title: What it is called, or an empty string.
        content: What it says.
        sources: Ids of the memories that it was made from.
    """

    id: str
    tier: str
    key: str
    title: str
    content: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Consolidated:
    """What one consolidation did, or would do.

    Attributes:
        run: Its id, by which it is taken back; None where nothing was written.
        made: The digests it made.
        kinds: ``turn``, ``note`` or ``tool`` to how many memories of that kind are told in digests now.
        tokens: Tokens of those memories.
        kept: Tokens of the digests that tell of them.
        archived: Memories archived: none, unless that was asked for.
        files: Path of each note of which passages were archived, with how many of them.
        renewed: Digests taken back because what they told of was changed or is gone; what is left is told anew.
        promoted: What it drew from several sources: facts, facets, procedures, crystals, insights.
        supported: Known facts that more sources were found to bear out.
        read: Turns that a language model read.
        found: The statements that it found there and the rules had not.
        rephrased: Digests that are told in its words.
        refused: What it said that no source bears out; none of it was written.
        partial: What the run had to do without, such as a model that did not answer.
        interrupted: Runs that were found killed midway; what they wrote is whole, and stays.
        passed: Why nothing was looked at: ``busy`` (another process consolidates), ``not due``; else empty.
        dry_run: Whether nothing was written.
        seconds: Wall time.
    """

    run: str | None = None
    made: tuple[Made, ...] = ()
    kinds: Mapping[str, int] = field(default_factory=dict)
    tokens: int = 0
    kept: int = 0
    archived: int = 0
    files: Mapping[str, int] = field(default_factory=dict)
    renewed: int = 0
    promoted: tuple[Made, ...] = ()
    supported: int = 0
    read: int = 0
    found: tuple[Made, ...] = ()
    rephrased: int = 0
    refused: int = 0
    partial: tuple[str, ...] = ()
    interrupted: tuple[str, ...] = ()
    passed: str = ""
    dry_run: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Undone:
    """What taking a consolidation back did.

    Attributes:
        run: The run.
        removed: Memories it had made, now gone.
        restored: Memories it had archived, active again. What a person archived, restored or changed since stays.
        already: Whether it was undone before.
    """

    run: str
    removed: int
    restored: int
    already: bool = False
