"""Desk: where one principal's work is done."""

from __future__ import annotations

from dataclasses import dataclass

from scrubjay.config import Settings
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store
from scrubjay.wiring.lineup import Lineup


@dataclass(frozen=True, slots=True)
class Desk:
    """Where one principal's syncs are done: the store, who syncs, with which models and settings."""

    store: Store
    scope: Scope
    lineup: Lineup
    settings: Settings
