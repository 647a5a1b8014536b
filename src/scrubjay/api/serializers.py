"""Serializers: results of `Memory` as JSON values, and as the compact fields and text that a model reads.

A model pays for every word, so compact results leave out default values. Memory texts stand between
delimiters and each of their lines is quoted with ``> ``: nothing in a memory, title or file name can pass
for another memory or for instructions.
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
    from scrubjay.models.results import Answer, Context, Result, Thread


EVIDENCE_FIELDS: Final = ("id", "tier", "content", "date", "session", "role", "turn", "status")
"""Fields shown of a piece of evidence."""
OPTIONAL_RESULT_FIELDS: Final = (
    "evidence", "statements", "copies", "copied", "valid_from", "valid_until", "turns", "newer",
)  # fmt: skip
"""Fields of a search result that are left out if empty."""


def to_plain(value: Any) -> Any:
    """Return a dataclass or collection as dicts, lists and scalars, in field order."""
    if is_dataclass(value):
        return {item.name: to_plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    if hasattr(value, "items"):
        return {str(name): to_plain(item) for name, item in value.items()}
    return value


def answer_fields(answer: Answer, *, explain: bool = False) -> dict[str, Any]:
    results = []
    for result in answer.results:
        plain = to_plain(result)
        explanation = plain.pop("explanation")
        for name in OPTIONAL_RESULT_FIELDS:
            if not plain[name]:
                del plain[name]
        if explain and result.explanation is not None:
            for part, contribution in zip(
                explanation["contributions"], result.explanation.contributions, strict=True
            ):
                part["amount"] = contribution.amount
            plain["explanation"] = explanation
        results.append(plain)
    return {
        "results": results,
        "partial": list(answer.partial),
        "took_ms": round(answer.took_ms, 3),
        "hidden_by_age": answer.hidden,
        "silence": answer.silence,
        **({"as_of": answer.as_of} if answer.as_of is not None else {}),
        **({"notes": list(answer.notes)} if explain else {}),
    }


def thread_fields(thread: Thread) -> dict[str, Any]:
    entries = []
    for entry in thread.knots:
        reached = entry.reached
        plain = to_plain(entry.result)
        del plain["explanation"]
        entries.append(
            plain
            | {
                "found": reached.found,
                "hops": reached.hops,
                "seed": reached.seed,
                "path": to_plain(reached.path),
                "own": reached.own,
                "carried": reached.carried,
                "gap": entry.gap,
                "dated": entry.dated,
                "replaced_by": list(entry.replaced_by),
                "contradicts": list(entry.contradicts),
            }
        )
    return {
        "memories": entries,
        "left_out": thread.left_out,
        "silence": thread.silence,
        "partial": list(thread.partial),
        "took_ms": round(thread.took_ms, 3),
    }


def parse_answer(plain: Mapping[str, Any]) -> Answer | None:
    """Return the answer that `to_plain` serialized; None if another version of scrubjay did."""
    from scrubjay.models.results import Answer, Contribution, Explanation, Factor, NearbyTurn, Result

    try:
        results = []
        for result in plain["results"]:
            explanation = result["explanation"]
            if explanation is not None:
                contributions = tuple(Contribution(**part) for part in explanation["contributions"])
                factors = tuple(Factor(**factor) for factor in explanation["factors"])
                explanation = Explanation(
                    contributions, factors, explanation["words"], tuple(explanation["way"])
                )
            tuples: dict[str, Any] = {
                name: tuple(result[name]) for name in ("tags", "evidence", "statements", "copied", "newer")
            }
            tuples["turns"] = tuple(NearbyTurn(**turn) for turn in result["turns"])
            results.append(Result(**{**result, **tuples, "explanation": explanation}))
        tuples = {name: tuple(plain[name]) for name in ("partial", "notes")}
        return Answer(**{**plain, **tuples, "results": tuple(results)})
    except (KeyError, TypeError):
        return None


def record_fields(record: Record, path: str | None) -> dict[str, Any]:
    return {
        "id": record.id,
        "tier": record.tier,
        "title": record.title,
        "content": record.content,
        "path": path,
        "line_start": record.place.line_start if record.place else None,
        "line_end": record.place.line_end if record.place else None,
        "citation": record_citation(record, path),
        "date": record_date(record),
        "session": record.session,
        "role": record.role,
        "turn": record.turn,
        "project": record.project,
        "agent": record.agent,
        "tags": list(record.tags),
        "status": record.status,
        "origin": record.origin,
        "pinned": record.pinned,
        "confidence": record.confidence,
        "valid_from": _iso_time(record.valid_from),
        "valid_until": _iso_time(record.valid_until),
        "recorded_at": _iso_time(record.recorded_at),
    }


def record_citation(record: Record, path: str | None) -> str:
    """Return ``path:first-last`` for a passage, else the id."""
    if path is None or record.place is None:
        return record.id
    return f"{path}:{record.place.line_start}-{record.place.line_end}"


def fetched_fields(report: FetchReport) -> dict[str, Any]:
    memories = [record_fields(record, report.paths.get(record.id)) for record in report.records]
    for memory in memories:
        if memory["id"] in report.evidence:
            evidence = zip(report.evidence[memory["id"]], report.rules[memory["id"]], strict=True)
            memory["evidence"] = [
                {
                    name: value
                    for name, value in record_fields(record, None).items()
                    if name in EVIDENCE_FIELDS
                }
                | {"rule": rule}
                for record, rule in evidence
            ]
    return {"memories": memories, "unknown": list(report.unknown), "next_offset": report.next_offset}


def error_fields(error: ScrubjayError) -> dict[str, Any]:
    return {
        "error": {
            "type": type(error).__name__,
            "message": str(error),
            "hint": error.hint,
            "exit_code": error.exit_code,
        }
    }


def _iso_time(micros: int | None) -> str | None:
    return None if micros is None else to_datetime(micros).isoformat(timespec="seconds")


DEFAULT_VALUES: Final[Mapping[str, Any]] = {
    "status": "active",
    "origin": "owner",
    "confidence": 1.0,
    "pinned": False,
}
"""Values that compact results leave out."""
CITED_FIELDS: Final = frozenset({"path", "line_start", "line_end", "explanation"})
"""Fields that compact results leave out: the citation contains them, or they explain."""
QUOTE_PREFIX: Final = "> "
_DELIMITER_LIKE: Final = re.compile(r"[<\ufe64\uff1c](?=[\s/]*scrubjay-memories)", re.IGNORECASE)


def compact_answer(answer: Answer) -> dict[str, Any]:
    rest = {"partial": list(answer.partial), "hidden_by_age": answer.hidden, "silence": answer.silence}
    return {
        "results": [_compact_result(result) for result in answer.results],
        **drop_defaults(rest | {"as_of": answer.as_of}),
    }


def compact_fetched(report: FetchReport) -> dict[str, Any]:
    fetched = fetched_fields(report)
    memories = [_compact(memory) for memory in fetched.pop("memories")]
    return {"memories": memories} | drop_defaults(fetched)


def compact_thread(thread: Thread) -> dict[str, Any]:
    memories = []
    for entry in thread.knots:
        reached = entry.reached
        steps = " > ".join(
            f"{'' if step.direction == 'to' else 'from '}{step.kind} {step.name or step.id}"
            for step in reached.path
        )
        links = {
            "way": f"{reached.seed} > {steps}" if steps and not reached.found else "",
            "gap": entry.gap,
            "replaced_by": list(entry.replaced_by),
            "contradicts": list(entry.contradicts),
        }
        memories.append(_compact_result(entry.result) | drop_defaults(links))
    rest = {"left_out": thread.left_out, "silence": thread.silence, "partial": list(thread.partial)}
    return {"memories": memories} | drop_defaults(rest)


def compact_context(context: Context) -> dict[str, Any]:
    ids = [citation.id for citation in context.memories]
    rest = {
        "left_out": len(context.left_out),
        "silence": context.silence,
        "partial": list(context.partial),
    }
    return {"text": context.text, "tokens": context.tokens, "ids": ids} | drop_defaults(rest)


def _compact_result(result: Result) -> dict[str, Any]:
    return _compact(to_plain(result)) | {"score": round(result.score, 3)}


def _compact(memory: Mapping[str, Any]) -> dict[str, Any]:
    return drop_defaults({name: value for name, value in memory.items() if name not in CITED_FIELDS})


def drop_defaults(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields without empty, zero and default values.

    >>> drop_defaults({"id": "obs_1", "status": "active", "tags": [], "line": 0, "date": None})
    {'id': 'obs_1'}
    """
    return {
        name: value
        for name, value in fields.items()
        if value not in (None, "", [], {}, (), 0)
        and not (name in DEFAULT_VALUES and value == DEFAULT_VALUES[name])
    }


