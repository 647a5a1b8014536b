"""Categories: what comes back, who sees it, who may write it; and the filter by category."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scrubjay.errors import InputError
from scrubjay.memory.categories import KINDS, Category
from scrubjay.memory.edges import Edge
from scrubjay.memory.records import Where
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store
from scrubjay.store.changes import DropCategory, DropModel, PutCategory, PutEdges, PutMemory, PutModel
from scrubjay.testing.store_answers import EVERY
from scrubjay.testing.store_hostile import HOSTILE
from scrubjay.testing.store_samples import (
    SMALL,
    cat,
    category,
    con,
    embedded,
    group,
    memory,
    sample_id,
    vector,
    write,
)

MINE = "user:ann"
HALF = "half \ud83d"
GOOD = category("birds", MINE)
FULL = Category(
    cat("jays", MINE), MINE, "topic", "Jays", GOOD.id, "Blue, loud.", "They hide nuts.\n\n", SMALL.fingerprint,
    bytes(range(256)), -(2**62), 1_000_000,
)  # fmt: skip
WRONG: tuple[Category, ...] = (
    *(replace(GOOD, id=i) for i in ("", "cat_", "cat_12", GOOD.id.upper(), con("x"), sample_id("m"))),
    *(replace(GOOD, parent=i) for i in ("", "cat_12", con("x"), sample_id("m"))),
    *(replace(GOOD, key=key) for key in ("user:bob", "group:ops", "", "Public")),
    *(replace(GOOD, kind=kind) for kind in ("", "heading", HALF)),
    replace(GOOD, name=HALF),
    replace(GOOD, abstract=HALF),
    replace(GOOD, overview=HALF),
    replace(GOOD, model=HALF),
)


def _read(store: Store, scope: Scope) -> list[Category]:
    with store.reader(scope) as reader:
        return reader.categories()


class CategoriesContract:
    """A hierarchy that is looked into, never a result."""

    def test_a_category_comes_back_as_it_was_written(self, store: Store, ann: Scope) -> None:
        """Every attribute, by id; put again it is replaced."""
        made = [FULL, GOOD, *(category(f"k {kind}", "group:dev", kind=kind) for kind in KINDS)]
        write(store, ann, *(PutCategory(one) for one in made))
        assert _read(store, ann) == sorted(made, key=lambda one: one.id)
        again = replace(FULL, name="Corvids", parent=None, abstract="", model="", centroid=b"", at=3)
        write(store, ann, PutCategory(again), PutCategory(again))
        assert _read(store, ann) == sorted([again, *made[1:]], key=lambda one: one.id)

    def test_dropping_a_category_leaves_the_others(self, store: Store, ann: Scope) -> None:
        """Also those below it, which may be put before those above them; unknown ones are passed over."""
        write(store, ann, PutCategory(FULL))
        assert _read(store, ann) == [FULL]
        write(store, ann, PutCategory(GOOD), DropCategory(GOOD.id), DropCategory(cat("none", MINE)))
        write(store, ann, DropCategory(""), DropCategory("'; --"), DropCategory(con("x")))
        assert _read(store, ann) == [FULL]

    def test_a_category_keeps_its_centroid_when_its_model_goes(self, store: Store, ann: Scope) -> None:
        """It is rebuilt at will, and says which model it is of."""
        write(store, ann, PutModel(SMALL), PutCategory(FULL), DropModel(SMALL.fingerprint))
        assert _read(store, ann) == [FULL]

    def test_categories_are_seen_and_dropped_by_their_key(
        self, store: Store, ann: Scope, bob: Scope, eve: Scope
    ) -> None:
        """A stranger neither sees nor drops one; a namesake elsewhere has their own."""
        made = [GOOD, category("team", "group:dev"), category("all", "public")]
        write(store, ann, *(PutCategory(one) for one in made))
        assert (_read(store, bob), _read(store, eve)) == ([made[2]], [])
        for who in (bob, eve):
            write(store, who, *(DropCategory(one.id) for one in made[:2]))
        write(store, eve, PutCategory(replace(GOOD, name="other")), DropCategory(made[2].id))
        assert _read(store, ann) == sorted(made, key=lambda one: one.id)

    def test_an_id_of_another_keys_category_is_refused(self, store: Store, ann: Scope, bob: Scope) -> None:
        """In sight or out of it: an id is made of its key."""
        write(store, ann, PutCategory(GOOD))
        for who, key in ((bob, "user:bob"), (ann, "public"), (ann, "group:dev")):
            with pytest.raises(InputError, match=r"Nothing was written\."):
                write(store, who, PutCategory(category("new", key)), PutCategory(replace(GOOD, key=key)))
        assert (_read(store, ann), _read(store, bob)) == ([GOOD], [])

    def test_a_category_that_cannot_be_is_refused(self, store: Store, ann: Scope) -> None:
        """With the whole write."""
        write(store, ann, PutCategory(GOOD))
        for wrong in WRONG:
            with pytest.raises(InputError, match=r"Nothing was written\."):
                write(store, ann, DropCategory(GOOD.id), PutCategory(FULL), PutCategory(wrong))
            assert _read(store, ann) == [GOOD], wrong

    def test_a_category_takes_any_text_anywhere(self, store: Store, ann: Scope) -> None:
        """And any bytes as its centroid."""
        for name, text in HOSTILE.items():
            made = replace(FULL, name=text, abstract=text, overview=text, model=text, centroid=text.encode())
            write(store, ann, PutCategory(made))
            assert _read(store, ann) == [made], name
            with store.reader(ann) as reader:
                assert reader.words([group("jay")], Where(categories=(text,))).top(5) == []

    def test_memories_are_filtered_by_category(self, store: Store, ann: Scope) -> None:
        """Any of those asked for, not those below them; no statistic changes."""
        names = ("a", "b", "c", "d")
        write(store, ann, PutModel(SMALL), PutCategory(FULL), PutCategory(GOOD))
        for name in names:
            vectors = {SMALL.fingerprint: embedded(name)}
            status = "archived" if name == "d" else "active"
            write(
                store, ann, PutMemory(memory(f"jay {name}", MINE, name=name, vectors=vectors, status=status))
            )
        filed = (("a", GOOD), ("b", FULL), ("c", FULL), ("c", GOOD), ("d", FULL))
        write(
            store, ann, PutEdges(tuple(Edge(sample_id(n), "belongs", one.id, MINE, 0.5) for n, one in filed))
        )
        for where, wanted in (
            (Where(categories=(GOOD.id,)), "ac"),
            (Where(categories=(FULL.id,)), "bc"),
            (Where(categories=(FULL.id, GOOD.id, cat("none", MINE))), "abc"),
            (replace(EVERY, categories=(FULL.id,)), "bcd"),
            (Where(categories=(cat("none", MINE), "", sample_id("a"))), ""),
            (Where(categories=(GOOD.id,), tiers=("lesson",)), ""),
        ):
            ids = {sample_id(name) for name in wanted}
            with store.reader(ann) as reader:
                kept, free = reader.words([group("jay")], where), reader.words([group("jay")], EVERY)
                assert {hit.id for hit in kept.top(9)} == ids
                assert (kept.mean, kept.covered, kept.frequencies) == (
                    free.mean,
                    free.covered,
                    free.frequencies,
                )
                near, far = (reader.nearest(SMALL.fingerprint, vector("a"), w) for w in (where, EVERY))
                assert {hit.id for hit in near.top(9)} == ids
                assert (near.mean, near.deviation, near.covered) == (far.mean, far.deviation, far.covered)

    def test_a_hidden_category_filters_nothing_in(
        self, store: Store, ann: Scope, bob: Scope, eve: Scope
    ) -> None:
        """Nor does a hidden edge to a visible one: who asks by its id learns nothing of its members."""
        shared = category("all", "public")
        write(store, ann, PutCategory(GOOD), PutCategory(shared))
        write(store, ann, *(PutMemory(memory(f"jay {name}", "public", name=name)) for name in "ab"))
        edges = [
            Edge(sample_id("a"), "belongs", GOOD.id, "public"),
            Edge(sample_id("a"), "belongs", shared.id, MINE),
        ]
        write(store, ann, PutEdges((*edges, Edge(sample_id("b"), "belongs", shared.id, "public"))))
        write(store, eve, PutMemory(memory("jay a", "public", name="a")))
        for who, one, wanted in (
            (ann, GOOD, "a"), (ann, shared, "ab"), (bob, GOOD, ""), (bob, shared, "b"), (eve, shared, ""),
        ):  # fmt: skip
            with store.reader(who) as reader:
                found = reader.words([group("jay")], Where(categories=(one.id,))).top(9)
                assert {hit.id for hit in found} == {sample_id(name) for name in wanted}
        write(store, ann, DropCategory(shared.id))
        with store.reader(ann) as reader:
            assert reader.words([group("jay")], Where(categories=(shared.id,))).top(9) == []
