"""HTTP API for the whole store: sources, sync, models, consolidation, audit, retention, export, import, backup.

Work continues to its end when its client disconnects.
"""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
import tempfile
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Annotated, Any, Final, Literal

from fastapi import Path, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import Field
from starlette.responses import Response

from scrubjay.api import serializers
from scrubjay.api.tools import MAX_INTEGER
from scrubjay.config.loader import config_path
from scrubjay.config.settings import MAX_DAYS, ServerSettings, data_dir
from scrubjay.errors import ForbiddenError, InputError, NotFoundError, ScrubjayError
from scrubjay.memory import Memory
from scrubjay.models.reports import (
    AuditReport,
    BackupReport,
    ConsolidationReport,
    EmbedReport,
    ImportReport,
    ModelStatus,
    RemovedSource,
    RetentionReport,
    SourceStatus,
    StoreStatus,
    SyncReport,
    UndoReport,
)
from scrubjay.models.views import ChangeReport
from scrubjay.server.http.schemas import (
    CompactJSONResponse,
    Count,
    OptionalDate,
    Project,
    RequestModel,
    Strings,
    describe_responses,
    document_fields,
    enum,
    list_of,
    model_of,
    object_model,
    plain_json,
)
from scrubjay.server.requests import UNEXPECTED_ERROR, Access, AdminAccess, ApiRouter, ReadAccess, http_status
from scrubjay.transfer.formats import FOLDER_FORMATS, IMPORT_FORMATS, detect_format

if TYPE_CHECKING:
    from scrubjay.models.reports import Progress


def check_allowed_path(path: str, settings: ServerSettings, sources: Iterable[str] = ()) -> None:
    """Raise unless a path, links resolved, lies in a root of the settings or in a registered source (``sources``).

    The folder of settings and tokens is never allowed.

    Raises:
        ForbiddenError: The path lies elsewhere.
        InputError: It is not a path.
    """
    if not path or "\0" in path:
        raise InputError(f"{path!r:.200} is not a path. Nothing was done.", hint="name a folder or a file")
    target = _real_path(path)
    roots = [_real_path(root) for root in settings.roots or _default_roots()]
    allowed = any(_is_inside(target, root) for root in (*roots, *map(_real_path, sources)))
    if not allowed or _is_inside(target, _real_path(str(config_path().parent))):
        raise ForbiddenError(
            f"{path!r:.200} is outside the folders that HTTP requests may name: "
            f"{', '.join(roots) or 'none'}. Nothing was done.",
            hint=f"add its folder to the server's settings, [server] roots = [{os.path.dirname(target)!r:.200}], "
            "or use the command line",
        )


def _default_roots() -> list[str]:
    """A service whose home is ``/`` has no home."""
    home = os.path.expanduser("~")
    return [*([home] if _real_path(home) != os.path.dirname(_real_path(home)) else []), str(data_dir())]


def _real_path(path: str) -> str:
    return os.path.realpath(os.path.expanduser(path))


def _is_inside(path: str, root: str) -> bool:
    return path == root or path.startswith(os.path.join(root, ""))


EVENT_STREAM: Final = "text/event-stream"
MIN_EVENT_INTERVAL: Final = 0.1
"""Seconds between two events."""
HEARTBEAT_SECONDS: Final = 10.0
"""Seconds without an event after which a comment keeps the connection alive."""
STREAM_CONTENT: Final = {
    "schema": {
        "type": "string",
        "description": "Events: `progress` (stage, done, total, seconds), and at the end `done` with the result, "
        "or `error` with an error body and its `status`.",
    },
    "example": 'event: progress\ndata: {"stage": "write", "done": 3, "total": 12, "seconds": 0.2}\n\n'
    "event: done\ndata: {}\n\n",
}

ProgressCallback = Callable[["Progress"], None]


