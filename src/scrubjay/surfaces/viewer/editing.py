"""Editing: a form -> a memory as a person says it is; a file's passage is written into its file, or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from fastapi import APIRouter, Request, Response

from scrubjay.engine import Memory
from scrubjay.errors import InputError, ScrubjayError
from scrubjay.memory.dates import shown
from scrubjay.memory.looks import Look
from scrubjay.memory.records import Record
from scrubjay.surfaces.serve.asked import Writer
from scrubjay.surfaces.serve.problems import status
from scrubjay.surfaces.viewer.page import Fields, Page, Working, first, page, query, seen
from scrubjay.surfaces.viewer.words import at
from scrubjay.verbs.shape import citation
from scrubjay.verbs.tokens import Principal
from scrubjay.wiring.passage import kept_from, parts

router = APIRouter(include_in_schema=False, route_class=Page)

OF_PASSAGES: Final = ("confidence", "valid_from", "valid_until")
"""What can be said of a passage besides its text: the rest is said by its file."""


@router.get("/memories/{name}/edit")
async def form(request: Request, who: Writer, session: Working, name: str) -> Response:
    """Show the form with the memory as it is."""
    found = await session.do(who, lambda memory: memory.look(name, neighbours=0))
    return _form(request, who, found, _values(found.memory), None)


@router.post("/memories/{name}/edit")
async def edit(request: Request, who: Writer, session: Working, fields: Fields, name: str) -> Response:
    """Change what the form says otherwise; where that cannot be, show the form again with what was typed."""
    found: Look = await session.do(who, lambda memory: memory.look(name, neighbours=0))
    given = {each: _plain(first(fields, each)) for each in _values(found.memory)}
    try:
        into = await session.do(who, _change(who, found, given, first(fields, "was")), writes=True)
    except ScrubjayError as error:
        return _form(request, who, found, {**given, "was": first(fields, "was")}, error)
    return seen(query(f"/memories/{into}", {"said": "edited"}))


def _form(
    request: Request, who: Principal, found: Look, values: dict[str, str], error: ScrubjayError | None
) -> Response:
    record = found.memory
    reason = kept_from(record, who.user) if record.place is not None else ""
    if record.place is not None and not reason and "admin" not in who.scopes:
        reason = "the token may not write files of the server; that takes admin"
    return page(
        request,
        "edit",
        200 if error is None else status(error),
        look=found,
        one=record,
        where=citation(record, found.path),
        values={"was": record.content_hash, **values},
        reason=reason,
        head=parts(record).head.strip(),
        error=error,
    )


def _values(record: Record) -> dict[str, str]:
    """Return a memory as a form shows it."""
    return {
        "content": _plain(parts(record).body if record.place is not None else record.content),
        "title": record.title,
        "tags": ", ".join(record.tags),
        "date": "" if record.event is None else shown(record.event, record.recorded_at),
        "pinned": "yes" if record.pinned else "",
        "confidence": f"{record.confidence:g}",
        "valid_from": at(record.valid_from),
        "valid_until": at(record.valid_until),
    }


def _change(who: Principal, found: Look, given: dict[str, str], was: str) -> Callable[[Memory], str]:
    """Return what changes a memory, from what a form says otherwise than it showed."""
    record = found.memory
    fresh = {name: value for name, value in given.items() if value != _values(record)[name]}
    passage = record.place is not None
    if passage and "content" in fresh:
        who.need("admin")
    wrong = [name for name in fresh if passage and name not in (*OF_PASSAGES, "content")]
    if wrong:
        raise InputError(
            f"{' and '.join(wrong)} of a passage are its file's. Nothing was written.",
            hint=f"edit {citation(record, found.path)}, then scrubjay sync",
        )
    lived = {name: _said(name, value) for name, value in fresh.items() if not (passage and name == "content")}

    def changed(memory: Memory) -> str:
        if memory.look(record.id, neighbours=0).memory.content_hash != was:
            raise InputError(
                f"{record.id} was changed since you opened it. Nothing was written.",
                hint="what you typed is below; open it again in another window, and compare",
            )
        into = record.id
        if lived:
            memory.update(record.id, **lived)
        if passage and "content" in fresh:
            into = memory.rewrite(record.id, fresh["content"], was=was).id
        return into

    return changed


def _said(name: str, value: str) -> Any:
    if name == "tags":
        return [each.strip() for each in value.split(",") if each.strip()]
    if name == "pinned":
        return value == "yes"
    if name == "confidence":
        try:
            return float(value)
        except ValueError as error:
            raise InputError(
                f"confidence is {value!r:.40}; it must be 0 to 1. Nothing was written."
            ) from error
    if name in ("date", "valid_from", "valid_until"):
        return value.strip() or None
    return value


def _plain(text: str) -> str:
    """Return a text with the line ends that are stored; a form sends those of a terminal of 1975."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