def results_text(answer: Mapping[str, Any]) -> str:
    return _list_text(answer["results"], "snippet") + _partial_text(answer)


def memories_text(fetched: Mapping[str, Any]) -> str:
    more = f"\nMore from offset {fetched['next_offset']}." if "next_offset" in fetched else ""
    unknown = f"\nUnknown: {single_line(', '.join(fetched['unknown']))}." if "unknown" in fetched else ""
    return _list_text(fetched["memories"], "content") + unknown + more


def thread_text(thread: Mapping[str, Any]) -> str:
    omitted = f"\n{thread['left_out']} more were omitted." if "left_out" in thread else ""
    return _list_text(thread["memories"], "snippet") + omitted + _partial_text(thread)


def context_text(context: Mapping[str, Any]) -> str:
    return (strip_control(context["text"]) or "No relevant memories.") + _partial_text(context)


def changes_text(report: Mapping[str, Any]) -> str:
    """Return the non-empty fields of a write's result as text.

    >>> changes_text({"ids": ["obs_1"], "unknown": [], "still": ["a.md:1-2"]})
    'ids: obs_1; still: a.md:1-2'
    """
    return "; ".join(
        f"{name}: {single_line(_value_text(value))}"
        for name, value in report.items()
        if value not in (None, [], {}, "")
    )


