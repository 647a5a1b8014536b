"""Quantities: numbers, units, dates and times of a statement in one spelling."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, NamedTuple

from scrubjay.facts.lexicon import phrase_openings
from scrubjay.facts.vocabulary import load_words
from scrubjay.text.normalize import normalize_typography

_MONTHS: Final = (
    "january jan januar jänner janvier enero janeiro gennaio",
    "february feb februar février febrero fevereiro febbraio",
    "march mar märz mars marzo março",
    "april apr avril abril aprile",
    "may mai mayo maio maggio",
    "june jun juni juin junio junho giugno",
    "july jul juli juillet julio julho luglio",
    "august aug août agosto",
    "september sep sept septembre septiembre setembro settembre",
    "october oct oktober octobre octubre outubro ottobre",
    "november nov novembre noviembre novembro",
    "december dec dezember décembre diciembre dezembro dicembre",
)
_WEEKDAYS: Final = (
    "monday mon montag lundi lunes segunda-feira lunedì",
    "tuesday tue tues dienstag mardi martes terça-feira terça martedì",
    "wednesday wed mittwoch mercredi miércoles quarta-feira mercoledì",
    "thursday thu thurs donnerstag jeudi jueves quinta-feira giovedì",
    "friday fri freitag vendredi viernes sexta-feira sexta venerdì",
    "saturday sat samstag sonnabend samedi sábado sabato",
    "sunday sun sonntag dimanche domingo domenica",
)
MONTHS: Final = {word: at for at, words in enumerate(_MONTHS, 1) for word in words.split()}
MONTH_NAMES: Final = tuple(words.split()[0] for words in _MONTHS)
ENGLISH_MONTHS: Final = frozenset(("sept", *MONTH_NAMES, *(name[:3] for name in MONTH_NAMES)))
WEEKDAYS: Final = {word: at for at, words in enumerate(_WEEKDAYS) for word in words.split()}
AMBIGUOUS_SPELLINGS: Final = frozenset(
    ("may", "march", "mar", "sun", "sat", "mon", "wed", "sexta", "terça", "dec", "mars", "mai")
)
"""Spellings of other words too; only a capital or a number beside them makes them dates."""
PLURALS: Final = {f"{word}s": at for word, at in WEEKDAYS.items() if word.endswith("day")}
HALF_DAY: Final = 720
"""Minutes after which a clock without am or pm repeats."""
_CLOCK = re.compile(r"(\d{1,2})(?:(?:[:.h]|uhr)(\d{2}))?\s?(?:([ap])\.?m\.?|uhr|h)?")


@dataclass(frozen=True, slots=True)
class DateValue:
    """The written parts of a date or a time of day: weekday 0 is Monday, `minute` counts from midnight.

    Attributes:
        vague: Whether ``minute`` may also mean twelve hours later.
        early: Whether it stands before the verb.
    """

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    minute: int | None = None
    vague: bool = False
    early: bool = False

    @property
    def parts(self) -> tuple[int | None, ...]:
        return self.year, self.month, self.day, self.weekday, self.minute


def parse_clock(text: str) -> tuple[int, bool] | None:
    """Return the minutes after midnight, and whether they may be of either half of the day; None if this is no clock.

    >>> parse_clock("5pm"), parse_clock("14h30"), parse_clock("5:30"), parse_clock("25:00")
    ((1020, False), (870, False), (330, True), None)
    """
    match = _CLOCK.fullmatch(text)
    if not match:
        return None
    hour, minute, half = int(match[1]), int(match[2] or 0), match[3]
    if hour > 24 or minute > 59 or (half and hour > 12):
        return None
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return hour % 24 * 60 + minute, not half and 0 < hour <= 12 and "h" not in text


def parse_day_first_date(text: str) -> DateValue | None:
    """Return a date written in digits, year first, or day and month; the day is first where either could be.

    >>> parse_day_first_date("2026-05-03") == parse_day_first_date("3.5.2026"), parse_day_first_date("5/23/2026").month
    (True, 5)
    """
    parts = [int(part) for part in re.split(r"[-/.]", text) if part.isdigit()]
    if len(parts) == 2 and parts[0] > 31:
        return DateValue(parts[0], parts[1]) if 1 <= parts[1] <= 12 else None
    if len(parts) == 2 and parts[1] > 31:
        return DateValue(parts[1], parts[0]) if 1 <= parts[0] <= 12 else None
    if len(parts) == 3 and parts[0] > 31:
        year, month, day = parts
    elif len(parts) == 3:
        day, month, year = parts
        if month > 12:
            day, month = month, day
    else:
        return None
    year += 2000 if year < 100 else 0
    return DateValue(year, month, day) if 1 <= month <= 12 and 1 <= day <= 31 else None


def dates_agree(one: DateValue, other: DateValue) -> bool:
    """Return whether two dates share a part, and all shared parts are equal."""
    shared = False
    for name, one_part, other_part in zip(("y", "m", "d", "w", "t"), one.parts, other.parts, strict=True):
        if one_part is None or other_part is None:
            continue
        shared = True
        if one_part == other_part or (
            name == "t" and (one.vague or other.vague) and (one_part - other_part) % HALF_DAY == 0
        ):
            continue
        return False
    return shared


_SMALL_NUMBERS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen",
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn"
    " siebzehn achtzehn neunzehn",
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize",
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete"
    " dieciocho diecinueve",
    "zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis dezessete"
    " dezoito dezenove",
    "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici"
    " diciassette diciotto diciannove",
)
_TENS: Final = (
    "twenty thirty forty fifty sixty seventy eighty ninety",
    "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "vingt trente quarante cinquante soixante",
    "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa",
    "venti trenta quaranta cinquanta sessanta settanta ottanta novanta",
)
NUMERAL_LANGUAGES: Final = ("en", "de", "fr", "es", "pt", "it")
"""Languages of the tables above, in their order."""
_NUMBER_SYNONYMS: Final = {
    "de": {"zwo": 2, "dutzend": 12},
    "es": {"docena": 12},
    "fr": {"douzaine": 12},
    "pt": {"duas": 2, "dúzia": 12},
    "it": {"dozzina": 12},
}
_ENGLISH_SYNONYMS: Final = {
    "dozen": 12, "couple": 2, "twice": 2, "thrice": 3, "once": 1, "half-dozen": 6, "single": 1,
}  # fmt: skip
SCALES: Final = {
    "hundred": 100, "thousand": 1000, "million": 1_000_000, "billion": 1_000_000_000, "k": 1000, "mio": 1_000_000,
    "hundert": 100, "tausend": 1000, "millionen": 1_000_000, "mille": 1000, "mil": 1000, "mila": 1000, "cent": 100,
    "cien": 100, "cem": 100, "cento": 100, "million's": 1_000_000, "bn": 1_000_000_000, "dozen": 12,
}  # fmt: skip
_NUMERALS: Final = {
    language: {word: at for at, word in enumerate(_SMALL_NUMBERS[place].split())}
    | {word: (at + 2) * 10 for at, word in enumerate(_TENS[place].split())}
    | (_ENGLISH_SYNONYMS if language == "en" else _NUMBER_SYNONYMS[language])
    for place, language in enumerate(NUMERAL_LANGUAGES)
}
_ORDINAL_NAMES: Final = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_ORDINAL_WORDS: Final = {word: at for at, word in enumerate(_ORDINAL_NAMES.split(), 1)}
COUNTS: Final = {
    word: str(number)
    for numbers in (*map(_NUMERALS.__getitem__, ("es", "fr", "de")), _ORDINAL_WORDS, _NUMERALS["en"])
    for word, number in numbers.items()
}
"""Number word -> its digits; "once" is the English one."""
_FOREIGN_NUMBERS: Final = {
    word: at for language in NUMERAL_LANGUAGES[1:] for word, at in _NUMERALS[language].items()
}

_UNITS: Final = (
    ("s", 0.001, "ms msec millisecond milliseconds millisekunden"),
    ("s", 1, "s sec secs second seconds sekunde sekunden seconde secondes segundo segundos secondo secondi"),
    ("s", 60, "min mins minute minutes minuten minuto minutos minuti"),
    ("s", 3600, "h hr hrs hour hours stunde stunden std heure heures hora horas ora ore"),
    ("s", 86_400, "day days tag tage tagen jour jours día días dia dias giorno giorni"),
    ("s", 604_800, "week weeks wk wks woche wochen semaine semaines semana semanas settimana settimane"),
    ("month", 1, "month months monat monate monaten mois mes meses mês mese mesi"),
    ("month", 12, "year years yr yrs jahr jahre jahren ans année années año años ano anos anno anni"),
    ("month", 120, "decade decades"),
    ("byte", 1, "b byte bytes"),
    ("byte", 1e3, "kb kib kilobyte kilobytes"),
    ("byte", 1e6, "mb mib megabyte megabytes megs"),
    ("byte", 1e9, "gb gib gig gigs gigabyte gigabytes"),
    ("byte", 1e12, "tb tib terabyte terabytes"),
    ("m", 0.001, "mm millimetre millimetres millimeter millimeters"),
    ("m", 0.01, "cm centimetre centimetres centimeter centimeters zentimeter"),
    ("m", 1, "m metre metres meter meters mètre mètres metro metros metri"),
    (
        "m",
        1000,
        "km kms kilometre kilometres kilometer kilometers kilomètre kilomètres quilômetros kilómetros chilometri",
    ),
    ("m", 1609.344, "mi mile miles"),
    ("m", 0.3048, "ft foot feet"),
    ("m", 0.0254, "inch inches"),
    ("g", 0.001, "mg milligram milligrams"),
    ("g", 1, "g gram grams gramm gramme grammes gramos gramas grammi"),
    ("g", 1000, "kg kgs kilo kilos kilogram kilograms kilogramm"),
    ("g", 453.592, "lb lbs pound-weight"),
    ("l", 0.001, "ml millilitre millilitres milliliter milliliters"),
    ("l", 1, "l litre litres liter liters litro litros litri"),
    ("%", 1, "% percent pct prozent percento por-cento pourcent"),
    ("usd", 1, "$ usd dollar dollars buck bucks"),
    ("eur", 1, "€ eur euro euros"),
    ("gbp", 1, "£ gbp quid"),
    ("°", 1, "° °c degrees grad degrés grados graus gradi celsius"),
)
UNITS: Final = {word: (dimension, factor) for dimension, factor, words in _UNITS for word in words.split()}
"""A unit's spelling -> its dimension and how much of it one is."""

