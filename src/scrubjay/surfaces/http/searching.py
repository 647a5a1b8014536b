"""Searching: a question over HTTP -> the facade's answer, as every surface shapes it."""

from __future__ import annotations

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field

from scrubjay.surfaces.serve.asked import Reader, Working

router = APIRouter(prefix="/v1", tags=["recall"])


class Search(BaseModel):
    """A question."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"query": "who is on call?"}]})

    query: str = Field(
        description='A question, words, an identifier. "quoted" text must occur, -word must not.'
    )
    limit: int | None = Field(None, description="Most results; the settings' where it is not given.")
    explain: bool = Field(False, description="Return with each result every part of its score.")


@router.post("/search")
async def search(wanted: Search, who: Reader, session: Working) -> Response:
    """Return the memories that answer a query, best first."""
    options = wanted.model_dump(exclude_unset=True)
    return Response(await session.ask(who, "search", options), media_type="application/json")
