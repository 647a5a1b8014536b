"""Temporal expressions: the dates and periods that a text names, in English and German, as local time ranges.

A language is a table: a word has classes with numbers (*March* is ``month`` 3, *last* is ``which`` -1), and a rule is
a sequence of classes, ``?`` behind an optional one. Ambiguous text is left alone: ``12/4``, ``2.10.3``, *may* without
a sign that a month is meant. Weeks begin on Monday, spring in March, and a winter has the year in which it begins.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from itertools import pairwise, product
from typing import Final

from scrubjay.frozen import frozen

DAY, WEEK, MONTH, QUARTER, YEAR, HOUR, MINUTE = range(1, 8)
"""Numbers of the units: values of the class ``unit``."""


@frozen
class TimeVocabulary:
    """The words and rules of a language.

    Attributes:
        words: Lower-case word to its classes and their numbers.
        rules: First class of a match to its rules: name and further classes, the longest first.
        ambiguous: Months that often mean something else (*may*, *march*).
        lower_case_only: Words that name a time only in lower case (*morgen*).
    """

    words: Mapping[str, Mapping[str, int]]
    rules: Mapping[str, Sequence[tuple[str, tuple[str, ...]]]]
    ambiguous: frozenset[str] = frozenset()
    lower_case_only: frozenset[str] = frozenset()


@dataclass(slots=True)
class _WordClasses:
    table: dict[str, dict[str, int]] = field(default_factory=dict)

    def put(self, name: str, value: int, words: str) -> None:
        for word in words.split():
            self.table.setdefault(word, {})[name] = value

    def row(self, name: str, first: int, rows: str) -> None:
        """Number groups of words, separated by ``|``, from ``first``."""
        for value, words in enumerate(rows.split("|"), first):
            self.put(name, value, words)


def _rule_table(*rules: tuple[str, str]) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for name, order in rules:
        parts = [((part[:-1],), ()) if part.endswith("?") else ((part,),) for part in order.split()]
        for chosen in product(*parts):
            first, *rest = [reading for part in chosen for reading in part]
            found.setdefault(first, []).append((name, tuple(rest)))
    for entries in found.values():
        entries.sort(key=lambda rule: -len(rule[1]))
    return found


def _english() -> TimeVocabulary:
    words = _WordClasses()
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
    words.row("edge", 0, "beginning start|middle|end")
    words.row("nth", 1, "first|second|third|fourth|fifth")
    words.put("nth", 0, "last")
    words.put("calendar", 0, "calendar")
    words.put("the", 0, "the this a my our")
    words.put("in", 0, "in during within over throughout")
    words.put("on", 0, "on at")
    for name, names in (
        ("since", "since"), ("until", "until till"), ("before", "before"), ("after", "after"),
        ("from", "from"), ("of", "of"), ("between", "between"), ("to", "to until till through"),
        ("and", "and"), ("onward", "on onward onwards"), ("as", "as"), ("half", "half"),
    ):  # fmt: skip
        words.put(name, 0, names)
    rules = _rule_table(
        ("given", "date"),
        ("day", "the? daynum of? month year?"),
        ("day", "month the? daynum year?"),
        ("day", "the? daynum of? month of? which unit"),
        ("day", "month the? daynum of? which unit"),
        ("day", "which unit on? the? daynum of? month"),
        ("day", "which unit on? month the? daynum"),
        ("month", "third? month of? year"),
        ("month", "third? month of? which unit"),
        ("month", "which unit in third? month"),
        ("month", "the? edge of month year"),
        ("lone_month", "third? month"),
        ("lone_month", "the? edge of month"),
        ("lone_year", "third? year"),
        ("lone_year", "the? edge of year"),
        ("calendar_week", "calendar unit number year?"),
        ("which_unit", "the? which unit"),
        ("which_month", "which month"),
        ("weekday", "which weekday part_of_day?"),
        ("lone_weekday", "weekday part_of_day?"),
        ("which_season", "which season"),
        ("season", "the? season of? year"),
        ("season", "the season of? which unit"),
        ("season", "in season of? which unit"),
        ("season", "which unit in the? season"),
        ("lone_season", "the season"),
        ("ago", "number? number of? unit ago"),
        ("half_ago", "half number unit ago"),
        ("fortnight", "number fortnight ago"),
        ("rolling", "the? past number? number of? unit"),
        ("rolling", "the? only_past unit"),
        ("rolling", "the last_one unit"),
        ("weekend", "the? which weekend"),
        ("weekend", "the weekend"),
        ("quarter", "third? quarter of? year"),
        ("quarter", "third? quarter of? which unit"),
        ("quarter", "which unit in? third? quarter"),
        ("lone_quarter", "third? quarter"),
        ("dayword", "dayword part_of_day?"),
        ("eve", "the? unit before dayword"),
        ("morrow", "the? unit after dayword"),
        ("part_of_day", "which part_of_day"),
    )
    words.put("only_past", 0, "past")
    words.put("last_one", 0, "last")
    return TimeVocabulary(words.table, rules, frozenset({"may", "march", "mar", "dec", "sep", "jan", "jun"}))


def _german() -> TimeVocabulary:
    words = _WordClasses()
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
    for value, stem in enumerate(("letzt", "erst", "zweit", "dritt", "viert", "fünft")):
        words.put("nth", value, " ".join(stem + end for end in ends))
    words.put("calendar", 0, "kw kalenderwoche")
    words.put("the", 0, "der die das dem den des")
    words.put("in", 0, "in im während")
    words.put("on", 0, "am an")
    for name, names in (
        ("since", "seit ab"), ("until", "bis"), ("before", "vor"), ("after", "nach"), ("from", "vom von"),
        ("of", "zum zur"), ("between", "zwischen"), ("to", "bis"), ("and", "und"), ("stand", "stand"),
        ("half", "halben"),
    ):  # fmt: skip
        words.put(name, 0, names)
    rules = _rule_table(
        ("given", "date"),
        ("day", "the? daydot month year?"),
        ("day", "the? daydot month the? which unit"),
        ("day", "which unit on? the? daydot month"),
        ("month", "third? month year"),
        ("month", "third? month the? which unit"),
        ("month", "which unit in third? month"),
        ("lone_month", "third? month"),
        ("lone_year", "third? year"),
        ("calendar_week", "calendar number year?"),
        ("which_unit", "the? which unit"),
        ("which_month", "which month"),
        ("weekday", "the? which weekday part_of_day?"),
        ("lone_weekday", "weekday part_of_day?"),
        ("which_season", "the? which season"),
        ("season", "season year"),
        ("season", "season the? which unit"),
        ("season", "which unit in? season"),
        ("lone_season", "season"),
        ("ago", "ago number? number unit"),
        ("half_ago", "ago number half unit"),
        ("rolling", "the? past number? number unit"),
        ("weekend", "the? which weekend"),
        ("lone_weekend", "weekend"),
        ("quarter", "third? quarter year"),
        ("quarter", "third? quarter the? which unit"),
        ("quarter", "which unit in? third? quarter"),
        ("lone_quarter", "third? quarter"),
        ("dayword", "dayword part_of_day?"),
    )
    return TimeVocabulary(words.table, rules, lower_case_only=frozenset({"morgen"}))


TIME_VOCABULARIES: Final = (_english(), _german())
"""The languages that are understood. All of them are tried, and the longest expression is used."""


_ISO: Final = re.compile(r"(\d{4})-(\d\d)(?:-(\d\d)(?:[Tt]\d\d:\d\d\S{0,20})?)?", re.ASCII)
_YEAR_FIRST: Final = re.compile(r"(\d{4})/(\d\d?)/(\d\d?)", re.ASCII)
_DOTTED: Final = re.compile(r"(\d\d?)\.(\d\d?)\.(\d{4})", re.ASCII)
_SLASHED: Final = re.compile(r"(\d\d?)/(\d\d?)/(\d{4})", re.ASCII)

DateRange = tuple[datetime, datetime, str]
"""First moment, first moment after it, precision."""
RuleNumbers = Mapping[str, int]
"""Class to number, of the words that a rule matched."""


def resolve_rule(rule: str, values: RuleNumbers, word: str, now: datetime) -> DateRange | None:
    try:
        if rule == "given":
            return parse_numeric_date(word)
        return _RULES[rule](values, now)
    except (ValueError, OverflowError):
        return None


def parse_numeric_date(word: str) -> DateRange | None:
    """Return a date written in digits; None for no date, or one that could be two."""
    try:
        if match := _ISO.fullmatch(word):
            year, month = int(match[1]), int(match[2])
            return _day(date(year, month, int(match[3]))) if match[3] else _month(year, month)
        if match := _YEAR_FIRST.fullmatch(word):
            return _day(date(int(match[1]), int(match[2]), int(match[3])))
        if match := _DOTTED.fullmatch(word):
            return _day(date(int(match[3]), int(match[2]), int(match[1])))
        if match := _SLASHED.fullmatch(word):
            first, second, year = int(match[1]), int(match[2]), int(match[3])
            if first > 12 or first == second:
                return _day(date(year, second, first))
            return _day(date(year, first, second)) if second > 12 else None
    except (ValueError, OverflowError):
        pass
    return None


def _day(day: date, days: int = 1, precision: str = "day") -> DateRange:
    start = datetime.combine(day, time())
    return start, start + timedelta(days=days), precision


def _month(year: int, month: int, months: int = 1, precision: str = "month") -> DateRange:
    later = year * 12 + month - 1 + months
    end = date(later // 12, later % 12 + 1, 1)
    return datetime.combine(date(year, month, 1), time()), datetime.combine(end, time()), precision


def _year(year: int) -> DateRange:
    return _month(year, 1, 12, "year")


def _latest_period(values: RuleNumbers, now: datetime, name: str) -> DateRange:
    month, length, precision = _CYCLES[name](values[name])
    year = now.year if now.month >= month else now.year - 1
    return _month(year, month, length, precision)


_CYCLES: Final[Mapping[str, Callable[[int], tuple[int, int, str]]]] = {
    "month": lambda number: (number, 1, "month"),
    "quarter": lambda number: (3 * number - 2, 3, "quarter"),
    "season": lambda number: (3 * number + 3, 3, "season"),
}


def _third_of(period: DateRange, values: RuleNumbers) -> DateRange:
    which = values.get("third", values.get("edge"))
    if which is None:
        return period
    start, end, _ = period
    third = timedelta(days=(end - start).days // 3)
    begin = start + third * which
    return begin, end if which == 2 else begin + third, "range"


def _named_period(name: str, values: RuleNumbers, now: datetime) -> DateRange:
    """Return the last completed, this or the next month or season of a name."""
    latest = _latest_period(values, now, name)
    step = values["which"]
    if step < 0:
        step = -1 if latest[1] > now else 0
    return _month(latest[0].year + step, latest[0].month, _CYCLES[name](1)[1], latest[2])


def _calendar_unit(unit: int, step: int, now: datetime) -> DateRange | None:
    today = now.date()
    if unit == WEEK:
        return _day(today - timedelta(days=today.weekday() - 7 * step), 7, "week")
    if unit == YEAR:
        return _year(today.year + step)
    if unit == QUARTER:
        months = (today.year * 4 + (today.month - 1) // 3 + step) * 3
        return _month(months // 12, months % 12 + 1, 3, "quarter")
    if unit == MONTH:
        months = today.year * 12 + today.month - 1 + step
        return _month(months // 12, months % 12 + 1)
    return None


def _calendar_week(values: RuleNumbers, now: datetime) -> DateRange | None:
    """Return a week by its number (ISO 8601); without a year the latest that began."""
    if values.get("unit", WEEK) != WEEK:
        return None
    year = values.get("year", now.isocalendar().year)
    week = _day(date.fromisocalendar(year, values["number"], 1), 7, "week")
    if "year" in values or week[0] <= now:
        return week
    return _day(date.fromisocalendar(year - 1, values["number"], 1), 7, "week")


def _week_around(day: datetime) -> DateRange:
    return _day(day.date() - timedelta(days=day.weekday()), 7, "week")


def _nth_of(number: int, weekday: int | None, month: DateRange) -> DateRange | None:
    """Return the nth seven days of a month, or the nth of a weekday in it; 0 for the last."""
    first, after, _ = month
    length = (after - first).days
    if weekday is None:
        start = length - 7 if number == 0 else 7 * number - 7
        return _day(first.date() + timedelta(days=start), 7, "week") if start + 7 <= length else None
    start = (weekday - first.weekday()) % 7
    start += (length - 1 - start) // 7 * 7 if number == 0 else 7 * number - 7
    return _day(first.date() + timedelta(days=start)) if start < length else None


def _go_back(now: datetime, number: int, unit: int) -> datetime:
    """Return the moment some units before now; in a shorter month, its last day."""
    if unit in (MONTH, QUARTER, YEAR):
        months = now.year * 12 + now.month - 1 - number * {MONTH: 1, QUARTER: 3, YEAR: 12}[unit]
        first = now.replace(year=months // 12, month=months % 12 + 1, day=1)
        length = (_month(first.year, first.month)[1] - _month(first.year, first.month)[0]).days
        return first.replace(day=min(now.day, length))
    return now - number * _LENGTHS[unit]


_LENGTHS: Final = {
    MINUTE: timedelta(minutes=1), HOUR: timedelta(hours=1), DAY: timedelta(days=1), WEEK: timedelta(weeks=1),
}  # fmt: skip


def _units_ago(values: RuleNumbers, now: datetime) -> DateRange:
    """Return the range around a moment ago: its day, the week, month or year around it, half an hour each way."""
    unit, number = values["unit"], values["number"]
    then = _go_back(now, number, unit)
    if unit in (HOUR, MINUTE):
        return then - timedelta(minutes=30), then + timedelta(minutes=30), "hour"
    if unit == YEAR:
        return _year(then.year)
    around, name = {DAY: (0, "day"), WEEK: (3, "week"), MONTH: (15, "month"), QUARTER: (45, "quarter")}[unit]
    return _day(then.date() - timedelta(days=around), 2 * around + 1, name)


def _half_year_ago(values: RuleNumbers, now: datetime) -> DateRange | None:
    return (
        _units_ago({"number": 6, "unit": MONTH}, now)
        if (values["number"], values["unit"]) == (1, YEAR)
        else None
    )


def _rolling(values: RuleNumbers, now: datetime) -> DateRange:
    unit, number = values["unit"], values.get("number", 1)
    then = _go_back(now, number, unit)
    if unit in (HOUR, MINUTE):
        return then, now + timedelta(minutes=1), "hour"
    return datetime.combine(then.date(), time()), _day(now.date())[1], "range"


def _day_of_month(values: RuleNumbers, now: datetime) -> DateRange:
    month, number = values["month"], values.get("daynum", values.get("daydot", 1))
    if "year" in values:
        return _day(date(values["year"], month, number))
    for year in range(now.year, now.year - 9, -1):  # the 29th of February is in one year of four, or of eight
        is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        if month == 2 and number == 29 and not is_leap:
            continue
        found = _day(date(year, month, number))
        if found[0] <= now:
            return found
    raise ValueError("no such day")


def _weekday(values: RuleNumbers, now: datetime) -> DateRange:
    """Return the last one before today, this week's, or the next after today; without a word, the latest."""
    today, day = now.date(), values["weekday"]
    days = (today.weekday() - day) % 7
    which = values.get("which")
    if which == 0:
        return _day(today + timedelta(days=day - today.weekday()))
    if which == 1:
        return _day(today + timedelta(days=7 - days))
    return _day(today - timedelta(days=days or (7 if which == -1 else 0)))


