"""Dialogue: secrets of a turn that only the turns before it give away.

"wifi password?" and then "rotkehlchen-7": a value is a secret if an earlier turn asks for a password, a PIN, a lock's
code or a key, if it has such a form, and if at most a few words of answering precede it. `calls_secret` is the other
direction: "that was my password" says it of the turn before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from scrubjay.redaction.evidence import (
    COMPOUND,
    EDGE_CHARACTERS,
    HASH_FORM,
    LOCK,
    MIXED_FORM,
    NEVER_SECRET,
    SecretWords,
    find_cues,
    find_marks,
    find_names,
    has_random_part,
)
from scrubjay.redaction.values import NAME_FORM, is_placeholder, trim_span

CONTEXT_TURNS: Final = 2
"""Turns before one that are read with it."""
TAIL_CHARACTERS: Final = 400
"""Characters of each of them; a question is at the end."""
HEAD_CHARACTERS: Final = 400
"""Characters of a turn that are read with them; an answer is at the beginning."""
SHORT_TURN_WORDS: Final = 8
"""Words of a turn between question and answer: "one moment", "ok"."""
MIN_LOG_ODDS: Final = -3.0
"""Log odds of the tagger below which a value is no secret, whatever was asked."""
MAX_PASSWORD_TURN: Final = 160
"""Characters of a turn that is only a password."""
_SENTENCE_END: Final = re.compile(r"[.!?](?=\s|\Z)|[。！？؟\n]|;(?=\s*\Z)|:(?=\s*\Z)")
_QUESTION_END: Final = re.compile(r"[?？؟:]\s*\Z|;\s*\Z|か[。\s]*\Z")
_QUESTION: Final = re.compile(
    r"\W*(?:(?:hey|hi|ok|and|und|et|y|e|so|sorry|please|bitte)\W+)?"
    r"(?:what'?s?|which|wie|was|welche\w{0,2}|quel(?:le)?|c'est quoi|cu[áa]l|qu[ée]|qual|wat|welke?|jak\w{1,3}"
    r"|ak[ée]|mi|mik[äa]"
    r"|vad|hvad|hva|care|koja|који|koj[ei]|ποι\w{2}|как\w{2,3}|як\w{2,3})\b",
    re.IGNORECASE,
)
_REQUEST: Final = re.compile(
    r"\b(?:asks? (?:you )?for|needs?|wants?|requires?|(?:re)?send|paste|give|tell|enter|type|provide|share|have"
    r"|remember"
    r"|brauche|braucht|schick\w{0,3}|gib|sag|nenn\w{0,2}|(?:re)?donnes?|envoies?|passes?|dime|da|manda\w{0,2}"
    r"|p[áa]sa(?:me|s)?"
    r"|dammi|dimmi|me d[áa]|stuur|geef|podaj|prześlij|pošli|napiš|küld\w{0,3}|megírod|anna|skicka|ge|daj|zadej"
    r"|пришли|скинь|дай|надішли)\b",
    re.IGNORECASE,
)
_CODE_NAME: Final = re.compile(
    r".*(?:code|kod|combination|unlock|keypad|código|コード|код|κωδικ|clave|senha|رمز|קוד).*", re.IGNORECASE
)
_KEY_NAME: Final = re.compile(
    r"\W*(?:keys?|tokens?|secrets?|schlüssel|clé|ключ|токен|kl[ií]č|klucz|密钥|令牌)\W*\Z", re.IGNORECASE
)
_NETWORK: Final = re.compile(r"(?:wi-?fi|wlan|wpa2?|network|router)[ -]\Z", re.IGNORECASE)
_ASKS_ABOUT_SECRET: Final = re.compile(
    r"\b(?:who|whose|where|when|why|how|wer|wo|wann|warum|qui|où|quand|pourquoi|quién|dónde|cuándo|chi|dove|quando"
    r"|кто|где|когда|почему)\b",
    re.IGNORECASE,
)
"""Asks who has the secret or where it is, and not for the secret."""
_AMBIGUOUS_NAME: Final = re.compile(
    r"(?:wi-?fi|wlan|log-?ins?|admin|zugang\w*|creds?|credentials?|community|cookie|bearer|seed|unlocks?|session\w*"
    r"|(?:session|auth)_?\w+)\Z",
    re.IGNORECASE,
)
"""Words that ask for a name or an address as often as for a secret."""
_ANSWER_LEAD: Final = re.compile(
    r"(?:(?:it'?s|its|it|is|was|should|be|now|try|use|this|one|yes|yep|yeah|sure|ok|okay|here|new|the|password"
    r"|pin|code|think|i|star"
    r"|ja|klar|ist|es|war|jetzt|glaub\w?|das|neu|der|die|hier|c'est|le|la|oui|voil[àa]|s[íi]|el|è|é|ecco|sim"
    r"|aqui|het|de|to|je|jest"
    r"|tak|ano|igen|az|on|se|joo|kyllä|det|är|er|είναι|это|да|це|так|este|e|bu|evet|是|は|prueba|prova|probier"
    r"|essaie|for|set|still)"
    r"\b[\s,:;.!→=>-]*)*",
    re.IGNORECASE,
)
_CONJUNCTION: Final = re.compile(r"[\s,/]*(?:or|oder|ou|o|of|and|und|et|y|/)\s+\Z", re.IGNORECASE)
_PIN_NUMBER: Final = re.compile(
    r"(?<![\w.,:/#+-])(?<![0-9] )(?:[0-9]{4,16}|[0-9]{2,4} [0-9]{2,4}|[0-9]{2,6}(?:-[0-9]{2,6}){1,7})[A-Z#*]?"
    r"(?![\w:/%]|[.,][0-9]|-\w| [0-9]|\s?(?:[kKMG]?B|ms|k?m|px|€|\$|%)(?!\w))"
)
"""Digits, in one or two groups or joined by dashes; no telephone number, amount or size."""
_NON_SPACE: Final = re.compile(r"\S+")
_REDACTION_MARK: Final = re.compile(r"\[(?:secret:|private\])")

_SECRET_NAME: Final = (
    r"(?:pass(?:word|code|phrase)|pwd?|pin|pa(?:ss|s)wort|kennwort|mot de passe|contrase[ñn]a|clave|password"
    r"|senha|palavra-passe|wachtwoord|has[łl]o|heslo|jelszó\w{0,4}|salasana\w{0,3}|lösenord\w{0,3}|adgangskode\w{0,2}"
    r"|passord\w{0,2}|parol[aăe]|şifre\w{0,3}|lozinka|geslo|κωδικός(?: πρόσβασης)?|пароль)"
)
_CALLS_SECRET: Final = re.compile(
    r"(?:\A|[\s,;.!(—–-])(?:that(?:'s| was| is)|it(?:'s| was)|this is|das (?:war|ist)|c'(?:est|était)|(?:era|es"
    r"|eso era)|(?:questa )?era"
    r"|dat (?:was|is)|to by[łl]o|to bylo|to je|ez (?:a|volt a)|se oli|det var|то был|это (?:был|мой)|αυτός ήταν)"
    r"\s+(?:just |only |actually )?(?:(?:my|our|the|a|mein|dein|unser|das|mon|notre|le|mi|la|mia|minha|a minha"
    r"|mijn|het|moje|mój|moj[ae]|mun"
    r"|mitt|min|мой|ο)\s+)(?:(?!about|for|of)[\w-]+\s+){0,2}?" + _SECRET_NAME + r"(?![\w-])",
    re.IGNORECASE,
)
_TYPED_SECRET: Final = re.compile(
    r"\b(?:typed|pasted|sent|posted|entered)\s+(?:in\s+)?(?:my|our|the)\s+(?:[\w-]+\s+)?"
    + _SECRET_NAME
    + r"(?:\s+(?:here|there|into|in)\b|[.!]|\Z)",
    re.IGNORECASE,
)


class AskedSecret(NamedTuple):
    """A secret that an earlier turn asks for.

    Attributes:
        numbers: Whether it may consist of digits, as a PIN or the code of a lock.
        chosen: Whether a person chose it, as a password; else a program generated it.
    """

    numbers: bool
    chosen: bool


def turn_tails(before: Sequence[str]) -> list[str]:
    return [turn[-TAIL_CHARACTERS:].strip() for turn in before[-CONTEXT_TURNS:]]


def asked_secret(before: Sequence[str]) -> AskedSecret | None:
    """Return the secret that the last turns ask for and did not get yet, or None."""
    for turn in reversed(before):
        if _REDACTION_MARK.search(turn):
            return None
        if secret := _secret_asked_in(turn):
            return secret
        if asks_question(turn) or len(turn.split()) > SHORT_TURN_WORDS:
            return None
    return None


def asks_question(turn: str) -> bool:
    return any(mark in turn for mark in "?？؟")


def names_secret(turn: str) -> bool:
    return bool(_secret_words(turn))


@lru_cache(maxsize=8)  # each turn is read with the two after it
def _secret_words(turn: str) -> Sequence[tuple[int, int]]:
    low = turn.encode("latin-1", "replace").lower()
    marks = find_marks(turn, low)
    return SecretWords.of(turn, find_names(turn, find_cues(turn, low, marks), marks)).words


def _secret_asked_in(turn: str) -> AskedSecret | None:
    for at, end in reversed(_secret_words(turn)):
        first = max((match.end() for match in _SENTENCE_END.finditer(turn, 0, at)), default=0)
        last = _SENTENCE_END.search(turn, end)
        sentence = turn[first : last.end() if last else len(turn)]
        if _asks_for_secret(sentence, at - first, end - first) and (kind := _kind_of_asked(turn, at, end)):
            return kind
    return None


def _asks_for_secret(sentence: str, at: int, end: int) -> bool:
    name = sentence[at:end]
    lead = re.sub(r"(?:mots? de |palavra-)\Z", "", sentence[:at], flags=re.IGNORECASE)
    if _AMBIGUOUS_NAME.match(name) or COMPOUND.match(sentence, end) or _ASKS_ABOUT_SECRET.search(lead):
        return False
    terse = len(_NON_SPACE.findall(sentence)) <= 4
    asks = _QUESTION.match(sentence) or _QUESTION_END.search(sentence)
    return bool(terse or _REQUEST.search(lead) or asks)


def _kind_of_asked(turn: str, at: int, end: int) -> AskedSecret | None:
    name = turn[at:end]
    if name.casefold() == "pass":
        return AskedSecret(numbers=False, chosen=True)
    if _KEY_NAME.match(name):
        is_network = _NETWORK.search(turn, 0, at) is not None
        return AskedSecret(numbers=is_network, chosen=is_network)
    if _CODE_NAME.fullmatch(name):
        opens_lock = LOCK.search(turn) is not None
        if not opens_lock and re.fullmatch(r"\w*code\w*|combination", name, re.IGNORECASE):
            return None
        return AskedSecret(numbers=opens_lock, chosen=True)
    return AskedSecret(numbers=True, chosen=True)


def find_answers(
    wanted: AskedSecret, text: str, odds: Sequence[tuple[int, int, float]]
) -> Iterator[tuple[int, int]]:
    """Yield the spans of the secrets in a turn that answers.

    Args:
        wanted: What was asked for.
        text: The beginning of the turn.
        odds: Its tokens, each with the tagger's log odds when the question is read with it.
    """
    if _REDACTION_MARK.search(text):
        return
    previous_end = 0
    for at, end in _candidate_values(wanted, text):
        best = max((own for start, stop, own in odds if start < end and at < stop), default=MIN_LOG_ODDS)
        if best < MIN_LOG_ODDS:
            continue
        lead = text[previous_end:at]
        first_lead = lead.lstrip(EDGE_CHARACTERS)
        answer_lead = _CONJUNCTION.match(lead) if previous_end else _ANSWER_LEAD.fullmatch(first_lead)
        stop = _SENTENCE_END.search(text, end)
        if answer_lead is not None and not (stop and stop[0] in "?？؟"):
            yield at, end
            previous_end = end


def _candidate_values(wanted: AskedSecret, text: str) -> list[tuple[int, int]]:
    spans = {match.span() for match in _PIN_NUMBER.finditer(text)} if wanted.numbers else set()
    for match in _NON_SPACE.finditer(text):
        start, end = trim_span(text, *match.span(), EDGE_CHARACTERS + "“”„«»「」，。、")
        if _has_asked_form(wanted, text[start:end]):
            spans.add((start, end))
    return sorted(spans)


def _has_asked_form(wanted: AskedSecret, value: str) -> bool:
    latin1 = value.encode("latin-1", "replace")
    if len(value) < 5 or NEVER_SECRET.fullmatch(value) or is_placeholder(latin1) or value.isdigit():
        return False
    if not wanted.chosen:
        return has_random_part(value) or (
            HASH_FORM.fullmatch(value) is not None and len(value) in (32, 48, 64)
        )
    if HASH_FORM.fullmatch(value) and len(value) < 20:
        return False
    if NAME_FORM.fullmatch(latin1) and "/" in value:
        return False
    return MIXED_FORM.search(value) is not None and re.search(r"[^\W\d_]", value) is not None


def calls_secret(text: str, earlier: str) -> bool:
    """Tell whether a turn says of an earlier one, which is one token with a password's form, that it is a password.

    >>> calls_secret("sorry, that was my password", "Kartoffel$alat9")
    True
    >>> calls_secret("that's the ticket for the password reset", "OPS-3321")
    False
    """
    if len(earlier) > MAX_PASSWORD_TURN:
        return False
    value = earlier.strip()
    password = AskedSecret(numbers=False, chosen=True)
    if _NON_SPACE.fullmatch(value) is None or not _has_asked_form(password, value):
        return False
    match = _CALLS_SECRET.search(text, 0, TAIL_CHARACTERS) or _TYPED_SECRET.search(text, 0, TAIL_CHARACTERS)
    return match is not None
