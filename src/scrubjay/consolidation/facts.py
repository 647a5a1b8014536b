"""Corroborated facts and facets: what several sources state about one thing.

Only gists are compared, not texts: pairs of rare words, 24 bytes each, with their sources. Records that share a pair
with another source are read. Two sentences are one fact only if they have the same words in the same order, and only
if no later sentence may have changed it (`facts.conflicts`); in doubt it counts as changed and is not promoted.

A facet is an attribute in one plain clause: "my X is Y", "our X's Y is Z", where people live or are from. Clauses that
are negated, hypothetical, past or momentary give none. The newest of several values counts. Facets of two projects are
kept apart unless speakers talk about themselves; memories that several people share give no facet of "I".
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from scrubjay.consolidation.candidates import (
    ATTRIBUTES,
    KIN,
    NOBODY,
    RANKS,
    Gist,
    PromotedMemory,
    fact_sentences,
    is_usable,
    lookup_numbers,
    plain_words,
    project_of,
    promoted_memory,
    sentence_gist,
    source_confidence,
    source_key,
    stable_number,
    topic_stems,
)
from scrubjay.consolidation.context import chronological_key
from scrubjay.consolidation.summary import verbatim_sentences
from scrubjay.facts.conflicts import classify_change
from scrubjay.models.records import Record
from scrubjay.text.normalize import normalize_typography
from scrubjay.text.word_frequency import word_rank

MAX_PAIR_USES: Final = 200
"""Times that two rare words may stand together: what is said more often is a form that is filled in, and no fact."""


@dataclass(frozen=True, slots=True)
class SharedNumbers:
    """What is worth reading again.

    Attributes:
        pairs: Numbers that several sources share.
        records: Ids of the records that hold one of them.
    """

    pairs: frozenset[int]
    records: frozenset[str]


class NumberCollector:
    """Collects numbers with the record and the source that each was found in."""

    def __init__(self) -> None:
        """Begin with none."""
        self._marks, self._sources, self._records = array("Q"), array("Q"), array("Q")
        self._ids: list[str] = []

    def note(self, record: Record, marks: Iterable[int]) -> None:
        """Remember what a record holds."""
        of, place = stable_number(source_key(record)), len(self._ids)
        self._ids.append(record.id)
        for mark in marks:
            self._marks.append(mark)
            self._sources.append(of)
            self._records.append(place)

    def wanted(self) -> SharedNumbers:
        """Return what at least two sources hold, at most ``MAX_PAIR_USES`` times in all."""
        import numpy as np

        if not self._marks:
            return SharedNumbers(frozenset(), frozenset())
        marks, of, whose = (
            np.frombuffer(one, np.uint64) for one in (self._marks, self._sources, self._records)
        )
        order = np.argsort(marks, kind="stable")
        marks, of, whose = marks[order], of[order], whose[order]
        starts = np.flatnonzero(np.concatenate(([True], marks[1:] != marks[:-1])))
        sizes = np.diff(np.append(starts, len(marks)))
        differ = np.maximum.reduceat(of, starts) != np.minimum.reduceat(of, starts)
        chosen = differ & (sizes <= MAX_PAIR_USES)
        held = np.repeat(chosen, sizes)
        records = frozenset(self._ids[place] for place in set(whose[held].tolist()))
        return SharedNumbers(frozenset(marks[starts[chosen]].tolist()), records)


LIKE: Final = 0.6
"""Share of their words that two sentences have in common before they are compared."""
MOST_COMPARED: Final = 50_000
"""Pairs that are compared, the likest first: 10 s of processor time at most."""

Place = tuple[str, str, str]
"""Visibility key, project (of what is not said of oneself) and words of a sentence."""


@dataclass(slots=True)
class SentenceForm:
    """One sentence, by its words, and everything that says it.

    Attributes:
        text: Its best wording.
        said: Observations that say it.
        known: Memories that are it.
    """

    text: str
    said: list[Record]
    known: list[Record]

    @property
    def last(self) -> tuple[int, int, int, str]:
        """When it was said last."""
        return max(chronological_key(record) for record in (*self.said, *self.known))


def wording_order(text: str) -> tuple[bool, bool, float, str]:
    """Return what sorts sentences by their wording: whole ones first, then those that tell most a word."""
    told = [word_rank(word) for word in plain_words(text).split()]
    return (not text[:1].isupper(), text[-1:] not in ".!", -sum(told) / max(1, len(told)), text)


def overtaken_sentences(forms: Mapping[Place, SentenceForm], blocks: Mapping[int, set[Place]]) -> set[Place]:
    """Return the sentences that one said later changes or contradicts, as far as can be told."""
    told = {place: topic_stems(form.text) for place, form in forms.items()}
    likest: dict[tuple[Place, Place], float] = {}
    for block in blocks.values():
        members = sorted(block)
        for n, one in enumerate(members):
            for other in members[n + 1 :]:
                both = len(told[one] & told[other]) / max(1, len(told[one] | told[other]))
                if both >= LIKE:
                    likest[one, other] = both
    found: set[Place] = set()
    for pair in sorted(likest, key=lambda pair: (-likest[pair], pair))[:MOST_COMPARED]:
        old, new = sorted(pair, key=lambda place: forms[place].last)
        if classify_change(forms[old].text, forms[new].text).verdict in ("supersedes", "contradicts"):
            found.add(old)
    return found


Told = Iterable[tuple[Record, Gist]]
"""Records, each with its gist."""
Get = Callable[[Collection[str]], Iterable[Record]]
"""Gives the records of some ids, whole."""


@dataclass(frozen=True, slots=True)
class FactSupport:
    """What bears out a fact that is known already.

    Attributes:
        memory: Id of the known memory.
        confidence: How sure it is by all that says it; never less than it was.
        before: How sure it was.
        evidence: Ids of what says it and is not yet among its evidence, sorted, each with its share.
    """

    memory: str
    confidence: float
    evidence: tuple[tuple[str, float], ...]
    before: float


@dataclass(frozen=True, slots=True)
class CorroboratedFacts:
    """What is borne out.

    Attributes:
        facts: New facts, sorted by key, project and text.
        supports: What is known and borne out by more than it knew of, sorted by id.
    """

    facts: tuple[PromotedMemory, ...]
    supports: tuple[FactSupport, ...]


def corroborate_facts(
    told: Told, get: Get, known: Iterable[Record], evidence: Mapping[str, Collection[str]]
) -> CorroboratedFacts:
    """Return the facts that observations bear out.

    Args:
        told: All records in any order; observations are looked at, archived ones too.
        get: Where the texts are.
        known: Memories of tiers semantic and lesson, of every status: what was superseded or archived is not
            drawn again.
        evidence: Ids that each known memory already rests on.
    """
    shared = NumberCollector()
    for record, gist in told:
        if gist.said and is_usable(record):
            shared.note(record, (place for said in gist.said for place in lookup_numbers(record, said)))
    wanted = shared.wanted()
    forms: dict[Place, SentenceForm] = {}
    blocks: defaultdict[int, set[Place]] = defaultdict(set)
    for record in get(wanted.records) if wanted.records else ():
        for text in fact_sentences(record):
            _put(record, text, wanted.pairs, forms, blocks)
    for record in known:
        if record.origin != "untrusted":
            _put(record, " ".join(record.content.split()), wanted.pairs, forms, blocks)
    changed = overtaken_sentences(forms, blocks)
    found: list[PromotedMemory] = []
    supports: list[FactSupport] = []
    for place in sorted(forms.keys() - changed):
        _settle(forms[place], evidence, (found, supports))
    found.sort(key=lambda one: (one.key, one.project or "", one.text))
    return CorroboratedFacts(tuple(found), tuple(sorted(supports, key=lambda one: one.memory)))


def _put(
    record: Record,
    text: str,
    pairs: Collection[int],
    forms: dict[Place, SentenceForm],
    blocks: Mapping[int, set[Place]],
) -> None:
    said = sentence_gist(text)
    held = [mark for mark in lookup_numbers(record, said) if mark in pairs]
    if not held:
        return
    place = (record.key, project_of(record, said), plain_words(text))
    form = forms.setdefault(place, SentenceForm(text, [], []))
    form.text = min(form.text, text, key=wording_order)
    (form.said if record.tier == "observation" else form.known).append(record)
    for mark in held:
        blocks[mark].add(place)


def _settle(
    form: SentenceForm,
    evidence: Mapping[str, Collection[str]],
    out: tuple[list[PromotedMemory], list[FactSupport]],
) -> None:
    said = sorted({record.id: record for record in form.said}.values(), key=chronological_key)
    known = form.known
    count = len({source_key(record) for record in said})
    if count < 2:
        return
    if not known:
        out[0].append(promoted_memory("semantic", form.text, "", said, said[0].event))
        return
    active = [record for record in known if record.status == "active"]
    if not active:
        return
    one = min(active, key=lambda record: (record.recorded_at, record.id))
    missing = sorted({record.id for record in said} - set(evidence.get(one.id, ())))
    sure = max(one.confidence, source_confidence(count))
    if missing or sure > one.confidence:
        shares = tuple((memory, 1 / len(said)) for memory in missing)
        out[1].append(FactSupport(one.id, sure, shares, one.confidence))


LEAD: Final = re.compile(
    r"(?:(?:and|but|so|also|btw|by the way|fyi|note that|remember that|remember|please note that|just so you know|"
    r"for context|for reference|well|ok|okay|actually|correction)[,:]? )+",
    re.IGNORECASE,
)
CLAUSE: Final = re.compile(
    r"; |, (?=(?:and|but|so) (?:I|we|my|our|the|[A-Z]))| (?:and|but) (?=(?:my|our|the) )"
)
DOUBT: Final = re.compile(
    r"\?|\b(?:if|unless|suppose|imagine|maybe|perhaps|probably|might|may be|would|could|should|will|won't|wont|"
    r"used to|no longer|not|never|cannot|\w+n't|think|guess|hope|wish|want|wants|going to|gonna|said|says|was|were|"
    r"had|been|today|tonight|yesterday|tomorrow|right now|at the moment|temporarily|for now|once|whether|either|"
    r"this (?:week|month|morning|afternoon|evening))\b",
    re.IGNORECASE,
)
"""What makes a clause say what is denied, supposed, told by others, over, or so for a day."""
END: Final = re.compile(
    r"[,;]? (?:because|but|so|since|which|who|when|while|as|until|although|though|where|after|before|instead|rather|"
    r"now|currently|too|as well|by the way|btw|"
    r"and (?:I|we|it|he|she|they|my|our|the|that|has|is|loves|likes|was|does))\b.*|"
    r",(?! [A-Z][a-z]+(?: [A-Z][a-z]+)?(?:\Z| for | with | and )) .*|[;:] .*| [-–—(].*"
)
"""Where a value ends; a comma does not end "Denver, Colorado"."""
ASIDE: Final = re.compile(
    r" (?:for (?:work|school|college|now|good|\d)|with|near|next to|together|alone|most|every now|and)\b.*"
)
EMPTY: Final = re.compile(
    r"(?:no|none|nothing|a lot|lots|the same|same|it|its|this|that|these|those|to|being|very|so|too|really|pretty|"
    r"quite|like|about|actually|how|what|why|who|where|when|one "
    r"of|some|more|most|less|here|there|such|just|all|also|always|"
    r"still|as|before|after|until|fine|good|great|bad|better|best|ok|okay|broken|down|up|slow|fast|ready|done|gone|"
    r"in|on|at|by|for|from|of|under|over|behind|due|back|off|out|available|important|different|similar|full|empty|"
    r"clear|sure|able|unable|my|your|his|her|their|[a-z]+ing|[a-z]+ed (?:with|by|to|for|in|on|at))\b",
    re.IGNORECASE,
)
"""What a value does not begin with: what points elsewhere, appraises, or is what somebody does."""
TELLING: Final = re.compile(r"[A-HJ-Z0-9`\"#@]|\w[/._:-]\w")
"""A name, a number or code stands in it."""
FAVOURITE: Final = re.compile(r"(?:favou?rite|preferred|default|go-to|native|maiden|middle) ", re.IGNORECASE)

_WORD: Final = r"[\w./-]{1,60}"
_WORDS: Final = rf"(?:{_WORD} ){{0,3}}?{_WORD}"
ORIGIN: Final = re.compile(
    r"(?P<who>[Ii]|[Ww]e|[Mm]y (?:[\w.'/-]{1,60} ){0,3}?[\w./-]{1,60}) ?(?:now |currently |always |still )*"
    r"(?:(?P<home>lives? in|(?:have |has )?moved to|(?:am|is|are|'m|'re) based "
    r"in)|(?P<origin>(?:am|is|are|'m|'re) from))"
    r" (?P<value>.+)"
)
"""Where the speaker, or somebody of theirs, lives or comes from."""
ATTRIBUTE: Final = re.compile(
    r"(?P<who>[Mm]y|[Oo]ur|(?:[Mm]y |[Oo]ur |[Tt]he )?(?:[\w.-]{1,60} ){0,2}?[\w.-]{1,60}'s|[Tt]he) "
    rf"(?P<attribute>{_WORDS})(?: (?:of|for) (?:the |our |my )?(?P<of>(?:{_WORD} ){{0,2}}?{_WORD}))? "
    r"(?:is|are)(?: now| currently| still| always)? (?P<value>.+)"
)
"""My X is Y, our X's Y is Z, the Y of X is Z."""


