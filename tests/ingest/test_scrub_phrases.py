"""Words and digits that open something, and the same words and digits where they open nothing."""

import pytest

from scrubjay.ingest.scrub import scrub

SEED = "basket river pottery angle quiz lunar velvet cabin ozone drift mammal crew"
MORE = "tunnel anchor pepper violin meadow copper jungle saddle ribbon planet harbor candle"

FOUND = (
    ("seed-phrase", "wallet restored from: {}", SEED),
    ("seed-phrase", "mnemonic = '{}'", SEED),
    ("seed-phrase", "Seed phrase (24 Wörter): {}", f"{SEED} {MORE}"),
    ("seed-phrase", "my recovery words: {}", SEED),
    ("seed-phrase", "seed phrase: {} and keep it off the disk", SEED),
    ("password", 'The passphrase of the backup is "{}".', "nine clever badgers dig"),
    ("pin", "PIN: {}", "771204"),
    ("pin", "my SIM pin is {} by the way", "8842"),
    ("pin", "Die PIN lautet {}.", "5520"),
    ("pin", "PIN für die Karte: {}", "0391"),
    ("recovery-codes", "2FA backup codes: {}", "5164 9249, 0612 6354, 3725 2340"),
    ("recovery-codes", "recovery codes: {}", "c136a790 0bcb7f22 429fbacb"),
)
STAYS = (
    "recovery phrase: write the twelve words down on paper and keep them somewhere safe",
    "the seed of the plant: water the soil every other morning until green leaves show and the root holds",
    "use the word list: abandon ability able about above absent absorb abstract absurd abuse access accident",
    f"Keywords: {SEED}",
    f"keyphrase extraction, phrases: {SEED}",
    "Seeds to buy: carrot bean pea corn radish leek onion garlic chard kale beet turnip",
    "seed order: carrot bean pea corn radish leek onion garlic chard kale beet turnip celery",
    f"the seed words of the test are {'many words ' * 20}",
    "the passphrase is asked for by 'ssh-add' only",
    "pin: 13",
    "Die PIN ist sechsstellig.",
    "the pin is 4.3 mm long and the pin is 2500 mm away",
    "the spin is 4071 and the pinned version is 2026",
    "the gate code is 1234",
    "zip code is 90210, the exit code is 1045",
    "backup codes are printed twice",
)


@pytest.mark.parametrize(("kind", "text", "secret"), FOUND)
def test_words_and_digits_that_open_something_go(kind: str, text: str, secret: str) -> None:
    assert scrub(text.format(secret)).text == text.format(f"[secret:{kind}]")


@pytest.mark.parametrize("text", STAYS)
def test_words_and_digits_that_open_nothing_stay(text: str) -> None:
    assert scrub(text).text == text
