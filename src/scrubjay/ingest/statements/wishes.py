"""Wishes: a clause or sentence that tells what to do from now on, how it is done, or what was wrong, or None."""

from __future__ import annotations

import re
from typing import Final

from scrubjay.ingest.statements.first import points
from scrubjay.ingest.statements.words import AT_HAND, MOMENT, PASSING

_DO: Final = (
    "run|use|call|execute|type|press|set|edit|push|open|go|make|add|create|copy|click|start|stop|restart|install|pull|merge|tag|ssh|log|ask|put|send|check|build"
    "|bump|update|regenerate|write|change|hit|post|wait|fill|delete|remove|rebase|commit|export|import|upload|download|enter|select|pick|turn|switch|book|email"
    "|mail|ping|tell|take|apply|source|load|hold|feed|soak|rinse|flush|unplug|plug|sign|scan|print"
)
_LASTING: Final = (
    r"\b(?:from now on|going forward|from here on|in (?:the )?future|anymore|any more|ever again|ever[.!]*$|, always|whenever|only (?:when|if|after)|every time|by default|in general|at all times|each time|at all$"
    r"|in (?:all|any|every|my|our) (?:of )?(?:my |our |your |the )?(?:\w+ )?(?:commits?|commit messages|code|files?|answers?|replies|messages?|responses?|tests?|e?mails|docs|prs|reviews)"
    r"|in everything (?:you|i|we) |in our |unless i (?:ask|say|tell))"
)
_NEVER = re.compile(
    r"(?:please |pls |you (?:should |must |have to |need to )|always(?= never))*(?:always|never|don't ever|do not ever|don't you ever) (?!(?:mind|ever|again|heard|knew|been|seen|had|thought|said|used|tried"
    r"|the|a|an|my|works?|fails?|gonna|too|got|understood|worked|failed|returns?|gets?|has|is|was|been|in|on|sure|wanted|happens?|happened|fun|nice|good|great|wrong|right)\b)[a-z'-]+ \S"
)
_FROM_NOW = re.compile(r"(?:when(?:ever)? i (?:say|ask|paste|post|send|write|give|share|mention|talk about|tell you)\b.{2,60}[, ] ?(?:i mean|i want|i only|i'm|just|only|don't|do not|give|do|answer|treat|assume|it means)|from now on|from (?:this|next|today|tomorrow|monday|january)\b(?: \w+){0,2} on(?:wards)?|going forward|from here on(?: out)?|in (?:the )?future|as a (?:general )?rule|by default|every time you|when(?:ever)? you (?:write|answer|reply|give|suggest|explain|generate|create|refactor|commit|respond|send|show))\b,? \S+ \S")
_UNTIL = re.compile(
    r"(?:please |pls )?stop \w+ing (?:every|each|all|my|your) \S|"
    r"(?:please |pls )*(?:use|write|answer|reply|respond|call|keep|give|format|address|stick|avoid|don't|do not|stop|no|speak|talk|commit|prefix|name|put|show|explain|ask|make|skip|leave|refer|add"
    rf"|don't \w+|do not \w+|include|sign|run|treat|remind|assume|correct|translate|mark|quote|cite|spell)\b.*{_LASTING}"
)
_CALL = re.compile(r"(?:please |just |you can |everyone |everybody |people |my friends |they |friends )*calls? me (?!back|when|if|later|crazy|at|on|an?|tomorrow|today|stupid|old|once)[\w'-]+")
_LETS = re.compile(
    r"(?:let's|lets|let us) (?:just |all |always |never |go |and )*(?:use|with|stick (?:with|to)|switch to|standardi[sz]e on|settle on|move to|adopt|drop|call|name|pin|store|host|deploy|keep) "
    r"(?!sleep|bed|next|back|over|through|in mind|going|an?\b|some\b|more\b|another\b|different\b)"
)
_NOTED = re.compile(r"(?:final answer|it's decided|it is decided|final decision|verdict|decision|decided|convention|rule|house rule|policy|preference|agreed)$")
_TO = re.compile(
    rf"to \w+ (?:the|a|an|my|our) \w+ (?:hold|press|push|pull|twist|{_DO}) (?:the|a|on|it|both)|(?:the way (?:i|we|to) .{{3,60}} is|(?:in order )?to (?!be\b|me\b|my\b|the\b|sum\b|answer\b|clarify\b|say\b|make (?:matters|it)\b)\w+.{{0,80}}?(?:, |: | - | you (?:have to |need to |must |just |can )?| we | i | just | first )(?:(?:you|we|i|always|just|first|have to|need to|must|can) )*(?:{_DO})\b)"
)
_ORDER = re.compile(r"(?:please |you (?:should|must|have to|need to) |we |i )*(?:always|never|don't ever|make sure (?:to|you|we|that)|remember to|be sure to|don't forget to|must|have to) (?!worry).*\b(?:before|after|when(?:ever)?|until|once|every time|each time|without|if|unless)\b \S+ \S")
_IN_ORDER = re.compile(
    rf"(?:when|if) the .{{3,60}}[ ,](?:always |first |just |then )?(?:ring|phone|call|text|tell|{_DO}) \S|(?:deploys?|deploying|deployments?|releases?|releasing|backups?|restores?|rollbacks?|onboarding|closing up|opening up): (?:{_DO}|check|tag) .*,"
    rf"|you (?:need to|have to|must) .{{5,80}} (?:before|after|whenever|every time|each time|once) |when(?:ever)? you \w+, (?:please |always |just )*(?:avoid|skip|stick|never|don't|include|keep|prefer|show|explain|cite|{_DO})\b|when(?:ever)? you (?!(?:are|have|'re|'ve) )(?!get |see |can )\w+ .{{3,80}}, (?:please |also |always |do |just )*(?:{_DO})\b|(?:before|after|when(?:ever)?|every time|once|each time|if) (?!that|this|it\b|these|those|then).{{3,90}}?[ ,](?:you (?:must|have to|need to|always)|we (?:always|never|must|have to|need to|run|first|then)|i (?:always|first)|always|never|make sure|don't forget|remember to|first (?:{_DO})"
    r"|run|restart|rerun|regenerate|bump|purge|rebuild|reload|flush|tag|ssh|drain|rotate|back up|dump|migrate|unplug|lock|clear|wipe|sync) \S"
)
_BY = re.compile(
    r"(?:you|we) (?:deploy|release|build|ship|publish|test|restore|back up|roll back|rollback|reset|migrate|provision|rotate|start|restart|regenerate|install|update|run|do) (?:\S+ ){0,6}?(?:by \w+ing|with \S|via \S|using \S|by hand)"
)
_WRONG = re.compile(
    r"(?:[\s,.!-]*(?:no|nope|nah|wrong|incorrect|correction|actually|sorry|wait|hold on|that's (?:wrong|not right|not correct|incorrect|not true|false|not quite right)|that is (?:wrong|not right|incorrect)"
    r"|not quite|er|(?:that's|this is|it's) (?:outdated|old|stale|out of date)|you (?:wrote|put|called|spelled|named|listed|booked|keep (?:writing|saying|calling|using)|have|used|assumed) [^,.;:]{1,30}[,;:]|wrong \w+[,:]|you(?:'ve| have)? (?:mixed up|got|confused|swapped) [^,.;:]{1,40}(?:wrong|backwards|mixed up|the wrong way|confused)[,;:]|you (?:mixed up|swapped|confused) [^,.;:]{1,40}[,;:]|hang on|i never said [^,.;:]{1,40}[,;:]|ignore the [^,.;:]{1,30}[,.;:]|i meant|i said|i was wrong|my mistake|my bad|you(?:'re| are) wrong|you got (?:it|that) wrong|you misunderstood|small correction|to correct)\b[\s,:.!-]*)+"
)
_STATED = re.compile(
    r"(?!(?:thanks|thank|worries|problem|need|idea|make|please|try|i mean|use the|do|don't|can|could|would|should|it (?:still|doesn't|does not|didn't|isn't work|is not work))\b)"
    r"(?=.*(?:\b(?:is|are|was|were|has|have|starts?|lives?|works?|runs?|uses?|use|leaves?|means?|takes?|spelled|spelt|ends?|goes|moved|born|called|belongs?)\b|\d|'s\b|'re\b|'m\b))(?=.{6})"
    rf"(?!(?:it|that|this|what|i|you|there|they)(?:'s| is|'m| am| was| are|'re) (?:also |just |really |so |still |not |very |a bit |all )*(?:{'|'.join(sorted(PASSING))}|because|same|an? (?:bug|error|problem))\b)"
)
_NOT = re.compile(
    r"(?!if |what |who |how |why |when |where |to |please |use |make |write |i (?:want|need|would|asked|just|tried|meant|said|like|prefer)|we (?:want|need)|this is|there )(?:(?:i|we) \w+|[^,;:]{1,60}?(?:'s|'re|'m| is| are| was| uses?| starts?| lives?| leaves?| runs?"
    r"| has| have| takes?| goes| costs?| goe?s?| close[sd]?| opens?| works?| belongs?| expires?| arrives?| departs?| sits?| points?| reads?| moved| left| begins?| ends?| needs?| should be| must be)) [^,;:]{1,60}(?:, ?| and |; ?| - )not (?!\w+er\b|that\b|this\b|mean|funny|boring|more|less|only|just|sure|really|even|because|so|very|too|that|a (?:fan|problem|big)|yet|necessarily|always|at all|to\b)(?:the |an? |in |at |on |from |per )?[\w$€£'/.:-]+"
    r"(?: [\w'/.:-]+){0,5}[.!)\" ]*$"
)
_NOT_BUT = re.compile(r"(?:it's |it is |that's |i'm |we're |he's |she's |they're |i am |we are )?not (?!that|this|these|those|the (?:first|second|one|other)|what|here|yet|sure|so|only|even|just|\w+er\b)(?:the |an? |in |on |at |from )?[\w'$€/.:-]+(?: [\w'-]+){0,3}[,;-] ?(?:but |it's |it is |i'm |we're |he's |she's |they're |the |an? |in |on |at )*[\w'$€/.:-]+(?: [\w'-]+){0,4}[.!]*$")
_MEANT = re.compile(
    r"(?:sorry|oops|wait|no|oh|argh|ugh|er|hm)?[,.! ]*(?:i meant (?!to\b|that\b|the (?:first|second|last|other)|for you|what|it|this)\S+(?: \S+){0,5}[.!]*$|(?:it's|it is|that's) (?:pronounced|spelled|spelt) \S+|[^,;:?]{2,40} (?:is|are) (?:spelled|spelt|pronounced) \S|(?:it's|it is|that's|my name is|spelled) [\w'-]+(?: [\w'-]+)? with (?:an?|two|one|no|double) )"
)
_ACTUAL = re.compile(r"(?!what|how|if |it's |this |that )(?:the|my|our|his|her|its|[a-z]+'s) (?:[\w'-]+ ){1,5}(?:is|are|was|were) actually (?!a (?:bit|good|bad|great)|really|quite|pretty|very|so |not (?:working|sure))\S|the (?:correct|right|real|actual) [\w -]{2,30} (?:is|are|was) \S")
_STYLE = re.compile(
    r".{8,}\b(?:that'?s (?:how|the way) (?:we|i|my \w+|our \w+|everyone here) (?:\w+ )?(?:do(?:es)?|likes?|wants?|works?|writes?|runs?|has)\b|house (?:style|rule)|not having this (?:discussion|conversation)|standing (?:rule|order)"
    r"|as (?:i )?always(?: do)?$|(?:we|i) (?:always )?do it (?:here|that way))"
)
_SETTLED = re.compile(r".{8,}\b(?:that'?s (?:settled|final|decided|decided now)|it'?s (?:settled|final|decided)|final answer|no going back|done deal)\b|\S+(?: \S+){0,3} it is(?: then)?(?:[.!]*$|,)")
_WITHIN = re.compile(
    r"(?:in|at|on) (?:this|our|my) (?:\w+ )?(?:codebase|repo|repository|project|team|house|household|company|kitchen|shop|family|office|lab|school|ward|clinic|class|department|studio|group|choir|club|monorepo)[, ]+"
    r"(?!there's|is |are |what|how|i (?:have|see|want|need)|we (?:have|need|see) (?:a|an|the) (?:bug|problem|issue)|please|can|could|do |does )\S+ \S+ \S"
)
_BOTH = re.compile(r"(?!i |it |you |we )(?:\S+ ){1,5}always [^,;.]+[,;] (?:and )?never \S|(?!i |it |you |we )(?:\S+ ){1,5}never [^,;.]+[,;] (?:and )?always \S")
_NO = re.compile(
    r"(?:please |pls )?no (?!idea|luck|need|problem|errors?|response|reply|change|changes|difference|output|sign|way|one|news|rush|worries|wonder|doubt|matter|longer|clue|thanks|chance|reason|point|pressure|hurry|success|answer|results?|big)"
    r"(?:[\w-]+ ){1,3}(?:outside|inside|in (?!the|this|it|a\b|an\b|your head)\w+s\b|at the (?:top|start|end|beginning) of your|in (?:my|our|the code|any|your|code|commit|commits|tests|replies|answers|emails|docs)|without|before|unless|except|ever|on (?:mon|tues|wednes|thurs|fri|satur|sun)days?) ?\S"
)
_FEELS = re.compile(
    r"(?!it |this |that |these |those |you |your )(?:[\w'-]+ ){1,8}?(?:drives? me (?:up|crazy|mad|nuts|insane|bonkers)|(?:is|are)(?:n't| not| so not) (?:my (?:thing|cup of tea|style|jam|idea of fun)|for me\b)"
    r"|gives? me (?:migraines?|headaches|heartburn|hives|anxiety|a rash)|makes? me (?:sick|ill|anxious|cringe|break out|sleepy|sneeze)|do(?:es)?n't agree with me|works? best for me|suits? me best|(?:is|are) my (?:jam|thing|happy place|comfort food|guilty pleasure))"
)
_VERBLESS = re.compile(
    r"(?!i |we |it |you |he |she |they |there |that |this |the |my |as )(?:[\w'-]+,? ){1,6}(?:always|never|only|by default|everywhere)(?:,? (?:please|pls|thanks))?[.!]*$(?<!not only)"
    r"|[\w-]+(?: [\w-]+)? over [\w-]+(?: [\w-]+)?,? (?:always|any day|every time|in \w+)\b"
)
_THERE = re.compile(r"there(?:'s| is| are) (?:an? |only |two |three |four |five |six |seven |eight |nine |ten |\d+ |no )(?:.{3,60} (?:in|at|on|for|behind|under|next to) (?:my|our) |of us\b|.{3,40} of us\b)")
_SCHEDULE = (
    r"(?:every|before|after|on (?:mon|tues|wednes|thurs|fri|satur|sun)days?|on the (?:\d|first|last)|only|twice|once|daily|weekly|monthly|nightly|by the|at (?:\d|noon|midnight|closing|opening))"
)
_DONE = re.compile(
    rf"(?!.*\b(?:who|which)\b)(?!i |we |it |you |he |she |they |that |this |there |what |if )(?:[\w'`/&-]+ ){{1,6}}?(?:gets?|is|are|must be|has to be|have to be|needs? to be) (?:always |only )?(?!open|even|often|seven|ten\b|need|red\b)(?:\w+(?:ed|en|wn)|done|sent|kept|put|cut|built|paid|run|made|held|set|swept|fed|bought|sold|lent) (?:[\w'`/&-]+ ){{0,5}}?{_SCHEDULE}\b"
    r"|(?:everything|every \w+|all (?:the )?\w+|money|cash|payments?|deliveries|orders|receipts|invoices|bugs?|tickets?|requests?|changes?|prs?|keys?|bins?|waste|post|mail) (?:always )?(?:goes|go) (?:in|into|to|through|on|onto|under|via|by|out|straight)\b \S"
    r"|(?!everything must|all must)(?:every|each|any|anything|nobody|no one|nothing|everyone|whoever|only) (?:[\w'`/&-]+ ){1,6}?(?:needs?|has to|have to|must|requires?|goes|gets (?!an? (?:error|\d)|stuck|slow|the same)|(?:is|are) (?:not )?(?:allowed|permitted)|may (?:only|not))\b \S"
    r"|(?!i |we |it |you |he |she |they |this |that )(?:[\w'-]+ ){1,4}(?:goes?|comes?|leaves?|opens?|closes?|starts?|ends?|meets?|happens?|ships?) (?:up |out |in |down |back )?(?:on (?:mon|tues|wednes|thurs|fri|satur|sun)days?|every )"
    r"|the (?:\w+ ){1,3}goes? (?:in|on|out) (?:at|for|to) "
    r"|.{3,60}\b(?:has|have|needs?) to (?:sign off|approve|review|confirm|check|pass|be \w+ed)\b.* before "
)
_HERE = re.compile(
    r"(?:before|after|with|at|for) (?:every|each) (?!time|day|other|of)(?!.*\b(?:i get|error|fails?|crash\w*|it)\b)\S+ .{8}|(?:[\w`-]+ ){1,4}(?:here )?= ?`|(?:for \w+ \w+ |here |with us )?(?:the|our) (?:rule|procedure|process|drill|routine|policy|convention|protocol|way we \w+|order)(?: here| is| for .{2,30} is)? ?(?:is|:) ?(?:that )?\S+ \S+ \S"
    r"|(?:drop off|pick up|park|deliver|collect|enter|ring|knock|report|sign in|check in) (?:at|on|in|by|to|behind) .{3,60}, (?:never|not|always) "
)


