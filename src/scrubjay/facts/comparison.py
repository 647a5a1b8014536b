"""Comparison: the words, numbers and dates that two claims share, and those that only one has.

An answer names the newer statement beside the older one, so similarity is not enough: nearly everything beside the
changed value must be in both, and of two events neither is newer.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from scrubjay.facts.claims import Claim, ContentWord
from scrubjay.facts.lexicon import (
    ADDITIVE,
    KINDS,
    LIGHT,
    MOVES,
    ONCE,
    PURPOSE_VERBS,
    SEVERAL_KIN,
    SINGLE_OBJECT,
    STATIC,
    WEAK_VERBS,
    WEIGHTLESS,
    is_abbreviation,
    is_prefix_opposite,
)
from scrubjay.facts.quantities import HALF_DAY, DateValue, Quantity, dates_agree
from scrubjay.facts.vocabulary import table_lines
from scrubjay.text.tokenizer import UNKNOWN_RANK, stem_word, word_ranks

Numbers = tuple[tuple[Quantity, ...], tuple[Quantity, ...]]
Days = tuple[tuple[DateValue, ...], tuple[DateValue, ...]]


def match_numbers(old: tuple[Quantity, ...], new: tuple[Quantity, ...]) -> Numbers:
    """Return the numbers that only the old, and that only the new claim has."""
    left, right = [], list(new)
    for number in old:
        same = next((other for other in right if _same_number(number, other)), None)
        if same is None:
            left.append(number)
        else:
            right.remove(same)
    return _without_implied_ones(left, right), _without_implied_ones(right, left)


def _without_implied_ones(numbers: list[Quantity], others: list[Quantity]) -> tuple[Quantity, ...]:
    """Drop a mere 1, which "weekly" implies as "once a week" does, unless another number replaces it."""
    return tuple(one for one in numbers if others or one.unit or one.key != "1")


def match_days(old: tuple[DateValue, ...], new: tuple[DateValue, ...]) -> tuple[Days, bool]:
    """Return the dates of only one claim, and whether a shared date is more exact in the new one."""
    left, right, finer = [], list(new), False
    for day in old:
        same = next((other for other in right if dates_agree(day, other)), None)
        if same is None:
            left.append(day)
            continue
        right.remove(same)
        finer |= any(
            old_part is None and new_part is not None
            for old_part, new_part in zip(day.parts, same.parts, strict=True)
        )
    return (tuple(left), tuple(right)), finer


def match_hours(days: Days, numbers: Numbers) -> tuple[Days, Numbers]:
    """Match a bare number with a clock of the same hour: "at six", "6pm"."""
    for side in (0, 1):
        for number, day in itertools.product(numbers[side], days[1 - side]):
            if _is_hour(number, day):
                left = tuple(other for other in days[1 - side] if other is not day)
                rest = tuple(other for other in numbers[side] if other is not number)
                if side == 0:
                    return (days[0], left), (rest, numbers[1])
                return (left, days[1]), (numbers[0], rest)
    return days, numbers


def _same_number(one: Quantity, other: Quantity) -> bool:
    if one.unit and other.unit:
        return one.unit == other.unit and one.key == other.key
    return one.count == other.count and "version" not in (one.unit, other.unit)


def _is_hour(number: Quantity, day: DateValue) -> bool:
    if number.unit or day.minute is None or not number.key.isdecimal() or int(number.key) > 24:
        return False
    return (day.minute - int(number.key) * 60) % HALF_DAY == 0


def are_sides_exchanged(old: Claim, new: Claim) -> bool:
    """Return whether denials, opposites or numbers changed places: "three cats, two dogs", "two cats, three dogs"."""
    new_words = {word.key: word for word in new.words}
    at = [
        n
        for n, word in enumerate(old.words)
        if word.key in new_words and new_words[word.key].denied != word.denied
    ]
    if len(at) > 1 and (
        at[-1] - at[0] > 1 or any(old.words[n].aside or new_words[old.words[n].key].aside for n in at)
    ):
        return True  # "not X but Y" / "not Y but X"; a denial said of a verb or of what is beside it is one denial
    if [word.key for word in old.words] != [word.key for word in new.words]:
        return False
    numbers, days = [number.key for number in old.numbers], [day.parts for day in old.days]
    others, dates = [number.key for number in new.numbers], [day.parts for day in new.days]
    return (numbers != others and sorted(numbers) == sorted(others)) or (
        days != dates and len(days) == len(dates) and all(day in dates for day in days)
    )


def are_sides_reversed(old: Claim, new: Claim, shared: Collection[str]) -> bool:
    """Return whether shared words changed places around a word of order ("than", "over"), or around the verb."""
    for order, key in old.sides.items():
        other = new.sides.get(order)
        if other and other != key and key in shared and other in shared:
            return True
    if old.verb.key != new.verb.key or old.verb.key in ("be", "") or old.verb.key in MOVES:
        return False
    before = {word.key for word in old.words if word.early}
    after = {word.key for word in new.words if word.early}
    if not before or not after or before & after or old.passive != new.passive:
        return False
    return all(key in shared for key in before | after)


WEIGHT_CACHE: Final = 20_000
"""Words whose weight is cached."""
_LOW_WEIGHT_KEYS: Final = LIGHT | WEIGHTLESS | MOVES
_LOW_WEIGHT: Final = 0.4
"""Relative weight of a word that carries little."""
_COMMON_RANK: Final = 200
"""Rank up to which all words weigh the same."""


def claim_overlap(old: Claim, new: Claim) -> tuple[float, float]:
    """Return for each claim the share of its word weight that the other has."""
    return _covered_share(old.words, new.words), _covered_share(new.words, old.words)


def _covered_share(words: Iterable[ContentWord], others: Iterable[ContentWord]) -> float:
    keys, raws = {word.key for word in others}, {word.raw.lower() for word in others}
    total = covered = 0.0
    for word in words:
        low = word.raw.lower()
        weight = word_weight(low, word.key)
        total += weight
        if word.key in keys or low in raws:
            covered += weight
    return covered / total if total else 1.0


@lru_cache(WEIGHT_CACHE)
def word_weight(low: str, key: str) -> float:
    """Return a word's weight: higher the rarer it is, lower for words without meaning of their own."""
    ranks, other = word_ranks(), low[:-1] if low.endswith("s") else low + "s"
    rank = min(ranks.get(low, UNKNOWN_RANK), ranks.get(other, UNKNOWN_RANK))
    return math.log(max(rank, _COMMON_RANK) / 100) * (_LOW_WEIGHT if key in _LOW_WEIGHT_KEYS else 1.0)


