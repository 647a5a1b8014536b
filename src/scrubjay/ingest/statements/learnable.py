"""Learnable: str -> what of a person's turn is worth a memory that nobody asked for.

Precision comes first: what is learned wrongly is taken for a rule. Kept is what the person marks ("remember", "from now
on", "always", "记住"), as the whole sentence that they wrote, and what `statements` finds, where it stands alone. What
holds for a day is left to the transcript.
"""

# ruff: noqa: E501, SIM905
from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from scrubjay.ingest.statements.kinds import kind
from scrubjay.ingest.statements.prose import prose
from scrubjay.ingest.statements.statements import LEAST, MOST, Statement, statements

_END: Final = re.compile(r"[.!?]+[\"'”’)\]]*(?=\s|$)|[。！？]|\n|$")
_SHORT: Final = frozenset(
    "st no nr dr prof mr mrs ms jr sr approx ca etc vs eg ie cf al fig inc ltd co dept ext tel max min vol ed gen rev hr fr "
    "bzw usw evtl ggf inkl exkl abt str tel geb mio mrd vgl sog ing dipl av bd mme mlle art pág sra".split()
)
"""Words that are written short with a full stop, which then ends no sentence."""
_ASKED: Final = re.compile(
    r"^\s*(?:and |but |also |please |bitte |ok,? |oh,? )*(?:remember|note|keep in mind|merk(?:e)? dir|notier(?:e)? dir|nicht vergessen|retiens|retenez|noter?"
    r"|recuerda|ten en cuenta|记住|请记住|记一下)(?![a-zà-ÿ])\s*(?:that|this|bitte|auch|dass|aussi|también|que|：|:|,|，)*\s*"
)
"""What asks outright that something be remembered."""
_MARKS: Final = re.compile(
    r"\b(?:from now on|going forward|from the next|for the record|please remember|as a rule|in general|generally|by default we|no more(?! than)|anymore|everywhere"
    r"|for everything|everything is|wichtig|merk dir|ab sofort|ab jetzt|künftig|generell|grundsätzlich|in zukunft|nur noch|ab (?:januar|februar|märz|april"
    r"|mai|juni|juli|august|september|oktober|november|dezember)|désormais|dorénavant|à partir de maintenant|retenez|retiens|a partir de ahora|recuerda"
    r"|en adelante)\b|记住|以后都|以后请|从现在起|今后|一律|都要|必须|不要再|就这样定"
)
_PLAIN: Final = re.compile(
    r"\W*(?:i prefer (?!this|that|the |it\b|these|those|one\b|option)|my name is (?!not\b)|(?:i|we) (?:have |just )?(?:moved|relocated) to "
    r"(?!this|that|the |it\b|[a-d]\b)|no,? we use (?!this|that|it\b))\S"
)
"""What a person says of themselves in so many words."""
_NORMS: Final = re.compile(
    r"(?:^|[,;:(]|\b(?:please|we|i|and|is|are|must|should|but|also|goes|bitte|ich|wir|man|immer|on|nous|je|siempre|then)\b)[^,;:.]{0,3}?\s*"
    r"\b(?:always|never|dont ever|don't ever|do not ever|immer|niemals|nie|toujours|jamais|siempre|nunca|总是|永远|从不)\b|\b(?:dont|don't) ever\b"
    r"|\b\w{4,} never on\b|\b\w+e (?:mails|externe)[^,.]* immer\b"
)
"""What states how something is always or never done."""
_NOT: Final = re.compile(
    r"[?？]\s*+$|^\W*+(?:(?:ok|okay|yes|sure|fine|yep|no)\W*+)?(?:always|never) (?:is|was|works?)\b|\b(?:always|never) (?:is|was) (?:fine|ok|okay|good)\b|\bnever ?mind\b|\bas always\b|\bas ever\b|\bremember (?:when|how|the time)\b|\bcan't remember\b|\bdon't remember\b|\bdo you\b"
    r"|\b(?:never|always) (?:got|had|saw|was|were|did|works?|worked|finish\w*|fail\w*|crash\w*|hang\w*|heard|seen|been|happen\w*|comes? back|returns?)\b|\balways (?:the|there|a|an|in|on|at)\b"
    r"|\b(?:is|are|be) (?:always|never) \w+(?:ed|ing)\b|\b(?:we|i|you) (?:always|never) (?:get|see|hit|have|end up)\b"
    r"|\bi (?:always|never) (?:forget|wonder|know|knew|thought)\b|\b(?:once|ever) more\b"
)
"""What only looks like a rule."""
_OPEN: Final = re.compile(
    r"^\W*(?:(?:and|but|so|ok|yes|no|oh|then|ja|nein|und|aber|also|et|mais|oui)\W+)*"
    r"(?:this|that|it|it's|that's|these|those|they|he|she|there|das|es|dies\w*|er|sie|ça|c'est|eso|esto|这|那|它)\b"
)
"""A subject that stands elsewhere."""
_TRANSIENT: Final = re.compile(
    r"\b(?:today|tomorrow|tonight|yesterday|(?<!is )(?<!are )now|now[.!]?$|right now|currently|at the moment|just|this (?:morning|week|afternoon|evening|time|one)|next (?:week|time)"
    r"|last (?:week|night|time)|(?:on|by|until) (?:mon|tues|wednes|thurs|fri|satur|sun)day|heute|morgen|gestern|gerade|aujourd'hui|demain|hier|hoy|mañana"
    r"|ayer|still|again|want(?:s|ed)? to|need to|going to|trying|looking|please|can you)\b|今天|明天|昨天|刚才|现在"
)
"""What holds for a day, and what is asked for now."""
_TAIL: Final = re.compile(r"(?>(?:[ \t]*+(?:[%‰€$£¥°]\w{0,3}+|\([^()\n]{1,80}\)|(?<=\. )\d[\w/-]{0,20}+))+)")
"""What is no word and belongs to what stands before it."""
_BEHIND: Final = re.compile(r"[ \t]*+(\S?)")
_LONGEST: Final = 200
"""Characters in which the word before a full stop is looked for."""
_WORDS: Final = 3
"""Words of a statement that stands alone; two characters of Chinese count for one."""
_SELF: Final = re.compile(r"^(?:i'm|i’m|i am|we're|we’re|ich bin|je suis|soy) ")
"""What says of oneself in two words what would take three: "I'm vegan"."""


