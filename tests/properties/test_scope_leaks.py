"""Leaks that the random histories found, or that reading the code did: each told once in plain words."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scope_world import LONG_AGO

from reference_store.store import ReferenceStore
from scrubjay import Memory
from scrubjay.categories import topics
from scrubjay.config.loader import load_settings
from scrubjay.config.settings import NotesSettings, Settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.entities import edits
from scrubjay.models.records import Scope
from scrubjay.models.reports import Progress
from scrubjay.search.browse import memory_phrase
from scrubjay.services.models import ModelRegistry, caller_catalog
from scrubjay.services.workspace import Workspace
from scrubjay.storage.changes import DropEdges

ANN, BOB = Scope("t", "ann", ("dev",)), Scope("t", "bob")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    environ = {"SCRUBJAY_CONFIG": "", "XDG_CONFIG_HOME": str(tmp_path / "none")}
    return load_settings(environ=environ | {"SCRUBJAY_SYNC_LOOK_SECONDS": "60"})


@pytest.fixture
def store() -> ReferenceStore:
    return ReferenceStore(bytes(range(32)))


@pytest.fixture
def opened(store: ReferenceStore, settings: Settings) -> Callable[..., Memory]:
    """Open the one store for a principal."""

    def open_(who: Scope, **changes: Any) -> Memory:
        lineup = ModelRegistry(
            store, who, caller_catalog([HashEmbedder(32), HashEmbedder(16, name="slow")]), cold=False
        )
        return Memory(Workspace(store, who, lineup, replace(settings, **changes)))

    return open_


def write(file: Path, text: str, second: int = LONG_AGO) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    os.utime(file, (second, second))
    return file


def test_two_people_sync_one_folder_and_neither_learns_of_the_other(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    write(tmp_path / "shared" / "a.md", "# Tides\n\nHigh water at noon.\n")
    ann, bob = opened(ANN), opened(BOB)
    ann.sync(tmp_path / "shared", share=True)
    assert bob.sync(tmp_path / "shared", share=True).added == 1
    assert bob.status().memories == ann.status().memories == 1
    assert bob.sources()[0].id != ann.sources()[0].id
    bob.remove_source(str(tmp_path / "shared"))
    assert ann.search("high water").results


def test_what_a_stranger_forgot_is_not_missing_from_my_notes(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    """Nor can I find out by a note of my own whether somebody forgot a text."""
    ann, bob = opened(ANN), opened(BOB)
    secret = "# Merger\n\nThe merger is off.\n"
    write(tmp_path / "ann" / "a.md", secret)
    ann.sync(tmp_path / "ann", share=True)
    ann.forget([record.id for record in ann.get(path=tmp_path / "ann" / "a.md").records])
    write(tmp_path / "bob" / "b.md", secret)
    assert bob.sync(tmp_path / "bob", share=True).added == 1
    write(tmp_path / "ann" / "copy.md", secret)
    assert ann.sync(tmp_path / "ann", share=True).added == 0, (
        "what I forgot stays forgotten, in another file too"
    )


def test_what_i_forgot_of_a_group_does_not_come_back_as_mine(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    ann = opened(ANN)
    text = "# Harbour\n\nIt is open.\n\n# Merger\n\nThe merger is off.\n"
    file = write(tmp_path / "a.md", f"---\nvisibility: group:dev\n---\n{text}")
    ann.sync(tmp_path, share=True)
    ann.forget([record.id for record in ann.get(path=file).records if "merger" in record.content])
    write(file, text, LONG_AGO + 10)
    ann.sync(tmp_path, share=True)
    assert [record.title for record in ann.get(path=file).records] == ["Harbour"]


def test_a_rebuild_tells_of_my_own_memories_alone(opened: Callable[..., Memory], tmp_path: Path) -> None:
    ann, bob = opened(ANN), opened(BOB)
    for name in "abc":
        write(tmp_path / "ann" / f"{name}.md", f"# Page {name}\n\nText of {name}.\n")
    write(tmp_path / "bob" / "b.md", "# Mine\n\nText.\n")
    ann.sync(tmp_path / "ann", share=True)
    bob.sync(tmp_path / "bob", share=True)
    told: list[Progress] = []
    summary = bob.rebuild(progress=told.append)
    assert (summary.files, summary.passages, summary.updated) == (1, 1, 1)
    assert {progress.total for progress in told if progress.stage == "write"} == {1}


def test_a_private_page_takes_no_name_from_a_shared_one(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    """What a shared note links to must not depend on pages that its readers do not see."""
    ann, bob = opened(ANN), opened(BOB)
    shared = "---\nvisibility: public\n---\n"
    hub = write(tmp_path / "hub.md", f"{shared}# Hub\n\nSee [[plan]].\n")
    plan = write(tmp_path / "sub" / "plan.md", f"{shared}# Plan\n\nPlant the quince.\n")
    mine = write(tmp_path / "plan.md", "# Plan\n\nSell the garden.\n")
    ann.sync(tmp_path, share=True)
    ids = {file: ann.get(path=file).records[0].id for file in (hub, plan, mine)}
    assert [link.id for link in bob.links(ids[hub]) if link.kind == "links"] == [ids[plan]]
    assert {link.id for link in ann.links(ids[hub]) if link.kind == "links"} == {ids[plan], ids[mine]}


def test_who_rebuilds_leaves_the_notes_of_others_where_they_stand(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    """No leak but its price: who does not see a folder cannot say what stands in it, and must not say "nothing"."""
    ann, bob = opened(ANN), opened(BOB)
    for n in range(6):
        write(tmp_path / f"d{n % 2}" / f"{n}.md", f"---\nvisibility: public\n---\n# Page {n}\n\nBoat {n}.\n")
    ann.sync(tmp_path, share=True)
    before = [(shelf.name, shelf.memories) for shelf in bob.categories.list()]
    bob.rebuild()
    assert [(shelf.name, shelf.memories) for shelf in bob.categories.list()] == before
    assert ("d1", 3) in before


def test_how_much_i_hold_does_not_decide_what_a_shared_name_is_found_in(
    opened: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a small store every memory is read, in a large one those that hold the word: small is what others see."""
    monkeypatch.setattr(edits, "FEW_MEMORIES", 5)
    ann, bob = opened(ANN), opened(BOB)
    for number in range(6):
        ann.add(f"My own note number {number}.")
    tagged = ann.add("The old wall of the garden.", tags=["quince"], visibility="public")
    for one in ann.concepts.list():  # the tag is known already; what is given must find it anew
        ann.concepts.remove(one.name)
    ann.concepts.add("Quince", visibility="public")
    assert [place.id for place in bob.concepts.show("Quince").memories] == [tagged.id]


