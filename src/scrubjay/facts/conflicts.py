"""Conflict detection: does a new statement update or contradict a similar known one?

This module only marks: both statements stay, and search names the newer one or the contradiction. A statement is
superseded by `facts.supersession` alone, which `facts.reconciliation` asks first.

Ordered rules on the difference of two claims propose a verdict; a logistic regression over all pair features, the
rules' verdict among them, decides (``data/weights.txt``, fitted by ``python -m bench weigh-changes``). A paraphrase is
"new": repeated text is found by `reconcile_facts`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from scrubjay.facts import lexicon
from scrubjay.facts.claims import Claim, ContentWord, parse_claim
from scrubjay.facts.comparison import (
    ClaimDifference,
    adds_value,
    adjacent_slot,
    are_related,
    both_happened,
    can_stand_in,
    claim_overlap,
    compare_claims,
    has_other_place,
    has_other_subject,
    has_other_value,
    is_exclusive,
    may_supersede,
    plan_came_true,
    says_changed,
    says_less,
    says_more,
    says_over,
    values_differ,
    word_valence,
)
from scrubjay.facts.lexicon import (
    ADDITIVE,
    KINDS,
    LIGHT,
    NEGATORS,
    SINGLE_OBJECT,
    WordMeaning,
    is_prefix_opposite,
    meaning_of,
    shared_language,
)
from scrubjay.facts.quantities import TOKEN_CACHE, statement_tokens
from scrubjay.facts.vocabulary import load_words, table_lines
from scrubjay.text.normalize import word_set

_STOPPING: Final = load_words("stopping")
_DENYING: Final = NEGATORS | _STOPPING
_DISTINGUISHING: Final = word_set("another else only except unless additional")
"""Words that make a statement differ from one without them."""
_UNDENIED: Final = frozenset(("forget", "mistake", "doubt", "worry"))
"""Words whose negation denies nothing: "don't forget", "no doubt"."""
_REQUEST_OPENERS: Final = frozenset(("do", "no", "please", "not", "never"))
_OPENING_WORDS: Final = 3
_QUANTIFIERS: Final = {
    **dict.fromkeys(("all", "every", "each", "everyone", "everybody", "everything", "always"), "all"),
    **dict.fromkeys(("most", "mostly", "usually", "majority"), "most"),
    **dict.fromkeys(("some", "sometimes", "occasionally", "partly"), "some"),
    **dict.fromkeys(("few", "rarely", "seldom", "hardly", "barely", "scarcely"), "few"),
}
"""Words of quantity and frequency -> their meaning."""


def _words(text: str, language: str) -> tuple[str, ...]:
    return tuple(token.low for token in statement_tokens(text, language)[0])


def equality_objection(old: str, new: str, language: str) -> str:
    """Return which words say that two texts differ: "denied", "another" (it is about another thing), or ""."""
    old_tokens, new_tokens = _words(old, language), _words(new, language)
    if old_tokens == new_tokens:
        return ""
    denials = count_denials(old_tokens, language) + count_denials(new_tokens, language)
    if (denials + _count_opposites(old_tokens, new_tokens)) % 2:
        return "denied"
    if not _DISTINGUISHING.isdisjoint(set(new_tokens) - set(old_tokens)):
        return "another"
    how_many, how_many_now = _quantities(old_tokens), _quantities(new_tokens)
    if how_many and how_many_now and how_many.isdisjoint(how_many_now):
        return "another"
    is_switched = _turns_off(old_tokens, new_tokens) or _turns_off(new_tokens, old_tokens)
    return "another" if is_switched else ""


def _quantities(words: Sequence[str]) -> set[str]:
    return {_QUANTIFIERS[word] for word in words if word in _QUANTIFIERS}


def _turns_off(old_tokens: Sequence[str], new_tokens: Sequence[str]) -> bool:
    return "on" in old_tokens and "off" not in old_tokens and "off" in new_tokens


@lru_cache(TOKEN_CACHE)
def count_denials(words: tuple[str, ...], language: str) -> int:
    """Return how often a text denies, by its words: "not", "fails", "stopped", "forbidden"."""
    if language != "en":
        return int(any(word in lexicon.negation_words(language) - lexicon.UNCOUNTED_HALVES for word in words))
    found = sum(word in _DENYING for word in words)
    opening = list(itertools.pairwise(words))[: _OPENING_WORDS if {*words[:1]} & _REQUEST_OPENERS else 0]
    return found - any(word in NEGATORS and after in _UNDENIED for word, after in opening)


def _count_opposites(old_tokens: Sequence[str], new_tokens: Sequence[str]) -> int:
    old_meanings = [(word, meaning_of(word, "en")) for word in set(old_tokens) - set(new_tokens)]
    new_meanings = [(word, meaning_of(word, "en")) for word in set(new_tokens) - set(old_tokens)]
    return sum(_are_opposites(*old, *new) for old in old_meanings for new in new_meanings)


def _are_opposites(old_word: str, old_meaning: WordMeaning, new_word: str, new_meaning: WordMeaning) -> bool:
    if old_meaning.key == new_meaning.key:
        return old_meaning.opposite != new_meaning.opposite
    if old_word[-3:] != new_word[-3:] and old_word[:3] != new_word[:3]:
        return False  # neither a prefix nor an ending turns one into the other
    return (
        is_prefix_opposite(old_word, new_word)
        or f"{old_word}less" == new_word
        or old_word == f"{new_word}less"
    )


_TIME_SIGNALS: Final = ("changed", "over", "planned", "past", "ongoing", "also", "waited")

PairFeatures = dict[str, float]


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Two compared statements; verdict and rule are those of the rules.

    Attributes:
        reason: The `equality_objection`, or "number" where only the new one has some number or date.
    """

    difference: ClaimDifference
    new_tokens: tuple[str, ...]
    old_tokens: tuple[str, ...]
    language: str
    reason: str
    verdict: str
    rule: str