def learnable(text: str) -> tuple[Statement, ...]:
    """Return what is learned from a person's turn, in order; the stretches do not overlap.

    >>> [one.text for one in learnable("Fix the build. From now on we squash every merge.")]
    ['From now on we squash every merge.']
    >>> learnable("ShipmentTimeline it is. This goes out on Tuesday.")
    ()
    """
    found = list(_marked(text))
    for one in statements(text):
        apart = all(one.end <= other.start or other.end <= one.start for other in found)
        said = one.text.lower()
        passing = _TRANSIENT.search(said) or _NOT.search(said)
        if apart and _alone(said) and not passing:
            whole = _whole(text, one)
            if _ended(text, whole.end):
                found.append(whole)
    return tuple(sorted(found, key=lambda one: one.start))


def _whole(text: str, one: Statement) -> Statement:
    """Return a statement with the unit, number or bracket that stands right behind it: "is 7" goes on with " %"."""
    behind = _TAIL.match(text, one.end)
    end = behind.end() if behind is not None else one.end
    return replace(one, end=end, text=" ".join(text[one.start : end].split()))


def _marked(text: str) -> Iterator[Statement]:
    """Yield the sentences that a person marks as worth keeping, as they wrote them."""
    plain = prose(text)
    for start, end in _sentences(text):
        said = plain[start:end]
        if not said.strip() or _NOT.search(said):
            continue
        asked, kinds = _ASKED.match(said), "preference"
        if asked:
            start += asked.end()
        elif not _alone(said):
            continue
        elif not (_MARKS.search(said) or _NORMS.search(said)):
            if not _PLAIN.match(said) or _TRANSIENT.search(said):
                continue
            kinds = kind(said.split())
        start += len(text[start:end]) - len(text[start:end].lstrip())
        kept = " ".join(text[start:end].split())
        if LEAST <= len(kept) <= MOST or (asked and 1 < len(kept) <= MOST):
            yield Statement(start, end, kinds, kept, "marked")


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence begins and ends; none ends at "St.", "e.g." or "3." with more behind it."""
    start = 0
    for found in _END.finditer(text):
        if found.end() > start and _ended(text, found.end()):
            yield start, found.end()
            start = found.end()


def _ended(text: str, at: int) -> bool:
    """Tell whether a sentence that is taken to end at a place of a text does end there."""
    if text[at : at + 1] == ".":
        at += 1
    if text[at - 1 : at] != ".":
        return True
    behind = _BEHIND.match(text, at)
    following = behind[1] if behind else ""
    words = text[max(0, at - _LONGEST) : at].split()
    word = words[-1].rstrip(".").lstrip("(\"'„“").rpartition("-")[2] if words else ""
    short = len(word) == 1 or word.isdigit() or "." in word or word.lower() in _SHORT
    return not following or not (short or following.islower())


def _alone(said: str) -> bool:
    """Tell whether it can be read by itself."""
    words = len(said.split()) + len(re.findall(r"[\u3040-\u30ff\u4e00-\u9fff]", said)) // 2
    return words + bool(_SELF.match(said)) >= _WORDS and not _OPEN.match(said)
