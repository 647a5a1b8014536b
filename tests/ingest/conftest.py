"""What the tests of the write path share: a folder of notes, settings, a store."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scrubjay import Memory
from scrubjay.config.loader import load_settings
from scrubjay.config.settings import FactSettings, Settings

sys.path.insert(0, str(Path(__file__).parent))

from notes_folder import Listening, Notes


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    root = tmp_path / "notes"
    root.mkdir()
    return Notes(root)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    environ = {"SCRUBJAY_CONFIG": "", "XDG_CONFIG_HOME": str(tmp_path / "none"), "SCRUBJAY_USER": "ann"}
    environ["SCRUBJAY_SYNC_LOOK_SECONDS"] = "60"  # what is answered must not hang on how busy the machine is
    found = load_settings(environ=environ)
    # Most tests write memories that differ by a word, and nothing is to become of those meanwhile.
    quiet = replace(found, facts=FactSettings(stages=()))
    return replace(quiet, store=str(tmp_path / "memory.db"), cache_dir=tmp_path / "cache")


@pytest.fixture
def learning(settings: Settings) -> Settings:
    return replace(settings, facts=FactSettings())


@pytest.fixture
def model() -> Listening:
    return Listening()


@pytest.fixture
def opened(settings: Settings, model: Listening, empty_store: Path) -> Iterator[Callable[..., Memory]]:
    """Open the test's store, as often as wanted; all are closed at the end."""
    held: list[Memory] = []
    shutil.copy(empty_store, settings.store)

    def open_(**changes: Any) -> Memory:
        with_changes = changes.pop("settings", settings)
        held.append(
            Memory.open(settings=with_changes, embedders=changes.pop("embedders", [model]), **changes)
        )
        return held[-1]

    yield open_
    for memory in held:
        memory.close()


@pytest.fixture
def memory(opened: Callable[..., Memory]) -> Memory:
    return opened()
