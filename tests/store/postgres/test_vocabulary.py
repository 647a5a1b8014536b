"""Vocabulary: the words of a scope, kept, looked up and compared here."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing

import pytest
from test_snapshots import told

from scrubjay.memory.scope import Scope
from scrubjay.store.changes import Forget, Prepared, PutMemory
from scrubjay.store.postgres.large import USUAL, Large
from scrubjay.store.postgres.store import PostgresStore
from scrubjay.store.spelled import spelled
from scrubjay.testing.store_samples import group, memory, sample_id, write
from scrubjay.text.grams import EDGE, nearest
from scrubjay.text.tokens import Terms

MINE = "user:ann"


@pytest.fixture
def store(request: pytest.FixtureRequest, postgres_url: str) -> Iterator[PostgresStore]:
    large = getattr(request, "param", USUAL)
    with closing(PostgresStore(postgres_url, b"k", large=large)) as opened:
        yield opened


def told_of(name: str, key: str, *words: str) -> Prepared:
    return memory(name, key, name=name, counted=Terms(dict.fromkeys(words, 1), len(words)))


def counts(store: PostgresStore, scope: Scope, *words: str) -> list[int]:
    with store.reader(scope) as reader:
        return reader.frequencies([group(word) for word in words])


def test_all_words_are_read_once_a_second_question_has_others(
    store: PostgresStore, ann: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(store, ann, PutMemory(memory("jay oak acorn nut", MINE)))
    asked = []
    with told(monkeypatch) as sent:
        for words in (["jay"], ["jay"], ["oak", "elm"], ["acorn", "nut", "ash"]):
            assert counts(store, ann, *words) == [int(word not in ("elm", "ash")) for word in words]
            asked.append(sum("FROM term" in one for one in sent))
    assert asked == [1, 1, 2, 2]


@pytest.mark.parametrize("store", [USUAL, Large(0)], ids=["a small scope", "a large scope"], indirect=True)
def test_words_spelled_alike_are_read_once_and_are_those_of_visible_memories(
    store: PostgresStore, ann: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(store, ann, PutMemory(told_of("a", MINE, "harbour", "harbours")))
    write(store, ann, PutMemory(told_of("b", MINE, "harbourage")))
    write(store, Scope(ann.tenant, "bob"), PutMemory(told_of("c", "user:bob", "harbouring")))
    with store.reader(ann) as reader:
        assert [word for word, _ in reader.similar_terms("harbou", 9)] == [
            "harbour",
            "harbours",
            "harbourage",
        ]
    with told(monkeypatch) as sent, store.reader(ann) as reader:
        assert reader.similar_terms("harbour", 9)[0][0] == "harbours"
    assert not [one for one in sent if "FROM term" in one]
    write(store, ann, Forget((sample_id("b"),)))
    with store.reader(ann) as reader:
        assert [word for word, _ in reader.similar_terms("harbou", 9)] == ["harbour", "harbours"]


def test_a_word_may_hold_any_character(store: PostgresStore, ann: Scope) -> None:
    odd = {"a\x00b": 1, "a\x1b0b": 1, f"a{EDGE}b": 1, "a\nb": 1, "jäy😀": 1}
    write(store, ann, PutMemory(memory("odd", MINE, counted=Terms(odd, 5))))
    assert counts(store, ann, "first") == [0]
    assert counts(store, ann, *odd, "a", "b", "a\x1bb") == [1, 1, 1, 1, 1, 0, 0, 0]


def test_the_words_that_are_compared_hold_all_that_are_near() -> None:
    rng = random.Random(1)
    words = {"".join(rng.choices("aboé", k=rng.randint(1, 9))) for _ in range(400)}
    for known in (words, words | {f"ab{EDGE}o"}):
        held = {word: number for number, word in enumerate(sorted(known))}
        for asked in [*sorted(words)[::9], "zz", "", "abab\U0001f600"]:
            assert spelled(held, asked, 5) == list(nearest(asked, known - {asked}, 5))
    assert spelled({}, "ab", 5) == []
