"""A passage that is never to be injected stays so, whatever becomes of its file; a note can say so itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from notes_folder import Notes

from scrubjay import Memory
from scrubjay.config.settings import ChunkingSettings, Settings
from scrubjay.errors import InputError

GARDEN = "# Garden\n\nAll of it.\n\n## Apples\n\nThe apple tree bears red fruit.\n\n## Pears\n\nThe pear tree is old.\n"


def withheld(memory: Memory) -> set[str]:
    """The texts' last words."""
    found = memory.timeline(tags=["never-inject"], statuses=["active"]).memories
    return {record.content.split()[-1] for record in found}


def named(memory: Memory, file: Path, words: str) -> str:
    return next(record.id for record in memory.get(path=file).records if words in record.content)


def test_feedback_outlives_a_touch_an_edit_a_rename_and_a_rebuild(memory: Memory, notes: Notes) -> None:
    file = notes.write("garden.md", GARDEN)
    memory.sync(notes.root)
    memory.feedback(named(memory, file, "pear tree"), "never-inject")
    for text in (GARDEN, GARDEN.replace("red", "green"), GARDEN.replace("is old", "is very old")):
        notes.write("garden.md", text)
        memory.sync()
        assert withheld(memory) == {"old."}
    file.rename(file.with_name("orchard.md"))
    memory.sync()
    assert withheld(memory) == {"old."}
    memory.rebuild()
    assert withheld(memory) == {"old."}
    memory.feedback(named(memory, file.with_name("orchard.md"), "pear tree"), "inject")
    notes.write("orchard.md", GARDEN.replace("All", "Everything"))
    memory.sync()
    memory.rebuild()
    assert withheld(memory) == set()


def test_the_first_passage_of_a_note_does_not_pass_it_on(memory: Memory, notes: Notes) -> None:
    file = notes.write("garden.md", GARDEN)
    memory.sync(notes.root)
    memory.feedback(named(memory, file, "All of it"), "never-inject")
    memory.rebuild()
    assert withheld(memory) == {"it."}
    notes.write("garden.md", GARDEN + "\n## Plums\n\nThe plum tree blooms.\n")
    memory.sync()
    assert withheld(memory) == {"it."}


def test_pieces_of_a_passage_that_a_rebuild_cuts_anew_keep_it(
    opened: Callable[..., Memory], settings: Settings, notes: Notes
) -> None:
    text = " ".join(f"The apple tree number {n} bears red fruit in autumn." for n in range(30))
    notes.write("apples.md", text)
    with opened(settings=settings) as memory:
        memory.sync(notes.root)
        (record,) = memory.timeline().memories
        memory.feedback(record.id, "never-inject")
    with opened(settings=replace(settings, chunk=ChunkingSettings(target=60, overlap=0, most=80))) as memory:
        memory.rebuild()
        pieces = memory.timeline().memories
    assert len(pieces) > 2
    assert all(piece.tags == ("never-inject",) for piece in pieces)


def test_a_note_says_so_in_its_front_matter_and_takes_it_back_there(memory: Memory, notes: Notes) -> None:
    said = f"---\ntags: [trees, never-inject]\n---\n{GARDEN}"
    file = notes.write("garden.md", said)
    memory.sync(notes.root)
    memory.rebuild()
    assert withheld(memory) == {"it.", "fruit.", "old."}
    pears = named(memory, file, "pear tree")
    with pytest.raises(InputError, match=rf"comes from {file}:\d+-\d+\. Nothing was written") as refused:
        memory.feedback(pears, "inject")
    assert refused.value.hint == "remove it there, then scrubjay sync"
    notes.write("garden.md", said.replace(", never-inject", ""))
    memory.sync()
    assert withheld(memory) == set()
    memory.feedback(pears, "never-inject")
    assert memory.look(pears).memory.tags == ("never-inject", "trees")


def test_an_addition_keeps_it_when_its_note_is_synced(
    opened: Callable[..., Memory], settings: Settings, notes: Notes
) -> None:
    noting = replace(settings, notes=replace(settings.notes, dir=notes.root))
    with opened(settings=noting) as memory:
        one = memory.add("Deploys happen on Thursday.").id
        memory.feedback(one, "never-inject")
        memory.sync(notes.root)
        memory.rebuild()
        assert memory.look(one).memory.place is not None
        assert memory.look(one).memory.tags == ("never-inject",)
        assert memory.feedback(one, "inject").ids == (one,)
        assert memory.look(one).memory.tags == ()


def test_a_turn_keeps_it_when_its_log_grows_and_is_written_anew(memory: Memory, notes: Notes) -> None:
    said = [f'{{"role": "user", "content": "The kayak leaks at {n}"}}\n' for n in range(4)]
    notes.write("talk.jsonl", "".join(said[:2]))
    memory.sync(notes.root, include=["*.jsonl"])
    turn = next(record for record in memory.timeline().memories if record.content.endswith("1"))
    memory.feedback(turn.id, "never-inject")
    for lines in (said[:3], [*said[1:3], said[3]], said):
        notes.write("talk.jsonl", "".join(lines))
        memory.sync()
        memory.rebuild()
        assert withheld(memory) == {"1"}


def test_an_export_and_a_copy_take_it_along(
    opened: Callable[..., Memory], settings: Settings, notes: Notes, tmp_path: Path
) -> None:
    file = notes.write("garden.md", GARDEN)
    with opened() as memory:
        memory.sync(notes.root)
        memory.feedback(named(memory, file, "pear tree"), "never-inject")
        memory.export(tmp_path / "x.jsonl")
        memory.copy(tmp_path / "copy.db")
    imported = opened(settings=replace(settings, store=str(tmp_path / "imported.db")))
    imported.import_(tmp_path / "x.jsonl")
    notes.write("garden.md", GARDEN.replace("red", "green"))
    for other in (imported, opened(settings=replace(settings, store=str(tmp_path / "copy.db")))):
        other.sync()
        assert withheld(other) == {"old."}
        assert [record.content for record in other.get(path=file).records if "green" in record.content]
