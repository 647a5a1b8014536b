"""One store, seen by several principals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from scrubjay import Memory
from scrubjay.config.loader import load_settings
from scrubjay.config.settings import NotesSettings
from scrubjay.embeddings.hash_embedder import HashEmbedder


def opened(folder: Path) -> Memory:
    settings = replace(load_settings(environ={}), store=str(folder / "m.db"), user="ann", groups=("crew",))
    settings = replace(settings, notes=NotesSettings(folder / "notes"))
    return Memory.open(settings=settings, embedders=[HashEmbedder(64)])


def test_each_principal_sees_their_own_and_what_is_shared_with_their_groups(tmp_path: Path) -> None:
    with opened(tmp_path) as ann:
        ann.add("The zeppelin is grey.")
        shared = ann.add("The zeppelin lands at noon.", visibility="group", group="crew").id
        bob, eve = ann.seen_by("bob", groups=("crew",)), ann.seen_by("eve")
        assert [each.id for each in bob.search("zeppelin").results] == [shared]
        assert eve.search("zeppelin").results == ()
        mine = eve.add("The zeppelin is mine.").id
        assert [each.id for each in eve.search("zeppelin").results] == [mine]
        assert ann.seen_by("ann", tenant="other").search("zeppelin").results == ()
        assert len(ann.search("zeppelin").results) == 2


def test_only_the_owner_of_the_settings_writes_day_notes(tmp_path: Path) -> None:
    with opened(tmp_path) as ann:
        assert ann.seen_by("bob").add("Bob was here.").note is None
        assert ann.seen_by("ann", tenant="other").add("Ann was elsewhere.").note is None
        assert ann.seen_by("ann").add("Ann was here.").note is not None
