"""Viewer pages: show, edit, rate, archive and forget one memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from fastapi import APIRouter, Request, Response

from scrubjay.api.auth import Principal
from scrubjay.api.serializers import record_citation
from scrubjay.errors import InputError, NotFoundError, ScrubjayError
from scrubjay.memory import Memory
from scrubjay.models.dates import format_event, record_date
from scrubjay.models.records import Record
from scrubjay.models.views import MemoryView
from scrubjay.server.requests import ReadPrincipal, SessionDep, WritePrincipal, http_status
from scrubjay.server.viewer.page import (
    FormFields,
    PageNumber,
    PageRoute,
    first_value,
    iso_time,
    memory_row,
    page_of,
    redirect,
    render_page,
    url_with_query,
)
from scrubjay.services.passages import edit_refusal, split_passage

router = APIRouter(include_in_schema=False, route_class=PageRoute)

MAX_EVENTS: Final = 30
NEIGHBOURS: Final = 2


@router.get("/memories/{name}")
async def memory(
    request: Request,
    who: ReadPrincipal,
    session: SessionDep,
    name: str,
    said: str = "",
    number: PageNumber = 1,
) -> Response:
    found = await session.read(who, lambda memory: memory.look(name, neighbours=NEIGHBOURS))
    record = found.memory
    return render_page(
        request,
        "memory",
        look=found,
        one=record,
        date=record_date(record) or "",
        where=record_citation(record, found.path),
        around=[memory_row(each, found.path) for each in found.around],
        said=said,
        **page_of(tuple(reversed(found.history.events)), number, MAX_EVENTS),
    )


@router.post("/memories/{name}/feedback")
async def feedback(who: WritePrincipal, session: SessionDep, fields: FormFields, name: str) -> Response:
    verdict = first_value(fields, "verdict")
    done = await session.write(who, lambda memory: memory.feedback(name, verdict))
    return _redirect_back(done.ids, name, verdict)


@router.post("/memories/{name}/archive")
async def archive(who: WritePrincipal, session: SessionDep, name: str) -> Response:
    done = await session.write(who, lambda memory: memory.archive(name))
    return _redirect_back(done.ids + done.unchanged, name, "archived")


@router.post("/memories/{name}/restore")
async def restore(who: WritePrincipal, session: SessionDep, name: str) -> Response:
    done = await session.write(who, lambda memory: memory.restore(name))
    return _redirect_back(done.ids + done.unchanged, name, "restored")


@router.get("/memories/{name}/forget")
async def confirm_forget(request: Request, who: WritePrincipal, session: SessionDep, name: str) -> Response:
    found = await session.read(who, lambda memory: memory.look(name, neighbours=NEIGHBOURS))
    where = record_citation(found.memory, found.path) if found.path is not None else ""
    return render_page(
        request, "forget", look=found, one=found.memory, row=memory_row(found.memory, found.path), where=where
    )


@router.post("/memories/{name}/forget")
async def forget(
    request: Request, who: WritePrincipal, session: SessionDep, fields: FormFields, name: str
) -> Response:
    if first_value(fields, "sure") != "yes":
        raise InputError("Not confirmed. Nothing was forgotten.", hint="tick the box first")
    done = await session.write(who, lambda memory: memory.forget(name))
    if not done.ids:
        raise NotFoundError(f"There is no memory {name!r:.80}. Nothing was forgotten.")
    return render_page(request, "forgotten", done=done)


def _redirect_back(ids: tuple[str, ...], name: str, message: str) -> Response:
    if not ids:
        raise NotFoundError(f"There is no memory {name!r:.80}. Nothing was done.")
    return redirect(url_with_query(f"/memories/{ids[0]}", {"said": message}))


PASSAGE_FIELDS: Final = ("confidence", "valid_from", "valid_until")
"""Fields of a passage that can be edited here, besides its text; the others come from its file."""


@router.get("/memories/{name}/edit")
async def edit_form(request: Request, who: WritePrincipal, session: SessionDep, name: str) -> Response:
    found = await session.read(who, lambda memory: memory.look(name, neighbours=0))
    return _render_form(request, who, found, _form_values(found.memory), None)


@router.post("/memories/{name}/edit")
async def edit(
    request: Request, who: WritePrincipal, session: SessionDep, fields: FormFields, name: str
) -> Response:
    found = await session.read(who, lambda memory: memory.look(name, neighbours=0))
    values = {field: _normalize_newlines(first_value(fields, field)) for field in _form_values(found.memory)}
    try:
        id = await session.write(who, _change(who, found, values, first_value(fields, "was")))
    except ScrubjayError as error:
        return _render_form(request, who, found, {**values, "was": first_value(fields, "was")}, error)
    return redirect(url_with_query(f"/memories/{id}", {"said": "edited"}))


def _render_form(
    request: Request, who: Principal, found: MemoryView, values: dict[str, str], error: ScrubjayError | None
) -> Response:
    record = found.memory
    reason = edit_refusal(record, who.user) if record.place is not None else ""
    if record.place is not None and not reason and "admin" not in who.scopes:
        reason = "changing files of the server needs the `admin` scope"
    return render_page(
        request,
        "edit",
        200 if error is None else http_status(error),
        look=found,
        one=record,
        where=record_citation(record, found.path),
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
        "tags": ", ".join(record.tags),
        "date": "" if record.event is None else format_event(record.event, record.recorded_at),
        "pinned": "yes" if record.pinned else "",
        "confidence": f"{record.confidence:g}",
        "valid_from": iso_time(record.valid_from),
        "valid_until": iso_time(record.valid_until),
    }


def _change(who: Principal, found: MemoryView, values: dict[str, str], was: str) -> Callable[[Memory], str]:
    """Return a function that writes the fields that differ from the memory as shown."""
    record = found.memory
    shown = _form_values(record)
    edits = {name: value for name, value in values.items() if value != shown[name]}
    passage = record.place is not None
    text = edits.pop("content", None) if passage else None
    if text is not None:
        who.need("admin")
    if passage and (wrong := [name for name in edits if name not in PASSAGE_FIELDS]):
        raise InputError(
            f"{' and '.join(wrong)} of a passage come from its file. Nothing was written.",
            hint=f"edit {record_citation(record, found.path)}, then scrubjay sync",
        )
    updates = {name: _parse_field(name, value) for name, value in edits.items()}

    def change(memory: Memory) -> str:
        if memory.look(record.id, neighbours=0).memory.content_hash != was:
            raise InputError(
                f"{record.id} was changed since you opened it. Nothing was written.",
                hint="your text is below; open the memory in another window and compare",
            )
        if updates:
            memory.update(record.id, **updates)
        return record.id if text is None else memory.rewrite(record.id, text, was=was).id

    return change


def _parse_field(name: str, value: str) -> Any:
    if name == "tags":
        return [each.strip() for each in value.split(",") if each.strip()]
    if name == "pinned":
        return value == "yes"
    if name == "confidence":
        try:
            return float(value)
        except ValueError as error:
            raise InputError(
                f"Confidence is {value!r:.40}; it must be between 0 and 1. Nothing was written."
            ) from error
    if name in ("date", "valid_from", "valid_until"):
        return value.strip() or None
    return value


def _normalize_newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