def wish(text: str, start: int, end: int, words: list[str]) -> str | None:
    """Return the rule that a clause without a subject of its own falls under: always, never, let us."""
    if _NEVER.match(text, start, end) and not points(words[2:]):
        return "always do"
    if _LETS.match(text, start, end):
        skip = next((n for n, word in enumerate(words) if word in ("use", "with", "to", "on", "adopt", "drop", "call", "name", "pin", "store", "host", "deploy", "keep")), 1)
        return None if points(words[skip + 1 :]) else "let us"
    if _FEELS.match(text, start, end):
        return "feels"
    if _VERBLESS.match(text, start, end):
        return "house style"
    if _THERE.match(text, start, end):
        return "there is"
    if _NO.match(text, start, end):
        return "no such"
    if _DONE.match(text, start, end) and (MOMENT | AT_HAND).isdisjoint(words[:4]):
        return "as is done"
    if _CALL.match(text, start, end):
        return "call me"
    if _FROM_NOW.match(text, start, end):
        return "from now on"
    return "until further" if _UNTIL.match(text, start, end) else None


def noted(text: str, start: int, end: int) -> bool:
    """Tell whether a label says that what follows it is settled."""
    return _NOTED.match(text, start, end) is not None


_STEPS: Final = (
    ("to do so", _TO), ("rule of order", _ORDER), ("in order", _IN_ORDER), ("by doing", _BY), ("here is", _HERE), ("settled", _SETTLED), ("house style", _STYLE), ("here is", _WITHIN), ("house style", _BOTH),
)  # fmt: skip


def steps(text: str, start: int, end: int) -> str | None:
    """Return the rule that finds in a sentence how something is done."""
    for rule, pattern in _STEPS:
        if pattern.match(text, start, end):
            return rule
    return None


def righted(text: str, start: int, end: int) -> str | None:
    """Return the rule that finds a correction in a sentence."""
    found = _WRONG.match(text, start, end)
    if found and _STATED.match(text, found.end(), end):
        return "righted"
    meant = _MEANT.match(text, start, end)
    if meant:
        return "righted"
    return "not but" if any(pattern.match(text, start, end) for pattern in (_NOT, _NOT_BUT, _ACTUAL)) else None
