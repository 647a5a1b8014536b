"""What a person added, judged or gave a memory stays when the program derives, repeats, renews or forgets others."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scrubjay import Memory
from scrubjay.models.lifecycle import NewMemory
from scrubjay.models.records import STATUSES, Record

Open = Callable[..., Memory]
NOW = "2026-03-01T12:00:00Z"
HOME = "My home address is Rua Augusta 77, Porto."


@pytest.fixture(params=["sqlite", "postgres"])
def memory(opened: Open, request: pytest.FixtureRequest) -> Memory:
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    return opened(url, tenant=request.node.name)


def say(memory: Memory, text: str, session: str, turn: int = 0, **fields: object) -> str:
    given = {"role": "user", "date": "2026-01-05"} | fields
    return memory.add_many([NewMemory(text, session=session, turn=turn, **given)])[0].id  # type: ignore[arg-type]


def stored(memory: Memory, *tiers: str) -> list[Record]:
    return [one for one in memory.page(statuses=STATUSES, limit=200).records if one.tier in tiers]


@pytest.mark.parametrize("pinned", [True, False])
def test_an_addition_stays_when_a_turn_that_repeats_it_is_forgotten(memory: Memory, pinned: bool) -> None:
    own = memory.add(HOME, tier="semantic", pinned=pinned).id
    turn = say(memory, HOME, "a")
    assert memory.history(own).evidence == (turn,)
    assert memory.forget(turn).derived == ()
    assert [one.id for one in stored(memory, "semantic")] == [own]


def test_an_addition_stays_when_the_notes_that_consolidation_joined_it_with_are_forgotten(
    memory: Memory,
) -> None:
    text = "The Vigo harbour API needs the Bearer token in every request."
    notes = [memory.add(text, date=f"2026-01-0{day}").id for day in (1, 2)]
    own = memory.add(text, tier="semantic").id
    assert memory.consolidate(now=NOW).supported == 1
    assert memory.forget(notes).derived == ()
    assert [one.id for one in stored(memory, "semantic")] == [own]


def test_a_fact_in_other_words_goes_with_the_turn_it_was_learned_from(memory: Memory) -> None:
    turn = say(memory, HOME, "a")
    (fact,) = stored(memory, "semantic")
    memory.update(fact.id, f"{HOME[:-1]}, third floor.")
    assert fact.id in memory.forget(turn).derived


def test_a_confidence_that_a_person_gave_stays_whatever_repeats_the_memory(memory: Memory) -> None:
    own = memory.add(HOME, tier="semantic", confidence=0.2).id
    for session in "abc":
        say(memory, HOME, session)
    memory.consolidate(now=NOW)
    assert memory.history(own).memory.confidence == 0.2
    turn = say(memory, "My sister Ana lives in Lisbon.", "d")
    (fact,) = (one for one in stored(memory, "semantic") if one.id != own)
    assert memory.history(fact.id).evidence == (turn,)
    memory.update(fact.id, confidence=0.3)
    for session in "ef":
        say(memory, "My sister Ana lives in Lisbon.", session)
    memory.consolidate(now=NOW)
    assert memory.history(fact.id).memory.confidence == 0.3


API = "The Vigo harbour API needs the Bearer token in every request."


@pytest.mark.parametrize("how", ["archived", "wrong", "expired"])
def test_what_a_person_put_away_judged_wrong_or_ended_is_no_evidence(memory: Memory, how: str) -> None:
    ends = {"valid_until": "2026-02-01"} if how == "expired" else {}
    notes = [memory.add(API, date=f"2026-01-0{day}", **ends).id for day in (1, 2)]
    if how == "archived":
        memory.archive(notes)
    elif how == "wrong":
        memory.feedback(notes, "wrong")
    memory.consolidate(now=NOW)
    assert stored(memory, "semantic") == []


@pytest.mark.parametrize("verdict", ["wrong", "archived"])
def test_commands_that_a_person_rejected_become_no_procedure(memory: Memory, verdict: str) -> None:
    steps = "```bash\ngit push --force origin main\nnpm run build\ndocker build -t tracker .\n```"
    rejected = []
    for day, session in enumerate("abcd", 1):
        date = f"2026-01-0{day}"
        say(memory, "Please deploy the harbour tracker release to staging", session, date=date)
        rejected.append(say(memory, steps, session, 1, role="assistant", origin="agent", date=date))
    if verdict == "wrong":
        memory.feedback(rejected, "wrong")
    else:
        memory.archive(rejected)
    memory.consolidate(now=NOW)
    assert stored(memory, "procedural") == []
    assert memory.skills() == ()


def test_a_facet_ends_with_its_fact_and_an_ended_one_gives_none(memory: Memory) -> None:
    memory.add("Our staging server's port is 8000.", tier="semantic", date="2025-01-01")
    ended = memory.add(
        "Our staging server's port is 8443.", tier="lesson", date="2025-06-01", valid_until="2026-02-01"
    ).id
    ending = memory.add("My favourite editor is Helix.", tier="semantic", valid_until="2027-06-01").id
    memory.consolidate(now="2026-01-15T12:00:00Z")
    port = next(one for one in stored(memory, "facet") if "port" in one.title)
    assert (port.content, port.valid_until) == (
        "staging server · port: 8443",
        memory.history(ended).memory.valid_until,
    )
    memory.consolidate(now=NOW)
    (editor,) = stored(memory, "facet")
    assert editor.valid_until == memory.history(ending).memory.valid_until


BOAT = (
    "I moved the boat Albatros to pontoon 17 in Vigo harbour last spring.",
    "Noted: pontoon 17, mooring fee 480 euros a quarter for Albatros.",
    "The insurance policy 4711 with Zurich covers storm damage up to 90000 euros.",
    "Policy 4711 covers the hull, the mast and the rigging.",
)


def talk(memory: Memory, *texts: str, session: str = "boat", projects: str = "", start: int = 0) -> list[str]:
    return [
        say(
            memory,
            text,
            session,
            turn,
            role="assistant" if turn % 2 else "user",
            origin="agent" if turn % 2 else "owner",
            project=projects[turn] if projects else None,
            date=f"2026-01-05T10:{turn:02}:00Z",
        )
        for turn, text in enumerate(texts, start)
    ]


def test_a_conversation_over_two_projects_gets_a_digest_in_each(memory: Memory) -> None:
    talk(memory, *BOAT, projects="aabb")
    memory.consolidate(now=NOW)
    digests = {one.project: one for one in stored(memory, "crystal")}
    assert digests.keys() == {"a", "b"}
    assert "4711" not in digests["a"].content
    assert memory.consolidate(now=NOW).run is None
    memory.add("The website uses Hugo.", project="c")
    assert "4711" not in memory.context("What does the insurance policy 4711 cover?", project="c").text


@pytest.mark.parametrize("later", [True, False])
def test_a_turn_whose_opposite_is_quoted_is_not_archived(memory: Memory, later: bool) -> None:
    asked = "Which database does the Albatros tracker use?"
    said, opposite = talk(
        memory,
        asked,
        "It uses MySQL 5 on the Vigo host at present.",
        "switch to PostgreSQL",
        "Done.",
        "do not switch to PostgreSQL 17 before Beatriz has tested the Zurich backup",
        "Understood, waiting for Beatriz and the Zurich backup test.",
    )[2:5:2]
    if later:
        memory.consolidate(now=NOW)
    memory.consolidate(archive="transcripts", now=NOW)
    assert [memory.history(one).memory.status for one in (said, opposite)] == ["active", "archived"]


def test_skills_quote_no_request_that_is_never_injected_or_wrong(memory: Memory) -> None:
    requests = []
    for number in range(6):
        request = f"Please deploy the harbour tracker release for client Nightfall{number}"
        date = f"2026-01-0{number + 1}"
        requests.append(say(memory, request, f"s{number}", date=date, project="alpha"))
        steps = "```bash\ngit pull origin\nnpm run build\ndocker build -t tracker .\ndocker push tracker\n```"
        say(memory, steps, f"s{number}", 1, role="assistant", origin="agent", date=date, project="alpha")
    memory.feedback(requests[5], "never-inject")
    memory.feedback(requests[4], "wrong")
    memory.archive(requests[3])
    (skill,) = memory.skills()
    assert [one.session for one in skill.sessions] == ["s0", "s1", "s2"]


def touch(memory: Memory, one: str) -> str:
    """Give a memory a title, a tag, a confidence, verdicts and a link; return the id of the link's other end."""
    other = memory.add("The skipper's plan for the summer.").id
    memory.update(one, title="Mine", tags=["mine"], confidence=0.3)
    memory.feedback(one, "wrong")
    memory.feedback(one, "never-inject")
    memory.link(other, one, rule="see")
    return other


