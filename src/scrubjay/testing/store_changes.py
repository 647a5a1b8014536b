"""Changes: memories, forgetting, and that a batch is written whole or not at all."""

from __future__ import annotations

import pytest

from scrubjay.errors import InputError, ScrubjayError
from scrubjay.memory.ids import text_hash, tombstone_hash
from scrubjay.memory.records import Record, Versions, When, Where
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store
from scrubjay.store.changes import (
    Change,
    DropDocument,
    DropMemory,
    DropModel,
    DropSource,
    Forget,
    PutMemory,
    PutModel,
    PutSource,
    PutVectors,
    PutVersions,
)
from scrubjay.testing.store_answers import EVERY, Question, everything
from scrubjay.testing.store_samples import (
    OTHER,
    SMALL,
    VERSIONS,
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
from scrubjay.text.tokens import Terms

MINE = "user:ann"
F = SMALL.fingerprint
QUESTIONS = (Question((group("jay"), group("nut")), vector("jay"), F, EVERY, 50),)

FULL = Record(
    id=sample_id("full", "semantic"),
    tier="semantic",
    content="Deploys happen on Thursday.\n\n\tNever on Friday. ",
    content_hash=text_hash("Deploys happen on Thursday.\n\n\tNever on Friday. "),
    title="Deploys",
    key="group:dev",
    owner="ann",
    recorded_at=1_700_000_000_000_001,
    updated_at=1_700_000_000_000_002,
    heading_path=("Team", "Habits"),
    tags=("deploy", "habit"),
    project="scrubjay",
    agent="claude-code",
    session="s-1",
    role="user",
    turn=0,
    origin="agent",
    status="superseded",
    pinned=True,
    confidence=0.1,
    strength=0.7,
    event=When(-62_135_596_800_000_000, 253_402_300_799_999_999, "day", "Europe/Berlin"),
    valid_from=-1,
    valid_until=4_102_444_800_000_000,
    last_used=1_700_000_000_000_003,
    abstract="Deploys on Thursday …",
    overview="",
)


def _small_store(store: Store, ann: Scope) -> None:
    write(store, ann, PutModel(SMALL), PutVersions(VERSIONS), PutSource(source("notes", MINE)))
    write(store, ann, put_document("notes", "a.md", ["jay one", "jay two"], MINE))
    write(store, ann, PutMemory(memory("jay nut", MINE, name="kept", vectors={F: embedded("k")})))


FAILING: tuple[Change, ...] = (
    PutMemory(memory("jay", "user:bob")),
    PutMemory(memory("jay", MINE, vectors={F: embedded("x", 1, 9)})),
    PutMemory(memory("jay", MINE, vectors={OTHER.fingerprint: embedded("x", 1, 12)})),
    PutMemory(memory("jay", MINE, place=place("notes", "a.md", 5))),
    PutMemory(memory("jay", MINE, status="no such status")),
    PutSource(source("else", "group:ops")),
    put_document("unknown", "a.md", ["jay"], MINE),
    PutVectors(F, {sample_id("kept"): (text_hash("jay nut"), embedded("x", 2, 7))}),
    PutVectors(F, {}, {"hash": embedded("x", 1, 9)}),
    PutVectors(OTHER.fingerprint, {}),
)


class ChangesContract:
    """What a write does."""

    @pytest.mark.parametrize("record", [FULL, memory("x", MINE, title="").record], ids=["full", "bare"])
    def test_a_memory_comes_back_as_it_was_written(self, store: Store, ann: Scope, record: Record) -> None:
        """Every attribute, to the last bit."""
        from scrubjay.store.changes import Prepared

        write(store, ann, PutMemory(Prepared(record, Terms({"x": 1}, 1))))
        with store.reader(ann) as reader:
            assert reader.get([record.id, sample_id("unknown"), "", "obs_", "no id"]) == {record.id: record}
            assert reader.complete(record.id) == [record.id]

    def test_a_memory_of_the_same_id_is_replaced(self, store: Store, ann: Scope) -> None:
        """Its words, vectors, tags, key and status too; nothing of the old one is found."""
        old = memory("jay alpha", MINE, name="m", tags=("old",), vectors={}, recorded_at=5, language="de")
        new = memory("nut beta", "public", name="m", tags=("new",), status="archived", recorded_at=9)
        write(store, ann, PutModel(SMALL))
        write(store, ann, PutMemory(old), PutMemory(memory("other", MINE)))
        write(store, ann, PutVectors(F, {old.record.id: (old.record.content_hash, embedded("old"))}))
        write(store, ann, PutMemory(new))
        with store.reader(ann) as reader:
            assert reader.get([old.record.id]) == {old.record.id: new.record}
            assert reader.frequencies([group("jay"), group("alpha"), group("nut")]) == [0, 0, 1]
            assert reader.words([group("nut")], Where(tags=("old",), statuses=("archived",))).top(5) == []
            assert len(reader.words([group("nut")], Where(tags=("new",), statuses=("archived",))).top(5)) == 1
            assert reader.coverage(F).covered == 0
            assert reader.nearest(F, vector("old"), EVERY).of([old.record.id]) == [None]
            assert (reader.counts().memories, reader.languages()) == (2, ("en",))
            assert "alpha" not in [term for term, _ in reader.similar_terms("alphaa")]

    def test_later_changes_of_a_batch_see_the_earlier_ones(self, store: Store, ann: Scope) -> None:
        """Written twice, embedded, forgotten, dropped: all within one write."""
        first = memory("jay first", MINE, name="twice")
        other = {OTHER.fingerprint: embedded("o", 1, 12)}
        write(
            store, ann,
            PutModel(SMALL), PutSource(source("notes", MINE)),
            PutMemory(first), PutMemory(memory("nut second", MINE, name="twice")),
            PutMemory(memory("nut late", MINE, name="late")),
            PutVectors(F, {sample_id("late"): (text_hash("nut late"), embedded("late"))}),
            PutMemory(memory("nut forgotten", MINE, name="forgotten")), Forget((sample_id("forgotten"),)),
            put_document("notes", "a.md", ["nut passage"], MINE), DropDocument("notes", "a.md"),
            PutModel(OTHER), PutMemory(memory("nut o", MINE, name="o", vectors=other)),
            DropModel(OTHER.fingerprint),
        )  # fmt: skip
        with store.reader(ann) as reader:
            assert reader.frequencies([group("jay"), group("nut")]) == [0, 3]
            assert reader.coverage(F).covered == 1
            assert [state.model for state in reader.models()] == [SMALL]
            assert reader.documents("notes") == {}
            assert reader.forgotten([tombstone_hash(store.secret(ann), "nut forgotten", MINE)]) != set()

    @pytest.mark.parametrize("bad", FAILING, ids=[f"{i}-{type(c).__name__}" for i, c in enumerate(FAILING)])
    def test_a_change_that_fails_takes_the_whole_batch_back(
        self, store: Store, ann: Scope, bad: Change
    ) -> None:
        """Whatever came before it in the batch, nothing of it was written, and the next write succeeds."""
        _small_store(store, ann)
        before = everything(store, ann, QUESTIONS, ("jya",))
        mark = tombstone_hash(store.secret(ann), "jay nut", MINE)
        good: tuple[Change, ...] = (
            PutModel(SMALL, "adding"),
            PutVersions(Versions("2", "2", "2", "2", "2")),
            PutSource(source("more", MINE)),
            PutMemory(memory("jay jay nut", MINE)),
            put_document("notes", "b.md", ["jay"], MINE),
            DropDocument("notes", "a.md"),
            PutVectors(F, {}, {"text": embedded("x")}),
            Forget((sample_id("kept"),)),
        )
        with pytest.raises(ScrubjayError, match=r"Nothing was written\."):
            write(store, ann, *good, bad, PutMemory(memory("jay after", MINE)))
        assert everything(store, ann, QUESTIONS, ("jya",)) == before
        with store.reader(ann) as reader:
            assert reader.cached(F, ["text", "hash"]) == {}
            assert reader.forgotten([mark]) == set()
        write(store, ann, PutMemory(memory("jay after", MINE)))
        with store.reader(ann) as reader:
            assert reader.counts().memories == before["counts"][0] + 1

    def test_ids_that_cannot_be_kept_are_refused(self, store: Store, ann: Scope) -> None:
        """Not an id, an id of another tier, or a number that another memory has in another tier."""
        from dataclasses import replace

        whole = memory("jay", MINE, name="m")
        write(store, ann, PutMemory(whole))
        for bad in ("", "obs_12", "m", sample_id("m", "lesson"), sample_id("m").upper()):
            with pytest.raises(InputError):
                write(store, ann, PutMemory(replace(whole, record=replace(whole.record, id=bad))))
        with pytest.raises(InputError):
            write(store, ann, PutMemory(memory("jay", MINE, name="m", tier="lesson")))
        write(store, ann, Forget((sample_id("m", "lesson"),)))
        with store.reader(ann) as reader:
            assert reader.get([sample_id("m"), sample_id("m", "lesson")]) == {whole.record.id: whole.record}

    def test_forgetting_leaves_a_keyed_hash_and_nothing_else(self, store: Store, ann: Scope) -> None:
        """Text, words, neighbours of typos, vectors, counts, cached texts are gone; the hash tells it."""
        _small_store(store, ann)
        before = everything(store, ann, QUESTIONS, ("zygomaticus",))
        told = "zygomatic jay"
        write(store, ann, PutMemory(memory(told, MINE, name="told", vectors={F: embedded("t")})))
        write(store, ann, PutVectors(F, {}, {text_hash(told): embedded("t")}))
        write(store, ann, Forget((sample_id("told"), sample_id("unknown"))))
        assert everything(store, ann, QUESTIONS, ("zygomaticus",)) == before
        marks = [
            tombstone_hash(store.secret(ann), text, MINE)
            for text in (told, " zygomatic\n\njay ", "jay", "unknown")
        ]
        with store.reader(ann) as reader:
            assert reader.forgotten(marks) == reader.forgotten(iter(marks)) == {marks[0]}
            assert marks[0] == marks[1]
            assert reader.cached(F, [text_hash(told)]) == {}

    def test_a_dropped_memory_leaves_nothing_and_may_come_back(self, store: Store, ann: Scope) -> None:
        """Text, words, vectors, edges and counts are gone; no hash is left. Passages and strangers' stay."""
        _small_store(store, ann)
        bob = Scope(ann.tenant, "bob")
        write(store, bob, PutMemory(memory("jay bob", "user:bob", name="bob")))
        before = everything(store, ann, QUESTIONS, ("zygomaticus",))
        told = "zygomatic jay"
        put = PutMemory(memory(told, MINE, name="told", vectors={F: embedded("t")}))
        write(store, ann, put)
        passage = sample_id("a.md:jay one")
        write(store, ann, DropMemory((sample_id("told"), sample_id("unknown"), passage, sample_id("bob"))))
        assert everything(store, ann, QUESTIONS, ("zygomaticus",)) == before
        with store.reader(ann) as reader:
            assert reader.forgotten([tombstone_hash(store.secret(ann), told, MINE)]) == set()
            assert list(reader.get([passage, sample_id("told")])) == [passage]
        with store.reader(bob) as reader:
            assert list(reader.get([sample_id("bob")])) == [sample_id("bob")]
        write(store, ann, put, DropMemory((sample_id("told"),)), put)
        with store.reader(ann) as reader:
            assert reader.get([sample_id("told")])[sample_id("told")].content == told

    def test_forgetting_a_passage_leaves_its_document(self, store: Store, ann: Scope) -> None:
        """The passages beside it stay where they are."""
        _small_store(store, ann)
        write(store, ann, Forget((sample_id("a.md:jay one"),)))
        with store.reader(ann) as reader:
            assert [p.content for p in reader.passages("notes", "a.md")] == ["jay two"]
            assert list(reader.documents("notes")) == ["a.md"]

    def test_sources_are_put_changed_and_dropped(self, store: Store, ann: Scope) -> None:
        """By root; a dropped one takes its documents and passages along and no other's."""
        one = source(
            "one",
            MINE,
            root="/z",
            include=("*.md",),
            exclude=("x", "y"),
            description="d",
            added_at=3,
            trust="untrusted",
            share=True,
            repositories=((".", "own", "7:9"), ("jay", "foreign", "")),
        )
        write(store, ann, PutSource(one), PutSource(source("two", "public")))
        write(
            store,
            ann,
            put_document("one", "a.md", ["jay one"], MINE),
            put_document("two", "a.md", ["jay"], MINE),
        )
        with store.reader(ann) as reader:
            assert [found.id for found in reader.sources()] == ["two", "one"]
            assert reader.sources()[1] == one
        moved = source("one", MINE, root="/a", synced_at=7, share=None)
        write(store, ann, PutSource(moved))
        with store.reader(ann) as reader:
            assert reader.sources()[0] == moved
            assert list(reader.documents("one")) == ["a.md"]
        write(store, ann, DropSource("one"), DropSource("unknown"))
        with store.reader(ann) as reader:
            assert [found.id for found in reader.sources()] == ["two"]
            assert (reader.counts().memories, reader.counts().documents) == (1, 1)
            assert reader.passages("one", "a.md") == []

    def test_versions_are_stamped(self, store: Store, ann: Scope, bob: Scope) -> None:
        """For the whole tenant, None before the first stamp."""
        write(store, ann, PutMemory(memory("jay", MINE)))
        with store.reader(ann) as reader:
            assert reader.versions() is None
        write(store, ann, PutVersions(VERSIONS))
        for who in (ann, bob):
            with store.reader(who) as reader:
                assert reader.versions() == VERSIONS

    def test_a_store_that_nobody_writes_is_not_busy(self, store: Store, ann: Scope) -> None:
        """A reader who would write on the side may."""
        store.write(ann, [])
        assert not store.busy(ann)

    def test_an_empty_write_and_a_durable_one_succeed(self, store: Store, ann: Scope) -> None:
        """Durable asks for more than the same result, never for another one."""
        store.write(ann, ())
        store.write(ann, [PutMemory(memory("jay", MINE))], durable=True)
        with store.reader(ann) as reader:
            assert reader.counts().memories == 1
        assert store.size() >= 0
