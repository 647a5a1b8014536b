"""Languages are guessed from scripts and function words."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.text.language import SAMPLE_LENGTH, detect_language, function_words
from scrubjay.text.tokenizer import SNOWBALL_LANGUAGES, stem_word

SENTENCES = {
    "en": "The cat sits on the table and does not want to go out.",
    "de": "Die Katze sitzt auf dem Tisch und schläft.",
    "fr": "Le chat est assis sur la table avec son ami.",
    "es": "El gato está sentado en la mesa con su amigo.",
    "it": "Il gatto è seduto sul tavolo e non si muove, come sempre.",
    "pt": "O gato está sentado na mesa e não quer sair, mas ele está bem.",
    "nl": "De kat zit op de tafel en wil niet naar buiten.",
    "sv": "Katten sitter på bordet och vill inte gå ut.",
    "da": "Katten sidder på bordet og vil ikke gå ud, hvad er det?",
    "no": "Katten sitter på bordet og vil ikke gå ut nå, hvordan er det?",
    "fi": "Kissa istuu pöydällä ja se ei halua mennä ulos, mutta hän on iloinen.",
    "pl": "Kot siedzi na stole i nie chce wyjść, bo jest zimno, ale może później.",
    "cs": "Kočka sedí na stole a nechce jít ven, protože je zima, ale je to tak.",
    "ro": "Pisica stă pe masă și nu vrea să iasă, pentru că este frig.",
    "hu": "A macska az asztalon ül és nem akar kimenni, mert hideg van.",
    "tr": "Kedi masanın üzerinde oturuyor ve dışarı çıkmak için bir neden yok.",
    "id": "Kucing itu duduk di atas meja dan tidak mau keluar karena hujan.",
    "ru": "Кошка сидит на столе и не хочет выходить, это хорошо.",
    "uk": "Кіт сидить на столі і не хоче виходити.",
    "bg": "Котката седи на масата и не иска да излиза навън, защото вън е студено.",
    "sr": "Мачка седи на столу и не жели да изађе.",
    "ar": "القطة تجلس على الطاولة ولا تريد الخروج",
    "fa": "گربه روی میز نشسته است و نمی\u200cخواهد بیرون برود",
    "he": "החתול יושב על השולחן",
    "el": "Η γάτα κάθεται στο τραπέζι.",
    "hi": "बिल्ली मेज पर बैठी है",
    "zh": "我们决定使用数据库。",
    "ja": "猫はテーブルの上に座っています。",
    "ko": "고양이가 테이블 위에 앉아 있다.",
    "th": "แมวนั่งอยู่บนโต๊ะ",
}


@pytest.mark.parametrize(("code", "text"), SENTENCES.items())
def test_one_sentence_is_enough_to_tell_its_language(code, text):
    assert detect_language(text) == code


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12:30 -> 99.9 %",
        "def merge(x, y):\n    z = x.copy()\n    z.update(y)\n    return z",
        "for k, v in s.items():\n    o, s, z, k = v",
        "Los Angeles, Los Angeles, Los Angeles",
        "Café, naïve and Müller are words in an English note.",
    ],
)
def test_without_evidence_for_another_the_language_is_english(text):
    assert detect_language(text) == "en"


def test_a_chinese_page_that_quotes_japanese_stays_chinese():
    assert (
        detect_language("我们在东京的店里看到了这个名字，写的是「さくら」，我们决定使用它作为数据库的名字。")
        == "zh"
    )


def test_only_the_beginning_is_read():
    assert (
        detect_language(
            "The cat is on the table. " * (SAMPLE_LENGTH // 25) + "Die Katze ist auf dem Tisch. " * 1000
        )
        == "en"
    )


@given(st.text(max_size=50))
@settings(max_examples=60, deadline=None)
def test_any_text_has_a_language(text):
    assert len(detect_language(text)) == 2


def test_every_language_named_has_a_stemmer():
    import Stemmer

    assert set(SNOWBALL_LANGUAGES.values()) <= set(Stemmer.algorithms())


def test_a_word_without_a_stemmer_is_its_own_stem():
    assert stem_word("running", "en") == "run"
    assert stem_word("running", "zh") == "running"


def test_no_small_words_are_known_of_a_language_without_a_list():
    assert function_words("ja") == frozenset()
    assert "the" in function_words("en")
