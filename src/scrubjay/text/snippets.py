"""Snippets: the window of a text that matches a query best, highlights, and phrase search.

A window's score is the summed weight of the *distinct* groups in it; ties go to the tighter window, then the earlier.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from scrubjay.errors import InputError
from scrubjay.frozen import frozen
from scrubjay.text.normalize import CUT_MARK, has_unspaced, inside_grapheme
from scrubjay.text.tokenizer import TermGroup, find_terms, split_words

SNIPPET_LIMIT = 700
"""Characters, marks included: the size of a search result's snippet (features R1)."""

LEAD_SHARE = 1 / 3
"""Share of the free room given to what stands before the match; readers need more of what follows."""

MIN_WEIGHT = 0.5
"""Weight of the last group where the caller gave none; the first weighs 1, so order them rarest first."""

# Ends of sentences: the full stops of all scripts here; a Latin one only before white space.
_SENTENCE = re.compile(r"[.!?][\"'”’)\]*_]*\s+|[。！？।؟۔]+\s*|\n")
_FRONT_MATTER = re.compile(r"---\n.*?\n---\n", re.DOTALL)
_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"\w")
_IDENTIFIER_MARKS = re.compile(r"[._\-]+")


@frozen
class Snippet:
    """A window of a content: ``content[start:end]`` is ``text`` without its ``CUT_MARK``s."""

    text: str
    start: int
    end: int


class _Match(NamedTuple):
    start: int
    end: int
    groups: tuple[int, ...]


def best_snippet(
    content: str,
    groups: Sequence[TermGroup],
    limit: int = SNIPPET_LIMIT,
    *,
    weights: Mapping[str, float] | None = None,
    language: str = "en",
) -> Snippet:
    """Return the window around the best match, or the beginning where nothing matches; see `best_snippets`."""
    return next(best_snippets(content, groups, (limit,), weights=weights, language=language))


def best_snippets(
    content: str,
    groups: Sequence[TermGroup],
    limits: Sequence[int],
    *,
    weights: Mapping[str, float] | None = None,
    language: str = "en",
) -> Iterator[Snippet]:
    """Yield the best window for each limit; matches are searched once.

    It starts and ends at a line, else a sentence, a word, or a grapheme.

    Args:
        content: The stored text.
        groups: The query's groups, rarest first where ``weights`` is not given.
        limits: Maximum number of characters of each ``Snippet.text``, at least 1.
        weights: Weight of a group by its ``word``; a group without one weighs nothing.
        language: Language in which the content was indexed.

    Raises:
        InputError: A limit is below 1.
    """
    matches: list[_Match] | None = None
    for limit in limits:
        if limit < 1:
            raise InputError(
                f"A snippet of {limit} characters was asked for; the least is 1.",
                hint="leave the limit out for 700 characters",
            )
        if len(content) <= limit:
            first, last = _trim_window(content, 0, len(content))
            yield Snippet(content[first:last], first, last)
            continue
        if matches is None:
            matches = _matches(content, groups, language)
        room = max(1, limit - 2 * len(CUT_MARK))
        first, last = _densest_window(matches, _weights(groups, weights), room)
        start, end = _cut_window(content, first, min(last, first + room), room)
        yield _with_cut_marks(content, start, end, limit)


def _with_cut_marks(content: str, start: int, end: int, limit: int) -> Snippet:
    before = CUT_MARK if content[:start].strip() else ""
    after = CUT_MARK if content[end:].strip() else ""
    return Snippet(f"{before}{content[start:end]}{after}"[:limit], start, end)


