"""Topics of a key: found when it has memories enough, anew when they have doubled, steady in between."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest
from notes_folder import Notes
from web import categories, edges, everything, scope_of, store_of

from scrubjay import Memory
from scrubjay.categories.topics import count_memories, organise_topics
from scrubjay.config.settings import LinkingSettings, Settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.models.graph import Category, Edge
from scrubjay.models.lifecycle import NewMemory
from scrubjay.models.records import Scope
from scrubjay.services import curation
from scrubjay.storage.changes import PutCategory, PutEdges

Open = Callable[..., Memory]

SUBJECTS = (
    "seedlings compost tulips watering greenhouse pruning mulch trowel",
    "sourdough oven yeast simmering dumplings whisk ladle crust",
    "parser tokens bytecode linker registers inlining closures heap",
    "rudder spinnaker harbour tacking anchor regatta keel mast",
)


@pytest.fixture
def memory(opened: Open) -> Memory:
    return opened()


def texts(first: int, last: int, subjects: Sequence[str] = SUBJECTS) -> list[str]:
    """Texts of some subjects, each of its subject's words and none twice; the same for the same numbers."""
    found = []
    for number in range(first, last):
        words = subjects[number % len(subjects)].split()
        found.append(f"note {number} of the " + ", ".join(random.Random(number).choices(words, k=10)))
    return found


def add(memory: Memory, some: Sequence[str], **fields: object) -> None:
    memory.add_many(NewMemory(text, **fields) for text in some)


def topics(memory: Memory, scope: Scope | None = None) -> dict[str, str]:
    """Id of each topic to its name."""
    return {category.id: category.name for category in categories(memory, "topic", scope)}


def members(memory: Memory) -> Counter[str]:
    """How many topics each memory is in."""
    known = topics(memory)
    return Counter(edge.src for edge in edges(memory, "belongs") if edge.dst in known)


def rightly_shelved(memory: Memory) -> bool:
    """Whether no topic of a key has the name of another, and no memory is in two or in one that is not there."""
    names = Counter((c.key, c.name.casefold()) for c in categories(memory, "topic"))
    known = topics(memory).keys() | {c.id for c in categories(memory, "path")}
    ends = {edge.dst for edge in edges(memory, "belongs")}
    return max(names.values()) == 1 and max(members(memory).values()) == 1 and ends <= known


def test_fifteen_memories_have_no_topics_and_sixteen_have(memory: Memory) -> None:
    add(memory, texts(0, 15))
    assert topics(memory) == {}
    add(memory, texts(15, 16))
    assert len(topics(memory)) >= 2
    assert rightly_shelved(memory)
    assert len(members(memory)) >= 12


def test_topics_are_found_anew_when_memories_have_doubled_and_not_before(memory: Memory) -> None:
    add(memory, texts(0, 20))
    assert {category.built for category in categories(memory, "topic")} == {20}
    for n in range(20, 39):
        add(memory, texts(n, n + 1))
    assert {category.built for category in categories(memory, "topic")} == {20}
    add(memory, texts(39, 40))
    assert {category.built for category in categories(memory, "topic")} == {40}
    assert rightly_shelved(memory)


def test_growth_by_a_hundredth_renames_nothing_and_finds_its_place(memory: Memory) -> None:
    add(memory, texts(0, 200))
    before, placed = topics(memory), len(members(memory))
    add(memory, texts(200, 202))
    assert topics(memory) == before
    assert len(members(memory)) == placed + 2
    # Found anew by force, nearly all of it is as it was.
    organise_topics(store_of(memory), scope_of(memory), "user:ann", HashEmbedder(64))
    assert len(topics(memory).items() & before.items()) >= 0.9 * len(before)
    assert rightly_shelved(memory)


def test_finding_topics_anew_when_nothing_changed_writes_no_member(memory: Memory) -> None:
    add(memory, texts(0, 60))
    organise_topics(store_of(memory), scope_of(memory), "user:ann", HashEmbedder(64))
    before = edges(memory, "belongs")
    organise_topics(store_of(memory), scope_of(memory), "user:ann", HashEmbedder(64))
    assert edges(memory, "belongs") == before


