"""What the viewers of a key call things, as texts teach it and as the store changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.entities.dictionary import DictionaryCache, EntityDictionary, cached_dictionary
from scrubjay.entities.normalization import normalize_name
from scrubjay.models.graph import Entity, entity_to_row, merge_entities
from scrubjay.models.records import Record, Scope
from scrubjay.storage.changes import PutConcept
from scrubjay.storage.interface import Store
from scrubjay.storage.urls import open_store
from store_contract.samples import sample_concept, sample_memory, write_changes

OWN = "user:ann"


def record(text: str, **fields: object) -> Record:
    return sample_memory(text, OWN, **fields).record


def referred(words: EntityDictionary, text: str) -> set[str]:
    return {edge.dst for edge in words.references(record(text), 0)}


def learnt(words: EntityDictionary, *texts: str) -> list[str]:
    def never(names: Sequence[str]) -> list[int]:
        return [0] * len(names)

    taught = words.discover([record(text) for text in texts], b"secret", OWN, 0, never)
    words.add(taught)
    return [row.name for row in taught]


def renewed(words: EntityDictionary, *rows: Entity) -> EntityDictionary:
    return words.updated([entity_to_row(row) for row in rows])


KAYAK = sample_concept("kayak", OWN, aliases=("canoe",))
TENT = sample_concept("tent", "public")


def test_a_memory_refers_to_what_it_names_by_name_alias_or_tag() -> None:
    words = EntityDictionary([KAYAK, TENT])
    assert referred(words, "two canoes and a TENT") == {KAYAK.id, TENT.id}
    assert {edge.dst for edge in words.references(record("wet", tags=("tent",)), 0)} == {TENT.id}


def test_the_weight_grows_with_every_mention() -> None:
    words = EntityDictionary([KAYAK])
    weights = [words.references(record("kayak " * times), 0)[0].weight for times in (1, 2, 3)]
    assert weights == [0.5, 0.75, 0.875]


@pytest.mark.parametrize("read_before", [False, True])
def test_concepts_that_are_added_later_are_found_as_if_they_had_been_there(read_before: bool) -> None:
    rows = [sample_concept(letter * 3, OWN, aliases=(letter * 4,)) for letter in "cdefghijklmnop"]
    text = " ".join(name for row in rows for name in (row.name, *row.aliases))
    grown = EntityDictionary([KAYAK])
    for row in rows:
        if read_before:
            grown.references(record(text), 0)
        grown.add([row])
    assert grown.references(record(text), 0) == EntityDictionary([KAYAK, *rows]).references(record(text), 0)


@pytest.mark.parametrize("read_before", [False, True])
def test_an_alias_that_another_concept_has_does_not_find_the_one_that_comes_later(read_before: bool) -> None:
    words = EntityDictionary([KAYAK])
    if read_before:
        words.references(record("kayak"), 0)
    boat = sample_concept("boat", OWN, aliases=("kayak", "skiff"))
    words = renewed(words, KAYAK, boat)
    assert referred(words, "a kayak") == {KAYAK.id}
    assert referred(words, "a skiff") == {boat.id}
    assert words.means("Kayak") == KAYAK.id


def test_a_name_goes_before_anothers_alias_whenever_it_comes() -> None:
    boat = sample_concept("boat", OWN, aliases=("kayak",))
    words = EntityDictionary([boat])
    assert referred(words, "a kayak") == {boat.id}
    words = renewed(words, boat, KAYAK)
    assert referred(words, "a kayak") == {KAYAK.id}
    assert words.means("kayak") == KAYAK.id


def refused(row: Entity, key: str) -> Entity:
    return replace(row, key=key, kind="refused")


def test_a_refused_concept_is_not_referred_to_whoever_knows_it_still() -> None:
    words = EntityDictionary([TENT])
    assert referred(words, "a tent") == {TENT.id}
    words = renewed(words, TENT, refused(TENT, OWN))
    assert referred(words, "a tent") == set()
    assert referred(EntityDictionary([TENT, refused(TENT, OWN)]), "a tent") == set()
    words = renewed(words, TENT, refused(TENT, OWN), refused(KAYAK, OWN))
    assert referred(words, "a kayak") == set()


def test_a_row_of_another_key_adds_its_names_and_no_second_mention() -> None:
    words = EntityDictionary([TENT])
    words.references(record("a tent"), 0)
    words = renewed(words, TENT, replace(TENT, key=OWN, name="tarp"))
    (edge,) = words.references(record("a tent"), 0)
    assert (edge.dst, edge.weight) == (TENT.id, 0.5)
    assert referred(words, "a tarp") == {TENT.id}


def test_a_refused_name_is_not_learnt_again_in_the_singular_or_the_plural() -> None:
    text = "see [[Kiel Canal]] and [[Old Port]]"
    assert learnt(EntityDictionary([]), text) == ["Kiel Canal", "Old Port"]
    words = EntityDictionary([refused(sample_concept("Kiel Canals", OWN, aliases=("Old Port",)), OWN)])
    assert learnt(words, text) == []


def test_what_is_known_is_not_learnt_twice() -> None:
    words = EntityDictionary([])
    assert learnt(words, "see [[Kiel Canal]]") == ["Kiel Canal"]
    assert learnt(words, "see [[kiel canal]]") == []
    assert len(referred(words, "the Kiel Canal")) == 1


def test_a_renamed_concept_is_found_by_its_new_name_alone_and_a_dropped_one_not_at_all() -> None:
    words = EntityDictionary([KAYAK, TENT])
    assert referred(words, "a kayak, a canoe, a tent") == {KAYAK.id, TENT.id}
    later = renewed(words, replace(KAYAK, name="ferry", aliases=()))
    assert [referred(later, text) for text in ("a canoe", "a kayak", "two ferries", "a tent")] == [
        set(),
        set(),
        {KAYAK.id},
        set(),
    ]
    assert (later.means("kayak"), later.means("tent"), later.means("Ferry")) == (None, None, KAYAK.id)
    assert referred(words, "a kayak, a canoe, a tent, a ferry") == {KAYAK.id, TENT.id}


NAMES = st.sampled_from(
    ("crate", "Crates", "memory", "memories", "Go", "IT", "it", "Docker", "docker compose", "Docker-Compose",
     "東京", "東京 tests", "class", "classes", "yes", "eye")
)  # fmt: skip
ROWS = st.builds(
    lambda at, key, name, aliases, kind: Entity(
        f"con_{at}", key, name, tuple(sorted({*aliases} - {name})), kind
    ),
    st.integers(0, 4),
    st.sampled_from(("public", OWN)),
    NAMES,
    st.sets(NAMES, max_size=2),
    st.sampled_from(("given", "name", "page", "code", "refused")),
)
STATES = st.lists(st.lists(ROWS, max_size=6, unique_by=lambda row: (row.id, row.key)), min_size=1, max_size=4)
EVERYTHING = (
    "crate crates. Memory, memories! go Go [[Go]] it IT (docker) Docker-compose 東京 東京 test, class classes"
)


def known(rows: Sequence[Entity]) -> dict[str, str]:
    """Return what each name means, worked out for all names at once."""
    shown = {concept.id for concept in merge_entities(rows)}
    found: dict[str, str] = {}
    for hidden in (False, True):
        ranked = sorted((row for row in rows if (row.id not in shown) == hidden), key=lambda row: row.id)
        spellings = [(row.name, row.id) for row in ranked]
        for name, owner in spellings + [(alias, row.id) for row in ranked for alias in row.aliases]:
            found.setdefault(normalize_name(name), owner)
    return found


@given(STATES, st.lists(NAMES, max_size=9).map(" ".join))
@settings(max_examples=150, deadline=None)
def test_however_it_came_to_be_a_lexicon_finds_and_means_what_one_made_of_the_same_rows_does(
    states: list[list[Entity]], text: str
) -> None:
    words = EntityDictionary()
    for rows in states:
        words = renewed(words, *rows)
        meanings = known(rows)
        assert {name: words.means(name) for name in meanings} == meanings
        for said in (EVERYTHING, text):
            plain = EntityDictionary(rows).match(said)
            assert {e.dst: e.weight for e in words.references(record(said), 0)} == {
                mention.concept: 1 - 0.5**mention.count for mention in plain
            }


SCOPE = Scope("default", "ann")


def now(store: Store, kept: DictionaryCache) -> EntityDictionary:
    with store.reader(SCOPE) as reader:
        return cached_dictionary(reader, OWN, kept)


def test_what_a_call_learnt_is_taken_over_when_the_store_holds_it_and_nothing_else_is_new() -> None:
    store = open_store("memory://")
    kept: DictionaryCache = {}
    first = now(store, kept)
    heir = first.extended([KAYAK])
    first.set_successor(kept[OWN][0] + 1, [KAYAK], heir)
    assert now(store, kept) is first
    write_changes(store, SCOPE, PutConcept(KAYAK))
    assert now(store, kept) is heir
    assert referred(now(store, kept), "a kayak") == {KAYAK.id}
    assert referred(first, "a kayak") == set()


@pytest.mark.parametrize("others", [(TENT,), (TENT, KAYAK)], ids=["instead", "beside"])
def test_what_a_call_learnt_is_given_up_when_something_else_was_written(others: tuple[Entity, ...]) -> None:
    store = open_store("memory://")
    kept: DictionaryCache = {}
    first = now(store, kept)
    first.set_successor(kept[OWN][0] + 1, [KAYAK], first.extended([KAYAK]))
    write_changes(store, SCOPE, *(PutConcept(replace(row, key=OWN)) for row in others))
    assert referred(now(store, kept), "a kayak and a tent") == {row.id for row in others}
