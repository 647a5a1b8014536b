"""Steps: what is done with a text of a document or a question, through the doors that a person or an agent has."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from scrubjay import Memory
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import ScrubjayError
from scrubjay.models.lifecycle import NewMemory

Step = Callable[[str], object]

SAID = (
    "Ann prefers tea to coffee, and oolong to both.",
    "The deploy of the heron service waits for a green build; `make ship` begins it.",
    "On 1 March 2026 the mast of the Osprey broke in a gale off Bergen.",
)


@contextmanager
def documents() -> Iterator[dict[str, Step]]:
    """Yield what takes a document, by name."""
    from scrubjay.redaction.redactor import redact_text

    with tempfile.TemporaryDirectory() as folder:
        root, taken = Path(folder), iter(range(1_000_000_000))

        def opened() -> Memory:
            return Memory.open(root / f"{next(taken)}.db", user="ann", embedders=[HashEmbedder(64)])

        def sync(name: str) -> Step:
            def step(text: str) -> None:
                place = root / str(next(taken))
                place.mkdir()
                (place / name).write_text(text, encoding="utf-8", newline="")
                with opened() as memory:
                    memory.sync(place)

            return step

        def say(text: str) -> None:
            with opened() as memory:
                _quietly(lambda: memory.add(text, session="s", role="user", turn=0))

        def add(text: str) -> None:
            with opened() as memory:
                _quietly(lambda: memory.add(text))

        yield {
            "scrub": redact_text,
            **{f"sync {name}": sync(name) for name in ("a.md", "a.py", "a.txt")},
            "add": add,
            "say": say,
        }


@contextmanager
def questions() -> Iterator[dict[str, Step]]:
    """Yield what takes a question, by name."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory.open(Path(folder) / "memory.db", user="ann", embedders=[HashEmbedder(64)]) as memory,
    ):
        memory.add_many([NewMemory(text) for text in SAID])
        yield {"search": memory.search, "thread": memory.thread, "context": memory.context}


def _quietly(step: Callable[[], object]) -> None:
    """Do something that may be refused: a text without a word is no memory."""
    try:
        step()
    except ScrubjayError:
        return
