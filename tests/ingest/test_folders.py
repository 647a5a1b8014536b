"""Folders, documents and headings as categories, kept in step by looking at what changed alone."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from reference_store.store import ReferenceStore
from scrubjay import Memory
from scrubjay.categories.folders import update_folders
from scrubjay.config.settings import Settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.models.graph import category_path as above
from scrubjay.models.records import Scope
from scrubjay.services.models import ModelRegistry, caller_catalog
from scrubjay.services.workspace import Workspace
from scrubjay.storage.interface import Store

ANN = Scope("t", "ann", ("dev",))


@pytest.fixture
def store() -> ReferenceStore:
    return ReferenceStore(b"secret")


@pytest.fixture
def memory(store: ReferenceStore) -> Memory:
    lineup = ModelRegistry(store, ANN, caller_catalog([HashEmbedder(16)]), cold=False, overlap=80)
    return Memory(Workspace(store, ANN, lineup, Settings()))


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    return tmp_path / "notes"


def write(notes: Path, name: str, *sections: str, front: str = "") -> None:
    file = notes / name
    file.parent.mkdir(parents=True, exist_ok=True)
    parts = [f"# {file.stem}", *(f"## {section}\n\nText on {section} in {name}." for section in sections)]
    file.write_text(front + "\n\n".join(parts) + "\n")


def tree(store: Store, scope: Scope = ANN) -> dict[str, int]:
    """Each path category by its names from the top, with how many memories stand right in it."""
    with store.reader(scope) as reader:
        known = [c for c in reader.categories() if c.kind == "path"]
        counts = reader.degrees("belongs", [c.id for c in known]) if known else {}
    by_id = {c.id: c for c in known}
    return {"/".join(p.name for p in above(c, by_id)): counts.get(c.id, 0) for c in known}


def test_a_folder_of_two_documents_and_a_document_of_three_passages_are_categories(
    memory: Memory, store: Store, notes: Path
) -> None:
    write(notes, "garden/beds.md", "North", "South", "West")
    write(notes, "garden/tools.md", "Spade")
    write(notes, "alone/one.md", "Only")
    memory.sync(notes, share=True)
    found = tree(store)
    assert set(found) >= {"notes", "notes/garden", "notes/garden/beds.md"}
    assert "notes/alone" not in found
    assert "notes/garden/tools.md" not in found


def test_a_memory_stands_in_the_deepest_category_and_in_one_only(
    memory: Memory, store: Store, notes: Path
) -> None:
    write(notes, "garden/beds.md", "North", "South", "West")
    write(notes, "garden/tools.md", "Spade")
    done = memory.sync(notes, share=True)
    assert sum(tree(store).values()) == done.passages


def test_search_narrows_to_a_folder_by_its_name_with_all_below(memory: Memory, notes: Path) -> None:
    write(notes, "garden/beds.md", "North", "South", "West")
    write(notes, "garden/tools.md", "North spade")
    write(notes, "house/rooms.md", "North room")
    write(notes, "house/roof.md", "North roof")
    memory.sync(notes, share=True)
    found = memory.search("north", categories=["garden"]).results
    assert found
    assert {Path(r.path or "").parent.name for r in found} == {"garden"}


def test_a_removed_document_takes_its_categories_and_a_last_one_its_folder(
    memory: Memory, store: Store, notes: Path
) -> None:
    write(notes, "garden/beds.md", "North", "South", "West")
    write(notes, "garden/tools.md", "Spade")
    write(notes, "top.md", "A")
    memory.sync(notes, share=True)
    (notes / "garden" / "beds.md").unlink()
    memory.sync()
    assert set(tree(store)) == {"notes"}


def test_a_removed_source_leaves_no_category(memory: Memory, store: Store, notes: Path) -> None:
    write(notes, "garden/beds.md", "North", "South", "West")
    memory.sync(notes, share=True)
    memory.remove_source(str(notes))
    assert tree(store) == {}


def test_each_key_has_folders_of_its_own_documents_alone(memory: Memory, store: Store, notes: Path) -> None:
    shared = "---\nvisibility: group\ngroup: dev\n---\n"
    write(notes, "plans/a.md", "One", front=shared)
    write(notes, "plans/b.md", "Two", front=shared)
    write(notes, "plans/secret.md", "Three", "Four", "Five")
    memory.sync(notes, share=True)
    seen = tree(store, Scope("t", "bob", ("dev",)))
    assert "notes/plans" in seen
    assert not any("secret" in name for name in seen)
    with store.reader(Scope("t", "bob", ("dev",))) as reader:
        assert sum(seen.values()) == reader.counts().memories == 2


def test_a_folder_that_moves_keeps_its_categories(memory: Memory, store: Store, notes: Path) -> None:
    write(notes, "garden/beds.md", "North", "South", "West")
    memory.sync(notes, share=True)
    with store.reader(ANN) as reader:
        before = {c.id for c in reader.categories()}
    write(notes, "garden/tools.md", "Spade")
    memory.sync()
    with store.reader(ANN) as reader:
        assert before <= {c.id for c in reader.categories()}


@pytest.mark.parametrize("seed", range(12))
def test_looking_at_what_changed_gives_what_looking_at_everything_gives(
    memory: Memory, store: Store, notes: Path, seed: int
) -> None:
    rng = random.Random(seed)
    folders = ("", "a/", "a/b/", "c/", "c/d/e/")
    fronts = ("", "", "", "---\nvisibility: public\n---\n")
    write(notes, "first.md", "One", "Two")
    memory.sync(notes, share=True)
    for _ in range(6):
        for _ in range(rng.randint(1, 3)):
            name = f"{rng.choice(folders)}{rng.randint(1, 3)}.md"
            if (notes / name).exists() and rng.random() < 0.4:
                (notes / name).unlink()
            else:
                sections = [f"S{rng.randint(1, 5)}" for _ in range(rng.randint(0, 5))]
                write(notes, name, *sections, front=rng.choice(fronts))
        memory.sync()
        found = tree(store)
        with store.reader(ANN) as reader:
            (source,) = reader.sources()
        update_folders(store, ANN, source, 0)
        assert found == tree(store)
    shutil.rmtree(notes)
