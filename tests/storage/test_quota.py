"""How much may be held is held to by every store alike, at the end of the transaction that writes."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scrubjay.errors import QuotaError, StoreError
from scrubjay.models.lifecycle import LifecycleChange
from scrubjay.models.records import Scope
from scrubjay.storage.changes import DropDocument, DropMemory, Forget, PutLifecycle, PutMemory, PutSource
from scrubjay.storage.interface import Store
from scrubjay.storage.quota import Quota
from scrubjay.storage.urls import open_store
from store_contract.samples import put_sample_document, sample_id, sample_memory, sample_source

KINDS = ("sqlite", "postgres")
Opened = Callable[..., Store]


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_url"))
    return str(tmp_path / "memory.db")


@pytest.fixture
def opened(url: str) -> Iterator[Opened]:
    """Open the test's store with limits, as often as wanted."""
    stores: list[Store] = []

    def open_(**limits: int) -> Store:
        stores.append(open_store(url, quota=Quota(**limits)))
        return stores[-1]

    yield open_
    for store in stores:
        store.close()


@pytest.fixture
def ann(request: pytest.FixtureRequest) -> Scope:
    """A user of a tenant that this test has to itself."""
    return Scope(request.node.nodeid[-60:], "ann", ("dev",))


def put(*texts: str, key: str = "user:ann", **fields: Any) -> list[PutMemory]:
    return [PutMemory(sample_memory(text, key, **fields)) for text in texts]


def counted(store: Store, tenant: str) -> Counter[str]:
    """What a tenant holds by key, as every memory says."""
    with store.tenant_reader(tenant) as whole:
        return Counter(each.record.key for piece in whole.memories() for each in piece)


def held(store: Store, tenant: str) -> Counter[str]:
    return +Counter(store.memory_counts(tenant))


def test_what_fits_to_the_last_is_taken_and_what_is_beyond_it_is_refused_whole(
    opened: Opened, ann: Scope
) -> None:
    store = opened(memories_per_user=3)
    store.write(ann, put("one"))
    with pytest.raises(QuotaError) as told:
        store.write(ann, [PutSource(sample_source("notes", "user:ann")), *put("two", "three", "four")])
    assert str(told.value) == (
        f"User ann of tenant {ann.tenant} has 1 of 3 memories that [quota] memories_per_user allows; this would add 3. "
        "Nothing was written."
    )
    assert "scrubjay forget" in told.value.hint
    assert "archived memories count" in told.value.hint
    assert isinstance(told.value, StoreError)
    assert told.value.exit_code == 4
    assert held(store, ann.tenant) == counted(store, ann.tenant) == {"user:ann": 1}
    with store.reader(ann) as reader:
        assert reader.sources() == []
    store.write(ann, put("two", "three"))
    with pytest.raises(QuotaError, match="has 3 of 3 memories"):
        store.write(ann, put("four"))
    assert counted(store, ann.tenant) == {"user:ann": 3}


def test_a_store_without_limits_refuses_nothing(opened: Opened, ann: Scope) -> None:
    store = opened()
    store.write(ann, put(*map(str, range(20))))
    assert held(store, ann.tenant) == {"user:ann": 20}


def test_a_tenants_limit_counts_what_all_of_its_users_hold_and_share(opened: Opened, ann: Scope) -> None:
    store, bob = opened(memories_per_tenant=3), Scope(ann.tenant, "bob")
    store.write(bob, put("one", key="user:bob"))
    store.write(ann, [*put("two", key="group:dev"), *put("three", key="public")])
    with pytest.raises(QuotaError, match=r"Tenant .* has 3 of 3 memories that \[quota\] memories_per_tenant"):
        store.write(ann, put("four"))
    store.write(Scope(f"{ann.tenant}, another", "ann"), put("four"))


def test_what_is_shared_does_not_count_for_its_user(opened: Opened, ann: Scope) -> None:
    store, bob = opened(memories_per_user=1), Scope(ann.tenant, "bob")
    store.write(ann, [*put("one"), *put("two", "three", key="group:dev"), *put("four", key="public")])
    store.write(bob, put("five", key="user:bob"))
    with pytest.raises(QuotaError, match="User ann"):
        store.write(ann, put("six"))


@pytest.mark.parametrize("limit", ["memories_per_user", "memories_per_tenant"])
def test_who_is_full_changes_archives_and_removes_and_has_room_again(
    opened: Opened, ann: Scope, limit: str
) -> None:
    store, notes = opened(**{limit: 4}), sample_source("notes", "user:ann")
    first = put_sample_document(notes.id, "a.md", ["alpha", "beta"], "user:ann")
    store.write(ann, [PutSource(notes), first, *put("one", "two")])
    store.write(ann, put("one", title="Named"))
    store.write(ann, [PutLifecycle({sample_id("one user:ann"): LifecycleChange(pinned=True)})])
    store.write(ann, [put_sample_document(notes.id, "a.md", ["gamma", "delta"], "user:ann")])
    store.write(ann, [put_sample_document(notes.id, "a.md", ["gamma"], "user:ann"), *put("three")])
    with pytest.raises(QuotaError):
        store.write(ann, [put_sample_document(notes.id, "a.md", ["gamma", "delta"], "user:ann")])
    with store.reader(ann) as reader:
        assert [record.content for record in reader.passages(notes.id, "a.md")] == ["gamma"]
    ids = {each.record.content: each.record.id for each in everything(store, ann.tenant)}
    store.write(ann, [PutLifecycle({ids["two"]: LifecycleChange(status="archived")})])
    with pytest.raises(QuotaError):  # what is archived is there
        store.write(ann, put("four"))
    store.write(ann, [Forget((ids["two"],))])
    store.write(ann, put("four"))
    store.write(ann, [DropDocument(notes.id, "a.md")])
    store.write(ann, put("five"))
    assert held(store, ann.tenant) == counted(store, ann.tenant) == {"user:ann": 4}


