"""A store that fails when it is told to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from scrubjay.errors import StoreBusyError
from scrubjay.models.records import Scope
from scrubjay.models.reports import IndexReport, Progress
from scrubjay.storage.changes import Change
from scrubjay.storage.interface import Reader, Rebuild, Store, TenantReader
from scrubjay.storage.quota import Quota


class Failing:
    """A store whose writes of some changes fail before anything is stored; all else is another's.

    Attributes:
        left: Writes that are yet to fail.
    """

    def __init__(self, store: Store, when: Callable[[Change], bool]) -> None:
        self._store = store
        self._when = when
        self.left = 0

    @property
    def url(self) -> str:
        return self._store.url

    @property
    def quota(self) -> Quota:
        return self._store.quota

    def memory_counts(self, tenant: str) -> Mapping[str, int]:
        return self._store.memory_counts(tenant)

    def secret(self, scope: Scope) -> bytes:
        return self._store.secret(scope)

    @contextmanager
    def reader(self, scope: Scope) -> Iterator[Reader]:
        with self._store.reader(scope) as reader:
            yield reader

    def write(
        self,
        scope: Scope,
        changes: Sequence[Change],
        *,
        durable: bool = False,
        patience: float | None = None,
    ) -> None:
        if self.left and any(map(self._when, changes)):
            self.left -= 1
            raise StoreBusyError("Another process is writing. Nothing was written.")
        self._store.write(scope, changes, durable=durable, patience=patience)

    def busy(self, scope: Scope, patience: float = 0.1) -> bool:
        return self._store.busy(scope, patience)

    @contextmanager
    def try_exclusive(self, scope: Scope, name: str) -> Iterator[bool]:
        with self._store.try_exclusive(scope, name) as alone:
            yield alone

    @contextmanager
    def rebuild(self, scope: Scope) -> Iterator[Rebuild]:
        with self._store.rebuild(scope) as generation:
            yield generation

    def tenants(self) -> list[str]:
        return self._store.tenants()

    @contextmanager
    def tenant_reader(self, tenant: str) -> Iterator[TenantReader]:
        with self._store.tenant_reader(tenant) as whole:
            yield whole

    def check_writable(self) -> None:
        self._store.check_writable()

    def row_security_warning(self) -> str:
        return self._store.row_security_warning()

    def index_hint(self, scope: Scope) -> str:
        return self._store.index_hint(scope)

    def build_index(self, scope: Scope, progress: Callable[[Progress], None]) -> IndexReport:
        return self._store.build_index(scope, progress)

    def drop_index(self, scope: Scope) -> None:
        self._store.drop_index(scope)

    def vacuum(self) -> None:
        self._store.vacuum()

    def size(self) -> int:
        return self._store.size()

    def close(self) -> None:
        self._store.close()
