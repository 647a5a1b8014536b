"""What a text is shown as: nothing that steers or is not seen, and every script, emoji and flag as it is written."""

from __future__ import annotations

import json
import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.text.display import escape_json, escape_markup, prefix_lines, single_line, strip_control

ANY = st.text(st.characters(codec=None))
WRITTEN = {
    "a family": "👩‍👩‍👧‍👦 went",
    "a skin": "👩🏽‍🚀",
    "a heart and a flag of two": "❤️‍🔥 🏳️‍🌈",
    "a key": "1️⃣ #️⃣",
    "a flag with tags": "🏴󠁧󠁢󠁥󠁮󠁧󠁿🏴󠁧󠁢󠁳󠁣󠁴󠁿🏴󠁧󠁢󠁷󠁬󠁳󠁿",
    "Persian": "می‌خواهم خانه‌ها",
    "Hindi": "क्‍ष र्‌य",
    "Sinhala": "ශ්‍රී ලංකා",
    "an ideograph's variant": "葛\U000e0100城",
    "code": "if a < b:\n\treturn [x | y]  # naïve",
    "Hebrew, Arabic, Thai, Korean": "שלום مرحبا สวัสดี 한국어",
}
UNSEEN = {
    "zero width": "pa\u200bss\u2060wo\ufeffrd",
    "joiners between letters": "pa\u200dss\u200cword",
    "tags": "pass\U000e0041\U000e0042word",
    "tags behind a flag": "pass🏴\U000e0078\U000e0079\U000e007fword",
    "variations of letters": "p\ufe00a\ufe01s\U000e0101s\U000e01efword",
    "many variations of one": "pass\ufe0f\ufe0e\ufe0fword",
    "bidi": "\u202epassword\u202c\u2066\u2069\u200e\u061c",
    "soft hyphen": "pass\xadword",
    "filler": "pass\u3164word\uffa0",
    "escapes": "\x1b[31mpass\x1b]0;title\x07\x1b(word\x9b\x00\x7f",
}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_a_script_or_an_emoji_needs_stays(name: str) -> None:
    assert strip_control(WRITTEN[name]) == WRITTEN[name]


@pytest.mark.parametrize("name", UNSEEN)
def test_what_is_not_seen_or_is_obeyed_goes(name: str) -> None:
    assert strip_control(UNSEEN[name]).replace("🏴", "").replace("(", "") == "password"


@settings(max_examples=200)
@given(ANY)
def test_whatever_is_shown_is_seen_and_stays_where_it_is_put(text: str) -> None:
    shown = strip_control(text)
    assert strip_control(shown) == shown or "\x1b" in text
    assert not [one for one in shown if unicodedata.category(one) in ("Cc", "Cs") and one not in "\n\t"]
    assert len(single_line(text).splitlines()) <= 1
    assert all(each[:1] == ">" for each in prefix_lines(text, "> ").splitlines())
    assert not set("<\ufe64\uff1c") & set(escape_markup(text))
    assert json.loads(escape_json(json.dumps(text, ensure_ascii=False))) == text


def test_an_unterminated_sequence_hides_nothing() -> None:
    assert strip_control("\x1b]0;all of this is said\x1b[") == "]0;all of this is said["


def seconds(text: str) -> float:
    began = time.process_time()
    prefix_lines(text, "> ")
    escape_markup(text)
    return time.process_time() - began


@pytest.mark.parametrize(
    "piece",
    [
        "\x1b[",
        "\x1b[0",
        "\x1b]",
        "\x1b]0 ",
        "\u200d",
        "x\u200d",
        "\ufe0f\u200d😀",
        "\r",
        "\u2028 ",
        "<",
        "🏴\U000e0067",
    ],
)
def test_a_text_of_four_times_the_length_takes_about_four_times_as_long(piece: str) -> None:
    """At one of the sizes: a quadratic rule takes sixteen times as long at each of them."""
    seen = []
    for size in (12_000, 24_000, 48_000):
        short = (piece * size)[:size]
        turns = [(seconds(short), seconds(short * 4)) for _ in range(3)]
        once, often = (min(each) for each in zip(*turns, strict=True))
        seen.append((once, often))
        if often < 10 * once + 0.01:
            return
    raise AssertionError(f"seconds, and seconds of four times as many characters: {seen}")
