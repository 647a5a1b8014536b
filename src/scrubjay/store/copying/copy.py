"""Copy: a tenant of one store -> the same tenant in another one, verified; begun again where it was stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from scrubjay.errors import InputError, NotFoundError, StoreBusyError, StoreError
from scrubjay.memory.dates import now_micros
from scrubjay.memory.moves import Copied
from scrubjay.memory.reports import Progress
from scrubjay.memory.runs import Run
from scrubjay.memory.scope import Everyone
from scrubjay.store.changes import PutRun
from scrubjay.store.copying.carry import carry
from scrubjay.store.copying.probe import probe
from scrubjay.store.copying.tally import EVERY, MARK, Tally, tally

if TYPE_CHECKING:
    from scrubjay.store.base import Store, Whole

Report = Callable[[Progress], None]

NAME: Final = "copy"
"""Id of the row that marks a copy, and what is held while one is made."""
PATIENCE: Final = 5.0
"""Seconds that a copy waits for another one to end: a server learns late that a connection was lost."""
PAUSE: Final = 0.1
"""Seconds between two looks."""
EMPTY: Final = "copy into an empty store: name a file that is not there yet, or another database"


def copy(
    source: Store, opened: Callable[[bytes], Store], tenant: str, progress: Report | None = None
) -> Copied:
    """Copy all that a tenant has, as it is when the copy begins.

    Args:
        source: From where; others may write to it meanwhile.
        opened: Opens the store to copy to, which gives a tenant that is new there this secret.
        tenant: The tenant.
        progress: Told how far it is.

    Raises:
        NotFoundError: There is no such tenant.
        InputError: The target holds other things of the tenant; nothing was written.
        StoreBusyError: Another process copies to it.
        StoreError: It cannot go on (what is there stays, and the next call goes on), or the copy is not the same.
    """
    started = time.monotonic()

    def report(stage: str, total: int) -> Callable[[int], None]:
        def seen(done: int) -> None:
            if progress is not None:
                progress(Progress(stage, done, total, time.monotonic() - started))

        return seen

    with source.whole(tenant) as here:
        if here.secret is None:
            raise NotFoundError(f"{source.url} holds nothing of tenant {tenant}. Nothing was copied.")
        if _state(here) == "running":
            raise InputError(
                f"{source.url} is itself a copy that was not finished. Nothing was copied.",
                hint="finish it first: run the copy that made it again",
            )
        target = opened(here.secret)
        try:
            scope = Everyone(tenant, "", (), (MARK,))
            with _alone(target, scope) as alone:
                if not alone:
                    raise StoreBusyError(
                        f"Another program copies tenant {tenant} to {target.url}. Nothing was copied.",
                        hint="wait until it is done: the same copy then tells you whether all is there",
                    )
                return _copied(
                    here, target, scope, (report, partial(_admit, source, target, tenant)), started
                )
        finally:
            target.close()


@contextmanager
def _alone(target: Store, scope: Everyone) -> Iterator[bool]:
    """Tell whether nobody else copies the tenant there; who does, has a moment to end."""
    end = time.monotonic() + PATIENCE
    while True:
        with target.alone(scope, NAME) as alone:
            if alone or time.monotonic() >= end:
                yield alone
                return
        time.sleep(PAUSE)


def _admit(source: Store, target: Store, tenant: str) -> None:
    """Hold what a tenant has to the quota of where it goes."""
    if target.quota:
        amounts = source.held(tenant)
        target.quota.admit(tenant, amounts, amounts)


def _copied(
    here: Whole,
    target: Store,
    scope: Everyone,
    told: tuple[Callable[[str, int], Callable[[int], None]], Callable[[], None]],
    started: float,
) -> Copied:
    report, admit = told
    total = here.counts().memories
    state = _standing(here, target, report("verify", total))
    if state != "done":
        began = now_micros()
        admit()
        try:
            target.write(scope, [PutRun(Run(NAME, MARK, "running", "1", began, None, {}))])
            carry(here, target, report("copy", total))
        except StoreError as error:
            raise type(error)(
                f"{error} The copy of tenant {scope.tenant} to {target.url} is not finished; what is there stays.",
                hint=error.hint or "put that right, and run the same copy again: it goes on where it was",
            ) from error
        held = _verified(here, target, report("verify", total))
        done = Run(NAME, MARK, "done", "1", began, now_micros(), {"memories": total})
        target.write(scope, [PutRun(done)], durable=True)
    else:
        held = _verified(here, target, report("verify", total))
    seconds = time.monotonic() - started
    return Copied(scope.tenant, target.url, held.counts, held.digests, state != "new", seconds)


def _state(whole: Whole) -> str:
    """Return how far a copy that made a store is: ``running``, ``done``, or nothing where none made it."""
    states = [run.state for run in whole.runs(EVERY) if run.key == MARK]
    return states[0] if states else ""


def _standing(here: Whole, target: Store, seen: Callable[[int], None]) -> str:
    """Return ``new``, ``running`` where a copy was stopped, or ``done`` where the same is there already.

    Raises:
        InputError: Something else of the tenant is there.
    """
    tenant = here.scope.tenant
    with target.whole(tenant) as there:
        if there.secret is None:
            return "new"
        if there.secret != here.secret:
            raise InputError(
                f"{target.url} has a tenant {tenant} of its own, with {there.counts().memories:,} memories and another "
                "secret. Nothing was written.",
                hint=EMPTY,
            )
        if _state(there) == "running":
            return "running"
        if not _differing(tally(here), tally(there, seen)):
            return "done"
    raise InputError(
        f"{target.url} holds tenant {tenant} already, and not as it is now. Nothing was written.", hint=EMPTY
    )


def _verified(here: Whole, target: Store, seen: Callable[[int], None]) -> Tally:
    """Return what both hold.

    Raises:
        StoreError: They do not hold the same, or do not answer alike.
    """
    mine = tally(here)
    with target.whole(here.scope.tenant) as there:
        theirs = tally(there, seen)
        other = _differing(mine, theirs)
        if other:
            told = ", ".join(f"{mine.counts[part]:,} and {theirs.counts[part]:,} {part}" for part in other)
            raise StoreError(
                f"The store and its copy do not hold the same: {told}. Another program wrote to {target.url}, or the "
                "store has changed since a copy that was stopped began. The store is untouched.",
                hint=f"stop who writes to the copy; {EMPTY}",
            )
        asked = probe(here, there)
        if asked is not None:
            raise StoreError(
                f"The store and its copy hold the same, but do not answer alike when asked for {asked}.",
                hint="run `scrubjay rebuild` on the store that was copied, then copy into an empty one",
            )
    return mine


def _differing(mine: Tally, theirs: Tally) -> list[str]:
    return [part for part in mine.digests if mine.digests[part] != theirs.digests[part]]
