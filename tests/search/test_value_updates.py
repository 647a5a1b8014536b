"""A later remark that gives the same thing another value is shown before the earlier one, and both stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrubjay import Memory, NewMemory

LATER = (
    ("My midwife says pulse under 140.", "The midwife is stricter now: under 130.", "What is my pulse limit?"),
    ("Meine FTP liegt bei 245 Watt.", "Neuer FTP-Test heute: 262 Watt!", "Wie hoch ist meine FTP?"),
    ("I like to swim in the evenings, around 20:00.", "I swim in the morning now, about 6:45.", "When do I swim?"),
    ("I live at Kantstraße 8.", "We moved! The new address: Ulmenweg 17.", "Where do I live?"),
    ("Meine Adresse ist Lindenallee 22.", "Bitte schickt künftig alles in den Rosenweg 9.", "Wie ist meine Adresse?"),
    ("My phone number is 0170 555 1290.", "New number: 0151 444 8811.", "What is my phone number?"),
    ("My e-mail is kim@old.example.", "Please write to kim@new.example from now on.", "What is my e-mail?"),
)  # fmt: skip
OF_OTHERS = (
    ("I live at Kantstraße 8.", "The dentist moved to Ulmenweg 17 now.", "Where do I live?"),
    ("My phone number is 0170 555 1290.", "New number of my mum: 0151 444 8811.", "What is my phone number?"),
    ("Meine FTP liegt bei 245 Watt.", "Neuer Smarttrainer heute: kann 2000 Watt!", "Wie hoch ist meine FTP?"),
    ("I train at 6:30 in the mornings.", "I read in the evening now, about 21:00.", "When do I train?"),
    ("The course costs 90 euros.", "New shoes for the course: 120 euros.", "What does the course cost?"),
)  # fmt: skip


def _say(memory: Memory, text: str, day: str, role: str = "user") -> None:
    memory.add_many([NewMemory(text, session=f"of {day}", role=role, turn=0, date=day)])


@pytest.mark.parametrize(("old", "new", "question"), LATER)
def test_a_later_value_is_shown_before_the_earlier_one(
    tmp_path: Path, old: str, new: str, question: str
) -> None:
    with Memory.open(tmp_path / "memory.db") as memory:
        _say(memory, old, "2026-11-01")
        _say(memory, new, "2026-11-14")
        found = [one.snippet for one in memory.search(question, min_relevance=0).results]
        prompt = memory.context(question).text
    assert found[:2] == [new, old]
    assert 0 < prompt.find(new) < prompt.find(old)


@pytest.mark.parametrize(("old", "new", "question"), OF_OTHERS)
def test_a_value_of_another_thing_is_not_placed_before_it(
    tmp_path: Path, old: str, new: str, question: str
) -> None:
    with Memory.open(tmp_path / "memory.db") as memory:
        _say(memory, old, "2026-11-01")
        _say(memory, new, "2026-11-14")
        assert memory.search(question, min_relevance=0).results[0].snippet == old


def test_an_assistant_gives_no_later_value(tmp_path: Path) -> None:
    old, new, question = LATER[0]
    with Memory.open(tmp_path / "memory.db") as memory:
        _say(memory, old, "2026-11-01")
        _say(memory, new, "2026-11-14", role="assistant")
        assert memory.search(question, min_relevance=0).results[0].snippet == old