def _weekend(values: RuleNumbers, now: datetime) -> DateRange:
    """Return the last completed one, this week's, or next week's; without a word, the latest that began."""
    today = now.date()
    saturday = today + timedelta(days=5 - today.weekday())
    which = values.get("which")
    if which is None:
        which = 0 if today.weekday() >= 5 else -1
    return _day(saturday + timedelta(days=7 * which), 2, "range")


def _adjacent_day(step: int, values: RuleNumbers, now: datetime) -> DateRange | None:
    if values["unit"] != DAY:
        return None
    return _day(now.date() + timedelta(days=values["dayword"] + step))


def _day_part(values: RuleNumbers, now: datetime) -> DateRange | None:
    """Return today for "this morning"; last night is yesterday 18:00 to today 06:00."""
    if values["which"] == 0:
        return _day(now.date())
    if values["which"] == -1 and values["part_of_day"] == 3:
        start = datetime.combine(now.date(), time()) - timedelta(hours=6)
        return start, start + timedelta(hours=12), "hour"
    return None


_RULES: Final[Mapping[str, Callable[[RuleNumbers, datetime], DateRange | None]]] = {
    "day": _day_of_month,
    "month": lambda v, now: _third_of(_month(v["year"], v["month"]), v),
    "lone_month": lambda v, now: _third_of(_latest_period(v, now, "month"), v),
    "lone_year": lambda v, now: _third_of(_year(v["year"]), v),
    "calendar_week": _calendar_week,
    "which_unit": lambda v, now: _calendar_unit(v["unit"], v["which"], now),
    "which_month": lambda v, now: _named_period("month", v, now),
    "weekday": _weekday,
    "lone_weekday": _weekday,
    "which_season": lambda v, now: _named_period("season", v, now),
    "season": lambda v, now: _month(v["year"], *_CYCLES["season"](v["season"])),
    "lone_season": lambda v, now: _latest_period(v, now, "season"),
    "ago": _units_ago,
    "half_ago": _half_year_ago,
    "fortnight": lambda v, now: _units_ago({"number": 2 * v["number"], "unit": WEEK}, now),
    "rolling": _rolling,
    "weekend": _weekend,
    "lone_weekend": _weekend,
    "quarter": lambda v, now: _third_of(_month(v["year"], *_CYCLES["quarter"](v["quarter"])), v),
    "lone_quarter": lambda v, now: _third_of(_latest_period(v, now, "quarter"), v),
    "dayword": lambda v, now: _day(now.date() + timedelta(days=v["dayword"])),
    "eve": lambda v, now: _adjacent_day(-1, v, now),
    "morrow": lambda v, now: _adjacent_day(1, v, now),
    "part_of_day": _day_part,
}
"""Rule to its resolver: the numbers of its classes and now -> a stretch of time, or None."""


