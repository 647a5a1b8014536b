"""Viewer pages: search, timeline and one memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Response

from scrubjay.api.auth import Principal
from scrubjay.errors import InputError, NotFoundError, ScrubjayError
from scrubjay.frozen import frozen
from scrubjay.memory import Memory
from scrubjay.models.dates import format_event, local_day, parse_when, record_date
from scrubjay.models.records import NEVER_INJECT, STATUSES, TIERS, Record
from scrubjay.models.results import Answer, Explanation, count_strong, record_citation
from scrubjay.models.views import MemoryView, TimelinePage
from scrubjay.search.browse import unknown_id
from scrubjay.server.requests import Access, ReadAccess, WriteAccess, http_status
from scrubjay.server.viewer.markdown import plain_text, render_text, split_front_matter
from scrubjay.server.viewer.page import (
    FormFields,
    PageNumber,
    PageRoute,
    group_conversations,
    highlight,
    iso_time,
    local_path,
    memory_row,
    memory_rows,
    page_of,
    redirect,
    render_page,
    url_with_query,
    without_headings,
)
from scrubjay.services.curation import edit_refusal, split_passage

router = APIRouter(include_in_schema=False, route_class=PageRoute)

PAGE_SIZE: Final = 10
MAX_RESULTS: Final = 100
Texts = Annotated[list[str] | None, Query()]


@frozen
class ScorePart:
    """One row of a score's explanation; ``bar`` is its bar's length, 0 to 100."""

    name: str
    amount: float
    bar: float
    how: str


@router.get("/")
async def search(
    access: ReadAccess,
    query: str = "",
    tier: Texts = None,
    tag: str = "",
    project: str = "",
    path: str = "",
    since: str = "",
    until: str = "",
    status: Texts = None,
    by: str = "memory",
    weak: str = "",
    show: str = "",
) -> Response:
    parameters = {
        "query": query,
        "tier": [value for value in tier or () if value],  # a form without scripts also sends empty fields
        "tag": tag,
        "project": project,
        "path": path,
        "since": since,
        "until": until,
        "status": [value for value in status or () if value],
        "by": "" if by == "memory" else by,
        "weak": "yes" if weak == "yes" else "",
    }
    limit = int(show) if show.isdecimal() and len(show) < 4 else PAGE_SIZE
    limit = max(PAGE_SIZE, min(MAX_RESULTS, limit))
    values: dict[str, Any] = {
        "given": parameters,
        "narrowed": any(
            value and (name, value) != ("status", ["active"])  # the default, which the form sends, too
            for name, value in parameters.items()
            if name not in ("query", "by", "weak")
        ),
        "limit": limit,
        "tiers": TIERS,
        "statuses": STATUSES,
        "step": PAGE_SIZE,
        "answer": None,
        "latest": None,
        "error": None,
        "strong": [],
        "weak": [],
    }
    code = 200
    try:
        if query.strip():
            values |= await _search_results(access, parameters, limit)
        else:
            values |= await _latest(access, parameters, narrowed=bool(values["narrowed"]))
    except InputError as error:
        values["error"], code = error, 422
    return render_page(access.request, "search", code, **values)


NEW_DAYS: Final = 7
MAX_NEW: Final = 30
"""Memories of the last days that the start page reads; turns of one conversation are shown together."""


async def _latest(access: Access, parameters: Mapping[str, Any], *, narrowed: bool) -> dict[str, Any]:
    """Return the memories that match the filters, without any those of the last days, else the latest."""
    filters = _filters(parameters)
    if narrowed:
        page = await access.read(lambda memory: memory.timeline(limit=PAGE_SIZE, **filters))
        return {"latest": memory_rows(page), "fresh": False, "hidden": False, "more_new": page.more}
    since = (datetime.now(UTC) - timedelta(days=NEW_DAYS)).date().isoformat()

    def read(memory: Memory) -> tuple[TimelinePage, bool, bool]:
        new = memory.timeline(limit=MAX_NEW, since=since)
        page = new if new.memories else memory.timeline(limit=MAX_NEW)
        hidden = not page.memories and bool(memory.timeline(limit=1, statuses=STATUSES).memories)
        return page, bool(new.memories), hidden

    page, fresh, hidden = await access.read(read)
    entries = group_conversations(memory_rows(page))
    return {
        "latest": entries[:PAGE_SIZE],
        "fresh": fresh,
        "hidden": hidden,
        "more_new": page.more or len(entries) > PAGE_SIZE,
    }


async def _search_results(access: Access, parameters: Mapping[str, Any], limit: int) -> dict[str, Any]:
    query, by = parameters["query"], parameters["by"] or "memory"
    # One more than is shown tells whether there is more.
    options = {**_filters(parameters), "limit": limit + 1, "explain": True, "by": by}
    if parameters["weak"]:
        options["min_relevance"] = 0.0
    answer: Answer = await access.read(lambda memory: memory.search(query, **options))
    results = []
    for result in (answer.results or answer.nearest)[:limit]:
        snippet = split_front_matter(result.snippet)[1]
        snippet = plain_text(without_headings(snippet) if result.title else snippet)
        words = result.explanation.words if result.explanation is not None else {}
        results.append((result, highlight(snippet, query, words), score_parts(result.explanation)))
    sessions = [result.session for result, *_ in results if by == "session" and result.session]
    openings = await access.read(lambda memory: _openings(memory, sessions)) if sessions else {}
    more = len(answer.results) > limit
    # What repeats a query word for word has no relevance and is strong.
    strong = count_strong(result.relevance for result, *_ in results)
    return {
        "answer": answer,
        "openings": openings,
        "strong": results[:strong],
        "weak": results[strong:],
        "more": more and limit < MAX_RESULTS,
        "at_most": more and limit >= MAX_RESULTS,
    }


def _openings(memory: Memory, sessions: Sequence[str]) -> dict[str, str]:
    """Return the first words of conversations; one whose memories have no turns has none."""
    openings = {}
    for session in sessions:
        with suppress(NotFoundError):
            openings[session] = memory.conversation(session, limit=1).conversation.opening
    return openings


def _filters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    tags, projects = (
        [part.strip() for part in parameters[name].split(",") if part.strip()] for name in ("tag", "project")
    )
    return {
        "tiers": parameters["tier"],
        "tags": tags,
        "projects": projects,
        "path": parameters["path"],
        "since": parameters["since"] or None,
        "until": parameters["until"] or None,
        "statuses": parameters["status"] if parameters["status"] != ["active"] else [],  # the form's default
    }


def score_parts(explanation: Explanation | None) -> list[ScorePart]:
    if explanation is None:
        return []
    contributions = sorted(explanation.contributions, key=lambda part: -abs(part.amount))
    largest = (abs(contributions[0].amount) if contributions else 0.0) or 1.0
    return [
        ScorePart(
            part.channel,
            part.amount,
            100 * abs(part.amount) / largest,
            f"{part.value:.3f} × weight {part.weight:.3f}; raw {part.raw:.3f}",
        )
        for part in contributions
    ]


TIMELINE_PAGE_SIZE: Final = 40


@router.get("/timeline")
async def timeline(
    access: ReadAccess,
    until: str = "",
    since: str = "",
    tier: str = "",
    status: str = "",
    tag: str = "",
    project: str = "",
    category: str = "",
    number: PageNumber = 1,
) -> Response:
    parameters = {
        "until": until, "since": since, "tier": tier, "status": status, "tag": tag, "project": project,
        "category": category,
    }  # fmt: skip
    values: dict[str, Any] = {"given": parameters, "number": number, "tiers": TIERS, "statuses": STATUSES}
    lists = {"tiers": tier, "tags": tag, "projects": project, "categories": category}
    options: dict[str, Any] = {name: [value] for name, value in lists.items() if value}
    options |= {"until": until or None, "since": since or None, "statuses": [status or "active"]}
    options |= {"limit": TIMELINE_PAGE_SIZE, "skip": (number - 1) * TIMELINE_PAGE_SIZE}
    try:
        page = await access.read(lambda memory: memory.timeline(**options))
    except InputError as error:
        return render_page(access.request, "timeline", 422, days=[], more=False, error=error, **values)
    days = [
        (day, group_conversations(list(rows)))
        for day, rows in groupby(memory_rows(page), key=lambda row: local_day(row.date))
    ]
    return render_page(access.request, "timeline", days=days, more=page.more, error=None, **values)


MAX_EVENTS: Final = 30
NEIGHBOURS: Final = 2


@router.get("/memories/{name}")
async def memory(
    access: ReadAccess,
    name: str,
    said: str = "",
    source: str = "",
    number: PageNumber = 1,
) -> Response:
    view = await access.read(lambda memory: memory.look(name, neighbours=NEIGHBOURS))
    record = view.memory
    # Line ends of an addition or a turn were typed; those of a file may only wrap.
    breaks = record.place is None or record.role is not None
    text = None
    if source != "yes":
        text = await asyncio.to_thread(render_text, record.content, title=record.title, breaks=breaks)
    return render_page(
        access.request,
        "memory",
        look=view,
        text=text,
        one=record,
        date=record_date(record) or "",
        where=record_citation(record, view.path),
        around=[memory_row(neighbour, view.path) for neighbour in view.around],
        said=said,
        **page_of(tuple(reversed(view.history.events)), number, MAX_EVENTS),
    )


@router.post("/memories/{name}/feedback")
async def feedback(access: WriteAccess, fields: FormFields, name: str) -> Response:
    verdict = fields.get("verdict", "")
    report = await access.write(lambda memory: memory.feedback(name, verdict))
    back = _redirect_back(report.ids + report.unchanged, name, verdict)
    then = fields.get("then", "")
    return redirect(local_path(then)) if then else back


@router.post("/memories/{name}/archive")
async def archive(access: WriteAccess, name: str) -> Response:
    report = await access.write(lambda memory: memory.archive(name))
    return _redirect_back(report.ids + report.unchanged, name, "archived")


@router.post("/memories/{name}/restore")
async def restore(access: WriteAccess, name: str) -> Response:
    report = await access.write(lambda memory: memory.restore(name))
    return _redirect_back(report.ids + report.unchanged, name, "restored")


@router.get("/memories/{name}/forget")
async def confirm_forget(access: WriteAccess, name: str) -> Response:
    view = await access.read(lambda memory: memory.look(name, neighbours=NEIGHBOURS))
    where = record_citation(view.memory, view.path) if view.path is not None else ""
    return render_page(
        access.request,
        "forget",
        look=view,
        one=view.memory,
        row=memory_row(view.memory, view.path),
        where=where,
    )


@router.post("/memories/{name}/forget")
async def forget(access: WriteAccess, fields: FormFields, name: str) -> Response:
    if fields.get("sure", "") != "yes":
        raise InputError("Not confirmed. Nothing was forgotten.", hint="tick the box first")
    report = await access.write(lambda memory: memory.forget(name))
    if not report.ids:
        raise unknown_id(name)
    return render_page(access.request, "forgotten", done=report)


def _redirect_back(ids: tuple[str, ...], name: str, message: str) -> Response:
    if not ids:
        raise unknown_id(name)
    return redirect(url_with_query(f"/memories/{ids[0]}", {"said": message}))


PASSAGE_FIELDS: Final = ("confidence", "valid_from", "valid_until")
"""Fields of a passage that can be edited here, besides its text; the others come from its file."""


@router.get("/memories/{name}/edit")
async def edit_form(access: WriteAccess, name: str) -> Response:
    view = await access.read(lambda memory: memory.look(name, neighbours=0))
    return _render_form(access, view, _form_values(view.memory), None)


@router.post("/memories/{name}/edit")
async def edit(access: WriteAccess, fields: FormFields, name: str) -> Response:
    view = await access.read(lambda memory: memory.look(name, neighbours=0))
    values = {field: _normalize_newlines(fields.get(field, "")) for field in _form_values(view.memory)}
    try:
        id = await access.write(_change(access.who, view, values, fields.get("was", "")))
    except ScrubjayError as error:
        public = access.session.public_error(error, access.who)
        return _render_form(access, view, {**values, "was": fields.get("was", "")}, public)
    return redirect(url_with_query(f"/memories/{id}", {"said": "edited"}))


def _render_form(
    access: Access, view: MemoryView, values: dict[str, str], error: ScrubjayError | None
) -> Response:
    record = view.memory
    reason = edit_refusal(record, access.who.user) if record.place is not None else ""
    if record.place is not None and not reason and "admin" not in access.who.scopes:
        reason = "changing files of the server needs the `admin` scope"
    return render_page(
        access.request,
        "edit",
        200 if error is None else http_status(error),
        look=view,
        one=record,
        where=record_citation(record, view.path),
        values={"was": record.content_hash, **values},
        reason=reason,
        head=split_passage(record).head.strip(),
        error=error,
    )


def _form_values(record: Record) -> dict[str, str]:
    return {
        "content": _normalize_newlines(
            split_passage(record).body if record.place is not None else record.content
        ),
        "title": record.title,
        "tags": ", ".join(tag for tag in record.tags if tag != NEVER_INJECT),
        "date": "" if record.event is None else format_event(record.event, record.recorded_at),
        "pinned": "yes" if record.pinned else "",
        "confidence": f"{record.confidence:g}",
        "valid_from": iso_time(record.valid_from),
        "valid_until": iso_time(record.valid_until),
    }


def _change(who: Principal, view: MemoryView, values: dict[str, str], was: str) -> Callable[[Memory], str]:
    """Return a function that writes the fields that differ from the memory as shown."""
    record = view.memory
    original = _form_values(record)
    edits = {name: value for name, value in values.items() if value != original[name]}
    passage = record.place is not None
    text = edits.pop("content", None) if passage else None
    if text is not None:
        who.need("admin")
    if passage and (refused := [name for name in edits if name not in PASSAGE_FIELDS]):
        raise InputError(
            f"{' and '.join(refused)} of a passage come from its file. Nothing was written.",
            hint=f"edit {record_citation(record, view.path)}, then scrubjay sync",
        )
    updates = {name: _parse_field(name, value) for name, value in edits.items()}
    if "tags" in updates:  # a tag that holds a comma stays whole
        whole = [tag for tag in record.tags if set(_split_tags(tag)) <= set(updates["tags"])]
        parts = set(_split_tags(", ".join(whole)))
        updates["tags"] = whole + [tag for tag in updates["tags"] if tag not in parts]

    def change(memory: Memory) -> str:
        if memory.look(record.id, neighbours=0).memory.content_hash != was:
            raise InputError(
                f"{record.id} was changed since you opened it. Nothing was written.",
                hint="your text is below; open the memory in another window and compare",
            )
        id = record.id if text is None else memory.rewrite(record.id, text, was=was).id
        try:
            if updates:
                memory.update(id, **updates)
        except ScrubjayError as error:
            if text is None:
                raise
            message = str(error).replace("Nothing was written.", "Only the text was saved.")
            raise InputError(message, hint=error.hint) from error
        return id

    return change


def _parse_field(name: str, value: str) -> Any:
    if name == "tags":
        return _split_tags(value)
    if name == "pinned":
        return value == "yes"
    if name == "confidence":
        with suppress(ValueError):
            if 0.0 <= (confidence := float(value)) <= 1.0:
                return confidence
        raise InputError(f"Confidence is {value!r:.40}; it must be between 0 and 1. Nothing was written.")
    if name in ("date", "valid_from", "valid_until"):
        day = value.strip() or None
        parse_when(day)
        return day
    return value


def _split_tags(text: str) -> list[str]:
    return [tag.strip() for tag in text.split(",") if tag.strip()]


def _normalize_newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