MAX_CLAUSE_WORDS: Final = 30
"""Words of a clause that says one thing of one thing."""
MAX_VALUE_WORDS: Final = 8
MAX_NAME_WORDS: Final = 4
PERSONAL: Final = frozenset(("i", "me", "my", "mine"))

_ARTICLE = re.compile(r"(?:the|our|this|all) (?=\w)", re.IGNORECASE)
_OF_NOW = re.compile(r"(?:current|new|actual|present) (?=\w)")
_AM_PATTERN = re.compile(r"(?:am|'m|'re) ")


@dataclass(frozen=True, slots=True)
class AttributeClaim:
    """An attribute of one thing.

    Attributes:
        entity: What it is said of, in the clause's words.
        attribute: What is said of it.
        value: What that is.
        slot: Names entity and attribute however they are worded; of two claims of one slot one is true at a time.
        personal: Whether it is said of the speaker or of somebody or something that is theirs.
    """

    entity: str
    attribute: str
    value: str
    slot: tuple[str, str]
    personal: bool


def attribute_claims(sentence: str) -> tuple[AttributeClaim, ...]:
    """Return the claims of one sentence, in order.

    >>> claims = attribute_claims("Our staging server's port is 8443.")
    >>> [(claim.entity, claim.attribute, claim.value) for claim in claims]
    [('staging server', 'port', '8443')]
    """
    plain = normalize_typography(" ".join(sentence.replace("**", "").split()))
    found = []
    for clause in CLAUSE.split(plain):
        lead = LEAD.match(clause)
        said = clause[lead.end() :] if lead else clause
        if said and len(said.split()) <= MAX_CLAUSE_WORDS and not DOUBT.search(said):
            claim = _read(said)
            found += [claim] if claim is not None else []
    return tuple(found)


