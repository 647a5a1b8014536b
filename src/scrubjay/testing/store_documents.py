"""Documents: fresh, kept, dropped and moved passages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scrubjay.errors import InputError, NotFoundError
from scrubjay.memory.records import Place, Where
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store
from scrubjay.store.changes import DropDocument, Forget, Kept, PutDocument, PutMemory, PutModel, PutSource
from scrubjay.testing.store_answers import EVERY
from scrubjay.testing.store_samples import (
    SMALL,
    document,
    embedded,
    group,
    memory,
    place,
    put_document,
    sample_id,
    source,
    vector,
    write,
)

MINE = "user:ann"


def _texts(store: Store, scope: Scope, path: str) -> list[str]:
    with store.reader(scope) as reader:
        return [passage.content for passage in reader.passages("notes", path)]


def _start(store: Store, ann: Scope, *texts: str, path: str = "a.md") -> None:
    write(store, ann, PutModel(SMALL), PutSource(source("notes", MINE)))
    vectors = {"vectors": {SMALL.fingerprint: embedded("v", 2)}}
    write(store, ann, put_document("notes", path, texts, MINE, **vectors))


def _kept(path: str, text: str, ordinal: int, *, was: str = "a.md") -> Kept:
    return Kept(sample_id(f"{was}:{text}"), place("notes", path, ordinal))


def _fresh(path: str, text: str, ordinal: int) -> PutMemory:
    return PutMemory(memory(text, MINE, name=f"{path}:{text}", place=place("notes", path, ordinal)))


class DocumentsContract:
    """A document's passages over its life."""

    def test_a_document_comes_back_as_it_was_written(self, store: Store, ann: Scope) -> None:
        """Every attribute, by path; and its passages in the order of the document."""
        write(store, ann, PutSource(source("notes", MINE)))
        one = replace(document("notes", "b/one.md", "text"), cursor=7, mtime_ns=2**62, title="One")
        passages = [memory(f"p{i}", MINE, place=place("notes", "b/one.md", i)) for i in (2, 0, 10, 1)]
        write(store, ann, PutDocument(one, tuple(passages)), PutDocument(document("notes", "a.md")))
        with store.reader(ann) as reader:
            assert list(reader.documents("notes")) == ["a.md", "b/one.md"]
            assert reader.documents("notes")["b/one.md"] == one
            found = reader.passages("notes", "b/one.md")
            assert [passage.content for passage in found] == ["p0", "p1", "p2", "p10"]
            assert found[0] == passages[1].record
            assert reader.passages("notes", "none.md") == []

    def test_an_edit_replaces_only_what_changed(self, store: Store, ann: Scope) -> None:
        """Kept passages keep their text and vectors at their new place, dropped ones leave no word behind."""
        _start(store, ann, "jay one", "jay two", "jay three")
        fresh = _fresh("a.md", "jay new", 0).memory
        write(
            store, ann,
            PutDocument(
                document("notes", "a.md", "2"), (fresh,),
                (_kept("a.md", "jay three", 1), _kept("a.md", "jay one", 2)), (sample_id("a.md:jay two"),),
            ),
        )  # fmt: skip
        assert _texts(store, ann, "a.md") == ["jay new", "jay three", "jay one"]
        with store.reader(ann) as reader:
            assert reader.frequencies([group("jay"), group("two")]) == [3, 0]
            assert reader.coverage(SMALL.fingerprint).covered == 2
            assert len(reader.nearest(SMALL.fingerprint, vector("v"), Where()).top(9)) == 2
            assert reader.documents("notes")["a.md"] == document("notes", "a.md", "2")
            moved = reader.get([sample_id("a.md:jay one")])[sample_id("a.md:jay one")]
            assert moved.place == place("notes", "a.md", 2)

    def test_a_document_holds_exactly_what_was_put(self, store: Store, ann: Scope) -> None:
        """What is neither fresh nor kept goes: another process may have written it meanwhile."""
        _start(store, ann, "jay one", "jay two")
        write(store, ann, PutDocument(document("notes", "a.md"), (), (_kept("a.md", "jay two", 0),)))
        assert _texts(store, ann, "a.md") == ["jay two"]
        write(store, ann, put_document("notes", "a.md", ["jay three"], MINE))
        assert _texts(store, ann, "a.md") == ["jay three"]
        with store.reader(ann) as reader:
            assert (reader.counts().memories, reader.frequencies([group("jay")])) == (1, [1])

    def test_a_document_that_was_only_touched_keeps_its_passages(self, store: Store, ann: Scope) -> None:
        """With nothing fresh, kept or dropped, only what is said of the document itself changes."""
        _start(store, ann, "jay one", "jay two")
        touched = replace(document("notes", "a.md"), mtime_ns=99, size=7)
        write(store, ann, PutDocument(touched))
        assert _texts(store, ann, "a.md") == ["jay one", "jay two"]
        with store.reader(ann) as reader:
            assert reader.documents("notes") == {"a.md": touched}

    def test_a_renamed_document_keeps_its_memories(self, store: Store, ann: Scope) -> None:
        """Its passages are found under the new path, and filters by path follow."""
        _start(store, ann, "jay one", "jay two")
        kept = tuple(_kept("b/c.md", text, i) for i, text in enumerate(("jay one", "jay two")))
        write(store, ann, PutDocument(document("notes", "b/c.md"), (), kept, (), "a.md"))
        assert _texts(store, ann, "b/c.md") == ["jay one", "jay two"]
        assert _texts(store, ann, "a.md") == []
        with store.reader(ann) as reader:
            assert list(reader.documents("notes")) == ["b/c.md"]
            assert len(reader.words([group("jay")], Where(path="b")).top(9)) == 2
            assert reader.words([group("jay")], Where(path="a.md")).top(9) == []
            assert len(reader.nearest(SMALL.fingerprint, vector("v"), Where(path="b")).top(9)) == 2

    def test_a_document_renamed_over_another_replaces_it(self, store: Store, ann: Scope) -> None:
        """The passages of the one that was there are gone."""
        _start(store, ann, "jay one")
        write(store, ann, put_document("notes", "b.md", ["nut there"], MINE))
        write(
            store, ann, PutDocument(document("notes", "b.md"), (), (_kept("b.md", "jay one", 0),), (), "a.md")
        )
        assert _texts(store, ann, "b.md") == ["jay one"]
        with store.reader(ann) as reader:
            assert list(reader.documents("notes")) == ["b.md"]
            assert reader.frequencies([group("jay"), group("nut")]) == [1, 0]

    def test_two_documents_may_swap_their_names(self, store: Store, ann: Scope) -> None:
        """In one write: the passages are told apart by what each change keeps."""
        _start(store, ann, "jay one")
        write(store, ann, put_document("notes", "b.md", ["nut two"], MINE))
        aside, back = (_kept(path, "nut two", 0, was="b.md") for path in ("c.md", "a.md"))
        write(
            store,
            ann,
            PutDocument(document("notes", "c.md"), (), (aside,), (), "b.md"),
            PutDocument(document("notes", "b.md"), (), (_kept("b.md", "jay one", 0),), (), "a.md"),
            PutDocument(document("notes", "a.md"), (), (back,), (), "c.md"),
        )
        assert (_texts(store, ann, "a.md"), _texts(store, ann, "b.md")) == (["nut two"], ["jay one"])
        with store.reader(ann) as reader:
            assert list(reader.documents("notes")) == ["a.md", "b.md"]

    def test_a_move_from_nowhere_is_a_new_document(self, store: Store, ann: Scope) -> None:
        """The document that it was renamed from may be gone by now."""
        _start(store, ann, "jay one")
        write(store, ann, DropDocument("notes", "a.md"))
        fresh = _fresh("b.md", "jay new", 0).memory
        write(
            store,
            ann,
            PutDocument(document("notes", "b.md"), (fresh,), (_kept("b.md", "jay one", 1),), (), "a.md"),
        )
        assert _texts(store, ann, "b.md") == ["jay new"]

    def test_kept_and_dropped_passages_that_are_gone_are_passed_over(self, store: Store, ann: Scope) -> None:
        """Somebody may have forgotten one while a sync was reading."""
        _start(store, ann, "jay one", "jay two")
        write(store, ann, Forget((sample_id("a.md:jay one"), sample_id("a.md:jay two"))))
        gone = (_kept("a.md", "jay one", 0),)
        write(
            store, ann, PutDocument(document("notes", "a.md"), (), gone, (sample_id("a.md:jay two"), "no id"))
        )
        assert _texts(store, ann, "a.md") == []
        with store.reader(ann) as reader:
            assert reader.counts().memories == 0

    def test_a_passage_written_twice_is_one(self, store: Store, ann: Scope) -> None:
        """The last one of an id counts, within one document and over two writes."""
        write(store, ann, PutSource(source("notes", MINE)))
        first = memory("jay first", MINE, name="p", place=place("notes", "a.md", 0))
        last = memory("jay last", MINE, name="p", place=place("notes", "a.md", 0))
        write(store, ann, PutDocument(document("notes", "a.md"), (first, last)))
        assert _texts(store, ann, "a.md") == ["jay last"]
        write(store, ann, PutDocument(document("notes", "a.md"), (first,), (), (first.record.id,)))
        assert _texts(store, ann, "a.md") == ["jay first"]

    def test_dropping_a_document_leaves_the_others(self, store: Store, ann: Scope) -> None:
        """And dropping one that is not there changes nothing."""
        _start(store, ann, "jay one")
        write(
            store, ann, put_document("notes", "b.md", ["jay two"], MINE), PutMemory(memory("jay three", MINE))
        )
        write(
            store,
            ann,
            DropDocument("notes", "a.md"),
            DropDocument("notes", "z.md"),
            DropDocument("none", "a.md"),
        )
        with store.reader(ann) as reader:
            found = {hit.id for hit in reader.words([group("jay")], EVERY).top(9)}
            assert found == {sample_id("b.md:jay two"), sample_id("jay three user:ann")}
            assert list(reader.documents("notes")) == ["b.md"]
            assert reader.counts().documents == 1

    def test_a_passage_outside_its_document_is_refused(self, store: Store, ann: Scope) -> None:
        """Its place must name the document that holds it."""
        _start(store, ann, "jay one", "jay two")
        places: tuple[Place | None, ...] = (None, place("notes", "b.md", 0), place("else", "a.md", 0))
        for wrong in places:
            with pytest.raises(InputError):
                write(store, ann, PutDocument(document("notes", "a.md"), (memory("jay", MINE, place=wrong),)))
        kept = Kept(sample_id("a.md:jay one"), place("notes", "b.md", 0))
        with pytest.raises(InputError):
            write(store, ann, PutDocument(document("notes", "a.md"), (), (kept,)))
        with pytest.raises(NotFoundError):
            write(store, ann, PutDocument(document("none", "a.md")))
