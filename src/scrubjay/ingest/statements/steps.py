"""Steps: a sentence that says how something is done here -> the rule that keeps it, or None."""

from __future__ import annotations

import re
from typing import Final

from scrubjay.ingest.statements.things import AT_HAND, MOMENT
from scrubjay.ingest.statements.times import ON_DAYS
from scrubjay.ingest.statements.words import bag

_DO: Final = (
    "run|use|call|execute|type|press|set|edit|push|open|go|make|add|create|copy|click|start|stop|restart|"
    "install|pull|merge|tag|ssh|log|ask|put|send|check|build"
    "|bump|update|regenerate|write|change|hit|post|wait|fill|delete|remove|rebase|commit|export|import|"
    "upload|download|enter|select|pick|turn|switch|book|email"
    "|mail|ping|tell|take|apply|source|load|hold|feed|soak|rinse|flush|unplug|plug|sign|scan|print"
)
_TO = re.compile(
    rf"to \w+ (?:the|a|an|my|our) \w+ (?:hold|press|push|pull|twist|{_DO}) (?:the|a|on|it|both)|"
    rf"(?:the way (?:i|we|to) .{{3,60}} is|(?:in order )?to (?!be\b|me\b|my\b|the\b|sum\b|answer\b|clarify\b|"
    rf"say\b|make (?:matters|it)\b)\w+.{{0,80}}?(?:, |: | - | you (?:have to |need to |must |just |can )?| we |"
    rf" i | just | first )(?:(?:you|we|i|always|just|first|have to|need to|must|can) )*(?:{_DO})\b)"
)
_ORDER = re.compile(
    r"(?!i (?:must|have to))(?:please |you (?:should|must|have to|need to) |we |i )*"
    r"(?:always|never|don't ever|make sure (?:to|you|"
    r"we|that)|remember to|be sure to|don't forget to|must|have to) (?!worry).*\b(?:before|after|"
    r"when(?:ever)?|until|once|every time|each time|without|if|unless)\b \S+ \S"
)
_IN_ORDER = re.compile(
    rf"(?:when|if) the .{{3,60}}[ ,](?:always |first |just |then )?(?:ring|phone|call|text|tell|{_DO}) \S|"
    rf"(?:deploys?|deploying|deployments?|releases?|releasing|backups?|restores?|rollbacks?|onboarding|"
    rf"closing up|opening up): (?:{_DO}|check|tag) .*,"
    rf"|you (?:need to|have to|must) .{{5,80}} (?:before|after|whenever|every time|each time|once) |"
    rf"when(?:ever)? you \w+, (?:please |always |just )*(?:avoid|skip|stick|never|don't|include|keep|prefer|"
    rf"show|explain|cite|{_DO})\b|when(?:ever)? you (?!(?:are|have|'re|'ve) )(?!get |see |"
    rf"can )\w+ .{{3,80}}, (?:please |also |always |do |just )*(?:{_DO})\b|(?:before|after|when(?:ever)?|"
    rf"every time|once|each time|if) (?!that|this|it\b|these|those|then).{{3,90}}?[ ,](?:you (?:must|have to|"
    rf"need to|always)|we (?:always|never|must|have to|need to|run|first|then)|i (?:always|first)|always|never|"
    rf"make sure|don't forget|remember to|first (?:{_DO})"
    r"|run|restart|rerun|regenerate|bump|purge|rebuild|reload|flush|tag|ssh|drain|rotate|back up|dump|migrate|"
    r"unplug|lock|clear|wipe|sync) \S"
)
_FIRST_THEN = re.compile(
    r"(?:the way (?:we|i|you|my \w+) \w+ .{2,40}?(?::| is) ?\S+ \S|(?:you |we |i )?first,? (?:you |we |"
    r"i )(?:always )?\w+ .{3,}"
    r"(?:,|;| and)? (?:and )?then .{4}|(?:you|we) (?:need|have|must|got)(?: to)? (?:\S+ ){1,7}?first\b|"
    r"(?:you|we) (?:can|may) only \w+ .{3,60} (?:after|once|if|from|when|with|through|via) \S|"
    r"(?:any|new|every) .{3,60} (?:needs?|has to|have to|must|gets?|goes|go|requires?) .{8,})"
)
_BY = re.compile(
    r"(?:you|we) (?:deploy|release|build|ship|publish|test|restore|back up|roll back|rollback|reset|migrate|"
    r"provision|rotate|start|restart|regenerate|install|update|run|do) (?:\S+ ){0,6}?(?:by \w+ing|with \S|"
    r"via \S|using \S|by hand)"
)
_STYLE = re.compile(
    r".{8,}\b(?:that'?s (?:how|the way) (?:we|i|my \w+|our \w+|everyone here) (?:\w+ )?(?:do(?:es)?|likes?|"
    r"wants?|works?|writes?|runs?|has)\b|house (?:style|rule)|not having this (?:discussion|conversation)|"
    r"standing (?:rule|order)"
    r"|as (?:i )?always(?: do)?$|(?:we|i) (?:always )?do it (?:here|that way))"
)
_SETTLED = re.compile(
    r".{8,}\b(?:that'?s (?:settled|final|decided|decided now)|it'?s (?:settled|final|decided)|final answer|"
    r"no going back|done deal)\b|(?!leave|keep|so |ok|yes|what|how|no )\S+(?: \S+){0,3} (?<!as )it is(?: "
    r"then)?(?:[.!]*$|,)"
)
_WITHIN = re.compile(
    r"(?:in|at|on) (?:this|our|my) (?:\w+ )?(?:codebase|repo|repository|project|team|house|household|company|"
    r"kitchen|shop|family|office|lab|school|ward|clinic|class|department|studio|group|choir|club|"
    r"monorepo)[, ]+"
    r"(?!there's|is |are |what|how|i (?:have|see|want|need)|we (?:have|need|see) (?:a|an|the) (?:bug|problem|"
    r"issue)|please|can|could|do |does )\S+ \S+ \S"
)
_BOTH = re.compile(
    r"(?!i |it |you |we )(?:\S+ ){1,5}always [^,;.]+[,;] (?:and )?never \S|(?!i |it |you |"
    r"we )(?:\S+ ){1,5}never [^,;.]+[,;] (?:and )?always \S"
)
_SCHEDULE = (
    rf"(?:every|before|after|{ON_DAYS}|on the (?:\d|first|last)|only|twice|once|daily|weekly|monthly|nightly|"
    rf"by the|at (?:\d|noon|midnight|closing|opening))"
)
_DONE = re.compile(
    rf"(?!.*\b(?:who|which)\b)(?!i |we |it |you |he |she |they |that |this |there |what |"
    rf"if )(?:[\w'`/&-]+ ){{1,6}}?(?:gets?|is|are|must be|has to be|have to be|needs? to be) (?:always |"
    rf"only )?(?!open|even|often|seven|ten\b|need|red\b)(?:\w+(?:ed|en|wn)|done|sent|kept|put|cut|built|paid|"
    rf"run|made|held|set|swept|fed|bought|sold|lent) (?:[\w'`/&-]+ ){{0,5}}?{_SCHEDULE}\b"
    r"|(?:everything|every \w+|all (?:the )?\w+|money|cash|payments?|deliveries|orders|receipts|invoices|"
    r"bugs?|tickets?|requests?|changes?|prs?|keys?|bins?|waste|post|mail) (?:always )?(?:goes|go) (?:in|into|"
    r"to|through|on|onto|under|via|by|out|straight)\b \S"
    r"|(?!everything must|all must)(?:every|each|any|anything|nobody|no one|nothing|everyone|whoever|"
    r"only) (?:[\w'`/&-]+ ){1,6}?(?:needs?|has to|have to|must|requires?|goes|gets (?!an? (?:error|\d)|stuck|"
    r"slow|the same)|(?:is|are) (?:not )?(?:allowed|permitted)|may (?:only|not))\b \S"
    rf"|(?!i |we |it |you |he |she |they |this |that )(?:[\w'-]+ ){{1,4}}(?:goes?|comes?|leaves?|opens?|"
    rf"closes?|starts?|ends?|meets?|happens?|ships?) (?:up |out |in |down |back )?(?:{ON_DAYS}|every )"
    r"|the (?:\w+ ){1,3}goes? (?:in|on|out) (?:at|for|to) "
    r"|.{3,60}\b(?:has|have|needs?) to (?:sign off|approve|review|confirm|check|pass|be \w+ed)\b.* before "
)
_HERE = re.compile(
    r"(?:before|after|with|at|for) (?:every|each) (?!time|day|other|of)(?!.*\b(?:i get|error|fails?|crash\w*|"
    r"it)\b)\S+ .{8}|(?:[\w`-]+ ){1,4}(?:here )?= ?`|(?:for \w+ \w+ |here |with us )?(?:the|our) (?:rule|"
    r"procedure|process|drill|routine|policy|convention|protocol|way we \w+|order)(?: here| is|"
    r" for .{2,30} is)? ?(?:is|:) ?(?:that )?\S+ \S+ \S"
    r"|(?:drop off|pick up|park|deliver|collect|enter|ring|knock|report|sign in|check in) (?:at|on|in|by|to|"
    r"behind) .{3,60}, (?:never|not|always) "
)