def word_valence(words: Iterable[ContentWord]) -> int:
    """Return 1 for positive words, -1 for negative ones, 0 else; a denied word counts as its opposite."""
    found = sum(_word_sign(word) for word in words)
    return (found > 0) - (found < 0)


def _word_sign(word: ContentWord) -> int:
    sign = _valences().get(word.stem, 0)
    return -sign if word.denied != word.opposite else sign


@cache
def _valences() -> dict[str, int]:
    table: dict[str, int] = {}
    for line in table_lines("valence.txt"):
        sign = 1 if line[0] == "+" else -1
        for word in line[1:].split():
            table.setdefault(stem_word(word, "en"), sign)
    return table


MAX_SPELLINGS: Final = 12
"""Unmatched words on a side up to which spellings are compared one by one."""
MAX_ABBREVIATED: Final = 5
"""Maximum number of words that one may abbreviate."""


@dataclass(frozen=True, slots=True)
class ClaimDifference:
    """Difference between an old and a new claim; the first of each pair belongs to the old one.

    Attributes:
        shared: Keys of the content words of both.
        finer: Whether a shared date is more exact in the new one.
        denied: Whether one denies the other.
        turned: Whether the same words changed roles: who does it, which is more, which is rejected.
        names_old: Whether the new one rejects the old value by name.
    """

    old: Claim
    new: Claim
    shared: frozenset[str]
    dropped: tuple[ContentWord, ...]
    added: tuple[ContentWord, ...]
    numbers: tuple[tuple[Quantity, ...], tuple[Quantity, ...]]
    days: tuple[tuple[DateValue, ...], tuple[DateValue, ...]]
    finer: bool
    denied: bool
    turned: bool
    names_old: bool


