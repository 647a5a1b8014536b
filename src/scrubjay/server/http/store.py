"""HTTP API for the whole store: sources, sync, models, consolidation, audit, retention, export, import, backup.

Work that has begun goes on when its client goes away: what it does is done whole, or as far as the server lives.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Annotated, Any, Final, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import ConfigDict, Field
from starlette.responses import Response

from scrubjay.api import serializers
from scrubjay.config.loader import config_path
from scrubjay.config.settings import ServerSettings, data_dir
from scrubjay.errors import ForbiddenError, InputError, ScrubjayError
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
    COMMON_ERRORS,
    ERROR_DESCRIPTIONS,
    LAX_CONFIG,
    MAX_INTEGER,
    CompactJSONResponse,
    Count,
    Failure,
    OptionalDate,
    Project,
    RequestModel,
    Strings,
    describe_responses,
    document_fields,
    model_of,
    object_model,
)
from scrubjay.server.requests import (
    UNEXPECTED_ERROR,
    AdminPrincipal,
    ReadPrincipal,
    SessionDep,
    http_status,
    is_operator,
    server_warnings,
)
from scrubjay.transfer.detection import FOLDER_FORMATS, IMPORT_FORMATS, detect_format

if TYPE_CHECKING:
    import pathlib

    from scrubjay.api.auth import Principal
    from scrubjay.models.reports import Progress
    from scrubjay.server.session import Session


def check_allowed_path(path: str, settings: ServerSettings, known: Iterable[str] = ()) -> None:
    """Raise unless a path lies in a root of the settings, or in a folder that is known.

    Links are followed before the two are compared. The folder of the settings and tokens is never one of them.

    Args:
        path: As the request has it.
        settings: The section that names the roots.
        known: Folders that may be named besides them: the registered sources.

    Raises:
        ForbiddenError: It lies in none of them.
        InputError: It is no path.
    """
    if not path or "\0" in path:
        raise InputError(f"{path!r:.200} is no path. Nothing was done.", hint="name a folder or a file")
    place = _real_path(path)
    roots = [_real_path(root) for root in settings.roots or _default_roots()]
    allowed = any(_is_inside(place, root) for root in (*roots, *map(_real_path, known)))
    if not allowed or _is_inside(place, _real_path(str(config_path().parent))):
        raise ForbiddenError(
            f"{path!r:.200} is outside of the folders that requests over HTTP may name: "
            f"{', '.join(roots) or 'none'}. Nothing was done.",
            hint=f"name its folder in the server's settings, [server] roots = [{os.path.dirname(place)!r:.200}], "
            "or do it with the command line",
        )


def _default_roots() -> list[str]:
    """Return the roots of settings that name none; a service whose home is the whole disk has no home."""
    home = os.path.expanduser("~")
    return [*([home] if _real_path(home) != os.path.dirname(_real_path(home)) else []), str(data_dir())]


def _real_path(path: str) -> str:
    return os.path.realpath(os.path.expanduser(path))


def _is_inside(place: str, root: str) -> bool:
    return place == root or place.startswith(os.path.join(root, ""))


EVENT_STREAM: Final = "text/event-stream"
MIN_EVENT_INTERVAL: Final = 0.1
"""Least seconds between two events: a sync of thousands of files would else say little else."""
HEARTBEAT_SECONDS: Final = 10.0
"""Seconds without an event after which a comment is sent, so that proxies and clients see that it lives."""
STREAM_CONTENT: Final = {
    "application/json": {},
    EVENT_STREAM: {
        "schema": {
            "type": "string",
            "description": "Events: `progress` (stage, done, total, seconds), and at the end `done` with the answer, "
            "or `error` as every error is told, with its `status`.",
        },
        "example": 'event: progress\ndata: {"stage": "write", "done": 3, "total": 12, "seconds": 0.2}\n\n'
        "event: done\ndata: {}\n\n",
    },
}
"""What OpenAPI says of an answer that may be streamed."""

ProgressCallback = Callable[["Progress"], None]


async def run_long(
    request: Request,
    session: Session,
    who: Principal,
    work: Callable[[Memory, ProgressCallback], Any],
    ended: Callable[[], None] = lambda: None,
) -> Response:
    """Return what long work comes to.

    Args:
        request: Which may ask for events.
        session: What does the work.
        who: Who asks.
        work: What is done, told where to report.
        ended: Called when it has ended, or was never begun.
    """
    step = LatestProgress(asyncio.get_running_loop())

    def report(reached: Progress) -> None:
        session.going_on()
        step.report(reached)

    doing = asyncio.ensure_future(
        session.do(who, lambda memory: serializers.to_plain(work(memory, report)), at_length=True)
    )

    def over(done: asyncio.Future[Any]) -> None:
        ended()
        if not done.cancelled():
            done.exception()  # looked at, or asyncio complains where nobody is there to hear it any more

    doing.add_done_callback(over)
    if EVENT_STREAM not in request.headers.get("accept", ""):
        return CompactJSONResponse(await asyncio.shield(doing))
    return StreamingResponse(
        _event_stream(doing, step), media_type=EVENT_STREAM, headers={"cache-control": "no-store"}
    )


class LatestProgress:
    """The last step that was reported, from whichever thread; a client that is slow misses those between."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._step: Progress | None = None
        self.came = asyncio.Event()

    def report(self, step: Progress) -> None:
        """Remember a step."""
        self._step = step
        self._loop.call_soon_threadsafe(self.came.set)

    def taken(self) -> Progress | None:
        """Return the step that nobody has taken yet."""
        self.came.clear()
        step, self._step = self._step, None
        return step


