"""What is said is weighed by its signs."""

import pytest

from scrubjay.facts.extractor import find_statements


def found(turn: str) -> list[tuple[str, str]]:
    return [(one.rule, one.text) for one in find_statements(turn)]


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("fact", "My sister Ana lives in Porto."),
        ("fact", "Both my kids are coeliac."),
        ("decision", "We chose Postgres for our backend."),
        ("fact", "Ich bin allergisch gegen Nüsse."),
        ("fact", "Mi madre vive en Burgos."),
    ],
)
def test_a_clause_is_kept_when_its_signs_weigh_enough(kind: str, sentence: str) -> None:
    assert [one.kind for one in find_statements(sentence)] == [kind]


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


def test_labels_that_bring_material_along_are_not_kept() -> None:
    assert found("Input: a list of numbers.") == found("Error: connection refused.") == []