def compare_claims(old: Claim, new: Claim) -> ClaimDifference:
    old_words, new_words = {word.key: word for word in old.words}, {word.key: word for word in new.words}
    shared = old_words.keys() & new_words.keys()
    dropped = [word for key, word in old_words.items() if key not in new_words]
    added = [word for key, word in new_words.items() if key not in old_words]
    opposite_keys = {key for key in shared if old_words[key].opposite != new_words[key].opposite}
    denied_keys = {key for key in shared if old_words[key].denied != new_words[key].denied}
    denies = (old.denies != new.denies) ^ (len(opposite_keys) % 2 == 1)
    if dropped and added and len(dropped) <= MAX_SPELLINGS and len(added) <= MAX_SPELLINGS:
        denies ^= _match_spellings(dropped, added)
    dropped = [
        word for word in dropped if word.key not in MOVES
    ]  # "moved" says that something changed, not what
    added = [word for word in added if word.key not in MOVES]
    if not old.denies ^ new.denies:
        dropped = [word for word in dropped if not _is_negligible(word, old)]
        added = [word for word in added if not _is_negligible(word, new)]
    days, finer = match_days(old.days, new.days)
    days, numbers = match_hours(days, match_numbers(old.numbers, new.numbers))
    is_split = not denies and bool(denied_keys & opposite_keys) and bool(denied_keys - opposite_keys)
    return ClaimDifference(
        old=old,
        new=new,
        shared=frozenset(shared),
        dropped=tuple(dropped),
        added=tuple(added),
        numbers=numbers,
        days=days,
        finer=finer,
        denied=denies,
        turned=not denies
        and not is_split
        and (are_sides_exchanged(old, new) or are_sides_reversed(old, new, shared)),
        names_old=not any(word.aside and word.denied for word in old.words)
        and any(
            new_words[key].aside and new_words[key].denied and not old_words[key].denied for key in shared
        ),
    )


def _is_negligible(word: ContentWord, claim: Claim) -> bool:
    return word.key in WEIGHTLESS or (
        word.key == claim.verb.key and word.key in WEAK_VERBS and claim.verb.at > 0
    )


def _match_spellings(dropped: list[ContentWord], added: list[ContentWord]) -> bool:
    denies = False
    for word in list(dropped):
        for other in added:
            opposite = _same_meaning(word, other)
            if opposite is not None:
                denies ^= opposite
                dropped.remove(word)
                added.remove(other)
                break
    _remove_abbreviations(dropped, added)
    _remove_abbreviations(added, dropped)
    return denies


def _same_meaning(word: ContentWord, other: ContentWord) -> bool | None:
    one, two = word.raw.lower(), other.raw.lower()
    if word.name and other.name:
        return None
    if word.stem == other.stem:
        return word.opposite != other.opposite
    return True if is_prefix_opposite(one, two) or is_prefix_opposite(word.stem, other.stem) else None


def _remove_abbreviations(parts: list[ContentWord], abbreviations: list[ContentWord]) -> None:
    for word in list(abbreviations):
        for at in range(len(parts)):
            for end in range(at + 2, min(at + MAX_ABBREVIATED, len(parts)) + 1):
                if is_abbreviation(word.raw, [part.raw.lower() for part in parts[at:end]]):
                    del parts[at:end]
                    abbreviations.remove(word)
                    return


