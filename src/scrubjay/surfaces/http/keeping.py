"""Keeping: what is done to a whole store, over HTTP: sources, models, the night, the audit, retention."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Path, Request
from pydantic import ConfigDict, Field
from starlette.responses import Response

from scrubjay.engine import Memory
from scrubjay.memory.audits import Audit, Retained
from scrubjay.memory.histories import Changed
from scrubjay.memory.nights import Consolidated, Undone
from scrubjay.memory.reports import Embedded, ModelStatus, RemovedSource, SourceStatus, Status, Summary
from scrubjay.surfaces.http.allowed_roots import within
from scrubjay.surfaces.http.answered import Told, answers
from scrubjay.surfaces.http.forms import LARGEST, Count, Form, Moment, Project, Words, as_in
from scrubjay.surfaces.http.progress import STREAMED, Report, long
from scrubjay.surfaces.http.schemas import described, whole
from scrubjay.surfaces.serve.asked import Admin, Reader, Working, operates, warnings
from scrubjay.verbs import shape

router = APIRouter(prefix="/v1", tags=["store"])

Seconds = Annotated[float, Field(ge=0, le=LARGEST)]
Run = Annotated[
    str, Path(description="The run's id, or its shortest unique beginning.", examples=["run_3f1c"])
]
Name = Annotated[str, Path(description="Its name.", examples=["minilm"])]


@as_in(Memory.sync)
class Sync(Form):
    """What is brought in step."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"path": "/srv/notes", "description": "the crew's notes"}]}
    )

    path: str | None = None
    only: str | None = None
    description: str = ""
    include: Words = []
    exclude: Words = []
    project: Project | None = None
    trust: Literal["auto", "trusted", "untrusted"] | None = None
    share: bool | None = None
    embed_seconds: Seconds = 0.0


@as_in(Memory.embed)
class Embed(Form):
    """How long is embedded."""

    seconds: Annotated[
        float | None, Field(ge=0, le=LARGEST, description="Time to spend; null for as long as it takes.")
    ] = None


class Rebuild(Form):
    """Nothing is to be said."""


@as_in(Memory.consolidate)
class Consolidate(Form):
    """What is consolidated, and what is archived."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"if_due": "4h"}]})

    if_due: str | None = None
    after_days: Annotated[int, Field(ge=0, le=36_500)] | None = None
    archive: Literal["transcripts", "notes"] | None = None
    dry_run: bool = False
    now: Moment = None


@as_in(Memory.audit)
class Look(Form):
    """What is looked at, and put away."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"fix": ["junk"], "dry_run": True}]})

    fix: Words = []
    limit: Count = 20
    dry_run: bool = False
    now: Moment = None


@as_in(Memory.retain)
class Retain(Form):
    """How the settings of retention are kept to."""

    dry_run: bool = False
    now: Moment = None


def _streamed(model: Any, about: str) -> dict[int | str, dict[str, Any]]:
    told = answers(model, about=about, more=(404,))
    told[200]["content"] = told[200]["content"] | {kind: said for kind, said in STREAMED.items() if said}
    return told


_SOURCES: Final = whole("Sources", "The registered sources.", sources=list[described(SourceStatus)])  # type: ignore[misc]
_MODEL: Final = described(ModelStatus)
_MODELS: Final = whole("Models", "The embedding models, the base model first.", models=list[_MODEL])  # type: ignore[valid-type]
_ONE_MODEL: Final = answers(_MODEL, about="The model, and how far it reaches.", more=(404,))


@router.get("/status", responses=answers(described(Status, optional=("store", "bytes")), about="Facts."))
async def status(request: Request, who: Reader, session: Working) -> Response:
    """Return what is stored, which models and sources there are; to an admin, also where.

    The size of the store is of all tenants, and for an admin of its owner's.
    """
    found = await session.do(who, lambda memory: memory.status())
    told = shape.plain(replace(found, warnings=found.warnings + warnings(request, who)))
    if "admin" not in who.scopes:
        del told["store"]
    if not operates(who, session):
        del told["bytes"]
    return Told(told)


@router.get("/sources", responses=answers(_SOURCES, about="The sources, with what they hold."))
async def list_sources(who: Reader, session: Working) -> Response:
    """List the folders and files that memories come from."""
    return Told({"sources": shape.plain(await session.do(who, lambda memory: memory.sources()))})


