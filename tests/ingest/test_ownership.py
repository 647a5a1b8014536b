"""What a person says of themselves holds in all projects; what is said of a project stays with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from notes_folder import Notes
from web import everything, scope_of, store_of

from scrubjay import Memory
from scrubjay.config.settings import FactSettings, Settings
from scrubjay.models.lifecycle import NewMemory
from scrubjay.models.records import Record

Open = Callable[..., Memory]


@pytest.fixture
def memory(learning: Settings, opened: Open) -> Memory:
    return opened(settings=learning, embedders=None)


def say(memory: Memory, text: str, project: str | None, date: str = "2026-03-01", **fields: object) -> None:
    session = f"session of {project} on {date}"
    given = {"session": session, "role": "user", "turn": 0, "date": date, "project": project} | fields
    memory.add_many([NewMemory(text, **given)])  # type: ignore[arg-type]


def learned(memory: Memory) -> dict[str, Record]:
    with store_of(memory).reader(scope_of(memory)) as reader:
        return {one.content.rstrip(".。"): one for one in everything(reader) if one.origin == "derived"}


PERSONAL = [
    "I am Ines",
    "I am Ines and I live in Graz",
    "Always use pytest, short answers please",
    "I prefer tabs",
    "From now on answer me in Dutch",
    "In all my projects I always write the test first",
    "Never push anything without asking me first",
    "Ich bin Jonas und wohne in Leipzig",
    "Bitte antworte immer auf Deutsch",
    "Réponds toujours en français",
    "Prefiero siempre respuestas cortas",
    "以后请用中文回答",
]


@pytest.mark.parametrize("text", PERSONAL)
def test_a_statement_of_the_person_holds_in_every_project(memory: Memory, text: str) -> None:
    say(memory, f"{text}.", "shop")
    assert text in memory.context(project="ledger").text


OF_THE_PROJECT = [
    "We always deploy with nomad here",
    "From now on this repo uses pnpm",
    "The staging database is called heron",
    "Always use pytest",
    "I prefer tabs in this repo",
    "Always reply to support tickets in German",
    "The API always answers with JSON",
    "Wir verwenden ab sofort pnpm",
    "Aquí siempre usamos pnpm",
    "这个项目以后都用 pnpm",
]


@pytest.mark.parametrize("text", OF_THE_PROJECT)
def test_a_statement_of_the_project_stays_with_the_project(memory: Memory, text: str) -> None:
    say(memory, f"{text}.", "shop")
    assert text in memory.context(project="shop").text
    assert text not in memory.context(project="ledger").text


def test_what_changed_of_the_person_supersedes_what_was_said_in_another_project(memory: Memory) -> None:
    say(memory, "I live in Porto.", "shop")
    say(memory, "I moved to Lisbon.", "ledger", "2026-05-01")
    found = learned(memory)
    assert (found["I live in Porto"].status, found["I moved to Lisbon"].status) == ("superseded", "active")
    profile = memory.context(project="third", parts=["profile"]).text
    assert "I moved to Lisbon" in profile
    assert "Porto" not in profile


def test_a_change_in_one_project_leaves_the_facts_of_another_alone(memory: Memory) -> None:
    say(memory, "Remember: the timeout of the gateway is 30 seconds.", "shop")
    say(memory, "Remember: the timeout of the gateway is 90 seconds.", "ledger", "2026-05-01")
    say(memory, "Remember: the timeout of the gateway is 60 seconds.", "shop", "2026-05-02")
    status = {text: one.status for text, one in learned(memory).items()}
    assert status == {
        "the timeout of the gateway is 30 seconds": "superseded",
        "the timeout of the gateway is 90 seconds": "active",
        "the timeout of the gateway is 60 seconds": "active",
    }


def test_the_same_rule_of_two_projects_is_known_in_both(memory: Memory) -> None:
    for project in ("shop", "ledger"):
        say(memory, "We always deploy with nomad.", project)
    for project in ("shop", "ledger"):
        assert "deploy with nomad" in memory.context(project=project, parts=["profile"]).text


def test_a_habit_of_one_project_does_not_supersede_the_persons(memory: Memory) -> None:
    say(memory, "I prefer tabs.", "shop")
    say(memory, "From now on we use spaces instead of tabs.", "ledger", "2026-05-01")
    assert {one.status for one in learned(memory).values()} == {"active"}


def test_what_one_says_to_a_group_does_not_enter_the_others_projects(
    learning: Settings, opened: Open
) -> None:
    ines = opened(settings=replace(learning, user="ines", groups=("crew",)), embedders=None)
    say(ines, "I prefer tabs and short answers.", "shop", visibility="group", group="crew")
    bob = opened(settings=replace(learning, user="bob", groups=("crew",)), embedders=None)
    assert "tabs" in bob.context(project="shop").text
    assert "tabs" not in bob.context(project="ledger").text


def test_what_a_note_says_in_the_first_person_stays_in_its_folder(
    notes: Notes, learning: Settings, opened: Open
) -> None:
    notes.write("about.md", "# About\n\nI am Ines and I always prefer tabs.\n")
    memory = opened(settings=replace(learning, facts=FactSettings()), embedders=None)
    memory.sync(notes.root, project="shop")
    assert learned(memory) == {}
    assert "Ines" not in memory.context(project="ledger").text
