"""What is forgotten is told of by nothing: no concept, no category, no digest, no byte of the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from notes_folder import Notes
from web import categories, edges, everything, named, scope_of, store_of

from scrubjay import Memory
from scrubjay.config.settings import LinkingSettings, Settings
from scrubjay.models.lifecycle import NewMemory

Open = Callable[..., Memory]

SUBJECTS = (
    "seedlings compost tulips watering greenhouse pruning",
    "sourdough oven yeast simmering dumplings whisk",
)
SECRET = "Zyxovar"


@pytest.fixture
def memory(opened: Open) -> Memory:
    return opened()


def said(memory: Memory) -> str:
    """All that concepts and categories say."""
    told = [f"{c.name} {c.abstract} {c.overview}" for k in ("topic", "path") for c in categories(memory, k)]
    with store_of(memory).reader(scope_of(memory)) as reader:
        told += [f"{row.name} {' '.join(row.aliases)}" for row in reader.concepts()]
    return "\n".join(told)


def day(number: int, *more: str) -> str:
    words = SUBJECTS[number % 2].split()
    return f"Day {number} was about the " + " and the ".join(
        [*words[number % 6 :], *words[: number % 6], *more]
    )


def telling(memory: Memory) -> list[str]:
    """Ids of the memories that hold the secret."""
    with store_of(memory).reader(scope_of(memory)) as reader:
        return [
            record.id for record in everything(reader) if SECRET in f"{record.content} {record.heading_path}"
        ]


def test_a_concept_that_was_found_in_it_alone_goes_and_others_stay(memory: Memory) -> None:
    gone = memory.add(f"We met [[{SECRET}]] and [[Grafana]].").id
    memory.add("Grafana is up again.")
    memory.concepts.add(f"{SECRET} Two")
    assert SECRET in named(memory)
    memory.forget(gone)
    assert named(memory) == {"Grafana": {"Grafana is up again."}, f"{SECRET} Two": set()}


def test_a_concept_that_others_know_stays_theirs(opened: Open) -> None:
    memory = opened()
    memory.add(f"See [[{SECRET}]].", visibility="public")
    own = memory.add(f"{SECRET} said hello to me.").id
    memory.forget(own)
    assert list(named(memory)) == [SECRET]


def test_a_topic_that_told_of_it_is_made_of_those_that_stay(memory: Memory) -> None:
    memory.add_many(NewMemory(day(n)) for n in range(24))
    memory.add_many(NewMemory(day(n * 2, SECRET, SECRET), title=f"Of {SECRET}") for n in range(12, 16))
    memory.add_many(NewMemory(day(n)) for n in range(40, 64))
    assert SECRET.casefold() in said(memory).casefold()
    before = len(categories(memory, "topic"))
    memory.forget(telling(memory))
    assert SECRET.casefold() not in said(memory).casefold()
    assert len(categories(memory, "topic")) >= before / 2
    ends = {edge.dst for edge in edges(memory, "belongs")}
    assert ends <= {category.id for category in categories(memory, "topic")}
    assert len({edge.src for edge in edges(memory, "belongs")}) >= 40


def test_a_place_that_told_of_it_is_made_of_those_that_stay(memory: Memory, notes: Notes) -> None:
    parts = "".join(f"\n## Part {n}\n\nThe part of number {n}.\n" for n in range(3))
    notes.write("a.md", f"# Diary\n\nHello.\n\n## {SECRET}\n\nWe met.\n{parts}")
    notes.write("sub/b.md", f"# About {SECRET}\n\nShort.\n")
    for name in "cd":
        notes.write(f"sub/{name}.md", f"# Other {name}\n\nShort too.\n")
    memory.sync(notes.root)
    assert SECRET in said(memory)
    memory.forget(telling(memory))
    assert SECRET not in said(memory)
    assert {"a.md", "sub"} <= {category.name for category in categories(memory, "path")}


def test_forgetting_what_nothing_tells_of_moves_no_category(memory: Memory, notes: Notes) -> None:
    memory.add_many(NewMemory(day(n)) for n in range(40))
    notes.write("a.md", "# Diary\n\nHello.\n\n## One\n\nfirst\n\n## Two\n\nsecond\n")
    memory.sync(notes.root)
    extra = memory.add("tulips whisk tulips whisk tulips yeast tulips oven").id
    before = categories(memory, "topic") + categories(memory, "path")
    memory.forget(extra)
    assert categories(memory, "topic") + categories(memory, "path") == before


def test_with_categories_switched_off_meanwhile_those_that_told_go_all_the_same(
    settings: Settings, opened: Open
) -> None:
    opened().add_many(NewMemory(day(n, *[SECRET] * 2)) for n in range(24))
    memory = opened(settings=replace(settings, linking=replace(LinkingSettings(), stages=())))
    assert SECRET.casefold() in said(memory).casefold()
    memory.forget(telling(memory))
    assert SECRET.casefold() not in said(memory).casefold()


def test_no_byte_of_the_file_tells_of_it(settings: Settings, opened: Open, notes: Notes) -> None:
    memory = opened()
    memory.add_many(NewMemory(day(n)) for n in range(24))
    notes.write(
        "a.md", f"# {SECRET}\n\n" + "\n\n".join(f"## Part {n} of {SECRET}\n\nIt was." for n in range(4))
    )
    memory.sync(notes.root)
    memory.add_many(NewMemory(day(n, f"[[{SECRET}]]"), title=f"Of {SECRET}") for n in range(24, 30))
    memory.forget(telling(memory))
    memory.remove_source(str(notes.root))
    memory.close()
    for file in Path(settings.store).parent.glob("memory.db*"):
        assert SECRET.casefold().encode() not in file.read_bytes().lower(), file


def test_topics_of_a_source_that_is_removed_go_with_it(opened: Open, notes: Notes) -> None:
    memory = opened()
    for n in range(24):
        notes.write(f"{n}.md", day(n, SECRET))
    memory.sync(notes.root)
    assert categories(memory, "topic")
    memory.remove_source(str(notes.root))
    assert categories(memory, "topic") == []


def test_when_all_was_forgotten_no_name_of_before_comes_back(memory: Memory) -> None:
    memory.add_many(NewMemory(day(n)) for n in range(40))
    old = {category.name for category in categories(memory, "topic")}
    with store_of(memory).reader(scope_of(memory)) as reader:
        ids = [record.id for record in everything(reader)]
    memory.forget(ids)
    assert old
    assert said(memory) == ""
    memory.add_many(NewMemory(day(n)[::-1]) for n in range(40))
    assert categories(memory, "topic")
    assert not old & {category.name for category in categories(memory, "topic")}


def test_a_sync_says_what_it_leaves_out_because_it_was_forgotten(memory: Memory, notes: Notes) -> None:
    notes.write("plan.md", f"# Plan\n\nThe word is {SECRET}.\n\n# Other\n\nStays as it is.\n")
    assert memory.sync(notes.root).forgotten == 0
    memory.forget(telling(memory))
    done = memory.sync(notes.root)
    assert (done.forgotten, done.added, telling(memory)) == (1, 0, [])
    assert memory.sync(notes.root).forgotten == 1


def test_a_file_says_how_many_of_its_passages_were_forgotten_until_they_are_edited(
    memory: Memory, notes: Notes
) -> None:
    path = notes.write("plan.md", f"# Plan\n\nThe word is {SECRET}.\n\n# Other\n\nStays as it is.\n")
    memory.sync(notes.root)
    for left in (1, 0):
        memory.forget(memory.get(path=path).records[0].id)
        for _ in range(2):
            found = memory.get(path=path)
            assert (len(found.records), found.forgotten, found.unknown) == (left, 2 - left, ())
            assert [one.forgotten for one in memory.status().sources] == [2 - left]
            assert memory.sync(notes.root).forgotten == 2 - left
    notes.write("plan.md", "# Plan\n\nThere is no word.\n\n# Other\n\nStays as it is.\n")
    assert memory.sync(notes.root).forgotten == 1
    found = memory.get(path=path)
    assert (len(found.records), found.forgotten) == (1, 1)


@pytest.mark.parametrize("looks", [False, True])
def test_a_copy_that_nobody_forgot_stays_where_it_stands(memory: Memory, notes: Notes, looks: bool) -> None:
    """Its file is read again since something else of it was forgotten, at whatever hour that happens to be."""
    plan = notes.write("plan.md", f"# Plan\n\nIt rains.\n\n# Word\n\nThe word is {SECRET}.\n")
    copy = notes.write("copy.md", f"# Word\n\nThe word is {SECRET}.\n")
    memory.sync(notes.root)
    first, stays = (record.id for record in memory.get(path=plan).records)
    memory.forget([first, *(record.id for record in memory.get(path=copy).records)])
    if looks:
        assert [result.id for result in memory.search(SECRET).results] == [stays]
    else:
        assert memory.sync().forgotten == 2
    assert telling(memory) == [stays]
    notes.write("plan.md", f"# Plan\n\nIt snows.\n\n# Word\n\nThe word is {SECRET}.\n")
    notes.write("more.md", f"# Word\n\nThe word is {SECRET}.\n")
    memory.sync()
    assert telling(memory) == [stays], "what comes anew is left out; what stands is left"


def test_of_two_equal_passages_of_a_file_the_forgotten_one_does_not_come_back(
    memory: Memory, notes: Notes
) -> None:
    said_twice = (
        f"# Word\n\nThe word is {SECRET}.\n\n# Word\n\nThe word is {SECRET}.\n\n# Else\n\nIt rains.\n"
    )
    notes.write("plan.md", said_twice)
    memory.sync(notes.root)
    gone, stays = telling(memory)
    memory.forget(gone)
    for _ in range(2):
        memory.sync()
        assert telling(memory) == [stays]
    notes.write("plan.md", said_twice.replace("rains", "snows"))
    memory.sync()
    assert telling(memory) == [stays]
    memory.forget(stays)
    memory.sync()
    assert telling(memory) == []
