"""Reads: a question's verb and arguments -> its answer as JSON text, in whichever process it is answered."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from scrubjay.errors import InputError
from scrubjay.verbs import shape

if TYPE_CHECKING:
    from scrubjay.engine import Memory

Arguments = dict[str, Any]
OTHERWISE: Final = 300
"""Tokens of what is told of a person who asks about themselves and to whose question no memory is sure to belong."""
SHARES: Final = 5
"""A profile has a fifth of a context's budget where something is asked (recall/room.py)."""


def _search(memory: Memory, arguments: Arguments) -> Any:
    explain = bool(arguments.get("explain", False))
    return shape.answer(memory.search(arguments.pop("query"), **arguments), explain=explain)


def _thread(memory: Memory, arguments: Arguments) -> Any:
    return shape.thread(memory.thread(arguments.pop("query"), **arguments))


def _context(memory: Memory, arguments: Arguments) -> Any:
    return shape.plain(memory.context(arguments.pop("query", None), **arguments))


def _recall(memory: Memory, arguments: Arguments) -> Any:
    """``otherwise`` are parts that are told, more shortly, where nothing has to do with the question for sure.

    ``revisions`` are for `_unchanged`, as long as the text is kept.
    """
    from scrubjay.engine import as_stored, revisions

    standing, query = as_stored(memory), arguments.pop("query")
    otherwise = arguments.pop("otherwise", ())
    found = standing.context(query, **arguments)
    if not found.text and otherwise:
        less = {"parts": otherwise, "budget": min(arguments["budget"], OTHERWISE) * SHARES}
        found = standing.context(query, **(arguments | less))
    ids = [one.id for one in found.memories]
    return {"text": found.text, "memories": len(ids), "revisions": revisions(memory, ids)}


def _unchanged(memory: Memory, arguments: Arguments) -> Any:
    """Tell whether memories still say what they did: none was forgotten, changed or archived since."""
    from scrubjay.engine import revisions

    known = arguments["revisions"]
    return revisions(memory, list(known)) == known


def _get(memory: Memory, arguments: Arguments) -> Any:
    return shape.fetched(memory.get(arguments.pop("ids", ()), **arguments))


READS: Final[Mapping[str, Callable[[Memory, Arguments], Any]]] = {
    "search": _search,
    "thread": _thread,
    "context": _context,
    "recall": _recall,
    "unchanged": _unchanged,
    "get": _get,
}
"""Verb to what it does; the arguments are the facade's. ``recall`` is a context's text, without a look at files."""


def read(memory: Memory, verb: str, arguments: Mapping[str, Any]) -> bytes:
    """Return what a verb answers, as JSON in UTF-8.

    Raises:
        InputError: There is no such verb.
        ScrubjayError: As the facade says.
    """
    found = READS.get(verb)
    if found is None:
        raise InputError(f"There is no question {verb!r:.80}.", hint=f"one of {', '.join(READS)}")
    told = found(memory, dict(arguments))
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
