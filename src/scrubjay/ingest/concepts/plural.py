"""Plural: str -> str. The other number of an English word, by its ending. A wrong one is harmless: no text has it."""

from __future__ import annotations

from typing import Final

SHORTEST: Final = 3
"""Letters of a word that may have a plural; "is" is not several "i"."""

SHORTEST_PLURAL: Final = 5
"""Letters from which on a final s is taken off: shorter words (AWS, news, bus) are too often names with one."""

_SINGULAR: Final = frozenset(
    (
        "alias",
        "always",
        "atlas",
        "bias",
        "canvas",
        "pandas",
        "perhaps",
        "rails",
        "series",
        "species",
        "windows",
    )
)
"""Words that would mean something else without their s."""

ENDS: Final = "seiy"
"""Every letter that ``ending`` cuts off or puts there."""
_HISSING: Final = ("ss", "x", "ch", "sh")
_HISSING_PLURALS: Final = ("sses", "xes", "ches", "shes")


def ending(word: str) -> tuple[int, str] | None:
    """Return how to make a plural of a folded word, or a singular of what looks like a plural.

    Returns:
        How many characters to cut off its end and what to put there; None where there is nothing to do.

    Example:
        >>> ending("memory"), ending("memories"), ending("crates"), ending("class"), ending("aws")
        ((1, 'ies'), (3, 'y'), (1, ''), (0, 'es'), None)
    """
    if len(word) < SHORTEST or not (word.isascii() and word.isalpha()):
        return None
    if word[-1] == "s" and word[-2] != "s":
        if len(word) < SHORTEST_PLURAL or word in _SINGULAR or word[-2] in "ui":
            return None
        return (3, "y") if word.endswith("ies") else (2 if word.endswith(_HISSING_PLURALS) else 1, "")
    if word[-1] == "y" and word[-2] not in "aeiou":
        return 1, "ies"
    return 0, "es" if word.endswith(_HISSING) else "s"


def stem(form: str) -> str:
    """Return what a form and its other number have in common.

    >>> stem("rust memory"), stem("rust memories")
    ('rust memor', 'rust memor')
    """
    return form.rstrip(ENDS)


def singular(form: str) -> str:
    """Return a normal form with its last word in the singular, if it looks like a plural."""
    change = ending(form[form.rfind(" ") + 1 :]) if form.endswith("s") else None
    return form[: len(form) - change[0]] + change[1] if change and change[0] else form


def plural(form: str) -> str:
    """Return a normal form with its last word in the plural, or itself where it has none."""
    change = ending(form[form.rfind(" ") + 1 :])
    return form[: len(form) - change[0]] + change[1] if change and change[1].endswith("s") else form


def other_number(form: str) -> str:
    """Return a normal form with its last word in the other number; the form itself where there is none.

    >>> other_number("rust crates"), other_number("crate"), other_number("aws")
    ('rust crate', 'crates', 'aws')
    """
    change = ending(form[form.rfind(" ") + 1 :])
    return form[: len(form) - change[0]] + change[1] if change else form