def pair_features(pair: ComparedPair) -> PairFeatures:
    """Return the features of a pair by name, about -1 to 2 each; zeros may be missing."""
    d = pair.difference
    found = _overlap_features(d)
    least = found["least shared"]
    found |= _denial_features(pair) | _value_features(d, least) | _time_features(d, found["old shared"])
    found |= _subject_features(d) | _rule_features(pair, least)
    oneself = float(d.old.person == d.new.person == "i")
    found |= {"of oneself": oneself, "of oneself, shared": oneself * least}
    found["long"] = math.log((len(pair.old_tokens) + len(pair.new_tokens)) / 20 + 1)
    found["longer"] = math.log((len(pair.old_tokens) + 1) / (len(pair.new_tokens) + 1))
    return found


def _overlap_features(d: ClaimDifference) -> PairFeatures:
    old, new = claim_overlap(d.old, d.new)
    least = min(old, new)
    gap_old, gap_new = adjacent_slot(d.old, d.dropped), adjacent_slot(d.new, d.added)
    return {
        "old shared": old,
        "new shared": new,
        "least shared": least,
        "nothing dropped": float(not d.dropped),
        "nothing added": float(not d.added),
        "swapped, shared": least * bool(d.dropped and d.added),
        "one gap": float(bool(gap_old) and bool(gap_new)),
    }


def _denial_features(pair: ComparedPair) -> PairFeatures:
    d = pair.difference
    old, new = word_valence(d.dropped), word_valence(d.added)
    return {
        "denied": float(d.denied),
        "against: denied": float(pair.reason == "denied"),
        "against: number": float(pair.reason == "number"),
        "against: another": float(pair.reason == "another"),
        "well and ill": float(old * new < 0),
        "well or ill": float((old != 0) != (new != 0)),
        "turned": float(d.turned),
    }


def _value_features(d: ClaimDifference, least: float) -> PairFeatures:
    other = values_differ(d)
    numbers = bool(d.old.numbers and d.new.numbers) and not any(d.numbers)
    days = bool(d.old.days and d.new.days) and not any(d.days)
    equal = (numbers or days) and not other
    return {
        "other value": float(other),
        "other value, shared": other * least,
        "other value, nothing added": float(other and not d.added),
        "other value, words swapped": float(other and bool(d.added and d.dropped)),
        "other value, another subject": float(other and any(word.early for word in d.added)),
        "other value of a name": float(other and any(one.names for one in (*d.numbers[0], *d.numbers[1]))),
        "other value, now changed": float(other and "changed" in d.new.signals),
        "old day": float(bool(d.days[0])),
        "new day": float(bool(d.days[1])),
        "equal values": float(equal),
        "equal values, shared": equal * least,
    }


def _time_features(d: ClaimDifference, old_shared: float) -> PairFeatures:
    old, new = d.old.signals, d.new.signals
    found = {f"now {name}": 1.0 for name in _TIME_SIGNALS if name in new and name not in old}
    found |= {f"no more {name}": 1.0 for name in _TIME_SIGNALS if name in old and name not in new}
    found["both past"] = float("past" in old and "past" in new)
    found["changed, shared"] = found.get("now changed", 0.0) * old_shared
    found["over, shared"] = found.get("now over", 0.0) * old_shared
    return found


