"""Searching: a question and filters -> the first page: what answers it, where each stands, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response

from scrubjay.engine import Memory
from scrubjay.errors import InputError
from scrubjay.memory.answers import Answer, Explanation
from scrubjay.memory.looks import Stretch
from scrubjay.memory.tiers import STATUSES, TIERS
from scrubjay.surfaces.serve.asked import Reader
from scrubjay.surfaces.viewer.marks import Pieces, marked
from scrubjay.surfaces.viewer.page import Page, Working, page
from scrubjay.surfaces.viewer.rows import body, rows

router = APIRouter(include_in_schema=False, route_class=Page)

AT_ONCE: Final = 10
MOST: Final = 100
"""Results that can be had by asking for more: who has read so far asks another question."""
BY: Final = ("memory", "session")
Texts = Annotated[list[str] | None, Query()]


@dataclass(frozen=True, slots=True)
class Part:
    """One row of why a result stands where it stands: its name, what it adds, and how far its bar reaches, 0..100."""

    name: str
    amount: float
    bar: float
    how: str


@router.get("/")
async def search(
    request: Request,
    who: Reader,
    session: Working,
    query: str = "",
    tier: Texts = None,
    tag: str = "",
    project: str = "",
    path: str = "",
    since: str = "",
    until: str = "",
    status: Texts = None,
    by: str = "memory",
    show: str = "",
) -> Response:
    """Show the search, with what answers where something was asked, else with what was remembered last."""
    given = {"query": query, "tier": _chosen(tier), "tag": tag, "project": project, "path": path}
    given |= {"since": since, "until": until, "status": _chosen(status), "by": "" if by == "memory" else by}
    narrowed = any(value for name, value in given.items() if name not in ("query", "by"))
    limit = max(AT_ONCE, min(MOST, int(show) if show.isdecimal() and len(show) < 4 else AT_ONCE))
    shown: dict[str, Any] = {"given": given, "narrowed": narrowed, "limit": limit, "most": MOST}
    shown |= {"tiers": TIERS, "statuses": STATUSES, "step": AT_ONCE, "answer": None, "latest": None}
    shown |= {"error": None, "results": []}
    code = 200
    try:
        if query.strip():
            shown |= await _asked(session, who, given, limit)
        else:
            last = await session.do(who, lambda memory: _latest(memory, given))
            shown["latest"] = rows(last)
    except InputError as error:
        shown["error"], code = error, 422
    return page(request, "search", code, **shown)


async def _asked(session: Working, who: Reader, given: Mapping[str, Any], limit: int) -> dict[str, Any]:
    by = given["by"] or "memory"
    # One more than is shown says whether there is more.
    ask = {**_filters(given), "limit": limit + 1, "explain": True, "by": by}
    answer: Answer = await session.do(who, lambda memory: memory.search(given["query"], **ask))
    found = answer.results[:limit]
    return {
        "answer": answer,
        "results": [
            (
                one,
                _marked(body(one.snippet) if one.title else one.snippet, given, one.explanation),
                why(one.explanation),
            )
            for one in found
        ],
        "more": len(answer.results) > limit and limit < MOST,
        "at_most": len(answer.results) > limit and limit >= MOST,
    }


def _chosen(values: list[str] | None) -> list[str]:
    """Return what was chosen; a form without scripts also sends fields that are empty."""
    return [each for each in values or () if each]


def _latest(memory: Memory, given: Mapping[str, Any]) -> Stretch:
    return memory.timeline(limit=AT_ONCE, **_filters(given))


def _filters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the filters as the facade calls them."""
    split = {
        name: [each.strip() for each in given[name].split(",") if each.strip()] for name in ("tag", "project")
    }
    return {
        "tiers": given["tier"],
        "tags": split["tag"],
        "projects": split["project"],
        "path": given["path"],
        "since": given["since"] or None,
        "until": given["until"] or None,
        "statuses": given["status"] or ["active"],
    }


def _marked(snippet: str, given: Mapping[str, Any], explanation: Explanation | None) -> Pieces:
    gave = explanation.words if explanation is not None else {}
    return marked(snippet, given["query"], gave)


def why(explanation: Explanation | None) -> list[Part]:
    """Return every part of a score as rows: what each channel and each trait added, then what multiplied it."""
    if explanation is None:
        return []
    widest = max((abs(part.amount) for part in explanation.contributions), default=0.0) or 1.0
    found = [
        Part(
            part.channel,
            part.amount,
            100 * abs(part.amount) / widest,
            f"{part.value:.3f} × weight {part.weight:.3f}; raw {part.raw:.3f}",
        )
        for part in sorted(explanation.contributions, key=lambda part: -abs(part.amount))
    ]
    return found
