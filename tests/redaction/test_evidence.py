"""Only a secret's form, or a sentence that says so, makes a secret: names, words, paths and numbers stay."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.redaction.redactor import redact_text

STAYS = (
    "remember: the staging cluster is kestrel-stg-3 now, stg-2 is gone",
    "The roster of the token thread: teamx0x, @mk_87, l33tcoder and xXdragonXx.",
    "Curry-Howard and Chain-of-Thought, said twice.",
    "It was a man-in-the-middle attack, as in Diffie-Hellman-Merkle without a key.",
    "| English | German |\n|---|---|\n| key schedule | Schlüsselplan |\n| man-in-the-middle | Mittelsmann |",
    "Run `oracle-vouch-chain.py` and then scripts/make-keys.sh in /srv/data/app-2.",
    "Founded in 1987, moved in 2004, sold in 2019; zip code 10021.",
    "Upgrade from v1.20.3-rc2 to 2.0.1; commit 3f2a9c81d0, id 6f9db1bd-a1cc-4d3f-b643-2c195262464e.",
    "The password is required and stored in 1Password; ask Jean-Luc Petrov about the token.",
    "Files are encrypted with ChaCha20-Poly1305 and SHA-256.",
    "SESSION_COOKIE_SECRET=replace-me",
    "The weekly pass: £20.50",
    "The code name of the release is Blue-Falcon-7.",
    "Kup masło z mleka Mlekovita-82, proszę.",
    "My pin code: 560001, Karnataka",
    "Pin code is 110001 for New Delhi.",
    "See [[00-Project-Overview-And-Getting-Started-v2]] first.",
    "See docs/2026-team-plan-note-list.md first.",
    "The branch note-team-plan-work-2026 is merged.",
)
SAYS_SO = (
    ("the wifi password is {}.", "correct-horse-battery"),
    ("passphrase: {}", "blue kettle sings at noon"),
    ("my PIN is {}", "1987"),
    ("Das Passwort lautet {}", "Sommerregen"),
    ("la contraseña es {}", "tortilla-sin-cebolla"),
    ("El PIN es {}", "4471"),
    ("A jelszavam: {}", "galuska77fozelek"),
    ("Hesla k wifi: {}", "bramborak-15x"),
    ("Uusi salasana on {}", "mustikka-4x"),
    ("Ο κωδικός πρόσβασης είναι {}", "thalassa-2031x"),
    ("Lozinka za wifi: {}", "cevapi-more9"),
    ("Passordet er {}", "brunost-og-vaffel2"),
    ("密码是 {}", "Yun#nan2024"),
    ("パスワードは {} です", "hanako1952"),
    ("Cookie: sessionid={}", "9qhxt2ew9xugatzxqnhi9b4783krwldy"),
    ("curl -u nina:{} https://x.example", "Gr4niteFox"),
    ("postgres://app:{}@db/x", "s3cret-Kestrel"),
    ("mysql -h db1 -u root -p{} shop", "Bramble77x"),
    ("Zugangsdaten: admin / {}", "Herbst!laub7"),
)

ORDINARY = (
    "My favourite cupping form is the SCA one from {year}, not the new CVA.",
    "The unlock fee is {number} euros.",
    "The code freeze is {day}.",
    "The combination of the blend is {parts}.",
    "The pin count is {number}.",
    "PIN {number} is the test pad.",
    "Mira scored {number} on the pin board.",
    "Please pin numpy to {number} builds.",
    "The pin header was changed in {year}.",
    "In my opinion the spinning wheel from {year} is the nicest.",
    "We went shopping in {year} and again in {year}.",
    "The enamel pin was made in {year} for the fair.",
    "We kept the same pin code from 1999 to {year}.",
    "The unlock costs {number} points.",
    "The unlock level is {number}.",
    "The unlock price was {number} dollars last summer.",
    "The code review is {day}.",
    "Code coverage is {number} lines of the parser.",
    "The code base has {number} lines.",
    "The code size is {number} bytes.",
    "The pin spacing is {number} um.",
    "The pin badge is {number} in the catalogue.",
    "The combination of flour, rye and spelt is {parts}.",
    "A good combination of milk and oats: {parts}.",
    "Mapping Europe began in {year}, the tapping of maples in {year}.",
    "The coding course is {number} euros.",
    "Let us pin torch to {number} for now.",
    "The bowling alley has a pin machine from {year}.",
    "The keypad was $ {number}.",
    "Pin {number} is connected to ground.",
    "The pin board is {number} mm wide.",
    "The unlock took {number} seconds.",
    "Please pin the nightly toolchain to {day} in CI.",
    "Pin the numpy version to {year} before the release.",
    "We pin our base image to {number}.",
    "The memory-safe code is {number} LOC and the rest C.",
)
OPENED = (
    "The till code is {}.",
    "The unlock code of the till is {}.",
    "The safe opens with {}.",
    "The shed code for the summer is {}.",
    "Our door code is now {}, the cellar is open.",
    "The combination of the padlock is {}.",
    "The PIN of my card is {}.",
    "The pin for the alarm was changed to {}.",
    "Please set the PIN the tenants use to {}.",
    "The new PIN my bank gave me was reset to {}.",
    "My PIN is {}, Mumbai branch.",
    "My PIN code: {}, keep it.",
)


@pytest.mark.parametrize("text", STAYS)
def test_values_without_form_or_context_are_kept(text: str) -> None:
    assert redact_text(text).text == text


@pytest.mark.parametrize(("text", "secret"), SAYS_SO)
def test_a_value_that_a_sentence_calls_the_secret_is_replaced(text: str, secret: str) -> None:
    assert secret not in redact_text(text.format(secret)).text


@pytest.mark.parametrize("text", ORDINARY)
def test_years_amounts_and_counts_beside_a_label_are_kept(
    text: str,
) -> None:
    chance = random.Random(4)
    for year in range(1985, 2027):
        said = text.format(
            year=year,
            number=chance.randrange(1000, 9999),
            day=f"2026{chance.randrange(1, 13):02}{chance.randrange(10, 28)}",
            parts="-".join(str(chance.randrange(2, 7) * 10) for _ in "abc"),
        )
        assert redact_text(said).text == said


@pytest.mark.parametrize("text", OPENED)
def test_the_code_of_a_lock_is_replaced(text: str) -> None:
    for number in (1987, 2033, 3201, 4471, 8675, 447012):
        assert str(number) not in redact_text(text.format(number)).text


PIECES = st.sampled_from(
    [word for text in STAYS for word in text.split(" ")]
    + [text.format(secret) for text, secret in SAYS_SO]
    + ["[secret:password]", "[private]", "<private>x</private>", "password:", "\n", "|", " / ", "the code is"]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(PIECES, max_size=12))
def test_redacting_twice_changes_nothing(pieces: list[str]) -> None:
    once = redact_text(" ".join(pieces)).text
    assert redact_text(once).text == once


def test_numbers_of_a_table_are_kept_unless_a_pin_is_named() -> None:
    chance = random.Random(3)
    words = (
        "memory token session pass code owner harbour ferry key search index reader turn login fence".split()
    )
    rows = [
        f"| {chance.choice(words)} {chance.choice(words)} | {chance.choice(words)} | {chance.randrange(1000, 99999)} |"
        for _ in range(400)
    ]
    table = "| name | kind | number |\n| --- | --- | --- |\n" + "\n".join(rows) + "\n"
    direct = re.compile(r"(?:code|login|key|pass|token) \| [0-9]+ \|$")
    lost = [
        row
        for row, now in zip(table.split("\n"), redact_text(table).text.split("\n"), strict=True)
        if row != now and not direct.search(row)
    ]
    assert lost == []
    results = "| test | result | ms |\n| --- | --- | --- |\n" + "".join(
        f"| {chance.choice(words)} | pass | {chance.randrange(1000, 9999)} |\n" for _ in range(200)
    )
    assert redact_text(results).counts == {}
    doors = "| door | PIN |\n| --- | --- |\n| cellar | 4471 |\n| attic | 9036 |\n"
    assert redact_text(doors).counts == {"pin": 2}


@pytest.mark.parametrize(
    "before",
    ["# Seed the database", "The recovery phrase is kept elsewhere.", "## Wallet words", "Login and key:"],
)
def test_a_paragraph_below_a_word_for_a_secret_is_kept(before: str) -> None:
    said = (
        "harbour ferry leaves when tide turns over again after lunch every winter "
        "sunday while crew sleeps below"
    )
    text = f"{before}\n\n{said}.\n\nThe crew wakes at seven and has bread.\n"
    assert redact_text(text).text == text
