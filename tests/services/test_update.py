"""A memory is changed in place: id, evidence and life stay; words, vectors and neighbours are made anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay import Memory, NewMemory
from scrubjay.config.settings import FactSettings, Settings
from scrubjay.errors import InputError, NotFoundError
from scrubjay.models.dates import parse_when
from scrubjay.models.records import Record

Open = Callable[..., Memory]
OLD = "The berth in Lisbon costs forty euros."
KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
NEW = "The mooring in Porto is ninety pounds."


@pytest.fixture(params=["sqlite", "postgres"])
def memory(opened: Open, request: pytest.FixtureRequest) -> Memory:
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    return opened(url, tenant=request.node.name)


def found(memory: Memory, query: str, **options: object) -> list[str]:
    return [one.id for one in memory.search(query, **options).results]  # type: ignore[arg-type]


def kept(memory: Memory, one: str) -> Record:
    return memory.history(one).memory


def test_another_text_is_found_by_its_words_and_vectors_and_the_old_one_is_not(memory: Memory) -> None:
    one = memory.add(OLD, tags=["harbour"], date="2026-01-05").id
    memory.add("The lighthouse keeper is called Ines.")
    memory.embed()
    done = memory.update(one[:-2], NEW)
    assert (done.id, done.changed) == (one, ("content",))
    for channel in ("bm25", "vector"):
        assert found(memory, "mooring Porto pounds", channels=[channel])[0] == one
    assert one not in found(memory, "berth Lisbon euros", channels=["bm25"])
    now = kept(memory, one)
    assert (now.content, now.tags, now.event) == (NEW, ("harbour",), parse_when("2026-01-05"))
    assert all(model.waiting == 0 for model in memory.models())


def test_history_tells_of_the_change_and_leads_to_the_text_before(memory: Memory) -> None:
    one = memory.add(OLD).id
    done = memory.update(one, NEW)
    told = memory.history(one)
    assert [(event.op, event.other) for event in told.events] == [("changed", done.before)]
    assert told.supersedes == (done.before,)
    before = kept(memory, str(done.before))
    assert (before.content, before.status) == (OLD, "superseded")
    assert before.valid_until == told.memory.updated_at
    assert found(memory, "berth Lisbon", channels=["bm25"]) == []
    assert found(memory, "berth Lisbon", statuses=["superseded"]) == [done.before]
    memory.rebuild()
    assert memory.history(one) == told
    assert kept(memory, str(done.before)) == before


def test_the_same_again_changes_nothing(memory: Memory) -> None:
    one = memory.add(OLD, pinned=True, confidence=0.5, date="2026-01-05").id
    memory.update(one, NEW)
    before = memory.history(one)
    done = memory.update(one, NEW, pinned=True, confidence=0.5, date="2026-01-05", tags=[])
    assert (done.changed, done.before) == ((), None)
    assert memory.update(one).changed == ()
    assert memory.history(one) == before


def test_what_is_not_its_text_is_changed_alone(memory: Memory) -> None:
    one = memory.add(OLD, tier="lesson").id
    done = memory.update(one, confidence=0.5, valid_until="2026-03-01", pinned=True)
    assert set(done.changed) == {"confidence", "valid_until", "pinned"}
    assert done.before is None
    now = memory.history(one)
    assert (now.memory.confidence, now.memory.pinned, now.memory.content) == (0.5, True, OLD)
    assert {event.op for event in now.events} == {"changed", "pinned"}
    memory.update(one, valid_until=None, pinned=False, tags=["Boats"], title="Berth", date="2026")
    then = kept(memory, one)
    assert (then.valid_until, then.pinned, then.tags, then.title) == (None, False, ("boats",), "Berth")
    assert found(memory, "lisbon", tags=["boats"], since="2026", until="2026-01") == [one]
    assert memory.history(one).supersedes == ()


def test_secrets_are_replaced_and_counted(memory: Memory) -> None:
    one = memory.add(OLD).id
    done = memory.update(one, f"The key is {KEY} now.")
    assert sum(done.scrubbed.values()) == 1
    assert KEY not in kept(memory, one).content


def test_a_text_that_was_forgotten_or_is_anothers_is_refused(memory: Memory) -> None:
    gone, one, other = (memory.add(text).id for text in (NEW, OLD, "It rains in Faro."))
    memory.forget(gone)
    before = memory.history(one)
    with pytest.raises(InputError, match="forgotten once") as error:
        memory.update(one, NEW)
    assert "add it as a memory of its own" in error.value.hint
    with pytest.raises(InputError, match=f"{other} says this already"):
        memory.update(one, "It rains in Faro.")
    for bad in (
        {"content": "  "},
        {"confidence": 2},
        {"tags": "one"},
        {"valid_from": "2028", "valid_until": "2026"},
    ):
        with pytest.raises(InputError):
            memory.update(one, **bad)  # type: ignore[arg-type]
    with pytest.raises(NotFoundError):
        memory.update("obs_none", NEW)
    assert memory.history(one) == before


def test_an_end_before_a_beginning_that_was_given_earlier_is_refused(memory: Memory) -> None:
    one = memory.add(OLD, valid_from="2026-05").id
    for content in ({}, {"content": NEW}):
        with pytest.raises(InputError, match="which is earlier"):
            memory.update(one, valid_until="2026-01", **content)
    assert kept(memory, one).content == OLD


def test_a_forgotten_text_that_is_added_on_purpose_is_stored_again(memory: Memory) -> None:
    gone = memory.add(NEW).id
    memory.forget(gone)
    again = memory.add(NEW)
    assert (again.existed, found(memory, "mooring Porto pounds")) == (False, [again.id])
    assert memory.update(again.id, title="Porto").changed == ("title",)


def test_the_first_text_added_again_is_a_memory_of_its_own_once(memory: Memory) -> None:
    one = memory.add(OLD).id
    memory.update(one, NEW)
    again = memory.add(OLD)
    assert not again.existed
    assert again.id != one
    assert memory.add(OLD).id == again.id
    assert kept(memory, one).content == NEW
    assert kept(memory, again.id).content == OLD


def test_forgetting_it_takes_its_earlier_texts_along(memory: Memory) -> None:
    one = memory.add(OLD).id
    versions = [memory.update(one, text).before for text in (NEW, "It is full.")]
    assert set(memory.forget(one).derived) == set(versions)
    assert memory.status().memories == 0
    other = memory.add("It rains.").id
    version = memory.update(other, "It pours.").before
    assert memory.forget(str(version)).ids == (version,)
    assert kept(memory, other).content == "It pours."
    assert memory.history(other).events[0].other is None


def test_nobody_changes_what_they_do_not_see(opened: Open) -> None:
    ann, bob = opened(user="ann"), opened(user="bob")
    one = ann.add(OLD).id
    with pytest.raises(NotFoundError):
        bob.update(one, NEW)
    shared = ann.add("The crew meets at noon.", visibility="public").id
    assert bob.update(shared, "The crew meets at two.").changed == ("content",)
    now = kept(ann, shared)
    assert (now.content, now.key, now.owner) == ("The crew meets at two.", "public", "ann")


def test_what_connected_the_old_text_goes_with_it(opened: Open) -> None:
    memory = opened()
    memory.concepts.add("Lisbon")
    memory.concepts.add("Porto")
    one = memory.add(OLD).id
    memory.update(one, NEW)
    with memory.workspace.store.reader(memory.workspace.scope) as reader:
        (edge,) = reader.edges([one], ["references"])
        assert [concept.name for concept in reader.concepts([edge.dst])] == ["Porto"]


def test_what_could_not_be_so_beside_the_old_text_may_be_beside_the_new(opened: Open) -> None:
    memory = opened()
    one = memory.add("We can use AWS.", tier="semantic").id
    other = memory.add("We cannot use AWS.", tier="semantic").id
    assert memory.history(one).contradicts == (other,)
    memory.update(other, "We cannot use Azure.")
    assert memory.history(one).contradicts == ()
    assert memory.history(other).contradicts == ()


def test_a_passage_of_a_file_is_refused_with_its_place(opened: Open, tmp_path: Path) -> None:
    memory = opened()
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "x.md").write_text("# Boats\n\nfirst line\n\n## Berth\n\nforty euros\n")
    memory.sync(notes)
    one = found(memory, "forty euros")[0]
    with pytest.raises(InputError, match=r"notes/x\.md:5-7, and update does not edit files") as refused:
        memory.update(one, NEW)
    assert "edit " in refused.value.hint
    with pytest.raises(InputError, match=r"x\.md:5-7"):
        memory.update(one, tags=["boats"])
    assert memory.update(one, confidence=0.5).changed == ("confidence",)
    memory.sync(notes)
    assert kept(memory, one).confidence == 0.5


def test_an_addition_that_stands_in_a_note_is_refused_with_its_place(noting: Memory, folder: Path) -> None:
    noting.add("The first of the day.")
    added = noting.add(OLD)
    with pytest.raises(InputError, match="and update does not edit files") as refused:
        noting.update(added.id, NEW)
    assert str(added.note) in str(refused.value)
    assert noting.update(added.id, tags=["harbour"]).changed == ("tags",)
    noting.sync(folder)
    with pytest.raises(InputError, match=r"\.md:"):
        noting.update(added.id, NEW)
    assert OLD in kept(noting, added.id).content


def turns(number: int) -> list[NewMemory]:
    filler = "Are there many things one could do about it here and is it a good idea to take your time? "
    return [
        NewMemory(
            f"{filler * 2}The mooring {each} costs {each * 13 + 7} euros in Lisbon.",
            session=f"s{number}", role="user", turn=each, date=f"2026-01-05T10:0{each}:00Z",
        )
        for each in range(6)
    ]  # fmt: skip


def test_a_digest_in_other_words_is_the_owners_for_nights_and_undo(opened: Open, settings: Settings) -> None:
    memory = opened(settings=replace(settings, facts=FactSettings(stages=())))
    told = [one.id for one in memory.add_many(turns(1))]
    done = memory.consolidate(now="2026-03-01", archive="transcripts")
    (made,) = done.made
    memory.update(made.id, "Moorings in Lisbon are dear.")
    now = memory.history(made.id)
    assert (now.memory.origin, sorted(now.evidence)) == ("owner", sorted(told))
    memory.restore(told[:1])
    memory.archive(told[:1])
    memory.restore(told[1:2])
    assert memory.consolidate(now="2026-03-02").renewed == 0
    undone = memory.undo(str(done.run))
    assert (undone.removed, undone.restored) == (0, 4)
    assert kept(memory, made.id).content == "Moorings in Lisbon are dear."


def test_what_quotes_a_forgotten_source_goes_whoever_worded_it(opened: Open, settings: Settings) -> None:
    memory = opened(settings=replace(settings, facts=FactSettings(stages=())))
    told = [one.id for one in memory.add_many(turns(1))]
    (made,) = memory.consolidate(now="2026-03-01").made
    memory.update(made.id, "Ask Ines: the mooring 1 costs 20 euros in Lisbon.")
    assert made.id not in memory.forget(told[5]).derived
    assert made.id in memory.forget(told[1]).derived
    assert memory.get(made.id).unknown == (made.id,)
