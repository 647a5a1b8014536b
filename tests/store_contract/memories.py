"""Memories: writes, forgetting, atomic batches, and hostile text in every field."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scrubjay.errors import InputError, ScrubjayError, StoreConflictError
from scrubjay.models.ids import EmbeddingModel, text_hash, tombstone_hash
from scrubjay.models.lifecycle import LifecycleChange, changed_fields
from scrubjay.models.records import EventTime, Record, RecordFilter, Scope, Source, StageVersions
from scrubjay.storage.changes import (
    Change,
    DropDocument,
    DropMemory,
    DropModel,
    DropSource,
    Forget,
    PutDocument,
    PutLifecycle,
    PutMemory,
    PutModel,
    PutSource,
    PutVectors,
    PutVersions,
    RequireUnchanged,
)
from scrubjay.storage.interface import Store
from scrubjay.text.tokenizer import Terms
from store_contract.answers import EVERY_STATUS, SampleQuestion, all_answers
from store_contract.samples import (
    ANN_KEY,
    FINGERPRINT,
    OTHER_MODEL,
    SMALL_MODEL,
    VERSIONS,
    put_sample_document,
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

HOSTILE_TEXTS = {
    "quotes": "it's \"quoted\" `ticked` ''",
    "sql": "'; DROP TABLE memory; --",
    "nul": "before\x00after\x00",
    "controls": "\x01\x02\x1b0\x1b1\x1a\x7f\r\n\t",
    "fts": 'NEAR("a" b, 2) OR NOT ^x* {c}: - + "',
    "like": "100%_sure\\",
    "json": '{"a": [1, null]}\\u0000',
    "emoji": "🐦‍⬛ 🏳️‍🌈 e\u0301 \u202eright to left",
    "noncharacters": "\ufffe\uffff\U0010ffff\ufeff\ufdd0",
    "format": "{} %s %(x)s ${x} $1 :name ?1",
    "path": "../../etc/passwd",
    "blank": " \t\n",
    "word": "w" * 10_240,
    "words": "jay\u3000ジェイ 카케스 " * 500,
}


class HostileContract:
    """Every text field takes every text and gives it back."""

    @pytest.fixture(params=list(HOSTILE_TEXTS.values()), ids=list(HOSTILE_TEXTS))
    def text(self, request: pytest.FixtureRequest) -> str:
        """One of the texts."""
        found: str = request.param
        return found

    def test_a_memory_takes_any_text_anywhere(self, store: Store, ann: Scope, text: str) -> None:
        """And is found by it as a tag and as a term."""
        written = sample_memory(
            text, "user:ann", name="m", title=text, heading_path=(text, "h"), tags=(text,), project=text,
            agent=text, session=text, role=text, owner=text, turn=0,
            event=EventTime(1, 2, "day", text), language=text[:9],
            counted=Terms({text: 2, "jay": 1}, 3),
        )  # fmt: skip
        write_changes(store, ann, PutMemory(written), PutMemory(sample_memory("other", "user:ann")))
        with store.reader(ann) as reader:
            assert reader.get([written.record.id]) == {written.record.id: written.record}
            assert [
                h.id for h in reader.words([term_group(text, "jay")], RecordFilter(tags=(text,))).top(5)
            ] == [written.record.id]
            assert reader.frequencies([term_group(text), term_group(f"{text}x")]) == [1, 0]
            assert reader.languages() == tuple(sorted({"en", text[:9]}))
            assert (text, 1.0) not in reader.similar_terms(text)
            reader.similar_terms(f"{text[:20]}z{text[20:]}")
            assert reader.words([term_group("jay")], RecordFilter(path=text, sources=(text,))).top(5) == []
            own = RecordFilter(projects=(text,), agents=(text,), sessions=(text,))
            assert [h.id for h in reader.words([term_group("jay")], own).top(5)] == [written.record.id]
            assert reader.turns(text, 0, 0) == [written.record]

    def test_a_document_takes_any_text_anywhere(self, store: Store, ann: Scope, text: str) -> None:
        """Source, path, title, hash and versions."""
        made = Source(text, text, text, (text, "b"), (text,), "user:ann", 5, None)
        versions = StageVersions(text, text, text, text, text)
        held = replace(sample_document(text, text), title=text, content_hash=text, versions=versions)
        passage = sample_memory("jay", "user:ann", name="p", place=sample_place(text, text, 0))
        write_changes(store, ann, PutSource(made), PutDocument(held, (passage,)), PutVersions(versions))
        with store.reader(ann) as reader:
            assert reader.sources() == [made]
            assert reader.documents(text) == {text: held}
            assert reader.passages(text, text) == [passage.record]
            assert reader.versions() == versions
            assert len(reader.words([term_group("jay")], RecordFilter(sources=(text,))).top(5)) == 1
        write_changes(store, ann, DropDocument(text, text))
        with store.reader(ann) as reader:
            assert reader.documents(text) == {}

    def test_names_take_any_text(self, store: Store, text: str) -> None:
        """Tenant, user, group, model and cache key."""
        odd = Scope(f"{text} tenant", text, (text,))
        model = EmbeddingModel(text, text, text, 8, text)
        vectors = {model.fingerprint: sample_windows("x")}
        write_changes(
            store,
            odd,
            PutModel(model),
            PutMemory(sample_memory("jay", odd.key("group", text), name="g", vectors=vectors)),
        )
        write_changes(store, odd, PutMemory(sample_memory("jay", f"user:{text}", name="u")))
        write_changes(store, odd, PutVectors(model.fingerprint, {}, {text: sample_windows("t")}))
        with store.reader(odd) as reader:
            assert len(reader.words([term_group("jay")], RecordFilter()).top(5)) == 2
            assert [state.model for state in reader.models()] == [model]
            assert list(reader.cached_texts(model.fingerprint, [text, "x"])) == [text]
            assert len(reader.nearest(model.fingerprint, sample_vector("x"), RecordFilter()).top(5)) == 1
        with store.reader(Scope(f"{text} tenant", f"{text}x")) as reader:
            assert reader.counts().memories == 0

    def test_questions_take_any_text(self, store: Store, ann: Scope, text: str) -> None:
        """What is not there is not found, whatever it is spelled like."""
        write_changes(
            store,
            ann,
            PutModel(SMALL_MODEL),
            PutMemory(sample_memory("jay", "user:ann")),
            PutSource(sample_source("notes", "public")),
        )
        with store.reader(ann) as reader:
            assert (reader.get([text]), reader.ids_with_prefix(text), reader.forgotten_hashes([text])) == (
                {},
                [],
                set(),
            )
            assert (reader.documents(text), reader.passages("notes", text)) == ({}, [])
            assert len(reader.pending(text, 5)) == 1
            assert reader.cached_texts(FINGERPRINT, [text]) == {}
            assert reader.words([term_group("jay")], RecordFilter(tags=(text,))).top(5) == []
            assert reader.words([term_group("jay")], RecordFilter(tiers=(text,))).top(5) == []
            assert reader.words([term_group("jay")], RecordFilter(statuses=(text,))).top(5) == []
            for where in (
                RecordFilter(projects=(text,)),
                RecordFilter(agents=(text,)),
                RecordFilter(sessions=(text,)),
            ):
                assert reader.words([term_group("jay")], where).top(5) == []
            assert reader.words([term_group(text)], RecordFilter()).top(5) == []
            assert reader.words([term_group("jay")], RecordFilter()).by_id([text]) == [None]

    def test_any_text_can_be_forgotten(self, store: Store, ann: Scope, text: str) -> None:
        """And stays known as forgotten by its hash alone."""
        write_changes(
            store, ann, PutMemory(sample_memory(text, "user:ann", name="m", counted=Terms({text: 1}, 1)))
        )
        write_changes(store, ann, Forget((sample_id("m"), text)))
        mark = tombstone_hash(store.secret(ann), text, "user:ann")
        with store.reader(ann) as reader:
            assert reader.forgotten_hashes([mark, text_hash(text)]) == {mark}
            assert reader.counts().memories == 0
            assert text not in [term for term, _ in reader.similar_terms(f"{text}x")]

    def test_half_a_character_is_refused(self, store: Store, ann: Scope) -> None:
        """A lone surrogate has no UTF-8: nothing of the write is stored."""
        half = "half \ud83d"
        for bad in (
            PutMemory(sample_memory(half, "user:ann", counted=Terms({"half": 1}, 1))),
            PutMemory(sample_memory("x", "user:ann", tags=(half,))),
            PutMemory(sample_memory("x", "user:ann", heading_path=(half,))),
            PutMemory(sample_memory("x", "user:ann", counted=Terms({half: 1}, 1))),
            PutSource(sample_source(half, "user:ann")),
        ):
            with pytest.raises(InputError, match=r"Nothing was written\."):
                write_changes(store, ann, PutMemory(sample_memory("goes too", "user:ann")), bad)
        with store.reader(ann) as reader:
            assert (reader.counts().memories, reader.sources()) == (0, [])


QUESTIONS = (
    SampleQuestion(
        (term_group("jay"), term_group("nut")), sample_vector("jay"), FINGERPRINT, EVERY_STATUS, 50
    ),
)

FULL_RECORD = Record(
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
    event=EventTime(-62_135_596_800_000_000, 253_402_300_799_999_999, "day", "Europe/Berlin"),
    valid_from=-1,
    valid_until=4_102_444_800_000_000,
    last_used=1_700_000_000_000_003,
)


def _small_store(store: Store, ann: Scope) -> None:
    write_changes(
        store, ann, PutModel(SMALL_MODEL), PutVersions(VERSIONS), PutSource(sample_source("notes", ANN_KEY))
    )
    write_changes(store, ann, put_sample_document("notes", "a.md", ["jay one", "jay two"], ANN_KEY))
    write_changes(
        store,
        ann,
        PutMemory(sample_memory("jay nut", ANN_KEY, name="kept", vectors={FINGERPRINT: sample_windows("k")})),
    )


FAILING_CHANGES: tuple[Change, ...] = (
    PutMemory(sample_memory("jay", "user:bob")),
    PutMemory(sample_memory("jay", ANN_KEY, vectors={FINGERPRINT: sample_windows("x", 1, 9)})),
    PutMemory(sample_memory("jay", ANN_KEY, vectors={OTHER_MODEL.fingerprint: sample_windows("x", 1, 12)})),
    PutMemory(sample_memory("jay", ANN_KEY, place=sample_place("notes", "a.md", 5))),
    PutMemory(sample_memory("jay", ANN_KEY, status="no such status")),
    PutSource(sample_source("else", "group:ops")),
    put_sample_document("unknown", "a.md", ["jay"], ANN_KEY),
    PutVectors(FINGERPRINT, {sample_id("kept"): (text_hash("jay nut"), sample_windows("x", 2, 7))}),
    PutVectors(FINGERPRINT, {}, {"hash": sample_windows("x", 1, 9)}),
    PutVectors(OTHER_MODEL.fingerprint, {}),
    RequireUnchanged({sample_id("unknown"): sample_memory("jay", ANN_KEY).record}),
)


class ChangesContract:
    """What a write does."""

    @pytest.mark.parametrize(
        "record", [FULL_RECORD, sample_memory("x", ANN_KEY, title="").record], ids=["full", "bare"]
    )
    def test_a_memory_comes_back_as_it_was_written(self, store: Store, ann: Scope, record: Record) -> None:
        """Every attribute, to the last bit."""
        from scrubjay.storage.changes import PreparedMemory

        write_changes(store, ann, PutMemory(PreparedMemory(record, Terms({"x": 1}, 1))))
        with store.reader(ann) as reader:
            assert reader.get([record.id, sample_id("unknown"), "", "obs_", "no id"]) == {record.id: record}
            assert reader.ids_with_prefix(record.id) == [record.id]

    def test_a_memory_of_the_same_id_is_replaced(self, store: Store, ann: Scope) -> None:
        """Its words, vectors, tags, key and status too; nothing of the old one is found."""
        old = sample_memory(
            "jay alpha", ANN_KEY, name="m", tags=("old",), vectors={}, recorded_at=5, language="de"
        )
        new = sample_memory("nut beta", "public", name="m", tags=("new",), status="archived", recorded_at=9)
        write_changes(store, ann, PutModel(SMALL_MODEL))
        write_changes(store, ann, PutMemory(old), PutMemory(sample_memory("other", ANN_KEY)))
        write_changes(
            store,
            ann,
            PutVectors(FINGERPRINT, {old.record.id: (old.record.content_hash, sample_windows("old"))}),
        )
        write_changes(store, ann, PutMemory(new))
        with store.reader(ann) as reader:
            assert reader.get([old.record.id]) == {old.record.id: new.record}
            assert reader.frequencies([term_group("jay"), term_group("alpha"), term_group("nut")]) == [
                0,
                0,
                1,
            ]
            assert (
                reader.words([term_group("nut")], RecordFilter(tags=("old",), statuses=("archived",))).top(5)
                == []
            )
            assert (
                len(
                    reader.words(
                        [term_group("nut")], RecordFilter(tags=("new",), statuses=("archived",))
                    ).top(5)
                )
                == 1
            )
            assert reader.coverage(FINGERPRINT).covered == 0
            assert reader.nearest(FINGERPRINT, sample_vector("old"), EVERY_STATUS).by_id([old.record.id]) == [
                None
            ]
            assert (reader.counts().memories, reader.languages()) == (2, ("en",))
            assert "alpha" not in [term for term, _ in reader.similar_terms("alphaa")]

    def test_later_changes_of_a_batch_see_the_earlier_ones(self, store: Store, ann: Scope) -> None:
        """Written twice, embedded, forgotten, dropped: all within one write."""
        first = sample_memory("jay first", ANN_KEY, name="twice")
        other = {OTHER_MODEL.fingerprint: sample_windows("o", 1, 12)}
        write_changes(
            store, ann,
            PutModel(SMALL_MODEL), PutSource(sample_source("notes", ANN_KEY)),
            PutMemory(first), PutMemory(sample_memory("nut second", ANN_KEY, name="twice")),
            PutMemory(sample_memory("nut late", ANN_KEY, name="late")),
            PutVectors(FINGERPRINT, {sample_id("late"): (text_hash("nut late"), sample_windows("late"))}),
            PutMemory(sample_memory("nut forgotten", ANN_KEY, name="forgotten")), Forget((sample_id("forgotten"),)),
            put_sample_document("notes", "a.md", ["nut passage"], ANN_KEY), DropDocument("notes", "a.md"),
            PutModel(OTHER_MODEL), PutMemory(sample_memory("nut o", ANN_KEY, name="o", vectors=other)),
            DropModel(OTHER_MODEL.fingerprint),
        )  # fmt: skip
        with store.reader(ann) as reader:
            assert reader.frequencies([term_group("jay"), term_group("nut")]) == [0, 3]
            assert reader.coverage(FINGERPRINT).covered == 1
            assert [state.model for state in reader.models()] == [SMALL_MODEL]
            assert reader.documents("notes") == {}
            assert (
                reader.forgotten_hashes([tombstone_hash(store.secret(ann), "nut forgotten", ANN_KEY)])
                != set()
            )

    @pytest.mark.parametrize(
        "bad", FAILING_CHANGES, ids=[f"{i}-{type(c).__name__}" for i, c in enumerate(FAILING_CHANGES)]
    )
    def test_a_change_that_fails_takes_the_whole_batch_back(
        self, store: Store, ann: Scope, bad: Change
    ) -> None:
        """Whatever came before it in the batch, nothing of it was written, and the next write succeeds."""
        _small_store(store, ann)
        before = all_answers(store, ann, QUESTIONS, ("jya",))
        mark = tombstone_hash(store.secret(ann), "jay nut", ANN_KEY)
        good: tuple[Change, ...] = (
            PutModel(SMALL_MODEL, "adding"),
            PutVersions(StageVersions("2", "2", "2", "2", "2")),
            PutSource(sample_source("more", ANN_KEY)),
            PutMemory(sample_memory("jay jay nut", ANN_KEY)),
            put_sample_document("notes", "b.md", ["jay"], ANN_KEY),
            DropDocument("notes", "a.md"),
            PutVectors(FINGERPRINT, {}, {"text": sample_windows("x")}),
            Forget((sample_id("kept"),)),
        )
        with pytest.raises(ScrubjayError, match=r"Nothing was written\."):
            write_changes(store, ann, *good, bad, PutMemory(sample_memory("jay after", ANN_KEY)))
        assert all_answers(store, ann, QUESTIONS, ("jya",)) == before
        with store.reader(ann) as reader:
            assert reader.cached_texts(FINGERPRINT, ["text", "hash"]) == {}
            assert reader.forgotten_hashes([mark]) == set()
        write_changes(store, ann, PutMemory(sample_memory("jay after", ANN_KEY)))
        with store.reader(ann) as reader:
            assert reader.counts().memories == before["counts"][0] + 1

    def test_a_write_may_require_that_memories_are_as_they_were_read(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """None is one that is gone, was never there, or is not the writer's to see."""
        addition, hidden = sample_memory("jay", ANN_KEY), sample_memory("owl", "user:bob")
        passage = sample_memory("nut", ANN_KEY, name="p", place=sample_place("notes", "a.md", 0))
        write_changes(store, ann, PutMemory(addition), PutSource(sample_source("notes", ANN_KEY)))
        write_changes(store, ann, PutDocument(sample_document("notes", "a.md"), (passage,)))
        write_changes(store, bob, PutMemory(hidden))
        known = {one.record.id: one.record for one in (addition, passage)}
        absent = dict.fromkeys((sample_id("unknown"), hidden.record.id))
        write_changes(store, ann, RequireUnchanged({**known, **absent}))
        for memory, life in (
            (addition.record.id, LifecycleChange(pinned=True)),
            (passage.record.id, LifecycleChange(strength=0.5)),
        ):
            write_changes(store, ann, PutLifecycle({memory: life}))
            with pytest.raises(StoreConflictError):
                write_changes(store, ann, RequireUnchanged({memory: known[memory]}))
            with pytest.raises(StoreConflictError):
                write_changes(store, ann, RequireUnchanged({memory: None}))
            write_changes(
                store, ann, RequireUnchanged({memory: replace(known[memory], **changed_fields(life))})
            )

    def test_the_use_of_a_memory_since_it_was_read_refuses_no_write(self, store: Store, ann: Scope) -> None:
        addition = sample_memory("jay", ANN_KEY)
        write_changes(store, ann, PutMemory(addition))
        write_changes(store, ann, PutLifecycle({addition.record.id: LifecycleChange(last_used=7)}))
        write_changes(store, ann, RequireUnchanged({addition.record.id: addition.record}))

    def test_ids_that_cannot_be_kept_are_refused(self, store: Store, ann: Scope) -> None:
        """Not an id, an id of another tier, or a number that another memory has in another tier."""
        from dataclasses import replace

        whole = sample_memory("jay", ANN_KEY, name="m")
        write_changes(store, ann, PutMemory(whole))
        for bad in ("", "obs_12", "m", sample_id("m", "lesson"), sample_id("m").upper()):
            with pytest.raises(InputError):
                write_changes(store, ann, PutMemory(replace(whole, record=replace(whole.record, id=bad))))
        with pytest.raises(InputError):
            write_changes(store, ann, PutMemory(sample_memory("jay", ANN_KEY, name="m", tier="lesson")))
        write_changes(store, ann, Forget((sample_id("m", "lesson"),)))
        with store.reader(ann) as reader:
            assert reader.get([sample_id("m"), sample_id("m", "lesson")]) == {whole.record.id: whole.record}

    def test_forgetting_leaves_a_keyed_hash_and_nothing_else(self, store: Store, ann: Scope) -> None:
        """Text, words, neighbours of typos, vectors, counts, cached texts are gone; the hash tells it."""
        _small_store(store, ann)
        before = all_answers(store, ann, QUESTIONS, ("zygomaticus",))
        told = "zygomatic jay"
        write_changes(
            store,
            ann,
            PutMemory(sample_memory(told, ANN_KEY, name="told", vectors={FINGERPRINT: sample_windows("t")})),
        )
        write_changes(store, ann, PutVectors(FINGERPRINT, {}, {text_hash(told): sample_windows("t")}))
        write_changes(store, ann, Forget((sample_id("told"), sample_id("unknown"))))
        assert all_answers(store, ann, QUESTIONS, ("zygomaticus",)) == before
        marks = [
            tombstone_hash(store.secret(ann), text, ANN_KEY)
            for text in (told, " zygomatic\n\njay ", "jay", "unknown")
        ]
        with store.reader(ann) as reader:
            assert reader.forgotten_hashes(marks) == reader.forgotten_hashes(iter(marks)) == {marks[0]}
            assert marks[0] == marks[1]
            assert reader.cached_texts(FINGERPRINT, [text_hash(told)]) == {}

    def test_a_dropped_memory_leaves_nothing_and_may_come_back(self, store: Store, ann: Scope) -> None:
        """Text, words, vectors, edges and counts are gone; no hash is left. Passages and strangers' stay."""
        _small_store(store, ann)
        bob = Scope(ann.tenant, "bob")
        write_changes(store, bob, PutMemory(sample_memory("jay bob", "user:bob", name="bob")))
        before = all_answers(store, ann, QUESTIONS, ("zygomaticus",))
        told = "zygomatic jay"
        put = PutMemory(sample_memory(told, ANN_KEY, name="told", vectors={FINGERPRINT: sample_windows("t")}))
        write_changes(store, ann, put)
        passage = sample_id("a.md:jay one")
        write_changes(
            store, ann, DropMemory((sample_id("told"), sample_id("unknown"), passage, sample_id("bob")))
        )
        assert all_answers(store, ann, QUESTIONS, ("zygomaticus",)) == before
        with store.reader(ann) as reader:
            assert reader.forgotten_hashes([tombstone_hash(store.secret(ann), told, ANN_KEY)]) == set()
            assert list(reader.get([passage, sample_id("told")])) == [passage]
        with store.reader(bob) as reader:
            assert list(reader.get([sample_id("bob")])) == [sample_id("bob")]
        write_changes(store, ann, put, DropMemory((sample_id("told"),)), put)
        with store.reader(ann) as reader:
            assert reader.get([sample_id("told")])[sample_id("told")].content == told

    def test_forgetting_a_passage_leaves_its_document(self, store: Store, ann: Scope) -> None:
        """The passages beside it stay where they are."""
        _small_store(store, ann)
        write_changes(store, ann, Forget((sample_id("a.md:jay one"),)))
        with store.reader(ann) as reader:
            assert [p.content for p in reader.passages("notes", "a.md")] == ["jay two"]
            assert list(reader.documents("notes")) == ["a.md"]

    def test_a_source_is_only_changed_as_it_was_read(self, store: Store, ann: Scope) -> None:
        """With the whole write; one that is gone stays gone."""
        read = replace(
            sample_source("notes", ANN_KEY),
            include=("*.md", "Häher"),
            share=True,
            repositories=((".", "own", "abc"),),
        )
        changed = replace(read, exclude=("x",), synced_at=9)
        write_changes(store, ann, PutSource(read, ()), PutSource(changed, (read,)))
        for stale in ((read,), (), (replace(changed, share=None),), (replace(changed, repositories=None),)):
            with pytest.raises(StoreConflictError, match=r"Nothing was written\."):
                write_changes(store, ann, PutSource(sample_source("more", ANN_KEY)), PutSource(read, stale))
        with store.reader(ann) as reader:
            assert reader.sources() == [changed]
        write_changes(store, ann, DropSource(changed.id))
        with pytest.raises(StoreConflictError):
            write_changes(store, ann, PutSource(changed, (changed,)))
        with store.reader(ann) as reader:
            assert reader.sources() == []

    def test_sources_are_put_changed_and_dropped(self, store: Store, ann: Scope) -> None:
        """By root; a dropped one takes its documents and passages along and no other's."""
        one = sample_source(
            "one",
            ANN_KEY,
            root="/z",
            include=("*.md",),
            exclude=("x", "y"),
            description="d",
            added_at=3,
            trust="untrusted",
            share=True,
            repositories=((".", "own", "7:9"), ("jay", "foreign", "")),
        )
        write_changes(store, ann, PutSource(one), PutSource(sample_source("two", "public")))
        write_changes(
            store,
            ann,
            put_sample_document("one", "a.md", ["jay one"], ANN_KEY),
            put_sample_document("two", "a.md", ["jay"], ANN_KEY),
        )
        with store.reader(ann) as reader:
            assert [found.id for found in reader.sources()] == ["two", "one"]
            assert reader.sources()[1] == one
        moved = sample_source("one", ANN_KEY, root="/a", synced_at=7, share=None)
        write_changes(store, ann, PutSource(moved))
        with store.reader(ann) as reader:
            assert reader.sources()[0] == moved
            assert list(reader.documents("one")) == ["a.md"]
        write_changes(store, ann, DropSource("one"), DropSource("unknown"))
        with store.reader(ann) as reader:
            assert [found.id for found in reader.sources()] == ["two"]
            assert (reader.counts().memories, reader.counts().documents) == (1, 1)
            assert reader.passages("one", "a.md") == []

    def test_versions_are_stamped(self, store: Store, ann: Scope, bob: Scope) -> None:
        """For the whole tenant, None before the first stamp."""
        write_changes(store, ann, PutMemory(sample_memory("jay", ANN_KEY)))
        with store.reader(ann) as reader:
            assert reader.versions() is None
        write_changes(store, ann, PutVersions(VERSIONS))
        for who in (ann, bob):
            with store.reader(who) as reader:
                assert reader.versions() == VERSIONS

    def test_a_write_makes_another_state(self, store: Store, ann: Scope) -> None:
        """What was worked out from a state holds for that state alone."""
        states = []
        for name in ("jay", "crow", "rook"):
            with store.reader(ann) as reader:
                states.append(reader.state)
            write_changes(store, ann, PutMemory(sample_memory(name, ANN_KEY)))
        assert len(set(states)) == 3

    def test_a_store_that_nobody_writes_is_not_busy(self, store: Store, ann: Scope) -> None:
        """A reader who would write on the side may."""
        store.write(ann, [])
        assert not store.busy(ann)

    def test_an_empty_write_and_a_durable_one_succeed(self, store: Store, ann: Scope) -> None:
        """Durable asks for more than the same result, never for another one."""
        store.write(ann, ())
        store.write(ann, [PutMemory(sample_memory("jay", ANN_KEY))], durable=True)
        with store.reader(ann) as reader:
            assert reader.counts().memories == 1
        assert store.size() >= 0
        store.check_writable()
