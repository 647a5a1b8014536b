"""Copying: a store, a URL -> all that a tenant has, or all tenants, in the store of that URL. An operator's verb."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from scrubjay.errors import InputError, NotFoundError
from scrubjay.memory.moves import Copied
from scrubjay.memory.reports import Progress
from scrubjay.store.base import Store
from scrubjay.store.copying.copy import copy
from scrubjay.store.open import file_of, open_store

UNTOUCHED: Final = "Nothing was copied."


def copied(
    source: Store,
    to: str,
    tenants: Sequence[str] | None,
    progress: Callable[[Progress], None] | None = None,
) -> tuple[Copied, ...]:
    """Copy tenants, one after the other; each is of the moment in which its copy began.

    Args:
        source: From where.
        to: URL or path of the store to copy to, made if it is not there.
        tenants: Which; None for all.
        progress: Told how far the tenant at hand is.

    Raises:
        InputError: It is the same store, one of no kind that lasts, or it holds other things of a tenant.
        NotFoundError: There is no such tenant, or none at all.
        StoreError: It cannot go on; the same call goes on where it was.
    """
    _apart(source.url, to)
    wanted = source.tenants() if tenants is None else list(tenants)
    if not wanted:
        raise NotFoundError(f"{source.url} holds no tenant. {UNTOUCHED}")
    opened = partial(open_store, to, quota=source.quota)
    return tuple(copy(source, opened, tenant, progress) for tenant in wanted)


def exists(url: str) -> None:
    """Refuse to read from a file that is not there: opening it would make an empty store.

    Raises:
        NotFoundError: It is not there.
    """
    file = file_of(url)
    if file is not None and not file.exists():
        raise NotFoundError(f"{file} is not there. {UNTOUCHED}")


def _apart(source: str, to: str) -> None:
    if to.startswith("memory:") or source.startswith("memory:"):
        raise InputError(f"memory:// ends with its process; there is nothing to copy from or to. {UNTOUCHED}")
    one, other = _place(source), _place(to)
    if one == other or (isinstance(other, Path) and isinstance(one, Path) and _same(one, other)):
        raise InputError(f"{to} is the store itself. {UNTOUCHED}", hint="name another file or database")


def _place(url: str) -> str | Path:
    file = file_of(url)
    return url if file is None else Path(os.path.abspath(file))


def _same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)