_ORDERS: Final = bag("before after when whenever once every each if")
_ANY: Final = frozenset[str]()
_RULES: Final = (
    ("to do so", bag("to the in"), bag("to"), _TO),
    (
        "rule of order",
        bag("please you we i always never don't make remember be must have"),
        _ORDERS | bag("until without unless"),
        _ORDER,
    ),
    (
        "in order",
        _ORDERS
        | bag(
            """you deploy deploys deploying deployment deployments release releases releasing backup backups restore
            restores rollback rollbacks onboarding closing opening"""
        ),
        _ANY,
        _IN_ORDER,
    ),
    (
        "first then",
        bag("the first you we i any all new every"),
        bag("way first only needs need has have must gets get goes go requires require"),
        _FIRST_THEN,
    ),
    ("by doing", bag("you we"), bag("by with via using"), _BY),
    (
        "here is",
        _ANY,
        bag(
            "= rule procedure process drill routine policy convention protocol way order every each never "
            "not always"
        ),
        _HERE,
    ),
    ("settled", _ANY, bag("settled final decided going deal it"), _SETTLED),
    ("house style", _ANY, bag("how way house having standing always do"), _STYLE),
    ("here is", bag("in at on"), _ANY, _WITHIN),
    ("house style", _ANY, bag("always"), _BOTH),
)
"""Name, what it begins with, what must stand there (nothing for any), pattern: a look at words is cheap."""
CUES: Final = frozenset[str]().union(*(needed or opening for _, opening, needed, _ in _RULES))
"""Without one of these `steps` finds nothing."""
_UNDONE: Final = MOMENT | AT_HAND
_SUBJECTS: Final = bag("i we it you he she they that this there what if i'm i've we're please can could how")
TOLD: Final = bag(
    """every before after on only twice once daily weekly monthly nightly by at each any anything nobody
    no nothing everyone whoever everything all money cash payment payments deliveries orders receipts
    invoices bugs tickets requests changes prs keys bins waste post mail goes comes leaves opens
    closes starts ends meets happens ships go"""
)


def steps(text: str, start: int, end: int, words: list[str]) -> str | None:
    """Return the rule that finds in a sentence how something is done.

    Args:
        text: The text.
        start: Where the sentence begins to say something.
        end: Where it ends.
        words: Its words from there.
    """
    first, there = words[0], frozenset(words)
    for rule, opening, needed, pattern in _RULES:
        if (opening and first not in opening) or (needed and needed.isdisjoint(there)):
            continue
        if pattern.match(text, start, end):
            return rule
    return None


def done(text: str, start: int, end: int, words: list[str]) -> str | None:
    """Return the rule that finds in a clause what is done again and again, by whomever."""
    if words[0] in _SUBJECTS or TOLD.isdisjoint(words) or not _UNDONE.isdisjoint(words[:4]):
        return None
    return "as is done" if _DONE.match(text, start, end) else None
