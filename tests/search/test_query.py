from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.search.query import MAX_PHRASES, MAX_QUERY_LENGTH, MIN_SENTENCE_WORDS, ParsedQuery, parse_query


def test_a_quoted_text_is_searched_for_and_demanded() -> None:
    query = parse_query('deploy "blue bunny" now')
    assert (query.text, query.phrases, query.excluded) == ("deploy blue bunny now", ("blue bunny",), ())


def test_a_sentence_that_quotes_something_had_better_find_it_and_a_search_for_a_quote_must() -> None:
    few = " ".join(["word"] * (MIN_SENTENCE_WORDS - 1))
    search, sentence = parse_query(f'{few} "blue bunny"'), parse_query(f'{few} word "blue bunny"')
    assert (search.phrases, search.preferred) == (("blue bunny",), ())
    assert (sentence.phrases, sentence.preferred) == ((), ("blue bunny",))
    assert sentence.text.endswith("word blue bunny")
    long_quote = parse_query('"' + "word " * MIN_SENTENCE_WORDS + 'to the letter"')
    assert len(long_quote.phrases) == 1


def test_what_a_sentence_excludes_stays_excluded() -> None:
    assert parse_query('who was it that directed "Blue Bunny" and when -staging').excluded == ("staging",)


def test_a_word_or_phrase_behind_a_dash_is_excluded_and_not_searched_for() -> None:
    query = parse_query('deploy -staging -"blue bunny" now')
    assert (query.text, query.phrases, query.excluded) == ("deploy now", (), ("staging", "blue bunny"))


@pytest.mark.parametrize(
    "text", ["-5", "-5.25", "-127.0.0.1", "minus -1 of 2", "a-b", "well-known", "--force", "a - b"]
)
def test_numbers_hyphens_flags_and_lone_dashes_exclude_nothing(text: str) -> None:
    assert parse_query(text) == ParsedQuery(text, (), (), truncated=False)


@pytest.mark.parametrize("text", ['"', '5" pipe', 'the "end', '-"end', '"a" "b', '""', '-""', '" "'])
def test_an_odd_or_empty_quote_demands_nothing_it_cannot(text: str) -> None:
    query = parse_query(text)
    assert query.phrases in ((), ("a",))
    assert query.excluded == ()


def test_operators_of_other_engines_are_words() -> None:
    query = parse_query("title:x NEAR(a b) OR (c AND NOT d*) ^ {e} 'f'")
    assert query == ParsedQuery("title:x NEAR(a b) OR (c AND NOT d*) ^ {e} 'f'", (), (), truncated=False)


def test_a_nul_separates_words() -> None:
    assert parse_query("red\x00door\x00").text == "red door"


def test_a_long_query_is_read_to_its_limit_and_says_so() -> None:
    short, long = parse_query("a" * MAX_QUERY_LENGTH), parse_query("a" * (MAX_QUERY_LENGTH + 1))
    assert (len(short.text), short.truncated) == (MAX_QUERY_LENGTH, False)
    assert (len(long.text), long.truncated) == (MAX_QUERY_LENGTH, True)


@settings(max_examples=150)
@given(st.text(max_size=60))
def test_any_text_is_a_query_and_what_bears_no_mark_is_kept(text: str) -> None:
    query = parse_query(text)
    assert all(part.strip() for part in query.phrases + query.excluded)
    if not set('"-“”„«»「」') & set(text):
        kept = " ".join(text.replace("\x00", " ").split())
        assert query in (ParsedQuery(kept, (), (), truncated=False), ParsedQuery("", (), (), truncated=False))
        assert query.text or not any(character.isalnum() for character in kept)


@pytest.mark.parametrize(
    "quoted", ["“{}”", "„{}“", "„{}”", "«{}»", "«\u00a0{}\u00a0»", "»{}«", "「{}」", '"{}"']
)
def test_quotes_of_other_languages_are_quotes(quoted: str) -> None:
    wanted = parse_query("deploy " + quoted.format("blue\nbunny") + " now")
    assert (wanted.text, wanted.phrases) == ("deploy blue bunny now", ("blue\nbunny",))
    unwanted = parse_query("deploy -" + quoted.format("blue bunny") + " now")
    assert (unwanted.text, unwanted.phrases, unwanted.excluded) == ("deploy now", (), ("blue bunny",))


@pytest.mark.parametrize(
    "text", ["“", "the “end", "end”", "-“end", "„“", "it’s Ann’s", "a » b", "-»", "5« pipe"]
)
def test_an_odd_quote_of_other_languages_demands_nothing(text: str) -> None:
    assert parse_query(text).phrases == ()
    assert not set(parse_query(text).excluded) & {"", "end"}


@pytest.mark.parametrize("text", ["?!", "->", "_", "—…", "{}[]()<>", "$_ + =", "\u0301\u200d"])
def test_marks_alone_name_nothing(text: str) -> None:
    assert parse_query(text).text == ""
    assert parse_query(f"{text} x").text.endswith("x")


def test_what_is_quoted_again_and_again_is_looked_for_once_and_pasted_code_is_no_list_of_quotes() -> None:
    assert parse_query('"red" "blue" "red" -"sea" -"sea"').phrases == ("red", "blue")
    assert parse_query('"red" "red"').partial == ()
    pasted = parse_query(" ".join(f'"k{n}" -x{n}' for n in range(MAX_PHRASES + 2)))
    assert (len(pasted.phrases), len(pasted.excluded), pasted.surplus) == (MAX_PHRASES, MAX_PHRASES, 4)
    assert f"k{MAX_PHRASES + 1}" in pasted.text
    assert len(pasted.partial) == 1
