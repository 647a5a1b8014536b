"""What the tests of the frameworks' examples share: the example itself, and a memory that knows two things."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from scrubjay import Memory, NewMemory
from scrubjay.embeddings.hash_embedder import HashEmbedder

EXAMPLES = Path(__file__).parents[2] / "examples" / "frameworks"
KNOWN = ("Mara is on call in May.", "The spare key hangs in the boathouse.")


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open("memory://", user="ann", embedders=[HashEmbedder(64)]) as opened:
        opened.add_many(NewMemory(text, date="2026-03-01") for text in KNOWN)
        yield opened


@pytest.fixture
def example() -> Callable[[str], ModuleType]:
    """Import an example by the name of its file."""

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # where annotations are looked up
        spec.loader.exec_module(module)
        return module

    return load
