"""Righted: a sentence that corrects what was said or done -> the rule that keeps it, or None."""

from __future__ import annotations

import re
from typing import Final

from scrubjay.ingest.statements.words import PASSING, bag

_WRONG = re.compile(
    r"(?:[\s,.!-]*(?:no|nope|nah|wrong|incorrect|correction|actually|sorry|wait|hold on|that's (?:wrong|"
    r"not right|not correct|incorrect|not true|false|not quite right)|that is (?:wrong|not right|incorrect)"
    r"|not quite|er|(?:that's|this is|it's) (?:outdated|old|stale|out of date)|you (?:wrote|put|called|"
    r"spelled|named|listed|booked|keep (?:writing|saying|calling|using)|have|used|assumed) [^,.;:]{1,30}[,;:]|"
    r"wrong \w+[,:]|you(?:'ve| have)? (?:mixed up|got|confused|swapped) [^,.;:]{1,40}(?:wrong|backwards|"
    r"mixed up|the wrong way|confused)[,;:]|you (?:mixed up|swapped|confused) [^,.;:]{1,40}[,;:]|hang on|"
    r"i never said [^,.;:]{1,40}[,;:]|ignore the [^,.;:]{1,30}[,.;:]|i meant|i said|i was wrong|my mistake|"
    r"my bad|you(?:'re| are) wrong|you got (?:it|that) wrong|you misunderstood|small correction|"
    r"to correct)\b[\s,:.!-]*)+"
)
_STATED = re.compile(
    r"(?!(?:thanks|thank|worries|problem|need|idea|make|please|try|i mean|use the|do|don't|can|could|would|"
    r"should|it (?:still|doesn't|does not|didn't|isn't work|is not work))\b)"
    r"(?=.*(?:\b(?:is|are|was|were|has|have|starts?|lives?|works?|runs?|uses?|use|leaves?|means?|takes?|"
    r"spelled|spelt|ends?|goes|moved|born|called|belongs?)\b|\d|'s\b|'re\b|'m\b))(?=.{6})"
    rf"(?!(?:it|that|this|what|i|you|there|they)(?:'s| is|'m| am| was| are|'re) (?:also |just |really |so |"
    rf"still |not |very |a bit |all )*(?:{'|'.join(sorted(PASSING))}|because|same|an? (?:bug|error|problem))\b)"
)
_NOT = re.compile(
    r"(?!if |what |who |how |why |when |where |to |please |use |make |write |i (?:want|need|would|asked|just|"
    r"tried|meant|said|like|prefer)|we (?:want|need)|this is|there )(?:(?:i|we) \w+|[^,;:]{1,60}?(?:'s|'re|'m|"
    r" is| are| was| uses?| starts?| lives?| leaves?| runs?"
    r"| has| have| takes?| goes| costs?| goe?s?| close[sd]?| opens?| works?| belongs?| expires?| arrives?|"
    r" departs?| sits?| points?| reads?| moved| left| begins?| ends?| needs?| should be|"
    r" must be)) [^,;:]{1,60}(?:, ?| and |; ?| - )not (?!\w+er\b|that\b|this\b|mean|funny|boring|more|less|"
    r"only|just|sure|really|even|because|so|very|too|that|a (?:fan|problem|big)|yet|necessarily|always|at all|"
    r"to\b)(?:the |an? |in |at |on |from |per )?[\w$€£'/.:-]+"
    r"(?: [\w'/.:-]+){0,5}[.!)\" ]*$"
)
_NOT_BUT = re.compile(
    r"(?:it's |it is |that's |i'm |we're |he's |she's |they're |i am |we are )?not (?!that|this|these|those|"
    r"the (?:first|second|one|other)|what|here|yet|sure|so|only|even|just|\w+er\b)(?:the |an? |in |on |at |"
    r"from )?[\w'$€/.:-]+(?: [\w'-]+){0,3}[,;-] ?(?:but |it's |it is |i'm |we're |he's |she's |they're |the |"
    r"an? |in |on |at )*[\w'$€/.:-]+(?: [\w'-]+){0,4}[.!]*$"
)
_MEANT = re.compile(
    r"(?:sorry|oops|wait|no|oh|argh|ugh|er|hm)?[,.! ]*(?:i meant (?!to\b|that\b|the (?:first|second|last|"
    r"other)|for you|what|it|this)\S+(?: \S+){0,5}[.!]*$|(?:it's|it is|that's) (?:pronounced|spelled|"
    r"spelt) \S+|[^,;:?]{2,40} (?:is|are) (?:spelled|spelt|pronounced) \S|(?:it's|it is|that's|my name is|"
    r"spelled) [\w'-]+(?: [\w'-]+)? with (?:an?|two|one|no|double) )"
)
_ACTUAL = re.compile(
    r"(?!what|how|if |it's |this |that )(?:the|my|our|his|her|its|[a-z]+'s) (?:[\w'-]+ ){1,5}(?:is|are|was|"
    r"were) actually (?!a (?:bit|good|bad|great)|really|quite|pretty|very|so |not (?:working|sure))\S|"
    r"the (?:correct|right|real|actual) [\w -]{2,30} (?:is|are|was) \S"
)

