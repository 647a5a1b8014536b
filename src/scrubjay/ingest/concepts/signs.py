"""Signs, Found: what speaks for a phrase being a name, and a name that was found."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Signs:
    """What speaks for one phrase.

    Attributes:
        spelled: Spellings to how often each was found as a candidate.
        found: Kind of evidence to how often: ``capital`` (within a sentence), ``odd`` (``macOS``, ``HTTP``),
            ``code``, ``bare`` (code that nobody marked), ``title`` (words with capitals that open a sentence or
            an item), ``italic``, ``heading`` (a whole one), ``link`` (whose address bears the name too), ``page``
            (a ``[[link]]``, or one whose text names its page), ``tag``.
        apart: Level forms of spellings whose words stand apart (``std::io``), since no single space joins them.
        aliases: Abbreviations that were given for it in brackets.
        headings: Headings of documents that hold it, each once a document.
        times: Occurrences in all texts.
        passages: Passages in which it stands.
        capital: Those in which it begins with a capital outside code.
        small: Those in which it does not.
        code: Those in which it stands in code.
        closing: Share of its occurrences outside code behind which a phrase ends: a third to two thirds for
            nouns, a tenth for adjectives and verbs.
    """

    spelled: dict[str, int] = field(default_factory=dict)
    found: dict[str, int] = field(default_factory=dict)
    apart: set[str] = field(default_factory=set)
    aliases: list[str] = field(default_factory=list)
    headings: int = 0
    times: int = 0
    passages: int = 0
    capital: int = 0
    small: int = 0
    code: int = 0
    closing: float = 0.0


@dataclass(frozen=True, slots=True)
class Found:
    """A name that texts use for something.

    Attributes:
        name: As it is mostly written.
        aliases: Its abbreviation, and itself in lower case where it is also written so; sorted.
        kind: One of ``memory.concepts.KINDS``.
        support: Passages of the window in which it stands.
    """

    name: str
    aliases: tuple[str, ...]
    kind: str
    support: int
