"""A copy holds and answers what the store did, in both directions, also when it was stopped on the way."""

from __future__ import annotations

import copy
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scrubjay.errors import InputError, NotFoundError, StoreBusyError, StoreError
from scrubjay.models.records import Scope
from scrubjay.models.reports import Progress
from scrubjay.storage.changes import Change, Forget, PutConcept, PutMemory
from scrubjay.storage.interface import Store
from scrubjay.storage.sqlite import connection
from scrubjay.storage.urls import open_store
from scrubjay.transfer import copy as carrying
from scrubjay.transfer.copy import copy_tenant, digest_tenant
from store_contract.answers import all_answers
from store_contract.history import WORDS, StoreHistory
from store_contract.samples import sample_concept, sample_memory

STEPS = 120
QUESTIONS = 20
MISTYPED = ("deploymnt", "sesion", *WORDS[:3])


class Places:
    """Where stores of a test lie: a file, or a database of the server, which all tests share by tenants."""

    def __init__(self, folder: Path, server: str) -> None:
        self._folder, self._server = folder, server

    def database(self) -> str:
        import psycopg

        name = f"copy_{uuid.uuid4().hex}"
        with psycopg.connect(self._server, autocommit=True) as db:
            db.execute(f"CREATE DATABASE {name}")
        return self._server.replace("/postgres?", f"/{name}?")

    def url(self, kind: str) -> str:
        if kind == "postgres":
            return self.database()
        return f"sqlite:///{self._folder / f'{uuid.uuid4().hex}.db'}"


@pytest.fixture
def places(tmp_path: Path, postgres_url: str) -> Places:
    return Places(tmp_path, postgres_url)


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory, postgres_url: str) -> tuple[dict[str, str], StoreHistory]:
    """Stores of each kind in which two tenants lived for a while, by URL, and what one of them lived."""
    places = Places(tmp_path_factory.mktemp("life"), postgres_url)
    history = StoreHistory(3, "acme")
    urls = {kind: places.url(kind) for kind in ("sqlite", "postgres")}
    with ExitStack() as stack:
        stores = [stack.enter_context(closing(open_store(url, b"history"))) for url in urls.values()]
        for scope, changes in history.steps(STEPS):
            for store in stores:
                store.write(scope, changes)
        for store in stores:
            store.write(Scope("other", "ann"), [PutMemory(sample_memory("of another tenant", "user:ann"))])
    return urls, history


@pytest.fixture
def lived(tmp_path: Path, life: tuple[dict[str, str], StoreHistory]) -> Iterator[tuple[Store, StoreHistory]]:
    """The file of those stores and the history, both for this test alone."""
    urls, history = life
    file = shutil.copy(urls["sqlite"].removeprefix("sqlite:///"), tmp_path / "lived.db")
    with closing(open_store(f"sqlite:///{file}")) as store:
        yield store, copy.deepcopy(history)


def to(url: str):  # type: ignore[no-untyped-def]
    return lambda secret: open_store(url, secret)


def answers(store: Store, scopes: Sequence[Scope], history: StoreHistory) -> list[object]:
    questions = [history.question() for _ in range(QUESTIONS)]
    return [all_answers(store, scope, questions, MISTYPED) for scope in scopes]


def assert_alike(url: str, history: StoreHistory) -> None:
    """Compare a copy with the reference that lived the same life."""
    with closing(open_store(url)) as store:
        for scope in history.users:
            questions = [history.question() for _ in range(QUESTIONS)]
            mine = all_answers(store, scope, questions, MISTYPED)
            theirs = all_answers(history.reference, scope, questions, MISTYPED)
            for name, value in theirs.items():
                assert mine[name] == value, name
        assert store.secret(history.users[0]) == b"history"


