"""Readings: what was read from memories once, who gets it back, and when it goes."""

from __future__ import annotations

import pytest

from scrubjay.errors import InputError
from scrubjay.memory.readings import Reading
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store
from scrubjay.store.changes import (
    Change,
    DropMemory,
    Forget,
    Kept,
    PutDocument,
    PutMemory,
    PutReadings,
    PutSource,
)
from scrubjay.testing.store_samples import document, memory, place, put_document, sample_id, source, write

MINE = "user:ann"
A, B = (sample_id(name) for name in "ab")
ONE = Reading(A, "first", b"\x00\xff jay")


def _put(store: Store, scope: Scope, name: str, key: str = MINE) -> None:
    write(store, scope, PutMemory(memory(f"jay {name}", key, name=name)))


def _held(store: Store, scope: Scope, *ids: str) -> dict[str, Reading]:
    with store.reader(scope) as reader:
        return reader.readings(ids)


class ReadingsContract:
    """What was read from memories."""

    def test_the_last_reading_of_a_memory_comes_back(self, store: Store, ann: Scope) -> None:
        """Bytes as they were given; of what nothing was read from, and of unknown ids, there is none."""
        _put(store, ann, "a")
        _put(store, ann, "b")
        write(store, ann, PutReadings((ONE,)))
        assert _held(store, ann, A, B, sample_id("none"), "obs_", sample_id("a", "lesson")) == {A: ONE}
        again = Reading(A, "second", b"")
        write(store, ann, PutReadings((ONE, Reading(B, "first", b"b"), again)))
        assert _held(store, ann, A, B) == {A: again, B: Reading(B, "first", b"b")}
        assert _held(store, ann) == {}

    def test_a_reading_is_seen_and_written_by_who_sees_the_memory(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """Nobody reads or replaces what was read from a stranger's memory."""
        _put(store, ann, "a")
        write(store, ann, PutReadings((ONE,)))
        strange = Reading(sample_id("a", "lesson"), "x", b"x")
        write(store, bob, PutReadings((Reading(A, "bob's", b"x"), Reading(sample_id("none"), "x", b"x"))))
        write(store, ann, PutReadings((strange,)))
        assert _held(store, bob, A) == {}
        assert _held(store, ann, A, strange.memory) == {A: ONE}

    @pytest.mark.parametrize("gone", [Forget((A,)), DropMemory((A,))], ids=["forgotten", "dropped"])
    def test_a_reading_goes_with_its_memory(self, store: Store, ann: Scope, gone: Change) -> None:
        """It does not come back with a memory of the same id."""
        _put(store, ann, "a")
        write(store, ann, PutReadings((ONE,)), gone)
        _put(store, ann, "a")
        assert _held(store, ann, A) == {}

    def test_a_memory_that_is_written_anew_has_no_reading(self, store: Store, ann: Scope) -> None:
        """A passage that is kept has the one it had, wherever it stands."""
        _put(store, ann, "a")
        write(store, ann, PutReadings((ONE,)))
        _put(store, ann, "a")
        assert _held(store, ann, A) == {}
        write(store, ann, PutSource(source("notes", MINE)))
        write(store, ann, put_document("notes", "a.md", ["jay one", "jay two"], MINE))
        first, second = (sample_id(f"a.md:jay {name}") for name in ("one", "two"))
        told = (Reading(first, "m", b"1"), Reading(second, "m", b"2"))
        write(store, ann, PutReadings(told))
        kept = (Kept(second, place("notes", "a.md", 0)),)
        write(store, ann, PutDocument(document("notes", "a.md"), (), kept, (first,)))
        assert _held(store, ann, first, second) == {second: told[1]}

    def test_a_rebuild_takes_no_reading_along(self, store: Store, ann: Scope) -> None:
        """Whatever cut and cleaned the texts may do so otherwise now."""
        _put(store, ann, "a")
        write(store, ann, PutReadings((ONE,)))
        with store.rebuild(ann) as rebuild:
            rebuild.write([PutMemory(one) for one in rebuild.additions()])
        assert _held(store, ann, A) == {}
        with pytest.raises(InputError), store.rebuild(ann) as rebuild:
            rebuild.write([PutReadings((ONE,))])

    def test_a_bad_mark_refuses_the_whole_write(self, store: Store, ann: Scope) -> None:
        """Nothing of the batch is stored."""
        _put(store, ann, "a")
        with pytest.raises(InputError):
            write(store, ann, PutReadings((ONE, Reading(A, "\ud800", b""))))
        assert _held(store, ann, A) == {}