MAX_WORD_LENGTH: Final = 40
"""Maximum number of characters of a word in a time."""
YEARS: Final = range(1900, 2101)
"""Four digits that are read as a year."""
MAX_UNITS_AGO: Final = 1_000
"""Units ago from which on a number is not read as a time."""
_LEADING_MARKS: Final = "([{\"'`„“”‚‘’«»<*_"
_TRAILING_MARKS: Final = ".,;:!?)]}\"'`„“”‚‘’«»>*_…"
_SENTENCE_ENDS: Final = frozenset(".;:!?)]}…")
_POSSESSIVE: Final = ("'s", "’s")
_HYPHENATED_THIRD: Final = re.compile(r"\b(early|mid|late|anfang|mitte|ende)-(?=\w)", re.IGNORECASE)
_DAYS: Final = re.compile(r"(\d{1,2}\.?)([-–])(\d{1,2}\.?)", re.ASCII)
"""Two days with a dash between them: "5-12 October"."""
_ORDINAL: Final = re.compile(r"(\d\d?)(?:st|nd|rd|th)", re.ASCII)


@frozen
class TimeExpression:
    """A time that a text names: local start, exclusive end, and the characters of the expression.

    Attributes:
        precision: ``hour``, ``day``, ``week``, ``month``, ``season``, ``quarter``, ``year`` or ``range``.
        relation: ``in``, ``before`` (its start), ``until`` (its end), ``since`` (its start), ``after`` (its end)
            or ``as_of``.
    """

    start: datetime
    end: datetime
    precision: str
    relation: str
    first: int
    last: int


