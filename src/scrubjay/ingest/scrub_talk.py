"""Talk: a candidate near a word for a password -> whether it is talk about passwords and none itself.

A part of `scrub_hopeless`: a word that the sentence goes on with, what a column says of there being none, what a
button is called, a pass that is a ticket.
"""

from __future__ import annotations

import re
from typing import Final

from scrubjay.ingest.scrub_behind import DIGIT
from scrubjay.ingest.scrub_below import LISTED
from scrubjay.ingest.scrub_cues import Candidate
from scrubjay.ingest.scrub_forms import PHRASE, UUID
from scrubjay.ingest.scrub_other import latin
from scrubjay.ingest.scrub_values import MADE_UP, talk
from scrubjay.ingest.scrub_words import binds, said
from scrubjay.text.reworded import bag

SIGNED: Final = re.compile(r"[=:：/]|=>|\b(?:is|ist|es|est|lautet)\b")
# What stands below a label beside the secret and says by its name that it is none.
BESIDE: Final = re.compile(
    r"user|login|mail|host|url|\bid\b|identif|port\b|region|name|number|phone|date|server|address|\bip"
    r"\b|version|expir|until"
    r"|note|benutz|konto|gültig|nummer|adresse|hash|algo|store|file|branch|output|min|max|len|path|type|hint"
    r"|msg|mens"
    r"|error|rule|ttl|polic|\buid\b|serial|order|\bref|kund|client|brug|käyttäj|felhaszn|używ|uživ|utiliz"
    r"|логин|користув"
    r"|χρήστ|משתמש|مستخدم|用户|ユーザー|아이디|사용자",
    re.IGNORECASE,
)
_PASS_IS: Final = re.compile(r"[=:：/]|=>|\b(?:is|ist|es|est|lautet)[\s\"'`]*\Z")
_CHANGED_TO: Final = re.compile(r"\b(?:from|to|was|now|von|auf|zu|de|a|à|da)[\s\"'`]+\Z")
_CHANGES: Final = re.compile(
    r"chang|rotat|reset|\bfrom\b|\bwas\b|geänd|\bvon\b|cambi|modifi|troc", re.IGNORECASE
)
_TOLD_APART: Final = re.compile(
    r"(?:[,;/(]|\band|\bwith|\w:)[ ]?\Z|(?:user|login|admin|root|ssid)\b[^\n]{0,40}\Z", re.IGNORECASE
)
_STRONG_PASS: Final = re.compile(r"(?=.*[A-Za-z])(?=.*[0-9!#$%&*+@^~_]).{6,}|[A-Za-z]+(?:[-.][A-Za-z]+)+\Z")
# Between a secret and what follows it: that is of a network, or of who logs in.
OF_ANOTHER: Final = re.compile(
    r"\b(?:ssid|network|netz(?:werk)?|rete|red|réseau|sieć|nätverk|netwerk|rede|user(?:name)?"
    r"|benutzer(?:name)?|usuario"
    r"|utente|utilisateur|identifiant|login|host|server|port|named?|heißt|called|chiama|appelle|llama|chama"
    r"|nazywa|email)\b",
    re.IGNORECASE,
)
_QUOTES: Final = ("”", "“", '"', "»")
_NAMELIKE: Final = re.compile(r"[a-z]+(?:-[a-z]+)+\Z|[A-Z][a-z]+[0-9]\Z")
_PLAIN_USER: Final = re.compile(r"(?:^|\s)(?!admin|root|user)[A-Za-z]+[\"'`]?\Z")
_OPENER: Final = re.compile(r"[!#$%&*+=^~]\w|[0-9].*[._-]|[._-].*[0-9]|[a-z][0-9]{3,}|\w[._-]\w+[._-]\w")
_NET_LINE: Final = re.compile(r"wi-?fi|wlan|hotspot|\blogin", re.IGNORECASE)
# A name in code that speaks of secrets.
_SAYS_KEY: Final = re.compile(r"(?:Token|Secret|Password|Auth|Login|Session|Error|Key)(?:[A-Z]|\Z)")
# "none yet", "only at the desk": the column says that there is none.
_NONE: Final = bag(
    "not none no never nicht kein keine keiner noch nur only sans pas non aucun aucune sin ningún "
    "ninguna solo sólo senza nessuna niet geen alleen nog ikke ingen kun bare inte inga bara ei vain "
    "bez nie brak tylko nincs csak nu fără não sem só yok değil нет без только немає"
)
# A value in quotes has been set already: what follows is a command.
_SET_ALREADY: Final = re.compile(r"\s*[=:]\s*(?:'[^']*'|\"[^\"]*\")[\s;]")
_LOOSE: Final = re.compile(r"[^\W\d_]+(?:[-_.'’][^\W\d_]+)*\Z")
_LINKED_LAST: Final = re.compile(
    r"(?:[=:：>→—–]|\b(?:is|are|was|be|now|to|ist|war|auf|lautet|est|es|era|er|är|è|é|e|és|je|jest|adalah|là"
    r"|este"
    r"|είναι|это|це|هي|הוא|היא|है|คือ)|[èéは是为為]|c'est)[\s\"'`*(„“«]*\Z",
    re.IGNORECASE,
)
# What it is for, or to do.
_FOR: Final = re.compile(
    r"\s+(?:for|to|of|für|fürs|zum|zur|vom|von|pour|du|de|para|del|della|per|voor|van|til|till|för|dla|do|od"
    r"|na|pro|для|от|від)"
    r"(?: (?:the|my|our|das|den|die|le|la|el|il|o|a|het))?\s+",
    re.IGNORECASE,
)
MOST_LOOSE: Final = 2
"""Words between a password's name and a plain word that may be one though no sign or verb leads to it."""
# What keeps or asks for passwords, and a call of what is named like one.
_MANAGED: Final = re.compile(
    r"[ -]?(?:manager|store\b|field|generator|polic|reset|prompt|requirement|rule|strength|hint|hygiene"
    r"|protection)",
    re.IGNORECASE,
)
_METHOD: Final = re.compile(r"\.\w+\(\Z")
# A key to what is no lock: of a land register, a parcel, a country.
_OTHER_KEYS: Final = re.compile(
    r"\s*(?:catastral|de rastreo|de sol\b|de fa\b|del? evento|de país|única|interbancaria|de producto"
    r"|foránea|primaria"
    r"|client|de votre|d[ie] lettura|di volta|di violino)",
    re.IGNORECASE,
)


