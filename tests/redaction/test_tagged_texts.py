"""What rules do not know is tagged: told in passing, in any language, anywhere in a text of any length."""

import random

import pytest

from scrubjay.models.ids import ID_DIGITS
from scrubjay.models.records import CATEGORY_PREFIX, ENTITY_PREFIX, TIER_PREFIXES
from scrubjay.redaction import classifier
from scrubjay.redaction import redactor as scrubber
from scrubjay.redaction.redactor import redact_text

# What stands between the marks goes, and stays where nothing is tagged.
TOLD = (
    "Getting in: the key safe is left of the porch, turn the dials to ‹8742› and pull down the flap.",
    "- hall: alarm must be switched off within 30 s, code ‹112890› then the green button",
    "Marco: what's the password for the shared canva?\nAylin: ‹pinselStrich_2024›\nMarco: thx, I'm in",
    "Das Passwort der Oberfläche haben wir geändert, es ist ‹Kachelofen-Igel-93›. WLAN heißt weiterhin Dachsbau.",
    "L'alarme se coupe avec ‹1043› suivi de la touche dièse, tu as trente secondes.",
    "Stugan: larmet stängs av med ‹0309› och OK. Elskåpet sitter i hallen.",
    "Kod do logowania: ‹572705›. Nie podawaj go nikomu.",
    "boekhouding: inloggen met marieke en dan ‹Fietsbel!acht›, niet doorgeven",
    "現地のキーボックスは ‹2948› です。鍵は元に戻してください。",
)
STAYS = (
    "We take bus 4071 at 8:15 and change at the town hall, platform 12.",
    "The commit 4be19f0c27d1 broke the build of 1045 tests, see issue 8742.",
    "Zimmer 4071 im zweiten Stock, Frühstück bis 10 Uhr, Parkplatz 17.",
    "Your password must have twelve characters and must not be one of the last five.",
    "for token in tokens: counts[token] += 1",
    "Ship it to Rua do Souto 12, post code: 4000-322, Braga.",
    "Nuno's login is teamx0x and the host is kestrel-stg-3.",
    "The passphrase hint is Curry-Howard; the locker code hint: blue heron.",
)


def parted(marked: str) -> tuple[str, str]:
    pieces = marked.replace("›", "‹").split("‹")
    return "".join(pieces), pieces[1]


