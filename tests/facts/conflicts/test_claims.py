"""Claims: what is read of one statement."""

from __future__ import annotations

import pytest

from scrubjay.facts.claims import Claim, parse_claim
from scrubjay.facts.lexicon import shared_language


def keys(read: Claim, early: bool) -> set[str]:
    return {word.key for word in read.words if word.early is early}


@pytest.mark.parametrize(
    ("statement", "denies"),
    [
        ("The lift works.", False),
        ("The lift does not work.", True),
        ("The lift doesn't work.", True),
        ("The lift cant work.", True),
        ("The lift no longer works.", True),
        ("The lift hardly works.", True),
        ("Nobody uses the lift.", True),
        ("The lift runs without power.", True),
        ("It is not true that the lift does not work.", False),
        ("The lift is not only fast but quiet.", False),
        ("The lift takes not people but goods.", False),
        ("The lift takes goods, not people.", False),
    ],
)
def test_two_denials_are_none_and_a_contrast_denies_nothing_of_what_is_said(
    statement: str, denies: bool
) -> None:
    assert parse_claim(statement).denies is denies


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("takes 30 s", "takes 30 seconds"),
        ("takes half an hour", "takes 30 minutes"),
        ("takes 1.5 hours", "takes one and a half hours"),
        ("takes an hour and a half", "takes 90 min"),
        ("has 12 seats", "has a dozen seats"),
        ("has 1,200 seats", "has 1.2k seats"),
        ("has twenty-five seats", "has 25 seats"),
        ("has two hundred and five seats", "has 205 seats"),
        ("holds 2 GB", "holds 2000 MB"),
        ("costs $1.5m", "costs 1.5 million dollars"),
        ("weighs 1 kg", "weighs 1000 grams"),
        ("grew by 3.5 %", "grew by three point five percent"),
        ("version 2", "v2"),
    ],
)
def test_a_number_is_one_in_all_its_clothes(one: str, other: str) -> None:
    ours, theirs = parse_claim(f"It {one}.").numbers, parse_claim(f"It {other}.").numbers
    assert [(n.key, n.unit) for n in ours] == [(n.key, n.unit) for n in theirs] != []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("on 4 May 2026", "on 2026-05-04"),
        ("on May 4th, 2026", "on the 4th of May 2026"),
        ("on 4.5.2026", "on 4 May 2026"),
        ("at 5pm", "at 17:00"),
        ("at half past four", "at 4:30"),
        ("at a quarter to nine", "at 8:45"),
        ("at noon", "at 12:00"),
        ("on Mondays", "every Monday"),
        ("in March", "in Mar 2026"),
    ],
)
def test_a_date_is_one_however_it_is_written(one: str, other: str) -> None:
    ours, theirs = parse_claim(f"It starts {one}.").days, parse_claim(f"It starts {other}.").days
    shared = [
        (a, b) for a, b in zip(ours[0].parts, theirs[0].parts, strict=True) if a is not None and b is not None
    ]
    assert shared
    assert all(a == b for a, b in shared)


@pytest.mark.parametrize(
    "statement", ["May I use the boat?", "We march home.", "The sun is out.", "She sat on the mat."]
)
def test_words_that_are_also_dates_need_a_capital_and_a_neighbour(statement: str) -> None:
    assert parse_claim(statement).days == ()


@pytest.mark.parametrize(
    ("statement", "subject", "said"),
    [
        ("The upload limit is high.", {"upload", "limit"}, {"high"}),
        ("My sister's dog sleeps on the sofa.", {"sister", "dog"}, {"sleep", "sofa"}),
        ("upload limit: high", {"upload", "limit"}, {"high"}),
        ("After the storm, the ferry runs again.", {"ferri"}, {"befor", "storm", "run"}),
        ("Developers build the site twice.", {"engin"}, {"build", "site", "construct"}),
    ],
)
def test_a_verb_or_a_colon_parts_the_subject_from_what_is_said(
    statement: str, subject: set[str], said: set[str]
) -> None:
    read = parse_claim(statement)
    assert keys(read, early=True) == subject
    assert keys(read, early=False) <= said


@pytest.mark.parametrize(
    ("statement", "signal"),
    [
        ("We now ride the tram.", "changed"),
        ("No, we ride the tram.", "changed"),
        ("We no longer ride the tram.", "over"),
        ("Omar used to ride the tram.", "over"),
        ("We are going to ride the tram.", "planned"),
        ("We rode the tram.", "past"),
        ("We are riding the tram.", "ongoing"),
        ("We have not ridden the tram yet.", "waited"),
        ("We ride another tram.", "also"),
    ],
)
def test_small_words_and_endings_tell_of_time(statement: str, signal: str) -> None:
    assert signal in parse_claim(statement).signals


def test_a_tool_that_is_used_to_cut_is_not_a_thing_of_the_past() -> None:
    assert "over" not in parse_claim("The saw is used to cut tiles.").signals


@pytest.mark.parametrize(
    ("statement", "settings"),
    [
        ("The production queue is full.", {"stage": {"production"}}),
        ("On prod the queue is full.", {"stage": {"production"}}),
        ("The left lamp is dim.", {"side": {"left"}}),
        ("She left the town.", {}),
        ("We test the lamp.", {}),
        ("The windows are dirty.", {}),
        ("It crashes on Windows.", {"system": {"windows"}}),
    ],
)
def test_a_circumstance_is_told_from_the_word_it_is_spelt_like(
    statement: str, settings: dict[str, set[str]]
) -> None:
    assert parse_claim(statement).settings == settings


def test_words_of_one_meaning_are_one_and_an_opposite_is_a_denial() -> None:
    allowed, forbidden = parse_claim("Dogs are permitted."), parse_claim("Dogs are banned.")
    assert [word.key for word in allowed.words] == [word.key for word in forbidden.words]
    assert [word.opposite for word in forbidden.words] == [False, True]


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("Der Kurs ist am Montag.", "de"),
        ("Le cours est le lundi.", "fr"),
        ("El curso es los lunes.", "es"),
        ("O curso é na segunda-feira.", "pt"),
        ("Il corso è di lunedì.", "it"),
        ("The course is on Monday.", "en"),
        ("Course: Monday", "en"),
    ],
)
def test_a_short_statement_tells_its_language(statement: str, code: str) -> None:
    assert shared_language(statement, statement) == code
