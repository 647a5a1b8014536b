"""Workspace: the store, scope, settings and models of one principal, and what that principal may change."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from scrubjay.config.settings import LlmSettings, NotesSettings, Settings
from scrubjay.errors import ForbiddenError, InputError, NotFoundError
from scrubjay.frozen import frozen
from scrubjay.models.records import Record, Scope
from scrubjay.services.models import ModelRegistry, QueryRewriter, RerankerRegistry
from scrubjay.storage.interface import Reader, Store

if TYPE_CHECKING:
    from scrubjay.entities.dictionary import DictionaryCache
    from scrubjay.log import Log


def ignore_announcement(_message: str) -> None:
    """Default for ``announce``."""


@frozen
class Workspace:
    """The store of one principal, with the models and settings that its operations use.

    Attributes:
        store: The store, shared by all principals of a process.
        scope: The principal.
        models: The embedding models.
        settings: The settings.
        dictionaries: Cached entity dictionaries, by visibility key.
        announce: Called with the host and the counts before a remote provider is first used.
        may_curate: Whether the principal may change what others shared.
        checks_files: Whether a search first looks for changed files.
        rerankers: The rerankers.
        closed: Set once the store is closed; shared by all principals.
        log: Where slow queries and problems are written; None for nowhere.
        rewriter: Rewrites a query that depends on what was said before it.
    """

    store: Store
    scope: Scope
    models: ModelRegistry
    settings: Settings
    dictionaries: DictionaryCache = field(default_factory=dict)
    announce: Callable[[str], None] = ignore_announcement
    may_curate: bool = True
    checks_files: bool = True
    log: Log | None = None
    rewriter: QueryRewriter = field(default_factory=lambda: QueryRewriter(LlmSettings(), ignore_announcement))
    rerankers: RerankerRegistry = field(default_factory=RerankerRegistry)
    closed: threading.Event = field(default_factory=threading.Event)

    def for_principal(self, scope: Scope, *, may_curate: bool = False) -> Workspace:
        """Return the workspace of another principal; another user gets no day notes."""
        same_user = (scope.tenant, scope.user) == (self.scope.tenant, self.scope.user)
        settings = replace(
            self.settings,
            tenant=scope.tenant,
            user=scope.user,
            groups=scope.groups,
            notes=self.settings.notes if same_user else NotesSettings(),
        )
        return replace(
            self,
            scope=scope,
            models=self.models.for_scope(scope),
            settings=settings,
            dictionaries={},
            checks_files=True,
            may_curate=may_curate,
        )


def may_change(workspace: Workspace, record: Record) -> bool:
    """Return whether a principal may change a memory that they see: it is theirs, or they may curate."""
    return workspace.may_curate or record.owner == workspace.scope.user or record.key == workspace.scope.key()


def require_may_change(workspace: Workspace, records: Iterable[Record], what: str) -> None:
    """Refuse to change what others shared; ``what`` completes "can … it".

    Raises:
        ForbiddenError: One of the records is somebody else's.
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
    """Return the names of projects given by name or path.

    Raises:
        InputError: A path is no project: the home directory, or the root of the disk.
    """
    if not projects or isinstance(projects, str):
        return projects
    from scrubjay.ingest.projects import ProjectResolver

    known = ProjectResolver(workspace.store, workspace.scope, learn=False)
    names = [known.named(text) for text in projects]
    for name, text in zip(names, projects, strict=True):
        if not name:
            raise InputError(
                f"{text} is no project: the home directory and the root of the disk hold projects and are none.",
                hint="name a project's folder, or leave the project out",
            )
    return names


def resolve_id(reader: Reader, memory: str) -> str:
    """Return the id that a text is the unique prefix of.

    Raises:
        NotFoundError: No id begins so, or several do.
    """
    found = reader.ids_with_prefix(memory, 2) if memory else []
    if len(found) > 1:
        raise NotFoundError(f"Several ids begin with {memory!r}.", hint="give more of its characters")
    if not found:
        raise NotFoundError(
            f"No memory {memory!r} is there, or it is not yours to see.",
            hint="`scrubjay search` shows the ids of what it finds",
        )
    return found[0]
