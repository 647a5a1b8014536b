"""Recall: the sections of the settings that say how a search is answered and what is put into a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from scrubjay.config_keys import number, whole, word

FUSIONS = ("auto", "rrf", "weighted", "raw")


@dataclass(frozen=True, slots=True)
class Recall:
    """[recall]: how a search is answered."""

    limit: int = field(default=6, metadata=whole("Results of a search.", 1, 1_000))
    candidates: int = field(
        default=4, metadata=whole("Candidates that a channel gives for each result.", 1, 100)
    )
    fusion: str = field(
        default="auto", metadata=word("How the channels' scores are joined.", choices=FUSIONS)
    )
    weights: Mapping[str, float] | None = field(
        default=None,
        metadata=word("What each channel weighs in the fusion.", kind="weights", default="by the query"),
    )
    tiers: str = field(
        default="all",
        metadata=word(
            "Tiers that answer where none is asked for: all, or observations alone as they were said.",
            choices=("all", "observations"),
        ),
    )
    tier_weights: Mapping[str, float] | None = field(
        default=None,
        metadata=word(
            "What tiers weigh; one that is not named weighs 1, and 0 leaves it out.",
            kind="tier weights",
            default="1 each",
        ),
    )
    confidence_floor: float = field(
        default=0.3, metadata=number("Confidence below which a memory is no result.", 0, 1)
    )
    links: int = field(
        default=0, metadata=whole("Hops over links that a search follows from what it found.", 0, 5)
    )
    hierarchy: bool = field(
        default=False, metadata=word("Whether a search descends the categories that fit.", kind="switch")
    )
    snippet: int = field(default=700, metadata=whole("Most characters of a result's snippet.", 40, 20_000))
    tz: str | None = field(
        default=None,
        metadata=word(
            'Zone of dates and of "yesterday" in a question, such as Europe/Berlin.', default="this machine's"
        ),
    )
    min_relevance: float | str = field(
        default="auto",
        metadata=word(
            "Relevance that each result must have; auto: an empty answer where nothing is likely to answer.",
            kind="relevance",
        ),
    )
    variety: bool = field(
        default=True,
        metadata=word("Whether what is alike gives way to near equals that are different.", kind="switch"),
    )
    session_cap: int = field(
        default=0, metadata=whole("Results of one conversation before those of others; 0 for any.", 0, 1_000)
    )
    document_cap: int = field(
        default=0, metadata=whole("Results of one document before those of others; 0 for any.", 0, 1_000)
    )
    touch: bool = field(
        default=True,
        metadata=word(
            "Whether reading one of your own memories by its id counts as using it.", kind="switch"
        ),
    )


LOADED: Final = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md", "MEMORY.md")
"""Files that coding agents read by themselves when a session begins."""


@dataclass(frozen=True, slots=True)
class Context:
    """[context]: what is put into a conversation."""

    budget: int = field(default=2_000, metadata=whole("Most tokens of it.", 50, 100_000))
    sessions: int = field(default=3, metadata=whole("Most of the last sessions that it tells of.", 0, 20))
    loaded: tuple[str, ...] = field(
        default=LOADED,
        metadata=word(
            "Files that the agent reads itself and that are not put in again: names, or patterns of paths.",
            kind="list",
        ),
    )
