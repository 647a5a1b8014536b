"""What no rule knows is weighed; subjects are made plain; people spoken of before are known."""

import pytest

from scrubjay.ingest.statements.statements import statements


def found(turn: str) -> list[tuple[str, str]]:
    return [(one.rule, one.text) for one in statements(turn)]


@pytest.mark.parametrize(
    "sentence",
    [
        "Secondary is always someone from the Lagos office.",
        "Our summer camp goes ahead without the archery, and Ruth takes over from me as treasurer.",
        "Deaf in the left ear since the army, so phone calls with Martha take me twice as long.",
    ],
)
def test_a_clause_that_no_rule_knows_is_kept_when_its_signs_weigh_enough(sentence: str) -> None:
    assert "weighed" in {rule for rule, _ in found(sentence)}


@pytest.mark.parametrize(
    "sentence",
    [
        "Marie Curie was born in Warsaw.",
        "Your branch is ahead of origin by 3 commits.",
        "I'll definitely try the one from Porto on Sunday.",
        "I keep getting error 1045 from MySQL since the update.",
        "Nicht länger als fünf Sätze.",
        "The train leaves at 9 from Paddington, what time do I need to get up?",
    ],
)
def test_what_everybody_knows_or_speaks_of_the_talk_weighs_too_little(sentence: str) -> None:
    assert found(sentence) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "Both my kids are coeliac.",
        "Me and my wife are both teachers.",
        "Neither of us drives.",
        "Got two kids and a dog at home.",
        "Allergies: nuts, shellfish.",
        "No more bullet lists.",
        "Keep replies short in general.",
        "Cilantro tastes like soap to me.",
        "My flight got moved to the 6th.",
        "I look after my mother.",
        "I used to be a paramedic.",
        "None of us eats pork.",
        "Stack: Django, Postgres, Celery.",
        "Name's Tobias btw.",
        "Logs end up in Loki.",
        "Stop calling me sir.",
    ],
)
def test_other_ways_to_say_what_lasts_are_known(sentence: str) -> None:
    assert len(found(sentence)) == 1


def test_she_is_the_one_of_whom_the_statement_before_speaks() -> None:
    assert ("of them", "She's a vet and works in Ghent.") in found(
        "My sister lives in Leeds. She's a vet and works in Ghent."
    )


def test_labels_that_bring_material_along_are_not_kept() -> None:
    assert found("Input: a list of numbers.") == found("Error: connection refused.") == []


def test_an_order_that_stands_among_statements_does_not_end_the_reading() -> None:
    assert found("I used to be a nurse. I live in Graz.")[-1] == ("does", "I live in Graz.")
