"""Serializers: results of `Memory` as JSON values, and as the compact fields and text that a model reads.

It decides nothing about what is shown to people; the commands do.

A model pays for every word it is shown, so fields that are empty or as usual are left out, and a memory's place is
its citation alone. Texts of memories stand between `memory.delimiters`: they are data, and never captured as new. Each
line of a text is a quotation, ``> ``, and what is known of it is one line before it: nothing that a memory, a title or
a file's name says looks like another memory. The fields are verbatim.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Final

from scrubjay.models.dates import record_date, to_datetime
from scrubjay.models.results import BLOCK_CLOSE, BLOCK_OPEN
from scrubjay.text.display import prefix_lines, single_line, strip_control

if TYPE_CHECKING:
    from scrubjay.errors import ScrubjayError
    from scrubjay.models.records import Record
    from scrubjay.models.reports import FetchReport
    from scrubjay.models.results import Answer, Context, PathStep, Result, Thread, ThreadEntry


EVIDENCE_FIELDS = ("id", "tier", "content", "date", "session", "role", "turn", "status")
"""What is told of a piece of evidence."""


def to_plain(value: Any) -> Any:
    """Return a frozen value as dicts, lists and scalars, its fields in their order."""
    if is_dataclass(value):
        return {item.name: to_plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    if hasattr(value, "items"):
        return {str(name): to_plain(item) for name, item in value.items()}
    return value


def answer_fields(found: Answer, *, explain: bool = False) -> dict[str, Any]:
    """Return a search's answer; explanations and the plan's notes only when asked for."""
    results = []
    for result in found.results:
        shaped = to_plain(result)
        del shaped["explanation"]
        for name in (
            "evidence",
            "statements",
            "copies",
            "copied",
            "valid_from",
            "valid_until",
            "turns",
            "newer",
        ):
            if not shaped[name]:
                del shaped[name]
        if explain and result.explanation is not None:
            shaped["explanation"] = to_plain(result.explanation)
            for part, given in zip(
                shaped["explanation"]["contributions"], result.explanation.contributions, strict=True
            ):
                part["amount"] = given.amount
        results.append(shaped)
    whole = {"results": results, "partial": list(found.partial), "took_ms": round(found.took_ms, 3)}
    whole["hidden_by_age"] = found.hidden
    whole["silence"] = found.silence
    whole |= {"as_of": found.as_of} if found.as_of is not None else {}
    return whole | {"notes": list(found.notes)} if explain else whole


def thread_fields(found: Thread) -> dict[str, Any]:
    """Return a thread: each memory as a search shows it, with its way, its gap and what replaced it."""
    knots = []
    for knot in found.knots:
        shaped = to_plain(knot.result)
        del shaped["explanation"]
        knots.append(
            shaped
            | {
                "found": knot.reached.found,
                "hops": knot.reached.hops,
                "seed": knot.reached.seed,
                "path": to_plain(knot.reached.path),
                "own": knot.reached.own,
                "carried": knot.reached.carried,
                "gap": knot.gap,
                "dated": knot.dated,
                "replaced_by": list(knot.replaced_by),
                "contradicts": list(knot.contradicts),
            }
        )
    partial, took = list(found.partial), round(found.took_ms, 3)
    return {
        "memories": knots,
        "left_out": found.left_out,
        "silence": found.silence,
        "partial": partial,
        "took_ms": took,
    }


def parse_answer(told: Mapping[str, Any]) -> Answer | None:
    """Return the answer that `to_plain` made this of; None where it is of another version."""
    from scrubjay.models.results import Answer, Contribution, Explanation, Factor, NearbyTurn, Result

    try:
        results = []
        for one in told["results"]:
            why = one["explanation"]
            if why is not None:
                parts = tuple(Contribution(**part) for part in why["contributions"])
                factors = tuple(Factor(**factor) for factor in why["factors"])
                why = Explanation(parts, factors, why["words"], tuple(why["way"]))
            lists = {name: tuple(one[name]) for name in ("tags", "evidence", "statements", "copied", "newer")}
            turns = tuple(NearbyTurn(**turn) for turn in one["turns"])
            results.append(Result(**{**one, **lists, "turns": turns, "explanation": why}))
        lists = {name: tuple(told[name]) for name in ("partial", "notes")}
        return Answer(**{**told, **lists, "results": tuple(results)})
    except (KeyError, TypeError):
        return None


def record_fields(kept: Record, path: str | None) -> dict[str, Any]:
    """Return a memory as `get` shows it: what it says, where it stands, when it was."""
    place = kept.place
    return {
        "id": kept.id,
        "tier": kept.tier,
        "title": kept.title,
        "content": kept.content,
        "path": path,
        "line_start": place.line_start if place else None,
        "line_end": place.line_end if place else None,
        "citation": record_citation(kept, path),
        "date": record_date(kept),
        "session": kept.session,
        "role": kept.role,
        "turn": kept.turn,
        "project": kept.project,
        "agent": kept.agent,
        "tags": list(kept.tags),
        "status": kept.status,
        "origin": kept.origin,
        "pinned": kept.pinned,
        "confidence": kept.confidence,
        "valid_from": _iso_time(kept.valid_from),
        "valid_until": _iso_time(kept.valid_until),
        "recorded_at": _iso_time(kept.recorded_at),
    }


def record_citation(kept: Record, path: str | None) -> str:
    """Return ``path:first-last`` of a passage, the id of an addition."""
    if path is None or kept.place is None:
        return kept.id
    return f"{path}:{kept.place.line_start}-{kept.place.line_end}"


def fetched_fields(found: FetchReport) -> dict[str, Any]:
    """Return what `get` found."""
    memories = [record_fields(kept, found.paths.get(kept.id)) for kept in found.records]
    for shaped in memories:
        if shaped["id"] in found.evidence:
            shaped["evidence"] = [
                {name: value for name, value in record_fields(one, None).items() if name in EVIDENCE_FIELDS}
                | {"rule": rule}
                for one, rule in zip(found.evidence[shaped["id"]], found.rules[shaped["id"]], strict=True)
            ]
    return {"memories": memories, "unknown": list(found.unknown), "next_offset": found.next_offset}


def error_fields(raised: ScrubjayError) -> dict[str, Any]:
    """Return an error with its hint and its exit code."""
    return {
        "error": {
            "type": type(raised).__name__,
            "message": str(raised),
            "hint": raised.hint,
            "exit_code": raised.exit_code,
        }
    }


def _iso_time(at: int | None) -> str | None:
    return None if at is None else to_datetime(at).isoformat(timespec="seconds")


DEFAULT_VALUES: Final[Mapping[str, Any]] = {
    "status": "active",
    "origin": "owner",
    "confidence": 1.0,
    "pinned": False,
}
"""What is told only where it is something else."""
CITED_FIELDS: Final = frozenset({"path", "line_start", "line_end", "explanation"})
"""Fields of a result that its citation says already, or that explain."""
QUOTE_PREFIX: Final = "> "
"""Before each line of a memory's text."""
_DELIMITER_LIKE: Final = re.compile(r"[<\ufe64\uff1c](?=[\s/]*scrubjay-memories)", re.IGNORECASE)