def test_a_doubling_that_an_addition_did_not_wait_for_is_caught_up_by_the_next_sync(
    opened: Open, notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened()
    monkeypatch.setattr(curation, "MAX_INLINE_RECLUSTER", 30)
    add(memory, texts(0, 20))
    add(memory, texts(20, 50))
    assert {category.built for category in categories(memory, "topic")} == {20}
    notes.write("a.md", texts(50, 51)[0])
    memory.sync(notes.root)
    assert {category.built for category in categories(memory, "topic")} == {51}


def test_topics_are_found_by_the_next_sync_when_one_was_stopped_just_before(
    opened: Open, notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened()
    monkeypatch.setattr(curation, "MAX_INLINE_RECLUSTER", 0)
    add(memory, texts(0, 40))
    notes.write("a.md", texts(40, 41)[0])
    memory.sync(notes.root)
    assert len(topics(memory)) >= 2


def test_a_topic_that_no_model_found_stays_when_a_sync_goes_on(memory: Memory, notes: Notes) -> None:
    scope = scope_of(memory)
    birds = Category("cat_0123456789abcdef", f"user:{scope.user}", "topic", "Birds")
    store_of(memory).write(scope, [PutCategory(birds)])
    notes.write("a.md", texts(0, 1)[0])
    memory.sync(notes.root)
    assert topics(memory) == {birds.id: "Birds"}


def test_a_key_has_topics_by_its_own_number_of_memories(memory: Memory) -> None:
    add(memory, texts(0, 40), visibility="public")
    add(memory, texts(40, 55))
    assert {category.key for category in categories(memory, "topic")} == {"public"}
    add(memory, texts(55, 56))
    assert {category.key for category in categories(memory, "topic")} == {"public", "user:ann"}
    store, scope = store_of(memory), scope_of(memory)
    assert [count_memories(store, scope, key) for key in ("public", "user:ann")] == [40, 16]


def test_numbers_of_a_groups_memories_leave_out_what_else_its_members_see(opened: Open) -> None:
    memory = opened(groups=("dev", "ops"))
    for number, (visibility, group) in enumerate(
        [("user", None), ("public", None), ("group", "dev"), ("group", "ops")], 1
    ):
        add(memory, texts(0, number), visibility=visibility, group=group)
    found = [count_memories(store_of(memory), scope_of(memory), key) for key in scope_of(memory).keys]
    assert dict(zip(scope_of(memory).keys, found, strict=True)) == {
        "group:dev": 3, "group:ops": 4, "public": 2, "user:ann": 1,
    }  # fmt: skip


def test_shared_topics_are_the_same_whatever_their_writers_keep_private(
    opened: Open, settings: Settings, tmp_path: Path
) -> None:
    with opened() as first:  # one secret, so that ids are equal in both copies
        first.add("The first memory makes the tenant and its secret.")
    found = []
    for private in (0, 64):
        path = shutil.copy(settings.store, tmp_path / f"{private}.db")
        memory = opened(settings=replace(settings, store=str(path)))
        add(memory, [f"{text} confidential" for text in texts(0, private)])
        add(memory, texts(0, 20), visibility="public")
        add(memory, [f"{text} confidential" for text in texts(private, private * 2)])
        add(memory, texts(20, 44), visibility="public")
        bob = Scope("default", "bob")
        shared = categories(memory, "topic", bob)
        said = [(c.name, c.abstract, c.overview, c.centroid, c.built) for c in shared]
        found.append((said, [(edge.src, edge.weight) for edge in edges(memory, "belongs", scope=bob)]))
        assert not any("confidential" in f"{c.name} {c.abstract} {c.overview}" for c in shared)
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "said", ["yes", "the build is green and the change is on its way to the main branch"]
)
def test_memories_that_are_all_alike_have_no_topic_of_everything(memory: Memory, said: str) -> None:
    memory.add_many(NewMemory(said, session=f"s{n}", turn=n) for n in range(64))
    assert topics(memory) == {}
    assert edges(memory, "belongs") == []


def test_a_member_that_was_given_stays_where_it_was_put(memory: Memory) -> None:
    add(memory, texts(0, 20))
    (first, *_), known = edges(memory, "belongs"), topics(memory)
    other = next(one for one in known if one != first.dst)
    put = Edge(first.src, "belongs", other, "user:ann", 1.0, 0, "given")
    store_of(memory).write(scope_of(memory), [PutEdges((put,))])
    organise_topics(store_of(memory), scope_of(memory), "user:ann", HashEmbedder(64))
    given = [edge for edge in edges(memory, "belongs") if edge.origin == "given"]
    assert [(edge.src, edge.dst) for edge in given] == [(first.src, other)]


def test_topics_are_found_anew_when_half_of_the_memories_are_gone(memory: Memory) -> None:
    add(memory, texts(0, 80))
    with store_of(memory).reader(scope_of(memory)) as reader:
        ids = [record.id for record in everything(reader)]
    memory.forget(ids[:45])
    add(memory, texts(80, 81))
    assert {category.built for category in categories(memory, "topic")} <= {35, 36}


def test_topics_of_another_model_are_found_anew(settings: Settings, opened: Open) -> None:
    add(opened(), texts(0, 40))
    memory = opened(embedders=[HashEmbedder(32, name="second")])
    memory.rebuild()
    add(memory, texts(40, 41))
    with store_of(memory).reader(scope_of(memory)) as reader:
        models = {state.model.name: state.model.fingerprint for state in reader.models()}
    assert {c.model for c in categories(memory, "topic") if c.centroid} == {models["second"]}


def test_without_categories_in_the_settings_there_are_none(settings: Settings, opened: Open) -> None:
    memory = opened(settings=replace(settings, linking=replace(LinkingSettings(), stages=("similar",))))
    add(memory, texts(0, 40))
    assert categories(memory, "topic") == []


def test_eight_threads_that_write_and_organise_leave_it_right(memory: Memory, notes: Notes) -> None:
    memory.add(texts(999, 1_000)[0])
    base = HashEmbedder(64)

    def work(number: int) -> None:
        for step in range(4):
            start = (number * 4 + step) * 6
            if number < 4:
                add(memory, texts(start, start + 6))
            elif number < 6:
                organise_topics(store_of(memory), scope_of(memory), "user:ann", base)
            else:
                notes.write(f"{number}/{step}.md", "\n\n".join(texts(start, start + 6)))
                memory.sync(notes.root)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    names = Counter((c.key, c.name.casefold()) for c in categories(memory, "topic"))
    assert max(names.values()) == 1
    organise_topics(store_of(memory), scope_of(memory), "user:ann", base)
    assert rightly_shelved(memory)


def in_a_process(job: tuple[Settings, int]) -> int:
    """Write and organise for a while."""
    settings, number = job
    base = HashEmbedder(64)
    with Memory.open(settings=settings, embedders=[base]) as memory:
        for step in range(5):
            start = (number * 5 + step) * 12
            add(memory, texts(start, start + 12))
            organise_topics(store_of(memory), scope_of(memory), "user:ann", base)
    return number


def test_two_processes_that_write_and_organise_leave_it_right(settings: Settings, opened: Open) -> None:
    memory = opened(embedders=[HashEmbedder(64)])
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(in_a_process, [(settings, 0), (settings, 1)])) == [0, 1]
    names = Counter((c.key, c.name.casefold()) for c in categories(memory, "topic"))
    assert max(names.values()) == 1
    organise_topics(store_of(memory), scope_of(memory), "user:ann", HashEmbedder(64))
    assert rightly_shelved(memory)
    assert len(members(memory)) >= 100


def test_topics_are_found_by_a_finer_model_once_it_covers_all_and_joined_by_the_base_model(
    tmp_path: Path,
) -> None:
    base, finer = HashEmbedder(64), HashEmbedder(32, name="finer")
    with Memory.open(tmp_path / "m.db", user="ann", embedders=[base, finer]) as memory:
        for number in range(40):
            word = ("apple", "engine", "violin", "glacier")[number % 4]
            memory.add(
                f"{word} {word} {word} number {number} tells of one {word} after another and of nothing else"
            )
        before = {shelf.id for shelf in memory.categories.list(kind="topic")}
        memory.embed()
        after = memory.categories.list(kind="topic")
        with memory.workspace.store.reader(memory.workspace.scope) as reader:
            models = {c.model for c in reader.categories() if c.centroid}
    assert before
    assert after
    assert models == {base.model.fingerprint}