@pytest.mark.parametrize("kinds", [("sqlite", "postgres"), ("postgres", "sqlite"), ("sqlite", "sqlite")])
def test_a_copy_answers_as_the_store_did(
    places: Places, life: tuple[dict[str, str], StoreHistory], kinds: tuple[str, str]
) -> None:
    urls, history = life
    second = places.url(kinds[1])
    with closing(open_store(urls[kinds[0]])) as store:
        done = copy_tenant(store, to(second), "acme")
    assert (done.tenant, done.resumed) == ("acme", False)
    assert all(done.counts[part] > 0 for part in ("memories", "documents", "edges", "events", "runs"))
    assert_alike(second, copy.deepcopy(history))


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 60), there=st.booleans())
def test_any_store_survives_the_way_there_and_back(
    places: Places, seed: int, steps: int, there: bool
) -> None:
    """Whatever was lived: SQLite to PostgreSQL to SQLite, or to another file first, ends with the same rows."""
    history = StoreHistory(seed, "acme")
    ways = (
        places.url("sqlite"),
        places.url("postgres" if there else "sqlite"),
        places.url("sqlite"),
    )
    with closing(open_store(ways[0], b"history")) as store:
        for scope, changes in history.steps(steps):
            store.write(scope, changes)
        first = copy_tenant(store, to(ways[1]), "acme")
    with closing(open_store(ways[1])) as store:
        second = copy_tenant(store, to(ways[2]), "acme")
    assert first.digests == second.digests
    assert_alike(ways[2], history)


def test_what_was_forgotten_stays_forgotten_and_ids_hold(
    places: Places, lived: tuple[Store, StoreHistory]
) -> None:
    store, _ = lived
    ann = Scope("acme", "ann")
    gone = sample_memory("the lost acorn", "user:ann")
    store.write(ann, [PutMemory(gone)])
    store.write(ann, [Forget((gone.record.id,))])
    url = places.url("postgres")
    copy_tenant(store, to(url), "acme")
    with closing(open_store(url)) as there, store.tenant_reader("acme") as whole, there.reader(ann) as reader:
        marks = [mark for piece in whole.tombstones() for mark in piece]
        assert marks
        assert reader.forgotten_hashes(marks) == set(marks)
        assert there.secret(ann) == store.secret(ann)


def test_one_tenants_copy_has_nothing_of_another(places: Places, lived: tuple[Store, StoreHistory]) -> None:
    url = places.url("postgres")
    copy_tenant(lived[0], to(url), "acme")
    with closing(open_store(url)) as there:
        assert there.tenants() == ["acme"]
    copy_tenant(lived[0], to(url), "other")
    with closing(open_store(url)) as there:
        assert there.tenants() == ["acme", "other"]


def test_a_second_copy_finds_all_of_it_there_and_writes_nothing(
    places: Places, lived: tuple[Store, StoreHistory]
) -> None:
    url = places.url("sqlite")
    first = copy_tenant(lived[0], to(url), "acme")
    again = copy_tenant(lived[0], to(url), "acme")
    assert again.resumed
    assert again.digests == first.digests


def test_a_target_with_things_of_its_own_is_refused_and_left_as_it_was(
    places: Places, lived: tuple[Store, StoreHistory]
) -> None:
    ann = Scope("acme", "ann")
    for kind in ("sqlite", "postgres"):
        url = places.url(kind)
        with closing(open_store(url)) as there:
            there.write(ann, [PutMemory(sample_memory("mine", "user:ann"))])
        with pytest.raises(InputError, match=r"another tenant .*, with 1 memories") as found:
            copy_tenant(lived[0], to(url), "acme")
        assert "empty store" in found.value.hint
        with closing(open_store(url)) as there, there.reader(ann) as reader:
            assert reader.counts().memories == 1


def test_a_finished_copy_that_went_its_own_way_is_refused(
    places: Places, lived: tuple[Store, StoreHistory]
) -> None:
    url = places.url("sqlite")
    copy_tenant(lived[0], to(url), "acme")
    with closing(open_store(url)) as there:
        there.write(Scope("acme", "ann"), [PutMemory(sample_memory("written there", "user:ann"))])
    with pytest.raises(InputError, match="with different contents"):
        copy_tenant(lived[0], to(url), "acme")


def test_a_tenant_that_is_not_there_is_not_copied(places: Places, lived: tuple[Store, StoreHistory]) -> None:
    url = places.url("sqlite")
    with pytest.raises(NotFoundError, match="nothing of tenant nobody"):
        copy_tenant(lived[0], to(url), "nobody")


