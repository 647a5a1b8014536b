"""Run: one sync, what it writes with and what it has done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scrubjay.ingest.chunk import ChunkSettings
from scrubjay.ingest.learn import Learner
from scrubjay.ingest.projects import Projects
from scrubjay.ingest.weave import Weaver
from scrubjay.memory.reports import Progress, Trouble
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder


@dataclass(slots=True)
class Tally:
    """What a sync has done so far.

    Attributes:
        placed: The noted additions whose section it has found.
        unshared: Files whose front matter asks for a visibility that it may not give, and that visibility.

    The other fields are those of `Summary`.
    """

    files: int = 0
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    forgotten: int = 0
    scrubbed: Counter[str] = field(default_factory=Counter)
    placed: set[str] = field(default_factory=set)
    problems: list[Trouble] = field(default_factory=list)
    notices: list[Trouble] = field(default_factory=list)
    unshared: dict[str, str] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)


def _never(_agent: str, _session: str, _at: int | None) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Run:
    """One sync: where to, with what, and who watches.

    Attributes:
        store: Where to.
        scope: Who syncs.
        base: The base model.
        chunks: How documents are cut.
        tally: What it has done so far.
        projects: Which project a directory belongs to.
        weaver: Connects what is written.
        learner: Learns from what people say in it.
        progress: Told how far it is.
        silent: Tells of an agent, a session and a time whether what was said there is passed over.
    """

    store: Store
    scope: Scope
    base: Embedder
    chunks: ChunkSettings
    tally: Tally
    projects: Projects
    weaver: Weaver
    learner: Learner
    progress: Callable[[Progress], None] | None = None
    silent: Callable[[str, str, int | None], bool] = _never
