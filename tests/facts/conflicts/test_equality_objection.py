"""Updates and objections to equality: only with a reason."""

from __future__ import annotations

import pytest

from scrubjay.facts.claims import parse_claim
from scrubjay.facts.conflicts import classify_change, compare_texts

HAPPENED = [
    ("{} saw bird number 6.", "{} saw bird number 7."),
    ("{} met Amy at the library on 5 February.", "{} joined the meetup on 8 April."),
    ("{} bought a drill for 80 euros.", "{} bought a saw for 90 euros."),
    ("{} joined the chess club in May.", "{} joined the rowing club in June."),
    ("{} reached the summit of Ben Nevis.", "{} reached the summit of Snowdon."),
    ("{} read chapter 3.", "{} read chapter 4."),
    ("{} finished the book about Troy.", "{} finished the book about Rome."),
]


@pytest.mark.parametrize("who", ["Ann", "My brother", "I", "The new intern"])
@pytest.mark.parametrize(("old", "new"), HAPPENED)
def test_what_happened_is_not_hidden_by_what_happened_later(who: str, old: str, new: str) -> None:
    assert classify_change(old.format(who), new.format(who)).verdict == "new"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I'm planning a trip to Hawaii.", "I'm planning a trip to London."),
        ("I'm planning to rent a car.", "I took the car to the garage a week after renting it to my cousin."),
        ("I have a budget of $15,000 for 2027.", "I've adjusted our holiday gift budget to $450."),
        ("I prefer Excel for control.", "I went on with Excel for budgeting since the Mint trial ended."),
        ("I have been listening to indie rock lately.", "I have been reading a lot lately."),
        ("The connect timeout of the client is 5 s.", "The read timeout of the client is 20 s."),
        ("Ticket 12 blocks the release.", "Ticket 13 blocks the release."),
        ("I read to the kids during my commute.", "My commute is long."),
        ("Checkup: weight 82 kg", "Checkup: cholesterol a bit high"),
    ],
)
def test_one_word_in_common_hides_nothing(old: str, new: str) -> None:
    assert classify_change(old, new).verdict == "new"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Porto.", "I moved to Lisbon."),
        ("The snack budget is $70.", "I've adjusted the snack budget to $75."),
        ("Release 4.2 is planned for 3 October.", "Release 4.2 slipped to 17 October."),
        ("I love hiking.", "I no longer love hiking."),
        ("The gym membership costs 29.90.", "The gym membership costs 34.90."),
        ("Physio twice a week.", "Physio once a week."),
        ("Passport expires 03/2027", "my passport runs out in March 2028"),
    ],
)
def test_another_value_of_the_same_attribute_hides_the_old_one(old: str, new: str) -> None:
    assert classify_change(old, new).verdict == "supersedes"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("The lift works.", "The lift hardly works.", "denied"),
        ("The lift works.", "The lift fails to work.", "denied"),
        ("He smokes.", "He stopped smoking.", "denied"),
        ("The door is locked.", "The door is unlocked.", "denied"),
        ("Dogs are allowed.", "Dogs are forbidden.", "denied"),
        ("The lift is safe.", "The lift is not unsafe.", ""),
        ("Dogs are not allowed.", "Dogs are forbidden.", ""),
        ("Der Hund darf aufs Sofa.", "Der Hund darf nie aufs Sofa.", "denied"),
        ("He has 3 cats.", "He has 4 cats.", "number"),
        ("He swims twice a week.", "He swims once a week.", "number"),
        ("He has cats.", "He has 4 cats.", "number"),
        ("He has 4 cats.", "He has cats.", ""),
        ("It starts at 5pm.", "It starts at 17:00.", ""),
        ("It holds 1,000 rows.", "It holds 1k rows.", ""),
        ("I plan a trip.", "I plan another trip.", "another"),
        ("Ann may merge.", "Only Ann may merge.", "another"),
    ],
)
def test_words_alone_tell_what_is_not_the_same(old: str, new: str, reason: str) -> None:
    assert compare_texts(old, new).reason == reason


def test_a_note_about_the_user_is_what_the_user_says() -> None:
    said, noted = parse_claim("I like green tea."), parse_claim("The user likes green tea.")
    assert said.person == noted.person
    assert [word.key for word in said.words] == [word.key for word in noted.words]
