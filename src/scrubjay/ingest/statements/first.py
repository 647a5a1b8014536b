"""First: words of a clause whose subject is I or we -> the rule that finds a lasting statement in it, or None.

A clause is read as subject, auxiliaries, adverbs, verb, rest. What the verb is decides which rule is asked; a
rule looks at the rest: "I like tea" is a preference, "I like the second one" is not.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from scrubjay.ingest.statements.words import (
    ABSTAIN,
    ADVERBS,
    AT_HAND,
    AUXILIARY,
    BE,
    CHOOSING,
    CHOSE,
    DATED,
    DRAFTS,
    FLEETING,
    HABIT,
    HABITUAL,
    LASTING_HAD,
    LIFE,
    LIKE,
    LIVE,
    MOMENT,
    NEGATIVE,
    NUMBERS,
    ONGOING,
    PASSING,
    POINTERS,
    SOON,
    TALKED,
    TEAMWORK,
    TRAITS,
)

_CONTRACTED: Final = {"m": "am", "re": "are", "ve": "have", "d": "would", "ll": "will"}
_BARE: Final = {"im": ("i", "am"), "ive": ("i", "have")}
_PREPOSITIONS: Final = frozenset("in at on with for of from who that which and or to by but since because so about where as into".split())
_ARTICLES: Final = frozenset("a an the".split())
_COUNTS: Final = frozenset("a an no some several many only both type another severe mild chronic over around almost".split()) | NUMBERS
_LITTLE: Final = frozenset("bit little lot few bunch couple mess wreck idiot moron fool dummy same first second last next best worst one big huge total complete".split())
_UNSPOKEN: Final = frozenset("thought knew said heard wondered asked told wanted had got saw was seem seems forget get want need meant mean feel love".split())
_ENDING: Final = frozenset("calling naming quitting killing sunsetting deprecating retiring dropping adopting keeping discontinuing rewriting replacing".split())
_NOT_DOING: Final = frozenset("doing renewing buying selling supporting hiring keeping taking inviting travelling traveling accepting extending migrating".split())
_BEGIN: Final = frozenset("start begin move leave fly finish graduate retire marry turn join return depart sail".split())
_PASSIVE: Final = frozenset("born raised diagnosed promoted hired accepted elected adopted laid married founded acquired transferred awarded admitted".split())
_GOT: Final = frozenset("married engaged divorced promoted laid fired hired accepted diagnosed certified tenure pregnant into".split())
_LASTING_GOOD: Final = frozenset(
    """new second used old job puppy kitten dog cat car bike house flat apartment raise degree promotion tattoo phone laptop camera guitar piano
    scholarship offer baby""".split()
)
_TREATED: Final = frozenset("surgery baby twins operation stroke transplant miscarriage c-section removed replaced".split())
_EVERY = re.compile(
    r"\b(?:every|each|daily|weekly|monthly|yearly|annually|mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|weekends|weekdays"
    r"|(?:once|twice|times|hours|days|nights|km|miles) (?:a|per|each) (?:day|week|month|year)|in the mornings?|at night|most (?:days|mornings|weekends|evenings))\b"
)
_SPAN = re.compile(r"\b(?:for|since|lately|recently|these days|all my life)\b(?!.*\b(?:hours?|minutes?|all day|all morning|forever|ages|while now)\b)")
_STYLED = re.compile(
    r"\b(?:rather than|instead of|not \w+$|in (?:all |my |our |every )?(?:tests?|commits?|code|docs|e?mails|answers|replies|reviews|messages|prs|comments|reports|notes|plots|tables|figures)\b|in (?:english|german|french|spanish|lower ?case|markdown|plain \w+|iso|metric|celsius|british|american|utc|24))"
)
_STRONG: Final = frozenset(
    """was were had did went came took gave made got saw ran wrote read said told thought knew found felt left lost kept held met paid sent spent
    put cut let set began broke chose drove ate drank flew forgot grew heard hid hit hurt led lent lay rode rang rose sold sang sat slept spoke
    stood stole swam taught tore threw understood woke wore won bought brought built caught dealt dug fed fought hung laid lit meant quit shot
    shut slid stuck swept tore""".split()
)
"""Verbs whose past has no -ed."""
_NO_PAST: Final = frozenset("need feed speed breed bleed exceed proceed succeed seed embed shed wed bed red heed weed".split())
_FEELS = re.compile(r"\b(?:annoying|confusing|ugly|tedious|distracting|relaxing|easier|boring|unreadable|hard to|harder|irritating|exhausting|calming|soothing|disgusting|creepy|off-putting)\b")
_ASKED: Final = frozenset("ask try check post write share look read search see give test come".split())
_SETTLED: Final = frozenset("to on that against not for at we i last in".split())
_DAY = re.compile(
    r"\b(?:(?:in|on|this|next|from|by|until|of) (?:the )?(?:\d{1,2}(?:st|nd|rd|th)? )?(?:of )?(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|spring|summer|autumn|fall|winter|(?:19|20)\d\d)|\d{1,2}(?:st|nd|rd|th)?\b(?: of)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|on the \d|next (?:month|year)|as an? )"
)
_WHEN = re.compile(
    r"\b(?:in (?:19|20)\d\d|(?:in|on|since|last) (?:january|february|march|april|may|june|july|august|september|october|november|december)"
    r"|(?:last|this past|past) (?:year|month|week|weekend|summer|winter|spring|autumn|fall|monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
    r"|(?:years?|months?|weeks?|days) (?:ago|back)|on (?:the \d|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|(?:19|20)\d\d|recently|lately|the other day"
    r"|\d+(?:st|nd|rd|th)|for my (?:birthday|anniversary)|[$€£]\d)(?![\w-])"
)
_ON: Final = re.compile(
    r"(?:in (?:my|our) (?:\w+ )?(?:teens|twenties|thirties|forties|fifties|sixties|seventies|eighties|\d0s|first|second|third|fourth|fifth|final|last|junior|senior|freshman)"
    r"|in (?:year|grade|therapy|college|uni|university|recovery|charge)\b|in (?:the )?\w+ (?:grade|year|semester)\b|in (?:high|med|medical|law|grad|nursing) school"
    r"|on (?:an? |the )?[\w -]{2,30}(?:diet|plan|medication|team|committee|board|tier)\b"
    r"|on (?:warfarin|insulin|metformin|statins|antidepressants|ssris?|blood thinners|lithium|hrt|beta blockers|python|node|postgres|java|ubuntu|debian|windows|macos|linux|rails|django)"
    r"|(?:into|fond of|keen on|sensitive to|more of an?) \w)"
)
_FROM_NOW: Final = re.compile(r"\b(?:from now on|going forward|from here on)\b")
_ILLNESS: Final = re.compile(r"\w{3}(?:itis|itus|osis|emia|aemia|phobia|plegia|algia|pathy|lepsy|eczema)$")
_TODAY: Final = re.compile(r"\b(?:today|yesterday|this (?:month|week|year|morning|weekend|summer))\b")
_TRIP: Final = re.compile(r"\b(?:trip|wedding|move|holiday|vacation|honeymoon|retirement|conference|retreat)\b")


LEAST_AGREED: Final = 3
"""Words that "we agreed that" is followed by when it says what."""


class Said(NamedTuple):
    """What a clause says of its subject."""

    aux: str
    manner: frozenset[str]
    verb: str
    rest: list[str]
    text: str
    whole: str
    team: bool
    named: bool

    @property
    def pointed(self) -> bool:
        """Whether what it speaks of stands in the talk, or nothing follows."""
        return points(self.rest)


def points(rest: list[str]) -> bool:
    """Tell whether an object is missing or stands in the talk ("it", "the second one")."""
    if rest and rest[0] in ("everything", "anything", "nothing") and len(rest) > LEAST_AGREED:
        return False
    if not rest or rest[0] in POINTERS or (len(rest[0]) == 1 and rest[0] not in "ai123456789"):
        return True
    return rest[0] in ("the", "option", "version", "draft") and len(rest) > 1 and (rest[1] in DRAFTS or rest[1].isdigit())


def first(words: list[str], at: int, last: int, start: int, named: bool) -> str | None:
    """Return the rule that a clause about me or us falls under.

    Args:
        words: All words.
        at: The subject.
        last: The word after the clause's last.
        start: The clause's first word: "last May" may stand before the subject.
        named: Whether a name, known by its capital, stands after the first word.
    """
    said = _read(words, at, last, " ".join(words[start:last]), named)
    if said is None:
        return None
    if _FROM_NOW.search(said.whole):
        return "from now"
    if said.aux in BE:
        return _is(said)
    if said.aux in ("have", "has", "had"):
        return _has_done(said)
    if said.aux in ("will", "would", "won't"):
        return _will(said)
    if said.aux in ("can", "can't", "cannot") and (said.verb not in ABSTAIN | LIKE or said.aux == "can"):
        return None
    return _does(said)


def _read(words: list[str], at: int, last: int, whole: str, named: bool) -> Said | None:
    subject, _, short = words[at].partition("'")
    subject, aux = _BARE.get(words[at], (subject, _CONTRACTED.get(short, "")))
    manner, at = set(), at + 1
    while at < last:
        word = words[at]
        if word in ADVERBS or word in NEGATIVE and word not in AUXILIARY:
            manner.add(word)
        elif word in AUXILIARY and not (aux and aux not in BE and word not in BE and word != "have"):
            if word in ("have", "has", "had", "do") and not _participle(words, at + 1, last) and word != "do":
                break
            if word == "do" and not (at + 1 < last and (words[at + 1] in ADVERBS or words[at + 1] in LIKE | HABIT | {"not", "have"})):
                break
            if word in NEGATIVE:
                manner.add("not")
            if word in ("have", "has") and at + 1 < last and words[at + 1] == "got":
                aux, at = "", at + 1
                break
            aux = word if word != "do" else aux
        else:
            break
        at += 1
    if at >= last:
        return None
    if aux == "have" and (words[at] in _COUNTS or words[at].isdigit()):
        return Said("", frozenset(manner), "have", words[at:last], "have " + " ".join(words[at:last]), whole, subject == "we", named)
    if words[at] == "got" and (words[at - 1] == "have" or words[at - 1][-3:] == "'ve"):
        return Said("", frozenset(manner), "have", words[at + 1 : last], " ".join(words[at:last]), whole, subject == "we", named)
    return Said(aux, frozenset(manner), words[at], words[at + 1 : last], " ".join(words[at:last]), whole, subject == "we", named)


def _participle(words: list[str], at: int, last: int) -> bool:
    while at < last and words[at] in ADVERBS:
        at += 1
    return at < last and (words[at] in DATED | CHOSE | {"been", "known", "gone", "taken", "become", "run", "taught", "kept", "done"} or words[at][-2:] == "ed")


def _is(said: Said) -> str | None:
    verb, rest = said.verb, said.rest
    if said.aux in ("was", "were"):
        return "became" if verb in _PASSIVE else None
    if said.aux == "been":
        if verb in _PASSIVE:
            return "became"
        lasts = verb not in PASSING and verb not in ("trying", "looking", "thinking", "wondering", "waiting", "struggling", "getting", "stuck")
        return "for years" if lasts and (_SPAN.search(said.whole) or _EVERY.search(said.whole)) and not said.pointed else None
    if verb in _ARTICLES:
        return _is_a(rest)
    if verb in TRAITS and verb + " " + "".join(rest[:1]) not in ("based on", "single handedly"):
        return "is"
    if ("after all" in said.text or "in the end" in said.text) and verb[-3:] == "ing" and verb not in PASSING:
        return "decided"
    if verb == "giving" and rest[:1] == ["up"] and not points(rest[1:]):
        return "decided"
    if not rest and said.named or (verb == "half" and said.named):
        return "is"
    if verb in _ENDING or (verb in CHOOSING and (rest[:1] in (["with"], ["to"], ["on"]) or verb not in ONGOING)):
        if (said.team or verb in ("dropping", "quitting", "retiring")) and verb in _ENDING:
            return None if said.pointed else "decided"
        return "decided" if rest[:1] in (["with"], ["to"], ["on"]) and not points(rest[1:]) and (verb != "going" or rest[0] == "with") else None
    if verb in ONGOING or (verb == "working" and rest[:1] in (["as"], ["for"], ["at"])) or (verb in ("training", "running", "building", "paying", "teaching", "raising") and rest[:1] in (["for"], ["a"], ["my"], ["our"], ["an"])):
        return None if said.pointed else "is doing"
    if verb in ("leaving", "quitting", "taking", "accepting") and {"job", "offer", "company", "position", "role", "team", "place"} & set(rest[:5]) and rest[0] != "on":
        return "took"
    if verb in ("planning", "getting", "writing", "doing", "taking"):
        lasting = _TRIP.search(said.text) or (rest and rest[-1] == "married") or rest[:1] == ["married"] or {"novel", "book", "thesis", "dissertation", "phd", "masters", "degree", "apprenticeship", "residency", "classes", "lessons", "medication"} & set(rest[:5])
        return "is doing" if lasting else None
    if "not" in said.manner and verb in _NOT_DOING and not said.pointed:
        return "decided"
    if said.team and (verb in NUMBERS or verb.isdigit()) and rest[:1] and (rest[0] in ("people", "adults", "developers", "engineers", "of", "in", "students", "kids", "siblings", "sisters", "brothers")):
        return "is a"
    if verb in ("about", "around", "roughly", "almost", "nearly") and rest and rest[0].isdigit():
        return "is"
    if verb.isdigit() or verb.split("-")[0] in NUMBERS:
        return "is" if not rest or rest[0] in ("years", "year", "yrs", "y/o", "yo", "and", "with", "weeks", "months", "cm") or rest[0] in _PREPOSITIONS else None
    if _ON.match(said.text):
        return "is"
    if any(word in ("student", "students", "vegetarians", "vegans", "parents", "person", "people", "siblings") for word in rest[:2]) and said.team:
        return "is a"
    if "born" in rest[:2] or "allergic" in rest[:2] or "intolerant" in rest[:2]:
        return "is"
    return None


def _is_a(rest: list[str]) -> str | None:
    if not rest or (rest[0] in _LITTLE and "fan" not in rest[:4] and "believer" not in rest[:4]):
        return None
    noun = next((number for number, word in enumerate(rest) if word in _PREPOSITIONS), len(rest))
    if not MOMENT.isdisjoint(rest[:noun]):
        return None
    return "likes" if {"fan", "lover", "believer"} & set(rest[:noun]) and not points(rest[noun + 1 :]) else "is a"


def _has_done(said: Said) -> str | None:
    verb = said.verb
    if verb == "made" and said.rest[:1] == ["up"] and "mind" in said.rest[:3]:
        return "decided"
    if verb == "become" and said.rest[:1] in (["a"], ["an"], ["the"], ["vegan"], ["vegetarian"]):
        return "did"
    if verb in CHOSE:
        return None if said.pointed or said.rest[0] == "up" or (verb == "decided" and said.rest[0] not in _SETTLED) else "decided"
    if verb in LIFE:
        return None if said.pointed or (verb in ("started", "worked") and not _SPAN.search(said.whole)) else "did"
    if verb in LIKE | {"wanted", "known", "owned", "used", "played", "taught", "run", "kept", "lived", "worked", "had", "been"} or "always" in said.manner:
        return "for years" if (_SPAN.search(said.whole) or "always" in said.manner) and not said.pointed else None
    if verb in DATED and _WHEN.search(said.whole) and not said.pointed:
        return "did once"
    return _counted(said)


def _will(said: Said) -> str | None:
    if said.aux == "would":
        return "likes" if said.verb in ("prefer", "rather") and not said.pointed and {"always", "never", "general", "generally", "default", "every"} & set(said.whole.split()) else None
    if "not" in said.manner and said.verb in ("support", "use", "sell", "buy", "renew", "take", "offer", "ship", "accept", "touch", "fly", "eat", "work", "move"):
        return None if said.pointed else "decided"
    if said.verb in ("use", "go", "stick", "stay", "standardise", "standardize", "move", "switch", "migrate", "keep", "adopt") and said.rest and not points(said.rest[said.rest[0] in ("with", "to", "on") :]):
        return "decided" if said.team and said.rest[0] not in ("to", "back", "ahead", "and") else None
    return None


def _does(said: Said) -> str | None:
    verb, rest, manner = said.verb, said.rest, said.manner
    if verb in LIKE and rest[:2] in (["it", "when"], ["that", "my"]):
        return "likes"
    if verb == "go" and rest[:1] == ["by"] and len(rest) < len("by the name of x y".split()):
        return "named"
    if verb == "swear" and rest[:1] == ["by"]:
        return "likes"
    if verb in LIKE or (verb == "care" and rest[:1] == ["for"]):
        if verb in ("loved", "hated", "liked") or (verb in ("like", "love", "enjoy", "enjoyed") and rest[:1] == ["the"]):
            return None
        soon = rest[:1] == ["to"] and len(rest) > 1 and rest[1] in SOON and not manner & HABITUAL
        return None if said.pointed or soon or (verb in ("stand", "bear") and "not" not in manner and said.aux not in ("can't", "cannot")) else "likes"
    if verb == "ruled" and rest[:1] == ["out"] or (verb == "voted" and rest[:1] in (["for"], ["to"], ["against"])) or (verb == "ended" and rest[:1] == ["up"] and rest[1:2] and rest[1] in ("buying", "choosing", "going", "using", "picking", "moving", "adopting", "with")):
        return "decided"
    if verb == "said" and rest[:1] in (["yes"], ["no"]) and rest[1:2] == ["to"]:
        return "decided"
    if verb == "picked" and rest[:1] == ["up"]:
        return _did(said)
    if verb in CHOSE:
        if rest[:1] == ["that"] and len(rest) > LEAST_AGREED:
            return "decided"
        return None if said.pointed or (verb == "decided" and (rest[0] not in _SETTLED or (rest[0] == "to" and rest[1:2] and rest[1] in _ASKED))) else "decided"
    if verb in ("took", "accepted", "declined") and {"offer", "job", "role", "position", "promotion", "place"} & set(rest[:4]):
        return "took"
    if verb in ("drink", "smoke", "drive", "swim", "fly", "cook", "eat") and "not" in manner | {"not" if m in ("don't", "dont") else m for m in manner} and (not rest or rest[:2] in (["anything", "with"], ["anything", "containing"])):
        return "does not"
    if verb == "keep" and rest and rest[0] not in ("the", "my", "a", "an", "our", "on", "up") and rest[0][-3:] != "ing" and not said.pointed and not said.aux and not said.team:
        return "does"
    if verb == "do" and rest and rest[0] not in FLEETING and rest[0] not in ("my", "the", "a", "some", "an", "our", "well", "so") and not said.pointed and not said.aux:
        return "does"
    if verb == "made" and rest[:3] == ["up", "my", "mind"]:
        return "decided"
    if verb in _BEGIN and _DAY.search(said.whole):
        return "begins"
    if verb == "went":
        if rest[:1] == ["with"] and not points(rest[1:]):
            return "decided"
    if verb in ("have", "own", "had", "keep", "got"):
        found = _has(said)
        if found or verb == "have":
            return found
    if verb in ("used", "tend"):
        return "used to" if rest[:1] == ["to"] and len(rest) > 2 else ("likes" if verb == "tend" else _did(said))
    if verb == "want" and {"not", "don't", "dont"} & manner and not said.pointed and rest[0] not in ("to", "the", "you", "a", "an") and {"unless", "ever", "any", "anymore"} & set(rest):
        return "likes"
    if said.team and verb in ("drop", "keep", "stay", "stick", "ditch", "adopt", "retire", "skip", "switch") and not said.pointed and not said.aux and rest[0] not in ("getting", "seeing", "having", "running", "failing", "an", "a") and rest[0][-3:] != "ing":
        return "decided"
    if verb == "want" and _STYLED.search(said.text) and rest[:1] and rest[0] not in ("to", "the", "a", "an", "my", "you", "our") and not said.pointed:
        return "likes"
    if verb == "want" and rest[:2] == ["you", "to"] and {"when", "whenever", "before", "after", "always", "never", "every", "each", "if"} & set(rest):
        return "likes"
    if verb in ("want", "need", "insist", "expect") and not said.team:
        return "likes" if {"always", "never", "every", "all"} & (manner | set(rest[:4])) and rest[:1] != ["to"] else None
    if manner & HABITUAL and verb not in _UNSPOKEN and not said.aux and not (_past(verb) and verb not in ("read", "put", "cut", "set")):
        return None if said.pointed and rest else "always does"
    if {"don't", "dont", "not", "can't", "cannot", "cant"} & manner or said.aux in ("don't", "can't", "cannot"):
        return "does not" if (verb in ABSTAIN | LIVE or (said.team and verb in TEAMWORK)) and not said.pointed and rest[0] not in ("time", "access", "enough", "well", "much", "any") else None
    if said.aux:
        return None
    if "longer" in manner or rest[-1:] in (["anymore"], ["more"]):
        return None if verb in ("want", "need", "know", "see", "think") or said.pointed else "does not"
    if verb == "find" and _FEELS.search(said.text) and not said.pointed:
        return "likes"
    if said.team and verb == "use" and not (AT_HAND | MOMENT | {"model", "method", "technique", "data"}).isdisjoint(rest[:4]):
        return None
    if verb in LIVE or (said.team and verb in TEAMWORK):
        return None if said.pointed or rest[0] in ("to", "some", "another", "next") and verb in ("work", "play", "open", "close", "run", "write") and rest[1:2] != ["call"] else "does"
    if not said.pointed and (verb not in FLEETING or verb in HABIT) and not _past(verb):
        if verb not in FLEETING or _EVERY.search(said.whole):
            return "does every" if _EVERY.search(said.whole) else "does"
    return _did(said)


def _past(verb: str) -> bool:
    return (verb[-2:] == "ed" and verb not in _NO_PAST) or verb in _STRONG or verb in DATED or verb in TALKED


def _has(said: Said) -> str | None:
    rest = said.rest
    if not rest:
        return None
    noun = next((number for number, word in enumerate(rest) if word in _PREPOSITIONS and number), len(rest))
    if not AT_HAND.isdisjoint(rest[: min(noun, 5)]) and not _EVERY.search(said.whole):
        return None
    if _EVERY.search(said.whole) and not said.pointed and said.verb == "have" and MOMENT.isdisjoint(rest):
        return "has"
    if not MOMENT.isdisjoint(rest[: min(noun, 5)]) or said.verb == "had" and _TREATED.isdisjoint(rest):
        return None
    if said.verb == "got":
        return "did" if rest[0] in _GOT or (rest[0] in ("a", "an", "my", "our", "two", "three") and not _LASTING_GOOD.isdisjoint(rest[:4])) else None
    if rest[0] in LASTING_HAD or _ILLNESS.search(rest[0]) or rest[0].isdigit() or rest[-1] in LASTING_HAD or {"allergy", "disease", "syndrome", "allergies"} & set(rest):
        return "has"
    if rest[0] in _COUNTS:
        return None if {"coming", "arriving", "visiting", "left", "due", "tomorrow", "tonight"} & set(rest) or len(rest) < 2 or rest[1] in ("way", "ways", "quick", "following", "meeting", "call", "bunch", "few") else "has"
    return None


def _did(said: Said) -> str | None:
    verb = said.verb
    if said.aux or (said.pointed and verb not in ("retired", "graduated", "divorced")) or not MOMENT.isdisjoint(said.rest[:4]):
        return None
    if verb in LIFE and (verb not in ("started", "worked", "won", "signed", "landed") or said.rest[0] not in ("to", "getting", "seeing", "feeling", "noticing", "on", "with") and said.rest[0][-3:] != "ing" or _WHEN.search(said.whole)):
        return "did"
    if verb in ("lost", "broke", "passed", "finished", "left") and said.rest[:1] in (["my"], ["our"]) and "keys" not in said.rest:
        return "did"
    if verb == "grew" or (verb == "gave" and said.rest[:1] == ["birth"]):
        return "did"
    if verb in DATED and _WHEN.search(said.whole) and not {"this", "it"} & set(said.rest[-2:]):
        return "did once"
    if verb in ("handed", "turned") and said.rest[:1] == ["in"]:
        return "did"
    return _counted(said) if _past(verb) else None


def _counted(said: Said) -> str | None:
    """Tell whether what was done once is told with a number, a name or a day."""
    if said.verb in TALKED or said.pointed or {"this", "it"} & set(said.rest[-2:]) or not (_past(said.verb) or said.aux in ("have", "has")):
        return None
    own = {"my", "our"} & set(said.rest[:3]) and _WHEN.search(said.whole)
    if own or said.named or any(word[0].isdigit() or word[0] in "$€£" or word in NUMBERS for word in said.rest) and "error" not in said.text:
        return "did so"
    return "did so" if said.verb in DATED and _TODAY.search(said.whole) else None