def set_pass(one: Candidate) -> bool:
    """Whether what is called a pass is no ticket: a sign, a verb or a user leads to it, or it was changed to this."""
    if one.rest.startswith("`") and one.gap == " ":
        return False  # "pass `strict=True`"
    if one.place == "below":
        return " " not in one.value and _STRONG_PASS.match(one.value) is not None
    if one.place not in {"after", "later"} or not MADE_UP.search(one.value):
        return (
            one.place == "after"
            and one.quoted
            and " " in one.value
            and one.gap in {" ", ' "', " '"}
            and not _goes_on(one)
        )
    return bool(
        (one.place == "after" and _PASS_IS.search(one.gap))
        or (_CHANGED_TO.search(one.gap) and _CHANGES.search(one.lead + one.gap))
        or (one.gap in {" ", ' "', " '"} and _TOLD_APART.search(one.lead) and _STRONG_PASS.match(one.value))
    )


def _loose(one: Candidate) -> bool:
    """Whether it is a word of a sentence that only begins with a word for a password."""
    if one.place not in {"after", "later"} or one.quoted or not _LOOSE.match(one.value):
        return False
    if _SET_ALREADY.match(one.gap) or _FOR.fullmatch(one.gap):
        return True
    return one.gap.count(" ") > MOST_LOOSE and _LINKED_LAST.search(one.gap) is None


def talk_of_words(one: Candidate) -> bool:
    """Whether it is talk, or where no word names a password too little like one."""
    if _of_sentence(one) or (one.place in {"turn", "late turn"} and _of_turn(one)):
        return True
    if one.place == "after" and one.gap.startswith(_QUOTES) and not SIGNED.search(one.gap):
        return True  # what a button or a field is called
    if one.place in {"mail", "pair"}:
        plain = _NAMELIKE.match(one.value) and _PLAIN_USER.search(one.lead)
        named = one.value.isalpha() and _NET_LINE.search(one.lead)
        return bool(one.place == "pair" and plain) or not (MADE_UP.search(one.value) or named)
    if one.place == "verb":
        return not (one.value.isdigit() or _OPENER.search(one.value) or " to " in one.gap)
    if one.value.isalpha() and ")" in one.gap and "(" not in one.gap:
        return True
    return not one.quoted and PHRASE.match(one.value) is not None and _goes_on(one)


def _goes_on(one: Candidate) -> bool:
    """Whether several words are the rest of a sentence: one of them is said of secrets, or too many bind it."""
    words = one.value.split()
    if one.place in LISTED:
        return any(map(said, words))
    bound = sum(map(binds, words))
    if len(words) > 2 and one.gap.strip(" \t*_") in {":", "=", "："}:
        return 2 * bound >= len(words)
    return 3 * bound >= len(words) or any(map(said, words)) or any(talk(latin(word)) for word in words)


def _of_sentence(one: Candidate) -> bool:
    """Whether the words around it are of a sentence that tells no password."""
    if _loose(one) or _OTHER_KEYS.match(one.gap) or _MANAGED.match(one.gap):
        return True
    if not one.quoted and _METHOD.match(one.gap):
        return True
    words = one.value.split()
    if len(words) < 2:
        return False
    if one.place in LISTED and not _NONE.isdisjoint(map(str.lower, words)):
        return True
    if one.quoted and one.word.strip().lower() in one.value.lower():
        return True  # a button that is called so
    return one.quoted and not _LINKED_LAST.search(one.gap) and any(talk(latin(word)) for word in words)


def _of_turn(one: Candidate) -> bool:
    """Whether a turn of a talk, or a line of that form, tells something else."""
    return bool(
        OF_ANOTHER.search(one.gap[-40:])
        or BESIDE.search(one.lead)
        or UUID.fullmatch(one.value)
        or _SAYS_KEY.search(one.value)
        or (" " in one.value and DIGIT.search(one.value))  # "meter number 64497"
    )