def given(memory: Memory, one: Record, other: str) -> tuple[object, ...]:
    linked = [link for link in memory.links(other) if link.id == one.id]
    ops = [event.op for event in memory.history(one.id).events if event.actor]
    return (one.title, one.tags, one.confidence, one.marked_wrong, len(linked), ops)


GIVEN = ("Mine", ("mine", "never-inject"), 0.3, True, 1, ["changed", "wrong", "never-inject"])


@pytest.mark.parametrize("how", ["nothing", "tagged", "changed"])
def test_a_facet_keeps_what_a_person_gave_it_when_its_fact_changes(memory: Memory, how: str) -> None:
    fact = memory.add("Our staging server's port is 8443.", tier="semantic").id
    memory.consolidate(now=NOW)
    (facet,) = stored(memory, "facet")
    other = touch(memory, facet.id)
    if how == "tagged":
        memory.update(fact, tags=["infra"])
    elif how == "changed":
        memory.update(fact, "Our staging server's port is 9000.")
    memory.consolidate(now=NOW)
    (after,) = stored(memory, "facet")
    assert (after.id, given(memory, after, other)) == (facet.id, GIVEN)
    assert after.content.endswith("9000" if how == "changed" else "8443")
    assert memory.consolidate(now=NOW).run is None


@pytest.mark.parametrize("how", ["continued", "tagged"])
@pytest.mark.parametrize("archive", [None, "transcripts"])
def test_a_renewed_digest_keeps_what_a_person_gave_it(memory: Memory, how: str, archive: str | None) -> None:
    turns = talk(memory, *BOAT)
    memory.consolidate(now=NOW, archive=archive)
    (digest,) = stored(memory, "crystal")
    other = touch(memory, digest.id)
    if how == "continued":
        talk(memory, "The Albatros gets a new sail number 88 from Nautica in Vigo.", start=4)
    else:
        memory.update(turns[1], tags=["fee"])
    assert memory.consolidate(now=NOW, archive=archive).renewed == 1
    (after,) = stored(memory, "crystal")
    assert ("sail number 88" in after.content) == (how == "continued")
    assert given(memory, after, other) == GIVEN
    assert memory.consolidate(now=NOW, archive=archive).run is None


