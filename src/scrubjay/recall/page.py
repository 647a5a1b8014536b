"""Page: filters and where to go on -> the memories that follow, in an order that no writing disturbs."""

from __future__ import annotations

from scrubjay.memory.reports import Page
from scrubjay.recall.assemble import full_paths
from scrubjay.recall.plan import resolved
from scrubjay.recall.request import Request
from scrubjay.store.base import Reader


def page(reader: Reader, wanted: Request, after: str) -> Page:
    """Return the memories that pass the request's filters and stand after an id, at most its ``limit``.

    Raises:
        InputError: ``after`` is no id.
        NotFoundError: A filter names a source or category that is not there.
    """
    found = reader.page(after, wanted.limit + 1, resolved(wanted.where, reader))
    kept = found[: wanted.limit]
    return Page(
        tuple(kept), full_paths(kept, reader.sources()), kept[-1].id if len(found) > len(kept) else None
    )
