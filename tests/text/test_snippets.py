"""Snippets show the passage that matched, whole and within their limit."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.errors import InputError
from scrubjay.text.normalize import CUT_MARK
from scrubjay.text.snippets import best_sentences, best_snippet, contains_phrase, find_highlights
from scrubjay.text.tokenizer import query_groups

FILLER = "Nothing of note happened on that day, and nobody wrote it down.\n"
ANY_TEXT = st.text(st.sampled_from("ab c.\n日本。 é\u0301👩\u200d👧🇩🇪x_y"), max_size=200)


@pytest.mark.parametrize("cut", [best_snippet, best_sentences])
@given(content=ANY_TEXT, limit=st.integers(1, 60))
@settings(max_examples=200, deadline=None)
def test_a_snippet_is_a_slice_of_the_content_within_the_limit(cut, content, limit):
    found = cut(content, query_groups("b 日本 x_y"), limit)
    assert len(found.text) <= limit
    assert 0 <= found.start <= found.end <= len(content)
    if limit > 2:
        assert found.text.strip(CUT_MARK) == content[found.start : found.end].strip(CUT_MARK)


def test_a_short_content_is_its_own_snippet_without_marks():
    found = best_snippet("\n  short note\n", query_groups("note"))
    assert (found.text, found.start, found.end) == ("  short note", 1, 13)


def test_the_window_holds_the_most_query_words_not_the_most_repetitions():
    content = (
        FILLER * 20 + "store store store store\n" + FILLER * 20 + "The memory has a store.\n" + FILLER * 20
    )
    found = best_snippet(content, query_groups("memory store"), 200)
    assert "The memory has a store." in found.text
    assert found.text.startswith(CUT_MARK)
    assert found.text.endswith(CUT_MARK)


def test_a_word_with_more_weight_decides_between_two_windows():
    content = FILLER * 20 + "Only alfa here.\n" + FILLER * 20 + "Only beta here.\n" + FILLER * 20
    asked = query_groups("alfa beta")
    assert "alfa" in best_snippet(content, asked, 200).text
    assert "beta" in best_snippet(content, asked, 200, weights={"alfa": 1.0, "beta": 5.0}).text


def test_of_two_windows_with_the_same_words_the_one_where_they_stand_together_wins():
    content = FILLER * 20 + "alfa\n" + FILLER * 3 + "alfa beta\n" + FILLER * 20
    assert 0 < best_snippet(content, query_groups("alfa beta"), 500).text.index("alfa beta") < 200


def test_a_match_by_a_stem_of_the_documents_language_counts():
    content = FILLER * 20 + "Viele Häuser stehen leer.\n" + FILLER * 20
    assert "Häuser" in best_snippet(content, query_groups("Haus", ("de",)), 150, language="de").text


def test_a_cut_falls_on_a_line_then_a_sentence_then_a_word():
    lines = "One came. Two left\n" * 40
    for limit in range(120, 140):
        by_line = best_snippet(lines + "The needle is here\n" + lines, query_groups("needle"), limit)
        assert by_line.text.startswith(CUT_MARK + "One came.")
        assert by_line.text.endswith("Two left" + CUT_MARK)
    prose = FILLER.replace("\n", " ")
    by_sentence = best_snippet(prose * 20 + "The needle is here. " + prose * 20, query_groups("needle"), 300)
    assert by_sentence.text.startswith(CUT_MARK + "Nothing of note")
    assert by_sentence.text.endswith("wrote it down." + CUT_MARK)
    by_word = best_snippet(
        "lorem ipsum dolor " * 50 + "needle " + "sit amet elit " * 50, query_groups("needle"), 100
    )
    assert set(by_word.text.strip(CUT_MARK).split()) <= {
        "lorem",
        "ipsum",
        "dolor",
        "needle",
        "sit",
        "amet",
        "elit",
    }


def test_unspaced_text_is_cut_after_its_full_stop():
    content = "今日は何もなかった。" * 30 + "針はここにある。" + "今日は何もなかった。" * 30
    found = best_snippet(content, query_groups("針"), 60)
    assert "針はここにある。" in found.text
    assert found.text.startswith(CUT_MARK + "今日")
    assert found.text.endswith("。" + CUT_MARK)


@pytest.mark.parametrize("drawn", ["👩\u200d👩\u200d👧", "🇩🇪", "👍🏽", "e\u0301\u0323"])
def test_a_cut_never_parts_what_is_drawn_as_one_character(drawn):
    for limit in range(20, 20 + len(drawn)):
        found = best_snippet("needle" + drawn * 100, query_groups("needle"), limit)
        assert (found.end - len("needle")) % len(drawn) == 0


def test_nothing_matched_shows_the_beginning():
    found = best_snippet(FILLER * 20, query_groups("absent"), 100)
    assert found.start == 0
    assert found.text == FILLER.strip() + CUT_MARK


def test_a_match_at_the_very_end_uses_the_whole_room_before_it():
    content = FILLER * 20 + "needle"
    found = best_snippet(content, query_groups("needle"), 300)
    assert found.end == len(content)
    assert len(found.text) > 200


def test_a_match_longer_than_the_limit_is_cut():
    found = best_snippet("x" * 500, query_groups("x" * 500), 50)
    assert len(found.text) <= 50


def test_a_limit_below_one_is_refused():
    with pytest.raises(InputError, match="0 characters"):
        best_snippet("text", (), 0)


def test_highlights_are_the_words_that_matched():
    content = "Runs of MemoryStore; nothing else runs_on."
    spans = find_highlights(content, query_groups("run store"))
    assert [content[a:b] for a, b in spans] == ["Runs", "MemoryStore", "runs_on"]


def test_highlights_of_overlapping_bigrams_are_one_span():
    assert find_highlights("我们使用数据库。", query_groups("数据库")) == [(4, 7)]
    assert find_highlights("anything", ()) == []


@pytest.mark.parametrize(
    ("content", "phrase"),
    [
        ("The quick  brown\nfox", "Quick brown FOX"),
        ("open memory_store now", "memory store"),
        ("a memory store", "memory_store"),
        ("see src/foo/bar.py:12", "foo/bar.py"),
        ("don’t panic", "don't panic"),
        ("黒猫がいる", "猫"),
        ("私は東京都に住む", "東京都"),
        ("ｶﾞｷﾞ", "ガギ"),
        ("a -> b", "->"),
        ("Cafe\u0301 noir", "café noir"),
    ],
)
def test_a_phrase_is_found_as_words_in_a_row(content, phrase):
    assert contains_phrase(content, phrase)


@pytest.mark.parametrize(
    ("content", "phrase"),
    [
        ("the brown quick fox", "quick brown"),
        ("quick red brown", "quick brown"),
        ("the latest news", "test"),
        ("running shoes", "run"),
        ("東の京", "東京"),
        ("cafe noir", "café noir"),
        ("anything", ""),
        ("a b", "->"),
    ],
)
def test_a_phrase_is_not_found_in_other_words_or_another_order(content, phrase):
    assert not contains_phrase(content, phrase)


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        # Whole sentences around the match, those that follow first.
        (
            f"{FILLER * 3}We met. The blue kettle is in the shed. It leaks a little. {FILLER * 3}",
            "…We met. The blue kettle is in the shed. It leaks a little.…",
        ),
        # A line that was wrapped ends no sentence.
        (
            f"{FILLER}Whoever looks for it should know by now that the blue\nkettle is in the shed.\n{FILLER}",
            "…Whoever looks for it should know by now that the blue\nkettle is in the shed.…",
        ),
        # Front matter is left out, but not where it matches.
        (
            f"---\ndate: 2026-01-01\n---\nThe kettle is blue.\n{FILLER * 2}",
            f"…The kettle is blue.\n{FILLER.strip()}…",
        ),
        (
            f"---\ntags: [kettle]\n---\nIt is in the shed, behind the door of the garden.\n{FILLER * 2}",
            "---\ntags: [kettle]\n---\nIt is in the shed, behind the door of the garden.…",
        ),
        # Of a sentence that is too long the best window.
        (
            f"{FILLER}# Kettle\n{'where the blue one is, nobody knows, ' * 9}",
            "…where the blue one is, nobody knows, where the blue one is, nobody knows, where the blue one is,…",
        ),
        # A heading alone says nothing.
        (
            f"# Kettle\n{'where the old one is, nobody knows, ' * 9}",
            "# Kettle\nwhere the old one is, nobody knows, where the old one is, nobody knows, where the old one…",
        ),
        # Nothing matches: the beginning.
        (
            f"One. Two. {FILLER * 3}",
            "One. Two. Nothing of note happened on that day, and nobody wrote it down.…",
        ),
    ],
)
def test_a_short_snippet_is_whole_sentences(content, wanted):
    assert best_sentences(content, query_groups("blue kettle"), 100).text == wanted


REASONS = (
    "1. Mantis raus. Grund: {}\n2. Kessler gets the job, capped for three years.\n",
    "**Mantis rejected.** {}\nKessler gets the job, capped for three years.\n",
    "Mantis rejected.\n\nBecause {}\n\nKessler gets the job, capped for three years.\n",
    "Rejected:\n- Mantis, {}\n",
)


@pytest.mark.parametrize("cut", [best_snippet, best_sentences])
@pytest.mark.parametrize("point", REASONS)
def test_a_sentence_keeps_the_short_one_that_it_explains(cut, point):
    reason = "the reference in Gliwice had three outages over Easter and nobody picked up the phone."
    content = FILLER * 5 + point.format(reason) + FILLER * 5
    for limit in range(150, 260, 10):
        found = cut(content, query_groups("outages phone reference"), limit).text
        assert found.startswith(CUT_MARK)
        assert "Rejected:" in found or "Mantis r" in found


class Sliced(str):
    """A text that counts the characters of its slices."""

    read = 0

    def __getitem__(self, key):
        part = super().__getitem__(key)
        self.read += len(part)
        return part


@pytest.mark.parametrize("cut", [best_snippet, best_sentences])
@pytest.mark.parametrize("line", ["\n", "\r\n", "|---|\n", "| | |\n", "> \n", "! "])
def test_lines_without_words_are_read_in_linear_time(line, cut):
    """Counted in characters, not seconds."""
    for text in (line * 2_000 + "the needle\n" + FILLER, "It began.\n" + line * 2_000 + "the needle\n"):
        content = Sliced(text)
        assert "needle" in cut(content, query_groups("needle"), 300).text
        assert content.read < 20 * len(text)
