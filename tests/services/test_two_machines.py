"""Two stores of one person on two machines, merged by export and import."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.models.records import STATUSES

NOTES = {
    "boat.md": "# Boat\n\nThe mast is 12 metres.\n\n# Keel\n\nThe keel is lead, see [[garden]].\n",
    "garden.md": "# Garden\n\nBeans are sown in May.\n",
    "deep/rig.md": "# Rig\n\nThe jib is red.\n",
}


class Machine:
    """A store, with the same notes at a path of its own and conversations of its own."""

    def __init__(self, memory: Memory, home: Path, name: str) -> None:
        self.memory, self.home, self.name = memory, home, name
        self.notes, self.logs = home / "notes", home / "logs"

    def begin(self) -> None:
        for path, text in NOTES.items():
            file = self.notes / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        self.logs.mkdir(parents=True)
        self.talk(
            self.name,
            f"I keep the {self.name} laptop in the blue drawer.",
            "I always prefer tabs over spaces in Go code.",
        )
        self.memory.sync(self.notes)
        self.memory.sync(self.logs)

    def talk(self, session: str, *texts: str) -> None:
        rows = [
            {"role": "user", "content": text, "session": session, "id": f"{session}{number}"}
            for number, text in enumerate(texts)
        ]
        (self.logs / f"{session}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def send(self, other: Machine) -> int:
        """Merge this machine's memories into another's; return how many were added there."""
        file = self.home / "export.jsonl"
        self.memory.export(file, overwrite=True)
        return other.memory.import_(file).added

    def texts(self, *statuses: str) -> Counter[str]:
        page = self.memory.page(statuses=statuses or STATUSES, limit=1000)
        return Counter(
            f"{one.tier} {one.status} {one.content.strip()}{'' if one.turn is None else f' ({one.session})'}"
            for one in page.records
        )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the machines are in each test: their stores name their folders."""
    return tmp_path_factory.mktemp("machines") / "now"


@pytest.fixture
def machines(opened: Callable[..., Memory], place: Path) -> tuple[Machine, Machine]:
    """Two machines that have synced, which is done once; each test has a copy of both."""

    def at_place() -> tuple[Machine, Machine]:
        one = Machine(opened(place / "one.db"), place / "home" / "ann", "one")
        return one, Machine(opened(place / "two.db"), place / "Users" / "ann", "two")

    synced = place.with_name("synced")
    if not synced.exists():
        for machine in at_place():
            machine.begin()
            machine.memory.close()
        place.rename(synced)
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(synced, place)
    return at_place()


def merge(one: Machine, two: Machine) -> None:
    one.send(two)
    two.send(one)


def test_the_same_notes_at_two_paths_are_not_doubled(machines: tuple[Machine, Machine]) -> None:
    one, two = machines
    merge(one, two)
    for machine in machines:
        assert max(machine.texts().values()) == 1, machine.texts()
        assert machine.memory.search("mast metres").results[0].path == str(machine.notes / "boat.md")
        roots = [source.root for source in machine.memory.sources()]
        assert str(machine.notes) in roots
        assert len(roots) == 3  # its notes, and the logs of both


def test_after_both_directions_both_hold_and_answer_the_same(machines: tuple[Machine, Machine]) -> None:
    one, two = machines
    one.memory.add("The anchor is steel.", tags=["boat"])
    two.memory.add("The rudder is oak.")
    for machine in machines:
        machine.memory.add("Both know the tide tables.")
    merge(one, two)
    assert one.texts() == two.texts()
    for question in ("anchor steel", "rudder oak", "blue drawer", "tabs or spaces", "tide tables"):
        answers = [
            [result.snippet for result in machine.memory.search(question, limit=3).results]
            for machine in machines
        ]
        assert answers[0]
        assert answers[0][0] == answers[1][0]


def test_merging_again_and_again_adds_nothing(machines: tuple[Machine, Machine]) -> None:
    one, two = machines
    one.memory.add("The anchor is steel.")
    merge(one, two)
    merge(one, two)
    before = one.texts()
    for _ in range(3):
        assert (one.send(two), two.send(one)) == (0, 0)
    assert one.texts() == two.texts() == before
    for machine in machines:
        machine.memory.sync()
    assert one.texts() == two.texts() == before


