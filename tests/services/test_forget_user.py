"""A user who is forgotten leaves neither a memory nor a name in the store, and takes nothing of anybody else's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.config.settings import Settings
from scrubjay.models.records import STATUSES

NAME = "zyxwalrus"
WORD = "xylophonist"


def stored(url: str, folder: Path) -> bytes:
    """Return all that a store holds: the bytes of its files, or the rows of its tables as text."""
    if not url.startswith("postgresql:"):
        return b"".join(file.read_bytes() for file in folder.glob("memory.db*"))
    import psycopg

    with psycopg.connect(url, options="-c search_path=scrubjay") as db:
        tables = db.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'scrubjay'").fetchall()
        rows = [db.execute(f'SELECT t::text FROM "{table}" t').fetchall() for (table,) in tables]
    return repr(rows).encode()


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(request.getfixturevalue("database") if request.param == "postgres" else tmp_path / "memory.db")


def test_neither_the_name_nor_a_word_of_a_forgotten_user_is_left(
    opened: Callable[..., Memory], settings: Settings, url: str, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "band.md").write_text(
        f"# Band\n\nThe {WORD} lives in Valparaiso with Ines Roth, see [[pier]].\n"
    )
    (notes / "pier.md").write_text("# Pier\n\nInes Roth walks there.\n")
    ann = opened(url, user="ann", groups=["crew"])
    crew = replace(settings, groups=("crew",))
    bo = opened(url, user=NAME, settings=replace(crew, user=NAME))
    kept = [ann.add(text, visibility="public").id for text in ("The mast is oak.", "The keel is lead.")]
    ann.link(kept[0], kept[1], rule="part of the boat")
    for number in range(12):
        bo.add(f"I always prefer the {WORD} over the piper, on evening {number}.")
    shared = bo.add(f"The {WORD} practises on the pier.", visibility="public").id
    bo.add(f"The {WORD} sails with the crew.", visibility="group", group="crew")
    bo.sync(notes)
    bo.concepts.add("Ines Roth", [f"the {WORD}"])
    bo.link(kept[1], kept[0], rule=f"told by the {WORD}")
    bo.feedback(kept[0], "useful")
    bo.consolidate()
    ann.link(kept[0], shared)
    assert NAME.encode() in stored(url, tmp_path)

    done = opened(url, user=NAME, settings=replace(settings, user=NAME)).forget_everything()

    assert len(done.ids) >= 15
    found = stored(url, tmp_path).lower()
    assert (NAME.encode() in found, WORD.encode() in found) == (False, False)
    left = sorted(one.content for one in ann.page(statuses=STATUSES).records)
    assert left == ["The keel is lead.", "The mast is oak."]
    assert [(link.id, link.rule) for link in ann.links(kept[0])] == [(kept[1], "part of the boat")]
    assert [(event.op, event.actor) for event in ann.history(kept[0]).events][:1] == [("useful", "")]
    assert bo.sources() == []


def test_a_shared_concept_that_somebody_added_stays_when_a_user_is_forgotten(
    opened: Callable[..., Memory], settings: Settings, url: str
) -> None:
    ann = opened(url, user="ann", groups=["crew"])
    ann.concepts.add("Quoll", ["spotted cat"], visibility="group", group="crew")
    bo = opened(url, user=NAME, settings=replace(settings, user=NAME, groups=("crew",)))
    bo.add("The Quoll sings.", visibility="group", group="crew")
    bo.forget_everything()
    assert [(one.name, one.memories) for one in ann.concepts.list()] == [("Quoll", 0)]
    assert ann.concepts.show("Quoll").concept.aliases == ("spotted cat",)


def test_an_import_after_a_user_is_forgotten_brings_no_names_from_their_texts_back(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    memory, file = opened(), tmp_path / "all.jsonl"
    for visit in range(3):
        memory.add(
            f"Visit {visit} with Doctor Ahrens at the Uniklinik Kassel.", session="s", role="user", turn=visit
        )
    assert "Doctor Ahrens" in {one.name for one in memory.concepts.list()}
    memory.export(file)
    with Memory.open("memory://", user="ann") as other:
        assert other.import_(file).concepts == len(memory.concepts.list())
    memory.forget_everything()
    assert memory.import_(file).concepts == 0
    assert memory.concepts.list() == ()
