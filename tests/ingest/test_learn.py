"""What people say becomes memories; what is said again, changes or cannot be is settled."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from notes_folder import Notes
from web import everything, scope_of, store_of

from scrubjay import Memory
from scrubjay.config.settings import FactSettings, Settings
from scrubjay.models.lifecycle import LifecycleChange, NewMemory
from scrubjay.models.records import Record
from scrubjay.storage.changes import PutLifecycle

Open = Callable[..., Memory]


@pytest.fixture
def memory(learning: Settings, opened: Open) -> Memory:
    return opened(settings=learning)


def kept(memory: Memory, *tiers: str) -> list[Record]:
    with store_of(memory).reader(scope_of(memory)) as reader:
        return sorted((r for r in everything(reader) if r.tier in tiers), key=lambda r: r.content)


def turn(text: str, number: int = 0, **fields: object) -> NewMemory:
    given = {"session": "s1", "role": "user", "turn": number, "date": "2026-03-01"} | fields
    return NewMemory(text, **given)  # type: ignore[arg-type]


SAID = "Can you fix the build? My sister Ana lives in Porto."


def test_what_a_person_states_becomes_a_memory_with_its_turn_as_evidence(memory: Memory) -> None:
    (added,) = memory.add_many([turn(SAID, project=None)])
    (fact,) = kept(memory, "semantic")
    assert added.learned == (fact.id,)
    assert (fact.content.rstrip("."), fact.origin, fact.session) == (
        "My sister Ana lives in Porto",
        "derived",
        "s1",
    )
    assert memory.history(fact.id).evidence == (added.id,)
    found = memory.search("where does my sister live?", tiers=["semantic"]).results
    assert [one.id for one in found] == [fact.id]


@pytest.mark.parametrize("end", [", so", ", so."])
def test_a_turn_that_breaks_off_is_stored_and_learned_from(memory: Memory, end: str) -> None:
    memory.add_many([turn(f"My sister Ana lives in Porto{end}")])
    (fact,) = kept(memory, "semantic")
    assert fact.content.startswith("My sister Ana lives in Porto")


@pytest.mark.parametrize("role", ["User", "HUMAN ", "user"])
def test_a_role_is_the_persons_whatever_its_case(memory: Memory, role: str) -> None:
    first, again = (memory.add_many([turn(SAID, role=each)])[0] for each in (role, role.strip().lower()))
    assert len(first.learned) == 1
    assert (again.id, again.existed) == (first.id, True)


@pytest.mark.parametrize("fields", [{"role": "assistant"}, {"role": "customer"}, {"origin": "untrusted"}])
def test_what_a_model_or_a_stranger_states_is_learned_from_by_nobody(
    memory: Memory, fields: dict[str, str]
) -> None:
    memory.add_many([turn(SAID, **fields)])
    assert kept(memory, "semantic", "lesson", "procedural") == []


def test_said_again_elsewhere_it_is_one_memory_that_is_surer(memory: Memory) -> None:
    first, again = memory.add_many(
        [turn(SAID), turn("My sister  Ana lives in Porto.", session="s2", date="2026-04-01")]
    )
    (fact,) = kept(memory, "semantic")
    assert fact.confidence > 0.7
    assert set(memory.history(fact.id).evidence) == {first.id, again.id}
    assert memory.history(fact.id).events[-1].op == "reinforced"
    assert again.learned == ()


def test_said_twice_in_one_conversation_it_is_no_surer(memory: Memory) -> None:
    memory.add_many([turn(SAID), turn("My sister Ana lives in Porto.", 1)])
    assert [fact.confidence for fact in kept(memory, "semantic")] == [0.7]


def test_what_changed_takes_the_place_of_what_was_so(memory: Memory) -> None:
    old = memory.add("The timeout of the gateway is 30 seconds.").id
    new = memory.add("The timeout of the gateway is 90 seconds.")
    assert new.supersedes == (old,)
    told = memory.history(old)
    assert (told.memory.status, told.superseded_by) == ("superseded", (new.id,))
    assert told.memory.valid_until is not None
    assert [one.id for one in memory.search("timeout of the gateway").results] == [new.id]
    both = memory.search("timeout of the gateway", statuses=["active", "superseded"]).results
    assert {one.id for one in both} == {old, new.id}


def test_what_may_have_changed_stays_and_names_the_newer_one_which_comes_first(memory: Memory) -> None:
    old = memory.add("The demo app runs on Fly.", date="2026-01-05").id
    new = memory.add("The demo app runs on Render.", date="2026-03-05")
    assert new.supersedes == ()
    found = memory.search("The demo app runs on Fly.", now="2026-04-01").results
    assert [(one.id, one.newer) for one in found] == [(new.id, ()), (old, (new.id,))]


def test_texts_that_differ_in_one_word_never_supersede_one_another(memory: Memory) -> None:
    added = [memory.add(f"ann private {number}") for number in range(12)]
    assert all(one.supersedes == () and not one.existed for one in added)
    assert memory.status().memories == len(added)


def test_what_cannot_both_be_so_is_kept_and_joined(memory: Memory) -> None:
    old = memory.add("We can use AWS for this project.").id
    new = memory.add("We cannot use AWS for this project.")
    assert new.contradicts == (old,)
    assert memory.history(old).contradicts == (new.id,)
    assert {one.id for one in memory.search("use AWS for this project").results} == {old, new.id}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Room A seats 8", "Room B seats 12"),
        ("Max weighs 70 kg", "Mia weighs 60 kg"),
        ("Flat A rents for 900 euros", "Flat B rents for 950 euros"),
        ("Tom reports to Ines", "Ines reports to Tom"),
        ("Alice is older than Bob", "Bob is older than Alice"),
    ],
)
def test_statements_of_two_subjects_are_neither_newer_nor_against_one_another(
    memory: Memory, old: str, new: str
) -> None:
    first = memory.add(old, date="2026-03-01")
    second = memory.add(new, date="2026-06-01")
    assert (second.supersedes, second.contradicts) == ((), ())
    found = {one.id: one for one in memory.search(old).results}
    assert found[first.id].newer == ()


def test_two_things_of_one_kind_are_two_facts(memory: Memory) -> None:
    one = memory.add("The production database runs on port 5432.")
    other = memory.add("The staging database runs on port 5433.")
    assert (other.existed, other.supersedes, other.contradicts) == (False, (), ())
    assert memory.history(one.id).memory.status == "active"


def test_the_same_in_other_words_is_stored_and_named_as_similar(memory: Memory) -> None:
    first = memory.add("The timeout of the gateway is 30 seconds.")
    again = memory.add("the timeout of the gateway is 30 s")
    assert again.id != first.id
    assert (again.existed, again.similar, again.supersedes) == (False, (first.id,), ())


def test_a_learned_statement_takes_in_no_other_one_however_alike(memory: Memory) -> None:
    memory.add_many([turn("I prefer tea over coffee."), turn("I prefer coffee over tea.", session="s2")])
    assert len(kept(memory, "semantic", "lesson")) == 2


def test_what_is_heard_late_is_judged_in_the_order_of_saying(memory: Memory) -> None:
    now = memory.add("Ana lives in Lisbon now.", date="2026-05-01").id
    then = memory.add("Ana lives in Porto.", date="2020-05-01").id
    assert memory.history(then).memory.status == "superseded"
    assert memory.history(now).memory.status == "active"
    assert memory.history(now).supersedes == (then,)


def test_what_is_pinned_is_contradicted_never_superseded(memory: Memory) -> None:
    old = memory.add("The timeout of the gateway is 30 seconds.", pinned=True).id
    new = memory.add("The timeout of the gateway is 90 seconds.")
    assert (new.supersedes, new.contradicts) == ((), (old,))
    assert memory.history(old).memory.status == "active"


def test_nobody_elses_memory_is_reinforced_or_superseded(learning: Settings, opened: Open) -> None:
    ann, bob = (opened(settings=learning, user=name) for name in ("ann", "bob"))
    old = ann.add("The timeout of the gateway is 30 seconds.").id
    assert bob.add("The timeout of the gateway is 30 seconds.").existed is False
    assert bob.add("The timeout of the gateway is 90 seconds.").supersedes != (old,)
    assert ann.history(old).memory.status == "active"


def test_what_was_forgotten_is_not_learned_again(memory: Memory) -> None:
    memory.add_many([turn(SAID)])
    (fact,) = kept(memory, "semantic")
    memory.forget(fact.id)
    memory.add_many([turn(SAID, session="s3")])
    assert kept(memory, "semantic") == []


def test_a_synced_conversation_is_learned_from_once(memory: Memory, notes: Notes) -> None:
    lines = [
        {"role": "user", "content": SAID, "session": "s1", "timestamp": "2026-03-01T10:00:00Z"},
        {"role": "assistant", "content": "The build is fixed. My name is Robot.", "session": "s1"},
    ]
    notes.write("talk.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    done = memory.sync(notes.root / "talk.jsonl")
    assert done.learned == 1
    assert memory.sync(notes.root / "talk.jsonl").learned == 0
    assert [fact.content.rstrip(".") for fact in kept(memory, "semantic")] == ["My sister Ana lives in Porto"]


@pytest.mark.parametrize(
    ("stages", "facts", "changed"), [((), 0, False), (("statements",), 1, False), (("changes",), 0, True)]
)
def test_each_part_can_be_switched_off(
    learning: Settings, opened: Open, stages: tuple[str, ...], facts: int, changed: bool
) -> None:
    memory = opened(settings=replace(learning, facts=FactSettings(stages=stages)))
    memory.add_many([turn(SAID)])
    old = memory.add("The timeout of the gateway is 30 seconds.").id
    assert memory.add("The timeout of the gateway is now 90 seconds.").supersedes == (
        (old,) if changed else ()
    )
    assert len(kept(memory, "semantic")) == facts


def test_a_file_says_what_it_says(memory: Memory, notes: Notes) -> None:
    memory.add("The timeout of the gateway is 30 seconds.")
    notes.write("a.md", "The timeout of the gateway is 90 seconds.\n")
    memory.sync(notes.root)
    assert len(memory.search("timeout of the gateway").results) == 2


def test_a_removed_source_takes_along_what_rests_on_it_alone_and_nothing_else(
    memory: Memory, notes: Notes
) -> None:
    def told(name: str, *texts: str) -> None:
        rows = ({"session": name, "role": "user", "content": text} for text in texts)
        notes.write(f"{name}/talk.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
        memory.sync(notes.root / name)

    told(
        "one",
        "My sister Ana lives in Porto.",
        "I prefer tabs over spaces.",
        "Our production database is PostgreSQL.",
    )
    told("two", "My sister Ana lives in Porto.")
    found = memory.search("Ana Porto tabs PostgreSQL", tiers=("lesson", "semantic")).results
    ana, tabs, decided = (
        next(one.id for one in found if word in one.snippet) for word in ("Ana", "tabs", "PostgreSQL")
    )
    upward = memory.add_many([NewMemory("It is all about tabs.", tier="insight", origin="derived")])[0].id
    memory.link(upward, tabs, "derived_from")
    own = memory.add("I keep saying tabs.").id
    memory.link(own, tabs, "derived_from")
    memory.workspace.store.write(
        memory.workspace.scope, [PutLifecycle({decided: LifecycleChange(pinned=True)})]
    )
    assert memory.remove_source(str(notes.root / "one")).derived == 2
    assert memory.get([ana, tabs, decided, upward, own]).unknown == (tabs, upward)
    assert len(memory.history(ana).evidence) == 1
    assert memory.remove_source(str(notes.root / "two")).derived == 1
    assert memory.get([ana, decided, own]).unknown == (ana,)


def test_the_facts_of_a_turn_follow_its_text_there_and_back(memory: Memory) -> None:
    told = memory.add_many([turn("I'm allergic to nuts.")])[0]
    (nuts,) = told.learned
    done = memory.update(told.id, "I'm allergic to milk.")
    assert active(memory) == {"I'm allergic to milk."}
    assert "nuts" not in memory.context().text
    before = memory.history(nuts)
    assert (before.memory.status, before.evidence) == ("superseded", (done.before,))
    assert [(event.op, event.other, event.actor) for event in before.events] == [
        ("superseded", told.id, "ann")
    ]
    memory.update(told.id, "I'm allergic to nuts.")
    assert active(memory) == {"I'm allergic to nuts."}
    after = memory.history(nuts)
    assert (after.memory.status, after.memory.valid_until) == ("active", None)
    assert told.id in after.evidence
    assert [event.op for event in after.events] == ["superseded", "restored"]


def test_a_fact_that_is_said_elsewhere_too_stays_when_one_turn_is_corrected(memory: Memory) -> None:
    first, again = memory.add_many(
        [turn("I'm allergic to nuts."), turn("I'm allergic to nuts.", session="s2", date="2026-04-01")]
    )
    (nuts,) = first.learned
    memory.update(first.id, "I'm allergic to milk.")
    assert active(memory) == {"I'm allergic to nuts.", "I'm allergic to milk."}
    assert again.id in memory.history(nuts).evidence
    assert first.id not in memory.history(nuts).evidence
    memory.update(first.id, "I'm allergic to nuts.")
    assert set(memory.history(nuts).evidence) >= {first.id, again.id}
    memory.update(first.id, "Never mind.")
    memory.update(again.id, "Never mind.")
    assert active(memory) == set()


def test_a_correction_beside_a_fact_leaves_it_as_it_is(memory: Memory) -> None:
    told = memory.add_many([turn(f"{SAID} Thanx!")])[0]
    before = memory.history(told.learned[0])
    memory.update(told.id, f"{SAID} Thanks!")
    assert memory.history(told.learned[0]) == before


def test_what_a_retracted_fact_superseded_holds_again(memory: Memory) -> None:
    lives = memory.add_many([turn("I live in Porto.")])[0]
    moved = memory.add_many([turn("I moved to Berlin.", session="s2", date="2026-04-01")])[0]
    assert active(memory) == {"I moved to Berlin."}
    memory.update(moved.id, "My cousin moved to Berlin.")
    assert "I live in Porto." in active(memory)
    memory.update(moved.id, "I moved to Berlin.")
    assert memory.history(lives.learned[0]).memory.status == "superseded"


def test_the_fact_of_an_archived_turn_stays_and_follows_its_correction(memory: Memory) -> None:
    told = memory.add_many([turn("I'm allergic to nuts.")])[0]
    memory.archive([told.id])
    assert active(memory) == {"I'm allergic to nuts."}
    memory.update(told.id, "I'm allergic to milk.")
    assert "I'm allergic to nuts." not in active(memory)


def test_a_fact_that_somebody_archived_or_pinned_is_left_as_it_is(memory: Memory) -> None:
    put_away, pinned = memory.add_many(
        [turn("I'm allergic to nuts."), turn("My sister Ana lives in Porto.", session="s2")]
    )
    memory.archive(put_away.learned)
    memory.update(pinned.learned[0], pinned=True)
    memory.update(put_away.id, "I'm allergic to nuts. Thanks!")
    memory.update(pinned.id, "Never mind.")
    assert active(memory) == {"My sister Ana lives in Porto."}


def active(memory: Memory) -> set[str]:
    return {one.content for one in kept(memory, "lesson", "semantic") if one.status == "active"}
