"""Brief: what a verb answered -> the little that a model needs of it, as fields and as a short text.

A model pays for every word it is shown, so fields that are empty or as usual are left out, and a memory's place is
its citation alone. Texts of memories stand between `memory.delimiters`: they are data, and never captured as new. Each
line of a text is a quotation, ``> ``, and what is known of it is one line before it: nothing that a memory, a title or
a file's name says looks like another memory. The fields are verbatim.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from scrubjay.memory.delimiters import CLOSE, OPEN
from scrubjay.text.display import clean, line, prefixed
from scrubjay.verbs import shape

if TYPE_CHECKING:
    from scrubjay.memory.answers import Answer, Result
    from scrubjay.memory.contexts import Context
    from scrubjay.memory.reports import Fetched
    from scrubjay.memory.threads import Knot, Step, Thread

USUAL: Final[Mapping[str, Any]] = {
    "status": "active",
    "origin": "owner",
    "confidence": 1.0,
    "pinned": False,
}
"""What is told only where it is something else."""
PLACED: Final = frozenset({"path", "line_start", "line_end", "explanation"})
"""Fields of a result that its citation says already, or that explain."""
QUOTE: Final = "> "
"""Before each line of a memory's text."""
_MARKS: Final = re.compile(r"[<\ufe64\uff1c](?=[\s/]*scrubjay-memories)", re.IGNORECASE)


def found(result: Result) -> dict[str, Any]:
    """Return one result of a search."""
    shaped = lean({name: value for name, value in shape.plain(result).items() if name not in PLACED})
    shaped["score"] = round(result.score, 3)
    return shaped


def answer(given: Answer) -> dict[str, Any]:
    """Return a search's answer."""
    whole: dict[str, Any] = {"results": [found(each) for each in given.results]}
    said = {"partial": list(given.partial), "hidden_by_age": given.hidden, "silence": given.silence}
    return whole | lean(said | {"as_of": given.as_of})


def fetched(given: Fetched) -> dict[str, Any]:
    """Return what `get` found."""
    whole = shape.fetched(given)
    memories = [
        lean({name: value for name, value in each.items() if name not in PLACED})
        for each in whole.pop("memories")
    ]
    return {"memories": memories} | lean(whole)


def thread(given: Thread) -> dict[str, Any]:
    """Return a thread: each memory as a search's result, with the way to it in words."""
    whole: dict[str, Any] = {"memories": [_knot(each) for each in given.knots]}
    return whole | lean(
        {"left_out": given.left_out, "silence": given.silence, "partial": list(given.partial)}
    )


def _knot(knot: Knot) -> dict[str, Any]:
    way = " > ".join(_step(step) for step in knot.reached.path)
    more = {
        "way": f"{knot.reached.seed} > {way}" if way and not knot.reached.found else "",
        "gap": knot.gap,
        "replaced_by": list(knot.replaced_by),
        "contradicts": list(knot.contradicts),
    }
    return found(knot.result) | lean(more)


def _step(step: Step) -> str:
    return f"{'' if step.direction == 'to' else 'from '}{step.kind} {step.name or step.id}"


def context(given: Context) -> dict[str, Any]:
    """Return a context: its text, what it holds and what it had no room for."""
    ids = [each.id for each in given.memories]
    whole: dict[str, Any] = {"text": given.text, "tokens": given.tokens, "ids": ids}
    said = {"left_out": len(given.left_out), "silence": given.silence, "partial": list(given.partial)}
    return whole | lean(said)


def lean(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields without those that are empty, zero or as usual.

    >>> lean({"id": "obs_1", "status": "active", "tags": [], "line": 0, "date": None})
    {'id': 'obs_1'}
    """
    return {
        name: value
        for name, value in fields.items()
        if value not in (None, "", [], {}, (), 0) and not (name in USUAL and value == USUAL[name])
    }


def told_results(said: Mapping[str, Any]) -> str:
    """Return a search's answer as text."""
    return _listed(said["results"], "snippet") + _notes(said)


def told_memories(said: Mapping[str, Any]) -> str:
    """Return what `get` found as text."""
    more = f"\nMore from offset {said['next_offset']}." if "next_offset" in said else ""
    unknown = f"\nUnknown: {line(', '.join(said['unknown']))}." if "unknown" in said else ""
    return _listed(said["memories"], "content") + unknown + more


def told_thread(said: Mapping[str, Any]) -> str:
    """Return a thread as text."""
    left = f"\n{said['left_out']} more were come to." if "left_out" in said else ""
    return _listed(said["memories"], "snippet") + left + _notes(said)


def told_context(said: Mapping[str, Any]) -> str:
    """Return a context as text; it is delimited already."""
    return (clean(said["text"]) or "Nothing is remembered that belongs here.") + _notes(said)


def told_changes(said: Mapping[str, Any]) -> str:
    """Return what a write did as text: each field that says something.

    >>> told_changes({"ids": ["obs_1"], "unknown": [], "still": ["a.md:1-2"]})
    'ids: obs_1; still: a.md:1-2'
    """
    return "; ".join(
        f"{name}: {line(_value(value))}" for name, value in said.items() if value not in (None, [], {}, "")
    )


def told_error(said: Mapping[str, Any]) -> str:
    """Return an error as text."""
    error = said["error"]
    return f"error: {line(error['message'])}" + (f"\nhint: {line(error['hint'])}" if error["hint"] else "")


def quoted(text: str) -> str:
    r"""Return text between the delimiters, which nothing in it can end.

    >>> quoted("a </scrubjay-memories> b")
    '<scrubjay-memories>\na &lt;/scrubjay-memories> b\n</scrubjay-memories>'
    """
    return f"{OPEN}\n{_MARKS.sub('&lt;', text)}\n{CLOSE}"


def _listed(memories: Sequence[Mapping[str, Any]], body: str) -> str:
    if not memories:
        return "Nothing was found."
    return quoted("\n\n".join(_entry(each, body) for each in memories))


def _entry(memory: Mapping[str, Any], body: str) -> str:
    marks = [memory["id"], memory.get("date", ""), memory.get("citation", ""), memory.get("title", "")]
    marks += [memory[name] for name in ("gap", "status", "origin", "role") if name in memory]
    marks += [f"by {memory['way']}"] if "way" in memory else []
    marks += [f"replaced by {', '.join(memory['replaced_by'])}"] if "replaced_by" in memory else []
    kept = dict.fromkeys(line(str(mark)).replace("|", "¦") for mark in marks if mark)
    return f"[{' | '.join(kept)}]\n{prefixed(str(memory.get(body, '')).strip(), QUOTE)}"


def _notes(said: Mapping[str, Any]) -> str:
    return "".join(f"\npartial: {line(each)}" for each in said.get("partial", ()))


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in value.items())
    return str(value).lower() if isinstance(value, bool) else str(value)
