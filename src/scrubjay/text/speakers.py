"""Speakers: a question and who speaks in conversations -> the one whom the question names."""

from __future__ import annotations

import re
from collections.abc import Collection

from scrubjay.text.languages import function_words

SHORTEST = 2
"""Letters of a name: an initial stands in too many questions by chance."""


def named(question: str, speakers: Collection[str]) -> str | None:
    """Return the speaker whom a question names, None where it names none or several.

    A name is looked for as it is written; in a question without capitals in any case, since people who type so
    write names so as well, unless it is then a word of its own.

    >>> named("What did Caroline's sister buy?", {"Caroline", "Mel"})
    'Caroline'
    >>> named("what did caroline buy", {"Caroline", "Mel"})
    'Caroline'
    >>> named("When will Mel call?", {"Will", "Mel"})
    'Mel'
    """
    plain = question == question.lower()
    found = [speaker for speaker in sorted(speakers) if _names(question, speaker, plain)]
    return found[0] if len(found) == 1 else None


def _names(question: str, speaker: str, plain: bool) -> bool:
    if len(speaker) < SHORTEST:
        return False
    wanted = speaker
    if plain:
        wanted = speaker.lower()
        if wanted in function_words():
            return False
    return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", question) is not None
