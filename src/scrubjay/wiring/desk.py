"""Desk: where one principal's work is done."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scrubjay.config import Settings
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store
from scrubjay.wiring.lineup import Lineup
from scrubjay.wiring.reranking import Rerankers

if TYPE_CHECKING:
    from scrubjay.ingest.lexicon import Lexicons
    from scrubjay.log import Log
    from scrubjay.wiring.rewriting import Rewriter


def _silent(_: str) -> None:
    """Nobody listens to announcements of remote providers."""


@dataclass(frozen=True, slots=True)
class Desk:
    """Where one principal's syncs are done: the store, who syncs, with which models and settings.

    Attributes:
        store: Where memories live.
        scope: Who asks and writes.
        lineup: The models.
        settings: The settings.
        lexicons: Concepts that an earlier call made ready to be found.
        announce: Told the host and the counts before a remote provider is first used.
        curates: Whether they may change what others shared.
        looks: Whether files are compared with the store before an answer.
        rerankers: Who can look again at what a search found.
        closed: Set once the store was closed; one for all principals at the store.
        log: Where what is slow or goes wrong is told; None for nowhere.
        rewriter: What makes a question whole by what was said before it; None where nobody does.
    """

    store: Store
    scope: Scope
    lineup: Lineup
    settings: Settings
    lexicons: Lexicons = field(default_factory=dict)
    announce: Callable[[str], None] = _silent
    curates: bool = True
    looks: bool = True
    log: Log | None = None
    rewriter: Rewriter | None = None
    rerankers: Rerankers = field(default_factory=Rerankers)
    closed: threading.Event = field(default_factory=threading.Event)