def _subject_features(d: ClaimDifference) -> PairFeatures:
    old, new = d.old, d.new
    keys_old, keys_new = _keys(old.words), _keys(new.words)
    named_old, named_new = _name_keys(old), _name_keys(new)
    early_dropped, early_added = (any(word.early for word in words) for words in (d.dropped, d.added))
    kinds_old, kinds_new = ({KINDS.get(word.key, -1) for word in words} for words in (d.dropped, d.added))
    return {
        "old name": float(bool(named_old - keys_new)),
        "new name": float(bool(named_new - keys_old)),
        "other name": float(bool(named_old - keys_new) and bool(named_new - keys_old)),
        "same name": float(bool(named_old & named_new)),
        "other place": float(has_other_place(d)),
        "other subject": float(has_other_subject(d)),
        "other person": float(old.person != new.person),
        "verb of many": float(old.verb.key in ADDITIVE and new.verb.key in ADDITIVE),
        "verb of one": float(old.verb.key in SINGLE_OBJECT),
        "one kind": float(bool(kinds_old & kinds_new - {-1})),
        "old subject alone": float(early_dropped),
        "new subject alone": float(early_added),
        "same subject": float(bool(_subject_keys(old) & _subject_keys(new))),
        "same predicate": float(bool(_predicate_keys(old) & _predicate_keys(new))),
        "other verb": float(bool(old.verb.key and new.verb.key) and old.verb.key != new.verb.key),
    }


def _keys(words: Sequence[ContentWord]) -> set[str]:
    return {word.key for word in words}


def _subject_keys(claim: Claim) -> set[str]:
    return {word.key for word in claim.words if word.early}


def _predicate_keys(claim: Claim) -> set[str]:
    return {word.key for word in claim.words if not word.early and word.key not in LIGHT}


def _name_keys(claim: Claim) -> set[str]:
    return {word.key for word in claim.words if word.name}


def _rule_features(pair: ComparedPair, least: float) -> PairFeatures:
    shares_nothing = pair.rule == "nothing in common"
    rule, of_another_thing, _ = pair.rule.partition(", of another thing")
    found = {
        f"rules: {pair.verdict}": 1.0,
        "rules: nothing": float(shares_nothing),
        "rules: nothing, shared": shares_nothing * least,
        "rules: but": float(", but " in pair.rule),
    }
    if of_another_thing:
        found |= {f"rules: {rule}, of another thing": 1.0, "rules: thing": 1.0, "rules: thing, shared": least}
    return found


BIAS: Final = "always"
"""The feature that every pair has."""


VERDICTS: Final = ("supersedes", "contradicts", "new")


def verdict_probabilities(features: Mapping[str, float]) -> dict[str, float]:
    """Return the probability of each verdict; features without a weight are ignored."""
    table = _weights()
    sums = list(table[BIAS])
    for name, value in features.items():
        if value and name in table:
            for at, weight in enumerate(table[name]):
                sums[at] += weight * value
    largest = max(sums)
    powers = [math.exp(one - largest) for one in sums]
    total = math.fsum(powers)
    return {verdict: power / total for verdict, power in zip(VERDICTS, powers, strict=True)}


@cache
def _weights() -> dict[str, list[float]]:
    parts = (line.rpartition(" = ") for line in table_lines("weights.txt"))
    return {name: [float(weight) for weight in weights.split()] for name, _, weights in parts}


def _other_place_verdict(d: ClaimDifference) -> str | None:
    if not has_other_place(d):
        return None
    return "supersedes" if says_changed(d) and not d.denied else "new"


def _turned_verdict(d: ClaimDifference) -> str | None:
    if not d.turned:
        return None
    return "supersedes" if says_changed(d) or says_over(d) else "contradicts"


def _denied_verdict(d: ClaimDifference) -> str | None:
    if not d.denied:
        return None
    if says_changed(d) and (d.shared or not has_other_value(d)):
        return "supersedes"
    return "new" if has_other_value(d) or values_differ(d) else "contradicts"


def _other_value_verdict(d: ClaimDifference) -> str | None:
    if "also" in d.new.signals and "changed" not in d.new.signals:
        return "new"
    if says_changed(d):
        return "supersedes" if can_stand_in(d) else "new"
    return "supersedes" if is_exclusive(d) else None


