"""Facet promotion: attributes that facts and lessons state, the newest value of each.

"Our staging server's port is 8443" becomes the facet "staging server · port: 8443". Two claims with the same entity and
attribute are two values of one facet.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from scrubjay.consolidation.context import chronological_key, occurred_at
from scrubjay.consolidation.digest import verbatim_sentences
from scrubjay.consolidation.facts import (
    PromotedMemory,
    is_expired,
    is_spoken,
    is_usable,
    plain_words,
    promoted_memory,
    title_key,
)
from scrubjay.facts.exclusive_values import PLACES, known_kind, may_change_home
from scrubjay.frozen import frozen
from scrubjay.models.records import Record
from scrubjay.text.dialogue import is_question, sentences
from scrubjay.text.normalize import normalize_typography, word_set

FACET_TIERS: Final = ("lesson", "semantic")
MAX_FACET_TEXT: Final = 2_000
MAX_CLAUSE_WORDS: Final = 30
MAX_VALUE_WORDS: Final = 8
MAX_NAME_WORDS: Final = 4

_ATTRIBUTES: Final = word_set(
    """name nickname surname username handle pronouns birthday anniversary address email phone timezone
    zone job title role employer diet hometown nationality major language hobby instrument colour color
    editor shell terminal keyboard theme font breed blood allergy port host url branch database framework
    region version licence license"""
)
_RANKINGS: Final = word_set("only best main first last next biggest problem issue question thing guess")
_PRONOUNS: Final = word_set(
    """it this that these those he she they you there here which who what everyone everybody someone
    somebody nobody people one all both each nothing something anything everything and but so also or if
    then because please let"""
)
_RELATIVES: Final = word_set(
    """mother father mom mum dad daughter son child children kid kids parent parents sister sisters
    brother brothers sibling siblings wife husband spouse partner fiance girlfriend boyfriend twin twins
    baby toddler grandmother grandfather grandma grandpa aunt uncle cousin cousins niece nephew family
    roommate flatmate neighbour neighbor friend friends boss manager colleague colleagues coworker dog
    dogs cat cats puppy kitten horse rabbit"""
)
"""People and animals: their attribute is a name."""
_SPEAKER: Final = frozenset(("i", "me", "my", "mine"))

_FIRST_PERSON: Final = _SPEAKER | word_set(
    "i'm i've we we're we've our us ich wir mein meine meiner meinem meinen unser unsere uns"
)
_SPEAKERS: Final = frozenset(("i", "we"))
_IGNORED_WORDS: Final = word_set("a an the of for in to is are")
_HOME: Final = word_set(
    """live lives lived living moved relocated based address wohne wohnt wohnen wohnte wohnten lebe lebt leben gezogen
    umgezogen adresse"""
)
"""Words of sentences that may say where somebody lives."""
_HOME_STATED = re.compile(
    r"\b(?:(?:I|[Ww]e)(?: now)? live(?: now)? (?:in|at)"
    r"|(?:[Mm]y|[Oo]ur|[Uu]ser's|[Mm]eine|[Uu]nsere)(?: new| home| neue){0,2} (?:address|Adresse)"
    r"(?: is| ist|:)(?: now| jetzt)?) (?=[A-ZÀ-Þ\d])(?P<place>[^;!?]+)"
)
_NO_LONGER = re.compile(
    r"\b(?:no longer|any ?more|formerly|used to|lived|changed|nicht mehr|früher|wohnten?|geändert)\b",
    re.IGNORECASE,
)
"""Says that something holds no longer."""

_LEAD = re.compile(
    r"(?:(?:and|but|so|also|btw|by the way|fyi|note that|remember that|remember|please note that|just so you know|"
    r"for context|for reference|well|ok|okay|actually|correction)[,:]? )+",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r"; |, (?=(?:and|but|so) (?:I|we|my|our|the|[A-Z]))| (?:and|but) (?=(?:my|our|the) )"
)
_DOUBT = re.compile(
    r"\?|\b(?:if|unless|suppose|imagine|maybe|perhaps|probably|might|may be|would|could|should|will|won't|wont|"
    r"used to|no longer|not|never|cannot|\w+n't|think|guess|hope|wish|want|wants|going to|gonna|said|says|was|were|"
    r"had|been|today|tonight|yesterday|tomorrow|right now|at the moment|temporarily|for now|once|whether|either|"
    r"this (?:week|month|morning|afternoon|evening))\b",
    re.IGNORECASE,
)
"""Marks a clause as denied, supposed, reported, past or temporary."""
_EXCEPTION = re.compile(r"\bbut (?!(?:I|we) )|\b(?:only|except|unless)\b", re.IGNORECASE)
"""Marks a sentence that limits its claims, which a facet would lose."""
_LISTS_VALUES = re.compile(r",[^,]{1,80},? (?:and|or|und|oder) ")
_JOINS_VALUES = re.compile(r", | (?:and|or|und|oder) (?!I\b)")
"""Signs that a statement names several values, of which one alone would be false."""
_JOINED_PLACES = re.compile(r"\A[^,.;]{1,60}? (?:and|or) (?!I\b)[A-Z]")
_RELATIVE_TIME = re.compile(
    r"\b(?:(?:last|next|this|past|coming) (?:night|week|weekend|month|year|spring|summer|autumn|fall|winter|\w+day)"
    r"|ago|recently|lately|just now|soon|yesterday|today|tonight|tomorrow"
    r"|on (?:mon|tues|wednes|thurs|fri|satur|sun)day|in (?:a|one|two|three|\d+) (?:days?|weeks?|months?|years?))\b",
    re.IGNORECASE,
)
"""A time that means another one later."""
_AT_TIMES = re.compile(r" (?:for \d|most|every now)\b")
_VALUE_END = re.compile(
    r"[,;]? (?:because|but|so|since|which|who|when|while|as|until|although|though|where|after|before|instead|rather|"
    r"now|currently|too|as well|by the way|btw|"
    r"and (?:I|we|it|he|she|they|my|our|the|that|has|is|loves|likes|was|does))\b.*|"
    r",(?! [A-Z][a-z]+(?: [A-Z][a-z]+)?(?:\Z| for | with | and )) .*|[;:] .*| [-–—(].*"
)
"""A comma does not end "Denver, Colorado"."""
_UNCONDITIONAL = re.compile(
    r"(?:,? (?:now|currently|too|as well|by the way|btw)\b)*"
    r"(?:(?:[,;]? (?:because|since|so|and|which|who)|,) "
    r"(?!.{0,200}\b(?:only|except|unless|until|if|when|while|for|but|from|before|after|during|at least)\b).*)?"
)
"""Ends of a value that do not limit it."""
_ASIDE = re.compile(
    r" (?:for (?:work|school|college|now|good|\d)|with|near|next to|together|alone|most|every now|and)\b.*"
)
_NO_VALUE = re.compile(
    r"(?:no|none|nothing|a lot|lots|the same|same|it|its|this|that|these|those|to|being|very|so|too|really|pretty|"
    r"quite|like|about|actually|how|what|why|who|where|when|one "
    r"of|some|more|most|less|here|there|such|just|all|also|always|"
    r"still|as|before|after|until|fine|good|great|bad|better|best|ok|okay|broken|down|up|slow|fast|ready|done|gone|"
    r"in|on|at|by|for|from|of|under|over|behind|due|back|off|out|available|important|different|similar|full|empty|"
    r"clear|sure|able|unable|my|your|his|her|their|[a-z]+ing|[a-z]{3,}ed|made|paid|built|sold|happy|late)\b",
    re.IGNORECASE,
)
"""Beginning of a value that refers elsewhere, judges, or is an action."""
_SPECIFIC = re.compile(r"[A-HJ-Z0-9`\"#@]|\w[/._:-]\w")
"""A name, a number or code."""
_FAVOURITE = re.compile(r"(?:favou?rite|preferred|default|go-to|native|maiden|middle) ", re.IGNORECASE)
_ARTICLE = re.compile(r"(?:the|our|this|all) (?=\w)", re.IGNORECASE)
_CURRENT_WORDS: Final = frozenset(("current", "new", "actual", "present"))
_CURRENT = re.compile(rf"(?:{'|'.join(sorted(_CURRENT_WORDS))}) (?=\w)")
_BE_FORM = re.compile(r"(?:am|'m|'re) ")
_WORD: Final = r"[\w./-]{1,60}"
_WORDS: Final = rf"(?:{_WORD} ){{0,3}}?{_WORD}"
_RESIDENCE = re.compile(
    r"(?P<entity>[Ii]|[Ww]e|[Mm]y (?:[\w.'/-]{1,60} ){0,3}?[\w./-]{1,60}) ?(?:now |currently |always |still )*"
    r"(?:(?P<home>lives? in|(?:have |has )?moved to|(?:am|is|are|'m|'re) based "
    r"in)|(?P<origin>(?:am|is|are|'m|'re) from))"
    r" (?P<value>.+)"
)
_ATTRIBUTE = re.compile(
    r"(?P<entity>[Mm]y|[Oo]ur|(?:[Mm]y |[Oo]ur |[Tt]he )?(?:[\w.-]{1,60} ){0,2}?[\w.-]{1,60}'s|[Tt]he) "
    rf"(?P<attribute>{_WORDS})(?: (?:of|for) (?:the |our |my )?(?P<of>(?:{_WORD} ){{0,2}}?{_WORD}))? "
    r"(?P<copula>is|are)(?: now| currently| still| always)? (?P<value>.+)"
)
""""My X is Y", "our X's Y is Z", "the Y of X is Z"."""


@frozen
class AttributeClaim:
    """An attribute of one thing.

    Attributes:
        entity: The thing, in the clause's words.
        slot: Entity and attribute in normal form; of two claims of one slot only one is true at a time.
        personal: Whether it is about the speaker or theirs.
    """

    entity: str
    attribute: str
    value: str
    slot: tuple[str, str]
    personal: bool


def promote_facets(
    facts: Iterable[Record], observations: Iterable[Record] = (), now: int = 0
) -> tuple[PromotedMemory, ...]:
    """Return the attributes that active facts and lessons state, sorted by key, project and title.

    Left out are those of which a later fact, lesson or observation of the person names another value, and those whose
    newest statement has expired.

    Args:
        facts: Facts and lessons.
        observations: Read only where those state attributes.
        now: UTC microseconds; what ended until then has expired.
    """
    records = list(facts)
    claims: defaultdict[tuple[str, ...], list[tuple[Record, AttributeClaim]]] = defaultdict(list)
    for record in records:
        if record.tier in FACET_TIERS and record.status == "active" and is_usable(record):
            for claim in _record_claims(record):
                project = "" if claim.personal else record.project or ""
                claims[record.key, project, *claim.slot].append((record, claim))
    groups = [
        sorted(own, key=lambda pair: (pair[0].is_dated, chronological_key(pair[0])))
        for own in claims.values()
    ]
    if groups:
        outdated = _outdated([own[-1] for own in groups], chain(records, observations))
        groups = [own for own in groups if id(own[-1][1]) not in outdated]
    current = (own for own in groups if not is_expired(own[-1][0], now))
    found = (_facet_memory([pair for pair in own if not is_expired(pair[0], now)]) for own in current)
    return tuple(sorted(found, key=title_key))


def _outdated(newest: Sequence[tuple[Record, AttributeClaim]], records: Iterable[Record]) -> set[int]:
    """Return the ids of the claim objects that a later statement changes or ends."""
    found: set[int] = set()
    by_word: defaultdict[str, list[tuple[Record, AttributeClaim]]] = defaultdict(list)
    for record, claim in newest:
        at_home = claim.slot[1] == "lives in"
        for word in _HOME if at_home else {max(_terms(claim.slot[1]), key=len, default="")}:
            by_word[word].append((record, claim))
    for record in records:
        if not _is_own_statement(record):
            continue
        for text in sentences(record.content[:MAX_FACET_TEXT]):
            words = _terms(text)
            if words.isdisjoint(by_word) or is_question(text):
                continue
            sentence = normalize_typography(" ".join(text.split())).lstrip("-*•#> ")
            for source, claim in chain.from_iterable(by_word[word] for word in words & by_word.keys()):
                alike = source.key == record.key and (claim.personal or source.project == record.project)
                later = not record.is_undated_import and occurred_at(record) > occurred_at(source)
                if alike and later and _may_change(claim, sentence):
                    found.add(id(claim))
    return found


def _is_own_statement(record: Record) -> bool:
    """Return whether a memory is an active statement of a person, or a turn, archived or not."""
    if not is_usable(record):
        return False
    if record.tier in FACET_TIERS:
        return record.status == "active"
    return is_spoken(record) or (record.session is None and record.place is None)


def _may_change(claim: AttributeClaim, sentence: str) -> bool:
    """Return whether a sentence gives another value, or says that the value holds no longer; a mention does not."""
    if _NO_LONGER.search(sentence) and _may_end(claim, _terms(sentence)):
        return True
    if claim.slot[1] == "lives in" and claim.slot[0] in _SPEAKERS:
        home = _HOME_STATED.search(sentence)
        if home is not None and _values_differ(claim.value, home["place"]):
            return True
        if may_change_home(f"I live in {claim.value}.", sentence):
            return True
    return any(
        _same_slot(claim.slot, other.slot) and _values_differ(claim.value, other.value)
        for other in attribute_claims(sentence)
    )


def _may_end(claim: AttributeClaim, words: frozenset[str]) -> bool:
    entity = _terms(claim.entity) - _FIRST_PERSON
    if claim.personal and words.isdisjoint(_FIRST_PERSON):
        return False
    if claim.slot[1] != "lives in":
        return entity | _terms(claim.slot[1]) <= words
    return not words.isdisjoint(_HOME) and entity | _terms(claim.value) <= words


def _same_slot(slot: tuple[str, str], other_slot: tuple[str, str]) -> bool:
    (entity, attribute), (other_entity, other_attribute) = slot, other_slot
    both_speak = entity in _SPEAKERS and other_entity in _SPEAKERS
    return attribute == other_attribute and (entity == other_entity or both_speak)


def _values_differ(value: str, other: str) -> bool:
    terms, other_terms = _terms(value), _terms(other)
    return not (terms <= other_terms or other_terms <= terms)


def _terms(text: str) -> frozenset[str]:
    words = (word.removesuffix("'s") for word in plain_words(text).split())
    return frozenset(word for word in words if word not in _IGNORED_WORDS)


def _record_claims(record: Record) -> Iterable[AttributeClaim]:
    """Return a record's last claim of each slot; a memory that several people share says nothing of "I"."""
    private = record.key.startswith("user:")
    claims: dict[tuple[str, str], AttributeClaim] = {}
    for text in verbatim_sentences(record.content[:MAX_FACET_TEXT]):
        for claim in attribute_claims(text):
            if private or claim.entity.lower() not in ("i", "my", "we"):
                claims[claim.slot] = claim
    return claims.values()


