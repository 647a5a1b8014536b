"""What the tests of the wiring share: settings of nobody's machine, a notes folder, stores that are closed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chat_service import Chat, serving
from scrubjay import Memory
from scrubjay.config.loader import load_settings
from scrubjay.config.settings import NotesSettings, Settings
from scrubjay.embeddings.hash_embedder import HashEmbedder


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    environ = {"SCRUBJAY_CONFIG": "", "XDG_CONFIG_HOME": str(tmp_path / "none"), "SCRUBJAY_USER": "ann"}
    environ["SCRUBJAY_SYNC_LOOK_SECONDS"] = "60"  # what is answered must not hang on how busy the machine is
    return replace(load_settings(environ=environ), cache_dir=tmp_path / "cache")


@pytest.fixture
def opened(settings: Settings, tmp_path: Path, empty_store: Path) -> Iterator[Callable[..., Memory]]:
    """Open the test's store file, as often as wanted; all are closed at the end."""
    held: list[Memory] = []

    def open_(url: str | Path | None = None, **changes: Any) -> Memory:
        changes.setdefault("settings", settings)
        changes.setdefault("embedders", [HashEmbedder(64)])
        if url is None and not (tmp_path / "memory.db").exists():
            shutil.copy(empty_store, tmp_path / "memory.db")
        held.append(Memory.open(url or tmp_path / "memory.db", **changes))
        return held[-1]

    yield open_
    for memory in held:
        memory.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "notes"


@pytest.fixture
def noting(opened: Callable[..., Memory], settings: Settings, folder: Path) -> Memory:
    """A memory whose settings name a notes folder."""
    return opened(settings=replace(settings, notes=NotesSettings(dir=folder)))


@pytest.fixture
def chat() -> Iterator[Chat]:
    with serving() as running:
        yield running


@pytest.fixture
def told() -> list[str]:
    """What was announced."""
    return []
