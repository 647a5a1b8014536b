"""Who has as much as [quota] allows is told so, loses nothing that is stored, and goes on reading and putting right."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.config.settings import QuotaSettings, Settings
from scrubjay.errors import QuotaError
from scrubjay.ingest.transcripts.importer import TURN_BATCH
from scrubjay.models.lifecycle import NewMemory
from scrubjay.models.records import QuotaUsage, RecordFilter
from scrubjay.services.search import STALE_QUOTA

LONG_AGO = 1_700_000_000
Limited = Callable[..., Memory]


@pytest.fixture
def limited(opened: Callable[..., Memory], settings: Settings) -> Limited:
    """Open the test's store with limits."""

    def open_(url: Path | None = None, user: str = "ann", **limits: int) -> Memory:
        return opened(url, user=user, settings=replace(settings, quota=QuotaSettings(**limits)))

    return open_


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


def write(folder: Path, name: str, *sections: str, second: int = 0) -> None:
    """Write a note of a passage a section."""
    (folder / name).write_text("".join(f"# {text}\n\nAbout the {text}.\n\n" for text in sections))
    os.utime(folder / name, (LONG_AGO + second, LONG_AGO + second))


def texts(memory: Memory) -> list[str]:
    return sorted(record.content for record in memory.page().records)


def test_an_addition_beyond_the_limit_is_refused_and_one_that_is_known_is_not(limited: Limited) -> None:
    memory = limited(memories_per_user=2)
    memory.add("The kettle is blue.")
    memory.add("The mast is 12 metres.")
    with pytest.raises(QuotaError, match=r"has 2 of 2 memories .* Nothing was written"):
        memory.add("The heron eats fish.")
    assert memory.add("The kettle is blue.").existed
    assert texts(memory) == ["The kettle is blue.", "The mast is 12 metres."]
    assert [hit.snippet for hit in memory.search("kettle").results][:1] == ["The kettle is blue."]


def test_of_more_than_one_transaction_takes_none_is_written_where_not_all_fit(limited: Limited) -> None:
    memory = limited(memories_per_tenant=1_100)
    with pytest.raises(QuotaError, match="would add 1,200"):
        memory.add_many([NewMemory(f"Fact number {number}") for number in range(1_200)])
    assert memory.status().memories == 0


def test_who_is_full_corrects_a_memory_and_its_earlier_text_is_kept(limited: Limited) -> None:
    memory = limited(memories_per_user=2)
    number = memory.add("The kettle is blue.").id
    memory.add("The mast is 12 metres.")
    done = memory.update(number, "The kettle is red.")
    assert done.before is not None
    assert memory.get([number]).records[0].content == "The kettle is red."
    memory.archive([number])
    memory.forget([number])
    memory.add("The heron eats fish.")


def test_a_sync_takes_the_files_that_fit_and_names_the_others(limited: Limited, notes: Path) -> None:
    memory = limited(memories_per_user=4)
    write(notes, "a.md", "kettle", "spoon")
    write(notes, "b.md", "mast", "keel", "rudder")
    write(notes, "c.md", "heron")
    done = memory.sync(notes)
    assert [Path(one.path).name for one in done.problems] == ["b.md"]
    assert "has 2 of 4 memories" in done.problems[0].message or "has 3 of 4" in done.problems[0].message
    assert done.problems[0].message.endswith("What is stored of this file stays as it was.")
    assert "scrubjay forget" in done.problems[0].hint
    assert (done.added, done.passages, done.files) == (3, 3, 3)
    assert memory.search("heron").results
    limited(memories_per_user=6).sync(notes)
    assert memory.status().memories == 6


def test_the_old_passages_of_a_file_that_grew_too_large_stay_until_there_is_room(
    limited: Limited, notes: Path
) -> None:
    memory = limited(memories_per_user=3)
    write(notes, "a.md", "kettle", "spoon")
    write(notes, "b.md", "mast")
    memory.sync(notes)
    before = texts(memory)
    write(notes, "a.md", "teapot", "ladle", "whisk", second=9)
    for _ in range(2):  # it is tried anew each time
        done = memory.sync()
        assert [Path(one.path).name for one in done.problems] == ["a.md"]
        assert (done.added, done.updated, done.removed, done.unchanged) == (0, 0, 0, 3)
        assert texts(memory) == before
    write(notes, "a.md", "teapot", "ladle", second=19)
    assert memory.sync().problems == ()
    assert ["teapot" in text for text in texts(memory)].count(True) == 1


def test_a_file_that_is_gone_makes_room_and_one_that_moved_needs_none(limited: Limited, notes: Path) -> None:
    memory = limited(memories_per_user=2)
    write(notes, "a.md", "kettle")
    write(notes, "b.md", "mast")
    memory.sync(notes)
    (notes / "a.md").rename(notes / "z.md")
    assert memory.sync().problems == ()
    (notes / "b.md").unlink()
    write(notes, "c.md", "heron")
    memory.sync()
    assert memory.sync().problems == ()
    assert memory.status().documents == 2