def test_a_fact_that_both_learned_is_there_once_with_the_evidence_of_both(
    machines: tuple[Machine, Machine],
) -> None:
    one, two = machines
    merge(one, two)
    for machine in machines:
        found = [
            one
            for one in machine.memory.page(limit=1000).records
            if one.turn is None and "tabs" in one.content
        ]
        assert len(found) == 1
        turns = machine.memory.history(found[0].id).evidence
        assert {turn.session for turn in machine.memory.records(turns).memories} == {"one", "two"}


def test_what_one_forgot_does_not_come_back_there(machines: tuple[Machine, Machine]) -> None:
    one, two = machines
    for machine in machines:
        machine.memory.add("The safe opens with a key.")
    merge(one, two)
    gone = one.memory.search("safe key").results[0].id
    one.memory.forget(gone)
    two.send(one)
    assert not [text for text in one.texts() if "safe" in text]
    assert [text for text in two.texts() if "safe" in text]  # nothing is dropped there unasked


def find(machine: Machine, text: str) -> str:
    (found,) = [one for one in machine.memory.page(limit=1000).records if text in one.content]
    return found.id


@pytest.mark.parametrize(
    "text",
    ["The safe opens with a key.", "The mast is 12 metres.", "prefer tabs over", "one laptop in the blue"],
)
@pytest.mark.parametrize("first", [0, 1])
def test_what_one_forgot_is_named_to_the_other_which_forgets_it_when_asked(
    machines: tuple[Machine, Machine], text: str, first: int, tmp_path: Path
) -> None:
    """An addition of both, a note of both, a fact that both learned, a turn of one."""
    one, two = machines
    for machine in machines:
        machine.memory.add("The safe opens with a key.")
    merge(one, two)
    here, there = machines[first], machines[1 - first]
    file = tmp_path / "forgotten.jsonl"
    held, gone = (
        [each.id for each in machine.memory.page(limit=1000).records if text in each.content]
        for machine in (there, here)
    )
    assert held
    here.memory.forget(gone)
    here.memory.export(file)
    assert text not in file.read_text()
    before = there.texts()
    for asked in (False, True):
        named = there.memory.import_(file, forget=asked, dry_run=asked)
        assert set(held) <= {*named.forgotten_there, *named.forgotten_too}
    assert there.texts() == before
    done = there.memory.import_(file, forget=True)
    assert set(held) <= set(done.forgotten_too)
    assert done.forgotten_there == ()
    assert one.texts() == two.texts()
    assert not any(text in each for each in one.texts())
    assert there.memory.import_(file, forget=True).forgotten_too == ()
    merge(one, two)
    assert one.texts() == two.texts()
    assert not any(text in each for each in one.texts())


