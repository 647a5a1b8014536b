"""Vocabulary: the words of a scope, kept, looked up and compared here."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing

import pytest
from test_snapshots import told

from scrubjay.models.records import Scope
from scrubjay.storage.changes import Forget, PreparedMemory, PutMemory
from scrubjay.storage.postgres.store import PostgresStore
from scrubjay.storage.postgres.tenant_index import DEFAULT_LIMITS, LargeTenantLimits
from scrubjay.storage.scoring import similar_words
from scrubjay.text.tokenizer import WORD_EDGE, Terms, nearest_terms
from store_contract.samples import sample_id, sample_memory, term_group, write_changes

MINE = "user:ann"


@pytest.fixture
def store(request: pytest.FixtureRequest, postgres_url: str) -> Iterator[PostgresStore]:
    large = getattr(request, "param", DEFAULT_LIMITS)
    with closing(PostgresStore(postgres_url, b"k", large=large)) as opened:
        yield opened


def told_of(name: str, key: str, *words: str) -> PreparedMemory:
    return sample_memory(name, key, name=name, counted=Terms(dict.fromkeys(words, 1), len(words)))


def counts(store: PostgresStore, scope: Scope, *words: str) -> list[int]:
    with store.reader(scope) as reader:
        return reader.frequencies([term_group(word) for word in words])


def test_all_words_are_read_once_a_second_question_has_others(
    store: PostgresStore, ann: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_changes(store, ann, PutMemory(sample_memory("jay oak acorn nut", MINE)))
    asked = []
    with told(monkeypatch) as sent:
        for words in (["jay"], ["jay"], ["oak", "elm"], ["acorn", "nut", "ash"]):
            assert counts(store, ann, *words) == [int(word not in ("elm", "ash")) for word in words]
            asked.append(sum("FROM term" in one for one in sent))
    assert asked == [1, 1, 2, 2]


@pytest.mark.parametrize(
    "store", [DEFAULT_LIMITS, LargeTenantLimits(0)], ids=["a small scope", "a large scope"], indirect=True
)
def test_words_spelled_alike_are_read_once_and_are_those_of_visible_memories(
    store: PostgresStore, ann: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_changes(store, ann, PutMemory(told_of("a", MINE, "harbour", "harbours")))
    write_changes(store, ann, PutMemory(told_of("b", MINE, "harbourage")))
    write_changes(store, Scope(ann.tenant, "bob"), PutMemory(told_of("c", "user:bob", "harbouring")))
    with store.reader(ann) as reader:
        assert [word for word, _ in reader.similar_terms("harbou", 9)] == [
            "harbour",
            "harbours",
            "harbourage",
        ]
    with told(monkeypatch) as sent, store.reader(ann) as reader:
        assert reader.similar_terms("harbour", 9)[0][0] == "harbours"
    assert not [one for one in sent if "FROM term" in one]
    write_changes(store, ann, Forget((sample_id("b"),)))
    with store.reader(ann) as reader:
        assert [word for word, _ in reader.similar_terms("harbou", 9)] == ["harbour", "harbours"]


def test_a_word_may_hold_any_character(store: PostgresStore, ann: Scope) -> None:
    odd = {"a\x00b": 1, "a\x1b0b": 1, f"a{WORD_EDGE}b": 1, "a\nb": 1, "jäy😀": 1}
    write_changes(store, ann, PutMemory(sample_memory("odd", MINE, counted=Terms(odd, 5))))
    assert counts(store, ann, "first") == [0]
    assert counts(store, ann, *odd, "a", "b", "a\x1bb") == [1, 1, 1, 1, 1, 0, 0, 0]


def test_the_words_that_are_compared_hold_all_that_are_near() -> None:
    rng = random.Random(1)
    words = {"".join(rng.choices("aboé", k=rng.randint(1, 9))) for _ in range(400)}
    for known in (words, words | {f"ab{WORD_EDGE}o"}):
        held = {word: number for number, word in enumerate(sorted(known))}
        for asked in [*sorted(words)[::9], "zz", "", "abab\U0001f600"]:
            assert similar_words(held, asked, 5) == list(nearest_terms(asked, known - {asked}, 5))
    assert similar_words({}, "ab", 5) == []
