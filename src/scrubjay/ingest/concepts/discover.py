"""Discover: passages -> tuple[Found, ...]. Names of things that texts themselves give.

``evidence`` gathers what speaks for each word or phrase, ``judge`` decides. What counts, and what does not:

* a ``[[link]]`` or a tag is a person's own word for it and counts at once;
* capitals count within a sentence only, since its first word has one anyway, and not where the word mostly
  stands without; ``HTTP``, ``macOS``, ``SQLite`` count wherever they stand;
* code counts when several passages show the name in backticks;
* an ordinary word becomes a concept only when the texts define it (italic, or in headings) and use it far more often
  than English does;
* a long form with its abbreviation, "Retrieval Augmented Generation (RAG)", counts at once, and is both.

Weekdays, months, generic headings ("Usage", "Notes", "Chapter 3") and common words are never found.
In German, where all nouns have capitals, those say nothing: only other evidence counts. Chinese and Japanese
have none; there links, tags, code and Latin names are found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from scrubjay.ingest.concepts.evidence import count, gather
from scrubjay.ingest.concepts.judge import Found as Found
from scrubjay.ingest.concepts.judge import judge, possible

_LETTERS_A_WORD = 6
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
    gathered = gather([one.text for one in window], headings.values(), _given(window))
    signs = {form: sign for form, sign in gathered.signs.items() if possible(form, sign)}
    count(replace(gathered, signs=signs))
    words = sum(gathered.sizes) // _LETTERS_A_WORD
    found = {form: judge(form, sign, words) for form, sign in signs.items()}
    unsure = [form for form, decided in found.items() if decided is None] if seen_before is not None else []
    if seen_before is not None and unsure:
        for form, before in zip(unsure, seen_before(unsure), strict=True):
            found[form] = judge(form, signs[form], words, before) if before else None
    return tuple(sorted(filter(None, found.values()), key=lambda one: (-one.support, one.name)))


def _given(window: Sequence[Seen]) -> Iterator[tuple[str, str]]:
    for one in window:
        yield from ((name, "page") for name in one.links)
        yield from ((tag, "tag") for tag in one.tags)
