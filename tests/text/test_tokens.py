"""Words, terms and groups: what is found by which query."""

from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scrubjay.text import tokenizer
from scrubjay.text.normalize import TERM_MARKS, fold, has_unspaced
from scrubjay.text.tokenizer import (
    MAX_TERM_LENGTH,
    TermGroup,
    Terms,
    find_terms,
    index_terms,
    query_groups,
    split_words,
)

ANY_TEXT = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(
            "aBc19 _-.'’+#/@éßİ\u0301\u00ad\u200dو\u064eक\u093fน\u0e33日本かｶﾞ가\u1100\u1161\ud800\0"
        ),
    ),
    max_size=60,
)


def emitted(text: str, language: str = "en") -> set[str]:
    return set(index_terms(text, language).counts)


def matched(query: str, text: str, language: str = "en") -> list[str]:
    """The query's words that the text answers."""
    present = emitted(text, language)
    return [group.word for group in query_groups(query, (language,)) if present & set(group.forms)]


@given(ANY_TEXT)
@example("x" * 1_000)
@example("K̇ﷺ½⒜㈠①²")
@settings(max_examples=150, deadline=None)
def test_any_text_has_terms_and_its_own_words_always_find_it(text):
    counted = index_terms(text)
    found = split_words(text)
    assert counted.length == len(found)
    for word in found:
        assert query_groups(text[word.start : word.end])[0].forms[0] in counted.counts
    for group in query_groups(text):
        assert set(group.forms) & counted.counts.keys(), group


@given(ANY_TEXT)
@settings(max_examples=150, deadline=None)
def test_offsets_slice_the_original_text_back_to_the_word(text):
    for word in split_words(text):
        assert 0 <= word.start < word.end <= len(text)
        piece = fold(text[word.start : word.end])
        # One Thai vowel folds into two characters, so a bigram may lie inside what its slice folds to.
        assert word.text in piece if has_unspaced(word.text) else word.text == piece.replace("\u2019", "'")


@given(ANY_TEXT)
@example("æ" * MAX_TERM_LENGTH)
@settings(max_examples=150, deadline=None)
def test_a_term_can_be_stored_in_a_list_separated_by_spaces(text):
    for term in index_terms(text).counts:
        assert 0 < len(term) <= MAX_TERM_LENGTH
        assert all(char.isalnum() or char in TERM_MARKS for char in term if char.isascii()), term
        assert not any(char.isspace() for char in term)
        term.encode("utf-8")


@given(ANY_TEXT, ANY_TEXT)
@settings(max_examples=60, deadline=None)
def test_terms_of_two_texts_on_two_lines_add_up(one, two):
    both, first, second = index_terms(f"{one}\n{two}"), index_terms(one), index_terms(two)
    assert both.length == first.length + second.length
    assert both.counts == {
        term: first.counts.get(term, 0) + second.counts.get(term, 0)
        for term in first.counts.keys() | second.counts.keys()
    }


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("memory_store", "the `memory_store` table"),
        ("memory_store", "class MemoryStore:"),
        ("memoryStore", "see memory-store"),
        ("MemoryStore", "self.memory_store.open()"),
        ("HTTPServer", "an http_server"),
        ("E0382", "error[E0382]: borrow of moved value"),
        ("HTTP-404", "HTTP_404"),
        ("notes.md", "wrote /home/me/notes.md today"),
        ("foo/bar.py", "edit src/foo/bar.py:12"),
        ("3.11.7", "Python 3.11.7 is out"),
        ("1.2.3", "released v1.2.3"),
        ("v1.2", "since v1.2.3-beta.1"),
        ("2024-03", "on 2024-03-15T09:00:00Z"),
        ("2024-03-15", "on 2024-03-15T09:00:00Z"),
        ("jane.doe@example.com", "mail <jane.doe@example.com>"),
        ("--flag-name", "run it with `--flag-name=3`"),
        ("C++", "in C++, Rust"),
        ("C++", "since C++17"),
        ("C#", "C#を使う"),
        ("__init__.py", "pkg/__init__.py"),
        ("init", "def __init__(self)"),
        ("bold", "a __bold__ and _bold_ word"),
        ("US", "in the U.S. army"),
        ("x-ray", "an Xray"),
        ("internationalisation", "inter\u00adnational\u00adisation"),
        ("docs.rs", "https://docs.rs/serde/latest/serde/"),
        ("serde", "https://docs.rs/serde/latest/serde/"),
        ("can't", "I can’t"),
        ("John", "John's dog"),
        ("abc123", "ＡＢＣ１２３"),
        ("office", "oﬃce"),
    ],
)
def test_an_identifier_is_found_by_the_way_someone_asks_for_it(query, text):
    assert query_groups(query)[0].word in matched(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("memory store", "MemoryStore"),
        ("http server", "HTTPServer"),
        ("test tokens py", "tests/test_tokens.py"),
        ("well known", "well-known"),
        ("store", "memory_stores"),
        ("assert equal", "self.assertEqual(x)"),
    ],
)
def test_a_compound_is_found_by_each_of_its_parts(query, text):
    assert matched(query, text) == query.split()


def test_a_compound_in_a_query_also_asks_for_its_parts_standing_apart():
    assert matched("memory_store", "the store of a memory") == ["memory", "store"]
    assert matched("HTTP-404", "returned HTTP 404") == ["http", "404"]
    assert [group.word for group in query_groups("x-ray 3.11.7")] == ["x-ray", "ray", "3.11.7", "3.11"]


