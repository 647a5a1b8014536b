"""Secret values: does a value look like a secret or like a placeholder?

Placeholders are ``os.environ[…]``, ``${TOKEN}``, ``<your-key>``, ``xxxx``, a call, a name, a word of prose.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterator
from typing import AnyStr, NamedTuple

# A random key of 12 letters and digits has 3.1 bits a character or more; words with a number have less.
MIN_ENTROPY = 2.8
# Below these lengths a value is a version, a flag or a word.
MIN_PASSWORD, MIN_KEY = 6, 12


class SecretSpan(NamedTuple):
    """Span of a secret, its kind, and whether its form alone gives it away."""

    start: int
    end: int
    kind: str
    certain: bool


# A placeholder says so early.
_HINT_LENGTH = 128
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
    # Public keys of services; sealed secrets, which their cluster alone can open.
    rb"|pk\.eyj|pk_(?:live|test)_|ag[a-d][a-z0-9+/]{80}"
    rb"|none|null|nil|true|false|undefined",
    re.IGNORECASE,
)
_DIGIT = re.compile(rb"[0-9]")
_SYMBOL = re.compile(rb"[!#$%^&+=@~]")
_WORD_FORM = rb"(?:[A-Z]?[a-z]++|[A-Z]++)[0-9]{0,3}+"
# Words joined by . _ - /, each with a number at most: a name in code, a model, a path.
NAME_FORM = re.compile(_WORD_FORM + rb"(?>(?:[._/:-]++(?:" + _WORD_FORM + rb"|[0-9]{1,4}+))*)[._:/-]*+")
# PERSONAL_ACCESS_TOKEN
UPPERCASE_NAME = re.compile(rb"[A-Z]+(?:[_-][A-Z]+)+")
# Words joined by signs, as people choose them: seagull-nest, blue.lamp
_JOINED_WORDS = re.compile(rb"[A-Za-z]{2,24}(?:[._-][A-Za-z]{2,24}){1,7}")
# Words of names and messages about secrets: db-password, invalid_login, config.value
_SECRET_WORDS = frozenset(
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
_PART_SEPARATOR = re.compile(rb"[._-]")
_CAMEL_CASE = re.compile(rb"[a-z]+(?:[A-Z][a-z]+)*[0-9]?")
PLAIN_PASSWORDS = frozenset(
    b"password passwd pass pwd secret user username postgres mysql root admin guest test mongo redis rabbitmq"
    b" string required optional hidden text invalid hashed token".split()
)


def find_positions(data: AnyStr, mark: AnyStr) -> Iterator[int]:
    at = data.find(mark)
    while at >= 0:
        yield at
        at = data.find(mark, at + 1)


def trim_span(text: str, start: int, end: int, characters: Container[str]) -> tuple[int, int]:
    while start < end and text[start] in characters:
        start += 1
    while start < end and text[end - 1] in characters:
        end -= 1
    return start, end


def is_filler(value: bytes) -> bool:
    """Tell whether a value is a filler: ``xxxx``, ``EXAMPLE``, one character over and over."""
    return len(set(value[-16:])) < 5 or _FILLER.search(value, 0, _HINT_LENGTH) is not None


def is_placeholder(value: bytes) -> bool:
    """Tell whether a value is a placeholder; a PIN of two distinct digits is not one."""
    if VARIABLE.match(value) or UPPERCASE_NAME.fullmatch(value) or _FILLER.search(value, 0, _HINT_LENGTH):
        return True
    return len(set(value)) == 1


def is_user_chosen(value: bytes, *, password: bool) -> bool:
    """Tell whether a person chose the value of an environment variable: words joined by dashes."""
    if is_stand_in(value) or value.lower() in PLAIN_PASSWORDS or value.lower() == value:
        return False
    return password or (len(value) >= MIN_KEY and _DIGIT.search(value) is not None)


def is_joined_words(value: bytes) -> bool:
    """Tell whether a value is joined words, none of which speaks of a secret as names of fields and messages do."""
    return _JOINED_WORDS.fullmatch(value) is not None and not (speaks_of_secrets(value) or is_stand_in(value))


def speaks_of_secrets(value: bytes) -> bool:
    """Tell whether a part of it is a word of names and messages about secrets."""
    parts = (part.rstrip(b"0123456789") for part in _PART_SEPARATOR.split(value.lower()))
    return not _SECRET_WORDS.isdisjoint(parts)


def is_stand_in(value: bytes) -> bool:
    return (
        VARIABLE.match(value) is not None
        or UPPERCASE_NAME.fullmatch(value) is not None
        or is_filler(value)
        or value.lower() in PLAIN_PASSWORDS
    )


def is_secret(value: bytes, *, password: bool, quoted: bool) -> bool:
    """Tell whether an assigned value is a secret; expensive checks come last."""
    if VARIABLE.match(value) or not (_is_password if password else looks_random)(value, quoted):
        return False
    return not UPPERCASE_NAME.fullmatch(value) and not is_filler(value)


def looks_random(value: bytes, quoted: bool = False) -> bool:
    """Tell whether it looks generated: letters and digits mixed, and neither a name nor a number."""
    if len(value) < MIN_KEY or value.isdigit() or not _DIGIT.search(value) or NAME_FORM.fullmatch(value):
        return False
    size = len(value)
    counts = (value.count(byte) for byte in set(value))
    return -math.fsum(n / size * math.log2(n / size) for n in counts) >= MIN_ENTROPY


def _is_password(value: bytes, quoted: bool) -> bool:
    """Tell whether it can be a password and is no word of prose or code."""
    if len(value) < MIN_PASSWORD - 2 * quoted or value.lower() in PLAIN_PASSWORDS:
        return False
    if not quoted and b"." in value and NAME_FORM.fullmatch(value) and speaks_of_secrets(value):
        return False
    if _DIGIT.search(value) or _SYMBOL.search(value):
        return not value.isdigit() or len(value) >= MIN_PASSWORD
    if not quoted or len(value) < 8:
        return False
    return is_joined_words(value) or not (_CAMEL_CASE.fullmatch(value) or NAME_FORM.fullmatch(value))
