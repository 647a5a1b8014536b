"""What a search does not ask of the store: each statement costs it a tenth of a millisecond."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from scrubjay import Memory
from scrubjay.embeddings.hash_embedder import HashEmbedder

NOTES = ["The kettle is blue.", "The blue kettle was descaled in May.", "A lamp stands by the kettle."]


@contextmanager
def statements() -> Iterator[list[str]]:
    """Collect the statements of every connection that is opened meanwhile."""
    seen: list[str] = []

    def watch(connection: apsw.Connection) -> None:
        def keep(event: dict[str, Any]) -> None:
            seen.append(event["sql"])

        connection.trace_v2(apsw.SQLITE_TRACE_STMT, keep)

    apsw.connection_hooks.append(watch)
    try:
        yield seen
    finally:
        apsw.connection_hooks.remove(watch)


def test_a_search_of_notes_asks_for_no_turns_beside_them_and_only_for_links_that_the_store_has(
    tmp_path: Path,
) -> None:
    store = tmp_path / "memory.db"
    with Memory.open(store, user="ann", embedders=[HashEmbedder(64)]) as memory:
        for text in NOTES:
            memory.add(text)
    with statements() as seen, Memory.open(store, user="ann", embedders=[HashEmbedder(64)]) as memory:
        assert len(memory.search("blue kettle", min_relevance=0.0).results) == 3
    read = [one for one in seen if one.startswith("SELECT")]
    assert any("FROM memory" in one for one in read)
    assert not [one for one in read if "n.session = m.session" in one]
    # Two of them are alike: of the six kinds and directions that count, the store has this one.
    assert len([one for one in read if "FROM edge" in one and "weight DESC" in one]) == 1


def test_a_search_of_turns_asks_for_the_turns_beside_them(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    with Memory.open(store, user="ann", embedders=[HashEmbedder(64)]) as memory:
        for turn, text in enumerate(NOTES):
            memory.add(text, session="s", turn=turn)
    with statements() as seen, Memory.open(store, user="ann", embedders=[HashEmbedder(64)]) as memory:
        assert memory.search("blue kettle", min_relevance=0.0).results
    assert [one for one in seen if "n.session = m.session" in one]