# Predicates on a difference `d`, grouped by what they look at. Their limits first.

MAX_VALUE_WORDS: Final = 4
"""Words of a value; where more differ on both sides, the things differ."""
_DIFFERENT_PERSONS: Final = ({"i", "you"}, {"i", "they"}, {"you", "they"})
DENIAL_SHARE: Final = 0.5
"""Share of the words of both that makes a denial one of the same."""
EVENT_WORDS: Final = 4
"""Words of substance that two reports of one event share."""
OLD_SHARE: Final = 0.6
"""Minimum share of the old statement, beside its value, that the new one has too."""
NEW_SHARE: Final = 0.4
"""Share of the new statement that is of the old one where it says that something changed."""
MEASURE_SHARE: Final = 0.75
"""Share that two statements have in common beside a number or a date that differs."""


# Time: the new statement announces a change, or both tell of events.


def says_changed(d: ClaimDifference) -> bool:
    """Return whether the new statement announces a change."""
    if "changed" not in d.new.signals:
        return False
    return "changed" not in d.old.signals or bool(d.added)


def says_over(d: ClaimDifference) -> bool:
    """Return whether the new statement says that a state ended."""
    return "over" in d.new.signals and "over" not in d.old.signals


def both_happened(d: ClaimDifference) -> bool:
    """Return whether both tell of something past, at different times."""
    old, new = d.days
    if not (old and new):
        return False
    past = "past" in d.old.signals and "past" in d.new.signals
    if not past or says_changed(d):
        return False
    if d.old.verb.key == "be":
        return bool(d.added and d.dropped)
    return d.old.verb.key not in ONCE or bool(d.numbers[0] and d.numbers[1]) or bool(d.added and d.dropped)


def plan_came_true(d: ClaimDifference) -> bool:
    """Return whether a plan, a wait or an activity under way has come to its end."""
    if d.denied and "waited" in d.old.signals and "past" in d.new.signals:
        return bool(d.shared)
    late = any(not word.early and word.key in d.shared for word in d.old.words)
    if d.denied or not d.shared or "planned" in d.new.signals or "ongoing" in d.new.signals:
        return False
    if "planned" in d.old.signals:
        return not has_other_value(d) or (late and "past" in d.new.signals)
    return "ongoing" in d.old.signals and "past" in d.new.signals and late


def are_occasions(d: ClaimDifference) -> bool:
    """Return whether both tell of events, which stay true."""
    if not ("past" in d.old.signals and "past" in d.new.signals):
        return False
    return not all(claim.verb.key in ONCE | MOVES | {"be"} for claim in (d.old, d.new))


def _same_time(d: ClaimDifference) -> bool:
    if not (d.old.verb.key and d.new.verb.key) or "noted" in d.old.signals | d.new.signals:
        return "over" not in d.new.signals - d.old.signals  # a note tells no time
    time = {"past", "planned", "over"}
    return d.old.signals & time == d.new.signals & time


# Values: numbers, dates, and words of substance that only one statement has.


def values_differ(d: ClaimDifference) -> bool:
    """Return whether each has a number or a date that the other lacks."""
    both = any(old and new for old, new in (d.numbers, d.days))
    return both or _differ_in_hour(d, 0) or _differ_in_hour(d, 1)


def _differ_in_hour(d: ClaimDifference, side: int) -> bool:
    bare = any(not number.unit for number in d.numbers[side])
    return bare and any(day.minute is not None for day in d.days[1 - side])


def has_other_value(d: ClaimDifference) -> bool:
    """Return whether each has a word of substance that the other lacks."""
    return bool(_value_words(d.dropped, d.old) and _value_words(d.added, d.new))


def _value_words(words: tuple[ContentWord, ...], claim: Claim) -> list[ContentWord]:
    return [word for word in words if word.key != claim.verb.key and word.key not in MOVES and not word.aside]