def _read(said: str) -> AttributeClaim | None:
    origin, attribute = ORIGIN.match(said), ATTRIBUTE.match(said)
    return _origin_claim(origin) if origin else _attribute_claim(attribute) if attribute else None


def _origin_claim(match: re.Match[str]) -> AttributeClaim | None:
    value = ASIDE.sub("", _value(match["value"]))
    if not TELLING.search(value):
        return None
    attribute = _AM_PATTERN.sub("", match["home"] or match["origin"], count=1)
    return _claim(match["who"], attribute, value, "lives in" if match["home"] else "is from")


def _attribute_claim(match: re.Match[str]) -> AttributeClaim | None:
    who, attribute, value = match["who"], match["attribute"], _value(match["value"])
    if match["of"]:
        who = match["of"]
    elif who.lower() in ("the", "our"):  # "the grant deadline" is the deadline of the grant
        who, _, attribute = attribute.rpartition(" ")
        if not who:
            return None
    words = attribute.lower().split()
    if words[-1] not in ATTRIBUTES and not FAVOURITE.match(attribute) and not TELLING.search(value):
        return None
    if words[0] in RANKS or (words == ["budget"] and not match["of"]):
        return None
    if words[-1] in KIN and not value[:1].isupper():
        return None
    return _claim(who.removesuffix("'s"), attribute, value, attribute.lower())