def _facet_memory(claims: list[tuple[Record, AttributeClaim]]) -> PromotedMemory:
    newest = _normal_value(claims[-1][1].value)
    same = [(record, claim) for record, claim in claims if _normal_value(claim.value) == newest]
    claim = same[-1][1]
    title = f"{claim.entity} · {claim.attribute}"
    records = [record for record, _ in same]
    # The first event, so that a repetition does not change the memory.
    first = next((record for record in records if record.is_dated), records[0])
    facet = promoted_memory("facet", f"{title}: {claim.value}", title, records, first.event)
    derived = max((record.confidence for record in records if record.origin == "derived"), default=0.0)
    return replace(facet, confidence=max(facet.confidence, derived))


def _normal_value(value: str) -> str:
    return "".join(filter(str.isalnum, value.casefold().removeprefix("the ").removeprefix("a ")))


def attribute_claims(sentence: str) -> tuple[AttributeClaim, ...]:
    """Return the claims of one sentence, in order.

    >>> claims = attribute_claims("Our staging server's port is 8443.")
    >>> [(claim.entity, claim.attribute, claim.value) for claim in claims]
    [('staging server', 'port', '8443')]
    """
    plain = normalize_typography(" ".join(sentence.replace("**", "").split()))
    if _EXCEPTION.search(plain):
        return ()
    found = []
    clauses = _CLAUSE_END.split(plain)
    for number, clause in enumerate(clauses):
        if number + 1 < len(clauses) and " are " in clause:  # "my clients are Brandt and the clinic"
            continue
        lead = _LEAD.match(clause)
        text = clause[lead.end() :] if lead else clause
        if text and len(text.split()) <= MAX_CLAUSE_WORDS and not _DOUBT.search(text):
            residence, attribute = _RESIDENCE.match(text), _ATTRIBUTE.match(text)
            if residence:
                claim = _residence_claim(residence)
            else:
                claim = _attribute_claim(attribute) if attribute else None
            if claim is not None:
                found.append(claim)
    return tuple(found)


