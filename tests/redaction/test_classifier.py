"""The tagger: what its networks see of tokens, where they look at all, and how their weights are kept."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bench.tagger.train import pack_weights
from scrubjay.redaction.classifier import (
    BUCKETS,
    CONVOLUTION_REACH,
    FORM_FEATURES,
    MAX_CACHED_SCREENED,
    MAX_TOKENS,
    POSITION_FEATURES,
    RULE_COLUMNS,
    TOKEN,
    Tagger,
    TokenFeatures,
    TokenSpans,
    Windows,
    load_tagger,
    token_buckets,
    token_form,
    token_positions,
    unpack_weights,
)

PROSE = "We walked along the river in the afternoon and talked about the harvest of the year before. "
LETTER = (
    "Dear all, the wifi of the cabin is Fjordlys and you get in with kaffe-og-vafler-7, see you on Friday.\n"
)


def tokens(text: str) -> list[str]:
    return TOKEN.findall(text)


def plain(count: int) -> np.ndarray:
    return np.zeros((count, POSITION_FEATURES + RULE_COLUMNS), np.float32)


def test_a_text_is_tokenized_into_words_signs_and_line_ends() -> None:
    assert tokens("pässwort: a_1-b\n密码是abc ของ") == [
        "pässwort",
        ":",
        "a_1",
        "-",
        "b",
        "\n",
        "密",
        "码",
        "是",
        "abc",
        "ของ",
    ]


@given(st.text(max_size=300))
def test_every_character_is_in_one_token_and_every_token_has_features(
    text: str,
) -> None:
    found = list(TOKEN.finditer(text))
    strokeless = text.replace("\u1680", "")  # white space that has a stroke, within the letters
    assert "".join(match[0] for match in found).replace("\n", "").replace("\u1680", "") == "".join(
        strokeless.split()
    )
    for token in {match[0] for match in found}:
        own = token_buckets(token)
        assert 0 < len(own) <= MAX_TOKENS
        assert all(0 <= bucket < BUCKETS for bucket in own)
        assert len(token_form(token)) == FORM_FEATURES
        assert np.isfinite(token_form(token)).all()
    placed = TokenSpans.of(text)
    assert list(placed.tokens) == [match[0] for match in found]
    assert list(zip(placed.starts.tolist(), placed.ends.tolist(), strict=True)) == [m.span() for m in found]
    assert token_positions(placed).shape == (len(found), POSITION_FEATURES)


def test_tokens_of_a_part_have_offsets_in_the_whole() -> None:
    text = "the pin\u3000of bank\u1680three\ud800 is 4071"
    part = TokenSpans.of(text, 8, 21)
    assert [text[at:end] for at, end in zip(part.starts, part.ends, strict=True)] == list(part.tokens)
    assert part.tokens[0] == "of"
    assert part.tokens[part.touched(11, 12)] == ["bank"]


def test_words_that_share_their_beginning_share_buckets() -> None:
    shared = set(token_buckets("Passwort")) & set(token_buckets("passwords"))
    assert len(shared) > 5
    assert not shared & set(token_buckets("herring"))


@given(
    st.lists(st.text("abcdefgyzABFGXÄß059__", min_size=1, max_size=26), min_size=30, max_size=60, unique=True)
)
def test_features_of_many_tokens_are_those_of_each(names: list[str]) -> None:
    features = TokenFeatures.of([*names, "HTTPServer", "\n", "__init__", "a_b_c_d_e_f_g_h_i_jklm"])
    assert len(features.forms) == len(names) + 4
    ends = [*features.firsts.tolist(), len(features.buckets)]
    for at, token in enumerate([*names, "HTTPServer", "\n", "__init__", "a_b_c_d_e_f_g_h_i_jklm"]):
        buckets = token_buckets(token)
        assert features.buckets[ends[at] : ends[at + 1]].tolist() == buckets, token
        assert features.roots[at] == np.sqrt(np.float32(len(buckets)))
        assert (features.forms[at] == np.array(token_form(token), np.float32)).all(), token


def test_positions_encode_spaces_line_and_repetition() -> None:
    text = "one  two\nseven seven"
    made = token_positions(TokenSpans.of(text))
    wanted = [[0, 0, 0, 0], [1, 1, 5 / 80, 0], [0, 0, 0, 0], [0, 0, 0, 0], [1, 0, 6 / 80, 1]]
    assert np.allclose(made, wanted)


def test_distant_tokens_do_not_matter() -> None:
    near, tagger = tokens(LETTER), load_tagger()
    before, after = tokens(PROSE * 4), tokens("Ship 40 crates to pier 9, invoice follows. " * 8)
    assert min(len(before), len(after)) > CONVOLUTION_REACH
    first = slice(len(before), len(before) + len(near))
    (one,) = tagger.tag(before + near + before, plain(2 * len(before) + len(near)), [first])
    whole = after[:9] + before + near + before + after
    second = slice(9 + len(before), 9 + len(before) + len(near))
    assert np.allclose(one, tagger.tag(whole, plain(len(whole)), [second])[0], rtol=1e-4, atol=1e-4)


def test_tagging_a_core_equals_tagging_everything() -> None:
    letter, prose, tagger = tokens(LETTER), tokens(PROSE * 4), load_tagger()
    for some in (letter + prose, prose + letter + prose, prose + letter):
        assert len(some) > 2 * CONVOLUTION_REACH
        at = some.index("kaffe")
        marks = plain(len(some))
        (whole,) = tagger.tag(some, marks, [slice(0, len(some))])
        for first in (max(0, at - 8), at):
            part = slice(first, at + 3)
            assert np.allclose(tagger.tag(some, marks, [part])[0], whole[part], rtol=1e-4, atol=1e-4)


def test_texts_that_are_read_together_do_not_see_each_other() -> None:
    parts, tagger = (
        [tokens(text) for text in (LETTER, PROSE, "4071", LETTER[30:], PROSE * 2 + LETTER)],
        load_tagger(),
    )
    joined = [token for part in parts for token in part]
    windows = Windows.of([len(part) for part in parts])
    cores = [
        slice(int(first), int(first) + len(part)) for first, part in zip(windows.firsts, parts, strict=True)
    ]
    together = tagger.tag(joined, plain(len(joined)), cores, windows)
    promising = tagger.promising(joined, windows)
    for part, core, odds in zip(parts, cores, together, strict=True):
        (alone,) = tagger.tag(part, plain(len(part)), [slice(0, len(part))])
        assert np.allclose(odds, alone, rtol=1e-4, atol=1e-4)
        assert (promising[core] == tagger.promising(part)).all()


@given(st.lists(st.text("ab1 \n\u3000", min_size=1, max_size=60).filter(str.strip), min_size=1, max_size=5))
def test_positions_do_not_depend_on_other_windows(texts: list[str]) -> None:
    parts = [TokenSpans.of(text) for text in texts]
    windows = Windows.of([len(part.tokens) for part in parts])
    joined = TokenSpans(
        [token for part in parts for token in part.tokens],
        np.concatenate([part.starts for part in parts]),
        np.concatenate([part.ends for part in parts]),
    )
    alone = np.concatenate([token_positions(part) for part in parts])
    assert (token_positions(joined, windows) == alone).all()


def test_screening_passes_a_letter_with_a_password_and_hardly_any_prose() -> None:
    assert load_tagger().promising(tokens(PROSE * 4)).mean() < 0.05
    promised = load_tagger().promising(tokens(LETTER))
    assert "kaffe" in {token for token, there in zip(tokens(LETTER), promised, strict=True) if there}


def test_token_caches_are_bounded() -> None:
    tagger = Tagger(load_tagger()._weights)
    first = tagger.promising(["the", "pin", "is", "4071"])
    for at in range(0, MAX_CACHED_SCREENED + 8000, 8000):
        tagger.promising([f"w{number}" for number in range(at, at + 8000)])
    assert len(tagger._screening._indexes) <= MAX_CACHED_SCREENED
    assert (tagger.promising(["the", "pin", "is", "4071"]) == first).all()


def test_packed_weights_are_nearly_equal() -> None:
    chance = np.random.default_rng(3)
    weights = {
        "table": chance.normal(size=(2, 40, 8)).astype(np.float32),
        "bias": chance.normal(size=(2, 8)).astype(np.float32),
    }
    again = unpack_weights(pack_weights(weights))
    assert again.keys() == weights.keys()
    assert (again["bias"] == weights["bias"]).all()
    largest = np.abs(weights["table"]).max(axis=1, keepdims=True)
    assert (np.abs(again["table"] - weights["table"]) <= largest / 127 / 2 * 1.001).all()
    assert len(pack_weights(weights)) < 40 * 8 * 2 * 4


def test_the_packaged_weights_fit_the_features() -> None:
    held = load_tagger()._weights
    nets = len(held["out"])
    assert held["table"].shape[:2] == (nets, BUCKETS)
    assert held["word"].shape[1] == held["table"].shape[2] + FORM_FEATURES
    assert held["marks"].shape[1] == POSITION_FEATURES + RULE_COLUMNS
    assert held["worth"].shape == (BUCKETS + FORM_FEATURES, 4)
