"""Reweave: everything that is stored -> connected anew, a page at a time.

For a store that an earlier version wrote, and for whoever changed the dictionary or the settings by much. Each
page is one transaction, so what is read meanwhile is connected as before or as after, never half.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from scrubjay.ingest.folders import refile
from scrubjay.ingest.organise import organise
from scrubjay.ingest.resolve import relink
from scrubjay.ingest.weave import Weaver
from scrubjay.memory.dates import now_micros
from scrubjay.memory.records import Source
from scrubjay.memory.reports import Progress
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store
from scrubjay.store.changes import DropCategory, Prepared, PutEdges
from scrubjay.text.tokens import Terms

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder

PAGE: Final = 1_000
NO_TERMS: Final = Terms({}, 0)
"""Of what is stored already no terms are needed."""


def reweave(
    store: Store,
    scope: Scope,
    base: Embedder,
    weaver: Weaver,
    progress: Callable[[Progress], None] | None = None,
) -> None:
    """Connect every memory that a principal may write.

    Args:
        store: Where.
        scope: Who writes.
        base: The base model.
        weaver: Connects a page.
        progress: Told how far it is.
    """
    started = time.monotonic()
    after, done = "", 0
    with store.reader(scope) as reader:
        total = reader.counts().memories
        sources = reader.sources()
    own = {source.id for source in sources}
    while True:
        with store.reader(scope) as reader:
            page = reader.page(after, PAGE)
            known = any(s.model.fingerprint == base.model.fingerprint for s in reader.models())
            vectors = reader.vectors(base.model.fingerprint, [r.id for r in page]) if known else {}
        if not page:
            break
        after = page[-1].id
        memories = [
            Prepared(r, NO_TERMS, {base.model.fingerprint: vectors[r.id]} if r.id in vectors else {})
            for r in page
        ]
        ids = [record.id for record in page]
        weaver.learn(page, ids)
        # In which folder a shared note stands, only they can tell anew who sync it.
        theirs = {record.id for record in page if record.place is not None and record.place.source not in own}
        first, last = weaver.changes(memories, [memory for memory in ids if memory not in theirs], again=True)
        anew = [PutEdges((), tuple(sorted(theirs)), ("references", "similar"))] if theirs else []
        store.write(scope, [*first, *anew, *last])
        done += len(page)
        if progress is not None:
            progress(Progress("connect", done, total, time.monotonic() - started))
    if "links" in weaver.stages:
        for source in sources:
            relink(store, scope, source)
    if "categories" in weaver.stages:
        _sort(store, scope, base, sources)
    else:
        with store.reader(scope) as reader:
            gone = [DropCategory(category.id) for category in reader.categories()]
        store.write(scope, gone)


def _sort(store: Store, scope: Scope, base: Embedder, sources: Sequence[Source]) -> None:
    """Find all topics and places anew."""
    for key in scope.keys:
        organise(store, scope, key, base)
    for source in sources:
        refile(store, scope, source, now_micros())