RATES: Final = {
    "hour": "hourly", "day": "daily", "night": "nightly", "week": "weekly", "month": "monthly", "year": "yearly",
    "annum": "yearly", "morning": "mornings", "evening": "evenings", "quarter": "quarterly", "weekday": "weekdays",
    "weekend": "weekends",
}  # fmt: skip
"""Unit -> the adverb that "a month", "per month" and "every month" are read as."""

_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DOTTED = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?")
MAX_NUMERAL: Final = 18
"""Digits of a number; a longer run of digits is a name: an account, an order."""


def parse_number(digits: str, language: str) -> float | None:
    """Return the number of a digit string; the comma separates thousands in English and decimals elsewhere.

    >>> parse_number("1,000", "en"), parse_number("1.000", "de"), parse_number("3.11.2", "en")
    (1000.0, 1000.0, None)
    """
    if len(digits) > MAX_NUMERAL or not digits.isascii():
        return None
    if language == "en" and _GROUPED.fullmatch(digits):
        digits = digits.replace(",", "")
    elif language != "en" and _DOTTED.fullmatch(digits):
        digits = digits.replace(".", "").replace(",", ".")
    digits = digits.replace(",", ".").replace("'", "")
    return float(digits) if digits.count(".") <= 1 and digits.replace(".", "").isdigit() else None