@frozen
class _Token:
    word: str
    raw: str
    first: int
    last: int
    closed: bool
    dotted: bool


@frozen
class _TimeAtom:
    """A time without the words before it: its tokens, rule and the rule's numbers."""

    begin: int
    end: int
    rule: str
    values: Mapping[str, int]
    period: DateRange


_DATE_WORDS: Final = "|".join(
    word
    for vocabulary in TIME_VOCABULARIES
    for word, classes in vocabulary.words.items()
    if not classes.keys().isdisjoint(("month", "weekday", "weekend", "season"))
)
_DATE_START: Final = rf"(?:\d{{1,2}}(?:st|nd|rd|th)?|{_DATE_WORDS})\b"
_AHEAD_SIGN: Final = re.compile(
    r"\b(?:will|shall|won't|going to|i'll|we'll|am i|coming up|upcoming|planned|scheduled|booked|happens"
    r"|what(?:'s| is) on|do (?:i|we) (?:have|need)|(?:have|has) (?:i|we|she|he) got"
    r"|werden?|wird|steht .{1,60}\ban\b|geplant)\b"
    # A verb in the present before a day; not "the note of" that day, nor what "we found" on it.
    r"|\b(?:is|are|do|does)(?: (?:i|we|you|he|she|they)\b)?"
    r"(?: (?!(?:i|we|you|he|she|they|who|that|which|\w{1,20}ed)\b)[\w'-]{1,20}){0,4} on (?:the )?"
    + _DATE_START
    + r"|\b(?:ist|sind|bin|hat|haben|gibt|kommt|kommen|passiert|(?:machen|feiern|treffen|fahren|gehen|essen) wir"
    r"|\w{1,20}(?<!t)e ich|(?:was|wer|wo|wohin|wann|wie) (?!\w{0,12}(?:tat|trat|bat|riet|hielt|galt)\b)\w{1,20}t)"
    r"(?:(?: [\w-]{1,30}){0,4} am| im) " + _DATE_START,
    re.IGNORECASE,
)
_PAST_SIGN: Final = re.compile(
    r"\b(?:did|were|had|been|happened|ago|last|used to|know|remember|recall|hatten?|wurden?|gewesen|worden)\b"
    # The German perfect: an auxiliary, and a participle that ends the clause ("zu erledigen" is none).
    r"|\b(?:hab[et]?|haben|hast|hat|bin|bist|ist|sind|seid)\b(?:[^?.!;]|(?<=\d)\.){1,120}(?<!zu) "
    r"(?-i:(?!insgesamt\b|\w{0,12}ge(?:plant|bucht)|ver(?:einbart|abredet))"
    r"(?:(?:\w{0,12}ge|(?:vor)?(?:be|er|ver|ent|zer|unter))\w{2,20}(?:t|en)|\w{2,20}iert|\w{0,12}getan))"
    r"(?=\s{0,2}(?:[?.!,;]|und\b|$))",
    re.IGNORECASE,
)
_HALF_YEAR: Final = timedelta(days=183)
_AHEAD: Final = {
    **dict.fromkeys(("day", "lone_month", "lone_quarter", "lone_season"), _HALF_YEAR),
    **dict.fromkeys(("lone_weekday", "lone_weekend"), timedelta(days=6)),
}
"""How far ahead each rule looks in such a question."""


