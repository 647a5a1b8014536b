"""Served: a made-up store of two people -> an open session of one of them, which is made anew after many changes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Generic, Protocol, TypeVar

from fuzz.queries import SAID, SECRET
from scrubjay import Memory
from scrubjay.api.auth import Principal
from scrubjay.config.loader import load_settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.server.session import Session

RENEWED: Final = 400
"""Changes after which the store is made anew, so that the last input finds what the first one found."""
LONGEST_WAIT: Final = 60
"""Seconds that an answer may take to come at all; a fuzzer that others leave no processor for once met 20."""
WHO: Final = Principal("default", "ann", scopes=("read", "write"))
"""Somebody who may read and write, and no administrator: they alone may name files of this machine."""
SHUT: Final = "http://127.0.0.1:9"
"""Upstream of the proxy: a port where nobody listens."""


class Server(Protocol):
    """What answers, on a store of its own."""

    changes: int

    def close(self) -> None:
        """End it, and remove its store."""


S = TypeVar("S", bound=Server)


class Renewed(Generic[S]):
    """A server that is replaced after `RENEWED` changes."""

    def __init__(self, make: Callable[[], S]) -> None:
        self._make = make
        self._held: list[S] = []

    def now(self) -> S:
        """Return it."""
        if not self._held or self._held[0].changes > RENEWED:
            self.close()
            self._held.append(self._make())
        return self._held[0]

    def close(self) -> None:
        """End the one that runs."""
        while self._held:
            self._held.pop().close()


@contextmanager
def served() -> Iterator[tuple[Session, Path]]:
    """Yield an open session, and the folder of its store."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "config.toml").write_text("")
        settings = load_settings(
            home / "config.toml",
            {},
            {
                "store": str(home / "memory.db"), "cache_dir": str(home / "cache"), "user": "ann",
                "proxy.openai": SHUT, "proxy.anthropic": SHUT,
            },
        )  # fmt: skip
        with Memory.open(settings=settings, user="bob", embedders=[HashEmbedder(64)]) as other:
            other.add(SECRET)
        with Memory.open(settings=settings, embedders=[HashEmbedder(64)]) as memory:
            for text in SAID:
                memory.add(text, date="2026-02-01")
        opening = lambda: Memory.open(settings=settings, embedders=[HashEmbedder(64)])  # noqa: E731
        with Session(settings, opening) as session:
            yield session, home