@pytest.mark.parametrize(
    ("query", "text"),
    [("C", "C++ and C#"), ("she'll", "a shell"), ("I'd", "the id"), ("re", "we're"), ("7", "17")],
)
def test_words_that_only_look_alike_do_not_match(query, text):
    assert not matched(query, text)


def test_a_word_counts_once_for_each_term_and_a_compound_is_one_word_long():
    found = index_terms("memory_store stores")
    assert found.length == 2
    assert found.counts["store"] == 2
    assert index_terms("tree-tree").counts["tree"] == 1


def test_a_hash_is_not_split_at_case_and_a_megabyte_without_a_space_is_found_by_the_same_megabyte():
    blob = "aGVsbG8gd29ybGQ" * 70_000
    found = index_terms(blob)
    assert found.length == 1
    assert list(found.counts) == [blob[:MAX_TERM_LENGTH].lower()]
    assert matched(blob, f"begin {blob} end") == [blob.lower()]


@pytest.mark.parametrize(
    ("language", "query", "text"),
    [
        ("en", "running", "it runs"),
        ("en", "dogs", "a dog's life"),
        ("de", "Haus", "viele Häuser"),
        ("de", "Strasse", "die Straße"),
        ("de", "Mueller", "Herr Müller"),
        ("fr", "école", "à l'école"),
        ("fr", "ecole", "les écoles"),
        ("es", "canciones", "una canción"),
        ("it", "arte", "dell’arte"),
        ("pt", "livro", "os livros"),
        ("ru", "книги", "книга"),
        ("ru", "ещё", "еще"),
        ("tr", "istanbul", "İSTANBUL'da"),
        ("fi", "talo", "talossa"),
        ("el", "ΣΟΦΟΣ", "σοφός"),
        ("ar", "الكتاب", "كِتَابٌ"),
        ("ar", "احمد", "أحـمد"),
        ("ar", "2010", "عام ٢٠١٠"),
        ("hi", "किताब", "किताबें"),
        ("fa", "میخواهم", "می\u200cخواهم"),
        ("zh", "数据库", "我们使用数据库。"),
        ("zh", "茶", "喝绿茶的人"),
        ("ja", "東京", "私は東京に住む"),
        ("ja", "ガギ", "ｶﾞｷﾞ"),
        ("ja", "Python3", "言語Python3を使う"),
        ("ko", "학교", "학교에서"),
        ("ko", "한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8"),
        ("th", "นั่ง", "แมวนั่งบนโต๊ะ"),
    ],
)
def test_a_word_is_found_in_its_own_language(language, query, text):
    assert matched(query, text, language) == [group.word for group in query_groups(query, (language,))]


def test_an_accent_may_be_left_out_on_either_side():
    assert matched("resume", "my résumé")
    assert matched("résumé", "my resume")
    assert emitted("été", "xx") == {"été", "ete"}
    assert {"cafés", "cafes"} <= emitted("cafés", "fr")


def test_the_sides_of_an_apostrophe_are_found_whatever_the_documents_language():
    assert emitted("İstanbul'da", "xx") == {"istanbul'da", "istanbul", "da"}
    assert {"école", "ecole"} <= emitted("l’école", "en")
    assert emitted("don't", "xx") == {"don't"}


def test_a_vowel_sign_or_a_letter_of_its_own_is_not_taken_for_an_accent():
    assert not matched("हनद", "हिन्दी", "hi")
    assert not matched("мои", "мой", "xx")


def test_a_query_is_expanded_to_every_language_of_the_store():
    assert set(query_groups("Häuser", ("en", "de"))[0].forms) >= {"häuser", "hauser", "haus"}
    assert query_groups("running", ())[0].forms == ("running",)


def test_a_language_without_a_stemmer_leaves_words_whole():
    assert emitted("running", "xx") == {"running"}


def test_unspaced_text_is_as_many_words_long_as_it_has_bigrams():
    assert index_terms("数据库").counts == {"数据": 1, "数": 1, "据库": 1, "据": 1, "库": 1}
    assert index_terms("数据库").length == 2
    assert [(word.text, word.start, word.end) for word in split_words("a 数据库")] == [
        ("a", 0, 1),
        ("数据", 2, 4),
        ("据库", 3, 5),
    ]


def test_groups_are_distinct_and_stand_in_the_order_asked():
    assert query_groups("The cat, the CAT") == (TermGroup("the", ("the",)), TermGroup("cat", ("cat",)))


def test_find_tells_where_words_stand_that_emit_a_term():
    assert find_terms("Runs: _run_all_ 東京で", {"run", "京"}) == [
        (0, 4, ("run",)),
        (7, 14, ("run",)),
        (17, 19, ("京",)),
    ]


@settings(max_examples=200)
@given(st.text(st.sampled_from(list("ab1Z#+_.'-\u2019\u201c\u2014\u2026 \n\u00a0")), max_size=30))
def test_a_text_with_typographic_marks_is_counted_as_it_is_cut(text: str) -> None:
    by_word = Counter(term for forms in tokenizer.terms_by_word(text) for term in forms)
    assert index_terms(text) == Terms(dict(by_word), len(split_words(text)))
