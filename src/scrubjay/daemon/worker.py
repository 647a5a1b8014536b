"""Worker: a process that enriches and embeds what a store's users add until it is stopped.

It is for servers, where an operator decides what runs where: unlike the process of `daemon.embedding` it does not end,
does not pause while the machine is busy, and also embeds with models that are services, as `scrubjay embed` does.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from scrubjay.api.auth import Principal, TokenStore
from scrubjay.errors import ScrubjayError
from scrubjay.memory import Memory
from scrubjay.models.records import Scope
from scrubjay.services.inspection import stored_users
from scrubjay.services.sync import enrich_and_embed, pending_work

if TYPE_CHECKING:
    from scrubjay.daemon.embedding import EmbeddingJob
    from scrubjay.log import Log
    from scrubjay.models.reports import EmbedReport, EnrichReport


WORKER_CHECK_SECONDS: Final = 5.0
"""Seconds between two checks for pending work."""
RETRY_SECONDS: Final = 60.0
"""Seconds after a failure until the next check."""


def token_principals(owner: Principal, tokens: TokenStore) -> list[Principal]:
    """Return the owner and every other principal of an unexpired token, without agents and scopes."""
    now = time.time()
    principals = {(owner.tenant, owner.user, tuple(sorted(owner.groups))): owner}
    for token in tokens.all():
        key = (token.tenant, token.user, tuple(sorted(token.groups)))
        if key not in principals and not token.expired(now):
            principals[key] = Principal(token.tenant, token.user, token.groups)
    return list(principals.values())


def stored_principals(memory: Memory, known: list[Principal]) -> list[Principal]:
    """Return the known principals and those who have memories in the store, whoever may log in as them.

    A user gets the groups of their memories that are due for enrichment; a member of that group alone covers the rest
    of a group. Public memories are in every principal's view.
    """
    principals = list(known)
    for tenant, stored in stored_users(memory.workspace.store, {who.tenant for who in known}).items():
        for user, groups in stored.users.items():
            if not any(
                who.tenant == tenant and who.user == user and groups <= set(who.groups) for who in principals
            ):
                principals.append(Principal(tenant, user, tuple(sorted(groups))))
        for group in sorted(stored.groups):
            if not any(who.tenant == tenant and group in who.groups for who in principals):
                principals.append(Principal(tenant, "", (group,)))
        if stored.public and not any(who.tenant == tenant for who in principals):
            principals.append(Principal(tenant, ""))
    return principals


class Worker:
    """Works off what is pending for each principal, one after the other.

    ``principals`` returns whom to work for, the owner first; it is called at each check, since tokens come and go.
    While another process holds the job, the worker waits.
    """

    def __init__(
        self, memory: Memory, principals: Callable[[], list[Principal]], job: EmbeddingJob, log: Log
    ) -> None:
        self._memory = memory
        self._principals = principals
        self._job = job
        self._log = log
        self._served: set[Principal] = set()

    def run(
        self,
        stop: threading.Event,
        on_report: Callable[[Principal, EnrichReport, EmbedReport], None],
        on_failure: Callable[[ScrubjayError], None],
    ) -> None:
        """Work until ``stop`` is set; a batch that has begun is finished and stored.

        ``on_report`` is called after work for a principal, ``on_failure`` with an error unlike that of the last check.
        """
        problem = ""
        while not stop.is_set():
            try:
                self._work(stop, on_report)
                problem = ""
            except ScrubjayError as error:
                if str(error) != problem:
                    problem = str(error)
                    self._log.write("error", "worker failed", error=type(error).__name__)
                    on_failure(error)
            stop.wait(RETRY_SECONDS if problem else WORKER_CHECK_SECONDS)

    def _work(
        self, stop: threading.Event, on_report: Callable[[Principal, EnrichReport, EmbedReport], None]
    ) -> None:
        self._job.record_check()
        for principal in self._principals():
            scope = Scope(principal.tenant, principal.user, principal.groups)
            workspace = self._memory.workspace.for_principal(scope)
            # The first time even if nothing is pending: an earlier process may have been interrupted after that.
            if stop.is_set() or (principal in self._served and not pending_work(workspace)):
                continue
            with self._job.exclusive() as alone:
                if not alone:
                    return
                self._job.write_state()
                try:
                    reports = enrich_and_embed(workspace, lambda: not stop.is_set())
                except Exception as error:
                    self._job.write_state(problem=str(error) or type(error).__name__)
                    raise
                self._job.clear_state()
            self._served.add(principal)
            on_report(principal, *reports)