def _value(text: str) -> str:
    return END.sub("", text.rstrip(" .!,;")).strip(" .!,;")


def _claim(who: str, attribute: str, value: str, slot: str) -> AttributeClaim | None:
    entity, value = _ARTICLE.sub("", who, count=1), _value(value)
    if entity[:2] == "My" and entity[2:3] in ("", " "):
        entity = f"my{entity[2:]}"
    named = f"{entity} {attribute}".lower().split()
    if not entity or not value or EMPTY.match(value) or not NOBODY.isdisjoint(named):
        return None
    if (
        len(entity.split()) > MAX_NAME_WORDS
        or len(attribute.split()) > MAX_NAME_WORDS
        or len(value.split()) > MAX_VALUE_WORDS
    ):
        return None
    if not {"is", "are"}.isdisjoint(named[:-2]):  # a clause within it: not read rightly
        return None
    return AttributeClaim(
        entity, attribute, value, (entity.lower(), _OF_NOW.sub("", slot)), named[0] in PERSONAL
    )


FACET_TIERS: Final = ("lesson", "semantic")
MAX_FACET_TEXT: Final = 2_000
"""Characters of a memory that are read: a fact or a lesson is a sentence or a few."""

_Slot = tuple[str, str, str, str]


def promote_facets(records: Iterable[Record]) -> tuple[PromotedMemory, ...]:
    """Return the attributes that active memories tell, sorted by key, project and title.

    Args:
        records: Memories of any tier in any order; those of ``FACET_TIERS`` are read.
    """
    told: defaultdict[_Slot, list[tuple[Record, AttributeClaim]]] = defaultdict(list)
    for record in records:
        if record.tier in FACET_TIERS and record.status == "active" and is_usable(record):
            for claim in _claims(record):
                project = "" if claim.personal else record.project or ""
                told[record.key, project, *claim.slot].append((record, claim))
    found = [_drawn(said) for said in told.values()]
    return tuple(sorted(found, key=lambda one: (one.key, one.project or "", one.title)))


def _claims(record: Record) -> list[AttributeClaim]:
    own = record.key.startswith("user:")
    seen = (
        claim
        for text in verbatim_sentences(record.content[:MAX_FACET_TEXT])
        for claim in attribute_claims(text)
    )
    by_slot = {claim.slot: claim for claim in seen if own or claim.entity.lower() not in ("i", "my", "we")}
    return list(by_slot.values())


def _drawn(said: list[tuple[Record, AttributeClaim]]) -> PromotedMemory:
    said = sorted(said, key=lambda one: chronological_key(one[0]))
    newest = _level(said[-1][1].value)
    same = [(record, claim) for record, claim in said if _level(claim.value) == newest]
    first, last = same[0][0], same[-1][1]  # the first, so that saying it again makes no other memory
    title = f"{last.entity} · {last.attribute}"
    one = promoted_memory(
        "facet", f"{title}: {last.value}", title, [record for record, _ in same], first.event
    )
    sure = max((record.confidence for record, _ in same if record.origin == "derived"), default=0.0)
    return replace(one, confidence=max(one.confidence, sure))  # as sure as the fact that it is taken from


def _level(value: str) -> str:
    return "".join(filter(str.isalnum, value.casefold().removeprefix("the ").removeprefix("a ")))
