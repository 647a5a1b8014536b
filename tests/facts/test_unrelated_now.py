"""A later statement that says "now" supersedes an earlier one only if it gives the same attribute another value."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrubjay import Memory

UNRELATED = (
    ("The lift key is in the drawer.", "The lift key is now made of brass."),
    ("Wojtek's phone is 07700 900 877.", "Wojtek's phone is now broken."),
    ("Rent of the office is 1,150 a month.", "Rent of the office is now due on the 3rd."),
    ("Rent of the office is due on the 3rd.", "The rent of the office was raised to 1,200."),
    ("The contractor for the school is Bewley Ltd.", "The contractor for the school is now two weeks late."),
    ("The roof of the pavilion is zinc.", "The roof of the pavilion is now watertight."),
    ("The school's client is the county council.", "The school's client is now happy."),
    ("The budget of the barn is 628k.", "The budget of the barn is now signed off by Tunde."),
    ("The meeting is in Cedar.", "The meeting was moved to Thursday."),
    ("The price of the print is 40.", "The price of the print has been raised by 5."),
    ("The gate opens at 7.", "The gate opens now with a code."),
    ("Das Dach der Scheune ist aus Zink.", "Das Dach der Scheune ist jetzt dicht."),
    ("Die Miete fürs Lager beträgt 640 Euro.", "Die Miete fürs Lager ist jetzt am 3. fällig."),
)
LIMITED = (
    ("Fenella's day rate is 465.", "Fenella's day rate is 480 now for the pavilion only."),
    ("The paint store is at Unit 4.", "Rumour: the paint store is at Unit 9 now."),
    ("The paint store is at Unit 4.", "Rumour: the paint store is no longer at Unit 4."),
    ("The paint store is at Unit 4.", "Is the paint store at Unit 9 now?"),
    ("The site manager at the barn is Pete.", "If Pete leaves, the site manager at the barn is Olu now."),
    ("The office manager is Beatrix.", "Jo asked whether the office manager is Leonie now."),
    ("The on-call engineer is Priya.", "The on-call engineer is Tomas now for this week."),
    ("Unser Steuerberater ist Herr Klamm.", "Angeblich ist unser Steuerberater jetzt Frau Seidel."),
)
CHANGES = (
    ("The lift key is in the drawer.", "The lift key is now in the shed."),
    ("Rent of the office is 1,150 a month.", "Rent of the office is now 1,200 a month."),
    ("The site manager at the barn is Pete.", "The site manager at the barn is Olu now."),
    ("The delivery slot is Tuesday at 7.", "The delivery slot is now Wednesday at 7."),
    ("Wojtek's phone is 07700 900 877.", "Wojtek's phone is now 07700 900 312."),
    ("Unser Steuerberater ist Herr Klamm.", "Unser Steuerberater ist jetzt Frau Seidel."),
)


@pytest.mark.parametrize(("old", "new"), UNRELATED + LIMITED)
def test_a_true_statement_stays_active_beside_one_that_does_not_replace_it(
    tmp_path: Path, old: str, new: str
) -> None:
    with Memory.open(tmp_path / "store.db") as memory:
        first = memory.add(old, date="2026-03-02")
        second = memory.add(new, date="2026-05-04")
        assert [record.status for record in memory.get([first.id, second.id]).records] == ["active", "active"]


@pytest.mark.parametrize(("old", "new"), LIMITED)
def test_a_condition_a_rumour_or_a_question_is_not_named_as_newer(tmp_path: Path, old: str, new: str) -> None:
    with Memory.open(tmp_path / "store.db") as memory:
        first = memory.add(old, date="2026-03-02")
        memory.add(new, date="2026-05-04")
        results = memory.search(old, min_relevance=0).results
        assert next(result for result in results if result.id == first.id).newer == ()


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_another_value_of_the_same_kind_supersedes(tmp_path: Path, old: str, new: str) -> None:
    with Memory.open(tmp_path / "store.db") as memory:
        first = memory.add(old, date="2026-03-02")
        second = memory.add(new, date="2026-05-04")
        assert [record.status for record in memory.get([first.id, second.id]).records] == [
            "superseded",
            "active",
        ]
