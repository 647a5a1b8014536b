"""Workspace: store, scope, settings and models of one principal, and the arguments they share."""

from __future__ import annotations

import inspect
import os
import re
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field, replace
from datetime import date
from functools import cache, partial, wraps
from typing import TYPE_CHECKING, Any, TypeVar

from scrubjay.config.loader import environment_copy
from scrubjay.config.settings import LlmSettings, NotesSettings, Settings
from scrubjay.errors import ForbiddenError, InputError
from scrubjay.frozen import frozen
from scrubjay.ingest.projects import ProjectResolver, match_project
from scrubjay.ingest.scan_cache import ScanCache
from scrubjay.models.records import STATUSES, Record, RecordFilter, Scope
from scrubjay.services.models import ModelRegistry
from scrubjay.services.query_rewriter import QueryRewriter
from scrubjay.services.reranker_registry import RerankerRegistry
from scrubjay.storage.interface import Reader, Store
from scrubjay.tracing import enable, span

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
        dictionaries: Cached entity dictionaries, by visibility key.
        announce: Called with the host and the counts before a remote provider is first used.
        may_curate: Whether the principal may change what others shared.
        checks_files: Whether a search first looks for changed files.
        closed: Set once the store is closed; shared by all principals.
        log: Where slow queries and problems are written; None for nowhere.
        scan_cache: Scans of sources that this process keeps.
        rewriter: Rewrites a query that depends on what was said before it.
        borrowed: Whether the store was opened for another principal, who closes it.
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
    scan_cache: ScanCache = field(default_factory=ScanCache)
    rewriter: QueryRewriter = field(default_factory=lambda: QueryRewriter(LlmSettings(), ignore_announcement))
    rerankers: RerankerRegistry = field(default_factory=RerankerRegistry)
    closed: threading.Event = field(default_factory=threading.Event)
    borrowed: bool = False

    def reader(self) -> AbstractContextManager[Reader]:
        """Open one consistent view of what the principal may see."""
        return self.store.reader(self.scope)

    def projects(self) -> ProjectResolver:
        """Return the known projects, without learning of new ones."""
        return ProjectResolver(self.store, self.scope, learn=False)

    def without_day_notes(self) -> Workspace:
        """Return the same without appending additions to day notes."""
        notes = replace(self.settings.notes, dir=None)
        return replace(self, settings=replace(self.settings, notes=notes))

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
            borrowed=True,
        )


def refresh_learned_notes(workspace: Workspace) -> None:
    """Write memories that a call changed into the folder of the settings, if they name one."""
    if workspace.settings.notes.learned_dir is not None:
        from scrubjay.services import learned_notes

        learned_notes.refresh_learned_notes(workspace)


def write_changed_notes(workspace: Workspace, new: Sequence[str] = (), changed: Sequence[str] = ()) -> None:
    """Write the files of new and of changed memories, if the settings name a folder for them."""
    if workspace.settings.notes.learned_dir is not None and (new or changed):
        from scrubjay.services import learned_notes

        learned_notes.write_changed_notes(workspace, new, changed)


def may_change(workspace: Workspace, record: Record) -> bool:
    """Return whether a principal may change a memory that they see: it is theirs, or they may curate."""
    return workspace.may_curate or record.owner == workspace.scope.user or record.key == workspace.scope.key()


def require_may_change(workspace: Workspace, records: Iterable[Record], verb: str) -> None:
    """Refuse to change what others shared; ``verb`` completes "can … it"."""
    for record in records:
        if not may_change(workspace, record):
            owner = record.owner or "several people"
            raise ForbiddenError(
                f"{record.id} is {owner}'s, shared as {record.key}: only its owner and whoever may curate can {verb} "
                "it. Nothing was written.",
                hint=f"ask {owner}, or use a token with the scope curate: scrubjay token create NAME "
                f"{workspace.scope.token_options} --scope read --scope write --scope curate",
            )