def can_stand_in(d: ClaimDifference) -> bool:
    """Return whether the new value can replace the old one, being of the same attribute."""
    if values_differ(d):
        units = {number.unit for number in d.numbers[0]}, {number.unit for number in d.numbers[1]}
        if units[0] and units[1] and not units[0] & units[1] and "" not in units[0] | units[1]:
            return False
        return not has_other_value(d) or (says_changed(d) and bool(d.shared))
    return len(_value_words(d.added, d.new)) <= MAX_VALUE_WORDS


def is_exclusive(d: ClaimDifference) -> bool:
    """Return whether the values that differ exclude each other."""
    verb = d.old.verb.key
    static = verb in STATIC and d.new.verb.key in STATIC
    if not verb or not (static or verb == d.new.verb.key) or not (d.dropped and d.added):
        return False
    if any(word.early for word in (*d.dropped, *d.added)) and not is_inverted(d):
        return False
    if bool(d.numbers[0]) != bool(d.numbers[1]):
        return False
    if verb in ADDITIVE and not differs_in_place(d):
        return False
    named = any(word.name for word in d.added) and any(word.name for word in d.dropped)
    if static:
        return (
            bool([word for word in d.old.words if word.early])
            or named
            or (verb != "be" and differs_in_place(d))
        )
    return True


def is_inverted(d: ClaimDifference) -> bool:
    """Return whether the value comes first: "Ana is our lead" / "Ben is our lead"."""
    if d.old.verb.key != "be" or d.new.verb.key != "be" or not d.shared:
        return False
    late = [word for word in d.new.words if not word.early]
    if not late or not (d.new.definite and d.old.definite):
        return False
    return all(word.key in d.shared and word.key not in SEVERAL_KIN for word in late)


def differs_in_place(d: ClaimDifference) -> bool:
    """Return whether only the place or the means differs."""
    dated = bool(d.old.days) and not (d.days[0] or d.days[1])
    same_rest = dated or any(
        not word.early and word.key in d.shared and word.key != d.old.verb.key for word in d.old.words
    )
    return same_rest and bool(d.dropped and d.added) and d.dropped[0].placed and d.added[0].placed


# Details: the new statement says less, or more.


def says_less(d: ClaimDifference) -> bool:
    """Return whether the new statement adds nothing, in the same tense."""
    if _adds_details(d) or d.denied or d.turned or d.old.rest != d.new.rest or not _same_time(d):
        return False
    if d.dropped or d.numbers[0] or d.days[0]:
        shared = d.shared - LIGHT
        content = shared - {d.new.verb.key} or (shared and not d.dropped)
        return bool(content) and not says_changed(d)
    return True


def says_more(d: ClaimDifference) -> bool:
    """Return whether the new statement says all that the old one did, and more."""
    return _adds_details(d) and not (d.dropped or d.numbers[0] or d.days[0] or d.denied)


def adds_value(d: ClaimDifference) -> bool:
    """Return whether the new statement has a number or a date that the old one lacks."""
    return bool(d.numbers[1] or d.days[1] or d.finer)


def _adds_details(d: ClaimDifference) -> bool:
    settings = d.new.settings.keys() - d.old.settings.keys()
    return bool(d.added or adds_value(d) or settings)


# Subject and place.


def has_other_subject(d: ClaimDifference) -> bool:
    """Return whether each has a word in its subject that the other statement lacks."""
    old, new = d.old, d.new
    if {old.person, new.person} == {"i", "they"} or {old.person, new.person} == {"you", "they"}:
        return True
    old_only, new_only = (any(word.early for word in words) for words in (d.dropped, d.added))
    if all(any(number.early for number in numbers) for numbers in d.numbers):
        return True
    if old_only and new_only:
        return not is_inverted(d)
    if (old.person == "i" and new_only and not old_only) or (new.person == "i" and old_only and not new_only):
        spoken_of = any(word.early and word.key in d.shared for word in (*old.words, *new.words))
        return not says_changed(d) and not spoken_of
    return False


