"""A thread: what belongs to a question, told in order, each memory with the way that led to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from scrubjay import Memory
from scrubjay.config.loader import load_settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import InputError
from scrubjay.models.results import Thread, ThreadEntry
from scrubjay.rerankers.base import RerankQuery
from scrubjay.search import graph, thread

LEFT = "why did we leave MongoDB?"


class NoOpinion:
    """A reranker that prefers nothing, so that edges alone decide."""

    name = "no opinion"
    host = ""

    def scores(
        self, question: RerankQuery, passages: Sequence[str], *, deadline: float
    ) -> list[float | None]:
        return [None] * len(passages)


@pytest.fixture
def memory() -> Iterator[Memory]:
    settings = load_settings(environ={"SCRUBJAY_LINKING_STAGES": "concepts,links"})
    embedders, reranker = [HashEmbedder(64)], NoOpinion()
    with Memory.open(
        "memory://", user="ann", settings=settings, embedders=embedders, reranker=reranker
    ) as made:
        yield made


def ids(thread: Thread) -> list[str]:
    return [knot.result.id for knot in thread.entries]


def knot(thread: Thread, memory: str) -> ThreadEntry:
    (found,) = [knot for knot in thread.entries if knot.result.id == memory]
    return found


def filler(memory: Memory, count: int = 30) -> None:
    """Write notes about something else, so that a search cannot show everything."""
    text = "Quince and pear number {} want water, said the gardener of bed {}."
    memory.add_many([_new(text.format(number, number % 7)) for number in range(count)])


def test_a_question_is_answered_with_what_led_there_and_what_came_of_it_in_order(memory: Memory) -> None:
    filler(memory)
    moved = memory.add("We moved off MongoDB to Postgres.", date="2024-04-01").id
    chose = memory.add("Our pick for the orders store is MongoDB.", date="2023-01-05").id
    failed = memory.add("Failover of the replica set dropped four hundred orders.", date="2024-03-02").id
    after = memory.add("Nightly dumps take six minutes now.", date="2024-06-01").id
    memory.link(moved, failed)
    memory.link(after, moved, "derived_from")
    found = memory.thread(LEFT, limit=4)
    assert ids(found) == [chose, failed, moved, after]
    assert [(s.kind, s.direction, s.id) for s in knot(found, failed).reached.path] == [
        ("links", "to", failed)
    ]
    assert [(s.kind, s.direction) for s in knot(found, after).reached.path] == [("derived_from", "from")]
    assert [step.name for step in knot(found, chose).reached.path] == ["MongoDB", ""]
    assert [knot(found, one).reached.found for one in (chose, failed, moved, after)] == [
        True,
        False,
        True,
        False,
    ]
    assert knot(found, failed).gap == "13 months later"


def test_a_shared_concept_leads_on_and_the_path_names_it(memory: Memory) -> None:
    filler(memory)
    asked = memory.add("The outage on the night of the ball was blamed on Heron.").id
    told = memory.add("Heron keeps its leases in a file that is not synced.").id
    memory.concepts.add("Heron")
    found = memory.thread("outage on the night of the ball", limit=4)
    steps = knot(found, told).reached.path
    assert [(s.kind, s.direction, s.name) for s in steps] == [
        ("references", "to", "Heron"),
        ("references", "from", ""),
    ]
    assert knot(found, told).reached.seed == asked


def test_related_concepts_are_two_hops_away(memory: Memory) -> None:
    filler(memory, 40)
    asked = memory.add("The outage of the ball was Heron again.").id
    for number in range(4):
        memory.add(f"Heron and Lapwing were deployed together, round {number}.")
    far = memory.add("Lapwing lost its disk.").id
    for name in ("Heron", "Lapwing"):
        memory.concepts.add(name)
    near = memory.thread("outage of the ball", limit=60, hops=1)
    wide = memory.thread("outage of the ball", limit=60, hops=2)
    assert asked in ids(near)
    assert [k for k in near.entries if k.result.id == far and k.reached.hops] == []
    steps = [step.kind for step in knot(wide, far).reached.path]
    assert steps in (
        ["references", "related_to", "references"],
        ["references", "references", "references", "references"],
    )
    assert knot(wide, far).reached.hops == 2


def test_what_comes_before_and_after_in_a_conversation_belongs_to_it(memory: Memory) -> None:
    filler(memory)
    said = ["Shall we take the ferry?", "The zeppelin is cheaper on Mondays.", "Good, book two places."]
    turns = [
        memory.add(text, session="s", turn=number, role="user", date=f"2024-01-0{number + 1}").id
        for number, text in enumerate(said)
    ]
    found = memory.thread("zeppelin cheaper", limit=3)
    assert ids(found) == turns
    before, after = knot(found, turns[0]).reached.path, knot(found, turns[2]).reached.path
    assert [(s.kind, s.direction) for s in (*before, *after)] == [("follows", "to"), ("follows", "from")]


def test_what_another_memory_replaced_is_told_and_marked(memory: Memory) -> None:
    filler(memory)
    old = memory.add("The deploy day is Thursday.", tier="semantic", date="2023-01-01").id
    new = memory.add("The deploy day is Monday.", tier="semantic", date="2024-01-01").id
    memory.link(new, old, "supersedes")
    found = memory.thread("deploy day", limit=3)
    assert [one for one in ids(found) if one in (old, new)] == [old, new]
    assert knot(found, old).replaced_by == (new,)
    assert knot(found, new).replaced_by == ()


def test_filters_hold_for_what_is_come_to_as_for_what_is_found(memory: Memory) -> None:
    one = memory.add("Heron dropped the orders.", project="shop").id
    other = memory.add("The orders of the boat were dropped, too.", project="boat").id
    memory.link(one, other)
    assert set(ids(memory.thread("Heron dropped"))) == {one, other}
    assert ids(memory.thread("Heron dropped", projects=["shop"])) == [one]
    assert ids(memory.thread("Heron dropped", tiers=["lesson"])) == []
    assert ids(memory.thread("Heron dropped -boat")) == [one]
    memory.archive(other)
    assert ids(memory.thread("Heron dropped")) == [one]
    assert set(ids(memory.thread("Heron dropped", statuses=["active", "archived"]))) == {one, other}


def test_a_chain_of_links_is_followed_as_far_as_the_hops_reach(memory: Memory) -> None:
    filler(memory, 60)
    first = memory.add("The zeppelin timetable hangs in hall nine.").id
    second = memory.add("Ada pays for paper every spring.").id
    third = memory.add("Basalt is heavier than chalk.").id
    memory.link(first, second)
    memory.link(second, third)
    for hops, wanted in ((1, {second}), (2, {second, third})):
        found = memory.thread("zeppelin timetable hall nine", limit=100, hops=hops)
        assert {one.result.id for one in found.entries if one.reached.path} == wanted


def test_a_score_is_what_was_carried_and_what_is_its_own(memory: Memory) -> None:
    filler(memory)
    one = memory.add("The zeppelin is cheaper on Mondays.").id
    other = memory.add("Tickets were bought by Ada.").id
    memory.link(one, other, weight=0.5)
    found = memory.thread("zeppelin cheaper", limit=3)
    reached = knot(found, other).reached
    carried = knot(found, one).reached.own * 0.5 * graph.EDGE_WEIGHTS["links"]
    assert reached.carried == pytest.approx(carried)
    assert knot(found, other).result.score == pytest.approx(
        thread.CARRIED_SHARE * carried + thread.OWN_WEIGHT * reached.own, abs=1e-6
    )
    explained = knot(found, other).result.explanation
    assert explained is not None
    assert sum(part.amount for part in explained.contributions) == pytest.approx(reached.score, abs=1e-6)


def test_of_a_concept_with_very_many_memories_the_ones_that_fit_the_question_are_taken(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that name it most are looked at, and those that the question found by itself."""
    monkeypatch.setattr(thread, "MEMBER_FACTOR", 1)
    memory.add("The outage of the ball was Heron again.")
    memory.add_many(
        [_new(f"Heron Heron Heron served tray {number} to guest {number}.") for number in range(80)]
    )
    fits = memory.add("At the ball the lamps of the hall failed before Heron did, and an outage followed.").id
    memory.concepts.add("Heron")
    found = memory.thread("outage of the ball lamps", limit=3, fan_out=2)
    assert fits in ids(found)
    assert len(found.entries) == 3


