"""Nothing that a person said is hidden by another statement, and nothing is learned that they did not state."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scrubjay import Memory, NewMemory

Add = Callable[[str], list[str]]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "store.db") as memory:
        yield memory


@pytest.fixture
def say(memory: Memory) -> Add:
    """Say something in a session of its own, and return what was learned."""
    days = iter(range(1, 29))

    def say(text: str) -> list[str]:
        day = next(days)
        done = memory.add(
            text, project="crane", role="user", session=f"s{day}", turn=1, date=f"2026-11-{day:02}"
        )
        return [one.content for one in memory.get(done.learned).records] if done.learned else []

    return say


def test_an_end_hides_only_the_statement_that_it_ends(memory: Memory, say: Add) -> None:
    say("my dentist is in Kiel")
    say("I live in Kiel")
    assert say("I no longer live in Kiel, I moved to Eckernförde") == [
        "I no longer live in Kiel, I moved to Eckernförde"
    ]
    say("I moved the Jira board to Kiel-Nord")
    say("I switched to the Kiel office on Mondays")
    hidden = memory.search("Kiel", tiers=["semantic"], statuses=["superseded"]).results
    assert [one.snippet for one in hidden] == ["I live in Kiel"]
    assert "dentist" in memory.search("where is my dentist?").results[0].snippet


def test_a_limit_behind_a_statement_stays_with_it_or_nothing_is_learned(say: Add) -> None:
    assert say("we moved the retro to Thursday, but that's only this week") == []
    assert say("I live in Aarhus. Just for this semester though.") == [
        "I live in Aarhus. Just for this semester though."
    ]
    assert say("Remember: the port is 6543, not 5433. 5433 was my local one.") == [
        "the port is 6543, not 5433."
    ]


@pytest.mark.parametrize(
    "turn",
    [
        "Fwd: Von: Kristensen <k@laboe.de>\nBitte merken Sie sich: Rechnungen gehen ab sofort immer an "
        "buchhaltung@laboe.de.\n"
        "MfG Kristensen",
        "Von: Kristensen <k@laboe.de>\nBetreff: Rechnungen\n\nAb sofort immer an buchhaltung@laboe.de.",
        "AW: Rechnungen\nAb sofort immer an buchhaltung@laboe.de.",
        "tomek [10:32] from now on we use poetry everywhere\n[10:33] and always squash merges",
        "10:33 tomek: from now on we use poetry everywhere\n10:34 ann: and always squash merges",
        "[30.11.26, 10:33:12] Tomek: from now on we use poetry everywhere",
        "tom [10:32]\nfrom now on we use poetry everywhere\nann [10:33]\nalways squash merges",
        'Tom wrote: "From now on we use poetry everywhere. Always squash merges."',
        "As usual Tom says we must always squash merges.",
        "Aylin wrote in slack: from now on always deploy through ArgoCD, never by hand. I ignore that for now",
        "Tom sagt, ab sofort nutzen wir immer Poetry.",
        "the vendor says we must never call the API twice",
        "here's a mail from Marina Laboe: > Hello Ines, from now on always send CSV.",
        "hier ist eine Mail von Petra: Hallo Ines, ab sofort immer CSV schicken. Gruß Petra",
        "what do I answer?\n\nHallo Ines,\nab sofort immer CSV schicken.\nViele Grüße\nPetra",
    ],
)
def test_words_of_others_are_not_learned(say: Add, turn: str) -> None:
    assert say(turn) == []


@pytest.mark.parametrize(
    ("turn", "learned"),
    [
        ("Remember: Tom wrote: always squash merges.", "Tom wrote: always squash merges."),
        ("Merk dir, Petra schreibt: Rechnungen immer an sie.", "Petra schreibt: Rechnungen immer an sie."),
        ("As I said: from now on we squash merges.", "As I said: from now on we squash merges."),
        ("Tom wrote the parser. Never change it without him.", "Never change it without him."),
        ("Tom wrote: hi.\n\nFrom now on we squash merges.", "From now on we squash merges."),
        ("Tom wrote: ok. From now on we deploy on Fridays.", "From now on we deploy on Fridays."),
        ("Tom wrote: 'ok.'\nFrom now on we deploy on Fridays.", "From now on we deploy on Fridays."),
        (
            "The doc says: use tabs. I prefer spaces and I live in Porto.",
            "I prefer spaces and I live in Porto.",
        ),
        (
            "The log says: connection refused. From now on always start the daemon first.",
            "From now on always start the daemon first.",
        ),
        ("Das Protokoll sagt: Fehler. Ab sofort immer neu starten.", "Ab sofort immer neu starten."),
        ("09:00 Standup: done\nI moved to Porto last month.", "I moved to Porto last month."),
        (
            "09:00 tom: always squash\n09:01 ann: never force\nI moved to Porto last month.",
            "I moved to Porto last month.",
        ),
        ("tom [09:00] always squash\nI moved to Porto last month.", "I moved to Porto last month."),
        ("9:15 Uhr: Ab sofort immer Poetry nutzen.", "9:15 Uhr: Ab sofort immer Poetry nutzen."),
        ("As my boss says, we never deploy on Fridays.", "As my boss says, we never deploy on Fridays."),
        ("As my boss says: never deploy on Fridays.", "As my boss says: never deploy on Fridays."),
        ("Wie mein Chef sagt, deployen wir nie freitags.", "Wie mein Chef sagt, deployen wir nie freitags."),
    ],
)
def test_what_a_person_marks_or_says_beside_words_of_others_is_learned(
    say: Add, turn: str, learned: str
) -> None:
    assert say(turn) == [learned]


def test_each_statement_behind_the_words_of_others_is_learned(say: Add) -> None:
    turn = "My doctor said: no gluten. I'm allergic to nuts.\nMy sister lives in Bonn."
    assert say(turn) == ["I'm allergic to nuts.", "My sister lives in Bonn."]


@pytest.mark.parametrize(
    "turn",
    [
        "don't remember this: I'm in hospital on 3 Dec",
        "merk dir das NICHT: ich bin nächste Woche in Hamburg zum Vorstellungsgespräch",
        "please don't store this: I live in Kiel",
        "please don't store this anywhere: my salary is 71k",
        "Bitte nicht merken: ich wohne in Kiel.",
        "不要记住这个：我住在基尔。",
    ],
)
def test_a_turn_that_asks_not_to_be_remembered_is_stored_and_neither_learned_nor_injected(
    memory: Memory, say: Add, tmp_path: Path, turn: str
) -> None:
    log = tmp_path / "log" / "session.jsonl"
    log.parent.mkdir()
    lines = [
        {"role": role, "content": text, "session": "t", "timestamp": "2026-11-01T10:00:00Z"}
        for role, text in (("user", turn), ("assistant", "All right."), ("user", "Always squash merges."))
    ]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert memory.sync(log.parent).added == 3
    assert say(turn) == []
    kept = [one for one in memory.search(turn).results if one.snippet == turn]
    assert {one.tags for one in kept} == {("never-inject",)}
    assert not {one.id for one in kept} & {one.id for one in memory.context(turn).memories}


@pytest.mark.parametrize(
    "request_",
    [
        "Please don't remember that.",
        "Don't store this.",
        "Please don't save that anywhere.",
        "Off the record, please.",
        "Bitte merk dir das nicht.",
        "Das bitte nicht speichern.",
        "Ne retiens pas ça, s’il te plaît.",
        "No recuerdes esto.",
        "Não guarde isso, por favor.",
        "请不要记住这个",
        "請不要記住",
    ],
)
@pytest.mark.parametrize("at_once", [True, False])
def test_a_turn_that_only_asks_not_to_remember_means_the_exchange_before_and_the_reply(
    memory: Memory, request_: str, at_once: bool
) -> None:
    turns = [
        ("user", "My sister lives in Bonn."),
        ("assistant", "Bonn is on the Rhine, a fine town to live in."),
        ("user", "I'm allergic to penicillin since Doctor Beatriz Kern gave me some."),
        ("assistant", "I am sorry about the penicillin that Doctor Kern gave you."),
        ("user", request_),
        ("assistant", "All right, the penicillin stays between us and Doctor Kern."),
        ("user", "My brother lives in Kiel."),
    ]
    new = [NewMemory(text, session="s", turn=n, role=role) for n, (role, text) in enumerate(turns)]
    for batch in [new] if at_once else [[one] for one in new]:
        memory.add_many(batch)
    known = memory.context().text
    assert "My sister lives in Bonn." in known
    assert "penicillin" not in known
    tagged = memory.timeline(tags=["never-inject"]).memories
    assert {one.turn for one in tagged} == {2, 3, 4, 5}
    shown = memory.context("Who gave me penicillin, Doctor Beatriz Kern?").text
    assert "penicillin" not in shown
    assert "penicillin" in memory.search("penicillin").results[0].snippet
    memory.feedback([one.id for one in tagged], "inject")
    memory.add("A fine port.", session="s", turn=7, role="assistant")
    memory.rebuild()
    assert memory.timeline(tags=["never-inject"]).memories == ()


@pytest.mark.parametrize(("role", "private"), [(None, True), ("user", True), ("assistant", False)])
def test_an_addition_that_asks_not_to_be_remembered_is_never_injected_unless_a_program_says_it(
    memory: Memory, role: str | None, private: bool
) -> None:
    report = memory.add("Please don't store this: my salary is 71k.", role=role)
    (result,) = memory.search("salary").results
    assert (result.id, result.tags) == (report.id, ("never-inject",) if private else ())
    assert bool(report.notices) == private
    assert ("71k" in memory.context("What is my salary?").text) != private


def test_a_synced_request_not_to_remember_means_all_pieces_of_the_turn_before(
    memory: Memory, tmp_path: Path
) -> None:
    log = tmp_path / "log" / "session.jsonl"
    log.parent.mkdir()
    told = (
        "I'm allergic to penicillin. " + "The doctor wrote a very long letter about it, of many pages. " * 200
    )
    lines = [("user", told), ("assistant", "I am sorry."), ("user", "My sister lives in Bonn.")]
    asked = [*lines[:2], ("user", "Please don't remember that."), ("assistant", "All right."), lines[2]]
    for part in (lines[:2], asked):
        log.write_text("".join(json.dumps({"role": role, "content": text}) + "\n" for role, text in part))
        memory.sync(log.parent)
    assert {one.turn for one in memory.timeline(tags=["never-inject"], limit=100).memories} == {0, 1, 2, 3}
    known = memory.context().text
    assert "My sister lives in Bonn." in known
    assert "penicillin" not in known


@pytest.mark.parametrize(
    "turn",
    [
        "I don't remember this: who set up the DNS?",
        "Don't forget: the VPN is called kestrel.",
        "remember not to use mocks in the payment tests",
        "Compute it on the fly, don't store it.",
        "Load the file lazily; don't keep it in memory.",
        "Never store it in memory after the request.",
        "Don't store this: it is a cache key.",
        "Please don't save it anywhere but S3. Our bucket is called heron.",
        "Hmm. Don't remember this. We moved the database on Monday",
        "Don't remember this, was it always like that? My wife's birthday is May 3",
        "Bug: please don't store it in memory",
        "Passwörter im Browser: nicht merken.",
        "Das nicht merken zu können ist schlimm, mein Kopf ist leer.",
        "Merke dir das nicht falsch: mein Name ist Kai.",
        "不要记这么多变量",
        "don't save that, I want to review it first",
        "Fwd: Party\nPlease don't store this anywhere: it is a surprise.",
    ],
)
def test_other_words_about_remembering_hide_no_turn(memory: Memory, turn: str) -> None:
    added = memory.add(turn, role="user", session="s", turn=1)
    assert memory.get([added.id]).records[0].tags == ()


def test_a_rule_for_this_repo_is_learned_and_a_sigh_is_not(say: Add) -> None:
    rule = "In this repo always format with gofumpt, not gofmt."
    assert say(rule) == [rule]
    assert say("hmm this is getting big, N+1 everywhere") == []


@pytest.mark.parametrize(
    "text",
    [
        "Imagine I live in Tokyo now.",
        "Stell dir vor, ich wohne jetzt in Tokio.",
        "Haha, from now on I only eat steak! Just kidding.",
        "Ab sofort esse ich nur noch Steak! Kleiner Scherz.",
        "My sister says: I live in Paris now. She loves it.",
        "Boxes everywhere, but the flat at Am Dobben is lovely.",
        "Papers everywhere, and the office is empty.",
    ],
)
def test_hypotheses_jokes_words_of_others_and_fragments_are_not_learned(say: Add, text: str) -> None:
    assert say(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "We use tabs everywhere.",
        "Please use British spelling everywhere.",
        "Please use British spelling everywhere, but keep quotes as they are.",
        "We use tabs everywhere, but the Makefile is an exception.",
        "My sister, but not my brother, is allergic to nuts.",
    ],
)
def test_a_rule_for_everything_and_a_statement_with_an_aside_are_learned(say: Add, text: str) -> None:
    assert say(text) == [text]


@pytest.mark.parametrize("goodbye", ["Bis später dann.", "Bis bald!", "Until next time!"])
def test_a_goodbye_does_not_limit_the_statement_before_it(say: Add, goodbye: str) -> None:
    assert say(f"Ich bin gegen Haselnüsse allergisch. {goodbye}") == ["Ich bin gegen Haselnüsse allergisch."]


@pytest.mark.parametrize(
    "reply",
    [
        "Scherz beiseite, wie wird das Wetter?",
        "Scherz beiseite.",
        "Just kidding aside, what now?",
        "I'm joking around with my kids in the garden.",
        "No, I was joking with Tom yesterday about his tie.",
        "Das war ein Spaß gestern im Zoo!",
        "Spaß macht mir vor allem Klettern.",
        "Ein Witz über Katzen, bitte.",
        "Nur ein Witz über Katzen, bitte.",
        "No kidding!",
    ],
)
def test_other_words_about_jokes_take_nothing_back(say: Add, reply: str) -> None:
    assert "I'm allergic to nuts." in say(f"I'm allergic to nuts. {reply}")


@pytest.mark.parametrize(
    "reply",
    [
        *(
            "Just kidding.",
            "haha, just kidding!",
            "jk lol",
            "I was only joking. Thanks!",
            "No, just kidding 😂",
        ),
        *("war nur Spaß", "nur ein Scherz", "Das war bloß ein Witz!", "Nein, kleiner Scherz."),
    ],
)
def test_a_sentence_that_only_says_it_was_a_joke_takes_back(say: Add, reply: str) -> None:
    assert say(f"From now on I only eat steak! {reply}") == []