@cache
def number_words(language: str) -> dict[str, int]:
    """Return number words: a language other than English is a guess, so those of all others count."""
    return _NUMERALS["en"] if language == "en" else _FOREIGN_NUMBERS | _NUMERALS.get(language, {})


IDENTIFYING_NOUNS: Final = load_words("named")


class Token(NamedTuple):
    """Kind (date, clock, digits, word, mark, sign), folded text, and the text as written."""

    kind: str
    low: str
    raw: str


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount.

    Attributes:
        key: The amount in the base unit of its dimension, in one spelling; a version or a code as written.
        unit: The dimension; "" for a count.
        count: The amount in its own unit.
        near: The words before and behind it.
        early: Whether it stands before the verb.
    """

    key: str
    unit: str = ""
    count: str = ""
    near: tuple[str, str] = ("", "")
    early: bool = False

    @property
    def names(self) -> bool:
        """Whether it identifies rather than counts: "bird number 7", "chapter 3", "v2 of the map"."""
        return self.near[0].lower() in IDENTIFYING_NOUNS or (self.unit == "version" and self.near[1] == "of")


class StatementPiece(NamedTuple):
    """A word or mark (folded and as written), or a number, or a date."""

    low: str
    raw: str = ""
    number: Quantity | None = None
    day: DateValue | None = None


MAX_TOKENS: Final = 300
"""Tokens read of a text; a statement has about ten. The rest is compared as written."""
TOKEN_CACHE: Final = 2_000
"""Texts whose tokens are cached: an old statement meets many new ones."""

_TOKEN: Final = re.compile(
    r"(?P<plain>[^\W\d_]+(?![\w'\-&+#]|\.\w))"  # most of them, looked for first
    r"|(?P<date>\d{1,2}/\d{4}(?![\w/])|\d{4}[-/]\d{1,2}(?:[-/]\d{1,2})?(?![\w/-])|\d{1,2}(?:/\d{1,2}/|\.\d{1,2}\.)(?:\d{4}|\d{2})(?!\w|[./]\d))"
    r"|(?P<clock>\d{1,2}(?::\d{2}(?:\s?[ap]\.?m\b\.?)?|h\d{2}|\s?[ap]\.?m\b\.?|(?:[:.]\d{2})?\s?uhr\b)(?!\w))"
    r"|(?P<digits>(?:(?<![\w.)])[-−](?=\d))?(?:[$€£]\s?)?(?<![^\W\d_])\d+(?:[.,']\d+)*(?!\w*-\d)(?:-?[^\W\d_]+(?!\w)|\s?[%°]c?|[$€£])?(?!\w))"
    r"|(?P<word>\w+(?:['.\-_&]\w+)*(?:\+\+|\#)?)"
    r"|(?P<mark>[:=,;()/]|[!?.](?=\s|$)|->|→)"
    r"|(?P<sign>[^\w\s.!?'\"\[\]{}`*_|~#\\-])",  # an emoji, ≥, +: it may be all that differs
    re.IGNORECASE,
)
_CONTRACTED_WORDS: Final = {
    "dont": "do", "cant": "can", "isnt": "is", "doesnt": "does", "wont": "will", "didnt": "did", "arent": "are",
    "wasnt": "was", "couldnt": "could", "shouldnt": "should", "havent": "have", "hasnt": "has", "cannot": "can",
    "can't": "can", "won't": "will", "shan't": "shall", "ain't": "is",
}  # fmt: skip
_CONTRACTED_ENDINGS: Final = (
    ("'s", "'s"), ("'m", "am"), ("'re", "are"), ("'ve", "have"), ("'ll", "will"), ("'d", "would"),
)  # fmt: skip


@lru_cache(TOKEN_CACHE)
def statement_tokens(text: str, language: str) -> tuple[tuple[Token, ...], str]:
    """Return the tokens of a statement in its language, and the text beyond the ``MAX_TOKENS``-th.

    >>> [token.low for token in statement_tokens("We don't ship 30-second ads.", "en")[0]]
    ['we', 'do', 'not', 'ship', '30-second', 'ads', '.']
    """
    plain = normalize_typography(text)
    if not plain.isascii():
        plain = unicodedata.normalize("NFC", plain.encode("utf-8", "replace").decode())  # no lone surrogates
    tokens: list[Token] = []
    for match in _TOKEN.finditer(plain):
        if len(tokens) >= MAX_TOKENS:
            return tuple(tokens), " ".join(plain[match.start() :].lower().split()).rstrip(" .!?")
        kind = match.lastgroup or ""
        raw = match.group()
        low = raw.lower()
        if kind == "plain" and low not in _CONTRACTED_WORDS:
            tokens.append(Token("word", low, raw))
        elif kind in ("plain", "word"):
            tokens += _english_tokens(raw, low) if language == "en" else _elided_tokens(raw)
        else:
            tokens.append(Token(kind, low, raw))
    return tuple(_join_phrases(tokens) if language == "en" else tokens), ""


def _english_tokens(raw: str, low: str) -> list[Token]:
    if low in _CONTRACTED_WORDS or low.endswith("n't"):
        return [Token("word", _CONTRACTED_WORDS.get(low) or low[:-3], ""), Token("word", "not", "")]
    for ending, expansion in _CONTRACTED_ENDINGS if "'" in low else ():
        if low.endswith(ending):
            return [Token("word", low[: -len(ending)], raw[: -len(ending)]), Token("word", expansion, "")]
    if "-" not in low or low in ("used-to", "no-longer"):
        return [Token("word", low, raw)]
    return [Token("word", part.lower(), part) for part in raw.split("-") if part]


def _elided_tokens(raw: str) -> list[Token]:
    return [Token("word", part.lower(), part) for part in raw.split("'") if part]


def _join_phrases(tokens: list[Token]) -> list[Token]:
    table = phrase_openings()
    if table.keys().isdisjoint([token.low for token in tokens]):
        return tokens
    joined: list[Token] = []
    at = 0
    while at < len(tokens):
        kind, low, raw = tokens[at]
        for rest, phrase in table.get(low, ()):
            if tuple(token.low for token in tokens[at + 1 : at + 1 + len(rest)]) == rest:
                joined.append(Token("word", phrase, raw))
                at += len(rest)
                break
        else:
            joined.append(Token(kind, low, raw))
        at += 1
    return joined


def _word_at(tokens: list[Token], at: int) -> str:
    """Return the folded text of a token, "" behind the last."""
    return tokens[at].low if at < len(tokens) else ""


ParsedAmount = tuple[list[StatementPiece], int]

_DIGITS: Final = re.compile(r"([-−]?)([$€£]?)\s?(\d[\d.,']*)(-?)\s?(.*)")
_DURATION: Final = re.compile(r"(\d{1,2})h(\d{2})")
"""A duration, where the language writes a time of day with a colon."""
_VERSION: Final = re.compile(r"v\d[\w.]*")
_ORDINALS: Final = frozenset(("st", "nd", "rd", "th"))
_ARTICLES: Final = frozenset(("a", "an"))
_EACH: Final = frozenset(("per", "every", "each", "/"))
_DURATION_LEADS: Final = load_words("lasting")
_AMBIGUOUS_NUMBERS: Final = frozenset(("one", "un", "uno", "um", "eins", "nove", "once", "single", "second"))
"""Number words with other meanings; they need a unit."""
_AFTER_A: Final = frozenset(("dozen", "couple", "hundred", "thousand", "million"))
_HALVES: Final = {"half": 0.5, "quarter": 0.25}
_MAX_FRACTION_WORDS: Final = 4
AMOUNT_OPENERS: Final = frozenset((*SCALES, *_ARTICLES, *_EACH, *_HALVES, "version"))
"""Words besides the number words that a number begins with."""


def parse_amount(tokens: list[Token], at: int, language: str) -> ParsedAmount | None:
    """Return the pieces of the number that begins at a token, and how many tokens it takes."""
    kind, low, _ = tokens[at]
    duration = _DURATION.fullmatch(low) if kind == "clock" and language in ("en", "de") else None
    if duration:
        seconds = _amount_key(int(duration[1]) * 3600 + int(duration[2]) * 60)
        return _amount_at(tokens, at, at + 1, seconds, "s")
    if kind in ("digits", "clock", "date"):
        return _parse_digits(tokens, at, language)
    if _VERSION.fullmatch(low):
        return _amount_at(tokens, at, at + 1, low[1:], "version")
    if language == "en":
        if low == "version" and at + 1 < len(tokens) and tokens[at + 1].kind == "digits":
            return _amount_at(tokens, at, at + 2, tokens[at + 1].low, "version")
        if found := _parse_rate(tokens, at) or _parse_fraction(tokens, at):
            return found
    return _parse_number_words(tokens, at, language)


def _parse_digits(tokens: list[Token], at: int, language: str) -> ParsedAmount:
    _, low, raw = tokens[at]
    match = _DIGITS.fullmatch(low)
    amount = parse_number(match[3], language) if match else None
    if match is None or amount is None:
        return _amount_at(tokens, at, at + 1, low)
    minus, sign, _, dash, suffix = match.groups()
    amount = -amount if minus else amount
    if suffix in _ORDINALS:
        return _amount_at(tokens, at, at + 1, _amount_key(amount), "th")
    if suffix in SCALES or (suffix == "m" and sign):
        amount, suffix = amount * SCALES.get(suffix, 1_000_000), ""
    if sign or suffix in UNITS:
        unit, factor = UNITS[sign or suffix]
        return _amount_at(tokens, at, at + 1, _amount_key(amount * factor), unit, _amount_key(amount))
    if suffix and not dash:
        return [StatementPiece(low, raw)], 1
    if not suffix:
        return _with_unit(tokens, at, at + 1, amount)
    pieces, _ = _with_unit(tokens, at, at, amount)
    return [*pieces, StatementPiece(suffix, suffix)], 1


def _parse_number_words(tokens: list[Token], at: int, language: str) -> ParsedAmount | None:
    known, end, total, part, found = number_words(language), at, 0.0, 0.0, False
    if tokens[at].low == "a" and _word_at(tokens, at + 1) in _AFTER_A:
        end += 1
    while end < len(tokens) and end < at + 9:
        low = tokens[end].low
        if low in known and low != "dozen":
            part, found = part + known[low], True
        elif low in SCALES and (
            found or end > at or low in ("hundert", "tausend", "mil", "mille", "dozen", "cento")
        ):
            part = (part or 1) * SCALES[low]
            if SCALES[low] > 100:
                total, part = total + part, 0.0
            found = True
        elif not (low == "and" and found and _word_at(tokens, end + 1) in known and part >= 100):
            break
        end += 1
    if not found or (
        end == at + 1 and tokens[at].low in _AMBIGUOUS_NUMBERS and not _counts_unit(tokens, end)
    ):
        return None
    return _with_unit(tokens, at, end, total + part)


def _counts_unit(tokens: list[Token], end: int) -> bool:
    following = [token.low for token in tokens[end : end + 3]]
    often = tokens[end - 1].low == "once" and len(following) > 1
    rate = often and following[0] in _EACH | _ARTICLES and following[1] in RATES
    return bool(following) and (rate or following[0] in UNITS or following == ["and", "a", "half"])


def _with_unit(tokens: list[Token], at: int, end: int, amount: float) -> ParsedAmount:
    amount, used = _with_fraction(tokens, end, amount)
    end += used
    low = _word_at(tokens, end) if at < end else ""
    if low in SCALES and low != "cent" and end < len(tokens):
        amount, end = amount * SCALES[low], end + 1
        low = _word_at(tokens, end)
    if low not in UNITS or low == "in":
        return _amount_at(tokens, at, max(end, at + 1), _amount_key(amount))
    unit, factor = UNITS[low]
    end += 1
    if [token.low for token in tokens[end : end + 3]] == ["and", "a", "half"]:
        amount, end = amount + 0.5, end + 3
    return _amount_at(tokens, at, end, _amount_key(amount * factor), unit, _amount_key(amount))


def _parse_rate(tokens: list[Token], at: int) -> ParsedAmount | None:
    """Return "a month", "per month", "every month" as one word, or as a duration."""
    low, unit, following = tokens[at].low, _word_at(tokens, at + 1), _word_at(tokens, at + 2)
    if low in _EACH and unit == "quarter" and following == "of":
        return None
    if low in _EACH and unit in RATES:
        return [StatementPiece(RATES[unit], unit)], 2
    if low not in _ARTICLES or unit not in RATES:
        return None
    before = tokens[at - 1].low if at else ""
    if unit == "quarter" and following in ("of", "past", "to"):
        return None
    if before in _DURATION_LEADS and unit in UNITS:
        return _with_unit(tokens, at, at + 1, 1)
    return [StatementPiece(RATES[unit], unit)], 2


def _with_fraction(tokens: list[Token], at: int, integer: float) -> tuple[float, int]:
    """Return a number with "point five", "and a half" or "quarters of", and the tokens used."""
    following = [token.low for token in tokens[at : at + 3]]
    if following == ["and", "a", "half"]:
        return integer + 0.5, 3
    if following[:1] == ["quarters"]:
        return integer / 4, 1 + sum(token.low in ("of", "an") for token in tokens[at + 1 : at + 3])
    digit = number_words("en").get(following[1]) if len(following) > 1 and following[0] == "point" else None
    return (integer + digit / 10, 2) if digit is not None and digit < 10 else (integer, 0)


def _parse_fraction(tokens: list[Token], at: int) -> ParsedAmount | None:
    part = _HALVES.get(tokens[at].low)
    for skip in range(1, _MAX_FRACTION_WORDS) if part else ():
        low = _word_at(tokens, at + skip)
        if (low in UNITS or low in SCALES) and part:
            return _with_unit(tokens, at, at + skip, part)
        if low not in ("a", "an", "of"):
            break
    return None


def _amount_at(
    tokens: list[Token], at: int, end: int, key: str, unit: str = "", count: str = ""
) -> ParsedAmount:
    before = tokens[at - 1].raw if at and tokens[at - 1].kind == "word" else ""
    after = tokens[end].low if end < len(tokens) and tokens[end].kind == "word" else ""
    return [StatementPiece("", tokens[at].raw, Quantity(key, unit, count or key, (before, after)))], end - at


def _amount_key(amount: float) -> str:
    return format(amount, ".9g")


_NOON: Final = {**dict.fromkeys(("noon", "midday", "mittags", "midi"), HALF_DAY), "midnight": 0, "minuit": 0}
_BEFORE: Final = load_words("quantities_before")
_BETWEEN: Final = frozenset((",", "of", "the", "de", "."))
_CLOCK_DIRECTIONS: Final = {"past": 1, "after": 1, "to": -1, "before": -1}
_CLOCK_FRACTIONS: Final = {"half": 30, "quarter": 15}
_HOUR_WORDS: Final = number_words("en")
_DAYS: Final = range(1, 32)
_YEARS: Final = range(1900, 2101)
_YEAR_AFTER: Final = load_words("year_after")

DATE_OPENERS: Final = frozenset((*_NOON, *_CLOCK_FRACTIONS, *_ORDINAL_WORDS, *MONTHS, *WEEKDAYS, *PLURALS))
"""Words that a date or a time of day begins with."""


def parse_spoken_date(tokens: list[Token], at: int) -> tuple[list[StatementPiece], int] | None:
    """Return the pieces of the date that begins at a token, and how many tokens it takes; None where none does."""
    kind, low, raw = tokens[at]
    if kind == "digits":
        return _parse_day_month(tokens, at) or _parse_year(tokens, at)
    if low in _NOON:
        return [StatementPiece("", raw, day=DateValue(minute=_NOON[low]))], 1
    if low in _CLOCK_FRACTIONS:
        return _parse_clock_phrase(tokens, at)
    if low in _ORDINAL_WORDS:
        return _parse_day_month(tokens, at)
    if _month_at(tokens, at):
        return _parse_month_day(tokens, at)
    weekday = WEEKDAYS.get(low, PLURALS.get(low))
    if weekday is not None and (low not in AMBIGUOUS_SPELLINGS or raw[:1].isupper()):
        return [StatementPiece("", raw, day=DateValue(weekday=weekday))], 1
    return None


def _month_at(tokens: list[Token], at: int) -> int | None:
    """Return a month; one that is also another word needs a capital and a date beside it."""
    _, low, raw = tokens[at]
    month = MONTHS.get(low)
    if month is None or low not in AMBIGUOUS_SPELLINGS:
        return month
    beside = {tokens[at - 1].low if at else "", tokens[at - 1].kind if at else ""}
    after = tokens[at + 1].kind if at + 1 < len(tokens) else ""
    return (
        month
        if "digits" in beside or (raw[:1].isupper() and (after == "digits" or beside & _BEFORE))
        else None
    )


def _day_of(token: Token) -> int | None:
    low = token.low.rstrip(".").removesuffix("st").removesuffix("nd").removesuffix("rd").removesuffix("th")
    day = int(low) if low.isdecimal() and len(low) < 3 else _ORDINAL_WORDS.get(token.low)
    return day if day in _DAYS else None


def _parse_day_month(tokens: list[Token], at: int) -> tuple[list[StatementPiece], int] | None:
    day, month_at = _day_of(tokens[at]), at + 1
    while _word_at(tokens, month_at) in _BETWEEN and month_at - at < 3:
        month_at += 1
    if day is None or month_at >= len(tokens) or tokens[month_at].kind != "word":
        return None
    month = MONTHS.get(tokens[month_at].low)
    if month is None:
        return None
    year, used = _year_at(tokens, month_at + 1)
    return [
        StatementPiece("", tokens[month_at].raw, day=DateValue(year, month, day))
    ], month_at + 1 + used - at


def _parse_month_day(tokens: list[Token], at: int) -> tuple[list[StatementPiece], int]:
    day_at = at + 1
    if _word_at(tokens, day_at) in _BETWEEN:
        day_at += 1
    day = _day_of(tokens[day_at]) if day_at < len(tokens) and tokens[day_at].kind == "digits" else None
    end = day_at + 1 if day else at + 1
    year, used = _year_at(tokens, end)
    return [
        StatementPiece("", tokens[at].raw, day=DateValue(year, _month_at(tokens, at), day))
    ], end + used - at


def _year_at(tokens: list[Token], at: int) -> tuple[int | None, int]:
    used = 1
    if _word_at(tokens, at) in _BETWEEN:
        at, used = at + 1, 2
    low = _word_at(tokens, at)
    return (int(low), used) if low.isdecimal() and len(low) == 4 and int(low) in _YEARS else (None, 0)


def _parse_year(tokens: list[Token], at: int) -> tuple[list[StatementPiece], int] | None:
    year, _ = _year_at(tokens, at)
    if year is None or not at or tokens[at - 1].low not in _YEAR_AFTER:
        return None
    return [StatementPiece("", tokens[at].raw, day=DateValue(year))], 1


def _parse_clock_phrase(tokens: list[Token], at: int) -> tuple[list[StatementPiece], int] | None:
    """Return "half past four" and the like."""
    if at + 2 >= len(tokens) or tokens[at + 1].low not in _CLOCK_DIRECTIONS:
        return None
    low = tokens[at + 2].low
    hour = int(low) if low.isdecimal() and len(low) < 3 else _HOUR_WORDS.get(low)
    if hour is None or not 0 < hour <= 24:
        return None
    minute = hour * 60 + _CLOCK_DIRECTIONS[tokens[at + 1].low] * _CLOCK_FRACTIONS[tokens[at].low]
    return [
        StatementPiece("", tokens[at].raw, day=DateValue(minute=minute % (2 * HALF_DAY), vague=hour <= 12))
    ], 3


def parse_pieces(text: str, language: str) -> tuple[list[StatementPiece], str]:
    """Return the pieces of a statement, and the text beyond ``MAX_TOKENS``."""
    every, rest = statement_tokens(text, language)
    tokens = list(every)
    pieces: list[StatementPiece] = []
    openers = _openers(language)
    at = 0
    while at < len(tokens):
        kind, low, raw = tokens[at]
        if kind == "word" and low not in openers and not (low[0] == "v" and low[1:2].isdigit()):
            pieces.append(StatementPiece(low, raw))
        elif kind == "mark":
            pieces.append(StatementPiece(low))
        elif kind == "date" and (day := parse_day_first_date(low)):
            pieces.append(StatementPiece("", raw, day=day))
        elif (
            kind == "clock"
            and not (language in ("en", "de") and "h" in low and "u" not in low)
            and (clock := parse_clock(low))
        ):
            pieces.append(StatementPiece("", raw, day=DateValue(minute=clock[0], vague=clock[1])))
        elif found := parse_spoken_date(tokens, at) or parse_amount(tokens, at, language):
            pieces += found[0]
            at += found[1] - 1
        else:
            pieces.append(StatementPiece(low, raw))
        at += 1
    return pieces, rest


@cache
def _openers(language: str) -> frozenset[str]:
    return DATE_OPENERS | AMOUNT_OPENERS | frozenset(number_words(language))