def _same_verb(d: ClaimDifference) -> bool:
    return d.old.verb.key == d.new.verb.key


def _swaps_one_kind(d: ClaimDifference) -> bool:
    old, new = ({KINDS[word.key] for word in words if word.key in KINDS} for words in (d.dropped, d.added))
    return bool(old & new) and len(d.dropped) <= 2 and len(d.added) <= 4


RULES: Final[tuple[tuple[str, Callable[[ClaimDifference], str | None]], ...]] = (
    ("instead of the old", lambda d: "supersedes" if d.names_old and (d.added or says_changed(d)) else None),
    ("other subject", lambda d: "new" if has_other_subject(d) else None),
    ("other place", _other_place_verdict),
    ("turned round", _turned_verdict),
    ("another time", lambda d: "new" if both_happened(d) else None),
    ("over", lambda d: "supersedes" if says_over(d) and (d.shared or _same_verb(d)) else None),
    ("came true", lambda d: "supersedes" if plan_came_true(d) else None),
    ("denied", _denied_verdict),
    ("another number", lambda d: ("supersedes" if can_stand_in(d) else "new") if values_differ(d) else None),
    ("fewer details", lambda d: "new" if says_less(d) else None),
    ("more details", lambda d: "supersedes" if says_more(d) else None),
    ("another of its kind", lambda d: "supersedes" if _swaps_one_kind(d) else None),
    ("another value", _other_value_verdict),
)
"""The first that holds decides; otherwise the statement is new."""


MIN_PROBABILITY: Final = {"supersedes": 0.76, "contradicts": 0.5, "new": 0.0}
"""Minimum probability of a verdict that the rules do not propose."""


def decide_verdict(pair: ComparedPair, probabilities: Mapping[str, float]) -> str:
    """Return the likeliest of the verdicts that are certain enough."""
    d = pair.difference
    paraphrase = pair.rule in ("came true", "another value") and not (d.dropped and d.added)
    proposed = "new" if paraphrase else pair.verdict
    allowed = {name for name, p in probabilities.items() if name == proposed or p >= MIN_PROBABILITY[name]}
    if proposed != "supersedes" and _is_of_another_thing(d):
        allowed.discard("supersedes")
    return max(allowed, key=lambda name: (probabilities[name], name))


def _is_of_another_thing(d: ClaimDifference) -> bool:
    """Return whether a value belongs to another thing: the read timeout, the connect timeout."""
    if values_differ(d) and d.old.settings.keys() ^ d.new.settings.keys() and "changed" not in d.new.signals:
        return True
    early = [[word for word in words if word.early] for words in (d.dropped, d.added)]
    return bool(early[0] and early[1]) and values_differ(d) and "changed" not in d.new.signals


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict of ``VERDICTS``, and the rule that decided, or "weighed" where the features overruled the rules."""

    verdict: str
    rule: str


def classify_change(old: str, new: str) -> Verdict:
    """Return how a later statement relates to a similar earlier one.

    >>> classify_change("The timeout is 30 seconds.", "The timeout is 90 seconds.")
    Verdict(verdict='supersedes', rule='another number')
    >>> classify_change("The production database is full.", "The staging database is full.").verdict
    'new'
    """
    if old.split() == new.split():
        return Verdict("new", "the same text")
    pair = compare_texts(old, new)
    found = decide_verdict(pair, verdict_probabilities(pair_features(pair)))
    return Verdict(found, pair.rule if found == pair.verdict else "weighed")


def compare_texts(old: str, new: str) -> ComparedPair:
    language = shared_language(old, new)
    difference = compare_claims(parse_claim(old, language), parse_claim(new, language))
    reason = equality_objection(old, new, language) or ("number" if adds_value(difference) else "")
    old_tokens, new_tokens = _words(old, language), _words(new, language)
    verdict, rule = _rule_verdict(difference, reason)
    return ComparedPair(difference, old_tokens, new_tokens, language, reason, verdict, rule)


def _rule_verdict(difference: ClaimDifference, reason: str) -> tuple[str, str]:
    for name, rule in RULES:
        verdict = rule(difference)
        if name == "fewer details" and verdict and reason:
            denied = reason == "denied" and are_related(difference)
            return "contradicts" if denied else "new", f"{name}, but {reason}"
        if verdict == "contradicts" and not are_related(difference):
            continue
        if verdict == "supersedes" and not may_supersede(difference, name):
            return "new", f"{name}, of another thing"
        if verdict:
            return verdict, name
    return "new", "nothing in common"
