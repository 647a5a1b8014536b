"""Replacements: later memories that say that a value is replaced or gone ("we switched from KeePass to Bitwarden").

Such a memory shares no word with "which password manager do we use?", so it is found by the value that a likely answer
gives. What it says is replaced must hold no word that the answer lacks: "we moved from the KeePass plugin" replaces no
KeePass. If that is a common word ("instead of green"), both must share another one, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from scrubjay.models.dates import DAY
from scrubjay.models.records import PERSON_ROLES, Record, RecordFilter, said_at
from scrubjay.search.amendments import rare_terms, stated_at
from scrubjay.search.query import MIN_STORE_SIZE, RARE_SHARE
from scrubjay.storage.interface import Reader
from scrubjay.storage.scoring import idf
from scrubjay.text.language import detect_language, is_uninformative
from scrubjay.text.tokenizer import UNKNOWN_RANK, TermGroup, index_terms, word_rank

MAX_TERMS: Final = 60
"""Informative words of an answer that can be replaced: a longer text states many things."""
MAX_VALUES: Final = 12
"""Rarest words of an answer that are looked for."""
MAX_READ: Final = 12
"""Later memories with these words that are read."""

_WORD: Final = r"[^\s,.;:!?()]{1,40}"
_VALUE: Final = (
    r"(?:(?:the|our|my|die|den|das|der|dem|unser\w{0,2})\s)?(?:(?:earlier|old|former|previous|bisherigen?|alten?)\s)?"
    rf"({_WORD}(?:\s{_WORD}){{0,3}}?)"
)
_END: Final = r"(?=\s(?:to|into|onto|with|by|for|now|any|auf|zu|durch|mit|ab|mehr)\b|[,.;:!?()\n]|\s*$)"
_START: Final = (
    r"(?:^|[,.;:!?(\n]\s?|\b(?:the|our|my|that|this|and|der|die|das|unser\w{0,2}|mein\w{0,2}|und)\s)"
)
_GONE: Final = (
    r"\s(?:is|are|has|have|ist|sind|hat|haben|wurde|wurden)(?:\s(?:now|been|finally|jetzt|nun|endgültig))?\s"
    r"(?:(?:replaced|retired|discontinued|dropped|died|superseded|abandoned|no longer|sold"
    r"|abgelöst|ersetzt|eingestellt|gekündigt|abgeschafft)\b"
    r"|(?:out|gone|closed|dead|raus|geschlossen|weg)(?=[,.;:!?)\n]|\s*$|\s(?:for good|until|since|bis|seit)\b))"
)


def _compile(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE | re.MULTILINE)


REPLACED: Final = _compile(
    rf"\b(?:switch\w{{0,4}}|mov\w{{1,3}}|migrat\w{{1,3}}|chang\w{{1,3}}|went|over|away)\sfrom\s{_VALUE}{_END}",
    rf"\b(?:replac(?:ed?|es|ing)|ersetzt|löst)\s{_VALUE}{_END}",
    rf"\b(?:dropped|ditched|retired|abandoned|phased out|got rid of|stopped using|gave up)\s{_VALUE}"
    r"(?=[,.;:!?()\n]|\s(?:for|by)\b|\s*$)",
    rf"\bvon\s{_VALUE}\s(?:auf|zu|nach|zum|zur)\s[^.;!?\n]{{1,40}}\s(?:gewechselt|um(?:gestellt|gezogen|gestiegen))\b",
    rf"{_START}{_VALUE}{_GONE}",
)
"""Forms in which something is said to be replaced or gone; it is the one group that matches."""
CONTRASTED: Final = _compile(
    rf"\b(?:instead of|in place of|rather than|no longer(?:\s(?:use|uses|at|in|on|with|by))?)\s{_VALUE}{_END}",
    rf"\b(?:statt|anstatt|anstelle von|nicht mehr(?:\s(?:in|im|am|bei|beim|mit|bis))?)\s{_VALUE}{_END}",
)
"""Forms that name something beside what is taken instead, which may be so in one case only."""


def find_replacements(
    reader: Reader, answers: Sequence[Record], asked: set[str], where: RecordFilter
) -> dict[str, str]:
    """Return, by answer, the latest memory of a day later or more that says that a value of it is replaced or gone.

    Args:
        reader: A reader of the caller's scope.
        answers: Likely answers.
        asked: Terms of the question, which are no values.
        where: The caller's filters.
    """
    terms = {
        one.id: own
        for one in answers
        if stated_at(one) is not None and len(own := rare_terms(one)) <= MAX_TERMS
    }
    groups = [TermGroup(word, (word,)) for word in sorted(set().union(*terms.values()) - asked)]
    if not groups:
        return {}
    memories = max(reader.counts().memories, MIN_STORE_SIZE)
    rarity = {
        group.word: idf(memories, count)
        for group, count in zip(groups, reader.frequencies(groups), strict=True)
        if count > 1 and idf(memories, count) >= RARE_SHARE * idf(memories, 0)
    }
    rare = {
        memory: set(sorted(own & rarity.keys(), key=lambda word: (-rarity[word], word))[:MAX_VALUES])
        for memory, own in terms.items()
    }
    wanted = [group for group in groups if any(group.word in own for own in rare.values())]
    hits = reader.words(wanted, where).top(MAX_READ * len(terms)) if wanted else []
    found = reader.get([hit.id for hit in hits]).values()
    replacements = {}
    for answer in answers:
        later = [
            one
            for one in found
            if answer.id in terms
            and _may_replace(one, answer)
            and _replaces(one, terms[answer.id], rare[answer.id])
        ]
        if later:
            replacements[answer.id] = max(later, key=lambda one: (said_at(one), one.id)).id
    return replacements


def _may_replace(record: Record, answer: Record) -> bool:
    by_person = record.role is None or record.role in PERSON_ROLES
    if record.origin == "derived" or not by_person or record.marked_wrong or stated_at(record) is None:
        return False
    return said_at(record) >= said_at(answer) + DAY


def _replaces(record: Record, terms: set[str], rare: set[str]) -> bool:
    """Return whether a memory says that a value of an answer with these terms, of which some are rare, is replaced."""
    shared = rare_terms(record) & terms
    for pattern in (REPLACED, CONTRASTED):
        for span in _spans(pattern, record):
            values = span & rare
            if not values or not span <= terms:
                continue
            named = pattern is REPLACED and any(
                word_rank(word) == UNKNOWN_RANK and not word.isdecimal() for word in values
            )
            if named or shared - span:
                return True
    return False


def _spans(pattern: re.Pattern[str], record: Record) -> Iterator[set[str]]:
    """Yield the informative terms of each thing that a memory names in one of these forms."""
    language = detect_language(record.content)
    for match in pattern.finditer(record.content):
        value = next(group for group in match.groups() if group is not None)
        terms = {one for one in index_terms(value, language).counts if not is_uninformative(one)}
        if terms:
            yield terms
