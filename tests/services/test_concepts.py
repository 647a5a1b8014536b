"""The dictionary: what a person adds, merges, renames and removes, and what memories then refer to."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reference_store.store import ReferenceStore
from scrubjay import Memory
from scrubjay.entities import edits
from scrubjay.errors import InputError, NotFoundError, ScrubjayError, SourceError
from scrubjay.models.records import STATUSES, Scope
from scrubjay.storage.changes import PutConcept, PutMemory
from scrubjay.storage.sqlite.store import SQLiteStore
from scrubjay.storage.urls import open_store
from store_contract.samples import sample_concept, sample_id
from store_contract.samples import sample_memory as sample


@pytest.fixture
def memory(opened: Callable[..., Memory]) -> Memory:
    return opened()


def names(memory: Memory) -> dict[str, tuple[str, ...]]:
    return {known.name: known.aliases for known in memory.concepts.list()}


def referring(memory: Memory, name: str) -> set[str]:
    return {place.id for place in memory.concepts.show(name).memories}


def test_an_added_concept_is_listed_and_links_the_memories_that_name_it_or_an_alias(memory: Memory) -> None:
    one = memory.add("we moved the shop to k8s")
    two = memory.add("the kubernetes bill is high")
    memory.add("the bakery is closed")
    done = memory.concepts.add("Kubernetes", ["k8s"])
    assert (done.added, done.changed, done.linked, done.refused, done.clashes) == (1, 0, 2, (), ())
    (known,) = memory.concepts.list()
    assert (known.name, known.aliases, known.kind, known.memories) == ("Kubernetes", ("k8s",), "given", 2)
    assert referring(memory, "K8S") == {one.id, two.id}


def test_memories_that_come_later_refer_to_an_added_concept(memory: Memory) -> None:
    memory.concepts.add("kayak")
    added = memory.add("two kayaks leak")
    assert referring(memory, "kayak") == {added.id}


def test_adding_what_is_there_gives_it_aliases_and_makes_no_twin(memory: Memory) -> None:
    memory.concepts.add("Kubernetes", ["k8s"])
    memory.add("the kube cluster is down")
    assert (done := memory.concepts.add("kubernetes", ["kube"])).added == 0
    assert (done.changed, done.linked) == (1, 1)
    assert memory.concepts.add("K8s", ["kubes"]).changed == 1
    assert names(memory) == {"Kubernetes": ("k8s", "kube", "kubes")}


def test_adding_the_same_again_changes_and_links_nothing(memory: Memory) -> None:
    memory.add("the kayak leaks")
    memory.concepts.add("kayak", ["canoe"])
    done = memory.concepts.add("kayak", ["canoe"])
    assert (done.added, done.changed, done.linked) == (0, 0, 0)


def test_a_found_concept_that_a_person_adds_is_given_and_spelt_as_they_do(memory: Memory) -> None:
    memory.add("see [[kiel canal]] for the way")
    assert [known.kind for known in memory.concepts.list(query="kiel")] == ["page"]
    memory.concepts.add("Kiel Canal")
    assert [(known.name, known.kind) for known in memory.concepts.list(query="kiel")] == [
        ("Kiel Canal", "given")
    ]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("the", "common word"),
        (" ", "no letter"),
        ("123", "only digits"),
        ("x" * 101, "101 characters"),
        ("a\x1bb", "control character"),
        ("half \ud800", "an unpaired surrogate"),
        ("ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "secret"),
    ],
)
def test_what_cannot_be_a_name_is_refused_with_the_reason(memory: Memory, name: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        memory.concepts.add(name)
    with pytest.raises(InputError, match=why):
        memory.concepts.add("Kubernetes", [name])
    memory.concepts.add("kayak")
    with pytest.raises(InputError, match=why):
        memory.concepts.rename("kayak", name)
    assert names(memory) == {"kayak": ()}


def test_one_text_instead_of_a_list_of_aliases_is_refused(memory: Memory) -> None:
    with pytest.raises(InputError, match="give a list"):
        memory.concepts.add("Kubernetes", "k8s")
    with pytest.raises(InputError, match="neither a name nor a list"):
        memory.concepts.add_many(["kayak", 7])  # type: ignore[list-item]
    assert names(memory) == {}


def test_of_many_rows_those_that_cannot_be_are_told_and_the_rest_is_taken(memory: Memory) -> None:
    done = memory.concepts.add_many(
        ["kayak", ["Kubernetes", "k8s", "the"], "123", ("tent",), "Kayak", []][:5]
    )
    assert (done.added, [name for name, _ in done.refused]) == (3, ["the", "123"])
    assert names(memory) == {"kayak": (), "Kubernetes": ("k8s",), "tent": ()}


def test_an_alias_that_means_another_concept_is_said_and_both_stay(memory: Memory) -> None:
    memory.concepts.add("Docker")
    added = memory.add("docker is slow")
    done = memory.concepts.add("Moby", ["docker"])
    assert done.clashes == ('"docker" already means Docker, so it does not find Moby.',)
    assert referring(memory, "docker") == referring(memory, "Docker") == {added.id}
    assert referring(memory, "Moby") == set()


def test_merged_concepts_are_one_with_all_names_and_all_memories(memory: Memory) -> None:
    memory.concepts.add_many([["Kubernetes", "kube"], ["k8s", "kates"]])
    both = memory.add("kubernetes, which is k8s")
    one = memory.add("k8s again")
    kept = memory.concepts.merge("K8S", "Kubernetes")
    assert (kept.name, kept.aliases, kept.memories) == ("Kubernetes", ("k8s", "kates", "kube"), 2)
    assert referring(memory, "kates") == {both.id, one.id}
    assert names(memory) == {"Kubernetes": ("k8s", "kates", "kube")}
    later = memory.add("kates has come")
    assert later.id in referring(memory, "Kubernetes")


def test_a_merge_adds_the_mentions_of_both_names(memory: Memory) -> None:
    memory.concepts.add_many(["kayak", "canoe"])
    memory.add("canoe, canoe")
    most = memory.add("kayak, kayak, or one canoe")
    assert memory.concepts.show("canoe").memories[0].id != most.id
    memory.concepts.merge("canoe", "kayak")
    assert memory.concepts.show("kayak").memories[0].id == most.id


def test_a_concept_is_not_merged_into_itself_nor_with_what_is_not_there(memory: Memory) -> None:
    memory.concepts.add("kayak", ["canoe"])
    with pytest.raises(InputError, match="one concept already"):
        memory.concepts.merge("kayak", "CANOE")
    for pair in (("kayak", "tent"), ("tent", "kayak")):
        with pytest.raises(NotFoundError, match="'tent'"):
            memory.concepts.merge(*pair)
    assert names(memory) == {"kayak": ("canoe",)}


def test_a_renamed_concept_keeps_its_id_its_old_name_and_its_memories(memory: Memory) -> None:
    memory.concepts.add("kayak")
    one = memory.add("the kayak leaks")
    two = memory.add("a baidarka is light")
    before = memory.concepts.show("kayak").concept
    after = memory.concepts.rename("kayak", "baidarka")
    assert (after.id, after.name, after.aliases, after.kind) == (before.id, "baidarka", ("kayak",), "given")
    assert referring(memory, "kayak") == {one.id, two.id}
    assert memory.concepts.rename("baidarka", "kayak").aliases == ("baidarka",)


def test_a_found_concept_that_is_renamed_is_given(memory: Memory) -> None:
    memory.add("see [[kiel canal]]")
    assert memory.concepts.rename("kiel canal", "NOK").kind == "given"


def test_a_memory_that_gets_more_mentions_is_not_counted_as_linked_again(memory: Memory) -> None:
    memory.add("a kayak, a kayak")
    more = memory.add("a kayak, a canoe, a canoe")
    memory.concepts.add("kayak")
    assert memory.concepts.show("kayak").memories[0].id != more.id
    assert memory.concepts.add("kayak", ["canoe"]).linked == 0
    assert memory.concepts.show("kayak").memories[0].id == more.id


def test_a_name_that_another_concept_bears_is_not_taken(memory: Memory) -> None:
    memory.concepts.add_many([["kayak", "canoe"], "tent"])
    with pytest.raises(InputError, match="already means kayak") as raised:
        memory.concepts.rename("tent", "Canoe")
    assert "concepts merge" in raised.value.hint
    assert names(memory) == {"kayak": ("canoe",), "tent": ()}


def test_a_removed_concept_is_gone_from_lists_relations_and_lookups(memory: Memory) -> None:
    memory.concepts.add_many(["kayak", "tent"])
    for n in range(3):
        memory.add(f"kayak and tent, trip {n}")
    assert [near.name for near in memory.concepts.show("tent").related] == ["kayak"]
    assert memory.concepts.remove("kayak").memories == 3
    assert names(memory) == {"tent": ()}
    assert memory.concepts.show("tent").related == ()
    with pytest.raises(NotFoundError):
        memory.concepts.show("kayak")


def test_a_removed_concept_is_not_found_again_until_it_is_added(opened: Callable[..., Memory]) -> None:
    memory = opened()
    memory.add("see [[Kiel Canal]] one")
    memory.concepts.remove("Kiel Canal")
    for again in (memory, opened()):
        again.add("see [[Kiel Canal]] and [[kiel canals]] two")
        assert again.concepts.list(query="kiel") == ()
    assert memory.concepts.add("kiel canal").added == 1
    assert memory.concepts.show("kiel canal").concept.memories == 2


def test_a_list_is_cut_and_searched_by_parts_of_names(memory: Memory) -> None:
    memory.concepts.add_many([["Kubernetes", "k8s"], "tent", "kayak"])
    memory.add("the tent is wet")
    assert [known.name for known in memory.concepts.list()] == ["tent", "kayak", "Kubernetes"]
    assert [known.name for known in memory.concepts.list(limit=1)] == ["tent"]
    assert [known.name for known in memory.concepts.list(query="K8")] == ["Kubernetes"]
    with pytest.raises(InputError):
        memory.concepts.list(limit=0)


def test_a_dictionary_file_is_taken_line_by_line(memory: Memory, tmp_path: Path) -> None:
    memory.add("k8s, R&D, C++ and the (odd) one")
    file = tmp_path / "terms.csv"
    file.write_bytes(
        b"\xef\xbb\xbf# tools\r\nKubernetes, k8s ,, kube\r\n\r\n"
        b'"R&D, all of it", R&D\n  # more\nC++, .*+?[]\n"#general", general chat\n'
        b'"open, quote\nKUBERNETES, k8s\nna\xefve\nthe, who\ntent'
    )
    done = memory.concepts.add_file(file)
    assert names(memory) == {
        "Kubernetes": ("k8s", "kube"),
        "R&D, all of it": ("R&D",),
        "C++": (),
        "#general": ("general chat",),
        "tent": (),
    }
    told = [name for name, _ in done.refused]
    assert told == ["line 8", "line 10", "line 6: .*+?[]", "line 11: the"]
    assert (done.added, done.linked) == (5, 1)


def test_a_file_that_cannot_be_read_writes_nothing(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="Nothing was written"):
        memory.concepts.add_file(tmp_path / "none.csv")
    with pytest.raises(SourceError):
        memory.concepts.add_file(tmp_path)


@pytest.mark.parametrize("few", [0, 200])
def test_many_names_are_looked_for_in_every_memory_and_few_by_their_words(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(edits, "FEW_MEMORIES", 0)
    monkeypatch.setattr(edits, "READ_BATCH", 2)
    monkeypatch.setattr(edits, "FEW_NAMES", few)
    texts = [
        "docker compose up",
        "Docker-Compose",
        "dockers",
        "two policies",
        "Café 5",
        "東京タワー",
        "nothing",
    ]
    ids = [memory.add(text).id for text in texts]
    done = memory.concepts.add_many(["docker-compose", "policy", "cafe", "東京"])
    assert done.linked == 5
    assert referring(memory, "docker-compose") == set(ids[:2])


@pytest.mark.parametrize("little", [0, 2_000])
def test_memories_of_every_status_are_linked(monkeypatch: pytest.MonkeyPatch, little: int) -> None:
    monkeypatch.setattr(edits, "FEW_MEMORIES", little)
    store, ann, row = ReferenceStore(), Scope("t", "ann"), sample_concept("kayak", "user:ann")
    store.write(
        ann, [PutMemory(sample(f"kayak {each}", "user:ann", name=each, status=each)) for each in STATUSES]
    )
    store.write(ann, [PutConcept(row)])
    assert edits.link_earlier_mentions(store, ann, [row], {}) == len(STATUSES)
    with store.reader(ann) as reader:
        found = reader.edges([row.id], ["references"], inward=True)
    assert {edge.src for edge in found} == {sample_id(each) for each in STATUSES}


def test_concepts_of_others_are_neither_listed_nor_found_nor_counted(opened: Callable[..., Memory]) -> None:
    ann, bob = opened(user="ann"), opened(user="bob")
    for n in range(3):
        ann.add(f"kayak and tent {n}")
    ann.concepts.add_many(["kayak", "tent"])
    assert bob.concepts.list() == ()
    with pytest.raises(NotFoundError):
        bob.concepts.show("kayak")
    bob.concepts.add("kayak")
    page = bob.concepts.show("kayak")
    assert (page.concept.memories, page.related, page.looked_at) == (0, (), 0)
    for edit in (bob.concepts.remove, lambda name: bob.concepts.rename(name, "boat")):
        edit("kayak")
        assert {known.name: known.memories for known in ann.concepts.list()} == {"kayak": 3, "tent": 3}
        bob.concepts.add("kayak")


def test_a_public_concept_is_known_to_all_and_counts_what_each_sees(opened: Callable[..., Memory]) -> None:
    ann, bob = opened(user="ann"), opened(user="bob")
    ann.add("the kayak leaks", visibility="public")
    ann.add("my kayak is red")
    assert ann.concepts.add("kayak", visibility="public").linked == 2
    assert [(known.name, known.memories) for known in bob.concepts.list()] == [("kayak", 1)]
    bob.add("kayaks, kayaks")
    assert (bob.concepts.show("kayak").concept.memories, ann.concepts.show("kayak").concept.memories) == (
        2,
        2,
    )


def test_a_private_name_of_a_shared_concept_stays_private_even_through_a_merge(
    opened: Callable[..., Memory],
) -> None:
    ann, bob = opened(user="ann"), opened(user="bob")
    shared = ann.add("the kayak leaks", visibility="public")
    ann.concepts.add("kayak", visibility="public")
    ann.concepts.add("old bathtub")
    ann.concepts.merge("kayak", "old bathtub")
    assert names(bob) == {"kayak": ()}
    assert names(ann) == {"old bathtub": ("kayak",)}
    for one in (ann, bob):
        assert referring(one, "kayak") == {shared.id}


def test_what_is_shared_is_named_by_what_others_know_alone(opened: Callable[..., Memory]) -> None:
    ann, bob = opened(user="ann"), opened(user="bob")
    ann.concepts.add("old bathtub", ["kayak"])
    ann.concepts.add("kayak", visibility="public")
    assert names(bob) == {"kayak": ()}


def test_a_public_memory_is_linked_to_a_private_concept_for_its_owner_alone(
    opened: Callable[..., Memory],
) -> None:
    ann, bob = opened(user="ann"), opened(user="bob")
    bob.concepts.add("kayak")
    shared = ann.add("the kayak leaks", visibility="public")
    assert ann.concepts.add("kayak").linked == 1
    assert referring(ann, "kayak") == {shared.id}
    assert referring(bob, "kayak") == set()


def test_a_group_knows_what_is_added_for_it(opened: Callable[..., Memory]) -> None:
    ann, bob, eve = (
        opened(user=name, groups=groups) for name, groups in (("ann", ["g"]), ("bob", ["g"]), ("eve", []))
    )
    ann.add("the kayak leaks", visibility="group", group="g")
    ann.add("the kayak is for all", visibility="public")
    ann.add("my own kayak")
    assert ann.concepts.add("kayak", visibility="group", group="g").linked == 3
    assert [known.memories for each in (ann, bob, eve) for known in each.concepts.list()] == [3, 2]
    for wrong in ({"visibility": "group", "group": "other"}, {"group": "g"}, {"visibility": "all"}):
        with pytest.raises(InputError):
            ann.concepts.add("tent", **wrong)


def test_what_a_person_removed_for_themselves_and_then_shares_is_seen_again(
    opened: Callable[..., Memory],
) -> None:
    memory = opened()
    memory.concepts.add("kayak")
    memory.concepts.remove("kayak")
    memory.concepts.add("kayak", visibility="public")
    assert names(memory) == {"kayak": ()}


class Stopped(ScrubjayError):
    """Stands for the end of the process."""


EDITS: dict[str, Callable[[Memory], object]] = {
    "add": lambda memory: memory.concepts.add_many(["tent", "rope", ["lamp", "light"]]),
    "merge": lambda memory: memory.concepts.merge("canoe", "kayak"),
    "rename": lambda memory: memory.concepts.rename("canoe", "dinghy"),
    "remove": lambda memory: memory.concepts.remove("canoe"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_that_is_stopped_anywhere_loses_nothing_and_is_ended_by_doing_it_again(
    opened: Callable[..., Memory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edit: str
) -> None:
    for name in ("WRITE_BATCH", "READ_BATCH"):
        monkeypatch.setattr(edits, name, 1)

    def filled(name: str) -> Memory:
        memory = opened(tmp_path / name)
        memory.concepts.add_many(["kayak", "canoe"])
        for n in range(3):
            memory.add(f"kayak, canoe, canoe, tent, rope, light and dinghy {n}", date="2026-01-01")
        return memory

    def state(memory: Memory) -> list[Any]:
        known = memory.concepts.list()
        edges = [(one.name, weight) for one in known for weight in weights(memory, one.id)]
        return [(one.name, one.aliases, one.memories) for one in known] + sorted(edges)

    whole = filled("whole.db")
    EDITS[edit](whole)
    for writes in itertools.count(1):
        memory = filled(f"{writes}.db")
        with monkeypatch.context() as patch:
            stop_after(writes, patch)
            try:
                EDITS[edit](memory)
                return  # it has no more writes than these
            except Stopped:
                pass
        if edit == "merge":
            assert len(referring(memory, "kayak") | referring(memory, "canoe")) == 3
        again = opened(tmp_path / f"{writes}.db")
        EDITS[edit](again)
        assert state(again) == state(whole)


def weights(memory: Memory, concept: str) -> list[float]:
    store = open_store(memory.status().store)
    with store.reader(Scope("default", "ann")) as reader:
        found = [edge.weight for edge in reader.edges([concept], ["references"], inward=True)]
    store.close()
    return found


def stop_after(writes: int, patch: pytest.MonkeyPatch) -> None:
    """Let the store write so often and then no more, as if the process had ended."""
    real = SQLiteStore.write
    left = [writes]

    def write(self: SQLiteStore, *args: Any, **options: Any) -> None:
        if left[0] == 0:
            raise Stopped("stopped")
        left[0] -= 1
        real(self, *args, **options)

    patch.setattr(SQLiteStore, "write", write)
