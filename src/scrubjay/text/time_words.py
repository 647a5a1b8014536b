"""Time words: the words of a language that speak of time, and the orders in which they do.

A language is a table. A word has classes, each with a number: *March* is ``month`` 3, *last* is ``which`` -1,
*two* is ``number`` 2. A rule is an order of classes, ``?`` behind one that may be missing; its name says how
`text.times` works it out. Another language is another table, and no code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Final

DAY, WEEK, MONTH, QUARTER, YEAR, HOUR, MINUTE = range(1, 8)
"""Numbers of the units: values of the class ``unit``."""


@dataclass(frozen=True, slots=True)
class Tongue:
    """What a language says of time.

    Attributes:
        words: Word (lower case) to its classes and their numbers.
        rules: Class a match begins with to its rules: name and further classes, the longest first.
        shy: Months that mean something else as often (*may*, *march*).
        small: Words that speak of time only in lower case (*morgen*).
    """

    words: Mapping[str, Mapping[str, int]]
    rules: Mapping[str, Sequence[tuple[str, tuple[str, ...]]]]
    shy: frozenset[str] = frozenset()
    small: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Words:
    held: dict[str, dict[str, int]] = field(default_factory=dict)

    def put(self, name: str, value: int, words: str) -> None:
        for word in words.split():
            self.held.setdefault(word, {})[name] = value

    def row(self, name: str, first: int, rows: str) -> None:
        """Number groups of words, separated by ``|``, from ``first``."""
        for value, words in enumerate(rows.split("|"), first):
            self.put(name, value, words)


def _rules(*rules: tuple[str, str]) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for name, order in rules:
        parts = [((part[:-1],), ()) if part.endswith("?") else ((part,),) for part in order.split()]
        for chosen in product(*parts):
            first, *rest = [one for part in chosen for one in part]
            found.setdefault(first, []).append((name, tuple(rest)))
    for held in found.values():
        held.sort(key=lambda rule: -len(rule[1]))
    return found


def _english() -> Tongue:
    words = _Words()
    words.row(
        "month",
        1,
        "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sep sept"
        "|october oct|november nov|december dec",
    )
    words.row("weekday", 0, "monday|tuesday|wednesday|thursday|friday|saturday|sunday")
    words.row("season", 0, "spring|summer|autumn fall|winter")
    units = "day days|week weeks|month months|quarter quarters|year years|hour hours|minute minutes"
    words.row("unit", DAY, units)
    words.row("number", 1, "one a an|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve")
    words.put("number", 2, "couple")
    words.put("number", 3, "few")
    words.put("fortnight", 2, "fortnight")
    words.row("dayword", -1, "yesterday|today|tomorrow")
    words.row("which", -1, "last|this current|next")
    words.put("past", 0, "past last previous")
    words.put("ago", 0, "ago back")
    words.put("weekend", 0, "weekend")
    words.row("part_of_day", 0, "morning|afternoon|evening|night")
    words.put("habit", 0, "mornings afternoons evenings nights")
    words.row("third", 0, "early|mid|late")
    words.put("the", 0, "the this a my our")
    words.put("in", 0, "in during within over throughout")
    words.put("on", 0, "on at")
    for name, held in (
        ("since", "since"), ("until", "until till"), ("before", "before"), ("after", "after"),
        ("from", "from"), ("of", "of"), ("between", "between"), ("to", "to until till through"),
        ("and", "and"), ("onward", "on onward onwards"), ("as", "as"),
    ):  # fmt: skip
        words.put(name, 0, held)
    rules = _rules(
        ("given", "date"),
        ("day", "the? daynum of? month year?"),
        ("day", "month the? daynum year?"),
        ("month", "third? month of? year"),
        ("lone_month", "third? month"),
        ("lone_year", "third? year"),
        ("which_unit", "the? which unit"),
        ("which_month", "which month"),
        ("which_weekday", "which weekday"),
        ("lone_weekday", "weekday"),
        ("which_season", "which season"),
        ("season", "the? season of? year"),
        ("lone_season", "the season"),
        ("ago", "number of? unit ago"),
        ("ago", "number number of? unit ago"),
        ("fortnight", "number fortnight ago"),
        ("rolling", "the? past number of? unit"),
        ("rolling", "the? past number number of? unit"),
        ("past", "the? only_past unit"),
        ("past", "the last_one unit"),
        ("weekend", "which weekend"),
        ("weekend", "the weekend"),
        ("weekend", "the which weekend"),
        ("quarter", "quarter of? year"),
        ("lone_quarter", "quarter"),
        ("dayword", "dayword part_of_day?"),
        ("eve", "the? unit before dayword"),
        ("morrow", "the? unit after dayword"),
        ("part_of_day", "which part_of_day"),
    )
    words.put("only_past", 0, "past")
    words.put("last_one", 0, "last")
    return Tongue(words.held, rules, frozenset({"may", "march", "mar", "dec", "sep", "jan", "jun"}))


def _german() -> Tongue:
    words = _Words()
    words.row(
        "month",
        1,
        "januar jänner jan|februar feb|märz mär maerz|april apr|mai|juni jun|juli jul|august aug"
        "|september sep sept|oktober okt|november nov|dezember dez",
    )
    words.row("weekday", 0, "montag|dienstag|mittwoch|donnerstag|freitag|samstag sonnabend|sonntag")
    words.row("season", 0, "frühling frühjahr|sommer|herbst|winter")
    words.row(
        "unit",
        DAY,
        "tag tage tagen|woche wochen|monat monate monaten monats|quartal quartale quartalen|"
        "jahr jahre jahren jahres|stunde stunden|minute minuten",
    )
    words.row(
        "number", 1, "ein einem einer einen eine|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf"
    )
    words.put("number", 2, "paar")
    words.put("number", 3, "einigen")
    words.row("dayword", -2, "vorgestern|gestern|heute|morgen|übermorgen")
    ends = ("e", "en", "er", "es", "em")
    for value, stems in ((-1, "letzt vergangen vorig"), (0, "dies"), (1, "nächst kommend")):
        words.put("which", value, " ".join(stem + end for stem in stems.split() for end in ends))
    words.put("past", 0, " ".join(stem + end for stem in ("letzt", "vergangen") for end in ends))
    words.put("ago", 0, "vor")
    words.put("weekend", 0, "wochenende")
    words.row("part_of_day", 0, "morgen früh|nachmittag|abend|nacht")
    words.row("third", 0, "anfang|mitte|ende")
    words.put("the", 0, "der die das dem den des")
    words.put("in", 0, "in im während")
    words.put("on", 0, "am an")
    for name, held in (
        ("since", "seit ab"), ("until", "bis"), ("before", "vor"), ("after", "nach"), ("from", "vom von"),
        ("of", "zum zur"), ("between", "zwischen"), ("to", "bis"), ("and", "und"), ("stand", "stand"),
    ):  # fmt: skip
        words.put(name, 0, held)
    rules = _rules(
        ("given", "date"),
        ("day", "the? daydot month year?"),
        ("month", "third? month year"),
        ("lone_month", "third? month"),
        ("lone_year", "third? year"),
        ("which_unit", "the? which unit"),
        ("which_month", "which month"),
        ("which_weekday", "the? which weekday"),
        ("lone_weekday", "weekday"),
        ("which_season", "the? which season"),
        ("season", "season year"),
        ("lone_season", "season"),
        ("ago", "ago number unit"),
        ("ago", "ago number number unit"),
        ("rolling", "the? past number unit"),
        ("rolling", "the? past number number unit"),
        ("weekend", "the? which weekend"),
        ("lone_weekend", "weekend"),
        ("quarter", "quarter year"),
        ("lone_quarter", "quarter"),
        ("dayword", "dayword part_of_day?"),
    )
    return Tongue(words.held, rules, small=frozenset({"morgen"}))


TONGUES: Final = (_english(), _german())
"""The languages that are understood; what every one of them says is tried, and the longest reading kept."""
