"""Phrases: the places of words and digits that open something: seed phrases, passphrases, recovery codes.

None of them has a form that tells it: the words are words, the digits a number. What they are is said just before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scrubjay.ingest.scrub_values import Places, Span, stands_for_nothing, talk

# Words of a list (BIP 39) that has none of the words which bind a sentence: as many as a checksum allows, and hardly
# one twice. More of them in a row than twenty-four are a list of something else.
_ONE: Final = rb"(?:[0-9]{1,2}[.)][ \t]?)?[a-z]{3,8}"
_WORDS: Final = rb"((?:" + _ONE + rb"[ \t\n,]{1,3}){11,40}" + _ONE + rb")(?![a-z])"
_SEED: Final = re.compile(
    rb"[a-z]{0,8}(?:[^\n.:=\[\]]{0,80}?(?:\b(?:is|ist|from|was|lautet)\b:?|[:=]|\n)|)[ \t\n]{0,4}[\"'`]?"
    + _WORDS
)
_SEEDS: Final = (b"phrase", b"mnemonic", b"seed", b"wallet", b"words")
_WHICH: Final = re.compile(rb"(?:seed|recovery|backup|secret|mnemonic|wallet|12|24|twelve|four)[- ]?\Z")
"""What stands before "words" where they are those: a note's keywords are none."""
_COUNTS: Final = (12, 15, 18, 21, 24)
_TWICE: Final = 2
"""Words that may come twice in a phrase: of 2,048 two of 24 are the same once in eight phrases."""
_BINDING: Final = frozenset(
    b"the and for are was were from not but its his her their our has had been who how why where these those"
    b" der die das und ein eine ist nicht mit von auf den dem les des une est que los las por con"
    b" write down keep".split()
)
_QUOTED: Final = re.compile(
    rb"phrase(?:[^\n.:=\"'`]{0,40}?(?:\b(?:is|ist|was)\b|[:=])|)[ \t]{1,4}([\"'`])([^\"'`\n]{8,128})\1(?!["
    rb" \t]*[+%(])"
)
_ENTRY: Final = rb"(?:[-*][ \t]{1,3}|[0-9]{1,2}[.)][ \t]{1,3})?"
_CODES: Final = re.compile(
    rb"codes?[^\n:]{0,40}:?[ \t\r\n]{0,4}("
    rb"(?:" + _ENTRY + rb"[a-z0-9]{4,8}-[a-z0-9]{4,8}(?![\w-])[ \t\r\n,]{0,3}){2,20}"
    rb"|(?:" + _ENTRY + rb"[0-9]{4}[ -][0-9]{4}(?:[ \t\r\n,]{1,3}|\Z)){2,20}"
    rb"|(?:" + _ENTRY + rb"(?=[a-z]{0,9}[0-9])[a-z0-9]{6,10}(?:[ \t\r\n,]{1,3}|\Z)){2,20})"
)
_SPARE: Final = re.compile(
    rb"(?:recovery|backup|scratch|emergency|2fa|one-time|wiederherstellungs|notfall|einmal|ersatz"
    rb"|sicherungs)[ -]?\Z"
)
# "codes de secours", "códigos de respaldo": in other languages it is said behind the word.
_OF_SPARE: Final = re.compile(
    rb"c(?:odes?|\xf3digos?|odici)[ ](?:de|di|do|da)[ ]"
    rb"(?:secours|r\xe9cup\xe9ration|recupero|backup|riserva|respaldo|recupera\w*|emerg\w*|seguran\w*"
    rb"|seguridad|reserva)"
)
TALK: Final = 2
"""Words of talk about secrets from which on a sentence speaks of a passphrase and is none."""
_DIGIT: Final = re.compile(rb"[0-9]")

_NUMBER: Final = (
    rb"[ \t]{0,4}[\"'`*]{0,3}([0-9]{4,8})(?![0-9]|[.,:/-][0-9]|[ \t]?(?:mm|cm|ms|px|kb|mb|%|\xb0))"
)
_SAID: Final = (
    rb"[^\n.!?;:=0-9\[\]]{0,32}?(?:\b(?:is|are|was|to|ist|war|auf|lautet|est|es)\b:?|[:=])" + _NUMBER
)
# What is sent to somebody who logs in; the code of a door says no such thing.
_ONCE: Final = re.compile(
    rb"(?:verification|confirmation|security|one-time|log-?in|sign-in|2fa|otp|mfa|sms"
    rb"|best\xe4tigungs|sicherheits|anmelde)[ -]?\Z"
)
_SENT: Final = re.compile(rb"code" + _SAID)
_TOLD_WORDS: Final = re.compile(
    rb"phrase(?:[ \t]{0,2}[:=]|[ \t](?:is|ist|lautet|est|es|era|was)\b:?)[ \t]{1,4}"
    rb"((?:[a-z\xdf-\xff]{2,16} ){3,9}[a-z\xdf-\xff]{2,16})(?=[.]?[ \t]*(?:[\r\n]|\Z))"
)


def _means_one(low: bytes, noun: bytes, at: int) -> bool:
    """Tell a seed phrase from seeds of plants, phrases that are keys of a text, and a note's keywords."""
    if noun == b"words":
        return _WHICH.search(low, max(0, at - 12), at) is not None
    return not low.startswith(noun + b"s", at) and not low.endswith(b"key", 0, at)


def _seed_end(words: bytes) -> int:
    """Return where a seed phrase at the beginning of some words ends, 0 where there is none."""
    found = []
    for word in re.finditer(rb"[a-z]+", words):
        if word[0] in _BINDING:
            break
        found.append(word)
    distinct = len({word[0] for word in found})
    return found[-1].end() if len(found) in _COUNTS and distinct >= len(found) - _TWICE else 0


def phrased(low: bytes, places: Places) -> Iterator[Span]:
    """The words and digits that open something; ``low`` is the text in lower case, in Latin-1."""
    for noun in places.present(_SEEDS):
        for at in places(noun):
            match = _SEED.match(low, at + len(noun))
            if match and _means_one(low, noun, at) and (end := _seed_end(match[1])):
                yield Span(match.start(1), match.start(1) + end, "seed-phrase", False)
    for at in places(b"phrase"):
        if low.endswith(b"pass", 0, at):
            yield from _passphrase(low, at)
    for at in places(b"code"):
        yield from _code(low, at)


def _passphrase(low: bytes, at: int) -> Iterator[Span]:
    """Words in quotes, or words to the end of the line of which hardly one speaks of secrets."""
    match = _QUOTED.match(low, at)
    if match and not stands_for_nothing(match[2]) and b" " in match[2]:
        yield Span(match.start(2), match.end(2), "password", False)
    match = _TOLD_WORDS.match(low, at)
    if match and sum(talk(word) for word in match[1].split()) < TALK:
        yield Span(match.start(1), match.end(1), "password", False)


def _code(low: bytes, at: int) -> Iterator[Span]:
    """A code that was sent to somebody who logs in, and codes kept for the day that a second factor is lost."""
    if _ONCE.search(low, max(0, at - 16), at) and (match := _SENT.match(low, at)):
        yield Span(match.start(1), match.end(1), "one-time-code", False)
    spare = _SPARE.search(low, max(0, at - 20), at) or _OF_SPARE.match(low, at)
    match = _CODES.match(low, at) if spare else None
    if match and _DIGIT.search(match[1]):
        yield Span(match.start(1), match.start(1) + len(match[1].rstrip()), "recovery-codes", False)