def compact_result(result: Result) -> dict[str, Any]:
    """Return one result of a search."""
    shaped = drop_defaults(
        {name: value for name, value in to_plain(result).items() if name not in CITED_FIELDS}
    )
    shaped["score"] = round(result.score, 3)
    return shaped


def compact_answer(given: Answer) -> dict[str, Any]:
    """Return a search's answer."""
    whole: dict[str, Any] = {"results": [compact_result(each) for each in given.results]}
    said = {"partial": list(given.partial), "hidden_by_age": given.hidden, "silence": given.silence}
    return whole | drop_defaults(said | {"as_of": given.as_of})


def compact_fetched(given: FetchReport) -> dict[str, Any]:
    """Return what `get` found."""
    whole = fetched_fields(given)
    memories = [
        drop_defaults({name: value for name, value in each.items() if name not in CITED_FIELDS})
        for each in whole.pop("memories")
    ]
    return {"memories": memories} | drop_defaults(whole)


def compact_thread(given: Thread) -> dict[str, Any]:
    """Return a thread: each memory as a search's result, with the way to it in words."""
    whole: dict[str, Any] = {"memories": [_compact_entry(each) for each in given.knots]}
    return whole | drop_defaults(
        {"left_out": given.left_out, "silence": given.silence, "partial": list(given.partial)}
    )


def _compact_entry(knot: ThreadEntry) -> dict[str, Any]:
    way = " > ".join(_step_text(step) for step in knot.reached.path)
    more = {
        "way": f"{knot.reached.seed} > {way}" if way and not knot.reached.found else "",
        "gap": knot.gap,
        "replaced_by": list(knot.replaced_by),
        "contradicts": list(knot.contradicts),
    }
    return compact_result(knot.result) | drop_defaults(more)


