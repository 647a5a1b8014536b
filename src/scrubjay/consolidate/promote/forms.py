"""Forms: the plain forms of a clause that promotion knows, and what makes a clause or its words say no attribute."""

from __future__ import annotations

import re
from typing import Final

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
    r"quite|like|about|how|what|why|who|where|when|one of|some|more|most|less|here|there|such|just|all|also|always|"
    r"still|as|before|after|until|fine|good|great|bad|better|best|ok|okay|broken|down|up|slow|fast|ready|done|gone|"
    r"in|on|at|by|for|from|of|under|over|behind|due|back|off|out|available|important|different|similar|full|empty|"
    r"clear|sure|able|unable|my|your|his|her|their|[a-z]+ing|[a-z]+ed (?:with|by|to|for|in|on|at))\b",
    re.IGNORECASE,
)
"""What a value does not begin with: what points elsewhere, appraises, or is what somebody does."""
TELLING: Final = re.compile(r"[A-HJ-Z0-9`\"#@]|\w[/._:-]\w")
"""A name, a number or code stands in it."""
FAVOURITE: Final = re.compile(r"(?:favou?rite|preferred|default|go-to|native|maiden|middle) ", re.IGNORECASE)

_DAY: Final = (
    r"(?:\d|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec))"
)
_AM: Final = r"(?:am|is|are|'m|'re)"
_IS: Final = r"(?:is|are)"
_YET: Final = r"(?: now| currently| still| always)?"
RELATIONS: Final = {
    "lives in": rf"lives? in|(?:have |has )?moved to|{_AM} based in",
    "works": r"works? (?:at|for)",
    "works as": r"works? as",
    "is from": rf"{_AM} from",
    "is hosted": rf"{_IS} hosted (?:on|at|by|with)",
    "is deployed": rf"{_IS} deployed (?:to|on)|deploys? to",
    "runs on": r"runs on",
    "is stored": rf"{_IS} (?:stored|kept) (?:in|on|at)",
    "is owned": rf"{_IS} owned by",
    "is maintained": rf"{_IS} maintained by",
    "is called": rf"{_IS} (?:called|named)",
    "reports to": r"reports? to",
    "is married": rf"{_AM} married to",
    "is written": rf"{_IS} written in",
    "is due": rf"{_IS} due (?:on|by|in)?",
    "expires": r"expires? (?:on|in)",
    "is at": r"(?:is|are|starts?|begins?) at(?= \d| noon| midnight| half| quarter)",
    "is on": rf"(?:is|are|falls) on(?= {_DAY})",
    "is pinned": rf"{_IS} pinned (?:to|at)",
}
"""What somebody or something is to another, of which there is one at a time, and how that is said."""
_WORD: Final = r"[\w./-]{1,60}"
_WORDS: Final = rf"(?:{_WORD} ){{0,3}}?{_WORD}"
_WHO: Final = (
    r"(?:(?:I|We|we|i)(?= |'m|'re)|(?:[Mm]y|[Oo]ur|[Tt]he) (?:[\w.'/-]{1,60} ){0,3}?[\w./-]{1,60}"
    r"|[A-Z][\w.-]{1,60}(?: [\w.-]{1,60}){0,2}?)"
)
_HOW: Final = "|".join(f"(?P<r{number}>{form})" for number, form in enumerate(RELATIONS.values()))
RELATION: Final = re.compile(rf"(?P<who>{_WHO}) ?(?:now |currently |always |still )*(?:{_HOW}) (?P<value>.+)")
"""X lives in Y; the group ``rN`` is that of the N-th of `RELATIONS`."""
PORT: Final = re.compile(
    rf"(?P<who>{_WHO}) (?:is|are|runs|listens|sits|answers)(?: now)? (?:on|at) "
    r"(?P<attribute>port) (?P<value>\d{2,5})\b"
)
USE: Final = re.compile(
    r"(?:[Ww]e|I|[Oo]ur team|[Tt]he team)(?: now| always| only| currently)? (?P<attribute>use) "
    r"(?P<value>(?:[\w.+#/-]+ ){0,3}?[\w.+#/-]+) (?:for|as) (?P<who>.+)"
)
ATTRIBUTE: Final = re.compile(
    r"(?P<who>[Mm]y|[Oo]ur|(?:[Mm]y |[Oo]ur |[Tt]he )?(?:[\w.-]{1,60} ){0,2}?[\w.-]{1,60}'s|[Tt]he) "
    rf"(?P<attribute>{_WORDS})(?: (?:of|for) (?:the |our |my )?(?P<of>(?:{_WORD} ){{0,2}}?{_WORD}))? "
    rf"{_IS}{_YET} (?P<value>.+)"
)
