"""Wrapping: the text of an OpenClaw message -> the words of it, and who said them.

OpenClaw writes around a person's message what it knows of it: blocks of context under a marked heading, the
time, the id that the channel gave it. Written from openclaw/openclaw, src/auto-reply/reply at 03d0aef9fbe9
(strip-inbound-meta.ts, inbound-context-marker.ts), and for versions before mid-2026, which marked headings
with ``(untrusted metadata):``, from logs of theirs in public. The program's own requests are told by how they
begin. What looks like wrapping but stands amid a person's words is theirs and stays.
"""

from __future__ import annotations

import re

from scrubjay.ingest.sources.transcripts.format import Left

_TIME = re.compile(r"\[[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d[^\]\n]{0,40}\][ \t]*")
_HEADING = re.compile(
    r"[^\n]{1,120}(?:⟦openclaw:ctx⟧|\((?:untrusted|metadata)[^)\n]{0,80}\):)[ \t]*(?:\n|$)"
    r"|Untrusted context \(metadata[^)\n]{0,80}\):[ \t]*(?:\n|$)"
)
_FENCED = re.compile(r"```json\n.*?\n```[ \t]*(?:\n|$)", re.DOTALL)
_PARAGRAPH = re.compile(r"(?>(?:[^\S\n]*+\S[^\n]*+(?:\n|\Z))*)")
_EVENT = re.compile(r"System: \[[^\]\n]{1,40}\][^\n]*(?:\n|$)")
_BLANK = re.compile(r"\s*\n|\s+")
_MESSAGE_ID = re.compile(r"\n?^\[message_id: [^\]\n]{1,200}\][ \t]*$", re.MULTILINE)
_TRAILING = re.compile(
    r"\n(?:Context: ⟦openclaw:ctx⟧|Untrusted context \([^)\n]{0,80}\):)[ \t]*\n.*\Z", re.DOTALL
)
_TASK = re.compile(r"\[Subagent Task\]:?[ \t]*")
_RELAYED = re.compile(r"\[Inter-session message\][^\n]*\n(?:This content was routed by OpenClaw[^\n]*\n?)?")
_REPLY_TAG = re.compile(r"\[\[ ?reply_to(?:_current|:[^\]\n]{0,80}) ?\]\][ \t]*")
_REQUESTS = (
    ("Read HEARTBEAT.md", "heartbeat"),
    ("A new session was started via /new or /reset", "start of a session"),
    ("Pre-compaction memory flush", "memory flush"),
)
_SIGNS = frozenset({"HEARTBEAT_OK", "NO_REPLY"})


def asked(text: str) -> tuple[str, str] | Left:
    r"""Return a user's words and their origin, or what the program asked for in a user's place.

    >>> asked("[Wed 2026-03-11 23:51 PDT] hello")
    ('hello', 'owner')
    >>> asked("[Subagent Context] You are one.\n\n[Subagent Task]: count the tests")
    ('count the tests', 'agent')
    """
    origin = "owner"
    if relayed := _RELAYED.match(text):
        text, origin = text[relayed.end() :], "agent"
    text = _unwrapped(text)
    if text.startswith("[Subagent Context]"):
        task = _TASK.search(text)
        return (text[task.end() :], "agent") if task else Left("sub-agent's context")
    for beginning, kind in _REQUESTS:
        if text.startswith(beginning):
            return Left(kind)
    return text, origin


def answer(text: str) -> str | Left:
    """Return an assistant's words without the tags that say what they reply to.

    >>> answer("[[reply_to_current]] Done.")
    'Done.'
    """
    text = _REPLY_TAG.sub("", text)
    return Left(text.strip()) if text.strip() in _SIGNS else text


def _unwrapped(text: str) -> str:
    at = 0
    while found := _TIME.match(text, at) or _EVENT.match(text, at) or _HEADING.match(text, at):
        at = found.end()
        if found.re is _HEADING and (block := _FENCED.match(text, at) or _PARAGRAPH.match(text, at)):
            at = block.end()
        if blank := _BLANK.match(text, at):
            at = blank.end()
    text = _TRAILING.sub("", text[at:])
    return _MESSAGE_ID.sub("", text).strip("\n")
