"""What a file says of itself (tags, date, pin, visibility), and what is never stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from notes_folder import Listening, Notes

from scrubjay import Memory
from scrubjay.config.settings import Settings

SAID = "---\ntags: [Harbour, tides]\ndate: 2026-03-01\npinned: true\n---\n# Tides\n\nHigh water at noon.\n"


def test_front_matter_gives_tags_date_and_pin(memory: Memory, notes: Notes) -> None:
    file = notes.write("tides.md", SAID)
    memory.sync(notes.root)
    record = memory.get(path=file).records[0]
    assert (record.tags, record.pinned) == (("harbour", "tides"), True)
    result = memory.search("high water", tags=["tides"], since="2026-03-01", until="2026-03-01").results[0]
    assert (result.date, result.tags) == ("2026-03-01", ("harbour", "tides"))
    assert memory.search("high water", tags=["rivers"]).results == ()
    assert memory.search("high water", since="2026-03-02").results == ()


def test_changed_front_matter_reaches_every_passage_of_its_file(memory: Memory, notes: Notes) -> None:
    text = "---\ntags: old\n---\n# A\n\nheron\n\n# B\n\nstork\n"
    notes.write("birds.md", text)
    memory.sync(notes.root)
    notes.write("birds.md", text.replace("old", "new"))
    memory.sync()
    assert memory.search("stork", tags=["old"]).results == ()
    assert memory.search("stork", tags=["new"], channels=["bm25"]).results[0].title == "B"


def test_what_is_not_shared_is_seen_by_its_owner_alone(
    opened: Callable[..., Memory], notes: Notes, model: Listening
) -> None:
    notes.write("mine.md", "# Mine\n\nheron\n")
    notes.write("ours.md", "---\nvisibility: group:birders\n---\n# Ours\n\nheron\n")
    notes.write("all.md", "---\nvisibility: public\n---\n# All\n\nheron\n")
    ann = opened(user="ann", groups=["birders"])
    ann.sync(notes.root, share=True)
    seen = {
        who: sorted(result.title for result in opened(user=who, groups=groups).search("heron").results)
        for who, groups in (("bob", ()), ("cleo", ("birders",)))
    }
    assert seen == {"bob": ["All"], "cleo": ["All", "Ours"]}
    assert sorted(result.title for result in ann.search("heron").results) == ["All", "Mine", "Ours"]


def test_a_group_the_writer_is_not_in_is_named_and_the_note_kept_private(
    opened: Callable[..., Memory], notes: Notes
) -> None:
    notes.write("ours.md", "---\nvisibility: group:admins\n---\n# Ours\n\nheron\n")
    ann = opened(user="ann")
    summary = ann.sync(notes.root, share=True)
    assert "kept private" in summary.problems[0].message
    assert opened(user="eve", groups=["admins"]).search("heron").results == ()
    assert len(ann.search("heron").results) == 1


def test_a_note_that_becomes_private_leaves_everybody_else(
    opened: Callable[..., Memory], notes: Notes
) -> None:
    notes.write("all.md", "---\nvisibility: public\n---\n# All\n\nheron\n")
    ann, bob = opened(user="ann"), opened(user="bob")
    ann.sync(notes.root, share=True)
    assert len(bob.search("heron").results) == 1
    notes.write("all.md", "# All\n\nheron\n")
    ann.sync()
    assert bob.search("heron").results == ()
    assert len(ann.search("heron").results) == 1


def test_secrets_and_private_spans_reach_neither_store_nor_model(
    memory: Memory, notes: Notes, model: Listening, settings: Settings
) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    notes.write("keys.md", f"# Keys\n\nThe token is {token}.\n\n<private>\nbehind the mirror\n</private>\n")
    summary = memory.sync(notes.root)
    assert sum(summary.scrubbed.values()) >= 1
    memory.add(f"Use {token} for the robot. <private>behind the mirror</private>")
    memory.embed()
    kept = b"".join(path.read_bytes() for path in Path(settings.store).parent.glob("memory.db*"))
    for lost in (token, "mirror"):
        assert lost.encode() not in kept
        assert not any(lost in heard for heard in model.heard)
    assert "[secret:" in memory.search("token").results[0].snippet


def test_an_addition_and_its_line_in_the_day_note_are_one_memory(
    opened: Callable[..., Memory], notes: Notes, settings: Settings
) -> None:
    memory = opened(settings=replace(settings, notes=replace(settings.notes, dir=notes.root)))
    added = memory.add("The heron nests in the old willow.", tags=["birds"])
    assert added.note is not None
    memory.sync(notes.root)
    results = memory.search("heron willow", channels=["bm25"]).results
    assert [result.id for result in results] == [added.id]
    assert results[0].path is not None
    assert results[0].tags == ("birds",)
    again = memory.add("The heron nests in the old willow.", tags=["birds"])
    assert (again.id, again.existed) == (added.id, True)
    memory.sync()
    assert memory.search("heron willow", channels=["bm25"]).results[0].id == added.id


def test_two_additions_of_one_day_stay_two(
    opened: Callable[..., Memory], notes: Notes, settings: Settings
) -> None:
    memory = opened(settings=replace(settings, notes=replace(settings.notes, dir=notes.root)))
    one, two = memory.add("The heron nests in the willow."), memory.add("The stork nests on the roof.")
    memory.sync(notes.root)
    assert {r.id for r in memory.search("nests", channels=["bm25"]).results} == {one.id, two.id}
    assert memory.get(one.id).records[0].content.count("stork") == 0


def test_an_edit_of_an_addition_in_its_note_is_an_edit_of_the_memory(
    opened: Callable[..., Memory], notes: Notes, settings: Settings
) -> None:
    memory = opened(settings=replace(settings, notes=replace(settings.notes, dir=notes.root)))
    added = memory.add("The heron nests in the willow.")
    memory.sync(notes.root)
    (note,) = notes.root.glob("*.md")
    notes.write(note.name, note.read_text().replace("willow", "alder"))
    memory.sync()
    assert [r.id for r in memory.search("alder", channels=["bm25"]).results] == [added.id]
    assert memory.search("willow", channels=["bm25"]).results == ()