def test_what_both_had_by_themselves_is_named_once_the_one_that_forgot_it_saw_an_export_of_the_other(
    machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    one, two = machines
    for machine in machines:
        machine.memory.add("My PIN hint is the name of a lake.")
    one.memory.forget(find(one, "PIN hint"))
    held = find(two, "PIN hint")
    two.send(one)
    assert not [text for text in one.texts() if "PIN" in text]
    one.memory.export(tmp_path / "one.jsonl")
    assert "lake" not in (tmp_path / "one.jsonl").read_text()
    named = two.memory.import_(tmp_path / "one.jsonl")
    assert named.forgotten_there == (held,)
    kept = two.memory.import_(tmp_path / "one.jsonl", forget=True)  # it may have been added after that
    assert (kept.forgotten_too, [each.id for each in kept.kept]) == ((), [held])
    assert find(two, "PIN hint") == held


def test_what_was_forgotten_is_imported_all_the_same_when_asked_and_is_forgotten_nowhere_then(
    machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    one, two = machines
    two.memory.add("The safe opens with a key.")
    merge(one, two)
    one.memory.forget(find(one, "safe"))
    file = tmp_path / "two.jsonl"
    two.memory.export(file)
    assert one.memory.import_(file).forgotten == 1
    done = one.memory.import_(file, include_forgotten=True)
    assert (done.added, done.forgotten) == (1, 0)
    one.memory.export(file, overwrite=True)
    assert two.memory.import_(file).forgotten_there == ()
    assert one.texts() == two.texts()


def by_call(machine: Machine) -> None:
    machine.memory.update(find(machine, "The safe opens with a key."), "The safe opens with a number.")


def in_its_file(machine: Machine) -> None:
    """Edit a passage, which keeps its id."""
    (machine.notes / "boat.md").write_text(NOTES["boat.md"].replace("12 metres", "14 metres"))
    machine.memory.sync(machine.notes)


def by_forgetting_it_first(machine: Machine) -> None:
    """Store the text again, under the id that it had."""
    machine.memory.forget(find(machine, "The safe opens with a key."))
    machine.memory.add("The safe opens with a key.")


def by_adding_it_again(machine: Machine) -> None:
    assert machine.memory.add("The safe opens with a key.").existed


@pytest.mark.parametrize(
    ("text", "write", "kept"),
    [
        ("The safe opens with a key.", by_adding_it_again, "The safe opens with a key."),
        ("The safe opens with a key.", by_call, "The safe opens with a number."),
        ("The mast is 12 metres.", in_its_file, "The mast is 14 metres."),
        ("The safe opens with a key.", by_forgetting_it_first, "The safe opens with a key."),
    ],
)
@pytest.mark.parametrize("writer", [0, 1])
@pytest.mark.parametrize("forgets_first", [True, False])
def test_a_memory_written_here_after_the_merge_stays_and_is_reported(
    machines: tuple[Machine, Machine], text: str, write: Callable[[Machine], None], kept: str, writer: int,
    tmp_path: Path, *, forgets_first: bool,
) -> None:  # fmt: skip
    one, two = machines
    one.memory.add("The safe opens with a key.")
    merge(one, two)
    here, there = machines[writer], machines[1 - writer]
    steps = [lambda: there.memory.forget(find(there, text)), lambda: write(here)]
    for step in steps if forgets_first else reversed(steps):
        step()
    there.memory.export(tmp_path / "there.jsonl")
    stays = find(here, kept)
    done = here.memory.import_(tmp_path / "there.jsonl", forget=True)
    assert done.forgotten_too == ()
    assert stays in done.forgotten_there or write is by_forgetting_it_first
    assert find(here, kept) == stays


def test_what_the_other_edited_and_then_forgot_stays_here(
    machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    one, two = machines
    merge(one, two)
    in_its_file(two)
    two.memory.forget(find(two, "14 metres"))
    two.memory.export(tmp_path / "two.jsonl")
    done = one.memory.import_(tmp_path / "two.jsonl", forget=True)
    assert (done.forgotten_too, done.forgotten_there) == ((), (find(one, "12 metres"),))


def test_an_edit_that_both_have_is_forgotten_when_asked_once_they_were_merged_again(
    machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    one, two = machines
    merge(one, two)
    for machine in machines:
        in_its_file(machine)
    merge(one, two)
    two.memory.forget(find(two, "14 metres"))
    two.memory.export(tmp_path / "two.jsonl")
    held = find(one, "14 metres")
    assert one.memory.import_(tmp_path / "two.jsonl", forget=True).forgotten_too == (held,)


def test_a_text_that_was_added_again_is_forgotten_when_asked_once_they_were_merged_again(
    machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    one, two = machines
    one.memory.add("The safe opens with a key.")
    merge(one, two)
    by_adding_it_again(one)
    merge(one, two)
    two.memory.forget(find(two, "safe"))
    two.memory.export(tmp_path / "two.jsonl")
    held = find(one, "safe")
    assert one.memory.import_(tmp_path / "two.jsonl", forget=True).forgotten_too == (held,)


def test_a_memory_imported_again_after_it_was_forgotten_here_stays(
    machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    one, two = machines
    one.memory.add("The safe opens with a key.")
    merge(one, two)
    one.memory.forget(find(one, "safe"))
    one.memory.export(tmp_path / "older.jsonl")
    two.memory.export(tmp_path / "two.jsonl")
    one.memory.import_(tmp_path / "two.jsonl", include_forgotten=True)
    done = one.memory.import_(tmp_path / "older.jsonl", forget=True)
    assert (done.forgotten_too, done.forgotten_there) == ((), (find(one, "safe"),))


def test_an_own_older_export_forgets_nothing_that_was_added_again(
    machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    memory = machines[0].memory
    memory.forget(memory.add("The safe opens with a key.").id)
    memory.export(tmp_path / "older.jsonl")
    again = memory.add("The safe opens with a key.").id
    done = memory.import_(tmp_path / "older.jsonl", forget=True)
    assert (done.forgotten_too, done.forgotten_there) == ((), (again,))


def test_a_stranger_learns_of_no_memory_that_another_user_forgot(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    with opened(user="ann") as ann, opened(user="bob") as bob:
        ann.forget(ann.add("The safe opens with a key.").id)
        for memory in (ann, bob):
            memory.export(tmp_path / "all.jsonl", overwrite=True)
            header = json.loads((tmp_path / "all.jsonl").read_text().splitlines()[0])
            assert len(header["forgotten"]) == (memory is ann)


def test_what_one_amended_reaches_the_other_once(machines: tuple[Machine, Machine]) -> None:
    one, two = machines
    added = one.memory.add("The gate is green.")
    merge(one, two)
    one.memory.update(added.id, "The gate is white.")
    for _ in range(2):
        merge(one, two)
    assert one.texts() == two.texts()
    assert one.texts("active")["observation active The gate is white."] == 1
    assert not one.texts("active")["observation active The gate is green."]


def test_a_note_that_is_edited_on_one_machine_stays_the_files(machines: tuple[Machine, Machine]) -> None:
    one, two = machines
    (one.notes / "garden.md").write_text("# Garden\n\nBeans are sown in June.\n")
    one.memory.sync()
    merge(one, two)
    assert any("June" in text for text in one.texts("active"))
    assert any("May" in text for text in two.texts("active"))
    (two.notes / "garden.md").write_text("# Garden\n\nBeans are sown in June.\n")  # brought by git
    two.memory.sync()
    merge(one, two)
    assert one.texts() == two.texts()


def test_a_new_machine_that_imports_first_and_syncs_its_notes_later_holds_them_once(
    machines: tuple[Machine, Machine], opened: Callable[..., Memory], tmp_path: Path
) -> None:
    one, _ = machines
    fresh = opened(tmp_path / "three.db")
    file = tmp_path / "export.jsonl"
    one.memory.export(file)
    fresh.import_(file)
    notes = tmp_path / "elsewhere" / "notes"
    notes.parent.mkdir()
    one.home.rename(tmp_path / "another machine")  # its paths are not there
    (tmp_path / "another machine" / "notes").rename(notes)
    fresh.sync(notes)
    contents = Counter(
        record.content for record in fresh.page(limit=1000).records if record.place and record.turn is None
    )
    assert max(contents.values()) == 1
    assert len(contents) == 4
    assert fresh.search("mast metres").results[0].path == str(notes / "boat.md")


def test_conversations_of_a_machine_whose_folders_are_not_here_stay(
    machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    one, two = machines
    one.send(two)
    one.home.rename(tmp_path / "another machine")
    before = two.texts()
    done = two.memory.sync()
    assert two.texts() == before
    assert two.memory.search("blue drawer one laptop").results
    (notice,) = done.notices
    assert (notice.path, notice.message) == (
        str(one.logs),
        "Imported, and not on this machine; its memories are kept.",
    )
    assert done.problems == ()
    two.logs.rename(tmp_path / "lost")  # a folder that was synced here is missed
    assert [problem.path for problem in two.memory.sync().problems] == [str(two.logs)]


def test_imported_notes_that_a_folder_lacks_here_stay_until_they_were_seen_once(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    notes = tmp_path / "Documents"
    notes.mkdir()
    vet, dentist = notes / "vet.md", notes / "dentist.md"
    text = "# Vet\n\nThe vet is Dr Blum.\n\n# Clinic\n\nIt opens at nine.\n"
    vet.write_text(text)
    dentist.write_text("# Dentist\n\nThe dentist is Dr Gray.\n")
    one, two = opened(tmp_path / "one.db"), opened(tmp_path / "two.db")
    one.sync(notes)
    one.export(tmp_path / "one.jsonl")
    for file in (vet, dentist):
        file.unlink()
    (notes / "letter.md").write_text("# Letter\n\nDear Ann.\n")
    two.sync(notes)
    assert two.import_(tmp_path / "one.jsonl").added == 3
    assert two.search("Dr Blum").results
    assert (two.sync().removed, two.sync().problems) == (0, ())
    (clinic,) = (one.id for one in two.page(limit=9).records if "nine" in one.content)
    two.forget(clinic)
    two.export(tmp_path / "two.jsonl")
    assert opened(tmp_path / "three.db").import_(tmp_path / "two.jsonl").added == 3
    two.rebuild()
    assert two.sync().removed == 0
    vet.write_text(text)
    (notes / "teeth.md").write_text("# Dentist\n\nThe dentist is Dr Gray.\n")
    done = two.sync()
    assert (done.added, done.removed) == (0, 0)
    assert two.search("dentist").results[0].path == str(notes / "teeth.md")
    vet.unlink()
    assert two.sync().removed == 1
    assert {one.content for one in two.page(limit=9).records if "Dr" in one.content} == {
        "# Dentist\n\nThe dentist is Dr Gray.\n"
    }


def test_imported_notes_of_a_folder_that_is_empty_here_are_no_problem(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    notes = tmp_path / "Documents"
    notes.mkdir()
    (notes / "vet.md").write_text("# Vet\n\nThe vet is Dr Blum.\n")
    one, two = opened(tmp_path / "one.db"), opened(tmp_path / "two.db")
    one.sync(notes)
    one.export(tmp_path / "one.jsonl")
    (notes / "vet.md").unlink()
    two.import_(tmp_path / "one.jsonl")
    done = two.sync()
    assert (done.removed, done.problems) == (0, ())
    assert two.search("Dr Blum").results


def test_what_one_superseded_or_archived_is_so_on_the_other_and_the_later_word_holds(
    machines: tuple[Machine, Machine],
) -> None:
    one, two = machines
    for machine in machines:
        machine.memory.add("The boat lies in Kiel.")
    merge(one, two)
    found = {machine.name: machine.memory.search("boat lies Kiel").results[0].id for machine in machines}
    one.memory.archive(found["one"])
    merge(one, two)
    assert "observation archived The boat lies in Kiel." in two.texts()
    two.memory.restore(found["two"])
    merge(one, two)
    assert "observation active The boat lies in Kiel." in one.texts()
    assert one.texts() == two.texts()


@pytest.mark.parametrize("change", ["archive", "update"])
def test_a_memory_said_here_after_the_other_store_put_it_away_stays_active(
    opened: Callable[..., Memory], tmp_path: Path, change: str
) -> None:
    one, two = opened(tmp_path / "one.db"), opened(tmp_path / "two.db")
    old = one.add("The boat is at berth 12.").id
    if change == "archive":
        one.archive(old)
    else:
        one.update(old, "The boat is at berth 14.")
    one.export(tmp_path / "one.jsonl")
    said = two.add("The boat is at berth 12.").id
    assert two.import_(tmp_path / "one.jsonl").statuses == 0
    assert two.history(said).memory.status == "active"


def test_an_untrusted_export_changes_no_status_and_a_trusted_one_says_how_many(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    one = opened(tmp_path / "one.db")
    trusting, careful = opened(tmp_path / "two.db"), opened(tmp_path / "three.db")
    said = [memory.add("The boat is at berth 12.").id for memory in (trusting, careful)]
    one.archive(one.add("The boat is at berth 12.").id)
    one.export(tmp_path / "one.jsonl")
    assert careful.import_(tmp_path / "one.jsonl", untrusted=True).statuses == 0
    assert careful.history(said[1]).memory.status == "active"
    assert trusting.import_(tmp_path / "one.jsonl", dry_run=True).statuses == 1
    assert trusting.history(said[0]).memory.status == "active"
    assert trusting.import_(tmp_path / "one.jsonl").statuses == 1
    assert trusting.history(said[0]).memory.status == "archived"


def test_what_both_amended_in_two_ways_is_kept_in_both(machines: tuple[Machine, Machine]) -> None:
    one, two = machines
    ids = [machine.memory.add("The gate is green.").id for machine in machines]
    merge(one, two)
    one.memory.update(ids[0], "The gate is white.")
    two.memory.update(ids[1], "The gate is blue.")
    for _ in range(2):
        merge(one, two)
    assert one.texts() == two.texts()
    gates = {text.partition(" The ")[2]: text.split()[1] for text in one.texts() if "gate" in text}
    assert gates == {"gate is green.": "superseded", "gate is white.": "active", "gate is blue.": "active"}


def test_the_same_words_of_two_conversations_stay_two_memories(machines: tuple[Machine, Machine]) -> None:
    one, two = machines
    for machine, session in ((one, "monday"), (two, "friday")):
        machine.memory.add("Ship it.", session=session, date="2026-03-02")
    merge(one, two)
    for machine in machines:
        page = machine.memory.page(limit=1000)
        assert {each.session for each in page.records if each.content == "Ship it."} == {"monday", "friday"}
