"""Documents and sessions: passages that stay, move or go; turns, chains and pages."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from scrubjay.errors import InputError, NotFoundError
from scrubjay.models.graph import Edge
from scrubjay.models.records import EventTime, RecordFilter, Scope, SourcePlace
from scrubjay.storage.changes import (
    DropDocument,
    Forget,
    PreparedMemory,
    PutDocument,
    PutMemory,
    PutModel,
    PutSource,
    UnchangedPassage,
)
from scrubjay.storage.interface import Store
from store_contract.answers import EVERY_STATUS
from store_contract.samples import (
    ANN_KEY,
    SMALL_MODEL,
    put_sample_document,
    sample_concept_id,
    sample_document,
    sample_id,
    sample_memory,
    sample_place,
    sample_source,
    sample_vector,
    sample_windows,
    term_group,
    write_changes,
)


def _document_texts(store: Store, scope: Scope, path: str) -> list[str]:
    with store.reader(scope) as reader:
        return [passage.content for passage in reader.passages("notes", path)]


def _write_document(store: Store, ann: Scope, *texts: str, path: str = "a.md") -> None:
    write_changes(store, ann, PutModel(SMALL_MODEL), PutSource(sample_source("notes", ANN_KEY)))
    vectors = {"vectors": {SMALL_MODEL.fingerprint: sample_windows("v", 2)}}
    write_changes(store, ann, put_sample_document("notes", path, texts, ANN_KEY, **vectors))


def _unchanged(path: str, text: str, ordinal: int, *, was: str = "a.md") -> UnchangedPassage:
    return UnchangedPassage(sample_id(f"{was}:{text}"), sample_place("notes", path, ordinal))


def _new_passage(path: str, text: str, ordinal: int) -> PutMemory:
    return PutMemory(
        sample_memory(text, ANN_KEY, name=f"{path}:{text}", place=sample_place("notes", path, ordinal))
    )


class DocumentsContract:
    """A document's passages over its life."""

    def test_a_document_comes_back_as_it_was_written(self, store: Store, ann: Scope) -> None:
        """Every attribute, by path; and its passages in the order of the document."""
        write_changes(store, ann, PutSource(sample_source("notes", ANN_KEY)))
        one = replace(sample_document("notes", "b/one.md", "text"), cursor=7, mtime_ns=2**62, title="One")
        passages = [
            sample_memory(f"p{i}", ANN_KEY, place=sample_place("notes", "b/one.md", i)) for i in (2, 0, 10, 1)
        ]
        write_changes(
            store, ann, PutDocument(one, tuple(passages)), PutDocument(sample_document("notes", "a.md"))
        )
        with store.reader(ann) as reader:
            assert list(reader.documents("notes")) == ["a.md", "b/one.md"]
            assert reader.documents("notes")["b/one.md"] == one
            assert reader.documents("notes", ["b/one.md", "c.md"]) == {"b/one.md": one}
            assert reader.documents("notes", []) == {}
            found = reader.passages("notes", "b/one.md")
            assert [passage.content for passage in found] == ["p0", "p1", "p2", "p10"]
            assert found[0] == passages[1].record
            assert reader.passages("notes", "none.md") == []

    def test_an_edit_replaces_only_what_changed(self, store: Store, ann: Scope) -> None:
        """Kept passages keep their text and vectors at their new place, dropped ones leave no word behind."""
        _write_document(store, ann, "jay one", "jay two", "jay three")
        fresh = _new_passage("a.md", "jay new", 0).memory
        write_changes(
            store, ann,
            PutDocument(
                sample_document("notes", "a.md", "2"), (fresh,),
                (_unchanged("a.md", "jay three", 1), _unchanged("a.md", "jay one", 2)), (sample_id("a.md:jay two"),),
            ),
        )  # fmt: skip
        assert _document_texts(store, ann, "a.md") == ["jay new", "jay three", "jay one"]
        with store.reader(ann) as reader:
            assert reader.frequencies([term_group("jay"), term_group("two")]) == [3, 0]
            assert reader.coverage(SMALL_MODEL.fingerprint).covered == 2
            assert (
                len(reader.nearest(SMALL_MODEL.fingerprint, sample_vector("v"), RecordFilter()).top(9)) == 2
            )
            assert reader.documents("notes")["a.md"] == sample_document("notes", "a.md", "2")
            moved = reader.get([sample_id("a.md:jay one")])[sample_id("a.md:jay one")]
            assert moved.place == sample_place("notes", "a.md", 2)

    def test_a_document_holds_exactly_what_was_put(self, store: Store, ann: Scope) -> None:
        """What is neither fresh nor kept goes: another process may have written it meanwhile."""
        _write_document(store, ann, "jay one", "jay two")
        write_changes(
            store, ann, PutDocument(sample_document("notes", "a.md"), (), (_unchanged("a.md", "jay two", 0),))
        )
        assert _document_texts(store, ann, "a.md") == ["jay two"]
        write_changes(store, ann, put_sample_document("notes", "a.md", ["jay three"], ANN_KEY))
        assert _document_texts(store, ann, "a.md") == ["jay three"]
        with store.reader(ann) as reader:
            assert (reader.counts().memories, reader.frequencies([term_group("jay")])) == (1, [1])

    def test_a_document_that_was_only_touched_keeps_its_passages(self, store: Store, ann: Scope) -> None:
        """With nothing fresh, kept or dropped, only what is said of the document itself changes."""
        _write_document(store, ann, "jay one", "jay two")
        touched = replace(sample_document("notes", "a.md"), mtime_ns=99, size=7)
        write_changes(store, ann, PutDocument(touched))
        assert _document_texts(store, ann, "a.md") == ["jay one", "jay two"]
        with store.reader(ann) as reader:
            assert reader.documents("notes") == {"a.md": touched}

    def test_a_renamed_document_keeps_its_memories(self, store: Store, ann: Scope) -> None:
        """Its passages are found under the new path, and filters by path follow."""
        _write_document(store, ann, "jay one", "jay two")
        kept = tuple(_unchanged("b/c.md", text, i) for i, text in enumerate(("jay one", "jay two")))
        write_changes(store, ann, PutDocument(sample_document("notes", "b/c.md"), (), kept, (), "a.md"))
        assert _document_texts(store, ann, "b/c.md") == ["jay one", "jay two"]
        assert _document_texts(store, ann, "a.md") == []
        with store.reader(ann) as reader:
            assert list(reader.documents("notes")) == ["b/c.md"]
            assert len(reader.words([term_group("jay")], RecordFilter(path="b")).top(9)) == 2
            assert reader.words([term_group("jay")], RecordFilter(path="a.md")).top(9) == []
            assert (
                len(
                    reader.nearest(SMALL_MODEL.fingerprint, sample_vector("v"), RecordFilter(path="b")).top(9)
                )
                == 2
            )

    def test_a_document_renamed_over_another_replaces_it(self, store: Store, ann: Scope) -> None:
        """The passages of the one that was there are gone."""
        _write_document(store, ann, "jay one")
        write_changes(store, ann, put_sample_document("notes", "b.md", ["nut there"], ANN_KEY))
        write_changes(
            store,
            ann,
            PutDocument(
                sample_document("notes", "b.md"), (), (_unchanged("b.md", "jay one", 0),), (), "a.md"
            ),
        )
        assert _document_texts(store, ann, "b.md") == ["jay one"]
        with store.reader(ann) as reader:
            assert list(reader.documents("notes")) == ["b.md"]
            assert reader.frequencies([term_group("jay"), term_group("nut")]) == [1, 0]

    def test_two_documents_may_swap_their_names(self, store: Store, ann: Scope) -> None:
        """In one write: the passages are told apart by what each change keeps."""
        _write_document(store, ann, "jay one")
        write_changes(store, ann, put_sample_document("notes", "b.md", ["nut two"], ANN_KEY))
        aside, back = (_unchanged(path, "nut two", 0, was="b.md") for path in ("c.md", "a.md"))
        write_changes(
            store,
            ann,
            PutDocument(sample_document("notes", "c.md"), (), (aside,), (), "b.md"),
            PutDocument(
                sample_document("notes", "b.md"), (), (_unchanged("b.md", "jay one", 0),), (), "a.md"
            ),
            PutDocument(sample_document("notes", "a.md"), (), (back,), (), "c.md"),
        )
        assert (_document_texts(store, ann, "a.md"), _document_texts(store, ann, "b.md")) == (
            ["nut two"],
            ["jay one"],
        )
        with store.reader(ann) as reader:
            assert list(reader.documents("notes")) == ["a.md", "b.md"]

    def test_a_move_from_nowhere_is_a_new_document(self, store: Store, ann: Scope) -> None:
        """The document that it was renamed from may be gone by now."""
        _write_document(store, ann, "jay one")
        write_changes(store, ann, DropDocument("notes", "a.md"))
        fresh = _new_passage("b.md", "jay new", 0).memory
        write_changes(
            store,
            ann,
            PutDocument(
                sample_document("notes", "b.md"), (fresh,), (_unchanged("b.md", "jay one", 1),), (), "a.md"
            ),
        )
        assert _document_texts(store, ann, "b.md") == ["jay new"]

    def test_kept_and_dropped_passages_that_are_gone_are_passed_over(self, store: Store, ann: Scope) -> None:
        """Somebody may have forgotten one while a sync was reading."""
        _write_document(store, ann, "jay one", "jay two")
        write_changes(store, ann, Forget((sample_id("a.md:jay one"), sample_id("a.md:jay two"))))
        gone = (_unchanged("a.md", "jay one", 0),)
        write_changes(
            store,
            ann,
            PutDocument(sample_document("notes", "a.md"), (), gone, (sample_id("a.md:jay two"), "no id")),
        )
        assert _document_texts(store, ann, "a.md") == []
        with store.reader(ann) as reader:
            assert reader.counts().memories == 0

    def test_a_passage_written_twice_is_one(self, store: Store, ann: Scope) -> None:
        """The last one of an id counts, within one document and over two writes."""
        write_changes(store, ann, PutSource(sample_source("notes", ANN_KEY)))
        first = sample_memory("jay first", ANN_KEY, name="p", place=sample_place("notes", "a.md", 0))
        last = sample_memory("jay last", ANN_KEY, name="p", place=sample_place("notes", "a.md", 0))
        write_changes(store, ann, PutDocument(sample_document("notes", "a.md"), (first, last)))
        assert _document_texts(store, ann, "a.md") == ["jay last"]
        write_changes(
            store, ann, PutDocument(sample_document("notes", "a.md"), (first,), (), (first.record.id,))
        )
        assert _document_texts(store, ann, "a.md") == ["jay first"]

    def test_dropping_a_document_leaves_the_others(self, store: Store, ann: Scope) -> None:
        """And dropping one that is not there changes nothing."""
        _write_document(store, ann, "jay one")
        write_changes(
            store,
            ann,
            put_sample_document("notes", "b.md", ["jay two"], ANN_KEY),
            PutMemory(sample_memory("jay three", ANN_KEY)),
        )
        write_changes(
            store,
            ann,
            DropDocument("notes", "a.md"),
            DropDocument("notes", "z.md"),
            DropDocument("none", "a.md"),
        )
        with store.reader(ann) as reader:
            found = {hit.id for hit in reader.words([term_group("jay")], EVERY_STATUS).top(9)}
            assert found == {sample_id("b.md:jay two"), sample_id("jay three user:ann")}
            assert list(reader.documents("notes")) == ["b.md"]
            assert reader.counts().documents == 1

    def test_a_passage_outside_its_document_is_refused(self, store: Store, ann: Scope) -> None:
        """Its place must name the document that holds it."""
        _write_document(store, ann, "jay one", "jay two")
        places: tuple[SourcePlace | None, ...] = (
            None,
            sample_place("notes", "b.md", 0),
            sample_place("else", "a.md", 0),
        )
        for wrong in places:
            with pytest.raises(InputError):
                write_changes(
                    store,
                    ann,
                    PutDocument(
                        sample_document("notes", "a.md"), (sample_memory("jay", ANN_KEY, place=wrong),)
                    ),
                )
        kept = UnchangedPassage(sample_id("a.md:jay one"), sample_place("notes", "b.md", 0))
        with pytest.raises(InputError):
            write_changes(store, ann, PutDocument(sample_document("notes", "a.md"), (), (kept,)))
        with pytest.raises(NotFoundError):
            write_changes(store, ann, PutDocument(sample_document("none", "a.md")))