def looks_ahead(text: str) -> bool:
    """Return whether a question clearly asks about the future.

    >>> [looks_ahead(text) for text in ("What do I have on Friday?", "What did I do on Friday?", "invoices in March")]
    [True, False, False]
    """
    return _AHEAD_SIGN.search(text) is not None and _PAST_SIGN.search(text) is None


def looks_back(text: str) -> bool:
    """Return whether a question has a sign that it asks about the past.

    >>> [looks_back(text) for text in ("What happened this week?", "What do I have this week?")]
    [True, False]
    """
    return _PAST_SIGN.search(text) is not None


_BEFORE_DAY: Final = (
    rf"(?:{'|'.join(f'(?<={word})' for word in (' am ', ' bis ', ' vom ', ' zum ', 'tag, '))})"
)
"""Signs that "4.12." is a day and no section or version."""


def written_days(days: Sequence[date]) -> tuple[str, re.Pattern[str]]:
    """Return the words by which texts name days, and an expression that matches a day, with its year if it has one.

    >>> words, pattern = written_days([date(2026, 12, 3), date(2026, 12, 4)])
    >>> [pattern.search(text)[0] for text in ("4 December 2026", "Dec 3rd", "04.12.2026", "2026-12-04", "am 4. Dez.")]
    ['4 December 2026', 'Dec 3rd', '04.12.2026', '2026-12-04', '4. Dez.']
    >>> [pattern.search(text) for text in ("14 December", "4 December 2025", "December 45", "4.12.2025")]
    [None, None, None, None]
    """
    words: list[str] = []
    forms: list[str] = []
    months = dict.fromkeys((day.year, day.month) for day in days)
    for year, month in months:
        numbers = [day.day for day in days if (day.year, day.month) == (year, month)]
        names = [
            word
            for vocabulary in TIME_VOCABULARIES
            for word, classes in vocabulary.words.items()
            if classes.get("month") == month
        ]
        for day in numbers:
            words += (
                f"{year}-{month:02}-{day:02}",
                f"{day}.{month}.{year}",
                f"{day:02}.{month:02}.{year}",
                f"{day}.{month}",
                f"{day:02}.{month:02}",
            )
        words += names
        number = rf"0?(?:{'|'.join(map(str, numbers))})"
        unsure = frozenset[str]().union(*(vocabulary.ambiguous for vocabulary in TIME_VOCABULARIES))
        named = (f"(?-i:{word.capitalize()})" if word in unsure else word for word in names)
        name = rf"(?:{'|'.join(named)})\b\.?"
        with_year = rf"(?:,? {year}\b|(?!\d|[.:]\d|,? (?:19|20)\d\d\b))"
        forms += (
            rf"{year}-{month:02}-{number}(?!\d)",
            rf"{number}\. ?0?{month}\. ?{year}\b",
            rf"{_BEFORE_DAY}{number}\. ?0?{month}\.(?! ?\d)",
            rf"{number}(?:st|nd|rd|th|\.)? (?:of )?{name}{with_year}",
            rf"{name} {number}(?:st|nd|rd|th)?{with_year}",
        )
    return " ".join(words), re.compile(rf"(?<![\w.-])(?:{'|'.join(forms)})", re.IGNORECASE)


def names_date(text: str) -> bool:
    """Return whether a text names a month, a weekday or a date rather than a distance from today.

    >>> names_date("on December 3"), names_date("last week")
    (True, False)
    """
    named = {"month", "weekday", "date"}
    return any(
        not named.isdisjoint(_token_classes(token, vocabulary))
        for vocabulary in TIME_VOCABULARIES
        for token in _tokens(text)
    )


_WORDS_AND_MONTHS: Final = frozenset({"may", "march", "mar", "jan", "mai"})
"""Names of months that are also words, or names of people."""