@pytest.mark.parametrize("private", [True, False])
def test_a_page_that_is_shared_later_is_linked_whatever_private_page_bears_its_name(
    opened: Callable[..., Memory], tmp_path: Path, private: bool
) -> None:
    """Its name led its writer elsewhere, so nothing that changed was known to be meant by the shared note."""
    ann, bob = opened(ANN), opened(BOB)
    shared = "---\nvisibility: public\n---\n"
    hub = write(tmp_path / "hub.md", f"{shared}# Hub\n\nSee [[plan]].\n")
    plan = write(tmp_path / "sub" / "plan.md", "# Plan\n\nPlant the quince.\n")
    if private:
        write(tmp_path / "plan.md", "# Plan\n\nSell the garden.\n")
    ann.sync(tmp_path, share=True)
    ids = {file: ann.get(path=file).records[0].id for file in (hub, plan)}
    assert not [link for link in bob.links(ids[hub]) if link.kind == "links"]
    write(plan, f"{shared}# Plan\n\nPlant the quince.\n", LONG_AGO + 10)
    ann.sync(tmp_path, share=True)
    assert [link.id for link in bob.links(ids[hub]) if link.kind == "links"] == [ids[plan]]


def test_forgetting_what_is_mine_takes_no_concept_from_others(opened: Callable[..., Memory]) -> None:
    """Nobody's shared memory refers to it by now, but that was so before."""
    ann, bob = opened(ANN), opened(BOB)
    shared = ann.add("See [[Wren Lake]].", visibility="public")
    ann.forget(ann.add("Wren Lake is where I hide.").id)
    mine = ann.add("I hide at Wren Lake still.")
    known = [one.name for one in bob.concepts.list()]
    assert "Wren Lake" in known
    with ann.workspace.store.reader(ANN) as reader:
        edges = [(edge.src, edge.kind, edge.dst) for edge in reader.edges([shared.id], ["references"])]
    ann.workspace.store.write(
        ANN, [DropEdges(tuple(edges))]
    )  # as when the note that named it says something else
    ann.forget(mine.id)
    assert [one.name for one in bob.concepts.list()] == known