@router.post("/sync", responses=_streamed(described(Summary), "What the sync did."))
async def sync(wanted: Sync, request: Request, who: Admin, session: Working) -> Response:
    """Bring the store in step with a folder or file of the server, or with every registered source."""
    options, roots = wanted.given(), session.settings.server

    def work(memory: Memory, report: Report) -> Summary:
        for path in (wanted.path, wanted.only):
            if path is not None:
                within(path, roots, (source.root for source in memory.sources()))
        return memory.sync(**options, progress=report)

    return await long(request, session, who, work)


@router.delete(
    "/sources/{name:path}",
    responses=answers(described(RemovedSource), about="The source as it was.", more=(404,)),
)
async def remove_source(
    name: Annotated[str, Path(description="Its id, or its path.")], who: Admin, session: Working
) -> Response:
    """Remove a source with everything it brought and what rests on that alone; its files are not touched."""
    done = await session.do(who, lambda memory: memory.remove_source(name), writes=True)
    return Told(shape.plain(done))


@router.get("/models", responses=answers(_MODELS, about="The models."))
async def list_models(who: Reader, session: Working) -> Response:
    """List the embedding models and how far each reaches."""
    return Told({"models": shape.plain(await session.do(who, lambda memory: memory.models()))})


@router.put("/models/{name:path}", responses=_ONE_MODEL)
async def add_model(name: Name, who: Admin, session: Working) -> Response:
    """Register a model that the server's settings describe, to be backfilled beside those in use."""
    return Told(shape.plain(await session.do(who, lambda memory: memory.add_model(name), writes=True)))


@router.post("/models/{name:path}/use", responses=_ONE_MODEL)
async def use_model(name: Name, who: Admin, session: Working) -> Response:
    """Rank with a model, beside the base model, from now on."""
    return Told(shape.plain(await session.do(who, lambda memory: memory.use_model(name), writes=True)))


@router.delete("/models/{name:path}", responses=_ONE_MODEL)
async def drop_model(name: Name, who: Admin, session: Working) -> Response:
    """Remove a model and its vectors from the store."""
    return Told(shape.plain(await session.do(who, lambda memory: memory.drop_model(name), writes=True)))


@router.post("/embed", responses=_streamed(described(Embedded), "What was embedded."))
async def embed(wanted: Embed, request: Request, who: Admin, session: Working) -> Response:
    """Embed what waits for a backfilled model; stopped at any moment, it goes on where it was."""
    options = wanted.given()
    return await long(request, session, who, lambda memory, report: memory.embed(**options, progress=report))


@router.post("/rebuild", responses=_streamed(described(Summary), "What was made anew."))
async def rebuild(_wanted: Rebuild, request: Request, who: Admin, session: Working) -> Response:
    """Make every memory anew from what is stored, beside the old ones, and switch at once."""
    return await long(request, session, who, lambda memory, report: memory.rebuild(progress=report))


@router.post("/consolidate", responses=_streamed(described(Consolidated), "What the night made."))
async def consolidate(wanted: Consolidate, request: Request, who: Admin, session: Working) -> Response:
    """Tell old conversations, tool results and daily notes in digests, and archive what was told."""
    options = wanted.given()
    return await long(
        request, session, who, lambda memory, report: memory.consolidate(**options, progress=report)
    )


@router.post(
    "/consolidate/{run}/undo", responses=answers(described(Undone), about="What was taken back.", more=(404,))
)
async def undo_consolidate(run: Run, who: Admin, session: Working) -> Response:
    """Take a consolidation back: what it made goes, what it archived is active again."""
    return Told(shape.plain(await session.do(who, lambda memory: memory.undo(run), writes=True)))


@router.post("/audit", responses=answers(described(Audit), about="How good what is remembered is."))
async def audit(wanted: Look, who: Admin, session: Working) -> Response:
    """Return how many active memories are of no use, and why; put away those of the kinds to be mended."""
    options = wanted.given()
    done = await session.do(who, lambda memory: memory.audit(**options), at_length=True)
    return Told(shape.plain(done))


@router.post(
    "/audit/{run}/undo", responses=answers(described(Changed), about="What is active again.", more=(404,))
)
async def undo_audit(run: Run, who: Admin, session: Working) -> Response:
    """Take back what a run of the audit, or of retention, put away."""
    return Told(shape.plain(await session.do(who, lambda memory: memory.undo_audit(run), writes=True)))


@router.post(
    "/retention", responses=answers(described(Retained), about="What was put away, and what is gone.")
)
async def retain(wanted: Retain, who: Admin, session: Working) -> Response:
    """Keep to the settings of [retention]: put away, or forget, what is too old or too much."""
    options = wanted.given()
    return Told(shape.plain(await session.do(who, lambda memory: memory.retain(**options), at_length=True)))
