"""Workspace: the store, scope, settings and models of one principal, and what that principal may change."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from scrubjay.config.settings import NotesSettings, Settings
from scrubjay.errors import ForbiddenError, InputError, NotFoundError, ScrubjayError
from scrubjay.models.records import Record, Scope
from scrubjay.services.models import ModelRegistry, RerankerRegistry
from scrubjay.storage.interface import Reader, Store

if TYPE_CHECKING:
    from scrubjay.entities.dictionary import DictionaryCache
    from scrubjay.log import Log
    from scrubjay.services.search import QueryRewriter


def _ignore(_: str) -> None:
    """Nobody listens to announcements of remote providers."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where one principal's syncs are done: the store, who syncs, with which models and settings.

    Attributes:
        store: Where memories live.
        scope: Who asks and writes.
        lineup: The models.
        settings: The settings.
        lexicons: Concepts that an earlier call made ready to be found.
        announce: Told the host and the counts before a remote provider is first used.
        curates: Whether they may change what others shared.
        looks: Whether files are compared with the store before an answer.
        rerankers: Who can look again at what a search found.
        closed: Set once the store was closed; one for all principals at the store.
        log: Where what is slow or goes wrong is told; None for nowhere.
        rewriter: What makes a question whole by what was said before it; None where nobody does.
    """

    store: Store
    scope: Scope
    lineup: ModelRegistry
    settings: Settings
    lexicons: DictionaryCache = field(default_factory=dict)
    announce: Callable[[str], None] = _ignore
    curates: bool = True
    looks: bool = True
    log: Log | None = None
    rewriter: QueryRewriter | None = None
    rerankers: RerankerRegistry = field(default_factory=RerankerRegistry)
    closed: threading.Event = field(default_factory=threading.Event)


def workspace_for(workspace: Workspace, scope: Scope, *, curates: bool = False) -> Workspace:
    """Return a workspace for a principal; what one of them makes ready is not shared with another.

    The folder of day notes is the settings' owner's, so nobody else's additions are written there.

    Args:
        workspace: Another's.
        scope: The principal.
        curates: Whether they may change what others shared.
    """
    mine = (scope.tenant, scope.user) == (workspace.scope.tenant, workspace.scope.user)
    settings = replace(
        workspace.settings,
        tenant=scope.tenant,
        user=scope.user,
        groups=scope.groups,
        notes=workspace.settings.notes if mine else NotesSettings(),
    )
    return replace(
        workspace,
        scope=scope,
        lineup=workspace.lineup.seen_by(scope),
        settings=settings,
        lexicons={},
        looks=True,
        curates=curates,
    )


def may_change(workspace: Workspace, record: Record) -> bool:
    """Return whether a principal may change a memory that they see: it is theirs, or they may curate."""
    return workspace.curates or record.owner == workspace.scope.user or record.key == workspace.scope.key()


def require_may_change(workspace: Workspace, records: Iterable[Record], what: str) -> None:
    """Refuse to change what others shared.

    Args:
        workspace: Who asks.
        records: Memories that they see.
        what: What they want to do, as in "may ... it".

    Raises:
        ForbiddenError: One of them is somebody else's.
    """
    for record in records:
        if not may_change(workspace, record):
            owner = record.owner or "several people"
            raise ForbiddenError(
                f"{record.id} is {owner}'s, shared as {record.key}: only its owner and whoever may curate can {what} "
                "it. Nothing was written.",
                hint=f"ask {owner}, or use a token with the scope curate: scrubjay token create NAME --scope read "
                "--scope write --scope curate",
            )


def resolve_projects(workspace: Workspace, projects: Sequence[str]) -> Sequence[str]:
    """Return projects by their own names; a text instead of a list is left for the request to refuse.

    Raises:
        InputError: A path is no project: the home directory, or the root of the disk.
    """
    if not projects or isinstance(projects, str):
        return projects
    from scrubjay.ingest.projects import ProjectResolver

    known = ProjectResolver(workspace.store, workspace.scope, learn=False)
    return [_require_project(known.named(text), text) for text in projects]


def _require_project(name: str, text: str) -> str:
    if not name:
        raise InputError(
            f"{text} is no project: the home directory and the root of the disk hold projects and are none.",
            hint="name a project's folder, or leave the project out",
        )
    return name


def log_unexpected_end(workspace: Workspace, what: str, error: ScrubjayError) -> None:
    """Tell that something that should go on has ended."""
    if workspace.log is not None:
        workspace.log.write("error", f"{what} ended", error=type(error).__name__)


def resolve_id(reader: Reader, memory: str) -> str:
    """Return the id that a text begins.

    Raises:
        NotFoundError: None does, or several do.
    """
    found = reader.complete(memory, 2) if memory else []
    if len(found) > 1:
        raise NotFoundError(f"Several ids begin with {memory!r}.", hint="give more of its characters")
    if not found:
        raise NotFoundError(
            f"No memory {memory!r} is there, or it is not yours to see.",
            hint="`scrubjay search` shows the ids of what it finds",
        )
    return found[0]
