"""Vocabulary: the word lists and patterns in ``data/``, and the word classes of fact extraction.

A contributor who adds a language edits ``words.txt`` and ``patterns.txt``; the rules that use them are in the modules.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Final

from scrubjay.text.normalize import word_set

_SECTION: Final = re.compile(r"\[(\w+)\](?: .*)?")


def table_lines(name: str) -> list[str]:
    """Return the lines of a table in ``data/`` that are neither empty nor comments."""
    table = resources.files("scrubjay.facts").joinpath("data", name)
    return [line for line in table.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]


def load_words(name: str) -> frozenset[str]:
    """Return a word list of ``words.txt``."""
    return word_set(" ".join(_sections("words.txt")[name]))


def load_groups(name: str) -> tuple[frozenset[str], ...]:
    """Return a section of ``words.txt`` with a word list on each line."""
    return tuple(map(word_set, _sections("words.txt")[name]))


def load_spellings(name: str) -> dict[str, str]:
    """Return, by word of a section of ``words.txt``, the first word of its line, which stands for all of them."""
    lines = map(str.split, _sections("words.txt")[name])
    return {word: words[0] for words in lines for word in words}


def load_pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of ``patterns.txt``, whose lines are alternatives."""
    return re.compile("|".join(_sections("patterns.txt")[name]))


@cache
def _sections(table: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    for line in table_lines(table):
        heading = _SECTION.fullmatch(line)
        if heading:
            sections[heading[1]] = lines = []
        else:
            lines.append(line)
    return sections


FIRST_PERSON: Final = word_set("i we i'm im i've ive i'd i'll we're we've we'll we'd my our")
PRONOUNS: Final = word_set("i we he she they you it there that im ive") | FIRST_PERSON - {"my", "our"}
DEFINITE_DETERMINERS: Final = word_set("my our his her their the this these those your its")
CONJUNCTIONS: Final = word_set("and but so because since although though whereas plus yet or while cuz cause")
BE: Final = word_set("am is are was were be been being isn't aren't wasn't weren't")
AUXILIARY: Final = BE | load_words("auxiliary")
QUESTION_LEADS: Final = word_set("what how which where who whose why when what's how's where's who's")
NEGATIVE: Final = load_words("negative")
ADVERBS: Final = load_words("adverbs")
HABITUAL: Final = load_words("habitual")
PASSING: Final = load_words("passing")
LIKE: Final = load_words("like")
LIVE: Final = load_words("live")
HABIT: Final = LIVE | load_words("habit")
"""Verbs of habits, if a word of frequency stands with them."""
LIFE: Final = load_words("life")
DATED: Final = LIFE | load_words("dated")
"""Past forms of events that are kept if a date or a number stands with them."""
CHOSE: Final = word_set("decided chose chosen opted settled agreed picked committed")
CHOOSING: Final = load_words("choosing")
TRAITS: Final = load_words("traits")
STATES: Final = load_words("states")
VERBAL: Final = (
    STATES
    | AUXILIARY
    | LIKE
    | LIVE
    | HABIT
    | DATED
    | CHOSE
    | word_set("need want think know went says said just always never also feel")
)
FLEETING: Final = load_words("fleeting")
TALKED: Final = load_words("talked")


KIN: Final = load_words("kin")
MOMENT: Final = load_words("moment")
AT_HAND: Final = load_words("at_hand")
OWN_THINGS: Final = load_words("own_things")
WORLD: Final = load_words("world")
WELL_KNOWN: Final = load_words("well_known")
LASTING_HAD: Final = load_words("lasting_had")
