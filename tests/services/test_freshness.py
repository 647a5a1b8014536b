"""A search looks for changes of the files before it answers, and says what it did not look at."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from scrubjay import Memory
from scrubjay.config.settings import Settings
from scrubjay.embeddings.base import TextKind
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.ingest.freshness import MAX_INLINE_FILES
from scrubjay.models.records import Scope
from scrubjay.services.context import hook_context
from scrubjay.services.models import ModelRegistry, caller_catalog
from scrubjay.services.workspace import Workspace
from scrubjay.storage.changes import PutVersions
from scrubjay.storage.sqlite.lock import writer_turn
from scrubjay.storage.sqlite.store import SQLiteStore
from scrubjay.storage.urls import open_store

LONG_AGO = 1_700_000_000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "synced"
    folder.mkdir()
    write(folder, "a.md", "The kettle is blue.", 0)
    return folder


@pytest.fixture
def memory(opened: Callable[..., Memory], root: Path) -> Memory:
    found = opened()
    found.sync(root)
    return found


def write(folder: Path, name: str, text: str, second: int) -> None:
    (folder / name).write_text(text)
    os.utime(folder / name, (LONG_AGO + second, LONG_AGO + second))


def found(memory: Memory, query: str = "kettle") -> tuple[list[str], tuple[str, ...]]:
    answer = memory.search(query)
    return [result.snippet for result in answer.results], answer.partial


def test_an_edit_is_in_the_next_answer(memory: Memory, root: Path) -> None:
    assert found(memory) == (["The kettle is blue."], ())
    write(root, "a.md", "The kettle is red!!", 1)
    assert found(memory) == (["The kettle is red!!"], ())


def test_a_store_without_sources_is_not_looked_at(opened: Callable[..., Memory]) -> None:
    memory = opened()
    memory.add("kettle")
    assert found(memory) == (["kettle"], ())


def test_a_missing_folder_is_no_news_and_its_memories_answer(memory: Memory, root: Path) -> None:
    for number in range(MAX_INLINE_FILES + 1):
        write(root, f"{number}.md", f"pot {number}", 1)
    memory.sync()
    root.rename(root.with_name("moved"))
    assert found(memory, '"kettle"') == (["The kettle is blue."], ())
    for _ in range(2):
        assert [one.outdated for one in memory.search('"kettle"').results] == ["gone"]
    root.with_name("moved").rename(root)
    assert [one.outdated for one in memory.search('"kettle"').results] == [""]


def test_as_many_changes_as_a_search_can_take_are_taken_and_more_are_named(
    memory: Memory, root: Path
) -> None:
    for number in range(MAX_INLINE_FILES):
        write(root, f"{number}.md", f"kettle {number}", 1)
    assert found(memory)[1] == ()
    assert memory.status().documents == MAX_INLINE_FILES + 1
    for number in range(MAX_INLINE_FILES + 1):
        write(root, f"more{number}.md", f"kettle {number}", 2)
    (sentence,) = found(memory)[1]
    assert f"{root} has {MAX_INLINE_FILES + 1} files that changed" in sentence
    assert "scrubjay sync" in sentence


def test_a_renamed_folder_and_a_deleted_note_are_no_more_than_a_search_can_take(
    memory: Memory, root: Path
) -> None:
    (root / "house").mkdir()
    for number in range(MAX_INLINE_FILES):
        write(root / "house", f"{number}.md", f"pot {number}" + "!" * number, number)
    memory.sync()
    before = {result.id for result in memory.search('"pot"', limit=50).results}
    (root / "house").rename(root / "flat")
    (root / "a.md").unlink()
    answer = memory.search('"pot"', limit=50)
    assert (answer.partial, found(memory, '"kettle"')) == ((), ([], ()))
    assert {result.id for result in answer.results} == before
    assert {Path(str(result.path)).parent.name for result in answer.results} == {"flat"}


def test_what_a_search_cannot_take_is_marked_in_its_results(memory: Memory, root: Path) -> None:
    write(root, "b.md", "The brown pot is here.", 0)
    write(root, "c.md", "The white cup is here.", 0)
    memory.sync()
    write(root, "a.md", "The kettle is red!!", 1)
    (root / "b.md").unlink()
    for number in range(MAX_INLINE_FILES):
        write(root, f"more{number}.md", f"spoon {number}", 1)
    answer = memory.search("kettle pot cup", limit=50)
    assert {result.snippet: result.outdated for result in answer.results} == {
        "The kettle is blue.": "changed",
        "The brown pot is here.": "gone",
        "The white cup is here.": "",
    }
    assert {knot.result.outdated for knot in memory.thread("kettle").entries} >= {"changed"}
    memory.sync()
    assert {result.outdated for result in memory.search("kettle cup", limit=50).results} == {""}


def test_a_note_that_may_be_renamed_is_not_dropped_before_its_new_file_is_read(
    memory: Memory, root: Path
) -> None:
    (was,) = [result.id for result in memory.search('"kettle"').results]
    (root / "a.md").unlink()
    write(root, "z.md", "The kettle is blue.", 99)  # as git writes it when it checks out a rename
    for number in range(MAX_INLINE_FILES):
        write(root, f"{number}.md", f"spoon {number}", 1)
    assert [result.outdated for result in memory.search('"kettle"').results] == ["gone"]
    memory.sync()
    assert [result.id for result in memory.search('"kettle"').results] == [was]


def test_without_time_a_source_is_named_and_not_compared(
    memory: Memory, root: Path, opened: Callable[..., Memory], settings: Settings
) -> None:
    write(root, "a.md", "The kettle is red!!", 1)
    hurried = opened(settings=replace(settings, sync=replace(settings.sync, look_seconds=0.0)))
    snippets, (sentence,) = found(hurried)
    assert snippets == ["The kettle is blue."]
    assert sentence == f"{root} was not compared with the store: that takes longer than 0 ms."
    assert found(memory) == (["The kettle is red!!"], ())


def test_a_store_of_another_version_is_left_as_it_is_and_the_way_out_is_named(
    memory: Memory, root: Path, tmp_path
) -> None:
    store = open_store(str(tmp_path / "memory.db"))
    scope = Scope("default", "ann")
    with store.reader(scope) as reader:
        stamped = reader.versions()
    assert stamped is not None
    store.write(scope, [PutVersions(replace(stamped, chunker="another"))])
    assert found(memory)[1] == ()
    write(root, "a.md", "The kettle is red!!", 1)
    snippets, (sentence,) = found(memory)
    assert (snippets, "`scrubjay sync`" in sentence) == (["The kettle is blue."], True)
    memory.sync()
    assert found(memory) == (["The kettle is red!!"], ())


@contextmanager
def writing_elsewhere(store: Path) -> Iterator[None]:
    """Another writer, who keeps its turn until the block ends."""
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with writer_turn(store):
            held.set()
            done.wait(30)

    other = threading.Thread(target=hold)
    other.start()
    try:
        assert held.wait(30)
        yield
    finally:
        done.set()
        other.join()


def test_while_another_writes_the_answer_is_from_before_and_says_so(
    memory: Memory, root: Path, settings: Settings, tmp_path: Path
) -> None:
    store, scope = SQLiteStore(tmp_path / "memory.db", patience=0.01), Scope("default", "ann")
    hasty = Memory(
        Workspace(
            store,
            scope,
            ModelRegistry(store, scope, caller_catalog([HashEmbedder(64)]), cold=False),
            settings,
        )
    )
    write(root, "a.md", "The kettle is red!!", 1)
    with writing_elsewhere(tmp_path / "memory.db"):
        snippets, (sentence,) = found(hasty)
    assert snippets == ["The kettle is blue."]
    assert "another process is writing" in sentence
    assert found(hasty) == (["The kettle is red!!"], ())
    hasty.close()


def test_a_search_ranks_an_edited_note_by_all_models_again(opened: Callable[..., Memory], root: Path) -> None:
    memory = opened(embedders=[HashEmbedder(64), HashEmbedder(48, name="second")])
    write(root, "b.md", "The pot is brown.", 0)
    memory.sync(root)
    memory.embed()
    write(root, "a.md", "The kettle is red!!", 1)
    (best, *_) = memory.search("kettle", explain=True).results
    assert best.explanation is not None
    assert "vector:second" in {part.channel for part in best.explanation.contributions}
    assert memory.models()[1].waiting == 0


def test_a_hook_does_not_wait_for_the_models_of_an_edited_note(
    opened: Callable[..., Memory], root: Path
) -> None:
    memory = opened(embedders=[HashEmbedder(64), HashEmbedder(48, name="second")])
    memory.sync(root)
    memory.embed()
    write(root, "a.md", "The kettle is red!!", 1)
    shown = hook_context(
        memory.workspace, "kettle", budget=400, project=None, session=None, known={},
        until=time.monotonic() + 60,
    )  # fmt: skip
    assert "The kettle is red!!" in shown.text
    assert memory.models()[1].waiting == 1


def test_a_sync_embeds_the_few_passages_that_changed_but_not_a_first_one(
    opened: Callable[..., Memory], root: Path
) -> None:
    memory = opened(embedders=[HashEmbedder(64), HashEmbedder(48, name="second")])
    write(root, "b.md", "The pot is brown.", 0)
    assert memory.sync(root).waiting == 2
    memory.embed()
    write(root, "a.md", "The kettle is red!!", 1)
    done = memory.sync()
    assert (done.updated, done.embedded, done.waiting) == (1, 1, 0)
    write(root, "a.md", "The kettle is green!", 2)
    done = memory.sync(embed_seconds=60)
    assert (done.updated, done.embedded, done.waiting) == (1, 1, 0)


class SlowEmbedder(HashEmbedder):
    """A model that takes four tenths of a second, beside which all else takes little, also on a busy machine."""

    SECONDS = 0.4

    def embed(self, texts: Sequence[str], *, kind: TextKind = "passage") -> list[NDArray[np.float32]]:
        threading.Event().wait(self.SECONDS)
        return super().embed(texts, kind=kind)


def test_a_hook_reads_an_edited_note_again_only_if_it_has_the_time(
    opened: Callable[..., Memory], root: Path
) -> None:
    memory = opened(embedders=[SlowEmbedder(64)])
    memory.sync(root)

    def injected(seconds: float) -> str:
        return hook_context(
            memory.workspace, "kettle colour", budget=400, project=None, session=None, known={}, first=False,
            until=time.monotonic() + seconds,
        ).text  # fmt: skip

    assert "The kettle is blue." in injected(10 * SlowEmbedder.SECONDS)  # also loads modules
    write(root, "a.md", "The kettle is red!!", 1)
    assert "kettle" not in injected(SlowEmbedder.SECONDS)
    assert "The kettle is red!!" in injected(10 * SlowEmbedder.SECONDS)
