"""Prose: str -> str of the same length: what its writer says themselves, in small letters with plain marks.

What others wrote or a machine printed is blanked: code, logs, tracebacks, quoted lines and mails, chats, tables,
long quotations, and the text that an order brings along ("translate this: ..."). Offsets stay those of the turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

READ: Final = 8_000
"""Characters read: nobody says a thousand words at once; what is longer was pasted."""
QUOTED: Final = 4
"""Words from which a quotation is a sentence of somebody and no name."""
SPEAKERS: Final = 2
"""Lines by the same speaker that make a chat."""

_MARKS: Final = {ord(a): b for a, b in zip("’‘ʼ“”„«»—–…\u00a0\t", '\'\'\'"""""--. \t', strict=True)}
_MACHINE = re.compile(
    r"[ ]*(?:"
    r"[>|}{<]|[$%] |@[\w.]+(?:\(.*)?$|\+\+\+|---? [ab]/|@@|//|/\*|\*/|#!|\#include|=>|&&"
    r"|\[?\d{4}[-/]\d\d[-/]\d\d[ t,]+\d\d?:\d\d|\[?\d\d?:\d\d:\d\d|[a-z]{3} +\d{1,2} \d\d:\d\d:\d\d"
    r"|\[?(?:info|warn|warning|error|debug|trace|fatal|critical|notice)(?:\]|:| {2,}|\[| - )"
    r"|[^\s@]++@(?:\S++ [^ ]*+|(?=[^\s:~]++[:~])\S++)(?<=[$#]) |npm (?:err|warn)"
    r"|at [\w.$<>]+\(|file \"|caused by:|\.\.\. \d+ more"
    r"|(?:def|class|async def|func|fn|function|import|const|let|var|return|public|private|static|export|"
    r"package)"
    r" [^.?!]*[({;:=][^.?!]*$|from [\w.]+ import |select .{1,200} from .*[;*]|\"[\w -]+\" ?:|"
    r"[\w.]+ ?[=:]=? ?[\[{(\"'].*$"
    r"|</?\w|.{0,300}[{};]$)"
)
_TRACE = re.compile(r"[ ]*(?:traceback \(most recent|exception in thread|panic: |goroutine \d)")
_TRACE_END = re.compile(r"[\w.]*(?:error|exception|interrupt|exit|warning)\b")
_HEADER = re.compile(r"(?:from|to|subject|sent|date|cc|betreff|von|an|de|para|objet): ?\S")
_REST = re.compile(
    r"(?:on|am|le|el) .{4,120}(?:wrote|schrieb .{1,60}|a écrit|escribió) ?:$"
    r"|-{2,} ?(?:original|forwarded|begin)|begin forwarded|forwarded message"
)
_SPEAKER = re.compile(
    r"(?:\[?\d\d?:\d\d(?: ?[ap]m)?\]? ?-? ?)?<?([a-z][\w.-]{0,20}(?: [a-z][\w.-]{0,20})?)>?(?:"
    r" \(\d[^)\n]{0,20}\))?: "
)
_SALUTE = re.compile(
    r"(?:dear|hi|hello|hey|good (?:morning|afternoon|evening)) (?!there\b|all of\b)[\w. ]{1,30}[,:!.]?$"
)
_SIGNED = re.compile(
    r"(?:(?:best|kind|warm|many)? ?(?:regards|wishes|thanks)|best|cheers|sincerely|yours|love|thanks|thank you)"
    r"(?: \w+){0,2}[,.!]?$"
)
_QUOTATION = re.compile(r"\"[^\"\n]{1,2000}\"")
_TICKS = re.compile(r"`[^`\n]{1,400}`")
_MATERIAL = re.compile(
    r"\b(?:summari[sz]e|translate|rewrite|proof-?read|rephrase|paraphrase|edit|fix|correct|improve|shorten|"
    r"polish"
    r"|review|explain|analy[sz]e|classify|extract|convert|format|reword|grade|critique|tl;?dr|continue|simplify"
    r"|clean up|turn|make|mean|means|say|write|draft|reply|respond|answer|complete|finish|label|rate|count|"
    r"find|check"
    r"|(?:here'?s?|this|below|following|attached)(?: is| are)?(?: what)?(?: the| my| a| an| our| his| her|"
    r" their)?"
    r"(?: [\w-]+){0,2} (?:e?-?mails?|text|draft|essay|letter|logs?|messages?|paragraph|article|abstract|intro|"
    r"bio|post"
    r"|reviews?|transcript|chat|code|output|error|trace|story|poem|lyrics|prompt|wrote|says?|said|got|passage|"
    r"notes|quote))"
    r"\b[^\n.?!:]{0,120}:(?:\s+|$)(?=[^\n]|\n+\S)"
)
_LETTERS = re.compile(r"[^\W\d_]")