def test_of_a_hub_those_are_looked_at_that_the_question_found(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    filler(memory, 300)
    memory.add("The outage of the ball was Heron again.")
    memory.add_many([_new(f"Heron served tray {number} to guest {number}.") for number in range(60)])
    fits = memory.add("At the ball the lamps of the hall failed before Heron did.").id
    memory.concepts.add("Heron")
    monkeypatch.setattr("scrubjay.search.thread.MIN_SCORE_SHARE", 0.0)
    whole = memory.thread("outage of the ball lamps", limit=4, fan_out=50)
    monkeypatch.setattr(thread, "HUB_SIZE", 20)
    less = memory.thread("outage of the ball lamps", limit=4, fan_out=50)
    assert fits in ids(less)
    assert less.left_out < whole.left_out


def _new(text: str):  # type: ignore[no-untyped-def]
    from scrubjay.models.lifecycle import NewMemory

    return NewMemory(text)


def test_an_empty_store_and_an_empty_question_have_no_story(memory: Memory) -> None:
    assert memory.thread("anything").entries == ()
    memory.add("A note.")
    assert memory.thread("").entries == ()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"hops": 5}, "hops is 5; it must lie between 0 and 4"),
        ({"hops": -1}, "hops is -1"),
        ({"fan_out": 0}, "fan_out is 0"),
        ({"limit": 101}, "limit is 101"),
        ({"tiers": ["dream"]}, "Tier 'dream'"),
        ({"since": "someday"}, "is not a date"),
    ],
)
def test_what_cannot_be_is_refused_with_its_range(
    memory: Memory, options: dict[str, object], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        memory.thread("x", **options)  # type: ignore[arg-type]


def test_no_hops_give_what_the_search_found_as_a_story(memory: Memory) -> None:
    one = memory.add("The zeppelin is cheaper on Mondays.", date="2024-02-01").id
    other = memory.add("The zeppelin crashed.", date="2023-02-01").id
    found = memory.thread("zeppelin", hops=0)
    assert ids(found) == [other, one]
    assert all(k.reached.hops == 0 and k.reached.path == () for k in found.entries)


def test_a_text_stands_in_a_story_once(memory: Memory) -> None:
    one = memory.add("The zeppelin crashed.", session="a", turn=0, role="user").id
    memory.add("The zeppelin crashed.", session="b", turn=0, role="user")
    assert len(ids(memory.thread("zeppelin crashed"))) == 1
    assert one


def test_an_acknowledgement_stands_in_no_thread(memory: Memory) -> None:
    turns = (
        ("user", "Which log format do we use in Kestrel, zap or slog?"),
        ("assistant", "Kestrel uses slog since May, because zap pulled in too much."),
        ("user", "ok"),
        ("assistant", "OK."),
        ("user", "The slog handler of Kestrel writes JSON lines."),
    )
    for at, (role, text) in enumerate(turns):
        memory.add(text, session="s1", turn=at, role=role, date=f"2026-05-01T10:0{at}:00Z")
    told = [knot.result.snippet for knot in memory.thread("log format slog Kestrel").entries]
    assert told
    assert "ok" not in told
    assert "OK." not in told


def test_the_former_name_of_the_entries_still_works_and_warns(memory: Memory) -> None:
    memory.add("The mast was bent in the storm.")
    found = memory.thread("mast storm")
    with pytest.warns(DeprecationWarning, match="Thread.knots is called Thread.entries now"):
        assert found.knots == found.entries
