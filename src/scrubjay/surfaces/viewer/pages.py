"""Pages: the viewer's routes as one router, the paths that anybody may ask for, and where a token is given."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from scrubjay.surfaces.viewer import (
    assets,
    audits,
    categories,
    concepts,
    door,
    editing,
    memory,
    searching,
    standing,
    timeline,
)

DOOR: Final = "/login"
OPEN: Final = (DOOR, "/logout", "/assets/")
"""What needs no token: the form that takes one, and files that say nothing of anybody's memories."""

router = APIRouter(include_in_schema=False)
for part in (assets, audits, categories, concepts, door, editing, memory, searching, standing, timeline):
    router.include_router(part.router)
