"""Shape: a facade's value -> what JSON can say of it, the same from every surface.

It decides nothing about what is shown to people; the commands do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from scrubjay.memory.dates import date_of, moment

if TYPE_CHECKING:
    from scrubjay.errors import ScrubjayError
    from scrubjay.memory.answers import Answer
    from scrubjay.memory.records import Record
    from scrubjay.memory.reports import Fetched
    from scrubjay.memory.threads import Thread


EVIDENCE = ("id", "tier", "content", "date", "session", "role", "turn", "status")
"""What is told of a piece of evidence."""


def plain(value: Any) -> Any:
    """Return a frozen value as dicts, lists and scalars, its fields in their order."""
    if is_dataclass(value):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if hasattr(value, "items"):
        return {str(name): plain(item) for name, item in value.items()}
    return value


def answer(found: Answer, *, explain: bool = False) -> dict[str, Any]:
    """Return a search's answer; explanations and the plan's notes only when asked for."""
    results = []
    for result in found.results:
        shaped = plain(result)
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
            shaped["explanation"] = plain(result.explanation)
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


def thread(found: Thread) -> dict[str, Any]:
    """Return a thread: each memory as a search shows it, with its way, its gap and what replaced it."""
    knots = []
    for knot in found.knots:
        shaped = plain(knot.result)
        del shaped["explanation"]
        knots.append(
            shaped
            | {
                "found": knot.reached.found,
                "hops": knot.reached.hops,
                "seed": knot.reached.seed,
                "path": plain(knot.reached.path),
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


def read_answer(told: Mapping[str, Any]) -> Answer | None:
    """Return the answer that `plain` made this of; None where it is of another version."""
    from scrubjay.memory.answers import Answer, Explanation, Result, Turn
    from scrubjay.memory.ranking import Contribution, Factor

    try:
        results = []
        for one in told["results"]:
            why = one["explanation"]
            if why is not None:
                parts = tuple(Contribution(**part) for part in why["contributions"])
                factors = tuple(Factor(**factor) for factor in why["factors"])
                why = Explanation(parts, factors, why["words"], tuple(why["way"]))
            lists = {name: tuple(one[name]) for name in ("tags", "evidence", "statements", "copied", "newer")}
            turns = tuple(Turn(**turn) for turn in one["turns"])
            results.append(Result(**{**one, **lists, "turns": turns, "explanation": why}))
        lists = {name: tuple(told[name]) for name in ("partial", "notes")}
        return Answer(**{**told, **lists, "results": tuple(results)})
    except (KeyError, TypeError):
        return None


def record(kept: Record, path: str | None) -> dict[str, Any]:
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
        "citation": citation(kept, path),
        "date": date_of(kept),
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
        "valid_from": _moment(kept.valid_from),
        "valid_until": _moment(kept.valid_until),
        "recorded_at": _moment(kept.recorded_at),
    }


def citation(kept: Record, path: str | None) -> str:
    """Return ``path:first-last`` of a passage, the id of an addition."""
    if path is None or kept.place is None:
        return kept.id
    return f"{path}:{kept.place.line_start}-{kept.place.line_end}"


def fetched(found: Fetched) -> dict[str, Any]:
    """Return what `get` found."""
    memories = [record(kept, found.paths.get(kept.id)) for kept in found.records]
    for shaped in memories:
        if shaped["id"] in found.evidence:
            shaped["evidence"] = [
                {name: value for name, value in record(one, None).items() if name in EVIDENCE}
                | {"rule": rule}
                for one, rule in zip(found.evidence[shaped["id"]], found.rules[shaped["id"]], strict=True)
            ]
    return {"memories": memories, "unknown": list(found.unknown), "next_offset": found.next_offset}


def error(raised: ScrubjayError) -> dict[str, Any]:
    """Return an error with its hint and its exit code."""
    return {
        "error": {
            "type": type(raised).__name__,
            "message": str(raised),
            "hint": raised.hint,
            "exit_code": raised.exit_code,
        }
    }


def _moment(at: int | None) -> str | None:
    return None if at is None else moment(at).isoformat(timespec="seconds")