def has_other_place(d: ClaimDifference) -> bool:
    """Return whether a kind of circumstance (stage, system, side) has other names in each."""
    for kind in d.old.settings.keys() & d.new.settings.keys():
        old, new = d.old.settings[kind], d.new.settings[kind]
        if old != new and not (old < new or new < old):
            return True
    one_sided = d.old.settings.keys() ^ d.new.settings.keys()
    return bool(one_sided & {"stage", "system"}) and (
        d.denied or bool(values_differ(d)) or bool(d.added and d.dropped)
    )


def _same_subject(d: ClaimDifference) -> bool:
    return d.old.person == d.new.person and not any(word.early for word in (*d.dropped, *d.added))


def _is_personal(claim: Claim) -> bool:
    early = [word for word in claim.words if word.early]
    return bool(claim.person) or (len(early) == 1 and early[0].raw.istitle())


def _has_one_subject_word(claim: Claim) -> bool:
    return sum(word.early for word in claim.words) == 1


def _each_has_capital(*sides: tuple[ContentWord, ...]) -> bool:
    return all(any(word.raw[:1].isupper() for word in words) for words in sides)


# Words in common.


def shared_words(d: ClaimDifference) -> set[str]:
    """Return the keys of the words of substance that both have."""
    return {key for key in d.shared if key not in LIGHT}


def shared_fraction(claim: Claim, d: ClaimDifference) -> float:
    """Return the share of a claim's words of substance that the other one has."""
    moved = d.new.verb.key in MOVES  # "moved" replaces any verb
    idle = LIGHT | MOVES | ({d.old.verb.key} if moved else set())
    words = {word.key for word in claim.words if word.key not in idle}
    unmatched = {word.key for word in (d.dropped if claim is d.old else d.added)} & words
    unmatched |= (d.old.settings.keys() ^ d.new.settings.keys()) & claim.settings.keys()
    total = len(words | unmatched)
    return 1 - len(unmatched) / total if total else 1.0


def are_related(d: ClaimDifference) -> bool:
    """Return whether both share enough for one to deny the other."""
    return shared_fraction(d.old, d) >= DENIAL_SHARE and shared_fraction(d.new, d) >= DENIAL_SHARE


def adjacent_slot(claim: Claim, words: tuple[ContentWord, ...]) -> list[ContentWord] | None:
    """Return the words of one claim alone if they stand side by side, else None."""
    content = [word for word in words if word.key not in LIGHT]
    at = [n for n, word in enumerate(claim.words) if word in content]
    between = [word for word in claim.words[at[0] : at[-1]] if word not in content] if at else []
    return content if all(word.key in LIGHT for word in between) and len(content) <= MAX_VALUE_WORDS else None


# Enough in common for an update.


def may_supersede(d: ClaimDifference, rule: str) -> bool:
    """Return whether the claims share enough for a rule's "supersedes"."""
    if {d.old.person, d.new.person} in _DIFFERENT_PERSONS:
        return False
    old, new = shared_fraction(d.old, d), shared_fraction(d.new, d)
    if rule == "instead of the old":
        return old >= DENIAL_SHARE or any(word.key in d.shared and word.aside for word in d.new.words[-1:])
    if are_occasions(d):
        return rule == "more details" and len(shared_words(d)) >= EVENT_WORDS
    if rule == "more details":
        return _may_elaborate(d)
    if rule in ("over", "denied", "other place"):
        return (old >= OLD_SHARE and new >= DENIAL_SHARE) or (new > OLD_SHARE and old >= DENIAL_SHARE)
    if rule == "came true":
        done = d.new.verb.key in d.shared | {"", "find", "get", "have", "be"}
        return old >= OLD_SHARE and (new >= DENIAL_SHARE or (old == 1 and done))
    if values_differ(d):
        return _may_change_measure(d, old, new)
    return _may_change_value(d, old, new)