async def _event_stream(doing: asyncio.Future[Any], step: LatestProgress) -> AsyncIterator[str]:
    while not doing.done():
        came = asyncio.ensure_future(step.came.wait())
        await asyncio.wait({doing, came}, timeout=HEARTBEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        came.cancel()
        reported = step.taken()
        if reported is not None:
            yield format_event("progress", serializers.to_plain(reported))
            await asyncio.wait({doing}, timeout=MIN_EVENT_INTERVAL)
        elif not doing.done():
            yield ": \n\n"
    failed = doing.exception()
    if failed is None:
        yield format_event("done", doing.result())
    elif isinstance(failed, ScrubjayError):
        yield format_event("error", {**serializers.error_fields(failed), "status": http_status(failed)})
    else:
        yield format_event("error", {**serializers.error_fields(UNEXPECTED_ERROR), "status": 500})
        raise failed


def format_event(name: str, said: Any) -> str:
    r"""Return one event of a stream.

    >>> format_event("done", {"embedded": 3})
    'event: done\ndata: {"embedded": 3}\n\n'
    """
    return f"event: {name}\ndata: {json.dumps(said)}\n\n"


router = APIRouter(prefix="/v1", tags=["store"])

Seconds = Annotated[float, Field(ge=0, le=MAX_INTEGER)]
RunId = Annotated[
    str, Path(description="The run's id, or its shortest unique beginning.", examples=["run_3f1c"])
]
ModelName = Annotated[str, Path(description="Its name.", examples=["minilm"])]


@document_fields(Memory.sync)
class Sync(RequestModel):
    """What is brought in step."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"path": "/srv/notes", "description": "the crew's notes"}]}
    )

    path: str | None = None
    only: str | None = None
    description: str = ""
    include: Strings = []
    exclude: Strings = []
    project: Project | None = None
    trust: Literal["auto", "trusted", "untrusted"] | None = None
    share: bool | None = None
    embed_seconds: Seconds = 0.0


@document_fields(Memory.embed)
class Embed(RequestModel):
    """How long is embedded."""

    seconds: Annotated[
        float | None, Field(ge=0, le=MAX_INTEGER, description="Time to spend; null for as long as it takes.")
    ] = None


class Rebuild(RequestModel):
    """Nothing is to be said."""


@document_fields(Memory.consolidate)
class Consolidate(RequestModel):
    """What is consolidated, and what is archived."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"if_due": "4h"}]})

    if_due: str | None = None
    after_days: Annotated[int, Field(ge=0, le=36_500)] | None = None
    archive: Literal["transcripts", "notes"] | None = None
    dry_run: bool = False
    now: OptionalDate = None


@document_fields(Memory.audit)
class Look(RequestModel):
    """What is looked at, and put away."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"fix": ["junk"], "dry_run": True}]})

    fix: Strings = []
    limit: Count = 20
    dry_run: bool = False
    now: OptionalDate = None


@document_fields(Memory.retain)
class Retain(RequestModel):
    """How the settings of retention are kept to."""

    dry_run: bool = False
    now: OptionalDate = None


def _streamed_responses(model: Any, about: str) -> dict[int | str, dict[str, Any]]:
    told = describe_responses(model, about=about, more=(404,))
    told[200]["content"] = told[200]["content"] | {
        kind: said for kind, said in STREAM_CONTENT.items() if said
    }
    return told


_SOURCES: Final = object_model("Sources", "The registered sources.", sources=list[model_of(SourceStatus)])  # type: ignore[misc]
_MODEL: Final = model_of(ModelStatus)
_MODELS: Final = object_model("Models", "The embedding models, the base model first.", models=list[_MODEL])  # type: ignore[valid-type]
_MODEL_RESPONSES: Final = describe_responses(_MODEL, about="The model, and how far it reaches.", more=(404,))


@router.get(
    "/status",
    responses=describe_responses(model_of(StoreStatus, optional=("store", "bytes")), about="Facts."),
)
async def status(request: Request, who: ReadPrincipal, session: SessionDep) -> Response:
    """Return what is stored, which models and sources there are; to an admin, also where.

    The size of the store is of all tenants, and for an admin of its owner's.
    """
    found = await session.do(who, lambda memory: memory.status())
    told = serializers.to_plain(replace(found, warnings=found.warnings + server_warnings(request, who)))
    if "admin" not in who.scopes:
        del told["store"]
    if not is_operator(who, session):
        del told["bytes"]
    return CompactJSONResponse(told)


@router.get("/sources", responses=describe_responses(_SOURCES, about="The sources, with what they hold."))
async def list_sources(who: ReadPrincipal, session: SessionDep) -> Response:
    """List the folders and files that memories come from."""
    return CompactJSONResponse(
        {"sources": serializers.to_plain(await session.do(who, lambda memory: memory.sources()))}
    )


@router.post("/sync", responses=_streamed_responses(model_of(SyncReport), "What the sync did."))
async def sync(wanted: Sync, request: Request, who: AdminPrincipal, session: SessionDep) -> Response:
    """Bring the store in step with a folder or file of the server, or with every registered source."""
    options, roots = wanted.given(), session.settings.server

    def work(memory: Memory, report: ProgressCallback) -> SyncReport:
        for path in (wanted.path, wanted.only):
            if path is not None:
                check_allowed_path(path, roots, (source.root for source in memory.sources()))
        return memory.sync(**options, progress=report)

    return await run_long(request, session, who, work)


@router.delete(
    "/sources/{name:path}",
    responses=describe_responses(model_of(RemovedSource), about="The source as it was.", more=(404,)),
)
async def remove_source(
    name: Annotated[str, Path(description="Its id, or its path.")], who: AdminPrincipal, session: SessionDep
) -> Response:
    """Remove a source with everything it brought and what rests on that alone; its files are not touched."""
    done = await session.do(who, lambda memory: memory.remove_source(name), writes=True)
    return CompactJSONResponse(serializers.to_plain(done))


@router.get("/models", responses=describe_responses(_MODELS, about="The models."))
async def list_models(who: ReadPrincipal, session: SessionDep) -> Response:
    """List the embedding models and how far each reaches."""
    return CompactJSONResponse(
        {"models": serializers.to_plain(await session.do(who, lambda memory: memory.models()))}
    )


@router.put("/models/{name:path}", responses=_MODEL_RESPONSES)
async def add_model(name: ModelName, who: AdminPrincipal, session: SessionDep) -> Response:
    """Register a model that the server's settings describe, to be backfilled beside those in use."""
    return CompactJSONResponse(
        serializers.to_plain(await session.do(who, lambda memory: memory.add_model(name), writes=True))
    )


@router.post("/models/{name:path}/use", responses=_MODEL_RESPONSES)
async def use_model(name: ModelName, who: AdminPrincipal, session: SessionDep) -> Response:
    """Rank with a model, beside the base model, from now on."""
    return CompactJSONResponse(
        serializers.to_plain(await session.do(who, lambda memory: memory.use_model(name), writes=True))
    )


@router.delete("/models/{name:path}", responses=_MODEL_RESPONSES)
async def drop_model(name: ModelName, who: AdminPrincipal, session: SessionDep) -> Response:
    """Remove a model and its vectors from the store."""
    return CompactJSONResponse(
        serializers.to_plain(await session.do(who, lambda memory: memory.drop_model(name), writes=True))
    )


@router.post("/embed", responses=_streamed_responses(model_of(EmbedReport), "What was embedded."))
async def embed(wanted: Embed, request: Request, who: AdminPrincipal, session: SessionDep) -> Response:
    """Embed what waits for a backfilled model; stopped at any moment, it goes on where it was."""
    options = wanted.given()
    return await run_long(
        request, session, who, lambda memory, report: memory.embed(**options, progress=report)
    )


@router.post("/rebuild", responses=_streamed_responses(model_of(SyncReport), "What was made anew."))
async def rebuild(_wanted: Rebuild, request: Request, who: AdminPrincipal, session: SessionDep) -> Response:
    """Make every memory anew from what is stored, beside the old ones, and switch at once."""
    return await run_long(request, session, who, lambda memory, report: memory.rebuild(progress=report))


@router.post(
    "/consolidate", responses=_streamed_responses(model_of(ConsolidationReport), "What the night made.")
)
async def consolidate(
    wanted: Consolidate, request: Request, who: AdminPrincipal, session: SessionDep
) -> Response:
    """Tell old conversations, tool results and daily notes in digests, and archive what was told."""
    options = wanted.given()
    return await run_long(
        request, session, who, lambda memory, report: memory.consolidate(**options, progress=report)
    )


@router.post(
    "/consolidate/{run}/undo",
    responses=describe_responses(model_of(UndoReport), about="What was taken back.", more=(404,)),
)
async def undo_consolidate(run: RunId, who: AdminPrincipal, session: SessionDep) -> Response:
    """Take a consolidation back: what it made goes, what it archived is active again."""
    return CompactJSONResponse(
        serializers.to_plain(await session.do(who, lambda memory: memory.undo(run), writes=True))
    )


@router.post(
    "/audit", responses=describe_responses(model_of(AuditReport), about="How good what is remembered is.")
)
async def audit(wanted: Look, who: AdminPrincipal, session: SessionDep) -> Response:
    """Return how many active memories are of no use, and why; put away those of the kinds to be mended."""
    options = wanted.given()
    done = await session.do(who, lambda memory: memory.audit(**options), at_length=True)
    return CompactJSONResponse(serializers.to_plain(done))


@router.post(
    "/audit/{run}/undo",
    responses=describe_responses(model_of(ChangeReport), about="What is active again.", more=(404,)),
)
async def undo_audit(run: RunId, who: AdminPrincipal, session: SessionDep) -> Response:
    """Take back what a run of the audit, or of retention, put away."""
    return CompactJSONResponse(
        serializers.to_plain(await session.do(who, lambda memory: memory.undo_audit(run), writes=True))
    )


@router.post(
    "/retention",
    responses=describe_responses(model_of(RetentionReport), about="What was put away, and what is gone."),
)
async def retain(wanted: Retain, who: AdminPrincipal, session: SessionDep) -> Response:
    """Keep to the settings of [retention]: put away, or forget, what is too old or too much."""
    options = wanted.given()
    return CompactJSONResponse(
        serializers.to_plain(await session.do(who, lambda memory: memory.retain(**options), at_length=True))
    )


IMPORT_PATH: Final = "/v1/import"
JSON_LINES: Final = "application/x-ndjson"
CHUNK: Final = 256 * 1024
"""Bytes that are read at once."""
UPLOAD_FORMATS: Final = tuple(each for each in IMPORT_FORMATS if each not in FOLDER_FORMATS)
"""Formats of one file; the others are folders, which would become sources."""


@document_fields(Memory.import_)
class ImportQuery(RequestModel):
    """What is imported, and how."""

    model_config = LAX_CONFIG

    format: Annotated[
        str,
        Field(
            json_schema_extra={"enum": list(UPLOAD_FORMATS)},
            description="What the file is; `auto` looks. docs/import.md says what becomes of each.",
        ),
    ] = "auto"
    dry_run: bool = False
    shared: bool = False
    untrusted: bool = False


@document_fields(Memory.backup)
class Backup(RequestModel):
    """Where the copy goes."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"path": "/srv/backups/memory.db"}]})

    path: Annotated[
        str, Field(description="The file, on the server: made with mode 0600, whole or not at all.")
    ]
    overwrite: bool = False


_EXPORT_RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    **{code: {"model": Failure, "description": ERROR_DESCRIPTIONS[code]} for code in COMMON_ERRORS},
    200: {
        "description": "The export, a JSON object a line (docs/portability.md).",
        "content": {
            JSON_LINES: {"schema": {"type": "string"}, "example": '{"line": "header"}\n{"line": "footer"}\n'}
        },
    },
}
_IMPORT_RESPONSES: Final = describe_responses(model_of(ImportReport), about="What the import did.")
_IMPORT_RESPONSES[200]["content"] |= {EVENT_STREAM: STREAM_CONTENT[EVENT_STREAM]}
_FILE_BODY: Final = {
    "requestBody": {
        "required": True,
        "description": "The file's bytes.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.get("/export", responses=_EXPORT_RESPONSES, response_class=StreamingResponse)
async def export(who: AdminPrincipal, session: SessionDep) -> Response:
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
    return StreamingResponse(_stream_file(held), media_type=JSON_LINES, headers=headers)


async def _stream_file(held: IO[bytes]) -> AsyncIterator[bytes]:
    with held:
        while piece := await asyncio.to_thread(held.read, CHUNK):
            yield piece


@router.post("/import", responses=_IMPORT_RESPONSES, openapi_extra=_FILE_BODY)
async def import_file(
    wanted: Annotated[ImportQuery, Query()], request: Request, who: AdminPrincipal, session: SessionDep
) -> Response:
    """Take in an export of scrubjay, or a file of another tool's memories; nothing is taken twice."""
    options = wanted.given()
    if options.get("format", "auto") not in UPLOAD_FORMATS:
        raise InputError(
            f"format is {wanted.format!r:.40}, not one of {', '.join(UPLOAD_FORMATS)}. Nothing was imported."
        )
    path = await _receive_file(request)

    def work(memory: Memory, report: ProgressCallback) -> ImportReport:
        if wanted.format == "auto" and detect_format(path) in FOLDER_FORMATS:
            raise InputError(
                "The file is of a kind that is synced as a folder. Nothing was imported.",
                hint="POST /v1/sync, with a folder of the server",
            )
        return memory.import_(path, **options, progress=report)

    return await run_long(request, session, who, work, ended=lambda: os.unlink(path))


async def _receive_file(request: Request) -> pathlib.Path:
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


@router.post("/backup", responses=describe_responses(model_of(BackupReport), about="The copy."))
async def backup(wanted: Backup, who: AdminPrincipal, session: SessionDep) -> Response:
    """Copy the whole store, of all its users and tenants, to a file of the server; the copy is checked."""
    if who.tenant != session.owner.tenant:
        raise ForbiddenError(
            "A backup holds every tenant's memories, so it is the owner's tenant's. Nothing was done."
        )
    check_allowed_path(wanted.path, session.settings.server)
    options = wanted.given()
    done = await session.do(who, lambda memory: memory.backup(**options), at_length=True)
    return CompactJSONResponse(serializers.to_plain(done))