def test_what_files_that_fit_say_is_connected_though_others_of_their_batch_are_refused(
    limited: Limited, notes: Path
) -> None:
    """A concept that a refused file names first is written with the file that names it next."""
    (notes / "a.md").write_text(
        "# One\n\nJane Goodall and Jane Goodall.\n\n# Two\n\nJane Goodall.\n\n# Three\n\nNo.\n"
    )
    (notes / "b.md").write_text("# Four\n\nWe met Jane Goodall today, and Jane Goodall spoke.\n")
    memory = limited(memories_per_user=2)
    assert [Path(one.path).name for one in memory.sync(notes).problems] == ["a.md"]
    (known,) = memory.concepts.list(query="Jane Goodall")
    assert known.memories == 1


def test_a_transcript_that_does_not_fit_ends_where_there_was_room_and_goes_on_there(
    limited: Limited, tmp_path: Path
) -> None:
    """Its parts are written one after the other: the last, which is small, must not leave a gap before it."""
    logs = tmp_path / "logs" / "garden"
    logs.mkdir(parents=True)
    (logs / "s1.jsonl").write_text("".join(said(number) for number in range(1, 2 * TURN_BATCH + 11)))
    memory = limited(memories_per_user=TURN_BATCH + 20)
    done = memory.sync(logs.parent)
    assert [Path(one.path).name for one in done.problems] == ["s1.jsonl"]
    assert (done.added, memory.status().memories) == (TURN_BATCH, TURN_BATCH)
    again = limited(memories_per_user=5 * TURN_BATCH).sync()
    assert (again.added, again.problems) == (TURN_BATCH + 10, ())
    with memory.workspace.store.reader(memory.workspace.scope) as reader:
        turns = [one.turn for one in reader.latest(RecordFilter(), 3 * TURN_BATCH)]
    assert sorted(turn for turn in turns if turn is not None) == list(range(2 * TURN_BATCH + 10))


def said(number: int) -> str:
    """A line of a transcript, of an assistant that states nothing."""
    record = {
        "type": "assistant",
        "uuid": f"00000001-0000-4000-8000-{number:012d}",
        "parentUuid": None,
        "sessionId": "s1",
        "isSidechain": False,
        "cwd": "/not/here/garden",
        "timestamp": f"2026-03-{1 + number // 1000:02d}T{number // 60 % 24:02d}:{number % 60:02d}:00Z",
        "message": {"role": "assistant", "content": f"Row {number} of the garden is done."},
    }
    return json.dumps(record) + "\n"


def test_a_search_says_that_changed_files_were_not_taken_in(limited: Limited, notes: Path) -> None:
    memory = limited(memories_per_user=1)
    write(notes, "a.md", "kettle")
    memory.sync(notes)
    write(notes, "b.md", "heron")
    found = memory.search("kettle")
    assert STALE_QUOTA in found.partial
    assert found.results


def test_an_import_keeps_what_it_took_and_goes_on_when_there_is_room(
    limited: Limited, tmp_path: Path
) -> None:
    export = tmp_path / "export.jsonl"
    with Memory.open(tmp_path / "other.db", user="ann") as other:
        other.add_many([NewMemory(f"Fact number {number}") for number in range(3)])
        other.export(export)
    with pytest.raises(QuotaError, match="What was imported before that stays") as told:
        limited(memories_per_user=2).import_(export)
    assert "run the same import again" in told.value.hint
    limited(memories_per_user=3).import_(export)
    assert limited().status().memories == 3


def test_a_copy_that_would_not_fit_is_not_begun(limited: Limited, tmp_path: Path) -> None:
    full, there = limited(), tmp_path / "there.db"
    full.add_many([NewMemory(f"Fact number {number}") for number in range(3)])
    with pytest.raises(QuotaError, match="would add 3"):
        limited(memories_per_user=2).copy(there)
    limited(memories_per_user=3).copy(there)
    assert limited(there).status().memories == 3


def test_a_status_tells_what_is_used_and_allowed_to_whoever_asks(limited: Limited) -> None:
    ann = limited(memories_per_user=5, memories_per_tenant=9)
    bob = limited(user="bob", memories_per_user=5, memories_per_tenant=9)
    ann.add("The kettle is blue.")
    bob.add_many([NewMemory("The mast is 12 metres."), NewMemory("The heron eats fish.")])
    assert ann.status().quota == (
        QuotaUsage("memories_per_user", 5, 1),
        QuotaUsage("memories_per_tenant", 9, 3),
    )
    assert limited().status().quota == ()
    assert ann.seen_by("cy").status().quota[0] == QuotaUsage("memories_per_user", 5, 0)
