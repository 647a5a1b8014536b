"""Figures: numbers and their units in one spelling: "a dozen" is 12, "1k" is 1,000, "half an hour" is 1,800 seconds.

What a number is of stays with it as a dimension: seconds, bytes, metres, a currency, or nothing where it counts.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

_SMALL: Final = (
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
TONGUES: Final = ("en", "de", "fr", "es", "pt", "it")
"""Languages of the tables above, in their order."""
_TWINS: Final = {
    "de": {"zwo": 2, "dutzend": 12},
    "es": {"docena": 12},
    "fr": {"douzaine": 12},
    "pt": {"duas": 2, "dúzia": 12},
    "it": {"dozzina": 12},
}
_ALSO_ENGLISH: Final = {
    "dozen": 12,
    "couple": 2,
    "twice": 2,
    "thrice": 3,
    "once": 1,
    "half-dozen": 6,
    "single": 1,
}
SCALES: Final = {
    "hundred": 100, "thousand": 1000, "million": 1_000_000, "billion": 1_000_000_000, "k": 1000, "mio": 1_000_000,
    "hundert": 100, "tausend": 1000, "millionen": 1_000_000, "mille": 1000, "mil": 1000, "mila": 1000, "cent": 100,
    "cien": 100, "cem": 100, "cento": 100, "million's": 1_000_000, "bn": 1_000_000_000, "dozen": 12,
}  # fmt: skip
_OWN: Final = {
    tongue: {word: at for at, word in enumerate(_SMALL[place].split())}
    | {word: (at + 2) * 10 for at, word in enumerate(_TENS[place].split())}
    | (_ALSO_ENGLISH if tongue == "en" else _TWINS[tongue])
    for place, tongue in enumerate(TONGUES)
}
_FOREIGN: Final = {word: at for tongue in TONGUES[1:] for word, at in _OWN[tongue].items()}

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
"""What "a month", "per month" and "every month" say in one word."""

_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DOTTED = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?")
LONGEST: Final = 18
"""Digits of a number; a longer run of digits is a name: an account, an order."""


def value(digits: str, tongue: str) -> float | None:
    """Return the number that digits write; the comma parts thousands in English and decimals elsewhere.

    >>> value("1,000", "en"), value("1.000", "de"), value("2,5", "de"), value("3.11.2", "en")
    (1000.0, 1000.0, 2.5, None)
    """
    if len(digits) > LONGEST or not digits.isascii():
        return None
    if tongue == "en" and _GROUPED.fullmatch(digits):
        digits = digits.replace(",", "")
    elif tongue != "en" and _DOTTED.fullmatch(digits):
        digits = digits.replace(".", "").replace(",", ".")
    digits = digits.replace(",", ".").replace("'", "")
    return float(digits) if digits.count(".") <= 1 and digits.replace(".", "").isdigit() else None


@cache
def numerals(tongue: str) -> dict[str, int]:
    """Return the number words of a language. Which it is, if not English, is a guess: those of all others count too."""
    return _OWN["en"] if tongue == "en" else _FOREIGN | _OWN.get(tongue, {})