def best_sentences(content: str, groups: Sequence[TermGroup], limit: int, *, language: str = "en") -> Snippet:
    """Return the run of whole sentences and lines that matches best, as `best_snippet` otherwise.

    Front matter in which nothing matches is left out. Of a sentence that is longer than ``limit`` the best window is
    returned, and where sentences fill less than half of it, as a heading before a long one, the window of words.
    """
    matches, weights = _matches(content, groups, language), _weights(groups, None)
    front = _FRONT_MATTER.match(content)
    if (
        front is not None
        and front.end() < len(content)
        and all(match.start >= front.end() for match in matches)
    ):
        inner = best_sentences(
            content[front.end() :], groups, max(1, limit - len(CUT_MARK)), language=language
        )
        text = inner.text if inner.text.startswith(CUT_MARK) else CUT_MARK + inner.text
        return Snippet(text[:limit], front.end() + inner.start, front.end() + inner.end)
    spans, room = _sentences(content), limit - 2 * len(CUT_MARK)
    if len(content) <= limit or not spans:
        return best_snippet(content, groups, limit, language=language)
    starts = [match.start for match in matches]
    best, found = (0.0, 0), (0, 0)
    for first, (start, _) in enumerate(spans):
        covered: set[int] = set()
        at = bisect_left(starts, start)
        for last in range(first, len(spans)):
            end = spans[last][1]
            if last > first and end - start > room:
                break
            while at < len(matches) and matches[at].start < end:
                covered.update(matches[at].groups)
                at += 1
            # The shortest run of those that hold as much is taken, and then filled.
            rank = (round(sum(weights[group] for group in covered), 9), start - end)
            if rank > best:
                best, found = rank, (first, last)
    first, last = found
    start, end = spans[first][0], spans[last][1]
    if end - start > room:
        inner = best_snippet(content[start:end], groups, max(1, room), language=language)
        start, end = start + inner.start, start + inner.end
    else:
        while last + 1 < len(spans) and spans[last + 1][1] - start <= room:
            last += 1
        while first and spans[last][1] - spans[first - 1][0] <= room:
            first -= 1
        start, end = _trim_window(content, spans[first][0], spans[last][1])
        if 2 * (end - start) < room:
            return best_snippet(content, groups, limit, language=language)
    return _with_cut_marks(content, start, end, limit)


SNIPPET_WRAPPED_LINE = 50
"""Characters from which on a line that ends within a sentence is taken for wrapped."""


def _sentence_ends(content: str, until: int) -> list[int]:
    """Return where sentences and lines end before ``until``; a wrapped line ends no sentence."""
    ends = []
    for border in _SENTENCE.finditer(content, 0, until):
        end = border.end()
        if border[0] == "\n":
            line = content[content.rfind("\n", 0, border.start()) + 1 : border.start()]
            if (
                len(line) >= SNIPPET_WRAPPED_LINE
                and line[-1] not in "|:;"
                and content[end : end + 1].isalnum()
            ):
                continue
        ends.append(end)
    return ends


def _sentences(content: str) -> list[tuple[int, int]]:
    """Return start and end of each sentence or line that has a text, in order, with the short ones it needs."""
    spans: list[tuple[int, int]] = []
    start = searched = 0
    for end in (*_sentence_ends(content, len(content)), len(content)):
        has_word = _WORD.search(content, searched, end)
        searched = end
        if has_word:
            if spans and _introduces(content, spans[-1][0], start):
                start = spans.pop()[0]
            spans.append((start, end))
        elif spans:  # the end of a table's row, a fence
            spans[-1] = (spans[-1][0], end)
        else:
            continue
        start = end
    return spans


SHORT_SENTENCE = 40
"""Characters up to which a sentence stays with the next one, which may explain it."""
_REASON = re.compile(
    r"[\W_]*(?:(?:because|reason|rationale|grund|gründe|begründung|weil|denn)\b|因为|因為|原因|理由)",
    re.IGNORECASE,
)


def _introduces(content: str, before: int, start: int) -> bool:
    """Return whether the sentence at ``start`` needs the short one at ``before``.

    It does if both stand on one line, or if the first ends in a colon or the second gives a reason.
    """
    lead = content[before:start].lstrip()
    words = lead.rstrip()
    if len(words) > SHORT_SENTENCE:
        return False
    return "\n" not in lead or words[-1:] in (":", "：") or _REASON.match(content, start) is not None


def _with_introduction(content: str, start: int) -> int:
    """Return where the short sentences begin that the one at ``start`` needs."""
    borders = [0, *_sentence_ends(content, start)]
    if borders.pop() != start:  # within a sentence
        return start
    end = start
    for border in reversed(borders):
        has_word = _WORD.search(content, border, end)
        end = border
        if has_word:
            if not _introduces(content, border, start):
                break
            start = border
    return start


def find_highlights(
    content: str, groups: Sequence[TermGroup], *, language: str = "en"
) -> list[tuple[int, int]]:
    """Return start and end of every word that matches a group, in order, overlaps joined."""
    spans: list[tuple[int, int]] = []
    for match in _matches(content, groups, language):
        if spans and match.start < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], match.end))
        else:
            spans.append((match.start, match.end))
    return spans


def contains_phrase(content: str, phrase: str) -> bool:
    """Return whether the content holds the words of a quoted phrase one after another.

    Words are compared folded, not stemmed; punctuation, white space and marks inside identifiers are ignored, and
    unspaced scripts are compared by character. A phrase without a word ("->") is searched for as it is.
    """
    wanted = _phrase_atoms(phrase)
    if not wanted:
        return bool(phrase.strip()) and phrase.strip() in content
    if content.isascii():  # spares most contents the cutting into words
        lowered = content.lower()
        if any(atom not in lowered for atom in wanted):
            return False
    return "\n".join(("", *wanted, "")) in "\n".join(("", *_phrase_atoms(content), ""))


