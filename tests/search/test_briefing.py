"""What an agent is told before a session's first prompt and at later ones, through the context of a hook's event."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from scrubjay import Memory
from scrubjay.api.queries import event_context
from scrubjay.config.settings import HookSettings
from scrubjay.embeddings.static import StaticEmbedder
from scrubjay.models.lifecycle import NewMemory

SYMPTOM = (
    "Uploads of photos hang on the train, the app waits and never gives up. Why do uploads wait so long?"
)
DECISION = (
    "Decided: uploads give up after 8 seconds instead of waiting, because trains lose the network in tunnels."
)
EMBEDDER = StaticEmbedder()


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open("memory://", user="ann", embedders=[EMBEDDER]) as memory:
        yield memory


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "meadow"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git" / "config").write_text('[remote "origin"]\n\turl = git@h.org:ann/meadow.git\n')
    return folder


def told(memory: Memory, folder: Path | str = "", prompt: str = SYMPTOM, **said: Any) -> dict[str, Any]:
    event = {"name": "prompt", "folder": str(folder), "session": "now", "prompt": prompt, "first": True}
    return event_context(memory, HookSettings(), event | said)


def talk(memory: Memory, project: Path, date: str, session: str, *texts: str) -> list[str]:
    turns = [
        NewMemory(
            text, date=date, session=session, turn=turn, project=str(project),
            role="assistant" if turn % 2 else "user",
        )
        for turn, text in enumerate(texts)
    ]  # fmt: skip
    return [report.id for report in memory.add_many(turns)]


def order(text: str, *parts: str) -> Sequence[int]:
    return [text.index(part) for part in parts]


def test_the_most_relevant_memory_comes_first_whatever_was_decided(memory: Memory, project: Path) -> None:
    for place in ("hall", "kitchen", "garden", "cellar"):
        memory.add(f"Decided: the train in the {place} must never wait, only run.", project=str(project))
    lesson = "Uploads of photos hang on the train and the app never gives up: flight mode stands for it."
    memory.add(lesson, tier="lesson", project=str(project))
    found = told(memory, project)
    assert "must never wait" in found["text"]
    assert lesson in found["text"].splitlines()[3]
    relevance = [one["relevance"] for one in found["memories"]]
    assert relevance == sorted(relevance, reverse=True)


def test_what_was_decided_anew_stands_before_what_it_replaced(memory: Memory, project: Path) -> None:
    talk(
        memory, project, "2026-02-01", "old",
        "Uploads are slow on trains. So: the app waits for the network in every upload, without a limit.",
    )  # fmt: skip
    talk(
        memory, project, "2026-05-01", "new",
        "The upload that waits for the network without a limit drained batteries.",
        "I can add a limit.",
        f"{DECISION} Uploads of photos are tried again at home.",
    )  # fmt: skip
    text = told(memory, project)["text"]
    places = order(
        text,
        "give up after 8 seconds",
        "in every upload, without a limit",
        "the one with the later date holds.",
    )
    assert places == sorted(places)
    assert "Left out" not in text


@pytest.mark.parametrize("first", [True, False])
def test_an_old_decision_brings_the_one_that_changed_it(
    memory: Memory, project: Path, *, first: bool
) -> None:
    old = (
        "Uploads of photos hang on the train since the app waits in the tunnel: they never give up, and wait."
    )
    new = "Tunnels: from now on the app drops a job in the tunnel after 8 seconds."
    talk(memory, project, "2026-02-01", "old", old)
    memory.add_many(
        NewMemory(
            f"Uploads of photos hang on the train: case {number} waits {number} s.", project=str(project)
        )
        for number in range(30)
    )
    assert old in told(memory, project, first=first)["text"]
    talk(memory, project, "2026-05-01", "new", new)
    text = told(memory, project, first=first)["text"]
    places = order(text, new, old)
    assert places == sorted(places)
    (known,) = talk(memory, project, "2026-05-01", "new", new)
    assert new not in told(memory, project, first=first, known={known: math.inf})["text"]


LEDGER = {
    "2026-06-28": "D-02 releases: every second Tuesday, Priya cuts the branch",
    "2026-07-02": "D-03 billing: Tomasz owns the export",
    "2026-08-30": "D-07 mail: Postmark instead of our own server",
    "2026-09-14": "D-08 billing: Aylin takes over",
    "2026-10-12": "D-10 frontend: no more class components in new code",
    "2026-11-20": "D-12 billing: Devraj from 1 December",
}


@pytest.mark.parametrize("first", [True, False])
def test_the_latest_decision_about_a_subject_comes_before_the_one_in_the_words_of_the_prompt(
    memory: Memory, project: Path, *, first: bool
) -> None:
    for day, decision in LEDGER.items():
        (project / f"{day}.md").write_text(f"---\ndate: {day}\n---\n## {decision}\n")
    memory.sync(project)
    text = told(memory, project, "who owns billing?", first=first)["text"]
    places = order(text, "Devraj", "Tomasz", "the one with the later date holds.")
    assert places == sorted(places)
    releases = told(memory, project, "when is the branch of releases cut?", first=False)
    assert [one["id"] for one in releases["memories"]] == [
        memory.search("Priya cuts the branch").results[0].id
    ]


def test_a_log_of_decisions_in_one_file_answers_with_its_latest(memory: Memory, project: Path) -> None:
    entries = (f"## {day} {decision}\n\nAgreed in the weekly call.\n" for day, decision in LEDGER.items())
    (project / "decisions.md").write_text("\n".join(("# Decisions\n", *entries)))
    memory.sync(project)
    text = told(memory, project, "who owns billing?", first=False)["text"]
    places = order(text, "Devraj", "Tomasz", "the one with the later date holds.")
    assert places == sorted(places)


def test_a_later_prompt_gets_what_ranks_first_though_it_shares_few_words(
    memory: Memory, project: Path
) -> None:
    memory.add(
        "Decided: photos are shown in a grid, because phones are small this year.", project=str(project)
    )
    memory.add("Rollback of a release: bin/roll back, the database stays.", project=str(project))
    vague = "and if the release breaks something this evening?"
    assert "bin/roll back" in told(memory, project, vague, first=False)["text"]
    other = "and how do I get back if the release breaks phones?"
    assert "bin/roll back" in told(memory, project, other, first=False)["text"]
    assert "grid" not in told(memory, project, other, first=False)["text"]
    assert told(memory, project, "Rename the variable in the second loop.", first=False)["text"] == ""
    assert told(memory, "", vague, first=False)["text"] == ""


def test_a_later_prompt_that_the_session_can_answer_gets_nothing_weaker(
    memory: Memory, project: Path
) -> None:
    known = memory.add(DECISION, project=str(project)).id
    memory.add("Trains of the museum have photos in the hall.", project=str(project))
    asked = "Why do photos of trains give up after 8 seconds?"
    assert "hall" in told(memory, project, "And the photos of trains there?", first=False)["text"]
    assert told(memory, project, asked, first=False, known={known: math.inf})["text"] == ""


def test_a_first_prompt_that_the_session_can_answer_gets_nothing_off_topic(
    memory: Memory, project: Path
) -> None:
    known = memory.add("Tests run with make check on two cores.", project=str(project)).id
    for text in ("Photos lie in a grid.", "The train has a blue bar.", "The museum runs on Sundays."):
        memory.add(f"Decided: {text}", project=str(project))
    assert "make check" in told(memory, project, "run the tests")["text"]
    assert told(memory, project, "run the tests", known={known: math.inf})["text"] == ""


def test_a_later_prompt_gets_two_memories_at_most(memory: Memory, project: Path) -> None:
    memory.add_many(
        NewMemory(
            f"Uploads of photos on train {number} hang, the app waits {number} s.", project=str(project)
        )
        for number in range(30)
    )
    assert len(told(memory, project)["memories"]) == 6
    assert len(told(memory, project, first=False)["memories"]) == 2


@pytest.mark.parametrize(("first", "most"), [(True, 6), (False, 2)])
def test_later_decisions_count_among_the_memories_of_a_prompt(
    memory: Memory, project: Path, *, first: bool, most: int
) -> None:
    for animal in ("heron", "otter", "badger", "lynx", "marten", "falcon", "weasel"):
        case = f"the {animal} {animal}house {animal}gate"
        talk(
            memory,
            project,
            "2026-01-01",
            animal,
            f"Uploads of photos hang on the train, the app waits: {case}.",
        )
        talk(memory, project, "2026-05-01", f"new {animal}", f"From now on {case} is dropped by the app.")
    text = told(memory, project, first=first)["text"]
    assert text.count("\n- ") == most
    assert "is dropped" in text


def test_at_a_prompt_turns_are_told_and_not_the_digest_of_them(memory: Memory, project: Path) -> None:
    ids = talk(memory, project, "2026-05-01", "s", DECISION, "Uploads of photos on the train are logged.")
    digest = NewMemory(
        f"user: {SYMPTOM} user: {DECISION}", tier="crystal", project=str(project), origin="derived"
    )
    (added,) = memory.add_many([digest])
    for turn in ids:
        memory.link(added.id, turn, "derived_from")
    assert [one["id"] for one in told(memory, project)["memories"]] == ids


def test_the_reason_beside_a_decision_is_told_with_it(memory: Memory, project: Path) -> None:
    talk(
        memory, project, "2026-05-01", "s",
        "Uploads of photos hang on the train, the app waits. What now?",
        "A limit would do, since tunnels take the network for a minute.",
        "From now on uploads of photos on the train give up after 8 seconds.",
    )  # fmt: skip
    text = told(memory, project)["text"]
    assert "give up after 8 seconds" in text
    assert "since tunnels take the network" in text


def test_a_first_prompt_is_told_at_most_the_tokens_that_the_settings_allow(
    memory: Memory, project: Path
) -> None:
    memory.add_many(
        NewMemory(
            f"Uploads of photos on train {number} hang, the app waits {number} s.", project=str(project)
        )
        for number in range(30)
    )
    event = {"name": "prompt", "folder": str(project), "session": "now", "prompt": SYMPTOM, "first": True}
    found = event_context(memory, HookSettings(first_tokens=150), event)
    tokens = len(EMBEDDER.tokens([found["text"]])[1][0])
    assert 75 < tokens == found["tokens"] <= 150
    assert len(found["memories"]) > 1


def test_nothing_is_told_where_nothing_has_to_do_with_the_prompt(memory: Memory, project: Path) -> None:
    memory.add(DECISION)
    assert told(memory, project, "Rename the variable in the second loop.")["text"] == ""
    assert told(memory, project, "ok, thanks!")["text"] == ""


@pytest.mark.parametrize("first", [True, False])
def test_neither_questions_nor_politeness_nor_the_prompt_itself_are_told(
    memory: Memory, project: Path, *, first: bool
) -> None:
    asked = "Uploads of photos hang on the train. Please make uploads of photos on the train faster."
    talk(
        memory,
        project,
        "2026-05-01",
        "s",
        asked,
        "Done.",
        "Why do uploads of photos hang on the train?",
        "ok",
    )
    memory.add(DECISION, project=str(project))
    found = told(memory, project, asked, first=first)
    assert DECISION in found["text"]
    assert len(found["memories"]) == 1


@pytest.mark.parametrize("first", [True, False])
def test_what_the_session_has_is_told_under_no_other_id(
    memory: Memory, project: Path, *, first: bool
) -> None:
    known = memory.add(DECISION, project=str(project)).id
    memory.add(f"{DECISION}\n", project=str(project), tier="lesson")
    assert told(memory, project, first=first, known={known: math.inf})["text"] == ""


@pytest.mark.parametrize("first", [True, False])
def test_nothing_that_was_derived_from_the_running_session_is_told(
    memory: Memory, project: Path, *, first: bool
) -> None:
    (turn,) = talk(
        memory, project, "2026-05-01", "now", f"{DECISION} That is for uploads of photos on the train."
    )
    fact = memory.add(DECISION, tier="lesson", project=str(project)).id
    memory.link(fact, turn, "derived_from")
    assert told(memory, project, first=first)["text"] == ""
    assert DECISION in told(memory, project, first=first, session="another")["text"]


@pytest.mark.parametrize("first", [True, False])
def test_a_memory_tagged_never_inject_is_found_and_never_told(
    memory: Memory, project: Path, *, first: bool
) -> None:
    tagged = memory.add(DECISION, tags=["never-inject"], project=str(project)).id
    memory.add(f"{DECISION} ", tier="lesson", project=str(project))
    assert told(memory, project, first=first)["text"] == ""
    assert [one.id for one in memory.search(DECISION, tiers=["observation"]).results] == [tagged]
    assert memory.context(SYMPTOM, unprompted=True).text == ""


@pytest.mark.parametrize("mark", ["hook_context", "scrubjay-memories"])
def test_what_hooks_added_to_a_prompt_is_not_searched(memory: Memory, mark: str) -> None:
    memory.add(DECISION)
    added = f"<{mark}>\n{SYMPTOM}\n</{mark}>"
    assert told(memory, prompt=f"{added}\nRename the variable in the second loop.")["text"] == ""
    assert DECISION in told(memory, prompt=f"<{mark}> is a mark. {SYMPTOM}")["text"]


@pytest.mark.parametrize("folder", ["/", "~"])
def test_work_in_no_project_is_told_what_belongs_to_none(memory: Memory, project: Path, folder: str) -> None:
    memory.add(DECISION, project=str(project))
    place = str(Path(folder).expanduser())
    assert told(memory, place)["text"] == ""
    start = {"name": "session-start", "folder": place}
    memory.add("Never push on Fridays.", tier="lesson", project=str(project))
    assert event_context(memory, HookSettings(), start)["text"] == ""
    memory.add(f"{DECISION} So it is everywhere.")
    assert DECISION in told(memory, place)["text"]


def test_a_prompt_of_a_megabyte_is_searched_by_its_first_and_last_words(memory: Memory) -> None:
    memory.add(DECISION)
    long = "x = 1\n" * 150_000
    assert DECISION in told(memory, prompt=f"{SYMPTOM}\n{long}")["text"]
    assert DECISION in told(memory, prompt=f"{long}\n{SYMPTOM}")["text"]


def test_a_digest_that_a_session_has_hides_of_its_sources_only_what_it_told(
    memory: Memory, project: Path
) -> None:
    ids = talk(
        memory, project, "2026-05-01", "s", DECISION, "Uploads of photos on the train are logged by the app now."
    )  # fmt: skip
    digest = memory.add(f"The talk was long. {DECISION}", tier="crystal", project=str(project)).id
    for turn in ids:
        memory.link(digest, turn, "derived_from")
    text = told(memory, project, known={digest: math.inf})["text"]
    assert DECISION not in text
    assert "are logged by the app" in text


def test_a_session_begins_with_a_digest_behind_the_later_decision_that_changed_it(
    memory: Memory, project: Path
) -> None:
    old = "The app waits for the network in every upload, without a limit."
    (turn,) = talk(memory, project, "2026-02-01", "old", old)
    digest = memory.add(f"user: {old}", tier="crystal", project=str(project), date="2026-02-01").id
    memory.link(digest, turn, "derived_from")
    start = {"name": "session-start", "folder": str(project)}
    assert old in event_context(memory, HookSettings(), start)["text"]
    new = "From now on no upload waits for the network without a limit: the app gives up after 8 seconds."
    memory.add(new, project=str(project), date="2026-05-01")
    text = event_context(memory, HookSettings(), start)["text"]
    places = order(text, new, old, "Where two differ, the one with the later date holds.")
    assert places == sorted(places)


def test_a_commit_that_says_why_comes_before_what_it_may_have_changed(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    folder = tmp_path / "meadow"
    git = ["git", "-C", str(folder)]
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    subprocess.run([*git, "config", "user.name", "Ann"], check=True)
    subprocess.run([*git, "config", "user.email", "ann@example.org"], check=True)
    for message in (
        "Show photos that hang on the train",
        "Stop uploads after 8 s\n\nTunnels take the network.",
    ):
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", message], check=True)
    memory.sync(folder)
    old = f"{SYMPTOM} Uploads wait for the network."
    talk(memory, folder, "2026-02-01", "old", old.replace("?", "."))
    text = told(memory, folder)["text"]
    places = order(text, "Stop uploads", "Uploads wait for the network.")
    assert places == sorted(places)


@pytest.mark.parametrize("first", [True, False])
def test_a_turn_with_a_superseded_statement_comes_behind_the_later_turn_and_names_it(
    memory: Memory, project: Path, first: bool
) -> None:
    (porto,) = talk(memory, project, "2026-01-10", "january", "I live in Porto.")
    (lisbon,) = talk(memory, project, "2026-04-10", "april", "I moved to Lisbon.")
    text = told(memory, project, "Where do I live?", first=first)["text"]
    assert text.index(lisbon[:12]) < text.index(f"{porto[:12]}, newer {lisbon[:12]}] I live in Porto.")


def test_a_decision_that_was_taken_back_comes_with_the_correction(memory: Memory, project: Path) -> None:
    talk(
        memory, project, "2026-11-26", "limits",
        "Uploads of photos on the train give up after 30 seconds from now on.",
        "Set in the settings of the app.",
        "sorry, scratch that, wrong file. It is 8 seconds.",
    )  # fmt: skip
    text = told(memory, project)["text"]
    later, earlier = order(text, "It is 8 seconds", "after 30 seconds")
    assert later < earlier