def test_undo_leaves_what_a_person_touched_and_what_another_run_wrote(memory: Memory) -> None:
    memory.add("Our staging server's port is 8443.", tier="semantic", date="2026-01-01")
    first = memory.consolidate(now=NOW)
    (facet,) = stored(memory, "facet")
    memory.add("Remember, our staging server's port is 8443.", tier="lesson", date="2026-02-01")
    second = memory.consolidate(now=NOW)
    assert [one.id for one in second.promoted] == [facet.id]
    assert memory.undo(str(second.run)).removed == 0
    assert [one.id for one in stored(memory, "facet")] == [facet.id]
    memory.feedback(facet.id, "never-inject")
    assert memory.undo(str(first.run)).removed == 0
    assert [one.id for one in stored(memory, "facet")] == [facet.id]


def test_a_facet_that_a_person_archived_does_not_come_back_when_its_fact_changes(memory: Memory) -> None:
    fact = memory.add("Our staging server's port is 8443.", tier="semantic").id
    memory.consolidate(now=NOW)
    (facet,) = stored(memory, "facet")
    memory.archive(facet.id)
    memory.update(fact, tags=["infra"])
    for _ in range(2):
        memory.consolidate(now=NOW)
        assert [one.status for one in stored(memory, "facet")] == ["archived"]