MAX_CACHED_TEXT = 200
"""Characters of a text whose words are kept for a while: a search looks for many names in one question."""


def _phrase_atoms(text: str) -> tuple[str, ...]:
    """Return the folded words without inner marks, and the characters of unspaced scripts."""
    return (_recent_atoms if len(text) <= MAX_CACHED_TEXT else _split_atoms)(text)


def _split_atoms(text: str) -> tuple[str, ...]:
    atoms: list[str] = []
    end = 0
    for word in split_words(text):
        if word.text.isascii() or not has_unspaced(word.text):
            atoms += filter(None, _IDENTIFIER_MARKS.split(word.text))
        else:  # of overlapping bigrams only the last character is new
            atoms += word.text[-1] if word.start < end else word.text
        end = word.end
    return tuple(atoms)


_recent_atoms = lru_cache(maxsize=1_024)(_split_atoms)


def _matches(content: str, groups: Sequence[TermGroup], language: str) -> list[_Match]:
    owners: dict[str, list[int]] = {}
    for index, group in enumerate(groups):
        for form in group.forms:
            owners.setdefault(form, []).append(index)
    found = find_terms(content, owners, language) if owners else []
    groups_of = {
        forms: tuple(sorted({index for form in forms for index in owners[form]}))
        for forms in {forms for _, _, forms in found}
    }
    return [_Match(start, end, groups_of[forms]) for start, end, forms in found]


def _weights(groups: Sequence[TermGroup], weights: Mapping[str, float] | None) -> list[float]:
    if weights is not None:
        return [weights.get(group.word, 0.0) for group in groups]
    step = (1 - MIN_WEIGHT) / max(1, len(groups) - 1)
    return [1 - step * index for index in range(len(groups))]


def _densest_window(matches: Sequence[_Match], weights: Sequence[float], room: int) -> tuple[int, int]:
    """Return the stretch of matches within ``room`` characters of the most weight."""
    best, found = (-1.0, 0), (0, 0)
    counts = [0] * len(weights)
    left = 0
    for right, match in enumerate(matches):
        for index in match.groups:
            counts[index] += 1
        while left < right and (
            match.end - matches[left].start > room
            or all(counts[index] > 1 for index in matches[left].groups)  # the window keeps all its groups
        ):
            for index in matches[left].groups:
                counts[index] -= 1
            left += 1
        worth = round(sum(w for w, times in zip(weights, counts, strict=True) if times), 9)
        rank = (worth, matches[left].start - match.end)
        if rank > best:
            best, found = rank, (matches[left].start, match.end)
    return found


def _cut_window(content: str, first: int, last: int, room: int) -> tuple[int, int]:
    spare = room - (last - first)
    earliest = max(0, first - int(spare * LEAD_SHARE))
    if (
        len(content) - earliest < room
    ):  # the match stands near the end: what is left of the room goes before it
        earliest = max(0, len(content) - room)
    start = 0 if earliest == 0 else _window_start(content, earliest, first)
    whole = _with_introduction(content, start)
    start = whole if last - whole <= room else start
    latest = min(len(content), start + room)
    end = len(content) if latest == len(content) else _window_end(content, last, latest)
    return _trim_window(content, start, end)


def _window_start(content: str, earliest: int, first: int) -> int:
    line = content.find("\n", earliest - 1, first)
    if line >= 0:
        return line + 1
    for pattern in (_SENTENCE, _SPACE):
        match = pattern.search(content, earliest, first)
        if match:
            return match.end()
    while earliest < first and inside_grapheme(content, earliest):
        earliest += 1
    return earliest


def _window_end(content: str, last: int, latest: int) -> int:
    line = content.rfind("\n", last, latest + 1)
    if line >= (last + latest) // 2:
        return line
    for pattern, least in ((_SENTENCE, (last + latest) // 2), (_SPACE, last)):
        ends = [
            match.start() + (pattern is _SENTENCE) for match in pattern.finditer(content, least, latest + 1)
        ]
        place = bisect_right(ends, latest)
        if place:
            return ends[place - 1]
    while latest > last and inside_grapheme(content, latest):
        latest -= 1
    return latest


def _trim_window(content: str, start: int, end: int) -> tuple[int, int]:
    """Leave out blank lines at the start and white space at the end; the first line keeps its indent."""
    while start < end and content[start] in "\n\r":
        start += 1
    while end > start and content[end - 1].isspace():
        end -= 1
    return start, end
