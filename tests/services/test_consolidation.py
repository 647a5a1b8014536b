"""What a night makes of old conversations, tool results and daily notes, and how it is taken back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.config.settings import Settings
from scrubjay.errors import InputError, NotFoundError, StoreBusyError
from scrubjay.ingest.embedder import prepare_memory
from scrubjay.models.dates import SECOND, now_micros, to_datetime
from scrubjay.models.lifecycle import LifecycleChange, NewMemory
from scrubjay.storage.changes import PutLifecycle, PutMemory

Open = Callable[..., Memory]
NOW = "2026-03-01T12:00:00Z"
FILLER = "Are there many things one could do about it here and is it a good idea to take your time? "


def talk(session: str, day: str, count: int = 6, **fields: object) -> list[NewMemory]:
    """A conversation of one day, each turn with something of its own."""
    return [
        NewMemory(
            f"{FILLER * 2}The {session} mooring {number} costs {number * 13 + 7} euros in Lisbon.",
            session=session,
            role="assistant" if number % 2 else "user",
            turn=number,
            date=f"{day}T10:{number:02}:00Z",
            **fields,  # type: ignore[arg-type]
        )
        for number in range(count)
    ]


@pytest.fixture
def memory(opened: Open) -> Memory:
    return opened()


def test_a_closed_conversation_becomes_one_digest_that_leads_back(memory: Memory) -> None:
    turns = [one.id for one in memory.add_many(talk("heron", "2026-01-05"))]
    done = memory.consolidate(now=NOW)
    (made,) = done.made
    assert (sorted(made.sources), done.kinds, done.archived) == (sorted(turns), {"turn": 6}, 0)
    told = memory.history(made.id)
    assert sorted(told.evidence) == sorted(turns)
    assert (told.memory.origin, told.memory.session, told.memory.status) == ("derived", "heron", "active")
    assert [(event.op, event.count, event.run) for event in told.events] == [("derived", 6, done.run)]
    assert statuses(memory, turns) == ["active"] * 6
    found = memory.search("mooring Lisbon", tiers=("observation", "crystal")).results
    assert {one.id for one in found} >= {made.id, turns[0]}


def test_transcripts_are_archived_where_the_settings_say_so(opened: Open, settings: Settings) -> None:
    wish = replace(settings.consolidation, archive="transcripts")
    memory = opened(settings=replace(settings, consolidation=wish))
    turns = [one.id for one in memory.add_many(talk("heron", "2026-01-05"))]
    done = memory.consolidate(now=NOW)
    (made,) = done.made
    assert done.archived == 6
    assert [(event.op, event.before, event.other) for event in memory.history(turns[0]).events] == [
        ("archived", "active", made.id)
    ]
    found = memory.search("mooring Lisbon", tiers=("observation", "crystal")).results
    assert [one.id for one in found] == [made.id]
    assert memory.consolidate(now=NOW).run is None


def test_what_has_a_digest_is_archived_later_without_another_digest(memory: Memory) -> None:
    turns = [one.id for one in memory.add_many(talk("heron", "2026-01-05"))]
    (made,) = memory.consolidate(now=NOW).made
    done = memory.consolidate(now=NOW, archive="transcripts")
    assert (done.made, done.archived) == ((), 6)
    assert statuses(memory, turns) == ["archived"] * 6
    assert memory.undo(str(done.run)).restored == 6
    assert statuses(memory, [made.id, *turns]) == ["active"] * 7


def test_a_conversation_that_goes_on_has_one_digest_of_all_of_it(memory: Memory) -> None:
    memory.add_many(talk("heron", "2026-01-05"))
    (first,) = memory.consolidate(now=NOW).made
    more = memory.add(
        "The seventh mooring was sold to Mara for 900 euros.", session="heron", role="user", turn=6
    )
    assert memory.consolidate(now=NOW).made == ()  # it is open again
    later = "2030-01-01T00:00:00Z"
    told = memory.consolidate(now=later, dry_run=True)
    done = memory.consolidate(now=later)
    (made,) = done.made
    assert told.made == done.made
    assert set(made.sources) == {*first.sources, more.id}
    assert [one.id for one in memory.search("mooring Lisbon", tiers=("crystal",)).results] == [made.id]
    assert memory.consolidate(now=later).run is None


def test_daily_notes_are_never_archived_unasked(opened: Open, settings: Settings, tmp_path: Path) -> None:
    wish = replace(settings.consolidation, archive="transcripts")
    memory = opened(settings=replace(settings, consolidation=wish))
    memory.sync(diary(tmp_path, "2026-01-05", "2026-01-06"))
    before = everything(memory)
    assert memory.consolidate(now=NOW).run is None
    assert everything(memory) == before


def test_daily_notes_are_archived_by_hand_and_named(memory: Memory, tmp_path: Path) -> None:
    notes = diary(tmp_path, "2026-01-05", "2026-01-06")
    (notes / "2026-01-14-postgresql.md").write_text(f"# PostgreSQL\n\n{FILLER * 9}\n")
    memory.sync(notes)
    memory.add_many(talk("heron", "2026-01-05"))
    done = memory.consolidate(now=NOW, archive="notes")
    assert set(done.files) == {"2026-01-05.md", "2026-01-06.md"}
    assert sum(done.files.values()) == done.archived == done.kinds["note"]
    assert memory.undo(str(done.run)).restored == done.archived


def test_only_what_can_be_archived_may_be_named(memory: Memory) -> None:
    with pytest.raises(InputError, match="not transcripts or notes"):
        memory.consolidate(archive="everything")


def statuses(memory: Memory, ids: list[str]) -> list[str]:
    return [memory.history(one).memory.status for one in ids]


def everything(memory: Memory) -> tuple[list[object], list[object], int]:
    """All memories, events and runs that the caller sees."""
    with memory.workspace.store.reader(memory.workspace.scope) as reader:
        held = reader.get(reader.ids_with_prefix("", 100_000))
        return sorted(held.items()), reader.events(limit=100_000), len(reader.runs(100))


def test_a_second_run_changes_nothing_and_needs_no_row(memory: Memory) -> None:
    memory.add_many(talk("heron", "2026-01-05"))
    memory.consolidate(now=NOW)
    before = everything(memory)
    again = memory.consolidate(now=NOW)
    assert (again.run, again.made, again.archived) == (None, (), 0)
    assert everything(memory) == before


def test_undone_the_store_is_as_before_and_the_next_run_makes_the_same(memory: Memory) -> None:
    turns = [one.id for one in memory.add_many(talk("heron", "2026-01-05"))]
    before = everything(memory)[0]
    done = memory.consolidate(archive="transcripts", now=NOW)
    assert done.run is not None
    undone = memory.undo(done.run[:-2])
    assert (undone.run, undone.removed, undone.restored) == (done.run, 1, 6)
    assert everything(memory)[0] == before
    assert memory.undo(done.run).already
    assert memory.consolidate(archive="transcripts", now=NOW).made == done.made
    assert statuses(memory, turns) == ["archived"] * 6


def test_undoing_leaves_what_somebody_touched_since(memory: Memory) -> None:
    turns = [one.id for one in memory.add_many(talk("heron", "2026-01-05"))]
    done = memory.consolidate(archive="transcripts", now=NOW)
    memory.restore(turns[:2])
    memory.archive(turns[0])
    assert memory.undo(str(done.run)).restored == 4
    assert statuses(memory, turns) == ["archived", *["active"] * 5]


def test_a_run_that_nobody_knows_is_not_undone(memory: Memory) -> None:
    with pytest.raises(NotFoundError, match="No run is called 'run_00'"):
        memory.undo("run_00")


def test_what_a_person_restored_is_not_archived_again_unless_it_is_edited(
    memory: Memory, tmp_path: Path
) -> None:
    notes = diary(tmp_path, "2026-01-05")
    memory.sync(notes)
    (made,) = memory.consolidate(archive="notes", now=NOW).made
    one, *others = made.sources
    memory.restore(one)
    assert memory.consolidate(archive="notes", now=NOW).run is None
    assert statuses(memory, [one, *others]) == ["active", *["archived"] * len(others)]
    file = notes / "2026-01-05.md"
    file.write_text(file.read_text().replace("2026-01-05 mooring 0", "2026-01-05 edited mooring 0"))
    memory.sync(notes)
    done = memory.consolidate(archive="notes", now=NOW)
    assert (done.renewed, done.archived) == (1, len(made.sources))


def test_the_history_of_a_passage_that_a_run_archived_says_that_its_edit_restored_it(
    memory: Memory, tmp_path: Path
) -> None:
    notes = diary(tmp_path, "2026-01-05")
    memory.sync(notes)
    (made,) = memory.consolidate(archive="notes", now=NOW).made
    file = notes / "2026-01-05.md"
    file.write_text(file.read_text().replace("2026-01-05 mooring 0", "2026-01-05 edited mooring 0"))
    memory.sync(notes)
    (edited,) = [one for one in made.sources if "edited" in memory.history(one).memory.content]
    told = memory.history(edited)
    assert told.memory.status == "active"
    assert [(one.op, one.before) for one in told.events] == [("archived", "active"), ("restored", "archived")]
    assert memory.consolidate(archive="notes", now=NOW).archived == len(made.sources)


def diary(folder: Path, *days: str) -> Path:
    """A folder of daily notes, each with three sections."""
    notes = folder / "diary"
    notes.mkdir(exist_ok=True)
    for day in days:
        parts = (
            f"## Part {number}\n\n{FILLER * 3}\n\n- The {day} mooring {number} costs {number * 13 + 7} euros.\n"
            for number in range(3)
        )
        (notes / f"{day}.md").write_text(f"# {day}\n\n" + "\n".join(parts))
    return notes


@pytest.mark.parametrize("how", ["edited", "deleted", "forgotten"])
def test_a_digest_whose_source_changed_is_told_anew_without_what_is_gone(
    memory: Memory, tmp_path: Path, how: str
) -> None:
    notes = diary(tmp_path, "2026-01-05")
    file = notes / "2026-01-05.md"
    memory.sync(notes)
    first = memory.consolidate(archive="notes", now=NOW)
    assert [made.content.count("costs 20 euros") for made in first.made] == [1]
    parts = file.read_text().split("## Part ")
    if how == "forgotten":
        found = memory.search("mooring costs 20 euros", statuses=("archived",)).results[0]
        assert memory.forget(found.id).derived == (first.made[0].id,)
    else:
        changed = parts[2].replace("costs 20 euros", "costs 99 euros")
        file.write_text("## Part ".join([*parts[:2], *([changed] if how == "edited" else []), parts[3]]))
        memory.sync(notes)
    done = memory.consolidate(archive="notes", now=NOW)
    (made,) = done.made
    assert "costs 20 euros" not in made.content
    assert ("costs 99 euros" in made.content) == (how == "edited")
    assert "costs 33 euros" in made.content
    assert done.renewed == (how != "forgotten")
    assert [one.id for one in memory.search("mooring euros", tiers=("crystal",)).results] == [made.id]
    assert set(statuses(memory, list(made.sources))) == {"archived"}
    assert memory.consolidate(archive="notes", now=NOW).run is None


def test_what_is_pinned_withheld_added_young_open_or_a_note_of_its_own_is_never_touched(
    memory: Memory, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "2026-01-14-postgresql.md").write_text(f"# PostgreSQL\n\n{FILLER * 9}\n")
    memory.sync(notes)
    memory.add_many(
        [
            *talk("pinned", "2026-01-05", pinned=True),
            *talk("withheld", "2026-01-05", tags=["never-inject"]),
            *talk("young", "2026-02-20"),
            *talk("open", "2026-01-05"),
            NewMemory(f"{FILLER} and on", session="open", role="user", turn=99, date="2026-02-25T10:00:00Z"),
            NewMemory(FILLER * 9 + "added by hand", date="2026-01-05"),
            *talk("strange", "2026-01-05", origin="untrusted"),
        ]
    )
    before = everything(memory)
    assert memory.consolidate(now=NOW).run is None
    assert everything(memory) == before


def test_a_digest_that_somebody_pinned_stays_as_it_is(memory: Memory, tmp_path: Path) -> None:
    notes = diary(tmp_path, "2026-01-05")
    memory.sync(notes)
    (made,) = memory.consolidate(archive="notes", now=NOW).made
    desk = memory.workspace
    desk.store.write(desk.scope, [PutLifecycle({made.id: LifecycleChange(pinned=True)})])
    (notes / "2026-01-05.md").unlink()
    (notes / "other.md").write_text("# Other\n\nsomething else\n")
    memory.sync(notes)
    assert memory.consolidate(archive="notes", now=NOW).run is None
    assert memory.history(made.id).memory.content == made.content


def test_an_edit_is_noticed_whatever_the_clock_did(memory: Memory) -> None:
    memory.add_many(talk("heron", "2026-01-05"))
    (made,) = memory.consolidate(archive="transcripts", now=NOW).made
    desk = memory.workspace
    old = memory.history(made.sources[0]).memory
    edited = replace(
        old,
        content=f"{FILLER * 2}The mooring was sold for 3 euros.",
        content_hash="new",
        status="active",
        updated_at=0,
    )
    desk.store.write(desk.scope, [PutMemory(prepare_memory(edited))])
    done = memory.consolidate(archive="transcripts", now=NOW)
    assert (done.renewed, len(done.made), done.archived) == (1, 1, 6)
    assert "costs 7 euros" not in done.made[0].content


def test_a_digest_of_turns_that_a_fast_clock_has_dated_is_made_once(memory: Memory) -> None:
    turns = [one.id for one in memory.add_many(talk("heron", "2026-01-05"))]
    desk = memory.workspace
    with desk.store.reader(desk.scope) as reader:
        records = reader.get(turns)
    fast = now_micros() + 3_600 * SECOND  # the clock was right again before the night
    ahead = [PutMemory(prepare_memory(replace(one, updated_at=fast))) for one in records.values()]
    desk.store.write(desk.scope, ahead)
    assert len(memory.consolidate(now=NOW).made) == 1
    assert memory.consolidate(now=NOW).run is None


def test_a_digest_is_joined_with_its_sources_as_evidence_alone(opened: Open, settings: Settings) -> None:
    near = replace(settings, linking=replace(settings.linking, similarity=0.1))
    memory = opened(settings=near)
    memory.add_many([*talk("heron", "2026-01-05"), *talk("falcon", "2026-01-07", pinned=True)])
    (made,) = memory.consolidate(now=NOW).made
    kinds: dict[str, set[str]] = {}
    for link in memory.links(made.id):
        kinds.setdefault(link.kind, set()).add(link.id)
    assert kinds["derived_from"] == set(made.sources)
    assert kinds["similar"]
    assert kinds["similar"].isdisjoint(made.sources)


def test_an_empty_store_has_nothing_to_do(memory: Memory) -> None:
    done = memory.consolidate()
    assert (done.run, done.made, done.passed) == (None, (), "")


def test_a_dry_run_tells_what_would_be_made_and_writes_nothing(memory: Memory, tmp_path: Path) -> None:
    notes = diary(tmp_path, "2026-01-05")
    memory.sync(notes)
    memory.add_many(talk("heron", "2026-01-05"))
    before = everything(memory)
    told = memory.consolidate(archive="notes", now=NOW, dry_run=True)
    assert everything(memory) == before
    done = memory.consolidate(archive="notes", now=NOW)
    assert (told.made, told.kinds, told.archived) == (done.made, done.kinds, done.archived)
    file = notes / "2026-01-05.md"
    file.write_text(file.read_text().replace("costs 20 euros", "costs 99 euros"))
    memory.sync(notes)
    told = memory.consolidate(archive="notes", now=NOW, dry_run=True)
    done = memory.consolidate(archive="notes", now=NOW)
    assert (told.renewed, told.made) == (done.renewed, done.made)
    assert told.renewed == 1


def test_nothing_is_made_whose_text_was_forgotten(memory: Memory) -> None:
    turns = [one.id for one in memory.add_many(talk("heron", "2026-01-05"))]
    done = memory.consolidate(archive="transcripts", now=NOW)
    memory.forget([done.made[0].id])
    memory.undo(str(done.run))
    assert statuses(memory, turns) == ["active"] * 6
    assert memory.consolidate(archive="transcripts", now=NOW).made == ()
    assert statuses(memory, turns) == ["active"] * 6


@pytest.mark.parametrize("what", ["digest", "source"])
def test_forgetting_brings_back_what_the_night_archived_and_nothing_else(memory: Memory, what: str) -> None:
    turns = [one.id for one in memory.add_many(talk("heron", "2026-01-05"))]
    (made,) = memory.consolidate(archive="transcripts", now=NOW).made
    told = max(number for number in range(6) if f"mooring {number} costs" in made.content)
    by_hand, quoted = turns[(told + 1) % 6], turns[told]
    memory.restore(by_hand)
    memory.archive(by_hand)
    done = memory.forget(made.id if what == "digest" else quoted)
    left = [one for one in turns if what == "digest" or one != quoted]
    assert sorted(done.restored) == sorted(set(left) - {by_hand})
    assert statuses(memory, [by_hand]) == ["archived"]
    assert set(statuses(memory, list(done.restored))) == {"active"}


def test_of_near_identical_sessions_each_has_its_digest(memory: Memory) -> None:
    for session in ("one", "two"):
        memory.add_many(replace(turn, session=session) for turn in talk("heron", "2026-01-05"))
    done = memory.consolidate(now=NOW)
    assert len(done.made) == 2
    assert len({made.id for made in done.made}) == 2
    assert len({made.content for made in done.made}) == 1


def test_a_clock_that_stepped_back_neither_consolidates_nor_blocks(memory: Memory) -> None:
    memory.add_many(talk("heron", "2026-01-05"))
    assert memory.consolidate(now="2025-12-01T00:00:00Z").run is None
    assert memory.consolidate(now=NOW, if_due="4h").passed == ""
    assert memory.consolidate(now="2020-01-01T00:00:00Z", if_due="4h").passed == ""


def test_if_due_looks_again_only_when_the_time_is_over(memory: Memory) -> None:
    at = [to_datetime(now_micros() + hours * 3_600 * SECOND).isoformat() for hours in (0, 1, 3, 5)]
    assert memory.consolidate(now=at[0], if_due="4h").passed == ""
    rows = everything(memory)[2]
    assert memory.consolidate(now=at[2], if_due="4h").passed == "not due"
    assert memory.consolidate(now=at[3], if_due="4h").passed == ""
    assert everything(memory)[2] == rows
    memory.add_many(talk("heron", "2026-01-05"))
    assert memory.consolidate(now=at[3], if_due="4h").passed == "not due"
    assert len(memory.consolidate(now=at[3]).made) == 1
    with pytest.raises(InputError, match="not a length of time"):
        memory.consolidate(if_due="often")


def test_nobody_consolidates_or_counts_what_is_anothers(opened: Open) -> None:
    ann, bob = opened(user="ann", groups=("crew",)), opened(user="bob", groups=("crew",))
    private = [one.id for one in bob.add_many(talk("bobs", "2026-01-05"))]
    shared = [one.id for one in bob.add_many(talk("crews", "2026-01-05", visibility="group", group="crew"))]
    done = ann.consolidate(archive="transcripts", now=NOW)
    assert [(made.key, sorted(made.sources)) for made in done.made] == [("group:crew", sorted(shared))]
    assert done.kinds == {"turn": 6}
    assert statuses(bob, private) == ["active"] * 6
    mine = bob.consolidate(archive="transcripts", now=NOW)
    assert [(made.key, sorted(made.sources)) for made in mine.made] == [("user:bob", sorted(private))]
    with pytest.raises(NotFoundError):
        ann.undo(str(mine.run))
    assert bob.undo(str(done.run)).restored == 6


def test_whoever_comes_second_does_nothing_and_says_so(memory: Memory) -> None:
    memory.add_many(talk("heron", "2026-01-05"))
    desk = memory.workspace
    with desk.store.try_exclusive(desk.scope, "consolidate"):
        assert memory.consolidate(now=NOW).passed == "busy"
        with pytest.raises(StoreBusyError):
            memory.undo("run_0")
    assert len(memory.consolidate(now=NOW).made) == 1


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_every_store_is_consolidated_and_taken_back_alike(
    opened: Open, request: pytest.FixtureRequest, kind: str
) -> None:
    url = request.getfixturevalue("postgres_url") if kind == "postgres" else None
    memory = opened(url, tenant="night")
    memory.add_many([*talk("heron", "2026-01-05"), *talk("falcon", "2026-01-07", 50)])
    before = everything(memory)[0]
    done = memory.consolidate(archive="transcripts", now=NOW)
    assert sorted(len(made.sources) for made in done.made) == [6, 25, 25]
    assert memory.consolidate(archive="transcripts", now=NOW).run is None
    assert memory.undo(str(done.run)).restored == 56
    assert everything(memory)[0] == before


@pytest.mark.parametrize("days", [-1, 36_501])
def test_a_number_of_days_out_of_range_is_refused(memory: Memory, days: int) -> None:
    with pytest.raises(InputError, match=f"after_days is {days}"):
        memory.consolidate(after_days=days)