def _residence_claim(match: re.Match[str]) -> AttributeClaim | None:
    if _loses_condition(match["value"]) or _AT_TIMES.search(match["value"]):
        return None
    if _JOINED_PLACES.search(match["value"]):
        return None
    value = _ASIDE.sub("", _trim_value(match["value"]))
    if not _SPECIFIC.search(value) or known_kind(value.lower().split()) not in (None, *PLACES):
        return None
    attribute = _BE_FORM.sub("", match["home"] or match["origin"], count=1)
    return _claim(match["entity"], attribute, value, "lives in" if match["home"] else "is from")


def _attribute_claim(match: re.Match[str]) -> AttributeClaim | None:
    if _loses_condition(match["value"]) or _names_several(match["copula"], match["value"]):
        return None
    entity, attribute, value = match["entity"], match["attribute"], _trim_value(match["value"])
    if match["of"]:
        entity = match["of"]
    elif entity.lower() in ("the", "our"):  # "the grant deadline" is the deadline of the grant
        entity, _, attribute = attribute.rpartition(" ")
        if not entity or entity in _CURRENT_WORDS:
            return None
    if _CURRENT.match(attribute):
        attribute = attribute.partition(" ")[2]
    words = attribute.lower().split()
    if words[-1] not in _ATTRIBUTES and not _FAVOURITE.match(attribute) and not _SPECIFIC.search(value):
        return None
    if words[0] in _RANKINGS or (words == ["budget"] and not match["of"]):
        return None
    if words[-1] in _RELATIVES and not value[:1].isupper():
        return None
    return _claim(entity.removesuffix("'s"), attribute, value, attribute.lower())


