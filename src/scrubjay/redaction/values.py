"""Secret values: does a value look like a secret or like a placeholder?

What is written in place of a secret is left alone: ``os.environ[…]``, ``${TOKEN}``, ``<your-key>``, ``xxxx``, a call, a
name, a word of prose.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import AnyStr, Final, NamedTuple

# A random key of 12 letters and digits has 3.1 bits a character or more; words with a number have less.
MIN_ENTROPY = 2.8
# Below these lengths a value is a version, a flag or a word.
MIN_PASSWORD, MIN_KEY = 6, 12
PASSWORD_FORM: Final = re.compile(r"[0-9!#$%&*+@^~]|[a-z][A-Z]|\w[._-]\w")
"""What passwords are made of and prose is not: digits, signs, an inner capital, parts that signs join."""


class SecretSpan(NamedTuple):
    """A secret: where it starts and ends, its kind, and whether its form alone says what it is."""

    start: int
    end: int
    kind: str
    certain: bool


# A value that stands in for a secret says so early; looking further only costs.
_LONGEST_HINT = 128
_FILLER = re.compile(
    rb"example|xxxx|\*\*\*|\.\.\.|your|placeholder|redacted|changeme|change[_-]me|dummy|\[secret:"
    rb"|\[private\]|todo|fixme"
    rb"|insert|replace|sample|random|abcde-|-12345-|secrets?\.[a-z]|environ|getenv|process\.env|import\.meta"
    # Printed by everybody: Aladdin:open sesame of RFC 7617, the token that jwt.io opens with.
    rb"|QWxhZGRpbjpvcGVuIHNlc2FtZQ|eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lI",
    re.IGNORECASE,
)
VARIABLE = re.compile(
    rb"[$%@#&\xa3\xa5]|![a-z][a-z/_-]*\Z|\{|<|//|/(?![a-z0-9+/]{60,}={0,2}\Z)|\./|~/|https?:|op://|arn:aws"
    # What is meant to be read by all, or can be opened where it is kept only: public keys of services, sealed secrets.
    rb"|pk\.eyj|pk_(?:live|test)_|ag[a-d][a-z0-9+/]{80}"
    rb"|none|null|nil|true|false|undefined",
    re.IGNORECASE,
)
# Words joined by . _ - /, each at most with a number at its end: a name in code, a model, a path, no key.
_DIGIT = re.compile(rb"[0-9]")
_SYMBOL = re.compile(rb"[!#$%^&+=@~]")
_WORD = rb"(?:[A-Z]?[a-z]++|[A-Z]++)[0-9]{0,3}+"
NAME_FORM = re.compile(_WORD + rb"(?>(?:[._/:-]++(?:" + _WORD + rb"|[0-9]{1,4}+))*)[._:/-]*+")
# PERSONAL_ACCESS_TOKEN: what to put there, not what is there.
UPPERCASE_NAME = re.compile(rb"[A-Z]+(?:[_-][A-Z]+)+")
# Words joined by signs, as people choose them: seagull-nest, blue.lamp
_JOINED = re.compile(rb"[A-Za-z]{2,24}(?:[._-][A-Za-z]{2,24}){1,7}")
# Words of names and of talk about secrets: db-password, invalid_login, config.value
_TALK = frozenset(
    (
        b"password passwd passwort pass pwd secret secrets token tokens key keys cred creds credential "
        b"credentials user users username name names field fields input form text type hint label new old "
        b"current confirm reset forgot change changed invalid wrong weak strong missing required optional "
        b"error auth login logout test value values string min max length db database env var config "
        b"settings default defaults vault get set is has not self this null none true false request req "
        b"params param args body data opts options props state ctx context kwargs ref file path json yaml "
        b"yml txt sql api url host port example sample here your same incorrect protected "
        b"encrypted forgotten disabled enabled expired correct hidden visible empty stored hashed shared "
        b"unknown random generated policy manager less based only account service server client prod dev "
        b"staging local root admin postgres mysql redis mongodb tls ssl cert reminder unchanged mandatory "
        b"placeholder redacted undefined verification recovery "
    ).split()
)
# Names of procedures and lengths: what is told of a secret, not the secret.
ALGORITHM_NAME = re.compile(
    rb"(?:sha|md|aes|rsa|hmac|argon|bcrypt|pbkdf|scrypt|base|utf|oauth|saml|hs|rs|es|ps|v|iso|rfc|http|tls"
    rb"|ssl|ed|ascii|x)"
    rb"[-_]?[0-9][\w.-]{0,6}|[0-9]+[-+]?[a-z]+|[0-9.,:/+-]+[a-z]{0,3}|[\w.-]+@[\w-]+\.[\w.]+|[\w-]+'\w{1,2}",
    re.IGNORECASE,
)
_PART = re.compile(rb"[._-]")
_CAMEL = re.compile(rb"[a-z]+(?:[A-Z][a-z]+)*[0-9]?")
PLAIN_PASSWORDS = frozenset(
    b"password passwd pass pwd secret user username postgres mysql root admin guest test mongo redis rabbitmq"
    b" string required optional hidden text invalid hashed token".split()
)


def find_positions(data: AnyStr, mark: AnyStr) -> Iterator[int]:
    """Where ``mark`` stands, from the start on."""
    at = data.find(mark)
    while at >= 0:
        yield at
        at = data.find(mark, at + 1)


class PositionIndex:
    """Where each mark stands in a text; what was looked for once is known from then on.

    Most marks stand nowhere. Each is looked for among the text's different words first: a tenth of a long text.
    """

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._known: dict[bytes, tuple[int, ...]] = {}
        self._words: bytes | None = None
        self._letters: frozenset[str] | None = None

    def present(self, marks: Iterable[bytes]) -> list[bytes]:
        """Those of some marks that stand somewhere."""
        known = self._known
        there = []
        for mark in marks:
            at = known.get(mark)
            if at or (at is None and self._may_stand(mark) and self._text.find(mark) >= 0):
                there.append(mark)
            elif at is None:
                known[mark] = ()
        return there

    def spelt(self, text: str, words: Iterable[str]) -> list[str]:
        """Those of some words whose letters beyond ASCII all stand in the text, and whose other parts may."""
        if self._letters is None:
            self._letters = frozenset("".join(set(_BEYOND.findall(text))))
        letters = self._letters
        return [
            word
            for word in words
            if all(letter in letters or letter < "\x80" for letter in word) and self._may_stand(_narrow(word))
        ]

    def abroad(self, text: str, words: Iterable[str]) -> Iterator[tuple[str, int]]:
        """Yield those of some words with letters beyond ASCII that stand in the text, each with where it does."""
        if not text.isascii():
            for word in self.spelt(text, words):
                for at in find_positions(text, word):
                    yield word, at

    def __call__(self, mark: bytes) -> tuple[int, ...]:
        """Where ``mark`` stands, from the start on."""
        known = self._known.get(mark)
        if known is None:
            if not self._may_stand(mark):
                known = self._known[mark] = ()
                return known
            known = self._known[mark] = tuple(find_positions(self._text, mark))
        return known

    def startswith(self, marks: tuple[bytes, ...], at: int) -> bool:
        """Whether one of some marks begins there."""
        return self._text.startswith(marks, at)

    def endswith(self, marks: tuple[bytes, ...], at: int) -> bool:
        """Whether one of some marks ends there."""
        return self._text.endswith(marks, 0, at)

    def _may_stand(self, mark: bytes) -> bool:
        words = self._words
        if words is None:
            words = self._words = b" ".join(set(self._text.translate(_LETTERS).split()))
        return all(part in words for part in _parts(mark))


_LETTERS = bytes(byte if 97 <= byte <= 122 or byte >= 128 else 32 for byte in range(256))
_BEYOND = re.compile("[^\x00-\x7f]+")


@cache
def _narrow(word: str) -> bytes:
    return word.encode("latin-1", "replace").lower()


@cache
def _parts(mark: bytes) -> tuple[bytes, ...]:
    return tuple(mark.translate(_LETTERS).split())


def is_filler(value: bytes) -> bool:
    """Whether a value stands in for a secret: ``xxxx``, ``EXAMPLE``, one character over and over."""
    return len(set(value[-16:])) < 5 or _FILLER.search(value, 0, _LONGEST_HINT) is not None


def is_placeholder(value: bytes) -> bool:
    """Whether it is written in place of a secret; a PIN of two different digits is none."""
    if VARIABLE.match(value) or UPPERCASE_NAME.fullmatch(value) or _FILLER.search(value, 0, _LONGEST_HINT):
        return True
    return len(set(value)) == 1


def is_user_chosen(value: bytes, *, password: bool) -> bool:
    """Whether somebody chose it: what a variable of the environment is set to, words parted by dashes."""
    if is_stand_in(value) or value.lower() in PLAIN_PASSWORDS or value.lower() == value:
        return False
    return password or (len(value) >= MIN_KEY and _DIGIT.search(value) is not None)


def is_joined_words(value: bytes) -> bool:
    """Whether it is words that somebody joined, none of which speaks of a secret: no name of a field or a message."""
    return _JOINED.fullmatch(value) is not None and not (speaks_of_secrets(value) or is_stand_in(value))


def speaks_of_secrets(value: bytes) -> bool:
    """Whether a part of it is a word of names and of talk about secrets."""
    return not _TALK.isdisjoint(part.rstrip(b"0123456789") for part in _PART.split(value.lower()))


def is_stand_in(value: bytes) -> bool:
    """Whether it is a variable, a name in capitals or a filler: what is written in place of a secret."""
    return (
        VARIABLE.match(value) is not None
        or UPPERCASE_NAME.fullmatch(value) is not None
        or is_filler(value)
        or value.lower() in PLAIN_PASSWORDS
    )


def is_secret(value: bytes, *, password: bool, quoted: bool) -> bool:
    """Whether what is assigned is a secret. The dear questions come last."""
    if VARIABLE.match(value) or not (_strong if password else looks_random)(value, quoted):
        return False
    return not UPPERCASE_NAME.fullmatch(value) and not is_filler(value)


def looks_random(value: bytes, quoted: bool = False) -> bool:
    """Whether it looks drawn by lot: letters and digits mixed, and neither a name nor a number."""
    if len(value) < MIN_KEY or value.isdigit() or not _DIGIT.search(value) or NAME_FORM.fullmatch(value):
        return False
    return bits_per_character(value) >= MIN_ENTROPY


def _strong(value: bytes, quoted: bool) -> bool:
    """Whether it can be a password and is no word of prose or code."""
    if len(value) < MIN_PASSWORD - 2 * quoted or value.lower() in PLAIN_PASSWORDS:
        return False
    if not quoted and b"." in value and NAME_FORM.fullmatch(value) and speaks_of_secrets(value):
        return False
    if _DIGIT.search(value) or _SYMBOL.search(value):
        return not value.isdigit() or len(value) >= MIN_PASSWORD
    if not quoted or len(value) < 8:
        return False
    return is_joined_words(value) or not (_CAMEL.fullmatch(value) or NAME_FORM.fullmatch(value))


def bits_per_character(value: bytes) -> float:
    """Bits a character."""
    size = len(value)
    return -math.fsum(n / size * math.log2(n / size) for n in (value.count(byte) for byte in set(value)))
