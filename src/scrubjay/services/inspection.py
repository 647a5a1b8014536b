"""Inspection service: the contents of a store, its conversations, and the surroundings of a memory.

The totals of a whole store, over all users and tenants, are for its worker and its operators, never for a caller.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrubjay.errors import InputError, NotFoundError, StoreError
from scrubjay.frozen import frozen
from scrubjay.models.dates import iso_seconds, record_date
from scrubjay.models.ids import memory_id
from scrubjay.models.records import (
    DUE_LINKS,
    FOREIGN,
    IMPORTED_AT,
    JOINT,
    LEFT_OUT,
    OWN,
    Document,
    Record,
    RecordFilter,
    Source,
    UnrestrictedScope,
    due_since,
    said_at,
)
from scrubjay.models.reports import ArchivedByRun, FileError, MemoryPage, Redaction, SourceStatus, StoreStatus
from scrubjay.models.results import line_range
from scrubjay.models.sources import authorship, repository_of, source_location
from scrubjay.models.sources import find_source as find_registered
from scrubjay.models.views import (
    Conflict,
    Conversation,
    ConversationList,
    ConversationPage,
    MemoryHistory,
    MemoryLink,
    MemoryView,
    TimelinePage,
)
from scrubjay.search import browse
from scrubjay.search.browse import memory_phrase
from scrubjay.search.plan import resolve_filters
from scrubjay.search.request import Clock, Filters, SearchOptions, build_request
from scrubjay.search.results import full_paths
from scrubjay.services.workspace import Workspace, resolve_projects
from scrubjay.storage.interface import BATCH_ROWS, Reader, all_records
from scrubjay.storage.quota import used_allowances
from scrubjay.text.markdown import extract_links, heading_slug

if TYPE_CHECKING:
    from scrubjay.ingest.projects import ProjectResolver
    from scrubjay.storage.interface import Store


def list_sources(workspace: Workspace) -> list[SourceStatus]:
    with workspace.reader() as reader:
        sources = reader.sources()
        if not sources:
            return []
        projects = workspace.projects()
        return [_source_status(reader, source, projects) for source in sources]


def find_source(workspace: Workspace, name: str) -> SourceStatus:
    with workspace.reader() as reader:
        source = find_registered(reader.sources(), name)
        return _source_status(reader, source, workspace.projects())


MAX_NAMED: Final = 5
"""Maximum number of notes that an error names."""


def find_note(reader: Reader, name: str) -> str | None:
    """Return the absolute path of the note with a name or ``[[wiki link#heading]]``, None if there is none.

    Raises:
        NotFoundError: Several notes have the name.
    """
    from scrubjay.ingest.enrichment import find_pages

    inner = name.strip().removeprefix("!").removeprefix("[[").removesuffix("]]")
    links = extract_links(f"[[{inner}]]")
    target = next((one for one in links if one.rule == "wikilink" and one.name), None)
    if target is None:
        return None
    ranked = [
        (rank, str(Path(source.root) / path))
        for source in reader.sources()
        for rank, path in find_pages(reader, source.id, target)
    ]
    paths = sorted(path for rank, path in ranked if rank == min(ranked)[0])
    if len(paths) > 1:
        named = ", ".join(paths[:MAX_NAMED]) + (" and others" if len(paths) > MAX_NAMED else "")
        raise NotFoundError(f"Several notes are called {target.name!r:.80}: {named}.", hint="give one path")
    heading = "" if target.heading.startswith("^") else heading_slug(target.heading)
    return f"{paths[0]}#{heading}".rstrip("#") if paths else None


def _source_status(reader: Reader, source: Source, projects: ProjectResolver) -> SourceStatus:
    synced = iso_seconds(source.synced_at) if source.synced_at else None
    place = source_location(source)
    documents = reader.documents(source.id)
    ownership = _ownership_counts(source, documents)
    repository = repository_of(source)
    left_out = sum(one.versions.extractor == LEFT_OUT for one in documents.values())
    return SourceStatus(
        id=source.id,
        root=place,
        description=source.description,
        documents=0 if repository else len(documents),
        passages=reader.count_passages([source.id]),
        synced=synced,
        present=os.path.exists(place),
        imported=source.synced_at == IMPORTED_AT,
        project=projects.of_source_directory(source.id, repository or source.root),
        trust=source.trust or next((one for one in (FOREIGN, JOINT) if ownership[one]), OWN),
        share=source.share is not False,
        untrusted=0 if repository else ownership[FOREIGN] + ownership[JOINT],
        commits=len(documents) - left_out if repository else 0,
        left_out=left_out,
        forgotten=sum(one.forgotten for one in documents.values()),
    )


def _ownership_counts(source: Source, documents: Collection[str]) -> Counter[str]:
    """Count the files of a source by authorship, which is the same for all files of one folder."""
    counts = Counter[str]()
    for folder, files in Counter(os.path.dirname(path) for path in documents).items():
        counts[authorship(source, os.path.join(folder, "-"))] += files
    return counts


def unread_files(reader: Reader) -> list[FileError]:
    """Return the files whose current content, or its front matter, could not be read."""
    return [
        FileError(str(Path(source.root) / path), document.trouble or document.misread, _retry_hint(document))
        for source in reader.sources()
        for path, document in reader.documents(source.id).items()
        if document.trouble or document.misread
    ]


def _retry_hint(document: Document) -> str:
    if document.misread:
        quotes = ": put a value with a colon in quotes" if "not YAML" in document.misread else ""
        return f"repair its front matter{quotes}; the text is stored"
    if document.is_unconverted:
        return "it is read again when the file changes; a line in .scrubjayignore leaves it out"
    return "`scrubjay sync` tries it again"


def store_status(workspace: Workspace) -> StoreStatus:
    with workspace.reader() as reader:
        counts = reader.counts()
        archived = _archived_by_runs(reader) if counts.statuses.get("archived") else ()
        unread = tuple(unread_files(reader))
        due = reader.due(DUE_LINKS)
    warnings = (workspace.store.row_security_warning(), workspace.store.index_hint(workspace.scope))
    return StoreStatus(
        store=workspace.store.url,
        bytes=workspace.store.size(),
        memories=counts.memories,
        tiers=counts.tiers,
        statuses=counts.statuses,
        documents=counts.documents,
        sources=tuple(list_sources(workspace)),
        models=tuple(workspace.models.status()),
        notes=tuple(filter(None, (workspace.models.multilingual_note(),))),
        quota=used_allowances(workspace.store, workspace.scope),
        warnings=tuple(filter(None, warnings)),
        archived=archived,
        unread=unread,
        unenriched=len({(one.source, one.path or one.id) for one in due}),
        unenriched_since=None if not due else iso_seconds(min(due_since(one.mark) for one in due)),
    )


def _archived_by_runs(reader: Reader) -> tuple[ArchivedByRun, ...]:
    from scrubjay.consolidation.context import UNREQUESTED_ARCHIVE_RULES
    from scrubjay.consolidation.undo import archiving_runs

    by_run: dict[str, ArchivedByRun] = {}
    for run, events in archiving_runs(reader):  # one for each visibility key
        before = by_run[run.id].memories if run.id in by_run else 0
        undo = f"scrubjay consolidate --undo {run.id}"
        by_run[run.id] = ArchivedByRun(
            run.id, before + len(events), run.rules in UNREQUESTED_ARCHIVE_RULES, undo
        )
    return tuple(by_run.values())


CONTEXT_CHARACTERS: Final = 24
_REDACTION_MARK: Final = re.compile(r"\[(?:secret:([a-z0-9-]{1,40})|private)\]")


def list_redactions(workspace: Workspace) -> list[Redaction]:
    """Return the redaction marks in visible memories, by file and line."""
    from scrubjay.ingest.additions import addition_key  # most commands need none of it

    marks: list[Redaction] = []
    secret = workspace.store.secret(workspace.scope)
    with workspace.reader() as reader:
        roots = {source.id: source.root for source in reader.sources()}
        for record in all_records(reader):
            found = list(_find_marks(record, roots))
            # An addition whose id is that of its stored text was stored as it was written, marks and all.
            if found and (
                record.place is not None or record.id != memory_id(record.tier, addition_key(secret, record))
            ):
                marks += found
    return sorted(marks, key=lambda one: (one.path, one.line, one.memory))


def _find_marks(record: Record, roots: dict[str, str]) -> Iterator[Redaction]:
    text, place = record.content, record.place
    path = "" if place is None else str(Path(roots.get(place.source, "")) / place.path)
    for mark in _REDACTION_MARK.finditer(text):
        lines = line_range(place)
        line = 0 if lines is None else lines[0] + text.count("\n", 0, mark.start())
        # One more character says whether the line goes on: a word that is cut is left out.
        before = text[max(0, mark.start() - CONTEXT_CHARACTERS - 1) : mark.start()].rpartition("\n")[2]
        if len(before) > CONTEXT_CHARACTERS:
            before = before.partition(" ")[2] or before[1:]
        after = text[mark.end() : mark.end() + CONTEXT_CHARACTERS + 1].partition("\n")[0]
        if len(after) > CONTEXT_CHARACTERS:
            after = after.rpartition(" ")[0] or after[:-1]
        yield Redaction(record.id, mark[1] or "private", path, line, before, after)


def list_conflicts(workspace: Workspace) -> list[Conflict]:
    """Return the pairs of active memories that contradict each other, the latest first."""
    with workspace.reader() as reader:
        edges = reader.edges(sorted(reader.degrees("contradicts")), ["contradicts"], inward=True)
        rules = {tuple(sorted((edge.src, edge.dst))): edge.rule for edge in edges}
        records = reader.get(sorted({memory for pair in rules for memory in pair}))
        active = {one.id for one in records.values() if one.status == "active"}
        pairs = [
            (*sorted(pair, key=lambda memory: (-said_at(records[memory]), memory)), rule)
            for pair, rule in rules.items()
            if active.issuperset(pair)
        ]
        cited = {one.id: one for one in browse.cite_memories(reader, sorted(active))}
    pairs.sort(key=lambda pair: (-said_at(records[pair[0]]), pair))
    return [Conflict(cited[one], cited[other], rule) for one, other, rule in pairs]


def list_records(workspace: Workspace, ids: Sequence[str]) -> TimelinePage:
    with workspace.reader() as reader:
        records = tuple(browse.find_records(reader, ids)[0].values())
        return TimelinePage(records, full_paths(records, reader.sources()), more=False)


def list_links(workspace: Workspace, memory: str) -> tuple[MemoryLink, ...]:
    with workspace.reader() as reader:
        return browse.memory_links(reader, browse.find_record(reader, memory).id)


def list_page(workspace: Workspace, filters: Filters, limit: int, after: str) -> MemoryPage:
    with workspace.reader() as reader:
        records = reader.page(after, limit + 1, _page_filter(workspace, reader, filters, limit))
        page = tuple(records[:limit])
        following = page[-1].id if len(records) > limit else None
        return MemoryPage(page, full_paths(page, reader.sources()), following)


def list_timeline(workspace: Workspace, filters: Filters, limit: int, skip: int) -> TimelinePage:
    if skip < 0:
        raise InputError(f"skip is {skip}; it must not be negative.")
    with workspace.reader() as reader:
        records = reader.latest(_page_filter(workspace, reader, filters, limit), limit + 1, skip)
        page = tuple(records[:limit])
        return TimelinePage(page, full_paths(page, reader.sources()), more=len(records) > limit)


def _page_filter(workspace: Workspace, reader: Reader, filters: Filters, limit: int) -> RecordFilter:
    """Check filters and the limit of a page as those of a search; sources and categories are given by any name."""
    filters = replace(filters, projects=resolve_projects(workspace, filters.projects))
    clock = Clock(tz=workspace.settings.recall.tz)
    return resolve_filters(
        build_request("", SearchOptions(filters=filters, limit=limit, clock=clock)).where, reader
    )


MAX_HISTORY_EVENTS: Final = 1_000
"""Newest events of one memory that are read."""


def memory_history(workspace: Workspace, memory: str) -> MemoryHistory:
    with workspace.reader() as reader:
        one = browse.find_record(reader, memory).id
        newest = reader.events([one], limit=MAX_HISTORY_EVENTS)
        events = tuple(event for event in reversed(newest) if event.op != "imported")
        linked: dict[tuple[str, bool], list[str]] = {}
        for kind in ("derived_from", "supersedes", "contradicts"):
            for inward in (False, True):
                edges = reader.edges([one], [kind], inward=inward)
                linked[kind, inward] = sorted(edge.src if inward else edge.dst for edge in edges)
        evidence = sorted((edge.dst, edge.rule) for edge in reader.edges([one], ["derived_from"]))
        record = reader.get([one])[one]
    return MemoryHistory(
        record,
        events,
        evidence=tuple(memory for memory, _ in evidence),
        rules=tuple(rule for _, rule in evidence),
        derived=tuple(linked["derived_from", True]),
        supersedes=tuple(linked["supersedes", False]),
        superseded_by=tuple(linked["supersedes", True]),
        contradicts=tuple(sorted({*linked["contradicts", False], *linked["contradicts", True]})),
    )


def view_memory(workspace: Workspace, memory: str, neighbours: int) -> MemoryView:
    history = memory_history(workspace, memory)
    with workspace.reader() as reader:
        return browse.view_memory(reader, history, neighbours)


OPENING_TURNS: Final = 8
"""First turns among which a person's words are looked for: an agent's instructions may come first."""
MAX_PAGE: Final = 200


def list_conversations(workspace: Workspace, limit: int, skip: int) -> ConversationList:
    _check_range("limit", limit, 1)
    _check_range("skip", skip, 0)
    with workspace.reader() as reader:
        sessions = reader.sessions(limit + 1, skip)
        described = (_describe_conversation(reader, session) for session in sessions[:limit])
        return ConversationList(tuple(filter(None, described)), len(sessions) > limit)


def read_conversation(workspace: Workspace, session: str, limit: int, skip: int) -> ConversationPage:
    _check_range("limit", limit, 1)
    _check_range("skip", skip, 0)
    with workspace.reader() as reader:
        conversation = _describe_conversation(reader, session)
        if conversation is None:
            raise NotFoundError(
                f"There is no conversation {session!r:.80}.", hint="it may have been forgotten"
            )
        first = reader.turns(session, skip, skip + limit - 1)
        last = reader.last_turn(session) or 0
        return ConversationPage(
            conversation, tuple(first), full_paths(first, reader.sources()), last >= skip + limit
        )


def _check_range(name: str, number: int, least: int) -> None:
    if number < least or (name == "limit" and number > MAX_PAGE):
        bound = f"{least} to {MAX_PAGE}" if name == "limit" else f"at least {least}"
        raise InputError(f"{name} is {number}; it must be {bound}.")


def _describe_conversation(reader: Reader, session: str) -> Conversation | None:
    last = reader.last_turn(session)
    if last is None:
        return None
    opening = reader.turns(session, 0, OPENING_TURNS - 1)
    closing = reader.turns(session, last, last)
    turns = opening or closing
    first = next((one for one in turns if one.role == "user" and _is_turn(one)), turns[0])
    title = next((one.title for one in turns if one.turn == 0 and _is_turn(one)), "")
    return Conversation(
        session=session,
        opening=title or memory_phrase(first),
        started=record_date(turns[0]),
        ended=record_date(closing[-1]),
        turns=last + 1,
        agent=next((one.agent for one in turns if one.agent), None),
        project=next((one.project for one in turns if one.project), None),
    )


def _is_turn(record: Record) -> bool:
    """Return whether a memory is a turn itself, not derived from one."""
    return record.tier == "observation" and bool(record.content.strip())


@frozen
class StoredUsers:
    """The users and groups that have memories in a tenant.

    Attributes:
        users: Each user, with the groups of their memories that enrichment is due for.
        public: Whether there are memories for everybody.
    """

    users: Mapping[str, frozenset[str]]
    groups: frozenset[str]
    public: bool


def known_tenants(store: Store, named: Iterable[str]) -> tuple[list[str], str]:
    """Return all tenants; if row-level security hides others, only the named ones, and the reason."""
    try:
        return sorted({*named, *store.tenants()}), ""
    except StoreError as error:  # one that cannot be read at all raises again at the first tenant
        return sorted(set(named)), str(error).removesuffix(" Nothing was read.")


@frozen
class TenantCounts:
    """Numbers of memories by tenant and by visibility key (``user:NAME``, ``group:NAME``, ``public``).

    Attributes:
        hidden: Why there may be other tenants; empty where these are all.
    """

    tenants: Mapping[str, Mapping[str, int]]
    hidden: str


def tenant_counts(store: Store, named: Iterable[str]) -> TenantCounts:
    tenants, hidden = known_tenants(store, named)
    counts = {tenant: sorted(store.memory_counts(tenant).items()) for tenant in tenants}
    return TenantCounts(
        {tenant: {key: count for key, count in own if count} for tenant, own in counts.items()}, hidden
    )


def stored_users(store: Store, named: Iterable[str]) -> dict[str, StoredUsers]:
    return {tenant: _tenant_users(store, tenant) for tenant in known_tenants(store, named)[0]}


def _tenant_users(store: Store, tenant: str) -> StoredUsers:
    keys = sorted(key for key, count in store.memory_counts(tenant).items() if count)
    names = [key.partition(":")[::2] for key in keys]
    users: dict[str, set[str]] = {name: set() for kind, name in names if kind == "user"}
    groups = frozenset(name for kind, name in names if kind == "group")
    if groups:
        with store.reader(UnrestrictedScope(tenant, "", (), tuple(keys))) as reader:
            due = [one.id for one in reader.due(DUE_LINKS) if one.key.startswith("group:")]
            for record in reader.get(due[:BATCH_ROWS]).values():
                users.setdefault(record.owner, set()).add(record.key.partition(":")[2])
    return StoredUsers({name: frozenset(found) for name, found in users.items()}, groups, "public" in keys)


@frozen
class StoreTotals:
    """Sums over all users of all known tenants.

    Attributes:
        tiers: Memories by tier.
        due: Memories that enrichment is due for.
        waiting: Memories pending embedding, by the model's name.
        oldest: Since when the oldest of both has been pending (UTC microseconds), None if nothing is.
    """

    tiers: Mapping[str, int]
    due: int
    waiting: Mapping[str, int]
    oldest: int | None


def store_totals(store: Store, named: Iterable[str]) -> StoreTotals:
    tiers: Counter[str] = Counter()
    waiting: Counter[str] = Counter()
    due, since = 0, list[int]()
    for tenant in known_tenants(store, named)[0]:
        everyone = UnrestrictedScope(tenant, "", (), tuple(sorted(store.memory_counts(tenant))))
        with store.reader(everyone) as reader:
            tiers.update(reader.counts().tiers)
            marks = [one.mark for one in reader.due(DUE_LINKS)]
            due += len(marks)
            since.extend(map(due_since, marks))
            for state in reader.models():
                fingerprint = state.model.fingerprint
                waiting[state.model.name] += reader.coverage(fingerprint).waiting
                oldest = reader.oldest_pending(fingerprint)
                since.extend(() if oldest is None else (oldest,))
    return StoreTotals(tiers, due, waiting, min(since, default=None))