def _may_elaborate(d: ClaimDifference) -> bool:
    if says_changed(d) or "over" in d.new.signals or d.new.verb.key in MOVES:
        return bool(shared_words(d))
    new_keys = {word.key for word in d.new.words} if not d.old.person else set()
    static = d.old.verb.key in STATIC and d.new.verb.key in STATIC
    if d.old.person != d.new.person or not (static or d.old.verb.key in new_keys | {d.new.verb.key, ""}):
        return False
    return len(shared_words(d)) > 1 or not _is_personal(d.old)


def _may_change_measure(d: ClaimDifference, old: float, new: float) -> bool:
    if (
        d.days[0]
        and d.days[1]
        and not any(_share_date_part(one, other) for one in d.days[0] for other in d.days[1])
    ):
        return False
    if not shared_words(d):
        return False
    if d.numbers[0] and d.numbers[1] and d.days[0] and d.days[1] and not says_changed(d):
        return False  # two amounts at two times
    if any(number.names for number in (*d.numbers[0], *d.numbers[1])) and not says_changed(d):
        return False
    moved = says_changed(d) or d.new.verb.key in MOVES
    if not moved and d.new.verb.key not in {d.old.verb.key, ""} | WEAK_VERBS | LIGHT:
        return False  # when it leaves, and when it arrives
    if old == 1 and (moved or not _is_personal(d.old)) and not _is_narrowed(d):
        return True
    return min(old, new) >= (OLD_SHARE if moved else MEASURE_SHARE) and (moved or 1 in (old, new))


def _is_narrowed(d: ClaimDifference) -> bool:
    """Return whether an added word specifies the thing: a budget, the holiday budget."""
    added = {word.key for word in d.added} - LIGHT
    words = d.new.words
    return any(
        word.key in added and after.key in d.shared and after.key != d.new.verb.key
        for word, after in itertools.pairwise(words)
    )


def _share_date_part(one: DateValue, other: DateValue) -> bool:
    return any(a is not None and b is not None for a, b in zip(one.parts, other.parts, strict=True))


def _may_change_value(d: ClaimDifference, old: float, new: float) -> bool:
    verb = d.old.verb.key
    if _is_personal(d.new) and not says_changed(d) and ("planned" in d.old.signals or verb == "plan"):
        return False  # who plans one thing plans others
    if {KINDS[word.key] for word in d.dropped if word.key in KINDS} & {
        KINDS.get(word.key) for word in d.added
    }:
        return bool(shared_words(d)) or verb == d.new.verb.key == "be"
    old_slot, new_slot = adjacent_slot(d.old, d.dropped), adjacent_slot(d.new, d.added)
    if old_slot is None or new_slot is None:
        return says_changed(d) and old >= OLD_SHARE and new >= NEW_SHARE and bool(shared_words(d))
    if d.new.verb.key in MOVES and says_changed(d):
        return old >= OLD_SHARE or (verb in SINGLE_OBJECT and _same_subject(d))
    if is_inverted(d):
        return True
    if _is_personal(d.old) or _is_personal(d.new):
        if verb == "be":
            return bool(d.dropped and d.added) and d.dropped[0].placed and d.added[0].placed
        shared_objects = {
            word.key for word in d.old.words if not word.early and word.key != verb
        } & shared_words(d)
        return (
            verb in SINGLE_OBJECT - PURPOSE_VERBS
            or (verb in PURPOSE_VERBS and bool(shared_objects))
            or differs_in_place(d)
        )
    if (
        verb == "be"
        and _has_one_subject_word(d.old)
        and not (says_changed(d) or _each_has_capital(d.dropped, d.added) or differs_in_place(d))
    ):
        return False  # a car is red and is fast
    return _same_subject(d) and bool(shared_words(d))