def prose(text: str) -> str:
    r"""Return what a person says themselves in a turn, blanks for the rest, offsets as they were.

    >>> prose('> I am Bob\nI’m Ann')
    "          \ni'm ann"
    """
    plain = _small(text[:READ])
    if "\n" in plain:
        plain = _without_lines(plain)
    elif _MACHINE.match(plain):
        return _blank(plain)
    if ":" in plain:
        found = _MATERIAL.search(plain)
        if found:
            plain = plain[: found.end()] + _blank(plain[found.end() :])
    if '"' in plain:
        plain = _QUOTATION.sub(_quotation, plain)
    return _TICKS.sub(_ticked, plain) if "`" in plain else plain


def _small(text: str) -> str:
    if not text.isascii():
        text = text.translate(_MARKS)
    small = text.lower()
    if len(small) != len(text):  # the Turkish dotted I becomes two
        small = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    return small.replace("\t", " ").replace("\r", " ")


def _without_lines(text: str) -> str:
    lines = text.split("\n")
    speakers = [found[1] if (found := _SPEAKER.match(line)) else "" for line in lines]
    chat = (
        {name for name in speakers if name and speakers.count(name) >= SPEAKERS} if any(speakers) else set()
    )
    kept = []
    for line, speaker, foreign in zip(lines, speakers, _foreign(lines), strict=True):
        kept.append(_blank(line) if foreign or (chat and speaker) else line)
    return "\n".join(kept)


def _foreign(lines: list[str]) -> Iterator[bool]:
    """Tell of each line whether its writer did not say it here."""
    fence, state, rest = "", "", False
    letter = _letter(lines)
    for number, line in enumerate(lines):
        bare = line.strip()
        if rest or number in letter:
            yield True
        elif fence:
            fence = "" if bare.startswith(fence) else fence
            yield True
        elif bare[:3] in ("```", "~~~"):
            fence = bare[:3]
            yield True
        elif state:
            if not bare or (line[:1] != " " and _TRACE_END.match(line)):
                state = ""
            yield True
        elif _TRACE.match(line):
            state = "trace"
            yield True
        elif _REST.match(bare) or (
            _HEADER.match(bare) and number + 1 < len(lines) and _HEADER.match(lines[number + 1])
        ):
            rest = True
            yield True
        else:
            yield _MACHINE.match(line) is not None or (
                line.startswith("    ") and not bare.startswith(("-", "*"))
            )


def _letter(lines: list[str]) -> range:
    """Return the lines of a pasted letter: from its greeting, unless the turn begins with it, to its end."""
    for last in range(len(lines) - 1, 0, -1):
        if _SIGNED.match(lines[last].strip()):
            for first in range(last):
                if _SALUTE.match(lines[first].strip()) and (first or last + 1 < len(lines)):
                    return range(first, min(last + 2, len(lines)))
    return range(0)


def _blank(text: str) -> str:
    return "".join("\n" if c == "\n" else " " for c in text) if "\n" in text else " " * len(text)


def _quotation(found: re.Match[str]) -> str:
    words = found[0]
    return words if words.count(" ") + 1 < QUOTED else _LETTERS.sub("_", words)


def _ticked(found: re.Match[str]) -> str:
    return re.sub(r"[.?!;,:]", "_", found[0])