def month_names(word: str) -> tuple[str, ...]:
    """Return the names of the month that a lower-case word names, in every language, if they mean nothing else.

    >>> month_names("december"), month_names("märz"), month_names("diary")
    (('december', 'dec', 'dezember', 'dez'), ('märz', 'mär', 'maerz'), ())
    """
    months = {
        words["month"]
        for words in (each.words.get(word, {}) for each in TIME_VOCABULARIES)
        if "month" in words
    }
    names = (
        name
        for each in TIME_VOCABULARIES
        for name, classes in each.words.items()
        if classes.get("month") in months and name not in _WORDS_AND_MONTHS
    )
    return tuple(dict.fromkeys(names)) if months else ()


def find_times(text: str, now: datetime) -> tuple[TimeExpression, ...]:
    """Return the times that a question names, in order, without overlap; `now` is local time without a zone.

    A month, weekday or season without a year is the latest that began by ``now``; in a question that looks ahead, the
    next if it begins within half a year. "Two weeks ago" is the week around that day, "two months ago" the month
    around it.

    >>> [(s.start.date().isoformat(), s.precision) for s in find_times("what broke last week?", datetime(2026, 11, 22))]
    [('2026-11-09', 'week')]
    >>> [s.start.date().isoformat() for s in find_times("what do I have on 3 December?", datetime(2026, 11, 22))]
    ['2026-12-03']
    >>> find_times("we may march on 12/4 with v2.10.3", datetime(2026, 11, 22))
    ()
    """
    tokens = _split_days(_tokens(_HYPHENATED_THIRD.sub(r"\1 ", text)))
    found: list[TimeExpression] = []
    ahead = looks_ahead(text)
    for vocabulary in TIME_VOCABULARIES:
        found += _RuleMatcher(tokens, vocabulary, now, ahead=ahead).expressions()
    found.sort(key=lambda span: (span.first - span.last, span.first))
    expressions: list[TimeExpression] = []
    covered = bytearray(len(text) + 1)
    for span in found:
        if not any(covered[span.first : span.last]):
            covered[span.first : span.last] = b"\1" * (span.last - span.first)
            expressions.append(span)
    expressions.sort(key=lambda span: span.first)
    within = {inner for inner, outer in pairwise(expressions) if _is_part_of(text, inner, outer)}
    return tuple(span for span in expressions if span not in within)


def _is_part_of(text: str, inner: TimeExpression, outer: TimeExpression) -> bool:
    """Whether a text names a part of another time, such as "the last week of August", which is not last week."""
    lead, *rest = text[inner.last : outer.last].casefold().split() or [""]
    return (
        bool(rest)
        and lead in ("of", "in", "im", "des")
        and outer.precision in ("month", "season", "quarter", "year")
    )


def _tokens(text: str) -> list[_Token]:
    found = []
    for match in re.finditer(r"\S+", text):
        raw = match.group()
        if len(raw) > MAX_WORD_LENGTH:
            found.append(_Token("", "", match.start(), match.end(), True, False))
            continue
        core = raw.lstrip(_LEADING_MARKS)
        first = match.start() + len(raw) - len(core)
        bare = core.rstrip(_TRAILING_MARKS)
        trailing = core[len(bare) :]
        word = bare.casefold()
        if word.endswith(_POSSESSIVE):
            bare, word = bare[:-2], word[:-2]
        elif (short := _SHORT_YEAR.match(raw)) and any(near.word in _MONTH_WORDS for near in found[-2:]):
            word = f"{'19' if short[1] >= '70' else '20'}{short[1]}"
        closed = not _SENTENCE_ENDS.isdisjoint(trailing)
        found.append(_Token(word, bare, first, first + len(bare), closed, trailing == "."))
    return found


_SHORT_YEAR: Final = re.compile(r"['’‘](\d\d)(?=[.,;:!?)]*$)", re.ASCII)
"""A year behind a month, as in "Dec '25"."""
_DASHES: Final = frozenset("-–")
_MONTH_WORDS: Final = frozenset(
    word
    for vocabulary in TIME_VOCABULARIES
    for word, classes in vocabulary.words.items()
    if "month" in classes
)


def _split_days(tokens: Sequence[_Token]) -> list[_Token]:
    """Return the tokens with "5-12" beside a month as three."""
    split: list[_Token] = []
    for at, token in enumerate(tokens):
        near = {neighbour.word for neighbour in (*tokens[max(at - 1, 0) : at], *tokens[at + 1 : at + 2])}
        match = _DAYS.fullmatch(token.raw) if not near.isdisjoint(_MONTH_WORDS) else None
        if match is None:
            split.append(token)
            continue
        for part in (1, 2, 3):
            text, first = match[part], token.first + match.start(part)
            bare = text.rstrip(".")
            is_last = part == 3
            closed = token.closed if is_last else bare != text
            dotted = token.dotted if is_last else bare != text
            split.append(_Token(bare, bare, first, first + len(bare), closed, dotted))
    return split


_OF_YEAR: Final = ("day", "month", "season", "quarter")
"""Rules of a part of a year, in numbers or by its distance: "March 2025", "March last year"."""


