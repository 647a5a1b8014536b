"""Moving: memories out of the server and into it, over HTTP: an export, an import, a backup."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from typing import IO, TYPE_CHECKING, Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import ConfigDict, Field
from starlette.responses import Response

from scrubjay.engine import Memory
from scrubjay.errors import ForbiddenError, InputError
from scrubjay.ingest.importing.recognise import FORMATS, PLACES, recognise
from scrubjay.memory.moves import BackedUp, Imported
from scrubjay.surfaces.http.allowed_roots import within
from scrubjay.surfaces.http.answered import EVERYWHERE, SAID, Failure, Told, answers
from scrubjay.surfaces.http.forms import LAX, Form, as_in
from scrubjay.surfaces.http.progress import EVENTS, STREAMED, Report, long
from scrubjay.surfaces.http.schemas import described
from scrubjay.surfaces.serve.asked import Admin, Working
from scrubjay.verbs import shape

if TYPE_CHECKING:
    from pathlib import Path

router = APIRouter(prefix="/v1", tags=["store"])

IMPORT: Final = "/v1/import"
LINES: Final = "application/x-ndjson"
CHUNK: Final = 256 * 1024
"""Bytes that are read at once."""
UPLOADED: Final = tuple(each for each in FORMATS if each not in PLACES)
"""Formats of one file; the others are folders, which would become sources."""


@as_in(Memory.import_)
class Import(Form):
    """What is imported, and how."""

    model_config = LAX

    format: Annotated[
        str,
        Field(
            json_schema_extra={"enum": list(UPLOADED)},
            description="What the file is; `auto` looks. docs/import.md says what becomes of each.",
        ),
    ] = "auto"
    dry_run: bool = False
    shared: bool = False
    untrusted: bool = False


@as_in(Memory.backup)
class Backup(Form):
    """Where the copy goes."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"path": "/srv/backups/memory.db"}]})

    path: Annotated[
        str, Field(description="The file, on the server: made with mode 0600, whole or not at all.")
    ]
    overwrite: bool = False


_EXPORTED: Final[dict[int | str, dict[str, Any]]] = {
    **{code: {"model": Failure, "description": SAID[code]} for code in EVERYWHERE},
    200: {
        "description": "The export, a JSON object a line (docs/portability.md).",
        "content": {
            LINES: {"schema": {"type": "string"}, "example": '{"line": "header"}\n{"line": "footer"}\n'}
        },
    },
}
_IMPORTED: Final = answers(described(Imported), about="What the import did.")
_IMPORTED[200]["content"] |= {EVENTS: STREAMED[EVENTS]}
_FILE: Final = {
    "requestBody": {
        "required": True,
        "description": "The file's bytes.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.get("/export", responses=_EXPORTED, response_class=StreamingResponse)
async def export(who: Admin, session: Working) -> Response:
    """Return all that the caller may see, a JSON object a line: one consistent view, while others write."""
    # Written whole before it is sent: a client that reads slowly keeps no view of the store open.
    with tempfile.TemporaryDirectory(prefix="scrubjay-export-") as folder:
        file = os.path.join(folder, "memories.jsonl")
        done = await session.do(who, lambda memory: memory.export(file), at_length=True)
        held = open(file, "rb")  # noqa: SIM115 _sent closes it
    headers = {
        "content-length": str(done.bytes),
        "content-disposition": 'attachment; filename="scrubjay.jsonl"',
    }
    return StreamingResponse(_sent(held), media_type=LINES, headers=headers)


async def _sent(held: IO[bytes]) -> AsyncIterator[bytes]:
    with held:
        while piece := await asyncio.to_thread(held.read, CHUNK):
            yield piece


@router.post("/import", responses=_IMPORTED, openapi_extra=_FILE)
async def import_file(
    wanted: Annotated[Import, Query()], request: Request, who: Admin, session: Working
) -> Response:
    """Take in an export of scrubjay, or a file of another tool's memories; nothing is taken twice."""
    options = wanted.given()
    if options.get("format", "auto") not in UPLOADED:
        raise InputError(
            f"format is {wanted.format!r:.40}, not one of {', '.join(UPLOADED)}. Nothing was imported."
        )
    path = await _received(request)

    def work(memory: Memory, report: Report) -> Imported:
        if wanted.format == "auto" and recognise(path) in PLACES:
            raise InputError(
                "The file is of a kind that is synced as a folder. Nothing was imported.",
                hint="POST /v1/sync, with a folder of the server",
            )
        return memory.import_(path, **options, progress=report)

    return await long(request, session, who, work, ended=lambda: os.unlink(path))


async def _received(request: Request) -> Path:
    """Return a file that holds the body.

    Raises:
        TooLargeError: It is larger than the settings allow.
        LateError: It did not come in time.
        ClientDisconnect: Its client went away.
    """
    from pathlib import Path

    descriptor, name = tempfile.mkstemp(prefix="scrubjay-import-")
    try:
        with os.fdopen(descriptor, "wb") as held:
            async for piece in request.stream():
                await asyncio.to_thread(held.write, piece)
    except BaseException:
        os.unlink(name)
        raise
    return Path(name)


@router.post("/backup", responses=answers(described(BackedUp), about="The copy."))
async def backup(wanted: Backup, who: Admin, session: Working) -> Response:
    """Copy the whole store, of all its users and tenants, to a file of the server; the copy is checked."""
    if who.tenant != session.owner.tenant:
        raise ForbiddenError(
            "A backup holds every tenant's memories, so it is the owner's tenant's. Nothing was done."
        )
    within(wanted.path, session.settings.server)
    options = wanted.given()
    done = await session.do(who, lambda memory: memory.backup(**options), at_length=True)
    return Told(shape.plain(done))
