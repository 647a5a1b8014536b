"""Language: detection by script and function words, and which words of a text are informative.

A wrong guess costs a document no more than the stem. A question is too short for it: it is expanded to all languages of
the store, and one German question word is evidence enough.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection
from functools import cache, lru_cache
from typing import Final

from scrubjay.text.normalize import normalize_typography
from scrubjay.text.tokenizer import split_words

SAMPLE_LENGTH = 4000
"""Characters read: function words make a third of any prose, so 600 words settle it."""

MIN_SCORE = 1.5
"""Minimum evidence for leaving the default: one function word of that language alone and two shared ones."""

MIN_DISTINCT = 2
"""Minimum number of different function words: "Los Angeles" twice is not Spanish."""

MIN_SHARE = 0.06
"""Minimum score per word: prose scores .15 to .4 in its own language, code and lists of names below .05."""

MIN_MARGIN = 1.25
"""How much more evidence than English another language needs, English being the language of code."""

# Words of one letter are left out: they are variables, initials and the s of "it's" before they are words.
_FUNCTION_WORDS: dict[str, str] = {
    "en": "the of and to in is that for it was on are as with be this have from or an by not but they at "
    "which you we his her their there been were has would when what who will how if can all",
    "de": "der die und das den von zu ist mit des dem nicht ein eine im für auf sich auch es als an wird "
    "aus er sie nach bei einer um am sind noch wie einem über einen so zum war haben nur oder aber "
    "vor zur bis mehr durch man werden wurde ich wir kann wenn dass",
    "fr": "le la les de des et un une du est en que qui dans pour pas sur au ne se ce il elle sont plus "
    "par avec ou mais nous vous leur cette aux ont été être ces son sa comme fait je tout on avons "
    "avez",
    "es": "el la los las de que en un una por con para es se del al lo como más su pero sus le ya este "
    "cuando muy sin sobre también fue había ser son entre está han hay desde todo nos donde",
    "it": "il di che la un una per non con del della dei le si in da sono gli nel alla anche come più ma "
    "questo al delle lo ha era dal nella essere suo ad ed se",
    "pt": "que de do da em um uma para com não os as dos das no na por mais se como foi ao ele mas sua ou "
    "ser quando muito há nos já está eu também pelo pela até isso ela entre era são",
    "nl": "de het een en van ik te dat die in is niet zijn op aan met voor er als maar om hem dan zou of "
    "wat mijn men dit zo door over ze bij ook tot uit naar heeft worden wordt werd deze was hebben "
    "nog",
    "sv": "och det att en jag hon som han på den med var sig för så till är men ett om hade de av icke mig "
    "du där ut från inte har kan när nu över man eller vid efter också skall än dessa blev",
    "da": "og jeg det at en den til er som på de med han af for ikke der var mig sig men et har om vi min "
    "havde ham hun nu over da fra du ud sin dem os op hvad blev efter kan være også eller",
    "no": "og jeg det at en et den til er som på de med han av ikke der så var meg seg men ett har om vi "
    "min hadde ham hun nå over da fra du ut sin dem oss opp man kan blir ble etter være også eller "
    "hvordan bare",
    "fi": "ja on oli ei se että hän joka ovat mutta kun tai myös sen ne jos niin kuin olla mukaan jotka "
    "sekä hänen ole vain voi mitä tämä sitä joita jonka tämän vuonna noin ennen jälkeen",
    "pl": "na do się nie jest to że jak ale po co tak za od jego przez dla czy tylko jej są był było która "
    "który które oraz może być ze już gdy także",
    "cs": "se na je že do to ve pro za by ale jako po jsou od jeho nebo až byl které který také není jsem "
    "být tak když jen než podle při",
    "ro": "și în de la cu pe nu este un din ce că care pentru mai sau sunt au fost lui ca prin al fi după "
    "între acest această dar ale unei",
    "hu": "az és hogy nem is egy ez volt de meg csak ha mint már vagy el még azt ki lehet ezt kell van aki "
    "akkor pedig után között amely",
    "tr": "ve bir bu da de için ile olarak çok daha ne gibi en var kadar olan sonra ama değil ise her ya "
    "ki mi tarafından oldu veya olduğu",
    "ca": "el la els les de que en un una per amb és al del no es com més ha seva aquest són també però va "
    "ser entre pels dels",
    "id": "yang dan di dengan untuk dari ini itu pada tidak dalam adalah akan ke juga atau oleh sebagai "
    "telah karena dapat kami mereka ada bisa",
    "et": "ja on ei see et oli ka ta kui mis aga nii või seda oma ning mida siis selle olid olema kuid",
    "lt": "ir yra kad su iš tai buvo ne kaip apie bet jo nuo jis tik dėl arba pat už taip",
}
_LATIN = re.compile("[A-Za-z]")
_LETTERS = re.compile(r"[^\W\d_]+")
_SCRIPTS = (
    ("kana", "[\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f]"),
    ("han", "[\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af]"),
    ("ko", "[\u1100-\u11ff\uac00-\ud7a3]"),
    ("th", "[\u0e01-\u0e5b]"),
    ("lo", "[\u0e81-\u0edf]"),
    ("my", "[\u1000-\u109f]"),
    ("km", "[\u1780-\u17ff]"),
    ("arabic", "[\u0620-\u064a\u066e-\u06d3]"),
    ("he", "[\u05d0-\u05ea]"),
    ("cyrillic", "[\u0400-\u052f]"),
    ("el", "[\u0370-\u03ff]"),
    ("hi", "[\u0904-\u0939]"),
    ("ta", "[\u0b83-\u0bb9]"),
    ("hy", "[\u0531-\u0587]"),
    ("latin", "[A-Za-z\u00c0-\u024f]"),
)
# A character of these scripts says about as much as three letters.
_DENSE = frozenset(("kana", "han", "ko"))


def detect_language(text: str) -> str:
    """Return the ISO 639-1 code of a document's language, from its first ``SAMPLE_LENGTH`` characters.

    It is one of ``SNOWBALL_LANGUAGES`` or ``zh ja ko th lo my km he uk bg sr``; ``en`` without evidence.
    """
    return evident_language(text) or "en"


def evident_language(text: str) -> str:
    """Return the language as `detect_language`, but an empty text without evidence, as of a list of names."""
    sample = text[:SAMPLE_LENGTH]
    plain = normalize_typography(sample)
    if sample.isascii() or (plain.isascii() and _LATIN.search(plain)):
        return _detect_by_words(plain)
    counts = {
        name: len(pattern.findall(sample)) * (3 if name in _DENSE else 1)
        for name, pattern in _script_patterns()
    }
    script = max(counts, key=lambda name: counts[name])
    if script in ("han", "kana"):
        # Japanese prose is at least a fifth kana; a Chinese page may quote a Japanese name.
        return "ja" if counts["kana"] * 8 >= counts["han"] else "zh"
    if script == "latin":
        return _detect_by_words(sample)
    if script == "arabic":
        return "fa" if len(re.findall("[پچژگیک]", sample)) * 20 >= counts[script] else "ar"
    if script == "cyrillic":
        return _detect_cyrillic(sample)
    return script


def question_language(text: str) -> str:
    """Return the language of a question as `detect_language`; one German question word tells a short one.

    >>> question_language("Was habe ich gestern gemacht?"), question_language("What did I do?")
    ('de', 'en')
    """
    found = evident_language(text)
    if not found and not QUESTION_WORDS["de"].isdisjoint(_LETTERS.findall(text.lower())):
        return "de"
    return found or "en"


@cache
def function_words(code: str | None = None) -> frozenset[str]:
    """Return the function words of one language (none where it has no list), or of all."""
    lists = _FUNCTION_WORDS.values() if code is None else (_FUNCTION_WORDS.get(code, ""),)
    return frozenset(word for words in lists for word in words.split())


@cache
def _script_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((name, re.compile(letters)) for name, letters in _SCRIPTS)


@cache
def _languages_of() -> dict[str, list[str]]:
    owners: dict[str, list[str]] = {}
    for code, words in _FUNCTION_WORDS.items():
        for word in words.split():
            owners.setdefault(word, []).append(code)
    return owners


def _detect_by_words(sample: str) -> str:
    languages_of = _languages_of()
    words = _LETTERS.findall(sample.lower())
    scores: defaultdict[str, float] = defaultdict(float)
    distinct: Counter[str] = Counter()
    for word, times in Counter(words).items():
        owners = languages_of.get(word, ())
        for code in owners:  # a word that five languages share is a fifth of the evidence for each
            scores[code] += times / len(owners)
            distinct[code] += 1
    best = max(scores, key=lambda code: (scores[code], code), default="en")
    if scores[best] < MIN_MARGIN * scores["en"]:
        best = "en"
    enough = scores[best] >= max(MIN_SCORE, MIN_SHARE * len(words)) and distinct[best] >= MIN_DISTINCT
    return best if enough else ""


def _detect_cyrillic(sample: str) -> str:
    lowered = sample.lower()
    if re.search("[іїєґ]", lowered):
        return "uk"
    if re.search("[ђјљњћџ]", lowered):
        return "sr"
    # Russian cannot do without ы and э; Bulgarian has neither, and ъ in every third word.
    return "ru" if re.search("[ыэё]", lowered) or lowered.count("ъ") * 100 < len(lowered) else "bg"


_QUESTION_WORDS: Final = (
    "any about also am could did do does done go got had has he him how i if it just know like make may me might my "
    "need our please say should show so some tell than then these those us use want was where why work you your "
    "being both each into its she too while within would"
)
_GERMAN_QUESTION_WORDS: Final = (
    "habe hab habt hast hatte hatten hattest wäre wären würde würden muss musst müssen soll sollen sollte sollten "
    "kannst können könnte könnten willst wollen darf dürfen möchte gibt bitte doch denn "
    "mein meine meinem meinen meiner meines dein deine deinem deinen deiner unser unsere unserem unseren unserer mich "
    "dich uns euch ihm ihn ihnen wer wem wessen wo wann warum weshalb wieso wofür woher wohin womit worüber worum "
    "wovon welche welchem welchen welcher welches"
)
QUESTION_WORDS: Final = {
    "en": frozenset(_QUESTION_WORDS.split()),
    "de": frozenset(_GERMAN_QUESTION_WORDS.split()),
}
"""Words of questions by language, besides the function words; the German ones (no "hat", no "mir") mean nothing in
English."""
_EVERY_QUESTION_WORD: Final = frozenset().union(*QUESTION_WORDS.values())
_GENERAL_WORDS: Final = (
    "anything everything something nothing happen happened happening happens occur occurred going new news events "
    "doing what's "
    "event things thing else discuss discussed talk talked work worked "
    "mention mentioned explain explained suggest suggested recommend recommended advise advised ask asked"
)
_GERMAN_GENERAL_WORDS: Final = (
    "etwas irgendetwas alles nichts los neu neues neuigkeiten passiert passierte geschah geschehen gab ereignisse "
    "gemacht mache machen machst getan tun besprochen gearbeitet steht ansteht ging "
    # Verbs of speaking: all of a conversation is said.
    "sagen sagte sagten sagtest gesagt sprechen sprach sprachen gesprochen reden redete redeten geredet rede "
    "erzählen erzählte erzählten erzähltest erzählt erwähnen erwähnte erwähnten erwähnt berichten berichtete berichtet "
    "raten riet rietst geraten empfehlen empfahl empfahlst empfohlen vorschlagen vorgeschlagen erklären erklärte "
    "erklärt mitteilen mitgeteilt fragen fragte fragten gefragt antworten antwortete geantwortet besprechen besprach "
    "besprachen diskutieren diskutierten diskutiert unterhalten schreiben schrieb schrieben geschrieben meinte "
    "meintest meinten gemeint geplaudert"
)
GENERAL_WORDS: Final = frozenset(f"{_GENERAL_WORDS} {_GERMAN_GENERAL_WORDS}".split())
"""Words that ask for everything of a time."""
_SENTENCE_START: Final = re.compile(r"(?:\A|[.!?:;]\s|\n)\W*")
_ORDINAL: Final = re.compile(r"\d+(?:s|st|nd|rd|th|am|pm|k|m|km|kg|cm|mm)", re.I)
_IDENTIFIER: Final = re.compile(
    r"(?=.*[^\W\d_])(?:.*_.*|.*\d.*|[a-z]{2}[a-z0-9]*+[A-Z].*|\w{2,}\.[A-Za-z]\w*)", re.S
)
MIN_IDENTIFIER: Final = 4
"""Characters of an identifier: a shorter one (``v2``, ``h1``) stands in many places."""


@cache
def is_uninformative(word: str) -> bool:
    """Return whether a folded word says nothing of what is asked for: a function word, a question word, one letter."""
    return (len(word) < 2 and not word.isdigit()) or word in _EVERY_QUESTION_WORD or word in function_words()


def is_general(word: str) -> bool:
    """Return whether a folded word, in a question that names a time, asks for everything of that time ("happened")."""
    return is_uninformative(word) or word in GENERAL_WORDS


_GERMAN_WORDS: Final = frozenset(_GERMAN_GENERAL_WORDS.split()) | QUESTION_WORDS["de"]
_GERMAN_HELPERS: Final = frozenset(
    ("hat", "ist", "sind", "wird", "mir", "dir", "ihr", "sie", "dazu", "darüber", "davon", "daran", "darum")
)
"""Words that say nothing in German, and something in other languages ("Where is my hat?")."""


def asks_for_all(words: Collection[str]) -> bool:
    """Return whether the folded words of a question that names a time ask for everything of that time.

    >>> asks_for_all(["was", "hat", "er", "mir", "geraten"]), asks_for_all(["what", "about", "my", "hat"])
    (True, False)
    """
    helpers = frozenset() if _GERMAN_WORDS.isdisjoint(words) else _GERMAN_HELPERS
    return all(is_general(word) or word in helpers for word in words)


@lru_cache(maxsize=64)
def named_words(text: str) -> frozenset[str]:
    """Return the folded words of a text that are names or numbers, by digits and capitals within sentences.

    >>> sorted(named_words("When did Caroline go to Rome in 2023?"))
    ['2023', 'caroline', 'rome']
    """
    starts = {match.end() for match in _SENTENCE_START.finditer(text)}
    found = set()
    for word in split_words(text):
        raw = text[word.start : word.end]
        inner = any(character.isupper() for character in raw[1:])
        if inner or any(c.isdigit() for c in raw) or (raw[:1].isupper() and word.start not in starts):
            found.add(word.text)
    return frozenset(found)


def identifier_words(text: str) -> frozenset[str]:
    """Return the folded words of a text that are identifiers.

    >>> sorted(identifier_words("why does ERR_409 come from notes.md and getUserById, in the 1950s, on the 5th?"))
    ['err_409', 'getuserbyid', 'notes.md']
    """
    found = set()
    for word in split_words(text):
        raw = text[word.start : word.end]
        if len(raw) >= MIN_IDENTIFIER and _IDENTIFIER.fullmatch(raw) and not _ORDINAL.fullmatch(raw):
            found.add(word.text)
    return frozenset(found)