def off(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(scrubber, "find_by_classifier", lambda *_: iter(()))


@pytest.mark.parametrize("marked", TOLD)
def test_a_secret_mentioned_in_passing_is_replaced(marked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, secret = parted(marked)
    assert secret not in redact_text(text).text
    off(monkeypatch)
    assert secret in redact_text(text).text


@pytest.mark.parametrize("text", STAYS)
def test_numbers_names_and_talk_about_passwords_are_kept(text: str) -> None:
    assert redact_text(text).text == text


def test_a_secret_is_found_anywhere_in_a_long_text() -> None:
    line = "We walked along the river and talked about the harvest of last year.\n"
    text, secret = parted(TOLD[0])
    size = classifier.PIECE_CHARACTERS
    for before in (0, size - 150, size - 100, size - 20, size, size + 5, 2 * size - 100):
        filled = (line * (before // len(line) + 1))[:before] + "\n"
        got = redact_text(filled + text + "\n" + line * 20).text
        assert secret not in got, before
        assert got.startswith(filled)
        assert got.endswith(line * 20)


def test_an_endless_line_is_tagged() -> None:
    text, secret = parted(TOLD[1])
    words = "the harvest of the year before was better and nobody knew why, "
    assert secret not in redact_text(words * 2000 + text + " " + words * 2000).text


def test_a_rules_secret_keeps_its_kind_and_span() -> None:
    text = "db: postgres://shop:gAL47D1qXIaSyZPaE1pu1l@10.4.0.12/shop and the alarm goes off with 1043 and the hash key"
    got = redact_text(text)
    assert "postgres://shop:[secret:postgres-password]@10.4.0.12/shop" in got.text
    assert "1043" not in got.text


def test_the_kind_distinguishes_pins_tokens_and_passwords() -> None:
    kinds = {marked: redact_text(parted(marked)[0]).counts for marked in TOLD}
    assert kinds[TOLD[0]] == {"pin": 1}
    assert kinds[TOLD[3]] == {"password": 1}


def test_tagging_is_idempotent() -> None:
    for marked in TOLD:
        once = redact_text(parted(marked)[0]).text
        assert redact_text(once).text == once


def test_an_unpromising_text_is_not_tagged(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    tag = classifier.Tagger.tag
    monkeypatch.setattr(classifier.Tagger, "tag", lambda *given: asked.append(1) or tag(*given))
    redact_text("The meeting is on Friday and everybody brings something to eat.\n" * 50)
    assert not asked
    redact_text(parted(TOLD[0])[0])
    assert asked


def test_a_blank_text_is_unchanged() -> None:
    assert redact_text(" \t ").text == " \t "
    assert redact_text("").text == ""


@pytest.mark.parametrize("value", ["128000", "29-Apr-2022", "2026-11-23"])
def test_round_numbers_and_dates_are_no_secrets(value: str) -> None:
    text = "You get in with {}, ask for Lena."
    assert redact_text(text.format(value)).text == text.format(value)
    dated = "---\ndate: 9999-12\n---\n# Eclipse\n\nThe sun went dark over the harbour.\n"
    assert redact_text(dated).text == dated
    assert "kaffe#og-vafler7" not in redact_text(text.format("kaffe#og-vafler7")).text


def test_a_word_beside_a_mark_is_no_secret() -> None:
    text = "the code for the gate is [secret:pin], the invoice no. 4471, total 120.50"
    assert redact_text(text).text == text


def test_final_signs_belong_to_a_password_and_a_full_stop_does_not() -> None:
    got = redact_text("boekhouding: inloggen met marieke en dan Fietsbel!acht!!. Niet doorgeven.").text
    assert "!" not in got
    assert got.endswith(". Niet doorgeven.")


@pytest.mark.parametrize(
    "text",
    [
        "The user's code phrase is blue bunny.",
        "remember this: my code phrase is golden heron",
        "The code name of the release is Silver Pike.",
    ],
)
def test_a_code_phrase_is_kept(text: str) -> None:
    assert redact_text(text).text == text


STAFF = "| Name | Department | Email | Room | Phone |\n|---|---|---|---|---|\n" + "\n".join(
    f"| {name} | Sales | {name.lower()}@corp.example | B{137 + 11 * number} | 555-{1033 + 617 * number} |"
    for number, name in enumerate(("Ann", "Ben", "Cleo", "Dora", "Emil", "Fay", "Gus", "Hal"))
)
BOARD = "Pin;Signal;Colour\n1;3V3;red\n2;5V;orange\n3;SDA;blue\n6;GND;black\n14;TX;green\n15;RX;white\n"
SHORTCUTS = "Key          Action\nCtrl+S       save\nF5           reload\ndd           delete it\n"
ORDERS = "Order,Customer no.,Article,Qty\n" + "\n".join(
    f"INV-{20417 + 7 * number},{88123 + 31 * number},HB-{4410 + number}-M8,{3 + number}"
    for number in range(12)
)


@pytest.mark.parametrize("text", [STAFF, BOARD, SHORTCUTS, ORDERS])
def test_an_ordinary_list_is_unchanged(text: str) -> None:
    assert redact_text(text).text == text


@pytest.mark.parametrize("prefix", [*TIER_PREFIXES.values(), ENTITY_PREFIX, CATEGORY_PREFIX])
def test_memory_ids_are_kept(prefix: str) -> None:
    chance = random.Random(1)
    for _ in range(300):
        own = f"{prefix}{chance.getrandbits(4 * ID_DIGITS):0{ID_DIGITS}x}"
        text = f"## Lesson\n\n<!-- scrubjay:{own} -->\n\nThe heron nests in the willow; the password is in {own}.\n"
        assert redact_text(text).text == text
