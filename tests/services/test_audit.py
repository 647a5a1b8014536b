"""How good what is remembered is, and what an audit puts away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay import Memory, NewMemory
from scrubjay.config.settings import FactSettings, Settings
from scrubjay.errors import InputError, NotFoundError
from scrubjay.models.reports import AuditReport, FaultRate

Open = Callable[..., Memory]
BERTH = "the harbour master in Lisbon wants forty euros a night for a berth and takes cash alone on weekends"


@pytest.fixture
def memory(opened: Open, settings: Settings) -> Memory:
    """One that learns nothing as it is written to, so that repetitions come to stand in it."""
    return opened(settings=replace(settings, facts=FactSettings(stages=())))


def rate(found: AuditReport, kind: str) -> FaultRate:
    return next(one for one in found.rates if one.kind == kind)


def faulty(found: AuditReport, kind: str) -> set[str]:
    return {example.memory.id for example in rate(found, kind).examples}


def statuses(memory: Memory, *ids: str) -> list[str]:
    return [memory.history(one).memory.status for one in ids]


def turn(content: str, session: str, number: int = 0, **fields: object) -> NewMemory:
    return NewMemory(content, session=session, turn=number, role="assistant", **fields)  # type: ignore[arg-type]


def test_an_empty_store_has_no_faults(memory: Memory) -> None:
    found = memory.audit()
    assert (found.memories, found.fixed, found.undo) == (0, {}, "")
    assert [(one.count, one.share, one.fix) for one in found.rates] == [(0, 0.0, "")] * 4


def test_what_says_nothing_is_junk_and_what_names_something_is_not(memory: Memory) -> None:
    junk = [memory.add(text).id for text in ("ok", "thank you", "!!!", "👍", "好的")]
    for text in (
        "port 8080",
        "ECONNRESET",
        "use snake_case",
        "Ann likes tea",
        "今日は帆を直した",
        "Kerstin.",
        "Porto, Lisboa",
    ):
        memory.add(text)
    memory.add("bluebunny", title="wifi password")
    memory.add("yes", pinned=True)
    memory.add("use ruff", tier="lesson")
    found = memory.audit()
    assert faulty(found, "junk") == set(junk)
    assert rate(found, "junk").share == pytest.approx(5 / 15, abs=1e-6)
    assert rate(found, "junk").fix == "scrubjay audit --fix junk"


def test_of_boilerplate_the_oldest_stays(memory: Memory) -> None:
    text = "This message was sent by a machine, do not answer it."
    ids = [one.id for one in memory.add_many(turn(text, f"s{n}") for n in range(20))]
    found = memory.audit(["junk"])
    assert rate(found, "junk").reasons == {"boilerplate": 19}
    assert len(found.fixed["junk"]) == 19
    assert statuses(memory, *ids).count("active") == 1
    assert rate(memory.audit(), "junk").count == 0


def test_what_happens_every_day_is_no_boilerplate(memory: Memory) -> None:
    memory.add_many(
        NewMemory("Ran five kilometres by the sea.", date=f"2026-01-{n:02}") for n in range(1, 31)
    )
    found = memory.audit()
    assert (rate(found, "junk").count, rate(found, "near-duplicate").count) == (0, 0)


def test_all_but_the_best_of_equal_texts_are_put_away_and_come_back(memory: Memory) -> None:
    first = memory.add("The mast is twelve metres high.").id
    again = memory.add("The mast is  twelve metres high.", session="later").id
    used = memory.add("The mast is twelve metres high.", session="last").id
    memory.feedback(used, "used")
    found = memory.audit()
    assert faulty(found, "near-duplicate") == {first, again}
    assert {example.other.id for example in rate(found, "near-duplicate").examples if example.other} == {used}
    assert statuses(memory, first, again, used) == ["active"] * 3
    done = memory.audit(["near-duplicate"])
    assert statuses(memory, first, again, used) == ["archived", "archived", "active"]
    assert set(done.fixed["near-duplicate"]) == {first, again}
    assert set(memory.undo_audit(done.undo.split()[-1]).ids) == {first, again}
    assert statuses(memory, first, again) == ["active", "active"]
    assert rate(memory.audit(), "near-duplicate").count == 0  # somebody looked, and kept them


def test_statements_that_are_only_alike_are_never_put_away_as_duplicates(memory: Memory) -> None:
    texts = [
        "Ann always drinks black tea with lemon and honey before breakfast on the boat.",
        "Before breakfast on the boat Ann always drinks black tea with honey and lemon.",
        "The connection pool of the billing service times out after exactly 30 seconds of silence.",
        "The connection pool of the billing service times out after exactly 90 seconds of silence.",
        "The parser of the boat's log is written in C.",
        "The parser of the boat's log is written in C++.",
    ]
    ids = [memory.add(text, session=f"s{n}").id for n, text in enumerate(texts)]
    before = statuses(memory, *ids)
    assert memory.audit(["near-duplicate"]).fixed == {"near-duplicate": ()}
    assert statuses(memory, *ids) == before
    assert rate(memory.audit(), "near-duplicate").reasons == {"the same words": 1}


def test_what_two_projects_or_two_keys_say_is_said_twice(opened: Open, settings: Settings) -> None:
    plain = replace(settings, facts=FactSettings(stages=()))
    ann = opened(settings=plain, groups=("dev",))
    text = "Lint with ruff before every commit to main."
    ann.add(text, project="boats")
    ann.add(text, project="cars")
    ann.add(text, visibility="group", group="dev")
    assert rate(ann.audit(), "near-duplicate").count == 0


def test_files_that_agree_are_told_and_left_alone(memory: Memory, folder: Path) -> None:
    folder.mkdir()
    for name in ("a.md", "b.md"):
        (folder / name).write_text(
            "# Engine\n\nThe engine of the boat wants new oil every two hundred hours.\n"
        )
    memory.sync(folder)
    found = memory.audit(["near-duplicate"])
    told = rate(found, "near-duplicate")
    assert (told.count, told.fixable, told.fix, found.fixed) == (1, 0, "", {"near-duplicate": ()})
    assert told.examples[0].memory.where.endswith("b.md:1-3")


def test_what_is_no_longer_true_or_was_never_used_is_stale(memory: Memory) -> None:
    ended = memory.add("The berth is ours.", valid_until="2020-01-01").id
    plain = memory.add("The keel was cleaned at the yard.").id
    used = memory.add("The rig was tuned at the yard.").id
    memory.feedback(used, "used")
    memory.add("Reef early, before the wind is there.", tier="lesson")
    assert faulty(memory.audit(), "stale") == {ended}
    later = memory.audit(now="2031-01-01")
    assert faulty(later, "stale") == {ended, plain}
    assert rate(later, "stale").tiers == {"observation": 2}
    done = memory.audit(["stale"], now="2031-01-01")
    assert statuses(memory, ended, plain, used) == ["archived", "archived", "active"]
    assert done.undo


def test_what_is_written_today_of_long_ago_is_not_old(memory: Memory) -> None:
    memory.add("The yard was founded then.", date="1815")
    assert rate(memory.audit(), "stale").count == 0


def test_what_was_superseded_and_is_active_is_superseded_again(memory: Memory) -> None:
    old = memory.add("Ann lives in New York.", valid_until="2126-06-01").id
    new = memory.add("Ann lives in Los Angeles.").id
    until = memory.history(old).memory.valid_until
    memory.link(new, old, "supersedes")
    assert faulty(memory.audit(), "stale") == {old}
    run = memory.audit(["stale"]).undo.split()[-1]
    assert statuses(memory, old, new) == ["superseded", "active"]
    assert memory.history(old).superseded_by == (new,)
    memory.undo_audit(run)
    assert statuses(memory, old, new) == ["active", "active"]
    told = memory.history(old)
    assert (told.memory.valid_until, told.superseded_by) == (until, (new,))


def test_what_a_person_archived_after_an_audit_stays_archived_when_the_audit_is_undone(
    memory: Memory,
) -> None:
    one, other = memory.add("ok").id, memory.add("thank you").id
    run = memory.audit(["junk"]).undo.split()[-1]
    memory.restore(one)
    memory.archive(one)
    done = memory.undo_audit(run)
    assert (done.ids, done.unchanged) == ((other,), (one,))
    assert statuses(memory, one, other) == ["archived", "active"]


def test_private_words_do_not_supersede_shared_ones(opened: Open, settings: Settings) -> None:
    ann = opened(settings=replace(settings, facts=FactSettings(stages=())), groups=("dev",))
    shared = ann.add("Deployments on Fridays are fine.", visibility="group", group="dev").id
    ann.link(ann.add("Never deploy on a Friday.").id, shared, "supersedes")
    assert rate(ann.audit(["stale"]), "stale").count == 0
    assert statuses(ann, shared) == ["active"]


def test_a_derived_memory_without_evidence_is_an_orphan(memory: Memory) -> None:
    source = memory.add("We took the blue sail to the loft in Cascais today.").id
    kept = memory.add("The blue sail is in Cascais.", tier="semantic", origin="derived").id
    memory.link(kept, source, "derived_from")
    alone = memory.add("The red sail is in Porto.", tier="semantic", origin="derived").id
    memory.archive(source)
    assert faulty(memory.audit(["orphaned"]), "orphaned") == {alone}
    assert statuses(memory, kept, alone) == ["active", "archived"]


def test_a_folder_that_is_gone_is_named_with_what_it_holds(memory: Memory, folder: Path) -> None:
    folder.mkdir()
    (folder / "a.md").write_text("# Engine\n\nThe engine of the boat wants new oil.\n")
    memory.sync(folder)
    assert memory.audit().missing == ()
    folder.rename(folder.with_name("elsewhere"))
    (gone,) = memory.audit().missing
    assert (gone.root, gone.passages) == (str(folder), 1)


def test_a_fix_never_puts_away_what_stays_in_another_one_s_stead(memory: Memory) -> None:
    kept = memory.add("The mast is twelve metres high.", valid_until="2020-01-01").id
    memory.feedback(kept, "used")
    again = memory.add("The mast is twelve metres high.", session="later").id
    done = memory.audit(["stale", "near-duplicate"])
    assert done.fixed == {"near-duplicate": (again,), "stale": ()}
    assert statuses(memory, kept, again) == ["active", "archived"]
    assert memory.audit(["stale"]).fixed == {"stale": (kept,)}


def test_a_dry_run_says_what_would_be_put_away(memory: Memory) -> None:
    one = memory.add("ok").id
    done = memory.audit(["junk"], dry_run=True)
    assert (done.fixed, done.undo, done.dry_run) == ({"junk": (one,)}, "", True)
    assert memory.audit(dry_run=True).fixed["junk"] == (one,)
    assert statuses(memory, one) == ["active"]
    assert memory.history(one).events == ()


def test_nobody_is_told_of_what_they_do_not_see(opened: Open, settings: Settings) -> None:
    plain = replace(settings, facts=FactSettings(stages=()))
    ann, bob = opened(settings=plain, user="ann"), opened(settings=plain, user="bob")
    one = ann.add("ok").id
    ann.add(BERTH)
    bob.add(BERTH)
    found = bob.audit(["junk", "near-duplicate"])
    assert (found.memories, [one.count for one in found.rates]) == (1, [0] * 4)
    run = ann.audit(["junk"]).undo.split()[-1]
    with pytest.raises(NotFoundError, match="archived a memory that you may see"):
        bob.undo_audit(run)
    assert statuses(ann, one) == ["archived"]


def test_what_was_changed_since_is_not_undone(memory: Memory) -> None:
    one, two = memory.add("ok").id, memory.add("thank you").id
    run = memory.audit(["junk"]).undo.split()[-1]
    memory.restore(one)
    done = memory.undo_audit(run)
    assert (done.ids, done.unchanged) == ((two,), (one,))


def test_a_fault_without_a_fix_is_refused_by_name(memory: Memory) -> None:
    with pytest.raises(InputError, match="'recall-loop' cannot be fixed") as caught:
        memory.audit(["recall-loop"])
    assert "junk" in str(caught.value)
    with pytest.raises(InputError) as caught:
        memory.audit(["near-duplicates"])
    assert caught.value.hint == "scrubjay audit --fix near-duplicate"
    with pytest.raises(InputError, match="limit is -1"):
        memory.audit(limit=-1)


def test_examples_are_the_worst_and_no_more_than_asked_for(memory: Memory) -> None:
    for text in ("thank you", "ok", "..."):
        memory.add(text)
    (worst,) = rate(memory.audit(limit=1), "junk").examples
    assert worst.memory.text == "..."
    assert rate(memory.audit(limit=0), "junk").examples == ()