def test_what_i_embed_of_my_own_makes_no_difference_to_how_the_topics_of_others_are_found(
    opened: Callable[..., Memory],
) -> None:
    """An embed finds them anew that an earlier one was stopped before; neither does what is mine bring that about."""
    ann, bob = opened(ANN), opened(BOB)
    for number in range(20):
        bob.add(
            f"Boat {number} of the harbour is painted blue and lies beside the old pier.", visibility="public"
        )
    bob.embed()
    found = []
    for private in (
        (),
        ("I am going to sell the garden and the house before they know that it is for sale.",),
    ):
        with bob.workspace.store.reader(BOB) as reader:
            edges = reader.edges([one.id for one in reader.categories()], ["belongs"], inward=True)
        given = [(edge.src, edge.kind, edge.dst) for edge in edges]
        bob.workspace.store.write(
            BOB, [DropEdges(tuple(given))]
        )  # the topics look as if no finer model had found them
        for text in private:
            ann.add(text)
        assert ann.embed().embedded == len(private)
        with bob.workspace.store.reader(BOB) as reader:
            topics = [replace(one, at=0) for one in reader.categories()]
            joined = [
                (edge.src, edge.dst, edge.weight, edge.rule)
                for edge in reader.edges([one.id for one in topics], ["belongs"], inward=True)
            ]
        found.append((topics, joined))
    assert found[0] == found[1]
    assert any("slow" in rule for *_, rule in found[0][1])


@pytest.mark.parametrize("rebuilt", [False, True])
def test_a_shared_line_of_my_diary_is_stemmed_and_embedded_without_the_private_ones(
    settings: Settings, tmp_path: Path, rebuilt: bool
) -> None:
    """Two additions of one minute and one title stand under equal headings in the day's note."""
    private = (
        "Der Hafen gehört niemandem, und die Leuchttürme sind für alle da, sagt die Frau am Kai.",
        "I am going to sell the garden before they know that it is for sale.",
    )
    told = [_diary(tmp_path / str(n), settings, text, rebuilt) for n, text in enumerate(private)]
    assert told[0] == told[1]


def _diary(folder: Path, settings: Settings, private: str, rebuilt: bool) -> object:
    """Return what is stored of a public addition beside a private one."""
    store = ReferenceStore(bytes(range(32)))
    lineup = ModelRegistry(
        store, ANN, caller_catalog([HashEmbedder(32), HashEmbedder(16, name="slow")]), cold=False
    )
    memory = Memory(Workspace(store, ANN, lineup, replace(settings, notes=NotesSettings(dir=folder))))
    memory.add(private, title="Boats")
    shared = memory.add("The harbour is open.", title="Boats", visibility="public")
    (note,) = folder.glob("*.md")
    lines = ["## 10:00 Boats" if line.startswith("## ") else line for line in note.read_text().splitlines()]
    write(note, "\n".join(lines) + "\n")
    memory.sync(folder, share=True)
    memory.embed()
    if rebuilt:
        memory.rebuild()
        memory.embed()
    with store.reader(BOB) as reader:
        record = reader.get([shared.id])[shared.id]
        models = [state.model.fingerprint for state in reader.models()]
        vectors = [reader.vectors(model, [shared.id])[shared.id].data.tolist() for model in models]
        assert record.place is not None
        return vectors, reader.languages(), [reader.similar_terms("harbuor")], memory_phrase(record)


