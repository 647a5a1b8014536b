"""`scrubjay copy` while the connection is lost or the server restarts: a clear end, and the next run goes on."""

from __future__ import annotations

import gc
import random
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from served import Databases, held, refusal, sound
from storm import FAULTS
from wire import Wire, wired

from scrubjay.errors import StoreError
from scrubjay.models.reports import Progress
from scrubjay.storage.urls import open_store
from scrubjay.transfer import copy as carrying
from scrubjay.transfer.copy import copy_tenant
from store_contract.answers import all_answers
from store_contract.history import StoreHistory
from store_contract.postgres_server import PostgresServer

TENANT = "acme"
STEPS = 80
CUTS = 2
"""Cuts each way; a two-hundredth of ``--kills``, if that is more."""
PIECES = 10
"""Rows of a piece, so that a small tenant has many."""


@pytest.fixture
def wire(lasting: PostgresServer) -> Iterator[Wire]:
    with wired(lasting.url) as made:
        yield made


class Tenant:
    """A tenant that lived in a file, and the databases that it is copied to and from.

    Attributes:
        file: URL of the file.
        history: What it lived.
        database: URL of a database that it was copied to.
        requests: How often the server is asked in a copy there, and in one back.
    """

    def __init__(self, server: PostgresServer, folder: Path) -> None:
        self._databases = Databases(server.url, folder, folder / "notes", "template1")
        self._folder, self._made = folder, 0
        self.file = self.new_file()
        self.history = StoreHistory(11, TENANT)
        with closing(open_store(self.file, b"history")) as store:
            for scope, changes in self.history.steps(STEPS):
                store.write(scope, changes)
        self.database = self.new_database()
        with wired(server.url) as wire:
            self.copied(self.file, wire.through(self.database))
            self.requests = {"there": wire.asked}
            wire.arm(None)
            self.copied(wire.through(self.database), self.new_file())
            self.requests["back"] = wire.asked

    def new_file(self) -> str:
        self._made += 1
        return f"sqlite:///{self._folder / f'{self._made}.db'}"

    def new_database(self) -> str:
        return self._databases.fresh()

    def copied(self, source: str, to: str) -> bool:
        """Copy, and return whether it was begun before."""
        with closing(open_store(source)) as store:
            return copy_tenant(store, lambda secret: open_store(to, secret), TENANT).resumed

    def same(self, url: str) -> None:
        """Demand that a copy answers as the tenant does."""
        with closing(open_store(url)) as store:
            for scope in self.history.users:
                questions = [self.history.question() for _ in range(4)]
                assert all_answers(store, scope, questions) == all_answers(
                    self.history.reference, scope, questions
                )


@pytest.fixture(scope="module")
def tenant(lasting: PostgresServer) -> Iterator[Tenant]:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(carrying, "BATCH_ROWS", PIECES)
        yield Tenant(lasting, Path(folder))


@pytest.mark.parametrize("answered", [False, True], ids=["asked", "answered"])
@pytest.mark.parametrize("way", ["there", "back"])
def test_a_copy_whose_connection_is_lost_says_so_and_goes_on_where_it_was(
    tenant: Tenant, wire: Wire, way: str, answered: bool, kills: int | None, seed: int
) -> None:
    full, most = tenant.database, tenant.requests[way]
    whole = held(full, TENANT)
    chance = random.Random(f"{seed} {way} {answered}")
    felt = resumed = 0
    for _ in range(max(kills // 200, CUTS) if kills else CUTS):
        at = chance.randrange(1, most + 1)
        source, to = (tenant.file, tenant.new_database()) if way == "there" else (full, tenant.new_file())
        first = (source, wire.through(to)) if way == "there" else (wire.through(source), to)
        wire.arm(at, answered=answered)
        said = refusal(lambda first=first: tenant.copied(*first))  # type: ignore[misc]
        felt += said is not None
        wire.arm(None)
        try:
            resumed += tenant.copied(source, to)
            tenant.same(to)
            if way == "there":
                sound(to)
                assert held(to, TENANT) == whole
        except BaseException as error:
            error.add_note(f"{way}: request {at} of {most}, seed {seed}")
            raise
    assert felt, "no cut was felt: nothing was tried"
    assert resumed, "each began anew: nothing was tried"


@pytest.mark.parametrize("answered", [False, True], ids=["asked", "answered"])
def test_what_is_read_in_pieces_is_let_go_of_at_whatever_request_the_connection_is_lost(
    tenant: Tenant, wire: Wire, answered: bool, kills: int | None, seed: int
) -> None:
    def read() -> None:
        with (
            closing(open_store(wire.through(tenant.database))) as store,
            store.tenant_reader(TENANT) as whole,
        ):
            list(whole.tombstones())

    wire.arm(None)
    read()
    said = []
    every = range(1, wire.asked + 1)
    for at in every if kills else random.Random(seed).sample(every, min(len(every), 2 * CUTS)):
        wire.arm(at, answered=answered)
        said.append(refusal(read))
        gc.collect()  # what nobody closed tells so now
    assert len(list(filter(None, said))) > 3, said


@pytest.mark.parametrize("fault", ["every", "crashed", "fast", "immediate"])
@pytest.mark.parametrize("way", ["there", "back"])
def test_a_copy_in_which_the_server_restarts_goes_on_when_it_is_back(
    tenant: Tenant, lasting: PostgresServer, way: str, fault: str, seed: int
) -> None:
    """Both ways, at the second piece of memories and while it is verified."""
    chance = random.Random(f"{seed} {way} {fault}")
    source, to = (
        (tenant.file, tenant.new_database()) if way == "there" else (tenant.database, tenant.new_file())
    )
    for stage in ("copy", "verify"):
        befallen: list[Progress] = []

        def befall(progress: Progress, stage: str = stage, befallen: list[Progress] = befallen) -> None:
            if progress.stage == stage and progress.done > PIECES and not befallen:
                befallen.append(progress)
                FAULTS[fault](lasting, chance)

        with closing(open_store(source)) as store, pytest.raises(StoreError) as told:
            copy_tenant(store, lambda secret: open_store(to, secret), TENANT, befall)
        assert befallen
        assert "was lost" in str(told.value) or "cannot be reached" in str(told.value)
        assert told.value.hint
    assert tenant.copied(source, to)
    tenant.same(to)
