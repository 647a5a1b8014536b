"""Rebuild and forget: what stays, what comes back, and what never does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from notes_folder import Listening, Notes

from scrubjay import Memory
from scrubjay.config.settings import Settings

TIDES = "---\npinned: true\ntags: sea\ndate: 2026-03-01\n---\n# Tides\n\nHigh at noon.\n"
GARDEN = """\
# Garden

All of it.

## Apples

The apple tree bears red fruit.

## Pears

The pear tree is old.
"""


def everything(memory: Memory, *paths: Path) -> list[object]:
    """What is kept of each file's passages, but for when it was written."""
    return [
        (r.id, r.content, r.tags, r.pinned, r.key, r.event, r.place)
        for path in paths
        for r in memory.get(path=path, limit=1_000_000).records
    ]


def test_a_forgotten_passage_never_comes_back_by_sync_or_rebuild(memory: Memory, notes: Notes) -> None:
    file = notes.write("garden.md", GARDEN)
    memory.sync(notes.root)
    pears = memory.search("pear", channels=["bm25"]).results[0]
    gone = memory.forget(pears.id)
    assert gone.ids == (pears.id,)
    assert gone.still == (f"{file}:9-11",)
    memory.rebuild()
    memory.sync()
    notes.write("garden.md", GARDEN + "\n## Plums\n\nBlue ones.\n")
    memory.sync()
    notes.write("copy.md", GARDEN)
    memory.sync()
    assert memory.search("pear", channels=["bm25"]).results == ()
    assert memory.search("plums", channels=["bm25"]).results[0].title == "Plums"


def test_a_forgotten_addition_can_be_added_again_on_purpose_or_not_at_all_but_never_by_rebuild(
    memory: Memory,
) -> None:
    added = memory.add("The code of the safe is 4711.")
    memory.forget(added.id)
    memory.rebuild()
    assert memory.search("safe", channels=["bm25"]).results == ()


def test_a_rebuild_keeps_ids_additions_pins_and_lines(memory: Memory, notes: Notes) -> None:
    garden = notes.write("garden.md", GARDEN)
    pinned = notes.write("tides.md", TIDES)
    memory.sync(notes.root)
    added = memory.add("The heron nests in the willow.", pinned=True, tags=["birds"], date="2026-05-04")
    record = memory.history(added.id).memory
    before = everything(memory, garden, pinned)
    memory.rebuild()
    assert everything(memory, garden, pinned) == before
    assert memory.history(added.id).memory == record
    assert memory.search("heron", channels=["bm25"]).results[0].id == added.id
    assert memory.sync().unchanged == len(before)


@pytest.mark.parametrize(
    "forgotten", [("Garden",), ("Apples",), ("Pears",), ("Garden", "Pears"), ("Apples", "Plums")]
)
def test_a_rebuild_after_something_was_forgotten_leaves_the_rest_where_it_stands(
    memory: Memory, notes: Notes, forgotten: tuple[str, ...]
) -> None:
    file = notes.write(
        "garden.md", GARDEN + "\n## Plums\n\nBlue ones.\r\nAnd yellow ones.\n\n## Quinces\n\nNone.\n"
    )
    memory.sync(notes.root)
    memory.forget([r.id for r in memory.get(path=file).records if r.title in forgotten])
    before = everything(memory, file)
    memory.rebuild()
    assert everything(memory, file) == before
    for record in memory.get(path=file).records:
        assert record.place is not None
        lines = file.read_bytes().decode().split("\n")[record.place.line_start - 1 : record.place.line_end]
        assert lines[0] in (f"## {record.title}", f"# {record.title}")


def test_what_is_cut_anew_reaches_over_no_gap_and_stands_where_its_text_does(
    memory: Memory, notes: Notes, opened: Callable[..., Memory], settings: Settings
) -> None:
    rows = ["".join(f"Bed {n} has beans in row {row}.\n\n" for row in range(20)) for n in range(6)]
    text = "\n".join(f"## Bed {n}\n\n{some}" for n, some in enumerate(rows))
    file = notes.write("beds.md", text)
    memory.sync(notes.root)
    memory.forget(
        [r.id for r in memory.get(path=file, limit=100_000).records if r.title in ("Bed 0", "Bed 2", "Bed 3")]
    )
    memory.close()
    again = opened(settings=replace(settings, chunk=replace(settings.chunk, target=60, overlap=10, most=80)))
    again.rebuild()
    found = again.get(path=file, limit=100_000).records
    places = [r.place for r in found if r.place is not None]
    assert len(places) == len(found) > 5
    assert [text[place.start : place.end] for place in places] == [r.content for r in found]
    assert [place.line_start for place in places] == [
        text.count("\n", 0, place.start) + 1 for place in places
    ]
    assert [place.ordinal for place in places] == sorted({place.ordinal for place in places})


def test_a_rebuild_needs_no_file(memory: Memory, notes: Notes) -> None:
    file = notes.write("garden.md", GARDEN)
    memory.sync(notes.root)
    before = everything(memory, file)
    file.unlink()
    notes.root.rmdir()
    memory.rebuild()
    assert everything(memory, file) == before
    assert memory.search("pear", channels=["bm25"]).results[0].title == "Pears"


def test_other_chunk_settings_cut_everything_anew_at_the_next_sync(
    opened: Callable[..., Memory], notes: Notes, settings: Settings
) -> None:
    long = "# Long\n\n" + "".join(f"Paragraph {n} tells of heron {n} at some length.\n\n" for n in range(60))
    file = notes.write("long.md", long)
    notes.write("garden.md", GARDEN)
    first = opened()
    before = first.sync(notes.root).passages
    kept = {record.title: record.id for record in first.get(path=notes.root / "garden.md").records}
    smaller = opened(
        settings=replace(settings, chunk=replace(settings.chunk, target=60, overlap=10, most=80))
    )
    after = smaller.sync()
    assert after.passages > before
    assert "".join(r.content for r in smaller.get(path=file, limit=100_000).records) == long
    # What is cut as before keeps its ids.
    assert {r.title: r.id for r in smaller.get(path=notes.root / "garden.md").records} == kept
    # The other process sees the new generation, and does not mix its own cuts in.
    assert len(first.get(path=file, limit=100_000).records) == len(
        smaller.get(path=file, limit=100_000).records
    )


def test_a_rebuild_embeds_with_the_base_model_and_keeps_what_others_made(
    opened: Callable[..., Memory], notes: Notes, model: Listening
) -> None:
    from scrubjay.embeddings.hash_embedder import HashEmbedder

    memory = opened(embedders=[model, HashEmbedder(32, name="second")])
    notes.write("garden.md", GARDEN)
    memory.sync(notes.root)
    assert memory.embed().waiting == 0
    memory.rebuild()
    reach = {status.name: (status.covered, status.waiting) for status in memory.models()}
    assert reach["hash"] == (3, 0)
    assert sum(reach["second"]) == 3
    assert memory.embed().waiting == 0