_MENDED: Final = re.compile(
    r"(?:it |that |this |(?:the|my|our|his|her) (?:[\w'-]+ ){1,4})?(?:should (?:be|read|say|have been)|"
    r"ought to be|was "
    r"supposed to be|has to be|must be) (?=[^,]*[\d`/_])[^,;:]{1,50}(?:,| and|;| instead of| rather than) "
    r"?(?:not )?\S|"
    r"(?:no|nope|not)[,.]? (?:\d|january|february|march|april|may|june|july|august|september|october|"
    r"november|december|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday)[^?]{0,30}$|(?:you've|you have|you|i|we|"
    r"they) (?:got|had|put|have) "
    r"(?:the |my |our |his |her |their |that |it )?(?:[\w'-]+ ){0,4}(?:wrong|backwards|mixed up|the wrong "
    r"way round)[,;:.-]+ "
    r"?\S.{3}|(?:typo|small typo|erratum|correction|fix|edit)(?: in .{2,30})?: ?(?!fix|the file)\S+ \S|"
    r"(?:it|that|the \w+|my \w+)(?:'s| is| was) (?:really|in fact|in reality|of course|now) \S.{0,40}(?:, "
    r"?| )not \S"
    r"|.{3,60} (?:with|has) (?:one|two|a single|a double|no|an?) [a-z]\b"
)
_SHOULD: Final = bag(
    "should supposed ought no nope not wrong backwards mixed round typo erratum correction edit with has"
)
_DENIALS: Final = bag(
    """no nope nah wrong incorrect correction actually sorry wait hold right not er outdated old stale date
    you hang said meant ignore mistake bad misunderstood correct"""
)
_MEANS: Final = bag("meant pronounced spelled spelt with")
_ACTUALLY: Final = bag("actually correct right real actual")
CUES: Final = _DENIALS | _SHOULD | _MEANS | _ACTUALLY | {"not"}
"""Without one of these no rule here finds anything."""


def righted(text: str, start: int, end: int, words: frozenset[str]) -> str | None:
    """Return the rule that finds a correction in a sentence.

    Args:
        text: The text.
        start: Where the sentence begins.
        end: Where it ends.
        words: Its words.
    """
    if not _DENIALS.isdisjoint(words):
        found = _WRONG.match(text, start, end)
        if found and _STATED.match(text, found.end(), end):
            return "righted"
    if not _SHOULD.isdisjoint(words) and _MENDED.match(text, start, end):
        return "mended"
    if not _MEANS.isdisjoint(words) and _MEANT.match(text, start, end):
        return "righted"
    if "not" in words and (_NOT.match(text, start, end) or _NOT_BUT.match(text, start, end)):
        return "not but"
    return "not but" if not _ACTUALLY.isdisjoint(words) and _ACTUAL.match(text, start, end) else None
