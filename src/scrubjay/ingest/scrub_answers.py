"""Answers: what somebody is asked for by a voice or a form to show who they are -> what they answer.

"first pet: …" below "security questions", "the secret answer is …", "memorable word …", "telephone password …". The
questions are few everywhere and stand in the same words; without one that says what they are for they are small talk.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scrubjay.ingest.scrub_values import Places, Span
from scrubjay.ingest.scrub_words import binds, said

REACH: Final = 600
"""Characters behind the words for such questions in which their answers stand."""
MOST: Final = 6

_ASKED: Final = re.compile(
    r"(?:security|secret|memorable|challenge|recovery|account)[ -](?:security )?(?:question|answer|q(?:&"
    r"|\+)a)s?\b"
    r"|(?:sicherheits|geheim|kontroll)(?:frage|antwort)n?\b|questions? (?:secr[èe]te|de s[ée]curit[ée])s?"
    r"|r[ée]ponses? secr[èe]tes?"
    r"|preguntas? (?:secretas?|de seguridad)|respuestas? secretas?|domand[ae] (?:segret[ae]|di sicurezza)"
    r"|rispost[ae] segret[ae]"
    r"|perguntas? (?:secretas?|de segurança)|beveiligingsvra(?:ag|gen)|geheime vraag|säkerhetsfråg\w{0,3}"
    r"|sikkerhetsspørsmål"
    r"|sikkerhedsspørgsmål|turvakysymy\w{1,6}|bezpečnostní otázk\w{1,3}|kontrolní otázk\w{1,3}|pytani\w{1,2}"
    r" (?:bezpieczeństwa|pomocnicz\w{1,3})"
    r"|güvenlik soru\w{0,6}|biztonsági kérdés\w{0,4}|întreb[ăa]r\w{1,4} de securitate|(?:секретн"
    r"|контрольн)\w{2,4} (?:вопрос|ответ)\w{0,3}"
    r"|安全问题|安全問題|密保|秘密の質問|보안 ?질문",
    re.IGNORECASE,
)
_MARKS: Final = (
    b"question", b"answer", b"frage", b"antwort", b"pregunta", b"respuesta", b"domand", b"rispost", b"pergunta", b"vra",
    b"ponse",
)  # fmt: skip
_ENGLISH: Final = (b"question", b"answer")
_OF_SECURITY: Final = (
    b"security ",
    b"secret ",
    b"memorable ",
    b"challenge ",
    b"recovery ",
    b"account ",
    b"security-",
    b"secret-",
)
_SECURE: Final = (b"question secr", b"questions secr", b"question de s", b"questions de s")
_ABROAD: Final = (
    "fråg", "spørg", "spørs", "kysymy", "otázk", "pytani", "soru", "kérdés", "întreb", "вопрос",
    "安全", "密保", "秘密の", "질문",
)  # fmt: skip
_SIGN: Final = (
    r"[\"')\]*_?？]{0,3}[ \t]{0,2}(?:[:=：→—–]|->|=>|-(?= )|\bis\b|\bist\b|\best\b|\bes\b|\bè\b|\bé\b)"
    r"[ \t]{0,2}[\"'„“«*]{0,2}"
)
_ANSWER: Final = r"(?P<value>[^\s\"'“”»,;:.()\n][^\"“”»,;:()\n]{1,48}?)"
_STOP: Final = r"(?=[\"'“”»*_]{0,2}(?:[,;.](?:\s|\Z)|[ \t]*(?:\(|\r?\n|\Z)|[ \t][-–—][ \t]))"
# "- first pet: …", "mother's maiden name → …"; in a list any name will do.
_ITEM: Final = re.compile(
    r"(?:^|\n|[;,.:][ ])[ \t]*(?:[-*•][ ]|[0-9]{1,2}[.)][ ])?(?P<name>[^\n:=→—–;,.]{3,60}?)"
    + _SIGN
    + _ANSWER
    + _STOP
)
_COMMON: Final = re.compile(
    r"\b(?:first|maiden|pet|school|street|teacher|car\b|born|birth|mother|father|grand|best friend"
    r"|favou?rite|nickname|city|town"
    r"|haustier|geburt|mädchenname|schule|straße|lehrer|auto\b|lieblings|mascota|colegio|escuela|calle|madre"
    r"|coche|nombre de"
    r"|animal|école|rue\b|mère|naissance|ville|scuola|città|nonna|maestr|cane\b|gatto|cachorro|escola|mãe"
    r"|rua\b|huisdier"
    r"|straat|moeder|husdjur|kjæledyr|kæledyr|lemmik|mazlíč|zwierz|panieńsk|питом|девич|кличк|улиц|宠物|母亲|ペット"
    r"|旧姓)",
    re.IGNORECASE,
)
_TOLD: Final = re.compile(
    r"(?:[^\n.:;]{0,80}?)(?:\b(?:is|was|ist|war|lautet|est|es|è|é)\b|[:=→]|->|\bI (?:answered|put|said|gave"
    r"|used)\b)[ \t]{1,2}[\"'„“«*]{0,2}" + _ANSWER + _STOP
)
_VOICE: Final = re.compile(
    r"(?:memorable (?:word|name|place|information|phrase)|(?:tele)?phone (?:banking )?pass(?:word|code)|safe"
    r" ?word|code ?word|Telefon-?(?:kennwort|passwort|PIN)"
    r"|Kundenkennwort|contraseña telefónica|mot de passe téléphonique|parola d'ordine|stikord|tunnussana)"
    r"(?:[^\n.,;:]{0,40}?(?:[:=→]|\b(?:is|was|ist|lautet|est|es|are)\b|'s)|(?:, )?[ \t]?mine's"
    r"|[?]\s{1,2}(?:[^\n:]{1,24}:[ \t]*)?[^\n.!?]{0,20}?(?:it's|es ist|c'est|is))?"
    r"[ \t]{1,2}[\"'„“«*]{0,2}(?P<value>[^\W\d_][\w'-]{3,32})[\"'“”»*]{0,2}(?=[,;.!)]|[ \t]*(?:\r?\n|\Z))",
    re.IGNORECASE,
)
_VOICES: Final = (b"memorable", b"phone ", b"word", b"telefon", b"kundenkennwort")
_NO_ANSWER: Final = re.compile(
    r"\b(?:required|question|answer|password|optional|todo|tbd|none|same|random|see)\b|[?<{\[$]|\bof\b",
    re.IGNORECASE,
)


def answered(text: str, low: bytes, places: Places) -> Iterator[Span]:
    """The answers that are told.

    Args:
        text: The text.
        low: It in Latin-1 and lower case, one byte a character.
        places: Where what stands in ``low``.
    """
    done = 0
    for at in sorted(_asked(text, places)):
        if at >= done and (asked := _ASKED.search(text, max(0, at - 24), at + 40)):
            done = asked.end()
            yield from _answers(text, asked.end(), asked[0])
    for mark in places.present(_VOICES):
        for at in places(mark):
            match = _VOICE.match(text, at) or (
                _VOICE.match(text, at - 4) if at >= 4 and mark in (b"word", b"phone ") else None
            )
            if match and not (said(match["value"]) or binds(match["value"])):
                yield Span(match.start("value"), match.end("value"), "password", False)


def _asked(text: str, places: Places) -> Iterator[int]:
    for mark in places.present(_MARKS):
        if mark in _ENGLISH:
            yield from (
                at
                for at in places(mark)
                if places.endswith(_OF_SECURITY, at) or places.startswith(_SECURE, at)
            )
        else:
            yield from places(mark)
    for _, at in places.abroad(text, _ABROAD):
        yield at


def _answers(text: str, at: int, word: str) -> Iterator[Span]:
    """The answers behind a word for such questions: one told on its line, or those of a list."""
    end = min(len(text), at + REACH)
    blank = text.find("\n\n", at + 3, end)
    end = blank if blank >= 0 else end
    line = text.find("\n", at, end)
    line = line if line >= 0 else end
    found = 0
    for match in _ITEM.finditer(text, at, end):
        if found < MOST and _COMMON.search(match["name"]) and not _NO_ANSWER.search(match["value"]):
            if binds(match["value"].split()[0]):
                continue
            found += 1
            yield Span(match.start("value"), match.end("value"), "answer", False)
    told = None if found else _TOLD.match(text, at, line)
    if told and _is_answer(told, word):
        yield Span(told.start("value"), told.end("value"), "answer", False)


def _is_answer(match: re.Match[str], word: str) -> bool:
    first = match["value"].split()[0]
    if binds(first) or said(first) or _NO_ANSWER.search(match["value"]):
        return False
    # "The question is …" tells the question; an answer is told, or the question's words stand before it.
    return (
        "answer" in word.lower()
        or "antwort" in word.lower()
        or _COMMON.search(match[0]) is not None
        or "I " in match[0]
    )