def _turn(
    name: str, session: str | None, turn: int | None, key: str = ANN_KEY, **fields: Any
) -> PreparedMemory:
    return sample_memory(f"jay {name}", key, name=name, session=session, turn=turn, **fields)


def _put_turns(store: Store, scope: Scope, *memories: PreparedMemory) -> None:
    write_changes(store, scope, *(PutMemory(one) for one in memories))


def _follows_pairs(store: Store, scope: Scope, names: str) -> list[tuple[str, str, str]]:
    """Return rule, later and earlier of the chains through memories that are named by one letter each."""
    known = {sample_id(letter): letter for letter in "abcdefghijklmnopqrstuvwxyz"}
    with store.reader(scope) as reader:
        found = reader.follows([sample_id(name) for name in names])
    assert found == sorted(found, key=lambda edge: (edge.rule, edge.src, edge.dst))
    return sorted((edge.rule, known[edge.src], known[edge.dst]) for edge in found)


class SessionsContract:
    """What came before and after."""

    def test_a_follows_edge_tells_when_the_earlier_one_happened(self, store: Store, ann: Scope) -> None:
        """Event start, else recorded; the later one's key, weight 1, found."""
        told = _turn("a", "s", 0, "public", event=EventTime(-70, -60), recorded_at=5)
        _put_turns(store, ann, told, _turn("b", "s", 1, recorded_at=6), _turn("c", "s", 2, "group:dev"))
        a, b, c = (sample_id(name) for name in "abc")
        edges = [Edge(b, "follows", a, ANN_KEY, 1.0, -70, rule="session")]
        edges.append(Edge(c, "follows", b, "group:dev", 1.0, 6, rule="session"))
        with store.reader(ann) as reader:
            assert reader.follows([a]) == edges[:1]
            assert reader.follows([b, a, b, "no id", sample_id("none")]) == sorted(edges, key=lambda e: e.src)
            assert (reader.follows([]), reader.follows([sample_concept_id("x"), ""])) == ([], [])
            assert reader.edges([a, b, c], ["follows"]) == []

    def test_turns_of_a_session_follow_each_other(self, store: Store, ann: Scope) -> None:
        """Those that differ by one: every piece of a turn follows every piece of the turn before."""
        turns = (("a", "s", 0), ("b", "s", 1), ("c", "s", 1), ("d", "s", 2), ("e", "s", 4), ("f", "t", 3))
        extra = (("g", None, 1), ("h", "s", None), ("i", "s", -1))
        _put_turns(store, ann, *(_turn(*one) for one in turns + extra))
        chain = [("b", "a"), ("c", "a"), ("d", "b"), ("d", "c"), ("a", "i")]
        assert _follows_pairs(store, ann, "abcdefghi") == sorted(("session", *pair) for pair in chain)
        assert _follows_pairs(store, ann, "c") == [("session", "c", "a"), ("session", "d", "c")]
        assert _follows_pairs(store, ann, "efgh") == []

    def test_passages_of_a_document_follow_each_other(self, store: Store, ann: Scope) -> None:
        """Those without a session whose ordinals differ by one."""
        write_changes(
            store, ann, PutSource(sample_source("notes", ANN_KEY)), PutSource(sample_source("work", ANN_KEY))
        )
        stands = (("a", "a.md", 0), ("b", "a.md", 1), ("c", "a.md", 2), ("d", "b.md", 3), ("e", "a.md", 4))
        fresh = {path: [n for n in stands if n[1] == path] for path in ("a.md", "b.md")}
        spoken = _turn("f", "s", None, place=sample_place("notes", "a.md", 3))
        for path, own in fresh.items():
            made = [
                sample_memory(n, ANN_KEY, name=n, place=sample_place("notes", path, ordinal))
                for n, _, ordinal in own
            ]
            more = [spoken] if path == "a.md" else []
            write_changes(store, ann, PutDocument(sample_document("notes", path), (*made, *more)))
        other = sample_memory("g", ANN_KEY, name="g", place=sample_place("work", "a.md", 1), turn=7)
        first = sample_memory("h", ANN_KEY, name="h", place=sample_place("work", "a.md", 0))
        write_changes(store, ann, PutDocument(sample_document("work", "a.md"), (other, first)))
        chain = [("document", "b", "a"), ("document", "c", "b"), ("document", "g", "h")]
        assert _follows_pairs(store, ann, "abcdefgh") == chain
        assert _follows_pairs(store, ann, "b") == chain[:2]
        assert _follows_pairs(store, ann, "def") == []

    def test_heads_of_a_project_follow_each_other(self, store: Store, ann: Scope) -> None:
        """First turns, first passages and additions, by (time, id): the neighbours of each."""
        write_changes(store, ann, PutSource(sample_source("notes", ANN_KEY)))
        passages = [
            sample_memory(
                n, ANN_KEY, name=n, project="p", recorded_at=40 + i, place=sample_place("notes", "a.md", i)
            )
            for i, n in enumerate("abc")
        ]
        write_changes(store, ann, PutDocument(sample_document("notes", "a.md"), tuple(passages)))
        _put_turns(
            store, ann,
            _turn("d", "s", 0, project="p", recorded_at=10), _turn("e", "s", 1, project="p", recorded_at=11),
            _turn("f", "s", None, project="p", recorded_at=12), _turn("g", None, 0, project="p", recorded_at=13),
            _turn("h", None, None, project="p", recorded_at=99, event=EventTime(20, 30)),
            _turn("i", None, None, project="p", recorded_at=50, status="archived"),
            _turn("j", None, None, project="q", recorded_at=25), _turn("k", None, None, recorded_at=26),
            _turn("l", "t", 0, project="p", recorded_at=5),
        )  # fmt: skip
        heads = [("d", "l"), ("h", "d"), ("a", "h"), ("i", "a")]
        assert _follows_pairs(store, ann, "ldhai") == sorted([
            *(("project", *pair) for pair in heads), ("session", "e", "d"), ("document", "b", "a"),
        ])  # fmt: skip
        assert _follows_pairs(store, ann, "h") == [("project", "a", "h"), ("project", "h", "d")]
        assert _follows_pairs(store, ann, "fgjk") == []

    def test_heads_of_one_time_follow_by_id(self, store: Store, ann: Scope) -> None:
        """Also across tiers."""
        tiers = ("semantic", "crystal", "observation", "facet", "lesson", "semantic")
        made = [
            sample_memory(f"n{i}", ANN_KEY, name=f"n{i}", tier=t, project="p") for i, t in enumerate(tiers)
        ]
        _put_turns(store, ann, *made)
        ids = sorted(one.record.id for one in made)
        with store.reader(ann) as reader:
            for number, one in enumerate(ids):
                near = ids[max(0, number - 1) : number + 2]
                pairs = {(edge.src, edge.dst) for edge in reader.follows([one])}
                assert pairs == {(later, earlier) for earlier, later in pairwise(near)}

    def test_a_chain_passes_over_what_is_hidden(
        self, store: Store, ann: Scope, bob: Scope, eve: Scope
    ) -> None:
        """Neither a stranger's turn, passage or head, nor a gap, nor a tie tells that it is there."""
        write_changes(store, ann, PutSource(sample_source("shared", "public")))
        keys = {"a": "public", "b": ANN_KEY, "c": "public", "d": "public"}
        standing = [
            sample_memory(n, key, name=n, project="p", recorded_at=i, place=sample_place("shared", "s.md", i))
            for i, (n, key) in enumerate(keys.items())
        ]
        write_changes(store, ann, PutDocument(sample_document("shared", "s.md"), tuple(standing)))
        said = [_turn(n, "s", i, key) for i, (n, key) in enumerate(zip("efgh", keys.values(), strict=True))]
        heads = [
            _turn(n, None, None, key, project="p", recorded_at=20 + i)
            for i, (n, key) in enumerate(zip("ijkl", keys.values(), strict=True))
        ]
        _put_turns(store, ann, *said, *heads)
        _put_turns(store, eve, _turn("m", "s", 1, "public"), _turn("n", None, None, "public", project="p"))
        seen = [("document", "d", "c"), ("project", "i", "a"), ("project", "k", "i"), ("project", "l", "k")]
        assert _follows_pairs(store, bob, "abcdefghijklmn") == [*seen, ("session", "h", "g")]
        assert _follows_pairs(store, bob, "bfj") == []
        assert len(_follows_pairs(store, ann, "abcdefghijkl")) == 3 + 3 + 4
        with store.reader(bob) as reader:
            assert [one.id for one in reader.turns("s", 0, 9)] == [sample_id(n) for n in "egh"]
            assert reader.last_turn("s") == 3
        write_changes(store, ann, Forget((sample_id("h"),)))
        _put_turns(store, ann, _turn("o", "s", 9), _turn("p", "own", 1))
        with store.reader(bob) as reader:
            assert (reader.last_turn("s"), reader.last_turn("own")) == (2, None)
            assert (reader.turns("s", 3, 99), reader.turns("own", 0, 9)) == ([], [])

    def test_turns_are_read_in_order(self, store: Store, ann: Scope) -> None:
        """By turn, ordinal, id, both bounds included; what stands in no document is first of its turn."""
        write_changes(store, ann, PutSource(sample_source("log", ANN_KEY)))
        pieces = [
            _turn(
                f"piece {turn} {ordinal}",
                "s",
                turn,
                place=sample_place("log", "s.jsonl", ordinal),
                status=status,
            )
            for turn, ordinal, status in (
                (7, 2, "active"),
                (7, 12, "archived"),
                (2, 1, "active"),
                (7, 3, "active"),
            )
        ]
        write_changes(store, ann, PutDocument(sample_document("log", "s.jsonl"), tuple(pieces)))
        same = [_turn(f"same {i}", "s", 7) for i in range(4)]
        tiers = [_turn(f"tier {t}", "s", 7, tier=t) for t in ("semantic", "crystal")]
        _put_turns(
            store, ann, *same, *tiers, _turn("other", "t", 7), _turn("none", "s", None), _turn("x", None, 7)
        )
        whole = [*sorted((*same, *tiers), key=lambda one: one.record.id), pieces[0], pieces[3], pieces[1]]
        records = [one.record for one in (pieces[2], *whole)]
        with store.reader(ann) as reader:
            assert reader.turns("s", 0, 99) == records
            assert (reader.turns("s", 2, 2), reader.turns("s", 3, 7)) == (records[:1], records[1:])
            assert (reader.turns("s", 7, 2), reader.turns("none", 0, 99)) == ([], [])
            assert [reader.last_turn(name) for name in ("s", "t", "none", "")] == [7, 7, None, None]

    def test_sessions_are_listed_by_their_latest_turn(self, store: Store, ann: Scope, bob: Scope) -> None:
        """By the event, else when it was recorded; of one time by name. A memory without a turn belongs to none."""
        turns = [
            _turn("a", "early", 0, recorded_at=10),
            _turn("b", "late", 0, recorded_at=5),
            _turn("c", "late", 1, recorded_at=30),
            _turn("d", "b same", 0, recorded_at=20),
            _turn("e", "a same", 3, recorded_at=20),
            _turn("f", "no turn", None, recorded_at=99),
            _turn("g", None, 7, recorded_at=99),
        ]
        _put_turns(store, ann, *turns)
        with store.reader(ann) as reader:
            assert reader.sessions(9) == ["late", "a same", "b same", "early"]
            assert (reader.sessions(2, 1), reader.sessions(9, 4)) == (["a same", "b same"], [])
        with store.reader(bob) as reader:
            assert reader.sessions(9) == []

    def test_memories_are_paged_by_their_digits(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Whatever their tier and status, none twice, none left out; also after one that is gone."""
        tiers = ("semantic", "crystal", "observation", "facet", "lesson")
        made = [sample_memory(f"n{i}", ANN_KEY, name=f"n{i}", tier=tiers[i % 5]) for i in range(17)]
        made.append(sample_memory("old", ANN_KEY, name="old", status="archived"))
        _put_turns(store, ann, *made)
        _put_turns(store, bob, *(sample_memory(f"b{i}", "user:bob", name=f"b{i}") for i in range(9)))
        records = sorted((one.record for one in made), key=lambda record: record.id.partition("_")[2])
        for size in (1, 4, 18, 99):
            after, pages = "", []
            with store.reader(ann) as reader:
                while page := reader.page(after, size):
                    assert len(page) <= size
                    pages += page
                    after = page[-1].id
            assert pages == records
        write_changes(store, ann, Forget((records[3].id,)))
        with store.reader(ann) as reader:
            assert reader.page(records[3].id, 2) == records[4:6]
            assert (reader.page("", 0), reader.page(f"obs_{'f' * 16}", 9)) == ([], [])
            assert reader.page(f"crys_{'0' * 16}", 2) == records[:2]
            for wrong in (
                "no id",
                "obs_12",
                sample_concept_id("x"),
                "'; --",
                records[0].id.upper(),
                "half \ud83d",
            ):
                with pytest.raises(InputError):
                    reader.page(wrong, 9)

    def test_a_growing_document_keeps_its_passages(self, store: Store, ann: Scope) -> None:
        """The fresh join them; what is said of the document is the last."""
        write_changes(store, ann, PutModel(SMALL_MODEL), PutSource(sample_source("log", ANN_KEY)))
        vectors = {"vectors": {SMALL_MODEL.fingerprint: sample_windows("v")}}
        write_changes(
            store, ann, put_sample_document("log", "s.jsonl", ["jay one", "jay two"], ANN_KEY, **vectors)
        )
        three = sample_memory("jay three", ANN_KEY, name="three", place=sample_place("log", "s.jsonl", 2))
        read_on = replace(sample_document("log", "s.jsonl", "2"), cursor=300, size=400)
        write_changes(store, ann, PutDocument(read_on, (three,), grows=True))
        with store.reader(ann) as reader:
            texts = [passage.content for passage in reader.passages("log", "s.jsonl")]
            assert texts == ["jay one", "jay two", "jay three"]
            assert reader.documents("log") == {"s.jsonl": read_on}
            assert reader.frequencies([term_group("jay")]) == [3]
            assert (reader.coverage(SMALL_MODEL.fingerprint).covered, reader.counts().documents) == (2, 1)

    def test_a_growing_document_may_drop_keep_and_replace(self, store: Store, ann: Scope) -> None:
        """As any other does, but what is not named stays; one that is new begins so."""
        write_changes(store, ann, PutSource(sample_source("log", ANN_KEY)))
        begun = replace(
            put_sample_document("log", "s.jsonl", ["one", "two", "three", "four"], ANN_KEY), grows=True
        )
        write_changes(store, ann, begun)
        kept = UnchangedPassage(sample_id("s.jsonl:four"), sample_place("log", "s.jsonl", 9))
        again = sample_memory("two now", ANN_KEY, name="s.jsonl:two", place=sample_place("log", "s.jsonl", 5))
        gone = (sample_id("s.jsonl:one"),)
        write_changes(
            store, ann, PutDocument(sample_document("log", "s.jsonl"), (again,), (kept,), gone, None, True)
        )
        with store.reader(ann) as reader:
            passages = reader.passages("log", "s.jsonl")
            assert [(p.content, p.place and p.place.ordinal) for p in passages] == [
                ("three", 2), ("two now", 5), ("four", 9),
            ]  # fmt: skip

    def test_a_renamed_document_may_grow(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Its passages come along, also those that its writer does not see; what stood there goes."""
        write_changes(
            store,
            ann,
            PutSource(sample_source("log", "public")),
            put_sample_document("log", "b.jsonl", ["old"], ANN_KEY),
        )
        write_changes(store, ann, put_sample_document("log", "a.jsonl", ["one"], ANN_KEY))
        two = sample_memory("two", "user:bob", name="two", place=sample_place("log", "b.jsonl", 1))
        write_changes(
            store, bob, PutDocument(sample_document("log", "b.jsonl"), (two,), (), (), "a.jsonl", True)
        )
        for who, texts in ((ann, ["one"]), (bob, ["two"])):
            with store.reader(who) as reader:
                assert [passage.content for passage in reader.passages("log", "b.jsonl")] == texts
                assert (list(reader.documents("log")), reader.counts().memories) == (["b.jsonl"], 1)
