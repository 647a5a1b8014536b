"""Amendments: earlier memories that a later one changes, though no link between them says so.

A statement is amended where a later note, commit or turn decides something and holds a good part of its rare words: "we
rescan the whole buffer" and, two months later, "re-scan only the lines; no autocommand may read a whole buffer". This
is a guess, so nothing is left out by it: hooks inject both, the later one first.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

from scrubjay.models.dates import DAY, micros
from scrubjay.models.records import Record, is_commit_title
from scrubjay.text.language import detect_language, is_uninformative
from scrubjay.text.markdown import front_matter_end
from scrubjay.text.tokenizer import index_terms

_CJK_DECISIONS: Final = r"决定|改为|不再|以后|今後|やめ|대신|必须"
DECIDES: Final = re.compile(
    r"\b(?:decid\w+|decisions?|agreed|settled?|from (?:now|here) on|instead|rather than|no longer|any ?more|never"
    r"|replac\w+|switch\w*|until now|used to|since|reverted?|removed?|dropped|so (?:we|the|it)|always|only|must|let'?s"
    r"|let us|rule|because|therefore|without|adopt(?:ed)?"
    r"|entschieden|beschlossen|ab (?:jetzt|sofort)|künftig|statt|stattdessen|nie|nicht mehr|immer|nur|weil"
    r"|désormais|au lieu|ne plus|jamais|parce que|toujours|ahora|en lugar|nunca|ya no|siempre|porque)\b"
    rf"|\bso:|\b(?:so|also|then)\W+(?:we|I|it'?s|the)\b|{_CJK_DECISIONS}",
    re.IGNORECASE,
)
"""Words of a decision, a rule or its reason."""
REASON: Final = re.compile(
    r"\b(?:because|since|otherwise|so that|the reason|that'?s why|due to|therefore|weil|denn|sonst|damit|parce que|car"
    r"|sinon|porque|ya que)\b|因为|所以",
    re.IGNORECASE,
)
"""Words of a reason."""
_DATE: Final = re.compile(r"\b(?:19|20)\d\d-[01]\d-[0-3]\d\b")
_DATE_CHARACTERS: Final = 300
"""Characters of a note that are searched for its date."""
MIN_SHARED: Final = 2
"""Rare words that an amendment has in common with what it amends, at least."""
MIN_SHARE: Final = 0.115
"""Minimum share of a short memory's words, weighted by rarity, that the amending document holds; a longer one needs
more. The other half of the tasks was looked at once this was chosen (bench/LOG.md)."""
MIN_GAP: Final = 2 * DAY
"""Microseconds by which it is later: what is written within two days mostly belongs together."""
SHORT_TERMS: Final = 20
"""Words of a memory up to which `MIN_SHARE` applies; of more, it grows with the root of their number."""


def decides(record: Record) -> bool:
    """Return whether a memory states a decision, a rule or a reason, or is a commit that says more than its subject."""
    explains = is_commit_title(record.title) and record.content.count("\n\n") > 1
    return explains or DECIDES.search(record.content) is not None


def gives_reason(record: Record) -> bool:
    """Return whether a memory says why something is so."""
    return REASON.search(record.content) is not None


def stated_at(record: Record) -> int | None:
    """Return when a memory was stated, in UTC microseconds; None for an undated note or import."""
    if record.valid_from is not None:
        return record.valid_from
    if record.event is not None:
        return record.event.start
    if record.is_dated or (record.place is not None and record.turn is not None):
        return record.recorded_at
    written_date = _DATE.search(record.content[:_DATE_CHARACTERS])
    try:
        return micros(datetime.fromisoformat(written_date[0]).replace(tzinfo=UTC)) if written_date else None
    except ValueError:
        return None


def rare_terms(record: Record) -> set[str]:
    """Return the informative terms of a memory, without its front matter and dates."""
    text = _DATE.sub("", record.content[front_matter_end(record.content) :])
    return {word for word in index_terms(text, detect_language(text)).counts if not is_uninformative(word)}


def find_successors(
    records: Iterable[Record],
    others: Sequence[Record],
    answers_alike: Callable[[str, str], bool] = lambda old, new: False,
) -> dict[str, Record]:
    """Return, of each memory that others may have changed since, the one among them that probably holds now.

    That is the latest that answers the question like it, else the decision that shares most with it.
    """
    terms = {other.id: rare_terms(other) for other in others}
    counts = Counter(word for words in terms.values() for word in words)
    weights = {word: math.log(1 + len(terms) / (1 + count)) for word, count in counts.items()}

    def weight(words: Iterable[str]) -> float:
        return math.fsum(weights.get(word, 0.0) for word in words)

    stated = [
        (other, at, decides(other))
        for other in others
        if other.origin != "derived" and (at := stated_at(other))
    ]
    successors = {}
    for record in records:
        at, own = stated_at(record), rare_terms(record)
        least = MIN_SHARE * math.sqrt(max(len(own) / SHORT_TERMS, 1.0)) * weight(own)
        later = []
        for other, later_at, is_decision in stated:
            if at is None or later_at < at + MIN_GAP:
                continue
            shared = own & terms[other.id]
            if answers_alike(record.id, other.id):
                later.append((later_at, 0.0, other.id, other))
            elif is_decision and len(shared) >= MIN_SHARED and (share := weight(shared)) >= least:
                later.append((0, share, other.id, other))
        if later:
            successors[record.id] = max(later)[3]
    return successors
