"""Gemini words: the content of a Gemini message (`gemini`) -> what was said in it.

``PartListUnion`` of the package @google/genai: text, a part, or an array of both.
"""

from __future__ import annotations

import re

from scrubjay.ingest.sources.transcripts.fields import said, string, table
from scrubjay.ingest.sources.transcripts.format import Left
from scrubjay.ingest.sources.transcripts.tags import without

SPEAKERS = {"user": ("user", "owner"), "gemini": ("assistant", "agent"), "model": ("assistant", "agent")}
"""Type of a message, or role of a content -> role and origin of its turn."""

_NOISE = (
    "thought", "functionCall", "functionResponse", "executableCode", "codeExecutionResult", "fileData",
    "inlineData", "videoMetadata", "toolCall", "toolResponse",
)  # fmt: skip
_GIVEN = frozenset({"hook_context", "session_context", "state_snapshot"})
# The program's own commands. "/etc/hosts is empty" has a second slash in its first word, and is a person's.
_COMMAND = re.compile(r"\s*[/?][\w:.-]*(?:\s.*)?\Z", re.DOTALL)
# What versions before session_context opened every conversation with.
_OPENING = "This is the Gemini CLI. We are setting up the context for our chat."


def words(content: object, user: bool, left: list[Left]) -> str:
    """Return what a message says, blank if nothing; ``left`` gets what was left out of it.

    >>> left = []
    >>> words([{"text": "Done."}, {"functionCall": {"name": "ls"}}], False, left), left
    ('Done.', [Left(kind='functionCall', unknown=False)])
    """
    text = said(_parts(content, left))
    if not user or not text:
        return text
    if text.startswith(_OPENING):
        left.append(Left("session_context"))
        return ""
    kept = without(text, _GIVEN)
    if kept != text:
        left.append(Left("context"))
    if _COMMAND.match(kept):
        left.append(Left("command"))
        return ""
    return kept.strip("\n")


def _parts(content: object, left: list[Left]) -> list[str]:
    texts = []
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            texts.append(part)
            continue
        fields = table(part)
        noise = next((name for name in _NOISE if fields.get(name)), None)
        if noise:
            left.append(Left(noise))
        elif "text" in fields:
            texts.append(string(fields["text"]))
        elif fields:
            left.append(Left(f"part {next(iter(fields))}", unknown=True))
    return texts