async def run_long(
    access: Access,
    work: Callable[[Memory, ProgressCallback], Any],
    on_end: Callable[[], None] = lambda: None,
) -> Response:
    """Run long work and answer with its result, or with a stream of its progress if the client accepts one.

    ``on_end`` is called when the work has ended or was never started.
    """
    loop, changed = asyncio.get_running_loop(), asyncio.Event()
    latest: deque[Progress] = deque(maxlen=1)  # a slow client misses the steps between

    def report(step: Progress) -> None:
        access.session.check_running()
        latest.append(step)
        loop.call_soon_threadsafe(changed.set)

    task = asyncio.ensure_future(access.run_long(lambda memory: serializers.to_plain(work(memory, report))))

    def finish(done: asyncio.Future[Any]) -> None:
        on_end()
        if not done.cancelled():
            done.exception()  # retrieved, or asyncio warns when the client has disconnected

    task.add_done_callback(finish)
    if EVENT_STREAM not in access.request.headers.get("accept", ""):
        return CompactJSONResponse(await asyncio.shield(task))
    return StreamingResponse(
        _event_stream(task, latest, changed), media_type=EVENT_STREAM, headers={"cache-control": "no-store"}
    )


async def _event_stream(
    task: asyncio.Future[Any], latest: deque[Progress], changed: asyncio.Event
) -> AsyncIterator[str]:
    while not task.done():
        waiter = asyncio.ensure_future(changed.wait())
        await asyncio.wait({task, waiter}, timeout=HEARTBEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        waiter.cancel()
        changed.clear()
        if latest:
            yield format_event("progress", serializers.to_plain(latest.pop()))
            await asyncio.wait({task}, timeout=MIN_EVENT_INTERVAL)
        elif not task.done():
            yield ": \n\n"
    error = task.exception()
    if error is None:
        yield format_event("done", task.result())
    elif isinstance(error, ScrubjayError):
        yield format_event("error", {**serializers.error_fields(error), "status": http_status(error)})
    else:
        yield format_event("error", {**serializers.error_fields(UNEXPECTED_ERROR), "status": 500})
        raise error


def format_event(name: str, data: Any) -> str:
    r"""Format a server-sent event.

    >>> format_event("done", {"embedded": 3})
    'event: done\ndata: {"embedded": 3}\n\n'
    """
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"


router = ApiRouter(prefix="/v1", tags=["store"])

Seconds = Annotated[float, Field(ge=0, le=MAX_INTEGER)]
RunId = Annotated[
    str, Path(description="The run's id, or its shortest unique beginning.", examples=["run_3f1c"])
]
ModelName = Annotated[str, Path(description="Its name.", examples=["bge"])]


@document_fields(Memory.sync)
class Sync(
    RequestModel, json_schema_extra={"examples": [{"path": "/srv/notes", "description": "the crew's notes"}]}
):
    """A source to sync, and its options."""

    path: str | None = None
    only: str | None = None
    description: str = ""
    include: Strings = []
    exclude: Strings = []
    project: Project | None = None
    trust: Literal["auto", "trusted", "untrusted"] | None = None
    share: bool | None = None
    git: bool | None = None
    embed_seconds: Seconds = 0.0


@document_fields(Memory.embed)
class Embed(RequestModel):
    """Time budget of embedding."""

    seconds: Annotated[
        float | None, Field(ge=0, le=MAX_INTEGER, description="Time budget in seconds; null for no limit.")
    ] = None


class Rebuild(RequestModel):
    """Takes no fields."""


@document_fields(Memory.consolidate)
class Consolidate(RequestModel, json_schema_extra={"examples": [{"if_due": "4h"}]}):
    """Options of a consolidation."""

    if_due: str | None = None
    after_days: Annotated[int, Field(ge=0, le=MAX_DAYS)] | None = None
    archive: Literal["transcripts", "notes"] | None = None
    dry_run: bool = False
    now: OptionalDate = None


@document_fields(Memory.audit)
class AuditRequest(RequestModel, json_schema_extra={"examples": [{"fix": ["junk"], "dry_run": True}]}):
    """Options of an audit and its fixes."""

    fix: Strings = []
    limit: Count = 20
    dry_run: bool = False
    now: OptionalDate = None


@document_fields(Memory.retain)
class Retain(RequestModel):
    """Options of a run of the retention settings."""

    dry_run: bool = False
    now: OptionalDate = None


def _streamed_responses(model: type, about: str) -> dict[int | str, dict[str, Any]]:
    responses = describe_responses(model, about, 404)
    responses[200]["content"] |= {EVENT_STREAM: STREAM_CONTENT}
    return responses


_SOURCES: Final = object_model("Sources", "The registered sources.", sources=list_of(model_of(SourceStatus)))
_MODEL: Final = model_of(ModelStatus)
_MODELS: Final = object_model("Models", "The embedding models, the base model first.", models=list_of(_MODEL))
_MODEL_RESPONSES: Final = describe_responses(_MODEL, "The model and its coverage.", 404)


@router.get(
    "/status", responses=describe_responses(model_of(StoreStatus, optional=("store", "bytes")), "Facts.")
)
async def status(access: ReadAccess) -> Response:
    """Return the store's counts, models and sources; for an admin, also its location.

    Only admins of the owner's tenant see the size, which covers all tenants.
    """
    totals = await access.read(lambda memory: memory.status())
    plain = serializers.to_plain(replace(totals, warnings=totals.warnings + access.warnings))
    if "admin" not in access.who.scopes:
        del plain["store"]
    if not access.is_operator:
        del plain["bytes"]
    return CompactJSONResponse(plain)


@router.get("/sources", responses=describe_responses(_SOURCES, "The sources and their contents."))
async def list_sources(access: ReadAccess) -> Response:
    """List the folders and files that memories come from."""
    statuses = await access.read(lambda memory: memory.sources())
    return CompactJSONResponse({"sources": serializers.to_plain(statuses)})


@router.post("/sync", responses=_streamed_responses(SyncReport, "The changes of the sync."))
async def sync(body: Sync, access: AdminAccess) -> Response:
    """Sync a folder or file of the server, or every registered source."""
    from scrubjay.ingest.gitignore import IncludePatterns

    options, roots = body.given(), access.session.settings.server

    def work(memory: Memory, report: ProgressCallback) -> SyncReport:
        only = body.only and os.path.join(body.path or "", body.only)
        for path in (body.path, only):
            if path is not None:
                check_allowed_path(path, roots, (source.root for source in memory.sources()))
        usual = IncludePatterns(access.session.settings.sync.include)
        if body.path is not None and (body.include or any(map(usual.matches, SECRET_FILES))):
            _check_leaves_out_settings(body.path, (source.root for source in memory.sources()))
        return memory.sync(**options, progress=report)

    return await run_long(access, work)


SECRET_FILES: Final = ("config.toml", "tokens.json")


def _check_leaves_out_settings(path: str, sources: Iterable[str]) -> None:
    """Raise if patterns for a folder, or for the source that holds it, could name scrubjay's settings and tokens."""
    settings, target = _real_path(str(config_path().parent)), _real_path(path)
    roots = [target, *(root for root in map(_real_path, sources) if _is_inside(target, root))]
    if any(_is_inside(settings, root) for root in roots):
        raise ForbiddenError(
            f"{path!r:.200} or its source holds the folder of scrubjay's settings and tokens, so it takes no "
            "patterns of files over HTTP. Nothing was done.",
            hint="name a folder inside it, or use the command line",
        )


@router.delete(
    "/sources/{name:path}", responses=describe_responses(RemovedSource, "The removed source.", 404)
)
async def remove_source(
    name: Annotated[str, Path(description="Its id, or its absolute path.")], access: AdminAccess
) -> Response:
    """Remove a source and everything derived from it alone; its files are not changed."""
    if not name:
        raise InputError(
            "The source's name is empty.", hint="give its id, or its absolute path on the server"
        )
    if not (name.startswith("src_") or os.path.isabs(os.path.expanduser(name))):
        # A relative path would mean the server's working folder.
        raise NotFoundError(
            f"No source {name!r:.200} is registered.", hint="give its id, or its absolute path on the server"
        )
    return await plain_json(access.write(lambda memory: memory.remove_source(name)))


@router.get("/models", responses=describe_responses(_MODELS, "The models."))
async def list_models(access: ReadAccess) -> Response:
    """List the embedding models and how many memories each covers."""
    statuses = await access.read(lambda memory: memory.models())
    return CompactJSONResponse({"models": serializers.to_plain(statuses)})


@router.put("/models/{name:path}", responses=_MODEL_RESPONSES)
async def add_model(name: ModelName, access: AdminAccess) -> Response:
    """Register a model from the server's settings, to be backfilled."""
    return await plain_json(access.write(lambda memory: memory.add_model(name)))


@router.post("/models/{name:path}/use", responses=_MODEL_RESPONSES)
async def use_model(name: ModelName, access: AdminAccess) -> Response:
    """Rank with this model and the base model from now on."""
    return await plain_json(access.write(lambda memory: memory.use_model(name)))


@router.delete("/models/{name:path}", responses=_MODEL_RESPONSES)
async def drop_model(name: ModelName, access: AdminAccess) -> Response:
    """Remove a model and its vectors from the store."""
    return await plain_json(access.write(lambda memory: memory.drop_model(name)))


@router.post("/embed", responses=_streamed_responses(EmbedReport, "What was embedded."))
async def embed(body: Embed, access: AdminAccess) -> Response:
    """Compute pending embeddings; an interrupted run continues the next time."""
    options = body.given()
    return await run_long(access, lambda memory, report: memory.embed(**options, progress=report))


@router.post("/rebuild", responses=_streamed_responses(SyncReport, "The rebuilt memories."))
async def rebuild(_body: Rebuild, access: AdminAccess) -> Response:
    """Rebuild the index from the stored memories beside the old one, then switch."""
    return await run_long(access, lambda memory, report: memory.rebuild(progress=report))


@router.post(
    "/consolidate", responses=_streamed_responses(ConsolidationReport, "The digests and promotions created.")
)
async def consolidate(body: Consolidate, access: AdminAccess) -> Response:
    """Summarise old conversations, tool results and daily notes into digests; archive their sources on request."""
    options = body.given()
    return await run_long(access, lambda memory, report: memory.consolidate(**options, progress=report))


@router.post("/consolidate/{run}/undo", responses=describe_responses(UndoReport, "What was undone.", 404))
async def undo_consolidate(run: RunId, access: AdminAccess) -> Response:
    """Undo a consolidation: remove what it created and restore what it archived."""
    return await plain_json(access.write(lambda memory: memory.undo(run)))


@router.post("/audit", responses=describe_responses(AuditReport, "The fault rates."))
async def audit(body: AuditRequest, access: AdminAccess) -> Response:
    """Return how many active memories have which faults; archive those of the kinds to fix."""
    options = body.given()
    return await plain_json(access.run_long(lambda memory: memory.audit(**options)))


@router.post("/audit/{run}/undo", responses=describe_responses(ChangeReport, "The restored memories.", 404))
async def undo_audit(run: RunId, access: AdminAccess) -> Response:
    """Undo a run of the audit or of retention."""
    return await plain_json(access.write(lambda memory: memory.undo_audit(run)))


@router.post("/retention", responses=describe_responses(RetentionReport, "What was archived and forgotten."))
async def retain(body: Retain, access: AdminAccess) -> Response:
    """Apply the [retention] settings: archive or forget what is too old or too much."""
    options = body.given()
    return await plain_json(access.run_long(lambda memory: memory.retain(**options)))


IMPORT_PATH: Final = "/v1/import"
JSON_LINES: Final = "application/x-ndjson"
CHUNK_BYTES: Final = 256 * 1024
UPLOAD_FORMATS: Final = tuple(each for each in IMPORT_FORMATS if each not in FOLDER_FORMATS)
"""Formats of one file; folders become sources."""


@document_fields(Memory.import_)
class ImportQuery(RequestModel, strict=False):
    """Options of an import."""

    format: Annotated[
        str, enum(UPLOAD_FORMATS, "Format of the file; `auto` detects it. See docs/conversations.md.")
    ] = "auto"
    dry_run: bool = False
    shared: bool = False
    untrusted: bool = False
    forget: bool = False
    include_forgotten: bool = False


@document_fields(Memory.backup)
class Backup(RequestModel, json_schema_extra={"examples": [{"path": "/srv/backups/memory.db"}]}):
    """Target of a backup."""

    path: Annotated[str, Field(description="The file on the server; created atomically with mode 0600.")]
    overwrite: bool = False


_EXPORT_RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "The export as JSON lines (docs/portability.md).",
        "content": {
            JSON_LINES: {"schema": {"type": "string"}, "example": '{"line": "header"}\n{"line": "footer"}\n'}
        },
    },
}
_IMPORT_RESPONSES: Final = describe_responses(ImportReport, "The result of the import.")
_IMPORT_RESPONSES[200]["content"] |= {EVENT_STREAM: STREAM_CONTENT}
_FILE_BODY: Final = {
    "requestBody": {
        "required": True,
        "description": "The file's bytes.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.get("/export", responses=_EXPORT_RESPONSES, response_class=StreamingResponse)
async def export(access: AdminAccess) -> Response:
    """Return everything the caller may see as JSON lines: one consistent snapshot."""
    # Written before it is sent: a client that reads slowly keeps no snapshot of the store open.
    with tempfile.TemporaryDirectory(prefix="scrubjay-export-") as folder:
        path = os.path.join(folder, "memories.jsonl")
        report = await access.run_long(lambda memory: memory.export(path))
        file = open(path, "rb")  # noqa: SIM115 _stream_file closes it
    headers = {
        "content-length": str(report.bytes),
        "content-disposition": 'attachment; filename="scrubjay.jsonl"',
    }
    return StreamingResponse(_stream_file(file), media_type=JSON_LINES, headers=headers)


async def _stream_file(file: IO[bytes]) -> AsyncIterator[bytes]:
    with file:
        while chunk := await asyncio.to_thread(file.read, CHUNK_BYTES):
            yield chunk


@router.post("/import", responses=_IMPORT_RESPONSES, openapi_extra=_FILE_BODY)
async def import_file(query: Annotated[ImportQuery, Query()], access: AdminAccess) -> Response:
    """Import a scrubjay export or another tool's file; existing memories are not duplicated."""
    options = query.given()
    if options.get("format", "auto") not in UPLOAD_FORMATS:
        raise InputError(
            f"format is {query.format!r:.40}, not one of {', '.join(UPLOAD_FORMATS)}. Nothing was imported."
        )
    path = await _receive_file(access.request)

    def work(memory: Memory, report: ProgressCallback) -> ImportReport:
        if query.format == "auto" and detect_format(path) in FOLDER_FORMATS:
            raise InputError(
                "This format is synced as a folder. Nothing was imported.",
                hint="use POST /v1/sync with a folder of the server",
            )
        return memory.import_(path, **options, progress=report)

    return await run_long(access, work, on_end=lambda: os.unlink(path))


async def _receive_file(request: Request) -> pathlib.Path:
    descriptor, name = tempfile.mkstemp(prefix="scrubjay-import-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            async for chunk in request.stream():
                await asyncio.to_thread(file.write, chunk)
    except BaseException:
        os.unlink(name)
        raise
    return pathlib.Path(name)


@router.post("/backup", responses=describe_responses(BackupReport, "The copy."))
async def backup(body: Backup, access: AdminAccess) -> Response:
    """Copy the whole store, all users and tenants, to a file of the server and verify it."""
    if access.who.tenant != access.session.owner.tenant:
        raise ForbiddenError(
            "A backup contains every tenant's memories, so only the owner's tenant may make one. Nothing was done."
        )
    check_allowed_path(body.path, access.session.settings.server)
    options = body.given()
    return await plain_json(access.run_long(lambda memory: memory.backup(**options)))
