"""Tongues: the words by which German, French, Spanish, Portuguese and Italian deny, and say that something changed.

Other languages are compared word by word, with their numbers, dates and negations read; the finer rules are of English.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from scrubjay.ingest.change.figures import TONGUES
from scrubjay.ingest.change.words import STOP
from scrubjay.text.languages import function_words

NEGATORS: Final = {
    "de": "nicht kein keine keinen keinem keiner keines nie niemals niemand nichts ohne kaum nirgends weder",
    "fr": "pas ne n jamais aucun aucune rien personne sans guère nulle",
    "es": "no nunca jamás nadie nada ningún ninguna ninguno sin tampoco apenas",
    "pt": "não nunca jamais ninguém nada nenhum nenhuma sem tampouco mal",
    "it": "non mai nessuno niente nulla senza nessuna neanche nemmeno",
}
CHANGE: Final = {
    "de": "jetzt nun inzwischen mittlerweile stattdessen doch umgezogen gewechselt geändert verschoben mehr neuerdings zog umgestiegen ab",
    "fr": "maintenant désormais plus déménagé changé déplacé finalement plutôt passé dorénavant reporté déménage",
    "es": "ahora ya mudó mudé cambió cambié cambiado finalmente mudado trasladado más movió pasó",
    "pt": "agora já mudou mudei mudado mudamos finalmente mais passou adiado adiada",
    "it": "ora adesso più ormai trasferito trasferita cambiato spostato spostata invece passati passato",
}
OPPOSITES: Final = {
    "de": "öffentlich/privat erlaubt/verboten offen/geschlossen liebt/hasst liebe/hasse aktiviert/deaktiviert möglich/unmöglich mag/hasst an/aus",
    "fr": "public/privé publique/privée autorisé/interdit ouvert/fermé aime/déteste activé/désactivé possible/impossible",
    "es": "público/privado pública/privada permitido/prohibido abierto/cerrado encanta/odio activado/desactivado",
    "pt": "público/privado pública/privada permitido/proibido aberto/fechado adora/odeia gosta/detesta ativado/desativado",
    "it": "pubblico/privato pubblica/privata permesso/vietato aperto/chiuso ama/odia attivato/disattivato adora/detesta",
}
SILENT: Final = frozenset(("ne", "n"))
"""The halves of French denials that are not counted, since the other half is."""
_LETTERS = re.compile(r"[^\W\d_]+")
_OWN: Final = {
    "de": "ich wir der die das ist und mein meine",
    "fr": "je nous le la les est mon ma notre",
    "es": "el la los es mi yo está",
    "pt": "o os é meu minha eu na no da do está",
    "it": "il lo gli è mio mia sono della nel",
}
LEAST: Final = 2
"""Function words of a language that make a short statement one of it."""


@cache
def denials(tongue: str) -> frozenset[str]:
    """Return the words that deny in a language other than English."""
    return frozenset(NEGATORS[tongue].split())


@cache
def changes(tongue: str) -> frozenset[str]:
    """Return the words of change of a language other than English."""
    return frozenset(CHANGE[tongue].split())


@cache
def opposites(tongue: str) -> dict[str, tuple[str, bool]]:
    """Return the words that are read as another, and whether they say its opposite."""
    pairs = (pair.split("/") for pair in OPPOSITES[tongue].split())
    return {word: (first, word != first) for first, second in pairs for word in (first, second)}


@cache
def fillers(tongue: str) -> frozenset[str]:
    """Return the function words of a language that neither deny nor tell of change."""
    return (function_words(tongue) | frozenset(_OWN[tongue].split())) - denials(tongue) - changes(tongue)


@cache
def _owners() -> dict[str, tuple[str, ...]]:
    owners: dict[str, list[str]] = {}
    for tongue in TONGUES:
        listed = (
            function_words("en") | STOP
            if tongue == "en"
            else fillers(tongue) | denials(tongue) | changes(tongue)
        )
        for word in listed:
            owners.setdefault(word, []).append(tongue)
    return {word: tuple(tongues) for word, tongues in owners.items()}


def tongue(old: str, new: str) -> str:
    """Return the language that both statements are taken to be in: English unless another has more evidence.

    >>> tongue("Der Kurs ist am Montag.", "Der Kurs ist am Freitag."), tongue("The gym is closed", "It is open")
    ('de', 'en')
    """
    scores = dict.fromkeys(TONGUES, 0.0)
    owners = _owners()
    for word in _LETTERS.findall(f"{old} {new}".lower()):
        listed = owners.get(word, ())
        for code in listed:
            scores[code] += 1 / len(listed)
    best = max(TONGUES, key=lambda code: scores[code])
    return best if scores[best] >= LEAST / 2 and scores[best] > scores["en"] else "en"
