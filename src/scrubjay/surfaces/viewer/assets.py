"""Assets: the viewer's own files, and two libraries: sent by this server, loaded from nowhere else."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

from fastapi import APIRouter, Response

from scrubjay.errors import NotFoundError

FOLDER: Final = Path(__file__).with_name("static")
TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

router = APIRouter(include_in_schema=False)


@cache
def _held() -> dict[str, tuple[bytes, str, str]]:
    """Name to bytes, type, and a mark that changes with the bytes."""
    found = {}
    for file in sorted(FOLDER.iterdir()):
        if file.suffix in TYPES:
            data = file.read_bytes()
            found[file.name] = data, TYPES[file.suffix], hashlib.sha256(data).hexdigest()[:12]
    return found


def address(name: str) -> str:
    """Return the address of a file, another one for other bytes."""
    return f"/assets/{name}?v={_held()[name][2]}"


@router.get("/assets/{name}")
def asset(name: str) -> Response:
    """Return a file of the viewer."""
    if name not in _held():
        raise NotFoundError(f"There is no file {name!r:.80}.")
    data, kind, _ = _held()[name]
    headers = {
        "cache-control": "public, max-age=31536000, immutable",
        "x-content-type-options": "nosniff",
        "cross-origin-resource-policy": "same-origin",
        "content-security-policy": "default-src 'none'",
    }
    return Response(data, headers=headers, media_type=kind)