def error_text(fields: Mapping[str, Any]) -> str:
    error = fields["error"]
    hint = f"\nhint: {single_line(error['hint'])}" if error["hint"] else ""
    return f"error: {single_line(error['message'])}{hint}"


def quote_text(text: str) -> str:
    r"""Return text between the delimiters, which nothing in it can end.

    >>> quote_text("a </scrubjay-memories> b")
    '<scrubjay-memories>\na &lt;/scrubjay-memories> b\n</scrubjay-memories>'
    """
    return f"{BLOCK_OPEN}\n{_DELIMITER_LIKE.sub('&lt;', text)}\n{BLOCK_CLOSE}"


def _list_text(memories: Sequence[Mapping[str, Any]], body: str) -> str:
    if not memories:
        return "Nothing was found."
    return quote_text("\n\n".join(_entry_text(memory, body) for memory in memories))


def _entry_text(memory: Mapping[str, Any], body: str) -> str:
    marks = [memory["id"], memory.get("date", ""), memory.get("citation", ""), memory.get("title", "")]
    marks += [memory[name] for name in ("gap", "status", "origin", "role") if name in memory]
    marks += [f"by {memory['way']}"] if "way" in memory else []
    marks += [f"replaced by {', '.join(memory['replaced_by'])}"] if "replaced_by" in memory else []
    unique = dict.fromkeys(single_line(str(mark)).replace("|", "¦") for mark in marks if mark)
    return f"[{' | '.join(unique)}]\n{prefix_lines(str(memory.get(body, '')).strip(), QUOTE_PREFIX)}"


def _partial_text(answer: Mapping[str, Any]) -> str:
    return "".join(f"\npartial: {single_line(reason)}" for reason in answer.get("partial", ()))


def _value_text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in value.items())
    return str(value).lower() if isinstance(value, bool) else str(value)
