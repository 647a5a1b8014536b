"""A question is answered from one view of the store, which nothing slow holds open."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.config.settings import Settings
from scrubjay.embeddings.base import EmbedderCatalog
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.models.records import Scope
from scrubjay.services.models import ModelRegistry, caller_catalog
from scrubjay.services.search import StageTimer, open_view
from scrubjay.services.workspace import Workspace
from scrubjay.storage.sqlite.reader import SQLiteReader
from scrubjay.storage.sqlite.store import SQLiteStore

BASE, SECOND = HashEmbedder(64), HashEmbedder(48, name="second")
SCOPE = Scope("default", "ann")
LONG_AGO = 1_700_000_000


class Watched(SQLiteStore):
    """A store that knows how many views of it were opened, and how many are open."""

    views = open = 0

    @contextmanager
    def reader(self, scope: Scope) -> Iterator[SQLiteReader]:
        self.views += 1
        self.open += 1
        try:
            with super().reader(scope) as reader:
                yield reader
        finally:
            self.open -= 1


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Watched]:
    with closing(Watched(tmp_path / "memory.db")) as opened:
        yield opened


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "synced"
    folder.mkdir()
    write(folder, "The kettle is blue.", 0)
    return folder


def write(folder: Path, text: str, second: int) -> None:
    (folder / "a.md").write_text(text)
    os.utime(folder / "a.md", (LONG_AGO + second, LONG_AGO + second))


def desk(store: Watched, settings: Settings, catalog: EmbedderCatalog) -> Workspace:
    return Workspace(store, SCOPE, ModelRegistry(store, SCOPE, catalog, cold=False), settings)


@pytest.mark.parametrize(
    "ask",
    [lambda m: m.search("kettle"), lambda m: m.context("kettle"), lambda m: m.thread("kettle")],
    ids=["search", "context", "thread"],
)
def test_a_question_opens_one_view_when_nothing_changed(
    store: Watched, settings: Settings, root: Path, ask: Callable[[Memory], object]
) -> None:
    memory = Memory(desk(store, settings, caller_catalog([BASE, SECOND])))
    memory.sync(root)
    ask(memory)
    store.views = 0
    ask(memory)
    assert store.views == 1


def test_what_changed_is_taken_in_while_no_view_is_open_and_is_true_by_the_time_of_the_next(
    store: Watched, settings: Settings, root: Path
) -> None:
    at = desk(store, settings, caller_catalog([BASE]))
    Memory(at).sync(root)
    write(root, "The kettle is red!!", 1)
    with open_view(at, StageTimer()) as seen:
        (passage,) = seen.reader.page("", 9)
        assert (passage.content, store.open) == ("The kettle is red!!", 1)
        assert passage.recorded_at <= seen.now
    assert store.open == 0


def test_a_model_is_opened_while_no_view_is_open(store: Watched, settings: Settings) -> None:
    ModelRegistry(store, SCOPE, caller_catalog([BASE, SECOND]), cold=False).ensure_base_model()
    open_then: list[int] = []

    def opener() -> HashEmbedder:
        open_then.append(store.open)
        return SECOND

    at = desk(store, settings, EmbedderCatalog(BASE, {"second": opener}))

    def names() -> Sequence[str]:
        with open_view(at, StageTimer()) as seen:
            return seen.names

    assert [names(), names()] == [["hash", "second"]] * 2
    assert open_then == [0]
    assert (
        store.views == 1 + 2 + 1
    )  # of what wrote the models; the first, which was closed for the model; the second
