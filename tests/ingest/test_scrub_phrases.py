"""Words and digits that open something, and the same words and digits where they open nothing."""

import pytest

from scrubjay.ingest.scrub import scrub

pytestmark = pytest.mark.usefixtures("rules_alone")

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
    ("pin", "card number 21804 00312, PIN {}", "9035"),
    ("pin", "Ricordami che il PIN del bancomat è {}", "8054"),
    ("pin", "Запомни, пин-код карты {}, вот", "7741"),
    ("pin", "暗証番号は{}です", "4092"),
    ("pin", "what's the PIN of the card?\nBob: {}", "6180"),
    ("pin", "de pincode van mijn telefoon {} is nieuw", "290617"),
    ("pin", "screen time passcode {}, he must not know", "3344"),
    ("seed-phrase", "paper wallet, 24 words in this order\n{}", f"{SEED} {MORE}"),
    ("seed-phrase", "Here's my seed phrase for the Ledger, in case I lose the paper: {}", SEED),
    ("recovery-codes", "Codes de secours de ma boîte :\n{}", "6978 0966\n1701 1568\n9983 1093"),
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
    "o código do portão é 1357 e a senha ninguém sabe",
    "we pin the post at 1500 metres",
    "PIN codes of Indian towns are 560001-560999",
)


@pytest.mark.parametrize(("kind", "text", "secret"), FOUND)
def test_words_and_digits_that_open_something_go(kind: str, text: str, secret: str) -> None:
    assert scrub(text.format(secret)).text == text.format(f"[secret:{kind}]" + "\n" * secret.count("\n"))


@pytest.mark.parametrize("text", STAYS)
def test_words_and_digits_that_open_nothing_stay(text: str) -> None:
    assert scrub(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        "my phone PIN is {} and the one for the tablet {}.",
        "El PIN de mi móvil es {} y el de la tarjeta SIM {}.",
        "Meine EC-Karte hat die PIN {} und die vom Handy ist {}.",
    ],
)
def test_the_other_number_of_a_sentence_about_pins_goes_too(text: str) -> None:
    assert scrub(text.format("2846", "0391")).text == text.format("[secret:pin]", "[secret:pin]")
