"""Learned memories as Markdown files in a folder of the person's choice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.config.settings import NotesSettings, Settings
from scrubjay.errors import InputError, SourceError

MAST = "The mast is twelve metres."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "vault").mkdir()
    return tmp_path / "vault" / "Learned"


@pytest.fixture
def learned(settings: Settings, folder: Path) -> Settings:
    return replace(settings, notes=NotesSettings(learned_dir=folder))


@pytest.fixture
def memory(opened: Callable[..., Memory], learned: Settings) -> Memory:
    return opened(settings=learned)


def written(folder: Path) -> dict[str, str]:
    return {str(file.relative_to(folder)): file.read_text("utf-8") for file in sorted(folder.rglob("*.md"))}


def texts(memory: Memory) -> list[str]:
    return [record.content.strip() for record in memory.page().records]


def text_of(memory: Memory, identity: str) -> str:
    return memory.get(identity).records[0].content


def only(folder: Path) -> Path:
    (file,) = folder.rglob("*.memory.md")
    return file


def test_nothing_is_written_unless_a_folder_is_named(opened: Callable[..., Memory], tmp_path: Path) -> None:
    with opened() as memory:
        memory.add(MAST)
    assert not list(tmp_path.rglob("*.memory.md"))


def test_an_addition_becomes_a_file_with_its_fields(memory: Memory, folder: Path) -> None:
    added = memory.add(MAST, tier="semantic", tags=["boat"], date="2026-03-01", project="github.com/ann/boat")
    ((path, text),) = written(folder).items()
    assert path.startswith("github.com-ann-boat/The mast is twelve metres ")
    head, _, body = text.removeprefix("---\n").partition("\n---\n\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    assert body == MAST + "\n"
    assert (fields["id"], fields["kind"], fields["project"], fields["date"], fields["status"], fields["tags"]) == (
        added.id, "semantic", '"github.com/ann/boat"', "2026-03-01", "active", '["boat"]',
    )  # fmt: skip


def test_the_same_memories_are_the_same_bytes(memory: Memory, folder: Path) -> None:
    memory.add(MAST)
    memory.add("The keel is lead.", tags=["boat"])
    before = written(folder)
    times = {file: file.stat().st_mtime_ns for file in folder.rglob("*.md")}
    memory.sync()
    memory.enrich()
    assert written(folder) == before
    assert times == {file: file.stat().st_mtime_ns for file in folder.rglob("*.md")}
    for file in folder.rglob("*.md"):
        file.unlink()
    memory.export(folder, format="markdown")
    assert written(folder) == before


def test_turns_and_passages_are_not_written_and_facts_name_their_turn(
    opened: Callable[..., Memory], learned: Settings, folder: Path, tmp_path: Path
) -> None:
    from scrubjay.config.settings import FactSettings

    memory = opened(settings=replace(learned, facts=FactSettings()))
    (tmp_path / "vault" / "a.md").write_text("# Note\n\nA passage.\n")
    memory.sync(tmp_path / "vault")
    report = memory.add(
        "I always prefer tabs over spaces in Go code.", session="s1", turn=3, role="user", agent="codex"
    )
    assert report.learned
    text = only(folder).read_text()
    assert 'evidence: ["codex s1, turn 3"]' in text
    assert "origin: derived" in text


def test_a_folder_inside_a_source_is_not_read_as_notes(memory: Memory, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder.parent / "note.md").write_text("# A note\n\nOf a person.\n")
    (folder / "own.md").write_text("# Also of a person\n\nBeside them.\n")
    memory.add(MAST)
    report = memory.sync(folder.parent)
    assert report.files == 2  # the person's own, also the one in the folder
    assert texts(memory).count(MAST) == 1
    assert "mast" not in "".join(texts(memory)).replace(MAST, "")
    memory.search("mast metres")  # looks for changed files itself
    assert texts(memory).count(MAST) == 1
    assert len(texts(memory)) == 3


def test_an_edited_file_becomes_a_new_version_and_keeps_the_persons_fields(
    memory: Memory, folder: Path
) -> None:
    added = memory.add(MAST, tags=["boat"])
    file = only(folder)
    text = (
        file.read_text().replace("twelve", "thirteen").replace("\nchecksum:", "\ncssclasses: wide\nchecksum:")
    )
    file.write_text(text)
    (notice,) = memory.sync().notices
    assert added.id in notice.message
    assert text_of(memory, added.id) == "The mast is thirteen metres."
    assert any(event.op == "changed" for event in memory.history(added.id).events)
    assert "cssclasses: wide" in only(folder).read_text()
    assert "thirteen" in only(folder).read_text()
    before = written(folder)
    memory.sync()
    assert written(folder) == before


def test_edited_tags_are_stored(memory: Memory, folder: Path) -> None:
    added = memory.add(MAST, tags=["boat"])
    file = only(folder)
    file.write_text(file.read_text().replace('tags: ["boat"]', "tags:\n  - boat\n  - Rigging"))
    memory.sync()
    assert memory.records([added.id]).memories[0].tags == ("boat", "rigging")
    assert memory.sync().problems == ()


@pytest.mark.parametrize(
    ("old", "new"), [("date: 2026-03-01", "date: 2025-03-01"), ("kind: observation", "kind: lesson")]
)
def test_an_edited_field_that_is_not_read_is_reported_and_stays_in_the_file(
    memory: Memory, folder: Path, old: str, new: str
) -> None:
    added = memory.add(MAST, date="2026-03-01")
    file = only(folder)
    file.write_text(file.read_text().replace(old, new).replace("twelve", "thirteen"))
    for _ in range(2):
        (problem,) = memory.sync().problems
        assert problem.message.startswith(new.partition(":")[0])
    memory.archive(added.id)
    memory.sync()
    assert new in file.read_text()
    assert text_of(memory, added.id) == "The mast is thirteen metres."
    file.write_text(file.read_text().replace(new, old))
    assert memory.sync().problems == ()
    assert "status: archived" in file.read_text()


def test_an_edited_date_that_the_memory_gets_too_is_no_problem(memory: Memory, folder: Path) -> None:
    added = memory.add(MAST, date="2026-03-01")
    file = only(folder)
    file.write_text(file.read_text().replace("date: 2026", "date: 2025"))
    memory.update(added.id, date="2025-03-01")
    assert memory.sync().problems == ()
    memory.archive(added.id)
    memory.sync()
    assert "status: archived" in file.read_text()


def test_where_file_and_store_changed_the_file_wins_and_the_other_text_is_kept(
    memory: Memory, opened: Callable[..., Memory], settings: Settings, folder: Path
) -> None:
    added = memory.add(MAST)
    elsewhere = opened(settings=settings)  # a process without the folder
    elsewhere.update(added.id, content="The mast is eleven metres.")
    file = only(folder)
    file.write_text(file.read_text().replace("twelve", "thirteen"))
    memory.sync()
    assert text_of(memory, added.id) == "The mast is thirteen metres."
    versions = memory.page(statuses=["superseded"]).records
    assert {one.content for one in versions} == {MAST, "The mast is eleven metres."}


def test_a_deleted_file_is_written_again_and_its_memory_stays(memory: Memory, folder: Path) -> None:
    added = memory.add(MAST)
    only(folder).unlink()
    memory.forget(memory.add("The keel is lead.").id)
    assert "twelve" in only(folder).read_text()
    assert memory.get(added.id).records[0].status == "active"


def test_a_forgotten_memory_loses_its_file_and_does_not_come_back(memory: Memory, folder: Path) -> None:
    added = memory.add(MAST)
    copy = only(folder).read_text()
    memory.forget(added.id)
    assert written(folder) == {}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "again.memory.md").write_text(copy)  # git brings it back
    memory.sync()
    assert written(folder) == {}
    assert texts(memory) == []


def test_an_archived_memory_says_so(memory: Memory, folder: Path) -> None:
    added = memory.add(MAST)
    memory.archive(added.id)
    assert "status: archived" in only(folder).read_text()


def test_a_file_that_was_moved_stays_where_it_is(memory: Memory, folder: Path) -> None:
    added = memory.add(MAST)
    file = only(folder)
    moved = folder / "boat" / "mast.memory.md"
    moved.parent.mkdir()
    file.rename(moved)
    memory.update(added.id, content="The mast is thirteen metres.")
    assert only(folder) == moved
    memory.sync()
    assert only(folder) == moved
    assert "thirteen" in moved.read_text()


@pytest.mark.parametrize("name", ["a copy.memory.md", "general/z copy.memory.md"])
@pytest.mark.parametrize("original", ["twelve", "thirteen"])
def test_an_edited_copy_of_a_file_changes_no_memory_and_is_reported_until_it_is_one_of_its_own(
    memory: Memory, folder: Path, name: str, original: str
) -> None:
    memory.add(MAST)
    file, copy = only(folder), folder / name
    file.write_text(file.read_text().replace("twelve", original))
    copy.write_text(file.read_text().replace(original, "nine"))
    edited = copy.read_text()
    for _ in range(2):
        (problem,) = memory.sync().problems
        assert (problem.path, copy.read_text()) == (str(copy), edited)
        assert texts(memory) == [MAST.replace("twelve", original)]
    copy.write_text("".join(line for line in edited.splitlines(True) if line[:3] not in ("id:", "sto")))
    assert memory.sync().problems == ()
    assert sorted(texts(memory)) == sorted([MAST.replace("twelve", original), MAST.replace("twelve", "nine")])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("---\nkind: semantic\n---\n\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n", "conflict"),
        ("---\nkind: [\n---\n\nText.\n", "not YAML"),
        ("---\nkind: nonsense\n---\n\nText.\n", "nonsense"),
        ("---\nkind: semantic\n---\n\n", "no text"),
    ],
)
def test_a_file_that_is_no_memory_is_reported_and_left(
    memory: Memory, folder: Path, text: str, says: str
) -> None:
    memory.add(MAST)
    file = only(folder)
    file.write_text(text)
    (problem,) = memory.sync().problems
    assert says in problem.message
    assert file.read_text() == text
    memory.add("Another.")
    assert file.read_text() == text


def test_a_file_that_a_person_writes_becomes_a_memory(memory: Memory, folder: Path) -> None:
    folder.mkdir(parents=True)
    file = folder / "keel.memory.md"
    file.write_text("---\ntags: [boat]\nmood: calm\n---\nThe keel is lead.\n")
    memory.sync()
    (found,) = memory.page().records
    assert (found.content, found.tags, found.tier) == ("The keel is lead.", ("boat",), "observation")
    assert only(folder) == file
    assert file.read_text() == "---\ntags: [boat]\nmood: calm\n---\nThe keel is lead.\n"
    assert memory.sync().problems == ()
    assert texts(memory) == ["The keel is lead."]


def test_an_edited_file_of_a_person_becomes_a_new_version_and_stays_as_it_is(
    memory: Memory, folder: Path
) -> None:
    folder.mkdir(parents=True)
    file = folder / "berth.memory.md"
    (folder / "boat").mkdir()
    (folder / "boat" / "keel.memory.md").write_text("The keel is lead.\n")
    for number in (12, 14, 16):
        file.write_text(f"Our berth is number {number}.\n")
        assert memory.sync().problems == ()
        assert sorted(texts(memory)) == [f"Our berth is number {number}.", "The keel is lead."]
        assert file.read_text() == f"Our berth is number {number}.\n"
        assert len(written(folder)) == 2


def test_a_file_of_a_person_that_is_older_than_the_memory_takes_nothing_back(
    memory: Memory, folder: Path
) -> None:
    folder.mkdir(parents=True)
    (folder / "berth.memory.md").write_text("Our berth is number 12.\n")
    memory.sync()
    (found,) = memory.page().records
    memory.update(found.id, content="Our berth is number 14.")
    memory.sync()
    assert text_of(memory, found.id) == "Our berth is number 14."


def test_two_edited_files_of_one_name_are_not_taken_for_each_other(memory: Memory, folder: Path) -> None:
    files = [folder / name / "todo.memory.md" for name in ("boat", "car")]
    for file in files:
        file.parent.mkdir(parents=True)
        file.write_text(f"The {file.parent.name} needs oil.\n")
    memory.sync()
    for file in files:
        file.write_text(f"The {file.parent.name} needs paint.\n")
    memory.sync()
    assert sorted(texts(memory)) == sorted(
        f"The {name} needs {thing}." for name in ("boat", "car") for thing in ("oil", "paint")
    )


def test_a_secret_in_an_edit_is_not_stored_and_stays_in_the_file(memory: Memory, folder: Path) -> None:
    memory.add(MAST)
    file = only(folder)
    secret = "ghp_" + "a1B2" * 9
    file.write_text(file.read_text().replace("metres.", f"metres. Token {secret}"))
    memory.sync()
    assert secret in file.read_text()
    for _ in range(2):
        (problem,) = memory.sync().problems
        assert "secret" in problem.message
    assert secret not in str(texts(memory))


def test_only_memories_of_that_user_and_of_the_chosen_visibility_are_written(
    opened: Callable[..., Memory], learned: Settings, folder: Path
) -> None:
    other = opened(settings=replace(learned, user="bob", notes=NotesSettings()))
    other.add("Bob shares the anchor.", visibility="public")
    notes = NotesSettings(learned_dir=folder, learned_visibility=("public",))
    memory = opened(settings=replace(learned, notes=notes))
    memory.add(MAST)
    memory.add("The keel is lead.", visibility="public")
    memory.sync()
    ((_, text),) = written(folder).items()
    assert "keel" in text
    assert "visibility: public" in text


def test_files_of_another_user_of_the_store_are_neither_stored_nor_removed(
    opened: Callable[..., Memory], learned: Settings, folder: Path
) -> None:
    ann, bob = (opened(settings=replace(learned, user=user)) for user in ("ann", "bob"))
    ann.add("Ann will resign in May.")
    bob.sync()
    assert texts(bob) == []
    bob.forget(bob.add("Ann will resign in May.").id)
    bob.sync()
    assert [text.endswith("Ann will resign in May.\n") for text in written(folder).values()] == [True]
    assert texts(ann) == ["Ann will resign in May."]


def test_a_second_users_export_of_markdown_leaves_the_files_of_the_first(
    opened: Callable[..., Memory], settings: Settings, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    for user, text in (("ann", "The crew meets on Tuesdays."), ("bob", "The crew pays on Fridays.")):
        memory = opened(settings=replace(settings, user=user, groups=("crew",)))
        memory.add(text, visibility="group", group="crew")
        assert memory.export(out, format="markdown").counts["removed"] == 0
    assert len(written(out)) == 2


def test_two_machines_that_share_the_folder_have_one_file_a_memory(
    opened: Callable[..., Memory], learned: Settings, folder: Path, tmp_path: Path
) -> None:
    one = opened(settings=learned)
    two = opened(tmp_path / "two.db", settings=learned)
    one.add(MAST)
    before = written(folder)
    two.sync()  # brought by git
    assert texts(two) == [MAST]
    two.add("The keel is lead.")
    one.sync()
    assert sorted(texts(one)) == sorted(texts(two))
    assert len(texts(one)) == 2
    for _ in range(2):
        for memory in (one, two):
            assert memory.sync().problems == ()
    assert len(written(folder)) == 2
    assert before.items() <= written(folder).items()


def test_two_machines_that_say_different_things_are_told_and_nothing_is_lost(
    opened: Callable[..., Memory], learned: Settings, folder: Path, tmp_path: Path
) -> None:
    one = opened(settings=learned)
    two = opened(tmp_path / "two.db", settings=learned)
    added = one.add(MAST)
    two.sync()
    one.update(added.id, content="The mast is thirteen metres.")
    text = only(folder).read_text()
    (problem,) = two.sync().problems
    assert "differs" in problem.message
    assert only(folder).read_text() == text
    assert texts(two) == [MAST]


def test_an_export_of_markdown_writes_once_and_leaves_what_was_edited(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    memory = opened()
    memory.add(MAST)
    out = tmp_path / "out"
    report = memory.export(out, format="markdown")
    assert report.counts["memory"] == 1
    file = only(out)
    file.write_text(file.read_text().replace("twelve", "nine"))
    edited = file.read_text()
    memory.export(out, format="markdown")
    assert file.read_text() == edited
    assert texts(memory) == [MAST]


def test_an_export_of_markdown_into_a_source_is_refused(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    memory = opened()
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("A note.\n")
    memory.sync(notes)
    with pytest.raises(InputError, match="a second time"):
        memory.export(notes / "out", format="markdown")
    assert not (notes / "out").exists()


def test_a_folder_that_cannot_be_written_is_an_error_and_the_memory_is_stored(
    opened: Callable[..., Memory], learned: Settings, folder: Path
) -> None:
    folder.write_text("a file where the folder should be")
    memory = opened(settings=learned)
    with pytest.raises(SourceError, match="is stored"):
        memory.add(MAST)
    assert texts(memory) == [MAST]


def test_digests_that_are_taken_back_lose_their_files_and_do_not_come_back(
    memory: Memory, folder: Path
) -> None:
    for number in range(8):
        memory.add(
            f"The pump of the boat failed on day {number}: the impeller of the pump was worn, a new impeller fixed it.",
            session=f"s{number // 4}", turn=number % 4, role="user", date=f"2026-01-0{number + 1}",
        )  # fmt: skip
    before = set(written(folder))
    report = memory.consolidate()
    assert report.run is not None
    assert set(written(folder)) - before
    memory.undo(report.run)
    memory.sync()
    assert set(written(folder)) == before


def test_what_an_older_backup_lacks_comes_back_from_its_file(
    memory: Memory, opened: Callable[..., Memory], learned: Settings, folder: Path, tmp_path: Path
) -> None:
    memory.add("The keel is lead.")
    memory.backup(tmp_path / "backup.db")
    memory.add(MAST)
    restored = opened(tmp_path / "backup.db", settings=learned)
    restored.sync()
    assert sorted(texts(restored)) == ["The keel is lead.", MAST]
    assert len(written(folder)) == 2


def test_a_memory_that_was_forgotten_while_its_file_was_edited_stays_forgotten_and_the_file_stays(
    memory: Memory, folder: Path
) -> None:
    added = memory.add(MAST)
    file = only(folder)
    file.write_text(file.read_text().replace("twelve", "thirteen"))
    memory.forget(added.id)
    assert texts(memory) == []
    assert "thirteen" in file.read_text()
    (problem,) = memory.sync().problems
    assert "not stored any more" in problem.message
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in lines if not line.startswith(("id:", "store:"))))
    memory.sync()
    assert texts(memory) == ["The mast is thirteen metres."]


def test_a_memory_about_a_merge_conflict_is_no_conflict_of_its_file(memory: Memory, folder: Path) -> None:
    memory.add("A merge left this:\n<<<<<<< HEAD\nport = 80\n=======\nport = 81\n>>>>>>> branch\nKeep 81.")
    assert memory.sync().problems == ()
    file = only(folder)
    file.write_text(file.read_text().replace("Keep 81.", "<<<<<<< HEAD\nKeep 81.\n>>>>>>> laptop"))
    (problem,) = memory.sync().problems
    assert "conflict" in problem.message


def test_a_folder_whose_parent_is_gone_is_not_made_anew(
    opened: Callable[..., Memory], settings: Settings, tmp_path: Path
) -> None:
    away = tmp_path / "unmounted" / "vault" / "Learned"
    memory = opened(settings=replace(settings, notes=NotesSettings(learned_dir=away)))
    with pytest.raises(SourceError, match="does not exist"):
        memory.add(MAST)
    assert not (tmp_path / "unmounted").exists()


def test_two_memories_with_one_title_in_one_project_have_a_file_each(memory: Memory, folder: Path) -> None:
    memory.add("The first.", title="Same / title: [x] #y", project="github.com/ann/boat")
    memory.add("The second.", title="Same / title: [x] #y", project="github.com/ann/boat")
    assert len(written(folder)) == 2
    assert all(not set(path.rpartition("/")[2]) & set('[]#^|:"') for path in written(folder))


def test_a_file_that_a_person_wrote_is_found_by_its_name(memory: Memory, folder: Path) -> None:
    memory.add(MAST)
    (folder / "general" / "Winter berth.memory.md").write_text("Hamble, from October to March.\n", "utf-8")
    memory.sync()
    found = memory.search("winter berth").results
    assert found[0].title == "Winter berth"
    before = texts(memory)
    memory.sync()
    assert texts(memory) == before