def resolve_projects(workspace: Workspace, projects: Sequence[str]) -> Sequence[str]:
    """Return the names of projects given by name or path."""
    if not projects or isinstance(projects, str):
        return projects
    known = workspace.projects()
    names = [known.resolve(text) for text in projects]
    for name, text in zip(names, projects, strict=True):
        if not name:
            raise InputError(
                f"{text} is no project: the home directory and the root of the disk contain projects.",
                hint="name a project's folder, or leave the project out",
            )
    return names


MAX_PROJECTS = 10
"""Maximum number of projects that an error names."""


def find_project(workspace: Workspace, project: str) -> str:
    """Return the project with a name, or whose name ends so.

    Raises:
        InputError: The caller can see no such project; the message names the known ones, the most similar first.
    """
    known = workspace.projects().names()
    if match := match_project(project, known):
        return match
    with workspace.reader() as reader:
        known = sorted({*known, *reader.project_names()})
    if match := match_project(project, known):
        return match
    raise _unknown_value("project", project, known)


def _unknown_value(kind: str, value: str, known: Collection[str]) -> InputError:
    """Return the error for a filter value that no visible memory has; it names the most similar known ones."""
    from difflib import SequenceMatcher

    wanted = value.casefold()
    similarity = {one: SequenceMatcher(None, wanted, one.casefold()).ratio() for one in known}
    nearest = sorted(known, key=lambda one: (wanted not in one.casefold(), -similarity[one], one))
    more = f" and {len(nearest) - MAX_PROJECTS} more" if len(nearest) > MAX_PROJECTS else ""
    named = ", ".join(f"{one:.80}" for one in nearest[:MAX_PROJECTS]) + more
    article = "an" if kind == "agent" else "a"
    names = f"{kind.capitalize()}s: {named}" if named else f"No memory has {article} {kind}"
    return InputError(
        f"There is no {kind} {value!r:.80}. {names}.",
        hint="give one of these, or omit it to search everywhere" if named else "omit it",
    )


T = TypeVar("T")
MAX_KNOWN = 1_000
"""Latest memories, or sessions, among which values that are similar to an unknown one are looked for."""


def retry_if_empty(workspace: Workspace, ask: Callable[..., T], arguments: Mapping[str, Any], found: T) -> T:
    """Return the answer of a query; if it is empty, ask again with its filter values completed.

    Raises:
        InputError: No visible memory has a value; the message names similar ones.
    """
    if any(getattr(found, name, None) for name in ("results", "nearest", "entries", "text")):
        return found
    completed = find_filter_values(workspace, arguments)
    return ask(**completed) if completed != arguments else found


def find_filter_values(workspace: Workspace, filters: Mapping[str, Any]) -> dict[str, Any]:
    """Return filters of a search or context with projects and sessions by their whole names.

    Raises:
        InputError: No visible memory has a project, agent, session, tag or path; the message names similar ones.
    """

    def whole_project(name: str) -> str:
        return name if name.startswith((".", "~", "/", "\\")) else find_project(workspace, name)

    completed = dict(filters)
    if projects := filters.get("projects"):
        completed["projects"] = [whole_project(one) for one in projects]
    if project := filters.get("project"):
        completed["project"] = whole_project(project)
    with workspace.reader() as reader:

        def exists(**where: Any) -> bool:
            return bool(reader.latest(RecordFilter(statuses=STATUSES, **where), 1))

        if sessions := filters.get("sessions"):
            completed["sessions"] = [
                one if exists(sessions=(one,)) else _find_session(reader, one) for one in sessions
            ]
        latest = partial(reader.latest, RecordFilter(statuses=STATUSES), MAX_KNOWN)
        for agent in filter(None, (*filters.get("agents", ()), filters.get("agent"))):
            if not exists(agents=(agent,)):
                raise _unknown_value("agent", agent, {one.agent for one in latest() if one.agent})
        for tag in filters.get("tags", ()):
            if not exists(tags=(tag,)):
                raise _unknown_value("tag", tag, {each for one in latest() for each in one.tags})
        path = filters.get("path")
        if path and not exists(path=path):
            raise _unknown_value("path", path, {one.place.path for one in latest() if one.place})
    return completed


