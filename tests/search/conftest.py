"""What the tests of the read path share: settings of nobody's machine, and stores of one principal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scrubjay import Memory
from scrubjay.config.loader import load_settings
from scrubjay.config.settings import FactSettings, Settings
from scrubjay.embeddings.hash_embedder import HashEmbedder

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    environ = {"SCRUBJAY_CONFIG": "", "XDG_CONFIG_HOME": str(tmp_path / "none"), "SCRUBJAY_USER": "ann"}
    environ["SCRUBJAY_SYNC_LOOK_SECONDS"] = "60"  # what is answered must not hang on how busy the machine is
    # What ranks is asked of memories that differ by a word; nothing is to become of them meanwhile.
    return replace(load_settings(environ=environ), facts=FactSettings(stages=()))


@pytest.fixture
def opened(settings: Settings) -> Iterator[Callable[..., Memory]]:
    """Open a store, ``memory://`` with one model unless said otherwise; all are closed at the end."""
    held: list[Memory] = []

    def open_(url: str | Path = "memory://", **changes: Any) -> Memory:
        changes.setdefault("settings", settings)
        changes.setdefault("embedders", [HashEmbedder(64)])
        held.append(Memory.open(url, **changes))
        return held[-1]

    yield open_
    for memory in held:
        memory.close()


@pytest.fixture
def memory(opened: Callable[..., Memory]) -> Memory:
    return opened()