class _RuleMatcher:
    def __init__(
        self, tokens: Sequence[_Token], vocabulary: TimeVocabulary, now: datetime, *, ahead: bool
    ) -> None:
        self._tokens, self._vocabulary, self._now, self._ahead = tokens, vocabulary, now, ahead
        self._classes = [_token_classes(token, vocabulary) for token in tokens]

    def expressions(self) -> list[TimeExpression]:
        found: list[TimeExpression] = []
        place = 0
        before: _TimeAtom | None = None
        while place < len(self._tokens):
            atom = self._match_rule(place)
            if atom is None:
                place += 1
                continue
            atom = self._widened(atom)
            if self._is_part_of_longer(atom):
                before = None
            elif days := self._days(atom):
                found.append(days)
                before = None
            elif before is not None and self._is_range(before, atom):
                found[-1:] = self._range_between(before, atom)
                before = None
            else:
                found.append(self._with_relation(atom))
                before = atom
            place = atom.end
        return found

    def _widened(self, atom: _TimeAtom) -> _TimeAtom:
        """Return the week of a day ("the week of 12 October"), or the nth week or weekday of a month."""
        classes, at = self._classes, atom.begin - 1
        at -= "the" in self._lead_at(at) and self._tokens[at].word != "des"
        if at < 1 or self._tokens[at].closed or self._tokens[at - 1].closed:
            return atom
        link, noun, period = self._tokens[at].word, classes[at - 1], None
        begin = at - 1
        is_week = noun.get("unit") == WEEK
        if atom.period[2] == "day" and is_week and link in ("of", "vom", "des"):
            period = _week_around(atom.period[0])
        elif atom.rule in ("month", "lone_month") and atom.period[2] == "month" and at >= 2:
            number = self._lead_at(at - 2).get("nth")
            # Without an article "letzten Freitag im Oktober" may be the Friday before today.
            certain = number or not {"the", "on"}.isdisjoint(self._lead_at(at - 3))
            is_part = (is_week or "weekday" in noun) and link in ("of", "in", "im", "des")
            if number is not None and certain and is_part:
                period, begin = _nth_of(number, noun.get("weekday"), atom.period), at - 2
        if period is None:
            return atom
        begin -= "the" in self._lead_at(begin - 1)
        return _TimeAtom(begin, atom.end, "given", {}, period)

    def _is_part_of_longer(self, atom: _TimeAtom) -> bool:
        """Whether the words around a time name another: "a year and a half", "the day after 3 May"."""
        behind = []
        for at in range(atom.end, min(atom.end + 3, len(self._tokens))):
            if self._tokens[at - 1].closed:
                break
            behind.append(self._tokens[at].word)
        if behind == ["and", "a", "half"]:
            return True
        if behind[:2] == ["before", "last"] and "which" not in atom.values:
            return True
        lead = self._lead_at(atom.begin - 1)
        if "half" in lead or (atom.rule in ("eve", "morrow") and lead.get("number", 1) > 1):
            return True
        limit = atom.begin - 1 - ("the" in lead)
        if self._lead_at(limit).keys().isdisjoint(("before", "after")):
            return False
        if limit > 1 and self._tokens[limit - 2].word in ("per", "pro"):  # "units per day before 2025"
            return False
        return not self._lead_at(limit - 1).keys().isdisjoint(("unit", "weekday", "weekend", "part_of_day"))

    def _days(self, atom: _TimeAtom) -> TimeExpression | None:
        """Return a range whose days share one month: "between 5 and 12 October", "October 5-12"."""
        if atom.rule != "day":
            return None
        tokens, classes = self._tokens, self._classes
        link = atom.begin - 1
        link -= "the" in self._lead_at(link) or (link > 0 and tokens[link].word == "zum")
        number = classes[link - 1].get("daynum") if link > 0 else None
        if number is not None and (not tokens[link - 1].closed or tokens[link - 1].dotted):
            lead = link - 2 - (link > 1 and "the" in classes[link - 2])
            begin = lead if self._is_link(lead, link) else link - 1
            if begin == lead or tokens[link].word in _DASHES:
                first = self._day_beside(atom, number)
                if first is not None and first[0] < atom.period[0]:
                    return self._expression(begin, atom.end, (first[0], atom.period[1], "range"), "in")
        link, last = atom.end, atom.end + 1
        if "daynum" not in classes[atom.end - 1] or last >= len(tokens) or tokens[link].closed:
            return None
        number = classes[last].get("daynum")
        begin = atom.begin - 1 if self._is_link(atom.begin - 1, link) else atom.begin
        ends = last + 1 == len(tokens) or tokens[last].closed
        if number is None or not (tokens[link].word in _DASHES or (begin < atom.begin and ends)):
            return None
        until = self._day_beside(atom, number)
        if until is None or until[0] <= atom.period[0]:
            return None
        return self._expression(begin, last + 1, (atom.period[0], until[1], "range"), "in")

    def _is_link(self, lead: int, link: int) -> bool:
        """Return whether two words embrace the first of two times: between … and, from … to."""
        first, second = self._lead_at(lead), self._classes[link]
        return ("between" in first and "and" in second) or ("from" in first and "to" in second)

    def _day_beside(self, atom: _TimeAtom, number: int) -> DateRange | None:
        """Return another day of the month of a day."""
        try:
            return _day(atom.period[0].date().replace(day=number))
        except ValueError:
            return None

    def _match_rule(self, place: int) -> _TimeAtom | None:
        tokens, classes = self._tokens, self._classes
        best: _TimeAtom | None = None
        for first in classes[place]:
            for rule, rest in self._vocabulary.rules.get(first, ()):
                end = place + 1 + len(rest)
                if end > len(tokens) or (best is not None and end <= best.end):
                    continue
                order = (first, *rest)
                if not all(name in classes[place + at] for at, name in enumerate(order)):
                    continue
                if any(
                    tokens[place + at].closed and not (order[at] == "daydot" and tokens[place + at].dotted)
                    for at in range(len(rest))
                ):
                    continue
                if self._is_doubtful(place, order, rule) or not self._is_introduced(place, rule):
                    continue
                values = {name: classes[place + at][name] for at, name in enumerate(order)}
                if rule in _OF_YEAR and "which" in values:
                    if values["unit"] != YEAR or (end < len(tokens) and "year" in classes[end]):
                        continue
                    values["year"] = self._now.year + values["which"]
                latest = self._now + _AHEAD.get(rule, timedelta()) if self._ahead else self._now
                period = resolve_rule(rule, values, tokens[place].word, latest)
                if period is not None:
                    best = _TimeAtom(place, end, rule, values, period)
        return best

    def _is_ambiguous(self, place: int) -> bool:
        token = self._tokens[place]
        return token.word in self._vocabulary.ambiguous and token.raw == token.word

    def _is_doubtful(self, place: int, order: Sequence[str], rule: str) -> bool:
        if "month" not in order or "year" in order or rule == "lone_month":
            return False
        at = place + order.index("month")
        return self._is_ambiguous(at) and not ("unit" in order and "in" in self._lead_at(at - 1))

    def _is_introduced(self, place: int, rule: str) -> bool:
        """Return whether a word that cannot stand alone follows one that makes it a time."""
        if not rule.startswith("lone_"):
            return True
        if "third" in self._classes[place]:  # "Ende August"
            return not self._is_ambiguous(place + 1)
        if rule != "lone_weekday" and not {"edge", "the"}.isdisjoint(
            self._classes[place]
        ):  # "the end of August"
            return True
        leads = self._lead_at(place - 1)
        if rule == "lone_weekday":
            if place + 1 < len(self._tokens) and "habit" in self._classes[place + 1]:
                return False
            return not leads.keys().isdisjoint(
                ("on", "since", "until", "before", "after", "between", "and", "from", "to")
            )
        sure = ("in", "since", "until", "between")
        if rule == "lone_month" and self._is_ambiguous(place):
            return not leads.keys().isdisjoint(sure)
        return not leads.keys().isdisjoint((*sure, "on", "before", "after", "of", "from", "and", "to"))

    def _lead_at(self, place: int) -> Mapping[str, int]:
        """Return the classes of a word before a time; none where a sentence ends behind it."""
        return self._classes[place] if place >= 0 and not self._tokens[place].closed else {}

    def _with_relation(self, atom: _TimeAtom) -> TimeExpression:
        begin, relation = atom.begin, "in"
        limits = ("before", "since", "until", "after")
        skip = "the" in self._lead_at(begin - 1) and not self._lead_at(begin - 2).keys().isdisjoint(limits)
        before = begin - 1 - skip
        lead = self._lead_at(before)
        onward = atom.end < len(self._tokens) and "onward" in self._classes[atom.end]
        if "of" in lead and "as" in self._lead_at(before - 1):
            relation, begin = "as_of", before - 1
        elif "stand" in lead and self._tokens[before].raw[0].isupper():
            relation, begin = "as_of", before
        elif "from" in lead and onward:
            relation, begin = "since", before
        elif named := next((name for name in ("since", "until", "before", "after") if name in lead), None):
            relation, begin = named, before
        elif not lead.keys().isdisjoint(("in", "on", "from")):
            begin = before
        return self._expression(begin, atom.end, atom.period, relation)

    def _is_range(self, first: _TimeAtom, second: _TimeAtom) -> bool:
        tokens = self._tokens
        if second.begin != first.end + 1 or tokens[first.end - 1].closed or tokens[first.end].closed:
            return False
        if first.rule == second.rule == "month" and tokens[first.end].word in _DASHES:
            return first.period[0] < second.period[0]
        return self._is_link(first.begin - 1, first.end)

    def _range_between(self, first: _TimeAtom, second: _TimeAtom) -> list[TimeExpression]:
        """Return the range from one time to another; a first without a year is the latest before the second."""
        start, (second_start, end, _) = first.period[0], second.period
        if start >= second_start:
            resolved = resolve_rule(first.rule, first.values, self._tokens[first.begin].word, second_start)
            if resolved is not None and resolved[0] < end:
                start = resolved[0]
        if start >= end:
            return [self._with_relation(first), self._with_relation(second)]
        begin = first.begin - self._is_link(first.begin - 1, first.end)
        return [self._expression(begin, second.end, (start, end, "range"), "in")]

    def _expression(self, begin: int, end: int, named: DateRange, relation: str) -> TimeExpression:
        return TimeExpression(*named, relation, self._tokens[begin].first, self._tokens[end - 1].last)


def _token_classes(token: _Token, vocabulary: TimeVocabulary) -> Mapping[str, int]:
    word = token.word
    if not word:
        return {}
    if not word[0].isdigit() and word in vocabulary.words:
        return {} if word in vocabulary.lower_case_only and token.raw != word else vocabulary.words[word]
    if not word.isascii() or not any(sign.isdigit() for sign in word):
        return {}
    if word.isdigit():
        number = int(word)
        if len(word) == 4:
            return {"year": number} if number in YEARS else {}
        found = {"number": number} if 0 < number < MAX_UNITS_AGO else {}
        if 1 <= number <= 31 and len(word) <= 2:
            found |= {"daynum": number} | ({"daydot": number} if token.dotted else {})
        return found
    if len(word) == 2 and word[0] == "q" and word[1] in "1234":
        return {"quarter": int(word[1])}
    ordinal = _ORDINAL.fullmatch(word)
    if ordinal and 1 <= int(ordinal[1]) <= 31:
        return {"daynum": int(ordinal[1])}
    return {"date": 0} if parse_numeric_date(word) is not None else {}
