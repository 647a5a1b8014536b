"""What a night draws from several sources, how it changes with them, and how it is taken back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.config.settings import FactSettings, Settings
from scrubjay.ingest.embedder import prepare_memory
from scrubjay.models.dates import SECOND, now_micros
from scrubjay.models.lifecycle import LifecycleChange, NewMemory
from scrubjay.models.reports import ConsolidationReport
from scrubjay.storage.changes import PutLifecycle, PutMemory

NOW = "2026-03-01T12:00:00Z"
FILLER = "There are many things that one could say about it here, and it is a good idea to take your time. "
FACT = "Our release server's port is 8443."
TALKS = (
    "We moved PostgreSQL to the Frankfurt cluster.",
    "PostgreSQL needs a larger disk for the ledger.",
    "The PostgreSQL backup runs at three in the morning.",
    "We decided that PostgreSQL stays on version 16.",
    "The PostgreSQL replica lags by 40 seconds.",
    "The greenhouse got a new roof of glass.",
    "Basil and mint grow in the greenhouse.",
    "The greenhouse heater broke in frost.",
)


MORE = ("The PostgreSQL password was rotated.", "PostgreSQL has 40 users in Oslo.", FILLER, FILLER)


def talk(number: int, *texts: str, **fields: object) -> list[NewMemory]:
    return [
        NewMemory(
            f"{FILLER * 2}{text}",
            session=f"s{number}",
            role="user",
            turn=turn,
            date=f"2026-01-{3 * number + 1:02}T10:0{turn}:00Z",
            **fields,  # type: ignore[arg-type]
        )
        for turn, text in enumerate(texts)
    ]


@pytest.fixture
def memory(opened: Callable[..., Memory], settings: Settings) -> Memory:
    """A memory that learns no statements by itself, so that the night has something to draw."""
    return opened(settings=replace(settings, facts=FactSettings(stages=("changes",))))


@pytest.fixture
def told(memory: Memory) -> list[str]:
    """Ids of the turns of eight conversations; each says the fact."""
    talks = [turn for number, text in enumerate(TALKS) for turn in talk(number, text, FACT)]
    return [one.id for one in memory.add_many(talks)]


def held(memory: Memory) -> list[object]:
    with memory.workspace.store.reader(memory.workspace.scope) as reader:
        return sorted(reader.get(reader.ids_with_prefix("", 100_000)).items())


def by_tier(done: ConsolidationReport) -> dict[str, list[str]]:
    tiers = sorted({one.tier for one in done.promoted})
    return {tier: [one.content for one in done.promoted if one.tier == tier] for tier in tiers}


def test_facts_facets_and_crystals_are_drawn_with_their_evidence(memory: Memory, told: list[str]) -> None:
    done = memory.consolidate(now=NOW)
    drawn = by_tier(done)
    assert drawn["semantic"] == [FACT]
    assert drawn["facet"] == ["release server · port: 8443"]
    (crystal,) = drawn["crystal"]
    assert all("PostgreSQL" in line for line in crystal.split("\n"))
    of = {one.tier: one for one in done.promoted}
    assert sorted(of["semantic"].sources) == sorted(told[1::2])
    assert set(of["crystal"].sources) <= {made.id for made in done.made}
    known = memory.history(of["semantic"].id)
    assert sorted(known.evidence) == sorted(told[1::2])
    assert known.memory.confidence > 0.99
    assert known.events[0].run == done.run
    found = memory.search("release server port", tiers=("semantic", "facet")).results
    assert {one.id for one in found} == {of["semantic"].id, of["facet"].id}


def test_a_dry_run_foresees_what_is_promoted_and_writes_nothing(memory: Memory, told: list[str]) -> None:
    def stored() -> list[object]:
        with memory.workspace.store.reader(memory.workspace.scope) as reader:
            return [held(memory), reader.events(), reader.runs(), reader.concepts(), reader.concept_mark()]

    before = stored()
    foreseen = memory.consolidate(now=NOW, dry_run=True)
    assert stored() == before
    done = memory.consolidate(now=NOW)
    assert {one.tier for one in foreseen.promoted} >= {"crystal", "facet", "semantic"}
    assert foreseen.promoted == done.promoted
    memory.add_many(talk(9, *MORE, "Our release server's port is 9000."))
    memory.add_many(talk(8, "The greenhouse was sold.", "Our release server's port is 9000."))
    memory.forget(told[0])
    again = memory.consolidate(now=NOW, dry_run=True)
    assert again.promoted == memory.consolidate(now=NOW).promoted
    assert again.promoted


def test_memories_promoted_from_turns_dated_ahead_are_promoted_once(memory: Memory, told: list[str]) -> None:
    desk = memory.workspace
    with desk.store.reader(desk.scope) as reader:
        records = reader.get(told)
    fast = now_micros() + 3_600 * SECOND
    ahead = [PutMemory(prepare_memory(replace(one, updated_at=fast))) for one in records.values()]
    desk.store.write(desk.scope, ahead)
    assert by_tier(memory.consolidate(now=NOW)).keys() >= {"semantic", "facet", "crystal"}
    assert memory.consolidate(now=NOW).run is None


def test_a_second_night_draws_nothing_again_and_an_undone_one_the_same(
    memory: Memory, told: list[str]
) -> None:
    before = held(memory)
    done = memory.consolidate(now=NOW)
    after = held(memory)
    assert memory.consolidate(now=NOW).run is None
    assert held(memory) == after
    undone = memory.undo(str(done.run))
    assert undone.removed == len(done.made) + len(done.promoted)
    assert held(memory) == before
    again = memory.consolidate(now=NOW)
    assert (again.made, again.promoted) == (done.made, done.promoted)


def test_more_evidence_makes_a_known_fact_surer_and_undoing_takes_it_away(
    memory: Memory, told: list[str]
) -> None:
    first = memory.consolidate(now=NOW)
    fact = next(one.id for one in first.promoted if one.tier == "semantic")
    memory.add_many(talk(9, "The replica of Oslo was renamed.", FACT))
    done = memory.consolidate(now=NOW)
    assert done.supported == 1
    assert len(memory.history(fact).evidence) == len(told) / 2 + 1
    assert memory.history(fact).events[-1].op == "reinforced"
    assert memory.consolidate(now=NOW).run is None
    memory.undo(str(done.run))
    assert sorted(memory.history(fact).evidence) == sorted(told[1::2])


def test_undone_a_known_fact_is_as_sure_as_before_in_whatever_order(memory: Memory) -> None:
    given = memory.add(FACT, tier="semantic", confidence=0.4, origin="derived").id
    sure = [memory.history(given).memory.confidence]
    runs = []
    for number in (0, 2, 4):
        memory.add_many(turn for n in (number, number + 1) for turn in talk(n, TALKS[n], FACT))
        done = memory.consolidate(now=NOW)
        assert done.supported == 1
        runs.append(str(done.run))
        sure.append(memory.history(given).memory.confidence)
    assert sure == sorted(set(sure))
    memory.undo(runs[1])
    assert memory.history(given).memory.confidence == sure[3]
    memory.undo(runs[2])
    assert memory.history(given).memory.confidence == sure[1]
    memory.undo(runs[0])
    assert memory.history(given).memory.confidence == sure[0]
    assert memory.history(given).evidence == ()


def test_what_loses_its_evidence_goes(memory: Memory) -> None:
    turns = [one.id for n in (0, 1) for one in memory.add_many(talk(n, TALKS[n], FACT))]
    done = memory.consolidate(now=NOW)
    assert by_tier(done)["semantic"] == [FACT]
    memory.forget(turns[1])
    again = memory.consolidate(now=NOW)
    assert "semantic" not in by_tier(again)
    with memory.workspace.store.reader(memory.workspace.scope) as reader:
        tiers = [one.tier for one in reader.get(reader.ids_with_prefix("", 100)).values()]
    assert "semantic" not in tiers
    assert "facet" not in tiers


def test_what_somebody_put_away_or_forgot_is_not_drawn_again(memory: Memory, told: list[str]) -> None:
    done = memory.consolidate(now=NOW)
    of = {one.tier: one.id for one in done.promoted}
    memory.archive(of["facet"])
    memory.forget(of["semantic"])
    memory.add_many(talk(9, "The replica of Oslo was renamed.", FACT))
    again = memory.consolidate(now=NOW)
    assert {"semantic", "facet"}.isdisjoint(by_tier(again))


def test_what_is_drawn_with_other_evidence_replaces_what_was_drawn_before(
    memory: Memory, told: list[str]
) -> None:
    first = next(one for one in memory.consolidate(now=NOW).promoted if one.tier == "crystal")
    before = memory.history(first.id).memory
    memory.feedback(first.id, "never-inject")
    memory.add_many(talk(9, *MORE))
    done = memory.consolidate(now=NOW)
    again = next(one for one in done.promoted if one.tier == "crystal")
    assert (again.id, again.title) == (first.id, first.title)
    assert again.content != first.content
    assert {one.id for one in done.made} & set(again.sources)
    assert first.id not in again.sources
    after = memory.history(first.id)
    assert after.memory.recorded_at == before.recorded_at
    assert "never-inject" in after.memory.tags
    assert sorted(after.evidence) == sorted(again.sources)
    assert memory.consolidate(now=NOW).run is None


@pytest.mark.parametrize("life", [LifecycleChange(pinned=True), LifecycleChange(status="archived")])
def test_what_somebody_pinned_or_put_away_is_not_replaced(
    memory: Memory, told: list[str], life: LifecycleChange
) -> None:
    crystal = next(one for one in memory.consolidate(now=NOW).promoted if one.tier == "crystal")
    memory.workspace.store.write(memory.workspace.scope, [PutLifecycle({crystal.id: life})])
    before = memory.history(crystal.id)
    memory.add_many(talk(9, *MORE))
    assert "crystal" not in by_tier(memory.consolidate(now=NOW))
    assert memory.history(crystal.id) == before


def test_what_somebody_put_in_other_words_is_not_replaced(memory: Memory, told: list[str]) -> None:
    crystal = next(one for one in memory.consolidate(now=NOW).promoted if one.tier == "crystal")
    memory.update(crystal.id, "PostgreSQL lives in Frankfurt.")
    before = memory.history(crystal.id)
    memory.add_many(talk(9, *MORE))
    assert crystal.id not in [one.id for one in memory.consolidate(now=NOW).promoted]
    assert memory.history(crystal.id) == before


def test_what_is_drawn_from_a_groups_memories_stays_in_the_group(
    opened: Callable[..., Memory], settings: Settings
) -> None:
    quiet = replace(settings, facts=FactSettings(stages=("changes",)))
    ann = opened(user="ann", groups=("crew",), settings=quiet)
    for number in (0, 1):
        fields = {"visibility": "group", "group": "crew"} if number else {}
        ann.add_many(talk(number, TALKS[number], FACT, **fields))
    assert ann.consolidate(now=NOW).promoted == ()
    ann.add_many(talk(2, TALKS[2], FACT, visibility="group", group="crew"))
    done = ann.consolidate(now=NOW)
    assert {one.key for one in done.promoted} == {"group:crew"}


def test_a_heartbeat_with_nothing_new_reads_nothing_for_it(memory: Memory, tmp_path: Path) -> None:
    memory.add_many(talk(0, TALKS[0], FACT))
    assert memory.consolidate(now=NOW, if_due="0s").run is not None
    memory.add_many(talk(1, TALKS[1], FACT, pinned=True))
    done = memory.consolidate(now=NOW, if_due="0s")
    assert by_tier(done)["semantic"] == [FACT]
    assert memory.consolidate(now=NOW, if_due="0s").run is None


def test_what_was_said_later_of_the_same_thing_is_promoted_and_nothing_older(
    opened: Callable[..., Memory],
) -> None:
    memory = opened()
    said = (
        ("2026-01-03", "Remember: my terminal is wezterm."),
        ("2026-01-04", "Remember: my terminal is wezterm."),
        ("2026-01-09", "Remember: my terminal is ghostty."),
        ("2026-01-11", "I live in Porto."),
        ("2026-01-12", "I live in Porto."),
        ("2026-01-20", "I moved to Lisbon."),
    )
    for day, text in said:
        memory.add(text, session=day, role="user", turn=0, date=day)
    promoted = " ".join(made.content for made in memory.consolidate(now="2026-07-01").promoted)
    assert "ghostty" in promoted
    assert "wezterm" not in promoted
    assert "Porto" not in promoted


def test_what_is_not_learned_from_a_turn_is_not_promoted_from_several(opened: Callable[..., Memory]) -> None:
    memory = opened()
    for day in ("2026-01-03", "2026-01-04", "2026-01-05"):
        memory.add("I got a new mac from the Cupertino store.", session=day, role="user", turn=0, date=day)
        memory.add("Our release server's port is 8443.", session=day, role="user", turn=1, date=day)
    promoted = " ".join(made.content for made in memory.consolidate(now="2026-07-01").promoted)
    assert "8443" in promoted
    assert "Cupertino" not in promoted


@pytest.mark.parametrize("moved_on", [False, True])
def test_undo_makes_active_what_the_run_superseded_and_nothing_else_supersedes(
    memory: Memory, moved_on: bool
) -> None:
    porto = memory.add("The release server is in Porto.", tier="semantic", date="2026-01-01").id
    texts = "The release server moved to Lisbon.", FILLER
    memory.add_many([turn for number in range(3) for turn in talk(number, *texts)])
    run = memory.consolidate(now=NOW).run
    assert run is not None
    assert memory.history(porto).memory.status == "superseded"
    later = memory.add("The release server moved to Berlin.", tier="semantic") if moved_on else None
    memory.undo(run)
    if later is not None:
        assert memory.history(porto).superseded_by == (later.id,)
        assert memory.history(porto).memory.status == "superseded"
        assert memory.forget(later.id).reactivated == (porto,)
    assert memory.history(porto).memory.status == "active"


def test_a_facet_of_a_superseded_value_goes(opened: Callable[..., Memory]) -> None:
    memory = opened()
    memory.add("The release captain is teamx0x.", tier="lesson", date="2026-01-03")
    (made,) = memory.consolidate(now="2026-01-04").promoted
    assert made.content == "release · captain: teamx0x"
    changed = memory.add(
        "The release captain is kestrel-bot now, no longer teamx0x.", tier="lesson", date="2026-01-10"
    )
    assert len(changed.supersedes) == 1
    memory.consolidate(now="2026-01-11")
    assert memory.get(made.id).unknown == (made.id,)
    assert memory.consolidate(now="2026-01-12").run is None


HOME = "I live in Hamburg, Eppendorfer Weg 112."


def facets_of(memory: Memory) -> list[str]:
    memory.consolidate(now=NOW)
    return [one.content for one in memory.page(tiers=("facet",), statuses=("active",)).records]


@pytest.mark.parametrize(
    ("text", "facets"),
    [
        ("Boxes everywhere. We moved to Bremen last weekend.", []),
        ("I no longer live in Hamburg.", []),
        ("Our new address is Am Dobben 48 in Bremen.", []),
        ("Would it be cheaper to live in Berlin?", ["I · live in: Hamburg"]),
        ("My sister moved to Rome on Friday.", ["I · live in: Hamburg"]),
        ("We still live in Hamburg.", ["I · live in: Hamburg"]),
        ("We moved the meeting to Friday.", ["I · live in: Hamburg"]),
        ("We moved to Slack.", ["I · live in: Hamburg"]),
        ("I live near the Weser.", ["I · live in: Hamburg"]),
        ("We lived in Kiel before that.", ["I · live in: Hamburg"]),
        ("Ich bin am Samstag nach Bremen gezogen.", []),
        ("We lived in Hamburg until May.", []),
    ],
)
def test_a_facet_goes_as_soon_as_a_later_turn_may_change_it(
    opened: Callable[..., Memory], text: str, facets: list[str]
) -> None:
    memory = opened()
    memory.add(HOME, role="user", session="a", turn=1, date="2026-02-01")
    assert facets_of(memory) == ["I · live in: Hamburg"]
    memory.add(text, role="user", session="b", turn=1, date="2026-02-20")
    foreseen = memory.consolidate(now=NOW, dry_run=True)
    assert facets_of(memory) == facets
    assert foreseen.renewed == (not facets)
    memory.add("You moved to Bremen.", role="assistant", session="c", turn=1, date="2026-02-21")
    assert facets_of(memory) == facets


def test_an_addition_or_an_earlier_turn_with_another_value(opened: Callable[..., Memory]) -> None:
    memory = opened()
    memory.add("We moved to Rome.", role="user", session="z", turn=1, date="2026-01-01")
    memory.add(HOME, role="user", session="a", turn=1, date="2026-02-01")
    assert facets_of(memory) == ["I · live in: Hamburg"]
    memory.add("User's new address: I live at Am Dobben 48.", date="2026-02-20")
    assert facets_of(memory) == []


@pytest.mark.parametrize(
    ("stated", "later", "stays"),
    [
        ("My email is ben@heron.org.", "I got an email from Ben about the move.", True),
        ("My email is ben@heron.org.", "I changed my email.", False),
        ("My email is ben@heron.org.", "My new email is ben@crane.org.", False),
        ("My dog is Rex.", "I walked the dog at noon.", True),
        ("My dog is Rex.", "My dog is Bello.", False),
    ],
)
def test_a_mention_withdraws_no_facet(
    opened: Callable[..., Memory], stated: str, later: str, stays: bool
) -> None:
    memory = opened()
    memory.add(stated, tier="lesson", date="2026-02-01")
    (facet,) = facets_of(memory)
    memory.add(later, role="user", session="b", turn=1, date="2026-02-20")
    assert (facet in facets_of(memory)) is stays


@pytest.mark.parametrize("touch", ["useful", "never-inject", "tags"])
def test_a_facet_that_a_person_judged_or_tagged_stays(opened: Callable[..., Memory], touch: str) -> None:
    memory = opened()
    memory.add(HOME, role="user", session="a", turn=1, date="2026-02-01")
    (made,) = memory.consolidate(now=NOW).promoted
    if touch == "tags":
        memory.update(made.id, tags=["home"])
    else:
        memory.feedback([made.id], touch)
    memory.add(
        "Our new address is Am Dobben 48 in Bremen.", role="user", session="b", turn=1, date="2026-02-20"
    )
    assert made.content in facets_of(memory)
