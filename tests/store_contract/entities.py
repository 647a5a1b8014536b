"""Concepts, categories and projects: what each visibility key knows, and who sees it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scrubjay.errors import InputError, StoreConflictError
from scrubjay.models.graph import (
    CATEGORY_KINDS,
    ENTITY_KINDS,
    Category,
    Edge,
    Entity,
    entity_from_row,
    entity_to_row,
)
from scrubjay.models.records import RecordFilter, Scope
from scrubjay.storage.changes import (
    Change,
    DropCategory,
    DropConcept,
    DropModel,
    PutCategory,
    PutConcept,
    PutEdges,
    PutMemory,
    PutModel,
    PutProject,
)
from scrubjay.storage.interface import Store
from store_contract.answers import EVERY_STATUS
from store_contract.memories import HOSTILE_TEXTS
from store_contract.samples import (
    ANN_KEY,
    LONE_SURROGATE,
    SMALL_MODEL,
    sample_category,
    sample_category_id,
    sample_concept,
    sample_concept_id,
    sample_id,
    sample_memory,
    sample_vector,
    sample_windows,
    term_group,
    write_changes,
)

FULL_CONCEPT = Entity(
    sample_concept_id("jay"), "group:dev", "Jay", ("blue jay", "Häher", "鳥"), "tag", -(2**62)
)
VALID_CONCEPT = sample_concept("jay", ANN_KEY)
INVALID_CONCEPTS: tuple[Entity, ...] = (
    *(
        replace(VALID_CONCEPT, id=i)
        for i in (
            "",
            "con_",
            "con_12",
            sample_concept_id("jay").upper(),
            sample_category_id("x", ANN_KEY),
            sample_id("m"),
        )
    ),
    *(replace(VALID_CONCEPT, key=key) for key in ("user:bob", "group:ops", "", "Public")),
    *(replace(VALID_CONCEPT, kind=kind) for kind in ("", "topic", LONE_SURROGATE)),
    replace(VALID_CONCEPT, name=LONE_SURROGATE),
    replace(VALID_CONCEPT, aliases=("whole", LONE_SURROGATE)),
)


def _read_concepts(store: Store, scope: Scope) -> list[Entity]:
    with store.reader(scope) as reader:
        found = reader.concepts()
        assert sorted(map(entity_from_row, reader.concept_rows()), key=lambda one: (one.id, one.key)) == found
        return found


def _concept_mark(store: Store, scope: Scope) -> int:
    with store.reader(scope) as reader:
        return reader.concept_mark()


class ConceptsContract:
    """Concepts, a row for each key that knows one; projects alike."""

    def test_a_concept_comes_back_as_it_was_written(self, store: Store, ann: Scope) -> None:
        """Every attribute; by id and key, all or those asked for."""
        made = [
            FULL_CONCEPT,
            *(Entity(sample_concept_id(f"k {kind}"), ANN_KEY, kind, (), kind) for kind in ENTITY_KINDS),
        ]
        made.append(replace(FULL_CONCEPT, key="public", name="jay", aliases=()))
        write_changes(store, ann, *(PutConcept(one) for one in made))
        order = sorted(made, key=lambda one: (one.id, one.key))
        with store.reader(ann) as reader:
            assert reader.concepts() == order
            rows = sorted(reader.concept_rows())
            assert rows == [entity_to_row(one) for one in order]
            assert {row[3] for row in rows} == {None, FULL_CONCEPT.aliases}
            asked = [
                sample_concept_id("k tag"),
                sample_concept_id("jay"),
                sample_concept_id("jay"),
                sample_concept_id("none"),
                "no id",
                sample_id("m"),
                LONE_SURROGATE[:4],
            ]
            assert reader.concepts(asked) == [one for one in order if one.id in asked]
            assert reader.concepts([]) == []

    def test_a_concept_put_again_is_replaced(self, store: Store, ann: Scope) -> None:
        """Its row of that key alone; dropped, the other rows stay, and unknown ones are passed over."""
        other = replace(FULL_CONCEPT, key=ANN_KEY)
        renamed = replace(FULL_CONCEPT, name="Magpie", aliases=("Jay",), kind="given", at=9)
        write_changes(store, ann, PutConcept(FULL_CONCEPT), PutConcept(other), PutConcept(renamed))
        assert _read_concepts(store, ann) == [renamed, other]
        for change in (
            DropConcept(sample_concept_id("none"), ANN_KEY),
            DropConcept(sample_concept_id("jay"), "public"),
            DropConcept("", ANN_KEY),
        ):
            write_changes(store, ann, change)
        assert _read_concepts(store, ann) == [renamed, other]
        write_changes(store, ann, DropConcept(sample_concept_id("jay"), "group:dev"))
        assert _read_concepts(store, ann) == [other]

    def test_a_row_of_a_concept_is_only_replaced_or_dropped_as_it_was_read(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """With the whole write; rows of other keys do not count."""
        other = replace(FULL_CONCEPT, key="user:bob")
        write_changes(store, bob, PutConcept(other, ()))
        write_changes(store, ann, PutConcept(FULL_CONCEPT, ()))
        renamed = replace(FULL_CONCEPT, name="Magpie", aliases=())
        write_changes(store, ann, PutConcept(renamed, (FULL_CONCEPT,)))
        mark = _concept_mark(store, ann)
        for stale in ((), (FULL_CONCEPT,), (replace(renamed, at=1),), (replace(renamed, aliases=("Jay",)),)):
            for change in (
                PutConcept(FULL_CONCEPT, stale),
                DropConcept(FULL_CONCEPT.id, FULL_CONCEPT.key, stale),
            ):
                with pytest.raises(StoreConflictError, match=r"Nothing was written\."):
                    write_changes(store, ann, PutConcept(sample_concept("nut", ANN_KEY)), change)
        assert (_read_concepts(store, ann), _concept_mark(store, ann)) == ([renamed], mark)
        write_changes(store, ann, DropConcept(FULL_CONCEPT.id, FULL_CONCEPT.key, (renamed,)))
        assert (_read_concepts(store, ann), _read_concepts(store, bob)) == ([], [other])
        with pytest.raises(StoreConflictError):
            write_changes(store, ann, PutConcept(FULL_CONCEPT, (renamed,)))

    def test_concepts_are_seen_by_their_key(self, store: Store, ann: Scope, bob: Scope, eve: Scope) -> None:
        """A name that stands in a stranger's row alone is not seen, though the concept is."""
        rows = [replace(FULL_CONCEPT, key=key, name=key) for key in ("group:dev", "public", ANN_KEY)]
        write_changes(
            store, ann, *(PutConcept(row) for row in rows), PutConcept(sample_concept("own", ANN_KEY))
        )
        bobs = replace(FULL_CONCEPT, key="user:bob", name="secret")
        write_changes(store, bob, PutConcept(bobs))
        assert _read_concepts(store, bob) == [rows[1], bobs]
        assert [row for row in _read_concepts(store, ann) if row.id == FULL_CONCEPT.id] == rows
        assert _read_concepts(store, eve) == []
        with store.reader(bob) as reader:
            assert reader.concepts([sample_concept_id("own")]) == []

    def test_a_strangers_concepts_cannot_be_changed(
        self, store: Store, ann: Scope, bob: Scope, eve: Scope
    ) -> None:
        """Dropping one is passed over; a namesake in another tenant changes none."""
        write_changes(store, ann, PutConcept(VALID_CONCEPT), PutConcept(FULL_CONCEPT))
        write_changes(
            store,
            bob,
            DropConcept(sample_concept_id("jay"), ANN_KEY),
            DropConcept(sample_concept_id("jay"), "group:dev"),
        )
        write_changes(
            store,
            eve,
            PutConcept(replace(VALID_CONCEPT, name="other")),
            DropConcept(sample_concept_id("jay"), "group:dev"),
        )
        assert _read_concepts(store, ann) == [FULL_CONCEPT, VALID_CONCEPT]
        assert _read_concepts(store, bob) == []

    def test_a_concept_that_cannot_be_is_refused(self, store: Store, ann: Scope) -> None:
        """With the whole write."""
        write_changes(store, ann, PutConcept(VALID_CONCEPT))
        for wrong in INVALID_CONCEPTS:
            batch = (
                DropConcept(sample_concept_id("jay"), ANN_KEY),
                PutConcept(sample_concept("new", ANN_KEY)),
                PutConcept(wrong),
            )
            with pytest.raises(InputError, match=r"Nothing was written\."):
                write_changes(store, ann, *batch)
            assert _read_concepts(store, ann) == [VALID_CONCEPT], wrong

    def test_names_of_concepts_and_projects_take_any_text(self, store: Store, ann: Scope) -> None:
        """And questions, too."""
        for name, text in HOSTILE_TEXTS.items():
            made = Entity(sample_concept_id(text), ANN_KEY, text, (text, "b"))
            write_changes(store, ann, PutConcept(made), PutProject(text, text, ANN_KEY))
            with store.reader(ann) as reader:
                assert (reader.concepts(), reader.projects()[text]) == ([made], text), name
                assert (reader.concepts([text]), reader.edges([text], [text], inward=True)) == ([], []), name
                assert (reader.degrees(text, [text]), reader.cooccurrences(text, 9)) == ({}, ({}, 0)), name
                assert (reader.degrees("links", [text]), reader.follows([text])) == ({}, []), name
                assert (reader.turns(text, 0, 9), reader.last_turn(text)) == ([], None), name
            write_changes(store, ann, DropConcept(text, ANN_KEY), DropConcept(sample_concept_id(text), text))
            assert _read_concepts(store, ann) == [made], name
            write_changes(store, ann, DropConcept(sample_concept_id(text), ANN_KEY))
        with store.reader(ann) as reader:
            assert reader.projects() == {text: text for text in HOSTILE_TEXTS.values()}

    def test_an_equal_mark_means_equal_concepts(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Whatever is put, renamed or dropped, in any of the scope's keys; for every user."""
        seen: dict[tuple[str, int], list[Entity]] = {}
        changes: tuple[Change, ...] = (
            PutConcept(FULL_CONCEPT), PutConcept(VALID_CONCEPT), PutConcept(replace(FULL_CONCEPT, name="Magpie")),
            PutConcept(replace(FULL_CONCEPT, aliases=("a",))), PutConcept(replace(FULL_CONCEPT, key="public")),
            DropConcept(sample_concept_id("jay"), "group:dev"), PutConcept(sample_concept("nut", ANN_KEY)),
            DropConcept(sample_concept_id("jay"), ANN_KEY),
            DropConcept(sample_concept_id("nut"), ANN_KEY), PutMemory(sample_memory("m", ANN_KEY)),
            PutConcept(VALID_CONCEPT),
            DropConcept(sample_concept_id("jay"), "public"), DropConcept(sample_concept_id("jay"), ANN_KEY),
        )  # fmt: skip
        for change in (None, *changes):
            if change is not None:
                write_changes(store, ann, change)
            for who in (ann, bob):
                held = _read_concepts(store, who)
                assert seen.setdefault((who.user, _concept_mark(store, who)), held) == held
        assert len(seen) > 10

    def test_a_mark_stays_while_nothing_changes(self, store: Store, ann: Scope) -> None:
        """Reading does not move it, nor does writing memories."""
        write_changes(store, ann, PutConcept(FULL_CONCEPT))
        before = _concept_mark(store, ann)
        _read_concepts(store, ann)
        write_changes(store, ann, PutMemory(sample_memory("m", ANN_KEY)))
        assert _concept_mark(store, ann) == before

    def test_a_mark_grows_by_one_with_each_row_that_is_put(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """Whoever puts n rows and finds it n greater knows that nothing else changed."""
        write_changes(store, ann, PutConcept(FULL_CONCEPT))
        own, others = _concept_mark(store, ann), _concept_mark(store, bob)
        write_changes(
            store,
            ann,
            PutConcept(sample_concept("nut", ANN_KEY)),
            PutConcept(sample_concept("oak", "public")),
        )
        write_changes(store, ann, PutConcept(sample_concept("nut", ANN_KEY)))
        assert (_concept_mark(store, ann) - own, _concept_mark(store, bob) - others) == (3, 1)
        write_changes(store, ann, DropConcept(sample_concept_id("nut"), ANN_KEY))
        assert _concept_mark(store, ann) > own + 3

    def test_a_failed_write_leaves_the_mark_or_the_concepts(self, store: Store, ann: Scope) -> None:
        """A mark that was handed out means what it meant."""
        write_changes(store, ann, PutConcept(FULL_CONCEPT))
        with pytest.raises(InputError):
            write_changes(store, ann, PutConcept(VALID_CONCEPT), PutConcept(INVALID_CONCEPTS[0]))
        mark, held = _concept_mark(store, ann), _read_concepts(store, ann)
        assert held == [FULL_CONCEPT]
        write_changes(store, ann, PutConcept(VALID_CONCEPT))
        assert _concept_mark(store, ann) != mark

    def test_projects_are_known_by_their_places(
        self, store: Store, ann: Scope, bob: Scope, eve: Scope
    ) -> None:
        """A place has one name a key, the smaller key's is the one that is read; nobody else's is seen."""
        put = PutProject
        write_changes(
            store, ann, put("p", "first", ANN_KEY), put("p", "second", ANN_KEY), put("q", "own", ANN_KEY)
        )
        write_changes(store, bob, put("p", "bobs", "user:bob"), put("r", "secret", "user:bob"))
        for who, known in (
            (ann, {"p": "second", "q": "own"}), (bob, {"p": "bobs", "r": "secret"}), (eve, {}),
        ):  # fmt: skip
            with store.reader(who) as reader:
                assert reader.projects() == known
        write_changes(
            store, ann, put("p", "public", "public"), put("p", "team", "group:dev"), put("r", "all", "public")
        )
        for who, known in (
            (ann, {"p": "team", "q": "own", "r": "all"}), (bob, {"p": "public", "r": "all"}), (eve, {}),
        ):  # fmt: skip
            with store.reader(who) as reader:
                assert reader.projects() == known

    @pytest.mark.parametrize(
        ("place", "name", "key"),
        [
            ("p", "n", "user:bob"),
            ("p", "n", ""),
            (LONE_SURROGATE, "n", ANN_KEY),
            ("p", LONE_SURROGATE, ANN_KEY),
        ],
        ids=repr,
    )
    def test_a_project_that_cannot_be_is_refused(
        self, store: Store, ann: Scope, place: str, name: str, key: str
    ) -> None:
        """With the whole write."""
        with pytest.raises(InputError, match=r"Nothing was written\."):
            write_changes(store, ann, PutProject("p", "goes too", ANN_KEY), PutProject(place, name, key))
        with store.reader(ann) as reader:
            assert reader.projects() == {}


VALID_CATEGORY = sample_category("birds", ANN_KEY)
FULL_CATEGORY = Category(
    sample_category_id("jays", ANN_KEY), ANN_KEY, "topic", "Jays", VALID_CATEGORY.id, "Blue, loud.",
    "They hide nuts.\n\n", SMALL_MODEL.fingerprint,
    bytes(range(256)), -(2**62), 1_000_000,
)  # fmt: skip
INVALID_CATEGORIES: tuple[Category, ...] = (
    *(
        replace(VALID_CATEGORY, id=i)
        for i in ("", "cat_", "cat_12", VALID_CATEGORY.id.upper(), sample_concept_id("x"), sample_id("m"))
    ),
    *(replace(VALID_CATEGORY, parent=i) for i in ("", "cat_12", sample_concept_id("x"), sample_id("m"))),
    *(replace(VALID_CATEGORY, key=key) for key in ("user:bob", "group:ops", "", "Public")),
    *(replace(VALID_CATEGORY, kind=kind) for kind in ("", "heading", LONE_SURROGATE)),
    replace(VALID_CATEGORY, name=LONE_SURROGATE),
    replace(VALID_CATEGORY, abstract=LONE_SURROGATE),
    replace(VALID_CATEGORY, overview=LONE_SURROGATE),
    replace(VALID_CATEGORY, model=LONE_SURROGATE),
)


def _read_categories(store: Store, scope: Scope) -> list[Category]:
    with store.reader(scope) as reader:
        return reader.categories()


class CategoriesContract:
    """A hierarchy that is looked into, never a result."""

    def test_a_category_comes_back_as_it_was_written(self, store: Store, ann: Scope) -> None:
        """Every attribute, by id; put again it is replaced."""
        made = [
            FULL_CATEGORY,
            VALID_CATEGORY,
            *(sample_category(f"k {kind}", "group:dev", kind=kind) for kind in CATEGORY_KINDS),
        ]
        write_changes(store, ann, *(PutCategory(one) for one in made))
        assert _read_categories(store, ann) == sorted(made, key=lambda one: one.id)
        again = replace(FULL_CATEGORY, name="Corvids", parent=None, abstract="", model="", centroid=b"", at=3)
        write_changes(store, ann, PutCategory(again), PutCategory(again))
        assert _read_categories(store, ann) == sorted([again, *made[1:]], key=lambda one: one.id)

    def test_dropping_a_category_leaves_the_others(self, store: Store, ann: Scope) -> None:
        """Also those below it, which may be put before those above them; unknown ones are passed over."""
        write_changes(store, ann, PutCategory(FULL_CATEGORY))
        assert _read_categories(store, ann) == [FULL_CATEGORY]
        write_changes(
            store,
            ann,
            PutCategory(VALID_CATEGORY),
            DropCategory(VALID_CATEGORY.id),
            DropCategory(sample_category_id("none", ANN_KEY)),
        )
        write_changes(
            store, ann, DropCategory(""), DropCategory("'; --"), DropCategory(sample_concept_id("x"))
        )
        assert _read_categories(store, ann) == [FULL_CATEGORY]

    def test_a_category_keeps_its_centroid_when_its_model_goes(self, store: Store, ann: Scope) -> None:
        """It is rebuilt at will, and says which model it is of."""
        write_changes(
            store, ann, PutModel(SMALL_MODEL), PutCategory(FULL_CATEGORY), DropModel(SMALL_MODEL.fingerprint)
        )
        assert _read_categories(store, ann) == [FULL_CATEGORY]

    def test_categories_are_seen_and_dropped_by_their_key(
        self, store: Store, ann: Scope, bob: Scope, eve: Scope
    ) -> None:
        """A stranger neither sees nor drops one; a namesake elsewhere has their own."""
        made = [VALID_CATEGORY, sample_category("team", "group:dev"), sample_category("all", "public")]
        write_changes(store, ann, *(PutCategory(one) for one in made))
        assert (_read_categories(store, bob), _read_categories(store, eve)) == ([made[2]], [])
        for who in (bob, eve):
            write_changes(store, who, *(DropCategory(one.id) for one in made[:2]))
        write_changes(
            store, eve, PutCategory(replace(VALID_CATEGORY, name="other")), DropCategory(made[2].id)
        )
        assert _read_categories(store, ann) == sorted(made, key=lambda one: one.id)

    def test_an_id_of_another_keys_category_is_refused(self, store: Store, ann: Scope, bob: Scope) -> None:
        """In sight or out of it: an id is made of its key."""
        write_changes(store, ann, PutCategory(VALID_CATEGORY))
        for who, key in ((bob, "user:bob"), (ann, "public"), (ann, "group:dev")):
            with pytest.raises(InputError, match=r"Nothing was written\."):
                write_changes(
                    store,
                    who,
                    PutCategory(sample_category("new", key)),
                    PutCategory(replace(VALID_CATEGORY, key=key)),
                )
        assert (_read_categories(store, ann), _read_categories(store, bob)) == ([VALID_CATEGORY], [])

    def test_a_category_that_cannot_be_is_refused(self, store: Store, ann: Scope) -> None:
        """With the whole write."""
        write_changes(store, ann, PutCategory(VALID_CATEGORY))
        for wrong in INVALID_CATEGORIES:
            with pytest.raises(InputError, match=r"Nothing was written\."):
                write_changes(
                    store,
                    ann,
                    DropCategory(VALID_CATEGORY.id),
                    PutCategory(FULL_CATEGORY),
                    PutCategory(wrong),
                )
            assert _read_categories(store, ann) == [VALID_CATEGORY], wrong

    def test_a_category_takes_any_text_anywhere(self, store: Store, ann: Scope) -> None:
        """And any bytes as its centroid."""
        for name, text in HOSTILE_TEXTS.items():
            made = replace(
                FULL_CATEGORY, name=text, abstract=text, overview=text, model=text, centroid=text.encode()
            )
            write_changes(store, ann, PutCategory(made))
            assert _read_categories(store, ann) == [made], name
            with store.reader(ann) as reader:
                assert reader.words([term_group("jay")], RecordFilter(categories=(text,))).top(5) == []

    def test_memories_are_filtered_by_category(self, store: Store, ann: Scope) -> None:
        """Any of those asked for, not those below them; no statistic changes."""
        names = ("a", "b", "c", "d")
        write_changes(
            store, ann, PutModel(SMALL_MODEL), PutCategory(FULL_CATEGORY), PutCategory(VALID_CATEGORY)
        )
        for name in names:
            vectors = {SMALL_MODEL.fingerprint: sample_windows(name)}
            status = "archived" if name == "d" else "active"
            write_changes(
                store,
                ann,
                PutMemory(sample_memory(f"jay {name}", ANN_KEY, name=name, vectors=vectors, status=status)),
            )
        filed = (
            ("a", VALID_CATEGORY),
            ("b", FULL_CATEGORY),
            ("c", FULL_CATEGORY),
            ("c", VALID_CATEGORY),
            ("d", FULL_CATEGORY),
        )
        write_changes(
            store,
            ann,
            PutEdges(tuple(Edge(sample_id(n), "belongs", one.id, ANN_KEY, 0.5) for n, one in filed)),
        )
        for where, wanted in (
            (RecordFilter(categories=(VALID_CATEGORY.id,)), "ac"),
            (RecordFilter(categories=(FULL_CATEGORY.id,)), "bc"),
            (
                RecordFilter(
                    categories=(FULL_CATEGORY.id, VALID_CATEGORY.id, sample_category_id("none", ANN_KEY))
                ),
                "abc",
            ),
            (replace(EVERY_STATUS, categories=(FULL_CATEGORY.id,)), "bcd"),
            (RecordFilter(categories=(sample_category_id("none", ANN_KEY), "", sample_id("a"))), ""),
            (RecordFilter(categories=(VALID_CATEGORY.id,), tiers=("lesson",)), ""),
        ):
            ids = {sample_id(name) for name in wanted}
            with store.reader(ann) as reader:
                kept, free = (
                    reader.words([term_group("jay")], where),
                    reader.words([term_group("jay")], EVERY_STATUS),
                )
                assert {hit.id for hit in kept.top(9)} == ids
                assert (kept.mean, kept.covered, kept.frequencies) == (
                    free.mean,
                    free.covered,
                    free.frequencies,
                )
                near, far = (
                    reader.nearest(SMALL_MODEL.fingerprint, sample_vector("a"), w)
                    for w in (where, EVERY_STATUS)
                )
                assert {hit.id for hit in near.top(9)} == ids
                assert (near.mean, near.deviation, near.covered) == (far.mean, far.deviation, far.covered)

    def test_a_hidden_category_filters_nothing_in(
        self, store: Store, ann: Scope, bob: Scope, eve: Scope
    ) -> None:
        """Nor does a hidden edge to a visible one: who asks by its id learns nothing of its members."""
        shared = sample_category("all", "public")
        write_changes(store, ann, PutCategory(VALID_CATEGORY), PutCategory(shared))
        write_changes(
            store, ann, *(PutMemory(sample_memory(f"jay {name}", "public", name=name)) for name in "ab")
        )
        edges = [
            Edge(sample_id("a"), "belongs", VALID_CATEGORY.id, "public"),
            Edge(sample_id("a"), "belongs", shared.id, ANN_KEY),
        ]
        write_changes(store, ann, PutEdges((*edges, Edge(sample_id("b"), "belongs", shared.id, "public"))))
        write_changes(store, eve, PutMemory(sample_memory("jay a", "public", name="a")))
        for who, one, wanted in (
            (ann, VALID_CATEGORY, "a"), (ann, shared, "ab"), (bob, VALID_CATEGORY, ""), (bob, shared, "b"),
            (eve, shared, ""),
        ):  # fmt: skip
            with store.reader(who) as reader:
                found = reader.words([term_group("jay")], RecordFilter(categories=(one.id,))).top(9)
                assert {hit.id for hit in found} == {sample_id(name) for name in wanted}
        write_changes(store, ann, DropCategory(shared.id))
        with store.reader(ann) as reader:
            assert reader.words([term_group("jay")], RecordFilter(categories=(shared.id,))).top(9) == []