def _step_text(step: PathStep) -> str:
    return f"{'' if step.direction == 'to' else 'from '}{step.kind} {step.name or step.id}"


def compact_context(given: Context) -> dict[str, Any]:
    """Return a context: its text, what it holds and what it had no room for."""
    ids = [each.id for each in given.memories]
    whole: dict[str, Any] = {"text": given.text, "tokens": given.tokens, "ids": ids}
    said = {"left_out": len(given.left_out), "silence": given.silence, "partial": list(given.partial)}
    return whole | drop_defaults(said)


def drop_defaults(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields without those that are empty, zero or as usual.

    >>> drop_defaults({"id": "obs_1", "status": "active", "tags": [], "line": 0, "date": None})
    {'id': 'obs_1'}
    """
    return {
        name: value
        for name, value in fields.items()
        if value not in (None, "", [], {}, (), 0)
        and not (name in DEFAULT_VALUES and value == DEFAULT_VALUES[name])
    }


def results_text(said: Mapping[str, Any]) -> str:
    """Return a search's answer as text."""
    return _list_text(said["results"], "snippet") + _notes_text(said)


def memories_text(said: Mapping[str, Any]) -> str:
    """Return what `get` found as text."""
    more = f"\nMore from offset {said['next_offset']}." if "next_offset" in said else ""
    unknown = f"\nUnknown: {single_line(', '.join(said['unknown']))}." if "unknown" in said else ""
    return _list_text(said["memories"], "content") + unknown + more


def thread_text(said: Mapping[str, Any]) -> str:
    """Return a thread as text."""
    left = f"\n{said['left_out']} more were come to." if "left_out" in said else ""
    return _list_text(said["memories"], "snippet") + left + _notes_text(said)


def context_text(said: Mapping[str, Any]) -> str:
    """Return a context as text; it is delimited already."""
    return (strip_control(said["text"]) or "Nothing is remembered that belongs here.") + _notes_text(said)


def changes_text(said: Mapping[str, Any]) -> str:
    """Return what a write did as text: each field that says something.

    >>> changes_text({"ids": ["obs_1"], "unknown": [], "still": ["a.md:1-2"]})
    'ids: obs_1; still: a.md:1-2'
    """
    return "; ".join(
        f"{name}: {single_line(_value_text(value))}"
        for name, value in said.items()
        if value not in (None, [], {}, "")
    )


def error_text(said: Mapping[str, Any]) -> str:
    """Return an error as text."""
    error = said["error"]
    return f"error: {single_line(error['message'])}" + (
        f"\nhint: {single_line(error['hint'])}" if error["hint"] else ""
    )


def quote_text(text: str) -> str:
    r"""Return text between the delimiters, which nothing in it can end.

    >>> quote_text("a </scrubjay-memories> b")
    '<scrubjay-memories>\na &lt;/scrubjay-memories> b\n</scrubjay-memories>'
    """
    return f"{BLOCK_OPEN}\n{_DELIMITER_LIKE.sub('&lt;', text)}\n{BLOCK_CLOSE}"


def _list_text(memories: Sequence[Mapping[str, Any]], body: str) -> str:
    if not memories:
        return "Nothing was found."
    return quote_text("\n\n".join(_entry_text(each, body) for each in memories))


def _entry_text(memory: Mapping[str, Any], body: str) -> str:
    marks = [memory["id"], memory.get("date", ""), memory.get("citation", ""), memory.get("title", "")]
    marks += [memory[name] for name in ("gap", "status", "origin", "role") if name in memory]
    marks += [f"by {memory['way']}"] if "way" in memory else []
    marks += [f"replaced by {', '.join(memory['replaced_by'])}"] if "replaced_by" in memory else []
    kept = dict.fromkeys(single_line(str(mark)).replace("|", "¦") for mark in marks if mark)
    return f"[{' | '.join(kept)}]\n{prefix_lines(str(memory.get(body, '')).strip(), QUOTE_PREFIX)}"


def _notes_text(said: Mapping[str, Any]) -> str:
    return "".join(f"\npartial: {single_line(each)}" for each in said.get("partial", ()))


def _value_text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in value.items())
    return str(value).lower() if isinstance(value, bool) else str(value)
