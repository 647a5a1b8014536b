"""Places: which project a caller means."""

from __future__ import annotations

from collections.abc import Sequence

from scrubjay.errors import InputError
from scrubjay.wiring.desk import Desk


def resolved(desk: Desk, projects: Sequence[str]) -> Sequence[str]:
    """Return projects by their own names; a text instead of a list is left for the request to refuse.

    Raises:
        InputError: A path is no project: the home directory, or the root of the disk.
    """
    if not projects or isinstance(projects, str):
        return projects
    from scrubjay.ingest.projects import Projects

    known = Projects(desk.store, desk.scope, learn=False)
    return [_named(known.named(text), text) for text in projects]


def _named(name: str, text: str) -> str:
    if not name:
        raise InputError(
            f"{text} is no project: the home directory and the root of the disk hold projects and are none.",
            hint="name a project's folder, or leave the project out",
        )
    return name
