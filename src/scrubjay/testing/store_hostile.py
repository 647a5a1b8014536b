"""Hostile: texts that mean something to a database, a query language or a path, in every field."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scrubjay.errors import InputError
from scrubjay.memory.ids import text_hash, tombstone_hash
from scrubjay.memory.models import Model
from scrubjay.memory.records import Source, Versions, When, Where
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store
from scrubjay.store.changes import (
    DropDocument,
    Forget,
    PutDocument,
    PutMemory,
    PutModel,
    PutSource,
    PutVectors,
    PutVersions,
)
from scrubjay.testing.store_samples import (
    SMALL,
    document,
    embedded,
    group,
    memory,
    place,
    sample_id,
    source,
    vector,
    write,
)
from scrubjay.text.tokens import Terms

F = SMALL.fingerprint
HOSTILE = {
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

    @pytest.fixture(params=list(HOSTILE.values()), ids=list(HOSTILE))
    def text(self, request: pytest.FixtureRequest) -> str:
        """One of the texts."""
        found: str = request.param
        return found

    def test_a_memory_takes_any_text_anywhere(self, store: Store, ann: Scope, text: str) -> None:
        """And is found by it as a tag and as a term."""
        written = memory(
            text, "user:ann", name="m", title=text, heading_path=(text, "h"), tags=(text,), project=text,
            agent=text, session=text, role=text, owner=text, abstract=text, overview=text, turn=0,
            event=When(1, 2, "day", text), language=text[:9],
            counted=Terms({text: 2, "jay": 1}, 3),
        )  # fmt: skip
        write(store, ann, PutMemory(written), PutMemory(memory("other", "user:ann")))
        with store.reader(ann) as reader:
            assert reader.get([written.record.id]) == {written.record.id: written.record}
            assert [h.id for h in reader.words([group(text, "jay")], Where(tags=(text,))).top(5)] == [
                written.record.id
            ]
            assert reader.frequencies([group(text), group(f"{text}x")]) == [1, 0]
            assert reader.languages() == tuple(sorted({"en", text[:9]}))
            assert (text, 1.0) not in reader.similar_terms(text)
            reader.similar_terms(f"{text[:20]}z{text[20:]}")
            assert reader.words([group("jay")], Where(path=text, sources=(text,))).top(5) == []
            own = Where(projects=(text,), agents=(text,), sessions=(text,))
            assert [h.id for h in reader.words([group("jay")], own).top(5)] == [written.record.id]
            assert reader.turns(text, 0, 0) == [written.record]

    def test_a_document_takes_any_text_anywhere(self, store: Store, ann: Scope, text: str) -> None:
        """Source, path, title, hash and versions."""
        made = Source(text, text, text, (text, "b"), (text,), "user:ann", 5, None)
        versions = Versions(text, text, text, text, text)
        held = replace(document(text, text), title=text, content_hash=text, versions=versions)
        passage = memory("jay", "user:ann", name="p", place=place(text, text, 0))
        write(store, ann, PutSource(made), PutDocument(held, (passage,)), PutVersions(versions))
        with store.reader(ann) as reader:
            assert reader.sources() == [made]
            assert reader.documents(text) == {text: held}
            assert reader.passages(text, text) == [passage.record]
            assert reader.versions() == versions
            assert len(reader.words([group("jay")], Where(sources=(text,))).top(5)) == 1
        write(store, ann, DropDocument(text, text))
        with store.reader(ann) as reader:
            assert reader.documents(text) == {}

    def test_names_take_any_text(self, store: Store, text: str) -> None:
        """Tenant, user, group, model and cache key."""
        odd = Scope(f"{text} tenant", text, (text,))
        model = Model(text, text, text, 8, text)
        vectors = {model.fingerprint: embedded("x")}
        write(
            store,
            odd,
            PutModel(model),
            PutMemory(memory("jay", odd.key("group", text), name="g", vectors=vectors)),
        )
        write(store, odd, PutMemory(memory("jay", f"user:{text}", name="u")))
        write(store, odd, PutVectors(model.fingerprint, {}, {text: embedded("t")}))
        with store.reader(odd) as reader:
            assert len(reader.words([group("jay")], Where()).top(5)) == 2
            assert [state.model for state in reader.models()] == [model]
            assert list(reader.cached(model.fingerprint, [text, "x"])) == [text]
            assert len(reader.nearest(model.fingerprint, vector("x"), Where()).top(5)) == 1
        with store.reader(Scope(f"{text} tenant", f"{text}x")) as reader:
            assert reader.counts().memories == 0

    def test_questions_take_any_text(self, store: Store, ann: Scope, text: str) -> None:
        """What is not there is not found, whatever it is spelled like."""
        write(
            store,
            ann,
            PutModel(SMALL),
            PutMemory(memory("jay", "user:ann")),
            PutSource(source("notes", "public")),
        )
        with store.reader(ann) as reader:
            assert (reader.get([text]), reader.complete(text), reader.forgotten([text])) == ({}, [], set())
            assert (reader.documents(text), reader.passages("notes", text)) == ({}, [])
            assert len(reader.waiting(text, 5)) == 1
            assert reader.cached(F, [text]) == {}
            assert reader.words([group("jay")], Where(tags=(text,))).top(5) == []
            assert reader.words([group("jay")], Where(tiers=(text,))).top(5) == []
            assert reader.words([group("jay")], Where(statuses=(text,))).top(5) == []
            for where in (Where(projects=(text,)), Where(agents=(text,)), Where(sessions=(text,))):
                assert reader.words([group("jay")], where).top(5) == []
            assert reader.words([group(text)], Where()).top(5) == []
            assert reader.words([group("jay")], Where()).of([text]) == [None]

    def test_any_text_can_be_forgotten(self, store: Store, ann: Scope, text: str) -> None:
        """And stays known as forgotten by its hash alone."""
        write(store, ann, PutMemory(memory(text, "user:ann", name="m", counted=Terms({text: 1}, 1))))
        write(store, ann, Forget((sample_id("m"), text)))
        mark = tombstone_hash(store.secret(ann), text, "user:ann")
        with store.reader(ann) as reader:
            assert reader.forgotten([mark, text_hash(text)]) == {mark}
            assert reader.counts().memories == 0
            assert text not in [term for term, _ in reader.similar_terms(f"{text}x")]

    def test_half_a_character_is_refused(self, store: Store, ann: Scope) -> None:
        """A lone surrogate has no UTF-8: nothing of the write is stored."""
        half = "half \ud83d"
        for bad in (
            PutMemory(memory(half, "user:ann", counted=Terms({"half": 1}, 1))),
            PutMemory(memory("x", "user:ann", tags=(half,))),
            PutMemory(memory("x", "user:ann", abstract=half)),
            PutMemory(memory("x", "user:ann", overview=half)),
            PutMemory(memory("x", "user:ann", heading_path=(half,))),
            PutMemory(memory("x", "user:ann", counted=Terms({half: 1}, 1))),
            PutSource(source(half, "user:ann")),
        ):
            with pytest.raises(InputError, match=r"Nothing was written\."):
                write(store, ann, PutMemory(memory("goes too", "user:ann")), bad)
        with store.reader(ann) as reader:
            assert (reader.counts().memories, reader.sources()) == (0, [])