class Failing:
    """A real store whose disk is full after some writes."""

    def __init__(self, store: Store, writes: int) -> None:
        self._store, self._left = store, writes

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def write(self, scope: Scope, changes: Sequence[Change], **rules: object) -> None:
        self._left -= 1
        if self._left < 0:
            raise StoreError("The disk is full. Nothing was written.", hint="make room")
        self._store.write(scope, changes, **rules)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "writes"), [("sqlite", 1), ("sqlite", 5), ("sqlite", 11), ("postgres", 3), ("postgres", 8)]
)
def test_a_copy_that_fails_midway_says_so_and_goes_on_where_it_was(
    places: Places,
    lived: tuple[Store, StoreHistory],
    kind: str,
    writes: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(carrying, "BATCH_ROWS", 10)
    store, history = lived
    url = places.url(kind)
    with pytest.raises(StoreError, match=r"disk is full.*not finished; what is there stays"):
        copy_tenant(store, lambda secret: Failing(open_store(url, secret), writes), "acme")  # type: ignore[arg-type,return-value]
    done = copy_tenant(store, to(url), "acme")
    assert done.resumed
    assert_alike(url, history)


def test_a_copy_that_was_stopped_takes_what_changed_in_the_store_since(
    places: Places, lived: tuple[Store, StoreHistory]
) -> None:
    store, history = lived
    url = places.url("sqlite")
    with pytest.raises(StoreError):
        copy_tenant(store, lambda secret: Failing(open_store(url, secret), 9), "acme")  # type: ignore[arg-type,return-value]
    ann = history.users[0]
    fresh = sample_memory("written between two copies", "user:ann")
    for one in (store, history.reference):
        one.write(ann, [PutMemory(fresh)])
        one.write(ann, [PutMemory(replace(fresh, record=replace(fresh.record, title="named anew")))])
    copy_tenant(store, to(url), "acme")
    assert_alike(url, history)


def test_a_copy_is_of_one_moment_and_hears_of_writers_to_it(
    places: Places, lived: tuple[Store, StoreHistory]
) -> None:
    """Somebody writes to the store and to its copy while it is made: the first is left out, the second is an error."""
    store, _ = lived
    ann = Scope("acme", "ann")

    def meanwhile(report: Progress) -> None:
        if report.stage == "copy":
            late = sample_memory("late in the store", "user:ann")
            store.write(ann, [PutMemory(late)])

    url = places.url("sqlite")
    before = _tally(store)
    done = copy_tenant(store, to(url), "acme", meanwhile)
    assert done.digests == before.digests
    assert _tally(store).counts["memories"] == before.counts["memories"] + 1

    target = places.url("sqlite")

    def intruder(report: Progress) -> None:
        if report.stage == "copy":
            with closing(open_store(target)) as there:
                there.write(ann, [PutMemory(sample_memory("an intruder's", "user:ann"))])

    with pytest.raises(StoreError, match=r"do not hold the same: .* memories.*Another program wrote"):
        copy_tenant(store, to(target), "acme", intruder)
    with closing(open_store(target)) as there, there.reader(ann) as reader:
        assert sample_memory("an intruder's", "user:ann").record.id in reader.get(
            [sample_memory("an intruder's", "user:ann").record.id]
        )


def _tally(store: Store):  # type: ignore[no-untyped-def]
    with store.tenant_reader("acme") as whole:
        return digest_tenant(whole)


def test_two_copies_at_once_do_not_meet(
    places: Places, lived: tuple[Store, StoreHistory], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(carrying, "LOCK_PATIENCE", 0.0)
    url = places.url("sqlite")
    with (
        closing(open_store(url)) as there,
        there.try_exclusive(Scope("acme", ""), "copy"),
        pytest.raises(StoreBusyError, match="Another program is copying"),
    ):
        copy_tenant(lived[0], to(url), "acme")


def test_a_copy_begun_while_the_lost_one_before_it_still_holds_the_tenant_waits_for_that(
    places: Places, lived: tuple[Store, StoreHistory], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = places.url("sqlite")
    looks = []
    with closing(open_store(url)) as there, ExitStack() as before:
        before.enter_context(there.try_exclusive(Scope("acme", ""), "copy"))

        def ends(seconds: float) -> None:
            looks.append(seconds)
            before.close()

        monkeypatch.setattr(time, "sleep", ends)
        assert copy_tenant(lived[0], to(url), "acme").counts["memories"]
    assert looks == [carrying.LOCK_PAUSE]


def test_an_unfinished_copy_is_not_copied_on(places: Places, lived: tuple[Store, StoreHistory]) -> None:
    url = places.url("sqlite")
    with pytest.raises(StoreError):
        copy_tenant(lived[0], lambda secret: Failing(open_store(url, secret), 4), "acme")  # type: ignore[arg-type,return-value]
    with closing(open_store(url)) as half, pytest.raises(InputError, match="not finished"):
        copy_tenant(half, to(places.url("sqlite")), "acme")


def test_the_mark_of_a_copy_is_shown_to_nobody(places: Places, lived: tuple[Store, StoreHistory]) -> None:
    store, history = lived
    url = places.url("sqlite")
    copy_tenant(store, to(url), "acme")
    with closing(open_store(url)) as there:
        for scope in history.users:
            with there.reader(scope) as mine, store.reader(scope) as theirs:
                assert mine.runs(1000) == theirs.runs(1000)


KILLED = """
import os, signal, sys
from scrubjay.transfer import copy as carry
from scrubjay.transfer.copy import copy_tenant
from scrubjay.storage.urls import open_store
carry.BATCH_ROWS = 10
left = int(sys.argv[3])
class Dying:
    def __init__(self, store): self.store = store
    def __getattr__(self, name): return getattr(self.store, name)
    def write(self, *given, **rules):
        global left
        left -= 1
        self.store.write(*given, **rules)
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
copy_tenant(open_store(sys.argv[1]), lambda secret: Dying(open_store(sys.argv[2], secret)), "acme")
"""


@pytest.mark.parametrize(
    ("kind", "writes"), [("sqlite", 1), ("sqlite", 9), ("postgres", 4), ("postgres", 15)]
)
def test_a_copy_that_was_killed_is_finished_by_the_next(
    places: Places, lived: tuple[Store, StoreHistory], kind: str, writes: int
) -> None:
    store, history = lived
    url = places.url(kind)
    done = subprocess.run(
        [sys.executable, "-c", KILLED, store.url, url, str(writes)], env=dict(os.environ), timeout=120, check=False
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL
    again = copy_tenant(store, to(url), "acme")
    assert again.resumed
    assert_alike(url, history)


@pytest.mark.parametrize("kinds", [("sqlite", "postgres"), ("postgres", "sqlite")])
def test_a_tenant_of_more_users_than_a_statement_takes_values_is_copied(
    places: Places, kinds: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each transaction names the keys of what it holds, and a statement of all of them has them as one value."""
    monkeypatch.setattr(connection, "MAX_VALUES", 20)
    users = [f"user:u{number}" for number in range(60)]
    first, second = (places.url(kind) for kind in kinds)
    with closing(open_store(first, b"history")) as store:
        for number, key in enumerate(users):
            store.write(
                Scope("acme", key[5:]),
                [
                    PutMemory(sample_memory(f"jay {number}", key)),
                    PutConcept(sample_concept(f"oak {number}", key)),
                ],
            )
        named: set[int] = set()

        class Counting:
            """A real store that notes how many keys each of its scopes has."""

            def __init__(self, inner: Store) -> None:
                self._inner = inner

            def __getattr__(self, name: str) -> object:
                return getattr(self._inner, name)

            def write(self, scope: Scope, changes: Sequence[Change], **rules: object) -> None:
                named.add(len(scope.keys))
                self._inner.write(scope, changes, **rules)  # type: ignore[arg-type]

        monkeypatch.setattr(carrying, "BATCH_ROWS", 10)
        done = copy_tenant(store, lambda secret: Counting(open_store(second, secret)), "acme")  # type: ignore[arg-type,return-value]
    assert (done.counts["memories"], done.counts["concepts"]) == (60, 60)
    assert max(named) == 11, "ten of a piece, and the mark"
    with closing(open_store(second)) as there:
        for key in (users[0], users[-1]):
            with there.reader(Scope("acme", key[5:])) as reader:
                assert reader.counts().memories == len(reader.concepts()) == 1


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_memory_that_another_may_see_by_now_is_found_by_the_copy_that_goes_on(
    places: Places, kind: str
) -> None:
    ann = Scope("acme", "ann", ("crew",))
    source, to_url = places.url("sqlite"), places.url(kind)
    mine = sample_memory("jay", "user:ann")
    with closing(open_store(source, b"history")) as store:
        store.write(ann, [PutMemory(mine)])
        with pytest.raises(StoreError):
            copy_tenant(store, lambda secret: Failing(open_store(to_url, secret), 2), "acme")  # type: ignore[arg-type,return-value]
        store.write(ann, [PutMemory(replace(mine, record=replace(mine.record, key="group:crew")))])
        done = copy_tenant(store, to(to_url), "acme")
    assert done.resumed
    with closing(open_store(to_url)) as there, there.reader(Scope("acme", "bo", ("crew",))) as reader:
        assert reader.counts().memories == 1