def _find_session(reader: Reader, text: str) -> str:
    sessions = reader.sessions(sys.maxsize)
    matching = [one for one in sessions if one.startswith(text)]
    if len(matching) != 1:
        raise _unknown_value("session", text, matching or sessions[:MAX_KNOWN])
    return matching[0]


_ANNOTATIONS: dict[str, tuple[str, type | tuple[type, ...]]] = {
    "None": ("None", type(None)),
    "str": ("a text", str),
    "bool": ("True or False", bool),
    "int": ("a whole number", int),
    "float": ("a number", (int, float)),
    "Path": ("a path", os.PathLike),
    "datetime": ("a date", date),
    "date": ("a date", date),
    # Its items are checked where they are read, since the error there can name the wrong one.
    "Sequence[str]": ("a list of texts", Iterable),
}
"""Annotation to how an error calls it, and its types. Parameters of any other annotation are not checked."""


def _is_instance(value: object, annotation: str) -> bool:
    return isinstance(value, _ANNOTATIONS[annotation][1]) and (
        annotation == "bool" or not isinstance(value, bool)
    )


def check_calls(cls: type[T]) -> type[T]:
    """Make every public method check its arguments first, refuse calls once the object is closed, and be a span.

    The class has `_refuse_closed`, which raises where the object was closed.
    """
    for name in dir(cls):
        method = inspect.getattr_static(cls, name)
        if not name.startswith("_") and name not in ("open", "close") and inspect.isfunction(method):
            setattr(cls, name, _checked_method(method))
    return cls


def _checked_method(method: Callable[..., Any]) -> Callable[..., Any]:
    name = f"scrubjay.{method.__name__}"

    @wraps(method)
    def call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        self._refuse_closed()
        check_arguments(method, self, *args, **kwargs)
        with span(name):
            return method(self, *args, **kwargs)

    return call


def enable_tracing(settings: Settings) -> None:
    """Record traces in this process, if the settings say so."""
    if settings.telemetry.traces:
        from importlib.metadata import version

        enable(environment_copy(), version("scrubjay"))


def check_arguments(method: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Compare the arguments of a call with the method's annotations.

    Raises:
        InputError: One is of another type. A call that does not fit the signature is left to Python.
    """
    names, kinds = _checked_parameters(method)
    for name, value in (*zip(names, args, strict=False), *kwargs.items()):
        wanted = kinds.get(name)
        if wanted is not None and not any(_is_instance(value, kind) for kind in wanted):
            phrases = " or ".join(dict.fromkeys(_ANNOTATIONS[kind][0] for kind in wanted if kind != "None"))
            kind = type(value).__name__
            raise InputError(
                f"{method.__name__}(): {name} is {'an' if kind[0] in 'aeio' else 'a'} {kind}, not {phrases}: "
                f"{value!r:.80}. Nothing was done."
            )


def check_principal(call: str, user: str, groups: Sequence[str], tenant: str | None) -> None:
    """Refuse names that would make strangers one principal."""
    if isinstance(groups, str):
        raise InputError(
            f"{call}(): groups is one text, {groups!r:.80}, not a list of them. Nothing was done."
        )
    for name, value in (("user", user), ("tenant", tenant), *(("a group", one) for one in groups)):
        if isinstance(value, str) and not value.strip():
            raise InputError(
                f"{call}(): {name} is empty: {value!r:.80}. Nothing was done.",
                hint="callers without a name would share one another's memories; name each of them",
            )


@cache
def _checked_parameters(method: Callable[..., Any]) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Return the names of all parameters, and the allowed annotations of those that are checked."""
    parameters = inspect.signature(method).parameters
    kinds = {}
    for name, parameter in parameters.items():
        parts = tuple(re.split(r"\s*\|\s*", str(parameter.annotation)))
        if all(part in _ANNOTATIONS for part in parts):
            kinds[name] = parts
    return tuple(parameters), kinds
