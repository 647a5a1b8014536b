from __future__ import annotations

import importlib.util
import json
import random
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from scrubjay.embeddings.static import (
    MAX_CACHED_UNITS,
    TABLE_SHA256,
    TOKENIZER,
    BpeTokenizer,
    compile_table,
    load_table,
)
from scrubjay.errors import ProviderError

SPEC = importlib.util.find_spec("wordllama")
assert SPEC is not None
assert SPEC.submodule_search_locations is not None
JSON = Path(SPEC.submodule_search_locations[0]) / TOKENIZER
LIBRARY = Tokenizer.from_str(JSON.read_text(encoding="utf-8"))
TABLE = load_table(JSON, TABLE_SHA256, None)
VOCABULARY = sorted(LIBRARY.get_vocab())
ODD = [
    "▁",
    "²",
    "²).",
    "<s>",
    "</s>",
    "<unk>",
    "<0x0A>",
    "\n",
    "\t",
    "\r\n",
    "  ",
    "    ",
    "\x00",
    "é",
    "é",
    "ß",
]
ODD += [
    "漢字",
    "の",
    "😀",
    "👨‍👩‍👧",
    "\u200b",
    "\ufeff",
    "naïve",
    "don't",
    "a_b",
    "HTTP/2",
    "x²y",
    "1234567",
    "ﬁ",
    "ДА",
    "العربية",
]


def library_ids(texts: list[str]) -> list[list[int]]:
    return [e.ids for e in LIBRARY.encode_batch(texts, add_special_tokens=False)]


def test_ids_equal_the_library_on_four_thousand_random_texts() -> None:
    rng = random.Random(7)
    texts = []
    for _ in range(4000):
        parts = [
            rng.choice(ODD)
            if rng.random() < 0.2
            else rng.choice(VOCABULARY).replace("▁", " ")
            if rng.random() < 0.7
            else chr(
                rng.choice(
                    [rng.randrange(32, 127), rng.randrange(160, 0x3000), rng.randrange(0x1F300, 0x1FA00)]
                )
            )
            for _ in range(rng.randrange(1, 30))
        ]
        texts.append("".join(parts))
    bpe = BpeTokenizer(TABLE)
    assert [bpe(text).tolist() for text in texts] == library_ids(texts)


@settings(max_examples=300)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_ids_equal_the_library_on_any_text(text: str) -> None:
    assert BpeTokenizer(TABLE)(text).tolist() == library_ids([text])[0]


def test_a_long_unbroken_line_is_merged_exactly_and_in_reasonable_time() -> None:
    rng = random.Random(3)
    text = "".join(rng.choices("ABCDEFabcdef", k=20_000)) + "=" * 3000
    assert BpeTokenizer(TABLE)(text).tolist() == library_ids([text])[0]


def test_runs_of_one_character_are_shortened_and_yet_exact_whatever_stands_around_them() -> None:
    rng = random.Random(11)
    marks = [token.replace("▁", " ") for token in VOCABULARY if not any(c.isalnum() for c in token)]
    texts = []
    for _ in range(3000):
        before, behind = ("".join(rng.choices(marks, k=rng.randrange(3))) for _ in range(2))
        run = rng.choice(" ./=_*#-") * rng.randrange(40, 200)
        texts.append(f"{before}{run}{behind}{rng.choice(['', 'word', '|', run])}")
    bpe = BpeTokenizer(TABLE)
    assert [bpe(text).tolist() for text in texts] == library_ids(texts)


def test_an_empty_text_has_no_tokens() -> None:
    assert BpeTokenizer(TABLE)("").tolist() == []


def test_a_lone_surrogate_is_read_as_a_question_mark_byte() -> None:
    assert BpeTokenizer(TABLE)("a\ud800").tolist() == [*library_ids(["a"])[0], TABLE.byte_ids[ord("?")]]


def test_words_forgotten_by_the_bounded_memory_get_the_same_ids_again() -> None:
    bpe = BpeTokenizer(TABLE)
    before = bpe("a remembered word").tolist()
    for start in range(0, MAX_CACHED_UNITS + 2000, 1000):
        bpe(" ".join(f"{chr(97 + n % 26)}{'abcdefghij'[n % 10]}!{n}" for n in range(start, start + 1000)))
    assert bpe("a remembered word").tolist() == before


def test_the_compiled_table_is_kept_private_and_read_back(tmp_path: Path) -> None:
    load_table(JSON, TABLE_SHA256, tmp_path)
    (kept,) = tmp_path.iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    # The JSON is not looked at again: a path that does not exist will do.
    again = load_table(tmp_path / "gone.json", TABLE_SHA256, tmp_path)
    assert BpeTokenizer(again)("read back").tolist() == BpeTokenizer(TABLE)("read back").tolist()


@pytest.mark.parametrize("damage", [b"", b"scrubjay-bpe-01\n", b"x" * 508_072])
def test_a_torn_kept_table_is_compiled_anew(tmp_path: Path, damage: bytes) -> None:
    load_table(JSON, TABLE_SHA256, tmp_path)
    (kept,) = tmp_path.iterdir()
    sound = kept.read_bytes()
    kept.write_bytes(damage)
    assert (
        BpeTokenizer(load_table(JSON, TABLE_SHA256, tmp_path))("anew").tolist()
        == BpeTokenizer(TABLE)("anew").tolist()
    )
    assert kept.read_bytes() == sound


def test_another_vocabulary_is_refused_with_the_command_that_mends_it(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="expected 000000000000") as caught:
        load_table(JSON, "0" * 64, tmp_path)
    assert caught.value.hint.startswith("pip install")
    assert list(tmp_path.iterdir()) == []


def test_a_vocabulary_whose_merges_cross_words_is_refused(tmp_path: Path) -> None:
    raw = json.loads(JSON.read_bytes())
    raw["model"]["vocab"]["of▁the"] = 31_999
    other = tmp_path / "tokenizer.json"
    other.write_text(json.dumps(raw), encoding="utf-8")
    with pytest.raises(ProviderError, match="not the byte-fallback BPE"):
        compile_table(other)


@pytest.mark.parametrize("content", ["", "[]", '{"model": {}}', "not json"])
def test_a_file_that_is_no_tokenizer_is_named(tmp_path: Path, content: str) -> None:
    other = tmp_path / "tokenizer.json"
    other.write_text(content, encoding="utf-8")
    with pytest.raises(ProviderError, match="is not a tokenizer file"):
        compile_table(other)
