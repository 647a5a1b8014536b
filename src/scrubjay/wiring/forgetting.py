"""Forgetting: memories go for good; what told of them is sorted anew."""

from __future__ import annotations

from collections.abc import Sequence, Set

from scrubjay.ingest import forget as store_path
from scrubjay.memory.dates import now_micros
from scrubjay.memory.records import Source
from scrubjay.memory.reports import Forgotten
from scrubjay.wiring.desk import Desk
from scrubjay.wiring.permissions import check


def forget(desk: Desk, ids: Sequence[str]) -> Forgotten:
    """Remove memories; the categories that told of them are made of those that stay."""
    with desk.store.reader(desk.scope) as reader:
        check(desk, reader.get(ids).values(), "forget")
    gone = store_path.forget(desk.store, desk.scope, ids)
    if "categories" in desk.settings.connect.stages:
        for source, keys in gone.sources.items():
            _file(desk, source, keys)
        for key in gone.fewer:
            _organise(desk, key, told=key in gone.keys)
    return gone.report


def _file(desk: Desk, source: Source, keys: Set[str]) -> None:
    from scrubjay.ingest.folders import refile

    refile(desk.store, desk.scope, source, now_micros(), keys=keys)


def _organise(desk: Desk, key: str, *, told: bool) -> None:
    """Find the topics of a key anew that lost one, or half of its memories: no later call of somebody else's does."""
    from scrubjay.ingest.organise import due, organise

    base = desk.lineup.writing()
    if told or due(desk.store, desk.scope, key, base, 0):
        organise(desk.store, desk.scope, key, base, desk.lineup.backfilled())
