"""What a text says of a claim: the same words in the same order, nothing cut off that would change them."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.text.paraphrase import (
    NEGATIONS,
    TextSpan,
    claim_words,
    count_denials,
    number_words,
    supporting_span,
    unsupported_claims,
)

SAID = [
    ("The user lives in Porto", "I live in Porto."),
    ("the user is a nurse", "I'm a nurse."),
    ("The user's sister Ana is 34", "My sister Ana is 34, and my brother is not."),
    ("The user prefers tabs over spaces", "I prefer tabs over spaces"),
    ("The user does not eat meat", "I don't eat meat"),
    ("The user doesn’t eat meat", "I do not eat meat"),
    ("The user lives and works in Porto", "I live and work in Porto"),
    ("The user always carries a knife", "I always carry a knife"),
    ("The user likes their tea black", "I like my tea black"),
    ("The user loves fish", "I don't eat meat but I love fish"),
    ("the user moved in 2019", "Well, I moved in 2019 (for work)."),
    ("The user is a nurse", "Remember that I'm a nurse"),
    ("I live in Porto", "I live in Porto"),
    ("The deploy runs at 17:30", "The deploy runs at 17:30."),
    ("The user studies law", "I study law; it would bore you."),
    ("The user's dog is called Rex", "My dog is called Rex\nI walk him"),
]
UNSAID = [
    ("The user lives in Lisbon", "I live in Porto."),
    ("The user has 4 cats", "I have 3 cats"),
    ("The user paid 40", "I paid -40"),
    ("The budget is 3", "The budget is 3.5"),
    ("The user prefers spaces over tabs", "I prefer tabs over spaces"),
    ("Bob loves Ana", "Ana loves Bob"),
    ("The user moved on 2 May", "I moved on May 2"),
    ("The user eats meat", "I don't eat meat"),
    ("The user does not eat meat", "I eat meat"),
    ("The user sleeps", "I don't sleep well"),
    ("The user does not sleep", "I don't really sleep"),
    ("The user lives in Porto", "I used to live in Porto"),
    ("The user lived in Porto", "I live in Porto"),
    ("The user eats meat", "I eat meat only on Sundays"),
    ("The user eats meat", "When I am in Rome, I eat meat"),
    ("The user would sell it", "If I moved, I would sell it."),
    ("The user sells the house", "If I moved, I sell the house"),
    ("The user is a nurse", "I think that I'm a nurse"),
    ("The user is a nurse", "She said I'm a nurse"),
    ("The user is a nurse", "Am I a nurse? I'm a nurse?"),
    ("The user lives in Porto", "I live in Porto, not"),
    ("The user lives in Porto", "It is not that I live in Porto"),
    ("The user lives between Porto", "I live between Porto and Lisbon"),
    ("The user likes whisky a lot", "My brother smokes and likes whisky a lot"),
    ("likes whisky a lot", "My brother smokes and likes whisky a lot"),
    ("The user's brother lives here", "Neither my brother lives here nor do I"),
    ("the user sees an error", "the user sees an error"),
    ("The user runs", "I run"),
    ("", "I live in Porto"),
    ("The user", "I"),
]


@pytest.mark.parametrize(("claim", "source"), SAID)
def test_a_claim_in_the_words_of_its_source_is_vouched_for(claim: str, source: str) -> None:
    assert supporting_span(claim, source) is not None


@pytest.mark.parametrize(("claim", "source"), UNSAID)
def test_a_claim_that_says_other_more_or_less_is_not(claim: str, source: str) -> None:
    assert supporting_span(claim, source) is None


def test_who_is_not_the_user_keeps_saying_i() -> None:
    assert supporting_span("I recommend Porto", "I recommend Porto", person=False)
    assert supporting_span("The user recommends Porto", "I recommend Porto", person=False) is None


def test_a_claim_must_stand_within_its_quote_whose_denials_it_keeps() -> None:
    said = "I don't eat meat but I love fish"
    assert supporting_span("The user loves fish", said, within=TextSpan(21, 32)) == (21, 32)
    assert supporting_span("The user loves fish", said, within=TextSpan(0, 20)) is None
    assert supporting_span("The user loves fish", said, within=TextSpan(0, 32)) is None


def test_a_text_that_drops_a_denial_or_a_number_is_not_vouched_for_at_all() -> None:
    source = "I have 3 cats. I don't eat meat. My car is very red."
    assert unsupported_claims("The user has 3 cats. The user does not eat meat.", source) == []
    assert unsupported_claims("The user has 3 cats. The user's car is very red.", source) != []
    assert unsupported_claims("The user does not eat meat. The user's car is very red.", source) != []
    invented = "The user has 3 cats. The user does not eat meat. The user is happy here."
    assert unsupported_claims(invented, source) == ["The user is happy here."]


WORDS = st.sampled_from(
    [
        *"I my we the a user user's not don't doesn't never no nobody without neither nor if when would only".split(),
        *"live lives in Porto and but because so that 3 4 3.5 2019 €40 -5 17:30 eat meat fish Ana loves".split(),
        "Porto,", "meat.", "fish;", "3.", "(not", "Ana)", "isn't", "can't", "really", "nicht", "\n", "?",
    ]
)  # fmt: skip
TEXTS = st.lists(WORDS, min_size=1, max_size=24).map(" ".join)


@given(TEXTS, TEXTS)
def test_nothing_is_vouched_for_with_a_number_or_a_denial_that_the_source_has_not(
    claim: str, source: str
) -> None:
    found = supporting_span(claim, source)
    if found is not None:
        stretch = source[slice(*found)]
        claimed, said = claim_words(claim, claim=True), claim_words(stretch)
        assert number_words(claimed) == number_words(said)
        assert count_denials(claimed) == count_denials(said)


@given(TEXTS, st.integers(0, 2**32))
def test_what_is_cut_out_of_a_source_keeps_every_denial_of_its_quote(source: str, seed: int) -> None:
    chance = random.Random(seed)
    start = chance.randrange(len(source))
    quote = TextSpan(start, chance.randrange(start, len(source)) + 1)
    said = [word for word in claim_words(source) if quote.start <= word.start and word.end <= quote.end]
    first = chance.randrange(len(said)) if said else 0
    part = said[first : first + chance.randrange(1, 8)]
    claim = source[part[0].start : part[-1].end] if part else source
    found = supporting_span(claim, source, within=quote)
    if found is not None:
        assert count_denials(claim_words(source[slice(*found)])) == count_denials(said)


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_texts_are_read_and_a_stretch_lies_in_its_source(claim: str, source: str) -> None:
    found = supporting_span(claim, source)
    if found is not None:
        assert 0 <= found.start < found.end <= len(source)
    for word in claim_words(source):
        assert 0 <= word.lead <= word.start < word.end <= len(source)


def test_every_denial_is_written_as_words_are_read() -> None:
    assert {word for word in NEGATIONS if word != word.casefold()} == set()