def _names_several(copula: str, value: str) -> bool:
    return bool(_LISTS_VALUES.search(value) or (copula == "are" and _JOINS_VALUES.search(value)))


def _loses_condition(value: str) -> bool:
    """Return whether the end of a value that a facet leaves out limits it: "480 now, but only for the pavilion"."""
    cut = _VALUE_END.search(value.rstrip(" .!,;"))
    return cut is not None and _UNCONDITIONAL.fullmatch(cut[0]) is None


def _trim_value(value: str) -> str:
    return _VALUE_END.sub("", value.rstrip(" .!,;")).strip(" .!,;")


def _claim(entity: str, attribute: str, value: str, slot: str) -> AttributeClaim | None:
    entity, value = _ARTICLE.sub("", entity, count=1), _trim_value(value)
    if entity[:2] == "My" and entity[2:3] in ("", " "):
        entity = f"my{entity[2:]}"
    words = f"{entity} {attribute}".lower().split()
    if not entity or not value or _NO_VALUE.match(value) or not _PRONOUNS.isdisjoint(words):
        return None
    if _RELATIVE_TIME.search(value):
        return None
    if max(len(entity.split()), len(attribute.split())) > MAX_NAME_WORDS:
        return None
    if len(value.split()) > MAX_VALUE_WORDS or not {"is", "are"}.isdisjoint(words[:-2]):  # an inner clause
        return None
    return AttributeClaim(
        entity, attribute, value, (entity.lower(), _CURRENT.sub("", slot)), words[0] in _SPEAKER
    )
