"""What a digest quotes, where it is ranked, and what becomes of it when a source is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.consolidation.digest import quotes_all, verbatim_sentences
from scrubjay.embeddings.static import StaticEmbedder
from scrubjay.models.lifecycle import NewMemory
from scrubjay.models.records import Record

NOW = "2026-03-01T12:00:00Z"
FLAGS = "which feature flag service do we use?"


@pytest.fixture
def memory(opened: Callable[..., Memory]) -> Memory:
    return opened()


def add_session(memory: Memory, *turns: str, session: str = "flags", project: str | None = None) -> list[str]:
    """Add turns of a user and an assistant in turn; return their ids."""
    return [
        one.id
        for one in memory.add_many(
            NewMemory(
                text,
                session=session,
                role="assistant" if number % 2 else "user",
                origin="agent" if number % 2 else "owner",
                turn=number,
                project=project,
                date=f"2026-01-05T10:{number:02}:00Z",
            )
            for number, text in enumerate(turns)
        )
    ]


CLAIM = "I noticed you use LaunchDarkly, so I added the flag `export-enabled` there."
SESSION = (
    "the export job hammers the database every morning",
    CLAIM,
    "200 rows a batch, because Marlow's customers export at 9",
    "The batch size is 200 rows now. Kept the timeout at 30 s, since the export of Marlow takes 22 s.",
)


def digest_of(memory: Memory, session: str = "flags") -> str:
    """The text of the only digest of a session, or an empty one."""
    memory.consolidate(now=NOW)
    found = [one.id for one in memory.search("a", tiers=("crystal",), min_relevance=0).results]
    texts = [one.content for one in memory.get(found).records if one.session == session]
    return texts[0] if texts else ""


def test_a_digest_that_quotes_a_wrong_turn_is_wrong_until_that_is_taken_back(memory: Memory) -> None:
    claim = add_session(memory, *SESSION, project="shop")[1]
    (made,) = memory.consolidate(now=NOW).made
    assert "LaunchDarkly" in made.content
    assert "LaunchDarkly" in memory.context(project="shop").text
    assert memory.feedback(claim, "wrong").also == (made.id,)
    assert memory.look(made.id).memory.marked_wrong
    assert "LaunchDarkly" not in memory.context(project="shop").text
    assert memory.feedback(claim, "wrong").also == ()  # it is so already
    assert memory.feedback(claim, "not-wrong").also == (made.id,)
    assert memory.look(made.id).memory.strength == 1
    assert memory.consolidate(now=NOW).made == ()


def test_consolidation_rebuilds_a_digest_without_the_wrong_turn_and_with_it_again(memory: Memory) -> None:
    claim = add_session(memory, *SESSION)[1]
    (made,) = memory.consolidate(now=NOW).made
    memory.feedback(claim, "wrong")
    (rebuilt,) = memory.consolidate(now=NOW).made
    assert "LaunchDarkly" not in rebuilt.content
    assert "22 s" in rebuilt.content
    assert not memory.look(rebuilt.id).memory.marked_wrong
    assert memory.consolidate(now=NOW).made == ()
    memory.feedback(claim, "not-wrong")
    (again,) = memory.consolidate(now=NOW).made
    assert again.content == made.content
    assert memory.consolidate(now=NOW).made == ()


def test_a_digest_keeps_its_own_verdict_and_that_of_its_other_source(memory: Memory) -> None:
    _, claim, _, outcome = add_session(memory, *SESSION)
    (made,) = memory.consolidate(now=NOW).made
    memory.feedback([claim, outcome], "wrong")
    memory.feedback(claim, "not-wrong")
    assert memory.look(made.id).memory.marked_wrong
    memory.feedback(made.id, "wrong")
    memory.feedback(outcome, "not-wrong")
    assert memory.look(made.id).memory.marked_wrong
    memory.feedback(made.id, "not-wrong")
    assert memory.look(made.id).memory.strength == 1


def test_a_fact_is_wrong_once_all_its_sources_are(memory: Memory) -> None:
    one, other = memory.add("The keel is of lead, says the yard.").id, memory.add("Lead keel, as built.").id
    (turn,) = add_session(memory, "Remember: the mast of the heron is twelve metres.")
    learned = list(memory.search("how long is the mast?").results[0].statements)
    assert learned
    assert memory.feedback(turn, "useful").also == ()
    assert memory.feedback([turn, one, other], "wrong").also == ()  # one useful, one wrong
    assert memory.feedback(turn, "wrong").also == tuple(sorted(learned))
    assert memory.feedback(turn, "not-wrong").also == tuple(sorted(learned))


def test_a_digest_comes_behind_its_sources_and_what_is_as_relevant(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    memory = opened(embedders=[StaticEmbedder()])  # relevance needs a known model
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "stack.md").write_text("# Stack\n\nFeature flags: Unleash, nicht LaunchDarkly.\n")
    memory.sync(notes)
    turns = add_session(memory, *SESSION)
    (made,) = memory.consolidate(now=NOW).made
    for question in (
        FLAGS,
        "LaunchDarkly flag export",
        "timeout of the export of Marlow",
        "200 rows a batch",
    ):
        found = memory.search(question, limit=20, min_relevance=0).results
        at = [one.id for one in found].index(made.id)
        assert not [one for one in found[at:] if one.id in turns and one.snippet in made.content]
        assert all((one.relevance or 0) < (found[at].relevance or 1) for one in found[at + 1 :])
    memory.feedback(turns[1], "wrong")
    found = memory.search(FLAGS, min_relevance=0).results
    assert (found[0].citation.endswith("stack.md:1-3"), found[0].marked_wrong) == (True, False)


def test_an_insight_keeps_its_place_before_its_sources(memory: Memory) -> None:
    one = memory.add("The export of Marlow timed out twice in May.").id
    other = memory.add("Marlow asked for a larger batch of rows.").id
    insight = memory.add(
        "The export of Marlow outgrows each timeout within a year.", tier="insight", origin="derived"
    ).id
    for source in (one, other):
        memory.link(insight, source, "derived_from")
    found = memory.search("which export outgrows each timeout within a year?", min_relevance=0).results
    assert found[0].id == insight


MAIL = """here's a mail from Marina Laboe:
> Hello Ines, we no longer use your API since October and moved to HarborSoft.
> Please delete our token by 30 November."""
CHAT = """[10:02] Tom: we switched the queue to RabbitMQ
[10:03] Marta: since when
[10:04] Tom: since 4 May"""
LOG = """2026-01-05 10:00:01 ERROR pool exhausted after 30 s
2026-01-05 10:00:02 ERROR retry 7 failed"""
FORWARDED = """From: Jens Bruhn <jens@harborsoft.example>
Subject: price
We raised the price to 900 euros because of the new dock."""
FENCED = "```\npool_size = 48\n```"


@pytest.mark.parametrize(
    ("pasted", "words"),
    [
        (MAIL, "HarborSoft"),
        (CHAT, "RabbitMQ"),
        (LOG, "exhausted"),
        (FORWARDED, "dock"),
        (FENCED, "pool_size"),
    ],
)
def test_a_digest_takes_no_pasted_text_for_the_words_of_the_speaker(
    memory: Memory, pasted: str, words: str
) -> None:
    add_session(memory, f"{SESSION[0]}\n\n{pasted}", *SESSION[1:])
    text = digest_of(memory)
    assert "22 s" in text
    assert words not in text


def test_a_digest_leaves_out_mail_that_the_assistant_quotes(memory: Memory) -> None:
    add_session(memory, *SESSION[:3], f"{SESSION[3]}\n\n> We raised the price to 900 euros.")
    assert "900" not in digest_of(memory)


def test_a_session_with_too_little_to_quote_has_no_digest_and_the_report_says_so(memory: Memory) -> None:
    add_session(memory, *SESSION, session="export")
    add_session(memory, "run the tests", "Gern.", session="short")
    done = memory.consolidate(now=NOW)
    assert [memory.look(made.id).memory.session for made in done.made] == ["export"]
    assert done.undigested == {"short": 1}
    assert memory.consolidate(now=NOW).undigested == {"short": 1}
    assert memory.consolidate(now="2026-01-06T12:00:00Z").undigested == {"recent": 2}


@pytest.mark.parametrize(
    "said", ["heron is dead, use egret", "Anna left the team", "Budget is 40k", "Die Miete zahlt jetzt Jonas"]
)
@pytest.mark.parametrize("reply", ["Ok", "Great!", "Gern."])
def test_a_session_start_shows_a_short_turn_whatever_the_reply(memory: Memory, said: str, reply: str) -> None:
    add_session(memory, said, reply, project="shop")
    assert said in memory.context(project="shop").text


@pytest.mark.parametrize(
    "turns",
    [
        ("please don't store this anywhere: my salary is 71k", "Understood. I won't keep the 71k salary."),
        ("my salary is 71k since May", "Noted, 71k.", "please don't save that anywhere", "I keep no 71k."),
        ("Mein Gehalt ist 71k seit Mai, das bitte nirgends speichern.", "Gut, die 71k behalte ich für mich."),
    ],
)
def test_a_digest_holds_nothing_that_a_person_asks_not_to_remember(
    memory: Memory, turns: tuple[str, ...]
) -> None:
    add_session(memory, *SESSION, "anything else?", "No.", *turns, "thanks")
    text = digest_of(memory)
    assert "71k" not in text
    assert "22 s" in text


def test_a_verdict_changes_no_digest_of_others_without_the_right_to_curate(memory: Memory) -> None:
    ann, bob = (memory.seen_by(name, groups=["crew"]) for name in ("ann", "bob"))
    claim = ""
    for turn, text in enumerate(SESSION):
        shared = NewMemory(text, session="flags", turn=turn, role="user", visibility="group", group="crew")
        by = bob if text == CLAIM else ann
        (added,) = by.add_many([replace(shared, date=f"2026-01-05T10:0{turn}:00Z")])
        claim = added.id if by is bob else claim
    (made,) = ann.consolidate(now=NOW).made
    before = ann.history(made.id)
    assert "LaunchDarkly" in made.content
    assert bob.feedback(claim, "wrong").also == ()
    assert ann.history(made.id) == before
    bob.feedback(claim, "not-wrong")
    curator = memory.seen_by("cur", groups=["crew"], curate=True)
    assert curator.feedback(claim, "wrong").also == (made.id,)
    (event,) = [one for one in ann.history(made.id).events if one.op == "wrong"]
    assert (event.actor, event.other) == ("cur", claim)


def test_an_insight_is_wrong_once_its_sources_are_though_one_follows_from_the_other(memory: Memory) -> None:
    source = memory.add("The keel is of lead, says the yard.").id
    fact = memory.add("The keel is of lead.", tier="semantic", origin="derived").id
    insight = memory.add("All keels of the yard are heavy.", tier="insight", origin="derived").id
    for src, dst in ((fact, source), (insight, source), (insight, fact)):
        memory.link(src, dst, "derived_from")
    both = tuple(sorted((fact, insight)))
    assert memory.feedback(source, "wrong").also == both
    assert memory.look(insight).memory.marked_wrong
    assert memory.feedback(source, "not-wrong").also == both
    assert memory.look(insight).memory.strength == 1


def test_a_german_day_and_month_stay_in_one_sentence(memory: Memory) -> None:
    add_session(
        memory,
        "Wir fahren stattdessen über Silvester nach Lissabon, vom 28. Dezember bis 3. Januar. Emils Gips ist dann ab.",
        "Wie schön! Soll ich nach Flügen schauen?",
        "Ja, wir nehmen den TAP-Gutschein. Diesmal wohnen wir im Hotel Memmo Alfama.",
    )
    assert "vom 28. Dezember bis 3. Januar. Emils" in digest_of(memory)


def test_only_turns_that_the_digest_quotes_in_full_are_archived(memory: Memory) -> None:
    rents = [f"Flat {number} costs {number}0 euros a month." for number in range(30, 80)]
    turns = add_session(
        memory,
        " ".join(rents),
        "Noted.",
        "Why is the export job so slow?",
        "Sure, I'll look.",
        "The Kestrel deadline has been moved to December 11 because the API isn't ready.",
        "Thanks!",
    )
    (made,) = memory.consolidate(now=NOW, archive="transcripts").made
    active = {one.content for one in memory.get(turns).records if one.status == "active"}
    assert not all(rent in made.content for rent in rents)
    assert " ".join(rents) in active
    assert "December 11" in made.content
    assert "Sure, I'll look." in active  # no small talk, and not quoted
    assert not active & {
        "Noted.",
        "Why is the export job so slow?",
        "Thanks!",
        "The Kestrel deadline has been moved to December 11 because the API isn't ready.",
    }
    assert memory.consolidate(now=NOW, archive="transcripts").archived == 0


def turn_of(role: str, text: str) -> Record:
    return Record(
        id="obs_1",
        tier="observation",
        content=text,
        content_hash="",
        title="",
        key="user:ann",
        owner="ann",
        recorded_at=0,
        updated_at=0,
        session="s",
        role=role,
        turn=1,
    )


@pytest.mark.parametrize(
    ("role", "text"),
    [
        ("assistant", "export KESTREL_MODE=safe"),
        ("assistant", "```sh\nexport KESTREL_MODE=safe\n```"),
        ("assistant", "    export KESTREL_MODE=safe"),
        ("assistant", "Your manager is Ines, and Ben was promoted."),
        ("assistant", "**Ines is your manager**"),
        ("user", "# I am allergic to penicillin"),
        ("user", "What I am allergic to:\n- penicillin"),
        ("user", "| I am allergic to |\n| --- |\n| penicillin |"),
        ("user", "Can you remember that I am allergic to penicillin?"),
        ("user", "Did I tell you that we moved to Bremen?"),
        ("user", "Weißt du noch, dass wir nach Bremen gezogen sind?"),
        ("user", "We moved to Bremen, right?"),
        ("user", "We moved to Bremen?"),
    ],
)
def test_a_digest_that_leaves_out_a_statement_does_not_quote_all(role: str, text: str) -> None:
    assert not quotes_all((), turn_of(role, text))


@pytest.mark.parametrize(
    "text",
    [
        "Your manager is Ines, and Ben\nwas promoted.",
        "- We moved to Bremen.\n- Ines is your manager",
        "```sh\nexport KESTREL_MODE=safe\n```",
    ],
)
def test_a_digest_with_all_sentences_of_a_turn_quotes_all(text: str) -> None:
    quoted = set(verbatim_sentences(text, 400))
    assert quotes_all(quoted, turn_of("assistant", text))
    assert not quotes_all({f"not {one}" for one in quoted}, turn_of("assistant", text))


@pytest.mark.parametrize("text", ["Thanks!", "How long is the trial?", "👍", "Hi! Where is the port set?"])
def test_small_talk_and_bare_questions_need_no_quote(text: str) -> None:
    assert quotes_all((), turn_of("user", text))


def test_a_solution_that_the_digest_leaves_out_stays_active(memory: Memory) -> None:
    steps = [f"Set `pool_{number}` to {number} in the file of service {number}." for number in range(60, 90)]
    turns = add_session(memory, "The export of Marlow fails with timeouts since 9 o'clock.", " ".join(steps))
    (made,) = memory.consolidate(now=NOW, archive="transcripts").made
    assert not all(step in made.content for step in steps)
    question, solution = (one.status for one in memory.get(turns).records)
    assert (question, solution) == ("archived", "active")
