"""A person sees a memory with all that surrounds it, what happened when, and which names go together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from scrubjay import Memory, NewMemory
from scrubjay.errors import InputError, NotFoundError

Open = Callable[..., Memory]


@pytest.fixture(params=["sqlite", "postgres"])
def memory(opened: Open, request: pytest.FixtureRequest) -> Memory:
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    return opened(url, tenant=request.node.name)


def test_a_memory_is_shown_with_its_neighbours_names_and_shelves(memory: Memory, tmp_path: Path) -> None:
    notes = tmp_path / "tree" / "boats"
    notes.mkdir(parents=True)
    heads = [
        f"# Part {n}\n\nThe Quiet Harbor is open on day {n}. {'It rains a lot. ' * 40}\n" for n in range(4)
    ]
    (notes / "log.md").write_text("\n".join(heads))
    memory.sync(notes.parent, description="Sea notes")
    memory.concepts.add("Quiet Harbor")
    passages = memory.get(path=notes / "log.md").records
    seen = memory.look(passages[1].id[:-1], neighbours=1)
    assert seen.memory == passages[1]
    assert (seen.path, seen.source) == (str(notes / "log.md"), "Sea notes")
    assert [one.id for one in seen.around] == [one.id for one in passages[:3]]
    assert [one.name for one in seen.concepts] == ["Quiet Harbor"]
    assert any("boats" in names for _, names in seen.categories)
    with pytest.raises(NotFoundError):
        memory.look("obs_nothing")


def test_looking_at_a_memory_is_no_use_of_it_and_names_only_what_the_caller_sees(memory: Memory) -> None:
    one = memory.add("The berth costs forty euros.").id
    done = memory.update(one, "The berth costs fifty euros.")
    seen = memory.look(one)
    assert [event.op for event in seen.history.events] == ["changed"]
    assert seen.named[str(done.before)].phrase == "The berth costs forty euros."
    assert memory.look(one).memory.last_used is None
    with pytest.raises(NotFoundError):
        memory.seen_by("bob").look(one)


def test_the_timeline_goes_back_page_by_page_and_takes_filters(memory: Memory) -> None:
    memory.add_many(
        [
            NewMemory(f"Day {day}.", date=f"2026-03-{day:02}", tags=["odd"] if day % 2 else [])
            for day in range(1, 8)
        ]
    )
    first = memory.timeline(limit=3)
    assert ([one.content for one in first.memories], first.more) == (["Day 7.", "Day 6.", "Day 5."], True)
    last = memory.timeline(limit=3, skip=6)
    assert ([one.content for one in last.memories], last.more) == (["Day 1."], False)
    assert [one.content for one in memory.timeline(until="2026-03-03", tags=["odd"]).memories] == [
        "Day 3.",
        "Day 1.",
    ]
    assert memory.timeline(statuses=["archived"]).memories == ()
    assert memory.seen_by("bob").timeline().memories == ()
    for wrong in ({"skip": -1}, {"limit": 0}, {"tiers": ["none"]}):
        with pytest.raises(InputError):
            memory.timeline(**wrong)  # type: ignore[arg-type]


def test_a_timeline_shows_one_shelf_with_those_below_it(memory: Memory, tmp_path: Path) -> None:
    for folder in ("a", "a/b", "c"):
        (tmp_path / "tree" / folder).mkdir(parents=True)
        (tmp_path / "tree" / folder / "n.md").write_text(f"Words of {folder}.\n")
    memory.sync(tmp_path / "tree")
    assert {one.content for one in memory.timeline(categories=["a"]).memories} == {
        "Words of a.\n",
        "Words of a/b.\n",
    }


def test_names_that_stand_together_are_tied_and_others_are_not(memory: Memory) -> None:
    memory.concepts.add_many(["Blue Falcon", "Iron Ledger", "Quiet Harbor"])
    for n in range(3):
        memory.add(f"They met at Blue Falcon and Iron Ledger on day {n}.")
    memory.add("We stayed at Quiet Harbor.")
    web = memory.concepts.network()
    names = {one.id: one.name for one in web.concepts}
    assert [(one.name, one.memories) for one in web.concepts] == [
        ("Blue Falcon", 3),
        ("Iron Ledger", 3),
        ("Quiet Harbor", 1),
    ]
    assert [({names[tie.one], names[tie.other]}, tie.together) for tie in web.ties] == [
        ({"Blue Falcon", "Iron Ledger"}, 3)
    ]
    assert memory.concepts.network(limit=1).known == 3
    assert [one.name for one in memory.concepts.network(query="quiet").concepts] == ["Quiet Harbor"]
    assert memory.seen_by("bob").concepts.network().concepts == ()
    with pytest.warns(DeprecationWarning, match="concepts.web is called concepts.network now"):
        assert memory.concepts.web(limit=1) == memory.concepts.network(limit=1)
    with pytest.raises(InputError):
        memory.concepts.network(limit=3_000)


def test_equal_ties_are_chosen_by_name_and_not_by_the_ids_of_a_store(memory: Memory) -> None:
    names = [f"Harbor {letter * 3}" for letter in "Abcdefgh"]
    memory.concepts.add_many(names)
    for one in range(len(names)):
        for other in range(one + 1, len(names)):
            memory.add(f"The boats of {names[one]} meet those of {names[other]}.")
    web = memory.concepts.network()
    shown = {one.id: one.name for one in web.concepts}
    assert list(shown.values()) == names
    ties = [(shown[tie.one], shown[tie.other]) for tie in web.ties]
    assert ties == [(one, other) for at, one in enumerate(names) for other in names[at + 1 :]][: len(ties)]
    assert ties


def test_conversations_are_read_by_their_latest_turn_and_conflicts_in_pairs(memory: Memory) -> None:
    memory.add_many(
        [NewMemory(f"{session} says {turn}.", session=session, turn=turn, role="user", date=f"2026-03-{day:02}")
         for session, day in (("old", 1), ("new", 2)) for turn in range(3)]
    )  # fmt: skip
    first = memory.conversations(limit=1)
    assert [(one.session, one.opening, one.turns) for one in first.conversations] == [
        ("new", "new says 0.", 3)
    ]
    assert first.more
    assert [one.session for one in memory.conversations(skip=1).conversations] == ["old"]
    page = memory.conversation("old", limit=2, skip=1)
    assert [one.turn for one in page.turns] == [1, 2]
    assert (page.more, memory.conversation("old", limit=2).more) == (False, True)
    assert memory.seen_by("bob").conversations().conversations == ()
    for wrong in ({"limit": 0}, {"limit": 201}, {"skip": -1}):
        with pytest.raises(InputError):
            memory.conversations(**wrong)
        with pytest.raises(InputError):
            memory.conversation("old", **wrong)
    with pytest.raises(NotFoundError, match="There is no conversation 'none'"):
        memory.conversation("none")
    red, green = (memory.add(f"The crane is {colour}.", date=f"2026-0{month}-01").id
                  for month, colour in enumerate(("red", "green"), 3))  # fmt: skip
    memory.link(red, green, kind="contradicts", rule="by hand")
    memory.link(green, red, kind="contradicts", rule="by hand")
    (pair,) = memory.conflicts()
    assert (pair.one.id, pair.other.id, pair.rule) == (green, red, "by hand")
    assert memory.seen_by("bob").conflicts() == []
    memory.archive(red)
    assert memory.conflicts() == []