def everything(store: Store, tenant: str) -> list[Any]:
    with store.tenant_reader(tenant) as whole:
        return [each for piece in whole.memories() for each in piece]


def test_who_has_more_than_a_lowered_limit_allows_still_changes_and_removes(
    opened: Opened, ann: Scope
) -> None:
    store = opened()
    store.write(ann, put("one", "two", "three"))
    store.quota = Quota(memories_per_user=1)
    store.write(ann, put("one", title="Named"))
    with pytest.raises(QuotaError, match="has 3 of 1 memories"):
        store.write(ann, put("four"))
    ids = [each.record.id for each in everything(store, ann.tenant)]
    store.write(ann, [DropMemory((ids[0],))])
    store.write(ann, [DropMemory((ids[1],)), *put("four")])
    assert counted(store, ann.tenant) == {"user:ann": 2}


def test_earlier_texts_are_kept_in_a_tenth_more_and_no_further(opened: Opened, ann: Scope) -> None:
    store = opened(memories_per_user=20)
    store.write(ann, put(*map(str, range(20))))
    earlier = [put(f"earlier {n}", status="superseded") for n in range(3)]
    store.write(ann, [*put("0", title="Changed"), *earlier[0]])
    with pytest.raises(QuotaError):
        store.write(ann, [*put("new"), *earlier[1]])
    store.write(ann, [*put("0", title="Changed again"), *earlier[1]])
    with pytest.raises(QuotaError, match="has 22 of 20 memories"):
        store.write(ann, [*put("0", title="Once more"), *earlier[2]])


def test_what_is_counted_is_what_is_there_whatever_was_done_to_it(opened: Opened, ann: Scope) -> None:
    store, notes = opened(memories_per_tenant=1_000), sample_source("notes", "user:ann")

    def same() -> None:
        assert held(store, ann.tenant) == counted(store, ann.tenant)

    same()
    store.write(ann, [PutSource(notes), put_sample_document(notes.id, "a.md", ["a", "b"], "user:ann")])
    store.write(
        ann, [put_sample_document(notes.id, "b.md", ["c", "d", "e"], "user:ann"), *put("x", key="public")]
    )
    same()
    store.write(ann, put("x", "y", "y", key="public"))
    same()
    moved = put_sample_document(notes.id, "b.md", ["f"], "user:ann")
    store.write(ann, [replace(moved, moved_from="a.md")])
    same()
    store.write(ann, [replace(put_sample_document(notes.id, "b.md", ["g"], "user:ann"), grows=True)])
    same()
    with store.rebuild(ann) as rebuild:
        rebuild.write([PutMemory(sample_memory("z", "group:dev"))])
    same()
    assert held(store, ann.tenant) == {"group:dev": 1}
    store.write(ann, put("w"))
    same()
    with pytest.raises(StoreError):
        store.write(ann, [*put("v"), *put(*map(str, range(1_000)))])
    same()
    store.write(ann, put("v"))
    same()


def test_a_rebuild_is_not_held_to_a_limit(opened: Opened, ann: Scope) -> None:
    store = opened(memories_per_tenant=1)
    store.write(ann, put("one"))
    with store.rebuild(ann) as rebuild:
        rebuild.write(put("one", "two"))
    assert counted(store, ann.tenant) == {"user:ann": 2}


@pytest.mark.parametrize("url", ["sqlite", "postgres"], indirect=True)
def test_two_stores_that_write_in_turn_see_what_the_other_wrote(opened: Opened, ann: Scope) -> None:
    here, there = opened(memories_per_user=5), opened(memories_per_user=5)
    for number in range(4):
        (here, there)[number % 2].write(ann, put(str(number)))
    there.write(ann, [DropMemory((sample_id("0 user:ann"),))])
    here.write(ann, put("a", "b"))
    for store in (here, there):
        with pytest.raises(QuotaError, match="has 5 of 5"):
            store.write(ann, put("c"))


WRITER = """
import sys
from scrubjay.errors import QuotaError
from scrubjay.models.records import Scope
from scrubjay.storage.changes import PutMemory
from scrubjay.storage.urls import open_store
from scrubjay.storage.quota import Quota
from store_contract.samples import sample_memory
url, tenant, name = sys.argv[1:]
store = open_store(url, quota=Quota(memories_per_user=25))
scope = Scope(tenant, "ann")
print("ready", flush=True)
sys.stdin.readline()
taken = 0
for number in range(10):
    batch = [PutMemory(sample_memory(f"{name} {number} {each}", "user:ann")) for each in range(3)]
    try:
        store.write(scope, batch)
        taken += 3
    except QuotaError:
        pass
store.close()
print(taken)
"""


@pytest.mark.parametrize("url", ["sqlite", "postgres"], indirect=True)
def test_two_processes_at_once_do_not_pass_a_limit_by_a_single_memory(
    url: str, opened: Opened, ann: Scope
) -> None:
    opened().write(ann, [])
    started = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, url, ann.tenant, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "other")
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:  # all begin before any is waited for
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    taken = [int(process.communicate(timeout=60)[0]) for process in started]
    assert sum(taken) == 24
    assert counted(opened(), ann.tenant) == {"user:ann": 24}