def test_pieces_of_one_section_and_one_key_still_lend_to_each_other(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    """The contract has the other half: what waits borrows nothing of another key."""
    ann = opened(ANN)
    sentence = "The harbour lantern burns for every boat that comes in late at night. "
    write(tmp_path / "a.md", f"---\nvisibility: public\n---\n# Long\n\n{sentence * 120}\n")
    ann.sync(tmp_path, share=True)
    with ann.workspace.store.reader(ANN) as reader:
        waiting = reader.pending(HashEmbedder(16, name="slow").model.fingerprint, 99)
    assert len(waiting) > 1
    assert [bool(one.before) for one in waiting].count(True) == len(waiting) - 1


def test_topics_of_shared_memories_are_counted_without_my_own(
    opened: Callable[..., Memory], store: ReferenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number that a hierarchy was built of is kept with it, where all can read it."""
    monkeypatch.setattr(topics, "SAMPLE_SIZE", 20)
    ann = opened(ANN)
    for number in range(20):
        ann.add(f"My own secret number {number} of the garden and the quince, told to nobody else at all.")
    for number in range(40):
        ann.add(
            f"Boat {number} of the harbour is painted blue and lies beside the lantern at the old pier.",
            visibility="public",
        )
    with store.reader(BOB) as reader:
        built = {one.built for one in reader.categories() if one.kind == "topic"}
    assert built
    assert max(built) <= 40


def test_who_left_a_group_can_go_on_with_a_note_that_was_shared_with_it(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    """The passages that the group saw are the source's, so its owner replaces them; none stays with the group."""
    front = "---\nvisibility: group:dev\n---\n"
    file = write(tmp_path / "a.md", f"{front}# Plan\n\nPlant the quince.\n")
    opened(ANN).sync(tmp_path, share=True)
    left = opened(Scope("t", "ann"))
    write(file, f"{front}# Plan\n\nSell the quince.\n", LONG_AGO + 10)
    summary = left.sync(tmp_path, share=True)
    assert [trouble.message for trouble in summary.problems] == [
        "ann is not in group dev, so this note is kept private."
    ]
    assert summary.passages == 1
    assert opened(Scope("t", "cleo", ("dev",))).search("quince").results == ()
    assert [record.content.split("\n")[-2] for record in left.get(path=file).records] == ["Sell the quince."]


def test_when_somebody_syncs_private_notes_nothing_of_the_shared_ones_changes(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    """A file of which something was forgotten is read again then, and a text that was forgotten elsewhere stays."""
    ann, bob = opened(ANN), opened(BOB)
    front, lamp = "---\nvisibility: public\n---\n", "# Lamp\n\nThe lantern burns.\n"
    shared = write(tmp_path / "ann" / "a.md", f"{front}# Tides\n\nHigh water at noon.\n\n{lamp}")
    ann.sync(tmp_path / "ann", share=True)
    copy = write(tmp_path / "bob" / "b.md", f"{front}# Tables\n\nLow water at six.\n\n{lamp}")
    bob.sync(tmp_path / "bob", share=True)
    tides, _ = (one.id for one in ann.get(path=shared).records)
    _, copied = (one.id for one in bob.get(path=copy).records)
    ann.forget([tides, copied])
    before = bob.search("lantern", channels=["bm25"], explain=True).results
    assert len(before) == 1
    write(tmp_path / "ann" / "mine.md", "# Mine\n\nTold to nobody.\n")
    ann.sync()
    assert bob.search("lantern", channels=["bm25"], explain=True).results == before


def test_when_somebody_syncs_private_notes_no_shared_place_comes_or_goes(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    """Nor does one that is empty wait for that: who forgets somebody else's shared note leaves none behind."""
    ann, bob = opened(ANN), opened(BOB)
    front = "---\nvisibility: public\n---\n"
    for name in ("plan", "tides", "lamp"):
        write(tmp_path / "notes" / "harbour" / f"{name}.md", f"{front}# The {name}\n\nAll of the {name}.\n")
    ann.sync(tmp_path, share=True)

    def places() -> list[tuple[str, int]]:
        return [(one.name, one.memories) for one in bob.categories.list() if one.kind == "path"]

    assert ("harbour", 3) in places()
    told = {result.title: result.id for result in bob.search("all of the plan tides lamp").results}
    bob.forget(told["The tides"])
    before = places()
    assert all(memories for _, memories in before)
    write(tmp_path / "mine.md", "# Mine\n\nTold to nobody.\n")
    write(tmp_path / "notes" / "mine.md", "# Mine too\n\nTold to nobody.\n")
    ann.sync()
    ann.forget(ann.get(path=tmp_path / "mine.md").records[0].id)
    assert places() == before
    bob.forget([told["The plan"], told["The lamp"]])
    assert places() == []
    write(tmp_path / "notes" / "harbour" / "more.md", f"{front}# More\n\nAnd more.\n")
    write(tmp_path / "notes" / "harbour" / "most.md", f"{front}# Most\n\nAnd most.\n")
    ann.sync()
    assert ("harbour", 2) in places()


def test_when_somebody_syncs_private_notes_no_shared_topic_is_found_anew(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    """Who forgets half of what is shared finds its topics anew, not whoever happens to sync next."""
    ann, bob = opened(ANN), opened(BOB)
    for n in range(16):
        bob.add(
            f"Boat {n} of the harbour is painted blue and lies beside the lantern at the old pier.",
            visibility="public",
        )
    ids = [bob.add(f"Yes, {n}.", visibility="public").id for n in range(24)]
    bob.sync()

    def topics() -> list[Any]:
        with bob.workspace.store.reader(BOB) as reader:
            return [one for one in reader.categories() if one.kind == "topic"]

    assert {one.built for one in topics()} == {32}
    bob.forget(ids)
    left = topics()
    write(tmp_path / "mine.md", "# Mine\n\nTold to nobody.\n")
    ann.sync(tmp_path, share=True)
    assert topics() == left
    assert {one.built for one in left} == {16}
