"""Discover: passages -> tuple[Found, ...]. Names of things that texts themselves give.

``evidence`` gathers what speaks for each word or phrase, ``count`` tells how it stands in the passages, and
``judge`` decides. What counts, and what does not:

* a ``[[link]]``, a link that is called like its page or a tag is a person's own word for it and counts at once;
* capitals count within a sentence only, since its first word has one anyway, and not where the word mostly
  stands without; ``HTTP``, ``macOS``, ``SQLite`` count wherever they stand,
  ``Mayo Clinic`` also where a sentence begins;
* code counts when several passages show the name in backticks, or unmarked where nothing else looks so
  (``max_tokens``); an everyday word (``match``) needs many, and is then meant in backticks alone;
* an ordinary word becomes a concept only when the texts define it (italic, and in headings) and use it far more often
  than English does; an everyday word never;
* a long form with its abbreviation, "Retrieval Augmented Generation (RAG)", counts at once, and is both.

Weekdays, months, generic headings ("Usage", "Notes", "Chapter 3") and common words are never found.
In German, where all nouns have capitals, those say nothing: only other evidence counts. Chinese and Japanese
have none; there links, tags, code and Latin names are found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from scrubjay.ingest.concepts.count import count
from scrubjay.ingest.concepts.evidence import gather
from scrubjay.ingest.concepts.judge import judge, possible
from scrubjay.ingest.concepts.signs import Found as Found
from scrubjay.text.languages import language

SAMPLE: Final = 1_000
"""Characters of a document that tell its language."""
MANY: Final = 1_000
"""Memories that would settle any doubt: only names that they would settle are asked for."""
ALONE: Final = 1.1
"""A part ("Francisco") must stand this much more often than its whole, else it is nothing by itself."""
_LETTERS_A_WORD: Final = 6
"""Characters of English that make a word and its space."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One passage as discovery reads it.

    Attributes:
        text: The passage, scrubbed.
        title: Its nearest heading, or its document's name.
        heading_path: Headings above it, outermost first.
        tags: Tags of its document.
        links: Pages that it links to by name.
        path: Which document it is of.
    """

    text: str
    title: str = ""
    heading_path: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    path: str = ""


def discover(
    window: Sequence[Seen], seen_before: Callable[[Sequence[str]], Sequence[int]] | None = None
) -> tuple[Found, ...]:
    """Return the names that passages use for things, the best supported first.

    Args:
        window: Passages, those of a document together.
        seen_before: Told names, returns in how many stored memories each stands; what a window mentions once
            and the store knows is supported by both.
    """
    headings: dict[str, dict[str, None]] = {}
    for one in window:
        headings.setdefault(one.path, {}).update(dict.fromkeys((*one.heading_path, one.title)))
    telling = _telling(window)
    gathered = gather([one.text for one in window], telling, headings.values(), _given(window))
    signs = {form: sign for form, sign in gathered.signs.items() if possible(form, sign)}
    count(replace(gathered, signs=signs))
    words = sum(gathered.sizes) // _LETTERS_A_WORD
    found = {form: judge(form, sign, words) for form, sign in signs.items()}
    if seen_before is not None:
        unsure = [
            form for form, one in found.items() if one is None and judge(form, signs[form], words, MANY)
        ]
        for form, before in zip(unsure, seen_before(unsure) if unsure else (), strict=True):
            found[form] = judge(form, signs[form], words, before)
    named = {form: one for form, one in found.items() if one is not None}
    for form in list(named):
        for part in _parts(form):
            whole_only = part in named and signs[part].times <= ALONE * signs[form].times
            if whole_only and named[part].kind == "name":
                del named[part]
    return tuple(sorted(named.values(), key=lambda one: (-one.support, one.name)))


def _telling(window: Sequence[Seen]) -> list[bool]:
    """Tell of each passage whether its document is in a language in which a capital within a sentence says anything."""
    german: dict[str, bool] = {}
    for one in window:
        if one.path not in german:
            german[one.path] = language(one.text[:SAMPLE]) == "de"
    return [not german[one.path] for one in window]


def _parts(form: str) -> Iterator[str]:
    """Yield the shorter phrases within one."""
    words = form.split(" ")
    for size in range(1, len(words)):
        for at in range(len(words) - size + 1):
            yield " ".join(words[at : at + size])


def _given(window: Sequence[Seen]) -> Iterator[tuple[str, str]]:
    for one in window:
        yield from ((name, "page") for name in one.links)
        yield from ((tag, "tag") for tag in one.tags)
