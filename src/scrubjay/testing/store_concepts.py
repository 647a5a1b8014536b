"""Concepts and projects: what each visibility key knows, and who sees it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scrubjay.errors import InputError
from scrubjay.memory.concepts import KINDS, Concept, as_row, of_row
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store
from scrubjay.store.changes import Change, DropConcept, PutConcept, PutMemory, PutProject
from scrubjay.testing.store_hostile import HOSTILE
from scrubjay.testing.store_samples import cat, con, concept, memory, sample_id, write

MINE = "user:ann"
HALF = "half \ud83d"
FULL = Concept(con("jay"), "group:dev", "Jay", ("blue jay", "Häher", "鳥"), "tag", -(2**62))
GOOD = concept("jay", MINE)
WRONG: tuple[Concept, ...] = (
    *(
        replace(GOOD, id=i)
        for i in ("", "con_", "con_12", con("jay").upper(), cat("x", MINE), sample_id("m"))
    ),
    *(replace(GOOD, key=key) for key in ("user:bob", "group:ops", "", "Public")),
    *(replace(GOOD, kind=kind) for kind in ("", "topic", HALF)),
    replace(GOOD, name=HALF),
    replace(GOOD, aliases=("whole", HALF)),
)


def _read(store: Store, scope: Scope) -> list[Concept]:
    with store.reader(scope) as reader:
        found = reader.concepts()
        assert sorted(map(of_row, reader.concept_rows()), key=lambda one: (one.id, one.key)) == found
        return found


def _mark(store: Store, scope: Scope) -> int:
    with store.reader(scope) as reader:
        return reader.concept_mark()


class ConceptsContract:
    """Concepts, a row for each key that knows one; projects alike."""

    def test_a_concept_comes_back_as_it_was_written(self, store: Store, ann: Scope) -> None:
        """Every attribute; by id and key, all or those asked for."""
        made = [FULL, *(Concept(con(f"k {kind}"), MINE, kind, (), kind) for kind in KINDS)]
        made.append(replace(FULL, key="public", name="jay", aliases=()))
        write(store, ann, *(PutConcept(one) for one in made))
        order = sorted(made, key=lambda one: (one.id, one.key))
        with store.reader(ann) as reader:
            assert reader.concepts() == order
            rows = sorted(reader.concept_rows())
            assert rows == [as_row(one) for one in order]
            assert {row[3] for row in rows} == {None, FULL.aliases}
            asked = [con("k tag"), con("jay"), con("jay"), con("none"), "no id", sample_id("m"), HALF[:4]]
            assert reader.concepts(asked) == [one for one in order if one.id in asked]
            assert reader.concepts([]) == []

    def test_a_concept_put_again_is_replaced(self, store: Store, ann: Scope) -> None:
        """Its row of that key alone; dropped, the other rows stay, and unknown ones are passed over."""
        other = replace(FULL, key=MINE)
        renamed = replace(FULL, name="Magpie", aliases=("Jay",), kind="given", at=9)
        write(store, ann, PutConcept(FULL), PutConcept(other), PutConcept(renamed))
        assert _read(store, ann) == [renamed, other]
        for change in (
            DropConcept(con("none"), MINE),
            DropConcept(con("jay"), "public"),
            DropConcept("", MINE),
        ):
            write(store, ann, change)
        assert _read(store, ann) == [renamed, other]
        write(store, ann, DropConcept(con("jay"), "group:dev"))
        assert _read(store, ann) == [other]

    def test_concepts_are_seen_by_their_key(self, store: Store, ann: Scope, bob: Scope, eve: Scope) -> None:
        """A name that stands in a stranger's row alone is not seen, though the concept is."""
        rows = [replace(FULL, key=key, name=key) for key in ("group:dev", "public", MINE)]
        write(store, ann, *(PutConcept(row) for row in rows), PutConcept(concept("own", MINE)))
        bobs = replace(FULL, key="user:bob", name="secret")
        write(store, bob, PutConcept(bobs))
        assert _read(store, bob) == [rows[1], bobs]
        assert [row for row in _read(store, ann) if row.id == FULL.id] == rows
        assert _read(store, eve) == []
        with store.reader(bob) as reader:
            assert reader.concepts([con("own")]) == []

    def test_a_strangers_concepts_cannot_be_changed(
        self, store: Store, ann: Scope, bob: Scope, eve: Scope
    ) -> None:
        """Dropping one is passed over; a namesake in another tenant changes none."""
        write(store, ann, PutConcept(GOOD), PutConcept(FULL))
        write(store, bob, DropConcept(con("jay"), MINE), DropConcept(con("jay"), "group:dev"))
        write(store, eve, PutConcept(replace(GOOD, name="other")), DropConcept(con("jay"), "group:dev"))
        assert _read(store, ann) == [FULL, GOOD]
        assert _read(store, bob) == []

    def test_a_concept_that_cannot_be_is_refused(self, store: Store, ann: Scope) -> None:
        """With the whole write."""
        write(store, ann, PutConcept(GOOD))
        for wrong in WRONG:
            batch = (DropConcept(con("jay"), MINE), PutConcept(concept("new", MINE)), PutConcept(wrong))
            with pytest.raises(InputError, match=r"Nothing was written\."):
                write(store, ann, *batch)
            assert _read(store, ann) == [GOOD], wrong

    def test_names_of_concepts_and_projects_take_any_text(self, store: Store, ann: Scope) -> None:
        """And questions, too."""
        for name, text in HOSTILE.items():
            made = Concept(con(text), MINE, text, (text, "b"))
            write(store, ann, PutConcept(made), PutProject(text, text, MINE))
            with store.reader(ann) as reader:
                assert (reader.concepts(), reader.projects()[text]) == ([made], text), name
                assert (reader.concepts([text]), reader.edges([text], [text], inward=True)) == ([], []), name
                assert (reader.degrees(text, [text]), reader.meetings(text, 9)) == ({}, ({}, 0)), name
                assert (reader.degrees("links", [text]), reader.follows([text])) == ({}, []), name
                assert (reader.turns(text, 0, 9), reader.last_turn(text)) == ([], None), name
            write(store, ann, DropConcept(text, MINE), DropConcept(con(text), text))
            assert _read(store, ann) == [made], name
            write(store, ann, DropConcept(con(text), MINE))
        with store.reader(ann) as reader:
            assert reader.projects() == {text: text for text in HOSTILE.values()}

    def test_an_equal_mark_means_equal_concepts(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Whatever is put, renamed or dropped, in any of the scope's keys; for every user."""
        seen: dict[tuple[str, int], list[Concept]] = {}
        changes: tuple[Change, ...] = (
            PutConcept(FULL), PutConcept(GOOD), PutConcept(replace(FULL, name="Magpie")),
            PutConcept(replace(FULL, aliases=("a",))), PutConcept(replace(FULL, key="public")),
            DropConcept(con("jay"), "group:dev"), PutConcept(concept("nut", MINE)), DropConcept(con("jay"), MINE),
            DropConcept(con("nut"), MINE), PutMemory(memory("m", MINE)), PutConcept(GOOD),
            DropConcept(con("jay"), "public"), DropConcept(con("jay"), MINE),
        )  # fmt: skip
        for change in (None, *changes):
            if change is not None:
                write(store, ann, change)
            for who in (ann, bob):
                held = _read(store, who)
                assert seen.setdefault((who.user, _mark(store, who)), held) == held
        assert len(seen) > 10

    def test_a_mark_stays_while_nothing_changes(self, store: Store, ann: Scope) -> None:
        """Reading does not move it, nor does writing memories."""
        write(store, ann, PutConcept(FULL))
        before = _mark(store, ann)
        _read(store, ann)
        write(store, ann, PutMemory(memory("m", MINE)))
        assert _mark(store, ann) == before

    def test_a_mark_grows_by_one_with_each_row_that_is_put(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """Whoever puts n rows and finds it n greater knows that nothing else changed."""
        write(store, ann, PutConcept(FULL))
        own, others = _mark(store, ann), _mark(store, bob)
        write(store, ann, PutConcept(concept("nut", MINE)), PutConcept(concept("oak", "public")))
        write(store, ann, PutConcept(concept("nut", MINE)))
        assert (_mark(store, ann) - own, _mark(store, bob) - others) == (3, 1)
        write(store, ann, DropConcept(con("nut"), MINE))
        assert _mark(store, ann) > own + 3

    def test_a_failed_write_leaves_the_mark_or_the_concepts(self, store: Store, ann: Scope) -> None:
        """A mark that was handed out means what it meant."""
        write(store, ann, PutConcept(FULL))
        with pytest.raises(InputError):
            write(store, ann, PutConcept(GOOD), PutConcept(WRONG[0]))
        mark, held = _mark(store, ann), _read(store, ann)
        assert held == [FULL]
        write(store, ann, PutConcept(GOOD))
        assert _mark(store, ann) != mark

    def test_projects_are_known_by_their_places(
        self, store: Store, ann: Scope, bob: Scope, eve: Scope
    ) -> None:
        """A place has one name a key, the smaller key's is the one that is read; nobody else's is seen."""
        put = PutProject
        write(store, ann, put("p", "first", MINE), put("p", "second", MINE), put("q", "own", MINE))
        write(store, bob, put("p", "bobs", "user:bob"), put("r", "secret", "user:bob"))
        for who, known in (
            (ann, {"p": "second", "q": "own"}), (bob, {"p": "bobs", "r": "secret"}), (eve, {}),
        ):  # fmt: skip
            with store.reader(who) as reader:
                assert reader.projects() == known
        write(
            store, ann, put("p", "public", "public"), put("p", "team", "group:dev"), put("r", "all", "public")
        )
        for who, known in (
            (ann, {"p": "team", "q": "own", "r": "all"}), (bob, {"p": "public", "r": "all"}), (eve, {}),
        ):  # fmt: skip
            with store.reader(who) as reader:
                assert reader.projects() == known

    @pytest.mark.parametrize(
        ("place", "name", "key"),
        [("p", "n", "user:bob"), ("p", "n", ""), (HALF, "n", MINE), ("p", HALF, MINE)],
        ids=repr,
    )
    def test_a_project_that_cannot_be_is_refused(
        self, store: Store, ann: Scope, place: str, name: str, key: str
    ) -> None:
        """With the whole write."""
        with pytest.raises(InputError, match=r"Nothing was written\."):
            write(store, ann, PutProject("p", "goes too", MINE), PutProject(place, name, key))
        with store.reader(ann) as reader:
            assert reader.projects() == {}
