"""What stands apart from the word that names it: lists, columns, pairs, later turns; each goes by the judge alone."""

import pytest

from scrubjay.redaction import redactor as scrubber
from scrubjay.redaction.redactor import redact_text

# What stands between the marks goes, and by no rule: where nothing is tagged, all of it stays.
LISTS = (
    "New logins after the move:\n- electricity: jenny.f / ‹Candle-Light-0604›\n- tax: 88120377 / ‹Hedgehog!crossing›",
    "### Test accounts\n\n- anna@velolab.example / ‹Speiche-1-rot›\n- ben@velolab.example / ‹Speiche-2-blau›",
    "The API key of OpenWeather for the hut:\n\n‹5aa45cf6a7619da17466dc40d1f6551f›\n\nA thousand calls are free.\n",
    "## Passwords\n\n- laptop: ‹pumpkin-spice-77›\n- tablet: ‹Gletscher!2049›\n",
    "WiFi password\n‹Kuckuck-1887›\n",
    "wifi: Duinroos / ‹zand-in-de-schoenen›",
)
COLUMNS = (
    "title,url,username,password\nShop,shop.example,anna,‹Hedgehog.Lane.12›\nGym,gym.example,bob,‹Leg-Day-4›\n",
    "NAME      PASSWORD\nstaging   ‹Tr0ub4dor-three›\nbackup    ‹Kestrel!88-north›\n",
)
COMMANDS = (
    "$ vault kv get -field=password secret/prod/db\n‹hq-SBn1UmChHPJ92PzYk0›\n$ ls",
    "$ kubectl get secret api-db -o jsonpath='{{.data.password}}' | base64 -d\n‹ALMzzazZId3KXUt4vsUhwEqc›",
)
TALKS = (
    "Ann: what was the password of the projector again?\nBob: let me look\nBob: ‹Regenbogen77›\nAnn: thanks",
    "Hugo : tu te souviens du mdp de la box ?\nLéa : oui\nLéa : ‹Tartiflette_du_92›\nHugo : merci",
    "the router came with user admin and a password on the sticker. I changed it to ‹sit.stay.roll.9over› today",
)
WORDS = (
    "the password I chose is ‹Blue Kettle Sings Twice›. It is on the shelf.",
    "remember that my wifi password is ‹bluebird›",
    "RESTIC_PASSWORD=‹don't panic, bring a towel›\nRESTIC_HOST=a",
    "haslo = ‹Bigos&Barszcz›",
)
STAYS = (
    "The password is required, stored nowhere and changed every month.",
    "Das Passwort ist abgelaufen.",
    "the password is not stored anywhere",
    "## Password rules\n\n- no names of pets\n- at least 10 characters\n- one digit",
    "password:\n  min_length: 12\n  hash: argon2id\nsecret_store: vault\nkeyspace: orders",
    "login with GitHub / Google or sign in / sign up",
    "knowledge of transfer / hand-off with the team, account by account",
    "git@github.com:velolab/shop9.git",
    "DATABASE_URL=postgres://app:${{DB}}@db.example:5432/shop9",
    "Wifi password: ask Ann. The network is called Kestrel_5G.",
    "sku,qty,tracking\nKEY-RING-03,1,1Z2QW3TH937A5DM9MK\nKEY-RING-04,2,1ZVE62JY03KJ4E8QVB",
    "Ann: what is a good password?\nBob: a long one\nBob: seriously\nAnn: thanks",
    "Use `open` with NamedTemporaryFile to read it",
    'type="password" placeholder="at least 12 characters"',
    "Cache restored from key: Linux-node-65c6a8f3e9ebf996e1a39d23a01d7d99523baaa840777d163ff066d529eb3366 (cache hit)",
)


def parted(marked: str) -> tuple[str, str]:
    """Return the text, and it without what stands between the marks."""
    marked = marked.replace("{{", "{").replace("}}", "}")
    pieces = marked.replace("›", "‹").split("‹")
    return "".join(pieces), "\0".join(pieces[::2])


def left(text: str, kinds: str = "password|api-key|token|secret|pin|mailgun-key") -> str:
    """The text with each mark as one character."""
    for kind in kinds.split("|"):
        text = text.replace(f"[secret:{kind}]", "\0")
    return text


def found(marked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is marked goes, and stays where nothing is tagged."""
    text, after = parted(marked)
    assert left(redact_text(text).text) == after
    monkeypatch.setattr(scrubber, "find_by_classifier", lambda *_: iter(()))
    assert left(redact_text(text).text) != after


@pytest.mark.parametrize("marked", LISTS)
def test_secrets_in_lists_and_beside_user_names_are_replaced(
    marked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found(marked, monkeypatch)


@pytest.mark.parametrize("marked", COLUMNS)
def test_secrets_below_a_column_heading_are_replaced(marked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scrubber, "find_by_classifier", lambda *_: iter(()))
    text, after = parted(marked)
    assert left(redact_text(text).text) == after
    monkeypatch.setattr(scrubber, "find_tables", lambda _: iter(()))
    assert left(redact_text(text).text) != after


@pytest.mark.parametrize("marked", COMMANDS)
def test_secrets_printed_by_a_command_are_replaced(marked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found(marked, monkeypatch)


@pytest.mark.parametrize("marked", TALKS)
def test_secrets_named_in_a_later_turn_or_by_what_they_open_are_replaced(
    marked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found(marked, monkeypatch)


@pytest.mark.parametrize("marked", WORDS)
def test_plain_words_that_are_called_a_password_are_replaced(
    marked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found(marked, monkeypatch)


@pytest.mark.parametrize("text", STAYS)
def test_talk_about_passwords_is_kept(text: str) -> None:
    text = text.replace("{{", "{").replace("}}", "}")
    assert redact_text(text).text == text


@pytest.mark.parametrize("marked", LISTS + COLUMNS + COMMANDS + TALKS + WORDS)
def test_marks_are_not_redacted_again(marked: str) -> None:
    once = redact_text(parted(marked)[0]).text
    assert redact_text(once).text == once
    assert once.count("\n") == marked.count("\n")
