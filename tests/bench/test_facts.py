"""Statements: what counts as found, and what its figures are made of."""

from bench import facts
from scrubjay.facts.extractor import Statement


def turn(
    text: str, *, role: str = "user", facts: tuple[str, ...] = (), optional: tuple[str, ...] = ()
) -> dict[str, object]:
    def quotes(found: tuple[str, ...]) -> list[dict[str, str]]:
        return [{"quote": quote, "kind": "fact"} for quote in found]

    return {"id": "x", "role": role, "text": text, "facts": quotes(facts), "optional": quotes(optional)}


def test_a_stretch_hits_a_quote_with_half_of_the_shorter_and_a_third_of_the_longer() -> None:
    text = "one two three four five six seven"
    stretch = Statement(0, len("one two"), "fact", "one two", "")
    assert facts.hits(text, stretch, "one two three four five six")
    assert not facts.hits(text, stretch, text)
    assert not facts.hits(text, stretch, "three four")


def test_found_missed_optional_and_wrong_are_counted_apart() -> None:
    text = "I live in Graz. My dog is called Rex. My sister lives in Linz."
    one = facts.score_turn(turn(text, facts=("I live in Graz", "Rex"), optional=("My sister lives in Linz",)))
    assert (one.facts, one.found, one.right, one.wrong) == (2, 1, 1, 1)
    assert "WRONG fact (weighed)" in one.notes[-1]


def test_nothing_is_taken_from_an_assistant_s_turn() -> None:
    one = facts.score_turn(turn("I live in Graz.", role="assistant"))
    assert (one.facts, one.right, one.wrong) == (0, 0, 0)


def test_the_summary_s_intervals_hold_the_figures() -> None:
    scores = [
        facts.score_turn(turn("I live in Graz.", facts=("I live in Graz",))),
        facts.score_turn(turn("My sister lives in Linz.")),
    ] * 10
    result = facts.summary(scores)
    assert result["precision"][0] == 0.5
    assert result["recall"][0] == 1
    assert result["junk"][0] == 50
    assert all(
        low <= mean <= high for mean, low, high in (result["precision"], result["recall"], result["junk"])
    )
